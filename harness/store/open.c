/* Opening the store: what kind of file it is, and in which way it can be had. */
#include "store/internal.h"
#include "base/allocate.h"
#include "base/text.h"
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether a part of the database is in SQLite's file beside it: its write-ahead log ("-wal"), or what
 * a crash left to be rolled back ("-journal"). */
static bool has_beside(const char *path, const char *ending)
{
    text_buffer name = {0};
    struct stat about;
    text_format(&name, "%s%s", path, ending);
    bool has = stat(name.bytes, &about) == 0 && about.st_size > 0;
    text_free(&name);
    return has;
}

static uint64_t big_endian(const unsigned char *bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < 4; i++)
        value = value << 8 | bytes[i];
    return value;
}

/* Whether a journal says that its database was larger (sqlite.org/fileformat2.html, 3). SQLite makes
 * no database smaller while its journal is there: this one is of another file, or forged, and going
 * back to that size might fill a disk. */
static bool makes_larger(const char *journal, off_t size)
{
    static const unsigned char magic[] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
    unsigned char header[28];
    FILE *file = fopen(journal, "rb");
    bool has = file && fread(header, sizeof header, 1, file) == 1;
    if (file)
        fclose(file);
    return has && memcmp(header, magic, sizeof magic) == 0 &&
           big_endian(header + 16) * big_endian(header + 24) > (uint64_t)size;
}

/* SQLite would wait for ever for the other end of a pipe. */
static void check_beside(const char *path, off_t size)
{
    static const char *const endings[] = {"-journal", "-wal", "-shm"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        struct stat about;
        text_buffer name = {0};
        text_format(&name, "%s%s", path, endings[i]);
        const char *wrong =
            lstat(name.bytes, &about) == 0 && !S_ISREG(about.st_mode) ? "not a regular file"
            : i == 0 && makes_larger(name.bytes, size) ? "the journal of a larger database"
                                                       : NULL;
        if (wrong)
            die(EXIT_CODE_ENVIRONMENT, "%s: %s: move it away, or name another database with --db",
                name.bytes, wrong);
        text_free(&name);
    }
}

/* Shorter files than a page SQLite takes for empty ones, and would write over them. */
static void check_header(const char *path)
{
    static const char expected[16] = "SQLite format 3"; /* sqlite.org/fileformat2.html, 1.3.1 */
    char header[sizeof expected];
    FILE *file = fopen(path, "rb");
    size_t count = file ? fread(header, 1, sizeof header, file) : 0;
    if (!file || ferror(file))
        die(EXIT_CODE_ENVIRONMENT, "%s: cannot read it: %s", path, strerror(errno));
    fclose(file);
    if (count != 0 && (count < sizeof header || memcmp(header, expected, sizeof header) != 0) &&
        !has_beside(path, "-journal"))
        die(EXIT_CODE_ENVIRONMENT, "%s: not an SQLite database: name another file with --db", path);
}

/* SQLite would only say "unable to open database file". */
static void check_file(const char *path, store_mode mode, const struct stat *about)
{
    if (S_ISDIR(about->st_mode))
        die(EXIT_CODE_ENVIRONMENT, "%s: a directory: name a database file, such as %s/lnbench.db",
            path, path);
    if (!S_ISREG(about->st_mode)) /* SQLite would put its journal beside a device */
        die(EXIT_CODE_ENVIRONMENT, "%s: not a regular file: name a database file with --db", path);
    if (access(path, mode == STORE_READ ? R_OK : R_OK | W_OK) != 0)
        die(EXIT_CODE_ENVIRONMENT, "%s: cannot %s it: %s", path,
            mode == STORE_READ ? "read" : "write to", strerror(errno));
    check_beside(path, about->st_size);
    check_header(path);
}

static void check_place(const char *path, store_mode mode)
{
    struct stat about;
    if (stat(path, &about) == 0) {
        check_file(path, mode, &about);
        return;
    }
    if (mode == STORE_READ && errno == ENOENT)
        die(EXIT_CODE_ENVIRONMENT,
            "%s: no such file: measure something first with 'lnbench run', or name a database with "
            "--db",
            path);
    if (errno != ENOENT)
        die(EXIT_CODE_ENVIRONMENT, "%s: %s", path, strerror(errno));
    const char *slash = strrchr(path, '/');
    text_buffer directory = {0};
    text_add_bytes(&directory, slash ? path : ".",
                   slash && slash != path ? (size_t)(slash - path) : 1);
    if (access(directory.bytes, W_OK | X_OK) != 0)
        die(EXIT_CODE_ENVIRONMENT, "%s: cannot create it in %s: %s", path, directory.bytes,
            strerror(errno));
    text_free(&directory);
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

/* For databases on media where SQLite can't keep its -shm file. */
static char *immutable_uri(const char *path)
{
    return uri_of(path, "?immutable=1");
}

/* A connection that has statements left is not closed. */
static void disconnect(result_store *store)
{
    for (int i = 0; i < STATEMENT_COUNT; i++) {
        sqlite3_finalize(store->statements[i]);
        store->statements[i] = NULL;
    }
    sqlite3_close(store->database);
    store->database = NULL;
}

/* A file may come from a stranger, and SQLite runs what a schema says. Here it runs no views, triggers
 * or virtual tables of the file, and only such functions as compute a value. */
static void configure(sqlite3 *database)
{
    static const char *kept_modules[] = {"dbstat", "json_each", NULL}; /* our queries read them */
    static const struct {
        int option, value;
    } options[] = {
        {SQLITE_DBCONFIG_ENABLE_VIEW, 0},        {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
        {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},     {SQLITE_DBCONFIG_DEFENSIVE, 1},
        {SQLITE_DBCONFIG_LEGACY_ALTER_TABLE, 1}, /* else ALTER TABLE looks into every view */
        {SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1},   /* until the file is known to be ours */
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        sqlite3_db_config(database, options[i].option, options[i].value, NULL);
    sqlite3_drop_modules(database, kept_modules);
    sqlite3_limit(database, SQLITE_LIMIT_LENGTH, STORE_LENGTH_MOST);
    sqlite3_limit(database, SQLITE_LIMIT_SQL_LENGTH, STORE_TEXT_MOST);
}

static int stop_query(void *unused)
{
    (void)unused;
    return 1;
}

/* SQLite takes a time with the square of their number to load tables, views and triggers: three
 * minutes for 200,000. */
static int load_schema(const result_store *store)
{
    enum { OBJECTS_MOST = 10000, STEPS_EACH = 7 };
    sqlite3_progress_handler(store->database, OBJECTS_MOST * STEPS_EACH, stop_query, NULL);
    int status =
        sqlite3_exec(store->database, "SELECT 1 FROM sqlite_schema LIMIT 1", NULL, NULL, NULL);
    sqlite3_progress_handler(store->database, 0, NULL, NULL);
    if (status == SQLITE_INTERRUPT)
        die(EXIT_CODE_ENVIRONMENT,
            "%s: more than %d tables, views and triggers, which no store has: name another file "
            "with --db",
            store->path, OBJECTS_MOST);
    return status;
}

/* Returns what SQLite says. What a page asks of a run is read once: hence the cache. */
static int try_connect(result_store *store, const char *name, int flags)
{
    disconnect(store);
    int status = sqlite3_open_v2(name, &store->database, flags | SQLITE_OPEN_NOMUTEX, NULL);
    if (status != SQLITE_OK)
        return status;
    sqlite3_extended_result_codes(store->database, 1);
    sqlite3_busy_timeout(store->database, STORE_BUSY_MS);
    configure(store->database);
    status = sqlite3_exec(store->database, "PRAGMA foreign_keys = ON", NULL, NULL, NULL);
    if (status == SQLITE_OK)
        status = load_schema(store);
    /* This one loads the schema itself, without load_schema()'s limit. */
    return status == SQLITE_OK
               ? sqlite3_exec(store->database, "PRAGMA cache_size = -32000", NULL, NULL, NULL)
               : status;
}

static void connect(result_store *store, const char *name, int flags)
{
    store_check(store, try_connect(store, name, flags), "open it");
}

static bool is_used(const char *path)
{
    return has_beside(path, "-wal") || has_beside(path, "-journal");
}

char *store_uri(const char *path)
{
    return uri_of(path, is_used(path) ? "?mode=ro" : "?immutable=1");
}

/* Looks at a file that nobody uses in a way that leaves nothing beside it, as opening one in
 * write-ahead mode does: what is refused stays as it was. Read so while somebody writes, it may seem
 * damaged. */
static void look_at_unused(result_store *store, store_mode mode)
{
    struct stat about;
    if (stat(store->path, &about) != 0 || about.st_size == 0 || is_used(store->path))
        return;
    char *uri = immutable_uri(store->path);
    int status = try_connect(store, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
    if (!is_used(store->path)) {
        store_check(store, status, "open it");
        store_is_outdated(store, mode);
    }
    free(uri);
}

static void open_write(result_store *store)
{
    bool rolled_back = has_beside(store->path, "-journal");
    char *uri = uri_of(store->path, ""); /* so that others can be attached by theirs */
    connect(store, uri, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI);
    free(uri);
    bool outdated = store_is_outdated(store, STORE_WRITE);
    if (rolled_back)
        store_check_sound(store);
    /* Only now, when the file is known to be ours or empty. */
    sqlite3_db_config(store->database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
    store_execute(store, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL", "write to it");
    if (outdated)
        store_upgrade(store);
    /* Better to learn now than after the first measurement that nothing can be written. */
    store_begin(store, "write to it");
    store_finish(store, "write to it");
}

/* Media that cannot be written to, and what a crash left to be rolled back, take a second way. */
static void open_read(result_store *store)
{
    int status = try_connect(store, store->path, SQLITE_OPEN_READONLY), kind = status & 0xff;
    if (status == SQLITE_READONLY_ROLLBACK && access(store->path, W_OK) == 0) {
        connect(store, store->path, SQLITE_OPEN_READWRITE);
        store_is_outdated(store, STORE_READ);
        store_check_sound(store);
        connect(store, store->path, SQLITE_OPEN_READONLY);
    } else if ((kind == SQLITE_CANTOPEN || kind == SQLITE_READONLY) && !is_used(store->path)) {
        char *uri = immutable_uri(store->path);
        connect(store, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
        free(uri);
    } else {
        store_check(store, status, "open it");
    }
    if (store_is_outdated(store, STORE_READ)) {
        open_write(store);
        connect(store, store->path, SQLITE_OPEN_READONLY);
    }
}

void store_check_sound(const result_store *store)
{
    char found[200] = "";
    sqlite3_stmt *statement = NULL;
    store_check(store,
                sqlite3_prepare_v2(store->database, "PRAGMA quick_check(1)", -1, &statement, NULL),
                "read it");
    if (store_next(store, statement))
        store_copy_text(statement, 0, found, sizeof found);
    sqlite3_finalize(statement);
    if (strcmp(found, "ok") != 0)
        die(EXIT_CODE_ENVIRONMENT,
            "%s: the database is damaged (%s): save what can be saved with 'sqlite3 %s .recover', "
            "or name another file with --db",
            store->path, found, store->path);
}

static result_store *new_store(const char *path)
{
    result_store *made = allocate_zeroed(1, sizeof *made);
    made->path = allocate_copy(path, strlen(path) + 1);
    return made;
}

result_store *store_open(const char *path, store_mode mode)
{
    check_place(path, mode);
    result_store *made = new_store(path);
    look_at_unused(made, mode);
    if (mode == STORE_WRITE)
        open_write(made);
    else
        open_read(made);
    store_use_views(made);
    if (mode == STORE_READ)
        store_execute(made, "PRAGMA query_only = ON", "open it");
    return made;
}

result_store *store_open_memory(void)
{
    result_store *made = new_store(":memory:");
    connect(made, made->path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI);
    store_upgrade(made);
    store_use_views(made);
    return made;
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
    machine_free(&store->machine);
    free(store->path);
    free(store);
}
