/* Charts: each is a row of plots/charts.def, a query and a gnuplot script of plots/. The query
 * makes TEMP tables of what the store says, or of what a command has put beside it; they become
 * data/STEM*.tsv, which the script lays out.
 *
 *     store_scratch_begin(store);
 *     store_script(store, "CREATE TEMP TABLE past (series, run, value)");   // what the query reads
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

/* A chart of one type of a run. */
typedef struct report_chart {
    const chart_kind *kind;
    char stem[STEM_LENGTH]; /* of its files; of another type than the report's: error_kappa_bf16 */
    char title[TITLE_LENGTH];
    char footer[400];
    char reason[REASON_LENGTH];
    bool lost; /* gnuplot is there, and failed: the reason says how */
    char again[2048];
} report_chart;

extern const chart_kind chart_list[];
extern const size_t chart_count;
/* What the queries of a report read: plots/shown.sql. */
extern const char *const charts_shown_sql;

/* Writes DIRECTORY/data/STEM*.tsv. mark: what tells it from others of its kind, in its stem
 * (and, of a report, in its title, where it is another type than the report's); else "". One
 * that has no rows gets its reason. */
void chart_prepare(result_store *store, const chart_kind *kind, const char *mark,
                   const char *footer, const char *directory, report_chart *chart);
/* Draws those without a reason as SVG, PNG and PDF into the folder, which has their tables; one
 * that fails gets its reason. */
void charts_draw(report_chart *charts, size_t count, const char *folder);

void report_path(char path[512], const char *directory, const char *name, const char *suffix);

/* Draws a chart that is no part of a report as NAME_1 to NAME_count, SVG and PNG, into the directory, from tables that
 * it leaves in data/, and prints the paths. each: the SQL that chooses drawing ?1 in the TEMP tables that the chart's
 * query reads. Where gnuplot is absent, standard error says so and the tables alone are there; where it fails, or
 * there is nothing to draw, the program ends (7). */
void charts_draw_alone(result_store *store, const char *name, size_t count, const char *each,
                       const char *directory, const output_file *out);

#endif
