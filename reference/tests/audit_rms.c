/* Comparisons of squared integers, as in audit.c.
 *
 * With Q = sum(x^2) and R = Q + N eps (eps in the mean square) or Q, all dyadic, and D the root:
 *     sign(L / D - t) = sign(L - t D)
 *     D = sqrt(R / N)          compare L^2 N with t^2 R
 *     D = sqrt(Q / N) + eps    compare (L - t eps)^2 N with t^2 Q
 * if both sides have the same sign; D itself is above t if R > t^2 N, and so on. Such a number rounds to a number of a
 * type if it is between the midpoints next to that; this is searched upwards or downwards from an estimate. */
#include "audit.h"

#include "certify/rms_row.h"
#include "dyadic.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { MOST_STEPS = 200 };

typedef enum number_kind { PLAIN, OVER_ROOT, THE_ROOT } number_kind;

typedef struct rms_audit {
    bool on_root;      /* eps is */
    dyadic count, eps; /* N, eps */
    dyadic radicand;   /* R, or Q */
    number_kind kind;  /* of the current number: L / over, L / D, D */
    dyadic left, over; /* L, and its positive divisor */
    dyadic base;       /* added to the number compared with ... */
    long unit;         /* ... which has units of 2^unit, for rests */
    dyadic t, scratch[2];
    long double root; /* an estimate of D */
} rms_audit;

static void dyadics_of(rms_audit *a, void (*each)(dyadic *))
{
    dyadic *all[] = {&a->count, &a->eps, &a->radicand,   &a->left,      &a->over,
                     &a->base,  &a->t,   &a->scratch[0], &a->scratch[1]};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        each(all[i]);
    }
}

/* The sign of the number - t, with t in a->t. */
static int sign_of_number(rms_audit *a)
{
    dyadic *left = &a->scratch[0], *right = &a->scratch[1];
    if (a->kind == PLAIN) {
        dyadic_multiply(right, &a->t, &a->over);
        return dyadic_compare(&a->left, right);
    }
    if (a->kind == THE_ROOT) {
        dyadic_set(left, &a->t);
        if (a->on_root) {
            dyadic_subtract(left, left, &a->eps);
        }
        if (dyadic_sign(left) < 0) {
            return 1;
        }
        dyadic_multiply(left, left, left);
        dyadic_multiply(left, left, &a->count);
        return dyadic_compare(&a->radicand, left);
    }
    dyadic_set(left, &a->left);
    if (a->on_root) {
        dyadic_multiply(right, &a->t, &a->eps);
        dyadic_subtract(left, left, right);
    }
    int sign = dyadic_sign(left), other = dyadic_sign(&a->t) * dyadic_sign(&a->radicand);
    if (sign != other) {
        return sign > other ? 1 : -1;
    }
    dyadic_multiply(left, left, left);
    dyadic_multiply(left, left, &a->count);
    dyadic_multiply(right, &a->t, &a->t);
    dyadic_multiply(right, right, &a->radicand);
    return sign * dyadic_compare(left, right);
}

/* Returns the sign of the number minus the middle of two. */
static int sign_against(rms_audit *a, double low, double high)
{
    dyadic_set_double(&a->t, low);
    dyadic_set_double(&a->scratch[0], high);
    dyadic_add(&a->t, &a->t, &a->scratch[0]);
    a->t.e += a->unit - 1;
    dyadic_add(&a->t, &a->t, &a->base);
    return sign_of_number(a);
}

/* Returns the rounding of the number to a type, searched from `near` on; NaN if it is not near that. */
static double rounded_to(rms_audit *a, ln_type type, double near)
{
    audit_values room;
    audit_store(type, &room, 0, near);
    double value = audit_load(type, &room, 0);
    for (unsigned steps = 0; steps < MOST_STEPS; steps++) {
        audit_neighbours n = audit_neighbours_of(type, value);
        int below = sign_against(a, n.below, n.value);
        int above = isinf(value) && value > 0 ? -1 : sign_against(a, n.value, n.above);
        bool under = below < 0 || (below == 0 && !n.even);
        bool over = above > 0 || (above == 0 && !n.even);
        if (isinf(value) && value < 0) {
            under = false;
        }
        if (!under && !over) {
            return value;
        }
        double next = under ? n.below : n.above;
        double most = type == LN_F64 ? INFINITY : type == LN_F16 ? 0x1p16 : 0x1p128;
        value = fabs(next) >= most ? copysign(INFINITY, next) : next;
    }
    return NAN;
}

static bool same(double a, double b)
{
    return (isnan(a) && isnan(b)) || a == b;
}

static long exponent_of_ulp(double value)
{
    return value == 0 || ilogb(value) < -1022 ? -1074 : ilogb(value) - 52;
}

/* Checks the rest of the current number, whose rounding to double is `exact`. */
static bool rest_is_right(rms_audit *a, double exact, double rest)
{
    if (isinf(exact)) {
        return rest == 0;
    }
    dyadic_set_double(&a->base, exact);
    a->unit = exponent_of_ulp(exact);
    double right = rounded_to(a, LN_F64, rest);
    bool is_zero = sign_against(a, 0, 0) == 0;
    dyadic_set_integer(&a->base, 0);
    a->unit = 0;
    if (exact == 0 && right == 0 && !is_zero) {
        return fabs(rest) == 0x1p-1074;
    }
    return same(rest, right);
}

/* The row that is squared, and the one that is normalised, of its type or of f32. */
typedef struct taken_row {
    double squared[AUDIT_MAX_HIDDEN], x[AUDIT_MAX_HIDDEN];
    bool nan, infinite;
} taken_row;

static void take_row(const audit_row *row, const ln_convention *convention, taken_row *taken)
{
    bool shorter = row->storage == LN_BF16 || row->storage == LN_F16;
    taken->nan = taken->infinite = false;
    for (size_t i = 0; i < row->hidden; i++) {
        double x = audit_load(row->storage, &row->x, i);
        double residual = row->has_residual ? audit_load(row->storage, &row->residual, i) : 0;
        audit_values room;
        double sum = x + residual; /* innocuous for all but f64, which it is rounded to */
        audit_store_nearest(row->storage, &room, 0, sum);
        double rounded =
            row->storage == LN_F64 || !row->has_residual ? sum : audit_load(row->storage, &room, 0);
        double unrounded = shorter && row->has_residual ? (double)(float)sum : rounded;
        taken->squared[i] = convention->sum == LN_RMS_SUM_ROUNDED ? rounded : unrounded;
        taken->x[i] = convention->sum == LN_RMS_SUM_UNROUNDED ? unrounded : rounded;
        taken->nan |= isnan(sum);
        taken->infinite |= isinf(taken->x[i]) || isinf(taken->squared[i]);
    }
}

/* R and an estimate of D. False: 0 / 0. */
static bool take_root(rms_audit *a, const audit_row *row, const ln_convention *convention,
                      const taken_row *taken)
{
    long double sum = 0;
    double eps = convention->eps_place == LN_EPS_NONE ? 0 : convention->eps;
    a->on_root = convention->eps_place == LN_EPS_STD;
    dyadic_set_integer(&a->count, (long)row->hidden);
    dyadic_set_double(&a->eps, eps);
    dyadic_set_integer(&a->radicand, 0);
    for (size_t i = 0; i < row->hidden; i++) {
        dyadic_set_double(&a->t, taken->squared[i]);
        dyadic_multiply(&a->t, &a->t, &a->t);
        dyadic_add(&a->radicand, &a->radicand, &a->t);
        sum += (long double)taken->squared[i] * taken->squared[i];
    }
    sum /= row->hidden;
    a->root = a->on_root ? sqrtl(sum) + eps : sqrtl(sum + eps);
    if (!a->on_root) {
        dyadic_multiply(&a->t, &a->eps, &a->count);
        dyadic_add(&a->radicand, &a->radicand, &a->t);
    }
    return dyadic_sign(&a->radicand) > 0 || (a->on_root && eps > 0);
}

/* The factor of the weight, in a->over while it is made, as a dyadic in *factor. */
static void take_factor(rms_audit *a, const ln_convention *convention, ln_type param, double w,
                        dyadic *factor, double *estimate)
{
    dyadic_set_double(factor, convention->weight == LN_RMS_WEIGHT_NONE ? 1 : w);
    *estimate = convention->weight == LN_RMS_WEIGHT_NONE ? 1 : w;
    if (convention->weight < LN_RMS_WEIGHT_OFFSET) {
        return;
    }
    dyadic_set_integer(&a->t, 1);
    dyadic_add(factor, factor, &a->t);
    *estimate = 1 + w;
    if (convention->weight == LN_RMS_WEIGHT_OFFSET_ROUNDED) {
        a->kind = PLAIN;
        dyadic_set_integer(&a->over, 1);
        dyadic_set(&a->left, factor);
        *estimate = rounded_to(a, param, *estimate);
        dyadic_set_double(factor, *estimate);
    }
}

/* Sets the current number to y, and `near` to an estimate. */
static void take_element(rms_audit *a, const ln_convention *convention, ln_type storage, double x,
                         const dyadic *factor, double weight, double *near)
{
    bool divides = convention->root, casts = convention->cast && convention->weight != 0;
    a->kind = divides ? PLAIN : OVER_ROOT;
    long double quotient = x / a->root;
    if (divides) {
        dyadic_set_double(&a->over, (double)a->root);
    }
    dyadic_set_double(&a->left, x);
    if (casts) {
        double xhat = rounded_to(a, storage, (double)quotient);
        quotient = xhat;
        a->kind = PLAIN;
        dyadic_set_integer(&a->over, 1);
        dyadic_set_double(&a->left, xhat);
    }
    dyadic_multiply(&a->left, &a->left, factor);
    *near = (double)(quotient * weight);
}

static bool element_is_right(rms_audit *a, const ln_convention *convention, const audit_row *row,
                             size_t i, double x, const ln_reference_result *result)
{
    double w = audit_load(row->param, &row->gamma, i), weight, near;
    double rounded = audit_load(row->storage, result->rounded, i), exact = result->exact[i];
    dyadic factor;
    dyadic_init(&factor);
    take_factor(a, convention, row->param, w, &factor, &weight);
    bool right = isfinite(weight) != 0;
    if (!right) { /* 1 + w is infinite in the type: an infinity of its sign, or 0 times it */
        right = x == 0 ? isnan(rounded) : isinf(rounded) || isnan(rounded);
    } else {
        take_element(a, convention, row->storage, x, &factor, weight, &near);
        right = same(rounded, rounded_to(a, row->storage, near)) &&
                same(exact, rounded_to(a, LN_F64, near)) &&
                (row->storage != LN_F64 || rest_is_right(a, exact, result->rest[i]));
    }
    dyadic_clear(&factor);
    return right;
}

static void report(const audit_row *row, const ln_convention *c, size_t i, double rounded)
{
    fprintf(
        stderr,
        "wrong: %s, weights %s, hidden %zu, place %d eps %a weight %d root %d cast %d sum %d%s, "
        "element %zu: x %a, w %a, y %a\n",
        audit_type_names[row->storage], audit_type_names[row->param], row->hidden,
        (int)c->eps_place, c->eps, (int)c->weight, c->root, c->cast, (int)c->sum,
        row->has_residual ? " with a residual" : "", i, audit_load(row->storage, &row->x, i),
        audit_load(row->param, &row->gamma, i), rounded);
}

/* A row with an infinity, or whose root is rounded to 0 or infinity: x / root by IEEE 754. */
static bool quotient_is_right(double x, double root, double rounded)
{
    double xhat = x / root;
    return isnan(xhat) ? isnan(rounded) : isinf(xhat) ? !isfinite(rounded) : true;
}

static void audit_one(rms_audit *a, const audit_row *row, const ln_convention *convention,
                      const ln_reference_result *result, rms_counts *counts)
{
    taken_row taken;
    take_row(row, convention, &taken);
    bool finite = !taken.nan && !taken.infinite;
    bool defined = finite && take_root(a, row, convention, &taken);
    if (defined && convention->root) {
        a->kind = THE_ROOT;
        a->root = rounded_to(a, row->storage, (double)a->root);
    }
    bool ieee = (taken.infinite && !taken.nan) ||
                (defined && convention->root && !(a->root > 0 && isfinite((double)a->root)));
    for (size_t i = 0; i < row->hidden; i++) {
        double rounded = audit_load(row->storage, result->rounded, i);
        bool right = ieee       ? quotient_is_right(taken.x[i],
                                              taken.infinite ? INFINITY : (double)a->root, rounded)
                     : !defined ? isnan(rounded) && isnan(result->exact[i])
                                : element_is_right(a, convention, row, i, taken.x[i], result);
        counts->wrong += !right;
        counts->undefined += isnan(rounded) != 0;
        if (!right && counts->wrong < 20) {
            report(row, convention, i, rounded);
        }
    }
    counts->elements += row->hidden;
    counts->rounded[0] += convention->weight == LN_RMS_WEIGHT_OFFSET_ROUNDED ? row->hidden : 0;
    counts->rounded[1] += convention->root ? row->hidden : 0;
    counts->rounded[2] += convention->cast ? row->hidden : 0;
}

static ln_convention draw_convention(const audit_row *row, unsigned long long *state)
{
    ln_convention convention = {.operation = LN_OPERATION_RMSNORM,
                                .eps_place = row->convention.eps_place,
                                .eps = row->convention.eps};
    if (convention.eps_place == LN_EPS_QUOTIENT) {
        convention.eps_place = LN_EPS_VAR;
    }
    convention.weight = (ln_rms_weight)(audit_random(state) % 4);
    convention.root = audit_random(state) % 3 == 0;
    convention.cast = audit_random(state) % 2 == 0;
    convention.sum = (ln_rms_sum)(audit_random(state) % 3);
    return convention;
}

bool audit_rms(uint64_t elements, uint64_t seed, rms_counts *counts)
{
    ln_reference *reference = ln_reference_create();
    rms_audit a = {0};
    unsigned long long state = seed;
    bool fine = reference != NULL;
    *counts = (rms_counts){0};
    dyadics_of(&a, dyadic_init);
    for (uint64_t number = 0; fine && counts->elements < elements; number++) {
        audit_row row;
        audit_values rounded;
        double exact[AUDIT_MAX_HIDDEN], rest[AUDIT_MAX_HIDDEN];
        ln_reference_result result = {.rounded = &rounded, .exact = exact, .rest = rest};
        unsigned draw = (unsigned)(audit_random(&state) % (3 * AUDIT_TYPES));
        row.storage = (ln_type)((number / AUDIT_KINDS) % AUDIT_TYPES);
        row.param = draw < AUDIT_TYPES ? (ln_type)draw : row.storage;
        audit_row_draw(&row, (unsigned)(number % AUDIT_KINDS), &state);
        ln_convention convention = draw_convention(&row, &state);
        fine =
            ln_rms_reference_row(reference, &convention, row.storage, row.param, row.hidden, &row.x,
                                 row.has_residual ? &row.residual : NULL, &row.gamma, &result);
        if (fine) {
            audit_one(&a, &row, &convention, &result, counts);
        }
    }
    dyadics_of(&a, dyadic_clear);
    ln_reference_destroy(reference);
    return fine;
}
