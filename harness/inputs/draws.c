/* Random numbers by place. Only integers and the double operations + - * / and sqrt, which IEEE 754
 * rounds in one way, so that every compiler and machine makes the same bits. */
#include "base/random.h"
#include "inputs/draws.h"
#include <float.h>
#include <math.h>

_Static_assert(FLT_EVAL_METHOD == 0, "double arithmetic must not be carried out in a wider type");

random_row random_row_begin(uint64_t seed, random_stream stream, uint64_t row)
{
    return (random_row){.seed = seed, .row = row, .stream = stream, .block = UINT64_MAX};
}

uint32_t random_bits(random_row *random, size_t column)
{
    uint64_t block = (uint64_t)column / 4;
    if (block != random->block) {
        philox4x32(random->seed, block | (uint64_t)random->stream << 48, random->row,
                   random->words);
        random->block = block;
    }
    return random->words[column % 4];
}

double random_uniform(random_row *random, size_t column)
{
    return (double)random_bits(random, column) * 0x1p-32;
}

double random_normal(random_row *random, size_t column)
{
    return normal_from_bits(random_bits(random, column));
}

/* ln(odd / 2^33) for 0 < odd < 2^33, without libm: odd = m 2^e with m in [2^-1/2, 2^1/2), and
 * ln m = 2 artanh(s) for s = (m - 1) / (m + 1), |s| < 0.1716, by its series. Eight terms leave
 * 2 s^17 / 17 < 2e-14. */
static double log_of_fraction(uint64_t odd)
{
    static const double terms[] = {1.0 / 15, 1.0 / 13, 1.0 / 11, 1.0 / 9,
                                   1.0 / 7,  1.0 / 5,  1.0 / 3,  1.0};
    int e = 31 - __builtin_clzll(odd);
    double m = (double)(odd << -e) * 0x1p-33;
    if (m < 0.70710678118654752) {
        m *= 2;
        e--;
    }
    double s = (m - 1) / (m + 1), square = s * s, sum = 0;
    for (size_t k = 0; k < sizeof terms / sizeof *terms; k++)
        sum = sum * square + terms[k];
    return 2 * s * sum + e * 0.69314718055994531;
}

/* Inversion of the normal distribution by rational functions: M. Wichura, "Algorithm AS 241: The
 * percentage points of the normal distribution", Applied Statistics 37 (1988), routine PPND7
 * (relative error about 1e-7). The tails are those of the normal distribution as far as 32 bits
 * reach: the outermost value, +-6.34, stands for the probability 2^-33. */
double normal_from_bits(uint32_t bits)
{
    double q = ((double)bits + 0.5) * 0x1p-32 - 0.5;
    if (q >= -0.425 && q <= 0.425) {
        double r = 0.180625 - q * q;
        double above = ((59.109374720 * r + 159.29113202) * r + 50.434271938) * r + 3.3871327179;
        double below = ((67.187563600 * r + 78.757757664) * r + 17.895169469) * r + 1.0;
        return q * above / below;
    }
    uint64_t near_end = q < 0 ? bits : UINT32_MAX - bits;
    double r = sqrt(-log_of_fraction(2 * near_end + 1)), z;
    if (r <= 5) {
        r -= 1.6;
        double above = ((0.17023821103 * r + 1.3067284816) * r + 2.7568153900) * r + 1.4234372777;
        double below = (0.12021132975 * r + 0.73700164250) * r + 1.0;
        z = above / below;
    } else {
        r -= 5;
        double above = ((0.017337203997 * r + 0.42868294337) * r + 3.0812263860) * r + 6.6579051150;
        double below = (0.012258202635 * r + 0.24197894225) * r + 1.0;
        z = above / below;
    }
    return q < 0 ? -z : z;
}
