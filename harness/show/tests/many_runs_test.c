/* A query about one run takes as many steps of SQLite's machine in a store of many runs as in a store with only that
 * run. Steps are exact; times are not. */
#include "show/report.h"
#include "store/standing.h"
#include "store_sample.h"

enum { MANY = 100, KERNELS = 3, INPUTS = 4, STATEMENTS = 64 };

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
        store_put_kernel(store, run, json_pack("{s:s}", "name", timed.kernel));
        for (unsigned i = 0; i < 4; i++) {
            timed_repetition put = {i / 2, i % 2, 0, 1, 10 + i, 1, NAN, NAN};
            store_put_repetition(store, run, &timed, &put);
        }
        for (int input = 0; kernel > 0 && input < INPUTS; input++) {
            requested_case requested = {.key = key_of(kernel, input), .parts = REQUESTED_JUDGEMENT};
            case_verdict fine = {.kind = VERDICT_PASS};
            ln_metrics metrics = distinct_metrics();
            stored_row row = {1, 2, 1, .5, 3, 0, 0};
            store_put_requested(store, run, &requested);
            put_accuracy(store, run, &requested.key, &fine, &metrics, 1);
            store_put_row(store, run, &requested.key, &row);
        }
    }
    for (unsigned process = 0; process < 2; process++)
        store_end_process(store, run, process);
    store_count_requested(store, run);
    store_end_run(store, run, RUN_COMPLETE);
    store_together_end(store);
}

/* Queries everything that is read of a run. */
static void read_run(result_store *store)
{
    const case_key key = key_of(1, 0);
    const char *names[] = {"kernel_*"};
    const word_list kernels = {names, 1};
    const recommend_request wanted = {
        .run = 1, .at = key, .kernels = &kernels, .budget = 2, .kappa = NAN};
    stored_pair pair;
    store_find_unfinished(store, "no such");
    store_latest_run(store);
    store_run(store, 1);
    machine_facts machine = store_machine(store, 1);
    machine_free(&machine);
    json_decref(store_kernels(store, 1));
    store_process_count(store, 1, &key);
    store_next_process(store, 1);
    store_has_accuracy(store, 1, &key);
    stored_cases cases = store_cases(store, 1);
    store_run_of_case(store, cases.cases[0].id);
    stored_cases_free(&cases);
    cases = store_timed_cases(store, 1, -1, true);
    stored_cases_free(&cases);
    store_pairs_begin(store, 1, 1);
    while (store_next_pair(store, &pair))
        ;
    free(store_standings(store, 1).standings);
    free(store_recommend(store, &wanted).kernels);
    assert_true(store_timed_run(store, &wanted, "") > 0);
}

/* Counts the steps of each query of read_run(), by its index among the store's statements. */
static void count_steps(result_store *store, int steps[])
{
    read_run(store); /* prepares them */
    assert_in_range(store->statement_count, 18, STATEMENTS);
    for (size_t i = 0; i < store->statement_count; i++)
        sqlite3_stmt_status(store->statements[i].prepared, SQLITE_STMTSTATUS_VM_STEP, 1);
    read_run(store);
    for (size_t i = 0; i < store->statement_count; i++)
        steps[i] = sqlite3_stmt_status(store->statements[i].prepared, SQLITE_STMTSTATUS_VM_STEP, 0);
}

TEST_IN_SCRATCH(test_steps)
{
    int one[STATEMENTS], many[STATEMENTS];
    const char *path = scratch_path(state, "many.db");
    result_store *store = store_open(path, STORE_WRITE);
    put_run(store);
    result_store *reader = store_open(path, STORE_READ);
    count_steps(reader, one);
    for (int run = 1; run < MANY; run++)
        put_run(store);
    count_steps(reader, many);
    for (size_t i = 0; i < reader->statement_count; i++)
        if (many[i] > one[i] * 6 / 5)
            fail_msg("%d steps in %d runs, %d in one:\n%s", many[i], MANY, one[i],
                     reader->statements[i].sql);
    store_close(reader);
    store_close(store);
}

/* A condition on the run reaches the tables through each view, whatever expression selects the run. */
TEST_IN_SCRATCH(test_views)
{
    static const char *const views[] = {"judged", "timed", "missing", "summary"};
    static const char *const names[] = {"run = 1", "run = (SELECT min(id) FROM runs)"};
    result_store *store = store_open(scratch_path(state, "many.db"), STORE_WRITE);
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

static int count_step(void *count)
{
    ++*(size_t *)count;
    return 0;
}

/* Returns the steps, in hundreds, of the queries of a report's page and charts. */
static size_t steps_of_report(result_store *store)
{
    size_t steps = 0;
    run_view view = view_load(store, 1);
    sqlite3_progress_handler(store->database, 100, count_step, &steps);
    report_write(&view, "many_runs_page", NULL);
    sqlite3_progress_handler(store->database, 0, NULL, NULL);
    view_free(&view);
    return steps;
}

TEST_IN_SCRATCH(test_report)
{
    result_store *store = store_open(scratch_path(state, "many.db"), STORE_WRITE);
    setenv("PATH", "/nonexistent", 1); /* nothing is drawn */
    put_run(store);
    size_t one = steps_of_report(store);
    for (int run = 1; run < MANY; run++)
        put_run(store);
    size_t many = steps_of_report(store);
    assert_true(one > 100);
    if (many > one * 6 / 5)
        fail_msg("%zu00 steps in %d runs, %zu00 in one", many, MANY, one);
    store_close(store);
}
