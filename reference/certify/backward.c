/* The gradients in closed form, for every convention.
 *
 * With N = hidden, M = N - ddof, c_i = x_i - mean, s = sqrt(var), var = sum(c^2) / M, e the eps of
 * the quotient (else 0), g_i = gamma_i (1 + gamma_i, or 1) and D the denominator,
 *
 *     y_i = g_i (c_i / D + e) + beta_i
 *     dbeta_i = sum over rows of dy_i          dgamma_i = sum over rows of dy_i (c_i / D + e)
 *
 * and, under LN_AFFINE_SCALAR, over i as well. For dx let w_i = g_i dy_i. From dc_i/dx_j =
 * [i = j] - 1/N and dvar/dx_j = 2 c_j / M (the c sum to 0):
 *
 *     dD/dx_j = c_j / (M D)   eps in the variance, on the quotient, none: D = sqrt(var + eps)
 *     dD/dx_j = c_j / (M s)   eps on the std: D = s + eps
 *     dx_j = sum_i w_i d(c_i / D)/dx_j
 *          = (w_j - mean(w)) / D - c_j sum(w c) / (M D^2 R),   R = D, or s with eps on the std
 *
 * With ddof 0 and eps in the variance that is rstd (w - mean(w) - xhat mean(w xhat)): Ba, Kiros,
 * Hinton, "Layer Normalization", 2016, differentiated, and what torch.nn.functional.layer_norm
 * documents as its forward. Without eps, sum(dx) = 0 and sum(dx xhat) = 0; with eps only the first holds.
 *
 * All numbers except D, R and s are rational. With t = sqrt(r), r = var + eps, or var with eps on the std,
 * every number of a row is p + q t with rational p and q: 1 / D = t / r and 1 / R = t / r, except with
 * eps on the std, where 1 / D = (t - eps) / (r - eps^2), or 1 / (2 eps) if r = eps^2. The last step
 * rounds p + q t, and for dgamma a sum of such numbers, one for each row (root_sum.c). */
#include "certify/backward.h"

#include "exact/root_sum.h"
#include "metrics/storage.h"

#include <math.h>
#include <stdlib.h>

/* p + q t, t the root of the row. */
typedef struct surd_value {
    mpq_t p, q;
} surd_value;

typedef struct row_state {
    bool has_xhat, has_dx;       /* defined, not NaN */
    mpq_t mean, r, w_mean, w_c;  /* w_c = sum(w c) / M */
    surd_value over_d, over_ddr; /* 1 / D, 1 / (D^2 R) */
} row_state;

typedef struct task {
    ln_convention convention;
    ln_type storage, param;
    size_t rows, hidden;
    const void *x, *dy, *gamma;
    bool gamma_is_finite;
    row_state *states;
    root_sum sum;
    mpq_t a, b, c; /* scratch */
} task;

static void surd_init(surd_value *s)
{
    mpq_inits(s->p, s->q, NULL);
}

static void surd_clear(surd_value *s)
{
    mpq_clears(s->p, s->q, NULL);
}

/* s = a b; s is neither of them. */
static void surd_multiply(surd_value *s, const surd_value *a, const surd_value *b, mpq_srcptr r)
{
    mpq_t other;
    mpq_init(other);
    mpq_mul(s->p, a->q, b->q);
    mpq_mul(s->p, s->p, r);
    mpq_mul(other, a->p, b->p);
    mpq_add(s->p, s->p, other);
    mpq_mul(s->q, a->p, b->q);
    mpq_mul(other, a->q, b->p);
    mpq_add(s->q, s->q, other);
    mpq_clear(other);
}

static double element(const task *t, const void *values, size_t row, size_t i)
{
    return storage_load(t->storage, values, row * t->hidden + i);
}

static size_t parameter_of(const task *t, size_t i)
{
    return t->convention.affine == LN_AFFINE_SCALAR ? 0 : i;
}

/* w = g dy. */
static void set_weight(const task *t, size_t row, size_t i, mpq_t w)
{
    mpq_set_d(w, element(t, t->dy, row, i));
    if (ln_has_gamma(t->convention.affine)) {
        mpq_t gamma, one;
        mpq_inits(gamma, one, NULL);
        mpq_set_d(gamma, storage_load(t->param, t->gamma, parameter_of(t, i)));
        mpq_set_ui(one, t->convention.affine == LN_AFFINE_GAMMA1 ? 1 : 0, 1);
        mpq_add(gamma, gamma, one);
        mpq_mul(w, w, gamma);
        mpq_clears(gamma, one, NULL);
    }
}

static bool values_are_finite(const task *t, const void *values, size_t row)
{
    for (size_t i = 0; i < t->hidden; i++) {
        if (!isfinite(element(t, values, row, i))) {
            return false;
        }
    }
    return true;
}

/* c = x - mean. */
static void set_deviation(const task *t, size_t row, size_t i, mpq_t c)
{
    mpq_set_d(c, element(t, t->x, row, i));
    mpq_sub(c, c, t->states[row].mean);
}

/* Computes mean and var; r holds var afterwards. */
static void take_moments(task *t, size_t row)
{
    row_state *s = &t->states[row];
    for (size_t i = 0; i < t->hidden; i++) {
        mpq_set_d(t->a, element(t, t->x, row, i));
        mpq_add(s->mean, s->mean, t->a);
    }
    mpq_set_ui(t->a, t->hidden, 1);
    mpq_div(s->mean, s->mean, t->a);
    for (size_t i = 0; i < t->hidden; i++) {
        set_deviation(t, row, i, t->a);
        mpq_mul(t->a, t->a, t->a);
        mpq_add(s->r, s->r, t->a);
    }
    mpq_set_si(t->a, (long)t->hidden - t->convention.ddof, 1);
    mpq_div(s->r, s->r, t->a);
}

/* over_d with eps on the std; a = eps. */
static void take_eps_on_std(task *t, row_state *s)
{
    mpq_mul(t->b, t->a, t->a);
    mpq_sub(t->b, s->r, t->b);
    if (mpq_sgn(t->b) == 0) {
        mpq_add(t->b, t->a, t->a);
        mpq_inv(s->over_d.p, t->b);
        return;
    }
    mpq_inv(s->over_d.q, t->b);
    mpq_mul(s->over_d.p, s->over_d.q, t->a);
    mpq_neg(s->over_d.p, s->over_d.p);
}

/* Computes 1 / D and 1 / (D^2 R) if they exist. r holds var before. */
static void take_denominators(task *t, row_state *s)
{
    double eps = t->convention.eps_place == LN_EPS_NONE ? 0 : t->convention.eps;
    bool on_std = t->convention.eps_place == LN_EPS_STD && eps != 0;
    mpq_set_d(t->a, eps);
    if (t->convention.eps_place == LN_EPS_VAR) {
        mpq_add(s->r, s->r, t->a);
    }
    s->has_xhat = on_std ? eps > 0 : mpq_sgn(s->r) > 0;
    s->has_dx = s->has_xhat && mpq_sgn(s->r) > 0;
    if (on_std && s->has_xhat) {
        take_eps_on_std(t, s);
    }
    if (!s->has_dx) {
        return;
    }
    surd_value over_root, square;
    surd_init(&over_root);
    surd_init(&square);
    mpq_inv(over_root.q, s->r);
    if (!on_std) {
        mpq_set(s->over_d.q, over_root.q);
    }
    surd_multiply(&square, &s->over_d, &s->over_d, s->r);
    surd_multiply(&s->over_ddr, &square, &over_root, s->r);
    surd_clear(&over_root);
    surd_clear(&square);
}

/* mean(w) and sum(w c) / M. */
static void take_weights(task *t, size_t row)
{
    row_state *s = &t->states[row];
    for (size_t i = 0; i < t->hidden; i++) {
        set_weight(t, row, i, t->a);
        mpq_add(s->w_mean, s->w_mean, t->a);
        set_deviation(t, row, i, t->b);
        mpq_mul(t->b, t->b, t->a);
        mpq_add(s->w_c, s->w_c, t->b);
    }
    mpq_set_ui(t->a, t->hidden, 1);
    mpq_div(s->w_mean, s->w_mean, t->a);
    mpq_set_si(t->a, (long)t->hidden - t->convention.ddof, 1);
    mpq_div(s->w_c, s->w_c, t->a);
}

static void take_row(task *t, size_t row)
{
    row_state *s = &t->states[row];
    double eps = t->convention.eps_place == LN_EPS_NONE ? 0 : t->convention.eps;
    bool is_divisor = (double)t->hidden > t->convention.ddof;
    if (!is_divisor || !isfinite(eps) || !values_are_finite(t, t->x, row)) {
        return;
    }
    take_moments(t, row);
    take_denominators(t, s);
    s->has_dx = s->has_dx && t->gamma_is_finite && values_are_finite(t, t->dy, row);
    if (s->has_dx) {
        take_weights(t, row);
    }
}

/* Stores the sum, or NaN, as element i. */
static void store_sum(const task *t, const ln_gradient *gradient, ln_type type, size_t i,
                      bool defined)
{
    rounded_pair value = {NAN, (double)NAN};
    if (defined) {
        value = root_sum_round(&t->sum);
    }
    if (gradient->exact != NULL) {
        gradient->exact[i] = value.to_double;
    }
    if (gradient->rounded == NULL) {
        return;
    }
    if (type == LN_F32) {
        ((float *)gradient->rounded)[i] = value.to_float;
    } else if (type == LN_F64) {
        ((double *)gradient->rounded)[i] = value.to_double;
    } else { /* for a midpoint of the type, which is a double, the side decides (storage.c) */
        bool asks = isfinite(value.to_double) && storage_is_midpoint(type, value.to_double);
        int side = asks ? root_sum_side(&t->sum, value.to_double) : 0;
        ((uint16_t *)gradient->rounded)[i] = storage_round(type, value.to_double, side);
    }
}

/* Adds scale (p + q t) to the sum, or subtracts it if `minus`. */
static void add_surd(task *t, const row_state *s, const surd_value *surd, mpq_srcptr scale,
                     bool minus)
{
    mpq_mul(t->b, surd->p, scale);
    mpq_mul(t->c, surd->q, scale);
    if (minus) {
        mpq_neg(t->b, t->b);
        mpq_neg(t->c, t->c);
    }
    root_sum_add(&t->sum, t->b, t->c, s->r);
}

/* Sets the sum to dx. Returns false if dx is NaN. */
static bool take_dx(task *t, size_t row, size_t i)
{
    const row_state *s = &t->states[row];
    if (!s->has_dx) {
        return false;
    }
    root_sum_reset(&t->sum);
    set_weight(t, row, i, t->a);
    mpq_sub(t->a, t->a, s->w_mean);
    add_surd(t, s, &s->over_d, t->a, false);
    set_deviation(t, row, i, t->a);
    mpq_mul(t->a, t->a, s->w_c);
    add_surd(t, s, &s->over_ddr, t->a, true);
    return true;
}

/* Adds dy (c / D + e) to the sum. Returns false if that is NaN. */
static bool add_dgamma(task *t, size_t row, size_t i)
{
    const row_state *s = &t->states[row];
    double dy = element(t, t->dy, row, i);
    if (!s->has_xhat || !isfinite(dy)) {
        return false;
    }
    mpq_set_d(t->a, dy);
    if (t->convention.eps_place == LN_EPS_QUOTIENT) {
        mpq_set_d(t->b, t->convention.eps);
        mpq_mul(t->b, t->b, t->a);
        mpq_add(t->sum.p, t->sum.p, t->b);
    }
    set_deviation(t, row, i, t->b);
    mpq_mul(t->a, t->a, t->b);
    add_surd(t, s, &s->over_d, t->a, false);
    return true;
}

static bool add_dbeta(task *t, size_t row, size_t i)
{
    double dy = element(t, t->dy, row, i);
    if (!isfinite(dy)) {
        return false;
    }
    mpq_set_d(t->a, dy);
    mpq_add(t->sum.p, t->sum.p, t->a);
    return true;
}

/* Sets the sum to the gradient of parameter i, over all rows and for a scalar over all elements. Returns false if it is
 * NaN. */
static bool take_parameter(task *t, size_t i, bool (*add)(task *, size_t, size_t))
{
    bool scalar = t->convention.affine == LN_AFFINE_SCALAR;
    bool defined = true;
    root_sum_reset(&t->sum);
    for (size_t row = 0; row < t->rows; row++) {
        size_t from = scalar ? 0 : i, to = scalar ? t->hidden : i + 1;
        for (size_t j = from; defined && j < to; j++) {
            defined = add(t, row, j);
        }
    }
    return defined;
}

static bool is_wanted(const ln_gradient *gradient)
{
    return gradient->rounded != NULL || gradient->exact != NULL;
}

static void fill_gradients(task *t, ln_gradients *gradients)
{
    ln_affine affine = t->convention.affine;
    size_t parameters = ln_parameter_elements(affine, t->hidden);
    for (size_t i = 0; is_wanted(&gradients->dx) && i < t->rows * t->hidden; i++) {
        bool defined = take_dx(t, i / t->hidden, i % t->hidden);
        store_sum(t, &gradients->dx, t->storage, i, defined);
    }
    bool has_dgamma = ln_has_gamma(affine) && is_wanted(&gradients->dgamma);
    for (size_t i = 0; has_dgamma && i < parameters; i++) {
        store_sum(t, &gradients->dgamma, t->param, i, take_parameter(t, i, add_dgamma));
    }
    bool has_dbeta = ln_has_beta(affine) && is_wanted(&gradients->dbeta);
    for (size_t i = 0; has_dbeta && i < parameters; i++) {
        store_sum(t, &gradients->dbeta, t->param, i, take_parameter(t, i, add_dbeta));
    }
}

static void state_init(row_state *s)
{
    mpq_inits(s->mean, s->r, s->w_mean, s->w_c, NULL);
    surd_init(&s->over_d);
    surd_init(&s->over_ddr);
}

static void state_clear(row_state *s)
{
    mpq_clears(s->mean, s->r, s->w_mean, s->w_c, NULL);
    surd_clear(&s->over_d);
    surd_clear(&s->over_ddr);
}

/* Returns whether all gamma are finite; also if there is none. */
static bool is_finite_gamma(const task *t)
{
    if (!ln_has_gamma(t->convention.affine)) {
        return true;
    }
    if (t->gamma == NULL) {
        return false;
    }
    size_t count = ln_parameter_elements(t->convention.affine, t->hidden);
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(storage_load(t->param, t->gamma, i))) {
            return false;
        }
    }
    return true;
}

static bool run_task(task *t, ln_gradients *gradients)
{
    /* dx needs two roots for a row; a parameter needs one for each element on which its gradient depends. */
    bool scalar = t->convention.affine == LN_AFFINE_SCALAR;
    size_t roots = scalar ? t->rows * t->hidden : t->rows;
    if (!root_sum_init(&t->sum, roots < 2 ? 2 : roots)) {
        return false;
    }
    mpq_inits(t->a, t->b, t->c, NULL);
    t->gamma_is_finite = is_finite_gamma(t);
    for (size_t row = 0; row < t->rows; row++) {
        state_init(&t->states[row]);
        take_row(t, row);
    }
    fill_gradients(t, gradients);
    for (size_t row = 0; row < t->rows; row++) {
        state_clear(&t->states[row]);
    }
    mpq_clears(t->a, t->b, t->c, NULL);
    root_sum_clear(&t->sum);
    return true;
}

bool ln_backward(const ln_convention *convention, ln_type storage, ln_type param, size_t rows,
                 size_t hidden, const void *x, const void *dy, const void *gamma,
                 ln_gradients *gradients)
{
    bool needs_gamma = ln_has_gamma(convention->affine) && is_wanted(&gradients->dx);
    if (rows == 0 || hidden == 0 || hidden > SIZE_MAX / rows || x == NULL || dy == NULL ||
        (needs_gamma && gamma == NULL)) {
        return false;
    }
    task t = {*convention, storage, param, rows, hidden, x, dy, gamma, .states = NULL};
    t.states = calloc(rows, sizeof *t.states);
    bool done = t.states != NULL && run_task(&t, gradients);
    free(t.states);
    return done;
}
