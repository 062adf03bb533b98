#include "domain/operation.h"
#include <stddef.h>

static bool has_gamma(const ln_convention *convention)
{
    return ln_has_gamma(convention->affine);
}

static bool has_beta(const ln_convention *convention)
{
    return ln_has_beta(convention->affine);
}

/* The other divisor, every other place of eps, no eps, and gamma stored the other way. */
static size_t layernorm_neighbours(const ln_convention *own, ln_convention others[NEIGHBOURS_MOST])
{
    size_t count = 0;
    ln_convention other = *own;
    other.ddof = 1 - own->ddof;
    others[count++] = other;
    if (own->eps_place != LN_EPS_NONE) {
        static const ln_eps_place places[] = {LN_EPS_VAR, LN_EPS_STD, LN_EPS_QUOTIENT};
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
            other = *own;
            other.eps_place = places[i];
            if (places[i] != own->eps_place)
                others[count++] = other;
        }
        other = *own;
        other.eps_place = LN_EPS_NONE;
        other.eps = 0;
        others[count++] = other;
    }
    if (own->affine == LN_AFFINE_VECTOR || own->affine == LN_AFFINE_GAMMA1) {
        other = *own;
        other.affine = own->affine == LN_AFFINE_VECTOR ? LN_AFFINE_GAMMA1 : LN_AFFINE_VECTOR;
        others[count++] = other;
    }
    return count;
}

#define TABLE(member)                                                                              \
#member, SHAPE_TABLE, TYPE_STORAGE, .stride = offsetof(ln_problem, member##_stride)

static const tensor_role layernorm_roles[LAYERNORM_ROLES] = {
    [ROLE_X] = {TABLE(x)},
    [ROLE_RESIDUAL] = {TABLE(residual), .optional = true},
    [ROLE_GAMMA] = {"gamma", SHAPE_PARAMETER, TYPE_PARAMETER, .needed = has_gamma},
    [ROLE_BETA] = {"beta", SHAPE_PARAMETER, TYPE_PARAMETER, .needed = has_beta},
    [ROLE_Y] = {TABLE(y), .output = true, .over = ROLE_BIT(ROLE_X)},
    [ROLE_SUM] = {TABLE(sum), .output = true, .optional = true, .with = ROLE_BIT(ROLE_RESIDUAL),
                  .over = ROLE_BIT(ROLE_RESIDUAL)},
    [ROLE_MEAN] = {"mean", SHAPE_ROWS, TYPE_ACCUMULATOR, .output = true, .optional = true},
    [ROLE_RSTD] = {"rstd", SHAPE_ROWS, TYPE_ACCUMULATOR, .output = true, .optional = true},
};

#define FIELD(member, count)                                                                       \
    {                                                                                              \
        .name = #member, .place = offsetof(ln_convention, member), .levels = count                 \
    }

static const convention_field layernorm_fields[] = {
    FIELD(ddof, 2), FIELD(eps_place, LN_EPS_QUOTIENT + 1), FIELD(affine, LN_AFFINE_GAMMA1 + 1)};

const operation layernorm_operation = {.name = "layernorm",
                                       .roles = layernorm_roles,
                                       .count = LAYERNORM_ROLES,
                                       .result = ROLE_Y,
                                       .rows_independent = true,
                                       .fields = layernorm_fields,
                                       .field_count =
                                           sizeof layernorm_fields / sizeof *layernorm_fields,
                                       .neighbours = layernorm_neighbours};
