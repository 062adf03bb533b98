#include "alias.h"
#include "kernel_alias.h"

#include <fnmatch.h>
#include <stddef.h>
#include <string.h>

#define OLD_AND_NEW(old, new) {#old, #new},
static const char *const aliases[][2] = {LN_ALIAS_TABLE(OLD_AND_NEW)};
enum { ALIASES = sizeof(aliases) / sizeof(aliases[0]) };

const char *ln_kernel_alias(const char *name)
{
    for (size_t i = 0; i < ALIASES; i++)
        if (strcmp(aliases[i][0], name) == 0)
            return aliases[i][1];
    return name;
}

int ln_kernel_matches(const char *pattern, const char *name)
{
    int fits = fnmatch(pattern, name, 0) == 0;
    for (size_t i = 0; i < ALIASES && !fits; i++)
        fits = strcmp(aliases[i][1], name) == 0 && fnmatch(pattern, aliases[i][0], 0) == 0;
    return fits;
}
