/* Kernels that are right, thirty-five in each type, by their orders of summation, formulas and ends:
 * none of them may be alarmed.
 * Sums of 16-bit rows are in float, as those of f32; sums of f64 in double. */
#include "faults.h"
#include <math.h>
#include <stdlib.h>

static double narrow(bool single, double value)
{
    return single ? (double)(float)value : value;
}

/* Terms of the sums: x, or (x - mean)^2, or x^2. */
typedef struct terms {
    const double *x;
    double mean;
    bool squared, single;
} terms;

static double term(const terms *t, size_t i)
{
    double off = narrow(t->single, t->x[i] - t->mean);
    return t->squared ? narrow(t->single, off * off) : off;
}

typedef double order(const terms *t, size_t from, size_t to, unsigned parameter);

static double sequential(const terms *t, size_t from, size_t to, unsigned step)
{
    double sum = 0;
    for (size_t i = from; i < to; i += step)
        sum = narrow(t->single, sum + term(t, i));
    return sum;
}

static double reversed(const terms *t, size_t from, size_t to, unsigned unused)
{
    (void)unused;
    double sum = 0;
    for (size_t i = to; i > from; i--)
        sum = narrow(t->single, sum + term(t, i - 1));
    return sum;
}

static double pairwise(const terms *t, size_t from, size_t to, unsigned leaf)
{
    if (to - from <= leaf)
        return sequential(t, from, to, 1);
    size_t middle = from + (to - from) / 2;
    return narrow(t->single, pairwise(t, from, middle, leaf) + pairwise(t, middle, to, leaf));
}

static double strided(const terms *t, size_t from, size_t to, unsigned lanes)
{
    double sum = 0;
    for (size_t lane = from; lane < to && lane < from + lanes; lane++)
        sum = narrow(t->single, sum + sequential(t, lane, to, lanes));
    return sum;
}

static double blocked(const terms *t, size_t from, size_t to, unsigned block)
{
    double sum = 0;
    for (size_t at = from; at < to; at += block)
        sum = narrow(t->single, sum + sequential(t, at, at + block < to ? at + block : to, 1));
    return sum;
}

static double from_both_ends(const terms *t, size_t from, size_t to, unsigned unused)
{
    (void)unused;
    double sum = 0;
    while (from < to) {
        sum = narrow(t->single, sum + term(t, from++));
        if (from < to)
            sum = narrow(t->single, sum + term(t, --to));
    }
    return sum;
}

static double kahan(const terms *t, size_t from, size_t to, unsigned unused)
{
    (void)unused;
    volatile double sum = 0, low = 0;
    for (size_t i = from; i < to; i++) {
        double next = narrow(t->single, term(t, i) - low);
        double grown = narrow(t->single, sum + next);
        low = narrow(t->single, narrow(t->single, grown - sum) - next);
        sum = grown;
    }
    return sum;
}

static double wide(const terms *t, size_t from, size_t to, unsigned unused)
{
    (void)unused;
    double sum = 0;
    for (size_t i = from; i < to; i++)
        sum += term(t, i);
    return narrow(t->single, sum);
}

/* Split at places that the seed draws. */
static double random_tree(const terms *t, size_t from, size_t to, unsigned seed)
{
    if (to - from <= 1)
        return from < to ? term(t, from) : 0;
    unsigned next = (seed ^ (unsigned)(from * 2654435761u) ^ (unsigned)to) * 1664525u + 1013904223u;
    size_t middle = from + 1 + (next >> 8) % (to - from - 1 ? to - from - 1 : 1);
    /* The depth stays within a few times that of a chain of lg N. */
    size_t least = from + 1 + (to - from) / 8, most = to - 1 - (to - from) / 8;
    middle = middle < least ? least : middle > most ? most : middle;
    middle = middle <= from ? from + 1 : middle >= to ? to - 1 : middle;
    return narrow(t->single, random_tree(t, from, middle, next) + random_tree(t, middle, to, next));
}

static double roots_of_blocks(const terms *t, size_t from, size_t to, unsigned unused)
{
    (void)unused;
    return blocked(t, from, to, (unsigned)sqrt((double)(to - from)) + 1);
}

static double thirds(const terms *t, size_t from, size_t to, unsigned leaf)
{
    size_t third = (to - from) / 3;
    if (third <= leaf)
        return sequential(t, from, to, 1);
    double sum = thirds(t, from, from + third, leaf);
    sum = narrow(t->single, sum + thirds(t, from + third, to - third, leaf));
    return narrow(t->single, sum + thirds(t, to - third, to, leaf));
}

static double neumaier(const terms *t, size_t from, size_t to, unsigned unused)
{
    (void)unused;
    volatile double sum = 0, low = 0;
    for (size_t i = from; i < to; i++) {
        double a = term(t, i), next = narrow(t->single, sum + a);
        bool grows = fabs(sum) < fabs(a);
        double lost = narrow(t->single, (grows ? a : sum) - next);
        low = narrow(t->single, low + narrow(t->single, lost + (grows ? sum : a)));
        sum = next;
    }
    return narrow(t->single, sum + (isnan(low) ? 0 : low));
}

static double long_double(const terms *t, size_t from, size_t to, unsigned unused)
{
    (void)unused;
    long double sum = 0;
    for (size_t i = from; i < to; i++)
        sum += (long double)term(t, i);
    return narrow(t->single, (double)sum);
}

enum { SHUFFLED, FOLDED_IN_HALF };

static double arranged(const terms *t, size_t from, size_t to, unsigned way)
{
    size_t n = to - from;
    double *a = malloc((n + 1) * sizeof *a), sum = 0;
    if (!a)
        return NAN;
    for (size_t i = 0; i < n; i++)
        a[i] = term(t, from + i);
    for (size_t i = n; way == SHUFFLED && i > 1; i--) {
        size_t j = (i * 2654435761u >> 7) % i;
        double last = a[i - 1];
        a[i - 1] = a[j];
        a[j] = last;
    }
    for (; way == FOLDED_IN_HALF && n > 1; n -= n / 2)
        for (size_t i = 0; i < n / 2; i++)
            a[i] = narrow(t->single, a[i] + a[n - 1 - i]);
    for (size_t i = 0; i < n; i++)
        sum = narrow(t->single, sum + a[i]);
    free(a);
    return sum;
}

/* How var is found from the sums. */
typedef enum moment_way {
    TWO_PASS,
    ONE_PASS,
    WELFORD,
    CORRECTED,
    REFINED,
    PIVOT_MIDDLE,
    YOUNGS_CRAMER,
    CHAN
} moment_way;

static void welford(const terms *t, size_t count, double *mean, double *squares)
{
    *mean = *squares = 0;
    for (size_t i = 0; i < count; i++) {
        double off = narrow(t->single, t->x[i] - *mean);
        *mean = narrow(t->single, *mean + narrow(t->single, off / (double)(i + 1)));
        double after = narrow(t->single, t->x[i] - *mean);
        *squares = narrow(t->single, *squares + narrow(t->single, off * after));
    }
}

/* Running totals, no mean (Youngs and Cramer 1971). */
static void youngs_cramer(const terms *t, size_t count, double *mean, double *squares)
{
    double total = t->x[0];
    *squares = 0;
    for (size_t i = 1; i < count; i++) {
        double k = (double)(i + 1);
        total = narrow(t->single, total + t->x[i]);
        double off = narrow(t->single, narrow(t->single, k * t->x[i]) - total);
        off = narrow(t->single, narrow(t->single, off / k) * narrow(t->single, off / (k - 1)));
        *squares = narrow(t->single, *squares + off);
    }
    *mean = narrow(t->single, total / (double)count);
}

/* Blocks of 40 by two passes, put together (Chan, Golub, LeVeque 1979). */
static void chan(terms t, size_t count, double *mean, double *squares, order *sum)
{
    *mean = *squares = 0;
    for (size_t at = 0; at < count; at += 40) {
        size_t end = at + 40 < count ? at + 40 : count;
        double share = (double)(end - at) / (double)end;
        t.mean = 0, t.squared = false;
        t.mean = narrow(t.single, sum(&t, at, end, 1) / (double)(end - at)), t.squared = true;
        double off = narrow(t.single, t.mean - *mean), own = sum(&t, at, end, 1);
        double between = narrow(t.single, (double)at * share * narrow(t.single, off * off));
        *squares = narrow(t.single, *squares + narrow(t.single, own + between));
        *mean = narrow(t.single, *mean + narrow(t.single, off * narrow(t.single, share)));
    }
}

static void find_moments(const double *x, size_t count, int ddof, bool single, order *sum,
                         unsigned parameter, moment_way formula, double *mean, double *var)
{
    bool pivoted = formula == PIVOT_MIDDLE;
    terms t = {.x = x, .single = single};
    double squares, n = (double)count, part;
    if (formula == WELFORD) {
        welford(&t, count, mean, &squares);
    } else if (formula == YOUNGS_CRAMER) {
        youngs_cramer(&t, count, mean, &squares);
    } else if (formula == CHAN) {
        chan(t, count, mean, &squares, sum);
    } else {
        t.mean = pivoted ? x[count / 2] : 0;
        part = narrow(single, sum(&t, 0, count, parameter) / n);
        *mean = narrow(single, t.mean + part);
        if (formula == REFINED) {
            t.mean = *mean;
            *mean = narrow(single, *mean + narrow(single, sum(&t, 0, count, parameter) / n));
        }
        if (formula == CORRECTED) {
            t.mean = *mean;
            part = narrow(single, sum(&t, 0, count, parameter) / n);
        }
        t.squared = true;
        if (formula == TWO_PASS || formula == REFINED)
            t.mean = *mean;
        squares = sum(&t, 0, count, parameter);
        if (formula == ONE_PASS || formula == CORRECTED || pivoted)
            squares = narrow(single, squares - narrow(single, narrow(single, part * n) * part));
    }
    squares = squares < 0 ? 0 : squares; /* a NaN stays one */
    *var = narrow(single, squares / (n - ddof));
}

/* What is done with mean and var: operation by operation; y as x s + t; with fused multiplications
 * and additions; with 1 / sqrt from an estimate right to 2^-12 and steps of Newton; with var^-0.5, the
 * root of 1 / var, or hypot(sqrt(var), sqrt(eps)); with a division by the std for each element. */
typedef enum finish {
    DIRECT,
    FOLDED,
    FUSED,
    ESTIMATED,
    POWER,
    INVERSE_FIRST,
    HYPOT,
    DIVIDED
} finish;

static double estimated(bool single, double var)
{
    double right = 1 / sqrt(var), unit;
    int exponent;
    if (!(var > 1e-30 && var < 1e30))
        return narrow(single, right);
    unit = frexp(right, &exponent);
    double guess = ldexp(nearbyint(ldexp(unit, 12)), exponent - 12);
    for (int step = 0; step < (single ? 1 : 3); step++) {
        double half = narrow(single, narrow(single, 0.5 * var) * guess);
        guess = narrow(single, guess * narrow(single, 1.5 - narrow(single, half * guess)));
    }
    return guess;
}

/* rstd, and what it is one over. */
static double rstd_of(const ln_convention *convention, bool single, double var, finish end,
                      double *std)
{
    bool in_var = convention->eps_place == LN_EPS_VAR, on_std = convention->eps_place == LN_EPS_STD;
    double eps = narrow(single, convention->eps), v = in_var ? narrow(single, var + eps) : var;
    *std = narrow(single, sqrt(v));
    if (end == HYPOT && in_var)
        *std = narrow(single, hypot(narrow(single, sqrt(var)), narrow(single, sqrt(eps))));
    if (on_std)
        *std = narrow(single, *std + eps);
    if (end == ESTIMATED && in_var)
        return estimated(single, v);
    if (!on_std && v > 1e-30 && v < 1e30 && end == POWER)
        return narrow(single, pow(v, -0.5));
    if (!on_std && v > 1e-30 && v < 1e30 && end == INVERSE_FIRST)
        return narrow(single, sqrt(narrow(single, 1 / v)));
    return narrow(single, 1 / *std);
}

static void normalise(const ln_problem *problem, const ln_tensors *tensors, order *sum,
                      unsigned parameter, moment_way formula, finish end)
{
    bool single = problem->storage != LN_F64;
    ln_type type = single ? LN_F32 : LN_F64;
    const ln_convention *convention = &problem->convention;
    size_t hidden = problem->hidden;
    double q = convention->eps_place == LN_EPS_QUOTIENT ? narrow(single, convention->eps) : 0;
    double *x = malloc(hidden * sizeof *x), mean, var, std;
    for (size_t row = 0; x && row < problem->rows; row++) {
        size_t x_at = row * stride_of(problem->x_stride, hidden);
        size_t y_at = row * stride_of(problem->y_stride, hidden);
        size_t residual_at = row * stride_of(problem->residual_stride, hidden);
        size_t sum_at = row * stride_of(problem->sum_stride, hidden);
        for (size_t i = 0; i < hidden; i++) {
            x[i] = load_element(problem->storage, tensors->x, x_at + i);
            if (!tensors->residual)
                continue;
            x[i] =
                rounded(problem->storage,
                        x[i] + load_element(problem->storage, tensors->residual, residual_at + i));
            if (tensors->sum)
                store_element(problem->storage, tensors->sum, sum_at + i, x[i]);
        }
        find_moments(x, hidden, convention->ddof, single, sum, parameter, formula, &mean, &var);
        double rstd = rstd_of(convention, single, var, end, &std);
        for (size_t i = 0; i < hidden; i++) {
            size_t at = convention->affine == LN_AFFINE_SCALAR ? 0 : i;
            double gamma = tensors->gamma ? load_element(problem->param, tensors->gamma, at) : 1;
            double beta = tensors->beta ? load_element(problem->param, tensors->beta, at) : 0;
            if (convention->affine == LN_AFFINE_GAMMA1)
                gamma = narrow(single, gamma + 1);
            double xhat = narrow(single, x[i] - mean);
            xhat = narrow(single, narrow(single, end == DIVIDED ? xhat / std : xhat * rstd) + q);
            double y = narrow(single, narrow(single, gamma * xhat) + beta);
            if (end == FUSED) {
                y = narrow(single, fma(gamma, xhat, beta));
            } else if (end == FOLDED) {
                double s = narrow(single, gamma * rstd);
                double t = narrow(single, narrow(single, gamma * q) + beta);
                y = narrow(single,
                           narrow(single, x[i] * s) + narrow(single, t - narrow(single, mean * s)));
            }
            store_element(problem->storage, tensors->y, y_at + i, y);
        }
        if (tensors->mean)
            store_element(type, tensors->mean, row, mean);
        if (tensors->rstd)
            store_element(type, tensors->rstd, row, rstd);
    }
    free(x);
}

#define ORDERS(X)                                                                                  \
    X(sequential, sequential, 1, TWO_PASS, DIRECT)                                                 \
    X(reversed, reversed, 0, TWO_PASS, DIRECT)                                                     \
    X(pairwise_1, pairwise, 1, TWO_PASS, DIRECT)                                                   \
    X(pairwise_128, pairwise, 128, TWO_PASS, DIRECT)                                               \
    X(blocked_64, blocked, 64, TWO_PASS, DIRECT)                                                   \
    X(blocked_512, blocked, 512, TWO_PASS, DIRECT)                                                 \
    X(strided_4, strided, 4, TWO_PASS, DIRECT)                                                     \
    X(strided_8, strided, 8, TWO_PASS, DIRECT)                                                     \
    X(strided_16, strided, 16, TWO_PASS, DIRECT)                                                   \
    X(strided_32, strided, 32, TWO_PASS, DIRECT)                                                   \
    X(strided_64, strided, 64, TWO_PASS, DIRECT)                                                   \
    X(from_both_ends, from_both_ends, 0, TWO_PASS, DIRECT)                                         \
    X(kahan, kahan, 0, TWO_PASS, DIRECT)                                                           \
    X(wide, wide, 0, TWO_PASS, DIRECT)                                                             \
    X(random_tree_1, random_tree, 1, TWO_PASS, DIRECT)                                             \
    X(random_tree_2, random_tree, 2, TWO_PASS, DIRECT)                                             \
    X(random_tree_3, random_tree, 3, TWO_PASS, DIRECT)                                             \
    X(one_pass, sequential, 1, ONE_PASS, DIRECT)                                                   \
    X(one_pass_strided_16, strided, 16, ONE_PASS, DIRECT)                                          \
    X(welford, NULL, 0, WELFORD, DIRECT)                                                           \
    X(folded, strided, 8, TWO_PASS, FOLDED)                                                        \
    X(fused, strided, 16, TWO_PASS, FUSED)                                                         \
    X(estimated, strided, 16, TWO_PASS, ESTIMATED)                                                 \
    X(thirds, thirds, 2, TWO_PASS, DIRECT)                                                         \
    X(neumaier, neumaier, 0, TWO_PASS, HYPOT)                                                      \
    X(long_double, long_double, 0, TWO_PASS, DIVIDED)                                              \
    X(two_accumulators, strided, 2, TWO_PASS, POWER)                                               \
    X(twelve_lanes, strided, 12, TWO_PASS, INVERSE_FIRST)                                          \
    X(roots_of_blocks, roots_of_blocks, 0, CORRECTED, DIVIDED)                                     \
    X(shuffled, arranged, SHUFFLED, TWO_PASS, POWER)                                               \
    X(folded_in_half, arranged, FOLDED_IN_HALF, REFINED, DIRECT)                                   \
    X(corrected_tree, arranged, FOLDED_IN_HALF, CORRECTED, INVERSE_FIRST)                          \
    X(middle_as_pivot, strided, 16, PIVOT_MIDDLE, ESTIMATED)                                       \
    X(youngs_cramer, NULL, 0, YOUNGS_CRAMER, DIRECT)                                               \
    X(chan, sequential, 1, CHAN, DIVIDED)

#define RUN(name, order, parameter, formula, end)                                                  \
    static void run_##name(const void *state, const ln_tensors *tensors)                           \
    {                                                                                              \
        normalise(state, tensors, order, parameter, formula, end);                                 \
    }
ORDERS(RUN)

#define KERNEL(kernel_name, type, suffix, accumulator_)                                            \
    {.struct_size = sizeof(ln_kernel),                                                             \
     .name = "honest." #kernel_name suffix,                                                        \
     .isa = "scalar",                                                                              \
     .storage = type,                                                                              \
     .param = type == LN_F64 ? LN_F64 : LN_F32,                                                    \
     .accumulator = accumulator_,                                                                  \
     .unroll = 1,                                                                                  \
     .run = run_##kernel_name},
#define KERNELS(name, order, parameter, formula, end)                                              \
    KERNEL(name, LN_F32, "", LN_F32)                                                               \
    KERNEL(name, LN_BF16, "_bf16", LN_F32)                                                         \
    KERNEL(name, LN_F16, "_f16", LN_F32)                                                           \
    KERNEL(name, LN_F64, "_f64", LN_F64)

const ln_kernel honest_kernels[] = {ORDERS(KERNELS)};
const size_t honest_count = sizeof honest_kernels / sizeof *honest_kernels;
