#include "audit_rows.h"

#include "audit_types.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

const char *const audit_kind_names[AUDIT_KINDS] = {
    "normal",        "offset",         "constant",    "spike",      "huge",
    "subnormal",     "small integers", "alternating", "two-valued", "any float",
    "near-constant", "ties",           "zeros"};

const ln_convention audit_presets[AUDIT_PRESETS] = {
    {.eps_place = LN_EPS_VAR, .eps = 1e-5, .affine = LN_AFFINE_VECTOR},
    {.eps_place = LN_EPS_VAR, .eps = 1e-5, .affine = LN_AFFINE_GAMMA},
    {.eps_place = LN_EPS_VAR, .eps = 1e-5},
    {.eps_place = LN_EPS_VAR, .eps = 1e-6, .affine = LN_AFFINE_VECTOR},
    {.eps_place = LN_EPS_STD, .eps = 1e-5, .affine = LN_AFFINE_VECTOR},
    {.ddof = 1, .eps = 0.0},
    {.ddof = 1, .eps_place = LN_EPS_STD, .eps = 1e-5, .affine = LN_AFFINE_SCALAR},
    {.ddof = 1, .eps_place = LN_EPS_QUOTIENT, .eps = 1e-5, .affine = LN_AFFINE_SCALAR},
    {.ddof = 1, .eps_place = LN_EPS_STD, .eps = 1e-6, .affine = LN_AFFINE_VECTOR},
    {.eps_place = LN_EPS_VAR, .eps = 1e-12, .affine = LN_AFFINE_VECTOR},
    {.eps_place = LN_EPS_VAR, .eps = 1e-3, .affine = LN_AFFINE_VECTOR},
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

/* Uniform in [-1, 1), in steps of 2^-51. */
static double uniform(unsigned long long *state)
{
    return (double)(audit_random(state) >> 12) * 0x1p-51 - 1.0;
}

/* The sum of twelve uniforms, of variance 1: near enough to normal. */
static double normal(unsigned long long *state)
{
    double sum = 0;
    for (int i = 0; i < 12; i++) {
        sum += uniform(state);
    }
    return 0.5 * sum;
}

/* What a type can bear. */
typedef struct type_traits {
    int bits;           /* of its significand */
    int octaves;        /* offsets up to 2^octaves: past kappa 2^bits where the range allows */
    double huge;        /* 6 times this is finite */
    double least;       /* the smallest number */
    unsigned denormals; /* so many multiples of it are subnormal, or 2^15 of them */
} type_traits;

static const type_traits traits[AUDIT_TYPES] = {
    [LN_F32] = {24, 27, 1e30, 0x1p-149, 32768},
    [LN_F64] = {53, 56, 1e300, 0x1p-1074, 32768},
    [LN_BF16] = {8, 11, 1e30, 0x1p-133, 127},
    [LN_F16] = {11, 14, 1e4, 0x1p-24, 1023},
};

/* Any finite number of the type. */
static double any_value(ln_type type, unsigned long long *state)
{
    double value;
    do {
        uint64_t bits = audit_random(state);
        bits >>= type == LN_F64 ? 0 : type == LN_F32 ? 32 : 48;
        value = audit_value(type, bits);
    } while (!isfinite(value));
    return value;
}

/* Half of the row c, half -c, so that xhat is 1 and -1 where eps is 0. */
static double plus_minus(size_t i, double c)
{
    return i % 2 == 0 ? c : -c;
}

static double whole_below(unsigned long long *state, unsigned count)
{
    return (double)below(state, 2 * count) - (double)count;
}

/* Element i of a row of this kind; offset and first are the row's own. */
static double draw_x(unsigned kind, ln_type type, size_t i, double offset, double first,
                     unsigned long long *state)
{
    const type_traits *t = &traits[type];
    switch (kind) {
    case 0:
        return normal(state);
    case 1:
        return offset + normal(state);
    case 2:
        return first;
    case 3:
        return i == 0 ? 1000 * first : 0.5;
    case 4:
        return t->huge * normal(state);
    case 5:
        return whole_below(state, t->denormals) * t->least;
    case 6:
        return (double)below(state, 5) - 2;
    case 7:
        return plus_minus(i, 1.0) * (i % 4 < 2 ? (type == LN_F16 ? 6e4 : 1e6) : 1e-6);
    case 8:
        return below(state, 2) ? first : 1.0;
    case 9:
        return any_value(type, state);
    case 10:
        return i == 0 ? first + ldexp(first, 1 - t->bits) : first;
    default:
        return plus_minus(i, ldexp(1.0, (int)fmod(offset, type == LN_F16 ? 15 : 20)));
    }
}

typedef struct parameters {
    double gamma, beta;
} parameters;

/* gamma and beta whose sum is 1 + an odd multiple of half an ulp, of the type or of double, times a
 * power of two; for f64 also small ones with 1 + gamma + beta so far out. */
static parameters draw_tie(const audit_row *row, bool of_type, unsigned long long *state)
{
    double gamma = ldexp(1.0, (int)below(state, 5));
    double odd = (double)(2 * below(state, 4) + 1);
    if (row->convention.affine == LN_AFFINE_GAMMA1 && row->storage == LN_F64 && of_type) {
        gamma = ldexp(gamma, -60);
    }
    return (parameters){gamma,
                        gamma * odd * ldexp(1.0, of_type ? -traits[row->storage].bits : -53)};
}

static parameters draw_parameters(const audit_row *row, unsigned kind, unsigned long long *state)
{
    parameters p = {.gamma = 1 + 0.5 * uniform(state)};
    p.beta = 0.5 * uniform(state);
    unsigned choice = below(state, 16);
    double least = traits[row->param].least;
    if (kind == 11) {
        p = draw_tie(row, choice < 8, state);
    } else if (kind == 12) {
        p.beta = choice < 8 ? p.gamma : -p.gamma;
    } else if (choice == 0) {
        p.gamma = any_value(row->param, state);
    } else if (choice == 1) {
        p.gamma = 0;
    } else if (choice == 2) {
        p.beta = any_value(row->param, state);
    } else if (choice == 3) {
        p.gamma = -1;
        p.beta = -0.0;
    } else if (choice == 4) {
        p.gamma = whole_below(state, 4);
        p.beta = -p.gamma;
    } else if (choice == 5) {
        p.gamma = whole_below(state, 64) * least;
        p.beta = whole_below(state, 64) * least;
    }
    return p;
}

/* Where xhat is 1 and -1, or nearly so: ties and zeros exist, and what misses them by a hair. */
static void draw_rational_convention(audit_row *row, unsigned long long *state)
{
    static const double epsilons[] = {0x1p-298, 5e-324, 1e-40, 0x1p-149};
    row->convention = (ln_convention){
        .eps_place = (ln_eps_place)below(state, 3),
        .affine = below(state, 3) == 0 ? LN_AFFINE_GAMMA1 : LN_AFFINE_VECTOR,
    };
    if (row->convention.eps_place != LN_EPS_NONE) {
        row->convention.eps = epsilons[below(state, sizeof epsilons / sizeof epsilons[0])];
    }
}

ln_convention audit_convention_draw(unsigned long long *state)
{
    static const double epsilons[] = {0.0,    1e-5,     1e-12, 1e-3,  1.0,      0x1p-20,
                                      5e-324, 0x1p-298, 1e300, 1e-40, 0x1p-149, 0.1};
    if (below(state, 3) > 0) {
        return audit_presets[below(state, AUDIT_PRESETS)];
    }
    ln_convention convention = {.ddof = (int)below(state, 2)};
    convention.eps_place = (ln_eps_place)below(state, 4);
    convention.eps = epsilons[below(state, sizeof epsilons / sizeof epsilons[0])];
    convention.affine = (ln_affine)below(state, 5);
    if (convention.eps_place == LN_EPS_NONE) {
        convention.eps = 0.0;
    }
    return convention;
}

static void draw_convention(audit_row *row, unsigned kind, unsigned long long *state)
{
    if (kind >= 11 && below(state, 4) > 0) {
        draw_rational_convention(row, state);
    } else {
        row->convention = audit_convention_draw(state);
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
    double offset = 1 + 0.5 * uniform(state);
    offset = ldexp(offset, (int)below(state, (unsigned)traits[row->storage].octaves));
    audit_values first; /* a number of the type, so that a step from it is one */
    audit_store(row->storage, &first, 0, normal(state));
    row->has_residual = below(state, 4) == 0;
    for (size_t i = 0; i < row->hidden; i++) {
        audit_store(
            row->storage, &row->x, i,
            draw_x(kind, row->storage, i, offset, audit_load(row->storage, &first, 0), state));
        audit_store(row->storage, &row->residual, i,
                    kind == 9 || kind >= 11 ? 0.0 : 0.25 * normal(state));
        parameters p = draw_parameters(row, kind, state);
        audit_store(row->param, &row->gamma, i, p.gamma);
        audit_store(row->param, &row->beta, i, p.beta);
    }
}
