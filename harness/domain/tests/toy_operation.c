#include "toy_operation.h"
#include <stddef.h>

typedef struct toy_tensors {
    const float *x, *gamma;
    float *y;
} toy_tensors;

static const tensor_role roles[] = {
    {.name = "x",
     .beside = NO_ROLE,
     .in_place = NO_ROLE,
     .place = offsetof(toy_tensors, x),
     .stride = offsetof(ln_problem, x_stride)},
    {.name = "gamma",
     .shape = SHAPE_HIDDEN,
     .type = TYPE_PARAMETER,
     .beside = NO_ROLE,
     .in_place = NO_ROLE,
     .place = offsetof(toy_tensors, gamma)},
    {.name = "y",
     .output = true,
     .beside = NO_ROLE,
     .in_place = 0,
     .place = offsetof(toy_tensors, y),
     .stride = offsetof(ln_problem, y_stride)},
};

static size_t neighbours(const ln_convention *own, ln_convention others[NEIGHBOURS_MOST])
{
    others[0] = *own;
    others[0].affine = LN_AFFINE_GAMMA1;
    return 1;
}

const operation toy_operation = {.name = "toy",
                                 .roles = roles,
                                 .count = sizeof roles / sizeof *roles,
                                 .result = 2,
                                 .rows_independent = true,
                                 .neighbours = neighbours};

void toy_run(const ln_problem *problem, const void *tensors)
{
    const toy_tensors *given = tensors;
    for (size_t row = 0; row < problem->rows; row++)
        for (size_t i = 0; i < problem->hidden; i++)
            given->y[row * problem->y_stride + i] =
                given->x[row * problem->x_stride + i] * given->gamma[i];
}

void toy_answer(size_t hidden, const float *x, const float *gamma, float *y)
{
    for (size_t i = 0; i < hidden; i++)
        y[i] = (float)((double)x[i] * (double)gamma[i]);
}
