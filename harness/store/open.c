/* Opens the store: checks what kind of file it is and its format, chooses how to connect, and makes the tables of a new
 * one. A file may come from a stranger; one that is refused stays unchanged. */
#include "store/internal.h"
#include "base/arena.h"
#include "base/text.h"
#include "domain/case.h"
#include "schema_sql.h" /* the SQL files of the same names, as bytes */
#include "views_sql.h"
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STORE_VERSION = 18 };

/* ---- the file ---- */

/* Returns whether a part of the database is in one of SQLite's files next to it: its write-ahead log ("-wal"), or an
 * unfinished transaction of a crash ("-journal"). Refuses a pipe of that name, on which SQLite would wait for ever. */
static bool has_beside(const char *path, const char *ending)
{
    text_buffer name = {0};
    struct stat about;
    text_format(&name, "%s%s", path, ending);
    const bool is_there = stat(name.bytes, &about) == 0, has = is_there && about.st_size > 0;
    if (is_there && !S_ISREG(about.st_mode))
        die(EXIT_CODE_ENVIRONMENT, "%s: not a regular file: move it away", name.bytes);
    text_free(&name);
    return has;
}

static bool is_used(const char *path)
{
    return has_beside(path, "-wal") || has_beside(path, "-journal");
}

/* Reports in plain words what SQLite only calls "unable to open database file". SQLite would overwrite a file shorter
 * than a page, and create a journal next to a device. Returns false if the file is new. */
static bool check_file(const char *path, store_mode mode)
{
    static const char expected[16] = "SQLite format 3"; /* sqlite.org/fileformat2.html, 1.3.1 */
    char header[sizeof expected];
    struct stat about;
    const bool is_there = stat(path, &about) == 0;
    if (!is_there && mode == STORE_READ && errno == ENOENT)
        die(EXIT_CODE_ENVIRONMENT,
            "%s: no such file: measure something first with 'lnbench run', or name a database "
            "with --db",
            path);
    if (is_there && S_ISDIR(about.st_mode))
        die(EXIT_CODE_ENVIRONMENT, "%s: a directory: name a database file, such as %s/lnbench.db",
            path, path);
    if (is_there && !S_ISREG(about.st_mode))
        die(EXIT_CODE_ENVIRONMENT, "%s: not a regular file: name a database file with --db", path);
    FILE *file = fopen(path, mode == STORE_READ ? "rb" : "a+b");
    size_t count = file ? fread(header, 1, sizeof header, file) : 0;
    if (!file || ferror(file))
        die(EXIT_CODE_ENVIRONMENT, "%s: cannot %s it: %s", path,
            mode == STORE_READ ? "read" : "write to", strerror(errno));
    fclose(file);
    if (count != 0 && (count < sizeof header || memcmp(header, expected, sizeof header) != 0) &&
        !has_beside(path, "-journal"))
        die(EXIT_CODE_ENVIRONMENT, "%s: not an SQLite database: name another file with --db", path);
    return is_there;
}

static char *uri_of(const char *path, const char *parameters)
{
    text_buffer uri = {0};
    text_add(&uri, "file:");
    for (const unsigned char *at = (const unsigned char *)path; *at; at++) {
        if (strchr("%?#", *at))
            text_format(&uri, "%%%02x", *at);
        else
            text_add_bytes(&uri, (const char *)at, 1);
    }
    text_add(&uri, parameters);
    return uri.bytes;
}

char *store_uri(const char *path)
{
    return uri_of(path, is_used(path) ? "?mode=ro" : "?immutable=1");
}

/* ---- the connection ---- */

/* Closes the connection after its statements, which would keep it open. */
static void disconnect(result_store *store)
{
    for (size_t i = 0; i < store->statement_count; i++)
        sqlite3_finalize(store->statements[i].prepared);
    store->statement_count = 0;
    sqlite3_close(store->database);
    store->database = NULL;
}

/* SQLite executes code in a schema. Forbid views, triggers and virtual tables of the file, and all functions that do
 * more than compute a value. */
static void configure(sqlite3 *database)
{
    static const char *kept_modules[] = {"dbstat", "json_each", NULL}; /* our queries read them */
    static const struct {
        int option, value;
    } options[] = {
        {SQLITE_DBCONFIG_ENABLE_VIEW, 0},        {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
        {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},     {SQLITE_DBCONFIG_DEFENSIVE, 1},
        {SQLITE_DBCONFIG_LEGACY_ALTER_TABLE, 1}, /* without it, ALTER TABLE parses every view */
        {SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1},   /* until the file is known to be ours */
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        sqlite3_db_config(database, options[i].option, options[i].value, NULL);
    sqlite3_drop_modules(database, kept_modules);
    sqlite3_limit(database, SQLITE_LIMIT_LENGTH, STORE_LENGTH_MOST);
    sqlite3_limit(database, SQLITE_LIMIT_SQL_LENGTH, 1 << 20);
    sqlite3_extended_result_codes(database, 1);
    sqlite3_busy_timeout(database, STORE_BUSY_MS);
}

/* Connects to the path with these URI parameters and returns SQLite's status. A page reads most data once, so that a
 * small cache is enough. */
static int try_connect(result_store *store, const char *parameters, int flags)
{
    char *uri = uri_of(store->path, parameters);
    disconnect(store);
    int status =
        sqlite3_open_v2(uri, &store->database, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI, NULL);
    free(uri);
    if (status != SQLITE_OK)
        return status;
    configure(store->database);
    return sqlite3_exec(store->database, "PRAGMA foreign_keys = ON; PRAGMA cache_size = -4000",
                        NULL, NULL, NULL);
}

static void connect(result_store *store, const char *parameters, int flags)
{
    store_check(store, try_connect(store, parameters, flags));
}

/* ---- the format ---- */

/* The kind of a database. Fresh: an empty one, which becomes a store when it is written. */
typedef enum database_kind { KIND_FRESH, KIND_STORE, KIND_EXPORTED } database_kind;

/* Ends the program if the file is another program's, has another format, or is empty and opened for reading. */
static database_kind find_kind(result_store *store, store_mode mode)
{
    int64_t version = store_number(store, "PRAGMA user_version", "");
    int64_t application = store_number(store, "PRAGMA application_id", "");
    if (version == 0 && application == 0 &&
        store_number(store, "SELECT count(*) FROM sqlite_master", "") == 0) {
        if (mode == STORE_READ)
            die(EXIT_CODE_ENVIRONMENT,
                "%s: empty: measure something first with 'lnbench run --db %s'", store->path,
                store->path);
        return KIND_FRESH;
    }
    if (application != STORE_APPLICATION_ID && application != STORE_EXPORTED_ID)
        die(EXIT_CODE_ENVIRONMENT,
            "%s: a database that lnbench does not read: name another file with --db", store->path);
    if (version < STORE_VERSION)
        die(EXIT_CODE_ENVIRONMENT, "%s: " MADE_BY_OLDER, store->path);
    if (version > STORE_VERSION)
        die(EXIT_CODE_ENVIRONMENT,
            "%s: made by a newer lnbench (its format is %lld, this lnbench knows up to %d): update "
            "lnbench, or name another file with --db",
            store->path, (long long)version, STORE_VERSION);
    return application == STORE_APPLICATION_ID ? KIND_STORE : KIND_EXPORTED;
}

/* Makes the tables of a new store. An exported file becomes a store, since writing makes its hash invalid. */
static void make_tables(result_store *store)
{
    char sql[96];
    store_script(store, "BEGIN IMMEDIATE");
    /* Check again, now that no other process can write: another one may have made the tables. */
    if (find_kind(store, STORE_WRITE) == KIND_FRESH) {
        store_script(store, schema_sql);
        store_script(store, views_sql);
    }
    snprintf(sql, sizeof sql, "PRAGMA user_version = %d; PRAGMA application_id = %d; COMMIT",
             STORE_VERSION, STORE_APPLICATION_ID);
    store_script(store, sql);
}

/* Makes the views of views.sql for this connection. The file has them for other programs; a TEMP view hides the file's
 * view of the same name. */
static void use_views(const result_store *store)
{
    static const char made[] = "CREATE VIEW";
    const char *rest = views_sql;
    text_buffer sql = {0};
    for (const char *at; (at = strstr(rest, made)); rest = at + strlen(made)) {
        text_add_bytes(&sql, rest, (size_t)(at - rest));
        text_add(&sql, "CREATE TEMP VIEW");
    }
    text_add(&sql, rest);
    store_add_functions(store);
    store_script(store, sql.bytes);
    text_free(&sql);
}

/* ---- opening ---- */

static void open_write(result_store *store)
{
    bool rolled_back = has_beside(store->path, "-journal");
    connect(store, "", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    const bool is_made = find_kind(store, STORE_WRITE) == KIND_STORE;
    if (rolled_back)
        store_check_sound(store);
    /* Allowed only now that the file is known to be ours or empty. */
    sqlite3_db_config(store->database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
    store_script(store, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
    if (!is_made)
        make_tables(store);
    /* Fail now, and not after the first measurement, if the file cannot be written. */
    store_script(store, "BEGIN IMMEDIATE; COMMIT");
}

/* Opens for reading; read-only media, and a transaction that a crash left to roll back, need a second attempt. */
static void open_read(result_store *store)
{
    int status = try_connect(store, "", SQLITE_OPEN_READONLY), kind = status & 0xff;
    if (status == SQLITE_READONLY_ROLLBACK && access(store->path, W_OK) == 0) {
        connect(store, "", SQLITE_OPEN_READWRITE);
        find_kind(store, STORE_READ);
        store_check_sound(store);
        connect(store, "", SQLITE_OPEN_READONLY);
    } else if ((kind == SQLITE_CANTOPEN || kind == SQLITE_READONLY) && !is_used(store->path)) {
        connect(store, "?immutable=1", SQLITE_OPEN_READONLY);
    } else {
        store_check(store, status);
    }
    find_kind(store, STORE_READ);
}

result_store *store_open(const char *path, store_mode mode)
{
    struct stat about;
    const bool is_there = check_file(path, mode);
    result_store *made = allocate_zeroed(1, sizeof *made);
    made->is_new = !is_there;
    made->path = allocate_copy(path, strlen(path) + 1);
    /* A file that no process uses is checked as immutable, because opening one in write-ahead mode creates files next
     * to it. If a process begins to write meanwhile, the file may seem damaged, so the result is ignored then. */
    if (stat(path, &about) == 0 && about.st_size > 0 && !is_used(path)) {
        int status = try_connect(made, "?immutable=1", SQLITE_OPEN_READONLY);
        if (!is_used(path)) {
            store_check(made, status);
            find_kind(made, mode);
        }
    }
    if (mode == STORE_WRITE)
        open_write(made);
    else
        open_read(made);
    use_views(made);
    if (mode == STORE_READ)
        store_script(made, "PRAGMA query_only = ON");
    return made;
}

result_store *store_open_memory(void)
{
    result_store *made = allocate_zeroed(1, sizeof *made);
    made->path = allocate_copy(":memory:", sizeof ":memory:");
    connect(made, "", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    make_tables(made);
    use_views(made);
    return made;
}

void store_check_sound(const result_store *store)
{
    sqlite3_stmt *statement = store_prepare(store, "PRAGMA quick_check(1)");
    if (store_next(store, statement) && strcmp(store_text(statement, 0), "ok") != 0)
        die(EXIT_CODE_ENVIRONMENT, "%s: " STORE_IS_DAMAGED, store->path, store_text(statement, 0),
            store->path);
    sqlite3_finalize(statement);
}

const char *store_path(const result_store *store)
{
    return store->path;
}

void store_close(result_store *store)
{
    if (!store)
        return;
    disconnect(store);
    if (store->is_refused && !is_used(store->path)) /* by no other process */
        unlink(store->path);
    free(store->statements);
    free(store->path);
    free(store);
}
