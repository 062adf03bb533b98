/* Rows of a given condition number kappa = sqrt(sum x^2 / (N var)) = sqrt(1 + mean^2 / var).
 *
 * A normal row, centred and scaled to standard deviation s, is shifted by M = sqrt(kappa^2 - 1).
 * With s = 1 that is kappa, until the rounding of M + s z to f32 makes a difference: at kappa 1e8
 * neighbouring floats lie 8 apart, and the variance is that of a few elements that round to
 * another float. There s is searched for so that the row that f32 can hold has the kappa asked
 * for, as near as the scaling of this row can bring it: within 1 % from hidden 64 on up to 1e7 (a
 * row of two elements that differ by one float has kappa 2^24 to 2^25 and no more). */
#include "inputs_families.h"
#include "inputs_random.h"
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

/* The scale, at most 32 times as large as `scale` or a quarter of it, that comes nearest to kappa:
 * by bisection, since kappa falls where the scale rises. 32 is enough to move an element to the
 * next float: the shift is below 2^27, whose floats lie 8 apart. */
static double search_scale(const float *z, size_t hidden, double centre, double shift, double scale,
                           double kappa)
{
    double low = scale / 4, high = scale * 32;
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

void make_offset(const input_place *place, float *x)
{
    size_t hidden = place->hidden;
    double kappa = place->kappa > 0 ? place->kappa : kappa_of_sweep(place->row);
    double n = (double)hidden, sum = 0, squares = 0;
    random_row random = random_row_begin(place->seed, STREAM_OFFSET, place->row);
    for (size_t i = 0; i < hidden; i++) {
        x[i] = (float)random_normal(&random, i);
        sum += x[i];
    }
    double centre = sum / n;
    for (size_t i = 0; i < hidden; i++)
        squares += (x[i] - centre) * (x[i] - centre);
    double shift = (float)sqrt((kappa - 1) * (kappa + 1));
    double scale = squares > 0 ? 1 / sqrt(squares / n) : 1;
    if (shift > 0x1p13)
        scale = search_scale(x, hidden, centre, shift, scale, kappa);
    for (size_t i = 0; i < hidden; i++) {
        float made = shifted(shift, scale, x[i] - centre);
        x[i] = place->row % 2 == 0 ? made : -made;
    }
}
