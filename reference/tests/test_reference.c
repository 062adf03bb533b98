/* Known answers: rows whose results follow by hand from the formulas in layernorm.h, in f32 and in every type. */
#include "../../kernels/tests/test_list.h"
#include "audit.h"
#include "certify/reference.h"
#include "certify/rms_row.h"
#include "metrics/storage.h"

#include <float.h>
#include <math.h>

/* ---- f32 ------------------------------------------------------------------------------------- */

/* Known answers: rows whose results follow by hand from the formulas in layernorm.h. */

/* The workspace of all tests. */
static ln_reference *reference;

static inline int set_up(void **state)
{
    (void)state;
    reference = ln_reference_create();
    return reference == NULL;
}

static inline int tear_down(void **state)
{
    (void)state;
    ln_reference_destroy(reference);
    return 0;
}

/* To the bit. */
static inline void same(double got, double wanted)
{
    if (memcmp(&got, &wanted, sizeof got) != 0) {
        fail_msg("got %a, wanted %a", got, wanted);
    }
}

enum { MOST = 8 };

/* The answers of one row, with room for its arrays. */
typedef struct answers {
    float rounded[MOST];
    double exact[MOST];
    ln_reference_result result;
} answers;

static answers ask(ln_convention convention, size_t hidden, const float *x, const float *residual,
                   const float *gamma, const float *beta)
{
    answers a;
    memset(&a, 0x55, sizeof a);
    ln_reference_result result = {.rounded = a.rounded, .exact = a.exact};
    assert_true(ln_reference_row(reference, &convention, LN_F32, LN_F32, hidden, x, residual, gamma,
                                 beta, &result));
    a.result = result;
    return a;
}

static void same_float(float got, float wanted)
{
    if (memcmp(&got, &wanted, sizeof got) != 0) {
        fail_msg("got %a, wanted %a", (double)got, (double)wanted);
    }
}

static void same_element(const answers *a, size_t i, float rounded, double exact)
{
    same_float(a->rounded[i], rounded);
    same(a->exact[i], exact);
}

static void all_nan(const answers *a, size_t hidden)
{
    for (size_t i = 0; i < hidden; i++) {
        assert_true(isnan(a->rounded[i]));
        assert_true(isnan(a->exact[i]));
    }
    assert_true(isnan(a->result.facts.rstd));
    assert_true(isnan(a->result.rstd_rounded));
    assert_true(isnan(a->result.max_xhat));
}

static const float one_apart[] = {-1, 1}; /* mean 0, var 1: xhat is -1 and 1 without eps */

/* mean 3, deviations -2 -1 0 1 2, var 2 (ddof 0) and 2.5 (ddof 1). */
TEST(irrational_results)
{
    const float x[] = {1, 2, 3, 4, 5};
    const double root_2 = 0x1.6a09e667f3bcdp+0; /* 1.41421356237309504880... to 53 bits */
    answers a = ask((ln_convention){.eps_place = LN_EPS_NONE}, 5, x, NULL, NULL, NULL);
    same_element(&a, 0, -0x1.6a09e6p+0f, -root_2);
    same_element(&a, 1, -0x1.6a09e6p-1f, -root_2 / 2);
    same_element(&a, 2, 0.0f, 0.0);
    same_element(&a, 3, 0x1.6a09e6p-1f, root_2 / 2);
    same_element(&a, 4, 0x1.6a09e6p+0f, root_2);
    same(a.result.facts.rstd, root_2 / 2);
    same_float(a.result.rstd_rounded, 0x1.6a09e6p-1f);
    same(a.result.max_xhat, root_2);

    /* ddof 1 of two elements: var 2, xhat 1 / sqrt(2) */
    a = ask((ln_convention){.ddof = 1}, 2, one_apart, NULL, NULL, NULL);
    same_element(&a, 1, 0x1.6a09e6p-1f, root_2 / 2);
    same(a.result.facts.var, 1.0); /* biased, whatever ddof */
}

TEST(eps_in_its_places)
{
    const float x[] = {-3, 3}; /* var 9 (ddof 0) and 18 (ddof 1) */
    answers a = ask((ln_convention){.eps_place = LN_EPS_VAR, .eps = 16}, 2, x, NULL, NULL, NULL);
    same_element(&a, 1, 0.6f, 0.6); /* 3 / sqrt(9 + 16) */
    same(a.result.facts.rstd, 0.2);
    a = ask((ln_convention){.ddof = 1, .eps_place = LN_EPS_VAR, .eps = 7}, 2, x, NULL, NULL, NULL);
    same_element(&a, 0, -0.6f, -0.6); /* 3 / sqrt(18 + 7) */
    a = ask((ln_convention){.eps_place = LN_EPS_STD, .eps = 1}, 2, x, NULL, NULL, NULL);
    same_element(&a, 1, 0.75f, 0.75); /* 3 / (3 + 1) */
    same_float(a.result.rstd_rounded, 0.25f);
    a = ask((ln_convention){.eps_place = LN_EPS_QUOTIENT, .eps = 0.25}, 2, x, NULL, NULL, NULL);
    same_element(&a, 0, -0.75f, -0.75); /* -3 / 3 + 0.25 */
    same_element(&a, 1, 1.25f, 1.25);
    same(a.result.max_xhat, 1.25);                               /* with eps */
    same(a.result.facts.rstd, 0.333333333333333314829616256247); /* 1 / 3, without it */
    a = ask((ln_convention){.eps = 16}, 2, x, NULL, NULL, NULL);
    same_element(&a, 1, 1.0f, 1.0); /* eps without a place is none */
}

TEST(affine_forms)
{
    const float gamma[] = {2, 3}, beta[] = {0.5f, -8};
    ln_convention c = {.affine = LN_AFFINE_SCALAR};
    answers a = ask(c, 2, one_apart, NULL, gamma, beta);
    same_element(&a, 0, -1.5f, -1.5);
    same_element(&a, 1, 2.5f, 2.5);
    c.affine = LN_AFFINE_GAMMA;
    a = ask(c, 2, one_apart, NULL, gamma, NULL);
    same_element(&a, 0, -2.0f, -2.0);
    same_element(&a, 1, 3.0f, 3.0);
    c.affine = LN_AFFINE_VECTOR;
    a = ask(c, 2, one_apart, NULL, gamma, beta);
    same_element(&a, 0, -1.5f, -1.5);
    same_element(&a, 1, -5.0f, -5.0);
    c.affine = LN_AFFINE_GAMMA1;
    a = ask(c, 2, one_apart, NULL, gamma, beta);
    same_element(&a, 0, -2.5f, -2.5);
    same_element(&a, 1, -4.0f, -4.0);
    const float tiny[] = {0x1p-149f, 0x1p-149f}, ones[] = {1, -1};
    a = ask(c, 2, one_apart, NULL, tiny, ones); /* -+(1 + 2^-149) +- 1: 1 + g is exact */
    same_element(&a, 0, -0x1p-149f, -0x1p-149);
    same_element(&a, 1, 0x1p-149f, 0x1p-149);
}

TEST(cancellation_and_size)
{
    const ln_convention c = {.eps_place = LN_EPS_NONE};
    const float near[] = {16777216, 16777218, 16777218, 16777216};
    answers a = ask(c, 4, near, NULL, NULL, NULL);
    same_element(&a, 0, -1.0f, -1.0);
    same_element(&a, 1, 1.0f, 1.0);
    same(a.result.facts.mean, 16777217.0);
    same_float(a.result.mean_rounded, 16777216.0f); /* a tie, to even */
    const float large[] = {FLT_MAX, -FLT_MAX, FLT_MAX, -FLT_MAX};
    a = ask(c, 4, large, NULL, NULL, NULL);
    same_element(&a, 0, 1.0f, 1.0);
    const float wide[] = {0x1p127f, -0x1p127f, 0x1p-149f,
                          -0x1p-149f}; /* var a little above 2^253 */
    a = ask(c, 4, wide, NULL, NULL, NULL);
    same_element(&a, 0, 0x1.6a09e6p+0f, 0x1.6a09e667f3bcdp+0);
    same_element(&a, 2, 0.0f, 0x1.6a09e667f3bcdp-276); /* 2^-149 / 2^126.5 */
    /* mean m + 2^-151, var a little above m^2 / 2: 4 m - sum(x) is minus the smallest float */
    const float m = 0x1p100f;
    const float left_over[] = {m, 2 * m, m, 0x1p-149f};
    a = ask(c, 4, left_over, NULL, NULL, NULL);
    same_element(&a, 0, -0.0f, -0x1.6a09e667f3bcdp-251);
    const float small[] = {0x1p-149f, -0x1p-149f};
    a = ask(c, 2, small, NULL, NULL, NULL);
    same_element(&a, 1, -1.0f, -1.0);
    same(a.result.facts.rstd, 0x1p149);
    same_float(a.result.rstd_rounded, INFINITY);
}

/* Means whose first 64 bits are a tie, and which are very little above or below it. */
TEST(means_near_ties)
{
    const ln_convention c = {.eps_place = LN_EPS_VAR, .eps = 1};
    const float hair = 0x1p-149f, even = 1.0f, odd = 1 + 0x1p-23f;
    for (int sign = -1; sign <= 1; sign += 2) {
        const float s = (float)sign;
        const float above[] = {s * 4, s * 0x1p-22f, s * hair, 0};
        const float below[] = {s * 4, s * 0x1p-22f, -s * hair, 0};
        const float at[] = {s * 4, s * 0x1p-22f, 0, 0};
        same_float(ask(c, 4, above, NULL, NULL, NULL).result.mean_rounded, s * odd);
        same_float(ask(c, 4, below, NULL, NULL, NULL).result.mean_rounded, s * even);
        same_float(ask(c, 4, at, NULL, NULL, NULL).result.mean_rounded, s * even);
        const float double_above[] = {s * 4, s * 0x1p-51f, s * hair, 0}; /* 1 + 2^-53 */
        same(ask(c, 4, double_above, NULL, NULL, NULL).result.facts.mean,
             (double)s * (1 + 0x1p-52));
    }
}

TEST(ties_and_near_ties)
{
    ln_convention c = {.affine = LN_AFFINE_VECTOR};
    const float gamma[] = {1, 1 + 0x1p-23f}, beta[] = {-0x1p-24f, 0x1p-24f};
    ln_reference_counts before = ln_reference_count(reference);
    answers a = ask(c, 2, one_apart, NULL, gamma, beta);
    same_element(&a, 0, -1.0f, -1 - 0x1p-24);           /* down to even */
    same_element(&a, 1, 1 + 0x1p-22f, 1 + 3 * 0x1p-24); /* up to even */
    ln_reference_counts after = ln_reference_count(reference);
    assert_int_equal(after.exact - before.exact, 2);
    assert_int_equal(after.elements - before.elements, 2);

    c.eps_place = LN_EPS_VAR; /* xhat = 1 / sqrt(1 + 2^-290): just below the tie */
    c.eps = 0x1p-290;
    a = ask(c, 2, one_apart, NULL, gamma, beta);
    same_element(&a, 1, 1 + 0x1p-23f, 1 + 3 * 0x1p-24);
    assert_int_equal(ln_reference_count(reference).raised - after.raised, 2);
    const float ones[] = {1, 1}, minus_ones[] = {-1, -1};
    a = ask(c, 2, one_apart, NULL, ones, minus_ones); /* (1 + e)^(-1/2) - 1 = -e / 2 + 3 e^2 / 8 */
    same_element(&a, 1, -0.0f, -0x1p-291);
    const float halves[] = {0x1p-53f, 0x1p-53f};
    c.eps_place = LN_EPS_NONE;
    a = ask(c, 2, one_apart, NULL, ones, halves); /* 1 + 2^-53: a tie of doubles */
    same_element(&a, 1, 1.0f, 1.0);
    same_element(&a, 0, -1.0f, -1 + 0x1p-53);
}

/* 3 xhat -+ 3 = 0 for xhat = +-1 of every even length: factors 1 / N that no precision holds, so
 * that an enclosure narrower than its error misses the zero. */
TEST(zeros_of_every_length)
{
    enum { LONGEST = 400 };
    static float x[LONGEST], beta[LONGEST], gamma[LONGEST], rounded[LONGEST];
    static double exact[LONGEST];
    const ln_convention c = {.affine = LN_AFFINE_VECTOR};
    ln_reference_result result = {.rounded = rounded, .exact = exact};
    for (size_t i = 0; i < LONGEST; i++) {
        x[i] = i % 2 == 0 ? 1 : -1;
        gamma[i] = 3;
        beta[i] = -3 * x[i];
    }
    for (size_t hidden = 2; hidden <= LONGEST; hidden += 2) {
        assert_true(
            ln_reference_row(reference, &c, LN_F32, LN_F32, hidden, x, NULL, gamma, beta, &result));
        for (size_t i = 0; i < 2; i++) {
            same_float(rounded[i], 0.0f);
            same(exact[i], 0.0);
        }
    }
}

TEST(subnormal_results)
{
    const ln_convention c = {
        .eps_place = LN_EPS_STD, .eps = 1, .affine = LN_AFFINE_GAMMA}; /* xhat -0.5 and 0.5 */
    const float least[] = {0x1p-149f, 0x1p-149f}, three[] = {3 * 0x1p-149f, 3 * 0x1p-149f};
    answers a = ask(c, 2, one_apart, NULL, least, NULL);
    same_element(&a, 0, -0.0f, -0x1p-150); /* a tie, to even, which keeps its sign */
    same_element(&a, 1, 0.0f, 0x1p-150);
    a = ask(c, 2, one_apart, NULL, three, NULL);
    same_element(&a, 1, 2 * 0x1p-149f, 1.5 * 0x1p-149);
    /* 6 times 3 and 10 times 1, of either sign: var 4, so xhat of 3 is 1.5, very little reduced by eps.
     * Then 1.5 * 2^-149 is no tie: double alone cannot see that. */
    float x[16], gamma[16], rounded[16];
    double exact[16];
    for (size_t i = 0; i < 16; i++) {
        x[i] = (i < 6 ? 3.0f : 1.0f) * (i % 2 == 0 ? -1.0f : 1.0f);
        gamma[i] = 0x1p-149f;
    }
    ln_reference_result result = {.rounded = rounded, .exact = exact};
    const ln_convention hair = {
        .eps_place = LN_EPS_VAR, .eps = 0x1p-290, .affine = LN_AFFINE_GAMMA};
    assert_true(
        ln_reference_row(reference, &hair, LN_F32, LN_F32, 16, x, NULL, gamma, NULL, &result));
    same(exact[1], 1.5 * 0x1p-149);
    same_float(rounded[1], 0x1p-149f);
    same_float(rounded[0], -0x1p-149f);
    const float half[] = {0x1p-149f, 0}, one_and_half[] = {3 * 0x1p-149f, 0};
    same_float(ask(c, 2, half, NULL, least, NULL).result.mean_rounded, 0.0f);
    same_float(ask(c, 2, one_and_half, NULL, least, NULL).result.mean_rounded, 2 * 0x1p-149f);
}

TEST(overflow_to_infinity)
{
    const ln_convention c = {.affine = LN_AFFINE_VECTOR};
    const float gamma[] = {FLT_MAX, FLT_MAX};
    const float at[] = {-0x1p103f, 0x1p103f}; /* half an ulp: a tie, to even, which is 2^128 */
    answers a = ask(c, 2, one_apart, NULL, gamma, at);
    same_element(&a, 0, -INFINITY, -(double)FLT_MAX - 0x1p103);
    same_element(&a, 1, INFINITY, (double)FLT_MAX + 0x1p103);
    const float under[] = {-0x1.fffffep102f, 0x1.fffffep102f};
    a = ask(c, 2, one_apart, NULL, gamma, under);
    same_element(&a, 0, -FLT_MAX, -(double)FLT_MAX - 0x1.fffffep102);
    same_element(&a, 1, FLT_MAX, (double)FLT_MAX + 0x1.fffffep102);
}

TEST(facts_of_a_row)
{
    const float x[] = {6, -2, 3, 5}; /* mean 3, deviations 3 -5 0 2, squares 74, var 38 / 4 */
    answers a = ask((ln_convention){.eps_place = LN_EPS_NONE}, 4, x, NULL, NULL, NULL);
    const ln_row_facts *facts = &a.result.facts;
    same(facts->mean, 3.0);
    same(facts->mean_abs, 4.0);
    same(facts->max_abs, 6.0);
    same(facts->var, 9.5);
    same(facts->max_dev, 5.0);
    same_float(a.result.mean_rounded, 3.0f);
    same(a.result.kappa, sqrt(74.0 / 38.0)); /* within an ulp: this one agrees */
    const float thirds[] = {1, 1, 2};
    a = ask((ln_convention){.eps_place = LN_EPS_NONE}, 3, thirds, NULL, NULL, NULL);
    same(a.result.facts.mean, 4.0 / 3.0);
    same_float(a.result.mean_rounded, 4.0f / 3.0f);
    same(a.result.facts.var, 2.0 / 9.0);
    same(a.result.facts.max_dev, 2.0 / 3.0);
}

TEST(not_finite_input)
{
    const ln_convention c = {.eps_place = LN_EPS_VAR, .eps = 1e-5};
    const float bad[] = {NAN, INFINITY, -INFINITY};
    for (size_t k = 0; k < 3; k++) {
        const float x[] = {1, 2, bad[k]};
        answers a = ask(c, 3, x, NULL, NULL, NULL);
        all_nan(&a, 3);
        assert_true(isnan(a.result.kappa));
        assert_true(isnan(a.result.facts.mean));
        assert_true(isnan(a.result.facts.mean_abs));
        assert_true(isnan(a.result.facts.max_abs));
        assert_true(isnan(a.result.facts.var));
        assert_true(isnan(a.result.facts.max_dev));
        assert_true(isnan(a.result.mean_rounded));
    }
}

TEST(residual_is_rounded_first)
{
    const ln_convention c = {.eps_place = LN_EPS_NONE};
    const float x[] = {1, 1}, residual[] = {0x1p-24f, 0x1p-23f}; /* 1 (tie) and 1 + 2^-23 */
    answers a = ask(c, 2, x, residual, NULL, NULL);
    same(a.result.facts.mean, 1 + 0x1p-24);
    same_element(&a, 1, 1.0f, 1.0);
    const float large[] = {FLT_MAX, 1};
    a = ask(c, 2, large, large, NULL, NULL); /* the sum overflows */
    all_nan(&a, 2);
    const float back[] = {-FLT_MAX, 1};
    a = ask(c, 2, large, back, NULL, NULL);
    same_element(&a, 0, -1.0f, -1.0);
}

TEST(undefined_rows)
{
    const float x[] = {5, 5, 5};
    for (int place = LN_EPS_NONE; place <= LN_EPS_QUOTIENT; place++) {
        ln_convention c = {.eps_place = (ln_eps_place)place};
        answers a = ask(c, 3, x, NULL, NULL, NULL); /* 0 / 0 */
        all_nan(&a, 3);
        same(a.result.facts.mean, 5.0);
        same(a.result.facts.var, 0.0);
        assert_true(isinf(a.result.kappa));
        c.ddof = 1; /* and N = 1: undefined whatever eps is */
        c.eps = 1;
        a = ask(c, 1, x, NULL, NULL, NULL);
        all_nan(&a, 1);
        c.eps = (double)NAN;
        c.ddof = 0;
        a = ask(c, 2, one_apart, NULL, NULL, NULL);
        assert_true(place == LN_EPS_NONE || isnan(a.rounded[0]));
        c.eps = INFINITY;
        a = ask(c, 2, one_apart, NULL, NULL, NULL);
        assert_true(place == LN_EPS_NONE || isnan(a.rounded[0]));
    }
    answers a =
        ask((ln_convention){.eps_place = LN_EPS_QUOTIENT, .eps = 1}, 3, x, NULL, NULL, NULL);
    all_nan(&a, 3); /* eps on the quotient does not help 0 / 0 */
}

TEST(negative_eps)
{
    const float x[] = {-5, 5}; /* var 25 */
    answers a = ask((ln_convention){.eps_place = LN_EPS_VAR, .eps = -9}, 2, x, NULL, NULL, NULL);
    same_element(&a, 1, 1.25f, 1.25); /* 5 / sqrt(16) */
    a = ask((ln_convention){.eps_place = LN_EPS_VAR, .eps = -25}, 2, x, NULL, NULL, NULL);
    all_nan(&a, 2);
    a = ask((ln_convention){.eps_place = LN_EPS_VAR, .eps = -26}, 2, x, NULL, NULL, NULL);
    all_nan(&a, 2);
    a = ask((ln_convention){.eps_place = LN_EPS_STD, .eps = -1}, 2, x, NULL, NULL, NULL);
    all_nan(&a, 2);
    a = ask((ln_convention){.eps_place = LN_EPS_QUOTIENT, .eps = -3}, 2, x, NULL, NULL, NULL);
    same_element(&a, 0, -4.0f, -4.0);
    same(a.result.max_xhat, 4.0);
}

TEST(constant_rows_with_eps)
{
    const float x[] = {5, 5, 5}, gamma[] = {-1, 2, 3}, beta[] = {-0.0f, 7, -0x1p-149f};
    const ln_eps_place places[] = {LN_EPS_VAR, LN_EPS_STD};
    for (size_t k = 0; k < 2; k++) {
        ln_convention c = {.eps_place = places[k], .eps = 0x1p-10, .affine = LN_AFFINE_VECTOR};
        answers a = ask(c, 3, x, NULL, gamma, beta);
        same_element(&a, 0, 0.0f, 0.0); /* an exact zero is +0 */
        same_element(&a, 1, 7.0f, 7.0);
        same_element(&a, 2, -0x1p-149f, -0x1p-149);
        same(a.result.facts.rstd, k == 0 ? 0x1p5 : 0x1p10);
        same(a.result.max_xhat, 0.0);
    }
    answers a = ask((ln_convention){.eps_place = LN_EPS_VAR, .eps = 1}, 1, x, NULL, NULL, NULL);
    same_element(&a, 0, 0.0f, 0.0);
}

TEST(parameters_that_are_not_finite)
{
    const float x[] = {-1, 0, 1, -1, 0, 1, 0};
    const float gamma[] = {INFINITY, INFINITY, -INFINITY, NAN, 1, INFINITY, 1};
    const float beta[] = {0, 0, 0, 0, NAN, -INFINITY, INFINITY};
    const ln_affine forms[] = {LN_AFFINE_VECTOR, LN_AFFINE_GAMMA1};
    for (size_t k = 0; k < 2; k++) {
        answers a = ask((ln_convention){.eps_place = LN_EPS_VAR, .eps = 1e-5, .affine = forms[k]},
                        7, x, NULL, gamma, beta);
        same_element(&a, 0, -INFINITY, -INFINITY);
        assert_true(isnan(a.rounded[1]) && isnan(a.exact[1])); /* inf * 0 */
        same_element(&a, 2, -INFINITY, -INFINITY);
        assert_true(isnan(a.rounded[3]) && isnan(a.exact[3]));
        assert_true(isnan(a.rounded[4]) && isnan(a.exact[4]));
        assert_true(isnan(a.rounded[5]) && isnan(a.exact[5])); /* inf - inf */
        same_element(&a, 6, INFINITY, INFINITY);
        assert_true(isfinite(a.result.max_xhat));
    }
    /* xhat = -1 + eps and 1 + eps: its sign is not that of the deviation */
    const float infinite[] = {INFINITY, INFINITY};
    const double eps[] = {0.5, 1, 2};
    const float first[] = {-INFINITY, NAN, INFINITY};
    for (size_t k = 0; k < 3; k++) {
        const ln_convention c = {
            .eps_place = LN_EPS_QUOTIENT, .eps = eps[k], .affine = LN_AFFINE_GAMMA};
        answers a = ask(c, 2, one_apart, NULL, infinite, NULL);
        assert_true(isnan(first[k]) ? isnan(a.rounded[0]) : a.rounded[0] == first[k]);
        same_element(&a, 1, INFINITY, INFINITY);
    }
}

TEST(refuses_what_is_missing)
{
    float rounded[2];
    double exact[2];
    ln_reference_result result = {.rounded = rounded, .exact = exact};
    ln_convention c = {.eps_place = LN_EPS_VAR, .eps = 1e-5, .affine = LN_AFFINE_VECTOR};
    assert_false(ln_reference_row(reference, &c, LN_F32, LN_F32, 0, one_apart, NULL, one_apart,
                                  one_apart, &result));
    assert_false(ln_reference_row(reference, &c, LN_F32, LN_F32, 2, NULL, NULL, one_apart,
                                  one_apart, &result));
    assert_false(ln_reference_row(reference, &c, LN_F32, LN_F32, 2, one_apart, NULL, NULL,
                                  one_apart, &result));
    assert_false(ln_reference_row(reference, &c, LN_F32, LN_F32, 2, one_apart, NULL, one_apart,
                                  NULL, &result));
    assert_false(ln_reference_row(reference, &c, LN_F32, LN_F32, SIZE_MAX, one_apart, one_apart,
                                  one_apart, one_apart, &result)); /* no room for the sums */
    c.affine = LN_AFFINE_NONE;
    assert_true(
        ln_reference_row(reference, &c, LN_F32, LN_F32, 2, one_apart, NULL, NULL, NULL, &result));
}

/* Sums beyond one block: 2^17 elements, all FLT_MAX but one that is -FLT_MAX. */
TEST(long_rows)
{
    const size_t hidden = (size_t)1 << 17;
    float *x = malloc(hidden * sizeof *x), *rounded = malloc(hidden * sizeof *rounded);
    double *exact = malloc(hidden * sizeof *exact);
    assert_true(x != NULL && rounded != NULL && exact != NULL);
    for (size_t i = 0; i < hidden; i++) {
        x[i] = FLT_MAX;
    }
    x[70000] = -FLT_MAX;
    ln_reference_result result = {.rounded = rounded, .exact = exact};
    const ln_convention c = {.eps_place = LN_EPS_VAR};
    assert_true(
        ln_reference_row(reference, &c, LN_F32, LN_F32, hidden, x, NULL, NULL, NULL, &result));
    const double m = (double)FLT_MAX; /* mean m (1 - 2^-16), var m^2 (1 - (1 - 2^-16)^2) */
    same(result.facts.mean, m - m * 0x1p-16);
    same(result.facts.mean_abs, m);
    same(result.facts.var, m * m * (0x1p-15 - 0x1p-32));
    /* xhat = 2^-16 / sqrt(2^-15 - 2^-32) = 1 / sqrt(2^17 - 1), one more below sqrt(2^17 - 1) */
    const double root = sqrt(131071.0); /* one rounding here, one in the ratio, one in exact */
    assert_true(fabs(exact[0] * root - 1) <= 0x1p-51);
    assert_true(fabs(exact[70000] / root + 1) <= 0x1p-51);
    free(x);
    free(rounded);
    free(exact);
}

TEST(names_its_libraries)
{
    assert_non_null(strstr(ln_reference_versions(), "MPFR "));
    assert_non_null(strstr(ln_reference_versions(), ", GMP "));
}

/* ---- Every type ------------------------------------------------------------------------------ */

/* Rows of every type: known answers, and the 16-bit types exhaustively. */

enum { TYPED_MOST = 8 };

/* The typed_answers of one row: rounded and exact as doubles. */
typedef struct typed_answers {
    double rounded[TYPED_MOST], exact[TYPED_MOST], rest[TYPED_MOST];
    ln_reference_result result;
} typed_answers;

typedef struct question {
    ln_type storage, param;
    ln_convention convention;
    double x[TYPED_MOST], residual[TYPED_MOST], gamma[TYPED_MOST], beta[TYPED_MOST];
    size_t hidden;
    bool has_residual;
} question;

static typed_answers ask_typed(const question *q)
{
    typed_answers a;
    double x[TYPED_MOST], residual[TYPED_MOST], gamma[TYPED_MOST], beta[TYPED_MOST],
        rounded[TYPED_MOST]; /* room for any type */
    memset(&a, 0x55, sizeof a);
    for (size_t i = 0; i < q->hidden; i++) {
        audit_store(q->storage, x, i, q->x[i]);
        audit_store(q->storage, residual, i, q->residual[i]);
        audit_store(q->param, gamma, i, q->gamma[i]);
        audit_store(q->param, beta, i, q->beta[i]);
    }
    a.result = (ln_reference_result){.rounded = rounded, .exact = a.exact, .rest = a.rest};
    assert_true(ln_reference_row(reference, &q->convention, q->storage, q->param, q->hidden, x,
                                 q->has_residual ? residual : NULL, gamma, beta, &a.result));
    for (size_t i = 0; i < q->hidden; i++) {
        a.rounded[i] = audit_load(q->storage, rounded, i);
    }
    return a;
}

static const double root_of_2 = 0x1.6a09e667f3bcdp+0,
                    root_2_rest = -0x1.bdd3413b26456p-2; /* in ulp */

/* mean 3, var 2: -sqrt(2), -sqrt(1/2), 0, sqrt(1/2), sqrt(2), in all types. */
TEST(irrational_results_of_every_type)
{
    const double rounded[] = {0x1.6a09e6p+0, root_of_2, 0x1.6ap+0, 0x1.6ap+0};
    question q = {.x = {1, 2, 3, 4, 5}, .hidden = 5};
    for (int type = 0; type < AUDIT_TYPES; type++) {
        q.storage = (ln_type)type;
        typed_answers a = ask_typed(&q);
        same(a.exact[4], root_of_2);
        same(a.exact[1], -root_of_2 / 2);
        same(a.exact[2], 0.0);
        same(a.rounded[4], rounded[type]);
        same(a.rounded[0], -rounded[type]);
        same(a.rounded[3], rounded[type] / 2);
        same(a.rounded[2], 0.0);
        same(a.result.facts.rstd, root_of_2 / 2);
        same(a.result.facts.mean, 3.0);
        same(a.result.max_xhat, root_of_2);
        same(a.result.max_xhat_rest, root_2_rest);
        same(a.result.mean_rest, 0.0);
        same(a.result.rstd_rest, type == LN_F64 ? root_2_rest : 0.0);
        if (type == LN_F64) {
            same(a.rest[4], root_2_rest);
            same(a.rest[1], -root_2_rest);
            same(a.rest[2], 0.0);
        }
    }
}

/* 1/3 is 0x1.555...p-2, and its rest after a double is 1/3 of 2^-54, its ulp; the mean of
 * -1 + 2^-53, 0 and 1 is 2^-53 / 3. */
TEST(rest_of_the_mean)
{
    question q = {.storage = LN_F64, .hidden = 3, .x = {0, 0, 1}};
    typed_answers a = ask_typed(&q);
    same(a.result.facts.mean, 0x1.5555555555555p-2);
    same(a.result.mean_rest, 0x1.5555555555555p-2);
    q.x[0] = -0x1.fffffffffffffp-1; /* -1 + 2^-53: the sum is 2^-53 */
    a = ask_typed(&q);
    same(a.result.facts.mean, 0x1.5555555555555p-55);
    same(a.result.mean_rest, 0x1.5555555555555p-2);
    q.storage = LN_F32;
    q.x[0] = 0;
    a = ask_typed(&q);
    same(a.result.mean_rest, 0.0);
    q.storage = LN_F64;
    q.x[2] = (double)INFINITY;
    a = ask_typed(&q);
    assert_true(isnan(a.result.mean_rest) && isnan(a.result.rstd_rest));
}

/* The largest and the smallest doubles are in one row: var is a little above 2^2045. */
TEST(whole_range_of_f64)
{
    question q = {.storage = LN_F64, .hidden = 4, .x = {0x1p1023, -0x1p1023, 5e-324, -5e-324}};
    typed_answers a = ask_typed(&q);
    same(a.rounded[0], root_of_2);
    same(a.rest[0], root_2_rest);
    same(a.rounded[1], -root_of_2);
    same(a.rounded[2], 0.0); /* 2^-1074 / 2^1022.5, whose sign is kept */
    same(a.rest[2], 0x0.b504f333f9de6p-1022);
    same(a.rounded[3], -0.0);
    same(a.rest[3], -0x0.b504f333f9de6p-1022);
    same(a.result.facts.mean, 0.0);
    same(a.result.facts.mean_abs, 0x1p1022);
    same(a.result.facts.var, (double)INFINITY);         /* 2^2045 */
    same(a.result.facts.rstd, 0x0.b504f333f9de6p-1022); /* 2^-1022.5, to 52 bits */
}

TEST(subnormals_of_f64)
{
    question q = {.storage = LN_F64, .hidden = 2, .x = {5e-324, -5e-324}};
    typed_answers a = ask_typed(&q);
    same(a.rounded[0], 1.0);
    same(a.rest[0], 0.0);
    same(a.result.facts.rstd, (double)INFINITY); /* 2^1074 */
    same(a.result.facts.var, 5e-324);            /* 2^-2148: not 0 */
    same(a.result.facts.max_dev, 5e-324);
    same(a.result.kappa, 1.0);
    /* 2^-1074 / 2 and 3 2^-1074 / 2: ties, to even */
    q = (question){.storage = LN_F64,
                   .param = LN_F64,
                   .hidden = 2,
                   .x = {-1, 1},
                   .gamma = {5e-324, 1.5e-323},
                   .convention = {.eps_place = LN_EPS_STD, .eps = 1, .affine = LN_AFFINE_GAMMA}};
    a = ask_typed(&q);
    same(a.rounded[0], -0.0);
    same(a.rest[0], -0.5);
    same(a.rounded[1], 1e-323);
    same(a.rest[1], -0.5);
}

/* With xhat = 1, y is gamma + beta, whose rest is known. */
TEST(rests_of_f64)
{
    const double u = 0x1p-53;
    question q = {.storage = LN_F64,
                  .param = LN_F64,
                  .hidden = 4,
                  .x = {-1, 1, -1, 1},
                  .gamma = {1, 1, 1, 0x1p-60},
                  .beta = {u, u, 0x1p-100, 0x1p-60 * u},
                  .convention = {.affine = LN_AFFINE_VECTOR}};
    typed_answers a = ask_typed(&q);
    same(a.rounded[0], -1 + u);
    same(a.rest[0], 0.0);
    same(a.rounded[1], 1.0); /* a tie, to even */
    same(a.rest[1], 0.5);
    same(a.rounded[2], -1.0);
    same(a.rest[2], 0x1p-48);
    same(a.rounded[3], 0x1p-60);
    same(a.rest[3], 0.5);
    q.convention.affine = LN_AFFINE_GAMMA1; /* 1 + 2^-60 (1 + u): a tie of the rest, to even */
    a = ask_typed(&q);
    same(a.rounded[3], 1.0);
    same(a.rest[3], 0x1p-8);
    q.convention.eps_place = LN_EPS_VAR; /* xhat very little below 1: just below the ties */
    q.convention.eps = 0x1p-400;
    q.beta[3] = 0x1p-60 * 3 * u;
    a = ask_typed(&q);
    same(a.rest[3], 0x1p-8 * (1 + 2 * u));
    q.convention.affine = LN_AFFINE_VECTOR;
    a = ask_typed(&q);
    same(a.rounded[1], 1.0);
    same(a.rest[1], 0.5); /* less 2^-349 */
    const double large[] = {DBL_MAX, -DBL_MAX};
    for (size_t i = 0; i < 2; i++) {
        q.gamma[i] = DBL_MAX;
        q.beta[i] = -large[i];
    }
    a = ask_typed(&q);
    same(a.rounded[0], -(double)INFINITY);
    same(a.rest[0], 0.0);
    same(a.rounded[1], (double)INFINITY);
}

/* 1 + half an ulp of a 16-bit type, exactly, and with a difference that a double cannot represent. */
TEST(ties_of_short_types)
{
    const ln_type types[] = {LN_BF16, LN_F16};
    const double halves[] = {0x1p-8, 0x1p-11};
    for (size_t k = 0; k < 2; k++) {
        double half = halves[k], hair = 0x1p-80;
        question q = {.storage = types[k],
                      .param = LN_F64,
                      .hidden = 4,
                      .x = {-1, 1, -1, 1},
                      .gamma = {1, 1, 1, 1 + 2 * half},
                      .beta = {-half, half, half, half},
                      .convention = {.affine = LN_AFFINE_VECTOR}};
        typed_answers a = ask_typed(&q);
        same(a.rounded[0], -1.0);
        same(a.rounded[1], 1.0);
        same(a.exact[1], 1 + half);
        same(a.rounded[2], -1 + half); /* no tie: below 1 there is a number */
        same(a.rounded[3], 1 + 4 * half);
        q.convention.affine = LN_AFFINE_GAMMA1; /* 1 +- 2^-80 +- half */
        for (size_t i = 0; i < 4; i++) {
            q.gamma[i] = i < 2 ? hair : -hair;
            q.beta[i] = i % 2 == 0 ? -half : half;
        }
        a = ask_typed(&q);
        same(a.exact[1], 1 + half);
        same(a.rounded[0], -1 - 2 * half);
        same(a.rounded[1], 1 + 2 * half);
        same(a.rounded[2], -1.0);
        same(a.rounded[3], 1.0);
    }
}

TEST(residual_is_rounded_to_the_type)
{
    const double halves[] = {0x1p-24, 0x1p-53, 0x1p-8, 0x1p-11};
    for (int type = 0; type < AUDIT_TYPES; type++) {
        question q = {.storage = (ln_type)type,
                      .hidden = 2,
                      .x = {1, 1},
                      .residual = {halves[type], 3 * halves[type]},
                      .has_residual = true};
        typed_answers a = ask_typed(&q); /* 1 and 1 + 4 halves, both ties */
        same(a.result.facts.mean_abs, 1 + 2 * halves[type]);
        same(a.rounded[0], -1.0);
        q.x[0] = q.residual[0] = type == LN_F64 ? DBL_MAX : type == LN_F16 ? 65504 : 0x1.fep127;
        a = ask_typed(&q); /* overflow */
        assert_true(isnan(a.rounded[0]) && isnan(a.exact[1]) && isnan(a.result.facts.mean));
        assert_true(type != LN_F64 || isnan(a.rest[0]));
    }
}

TEST(undefined_and_special)
{
    const double infinity = (double)INFINITY;
    for (int type = 0; type < AUDIT_TYPES; type++) {
        question q = {.storage = (ln_type)type, .param = (ln_type)type, .hidden = 2, .x = {5, 5}};
        typed_answers a = ask_typed(&q);
        assert_true(isnan(a.rounded[0]) && isnan(a.exact[0]) && isnan(a.result.max_xhat));
        assert_true(type != LN_F64 || isnan(a.rest[0]));
        same(a.result.facts.mean, 5.0);
        q = (question){
            .storage = (ln_type)type,
            .param = (ln_type)type,
            .hidden = 4,
            .x = {-1, 1, -1, 1},
            .gamma = {infinity, (double)NAN, 1, 1},
            .beta = {0, 0, infinity, -infinity},
            .convention = {.eps_place = LN_EPS_VAR, .eps = 1, .affine = LN_AFFINE_VECTOR}};
        a = ask_typed(&q);
        same(a.rounded[0], -infinity);
        assert_true(isnan(a.rounded[1]) && isnan(a.exact[1]));
        same(a.rounded[2], infinity);
        same(a.rounded[3], -infinity);
        ln_reference_counts counts = ln_reference_count(reference);
        assert_int_equal(counts.elements, counts.fast + counts.first_try + counts.raised +
                                              counts.exact + counts.special);
    }
}

TEST(refuses_what_is_missing_of_every_type)
{
    double rounded[2], exact[2], x[2] = {-1, 1};
    ln_reference_result result = {.rounded = rounded, .exact = exact};
    ln_convention c = {.eps_place = LN_EPS_VAR, .eps = 1e-5, .affine = LN_AFFINE_VECTOR};
    assert_false(ln_reference_row(reference, &c, LN_F64, LN_F64, 2, x, NULL, NULL, x, &result));
    assert_false(ln_reference_row(reference, &c, LN_F64, LN_F64, SIZE_MAX, x, x, x, x, &result));
    assert_true(ln_reference_row(reference, &c, LN_F64, LN_F64, 2, x, NULL, x, x, &result));
    same(exact[0], rounded[0]); /* and no rest was wanted */
}

/* One f32 row with a weight of 2. */
static ln_reference_result ask_rms(const ln_convention *convention, const float *x, size_t hidden,
                                   float *rounded, double *exact)
{
    const float weight[] = {2, 2, 2, 2};
    ln_reference_result result = {.rounded = rounded, .exact = exact};
    assert_true(ln_rms_reference_row(reference, convention, LN_F32, LN_F32, hidden, x, NULL, weight,
                                     &result));
    return result;
}

/* An infinity is NaN, and makes the others 0; a NaN makes all NaN; so does 0 / 0. */
TEST(special_rows_of_rmsnorm)
{
    ln_convention convention = {
        .operation = LN_OPERATION_RMSNORM, .eps_place = LN_EPS_VAR, .weight = LN_RMS_WEIGHT};
    float rounded[4];
    double exact[4];
    ask_rms(&convention, (const float[]){3, -INFINITY, 0, 1}, 4, rounded, exact);
    assert_true(isnan(rounded[1]) && isnan(exact[1]));
    same((double)rounded[0], 0.0);
    same(exact[3], 0.0);
    ask_rms(&convention, (const float[]){3, INFINITY, NAN, 1}, 4, rounded, exact);
    assert_true(isnan(rounded[0]) && isnan(rounded[3]));
    ask_rms(&convention, (const float[]){0, 0}, 2, rounded, exact);
    assert_true(isnan(rounded[0]) && isnan(exact[1]));
    convention.eps = 0.25;
    ln_reference_result result =
        ask_rms(&convention, (const float[]){-1, 0.5f, 1, 0.5f}, 4, rounded, exact);
    same(result.facts.var, 0.625);
    same(result.facts.mean, 0.0);
    same(result.kappa, 1.0);
    same((double)rounded[1], (double)(float)(1 / sqrt(0.875)));
    const float x[] = {1};
    assert_false(
        ln_rms_reference_row(reference, &convention, LN_F32, LN_F32, 1, x, NULL, NULL, &result));
    /* A root that is rounded to 0: by IEEE 754. */
    convention = (ln_convention){.operation = LN_OPERATION_RMSNORM, .root = 1};
    ask_rms(&convention, (const float[]){0x1p-149f, 0, 0, 0}, 4, rounded, exact);
    assert_true(isinf(rounded[0]) && isnan(rounded[1])); /* half the smallest number: a tie */
    ask_rms(&convention, (const float[]){0x1p-149f, 0, 0, 0}, 3, rounded, exact);
    same((double)rounded[0], 1.0);
}

/* sqrt(eps) is a midpoint of bf16, or very little above it. */
TEST(root_of_rmsnorm_at_a_midpoint)
{
    const double middle = 1 + 0x1p-8;
    const double epsilons[] = {middle * middle, nextafter(middle * middle, 2)};
    const uint16_t zero = 0;
    for (int above = 0; above < 2; above++) {
        ln_convention convention = {.operation = LN_OPERATION_RMSNORM,
                                    .eps_place = LN_EPS_VAR,
                                    .eps = epsilons[above],
                                    .root = 1};
        uint16_t rounded;
        double exact;
        ln_reference_result result = {.rounded = &rounded, .exact = &exact};
        assert_true(ln_rms_reference_row(reference, &convention, LN_BF16, LN_BF16, 1, &zero, NULL,
                                         NULL, &result));
        same(result.facts.rstd, above ? 1 / (1 + 0x1p-7) : 1.0);
    }
}

/* Every number of both types. */
TEST(reads_short_types)
{
    for (unsigned bits = 0; bits < 65536; bits++) {
        uint16_t word = (uint16_t)bits;
        for (ln_type type = LN_BF16; type <= LN_F16; type++) {
            double got = storage_load(type, &word, 0), wanted = audit_value(type, bits);
            assert_true(isnan(wanted) ? isnan(got) : memcmp(&got, &wanted, sizeof got) == 0);
        }
    }
}

static uint16_t with_sign(unsigned bits, double value)
{
    return (uint16_t)(bits | (signbit(value) ? 0x8000u : 0));
}

/* Around every number and every midpoint of both types and signs. */
TEST(rounds_to_short_types)
{
    for (ln_type type = LN_BF16; type <= LN_F16; type++) {
        unsigned infinity = type == LN_BF16 ? 0x7f80 : 0x7c00;
        for (unsigned bits = 0; bits < infinity; bits++) {
            for (int sign = -1; sign <= 1; sign += 2) {
                double value = sign * audit_value(type, bits);
                audit_neighbours n = audit_neighbours_of(type, fabs(value));
                double middle = sign * (n.value + n.above) / 2;
                uint16_t low = with_sign(bits, value), high = with_sign(bits + 1, middle);
                assert_int_equal(storage_round(type, value, 0), low);
                assert_int_equal(storage_round(type, nextafter(middle, 0.0), 0), low);
                assert_int_equal(storage_round(type, middle * (1 + DBL_EPSILON), 0), high);
                assert_int_equal(storage_round(type, middle, sign), high);
                assert_int_equal(storage_round(type, middle, -sign), low);
                assert_int_equal(storage_round(type, middle, 0), bits & 1 ? high : low);
                assert_true(storage_is_midpoint(type, middle));
                assert_false(storage_is_midpoint(type, value));
                assert_false(storage_is_midpoint(type, nextafter(middle, 0.0)));
            }
        }
        assert_int_equal(storage_round(type, (double)INFINITY, 0), infinity);
        assert_int_equal(storage_round(type, -DBL_MAX, 0), infinity | 0x8000u);
        assert_int_equal(storage_round(type, -5e-324, 0), 0x8000u);
        assert_false(storage_is_midpoint(type, (double)NAN));
        assert_true(isnan(audit_value(type, storage_round(type, (double)NAN, 0))));
    }
}

int main(void)
{
    return test_run(set_up, tear_down);
}
