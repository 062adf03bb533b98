/* Reading a stored run back. */
#include "store/internal.h"
#include "base/allocate.h"
#include "domain/metric_fields.h"
#include "base/text.h"
#include <math.h>

static bool bad_word(const result_store *store, const char *what, const char *word, error *err)
{
    return fail(err, EXIT_CODE_ENVIRONMENT, "%s: unknown %s '%s': the database is damaged",
                store->path, what, word);
}

bool store_number(result_store *store, sqlite3_stmt *statement, int64_t *number, error *err)
{
    bool row;
    *number = 0;
    if (!statement || !store_next(store, statement, &row, err))
        return false;
    if (row)
        *number = sqlite3_column_int64(statement, 0);
    sqlite3_reset(statement);
    return true;
}

bool store_find_unfinished(result_store *store, const char *plan_hash, int64_t *run, error *err)
{
    return store_number(store, store_bound(store, STATEMENT_FIND_UNFINISHED, err, "s", plan_hash),
                        run, err);
}

bool store_latest_run(result_store *store, int64_t *run, error *err)
{
    return store_number(store, store_statement(store, STATEMENT_LATEST_RUN, err), run, err);
}

bool store_latest_survey(result_store *store, int64_t *run, error *err)
{
    return store_number(store, store_statement(store, STATEMENT_LATEST_SURVEY, err), run, err);
}

bool store_run_of_case(result_store *store, int64_t id, int64_t *run, error *err)
{
    sqlite3_stmt *statement = store_bound(store, STATEMENT_RUN_OF_CASE, err, "i", id);
    return store_number(store, statement, run, err) &&
           (*run != 0 ||
            fail(err, EXIT_CODE_ENVIRONMENT, "%s: no case %lld", store->path, (long long)id));
}

static bool take_counts(const result_store *store, sqlite3_stmt *statement, void *row, error *err)
{
    run_counts *counts = &((stored_run *)row)->counts;
    int asked = store_column(statement, run_count_fields[0].key);
    counts->known = sqlite3_column_type(statement, asked) != SQLITE_NULL;
    return store_take(store, statement, run_count_fields, RUN_COUNTS, counts, err);
}

static const row_form run_form = {sizeof(stored_run), run_fields, RUN_COLUMNS, take_counts};

bool store_runs(result_store *store, stored_run **runs, size_t *count, error *err)
{
    return store_list(store, store_statement(store, STATEMENT_ALL_RUNS, err), &run_form, runs,
                      count, err);
}

bool store_run(result_store *store, int64_t run, stored_run *info, error *err)
{
    stored_run *runs;
    size_t count;
    if (!store_list(store, store_bound(store, STATEMENT_ONE_RUN, err, "i", run), &run_form, &runs,
                    &count, err))
        return false;
    if (count > 0)
        *info = runs[0];
    free(runs);
    return count > 0 || fail(err, EXIT_CODE_ENVIRONMENT,
                             "%s: no run %lld: 'lnbench list runs' shows those there are",
                             store->path, (long long)run);
}

/* Columns of a file mostly stand in the order of the list. */
static bool take_metrics(const result_store *store, sqlite3_stmt *statement, ln_metrics *metrics,
                         error *err)
{
    const char *histogram =
        (const char *)sqlite3_column_text(statement, store_column(statement, "ulp_histogram"));
    int first = store_column(statement, metric_list[0].name);
    for (size_t i = 0; i < metric_count_all; i++) {
        const record_field field = metric_record(&metric_list[i]);
        if (!store_take_from(store, statement, first + (int)i, &field, 1, metrics, err))
            return false;
    }
    return !histogram || metrics_histogram_parse(histogram, metrics) ||
           bad_word(store, "histogram", histogram, err);
}

static bool take_verdict(const result_store *store, sqlite3_stmt *statement, stored_case *filled,
                         error *err)
{
    static const record_field fields[] = {FIELD(COUNT, stored_case, output_hash),
                                          FIELD(REAL, stored_case, bound_row_ulp)};
    verdict_words said;
    metrics_undefined(&filled->metrics);
    filled->bound_row_ulp = NAN;
    if (sqlite3_column_type(statement, store_column(statement, "verdict")) == SQLITE_NULL)
        return true;
    store_take(store, statement, verdict_fields, VERDICT_FIELDS, &said, err);
    if (!verdict_from_words(said.verdict, said.reason, &filled->verdict.kind))
        return bad_word(store, "reason of a verdict", said.reason, err);
    text_copy(filled->verdict.detail, sizeof filled->verdict.detail, said.detail);
    filled->judged = true;
    filled->hashed =
        sqlite3_column_type(statement, store_column(statement, "output_hash")) != SQLITE_NULL;
    return store_take(store, statement, FIELDS(fields), filled, err) &&
           take_metrics(store, statement, &filled->metrics, err);
}

static bool take_case(const result_store *store, sqlite3_stmt *statement, stored_case *filled,
                      error *err)
{
    filled->id = sqlite3_column_int64(statement, 0);
    filled->speed = (speed_figures)SPEED_UNKNOWN;
    filled->repetition_count =
        (size_t)sqlite3_column_int64(statement, store_column(statement, "measured"));
    return store_take_key(store, statement, &filled->key, err);
}

static bool take_figures(const result_store *store, sqlite3_stmt *statement, stored_case *filled,
                         error *err)
{
    return take_verdict(store, statement, filled, err) &&
           store_take(store, statement, speed_fields, SPEED_COLUMNS, &filled->speed, err);
}

/* The cases with room for their repetitions; `whole`: with their errors and speeds. */
static bool read_cases(result_store *store, sqlite3_stmt *statement, bool whole,
                       stored_cases *cases, error *err)
{
    bool row = false, fine = store_next(store, statement, &row, err);
    while (fine && row) {
        cases->cases = allocate_room(cases->cases, cases->count, sizeof *cases->cases);
        stored_case *filled = &cases->cases[cases->count++];
        *filled = (stored_case){0};
        fine = take_case(store, statement, filled, err) &&
               (!whole || take_figures(store, statement, filled, err));
        if (filled->repetition_count)
            filled->repetitions =
                allocate_zeroed(filled->repetition_count, sizeof *filled->repetitions);
        fine = fine && store_next(store, statement, &row, err);
    }
    return fine;
}

/* Both lists are in the order of the cases' numbers, so that one walk brings them together. */
static bool read_repetitions(result_store *store, sqlite3_stmt *statement, stored_cases *cases,
                             error *err)
{
    size_t index = 0, filled = 0;
    bool row = false, fine = store_next(store, statement, &row, err);
    while (fine && row) {
        int64_t id = sqlite3_column_int64(statement, 0);
        while (index < cases->count && cases->cases[index].id < id) {
            index++;
            filled = 0;
        }
        stored_case *of = &cases->cases[index];
        if (index < cases->count && of->id == id && filled < of->repetition_count)
            fine = store_take(store, statement, repetition_fields, REPETITION_FIELDS,
                              &of->repetitions[filled++], err);
        fine = fine && store_next(store, statement, &row, err);
    }
    return fine;
}

static bool take_lost_key(const result_store *store, sqlite3_stmt *statement, void *row, error *err)
{
    return store_take_key(store, statement, &((asked_case *)row)->key, err);
}

bool store_lost(result_store *store, int64_t run, asked_case **lost, size_t *count, error *err)
{
    static const row_form form = {sizeof(asked_case), lost_fields, LOST_FIELDS, take_lost_key};
    return store_list(store, store_bound(store, STATEMENT_LOST, err, "i", run), &form, lost, count,
                      err);
}

bool store_case_set(result_store *store, int64_t run, uint64_t *hash, error *err)
{
    sqlite3_stmt *statement = store_bound(store, STATEMENT_CASE_SET, err, "i", run);
    bool row = false;
    *hash = 0;
    bool fine = statement && store_next(store, statement, &row, err);
    while (fine && row) {
        case_key key;
        fine = store_take_key(store, statement, &key, err);
        *hash += fine && !is_roof(key.kernel) ? case_key_hash(&key) : 0;
        fine = fine && store_next(store, statement, &row, err);
    }
    sqlite3_reset(statement);
    return fine;
}

static bool load_cases(result_store *store, int64_t run, sqlite3_stmt *first, bool whole,
                       stored_cases *cases, error *err)
{
    *cases = (stored_cases){0};
    sqlite3_stmt *second =
        first ? store_bound(store, STATEMENT_REPETITIONS, err, "ii", run, (int64_t)whole) : NULL;
    if (!second)
        return false;
    bool fine =
        read_cases(store, first, whole, cases, err) && read_repetitions(store, second, cases, err);
    sqlite3_reset(first);
    sqlite3_reset(second);
    if (fine)
        stored_cases_index(cases);
    else
        stored_cases_free(cases);
    return fine;
}

bool store_cases(result_store *store, int64_t run, stored_cases *cases, error *err)
{
    sqlite3_stmt *statement = store_bound(store, STATEMENT_CASES, err, "i", run);
    return load_cases(store, run, statement, true, cases, err);
}

bool store_timed_cases(result_store *store, int64_t run, int64_t process, stored_cases *cases,
                       error *err)
{
    sqlite3_stmt *statement = store_bound(store, STATEMENT_TIMED_CASES, err, "ii", run, process);
    return load_cases(store, run, statement, false, cases, err);
}

bool store_machine(result_store *store, int64_t run, machine_facts *machine, error *err)
{
    static const record_field fields[] = {TEXT_FIELD(machine_fact, name),
                                          TEXT_FIELD(machine_fact, value)};
    static const row_form form = {sizeof(machine_fact), FIELDS(fields), NULL};
    *machine = (struct machine_facts){0};
    bool fine = store_list(store, store_bound(store, STATEMENT_FACTS, err, "i", run), &form,
                           &machine->facts, &machine->count, err);
    if (fine)
        machine_fill_sizes(machine);
    return fine;
}

bool store_kernels_json(result_store *store, int64_t run, char **json, error *err)
{
    *json = NULL;
    sqlite3_stmt *statement = store_bound(store, STATEMENT_KERNELS, err, "i", run);
    bool row = false;
    if (!statement)
        return false;
    text_buffer out = {0};
    text_add(&out, "[");
    bool fine = store_next(store, statement, &row, err);
    while (fine && row) {
        text_add(&out, out.length > 1 ? ", " : "");
        const char *descriptor = (const char *)sqlite3_column_text(statement, 0);
        text_add(&out, descriptor ? descriptor : "null"); /* of a damaged file */
        fine = store_next(store, statement, &row, err);
    }
    text_add(&out, "]");
    sqlite3_reset(statement);
    if (!fine)
        text_free(&out);
    *json = out.bytes;
    return fine;
}

bool store_process_count(result_store *store, int64_t run, const case_key *key, unsigned *processes,
                         error *err)
{
    sqlite3_stmt *statement = store_keyed(store, STATEMENT_PROCESS_COUNT, run, key, err);
    int64_t number;
    bool fine = store_number(store, statement, &number, err);
    *processes = (unsigned)number;
    return fine;
}

bool store_next_process(result_store *store, int64_t run, unsigned *process, error *err)
{
    sqlite3_stmt *statement = store_bound(store, STATEMENT_NEXT_PROCESS, err, "i", run);
    int64_t number;
    bool fine = store_number(store, statement, &number, err);
    *process = (unsigned)number;
    return fine;
}

bool store_unfinished(result_store *store, int64_t run, int64_t *process, error *err)
{
    return store_number(store, store_bound(store, STATEMENT_UNFINISHED, err, "i", run), process,
                        err);
}

bool store_has_accuracy(result_store *store, int64_t run, const case_key *key, bool *has,
                        error *err)
{
    sqlite3_stmt *statement = store_keyed(store, STATEMENT_HAS_ACCURACY, run, key, err);
    int64_t number;
    bool fine = store_number(store, statement, &number, err);
    *has = number > 0;
    return fine;
}
