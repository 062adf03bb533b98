/* Charts: each is a row of plots/charts.def, with a query and a gnuplot script of plots/. The query makes TEMP tables
 * from the store and from tables that a command has added; they become data/STEM*.tsv, which the script draws.
 *
 *     store_scratch_begin(store);
 *     store_script(store, "CREATE TEMP TABLE past (series, run, value)");   // the query reads this
 *     chart_prepare(store, &chart_list[i], "", footer, folder, &chart);
 *     store_scratch_end(store);
 */
#ifndef LNBENCH_CHART_H
#define LNBENCH_CHART_H

#include "base/output.h"
#include "store/store.h"

enum { STEM_LENGTH = 32, REASON_LENGTH = 200, TITLE_LENGTH = 160 };

typedef struct chart_kind {
    const char *stem, *sql;
    bool of_report;
    const char *title, *help, *needs;
} chart_kind;

/* A chart for one element type of a run. */
typedef struct report_chart {
    const chart_kind *kind;
    char stem[STEM_LENGTH]; /* of its files; for a type other than the report's: error_kappa_bf16 */
    char title[TITLE_LENGTH];
    char footer[400];
    char reason[REASON_LENGTH];
    bool lost; /* gnuplot is installed and failed; the reason says how */
    char again[2048];
} report_chart;

extern const chart_kind chart_list[];
extern const size_t chart_count;
/* The script plots/shown.sql, whose tables the queries of a report read. */
extern const char *const charts_shown_sql;

/* Writes DIRECTORY/data/STEM*.tsv. mark: a suffix of the stem that distinguishes charts of one kind (in a report, also
 * of the title, for a type other than the report's), or "". A chart without rows gets a reason. */
void chart_prepare(result_store *store, const chart_kind *kind, const char *mark,
                   const char *footer, const char *directory, report_chart *chart);
/* Draws the charts without a reason as SVG, PNG and PDF into the folder, which has their tables. A chart that fails
 * gets a reason. */
void charts_draw(report_chart *charts, size_t count, const char *folder);

void report_path(char path[512], const char *directory, const char *name, const char *suffix);

/* Draws a chart that is not part of a report as NAME_1 to NAME_count, SVG and PNG, into the directory, leaves its
 * tables in data/, and prints the paths. each: SQL that puts the data of drawing ?1 into the TEMP tables of the chart's
 * query. If gnuplot is not installed, standard error says so and only the tables are written. If it fails, or there is
 * nothing to draw, the program ends with code 7. */
void charts_draw_alone(result_store *store, const char *name, size_t count, const char *each,
                       const char *directory, const output_file *out);

#endif
