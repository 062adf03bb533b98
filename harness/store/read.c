/* Reading a stored run back. */
#include "store/internal.h"
#include "base/allocate.h"
#include "domain/metric_fields.h"
#include "base/text.h"
#include <math.h>
#include <string.h>

void store_copy_text(sqlite3_stmt *statement, int column, char *buffer, size_t size)
{
    const char *string = (const char *)sqlite3_column_text(statement, column);
    text_copy(buffer, size, string ? string : "");
}

double store_real(sqlite3_stmt *statement, int column)
{
    if (sqlite3_column_type(statement, column) == SQLITE_NULL)
        return NAN;
    return sqlite3_column_double(statement, column);
}

static bool bad_word(const result_store *store, const char *what, const char *word, error *err)
{
    return fail(err, EXIT_CODE_ENVIRONMENT, "%s: unknown %s '%s': the database is damaged",
                store->path, what, word);
}

/* Part of what a case is: cut off, it could be another's. */
static bool copy_name(const result_store *store, sqlite3_stmt *statement, int column, char *buffer,
                      size_t size, error *err)
{
    store_copy_text(statement, column, buffer, size);
    int bytes = sqlite3_column_bytes(statement, column);
    return (size_t)bytes < size ||
           fail(err, EXIT_CODE_ENVIRONMENT,
                "%s: a %s of %d bytes, where %zu are the most: the database is damaged",
                store->path, sqlite3_column_name(statement, column), bytes, size - 1);
}

/* A number that one statement gives; 0 for NULL and for no row. */
static bool read_number(result_store *store, sqlite3_stmt *statement, int64_t *number, error *err)
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
    sqlite3_stmt *statement = store_bound(store, STATEMENT_FIND_UNFINISHED, err, "s", plan_hash);
    return read_number(store, statement, run, err);
}

bool store_find_origin(result_store *store, const char *origin, int64_t *run, error *err)
{
    sqlite3_stmt *statement = store_bound(store, STATEMENT_FIND_ORIGIN, err, "s", origin);
    return read_number(store, statement, run, err);
}

bool store_latest_run(result_store *store, int64_t *run, error *err)
{
    return read_number(store, store_statement(store, STATEMENT_LATEST_RUN, err), run, err);
}

bool store_latest_survey(result_store *store, int64_t *run, error *err)
{
    return read_number(store, store_statement(store, STATEMENT_LATEST_SURVEY, err), run, err);
}

bool store_run_of_case(result_store *store, int64_t id, int64_t *run, error *err)
{
    sqlite3_stmt *statement = store_bound(store, STATEMENT_RUN_OF_CASE, err, "i", id);
    return read_number(store, statement, run, err) &&
           (*run != 0 ||
            fail(err, EXIT_CODE_ENVIRONMENT, "%s: no case %lld", store->path, (long long)id));
}

static bool fill_run(const result_store *store, sqlite3_stmt *statement, stored_run *run,
                     error *err)
{
    char state[16];
    *run = (stored_run){
        .id = sqlite3_column_int64(statement, 0),
        .seed = (uint64_t)sqlite3_column_int64(statement, 5),
        .cases = (size_t)sqlite3_column_int64(statement, 7),
        .repetitions = (size_t)sqlite3_column_int64(statement, 8),
        .counts.known = sqlite3_column_type(statement, 11) != SQLITE_NULL,
        .triples = (size_t)sqlite3_column_int64(statement, 14),
        .triples_covered = (size_t)sqlite3_column_int64(statement, 15),
    };
    if (run->counts.known) {
        run->counts.asked = (size_t)sqlite3_column_int64(statement, 11);
        run->counts.declined = (size_t)sqlite3_column_int64(statement, 12);
        run->counts.lost = (size_t)sqlite3_column_int64(statement, 13);
    }
    store_copy_text(statement, 9, run->command, sizeof run->command);
    store_copy_text(statement, 10, run->request_hash, sizeof run->request_hash);
    store_copy_text(statement, 1, run->started, sizeof run->started);
    store_copy_text(statement, 2, run->plan, sizeof run->plan);
    store_copy_text(statement, 3, run->plan_hash, sizeof run->plan_hash);
    store_copy_text(statement, 4, run->command_line, sizeof run->command_line);
    store_copy_text(statement, 6, state, sizeof state);
    return run_state_from_name(state, &run->state) || bad_word(store, "state of a run", state, err);
}

bool store_runs(result_store *store, stored_run **runs, size_t *count, error *err)
{
    *runs = NULL;
    *count = 0;
    sqlite3_stmt *statement = store_statement(store, STATEMENT_ALL_RUNS, err);
    bool row = false;
    bool fine = statement && store_next(store, statement, &row, err);
    while (fine && row) {
        *runs = allocate_room(*runs, *count, sizeof **runs);
        fine = fill_run(store, statement, &(*runs)[*count], err);
        *count += fine;
        fine = fine && store_next(store, statement, &row, err);
    }
    if (!fine) {
        sqlite3_reset(statement);
        free(*runs);
        *runs = NULL;
        *count = 0;
    }
    return fine;
}

bool store_run(result_store *store, int64_t run, stored_run *info, error *err)
{
    sqlite3_stmt *statement = store_bound(store, STATEMENT_ONE_RUN, err, "i", run);
    bool row;
    if (!statement)
        return false;
    if (!store_next(store, statement, &row, err))
        return false;
    if (!row)
        return fail(err, EXIT_CODE_ENVIRONMENT,
                    "%s: no run %lld: 'lnbench list runs' shows those there are", store->path,
                    (long long)run);
    bool fine = fill_run(store, statement, info, err);
    sqlite3_reset(statement);
    return fine;
}

static char *cases_sql(const char *which)
{
    size_t count;
    const metric_field *fields = metric_fields(&count);
    text_buffer sql = {0};
    text_add(&sql,
             "SELECT cases.id, kernel, convention, "
             "(SELECT name FROM inputs WHERE inputs.id = input_id), rows, hidden, types, cache, "
             "threads, (SELECT count(*) FROM repetitions WHERE case_id = cases.id), "
             "verdict, reason, detail, bound_row_ulp");
    for (size_t i = 0; i < count; i++)
        text_format(&sql, ", %s", fields[i].name);
    text_add(&sql,
             ", output_hash, ulp_histogram, time_ns, time_lo_ns, time_hi_ns, gbps, roof_ratio, "
             "roof_lo, roof_hi, timings.cycles, timings.instructions, timings.repetitions, "
             "processes, operation FROM cells JOIN cases ON cases.cell = cells.id "
             "LEFT JOIN judgements ON judgements.case_id = cases.id "
             "LEFT JOIN accuracies ON accuracies.case_id = cases.id "
             "LEFT JOIN timings ON timings.case_id = cases.id "
             "WHERE run = ?1 ");
    text_add(&sql, which);
    text_add(&sql, "AND (judgements.case_id IS NOT NULL OR EXISTS "
                   "(SELECT 1 FROM repetitions WHERE repetitions.case_id = cases.id)) "
                   "ORDER BY cases.id");
    return sql.bytes;
}

char *store_cases_sql(void)
{
    return cases_sql("");
}

char *store_kernel_cases_sql(void)
{
    return cases_sql("AND kernel = ?2 ");
}

char *store_kernel_timings_sql(void)
{
    return cases_sql("AND kernel = ?2 AND timings.case_id IS NOT NULL ");
}

static bool fill_key(const result_store *store, sqlite3_stmt *statement, case_key *key, error *err)
{
    char dtype[16], cache[16], what[32];
    if (!copy_name(store, statement, 1, key->kernel, sizeof key->kernel, err) ||
        !copy_name(store, statement, 2, key->convention, sizeof key->convention, err) ||
        !copy_name(store, statement, 3, key->input, sizeof key->input, err))
        return false;
    key->rows = (size_t)sqlite3_column_int64(statement, 4);
    key->hidden = (size_t)sqlite3_column_int64(statement, 5);
    store_copy_text(statement, 6, dtype, sizeof dtype);
    store_copy_text(statement, 7, cache, sizeof cache);
    key->threads = (unsigned)sqlite3_column_int64(statement, 8);
    store_copy_text(statement, sqlite3_column_count(statement) - 1, what, sizeof what);
    if (!operation_from_name(what, &key->operation))
        return bad_word(store, "operation", what, err);
    if (!dtype_from_name(dtype, &key->dtype))
        return bad_word(store, "dtype", dtype, err);
    if (!cache_from_name(cache, &key->cache))
        return bad_word(store, "cache state", cache, err);
    return true;
}

static bool fill_accuracy(const result_store *store, sqlite3_stmt *statement, stored_case *filled,
                          error *err)
{
    metrics_undefined(&filled->metrics);
    filled->bound_row_ulp = NAN;
    if (sqlite3_column_type(statement, 10) == SQLITE_NULL)
        return true;
    char word[16], reason[64];
    store_copy_text(statement, 10, word, sizeof word);
    store_copy_text(statement, 11, reason, sizeof reason);
    if (!verdict_from_words(word, reason, &filled->verdict.kind))
        return bad_word(store, "reason of a verdict", reason, err);
    filled->judged = true;
    store_copy_text(statement, 12, filled->verdict.detail, sizeof filled->verdict.detail);
    filled->bound_row_ulp = store_real(statement, 13);
    size_t count;
    const metric_field *fields = metric_fields(&count);
    for (size_t i = 0; i < count; i++) {
        int column = 14 + (int)i;
        metric_set_value(&filled->metrics, &fields[i], store_real(statement, column));
        metric_set_count(&filled->metrics, &fields[i],
                         (uint64_t)sqlite3_column_int64(statement, column));
    }
    filled->hashed = sqlite3_column_type(statement, 14 + (int)count) != SQLITE_NULL;
    filled->output_hash = (uint64_t)sqlite3_column_int64(statement, 14 + (int)count);
    const char *histogram = (const char *)sqlite3_column_text(statement, 15 + (int)count);
    if (histogram && !metrics_histogram_parse(histogram, &filled->metrics))
        return bad_word(store, "histogram", histogram, err);
    return true;
}

/* The columns of timings, from `column` on. */
static void fill_speed(sqlite3_stmt *statement, int column, speed_figures *speed)
{
    double *const figures[] = {&speed->time_ns, &speed->time_lo_ns, &speed->time_hi_ns,
                               &speed->gbps,    &speed->roof_ratio, &speed->roof_lo,
                               &speed->roof_hi, &speed->cycles,     &speed->instructions};
    enum { FIGURES = sizeof figures / sizeof *figures };
    for (int i = 0; i < FIGURES; i++)
        *figures[i] = store_real(statement, column + i);
    speed->repetitions = (unsigned)sqlite3_column_int64(statement, column + FIGURES);
    speed->processes = (unsigned)sqlite3_column_int64(statement, column + FIGURES + 1);
}

/* The cases without their repetitions, and the number in the database of each; `whole`: with their
 * errors and speeds. */
static bool read_cases(result_store *store, sqlite3_stmt *statement, bool whole,
                       stored_cases *cases, int64_t **ids, error *err)
{
    size_t metrics;
    metric_fields(&metrics);
    bool row = false;
    bool fine = store_next(store, statement, &row, err);
    while (fine && row) {
        cases->cases = allocate_room(cases->cases, cases->count, sizeof *cases->cases);
        *ids = allocate_room(*ids, cases->count, sizeof **ids);
        stored_case *filled = &cases->cases[cases->count];
        *filled = (stored_case){.speed = SPEED_UNKNOWN};
        filled->id = sqlite3_column_int64(statement, 0);
        (*ids)[cases->count++] = filled->id;
        size_t repetitions = (size_t)sqlite3_column_int64(statement, 9);
        if (!fill_key(store, statement, &filled->key, err) ||
            (whole && !fill_accuracy(store, statement, filled, err)))
            return false;
        if (whole)
            fill_speed(statement, 16 + (int)metrics, &filled->speed);
        if (repetitions)
            filled->repetitions = allocate_zeroed(repetitions, sizeof *filled->repetitions);
        filled->repetition_count = repetitions;
        fine = store_next(store, statement, &row, err);
    }
    return fine;
}

/* Both lists are in the order of the cases' numbers, so that one walk brings them together. */
static bool read_repetitions(result_store *store, sqlite3_stmt *statement, stored_cases *cases,
                             const int64_t *ids, error *err)
{
    size_t index = 0, filled = 0;
    bool row = false;
    bool fine = store_next(store, statement, &row, err);
    while (fine && row) {
        int64_t id = sqlite3_column_int64(statement, 0);
        while (index < cases->count && ids[index] < id) {
            index++;
            filled = 0;
        }
        if (index < cases->count && ids[index] == id &&
            filled < cases->cases[index].repetition_count)
            cases->cases[index].repetitions[filled++] = (timed_repetition){
                .process = (unsigned)sqlite3_column_int64(statement, 1),
                .repetition = (unsigned)sqlite3_column_int64(statement, 2),
                .order = (unsigned)sqlite3_column_int64(statement, 3),
                .iterations = (uint64_t)sqlite3_column_int64(statement, 4),
                .real_ns = store_real(statement, 5),
                .cpu_ns = store_real(statement, 6),
                .cycles = store_real(statement, 7),
                .instructions = store_real(statement, 8),
            };
        fine = store_next(store, statement, &row, err);
    }
    return fine;
}

bool store_lost(result_store *store, int64_t run, asked_case **lost, size_t *count, error *err)
{
    sqlite3_stmt *statement = store_bound(store, STATEMENT_LOST, err, "i", run);
    bool row = false;
    *lost = NULL;
    *count = 0;
    bool fine = statement && store_next(store, statement, &row, err);
    while (fine && row) {
        *lost = allocate_room(*lost, *count, sizeof **lost);
        asked_case *filled = &(*lost)[(*count)++];
        *filled = (asked_case){.parts = (unsigned)sqlite3_column_int(statement, 9)};
        store_copy_text(statement, 10, filled->reason, sizeof filled->reason);
        fine = fill_key(store, statement, &filled->key, err) &&
               store_next(store, statement, &row, err);
    }
    sqlite3_reset(statement);
    if (!fine) {
        free(*lost);
        *lost = NULL;
        *count = 0;
    }
    return fine;
}

bool store_case_set(result_store *store, int64_t run, uint64_t *hash, error *err)
{
    sqlite3_stmt *statement = store_bound(store, STATEMENT_CASE_SET, err, "i", run);
    bool row = false;
    *hash = 0;
    bool fine = statement && store_next(store, statement, &row, err);
    while (fine && row) {
        case_key key;
        fine = fill_key(store, statement, &key, err);
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
    int64_t *ids = NULL;
    sqlite3_stmt *second =
        first ? store_bound(store, STATEMENT_REPETITIONS, err, "ii", run, (int64_t)whole) : NULL;
    if (!second)
        return false;
    bool fine = read_cases(store, first, whole, cases, &ids, err) &&
                read_repetitions(store, second, cases, ids, err);
    sqlite3_reset(first);
    sqlite3_reset(second);
    free(ids);
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

bool store_figures(result_store *store, int64_t run, const char *kernel, bool timed,
                   stored_cases *cases, error *err)
{
    int64_t *ids = NULL;
    *cases = (stored_cases){0};
    sqlite3_stmt *statement =
        kernel ? store_bound(store, timed ? STATEMENT_KERNEL_TIMINGS : STATEMENT_KERNEL_CASES, err,
                             "is", run, kernel)
               : store_bound(store, STATEMENT_CASES, err, "i", run);
    if (!statement)
        return false;
    bool fine = read_cases(store, statement, true, cases, &ids, err);
    sqlite3_reset(statement);
    free(ids);
    if (!fine)
        stored_cases_free(cases);
    return fine;
}

bool store_timed_cases(result_store *store, int64_t run, int64_t process, stored_cases *cases,
                       error *err)
{
    sqlite3_stmt *statement = store_bound(store, STATEMENT_TIMED_CASES, err, "ii", run, process);
    return load_cases(store, run, statement, false, cases, err);
}

static bool read_rows(result_store *store, sqlite3_stmt *statement, const int64_t *ids,
                      size_t id_count, stored_rows *rows, error *err)
{
    size_t index = 0;
    bool row = false;
    bool fine = store_next(store, statement, &row, err);
    while (fine && row) {
        int64_t id = sqlite3_column_int64(statement, 0);
        while (index < id_count && ids[index] < id)
            index++;
        rows->rows = allocate_room(rows->rows, rows->count, sizeof *rows->rows);
        rows->rows[rows->count++] = (stored_row){
            .case_index = index,
            .row = (size_t)sqlite3_column_int64(statement, 1),
            .kappa = store_real(statement, 2),
            .row_ulp = store_real(statement, 3),
            .norm_max = store_real(statement, 4),
            .bound_row_ulp = store_real(statement, 5),
            .mean_error = store_real(statement, 6),
            .rstd_error = store_real(statement, 7),
        };
        fine = store_next(store, statement, &row, err);
    }
    return fine;
}

static bool read_ids(result_store *store, int64_t run, int64_t **ids, size_t *count, error *err)
{
    sqlite3_stmt *statement = store_bound(store, STATEMENT_CASES, err, "i", run);
    bool row = false;
    if (!statement)
        return false;
    bool fine = store_next(store, statement, &row, err);
    while (fine && row) {
        *ids = allocate_room(*ids, *count, sizeof **ids);
        (*ids)[(*count)++] = sqlite3_column_int64(statement, 0);
        fine = store_next(store, statement, &row, err);
    }
    sqlite3_reset(statement);
    return fine;
}

bool store_rows(result_store *store, int64_t run, stored_rows *rows, error *err)
{
    *rows = (stored_rows){0};
    int64_t *ids = NULL;
    size_t count = 0;
    bool fine = read_ids(store, run, &ids, &count, err);
    sqlite3_stmt *statement = fine ? store_bound(store, STATEMENT_ROWS, err, "i", run) : NULL;
    if (statement) {
        fine = read_rows(store, statement, ids, count, rows, err);
        sqlite3_reset(statement);
    }
    fine = fine && statement;
    free(ids);
    if (!fine)
        stored_rows_free(rows);
    return fine;
}

bool store_machine(result_store *store, int64_t run, machine_facts *machine, error *err)
{
    *machine = (struct machine_facts){0};
    sqlite3_stmt *statement = store_bound(store, STATEMENT_FACTS, err, "i", run);
    bool row = false;
    if (!statement)
        return false;
    bool fine = store_next(store, statement, &row, err);
    while (fine && row) {
        machine_fact *fact = machine_add_fact(machine);
        store_copy_text(statement, 0, fact->name, sizeof fact->name);
        store_copy_text(statement, 1, fact->value, sizeof fact->value);
        fine = store_next(store, statement, &row, err);
    }
    sqlite3_reset(statement);
    if (fine)
        machine_fill_sizes(machine);
    else
        machine_free(machine);
    return fine;
}

bool store_kernels_json(result_store *store, int64_t run, const char *kernel, char **json,
                        error *err)
{
    *json = NULL;
    sqlite3_stmt *statement = kernel ? store_bound(store, STATEMENT_KERNEL, err, "is", run, kernel)
                                     : store_bound(store, STATEMENT_KERNELS, err, "i", run);
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

void stored_rows_free(stored_rows *rows)
{
    free(rows->rows);
    *rows = (stored_rows){0};
}

bool store_process_count(result_store *store, int64_t run, const case_key *key, unsigned *processes,
                         error *err)
{
    sqlite3_stmt *statement = store_statement(store, STATEMENT_PROCESS_COUNT, err);
    int64_t number;
    if (statement)
        store_bind_key(statement, run, key);
    bool fine = read_number(store, statement, &number, err);
    *processes = (unsigned)number;
    return fine;
}

bool store_next_process(result_store *store, int64_t run, unsigned *process, error *err)
{
    sqlite3_stmt *statement = store_bound(store, STATEMENT_NEXT_PROCESS, err, "i", run);
    int64_t number;
    bool fine = read_number(store, statement, &number, err);
    *process = (unsigned)number;
    return fine;
}

bool store_unfinished(result_store *store, int64_t run, int64_t *process, error *err)
{
    sqlite3_stmt *statement = store_bound(store, STATEMENT_UNFINISHED, err, "i", run);
    return read_number(store, statement, process, err);
}

bool store_has_accuracy(result_store *store, int64_t run, const case_key *key, bool *has,
                        error *err)
{
    sqlite3_stmt *statement = store_statement(store, STATEMENT_HAS_ACCURACY, err);
    int64_t number;
    if (statement)
        store_bind_key(statement, run, key);
    bool fine = read_number(store, statement, &number, err);
    *has = number > 0;
    return fine;
}
