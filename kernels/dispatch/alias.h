/* Names that kernels had in earlier versions (table/aliases.def). */
#ifndef LN_ALIAS_H
#define LN_ALIAS_H

/* The name that this kernel has now: `name` itself where it is no old one. */
const char *ln_kernel_alias(const char *name);

/* Whether a pattern of fnmatch(3) fits the name of a kernel, or one that it had. */
int ln_kernel_matches(const char *pattern, const char *name);

#endif
