/* Writing. Opening is in open.c, reading in read.c, the statements in statements.c, the format's
 * versions in schema.c. */
#include "store/internal.h"
#include "domain/metric_fields.h"
#include "base/hash.h"
#include "base/text.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *const run_state_names[] = {"open", "complete", "interrupted"};

_Noreturn void store_die(const result_store *store, int status, const char *doing)
{
    static const char kept[] = "what was stored before is kept";
    const char *path = store->path;
    int system = sqlite3_system_errno(store->database);
    switch (status & 0xff) {
    case SQLITE_NOTADB:
        die(EXIT_CODE_ENVIRONMENT, "%s: not an SQLite database: name another file with --db", path);
    case SQLITE_CORRUPT:
        die(EXIT_CODE_ENVIRONMENT,
            "%s: the database is damaged (%s): save what can be saved with "
            "'sqlite3 %s .recover', or name another file with --db",
            path, sqlite3_errmsg(store->database), path);
    case SQLITE_FULL:
        die(EXIT_CODE_ENVIRONMENT, "%s: cannot %s: the disk is full (%s): free some space", path,
            doing, kept);
    case SQLITE_TOOBIG:
        die(EXIT_CODE_ENVIRONMENT,
            "%s: a text of more than %d MiB, or a row of more than %d MiB, which lnbench "
            "does not store: name another file with --db",
            path, STORE_TEXT_MOST >> 20, STORE_LENGTH_MOST >> 20);
    case SQLITE_BUSY:
        die(EXIT_CODE_ENVIRONMENT,
            "%s: cannot %s: another program has been writing to it for more than %d s", path, doing,
            STORE_BUSY_MS / 1000);
    case SQLITE_READONLY:
        die(EXIT_CODE_ENVIRONMENT,
            "%s: cannot %s: no permission to write the file or its directory", path, doing);
    case SQLITE_NOMEM:
        die(EXIT_CODE_ENVIRONMENT, "out of memory (the result store)");
    case SQLITE_CONSTRAINT:
        die(EXIT_CODE_ENVIRONMENT, "%s: cannot %s: it is there already, or its run is not (%s)",
            path, doing, sqlite3_errmsg(store->database));
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
        if (system == EFBIG || system == ENOSPC) /* a reader writes beside it, too: SQLite's -shm */
            doing = "write to it or beside it";
        die(EXIT_CODE_ENVIRONMENT, "%s: cannot %s: %s (%s)", path, doing,
            system ? strerror(system) : sqlite3_errmsg(store->database), kept);
    default:
        die(EXIT_CODE_ENVIRONMENT, "%s: cannot %s: %s (%s)", path, doing,
            sqlite3_errmsg(store->database), kept);
    }
}

void store_check(const result_store *store, int status, const char *doing)
{
    if (status != SQLITE_OK)
        store_die(store, status, doing);
}

void store_execute(const result_store *store, const char *sql, const char *doing)
{
    store_check(store, sqlite3_exec(store->database, sql, NULL, NULL, NULL), doing);
}

void store_begin(result_store *store, const char *doing)
{
    if (!store->together)
        store_do(store, STATEMENT_BEGIN, doing, "");
}

void store_finish(result_store *store, const char *doing)
{
    if (!store->together)
        store_do(store, STATEMENT_COMMIT, doing, "");
}

void store_together(result_store *store)
{
    store_begin(store, "write to it");
    store->together = true;
}

/* On the disk, past a power loss: with synchronous = NORMAL a commit alone is not
 * (sqlite.org/pragma.html#pragma_synchronous). A reader may hold the log; it is synced before. */
static void settle(result_store *store)
{
    int status =
        sqlite3_wal_checkpoint_v2(store->database, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    if (status != SQLITE_BUSY && status != SQLITE_LOCKED)
        store_check(store, status, "write to it");
}

void store_together_leave(result_store *store)
{
    store->together = false;
    store_finish(store, "write to it");
}

void store_together_end(result_store *store)
{
    store_together_leave(store);
    settle(store);
}

/* The machine's facts, and which SQLite stored them. */
static void add_facts(result_store *store, int64_t run, const machine_facts *machine)
{
    static const char doing[] = "store the machine's facts";
    size_t count = machine ? machine->count : 0;
    for (size_t i = 0; i < count; i++)
        store_do(store, STATEMENT_ADD_FACT, doing, "iiss", run, (int64_t)i, machine->facts[i].name,
                 machine->facts[i].value);
    store_do(store, STATEMENT_ADD_FACT, doing, "iiss", run, (int64_t)count, "sqlite",
             sqlite3_libversion());
}

/* Of the machine, the plan, the seed and the moment. */
static void make_origin(const run_info *info, char origin[17])
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    uint64_t hash = hash_bytes(HASH_START, &now, sizeof now);
    hash = hash_bytes(hash, &info->seed, sizeof info->seed);
    hash = hash_bytes(hash, info->plan_hash, strlen(info->plan_hash));
    for (size_t i = 0; info->machine && i < info->machine->count; i++)
        hash =
            hash_bytes(hash, info->machine->facts[i].value, strlen(info->machine->facts[i].value));
    snprintf(origin, 17, "%016" PRIx64, hash);
}

int64_t store_begin_run(result_store *store, const run_info *info)
{
    static const char doing[] = "begin a run";
    char machine[MACHINE_KEY_LENGTH], origin[17];
    make_origin(info, origin);
    store_begin(store, doing);
    store_do(store, STATEMENT_ADD_RUN, doing, "sssisssiis", info->command_line, info->plan,
             info->plan_hash, (int64_t)info->seed, info->command, info->request_hash,
             machine_key(info->machine, machine), (int64_t)info->triples,
             (int64_t)info->triples_covered, origin);
    int64_t run = sqlite3_last_insert_rowid(store->database);
    add_facts(store, run, info->machine);
    store_finish(store, doing);
    return run;
}

void store_count_asked(result_store *store, int64_t run)
{
    store_do(store, STATEMENT_COUNT_ASKED, "store what was requested", "i", run);
}

void store_sum_up(result_store *store, int64_t run, int64_t unfinished)
{
    static const char doing[] = "sum up a run";
    store_do(store, STATEMENT_END_ALL_BUT, doing, "ii", run, unfinished);
    store_put_timings(store, run, ANY_PROCESS);
    store_do(store, STATEMENT_COUNT_RUN, doing, "i", run);
}

void store_end_run(result_store *store, int64_t run, run_state state)
{
    static const char doing[] = "end the run";
    store_begin(store, doing);
    store_do(store, STATEMENT_END_RUN, doing, "is", run, run_state_names[state]);
    if (sqlite3_changes(store->database) == 0)
        die(EXIT_CODE_ENVIRONMENT, "%s: no run %lld to end", store->path, (long long)run);
    store_do(store, STATEMENT_COUNT_RUN, doing, "i", run);
    store_finish(store, doing);
    settle(store);
}

void store_end_process(result_store *store, int64_t run, unsigned process)
{
    static const char doing[] = "end a worker process";
    store_begin(store, doing);
    store_do(store, STATEMENT_END_PROCESS, doing, "ii", run, (int64_t)process);
    store_put_timings(store, run, process);
    store_finish(store, doing);
}

void store_drop_unfinished(result_store *store, int64_t run)
{
    static const char doing[] = "drop what a worker process left unfinished";
    store_begin(store, doing);
    store_do(store, STATEMENT_DROP_UNFINISHED, doing, "i", run);
    store_do(store, STATEMENT_DROP_TIMINGS, doing, "i", run);
    store_put_timings(store, run, ANY_PROCESS);
    store_finish(store, doing);
}

sqlite3_stmt *store_keyed(result_store *store, statement_kind kind, int64_t run,
                          const case_key *key)
{
    return store_bound(store, kind, "isssiissis", run, key->kernel, key->convention, key->input,
                       (int64_t)key->rows, (int64_t)key->hidden, dtype_name(key->dtype),
                       cache_name(key->cache), (int64_t)key->threads,
                       operation_name(key->operation));
}

static const char *find_regime(result_store *store, int64_t run, const case_key *key)
{
    if (store->machine_run != run) {
        machine_free(&store->machine);
        store->machine = store_machine(store, run);
        store->machine_run = run;
    }
    return machine_regime(&store->machine, key->operation, key->rows, key->hidden, key->dtype);
}

/* The number of the case, which is added where the run doesn't have it yet. */
static int64_t find_or_add_case(result_store *store, int64_t run, const case_key *key)
{
    if (store->last_case && store->last_run == run && case_key_equal(&store->last_key, key))
        return store->last_case;
    int64_t id = store_number(store, store_keyed(store, STATEMENT_FIND_CASE, run, key));
    if (id == 0) {
        static const char doing[] = "store a case";
        const char *regime = find_regime(store, run, key);
        for (int kind = STATEMENT_ADD_CELL; kind <= STATEMENT_ADD_CASE; kind++) {
            sqlite3_stmt *add = store_keyed(store, (statement_kind)kind, run, key);
            if (kind == STATEMENT_ADD_CELL)
                store_bind(add, 11, "s", regime);
            store_step(store, add, doing);
        }
        id = sqlite3_last_insert_rowid(store->database);
    }
    store->last_run = run;
    store->last_key = *key;
    store->last_case = id;
    return id;
}

static const char doing_put[] = "store a measurement";

/* Opens a transaction and gives a statement whose parameter 1 is the case, which is then
 * store->last_case. */
static sqlite3_stmt *begin_put(result_store *store, statement_kind kind, int64_t run,
                               const case_key *key)
{
    store_begin(store, doing_put);
    int64_t id = find_or_add_case(store, run, key);
    sqlite3_stmt *statement = store_statement(store, kind);
    sqlite3_bind_int64(statement, 1, id);
    return statement;
}

char *store_put_accuracy_sql(void)
{
    text_buffer sql = {0};
    text_add(&sql, "INSERT OR REPLACE INTO accuracies "
                   "(case_id, bound_row_ulp, output_hash, ulp_histogram");
    for (size_t i = 0; i < metric_count_all; i++)
        text_format(&sql, ", %s", metric_list[i].name);
    text_add(&sql, ") VALUES (?, ?, ?, ?");
    for (size_t i = 0; i < metric_count_all; i++)
        text_add(&sql, ", ?");
    text_add(&sql, ")");
    return sql.bytes;
}

static void bind_metrics(sqlite3_stmt *statement, int place, const ln_metrics *metrics)
{
    for (size_t i = 0; i < metric_count_all; i++) {
        const record_field field = metric_record(&metric_list[i]);
        store_bind_record(statement, place + (int)i, &field, 1, metrics);
    }
}

void store_put_judged(result_store *store, int64_t run, const stored_case *stored)
{
    sqlite3_stmt *statement = begin_put(store, STATEMENT_PUT_ACCURACY, run, &stored->key);
    char histogram[HISTOGRAM_TEXT_LENGTH];
    stored_case put = *stored;
    if (put.metrics.elements == 0)
        metrics_undefined(&put.metrics);
    store_bind(statement, 2, "d", put.bound_row_ulp);
    if (put.hashed)
        store_bind(statement, 3, "i", (int64_t)put.output_hash);
    if (metrics_histogram_format(&put.metrics, histogram))
        store_bind(statement, 4, "s", histogram);
    bind_metrics(statement, 5, &put.metrics);
    if (put.metrics.elements == 0 && isnan(put.bound_row_ulp))
        store_do(store, STATEMENT_DROP_ACCURACY, doing_put, "i", store->last_case);
    else
        store_step(store, statement, doing_put);
    store_put_judgement(store, store->last_case, &put);
    store_finish(store, doing_put);
}

static void put_record(result_store *store, statement_kind kind, int64_t run, const case_key *key,
                       const record_field *fields, size_t count, const void *from)
{
    sqlite3_stmt *statement = begin_put(store, kind, run, key);
    store_bind_record(statement, 2, fields, count, from);
    store_step(store, statement, doing_put);
    store_finish(store, doing_put);
}

void store_put_asked(result_store *store, int64_t run, const asked_case *asked)
{
    put_record(store, STATEMENT_PUT_ASKED, run, &asked->key, lost_fields, 1, asked);
}

void store_put_repetition(result_store *store, int64_t run, const case_key *key,
                          const timed_repetition *repetition)
{
    put_record(store, STATEMENT_PUT_REPETITION, run, key, FIELDS(repetition_fields), repetition);
}

void store_put_row(result_store *store, int64_t run, const case_key *key, const stored_row *row)
{
    put_record(store, STATEMENT_PUT_ROW, run, key, row_fields + 1, ROW_FIELDS - 1, row);
}
