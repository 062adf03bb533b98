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

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* The names of the levels, indexed by the values of the enums in layernorm.h. */
static const char *const divisors[] = {"0", "1"};
static const char *const place_names[] = {"none", "var", "std", "quotient"};
static const char *const affine_names[] = {"none", "scalar", "gamma", "vector", "gamma1"};
static const unsigned char other_divisor[] = {1, 0}, /* gamma stored as gamma - 1, or the reverse */
    other_gamma[] = {0, 1, 2, LN_AFFINE_GAMMA1, LN_AFFINE_VECTOR};

static const convention_field layernorm_fields[] = {
    {"ddof", divisors, COUNT(divisors), offsetof(ln_convention, ddof),
     .expected = "must be 0 (divide by N) or 1 (by N-1)", .taken_for = other_divisor},
    {"eps", place_names, COUNT(place_names), offsetof(ln_convention, eps_place), .eps = true},
    {"affine", affine_names, COUNT(affine_names), .place = offsetof(ln_convention, affine),
     .taken_for = other_gamma},
};

#define CONVENTION(divisor, place, value, form)                                                    \
    {                                                                                              \
        .ddof = (divisor), .eps_place = LN_EPS_##place, .eps = (value), .affine = LN_AFFINE_##form \
    }

/* The presets of LayerNorm; docs/conventions.md names the sources. */
static const convention_preset layernorm_presets[] = {
    {"torch", CONVENTION(0, VAR, 1e-5, VECTOR), "torch.nn.LayerNorm"},
    {"torch-nobias", CONVENTION(0, VAR, 1e-5, GAMMA), "torch.nn.LayerNorm(bias=False)"},
    {"tinyllm", CONVENTION(0, VAR, 1e-5, NONE), "tinyllm; torch with elementwise_affine=False"},
    {"manual-1e-6", CONVENTION(0, VAR, 1e-6, VECTOR), "written by hand with eps 1e-6; ViT"},
    {"formula-std", CONVENTION(0, STD, 1e-5, VECTOR), "tutorials with (x-mean)/(std+eps)"},
    {"zscore", CONVENTION(1, NONE, 0, NONE), "z-scores, (x-x.mean())/x.std() in PyTorch"},
    {"scalar-std", CONVENTION(1, STD, 1e-5, SCALAR), "x.std(), one gamma and one beta"},
    {"numpy-quotient", CONVENTION(1, QUOTIENT, 1e-5, SCALAR), "(x-mean)/std + eps in NumPy"},
    {"annotated-transformer", CONVENTION(1, STD, 1e-6, VECTOR), "The Annotated Transformer"},
    {"bert", CONVENTION(0, VAR, 1e-12, VECTOR), "BERT"},
    {"keras", CONVENTION(0, VAR, 1e-3, VECTOR), "keras.layers.LayerNormalization"},
};

const operation layernorm_operation = {.name = "layernorm",
                                       .title = "LayerNorm",
                                       .roles = layernorm_roles,
                                       .count = LAYERNORM_ROLES,
                                       .result = ROLE_Y,
                                       .fields = layernorm_fields,
                                       .field_count = COUNT(layernorm_fields),
                                       .presets = layernorm_presets,
                                       .preset_count = COUNT(layernorm_presets)};
