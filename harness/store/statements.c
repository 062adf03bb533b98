/* Statements of the store: prepares them at their first use, binds parameters, reads rows into structs, and reports
 * SQLite's errors. */
#include "store/internal.h"
#include "base/arena.h"
#include "base/text.h"
#include <errno.h>
#include <math.h>

_Noreturn void store_die(const result_store *store, int status)
{
    static const char kept[] = "what was stored before is kept";
    const char *path = store->path, *message = sqlite3_errmsg(store->database);
    int system = sqlite3_system_errno(store->database);
    switch (status & 0xff) {
    case SQLITE_NOTADB:
        die(EXIT_CODE_ENVIRONMENT, "%s: not an SQLite database: name another file with --db", path);
    case SQLITE_CORRUPT:
        die(EXIT_CODE_ENVIRONMENT, "%s: " STORE_IS_DAMAGED, path, message, path);
    case SQLITE_FULL:
        die(EXIT_CODE_ENVIRONMENT, "%s: cannot write to it: the disk is full (%s): free some space",
            path, kept);
    case SQLITE_TOOBIG:
        die(EXIT_CODE_ENVIRONMENT,
            "%s: a text or row of more than %d MiB, which lnbench never stores: name another file "
            "with --db",
            path, STORE_LENGTH_MOST >> 20);
    case SQLITE_BUSY:
        die(EXIT_CODE_ENVIRONMENT,
            "%s: cannot use it: another program has been writing to it for more than %d s", path,
            STORE_BUSY_MS / 1000);
    case SQLITE_READONLY:
        die(EXIT_CODE_ENVIRONMENT,
            "%s: cannot write to it: no permission to write the file or its directory: name "
            "another file with --db",
            path);
    case SQLITE_CONSTRAINT:
        die(EXIT_CODE_ENVIRONMENT,
            "%s: cannot write to it: a row exists already, or its run is missing (%s)", path,
            message);
    default: /* a reader needs to write too: SQLite's -shm file */
        die(EXIT_CODE_ENVIRONMENT, "%s: cannot %s: %s (%s)", path,
            system == EFBIG || system == ENOSPC ? "write to it or beside it" : "use it",
            system ? strerror(system) : message, kept);
    }
}

void store_check(const result_store *store, int status)
{
    if (status != SQLITE_OK)
        store_die(store, status);
}

void store_script(const result_store *store, const char *sql)
{
    store_check(store, sqlite3_exec(store->database, sql, NULL, NULL, NULL));
}

sqlite3_stmt *store_prepare(const result_store *store, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    store_check(store, sqlite3_prepare_v3(store->database, sql, -1, SQLITE_PREPARE_PERSISTENT,
                                          &statement, NULL));
    return statement;
}

void store_bind_list(sqlite3_stmt *statement, int place, const char *types, va_list values)
{
    for (; *types; types++, place++) {
        if (*types == 'd') {
            sqlite3_bind_double(statement, place, va_arg(values, double));
        } else if (*types == 'i') {
            sqlite3_bind_int64(statement, place, va_arg(values, int64_t));
        } else {
            const char *string = va_arg(values, const char *);
            if (!string && *types == 's')
                string = "";
            if (string && (*types == 's' || string[0]))
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

sqlite3_stmt *store_bound(result_store *store, const char *sql, const char *types, ...)
{
    size_t i = 0;
    va_list values;
    while (i < store->statement_count && store->statements[i].sql != sql)
        i++;
    if (i == store->statement_count) {
        store->statements = allocate_room(store->statements, i, sizeof *store->statements);
        store->statements[store->statement_count++] =
            (known_statement){sql, store_prepare(store, sql)};
    }
    sqlite3_stmt *statement = store->statements[i].prepared;
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    va_start(values, types);
    store_bind_list(statement, 1, types, values);
    va_end(values);
    return statement;
}

sqlite3_stmt *store_keyed(result_store *store, const char *sql, int64_t run, const case_key *key)
{
    return store_bound(store, sql, "isssiissis", run, key->kernel, key->convention, key->input,
                       (int64_t)key->rows, (int64_t)key->hidden, dtype_name(key->dtype),
                       cache_name(key->cache), (int64_t)key->threads,
                       operation_name(key->operation));
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

void store_step(const result_store *store, sqlite3_stmt *statement)
{
    int status = sqlite3_step(statement);
    if (status != SQLITE_DONE && status != SQLITE_ROW)
        store_die(store, status);
    sqlite3_reset(statement);
}

bool store_next(const result_store *store, sqlite3_stmt *statement)
{
    int status = sqlite3_step(statement);
    if (status != SQLITE_ROW && status != SQLITE_DONE)
        store_die(store, status);
    if (status == SQLITE_DONE)
        sqlite3_reset(statement);
    return status == SQLITE_ROW;
}

int64_t store_number_of(const result_store *store, sqlite3_stmt *statement)
{
    int64_t number = store_next(store, statement) ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_reset(statement);
    return number;
}

double store_real(sqlite3_stmt *statement, int column)
{
    return sqlite3_column_type(statement, column) == SQLITE_NULL
               ? (double)NAN
               : sqlite3_column_double(statement, column);
}

const char *store_text(sqlite3_stmt *statement, int column)
{
    const char *string = (const char *)sqlite3_column_text(statement, column);
    return string ? string : "";
}

static void take_column(const result_store *store, sqlite3_stmt *statement, int column,
                        const record_field *field, void *place)
{
    int64_t whole = sqlite3_column_int64(statement, column);
    const char *text;
    unsigned word = 0;
    switch (field->kind) {
    case FIELD_NAME:
        if ((size_t)sqlite3_column_bytes(statement, column) > field->most)
            die(EXIT_CODE_ENVIRONMENT,
                "%s: a %s of %d bytes, but at most %zu are possible: the database is damaged",
                store->path, field->key, sqlite3_column_bytes(statement, column), field->most);
        /* fall through */
    case FIELD_TEXT:
        text_copy(place, field->most + 1, store_text(statement, column));
        return;
    case FIELD_UNSIGNED:
        *(unsigned *)place = (unsigned)whole;
        return;
    case FIELD_FLAG:
        *(bool *)place = whole != 0;
        return;
    case FIELD_REAL:
        *(double *)place = store_real(statement, column);
        return;
    case FIELD_COUNT:
        *(uint64_t *)place = (uint64_t)whole;
        return;
    case FIELD_WORD:
        text = store_text(statement, column);
        while (word <= field->most && strcmp(field->words[word], text) != 0)
            word++;
        if (word > field->most)
            die(EXIT_CODE_ENVIRONMENT, "%s: unknown %s '%.60s': the database is damaged",
                store->path, field->key, text);
        *(unsigned *)place = word;
    }
}

void store_take(const result_store *store, sqlite3_stmt *statement, const record_field *fields,
                size_t count, void *into)
{
    int columns = sqlite3_column_count(statement), next = 0;
    for (size_t i = 0; i < count; i++) {
        /* Columns mostly have the order of the fields. */
        for (int tried = 0; tried < columns; tried++) {
            int column = (next + tried) % columns;
            if (strcmp(sqlite3_column_name(statement, column), fields[i].key) != 0)
                continue;
            take_column(store, statement, column, &fields[i], (char *)into + fields[i].offset);
            next = column + 1;
            break;
        }
    }
}

size_t store_list(const result_store *store, sqlite3_stmt *statement, size_t size,
                  const record_field *fields, size_t field_count, void *list)
{
    char *rows = NULL;
    size_t count = 0;
    for (; store_next(store, statement); count++) {
        rows = allocate_room(rows, count, size);
        store_take(store, statement, fields, field_count, memset(rows + count * size, 0, size));
    }
    memcpy(list, &rows, sizeof rows);
    return count;
}
