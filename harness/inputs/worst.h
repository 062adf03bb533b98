/* Rows that hunts found, as inputs: "worst", from the files (*.txt) that are installed with lnbench
 * (the source's reference/worst) or of $LNBENCH_WORST; and "worst:PATH", from such a file or a folder
 * of them, such as results/hunts. See worst_row.h for their form. Errors name file and line. */
#ifndef LNBENCH_INPUTS_WORST_H
#define LNBENCH_INPUTS_WORST_H

#include "base/error.h"
#include "layernorm.h"
#include <stddef.h>
#include <stdint.h>

#define WORST_INPUT "worst"

bool input_is_worst(const char *input);

/* As input_rows(): the rows of this type and hidden in the order of files and finds, over
 * again when they run out. An error (2) where there is none. */
bool worst_input_rows(const char *input, ln_type type, size_t first, size_t count, size_t hidden,
                      void *x, error *err);

/* Where they are looked for. */
const char *worst_place(const char *input);

typedef struct worst_shape {
    ln_type type;
    size_t hidden, rows;
} worst_shape;

typedef struct worst_shapes {
    worst_shape *shapes; /* each type and hidden once */
    size_t count, rows;
    uint64_t hash; /* of all rows */
} worst_shapes;

/* What there is; nothing where the directory of "worst" is missing. */
bool worst_input_shapes(const char *input, worst_shapes *shapes, error *err);
void worst_shapes_free(worst_shapes *shapes);

#endif
