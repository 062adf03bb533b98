/* Probe rows: that neighbouring conventions really lie more than 1000 ULP apart on them, by an
 * evaluation of each convention in long double that shares no code with kernels or reference. */
#include "inputs/families.h"
#include "domain/convention.h"
#include "inputs/inputs.h"
#include "metrics/storage.h"
#include "test.h"
#include <math.h>

enum { MOST_HIDDEN = 4100, MOST_ROWS = 8, SEED = 1 };

/* Everything as doubles, whatever the type. */
typedef struct probe_case {
    ln_type type;
    size_t hidden, rows;
    double x[MOST_ROWS * MOST_HIDDEN], gamma[MOST_HIDDEN], beta[MOST_HIDDEN];
} probe_case;

static double gamma_of(const ln_convention *convention, const probe_case *probe, size_t i)
{
    switch (convention->affine) {
    case LN_AFFINE_NONE:
        return 1;
    case LN_AFFINE_SCALAR:
        return probe->gamma[0];
    case LN_AFFINE_GAMMA1:
        return 1 + probe->gamma[i];
    default:
        return probe->gamma[i];
    }
}

static double beta_of(const ln_convention *convention, const probe_case *probe, size_t i)
{
    if (!ln_has_beta(convention->affine))
        return 0;
    return probe->beta[convention->affine == LN_AFFINE_SCALAR ? 0 : i];
}

/* The formulas of layernorm.h. xhat and y may be the same array. */
static void evaluate(const ln_convention *convention, const probe_case *probe, size_t row,
                     double *xhat, double *y)
{
    const double *x = probe->x + row * probe->hidden;
    long double n = (long double)probe->hidden, mean = 0, var = 0;
    for (size_t i = 0; i < probe->hidden; i++)
        mean += (long double)x[i];
    mean /= n;
    for (size_t i = 0; i < probe->hidden; i++)
        var += ((long double)x[i] - mean) * ((long double)x[i] - mean);
    var /= n - convention->ddof;
    long double eps = (long double)convention->eps, quotient = 0, divisor = sqrtl(var);
    if (convention->eps_place == LN_EPS_VAR)
        divisor = sqrtl(var + eps);
    if (convention->eps_place == LN_EPS_STD)
        divisor += eps;
    if (convention->eps_place == LN_EPS_QUOTIENT)
        quotient = eps;
    for (size_t i = 0; i < probe->hidden; i++) {
        xhat[i] = (double)(((long double)x[i] - mean) / divisor + quotient);
        y[i] = gamma_of(convention, probe, i) * xhat[i] + beta_of(convention, probe, i);
    }
}

/* Of a type's significand. */
static int bits_of(ln_type type)
{
    return type == LN_F32 ? 24 : type == LN_F64 ? 53 : type == LN_BF16 ? 8 : 11;
}

/* ulp(v) of a v that is normal in the type. */
static double ulp_of(ln_type type, double v)
{
    int exponent;
    frexp(v, &exponent);
    return ldexp(1, exponent - bits_of(type));
}

/* The largest row_ulp over the probe rows of what `other` computes, judged as `convention`. */
static double distance(const ln_convention *convention, const ln_convention *other,
                       const probe_case *probe)
{
    static double xhat[MOST_HIDDEN], y[MOST_HIDDEN], other_y[MOST_HIDDEN], unused[MOST_HIDDEN];
    double worst = 0;
    for (size_t row = 0; row < probe->rows; row++) {
        double largest = 0;
        evaluate(convention, probe, row, xhat, y);
        evaluate(other, probe, row, unused, other_y);
        for (size_t i = 0; i < probe->hidden; i++)
            largest = fmax(largest, fabs(xhat[i]));
        for (size_t i = 0; i < probe->hidden; i++) {
            double scale = fabs(gamma_of(convention, probe, i)) * largest +
                           fabs(beta_of(convention, probe, i));
            worst = fmax(worst, fabs(other_y[i] - y[i]) / ulp_of(probe->type, scale));
        }
    }
    return worst;
}

static void load(ln_type type, const void *from, size_t count, double *to)
{
    for (size_t i = 0; i < count; i++)
        to[i] = storage_load(type, from, i);
}

/* False: the type has none of the rows. */
static bool make_typed(const ln_convention *convention, ln_type type, size_t hidden,
                       probe_case *probe)
{
    static double x[MOST_ROWS * MOST_HIDDEN], gamma[MOST_HIDDEN], beta[MOST_HIDDEN];
    size_t parameters = ln_parameter_elements(convention->affine, hidden);
    error err = {0};
    probe->type = type;
    probe->hidden = hidden;
    assert_true(input_probe_rows(convention, type, hidden, MOST_ROWS, x, &probe->rows, &err));
    const operation_call call = {.problem = problem_dense(convention, type, type, 1, hidden),
                                 .inputs = {[ROLE_GAMMA] = gamma, [ROLE_BETA] = beta}};
    assert_true(input_parameters("normal", &call, SEED, &err));
    load(type, x, probe->rows * hidden, probe->x);
    load(type, gamma, parameters, probe->gamma);
    load(type, beta, parameters, probe->beta);
    return probe->rows > 0;
}

static void make_probe(const ln_convention *convention, size_t hidden, probe_case *probe)
{
    assert_true(make_typed(convention, LN_F32, hidden, probe));
}

static void assert_apart(const ln_convention *convention, const ln_convention *other,
                         const probe_case *probe, double least)
{
    char names[2][CONVENTION_MAX_LENGTH];
    double found = distance(convention, other, probe);
    if (!(found > least))
        fail_msg("hidden %zu: %s and %s are only %.1f ULP apart", probe->hidden,
                 convention_label(convention, names[0]), convention_label(other, names[1]), found);
}

/* How far neighbours must be apart for 1000 ULP of f32. */
static double least_of(ln_type type)
{
    return type == LN_F32 ? 1000 : type == LN_F64 ? 0x1p29 * 1000 : 6;
}

/* eps on the quotient adds eps to x-hat, whose largest is about 1: leaving it out differs by
 * eps * 2^24 ULP at most, 84 at eps 1e-5, whatever the row. */
static double least_without_eps(const ln_convention *convention, ln_type type)
{
    double shown = ldexp(convention->eps, bits_of(type) - 2);
    return convention->eps_place == LN_EPS_QUOTIENT ? fmin(least_of(type), shown) : least_of(type);
}

static void check_neighbours(const ln_convention *convention, const probe_case *probe)
{
    ln_convention other = *convention;
    double least = least_of(probe->type);
    other.ddof = 1 - convention->ddof;
    assert_apart(convention, &other, probe, least);
    other = *convention;
    for (int place = LN_EPS_VAR; convention->eps > 0 && place <= LN_EPS_QUOTIENT; place++) {
        other.eps_place = (ln_eps_place)place;
        if (other.eps_place != convention->eps_place)
            assert_apart(convention, &other, probe, least);
    }
    other = *convention;
    other.eps_place = LN_EPS_NONE;
    other.eps = 0;
    if (convention->eps > 0)
        assert_apart(convention, &other, probe, least_without_eps(convention, probe->type));
    other = *convention;
    other.affine = convention->affine == LN_AFFINE_GAMMA1 ? LN_AFFINE_VECTOR : LN_AFFINE_GAMMA1;
    if (convention->affine == LN_AFFINE_VECTOR || convention->affine == LN_AFFINE_GAMMA1)
        assert_apart(convention, &other, probe, least);
}

enum { SHORT_SIZES = 8, SIZES = 16 };
static const size_t sizes[SIZES] = {2,  3,  4,  5,   7,   8,    15,   16,
                                    17, 31, 64, 100, 768, 1024, 4095, 4096};

/* f64 has 29 bits more to tell them by. Of the 16-bit types judge_probes() asks for 6 ULP, which rows
 * of 3 and of 8 must have. At long rows the divisors N and N - 1 differ by 1/(2N): 1024 ULP at 4096. */
TEST(test_presets)
{
    static probe_case probe;
    size_t count;
    const convention_preset *presets = convention_presets(LN_OPERATION_LAYERNORM, &count);
    for (size_t p = 0; p < count; p++)
        for (int type = LN_F32; type <= LN_F16; type++)
            for (size_t s = 0; s < SIZES; s++) {
                bool wide = type == LN_F32 || type == LN_F64;
                if (!wide && sizes[s] != 3 && sizes[s] != 8)
                    continue;
                assert_true(make_typed(&presets[p].convention, (ln_type)type, sizes[s], &probe));
                check_neighbours(&presets[p].convention, &probe);
            }
}

TEST(test_every_convention)
{
    static probe_case probe;
    static const double eps[] = {1e-12, 1e-7, 1e-5, 1e-3, 0.5, 7};
    for (int ddof = 0; ddof < 2; ddof++)
        for (int place = LN_EPS_VAR; place <= LN_EPS_QUOTIENT; place++)
            for (int affine = LN_AFFINE_NONE; affine <= LN_AFFINE_GAMMA1; affine++)
                for (size_t e = 0; e < sizeof eps / sizeof *eps; e++) {
                    ln_convention convention = {.ddof = ddof,
                                                .eps_place = (ln_eps_place)place,
                                                .eps = eps[e],
                                                .affine = (ln_affine)affine};
                    make_probe(&convention, 8, &probe);
                    check_neighbours(&convention, &probe);
                    make_probe(&convention, 16, &probe);
                    check_neighbours(&convention, &probe);
                }
}

/* Long rows are +-1 times one power of two (0 for an odd element left over), balanced, and neither
 * alternating nor of a short period. */
TEST(test_long_rows)
{
    static probe_case probe;
    ln_convention torch = {.eps_place = LN_EPS_VAR, .eps = 1e-5, .affine = LN_AFFINE_VECTOR};
    for (size_t s = SHORT_SIZES; s < SIZES; s++) {
        make_probe(&torch, sizes[s], &probe);
        for (size_t row = 0; row < probe.rows; row++) {
            const double *x = probe.x + row * probe.hidden;
            int exponent;
            double sum = 0;
            assert_true(frexp(fabs(x[0]), &exponent) == 0.5);
            for (size_t i = 0; i < probe.hidden; i++) {
                bool left_over = probe.hidden % 2 == 1 && i == probe.hidden - 1;
                assert_true(fabs(x[i]) == (left_over ? 0 : fabs(x[0])));
                sum += x[i];
            }
            assert_true(sum == 0);
            for (size_t period = 1; period <= 8; period++) {
                bool repeats = true;
                for (size_t i = 0; i + period < probe.hidden - 1; i++)
                    repeats = repeats && x[i] == x[i + period];
                assert_false(repeats);
            }
        }
    }
}

/* The largest power of two that divides x. */
static double unit_of(double x)
{
    double unit = 0x1p60;
    while (x / unit != floor(x / unit))
        unit /= 2;
    return unit;
}

/* Sums of the elements and of their squares are exact in f32, in any order: all are multiples of
 * one power of two (its square), and the sum of the squares stays below 2^24 of these. */
TEST(test_exact_sums)
{
    static probe_case probe;
    size_t count;
    const convention_preset *presets = convention_presets(LN_OPERATION_LAYERNORM, &count);
    for (size_t p = 0; p < count; p++)
        for (size_t hidden = 1; hidden <= 32; hidden++) {
            make_probe(&presets[p].convention, hidden, &probe);
            for (size_t row = 0; row < probe.rows; row++) {
                const double *x = probe.x + row * hidden;
                double unit = 0x1p60, squares = 0;
                for (size_t i = 0; i < hidden; i++)
                    unit = fmin(unit, unit_of(x[i]));
                for (size_t i = 0; i < hidden; i++)
                    squares += x[i] / unit * (x[i] / unit);
                assert_true(squares < 0x1p24);
                assert_true(unit * unit >= 0x1p-126);
            }
        }
}

/* Rows of other types are those of f32, number by number; f16 goes without the one that it cannot
 * hold, which is the one with a std near an eps of 1e-12. */
TEST(test_rows_of_types)
{
    static probe_case wide, probe;
    size_t count, lost = 0;
    const convention_preset *presets = convention_presets(LN_OPERATION_LAYERNORM, &count);
    for (size_t p = 0; p <= count; p++) {
        const ln_convention tiny = {.eps_place = LN_EPS_STD, .eps = 1e-12};
        const ln_convention *convention = p < count ? &presets[p].convention : &tiny;
        make_probe(convention, 8, &wide);
        for (int type = LN_F64; type <= LN_F16; type++) {
            assert_true(make_typed(convention, (ln_type)type, 8, &probe));
            assert_true(type == LN_F16 || probe.rows == wide.rows);
            lost += wide.rows - probe.rows;
            for (size_t row = 0, from = 0; row < probe.rows; row++, from++) {
                while (from < wide.rows &&
                       memcmp(probe.x + row * 8, wide.x + from * 8, 8 * sizeof *wide.x) != 0)
                    from++;
                assert_true(from < wide.rows);
            }
        }
    }
    assert_int_equal(lost, 1); /* var near eps^2: f16 ends at 2^-24 */
}

TEST(test_most)
{
    ln_convention torch = {.eps_place = LN_EPS_VAR, .eps = 1e-5, .affine = LN_AFFINE_VECTOR};
    float x[16 * 2 + 1];
    x[32] = 42;
    assert_int_equal(input_probe_rows_f32(&torch, 16, 0, x), 0);
    assert_int_equal(input_probe_rows_f32(&torch, 16, 2, x), 2);
    assert_true(x[32] == 42);
    /* An eps whose rows f32 cannot hold leaves the row of variance 1. */
    ln_convention tiny = {.eps_place = LN_EPS_STD, .eps = 1e-300};
    assert_int_equal(input_probe_rows_f32(&tiny, 16, 2, x), 2);
    for (size_t i = 0; i < 32; i++)
        assert_true(fabsf(x[i]) <= 8);
}

TEST(test_affine)
{
    static float gamma[1024], beta[1024], stored[1024];
    for (size_t hidden = 2; hidden <= 1024; hidden *= 2) {
        ln_convention convention = {.affine = LN_AFFINE_VECTOR};
        double gamma_sum = 0, beta_sum = 0;
        input_affine(&convention, 3, hidden,
                     (float *[ROLES_MOST]){[ROLE_GAMMA] = gamma, [ROLE_BETA] = beta});
        assert_true(gamma[0] != gamma[1] && beta[0] != beta[1]);
        for (size_t i = 0; i < hidden; i++) {
            gamma_sum += gamma[i];
            beta_sum += beta[i];
        }
        /* Standard deviation 1/4 each: the means lie within five standard errors. */
        double standard_error = 0.25 / sqrt((double)hidden);
        assert_true(fabs(gamma_sum / (double)hidden - 1) < 5 * standard_error);
        assert_true(fabs(beta_sum / (double)hidden) < 5 * standard_error);
        convention.affine = LN_AFFINE_GAMMA1;
        input_affine(&convention, 3, hidden,
                     (float *[ROLES_MOST]){[ROLE_GAMMA] = stored, [ROLE_BETA] = beta});
        for (size_t i = 0; i < hidden; i++)
            assert_true(fabsf(1 + stored[i] - gamma[i]) <= 0x1p-23F);
    }
    /* What a form does not have is not written; a scalar is one element. */
    gamma[0] = gamma[1] = beta[0] = beta[1] = 42;
    input_affine(&(ln_convention){.affine = LN_AFFINE_NONE}, 3, 2,
                 (float *[ROLES_MOST]){[ROLE_GAMMA] = gamma, [ROLE_BETA] = beta});
    assert_true(gamma[0] == 42 && beta[0] == 42);
    input_affine(&(ln_convention){.affine = LN_AFFINE_GAMMA}, 3, 2,
                 (float *[ROLES_MOST]){[ROLE_GAMMA] = gamma});
    assert_true(gamma[0] != 42 && beta[0] == 42);
    gamma[1] = 42;
    input_affine(&(ln_convention){.affine = LN_AFFINE_SCALAR}, 3, 2,
                 (float *[ROLES_MOST]){[ROLE_GAMMA] = gamma, [ROLE_BETA] = beta});
    assert_true(gamma[1] == 42 && beta[1] == 42 && gamma[0] != 42 && beta[0] != 42);
    assert_true(gamma[0] != 1 && beta[0] != 0);
}
