/* The speed half of a run, with kernels that fail only while they are timed. */
#include "scratch.h"
#include "store/store.h"
#include "run/session.h"
#include "test.h"
#include <math.h>

/* A session in its own database, its request, and its stored cases. */
typedef struct session_trial {
    plan_request request;
    kernel_list kernels;
    run_session session;
    stored_cases cases;
} session_trial;

/* Sets the request, which may be changed before the trial begins. */
static void trial_of(session_trial *trial, const char *kernels, const char *shapes)
{
    *trial = (struct session_trial){
        .request = {.name = "quick", .only = "speed", .seed = 1, .processes = 1, .repetitions = 8}};
    word_list_split(&trial->request.kernels, kernels);
    word_list_split(&trial->request.shapes, shapes);
}

static void trial_begin(void **state, session_trial *trial)
{
    run_session *session = &trial->session;
    const char *plugins[] = {SABOTAGE_PLUGIN};
    judge_settings settings = {.seed = 1, .max_row_ulp = INFINITY, .deadline_seconds = 10};
    setenv("LNBENCH_WORKER", LNBENCH_WORKER_PATH, 1);
    setenv("LNBENCH_LIBRARY", LNBENCH_LIBRARY_PATH, 1);
    *session = (struct run_session){.cpu = -1, .deadline_seconds = 10};
    machine_read(&session->machine);
    session->worker = worker_start(plugins, 1, &trial->kernels);
    session->store = store_open(scratch_path(state, "session.db"), STORE_WRITE);
    plan_make(&trial->request, &trial->kernels, &session->machine, &session->plan);
    session->judge = judge_create(worker_runner(session->worker), &settings);
    assert_non_null(session->judge);
    run_info info = {
        .command_line = "", .plan = "quick", .plan_hash = "0", .machine = &session->machine};
    session->run = store_begin_run(session->store, &info);
}

static void run_speed(session_trial *trial)
{
    assert_true(session_speed(&trial->session));
}

/* Reads the cases that are stored so far. */
static void read_cases(session_trial *trial)
{
    stored_cases_free(&trial->cases);
    trial->cases = store_cases(trial->session.store, trial->session.run);
}

static void trial_end(session_trial *trial)
{
    run_session *session = &trial->session;
    stored_cases_free(&trial->cases);
    store_close(session->store);
    judge_destroy(session->judge);
    worker_stop(session->worker);
    plan_free(&session->plan);
    machine_free(&session->machine);
    kernel_list_free(&trial->kernels);
    word_list *lists[] = {&trial->request.kernels, &trial->request.shapes, &trial->request.inputs,
                          &trial->request.conventions, &trial->request.caches};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        word_list_free(lists[i]);
}

static const stored_case *case_of(const stored_cases *cases, const char *kernel)
{
    for (size_t i = 0; i < cases->count; i++)
        if (strcmp(cases->cases[i].key.kernel, kernel) == 0)
            return &cases->cases[i];
    fail_msg("no case of %s", kernel);
    return NULL;
}

static unsigned processes_of(const stored_case *stored)
{
    unsigned count = 0;
    for (size_t i = 0; i < stored->repetition_count; i++)
        count += i == 0 || stored->repetitions[i].process != stored->repetitions[i - 1].process;
    return count;
}

/* The measurements of a process in which a kernel crashed are dropped, because memory may have been damaged. The other
 * kernels are timed to the end without it. */
TEST_IN_SCRATCH(one_that_crashes_late_spoils_nothing)
{
    session_trial trial;
    trial_of(&trial, "special.crashes_late,two_pass_f32_scalar", "1024x4096");
    trial_begin(state, &trial);
    run_speed(&trial);
    read_cases(&trial);
    const stored_case *bad = case_of(&trial.cases, "special.crashes_late");
    const stored_case *good = case_of(&trial.cases, "two_pass_f32_scalar");
    assert_int_equal(bad->verdict.kind, VERDICT_CRASHED);
    assert_true(isnan(bad->bound_row_ulp));
    assert_int_equal(bad->repetition_count, 0);
    assert_int_equal(good->verdict.kind, VERDICT_PASS);
    assert_int_equal(processes_of(good), 1);
    assert_int_equal(good->repetition_count, 8);

    /* After a resume the crashed kernel stays out, with its verdict, and the others get their missing repetitions. */
    trial.session.resumed = true;
    trial.session.plan.speed[0].processes = 2;
    run_speed(&trial);
    read_cases(&trial);
    bad = case_of(&trial.cases, "special.crashes_late");
    assert_int_equal(bad->verdict.kind, VERDICT_CRASHED);
    assert_int_equal(bad->repetition_count, 0);
    assert_int_equal(processes_of(case_of(&trial.cases, "two_pass_f32_scalar")), 2);
    trial_end(&trial);
}

/* A kernel adds one ulp in some rows of the batch, which were never judged alone. They are timed to the end, and their
 * errors count. */
static void the_worst_error_is_over_all_that_was_timed(const stored_cases *cases)
{
    const stored_case *plain = case_of(cases, "two_pass_f32_scalar");
    const stored_case *moved = case_of(cases, "special.position_rounding");
    assert_true(moved->repetition_count >= 8);
    assert_true(moved->metrics.elements > plain->metrics.elements);
    assert_true(moved->metrics.ulp_bias > plain->metrics.ulp_bias);
    assert_true(moved->metrics.row_ulp_max > plain->metrics.row_ulp_max);
    assert_true(moved->metrics.row_ulp_max <= plain->metrics.row_ulp_max + 1);
    assert_true(case_of(cases, "special.position_wrong")->repetition_count >= 8);
    assert_true(case_of(cases, "special.position_wrong")->metrics.row_ulp_max > 1000);
}

/* Kernels that pass when they are judged and fail in timing are each named. */
TEST_IN_SCRATCH(what_goes_wrong_while_timed_is_named)
{
    static const struct {
        const char *kernel;
        verdict_kind verdict;
    } expected[] = {
        {"naive.wrong_when_timed", VERDICT_INACCURATE},
        {"special.flickers_when_timed", VERDICT_NONDETERMINISTIC},
        {"special.position_wrong", VERDICT_INACCURATE},
        {"special.position_nan", VERDICT_WRONG_CLASS},
        {"special.position_rounding", VERDICT_PASS_NO_BOUND},
        {"naive.crash_when_timed", VERDICT_CRASHED},
        {"special.overruns_when_timed", VERDICT_OVERRUN},
        {"special.flushes_when_timed", VERDICT_STATE_CHANGED},
        {"special.refuses_many_rows", VERDICT_UNSUPPORTED},
        {"naive.eps_on_wrong_side", VERDICT_INACCURATE},
        {"naive.good", VERDICT_PASS_NO_BOUND},
    };
    session_trial trial;
    trial_of(&trial,
             "naive.wrong_when_timed,naive.crash_when_timed,special.overruns_when_timed,"
             "special.flickers_when_timed,special.position_*,two_pass_f32_scalar,"
             "special.flushes_when_timed,special.refuses_many_rows,naive.eps_on_wrong_side,"
             "naive.good",
             "2000x96");
    trial_begin(state, &trial);
    run_speed(&trial);
    read_cases(&trial);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const case_verdict *found = &case_of(&trial.cases, expected[i].kernel)->verdict;
        if (found->kind != expected[i].verdict)
            fail_msg("%s: %s(%s)", expected[i].kernel, verdict_phrase(found->kind), found->detail);
    }
    assert_true(case_of(&trial.cases, "naive.good")->repetition_count >= 8);
    the_worst_error_is_over_all_that_was_timed(&trial.cases);
    assert_true(case_of(&trial.cases, "copy")->repetition_count >= 8);
    trial_end(&trial);
}

/* The first process searches for the number of calls; later ones get it, and fewer rounds if a single call is long: of
 * 3 x 6 repetitions, 6 + 2 x 2 remain. */
TEST_IN_SCRATCH(later_processes_make_the_same_number_of_calls)
{
    enum { ROUNDS = 6, PROCESSES = 3, FEWER = 2 };
    session_trial trial;
    trial_of(&trial, "two_pass_f32_scalar", "64x768");
    trial.request.processes = PROCESSES;
    trial.request.repetitions = ROUNDS;
    trial_begin(state, &trial);
    speed_group *group = &trial.session.plan.speed[0];
    group->min_seconds = 0.003;
    assert_int_equal(group->slow_repetitions, ROUNDS); /* the user's number is kept */
    group->slow_repetitions = FEWER;
    run_speed(&trial);
    group->rows++;
    group->min_seconds = 1e-7; /* so that every call is long */
    run_speed(&trial);
    read_cases(&trial);
    for (size_t i = 0; i < trial.cases.count; i++) {
        const stored_case *timed = &trial.cases.cases[i];
        bool slow = timed->key.rows == 65;
        double least_ns = INFINITY;
        for (size_t at = 0; at < ROUNDS; at++)
            least_ns = fmin(least_ns, timed->repetitions[at].real_ns);
        assert_int_equal(timed->repetition_count,
                         ROUNDS + (PROCESSES - 1) * (slow ? FEWER : ROUNDS));
        assert_int_equal(timed->repetitions[ROUNDS].iterations,
                         slow ? 1 : (uint64_t)round(0.003 * 1e9 / least_ns));
    }
    trial_end(&trial);
}

/* A call in place overwrites its input, so the input is restored; otherwise the second call would normalise the output
 * of the first one, and no output would be the judged one. The copies run in place too. */
TEST_IN_SCRATCH(what_is_timed_in_place_is_what_was_judged)
{
    session_trial trial;
    trial_of(&trial,
             "two_pass_f32_scalar,special.late_in_place,special.not_in_place,naive.good,"
             "special.position_rounding,special.flickers_when_timed,special.overruns_when_timed",
             "2000x96,3x8");
    word_list_split(&trial.request.caches, "in-place,hot");
    trial_begin(state, &trial);
    run_speed(&trial);
    read_cases(&trial);
    size_t in_place = 0;
    for (size_t i = 0; i < trial.cases.count; i++) {
        const stored_case *one = &trial.cases.cases[i];
        bool many = one->key.rows == 2000, timed = one->repetition_count >= 8;
        if (one->key.cache != CACHE_IN_PLACE)
            continue;
        in_place++;
        verdict_kind expected =
            !strcmp(one->key.kernel, "two_pass_f32_scalar")             ? VERDICT_PASS
            : !strcmp(one->key.kernel, "special.not_in_place")          ? VERDICT_UNSUPPORTED
            : many && !strcmp(one->key.kernel, "special.late_in_place") ? VERDICT_INACCURATE
            : many && !strcmp(one->key.kernel, "special.flickers_when_timed")
                ? VERDICT_NONDETERMINISTIC
            : many && !strcmp(one->key.kernel, "special.overruns_when_timed")
                ? VERDICT_OVERRUN
                : VERDICT_PASS_NO_BOUND;
        if (!is_copy(one->key.kernel) && one->verdict.kind != expected)
            fail_msg("%s, %zu rows: %s(%s)", one->key.kernel, one->key.rows,
                     verdict_phrase(one->verdict.kind), one->verdict.detail);
        bool fits = is_copy(one->key.kernel) || expected == VERDICT_PASS ||
                    expected == VERDICT_PASS_NO_BOUND || expected == VERDICT_INACCURATE;
        assert_int_equal(timed, fits);
    }
    assert_int_equal(in_place, 2 * (7 + COPY_KINDS));
    trial_end(&trial);
}

static void take_reals(void *into, const stored_table *part)
{
    for (size_t i = 0; i < part->columns && part->rows > 0; i++)
        ((double *)into)[i] = part->cells[i].real;
}

/* SQL: the largest |mean_error| and |rstd_error| of the rows of a kernel. */
static const char statistics_sql[] =
    "SELECT max(abs(mean_error)), max(abs(rstd_error)) FROM cells JOIN cases ON cell = cells.id "
    "JOIN "
    "judged_rows ON case_id = cases.id WHERE run = ?1 AND kernel = ";

/* Compares the rows' errors of mean and rstd with the case's, which the metrics count in ulp: an ulp of f32 is 2^-24 to
 * 2^-23 of a value; a row's RMS is at least its mean. */
TEST_IN_SCRATCH(rows_keep_the_errors_of_their_statistics)
{
    session_trial trial;
    double worst[2];
    char sql[300];
    trial_of(&trial, "two_pass_f32_scalar,two_pass_two_rstd_f32_acc_f64_scalar", "9x100");
    trial.request.only = "accuracy";
    word_list_split(&trial.request.inputs, "offset");
    word_list_split(&trial.request.conventions, "torch");
    trial_begin(state, &trial);
    assert_true(session_accuracy(&trial.session));
    read_cases(&trial);
    snprintf(sql, sizeof sql, "%s'two_pass_f32_scalar'", statistics_sql);
    store_query(trial.session.store, sql, trial.session.run, 1, take_reals, worst);
    const double mean = worst[0], rstd = worst[1];
    const ln_metrics *metrics = &case_of(&trial.cases, "two_pass_f32_scalar")->metrics;
    assert_true(rstd > 0 && metrics->rstd_ulp_max >= rstd * 0x1p23 * (1 - 0x1p-40) &&
                metrics->rstd_ulp_max <= rstd * 0x1p24 * (1 + 0x1p-40));
    assert_true(mean > 0 && mean <= metrics->mean_ulp_max * 0x1p-23);
    /* The kernel returns them in f64, not rounded to the type of the row. */
    snprintf(sql, sizeof sql, "%s'two_pass_two_rstd_f32_acc_f64_scalar'", statistics_sql);
    store_query(trial.session.store, sql, trial.session.run, 1, take_reals, worst);
    assert_true(worst[0] < 0x1p-30 && worst[1] < 0x1p-30);
    trial_end(&trial);
}
