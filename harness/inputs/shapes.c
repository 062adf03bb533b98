/* Families that hurt by how the elements of a row lie: in which order, at which distances. Integers
 * and + - * / sqrt only (see draws.c). */
#include "inputs/families.h"
#include "inputs/offset.h"
#include "inputs/draws.h"
#include <stdlib.h>
#include <string.h>

static float float_from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* One element at least, and one in about `of`, lies one to four floats above the constant: the
 * variance is of the order of the square of an ulp, below what a rounded mean can tell. */
void make_near_constant(const input_place *place, float *x)
{
    static const float constants[6] = {1.0F, 256.0F, -0.1F, 1e4F, 3.3333333F, -1449.5F};
    static const uint32_t of[3] = {2, 16, 1U << 20};
    random_row random = random_row_begin(place->seed, STREAM_SHAPE, place->row);
    uint32_t constant = bits_of(constants[place->row % 6]);
    for (size_t i = 0; i < place->hidden; i++) {
        uint32_t drawn = random_bits(&random, i);
        x[i] =
            float_from_bits(constant + (drawn % of[place->row % 3] == 0 ? 1 + (drawn >> 30) : 0));
    }
    x[place->seed % place->hidden] = float_from_bits(constant + 1);
}

/* One value or the other, by a coin that falls on the first side in 1 of 2, 8 or 64. */
void make_two_valued(const input_place *place, float *x)
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
void make_sorted(const input_place *place, float *x)
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
void make_positive(const input_place *place, float *x)
{
    random_row random = random_row_begin(place->seed, STREAM_SHAPE, place->row);
    for (size_t i = 0; i < place->hidden; i++)
        x[i] = (float)(1 + (double)(random_bits(&random, i) >> 9) * 0x1p-23);
}

/* Each element half as large as the one before it, over 40 binades and then anew; from large to
 * small in even rows, from small to large in odd ones; every other pair of rows with signs. */
void make_geometric(const input_place *place, float *x)
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
void make_blocks(const input_place *place, float *x)
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
void make_quantised(const input_place *place, float *x)
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
void make_sparse(const input_place *place, float *x)
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
void make_signed_zeros(const input_place *place, float *x)
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
void make_bad_pivot(const input_place *place, float *x)
{
    double scale = offset_sweep_kappa(LN_F32, place->row);
    make_normal(place, x);
    x[0] = (float)(place->row % 2 == 0 ? 1.5 * scale : -1.5 * scale);
}
