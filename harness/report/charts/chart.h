/* A chart is one file here with a `const chart_kind`, one line in kinds.c, and a script of plots/.
 * The file writes tidy tables; the script lays them out.
 *
 *     static void make(const report_data *data, chart_output *out)
 *     {
 *         chart_because(out, "nothing was timed");          // it cannot be drawn, and why; or
 *         tsv_row(&out->table, "swn", "x", "y", 1.0);       // a line of data/STEM.tsv
 *         chart_words(out, "subtitle", "f32, torch");
 *     }
 *     const chart_kind my_chart = {"my", "Title", "How to read it.", "my.gp", make, chart_speed_again};
 */
#ifndef LNBENCH_CHART_H
#define LNBENCH_CHART_H

#include "base/output.h"
#include "base/draft.h"
#include "base/program.h"
#include "report/data/data.h"
#include <stdio.h>

enum { STEM_LENGTH = 32, REASON_LENGTH = 200, TITLE_LENGTH = 160 };

typedef struct chart_output {
    text_buffer table;          /* data/STEM.tsv, with its headings */
    text_buffer more;           /* data/STEM_more.tsv; nothing: there is no such file */
    text_buffer settings;       /* data/STEM_settings.tsv: key, number, text */
    char title[TITLE_LENGTH];   /* of this run; at first the kind's */
    char reason[REASON_LENGTH]; /* why it cannot be drawn, "" where it can */
} chart_output;

typedef struct chart_kind {
    const char *stem, *title, *help, *script;
    void (*make)(const report_data *data, chart_output *out);
    /* The command that measures what it shows again. */
    void (*command)(const report_data *data, text_buffer *out);
} chart_kind;

/* A chart of one type of a run. */
typedef struct report_chart {
    const chart_kind *kind;
    char stem[STEM_LENGTH]; /* of its files; of another type than the report's: error_kappa_bf16 */
    char title[TITLE_LENGTH];
    char reason[REASON_LENGTH];
    bool lost; /* gnuplot is there, and failed: the reason says how */
    char again[512];
} report_chart;

/* All kinds, in the order of the page; NULL ends them. */
extern const chart_kind *const chart_kinds[];

/* Writes DIRECTORY/data/STEM*.tsv of every chart of the data. */
bool charts_prepare(const report_data *data, const char *directory, report_chart *charts,
                    size_t *count, error *err);
/* Draws those without a reason as SVG, PNG and PDF into the folder, which has their tables; one that
 * fails gets its reason. False: interrupted. */
bool charts_draw(report_chart *charts, size_t count, const char *plots_directory,
                 const char *folder, error *err);
/* All names that drawings of a report can have. */
void charts_name_all(word_list *names);

void chart_because(chart_output *out, const char *reason);
void chart_setting(chart_output *out, const char *key, double value);
void chart_words(chart_output *out, const char *key, const char *words); /* may be UTF-8 */
void chart_subtitle(chart_output *out, text_buffer *words);              /* frees it */
/* The commands of speeds (regime NULL: of all) and of errors. */
void chart_speed_again(const report_data *data, text_buffer *out);
void chart_accuracy_again(const report_data *data, text_buffer *out);
void chart_both_again(const report_data *data, text_buffer *out);

/* ---- tsv.c ---- */

/* A line of cells, one a letter: s a foreign string, of which nothing is left that gnuplot, TSV or
 * XML could take for syntax; w words of our own, in UTF-8; n a double, "NaN" for what is not finite;
 * z a size_t. */
void tsv_row(text_buffer *out, const char *cells, ...);
void tsv_settings_begin(text_buffer *out, const char *title, const char *subtitle,
                        const char *footer);
/* The footer of a chart of what was computed here: what `before` says, the processor, the commit. */
void tsv_footer_here(const char *before, char footer[400]);
/* Writes and frees DIRECTORY/data/STEM SUFFIX. */
bool tsv_save(text_buffer *out, const char *directory, const char *stem, const char *suffix,
              error *err);
bool report_path(char path[512], const char *directory, const char *name, const char *suffix,
                 error *err);

/* ---- gnuplot.c ---- */

/* One drawing under way; several may be. The strings are the caller's. */
typedef struct gnuplot_job {
    const char *stem, *script, *format;
    const char *folder; /* that has data/STEM*.tsv; STEM.FORMAT is made there */
    char note[256];     /* one line, unless it is done */
    program_result result;
    char *path;
    const char *arguments[7];
    program run;
} gnuplot_job;

/* gnuplot_end() in any case. */
void gnuplot_start(gnuplot_job *job, const char *plots_directory);
program_result gnuplot_end(gnuplot_job *job);

/* Draws charts that are no part of a report, as SVG and PNG, all by one script, from the tables in
 * the draft; publishes both, and prints the drawings' paths to `file`. Where gnuplot is absent,
 * standard error says so and the tables alone are there; where it fails, that is an error (7). */
bool charts_draw_alone(file_draft *tables, const word_list *stems, const char *script,
                       const output_file *out, error *err);

#endif
