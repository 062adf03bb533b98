/* The statements of the store, prepared at their first use. */
#include "store/internal.h"
#include "base/allocate.h"
#include "base/text.h"
/* The files of the same names, as bytes. */
#include "pairs_sql.h"
#include "recommended_sql.h"
#include "standing_sql.h"
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Cases with their keys; a key's parameters are those of store_keyed(). */
#define KEYED_CASES "FROM cells JOIN cases ON cases.cell = cells.id "
#define CELL_MATCHES                                                                               \
    "run = ?1 AND kernel = ?2 AND convention = ?3 AND rows = ?5 AND hidden = ?6 AND types = ?7 "   \
    "AND cache = ?8 AND threads = ?9 AND operation = ?10"
#define KEY_MATCHES CELL_MATCHES " AND input_id = (SELECT id FROM inputs WHERE name = ?4)"
#define FINISHED "process IN (SELECT process FROM finished_processes WHERE run = ?1)"
#define CASES_OF_RUN "(SELECT cases.id " KEYED_CASES "WHERE run = ?1)"
#define COUNT_DECLINED                                                                             \
    "(SELECT count(*) " KEYED_CASES "JOIN judgements ON case_id = cases.id "                       \
    "WHERE run = runs.id AND cases.requested > 0 AND verdict = 'unsupported')"
/* Of a row of runs: what was asked for and is not there at all is lost too. */
#define COUNT_LOST                                                                                 \
    "requested - (SELECT count(*) " KEYED_CASES "WHERE run = runs.id AND cases.requested > 0) + "  \
    "(SELECT count(*) FROM missing WHERE run = runs.id)"
/* A case that was only asked for has no result. */
#define COUNT_CASES                                                                                \
    "(SELECT count(*) " KEYED_CASES "WHERE run = runs.id AND "                                     \
    "(EXISTS (SELECT 1 FROM judgements WHERE case_id = cases.id) OR "                              \
    "EXISTS (SELECT 1 FROM repetitions WHERE case_id = cases.id)))"
#define COUNT_REPETITIONS                                                                          \
    "(SELECT count(*) " KEYED_CASES "JOIN repetitions ON case_id = cases.id WHERE run = runs.id)"
/* Once a run is over, its own columns say what became of its cases: nobody counts for a list. */
#define RUNS                                                                                       \
    "SELECT id, started, plan, plan_hash, command_line, seed, state, "                             \
    "command, request_hash, triples, triples_covered, origin, imported, "                          \
    "coalesce(runs.cases, " COUNT_CASES ") AS cases, "                                             \
    "coalesce(runs.repetitions, " COUNT_REPETITIONS ") AS repetitions, requested, "                \
    "iif(requested IS NULL, NULL, coalesce(unsupported, " COUNT_DECLINED ")) AS unsupported, "     \
    "iif(requested IS NULL, NULL, coalesce(missing, " COUNT_LOST ")) AS missing FROM runs "

static const struct {
    const char *sql;
    char *(*make)(void);
} statement_sql[STATEMENT_COUNT] = {
#define STATEMENT(NAME, ...) [STATEMENT_##NAME] = {.sql = __VA_ARGS__},
#define MADE_STATEMENT(NAME, function) [STATEMENT_##NAME] = {.make = function},
#include "store/statements.def"
#undef STATEMENT
#undef MADE_STATEMENT
};

sqlite3_stmt *store_statement(result_store *store, statement_kind kind)
{
    sqlite3_stmt **statement = &store->statements[kind];
    if (*statement) {
        sqlite3_reset(*statement);
        sqlite3_clear_bindings(*statement);
        return *statement;
    }
    char *made = statement_sql[kind].make ? statement_sql[kind].make() : NULL;
    const char *sql = made ? made : statement_sql[kind].sql;
    int status =
        sqlite3_prepare_v3(store->database, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
    free(made);
    store_check(store, status, "use its tables");
    return *statement;
}

void store_bind_list(sqlite3_stmt *statement, int place, const char *types, va_list values)
{
    for (; *types; types++, place++) {
        if (*types == 'n') {
            const char *word = va_arg(values, const char *);
            if (word && word[0])
                sqlite3_bind_text(statement, place, word, -1, SQLITE_STATIC);
        } else if (*types == 'd') {
            sqlite3_bind_double(statement, place, va_arg(values, double));
        } else if (*types == 'i') {
            sqlite3_bind_int64(statement, place, va_arg(values, int64_t));
        } else {
            const char *string = va_arg(values, const char *);
            string = string ? string : "";
            sqlite3_bind_text(statement, place, string, (int)text_whole(string), SQLITE_STATIC);
        }
    }
}

void store_bind(sqlite3_stmt *statement, int place, const char *types, ...)
{
    va_list values;
    va_start(values, types);
    store_bind_list(statement, place, types, values);
    va_end(values);
}

static sqlite3_stmt *bound(result_store *store, statement_kind kind, const char *types,
                           va_list values)
{
    sqlite3_stmt *statement = store_statement(store, kind);
    store_bind_list(statement, 1, types, values);
    return statement;
}

sqlite3_stmt *store_bound(result_store *store, statement_kind kind, const char *types, ...)
{
    va_list values;
    va_start(values, types);
    sqlite3_stmt *statement = bound(store, kind, types, values);
    va_end(values);
    return statement;
}

void store_do(result_store *store, statement_kind kind, const char *doing, const char *types, ...)
{
    va_list values;
    va_start(values, types);
    sqlite3_stmt *statement = bound(store, kind, types, values);
    va_end(values);
    store_step(store, statement, doing);
}

void store_step(result_store *store, sqlite3_stmt *statement, const char *doing)
{
    int status = sqlite3_step(statement);
    if (status != SQLITE_DONE && status != SQLITE_ROW)
        store_die(store, status, doing);
    sqlite3_reset(statement);
}

static bool has_long_text(sqlite3_stmt *statement)
{
    for (int i = 0; i < sqlite3_data_count(statement); i++)
        if (sqlite3_column_type(statement, i) == SQLITE_TEXT &&
            sqlite3_column_bytes(statement, i) > STORE_TEXT_MOST)
            return true;
    return false;
}

bool store_next(const result_store *store, sqlite3_stmt *statement)
{
    int status = sqlite3_step(statement);
    if (status == SQLITE_ROW && !has_long_text(statement))
        return true;
    if (status != SQLITE_DONE)
        store_die(store, status == SQLITE_ROW ? SQLITE_TOOBIG : status, "read it");
    sqlite3_reset(statement);
    return false;
}

double store_real(sqlite3_stmt *statement, int column)
{
    if (sqlite3_column_type(statement, column) == SQLITE_NULL)
        return NAN;
    return sqlite3_column_double(statement, column);
}

void store_copy_text(sqlite3_stmt *statement, int column, char *buffer, size_t size)
{
    const char *string = (const char *)sqlite3_column_text(statement, column);
    text_copy(buffer, size, string ? string : "");
}

/* Columns mostly come in the order in which they are asked for: the search begins at `first`. */
static int find_column(sqlite3_stmt *statement, const char *name, int first)
{
    int count = sqlite3_column_count(statement);
    for (int i = 0; i < count; i++)
        if (strcmp(sqlite3_column_name(statement, (first + i) % count), name) == 0)
            return (first + i) % count;
    return -1;
}

int store_column(sqlite3_stmt *statement, const char *name)
{
    return find_column(statement, name, 0);
}

static unsigned take_word(const result_store *store, sqlite3_stmt *statement, int column,
                          const record_field *field)
{
    char word[32];
    store_copy_text(statement, column, word, sizeof word);
    for (unsigned i = 0; i <= field->most; i++)
        if (strcmp(field->words[i], word) == 0)
            return i;
    die(EXIT_CODE_ENVIRONMENT, "%s: unknown %s '%s': the database is damaged", store->path,
        field->key, word);
}

static void take_column(const result_store *store, sqlite3_stmt *statement, int column,
                        const record_field *field, void *place)
{
    int64_t whole = sqlite3_column_int64(statement, column);
    switch (field->kind) {
    case FIELD_TEXT:
        store_copy_text(statement, column, place, field->most + 1);
        break;
    case FIELD_UNSIGNED:
        *(unsigned *)place = (unsigned)whole;
        break;
    case FIELD_FLAG:
        *(bool *)place = whole != 0;
        break;
    case FIELD_REAL:
        *(double *)place = store_real(statement, column);
        break;
    case FIELD_WORD:
        *(unsigned *)place = take_word(store, statement, column, field);
        break;
    case FIELD_COUNT:
        *(uint64_t *)place = (uint64_t)whole;
    }
}

void store_take_from(const result_store *store, sqlite3_stmt *statement, int first,
                     const record_field *fields, size_t count, void *into)
{
    for (size_t i = 0; i < count; i++) {
        int column = find_column(statement, fields[i].key, first);
        if (column < 0)
            continue;
        take_column(store, statement, column, &fields[i], (char *)into + fields[i].offset);
        first = column + 1;
    }
}

void store_take(const result_store *store, sqlite3_stmt *statement, const record_field *fields,
                size_t count, void *into)
{
    store_take_from(store, statement, 0, fields, count, into);
}

void store_take_key(const result_store *store, sqlite3_stmt *statement, case_key *key)
{
    store_take(store, statement, case_key_fields, CASE_KEY_FIELDS, key);
    for (size_t i = 0; i < CASE_KEY_FIELDS; i++) {
        const record_field *field = &case_key_fields[i];
        int bytes = sqlite3_column_bytes(statement, store_column(statement, field->key));
        if (field->kind == FIELD_TEXT && (size_t)bytes > field->most)
            die(EXIT_CODE_ENVIRONMENT,
                "%s: a %s of %d bytes, where %zu are the most: the database is damaged",
                store->path, field->key, bytes, field->most);
    }
}

void store_bind_record(sqlite3_stmt *statement, int place, const record_field *fields, size_t count,
                       const void *from)
{
    for (size_t i = 0; i < count; i++, place++) {
        const void *value = (const char *)from + fields[i].offset;
        if (fields[i].kind == FIELD_REAL)
            sqlite3_bind_double(statement, place, *(const double *)value);
        else if (fields[i].kind == FIELD_UNSIGNED)
            sqlite3_bind_int64(statement, place, *(const unsigned *)value);
        else
            sqlite3_bind_int64(statement, place, *(const int64_t *)value);
    }
}

size_t store_list(result_store *store, sqlite3_stmt *statement, const row_form *form, void *list)
{
    char *rows = NULL;
    size_t count = 0;
    for (; store_next(store, statement); count++) {
        rows = allocate_room(rows, count, form->size);
        void *row = memset(rows + count * form->size, 0, form->size);
        store_take(store, statement, form->fields, form->count, row);
        if (form->further)
            form->further(store, statement, row);
    }
    memcpy(list, &rows, sizeof rows);
    return count;
}
