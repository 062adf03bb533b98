/* The distances of conventions: against figures worked out by hand, and against the reference on
 * the same row. */
#include "../../kernels/tests/test_list.h"
#include "exact/apart.h"
#include "metrics/metrics.h"

#include <float.h>
#include <math.h>

static ln_apart between(ln_convention asked, ln_convention other, size_t hidden, float scale)
{
    const ln_convention both[2] = {asked, other};
    ln_apart matrix[4];
    assert_true(ln_reference_apart(both, 2, hidden, scale, matrix));
    assert_true(matrix[0].absolute == 0 && matrix[3].absolute == 0);
    assert_true(matrix[0].row_ulp == 0 && matrix[0].relative == 0);
    return matrix[1];
}

/* Figures are within one ulp of double, what they are held to within `roundings` more. */
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
        /* Opposite signs: what the factor takes away, and eps besides. */
        assert_near(between(in_var, quotient, 6, 1).absolute, series + eps, 5);
    }
}

/* Every pair, on several rows, against the reference's own answers. */
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
