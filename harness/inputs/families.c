/* The families of input rows, and the parameters that go with them. Only integers and the double operations + - * /
 * and sqrt, which IEEE 754 rounds in one way, so that every compiler and machine makes the same bits. */
#include "inputs/families.h"
#include "base/random.h"
#include "metrics/storage.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>

/* ---- random numbers by place ---- */

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

/* ---- rows as they come ---- */

static void make_normal(const input_place *place, float *x)
{
    random_row random = random_row_begin(place->seed, STREAM_NORMAL, place->row);
    for (size_t i = 0; i < place->hidden; i++)
        x[i] = (float)random_normal(&random, i);
}

/* Multiples of 2^-23 in [-1, 1): every value is exact. */
static void make_uniform(const input_place *place, float *x)
{
    random_row random = random_row_begin(place->seed, STREAM_UNIFORM, place->row);
    for (size_t i = 0; i < place->hidden; i++)
        x[i] = (float)((double)(random_bits(&random, i) >> 8) * 0x1p-23 - 1);
}

/* Quarters of integers, rising in even rows and falling in odd ones: exact up to hidden 2^24. */
static void make_ramp(const input_place *place, float *x)
{
    size_t hidden = place->hidden, begin = place->row % 8;
    for (size_t i = 0; i < hidden; i++) {
        size_t step = place->row % 2 == 0 ? i : hidden - 1 - i;
        x[i] = (float)((double)(begin + step) * 0.25);
    }
}

/* Zero, values whose N-fold sum is exact, and values whose sum rounds, so that an average comes out
 * that is not the constant. */
static void make_constant(const input_place *place, float *x)
{
    static const float constants[8] = {1.0F,    0.1F,     -3.3333333F, 0.0F,
                                       123.45F, 1e4F / 3, -7.7e6F,     1e-6F};
    for (size_t i = 0; i < place->hidden; i++)
        x[i] = constants[place->row % 8];
}

/* First, last, then somewhere: a pivot taken from x[0] and a dropped tail meet their spike early.
 */
static size_t special_column(const input_place *place, random_stream stream)
{
    random_row random = random_row_begin(place->seed, stream, place->row);
    size_t turn = place->row % 3;
    return turn == 0 ? 0 : turn == 1 ? place->hidden - 1 : random_bits(&random, 0) % place->hidden;
}

static void make_spike(const input_place *place, float *x)
{
    static const float grounds[4] = {0.0F, 1.0F, 1e4F, -0.1F};
    static const float heights[5] = {1.0F, 1000.0F, -1e6F, 1e-3F, 30.0F};
    float ground = grounds[place->row % 4];
    for (size_t i = 0; i < place->hidden; i++)
        x[i] = ground;
    x[special_column(place, STREAM_SPIKE)] =
        (float)((double)ground + (double)heights[place->row % 5]);
}

/* Normal rows, but one channel in 128 (and at least one) is of one sign and 16 to 128 times as
 * large in every row, as in the hidden states of large transformers. */
static void make_outlier_channels(const input_place *place, float *x)
{
    random_row random = random_row_begin(place->seed, STREAM_OUTLIER, place->row);
    random_row channels = random_row_begin(place->seed, STREAM_OUTLIER_CHANNEL, 0);
    size_t always = place->seed % place->hidden;
    for (size_t i = 0; i < place->hidden; i++) {
        double z = random_normal(&random, i);
        uint32_t channel = random_bits(&channels, i);
        if (i == always || channel % 128 == 0) {
            double scale = (double)(16U << (channel >> 8) % 4);
            z = (channel >> 16 & 1 ? scale : -scale) * (1 + z / 8);
        }
        x[i] = (float)z;
    }
}

static void make_alternating(const input_place *place, float *x)
{
    random_row random = random_row_begin(place->seed, STREAM_ALTERNATING, place->row);
    for (size_t i = 0; i < place->hidden; i++) {
        double size = 100 * (1 + random_uniform(&random, i) / 8);
        x[i] = (float)((i + place->row) % 2 == 0 ? size : -size);
    }
}

/* Of either sign, 1e30 to 2e30: the squares overflow f32 (and so does a sum of them in f32), the
 * normalised row does not. */
static void make_huge(const input_place *place, float *x)
{
    random_row random = random_row_begin(place->seed, STREAM_HUGE, place->row);
    for (size_t i = 0; i < place->hidden; i++) {
        uint32_t bits = random_bits(&random, i);
        double size = 1e30 * (1 + (double)(bits >> 1) * 0x1p-31);
        x[i] = (float)(bits & 1 ? size : -size);
    }
}

/* Multiples of 2^-149 below 2^-126: the squares underflow f32 and vanish. */
static void make_subnormal(const input_place *place, float *x)
{
    random_row random = random_row_begin(place->seed, STREAM_SUBNORMAL, place->row);
    for (size_t i = 0; i < place->hidden; i++) {
        uint32_t bits = random_bits(&random, i);
        double size = (double)(bits >> 9) * 0x1p-149;
        x[i] = (float)(bits & 1 ? size : -size);
    }
}

/* Three rows of four hold a special value; the fourth is clean, so that what leaks from one row
 * into the next is seen. */
static bool is_clean(const input_place *place)
{
    return place->row % 4 == 3;
}

static float float_from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Quiet NaNs of either sign and of two payloads. */
static void make_nan(const input_place *place, float *x)
{
    static const uint32_t nans[3] = {0x7fc00000, 0xffc00000, 0x7fc12345};
    make_normal(place, x);
    if (!is_clean(place))
        x[special_column(place, STREAM_SPECIAL)] = float_from_bits(nans[place->row % 4]);
}

/* +Inf, -Inf, and both in one row (where hidden has room). */
static void make_inf(const input_place *place, float *x)
{
    make_normal(place, x);
    if (is_clean(place))
        return;
    size_t turn = place->row % 4, column = special_column(place, STREAM_SPECIAL);
    x[column] = float_from_bits(turn == 1 ? 0xff800000 : 0x7f800000);
    if (turn == 2 && place->hidden > 1)
        x[(column + 1) % place->hidden] = float_from_bits(0xff800000);
}

/* ---- how elements lie: in which order, at which distances ---- */

/* One element at least, and one in about `of`, lies one to four floats above the constant: the
 * variance is of the order of the square of an ulp, below what a rounded mean can tell. */
static void make_near_constant(const input_place *place, float *x)
{
    static const float constants[6] = {1.0F, 256.0F, -0.1F, 1e4F, 3.3333333F, -1449.5F};
    static const uint32_t of[3] = {2, 16, 1U << 20};
    random_row random = random_row_begin(place->seed, STREAM_SHAPE, place->row);
    uint32_t constant = bits_of_float(constants[place->row % 6]);
    for (size_t i = 0; i < place->hidden; i++) {
        uint32_t drawn = random_bits(&random, i);
        x[i] =
            float_from_bits(constant + (drawn % of[place->row % 3] == 0 ? 1 + (drawn >> 30) : 0));
    }
    x[place->seed % place->hidden] = float_from_bits(constant + 1);
}

/* One value or the other, by a coin that falls on the first side in 1 of 2, 8 or 64. */
static void make_two_valued(const input_place *place, float *x)
{
    static const float pairs[6][2] = {{0.0F, 1.0F},   {1.0F, 1.0000001F}, {-1e4F, 1e4F},
                                      {0.1F, 100.1F}, {-1.0F, 1.0F},      {255.0F, 256.0F}};
    static const int shift[3] = {31, 29, 26};
    random_row random = random_row_begin(place->seed, STREAM_SHAPE, place->row);
    for (size_t i = 0; i < place->hidden; i++)
        x[i] = pairs[place->row % 6][random_bits(&random, i) >> shift[place->row / 6 % 3] == 0];
}

static int compare_floats(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* A normal row, rising in even rows and falling in odd ones. */
static void make_sorted(const input_place *place, float *x)
{
    size_t hidden = place->hidden;
    make_normal(place, x);
    qsort(x, hidden, sizeof *x, compare_floats);
    for (size_t i = 0; place->row % 2 == 1 && i < hidden / 2; i++) {
        float kept = x[i];
        x[i] = x[hidden - 1 - i];
        x[hidden - 1 - i] = kept;
    }
}

/* In [1, 2): partial sums only grow, and no error cancels another. */
static void make_positive(const input_place *place, float *x)
{
    random_row random = random_row_begin(place->seed, STREAM_SHAPE, place->row);
    for (size_t i = 0; i < place->hidden; i++)
        x[i] = (float)(1 + (double)(random_bits(&random, i) >> 9) * 0x1p-23);
}

/* Each element half as large as the one before it, over 40 binades and then anew; from large to
 * small in even rows, from small to large in odd ones; every other pair of rows with signs. */
static void make_geometric(const input_place *place, float *x)
{
    random_row random = random_row_begin(place->seed, STREAM_SHAPE, place->row);
    size_t hidden = place->hidden;
    for (size_t i = 0; i < hidden; i++) {
        size_t step = place->row % 2 == 0 ? i : hidden - 1 - i;
        uint32_t bits = random_bits(&random, i);
        double size = (1 + (double)(bits >> 1) * 0x1p-31) * (double)(UINT64_C(1) << 40) /
                      (double)(UINT64_C(1) << step % 40);
        x[i] = (float)(place->row / 2 % 2 == 1 && (bits & 1) ? -size : size);
    }
}

/* Blocks of 64 (16 and 256 in other rows), each normal about a mean of its own. */
static void make_blocks(const input_place *place, float *x)
{
    static const size_t sizes[3] = {64, 16, 256};
    size_t size = sizes[place->row % 3];
    random_row random = random_row_begin(place->seed, STREAM_SHAPE, place->row);
    random_row means = random_row_begin(place->seed, STREAM_CHOICE, place->row);
    for (size_t i = 0; i < place->hidden; i++) {
        double mean = 1000 * random_normal(&means, i / size);
        x[i] = (float)(mean + random_normal(&random, i));
    }
}

/* Integers from -128 to 127 times one scale, with a zero point in odd rows. */
static void make_quantised(const input_place *place, float *x)
{
    static const double scales[4] = {1.0 / 127, 0.05, 0.0078125, 1.5};
    random_row random = random_row_begin(place->seed, STREAM_SHAPE, place->row);
    for (size_t i = 0; i < place->hidden; i++) {
        double z = random_normal(&random, i) * 32;
        int level = (int)(z < -128 ? -128 : z > 127 ? 127 : z);
        x[i] = (float)((level + (place->row % 2 == 1 ? 128 : 0)) * scales[place->row % 4]);
    }
}

/* Zeros but for one element in 2, 8 or 32, which is the positive half of a normal draw. */
static void make_sparse(const input_place *place, float *x)
{
    static const uint32_t of[3] = {2, 8, 32};
    random_row random = random_row_begin(place->seed, STREAM_SHAPE, place->row);
    random_row choice = random_row_begin(place->seed, STREAM_CHOICE, place->row);
    for (size_t i = 0; i < place->hidden; i++) {
        double z = random_normal(&random, i);
        bool kept = random_bits(&choice, i) % of[place->row % 3] == 0;
        x[i] = (float)(kept ? (z < 0 ? -z : z) : 0);
    }
}

/* +0, -0, both in turn, and zeros with one element of the smallest subnormal, the smallest normal
 * number, or 1. */
static void make_signed_zeros(const input_place *place, float *x)
{
    static const float lonely[6] = {0, 0, 0, 0x1p-149F, 0x1p-126F, 1};
    size_t kind = place->row % 6;
    for (size_t i = 0; i < place->hidden; i++)
        x[i] = kind == 0 || (kind != 1 && i % 2 == 0) ? 0.0F : -0.0F;
    if (kind >= 3)
        x[place->row / 6 % place->hidden] = lonely[kind];
}

/* Normal rows whose first element is 1 to 1e8 times as large: no measure of where the others lie.
 */
static void make_bad_pivot(const input_place *place, float *x)
{
    double scale = offset_sweep_kappa(LN_F32, place->row);
    make_normal(place, x);
    x[0] = (float)(place->row % 2 == 0 ? 1.5 * scale : -1.5 * scale);
}

/* ---- how large elements are, beside each other or beside the ends of f32 ---- */

/* 1e-6 and 1e6 in turn, within an eighth of either; in odd rows the first half is small, the second
 * large. */
static void make_alternating_scales(const input_place *place, float *x)
{
    random_row random = random_row_begin(place->seed, STREAM_SCALE, place->row);
    for (size_t i = 0; i < place->hidden; i++) {
        bool large = place->row % 2 == 0 ? i % 2 == 1 : i >= place->hidden / 2;
        x[i] = (float)((large ? 1e6 : 1e-6) * (1 + random_uniform(&random, i) / 8));
    }
}

/* Student's t with two degrees of freedom in even rows, by its quantile (2u - 1) / sqrt(2u(1 - u));
 * with one (Cauchy) in odd ones, as the ratio of two normal draws. */
static void make_heavy_tails(const input_place *place, float *x)
{
    random_row random = random_row_begin(place->seed, STREAM_SCALE, place->row);
    random_row other = random_row_begin(place->seed, STREAM_CHOICE, place->row);
    for (size_t i = 0; i < place->hidden; i++) {
        double u = ((double)random_bits(&random, i) + 0.5) * 0x1p-32;
        x[i] = (float)(place->row % 2 == 0 ? (2 * u - 1) / sqrt(2 * u * (1 - u))
                                           : random_normal(&random, i) / random_normal(&other, i));
    }
}

/* Normal rows with the same two channels 1e3 to 1e5 times as large in every row, of fixed sign: far
 * fewer and far larger than outlier channels. */
static void make_massive_activations(const input_place *place, float *x)
{
    static const double sizes[3] = {1e3, 1e4, 1e5};
    size_t first = place->seed % place->hidden, second = place->seed / 7 % place->hidden;
    random_row random = random_row_begin(place->seed, STREAM_SCALE, place->row);
    for (size_t i = 0; i < place->hidden; i++) {
        double z = random_normal(&random, i), size = sizes[place->row % 3];
        x[i] = (float)(i == first ? size * (1 + z / 64) : i == second ? -size * (0.5 + z / 64) : z);
    }
}

/* Of either sign: sizes from 2^62, whose squares nearly reach the end of f32, up to 2^127, whose
 * differences pass it. Beyond 2^63.9 a square overflows. */
static void make_overflow(const input_place *place, float *x)
{
    enum { LEAST = 62, STEP = 4, ROWS = 17 };
    int exponent = LEAST + STEP * (int)(place->row % ROWS);
    double scale = ldexp(1, exponent < 127 ? exponent : 127);
    random_row random = random_row_begin(place->seed, STREAM_SCALE, place->row);
    for (size_t i = 0; i < place->hidden; i++) {
        uint32_t bits = random_bits(&random, i);
        double size = scale * (1 + (double)(bits >> 9) * 0x1p-23);
        x[i] = (float)(bits & 1 ? size : -size);
    }
}

/* Normal rows times 2^-58 to 2^-130: squares become subnormal, then 0, then the elements themselves
 * subnormal. */
static void make_underflow(const input_place *place, float *x)
{
    enum { MOST = -58, STEP = 4, ROWS = 19 };
    double scale = ldexp(1, MOST - STEP * (int)(place->row % ROWS));
    random_row random = random_row_begin(place->seed, STREAM_SCALE, place->row);
    for (size_t i = 0; i < place->hidden; i++)
        x[i] = (float)(random_normal(&random, i) * scale);
}

/* Normal rows, which the tiny gamma of this family makes subnormal; in odd rows times 2^-142, which
 * eps makes small where there is one, whatever gamma is. */
static void make_subnormal_out(const input_place *place, float *x)
{
    double scale = place->row % 2 == 0 ? 1 : 0x1p-142;
    random_row random = random_row_begin(place->seed, STREAM_SCALE, place->row);
    for (size_t i = 0; i < place->hidden; i++)
        x[i] = (float)(random_normal(&random, i) * scale);
}

/* Normal rows whose variance is an eighth, 1 or 8 times one of the eps in use. */
static void make_var_near_eps(const input_place *place, float *x)
{
    static const double eps[6] = {1e-5, 1e-3, 1e-6, 1e-8, 1e-12, 1e-10};
    static const double times[3] = {1, 0.125, 8};
    double scale = sqrt(eps[place->row % 6] * times[place->row / 6 % 3]);
    random_row random = random_row_begin(place->seed, STREAM_SCALE, place->row);
    for (size_t i = 0; i < place->hidden; i++)
        x[i] = (float)(random_normal(&random, i) * scale);
}

/* ---- the tensors that the five documents print, with the digits they print (docs/conventions.md) ---- */

static void tile(const float *table, size_t rows, size_t width, const input_place *place, float *x)
{
    const float *row = table + place->row % rows * width;
    for (size_t i = 0; i < place->hidden; i++)
        x[i] = row[i % width];
}

/* "From scratch" chapter: two words of five numbers. */
static void make_document_000(const input_place *place, float *x)
{
    static const float printed[2][5] = {
        {10.0F, 20.0F, 30.0F, 40.0F, 50.0F},
        {1.0F, 1.1F, 1.2F, 1.3F, 1.4F},
    };
    tile(*printed, 2, 5, place, x);
}

/* tinyllm: the output of its LayerNorm (its input is not printed), which is a fair input too. */
static void make_document_001(const input_place *place, float *x)
{
    static const float printed[6][4] = {
        {0.2828F, 1.4225F, -1.3231F, -0.3822F},  {-0.5129F, -1.2819F, 0.4060F, 1.3888F},
        {-0.1348F, -0.1960F, 1.5598F, -1.2290F}, {1.6377F, -0.3495F, -1.0720F, -0.2162F},
        {1.1558F, -1.1942F, -0.7673F, 0.8058F},  {-1.5553F, 0.3317F, 0.0108F, 1.2128F},
    };
    tile(*printed, 6, 4, place, x);
}

/* The notebook with z-scores: its `outputs`. */
static void make_document_002(const input_place *place, float *x)
{
    static const float printed[3][6] = {
        {1.5778F, 1.6956F, -1.9398F, -0.6370F, 0.3499F, 0.9727F},
        {-0.9691F, -1.4902F, 0.8478F, -1.4404F, 0.0469F, -0.9731F},
        {1.0857F, 0.8106F, -0.1296F, 0.9529F, -0.5721F, -1.0813F},
    };
    tile(*printed, 3, 6, place, x);
}

/* Step by step: 1 to 24, six rows of four. */
static void make_document_003(const input_place *place, float *x)
{
    static const float printed[6][4] = {
        {1, 2, 3, 4},     {5, 6, 7, 8},     {9, 10, 11, 12},
        {13, 14, 15, 16}, {17, 18, 19, 20}, {21, 22, 23, 24},
    };
    tile(*printed, 6, 4, place, x);
}

/* ---- gamma and beta: those that every input has, and families that hurt by them, with the rows that go with them ---- */

/* The scalars are fixed: gamma in the middle of a binade, so that it does not hide a difference of
 * conventions in the rounding, and neither is a power of two. */
static const float scalar_gamma = 1.4375F + 0x1p-20F, scalar_beta = -0.15F;

/* Normal draws about `centre`, of which the first two differ. */
static void fill_parameter(random_row random, double centre, size_t hidden, float *to)
{
    for (size_t i = 0; i < hidden; i++)
        to[i] = (float)(centre + random_normal(&random, i) * 0.25);
    if (hidden > 1 && to[0] == to[1])
        to[1] += 0.125F;
}

void input_affine(const ln_convention *convention, uint64_t seed, size_t hidden,
                  float *const made[ROLES_MOST])
{
    float *gamma = made[ROLE_GAMMA], *beta = made[ROLE_BETA];
    if (convention->affine == LN_AFFINE_SCALAR) {
        *gamma = scalar_gamma;
        *beta = scalar_beta;
        return;
    }
    if (ln_has_gamma(convention->affine))
        fill_parameter(random_row_begin(seed, STREAM_GAMMA, 0),
                       convention->affine == LN_AFFINE_GAMMA1 ? 0 : 1, hidden, gamma);
    if (ln_has_beta(convention->affine))
        fill_parameter(random_row_begin(seed, STREAM_BETA, 0), 0, hidden, beta);
}

/* What stands in the gamma tensor for a factor: gamma1 stores one less. */
static float stored(const ln_convention *convention, double gamma)
{
    return (float)(convention->affine == LN_AFFINE_GAMMA1 ? gamma - 1 : gamma);
}

static size_t length_of(const ln_convention *convention, size_t hidden)
{
    return ln_parameter_elements(convention->affine, hidden);
}

/* A normal draw in multiples of 2^-12: whole numbers up to 2^11 may be added to it in f32 without
 * rounding. */
static double coarse_normal(random_row *random, size_t column)
{
    double z = random_normal(random, column) * 0x1p12;
    return (double)(long)z * 0x1p-12;
}

/* One row at offsets 0, 1, 2, 4, ... 1024: the additions are exact, so that xhat is the same in all
 * of them. */
static void make_affine_cancellation(const input_place *place, float *x)
{
    enum { OFFSETS = 12 };
    size_t turn = place->row % OFFSETS;
    double offset = turn == 0 ? 0 : (double)(1U << (turn - 1));
    random_row random = random_row_begin(place->seed, STREAM_CANCEL, 0);
    for (size_t i = 0; i < place->hidden; i++)
        x[i] = (float)(coarse_normal(&random, i) + offset);
}

/* xhat of those rows in double: sums of multiples of 2^-24 are exact here. */
static double cancelled_rstd(const ln_convention *convention, random_row *random, size_t hidden,
                             double *mean)
{
    double n = (double)hidden, sum = 0, squares = 0;
    for (size_t i = 0; i < hidden; i++) {
        double z = coarse_normal(random, i);
        sum += z;
        squares += z * z;
    }
    *mean = sum / n;
    double var = (squares - sum * *mean) / (n - (convention->ddof && hidden > 1 ? 1 : 0));
    double std = convention->eps_place == LN_EPS_VAR ? sqrt(var + convention->eps) : sqrt(var);
    if (convention->eps_place == LN_EPS_STD)
        std += convention->eps;
    return std > 0 ? 1 / std : 0;
}

/* beta is -gamma * xhat rounded: what is left of y is the rounding of beta, and the kernel's
 * errors.
 */
static void parameters_cancelling(const ln_convention *convention, uint64_t seed, size_t hidden,
                                  float *const made[ROLES_MOST])
{
    float *gamma = made[ROLE_GAMMA], *beta = made[ROLE_BETA];
    double mean, added = convention->eps_place == LN_EPS_QUOTIENT ? convention->eps : 0;
    random_row random = random_row_begin(seed, STREAM_CANCEL, 0);
    double rstd = cancelled_rstd(convention, &random, hidden, &mean);
    input_affine(convention, seed, hidden, made);
    if (!ln_has_beta(convention->affine))
        return;
    random = random_row_begin(seed, STREAM_CANCEL, 0);
    for (size_t i = 0; i < length_of(convention, hidden); i++) {
        double factor = convention->affine == LN_AFFINE_GAMMA1 ? 1 + (double)gamma[i] : gamma[i];
        beta[i] = (float)-(factor * ((coarse_normal(&random, i) - mean) * rstd + added));
    }
}

/* 2^-40 to 2^40, of either sign, drawn for each channel. */
static double wide(random_row *random, size_t column)
{
    uint32_t bits = random_bits(random, column);
    double size = (1 + (double)(bits >> 9) * 0x1p-23) * (double)(UINT64_C(1) << bits % 81 / 2) *
                  (double)(UINT64_C(1) << (bits % 81 + 1) / 2) * 0x1p-40;
    return bits >> 8 & 1 ? size : -size;
}

static void parameters_wide(const ln_convention *convention, uint64_t seed, size_t hidden,
                            float *const made[ROLES_MOST])
{
    float *gamma = made[ROLE_GAMMA], *beta = made[ROLE_BETA];
    random_row gammas = random_row_begin(seed, STREAM_WIDE, 0);
    random_row betas = random_row_begin(seed, STREAM_WIDE, 1);
    for (size_t i = 0; i < length_of(convention, hidden); i++) {
        gamma[i] = stored(convention, wide(&gammas, i));
        beta[i] = (float)wide(&betas, i);
    }
}

/* gamma is 2^-131 to 2^-130, and beta is smaller still. gamma1 cannot hold such factors: there they are 2^-24. */
static void parameters_subnormal(const ln_convention *convention, uint64_t seed, size_t hidden,
                                 float *const made[ROLES_MOST])
{
    float *gamma = made[ROLE_GAMMA], *beta = made[ROLE_BETA];
    random_row random = random_row_begin(seed, STREAM_SCALE, 0);
    for (size_t i = 0; i < length_of(convention, hidden); i++) {
        double u = random_uniform(&random, i);
        bool one = convention->affine == LN_AFFINE_GAMMA1;
        gamma[i] = one ? -1 + 0x1p-24F : (float)((1 + u) * 0x1p-131);
        beta[i] = (float)((u - 0.5) * 0x1p-133);
    }
}

/* m + s and m - s in turn, s from 1 to 2^17 and m a small multiple of it: mean and deviation are
 * exact where hidden is even, and xhat is +-1 without eps, and nearer to it than 53 bits tell where
 * s is large. */
static void make_ties(const input_place *place, float *x)
{
    double s = (double)(1U << place->row % 18), m = (double)(place->row % 4) * 3 * s;
    for (size_t i = 0; i < place->hidden; i++)
        x[i] = (float)(i % 2 == 0 ? m + s : m - s);
}

/* 1 + j 2^-23 with j > 0, and half of its last place: their sum and their difference lie midway
 * between two floats. */
static void parameters_of_ties(const ln_convention *convention, uint64_t seed, size_t hidden,
                               float *const made[ROLES_MOST])
{
    float *gamma = made[ROLE_GAMMA], *beta = made[ROLE_BETA];
    random_row random = random_row_begin(seed, STREAM_WIDE, 0);
    for (size_t i = 0; i < length_of(convention, hidden); i++) {
        uint32_t bits = random_bits(&random, i);
        gamma[i] = stored(convention, 1 + (double)(1 + (bits >> 10)) * 0x1p-23);
        beta[i] = bits & 1 ? 0x1p-24F : -0x1p-24F;
    }
}

void parameters_tell_apart(ln_type type, size_t count, void *to)
{
    if (count > 1 && storage_load(type, to, 0) == storage_load(type, to, 1))
        storage_store(type, to, 1, storage_load(type, to, 1) + 0.125);
}

void parameters_of_typed_ties(const operation_call *call, uint64_t seed)
{
    const ln_convention *convention = &call->problem.convention;
    ln_type type = call->problem.param;
    void *gamma = call->inputs[ROLE_GAMMA], *beta = call->inputs[ROLE_BETA];
    size_t count = length_of(convention, call->problem.hidden);
    int precision = type == LN_F64 ? 53 : type == LN_BF16 ? 8 : 11;
    double ulp = ldexp(1, 1 - precision), one = convention->affine == LN_AFFINE_GAMMA1 ? 0 : 1;
    random_row random = random_row_begin(seed, STREAM_WIDE, 0);
    for (size_t i = 0; i < count; i++) {
        uint32_t bits = random_bits(&random, i);
        uint64_t j = 1 + (mix_bits(bits) >> (66 - precision)); /* up to a quarter of 2^precision */
        if (gamma)
            storage_store(type, gamma, i, one + (double)j * ulp);
        if (beta)
            storage_store(type, beta, i, bits & 1 ? 0.5 * ulp : -0.5 * ulp);
    }
    if (gamma)
        parameters_tell_apart(type, count, gamma);
}

/* ---- rows of a given condition number ----
 *
 * Rows of a given condition number kappa = sqrt(sum x^2 / (N var)) = sqrt(1 + mean^2 / var).
 *
 * A normal row, centred and scaled to standard deviation s, is shifted by M = sqrt(kappa^2 - 1).
 * With s = 1 that is kappa, until the rounding of M + s z to the type makes a difference: at kappa
 * 1e8 neighbouring floats lie 8 apart, and the variance is that of a few elements that round to
 * another float. There s is searched for so that the row that the type can hold has the wanted kappa
 * for, as near as the scaling of this row can bring it: in f32 within 1 % from hidden 64 on up to
 * 1e7 (a row of two elements that differ by one float has kappa 2^24 to 2^25 and no more).
 *
 * A row of N numbers of p bits of which one lies an ulp from the others has kappa 2^p N / sqrt(N -
 * 1) at most, so that the sweep's end is the type's: nine kappas in equal ratios from 1 to 1e3
 * (bf16), 1e4 (f16), 1e8 (f32) and 1e16 (f64); the family kappa goes to the very end. */

enum { SEARCH_STEPS = 28 };

static const int precision[] = {[LN_F32] = 24, [LN_F64] = 53, [LN_BF16] = 8, [LN_F16] = 11};

/* base^exponent by products alone, which are the same everywhere. */
static double power_of(double base, size_t exponent)
{
    double power = 1;
    for (; exponent > 0; exponent--)
        power *= base;
    return power;
}

/* q with q^count = product, for product >= 1. */
static double root_of(double product, int count)
{
    double low = 1, high = product;
    for (int step = 0; step < 100; step++) {
        double middle = low + (high - low) / 2, power = 1;
        for (int i = 0; i < count && power <= product; i++)
            power *= middle;
        if (power <= product)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The most that type and hidden can have, which the last row has; f16's range ends sooner at a
 * deviation of 1, and so do the rows before it. */
static double kappa_of_end(const offset_place *place)
{
    double n = (double)place->hidden, spread = n > 1 ? n / sqrt(n - 1) : 1;
    double most = ldexp(spread, precision[place->type]);
    return place->type == LN_F16 && most > 0x1p15 ? 0x1p15 : most;
}

double offset_sweep_kappa(ln_type type, size_t row)
{
    double ratio = type == LN_BF16  ? sqrt(sqrt(sqrt(1000)))
                   : type == LN_F16 ? sqrt(10)
                   : type == LN_F64 ? 100
                                    : 10;
    return power_of(ratio, row % OFFSET_SWEEP_ROWS);
}

static double kappa_of(const offset_place *place)
{
    if (place->kappa > 0)
        return place->kappa;
    return place->to_the_end
               ? power_of(root_of(kappa_of_end(place), KAPPA_ROWS - 1), place->row % KAPPA_ROWS)
               : offset_sweep_kappa(place->type, place->row);
}

double offset_kappa_most(ln_type type)
{
    return type == LN_BF16 ? 1e3 : type == LN_F16 ? 1e4 : type == LN_F64 ? 1e16 : 1e8;
}

static double rounded(ln_type type, double value)
{
    double room;
    storage_store(type, &room, 0, value);
    return storage_load(type, &room, 0);
}

/* kappa of the row that this scale makes, infinite where all its elements are equal; differences
 * from the shift are exact. */
static double realised_kappa(const offset_place *place, const double *z, double shift, double scale)
{
    double sum = 0, squares = 0, n = (double)place->hidden;
    for (size_t i = 0; i < place->hidden; i++) {
        double difference = rounded(place->type, shift + scale * z[i]) - shift;
        sum += difference;
        squares += difference * difference;
    }
    double mean = shift + sum / n, var = (squares - sum * (sum / n)) / n;
    return var > 0 ? sqrt(mean * mean / var + 1) : INFINITY;
}

/* The scale between low and high that comes nearest to kappa: by bisection, since kappa falls where
 * the scale rises. */
static double search_scale(const offset_place *place, const double *z, double shift, double low,
                           double high, double kappa)
{
    double best = high, best_ratio = INFINITY;
    for (int i = 0; i < SEARCH_STEPS; i++) {
        double middle = sqrt(low * high), found = realised_kappa(place, z, shift, middle);
        double ratio = found > kappa ? found / kappa : kappa / found;
        if (ratio < best_ratio) {
            best_ratio = ratio;
            best = middle;
        }
        if (found > kappa)
            low = middle;
        else
            high = middle;
    }
    return best;
}

/* The row of largest kappa: all elements at the top of a binade, u apart, but one that is u less.
 * Its deviation is u sqrt(N - 1) / N, so that kappa is nearly 2^p N / sqrt(N - 1). u is the power
 * of two that brings the deviation nearest to 1. */
static void top_row(const offset_place *place, void *x)
{
    double n = (double)place->hidden, u = 1, deviation = n > 1 ? sqrt(n - 1) / n : 1;
    double most = place->type == LN_F16 ? 32 : INFINITY; /* 65504 is 2047 times that */
    while (u * deviation < 0.5 && u < most)
        u *= 2;
    double top = ldexp(1, precision[place->type]) - 1;
    random_row random = random_row_begin(place->seed, STREAM_CHOICE, place->row);
    for (size_t i = 0; i < place->hidden; i++)
        storage_store(place->type, x, i, top * u);
    storage_store(place->type, x, random_bits(&random, 0) % place->hidden, (top - 1) * u);
}

/* A centred normal row; returns what to multiply it by for a deviation of 1. f32's is rounded
 * before it is centred: rows of an earlier lnbench keep their bits. */
static double normal_row(const offset_place *place, double *z)
{
    double n = (double)place->hidden, sum = 0, squares = 0;
    random_row random = random_row_begin(place->seed, STREAM_OFFSET, place->row);
    for (size_t i = 0; i < place->hidden; i++) {
        double drawn = random_normal(&random, i);
        z[i] = place->type == LN_F32 ? (double)(float)drawn : drawn;
        sum += z[i];
    }
    for (size_t i = 0; i < place->hidden; i++) {
        z[i] -= sum / n;
        squares += z[i] * z[i];
    }
    return squares > 0 ? 1 / sqrt(squares / n) : 1;
}

void offset_row(const offset_place *place, double *z, void *x)
{
    if (place->to_the_end && place->row % KAPPA_ROWS == KAPPA_ROWS - 1) {
        top_row(place, x);
        return;
    }
    double kappa = kappa_of(place), scale = normal_row(place, z);
    double shift = rounded(place->type, sqrt((kappa - 1) * (kappa + 1)));
    double ulp = ldexp(shift, 1 - precision[place->type]); /* or less */
    /* What moves an element to the next number: half an ulp; f32's offset rows need not go so far.
     */
    double reach = place->type != LN_F32 ? ulp : place->to_the_end ? 2 * ulp : 0;
    if (ulp > 0x1p-10) /* else the row has the kappa within a thousandth */
        scale = search_scale(place, z, shift, scale / 4, scale * 32 + reach, kappa);
    for (size_t i = 0; i < place->hidden; i++) {
        double made = rounded(place->type, shift + scale * z[i]);
        storage_store(place->type, x, i, place->row % 2 == 0 ? made : -made);
    }
}

/* ---- the table ---- */

static const input_family families[] = {
    {"normal", "N(0,1): the everyday case", "what a layer gets at initialisation", true, false,
     false, make_normal, NULL, ROLE_X},
    {"uniform", "[-1,1), every value exact", "the input of most published tests", true, false,
     false, make_uniform, NULL, ROLE_X},
    {"offset", "normal rows far off zero, kappa 1 to 1e8 in turn (or offset:KAPPA): cancellation",
     "pytorch#51102, pytorch#40302, mlx#2238, burn#5607", true, false, false, NULL, NULL, ROLE_X},
    {"ramp", "quarters of integers, rising and falling: sums grow steadily",
     "positions, time stamps, printed examples", true, false, false, make_ramp, NULL, ROLE_X},
    {"constant", "all elements equal: var is 0, a rounded mean makes it not so",
     "padding; pytorch#5410, pytorch#108072, onnxruntime#21935", true, false, false, make_constant,
     NULL, ROLE_X},
    {"spike", "constant but for one element, first, last or between: breaks pivots and tails",
     "one-hot features; 255 among 256s (trt-samples-for-hackathon-cn#88)", true, false, false,
     make_spike, NULL, ROLE_X},
    {"outlier-channels", "normal, a few channels 16 to 128 times as large, as in transformers",
     "Kovaleva et al. 2021 (BERT Busters), Dettmers et al. 2022 (LLM.int8)", true, false, false,
     make_outlier_channels, NULL, ROLE_X},
    {"alternating", "signs alternate: partial sums cancel, or do not, by lane",
     "complex and interleaved features", true, false, false, make_alternating, NULL, ROLE_X},
    {"huge", "+-1e30 to 2e30: squares overflow f32", "pytorch#162489", true, false, true, make_huge,
     NULL, ROLE_X},
    {"subnormal", "below 2^-126: squares underflow f32, and FTZ or DAZ makes zeros",
     "vanishing activations; libraries built with -ffast-math set FTZ", true, false, true,
     make_subnormal, NULL, ROLE_X},
    {"nan", "normal rows with a NaN, every fourth clean: the whole row must be NaN, the next not",
     "diverging training", true, false, true, make_nan, NULL, ROLE_X},
    {"inf", "normal rows with +Inf, -Inf or both, every fourth clean: likewise NaN",
     "f16 overflow upstream; masks of -Inf", true, false, true, make_inf, NULL, ROLE_X},
    {"seed-000", "printed in document 000: 10..50 and 1.0..1.4", "docs/conventions.md", true, false,
     false, make_document_000, NULL, ROLE_X},
    {"seed-001", "printed in document 001: six normalised rows of four", "docs/conventions.md",
     true, false, false, make_document_001, NULL, ROLE_X},
    {"seed-002", "printed in document 002: three rows of six, N(0,1)", "docs/conventions.md", true,
     false, false, make_document_002, NULL, ROLE_X},
    {"seed-003", "printed in document 003: 1 to 24, six rows of four", "docs/conventions.md", true,
     false, false, make_document_003, NULL, ROLE_X},
    {"kappa", "std 1, kappa from 1 to the most that f32 and hidden can have, in equal ratios",
     "Chan, Golub, LeVeque 1983; onnxruntime#28463, onnxruntime#31973", false, true, false, NULL,
     NULL, ROLE_X},
    {"near-constant",
     "a constant, a few elements 1 to 4 floats above: var below a rounded mean's "
     "reach, negative by the textbook formula",
     "CNTK#3816, equinox#314, onnxruntime#21935", false, true, false, make_near_constant, NULL,
     ROLE_X},
    {"two-valued", "one value or another: exact answers are known, ties of |xhat| abound",
     "binary and one-hot features, masks", false, false, false, make_two_valued, NULL, ROLE_X},
    {"sorted", "a normal row rising or falling: running means drift, lanes differ",
     "Higham 1993 (order of summation); sorted embeddings, spectra", false, false, false,
     make_sorted, NULL, ROLE_X},
    {"alternating-scales", "1e-6 and 1e6 in turn: the small ones vanish in every sum",
     "features without common units", false, false, false, make_alternating_scales, NULL, ROLE_X},
    {"positive", "[1,2): partial sums only grow, errors do not cancel",
     "softplus, exp and probabilities", false, false, false, make_positive, NULL, ROLE_X},
    {"geometric", "each element half the one before, or twice: order decides what a sum keeps",
     "Higham 1993", false, false, false, make_geometric, NULL, ROLE_X},
    {"blocks", "blocks of 16, 64 or 256, each about a mean of its own: parts must be combined well",
     "concatenated heads and embeddings; Chan, Golub, LeVeque 1983", false, false, false,
     make_blocks, NULL, ROLE_X},
    {"quantised", "integers times one scale, with and without a zero point: few distinct values",
     "int8 activations, dequantised", false, false, false, make_quantised, NULL, ROLE_X},
    {"sparse", "zeros but for one in 2, 8 or 32: most of the row is its mean's error",
     "ReLU; Li et al. 2023 (The Lazy Neuron Phenomenon)", false, false, false, make_sparse, NULL,
     ROLE_X},
    {"signed-zeros", "+0, -0, both, and one element beside zeros: 0/0, signs, a lonely subnormal",
     "padding; pytorch#41527, DeepSpeed#581, burn#1992", false, true, true, make_signed_zeros, NULL,
     ROLE_X},
    {"bad-pivot", "normal, but the first element 1 to 1e8 times as large: a pivot that misleads",
     "class and first tokens; shifted sums take x[0]", false, false, false, make_bad_pivot, NULL,
     ROLE_X},
    {"heavy-tails",
     "Student t with 2 and 1 degrees of freedom: one element may be all the variance",
     "Simsekli et al. 2019 (tail index of gradient noise)", false, false, false, make_heavy_tails,
     NULL, ROLE_X},
    {"massive-activations", "normal, two channels 1e3 to 1e5 times as large",
     "Sun et al. 2024 (Massive Activations in LLMs)", false, false, false, make_massive_activations,
     NULL, ROLE_X},
    {"overflow", "sizes 2^62 to 2^127: squares, then sums, then differences overflow",
     "pytorch#162489; in f16 onnxruntime#17692, ConvNeXt#80", false, false, true, make_overflow,
     NULL, ROLE_X},
    {"underflow", "normal times 2^-58 to 2^-130: squares, then elements underflow",
     "vanishing activations; nntrainer#3785", false, true, true, make_underflow, NULL, ROLE_X},
    {"subnormal-out", "gamma near 2^-130: results are subnormal, rounded at 2^-149",
     "pruned channels; FTZ makes them 0", false, false, false, make_subnormal_out,
     parameters_subnormal, ROLE_GAMMA},
    {"var-near-eps",
     "variance an eighth, 1, 8 times each eps in use: place and rounding of eps show",
     "tensorflow#24979 (1e-12 in f16), small initialisations", false, false, false,
     make_var_near_eps, NULL, ROLE_X},
    {"affine-cancellation", "beta is -gamma xhat: what is left of y is rounding alone",
     "biases that learn to switch a channel off", false, false, false, make_affine_cancellation,
     parameters_cancelling, ROLE_BETA},
    {"wide-gamma", "gamma and beta 2^-40 to 2^40: nothing may be hidden behind the largest",
     "pytorch#98075 (gamma 1e10); pruned and dominant channels", false, false, false, make_normal,
     parameters_wide, ROLE_GAMMA},
    {"ties",
     "xhat +-1 and beta half an ulp: exact answers midway between two floats, or next to it",
     "double rounding; oracles in double decide half of them wrongly", false, true, false,
     make_ties, parameters_of_ties, ROLE_BETA},
};

const input_family *input_families(size_t *count)
{
    *count = sizeof families / sizeof *families;
    return families;
}

bool input_suits(const input_family *family, ln_operation kind)
{
    const operation *what = operations[kind];
    return family->needs < what->count && what->roles[family->needs].shape != SHAPE_NONE;
}
