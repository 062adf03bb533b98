/* Comparisons of squared integers.
 *
 * For a row x of N elements, d = N - ddof, S = sum(x), a_i = N x_i - S and T = sum(a_i^2):
 *     mean = S / N,   x_i - mean = a_i / N,   var = T / (N^2 d),   all exact dyadic S, a_i, T.
 * y = gamma (a_i / N) / D + beta (+ gamma eps on the quotient) is compared with a dyadic number t
 * through P = t - beta (- gamma eps) and D, N > 0:
 *     sign(y - t) = sign(gamma a_i - P N D)
 *     D^2 = T / (N^2 d) + eps            compare (gamma a_i)^2 d with P^2 (T + eps N^2 d)
 *     D = sqrt(T / (N^2 d)) + eps        compare (gamma a_i - P N eps)^2 d with P^2 T
 * wherever both sides have the same sign. rstd = 1 / D is the case gamma a_i = N, beta = 0.
 */
#include "audit.h"

#include "audit_types.h"
#include "dyadic.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct audit_state {
    ln_convention convention;
    ln_type type;
    bool defined;
    dyadic count, divisor, eps;               /* N, d, eps */
    dyadic sum, sum_abs, squares, deviations; /* S, sum |x|, sum x^2, T */
    dyadic radicand;                          /* T + eps N^2 d, or T */
    dyadic lowest, highest, max_abs;          /* the smallest and largest a_i, the largest |x_i| */
    dyadic product, target, left, right, other; /* scratch */
    dyadic numerator, denominator;
    bool add_eps; /* the element at hand has eps on the quotient */
    dyadic gamma, beta;
    dyadic base; /* added to what is compared with; 0 but for rests and enclosures */
    long unit;   /* that is in units of 2^this; 0 but for rests */
};

enum { DYADICS = 21 };

static void list_dyadics(audit_state *a, dyadic *list[DYADICS])
{
    dyadic *all[DYADICS] = {&a->count,   &a->divisor,    &a->eps,         &a->sum,    &a->sum_abs,
                            &a->squares, &a->deviations, &a->radicand,    &a->lowest, &a->highest,
                            &a->max_abs, &a->product,    &a->target,      &a->left,   &a->right,
                            &a->other,   &a->numerator,  &a->denominator, &a->gamma,  &a->beta,
                            &a->base};
    memcpy(list, all, sizeof all);
}

audit_state *audit_create(void)
{
    audit_state *created = calloc(1, sizeof *created);
    if (created != NULL) {
        dyadic *list[DYADICS];
        list_dyadics(created, list);
        for (int i = 0; i < DYADICS; i++) {
            dyadic_init(list[i]);
        }
    }
    return created;
}

void audit_destroy(audit_state *a)
{
    if (a != NULL) {
        dyadic *list[DYADICS];
        list_dyadics(a, list);
        for (int i = 0; i < DYADICS; i++) {
            dyadic_clear(list[i]);
        }
        free(a);
    }
}

/* r = N x - S. */
static void set_deviation(audit_state *a, dyadic *r, double x)
{
    dyadic_set_double(r, x);
    dyadic_multiply(r, r, &a->count);
    dyadic_subtract(r, r, &a->sum);
}

static void take_sums(audit_state *a, size_t hidden, const void *x)
{
    dyadic_set_integer(&a->sum, 0);
    dyadic_set_integer(&a->sum_abs, 0);
    dyadic_set_integer(&a->squares, 0);
    dyadic_set_integer(&a->max_abs, 0);
    for (size_t i = 0; i < hidden; i++) {
        dyadic_set_double(&a->other, audit_load(a->type, x, i));
        dyadic_add(&a->sum, &a->sum, &a->other);
        dyadic_multiply(&a->left, &a->other, &a->other);
        dyadic_add(&a->squares, &a->squares, &a->left);
        mpz_abs(a->other.m, a->other.m);
        dyadic_add(&a->sum_abs, &a->sum_abs, &a->other);
        if (dyadic_compare(&a->other, &a->max_abs) > 0) {
            dyadic_set(&a->max_abs, &a->other);
        }
    }
}

static void take_deviations(audit_state *a, size_t hidden, const void *x)
{
    dyadic_set_integer(&a->deviations, 0);
    for (size_t i = 0; i < hidden; i++) {
        set_deviation(a, &a->other, audit_load(a->type, x, i));
        if (i == 0 || dyadic_compare(&a->other, &a->lowest) < 0) {
            dyadic_set(&a->lowest, &a->other);
        }
        if (i == 0 || dyadic_compare(&a->other, &a->highest) > 0) {
            dyadic_set(&a->highest, &a->other);
        }
        dyadic_multiply(&a->other, &a->other, &a->other);
        dyadic_add(&a->deviations, &a->deviations, &a->other);
    }
}

void audit_take(audit_state *a, const ln_convention *convention, size_t hidden, ln_type type,
                const void *x)
{
    a->convention = *convention;
    a->type = type;
    ln_eps_place place = convention->eps_place;
    dyadic_set_integer(&a->count, (long)hidden);
    dyadic_set_integer(&a->divisor, (long)hidden - convention->ddof);
    dyadic_set_double(&a->eps, place == LN_EPS_NONE ? 0.0 : convention->eps);
    take_sums(a, hidden, x);
    take_deviations(a, hidden, x);
    dyadic_set(&a->radicand, &a->deviations);
    if (place == LN_EPS_VAR) {
        dyadic_multiply(&a->other, &a->count, &a->count);
        dyadic_multiply(&a->other, &a->other, &a->divisor);
        dyadic_multiply(&a->other, &a->other, &a->eps);
        dyadic_add(&a->radicand, &a->radicand, &a->other);
    }
    bool eps_counts = place == LN_EPS_STD && dyadic_sign(&a->eps) > 0;
    a->defined = dyadic_sign(&a->divisor) > 0 && (dyadic_sign(&a->radicand) > 0 || eps_counts);
}

bool audit_is_defined(const audit_state *a)
{
    return a->defined;
}

typedef int (*sign_function)(audit_state *a, const dyadic *t);

/* sign(gamma a_i / (N D) + beta - t), with gamma a_i in product. */
static int sign_of_element(audit_state *a, const dyadic *t)
{
    dyadic *p = &a->target, *left = &a->left, *right = &a->right;
    dyadic_subtract(p, t, &a->beta);
    if (a->add_eps) {
        dyadic_multiply(&a->other, &a->gamma, &a->eps);
        dyadic_subtract(p, p, &a->other);
    }
    bool on_std = a->convention.eps_place == LN_EPS_STD;
    const dyadic *radicand = on_std ? &a->deviations : &a->radicand;
    dyadic_set(left, &a->product);
    if (on_std) {
        dyadic_multiply(&a->other, p, &a->count);
        dyadic_multiply(&a->other, &a->other, &a->eps);
        dyadic_subtract(left, left, &a->other);
    }
    int left_sign = dyadic_sign(left);
    int right_sign = dyadic_sign(p) * dyadic_sign(radicand);
    if (left_sign != right_sign) {
        return left_sign > right_sign ? 1 : -1;
    }
    dyadic_multiply(left, left, left);
    dyadic_multiply(left, left, &a->divisor);
    dyadic_multiply(right, p, p);
    dyadic_multiply(right, right, radicand);
    return left_sign * dyadic_compare(left, right);
}

/* sign(numerator / denominator - t). */
static int sign_of_quotient(audit_state *a, const dyadic *t)
{
    dyadic_multiply(&a->other, t, &a->denominator);
    return dyadic_compare(&a->numerator, &a->other);
}

/* sign(sqrt(numerator / denominator) - t). */
static int sign_of_root(audit_state *a, const dyadic *t)
{
    if (dyadic_sign(t) < 0) {
        return 1;
    }
    dyadic_multiply(&a->other, t, t);
    dyadic_multiply(&a->other, &a->other, &a->denominator);
    return dyadic_compare(&a->numerator, &a->other);
}

static int sign_against_middle(audit_state *a, sign_function sign, double low, double high)
{
    dyadic middle, other;
    dyadic_init(&middle);
    dyadic_init(&other);
    dyadic_set_double(&middle, low);
    dyadic_set_double(&other, high);
    dyadic_add(&middle, &middle, &other);
    middle.e += a->unit - 1;
    dyadic_add(&middle, &middle, &a->base);
    int result = sign(a, &middle);
    dyadic_clear(&middle);
    dyadic_clear(&other);
    return result;
}

/* The rules for a claimed value between its neighbours in the type; infinities stand for the power
 * of two that follows. An infinite value has no neighbour beyond. */
static bool lies_between(audit_state *a, sign_function sign, double below, double value,
                         double above, bool even, bool infinite)
{
    if (!infinite || value > 0) {
        int at = sign_against_middle(a, sign, below, value);
        if (at < 0 || (at == 0 && !even)) {
            return false;
        }
    }
    if (!infinite || value < 0) {
        int at = sign_against_middle(a, sign, value, above);
        if (at > 0 || (at == 0 && !even)) {
            return false;
        }
    }
    if (value == 0) {
        int at = sign_against_middle(a, sign, 0.0, 0.0);
        return (at < 0) == (signbit(value) != 0);
    }
    return true;
}

static bool value_is_right(audit_state *a, sign_function sign, ln_type type, double value)
{
    if (isnan(value)) {
        return false;
    }
    audit_neighbours n = audit_neighbours_of(type, value);
    return lies_between(a, sign, n.below, n.value, n.above, n.even, isinf(value) != 0);
}

static bool float_is_right(audit_state *a, sign_function sign, float value)
{
    return value_is_right(a, sign, LN_F32, (double)value);
}

static bool double_is_right(audit_state *a, sign_function sign, double value)
{
    return value_is_right(a, sign, LN_F64, value);
}

/* rest is (y - exact) / ulp(exact) rounded to double; 0 beside an infinity, and beside a 0 only
 * where y is 0. */
static bool rest_is_right(audit_state *a, double exact, double rest)
{
    if (isinf(exact)) {
        return rest == 0;
    }
    dyadic_set_double(&a->base, exact);
    a->unit = exact == 0 ? -1074 : ilogb(exact) > -1022 ? ilogb(exact) - 52 : -1074;
    bool right = double_is_right(a, sign_of_element, rest);
    if (exact == 0) {
        bool is_zero = sign_against_middle(a, sign_of_element, 0, 0) == 0;
        bool underflows = fabs(rest) == 0x1p-1074 &&
                          double_is_right(a, sign_of_element, copysign(0, rest)) && !is_zero;
        right = underflows || (right && (rest == 0) == is_zero);
    }
    dyadic_set_integer(&a->base, 0);
    a->unit = 0;
    return right;
}

static void set_element(audit_state *a, double x, double gamma, double beta)
{
    ln_affine affine = a->convention.affine;
    dyadic_set_integer(&a->gamma, 1);
    dyadic_set_integer(&a->beta, 0);
    if (affine != LN_AFFINE_NONE) {
        dyadic_set_double(&a->gamma, gamma);
    }
    if (affine == LN_AFFINE_GAMMA1) {
        dyadic_set_integer(&a->other, 1);
        dyadic_add(&a->gamma, &a->gamma, &a->other);
    }
    if (affine != LN_AFFINE_NONE && affine != LN_AFFINE_GAMMA) {
        dyadic_set_double(&a->beta, beta);
    }
    set_deviation(a, &a->product, x);
    dyadic_multiply(&a->product, &a->product, &a->gamma);
    a->add_eps = a->convention.eps_place == LN_EPS_QUOTIENT;
}

bool audit_accepts(audit_state *a, double x, double gamma, double beta, audit_claim claim)
{
    bool wide = a->type == LN_F64;
    if (!a->defined) {
        return isnan(claim.rounded) && isnan(claim.exact) && (!wide || isnan(claim.rest));
    }
    set_element(a, x, gamma, beta);
    return value_is_right(a, sign_of_element, a->type, claim.rounded) &&
           double_is_right(a, sign_of_element, claim.exact) &&
           (!wide || rest_is_right(a, claim.exact, claim.rest));
}

bool audit_encloses(audit_state *a, double x, double gamma, double beta, fast_interval interval)
{
    set_element(a, x, gamma, beta);
    dyadic_set_double(&a->base, interval.hi);
    dyadic_set_double(&a->other, interval.lo);
    dyadic_add(&a->base, &a->base, &a->other);
    double e = interval.error;
    bool inside = sign_against_middle(a, sign_of_element, -e, -e) >= 0 &&
                  sign_against_middle(a, sign_of_element, e, e) <= 0;
    dyadic_set_integer(&a->base, 0);
    return inside;
}

/* Sets gamma a_i / N to factor * deviation / N, beta to 0. */
static void set_plain(audit_state *a, const dyadic *deviation, int factor, bool add_eps)
{
    dyadic_set_integer(&a->gamma, factor);
    dyadic_set_integer(&a->beta, 0);
    dyadic_multiply(&a->product, deviation, &a->gamma);
    a->add_eps = add_eps;
}

static bool rstd_is_right(audit_state *a, const ln_reference_result *result)
{
    if (!a->defined) {
        return isnan(result->facts.rstd) && isnan(result->rstd_rounded);
    }
    set_plain(a, &a->count, 1, false);
    return double_is_right(a, sign_of_element, result->facts.rstd) &&
           float_is_right(a, sign_of_element, result->rstd_rounded);
}

/* No |xhat_i| above the next double of what is claimed, and one above the one before. */
static bool max_xhat_is_right(audit_state *a, double max_xhat)
{
    if (!a->defined || isnan(max_xhat)) {
        return !a->defined && isnan(max_xhat);
    }
    double above = nextafter(max_xhat, INFINITY), below = nextafter(max_xhat, -INFINITY);
    bool reached = false;
    bool add_eps = a->convention.eps_place == LN_EPS_QUOTIENT;
    const dyadic *extremes[] = {&a->lowest, &a->highest};
    for (int i = 0; i < 4; i++) {
        set_plain(a, extremes[i / 2], i % 2 == 0 ? 1 : -1, add_eps);
        if (sign_against_middle(a, sign_of_element, above, above) > 0) {
            return false;
        }
        reached = reached || sign_against_middle(a, sign_of_element, below, below) >= 0;
    }
    return reached;
}

static bool kappa_is_right(audit_state *a, double kappa)
{
    if (dyadic_sign(&a->deviations) == 0) {
        return isinf(kappa) && kappa > 0;
    }
    dyadic_multiply(&a->numerator, &a->squares, &a->count);
    dyadic_multiply(&a->numerator, &a->numerator, &a->count);
    dyadic_set(&a->denominator, &a->deviations);
    double above = nextafter(kappa, INFINITY), below = nextafter(kappa, -INFINITY);
    return isfinite(kappa) && sign_against_middle(a, sign_of_root, above, above) <= 0 &&
           sign_against_middle(a, sign_of_root, below, below) >= 0;
}

/* The numerator is not negative. What is not 0 is given as the smallest number at least. */
static bool fact_is_right(audit_state *a, double fact)
{
    if (fact == 0 || dyadic_sign(&a->numerator) == 0) {
        return fact == 0 && dyadic_sign(&a->numerator) == 0;
    }
    return double_is_right(a, sign_of_quotient, fact) ||
           (fact == 0x1p-1074 && double_is_right(a, sign_of_quotient, 0));
}

static bool spread_is_right(audit_state *a, const ln_row_facts *facts)
{
    dyadic_set(&a->numerator, &a->deviations);
    dyadic_multiply(&a->denominator, &a->count, &a->count);
    dyadic_multiply(&a->denominator, &a->denominator, &a->count);
    if (!fact_is_right(a, facts->var)) {
        return false;
    }
    bool below = mpz_sgn(a->lowest.m) < 0;
    dyadic_set(&a->other, &a->lowest);
    mpz_abs(a->other.m, a->other.m);
    bool larger = below && dyadic_compare(&a->other, &a->highest) > 0;
    dyadic_set(&a->numerator, larger ? &a->other : &a->highest);
    dyadic_set(&a->denominator, &a->count);
    return fact_is_right(a, facts->max_dev);
}

bool audit_accepts_row(audit_state *a, const ln_reference_result *result)
{
    const ln_row_facts *facts = &result->facts;
    dyadic_set(&a->denominator, &a->count);
    dyadic_set(&a->numerator, &a->sum);
    bool right = double_is_right(a, sign_of_quotient, facts->mean) &&
                 float_is_right(a, sign_of_quotient, result->mean_rounded);
    dyadic_set(&a->numerator, &a->sum_abs);
    right = right && fact_is_right(a, facts->mean_abs);
    if (!right || isnan(facts->max_abs)) {
        return false;
    }
    dyadic_set_double(&a->other, facts->max_abs);
    right = dyadic_compare(&a->other, &a->max_abs) == 0;
    return right && spread_is_right(a, facts) && rstd_is_right(a, result) &&
           max_xhat_is_right(a, result->max_xhat) && kappa_is_right(a, result->kappa);
}

bool audit_accepts_sum(audit_state *a, ln_type type, double x, double residual, double sum)
{
    dyadic_set_integer(&a->denominator, 1);
    dyadic_set_double(&a->numerator, x);
    dyadic_set_double(&a->other, residual);
    dyadic_add(&a->numerator, &a->numerator, &a->other);
    double sum_unsigned = sum == 0 ? 0.0 : sum; /* IEEE 754 gives sums of zeros either sign */
    return value_is_right(a, sign_of_quotient, type, sum_unsigned);
}
