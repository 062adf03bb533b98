#include "domain/operation.h"
#include "base/text.h"
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *operation_name(ln_operation kind)
{
    return operations[kind]->name;
}

bool operation_from_name(const char *name, ln_operation *kind)
{
    for (int i = 0; operations[i]; i++) {
        *kind = (ln_operation)i;
        if (strcmp(name, operations[i]->name) == 0)
            return true;
    }
    return false;
}

unsigned operations_parse(const char *name)
{
    const char *names[OPERATIONS + 1];
    char meant[MEANT_LENGTH], all[128] = "";
    ln_operation kind = (ln_operation)0;
    bool every = name && strcmp(name, "all") == 0;
    bool known = !name || every || operation_from_name(name, &kind);
    for (size_t i = 0, length = 0; i <= OPERATIONS; i++) {
        names[i] = i < OPERATIONS ? operations[i]->name : "all";
        length +=
            (size_t)snprintf(all + length, sizeof all - length, "%s%s", i ? ", " : "", names[i]);
    }
    if (!known)
        die(EXIT_CODE_USAGE, "unknown operation '%.60s'%s (choose one of %s)", name,
            did_you_mean(name, names, OPERATIONS + 1, meant), all);
    return every ? OPERATION_BIT(OPERATIONS) - 1 : OPERATION_BIT(kind);
}

double call_bytes(const operation *what, size_t rows, size_t hidden, ln_type dtype)
{
    double tables = 0;
    for (size_t i = 0; i < what->count; i++)
        tables += what->roles[i].shape == SHAPE_TABLE && !what->roles[i].optional;
    return tables * (double)rows * (double)hidden * (double)dtype_size(dtype);
}

static size_t element_of(const tensor_role *role, const ln_problem *problem, ln_type accumulator)
{
    ln_type usual = problem->storage == LN_F64 ? LN_F64 : LN_F32;
    return dtype_size(role->type == TYPE_STORAGE     ? problem->storage
                      : role->type == TYPE_PARAMETER ? problem->param
                      : role->output                 ? accumulator
                                                     : usual);
}

role_extent role_extent_of(const tensor_role *role, const ln_problem *problem, ln_type accumulator)
{
    size_t element = element_of(role, problem, accumulator);
    size_t columns = role_columns(role, &problem->convention, problem->hidden);
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

operation_call call_dense(const ln_convention *convention, ln_type storage, ln_type param,
                          size_t rows, size_t hidden)
{
    return (operation_call){.operation = convention->operation,
                            .problem = problem_dense(convention, storage, param, rows, hidden)};
}

void call_allocate(arena *memory, operation_call *call, bool optional)
{
    const operation *what = operations[call->operation];
    for (size_t i = 0; i < what->count; i++) {
        const tensor_role *role = &what->roles[i];
        role_extent extent = role_extent_of(role, &call->problem, LN_F64);
        if (role->output || role->shape == SHAPE_NONE || (role->optional && !optional))
            continue;
        call->inputs[i] =
            arena_new(memory, char, extent.rows * call->problem.hidden * extent.element);
    }
}

void call_drop_unneeded(operation_call *call)
{
    const operation *what = operations[call->operation];
    for (size_t i = 0; i < what->count; i++)
        if (!role_is_needed(&what->roles[i], &call->problem.convention))
            call->inputs[i] = NULL;
}

size_t convention_count(const operation *what)
{
    size_t count = 1;
    for (size_t i = 0; i < what->field_count; i++)
        count *= what->fields[i].levels;
    return count;
}

size_t convention_level(const convention_field *field, const ln_convention *convention)
{
    const int *member = (const int *)((const char *)convention + field->place);
    return (size_t)*member % field->levels;
}

void convention_set_level(const convention_field *field, size_t level, ln_convention *convention)
{
    int *member = (int *)((char *)convention + field->place);
    *member = (int)level;
}

ln_convention convention_numbered(const operation *what, uint64_t number)
{
    ln_convention made = {0};
    while (operations[made.operation] != what)
        made.operation++;
    for (size_t i = 0; i < what->field_count; i++) {
        convention_set_level(&what->fields[i], number % what->fields[i].levels, &made);
        number /= what->fields[i].levels;
    }
    return made;
}

ln_affine convention_form(const ln_convention *convention)
{
    const operation *what = operations[convention->operation];
    return what->form ? what->form(convention) : convention->affine;
}

bool convention_equal(const ln_convention *a, const ln_convention *b)
{
    return a->operation == b->operation && a->eps_place == b->eps_place && a->eps == b->eps &&
           a->ddof == b->ddof && a->affine == b->affine && a->weight == b->weight &&
           a->cast == b->cast && a->root == b->root && a->sum == b->sum;
}

#define OPERATION(KIND, name) extern const operation name##_operation;
#include "domain/operations.def"
#undef OPERATION

#define OPERATION(KIND, name) [LN_OPERATION_##KIND] = &name##_operation,
const operation *const operations[] = {
#include "domain/operations.def"
    NULL};

const size_t operation_count = sizeof operations / sizeof *operations - 1;
