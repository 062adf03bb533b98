/* Tests that the audit and the ball arithmetic reject answers that are wrong on purpose. */
#include "../../kernels/tests/test_list.h"
#include "audit.h"

#include <math.h>

/* ---- The audit ------------------------------------------------------------------------------- */

/* Each test gives the audit a deliberately wrong answer, which it must reject. */

enum { HIDDEN = 64 };

static ln_reference *reference;
static audit_state *judge;
static ball_set *voice;

static int set_up(void **state)
{
    (void)state;
    reference = ln_reference_create();
    judge = audit_create();
    voice = balls_version() != NULL ? balls_create() : NULL;
    return reference == NULL || judge == NULL || (balls_version() != NULL && voice == NULL);
}

static int tear_down(void **state)
{
    (void)state;
    ln_reference_destroy(reference);
    audit_destroy(judge);
    balls_destroy(voice);
    return 0;
}

typedef struct answers {
    audit_values rounded;
    double exact[AUDIT_MAX_HIDDEN], rest[AUDIT_MAX_HIDDEN];
    ln_reference_result result;
} answers;

static void answer(answers *a, const ln_convention *convention, size_t hidden, const audit_row *row)
{
    a->result = (ln_reference_result){.rounded = &a->rounded, .exact = a->exact, .rest = a->rest};
    assert_true(ln_reference_row(reference, convention, row->storage, row->param, hidden, &row->x,
                                 NULL, &row->gamma, &row->beta, &a->result));
}

static audit_claim claim_of(const audit_row *row, const answers *a, size_t i)
{
    return (audit_claim){audit_load(row->storage, &a->rounded, i), a->exact[i], a->rest[i]};
}

static bool accepts(const audit_row *row, size_t i, audit_claim claim)
{
    size_t p = row->convention.affine == LN_AFFINE_SCALAR ? 0 : i;
    return audit_accepts(judge, audit_load(row->storage, &row->x, i),
                         audit_load(row->param, &row->gamma, p),
                         audit_load(row->param, &row->beta, p), claim);
}

static void take_row(const audit_row *row)
{
    audit_take(judge, &row->convention, row->hidden, row->storage, &row->x);
}

/* A row of spread values of no special kind. */
static void draw_plain(audit_row *row, ln_type type, ln_convention convention,
                       unsigned long long seed)
{
    unsigned long long state = seed;
    row->storage = row->param = type;
    do {
        audit_row_draw(row, 0, &state);
    } while (row->hidden < HIDDEN);
    row->hidden = HIDDEN;
    row->has_residual = false;
    row->convention = convention;
    for (size_t i = 0; i < HIDDEN; i++) {
        audit_store(type, &row->gamma, i, 1.25 + (double)i / 256);
        audit_store(type, &row->beta, i, 0.125 - (double)i / 512);
    }
}

/* Returns the next number of the type on this side of value. */
static double step(ln_type type, double value, int side)
{
    audit_neighbours n = audit_neighbours_of(type, value);
    double next = side < 0 ? n.below : n.above;
    double beyond = type == LN_F16 ? 0x1p16 : type == LN_F64 ? (double)INFINITY : 0x1p128;
    return fabs(next) == beyond ? copysign((double)INFINITY, next) : next;
}

static void refuses_beside(const audit_row *row, size_t i, audit_claim right)
{
    double infinity = (double)INFINITY, nan = (double)NAN;
    bool wide = row->storage == LN_F64;
    for (int side = -1; side <= 1; side += 2) {
        audit_claim wrong = right;
        wrong.rounded = step(row->storage, right.rounded, side);
        assert_true(right.rounded == side * infinity || !accepts(row, i, wrong));
        wrong = right;
        wrong.exact = nextafter(right.exact, side * infinity);
        assert_true(right.exact == side * infinity || !accepts(row, i, wrong));
        wrong = right;
        wrong.rest = nextafter(right.rest, side * infinity);
        assert_true(accepts(row, i, wrong) == !wide);
    }
    assert_true(right.rounded != 0 ||
                !accepts(row, i, (audit_claim){-right.rounded, right.exact, right.rest}));
    assert_true(right.exact != 0 ||
                !accepts(row, i, (audit_claim){right.rounded, -right.exact, right.rest}));
    assert_true(!wide || right.rest != 0 || isinf(right.exact) ||
                !accepts(row, i, (audit_claim){right.rounded, right.exact, -right.rest}));
    assert_true(!wide || !accepts(row, i, (audit_claim){right.rounded, right.exact, nan}));
}

/* Every neighbour of every right answer is rejected, for all types and kinds of rows. */
TEST(refuses_neighbours)
{
    unsigned long long seed = 42;
    static audit_row row;
    static answers a;
    for (unsigned k = 0; k < 3 * AUDIT_TYPES * AUDIT_KINDS; k++) {
        row.storage = (ln_type)(k / AUDIT_KINDS % AUDIT_TYPES);
        row.param = k % 5 == 0 ? LN_F32 : row.storage;
        audit_row_draw(&row, k % AUDIT_KINDS, &seed);
        answer(&a, &row.convention, row.hidden, &row);
        take_row(&row);
        for (size_t i = 0; i < row.hidden; i++) {
            audit_claim right = claim_of(&row, &a, i), wrong = right;
            assert_true(accepts(&row, i, right));
            wrong.rounded = isnan(right.rounded) ? 0.0 : (double)NAN;
            assert_false(accepts(&row, i, wrong));
            wrong = right;
            wrong.exact = isnan(right.exact) ? 0.0 : (double)NAN;
            assert_false(accepts(&row, i, wrong));
            if (!isnan(right.rounded)) {
                refuses_beside(&row, i, right);
            }
        }
    }
}

/* Returns how many elements of the wrong answer the audit rejects. */
static size_t refused(const audit_row *row, const answers *broken)
{
    size_t count = 0;
    take_row(row);
    for (size_t i = 0; i < row->hidden; i++) {
        count += accepts(row, i, claim_of(row, broken, i)) ? 0 : 1;
    }
    return count;
}

TEST(refuses_other_conventions)
{
    static audit_row row;
    static answers broken;
    for (size_t c = 0; c < 2 * AUDIT_PRESETS; c++) {
        ln_type type = c < AUDIT_PRESETS ? LN_F32 : LN_F64;
        draw_plain(&row, type, audit_presets[c % AUDIT_PRESETS], c);
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
TEST(refuses_eps_in_float)
{
    static audit_row row;
    static answers broken;
    draw_plain(&row, LN_F32, audit_presets[0], 3);
    ln_convention wrong = row.convention;
    wrong.eps = (double)(float)wrong.eps;
    answer(&broken, &wrong, row.hidden, &row);
    assert_true(refused(&row, &broken) > HIDDEN / 2);
}

TEST(refuses_dropped_and_doubled_elements)
{
    static audit_row row, other;
    static answers broken;
    draw_plain(&row, LN_F32, audit_presets[0], 5);
    answer(&broken, &row.convention, row.hidden - 1, &row); /* the last one dropped */
    broken.rounded.f32[HIDDEN - 1] = broken.rounded.f32[0];
    broken.exact[HIDDEN - 1] = broken.exact[0];
    assert_int_equal(refused(&row, &broken), HIDDEN);
    other = row;
    other.x.f32[1] = other.x.f32[0]; /* one counted twice */
    answer(&broken, &row.convention, row.hidden, &other);
    assert_int_equal(refused(&row, &broken), HIDDEN);
}

static bool row_accepted_with(const audit_row *row, ln_reference_result result)
{
    take_row(row);
    return audit_accepts_row(judge, &result);
}

TEST(refuses_wrong_facts)
{
    static audit_row row;
    static answers a;
    for (size_t c = 0; c < AUDIT_TYPES * AUDIT_PRESETS; c++) {
        draw_plain(&row, (ln_type)(c / AUDIT_PRESETS), audit_presets[c % AUDIT_PRESETS], c + 100);
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

TEST(refuses_wrong_sums)
{
    for (int k = 0; k < AUDIT_TYPES; k++) {
        const int bits[] = {24, 53, 8, 11};
        double half = ldexp(1.0, -bits[k]); /* of an ulp of 1 */
        ln_type type = (ln_type)k;
        assert_true(audit_accepts_sum(judge, type, 1.0, half, 1.0));
        assert_false(audit_accepts_sum(judge, type, 1.0, half, 1 + 2 * half));
        assert_true(audit_accepts_sum(judge, type, 1.0, 3 * half, 1 + 4 * half));
        assert_false(audit_accepts_sum(judge, type, 1.0, 3 * half, 1 + 2 * half));
    }
}

/* A check by hand without the reference: {-1, 1} is its own normalisation. */
TEST(accepts_by_hand)
{
    const float x[] = {-1, 1};
    const double wide[] = {-1, 1};
    const double half_root_2 = 0x1.6a09e667f3bcdp-1, below = 0x1.6a09e667f3bccp-1;
    const ln_convention c = {.eps_place = LN_EPS_NONE};
    audit_take(judge, &c, 2, LN_F32, x);
    assert_true(audit_is_defined(judge));
    assert_true(audit_accepts(judge, 1, 1, 0, (audit_claim){1, 1, 0}));
    assert_false(audit_accepts(judge, -1, 1, 0, (audit_claim){1, 1, 0}));
    const ln_convention unbiased = {.ddof = 1}; /* 1 / sqrt(2) */
    audit_take(judge, &unbiased, 2, LN_F32, x);
    assert_true(audit_accepts(judge, 1, 1, 0, (audit_claim){0x1.6a09e6p-1, half_root_2, 0}));
    assert_false(audit_accepts(judge, 1, 1, 0, (audit_claim){0x1.6a09e6p-1, below, 0}));
    audit_take(judge, &unbiased, 2, LN_F64, wide);
    const double rest = -0x1.bdd3413b26456p-2; /* of an ulp */
    assert_true(audit_accepts(judge, 1, 1, 0, (audit_claim){half_root_2, half_root_2, rest}));
    assert_false(audit_accepts(judge, 1, 1, 0, (audit_claim){half_root_2, half_root_2, 0}));
}

/* ---- Ball arithmetic ------------------------------------------------------------------------- */

/* Ball arithmetic accepts right answers, rejects their neighbours, and does not decide ties and zeros. */

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

typedef struct ball_answers {
    audit_values rounded;
    double exact[AUDIT_MAX_HIDDEN], rest[AUDIT_MAX_HIDDEN];
} ball_answers;

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
static void judge_row(const audit_row *row, const ball_answers *a)
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
    static ball_answers a;
    ln_reference *certifier = ln_reference_create();
    assert_non_null(certifier);
    unsigned long long random = 7;
    ln_reference_result result = {.rounded = &a.rounded, .exact = a.exact, .rest = a.rest};
    for (unsigned r = 0; r < 80; r++) {
        row.storage = row.param = (ln_type)(r % AUDIT_TYPES);
        audit_row_draw(&row, r / AUDIT_TYPES % AUDIT_KINDS, &random);
        assert_true(ln_reference_row(certifier, &row.convention, row.storage, row.param, row.hidden,
                                     &row.x, NULL, &row.gamma, &row.beta, &result));
        if (!isnan(result.facts.rstd)) {
            balls_take(voice, &row.convention, row.hidden, row.storage, &row.x);
            judge_row(&row, &a);
        }
    }
    ln_reference_destroy(certifier);
}

/* n instead of n - 1 is wrong for every element of an ordinary row. */
TEST(another_divisor)
{
    need_arb();
    const float x[] = {1, 2, 4, 8, 16};
    float rounded[5];
    double exact[5];
    ln_convention c = {.ddof = 1, .eps_place = LN_EPS_VAR, .eps = 1e-5};
    ln_reference_result result = {.rounded = rounded, .exact = exact};
    ln_reference *certifier = ln_reference_create();
    assert_non_null(certifier);
    assert_true(ln_reference_row(certifier, &c, LN_F32, LN_F32, 5, x, NULL, NULL, NULL, &result));
    for (int ddof = 0; ddof < 2; ddof++) {
        c.ddof = ddof;
        balls_take(voice, &c, 5, LN_F32, x);
        for (size_t i = 0; i < 5; i++) {
            audit_claim claim = {(double)rounded[i], exact[i], 0};
            assert_int_equal(balls_judge(voice, (double)x[i], 1, 0, claim),
                             ddof == 1 ? BALLS_RIGHT : BALLS_WRONG);
        }
    }
    ln_reference_destroy(certifier);
}

int main(void)
{
    return test_run(set_up, tear_down);
}
