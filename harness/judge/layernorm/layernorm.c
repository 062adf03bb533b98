#include "judge/layernorm/layernorm.h"
#include "exact/scale.h"
#include "judge/slope.h"

static bool layernorm_answer(ln_reference *reference, const judge_block *block, size_t row)
{
    return ln_reference_row(reference, &block->convention, block->storage, block->param,
                            block->hidden, judge_input_row(block, ROLE_X, row),
                            judge_input_row(block, ROLE_RESIDUAL, row), block->inputs[ROLE_GAMMA],
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

/* ---- the sum with a residual, which is rounded to the storage type before it is normalised ---- */

/* Two roundings are one here (Figueroa 1995: 53 >= 2 p + 2), and f64 is added as it is. */
static double layernorm_sum(const judge_block *block, size_t i)
{
    return stored_in(block->storage, sum_in_double(block, i));
}

static double taken(const judge_block *block, const metrics_row *row, size_t at, size_t i,
                    const void *which)
{
    (void)which;
    return gamma_at(row, i) * row->answer->facts.rstd *
           (sum_in_double(block, at) - layernorm_sum(block, at));
}

static const char *layernorm_rounded_otherwise(const judge_block *block, const void *y)
{
    bool is = block->inputs[ROLE_RESIDUAL] && judge_follows(block, y, taken, NULL);
    return is ? "normalises x + residual before it rounds the sum" : NULL;
}

const operation_judging layernorm_judging = {.answer = layernorm_answer,
                                             .any_order = layernorm_any_order,
                                             .textbook = layernorm_textbook,
                                             .poorest = layernorm_poorest,
                                             .explain = norm_explain,
                                             .reach = layernorm_reach,
                                             .statistic = layernorm_statistic,
                                             .added = layernorm_sum,
                                             .sum = layernorm_sum,
                                             .rounded_otherwise = layernorm_rounded_otherwise};
