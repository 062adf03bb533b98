#include "inputs.h"
#include "inputs_families.h"
#include "inputs_typed.h"
#include "npy.h"
#include "number.h"
#include "storage.h"
#include "text.h"
#include <math.h>
#include <string.h>

static const input_family families[] = {
    {"normal", "N(0,1): the everyday case"},
    {"uniform", "[-1,1), every value exact"},
    {"offset", "normal rows far off zero, kappa 1 to 1e8 in turn (or offset:KAPPA): cancellation"},
    {"ramp", "quarters of integers, rising and falling: sums grow steadily"},
    {"constant", "all elements equal: var is 0, a rounded mean makes it not so"},
    {"spike", "constant but for one element, first, last or between: breaks pivots and tails"},
    {"outlier-channels", "normal, a few channels 16 to 128 times as large, as in transformers"},
    {"alternating", "signs alternate: partial sums cancel, or do not, by lane"},
    {"huge", "+-1e30 to 2e30: squares overflow f32"},
    {"subnormal", "below 2^-126: squares underflow f32, and FTZ or DAZ makes zeros"},
    {"nan", "normal rows with a NaN, every fourth clean: the whole row must be NaN, the next not"},
    {"inf", "normal rows with +Inf, -Inf or both, every fourth clean: likewise NaN"},
    {"seed-000", "printed in document 000: 10..50 and 1.0..1.4"},
    {"seed-001", "printed in document 001: six normalised rows of four"},
    {"seed-002", "printed in document 002: three rows of six, N(0,1)"},
    {"seed-003", "printed in document 003: 1 to 24, six rows of four"},
};
enum { FAMILY_COUNT = sizeof families / sizeof *families };

static input_maker *const makers[FAMILY_COUNT] = {
    make_normal,
    make_uniform,
    make_offset,
    make_ramp,
    make_constant,
    make_spike,
    make_outlier_channels,
    make_alternating,
    make_huge,
    make_subnormal,
    make_nan,
    make_inf,
    make_document_000,
    make_document_001,
    make_document_002,
    make_document_003,
};

static const char offset_prefix[] = "offset:";
static const double kappa_most = 1e8;

const input_family *input_families(size_t *count)
{
    *count = FAMILY_COUNT;
    return families;
}

bool input_is_file(const char *input)
{
    size_t length = strlen(input);
    return length >= 4 && strcmp(input + length - 4, ".npy") == 0;
}

static bool fail_unknown(const char *input, error *error)
{
    const char *names[FAMILY_COUNT];
    for (size_t i = 0; i < FAMILY_COUNT; i++)
        names[i] = families[i].name;
    if (strcmp(input, "seed-004") == 0)
        return fail(error, EXIT_CODE_USAGE,
                    "unknown input 'seed-004': document 004 prints the shape of its tensor only; "
                    "there are seed-000 to seed-003");
    const char *nearest = nearest_word(input, names, FAMILY_COUNT);
    if (nearest)
        return fail(error, EXIT_CODE_USAGE, "unknown input '%.64s': did you mean '%s'?", input,
                    nearest);
    return fail(error, EXIT_CODE_USAGE,
                "unknown input '%.64s': expected a family (see 'lnbench list inputs'), "
                "offset:KAPPA or a path ending in .npy",
                input);
}

/* The maker of a family's name; *kappa is that of offset:KAPPA, else 0. */
static bool find_maker(const char *input, input_maker **maker, double *kappa, error *error)
{
    *kappa = 0;
    for (size_t i = 0; i < FAMILY_COUNT; i++) {
        if (strcmp(input, families[i].name) == 0) {
            *maker = makers[i];
            return true;
        }
    }
    size_t prefix = strlen(offset_prefix);
    if (strncmp(input, offset_prefix, prefix) != 0)
        return fail_unknown(input, error);
    const char *number = input + prefix;
    if (!number_parse(number, strlen(number), kappa) || !(*kappa >= 1 && *kappa <= kappa_most))
        return fail(error, EXIT_CODE_USAGE,
                    "input '%.64s': kappa must be a number from 1 to 1e8, such as offset:1e4",
                    input);
    *maker = make_offset;
    return true;
}

bool input_offset_kappa(const char *input, double *kappa)
{
    input_maker *maker;
    return find_maker(input, &maker, kappa, NULL);
}

bool input_check(const char *input, error *error)
{
    input_maker *maker;
    double kappa;
    if (strlen(input) >= NAME_MAX_LENGTH)
        return fail(error, EXIT_CODE_USAGE,
                    "input '%.64s...': longer than %d characters: give a shorter path", input,
                    NAME_MAX_LENGTH - 1);
    return input_is_file(input) || find_maker(input, &maker, &kappa, error);
}

/* Rounds to the type; what is finite must stay so. */
static bool take_row(const npy_array *array, const char *path, size_t row, size_t hidden,
                     ln_type type, void *x, error *error)
{
    for (size_t i = 0; i < hidden; i++) {
        size_t at = row * hidden + i;
        double value = storage_load(array->dtype, array->data, at);
        storage_store(type, x, i, value);
        if (isfinite(value) && !isfinite(storage_load(type, x, i)))
            return fail(error, EXIT_CODE_USAGE,
                        "%s: element %zu is %g: beyond %s, whose largest number is %s", path, at,
                        value, dtype_name(type), type == LN_F16 ? "65504" : "3.4e38");
    }
    return true;
}

/* Two-byte integers are bf16 where that is the type asked for. */
bool input_rows_of_file(const char *path, ln_type type, size_t first, size_t count, size_t hidden,
                        void *x, error *error)
{
    npy_array array;
    if (!npy_read(path, type == LN_BF16, &array, error))
        return false;
    size_t last = array.dimensions > 0 ? array.shape[array.dimensions - 1] : 1;
    size_t row_bytes = hidden * dtype_size(type);
    bool fine = true;
    if (array.dtype != LN_F32 && array.dtype != LN_F64 && array.dtype != type)
        fine = fail(error, EXIT_CODE_USAGE, "%s: dtype %s: expected <f4 or <f8", path,
                    dtype_name(array.dtype));
    else if (last != hidden)
        fine = fail(error, EXIT_CODE_USAGE, "%s: last axis is %zu long: expected hidden %zu", path,
                    last, hidden);
    else if (array.elements == 0)
        fine =
            fail(error, EXIT_CODE_USAGE, "%s: holds no elements: expected at least one row", path);
    size_t rows = fine ? array.elements / hidden : 1;
    for (size_t i = 0; fine && i < count; i++) {
        size_t row = (first + i) % rows;
        char *to = (char *)x + i * row_bytes;
        if (array.dtype == type) /* bit for bit */
            memcpy(to, (const char *)array.data + row * row_bytes, row_bytes);
        else
            fine = take_row(&array, path, row, hidden, type, to, error);
    }
    npy_free(&array);
    return fine;
}

bool input_rows(const char *input, uint64_t seed, size_t first, size_t count, size_t hidden,
                float *x, error *error)
{
    input_maker *maker;
    double kappa;
    if (hidden == 0)
        return fail(error, EXIT_CODE_USAGE, "input '%.64s': hidden is 0: expected 1 or more",
                    input);
    if (input_is_file(input))
        return input_rows_of_file(input, LN_F32, first, count, hidden, x, error);
    if (!find_maker(input, &maker, &kappa, error))
        return false;
    for (size_t i = 0; i < count; i++) {
        input_place place = {seed, first + i, hidden, kappa};
        maker(&place, x + i * hidden);
    }
    return true;
}
