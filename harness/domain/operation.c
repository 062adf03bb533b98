/* Look-ups in the table of operations, calls of an operation, and its conventions as text. */
#include "domain/operation.h"
#include "base/arena.h"
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
    for (size_t i = 0; i <= OPERATIONS; i++)
        names[i] = i < OPERATIONS ? operations[i]->name : "all";
    const size_t found = name ? word_chosen("operation", name, names, OPERATIONS + 1) : 0;
    return found == OPERATIONS ? OPERATION_BIT(OPERATIONS) - 1 : OPERATION_BIT(found);
}

double call_bytes(const operation *what, size_t rows, size_t hidden, ln_type dtype)
{
    double tables = 0;
    for (size_t i = 0; i < what->count; i++)
        tables += what->roles[i].shape == SHAPE_TABLE && !what->roles[i].optional;
    return tables * (double)rows * (double)hidden * (double)dtype_size(dtype);
}

role_extent role_extent_of(const tensor_role *role, const ln_problem *problem, ln_type accumulator)
{
    ln_type type = role->type == TYPE_STORAGE     ? problem->storage
                   : role->type == TYPE_PARAMETER ? problem->param
                   : role->output                 ? accumulator
                   : problem->storage == LN_F64   ? LN_F64
                                                  : LN_F32;
    size_t element = dtype_size(type);
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

/* Changes one field at a time: to the level that it is easily mistaken for; eps to each other place, then to none. */
size_t convention_neighbours(const ln_convention *own, ln_convention others[NEIGHBOURS_MOST])
{
    const operation *what = operations[own->operation];
    size_t count = 0;
    for (size_t i = 0; i < what->field_count; i++) {
        const convention_field *field = &what->fields[i];
        const size_t level = convention_level(field, own);
        for (size_t j = 1; j <= field->levels; j++) {
            const size_t other = j % field->levels;
            const bool taken =
                field->eps ? level > 0 : field->taken_for && field->taken_for[level] == other;
            if (!taken || other == level)
                continue;
            others[count] = *own;
            convention_set_level(field, other, &others[count]);
            if (field->eps && other == 0)
                others[count].eps = 0;
            count++;
        }
    }
    return count;
}

#define OPERATION(KIND, name) extern const operation name##_operation;
#include "domain/operations.def"
#undef OPERATION

#define OPERATION(KIND, name) [LN_OPERATION_##KIND] = &name##_operation,
const operation *const operations[] = {
#include "domain/operations.def"
    NULL};

const size_t operation_count = sizeof operations / sizeof *operations - 1;

/* ---- conventions as text ---- */

enum { CHOICES_LENGTH = 160 };

/* Writes `before` and then the words as "MARKfirst, MARKsecond or MARKlast". */
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

/* Fails with "convention 'LIST': WHAT 'PART': EXPECTED". */
static bool fail_part(error *err, const char *list, const char *what, const char *part,
                      const char *expected)
{
    return fail(err, EXIT_CODE_USAGE, "convention '%.96s': %s '%.60s': %s", list, what, part,
                expected);
}

/* Reads EPS@PLACE, or 0 without a place; *place is then NULL. */
static bool parse_eps(const char *list, const convention_field *field, const char *given,
                      double *eps, const char **place, error *err)
{
    const char *at = strchr(given, '@');
    char places[CHOICES_LENGTH], said[2 * CHOICES_LENGTH];
    *place = at ? at + 1 : NULL;
    if (!number_parse(given, at ? (size_t)(at - given) : strlen(given), eps))
        return fail_part(err, list, field->name, given,
                         choices("must be a finite decimal number and its place, such as ", "1e-5@",
                                 field->words + 1, 1, said));
    if (*eps < 0)
        return fail_part(err, list, field->name, given, "must not be negative");
    if (at || *eps == 0)
        return true;
    snprintf(said, sizeof said, "does not say where it is added: write %s behind it",
             choices("", "@", field->words + 1, field->levels - 1, places));
    return fail_part(err, list, field->name, given, said);
}

static bool parse_field(const char *list, const convention_field *field, const char *given,
                        ln_convention *convention, error *err)
{
    char said[CHOICES_LENGTH];
    const char *word = given;
    size_t first = field->eps, level = first; /* a list cannot name level 0 of eps, "none" */
    double eps = 0;
    if (field->eps && !parse_eps(list, field, given, &eps, &word, err))
        return false;
    while (word && level < field->levels && strcmp(word, field->words[level]) != 0)
        level++;
    if (level == field->levels)
        return fail_part(err, list, field->eps ? "place of eps" : field->name, word,
                         field->expected ? field->expected
                                         : choices("must be ", "", field->words + first,
                                                   field->levels - first, said));
    /* eps 0 has the same effect in every place, so it is always stored with level 0. */
    convention_set_level(field, field->eps && eps == 0 ? 0 : level, convention);
    if (field->eps)
        convention->eps = eps > 0 ? eps : 0;
    return true;
}

/* Reads one KEY=VALUE. `seen` has a bit for each field that the list has already set. */
static bool parse_pair(const char *list, char *pair, unsigned *seen, ln_convention *convention,
                       error *err)
{
    const operation *what = operations[convention->operation];
    const char *names[sizeof *seen * 8], *key = strsep(&pair, "=");
    char said[CHOICES_LENGTH];
    if (!*key && !pair)
        return fail(err, EXIT_CODE_USAGE,
                    "convention '%.96s': empty part: a list is KEY=VALUE,KEY=VALUE", list);
    for (size_t i = 0; i < what->field_count; i++)
        names[i] = what->fields[i].name;
    const size_t field = word_find(key, names, what->field_count);
    if (field == what->field_count)
        return fail_part(err, list, "unknown key", key,
                         choices("expected ", "", names, what->field_count, said));
    if (!pair)
        return fail_part(err, list, "no value for", key, "write KEY=VALUE");
    if (*seen & 1u << field)
        return fail_part(err, list, "repeated key", key, "give each key once");
    *seen |= 1u << field;
    return parse_field(list, &what->fields[field], pair, convention, err);
}

static bool parse_list(const char *given, ln_convention *convention, error *err)
{
    static const char of[] = "operation="; /* the first key of a list for RMSNorm */
    char *copy = allocate_copy(given, strlen(given) + 1), *rest = copy;
    ln_convention made = {0};
    unsigned seen = 0;
    bool fine = true;
    while (fine && rest) {
        bool first = rest == copy;
        char *pair = strsep(&rest, ",");
        ln_operation kind;
        if (first && strncmp(pair, of, strlen(of)) == 0 &&
            operation_from_name(pair + strlen(of), &kind))
            made.operation = kind;
        else
            fine = parse_pair(given, pair, &seen, &made, err);
    }
    free(copy);
    if (fine)
        *convention = made;
    return fine;
}

static bool fail_preset(const char *given, error *err)
{
    const char *names[64];
    const ln_convention *meant_by[64], *example = &operations[0]->presets[0].convention;
    char meant[MEANT_LENGTH], list[CONVENTION_MAX_LENGTH];
    size_t count = 0;
    for (size_t kind = 0; operations[kind]; kind++)
        for (size_t i = 0; i < operations[kind]->preset_count && count < 64; i++) {
            meant_by[count] = &operations[kind]->presets[i].convention;
            names[count++] = operations[kind]->presets[i].name;
        }
    const char *nearest = nearest_word(given, names, count);
    if (nearest)
        example = meant_by[word_find(nearest, names, count)];
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
