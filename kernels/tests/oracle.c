/* Elements of every type, and LayerNorm of one row in about 113 bits (oracle.h). */
#include "oracle.h"

#include <math.h>
#include <string.h>

/* ---- Elements -------------------------------------------------------------------------------- */

size_t element_size(ln_type type)
{
    return type == LN_F64 ? sizeof(double) : type == LN_F32 ? sizeof(float) : sizeof(uint16_t);
}

const char *element_name(ln_type type)
{
    static const char *const names[] = {
        [LN_F32] = "f32", [LN_F64] = "f64", [LN_BF16] = "bf16", [LN_F16] = "f16"};
    return names[type];
}

format element_format(ln_type type)
{
    static const format formats[] = {[LN_F32] = {24, -126, 127, 0x1p-149},
                                     [LN_F64] = {53, -1022, 1023, 0x1p-1074},
                                     [LN_BF16] = {8, -126, 127, 0x1p-133},
                                     [LN_F16] = {11, -14, 15, 0x1p-24}};
    return formats[type];
}

/* Returns 2^exponent, which must be normal. With ldexp() a test would take several times as long. */
static double power(int exponent)
{
    uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

double element_rounded(ln_type type, double value)
{
    format kind = element_format(type);
    if (type == LN_F64 || !isfinite(value) || value == 0)
        return value;
    int exponent = ilogb(value) > kind.least ? ilogb(value) : kind.least;
    double rounded = rint(value * power(kind.bits - 1 - exponent)) /* ties to even */
                     * power(exponent - kind.bits + 1);
    return fabs(rounded) < power(kind.most + 1) ? rounded : copysign(INFINITY, value);
}

/* Returns the bits of a 16-bit number: its sign, exponent and fraction. */
static uint16_t bits_of(format kind, double value)
{
    int fraction = kind.bits - 1;
    unsigned sign = signbit(value) ? 0x8000u : 0;
    unsigned infinity = (unsigned)(kind.most - kind.least + 2) << fraction;
    double size = fabs(value);
    if (isnan(value))
        return (uint16_t)(sign | infinity | 1u << (fraction - 1));
    if (isinf(value))
        return (uint16_t)(sign | infinity);
    if (size < power(kind.least))
        return (uint16_t)(sign | (unsigned)(size * power(fraction - kind.least)));
    unsigned field = (unsigned)(ilogb(size) - kind.least + 1);
    double part = size * power(fraction - ilogb(size)) - power(fraction);
    return (uint16_t)(sign | field << fraction | (unsigned)part);
}

static double value_of(format kind, uint16_t bits)
{
    int fraction = kind.bits - 1;
    unsigned field = (bits & 0x7fffu) >> fraction, part = bits & ((1u << fraction) - 1);
    double size;
    if ((int)field == kind.most - kind.least + 2)
        size = part ? NAN : INFINITY;
    else if (field == 0)
        size = part * kind.smallest;
    else
        size = (part + (1u << fraction)) * power((int)field - 1 + kind.least - fraction);
    return bits & 0x8000u ? -size : size;
}

double element_get(ln_type type, const void *elements, size_t i)
{
    if (type == LN_F64)
        return ((const double *)elements)[i];
    if (type == LN_F32)
        return (double)((const float *)elements)[i];
    return value_of(element_format(type), ((const uint16_t *)elements)[i]);
}

void element_put(ln_type type, void *elements, size_t i, double value)
{
    if (type == LN_F64)
        ((double *)elements)[i] = value;
    else if (type == LN_F32)
        ((float *)elements)[i] = (float)value;
    else
        ((uint16_t *)elements)[i] = bits_of(element_format(type), element_rounded(type, value));
}

void elements_store(ln_type type, void *elements, double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        element_put(type, elements, i, values[i]);
        values[i] = element_get(type, elements, i);
    }
}

/* ---- The oracle ------------------------------------------------------------------------------ */

uint64_t numbers_next(numbers *draws)
{
    uint64_t z = draws->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

double numbers_uniform(numbers *draws)
{
    return ((double)(numbers_next(draws) >> 11) + 0.5) * 0x1p-53;
}

double numbers_normal(numbers *draws)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += numbers_uniform(draws);
    return sum;
}

static quad quad_square_root(quad a)
{
    if (!(a > 0))
        return a == 0 ? 0 : (quad)NAN;
    quad scale = 1;
    for (; a > 0x1p1000; a /= 0x1p200 * (quad)0x1p200)
        scale *= 0x1p200;
    for (; a < 0x1p-1000; a *= 0x1p200 * (quad)0x1p200)
        scale /= 0x1p200;
    quad root = (quad)sqrt((double)a);
    for (int i = 0; i < 3; i++) /* each Newton step doubles the 53 digits */
        root = (root + a / root) / 2;
    return root * scale;
}

/* Returns the number to which gamma is added: 1 or 0. */
static double gamma_origin(const ln_convention *convention)
{
    return convention->affine == LN_AFFINE_NONE || convention->affine == LN_AFFINE_GAMMA1;
}

static double gamma_of(const ln_convention *convention, const double *gamma, size_t i)
{
    if (convention->affine == LN_AFFINE_NONE)
        return 0;
    return gamma[convention->affine == LN_AFFINE_SCALAR ? 0 : i];
}

static double beta_of(const ln_convention *convention, const double *beta, size_t i)
{
    if (convention->affine == LN_AFFINE_NONE || convention->affine == LN_AFFINE_GAMMA)
        return 0;
    return beta[convention->affine == LN_AFFINE_SCALAR ? 0 : i];
}

/* Converts a fact that is not negative to double; 0 only if it is exactly 0. */
static double fact_of(quad a)
{
    return a > 0 && (double)a == 0 ? 0x1p-1074 : (double)a;
}

static quad find_facts(const ln_convention *convention, size_t hidden, const double *x, oracle *out,
                       quad *rstd)
{
    quad sum = 0, absolute = 0, squares = 0;
    double largest = 0, deviation = 0;
    for (size_t i = 0; i < hidden; i++) {
        sum += (quad)x[i];
        absolute += (quad)fabs(x[i]);
        largest = isnan(x[i]) ? NAN : fmax(largest, fabs(x[i]));
        if (!isfinite(x[i]))
            out->is_nan = true;
    }
    quad mean = sum / (quad)hidden;
    for (size_t i = 0; i < hidden; i++) {
        squares += ((quad)x[i] - mean) * ((quad)x[i] - mean);
        quad off = (quad)x[i] - mean;
        deviation = fmax(deviation, fact_of(off < 0 ? -off : off));
    }
    quad var = squares / ((quad)hidden - (quad)convention->ddof);
    quad eps = (quad)convention->eps;
    quad divisor = convention->eps_place == LN_EPS_VAR   ? quad_square_root(var + eps)
                   : convention->eps_place == LN_EPS_STD ? quad_square_root(var) + eps
                                                         : quad_square_root(var);
    if (!(divisor > 0) || hidden == (size_t)convention->ddof)
        out->is_nan = true;
    *rstd = 1 / divisor;
    out->facts = (ln_row_facts){
        .mean = (double)mean,
        .mean_abs = fact_of(absolute / (quad)hidden),
        .max_abs = out->is_nan && !isfinite((double)sum) ? NAN : largest,
        .var = fact_of(squares / (quad)hidden),
        .max_dev = deviation,
        .rstd = out->is_nan ? NAN : (double)*rstd,
    };
    return mean;
}

void oracle_row(const ln_convention *convention, size_t hidden, const double *x,
                const double *gamma, const double *beta, exact_number *exact, oracle *out)
{
    *out = (oracle){0};
    quad rstd;
    quad mean = find_facts(convention, hidden, x, out, &rstd);
    quad quotient = convention->eps_place == LN_EPS_QUOTIENT ? (quad)convention->eps : 0;
    for (size_t i = 0; i < hidden; i++) {
        quad xhat = ((quad)x[i] - mean) * rstd + quotient;
        out->max_xhat = fmax(out->max_xhat, fabs((double)xhat));
        quad scale = (quad)gamma_of(convention, gamma, i) + gamma_origin(convention);
        quad y = scale * xhat + (quad)beta_of(convention, beta, i);
        exact[i].high = out->is_nan ? NAN : (double)y;
        exact[i].low = (double)(y - (quad)exact[i].high);
    }
}

/* Returns whether y may be infinite for this exact value: it is above the value from which the storage type
 * rounds to infinity, or below it by no more than `allowed`. */
static bool may_be_infinite(const claim *claimed, double exact, double y, double allowed)
{
    format kind = element_format(claimed->storage);
    double least = ldexp(1 - ldexp(1, -kind.bits - 1), kind.most) * 2;
    return signbit(y) == signbit(exact) && fabs(exact) + allowed >= least * (1 - 0x1p-50);
}

double claim_used(const claim *claimed, size_t i, double y)
{
    bool claims = isfinite(claimed->bound.xhat_abs);
    if (claimed->oracle->is_nan)
        return isnan(y) || !claims ? 0 : INFINITY;
    if (!claims)
        return 0;
    double g =
        fabs(gamma_of(claimed->convention, claimed->gamma, i) + gamma_origin(claimed->convention));
    double b = fabs(beta_of(claimed->convention, claimed->beta, i));
    double allowed = g * claimed->bound.xhat_abs +
                     claimed->bound.affine_rel * (g * claimed->oracle->max_xhat + b) +
                     2 * element_format(claimed->storage).smallest;
    if (isinf(y))
        return may_be_infinite(claimed, claimed->exact[i].high, y, allowed) ? 0 : INFINITY;
    double share = fabs(y - claimed->exact[i].high - claimed->exact[i].low) / allowed;
    return isnan(share) ? INFINITY : share;
}

size_t claim_first_breach(const claim *claimed, const void *y)
{
    for (size_t i = 0; i < claimed->hidden; i++)
        if (claim_used(claimed, i, element_get(claimed->storage, y, i)) > 1)
            return i;
    return claimed->hidden;
}

double claim_most_used(const claim *claimed, const void *y)
{
    double most = 0;
    for (size_t i = 0; i < claimed->hidden; i++)
        most = fmax(most, claim_used(claimed, i, element_get(claimed->storage, y, i)));
    return most;
}
