/* Statements and writing. Opening is in open.c, reading in read.c, the format's
 * versions in schema.c. */
#include "store/internal.h"
#include "domain/metric_fields.h"
#include "base/text.h"
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define KEY_COLUMNS "run, kernel, convention, input, rows, hidden, dtype, cache, threads, operation"
#define KEY_MATCHES                                                                                \
    "run = ?1 AND kernel = ?2 AND convention = ?3 AND input = ?4 AND rows = ?5 AND hidden = ?6 "   \
    "AND dtype = ?7 AND cache = ?8 AND threads = ?9 AND operation = ?10"
/* A case that was only asked for has none. */
#define HAS_RESULT                                                                                 \
    "(accuracies.case_id IS NOT NULL OR EXISTS "                                                   \
    "(SELECT 1 FROM repetitions WHERE repetitions.case_id = cases.id))"
#define COUNT_DECLINED                                                                             \
    "SELECT count(*) FROM cases JOIN accuracies ON case_id = cases.id WHERE cases.asked > 0 "      \
    "AND verdict = 'unsupported'"
/* Of a row of runs: what was asked for and is not there at all is lost too. */
#define COUNT_LOST                                                                                 \
    "asked - (SELECT count(*) FROM cases WHERE run = runs.id AND cases.asked > 0) + "              \
    "(SELECT count(*) FROM lost WHERE run = runs.id)"
/* Once a run is over, its own columns say what became of its cases: nobody counts for a list. */
#define RUN_COLUMNS(declined, lost)                                                                \
    "SELECT id, started, plan, plan_hash, command_line, seed, state, "                             \
    "(SELECT count(*) FROM cases LEFT JOIN accuracies ON case_id = cases.id "                      \
    "WHERE run = runs.id AND " HAS_RESULT "), "                                                    \
    "(SELECT count(*) FROM repetitions JOIN cases ON cases.id = case_id WHERE run = runs.id), "    \
    "command, request_hash, asked, " declined ", " lost " FROM runs "
#define OF_THIS_RUN "(" COUNT_DECLINED " AND run = runs.id)"

/* Statements whose columns follow the list of metrics are made by a function. */
static const struct {
    const char *sql;
    char *(*make)(void);
} statement_sql[STATEMENT_COUNT] = {
    [STATEMENT_BEGIN] = {.sql = "BEGIN IMMEDIATE"},
    [STATEMENT_COMMIT] = {.sql = "COMMIT"},
    [STATEMENT_ROLLBACK] = {.sql = "ROLLBACK"},
    [STATEMENT_ADD_RUN] = {.sql = "INSERT INTO runs (started, command_line, plan, plan_hash, seed, "
                                  "command, request_hash, state) VALUES "
                                  "(strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), ?1, ?2, ?3, ?4, "
                                  "nullif(?5, ''), nullif(?6, ''), 'open')"},
    [STATEMENT_ADD_FACT] = {.sql = "INSERT OR REPLACE INTO facts (run, place, name, value) "
                                   "VALUES (?1, ?2, ?3, ?4)"},
    [STATEMENT_END_RUN] = {.sql =
                               "UPDATE runs SET state = ?2, "
                               "ended = strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), "
                               "declined = iif(asked IS NULL, NULL, " OF_THIS_RUN
                               "), lost = iif(asked IS NULL, NULL, " COUNT_LOST ") WHERE id = ?1"},
    [STATEMENT_FIND_UNFINISHED] = {.sql = "SELECT max(id) FROM runs WHERE plan_hash = ?1 "
                                          "AND origin IS NULL AND (state <> 'complete' OR "
                                          "asked IS NOT NULL AND " COUNT_LOST " > 0)"},
    [STATEMENT_LATEST_RUN] = {.sql = "SELECT max(run) FROM cases"},
    [STATEMENT_PUT_KERNEL] = {.sql = "INSERT INTO kernels (run, name, descriptor) "
                                     "VALUES (?1, ?2, ?3) ON CONFLICT (run, name) "
                                     "DO UPDATE SET descriptor = excluded.descriptor"},
    [STATEMENT_ADD_CASE] = {.sql = "INSERT INTO cases (" KEY_COLUMNS ") VALUES "
                                   "(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"},
    [STATEMENT_PUT_ASKED] = {.sql = "INSERT INTO cases (" KEY_COLUMNS ", asked) VALUES "
                                    "(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) ON CONFLICT "
                                    "(" KEY_COLUMNS ") DO UPDATE SET "
                                    "asked = coalesce(asked, 0) | excluded.asked"},
    [STATEMENT_COUNT_ASKED] = {.sql = "UPDATE runs SET asked = (SELECT count(*) FROM cases "
                                      "WHERE run = ?1 AND cases.asked > 0), declined = NULL, "
                                      "lost = NULL, state = 'open', ended = NULL WHERE id = ?1"},
    [STATEMENT_IMPORT_COUNTS] = {.sql = "UPDATE runs SET asked = ?2, declined = ?3, lost = ?4 "
                                        "WHERE id = ?1"},
    [STATEMENT_LOST] = {.sql = "SELECT case_id, kernel, convention, input, rows, hidden, dtype, "
                               "cache, threads, asked, reason, operation FROM lost "
                               "WHERE run = ?1 ORDER BY case_id"},
    [STATEMENT_FIND_CASE] = {.sql = "SELECT id FROM cases WHERE " KEY_MATCHES},
    [STATEMENT_PUT_ACCURACY] = {.make = store_put_accuracy_sql},
    [STATEMENT_PUT_REPETITION] = {.sql = "INSERT INTO repetitions (case_id, process, repetition, "
                                         "place, iterations, real_ns, cpu_ns, cycles, "
                                         "instructions) "
                                         "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"},
    [STATEMENT_PUT_ROW] = {.sql = "INSERT OR REPLACE INTO judged_rows (case_id, row, kappa, "
                                  "row_ulp, norm_max, bound_row_ulp, mean_error, rstd_error) "
                                  "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"},
    [STATEMENT_ALL_RUNS] = {.sql = RUN_COLUMNS("coalesce(declined, " OF_THIS_RUN ")",
                                               "coalesce(lost, " COUNT_LOST ")") "ORDER BY id"},
    [STATEMENT_ONE_RUN] = {.sql = RUN_COLUMNS(OF_THIS_RUN, COUNT_LOST) "WHERE id = ?1"},
    [STATEMENT_CASES] = {.make = store_cases_sql},
    [STATEMENT_CASE_SET] = {.sql = "SELECT id, kernel, convention, input, rows, hidden, dtype, "
                                   "cache, threads, operation FROM cases WHERE run = ?1"},
    [STATEMENT_REPETITIONS] =
        {.sql = "SELECT case_id, process, repetition, place, iterations, "
                "real_ns, cpu_ns, cycles, instructions FROM repetitions JOIN cases "
                "ON cases.id = case_id WHERE run = ?1 "
                "ORDER BY case_id, process, repetition"},
    [STATEMENT_ROWS] = {.sql = "SELECT case_id, row, kappa, row_ulp, norm_max, "
                               "bound_row_ulp, mean_error, rstd_error FROM judged_rows JOIN cases "
                               "ON cases.id = case_id "
                               "WHERE run = ?1 ORDER BY case_id, row"},
    [STATEMENT_FACTS] = {.sql = "SELECT name, value FROM facts WHERE run = ?1 ORDER BY place"},
    [STATEMENT_KERNELS] = {.sql = "SELECT descriptor FROM kernels WHERE run = ?1 ORDER BY id"},
    [STATEMENT_PROCESS_COUNT] = {.sql = "SELECT count(DISTINCT process) FROM repetitions "
                                        "JOIN cases ON cases.id = case_id WHERE " KEY_MATCHES
                                        " AND process IN (SELECT process FROM "
                                        "finished_processes WHERE run = ?1)"},
    [STATEMENT_DROP_PROCESS] = {.sql = "DELETE FROM repetitions WHERE process = ?2 AND case_id IN "
                                       "(SELECT id FROM cases WHERE run = ?1)"},
    [STATEMENT_END_PROCESS] = {.sql = "INSERT OR IGNORE INTO finished_processes VALUES (?1, ?2)"},
    [STATEMENT_DROP_UNFINISHED] = {.sql = "DELETE FROM repetitions WHERE case_id IN "
                                          "(SELECT id FROM cases WHERE run = ?1) AND process NOT "
                                          "IN (SELECT process FROM finished_processes "
                                          "WHERE run = ?1)"},
    [STATEMENT_NEXT_PROCESS] = {.sql = "SELECT coalesce(max(process) + 1, 0) FROM repetitions "
                                       "JOIN cases ON cases.id = case_id WHERE run = ?1"},
    [STATEMENT_HAS_ACCURACY] = {.sql =
                                    "SELECT count(*) FROM accuracies "
                                    "JOIN cases ON cases.id = case_id "
                                    "WHERE verdict NOT IN ('pending', 'skipped') AND " KEY_MATCHES},
    [STATEMENT_PUT_OUTPUT] = {.sql = "UPDATE accuracies SET output_hash = ?2 WHERE case_id = ?1"},
    [STATEMENT_IMPORT_RUN] = {.sql = "INSERT INTO runs (command_line, plan, plan_hash, seed, "
                                     "command, request_hash, started, ended, state, origin) "
                                     "VALUES (?1, ?2, ?3, ?4, nullif(?5, ''), nullif(?6, ''), "
                                     "?7, ?7, ?8, ?9)"},
    [STATEMENT_FIND_ORIGIN] = {.sql = "SELECT id FROM runs WHERE origin = ?1"},
    [STATEMENT_ADD_CALIBRATION] = {.sql = "INSERT INTO calibrations (made, machine, kernel, "
                                          "rebuilds, confidence) VALUES "
                                          "(strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), ?1, ?2, ?3, "
                                          "?4)"},
    [STATEMENT_CALIBRATION] = {.sql = "SELECT id, made, kernel, rebuilds, confidence "
                                      "FROM calibrations WHERE machine = ?1 ORDER BY id DESC "
                                      "LIMIT 1"},
    [STATEMENT_ADD_NOISE] = {.sql = "INSERT INTO noise VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, "
                                    "?9, ?10)"},
    [STATEMENT_NOISE] = {.sql = "SELECT method, regime, rows, hidden, floor, smallest, seconds, "
                                "processes, trials FROM noise WHERE calibration = ?1"},
    [STATEMENT_ADD_TENSOR] = {.sql = "INSERT OR IGNORE INTO tensors (hash, bits) VALUES (?1, ?2)"},
    [STATEMENT_PUT_WORST] = {.sql = "INSERT OR REPLACE INTO worst_rows "
                                    "SELECT id, ?11, (SELECT id FROM tensors WHERE hash = ?12), "
                                    "(SELECT id FROM tensors WHERE hash = ?13), "
                                    "(SELECT id FROM tensors WHERE hash = ?14) "
                                    "FROM cases WHERE " KEY_MATCHES},
    [STATEMENT_WORST] = {.sql = "SELECT y_hash, (SELECT bits FROM tensors WHERE id = x), "
                                "(SELECT bits FROM tensors WHERE id = gamma), "
                                "(SELECT bits FROM tensors WHERE id = beta) "
                                "FROM worst_rows WHERE case_id = ?1"},
    [STATEMENT_RUN_OF_CASE] = {.sql = "SELECT run FROM cases WHERE id = ?1"},
};

const char *const run_state_names[] = {"open", "complete", "interrupted"};

bool run_state_from_name(const char *name, run_state *state)
{
    for (int i = RUN_OPEN; i <= RUN_INTERRUPTED; i++) {
        *state = (run_state)i;
        if (strcmp(name, run_state_names[i]) == 0)
            return true;
    }
    return false;
}

bool store_fail(const result_store *store, int status, const char *doing, error *err)
{
    static const char kept[] = "what was stored before is kept";
    const char *path = store->path;
    int system = sqlite3_system_errno(store->database);
    switch (status & 0xff) {
    case SQLITE_NOTADB:
        return fail(err, EXIT_CODE_ENVIRONMENT,
                    "%s: not an SQLite database: name another file with --db", path);
    case SQLITE_CORRUPT:
        return fail(err, EXIT_CODE_ENVIRONMENT,
                    "%s: the database is damaged (%s): save what can be saved with "
                    "'sqlite3 %s .recover', or name another file with --db",
                    path, sqlite3_errmsg(store->database), path);
    case SQLITE_FULL:
        return fail(err, EXIT_CODE_ENVIRONMENT,
                    "%s: cannot %s: the disk is full (%s): free some space", path, doing, kept);
    case SQLITE_TOOBIG:
        return fail(err, EXIT_CODE_ENVIRONMENT,
                    "%s: a text of more than %d MiB, or a row of more than %d MiB, which lnbench "
                    "does not store: name another file with --db",
                    path, STORE_TEXT_MOST >> 20, STORE_LENGTH_MOST >> 20);
    case SQLITE_BUSY:
        return fail(err, EXIT_CODE_ENVIRONMENT,
                    "%s: cannot %s: another program has been writing to it for more than %d s",
                    path, doing, STORE_BUSY_MS / 1000);
    case SQLITE_READONLY:
        return fail(err, EXIT_CODE_ENVIRONMENT,
                    "%s: cannot %s: no permission to write the file or its directory", path, doing);
    case SQLITE_NOMEM:
        return fail_memory(err, "the result store");
    case SQLITE_CONSTRAINT:
        return fail(err, EXIT_CODE_ENVIRONMENT,
                    "%s: cannot %s: it is there already, or its run is not (%s)", path, doing,
                    sqlite3_errmsg(store->database));
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
        if (system == EFBIG || system == ENOSPC) /* a reader writes beside it, too: SQLite's -shm */
            doing = "write to it or beside it";
        return fail(err, EXIT_CODE_ENVIRONMENT, "%s: cannot %s: %s (%s)", path, doing,
                    system ? strerror(system) : sqlite3_errmsg(store->database), kept);
    default:
        return fail(err, EXIT_CODE_ENVIRONMENT, "%s: cannot %s: %s (%s)", path, doing,
                    sqlite3_errmsg(store->database), kept);
    }
}

sqlite3_stmt *store_statement(result_store *store, statement_kind kind, error *err)
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
    if (status != SQLITE_OK)
        store_fail(store, status, "use its tables", err);
    return *statement;
}

static void bind_list(sqlite3_stmt *statement, int place, const char *types, va_list values)
{
    for (; *types; types++, place++) {
        if (*types == 'd') {
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
    bind_list(statement, place, types, values);
    va_end(values);
}

static sqlite3_stmt *bound(result_store *store, statement_kind kind, error *err, const char *types,
                           va_list values)
{
    sqlite3_stmt *statement = store_statement(store, kind, err);
    if (statement)
        bind_list(statement, 1, types, values);
    return statement;
}

sqlite3_stmt *store_bound(result_store *store, statement_kind kind, error *err, const char *types,
                          ...)
{
    va_list values;
    va_start(values, types);
    sqlite3_stmt *statement = bound(store, kind, err, types, values);
    va_end(values);
    return statement;
}

bool store_do(result_store *store, statement_kind kind, const char *doing, error *err,
              const char *types, ...)
{
    va_list values;
    va_start(values, types);
    sqlite3_stmt *statement = bound(store, kind, err, types, values);
    va_end(values);
    return statement && store_step(store, statement, doing, err);
}

bool store_step(result_store *store, sqlite3_stmt *statement, const char *doing, error *err)
{
    int status = sqlite3_step(statement);
    bool fine = status == SQLITE_DONE || status == SQLITE_ROW;
    if (!fine)
        store_fail(store, status, doing, err);
    sqlite3_reset(statement);
    return fine;
}

static bool has_long_text(sqlite3_stmt *statement)
{
    for (int i = 0; i < sqlite3_data_count(statement); i++)
        if (sqlite3_column_type(statement, i) == SQLITE_TEXT &&
            sqlite3_column_bytes(statement, i) > STORE_TEXT_MOST)
            return true;
    return false;
}

bool store_next(result_store *store, sqlite3_stmt *statement, bool *row, error *err)
{
    int status = sqlite3_step(statement);
    *row = status == SQLITE_ROW;
    if (*row && !has_long_text(statement))
        return true;
    if (*row)
        status = SQLITE_TOOBIG;
    *row = false;
    if (status != SQLITE_DONE)
        store_fail(store, status, "read it", err);
    sqlite3_reset(statement);
    return status == SQLITE_DONE;
}

bool store_begin(result_store *store, const char *doing, error *err)
{
    return store->together || store_do(store, STATEMENT_BEGIN, doing, err, "");
}

bool store_finish(result_store *store, bool fine, const char *doing, error *err)
{
    if (store->together)
        return fine;
    if (fine && store_do(store, STATEMENT_COMMIT, doing, err, ""))
        return true;
    store->last_case = 0;
    if (!sqlite3_get_autocommit(store->database))
        store_do(store, STATEMENT_ROLLBACK, doing, NULL, "");
    return false;
}

bool store_together(result_store *store, error *err)
{
    store->together = store_begin(store, "write to it", err);
    return store->together;
}

/* On the disk, past a power loss: with synchronous = NORMAL a commit alone is not
 * (sqlite.org/pragma.html#pragma_synchronous). A reader may hold the log; it is synced before. */
static bool settle(result_store *store, error *err)
{
    int status =
        sqlite3_wal_checkpoint_v2(store->database, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    return status == SQLITE_OK || status == SQLITE_BUSY || status == SQLITE_LOCKED ||
           store_fail(store, status, "write to it", err);
}

bool store_together_end(result_store *store, bool fine, error *err)
{
    store->together = false;
    return store_finish(store, fine, "write to it", err) && (!fine || settle(store, err));
}

static bool add_facts(result_store *store, int64_t run, const machine_facts *machine, error *err)
{
    for (size_t i = 0; machine && i < machine->count; i++)
        if (!store_do(store, STATEMENT_ADD_FACT, "store the machine's facts", err, "iiss", run,
                      (int64_t)i, machine->facts[i].name, machine->facts[i].value))
            return false;
    return true;
}

static bool add_run(result_store *store, const run_info *info, int64_t *run, error *err)
{
    if (!store_do(store, STATEMENT_ADD_RUN, "begin a run", err, "sssiss", info->command_line,
                  info->plan, info->plan_hash, (int64_t)info->seed, info->command,
                  info->request_hash))
        return false;
    *run = sqlite3_last_insert_rowid(store->database);
    return add_facts(store, *run, info->machine, err);
}

bool store_begin_run(result_store *store, const run_info *info, int64_t *run, error *err)
{
    if (!store_begin(store, "begin a run", err))
        return false;
    return store_finish(store, add_run(store, info, run, err), "begin a run", err);
}

bool store_import_run(result_store *store, const run_info *info, const char *started,
                      run_state state, const char *origin, int64_t *run, error *err)
{
    if (!store_do(store, STATEMENT_IMPORT_RUN, "import a run", err, "sssisssss", info->command_line,
                  info->plan, info->plan_hash, (int64_t)info->seed, info->command,
                  info->request_hash, started, run_state_names[state], origin))
        return false;
    *run = sqlite3_last_insert_rowid(store->database);
    return add_facts(store, *run, info->machine, err);
}

bool store_put_asked(result_store *store, int64_t run, const asked_case *asked, error *err)
{
    sqlite3_stmt *statement = store_statement(store, STATEMENT_PUT_ASKED, err);
    if (!statement)
        return false;
    store_bind_key(statement, run, &asked->key);
    sqlite3_bind_int(statement, 11, (int)asked->parts);
    return store_step(store, statement, "store what was asked for", err);
}

bool store_count_asked(result_store *store, int64_t run, error *err)
{
    return store_do(store, STATEMENT_COUNT_ASKED, "store what was asked for", err, "i", run);
}

bool store_import_counts(result_store *store, int64_t run, const run_counts *counts, error *err)
{
    return !counts->known ||
           store_do(store, STATEMENT_IMPORT_COUNTS, "import a run", err, "iiii", run,
                    (int64_t)counts->asked, (int64_t)counts->declined, (int64_t)counts->lost);
}

bool store_end_run(result_store *store, int64_t run, run_state state, error *err)
{
    if (!store_do(store, STATEMENT_END_RUN, "end the run", err, "is", run, run_state_names[state]))
        return false;
    if (sqlite3_changes(store->database) == 0)
        return fail(err, EXIT_CODE_ENVIRONMENT, "%s: no run %lld to end", store->path,
                    (long long)run);
    return settle(store, err);
}

bool store_end_process(result_store *store, int64_t run, unsigned process, error *err)
{
    return store_do(store, STATEMENT_END_PROCESS, "end a worker process", err, "ii", run,
                    (int64_t)process);
}

bool store_drop_process(result_store *store, int64_t run, unsigned process, error *err)
{
    return store_do(store, STATEMENT_DROP_PROCESS, "drop a worker process", err, "ii", run,
                    (int64_t)process);
}

bool store_drop_unfinished(result_store *store, int64_t run, error *err)
{
    return store_do(store, STATEMENT_DROP_UNFINISHED, "drop what a worker process left unfinished",
                    err, "i", run);
}

bool store_put_kernel(result_store *store, int64_t run, const char *name, const char *json,
                      error *err)
{
    return store_do(store, STATEMENT_PUT_KERNEL, "store a kernel", err, "iss", run, name, json);
}

void store_bind_key(sqlite3_stmt *statement, int64_t run, const case_key *key)
{
    store_bind(statement, 1, "isssiissis", run, key->kernel, key->convention, key->input,
               (int64_t)key->rows, (int64_t)key->hidden, dtype_name(key->dtype),
               cache_name(key->cache), (int64_t)key->threads, operation_name(key->operation));
}

/* The number of the case, which is added where the run doesn't have it yet. */
static bool find_or_add_case(result_store *store, int64_t run, const case_key *key, int64_t *id,
                             error *err)
{
    if (store->last_case && store->last_run == run && case_key_equal(&store->last_key, key)) {
        *id = store->last_case;
        return true;
    }
    sqlite3_stmt *statement = store_statement(store, STATEMENT_FIND_CASE, err);
    if (!statement)
        return false;
    store_bind_key(statement, run, key);
    bool found;
    if (!store_next(store, statement, &found, err))
        return false;
    if (found) {
        *id = sqlite3_column_int64(statement, 0);
        sqlite3_reset(statement);
    } else {
        statement = store_statement(store, STATEMENT_ADD_CASE, err);
        if (!statement)
            return false;
        store_bind_key(statement, run, key);
        if (!store_step(store, statement, "store a case", err))
            return false;
        *id = sqlite3_last_insert_rowid(store->database);
    }
    store->last_run = run;
    store->last_key = *key;
    store->last_case = *id;
    return true;
}

/* Opens a transaction and gives a statement whose parameter 1 is the case; NULL: undone. */
static sqlite3_stmt *begin_put(result_store *store, statement_kind kind, int64_t run,
                               const case_key *key, error *err)
{
    if (!store_begin(store, "store a measurement", err))
        return NULL;
    int64_t id;
    sqlite3_stmt *statement = NULL;
    if (find_or_add_case(store, run, key, &id, err))
        statement = store_statement(store, kind, err);
    if (statement)
        sqlite3_bind_int64(statement, 1, id);
    else
        store_finish(store, false, "store a measurement", NULL);
    return statement;
}

static bool end_put(result_store *store, sqlite3_stmt *statement, error *err)
{
    bool fine = store_step(store, statement, "store a measurement", err);
    return store_finish(store, fine, "store a measurement", err);
}

char *store_put_accuracy_sql(void)
{
    size_t count;
    const metric_field *fields = metric_fields(&count);
    text_buffer sql = {0};
    text_add(&sql, "INSERT OR REPLACE INTO accuracies "
                   "(case_id, verdict, declared, detail, bound_row_ulp");
    for (size_t i = 0; i < count; i++)
        text_format(&sql, ", %s", fields[i].name);
    text_add(&sql, ", ulp_histogram) VALUES (?, ?, ?, ?, ?, ?");
    for (size_t i = 0; i < count; i++)
        text_add(&sql, ", ?");
    text_add(&sql, ")");
    return sql.bytes;
}

bool store_put_accuracy(result_store *store, int64_t run, const case_key *key,
                        const case_verdict *verdict, const ln_metrics *metrics,
                        double bound_row_ulp, error *err)
{
    sqlite3_stmt *statement = begin_put(store, STATEMENT_PUT_ACCURACY, run, key, err);
    if (!statement)
        return false;
    store_bind(statement, 2, "sisd", verdict_name(verdict->kind), (int64_t)verdict->declared,
               verdict->detail, bound_row_ulp);
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
    char histogram[HISTOGRAM_TEXT_LENGTH];
    if (metrics_histogram_format(metrics, histogram))
        store_bind(statement, 6 + (int)count, "s", histogram);
    return end_put(store, statement, err);
}

bool store_put_output(result_store *store, int64_t run, const case_key *key, uint64_t output_hash,
                      error *err)
{
    sqlite3_stmt *statement = begin_put(store, STATEMENT_PUT_OUTPUT, run, key, err);
    if (!statement)
        return false;
    sqlite3_bind_int64(statement, 2, (int64_t)output_hash);
    return end_put(store, statement, err);
}

bool store_put_repetition(result_store *store, int64_t run, const case_key *key,
                          const timed_repetition *repetition, error *err)
{
    sqlite3_stmt *statement = begin_put(store, STATEMENT_PUT_REPETITION, run, key, err);
    if (!statement)
        return false;
    store_bind(statement, 2, "iiiidddd", (int64_t)repetition->process,
               (int64_t)repetition->repetition, (int64_t)repetition->order,
               (int64_t)repetition->iterations, repetition->real_ns, repetition->cpu_ns,
               repetition->cycles, repetition->instructions);
    return end_put(store, statement, err);
}

bool store_put_row(result_store *store, int64_t run, const case_key *key, const stored_row *row,
                   error *err)
{
    sqlite3_stmt *statement = begin_put(store, STATEMENT_PUT_ROW, run, key, err);
    if (!statement)
        return false;
    store_bind(statement, 2, "idddddd", (int64_t)row->row, row->kappa, row->row_ulp, row->norm_max,
               row->bound_row_ulp, row->mean_error, row->rstd_error);
    return end_put(store, statement, err);
}
