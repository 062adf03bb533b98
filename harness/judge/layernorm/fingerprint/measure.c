/* How far y lies from a candidate's exact answers, and candidates from each other. */
#include "judge/layernorm/fingerprint/internal.h"
#include "metrics/metrics.h"
#include <math.h>

/* One candidate on one row, ready for its elements. */
typedef struct answering {
    const double *z, *gamma, *beta;
    row_factor row;
} answering;

static answering answer(const fingerprint_rows *rows, const ln_convention *convention,
                        const exact_view *row)
{
    return (answering){row->z, rows->gamma[convention->affine], rows->beta[convention->affine],
                       fingerprint_factor(rows->input, convention, row)};
}

static double value_of(const answering *from, size_t i)
{
    return from->gamma[i] * (from->z[i] * from->row.factor + from->row.shift) + from->beta[i];
}

static double scale_of(const answering *from, size_t i)
{
    return fabs(from->gamma[i]) * from->row.max_xhat + fabs(from->beta[i]);
}

/* Both NaN, both finite, or the same infinity, in y's type. */
static bool same_class(double a, double b)
{
    if (isfinite(a) || isfinite(b))
        return isfinite(a) && isfinite(b);
    return isnan(a) ? isnan(b) : a == b;
}

/* How far y is beyond the values that an x known only to +-deviation_radius may give: deviation and
 * denominator are taken to their ends apart, so nothing possible is left out. */
static double beyond(const answering *from, size_t i, double y)
{
    double exact = value_of(from, i), radius = from->row.deviation_radius;
    if (radius == 0)
        return fabs(y - exact);
    double deviation = from->z[i] * from->row.std;
    double low = deviation - radius, high = deviation + radius;
    low /= low < 0 ? from->row.least_scale : from->row.most_scale;
    high /= high < 0 ? from->row.most_scale : from->row.least_scale;
    double a = from->gamma[i] * (low + from->row.shift) + from->beta[i];
    double b = from->gamma[i] * (high + from->row.shift) + from->beta[i];
    double below = fmin(a, b) - y, above = y - fmax(a, b);
    return fmax(0, fmax(below, above)); /* an end that is NaN (0/0) excludes nothing */
}

typedef struct moment_sums {
    double errors, exacts; /* of squares */
} moment_sums;

static void measure_row(const fingerprint_rows *rows, const answering *from, const double *y,
                        size_t step, fingerprint_distance *distance, moment_sums *sums)
{
    const fingerprint_input *input = rows->input;
    bool printed = fingerprint_printed(input);
    /* A row that was printed as constant need not have been, so 0/0 says nothing. */
    bool open_class = from->row.deviation_radius > 0 && !(from->row.least_scale > 0);
    for (size_t i = 0; i < input->hidden; i += step) {
        double exact = value_of(from, i);
        double kept = input->y_is_f64 ? exact : (double)(float)exact;
        if (!same_class(kept, y[i])) {
            distance->mismatches += !open_class;
            continue;
        }
        if (!isfinite(kept))
            continue;
        double scale = scale_of(from, i), difference = y[i] - exact;
        distance->row_ulp_max = fmax(distance->row_ulp_max, fabs(difference) / ln_ulp_f32(scale));
        sums->errors += difference * difference;
        sums->exacts += exact * exact;
        if (printed)
            distance->excess = fmax(distance->excess,
                                    beyond(from, i, y[i]) / fingerprint_radius(input, y[i], scale));
    }
}

fingerprint_distance fingerprint_measure(const fingerprint_rows *rows,
                                         const ln_convention *convention, size_t row_step,
                                         size_t column_step)
{
    fingerprint_distance distance = {0};
    moment_sums sums = {0};
    for (size_t row = 0; row < rows->input->rows; row += row_step) {
        exact_view view = fingerprint_row(rows, row);
        answering from = answer(rows, convention, &view);
        measure_row(rows, &from, rows->input->y + row * rows->input->hidden, column_step, &distance,
                    &sums);
    }
    distance.rel_l2 = sums.exacts > 0 ? sqrt(sums.errors / sums.exacts) : NAN;
    return distance;
}

double fingerprint_apart(const fingerprint_rows *rows, const exact_view *row, double resolution,
                         const ln_convention *a, const ln_convention *b, size_t column_step,
                         double enough)
{
    const fingerprint_input *input = rows->input;
    answering one = answer(rows, a, row), other = answer(rows, b, row);
    bool printed = fingerprint_printed(input);
    double apart = 0;
    for (size_t i = 0; i < input->hidden && apart <= enough; i += column_step) {
        double first = value_of(&one, i), second = value_of(&other, i);
        if (isnan(first) || isnan(second)) {
            if (isnan(first) != isnan(second))
                return INFINITY;
            continue;
        }
        double scale = scale_of(&one, i);
        double unit =
            printed ? 2 * fingerprint_radius(input, first, scale) : resolution * ln_ulp_f32(scale);
        apart = fmax(apart, fabs(first - second) / unit);
    }
    return apart;
}
