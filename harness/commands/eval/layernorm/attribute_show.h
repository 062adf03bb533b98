/* Attributions of several kernels on one block, as a table, as JSON and as a chart. */
#ifndef LNBENCH_ATTRIBUTE_SHOW_H
#define LNBENCH_ATTRIBUTE_SHOW_H

#include "referee/referee.h"
#include "referee/layernorm/attribute.h"
#include "base/output.h"
#include <stdio.h>

typedef struct attributed {
    const kernel_entry *kernel;
    attribution found;
    const char *reproducible; /* its class, as domain/reproducible.h has it */
} attributed;

bool attribution_print(const attributed *all, size_t count, const output_file *out, error *err);
/* Draws attribution.svg and attribution.png in the directory, and leaves the tables in its data/.
 * `subtitle`: what they were run on. Prints their paths (charts_draw_alone). */
bool attribution_chart(const attributed *all, size_t count, const char *subtitle,
                       const char *directory, const output_file *out, error *err);

#endif
