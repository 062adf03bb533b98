/* The quick path: its sums and products are exact, its bound holds, and a smaller one would not. */
#include "../../kernels/tests/test_list.h"
#include "audit.h"
#include "audit_rows.h"
#include "audit_types.h"
#include "certify/certify.h"

#include <math.h>

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

/* Draws a row of f32, takes it into chosen and judge; false where it is not for the quick path. */
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

/* How many elements of rows of every kind lie outside of the interval with this margin. */
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

/* How many of the answers that the quick path decides with this margin are wrong. */
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

int main(void)
{
    return test_run(set_up, tear_down);
}
