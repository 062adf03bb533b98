/* Charts and the one-file HTML page of a stored run. Nothing is measured here. */
#ifndef LNBENCH_REPORT_H
#define LNBENCH_REPORT_H

#include "base/output.h"
#include "show/run_view.h"

typedef struct report_result {
    char index_html[512]; /* path of the page */
    char markdown[512];   /* of the same as Markdown */
    size_t
        chart_count; /* charts that were drawn; where some are missing the page says so and has the tables */
    bool lost;      /* gnuplot is there, and failed on some: the note names them */
    char note[768]; /* why charts are missing, "" where they are not */
} report_result;

/* Writes TSV views, draws every chart (SVG, PNG and PDF) into `directory`, which is made where it is
 * missing, with gnuplot and the scripts of plots/, and writes directory/index.html with the charts
 * inlined: one file that can be sent to somebody. The same goes to directory/report.md. Each file
 * appears when it is whole (base/program.h). run: what page_run_add() made of it, for the page; NULL: without. */
report_result report_write(const run_view *view, const char *plots_directory, const char *directory,
                           const text_buffer *run);

/* The same, as `run` and `report` end with it, of each operation of the run: the first one's in the directory,
 * another's in a folder of its name below it. Prints the paths to `file`. Charts that are missing
 * because gnuplot is not installed are named on standard error, which is no failure; charts that are
 * missing because gnuplot failed end the program (7) once everything else is written. */
void draw_report(const run_view *view, const char *directory, const output_file *out);

#endif
