#include "domain/convention.h"
#include "base/number.h"
#include "base/text.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define CONVENTION(divisor, place, value, form)                                                    \
    {                                                                                              \
        .ddof = (divisor), .eps_place = LN_EPS_##place, .eps = (value), .affine = LN_AFFINE_##form \
    }

/* THE table of presets: docs/conventions.md says whose they are. */
static const convention_preset presets[] = {
    {"torch", CONVENTION(0, VAR, 1e-5, VECTOR), "torch.nn.LayerNorm"},
    {"torch-nobias", CONVENTION(0, VAR, 1e-5, GAMMA), "torch.nn.LayerNorm(bias=False)"},
    {"tinyllm", CONVENTION(0, VAR, 1e-5, NONE), "tinyllm, no affine (document 001)"},
    {"manual-1e-6", CONVENTION(0, VAR, 1e-6, VECTOR), "by hand with eps 1e-6 (document 004)"},
    {"formula-std", CONVENTION(0, STD, 1e-5, VECTOR), "the formula (x-mean)/(std+eps) as printed"},
    {"zscore", CONVENTION(1, NONE, 0, NONE), "z-scores, no eps (document 002)"},
    {"scalar-std", CONVENTION(1, STD, 1e-5, SCALAR), "module with scalar affine (document 003)"},
    {"numpy-quotient", CONVENTION(1, QUOTIENT, 1e-5, SCALAR), "NumPy line of document 003"},
    {"annotated-transformer", CONVENTION(1, STD, 1e-6, VECTOR), "The Annotated Transformer"},
    {"bert", CONVENTION(0, VAR, 1e-12, VECTOR), "BERT"},
    {"keras", CONVENTION(0, VAR, 1e-3, VECTOR), "keras.layers.LayerNormalization"},
};
enum { PRESET_COUNT = sizeof presets / sizeof *presets };

/* Names as they stand in a list; the index is the enumerator. */
static const char *const place_names[] = {"none", "var", "std", "quotient"};
static const char *const affine_names[] = {"none", "scalar", "gamma", "vector", "gamma1"};
static const char *const key_names[] = {"ddof", "eps", "affine"};

enum { FIRST_PLACE = 1, PLACE_COUNT = 4, AFFINE_COUNT = 5, KEY_COUNT = 3 };

/* A stretch of the given text. */
typedef struct part {
    const char *begin;
    size_t length;
} part;

static part part_until(part whole, char end)
{
    const char *found = memchr(whole.begin, end, whole.length);
    return (part){whole.begin, found ? (size_t)(found - whole.begin) : whole.length};
}

/* What follows `first` and one separator. Only where first is not the whole. */
static part part_after(part whole, part first)
{
    return (part){first.begin + first.length + 1, whole.length - first.length - 1};
}

/* The index of the part among the names from `first` on, or -1. */
static int find_name(part given, const char *const *names, int first, int count)
{
    for (int i = first; i < count; i++)
        if (strlen(names[i]) == given.length && memcmp(names[i], given.begin, given.length) == 0)
            return i;
    return -1;
}

static const char *part_string(part given, char buffer[NAME_MAX_LENGTH])
{
    snprintf(buffer, NAME_MAX_LENGTH, "%.*s", (int)(given.length < 60 ? given.length : 60),
             given.begin);
    return buffer;
}

/* "convention '...': WHAT 'PART' ...": every error of a list names the list and the part. */
static bool fail_part(error *err, const char *list, const char *what, part given,
                      const char *expected)
{
    char buffer[NAME_MAX_LENGTH];
    return fail(err, EXIT_CODE_USAGE, "convention '%.96s': %s '%s': %s", list, what,
                part_string(given, buffer), expected);
}

static bool parse_ddof(const char *list, part given, ln_convention *convention, error *err)
{
    if (given.length != 1 || (given.begin[0] != '0' && given.begin[0] != '1'))
        return fail_part(err, list, "ddof", given, "must be 0 (divide by N) or 1 (by N-1)");
    convention->ddof = given.begin[0] - '0';
    return true;
}

static bool parse_eps(const char *list, part given, ln_convention *convention, error *err)
{
    part number = part_until(given, '@');
    double eps;
    if (!number_parse(number.begin, number.length, &eps))
        return fail_part(err, list, "eps", given,
                         "must be a finite decimal number and its place, such as 1e-5@var");
    if (eps < 0)
        return fail_part(err, list, "eps", given, "must not be negative");
    if (number.length == given.length) {
        if (eps > 0)
            return fail_part(err, list, "eps", given,
                             "does not say where it is added: write @var, @std or @quotient "
                             "behind it");
        convention->eps_place = LN_EPS_NONE;
        convention->eps = 0;
        return true;
    }
    part place = part_after(given, number);
    int found = find_name(place, place_names, FIRST_PLACE, PLACE_COUNT);
    if (found < 0)
        return fail_part(err, list, "place of eps", place, "must be var, std or quotient");
    /* eps 0 is the same wherever it is added: one convention has one form. */
    convention->eps_place = eps > 0 ? (ln_eps_place)found : LN_EPS_NONE;
    convention->eps = eps > 0 ? eps : 0;
    return true;
}

static bool parse_affine(const char *list, part given, ln_convention *convention, error *err)
{
    int found = find_name(given, affine_names, 0, AFFINE_COUNT);
    if (found < 0)
        return fail_part(err, list, "affine", given,
                         "must be none, scalar, gamma, vector or gamma1");
    convention->affine = (ln_affine)found;
    return true;
}

/* One KEY=VALUE. `seen` has a bit for each key that came before. */
static bool parse_pair(const char *list, part pair, unsigned *seen, ln_convention *convention,
                       error *err)
{
    part name = part_until(pair, '=');
    if (pair.length == 0)
        return fail(err, EXIT_CODE_USAGE,
                    "convention '%.96s': empty part: a list is KEY=VALUE,KEY=VALUE", list);
    int key = find_name(name, key_names, 0, KEY_COUNT);
    if (key < 0)
        return fail_part(err, list, "unknown key", name, "expected ddof, eps or affine");
    if (name.length == pair.length)
        return fail_part(err, list, "no value for", name, "write KEY=VALUE");
    if (*seen & 1u << key)
        return fail_part(err, list, "repeated key", name, "give each key once");
    *seen |= 1u << key;
    part value = part_after(pair, name);
    if (key == 0)
        return parse_ddof(list, value, convention, err);
    if (key == 1)
        return parse_eps(list, value, convention, err);
    return parse_affine(list, value, convention, err);
}

static bool parse_list(const char *given, ln_convention *convention, error *err)
{
    ln_convention made = {0};
    unsigned seen = 0;
    part rest = {given, strlen(given)};
    for (;;) {
        part pair = part_until(rest, ',');
        if (!parse_pair(given, pair, &seen, &made, err))
            return false;
        if (pair.length == rest.length)
            break;
        rest = part_after(rest, pair);
    }
    *convention = made;
    return true;
}

static bool fail_preset(const char *given, error *err)
{
    const char *names[PRESET_COUNT];
    for (size_t i = 0; i < PRESET_COUNT; i++)
        names[i] = presets[i].name;
    char meant[MEANT_LENGTH];
    return fail(err, EXIT_CODE_USAGE,
                "unknown convention '%.96s'%s: expected a preset (see 'lnbench list conventions') "
                "or a list such as ddof=1,eps=1e-6@std,affine=vector",
                given, did_you_mean(given, names, PRESET_COUNT, meant));
}

const convention_preset *convention_presets(size_t *count)
{
    *count = PRESET_COUNT;
    return presets;
}

bool convention_parse(const char *given, ln_convention *convention, error *err)
{
    for (size_t i = 0; i < PRESET_COUNT; i++) {
        if (strcmp(given, presets[i].name) == 0) {
            *convention = presets[i].convention;
            return true;
        }
    }
    if (given[0] == '\0')
        return fail(err, EXIT_CODE_USAGE,
                    "empty convention: expected a preset (see 'lnbench list conventions') or a "
                    "list such as ddof=1,eps=1e-6@std,affine=vector");
    if (!strpbrk(given, "=,@"))
        return fail_preset(given, err);
    return parse_list(given, convention, err);
}

const char *convention_format(const ln_convention *convention, char buffer[CONVENTION_MAX_LENGTH])
{
    char eps[32] = "0";
    bool placed = convention->eps_place != LN_EPS_NONE && convention->eps != 0;
    if (placed)
        number_format(convention->eps, eps);
    snprintf(buffer, CONVENTION_MAX_LENGTH, "ddof=%d,eps=%s%s%s,affine=%s", convention->ddof, eps,
             placed ? "@" : "", placed ? place_names[convention->eps_place] : "",
             affine_names[convention->affine]);
    return buffer;
}

const char *convention_label(const ln_convention *convention, char buffer[CONVENTION_MAX_LENGTH])
{
    for (size_t i = 0; i < PRESET_COUNT; i++) {
        const ln_convention *preset = &presets[i].convention;
        if (preset->ddof == convention->ddof && preset->eps_place == convention->eps_place &&
            preset->eps == convention->eps && preset->affine == convention->affine) {
            snprintf(buffer, CONVENTION_MAX_LENGTH, "%s", presets[i].name);
            return buffer;
        }
    }
    return convention_format(convention, buffer);
}

const char *convention_place_name(ln_eps_place place)
{
    return place_names[place];
}

const char *convention_affine_name(ln_affine affine)
{
    return affine_names[affine];
}
