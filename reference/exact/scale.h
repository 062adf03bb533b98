/* Functions for metrics and bounds: elements of any type as doubles, classes, ulps, and the scale of an element. */
#ifndef LN_SCALE_H
#define LN_SCALE_H

#include "metrics/metrics.h"
#include "metrics/storage.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Returns whether two numbers are both NaN, both finite, or the same infinity. */
static inline bool same_class(double a, double b)
{
    if (isfinite(a) || isfinite(b)) {
        return isfinite(a) && isfinite(b);
    }
    return isnan(a) || isnan(b) ? isnan(a) && isnan(b) : signbit(a) == signbit(b);
}

/* Like storage_load(), but inline for the most frequent types. */
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

/* Returns ulp(v); infinite for an infinite v. */
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

/* Rounds a number to a type. */
static inline double stored_in(ln_type type, double value)
{
    double room;
    storage_store(type, &room, 0, value);
    return storage_load(type, &room, 0);
}

/* Returns the factor of xhat_i: gamma_i, 1 + g under gamma1, rounded once to double, or 1 without a gamma. */
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

/* Returns beta_i; 0 if there is none. */
static inline double beta_at(const metrics_row *row, size_t i)
{
    return has_beta(row) ? load(row->param, row->beta, row->affine == LN_AFFINE_SCALAR ? 0 : i)
                         : 0.0;
}

/* Returns the rest of a number after its rounding to double, from its rest in ulp (ln_reference_result). It and results
 * computed from it may be below the smallest double, so they are long doubles. */
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

/* Returns the scale of an element that is 0 for every row: |gamma_i| max_j |xhat_j|, with 1 for a gamma_i of 0,
 * or, if all xhat are 0, with max_j |x_j| rstd instead of max_j |xhat_j|: the error of x - mean with a rounded mean is
 * u max|x| (Chan, Golub, LeVeque 1983), times rstd. */
static inline double scale_of_zero(const metrics_row *row, double gamma)
{
    const ln_row_facts *facts = &row->answer->facts;
    long double xhat = max_xhat_of(row);
    xhat = xhat > 0 ? xhat : (long double)facts->max_abs * facts->rstd;
    return isfinite(xhat) ? (double)(xhat * (gamma > 0 ? gamma : 1)) : 0;
}

/* Returns the scale |gamma_i| max_j |xhat_j| + |beta_i|, with a relative error of a few 2^-53, or scale_of_zero() if
 * that is 0; at most the largest double. */
static inline double element_scale(const metrics_row *row, size_t i)
{
    double beta = fabs(beta_at(row, i)), gamma = gamma_size(row, i), xhat = row->answer->max_xhat;
    double scale = (xhat < 0x1p-900 ? (double)(gamma * max_xhat_of(row)) : gamma * xhat) + beta;
    scale = scale > 0 || isnan(scale) ? scale : scale_of_zero(row, gamma);
    return isinf(scale) ? DBL_MAX : scale;
}

/* Returns computed - exact, rounded once or twice: for f64 the exact value is known to 106 bits. */
static inline long double error_of(const metrics_row *row, size_t i, double computed)
{
    double exact = row->answer->exact[i];
    return ((long double)computed - exact) - left_of(exact, rest_of(row, i));
}

/* Returns the error in units of a power of two. */
static inline double error_in(const metrics_row *row, size_t i, double computed, double unit)
{
    double exact = row->answer->exact[i], ulp = ulp_in(format_of(LN_F64), exact);
    return (computed - exact) / unit - rest_of(row, i) * (ulp / unit);
}

/* Returns the error in row ULP: in ulp of the element's scale. */
static inline double row_ulp_of(const metrics_row *row, size_t i, double computed)
{
    return error_in(row, i, computed, ulp_in(format_of(row->storage), element_scale(row, i)));
}

#endif
