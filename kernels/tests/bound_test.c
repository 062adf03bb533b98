/* Tests the bounds of kernels: the proven ones always hold, the probable ones with their probability. */
#include "tests.h"
#include "bounds/bounds.h"

#include <stdio.h>

/* ---- Proven bounds --------------------------------------------------------------------------- */

/* The proven bounds hold on difficult rows. LN_BOUND_REPORT=1 prints the largest share of each kernel's
 * bound that was reached, by family. */

#ifdef LN_EMULATED /* quad arithmetic is slow there */
enum { LARGEST = 129, REPEATS = 1, PROBABLE_LARGEST = 4096, PROBABLE_ROWS = 2 };
#else
enum { LARGEST = 5000, REPEATS = 3, PROBABLE_LARGEST = 12288, PROBABLE_ROWS = 24 };
#endif

OPERANDS(1, PROBABLE_LARGEST);
static exact_number exact[PROBABLE_LARGEST];

typedef struct family {
    const char *name;
    void (*fill)(numbers *numbers, size_t hidden, double scale);
    double scales[10]; /* ends with 0 */
    int is_f64;        /* exceeds the range of the other types */
} family;

static double last_place; /* 2^(1 - bits) for the type of the current row */

static void fill_offset(numbers *draws, size_t hidden, double kappa)
{
    fill_normal(draws, x_values, hidden, kappa, 1);
}

static void fill_scaled(numbers *draws, size_t hidden, double scale)
{
    fill_normal(draws, x_values, hidden, 0, scale);
}

static void fill_constant(numbers *draws, size_t hidden, double scale)
{
    double value = scale * numbers_normal(draws);
    for (size_t i = 0; i < hidden; i++)
        x_values[i] = value;
}

static void fill_spike(numbers *draws, size_t hidden, double scale)
{
    fill_constant(draws, hidden, 1);
    x_values[numbers_next(draws) % hidden] += scale;
}

static void fill_first_is_outlier(numbers *draws, size_t hidden, double scale)
{
    fill_normal(draws, x_values, hidden, 1, 0.01);
    x_values[numbers_next(draws) % (hidden < 64 ? hidden : 64)] = scale;
}

static void fill_first_block_is_off(numbers *draws, size_t hidden, double scale)
{
    fill_normal(draws, x_values, hidden, 3, 0.01);
    for (size_t i = 0; i < hidden && i < 64; i++)
        x_values[i] += scale;
}

static void fill_alternating(numbers *draws, size_t hidden, double scale)
{
    for (size_t i = 0; i < hidden; i++)
        x_values[i] = (i % 2 ? scale : -scale) * (1 + 1e-3 * numbers_uniform(draws));
}

static void fill_ramp(numbers *draws, size_t hidden, double scale)
{
    double slope = numbers_uniform(draws);
    for (size_t i = 0; i < hidden; i++)
        x_values[i] = scale + slope * (double)i;
}

static void fill_wide(numbers *draws, size_t hidden, double scale)
{
    for (size_t i = 0; i < hidden; i++)
        x_values[i] = exp(scale * numbers_normal(draws)) * (numbers_next(draws) & 1 ? 1 : -1);
}

static void fill_last_bits(numbers *draws, size_t hidden, double scale)
{
    double unit = last_place;
    for (size_t i = 0; i < hidden; i++)
        x_values[i] = scale * (1 + (numbers_next(draws) & 1 ? unit : -unit));
}

static const family families[] = {
    {"offset", fill_offset, {1, -10, 100, 1e3, -1e4, 1e5, 1e6, -1e7, 1e8}, 0},
    {"scaled", fill_scaled, {1, 1e-3, 1e10, 1e17, 1e18, 1e19, 1e30, 1e37, 1e-6}, 0},
    {"small", fill_scaled, {1e-10, 1e-18, 1e-20, 1e-22, 1e-30, 1e-37, 1e-40, 1e-44}, 0},
    {"constant", fill_constant, {1, 1e3, 1e5, 1e8, 1e18, 1e30, 1e-10, 1e-30, 1e-42}, 0},
    {"spike", fill_spike, {1, 1e-6, 1e3, 1e6, -1e10, 1e18, 1e30}, 0},
    {"first is outlier", fill_first_is_outlier, {10, 1e3, 1e5, -1e7, 1e12, 1e18, 1e20}, 0},
    {"first block is off", fill_first_block_is_off, {1, 100, 1e4, -1e6, 1e8, 1e16}, 0},
    {"alternating", fill_alternating, {1, 1e4, 1e12, 1e19}, 0},
    {"ramp", fill_ramp, {1, -1e3, 1e6}, 0},
    {"wide", fill_wide, {1, 3, 8, 12}, 0},
    {"last bits", fill_last_bits, {1, 3e4, 1.6e7, 1e10, 1e-20}, 0},
    {"f64 offset", fill_offset, {1e9, -1e11, 1e13, 1e14}, 1},
    {"f64 scaled", fill_scaled, {1e50, 1e100, 1e150, 1e153, 1e155, 1e200, 1e300, 1e307}, 1},
    {"f64 small", fill_scaled, {1e-50, 1e-100, 1e-150, 1e-155, 1e-200, 1e-300, 1e-310, 5e-324}, 1},
};
enum { FAMILIES = sizeof(families) / sizeof(families[0]) };

typedef struct tally {
    double most;
    unsigned rows, claims;
} tally;

static claim claim_of(const ln_problem *problem, const oracle *truth, ln_bound bound)
{
    return (claim){&problem->convention,
                   problem->storage,
                   problem->hidden,
                   gammas_values,
                   betas_values,
                   exact,
                   truth,
                   bound};
}

static void judge(const ln_kernel *kernel, const ln_problem *problem, const oracle *truth,
                  const char *one, double scale, tally *score)
{
    const ln_tensors tensors = {.x = x, .gamma = gammas, .beta = betas, .y = y};
    assert_int_equal(ln_layernorm_with(kernel, problem, &tensors), LN_OK);
    claim claimed = claim_of(problem, truth, kernel->bound(problem, &truth->facts));
    /* This also excludes NaN. */
    assert_true(claimed.bound.xhat_abs >= 0 && claimed.bound.affine_rel >= 0);
    double share = claim_most_used(&claimed, y);
    if (!(share <= 1))
        fail_msg("%s on %s %g, hidden %zu, ddof %d, eps %g at place %d, affine %d: the error is %g "
                 "times the bound",
                 kernel->name, one, scale, problem->hidden, problem->convention.ddof,
                 problem->convention.eps, (int)problem->convention.eps_place,
                 (int)problem->convention.affine, share);
    score->most = fmax(score->most, share);
    score->rows++;
    score->claims += isfinite(claimed.bound.xhat_abs) ? 1 : 0;
}

static void try_row(numbers *draws, types pair, const family *one, size_t hidden, double scale,
                    tally *tallies)
{
    static const double eps[] = {1e-5, 1e-12, 1e-3, 0.5};
    last_place = ldexp(1, 1 - element_format(pair.storage).bits);
    one->fill(draws, hidden, scale);
    fill_normal(draws, gammas_values, hidden, 1, 0.5);
    fill_normal(draws, betas_values, hidden, 0, numbers_next(draws) & 1 ? 1e3 : 1);
    elements_store(pair.storage, x, x_values, hidden);
    elements_store(pair.param, gammas, gammas_values, hidden);
    elements_store(pair.param, betas, betas_values, hidden);
    for (int i = 0; i < 2; i++) {
        ln_problem problem =
            problem_of(pair, 1, hidden, convention_number(numbers_next(draws) % CONVENTIONS));
        if (problem.convention.eps_place != LN_EPS_NONE)
            problem.convention.eps = eps[numbers_next(draws) % 4];
        oracle truth;
        oracle_row(&problem.convention, hidden, x_values, gammas_values, betas_values, exact,
                   &truth);
        const ln_kernel *kernel;
        for (size_t k = 0; (kernel = kernel_number(k)); k++)
            if (has_types(kernel, pair))
                judge(kernel, &problem, &truth, one->name, scale, &tallies[k]);
    }
}

static void report(const char *one, const tally *tallies)
{
    if (!getenv("LN_BOUND_REPORT"))
        return;
    const ln_kernel *kernel;
    for (size_t k = 0; (kernel = kernel_number(k)); k++)
        printf("%-20s %-22s used %.3f, claims on %u of %u rows\n", one, kernel->name,
               tallies[k].most, tallies[k].claims, tallies[k].rows);
}

static void try_family(numbers *draws, types pair, const family *one, tally *tallies)
{
    static const size_t sizes[] = {1,  2,  3,  4,   5,   15,  16,  17,   31,   33,
                                   63, 64, 65, 100, 129, 500, 768, 1000, 1024, 4999};
    for (size_t s = 0; s < 10 && one->scales[s] != 0; s++)
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]) && sizes[i] <= LARGEST; i++)
            for (int repeat = 0; repeat < REPEATS; repeat++)
                if (is_sampled(i, s + (size_t)repeat, 3))
                    try_row(draws, pair, one, sizes[i], one->scales[s], tallies);
}

TEST(bounds_hold)
{
    numbers draws = {3};
    for (size_t f = 0; f < FAMILIES; f++) {
        tally tallies[MOST_KERNELS] = {{0, 0, 0}};
        for (size_t t = 0; t < TYPE_PAIRS; t++)
            if (type_pairs[t].storage == LN_F64 || !families[f].is_f64)
                try_family(&draws, type_pairs[t], &families[f], tallies);
        report(families[f].name, tallies);
    }
}

/* ---- Probable bounds ------------------------------------------------------------------------- */

/* The probable bound of a sum is compared with additions whose errors have the largest size and a
 * random sign; those of kernels with their results, and with the proven bounds, which they must not exceed. */

/* Returns a + b with an error of u |a + b|, up or down; *spread sums the squares of these errors. */
static double added(numbers *draws, double a, double b, double *spread)
{
    *spread += (a + b) * (a + b);
    return (a + b) * (1 + (numbers_next(draws) & 1 ? UNIT_f32 : -UNIT_f32));
}

/* Adds two halves until one number is left. */
static double tree(numbers *draws, double *parts, size_t count, double *spread)
{
    for (size_t half = count / 2; half > 0; half /= 2)
        for (size_t i = 0; i < half; i++)
            parts[i] = added(draws, parts[i], parts[i + half], spread);
    return parts[0];
}

/* Adds terms in the order of row_sums. */
static double summed(numbers *draws, const row_sums *sums, const double *terms, double *spread)
{
    size_t steps = (size_t)sums->steps, parts = (size_t)sums->parts, lanes = (size_t)sums->lanes;
    double lane[16], part[16];
    *spread = 0;
    for (size_t l = 0; l < lanes; l++) {
        lane[l] = 0;
        for (size_t c = 0; c < (size_t)sums->chunks; c++) {
            for (size_t p = 0; p < parts; p++) {
                part[p] = 0;
                for (size_t s = 0; s < steps; s++)
                    part[p] = added(draws, part[p], *terms++, spread);
            }
            lane[l] = added(draws, lane[l], tree(draws, part, parts, spread), spread);
        }
    }
    return tree(draws, lane, lanes, spread);
}

typedef enum term_kind { CENTRED, OFFSET, SPIKE, LARGE_FIRST, TERM_KINDS } term_kind;

static void fill_terms(numbers *draws, size_t count, term_kind kind)
{
    fill_normal(draws, x_values, count, kind == OFFSET ? 3 : 0, 1);
    for (size_t i = 0; i < (kind == SPIKE ? 1 : kind == LARGE_FIRST ? count / 64 : 0); i++)
        x_values[i] += 1e3;
}

/* Returns the largest share of sum_error() that is reached in some rows. */
static double most_used(const row_sums *sums, term_kind kind, int squares)
{
    const number_type f32 = {.unit = UNIT_f32};
    const bounded_row plain = {.item = &f32, .sum = &f32};
    numbers draws = {5};
    size_t count = (size_t)sums->hidden;
    double used = 0;
    for (int trial = 0; trial < 60; trial++) {
        double sum = 0, square = 0, most = 0, spread;
        fill_terms(&draws, count, kind);
        for (size_t i = 0; i < count; i++) {
            square += x_values[i] * x_values[i] / sums->hidden;
            most = fmax(most, fabs(x_values[i]));
            if (squares)
                x_values[i] *= x_values[i];
            sum += x_values[i];
        }
        double scale = squares ? square : sqrt(square), peak = squares ? most * most / square : 1;
        double error = fabs(summed(&draws, sums, x_values, &spread) - sum) / sums->hidden;
        used = fmax(used, error / sum_error(&plain, sums, 0, scale, scale, peak));
        for (size_t i = 0; i < count; i++)
            x_values[i] = fabs(x_values[i]);
        summed(&draws, sums, x_values, &spread);
        assert_true(sqrt(spread) / sums->hidden <= sum_spread(sums, peak) * scale * (1 + 1e-3));
    }
    return used;
}

/* Errors are below the bound. If terms do not cancel, the bound is only a few times the errors: it grows
 * with the square root of the number of roundings. */
TEST(sums_are_within)
{
    static const row_sums shapes[] = {
        {1026, 6, 4096, 0, 1024, 4, 1, 1}, /* one by one, plain C */
        {133, 6, 4096, 0, 128, 4, 1, 8},   /* the same on AVX2 */
        {28, 6, 4096, 0, 16, 4, 8, 8},     /* in chunks */
    };
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        for (int squares = 0; squares < 2; squares++)
            for (term_kind kind = CENTRED; kind < TERM_KINDS; kind++) {
                double used = most_used(&shapes[i], kind, squares);
                if (!(used <= 1 && (kind != OFFSET || used > 0.15)))
                    fail_msg("shape %zu, squares %d, kind %d: %g of the bound", i, squares,
                             (int)kind, used);
            }
}

static void judge_probable(const ln_kernel *kernel, const ln_problem *problem, const oracle *truth,
                           double *least)
{
    const ln_tensors tensors = {.x = x, .gamma = gammas, .beta = betas, .y = y};
    ln_bound proven = kernel->bound(problem, &truth->facts);
    ln_bound sure = kernel->probable_bound(problem, &truth->facts, 1e-300);
    claim claimed = claim_of(problem, truth, kernel->probable_bound(problem, &truth->facts, 1e-9));
    assert_int_equal(ln_layernorm_with(kernel, problem, &tensors), LN_OK);
    double used = claim_most_used(&claimed, y);
    if (!(used <= 1))
        fail_msg("%s, hidden %zu, mean %g: the error is %g times the probable bound", kernel->name,
                 problem->hidden, truth->facts.mean, used);
    assert_true(claimed.bound.xhat_abs <= sure.xhat_abs && sure.xhat_abs <= proven.xhat_abs);
    assert_true(claimed.bound.affine_rel == proven.affine_rel);
    *least = claimed.bound.xhat_abs / proven.xhat_abs;
}

/* Tests all kernels. For those that add terms one by one the probable bound is much smaller than the proven one. */
TEST(kernels_are_within)
{
    static const types pairs[] = {{LN_F32, LN_F32}, {LN_F64, LN_F64}, {LN_BF16, LN_BF16}};
    static const size_t sizes[] = {100, 4096, PROBABLE_LARGEST};
    numbers draws = {7};
    unsigned deep = 0;
    for (int trial = 0; trial < PROBABLE_ROWS; trial++) {
        types pair = pairs[trial % 8 < 6 ? 0 : trial % 8 - 5];
        size_t hidden = sizes[trial % 3];
        fill_normal(&draws, x_values, hidden, trial / 3 % 3, trial % 2 ? 1 : 100);
        fill_normal(&draws, gammas_values, hidden, 1, 0.5);
        fill_normal(&draws, betas_values, hidden, 0, 1);
        elements_store(pair.storage, x, x_values, hidden);
        elements_store(pair.param, gammas, gammas_values, hidden);
        elements_store(pair.param, betas, betas_values, hidden);
        ln_problem problem = problem_of(
            pair, 1, hidden,
            (ln_convention){.eps_place = LN_EPS_VAR, .eps = 1e-5, .affine = LN_AFFINE_VECTOR});
        oracle truth;
        oracle_row(&problem.convention, hidden, x_values, gammas_values, betas_values, exact,
                   &truth);
        const ln_kernel *kernel;
        for (size_t k = 0; (kernel = kernel_number(k)); k++) {
            double share;
            if (!has_types(kernel, pair))
                continue;
            judge_probable(kernel, &problem, &truth, &share);
            if (hidden < 4096 || (strcmp(kernel->name, "two_pass_f32_scalar") != 0 &&
                                  strcmp(kernel->name, "naive_f32_scalar") != 0))
                continue;
            assert_true(share < 0.25);
            deep++;
        }
    }
    assert_true(deep > 0 || is_thinned());
}
