/* Exact sums by exponent bins.
 *
 * A finite f32 is (+-)m * 2^shift units of 2^-149, with the 24-bit m (hidden bit included) and
 * shift = max(exponent field, 1) - 1. Values that share sign and exponent field are summed by their
 * m alone, squares by m^2 alone, in 64-bit bins: over a block of 2^16 values a bin stays below
 * 2^24 * 2^16 = 2^40, or below 2^48 * 2^16 = 2^64 for squares, so no bin can wrap. At the end of a
 * block each bin goes to its place in a wide number of 32-bit digits, kept in 64-bit words so that
 * carries can wait (at most 255 * 3 additions below 2^33 each), and the carries are resolved once.
 */
#include "exact_sums.h"

#include <stdint.h>
#include <string.h>

enum {
    BLOCK = 1 << 16,
    FIELDS = 256, /* exponent fields; 255 is NaN or infinity */
    SIGN = 256,   /* added to the index for a negative value */
    DIGIT_BITS = 32,
    DIGITS = 20 /* (2 * 253 + 64) bits need 18 digits, and one more for the carry */
};

typedef struct bins {
    uint64_t magnitude[2 * FIELDS];
    uint64_t squares[FIELDS];
} bins;

void exact_sums_init(exact_sums *sums)
{
    mpz_inits(sums->sum, sums->sum_abs, sums->squares, sums->part, NULL);
}

void exact_sums_clear(exact_sums *sums)
{
    mpz_clears(sums->sum, sums->sum_abs, sums->squares, sums->part, NULL);
}

static bool bins_fill(bins *bins, size_t count, const float *x)
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
static void digits_add(uint64_t digits[DIGITS], unsigned shift, uint64_t value)
{
    const uint64_t mask = UINT32_MAX;
    unsigned at = shift / DIGIT_BITS;
    uint64_t low = (value & mask) << (shift % DIGIT_BITS);
    uint64_t high = (value >> DIGIT_BITS) << (shift % DIGIT_BITS);
    digits[at] += low & mask;
    digits[at + 1] += (low >> DIGIT_BITS) + (high & mask);
    digits[at + 2] += high >> DIGIT_BITS;
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
    uint32_t resolved[DIGITS];
    uint64_t carry = 0;
    for (unsigned i = 0; i < DIGITS; i++) {
        carry += digits[i];
        resolved[i] = (uint32_t)carry;
        carry >>= DIGIT_BITS;
    }
    mpz_import(total, DIGITS, -1, sizeof resolved[0], 0, 0, resolved);
}

static void sums_add_bins(exact_sums *sums, const bins *bins)
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

bool exact_sums_take(exact_sums *sums, size_t count, const float *x)
{
    mpz_set_ui(sums->sum, 0);
    mpz_set_ui(sums->sum_abs, 0);
    mpz_set_ui(sums->squares, 0);
    while (count > 0) {
        bins bins;
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
