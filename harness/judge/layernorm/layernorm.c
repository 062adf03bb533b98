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
