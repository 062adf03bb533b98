/* The part of the judge that depends on the operation (judging.h), for RMSNorm. */
#include "base/arena.h"
#include "certify/rms_row.h"
#include "judge/judging.h"

/* Returns the root of a mean square before it is rounded. */
static double rmsnorm_root(const ln_convention *convention, double square)
{
    bool inside = convention->eps_place == LN_EPS_VAR, on = convention->eps_place == LN_EPS_STD;
    return sqrt(square + (inside ? convention->eps : 0)) + (on ? convention->eps : 0);
}

double rmsnorm_rounded_root(const ln_convention *convention, ln_type storage, double square)
{
    double root = rmsnorm_root(convention, square);
    return convention->root ? stored_in(storage, root) : root;
}

/* Returns weight * xhat of an element before its last rounding. */
static double rmsnorm_value(const ln_convention *convention, const metrics_row *row, double xhat,
                            size_t i)
{
    const bool casts = convention->cast && convention->weight != LN_RMS_WEIGHT_NONE;
    double w = convention->weight ? load(row->param, row->gamma, i) : 1;
    if (convention->weight > LN_RMS_WEIGHT)
        w = convention->weight == LN_RMS_WEIGHT_OFFSET_ROUNDED ? stored_in(row->param, 1 + w)
                                                               : 1 + w;
    return w * (casts ? stored_in(row->storage, xhat) : xhat);
}

static bool rmsnorm_answer(ln_reference *reference, const judge_block *block, size_t row)
{
    return ln_rms_reference_row(reference, &block->convention, block->storage, block->param,
                                block->hidden, judge_input_row(block, ROLE_X, row),
                                judge_input_row(block, ROLE_RESIDUAL, row),
                                block->inputs[ROLE_GAMMA], &block->results[row]);
}

/* ---- a kernel that rounds in another place than the convention says ---- */

/* The convention of a row, and another one that a kernel may have computed. */
typedef struct other_way {
    ln_convention own, other;
} other_way;

static double rmsnorm_taken(const judge_block *block, const metrics_row *row, size_t at, size_t i,
                            const void *which)
{
    const other_way *ways = which;
    const ln_convention *const conventions[] = {&ways->other, &ways->own};
    double elements[2];
    for (int way = 0; way < 2; way++) {
        /* Both divisors are of the same mean square: rounding x + residual changes it very little. */
        ln_convention root = ways->own;
        root.root = conventions[way]->root;
        double divisor = rmsnorm_rounded_root(&root, block->storage, row->answer->facts.var);
        double xhat = judge_added(block, conventions[way], at) / divisor;
        elements[way] = rmsnorm_value(conventions[way], row, xhat, i);
    }
    return elements[0] - elements[1];
}

static uint64_t rmsnorm_rounded_otherwise(const judge_block *block, const void *y)
{
    const ln_convention own = block->convention;
    ln_convention cast = own, root = own, sum = own, offset = own;
    cast.cast = !own.cast;
    root.root = !own.root;
    sum.sum = own.sum != LN_RMS_SUM_UNROUNDED ? LN_RMS_SUM_UNROUNDED : LN_RMS_SUM_ROUNDED;
    offset.weight =
        own.weight == LN_RMS_WEIGHT_OFFSET ? LN_RMS_WEIGHT_OFFSET_ROUNDED : LN_RMS_WEIGHT_OFFSET;
    const struct {
        bool applies;
        ln_convention other;
    } all[] = {
        {own.weight != LN_RMS_WEIGHT_NONE, cast},
        {true, root},
        {block->inputs[ROLE_RESIDUAL] != NULL, sum},
        {own.weight >= LN_RMS_WEIGHT_OFFSET && dtype_size(block->param) == 2, offset},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const other_way ways = {own, all[i].other};
        if (all[i].applies && judge_follows(block, y, rmsnorm_taken, &ways))
            return (uint64_t)1 << (MISTAKE_CAST + i);
    }
    return 0;
}

/* The allowed error of a row without a bound. The model and the symbols are those of layernorm.c, with mu = 0:
 * V = sum(x^2) / N, R = 1 / r the root under the convention, D = max |x|, T the storage type.
 *
 * Sum. Since all squares are positive, |V' - V| <= lost = g V + 4 u V + 4 tiny, g = gamma(N + 4), and 2 a V more if
 * x + residual is not rounded to T. With rho = rstd_error() of this error, the root before its rounding lies between
 * root (1 - rho) and root (1 + rho). If the convention rounds it to T, R' lies between these two numbers rounded to T.
 *
 * xhat. x / R' or x r' with at most six roundings: |xhat' - xhat| <= D r (rho + 6 a (1 + rho)). Rounding xhat to T may
 * increase this difference by one unit of T: 2 v max |xhat|, or the smallest number of T. The rounding of 1 + w, that
 * of the product and that of y to T add 3 a + v.
 *
 * The textbook algorithms add the squares in six orders (add_in_order()). Each sum is also tried with N (4 u V + 2
 * tiny) added and subtracted, since one order may be right by luck. Then x r, with the convention's roundings. */

static const double slack = 1 + 1e-12;
static const order_answer no_claim = {{INFINITY, 0}, {[ROLE_RSTD] = INFINITY}};

static order_answer rmsnorm_any_order(const order_question *question, const ln_row_facts *facts)
{
    const ln_convention *own = question->convention;
    arithmetic sums = arithmetic_of(question->accumulator, question->flushes);
    double n = (double)question->hidden, r = facts->rstd, V = facts->var, D = facts->max_abs;
    double g = gamma_with(n + 4, sums.unit, question->chance);
    double a = unit_behind(question), v = unit_roundoff(question->storage);
    if (!isfinite(r) || !isfinite(g) || !(4 * n * V < sums.largest) ||
        !rstd_is_ordinary(question->accumulator, question->storage, r))
        return no_claim;
    double lost = g * V + 4 * sums.unit * V + 4 * sums.tiny;
    if (own->sum != LN_RMS_SUM_ROUNDED)
        lost += 2 * a * V;
    double rho = rstd_error(question->convention, V, lost, sums.unit);
    /* |r' / r - 1| of a root that has a relative error of rho before it is rounded. */
    if (isfinite(rho) && own->root) {
        const double root = rmsnorm_root(own, V);
        const double high = stored_in(question->storage, root * (1 + 2 * rho) * slack);
        const double low = stored_in(question->storage, root * (1 - rho) / slack);
        rho = low > 0 ? fmax(fabs(1 / (low * r) - 1), fabs(1 / (high * r) - 1)) : INFINITY;
    }
    if (!isfinite(rho))
        return no_claim;
    double xhat = D * r * (rho + 6 * a * (1 + rho)) + 4 * sums.tiny, affine = 3 * a + v;
    if (question->flushes)
        xhat += r * (1 + rho) * 4 * arithmetic_of(question->storage, true).tiny;
    if (own->cast) {
        affine += 2 * v;
        xhat += 2 * v * dtype_least_normal(question->storage);
    }
    return (order_answer){{xhat * slack, affine}, {[ROLE_RSTD] = (rho + 4 * sums.unit) * slack}};
}

/* Returns the error in row ULP of the roundings after the sum. */
static double error_of_rest(ln_type type, const metrics_row *row, const double *x)
{
    const ln_convention *own = row->convention;
    double r = rounded_to(type, row->answer->facts.rstd), worst = 0;
    for (size_t i = 0; i < row->hidden; i++) {
        double y = rounded_to(type, rmsnorm_value(own, row, rounded_to(type, x[i] * r), i));
        double off = fabs(row_ulp_of(row, i, y));
        if (isnan(off) && isfinite(load(row->storage, row->answer->rounded, i)))
            return INFINITY;
        worst = fmax(worst, off);
    }
    return worst + 0.5 + (own->cast ? 2 : 0); /* rounding y; xhat rounded to a neighbour */
}

static textbook_errors rmsnorm_textbook(const metrics_row *row, const double *x,
                                        ln_type accumulator)
{
    const ln_row_facts *facts = &row->answer->facts;
    const type_format format = format_of(row->storage);
    const double n = (double)row->hidden, unit = unit_roundoff(accumulator);
    const double lost = n * (4 * unit * facts->var + 2 * arithmetic_of(accumulator, false).tiny);
    ln_convention rounded = *row->convention;
    double most = 0, off = 0;
    rounded.eps = rounded_to(accumulator, rounded.eps);
    if (!isfinite(facts->rstd) || !rstd_is_ordinary(accumulator, row->storage, facts->rstd) ||
        !(16 * n * facts->max_abs * facts->max_abs < largest_power(accumulator)))
        return (textbook_errors){.row_ulp = INFINITY,
                                 .statistics = {[ROLE_RSTD] = INFINITY},
                                 .undefined = isnan(facts->rstd) && facts->max_abs == 0};
    double *terms = allocate(row->hidden * sizeof *terms);
    for (size_t i = 0; i < row->hidden; i++) {
        double lever = judge_reach(row, x, i) / ulp_in(format, element_scale(row, i));
        most = fmax(most, lever);
        terms[i] = rounded_to(accumulator, x[i] * x[i]);
    }
    /* Each sum, decreased and increased by `lost`. */
    for (int order = 0; order < SUM_ORDERS; order++) {
        const double sum = add_in_order(accumulator, terms, row->hidden, order);
        for (int side = -1; side <= 1; side += 2) {
            double square =
                rounded_to(accumulator, fmax(sum + side * lost, 0) / rounded_to(accumulator, n));
            double root = rmsnorm_rounded_root(&rounded, row->storage, square);
            double given = rounded_to(accumulator, 1 / rounded_to(accumulator, root));
            off = fmax(off, fabs(given / facts->rstd - 1));
        }
    }
    free(terms);
    return (textbook_errors){
        .row_ulp = off * most + error_of_rest(accumulator, row, x),
        .statistics = {[ROLE_RSTD] = fmax(off, fmax(4, 2 + sqrt(n) / 2) * unit)}};
}

const operation_judging rmsnorm_judging = {.answer = rmsnorm_answer,
                                           .any_order = rmsnorm_any_order,
                                           .textbook = rmsnorm_textbook,
                                           .rounded_otherwise = rmsnorm_rounded_otherwise};
