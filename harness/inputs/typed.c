/* Rows of every type, made from those of f32, so that a family is one thing in all of them:
 *
 * f64: elements keep their f32 value but for what lies below it: 29 more bits, a hash of the element
 * (so that equal elements stay equal, and opposite ones opposite). Short numbers, such as small
 * integers and quarters of them, stay what they are. Rows whose squares leave the range of f32 are
 * moved to where they leave that of f64.
 *
 * bf16, f16: elements are rounded to nearest, ties to even, after the row was brought into the
 * type's range by a power of two: to just below the type's largest number where it lies beyond, to
 * its subnormals where it lies below all that is normal.
 *
 * Offset rows are made in each type (offset.c), since the largest kappa is a matter of its
 * precision. NaN keep sign and payload as far as there is room. */
#include "base/allocate.h"
#include "inputs/families.h"
#include "inputs/inputs.h"
#include "inputs/offset.h"
#include "inputs/typed.h"
#include "inputs/worst.h"
#include "metrics/storage.h"
#include <math.h>

enum {
    MORE_BITS = 29,  /* of f64's fraction than of f32's */
    SHORT_BITS = 4,  /* a float with so many zeros at its end is a short number */
    F64_UP = 895,    /* 2^128 to 2^1023 */
    F64_DOWN = -896, /* 2^-126 to 2^-1022 */
};

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* The double whose sign, exponent and first 23 bits are the float's (rounded to f32 it is that
 * float again), with bits of its own below. */
static double with_more_bits(float value)
{
    uint32_t size = bits_of(value) & 0x7fffffffu;
    double wide = (double)value;
    uint64_t bits;
    if (size == 0 || size >= 0x7f800000u || (size & ((1u << SHORT_BITS) - 1)) == 0)
        return wide;
    memcpy(&bits, &wide, sizeof bits);
    bits += mix(size) >> (64 - MORE_BITS);  /* 0 to almost one f32 ulp away from zero ... */
    bits -= UINT64_C(1) << (MORE_BITS - 1); /* ... less half of it */
    memcpy(&wide, &bits, sizeof wide);
    return wide;
}

static double nan_like(float value)
{
    uint32_t bits = bits_of(value);
    uint64_t wide = (uint64_t)(bits >> 31) << 63 | UINT64_C(0x7ff8) << 48 |
                    (uint64_t)(bits & 0x3fffffu) << MORE_BITS;
    double made;
    memcpy(&made, &wide, sizeof made);
    return made;
}

/* What has no value to round: a quiet NaN of this sign, with the payload's first bits. */
static uint16_t short_nan(ln_type type, float value)
{
    uint32_t bits = bits_of(value);
    unsigned sign = bits >> 16 & 0x8000u;
    return (uint16_t)(type == LN_BF16 ? sign | 0x7fc0u | (bits >> 16 & 0x3fu)
                                      : sign | 0x7e00u | (bits >> 13 & 0x1ffu));
}

static double largest_of(const float *x, size_t count)
{
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(x[i]) && fabs((double)x[i]) > largest)
            largest = fabs((double)x[i]);
    return largest;
}

/* The power of two that brings a row of this largest element into the type's range. */
static double scale_for(ln_type type, double largest)
{
    double scale = 1;
    if (type == LN_F64)
        return largest >= 0x1p63 ? ldexp(1, F64_UP) : largest <= 0x1p-63 ? ldexp(1, F64_DOWN) : 1;
    if (type == LN_BF16)
        return largest >= 0x1.ffp127 ? 0.5 : 1;
    while (largest * scale >= 0x1p15)
        scale *= 0.5;
    while (largest > 0 && largest * scale < 0x1p-15)
        scale *= 2;
    return scale;
}

static void store_row(ln_type type, const float *from, size_t count, double scale, bool more_bits,
                      void *to)
{
    for (size_t i = 0; i < count; i++) {
        if (type == LN_F64)
            ((double *)to)[i] = isnan(from[i]) ? nan_like(from[i])
                                : more_bits    ? with_more_bits(from[i]) * scale
                                               : (double)from[i] * scale;
        else if (isnan(from[i]))
            ((uint16_t *)to)[i] = short_nan(type, from[i]);
        else
            ((uint16_t *)to)[i] = storage_round(type, (double)from[i] * scale, 0);
    }
}

bool input_has_type(const char *input, ln_type type, error *err)
{
    double kappa;
    char part[INPUT_MAX_LENGTH];
    if (!input_check(input, err))
        return false;
    for (size_t i = 0, parts = input_parts(input); parts > 1 && i < parts; i++) {
        input_part(input, i, part);
        if (!input_has_type(part, type, err))
            return false;
    }
    if (type == LN_F32 || !input_offset(input, &kappa, NULL) || kappa <= offset_kappa_most(type))
        return true;
    return fail(err, EXIT_CODE_USAGE,
                "input '%.64s': %s can realise kappa from 1 to %g: choose less, or another type",
                input, dtype_name(type), offset_kappa_most(type));
}

static void offset_rows(const char *input, ln_type type, uint64_t seed, double kappa, size_t first,
                        size_t count, size_t hidden, void *x)
{
    bool to_the_end = strcmp(input, "kappa") == 0;
    double *scratch = allocate(hidden * sizeof *scratch);
    for (size_t i = 0; i < count; i++) {
        offset_place place = {type, seed, first + i, hidden, kappa, to_the_end};
        offset_row(&place, scratch, (char *)x + i * hidden * dtype_size(type));
    }
    free(scratch);
}

bool input_rows(const char *input, ln_type type, uint64_t seed, size_t first, size_t count,
                size_t hidden, void *x, error *err)
{
    double kappa;
    char part[INPUT_MAX_LENGTH];
    bool offset = input_offset(input, &kappa, NULL);
    if (!input_has_type(input, type, err))
        return false;
    bool several = input_parts(input) > 1;
    for (size_t i = 0; several && i < count; i++) {
        input_part(input, first + i, part);
        if (!input_rows(part, type, seed, first + i, 1, hidden,
                        (char *)x + i * hidden * dtype_size(type), err))
            return false;
    }
    if (several)
        return true;
    if (type == LN_F32 && (!offset || hidden == 0))
        return input_rows_f32(input, seed, first, count, hidden, x, err);
    if (input_is_file(input))
        return input_rows_of_file(input, type, first, count, hidden, x, err);
    if (hidden > 0 && input_is_worst(input))
        return worst_input_rows(input, type, first, count, hidden, x, err);
    if (hidden > 0 && offset) {
        offset_rows(input, type, seed, kappa, first, count, hidden, x);
        return true;
    }
    float *row = allocate((hidden ? hidden : 1) * sizeof *row);
    bool fine = true;
    bool printed = strncmp(input, "seed-", 5) == 0; /* are what was printed */
    for (size_t i = 0; fine && i < count; i++) {
        fine = input_rows_f32(input, seed, first + i, 1, hidden, row, err);
        if (fine)
            store_row(type, row, hidden, scale_for(type, largest_of(row, hidden)), !printed,
                      (char *)x + i * hidden * dtype_size(type));
    }
    free(row);
    return fine;
}

void parameters_tell_apart(ln_type type, size_t count, void *to)
{
    if (count > 1 && storage_load(type, to, 0) == storage_load(type, to, 1))
        storage_store(type, to, 1, storage_load(type, to, 1) + 0.125);
}

static void store_parameters(ln_type type, const float *from, size_t count, double scale, void *to)
{
    store_row(type, from, count, scale, true, to);
    if (count > 1 && from[0] != from[1])
        parameters_tell_apart(type, count, to);
}

void input_parameters(const char *input, const operation_call *call, uint64_t seed)
{
    const operation *what = operations[call->operation];
    operation_call whole = *call; /* whose form fills each parameter that it has not itself */
    ln_problem *problem = &whole.problem;
    ln_affine *form = &problem->convention.affine;
    *form = convention_form(&call->problem.convention);
    for (size_t i = 0; i < what->count; i++)
        if (what->roles[i].shape == SHAPE_HIDDEN &&
            (*form == LN_AFFINE_NONE || *form == LN_AFFINE_SCALAR))
            *form = LN_AFFINE_VECTOR;
    size_t hidden = problem->hidden;
    size_t count = ln_parameter_elements(problem->convention.affine, hidden);
    double largest = 0;
    float *made[ROLES_MOST], *room = allocate_zeroed(ROLES_MOST * hidden, sizeof *room);
    for (size_t i = 0; i < ROLES_MOST; i++)
        made[i] = room + i * hidden;
    bool ties = problem->param != LN_F32 && strcmp(input, "ties") == 0;
    input_parameters_f32(input, &problem->convention, seed, hidden, made);
    for (size_t i = 0; i < what->count; i++)
        if (role_is_parameter(&what->roles[i]))
            largest = fmax(largest, largest_of(made[i], hidden));
    double scale = scale_for(problem->param, largest);
    for (size_t i = 0; i < what->count && !ties; i++)
        if (!role_is_parameter(&what->roles[i]) || !call->inputs[i])
            continue;
        else if (problem->param == LN_F32)
            memcpy(call->inputs[i], made[i], count * sizeof *room);
        else
            store_parameters(problem->param, made[i], count, scale, call->inputs[i]);
    if (ties)
        parameters_of_typed_ties(&whole, seed);
    free(room);
}

bool input_call(const char *input, const char *residual, const operation_call *call, uint64_t seed,
                size_t first, error *err)
{
    const operation *what = operations[call->operation];
    const ln_problem *made = &call->problem;
    bool fine = true;
    for (size_t i = 0; fine && i < what->count; i++) {
        const tensor_role *role = &what->roles[i];
        const char *from = role->optional ? residual : input;
        if (role->output || role->shape != SHAPE_TABLE || !from)
            continue;
        fine = input_rows(from, made->storage, seed, first, made->rows, made->hidden,
                          call->inputs[i], err);
        first += made->rows;
    }
    if (fine)
        input_parameters(input, call, seed);
    return fine;
}
