/* Comparisons of squared integers.
 *
 * For a row x of N elements, d = N - ddof, S = sum(x), a_i = N x_i - S and T = sum(a_i^2):
 *     mean = S / N,   x_i - mean = a_i / N,   var = T / (N^2 d),   all exact dyadic S, a_i, T.
 * y = gamma (a_i / N) / D + beta (+ gamma eps on the quotient) is compared with a dyadic number t
 * through P = t - beta (- gamma eps) and D, N > 0:
 *     sign(y - t) = sign(gamma a_i - P N D)
 *     D^2 = T / (N^2 d) + eps            compare (gamma a_i)^2 d with P^2 (T + eps N^2 d)
 *     D = sqrt(T / (N^2 d)) + eps        compare (gamma a_i - P N eps)^2 d with P^2 T
 * if both sides have the same sign. rstd = 1 / D is the case gamma a_i = N, beta = 0. */
#include "audit.h"
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
    bool add_eps; /* the current element has eps on the quotient */
    dyadic gamma, beta;
    dyadic base; /* added to the number compared with; 0 except for rests and enclosures */
    long unit;   /* the number compared with has units of 2^unit; 0 except for rests */
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

/* Returns whether a claimed value is right, given its neighbours in the type; an infinity is the next power
 * of two after the largest number. An infinite value has only one neighbour. */
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

/* Returns whether rest is (y - exact) / ulp(exact) rounded to double; 0 if exact is infinite, and if exact is 0 only
 * if y is 0. */
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

/* Returns whether no |xhat_i| is above the next double after max_xhat, and one is above the double before it. */
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

/* Checks a fact whose numerator is not negative. If it is not 0, the fact is at least the smallest number. */
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
    double sum_unsigned = sum == 0 ? 0.0 : sum; /* a sum of zeros may have either sign */
    return value_is_right(a, sign_of_quotient, type, sum_unsigned);
}

/* ---- Element types --------------------------------------------------------------------------- */

/* In every type here a sign bit is followed by a number whose order as an integer is the order of
 * the sizes, so that the next number in size is the next integer. */

const char *const audit_type_names[AUDIT_TYPES] = {"f32", "f64", "bf16", "f16"};

double audit_value(ln_type type, uint64_t bits)
{
    float as_float;
    double value;
    uint32_t word = (uint32_t)bits;
    switch (type) {
    case LN_F64:
        memcpy(&value, &bits, sizeof value);
        return value;
    case LN_BF16: /* the upper half of a float */
        word <<= 16;
        break;
    case LN_F16: { /* exponent and fraction moved to a float's place, 2^112 too small */
        uint32_t sign = (word & 0x8000u) << 16, size = (word & 0x7fffu) << 13;
        if ((word & 0x7c00u) == 0x7c00u) {
            word = sign | 0x7f800000u | size;
            break;
        }
        word = sign | size;
        memcpy(&as_float, &word, sizeof as_float);
        return (double)as_float * 0x1p112;
    }
    case LN_F32:
        break;
    }
    memcpy(&as_float, &word, sizeof as_float);
    return (double)as_float;
}

uint64_t audit_bits(ln_type type, const void *values, size_t i)
{
    uint64_t bits = 0;
    if (type == LN_F64) {
        memcpy(&bits, (const double *)values + i, sizeof(double));
    } else if (type == LN_F32) {
        uint32_t word;
        memcpy(&word, (const float *)values + i, sizeof word);
        bits = word;
    } else {
        bits = ((const uint16_t *)values)[i];
    }
    return bits;
}

double audit_load(ln_type type, const void *values, size_t i)
{
    return audit_value(type, audit_bits(type, values, i));
}

static uint64_t sign_bit(ln_type type)
{
    return type == LN_F64 ? 1ull << 63 : type == LN_F32 ? 1ull << 31 : 1ull << 15;
}

/* Returns, by bisection, the bits of the number of the type that is nearest to value but not larger in size. A NaN
 * gives a NaN. */
static uint64_t bits_towards_zero(ln_type type, double value)
{
    uint64_t least = 0, beyond = sign_bit(type);
    if (isnan(value)) {
        return beyond - 1;
    }
    while (beyond - least > 1) {
        uint64_t middle = least + (beyond - least) / 2;
        if (audit_value(type, middle) <= fabs(value)) { /* not where middle is a NaN's */
            least = middle;
        } else {
            beyond = middle;
        }
    }
    return signbit(value) ? least | sign_bit(type) : least;
}

static void store_bits(ln_type type, void *values, size_t i, uint64_t bits)
{
    if (type == LN_F64) {
        memcpy((double *)values + i, &bits, sizeof bits);
    } else if (type == LN_F32) {
        uint32_t word = (uint32_t)bits;
        memcpy((float *)values + i, &word, sizeof word);
    } else {
        ((uint16_t *)values)[i] = (uint16_t)bits;
    }
}

void audit_store(ln_type type, void *values, size_t i, double value)
{
    store_bits(type, values, i, bits_towards_zero(type, value));
}

/* Replaces the infinity of f32 and bf16 by 2^128, and so on; f64 keeps its infinity (dyadic.h). */
static double finite_stand_in(ln_type type, double value)
{
    if (!isinf(value) || type == LN_F64) {
        return value;
    }
    return copysign(type == LN_F16 ? 0x1p16 : 0x1p128, value);
}

audit_neighbours audit_neighbours_of(ln_type type, double value)
{
    uint64_t size = bits_towards_zero(type, fabs(value));
    double outer = isinf(value) ? (double)INFINITY : audit_value(type, size + 1);
    double inner = size == 0 ? -outer : audit_value(type, size - 1);
    outer = finite_stand_in(type, outer);
    inner = finite_stand_in(type, inner);
    audit_neighbours n = {inner, finite_stand_in(type, value), outer, (size & 1) == 0};
    if (signbit(value)) {
        n.below = -outer;
        n.above = -inner;
    }
    return n;
}

void audit_store_nearest(ln_type type, void *values, size_t i, double value)
{
    uint64_t bits = bits_towards_zero(type, value);
    double inner = fabs(audit_value(type, bits));
    if (isfinite(value) && fabs(value) != inner) {
        double outer = finite_stand_in(type, fabs(audit_value(type, bits + 1)));
        double middle = inner + (outer - inner) / 2; /* exact: no type here is as wide as double */
        bits += fabs(value) > middle || (fabs(value) == middle && (bits & 1) != 0);
    }
    store_bits(type, values, i, bits);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

const char *const audit_kind_names[AUDIT_KINDS] = {
    "normal",        "offset",         "constant",    "spike",      "huge",
    "subnormal",     "small integers", "alternating", "two-valued", "any float",
    "near-constant", "ties",           "zeros"};

const ln_convention audit_presets[AUDIT_PRESETS] = {
    {.eps_place = LN_EPS_VAR, .eps = 1e-5, .affine = LN_AFFINE_VECTOR},
    {.eps_place = LN_EPS_VAR, .eps = 1e-5, .affine = LN_AFFINE_GAMMA},
    {.eps_place = LN_EPS_VAR, .eps = 1e-5},
    {.eps_place = LN_EPS_VAR, .eps = 1e-6, .affine = LN_AFFINE_VECTOR},
    {.eps_place = LN_EPS_STD, .eps = 1e-5, .affine = LN_AFFINE_VECTOR},
    {.ddof = 1, .eps = 0.0},
    {.ddof = 1, .eps_place = LN_EPS_STD, .eps = 1e-5, .affine = LN_AFFINE_SCALAR},
    {.ddof = 1, .eps_place = LN_EPS_QUOTIENT, .eps = 1e-5, .affine = LN_AFFINE_SCALAR},
    {.ddof = 1, .eps_place = LN_EPS_STD, .eps = 1e-6, .affine = LN_AFFINE_VECTOR},
    {.eps_place = LN_EPS_VAR, .eps = 1e-12, .affine = LN_AFFINE_VECTOR},
    {.eps_place = LN_EPS_VAR, .eps = 1e-3, .affine = LN_AFFINE_VECTOR},
};

unsigned long long audit_random(unsigned long long *state)
{
    unsigned long long z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Draws a number. No expression may have two draws whose order C does not define, so that a seed gives the same rows
 * with every compiler. */
static unsigned below(unsigned long long *state, unsigned count)
{
    return (unsigned)(audit_random(state) % count);
}

/* Uniform in [-1, 1), in steps of 2^-51. */
static double uniform(unsigned long long *state)
{
    return (double)(audit_random(state) >> 12) * 0x1p-51 - 1.0;
}

/* Returns the sum of twelve uniform numbers, whose variance is 1, as an approximately normal number. */
static double normal(unsigned long long *state)
{
    double sum = 0;
    for (int i = 0; i < 12; i++) {
        sum += uniform(state);
    }
    return 0.5 * sum;
}

/* The limits of a type for drawn numbers. */
typedef struct type_traits {
    int bits;           /* of its significand */
    int octaves;        /* offsets are up to 2^octaves: above kappa 2^bits if the range allows */
    double huge;        /* 6 times this is finite */
    double least;       /* the smallest number */
    unsigned denormals; /* the number of its subnormal multiples, or 2^15 */
} type_traits;

static const type_traits traits[AUDIT_TYPES] = {
    [LN_F32] = {24, 27, 1e30, 0x1p-149, 32768},
    [LN_F64] = {53, 56, 1e300, 0x1p-1074, 32768},
    [LN_BF16] = {8, 11, 1e30, 0x1p-133, 127},
    [LN_F16] = {11, 14, 1e4, 0x1p-24, 1023},
};

/* Returns any finite number of the type. */
static double any_value(ln_type type, unsigned long long *state)
{
    double value;
    do {
        uint64_t bits = audit_random(state);
        bits >>= type == LN_F64 ? 0 : type == LN_F32 ? 32 : 48;
        value = audit_value(type, bits);
    } while (!isfinite(value));
    return value;
}

/* Returns c for half of the row and -c for the other half, so that xhat is 1 and -1 if eps is 0. */
static double plus_minus(size_t i, double c)
{
    return i % 2 == 0 ? c : -c;
}

static double whole_below(unsigned long long *state, unsigned count)
{
    return (double)below(state, 2 * count) - (double)count;
}

/* Element i of a row of this kind; offset and first are the row's own. */
static double draw_x(unsigned kind, ln_type type, size_t i, double offset, double first,
                     unsigned long long *state)
{
    const type_traits *t = &traits[type];
    switch (kind) {
    case 0:
        return normal(state);
    case 1:
        return offset + normal(state);
    case 2:
        return first;
    case 3:
        return i == 0 ? 1000 * first : 0.5;
    case 4:
        return t->huge * normal(state);
    case 5:
        return whole_below(state, t->denormals) * t->least;
    case 6:
        return (double)below(state, 5) - 2;
    case 7:
        return plus_minus(i, 1.0) * (i % 4 < 2 ? (type == LN_F16 ? 6e4 : 1e6) : 1e-6);
    case 8:
        return below(state, 2) ? first : 1.0;
    case 9:
        return any_value(type, state);
    case 10:
        return i == 0 ? first + ldexp(first, 1 - t->bits) : first;
    default:
        return plus_minus(i, ldexp(1.0, (int)fmod(offset, type == LN_F16 ? 15 : 20)));
    }
}

typedef struct parameters {
    double gamma, beta;
} parameters;

/* Draws gamma and beta whose sum is 1 + an odd multiple of half an ulp, of the type or of double, times a
 * power of two; for f64 also small ones for which 1 + gamma + beta is such a number. */
static parameters draw_tie(const audit_row *row, bool of_type, unsigned long long *state)
{
    double gamma = ldexp(1.0, (int)below(state, 5));
    double odd = (double)(2 * below(state, 4) + 1);
    if (row->convention.affine == LN_AFFINE_GAMMA1 && row->storage == LN_F64 && of_type) {
        gamma = ldexp(gamma, -60);
    }
    return (parameters){gamma,
                        gamma * odd * ldexp(1.0, of_type ? -traits[row->storage].bits : -53)};
}

static parameters draw_parameters(const audit_row *row, unsigned kind, unsigned long long *state)
{
    parameters p = {.gamma = 1 + 0.5 * uniform(state)};
    p.beta = 0.5 * uniform(state);
    unsigned choice = below(state, 16);
    double least = traits[row->param].least;
    if (kind == 11) {
        p = draw_tie(row, choice < 8, state);
    } else if (kind == 12) {
        p.beta = choice < 8 ? p.gamma : -p.gamma;
    } else if (choice == 0) {
        p.gamma = any_value(row->param, state);
    } else if (choice == 1) {
        p.gamma = 0;
    } else if (choice == 2) {
        p.beta = any_value(row->param, state);
    } else if (choice == 3) {
        p.gamma = -1;
        p.beta = -0.0;
    } else if (choice == 4) {
        p.gamma = whole_below(state, 4);
        p.beta = -p.gamma;
    } else if (choice == 5) {
        p.gamma = whole_below(state, 64) * least;
        p.beta = whole_below(state, 64) * least;
    }
    return p;
}

/* Draws a convention for which xhat is 1 and -1, exactly or nearly, so that there are ties and zeros, and numbers very
 * near them. */
static void draw_rational_convention(audit_row *row, unsigned long long *state)
{
    static const double epsilons[] = {0x1p-298, 5e-324, 1e-40, 0x1p-149};
    row->convention = (ln_convention){
        .eps_place = (ln_eps_place)below(state, 3),
        .affine = below(state, 3) == 0 ? LN_AFFINE_GAMMA1 : LN_AFFINE_VECTOR,
    };
    if (row->convention.eps_place != LN_EPS_NONE) {
        row->convention.eps = epsilons[below(state, sizeof epsilons / sizeof epsilons[0])];
    }
}

ln_convention audit_convention_draw(unsigned long long *state)
{
    static const double epsilons[] = {0.0,    1e-5,     1e-12, 1e-3,  1.0,      0x1p-20,
                                      5e-324, 0x1p-298, 1e300, 1e-40, 0x1p-149, 0.1};
    if (below(state, 3) > 0) {
        return audit_presets[below(state, AUDIT_PRESETS)];
    }
    ln_convention convention = {.ddof = (int)below(state, 2)};
    convention.eps_place = (ln_eps_place)below(state, 4);
    convention.eps = epsilons[below(state, sizeof epsilons / sizeof epsilons[0])];
    convention.affine = (ln_affine)below(state, 5);
    if (convention.eps_place == LN_EPS_NONE) {
        convention.eps = 0.0;
    }
    return convention;
}

static void draw_convention(audit_row *row, unsigned kind, unsigned long long *state)
{
    if (kind >= 11 && below(state, 4) > 0) {
        draw_rational_convention(row, state);
    } else {
        row->convention = audit_convention_draw(state);
    }
}

void audit_row_draw(audit_row *row, unsigned kind, unsigned long long *state)
{
    unsigned most = below(state, 4) == 0 ? 8 : AUDIT_MAX_HIDDEN;
    row->hidden = 1 + below(state, most);
    draw_convention(row, kind, state);
    if (kind >= 11 && row->hidden % 2 == 1) {
        row->hidden++;
    }
    double offset = 1 + 0.5 * uniform(state);
    offset = ldexp(offset, (int)below(state, (unsigned)traits[row->storage].octaves));
    audit_values first; /* a number of the type, so that a step from it is one too */
    audit_store(row->storage, &first, 0, normal(state));
    row->has_residual = below(state, 4) == 0;
    for (size_t i = 0; i < row->hidden; i++) {
        audit_store(
            row->storage, &row->x, i,
            draw_x(kind, row->storage, i, offset, audit_load(row->storage, &first, 0), state));
        audit_store(row->storage, &row->residual, i,
                    kind == 9 || kind >= 11 ? 0.0 : 0.25 * normal(state));
        parameters p = draw_parameters(row, kind, state);
        audit_store(row->param, &row->gamma, i, p.gamma);
        audit_store(row->param, &row->beta, i, p.beta);
    }
}
