/* Adversarial rows: reading and writing their text, and their use as inputs. */
#include "inputs/worst.h"
#include "base/arena.h"
#include "base/die.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/program.h"
#include "domain/operation.h"
#include "metrics/storage.h"
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static size_t elements_of(const worst_row *row, size_t role)
{
    return role_is_parameter(&operations[row->operation]->roles[role]) ? row->parameters
                                                                       : row->rows * row->hidden;
}

static ln_type type_of(const worst_row *row, size_t role)
{
    return operations[row->operation]->roles[role].type == TYPE_PARAMETER ? row->param
                                                                          : row->storage;
}

size_t worst_row_bytes(const worst_row *row, size_t role)
{
    return row->inputs[role] ? elements_of(row, role) * dtype_size(type_of(row, role)) : 0;
}

void worst_row_keep(arena *memory, worst_row *row)
{
    for (size_t i = 0; i < ROLES_MOST; i++)
        if (row->inputs[i])
            row->inputs[i] = memcpy(arena_take(memory, 1, worst_row_bytes(row, i)), row->inputs[i],
                                    worst_row_bytes(row, i));
}

void hex_float_format(ln_type type, const void *values, size_t i, char buffer[HEX_FLOAT_LENGTH])
{
    double value = storage_load(type, values, i);
    uint64_t bits = 0;
    memcpy(&bits, (const char *)values + i * dtype_size(type), dtype_size(type));
    if (isnan(value))
        snprintf(buffer, HEX_FLOAT_LENGTH, "nan:%0*llx", 2 * (int)dtype_size(type),
                 (unsigned long long)bits);
    else
        number_print(buffer, HEX_FLOAT_LENGTH, "%a", value);
}

bool hex_float_parse(const char *text, ln_type type, void *values, size_t i)
{
    enum { MOST_DIGITS = 16 }; /* 64 bits, which a long double holds without rounding */
    const char *digits = text + (*text == '-');
    char *end;
    if (strncmp(text, "nan:", 4) == 0) {
        const uint64_t bits = strtoull(text + 4, &end, 16);
        memcpy((char *)values + i * dtype_size(type), &bits, dtype_size(type));
        return strspn(text + 4, "0123456789abcdef") == 2 * dtype_size(type) && *end == '\0' &&
               isnan(storage_load(type, values, i));
    }
    if (strcmp(digits, "inf") == 0) {
        storage_store(type, values, i, *text == '-' ? (double)-INFINITY : (double)INFINITY);
        return true;
    }
    if (strncmp(digits, "0x", 2) != 0 ||
        strspn(digits + 2, "0123456789abcdefABCDEF.") > MOST_DIGITS + 1)
        return false;
    long double given = number_read_long(text, &end);
    storage_store(type, values, i, (double)given);
    return *end == '\0' && end > digits + 2 && isfinite(given) &&
           (long double)storage_load(type, values, i) == given;
}

/* ---- a find as text ---- */

typedef enum field_kind {
    FIELD_TEXT,
    FIELD_CONVENTION,
    FIELD_TYPE,
    FIELD_SHAPE,
    FIELD_COUNT,
    FIELD_REAL,
    FIELD_HASH,
    FIELD_VERDICT,
    FIELD_WORST, /* row, column, computed and exact */
} field_kind;

typedef struct find_field {
    const char *name;
    field_kind kind;
    size_t at, size; /* offset in worst_row; size of the member in bytes */
} find_field;

#define AT(member) offsetof(worst_row, member), sizeof((worst_row *)0)->member
static const find_field fields[] = {
    {"kernel", FIELD_TEXT, AT(kernel)},
    {"convention", FIELD_CONVENTION, AT(convention)},
    {"dtype", FIELD_TYPE, AT(storage)},
    {"param", FIELD_TYPE, AT(param)},
    {"rows", FIELD_SHAPE, AT(rows)},
    {"hidden", FIELD_SHAPE, AT(hidden)},
    {"restart", FIELD_COUNT, AT(restart)},
    {"score", FIELD_REAL, AT(score)},
    {"origin", FIELD_TEXT, AT(origin)},
    {"verdict", FIELD_VERDICT, AT(verdict)},
    {"detail", FIELD_TEXT, AT(verdict.detail)},
    {"row_ulp", FIELD_REAL, AT(row_ulp)},
    {"bound", FIELD_REAL, AT(bound_row_ulp)},
    {"worst", FIELD_WORST, AT(row)},
    {"y_hash", FIELD_HASH, AT(y_hash)},
};
enum { FIELDS_COUNT = sizeof fields / sizeof *fields };

void worst_row_format(const worst_row *row, text_buffer *out)
{
    const operation *what = operations[row->operation];
    case_verdict verdict = row->verdict;
    enum { ON_A_LINE = 8 };
    char described[64], number[HEX_FLOAT_LENGTH];
    verdict.detail[0] = '\0';
    text_format(out, "find\nkernel %s\nconvention %s\ndtype %s\n", row->kernel, row->convention,
                dtype_name(row->storage));
    if (row->param != row->storage)
        text_format(out, "param %s\n", dtype_name(row->param));
    text_format(out, "rows %zu\nhidden %zu\nrestart %llu\nscore %a\n", row->rows, row->hidden,
                (unsigned long long)row->restart, row->score);
    if (row->origin[0])
        text_format(out, "origin %s\n", row->origin);
    text_format(out, "verdict %s\n", verdict_describe(&verdict, described, sizeof described));
    if (row->verdict.detail[0])
        text_format(out, "detail %s\n", row->verdict.detail);
    text_format(out, "row_ulp %a\nbound %a\nworst %zu %zu %a %a\ny_hash %016llx\n", row->row_ulp,
                row->bound_row_ulp, row->row, row->column, row->computed, row->exact,
                (unsigned long long)row->y_hash);
    for (size_t i = 0; i < what->count; i++) {
        const size_t count = row->inputs[i] ? elements_of(row, i) : 0;
        for (size_t e = 0; e < count; e++) {
            hex_float_format(type_of(row, i), row->inputs[i], e, number);
            text_format(out, "%s %s%s", e % ON_A_LINE == 0 ? what->roles[i].name : "", number,
                        e % ON_A_LINE == ON_A_LINE - 1 || e + 1 == count ? "\n" : "");
        }
    }
    text_add(out, "end\n");
}

/* The state of reading a file. */
typedef struct file_reader {
    const char *path;
    worst_list *list;
    size_t line;
    bool inside; /* between the lines "find" and "end" */
    worst_row row;
    size_t have[ROLES_MOST]; /* the numbers of each input that were read */
} file_reader;

__attribute__((format(printf, 2, 3))) static _Noreturn void bad(const file_reader *reader,
                                                                const char *format, ...)
{
    char what[512];
    va_list arguments;
    va_start(arguments, format);
    number_print_list(what, sizeof what, format, arguments);
    va_end(arguments);
    die(EXIT_CODE_USAGE, "%s:%zu: %s", reader->path, reader->line, what);
}

static bool parse_size(const char *text, uint64_t *size)
{
    char *end;
    errno = 0;
    *size = strtoull(text, &end, 10);
    return !errno && end > text && *end == '\0' && *text >= '0' && *text <= '9';
}

/* Reads a double that "%a" printed. */
static bool parse_hex(const char *text, double *value)
{
    *value = NAN;
    return strcmp(text + (*text == '-'), "nan") == 0 || hex_float_parse(text, LN_F64, value, 0);
}

/* Returns the number of elements that an input must have; 0: convention or shape are not known yet. */
static size_t wanted_of(const worst_row *row, const tensor_role *role)
{
    ln_convention convention = {0};
    if (role_is_parameter(role) &&
        (!row->convention[0] || !convention_parse(row->convention, &convention, NULL)))
        return 0;
    return role_columns(role, &convention, row->hidden) * (role_is_parameter(role) ? 1 : row->rows);
}

/* Adds a line of numbers to an input. */
static void add_floats(file_reader *reader, size_t role, char *words)
{
    worst_row *row = &reader->row;
    const size_t wanted = wanted_of(row, &operations[row->operation]->roles[role]);
    const ln_type type = type_of(row, role);
    char *state = NULL;
    if (wanted == 0 || wanted > WORST_MAX_ELEMENTS)
        bad(reader, "numbers before rows and hidden are known to be 1 or more");
    if (!row->inputs[role])
        row->inputs[role] = arena_new(&reader->list->memory, char, wanted *dtype_size(type));
    for (char *word = strtok_r(words, " ", &state); word; word = strtok_r(NULL, " ", &state)) {
        if (reader->have[role] == wanted)
            bad(reader, "'%.40s': %zu numbers are there already, and no more expected", word,
                wanted);
        if (!hex_float_parse(word, type, row->inputs[role], reader->have[role]++))
            bad(reader, "'%.40s': a hex float of %s was expected, as in 0x1.8p-3", word,
                dtype_name(type));
    }
}

static void set_convention(file_reader *reader, const char *value)
{
    worst_row *row = &reader->row;
    ln_convention convention;
    error why = {0};
    if (strlen(value) >= sizeof row->convention)
        bad(reader, "a convention of %zu characters", strlen(value));
    if (!convention_parse(value, &convention, &why))
        bad(reader, "%.400s", why.message);
    snprintf(row->convention, sizeof row->convention, "%s", value);
    row->operation = convention.operation;
}

static bool set_worst(worst_row *row, char *value)
{
    char *state = NULL, *words[4];
    uint64_t at[2] = {0};
    for (int i = 0; i < 4; i++)
        if (!(words[i] = strtok_r(i ? NULL : value, " ", &state)))
            return false;
    bool fine = parse_size(words[0], &at[0]) && parse_size(words[1], &at[1]) &&
                parse_hex(words[2], &row->computed) && parse_hex(words[3], &row->exact);
    row->row = (size_t)at[0];
    row->column = (size_t)at[1];
    return fine;
}

static void set_field(file_reader *reader, const find_field *field, char *value)
{
    static const char *const expected[] = {[FIELD_TYPE] = "f32, f64, bf16 or f16",
                                           [FIELD_SHAPE] = "a whole number from 1",
                                           [FIELD_COUNT] = "a whole number",
                                           [FIELD_REAL] = "a hex float",
                                           [FIELD_HASH] = "16 hex digits",
                                           [FIELD_WORST] = "row, column, computed and exact, two "
                                                           "whole numbers and two hex floats,"};
    worst_row *row = &reader->row;
    void *at = (char *)row + field->at;
    uint64_t count;
    case_verdict found;
    char *end;
    bool any = false, fine = true;
    /* The memory of the numbers was allocated for the type, convention and shape at the first number. */
    for (size_t i = 0; i < ROLES_MOST; i++)
        any |= row->inputs[i] != NULL;
    if (any && (field->kind == FIELD_TYPE || field->kind == FIELD_CONVENTION ||
                field->kind == FIELD_SHAPE))
        bad(reader, "%s: comes after the numbers", field->name);
    switch (field->kind) {
    case FIELD_TEXT:
        if (!*value || strlen(value) >= field->size)
            bad(reader, "%s: 1 to %zu characters were expected", field->name, field->size - 1);
        memcpy(at, value, strlen(value) + 1);
        break;
    case FIELD_CONVENTION:
        set_convention(reader, value);
        break;
    case FIELD_TYPE: /* dtype is the parameters' type too, unless a field param follows */
        if ((fine = dtype_from_name(value, at)))
            row->param = *(ln_type *)at;
        break;
    case FIELD_SHAPE:
        fine = parse_size(value, &count) && count > 0 && count <= WORST_MAX_ELEMENTS;
        *(size_t *)at = fine ? (size_t)count : 0;
        break;
    case FIELD_COUNT:
        fine = parse_size(value, at);
        break;
    case FIELD_REAL:
        fine = parse_hex(value, at);
        break;
    case FIELD_HASH:
        *(uint64_t *)at = strtoull(value, &end, 16);
        fine = strlen(value) == 16 && *end == '\0';
        break;
    case FIELD_VERDICT:
        if (!verdict_from_phrase(value, &found))
            bad(reader, "unknown verdict '%.60s'", value);
        row->verdict.kind = found.kind;
        break;
    case FIELD_WORST:
        fine = set_worst(row, value);
        break;
    }
    if (!fine)
        bad(reader, "%s '%.60s': %s was expected", field->name, value, expected[field->kind]);
}

/* Checks that the find is complete and that its inputs have the right lengths, and adds it to the list. */
static void end_find(file_reader *reader)
{
    worst_row *row = &reader->row;
    worst_list *list = reader->list;
    ln_convention convention;
    if (!row->kernel[0] || !row->convention[0])
        bad(reader, "this find has no %s", row->kernel[0] ? "convention" : "kernel");
    convention_parse(row->convention, &convention, NULL);
    const operation *what = operations[row->operation];
    for (size_t i = 0; i < what->count; i++) {
        const tensor_role *role = &what->roles[i];
        bool there = role_is_kept(role) && role_is_needed(role, &convention);
        size_t wanted = there ? wanted_of(row, role) : 0;
        if (reader->have[i] != wanted || (there && wanted == 0))
            bad(reader, "%s has %zu numbers; %zu were expected", role->name, reader->have[i],
                wanted);
        if (role_is_parameter(role) && wanted > 0)
            row->parameters = wanted;
    }
    if (row->row >= row->rows || row->column >= row->hidden)
        bad(reader, "the worst element lies outside of the find");
    list->rows = allocate_room(list->rows, list->count, sizeof *list->rows);
    list->rows[list->count++] = *row;
    reader->inside = false;
}

static void read_line(file_reader *reader, char *line)
{
    line[strcspn(line, "\r\n")] = '\0';
    if (line[0] == '\0' || line[0] == '#')
        return;
    if (strcmp(line, "find") == 0) {
        if (reader->inside)
            bad(reader, "a find begins before the one above it has its end");
        *reader = (file_reader){.path = reader->path,
                                .list = reader->list,
                                .line = reader->line,
                                .inside = true,
                                .row = {.row_ulp = NAN, .bound_row_ulp = NAN, .rows = 1}};
        return;
    }
    if (!reader->inside)
        bad(reader, "'%.40s': find was expected", line);
    if (strcmp(line, "end") == 0) {
        end_find(reader);
        return;
    }
    char *value = strchr(line, ' ');
    if (!value)
        bad(reader, "'%.40s': a field and its value were expected", line);
    *value++ = '\0';
    const operation *what = operations[reader->row.operation];
    for (size_t i = 0; i < what->count; i++)
        if (role_is_kept(&what->roles[i]) && strcmp(line, what->roles[i].name) == 0) {
            add_floats(reader, i, value);
            return;
        }
    for (size_t i = 0; i < FIELDS_COUNT; i++)
        if (strcmp(line, fields[i].name) == 0) {
            set_field(reader, &fields[i], value);
            return;
        }
    bad(reader, "'%.40s' is no field of a find: see docs/accuracy.md", line);
}

void worst_list_read(const char *path, worst_list *list)
{
    file_reader reader = {.path = path, .list = list};
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;
    errno = file ? 0 : errno;
    while (file && getline(&line, &room, file) >= 0) {
        reader.line++;
        read_line(&reader, line);
    }
    if (!file || ferror(file))
        die(EXIT_CODE_ENVIRONMENT, "%s: cannot read it: %s", path, strerror(errno));
    if (reader.inside)
        bad(&reader, "the file ends within a row");
    free(line);
    fclose(file);
}

void worst_list_free(worst_list *list)
{
    arena_free(&list->memory);
    free(list->rows);
    *list = (worst_list){0};
}

/* ---- as inputs ---- */

static const char place_prefix[] = WORST_INPUT ":";

static bool has_place(const char *input)
{
    return strncmp(input, place_prefix, strlen(place_prefix)) == 0;
}

bool input_is_worst(const char *input)
{
    return strcmp(input, WORST_INPUT) == 0 || has_place(input);
}

const char *worst_place(const char *input)
{
    static _Thread_local char path[1024];
    const char *named = has_place(input) ? input + strlen(place_prefix) : getenv("LNBENCH_WORST");
    if (!named && !own_path(OWN_WORST, path, sizeof path))
        return "reference/worst";
    return named ? named : path;
}

static int is_find_file(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return entry->d_name[0] != '.' && length > 4 && strcmp(entry->d_name + length - 4, ".txt") == 0;
}

/* Reads every find, in the order of the files' names. */
static worst_list read_input(const char *input)
{
    const char *place = worst_place(input);
    struct dirent **names = NULL;
    worst_list list = {0};
    const int count = scandir(place, &names, is_find_file, alphasort);
    if (count < 0 && errno == ENOTDIR)
        worst_list_read(place, &list);
    else if (count < 0 && (errno != ENOENT || has_place(input)))
        die(EXIT_CODE_ENVIRONMENT, "%s: cannot read it: %s", place, strerror(errno));
    for (int i = 0; i < count; i++) {
        worst_list_read(arena_format(&list.memory, "%s/%s", place, names[i]->d_name), &list);
        free(names[i]);
    }
    free(names);
    return list;
}

void worst_input_rows(const char *input, ln_type type, size_t first, size_t count, size_t hidden,
                      void *x)
{
    worst_list list = read_input(input);
    size_t row_bytes = hidden * dtype_size(type), all = 0, row = 0;
    for (size_t i = 0; i < list.count; i++)
        if (list.rows[i].hidden == hidden && list.rows[i].storage == type)
            all += list.rows[i].rows;
    if (all == 0)
        die(EXIT_CODE_USAGE,
            "input %.64s: no %s row of hidden %zu in %s: lnbench hunt --hidden %zu with a kernel "
            "of that type finds some",
            input, dtype_name(type), hidden, worst_place(input), hidden);
    for (size_t i = 0; i < list.count; i++) {
        const worst_row *find = &list.rows[i];
        if (find->hidden != hidden || find->storage != type)
            continue;
        for (size_t r = 0; r < find->rows; r++, row++)
            for (size_t to = (row + all - first % all) % all; to < count; to += all)
                memcpy((char *)x + to * row_bytes,
                       (const char *)find->inputs[ROLE_X] + r * row_bytes, row_bytes);
    }
    worst_list_free(&list);
}

void worst_input_shapes(const char *input, worst_shapes *shapes)
{
    worst_list list = read_input(input);
    *shapes = (worst_shapes){.hash = HASH_START,
                             .shapes = allocate((list.count + 1) * sizeof *shapes->shapes)};
    for (size_t i = 0; i < list.count; i++) {
        const worst_row *find = &list.rows[i];
        size_t at = 0;
        while (at < shapes->count && (shapes->shapes[at].hidden != find->hidden ||
                                      shapes->shapes[at].type != find->storage))
            at++;
        if (at == shapes->count)
            shapes->shapes[shapes->count++] = (worst_shape){find->storage, find->hidden, 0};
        shapes->shapes[at].rows += find->rows;
        shapes->rows += find->rows;
        shapes->hash = hash_bytes(shapes->hash, find->inputs[ROLE_X],
                                  find->rows * find->hidden * dtype_size(find->storage));
    }
    worst_list_free(&list);
}
