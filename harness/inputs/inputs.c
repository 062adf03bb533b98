/* Inputs by their words: families, files, adversarial rows, several in turn. And rows of every type, made from
 * those of f32, so that a family is one thing in all of them:
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
 * Offset rows are made in each type (families.c), since the largest kappa is a matter of its
 * precision. NaN keep sign and payload as far as there is room. */
#include "inputs/inputs.h"
#include "base/allocate.h"
#include "base/random.h"
#include "base/text.h"
#include "domain/convention.h"
#include "inputs/families.h"
#include "inputs/worst.h"
#include "metrics/storage.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>

static const char offset_prefix[] = "offset:";
static const double kappa_most = 1e8;

enum {
    MORE_BITS = 29,  /* of f64's fraction than of f32's */
    SHORT_BITS = 4,  /* a float with so many zeros at its end is a short number */
    F64_UP = 895,    /* 2^128 to 2^1023 */
    F64_DOWN = -896, /* 2^-126 to 2^-1022 */
};

/* ---- words ---- */

size_t input_archive_length(const char *path)
{
    static const char *const endings[] = {".npz", ".safetensors"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const char *found = path;
        while ((found = strstr(found, endings[i]))) {
            found += strlen(endings[i]);
            if (*found == ':' || *found == '\0')
                return (size_t)(found - path);
        }
    }
    return 0;
}

bool input_is_file(const char *input)
{
    size_t length = strlen(input);
    return (length >= 4 && strcmp(input + length - 4, ".npy") == 0) ||
           input_archive_length(input) > 0;
}

/* Behind a '+' that is none of a number's. */
static const char *next_part(const char *input)
{
    const char *plus = input_is_file(input) || input_is_worst(input) ? NULL : strchr(input, '+');
    while (plus && !islower((unsigned char)plus[1]))
        plus = strchr(plus + 1, '+');
    return plus ? plus + 1 : NULL;
}

/* How many families come in turn, 1 where the input names one. */
static size_t count_parts(const char *input)
{
    size_t count = 1;
    while ((input = next_part(input)))
        count++;
    return count;
}

/* The family that row `row` is of. */
static void part_of_row(const char *input, size_t row, char part[INPUT_MAX_LENGTH])
{
    for (size_t left = row % count_parts(input); left > 0; left--)
        input = next_part(input);
    const char *next = next_part(input);
    snprintf(part, INPUT_MAX_LENGTH, "%.*s", next ? (int)(next - input - 1) : INPUT_MAX_LENGTH - 1,
             input);
}

static const input_family *family_named(const char *name)
{
    size_t count;
    const input_family *families = input_families(&count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, families[i].name) == 0)
            return &families[i];
    return NULL;
}

static _Noreturn void die_unknown(const char *input)
{
    size_t count;
    const input_family *families = input_families(&count);
    const char *names[64];
    char meant[MEANT_LENGTH];
    for (size_t i = 0; i < count; i++)
        names[i] = families[i].name;
    if (strcmp(input, "seed-004") == 0)
        die(EXIT_CODE_USAGE,
            "unknown input 'seed-004': document 004 prints the shape of its tensor only; "
            "there are seed-000 to seed-003");
    die(EXIT_CODE_USAGE,
        "unknown input '%.64s'%s: expected a family (see 'lnbench list inputs'), "
        "offset:KAPPA, worst, worst:PATH or a file: FILE.npy, FILE.npz:NAME, "
        "FILE.safetensors:NAME",
        input, did_you_mean(input, names, count, meant));
}

/* Whether offset_row() makes the rows: "offset", "kappa" and, with a kappa that is not 0, "offset:KAPPA". */
static bool is_offset(const char *input, double *kappa)
{
    const size_t prefix = strlen(offset_prefix);
    *kappa = 0;
    if (strcmp(input, "offset") == 0 || strcmp(input, "kappa") == 0)
        return true;
    if (strncmp(input, offset_prefix, prefix) != 0)
        return false;
    if (!number_parse(input + prefix, strlen(input + prefix), kappa) || *kappa < 1 ||
        *kappa > kappa_most)
        die(EXIT_CODE_USAGE,
            "input '%.64s': kappa must be a number from 1 to 1e8, such as offset:1e4", input);
    return true;
}

void input_check(const char *input)
{
    double kappa;
    char part[INPUT_MAX_LENGTH];
    if (strlen(input) >= INPUT_MAX_LENGTH)
        die(EXIT_CODE_USAGE, "input '%.64s...': longer than %d characters: give a shorter path",
            input, INPUT_MAX_LENGTH - 1);
    const size_t parts = count_parts(input);
    for (size_t i = 0; parts > 1 && i < parts; i++) {
        part_of_row(input, i, part);
        input_check(part);
    }
    if (parts == 1 && !input_is_file(input) && !input_is_worst(input) && !family_named(input) &&
        !is_offset(input, &kappa))
        die_unknown(input);
}

void input_check_type(const char *input, ln_type type)
{
    double kappa;
    char part[INPUT_MAX_LENGTH];
    input_check(input);
    for (size_t i = 0; i < count_parts(input); i++) {
        part_of_row(input, i, part);
        if (type != LN_F32 && is_offset(part, &kappa) && kappa > offset_kappa_most(type))
            die(EXIT_CODE_USAGE,
                "input '%.64s': %s can realise kappa from 1 to %g: choose less, or another type",
                part, dtype_name(type), offset_kappa_most(type));
    }
}

bool case_is_extreme(const case_key *key)
{
    const input_family *family = family_named(key->input);
    ln_convention convention;
    error ignored = {0};
    return (family && family->extreme) ||
           (convention_parse(key->convention, &convention, &ignored) &&
            (convention.eps_place == LN_EPS_NONE || convention.eps_place == LN_EPS_QUOTIENT));
}

/* ---- rows of a type ---- */

/* The double whose sign, exponent and first 23 bits are the float's (rounded to f32 it is that
 * float again), with bits of its own below. */
static double with_more_bits(float value)
{
    uint32_t size = bits_of_float(value) & 0x7fffffffu;
    double wide = (double)value;
    uint64_t bits;
    if (size == 0 || size >= 0x7f800000u || (size & ((1u << SHORT_BITS) - 1)) == 0)
        return wide;
    memcpy(&bits, &wide, sizeof bits);
    bits += mix_bits(size) >> (64 - MORE_BITS); /* 0 to almost one f32 ulp away from zero ... */
    bits -= UINT64_C(1) << (MORE_BITS - 1);     /* ... less half of it */
    memcpy(&wide, &bits, sizeof wide);
    return wide;
}

static double nan_like(float value)
{
    uint32_t bits = bits_of_float(value);
    uint64_t wide = (uint64_t)(bits >> 31) << 63 | UINT64_C(0x7ff8) << 48 |
                    (uint64_t)(bits & 0x3fffffu) << MORE_BITS;
    double made;
    memcpy(&made, &wide, sizeof made);
    return made;
}

/* What has no value to round: a quiet NaN of this sign, with the payload's first bits. */
static uint16_t short_nan(ln_type type, float value)
{
    uint32_t bits = bits_of_float(value);
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

static void rows_of_part(const char *input, ln_type type, uint64_t seed, size_t first, size_t count,
                         size_t hidden, void *x)
{
    const size_t bytes = hidden * dtype_size(type);
    const bool printed = strncmp(input, "seed-", 5) == 0; /* are what was printed */
    const input_family *family = family_named(input);
    double kappa;
    if (input_is_file(input)) {
        input_rows_of_file(input, type, first, count, hidden, x);
        return;
    }
    if (hidden == 0)
        die(EXIT_CODE_USAGE, "input '%.64s': hidden is 0: expected 1 or more", input);
    if (input_is_worst(input)) {
        worst_input_rows(input, type, first, count, hidden, x);
        return;
    }
    const bool offset = is_offset(input, &kappa);
    double *scratch = allocate(hidden * sizeof *scratch);
    for (size_t i = 0; i < count; i++) {
        char *row = (char *)x + i * bytes;
        const offset_place of_offset = {type,   seed,  first + i,
                                        hidden, kappa, strcmp(input, "kappa") == 0};
        const input_place place = {seed, first + i, hidden};
        float *singles = type == LN_F32 ? (void *)row : (void *)scratch;
        if (offset) {
            offset_row(&of_offset, scratch, row);
            continue;
        }
        family->make(&place, singles);
        if (type != LN_F32)
            store_row(type, singles, hidden, scale_for(type, largest_of(singles, hidden)), !printed,
                      row);
    }
    free(scratch);
}

void input_rows(const char *input, ln_type type, uint64_t seed, size_t first, size_t count,
                size_t hidden, void *x)
{
    const size_t bytes = hidden * dtype_size(type);
    char part[INPUT_MAX_LENGTH];
    input_check_type(input, type);
    if (count_parts(input) == 1) {
        rows_of_part(input, type, seed, first, count, hidden, x);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        part_of_row(input, first + i, part);
        rows_of_part(part, type, seed, first + i, 1, hidden, (char *)x + i * bytes);
    }
}

/* ---- parameters, and all of a call ---- */

void input_parameters_f32(const char *input, const ln_convention *convention, uint64_t seed,
                          size_t hidden, float *const made[ROLES_MOST])
{
    const input_family *family = family_named(input);
    parameter_maker *make = family && family->parameters ? family->parameters : input_affine;
    make(convention, seed, hidden, made);
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
        else {
            store_row(problem->param, made[i], count, scale, true, call->inputs[i]);
            if (count > 1 && made[i][0] != made[i][1])
                parameters_tell_apart(problem->param, count, call->inputs[i]);
        }
    if (ties)
        parameters_of_typed_ties(&whole, seed);
    free(room);
}

void input_call(const char *input, const char *residual, const operation_call *call, uint64_t seed,
                size_t first)
{
    const operation *what = operations[call->operation];
    const ln_problem *made = &call->problem;
    for (size_t i = 0; i < what->count; i++) {
        const tensor_role *role = &what->roles[i];
        const char *from = role->optional ? residual : input;
        if (role->output || role->shape != SHAPE_TABLE || !from)
            continue;
        input_rows(from, made->storage, seed, first, made->rows, made->hidden, call->inputs[i]);
        first += made->rows;
    }
    input_parameters(input, call, seed);
}
