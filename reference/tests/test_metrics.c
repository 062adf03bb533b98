/* The metrics against figures worked out by hand: reference results are written down here, not
 * computed. */
#include "../../kernels/tests/test_list.h"
#include "metrics/metrics.h"
#include "metrics/samples.h"

#include <float.h>
#include <math.h>

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

/* A reference result of these exact values, with max_xhat 1. */
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

/* An exact value beyond f32 is an infinity, though the double that states it is finite. */
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

/* Every rank of lists with many equal values, each from the list as it was, against sorting. */
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
            size_t other = seed % count; /* and another one of the same list, before it or behind */
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

/* affine_rel 2^-23, so 2^-24 of the scale s is for the last rounding, which is half an ulp at most:
 * 7/8 + 1/2 ulps where s is 7/4, 1 + 1/2 where it is just below 2. Where what is rounded may lie more
 * than an ulp past 2, that is a whole one. */
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
