/* The table of cases that tables and exports share. */
#ifndef LNBENCH_VIEWS_TSV_H
#define LNBENCH_VIEWS_TSV_H

#include "base/clean.h"
#include "answer/run_view.h"

/* Adds the table of cases as FORM_TSV or FORM_CSV: heading, then one line a case, with its number,
 * every key, metric and speed. Undefined is NaN. */
void case_table_add(const run_view *view, text_form form, text_buffer *out);

#endif
