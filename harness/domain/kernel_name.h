/* Kernels by names that they had in earlier versions (kernels/table/aliases.def): stores, exports,
 * files of worst rows and the command line may still say them. */
#ifndef KERNEL_NAME_H
#define KERNEL_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* The name that this kernel has now: `name` itself where it is no old one. */
const char *kernel_name_now(const char *name);

/* The label of a kernel under a heading that says its type and ISA ("": it does not): the name without
 * these words, "naive" of "naive_f32_avx512". At most `size` bytes with the end. */
void kernel_label(const char *name, const char *type, const char *isa, char *label, size_t size);
/* Whether it is the label of this kernel under some heading. */
bool kernel_label_fits(const char *label, const char *name);

/* Whether a glob fits the name of a kernel, or one that it had, or is its label: what is printed can be
 * typed. */
bool kernel_name_matches(const char *glob, const char *name);

/* Puts the name of now in place. */
void kernel_name_update(char *name, size_t size);

#endif
