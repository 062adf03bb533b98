/* Charts and page of a stored run, as `run` and `report` end with them. */
#ifndef LNBENCH_DRAW_H
#define LNBENCH_DRAW_H

#include "views.h"

/* Writes charts, index.html, report.md and (with_pdf) report.pdf into `directory`, which is made
 * where it is missing, and prints their paths; what is missing (no gnuplot) is said on standard
 * error and is no failure. */
bool draw_report(const view *view, const char *directory, bool with_pdf, FILE *file, error *error);

#endif
