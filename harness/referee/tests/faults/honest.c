/* Kernels that are right, by twenty orders of summation and four ways to end in each type: none of
 * them may be alarmed.
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

/* How var is found from the sums. */
typedef enum moment_way { TWO_PASS, ONE_PASS, WELFORD } moment_way;

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

static void find_moments(const double *x, size_t count, int ddof, bool single, order *sum,
                         unsigned parameter, moment_way formula, double *mean, double *var)
{
    terms t = {.x = x, .single = single};
    double squares, n = (double)count;
    if (formula == WELFORD) {
        welford(&t, count, mean, &squares);
    } else {
        *mean = narrow(single, sum(&t, 0, count, parameter) / n);
        t.squared = true;
        t.mean = formula == TWO_PASS ? *mean : 0;
        squares = sum(&t, 0, count, parameter);
        if (formula == ONE_PASS)
            squares = narrow(single, squares - narrow(single, narrow(single, *mean * n) * *mean));
        squares = squares < 0 ? 0 : squares; /* a NaN stays one */
    }
    *var = narrow(single, squares / (n - ddof));
}

/* What is done with mean and var: operation by operation; y as x s + t; with fused multiplications
 * and additions; with 1 / sqrt from an estimate right to 2^-12 and steps of Newton. */
typedef enum finish { DIRECT, FOLDED, FUSED, ESTIMATED } finish;

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

static double rstd_of(const ln_convention *convention, bool single, double var, finish end)
{
    double eps = narrow(single, convention->eps), std = narrow(single, sqrt(var));
    if (convention->eps_place == LN_EPS_VAR)
        std = narrow(single, sqrt(narrow(single, var + eps)));
    if (end == ESTIMATED && convention->eps_place == LN_EPS_VAR)
        return estimated(single, narrow(single, var + eps));
    if (convention->eps_place == LN_EPS_STD)
        std = narrow(single, std + eps);
    return narrow(single, 1 / std);
}

static void normalise(const ln_problem *problem, const ln_tensors *tensors, order *sum,
                      unsigned parameter, moment_way formula, finish end)
{
    bool single = problem->storage != LN_F64;
    ln_type type = single ? LN_F32 : LN_F64;
    const ln_convention *convention = &problem->convention;
    size_t hidden = problem->hidden;
    double q = convention->eps_place == LN_EPS_QUOTIENT ? narrow(single, convention->eps) : 0;
    double *x = malloc(hidden * sizeof *x), mean, var;
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
        double rstd = rstd_of(convention, single, var, end);
        for (size_t i = 0; i < hidden; i++) {
            size_t at = convention->affine == LN_AFFINE_SCALAR ? 0 : i;
            double gamma = tensors->gamma ? load_element(problem->param, tensors->gamma, at) : 1;
            double beta = tensors->beta ? load_element(problem->param, tensors->beta, at) : 0;
            if (convention->affine == LN_AFFINE_GAMMA1)
                gamma = narrow(single, gamma + 1);
            double xhat = narrow(single, narrow(single, narrow(single, x[i] - mean) * rstd) + q);
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
    X(estimated, strided, 16, TWO_PASS, ESTIMATED)

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
