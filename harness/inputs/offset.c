/* Rows of a given condition number kappa = sqrt(sum x^2 / (N var)) = sqrt(1 + mean^2 / var).
 *
 * A normal row, centred and scaled to standard deviation s, is shifted by M = sqrt(kappa^2 - 1).
 * With s = 1 that is kappa, until the rounding of M + s z to f32 makes a difference: at kappa 1e8
 * neighbouring floats lie 8 apart, and the variance is that of a few elements that round to
 * another float. There s is searched for so that the row that f32 can hold has the kappa asked
 * for, as near as the scaling of this row can bring it: within 1 % from hidden 64 on up to 1e7 (a
 * row of two elements that differ by one float has kappa 2^24 to 2^25 and no more). */
#include "inputs/families.h"
#include "inputs/draws.h"
#include <math.h>

enum { SEARCH_STEPS = 28 };

double kappa_of_sweep(size_t row)
{
    double kappa = 1;
    for (size_t i = row % KAPPA_SWEEP_LENGTH; i > 0; i--)
        kappa *= 10;
    return kappa;
}

static float shifted(double shift, double scale, double z)
{
    return (float)(shift + scale * z);
}

/* kappa of the row that shifted() makes from z; infinite where all its elements are equal.
 * Differences from the shift, itself a float, are exact. */
static double realised_kappa(const float *z, size_t hidden, double centre, double shift,
                             double scale)
{
    double sum = 0, squares = 0, n = (double)hidden;
    for (size_t i = 0; i < hidden; i++) {
        double difference = (double)shifted(shift, scale, z[i] - centre) - shift;
        sum += difference;
        squares += difference * difference;
    }
    double mean = shift + sum / n, var = (squares - sum * (sum / n)) / n;
    return var > 0 ? sqrt(mean * mean / var + 1) : INFINITY;
}

/* The scale between low and high that comes nearest to kappa: by bisection, since kappa falls where
 * the scale rises. */
static double search_scale(const float *z, size_t hidden, double centre, double shift, double low,
                           double high, double kappa)
{
    double best = high, best_ratio = INFINITY;
    for (int i = 0; i < SEARCH_STEPS; i++) {
        double middle = sqrt(low * high);
        double found = realised_kappa(z, hidden, centre, shift, middle);
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

/* A normal row, what to subtract to centre it, and what to multiply by for a deviation of 1. */
static void normal_row(const input_place *place, float *x, double *centre, double *scale)
{
    double n = (double)place->hidden, sum = 0, squares = 0;
    random_row random = random_row_begin(place->seed, STREAM_OFFSET, place->row);
    for (size_t i = 0; i < place->hidden; i++) {
        x[i] = (float)random_normal(&random, i);
        sum += x[i];
    }
    *centre = sum / n;
    for (size_t i = 0; i < place->hidden; i++)
        squares += (x[i] - *centre) * (x[i] - *centre);
    *scale = squares > 0 ? 1 / sqrt(squares / n) : 1;
}

static void shift_row(const input_place *place, float *x, double centre, double shift, double scale)
{
    for (size_t i = 0; i < place->hidden; i++) {
        float made = shifted(shift, scale, x[i] - centre);
        x[i] = place->row % 2 == 0 ? made : -made;
    }
}

void make_offset(const input_place *place, float *x)
{
    double kappa = place->kappa > 0 ? place->kappa : kappa_of_sweep(place->row);
    double centre, scale, shift = (float)sqrt((kappa - 1) * (kappa + 1));
    normal_row(place, x, &centre, &scale);
    /* 32 is enough to move an element to the next float: the shift is below 2^27, whose floats lie
     * 8 apart. */
    if (shift > 0x1p13)
        scale = search_scale(x, place->hidden, centre, shift, scale / 4, scale * 32, kappa);
    shift_row(place, x, centre, shift, scale);
}

/* The row of largest kappa: all elements at the top of a binade of floats, u apart, but one that is
 * u less. Its deviation is u sqrt(N - 1) / N, so that kappa is nearly 2^24 N / sqrt(N - 1). u is
 * the power of two that brings the deviation nearest to 1. */
static void make_top(const input_place *place, float *x)
{
    double n = (double)place->hidden, u = 1, deviation = n > 1 ? sqrt(n - 1) / n : 1;
    while (u * deviation < 0x1p-1)
        u *= 2;
    for (size_t i = 0; i < place->hidden; i++)
        x[i] = (float)((0x1p24 - 1) * u);
    random_row random = random_row_begin(place->seed, STREAM_CHOICE, place->row);
    x[random_bits(&random, 0) % place->hidden] = (float)((0x1p24 - 2) * u);
}

double root_of(double product, int count)
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

/* From 1 to the most that f32 and this hidden can have, in KAPPA_ROWS - 1 equal ratios, the
 * deviation near 1 all the way. */
void make_kappa(const input_place *place, float *x)
{
    size_t step = place->row % KAPPA_ROWS;
    double n = (double)place->hidden, most = n > 1 ? 0x1p24 * n / sqrt(n - 1) : 0x1p24;
    double kappa = 1, ratio = root_of(most, KAPPA_ROWS - 1), centre, scale;
    if (step == KAPPA_ROWS - 1) {
        make_top(place, x);
        return;
    }
    for (size_t i = 0; i < step; i++)
        kappa *= ratio;
    double shift = (float)sqrt((kappa - 1) * (kappa + 1));
    normal_row(place, x, &centre, &scale);
    /* Elements lie shift / 2^23 apart at most, and half of that moves one. */
    double high = scale * 32 + shift * 0x1p-22;
    if (shift > 0x1p13)
        scale = search_scale(x, place->hidden, centre, shift, scale / 4, high, kappa);
    shift_row(place, x, centre, shift, scale);
}
