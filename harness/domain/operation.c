#include "domain/operation.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

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
    .name = #member, .shape = SHAPE_TABLE, .type = TYPE_STORAGE,                                   \
    .place = offsetof(ln_tensors, member), .stride = offsetof(ln_problem, member##_stride)
#define PARAMETER(member)                                                                          \
    .name = #member, .shape = SHAPE_PARAMETER, .type = TYPE_PARAMETER,                             \
    .place = offsetof(ln_tensors, member)
#define STATISTIC(member)                                                                          \
    .name = #member, .shape = SHAPE_ROWS, .type = TYPE_ACCUMULATOR,                                \
    .place = offsetof(ln_tensors, member)
#define ALONE .beside = NO_ROLE, .in_place = NO_ROLE

static const tensor_role layernorm_roles[LAYERNORM_ROLES] = {
    [ROLE_X] = {TABLE(x), ALONE},
    [ROLE_RESIDUAL] = {TABLE(residual), ALONE, .optional = true},
    [ROLE_GAMMA] = {PARAMETER(gamma), ALONE, .needed = has_gamma},
    [ROLE_BETA] = {PARAMETER(beta), ALONE, .needed = has_beta},
    [ROLE_Y] = {TABLE(y), .output = true, .beside = NO_ROLE, .in_place = ROLE_X},
    [ROLE_SUM] = {TABLE(sum), .output = true, .optional = true, .beside = ROLE_RESIDUAL,
                  .in_place = ROLE_RESIDUAL},
    [ROLE_MEAN] = {STATISTIC(mean), ALONE, .output = true, .optional = true},
    [ROLE_RSTD] = {STATISTIC(rstd), ALONE, .output = true, .optional = true},
};

const operation operations[OPERATIONS] = {
    [OPERATION_LAYERNORM] = {.name = "layernorm",
                             .roles = layernorm_roles,
                             .count = LAYERNORM_ROLES,
                             .result = ROLE_Y,
                             .rows_independent = true,
                             .neighbours = layernorm_neighbours},
};

const char *operation_name(operation_kind kind)
{
    return operations[kind].name;
}

bool operation_from_name(const char *name, operation_kind *kind)
{
    for (int i = 0; i < OPERATIONS; i++) {
        *kind = (operation_kind)i;
        if (strcmp(name, operations[i].name) == 0)
            return true;
    }
    return false;
}

static size_t element_of(role_type type, const ln_problem *problem, ln_type accumulator)
{
    return dtype_size(type == TYPE_STORAGE     ? problem->storage
                      : type == TYPE_PARAMETER ? problem->param
                                               : accumulator);
}

role_extent role_extent_of(const tensor_role *role, const ln_problem *problem, ln_type accumulator)
{
    size_t element = element_of(role->type, problem, accumulator);
    size_t columns = role->shape == SHAPE_NONE   ? 0
                     : role->shape == SHAPE_ROWS ? 1
                     : role->shape == SHAPE_PARAMETER
                         ? ln_parameter_elements(problem->convention.affine, problem->hidden)
                         : problem->hidden;
    size_t stride = columns;
    if (role->shape == SHAPE_TABLE)
        memcpy(&stride, (const char *)problem + role->stride, sizeof stride);
    return (role_extent){.rows = role_is_parameter(role) ? 1 : problem->rows,
                         .row_bytes = columns * element,
                         .stride_bytes = stride * element,
                         .element = element};
}

bool role_is_needed(const tensor_role *role, const ln_convention *convention)
{
    return !role->needed || role->needed(convention);
}

void problem_set_strides(ln_problem *problem, size_t stride)
{
    problem->x_stride = problem->y_stride = stride;
    problem->residual_stride = problem->sum_stride = stride;
}

ln_problem problem_dense(const ln_convention *convention, ln_type storage, ln_type param,
                         size_t rows, size_t hidden)
{
    ln_problem made = {.rows = rows,
                       .hidden = hidden,
                       .storage = storage,
                       .param = param,
                       .convention = *convention};
    problem_set_strides(&made, hidden);
    return made;
}

bool call_allocate(operation_call *call, bool optional)
{
    const operation *what = &operations[call->operation];
    for (size_t i = 0; i < what->count; i++) {
        const tensor_role *role = &what->roles[i];
        role_extent extent = role_extent_of(role, &call->problem, LN_F64);
        if (role->output || role->shape == SHAPE_NONE || (role->optional && !optional))
            continue;
        call->inputs[i] = malloc(extent.rows * call->problem.hidden * extent.element);
        if (!call->inputs[i])
            return false;
    }
    return true;
}

void call_drop_unneeded(operation_call *call)
{
    const operation *what = &operations[call->operation];
    for (size_t i = 0; i < what->count; i++)
        if (!role_is_needed(&what->roles[i], &call->problem.convention)) {
            free(call->inputs[i]);
            call->inputs[i] = NULL;
        }
}

void call_free(operation_call *call)
{
    for (size_t i = 0; i < ROLES_MOST; i++)
        free(call->inputs[i]);
}
