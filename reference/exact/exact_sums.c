/* Exact sums by exponent bins (f32) and in wide numbers (f64).
 *
 * A finite f32 is (+-)m * 2^shift units of 2^-149, with the 24-bit m (hidden bit included) and
 * shift = max(exponent field, 1) - 1. Values that share sign and exponent field are summed by their
 * m alone, squares by m^2 alone, in 64-bit bins: over a block of 2^16 values a bin stays below
 * 2^24 * 2^16 = 2^40, or below 2^48 * 2^16 = 2^64 for squares, so no bin can wrap. At the end of a
 * block each bin goes to its place in a wide number of 32-bit digits, kept in 64-bit words so that
 * carries can wait (at most 255 * 3 additions below 2^33 each), and the carries are resolved once.
 *
 * A finite f64 is (+-)m * 2^shift units of 2^-1074 with the 53-bit m. The unit is raised to the
 * last place of the row's smallest exponent, so that numbers are as long as the row needs: 2^-1074
 * only where it holds subnormals. With m = a 2^32 + b, m^2 = a^2 2^64 + 2 a b 2^32 + b^2, each of
 * the three below 2^64. They go to wide numbers of the same kind, one for each sign and one for
 * squares: an element adds to a digit at most three times three terms below 2^33, a block of 2^16
 * elements less than 2^53.
 */
#include "exact/exact_sums.h"

#include <stdint.h>
#include <string.h>

enum {
    BLOCK = 1 << 16,
    FIELDS = 256, /* exponent fields; 255 is NaN or infinity */
    SIGN = 256,   /* added to the index for a negative value */
    DIGIT_BITS = 32,
    DIGITS = 20, /* (2 * 253 + 64) bits need 18 digits, and one more for the carry */
    F32_UNIT = -149,
    F64_UNIT = -1074,
    F64_NOT_FINITE = 2047,
    F64_DIGITS = 72,        /* 2045 + 64 bits need 66, digits_add touches three */
    F64_SQUARE_DIGITS = 136 /* 2 * 2045 + 64 + 64 bits need 132 */
};

typedef struct sum_bins {
    uint64_t magnitude[2 * FIELDS];
    uint64_t squares[FIELDS];
} sum_bins;

void exact_sums_init(exact_sums *sums)
{
    mpz_inits(sums->sum, sums->sum_abs, sums->squares, sums->part, NULL);
}

void exact_sums_clear(exact_sums *sums)
{
    mpz_clears(sums->sum, sums->sum_abs, sums->squares, sums->part, NULL);
}

static bool bins_fill(sum_bins *bins, size_t count, const float *x)
{
    memset(bins, 0, sizeof *bins);
    bool finite = true;
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        uint32_t index = bits >> 23; /* sign and exponent field */
        uint32_t field = index & 255u;
        uint64_t m = (bits & 0x7fffffu) | (field != 0 ? 0x800000u : 0u);
        finite = finite && field != 255u;
        bins->magnitude[index] += m;
        bins->squares[field] += m * m;
    }
    return finite;
}

/* digits += value * 2^shift, carries left for later. */
static void digits_add(uint64_t *digits, unsigned shift, uint64_t value)
{
    const uint64_t mask = UINT32_MAX;
    unsigned at = shift / DIGIT_BITS;
    uint64_t low = (value & mask) << (shift % DIGIT_BITS);
    uint64_t high = (value >> DIGIT_BITS) << (shift % DIGIT_BITS);
    digits[at] += low & mask;
    digits[at + 1] += (low >> DIGIT_BITS) + (high & mask);
    digits[at + 2] += high >> DIGIT_BITS;
}

/* total = the wide number; its digits hold their carries still. At most F64_SQUARE_DIGITS. */
static void digits_resolve(mpz_t total, const uint64_t *digits, unsigned count)
{
    uint32_t resolved[F64_SQUARE_DIGITS];
    uint64_t carry = 0;
    for (unsigned i = 0; i < count; i++) {
        carry += digits[i];
        resolved[i] = (uint32_t)carry;
        carry >>= DIGIT_BITS;
    }
    mpz_import(total, count, -1, sizeof resolved[0], 0, 0, resolved);
}

/* The sum of bin[field] * 2^(scale * shift(field)). */
static void bins_collapse(mpz_t total, const uint64_t bin[FIELDS], unsigned scale)
{
    uint64_t digits[DIGITS] = {0};
    for (unsigned field = 0; field < FIELDS - 1; field++) {
        if (bin[field] != 0) {
            digits_add(digits, scale * (field > 0 ? field - 1 : 0), bin[field]);
        }
    }
    digits_resolve(total, digits, DIGITS);
}

static void sums_add_bins(exact_sums *sums, const sum_bins *bins)
{
    bins_collapse(sums->part, bins->magnitude, 1);
    mpz_add(sums->sum, sums->sum, sums->part);
    mpz_add(sums->sum_abs, sums->sum_abs, sums->part);
    bins_collapse(sums->part, bins->magnitude + SIGN, 1);
    mpz_sub(sums->sum, sums->sum, sums->part);
    mpz_add(sums->sum_abs, sums->sum_abs, sums->part);
    bins_collapse(sums->part, bins->squares, 2);
    mpz_add(sums->squares, sums->squares, sums->part);
}

static void sums_reset(exact_sums *sums, long unit)
{
    sums->unit = unit;
    mpz_set_ui(sums->sum, 0);
    mpz_set_ui(sums->sum_abs, 0);
    mpz_set_ui(sums->squares, 0);
}

bool exact_sums_take(exact_sums *sums, size_t count, const float *x)
{
    sums_reset(sums, F32_UNIT);
    while (count > 0) {
        sum_bins bins;
        size_t taken = count < BLOCK ? count : BLOCK;
        if (!bins_fill(&bins, taken, x)) {
            return false;
        }
        sums_add_bins(sums, &bins);
        x += taken;
        count -= taken;
    }
    return true;
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Places above 2^-1074 of the last place of a double. */
static unsigned shift_of(uint64_t bits)
{
    unsigned field = (unsigned)(bits >> 52) & 2047u;
    return field > 0 ? field - 1 : 0;
}

/* The smallest shift of the row's values, zeros apart; false where one is not finite. */
static bool find_base(size_t count, const double *x, unsigned *base)
{
    unsigned smallest = F64_NOT_FINITE - 2;
    bool finite = true;
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = bits_of(x[i]);
        unsigned shift = shift_of(bits);
        finite = finite && shift != F64_NOT_FINITE - 1;
        if (shift < smallest && bits << 1 != 0) {
            smallest = shift;
        }
    }
    *base = smallest;
    return finite;
}

typedef struct wide_sums {
    uint64_t magnitude[2][F64_DIGITS]; /* positive, negative */
    uint64_t squares[F64_SQUARE_DIGITS];
} wide_sums;

static void wide_sums_fill(wide_sums *wide, size_t count, const double *x, unsigned base)
{
    memset(wide, 0, sizeof *wide);
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = bits_of(x[i]);
        uint64_t m = (bits & 0xfffffffffffffu) | ((bits >> 52 & 2047u) != 0 ? 1ull << 52 : 0);
        if (m == 0) {
            continue;
        }
        unsigned shift = shift_of(bits) - base;
        uint64_t a = m >> DIGIT_BITS, b = m & UINT32_MAX;
        digits_add(wide->magnitude[bits >> 63], shift, m);
        digits_add(wide->squares, 2 * shift, b * b);
        digits_add(wide->squares, 2 * shift + DIGIT_BITS, 2 * a * b);
        digits_add(wide->squares, 2 * shift + 2 * DIGIT_BITS, a * a);
    }
}

static void sums_add_wide(exact_sums *sums, const wide_sums *wide)
{
    digits_resolve(sums->part, wide->magnitude[0], F64_DIGITS);
    mpz_add(sums->sum, sums->sum, sums->part);
    mpz_add(sums->sum_abs, sums->sum_abs, sums->part);
    digits_resolve(sums->part, wide->magnitude[1], F64_DIGITS);
    mpz_sub(sums->sum, sums->sum, sums->part);
    mpz_add(sums->sum_abs, sums->sum_abs, sums->part);
    digits_resolve(sums->part, wide->squares, F64_SQUARE_DIGITS);
    mpz_add(sums->squares, sums->squares, sums->part);
}

bool exact_sums_take_f64(exact_sums *sums, size_t count, const double *x)
{
    unsigned base;
    if (!find_base(count, x, &base)) {
        return false;
    }
    sums_reset(sums, F64_UNIT + (long)base);
    while (count > 0) {
        wide_sums wide;
        size_t taken = count < BLOCK ? count : BLOCK;
        wide_sums_fill(&wide, taken, x, base);
        sums_add_wide(sums, &wide);
        x += taken;
        count -= taken;
    }
    return true;
}
