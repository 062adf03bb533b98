#include "audit_rows.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

const char *const audit_kind_names[AUDIT_KINDS] = {
    "normal",        "offset",         "constant",    "spike",      "huge",
    "subnormal",     "small integers", "alternating", "two-valued", "any float",
    "near-constant", "ties",           "zeros"};

const ln_convention audit_presets[AUDIT_PRESETS] = {
    {0, LN_EPS_VAR, 1e-5, LN_AFFINE_VECTOR}, {0, LN_EPS_VAR, 1e-5, LN_AFFINE_GAMMA},
    {0, LN_EPS_VAR, 1e-5, LN_AFFINE_NONE},   {0, LN_EPS_VAR, 1e-6, LN_AFFINE_VECTOR},
    {0, LN_EPS_STD, 1e-5, LN_AFFINE_VECTOR}, {1, LN_EPS_NONE, 0.0, LN_AFFINE_NONE},
    {1, LN_EPS_STD, 1e-5, LN_AFFINE_SCALAR}, {1, LN_EPS_QUOTIENT, 1e-5, LN_AFFINE_SCALAR},
    {1, LN_EPS_STD, 1e-6, LN_AFFINE_VECTOR}, {0, LN_EPS_VAR, 1e-12, LN_AFFINE_VECTOR},
    {0, LN_EPS_VAR, 1e-3, LN_AFFINE_VECTOR},
};

unsigned long long audit_random(unsigned long long *state)
{
    unsigned long long z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Never two draws in one expression whose order C leaves open: a seed means the same rows with
 * every compiler. */
static unsigned below(unsigned long long *state, unsigned count)
{
    return (unsigned)(audit_random(state) % count);
}

/* Uniform in [-1, 1). */
static float uniform(unsigned long long *state)
{
    return (float)(audit_random(state) >> 40) * 0x1p-23f - 1.0f;
}

/* The sum of twelve uniforms, of variance 1: near enough to normal. */
static float normal(unsigned long long *state)
{
    float sum = 0;
    for (int i = 0; i < 12; i++) {
        sum += uniform(state);
    }
    return 0.5f * sum;
}

static float any_float(unsigned long long *state)
{
    uint32_t bits;
    do {
        bits = (uint32_t)audit_random(state);
    } while ((bits >> 23 & 255u) == 255u);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Half of the row c, half -c, so that xhat is 1 and -1 where eps is 0. */
static float plus_minus(size_t i, float c)
{
    return i % 2 == 0 ? c : -c;
}

/* Element i of a row of this kind; scale and offset are the row's own. */
static float draw_x(unsigned kind, size_t i, float offset, float first, unsigned long long *state)
{
    switch (kind) {
    case 0:
        return normal(state);
    case 1:
        return offset + normal(state);
    case 2:
        return first;
    case 3:
        return i == 0 ? 1000.0f * first : 0.5f;
    case 4:
        return 1e30f * normal(state);
    case 5:
        return (float)((int)below(state, 65536) - 32768) * 0x1p-149f;
    case 6:
        return (float)((int)below(state, 5) - 2);
    case 7:
        return plus_minus(i, 1.0f) * (i % 4 < 2 ? 1e6f : 1e-6f);
    case 8:
        return below(state, 2) ? first : 1.0f;
    case 9:
        return any_float(state);
    case 10:
        return i == 0 ? nextafterf(first, 2.0f * first) : first;
    default:
        return plus_minus(i, ldexpf(1.0f, (int)offset % 20));
    }
}

static void draw_parameters(audit_row *row, size_t i, unsigned kind, unsigned long long *state)
{
    float gamma = 1.0f + 0.5f * uniform(state);
    float beta = 0.5f * uniform(state);
    unsigned choice = below(state, 16);
    if (kind == 11) { /* 1 + an odd multiple of half an ulp, of float or of double */
        gamma = ldexpf(1.0f, (int)below(state, 5));
        beta = gamma * (float)(2 * (int)below(state, 4) + 1) * (choice < 8 ? 0x1p-24f : 0x1p-53f);
    } else if (kind == 12) {
        beta = choice < 8 ? gamma : -gamma;
    } else if (choice == 0) {
        gamma = any_float(state);
    } else if (choice == 1) {
        gamma = 0.0f;
    } else if (choice == 2) {
        beta = any_float(state);
    } else if (choice == 3) {
        gamma = -1.0f;
        beta = -0.0f;
    } else if (choice == 4) {
        gamma = (float)((int)below(state, 9) - 4);
        beta = -gamma;
    } else if (choice == 5) {
        gamma = (float)((int)below(state, 512) - 256) * 0x1p-149f;
        beta = (float)((int)below(state, 512) - 256) * 0x1p-149f;
    }
    row->gamma[i] = gamma;
    row->beta[i] = beta;
}

/* Where xhat is 1 and -1, or nearly so: ties and zeros exist, and what misses them by a hair. */
static void draw_rational_convention(audit_row *row, unsigned long long *state)
{
    static const double epsilons[] = {0x1p-298, 5e-324, 1e-40, 0x1p-149};
    row->convention = (ln_convention){
        .eps_place = (ln_eps_place)below(state, 3),
        .affine = LN_AFFINE_VECTOR,
    };
    if (row->convention.eps_place != LN_EPS_NONE) {
        row->convention.eps = epsilons[below(state, sizeof epsilons / sizeof epsilons[0])];
    }
}

static void draw_convention(audit_row *row, unsigned kind, unsigned long long *state)
{
    static const double epsilons[] = {0.0,    1e-5,     1e-12, 1e-3,  1.0,      0x1p-20,
                                      5e-324, 0x1p-298, 1e300, 1e-40, 0x1p-149, 0.1};
    if (kind >= 11 && below(state, 4) > 0) {
        draw_rational_convention(row, state);
        return;
    }
    if (below(state, 3) > 0) {
        row->convention = audit_presets[below(state, AUDIT_PRESETS)];
        return;
    }
    row->convention.ddof = (int)below(state, 2);
    row->convention.eps_place = (ln_eps_place)below(state, 4);
    row->convention.eps = epsilons[below(state, sizeof epsilons / sizeof epsilons[0])];
    row->convention.affine = (ln_affine)below(state, 5);
    if (row->convention.eps_place == LN_EPS_NONE) {
        row->convention.eps = 0.0;
    }
}

void audit_row_draw(audit_row *row, unsigned kind, unsigned long long *state)
{
    unsigned most = below(state, 4) == 0 ? 8 : AUDIT_MAX_HIDDEN;
    row->hidden = 1 + below(state, most);
    draw_convention(row, kind, state);
    if (kind >= 11 && row->hidden % 2 == 1) {
        row->hidden++;
    }
    float offset = 1.0f + 0.5f * uniform(state);
    offset = ldexpf(offset, (int)below(state, 27));
    float first = normal(state);
    row->has_residual = below(state, 4) == 0;
    for (size_t i = 0; i < row->hidden; i++) {
        row->x[i] = draw_x(kind, i, offset, first, state);
        row->residual[i] = kind == 9 || kind >= 11 ? 0.0f : 0.25f * normal(state);
        draw_parameters(row, i, kind, state);
    }
}
