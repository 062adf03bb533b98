/* Opening and writing. Reading is in store_read.c, the format's versions in store_schema.c. */
#include "store_internal.h"
#include "metric_fields.h"
#include "text.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEY_COLUMNS "run, kernel, convention, input, rows, hidden, dtype, cache, threads"
#define KEY_MATCHES                                                                                \
    "run = ?1 AND kernel = ?2 AND convention = ?3 AND input = ?4 AND rows = ?5 AND hidden = ?6 "   \
    "AND dtype = ?7 AND cache = ?8 AND threads = ?9"
#define RUN_COLUMNS                                                                                \
    "SELECT id, started, plan, plan_hash, command_line, seed, state, "                             \
    "(SELECT count(*) FROM cases WHERE run = runs.id), "                                           \
    "(SELECT count(*) FROM repetitions JOIN cases ON cases.id = case_id WHERE run = runs.id) "     \
    "FROM runs "

/* Statements whose columns follow the list of metrics are made by a function. */
static const struct {
    const char *sql;
    char *(*make)(void);
} statement_sql[STATEMENT_COUNT] = {
    [STATEMENT_BEGIN] = {.sql = "BEGIN IMMEDIATE"},
    [STATEMENT_COMMIT] = {.sql = "COMMIT"},
    [STATEMENT_ROLLBACK] = {.sql = "ROLLBACK"},
    [STATEMENT_ADD_RUN] = {.sql = "INSERT INTO runs (started, command_line, plan, plan_hash, seed, "
                                  "state) VALUES (strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), ?1, ?2, "
                                  "?3, ?4, 'open')"},
    [STATEMENT_ADD_FACT] = {.sql = "INSERT OR REPLACE INTO facts (run, place, name, value) "
                                   "VALUES (?1, ?2, ?3, ?4)"},
    [STATEMENT_END_RUN] = {.sql = "UPDATE runs SET state = ?2, "
                                  "ended = strftime('%Y-%m-%dT%H:%M:%SZ', 'now') WHERE id = ?1"},
    [STATEMENT_FIND_UNFINISHED] = {.sql = "SELECT max(id) FROM runs WHERE plan_hash = ?1 "
                                          "AND state <> 'complete'"},
    [STATEMENT_LATEST_RUN] = {.sql = "SELECT max(run) FROM cases"},
    [STATEMENT_PUT_KERNEL] = {.sql = "INSERT INTO kernels (run, name, descriptor) "
                                     "VALUES (?1, ?2, ?3) ON CONFLICT (run, name) "
                                     "DO UPDATE SET descriptor = excluded.descriptor"},
    [STATEMENT_ADD_CASE] = {.sql = "INSERT INTO cases (" KEY_COLUMNS ") VALUES "
                                   "(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"},
    [STATEMENT_FIND_CASE] = {.sql = "SELECT id FROM cases WHERE " KEY_MATCHES},
    [STATEMENT_PUT_ACCURACY] = {.make = store_put_accuracy_sql},
    [STATEMENT_PUT_REPETITION] = {.sql = "INSERT INTO repetitions (case_id, process, repetition, "
                                         "place, iterations, real_ns, cpu_ns) "
                                         "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)"},
    [STATEMENT_PUT_ROW] = {.sql = "INSERT OR REPLACE INTO judged_rows (case_id, row, kappa, "
                                  "row_ulp, norm_max, bound_row_ulp) "
                                  "VALUES (?1, ?2, ?3, ?4, ?5, ?6)"},
    [STATEMENT_ALL_RUNS] = {.sql = RUN_COLUMNS "ORDER BY id"},
    [STATEMENT_ONE_RUN] = {.sql = RUN_COLUMNS "WHERE id = ?1"},
    [STATEMENT_CASES] = {.make = store_cases_sql},
    [STATEMENT_REPETITIONS] = {.sql = "SELECT case_id, process, repetition, place, iterations, "
                                      "real_ns, cpu_ns FROM repetitions JOIN cases "
                                      "ON cases.id = case_id WHERE run = ?1 "
                                      "ORDER BY case_id, process, repetition"},
    [STATEMENT_ROWS] = {.sql = "SELECT case_id, row, kappa, row_ulp, norm_max, bound_row_ulp "
                               "FROM judged_rows JOIN cases ON cases.id = case_id "
                               "WHERE run = ?1 ORDER BY case_id, row"},
    [STATEMENT_FACTS] = {.sql = "SELECT name, value FROM facts WHERE run = ?1 ORDER BY place"},
    [STATEMENT_KERNELS] = {.sql = "SELECT descriptor FROM kernels WHERE run = ?1 ORDER BY id"},
    [STATEMENT_PROCESS_COUNT] = {.sql = "SELECT count(DISTINCT process) FROM repetitions "
                                        "JOIN cases ON cases.id = case_id WHERE " KEY_MATCHES
                                        " AND process IN (SELECT process FROM "
                                        "finished_processes WHERE run = ?1)"},
    [STATEMENT_END_PROCESS] = {.sql = "INSERT OR IGNORE INTO finished_processes VALUES (?1, ?2)"},
    [STATEMENT_NEXT_PROCESS] = {.sql = "SELECT coalesce(max(process) + 1, 0) FROM repetitions "
                                       "JOIN cases ON cases.id = case_id WHERE run = ?1"},
    [STATEMENT_HAS_ACCURACY] = {.sql = "SELECT count(*) FROM accuracies "
                                       "JOIN cases ON cases.id = case_id "
                                       "WHERE verdict <> 'pending' AND " KEY_MATCHES},
};

static const char *const state_names[] = {"open", "complete", "interrupted"};

bool store_fail(const store *store, int status, const char *doing, error *error)
{
    static const char kept[] = "what was stored before is kept";
    const char *path = store->path;
    int system = sqlite3_system_errno(store->database);
    switch (status & 0xff) {
    case SQLITE_NOTADB:
        return fail(error, EXIT_CODE_ENVIRONMENT,
                    "%s: not an SQLite database: name another file with --db", path);
    case SQLITE_CORRUPT:
        return fail(error, EXIT_CODE_ENVIRONMENT,
                    "%s: the database is damaged (%s): save what can be saved with "
                    "'sqlite3 %s .recover', or name another file with --db",
                    path, sqlite3_errmsg(store->database), path);
    case SQLITE_FULL:
        return fail(error, EXIT_CODE_ENVIRONMENT,
                    "%s: cannot %s: the disk is full (%s): free some space and go on with --resume",
                    path, doing, kept);
    case SQLITE_BUSY:
        return fail(error, EXIT_CODE_ENVIRONMENT,
                    "%s: cannot %s: another program has been writing to it for more than %d s",
                    path, doing, STORE_BUSY_MS / 1000);
    case SQLITE_READONLY:
        return fail(error, EXIT_CODE_ENVIRONMENT,
                    "%s: cannot %s: no permission to write the file or its directory", path, doing);
    case SQLITE_NOMEM:
        return fail_memory(error, "the result store");
    case SQLITE_CONSTRAINT:
        return fail(error, EXIT_CODE_ENVIRONMENT,
                    "%s: cannot %s: it is there already, or its run is not (%s)", path, doing,
                    sqlite3_errmsg(store->database));
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
        return fail(error, EXIT_CODE_ENVIRONMENT, "%s: cannot %s: %s (%s)", path, doing,
                    system ? strerror(system) : sqlite3_errmsg(store->database), kept);
    default:
        return fail(error, EXIT_CODE_ENVIRONMENT, "%s: cannot %s: %s (%s)", path, doing,
                    sqlite3_errmsg(store->database), kept);
    }
}

sqlite3_stmt *store_statement(store *store, statement_kind kind, error *error)
{
    sqlite3_stmt **statement = &store->statements[kind];
    if (*statement) {
        sqlite3_reset(*statement);
        sqlite3_clear_bindings(*statement);
        return *statement;
    }
    char *made = statement_sql[kind].make ? statement_sql[kind].make() : NULL;
    const char *sql = made ? made : statement_sql[kind].sql;
    if (!sql) {
        fail_memory(error, "a statement of the result store");
        return NULL;
    }
    int status =
        sqlite3_prepare_v3(store->database, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL);
    free(made);
    if (status != SQLITE_OK)
        store_fail(store, status, "use its tables", error);
    return *statement;
}

bool store_step(store *store, sqlite3_stmt *statement, const char *doing, error *error)
{
    int status = sqlite3_step(statement);
    bool fine = status == SQLITE_DONE || status == SQLITE_ROW;
    if (!fine)
        store_fail(store, status, doing, error);
    sqlite3_reset(statement);
    return fine;
}

bool store_next(store *store, sqlite3_stmt *statement, bool *row, error *error)
{
    int status = sqlite3_step(statement);
    *row = status == SQLITE_ROW;
    if (*row)
        return true;
    if (status != SQLITE_DONE)
        store_fail(store, status, "read it", error);
    sqlite3_reset(statement);
    return status == SQLITE_DONE;
}

static bool run_plain(store *store, statement_kind kind, const char *doing, error *error)
{
    sqlite3_stmt *statement = store_statement(store, kind, error);
    return statement && store_step(store, statement, doing, error);
}

/* Ends the transaction: kept where all went well, else undone. */
static bool finish(store *store, bool fine, const char *doing, error *error)
{
    if (fine && run_plain(store, STATEMENT_COMMIT, doing, error))
        return true;
    store->last_case = 0;
    if (!sqlite3_get_autocommit(store->database))
        run_plain(store, STATEMENT_ROLLBACK, doing, NULL);
    return false;
}

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

static bool connect(store *store, const char *name, int flags, error *error)
{
    sqlite3_close(store->database);
    store->database = NULL;
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
    return run_plain(store, STATEMENT_BEGIN, "write to it", error) &&
           run_plain(store, STATEMENT_COMMIT, "write to it", error);
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
    for (int i = 0; i < STATEMENT_COUNT; i++)
        sqlite3_finalize(store->statements[i]);
    sqlite3_close(store->database);
    free(store->path);
    free(store);
}

static void bind_string(sqlite3_stmt *statement, int place, const char *string)
{
    sqlite3_bind_text(statement, place, string ? string : "", -1, SQLITE_STATIC);
}

static bool add_facts(store *store, int64_t run, const machine *machine, error *error)
{
    for (size_t i = 0; machine && i < machine->count; i++) {
        sqlite3_stmt *statement = store_statement(store, STATEMENT_ADD_FACT, error);
        if (!statement)
            return false;
        sqlite3_bind_int64(statement, 1, run);
        sqlite3_bind_int64(statement, 2, (int64_t)i);
        bind_string(statement, 3, machine->facts[i].name);
        bind_string(statement, 4, machine->facts[i].value);
        if (!store_step(store, statement, "store the machine's facts", error))
            return false;
    }
    return true;
}

static bool add_run(store *store, const run_info *info, int64_t *run, error *error)
{
    sqlite3_stmt *statement = store_statement(store, STATEMENT_ADD_RUN, error);
    if (!statement)
        return false;
    bind_string(statement, 1, info->command_line);
    bind_string(statement, 2, info->plan);
    bind_string(statement, 3, info->plan_hash);
    sqlite3_bind_int64(statement, 4, (int64_t)info->seed);
    if (!store_step(store, statement, "begin a run", error))
        return false;
    *run = sqlite3_last_insert_rowid(store->database);
    return add_facts(store, *run, info->machine, error);
}

bool store_begin_run(store *store, const run_info *info, int64_t *run, error *error)
{
    if (!run_plain(store, STATEMENT_BEGIN, "begin a run", error))
        return false;
    return finish(store, add_run(store, info, run, error), "begin a run", error);
}

bool store_end_run(store *store, int64_t run, run_state state, error *error)
{
    sqlite3_stmt *statement = store_statement(store, STATEMENT_END_RUN, error);
    if (!statement)
        return false;
    sqlite3_bind_int64(statement, 1, run);
    bind_string(statement, 2, state_names[state]);
    if (!store_step(store, statement, "end the run", error))
        return false;
    return sqlite3_changes(store->database) > 0 ||
           fail(error, EXIT_CODE_ENVIRONMENT, "%s: no run %lld to end", store->path,
                (long long)run);
}

bool store_end_process(store *store, int64_t run, unsigned process, error *error)
{
    sqlite3_stmt *statement = store_statement(store, STATEMENT_END_PROCESS, error);
    if (!statement)
        return false;
    sqlite3_bind_int64(statement, 1, run);
    sqlite3_bind_int64(statement, 2, process);
    return store_step(store, statement, "end a worker process", error);
}

bool store_put_kernel(store *store, int64_t run, const char *name, const char *json, error *error)
{
    sqlite3_stmt *statement = store_statement(store, STATEMENT_PUT_KERNEL, error);
    if (!statement)
        return false;
    sqlite3_bind_int64(statement, 1, run);
    bind_string(statement, 2, name);
    bind_string(statement, 3, json);
    return store_step(store, statement, "store a kernel", error);
}

void store_bind_key(sqlite3_stmt *statement, int64_t run, const case_key *key)
{
    sqlite3_bind_int64(statement, 1, run);
    bind_string(statement, 2, key->kernel);
    bind_string(statement, 3, key->convention);
    bind_string(statement, 4, key->input);
    sqlite3_bind_int64(statement, 5, (int64_t)key->rows);
    sqlite3_bind_int64(statement, 6, (int64_t)key->hidden);
    bind_string(statement, 7, dtype_name(key->dtype));
    bind_string(statement, 8, cache_name(key->cache));
    sqlite3_bind_int64(statement, 9, key->threads);
}

static bool same_key(const case_key *a, const case_key *b)
{
    return a->rows == b->rows && a->hidden == b->hidden && a->dtype == b->dtype &&
           a->cache == b->cache && a->threads == b->threads && strcmp(a->kernel, b->kernel) == 0 &&
           strcmp(a->convention, b->convention) == 0 && strcmp(a->input, b->input) == 0;
}

/* The number of the case, which is added where the run doesn't have it yet. */
static bool find_or_add_case(store *store, int64_t run, const case_key *key, int64_t *id,
                             error *error)
{
    if (store->last_case && store->last_run == run && same_key(&store->last_key, key)) {
        *id = store->last_case;
        return true;
    }
    sqlite3_stmt *statement = store_statement(store, STATEMENT_FIND_CASE, error);
    if (!statement)
        return false;
    store_bind_key(statement, run, key);
    bool found;
    if (!store_next(store, statement, &found, error))
        return false;
    if (found) {
        *id = sqlite3_column_int64(statement, 0);
        sqlite3_reset(statement);
    } else {
        statement = store_statement(store, STATEMENT_ADD_CASE, error);
        if (!statement)
            return false;
        store_bind_key(statement, run, key);
        if (!store_step(store, statement, "store a case", error))
            return false;
        *id = sqlite3_last_insert_rowid(store->database);
    }
    store->last_run = run;
    store->last_key = *key;
    store->last_case = *id;
    return true;
}

/* Opens a transaction and gives a statement whose parameter 1 is the case; NULL: undone. */
static sqlite3_stmt *begin_put(store *store, statement_kind kind, int64_t run, const case_key *key,
                               error *error)
{
    if (!run_plain(store, STATEMENT_BEGIN, "store a measurement", error))
        return NULL;
    int64_t id;
    sqlite3_stmt *statement = NULL;
    if (find_or_add_case(store, run, key, &id, error))
        statement = store_statement(store, kind, error);
    if (statement)
        sqlite3_bind_int64(statement, 1, id);
    else
        finish(store, false, "store a measurement", NULL);
    return statement;
}

static bool end_put(store *store, sqlite3_stmt *statement, error *error)
{
    bool fine = store_step(store, statement, "store a measurement", error);
    return finish(store, fine, "store a measurement", error);
}

char *store_put_accuracy_sql(void)
{
    size_t count;
    const metric_field *fields = metric_fields(&count);
    text sql = {0};
    text_add(&sql, "INSERT OR REPLACE INTO accuracies "
                   "(case_id, verdict, declared, detail, bound_row_ulp");
    for (size_t i = 0; i < count; i++)
        text_format(&sql, ", %s", fields[i].name);
    text_add(&sql, ") VALUES (?, ?, ?, ?, ?");
    for (size_t i = 0; i < count; i++)
        text_add(&sql, ", ?");
    text_add(&sql, ")");
    if (sql.failed)
        text_free(&sql);
    return sql.bytes;
}

bool store_put_accuracy(store *store, int64_t run, const case_key *key, const verdict *verdict,
                        const ln_metrics *metrics, double bound_row_ulp, error *error)
{
    sqlite3_stmt *statement = begin_put(store, STATEMENT_PUT_ACCURACY, run, key, error);
    if (!statement)
        return false;
    bind_string(statement, 2, verdict_name(verdict->kind));
    sqlite3_bind_int(statement, 3, verdict->declared);
    bind_string(statement, 4, verdict->detail);
    sqlite3_bind_double(statement, 5, bound_row_ulp); /* a NaN is stored as NULL */
    ln_metrics undefined;
    metrics_undefined(&undefined);
    metrics = metrics ? metrics : &undefined;
    size_t count;
    const metric_field *fields = metric_fields(&count);
    for (size_t i = 0; i < count; i++) {
        if (fields[i].kind == METRIC_REAL)
            sqlite3_bind_double(statement, 6 + (int)i, metric_value(metrics, &fields[i]));
        else
            sqlite3_bind_int64(statement, 6 + (int)i, (int64_t)metric_count(metrics, &fields[i]));
    }
    return end_put(store, statement, error);
}

bool store_put_repetition(store *store, int64_t run, const case_key *key,
                          const repetition *repetition, error *error)
{
    sqlite3_stmt *statement = begin_put(store, STATEMENT_PUT_REPETITION, run, key, error);
    if (!statement)
        return false;
    sqlite3_bind_int64(statement, 2, repetition->process);
    sqlite3_bind_int64(statement, 3, repetition->repetition);
    sqlite3_bind_int64(statement, 4, repetition->order);
    sqlite3_bind_int64(statement, 5, (int64_t)repetition->iterations);
    sqlite3_bind_double(statement, 6, repetition->real_ns);
    sqlite3_bind_double(statement, 7, repetition->cpu_ns);
    return end_put(store, statement, error);
}

bool store_put_row(store *store, int64_t run, const case_key *key, size_t row, double kappa,
                   double row_ulp, double norm_max, double bound_row_ulp, error *error)
{
    sqlite3_stmt *statement = begin_put(store, STATEMENT_PUT_ROW, run, key, error);
    if (!statement)
        return false;
    sqlite3_bind_int64(statement, 2, (int64_t)row);
    sqlite3_bind_double(statement, 3, kappa);
    sqlite3_bind_double(statement, 4, row_ulp);
    sqlite3_bind_double(statement, 5, norm_max);
    sqlite3_bind_double(statement, 6, bound_row_ulp);
    return end_put(store, statement, error);
}
