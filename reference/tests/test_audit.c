/* The audit must refuse what is wrong: each test hands it a deliberately broken answer. */
#include "audit.h"
#include "audit_rows.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

enum { HIDDEN = 64 };

static ln_reference *reference;
static audit *judge;

static int set_up(void **state)
{
    (void)state;
    reference = ln_reference_create();
    judge = audit_create();
    return reference == NULL || judge == NULL;
}

static int tear_down(void **state)
{
    (void)state;
    ln_reference_destroy(reference);
    audit_destroy(judge);
    return 0;
}

typedef struct answers {
    float rounded[AUDIT_MAX_HIDDEN];
    double exact[AUDIT_MAX_HIDDEN];
    ln_reference_result result;
} answers;

static void answer(answers *a, const ln_convention *convention, size_t hidden, const audit_row *row)
{
    a->result = (ln_reference_result){.rounded = a->rounded, .exact = a->exact};
    assert_true(ln_reference_row(reference, convention, hidden, row->x, NULL, row->gamma, row->beta,
                                 &a->result));
}

static bool accepts(const audit_row *row, size_t i, float rounded, double exact)
{
    size_t p = row->convention.affine == LN_AFFINE_SCALAR ? 0 : i;
    return audit_accepts(judge, row->x[i], row->gamma[p], row->beta[p], rounded, exact);
}

/* A row of spread values of no special kind. */
static void draw_plain(audit_row *row, ln_convention convention, unsigned long long seed)
{
    unsigned long long state = seed;
    do {
        audit_row_draw(row, 0, &state);
    } while (row->hidden < HIDDEN);
    row->hidden = HIDDEN;
    row->has_residual = false;
    row->convention = convention;
    for (size_t i = 0; i < HIDDEN; i++) {
        row->gamma[i] = 1.25f + (float)i / 256;
        row->beta[i] = 0.125f - (float)i / 512;
    }
}

/* Every neighbour of every right answer, over all kinds of rows. */
static void refuses_neighbours(void **state)
{
    (void)state;
    unsigned long long seed = 42;
    audit_row row;
    static answers a;
    for (unsigned k = 0; k < 10 * AUDIT_KINDS; k++) {
        audit_row_draw(&row, k % AUDIT_KINDS, &seed);
        answer(&a, &row.convention, row.hidden, &row);
        audit_take(judge, &row.convention, row.hidden, row.x);
        for (size_t i = 0; i < row.hidden; i++) {
            float r = a.rounded[i];
            double e = a.exact[i];
            assert_true(accepts(&row, i, r, e));
            assert_false(accepts(&row, i, isnan(r) ? 0.0f : NAN, e));
            assert_false(accepts(&row, i, r, isnan(e) ? 0.0 : (double)NAN));
            if (isnan(r)) {
                continue;
            }
            assert_true(r == -INFINITY || !accepts(&row, i, nextafterf(r, -INFINITY), e));
            assert_true(r == INFINITY || !accepts(&row, i, nextafterf(r, INFINITY), e));
            assert_true(e == -INFINITY || !accepts(&row, i, r, nextafter(e, -INFINITY)));
            assert_true(e == INFINITY || !accepts(&row, i, r, nextafter(e, INFINITY)));
            assert_true(r != 0 || !accepts(&row, i, -r, e));
            assert_true(e != 0 || !accepts(&row, i, r, -e));
        }
    }
}

/* How many elements of the broken answer the audit refuses. */
static size_t refused(const audit_row *row, const answers *broken)
{
    size_t count = 0;
    audit_take(judge, &row->convention, row->hidden, row->x);
    for (size_t i = 0; i < row->hidden; i++) {
        count += !accepts(row, i, broken->rounded[i], broken->exact[i]);
    }
    return count;
}

static void refuses_other_conventions(void **state)
{
    (void)state;
    audit_row row;
    static answers broken;
    for (size_t c = 0; c < AUDIT_PRESETS; c++) {
        draw_plain(&row, audit_presets[c], c);
        ln_convention wrong = row.convention;
        wrong.ddof = 1 - wrong.ddof; /* n for n - 1, and the other way */
        answer(&broken, &wrong, row.hidden, &row);
        assert_int_equal(refused(&row, &broken), HIDDEN);
        wrong = row.convention;
        wrong.eps_place = wrong.eps_place == LN_EPS_VAR ? LN_EPS_STD : LN_EPS_VAR;
        wrong.eps = wrong.eps == 0 ? 1e-5 : wrong.eps;
        answer(&broken, &wrong, row.hidden, &row);
        assert_true(refused(&row, &broken) > HIDDEN / 2);
        wrong = row.convention;
        wrong.affine = wrong.affine == LN_AFFINE_VECTOR ? LN_AFFINE_GAMMA1 : LN_AFFINE_VECTOR;
        answer(&broken, &wrong, row.hidden, &row);
        assert_true(refused(&row, &broken) > HIDDEN / 2);
    }
}

/* eps rounded to float: wrong in the 9th digit of eps, so in about the 14th of y. */
static void refuses_eps_in_float(void **state)
{
    (void)state;
    audit_row row;
    static answers broken;
    draw_plain(&row, audit_presets[0], 3);
    ln_convention wrong = row.convention;
    wrong.eps = (double)(float)wrong.eps;
    answer(&broken, &wrong, row.hidden, &row);
    assert_true(refused(&row, &broken) > HIDDEN / 2);
}

static void refuses_dropped_and_doubled_elements(void **state)
{
    (void)state;
    audit_row row, other;
    static answers broken;
    draw_plain(&row, audit_presets[0], 5);
    answer(&broken, &row.convention, row.hidden - 1, &row); /* the last one dropped */
    broken.rounded[HIDDEN - 1] = broken.rounded[0];
    broken.exact[HIDDEN - 1] = broken.exact[0];
    assert_int_equal(refused(&row, &broken), HIDDEN);
    other = row;
    other.x[1] = other.x[0]; /* one counted twice */
    answer(&broken, &row.convention, row.hidden, &other);
    assert_int_equal(refused(&row, &broken), HIDDEN);
}

static bool row_accepted_with(const audit_row *row, ln_reference_result result)
{
    audit_take(judge, &row->convention, row->hidden, row->x);
    return audit_accepts_row(judge, &result);
}

static void refuses_wrong_facts(void **state)
{
    (void)state;
    audit_row row;
    static answers a;
    for (size_t c = 0; c < AUDIT_PRESETS; c++) {
        draw_plain(&row, audit_presets[c], c + 100);
        answer(&a, &row.convention, row.hidden, &row);
        assert_true(row_accepted_with(&row, a.result));
        size_t fields = sizeof(ln_row_facts) / sizeof(double);
        for (size_t field = 0; field < fields; field++) {
            for (int side = -1; side <= 1; side += 2) {
                ln_reference_result broken = a.result;
                double *fact = (double *)&broken.facts + field;
                *fact = nextafter(*fact, side < 0 ? -INFINITY : INFINITY);
                assert_false(row_accepted_with(&row, broken));
                *fact = (double)NAN;
                assert_false(row_accepted_with(&row, broken));
            }
        }
        ln_reference_result broken = a.result;
        broken.mean_rounded = nextafterf(broken.mean_rounded, INFINITY);
        assert_false(row_accepted_with(&row, broken));
        broken = a.result;
        broken.rstd_rounded = nextafterf(broken.rstd_rounded, 0.0f);
        assert_false(row_accepted_with(&row, broken));
        broken = a.result;
        broken.kappa *= 1 + 0x1p-50;
        assert_false(row_accepted_with(&row, broken));
        broken = a.result;
        broken.max_xhat *= 1 - 0x1p-50;
        assert_false(row_accepted_with(&row, broken));
        broken.max_xhat = a.result.max_xhat * (1 + 0x1p-50);
        assert_false(row_accepted_with(&row, broken));
    }
}

static void refuses_wrong_sums(void **state)
{
    (void)state;
    assert_true(audit_accepts_sum(judge, 1.0f, 0x1p-24f, 1.0f));
    assert_false(audit_accepts_sum(judge, 1.0f, 0x1p-24f, 1 + 0x1p-23f));
    assert_true(audit_accepts_sum(judge, 1.0f, 3 * 0x1p-24f, 1 + 0x1p-22f));
    assert_false(audit_accepts_sum(judge, 1.0f, 3 * 0x1p-24f, 1 + 0x1p-23f));
}

/* A hand-made check that does not go through the reference: {-1, 1} is its own normalisation. */
static void accepts_by_hand(void **state)
{
    (void)state;
    const float x[] = {-1, 1};
    const ln_convention c = {0, LN_EPS_NONE, 0, LN_AFFINE_NONE};
    audit_take(judge, &c, 2, x);
    assert_true(audit_is_defined(judge));
    assert_true(audit_accepts(judge, 1.0f, 1.0f, 0.0f, 1.0f, 1.0));
    assert_false(audit_accepts(judge, -1.0f, 1.0f, 0.0f, 1.0f, 1.0));
    const ln_convention unbiased = {1, LN_EPS_NONE, 0, LN_AFFINE_NONE}; /* 1 / sqrt(2) */
    audit_take(judge, &unbiased, 2, x);
    assert_true(audit_accepts(judge, 1.0f, 1.0f, 0.0f, 0x1.6a09e6p-1f, 0x1.6a09e667f3bcdp-1));
    assert_false(audit_accepts(judge, 1.0f, 1.0f, 0.0f, 0x1.6a09e6p-1f, 0x1.6a09e667f3bccp-1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(accepts_by_hand),
        cmocka_unit_test(refuses_neighbours),
        cmocka_unit_test(refuses_other_conventions),
        cmocka_unit_test(refuses_eps_in_float),
        cmocka_unit_test(refuses_dropped_and_doubled_elements),
        cmocka_unit_test(refuses_wrong_facts),
        cmocka_unit_test(refuses_wrong_sums),
    };
    return cmocka_run_group_tests_name("audit", tests, set_up, tear_down);
}
