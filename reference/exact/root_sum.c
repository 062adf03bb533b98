/* Rounds a sum of roots.
 *
 * The sum is enclosed with MPFR, with every operation rounded outwards: each end is monotone in its operands, so that
 * no error needs to be estimated. If both ends have the same rounding, it is that of the sum (rounding.c); if not, the
 * precision is doubled (Ziv 1991), unless the sum is the number t at which the rounding changes.
 *
 * Whether the sum is t is decided exactly. Roots of rational numbers no two of which have a quotient that is a rational
 * square are linearly independent over the rationals (Besicovitch, "On the linear independence of fractional powers of
 * integers", J. London Math. Soc. 15, 1940). So roots are collected in such classes, q sqrt(r) = q sqrt(r / s) sqrt(s)
 * with a rational sqrt(r / s), and the sum is t if all classes are 0, including the class of 1 minus t. Without this
 * the doubling would not end at a tie or a zero; with it, it does, since any other sum has a positive distance from
 * t. */
#include "exact/root_sum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_PRECISION = 128 };

bool root_sum_init(root_sum *sum, size_t capacity)
{
    *sum = (root_sum){.capacity = capacity};
    sum->q = calloc(capacity, sizeof *sum->q);
    sum->r = calloc(capacity, sizeof *sum->r);
    sum->done = calloc(capacity, sizeof *sum->done);
    if (sum->q == NULL || sum->r == NULL || sum->done == NULL) {
        free(sum->q);
        free(sum->r);
        free(sum->done);
        return false;
    }
    mpq_init(sum->p);
    for (size_t i = 0; i < capacity; i++) {
        mpq_inits(sum->q[i], sum->r[i], NULL);
    }
    return true;
}

void root_sum_clear(root_sum *sum)
{
    mpq_clear(sum->p);
    for (size_t i = 0; i < sum->capacity; i++) {
        mpq_clears(sum->q[i], sum->r[i], NULL);
    }
    free(sum->q);
    free(sum->r);
    free(sum->done);
}

void root_sum_reset(root_sum *sum)
{
    mpq_set_ui(sum->p, 0, 1);
    sum->count = 0;
}

void root_sum_add(root_sum *sum, mpq_srcptr p, mpq_srcptr q, mpq_srcptr r)
{
    mpq_add(sum->p, sum->p, p);
    if (mpq_sgn(q) != 0 && mpq_sgn(r) != 0) {
        mpq_set(sum->q[sum->count], q);
        mpq_set(sum->r[sum->count], r);
        sum->count++;
    }
}

/* end += q sqrt(r), towards `direction`, which is down or up. */
static void add_root(mpfr_t end, mpq_srcptr q, mpq_srcptr r, mpfr_rnd_t direction)
{
    mpfr_t root, factor;
    mpfr_inits2(mpfr_get_prec(end), root, factor, (mpfr_ptr)0);
    /* The product's size is rounded away from 0 if its sign is that of the direction. */
    bool outwards = (mpq_sgn(q) > 0) == (direction == MPFR_RNDU);
    mpfr_rnd_t of_size = outwards ? MPFR_RNDA : MPFR_RNDZ;
    mpfr_set_q(root, r, of_size);
    mpfr_sqrt(root, root, of_size);
    mpfr_set_q(factor, q, of_size);
    mpfr_mul(root, root, factor, of_size);
    mpfr_add(end, end, root, direction);
    mpfr_clears(root, factor, (mpfr_ptr)0);
}

static void enclose(const root_sum *sum, mpfr_t low, mpfr_t high)
{
    mpfr_set_q(low, sum->p, MPFR_RNDD);
    mpfr_set_q(high, sum->p, MPFR_RNDU);
    for (size_t i = 0; i < sum->count; i++) {
        add_root(low, sum->q[i], sum->r[i], MPFR_RNDD);
        add_root(high, sum->q[i], sum->r[i], MPFR_RNDU);
    }
}

/* Sets root to sqrt(q). Returns false if that is not rational. */
static bool rational_root(mpq_t root, mpq_srcptr q)
{
    if (!mpz_perfect_square_p(mpq_numref(q)) || !mpz_perfect_square_p(mpq_denref(q))) {
        return false;
    }
    mpz_sqrt(mpq_numref(root), mpq_numref(q));
    mpz_sqrt(mpq_denref(root), mpq_denref(q));
    return true;
}

/* Sets total to the class of unit: the sum of q sqrt(r / unit) over the roots from `begin` on for which
 * that is rational. Marks these roots as done. */
static void gather_class(const root_sum *sum, mpq_srcptr unit, size_t begin, mpq_t total)
{
    mpq_t quotient, root;
    mpq_inits(quotient, root, NULL);
    for (size_t i = begin; i < sum->count; i++) {
        mpq_div(quotient, sum->r[i], unit);
        if (!sum->done[i] && rational_root(root, quotient)) {
            mpq_mul(root, root, sum->q[i]);
            mpq_add(total, total, root);
            sum->done[i] = true;
        }
    }
    mpq_clears(quotient, root, NULL);
}

/* Returns whether the sum is exactly t. */
static bool equals(const root_sum *sum, mpq_srcptr t)
{
    mpq_t total, one;
    mpq_inits(total, one, NULL);
    mpq_set_ui(one, 1, 1);
    memset(sum->done, 0, sum->count * sizeof *sum->done);
    mpq_sub(total, sum->p, t);
    gather_class(sum, one, 0, total);
    bool equal = mpq_sgn(total) == 0;
    for (size_t i = 0; equal && i < sum->count; i++) {
        if (!sum->done[i]) {
            mpq_set_ui(total, 0, 1);
            gather_class(sum, sum->r[i], i, total);
            equal = mpq_sgn(total) == 0;
        }
    }
    mpq_clears(total, one, NULL);
    return equal;
}

static void set_bound(mpq_t q, double value)
{
    if (isinf(value)) {
        mpq_set_si(q, value > 0 ? 1 : -1, 1);
        mpq_mul_2exp(q, q, 1024);
    } else {
        mpq_set_d(q, value);
    }
}

static bool is_critical(const root_sum *sum, const critical_number *critical)
{
    if (!critical->known) {
        return false;
    }
    mpq_t t, other;
    mpq_inits(t, other, NULL);
    set_bound(t, critical->number.low);
    set_bound(other, critical->number.high);
    mpq_add(t, t, other);
    mpq_div_2exp(t, t, 1);
    bool is = equals(sum, t);
    mpq_clears(t, other, NULL);
    return is;
}

rounded_pair root_sum_round(const root_sum *sum)
{
    rounded_pair rounded;
    critical_number critical;
    mpfr_t low, high;
    mpfr_inits2(FIRST_PRECISION, low, high, (mpfr_ptr)0);
    for (mpfr_prec_t precision = FIRST_PRECISION;; precision *= 2) {
        mpfr_set_prec(low, precision);
        mpfr_set_prec(high, precision);
        enclose(sum, low, high);
        if (rounding_decides(low, high, &rounded, &critical)) {
            break;
        }
        if (is_critical(sum, &critical)) {
            rounded = rounding_of_critical(&critical);
            break;
        }
    }
    mpfr_clears(low, high, (mpfr_ptr)0);
    return rounded;
}

int root_sum_side(const root_sum *sum, double t)
{
    mpq_t exact;
    mpq_init(exact);
    mpq_set_d(exact, t);
    bool equal = equals(sum, exact);
    mpq_clear(exact);
    int side = 0;
    mpfr_t low, high;
    mpfr_inits2(FIRST_PRECISION, low, high, (mpfr_ptr)0);
    for (mpfr_prec_t precision = FIRST_PRECISION; !equal && side == 0; precision *= 2) {
        mpfr_set_prec(low, precision);
        mpfr_set_prec(high, precision);
        enclose(sum, low, high);
        side = mpfr_cmp_d(low, t) > 0 ? 1 : mpfr_cmp_d(high, t) < 0 ? -1 : 0;
    }
    mpfr_clears(low, high, (mpfr_ptr)0);
    return side;
}
