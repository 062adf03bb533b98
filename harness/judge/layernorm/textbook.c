/* The error of a way is that of its mean and rstd, dm and dr, as they come out at element i,
 *     gamma_i (xhat_i dr - r' dm) / ulp(scale_i),
 * of which the largest is at most |dr| max_i |gamma_i xhat_i| / ulp_i + |r' dm| max_i |gamma_i| /
 * ulp_i: so a way costs two sums and no look at each element. What the rest rounds is measured on
 * one way, with (x - mean) rstd gamma + beta and with both folded into x s + t.
 *
 * One order may be right by luck where the next one is not: 0.1 added up in lanes of powers of two,
 * or sums of squares whose last roundings cancel. So each way is given what N independent roundings
 * and the last few cost in any order: (4 + sqrt(N)) u |mean| of the mean; of m2,
 * u N (4 var + (4 + sqrt(N)) mean^2) for the sum of squares less the square of the mean, 4 u N
 * sqrt(var (var + mean^2)) for running means (Chan, Golub, LeVeque 1983), 4 u N var + N dm^2 for two
 * passes; and of each square what underflow takes. Where m2 may be negative by that, or squares of
 * twice the largest element may overflow in a sum (of x less a pivot, say), or var and eps are
 * subnormal (estimates of a root take that for 0), nothing is known of the row. */
#include "exact/scale.h"
#include "judge/layernorm/layernorm.h"
#include <stdlib.h>

static const textbook_errors nothing_known = {
    .row_ulp = INFINITY, .statistics = {[ROLE_MEAN] = INFINITY, [ROLE_RSTD] = INFINITY}};

/* ---- formulas ---- */

/* A row's mean and sum of squared deviations as a way finds them. */
typedef struct moments {
    double mean, m2;
} moments;

static moments running(ln_type type, const double *x, size_t count)
{
    moments found = {0, 0};
    for (size_t i = 0; i < count; i++) {
        double before = rounded_to(type, x[i] - found.mean);
        found.mean = rounded_to(
            type, found.mean + rounded_to(type, before / rounded_to(type, (double)(i + 1))));
        double after = rounded_to(type, x[i] - found.mean);
        found.m2 = rounded_to(type, found.m2 + rounded_to(type, before * after));
    }
    return found;
}

static double rstd_of(ln_type type, const metrics_row *row, double m2)
{
    const ln_convention *convention = row->convention;
    double count = rounded_to(type, (double)row->hidden - convention->ddof);
    double eps = rounded_to(type, convention->eps), var = rounded_to(type, m2 / count);
    if (convention->eps_place == LN_EPS_VAR)
        var = rounded_to(type, var + eps);
    double std = rounded_to(type, sqrt(var));
    if (convention->eps_place == LN_EPS_STD)
        std = rounded_to(type, std + eps);
    return rounded_to(type, 1 / std);
}

/* ---- errors ---- */

/* The largest |gamma_i xhat_i| and |gamma_i| in ulps of element i. */
typedef struct row_leverage {
    double deviation, offset;
} row_leverage;

static row_leverage leverage_of(const metrics_row *row, const double *x)
{
    const ln_row_facts *facts = &row->answer->facts;
    type_format format = format_of(row->storage);
    row_leverage most = {0, 0};
    for (size_t i = 0; i < row->hidden; i++) {
        double gamma = gamma_size(row, i) / ulp_in(format, element_scale(row, i));
        most.deviation = fmax(most.deviation, gamma * fabs(x[i] - facts->mean) * facts->rstd);
        most.offset = fmax(most.offset, gamma);
    }
    return most;
}

/* A way whose m2 may as well have come out `off` lower or higher, and whose mean is given two ULP
 * more: an order that happens to be right here says nothing of the next one. */
static void take_way(ln_type type, const metrics_row *row, const row_leverage *most,
                     const moments *way, double off, textbook_errors *worst)
{
    const ln_row_facts *facts = &row->answer->facts;
    double low = rstd_of(type, row, way->m2 + off), high = rstd_of(type, row, way->m2 - off);
    double n = (double)row->hidden;
    double dm =
        fabs(way->mean - facts->mean) + (4 + sqrt(n)) * unit_roundoff(type) * fabs(facts->mean);
    double dr = fmax(fabs(low / facts->rstd - 1), fabs(high / facts->rstd - 1));
    double off_by = dr * most->deviation + high * dm * most->offset;
    if (!isfinite(off_by) || !isfinite(low)) {
        *worst = nothing_known;
        return;
    }
    worst->row_ulp = fmax(worst->row_ulp, off_by);
    worst->statistics[ROLE_MEAN] = fmax(worst->statistics[ROLE_MEAN], dm);
    worst->statistics[ROLE_RSTD] = fmax(worst->statistics[ROLE_RSTD], dr);
}

/* What rounding behind the sums costs: mean and rstd as two passes in one chain give them. */
static double error_of_rest(ln_type type, const metrics_row *row, const double *x,
                            const moments *way)
{
    ln_affine affine = row->convention->affine;
    double rstd = rstd_of(type, row, way->m2), worst = 0;
    double q = row->convention->eps_place == LN_EPS_QUOTIENT ? row->convention->eps : 0;
    for (size_t i = 0; i < row->hidden; i++) {
        size_t at = affine == LN_AFFINE_SCALAR ? 0 : i;
        double gamma = ln_has_gamma(affine) ? load(row->param, row->gamma, at) : 1;
        double beta = beta_at(row, i);
        if (affine == LN_AFFINE_GAMMA1)
            gamma = rounded_to(type, 1 + gamma);
        double xhat =
            rounded_to(type, rounded_to(type, rounded_to(type, x[i] - way->mean) * rstd) + q);
        double direct = rounded_to(type, rounded_to(type, xhat * gamma) + beta);
        double s = rounded_to(type, rstd * gamma);
        double t = rounded_to(type, rounded_to(type, beta + rounded_to(type, q * gamma)) -
                                        rounded_to(type, way->mean * s));
        double folded = rounded_to(type, rounded_to(type, x[i] * s) + t);
        double most = fmax(fabs(row_ulp_of(row, i, direct)), fabs(row_ulp_of(row, i, folded)));
        worst = fmax(worst, most);
        if (isnan(most) && isfinite(load(row->storage, row->answer->rounded, i)))
            return INFINITY;
    }
    return worst + 0.5; /* the storage type's own rounding */
}

/* Bits from the first to the last that is set. */
static int significant_bits(double value)
{
    int exponent, bits = 0;
    double left = frexp(fabs(value), &exponent);
    for (; left != 0; left = 2 * left - floor(2 * left))
        bits++;
    return bits;
}

/* Whether every way finds equal elements equal, so that 0 / 0 is what comes out: all sums of N elements and
 * squares are exact, or N - 1 is 0. */
static bool is_surely_undefined(ln_type type, double element, size_t hidden, int ddof)
{
    double most = ceil(log2((double)hidden)), precision = -log2(unit_roundoff(type));
    double square = element * element;
    return hidden == (size_t)ddof || (2 * significant_bits(element) + most <= precision &&
                                      (element == 0 || square > ln_ulp(type, 0)) &&
                                      16 * square * (double)hidden < largest_power(type));
}

/* Both formulas with sums in one order; `way` is left as two passes find it. */
static void take_order(textbook *book, ln_type type, const metrics_row *row, const double *x,
                       int order, const row_leverage *most, moments *way, textbook_errors *worst)
{
    const ln_row_facts *facts = &row->answer->facts;
    size_t hidden = row->hidden;
    double unit = unit_roundoff(type), n = (double)hidden, mean = facts->mean;
    double sum = add_up(type, x, hidden, order);
    way->mean = rounded_to(type, sum / rounded_to(type, (double)hidden));
    for (size_t i = 0; i < hidden; i++)
        book->terms[i] = rounded_to(type, x[i] * x[i]);
    way->m2 = rounded_to(type, add_up(type, book->terms, hidden, order) -
                                   rounded_to(type, sum * way->mean));
    take_way(type, row, most, way, unit * n * (4 * facts->var + (4 + sqrt(n)) * mean * mean),
             worst);
    for (size_t i = 0; i < hidden; i++) {
        double off = rounded_to(type, x[i] - way->mean);
        book->terms[i] = rounded_to(type, off * off);
    }
    way->m2 = add_up(type, book->terms, hidden, order);
    double dm = fabs(way->mean - facts->mean) + (4 + sqrt(n)) * unit * fabs(mean);
    take_way(type, row, most, way, 4 * unit * n * facts->var + n * dm * dm, worst);
}

static const double near_mean = 3; /* std */

/* Sums of x less its first element (Chan, Golub, LeVeque 1983). Only where that lies as near to the
 * mean as most elements do: where it lies far off, as in rows that begin with a spike, the way loses
 * digits that the others keep, and is no measure. */
static void take_pivot(textbook *book, ln_type type, const metrics_row *row, const double *x,
                       const row_leverage *most, double pivot, double near, textbook_errors *worst)
{
    const ln_row_facts *facts = &row->answer->facts;
    double n = (double)row->hidden, off = pivot - facts->mean;
    if (!(fabs(off) <= near * sqrt(facts->var)))
        return;
    for (int order = 0; order < ORDERS; order++) {
        moments way;
        for (size_t i = 0; i < row->hidden; i++)
            book->terms[i] = rounded_to(type, x[i] - pivot);
        double sum = add_up(type, book->terms, row->hidden, order);
        double mean = rounded_to(type, sum / rounded_to(type, n));
        for (size_t i = 0; i < row->hidden; i++)
            book->terms[i] = rounded_to(type, book->terms[i] * book->terms[i]);
        way.m2 = rounded_to(type, add_up(type, book->terms, row->hidden, order) -
                                      rounded_to(type, sum * mean));
        way.mean = rounded_to(type, pivot + mean);
        take_way(type, row, most, &way, 4 * unit_roundoff(type) * n * (facts->var + off * off),
                 worst);
    }
}

bool layernorm_textbook(textbook *book, const metrics_row *row, const double *x,
                        ln_type accumulator, textbook_errors *worst)
{
    *worst = nothing_known;
    if (!isfinite(row->answer->facts.rstd)) {
        worst->undefined =
            isfinite(row->answer->facts.max_abs) && row->answer->facts.max_dev == 0 &&
            is_surely_undefined(accumulator, x[0], row->hidden, row->convention->ddof);
        return true;
    }
    if (!textbook_reserve(book, row->hidden))
        return false;
    const ln_row_facts *facts = &row->answer->facts;
    double n = (double)row->hidden, unit = unit_roundoff(accumulator), var = facts->var;
    if (!(16 * n * facts->max_abs * facts->max_abs < largest_power(accumulator)) ||
        !rstd_is_ordinary(accumulator, row->storage, facts->rstd))
        return true;
    row_leverage most = leverage_of(row, x);
    moments way = running(accumulator, x, row->hidden);
    *worst = (textbook_errors){0};
    take_way(accumulator, row, &most, &way,
             4 * unit * n * sqrt(var * (var + facts->mean * facts->mean)), worst);
    double rest = 0;
    for (int order = 0; order < ORDERS; order++) {
        take_order(book, accumulator, row, x, order, &most, &way, worst);
        if (order == 0)
            rest = error_of_rest(accumulator, row, x, &way);
    }
    take_pivot(book, accumulator, row, x, &most, x[0], near_mean, worst);
    worst->row_ulp += rest;
    /* In ULP of the root mean square and of rstd: less than that is no error. */
    double two_ulp = 4 * unit_roundoff(accumulator);
    worst->statistics[ROLE_MEAN] =
        fmax(worst->statistics[ROLE_MEAN],
             two_ulp * hypot(facts->mean, sqrt(facts->var)) + n * ln_ulp(accumulator, 0));
    /* An order that happens to be right on this row says nothing of the next one. */
    worst->statistics[ROLE_RSTD] =
        fmax(worst->statistics[ROLE_RSTD], fmax(4, 2 + sqrt(n) / 2) * unit);
    return true;
}

static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

bool layernorm_poorest(textbook *book, const metrics_row *row, const double *x, ln_type accumulator,
                       textbook_errors *worst)
{
    moments way;
    if (!layernorm_textbook(book, row, x, accumulator, worst))
        return false;
    if (!isfinite(worst->statistics[ROLE_RSTD]))
        return true;
    double *sorted = malloc(row->hidden * sizeof *sorted);
    if (!sorted)
        return false;
    memcpy(sorted, x, row->hidden * sizeof *sorted);
    qsort(sorted, row->hidden, sizeof *sorted, by_value);
    row_leverage most = leverage_of(row, x);
    for (int order = 0; order < 2; order++) /* the least first, and the greatest */
        take_order(book, accumulator, row, sorted, order, &most, &way, worst);
    double pivot =
        x[0]; /* of the first elements, which pivots are made of, the farthest from the mean */
    for (size_t i = 1; i < row->hidden && i < 8; i++)
        if (fabs(x[i] - row->answer->facts.mean) > fabs(pivot - row->answer->facts.mean))
            pivot = x[i];
    take_pivot(book, accumulator, row, x, &most, pivot, INFINITY, worst);
    free(sorted);
    return true;
}
