/* A row's exact answer, from one pass of the certified reference, from which every candidate's follows; and
 * what sums may be off: the judge's limits of mean and rstd (row_limits.h), of the row without eps. */
#include "judge/fingerprint/internal.h"
#include "certify/rms_row.h"

/* The row as doubles and in the type that holds it; false: an element is not finite. */
static bool load_row(row_maker *maker, const reduction *over, const source *from, size_t group,
                     ln_type *type, exact_row *row)
{
    *type = LN_F32;
    for (size_t i = 0; i < over->length; i++) {
        double value = from->values[over->outer[group] + over->inner[i]];
        maker->values[i] = value;
        row->has_nan = row->has_nan || isnan(value);
        row->has_infinity = row->has_infinity || isinf(value);
        if ((double)(float)value != value)
            *type = LN_F64;
    }
    for (size_t i = 0; i < over->length; i++)
        storage_store(*type, maker->typed, i, maker->values[i]);
    return !row->has_nan && !row->has_infinity;
}

static double half_unit(int digits)
{
    return digits == WHICH_EXACT ? 0 : 0.5 * pow(10, -digits);
}

/* Half a unit of the last digit and what reading it back rounds; with a residual the same again. */
static double printed_radius(const which_input *input, double largest)
{
    if (input->x_digits == WHICH_EXACT)
        return 0;
    return half_unit(input->x_digits) * (input->residual ? 2 : 1) + 4 * largest * 0x1p-24;
}

/* x known to +-h: a deviation x_i - mean moves by 2 h (N - 1) / N at most, the root of the mean square of
 * centred numbers by h, and so does that of numbers that are not centred. */
static void widen_by_digits(double h, double n, bool centred, exact_row *row)
{
    double std = sqrt(row->square);
    row->shift += (centred ? 2 * h * (n - 1) / n : h) / std;
    row->lost += 2 * std * h + h * h;
}

/* What a rounding to f16 may be off a number below its normal ones. */
#define F16_LOST 0x1p-25

/* A mean that is off by d adds d^2 to the variance; below the normal numbers every deviation is off by what
 * they lose, and so is the mean. A square beyond f16 is infinite: the row tells nothing. */
static void round_steps(ln_type step, double mean, double reach, exact_row *row)
{
    double std = sqrt(row->square), off = 2 * unit_roundoff(step) * mean;
    row->lost += off * off;
    row->tells = step != LN_F16 || reach * reach < 0x1p15;
    if (step != LN_F16)
        return;
    row->shift += 2 * F16_LOST / std;
    row->lost += 4 * std * F16_LOST + 4 * F16_LOST * F16_LOST;
}

/* The root is that of other values: their mean square, in double. */
static void take_squares(const reduction *over, const source *from, size_t group, exact_row *row)
{
    double sum = 0;
    for (size_t i = 0; i < over->length; i++) {
        double value = from->squares[over->outer[group] + over->inner[i]];
        sum += value * value;
    }
    double ratio = sum / (double)over->length / row->square;
    row->lost *= ratio;
    for (size_t i = 0; i < over->length; i++)
        row->z[i] /= sqrt(ratio);
    row->square *= ratio;
    row->most /= sqrt(ratio);
}

void row_make(row_maker *maker, ln_operation kind, const reduction *over, const source *from,
              size_t group, exact_row *row)
{
    const ln_convention plain = {.operation = kind};
    const operation_judging *judging = judgings[kind];
    ln_reference_result result = {.rounded = maker->rounded, .exact = maker->z};
    row_limits limits;
    ln_type type;
    double n = (double)over->length;
    bool centred = kind == LN_OPERATION_LAYERNORM;
    *row = (exact_row){.length = over->length, .z = maker->z};
    if (!load_row(maker, over, from, group, &type, row)) {
        memcpy(row->z, maker->values, over->length * sizeof *row->z);
        return;
    }
    if (!(centred ? ln_reference_row(maker->reference, &plain, type, type, over->length,
                                     maker->typed, NULL, NULL, NULL, &result)
                  : ln_rms_reference_row(maker->reference, &plain, type, type, over->length,
                                         maker->typed, NULL, NULL, &result)))
        memory_is_out(over->length);
    const ln_row_facts *facts = &result.facts;
    metrics_row judged = {type, type,    over->length,   &plain, NULL,
                          NULL, &result, LN_AFFINE_NONE, false};
    const order_question asked = {.storage =
                                      type == LN_F64 && maker->sums == LN_F32 ? LN_F32 : type,
                                  .accumulator = maker->sums,
                                  .hidden = over->length,
                                  .convention = &plain};
    limits_of_row(judging, &maker->book, &asked, &judged, maker->values, &limits);
    const row_limits poorest =
        limits_poorest(judging, &maker->book, maker->sums, &judged, maker->values, &limits);
    double h = printed_radius(maker->input, facts->max_abs);
    double mean_off = centred ? poorest.statistics[ROLE_MEAN] : 0;
    double rho = poorest.statistics[ROLE_RSTD], unit = unit_roundoff(maker->sums);
    row->undefined = limits.textbook.undefined && h == 0;
    row->square = facts->var;
    row->constant = facts->var == 0 && from->shortened;
    row->tiny = maker->sums == LN_F64 ? 0x1p-1020 : 0x1p-124; /* what may be flushed, four times */
    if (maker->coarse) {
        unit = unit_roundoff(maker->step);
        rho += 4 * unit;
    }
    row->unit = unit;
    if (maker->coarse && maker->step == LN_F16) {
        row->tiny = 5 * F16_LOST;
        row->lost = row->undefined ? 0x1p-15 : row->tiny; /* the inverse of less is infinite */
    }
    /* Beyond 1/2 hardly a digit of the root is known. */
    if (!(facts->var > 0) || !(rho < 0.5) || !isfinite(mean_off))
        return;
    row->tells = true;
    double std = sqrt(facts->var), mean = centred ? fabs(facts->mean) : 0;
    double reach = centred ? facts->max_dev : facts->max_abs;
    row->most = result.max_xhat;
    row->lost += facts->var * (1 / ((1 - rho) * (1 - rho)) - 1);
    row->shift = (mean_off + 6 * unit * (mean + reach + mean_off)) / std;
    if (maker->coarse)
        round_steps(maker->step, mean, reach, row);
    if (h > 0)
        widen_by_digits(h, n, centred, row);
    if (from->squares)
        take_squares(over, from, group, row);
}
