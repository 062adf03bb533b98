/* Compares computed rows with certified ones and proven bounds (layernorm_plugin.h).
 *
 * A kernel must not fail because of roundings here: `allowed` is computed in double with at most eight roundings and
 * from facts within one ulp, so it may be too low by a relative 2^-48, and the exact value is known to a relative 2^-53
 * (f64: to 2^-106, and its error to 2^-51). All of this is added to the allowed error. */
#include "metrics/metrics.h"

#include "exact/scale.h"

static const double slack_of_allowed = 1 + 0x1p-48;

/* Returns twice the smallest number of the type. */
static double least_addend(ln_type storage)
{
    return 2 * ln_ulp(storage, 0);
}

static long double allowed_error(const ln_bound *bound, const metrics_row *row, size_t i)
{
    return gamma_size(row, i) * (bound->xhat_abs + bound->affine_rel * max_xhat_of(row)) +
           bound->affine_rel * fabs(beta_at(row, i)) + least_addend(row->storage);
}

static bool makes_no_claim(const ln_bound *bound)
{
    return isinf(bound->xhat_abs) && bound->xhat_abs > 0;
}

/* Returns the allowed error with half a unit in the last place for the last rounding, if that is smaller. A number that
 * is rounded may be above the power of two after the scale, where units are twice as large; if it is less than one unit
 * above, it is rounded to that power. */
static long double allowed_rounded_last(long double allowed, type_format format, double scale)
{
    long double before = allowed - ldexpl(scale, -format.precision), reach = scale + before;
    double unit = ulp_in(format, scale), farther = ulp_in(format, (double)reach);
    if (reach < ldexpl(farther, format.precision - 1) + unit)
        farther = unit;
    return fminl(allowed, before + farther / 2);
}

static double largest_row_ulp(const ln_bound *bound, const metrics_row *row, bool rounded_last)
{
    type_format format = format_of(row->storage);
    if (makes_no_claim(bound)) {
        return INFINITY;
    }
    double largest = 0;
    for (size_t i = 0; i < row->hidden; i++) {
        if (!isfinite(load(row->storage, row->answer->rounded, i))) {
            continue;
        }
        double scale = element_scale(row, i);
        long double allowed = allowed_error(bound, row, i);
        if (rounded_last && isfinite(allowed)) {
            allowed = allowed_rounded_last(allowed, format, scale);
        }
        double row_ulp = (double)(allowed / ulp_in(format, scale));
        if (!(row_ulp <= largest)) { /* a NaN stays */
            largest = row_ulp;
        }
    }
    return largest;
}

double ln_bound_row_ulp(const ln_bound *bound, const metrics_row *row)
{
    return largest_row_ulp(bound, row, false);
}

double ln_bound_row_ulp_rounded_last(const ln_bound *bound, const metrics_row *row)
{
    return largest_row_ulp(bound, row, true);
}

/* Returns the largest finite number plus half of its ulp, from which on numbers round to infinity. For f64 this is not
 * a double, and the largest number is used instead. */
static double end_of_range(ln_type type)
{
    static const double ends[] = {
        [LN_F32] = 0x1.ffffffp+127, [LN_F64] = DBL_MAX, [LN_BF16] = 0x1.ffp+127, [LN_F16] = 65520};
    return ends[type];
}

/* Returns whether finite and infinite results are both right: the exact value is within the bound of the end of
 * the range, and a finite computed value is within the bound of the exact value (for
 * f64, whose exact value may exceed double: of the end). */
static bool may_be_infinite(const metrics_row *row, size_t i, double computed, long double allowed)
{
    double exact = row->answer->exact[i], end = end_of_range(row->storage);
    if (isnan(computed) || isnan(exact) || signbit(computed) != signbit(exact)) {
        return false;
    }
    double size = isinf(exact) ? end : fabs(exact);
    long double most = allowed * slack_of_allowed;
    return fabs(size - end) <= most && (isinf(computed) || fabs(fabs(computed) - size) <= most);
}

/* Returns whether gamma xhat exceeds the range although y does not, because of beta: a kernel that multiplies and adds
 * with two roundings then overflows. (16-bit floats are computed in longer types, which for f16 have a larger
 * range.) */
static bool product_may_overflow(const metrics_row *row, size_t i, double computed,
                                 long double allowed)
{
    if (!isinf(computed) || !has_beta(row) || row->storage == LN_F16) {
        return false;
    }
    double product = row->answer->exact[i] - beta_at(row, i);
    return signbit(product) == signbit(computed) &&
           fabs(product) + allowed * slack_of_allowed >= end_of_range(row->storage);
}

/* Returns |err| / allowed of one element, infinite for a wrong class. *holds: the error is allowed. */
static double used_of_bound(const ln_bound *bound, const metrics_row *row, size_t i,
                            double computed, bool *holds)
{
    double rounded = load(row->storage, row->answer->rounded, i);
    *holds = true;
    if (!same_class(computed, rounded)) {
        long double allowed = allowed_error(bound, row, i);
        *holds = may_be_infinite(row, i, computed, allowed) ||
                 product_may_overflow(row, i, computed, allowed);
        return *holds ? 1 : INFINITY;
    }
    if (!isfinite(computed)) {
        return 0;
    }
    long double allowed = allowed_error(bound, row, i), err = fabsl(error_of(row, i, computed));
    long double slack =
        (row->storage == LN_F64 ? 0x1p-106L : 0x1p-53L) * fabs(row->answer->exact[i]);
    *holds = err <= allowed * slack_of_allowed + slack; /* so that a NaN does not pass */
    return isnan(allowed) ? INFINITY : (double)(err / allowed);
}

bool ln_bound_holds(const ln_bound *bound, const metrics_row *row, const void *computed,
                    double *worst)
{
    *worst = 0;
    if (makes_no_claim(bound)) {
        return true;
    }
    bool all = true;
    for (size_t i = 0; i < row->hidden; i++) {
        bool holds;
        *worst =
            fmax(*worst, used_of_bound(bound, row, i, load(row->storage, computed, i), &holds));
        all = all && holds;
    }
    return all;
}
