/* The chart of how far conventions lie apart, over hidden and over std. */
#include "domain/convention.h"
#include "commands/distance/distance.h"
#include "base/paths.h"
#include "report/charts/chart.h"
#include <math.h>

/* In ULP and relative: nothing below shows in f32, whose ulp is 2^-24 to 2^-23 of a number. */
static const double least_shown[] = {1e-2, 1e-9};

enum { POINTS_A_DECADE = 16, LEAST_DECADE = -6, MOST_DECADE = 2 };
enum { LAST_POWER = 17 }; /* hidden 2 to 2^17 */

typedef struct distance_subject {
    const ln_convention *own;
    const distance_list *others;
} distance_subject;

enum { OVER_HIDDEN, OVER_STD };          /* the columns of panels */
enum { IN_ULP, RELATIVE, MEASURES = 2 }; /* their rows */

static void point(text_buffer *out, int panel, size_t series, double x, double distance,
                  double *most)
{
    tsv_row(out, "nznn", (double)panel, series + 1, x, distance > 0 ? distance : NAN);
    *most = fmax(*most, distance);
}

/* One row's distance in both measures: panels 1 and 2 are in ULP, 3 and 4 relative. */
static void points_at(const distance_subject *subject, size_t series, int over, size_t hidden,
                      float std, text_buffer *out, double most[MEASURES])
{
    const ln_convention both[2] = {*subject->own, subject->others->conventions[series]};
    double x = over == OVER_HIDDEN ? (double)hidden : (double)std;
    ln_apart matrix[4];
    bool fine = ln_reference_apart(both, 2, hidden, std, matrix);
    point(out, 1 + over, series, x, fine ? matrix[1].row_ulp : NAN, &most[IN_ULP]);
    point(out, 3 + over, series, x, fine ? matrix[1].relative : NAN, &most[RELATIVE]);
}

static void fill_points(const distance_subject *subject, size_t hidden, float std, text_buffer *out,
                        double most[MEASURES])
{
    const int first = POINTS_A_DECADE * LEAST_DECADE, last = POINTS_A_DECADE * MOST_DECADE;
    tsv_row(out, "wwww", "panel", "series", "x", "distance");
    for (size_t i = 0; i < subject->others->count; i++) {
        for (int power = 1; power <= LAST_POWER; power++)
            points_at(subject, i, OVER_HIDDEN, (size_t)1 << power, std, out, most);
        for (int step = first; step <= last; step++)
            points_at(subject, i, OVER_STD, hidden, (float)pow(10, (double)step / POINTS_A_DECADE),
                      out, most);
    }
}

static void fill_settings(const distance_subject *subject, size_t hidden, float std,
                          const double high[MEASURES], text_buffer *out)
{
    char own[CONVENTION_MAX_LENGTH], title[192], subtitle[192], list[CONVENTION_MAX_LENGTH],
        footer[400], key[32];
    convention_label(subject->own, own);
    snprintf(title, sizeof title, "How far off is an output that should be %s?", own);
    snprintf(subtitle, sizeof subtitle,
             "%s; rows of +-std in turn; exact distances, no rounding, nothing measured",
             convention_format(subject->own, list));
    tsv_footer_here("distances at the largest element of the row asked for | ", footer);
    tsv_settings_begin(out, title, subtitle, footer);
    const struct {
        const char *name;
        double value;
    } numbers[] = {{"ymin", least_shown[IN_ULP]},
                   {"ymax", high[IN_ULP]},
                   {"relative_min", least_shown[RELATIVE]},
                   {"relative_max", high[RELATIVE]},
                   {"hidden", (double)hidden},
                   {"std", (double)std},
                   {"series", (double)subject->others->count},
                   {"hidden_min", 2},
                   {"hidden_max", ldexp(1, LAST_POWER)},
                   {"std_min", pow(10, LEAST_DECADE)},
                   {"std_max", pow(10, MOST_DECADE)}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        tsv_row(out, "wnw", numbers[i].name, numbers[i].value, "-");
    for (size_t i = 0; i < subject->others->count; i++) {
        snprintf(key, sizeof key, "name_%zu", i + 1);
        tsv_row(out, "wns", key, 0.0, subject->others->names[i]);
    }
}

static bool write_tables(const distance_subject *subject, size_t hidden, float std,
                         const char *directory, const char *stem, error *err)
{
    text_buffer points = {0}, settings = {0};
    double most[MEASURES] = {1, 1e-7}, high[MEASURES];
    fill_points(subject, hidden, std, &points, most);
    for (int i = 0; i < MEASURES; i++)
        high[i] = pow(10, ceil(log10(most[i]) + 0.3));
    fill_settings(subject, hidden, std, high, &settings);
    /* Both are freed, saved or not. */
    bool fine = tsv_save(&points, directory, stem, ".tsv", err);
    return tsv_save(&settings, directory, stem, "_settings.tsv", fine ? err : NULL) && fine;
}

bool distance_chart(const ln_convention *own, const distance_list *others, size_t hidden, float std,
                    const char *directory, const output_file *out, error *err)
{
    static const char *stem = "distance";
    const distance_subject subject = {own, others};
    const word_list stems = {&stem, 1};
    file_draft draft;
    bool fine = draft_begin(&draft, directory, err) &&
                write_tables(&subject, hidden, std, draft.folder.path, stem, err) &&
                charts_draw_alone(&draft, &stems, "distance", out, err);
    draft_end(&draft);
    return fine;
}
