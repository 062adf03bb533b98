/* The table of cases that tables and exports share. */
#ifndef LNBENCH_VIEWS_TSV_H
#define LNBENCH_VIEWS_TSV_H

#include "base/text.h"
#include "answer/run_view.h"

/* Adds the table of cases: heading, then one line a case, with its number, every key, metric and speed.
 * Undefined is NaN. */
void tsv_cases(const run_view *view, text_buffer *out);
/* The same values separated by commas, as RFC 4180 has it. */
void csv_of_tsv(const char *tsv, text_buffer *out);

#endif
