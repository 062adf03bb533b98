/* Rounds results once, by comparisons of integers.
 *
 * All elements are multiples of 2^-149 (f32; numbers of the other types are f32 numbers), so that S = sum x, Q =
 * sum x^2 and V = N Q - S^2 are integers in units of that and of its square: they are summed
 * exactly. With a = N x - S, g = gamma (1 + gamma under gamma1), n = N - ddof, u = T - beta:
 *
 *     mean = S / N        var = V / (N n)        x - mean = a / N
 *     eps in the variance, or none: y = g a sqrt(n / (N w)) + beta,  w = V + eps N n
 *     on the quotient: gamma eps more, which is subtracted from u
 *     on the std:      y = g a / (N (sqrt(V / (N n)) + eps)) + beta
 *
 * Whether y is below, equal to or above T is therefore the sign of a number P + R sqrt(z), z >= 0:
 *     P = -u                R = g a    z = n / (N w)
 *     P = g a - u N eps     R = -u N   z = V / (N n)     (on the std: times the positive divisor)
 * which is the sign of P and R if they agree, and else that of the one whose square is larger, P^2
 * or R^2 z: a comparison of integers after both are multiplied by z's denominator. rstd is
 * the same with a = N, g = 1, beta = 0 and no eps on the quotient.
 *
 * It ends: an estimate gives an interval of storage numbers, at most all 2^32 of them. Each
 * comparison with a midpoint T halves their number, or finds y = T, a tie, which is rounded to the even
 * neighbour. A result that rounds to zero gets its sign from a comparison with 0; an exact 0 is +0.
 *
 * Width. T and beta are multiples of 2^-150 below 2^128, eps is one of 2^-1074 below 2^1024, gamma
 * of 2^-149 below 2^128 + 1, N and n below 2^61. So in bits, from the highest to the lowest:
 *     a: 339     g a: 617     u: 280     V: 677     w: 2221, w/o eps 677
 *     in the variance   u^2 N w: 560 + 61 + 2221 = 2842;  (g a)^2 n: 1295
 *     on the quotient   u: 2^1154 to 2^-1223, 2377;  u^2 N w: 4754 + 738 = 5492
 *     on the std        P: 280 + 61 + 2098 = 2439;  P^2 N n: 4878 + 122 = 5000
 * With one more limb at each end these are 5556 bits; LIMBS has 6144. */
#include "exact/exact.h"

#include <math.h>
#include <string.h>

/* ---- Pairs of doubles ----
 *
 * A row's mean and rstd are pairs of doubles, so that integers are only needed within about 2^-40 units in the last
 * place of a midpoint.
 *
 * Sums (Ogita, Rump, Oishi, "Accurate sum and dot product", SIAM J. Sci. Comput. 26, 2005): each addition's error is
 * computed exactly and added to a separate sum, with at most D additions for each term; squares of f32 are exact. With
 * u = 2^-53, D <= 2^15, R = sqrt(Q / N):
 *     |s - S| <= D^2 u^2 (1 + 2^-30) sum |x| <= 2^-75 N R       |q - Q| <= 2^-75 Q
 * An operation on pairs has a relative error of at most 2^-100 (Joldes, Muller, Popescu, "Tight and rigorous error
 * bounds for basic building blocks of double-word arithmetic", ACM TOMS 44, 2017: 15 u^2 for the worst of these).
 *     h = s / N                    |h - mean| <= 2^-74.9 R
 *     m2 = q - s h                 |m2 - M2| <= (1 + 1 + 1) 2^-75 Q + ... <= 2^-73 Q
 *     rstd, k = Q / m2             |rstd / exact - 1| <= 2^-74 k + 5 2^-100 <= 2^-73 k
 *     t = (x - h) rstd + quotient  |t - xhat| <= 2^-72 k (|t| + |quotient| + rstd R)
 *     y = t gamma + beta           |y - exact| <= 2^-71 k (|gamma| (|t| + |quotient| + rstd R) + |beta|)
 * and `relative` = 2^-70 k. Underflow is covered by LN_EXACT_UNDERFLOW (statistics/exact.h). */
static double eps_at(const ln_problem *problem, ln_eps_place where)
{
    return problem->convention.eps_place == where ? problem->convention.eps : 0;
}

#define DEEPEST 0x1p15

/* Returns a + b for |a| >= |b|. */
static ln_two ordered_sum(double a, double b)
{
    double sum = a + b;
    return (ln_two){sum, b - (sum - a)};
}

ln_two ln_two_sum(double a, double b)
{
    double sum = a + b, of_b = sum - a;
    return (ln_two){sum, (a - (sum - of_b)) + (b - of_b)};
}

static ln_two add(ln_two a, ln_two b)
{
    ln_two high = ln_two_sum(a.high, b.high), low = ln_two_sum(a.low, b.low);
    high = ordered_sum(high.high, high.low + low.high);
    return ordered_sum(high.high, high.low + low.low);
}

static ln_two product(ln_two a, ln_two b)
{
    double high = a.high * b.high, low = fma(a.high, b.high, -high);
    return ordered_sum(high, low + (a.high * b.low + a.low * b.high));
}

static ln_two negative(ln_two a)
{
    return (ln_two){-a.high, -a.low};
}

static ln_two one_of(double a)
{
    return (ln_two){a, 0};
}

static ln_two quotient_of(ln_two a, ln_two b)
{
    double first = a.high / b.high;
    ln_two rest = add(a, negative(product(b, one_of(first))));
    return ordered_sum(first, rest.high / b.high);
}

static ln_two root_of(ln_two a)
{
    double first = sqrt(a.high), square = first * first;
    ln_two rest = add(a, (ln_two){-square, -fma(first, first, -square)});
    return ordered_sum(first, rest.high / (2 * first));
}

static ln_exact_fine refined(const ln_problem *problem, const ln_exact_sums *sums)
{
    const ln_two count = one_of((double)problem->hidden);
    const ln_two divisor = one_of((double)(problem->hidden - (size_t)problem->convention.ddof));
    ln_exact_fine fine = {.relative = INFINITY};
    fine.mean = quotient_of(sums->sum, count);
    fine.size = sqrt(sums->square.high / count.high);
    ln_two m2 = add(sums->square, negative(product(sums->sum, fine.mean)));
    double relative = 0x1p-70 * (sums->square.high / m2.high);
    if (!(sums->depth <= DEEPEST && m2.high > 0 && divisor.high > 0 && relative <= 0x1p-45))
        return fine;
    ln_two std = add(quotient_of(m2, divisor), one_of(eps_at(problem, LN_EPS_VAR)));
    std = add(root_of(std), one_of(eps_at(problem, LN_EPS_STD)));
    fine.rstd = quotient_of(one_of(1), std);
    fine.relative = fine.rstd.high >= 0x1p-500 && fine.rstd.high <= 0x1p500 ? relative : INFINITY;
    return fine;
}

static int fine_side(const ln_exact_fine *fine, double x, double quotient, ln_two gamma,
                     double beta, double t)
{
    ln_two xhat = product(add(one_of(x), negative(fine->mean)), fine->rstd);
    xhat = add(xhat, one_of(quotient));
    ln_two y = add(product(xhat, gamma), one_of(beta));
    double error = fabs(xhat.high) + fabs(quotient) + fine->rstd.high * fine->size;
    error = fine->relative * (fabs(gamma.high) * error + fabs(beta)) + LN_EXACT_UNDERFLOW;
    double distance = (y.high - t) + y.low;
    return (distance > error) - (distance < -error);
}

/* ---- Integers ---- */

/* A storage type: the bits of the fraction, and the exponent's bias. */
typedef struct format {
    int fraction;
    int bias;
    int infinity; /* the magnitude of the bits of infinity */
} format;

static format format_of(ln_type type)
{
    static const format formats[] = {[LN_F32] = {23, 127, 0x7f800000},
                                     [LN_BF16] = {7, 127, 0x7f80},
                                     [LN_F16] = {10, 15, 0x7c00}};
    return formats[type];
}

/* The number of a storage number, counted from 0 up and down: ..., -1: minus the smallest, 0, 1, ... */
typedef int64_t place;

/* Returns the value of a storage number; that of infinity is the power of two after the largest number. */
static double value_at(format kind, place at)
{
    int magnitude = (int)(at < 0 ? -at : at), exponent = magnitude >> kind.fraction;
    int one = 1 << kind.fraction, fraction = magnitude & (one - 1);
    double value = exponent == 0 ? ldexp(fraction, 1 - kind.bias - kind.fraction)
                                 : ldexp(one + fraction, exponent - kind.bias - kind.fraction);
    return at < 0 ? -value : value;
}

static place place_of(format kind, double value)
{
    double size = fabs(value);
    int exponent, least = 1 - kind.bias - kind.fraction;
    if (size == 0)
        return 0;
    if (size >= ldexp(1, kind.bias + 1))
        return value < 0 ? -kind.infinity : kind.infinity;
    (void)frexp(size, &exponent);
    int unit = exponent - kind.fraction - 1 > least ? exponent - kind.fraction - 1 : least;
    double places = ldexp(size, -unit), whole = floor(places), rest = places - whole;
    place at = ((place)(unit - least) << kind.fraction) + (place)whole;
    at += rest > 0.5 || (rest == 0.5 && at % 2 == 1);
    return value < 0 ? -at : at;
}

static double load(ln_type type, const void *values, size_t i)
{
    if (type == LN_F32)
        return (double)((const float *)values)[i];
    format kind = format_of(type);
    int bits = ((const uint16_t *)values)[i], magnitude = bits & 0x7fff;
    double size = magnitude > kind.infinity    ? (double)NAN
                  : magnitude == kind.infinity ? (double)INFINITY
                                               : value_at(kind, magnitude);
    return bits >> 15 ? -size : size;
}

static uint32_t sign_bit(ln_type type)
{
    return type == LN_F32 ? 0x80000000u : 0x8000u;
}

/* Returns the bits of the canonical quiet NaN. */
static uint32_t nan_bits(ln_type type)
{
    format kind = format_of(type);
    return (uint32_t)(kind.infinity | 1 << (kind.fraction - 1));
}

void ln_exact_store(ln_type storage, void *y, size_t i, uint32_t bits)
{
    if (storage == LN_F32)
        memcpy((float *)y + i, &bits, sizeof bits);
    else
        ((uint16_t *)y)[i] = (uint16_t)bits;
}

static size_t stride_of(const ln_problem *problem, size_t stride)
{
    return stride ? stride : problem->hidden;
}

void ln_exact_begin(ln_exact_row *row, const ln_problem *problem, const ln_tensors *tensors,
                    size_t r)
{
    size_t size = problem->storage == LN_F32 ? sizeof(float) : sizeof(uint16_t);
    const char *x = tensors->x, *residual = tensors->residual, *sum = tensors->sum;
    row->problem = problem;
    row->tensors = tensors;
    row->taken = row->refined = row->uncentred = 0;
    row->add_up = NULL;
    row->residual = NULL;
    if (sum) {
        row->x = sum + r * stride_of(problem, problem->sum_stride) * size;
        return;
    }
    row->x = x + r * stride_of(problem, problem->x_stride) * size;
    if (residual)
        row->residual = residual + r * stride_of(problem, problem->residual_stride) * size;
}

/* Returns element i of the row. */
static double element(const ln_exact_row *row, size_t i)
{
    ln_type type = row->problem->storage;
    double x = load(type, row->x, i);
    if (!row->residual)
        return x;
    double sum = x + load(type, row->residual, i);
    if (!isfinite(sum))
        return sum;
    format kind = format_of(type);
    place at = place_of(kind, sum);
    return at == kind.infinity || at == -kind.infinity ? (double)INFINITY : value_at(kind, at);
}

/* ---- Sums ---- */

/* Sums have units of 2^-160 and 2^-320, which are whole limbs below 2^-149 and 2^-298. */
enum { UNIT_LIMBS = 5, UNIT_SHIFT = 11, SUM_LIMBS = 16, SQUARE_LIMBS = 26 };

/* CHUNK elements are added to one sum for each exponent before these sums are combined, so that squares of 48 bits
 * stay below 2^63. Neighbours use different banks, so that no addition waits for the one before. */
enum { CHUNK = 1 << 15, EXPONENTS = 255, BANKS = 4 };

typedef struct bins {
    int64_t sum[BANKS][EXPONENTS + 1];
    int64_t square[BANKS][EXPONENTS + 1]; /* the last: elements that are not finite */
} bins;

/* Adds a 2^shift to the digits. */
static void add_shifted(int64_t *digit, int64_t a, unsigned shift)
{
    int64_t *at = digit + shift / LIMB_BITS;
    int64_t scale = (int64_t)1 << shift % LIMB_BITS;
    int64_t low = (a & UINT32_MAX) * scale, high = (a >> LIMB_BITS) * scale;
    at[0] += low & UINT32_MAX;
    at[1] += (low >> LIMB_BITS) + (high & UINT32_MAX);
    at[2] += high >> LIMB_BITS;
}

/* Carries, so that all digits but the last have 32 bits. */
static void carry_over(int64_t *digit, size_t count)
{
    for (size_t i = 0; i + 1 < count; i++) {
        digit[i + 1] += digit[i] >> LIMB_BITS;
        digit[i] &= UINT32_MAX;
    }
}

static void add_to_bin(bins *parts, unsigned bank, float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    uint32_t exponent = bits >> 23 & 0xff;
    int64_t digits = (int64_t)((bits & 0x7fffff) | (uint32_t)(exponent > 0) << 23);
    exponent += exponent == 0;
    parts->sum[bank][exponent] += bits >> 31 ? -digits : digits;
    parts->square[bank][exponent] += digits * digits;
}

/* Adds the elements begin to end - 1. Returns 0 if one is not finite. */
static int add_chunk(const ln_exact_row *row, size_t begin, size_t end, int64_t *sum,
                     int64_t *square)
{
    bins parts = {0};
    if (row->problem->storage == LN_F32 && !row->residual)
        for (size_t i = begin; i < end; i++)
            add_to_bin(&parts, i % BANKS, ((const float *)row->x)[i]);
    else
        for (size_t i = begin; i < end; i++)
            add_to_bin(&parts, i % BANKS, (float)element(row, i));
    for (unsigned e = 1; e <= EXPONENTS; e++) {
        int64_t both[2] = {0};
        for (unsigned bank = 0; bank < BANKS; bank++) {
            both[0] += parts.sum[bank][e];
            both[1] += parts.square[bank][e];
        }
        if (both[1] == 0)
            continue;
        if (e == EXPONENTS)
            return 0;
        add_shifted(sum, both[0], e - 1 + UNIT_SHIFT);
        add_shifted(square, both[1], 2 * (e - 1 + UNIT_SHIFT));
    }
    carry_over(sum, SUM_LIMBS);
    carry_over(square, SQUARE_LIMBS);
    return 1;
}

static void take_row(ln_exact_row *row)
{
    const ln_problem *problem = row->problem;
    size_t hidden = problem->hidden;
    int64_t sum[SUM_LIMBS] = {0}, square[SQUARE_LIMBS] = {0};
    if (row->taken)
        return;
    row->taken = row->finite = 1;
    row->defined = 0;
    for (size_t i = 0; i < hidden && row->finite; i += CHUNK)
        row->finite = add_chunk(row, i, hidden - i < CHUNK ? hidden : i + CHUNK, sum, square);
    if (!row->finite)
        return;
    row->sum = row->uncentred ? big_of_integer(0) : big_of_digits(sum, SUM_LIMBS, -UNIT_LIMBS);
    big squares = big_of_digits(square, SQUARE_LIMBS, -2 * UNIT_LIMBS);
    big count = big_of_integer(hidden);
    big divisor = big_of_integer(hidden - (size_t)problem->convention.ddof);
    big all = big_product(&count, &squares), mean = big_product(&row->sum, &row->sum);
    mean = big_negative(&mean);
    row->variance = big_sum(&all, &mean);
    big eps = big_of_double(eps_at(problem, LN_EPS_VAR));
    eps = big_product(&eps, &count);
    eps = big_product(&eps, &divisor);
    big w = big_sum(&row->variance, &eps);
    row->radicand = big_product(&w, &count);
    row->defined = divisor.sign && (w.sign || eps_at(problem, LN_EPS_STD) > 0);
}

/* ---- Comparison ---- */

/* The result to round: y of an element, or mean or rstd of the row. */
typedef struct result {
    enum { IS_Y, IS_MEAN, IS_RSTD } kind;
    double x, gamma, beta;
} result;

static const result mean_result = {IS_MEAN, 0, 1, 0}, rstd_result = {IS_RSTD, 0, 1, 0};

static big gamma_of(const ln_exact_row *row, const result *wanted)
{
    big gamma = big_of_double(wanted->gamma), one = big_of_integer(1);
    int plus_one = row->problem->convention.affine == LN_AFFINE_GAMMA1 && wanted->kind == IS_Y;
    return plus_one ? big_sum(&gamma, &one) : gamma;
}

/* Returns the sign of p + r sqrt(numerator / denominator); numerator and denominator are not negative. */
static int sign_with_root(const big *p, const big *r, const big *numerator, const big *denominator)
{
    int of_r = numerator->sign ? r->sign : 0;
    if (p->sign == 0 || of_r == 0 || p->sign == of_r)
        return p->sign ? p->sign : of_r;
    big of_p = big_product(p, p), square = big_product(r, r);
    of_p = big_product(&of_p, denominator);
    square = big_product(&square, numerator);
    return p->sign * big_compare(&of_p, &square);
}

/* Returns the sign of the exact result minus t. The sums must be set, and y and rstd defined. */
static int compare(const ln_exact_row *row, const result *wanted, double t)
{
    const ln_problem *problem = row->problem;
    double on_std = eps_at(problem, LN_EPS_STD), on_quotient = eps_at(problem, LN_EPS_QUOTIENT);
    big count = big_of_integer(problem->hidden);
    big divisor = big_of_integer(problem->hidden - (size_t)problem->convention.ddof);
    big u = big_of_double(t);
    if (wanted->kind == IS_MEAN) {
        big product = big_product(&u, &count);
        return big_compare(&row->sum, &product);
    }
    big gamma = gamma_of(row, wanted), a = count;
    if (wanted->kind == IS_Y) {
        big x = big_of_double(wanted->x), beta = big_of_double(-wanted->beta);
        big less = big_negative(&row->sum);
        x = big_product(&x, &count);
        a = big_sum(&x, &less);
        u = big_sum(&u, &beta);
        big eps = big_of_double(-on_quotient);
        eps = big_product(&eps, &gamma);
        u = big_sum(&u, &eps);
    }
    a = big_product(&gamma, &a);
    u = big_negative(&u);
    if (on_std == 0)
        return sign_with_root(&u, &a, &divisor, &row->radicand);
    u = big_product(&u, &count);
    divisor = big_product(&divisor, &count);
    big eps = big_of_double(on_std);
    eps = big_product(&eps, &u);
    a = big_sum(&a, &eps);
    return sign_with_root(&a, &u, &row->variance, &divisor);
}

/* Below this limit products and sums of numbers stay finite. */
#define SAFE 0x1p1000

/* The same, without sums in integers if pairs of doubles are enough. */
static int side_of(ln_exact_row *row, const result *wanted, double t)
{
    double x = wanted->x, quotient = eps_at(row->problem, LN_EPS_QUOTIENT);
    ln_two gamma = {wanted->gamma, 0};
    ln_exact_fine *fine = &row->fine;
    if (!row->refined) {
        ln_exact_sums sums;
        fine->relative = INFINITY;
        if (row->add_up) {
            row->add_up(row->view, &sums);
            *fine = refined(row->problem, &sums);
        }
        row->refined = 1;
    }
    if (wanted->kind == IS_Y && row->problem->convention.affine == LN_AFFINE_GAMMA1)
        gamma = ln_two_sum(1, wanted->gamma);
    int side = 0;
    if (fine->relative < INFINITY && wanted->kind == IS_Y && fabs(t) < SAFE)
        side = fine_side(fine, x, quotient, gamma, wanted->beta, t);
    if (side)
        return side;
    take_row(row);
    return compare(row, wanted, t);
}

/* ---- Rounding ---- */

/* Returns the bits of the exact result, which is between low and high, rounded once. */
static uint32_t round_once(ln_exact_row *row, const result *wanted, ln_type type, double low,
                           double high)
{
    format kind = format_of(type);
    place from = place_of(kind, low), to = place_of(kind, high);
    while (from != to) {
        place at = from + (to - from) / 2;
        int side = side_of(row, wanted, (value_at(kind, at) + value_at(kind, at + 1)) / 2);
        if (side == 0)
            from = to = at % 2 == 0 ? at : at + 1;
        else if (side < 0)
            to = at;
        else
            from = at + 1;
    }
    int negative = from < 0 || (from == 0 && high < 0);
    if (from == 0 && low < 0 && high >= 0)
        negative = side_of(row, wanted, 0) < 0;
    return (negative ? sign_bit(type) : 0) | (uint32_t)(from < 0 ? -from : from);
}

/* Returns y if gamma or beta is not finite: the product with a finite gamma does not matter then, and with an
 * infinite gamma only the sign of xhat matters. */
static uint32_t y_of_special(ln_exact_row *row, const result *wanted)
{
    ln_type type = row->problem->storage;
    double product = 0;
    if (!isfinite(wanted->gamma)) {
        result xhat = {IS_Y, wanted->x, 1, 0};
        if (row->problem->convention.affine == LN_AFFINE_GAMMA1)
            xhat.gamma = 0;
        take_row(row);
        product = wanted->gamma * compare(row, &xhat, 0);
    }
    double y = product + wanted->beta;
    if (isnan(y))
        return nan_bits(type);
    return (y < 0 ? sign_bit(type) : 0) | (uint32_t)format_of(type).infinity;
}

static result result_of(const ln_exact_row *row, size_t i)
{
    const ln_problem *problem = row->problem;
    ln_affine affine = problem->convention.affine;
    size_t at = affine == LN_AFFINE_SCALAR ? 0 : i;
    result wanted = {IS_Y, element(row, i), 1, 0};
    if (ln_has_gamma(affine))
        wanted.gamma = load(problem->param, row->tensors->gamma, at);
    if (ln_has_beta(affine))
        wanted.beta = load(problem->param, row->tensors->beta, at);
    return wanted;
}

uint32_t ln_exact_y(ln_exact_row *row, const ln_exact_estimate *near, size_t i)
{
    result wanted = result_of(row, i);
    if (!isfinite(wanted.gamma) || !isfinite(wanted.beta))
        return y_of_special(row, &wanted);
    if (row->taken && row->variance.sign == 0) /* xhat is 0 */
        return round_once(row, &wanted, row->problem->storage, wanted.beta, wanted.beta);
    double one = row->problem->convention.affine == LN_AFFINE_GAMMA1 ? 1 : 0;
    double t = (wanted.x - near->pivot) * near->rstd + near->addend;
    double gamma = one + wanted.gamma, y = t * gamma + wanted.beta;
    double error = (fabs(y) + fabs(wanted.beta)) * near->relative + fabs(gamma) * near->absolute +
                   LN_EXACT_UNDERFLOW;
    int is_near = error < SAFE && fabs(y) < SAFE;
    return round_once(row, &wanted, row->problem->storage, is_near ? y - error : -INFINITY,
                      is_near ? y + error : INFINITY);
}

/* Returns whether the root is infinite: a row of RMSNorm with an infinity and without NaN. */
static int has_infinite_root(const ln_exact_row *row)
{
    int any_nan = !row->uncentred || row->finite;
    for (size_t i = 0; !any_nan && i < row->problem->hidden; i++)
        any_nan = isnan(element(row, i));
    return !any_nan;
}

void ln_exact_fill(ln_exact_row *row, void *y)
{
    static const ln_exact_estimate nothing = {.relative = INFINITY};
    ln_type type = row->problem->storage;
    take_row(row);
    const int is_infinite = has_infinite_root(row);
    for (size_t i = 0; i < row->problem->hidden; i++) {
        const result wanted = result_of(row, i);
        const int is_zero = is_infinite && isfinite(wanted.x) && isfinite(wanted.gamma);
        ln_exact_store(type, y, i,
                       row->defined ? ln_exact_y(row, &nothing, i)
                       : is_zero    ? 0
                                    : nan_bits(type));
    }
}

static float fact(ln_exact_row *row, const result *wanted, double near, double error)
{
    int is_near = error < SAFE && fabs(near) < SAFE;
    uint32_t bits = round_once(row, wanted, LN_F32, is_near ? near - error : -INFINITY,
                               is_near ? near + error : INFINITY);
    float rounded;
    memcpy(&rounded, &bits, sizeof rounded);
    return rounded;
}

float ln_exact_mean(ln_exact_row *row, const ln_exact_estimate *near)
{
    if (!(near->relative < INFINITY))
        take_row(row);
    if (row->taken && !row->finite)
        return NAN;
    return fact(row, &mean_result, near->mean, near->mean_error);
}

float ln_exact_rstd(ln_exact_row *row, const ln_exact_estimate *near)
{
    if (!(near->relative < INFINITY))
        take_row(row);
    if (row->taken && !row->defined)
        return has_infinite_root(row) ? 0 : NAN;
    return fact(row, &rstd_result, near->rstd, near->rstd * near->relative);
}
