#include "judge/rmsnorm/rmsnorm.h"
#include "certify/rms_row.h"
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

static bool rmsnorm_answer(ln_reference *reference, const judge_block *block, size_t row)
{
    return ln_rms_reference_row(reference, &block->convention, block->storage, block->param,
                                block->hidden, judge_input_row(block, ROLE_X, row),
                                judge_input_row(block, ROLE_RESIDUAL, row),
                                block->inputs[ROLE_GAMMA], &block->results[row]);
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

/* ---- a kernel that rounds where it is not asked to, or does not where it is ---- */

/* Two conventions of a row: what a kernel is asked for, and what it may do. */
typedef struct other_way {
    ln_convention own, other;
} other_way;

static double element(const ln_convention *convention, const ln_convention *own,
                      const judge_block *block, const metrics_row *row, size_t at, size_t i)
{
    /* Of a sum that is rounded or not, elements tell; its root hardly does. */
    double square = row->answer->facts.var;
    ln_convention root = *own;
    root.root = convention->root;
    return rmsnorm_value(convention, row,
                         rmsnorm_added(convention, block, at) /
                             rmsnorm_rounded_root(&root, block->storage, square),
                         i);
}

static double taken(const judge_block *block, const metrics_row *row, size_t at, size_t i,
                    const void *which)
{
    const other_way *ways = which;
    return element(&ways->other, &ways->own, block, row, at, i) -
           element(&ways->own, &ways->own, block, row, at, i);
}

static const char *rmsnorm_rounded_otherwise(const judge_block *block, const void *y)
{
    const ln_convention own = block->convention;
    ln_convention cast = own, root = own, sum = own, offset = own;
    bool rounds_sum = own.sum != LN_RMS_SUM_UNROUNDED;
    cast.cast = !own.cast;
    root.root = !own.root;
    sum.sum = rounds_sum ? LN_RMS_SUM_UNROUNDED : LN_RMS_SUM_ROUNDED;
    offset.weight =
        own.weight == LN_RMS_WEIGHT_OFFSET ? LN_RMS_WEIGHT_OFFSET_ROUNDED : LN_RMS_WEIGHT_OFFSET;
    const struct {
        bool told;
        ln_convention other;
        const char *words;
    } all[] = {
        {own.weight != LN_RMS_WEIGHT_NONE, cast,
         own.cast ? "does not round xhat to x's type before the weight"
                  : "rounds xhat to x's type before the weight"},
        {true, root,
         own.root ? "does not round the root to x's type" : "rounds the root to x's type"},
        {block->inputs[ROLE_RESIDUAL] != NULL, sum,
         rounds_sum ? "normalises x + residual before it rounds the sum"
                    : "rounds x + residual before it normalises the sum"},
        {own.weight >= LN_RMS_WEIGHT_OFFSET && dtype_size(block->param) == 2, offset,
         own.weight == LN_RMS_WEIGHT_OFFSET ? "rounds 1 + weight to the weight's type"
                                            : "does not round 1 + weight to the weight's type"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const other_way ways = {own, all[i].other};
        if (all[i].told && judge_follows(block, y, taken, &ways))
            return all[i].words;
    }
    return NULL;
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
