#include "judge/rmsnorm/rmsnorm.h"
#include "certify/rms_row.h"
#include "inputs/inputs.h"
#include "judge/slope.h"

double rmsnorm_root(const ln_convention *convention, double square)
{
    bool inside = convention->eps_place == LN_EPS_VAR, on = convention->eps_place == LN_EPS_STD;
    return sqrt(square + (inside ? convention->eps : 0)) + (on ? convention->eps : 0);
}

double rmsnorm_rounded_root(const ln_convention *convention, ln_type storage, double square)
{
    double root = rmsnorm_root(convention, square);
    return convention->root ? stored_in(storage, root) : root;
}

static double factor_at(const ln_convention *convention, const metrics_row *row, size_t i)
{
    double w = convention->weight ? load(row->param, row->gamma, i) : 1;
    return convention->weight <= LN_RMS_WEIGHT                  ? w
           : convention->weight == LN_RMS_WEIGHT_OFFSET_ROUNDED ? stored_in(row->param, 1 + w)
                                                                : 1 + w;
}

double rmsnorm_value(const ln_convention *convention, const metrics_row *row, double xhat, size_t i)
{
    bool casts = convention->cast && convention->weight != LN_RMS_WEIGHT_NONE;
    return factor_at(convention, row, i) * (casts ? stored_in(row->storage, xhat) : xhat);
}

double rmsnorm_added(const ln_convention *convention, const judge_block *block, size_t i)
{
    bool is_short = dtype_size(block->storage) == 2;
    if (!block->inputs[ROLE_RESIDUAL])
        return load(block->storage, block->inputs[ROLE_X], i);
    double sum = sum_in_double(block, i);
    return is_short && convention->sum == LN_RMS_SUM_UNROUNDED ? (double)(float)sum
                                                               : stored_in(block->storage, sum);
}

static double added(const judge_block *block, size_t i)
{
    return rmsnorm_added(&block->convention, block, i);
}

static double rmsnorm_sum(const judge_block *block, size_t i)
{
    return stored_in(block->storage, sum_in_double(block, i));
}

static const void *input_row(const judge_block *block, size_t role, size_t row)
{
    return block->inputs[role] ? judge_row_of(block, block->inputs[role], row) : NULL;
}

static bool rmsnorm_answer(ln_reference *reference, const judge_block *block, size_t row)
{
    return ln_rms_reference_row(reference, &block->convention, block->storage, block->param,
                                block->hidden, input_row(block, ROLE_X, row),
                                input_row(block, ROLE_RESIDUAL, row), block->inputs[ROLE_GAMMA],
                                &block->results[row]);
}

double rmsnorm_reach(const metrics_row *row, const double *x, size_t column)
{
    return gamma_size(row, column) * row->answer->facts.rstd * fabs(x[column]);
}

static judged_statistic rmsnorm_statistic(const ln_reference_result *answer, size_t role,
                                          double given)
{
    double exact = answer->facts.rstd;
    (void)role;
    return (judged_statistic){.exact = exact,
                              .off = fabs(given / exact - 1),
                              .size = 1,
                              .weight = answer->max_xhat,
                              .error = exact > 0 ? (given - exact) / exact : NAN,
                              .relative = true};
}

const operation_judging rmsnorm_judging = {.answer = rmsnorm_answer,
                                           .any_order = rmsnorm_any_order,
                                           .textbook = rmsnorm_textbook,
                                           .explain = norm_explain,
                                           .reach = rmsnorm_reach,
                                           .statistic = rmsnorm_statistic,
                                           .added = added,
                                           .sum = rmsnorm_sum,
                                           .rounded_otherwise = rmsnorm_rounded_otherwise};
