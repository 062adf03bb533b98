#include "domain/convention.h"
#include "inputs/inputs.h"
#include "inputs/families.h"
#include "inputs/typed.h"
#include "inputs/worst.h"
#include "base/number.h"
#include "base/text.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char offset_prefix[] = "offset:";
static const double kappa_most = 1e8;

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

size_t input_parts(const char *input)
{
    size_t count = 1;
    while ((input = next_part(input)))
        count++;
    return count;
}

void input_part(const char *input, size_t row, char part[INPUT_MAX_LENGTH])
{
    for (size_t left = row % input_parts(input); left > 0; left--)
        input = next_part(input);
    const char *next = next_part(input);
    snprintf(part, INPUT_MAX_LENGTH, "%.*s", next ? (int)(next - input - 1) : INPUT_MAX_LENGTH - 1,
             input);
}

static bool fail_unknown(const char *input, error *err)
{
    size_t count;
    const input_family *families = input_families(&count);
    const char *names[64];
    for (size_t i = 0; i < count; i++)
        names[i] = families[i].name;
    if (strcmp(input, "seed-004") == 0)
        return fail(err, EXIT_CODE_USAGE,
                    "unknown input 'seed-004': document 004 prints the shape of its tensor only; "
                    "there are seed-000 to seed-003");
    char meant[MEANT_LENGTH];
    return fail(err, EXIT_CODE_USAGE,
                "unknown input '%.64s'%s: expected a family (see 'lnbench list inputs'), "
                "offset:KAPPA, worst, worst:PATH or a file: FILE.npy, FILE.npz:NAME, "
                "FILE.safetensors:NAME",
                input, did_you_mean(input, names, count, meant));
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

bool input_offset(const char *input, double *kappa, error *err)
{
    size_t prefix = strlen(offset_prefix);
    *kappa = 0;
    if (strcmp(input, "offset") == 0 || strcmp(input, "kappa") == 0)
        return true;
    if (strncmp(input, offset_prefix, prefix) != 0)
        return false;
    const char *number = input + prefix;
    return (number_parse(number, strlen(number), kappa) && *kappa >= 1 && *kappa <= kappa_most) ||
           fail(err, EXIT_CODE_USAGE,
                "input '%.64s': kappa must be a number from 1 to 1e8, such as offset:1e4", input);
}

void input_parameters_f32(const char *input, const ln_convention *convention, uint64_t seed,
                          size_t hidden, float *const made[ROLES_MOST])
{
    const input_family *family = family_named(input);
    parameter_maker *make = family && family->parameters ? family->parameters : input_affine;
    make(convention, seed, hidden, made);
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

bool input_check(const char *input, error *err)
{
    double kappa;
    char part[INPUT_MAX_LENGTH];
    if (strlen(input) >= INPUT_MAX_LENGTH)
        return fail(err, EXIT_CODE_USAGE,
                    "input '%.64s...': longer than %d characters: give a shorter path", input,
                    INPUT_MAX_LENGTH - 1);
    size_t parts = input_parts(input);
    for (size_t i = 0; parts > 1 && i < parts; i++) {
        input_part(input, i, part);
        if (!input_check(part, err))
            return false;
    }
    return parts > 1 || input_is_file(input) || input_is_worst(input) || family_named(input) ||
           (strncmp(input, offset_prefix, strlen(offset_prefix)) == 0
                ? input_offset(input, &kappa, err)
                : fail_unknown(input, err));
}

bool input_rows_f32(const char *input, uint64_t seed, size_t first, size_t count, size_t hidden,
                    float *x, error *err)
{
    const input_family *family = family_named(input);
    if (hidden == 0)
        return fail(err, EXIT_CODE_USAGE, "input '%.64s': hidden is 0: expected 1 or more", input);
    if (input_is_file(input))
        return input_rows_of_file(input, LN_F32, first, count, hidden, x, err);
    if (input_is_worst(input))
        return worst_input_rows(input, LN_F32, first, count, hidden, x, err);
    if (!family)
        return fail_unknown(input, err);
    for (size_t i = 0; i < count; i++) {
        input_place place = {seed, first + i, hidden};
        family->make(&place, x + i * hidden);
    }
    return true;
}
