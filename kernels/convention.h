/* The convention of a problem: divisor, eps and affine form, which only this file uses, and the addresses of its rows.
 *
 * rstd = 1 / (sqrt(m2 / (N - ddof) + eps_in_variance) + eps_on_std). At least one of the two eps is 0, and adding 0 is
 * exact, so that no row branches on the place of eps. The eps on the quotient is the addend of
 * (x - mean) * rstd + quotient, which is -0 otherwise: adding -0 changes nothing, not even the sign of a zero.
 *
 * Bound: bounds/bounds.c. */
#ifndef LN_CONVENTION_H
#define LN_CONVENTION_H

#include "moments.h"
#include LN_APPLY_FILE

/* ---- The form ----
 *
 * The steps from xhat to y, a constant of element loops. It is the affine form; for RMSNorm, which has no beta, it is
 * one of the forms without beta, combined with the values that are rounded. */
#ifdef LN_RMS
enum { FORM_OFFSET_ROUNDED = 8, FORM_CAST = 16 };
#define FORM_USUAL LN_AFFINE_GAMMA

/* If the storage type is that of items, rounding an xhat of one item changes nothing. */
#ifdef CENTRE_IN_TWO
#define ROUNDS_XHAT 1
#else
#define ROUNDS_XHAT (!STORED_AS_COMPUTED)
#endif

LN_INLINE ln_affine form_of(const ln_problem *problem)
{
    static const unsigned forms[] = {[LN_RMS_WEIGHT_NONE] = LN_AFFINE_NONE,
                                     [LN_RMS_WEIGHT] = LN_AFFINE_GAMMA,
                                     [LN_RMS_WEIGHT_OFFSET] = LN_AFFINE_GAMMA1,
                                     [LN_RMS_WEIGHT_OFFSET_ROUNDED] =
                                         LN_AFFINE_GAMMA1 | FORM_OFFSET_ROUNDED};
    unsigned form = forms[problem->convention.weight];
    if (problem->convention.cast && ROUNDS_XHAT && form != LN_AFFINE_NONE)
        form |= FORM_CAST;
    return (ln_affine)form;
}

LN_INLINE ln_affine form_without_cast(ln_affine form)
{
    return (ln_affine)((unsigned)form & ~(unsigned)FORM_CAST);
}

LN_INLINE size_t convention_ddof(const ln_problem *problem)
{
    (void)problem;
    return 0;
}

LN_INLINE int convention_rounds_root(const ln_problem *problem)
{
    return problem->convention.root;
}
#else
#define FORM_USUAL LN_AFFINE_VECTOR

LN_INLINE ln_affine form_of(const ln_problem *problem)
{
    return problem->convention.affine;
}

LN_INLINE size_t convention_ddof(const ln_problem *problem)
{
    return (size_t)problem->convention.ddof;
}

LN_INLINE int convention_rounds_root(const ln_problem *problem)
{
    (void)problem;
    return 0;
}
#endif

/* The normalised x, which may be more than one vector, and the type of eps on the quotient. */
#ifdef CENTRE_SPLIT
typedef double quotient_type;
#else
#ifndef LN_RMS /* apply/scaled.h defines it */
typedef vec normalised;
#endif
typedef item quotient_type;
#endif

typedef struct convention {
    factor divisor;
    factor eps_in_variance;
    factor eps_on_std;
    quotient_type quotient; /* the eps that is added to xhat, or -0 */
    const param *gamma;
    const param *beta;
    vec gamma_scalar;
    vec beta_scalar;
    ln_affine affine;   /* the form: if it is the usual one, a constant in always-inline bodies */
    residual_form form; /* always such a constant */
#ifdef LN_RMS
    int rounds_root;
#endif
} convention;

/* Returns eps on the std, at least `least` for f64 sums of f32 or shorter elements: every deviation there is 0 or
 * larger, and with a smaller eps the rstd of a constant row would be infinite and its xhat NaN. */
LN_INLINE factor convention_eps_on_std(double eps)
{
    const double least = 0x1.0000000000004p-1024; /* 1 / least is finite */
    return (factor)(SUMS_ARE_LONG && eps > 0 && eps < least ? least : eps);
}

LN_INLINE convention convention_prepare(const ln_problem *problem, const ln_tensors *tensors,
                                        ln_affine affine, residual_form form)
{
    const ln_convention *wanted = &problem->convention;
    factor eps = (factor)wanted->eps;
    convention rules = {
        .divisor = (factor)(problem->hidden - convention_ddof(problem)),
        .eps_in_variance = wanted->eps_place == LN_EPS_VAR ? eps : 0,
        .eps_on_std = wanted->eps_place == LN_EPS_STD ? convention_eps_on_std(wanted->eps) : 0,
        .quotient = wanted->eps_place == LN_EPS_QUOTIENT ? (quotient_type)eps : -(item)0,
        .gamma = tensors->gamma,
        .beta = tensors->beta,
        .affine = affine,
        .form = form,
    };
    rules.gamma_scalar = rules.beta_scalar = lane_set(0);
#ifdef LN_RMS
    rules.rounds_root = convention_rounds_root(problem);
#endif
    if (affine == LN_AFFINE_SCALAR) {
        rules.gamma_scalar = param_set(rules.gamma);
        rules.beta_scalar = param_set(rules.beta);
    }
    return rules;
}

LN_INLINE factor square_root(factor a)
{
    return sizeof(factor) == sizeof(double) ? (factor)sqrt(a) : (factor)sqrtf((float)a);
}

/* Returns the divisor of x - mean, times the scale. */
LN_INLINE factor convention_std(const convention *rules, moments found)
{
    factor var = found.m2 / rules->divisor, scale = found.scale;
    factor eps_in_variance = (rules->eps_in_variance * scale) * scale;
    return square_root(var + eps_in_variance) + rules->eps_on_std * scale;
}

#ifdef LN_RMS
/* Rounds a root to the storage type. */
LN_INLINE factor root_as_stored(factor root)
{
    item items[LANES];
    item_store(items, lane_stored(lane_set((item)root)));
    return items[0];
}
#endif

/* Returns the factor that multiplies x - mean. */
LN_INLINE factor convention_rstd(const convention *rules, moments found)
{
#ifdef LN_RMS
    if (rules->rounds_root)
        return 1 / root_as_stored(convention_std(rules, found));
#endif
    return found.scale * (1 / convention_std(rules, found));
}

/* The factors and summands of the affine form for the first n, at most LANES, elements from column i on. Schedules with
 * several rows at a time keep them in registers. */
typedef struct affine_terms {
    vec gamma;
    vec beta;
} affine_terms;

#ifdef LN_RMS
LN_INLINE vec weight_of(ln_affine form, const convention *rules, size_t i, size_t n)
{
    vec weight = param_load(rules->gamma + i, n);
    if (form_without_cast(form) == LN_AFFINE_GAMMA)
        return weight;
    weight = lane_add(lane_set(1), weight);
    return form & FORM_OFFSET_ROUNDED ? LN_PASTE(lane_stored_, LN_PARAM)(weight) : weight;
}

LN_INLINE affine_terms convention_terms(const convention *rules, size_t i, size_t n)
{
    ln_affine form = rules->affine;
    return (affine_terms){form == LN_AFFINE_NONE ? lane_set(1) : weight_of(form, rules, i, n),
                          lane_set(-(item)0)};
}
#else
LN_INLINE affine_terms convention_terms(const convention *rules, size_t i, size_t n)
{
    affine_terms terms = {rules->gamma_scalar, rules->beta_scalar};
    if (rules->affine == LN_AFFINE_GAMMA || rules->affine == LN_AFFINE_VECTOR ||
        rules->affine == LN_AFFINE_GAMMA1)
        terms.gamma = param_load(rules->gamma + i, n);
    if (rules->affine == LN_AFFINE_VECTOR || rules->affine == LN_AFFINE_GAMMA1)
        terms.beta = param_load(rules->beta + i, n);
    if (rules->affine == LN_AFFINE_GAMMA1)
        terms.gamma = lane_add(lane_set(1), terms.gamma);
    return terms;
}
#endif

#ifdef CENTRE_IN_TWO
/* Returns (s + w) (1 + gamma) + beta, with 1 + gamma in two parts. */
LN_INLINE vec convention_finish_gamma1(normalised xhat, vec gamma, vec beta)
{
    vec one = lane_set(1), sum = lane_add(one, gamma), of_gamma = lane_subtract(sum, one);
    vec rest =
        lane_add(lane_subtract(one, lane_subtract(sum, of_gamma)), lane_subtract(gamma, of_gamma));
    vec small = multiply_add(xhat.first, rest, lane_multiply(xhat.rest, sum));
    return multiply_add(xhat.first, sum, lane_add(small, beta));
}
#endif

/* Returns y for the xhat of the first n, at most LANES, elements from column i on. */
#ifdef LN_RMS
LN_INLINE vec convention_finish(ln_affine form, const convention *rules, normalised xhat, size_t i,
                                size_t n)
{
#ifdef CENTRE_IN_TWO
    if (form == LN_AFFINE_NONE)
        return lane_add(xhat.first, xhat.rest);
    if (form == LN_AFFINE_GAMMA1)
        return convention_finish_gamma1(xhat, param_load(rules->gamma + i, n), lane_set(-(item)0));
    vec weight = weight_of(form, rules, i, n);
    if (form & FORM_CAST)
        return lane_multiply(lane_add(xhat.first, xhat.rest), weight);
    return multiply_add(xhat.first, weight, lane_multiply(xhat.rest, weight));
#else
    if (form == LN_AFFINE_NONE)
        return xhat;
    return lane_multiply(form & FORM_CAST ? lane_stored(xhat) : xhat, weight_of(form, rules, i, n));
#endif
}
#elif defined(CENTRE_IN_TWO)
LN_INLINE vec convention_finish(ln_affine affine, const convention *rules, normalised xhat,
                                size_t i, size_t n)
{
    if (affine == LN_AFFINE_NONE)
        return lane_add(xhat.first, xhat.rest);
    vec gamma = rules->gamma_scalar, beta = rules->beta_scalar;
    if (affine != LN_AFFINE_SCALAR)
        gamma = param_load(rules->gamma + i, n);
    if (affine == LN_AFFINE_GAMMA)
        return multiply_add(xhat.first, gamma, lane_multiply(xhat.rest, gamma));
    if (affine != LN_AFFINE_SCALAR)
        beta = param_load(rules->beta + i, n);
    if (affine == LN_AFFINE_GAMMA1)
        return convention_finish_gamma1(xhat, gamma, beta);
    return multiply_add(xhat.first, gamma, multiply_add(xhat.rest, gamma, beta));
}
#else
LN_INLINE vec convention_finish(ln_affine affine, const convention *rules, vec xhat, size_t i,
                                size_t n)
{
    if (affine == LN_AFFINE_NONE)
        return xhat;
    vec gamma = rules->gamma_scalar, beta = rules->beta_scalar;
    if (affine != LN_AFFINE_SCALAR)
        gamma = param_load(rules->gamma + i, n);
    if (affine == LN_AFFINE_GAMMA1)
        gamma = lane_add(lane_set(1), gamma);
    if (affine == LN_AFFINE_VECTOR || affine == LN_AFFINE_GAMMA1)
        beta = param_load(rules->beta + i, n);
    return affine == LN_AFFINE_GAMMA ? lane_multiply(xhat, gamma) : multiply_add(xhat, gamma, beta);
}
#endif

/* Calls function(form, ...) with the usual form as a constant. All other forms share a copy that tests the form for
 * each vector, which takes up to 6 % longer, and 12 % for gamma1 in two numbers. */
#ifdef LN_RMS
#define LN_BY_AFFINE(rules, function, ...)                                                         \
    ((rules)->affine == LN_AFFINE_GAMMA ? function(LN_AFFINE_GAMMA, __VA_ARGS__)                   \
     : ROUNDS_XHAT && (rules)->form == RESIDUAL_NONE &&                                            \
             (rules)->affine == (LN_AFFINE_GAMMA | FORM_CAST)                                      \
         ? function((ln_affine)(LN_AFFINE_GAMMA | FORM_CAST), __VA_ARGS__)                         \
         : function((rules)->affine, __VA_ARGS__))
#else
#define LN_BY_AFFINE(rules, function, ...)                                                         \
    ((rules)->affine == LN_AFFINE_VECTOR ? function(LN_AFFINE_VECTOR, __VA_ARGS__)                 \
                                         : function((rules)->affine, __VA_ARGS__))
#endif

/* Returns terms with which y = xhat * gamma + beta has the same bits in one operation for any affine form: an absent
 * gamma is 1, and an absent beta is -0. */
LN_INLINE affine_terms convention_terms_any(const convention *rules, size_t i, size_t n)
{
    affine_terms terms = convention_terms(rules, i, n);
#ifdef LN_RMS
    return terms;
#endif
    if (rules->affine == LN_AFFINE_NONE)
        terms.gamma = lane_set(1);
    if (rules->affine == LN_AFFINE_NONE || rules->affine == LN_AFFINE_GAMMA)
        terms.beta = lane_set(-(item)0);
    return terms;
}

/* Returns whether these terms suffice. They do not if 1 + gamma needs two numbers or xhat is rounded. */
LN_INLINE int convention_has_terms(ln_affine affine)
{
#if defined(LN_RMS) && defined(CENTRE_IN_TWO)
    return !(affine & FORM_CAST) && affine != LN_AFFINE_GAMMA1;
#elif defined(LN_RMS)
    return !(affine & FORM_CAST);
#elif defined(CENTRE_IN_TWO)
    return affine != LN_AFFINE_GAMMA1;
#else
    (void)affine;
    return 1;
#endif
}

LN_INLINE vec convention_finish_any(normalised xhat, affine_terms terms)
{
#ifdef CENTRE_IN_TWO
    return multiply_add(xhat.first, terms.gamma, multiply_add(xhat.rest, terms.gamma, terms.beta));
#else
    return multiply_add(xhat, terms.gamma, terms.beta);
#endif
}

/* Returns whether no y is subnormal in the rows of 16-bit storage that are regular (centre_is_regular(),
 * apply/folded.h): each gamma is 0 or at least 2^-30, and each beta is 0 or at least 2^-40. Always true for lanes that
 * store subnormals like other numbers.
 *
 * x has at most 11 digits and rstd 24, so their product is a multiple of a power of two above 2^-35 times its size. So
 * t = x rstd + addend, |addend| >= 2^-60, is 0, or more than half of the addend, or (if the product is at least half of
 * the addend) a multiple of more than 2^-36 2^-60: in any case 0 or more than 2^-96, also after rounding. gamma t has
 * 48 digits: with beta = 0 it is 0 or at least 2^-126, a normal number; else gamma t + beta is more than half of beta,
 * or 0, or a multiple of more than 2^-49 2^-40. */
LN_INLINE int convention_is_regular(const convention *rules, size_t hidden)
{
#ifdef LANE_STORE_REGULAR
    int regular = lane_is_regular(rules->gamma_scalar, 0x1p-30f) &
                  lane_is_regular(rules->beta_scalar, 0x1p-40f);
    if (rules->affine == LN_AFFINE_NONE || rules->affine == LN_AFFINE_SCALAR)
        return regular;
    for (size_t i = 0; i < hidden; i += LANES) {
        affine_terms terms = convention_terms(rules, i, hidden - i);
        regular &= lane_is_regular(terms.gamma, 0x1p-30f) & lane_is_regular(terms.beta, 0x1p-40f);
    }
    return regular;
#else
    (void)rules, (void)hidden;
    return 1;
#endif
}

/* ---- Rows ---- */

/* The distances between rows, in elements. */
typedef struct row_strides {
    size_t x;
    size_t y;
    size_t residual;
    size_t sum;
} row_strides;

LN_INLINE row_strides row_strides_of(const ln_problem *problem)
{
    size_t hidden = problem->hidden;
    return (row_strides){
        .x = problem->x_stride ? problem->x_stride : hidden,
        .y = problem->y_stride ? problem->y_stride : hidden,
        .residual = problem->residual_stride ? problem->residual_stride : hidden,
        .sum = problem->sum_stride ? problem->sum_stride : hidden,
    };
}

/* Returns row number r; its sum is NULL if none is written. */
LN_INLINE row row_of(const ln_problem *problem, const ln_tensors *tensors, residual_form form,
                     size_t r)
{
    const row_strides strides = row_strides_of(problem);
    row view = {.hidden = problem->hidden, .form = form};
    view.x = (const storage *)tensors->x + r * strides.x;
    view.y = (storage *)tensors->y + r * strides.y;
    if (form == RESIDUAL_NONE)
        return view;
    view.residual = (const storage *)tensors->residual + r * strides.residual;
    if (tensors->sum)
        view.sum = (storage *)tensors->sum + r * strides.sum;
    return view;
}

/* Stores around the caches need whole cache lines of y at aligned addresses. */
enum { LINE_BYTES = 64, LINE = LINE_BYTES / (int)sizeof(storage) };

/* Returns the number of columns from i on before the next cache line of y. */
LN_INLINE size_t columns_to_line(const row *view, size_t i)
{
    return (size_t)(-(uintptr_t)(view->y + i) % LINE_BYTES) / sizeof(storage);
}

#endif
