/* The reproducibility class of a kernel, in the words of every table that lists kernels: the one
 * that was measured ("none", "run", "row", "isa"); where none was, in brackets the one that the
 * kernel declares ("(row)"); "-" where it declares none either. All of them are static strings.
 *
 *     table_cell(table, reproducible_stored(view->kernels, "naive_f32_avx2"));
 */
#ifndef LNBENCH_REPRODUCIBLE_H
#define LNBENCH_REPRODUCIBLE_H

#include "domain/invariance.h"
#include <jansson.h>

/* As its descriptor has it, in the array of a run's descriptors. */
const char *reproducible_stored(const json_t *kernels, const char *kernel);
/* As it was just found; NULL: not measured. */
const char *reproducible_found(const kernel_facts *facts, const invariance_result *found);

/* Whether a kernel of these descriptors must give the same bits on every CPU that can run it: it was
 * measured on every instruction set, or its maker says so. */
bool reproducible_everywhere(const json_t *kernels, const char *kernel);

/* The class that was measured as JSON; null where none was. NULL when memory runs out. */
json_t *reproducible_json(const char *word);
/* Whether both were measured, and the second is less than the first. */
bool reproducible_is_less(const char *base, const char *new);
/* "row"; where the two differ "run was row". */
const char *reproducible_both(const char *base, const char *new, char buffer[32]);

#endif
