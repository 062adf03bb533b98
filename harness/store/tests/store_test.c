/* Data are read from the store exactly as they were written. */
#include "store/internal.h"
#include "store/standing.h"
#include "store_sample.h"
#include <math.h>

static bool same_bits(double a, double b)
{
    return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0;
}

static void assert_same_metrics(const ln_metrics *a, const ln_metrics *b)
{
    for (size_t i = 0; i < metric_count_all; i++)
        if (!same_bits(metric_value(a, &metric_list[i]), metric_value(b, &metric_list[i])))
            fail_msg("%s differs", metric_list[i].name);
}

/* The list of fields covers every byte of the struct. */
TEST(test_metric_list)
{
    assert_int_equal(metric_count_all * 8 + sizeof((ln_metrics){0}.ulp_histogram),
                     sizeof(ln_metrics));
    ln_metrics a = distinct_metrics();
    assert_true(a.worst_row > 1000 && a.worst_column > a.worst_row && a.mismatches > 1000);
    assert_true(a.ulp_max > 3 && a.kappa_max > a.worst_exact);
}

TEST_IN_SCRATCH(test_round_trip)
{
    const char *path = scratch_path(state, "a.db");
    result_store *store = store_open(path, STORE_WRITE);
    int64_t run = begun(store);
    case_key key = sample_key();
    ln_metrics metrics = distinct_metrics();
    case_verdict verdict = {VERDICT_TYPE_LIMITED, "row 3, tab\there"};
    put_accuracy(store, run, &key, &verdict, &metrics, INFINITY);
    timed_repetition put = {2, 1, 7, 123456789012, 1234.5678901234567, 1233.25, NAN, NAN};
    store_put_repetition(store, run, &key, &put);
    store_end_run(store, run, RUN_COMPLETE);
    store_close(store);

    store = store_open(path, STORE_READ);
    stored_run info;
    stored_cases cases;
    info = store_run(store, run);
    cases = store_cases(store, run);
    assert_true(info.seed == UINT64_MAX - 1 && info.state == RUN_COMPLETE);
    assert_string_equal(info.plan, "quick");
    assert_string_equal(info.plan_hash, "abc");
    assert_string_equal(info.command_line, "lnbench run");
    assert_int_equal(strlen(info.started), strlen("2024-01-01T00:00:00Z"));
    assert_int_equal(info.cases, 1);
    assert_int_equal(info.repetitions, 1);
    assert_int_equal(cases.count, 1);
    stored_case *got = &cases.cases[0];
    assert_string_equal(got->key.kernel, key.kernel);
    assert_string_equal(got->key.convention, key.convention);
    assert_string_equal(got->key.input, key.input);
    assert_true(got->key.rows == 512 && got->key.hidden == 768 && got->key.dtype == LN_F32);
    assert_true(got->key.cache == CACHE_COLD && got->key.threads == 1);
    assert_true(got->judged);
    assert_int_equal(got->verdict.kind, VERDICT_TYPE_LIMITED);
    assert_string_equal(got->verdict.detail, verdict.detail);
    assert_true(isinf(got->bound_row_ulp) && got->bound_row_ulp > 0);
    assert_same_metrics(&got->metrics, &metrics);
    assert_memory_equal(got->metrics.ulp_histogram, metrics.ulp_histogram,
                        sizeof metrics.ulp_histogram);
    assert_int_equal(got->repetition_count, 1);
    const timed_repetition *back = got->repetitions;
    assert_true(back->process == 2 && back->repetition == 1 && back->order == 7);
    assert_true(back->iterations == put.iterations && back->real_ns == put.real_ns &&
                back->cpu_ns == put.cpu_ns);
    stored_cases_free(&cases);
    store_close(store);
}

TEST_IN_SCRATCH(test_machine_and_kernels)
{
    result_store *store = store_open(scratch_path(state, "a.db"), STORE_WRITE);
    int64_t run = begun(store);
    machine_facts machine = store_machine(store, run);
    assert_int_equal(machine.count, 4);                     /* with SQLite's version */
    assert_string_equal(machine.facts[0].name, "l2_bytes"); /* the order is kept */
    assert_string_equal(machine_fact_value(&machine, "cpu_model"), "x");
    assert_true(machine.l2_bytes == 1048576 && machine.l1d_bytes == 0 && machine.cores == 3);
    machine_free(&machine);
    store_put_kernel(store, run, json_pack("{s:s}", "name", "b"));
    store_put_kernel(store, run, json_pack("{s:s, s:i}", "name", "a", "old", 1));
    store_put_kernel(store, run, json_pack("{s:s}", "name", "a"));
    json_t *kernels = store_kernels(store, run);
    char *json = json_dumps(kernels, JSON_COMPACT);
    assert_string_equal(json, "[{\"name\":\"b\"},{\"name\":\"a\"}]");
    json_decref(kernels);
    free(json);
    store_close(store);
}

/* NaN, infinities and subnormals are read back unchanged. (SQLite stores a REAL that is an integer as an integer, so
 * that the sign of a zero is lost.) */
TEST_IN_SCRATCH(test_special_doubles)
{
    static const double special[] = {NAN, INFINITY, -INFINITY, 0x1p-1074, 0x1.fffffffffffffp1023};
    result_store *store = store_open(scratch_path(state, "a.db"), STORE_WRITE);
    int64_t run = begun(store);
    case_key key = sample_key();
    case_verdict verdict = {VERDICT_PASS, ""};
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        ln_metrics metrics = distinct_metrics();
        metrics.worst_computed = special[i];
        metrics.norm_max = special[i];
        put_accuracy(store, run, &key, &verdict, &metrics, special[i]);
        stored_cases cases = store_cases(store, run);
        assert_int_equal(cases.count, 1);
        assert_same_metrics(&cases.cases[0].metrics, &metrics);
        assert_true(same_bits(cases.cases[0].bound_row_ulp, special[i]));
        stored_cases_free(&cases);
    }
    store_close(store);
}

/* Each part of the key distinguishes cases. */
TEST_IN_SCRATCH(test_keys)
{
    result_store *store = store_open(scratch_path(state, "a.db"), STORE_WRITE);
    int64_t run = begun(store), other = begun(store);
    case_key keys[9];
    for (int i = 0; i < 9; i++) {
        keys[i] = sample_key(); /* each differs in one part from the one before it */
        strcpy(keys[i].kernel, i >= 1 ? "other" : "one");
        strcpy(keys[i].convention, i >= 2 ? "other" : "one");
        strcpy(keys[i].input, i >= 3 ? "other" : "one");
        keys[i].rows += i >= 4;
        keys[i].hidden += i >= 5;
        keys[i].dtype = i >= 6 ? LN_BF16 : LN_F32;
        keys[i].cache = i >= 7 ? CACHE_HOT : CACHE_COLD;
        keys[i].threads += i >= 8;
    }
    for (unsigned process = 0; process < 2; process++) {
        for (int i = 0; i < 9; i++) {
            timed_repetition put = {process, 0, 0, 1, 10.0 * i + process, 1, NAN, NAN};
            store_put_repetition(store, run, &keys[i], &put);
        }
    }
    stored_cases cases = store_cases(store, run);
    assert_int_equal(cases.count, 9);
    for (int i = 0; i < 9; i++) {
        assert_int_equal(cases.cases[i].repetition_count, 2);
        assert_true(cases.cases[i].repetitions[1].real_ns == 10.0 * i + 1);
        assert_false(cases.cases[i].judged);
        assert_true(isnan(cases.cases[i].metrics.ulp_max));
        assert_true(isnan(cases.cases[i].bound_row_ulp));
    }
    stored_cases_free(&cases);
    cases = store_cases(store, other);
    assert_int_equal(cases.count, 0);
    stored_cases_free(&cases);
    /* A repetition that is stored twice is an error, since it would hide the first one. */
    timed_repetition again = {0, 0, 0, 1, 5, 5, NAN, NAN};
    assert_true(DIES(store_put_repetition(store, run, &keys[0], &again)));
    assert_int_equal(problem.code, EXIT_CODE_ENVIRONMENT);
    assert_non_null(strstr(problem.message, "already"));
    store_close(store); /* an error ends the command; the next command continues */
    store = store_open(scratch_path(state, "a.db"), STORE_WRITE);
    again.repetition = 1;
    store_put_repetition(store, run, &keys[0], &again);
    store_close(store);
}

/* A failed put leaves nothing, not even the case that it had to add. */
TEST_IN_SCRATCH(test_undone)
{
    result_store *store = store_open(scratch_path(state, "a.db"), STORE_WRITE);
    int64_t run = begun(store);
    case_key key = sample_key();
    timed_repetition put = {0, 0, 0, 1, 1, 1, NAN, NAN};
    sqlite3_exec(store->database,
                 "CREATE TEMP TRIGGER refuse BEFORE INSERT ON main.repetitions "
                 "BEGIN SELECT raise(ABORT, 'refused'); END",
                 NULL, NULL, NULL);
    assert_true(DIES(store_put_repetition(store, run, &key, &put)));
    store_close(store); /* an error ends the command; the next command continues */
    store = store_open(scratch_path(state, "a.db"), STORE_WRITE);
    assert_int_equal(store_run(store, run).cases, 0);
    store_put_repetition(store, run, &key, &put);
    store_close(store);
}

static void assert_processes(result_store *store, int64_t run, const case_key *key,
                             unsigned expected)
{
    unsigned processes = store_process_count(store, run, key);
    assert_int_equal(processes, expected);
}

/* A process counts for the cases that it timed after it has ended. */
TEST_IN_SCRATCH(test_processes)
{
    result_store *store = store_open(scratch_path(state, "a.db"), STORE_WRITE);
    int64_t run = begun(store), other = begun(store);
    case_key first = sample_key(), second = sample_key();
    second.hidden++;
    unsigned next = store_next_process(store, run);
    assert_int_equal(next, 0);
    for (unsigned process = 0; process < 4; process += 3) {
        timed_repetition put = {process, 0, 0, 1, 1, 1, NAN, NAN},
                         more = {process, 1, 1, 1, 1, 1, NAN, NAN};
        store_put_repetition(store, run, &first, &put);
        store_put_repetition(store, run, &first, &more);
        if (process)
            store_put_repetition(store, run, &second, &put);
    }
    assert_processes(store, run, &first, 0);
    store_end_process(store, run, 0);
    store_end_process(store, run, 0); /* a second call changes nothing */
    assert_processes(store, run, &first, 1);
    assert_processes(store, run, &second, 0);
    store_end_process(store, other, 3); /* another run's process 3 */
    assert_processes(store, run, &first, 1);
    /* After a resume, this run has nothing of process 3; the other run has all it had. */
    timed_repetition kept = {5, 0, 0, 1, 1, 1, NAN, NAN}, again = {3, 0, 0, 1, 1, 1, NAN, NAN};
    store_put_repetition(store, other, &first, &kept);
    store_drop_unfinished(store, run);
    next = store_next_process(store, run);
    assert_int_equal(next, 1);
    next = store_next_process(store, other);
    assert_int_equal(next, 6);
    store_drop_unfinished(store, other);
    store_put_repetition(store, run, &first, &again);
    store_put_repetition(store, run, &second, &again);
    store_end_process(store, run, 3);
    assert_processes(store, run, &first, 2);
    assert_processes(store, run, &second, 1);
    assert_processes(store, other, &first, 0);
    next = store_next_process(store, run);
    assert_int_equal(next, 4);
    next = store_next_process(store, other);
    assert_int_equal(next, 0);
    store_close(store);
}

static void take_reals(void *into, const stored_table *part)
{
    for (size_t i = 0; i < part->rows * part->columns; i++)
        ((double *)into)[i] = part->cells[i].real;
}

TEST_IN_SCRATCH(test_rows)
{
    result_store *store = store_open(scratch_path(state, "a.db"), STORE_WRITE);
    int64_t run = begun(store);
    case_key first = sample_key(), second = sample_key();
    strcpy(second.input, "offset");
    case_verdict verdict = {VERDICT_PASS, ""};
    put_accuracy(store, run, &first, &verdict, NULL, NAN);
    const struct {
        const case_key *key;
        stored_row row;
    } puts[] = {
        {&second, {4, INFINITY, 1.5, 2.5, NAN, NAN, INFINITY}},
        {&first, {0, 1, 0.5, 0.25, 8, -0x1p-30, 0x1p-25}},
        {&second, {3, 10, 1, 2, 3, 4, 5}},
        {&second, {3, 100, 1, 2, 3, 4, 5}}, /* judged again */
    };
    for (size_t i = 0; i < sizeof puts / sizeof *puts; i++)
        store_put_row(store, run, puts[i].key, &puts[i].row);
    /* case_id, row, kappa, row_ulp, norm_max, bound_row_ulp, mean_error, rstd_error */
    double rows[3][8];
    store_query(store, "SELECT * FROM judged_rows WHERE ?1 ORDER BY case_id, row", run, 3,
                take_reals, rows);
    assert_true(rows[0][1] == 0 && rows[0][4] == 0.25 && rows[0][5] == 8);
    assert_true(rows[0][6] == -0x1p-30 && rows[0][7] == 0x1p-25);
    assert_true(rows[1][0] == rows[0][0] + 1 && rows[1][1] == 3 && rows[1][2] == 100);
    assert_true(rows[2][1] == 4 && isinf(rows[2][2]) && rows[2][3] == 1.5 && isnan(rows[2][5]));
    assert_true(isnan(rows[2][6]) && isinf(rows[2][7]));
    store_close(store);
}

TEST_IN_SCRATCH(test_runs)
{
    result_store *store = store_open(scratch_path(state, "a.db"), STORE_WRITE);
    int64_t first = begun(store), second = begun(store), third = begun(store);
    case_key key = sample_key();
    timed_repetition put = {0, 0, 0, 1, 1, 1, NAN, NAN};
    store_put_repetition(store, second, &key, &put);
    int64_t found = store_latest_run(store);
    assert_int_equal(found, second);
    store_end_run(store, third, RUN_COMPLETE);
    store_end_run(store, second, RUN_INTERRUPTED);
    found = store_find_unfinished(store, "abc");
    assert_int_equal(found, second);
    store_end_run(store, second, RUN_COMPLETE);
    found = store_find_unfinished(store, "abc");
    assert_int_equal(found, first);
    found = store_find_unfinished(store, "other");
    assert_int_equal(found, 0);
    stored_run *runs;
    size_t count = store_runs(store, &runs);
    assert_int_equal(count, 3);
    assert_true(runs[0].id == first && runs[0].state == RUN_OPEN && runs[1].repetitions == 1);
    free(runs);
    assert_true(DIES(store_run(store, 99)));
    assert_true(DIES(store_put_repetition(store, 99, &key, &put))); /* foreign key */
    store_close(store);
}

static void assert_counts(result_store *store, int64_t run, size_t requested, size_t unsupported,
                          size_t missing)
{
    stored_run info = store_run(store, run);
    assert_true(info.counts.requested == requested);
    assert_int_equal(info.counts.unsupported, unsupported);
    assert_int_equal(info.counts.missing, missing);
}

/* Each requested case is done, unsupported or missing: in an open run (after a kill), in one that ended, and in one
 * that continues. */
TEST_IN_SCRATCH(test_requested)
{
    static const struct {
        unsigned parts;
        case_verdict verdict;
        bool timed;
        const char *missing; /* NULL: it is not missing */
    } cases[] = {
        {REQUESTED_JUDGEMENT, {VERDICT_PASS, ""}, false, NULL},
        {REQUESTED_JUDGEMENT, {VERDICT_UNSUPPORTED, "no AVX-512"}, false, NULL},
        {REQUESTED_JUDGEMENT, {VERDICT_MISSING, "out of memory"}, false, "out of memory"},
        {REQUESTED_JUDGEMENT | REQUESTED_TIMING, {VERDICT_PASS, ""}, true, NULL},
        {REQUESTED_JUDGEMENT | REQUESTED_TIMING, {VERDICT_PASS, ""}, false, "judged, not timed"},
        {REQUESTED_JUDGEMENT | REQUESTED_TIMING, {VERDICT_CRASHED, "SIGSEGV"}, false, NULL},
        {REQUESTED_JUDGEMENT, {.kind = VERDICT_PENDING}, false, "not reached"},
        {REQUESTED_TIMING, {.kind = VERDICT_PENDING}, true, NULL},
        {REQUESTED_TIMING, {.kind = VERDICT_PENDING}, false, "not reached"},
    };
    enum { CASES = sizeof cases / sizeof *cases };
    result_store *store = store_open(scratch_path(state, "a.db"), STORE_WRITE);
    int64_t run = begun(store), found;
    timed_repetition put = {0, 0, 0, 1, 1, 1, NAN, NAN};
    requested_case requested = {.key = sample_key(), .parts = REQUESTED_JUDGEMENT};
    stored_run info;
    info = store_run(store, run);
    assert_true(info.counts.requested == 0);
    for (size_t pass = 0; pass < 2; pass++) /* a second call changes nothing */
        for (size_t i = 0; i < CASES; i++) {
            requested.key.rows = i + 1;
            requested.parts =
                pass || cases[i].parts == REQUESTED_TIMING ? cases[i].parts : REQUESTED_JUDGEMENT;
            store_put_requested(store, run, &requested);
        }
    store_count_requested(store, run);
    assert_counts(store, run, CASES, 0, CASES);
    found = store_latest_run(store);
    assert_int_equal(found, run);
    for (size_t i = 0; i < CASES; i++) {
        requested.key.rows = i + 1;
        if (cases[i].verdict.kind != VERDICT_PENDING)
            put_accuracy(store, run, &requested.key, &cases[i].verdict, NULL, 1);
        if (cases[i].timed)
            store_put_repetition(store, run, &requested.key, &put);
    }
    assert_counts(store, run, CASES, 1, 4);
    store_end_run(store, run, RUN_COMPLETE);
    assert_counts(store, run, CASES, 1, 4);
    for (size_t i = 0; i < CASES; i++)
        assert_int_equal(
            store_number(store,
                         "SELECT count(*) FROM missing WHERE run = ?1 AND rows = ?2 AND "
                         "requested = ?3 AND reason = ?4",
                         "iiis", run, (int64_t)i + 1, (int64_t)cases[i].parts, cases[i].missing),
            cases[i].missing != NULL);
    info = store_run(store, run);
    assert_int_equal(info.cases, CASES - 2); /* only requested: no case to show */
    /* A run with missing cases continues, and tries them again. */
    found = store_find_unfinished(store, "abc");
    assert_int_equal(found, run);
    bool has;
    requested.key.rows = 3;
    has = store_has_accuracy(store, run, &requested.key);
    assert_false(has);
    store_count_requested(store, run);
    info = store_run(store, run);
    assert_int_equal(info.state, RUN_OPEN);
    store_close(store);
}

/* Returns the latest noise of one machine, and of no other. */
TEST_IN_SCRATCH(test_noise)
{
    machine_fact here_facts[] = {{"cpu_model", "x"}, {"l2_bytes", "1"}, {"git_commit", "a"}},
                 there_facts[] = {{"cpu_model", "x"}, {"l2_bytes", "2"}},
                 later_facts[] = {{"cpu_model", "x"}, {"l2_bytes", "1"}, {"git_commit", "b"}};
    machine_facts here = {.facts = here_facts, .count = 3},
                  there = {.facts = there_facts, .count = 2},
                  later = {.facts = later_facts, .count = 3};
    const double first[REGIMES] = {0.01, 0.02, 0.03, 0.04},
                 second[REGIMES] = {0.011, 0.021, NAN, 0.041};
    const char *path = scratch_path(state, "a.db");
    result_store *store = store_open(path, STORE_WRITE);
    machine_noise found;
    store_put_noise(store, &here, first);
    store_put_noise(store, &later, second);
    store_close(store);
    found = store_load_noise(path, &here);
    assert_int_equal(strlen(found.made), strlen("2024-01-01T00:00:00Z"));
    for (int i = 0; i < REGIMES; i++)
        assert_true(isnan(second[i]) ? isnan(found.smallest[i]) : found.smallest[i] == second[i]);
    found = store_load_noise(path, &there);
    assert_true(!found.made[0] && isnan(found.smallest[REGIME_L1]));
    found = store_load_noise(scratch_path(state, "none.db"), &here);
    assert_true(!found.made[0] && isnan(found.smallest[REGIME_L1]));
}

/* Results are stored together or not at all. */
TEST_IN_SCRATCH(test_together)
{
    result_store *store = store_open(scratch_path(state, "a.db"), STORE_WRITE);
    machine_fact facts[] = {{"cpu_model", "x"}};
    machine_facts machine = {.facts = facts, .count = 1};
    run_info info = {.command_line = "c", .plan = "quick", .plan_hash = "h", .machine = &machine};
    case_key key = sample_key();
    timed_repetition put = {0, 0, 0, 1, 2, 3, NAN, NAN};
    store_together(store); /* cut off by the end of the program */
    store_put_repetition(store, store_begin_run(store, &info), &key, &put);
    store_close(store);
    store = store_open(scratch_path(state, "a.db"), STORE_WRITE);
    stored_run *none;
    assert_int_equal(store_runs(store, &none), 0);
    free(none);
    store_together(store);
    int64_t run = store_begin_run(store, &info);
    store_put_repetition(store, run, &key, &put);
    store_together_end(store);
    assert_int_equal(store_latest_run(store), run);
    stored_run stored = store_run(store, run);
    assert_true(stored.state == RUN_OPEN && stored.repetitions == 1);
    store_put_repetition(store, begun(store), &key, &put); /* and later results are stored */
    store_close(store);
}

/* Tests the class that colours an error, and its words. */
TEST(test_error_classes)
{
    static const struct {
        double row_ulp;
        ln_type type;
        error_class class;
        const char *words;
    } wanted[] = {{1, LN_F32, ERROR_EXACT, "1.0"},        {1.01, LN_F32, ERROR_GOOD, "1.0"},
                  {4.5, LN_F32, ERROR_ROUGH, "4.5"},      {999, LN_F32, ERROR_ROUGH, "999"},
                  {2e6, LN_F32, ERROR_LOST, "2e+06"},     {0x1p23, LN_F32, ERROR_LOST, "no digit"},
                  {15, LN_BF16, ERROR_ROUGH, "15"},       {17, LN_BF16, ERROR_LOST, "17"},
                  {128, LN_BF16, ERROR_LOST, "no digit"}, {INFINITY, LN_F32, ERROR_NAN, "fault"}};
    char words[ERROR_WORDS];
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const case_verdict timeout = {.kind = VERDICT_TIMEOUT};
        const error_sum sum = {.judged = 1, .error = wanted[i].row_ulp};
        assert_int_equal(error_class_of(&sum, wanted[i].type), wanted[i].class);
        assert_string_equal(error_in_words(sum.error, wanted[i].type, &timeout, words),
                            wanted[i].words);
    }
    const error_sum none = {.error = NAN};
    assert_int_equal(error_class_of(&none, LN_F32), ERROR_UNKNOWN);
}
