/* The families of input rows: integers and + - * / sqrt only (see draws.c). */
#include "inputs/families.h"
#include "inputs/draws.h"
#include <stdbool.h>
#include <string.h>

void make_normal(const input_place *place, float *x)
{
    random_row random = random_row_begin(place->seed, STREAM_NORMAL, place->row);
    for (size_t i = 0; i < place->hidden; i++)
        x[i] = (float)random_normal(&random, i);
}

/* Multiples of 2^-23 in [-1, 1): every value is exact. */
void make_uniform(const input_place *place, float *x)
{
    random_row random = random_row_begin(place->seed, STREAM_UNIFORM, place->row);
    for (size_t i = 0; i < place->hidden; i++)
        x[i] = (float)((double)(random_bits(&random, i) >> 8) * 0x1p-23 - 1);
}

/* Quarters of integers, rising in even rows and falling in odd ones: exact up to hidden 2^24. */
void make_ramp(const input_place *place, float *x)
{
    size_t hidden = place->hidden, begin = place->row % 8;
    for (size_t i = 0; i < hidden; i++) {
        size_t step = place->row % 2 == 0 ? i : hidden - 1 - i;
        x[i] = (float)((double)(begin + step) * 0.25);
    }
}

/* Zero, values whose N-fold sum is exact, and values whose sum rounds, so that an average comes out
 * that is not the constant. */
void make_constant(const input_place *place, float *x)
{
    static const float constants[8] = {1.0F,    0.1F,     -3.3333333F, 0.0F,
                                       123.45F, 1e4F / 3, -7.7e6F,     1e-6F};
    for (size_t i = 0; i < place->hidden; i++)
        x[i] = constants[place->row % 8];
}

static size_t random_column(const input_place *place, random_stream stream)
{
    random_row random = random_row_begin(place->seed, stream, place->row);
    return random_bits(&random, 0) % place->hidden;
}

/* First, last, then somewhere: a pivot taken from x[0] and a dropped tail meet their spike early.
 */
static size_t special_column(const input_place *place, random_stream stream)
{
    size_t turn = place->row % 3;
    return turn == 0 ? 0 : turn == 1 ? place->hidden - 1 : random_column(place, stream);
}

void make_spike(const input_place *place, float *x)
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
void make_outlier_channels(const input_place *place, float *x)
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

void make_alternating(const input_place *place, float *x)
{
    random_row random = random_row_begin(place->seed, STREAM_ALTERNATING, place->row);
    for (size_t i = 0; i < place->hidden; i++) {
        double size = 100 * (1 + random_uniform(&random, i) / 8);
        x[i] = (float)((i + place->row) % 2 == 0 ? size : -size);
    }
}

/* Of either sign, 1e30 to 2e30: the squares overflow f32 (and so does a sum of them in f32), the
 * normalised row does not. */
void make_huge(const input_place *place, float *x)
{
    random_row random = random_row_begin(place->seed, STREAM_HUGE, place->row);
    for (size_t i = 0; i < place->hidden; i++) {
        uint32_t bits = random_bits(&random, i);
        double size = 1e30 * (1 + (double)(bits >> 1) * 0x1p-31);
        x[i] = (float)(bits & 1 ? size : -size);
    }
}

/* Multiples of 2^-149 below 2^-126: the squares underflow f32 and vanish. */
void make_subnormal(const input_place *place, float *x)
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
void make_nan(const input_place *place, float *x)
{
    static const uint32_t nans[3] = {0x7fc00000, 0xffc00000, 0x7fc12345};
    make_normal(place, x);
    if (!is_clean(place))
        x[special_column(place, STREAM_SPECIAL)] = float_from_bits(nans[place->row % 4]);
}

/* +Inf, -Inf, and both in one row (where hidden has room). */
void make_inf(const input_place *place, float *x)
{
    make_normal(place, x);
    if (is_clean(place))
        return;
    size_t turn = place->row % 4, column = special_column(place, STREAM_SPECIAL);
    x[column] = float_from_bits(turn == 1 ? 0xff800000 : 0x7f800000);
    if (turn == 2 && place->hidden > 1)
        x[(column + 1) % place->hidden] = float_from_bits(0xff800000);
}
