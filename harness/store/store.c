/* Writes runs while they are measured, reads them back, and maintains the store. open.c opens it, statements.c has
 * statements and records, and standing.c and the views evaluate a run. */
#include "store/internal.h"
#include "base/arena.h"
#include "base/hash.h"
#include "base/relation.h"
#include "base/text.h"
#include "domain/kernel.h"
#include "domain/case.h"
#include "inputs/inputs.h"
#include "inputs/worst.h"
#include "pairs_sql.h" /* the SQL files of the same names, as bytes */
#include "store/speed.h"
#include <inttypes.h>
#include <math.h>
#include <unistd.h>

/* Cases with their keys. store_keyed() binds the parameters of a key. */
#define KEYED_CASES "FROM cells JOIN cases ON cases.cell = cells.id "
#define CELL_MATCHES                                                                               \
    "run = ?1 AND kernel = ?2 AND convention = ?3 AND rows = ?5 AND hidden = ?6 AND types = ?7 "   \
    "AND cache = ?8 AND threads = ?9 AND operation = ?10"
#define KEY_MATCHES CELL_MATCHES " AND input_id = (SELECT id FROM inputs WHERE name = ?4)"
#define CASES_OF_RUN "(SELECT cases.id " KEYED_CASES "WHERE run = ?1)"
/* Processes that completed all their repetitions. */
#define FINISHED "process IN (SELECT process FROM finished_processes WHERE run = ?1)"

const char *const run_state_names[] = {"open", "complete", "interrupted"};

const char *const operation_names[OPERATIONS] = {
#define OPERATION(KIND, name) [LN_OPERATION_##KIND] = #name,
#include "domain/operations.def"
#undef OPERATION
};

static const record_field key_fields[] = {KEY_FIELDS_AT(case_key, )};

/* The columns of timings, in their order. */
static const record_field speed_fields[] = {
    FIELD(REAL, speed_figures, time_ns),       FIELD(REAL, speed_figures, time_lo_ns),
    FIELD(REAL, speed_figures, time_hi_ns),    FIELD(REAL, speed_figures, gbps),
    FIELD(REAL, speed_figures, copy_ratio),    FIELD(REAL, speed_figures, copy_ratio_lo),
    FIELD(REAL, speed_figures, copy_ratio_hi), FIELD(REAL, speed_figures, cycles),
    FIELD(REAL, speed_figures, instructions),  FIELD(UNSIGNED, speed_figures, repetitions),
    FIELD(UNSIGNED, speed_figures, processes)};

/* The columns of repetitions, in their order. */
static const record_field repetition_fields[] = {
    FIELD(UNSIGNED, timed_repetition, process),
    FIELD(UNSIGNED, timed_repetition, repetition),
    FIELD_AT(UNSIGNED, timed_repetition, "place", order),
    FIELD(COUNT, timed_repetition, iterations),
    FIELD(REAL, timed_repetition, real_ns),
    FIELD(REAL, timed_repetition, cpu_ns),
    FIELD(REAL, timed_repetition, cycles),
    FIELD(REAL, timed_repetition, instructions)};

/* Returns the list of metrics as metric_count_all fields of ln_metrics. */
static const record_field *metric_fields(void)
{
    static record_field fields[sizeof(ln_metrics) / sizeof(double)];
    for (size_t i = 0; !fields[metric_count_all - 1].key && i < metric_count_all; i++)
        fields[i] =
            (record_field){.key = metric_list[i].name,
                           .kind = metric_list[i].kind == METRIC_REAL ? FIELD_REAL : FIELD_COUNT,
                           .offset = metric_list[i].offset};
    return fields;
}

/* ---- transactions ---- */

void store_begin(result_store *store)
{
    if (!store->together)
        store_do(store, "BEGIN IMMEDIATE", "");
}

void store_finish(result_store *store)
{
    if (!store->together)
        store_do(store, "COMMIT", "");
}

void store_together(result_store *store)
{
    store_begin(store);
    store->together = true;
}

/* Writes to the disk what must survive a power loss: with synchronous = NORMAL, a commit does not
 * (sqlite.org/pragma.html#pragma_synchronous). If a reader blocks the checkpoint, at least the log is synced. */
static void settle(result_store *store)
{
    int status =
        sqlite3_wal_checkpoint_v2(store->database, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
    if (status != SQLITE_BUSY && status != SQLITE_LOCKED)
        store_check(store, status);
}

void store_together_leave(result_store *store)
{
    store->together = false;
    store_finish(store);
}

void store_together_end(result_store *store)
{
    store_together_leave(store);
    settle(store);
}

/* ---- runs ---- */

/* Columns of a row of runs: the number of cases with a result, of their repetitions, and of the requested cases that
 * are unsupported or missing. A requested case that is not in the table is missing too. */
#define COUNT_CASES                                                                                \
    "(SELECT count(*) " KEYED_CASES "WHERE run = runs.id AND "                                     \
    "(EXISTS (SELECT 1 FROM judgements WHERE case_id = cases.id) OR "                              \
    "EXISTS (SELECT 1 FROM repetitions WHERE case_id = cases.id)))"
#define COUNT_REPETITIONS                                                                          \
    "(SELECT count(*) " KEYED_CASES "JOIN repetitions ON case_id = cases.id WHERE run = runs.id)"
#define COUNT_UNSUPPORTED                                                                          \
    "iif(requested IS NULL, NULL, (SELECT count(*) " KEYED_CASES                                   \
    "JOIN judgements ON case_id = cases.id WHERE run = runs.id AND cases.requested > 0 "           \
    "AND verdict = 'unsupported'))"
#define COUNT_MISSING                                                                              \
    "iif(requested IS NULL, NULL, requested - (SELECT count(*) " KEYED_CASES                       \
    "WHERE run = runs.id AND cases.requested > 0) + "                                              \
    "(SELECT count(*) FROM missing WHERE run = runs.id))"

int64_t store_begin_run(result_store *store, const run_info *info)
{
    static const char fact_sql[] = "INSERT OR REPLACE INTO facts VALUES (?1, ?2, ?3, ?4)";
    char machine[MACHINE_KEY_LENGTH];
    size_t count = info->machine ? info->machine->count : 0;
    store_begin(store);
    store_do(store,
             "INSERT INTO runs (command_line, plan, plan_hash, seed, command, request_hash, "
             "machine, triples, triples_covered, origin, started, state, imported) VALUES (?1, ?2, "
             "?3, ?4, ?5, ?6, ?7, ?8, ?9, lower(hex(randomblob(8))), "
             "strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), 'open', 0)",
             "sssinnnii", info->command_line, info->plan, info->plan_hash, (int64_t)info->seed,
             info->command, info->request_hash, machine_key(info->machine, machine),
             (int64_t)info->triples, (int64_t)info->triples_covered);
    int64_t run = sqlite3_last_insert_rowid(store->database);
    for (size_t i = 0; i < count; i++)
        store_do(store, fact_sql, "iiss", run, (int64_t)i, info->machine->facts[i].name,
                 info->machine->facts[i].value);
    store_do(store, fact_sql, "iiss", run, (int64_t)count, "sqlite", sqlite3_libversion());
    store_finish(store);
    return run;
}

void store_count_requested(result_store *store, int64_t run)
{
    store_do(store,
             "UPDATE runs SET requested = (SELECT count(*) " KEYED_CASES
             "WHERE run = ?1 AND cases.requested > 0), unsupported = NULL, missing = NULL, cases = "
             "NULL, repetitions = NULL, state = 'open', ended = NULL WHERE id = ?1",
             "i", run);
}

void store_end_run(result_store *store, int64_t run, run_state state)
{
    store_do(store,
             "UPDATE runs SET state = ?2, ended = strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), "
             "cases = " COUNT_CASES ", repetitions = " COUNT_REPETITIONS
             ", unsupported = " COUNT_UNSUPPORTED ", missing = " COUNT_MISSING " WHERE id = ?1",
             "is", run, run_state_names[state]);
    settle(store);
}

/* Computes the speeds of the cases that a process timed (-1: any), from the repetitions of finished processes. */
static void put_timings(result_store *store, int64_t run, int64_t process)
{
    stored_cases cases = store_timed_cases(store, run, process, true);
    for (size_t i = 0; i < cases.count; i++) {
        speed_figures speed = speed_of_case(&cases, i);
        if (speed.repetitions == 0)
            continue;
        sqlite3_stmt *statement =
            store_bound(store,
                        "INSERT OR REPLACE INTO timings VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, "
                        "?9, ?10, ?11, ?12, ?13)",
                        "ii", cases.cases[i].id, (int64_t)is_copy(cases.cases[i].key.kernel));
        store_bind_record(statement, 3, FIELDS(speed_fields), &speed);
        store_step(store, statement);
    }
    stored_cases_free(&cases);
}

void store_end_process(result_store *store, int64_t run, unsigned process)
{
    store_begin(store);
    store_do(store, "INSERT OR IGNORE INTO finished_processes VALUES (?1, ?2)", "ii", run,
             (int64_t)process);
    put_timings(store, run, process);
    store_finish(store);
}

void store_drop_unfinished(result_store *store, int64_t run)
{
    store_begin(store);
    store_do(store, "DELETE FROM repetitions WHERE case_id IN " CASES_OF_RUN " AND NOT " FINISHED,
             "i", run);
    store_do(store, "DELETE FROM timings WHERE case_id IN " CASES_OF_RUN, "i", run);
    put_timings(store, run, -1);
    store_finish(store);
}

/* The counts of a finished run are its own columns, so that lists of runs count no cases. */
#define RUNS                                                                                       \
    "SELECT id, started, plan, plan_hash, command_line, seed, state, "                             \
    "coalesce(runs.cases, " COUNT_CASES ") AS cases, "                                             \
    "coalesce(runs.repetitions, " COUNT_REPETITIONS ") AS repetitions, "                           \
    "coalesce(requested, 0) AS requested, imported, "                                              \
    "coalesce(unsupported, " COUNT_UNSUPPORTED ") AS unsupported, "                                \
    "coalesce(missing, " COUNT_MISSING ") AS missing FROM runs "
static const record_field run_fields[] = {
    FIELD(COUNT, stored_run, id),
    FIELD(TEXT, stored_run, started),
    FIELD(TEXT, stored_run, plan),
    FIELD(TEXT, stored_run, plan_hash),
    FIELD(TEXT, stored_run, command_line),
    FIELD(COUNT, stored_run, seed),
    FIELD(COUNT, stored_run, imported),
    WORD_FIELD(stored_run, state, run_state_names),
    FIELD(COUNT, stored_run, cases),
    FIELD(COUNT, stored_run, repetitions),
    FIELD_AT(COUNT, stored_run, "requested", counts.requested),
    FIELD_AT(COUNT, stored_run, "unsupported", counts.unsupported),
    FIELD_AT(COUNT, stored_run, "missing", counts.missing)};

size_t store_runs(result_store *store, stored_run **runs)
{
    return store_list(store, store_bound(store, RUNS "ORDER BY id", ""), sizeof **runs,
                      FIELDS(run_fields), runs);
}

stored_run store_run(result_store *store, int64_t run)
{
    stored_run found = {0};
    sqlite3_stmt *statement = store_bound(store, RUNS "WHERE id = ?1", "i", run);
    if (!store_next(store, statement))
        die(EXIT_CODE_ENVIRONMENT, "%s: has no run %lld: see lnbench list runs", store->path,
            (long long)run);
    store_take(store, statement, FIELDS(run_fields), &found);
    sqlite3_reset(statement);
    return found;
}

int64_t store_find_unfinished(result_store *store, const char *plan_hash)
{
    return store_number(store,
                        "SELECT max(id) FROM runs WHERE plan_hash = ?1 AND NOT "
                        "imported AND (state <> 'complete' OR missing > 0)",
                        "s", plan_hash);
}

/* The runs of `lnbench run` with a case; the newest one. */
#define WITH_CASES                                                                                 \
    "runs WHERE plan <> 'choose' AND EXISTS (SELECT 1 FROM cells WHERE run = runs.id)"
#define NEWEST " ORDER BY id DESC LIMIT 1"

int64_t store_latest_run(result_store *store)
{
    const int64_t run =
        store_number(store,
                     "SELECT coalesce((SELECT id FROM " WITH_CASES " AND NOT imported" NEWEST "), "
                     "(SELECT id FROM " WITH_CASES NEWEST "), (SELECT max(run) FROM cells))",
                     "");
    if (run == 0)
        die(EXIT_CODE_ENVIRONMENT, "%s: holds no run yet: lnbench run makes one", store->path);
    return run;
}

int64_t store_run_of_case(result_store *store, int64_t id)
{
    int64_t run = store_number(store, "SELECT run " KEYED_CASES "WHERE cases.id = ?1", "i", id);
    if (run == 0)
        die(EXIT_CODE_ENVIRONMENT, "%s: has no case %lld", store->path, (long long)id);
    return run;
}

machine_facts store_machine(result_store *store, int64_t run)
{
    static const record_field fields[] = {FIELD(TEXT, machine_fact, name),
                                          FIELD(TEXT, machine_fact, value)};
    machine_facts machine = {0};
    machine.count = store_list(
        store,
        store_bound(store, "SELECT name, value FROM facts WHERE run = ?1 ORDER BY place", "i", run),
        sizeof *machine.facts, FIELDS(fields), &machine.facts);
    machine_fill_sizes(&machine);
    return machine;
}

unsigned store_process_count(result_store *store, int64_t run, const case_key *key)
{
    return (unsigned)store_number_of(
        store,
        store_keyed(store,
                    "SELECT count(DISTINCT process) " KEYED_CASES
                    "JOIN repetitions ON case_id = cases.id WHERE " KEY_MATCHES " AND " FINISHED,
                    run, key));
}

unsigned store_next_process(result_store *store, int64_t run)
{
    return (unsigned)store_number(store,
                                  "SELECT coalesce(max(process) + 1, 0) " KEYED_CASES
                                  "JOIN repetitions ON case_id = cases.id WHERE run = ?1",
                                  "i", run);
}

/* ---- kernels ---- */

/* Stores a kernel's descriptor. Keeps the dispatched kernels, which are known only after timing, of an earlier one. */
void store_put_kernel(result_store *store, int64_t run, json_t *descriptor)
{
    json_t *kernels = json_pack("[o]", descriptor);
    const char *name = json_string_value(json_object_get(descriptor, "name"));
    char *json = json_dumps(descriptor, JSON_COMPACT);
    store_do(store,
             "INSERT INTO kernels (run, name, descriptor, role, reproducible) VALUES (?1, ?2, ?3, "
             "?4, ?5) ON CONFLICT (run, name) DO UPDATE SET role = ?4, reproducible = ?5, "
             "descriptor = iif(descriptor -> '$.dispatched' IS NOT NULL, json_set(?3, "
             "'$.dispatched', json(descriptor -> '$.dispatched')), ?3)",
             "issss", run, name, json, kernel_role_words[kernel_role_of(kernels, name)],
             reproducible_stored(kernels, name));
    free(json);
    json_decref(kernels);
}

void store_put_dispatched(result_store *store, int64_t run, const case_key *key, const char *name)
{
    store_do(store,
             "UPDATE kernels SET descriptor = json_set(descriptor, '$.dispatched.\"' || ?3 || 'x' "
             "|| ?4 || '\"', ?5) WHERE run = ?1 AND name = ?2",
             "isiis", run, key->kernel, (int64_t)key->rows, (int64_t)key->hidden, name);
}

json_t *store_kernels(result_store *store, int64_t run)
{
    sqlite3_stmt *statement =
        store_bound(store, "SELECT descriptor FROM kernels WHERE run = ?1 ORDER BY id", "i", run);
    json_t *kernels = json_array();
    json_error_t where;
    while (store_next(store, statement))
        if (json_array_append_new(
                kernels, json_loads(store_text(statement, 0), JSON_REJECT_DUPLICATES, &where)) != 0)
            die(EXIT_CODE_ENVIRONMENT,
                "%s: run %lld: a kernel's descriptor cannot be read as JSON (%s): the database is "
                "damaged",
                store->path, (long long)run, where.text);
    return kernels;
}

/* ---- cases, written ---- */

static void add_cell(result_store *store, int64_t run, const case_key *key)
{
    machine_facts machine = store_machine(store, run);
    sqlite3_stmt *statement =
        store_keyed(store,
                    "INSERT INTO cells (run, kernel, convention, rows, hidden, types, cache, "
                    "threads, operation, "
                    "regime) VALUES (?1, ?2, ?3, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
                    run, key);
    store_bind(statement, 11, "s",
               machine_regime(&machine, key->operation, key->rows, key->hidden, key->dtype));
    store_step(store, statement);
    machine_free(&machine);
}

/* Returns the number of the case, which is added if the run does not have it. */
static int64_t find_or_add_case(result_store *store, int64_t run, const case_key *key)
{
    if (store->last_case && store->last_run == run && case_key_equal(&store->last_key, key))
        return store->last_case;
    int64_t id = store_number_of(
        store, store_keyed(store, "SELECT cases.id " KEYED_CASES "WHERE " KEY_MATCHES, run, key));
    if (id == 0) {
        store_do(store, "INSERT OR IGNORE INTO inputs (name) VALUES (?1)", "s", key->input);
        sqlite3_stmt *added =
            store_keyed(store,
                        "INSERT INTO cases (cell, input_id) SELECT id, (SELECT id "
                        "FROM inputs WHERE name = ?4) FROM cells WHERE " CELL_MATCHES,
                        run, key);
        store_step(store, added);
        if (sqlite3_changes(store->database) == 0) {
            add_cell(store, run, key);
            store_step(store, added);
        }
        id = sqlite3_last_insert_rowid(store->database);
    }
    store->last_run = run;
    store->last_key = *key;
    store->last_case = id;
    return id;
}

/* Inserts a row for a case: its number, then the fields. */
static void put_record(result_store *store, const char *sql, int64_t run, const case_key *key,
                       const record_field *fields, size_t count, const void *from)
{
    store_begin(store);
    int64_t id = find_or_add_case(store, run, key);
    sqlite3_stmt *statement = store_bound(store, sql, "i", id);
    store_bind_record(statement, 2, fields, count, from);
    store_step(store, statement);
    store_finish(store);
}

void store_put_requested(result_store *store, int64_t run, const requested_case *requested)
{
    static const record_field fields[] = {FIELD(UNSIGNED, requested_case, parts)};
    put_record(store, "UPDATE cases SET requested = coalesce(requested, 0) | ?2 WHERE id = ?1", run,
               &requested->key, FIELDS(fields), requested);
}

void store_put_repetition(result_store *store, int64_t run, const case_key *key,
                          const timed_repetition *repetition)
{
    put_record(store, "INSERT INTO repetitions VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)", run,
               key, FIELDS(repetition_fields), repetition);
}

void store_put_row(result_store *store, int64_t run, const case_key *key, const stored_row *row)
{
    static const record_field fields[] = {
        FIELD(COUNT, stored_row, row),          FIELD(REAL, stored_row, kappa),
        FIELD(REAL, stored_row, row_ulp),       FIELD(REAL, stored_row, norm_max),
        FIELD(REAL, stored_row, bound_row_ulp), FIELD(REAL, stored_row, mean_error),
        FIELD(REAL, stored_row, rstd_error)};
    put_record(store, "INSERT OR REPLACE INTO judged_rows VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
               run, key, FIELDS(fields), row);
}

digits_state stored_digits(const stored_case *stored)
{
    const ln_metrics *metrics = &stored->metrics;
    verdict_kind kind = stored->verdict.kind;
    bool digits =
        metrics->mismatches == 0 && !(metrics->row_ulp_max >= dtype_no_digit(stored->key.dtype));
    if (stored->judged && kind == VERDICT_NOT_JUDGED)
        return metrics->elements > 0 && digits ? DIGITS_YES : DIGITS_UNKNOWN;
    if (!stored->judged || !verdict_is_judged(kind))
        return DIGITS_UNKNOWN;
    return verdict_is_right(kind) && digits ? DIGITS_YES : DIGITS_NO;
}

bool stored_is_edge_case(const stored_case *stored)
{
    double size = fabs(stored->metrics.worst_exact);
    return case_is_edge_case(&stored->key) ||
           (size > 0 && size < dtype_least_normal(stored->key.dtype));
}

void store_put_judgement(result_store *store, int64_t id, const stored_case *stored)
{
    verdict_kind kind = stored->verdict.kind;
    const char *word = verdict_word(kind);
    digits_state digits = stored_digits(stored);
    /* Rows that a search found for one kernel say nothing about the accuracy of others. */
    bool adversarial =
        input_is_worst(stored->key.input) && verdict_exit_code(&stored->verdict) == EXIT_CODE_FINE;
    bool figure =
        verdict_is_right(kind) || kind == VERDICT_TYPE_LIMITED || kind == VERDICT_INACCURATE;
    if (!word) {
        store_do(store, "DELETE FROM judgements WHERE case_id = ?1", "i", id);
        return;
    }
    sqlite3_stmt *statement = store_bound(
        store,
        "INSERT OR REPLACE INTO judgements VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        "issniiii", id, word, verdict_reason(kind), stored->verdict.detail,
        (int64_t)verdict_telling(&stored->verdict), (int64_t)is_check(stored->key.input),
        (int64_t)adversarial, (int64_t)stored_is_edge_case(stored));
    if (digits != DIGITS_UNKNOWN)
        sqlite3_bind_int(statement, 9, digits == DIGITS_YES);
    store_bind(statement, 10, "dd",
               stored->metrics.mismatches || !figure ? INFINITY : stored->metrics.row_ulp_max,
               stored->metrics.kappa_max);
    store_step(store, statement);
}

/* Returns the INSERT statement with a column for each metric. */
static const char *put_accuracy_sql(void)
{
    static text_buffer sql;
    if (sql.length > 0)
        return sql.bytes;
    text_add(&sql, "INSERT OR REPLACE INTO accuracies (case_id, bound_row_ulp, output_hash, "
                   "ulp_histogram");
    for (size_t i = 0; i < metric_count_all; i++)
        text_format(&sql, ", %s", metric_list[i].name);
    text_add(&sql, ") VALUES (?, ?, ?, ?");
    for (size_t i = 0; i < metric_count_all; i++)
        text_add(&sql, ", ?");
    text_add(&sql, ")");
    return sql.bytes;
}

void store_put_judged(result_store *store, int64_t run, const stored_case *stored)
{
    const uint64_t *bins = stored->metrics.ulp_histogram;
    text_buffer histogram = {0}; /* a JSON array */
    size_t count = ULP_BINS;
    stored_case put = *stored;
    store_begin(store);
    int64_t id = find_or_add_case(store, run, &stored->key);
    if (put.metrics.elements == 0)
        metrics_undefined(&put.metrics);
    if (put.metrics.elements == 0 && isnan(put.bound_row_ulp)) {
        store_do(store, "DELETE FROM accuracies WHERE case_id = ?1", "i", id);
    } else {
        sqlite3_stmt *statement =
            store_bound(store, put_accuracy_sql(), "id", id, put.bound_row_ulp);
        if (put.hashed)
            store_bind(statement, 3, "i", (int64_t)put.output_hash);
        while (count > 0 && bins[count - 1] == 0)
            count--;
        for (size_t i = 0; i < count; i++)
            text_format(&histogram, "%s%" PRIu64 "%s", i ? "," : "[", bins[i],
                        i + 1 < count ? "" : "]");
        store_bind(statement, 4, "n", histogram.bytes);
        store_bind_record(statement, 5, metric_fields(), metric_count_all, &put.metrics);
        store_step(store, statement);
    }
    store_put_judgement(store, id, &put);
    store_finish(store);
    text_free(&histogram);
}

/* ---- cases, read ---- */

bool store_has_accuracy(result_store *store, int64_t run, const case_key *key)
{
    return store_number_of(store,
                           store_keyed(store,
                                       "SELECT count(*) " KEYED_CASES
                                       "JOIN judgements ON case_id = cases.id WHERE verdict <> "
                                       "'missing' AND " KEY_MATCHES,
                                       run, key)) > 0;
}

/* The figures of a case are the last columns, since other programs may have added columns to a file's accuracies. */
bool store_case(result_store *store, int64_t id, stored_case *found)
{
    static const record_field fields[] = {
        FIELD(COUNT, stored_case, id),
        KEY_FIELDS_AT(stored_case, key.),
        FIELD_AT(COUNT, stored_case, "measured", repetition_count),
        FIELD(FLAG, stored_case, judged),
        FIELD_AT(TEXT, stored_case, "detail", verdict.detail),
        FIELD(FLAG, stored_case, hashed),
        FIELD(COUNT, stored_case, output_hash),
        FIELD(REAL, stored_case, bound_row_ulp)};
    sqlite3_stmt *statement = store_bound(
        store,
        "SELECT verdict, reason, ulp_histogram, cases.id, " KEY_COLUMNS
        ", (SELECT count(*) FROM repetitions WHERE case_id = cases.id) AS measured, verdict IS NOT "
        "NULL AS judged, detail, output_hash IS NOT NULL AS hashed, timings.*, "
        "accuracies.* " KEYED_CASES "LEFT JOIN judgements ON judgements.case_id = cases.id "
        "LEFT JOIN accuracies ON accuracies.case_id = cases.id LEFT JOIN timings ON "
        "timings.case_id = cases.id WHERE cases.id = ?1 AND (judgements.case_id IS NOT NULL OR "
        "EXISTS (SELECT 1 FROM repetitions WHERE repetitions.case_id = cases.id))",
        "i", id);
    if (!store_next(store, statement))
        return false;
    *found = (stored_case){0};
    metrics_undefined(&found->metrics);
    store_take(store, statement, FIELDS(fields), found);
    store_take(store, statement, FIELDS(speed_fields), &found->speed);
    if (found->judged) {
        const char *bins = store_text(statement, 2);
        json_t *histogram = json_loads(bins, 0, NULL);
        if (!verdict_from_words(store_text(statement, 0), store_text(statement, 1),
                                &found->verdict.kind))
            die(EXIT_CODE_ENVIRONMENT,
                "%s: unknown reason of a verdict '%.60s': the database is damaged", store->path,
                store_text(statement, 1));
        store_take(store, statement, metric_fields(), metric_count_all, &found->metrics);
        if (bins[0] && !json_is_array(histogram))
            die(EXIT_CODE_ENVIRONMENT, "%s: unknown histogram '%.60s': the database is damaged",
                store->path, bins);
        for (size_t i = 0; i < ULP_BINS; i++)
            found->metrics.ulp_histogram[i] =
                (uint64_t)json_integer_value(json_array_get(histogram, i));
        json_decref(histogram);
    }
    sqlite3_reset(statement);
    return true;
}

/* Reads the repetitions of a case; ended: only those of finished processes of the run. */
static void read_repetitions(result_store *store, int64_t run, bool ended, stored_case *found)
{
    if (found->repetition_count)
        found->repetition_count = store_list(
            store,
            store_bound(store,
                        "SELECT * FROM repetitions WHERE case_id = ?2 AND (NOT ?3 OR " FINISHED
                        ") ORDER BY process, repetition",
                        "iii", run, found->id, (int64_t)ended),
            sizeof *found->repetitions, FIELDS(repetition_fields), &found->repetitions);
}

/* Reads the cases whose numbers a statement returns, with their repetitions. */
static stored_cases read_cases(result_store *store, sqlite3_stmt *ids, int64_t run, bool ended)
{
    stored_cases cases = {0};
    stored_case found;
    while (store_next(store, ids)) {
        if (!store_case(store, sqlite3_column_int64(ids, 0), &found))
            continue;
        read_repetitions(store, run, ended, &found);
        cases.cases = allocate_room(cases.cases, cases.count, sizeof *cases.cases);
        cases.cases[cases.count++] = found;
    }
    stored_cases_index(&cases);
    return cases;
}

stored_cases store_cases(result_store *store, int64_t run)
{
    sqlite3_stmt *ids = store_bound(
        store, "SELECT cases.id " KEYED_CASES "WHERE run = ?1 ORDER BY cases.id", "i", run);
    return read_cases(store, ids, run, false);
}

stored_cases store_timed_cases(result_store *store, int64_t run, int64_t process, bool ended)
{
    sqlite3_stmt *ids =
        store_bound(store,
                    "SELECT cases.id " KEYED_CASES "WHERE run = ?1 AND EXISTS (SELECT 1 FROM "
                    "repetitions WHERE case_id = cases.id AND ?2 IN (process, -1)) ORDER BY "
                    "cases.id",
                    "ii", run, process);
    return read_cases(store, ids, run, ended);
}

void store_pairs_begin(result_store *store, int64_t base, int64_t new)
{
    store->pairs = store_bound(store, pairs_sql, "ii", base, new);
}

bool store_next_pair(result_store *store, stored_pair *pair)
{
    static const record_field fields[] = {KEY_FIELDS_AT(stored_pair, key.),
                                          FIELD(COUNT, stored_pair, base),
                                          FIELD(COUNT, stored_pair, new),
                                          FIELD(UNSIGNED, stored_pair, base_missing),
                                          FIELD(UNSIGNED, stored_pair, new_missing),
                                          FIELD(TEXT, stored_pair, base_reason),
                                          FIELD(TEXT, stored_pair, new_reason),
                                          FIELD(TEXT, stored_pair, base_class),
                                          FIELD(TEXT, stored_pair, new_class),
                                          FIELD(TEXT, stored_pair, label)};
    if (!store_next(store, store->pairs))
        return false;
    store_take(store, store->pairs, FIELDS(fields), pair);
    return true;
}

/* ---- as JSON ---- */

static json_t *record_json(const record_field *fields, size_t count, const void *from)
{
    json_t *object = json_object();
    for (size_t i = 0; i < count; i++) {
        const void *place = (const char *)from + fields[i].offset;
        json_object_set_new(
            object, fields[i].key,
            fields[i].kind == FIELD_NAME       ? json_text(place)
            : fields[i].kind == FIELD_UNSIGNED ? json_integer(*(const unsigned *)place)
            : fields[i].kind == FIELD_REAL     ? json_figure(*(const double *)place)
            : fields[i].kind == FIELD_WORD ? json_string(fields[i].words[*(const unsigned *)place])
                                           : json_integer((json_int_t) * (const uint64_t *)place));
    }
    return object;
}

json_t *case_key_json(const case_key *key)
{
    return record_json(FIELDS(key_fields), key);
}

json_t *speed_json(const speed_figures *speed)
{
    json_t *object = record_json(FIELDS(speed_fields), speed);
    json_object_del(object, "processes");
    return object;
}

json_t *metrics_json(const ln_metrics *metrics)
{
    json_t *object = record_json(metric_fields(), metric_count_all, metrics);
    for (size_t i = 0; i < metric_count_all; i++)
        if (!metric_list[i].published)
            json_object_del(object, metric_list[i].name);
    return object;
}

/* ---- maintaining a store ---- */

int64_t store_remove_runs(result_store *store, int64_t first, int64_t last)
{
    store_begin(store);
    store_do(store, "DELETE FROM runs WHERE id BETWEEN ?1 AND ?2", "ii", first, last);
    int64_t removed = sqlite3_changes(store->database);
    store_do(store, "DELETE FROM inputs WHERE id NOT IN (SELECT input_id FROM cases)", "");
    store_finish(store);
    store_script(store, "VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
    return removed;
}

void store_put_noise(result_store *store, const machine_facts *machine,
                     const double smallest[REGIMES])
{
    char identity[MACHINE_IDENTITY_LENGTH];
    machine_identity(machine, identity);
    store_begin(store);
    store_do(store, "DELETE FROM noise WHERE machine = ?1", "s", identity);
    for (int regime = 0; regime < REGIMES; regime++)
        if (!isnan(smallest[regime]))
            store_do(store,
                     "INSERT INTO noise VALUES (?1, ?2, strftime('%Y-%m-%dT%H:%M:%SZ', 'now'), ?3)",
                     "ssd", identity, regime_names[regime], smallest[regime]);
    store_finish(store);
}

machine_noise store_load_noise(const char *database, const machine_facts *machine)
{
    machine_noise noise = {.smallest = {NAN, NAN, NAN, NAN}};
    char identity[MACHINE_IDENTITY_LENGTH];
    machine_identity(machine, identity);
    if (access(database, F_OK) != 0)
        return noise;
    result_store *store = store_open(database, STORE_READ);
    sqlite3_stmt *statement = store_bound(
        store, "SELECT regime, made, smallest FROM noise WHERE machine = ?1", "s", identity);
    while (store_next(store, statement)) {
        text_copy(noise.made, sizeof noise.made, store_text(statement, 1));
        for (int i = 0; i < REGIMES; i++)
            if (strcmp(store_text(statement, 0), regime_names[i]) == 0)
                noise.smallest[i] = store_real(statement, 2);
    }
    store_close(store);
    return noise;
}
