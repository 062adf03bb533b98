#include "judge/position.h"
#include "base/arena.h"
#include "exact/scale.h"
#include <stdio.h>

/* Errors of a row, in row ULP, are e_i = g_i (a xhat_i + b) + s_i: a and b from the errors of rstd and
 * mean, which all elements share and which any order of summation may make large; g_i = gamma_i in
 * ulps; s_i what is left, the roundings of element i alone. a and b are fitted (least squares), and
 * s_i is compared.
 *
 * For a place G (a lane, an element counted from the end, an eighth) each row gives one number: the
 * mean of s over G less the mean over the rest of the row. Were places alike, this number would be
 * zero on average, and rows are independent. Over n rows, mean / (deviation / sqrt(n)) is then
 * Student's t of n - 1 degrees of freedom: |s_i| is a few row ULP at most, and n is 30 or more. The
 * same of |s|, less its own mean over all. Wallace (1959) turns t into the normal variable that is as
 * rare. 166 places and two statistics are 332 comparisons; more than 7 has a probability of 2.6e-12
 * each: 1e-9 in all, and less than 1e-6 with room for what is not normal. A fast and a careful rounding of the
 * tail differ by a row ULP at most (half an ulp each of product and sum): less is no finding. */

enum { LEAST_HIDDEN = 32, LEAST_ROWS = 30 };

static const double beyond_chance = 7;

/* e_i and its two directions, in row ULP. */
typedef struct element_error {
    double error, deviation, offset;
} element_error;

static element_error error_at(const metrics_row *row, const double *x, const void *y, size_t i)
{
    const ln_row_facts *facts = &row->answer->facts;
    double ulp = ulp_in(format_of(row->storage), element_scale(row, i));
    double gamma = gamma_at(row, i) / ulp;
    return (element_error){error_in(row, i, load(row->storage, y, i), ulp),
                           gamma * (x[i] - facts->mean) * facts->rstd, gamma};
}

/* Fits a and b and leaves s; false: there is nothing to fit. */
static bool take_out_shared(const metrics_row *row, const double *x, const void *y, double *left)
{
    double dd = 0, od = 0, oo = 0, ed = 0, eo = 0;
    for (size_t i = 0; i < row->hidden; i++) {
        element_error at = error_at(row, x, y, i);
        dd += at.deviation * at.deviation;
        od += at.offset * at.deviation;
        oo += at.offset * at.offset;
        ed += at.error * at.deviation;
        eo += at.error * at.offset;
    }
    double determinant = dd * oo - od * od;
    if (!isfinite(ed) || !isfinite(eo) || !(determinant > 1e-9 * dd * oo))
        return false;
    double a = (ed * oo - eo * od) / determinant, b = (eo * dd - ed * od) / determinant;
    for (size_t i = 0; i < row->hidden; i++) {
        element_error at = error_at(row, x, y, i);
        left[i] = at.error - a * at.deviation - b * at.offset;
    }
    return true;
}

/* Of one row and one statistic: how many elements a bin has and their sum. */
typedef struct row_bins {
    double count[POSITION_LANES + POSITION_LAST + POSITION_EIGHTHS],
        sum[POSITION_LANES + POSITION_LAST + POSITION_EIGHTHS], all, total;
} row_bins;

static void fill_bins(const double *left, size_t hidden, bool absolute, row_bins *bins)
{
    *bins = (row_bins){.all = (double)hidden};
    for (size_t i = 0; i < hidden; i++) {
        double value = absolute ? fabs(left[i]) : left[i];
        size_t of_row[] = {i % POSITION_LANES,
                           POSITION_LANES + POSITION_LAST + i * POSITION_EIGHTHS / hidden,
                           POSITION_LANES + hidden - 1 - i};
        for (size_t bin = 0; bin < 2 + (hidden - 1 - i < POSITION_LAST); bin++) {
            bins->count[of_row[bin]]++;
            bins->sum[of_row[bin]] += value;
        }
        bins->total += value;
    }
}

static void add_place(place_sums *place, const row_bins *bins, double count, double sum)
{
    if (count == 0 || count == bins->all)
        return;
    double difference = sum / count - (bins->total - sum) / (bins->all - count);
    place->rows++;
    place->sum += difference;
    place->squares += difference * difference;
}

/* Lanes of 2, 4, ... are bins of POSITION_LANES taken together. */
static void add_places(place_sums *places, const row_bins *bins)
{
    for (size_t lanes = 2; lanes <= POSITION_LANES; lanes *= 2)
        for (size_t lane = 0; lane < lanes; lane++) {
            double count = 0, sum = 0;
            for (size_t bin = lane; bin < POSITION_LANES; bin += lanes) {
                count += bins->count[bin];
                sum += bins->sum[bin];
            }
            add_place(places++, bins, count, sum);
        }
    for (size_t bin = POSITION_LANES; bin < POSITION_LANES + POSITION_LAST + POSITION_EIGHTHS;
         bin++)
        add_place(places++, bins, bins->count[bin], bins->sum[bin]);
}

/* The mean of a row's errors away from zero. Rounded to nearest they are as often inwards as outwards;
 * a type of 24 bits or more has errors of the sums beside them. */
static void add_outward(place_sums *outward, const metrics_row *row, const void *y)
{
    type_format format = format_of(row->storage);
    double sum = 0;
    if (row->storage != LN_BF16 && row->storage != LN_F16)
        return;
    for (size_t i = 0; i < row->hidden; i++) {
        double exact = row->answer->exact[i];
        sum +=
            copysign(1, exact) * error_in(row, i, load(row->storage, y, i), ulp_in(format, exact));
    }
    sum /= (double)row->hidden;
    outward->rows++;
    outward->sum += sum;
    outward->squares += sum * sum;
}

void position_add(position_errors *errors, const metrics_row *row, const double *x, const void *y)
{
    row_bins bins;
    if (row->hidden < LEAST_HIDDEN || !isfinite(row->answer->facts.rstd) ||
        !(row->answer->max_xhat > 0))
        return;
    double *left = allocate(row->hidden * sizeof *left);
    if (take_out_shared(row, x, y, left)) {
        add_outward(&errors->outward, row, y);
        fill_bins(left, row->hidden, false, &bins);
        add_places(errors->signed_sums, &bins);
        fill_bins(left, row->hidden, true, &bins);
        add_places(errors->absolute_sums, &bins);
    }
    free(left);
}

static void name_place(size_t place, char where[40])
{
    if (place >= POSITION_LANE_GROUPS + POSITION_LAST) {
        snprintf(where, 40, "eighth %zu of %d", place - POSITION_LANE_GROUPS - POSITION_LAST + 1,
                 POSITION_EIGHTHS);
        return;
    }
    if (place >= POSITION_LANE_GROUPS) {
        size_t before = place - POSITION_LANE_GROUPS;
        if (before == 0)
            snprintf(where, 40, "last element");
        else
            snprintf(where, 40, "last element but %zu", before);
        return;
    }
    unsigned lanes = 2, lane = (unsigned)place;
    for (; lane >= lanes; lanes *= 2)
        lane -= lanes;
    snprintf(where, 40, "lane %u of %u", lane, lanes);
}

static bool is_beyond_chance(const place_sums *place, double mean)
{
    const double squares = mean * mean, more = fmax(0, place->squares / place->rows - squares);
    const double n = place->rows, normal = sqrt((n - 1) * log1p(squares / more));
    return n >= LEAST_ROWS && normal * (8 * n - 7) / (8 * n - 5) > beyond_chance;
}

/* Truncation is off by half an ulp on average; a quarter is told from rounding by steps. */
bool position_truncates(const position_errors *errors, double *outward)
{
    *outward = errors->outward.sum / errors->outward.rows;
    return fabs(*outward) > 0.25 && is_beyond_chance(&errors->outward, *outward);
}

bool position_differs(const position_errors *errors, position_finding *found)
{
    *found = (position_finding){{0}, 0};
    for (size_t i = 0; i < 2 * POSITION_GROUPS; i++) {
        const place_sums *place = i < POSITION_GROUPS ? &errors->signed_sums[i]
                                                      : &errors->absolute_sums[i - POSITION_GROUPS];
        double mean = place->sum / place->rows;
        if (!(fabs(mean) > fmax(1, fabs(found->difference))) || !is_beyond_chance(place, mean))
            continue;
        found->difference = mean;
        name_place(i % POSITION_GROUPS, found->where);
    }
    return found->difference != 0;
}
