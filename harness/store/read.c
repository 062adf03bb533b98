/* Reading a stored run back. */
#include "store/internal.h"
#include "base/allocate.h"
#include "domain/metric_fields.h"
#include "base/text.h"
#include <math.h>

int64_t store_number(result_store *store, sqlite3_stmt *statement)
{
    int64_t number = store_next(store, statement) ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_reset(statement);
    return number;
}

int64_t store_find_unfinished(result_store *store, const char *plan_hash)
{
    return store_number(store, store_bound(store, STATEMENT_FIND_UNFINISHED, "s", plan_hash));
}

int64_t store_latest_run(result_store *store)
{
    return store_number(store, store_statement(store, STATEMENT_LATEST_RUN));
}

int64_t store_latest_survey(result_store *store)
{
    return store_number(store, store_statement(store, STATEMENT_LATEST_SURVEY));
}

int64_t store_run_of_case(result_store *store, int64_t id)
{
    int64_t run = store_number(store, store_bound(store, STATEMENT_RUN_OF_CASE, "i", id));
    if (run == 0)
        die(EXIT_CODE_ENVIRONMENT, "%s: no case %lld", store->path, (long long)id);
    return run;
}

static void take_counts(const result_store *store, sqlite3_stmt *statement, void *row)
{
    run_counts *counts = &((stored_run *)row)->counts;
    int asked = store_column(statement, run_count_fields[0].key);
    counts->known = sqlite3_column_type(statement, asked) != SQLITE_NULL;
    store_take(store, statement, run_count_fields, RUN_COUNTS, counts);
}

static const row_form run_form = {sizeof(stored_run), run_fields, RUN_COLUMNS, take_counts};

size_t store_runs(result_store *store, stored_run **runs)
{
    return store_list(store, store_statement(store, STATEMENT_ALL_RUNS), &run_form, runs);
}

stored_run store_run(result_store *store, int64_t run)
{
    stored_run *runs;
    if (store_list(store, store_bound(store, STATEMENT_ONE_RUN, "i", run), &run_form, &runs) == 0)
        die(EXIT_CODE_ENVIRONMENT, "%s: no run %lld: 'lnbench list runs' shows those there are",
            store->path, (long long)run);
    stored_run found = runs[0];
    free(runs);
    return found;
}

/* Columns of a file mostly stand in the order of the list. */
static void take_metrics(const result_store *store, sqlite3_stmt *statement, ln_metrics *metrics)
{
    const char *histogram =
        (const char *)sqlite3_column_text(statement, store_column(statement, "ulp_histogram"));
    int first = store_column(statement, metric_list[0].name);
    for (size_t i = 0; i < metric_count_all; i++) {
        const record_field field = metric_record(&metric_list[i]);
        store_take_from(store, statement, first + (int)i, &field, 1, metrics);
    }
    if (histogram && !metrics_histogram_parse(histogram, metrics))
        die(EXIT_CODE_ENVIRONMENT, "%s: unknown histogram '%s': the database is damaged",
            store->path, histogram);
}

static void take_verdict(const result_store *store, sqlite3_stmt *statement, stored_case *filled)
{
    static const record_field fields[] = {FIELD(COUNT, stored_case, output_hash),
                                          FIELD(REAL, stored_case, bound_row_ulp)};
    verdict_words said;
    metrics_undefined(&filled->metrics);
    filled->bound_row_ulp = NAN;
    if (sqlite3_column_type(statement, store_column(statement, "verdict")) == SQLITE_NULL)
        return;
    store_take(store, statement, verdict_fields, VERDICT_FIELDS, &said);
    if (!verdict_from_words(said.verdict, said.reason, &filled->verdict.kind))
        die(EXIT_CODE_ENVIRONMENT, "%s: unknown reason of a verdict '%s': the database is damaged",
            store->path, said.reason);
    text_copy(filled->verdict.detail, sizeof filled->verdict.detail, said.detail);
    filled->judged = true;
    filled->hashed =
        sqlite3_column_type(statement, store_column(statement, "output_hash")) != SQLITE_NULL;
    store_take(store, statement, FIELDS(fields), filled);
    take_metrics(store, statement, &filled->metrics);
}

static stored_case take_case(const result_store *store, sqlite3_stmt *statement)
{
    stored_case filled = {
        .id = sqlite3_column_int64(statement, 0),
        .speed = SPEED_UNKNOWN,
        .repetition_count =
            (size_t)sqlite3_column_int64(statement, store_column(statement, "measured")),
    };
    store_take_key(store, statement, &filled.key);
    store_take(store, statement, speed_fields, SPEED_COLUMNS, &filled.speed);
    return filled;
}

static void add_case(stored_cases *cases, stored_case added)
{
    cases->cases = allocate_room(cases->cases, cases->count, sizeof *cases->cases);
    if (added.repetition_count)
        added.repetitions = allocate_zeroed(added.repetition_count, sizeof *added.repetitions);
    cases->cases[cases->count++] = added;
}

/* Both lists are in the order of the cases' numbers, so that one walk brings them together. */
static void read_repetitions(result_store *store, int64_t run, bool of_all, stored_cases *cases)
{
    sqlite3_stmt *statement = store_bound(store, STATEMENT_REPETITIONS, "ii", run, (int64_t)of_all);
    size_t index = 0, filled = 0;
    while (store_next(store, statement)) {
        int64_t id = sqlite3_column_int64(statement, 0);
        while (index < cases->count && cases->cases[index].id < id) {
            index++;
            filled = 0;
        }
        stored_case *of = &cases->cases[index];
        if (index < cases->count && of->id == id && filled < of->repetition_count)
            store_take(store, statement, repetition_fields, REPETITION_FIELDS,
                       &of->repetitions[filled++]);
    }
    stored_cases_index(cases);
}

static void take_lost_key(const result_store *store, sqlite3_stmt *statement, void *row)
{
    store_take_key(store, statement, &((asked_case *)row)->key);
}

size_t store_lost(result_store *store, int64_t run, asked_case **lost)
{
    static const row_form form = {sizeof(asked_case), lost_fields, LOST_FIELDS, take_lost_key};
    return store_list(store, store_bound(store, STATEMENT_LOST, "i", run), &form, lost);
}

bool store_case(result_store *store, int64_t id, stored_case *found)
{
    sqlite3_stmt *statement = store_bound(store, STATEMENT_ONE_CASE, "i", id);
    if (!store_next(store, statement))
        return false;
    *found = take_case(store, statement);
    take_verdict(store, statement, found);
    sqlite3_reset(statement);
    return true;
}

stored_cases store_cases(result_store *store, int64_t run)
{
    sqlite3_stmt *ids = store_bound(store, STATEMENT_CASE_IDS, "i", run);
    stored_cases cases = {0};
    stored_case found;
    while (store_next(store, ids))
        if (store_case(store, sqlite3_column_int64(ids, 0), &found))
            add_case(&cases, found);
    read_repetitions(store, run, true, &cases);
    return cases;
}

void store_pairs_begin(result_store *store, int64_t base, int64_t new)
{
    store_bound(store, STATEMENT_PAIRS, "ii", base, new);
}

bool store_next_pair(result_store *store, stored_pair *pair)
{
    static const record_field fields[] = {
        FIELD(COUNT, stored_pair, base),
        FIELD(COUNT, stored_pair, new),
        FIELD(UNSIGNED, stored_pair, base_missing),
        FIELD(UNSIGNED, stored_pair, new_missing),
        TEXT_FIELD(stored_pair, base_reason),
        TEXT_FIELD(stored_pair, new_reason),
        TEXT_FIELD(stored_pair, base_class),
        TEXT_FIELD(stored_pair, new_class),
        TEXT_FIELD(stored_pair, label),
    };
    sqlite3_stmt *statement = store->statements[STATEMENT_PAIRS];
    if (!store_next(store, statement))
        return false;
    store_take(store, statement, FIELDS(fields), pair);
    store_take_key(store, statement, &pair->key);
    return true;
}

stored_cases store_timed_cases(result_store *store, int64_t run, int64_t process, bool ended)
{
    sqlite3_stmt *statement =
        store_bound(store, STATEMENT_TIMED_CASES, "iii", run, process, (int64_t)!ended);
    stored_cases cases = {0};
    while (store_next(store, statement))
        add_case(&cases, take_case(store, statement));
    read_repetitions(store, run, !ended, &cases);
    return cases;
}

machine_facts store_machine(result_store *store, int64_t run)
{
    static const record_field fields[] = {TEXT_FIELD(machine_fact, name),
                                          TEXT_FIELD(machine_fact, value)};
    static const row_form form = {sizeof(machine_fact), FIELDS(fields), NULL};
    machine_facts machine = {0};
    machine.count =
        store_list(store, store_bound(store, STATEMENT_FACTS, "i", run), &form, &machine.facts);
    machine_fill_sizes(&machine);
    return machine;
}

char *store_kernels_json(result_store *store, int64_t run)
{
    sqlite3_stmt *statement = store_bound(store, STATEMENT_KERNELS, "i", run);
    text_buffer out = {0};
    text_add(&out, "[");
    while (store_next(store, statement)) {
        text_add(&out, out.length > 1 ? ", " : "");
        const char *descriptor = (const char *)sqlite3_column_text(statement, 0);
        text_add(&out, descriptor ? descriptor : "null"); /* of a damaged file */
    }
    text_add(&out, "]");
    return out.bytes;
}

unsigned store_process_count(result_store *store, int64_t run, const case_key *key)
{
    return (unsigned)store_number(store, store_keyed(store, STATEMENT_PROCESS_COUNT, run, key));
}

unsigned store_next_process(result_store *store, int64_t run)
{
    return (unsigned)store_number(store, store_bound(store, STATEMENT_NEXT_PROCESS, "i", run));
}

int64_t store_unfinished(result_store *store, int64_t run)
{
    return store_number(store, store_bound(store, STATEMENT_UNFINISHED, "i", run));
}

bool store_has_accuracy(result_store *store, int64_t run, const case_key *key)
{
    return store_number(store, store_keyed(store, STATEMENT_HAS_ACCURACY, run, key)) > 0;
}
