/* The gradients against rows worked out by hand, against differences of the forward formula taken
 * with 2400 bits, and against the identities that hold for their exact values. */
#include "../../kernels/tests/test_list.h"
#include "audit_rows.h"
#include "audit_types.h"
#include "certify/backward.h"

#include <gmp.h>
#include <math.h>

enum { ROWS = 2, MOST = 12, BITS = 2400, STEP = 700, ROUNDS = 156 };

typedef struct problem {
    ln_convention convention;
    ln_type storage, param;
    size_t hidden;
    double x[ROWS][MOST], dy[ROWS][MOST], gamma[MOST]; /* as values; stored below */
    double x_stored[ROWS * MOST], dy_stored[ROWS * MOST], gamma_stored[MOST];
    double dx[ROWS * MOST], dgamma[MOST], dbeta[MOST];
    double dx_stored[ROWS * MOST], dgamma_stored[MOST], dbeta_stored[MOST]; /* room for any type */
} problem;

static void solve(problem *p)
{
    ln_gradients gradients = {.dx = {p->dx_stored, p->dx},
                              .dgamma = {p->dgamma_stored, p->dgamma},
                              .dbeta = {p->dbeta_stored, p->dbeta}};
    assert_true(ln_backward(&p->convention, p->storage, p->param, ROWS, p->hidden, p->x_stored,
                            p->dy_stored, p->gamma_stored, &gradients));
}

/* The same row in both places. */
static void set_rows(problem *p, size_t hidden, const double *x, const double *dy)
{
    p->hidden = hidden;
    for (size_t i = 0; i < ROWS * hidden; i++) {
        p->x_stored[i] = x[i % hidden];
        p->dy_stored[i] = dy[i % hidden];
    }
}

static void same(double got, double wanted)
{
    if (!(got == wanted && signbit(got) == signbit(wanted))) {
        fail_msg("got %a, wanted %a", got, wanted);
    }
}

/* x = -1 -1 1 1, var 1. dy = 1 0 0 0: w - mean = 3/4 -1/4 -1/4 -1/4, sum(w c) = -1. */
TEST(by_hand)
{
    const double x[] = {-1, -1, 1, 1}, dy[] = {1, 0, 0, 0};
    problem p = {.convention = {0, LN_EPS_NONE, 0, LN_AFFINE_VECTOR},
                 .storage = LN_F64,
                 .param = LN_F64,
                 .gamma_stored = {2, 5, 5, 5}};
    set_rows(&p, 4, x, dy);
    solve(&p); /* 2 (w - mean - c mean(w c)), c mean(w c) = 1/4 1/4 -1/4 -1/4 */
    const double dx[] = {1, -1, 0, 0};
    for (size_t i = 0; i < 8; i++) {
        same(p.dx[i], dx[i % 4]);
        same(p.dx_stored[i], dx[i % 4]);
    }
    same(p.dgamma[0], -2); /* of both rows */
    same(p.dgamma[1], 0);
    same(p.dbeta[0], 2);
    same(p.dbeta[3], 0);
    p.convention = (ln_convention){0, LN_EPS_STD, 1, LN_AFFINE_GAMMA1}; /* eps is s: D = 2, g = 3 */
    solve(&p); /* (w - mean) / 2 - c (sum(w c) / 4) / 4 = 3 (3/8 - 1/16), 3 (-1/8 - 1/16) ... */
    const double on_std[] = {0.9375, -0.5625, -0.1875, -0.1875};
    for (size_t i = 0; i < 8; i++) {
        same(p.dx[i], on_std[i % 4]);
    }
    same(p.dgamma[0], -1);
    p.convention = (ln_convention){0, LN_EPS_QUOTIENT, 0.5, LN_AFFINE_SCALAR};
    solve(&p); /* one gamma, 2: as at first; xhat + eps = -1/2 */
    same(p.dx[0], 1);
    same(p.dgamma[0], -1);
    same(p.dbeta[0], 2);
    p.convention = (ln_convention){0, LN_EPS_VAR, 3, LN_AFFINE_NONE};
    solve(&p); /* D = 2: (w - mean) / 2 - c mean(w c) / 8 = 3/8 - 1/32, -1/8 - 1/32, -1/8 + 1/32 */
    same(p.dx[0], 0.34375);
    same(p.dx[1], -0.15625);
    same(p.dx[2], -0.09375);
}

/* Two rows whose terms of dgamma are sqrt(2) / 2 and -sqrt(2) / 2: variances 2 and 8. */
TEST(roots_that_cancel)
{
    problem p = {.convention = {1, LN_EPS_NONE, 0, LN_AFFINE_VECTOR},
                 .storage = LN_F64,
                 .param = LN_F64,
                 .hidden = 2,
                 .x_stored = {-1, 1, -2, 2},
                 .dy_stored = {3, 1, -3, -1},
                 .gamma_stored = {1, 1}};
    solve(&p);
    same(p.dgamma[0], 0);
    same(p.dgamma[1], 0);
    same(p.dbeta[1], 0);
    p.dy_stored[2] = -3 - 0x1p-50; /* and nearly */
    solve(&p);
    same(p.dgamma[0], 0x1.6a09e667f3bcdp-51); /* 2^-50 sqrt(1/2) */
}

/* dbeta = 1 + 2^-8, a tie of bf16 and what lies too close to it for a double to tell. */
TEST(ties_of_short_types)
{
    const double hairs[] = {0, 0x1p-100, -0x1p-100}, wanted[] = {1, 1 + 0x1p-7, 1};
    problem p = {.convention = {0, LN_EPS_VAR, 1, LN_AFFINE_SCALAR},
                 .storage = LN_F32,
                 .param = LN_BF16,
                 .hidden = 2};
    for (int i = 0; i < 3; i++) {
        const double dy[] = {1, 0x1p-8, hairs[i], 0};
        for (size_t j = 0; j < 4; j++) {
            audit_store(LN_F32, p.dy_stored, j, dy[j]);
        }
        solve(&p);
        same(p.dbeta[0], 1 + 0x1p-8);
        same(audit_load(LN_BF16, p.dbeta_stored, 0), wanted[i]);
    }
}

TEST(where_there_is_none)
{
    const double constant[] = {3, 3}, dy[] = {1, 2};
    problem p = {.convention = {0, LN_EPS_STD, 1e-5, LN_AFFINE_VECTOR},
                 .storage = LN_F64,
                 .param = LN_F64,
                 .gamma_stored = {1, 1}};
    set_rows(&p, 2, constant, dy);
    solve(&p);
    assert_true(isnan(p.dx[0]) && isnan(p.dx_stored[3]));
    same(p.dgamma[0], 0);
    p.convention.eps_place = LN_EPS_NONE;
    solve(&p);
    assert_true(isnan(p.dx[0]) && isnan(p.dgamma[0]));
    same(p.dbeta[1], 4);
    p.convention = (ln_convention){0, LN_EPS_VAR, 0.25, LN_AFFINE_VECTOR};
    solve(&p);
    same(p.dx[0], -1);
    p.dy_stored[3] = (double)INFINITY;
    solve(&p);
    same(p.dx[1], 1);
    assert_true(isnan(p.dx[2]) && isnan(p.dgamma[1]) && isnan(p.dbeta[1]));
    same(p.dbeta[0], 2);
    p.x_stored[0] = (double)NAN;
    solve(&p);
    assert_true(isnan(p.dx[1]) && isnan(p.dgamma[0]));
    same(p.dbeta[0], 2);
    p.convention = (ln_convention){2, LN_EPS_NONE, (double)NAN, LN_AFFINE_NONE};
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

/* loss = sum dy (gamma ((x - mean) / D + e)) of one row, x[at] moved by step. */
static void loss(const problem *p, size_t row, size_t at, mpf_srcptr step, mpf_t value)
{
    const ln_convention *c = &p->convention;
    mpf_t x[MOST], mean, var, other;
    mpf_inits(mean, var, other, NULL);
    for (size_t i = 0; i < p->hidden; i++) {
        mpf_init_set_d(x[i], p->x[row][i]);
        if (i == at) {
            mpf_add(x[i], x[i], step);
        }
        mpf_add(mean, mean, x[i]);
    }
    mpf_div_ui(mean, mean, p->hidden);
    for (size_t i = 0; i < p->hidden; i++) {
        mpf_sub(x[i], x[i], mean);
        mpf_mul(other, x[i], x[i]);
        mpf_add(var, var, other);
    }
    mpf_div_ui(var, var, p->hidden - (size_t)c->ddof);
    mpf_set_d(other, c->eps);
    if (c->eps_place == LN_EPS_VAR) {
        mpf_add(var, var, other);
    }
    mpf_sqrt(var, var);
    if (c->eps_place == LN_EPS_STD) {
        mpf_add(var, var, other);
    }
    mpf_set_ui(value, 0);
    for (size_t i = 0; i < p->hidden; i++) {
        mpf_div(x[i], x[i], var);
        mpf_set_d(other, p->gamma[i]);
        mpf_mul(x[i], x[i], other);
        mpf_set_d(other, p->dy[row][i]);
        mpf_mul(x[i], x[i], other);
        mpf_add(value, value, x[i]);
        mpf_clear(x[i]);
    }
    mpf_clears(mean, var, other, NULL);
}

/* d loss / d x[at] by the difference of two sides: off by some 2^-1300 of the loss. */
static void difference(const problem *p, size_t row, size_t at, mpf_t slope)
{
    mpf_t step, behind;
    mpf_inits(step, behind, NULL);
    mpf_set_ui(step, 1);
    mpf_div_2exp(step, step, STEP);
    loss(p, row, at, step, slope);
    mpf_neg(step, step);
    loss(p, row, at, step, behind);
    mpf_sub(slope, slope, behind);
    mpf_mul_2exp(slope, slope, STEP - 1);
    mpf_clears(step, behind, NULL);
}

/* Between the middles beside it, or as close to one as the difference is off. */
static void rounds_to(mpf_srcptr slope, ln_type type, double claimed)
{
    audit_neighbours n = audit_neighbours_of(type, claimed);
    double beside[] = {n.below, n.above};
    mpf_t middle, other, hair;
    mpf_inits(middle, other, hair, NULL);
    mpf_set_ui(hair, 1);
    mpf_div_2exp(hair, hair, 1200);
    for (int i = 0; i < 2; i++) {
        mpf_set_d(middle, beside[i]);
        mpf_set_d(other, n.value);
        mpf_add(middle, middle, other);
        mpf_div_2exp(middle, middle, 1);
        mpf_sub(middle, i == 0 ? middle : slope, i == 0 ? slope : middle);
        if (mpf_cmp(middle, hair) > 0) {
            fail_msg("%a is no rounding of %.17g", claimed, mpf_get_d(slope));
        }
    }
    mpf_clears(middle, other, hair, NULL);
}

static double uniform(unsigned long long *random)
{
    return (double)(audit_random(random) >> 12) * 0x1p-51 - 1;
}

static void store(ln_type type, void *stored, size_t i, double value, double *kept)
{
    audit_store(type, stored, i, value);
    *kept = audit_load(type, stored, i);
}

static void draw(problem *p, unsigned round, unsigned long long *random)
{
    *p = (problem){.storage = (ln_type)(round % AUDIT_TYPES),
                   .param = (ln_type)(round / 3 % AUDIT_TYPES),
                   .hidden = 3 + audit_random(random) % (MOST - 2)};
    p->convention = audit_presets[round % AUDIT_PRESETS];
    if (round % 3 == 0) {
        p->convention.affine = (ln_affine)(audit_random(random) % 5);
    }
    double offset = round % 5 == 0 ? 1000 : 0, power = round % 7 == 0 ? 0x1p-10 : 1;
    for (size_t i = 0; i < ROWS * p->hidden; i++) {
        size_t row = i / p->hidden, at = i % p->hidden;
        store(p->storage, p->x_stored, i, offset + power * uniform(random), &p->x[row][at]);
        store(p->storage, p->dy_stored, i, uniform(random), &p->dy[row][at]);
    }
    p->x[0][0] = p->x[1][0] = offset + 5; /* no row is constant */
    audit_store(p->storage, p->x_stored, 0, offset + 5);
    audit_store(p->storage, p->x_stored, p->hidden, offset + 5);
    p->x[0][0] = p->x[1][0] = audit_load(p->storage, p->x_stored, 0);
    ln_affine affine = p->convention.affine;
    for (size_t i = 0; i < p->hidden; i++) {
        store(p->param, p->gamma_stored, i, 1 + 0.5 * uniform(random), &p->gamma[i]);
        double stored = affine == LN_AFFINE_SCALAR ? p->gamma[0] : p->gamma[i];
        p->gamma[i] = affine == LN_AFFINE_NONE ? 1 : stored;
    }
}

/* 1 + gamma need not be a double: it is drawn so that it is. */
static void use_gamma1(problem *p)
{
    for (size_t i = 0; p->convention.affine == LN_AFFINE_GAMMA1 && i < p->hidden; i++) {
        store(p->param, p->gamma_stored, i, (double)i / 16, &p->gamma[i]);
        p->gamma[i] += 1;
    }
}

TEST(against_differences)
{
    static problem p;
    unsigned long long random = 3;
    mpf_set_default_prec(BITS);
    mpf_t slope;
    mpf_init(slope);
    for (unsigned round = 0; round < ROUNDS; round++) {
        draw(&p, round, &random);
        use_gamma1(&p);
        solve(&p);
        for (size_t i = 0; i < ROWS * p.hidden; i++) {
            difference(&p, i / p.hidden, i % p.hidden, slope);
            rounds_to(slope, LN_F64, p.dx[i]);
            rounds_to(slope, p.storage, audit_load(p.storage, p.dx_stored, i));
        }
    }
    mpf_clear(slope);
}

/* loss is linear in gamma: dgamma[at] is the loss with gamma 1 there and 0 elsewhere, and
 * dy eps on the quotient. */
TEST(parameters_against_the_loss)
{
    static problem p;
    unsigned long long random = 4;
    mpf_set_default_prec(BITS);
    mpf_t slope, part, zero, sum;
    mpf_inits(slope, part, zero, sum, NULL);
    for (unsigned round = 0; round < ROUNDS; round++) {
        draw(&p, round, &random);
        solve(&p);
        bool scalar = p.convention.affine == LN_AFFINE_SCALAR;
        for (size_t at = 0; at < (scalar ? 1 : p.hidden); at++) {
            mpf_set_ui(slope, 0);
            mpf_set_ui(sum, 0);
            for (size_t i = 0; i < p.hidden; i++) {
                p.gamma[i] = scalar || i == at ? 1 : 0;
            }
            for (size_t row = 0; row < ROWS; row++) {
                loss(&p, row, 0, zero, part);
                mpf_add(slope, slope, part);
                for (size_t i = 0; i < p.hidden; i++) {
                    mpf_set_d(part, p.gamma[i] * p.dy[row][i]);
                    mpf_add(sum, sum, part);
                }
            }
            mpf_set_d(part, p.convention.eps_place == LN_EPS_QUOTIENT ? p.convention.eps : 0);
            mpf_mul(part, part, sum);
            mpf_add(slope, slope, part);
            if (p.convention.affine != LN_AFFINE_NONE) {
                rounds_to(slope, LN_F64, p.dgamma[at]);
                rounds_to(slope, p.param, audit_load(p.param, p.dgamma_stored, at));
            }
            if (p.convention.affine != LN_AFFINE_NONE && p.convention.affine != LN_AFFINE_GAMMA) {
                rounds_to(sum, LN_F64, p.dbeta[at]);
                rounds_to(sum, p.param, audit_load(p.param, p.dbeta_stored, at));
            }
        }
    }
    mpf_clears(slope, part, zero, sum, NULL);
}

/* sum(dx) = 0 always, sum(dx c) = 0 without eps: to half an ulp of each dx. */
TEST(identities)
{
    static problem p;
    unsigned long long random = 5;
    mpq_t sum, with_c, slack, slack_c, mean, c, dx, half;
    mpq_inits(sum, with_c, slack, slack_c, mean, c, dx, half, NULL);
    for (unsigned round = 0; round < ROUNDS; round++) {
        draw(&p, round, &random);
        bool without_eps = round % 2 == 0;
        if (without_eps) {
            p.convention.eps_place = LN_EPS_NONE;
        }
        solve(&p);
        mpq_set_ui(mean, 0, 1);
        for (size_t i = 0; i < p.hidden; i++) {
            mpq_set_d(c, p.x[0][i]);
            mpq_add(mean, mean, c);
        }
        mpq_set_ui(c, p.hidden, 1);
        mpq_div(mean, mean, c);
        mpq_set_ui(sum, 0, 1);
        mpq_set(with_c, sum);
        mpq_set(slack, sum);
        mpq_set(slack_c, sum);
        for (size_t i = 0; i < p.hidden; i++) {
            mpq_set_d(c, p.x[0][i]);
            mpq_sub(c, c, mean);
            mpq_set_d(dx, p.dx[i]);
            mpq_set_d(half, nextafter(fabs(p.dx[i]), INFINITY) - fabs(p.dx[i]));
            mpq_div_2exp(half, half, 1);
            mpq_add(sum, sum, dx);
            mpq_add(slack, slack, half);
            mpq_mul(dx, dx, c);
            mpq_add(with_c, with_c, dx);
            mpq_abs(c, c);
            mpq_mul(half, half, c);
            mpq_add(slack_c, slack_c, half);
        }
        mpq_abs(sum, sum);
        mpq_abs(with_c, with_c);
        assert_true(mpq_cmp(sum, slack) <= 0);
        assert_true(!without_eps || mpq_cmp(with_c, slack_c) <= 0);
    }
    mpq_clears(sum, with_c, slack, slack_c, mean, c, dx, half, NULL);
}
