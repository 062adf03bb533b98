/* What the metrics and the bounds share: elements of any type as doubles, classes, ulps, and the
 * size of what was added up. */
#ifndef LN_SCALE_H
#define LN_SCALE_H

#include "metrics/metrics.h"
#include "metrics/storage.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Both NaN, both finite, or the same infinity. */
static inline bool same_class(double a, double b)
{
    if (isfinite(a) || isfinite(b)) {
        return isfinite(a) && isfinite(b);
    }
    return isnan(a) || isnan(b) ? isnan(a) && isnan(b) : signbit(a) == signbit(b);
}

/* storage_load, without a call for the types that are most judged. */
static inline double load(ln_type type, const void *values, size_t i)
{
    return type == LN_F32   ? (double)((const float *)values)[i]
           : type == LN_F64 ? ((const double *)values)[i]
                            : storage_load(type, values, i);
}

/* A type's precision p and least exponent emin. */
typedef struct type_format {
    int precision, least;
} type_format;

static inline type_format format_of(ln_type type)
{
    static const type_format formats[] = {
        [LN_F32] = {24, -126}, [LN_F64] = {53, -1022}, [LN_BF16] = {8, -126}, [LN_F16] = {11, -14}};
    return formats[type];
}

/* 2^exponent, from the smallest subnormal of double on. */
static inline double power_of_two(int exponent)
{
    enum { BIAS = 1023, FRACTION = 52, LEAST_NORMAL = -1022 };
    uint64_t bits = exponent >= LEAST_NORMAL ? (uint64_t)(exponent + BIAS) << FRACTION
                                             : 1ull << (exponent - LEAST_NORMAL + FRACTION);
    double power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

/* ulp(v); of an infinite v its size. */
static inline double ulp_in(type_format format, double v)
{
    enum { BIAS = 1023, FRACTION = 52, NOT_FINITE = 2047 };
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    int field = (int)(bits >> FRACTION) & NOT_FINITE;
    if (field == NOT_FINITE) {
        return fabs(v);
    }
    int exponent = field - BIAS > format.least ? field - BIAS : format.least;
    return power_of_two(exponent - format.precision + 1);
}

/* A number as a type holds it. */
static inline double stored_in(ln_type type, double value)
{
    double room;
    storage_store(type, &room, 0, value);
    return storage_load(type, &room, 0);
}

/* gamma_i as it multiplies: 1 + g under gamma1, rounded once to double; 1 where there is none. */
static inline double gamma_at(const metrics_row *row, size_t i)
{
    if (!ln_has_gamma(row->affine)) {
        return 1.0;
    }
    double stored = load(row->param, row->gamma, row->affine == LN_AFFINE_SCALAR ? 0 : i);
    if (row->affine != LN_AFFINE_GAMMA1) {
        return stored;
    }
    return row->rounds_factor ? stored_in(row->param, 1.0 + stored) : 1.0 + stored;
}

static inline double gamma_size(const metrics_row *row, size_t i)
{
    return fabs(gamma_at(row, i));
}

static inline bool has_beta(const metrics_row *row)
{
    return ln_has_beta(row->affine) && row->beta != NULL;
}

/* beta_i; 0 where there is none. */
static inline double beta_at(const metrics_row *row, size_t i)
{
    return has_beta(row) ? load(row->param, row->beta, row->affine == LN_AFFINE_SCALAR ? 0 : i)
                         : 0.0;
}

/* What a number has beyond its rounding to double, from its rest in ulp (ln_reference_result). It
 * may be less than any double, as may be what is made from it: a long double has the range. */
static inline long double left_of(double rounded, double rest)
{
    return (long double)rest * ulp_in(format_of(LN_F64), rounded);
}

static inline double rest_of(const metrics_row *row, size_t i)
{
    return row->storage == LN_F64 && row->answer->rest != NULL ? row->answer->rest[i] : 0;
}

static inline long double max_xhat_of(const metrics_row *row)
{
    return row->answer->max_xhat + left_of(row->answer->max_xhat, row->answer->max_xhat_rest);
}

/* Of an element whose exact value is 0 whatever the row holds: |gamma_i| max_j |xhat_j|, gamma_i = 0
 * standing for 1; and where each xhat is 0, max_j |x_j| rstd in its place. x - mean cannot be had
 * better than to u max|x| from a rounded mean (Chan, Golub, LeVeque 1983), times rstd. */
static inline double scale_of_zero(const metrics_row *row, double gamma)
{
    const ln_row_facts *facts = &row->answer->facts;
    long double xhat = max_xhat_of(row);
    xhat = xhat > 0 ? xhat : (long double)facts->max_abs * facts->rstd;
    return isfinite(xhat) ? (double)(xhat * (gamma > 0 ? gamma : 1)) : 0;
}

/* |gamma_i| max_j |xhat_j| + |beta_i|, within a few parts in 2^53, or where that is 0 the above; what
 * lies beyond double is its largest number. */
static inline double element_scale(const metrics_row *row, size_t i)
{
    double beta = fabs(beta_at(row, i)), gamma = gamma_size(row, i), xhat = row->answer->max_xhat;
    double scale = (xhat < 0x1p-900 ? (double)(gamma * max_xhat_of(row)) : gamma * xhat) + beta;
    scale = scale > 0 || isnan(scale) ? scale : scale_of_zero(row, gamma);
    return isinf(scale) ? DBL_MAX : scale;
}

/* computed - exact, rounded once or twice: of f64 the exact value is known to twice its bits. */
static inline long double error_of(const metrics_row *row, size_t i, double computed)
{
    double exact = row->answer->exact[i];
    return ((long double)computed - exact) - left_of(exact, rest_of(row, i));
}

/* That in units of a power of two. */
static inline double error_in(const metrics_row *row, size_t i, double computed, double unit)
{
    double exact = row->answer->exact[i], ulp = ulp_in(format_of(LN_F64), exact);
    return (computed - exact) / unit - rest_of(row, i) * (ulp / unit);
}

/* In ulp of the element's scale. */
static inline double row_ulp_of(const metrics_row *row, size_t i, double computed)
{
    return error_in(row, i, computed, ulp_in(format_of(row->storage), element_scale(row, i)));
}

#endif
