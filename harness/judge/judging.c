/* The table of operations, the errors of roundings and sums that operations share, and the allowed error of a row. The
 * proofs are in layernorm.c and rmsnorm.c. */
#include "judge/judging.h"
#include "base/arena.h"

#define OPERATION(KIND, name) extern const operation_judging name##_judging;
#include "domain/operations.def"
#undef OPERATION

#define OPERATION(KIND, name) [LN_OPERATION_##KIND] = &name##_judging,
const operation_judging *const judgings[] = {
#include "domain/operations.def"
};

/* ---- functions that LayerNorm and RMSNorm share ---- */

/* Rounding the sum to double first is harmless (Figueroa 1995: 53 >= 2 p + 2); the sum of f64 rows is rounded once. */
double judge_right_sum(const judge_block *block, size_t i)
{
    return stored_in(block->storage, sum_in_double(block, i));
}

double judge_added(const judge_block *block, const ln_convention *convention, size_t i)
{
    if (!block->inputs[ROLE_RESIDUAL])
        return load(block->storage, block->inputs[ROLE_X], i);
    return convention->sum == LN_RMS_SUM_UNROUNDED && dtype_size(block->storage) == 2
               ? (double)(float)sum_in_double(block, i)
               : judge_right_sum(block, i);
}

/* Covers y computed as x s + t with s = gamma rstd, whose intermediate results are the largest. */
double judge_reach(const metrics_row *row, const double *x, size_t column)
{
    const ln_row_facts *facts = &row->answer->facts;
    const ln_convention *convention = row->convention;
    double q = convention->eps_place == LN_EPS_QUOTIENT ? convention->eps : 0;
    double mean = convention->operation == LN_OPERATION_LAYERNORM ? fabs(facts->mean) : 0;
    return gamma_size(row, column) * (facts->rstd * (fabs(x[column]) + mean) + q) +
           fabs(beta_at(row, column));
}

judged_statistic judge_statistic(const ln_reference_result *answer, size_t role, double given)
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

/* ---- roundings ---- */

arithmetic arithmetic_of(ln_type type, bool flushes)
{
    double unit = unit_roundoff(type), normal = dtype_least_normal(type);
    return (arithmetic){unit, flushes ? normal : 2 * unit * normal, 2 / normal};
}

bool rstd_is_ordinary(ln_type accumulator, ln_type storage, double rstd)
{
    arithmetic sums = arithmetic_of(accumulator, true), kept = arithmetic_of(LN_F32, true);
    bool shorter = accumulator == LN_F64 && storage != LN_F64;
    return 4 * rstd * rstd * sums.tiny < 1 &&
           (!shorter || (4 * rstd < kept.largest && rstd > 4 * kept.tiny));
}

double gamma_of(double n, double u)
{
    return n * u < 0.5 ? n * u / (1 - n * u) : INFINITY;
}

/* The theorem of Higham and Mary (layernorm.c); never more than the bound that always holds. */
double gamma_with(double n, double u, double chance)
{
    double certain = gamma_of(n, u);
    if (chance <= 0)
        return certain;
    double l = sqrt(2 * log(2 * n / chance)) / (1 - u);
    return fmin(certain, expm1(l * sqrt(n) * u + n * u * u / (1 - u)));
}

double unit_behind(const order_question *question)
{
    bool short_rows = question->storage == LN_BF16 || question->storage == LN_F16;
    return fmax(unit_roundoff(question->accumulator),
                unit_roundoff(short_rows ? LN_F32 : question->storage));
}

double rstd_error(const ln_convention *convention, double S, double lost, double u)
{
    double q;
    lost += 4 * u * S;
    if (convention->eps_place == LN_EPS_STD) {
        if (!(lost < S))
            return INFINITY;
        q = lost / sqrt(S) / (sqrt(S) + convention->eps);
        return q < 0.5 ? q / (1 - q) + 6 * u : INFINITY;
    }
    double eps = convention->eps_place == LN_EPS_VAR ? convention->eps : 0;
    q = lost / (S + eps) * (1 + 4 * u) + 4 * u;
    return q < 0.5 ? 1 / sqrt(1 - q) - 1 + 4 * u : INFINITY;
}

double largest_power(ln_type type)
{
    return type == LN_F64 ? 0x1p1023 : type == LN_F16 ? 0x1p15 : 0x1p127;
}

/* ---- orders of summation ---- */

/* Adds terms[0], terms[step], ... below count, one after the other. */
static double chain(ln_type type, const double *terms, size_t count, size_t step)
{
    double sum = 0;
    if (type == LN_F32) {
        float single = 0;
        for (size_t i = 0; i < count; i += step)
            single += (float)terms[i];
        return (double)single;
    }
    for (size_t i = 0; i < count; i += step)
        sum = rounded_to(type, sum + terms[i]);
    return sum;
}

static double in_lanes(ln_type type, const double *terms, size_t count, size_t lanes)
{
    double sum = 0;
    for (size_t lane = 0; lane < lanes && lane < count; lane++)
        sum = rounded_to(type, sum + chain(type, terms + lane, count - lane, lanes));
    return sum;
}

static double pairwise(ln_type type, const double *terms, size_t count)
{
    enum { LEAF = 8 };
    if (count <= LEAF)
        return chain(type, terms, count, 1);
    return rounded_to(type, pairwise(type, terms, count / 2) +
                                pairwise(type, terms + count / 2, count - count / 2));
}

double add_in_order(ln_type type, const double *terms, size_t count, int order)
{
    double sum = 0;
    switch (order) {
    case 0:
        return chain(type, terms, count, 1);
    case 1: /* backwards */
        for (size_t i = count; i > 0; i--)
            sum = rounded_to(type, sum + terms[i - 1]);
        return sum;
    case 2:
        return in_lanes(type, terms, count, 4);
    case 3:
        return in_lanes(type, terms, count, 16);
    case 4:
        return in_lanes(type, terms, count, 64);
    default:
        return pairwise(type, terms, count);
    }
}

/* ---- the allowed error of a row ---- */

/* The allowed error of a kernel relative to that of the worst textbook algorithm of the same types, which counts as at
 * least 1 row ULP. It is 4, since the algorithms try only some orders of summation, and a kernel may round xhat, the
 * product and the sum each to the storage type. */
static const double factor = 4;

void limits_of_row(const order_question *question, const metrics_row *row, const double *x,
                   row_limits *limits)
{
    const operation_judging *judging = judgings[row->convention->operation];
    static const double rare = 1e-9;
    const ln_row_facts *facts = &row->answer->facts;
    order_question probable = *question, certain = *question, plain = *question;
    certain.chance = plain.chance = 0;
    plain.flushes = false;
    probable.chance = rare;
    limits->order = judging->any_order(&certain, facts);
    order_answer likely = judging->any_order(&probable, facts);
    /* The error in row ULP from underflow of gamma, gamma rstd, the products and y, which the proofs of xhat omit. */
    double least = INFINITY;
    for (size_t i = 0; i < row->hidden; i++)
        if (element_scale(row, i) > 0)
            least = fmin(least, ulp_in(format_of(row->storage), element_scale(row, i)));
    const ln_type type = dtype_size(question->storage) == 2 ? LN_F32 : question->storage;
    const double below = arithmetic_of(type, question->flushes).tiny *
                         (facts->max_abs + row->answer->max_xhat + 3) / least;
    limits->order_ulp = ln_bound_row_ulp(&limits->order.bound, row) + below;
    limits->likely_ulp = ln_bound_row_ulp(&likely.bound, row) + below;
    limits->textbook = judging->textbook(row, x, question->accumulator);
    /* The textbook algorithms keep subnormal numbers. For a kernel that flushes them, the increase of the bound of
     * any order is added, unless that bound is infinite. */
    order_answer unflushed = question->flushes ? judging->any_order(&plain, facts) : limits->order;
    bool flushing = question->flushes, endless = flushing && !isfinite(limits->order_ulp);
    double most = factor * fmax(limits->textbook.row_ulp, 1);
    if (flushing)
        most += limits->order_ulp - ln_bound_row_ulp(&unflushed.bound, row);
    limits->row_ulp = fmin(limits->order_ulp, endless ? INFINITY : most);
    for (size_t i = 0; i < ROLES_MOST; i++) {
        most = factor * limits->textbook.statistics[i];
        if (flushing)
            most += limits->order.statistics[i] - unflushed.statistics[i];
        limits->statistics[i] = fmin(limits->order.statistics[i], endless ? INFINITY : most);
    }
}

row_limits limits_poorest(ln_type accumulator, const metrics_row *row, const double *x,
                          const row_limits *limits)
{
    const operation_judging *judging = judgings[row->convention->operation];
    row_limits poorest = *limits;
    if (!judging->poorest)
        return poorest;
    poorest.textbook = judging->poorest(row, x, accumulator);
    poorest.row_ulp = fmin(limits->order_ulp, fmax(limits->row_ulp, poorest.textbook.row_ulp));
    for (size_t i = 0; i < ROLES_MOST; i++)
        poorest.statistics[i] =
            fmin(limits->order.statistics[i],
                 fmax(limits->statistics[i], factor * poorest.textbook.statistics[i]));
    return poorest;
}

bool limits_tell(const row_limits *limits)
{
    return isfinite(limits->row_ulp);
}

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

bool limits_hold(const row_limits *limits, const metrics_row *row, const void *y)
{
    return !limits_tell(limits) || limits_error(row, y) <= limits->row_ulp;
}

/* ---- a kernel that rounds in another place than the convention says ---- */

/* Its error is below one row ULP, as that of a correct kernel may be: only all elements together show it.
 *
 * Let a_i be the result of rounding in the other place minus the correct result, both rounded as y is. The errors e_i
 * of y are regressed on a_i, both in row ULP: the slope is 0 if y was rounded as the convention says, 1 if it was
 * rounded in the other place, and 0.5 if y was truncated. Its standard deviation is estimated from the same
 * residuals, sqrt(sum e_i^2 a_i^2) / sum a_i^2 (White 1980), which is valid for errors of different sizes. In similar
 * rows all sums may have errors of the same sign: elements that such an error may round to another number are skipped.
 * The slope must be within most_off of 1 and at least least_deviations standard deviations from 0. */
static const double most_off = 0.25, least_deviations = 7;

bool judge_follows(const judge_block *block, const void *y, taken_of *taken, const void *which)
{
    const double g = gamma_of((double)block->hidden + 4, unit_roundoff(LN_F32));
    double across = 0, square = 0, spread = 0;
    if (dtype_size(block->storage) != 2)
        return false;
    for (size_t row = 0; row < block->rows; row++) {
        metrics_row judged = judge_metrics_row(block, row);
        const void *given = judge_row_of(block, y, row);
        const ln_row_facts *facts = &judged.answer->facts;
        if (!isfinite(facts->max_abs) || !isfinite(facts->rstd))
            continue;
        for (size_t i = 0; i < block->hidden; i++) {
            double unit = ulp_in(format_of(block->storage), element_scale(&judged, i));
            double right = storage_load(block->storage, judged.answer->rounded, i);
            double other =
                judged.answer->exact[i] + taken(block, &judged, row * block->hidden + i, i, which);
            double a = (stored_in(block->storage, other) - right) / unit;
            double off = (storage_load(block->storage, given, i) - right) / unit;
            if (!isfinite(a) || !isfinite(off) || a == 0)
                continue;
            /* Skips an element whose rounding an error of the sums may change. */
            double exact = judged.answer->exact[i];
            double most = g * (element_scale(&judged, i) +
                               2 * gamma_size(&judged, i) * fabs(facts->mean * facts->rstd));
            if (stored_in(block->storage, exact - most) != stored_in(block->storage, exact + most))
                continue;
            across += off * a;
            square += a * a;
            spread += off * off * a * a;
        }
    }
    return fabs(across - square) < most_off * square && across > least_deviations * sqrt(spread);
}
