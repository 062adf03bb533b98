/* Tests the class `accurate`: the results of ln_layernorm() are within 2 row ULP, or 0.51 for 16-bit storage. So are
 * the proven bounds of each kernel that the class may use on any ISA, on ordinary rows and on rows that are hard to
 * sum, under all conventions. These include rows on which the class failed before it was proven. */
#include "tests.h"
#include "dispatch_table.h"

#ifdef LN_EMULATED /* quad arithmetic is slow there */
enum { LARGEST = 500 };
#else
enum { LARGEST = 4097 };
#endif

OPERANDS(1, LARGEST);
static exact_number exact[LARGEST];

static const double evaluated = 1 + 0x1p-14; /* a factor for the limits: split_items_bound() */

static bool is_short(ln_type storage)
{
    return storage == LN_BF16 || storage == LN_F16;
}

static double promised(ln_type storage)
{
    return is_short(storage) ? 0.51 : 2;
}

/* ---- The kernels of the class ---- */

#define READ_ROW(class, storage, param, isa, when, kernel) {#class, kernel},
static const struct {
    const char *class, *kernel;
} rows[] = {LN_LAYERNORM_ROWS(READ_ROW)
#ifdef ACCURATE_PLANTED
                READ_ROW(accurate, f32, f32, avx2, always, "two_pass_two_rstd_f32_acc_f64_avx2")
#endif
};

static bool is_named(const ln_kernel *kernel, const char *name)
{
    return strcmp(kernel->name, name) == 0;
}

static bool may_be_taken(const ln_kernel *kernel)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].class, "accurate") == 0 && is_named(kernel, rows[i].kernel))
            return true;
    return false;
}

/* ---- Rows ---- */

typedef struct hard_row {
    const char *name;
    size_t hidden; /* 0: some sizes */
    double a, b;
    double (*element)(numbers *draws, size_t i, size_t hidden, double a, double b);
} hard_row;

static double normal_one(numbers *draws, size_t i, size_t hidden, double a, double b)
{
    (void)i, (void)hidden;
    return a + b * numbers_normal(draws);
}

static double half_and_half(numbers *draws, size_t i, size_t hidden, double a, double b)
{
    (void)draws;
    return i < hidden / 2 ? a : b;
}

static double alternating_scales(numbers *draws, size_t i, size_t hidden, double a, double b)
{
    (void)hidden;
    return (i % 2 ? a : b) * numbers_normal(draws);
}

static double two_valued(numbers *draws, size_t i, size_t hidden, double a, double b)
{
    (void)i, (void)hidden;
    return numbers_next(draws) & 1 ? a : b;
}

static double blocks(numbers *draws, size_t i, size_t hidden, double a, double b)
{
    (void)draws, (void)hidden;
    return a + b * (double)(i / 64 * 2654435761u % 7);
}

static double spike(numbers *draws, size_t i, size_t hidden, double a, double b)
{
    (void)draws;
    return i == hidden / 3 ? b : a;
}

static const hard_row hard_rows[] = {
    {"half and half", 500, 0.8797781, -0.8797781, half_and_half},
    {"half and half", 2000, 1.3524815, -1.3524815, half_and_half},
    {"half and half", 1600, 0.76437485, -0.76437485, half_and_half},
    {"alternating scales", 65, 1, 1e-3, alternating_scales},
    {"half and half, 31 from zero", 500, 32, 30, half_and_half},
    {"half and half, 33 from zero", 500, 34, 32, half_and_half},
    {"two values", 1023, 1, 1.4142135, two_valued},
    {"blocks", 511, 0.3, 0.7, blocks},
    {"subnormal", 0, 0, 1e-40, normal_one},
    {"subnormal of f64", 0, 0, 1e-310, normal_one},
    {"normal", 0, 0.3, 1.5, normal_one},
    {"5.5 from zero", 0, 5.5, 1, normal_one},
    {"6 from zero", 0, 6, 1, normal_one},
    {"far", 0, 100, 1, normal_one},
    {"very far", 0, 1e6, 1, normal_one},
    {"farther", 0, -1e14, 1, normal_one},
    {"last place", 0, 1, 1.0000001192092896, two_valued},
    {"last place of f64", 0, 1, 1.0000000000000002, two_valued},
    {"spike in the last place", 0, 1, 1.0000000000000002, spike},
    {"spike", 0, 1, 1e6, spike},
    {"constant", 0, 0.1, 0, normal_one},
    {"huge", 0, 0, 1e30, normal_one},
    {"near the end", 0, 0, 3e307, normal_one},
    {"tiny", 0, 0, 1e-30, normal_one},
    {"wide blocks", 0, 1e-3, 1e3, blocks},
};

static double ulp_of(format kind, double size)
{
    int exponent;
    (void)frexp(size, &exponent);
    exponent = size > 0 && exponent - 1 > kind.least ? exponent - 1 : kind.least;
    return ldexp(1, exponent - kind.bits + 1);
}

/* Returns a unit in the last place of the scale |gamma| max|xhat| + |beta| of element i, and |gamma| and |beta|. */
static double unit_at(const ln_problem *problem, const oracle *truth, size_t i, double *gamma,
                      double *beta)
{
    ln_affine affine = problem->convention.affine;
    size_t at = affine == LN_AFFINE_SCALAR ? 0 : i;
    *gamma = ln_has_gamma(affine) ? fabs(gammas_values[at] + (affine == LN_AFFINE_GAMMA1)) : 1;
    *beta = ln_has_beta(affine) ? fabs(betas_values[at]) : 0;
    return ulp_of(element_format(problem->storage), *gamma * truth->max_xhat + *beta);
}

/* Replaces the last rounding by half a unit, unless the rounded number may be so far above a power of two that
 * it is not rounded to that. */
static double rounded_last(format kind, double error, double scale, double unit)
{
    double before = error - ldexp(scale, -kind.bits), reach = scale + before;
    double farther = ulp_of(kind, reach);
    if (reach < ldexp(farther, kind.bits - 1) + unit)
        farther = unit;
    return fmin(error, before + farther / 2);
}

/* Returns the largest bound in row ULP, without the 2 smallest numbers that cover the rounding of subnormals. */
static double proven_of(const ln_problem *problem, const oracle *truth, const ln_kernel *kernel)
{
    ln_bound bound = kernel->bound(problem, &truth->facts);
    double most = 0, gamma, beta;
    for (size_t i = 0; i < problem->hidden && !truth->is_nan; i++) {
        double unit = unit_at(problem, truth, i, &gamma, &beta);
        double scale = gamma * truth->max_xhat + beta;
        double error = gamma * bound.xhat_abs + bound.affine_rel * scale;
        if (is_short(problem->storage) || kernel->traits & LN_TRAIT_ROUNDED_LAST)
            error = rounded_last(element_format(problem->storage), error, scale, unit);
        most = fmax(most, error / unit);
    }
    return isinf(bound.xhat_abs) ? INFINITY : most;
}

static double error_of(const ln_problem *problem, const oracle *truth)
{
    double most = 0, gamma, beta;
    for (size_t i = 0; i < problem->hidden; i++) {
        double unit = unit_at(problem, truth, i, &gamma, &beta);
        double stored = element_get(problem->storage, y, i);
        if (truth->is_nan && !isnan(stored))
            return INFINITY;
        if (truth->is_nan || (isinf(stored) && fabs(exact[i].high) > 6e4))
            continue; /* other tests check the latter */
        most = fmax(most, fabs(stored - exact[i].high - exact[i].low) / unit);
        if (isnan(stored))
            return INFINITY;
    }
    return most;
}

/* ---- The tests ---- */

static bool make_row(numbers *draws, types pair, const hard_row *one, size_t hidden, double gamma)
{
    for (size_t i = 0; i < hidden; i++)
        x_values[i] = one->element(draws, i, hidden, one->a, one->b);
    fill_normal(draws, gammas_values, hidden, gamma, gamma / 2);
    fill_normal(draws, betas_values, hidden, 0, numbers_next(draws) & 1 ? 1e3 : 1);
    elements_store(pair.storage, x, x_values, hidden);
    elements_store(pair.param, gammas, gammas_values, hidden);
    elements_store(pair.param, betas, betas_values, hidden);
    for (size_t i = 0; i < hidden; i++)
        if (!isfinite(x_values[i]) || !isfinite(gammas_values[i]))
            return false;
    return true;
}

static void check_row(types pair, const ln_convention *convention, const hard_row *one,
                      size_t hidden)
{
    ln_problem problem = problem_of(pair, 1, hidden, *convention);
    const ln_tensors tensors = {.x = x, .gamma = gammas, .beta = betas, .y = y};
    const ln_plugin_table *plugin = ln_plugin();
    oracle truth;
    problem.accuracy = LN_ACCURACY_ACCURATE;
    oracle_row(convention, hidden, x_values, gammas_values, betas_values, exact, &truth);
    assert_int_equal(ln_layernorm(&problem, &tensors), LN_OK);
    double error = error_of(&problem, &truth);
    if (!(error <= promised(pair.storage)))
        fail_msg("%s is %g row ULP off: %s, hidden %zu, ddof %d, eps %g at place %d, affine %d",
                 ln_layernorm_kernel_name(&problem), error, one->name, hidden, convention->ddof,
                 convention->eps, (int)convention->eps_place, (int)convention->affine);
    for (size_t i = 0; i < count_lines(plugin); i++) {
        const ln_kernel *kernel = &plugin->kernels[i];
        if (!has_types(kernel, pair) || !may_be_taken(kernel))
            continue;
        if (!kernel->supports(&problem)) {
            kernel->run(&problem, &tensors);
            error = error_of(&problem, &truth);
            if (!(error <= promised(pair.storage)))
                fail_msg("%s is %g row ULP off: %s, hidden %zu, ddof %d, eps %g at place %d, "
                         "affine %d",
                         kernel->name, error, one->name, hidden, convention->ddof, convention->eps,
                         (int)convention->eps_place, (int)convention->affine);
        }
        double proven = proven_of(&problem, &truth, kernel);
        if (!(proven <= promised(pair.storage) * evaluated))
            fail_msg("%s: %g row ULP is all that is proven: %s, hidden %zu, ddof %d, eps %g at "
                     "place %d, affine %d",
                     kernel->name, proven, one->name, hidden, convention->ddof, convention->eps,
                     (int)convention->eps_place, (int)convention->affine);
    }
}

static void check_hard_row(numbers *draws, types pair, const hard_row *one, size_t hidden)
{
    static const double eps[] = {1e-5, 1e-12, 3, 1e-5};
    static const ln_convention plain = {.eps_place = LN_EPS_VAR, .eps = 1e-5};
    double huge = pair.param == LN_F64 ? 1e300 : pair.param == LN_F16 ? 1e4 : 1e36;
    for (int i = 0; i < 3; i++) {
        ln_convention convention = convention_number(numbers_next(draws) % CONVENTIONS);
        if (convention.eps_place != LN_EPS_NONE)
            convention.eps = eps[numbers_next(draws) % 4];
        if (!make_row(draws, pair, one, hidden, numbers_next(draws) % 4 ? 1 : huge))
            return; /* it does not fit into this type */
        check_row(pair, i == 0 ? &plain : &convention, one, hidden);
    }
}

TEST(what_is_promised_at_most)
{
    static const size_t sizes[] = {1, 2, 3, 17, 64, 255, 768, 4097};
    numbers draws = {17};
    for (size_t t = 0; t < TYPE_PAIRS; t++)
        for (size_t r = 0; r < sizeof hard_rows / sizeof *hard_rows; r++)
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
                const hard_row *one = &hard_rows[r];
                size_t hidden = one->hidden ? one->hidden : sizes[s];
                if (hidden <= LARGEST && (!one->hidden || s == 0))
                    check_hard_row(&draws, type_pairs[t], one, hidden);
            }
}

/* Rows whose variance matters compared with a huge eps, rows whose variance does not, and constant rows with an
 * infinite 1 / eps. */
TEST(eps_of_any_size)
{
    static const struct {
        hard_row row;
        ln_eps_place place;
        double eps, gamma;
    } cases[] = {
        {{"felt beside eps", 127, 0, 0x1p463, normal_one}, LN_EPS_VAR, 0x1p907, 1},
        {{"felt beside eps", 127, 0, 0x1p470, normal_one}, LN_EPS_STD, 0x1p460, 1},
        {{"not felt", 127, 0, 1e-6, normal_one}, LN_EPS_STD, 0x1.8p1023, 1e300},
        {{"not felt", 127, 0, 1, normal_one}, LN_EPS_VAR, 0x1p1000, 1},
        {{"constant", 64, 0.1, 0, normal_one}, LN_EPS_STD, 0x1p-1074, 1},
        {{"constant", 64, 0.1, 0, normal_one}, LN_EPS_VAR, 0x1p-1074, 1},
        {{"zeros", 33, 0, 0, normal_one}, LN_EPS_STD, 0x1p-1024, 1},
    };
    static const ln_affine affines[] = {LN_AFFINE_GAMMA, LN_AFFINE_VECTOR};
    numbers draws = {11};
    for (size_t t = 0; t < TYPE_PAIRS; t++)
        for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
            for (size_t a = 0; a < 2; a++) {
                const hard_row *one = &cases[c].row;
                ln_convention convention = {
                    .eps_place = cases[c].place, .eps = cases[c].eps, .affine = affines[a]};
                if (make_row(&draws, type_pairs[t], one, one->hidden, cases[c].gamma))
                    check_row(type_pairs[t], &convention, one, one->hidden);
            }
}

/* The proven bound of a kernel excludes the results of kernels with more, or less precise, additions. */
TEST(a_worse_tree_is_caught)
{
    static const struct {
        ln_type type;
        const char *kernel, *bound;
    } pairs[] = {{LN_F32, "two_pass_f32_scalar", "retry_wide_fold_row_pairs_f32_acc_f64_scalar"},
                 {LN_F64, "two_pass_f64_scalar", "doubled_in_pairs_alone_f64_scalar_u2"}};
    static const hard_row row = {"half and half", 500, 0.8797781, -0.5, half_and_half};
    const ln_plugin_table *plugin = ln_plugin();
    for (size_t p = 0; p < 2; p++) {
        numbers draws = {3};
        types pair = {pairs[p].type, pairs[p].type};
        ln_problem problem = problem_of(pair, 1, row.hidden, convention_number(2));
        const ln_tensors tensors = {.x = x, .gamma = gammas, .beta = betas, .y = y};
        oracle truth;
        assert_true(make_row(&draws, pair, &row, row.hidden, 1));
        oracle_row(&problem.convention, row.hidden, x_values, gammas_values, betas_values, exact,
                   &truth);
        assert_int_equal(
            ln_layernorm_with(ln_layernorm_kernel(pairs[p].kernel), &problem, &tensors), LN_OK);
        for (size_t i = 0; i < count_lines(plugin); i++)
            if (is_named(&plugin->kernels[i], pairs[p].bound)) {
                claim claimed = {&problem.convention,
                                 pair.storage,
                                 row.hidden,
                                 gammas_values,
                                 betas_values,
                                 exact,
                                 &truth,
                                 plugin->kernels[i].bound(&problem, &truth.facts)};
                assert_true(claim_most_used(&claimed, y) > 1);
                pair.storage = (ln_type)-1; /* found */
            }
        assert_true(pair.storage == (ln_type)-1);
    }
}

/* Compares the mean of an f64 row with integers in units of the smallest number. */
TEST(a_subnormal_mean_rounds_once)
{
    static const types pair = {LN_F64, LN_F64};
    static const ln_convention convention = {.eps_place = LN_EPS_VAR, .eps = 1e-5};
    static const size_t sizes[] = {64, 48};
    const ln_tensors tensors = {.x = x, .y = y, .mean = &(double){0}};
    numbers draws = {5};
    for (int row = 0; row < 2000; row++) {
        size_t hidden = sizes[row % 2];
        ln_problem problem = problem_of(pair, 1, hidden, convention);
        long long sum = 0;
        for (size_t i = 0; i < hidden; i++) {
            long long element = (long long)(numbers_next(&draws) >> 11) - (1LL << 52);
            sum += element;
            x_values[i] = ldexp((double)element, -1074);
        }
        elements_store(LN_F64, x, x_values, hidden);
        problem.accuracy = LN_ACCURACY_ACCURATE;
        assert_int_equal(ln_layernorm(&problem, &tensors), LN_OK);
        long long n = (long long)hidden, size = llabs(sum), whole = size / n;
        long long rest = 2 * (size % n);
        whole += rest > n || (rest == n && whole % 2);
        assert_true(*(double *)tensors.mean == ldexp((double)(sum < 0 ? -whole : whole), -1074));
    }
}
