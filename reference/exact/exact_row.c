/* Exact comparison of a row's results with rational numbers.
 *
 * Every result is a number p + q sqrt(r) with rational p, q and r, or 1 / such a number, whose sign
 * needs no precision argument: the sign of p + q sqrt(r) is that of its two terms where they agree,
 * and else that of the one with the larger square. With b = gamma a_i (for rstd: b = N, gamma 1,
 * beta 0), t the number to compare with, u = t - beta (- gamma eps under LN_EPS_QUOTIENT):
 *
 *     eps in the variance, on the quotient, none:
 *         xhat (without eps) = a_i / (N sqrt(w / (N (N - ddof)))) = a_i sqrt((N - ddof) / (N w)),
 *         so element - t = -u + b sqrt(r)                     with r = (N - ddof) / (N w)
 *     eps on the std (s = sqrt(var), s + eps > 0):
 *         element - t = b / (N (s + eps)) - u, which has the sign of
 *         (b - u N eps) - u N sqrt(r)                         with r = var = v / (N (N - ddof))
 */
#include "exact/exact_row.h"

#include <math.h>

enum { DOUBLE_BITS = 53 };

void exact_row_init(exact_row *row)
{
    exact_sums_init(&row->sums);
    mpz_inits(row->divisor, row->variance, row->radicand, NULL);
    mpq_init(row->ratio);
    for (size_t i = 0; i < sizeof row->scratch / sizeof row->scratch[0]; i++) {
        mpq_init(row->scratch[i]);
    }
}

void exact_row_clear(exact_row *row)
{
    exact_sums_clear(&row->sums);
    mpz_clears(row->divisor, row->variance, row->radicand, NULL);
    mpq_clear(row->ratio);
    for (size_t i = 0; i < sizeof row->scratch / sizeof row->scratch[0]; i++) {
        mpq_clear(row->scratch[i]);
    }
}

/* w = v + eps N (N - ddof) in units of the smaller of v's and eps' last place. */
static void take_radicand(exact_row *row)
{
    mpz_set(row->radicand, row->variance);
    row->radicand_unit = 2 * row->sums.unit;
    if (row->place != LN_EPS_VAR) {
        return;
    }
    int exponent;
    double fraction = frexp(row->eps, &exponent);
    long unit = (long)exponent - DOUBLE_BITS;
    mpz_t addend;
    mpz_init(addend);
    mpz_set_d(addend, ldexp(fraction, DOUBLE_BITS));
    mpz_mul_ui(addend, addend, row->hidden);
    mpz_mul(addend, addend, row->divisor);
    if (unit < row->radicand_unit) {
        mpz_mul_2exp(row->radicand, row->radicand, (mp_bitcnt_t)(row->radicand_unit - unit));
        row->radicand_unit = unit;
    } else {
        mpz_mul_2exp(addend, addend, (mp_bitcnt_t)(unit - row->radicand_unit));
    }
    mpz_add(row->radicand, row->radicand, addend);
    mpz_clear(addend);
}

static bool is_defined(const exact_row *row)
{
    if (mpz_sgn(row->divisor) <= 0 || !isfinite(row->eps)) {
        return false;
    }
    if (row->place == LN_EPS_STD) { /* eps is not 0 here */
        return row->eps > 0;
    }
    return mpz_sgn(row->radicand) > 0;
}

/* Sets everything but the sums. */
static void take_convention(exact_row *row, const ln_convention *convention, size_t hidden)
{
    row->hidden = hidden;
    row->has_ratio = false;
    bool has_eps = convention->eps_place != LN_EPS_NONE && convention->eps != 0;
    row->place = has_eps ? convention->eps_place : LN_EPS_NONE;
    row->eps = has_eps ? convention->eps : 0.0;

    mpz_set_ui(row->divisor, hidden);
    if (convention->ddof >= 0) {
        mpz_sub_ui(row->divisor, row->divisor, (unsigned long)convention->ddof);
    } else {
        mpz_add_ui(row->divisor, row->divisor, -(unsigned long)convention->ddof);
    }
    mpz_mul_ui(row->variance, row->sums.squares, hidden);
    mpz_submul(row->variance, row->sums.sum, row->sums.sum);
    if (isfinite(row->eps)) {
        take_radicand(row);
    }
    row->defined = is_defined(row);
}

bool exact_row_take(exact_row *row, const ln_convention *convention, size_t hidden, const float *x)
{
    if (!exact_sums_take(&row->sums, hidden, x)) {
        return false;
    }
    take_convention(row, convention, hidden);
    return true;
}

bool exact_row_take_f64(exact_row *row, const ln_convention *convention, size_t hidden,
                        const double *x)
{
    if (!exact_sums_take_f64(&row->sums, hidden, x)) {
        return false;
    }
    take_convention(row, convention, hidden);
    return true;
}

void exact_row_about_zero(exact_row *row, const ln_convention *convention)
{
    mpz_set_ui(row->sums.sum, 0);
    take_convention(row, convention, row->hidden);
}

/* Sets the denominator to sqrt(0) + root, as with an eps of `root` on the std. */
void exact_row_divide_by(exact_row *row, double root)
{
    mpz_set_ui(row->variance, 0);
    row->place = LN_EPS_STD;
    row->eps = root;
    row->has_ratio = false;
    row->defined = is_defined(row);
}

/* q = q * 2^exponent. */
static void scale_by_power(mpq_ptr q, long exponent)
{
    if (exponent >= 0) {
        mpq_mul_2exp(q, q, (mp_bitcnt_t)exponent);
    } else {
        mpq_div_2exp(q, q, (mp_bitcnt_t)-exponent);
    }
}

/* r of the head comment. */
static void fill_ratio(exact_row *row)
{
    mpz_ptr numerator = mpq_numref(row->ratio);
    mpz_ptr denominator = mpq_denref(row->ratio);
    long unit = 0;
    if (row->place == LN_EPS_STD) {
        mpz_set(numerator, row->variance);
        mpz_mul_ui(denominator, row->divisor, row->hidden);
        unit = 2 * row->sums.unit;
    } else {
        mpz_set(numerator, row->divisor);
        mpz_mul_ui(denominator, row->radicand, row->hidden);
        unit = -row->radicand_unit;
    }
    mpq_canonicalize(row->ratio);
    scale_by_power(row->ratio, unit);
    row->has_ratio = true;
}

/* The sign of p + q sqrt(r), for r >= 0; p and q are overwritten. */
static int sign_with_root(mpq_ptr p, mpq_ptr q, mpq_srcptr r)
{
    int of_p = mpq_sgn(p);
    int of_q = mpq_sgn(r) == 0 ? 0 : mpq_sgn(q);
    if (of_p == 0 || of_q == 0 || of_p == of_q) {
        return of_p != 0 ? of_p : of_q;
    }
    mpq_mul(p, p, p);
    mpq_mul(q, q, q);
    mpq_mul(q, q, r);
    int larger = mpq_cmp(p, q);
    return larger > 0 ? of_p : larger < 0 ? of_q : 0;
}

/* q = value; an infinity is the power of two after the largest double. */
static void set_bound(mpq_t q, double value)
{
    if (isinf(value)) {
        mpq_set_si(q, value > 0 ? 1 : -1, 1);
        mpq_mul_2exp(q, q, 1024);
    } else {
        mpq_set_d(q, value);
    }
}

/* b = gamma (N x - sum(x)), and N for rstd; gamma too. */
static void set_product(mpq_t b, mpq_t gamma, mpq_t scratch, const exact_row *row,
                        const row_element *element)
{
    mpq_set_ui(scratch, row->hidden, 1);
    if (element->is_rstd) {
        mpq_set(b, scratch);
        mpq_set_ui(gamma, 1, 1);
        return;
    }
    mpq_set_d(b, element->x);
    mpq_mul(b, b, scratch);
    mpq_set_z(scratch, row->sums.sum);
    scale_by_power(scratch, row->sums.unit);
    mpq_sub(b, b, scratch);
    mpq_set_d(gamma, element->gamma);
    if (element->gamma_plus_one) {
        mpq_set_ui(scratch, 1, 1);
        mpq_add(gamma, gamma, scratch);
    }
    mpq_mul(b, b, gamma);
}

int exact_row_compare(exact_row *row, const row_element *element, row_target target)
{
    mpq_ptr u = row->scratch[0], b = row->scratch[1], gamma = row->scratch[2];
    mpq_ptr eps = row->scratch[3], other = row->scratch[4];
    if (!row->has_ratio) {
        fill_ratio(row);
    }
    set_bound(u, target.low);
    set_bound(other, target.high);
    mpq_add(u, u, other);
    mpq_div_2exp(u, u, 1);
    mpq_set_d(other, target.unit);
    mpq_mul(u, u, other);
    mpq_set_d(other, target.base);
    mpq_add(u, u, other);
    set_product(b, gamma, other, row, element);
    mpq_set_d(eps, row->eps);
    if (!element->is_rstd) {
        mpq_set_d(other, element->beta);
        mpq_sub(u, u, other);
        if (row->place == LN_EPS_QUOTIENT) {
            mpq_mul(other, gamma, eps);
            mpq_sub(u, u, other);
        }
    }
    if (row->place != LN_EPS_STD) {
        mpq_neg(u, u);
        return sign_with_root(u, b, row->ratio);
    }
    mpq_set_ui(other, row->hidden, 1);
    mpq_mul(u, u, other);
    mpq_mul(eps, eps, u);
    mpq_sub(b, b, eps);
    mpq_neg(u, u);
    return sign_with_root(b, u, row->ratio);
}
