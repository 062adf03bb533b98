/* A store of many runs is asked as one of one run: steps of SQLite's machine, which are exact. */
#include "store_sample.h"

enum { MANY = 100, KERNELS = 3, INPUTS = 4 };

static case_key key_of(int kernel, int input)
{
    case_key key = sample_key();
    snprintf(key.kernel, sizeof key.kernel, kernel ? "kernel_%d" : "copy", kernel);
    snprintf(key.input, sizeof key.input, input ? "input %d" : "normal", input);
    return key;
}

static void put_run(result_store *store)
{
    store_together(store);
    int64_t run = begun(store);
    for (int kernel = 0; kernel < KERNELS; kernel++) {
        const case_key timed = key_of(kernel, 0);
        store_put_kernel(store, run, timed.kernel, "{}");
        for (unsigned i = 0; i < 4; i++) {
            timed_repetition put = {i / 2, i % 2, 0, 1, 10 + i, 1, NAN, NAN};
            store_put_repetition(store, run, &timed, &put);
        }
        for (int input = 0; kernel > 0 && input < INPUTS; input++) {
            asked_case asked = {.key = key_of(kernel, input), .parts = ASKED_TO_JUDGE};
            case_verdict fine = {.kind = VERDICT_RIGHT};
            ln_metrics metrics = distinct_metrics();
            stored_row row = {0, 1, 2, 1, .5, 3, 0, 0};
            store_put_asked(store, run, &asked);
            put_accuracy(store, run, &asked.key, &fine, &metrics, 1);
            store_put_row(store, run, &asked.key, &row);
        }
    }
    for (unsigned process = 0; process < 2; process++)
        store_end_process(store, run, process);
    store_count_asked(store, run);
    store_end_run(store, run, RUN_COMPLETE);
    store_together_end(store);
}

static int steps_of(result_store *store, int kind)
{
    const case_key key = key_of(1, 0);
    sqlite3_stmt *statement = store_keyed(store, (statement_kind)kind, 1, &key);
    assert_non_null(statement);
    if (kind == STATEMENT_NOISE || kind == STATEMENT_FIND_UNFINISHED)
        store_bind(statement, 1, "s", "no such"); /* a text */
    if (kind == STATEMENT_RECOMMENDED || kind == STATEMENT_TIMED_RUN) {
        store_bind(statement, 2, "ss", "layernorm", "f32");
        store_bind(statement, 7, "siisis", key.convention, (int64_t)key.rows, (int64_t)key.hidden,
                   cache_name(key.cache), (int64_t)key.threads, key.input);
        store_bind(statement, 13, "ss", "", "");
    }
    if (kind == STATEMENT_RECOMMENDED)
        store_bind(statement, 4, "did", 2.0, (int64_t)0, NAN);
    if (kind == STATEMENT_TIMED_RUN)
        store_bind(statement, 4, "si", "", (int64_t)0);
    sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 1);
    int status = SQLITE_ROW;
    while (status == SQLITE_ROW)
        status = sqlite3_step(statement);
    if (status != SQLITE_DONE)
        fail_msg("%s: %s", sqlite3_sql(statement), sqlite3_errmsg(store->database));
    int steps = sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 1);
    sqlite3_reset(statement);
    return steps;
}

static bool is_reading(result_store *store, int kind)
{
    sqlite3_stmt *statement = store_statement(store, (statement_kind)kind);
    assert_non_null(statement);
    return sqlite3_stmt_readonly(statement) && kind > STATEMENT_ROLLBACK;
}

/* Each query that is stored, but for the list of runs, which is a few steps a run. */
TEST_IN_SCRATCH(test_steps)
{
    int one[STATEMENT_COUNT] = {0};
    result_store *store = opened(scratch_path(state, "many.db"), STORE_WRITE);
    put_run(store);
    for (int kind = 0; kind < STATEMENT_COUNT; kind++)
        one[kind] = is_reading(store, kind) ? steps_of(store, kind) : 0;
    for (int run = 1; run < MANY; run++)
        put_run(store);
    for (int kind = 0; kind < STATEMENT_COUNT; kind++) {
        int steps = one[kind] ? steps_of(store, kind) : 0;
        int most = one[kind] * 6 / 5 + (kind == STATEMENT_ALL_RUNS ? 100 * MANY : 0);
        if (steps > most)
            fail_msg("%d steps in %d runs, %d in one:\n%s", steps, MANY, one[kind],
                     sqlite3_sql(store->statements[kind]));
    }
    store_close(store);
}

/* A condition on the run reaches the tables through each of the views, however the run is named. */
TEST_IN_SCRATCH(test_views)
{
    static const char *const views[] = {"judged", "timed", "missing", "summary"};
    static const char *const names[] = {"run = 1", "run = (SELECT min(id) FROM runs)"};
    result_store *store = opened(scratch_path(state, "many.db"), STORE_WRITE);
    int one[4][2];
    for (int pass = 0; pass < 2; pass++) {
        for (int run = pass; run < (pass ? MANY : 1); run++)
            put_run(store);
        for (int i = 0; i < 8; i++) {
            sqlite3_stmt *statement;
            char sql[160];
            snprintf(sql, sizeof sql, "SELECT * FROM %s WHERE %s", views[i / 2], names[i % 2]);
            assert_int_equal(sqlite3_prepare_v2(store->database, sql, -1, &statement, NULL), 0);
            while (sqlite3_step(statement) == SQLITE_ROW)
                ;
            int steps = sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 0);
            sqlite3_finalize(statement);
            if (pass == 0)
                one[i / 2][i % 2] = steps;
            else if (steps > one[i / 2][i % 2] * 6 / 5)
                fail_msg("%s: %d steps in %d runs, %d in one", sql, steps, MANY, one[i / 2][i % 2]);
        }
    }
    store_close(store);
}
