/* Whether the tables of a file are those that lnbench makes. A file may be a stranger's, and SQLite
 * runs what a schema says: triggers, generated columns, checks, expressions of indexes. So each of
 * our tables must read as our own statements make it in an empty database. Tables, views and plain
 * indexes with names of their own are left alone. */
#include "store/internal.h"
#include "base/allocate.h"
#include "base/text.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool is_word(char letter)
{
    return isalnum((unsigned char)letter) || strchr("_$", letter) || (unsigned char)letter >= 0x80;
}

/* The first token of SQL text: blanks, a comment, a word, something in quotes, or a sign. */
static size_t token_length(const char *sql)
{
    size_t length = strspn(sql, " \t\n\f\r");
    if (length)
        return length;
    if (strncmp(sql, "--", 2) == 0)
        return strcspn(sql, "\n");
    if (strncmp(sql, "/*", 2) == 0) {
        const char *end = strstr(sql + 2, "*/");
        return end ? (size_t)(end - sql) + 2 : strlen(sql);
    }
    if (strchr("'\"`[", *sql)) {
        char quote = *sql == '[' ? ']' : *sql;
        const char *end = strchr(sql + 1, quote);
        return end ? (size_t)(end - sql) + 1 : strlen(sql); /* '' is two of them */
    }
    for (; sql[length] && is_word(sql[length]); length++)
        ;
    return length ? length : 1;
}

/* Without the quotes that ALTER TABLE puts around a name; words in small letters. */
static void add_token(text_buffer *out, const char *token, size_t length)
{
    bool quoted = *token == '"' && length > 2;
    for (size_t i = 1; i < length - 1 && quoted; i++)
        quoted = is_word(token[i]);
    text_add(out, " ");
    for (size_t i = quoted; i < length - quoted; i++) {
        char letter = *token == '\'' ? token[i] : (char)tolower((unsigned char)token[i]);
        text_add_bytes(out, iscntrl((unsigned char)letter) ? "?" : &letter, 1);
    }
}

/* The tokens of a statement. Each part in its parentheses, a column or a constraint, is a line that
 * begins with a comma, since files got their columns in different orders. */
static char *plain_statement(const char *sql)
{
    text_buffer out = {0};
    int depth = 0;
    for (size_t length; *sql; sql += length) {
        length = token_length(sql);
        if (strchr(" \t\n\f\r", *sql) || strncmp(sql, "--", 2) == 0 || strncmp(sql, "/*", 2) == 0)
            continue;
        depth -= *sql == ')';
        if (*sql == ')' && depth == 0)
            text_add(&out, "\n");
        if (*sql == ',' && depth == 1)
            text_add(&out, "\n");
        add_token(&out, sql, length);
        if (*sql == '(' && depth == 0)
            text_add(&out, "\n ,");
        depth += *sql == '(';
    }
    text_add(&out, "\n");
    return out.bytes;
}

static bool has_line(const char *text, const char *line, size_t length)
{
    for (; *text; text = strchr(text, '\n') + 1)
        if (strncmp(text, line, length) == 0)
            return true;
    return false;
}

/* " , NAME real", as a newer lnbench, or a person, adds one. */
static bool is_plain_column(const char *line, size_t length)
{
    static const char *const types[] = {" real\n", " integer\n"};
    const char *type = strncmp(line, " , ", 3) == 0 ? strchr(line + 3, ' ') : NULL;
    for (size_t i = 0; type && i < sizeof types / sizeof *types; i++)
        if (strncmp(type, types[i], strlen(types[i])) == 0 &&
            type + strlen(types[i]) == line + length)
            return true;
    return false;
}

static bool has_lines(const char *text, const char *lines, bool or_plain_column)
{
    for (size_t length; *lines; lines += length) {
        length = strcspn(lines, "\n") + 1;
        if (!has_line(text, lines, length) && !(or_plain_column && is_plain_column(lines, length)))
            return false;
    }
    return true;
}

/* Metrics are columns of accuracies: another version may have more of them, in another order. Values are put
 * into the other tables by their columns' places. */
static bool same_statement(const char *name, const char *made, const char *found)
{
    if (strcmp(made, found) == 0)
        return true;
    char *expected = plain_statement(made), *plain = plain_statement(found);
    bool same = strcmp(name, "accuracies") == 0
                    ? has_lines(plain, expected, false) && has_lines(expected, plain, true)
                    : strcmp(plain, expected) == 0;
    free(expected);
    free(plain);
    return same;
}

enum { OBJECT_TEXTS = 4 };

typedef struct schema_object {
    const char *type, *name, *table, *sql; /* as sqlite_schema has them; NULL is "" */
    char *texts;                           /* all four */
} schema_object;

struct schema_objects {
    schema_object *list;
    size_t count;
};

static void free_objects(schema_objects *objects)
{
    for (size_t i = 0; i < objects->count; i++)
        free(objects->list[i].texts);
    free(objects->list);
}

static schema_object object_of(sqlite3_stmt *statement)
{
    const char *found[OBJECT_TEXTS], *copies[OBJECT_TEXTS];
    size_t sizes[OBJECT_TEXTS], size = 0;
    for (int i = 0; i < OBJECT_TEXTS; i++) {
        const char *text = (const char *)sqlite3_column_text(statement, i);
        found[i] = text ? text : "";
        size += sizes[i] = strlen(found[i]) + 1;
    }
    char *texts = allocate(size);
    size = 0;
    for (int i = 0; i < OBJECT_TEXTS; i++) {
        copies[i] = memcpy(texts + size, found[i], sizes[i]);
        size += sizes[i];
    }
    return (schema_object){copies[0], copies[1], copies[2], copies[3], texts};
}

/* Prepares a statement and goes to its first row. */
static sqlite3_stmt *first_row(result_store *store, sqlite3 *database, const char *sql,
                               const char *name, bool *row, error *err)
{
    sqlite3_stmt *statement = NULL;
    int status = sqlite3_prepare_v2(database, sql, -1, &statement, NULL);
    *row = false;
    if (status != SQLITE_OK) {
        store_fail(store, status, "read it", err);
        return NULL;
    }
    if (name)
        sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC);
    if (store_next(store, statement, row, err))
        return statement;
    sqlite3_finalize(statement);
    return NULL;
}

static bool read_objects(result_store *store, sqlite3 *database, schema_objects *objects,
                         error *err)
{
    bool row;
    sqlite3_stmt *statement = first_row(
        store, database, "SELECT type, name, tbl_name, sql FROM sqlite_schema", NULL, &row, err);
    bool fine = statement != NULL;
    while (fine && row) {
        objects->list = allocate_room(objects->list, objects->count, sizeof *objects->list);
        objects->list[objects->count++] = object_of(statement);
        fine = store_next(store, statement, &row, err);
    }
    sqlite3_finalize(statement);
    return fine;
}

static const schema_object *find_object(const schema_objects *objects, const char *name)
{
    for (size_t i = 0; i < objects->count; i++)
        if (sqlite3_stricmp(objects->list[i].name, name) == 0)
            return &objects->list[i];
    return NULL;
}

/* Says what is wrong with an object, and how it can be mended. */
static bool strange(const result_store *store, const schema_object *object, const char *wrong,
                    const char *mend, error *err)
{
    return fail(err, EXIT_CODE_ENVIRONMENT,
                "%s: its %s '%.60s' %s: %s, or name another file with --db", store->path,
                object->type, object->name, wrong, mend);
}

static const char foreign[] = "is not one of lnbench's, but acts on its tables";

/* Other programs read the file's views: lnbench makes them anew where it writes. */
static bool check_object(result_store *store, const schema_object *made, const schema_object *found,
                         error *err)
{
    bool is_view = strcmp(made->type, "view") == 0;
    if (!found && !is_view)
        return strange(store, made, "is missing", "restore a backup", err);
    if (found && strcmp(found->type, made->type) != 0)
        return strange(store, found, "has the name of one of lnbench's own",
                       "rename it if it is yours", err);
    bool same = found && same_statement(made->name, made->sql, found->sql);
    store->views_differ |= is_view && !same;
    return same || is_view ||
           strange(store, made, "is not as lnbench makes it", "restore a backup", err);
}

/* A person may have added indexes, but none that refuses rows (unique) or computes. */
static bool check_indexes(result_store *store, const schema_objects *made, const char *table,
                          error *err)
{
    bool row;
    sqlite3_stmt *statement = first_row(
        store, store->database,
        "SELECT name FROM pragma_index_list(?1) AS list WHERE origin = 'c' AND (\"unique\" "
        "OR partial OR EXISTS (SELECT 1 FROM pragma_index_xinfo(list.name) "
        "WHERE cid = -2))",
        table, &row, err);
    bool fine = statement != NULL;
    while (fine && row) {
        const char *name = (const char *)sqlite3_column_text(statement, 0);
        const schema_object index = {.type = "index", .name = name ? name : ""};
        fine = (find_object(made, index.name) ||
                strange(store, &index, foreign, "drop it if it is yours", err)) &&
               store_next(store, statement, &row, err);
    }
    sqlite3_finalize(statement);
    return fine;
}

static bool check_objects(result_store *store, const schema_objects *made,
                          const schema_objects *found, error *err)
{
    for (size_t i = 0; i < found->count; i++)
        if (strcmp(found->list[i].type, "trigger") == 0 && find_object(made, found->list[i].table))
            return strange(store, &found->list[i], foreign, "drop it if it is yours", err);
    for (size_t i = 0; i < made->count; i++)
        if (!check_object(store, &made->list[i], find_object(found, made->list[i].name), err) ||
            (strcmp(made->list[i].type, "table") == 0 &&
             !check_indexes(store, made, made->list[i].name, err)))
            return false;
    return true;
}

/* What the schema makes in an empty database; kept, since an opening asks three times. NULL, and an
 * error, where it cannot be made. */
static const schema_objects *objects_of(result_store *store, const char *schema, error *err)
{
    if (store->made)
        return store->made;
    store->made = allocate_zeroed(1, sizeof *store->made);
    sqlite3 *database = NULL;
    int status = sqlite3_open(":memory:", &database);
    if (database)
        store_configure(database);
    if (status == SQLITE_OK)
        status = sqlite3_exec(database, schema, NULL, NULL, NULL);
    bool fine = status == SQLITE_OK ? read_objects(store, database, store->made, err)
                                    : fail_memory(err, "the tables of the store");
    sqlite3_close(database);
    if (!fine)
        store_forget_objects(store);
    return store->made;
}

void store_forget_objects(result_store *store)
{
    if (store->made)
        free_objects(store->made);
    free(store->made);
    store->made = NULL;
}

bool store_check_tables(result_store *store, const char *schema, error *err)
{
    schema_objects found = {0};
    const schema_objects *made = objects_of(store, schema, err);
    bool fine = made && read_objects(store, store->database, &found, err) &&
                check_objects(store, made, &found, err);
    free_objects(&found);
    return fine;
}

/* quick_check evaluates what a schema has to evaluate: so each of our tables alone. */
bool store_check_sound(result_store *store, error *err)
{
    const schema_objects *made = store->made;
    char sql[96], found[200];
    bool fine = true, row;
    for (size_t i = 0; made && fine && i < made->count; i++) {
        if (strcmp(made->list[i].type, "table") != 0)
            continue;
        sqlite3_snprintf(sizeof sql, sql, "PRAGMA quick_check(%Q)", made->list[i].name);
        sqlite3_stmt *statement = first_row(store, store->database, sql, NULL, &row, err);
        if (statement)
            store_copy_text(statement, 0, found, sizeof found);
        sqlite3_finalize(statement);
        fine = statement && (strcmp(found, "ok") == 0 ||
                             fail(err, EXIT_CODE_ENVIRONMENT,
                                  "%s: the database is damaged (%s): save what can be saved with "
                                  "'sqlite3 %s .recover', or name another file with --db",
                                  store->path, found, store->path));
    }
    return fine;
}

bool store_make_views(result_store *store, const char *schema, bool of_file, error *err)
{
    const schema_objects *made = objects_of(store, schema, err);
    text_buffer sql = {0};
    for (size_t i = 0; made && i < made->count; i++) {
        const schema_object *view = &made->list[i];
        if (strcmp(view->type, "view") == 0 && of_file)
            text_format(&sql, "DROP VIEW IF EXISTS %s; %s;", view->name, view->sql);
        else if (strcmp(view->type, "view") == 0)
            text_format(&sql, "DROP VIEW IF EXISTS temp.%s; CREATE TEMP %s;", view->name,
                        view->sql + strlen("CREATE "));
    }
    int status = sqlite3_exec(store->database, sql.bytes, NULL, NULL, NULL);
    text_free(&sql);
    return made && (status == SQLITE_OK || store_fail(store, status, "make its views", err));
}
