/* Opening the store: what kind of file it is, and in which way it can be had. */
#include "store_internal.h"
#include "text.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Shorter files than a page SQLite takes for empty ones, and would write over them. */
static bool check_header(const char *path, error *error)
{
    static const char expected[16] = "SQLite format 3"; /* sqlite.org/fileformat2.html, 1.3.1 */
    char header[sizeof expected];
    FILE *file = fopen(path, "rb");
    if (!file)
        return fail(error, EXIT_CODE_ENVIRONMENT, "%s: cannot read it: %s", path, strerror(errno));
    size_t count = fread(header, 1, sizeof header, file);
    bool unread = ferror(file);
    fclose(file);
    if (unread)
        return fail(error, EXIT_CODE_ENVIRONMENT, "%s: cannot read it: %s", path, strerror(errno));
    if (count == 0 || (count == sizeof header && memcmp(header, expected, sizeof header) == 0))
        return true;
    return fail(error, EXIT_CODE_ENVIRONMENT,
                "%s: not an SQLite database: name another file with --db", path);
}

/* SQLite would only say "unable to open database file". */
static bool check_place(const char *path, store_mode mode, error *error)
{
    struct stat about;
    if (stat(path, &about) == 0) {
        if (S_ISDIR(about.st_mode))
            return fail(error, EXIT_CODE_ENVIRONMENT,
                        "%s: a directory: name a database file, such as %s/lnbench.db", path, path);
        if (!S_ISREG(about.st_mode)) /* SQLite would put its journal beside a device */
            return fail(error, EXIT_CODE_ENVIRONMENT,
                        "%s: not a regular file: name a database file with --db", path);
        if (access(path, mode == STORE_READ ? R_OK : R_OK | W_OK) != 0)
            return fail(error, EXIT_CODE_ENVIRONMENT, "%s: cannot %s it: %s", path,
                        mode == STORE_READ ? "read" : "write to", strerror(errno));
        return check_header(path, error);
    }
    if (mode == STORE_READ && errno == ENOENT)
        return fail(error, EXIT_CODE_ENVIRONMENT,
                    "%s: no such file: measure something first with 'lnbench run', or name a "
                    "database with --db",
                    path);
    if (errno != ENOENT)
        return fail(error, EXIT_CODE_ENVIRONMENT, "%s: %s", path, strerror(errno));
    const char *slash = strrchr(path, '/');
    char *directory =
        slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
    if (!directory)
        return fail_memory(error, "a path");
    bool fine = access(directory, W_OK | X_OK) == 0 ||
                fail(error, EXIT_CODE_ENVIRONMENT, "%s: cannot create it in %s: %s", path,
                     directory, strerror(errno));
    free(directory);
    return fine;
}

/* A file: URI with "immutable", for databases on media where SQLite can't keep its -shm file. */
static char *immutable_uri(const char *path)
{
    text uri = {0};
    text_add(&uri, "file:");
    for (const unsigned char *at = (const unsigned char *)path; *at; at++) {
        if (strchr("%?#", *at))
            text_format(&uri, "%%%02x", *at);
        else
            text_add_bytes(&uri, (const char *)at, 1);
    }
    text_add(&uri, "?immutable=1");
    if (uri.failed)
        text_free(&uri);
    return uri.bytes;
}

/* Whether some of the database is still in its write-ahead log, which "immutable" would pass over.
 */
static bool has_log(const char *path)
{
    text name = {0};
    struct stat about;
    text_format(&name, "%s-wal", path);
    bool has = name.failed || (stat(name.bytes, &about) == 0 && about.st_size > 0);
    text_free(&name);
    return has;
}

/* A connection that has statements left is not closed. */
static void disconnect(store *store)
{
    for (int i = 0; i < STATEMENT_COUNT; i++) {
        sqlite3_finalize(store->statements[i]);
        store->statements[i] = NULL;
    }
    sqlite3_close(store->database);
    store->database = NULL;
}

static bool connect(store *store, const char *name, int flags, error *error)
{
    disconnect(store);
    int status = sqlite3_open_v2(name, &store->database, flags | SQLITE_OPEN_NOMUTEX, NULL);
    if (!store->database)
        return fail_memory(error, "the result store");
    if (status != SQLITE_OK)
        return store_fail(store, status, "open it", error);
    sqlite3_extended_result_codes(store->database, 1);
    sqlite3_busy_timeout(store->database, STORE_BUSY_MS);
    status = sqlite3_exec(store->database, "PRAGMA foreign_keys = ON", NULL, NULL, NULL);
    return status == SQLITE_OK || store_fail(store, status, "open it", error);
}

static bool open_write(store *store, error *error)
{
    bool outdated = false;
    if (!connect(store, store->path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, error) ||
        !store_check_schema(store, STORE_WRITE, &outdated, error))
        return false;
    /* Only now, when the file is known to be ours or empty. */
    int status =
        sqlite3_exec(store->database, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL",
                     NULL, NULL, NULL);
    if (status != SQLITE_OK)
        return store_fail(store, status, "write to it", error);
    if (outdated && !store_upgrade(store, error))
        return false;
    /* Better to learn now than after the first measurement that nothing can be written. */
    return store_begin(store, "write to it", error) &&
           store_finish(store, true, "write to it", error);
}

static bool open_read(store *store, error *error)
{
    bool outdated = false;
    bool fine = connect(store, store->path, SQLITE_OPEN_READONLY, error) &&
                store_check_schema(store, STORE_READ, &outdated, error);
    int status = store->database ? sqlite3_errcode(store->database) & 0xff : SQLITE_NOMEM;
    if (!fine && (status == SQLITE_CANTOPEN || status == SQLITE_READONLY) &&
        !has_log(store->path)) {
        char *uri = immutable_uri(store->path);
        if (!uri)
            return fail_memory(error, "a path");
        fine = connect(store, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, error) &&
               store_check_schema(store, STORE_READ, &outdated, error);
        free(uri);
    }
    if (!fine || !outdated)
        return fine;
    return open_write(store, error) && connect(store, store->path, SQLITE_OPEN_READONLY, error);
}

bool store_open(const char *path, store_mode mode, store **opened, error *error)
{
    *opened = NULL;
    if (!check_place(path, mode, error))
        return false;
    store *made = calloc(1, sizeof *made);
    if (made)
        made->path = strdup(path);
    if (!made || !made->path) {
        store_close(made);
        return fail_memory(error, "the result store");
    }
    if (!(mode == STORE_WRITE ? open_write(made, error) : open_read(made, error))) {
        store_close(made);
        return false;
    }
    *opened = made;
    return true;
}

void store_close(store *store)
{
    if (!store)
        return;
    disconnect(store);
    free(store->path);
    free(store);
}
