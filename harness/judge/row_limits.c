#include "judge/row_limits.h"
#include "exact/scale.h"
#include "base/number.h"
#include <stdio.h>
#include <stdlib.h>

struct limits_maker {
    textbook *book;
};

limits_maker *limits_maker_create(void)
{
    limits_maker *maker = calloc(1, sizeof *maker);
    if (maker && !(maker->book = textbook_create())) {
        free(maker);
        return NULL;
    }
    return maker;
}

void limits_maker_destroy(limits_maker *maker)
{
    if (maker)
        textbook_destroy(maker->book);
    free(maker);
}

/* The ways of the textbook do not flush: what that costs is what it adds to any order's bound. */
static void add_flushing(const order_question *asked, const ln_row_facts *facts,
                         const metrics_row *row, const row_limits *limits, textbook_errors *most)
{
    order_question plain = *asked;
    plain.flushes = false;
    order_answer without = any_order(&plain, facts);
    most->row_ulp += limits->order_ulp - ln_bound_row_ulp(&without.bound, row);
    most->mean += limits->order.mean - without.mean;
    most->rstd += limits->order.rstd - without.rstd;
    if (!isfinite(limits->order_ulp)) /* infinity less infinity */
        *most = (textbook_errors){INFINITY, INFINITY, INFINITY, most->undefined};
}

bool limits_of_row(limits_maker *maker, const order_question *asked, const metrics_row *row,
                   const double *x, row_limits *limits)
{
    static const double rare = 1e-9;
    const ln_row_facts *facts = &row->answer->facts;
    order_question probable = *asked, certain = *asked;
    certain.chance = 0;
    probable.chance = rare;
    limits->order = any_order(&certain, facts);
    order_answer likely = any_order(&probable, facts);
    limits->order_ulp = ln_bound_row_ulp(&limits->order.bound, row);
    limits->likely_ulp = ln_bound_row_ulp(&likely.bound, row);
    if (!textbook_row(maker->book, row, x, asked->accumulator, &limits->textbook))
        return false;
    textbook_errors most = textbook_limits(&limits->textbook);
    if (asked->flushes)
        add_flushing(&certain, facts, row, limits, &most);
    limits->row_ulp = fmin(limits->order_ulp, most.row_ulp);
    limits->mean = fmin(limits->order.mean, most.mean);
    limits->rstd = fmin(limits->order.rstd, most.rstd);
    return true;
}

bool limits_tell(const row_limits *limits)
{
    return isfinite(limits->row_ulp);
}

/* ---- the nearest convention ---- */

/* Another way to read the same row: a factor and what is subtracted. */
typedef struct row_reading {
    const char *name;
    double mean, rstd, quotient;
    bool shifted_gamma; /* gamma1 is read as gamma, or gamma as gamma1 */
    bool other_eps;     /* differs by as much as eps weighs against this row's variance alone */
} row_reading;

enum { MOST_READINGS = 8 };

static double rstd_with(double var, ln_eps_place place, double eps)
{
    return place == LN_EPS_VAR ? 1 / sqrt(var + eps)
                               : 1 / (sqrt(var) + (place == LN_EPS_STD ? eps : 0));
}

static size_t other_readings(const metrics_row *row, row_reading readings[MOST_READINGS])
{
    static const char *const places[] = {"no eps", "eps in the variance", "eps on the std",
                                         "eps on the quotient"};
    const ln_convention *own = row->convention;
    const ln_row_facts *facts = &row->answer->facts;
    double n = (double)row->hidden, mean = facts->mean;
    double biased = facts->var, var = biased * n / (n - own->ddof);
    double other = biased * n / (n - (1 - own->ddof));
    double q = own->eps_place == LN_EPS_QUOTIENT ? own->eps : 0;
    size_t count = 0;
    readings[count++] = (row_reading){own->ddof ? "ddof=0" : "ddof=1",
                                      mean,
                                      rstd_with(other, own->eps_place, own->eps),
                                      q,
                                      false,
                                      false};
    readings[count++] = (row_reading){
        "RMSNorm",
        0,
        rstd_with((biased + mean * mean) * n / (n - own->ddof), own->eps_place, own->eps),
        q,
        false,
        false};
    for (ln_eps_place place = LN_EPS_NONE; place <= LN_EPS_QUOTIENT; place++)
        if (place != own->eps_place && own->eps_place != LN_EPS_NONE)
            readings[count++] = (row_reading){places[place],
                                              mean,
                                              rstd_with(var, place, own->eps),
                                              place == LN_EPS_QUOTIENT ? own->eps : 0,
                                              false,
                                              true};
    if (own->affine == LN_AFFINE_VECTOR || own->affine == LN_AFFINE_GAMMA1)
        readings[count++] =
            (row_reading){own->affine == LN_AFFINE_VECTOR ? "affine=gamma1" : "affine=vector",
                          mean,
                          facts->rstd,
                          q,
                          true,
                          false};
    return count;
}

/* How far y lies from a reading, in row ULP; infinitely far from one that is not finite where y is. */
static double distance_to(const row_reading *reading, const metrics_row *row, const double *x,
                          const void *y)
{
    ln_affine affine = row->convention->affine;
    type_format format = format_of(row->storage);
    double most = 0;
    for (size_t i = 0; i < row->hidden; i++) {
        size_t at = affine == LN_AFFINE_SCALAR ? 0 : i;
        double gamma = ln_has_gamma(affine) ? load(row->param, row->gamma, at) : 1;
        double beta = ln_has_beta(affine) ? load(row->param, row->beta, at) : 0;
        if ((affine == LN_AFFINE_GAMMA1) != reading->shifted_gamma)
            gamma += 1;
        double value = gamma * ((x[i] - reading->mean) * reading->rstd + reading->quotient) + beta;
        double given = load(row->storage, y, i);
        if (!isfinite(value) && isfinite(given))
            return INFINITY;
        most = fmax(most, fabs(given - value) / ulp_in(format, element_scale(row, i)));
    }
    return most;
}

/* The reading that a row which is off by more than it may be lies nearest to, four times as near as
 * to its own; NULL: there is none. An rstd that is somewhat off looks like another eps at one variance,
 * and at no other: it is sure only where it explains the row and is far from the own one. */
static const char *nearest_reading(const metrics_row *row, const double *x, const void *y,
                                   double own, double limit, bool *sure)
{
    static const double far = 64;
    row_reading readings[MOST_READINGS];
    size_t count = other_readings(row, readings);
    const char *name = NULL;
    double nearest = own / 4;
    for (size_t i = 0; i < count; i++) {
        double distance = distance_to(&readings[i], row, x, y);
        if (distance < nearest) {
            nearest = distance;
            name = readings[i].name;
            *sure = !readings[i].other_eps || (distance <= limit && own > far * limit);
        }
    }
    return name;
}

/* ---- the verdict ---- */

double limits_error(const metrics_row *row, const void *y)
{
    double worst = 0;
    for (size_t i = 0; i < row->hidden; i++) {
        double value = load(row->storage, y, i);
        if (isfinite(value) && isfinite(load(row->storage, row->answer->rounded, i)))
            worst = fmax(worst, fabs(row_ulp_of(row, i, value)));
    }
    return worst;
}

bool limits_hold(const row_limits *limits, const metrics_row *row, const double *x, const void *y,
                 char why[ROW_FAULT_LENGTH])
{
    double own = limits_error(row, y);
    if (!limits_tell(limits) || own <= limits->row_ulp)
        return true;
    bool sure = false;
    const char *nearer = nearest_reading(row, x, y, own, limits->row_ulp, &sure);
    const char *as = nearer ? ", as with " : "";
    if (sure)
        snprintf(why, ROW_FAULT_LENGTH, "nearer to %s", nearer);
    else if (own > limits->order_ulp)
        number_print(why, ROW_FAULT_LENGTH,
                     "beyond any order of summation: row ULP %.3g, at most %.3g, probably %.3g%s%s",
                     own, limits->order_ulp, limits->likely_ulp, as, nearer ? nearer : "");
    else
        number_print(why, ROW_FAULT_LENGTH,
                     "worse than every textbook kernel: row ULP %.3g, theirs at most %.3g%s%s", own,
                     limits->textbook.row_ulp, as, nearer ? nearer : "");
    return false;
}
