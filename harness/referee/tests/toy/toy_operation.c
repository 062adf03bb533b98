/* y = x gamma, as an operation of a test: what protocol, guards and benches need of it. */
#include "domain/operation.h"
#include <stddef.h>

static size_t neighbours(const ln_convention *own, ln_convention others[NEIGHBOURS_MOST])
{
    others[0] = *own;
    others[0].affine = LN_AFFINE_GAMMA1;
    return 1;
}

static const tensor_role roles[] = {
    [ROLE_X] = {"x", SHAPE_TABLE, .stride = offsetof(ln_problem, x_stride)},
    [ROLE_GAMMA] = {"gamma", SHAPE_HIDDEN, .type = TYPE_PARAMETER},
    [ROLE_Y] = {"y", SHAPE_TABLE, .output = true, .over = ROLE_BIT(ROLE_X),
                .stride = offsetof(ln_problem, y_stride)},
};

const operation toy_operation = {.name = "toy",
                                 .roles = roles,
                                 .count = sizeof roles / sizeof *roles,
                                 .result = ROLE_Y,
                                 .rows_independent = true,
                                 .neighbours = neighbours};
