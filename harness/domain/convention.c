#include "domain/convention.h"
#include "base/text.h"
#include <stdio.h>
#include <string.h>

enum { CHOICES_LENGTH = 160 };

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

static bool part_is(part given, const char *word)
{
    return strlen(word) == given.length && memcmp(word, given.begin, given.length) == 0;
}

/* "MARKfirst, MARKsecond or MARKlast" behind `before`. */
static const char *choices(const char *before, const char *mark, const char *const *words,
                           size_t count, char buffer[CHOICES_LENGTH])
{
    size_t length = (size_t)snprintf(buffer, CHOICES_LENGTH, "%s", before);
    for (size_t i = 0; i < count && length < CHOICES_LENGTH; i++)
        length += (size_t)snprintf(buffer + length, CHOICES_LENGTH - length, "%s%s%s",
                                   i == 0           ? ""
                                   : i + 1 == count ? " or "
                                                    : ", ",
                                   mark, words[i]);
    return buffer;
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

/* EPS@ before the word of its place, which is left in *word; empty where there is none. */
static bool parse_eps(const char *list, const convention_field *field, part given, double *eps,
                      part *word, error *err)
{
    part number = part_until(given, '@');
    char places[CHOICES_LENGTH], said[2 * CHOICES_LENGTH];
    if (!number_parse(number.begin, number.length, eps))
        return fail_part(err, list, field->name, given,
                         choices("must be a finite decimal number and its place, such as ", "1e-5@",
                                 field->words + 1, 1, said));
    if (*eps < 0)
        return fail_part(err, list, field->name, given, "must not be negative");
    bool placed = number.length < given.length;
    *word = placed ? part_after(given, number) : (part){given.begin, 0};
    if (placed || *eps == 0)
        return true;
    snprintf(said, sizeof said, "does not say where it is added: write %s behind it",
             choices("", "@", field->words + 1, field->levels - 1, places));
    return fail_part(err, list, field->name, given, said);
}

static bool parse_field(const char *list, const convention_field *field, part given,
                        ln_convention *convention, error *err)
{
    char said[CHOICES_LENGTH];
    part word = given;
    size_t first = field->eps, level = first;
    double eps = 0;
    if (field->eps && !parse_eps(list, field, given, &eps, &word, err))
        return false;
    bool bare = field->eps && eps == 0 && word.begin == given.begin;
    while (!bare && level < field->levels && !part_is(word, field->words[level]))
        level++;
    if (level == field->levels)
        return fail_part(err, list, field->eps ? "place of eps" : field->name, word,
                         field->expected ? field->expected
                                         : choices("must be ", "", field->words + first,
                                                   field->levels - first, said));
    /* eps 0 is the same wherever it is added: one convention has one form. */
    convention_set_level(field, field->eps && eps == 0 ? 0 : level, convention);
    if (field->eps)
        convention->eps = eps > 0 ? eps : 0;
    return true;
}

/* One KEY=VALUE. `seen` has a bit for each field that came before. */
static bool parse_pair(const char *list, part pair, unsigned *seen, ln_convention *convention,
                       error *err)
{
    const operation *what = operations[convention->operation];
    part name = part_until(pair, '=');
    const char *names[sizeof *seen * 8];
    char said[CHOICES_LENGTH];
    size_t key = 0;
    if (pair.length == 0)
        return fail(err, EXIT_CODE_USAGE,
                    "convention '%.96s': empty part: a list is KEY=VALUE,KEY=VALUE", list);
    while (key < what->field_count && !part_is(name, what->fields[key].name))
        key++;
    for (size_t i = 0; i < what->field_count; i++)
        names[i] = what->fields[i].name;
    if (key == what->field_count)
        return fail_part(err, list, "unknown key", name,
                         choices("expected ", "", names, what->field_count, said));
    if (name.length == pair.length)
        return fail_part(err, list, "no value for", name, "write KEY=VALUE");
    if (*seen & 1u << key)
        return fail_part(err, list, "repeated key", name, "give each key once");
    *seen |= 1u << key;
    return parse_field(list, &what->fields[key], part_after(pair, name), convention, err);
}

/* A list of another operation than the first begins with "operation=NAME". */
static bool names_operation(part pair, ln_convention *made)
{
    part key = part_until(pair, '=');
    if (!part_is(key, "operation") || key.length == pair.length)
        return false;
    for (int kind = 0; operations[kind]; kind++)
        if (part_is(part_after(pair, key), operations[kind]->name)) {
            made->operation = (ln_operation)kind;
            return true;
        }
    return false;
}

static bool parse_list(const char *given, ln_convention *convention, error *err)
{
    ln_convention made = {0};
    unsigned seen = 0;
    part rest = {given, strlen(given)};
    for (;;) {
        part pair = part_until(rest, ',');
        if (!(rest.begin == given && names_operation(pair, &made)) &&
            !parse_pair(given, pair, &seen, &made, err))
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
    enum { MOST = 64 };
    const char *names[MOST];
    const ln_convention *meant_by[MOST], *example = &operations[0]->presets[0].convention;
    size_t count = 0;
    for (size_t kind = 0; operations[kind]; kind++)
        for (size_t i = 0; i < operations[kind]->preset_count && count < MOST; i++) {
            meant_by[count] = &operations[kind]->presets[i].convention;
            names[count++] = operations[kind]->presets[i].name;
        }
    char meant[MEANT_LENGTH], list[CONVENTION_MAX_LENGTH];
    const char *nearest = nearest_word(given, names, count);
    for (size_t i = 0; i < count; i++)
        example = names[i] == nearest ? meant_by[i] : example;
    return fail(err, EXIT_CODE_USAGE,
                "unknown convention '%.96s'%s: expected a preset (see 'lnbench list conventions "
                "--operation all') or a list such as %s",
                given, did_you_mean(given, names, count, meant), convention_format(example, list));
}

const convention_preset *convention_presets(ln_operation kind, size_t *count)
{
    *count = operations[kind]->preset_count;
    return operations[kind]->presets;
}

bool convention_parse(const char *given, ln_convention *convention, error *err)
{
    for (size_t kind = 0; operations[kind]; kind++)
        for (size_t i = 0; i < operations[kind]->preset_count; i++)
            if (strcmp(given, operations[kind]->presets[i].name) == 0) {
                *convention = operations[kind]->presets[i].convention;
                return true;
            }
    if (given[0] == '\0')
        return fail(err, EXIT_CODE_USAGE,
                    "empty convention: expected a preset (see 'lnbench list conventions') or a "
                    "list such as ddof=1,eps=1e-6@std,affine=vector");
    if (!strpbrk(given, "=,@"))
        return fail_preset(given, err);
    return parse_list(given, convention, err);
}

ln_convention convention_named(const char *given)
{
    ln_convention convention;
    error why;
    if (!convention_parse(given, &convention, &why))
        die(why.code, "%s", why.message);
    return convention;
}

ln_convention convention_for(const char *given, ln_type storage)
{
    ln_convention convention = convention_named(given);
    const operation *what = operations[convention.operation];
    if (storage == LN_F64 && what->eps_f64 > 0 && strcmp(given, what->presets[0].name) == 0)
        convention.eps = what->eps_f64;
    return convention;
}

const char *convention_format(const ln_convention *convention, char buffer[CONVENTION_MAX_LENGTH])
{
    const operation *what = operations[convention->operation];
    size_t length = 0;
    bool whole = what == operations[0];
    if (!whole)
        length = (size_t)snprintf(buffer, CONVENTION_MAX_LENGTH, "operation=%s", what->name);
    for (size_t i = 0; i < what->field_count && length < CONVENTION_MAX_LENGTH; i++) {
        const convention_field *field = &what->fields[i];
        const char *word = field->words[convention_level(field, convention)];
        if (!whole && convention_level(field, convention) == 0)
            continue;
        char eps[32] = "";
        bool placed = convention->eps != 0 && convention_level(field, convention) > 0;
        if (field->eps && placed)
            number_format(convention->eps, eps);
        length += (size_t)snprintf(buffer + length, CONVENTION_MAX_LENGTH - length, "%s%s=%s%s%s",
                                   length ? "," : "", field->name, eps, *eps ? "@" : "",
                                   field->eps && !placed ? "0" : word);
    }
    return buffer;
}

const char *convention_label(const ln_convention *convention, char buffer[CONVENTION_MAX_LENGTH])
{
    const operation *what = operations[convention->operation];
    for (size_t i = 0; i < what->preset_count; i++)
        if (convention_equal(&what->presets[i].convention, convention)) {
            snprintf(buffer, CONVENTION_MAX_LENGTH, "%s", what->presets[i].name);
            return buffer;
        }
    return convention_format(convention, buffer);
}
