/* Offset rows of a type other than f32, by the method of offset.c: a normal row, centred and
 * scaled to a standard deviation of 1, shifted by sqrt(kappa^2 - 1); and where neighbouring numbers
 * of the type lie far apart there, scaled so that what the type holds has the kappa asked for.
 *
 * A row of N numbers of p bits of which one lies an ulp from the others has kappa 2^p N / sqrt(N -
 * 1) at most, so that the sweep's end is the type's: nine kappas in equal ratios from 1 to
 * 1e3 (bf16), 1e4 (f16) and 1e16 (f64); the family kappa goes to the very end. */
#include "inputs/families.h"
#include "inputs/draws.h"
#include "inputs/typed.h"
#include "metrics/storage.h"
#include <math.h>

enum { SEARCH_STEPS = 28 };

/* kappa of one step of the sweep over that of the step before: by sqrt alone, which is the same
 * everywhere. */
static double ratio_of(ln_type type)
{
    if (type == LN_BF16)
        return sqrt(sqrt(sqrt(1000)));
    return type == LN_F16 ? sqrt(10) : type == LN_F64 ? 100 : 10;
}

static const int precision[] = {[LN_F32] = 24, [LN_F64] = 53, [LN_BF16] = 8, [LN_F16] = 11};

/* The most that type and hidden can have, which the last row has; f16's range ends sooner at a
 * deviation of 1, and so do the rows before it. */
static double kappa_of_end(const typed_place *place)
{
    double n = (double)place->hidden, spread = n > 1 ? n / sqrt(n - 1) : 1;
    double most = ldexp(spread, precision[place->type]);
    return place->type == LN_F16 && most > 0x1p15 ? 0x1p15 : most;
}

static double sweep_kappa(const typed_place *place)
{
    int rows = place->to_the_end ? KAPPA_ROWS : KAPPA_SWEEP_LENGTH;
    double ratio =
        place->to_the_end ? root_of(kappa_of_end(place), rows - 1) : ratio_of(place->type);
    double kappa = 1;
    for (size_t step = place->row % (size_t)rows; step > 0; step--)
        kappa *= ratio;
    return kappa;
}

double typed_kappa_most(ln_type type)
{
    return type == LN_BF16 ? 1e3 : type == LN_F16 ? 1e4 : type == LN_F64 ? 1e16 : 1e8;
}

static double rounded(ln_type type, double value)
{
    double room;
    storage_store(type, &room, 0, value);
    return storage_load(type, &room, 0);
}

/* kappa of the row that this scale makes; differences from the shift are exact. */
static double realised_kappa(const typed_place *place, const double *z, double shift, double scale)
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

/* By bisection, since kappa falls where the scale rises. */
static double search_scale(const typed_place *place, const double *z, double shift, double low,
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

/* The row of largest kappa, as make_top() of offset.c makes it for f32: all elements at the
 * top of a binade, u apart, but one that is u less. */
static void top_row(const typed_place *place, void *x)
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

void typed_offset_row(const typed_place *place, double *z, void *x)
{
    if (place->to_the_end && place->row % KAPPA_ROWS == KAPPA_ROWS - 1) {
        top_row(place, x);
        return;
    }
    double n = (double)place->hidden, sum = 0, squares = 0;
    double kappa = place->kappa > 0 ? place->kappa : sweep_kappa(place);
    random_row random = random_row_begin(place->seed, STREAM_OFFSET, place->row);
    for (size_t i = 0; i < place->hidden; i++) {
        z[i] = random_normal(&random, i);
        sum += z[i];
    }
    for (size_t i = 0; i < place->hidden; i++) {
        z[i] -= sum / n;
        squares += z[i] * z[i];
    }
    double shift = rounded(place->type, sqrt((kappa - 1) * (kappa + 1)));
    double scale = squares > 0 ? 1 / sqrt(squares / n) : 1;
    double ulp = ldexp(shift, 1 - precision[place->type]); /* or less */
    if (ulp > 0x1p-10) /* else the row has the kappa within a thousandth */
        scale = search_scale(place, z, shift, scale / 4, scale * 32 + ulp, kappa);
    for (size_t i = 0; i < place->hidden; i++) {
        double made = rounded(place->type, shift + scale * z[i]);
        storage_store(place->type, x, i, place->row % 2 == 0 ? made : -made);
    }
}
