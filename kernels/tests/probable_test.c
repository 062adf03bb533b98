/* The probable bounds: of a sum, against additions whose errors are as large as they may be and of
 * random sign; of kernels, against what they compute, and never more than what is proven. */
#include "tests.h"
#include "bounds/bounds.h"

#ifdef LN_EMULATED /* quad arithmetic is slow there */
enum { LARGEST = 4096, ROWS = 2 };
#else
enum { LARGEST = 12288, ROWS = 24 };
#endif

OPERANDS(1, LARGEST);
static exact_number exact[LARGEST];

/* a + b, off by u |a + b|, up or down; *spread adds up their squares. */
static double added(numbers *draws, double a, double b, double *spread)
{
    *spread += (a + b) * (a + b);
    return (a + b) * (1 + (numbers_next(draws) & 1 ? UNIT_f32 : -UNIT_f32));
}

/* Halves added up until one is left. */
static double tree(numbers *draws, double *parts, size_t count, double *spread)
{
    for (size_t half = count / 2; half > 0; half /= 2)
        for (size_t i = 0; i < half; i++)
            parts[i] = added(draws, parts[i], parts[i + half], spread);
    return parts[0];
}

/* In the order that row_sums has. */
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

/* The most of sum_error() that is used up, over some rows. */
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

/* Below the bound. Where terms do not cancel it is no more than some times what is found: it grows
 * with the root of what gamma(D) grows with. */
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

static void judge(const ln_kernel *kernel, const ln_problem *problem, const oracle *truth,
                  double *least)
{
    const ln_tensors tensors = {.x = x, .gamma = gammas, .beta = betas, .y = y};
    ln_bound proven = kernel->bound(problem, &truth->facts);
    ln_bound sure = kernel->probable_bound(problem, &truth->facts, 1e-300);
    claim claimed = {&problem->convention,
                     problem->storage,
                     problem->hidden,
                     gammas_values,
                     betas_values,
                     exact,
                     truth,
                     kernel->probable_bound(problem, &truth->facts, 1e-9)};
    assert_int_equal(ln_layernorm_with(kernel, problem, &tensors), LN_OK);
    double used = claim_most_used(&claimed, y);
    if (!(used <= 1))
        fail_msg("%s, hidden %zu, mean %g: the error is %g times the probable bound", kernel->name,
                 problem->hidden, truth->facts.mean, used);
    assert_true(claimed.bound.xhat_abs <= sure.xhat_abs && sure.xhat_abs <= proven.xhat_abs);
    assert_true(claimed.bound.affine_rel == proven.affine_rel);
    *least = claimed.bound.xhat_abs / proven.xhat_abs;
}

/* All kernels; and those that add one by one have a bound that is much less. */
TEST(kernels_are_within)
{
    static const types pairs[] = {{LN_F32, LN_F32}, {LN_F64, LN_F64}, {LN_BF16, LN_BF16}};
    static const size_t sizes[] = {100, 4096, LARGEST};
    numbers draws = {7};
    unsigned deep = 0;
    for (int trial = 0; trial < ROWS; trial++) {
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
            judge(kernel, &problem, &truth, &share);
            if (hidden < 4096 || (strcmp(kernel->name, "two_pass_f32_scalar") != 0 &&
                                  strcmp(kernel->name, "naive_f32_scalar") != 0))
                continue;
            assert_true(share < 0.25);
            deep++;
        }
    }
    assert_true(deep > 0 || is_thinned());
}
