/* Checks by ball arithmetic (Arb). A row is converted to a precision when an element first needs it. For an element the
 * precision is raised until its ball is on one side of every number at which a rounding changes. The last precision
 * holds sums of squares of doubles of any size; an element that it does not decide is a tie or a zero, or too near
 * one. */
#include "audit.h"

#ifdef HAVE_ARB
#include <arb.h>
#include <math.h>
#include <stdlib.h>

enum { LEVELS = 3 };

static const slong precisions[LEVELS] = {192, 768, 4608};

/* A row's mean and factor of x - mean, at one precision. */
typedef struct level {
    bool taken;
    arb_t mean, factor;
} level;

struct ball_set {
    ln_convention convention;
    ln_type type;
    size_t hidden;
    const void *x;
    level levels[LEVELS];
    arb_t value, middle, scratch;
};

const char *balls_version(void)
{
    return "Arb " ARB_VERSION;
}

ball_set *balls_create(void)
{
    ball_set *b = calloc(1, sizeof *b);
    for (int i = 0; b != NULL && i < LEVELS; i++) {
        arb_init(b->levels[i].mean);
        arb_init(b->levels[i].factor);
    }
    if (b != NULL) {
        arb_init(b->value);
        arb_init(b->middle);
        arb_init(b->scratch);
    }
    return b;
}

void balls_destroy(ball_set *b)
{
    if (b == NULL) {
        return;
    }
    for (int i = 0; i < LEVELS; i++) {
        arb_clear(b->levels[i].mean);
        arb_clear(b->levels[i].factor);
    }
    arb_clear(b->value);
    arb_clear(b->middle);
    arb_clear(b->scratch);
    free(b);
}

void balls_take(ball_set *b, const ln_convention *convention, size_t hidden, ln_type type,
                const void *x)
{
    b->convention = *convention;
    b->type = type;
    b->hidden = hidden;
    b->x = x;
    for (int i = 0; i < LEVELS; i++) {
        b->levels[i].taken = false;
    }
}

/* The mean, then the squared deviations from it. */
static void take_level(ball_set *b, level *l, slong precision)
{
    arb_zero(l->mean);
    for (size_t i = 0; i < b->hidden; i++) {
        arb_set_d(b->scratch, audit_load(b->type, b->x, i));
        arb_add(l->mean, l->mean, b->scratch, precision);
    }
    arb_div_ui(l->mean, l->mean, b->hidden, precision);
    arb_zero(l->factor);
    for (size_t i = 0; i < b->hidden; i++) {
        arb_set_d(b->scratch, audit_load(b->type, b->x, i));
        arb_sub(b->scratch, b->scratch, l->mean, precision);
        arb_addmul(l->factor, b->scratch, b->scratch, precision);
    }
    arb_div_si(l->factor, l->factor, (slong)b->hidden - b->convention.ddof, precision);
    arb_set_d(b->scratch, b->convention.eps);
    if (b->convention.eps_place == LN_EPS_VAR) {
        arb_add(l->factor, l->factor, b->scratch, precision);
    }
    arb_nonnegative_part(l->factor, l->factor);
    arb_sqrt(l->factor, l->factor, precision);
    if (b->convention.eps_place == LN_EPS_STD) {
        arb_add(l->factor, l->factor, b->scratch, precision);
    }
    arb_inv(l->factor, l->factor, precision);
    l->taken = true;
}

/* Sets value to the element; it is no number if the variance cannot be distinguished from 0. */
static void set_value(ball_set *b, const level *l, double x, double gamma, double beta,
                      slong precision)
{
    ln_affine affine = b->convention.affine;
    arb_set_d(b->value, x);
    arb_sub(b->value, b->value, l->mean, precision);
    arb_mul(b->value, b->value, l->factor, precision);
    if (b->convention.eps_place == LN_EPS_QUOTIENT) {
        arb_set_d(b->scratch, b->convention.eps);
        arb_add(b->value, b->value, b->scratch, precision);
    }
    if (affine != LN_AFFINE_NONE) {
        arb_set_d(b->scratch, gamma);
        arb_add_ui(b->scratch, b->scratch, affine == LN_AFFINE_GAMMA1 ? 1 : 0, ARF_PREC_EXACT);
        arb_mul(b->value, b->value, b->scratch, precision);
    }
    if (affine != LN_AFFINE_NONE && affine != LN_AFFINE_GAMMA) {
        arb_set_d(b->scratch, beta);
        arb_add(b->value, b->value, b->scratch, precision);
    }
}

/* An infinity is the power of two after the largest double. */
static void set_bound(arb_t ball, double bound)
{
    if (isinf(bound)) {
        arb_set_si(ball, bound > 0 ? 1 : -1);
        arb_mul_2exp_si(ball, ball, 1024);
    } else {
        arb_set_d(ball, bound);
    }
}

/* Compares value with (low + high) / 2: -1: below, 1: above, 0: not decided. */
static int side_of_middle(ball_set *b, double low, double high)
{
    set_bound(b->middle, low);
    set_bound(b->scratch, high);
    arb_add(b->middle, b->middle, b->scratch, ARF_PREC_EXACT);
    arb_mul_2exp_si(b->middle, b->middle, -1);
    return arb_lt(b->value, b->middle) ? -1 : arb_gt(b->value, b->middle) ? 1 : 0;
}

static balls_verdict verdict_of(int side, int wanted)
{
    return side == wanted ? BALLS_RIGHT : side == 0 ? BALLS_UNDECIDED : BALLS_WRONG;
}

static balls_verdict both(balls_verdict one, balls_verdict other)
{
    if (one == BALLS_WRONG || other == BALLS_WRONG) {
        return BALLS_WRONG;
    }
    return one == BALLS_RIGHT ? other : one;
}

/* Decides whether value rounds to this number of the type. */
static balls_verdict judge_rounding(ball_set *b, ln_type type, double claimed)
{
    if (isnan(claimed)) {
        return BALLS_WRONG;
    }
    audit_neighbours n = audit_neighbours_of(type, claimed);
    balls_verdict verdict = BALLS_RIGHT;
    if (!isinf(claimed) || claimed > 0) {
        verdict = both(verdict, verdict_of(side_of_middle(b, n.below, n.value), 1));
    }
    if (!isinf(claimed) || claimed < 0) {
        verdict = both(verdict, verdict_of(side_of_middle(b, n.value, n.above), -1));
    }
    if (claimed == 0) {
        verdict = both(verdict, verdict_of(side_of_middle(b, 0, 0), signbit(claimed) ? -1 : 1));
    }
    return verdict;
}

static balls_verdict judge_rest(ball_set *b, audit_claim claim)
{
    if (isinf(claim.exact)) {
        return claim.rest == 0 ? BALLS_RIGHT : BALLS_WRONG;
    }
    arb_set_d(b->scratch, claim.exact);
    arb_sub(b->value, b->value, b->scratch, ARF_PREC_EXACT);
    int exponent = claim.exact == 0 ? -1074 : ilogb(claim.exact) - 52;
    arb_mul_2exp_si(b->value, b->value, exponent > -1074 ? -exponent : 1074);
    bool least = claim.exact == 0 && fabs(claim.rest) == 0x1p-1074;
    balls_verdict verdict = judge_rounding(b, LN_F64, claim.rest);
    return least && verdict == BALLS_WRONG ? judge_rounding(b, LN_F64, copysign(0, claim.rest))
                                           : verdict;
}

balls_verdict balls_judge(ball_set *b, double x, double gamma, double beta, audit_claim claim)
{
    balls_verdict verdict = BALLS_UNDECIDED;
    for (int i = 0; i < LEVELS && verdict == BALLS_UNDECIDED; i++) {
        level *l = &b->levels[i];
        if (!l->taken) {
            take_level(b, l, precisions[i]);
        }
        set_value(b, l, x, gamma, beta, precisions[i]);
        if (!arb_is_finite(b->value)) {
            continue;
        }
        verdict = judge_rounding(b, b->type, claim.rounded);
        verdict = both(verdict, judge_rounding(b, LN_F64, claim.exact));
        if (b->type == LN_F64 && verdict != BALLS_WRONG && !isnan(claim.exact)) {
            verdict = both(verdict, judge_rest(b, claim));
        }
    }
    return verdict;
}
#else /* without Arb there is no such check */
const char *balls_version(void)
{
    return NULL;
}

ball_set *balls_create(void)
{
    return NULL;
}

void balls_destroy(ball_set *balls)
{
    (void)balls;
}

void balls_take(ball_set *balls, const ln_convention *convention, size_t hidden, ln_type type,
                const void *x)
{
    (void)balls, (void)convention, (void)hidden, (void)type, (void)x;
}

balls_verdict balls_judge(ball_set *balls, double x, double gamma, double beta, audit_claim claim)
{
    (void)balls, (void)x, (void)gamma, (void)beta, (void)claim;
    return BALLS_UNDECIDED;
}
#endif
