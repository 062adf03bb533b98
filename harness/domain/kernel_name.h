/* Names of kernels: globs that fit them, and their labels under a heading. */
#ifndef KERNEL_NAME_H
#define KERNEL_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* The label of a kernel under a heading that says its type and ISA ("": it does not): the name without
 * these words, "naive" of "naive_f32_avx512". At most `size` bytes with the end. */
void kernel_label(const char *name, const char *type, const char *isa, char *label, size_t size);
/* Whether it is the label of this kernel under some heading. */
bool kernel_label_fits(const char *label, const char *name);

/* Whether a glob fits the name of a kernel, or is its label: what is printed can be typed. */
bool kernel_name_matches(const char *glob, const char *name);

/* Whether it is an ISA of isa.def, "any", or "" (not known). */
bool kernel_isa_is_known(const char *isa);

#endif
