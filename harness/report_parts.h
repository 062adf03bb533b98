/* The parts of the report, between report.c, report_data.c, report_charts.c, report_layout.c,
 * report_gnuplot.c and report_html*.c. Of the others only distance_chart.c includes this. */
#ifndef LNBENCH_REPORT_PARTS_H
#define LNBENCH_REPORT_PARTS_H

#include "report.h"
#include "report_theory.h"
#include "text.h"

/* ---- report_data.c: what of a view the report shows ---- */

typedef struct report_kernel {
    const char *name, *statistics, *isa; /* owned by the view; "" where unknown */
    theory_kernel facts;                 /* for its line of theory */
    bool stands; /* for its method, which others may have too: of these the widest ISA */
} report_kernel;

/* Cases that may be compared with each other. */
typedef struct report_group {
    const char *convention;
    ln_type dtype;
    cache_state cache;
    unsigned threads;
    size_t cases; /* timed kernels' cases in it */
} report_group;

typedef struct report_shape {
    size_t rows, hidden;
} report_shape;

typedef struct report_data {
    const view *view;
    report_kernel *kernels; /* every kernel of the run but the roofs, as first stored */
    size_t kernel_count;
    size_t *by_kernel;   /* indices of the cases, kernel by kernel, then the roofs' */
    size_t *first;       /* of kernel k: by_kernel[first[k]] to before by_kernel[first[k + 1]] */
    report_group group;  /* the group with most timed cases; cases 0: nothing was timed */
    report_group judged; /* whose errors are shown with them: convention and dtype count */
    bool is_other_type;  /* of report_data_of_type(): charts have the type in their names */
    bool has_shape;
    report_shape shape; /* the shape of `group` that most kernels were timed at */
    const char *shape_regime;
} report_data;

enum { REGIME_COUNT = 4 };
extern const char *const report_regimes[REGIME_COUNT]; /* "L1", "L2", "L3", "DRAM" */

bool report_data_make(const view *view, report_data *data, error *error);
void report_data_free(report_data *data);
/* The same with the speeds and errors of another type shown: of the same group, and under the same
 * convention, if there are any, else of that with most. A view, not to be freed, of data that
 * outlives it. False: nothing of this type was judged. */
bool report_data_of_type(const report_data *data, ln_type type, report_data *typed);
/* data->kernel_count where there is none of this name. */
size_t report_kernel_index(const report_data *data, const char *name);
/* The cases of a kernel or roof, in their order: indices into the view's. */
const size_t *report_cases_of(const report_data *data, const char *kernel, size_t *count);
bool report_timed(const view_case *timed); /* a finite GB/s */
bool report_in_group(const report_group *group, const case_key *key);
/* The case of a kernel (or roof) at one shape of the group on normal input, timed or not; NULL
 * where there is none. */
const view_case *report_case_at(const report_data *data, const char *kernel,
                                const report_shape *shape);
/* The case drawn for a kernel in a regime at one hidden size: of several the one with most rows. */
const view_case *report_point(const report_data *data, const char *kernel, const char *regime,
                              size_t hidden);
/* The distinct hidden sizes timed in a regime, ascending; free() them. False: memory. */
bool report_hidden_sizes(const report_data *data, const char *regime, size_t **sizes,
                         size_t *count);
/* What a kernel's name says without its ISA: "two_pass_f32" of two_pass_f32_avx2. */
void report_method(const report_kernel *kernel, char method[NAME_MAX_LENGTH]);
/* Where there are too many kernels for a line each, charts of errors draw one ISA of a method. */
bool report_is_crowded(const report_data *data);
/* Whether no other ISA of the same method is faster at the shape of the report; true where it is
 * not crowded. */
bool report_leads_method(const report_data *data, size_t kernel);
bool report_is_failure(const verdict *verdict); /* a kernel at fault: neither ok nor left out */
/* The largest row ULP of a kernel over the judged cases of the convention and type of `group`, of
 * one input ("offset" takes "offset:1e4" in), or of all where it is NULL. */
typedef struct report_error {
    bool judged;
    double row_ulp;              /* NaN where no finite figure was measured */
    const stored_case *worst;    /* the case of row_ulp, or NULL */
    const stored_case *failed;   /* the gravest case that went wrong, or NULL */
    const stored_case *unusable; /* the same, of those with no figure at all: not inaccurate */
} report_error;
report_error report_worst_error(const report_data *data, const report_group *group,
                                const char *kernel, const char *input);
/* Whether the errors over all inputs are small everywhere: at most 4 row ULP. */
bool report_is_accurate(const report_error *worst);
/* "offset:1e4" is of the family "offset". */
bool report_of_family(const char *input, const char *family);
bool report_same_judged(const report_group *group, const case_key *key);
/* Some judged case of the convention and type shown is the kernel's fault. */
bool report_at_fault(const report_data *data, const char *kernel);
/* The fastest kernel at one hidden size of a regime, those at fault left out unless asked for. */
const view_case *report_fastest(const report_data *data, const char *regime, size_t hidden,
                                bool faulty_too);
/* "f32, torch, hot, 1 thread" */
void report_group_words(const report_group *group, text *out);
/* "AMD EPYC ... · commit 1234567 · 2026-01-01T00:00:00Z · run 3" */
void report_footer(const view *view, text *out);
const char *report_commit(const view *view); /* "unknown" where it is not recorded */

/* Series are numbered as in data/series.tsv, but from 0: the kernels, then the roofs. */
enum { REPORT_ROOFS = 2 };
const char *report_series_name(const report_data *data, size_t series);
void report_short_name(const char *name, char buffer[64]); /* long ones cut */
void report_gbps_interval(const speed *speed, double *low, double *high);

/* ---- report_layout.c: where things stand on a chart, in pixels from the top left ---- */

typedef struct chart_frame {
    double left, right, top, bottom; /* of the plotting area, pixels */
    double x_min, x_max, y_min, y_max;
    bool x_log, y_log;
} chart_frame;

double frame_x(const chart_frame *frame, double x);
double frame_y(const chart_frame *frame, double y);

/* Moves wanted positions (ascending) apart to at least `gap`, as little as possible in the least
 * squares sense, within [low, high]. False: memory. */
bool layout_spread(double *positions, size_t count, double gap, double low, double high);

typedef struct label_box {
    double x, y;          /* the point that it names */
    double width, height; /* of the text */
    double left, top;     /* where it goes: set by layout_place */
} label_box;

typedef struct chart_line {
    double x0, y0, x1, y1; /* upright or level */
} chart_line;

/* Places every label near its point, inside the frame, clear of all points and other labels, and
 * off the lines where there is room. */
void layout_place(label_box *labels, size_t count, const chart_frame *frame,
                  const chart_line *lines, size_t line_count);
/* How many pairs of labels, and of labels and points, overlap. 0 is what is wanted. */
size_t layout_overlaps(const label_box *labels, size_t count);
/* The width of a text at 12 pixels. */
double layout_text_width(const char *string);

/* Ticks of a logarithmic axis, at most `most`: 1-2-5, decades, or every so many decades. */
size_t layout_log_ticks(double low, double high, double *ticks, size_t most);
/* A round number at or above value: 1, 2, 2.5, 5 times a power of ten. */
double layout_round_up(double value);

/* ---- report_charts*.c: the tidy TSV of each chart ---- */

enum { STEM_LENGTH = 32, REASON_LENGTH = 160 };

typedef struct chart {
    char stem[STEM_LENGTH];     /* of its files: throughput_l2.svg ... */
    char kind[STEM_LENGTH];     /* the same without a type */
    bool is_other_type;         /* drawn of report_data_of_type() */
    ln_type type;               /* of these */
    char script[STEM_LENGTH];   /* throughput.gp */
    char title[192];            /* for the page */
    char reason[REASON_LENGTH]; /* why it cannot be drawn, "" where it can */
} chart;

/* The beginning of a chart: its names, with the type that is not the report's first. */
chart chart_begin(const report_data *data, const char *kind, const char *script, const char *title);
/* Each writes DIRECTORY/STEM*.tsv and fills the chart; without data only the reason is filled. */
bool chart_series(const report_data *data, const char *directory, error *error);
bool chart_throughput(const report_data *data, const char *regime, const char *directory,
                      chart *chart, error *error);
bool chart_throughput_size(const report_data *data, const char *directory, chart *chart,
                           error *error);
bool chart_ulp_histogram(const report_data *data, const char *directory, chart *chart,
                         error *error);
bool chart_threads(const report_data *data, const char *directory, chart *chart, error *error);
bool chart_hot_cold(const report_data *data, const char *directory, chart *chart, error *error);
bool chart_roof_share(const report_data *data, const char *directory, chart *chart, error *error);
bool chart_variance_kappa(const report_data *data, const char *directory, chart *chart,
                          error *error);
bool chart_error_kappa(const report_data *data, const char *directory, chart *chart, error *error);
bool chart_speed_error(const report_data *data, const char *directory, chart *chart, error *error);
bool chart_winner_map(const report_data *data, const char *directory, chart *chart, error *error);
bool chart_error_hidden(const report_data *data, const char *directory, chart *chart, error *error);
bool chart_rounded(const report_data *data, const char *directory, chart *chart, error *error);

/* ---- report_tsv.c ---- */

/* One cell: nothing that gnuplot, TSV or XML could take for syntax is left in it. */
void tsv_text(text *out, const char *cell);
void tsv_number(text *out, double value); /* "NaN" for what is not finite */
void tsv_end(text *out);                  /* ends the line */
void tsv_setting(text *out, const char *key, double value);
void tsv_setting_text(text *out, const char *key, const char *value);
/* Words of our own, which may be UTF-8. */
void tsv_setting_words(text *out, const char *key, const char *words);
/* The settings every chart has. */
void tsv_common(text *out, const report_data *data, const char *title, const char *subtitle,
                double width, double height);
void tsv_frame(text *out, const char *prefix, const chart_frame *frame);
/* The footer of a chart of what was computed here: what `before` says, the processor, the commit;
 * unknown facts are said to be. */
void tsv_footer_here(text *out, const char *before);
/* A line a tick of a logarithmic axis: its name and the value. */
void tsv_log_ticks(text *out, const char *axis, double low, double high);
/* Writes and frees DIRECTORY/data/STEM SUFFIX. */
bool tsv_save(text *out, const char *directory, const char *stem, const char *suffix, error *error);
bool report_path(char path[512], const char *directory, const char *name, const char *suffix,
                 error *error);

/* Every measured size has a tick; a number only where it does not run into the one before. Lines of
 * hidden and label. */
void report_hidden_ticks(const chart_frame *frame, const size_t *hidden, size_t count, text *out);
/* ---- report_panels.c: charts with a panel for each kind of statistics (panels.gp) ---- */

typedef struct panels {
    size_t count;
    const char **titles;
    size_t *of; /* of each kernel, from 1; 0: not drawn */
    text points, lines, xticks, settings;
    size_t line_count;
} panels;

/* Writes the points of one kernel, each with panel_point(); false: it has none. */
typedef bool panel_fill(void *context, size_t panel, size_t kernel, text *out);

typedef struct panel_point_facts {
    const char *input, *tip;
    double x, value, bound; /* bound NaN: there is none */
    bool wrong;             /* of a wrong class: shown at the top edge, wherever value is */
} panel_point_facts;

/* Which kernels stand where, and their points. False: memory; panels_free() in any case. */
bool panels_gather(const report_data *data, panel_fill *fill, void *context, panels *panels);
void panels_free(panels *panels);
void panel_point(const report_data *data, size_t panel, size_t kernel,
                 const panel_point_facts *point, text *out);
/* A point of a grey line: kind 1 to 3, in the order of the legend's entries line1 to line3; lines
 * of one panel and kind are numbered from 0. */
void panel_line_point(panels *panels, size_t panel, int kind, size_t line, double x, double y);
/* The x axis of any panel, for ticks that must not run into each other. */
void panels_axis(const report_data *data, const panels *panels, chart_frame *frame);
/* Places panels and names, given the axes in `frame`, and saves everything of the chart. The
 * caller's settings (xlabel, ylabel, line1 ...) go into panels->settings before, ticks of the x
 * axis into panels->xticks. */
bool panels_save(const report_data *data, panels *panels, chart_frame *frame, const chart *chart,
                 const char *subtitle, const char *directory, error *error);

/* ---- report_palette.c ---- */

/* gnuplot's numbers of full marks. */
enum {
    MARK_SQUARE = 5,
    MARK_CIRCLE = 7,
    MARK_UP = 9,
    MARK_DOWN = 11,
    MARK_DIAMOND = 13,
    MARK_PENTAGON = 15,
};

typedef struct palette_look {
    unsigned colour, ink; /* of lines and marks; of text */
    int mark, dash;
} palette_look;

palette_look palette_of(const char *name, const char *statistics, const char *isa);
double palette_contrast(unsigned colour);   /* to white, WCAG 2.1 */
const char *palette_peer(const char *name); /* the library that it is of; NULL: none that we know */
/* The lines of data/series.tsv and its like. */
void palette_heading(text *out);
void palette_line(text *out, const char *name, const char *statistics, const char *isa);
void palette_put(text *out, const char *name, const char *statistics, const char *isa,
                 const palette_look *look);

/* ---- report_gnuplot.c ---- */

typedef enum gnuplot_result { GNUPLOT_DREW, GNUPLOT_MISSING, GNUPLOT_FAILED } gnuplot_result;

/* Runs the script in `directory` (which holds data/STEM*.tsv), making STEM.FORMAT there. note is
 * filled with one line unless it drew. */
/* One drawing under way; several may be. */
typedef struct gnuplot_job {
    const chart *chart;
    const char *format;
    char note[256]; /* one line, unless it drew */
    gnuplot_result result;
    bool running;
    int child, errors;
} gnuplot_job;

/* chart and format are the caller's; gnuplot_end() in any case. */
void gnuplot_start(gnuplot_job *job, const char *plots_directory, const char *directory);
gnuplot_result gnuplot_end(gnuplot_job *job, const char *directory);
gnuplot_result gnuplot_draw(const chart *chart, const char *format, const char *plots_directory,
                            const char *directory, char note[256]);

/* ---- report_svg.c, report_again.c, report_markdown.c, report_pdf.c ---- */

/* gnuplot's tooltips in an SVG file become <title> elements, which need no script. */
bool svg_with_titles(const char *path, error *error);
bool report_read_file(const char *path, char **contents, error *error); /* free() them */
/* The command that measures what a chart shows again. */
void report_again(const report_data *data, const char *stem, text *out);
/* The page, as html_page made it, in Markdown with PNG. */
bool report_markdown(const char *html, text *out, error *error);
/* DIRECTORY/report.pdf from DIRECTORY/data/print.html, which is removed; false: note says why. */
bool report_pdf(const char *directory, char path[512], char note[256]);

/* ---- report_html*.c ---- */

/* on_paper: drawings as PNG beside it, and nothing that only a screen can unfold or download. */
bool html_page(const report_data *data, const chart *charts, size_t chart_count,
               const char *directory, const report_result *result, bool on_paper, text *out,
               error *error);
void html_escape(text *out, const char *string);
void html_leaders(const report_data *data, text *out);
void html_summary(const report_data *data, bool on_paper, text *out);
const char *html_verdict_class(const verdict *verdict); /* of the style sheet */
void html_short(text *out, double value);
void html_results(const report_data *data, bool on_paper, text *out);
void html_accuracy(const report_data *data, bool on_paper, text *out);
void html_worst(const report_data *data, bool on_paper, text *out);
void html_machine(const report_data *data, text *out);

#endif
