#include "judge/position.h"
#include "base/arena.h"
#include "exact/scale.h"
#include <stdio.h>

/* The errors of a row, in row ULP, are e_i = g_i (a xhat_i + b) + s_i. a and b are the errors of rstd and mean, which
 * all elements share and which some orders of summation make large; g_i is gamma_i in ulps; s_i is the rest, from the
 * roundings of element i. a and b are fitted (least squares), and the s_i are compared.
 *
 * For a group G of positions (a lane, an element counted from the end, an eighth) each row gives one number: the mean
 * of s over G minus the mean over the rest of the row. Rows are independent, and if all positions have the same errors,
 * the expected value of this number is 0. Over n rows, mean / (deviation / sqrt(n)) then has Student's t distribution
 * with n - 1 degrees of freedom: |s_i| is at most a few row ULP, and n is at least 30. The same is done with |s|.
 * Wallace (1959) converts t into a standard normal variable of the same probability. 166 groups and two statistics are
 * 332 comparisons; a value above 7 has a probability of 2.6e-12 in each and of 1e-9 in all, or less than 1e-6 with a
 * margin for errors that are not normal. Two correct ways to compute the last elements differ by at most a row ULP
 * (half an ulp each of product and sum), so smaller differences are ignored. */

enum { LEAST_HIDDEN = 32, LEAST_ROWS = 30 };

static const double beyond_chance = 7;

/* e_i and the coefficients of a and b in it, in row ULP. */
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

/* Fits a and b and writes s into left. Returns false if the fit is not determined. */
static bool remove_shared(const metrics_row *row, const double *x, const void *y, double *left)
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

/* The number of elements in each bin and their sum, for one row and one statistic; all, total: for the whole row. */
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

/* Adds a row to the sums of all groups. A lane of 2, 4, ... lanes consists of several bins of POSITION_LANES. */
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

/* Adds the mean error of a row away from zero. Rounding to nearest errs towards zero as often as away from it. Longer
 * types are skipped, since the errors of their sums are as large as those of rounding. */
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
    if (remove_shared(row, x, y, left)) {
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

/* The mean error of truncation is half an ulp; a threshold of a quarter allows for kernels that round each step. */
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
