/* Prints a stored run for `run` and `report`: a table with the answer and the failures, charts, and the one-file HTML
 * page. Nothing is measured here.
 *
 *     result_look look = {.all = true};
 *     result_table_print(&view, &out, &look);
 *     draw_report(&view, "charts", &out);   // charts/index.html and its charts
 */
#ifndef LNBENCH_REPORT_H
#define LNBENCH_REPORT_H

#include "base/output.h"
#include "show/answer.h"

/* ---- the table (result_table.c) ---- */

/* The part of the table that is printed. All zero: the short table. */
typedef struct result_look {
    bool all;          /* every kernel and every shape, however narrow the terminal is */
    const char *again; /* options that the printed replay commands need; NULL: none */
} result_look;

/* Text has at most 45 lines of at most 100 columns (or the terminal's width), unless the look requests more. TSV and
 * CSV have a line for each case with all its figures; JSON is an array of cases. */
void result_table_print(const run_view *view, const output_file *out, const result_look *look);

/* Adds the line that says how uncertain the speeds of all kernels of the answer's type are. */
void result_noise(const run_answer *answer, text_buffer *out);

/* Returns 3 if speeds are too noisy to say which kernel is fastest, else 0. */
exit_code result_exit_code(const run_view *view);
/* Returns the same, combined with the codes of the stored verdicts; failures of peers do not count. */
exit_code view_exit_code(const run_view *view);

/* ---- charts and page (report.c) ---- */

typedef struct report_result {
    char index_html[512]; /* path of the page */
    char markdown[512];   /* path of the same report as Markdown */
    size_t chart_count;   /* number of drawn charts; the page names missing ones */
    bool lost;            /* gnuplot failed on some charts, which the note names */
    char note[768];       /* why charts are missing; "" if none is */
} report_result;

/* Writes the tables behind the charts and draws every chart (SVG, PNG and PDF) into `directory` with gnuplot and the
 * scripts of plots/; makes the directory if needed. Writes the page, index.html, with the charts inlined, and report.md
 * with the same content. A file appears only when it is complete (base/program.h). run: the run that the page holds, as
 * page_run_add() packs it; NULL: the page holds none. */
report_result report_write(const run_view *view, const char *directory, const text_buffer *run);

/* Calls report_write() for each operation of the run: the first one in the directory, others in folders of their names
 * below it. Prints the paths to `out`. If gnuplot is not installed, standard error names the missing charts, and that
 * is no failure. If gnuplot failed, the program ends (7) after everything else is written. */
void draw_report(const run_view *view, const char *directory, const output_file *out);

#endif
