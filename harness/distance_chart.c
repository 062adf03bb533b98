/* The chart of how far conventions lie apart, over hidden and over std. */
#include "convention.h"
#include "distance.h"
#include "paths.h"
#include "report_parts.h"
#include "views_tsv.h"
#include <math.h>

/* In ULP and relative: nothing below shows in f32, whose ulp is 2^-24 to 2^-23 of a number. */
static const double least_shown[] = {1e-2, 1e-9};

enum { POINTS_A_DECADE = 16, LEAST_DECADE = -6, MOST_DECADE = 2 };
enum { LAST_POWER = 17 }; /* hidden 2 to 2^17 */

typedef struct subject {
    const ln_convention *own;
    const distance_list *others;
} subject;

enum { OVER_HIDDEN, OVER_STD };          /* the columns of panels */
enum { IN_ULP, RELATIVE, MEASURES = 2 }; /* their rows */

static void point(text *out, int panel, size_t series, double x, double distance, double *most)
{
    tsv_number(out, panel);
    tsv_number(out, (double)series + 1);
    tsv_number(out, x);
    tsv_number(out, distance > 0 ? distance : NAN);
    tsv_end(out);
    *most = fmax(*most, distance);
}

/* One row's distance in both measures: panels 1 and 2 are in ULP, 3 and 4 relative. */
static void points_at(const subject *subject, size_t series, int over, size_t hidden, float std,
                      text *out, double most[MEASURES])
{
    const ln_convention both[2] = {*subject->own, subject->others->conventions[series]};
    double x = over == OVER_HIDDEN ? (double)hidden : (double)std;
    ln_apart matrix[4];
    bool fine = ln_reference_apart(both, 2, hidden, std, matrix);
    point(out, 1 + over, series, x, fine ? matrix[1].row_ulp : NAN, &most[IN_ULP]);
    point(out, 3 + over, series, x, fine ? matrix[1].relative : NAN, &most[RELATIVE]);
}

static void fill_points(const subject *subject, size_t hidden, float std, text *out,
                        double most[MEASURES])
{
    const int first = POINTS_A_DECADE * LEAST_DECADE, last = POINTS_A_DECADE * MOST_DECADE;
    text_add(out, "panel\tseries\tx\tdistance\n");
    for (size_t i = 0; i < subject->others->count; i++) {
        for (int power = 1; power <= LAST_POWER; power++)
            points_at(subject, i, OVER_HIDDEN, (size_t)1 << power, std, out, most);
        for (int step = first; step <= last; step++)
            points_at(subject, i, OVER_STD, hidden, (float)pow(10, (double)step / POINTS_A_DECADE),
                      out, most);
    }
}

static void fill_series(const distance_list *others, text *out)
{
    palette_heading(out);
    for (size_t i = 0; i < others->count; i++) {
        palette_line(out, others->names[i], "distance", "other");
    }
}

static void fill_settings(const subject *subject, size_t hidden, float std,
                          const double high[MEASURES], text *out)
{
    char own[CONVENTION_MAX_LENGTH], title[192], subtitle[192], list[CONVENTION_MAX_LENGTH];
    convention_label(subject->own, own);
    snprintf(title, sizeof title, "How far off an output is that should be %s", own);
    snprintf(subtitle, sizeof subtitle,
             "%s; rows of +-std in turn; exact distances, no rounding, nothing measured",
             convention_format(subject->own, list));
    text_add(out, "key\tnumber\ttext\n");
    tsv_setting(out, "width", 1000);
    tsv_setting(out, "height", 880);
    tsv_setting_text(out, "title", title);
    tsv_setting_text(out, "subtitle", subtitle);
    tsv_footer_here(out, "distances at the largest element of the row asked for | ");
    tsv_setting(out, "ymin", least_shown[IN_ULP]);
    tsv_setting(out, "ymax", high[IN_ULP]);
    tsv_setting(out, "relative_min", least_shown[RELATIVE]);
    tsv_setting(out, "relative_max", high[RELATIVE]);
    tsv_setting(out, "hidden", (double)hidden);
    tsv_setting(out, "std", (double)std);
    tsv_setting(out, "hidden_min", 2);
    tsv_setting(out, "hidden_max", ldexp(1, LAST_POWER));
    tsv_setting(out, "std_min", pow(10, LEAST_DECADE));
    tsv_setting(out, "std_max", pow(10, MOST_DECADE));
}

static bool write_tables(const subject *subject, size_t hidden, float std, const char *directory,
                         const char *stem, error *error)
{
    text points = {0}, series = {0}, settings = {0}, ticks = {0};
    double most[MEASURES] = {1, 1e-7}, high[MEASURES];
    fill_points(subject, hidden, std, &points, most);
    for (int i = 0; i < MEASURES; i++)
        high[i] = pow(10, ceil(log10(most[i]) + 0.3));
    fill_series(subject->others, &series);
    fill_settings(subject, hidden, std, high, &settings);
    text_add(&ticks, "axis\tvalue\n");
    tsv_log_ticks(&ticks, "y", least_shown[IN_ULP], high[IN_ULP]);
    tsv_log_ticks(&ticks, "relative", least_shown[RELATIVE], high[RELATIVE]);
    tsv_log_ticks(&ticks, "std", pow(10, LEAST_DECADE), pow(10, MOST_DECADE));
    /* All four are freed, saved or not. */
    bool fine = tsv_save(&points, directory, stem, ".tsv", error);
    fine = tsv_save(&series, directory, stem, "_series.tsv", fine ? error : NULL) && fine;
    fine = tsv_save(&settings, directory, stem, "_settings.tsv", fine ? error : NULL) && fine;
    return tsv_save(&ticks, directory, stem, "_ticks.tsv", fine ? error : NULL) && fine;
}

bool distance_chart(const ln_convention *own, const distance_list *others, size_t hidden, float std,
                    const char *plots_directory, const char *directory, error *error)
{
    static const char *const formats[] = {"svg", "png"};
    const chart chart = {.stem = "distance", .script = "distance.gp"};
    const subject subject = {own, others};
    char data[512], note[256];
    if (!report_path(data, directory, "data", "", error) || !make_directories(data, error) ||
        !write_tables(&subject, hidden, std, directory, chart.stem, error))
        return false;
    for (size_t i = 0; i < 2; i++)
        if (gnuplot_draw(&chart, formats[i], plots_directory, directory, note) != GNUPLOT_DREW)
            return fail(error, EXIT_CODE_ENVIRONMENT, "%s (the tables are in %s)", note, data);
    return true;
}
