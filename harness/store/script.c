/* Scripts: SQL queries of the views for charts, pages and exports, and our own SQL functions for them. No view uses
 * these functions, so that other programs can read the views. */
#include "base/arena.h"
#include "base/text.h"
#include "domain/operation.h"
#include "domain/kernel.h"
#include "exact/apart.h"
#include "store/internal.h"
#include "store/standing.h"
#include <math.h>

/* ---- TEMP tables ---- */

/* query_only forbids even TEMP tables, and is switched off for them. */
void store_scratch_begin(result_store *store)
{
    store_script(store, "PRAGMA query_only = OFF; SAVEPOINT scratch");
}

void store_scratch_end(result_store *store)
{
    store_script(store, "ROLLBACK TO scratch; RELEASE scratch");
    if (sqlite3_db_readonly(store->database, "main") == 1 &&
        sqlite3_get_autocommit(store->database))
        store_script(store, "PRAGMA query_only = ON");
}

void store_put_line(result_store *store, const char *name, const char *types, ...)
{
    text_buffer sql = {0};
    va_list values;
    text_format(&sql, "INSERT INTO temp.%s VALUES (", name);
    for (const char *type = types; *type; type++)
        text_add(&sql, type == types ? "?" : ", ?");
    text_add(&sql, ")");
    sqlite3_stmt *statement = store_prepare(store, sql.bytes);
    text_free(&sql);
    va_start(values, types);
    store_bind_list(statement, 1, types, values);
    va_end(values);
    store_step(store, statement);
    sqlite3_finalize(statement);
}

/* ---- reading ---- */

static char *keep(arena *memory, const char *text)
{
    const size_t size = strlen(text) + 1;
    return memcpy(arena_new(memory, char, size), text, size);
}

static stored_cell read_cell(arena *memory, sqlite3_stmt *statement, int column)
{
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
        return (stored_cell){.kind = CELL_WHOLE,
                             .whole = sqlite3_column_int64(statement, column),
                             .real = sqlite3_column_double(statement, column)};
    case SQLITE_FLOAT:
        return (stored_cell){.kind = CELL_REAL, .real = sqlite3_column_double(statement, column)};
    case SQLITE_NULL:
        return (stored_cell){.kind = CELL_NONE, .real = NAN};
    default:
        return (stored_cell){
            .kind = CELL_TEXT, .real = NAN, .text = keep(memory, store_text(statement, column))};
    }
}

/* Reads the next rows, at most `most`. */
static stored_table read_rows(const result_store *store, sqlite3_stmt *statement, size_t most)
{
    stored_table table = {.columns = (size_t)sqlite3_column_count(statement)};
    table.names = arena_new(&table.memory, char *, table.columns);
    for (size_t i = 0; i < table.columns; i++)
        table.names[i] = keep(&table.memory, sqlite3_column_name(statement, (int)i));
    for (; table.rows < most && store_next(store, statement); table.rows++)
        for (size_t i = 0; i < table.columns; i++) {
            const size_t at = table.rows * table.columns + i;
            table.cells = allocate_room(table.cells, at, sizeof *table.cells);
            table.cells[at] = read_cell(&table.memory, statement, (int)i);
        }
    return table;
}

void store_query(result_store *store, const char *sql, int64_t run, size_t most,
                 void (*take)(void *context, const stored_table *part), void *context)
{
    sqlite3_stmt *statement = store_prepare(store, sql);
    sqlite3_bind_int64(statement, 1, run);
    for (bool more = true; more;) {
        stored_table part = read_rows(store, statement, most);
        more = part.rows == most;
        take(context, &part);
        stored_table_free(&part);
    }
    sqlite3_finalize(statement);
}

stored_table store_ask(result_store *store, const char *sql, const char *types, ...)
{
    va_list values;
    sqlite3_stmt *statement = store_prepare(store, sql);
    va_start(values, types);
    store_bind_list(statement, 1, types, values);
    va_end(values);
    stored_table table = read_rows(store, statement, SIZE_MAX);
    sqlite3_finalize(statement);
    return table;
}

stored_table store_get_table(result_store *store, const char *name)
{
    char sql[128];
    snprintf(sql, sizeof sql, "SELECT * FROM temp.%s", name);
    return store_ask(store, sql, "");
}

void stored_table_free(stored_table *table)
{
    free(table->cells);
    arena_free(&table->memory);
    *table = (stored_table){0};
}

/* Returns the index of a column, or table->columns if there is none. */
static size_t column_of(const stored_table *table, const char *column)
{
    size_t i = 0;
    while (i < table->columns && strcmp(table->names[i], column) != 0)
        i++;
    return i;
}

static stored_cell cell_of(const stored_table *table, size_t row, const char *column)
{
    size_t at = column_of(table, column);
    return row < table->rows && at < table->columns ? table->cells[row * table->columns + at]
                                                    : (stored_cell){.kind = CELL_NONE, .real = NAN};
}

int64_t table_whole(const stored_table *table, size_t row, const char *column)
{
    return cell_of(table, row, column).whole;
}

double table_real(const stored_table *table, size_t row, const char *column)
{
    return cell_of(table, row, column).real;
}

const char *table_text(const stored_table *table, size_t row, const char *column)
{
    const char *text = cell_of(table, row, column).text;
    return text ? text : "";
}

relation_value cell_value(const stored_cell *cell)
{
    return cell->kind == CELL_TEXT    ? as_text(cell->text)
           : cell->kind == CELL_WHOLE ? as_count((unsigned long long)cell->whole)
                                      : as_digits(cell->real);
}

relation_value table_value(const stored_table *table, size_t row, const char *column)
{
    stored_cell cell = cell_of(table, row, column);
    return cell_value(&cell);
}

void table_add_to(const stored_table *table, relation *rows)
{
    for (size_t i = 0; i < table->rows * table->columns; i++) {
        const stored_cell *cell = &table->cells[i];
        relation_add(rows, cell->kind == CELL_TEXT ? as_text(cell->text) : as_figure(cell->real));
    }
}

json_t *table_object(const stored_table *table, size_t row, const char *first, const char *last)
{
    json_t *object = json_object();
    for (size_t i = column_of(table, first); i <= column_of(table, last); i++) {
        const stored_cell *cell = &table->cells[row * table->columns + i];
        json_t *value = cell->kind == CELL_TEXT    ? json_text(cell->text)
                        : cell->kind == CELL_WHOLE ? json_integer((json_int_t)cell->whole)
                                                   : json_figure(cell->real);
        if (!json_is_null(value))
            json_object_set_new(object, table->names[i], value);
    }
    return object;
}

/* ---- functions that SQLite lacks ---- */

static const char *text_at(sqlite3_value *value)
{
    const char *text = (const char *)sqlite3_value_text(value);
    return text ? text : "";
}

static double real_at(sqlite3_value *value)
{
    return sqlite3_value_type(value) == SQLITE_NULL ? (double)NAN : sqlite3_value_double(value);
}

static ln_type type_at(sqlite3_value *value)
{
    ln_type type = LN_F32;
    dtype_from_name(text_at(value), &type);
    return type;
}

static void give_text(sqlite3_context *context, const char *text)
{
    sqlite3_result_text(context, text, -1, SQLITE_TRANSIENT);
}

typedef enum function_kind {
    KERNEL_LABEL,
    KERNEL_MATCHES,
    CACHE_PHRASE,
    COPY_WORDS,
    OPERATION_TITLE,
    NO_DIGIT,
    ROUGH_LIMIT,
    ERROR_CLASS,
    ERROR_WORDS_OF,
    NUMBER_SHORT,
    AFFINE,
    APART_ULP,
    APART_RELATIVE,
} function_kind;

/* Returns the distance of two conventions on a row of +-std in alternation, or NULL if one of them is no convention. */
static void give_distance(sqlite3_context *context, function_kind kind, sqlite3_value **values)
{
    ln_convention both[2];
    ln_apart apart[4];
    error ignored = {0};
    if (convention_parse(text_at(values[0]), &both[0], &ignored) &&
        convention_parse(text_at(values[1]), &both[1], &ignored) &&
        ln_reference_apart(both, 2, (size_t)sqlite3_value_int64(values[2]),
                           (float)real_at(values[3]), apart))
        sqlite3_result_double(context,
                              kind == APART_RELATIVE ? apart[1].relative : apart[1].row_ulp);
}

/* Computes all functions; the user data says which one was called. */
static void answer(sqlite3_context *context, int count, sqlite3_value **values)
{
    const function_kind kind = *(const function_kind *)sqlite3_user_data(context);
    char words[NAME_MAX_LENGTH];
    cache_state cache = CACHE_HOT;
    ln_operation kind_of;
    ln_convention convention;
    error_sum sum;
    case_verdict verdict = {.kind = VERDICT_PENDING};
    error ignored = {0};
    (void)count;
    switch (kind) {
    case KERNEL_LABEL:
        kernel_label(text_at(values[0]), text_at(values[1]), text_at(values[2]), words,
                     sizeof words);
        give_text(context, words);
        return;
    case KERNEL_MATCHES:
        sqlite3_result_int(context, kernel_name_matches(text_at(values[0]), text_at(values[1])));
        return;
    case CACHE_PHRASE:
        cache_from_name(text_at(values[0]), &cache);
        give_text(context, cache_phrase(cache));
        return;
    case COPY_WORDS:
        give_text(context, copy_words(text_at(values[0])));
        return;
    case OPERATION_TITLE:
        if (operation_from_name(text_at(values[0]), &kind_of))
            give_text(context, operations[kind_of]->title);
        return;
    case NO_DIGIT:
        sqlite3_result_double(context, dtype_no_digit(type_at(values[0])));
        return;
    case ROUGH_LIMIT:
        sqlite3_result_double(context, error_rough_limit(type_at(values[0])));
        return;
    case ERROR_CLASS:
        sum = (error_sum){.judged = (size_t)sqlite3_value_int64(values[0]),
                          .error = real_at(values[1])};
        sqlite3_result_int(context, (int)error_class_of(&sum, type_at(values[2])));
        return;
    case ERROR_WORDS_OF:
        verdict_from_words(text_at(values[2]), text_at(values[3]), &verdict.kind);
        give_text(context, error_in_words(real_at(values[0]), type_at(values[1]), &verdict, words));
        return;
    case NUMBER_SHORT:
        give_text(context, number_short(real_at(values[0]), words));
        return;
    case AFFINE:
        if (convention_parse(text_at(values[0]), &convention, &ignored))
            sqlite3_result_int(context, convention.operation == LN_OPERATION_RMSNORM
                                            ? (int)convention.weight
                                            : (int)convention.affine);
        return;
    case APART_ULP:
    case APART_RELATIVE:
        give_distance(context, kind, values);
    }
}

void store_add_functions(const result_store *store)
{
    static const struct {
        const char *name;
        int arguments;
        function_kind kind;
    } functions[] = {
        {"kernel_label", 3, KERNEL_LABEL},       /* name, type, ISA */
        {"kernel_matches", 2, KERNEL_MATCHES},   /* glob, name */
        {"cache_phrase", 1, CACHE_PHRASE},       /* cache */
        {"copy_words", 1, COPY_WORDS},           /* kernel */
        {"operation_title", 1, OPERATION_TITLE}, /* operation */
        {"no_digit", 1, NO_DIGIT},               /* types */
        {"rough_limit", 1, ROUGH_LIMIT},         /* types */
        {"error_class", 3, ERROR_CLASS},         /* judged, error, types */
        {"error_words", 4, ERROR_WORDS_OF},      /* error, types, verdict and reason of its case */
        {"number_short", 1, NUMBER_SHORT},       /* three significant digits */
        {"affine", 1, AFFINE},       /* convention: the form of its parameters as a number */
        {"apart_ulp", 4, APART_ULP}, /* convention, another, hidden, std */
        {"apart_relative", 4, APART_RELATIVE}, /* the same */
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        store_check(store, sqlite3_create_function(
                               store->database, functions[i].name, functions[i].arguments,
                               SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY,
                               (void *)&functions[i].kind, answer, NULL, NULL));
}
