#include "judge/layernorm/layernorm.h"
#include "exact/scale.h"
#include "inputs/inputs.h"

static const void *input_row(const judge_block *block, size_t role, size_t row)
{
    return block->inputs[role] ? judge_row_of(block, block->inputs[role], row) : NULL;
}

static bool layernorm_answer(ln_reference *reference, const judge_block *block, size_t row)
{
    return ln_reference_row(reference, &block->convention, block->storage, block->param,
                            block->hidden, input_row(block, ROLE_X, row),
                            input_row(block, ROLE_RESIDUAL, row), block->inputs[ROLE_GAMMA],
                            block->inputs[ROLE_BETA], &block->results[row]);
}

/* Of y as x s + t, s = gamma rstd. */
static double layernorm_reach(const metrics_row *row, const double *x, size_t column)
{
    const ln_row_facts *facts = &row->answer->facts;
    double q = row->convention->eps_place == LN_EPS_QUOTIENT ? row->convention->eps : 0;
    return gamma_size(row, column) * (facts->rstd * (fabs(x[column]) + fabs(facts->mean)) + q) +
           fabs(beta_at(row, column));
}

static judged_statistic layernorm_statistic(const ln_reference_result *answer, size_t role,
                                            double given)
{
    const ln_row_facts *facts = &answer->facts;
    double rms = hypot(facts->mean, sqrt(facts->var));
    if (role == ROLE_MEAN)
        return (judged_statistic){.exact = facts->mean,
                                  .off = fabs(given - facts->mean),
                                  .size = fabs(facts->mean),
                                  .weight = facts->rstd,
                                  .error = rms > 0 ? (given - facts->mean) / rms : NAN};
    return (judged_statistic){.exact = facts->rstd,
                              .off = fabs(given / facts->rstd - 1),
                              .size = 1,
                              .weight = answer->max_xhat,
                              .error = facts->rstd > 0 ? (given - facts->rstd) / facts->rstd : NAN,
                              .relative = true};
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
        if ((affine == LN_AFFINE_GAMMA1) != reading->shifted_gamma)
            gamma += 1;
        double value =
            gamma * ((x[i] - reading->mean) * reading->rstd + reading->quotient) + beta_at(row, i);
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
static const char *layernorm_nearest(const metrics_row *row, const double *x, const void *y,
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

const operation_judging layernorm_judging = {.answer = layernorm_answer,
                                             .any_order = layernorm_any_order,
                                             .textbook = layernorm_textbook,
                                             .nearest = layernorm_nearest,
                                             .reach = layernorm_reach,
                                             .statistic = layernorm_statistic,
                                             .probe_rows = input_probe_rows,
                                             .added = layernorm_sum,
                                             .sum = layernorm_sum,
                                             .sum_unrounded = layernorm_sum_unrounded,
                                             .screen = layernorm_screen};
