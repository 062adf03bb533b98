/* The audit of gradients: dx, dgamma and dbeta by rational arithmetic. */
#include "audit.h"

#include "certify/backward.h"

#include <gmp.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Long enough for every case of the formulas: rationals of many rows' digits are slow. */
enum { MOST_ROWS = 3, MOST_HIDDEN = 20, UNTOLD = 2, FIRST_BITS = 256, LAST_BITS = 4096 };

/* The sums of a row. */
typedef struct moments {
    bool x_finite, dy_finite;
    bool has_xhat, has_dx;
    mpq_t sum, v; /* of x; var + eps with eps in the variance, else var */
    mpq_t w, wx;  /* sum of g dy, and of g dy x */
} moments;

typedef struct gradient_run {
    ln_convention convention;
    ln_type storage, param;
    size_t rows, hidden;
    unsigned kind;
    double x[MOST_ROWS * MOST_HIDDEN], dy[MOST_ROWS * MOST_HIDDEN]; /* room for any type */
    double gamma[MOST_HIDDEN];
    double dx[MOST_ROWS * MOST_HIDDEN], dgamma[MOST_HIDDEN], dbeta[MOST_HIDDEN];
    double dx_exact[MOST_ROWS * MOST_HIDDEN], dgamma_exact[MOST_HIDDEN], dbeta_exact[MOST_HIDDEN];
    bool gamma_finite;
    moments moments[MOST_ROWS];
    size_t row, at; /* the row and element of the current claim */
    mpq_t p, q, a, b, eps;
    gradient_counts *counts;
} gradient_run;

static double x_of(const gradient_run *run, size_t row, size_t i)
{
    return audit_load(run->storage, run->x, row * run->hidden + i);
}

static double dy_of(const gradient_run *run, size_t row, size_t i)
{
    return audit_load(run->storage, run->dy, row * run->hidden + i);
}

static bool is_scalar(const gradient_run *run)
{
    return run->convention.affine == LN_AFFINE_SCALAR;
}

/* value *= g of element i. */
static void multiply_gamma(gradient_run *run, size_t i, mpq_t value)
{
    mpq_t gamma, one;
    if (run->convention.affine == LN_AFFINE_NONE) {
        return;
    }
    mpq_inits(gamma, one, NULL);
    mpq_set_d(gamma, audit_load(run->param, run->gamma, is_scalar(run) ? 0 : i));
    mpq_set_ui(one, run->convention.affine == LN_AFFINE_GAMMA1, 1);
    mpq_add(gamma, gamma, one);
    mpq_mul(value, value, gamma);
    mpq_clears(gamma, one, NULL);
}

/* var = (N sum(x^2) - sum(x)^2) / (N (N - ddof)). */
static void take_variance(gradient_run *run, size_t row)
{
    moments *m = &run->moments[row];
    unsigned long n = run->hidden, divisor = n - (unsigned long)run->convention.ddof;
    mpq_t squares, count;
    mpq_inits(squares, count, NULL);
    for (size_t i = 0; i < run->hidden; i++) {
        mpq_set_d(run->a, x_of(run, row, i));
        mpq_add(m->sum, m->sum, run->a);
        mpq_mul(run->a, run->a, run->a);
        mpq_add(squares, squares, run->a);
    }
    mpq_set_ui(count, n, 1);
    mpq_mul(squares, squares, count);
    mpq_mul(run->a, m->sum, m->sum);
    mpq_sub(m->v, squares, run->a);
    mpq_set_ui(count, n * divisor, 1);
    mpq_canonicalize(count);
    mpq_div(m->v, m->v, count);
    mpq_clears(squares, count, NULL);
}

static void take_moments(gradient_run *run, size_t row)
{
    moments *m = &run->moments[row];
    const ln_convention *c = &run->convention;
    m->x_finite = m->dy_finite = true;
    for (size_t i = 0; i < run->hidden; i++) {
        m->x_finite = m->x_finite && isfinite(x_of(run, row, i));
        m->dy_finite = m->dy_finite && isfinite(dy_of(run, row, i));
    }
    m->has_xhat = m->has_dx = false;
    mpq_set_ui(m->sum, 0, 1);
    mpq_set_ui(m->w, 0, 1);
    mpq_set_ui(m->wx, 0, 1);
    if (!m->x_finite || (int64_t)run->hidden <= c->ddof) {
        return;
    }
    take_variance(run, row);
    if (c->eps_place == LN_EPS_VAR) {
        mpq_add(m->v, m->v, run->eps);
    }
    m->has_xhat = mpq_sgn(m->v) > 0 || (c->eps_place == LN_EPS_STD && mpq_sgn(run->eps) > 0);
    m->has_dx = mpq_sgn(m->v) > 0 && m->dy_finite && run->gamma_finite;
    for (size_t i = 0; m->has_dx && i < run->hidden; i++) {
        mpq_set_d(run->a, dy_of(run, row, i));
        multiply_gamma(run, i, run->a);
        mpq_add(m->w, m->w, run->a);
        mpq_set_d(run->b, x_of(run, row, i));
        mpq_mul(run->a, run->a, run->b);
        mpq_add(m->wx, m->wx, run->a);
    }
}

/* sign(p + q sqrt(v)), exactly. */
static int sign_of_surd(gradient_run *run, mpq_srcptr v)
{
    int p = mpq_sgn(run->p), q = mpq_sgn(v) > 0 ? mpq_sgn(run->q) : 0;
    if (p == q || q == 0) {
        return p;
    }
    if (p == 0) {
        return q;
    }
    mpq_mul(run->p, run->p, run->p);
    mpq_mul(run->q, run->q, run->q);
    mpq_mul(run->q, run->q, v);
    return p * mpq_cmp(run->p, run->q);
}

/* value = x_i - mean */
static void set_deviation(const gradient_run *run, size_t row, size_t i, mpq_t value)
{
    mpq_t mean;
    mpq_init(mean);
    mpq_set_ui(value, run->hidden, 1);
    mpq_div(mean, run->moments[row].sum, value);
    mpq_set_d(value, x_of(run, row, i));
    mpq_sub(value, value, mean);
    mpq_clear(mean);
}

static bool has_eps_on_std(const gradient_run *run)
{
    return run->convention.eps_place == LN_EPS_STD && mpq_sgn(run->eps) > 0;
}

/* a = w_j - mean(w), b = c_j sum(w c) / (N - ddof), sum(w c) = sum(w x) - sum(w) sum(x) / N. */
static void set_terms_of_dx(gradient_run *run)
{
    moments *m = &run->moments[run->row];
    mpq_t n;
    mpq_init(n);
    mpq_set_ui(n, run->hidden, 1);
    mpq_mul(run->a, m->w, m->sum);
    mpq_div(run->a, run->a, n);
    mpq_sub(run->a, m->wx, run->a);
    set_deviation(run, run->row, run->at, run->b);
    mpq_mul(run->b, run->b, run->a);
    mpq_div(run->p, m->w, n);
    mpq_set_ui(n, run->hidden - (size_t)run->convention.ddof, 1);
    mpq_div(run->b, run->b, n);
    mpq_set_d(run->a, dy_of(run, run->row, run->at));
    multiply_gamma(run, run->at, run->a);
    mpq_sub(run->a, run->a, run->p);
    mpq_clear(n);
}

/* sign(dx - m). With D = sqrt(v), dx = a / D - b / D^3, times v D:  (a v - b) - m v sqrt(v).
 * With D = s + e, s = sqrt(v), dx = a / D - b / (D^2 s), times D^2 s:
 *     (a v - b - 2 m e v) + (a e - m v - m e^2) s. */
static int sign_of_dx(gradient_run *run, mpq_srcptr m)
{
    mpq_srcptr v = run->moments[run->row].v;
    mpq_t t;
    mpq_init(t);
    set_terms_of_dx(run);
    mpq_mul(run->p, run->a, v);
    mpq_sub(run->p, run->p, run->b);
    mpq_mul(run->q, m, v);
    mpq_neg(run->q, run->q);
    if (has_eps_on_std(run)) {
        mpq_mul(t, run->q, run->eps); /* -m e v, twice */
        mpq_add(run->p, run->p, t);
        mpq_add(run->p, run->p, t);
        mpq_mul(t, m, run->eps);
        mpq_sub(t, run->a, t);
        mpq_mul(t, t, run->eps);
        mpq_add(run->q, run->q, t);
    }
    mpq_clear(t);
    return sign_of_surd(run, v);
}

/* Sets a to the sum of dy c and b to the sum of dy, over the elements of the row that use parameter `at`. */
static void set_terms_of_dgamma(gradient_run *run, size_t row)
{
    size_t from = is_scalar(run) ? 0 : run->at, to = is_scalar(run) ? run->hidden : run->at + 1;
    mpq_t c, dy;
    mpq_inits(c, dy, NULL);
    mpq_set_ui(run->a, 0, 1);
    mpq_set_ui(run->b, 0, 1);
    for (size_t i = from; i < to; i++) {
        mpq_set_d(dy, dy_of(run, row, i));
        mpq_add(run->b, run->b, dy);
        set_deviation(run, row, i, c);
        mpq_mul(c, c, dy);
        mpq_add(run->a, run->a, c);
    }
    mpq_clears(c, dy, NULL);
}

/* sign(dgamma - m) of a single row: a / D + b e - m, times D = sqrt(v): a + (b e - m) sqrt(v);
 * times D = s + e: (a - m e) - m s. */
static int sign_of_row_dgamma(gradient_run *run, mpq_srcptr m)
{
    set_terms_of_dgamma(run, 0);
    mpq_set(run->p, run->a);
    mpq_neg(run->q, m);
    if (has_eps_on_std(run)) {
        mpq_mul(run->a, m, run->eps);
        mpq_sub(run->p, run->p, run->a);
    } else if (run->convention.eps_place == LN_EPS_QUOTIENT) {
        mpq_mul(run->b, run->b, run->eps);
        mpq_add(run->q, run->q, run->b);
    }
    return sign_of_surd(run, run->moments[0].v);
}

/* low <= sqrt(v) <= high = low + 2^-bits / denominator: sqrt(n / d) = sqrt(n d) / d, so that low is
 * 1 / d at least where v is not 0. */
static void enclose_root(mpq_srcptr v, unsigned long bits, mpq_t low, mpq_t high)
{
    mpz_t root;
    mpz_init(root);
    mpz_mul(root, mpq_numref(v), mpq_denref(v));
    mpz_mul_2exp(root, root, 2 * bits);
    mpz_sqrt(root, root);
    mpq_set_z(low, root);
    mpz_add_ui(root, root, 1);
    mpq_set_z(high, root);
    mpq_t scale;
    mpq_init(scale);
    mpz_mul_2exp(mpq_numref(scale), mpq_denref(v), bits);
    mpq_div(low, low, scale);
    mpq_div(high, high, scale);
    mpq_clear(scale);
    mpz_clear(root);
}

/* Adds a / D of a row to the interval from p to q. */
static void add_enclosed(gradient_run *run, size_t row, unsigned long bits)
{
    mpq_t low, high;
    mpq_inits(low, high, NULL);
    set_terms_of_dgamma(run, row);
    enclose_root(run->moments[row].v, bits, low, high);
    if (has_eps_on_std(run)) {
        mpq_add(low, low, run->eps);
        mpq_add(high, high, run->eps);
    }
    bool negative = mpq_sgn(run->a) < 0;
    mpq_div(low, run->a, low);
    mpq_div(high, run->a, high);
    mpq_add(run->p, run->p, negative ? low : high);
    mpq_add(run->q, run->q, negative ? high : low);
    if (run->convention.eps_place == LN_EPS_QUOTIENT) {
        mpq_mul(run->b, run->b, run->eps);
        mpq_add(run->p, run->p, run->b);
        mpq_add(run->q, run->q, run->b);
    }
    mpq_clears(low, high, NULL);
}

static int sign_of_dgamma(gradient_run *run, mpq_srcptr m)
{
    if (run->rows == 1) {
        return sign_of_row_dgamma(run, m);
    }
    for (unsigned long bits = FIRST_BITS; bits <= LAST_BITS; bits *= 2) {
        mpq_neg(run->p, m);
        mpq_neg(run->q, m);
        for (size_t row = 0; row < run->rows; row++) {
            add_enclosed(run, row, bits);
        }
        if (mpq_equal(run->p, run->q) || mpq_sgn(run->p) * mpq_sgn(run->q) > 0) {
            return mpq_sgn(run->p);
        }
    }
    run->counts->undecided++;
    return UNTOLD;
}

static int sign_of_dbeta(gradient_run *run, mpq_srcptr m)
{
    mpq_neg(run->p, m);
    for (size_t row = 0; row < run->rows; row++) {
        for (size_t i = is_scalar(run) ? 0 : run->at; i < run->hidden; i++) {
            mpq_set_d(run->a, dy_of(run, row, i));
            mpq_add(run->p, run->p, run->a);
            if (!is_scalar(run)) {
                break;
            }
        }
    }
    return mpq_sgn(run->p);
}

typedef int gradient_sign(gradient_run *run, mpq_srcptr m);

/* Sets a number to a double; an infinity is the power of two after the largest number. */
static void set_stand_in(mpq_t to, double value)
{
    if (!isinf(value)) {
        mpq_set_d(to, value);
        return;
    }
    mpq_set_si(to, value > 0 ? 1 : -1, 1);
    mpq_mul_2exp(to, to, 1024);
}

static int sign_beside(gradient_run *run, gradient_sign *sign, double low, double high)
{
    mpq_t middle, other;
    mpq_inits(middle, other, NULL);
    set_stand_in(middle, low);
    set_stand_in(other, high);
    mpq_add(middle, middle, other);
    mpq_div_2exp(middle, middle, 1);
    int found = sign(run, middle);
    mpq_clears(middle, other, NULL);
    return found;
}

/* Returns whether the exact value is between the midpoints next to `value`, or on one if the last bit of `value` is 0;
 * an exact zero must be +0. */
static bool is_rounding(gradient_run *run, gradient_sign *sign, ln_type type, double value)
{
    if (isnan(value)) {
        return false;
    }
    audit_neighbours n = audit_neighbours_of(type, value);
    if (!isinf(value) || value > 0) {
        int at = sign_beside(run, sign, n.below, n.value);
        if (at < 0 || (at == 0 && !n.even)) {
            return false;
        }
    }
    if (!isinf(value) || value < 0) {
        int at = sign_beside(run, sign, n.value, n.above);
        if (at == 1 || (at == 0 && !n.even)) {
            return false;
        }
    }
    if (value == 0) {
        int at = sign_beside(run, sign, 0, 0);
        return at == UNTOLD || (at < 0) == (signbit(value) != 0);
    }
    return true;
}

static void check(gradient_run *run, gradient_sign *sign, const char *what, bool defined,
                  ln_type type, double rounded, double exact)
{
    bool right =
        defined ? is_rounding(run, sign, type, rounded) && is_rounding(run, sign, LN_F64, exact)
                : isnan(rounded) && isnan(exact);
    run->counts->undefined += !defined;
    if (right) {
        return;
    }
    const ln_convention *c = &run->convention;
    run->counts->wrong++;
    fprintf(stderr,
            "wrong %s: %s rows of %s (parameters %s), %zu of hidden %zu, ddof %d, eps %a at place "
            "%d, affine %d, row %zu, element %zu: gave %a (%a)\n",
            what, audit_kind_names[run->kind], audit_type_names[run->storage],
            audit_type_names[run->param], run->rows, run->hidden, c->ddof, c->eps,
            (int)c->eps_place, (int)c->affine, run->row, run->at, rounded, exact);
}

static void check_dx(gradient_run *run)
{
    for (run->row = 0; run->row < run->rows; run->row++) {
        for (run->at = 0; run->at < run->hidden; run->at++) {
            size_t i = run->row * run->hidden + run->at;
            check(run, sign_of_dx, "dx", run->moments[run->row].has_dx, run->storage,
                  audit_load(run->storage, run->dx, i), run->dx_exact[i]);
            run->counts->dx++;
        }
    }
}

/* Returns whether every dy of the gradient of parameter `at` is finite. */
static bool dy_is_finite(const gradient_run *run)
{
    bool finite = true;
    for (size_t row = 0; row < run->rows; row++) {
        finite = finite && (is_scalar(run) ? run->moments[row].dy_finite
                                           : isfinite(dy_of(run, row, run->at)) != 0);
    }
    return finite;
}

static void check_parameters(gradient_run *run)
{
    ln_affine affine = run->convention.affine;
    size_t parameters = affine == LN_AFFINE_NONE ? 0 : is_scalar(run) ? 1 : run->hidden;
    bool has_xhat = true;
    for (size_t row = 0; row < run->rows; row++) {
        has_xhat = has_xhat && run->moments[row].has_xhat;
    }
    run->row = 0;
    for (run->at = 0; run->at < parameters; run->at++) {
        bool finite = dy_is_finite(run);
        check(run, sign_of_dgamma, "dgamma", finite && has_xhat, run->param,
              audit_load(run->param, run->dgamma, run->at), run->dgamma_exact[run->at]);
        run->counts->dgamma++;
        if (affine == LN_AFFINE_GAMMA) {
            continue;
        }
        check(run, sign_of_dbeta, "dbeta", finite, run->param,
              audit_load(run->param, run->dbeta, run->at), run->dbeta_exact[run->at]);
        run->counts->dbeta++;
    }
}

static void copy_element(ln_type type, void *to, size_t i, const void *from, size_t j)
{
    size_t size = type == LN_F64 ? 8 : type == LN_F32 ? 4 : 2;
    memcpy((char *)to + i * size, (const char *)from + j * size, size);
}

/* Draws rows x of one kind, and dy of any kinds. */
static void draw_round(gradient_run *run, uint64_t round, unsigned long long *state)
{
    audit_row x[MOST_ROWS] = {0}, dy = {0};
    run->kind = (unsigned)(round % AUDIT_KINDS);
    run->storage = (ln_type)(round / AUDIT_KINDS % AUDIT_TYPES);
    run->param = (ln_type)(audit_random(state) % AUDIT_TYPES);
    run->rows = 1 + audit_random(state) % MOST_ROWS;
    run->hidden = 1 + audit_random(state) % MOST_HIDDEN;
    for (size_t row = 0; row < run->rows; row++) {
        x[row].storage = run->storage;
        x[row].param = run->param;
        do { /* as long as the longest */
            audit_row_draw(&x[row], run->kind, state);
        } while (x[row].hidden < run->hidden);
        dy.storage = run->storage;
        dy.param = run->param;
        do {
            audit_row_draw(&dy, (unsigned)(audit_random(state) % AUDIT_KINDS), state);
        } while (dy.hidden < run->hidden);
        for (size_t i = 0; i < run->hidden; i++) {
            copy_element(run->storage, run->x, row * run->hidden + i, &x[row].x, i);
            copy_element(run->storage, run->dy, row * run->hidden + i, &dy.x, i);
        }
    }
    run->convention = x[0].convention;
    run->gamma_finite = true;
    for (size_t i = 0; i < run->hidden; i++) {
        copy_element(run->param, run->gamma, i, &x[0].gamma, i);
        bool counts = run->convention.affine != LN_AFFINE_NONE && (i == 0 || !is_scalar(run));
        if (counts && !isfinite(audit_load(run->param, run->gamma, i))) {
            run->gamma_finite = false;
        }
    }
    bool none = run->convention.eps_place == LN_EPS_NONE;
    mpq_set_d(run->eps, none ? 0 : run->convention.eps);
}

static bool audit_batch(gradient_run *run)
{
    ln_gradients gradients = {.dx = {run->dx, run->dx_exact},
                              .dgamma = {run->dgamma, run->dgamma_exact},
                              .dbeta = {run->dbeta, run->dbeta_exact}};
    if (!ln_backward(&run->convention, run->storage, run->param, run->rows, run->hidden, run->x,
                     run->dy, run->gamma, &gradients)) {
        return false;
    }
    for (size_t row = 0; row < run->rows; row++) {
        take_moments(run, row);
    }
    check_dx(run);
    check_parameters(run);
    return true;
}

bool audit_gradients(uint64_t claims, uint64_t seed, gradient_counts *counts)
{
    gradient_run *run = calloc(1, sizeof *run);
    unsigned long long state = seed;
    bool done = run != NULL;
    *counts = (gradient_counts){0};
    if (!done) {
        return false;
    }
    run->counts = counts;
    mpq_inits(run->p, run->q, run->a, run->b, run->eps, NULL);
    for (size_t row = 0; row < MOST_ROWS; row++) {
        moments *m = &run->moments[row];
        mpq_inits(m->sum, m->v, m->w, m->wx, NULL);
    }
    for (uint64_t round = 0; done && counts->dx + counts->dgamma + counts->dbeta < claims;
         round++) {
        draw_round(run, round, &state);
        done = audit_batch(run);
    }
    for (size_t row = 0; row < MOST_ROWS; row++) {
        moments *m = &run->moments[row];
        mpq_clears(m->sum, m->v, m->w, m->wx, NULL);
    }
    mpq_clears(run->p, run->q, run->a, run->b, run->eps, NULL);
    free(run);
    return done;
}
