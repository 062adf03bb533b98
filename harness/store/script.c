#include "store/script.h"
#include "base/allocate.h"
#include "base/text.h"
#include "store/internal.h"
#include <math.h>
#include <stdarg.h>
#include <string.h>

static const char doing[] = "make a table";

/* query_only forbids TEMP tables as well; what is open to be read stays so. */
void store_scratch_begin(result_store *store)
{
    store_execute(store, "PRAGMA query_only = OFF; SAVEPOINT scratch", doing);
}

void store_scratch_end(result_store *store)
{
    bool only = sqlite3_db_readonly(store->database, "main") == 1;
    sqlite3_exec(store->database, "ROLLBACK TO scratch; RELEASE scratch", NULL, NULL, NULL);
    if (only && sqlite3_get_autocommit(store->database))
        sqlite3_exec(store->database, "PRAGMA query_only = ON", NULL, NULL, NULL);
}

static sqlite3_stmt *prepare_statement(result_store *store, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    store_check(store, sqlite3_prepare_v2(store->database, sql, -1, &statement, NULL), doing);
    return statement;
}

void store_script(result_store *store, const char *sql)
{
    store_execute(store, sql, doing);
}

void store_put_table(result_store *store, const char *name, const char *columns)
{
    char sql[512];
    snprintf(sql, sizeof sql, "CREATE TEMP TABLE %s (%s)", name, columns);
    store_execute(store, sql, doing);
}

void store_put_line(result_store *store, const char *name, const char *types, ...)
{
    text_buffer sql = {0};
    va_list values;
    text_format(&sql, "INSERT INTO temp.%s VALUES (", name);
    for (const char *type = types; *type; type++)
        text_add(&sql, type == types ? "?" : ", ?");
    text_add(&sql, ")");
    sqlite3_stmt *statement = prepare_statement(store, sql.bytes);
    text_free(&sql);
    va_start(values, types);
    store_bind_list(statement, 1, types, values);
    va_end(values);
    store_step(store, statement, doing);
    sqlite3_finalize(statement);
}

/* ---- reading ---- */

static stored_cell read_cell(sqlite3_stmt *statement, int column)
{
    stored_cell cell = {.kind = CELL_NONE, .real = NAN};
    const char *text;
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
        cell.kind = CELL_WHOLE;
        cell.whole = sqlite3_column_int64(statement, column);
        cell.real = (double)cell.whole;
        break;
    case SQLITE_FLOAT:
        cell.kind = CELL_REAL;
        cell.real = sqlite3_column_double(statement, column);
        break;
    case SQLITE_NULL:
        break;
    default:
        cell.kind = CELL_TEXT;
        text = (const char *)sqlite3_column_text(statement, column);
        cell.text = allocate_copy(text ? text : "", strlen(text ? text : "") + 1);
    }
    return cell;
}

static void add_row(sqlite3_stmt *statement, stored_table *table)
{
    for (size_t i = 0; i < table->columns; i++) {
        size_t place = table->rows * table->columns + i;
        table->cells = allocate_room(table->cells, place, sizeof *table->cells);
        table->cells[place] = read_cell(statement, (int)i);
    }
    table->rows++;
}

static void free_cells(stored_table *table)
{
    for (size_t i = 0; i < table->rows * table->columns; i++)
        free(table->cells[i].text);
    free(table->cells);
    table->cells = NULL;
    table->rows = 0;
}

static void name_columns(sqlite3_stmt *statement, stored_table *table)
{
    *table = (stored_table){.columns = (size_t)sqlite3_column_count(statement)};
    table->names = allocate_zeroed(table->columns + 1, sizeof *table->names);
    for (size_t i = 0; i < table->columns; i++) {
        const char *word = sqlite3_column_name(statement, (int)i);
        table->names[i] = allocate_copy(word, strlen(word) + 1);
    }
}

static stored_table read_table(result_store *store, sqlite3_stmt *statement)
{
    stored_table table;
    name_columns(statement, &table);
    while (store_next(store, statement))
        add_row(statement, &table);
    sqlite3_finalize(statement);
    return table;
}

void store_query(result_store *store, const char *sql, int64_t run, size_t most,
                 void (*take)(void *context, const stored_table *part), void *context)
{
    stored_table part;
    sqlite3_stmt *statement = prepare_statement(store, sql);
    sqlite3_bind_int64(statement, 1, run);
    name_columns(statement, &part);
    bool row, taken = false;
    do {
        while ((row = store_next(store, statement))) {
            add_row(statement, &part);
            if (part.rows == most)
                break;
        }
        if (part.rows > 0 || !taken)
            take(context, &part);
        free_cells(&part);
        taken = true;
    } while (row);
    sqlite3_finalize(statement);
    stored_table_free(&part);
}

stored_table store_get_table(result_store *store, const char *name)
{
    char sql[128];
    snprintf(sql, sizeof sql, "SELECT * FROM temp.%s", name);
    return read_table(store, prepare_statement(store, sql));
}

stored_table store_ask(result_store *store, const char *sql, const char *types, ...)
{
    va_list values;
    sqlite3_stmt *statement = prepare_statement(store, sql);
    va_start(values, types);
    store_bind_list(statement, 1, types, values);
    va_end(values);
    return read_table(store, statement);
}

stored_table store_temp_names(result_store *store, const char *glob)
{
    return store_ask(store,
                     "SELECT name FROM sqlite_temp_schema WHERE type = 'table' AND name GLOB ?1",
                     "s", glob);
}

void stored_table_free(stored_table *table)
{
    free_cells(table);
    for (size_t i = 0; i < table->columns; i++)
        free(table->names[i]);
    free(table->names);
    *table = (stored_table){0};
}

/* `columns`: there is no such column. */
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

json_t *table_object(const stored_table *table, size_t row, const char *first, const char *last)
{
    json_t *object = json_object();
    for (size_t i = column_of(table, first); i <= column_of(table, last); i++) {
        const stored_cell *cell = &table->cells[row * table->columns + i];
        json_object_set_new(object, table->names[i],
                            cell->kind == CELL_TEXT    ? json_text(cell->text)
                            : cell->kind == CELL_WHOLE ? json_integer((json_int_t)cell->whole)
                                                       : json_figure(cell->real));
    }
    return object;
}
