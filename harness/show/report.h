/* What `run` and `report` show of a stored run: a table with the answer in sentences and what went wrong; charts and the
 * one-file HTML page. Nothing is measured here.
 *
 *     result_look look = {.top = 10};
 *     result_table_print(&view, &out, &look);
 *     draw_report(&view, "charts", &out);   // charts/index.html and its charts
 */
#ifndef LNBENCH_REPORT_H
#define LNBENCH_REPORT_H

#include "base/output.h"
#include "show/answer.h"

/* ---- the table (result_table.c) ---- */

typedef enum result_order { ORDER_SPEED, ORDER_ERROR, ORDER_NAME } result_order;

/* How much of it, and in which order. All zero: the short table, fastest first. */
typedef struct result_look {
    bool all;   /* every kernel and, as far as they fit, every shape */
    size_t top; /* the first so many kernels; 0: the chosen ones */
    result_order order;
    result_store *baseline; /* the changes since its run are a column; NULL: none */
    int64_t baseline_run;
    const char *again; /* options with which a case can be replayed from any folder; NULL: none */
} result_look;

result_order result_order_from_name(const char *name);

/* As text at most 45 lines of at most 100 columns (a terminal's width), unless the look asks for
 * more. As TSV and CSV: a line a case, with all its figures; as JSON: an array of cases. */
void result_table_print(const run_view *view, const output_file *out, const result_look *look);

/* The line on how uncertain the speeds of the short table are, for pages too. */
void result_noise(const run_answer *answer, text_buffer *out);

/* 3 where speeds are too noisy to say who is fastest. */
exit_code result_exit_code(const run_view *view);
/* That, and what the stored verdicts ask for: a peer's faults are nobody's here. */
exit_code view_exit_code(const run_view *view);

/* ---- charts and page (report.c) ---- */

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
