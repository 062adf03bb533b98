/* Families that hurt by how large the elements of a row are, beside each other or beside the ends
 * of f32. Integers and + - * / sqrt only (see draws.c). */
#include "inputs/families.h"
#include "inputs/draws.h"
#include <math.h>

/* 2^exponent. */
static double power_of_two(int exponent)
{
    double power = 1;
    for (; exponent > 0; exponent--)
        power *= 2;
    for (; exponent < 0; exponent++)
        power /= 2;
    return power;
}

/* 1e-6 and 1e6 in turn, within an eighth of either; in odd rows the first half is small, the second
 * large. */
void make_alternating_scales(const input_place *place, float *x)
{
    random_row random = random_row_begin(place->seed, STREAM_SCALE, place->row);
    for (size_t i = 0; i < place->hidden; i++) {
        bool large = place->row % 2 == 0 ? i % 2 == 1 : i >= place->hidden / 2;
        x[i] = (float)((large ? 1e6 : 1e-6) * (1 + random_uniform(&random, i) / 8));
    }
}

/* Student's t with two degrees of freedom in even rows, by its quantile (2u - 1) / sqrt(2u(1 - u));
 * with one (Cauchy) in odd ones, as the ratio of two normal draws. */
void make_heavy_tails(const input_place *place, float *x)
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
void make_massive_activations(const input_place *place, float *x)
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
void make_overflow(const input_place *place, float *x)
{
    enum { LEAST = 62, STEP = 4, ROWS = 17 };
    int exponent = LEAST + STEP * (int)(place->row % ROWS);
    double scale = power_of_two(exponent < 127 ? exponent : 127);
    random_row random = random_row_begin(place->seed, STREAM_SCALE, place->row);
    for (size_t i = 0; i < place->hidden; i++) {
        uint32_t bits = random_bits(&random, i);
        double size = scale * (1 + (double)(bits >> 9) * 0x1p-23);
        x[i] = (float)(bits & 1 ? size : -size);
    }
}

/* Normal rows times 2^-58 to 2^-130: squares become subnormal, then 0, then the elements themselves
 * subnormal. */
void make_underflow(const input_place *place, float *x)
{
    enum { MOST = -58, STEP = 4, ROWS = 19 };
    double scale = power_of_two(MOST - STEP * (int)(place->row % ROWS));
    random_row random = random_row_begin(place->seed, STREAM_SCALE, place->row);
    for (size_t i = 0; i < place->hidden; i++)
        x[i] = (float)(random_normal(&random, i) * scale);
}

/* Normal rows, which the tiny gamma of this family makes subnormal; in odd rows times 2^-142, which
 * eps makes small where there is one, whatever gamma is. */
void make_subnormal_out(const input_place *place, float *x)
{
    double scale = place->row % 2 == 0 ? 1 : 0x1p-142;
    random_row random = random_row_begin(place->seed, STREAM_SCALE, place->row);
    for (size_t i = 0; i < place->hidden; i++)
        x[i] = (float)(random_normal(&random, i) * scale);
}

/* Normal rows whose variance is an eighth, 1 or 8 times one of the eps in use. */
void make_var_near_eps(const input_place *place, float *x)
{
    static const double eps[6] = {1e-5, 1e-3, 1e-6, 1e-8, 1e-12, 1e-10};
    static const double times[3] = {1, 0.125, 8};
    double scale = sqrt(eps[place->row % 6] * times[place->row / 6 % 3]);
    random_row random = random_row_begin(place->seed, STREAM_SCALE, place->row);
    for (size_t i = 0; i < place->hidden; i++)
        x[i] = (float)(random_normal(&random, i) * scale);
}
