/* Charts and the one-file HTML page of a stored run. Nothing is measured here. */
#ifndef LNBENCH_REPORT_H
#define LNBENCH_REPORT_H

#include "views/views.h"

typedef struct report_result {
    char index_html[512]; /* path of the page */
    char markdown[512];   /* of the same as Markdown */
    char pdf[512];        /* and as PDF; "" where it was not made */
    char charts[64][512]; /* paths of the SVG charts that were drawn */
    size_t chart_count;
    bool charts_drawn;  /* false: no gnuplot (the page then says so and has the tables only) */
    char note[256];     /* why charts are missing, "" where they are not */
    char pdf_note[256]; /* why report.pdf is, "" where it was made or not wanted */
} report_result;

/* Writes TSV views, draws every chart (SVG, PNG and PDF) into `directory`, which is made where it is
 * missing, with gnuplot and the scripts of plots/, and writes directory/index.html with the charts
 * inlined: one file that can be sent to somebody. The same goes to directory/report.md and, where it
 * is wanted and weasyprint is there, to directory/report.pdf. */
bool report_write(const run_view *view, const char *plots_directory, const char *directory,
                  bool with_pdf, report_result *result, error *err);

/* The same, as `run` and `report` end with it: prints the paths to `file`; what is missing (no
 * gnuplot) is said on standard error and is no failure. */
bool draw_report(const run_view *view, const char *directory, bool with_pdf, FILE *file,
                 error *err);

#endif
