/* Correct kernels, thirty-five in each type, which differ in their order of summation, formula and last steps. The
 * judge must accept all of them. Sums of 16-bit rows are computed in float, like those of f32; sums of f64 in double
 * (HONEST_F64). */
#include "faults.h"
#include <math.h>
#include <stdlib.h>

#ifdef HONEST_F64
typedef double real;
#define RUN_OF(name) run_f64_##name
#else
typedef float real;
#define RUN_OF(name) run_##name
#endif

/* Terms of the sums: x, or (x - mean)^2, or x^2. */
typedef struct terms {
    const real *x;
    real mean;
    bool squared;
} terms;

static real term(const terms *t, size_t i)
{
    real off = t->x[i] - t->mean;
    return t->squared ? off * off : off;
}

typedef real order(const terms *t, size_t from, size_t to, unsigned parameter);

static real sequential(const terms *t, size_t from, size_t to, unsigned step)
{
    real sum = 0;
    for (size_t i = from; i < to; i += step)
        sum += term(t, i);
    return sum;
}

static real reversed(const terms *t, size_t from, size_t to, unsigned unused)
{
    (void)unused;
    real sum = 0;
    for (size_t i = to; i > from; i--)
        sum += term(t, i - 1);
    return sum;
}

static real pairwise(const terms *t, size_t from, size_t to, unsigned leaf)
{
    if (to - from <= leaf)
        return sequential(t, from, to, 1);
    size_t middle = from + (to - from) / 2;
    return pairwise(t, from, middle, leaf) + pairwise(t, middle, to, leaf);
}

static real strided(const terms *t, size_t from, size_t to, unsigned lanes)
{
    real sum = 0;
    for (size_t lane = from; lane < to && lane < from + lanes; lane++)
        sum += sequential(t, lane, to, lanes);
    return sum;
}

static real blocked(const terms *t, size_t from, size_t to, unsigned block)
{
    real sum = 0;
    for (size_t at = from; at < to; at += block)
        sum += sequential(t, at, at + block < to ? at + block : to, 1);
    return sum;
}

static real from_both_ends(const terms *t, size_t from, size_t to, unsigned unused)
{
    (void)unused;
    real sum = 0;
    while (from < to) {
        sum += term(t, from++);
        if (from < to)
            sum += term(t, --to);
    }
    return sum;
}

static real kahan(const terms *t, size_t from, size_t to, unsigned unused)
{
    (void)unused;
    real sum = 0, low = 0;
    for (size_t i = from; i < to; i++) {
        real next = term(t, i) - low;
        real grown = sum + next;
        low = (grown - sum) - next;
        sum = grown;
    }
    return sum;
}

static real wide(const terms *t, size_t from, size_t to, unsigned unused)
{
    (void)unused;
    double sum = 0;
    for (size_t i = from; i < to; i++)
        sum += (double)term(t, i);
    return (real)sum;
}

/* Adds two parts recursively, split at a place that depends on the seed. */
static real random_tree(const terms *t, size_t from, size_t to, unsigned seed)
{
    if (to - from <= 1)
        return from < to ? term(t, from) : 0;
    unsigned next = (seed ^ (unsigned)(from * 2654435761u) ^ (unsigned)to) * 1664525u + 1013904223u;
    size_t middle = from + 1 + (next >> 8) % (to - from - 1 ? to - from - 1 : 1);
    /* Each part has at least an eighth of the terms, so that the depth is a few times lg N. */
    size_t least = from + 1 + (to - from) / 8, most = to - 1 - (to - from) / 8;
    middle = middle < least ? least : middle > most ? most : middle;
    middle = middle <= from ? from + 1 : middle >= to ? to - 1 : middle;
    return random_tree(t, from, middle, next) + random_tree(t, middle, to, next);
}

static real roots_of_blocks(const terms *t, size_t from, size_t to, unsigned unused)
{
    (void)unused;
    return blocked(t, from, to, (unsigned)sqrt((double)(to - from)) + 1);
}

static real thirds(const terms *t, size_t from, size_t to, unsigned leaf)
{
    size_t third = (to - from) / 3;
    if (third <= leaf)
        return sequential(t, from, to, 1);
    real sum = thirds(t, from, from + third, leaf);
    sum += thirds(t, from + third, to - third, leaf);
    return sum + thirds(t, to - third, to, leaf);
}

static real neumaier(const terms *t, size_t from, size_t to, unsigned unused)
{
    (void)unused;
    real sum = 0, low = 0;
    for (size_t i = from; i < to; i++) {
        real a = term(t, i), next = sum + a;
        bool grows = fabs(sum) < fabs(a);
        real lost = (grows ? a : sum) - next;
        low += lost + (grows ? sum : a);
        sum = next;
    }
    return sum + (isnan(low) ? 0 : low);
}

static real long_double(const terms *t, size_t from, size_t to, unsigned unused)
{
    (void)unused;
    long double sum = 0;
    for (size_t i = from; i < to; i++)
        sum += (long double)term(t, i);
    return (real)sum;
}

enum { SHUFFLED, FOLDED_IN_HALF };

static real arranged(const terms *t, size_t from, size_t to, unsigned way)
{
    size_t n = to - from;
    real *a = malloc((n + 1) * sizeof *a), sum = 0;
    if (!a)
        return NAN;
    for (size_t i = 0; i < n; i++)
        a[i] = term(t, from + i);
    for (size_t i = n; way == SHUFFLED && i > 1; i--) {
        size_t j = (uint64_t)((uint32_t)i * 2654435761u) * i >> 32;
        real last = a[i - 1];
        a[i - 1] = a[j];
        a[j] = last;
    }
    for (; way == FOLDED_IN_HALF && n > 1; n -= n / 2)
        for (size_t i = 0; i < n / 2; i++)
            a[i] = a[i] + a[n - 1 - i];
    for (size_t i = 0; i < n; i++)
        sum += a[i];
    free(a);
    return sum;
}

/* The algorithm for mean and variance. */
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

static void welford(const terms *t, size_t count, real *mean, real *squares)
{
    *mean = *squares = 0;
    for (size_t i = 0; i < count; i++) {
        real off = t->x[i] - *mean;
        *mean += off / (real)(i + 1);
        real after = t->x[i] - *mean;
        *squares += off * after;
    }
}

/* Computes the variance from running totals without a mean (Youngs and Cramer 1971). */
static void youngs_cramer(const terms *t, size_t count, real *mean, real *squares)
{
    real total = t->x[0];
    *squares = 0;
    for (size_t i = 1; i < count; i++) {
        real k = (real)(i + 1);
        total += t->x[i];
        real off = (k * t->x[i]) - total;
        off = (off / k) * (off / (k - 1));
        *squares += off;
    }
    *mean = total / (real)count;
}

/* Computes blocks of 40 elements in two passes each, and combines them (Chan, Golub, LeVeque 1979). */
static void chan(terms t, size_t count, real *mean, real *squares, order *sum)
{
    *mean = *squares = 0;
    for (size_t at = 0; at < count; at += 40) {
        size_t end = at + 40 < count ? at + 40 : count;
        real share = (real)(end - at) / (real)end;
        t.mean = 0, t.squared = false;
        t.mean = sum(&t, at, end, 1) / (real)(end - at), t.squared = true;
        real off = t.mean - *mean, own = sum(&t, at, end, 1);
        real between = (real)at * share * (off * off);
        *squares += own + between;
        *mean += off * share;
    }
}

static void find_moments(const real *x, size_t count, int ddof, order *sum, unsigned parameter,
                         moment_way formula, real *mean, real *var)
{
    bool pivoted = formula == PIVOT_MIDDLE;
    terms t = {.x = x};
    real squares, n = (real)count, part;
    if (formula == WELFORD) {
        welford(&t, count, mean, &squares);
    } else if (formula == YOUNGS_CRAMER) {
        youngs_cramer(&t, count, mean, &squares);
    } else if (formula == CHAN) {
        chan(t, count, mean, &squares, sum);
    } else {
        t.mean = pivoted ? x[count / 2] : 0;
        part = sum(&t, 0, count, parameter) / n;
        *mean = t.mean + part;
        if (formula == REFINED) {
            t.mean = *mean;
            *mean += sum(&t, 0, count, parameter) / n;
        }
        if (formula == CORRECTED) {
            t.mean = *mean;
            part = sum(&t, 0, count, parameter) / n;
        }
        t.squared = true;
        if (formula == TWO_PASS || formula == REFINED)
            t.mean = *mean;
        squares = sum(&t, 0, count, parameter);
        if (formula == ONE_PASS || formula == CORRECTED || pivoted)
            squares -= part * n * part;
    }
    squares = squares < 0 ? 0 : squares; /* NaN stays NaN */
    *var = squares / (n - (real)ddof);
}

/* The computation of y from mean and var: operation by operation; as x s + t; with fused multiply-add; with 1 / sqrt
 * from an estimate with an error of 2^-12 and Newton steps; with var^-0.5, the root of 1 / var, or hypot(sqrt(var),
 * sqrt(eps)); with a division by the std for each element. */
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

static real estimated(real var)
{
    double right = 1 / sqrt((double)var), unit;
    int exponent;
    if (!(var > 1e-30 && var < 1e30))
        return (real)right;
    unit = frexp(right, &exponent);
    real guess = (real)ldexp(nearbyint(ldexp(unit, 12)), exponent - 12);
    for (int step = 0; step < (sizeof(real) == sizeof(float) ? 1 : 3); step++) {
        real half = var / 2 * guess;
        guess *= (real)1.5 - half * guess;
    }
    return guess;
}

/* Returns rstd, and the std in *std. */
static real rstd_of(const ln_convention *convention, real var, finish end, real *std)
{
    bool in_var = convention->eps_place == LN_EPS_VAR, on_std = convention->eps_place == LN_EPS_STD;
    real eps = (real)convention->eps, v = in_var ? var + eps : var;
    *std = (real)sqrt((double)v);
    if (end == HYPOT && in_var)
        *std = (real)hypot((double)(real)sqrt((double)var), (double)(real)sqrt((double)eps));
    if (on_std)
        *std += eps;
    if (end == ESTIMATED && in_var)
        return estimated(v);
    if (!on_std && v > 1e-30 && v < 1e30 && end == POWER)
        return (real)pow((double)v, -0.5);
    if (!on_std && v > 1e-30 && v < 1e30 && end == INVERSE_FIRST)
        return (real)sqrt((double)(1 / v));
    return 1 / *std;
}

/* Loads `count` elements from element `from` on. The switch is outside the loop, for speed. */
static void load_elements(ln_type type, const void *tensor, size_t from, size_t count, real *row)
{
#define LOAD(TYPE)                                                                                 \
    case TYPE:                                                                                     \
        for (size_t i = 0; i < count; i++)                                                         \
            row[i] = (real)load_element(TYPE, tensor, from + i);                                   \
        break;
    switch (type) {
        LOAD(LN_F32)
        LOAD(LN_F64)
        LOAD(LN_F16)
        LOAD(LN_BF16)
    }
}

static void store_elements(ln_type type, const real *row, size_t count, void *tensor, size_t from)
{
#define STORE(TYPE)                                                                                \
    case TYPE:                                                                                     \
        for (size_t i = 0; i < count; i++)                                                         \
            store_element(TYPE, tensor, from + i, (double)row[i]);                                 \
        break;
    switch (type) {
        STORE(LN_F32)
        STORE(LN_F64)
        STORE(LN_F16)
        STORE(LN_BF16)
    }
}

/* Loads a row. x + residual is rounded to the type once; for 16 bits the sum in f32 is rounded like an exact one. */
static void load_row(const ln_problem *problem, const ln_tensors *tensors, size_t row, real *x,
                     real *room)
{
    const ln_type type = problem->storage;
    const size_t hidden = problem->hidden;
    load_elements(type, tensors->x, row * stride_of(problem->x_stride, hidden), hidden, x);
    if (!tensors->residual)
        return;
    size_t at = row * stride_of(problem->residual_stride, hidden);
    load_elements(type, tensors->residual, at, hidden, room);
    for (size_t i = 0; i < hidden; i++)
        room[i] += x[i];
    store_elements(type, room, hidden, x, 0); /* a row of the storage type fits in x */
    memcpy(room, x, hidden * sizeof *x);
    load_elements(type, room, 0, hidden, x);
    at = row * stride_of(problem->sum_stride, hidden);
    if (tensors->sum)
        store_elements(type, x, hidden, tensors->sum, at);
}

/* Normalises one row with its statistics; x becomes y. */
static void apply(const ln_problem *problem, const real *gammas, const real *betas, real mean,
                  real rstd, real std, finish end, real *x)
{
    const ln_convention *convention = &problem->convention;
    const real q = convention->eps_place == LN_EPS_QUOTIENT ? (real)convention->eps : 0;
    for (size_t i = 0; i < problem->hidden; i++) {
        real gamma = gammas[i], beta = betas[i], off = x[i] - mean;
        if (end == FUSED) {
            x[i] = (real)fma((double)gamma, (double)(off * rstd + q), (double)beta);
        } else if (end == FOLDED) {
            real s = gamma * rstd, t = gamma * q + beta;
            x[i] = x[i] * s + (t - mean * s);
        } else {
            x[i] = gamma * ((end == DIVIDED ? off / std : off * rstd) + q) + beta;
        }
    }
}

/* Loads gamma or beta for each column. */
static void load_parameter(const ln_problem *problem, const void *tensor, real absent, real *values)
{
    const bool one = problem->convention.affine == LN_AFFINE_SCALAR;
    if (tensor)
        load_elements(problem->param, tensor, 0, one ? 1 : problem->hidden, values);
    for (size_t i = tensor ? one ? 1 : problem->hidden : 0; i < problem->hidden; i++)
        values[i] = tensor ? values[0] : absent;
}

static void normalise(const ln_problem *problem, const ln_tensors *tensors, order *sum,
                      unsigned parameter, moment_way formula, finish end)
{
    const ln_type type = sizeof(real) == sizeof(float) ? LN_F32 : LN_F64;
    const ln_convention *convention = &problem->convention;
    const size_t hidden = problem->hidden;
    real *room = malloc(4 * hidden * sizeof *room), mean, var, std;
    if (!room)
        return;
    real *x = room + hidden, *gamma = x + hidden, *beta = gamma + hidden;
    load_parameter(problem, tensors->gamma, 1, gamma);
    load_parameter(problem, tensors->beta, 0, beta);
    for (size_t i = 0; convention->affine == LN_AFFINE_GAMMA1 && i < hidden; i++)
        gamma[i] += 1;
    for (size_t row = 0; row < problem->rows; row++) {
        load_row(problem, tensors, row, x, room);
        find_moments(x, hidden, convention->ddof, sum, parameter, formula, &mean, &var);
        real rstd = rstd_of(convention, var, end, &std);
        apply(problem, gamma, beta, mean, rstd, std, end, x);
        store_elements(problem->storage, x, hidden, tensors->y,
                       row * stride_of(problem->y_stride, hidden));
        if (tensors->mean)
            store_element(type, tensors->mean, row, (double)mean);
        if (tensors->rstd)
            store_element(type, tensors->rstd, row, (double)rstd);
    }
    free(room);
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
    void RUN_OF(name)(const void *state, const ln_tensors *tensors);                               \
    void RUN_OF(name)(const void *state, const ln_tensors *tensors)                                \
    {                                                                                              \
        normalise(state, tensors, order, parameter, formula, end);                                 \
    }
ORDERS(RUN)

#ifndef HONEST_F64
#define DECLARE(name, ...) void run_f64_##name(const void *state, const ln_tensors *tensors);
ORDERS(DECLARE)

#define KERNEL(kernel_name, type, suffix, accumulator_, run_)                                      \
    {.name = "honest." #kernel_name suffix,                                                        \
     .isa = "scalar",                                                                              \
     .storage = type,                                                                              \
     .param = type == LN_F64 ? LN_F64 : LN_F32,                                                    \
     .accumulator = accumulator_,                                                                  \
     .unroll = 1,                                                                                  \
     .run = run_},
#define KERNELS(name, order, parameter, formula, end)                                              \
    KERNEL(name, LN_F32, "", LN_F32, run_##name)                                                   \
    KERNEL(name, LN_BF16, "_bf16", LN_F32, run_##name)                                             \
    KERNEL(name, LN_F16, "_f16", LN_F32, run_##name)                                               \
    KERNEL(name, LN_F64, "_f64", LN_F64, run_f64_##name)

const ln_kernel honest_kernels[] = {ORDERS(KERNELS)};
const size_t honest_count = sizeof honest_kernels / sizeof *honest_kernels;
#endif
