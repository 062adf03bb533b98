/* RMSNorm's row of the table. */
#include "domain/operation.h"
#include <stddef.h>

static bool has_weight(const ln_convention *convention)
{
    return convention->weight != LN_RMS_WEIGHT_NONE;
}

static ln_affine rmsnorm_form(const ln_convention *convention)
{
    static const ln_affine forms[] = {[LN_RMS_WEIGHT_NONE] = LN_AFFINE_NONE,
                                      [LN_RMS_WEIGHT] = LN_AFFINE_GAMMA,
                                      [LN_RMS_WEIGHT_OFFSET] = LN_AFFINE_GAMMA1,
                                      [LN_RMS_WEIGHT_OFFSET_ROUNDED] = LN_AFFINE_GAMMA1};
    return forms[convention->weight];
}

#define TABLE(member)                                                                              \
#member, SHAPE_TABLE, TYPE_STORAGE, .stride = offsetof(ln_problem, member##_stride)

static const tensor_role rmsnorm_roles[LAYERNORM_ROLES] = {
    [ROLE_X] = {TABLE(x)},
    [ROLE_RESIDUAL] = {TABLE(residual), .optional = true},
    [ROLE_GAMMA] = {"weight", SHAPE_HIDDEN, TYPE_PARAMETER, .needed = has_weight},
    [ROLE_Y] = {TABLE(y), .output = true, .over = ROLE_BIT(ROLE_X)},
    [ROLE_SUM] = {TABLE(sum), .output = true, .optional = true, .with = ROLE_BIT(ROLE_RESIDUAL),
                  .over = ROLE_BIT(ROLE_RESIDUAL)},
    [ROLE_RSTD] = {"rrms", SHAPE_ROWS, TYPE_ACCUMULATOR, .output = true, .optional = true},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* The names of the levels, indexed by the values of the enums in rmsnorm.h. */
static const char *const roots[] = {"exact", "rounded"};
static const char *const casts[] = {"no", "yes"};
static const char *const sums[] = {"rounded", "unrounded", "squares"};
static const char *const places[] = {"none", "square", "root"};
static const char *const weights[] = {"none", "w", "1+w", "1+w-rounded"};

/* The weight stored as w - 1, or the reverse. Conventions that differ in a rounding only are not listed: one row cannot
 * tell them apart, so the judge compares many rows (judge/rmsnorm.c). */
static const unsigned char other_weight[] = {LN_RMS_WEIGHT_NONE, LN_RMS_WEIGHT_OFFSET,
                                             LN_RMS_WEIGHT, LN_RMS_WEIGHT};

static const convention_field rmsnorm_fields[] = {
    {"eps", places, COUNT(places), offsetof(ln_convention, eps_place), .eps = true},
    {"weight", weights, COUNT(weights), .place = offsetof(ln_convention, weight),
     .taken_for = other_weight},
    {"cast", casts, COUNT(casts), offsetof(ln_convention, cast),
     .expected = "must be no, or yes (xhat is rounded to x's type before the weight)"},
    {"root", roots, COUNT(roots), offsetof(ln_convention, root),
     .expected = "must be exact, or rounded (to x's type)"},
    {"sum", sums, COUNT(sums), .place = offsetof(ln_convention, sum)},
};

#define CONVENTION(value, rounds_root, casts_xhat, how, form)                                      \
    {                                                                                              \
        .operation = LN_OPERATION_RMSNORM, .eps_place = LN_EPS_VAR, .eps = (value),                \
        .weight = LN_RMS_WEIGHT##form, .cast = (casts_xhat), .root = (rounds_root),                \
        .sum = LN_RMS_SUM_##how                                                                    \
    }

/* The presets of RMSNorm; docs/conventions.md names the libraries and the sources. If two presets are equal, a
 * convention is printed by the name of the first. */
static const convention_preset rmsnorm_presets[] = {
    {"torch-rms", CONVENTION(0x1p-23, 0, 0, ROUNDED, ), "torch.nn.RMSNorm in f32 with eps=None"},
    {"llama", CONVENTION(1e-5, 0, 1, ROUNDED, ), "Llama and most models after it"},
    {"t5", CONVENTION(1e-6, 0, 1, ROUNDED, ), "T5 with a weight of 16 bits"},
    {"gemma", CONVENTION(1e-6, 0, 0, ROUNDED, _OFFSET), "Gemma, Gemma 2 and 3"},
    {"gemma3n", CONVENTION(1e-6, 0, 0, ROUNDED, ), "Gemma 3n"},
    {"ggml", CONVENTION(1e-5, 0, 0, ROUNDED, ), "llama.cpp"},
    {"vllm-cpu", CONVENTION(1e-6, 0, 0, SQUARES, ), "vLLM on a CPU, with a residual"},
    {"mlx", CONVENTION(1e-5, 0, 1, ROUNDED, ), "mlx.nn.RMSNorm, without its Metal kernel"},
    {"candle", CONVENTION(1e-5, 1, 1, ROUNDED, ), "candle on a CPU: root and xhat in x's type"},
    {"flashinfer", CONVENTION(1e-6, 0, 0, UNROUNDED, ), "FlashInfer, with a residual"},
    {"te", CONVENTION(1e-5, 0, 0, ROUNDED, ), "Transformer Engine"},
};

const operation rmsnorm_operation = {.name = "rmsnorm",
                                     .title = "RMSNorm",
                                     .roles = rmsnorm_roles,
                                     .count = LAYERNORM_ROLES,
                                     .result = ROLE_Y,
                                     .fields = rmsnorm_fields,
                                     .field_count = COUNT(rmsnorm_fields),
                                     .presets = rmsnorm_presets,
                                     .preset_count = COUNT(rmsnorm_presets),
                                     .eps_f64 = 0x1p-52,
                                     .form = rmsnorm_form};
