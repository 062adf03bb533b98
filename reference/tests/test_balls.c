/* The third voice: it says right of what is right, wrong of what lies a place beside, and nothing
 * of ties and zeros. */
#include "../../kernels/tests/test_list.h"
#include "audit_rows.h"
#include "audit_types.h"
#include "balls.h"

#include <math.h>
#include <stdio.h>

static ball_set *voice;

static int set_up(void **state)
{
    (void)state;
    voice = balls_version() != NULL ? balls_create() : NULL;
    return balls_version() != NULL && voice == NULL;
}

static int tear_down(void **state)
{
    (void)state;
    balls_destroy(voice);
    return 0;
}

static void need_arb(void)
{
    if (balls_version() == NULL) {
        print_message("skipped: built without Arb (Debian: libflint-arb-dev)\n");
        skip();
    }
}

/* xhat is -1 and 1. */
TEST(by_hand)
{
    need_arb();
    const float x[] = {-3, 3};
    const ln_convention c = {.affine = LN_AFFINE_VECTOR};
    balls_take(voice, &c, 2, LN_F32, x);
    assert_int_equal(balls_judge(voice, 3, 3, 0.5, (audit_claim){3.5, 3.5, 0}), BALLS_RIGHT);
    assert_int_equal(balls_judge(voice, 3, 3, 0.5, (audit_claim){0x1.c00002p+1, 3.5, 0}),
                     BALLS_WRONG);
    assert_int_equal(balls_judge(voice, 3, 3, 0.5, (audit_claim){3.5, 0x1.c000000000001p+1, 0}),
                     BALLS_WRONG);
    double nan = (double)NAN;
    assert_int_equal(balls_judge(voice, 3, 3, 0.5, (audit_claim){nan, nan, 0}), BALLS_WRONG);
    audit_claim zero = {0, 0, 0}, tie = {1, 1 + 0x1p-24, 0};
    assert_int_equal(balls_judge(voice, 3, 3, -3, zero), BALLS_UNDECIDED);
    assert_int_equal(balls_judge(voice, 3, 1, 0x1p-24, tie), BALLS_UNDECIDED);
    assert_int_equal(balls_judge(voice, 3, 1, 0x1.8p-24, tie), BALLS_WRONG);
    assert_int_equal(balls_judge(voice, 3, 0x1p127, 0x1p127, (audit_claim){INFINITY, 0x1p128, 0}),
                     BALLS_RIGHT);
    assert_int_equal(balls_judge(voice, 3, 0x1p126, 0x1p126, (audit_claim){INFINITY, 0x1p127, 0}),
                     BALLS_WRONG);
    assert_int_equal(balls_judge(voice, 3, -0x1p-200, 0, (audit_claim){-0.0, -0x1p-200, 0}),
                     BALLS_RIGHT);
    assert_int_equal(balls_judge(voice, 3, -0x1p-200, 0, (audit_claim){0.0, -0x1p-200, 0}),
                     BALLS_WRONG);
}

typedef struct answers {
    audit_values rounded;
    double exact[AUDIT_MAX_HIDDEN], rest[AUDIT_MAX_HIDDEN];
} answers;

static double parameter(const audit_row *row, const audit_values *values, size_t i)
{
    return audit_load(row->param, values, row->convention.affine == LN_AFFINE_SCALAR ? 0 : i);
}

static audit_claim beside(ln_type type, audit_claim claim, unsigned what)
{
    if (what == 0) {
        claim.rounded = audit_neighbours_of(type, claim.rounded).above;
    } else if (what == 1) {
        claim.exact = nextafter(claim.exact, INFINITY);
    } else {
        claim.rest = nextafter(claim.rest, INFINITY);
    }
    return claim;
}

/* Normal and offset rows have neither ties nor zeros. */
static void judge_row(const audit_row *row, const answers *a)
{
    for (size_t i = 0; i < row->hidden; i++) {
        audit_claim claim = {audit_load(row->storage, &a->rounded, i), a->exact[i], a->rest[i]};
        double x = audit_load(row->storage, &row->x, i);
        double gamma = parameter(row, &row->gamma, i), beta = parameter(row, &row->beta, i);
        assert_int_not_equal(balls_judge(voice, x, gamma, beta, claim), BALLS_WRONG);
        for (unsigned what = 0; what < (row->storage == LN_F64 ? 3 : 2); what++) {
            audit_claim moved = beside(row->storage, claim, what);
            assert_int_not_equal(balls_judge(voice, x, gamma, beta, moved), BALLS_RIGHT);
        }
    }
}

TEST(drawn_rows)
{
    need_arb();
    static audit_row row;
    static answers a;
    ln_reference *reference = ln_reference_create();
    assert_non_null(reference);
    unsigned long long random = 7;
    ln_reference_result result = {.rounded = &a.rounded, .exact = a.exact, .rest = a.rest};
    for (unsigned r = 0; r < 80; r++) {
        row.storage = row.param = (ln_type)(r % AUDIT_TYPES);
        audit_row_draw(&row, r / AUDIT_TYPES % AUDIT_KINDS, &random);
        assert_true(ln_reference_row(reference, &row.convention, row.storage, row.param, row.hidden,
                                     &row.x, NULL, &row.gamma, &row.beta, &result));
        if (!isnan(result.facts.rstd)) {
            balls_take(voice, &row.convention, row.hidden, row.storage, &row.x);
            judge_row(&row, &a);
        }
    }
    ln_reference_destroy(reference);
}

/* n for n - 1 in a plain row is wrong for every element. */
TEST(another_divisor)
{
    need_arb();
    const float x[] = {1, 2, 4, 8, 16};
    float rounded[5];
    double exact[5];
    ln_convention c = {.ddof = 1, .eps_place = LN_EPS_VAR, .eps = 1e-5};
    ln_reference_result result = {.rounded = rounded, .exact = exact};
    ln_reference *reference = ln_reference_create();
    assert_non_null(reference);
    assert_true(ln_reference_row(reference, &c, LN_F32, LN_F32, 5, x, NULL, NULL, NULL, &result));
    for (int ddof = 0; ddof < 2; ddof++) {
        c.ddof = ddof;
        balls_take(voice, &c, 5, LN_F32, x);
        for (size_t i = 0; i < 5; i++) {
            audit_claim claim = {(double)rounded[i], exact[i], 0};
            assert_int_equal(balls_judge(voice, (double)x[i], 1, 0, claim),
                             ddof == 1 ? BALLS_RIGHT : BALLS_WRONG);
        }
    }
    ln_reference_destroy(reference);
}

int main(void)
{
    return test_run(set_up, tear_down);
}
