/* The store: what was put is there again, to the bit, whatever happened in between. */
#include "store_internal.h"
#include "metric_fields.h"
#include "scratch.h"
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

static error problem;

#define CHECK(call)                                                                                \
    do {                                                                                           \
        if (!(call))                                                                               \
            fail_msg("%s: %s", #call, problem.message);                                            \
    } while (0)

static store *opened(const char *path, store_mode mode)
{
    store *store;
    CHECK(store_open(path, mode, &store, &problem));
    return store;
}

static case_key sample_key(void)
{
    return (case_key){.kernel = "two_pass_f32_avx2",
                      .convention = "torch",
                      .input = "normal",
                      .rows = 512,
                      .hidden = 768,
                      .dtype = LN_F32,
                      .cache = CACHE_COLD,
                      .threads = 1};
}

static int64_t begun(store *store)
{
    machine_fact facts[] = {{"l2_bytes", "1048576"}, {"cpu_model", "x"}, {"cores", "3"}};
    machine machine = {.facts = facts, .count = 3};
    run_info info = {.command_line = "lnbench run",
                     .plan = "quick",
                     .plan_hash = "abc",
                     .seed = UINT64_MAX - 1,
                     .machine = &machine};
    int64_t run;
    CHECK(store_begin_run(store, &info, &run, &problem));
    return run;
}

/* Every field another value: mixed-up columns show. */
static ln_metrics distinct_metrics(void)
{
    ln_metrics metrics;
    size_t count;
    const metric_field *fields = metric_fields(&count);
    for (size_t i = 0; i < count; i++) {
        metric_set_value(&metrics, &fields[i], 0x1.921fb54442d18p1 * (double)(i + 1));
        metric_set_count(&metrics, &fields[i], 1000 + i);
    }
    return metrics;
}

static bool same_bits(double a, double b)
{
    return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof a) == 0;
}

static void assert_same_metrics(const ln_metrics *a, const ln_metrics *b)
{
    size_t count;
    const metric_field *fields = metric_fields(&count);
    for (size_t i = 0; i < count; i++) {
        if (!same_bits(metric_value(a, &fields[i]), metric_value(b, &fields[i])) ||
            metric_count(a, &fields[i]) != metric_count(b, &fields[i]))
            fail_msg("%s differs", fields[i].name);
    }
}

/* The list of fields covers the struct: no byte of it is left over. */
static void test_metric_list(void **state)
{
    (void)state;
    size_t count;
    metric_fields(&count);
    assert_int_equal(count * 8, sizeof(ln_metrics));
    ln_metrics a = distinct_metrics();
    assert_true(a.worst_row > 1000 && a.worst_column > a.worst_row && a.mismatches > 1000);
    assert_true(a.ulp_max > 3 && a.kappa_max > a.worst_exact);
}

static void test_round_trip(void **state)
{
    const char *path = scratch_path(state, "a.db");
    store *store = opened(path, STORE_WRITE);
    int64_t run = begun(store);
    case_key key = sample_key();
    ln_metrics metrics = distinct_metrics();
    verdict verdict = {VERDICT_INACCURATE, true, "row 3, tab\there"};
    CHECK(store_put_accuracy(store, run, &key, &verdict, &metrics, INFINITY, &problem));
    repetition put = {2, 1, 7, 123456789012, 1234.5678901234567, 1233.25};
    CHECK(store_put_repetition(store, run, &key, &put, &problem));
    CHECK(store_end_run(store, run, RUN_COMPLETE, &problem));
    store_close(store);

    store = opened(path, STORE_READ);
    stored_run info;
    stored_cases cases;
    CHECK(store_run(store, run, &info, &problem));
    CHECK(store_cases(store, run, &cases, &problem));
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
    assert_true(got->judged && got->verdict.declared);
    assert_int_equal(got->verdict.kind, VERDICT_INACCURATE);
    assert_string_equal(got->verdict.detail, verdict.detail);
    assert_true(isinf(got->bound_row_ulp) && got->bound_row_ulp > 0);
    assert_same_metrics(&got->metrics, &metrics);
    assert_int_equal(got->repetition_count, 1);
    const repetition *back = got->repetitions;
    assert_true(back->process == 2 && back->repetition == 1 && back->order == 7);
    assert_true(back->iterations == put.iterations && back->real_ns == put.real_ns &&
                back->cpu_ns == put.cpu_ns);
    stored_cases_free(&cases);
    store_close(store);
}

static void test_machine_and_kernels(void **state)
{
    store *store = opened(scratch_path(state, "a.db"), STORE_WRITE);
    int64_t run = begun(store);
    machine machine;
    CHECK(store_machine(store, run, &machine, &problem));
    assert_int_equal(machine.count, 3);
    assert_string_equal(machine.facts[0].name, "l2_bytes"); /* the order is kept */
    assert_string_equal(machine_fact_value(&machine, "cpu_model"), "x");
    assert_true(machine.l2_bytes == 1048576 && machine.l1d_bytes == 0 && machine.cores == 3);
    machine_free(&machine);
    char *json;
    CHECK(store_kernels_json(store, run, &json, &problem));
    assert_string_equal(json, "[]");
    free(json);
    CHECK(store_put_kernel(store, run, "b", "{\"name\":\"b\"}", &problem));
    CHECK(store_put_kernel(store, run, "a", "{\"name\":\"old\"}", &problem));
    CHECK(store_put_kernel(store, run, "a", "{\"name\":\"a\"}", &problem));
    CHECK(store_kernels_json(store, run, &json, &problem));
    assert_string_equal(json, "[{\"name\":\"b\"}, {\"name\":\"a\"}]");
    free(json);
    store_close(store);
}

/* NaN, infinities and subnormals come back as they went. (SQLite keeps a REAL that is an integer as
 * one, so that the sign of a zero is lost.) */
static void test_special_doubles(void **state)
{
    static const double special[] = {NAN, INFINITY, -INFINITY, 0x1p-1074, 0x1.fffffffffffffp1023};
    store *store = opened(scratch_path(state, "a.db"), STORE_WRITE);
    int64_t run = begun(store);
    case_key key = sample_key();
    verdict verdict = {VERDICT_OK, false, ""};
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        ln_metrics metrics = distinct_metrics();
        metrics.worst_computed = special[i];
        metrics.norm_max = special[i];
        CHECK(store_put_accuracy(store, run, &key, &verdict, &metrics, special[i], &problem));
        stored_cases cases;
        CHECK(store_cases(store, run, &cases, &problem));
        assert_int_equal(cases.count, 1);
        assert_same_metrics(&cases.cases[0].metrics, &metrics);
        assert_true(same_bits(cases.cases[0].bound_row_ulp, special[i]));
        stored_cases_free(&cases);
    }
    store_close(store);
}

static void test_accuracy_updates(void **state)
{
    store *store = opened(scratch_path(state, "a.db"), STORE_WRITE);
    int64_t run = begun(store);
    case_key key = sample_key();
    ln_metrics metrics = distinct_metrics();
    bool has;
    verdict verdict = {VERDICT_PENDING, false, ""};
    CHECK(store_has_accuracy(store, run, &key, &has, &problem));
    assert_false(has);
    CHECK(store_put_accuracy(store, run, &key, &verdict, NULL, NAN, &problem));
    CHECK(store_has_accuracy(store, run, &key, &has, &problem));
    assert_false(has);
    verdict = (struct verdict){VERDICT_CRASHED, false, "SIGSEGV"};
    CHECK(store_put_accuracy(store, run, &key, &verdict, &metrics, 3, &problem));
    CHECK(store_has_accuracy(store, run, &key, &has, &problem));
    assert_true(has);
    CHECK(store_has_accuracy(store, run + 1, &key, &has, &problem));
    assert_false(has);
    stored_cases cases;
    CHECK(store_cases(store, run, &cases, &problem));
    assert_int_equal(cases.count, 1);
    assert_int_equal(cases.cases[0].verdict.kind, VERDICT_CRASHED);
    stored_cases_free(&cases);
    store_close(store);
}

/* Each part of the key tells cases apart. */
static void test_keys(void **state)
{
    store *store = opened(scratch_path(state, "a.db"), STORE_WRITE);
    int64_t run = begun(store), other = begun(store);
    case_key keys[9];
    for (int i = 0; i < 9; i++) {
        keys[i] = sample_key(); /* each differs in one part from the one put before it */
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
            repetition put = {process, 0, 0, 1, 10.0 * i + process, 1};
            CHECK(store_put_repetition(store, run, &keys[i], &put, &problem));
        }
    }
    stored_cases cases;
    CHECK(store_cases(store, run, &cases, &problem));
    assert_int_equal(cases.count, 9);
    for (int i = 0; i < 9; i++) {
        assert_int_equal(cases.cases[i].repetition_count, 2);
        assert_true(cases.cases[i].repetitions[1].real_ns == 10.0 * i + 1);
        assert_false(cases.cases[i].judged);
        assert_true(isnan(cases.cases[i].metrics.ulp_max));
        assert_true(isnan(cases.cases[i].bound_row_ulp));
    }
    stored_cases_free(&cases);
    CHECK(store_cases(store, other, &cases, &problem));
    assert_int_equal(cases.count, 0);
    stored_cases_free(&cases);
    /* The same repetition again would hide the first one. */
    repetition again = {0, 0, 0, 1, 5, 5};
    assert_false(store_put_repetition(store, run, &keys[0], &again, &problem));
    assert_int_equal(problem.code, EXIT_CODE_ENVIRONMENT);
    assert_non_null(strstr(problem.message, "already"));
    again.repetition = 1;
    CHECK(store_put_repetition(store, run, &keys[0], &again, &problem));
    store_close(store);
}

/* A put that fails leaves nothing, not even the case that it had to add, and the next one works. */
static void test_undone(void **state)
{
    store *store = opened(scratch_path(state, "a.db"), STORE_WRITE);
    int64_t run = begun(store);
    case_key key = sample_key();
    repetition put = {0, 0, 0, 1, 1, 1};
    sqlite3_exec(store->database,
                 "CREATE TEMP TRIGGER refuse BEFORE INSERT ON main.repetitions "
                 "BEGIN SELECT raise(ABORT, 'refused'); END",
                 NULL, NULL, NULL);
    assert_false(store_put_repetition(store, run, &key, &put, &problem));
    stored_run info;
    CHECK(store_run(store, run, &info, &problem));
    assert_int_equal(info.cases, 0);
    sqlite3_exec(store->database, "DROP TRIGGER refuse", NULL, NULL, NULL);
    CHECK(store_put_repetition(store, run, &key, &put, &problem));
    store_close(store);
}

static void assert_processes(store *store, int64_t run, const case_key *key, unsigned expected)
{
    unsigned processes;
    CHECK(store_process_count(store, run, key, &processes, &problem));
    assert_int_equal(processes, expected);
}

/* A process counts for the cases that it timed, once it is ended. */
static void test_processes(void **state)
{
    store *store = opened(scratch_path(state, "a.db"), STORE_WRITE);
    int64_t run = begun(store), other = begun(store);
    case_key first = sample_key(), second = sample_key();
    second.hidden++;
    unsigned next;
    CHECK(store_next_process(store, run, &next, &problem));
    assert_int_equal(next, 0);
    for (unsigned process = 0; process < 4; process += 3) {
        repetition put = {process, 0, 0, 1, 1, 1}, more = {process, 1, 1, 1, 1, 1};
        CHECK(store_put_repetition(store, run, &first, &put, &problem));
        CHECK(store_put_repetition(store, run, &first, &more, &problem));
        if (process)
            CHECK(store_put_repetition(store, run, &second, &put, &problem));
    }
    assert_processes(store, run, &first, 0);
    CHECK(store_end_process(store, run, 0, &problem));
    CHECK(store_end_process(store, run, 0, &problem)); /* twice is once */
    assert_processes(store, run, &first, 1);
    assert_processes(store, run, &second, 0);
    CHECK(store_end_process(store, other, 3, &problem)); /* another run's process 3 */
    assert_processes(store, run, &first, 1);
    CHECK(store_end_process(store, run, 3, &problem));
    assert_processes(store, run, &first, 2);
    assert_processes(store, run, &second, 1);
    assert_processes(store, other, &first, 0);
    CHECK(store_next_process(store, run, &next, &problem));
    assert_int_equal(next, 4);
    CHECK(store_next_process(store, other, &next, &problem));
    assert_int_equal(next, 0);
    store_close(store);
}

static void test_rows(void **state)
{
    store *store = opened(scratch_path(state, "a.db"), STORE_WRITE);
    int64_t run = begun(store);
    case_key first = sample_key(), second = sample_key();
    strcpy(second.input, "offset");
    verdict verdict = {VERDICT_OK, false, ""};
    CHECK(store_put_accuracy(store, run, &first, &verdict, NULL, NAN, &problem));
    CHECK(store_put_row(store, run, &second, 4, INFINITY, 1.5, 2.5, NAN, &problem));
    CHECK(store_put_row(store, run, &first, 0, 1, 0.5, 0.25, 8, &problem));
    CHECK(store_put_row(store, run, &second, 3, 10, 1, 2, 3, &problem));
    CHECK(store_put_row(store, run, &second, 3, 100, 1, 2, 3, &problem)); /* judged again */
    stored_rows rows;
    CHECK(store_rows(store, run, &rows, &problem));
    assert_int_equal(rows.count, 3);
    assert_true(rows.rows[0].case_index == 0 && rows.rows[0].row == 0 &&
                rows.rows[0].norm_max == 0.25 && rows.rows[0].bound_row_ulp == 8);
    assert_true(rows.rows[1].case_index == 1 && rows.rows[1].row == 3 && rows.rows[1].kappa == 100);
    assert_true(rows.rows[2].row == 4 && isinf(rows.rows[2].kappa) && rows.rows[2].row_ulp == 1.5 &&
                isnan(rows.rows[2].bound_row_ulp));
    stored_rows_free(&rows);
    store_close(store);
}

static void test_runs(void **state)
{
    store *store = opened(scratch_path(state, "a.db"), STORE_WRITE);
    int64_t found;
    CHECK(store_latest_run(store, &found, &problem));
    assert_int_equal(found, 0);
    int64_t first = begun(store), second = begun(store), third = begun(store);
    case_key key = sample_key();
    repetition put = {0, 0, 0, 1, 1, 1};
    CHECK(store_put_repetition(store, second, &key, &put, &problem));
    CHECK(store_latest_run(store, &found, &problem));
    assert_int_equal(found, second);
    CHECK(store_end_run(store, third, RUN_COMPLETE, &problem));
    CHECK(store_end_run(store, second, RUN_INTERRUPTED, &problem));
    CHECK(store_find_unfinished(store, "abc", &found, &problem));
    assert_int_equal(found, second);
    CHECK(store_end_run(store, second, RUN_COMPLETE, &problem));
    CHECK(store_find_unfinished(store, "abc", &found, &problem));
    assert_int_equal(found, first);
    CHECK(store_find_unfinished(store, "other", &found, &problem));
    assert_int_equal(found, 0);
    stored_run *runs;
    size_t count;
    CHECK(store_runs(store, &runs, &count, &problem));
    assert_int_equal(count, 3);
    assert_true(runs[0].id == first && runs[0].state == RUN_OPEN && runs[1].repetitions == 1);
    free(runs);
    stored_run info;
    assert_false(store_run(store, 99, &info, &problem));
    assert_false(store_end_run(store, 99, RUN_COMPLETE, &problem));
    assert_false(store_put_repetition(store, 99, &key, &put, &problem)); /* foreign key */
    store_close(store);
}

/* --- what happens to a writer ---------------------------------------------------------------- */

static void write_forever(const char *path, int64_t run, int acknowledge)
{
    store *store;
    error error;
    case_key key = sample_key();
    if (!store_open(path, STORE_WRITE, &store, &error))
        _exit(1);
    for (unsigned i = 0;; i++) {
        repetition put = {i / 100, i % 100, i, i, i + 0.5, i};
        if (!store_put_repetition(store, run, &key, &put, &error) ||
            write(acknowledge, &i, sizeof i) != sizeof i)
            _exit(1);
    }
}

/* What the store said it had kept, it has after SIGKILL, and all of it is right. */
static void kill_a_writer(const char *path, unsigned after)
{
    store *store = opened(path, STORE_WRITE);
    int64_t run = begun(store);
    store_close(store);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0)
        write_forever(path, run, ends[1]);
    close(ends[1]);
    unsigned last = 0, put = 0;
    while (read(ends[0], &put, sizeof put) == sizeof put) {
        last = put;
        if (last == after)
            kill(child, SIGKILL);
    }
    close(ends[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && last >= after);

    store = opened(path, STORE_READ);
    stored_cases cases;
    CHECK(store_cases(store, run, &cases, &problem));
    size_t count = cases.cases[0].repetition_count;
    /* One more may be committed that could not be told any more. */
    assert_true(count == last + 1 || count == last + 2);
    for (size_t i = 0; i < count; i++)
        assert_true(cases.cases[0].repetitions[i].real_ns == (double)i + 0.5);
    stored_cases_free(&cases);
    store_close(store);
}

static void test_kill(void **state)
{
    static const unsigned after[] = {0, 1, 17, 250, 999};
    for (size_t i = 0; i < sizeof after / sizeof *after; i++)
        kill_a_writer(scratch_path(state, "killed.db"), after[i]);
}

/* Puts until it fails, or `most`; returns how many were kept. */
static unsigned fill(store *store, int64_t run, unsigned most, error *error)
{
    case_key key = sample_key();
    for (unsigned i = 0; i < most; i++) {
        repetition put = {0, i, i, i, i + 0.5, i};
        if (!store_put_repetition(store, run, &key, &put, error))
            return i;
    }
    return most;
}

static void assert_kept(const char *path, int64_t run, unsigned kept)
{
    store *store = opened(path, STORE_WRITE);
    stored_cases cases;
    CHECK(store_cases(store, run, &cases, &problem));
    assert_int_equal(cases.cases[0].repetition_count, kept);
    stored_cases_free(&cases);
    store_close(store);
}

static void test_full(void **state)
{
    const char *path = scratch_path(state, "full.db");
    store *store = opened(path, STORE_WRITE);
    int64_t run = begun(store);
    sqlite3_exec(store->database, "PRAGMA max_page_count = 40", NULL, NULL, NULL);
    unsigned kept = fill(store, run, 1000000, &problem);
    assert_true(kept > 100 && kept < 1000000);
    assert_int_equal(problem.code, EXIT_CODE_ENVIRONMENT);
    assert_non_null(
        strstr(problem.message, "full.db: cannot store a measurement: the disk is full"));
    assert_null(strchr(problem.message, '\n'));
    /* Room again: the same connection goes on. */
    sqlite3_exec(store->database, "PRAGMA max_page_count = 4000", NULL, NULL, NULL);
    repetition next = {1, 0, 0, 1, 1, 1};
    case_key key = sample_key();
    CHECK(store_put_repetition(store, run, &key, &next, &problem));
    store_close(store);
    assert_kept(path, run, kept + 1);
}

/* A limit of the file's size: writes fail in the middle of a page. */
static void test_file_size_limit(void **state)
{
    const char *path = scratch_path(state, "limited.db");
    store *store = opened(path, STORE_WRITE);
    int64_t run = begun(store);
    store_close(store);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        struct rlimit limit = {300000, 300000};
        unsigned kept = 0;
        error error = {0};
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &limit);
        if (store_open(path, STORE_WRITE, &store, &error))
            kept = fill(store, run, 1000000, &error);
        bool told = strstr(error.message, "limited.db: cannot store a measurement") &&
                    error.code == EXIT_CODE_ENVIRONMENT;
        _exit(write(ends[1], &kept, sizeof kept) == sizeof kept && told ? 0 : 1);
    }
    int status;
    unsigned kept;
    assert_int_equal(read(ends[0], &kept, sizeof kept), sizeof kept);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(kept > 10 && kept < 1000000);
    close(ends[0]);
    close(ends[1]);
    assert_kept(path, run, kept);
}

/* --- files that are not ours ------------------------------------------------------------------ */

static void write_file(const char *path, const char *bytes, size_t count)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    fclose(file);
}

/* Refused in both modes, with the path and these words in one line, and with the file untouched. */
static void assert_refused(const char *path, const char *words)
{
    for (int mode = STORE_READ; mode <= STORE_WRITE; mode++) {
        store *store;
        problem.message[0] = '\0';
        assert_false(store_open(path, (store_mode)mode, &store, &problem));
        assert_null(store);
        assert_int_equal(problem.code, EXIT_CODE_ENVIRONMENT);
        if (!strstr(problem.message, words) || !strstr(problem.message, path) ||
            strchr(problem.message, '\n'))
            fail_msg("'%s' does not say '%s'", problem.message, words);
    }
}

static void make_database(const char *path, const char *sql)
{
    sqlite3 *database;
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(database);
}

static void test_not_ours(void **state)
{
    char text[2000], back[2001];
    const char *path = scratch_path(state, "text.db");
    memset(text, 'x', sizeof text);
    write_file(path, text, sizeof text);
    assert_refused(path, "not an SQLite database");
    FILE *file = fopen(path, "rb");
    assert_int_equal(fread(back, 1, sizeof back, file), sizeof text);
    assert_memory_equal(back, text, sizeof text);
    fclose(file);
    write_file(path, "x", 1);
    assert_refused(path, "not an SQLite database");

    path = scratch_path(state, "foreign.db");
    make_database(path, "CREATE TABLE recipes (name TEXT)");
    assert_refused(path, "not one of lnbench");
    path = scratch_path(state, "application.db");
    make_database(path, "PRAGMA application_id = 1234");
    assert_refused(path, "not one of lnbench");
    assert_refused((const char *)*state, "a directory");
    store *store;
    assert_false(store_open(scratch_path(state, "none.db"), STORE_READ, &store, &problem));
    assert_non_null(strstr(problem.message, "no such file"));
    assert_refused(scratch_path(state, "no/such.db"), "no");
    write_file(scratch_path(state, "empty.db"), "", 0);
    assert_false(store_open(scratch_path(state, "empty.db"), STORE_READ, &store, &problem));
    assert_non_null(strstr(problem.message, "empty"));
    store_close(opened(scratch_path(state, "empty.db"), STORE_WRITE));
}

static void test_newer(void **state)
{
    const char *path = scratch_path(state, "newer.db");
    store_close(opened(path, STORE_WRITE));
    make_database(path, "PRAGMA user_version = 1000");
    assert_refused(path, "made by a newer lnbench");
}

static void test_corrupt(void **state)
{
    const char *path = scratch_path(state, "corrupt.db");
    store *store = opened(path, STORE_WRITE);
    fill(store, begun(store), 10000, &problem);
    store_close(store);
    /* The root pages of tables lie behind the first one. */
    FILE *file = fopen(path, "r+b");
    char noise[4096];
    memset(noise, 0x5a, sizeof noise);
    for (int page = 1; page < 20; page++) {
        fseek(file, 4096 * page, SEEK_SET);
        fwrite(noise, 1, sizeof noise, file);
    }
    fclose(file);
    assert_refused(path, "damaged");
}

static void test_truncated(void **state)
{
    const char *path = scratch_path(state, "short.db");
    store *store = opened(path, STORE_WRITE);
    begun(store);
    store_close(store);
    assert_int_equal(truncate(path, 8192), 0);
    assert_refused(path, "damaged");
}

/* As somebody without rights: root may write anywhere. */
static void check_unwritable(const char *directory)
{
    char path[512];
    store *store;
    error error = {0};
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
        _exit(10);
    snprintf(path, sizeof path, "%s/new.db", directory);
    if (store_open(path, STORE_WRITE, &store, &error))
        _exit(11);
    if (error.code != EXIT_CODE_ENVIRONMENT || !strstr(error.message, "Permission denied"))
        _exit(12);
    snprintf(path, sizeof path, "%s/old.db", directory);
    if (store_open(path, STORE_WRITE, &store, &error) || error.code != EXIT_CODE_ENVIRONMENT)
        _exit(13);
    /* What may be read is read, without the files that SQLite would like to make beside it. */
    if (!store_open(path, STORE_READ, &store, &error))
        _exit(14);
    int64_t run;
    _exit(store_latest_run(store, &run, &error) && run == 1 ? 0 : 15);
}

static void test_unwritable(void **state)
{
    store *store = opened(scratch_path(state, "old.db"), STORE_WRITE);
    case_key key = sample_key();
    repetition put = {0, 0, 0, 1, 1, 1};
    CHECK(store_put_repetition(store, begun(store), &key, &put, &problem));
    store_close(store);
    assert_int_equal(chmod(*state, 0555), 0);
    pid_t child = fork();
    if (child == 0)
        check_unwritable(*state);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(chmod(*state, 0755), 0);
    assert_int_equal(status, 0);
}

/* --- versions --------------------------------------------------------------------------------- */

static int64_t number(const store *store, const char *sql)
{
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_prepare_v2(store->database, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int64_t value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

static void test_migration(void **state)
{
    static const char *const steps[] = {
        "CREATE TABLE a (x); INSERT INTO a VALUES (1)",
        "ALTER TABLE a ADD COLUMN y; UPDATE a SET y = x + 41",
        "INSERT INTO a VALUES (2, 0); INSERT INTO nowhere VALUES (1)",
    };
    const char *path = scratch_path(state, "old.db");
    store store = {.path = (char *)path};
    assert_int_equal(sqlite3_open(path, &store.database), SQLITE_OK);
    CHECK(store_migrate(&store, steps, 1, &problem));
    assert_int_equal(number(&store, "PRAGMA user_version"), 1);
    assert_int_equal(number(&store, "PRAGMA application_id"), STORE_APPLICATION_ID);
    CHECK(
        store_migrate(&store, steps, 2, &problem)); /* only the second step, or x is there twice */
    assert_int_equal(number(&store, "PRAGMA user_version"), 2);
    assert_int_equal(number(&store, "SELECT sum(y) FROM a"), 42);
    /* A step that fails leaves everything as it was. */
    assert_false(store_migrate(&store, steps, 3, &problem));
    assert_int_equal(number(&store, "PRAGMA user_version"), 2);
    assert_int_equal(number(&store, "SELECT count(*) FROM a"), 1);
    assert_false(store_migrate(&store, steps, 1, &problem));
    assert_non_null(strstr(problem.message, "newer"));
    sqlite3_close(store.database);
}

/* Two at once: the second waits for the first, nobody loses anything. */
static void test_two_writers(void **state)
{
    const char *path = scratch_path(state, "shared.db");
    store *a = opened(path, STORE_WRITE), *b = opened(path, STORE_WRITE);
    store *reader = opened(path, STORE_READ);
    int64_t run_a = begun(a), run_b = begun(b);
    assert_true(run_a != run_b);
    case_key key = sample_key();
    for (unsigned i = 0; i < 20; i++) {
        repetition put = {0, i, 0, 1, i, 1};
        CHECK(store_put_repetition(a, run_a, &key, &put, &problem));
        CHECK(store_put_repetition(b, run_b, &key, &put, &problem));
        stored_run info;
        CHECK(store_run(reader, run_a, &info, &problem));
        assert_int_equal(info.repetitions, i + 1);
    }
    assert_false(store_end_run(reader, run_a, RUN_COMPLETE, &problem));
    assert_non_null(strstr(problem.message, "permission"));
    store_close(a);
    store_close(b);
    store_close(reader);
}

#define SCRATCH_TEST(test) cmocka_unit_test_setup_teardown(test, scratch_create, scratch_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_metric_list),
        SCRATCH_TEST(test_round_trip),
        SCRATCH_TEST(test_machine_and_kernels),
        SCRATCH_TEST(test_special_doubles),
        SCRATCH_TEST(test_accuracy_updates),
        SCRATCH_TEST(test_keys),
        SCRATCH_TEST(test_undone),
        SCRATCH_TEST(test_processes),
        SCRATCH_TEST(test_rows),
        SCRATCH_TEST(test_runs),
        SCRATCH_TEST(test_kill),
        SCRATCH_TEST(test_full),
        SCRATCH_TEST(test_file_size_limit),
        SCRATCH_TEST(test_not_ours),
        SCRATCH_TEST(test_newer),
        SCRATCH_TEST(test_corrupt),
        SCRATCH_TEST(test_truncated),
        SCRATCH_TEST(test_unwritable),
        SCRATCH_TEST(test_migration),
        SCRATCH_TEST(test_two_writers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
