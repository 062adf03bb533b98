/* What the TSV views and the exports share. */
#ifndef LNBENCH_VIEWS_TSV_H
#define LNBENCH_VIEWS_TSV_H

#include "text.h"
#include "views.h"

/* Adds the table of cases: heading, then one line a case. */
void tsv_cases(const view *view, text *out);

/* Writes a file through a temporary one beside it and a rename: whole, or as it was before. */
bool write_whole_file(const char *path, const text *content, error *error);

#endif
