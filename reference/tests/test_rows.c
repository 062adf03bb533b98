/* Parts of the reference: the quick path, the gradients, and the distances between conventions. */
#include "../../kernels/tests/test_list.h"
#include "audit.h"
#include "certify/backward.h"
#include "certify/certify.h"
#include "exact/apart.h"
#include "metrics/metrics.h"

#include <float.h>
#include <math.h>

/* ---- The quick path -------------------------------------------------------------------------- */

/* The sums and products of the quick path are exact, its bound holds, and a smaller bound would not. */

static row_certifier chosen;
static audit_state *judge;

static int set_up(void **state)
{
    (void)state;
    certifier_init(&chosen);
    judge = audit_create();
    return judge == NULL;
}

static int tear_down(void **state)
{
    (void)state;
    certifier_clear(&chosen);
    audit_destroy(judge);
    return 0;
}

static double any_double(unsigned long long *state)
{
    double fraction = (double)(audit_random(state) >> 10) * 0x1p-53 - 1.0; /* [-1, 1) */
    return ldexp(fraction, (int)(audit_random(state) % 400) - 200);
}

static void same_double(double got, double wanted)
{
    if (!(got == wanted)) {
        fail_msg("got %a, wanted %a", got, wanted);
    }
}

TEST(products_are_exact)
{
    unsigned long long seed = 7;
    for (int k = 0; k < 100000; k++) {
        double a = any_double(&seed);
        double b = any_double(&seed);
        double_double p = two_product(a, b);
        same_double(p.hi, a * b);
        same_double(p.lo, fma(a, b, -p.hi)); /* the error of a product is a double */
        double_double s = split(a);
        same_double(s.hi + s.lo, a);
        same_double(ldexp(rint(ldexp(s.hi, 26 - ilogb(s.hi))), ilogb(s.hi) - 26), s.hi);
    }
}

TEST(sums_are_exact)
{
    unsigned long long seed = 8;
    for (int k = 0; k < 100000; k++) {
        double a = any_double(&seed);
        double b = any_double(&seed);
        b = ldexp(b, ilogb(a) - ilogb(b) + (int)(audit_random(&seed) % 120) - 60);
        double_double s = two_sum(a, b), t = two_sum(b, a);
        same_double(s.hi, a + b);
        same_double(t.hi, s.hi);
        same_double(t.lo, s.lo);
        /* a + b - s.hi - s.lo = 0, each step without a rounding (Sterbenz, or the larger first) */
        double large = fabs(a) >= fabs(b) ? a : b, small = fabs(a) >= fabs(b) ? b : a;
        same_double((large - s.hi) + small, s.lo);
        double_double q = quick_two_sum(large, small);
        same_double(q.hi, s.hi);
        same_double(q.lo, s.lo);
    }
}

/* Draws a row of f32 for chosen and judge. Returns false if the quick path does not support it. */
static bool take_row(audit_row *row, unsigned kind, unsigned long long *state)
{
    row->storage = row->param = LN_F32;
    audit_row_draw(row, kind, state);
    if (!exact_row_take(&chosen.row, &row->convention, row->hidden, row->x.f32) ||
        !chosen.row.defined) {
        return false;
    }
    certifier_take(&chosen, CERTIFIER_PRECISION, row->convention.affine);
    audit_take(judge, &row->convention, row->hidden, LN_F32, &row->x);
    return chosen.fast.usable;
}

static void parameters_of(const audit_row *row, size_t i, double *gamma, double *beta)
{
    ln_affine affine = row->convention.affine;
    size_t p = affine == LN_AFFINE_SCALAR ? 0 : i;
    *gamma = affine == LN_AFFINE_NONE ? 1.0 : (double)row->gamma.f32[p];
    *beta = affine == LN_AFFINE_NONE || affine == LN_AFFINE_GAMMA ? 0.0 : (double)row->beta.f32[p];
}

/* Returns how many elements of rows of every kind are outside of the interval with this margin. */
static size_t escapes(double margin)
{
    static audit_row row;
    unsigned long long state = 5;
    size_t count = 0;
    for (unsigned k = 0; k < 20 * AUDIT_KINDS; k++) {
        if (!take_row(&row, k % AUDIT_KINDS, &state)) {
            continue;
        }
        chosen.fast.margin = margin;
        for (size_t i = 0; i < row.hidden; i++) {
            double gamma, beta, x = (double)row.x.f32[i];
            parameters_of(&row, i, &gamma, &beta);
            fast_interval interval = fast_row_enclose(&chosen.fast, x, gamma, beta);
            count += audit_encloses(judge, x, gamma, beta, interval) ? 0 : 1;
        }
    }
    return count;
}

TEST(bound_holds_and_a_smaller_one_does_not)
{
    assert_int_equal(escapes(FAST_ROW_MARGIN), 0);
    assert_true(escapes(FAST_ROW_MARGIN / 16) > 0);
    assert_true(escapes(0.0) > 1000);
}

/* Returns how many of the answers that the quick path decides with this margin are wrong. */
static size_t wrong_answers(double margin, size_t *decided)
{
    static audit_row row;
    unsigned long long state = 6;
    size_t wrong = 0;
    *decided = 0;
    for (unsigned k = 0; k < 20 * AUDIT_KINDS; k++) {
        double x[AUDIT_MAX_HIDDEN], gamma[AUDIT_MAX_HIDDEN], beta[AUDIT_MAX_HIDDEN];
        double exact[AUDIT_MAX_HIDDEN];
        if (!take_row(&row, k % AUDIT_KINDS, &state)) {
            continue;
        }
        for (size_t i = 0; i < row.hidden; i++) {
            x[i] = (double)row.x.f32[i];
            parameters_of(&row, i, &gamma[i], &beta[i]);
        }
        chosen.fast.margin = margin;
        fast_row_decide(&chosen.fast, row.hidden, x, gamma, beta, exact);
        for (size_t i = 0; i < row.hidden; i++) {
            if (rounding_is_clear(exact[i])) {
                audit_claim claim = {(double)(float)exact[i], exact[i], 0};
                *decided += 1;
                wrong += audit_accepts(judge, x[i], gamma[i], beta[i], claim) ? 0 : 1;
            }
        }
    }
    return wrong;
}

TEST(answers_are_right_and_without_a_bound_wrong)
{
    size_t decided, decided_without;
    assert_int_equal(wrong_answers(FAST_ROW_MARGIN, &decided), 0);
    assert_true(decided > 10000);
    assert_true(wrong_answers(0.0, &decided_without) > 0);
    assert_true(decided_without > decided);
}

/* {-1, 1} without eps: xhat is -1 and 1, so y is gamma + beta. */
static double decide_sum(double gamma, double beta)
{
    const float x[] = {-1, 1};
    const ln_convention c = {.affine = LN_AFFINE_VECTOR};
    assert_true(exact_row_take(&chosen.row, &c, 2, x));
    certifier_take(&chosen, CERTIFIER_PRECISION, c.affine);
    double one = 1, exact;
    fast_row_decide(&chosen.fast, 1, &one, &gamma, &beta, &exact);
    return exact;
}

TEST(leaves_what_it_cannot_tell)
{
    assert_true(decide_sum(1, 0.25) == 1.25);
    assert_true(decide_sum(1, 0x1p-60) == 1);
    assert_true(isnan(decide_sum(1, -1)));       /* 0 */
    assert_true(isnan(decide_sum(1, 0x1p-53)));  /* a tie of doubles */
    assert_true(isnan(decide_sum(0, 0)));        /* 0 again */
    assert_true(isnan(decide_sum(0x1p-720, 0))); /* lost in the bound for underflow */
    assert_true(isnan(decide_sum(0x1p301, 0)));  /* beyond the proof */
    assert_true(isnan(decide_sum(1, -0x1p301))); /* likewise */
    assert_true(isnan(decide_sum((double)NAN, 0)));
    assert_true(isnan(decide_sum((double)INFINITY, 0)));
    assert_true(isnan(decide_sum(1, -(double)INFINITY)));
    chosen.fast.usable = false;
    double one = 1, zero = 0, exact;
    fast_row_decide(&chosen.fast, 1, &one, &one, &zero, &exact);
    assert_true(isnan(exact));
}

/* Rows outside of the proof's range: 1 / eps is the factor. */
TEST(knows_its_range)
{
    const float x[] = {-1, 1};
    const double eps[] = {0x1p298, 0x1p302};
    for (size_t k = 0; k < 2; k++) {
        const ln_convention c = {.eps_place = LN_EPS_STD, .eps = eps[k]};
        assert_true(exact_row_take(&chosen.row, &c, 2, x));
        certifier_take(&chosen, CERTIFIER_PRECISION, c.affine);
        assert_true(chosen.fast.usable == (k == 0));
        const ln_convention quotient = {.eps_place = LN_EPS_QUOTIENT, .eps = eps[k]};
        assert_true(exact_row_take(&chosen.row, &quotient, 2, x));
        certifier_take(&chosen, CERTIFIER_PRECISION, c.affine);
        assert_true(chosen.fast.usable == (k == 0));
    }
}

/* ---- Gradients ------------------------------------------------------------------------------- */

/* Compares the gradients with rows computed by hand. (gradient_audit checks random rows exactly, and test_lnbench.py
 * compares gradients with differences of the forward formula.) */

enum { ROWS = 2, GRADIENT_MOST = 12 };

typedef struct problem {
    ln_convention convention;
    ln_type storage, param;
    size_t hidden;
    double x_stored[ROWS * GRADIENT_MOST], dy_stored[ROWS * GRADIENT_MOST],
        gamma_stored[GRADIENT_MOST];
    double dx[ROWS * GRADIENT_MOST], dgamma[GRADIENT_MOST], dbeta[GRADIENT_MOST];
    double dx_stored[ROWS * GRADIENT_MOST], dgamma_stored[GRADIENT_MOST],
        dbeta_stored[GRADIENT_MOST]; /* room for any type */
} problem;

static void solve(problem *p)
{
    ln_gradients gradients = {.dx = {p->dx_stored, p->dx},
                              .dgamma = {p->dgamma_stored, p->dgamma},
                              .dbeta = {p->dbeta_stored, p->dbeta}};
    assert_true(ln_backward(&p->convention, p->storage, p->param, ROWS, p->hidden, p->x_stored,
                            p->dy_stored, p->gamma_stored, &gradients));
}

/* Sets both rows to the same numbers. */
static void set_rows(problem *p, size_t hidden, const double *x, const double *dy)
{
    p->hidden = hidden;
    for (size_t i = 0; i < ROWS * hidden; i++) {
        p->x_stored[i] = x[i % hidden];
        p->dy_stored[i] = dy[i % hidden];
    }
}

static void same_gradient(double got, double wanted)
{
    if (!(got == wanted && signbit(got) == signbit(wanted))) {
        fail_msg("got %a, wanted %a", got, wanted);
    }
}

/* x = -1 -1 1 1, var 1. dy = 1 0 0 0: w - mean = 3/4 -1/4 -1/4 -1/4, sum(w c) = -1. */
TEST(by_hand)
{
    const double x[] = {-1, -1, 1, 1}, dy[] = {1, 0, 0, 0};
    problem p = {.convention = {.affine = LN_AFFINE_VECTOR},
                 .storage = LN_F64,
                 .param = LN_F64,
                 .gamma_stored = {2, 5, 5, 5}};
    set_rows(&p, 4, x, dy);
    solve(&p); /* 2 (w - mean - c mean(w c)), c mean(w c) = 1/4 1/4 -1/4 -1/4 */
    const double dx[] = {1, -1, 0, 0};
    for (size_t i = 0; i < 8; i++) {
        same_gradient(p.dx[i], dx[i % 4]);
        same_gradient(p.dx_stored[i], dx[i % 4]);
    }
    same_gradient(p.dgamma[0], -2); /* of both rows */
    same_gradient(p.dgamma[1], 0);
    same_gradient(p.dbeta[0], 2);
    same_gradient(p.dbeta[3], 0);
    p.convention = (ln_convention){
        .eps_place = LN_EPS_STD, .eps = 1, .affine = LN_AFFINE_GAMMA1}; /* eps is s: D = 2, g = 3 */
    solve(&p); /* (w - mean) / 2 - c (sum(w c) / 4) / 4 = 3 (3/8 - 1/16), 3 (-1/8 - 1/16) ... */
    const double on_std[] = {0.9375, -0.5625, -0.1875, -0.1875};
    for (size_t i = 0; i < 8; i++) {
        same_gradient(p.dx[i], on_std[i % 4]);
    }
    same_gradient(p.dgamma[0], -1);
    p.convention =
        (ln_convention){.eps_place = LN_EPS_QUOTIENT, .eps = 0.5, .affine = LN_AFFINE_SCALAR};
    solve(&p); /* one gamma, 2: as at first; xhat + eps = -1/2 */
    same_gradient(p.dx[0], 1);
    same_gradient(p.dgamma[0], -1);
    same_gradient(p.dbeta[0], 2);
    p.convention = (ln_convention){.eps_place = LN_EPS_VAR, .eps = 3};
    solve(&p); /* D = 2: (w - mean) / 2 - c mean(w c) / 8 = 3/8 - 1/32, -1/8 - 1/32, -1/8 + 1/32 */
    same_gradient(p.dx[0], 0.34375);
    same_gradient(p.dx[1], -0.15625);
    same_gradient(p.dx[2], -0.09375);
}

/* Two rows whose terms of dgamma are sqrt(2) / 2 and -sqrt(2) / 2: variances 2 and 8. */
TEST(roots_that_cancel)
{
    problem p = {.convention = {.ddof = 1, .affine = LN_AFFINE_VECTOR},
                 .storage = LN_F64,
                 .param = LN_F64,
                 .hidden = 2,
                 .x_stored = {-1, 1, -2, 2},
                 .dy_stored = {3, 1, -3, -1},
                 .gamma_stored = {1, 1}};
    solve(&p);
    same_gradient(p.dgamma[0], 0);
    same_gradient(p.dgamma[1], 0);
    same_gradient(p.dbeta[1], 0);
    p.dy_stored[2] = -3 - 0x1p-50; /* and nearly */
    solve(&p);
    same_gradient(p.dgamma[0], 0x1.6a09e667f3bcdp-51); /* 2^-50 sqrt(1/2) */
}

/* dbeta = 1 + 2^-8, a tie of bf16, and numbers too near to it for a double. */
TEST(ties_of_short_types)
{
    const double hairs[] = {0, 0x1p-100, -0x1p-100}, wanted[] = {1, 1 + 0x1p-7, 1};
    problem p = {.convention = {.eps_place = LN_EPS_VAR, .eps = 1, .affine = LN_AFFINE_SCALAR},
                 .storage = LN_F32,
                 .param = LN_BF16,
                 .hidden = 2};
    for (int i = 0; i < 3; i++) {
        const double dy[] = {1, 0x1p-8, hairs[i], 0};
        for (size_t j = 0; j < 4; j++) {
            audit_store(LN_F32, p.dy_stored, j, dy[j]);
        }
        solve(&p);
        same_gradient(p.dbeta[0], 1 + 0x1p-8);
        same_gradient(audit_load(LN_BF16, p.dbeta_stored, 0), wanted[i]);
    }
}

TEST(where_there_is_none)
{
    const double constant[] = {3, 3}, dy[] = {1, 2};
    problem p = {.convention = {.eps_place = LN_EPS_STD, .eps = 1e-5, .affine = LN_AFFINE_VECTOR},
                 .storage = LN_F64,
                 .param = LN_F64,
                 .gamma_stored = {1, 1}};
    set_rows(&p, 2, constant, dy);
    solve(&p);
    assert_true(isnan(p.dx[0]) && isnan(p.dx_stored[3]));
    same_gradient(p.dgamma[0], 0);
    p.convention.eps_place = LN_EPS_NONE;
    solve(&p);
    assert_true(isnan(p.dx[0]) && isnan(p.dgamma[0]));
    same_gradient(p.dbeta[1], 4);
    p.convention =
        (ln_convention){.eps_place = LN_EPS_VAR, .eps = 0.25, .affine = LN_AFFINE_VECTOR};
    solve(&p);
    same_gradient(p.dx[0], -1);
    p.dy_stored[3] = (double)INFINITY;
    solve(&p);
    same_gradient(p.dx[1], 1);
    assert_true(isnan(p.dx[2]) && isnan(p.dgamma[1]) && isnan(p.dbeta[1]));
    same_gradient(p.dbeta[0], 2);
    p.x_stored[0] = (double)NAN;
    solve(&p);
    assert_true(isnan(p.dx[1]) && isnan(p.dgamma[0]));
    same_gradient(p.dbeta[0], 2);
    p.convention = (ln_convention){.ddof = 2, .eps = (double)NAN};
    solve(&p);
    assert_true(isnan(p.dx[1]));
    ln_gradients none = {.dx = {NULL, NULL}};
    assert_true(ln_backward(&p.convention, LN_F64, LN_F64, 1, 2, dy, dy, NULL, &none));
    assert_false(ln_backward(&p.convention, LN_F64, LN_F64, 0, 2, dy, dy, NULL, &none));
    assert_false(ln_backward(&p.convention, LN_F64, LN_F64, 1, 2, NULL, dy, NULL, &none));
    p.convention.affine = LN_AFFINE_GAMMA;
    assert_true(ln_backward(&p.convention, LN_F64, LN_F64, 1, 2, dy, dy, NULL, &none)); /* no dx */
    none.dx.exact = (double[2]){0};
    assert_false(ln_backward(&p.convention, LN_F64, LN_F64, 1, 2, dy, dy, NULL, &none));
}

/* ---- Distances of conventions ---------------------------------------------------------------- */

/* Compares the distances of conventions with numbers computed by hand, and with the reference on the same row. */

static ln_apart between(ln_convention given, ln_convention other, size_t hidden, float scale)
{
    const ln_convention both[2] = {given, other};
    ln_apart matrix[4];
    assert_true(ln_reference_apart(both, 2, hidden, scale, matrix));
    assert_true(matrix[0].absolute == 0 && matrix[3].absolute == 0);
    assert_true(matrix[0].row_ulp == 0 && matrix[0].relative == 0);
    return matrix[1];
}

/* Compares two numbers: the first is within one ulp of double, the second within `roundings` ulps. */
static void assert_near(double found, double wanted, int roundings)
{
    if (!(fabs(found - wanted) <= (1 + roundings) * DBL_EPSILON * fabs(wanted))) {
        print_error("%.17g, where %.17g was expected\n", found, wanted);
        fail();
    }
}

static const ln_convention plain = {.eps_place = LN_EPS_NONE};

/* N = 4, s = 1: xhat is 1, or sqrt(3 / 4) with the divisor N - 1; ulp(1) is 2^-23, and that of
 * sqrt(3 / 4) half as much. */
TEST(test_divisor)
{
    const ln_convention unbiased = {.ddof = 1};
    const double difference = 0.13397459621556135324; /* 1 - sqrt(3) / 2 */
    ln_apart apart = between(plain, unbiased, 4, 1);
    assert_near(apart.absolute, difference, 0);
    assert_near(apart.relative, difference, 0);
    assert_near(apart.row_ulp, difference * 0x1p23, 0);
    apart = between(unbiased, plain, 4, 0x1p-40f); /* no eps: whatever the scale */
    assert_near(apart.absolute, difference, 0);
    assert_near(apart.relative, difference / sqrt(0.75), 3);
    assert_near(apart.row_ulp, difference * 0x1p24, 0);
    /* An odd row: s^2 4 / 5 over 5 or 4, so xhat is sqrt(5 / 4) or 1. */
    apart = between(plain, unbiased, 5, 3);
    assert_near(apart.absolute, 0.11803398874989484820, 0); /* sqrt(5) / 2 - 1 */
}

/* eps on the quotient moves every element by eps; in the variance by 1 - 1 / sqrt(1 + eps) =
 * eps / 2 - 3 eps^2 / 8 + ..., whose digits the difference of two doubles would not have. */
TEST(test_small)
{
    for (double eps = 1e-12; eps < 1e-5; eps *= 10) {
        const ln_convention quotient = {.eps_place = LN_EPS_QUOTIENT, .eps = eps};
        const ln_convention in_var = {.eps_place = LN_EPS_VAR, .eps = eps};
        const ln_convention on_std = {.eps_place = LN_EPS_STD, .eps = eps};
        assert_near(between(plain, quotient, 6, 1).absolute, eps, 0);
        double series = eps / 2 * (1 - 0.75 * eps * (1 - 5.0 / 6 * eps));
        assert_near(between(plain, in_var, 6, 1).absolute, series, 4);
        assert_near(between(plain, on_std, 6, 1).absolute, eps / (1 + eps), 3);
        /* With opposite signs the differences of the factor and of eps add up. */
        assert_near(between(in_var, quotient, 6, 1).absolute, series + eps, 5);
    }
}

/* Compares every pair on several rows with the reference's answers. */
TEST(test_reference)
{
    enum { MOST = 2 * 4, HIDDEN = 17 };
    static const double eps[] = {0, 1e-5, 1e-3, 1e-6};
    static const float scales[] = {1, 0x1p-8f, 0.3f, 1000, 1e-18f, 1e18f};
    ln_convention conventions[MOST];
    ln_reference *reference = ln_reference_create();
    assert_non_null(reference);
    for (int i = 0; i < MOST; i++)
        conventions[i] =
            (ln_convention){.ddof = i / 4, .eps_place = (ln_eps_place)(i % 4), .eps = eps[i % 4]};
    for (size_t hidden = 2; hidden <= HIDDEN; hidden++)
        for (size_t s = 0; s < sizeof scales / sizeof *scales; s++) {
            float x[HIDDEN], rounded[HIDDEN];
            double exact[MOST][HIDDEN];
            ln_apart matrix[MOST * MOST];
            double largest[MOST];
            for (size_t i = 0; i < hidden; i++)
                x[i] = i + 1 == hidden && hidden % 2 ? 0 : i % 2 ? -scales[s] : scales[s];
            for (int c = 0; c < MOST; c++) {
                ln_reference_result result = {.rounded = rounded, .exact = exact[c]};
                assert_true(ln_reference_row(reference, &conventions[c], LN_F32, LN_F32, hidden, x,
                                             NULL, NULL, NULL, &result));
                largest[c] = result.max_xhat;
            }
            assert_true(ln_reference_apart(conventions, MOST, hidden, scales[s], matrix));
            for (int a = 0; a < MOST; a++)
                for (int b = 0; b < MOST; b++) {
                    double most = 0;
                    for (size_t i = 0; i < hidden; i++)
                        most = fmax(most, fabs(exact[a][i] - exact[b][i]));
                    const ln_apart *apart = &matrix[a * MOST + b];
                    double slack = 2 * DBL_EPSILON * fmax(largest[a], largest[b]);
                    assert_true(fabs(apart->absolute - most) <= slack);
                    assert_true(fabs(apart->relative - most / largest[a]) <=
                                2 * slack / largest[a]);
                    assert_near(apart->row_ulp, apart->absolute / ln_ulp_f32(largest[a]), 1);
                }
        }
    ln_reference_destroy(reference);
}

TEST(test_refused)
{
    ln_apart matrix[1];
    ln_convention wrong = plain;
    assert_false(ln_reference_apart(&plain, 1, 1, 1, matrix));
    assert_false(ln_reference_apart(&plain, 1, 4, 0, matrix));
    assert_false(ln_reference_apart(&plain, 1, 4, -1, matrix));
    assert_false(ln_reference_apart(&plain, 1, 4, NAN, matrix));
    assert_false(ln_reference_apart(&plain, 1, 4, INFINITY, matrix));
    wrong.eps_place = LN_EPS_VAR;
    wrong.eps = NAN;
    assert_false(ln_reference_apart(&wrong, 1, 4, 1, matrix));
    wrong.eps = -1;
    assert_false(ln_reference_apart(&wrong, 1, 4, 1, matrix));
}

int main(void)
{
    return test_run(set_up, tear_down);
}
