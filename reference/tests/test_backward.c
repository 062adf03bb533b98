/* The gradients against rows worked out by hand. (On random rows: gradient_audit, exactly; and against
 * differences of the forward formula: test_lnbench.py.) */
#include "../../kernels/tests/test_list.h"
#include "audit_types.h"
#include "certify/backward.h"

#include <math.h>

enum { ROWS = 2, MOST = 12 };

typedef struct problem {
    ln_convention convention;
    ln_type storage, param;
    size_t hidden;
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
    problem p = {.convention = {.affine = LN_AFFINE_VECTOR},
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
    p.convention = (ln_convention){
        .eps_place = LN_EPS_STD, .eps = 1, .affine = LN_AFFINE_GAMMA1}; /* eps is s: D = 2, g = 3 */
    solve(&p); /* (w - mean) / 2 - c (sum(w c) / 4) / 4 = 3 (3/8 - 1/16), 3 (-1/8 - 1/16) ... */
    const double on_std[] = {0.9375, -0.5625, -0.1875, -0.1875};
    for (size_t i = 0; i < 8; i++) {
        same(p.dx[i], on_std[i % 4]);
    }
    same(p.dgamma[0], -1);
    p.convention =
        (ln_convention){.eps_place = LN_EPS_QUOTIENT, .eps = 0.5, .affine = LN_AFFINE_SCALAR};
    solve(&p); /* one gamma, 2: as at first; xhat + eps = -1/2 */
    same(p.dx[0], 1);
    same(p.dgamma[0], -1);
    same(p.dbeta[0], 2);
    p.convention = (ln_convention){.eps_place = LN_EPS_VAR, .eps = 3};
    solve(&p); /* D = 2: (w - mean) / 2 - c mean(w c) / 8 = 3/8 - 1/32, -1/8 - 1/32, -1/8 + 1/32 */
    same(p.dx[0], 0.34375);
    same(p.dx[1], -0.15625);
    same(p.dx[2], -0.09375);
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
        same(p.dbeta[0], 1 + 0x1p-8);
        same(audit_load(LN_BF16, p.dbeta_stored, 0), wanted[i]);
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
    same(p.dgamma[0], 0);
    p.convention.eps_place = LN_EPS_NONE;
    solve(&p);
    assert_true(isnan(p.dx[0]) && isnan(p.dgamma[0]));
    same(p.dbeta[1], 4);
    p.convention =
        (ln_convention){.eps_place = LN_EPS_VAR, .eps = 0.25, .affine = LN_AFFINE_VECTOR};
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
