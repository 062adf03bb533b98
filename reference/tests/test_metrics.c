/* Compares the metrics with numbers computed by hand and, for every type, with exact rationals. */
#include "../../kernels/tests/test_list.h"
#include "audit.h"
#include "metrics/metrics.h"
#include "metrics/samples.h"

#include <float.h>
#include <gmp.h>
#include <math.h>

/* ---- Numbers computed by hand ---------------------------------------------------------------- */

/* The reference results in these tests are constants, not computed. */

enum { MOST = 8 };

/* A row of f32, for the functions that take rows of any type. */
static metrics_row row_of(const ln_reference_result *result, size_t hidden,
                          const ln_convention *convention, const float *gamma, const float *beta)
{
    return (metrics_row){
        LN_F32, LN_F32, hidden, convention, gamma, beta, result, convention->affine, false};
}

static bool gather_row(metrics_gather *gather, size_t number, size_t hidden, const float *computed,
                       const ln_reference_result *result, const ln_convention *convention,
                       const float *gamma, const float *beta, const float *mean, const float *rstd)
{
    metrics_row row = row_of(result, hidden, convention, gamma, beta);
    double wide_mean = mean ? (double)*mean : 0, wide_rstd = rstd ? (double)*rstd : 0;
    return metrics_gather_row(gather, &row, number, computed, mean ? &wide_mean : NULL,
                              rstd ? &wide_rstd : NULL, NULL);
}

static const ln_convention plain = {.eps_place = LN_EPS_VAR, .eps = 1e-5};

static metrics_gather *gather;

static int set_up(void **state)
{
    (void)state;
    gather = metrics_gather_create();
    return gather == NULL;
}

static int tear_down(void **state)
{
    (void)state;
    metrics_gather_destroy(gather);
    return 0;
}

/* A reference result with these exact values, and max_xhat 1. */
typedef struct stated {
    float rounded[MOST];
    double exact[MOST];
    ln_reference_result result;
} stated;

static void state_exact(stated *s, size_t hidden, const double *exact)
{
    *s = (stated){.result = {.rounded = s->rounded, .exact = s->exact, .kappa = 2, .max_xhat = 1}};
    for (size_t i = 0; i < hidden; i++) {
        s->exact[i] = exact[i];
        s->rounded[i] = (float)exact[i];
    }
}

static void add(size_t row, size_t hidden, const float *computed, const stated *s)
{
    assert_true(
        gather_row(gather, row, hidden, computed, &s->result, &plain, NULL, NULL, NULL, NULL));
}

static ln_metrics finish(void)
{
    ln_metrics metrics;
    metrics_gather_finish(gather, &metrics);
    return metrics;
}

static void same(double got, double wanted)
{
    if (!(got == wanted || (isnan(got) && isnan(wanted)))) {
        fail_msg("got %.17g, wanted %.17g", got, wanted);
    }
}

/* Errors 2^-23 (1 ulp of 1), -2^-23 (-1/2 ulp of 2), 0, 3 * 2^-25 (3/2 ulp of 0.5, above the power
 * of two), 2^-24 (1/2 ulp of -1, towards 0: the ulp is that of the exact value). */
TEST_WITH(figures_of_finite_rows, set_up, tear_down)
{
    stated s;
    const double first[] = {1, 2, 3}, second[] = {0.5, -1};
    const float got_first[] = {1 + 0x1p-23f, 2 - 0x1p-23f, 3};
    const float got_second[] = {0.5f + 0x1p-24f, -1 + 0x1p-24f};
    state_exact(&s, 3, first);
    s.result.kappa = 77;
    add(0, 3, got_first, &s);
    state_exact(&s, 2, second);
    s.exact[0] = 0.5 - 0x1p-26; /* below 0.5: ulp 2^-25, error 2^-24 + 2^-26 = 2.5 ulp */
    add(9, 2, got_second, &s);
    ln_metrics m = finish();
    same(m.ulp_max, 2.5);
    same(m.ulp_mean, (1 + 0.5 + 0 + 2.5 + 0.5) / 5);
    same(m.ulp_rms, sqrt((1 + 0.25 + 6.25 + 0.25) / 5));
    same(m.ulp_bias, (1 - 0.5 + 2.5 + 0.5) / 5);
    same(m.ulp_p50, 0.5); /* 0 .5 .5 1 2.5 */
    same(m.ulp_p90, 2.5);
    same(m.ulp_p99, 2.5);
    same(m.row_ulp_max, 1.0); /* scale 1: ulp 2^-23 */
    same(m.row_ulp_mean, (1 + 1 + 0 + 0.625 + 0.5) / 5);
    same(m.norm_max, 0x1p-23 / 3);
    long double half = 0.5 - 0x1p-26;
    double squares = 0x1p-46 + 0x1p-46 + 0x1p-48 * 1.25 * 1.25 + 0x1p-48;
    same(m.rel_l2, (double)(sqrtl(squares) / sqrtl(1 + 4 + 9 + half * half + 1)));
    same(m.correctly_rounded, 0.2);
    same(m.bits, -log2(0x1p-23 / 3));
    assert_int_equal(m.elements, 5);
    assert_int_equal(m.mismatches, 0);
    assert_int_equal(m.worst_row, 0);
    assert_int_equal(m.worst_column, 0);
    same(m.worst_computed, 1 + 0x1p-23);
    same(m.worst_exact, 1.0);
    same(m.kappa_max, 77.0);
    same(m.mean_ulp_max, (double)NAN);
    same(m.rstd_ulp_max, (double)NAN);
}

TEST_WITH(every_pair_of_classes, set_up, tear_down)
{
    const float values[] = {NAN, INFINITY, -INFINITY, 1.0f};
    for (size_t i = 0; i < 4; i++) {
        for (size_t j = 0; j < 4; j++) {
            metrics_gather_destroy(gather);
            gather = metrics_gather_create();
            assert_non_null(gather);
            stated s;
            const double exact = (double)values[j];
            state_exact(&s, 1, &exact);
            add(0, 1, &values[i], &s);
            ln_metrics m = finish();
            assert_int_equal(m.mismatches, i != j);
            same(m.correctly_rounded, i == j ? 1.0 : 0.0);
            same(m.ulp_max, i == 3 && j == 3 ? 0.0 : (double)NAN);
            same(m.row_ulp_max, i == 3 && j == 3 ? 0.0 : (double)NAN);
        }
    }
}

/* An exact value above the range of f32 counts as an infinity, although it is a finite double. */
TEST_WITH(class_is_that_of_f32, set_up, tear_down)
{
    stated s;
    const double exact[] = {0x1p128, 0x1p128, 0x1p128};
    state_exact(&s, 3, exact);
    s.rounded[0] = s.rounded[1] = s.rounded[2] = INFINITY;
    const float computed[] = {INFINITY, FLT_MAX, -INFINITY};
    add(0, 3, computed, &s);
    ln_metrics m = finish();
    assert_int_equal(m.mismatches, 2);
    assert_int_equal(m.worst_column, 1);
    same(m.correctly_rounded, 1.0 / 3.0);
}

TEST_WITH(zeros, set_up, tear_down)
{
    stated s;
    const double exact[] = {0, 0, 0, 4};
    const float computed[] = {0.0f, -0.0f, 0x1p-30f, 4};
    state_exact(&s, 4, exact);
    add(0, 4, computed, &s);
    ln_metrics m = finish();
    assert_int_equal(m.exact_zeros, 3);
    assert_int_equal(m.sign_of_zero, 1);
    assert_int_equal(m.elements, 4);
    same(m.correctly_rounded, 0.75);
    same(m.ulp_max, 0.0); /* 2^-30 in place of 0 is seen by the others */
    same(m.ulp_mean, 0.0);
    same(m.row_ulp_max, 0x1p-7);
    same(m.norm_max, 0x1p-32);
    same(m.bits, 32.0);
}

TEST_WITH(nothing_and_nothing_wrong, set_up, tear_down)
{
    ln_metrics m = finish();
    same(m.ulp_max, (double)NAN);
    same(m.ulp_rms, (double)NAN);
    same(m.ulp_p50, (double)NAN);
    same(m.row_ulp_max, (double)NAN);
    same(m.row_ulp_mean, (double)NAN);
    same(m.norm_max, (double)NAN);
    same(m.rel_l2, (double)NAN);
    same(m.bits, (double)NAN);
    same(m.correctly_rounded, (double)NAN);
    same(m.kappa_max, (double)NAN);
    same(m.worst_exact, (double)NAN);
    stated s;
    const double exact[] = {1, -3};
    const float computed[] = {1, -3};
    state_exact(&s, 2, exact);
    add(0, 2, computed, &s);
    m = finish();
    same(m.norm_max, 0.0);
    same(m.bits, 53.0);
    same(m.correctly_rounded, 1.0);
    const double all_zero[] = {0, 0};
    const float wrong[] = {1, 0};
    metrics_gather_destroy(gather);
    gather = metrics_gather_create();
    assert_non_null(gather);
    state_exact(&s, 2, all_zero);
    add(0, 2, wrong, &s);
    same(finish().norm_max, INFINITY);
}

TEST_WITH(worst_is_the_first_mismatch, set_up, tear_down)
{
    stated s;
    const double exact[] = {1, 1, 1, 1};
    const float computed[] = {1.5f, NAN, 3, INFINITY};
    state_exact(&s, 4, exact);
    add(0, 1, computed, &s);
    same(finish().worst_computed, 1.5);
    add(5, 4, computed, &s);
    add(6, 4, computed, &s);
    ln_metrics m = finish();
    assert_int_equal(m.mismatches, 4);
    assert_int_equal(m.worst_row, 5);
    assert_int_equal(m.worst_column, 1);
    assert_true(isnan(m.worst_computed));
    same(m.worst_exact, 1.0);
    same(m.row_ulp_max, 2 * 0x1p23);
}

/* |gamma| max_xhat + |beta| = 3 * 1.5 + 0.25 = 4.75, ulp 2^-21; under gamma1 2 * 1.5 + 0.25, ulp
 * 2^-22; gamma alone 4.5; scalar takes the first of each; none 1.5, ulp 2^-23. */
TEST_WITH(row_ulp_of_affine_forms, set_up, tear_down)
{
    const float gamma[] = {100, -3}, beta[] = {1000, -0.25f};
    const struct {
        ln_affine affine;
        double ulp;
    } forms[] = {{LN_AFFINE_NONE, 0x1p-23},
                 {LN_AFFINE_SCALAR, 0x1p-13}, /* 150 + 1000 */
                 {LN_AFFINE_GAMMA, 0x1p-21},
                 {LN_AFFINE_VECTOR, 0x1p-21},
                 {LN_AFFINE_GAMMA1, 0x1p-22}};
    for (size_t k = 0; k < sizeof forms / sizeof forms[0]; k++) {
        metrics_gather_destroy(gather);
        gather = metrics_gather_create();
        assert_non_null(gather);
        stated s;
        const double exact[] = {1, 0.125};
        const float computed[] = {1, 0.125f + 0x1p-20f};
        const ln_convention c = {.eps_place = LN_EPS_VAR, .eps = 1e-5, .affine = forms[k].affine};
        state_exact(&s, 2, exact);
        s.result.max_xhat = 1.5;
        assert_true(gather_row(gather, 0, 2, computed, &s.result, &c, gamma, beta, NULL, NULL));
        ln_metrics m = finish();
        same(m.row_ulp_max, 0x1p-20 / forms[k].ulp);
        assert_int_equal(m.worst_column, 1);
    }
}

static void add_statistics(const stated *s, const float *mean, const float *rstd)
{
    const float computed = 1;
    assert_true(gather_row(gather, 0, 1, &computed, &s->result, &plain, NULL, NULL, mean, rstd));
}

TEST_WITH(errors_of_mean_and_rstd, set_up, tear_down)
{
    stated s;
    const double exact = 1;
    state_exact(&s, 1, &exact);
    s.result.facts.mean = 4;
    s.result.mean_rounded = 4;
    s.result.facts.rstd = 0.75;
    s.result.rstd_rounded = 0.75f;
    const float mean = 4 - 0x1p-22f, rstd = 0.75f + 0x1p-23f, wrong = NAN;
    add_statistics(&s, &mean, &rstd);
    same(finish().mean_ulp_max, 0.5);
    same(finish().rstd_ulp_max, 2.0);
    const float right = 4;
    add_statistics(&s, &right, NULL);
    same(finish().mean_ulp_max, 0.5); /* the maximum stays */
    s.result.facts.rstd = (double)NAN;
    s.result.rstd_rounded = NAN;
    s.result.facts.mean = 0;
    s.result.mean_rounded = 0;
    add_statistics(&s, &rstd, &rstd); /* nothing to compare with */
    same(finish().mean_ulp_max, 0.5);
    same(finish().rstd_ulp_max, 2.0);
    s.result.facts.mean = 4;
    s.result.mean_rounded = 4;
    add_statistics(&s, &wrong, NULL); /* a NaN never passes */
    same(finish().mean_ulp_max, INFINITY);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Compares every rank of lists with many equal values with sorting. */
TEST_WITH(percentiles_against_sorting, set_up, tear_down)
{
    unsigned seed = 1;
    for (size_t count = 1; count <= 40; count++) {
        double drawn[40], sorted[40];
        for (size_t i = 0; i < count; i++) {
            seed = seed * 1664525u + 1013904223u;
            drawn[i] = sorted[i] = (double)(count % 3 == 0 ? seed >> 16 : seed >> 29);
        }
        qsort(sorted, count, sizeof sorted[0], ascending);
        for (size_t k = 1; k <= count; k++) {
            sample_list list = {0};
            assert_true(samples_reserve(&list, count));
            for (size_t i = 0; i < count; i++) {
                samples_append(&list, drawn[i]);
            }
            /* any share in ((k - 1) / count, k / count] */
            same(samples_percentile(&list, ((double)k - 0.5) / (double)count), sorted[k - 1]);
            size_t other = seed % count; /* another rank of the same list, before or after it */
            same(samples_percentile(&list, ((double)other + 0.5) / (double)count), sorted[other]);
            same(samples_percentile(&list, 1), sorted[count - 1]);
            same(samples_percentile(&list, ((double)k - 0.5) / (double)count), sorted[k - 1]);
            samples_release(&list);
        }
    }
}

TEST_WITH(samples_without_memory, set_up, tear_down)
{
    sample_list list = {0};
    assert_true(samples_reserve(&list, 1));
    samples_append(&list, 3.0);
    assert_false(samples_reserve(&list, SIZE_MAX));
    assert_false(samples_reserve(&list, SIZE_MAX / sizeof(double) - 1));
    same(samples_percentile(&list, 0.5), 3.0);
    samples_release(&list);
    const float computed = 1;
    stated s;
    const double exact = 1;
    state_exact(&s, 1, &exact);
    assert_false(gather_row(gather, 0, SIZE_MAX / sizeof(double), &computed, &s.result, &plain,
                            NULL, NULL, NULL, NULL));
    assert_int_equal(finish().elements, 0);
}

/* xhat_abs 2^-20 and affine_rel 2^-22 with gamma {2, -1}, beta {0, 3}, max_xhat 1:
 * 2^-19 + 2^-22 * 2 = 1.25 * 2^-19 over ulp(2) = 2^-22: 10; 2^-20 + 2^-22 * 4 = 2^-19 over ulp(4) =
 * 2^-21: 4. The addend of 2^-148 is far below a double's last place here. */
static const ln_bound claim = {0x1p-20, 0x1p-22};
static const float claim_gamma[] = {2, -1}, claim_beta[] = {0, 3};
static const ln_convention claim_convention = {
    .eps_place = LN_EPS_VAR, .eps = 1e-5, .affine = LN_AFFINE_VECTOR};

static double row_ulp_of(ln_bound bound, const stated *s)
{
    metrics_row row = row_of(&s->result, 2, &claim_convention, claim_gamma, claim_beta);
    return ln_bound_row_ulp(&bound, &row);
}

static bool holds(ln_bound bound, const stated *s, float first, float second, double *worst)
{
    const float computed[] = {first, second};
    metrics_row row = row_of(&s->result, 2, &claim_convention, claim_gamma, claim_beta);
    return ln_bound_holds(&bound, &row, computed, worst);
}

TEST_WITH(bound_in_row_ulp, set_up, tear_down)
{
    stated s;
    const double exact[] = {1, 1};
    state_exact(&s, 2, exact);
    same(row_ulp_of(claim, &s), 10.0);
    same(row_ulp_of((ln_bound){INFINITY, 0}, &s), INFINITY);
    same(row_ulp_of((ln_bound){(double)NAN, 0}, &s), (double)NAN);
    s.rounded[0] = INFINITY; /* no finite pair there */
    same(row_ulp_of(claim, &s), 4.0);
    same(row_ulp_of((ln_bound){0, 0}, &s), 0x1p-148 / 0x1p-21);
}

static void near(double got, double wanted)
{
    if (!(fabs(got - wanted) <= 1e-5)) {
        fail_msg("got %.17g, wanted about %.17g", got, wanted);
    }
}

/* affine_rel is 2^-23, so 2^-24 of the scale s is for the last rounding, which is at most half an ulp:
 * 7/8 + 1/2 ulps if s is 7/4, 1 + 1/2 if it is just below 2. If the number that is rounded may be more
 * than an ulp above 2, its rounding is a whole ulp. */
TEST_WITH(bound_rounded_last, set_up, tear_down)
{
    stated s;
    const double exact[] = {1, 1};
    const float below_two = 0x1.fffffep0f, beta[] = {0, 0};
    float gamma[] = {1.75f, 0};
    const ln_bound twice = {0, 0x1p-23}, more = {0x1p-43, 0x1p-23}, far = {0x1p-22, 0x1p-23};
    state_exact(&s, 2, exact);
    metrics_row row = row_of(&s.result, 2, &claim_convention, gamma, beta);
    s.rounded[1] = INFINITY; /* one element */
    near(ln_bound_row_ulp(&twice, &row), 1.75);
    near(ln_bound_row_ulp_rounded_last(&twice, &row), 1.375);
    gamma[0] = below_two;
    near(ln_bound_row_ulp_rounded_last(&twice, &row), 1.5);
    near(ln_bound_row_ulp_rounded_last(&more, &row), 1.5);
    near(ln_bound_row_ulp_rounded_last(&far, &row), 6);
    near(ln_bound_row_ulp(&far, &row), 6);
    same(ln_bound_row_ulp_rounded_last(&(ln_bound){INFINITY, 0}, &row), INFINITY);
}

TEST_WITH(bound_held_against_a_row, set_up, tear_down)
{
    stated s;
    double worst = -1;
    const double exact[] = {1, 1};
    state_exact(&s, 2, exact);
    assert_true(holds(claim, &s, 1, 1, &worst));
    same(worst, 0.0);
    assert_true(holds(claim, &s, 1 + 0x1.4p-19f, 1, &worst)); /* just allowed */
    same(worst, 1.0);
    assert_false(holds(claim, &s, 1 + 0x1.5p-19f, 1, &worst));
    same(worst, 1.05);
    assert_false(holds(claim, &s, 1, 1 - 0x1.1p-19f, &worst)); /* the second's own allowance */
    assert_true(holds(claim, &s, 1, 1 - 0x1p-19f, &worst));
    assert_false(holds(claim, &s, NAN, 1, &worst));
    same(worst, INFINITY);
    assert_false(holds(claim, &s, 1, INFINITY, &worst));
    assert_true(holds((ln_bound){INFINITY, 0}, &s, NAN, 7, &worst)); /* no claim */
    same(worst, 0.0);
    assert_false(holds((ln_bound){(double)NAN, 0}, &s, 1, 1, &worst)); /* no bound at all */
    same(worst, INFINITY);
    s.rounded[0] = NAN;
    s.exact[0] = (double)NAN;
    assert_true(holds(claim, &s, NAN, 1, &worst));
    assert_false(holds(claim, &s, 1, 1, &worst));
}

/* ---- Every type against rationals ------------------------------------------------------------ */

/* The exact answers are drawn as quotients of integers, so that the right value of each metric is known without
 * rounding (except for the root in rel_l2). */

enum { TYPED_HIDDEN = 60, TYPED_ROWS = 40 };

static const struct {
    int precision, least, most;
} formats[AUDIT_TYPES] = {
    [LN_F32] = {24, -126, 127},
    [LN_F64] = {53, -1022, 1023},
    [LN_BF16] = {8, -126, 127},
    [LN_F16] = {11, -14, 15},
};

static uint64_t state_of_draws;

static uint64_t draw_bits(void)
{
    uint64_t z = state_of_draws += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static int draw_between(int least, int most)
{
    return least + (int)(draw_bits() % (uint64_t)(most - least + 1));
}

static void scale_by(mpq_t q, int exponent)
{
    if (exponent >= 0) {
        mpq_mul_2exp(q, q, (mp_bitcnt_t)exponent);
    } else {
        mpq_div_2exp(q, q, (mp_bitcnt_t)-exponent);
    }
}

static void set_power(mpq_t q, int exponent)
{
    mpq_set_ui(q, 1, 1);
    scale_by(q, exponent);
}

/* ulp(q), by the definition: the binade is found by comparison. */
static void exact_ulp(ln_type type, const mpq_t q, mpq_t ulp)
{
    mpq_t size;
    mpq_init(size);
    mpq_abs(size, q);
    int e = formats[type].least;
    for (set_power(ulp, e + 1); mpq_cmp(size, ulp) >= 0; e++) {
        mpq_mul_2exp(ulp, ulp, 1);
    }
    set_power(ulp, e - formats[type].precision + 1);
    mpq_clear(size);
}

/* The nearest double: mpq_get_d truncates. */
static double nearest_double(const mpq_t q)
{
    double inner = mpq_get_d(q), outer = nextafter(inner, copysign(INFINITY, mpq_sgn(q)));
    mpq_t a, b;
    mpq_inits(a, b, NULL);
    mpq_set_d(a, inner);
    mpq_sub(a, q, a);
    mpq_abs(a, a);
    mpq_set_d(b, outer);
    mpq_sub(b, b, q);
    mpq_abs(b, b);
    double nearest = mpq_cmp(a, b) <= 0 ? inner : outer; /* no tie is drawn */
    mpq_clears(a, b, NULL);
    return nearest;
}

/* A row: exact quotients, the reference's answers for them, and computed values. */
typedef struct drawn {
    mpq_t exact_q[TYPED_HIDDEN];
    double rounded[TYPED_HIDDEN], computed[TYPED_HIDDEN]; /* room for any type */
    double exact[TYPED_HIDDEN], rest[TYPED_HIDDEN];
    float gamma[TYPED_HIDDEN], beta[TYPED_HIDDEN];
    ln_convention convention;
    ln_reference_result answer;
    metrics_row row;
} drawn;

static void drawn_init(drawn *d)
{
    for (size_t i = 0; i < TYPED_HIDDEN; i++) {
        mpq_init(d->exact_q[i]);
    }
}

static void drawn_clear(drawn *d)
{
    for (size_t i = 0; i < TYPED_HIDDEN; i++) {
        mpq_clear(d->exact_q[i]);
    }
}

/* Draws a quotient of 70-bit integers between 2^-3 and 2^3 times 2^exponent; sometimes a number very little below a
 * power of two, whose ulp differs from that of its rounding. */
static void draw_exact(drawn *d, size_t i, int exponent)
{
    mpz_t hair;
    mpz_init(hair);
    mpz_set_ui(mpq_numref(d->exact_q[i]), draw_bits() | 1ull << 63);
    mpz_mul_2exp(mpq_numref(d->exact_q[i]), mpq_numref(d->exact_q[i]), 6);
    mpz_add_ui(mpq_numref(d->exact_q[i]), mpq_numref(d->exact_q[i]), draw_bits() % 64);
    mpz_set_ui(mpq_denref(d->exact_q[i]), draw_bits() | 1ull << 63 | 1);
    mpz_mul_2exp(mpq_denref(d->exact_q[i]), mpq_denref(d->exact_q[i]), 6);
    if (draw_bits() % 8 == 0 && exponent > -900) { /* 1 - 2^-90, which subnormal ulps would hide */
        mpz_ui_pow_ui(hair, 2, 90);
        mpz_set(mpq_denref(d->exact_q[i]), hair);
        mpz_sub_ui(mpq_numref(d->exact_q[i]), hair, 1);
    }
    mpq_canonicalize(d->exact_q[i]);
    scale_by(d->exact_q[i], exponent + draw_between(-2, 2));
    if (draw_bits() % 2 == 0) {
        mpq_neg(d->exact_q[i], d->exact_q[i]);
    }
    mpz_clear(hair);
}

/* Draws a number that is a few or many steps of the type away from the right answer. */
static void draw_computed(drawn *d, ln_type type, size_t i)
{
    uint64_t bits = audit_bits(type, d->rounded, i);
    int64_t steps = draw_between(-3, 3) * (draw_bits() % 5 == 0 ? 1 << draw_between(0, 5) : 1);
    double value = audit_value(type, bits + (uint64_t)steps);
    audit_store(type, d->computed, i, isfinite(value) ? value : audit_value(type, bits));
}

static void draw_row(drawn *d, ln_type type)
{
    /* Subnormal results too: the last binades above the smallest number are left out, so that a
     * step away is still a number of this sign. In a quarter of the rows the scale is as small. */
    int lowest = formats[type].least - formats[type].precision + 10;
    int exponent = draw_between(lowest, formats[type].most - 6);
    uint64_t kind = draw_bits() % 4;
    if (kind > 1) {
        exponent = draw_between(-4, 4);
    } else if (kind == 1) {
        exponent = draw_between(lowest, formats[type].least + 2);
    }
    mpq_t rest, ulp;
    mpq_inits(rest, ulp, NULL);
    for (size_t i = 0; i < TYPED_HIDDEN; i++) {
        draw_exact(d, i, exponent);
        d->exact[i] = nearest_double(d->exact_q[i]);
        mpq_set_d(rest, d->exact[i]);
        mpq_sub(rest, d->exact_q[i], rest);
        mpq_set_d(ulp, ln_ulp(LN_F64, d->exact[i]));
        mpq_div(rest, rest, ulp);
        d->rest[i] = nearest_double(rest);
        audit_store_nearest(type, d->rounded, i, d->exact[i]);
        draw_computed(d, type, i);
        /* Few bits, so that the scale is exact: eighths from 1 to 2, quarters from 1 to 2. */
        d->gamma[i] = 1 + (float)draw_between(0, 7) / 8;
        d->beta[i] = kind == 1 ? 0 : 1 + (float)draw_between(0, 3) / 4;
    }
    mpq_clears(rest, ulp, NULL);
    d->convention =
        (ln_convention){.eps_place = LN_EPS_VAR, .eps = 1e-5, .affine = LN_AFFINE_VECTOR};
    d->answer = (ln_reference_result){.rounded = d->rounded,
                                      .exact = d->exact,
                                      .rest = type == LN_F64 ? d->rest : NULL,
                                      .kappa = 2,
                                      .max_xhat = ldexp(1.5, kind == 1 ? exponent : 0)};
    d->row = (metrics_row){type,    LN_F32,     TYPED_HIDDEN,         &d->convention, d->gamma,
                           d->beta, &d->answer, d->convention.affine, false};
}

/* The right values of the metrics. */
typedef struct figures {
    mpq_t ulp_max, ulp_sum, ulp_signed, row_ulp_max, row_ulp_sum, err_max, exact_max;
    mpq_t err_squares, exact_squares;
    uint64_t equal, histogram[ULP_BINS];
    size_t worst_row, worst_column, elements;
} figures;

static void figures_init(figures *f)
{
    mpq_inits(f->ulp_max, f->ulp_sum, f->ulp_signed, f->row_ulp_max, f->row_ulp_sum, f->err_max,
              f->exact_max, f->err_squares, f->exact_squares, NULL);
    f->equal = 0;
    f->elements = 0;
    memset(f->histogram, 0, sizeof f->histogram);
}

static void figures_clear(figures *f)
{
    mpq_clears(f->ulp_max, f->ulp_sum, f->ulp_signed, f->row_ulp_max, f->row_ulp_sum, f->err_max,
               f->exact_max, f->err_squares, f->exact_squares, NULL);
}

static bool raise(mpq_t most, const mpq_t value)
{
    if (mpq_cmp(value, most) <= 0) {
        return false;
    }
    mpq_set(most, value);
    return true;
}

static void add_square(mpq_t sum, const mpq_t value)
{
    mpq_t square;
    mpq_init(square);
    mpq_mul(square, value, value);
    mpq_add(sum, sum, square);
    mpq_clear(square);
}

/* Returns the bin, by comparisons with the limits of bins. */
static size_t bin_of(const mpq_t ulp)
{
    mpq_t edge;
    size_t bin = 0;
    mpq_init(edge);
    for (set_power(edge, -6); bin < ULP_BINS - 1 && mpq_cmp(ulp, edge) >= 0; bin++) {
        mpq_mul_2exp(edge, edge, 1);
    }
    mpq_clear(edge);
    return bin;
}

static void figures_add(figures *f, const drawn *d, size_t number)
{
    ln_type type = d->row.storage;
    mpq_t err, size, ulp, scale;
    mpq_inits(err, size, ulp, scale, NULL);
    for (size_t i = 0; i < TYPED_HIDDEN; i++) {
        mpq_set_d(err, audit_load(type, d->computed, i));
        mpq_sub(err, err, d->exact_q[i]);
        exact_ulp(type, d->exact_q[i], ulp);
        mpq_div(size, err, ulp);
        mpq_add(f->ulp_signed, f->ulp_signed, size);
        mpq_abs(size, size);
        mpq_add(f->ulp_sum, f->ulp_sum, size);
        raise(f->ulp_max, size);
        f->histogram[bin_of(size)]++;
        mpq_abs(size, err);
        raise(f->err_max, size);
        add_square(f->err_squares, err);
        mpq_set_d(scale, (double)d->gamma[i] * d->answer.max_xhat + (double)d->beta[i]);
        exact_ulp(type, scale, ulp);
        mpq_div(size, size, ulp);
        mpq_add(f->row_ulp_sum, f->row_ulp_sum, size);
        if (raise(f->row_ulp_max, size)) {
            f->worst_row = number;
            f->worst_column = i;
        }
        mpq_abs(size, d->exact_q[i]);
        raise(f->exact_max, size);
        add_square(f->exact_squares, d->exact_q[i]);
        f->equal += audit_bits(type, d->computed, i) == audit_bits(type, d->rounded, i);
        f->elements++;
    }
    mpq_clears(err, size, ulp, scale, NULL);
}

/* |got - wanted / divisor| <= share * wanted / divisor + absolute, in rationals. */
static void near_rational(const char *what, double got, const mpq_t wanted, double divisor,
                          double share, double absolute)
{
    mpq_t difference, limit, other;
    mpq_inits(difference, limit, other, NULL);
    mpq_set_d(other, divisor);
    mpq_div(limit, wanted, other);
    mpq_set_d(difference, got);
    mpq_sub(difference, difference, limit);
    mpq_abs(difference, difference);
    mpq_abs(limit, limit);
    mpq_set_d(other, share);
    mpq_mul(limit, limit, other);
    mpq_set_d(other, absolute);
    mpq_add(limit, limit, other);
    if (mpq_cmp(difference, limit) > 0) {
        fail_msg("%s is %.17g, off by %g; %g is allowed", what, got, mpq_get_d(difference),
                 mpq_get_d(limit));
    }
    mpq_clears(difference, limit, other, NULL);
}

/* The same of a quotient. */
static void near_ratio(const char *what, double got, const mpq_t numerator, const mpq_t denominator,
                       double share, double absolute)
{
    mpq_t wanted;
    mpq_init(wanted);
    mpq_div(wanted, numerator, denominator);
    near_rational(what, got, wanted, 1, share, absolute);
    mpq_clear(wanted);
}

/* got^2 within share of numerator / denominator. */
static void near_root(const char *what, double got, const mpq_t numerator, const mpq_t denominator,
                      double share)
{
    mpq_t wanted, square;
    mpq_inits(wanted, square, NULL);
    mpq_div(wanted, numerator, denominator);
    mpq_set_d(square, got);
    mpq_mul(square, square, square);
    mpq_sub(square, square, wanted);
    mpq_div(square, square, wanted);
    if (fabs(mpq_get_d(square)) > share) {
        fail_msg("%s is %.17g, its square off by %g", what, got, mpq_get_d(square));
    }
    mpq_clears(wanted, square, NULL);
}

/* Returns the largest change of an error by the rounding of exact answers to 53 bits (f64: 106), in ulp of the
 * smallest scale, which is 2.5, or as small as the answers. */
static double open_in_row_ulp(ln_type type, const mpq_t exact_max)
{
    return (type == LN_F64 ? 0x1p-105 : 0x1p-53) * mpq_get_d(exact_max) / ln_ulp(type, 2.5) +
           (type == LN_F64 ? 0x1p-50 : 0x1p-26);
}

/* Compares the metrics with the tolerances of metrics.c: 2^-29 ulp (f64: 2^-53) and 2^-51 of the error,
 * and n 2^-53 for a sum of n. Except for f64, an answer very little below a power of two may count as that power:
 * its ulp is then twice as large, and the share of such errors is left out of the comparison. */
static void compare_figures(ln_type type, const figures *f, const ln_metrics *m)
{
    double count = (double)f->elements;
    double absolute = type == LN_F64 ? 0x1p-53 : 0x1p-29;
    double share = 0x1p-51 + count * 0x1p-53;
    double row_absolute = open_in_row_ulp(type, f->exact_max);
    near_rational("row_ulp_max", m->row_ulp_max, f->row_ulp_max, 1, share, row_absolute);
    near_rational("row_ulp_mean", m->row_ulp_mean, f->row_ulp_sum, count, share, row_absolute);
    near_ratio("norm_max", m->norm_max, f->err_max, f->exact_max, share,
               (type == LN_F64 ? 0x1p-100 : 0x1p-50));
    near_root("rel_l2", m->rel_l2, f->err_squares, f->exact_squares,
              type == LN_F64 ? 0x1p-40 : 0x1p-20);
    assert_int_equal(m->worst_row, f->worst_row);
    assert_int_equal(m->worst_column, f->worst_column);
    assert_true(m->correctly_rounded == (double)f->equal / count);
    near_rational("ulp_max", m->ulp_max, f->ulp_max, 1, share, absolute);
    near_rational("ulp_mean", m->ulp_mean, f->ulp_sum, count, share, absolute);
    near_rational("ulp_bias", m->ulp_bias, f->ulp_signed, count, 0,
                  absolute + share * mpq_get_d(f->ulp_sum) / count);
    for (size_t bin = 0; bin < ULP_BINS; bin++) {
        assert_int_equal(m->ulp_histogram[bin], f->histogram[bin]);
    }
}

/* Returns whether a real number is within 2^-54 of a power of two. Except for f64 it counts as that power in the
 * metrics, so that such numbers are drawn only for f64. */
static bool is_hair(const mpq_t q, double exact)
{
    int exponent;
    return fabs(frexp(exact, &exponent)) == 0.5 && mpz_sizeinbase(mpq_numref(q), 2) > 80;
}

static void without_hairs(drawn *d, ln_type type)
{
    for (size_t i = 0; type != LN_F64 && i < TYPED_HIDDEN; i++) {
        if (is_hair(d->exact_q[i], d->exact[i])) {
            mpq_set_d(d->exact_q[i], d->exact[i]);
        }
    }
}

TEST(figures_against_rationals)
{
    for (int type = 0; type < AUDIT_TYPES; type++) {
        metrics_gather *typed = metrics_gather_create();
        figures wanted;
        drawn d;
        ln_metrics metrics;
        assert_non_null(typed);
        state_of_draws = 7 + (uint64_t)type;
        figures_init(&wanted);
        drawn_init(&d);
        for (size_t row = 0; row < TYPED_ROWS; row++) {
            metrics_of_row of_row;
            figures alone;
            draw_row(&d, (ln_type)type);
            without_hairs(&d, (ln_type)type);
            figures_init(&alone);
            figures_add(&wanted, &d, row);
            figures_add(&alone, &d, row);
            assert_true(metrics_gather_row(typed, &d.row, row, d.computed, NULL, NULL, &of_row));
            near_rational("a row's row_ulp_max", of_row.row_ulp_max, alone.row_ulp_max, 1, 0x1p-50,
                          open_in_row_ulp((ln_type)type, alone.exact_max));
            near_ratio("a row's norm_max", of_row.norm_max, alone.err_max, alone.exact_max, 0x1p-50,
                       type == LN_F64 ? 0x1p-100 : 0x1p-50);
            assert_int_equal(of_row.mismatches, 0);
            figures_clear(&alone);
        }
        metrics_gather_finish(typed, &metrics);
        compare_figures((ln_type)type, &wanted, &metrics);
        drawn_clear(&d);
        figures_clear(&wanted);
        metrics_gather_destroy(typed);
    }
}

/* Errors below half an ulp of f64 are those of the real number, not of its rounding. */
static ln_metrics metrics_of_three(double computed[3], double exact[3], double rest[3])
{
    ln_reference_result answer = {
        .rounded = computed, .exact = exact, .rest = rest, .kappa = 1, .max_xhat = 1};
    metrics_row row = {LN_F64, LN_F64, 3, &plain, NULL, NULL, &answer, LN_AFFINE_NONE, false};
    metrics_gather *typed = metrics_gather_create();
    ln_metrics m;
    assert_non_null(typed);
    assert_true(metrics_gather_row(typed, &row, 0, computed, NULL, NULL, NULL));
    metrics_gather_finish(typed, &m);
    metrics_gather_destroy(typed);
    return m;
}

TEST(halves_of_an_ulp_of_f64)
{
    double ones[] = {1, 1, 1};
    double rest[] = {0.25, 0.375, -0.125}; /* the ulp below 1 is half of that above */
    ln_metrics m = metrics_of_three(ones, ones, rest);
    assert_true(m.ulp_max == 0.375);
    assert_true(m.ulp_mean == (0.25 + 0.375 + 0.25) / 3);
    assert_true(m.correctly_rounded == 1);
    m = metrics_of_three(ones, ones, NULL); /* only where the rest is not known are they exact */
    assert_true(m.ulp_max == 0);
    double least[] = {0, 0, 0x1p-1074}, parts[] = {0, 0.5, -0.25}; /* 0, 2^-1075, 3 2^-1076 */
    m = metrics_of_three(least, least, parts);
    assert_true(m.exact_zeros == 1);
    assert_true(m.ulp_max == 0.5);
    assert_true(m.ulp_bias == -0.125);
    assert_true(m.norm_max == 0.5 / 0.75);
}

TEST(ulp_of_every_type)
{
    for (int type = 0; type < AUDIT_TYPES; type++) {
        int p = formats[type].precision, least = formats[type].least;
        for (int e = least - p - 3; e <= formats[type].most; e++) {
            double wanted = ldexp(1.0, (e > least ? e : least) - p + 1);
            if (e < -1074) {
                continue;
            }
            assert_true(ln_ulp((ln_type)type, ldexp(1.0, e)) == wanted);
            assert_true(ln_ulp((ln_type)type, -ldexp(1.0, e)) == wanted);
            if (e >= least && type != LN_F64) {
                assert_true(ln_ulp((ln_type)type, nextafter(ldexp(2.0, e), 0)) == wanted);
            }
        }
        assert_true(ln_ulp((ln_type)type, 0) == ldexp(1.0, least - p + 1));
        assert_true(isinf(ln_ulp((ln_type)type, -INFINITY)));
        assert_true(isnan(ln_ulp((ln_type)type, (double)NAN)));
    }
}

TEST(bins_of_the_histogram)
{
    assert_int_equal(ulp_bin(0), 0);
    assert_int_equal(ulp_bin(nextafter(0x1p-6, 0)), 0);
    assert_int_equal(ulp_bin(0x1p-6), 1);
    assert_int_equal(ulp_bin(0.5), 6);
    assert_int_equal(ulp_bin(nextafter(0.5, 0)), 5);
    assert_int_equal(ulp_bin(0x1p24), ULP_BINS - 1);
    assert_int_equal(ulp_bin(INFINITY), ULP_BINS - 1);
}

/* ln_bound_holds() agrees with a comparison in rationals for each element. */
TEST(bounds_against_rationals)
{
    size_t held = 0, broken = 0;
    drawn d;
    drawn_init(&d);
    for (int type = 0; type < AUDIT_TYPES; type++) {
        double smallest = ldexp(1.0, formats[type].least - formats[type].precision + 1);
        state_of_draws = 99 + (uint64_t)type;
        for (int row = 0; row < 200; row++) {
            mpq_t err, allowed, part, gap;
            mpq_inits(err, allowed, part, gap, NULL);
            draw_row(&d, (ln_type)type);
            /* As many ulps of the first result as errors have, so that about half hold. */
            double unit = ln_ulp((ln_type)type, d.exact[0]) * draw_between(1, 60);
            ln_bound bound = {unit, unit / 64};
            bool holds = true, close = false;
            for (size_t i = 0; i < TYPED_HIDDEN; i++) {
                mpq_set_d(err, audit_load((ln_type)type, d.computed, i));
                mpq_sub(err, err, d.exact_q[i]);
                mpq_abs(err, err);
                mpq_set_d(allowed, bound.xhat_abs);
                mpq_set_d(part, (double)d.gamma[i]);
                mpq_mul(allowed, allowed, part);
                mpq_set_d(part, bound.affine_rel);
                mpq_set_d(gap, (double)d.gamma[i] * d.answer.max_xhat + (double)d.beta[i]);
                mpq_mul(part, part, gap);
                mpq_add(allowed, allowed, part);
                mpq_set_d(part, 2 * smallest);
                mpq_add(allowed, allowed, part);
                holds = holds && mpq_cmp(err, allowed) <= 0;
                mpq_sub(gap, err, allowed);
                close = close || fabs(mpq_get_d(gap)) <= 0x1p-40 * mpq_get_d(allowed);
            }
            double worst;
            if (!close) {
                assert_int_equal(ln_bound_holds(&bound, &d.row, d.computed, &worst), holds);
                assert_int_equal(worst <= 1, holds);
                held += holds;
                broken += !holds;
            }
            mpq_clears(err, allowed, part, gap, NULL);
        }
    }
    assert_true(held > 100 && broken > 100); /* both happen often */
    drawn_clear(&d);
}

/* f16 rounds to infinity from 65520 on. Near that a bound leaves both open, elsewhere not. */
TEST(bounds_at_the_end_of_the_range)
{
    const uint16_t infinite = 0x7c00, largest = 0x7bff, one = 0x3c00, minus = 0xfc00, nan = 0x7e00;
    double exact = 65519, worst;
    ln_reference_result answer = {
        .rounded = (void *)(uintptr_t)&largest, .exact = &exact, .kappa = 1, .max_xhat = 65519};
    metrics_row row = {LN_F16, LN_F16, 1, &plain, NULL, NULL, &answer, LN_AFFINE_NONE, false};
    ln_bound bound = {16, 0};
    assert_true(ln_bound_holds(&bound, &row, &largest, &worst));
    assert_true(ln_bound_holds(&bound, &row, &infinite, &worst));
    assert_false(ln_bound_holds(&bound, &row, &minus, &worst));
    assert_false(ln_bound_holds(&bound, &row, &nan, &worst));
    bound.xhat_abs = 0.5;
    assert_false(ln_bound_holds(&bound, &row, &infinite, &worst));
    exact = 65521;
    answer.rounded = (void *)(uintptr_t)&infinite;
    assert_true(ln_bound_holds(&bound, &row, &infinite, &worst));
    assert_false(ln_bound_holds(&bound, &row, &largest, &worst)); /* 17 off */
    bound.xhat_abs = 17;
    assert_true(ln_bound_holds(&bound, &row, &largest, &worst));
    assert_false(ln_bound_holds(&bound, &row, &one, &worst));
    assert_true(isinf(worst));
}

/* gamma xhat = 2.25 2^127 is beyond f32, beta brings it back: infinite is right, finite too,
 * and the wrong sign is not. A product within the range is no excuse. */
TEST(products_beyond_the_end_of_the_range)
{
    const float infinite = INFINITY, minus = -INFINITY, finite = 0x1.4p+127f, gamma = 0x1.2p+127f,
                beta = -0x1p+127f, small = -0x1p+100f;
    ln_convention affine = {.eps_place = LN_EPS_VAR, .eps = 1e-5, .affine = LN_AFFINE_VECTOR};
    double exact = 0x1.4p+127, worst;
    ln_reference_result answer = {
        .rounded = (void *)(uintptr_t)&finite, .exact = &exact, .kappa = 1, .max_xhat = 2};
    metrics_row row = {LN_F32, LN_F32, 1, &affine, &gamma, &beta, &answer, affine.affine, false};
    ln_bound bound = {0x1p-20, 0x1p-20};
    assert_true(ln_bound_holds(&bound, &row, &infinite, &worst));
    assert_true(ln_bound_holds(&bound, &row, &finite, &worst));
    assert_false(ln_bound_holds(&bound, &row, &minus, &worst));
    row.beta = &small;
    assert_false(ln_bound_holds(&bound, &row, &infinite, &worst));
}
