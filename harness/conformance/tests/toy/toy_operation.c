/* y = x gamma, as an operation of a test: what protocol, guards and benches need of it. */
#include "domain/operation.h"
#include <stddef.h>

static const char *const weights[] = {"w", "1+w", "rounded"};
static const char *const casts[] = {"no", "yes"};

static const convention_field fields[] = {
    {"weight", weights, 3, .place = offsetof(ln_convention, weight)},
    {"cast", casts, 2, .place = offsetof(ln_convention, cast)},
};

static ln_affine form(const ln_convention *convention)
{
    return convention_level(&fields[0], convention) == 0 ? LN_AFFINE_GAMMA : LN_AFFINE_GAMMA1;
}

static const tensor_role roles[] = {
    [ROLE_X] = {"x", SHAPE_TABLE, .stride = offsetof(ln_problem, x_stride)},
    [ROLE_GAMMA] = {"gamma", SHAPE_HIDDEN, .type = TYPE_PARAMETER},
    [ROLE_Y] = {"y", SHAPE_TABLE, .output = true, .over = ROLE_BIT(ROLE_X),
                .stride = offsetof(ln_problem, y_stride)},
};

const operation toy_operation = {.name = "toy",
                                 .title = "Toy",
                                 .roles = roles,
                                 .count = sizeof roles / sizeof *roles,
                                 .result = ROLE_Y,
                                 .rows_independent = true,
                                 .fields = fields,
                                 .field_count = 2,
                                 .form = form};
