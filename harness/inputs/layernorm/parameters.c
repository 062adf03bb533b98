/* Gamma and beta: those that every input has, and families that hurt by them, with the rows that go with them. Integers and + - * / sqrt
 * only (see draws.c). */
#include "inputs/families.h"
#include "inputs/draws.h"
#include "inputs/typed.h"
#include "metrics/storage.h"
#include <math.h>

/* The scalars are fixed: gamma in the middle of a binade, so that it does not hide a difference of
 * conventions in the rounding, and neither is a power of two. */
static const float scalar_gamma = 1.4375F + 0x1p-20F, scalar_beta = -0.15F;

static void fill_gamma(ln_affine affine, uint64_t seed, size_t hidden, float *gamma)
{
    random_row random = random_row_begin(seed, STREAM_GAMMA, 0);
    for (size_t i = 0; i < hidden; i++) {
        double g = random_normal(&random, i) * 0.25;
        gamma[i] = (float)(affine == LN_AFFINE_GAMMA1 ? g : 1 + g);
    }
    if (hidden > 1 && gamma[0] == gamma[1])
        gamma[1] += 0.125F;
}

static void fill_beta(uint64_t seed, size_t hidden, float *beta)
{
    random_row random = random_row_begin(seed, STREAM_BETA, 0);
    for (size_t i = 0; i < hidden; i++)
        beta[i] = (float)(random_normal(&random, i) * 0.25);
    if (hidden > 1 && beta[0] == beta[1])
        beta[1] += 0.125F;
}

void input_affine(const ln_convention *convention, uint64_t seed, size_t hidden,
                  float *const made[ROLES_MOST])
{
    float *gamma = made[ROLE_GAMMA], *beta = made[ROLE_BETA];
    if (convention->affine == LN_AFFINE_SCALAR) {
        *gamma = scalar_gamma;
        *beta = scalar_beta;
        return;
    }
    if (ln_has_gamma(convention->affine))
        fill_gamma(convention->affine, seed, hidden, gamma);
    if (ln_has_beta(convention->affine))
        fill_beta(seed, hidden, beta);
}

/* What stands in the gamma tensor for a factor: gamma1 stores one less. */
static float stored(const ln_convention *convention, double gamma)
{
    return (float)(convention->affine == LN_AFFINE_GAMMA1 ? gamma - 1 : gamma);
}

static size_t length_of(const ln_convention *convention, size_t hidden)
{
    return ln_parameter_elements(convention->affine, hidden);
}

/* A normal draw in multiples of 2^-12: whole numbers up to 2^11 may be added to it in f32 without
 * rounding. */
static double coarse_normal(random_row *random, size_t column)
{
    double z = random_normal(random, column) * 0x1p12;
    return (double)(long)z * 0x1p-12;
}

/* One row at offsets 0, 1, 2, 4, ... 1024: the additions are exact, so that xhat is the same in all
 * of them. */
void make_affine_cancellation(const input_place *place, float *x)
{
    enum { OFFSETS = 12 };
    size_t turn = place->row % OFFSETS;
    double offset = turn == 0 ? 0 : (double)(1U << (turn - 1));
    random_row random = random_row_begin(place->seed, STREAM_CANCEL, 0);
    for (size_t i = 0; i < place->hidden; i++)
        x[i] = (float)(coarse_normal(&random, i) + offset);
}

/* xhat of those rows in double: sums of multiples of 2^-24 are exact here. */
static double cancelled_rstd(const ln_convention *convention, random_row *random, size_t hidden,
                             double *mean)
{
    double n = (double)hidden, sum = 0, squares = 0;
    for (size_t i = 0; i < hidden; i++) {
        double z = coarse_normal(random, i);
        sum += z;
        squares += z * z;
    }
    *mean = sum / n;
    double var = (squares - sum * *mean) / (n - (convention->ddof && hidden > 1 ? 1 : 0));
    double std = convention->eps_place == LN_EPS_VAR ? sqrt(var + convention->eps) : sqrt(var);
    if (convention->eps_place == LN_EPS_STD)
        std += convention->eps;
    return std > 0 ? 1 / std : 0;
}

/* beta is -gamma * xhat rounded: what is left of y is the rounding of beta, and the kernel's
 * errors.
 */
void parameters_cancelling(const ln_convention *convention, uint64_t seed, size_t hidden,
                           float *const made[ROLES_MOST])
{
    float *gamma = made[ROLE_GAMMA], *beta = made[ROLE_BETA];
    double mean, added = convention->eps_place == LN_EPS_QUOTIENT ? convention->eps : 0;
    random_row random = random_row_begin(seed, STREAM_CANCEL, 0);
    double rstd = cancelled_rstd(convention, &random, hidden, &mean);
    input_affine(convention, seed, hidden, made);
    if (!ln_has_beta(convention->affine))
        return;
    random = random_row_begin(seed, STREAM_CANCEL, 0);
    for (size_t i = 0; i < length_of(convention, hidden); i++) {
        double factor = convention->affine == LN_AFFINE_GAMMA1 ? 1 + (double)gamma[i] : gamma[i];
        beta[i] = (float)-(factor * ((coarse_normal(&random, i) - mean) * rstd + added));
    }
}

/* 2^-40 to 2^40, of either sign, drawn for each channel. */
static double wide(random_row *random, size_t column)
{
    uint32_t bits = random_bits(random, column);
    double size = (1 + (double)(bits >> 9) * 0x1p-23) * (double)(UINT64_C(1) << bits % 81 / 2) *
                  (double)(UINT64_C(1) << (bits % 81 + 1) / 2) * 0x1p-40;
    return bits >> 8 & 1 ? size : -size;
}

void parameters_wide(const ln_convention *convention, uint64_t seed, size_t hidden,
                     float *const made[ROLES_MOST])
{
    float *gamma = made[ROLE_GAMMA], *beta = made[ROLE_BETA];
    random_row gammas = random_row_begin(seed, STREAM_WIDE, 0);
    random_row betas = random_row_begin(seed, STREAM_WIDE, 1);
    for (size_t i = 0; i < length_of(convention, hidden); i++) {
        gamma[i] = stored(convention, wide(&gammas, i));
        beta[i] = (float)wide(&betas, i);
    }
}

/* gamma 2^-131 to 2^-130 and beta smaller still. gamma1 can't hold such factors: 2^-24 it is there.
 */
void parameters_subnormal(const ln_convention *convention, uint64_t seed, size_t hidden,
                          float *const made[ROLES_MOST])
{
    float *gamma = made[ROLE_GAMMA], *beta = made[ROLE_BETA];
    random_row random = random_row_begin(seed, STREAM_SCALE, 0);
    for (size_t i = 0; i < length_of(convention, hidden); i++) {
        double u = random_uniform(&random, i);
        bool one = convention->affine == LN_AFFINE_GAMMA1;
        gamma[i] = one ? -1 + 0x1p-24F : (float)((1 + u) * 0x1p-131);
        beta[i] = (float)((u - 0.5) * 0x1p-133);
    }
}

/* m + s and m - s in turn, s from 1 to 2^17 and m a small multiple of it: mean and deviation are
 * exact where hidden is even, and xhat is +-1 without eps, and nearer to it than 53 bits tell where
 * s is large. */
void make_ties(const input_place *place, float *x)
{
    double s = (double)(1U << place->row % 18), m = (double)(place->row % 4) * 3 * s;
    for (size_t i = 0; i < place->hidden; i++)
        x[i] = (float)(i % 2 == 0 ? m + s : m - s);
}

/* 1 + j 2^-23 with j > 0, and half of its last place: their sum and their difference lie midway
 * between two floats. */
void parameters_of_ties(const ln_convention *convention, uint64_t seed, size_t hidden,
                        float *const made[ROLES_MOST])
{
    float *gamma = made[ROLE_GAMMA], *beta = made[ROLE_BETA];
    random_row random = random_row_begin(seed, STREAM_WIDE, 0);
    for (size_t i = 0; i < length_of(convention, hidden); i++) {
        uint32_t bits = random_bits(&random, i);
        gamma[i] = stored(convention, 1 + (double)(1 + (bits >> 10)) * 0x1p-23);
        beta[i] = bits & 1 ? 0x1p-24F : -0x1p-24F;
    }
}

void parameters_of_typed_ties(const operation_call *call, uint64_t seed)
{
    const ln_convention *convention = &call->problem.convention;
    ln_type type = call->problem.param;
    void *gamma = call->inputs[ROLE_GAMMA], *beta = call->inputs[ROLE_BETA];
    size_t count = length_of(convention, call->problem.hidden);
    int precision = type == LN_F64 ? 53 : type == LN_BF16 ? 8 : 11;
    double ulp = ldexp(1, 1 - precision), one = convention->affine == LN_AFFINE_GAMMA1 ? 0 : 1;
    random_row random = random_row_begin(seed, STREAM_WIDE, 0);
    for (size_t i = 0; i < count; i++) {
        uint32_t bits = random_bits(&random, i);
        uint64_t j = 1 + (mix(bits) >> (66 - precision)); /* up to a quarter of 2^precision */
        if (gamma)
            storage_store(type, gamma, i, one + (double)j * ulp);
        if (beta)
            storage_store(type, beta, i, bits & 1 ? 0.5 * ulp : -0.5 * ulp);
    }
    if (gamma)
        parameters_tell_apart(type, count, gamma);
}
