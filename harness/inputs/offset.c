/* Rows of a given condition number kappa = sqrt(sum x^2 / (N var)) = sqrt(1 + mean^2 / var).
 *
 * A normal row, centred and scaled to standard deviation s, is shifted by M = sqrt(kappa^2 - 1).
 * With s = 1 that is kappa, until the rounding of M + s z to the type makes a difference: at kappa
 * 1e8 neighbouring floats lie 8 apart, and the variance is that of a few elements that round to
 * another float. There s is searched for so that the row that the type can hold has the kappa asked
 * for, as near as the scaling of this row can bring it: in f32 within 1 % from hidden 64 on up to
 * 1e7 (a row of two elements that differ by one float has kappa 2^24 to 2^25 and no more).
 *
 * A row of N numbers of p bits of which one lies an ulp from the others has kappa 2^p N / sqrt(N -
 * 1) at most, so that the sweep's end is the type's: nine kappas in equal ratios from 1 to 1e3
 * (bf16), 1e4 (f16), 1e8 (f32) and 1e16 (f64); the family kappa goes to the very end. */
#include "inputs/offset.h"
#include "inputs/draws.h"
#include "metrics/storage.h"
#include <math.h>

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
