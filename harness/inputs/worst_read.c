/* Worst rows read back from text, line by line; whatever is wrong is said with file and line. */
#include "domain/convention.h"
#include "inputs/worst_row.h"
#include "base/number.h"
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Where the reader is. */
typedef struct file_reader {
    const char *path;
    size_t line;
    bool inside; /* between find and end */
    worst_row row;
    size_t have[ROLES_MOST]; /* numbers of each input */
} file_reader;

static bool bad(const file_reader *reader, error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool bad(const file_reader *reader, error *err, const char *format, ...)
{
    char what[512];
    va_list arguments;
    va_start(arguments, format);
    number_print_list(what, sizeof what, format, arguments);
    va_end(arguments);
    return fail(err, EXIT_CODE_USAGE, "%s:%zu: %s", reader->path, reader->line, what);
}

static bool parse_size(const char *text, size_t *size)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    *size = (size_t)value;
    return !errno && end > text && *end == '\0' && *text >= '0' && *text <= '9';
}

/* A double as "%a" prints it. */
static bool parse_hex(const char *text, double *value)
{
    const char *digits = text + (*text == '-');
    char *end;
    if (strncmp(digits, "0x", 2) != 0 && strcmp(digits, "inf") != 0 && strcmp(digits, "nan") != 0)
        return false;
    *value = number_read(text, &end);
    return *end == '\0' && end > text;
}

/* More numbers of an input. */
static bool add_floats(file_reader *reader, char *words, ln_type type, void **values, size_t wanted,
                       size_t *have, error *err)
{
    char *state = NULL;
    if (wanted == 0 || wanted > WORST_MAX_ELEMENTS)
        return bad(reader, err, "numbers before rows and hidden are known to be 1 or more");
    if (!*values && !(*values = malloc(wanted * dtype_size(type))))
        return fail_memory(err, "a worst row");
    for (char *word = strtok_r(words, " ", &state); word; word = strtok_r(NULL, " ", &state)) {
        if (*have == wanted)
            return bad(reader, err, "'%.40s': %zu numbers are there already, and no more expected",
                       word, wanted);
        if (!hex_float_parse(word, type, *values, *have))
            return bad(reader, err, "'%.40s': a hex float of %s was expected, as in 0x1.8p-3", word,
                       dtype_name(type));
        ++*have;
    }
    return true;
}

static bool set_verdict(file_reader *reader, char *value, error *err)
{
    case_verdict found;
    if (!verdict_from_phrase(value, &found))
        return bad(reader, err, "unknown verdict '%.60s'", value);
    reader->row.verdict.kind = found.kind;
    return true;
}

static bool set_worst(file_reader *reader, char *value, error *err)
{
    char *state = NULL, *words[4];
    for (int i = 0; i < 4; i++)
        if (!(words[i] = strtok_r(i ? NULL : value, " ", &state)))
            return bad(reader, err, "worst: row, column, computed and exact were expected");
    worst_row *row = &reader->row;
    return (parse_size(words[0], &row->row) && parse_size(words[1], &row->column) &&
            parse_hex(words[2], &row->computed) && parse_hex(words[3], &row->exact)) ||
           bad(reader, err, "worst: two whole numbers and two hex floats were expected");
}

/* Numbers have room for as many as convention and shape said when the first came. */
static bool comes_first(const file_reader *reader, const char *name, error *err)
{
    const worst_row *row = &reader->row;
    bool any = false;
    for (size_t i = 0; i < ROLES_MOST; i++)
        any |= row->inputs[i] != NULL;
    return !any || bad(reader, err, "%s: comes after the numbers", name);
}

static bool set_convention(file_reader *reader, const char *value, error *err)
{
    ln_convention convention;
    struct error why = {0};
    if (!comes_first(reader, "convention", err))
        return false;
    if (strlen(value) >= sizeof reader->row.convention)
        return bad(reader, err, "a convention of %zu characters", strlen(value));
    if (!convention_parse(value, &convention, &why))
        return bad(reader, err, "%.400s", why.message);
    snprintf(reader->row.convention, sizeof reader->row.convention, "%s", value);
    reader->row.operation = convention.operation;
    return true;
}

static bool set_word(const file_reader *reader, const char *name, const char *value, char *to,
                     size_t size, error *err)
{
    if (!*value || strlen(value) >= size)
        return bad(reader, err, "%s: 1 to %zu characters were expected", name, size - 1);
    snprintf(to, size, "%s", value);
    return true;
}

static bool set_shape(const file_reader *reader, const char *name, const char *value, size_t *to,
                      error *err)
{
    if (!comes_first(reader, name, err))
        return false;
    if (parse_size(value, to) && *to > 0 && *to <= WORST_MAX_ELEMENTS)
        return true;
    *to = 0;
    return bad(reader, err, "%s '%.40s': a whole number from 1 was expected", name, value);
}

/* dtype is of parameters too, where no param follows. */
static bool set_type(file_reader *reader, const char *name, const char *value, error *err)
{
    worst_row *row = &reader->row;
    ln_type type;
    if (!comes_first(reader, name, err))
        return false;
    if (!dtype_from_name(value, &type))
        return bad(reader, err, "%s %.20s: f32, f64, bf16 or f16 was expected", name, value);
    row->param = type;
    if (*name == 'd')
        row->storage = type;
    return true;
}

/* Elements that an input must have; 0: convention or shape are not known yet. */
static size_t elements_of(const file_reader *reader, const tensor_role *role)
{
    const worst_row *row = &reader->row;
    ln_convention convention = {0};
    if (role_is_parameter(role) &&
        (!row->convention[0] || !convention_parse(row->convention, &convention, NULL)))
        return 0;
    return role_columns(role, &convention, row->hidden) * (role_is_parameter(role) ? 1 : row->rows);
}

static bool set_hunted(file_reader *reader, const char *name, const char *value, error *err)
{
    size_t restart;
    reader->row.hunted = true;
    if (*name == 's')
        return parse_hex(value, &reader->row.score) ||
               bad(reader, err, "score '%.40s': a hex float was expected", value);
    if (!parse_size(value, &restart))
        return bad(reader, err, "restart '%.40s': a whole number was expected", value);
    reader->row.restart = restart;
    return true;
}

static bool set_field(file_reader *reader, const char *name, char *value, error *err)
{
    worst_row *row = &reader->row;
    const operation *what = operations[row->operation];
    for (size_t i = 0; i < what->count; i++) {
        const tensor_role *role = &what->roles[i];
        bool parameter = role_is_parameter(role);
        if (role_is_kept(role) && strcmp(name, role->name) == 0)
            return add_floats(reader, value, parameter ? row->param : row->storage, &row->inputs[i],
                              elements_of(reader, role), &reader->have[i], err);
    }
    if (strcmp(name, "kernel") == 0)
        return set_word(reader, name, value, row->kernel, sizeof row->kernel, err);
    if (strcmp(name, "origin") == 0)
        return set_word(reader, name, value, row->origin, sizeof row->origin, err);
    if (strcmp(name, "detail") == 0)
        return set_word(reader, name, value, row->verdict.detail, sizeof row->verdict.detail, err);
    if (strcmp(name, "convention") == 0)
        return set_convention(reader, value, err);
    if (strcmp(name, "verdict") == 0)
        return set_verdict(reader, value, err);
    if (strcmp(name, "worst") == 0)
        return set_worst(reader, value, err);
    if (strcmp(name, "rows") == 0)
        return set_shape(reader, name, value, &row->rows, err);
    if (strcmp(name, "hidden") == 0)
        return set_shape(reader, name, value, &row->hidden, err);
    if (strcmp(name, "dtype") == 0 || strcmp(name, "param") == 0)
        return set_type(reader, name, value, err);
    if (strcmp(name, "restart") == 0 || strcmp(name, "score") == 0)
        return set_hunted(reader, name, value, err);
    if (strcmp(name, "row_ulp") == 0 || strcmp(name, "bound") == 0)
        return parse_hex(value, *name == 'r' ? &row->row_ulp : &row->bound_row_ulp) ||
               bad(reader, err, "%s '%.40s': a hex float was expected", name, value);
    if (strcmp(name, "y_hash") == 0) {
        char *end;
        row->y_hash = strtoull(value, &end, 16);
        return (strlen(value) == 16 && *end == '\0') ||
               bad(reader, err, "y_hash '%.40s': 16 hex digits were expected", value);
    }
    return bad(reader, err, "'%.40s' is no field of a find: see docs/accuracy.md", name);
}

/* Everything there, and of the right length. */
static bool end_find(file_reader *reader, worst_list *list, error *err)
{
    worst_row *row = &reader->row;
    ln_convention convention;
    if (!row->kernel[0] || !row->convention[0])
        return bad(reader, err, "this find has no %s", row->kernel[0] ? "convention" : "kernel");
    if (!convention_parse(row->convention, &convention, err))
        return false;
    const operation *what = operations[row->operation];
    row->parameters = 0;
    for (size_t i = 0; i < what->count; i++) {
        const tensor_role *role = &what->roles[i];
        bool there = role_is_kept(role) && role_is_needed(role, &convention);
        size_t wanted = there ? elements_of(reader, role) : 0;
        if (reader->have[i] != wanted || (there && wanted == 0))
            return bad(reader, err, "%s has %zu numbers; %zu were expected", role->name,
                       reader->have[i], wanted);
        if (role_is_parameter(role) && wanted > 0)
            row->parameters = wanted;
    }
    if (row->row >= row->rows || row->column >= row->hidden)
        return bad(reader, err, "the worst element lies outside of the find");
    return worst_list_add(list, row, err);
}

/* A setting of the hunt that made the file, with its value. */
static bool is_setting(const char *line)
{
    static const char *const names[] = {"kernel",   "convention", "dtype",     "param",   "hidden",
                                        "seed",     "goal",       "max_kappa", "claimed", "keep",
                                        "restarts", "seconds",    "state",     "done",    "rows"};
    size_t length = strcspn(line, " ");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && strncmp(line, names[i], length) == 0)
            return line[length] == ' ';
    return false;
}

static bool read_line(file_reader *reader, char *line, worst_list *list, error *err)
{
    line[strcspn(line, "\r\n")] = '\0';
    if (line[0] == '\0' || line[0] == '#')
        return true;
    if (strcmp(line, "find") == 0) {
        if (reader->inside)
            return bad(reader, err, "a find begins before the one above it has its end");
        *reader = (struct file_reader){.path = reader->path, .line = reader->line, .inside = true};
        reader->row.row_ulp = reader->row.bound_row_ulp = NAN;
        reader->row.rows = 1;
        return true;
    }
    if (!reader->inside) {
        text_format(&list->header, "%s\n", line);
        return (list->count == 0 && is_setting(line)) ||
               bad(reader, err, "'%.40s': find was expected", line);
    }
    if (strcmp(line, "end") == 0) {
        reader->inside = false;
        return end_find(reader, list, err);
    }
    char *value = strchr(line, ' ');
    if (!value)
        return bad(reader, err, "'%.40s': a field and its value were expected", line);
    *value++ = '\0';
    return set_field(reader, line, value, err);
}

bool worst_list_read_stream(FILE *file, const char *path, worst_list *list, error *err)
{
    file_reader reader = {.path = path};
    char *line = NULL;
    size_t room = 0;
    *list = (worst_list){0};
    bool fine = true;
    errno = 0;
    while (fine && getline(&line, &room, file) >= 0) {
        reader.line++;
        fine = read_line(&reader, line, list, err);
    }
    if (fine && ferror(file))
        fine = fail(err, EXIT_CODE_ENVIRONMENT, "%s: cannot read it: %s", path, strerror(errno));
    if (fine && reader.inside)
        fine = bad(&reader, err, "the file ends within a find");
    if (fine && list->header.failed)
        fine = fail_memory(err, path);
    free(line);
    worst_row_free(&reader.row);
    if (!fine)
        worst_list_free(list);
    return fine;
}

bool worst_list_read(const char *path, worst_list *list, error *err)
{
    *list = (worst_list){0};
    FILE *file = fopen(path, "r");
    if (!file)
        return fail(err, EXIT_CODE_ENVIRONMENT, "%s: cannot read it: %s", path, strerror(errno));
    bool fine = worst_list_read_stream(file, path, list, err);
    fclose(file);
    return fine;
}
