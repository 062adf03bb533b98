/* SPDX-License-Identifier: Apache-2.0 */
/* What a benchmark function can do with its state. */
#include "capture.h"
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

typedef struct counts {
    int64_t calls, iterations, batches, max_iterations, before, after;
} counts;

static void keep_running(hayai_state *state, void *user)
{
    counts *seen = user;
    seen->calls++;
    seen->before = hayai_state_iterations(state);
    seen->max_iterations = hayai_state_max_iterations(state);
    while (hayai_state_keep_running(state))
        seen->iterations++;
    seen->after = hayai_state_iterations(state);
    assert_false(hayai_state_keep_running(state)); /* and stays so */
    assert_int_equal(hayai_state_batch(state), 0);
}

static void batch(hayai_state *state, void *user)
{
    counts *seen = user;
    seen->calls++;
    for (int64_t n; (n = hayai_state_batch(state)) > 0;) {
        seen->iterations += n;
        seen->batches++;
    }
    seen->after = hayai_state_iterations(state);
}

static void batch_after_steps(hayai_state *state, void *user)
{
    counts *seen = user;
    for (int i = 0; i < 3 && hayai_state_keep_running(state); i++)
        seen->iterations++;
    for (int64_t n; (n = hayai_state_batch(state)) > 0;)
        seen->iterations += n;
}

static void batches_of_seven(hayai_state *state, void *user)
{
    counts *seen = user;
    while (hayai_state_keep_running_batch(state, 7))
        seen->iterations += 7;
    seen->after = hayai_state_iterations(state);
}

/* Runs a function for 100 iterations; the run that was reported. */
static captured run_loop(hayai_function *function, void *user)
{
    hayai_benchmark *benchmark;
    hayai_suite *suite = suite_of("loop", function, user, &benchmark);
    hayai_benchmark_iterations(benchmark, 100);
    return capture_first(suite);
}

TEST(test_keep_running_runs_each_iteration)
{
    counts seen = {0};
    const captured run = run_loop(keep_running, &seen);
    assert_int_equal(seen.calls, 1);
    assert_int_equal(seen.iterations, 100);
    assert_int_equal(seen.before, 0);
    assert_int_equal(seen.after, 100);
    assert_int_equal(seen.max_iterations, 100);
    assert_int_equal(run.run.iterations, 100);
    assert_string_equal(run.name, "loop/iterations:100");
    assert_true(run.run.real_time > 0 && run.run.real_seconds > 0);
}

TEST(test_batch_hands_over_the_whole_count_once)
{
    counts seen = {0};
    const captured run = run_loop(batch, &seen);
    assert_int_equal(seen.batches, 1);
    assert_int_equal(seen.iterations, 100);
    assert_int_equal(seen.after, 100);
    assert_int_equal(run.run.iterations, 100);
    assert_true(run.run.real_seconds > 0);
}

TEST(test_batch_takes_what_single_steps_left)
{
    counts seen = {0};
    assert_int_equal(run_loop(batch_after_steps, &seen).run.skipped, HAYAI_SKIP_NONE);
    assert_int_equal(seen.iterations, 100);
}

TEST(test_keep_running_batch_counts_its_overshoot)
{
    counts seen = {0};
    const captured run = run_loop(batches_of_seven, &seen);
    assert_int_equal(seen.iterations, 105);
    assert_int_equal(seen.after, 105);
    assert_int_equal(run.run.iterations, 105);
}

static void empty_batch(hayai_state *state, void *user)
{
    (void)user;
    while (hayai_state_keep_running_batch(state, 0))
        fail_msg("a batch of nothing was run");
}

static void no_loop(hayai_state *state, void *user)
{
    (void)state;
    (void)user;
}

static void half_a_loop(hayai_state *state, void *user)
{
    (void)user;
    assert_true(hayai_state_keep_running(state));
}

static void paused_half_a_loop(hayai_state *state, void *user)
{
    half_a_loop(state, user);
    assert_int_equal(hayai_state_pause(state), HAYAI_OK);
}

/* Google Benchmark aborts on all of these. */
TEST(test_a_wrong_loop_is_an_error_not_an_abort)
{
    hayai_function *const wrong[] = {empty_batch, no_loop, half_a_loop, paused_half_a_loop};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const captured run = run_loop(wrong[i], NULL);
        assert_int_equal(run.run.skipped, HAYAI_SKIP_ERROR);
        assert_true(strlen(run.message) > 0);
    }
    assert_non_null(strstr(run_loop(half_a_loop, NULL).message, "before its loop ended"));
    assert_non_null(strstr(run_loop(no_loop, NULL).message, "without running its loop"));
}

/* ---- Timing ---------------------------------------------------------------------------------- */

static void sleep_for(long milliseconds)
{
    const struct timespec time = {.tv_nsec = milliseconds * 1000000};
    nanosleep(&time, NULL);
}

static void pause_and_sleep(hayai_state *state, void *user)
{
    (void)user;
    while (hayai_state_keep_running(state)) {
        assert_int_equal(hayai_state_pause(state), HAYAI_OK);
        assert_int_equal(hayai_state_pause(state), HAYAI_ERROR_STATE);
        sleep_for(50);
        assert_int_equal(hayai_state_resume(state), HAYAI_OK);
        assert_int_equal(hayai_state_resume(state), HAYAI_ERROR_STATE);
    }
    assert_int_equal(hayai_state_pause(state), HAYAI_ERROR_STATE);
    assert_int_equal(hayai_state_resume(state), HAYAI_ERROR_STATE);
}

static void resume_and_sleep(hayai_state *state, void *user)
{
    (void)user;
    assert_int_equal(hayai_state_pause(state), HAYAI_ERROR_STATE);
    while (hayai_state_keep_running(state)) {
        hayai_state_pause(state);
        hayai_state_resume(state);
        sleep_for(2);
    }
}

static void pause_to_the_end(hayai_state *state, void *user)
{
    (void)user;
    int left = 3;
    while (hayai_state_keep_running(state))
        if (--left == 0)
            assert_int_equal(hayai_state_pause(state), HAYAI_OK);
}

static captured run_iterations(hayai_function *function, int64_t iterations)
{
    hayai_benchmark *benchmark;
    hayai_suite *suite = suite_of("time", function, NULL, &benchmark);
    hayai_benchmark_iterations(benchmark, iterations);
    return capture_first(suite);
}

/* Had the pause not stopped the clock, the 50 ms would be in every try. */
TEST(test_pause_stops_the_clock)
{
    double seconds = 1;
    for (int i = 0; i < 20 && seconds >= 0.05; i++)
        seconds = run_iterations(pause_and_sleep, 1).run.real_seconds;
    assert_true(seconds < 0.05);
}

/* A sleep is never shorter than asked for. */
TEST(test_resume_starts_the_clock)
{
    assert_true(run_iterations(resume_and_sleep, 3).run.real_seconds >= 0.006);
}

TEST(test_a_loop_may_end_paused)
{
    assert_int_equal(run_iterations(pause_to_the_end, 3).run.skipped, HAYAI_SKIP_NONE);
}

static void tell_the_time(hayai_state *state, void *user)
{
    (void)user;
    while (hayai_state_keep_running(state))
        assert_int_equal(hayai_state_set_iteration_time(state, 0.25), HAYAI_OK);
    assert_int_equal(hayai_state_set_iteration_time(state, -1), HAYAI_ERROR_ARGUMENT);
    assert_int_equal(hayai_state_set_iteration_time(state, NAN), HAYAI_ERROR_ARGUMENT);
    assert_int_equal(hayai_state_set_iteration_time(state, INFINITY), HAYAI_ERROR_ARGUMENT);
}

TEST(test_manual_time_is_what_was_told)
{
    hayai_benchmark *benchmark;
    hayai_suite *suite = suite_of("manual", tell_the_time, NULL, &benchmark);
    hayai_benchmark_use_manual_time(benchmark);
    hayai_benchmark_iterations(benchmark, 4);
    const captured run = capture_first(suite);
    assert_string_equal(run.name, "manual/iterations:4/manual_time");
    assert_close(run.run.real_seconds, 1);
    assert_close(run.run.real_time, 0.25e9);
}

/* ---- Skipping -------------------------------------------------------------------------------- */

typedef struct skip_plan {
    hayai_status (*how)(hayai_state *, const char *);
    int after; /* iterations; -1: before the loop */
    int done;
    bool error;
} skip_plan;

static void skip_somewhere(hayai_state *state, void *user)
{
    skip_plan *plan = user;
    assert_false(hayai_state_skipped(state));
    if (plan->after < 0)
        assert_int_equal(plan->how(state, "why"), HAYAI_OK);
    while (hayai_state_keep_running(state))
        if (plan->done++ == plan->after)
            assert_int_equal(plan->how(state, "why"), HAYAI_OK);
    assert_true(hayai_state_skipped(state));
    assert_int_equal(hayai_state_error_occurred(state), plan->error);
    assert_int_equal(plan->how(state, "again"), HAYAI_ERROR_STATE);
    assert_int_equal(plan->how(state, NULL), HAYAI_ERROR_ARGUMENT);
}

TEST(test_skip_with_error)
{
    for (int after = -1; after < 2; after++) {
        skip_plan plan = {hayai_state_skip_with_error, after, 0, true};
        const captured run = run_loop(skip_somewhere, &plan);
        assert_int_equal(run.run.skipped, HAYAI_SKIP_ERROR);
        assert_string_equal(run.message, "why");
        assert_int_equal(plan.done, after + 1);
        assert_true(run.run.real_time == 0);
    }
}

TEST(test_skip_with_message)
{
    skip_plan plan = {hayai_state_skip_with_message, 1, 0, false};
    const captured run = run_loop(skip_somewhere, &plan);
    assert_int_equal(run.run.skipped, HAYAI_SKIP_MESSAGE);
    assert_string_equal(run.message, "why");
}

static void skip_the_first_call_only(hayai_state *state, void *user)
{
    int *calls = user;
    if ((*calls)++ == 1)
        hayai_state_skip_with_error(state, "the second");
    else
        while (hayai_state_keep_running(state))
            continue;
}

/* Google Benchmark aborts where repetitions differ in their iterations. */
TEST(test_one_failed_repetition_of_several)
{
    int calls = 0;
    hayai_benchmark *benchmark;
    hayai_suite *suite = suite_of("some", skip_the_first_call_only, &calls, &benchmark);
    capture *got = capture_create();
    hayai_summary summary;
    hayai_benchmark_repetitions(benchmark, 4);
    hayai_benchmark_iterations(benchmark, 50);
    assert_int_equal(capture_run(got, suite, NULL, &summary), HAYAI_OK);
    assert_int_equal(summary.runs, 4);
    assert_int_equal(summary.errors, 1);
    assert_int_equal(got->runs[1].run.skipped, HAYAI_SKIP_ERROR);
    assert_int_equal(got->runs[2].run.skipped, HAYAI_SKIP_NONE);
    assert_true(capture_has(got, "some/iterations:50/repeats:4_mean"));
}

/* ---- Ranges, names, threads ------------------------------------------------------------------ */

static void read_ranges(hayai_state *state, void *user)
{
    (void)user;
    assert_int_equal(hayai_state_range_count(state), 2);
    assert_int_equal(hayai_state_range(state, 0), 7);
    assert_int_equal(hayai_state_range(state, 1), -3);
    assert_string_equal(hayai_state_name(state), "ranges/7/-3");
    empty_loop(state, NULL);
}

static void read_beyond(hayai_state *state, void *user)
{
    (void)user;
    assert_int_equal(hayai_state_range(state, 2), 0);
    empty_loop(state, NULL);
}

TEST(test_ranges_by_index)
{
    static const int64_t values[] = {7, -3};
    hayai_benchmark *good, *bad;
    hayai_suite *suite = suite_of("ranges", read_ranges, NULL, &good);
    hayai_suite_add(suite, "beyond", read_beyond, NULL, &bad);
    hayai_benchmark_args(good, values, 2);
    hayai_benchmark_args(bad, values, 2);
    capture *got = capture_create();
    assert_int_equal(capture_run(got, suite, NULL, NULL), HAYAI_OK);
    assert_int_equal(got->runs[0].run.skipped, HAYAI_SKIP_NONE);
    assert_string_equal(got->runs[0].arguments, "7/-3");
    assert_string_equal(got->runs[1].message, "argument 2 asked for, but there are 2");
}

typedef struct thread_use {
    pthread_mutex_t mutex;
    unsigned seen; /* a bit for each index */
    int threads;
} thread_use;

static void note_thread(hayai_state *state, void *user)
{
    thread_use *use = user;
    while (hayai_state_keep_running(state))
        continue;
    pthread_mutex_lock(&use->mutex);
    use->seen |= 1u << hayai_state_thread_index(state);
    use->threads = hayai_state_threads(state);
    pthread_mutex_unlock(&use->mutex);
    hayai_state_set_items_processed(state, hayai_state_iterations(state));
}

TEST(test_threads_and_their_index)
{
    thread_use use = {.mutex = PTHREAD_MUTEX_INITIALIZER};
    hayai_benchmark *benchmark;
    hayai_suite *suite = suite_of("threads", note_thread, &use, &benchmark);
    hayai_benchmark_threads(benchmark, 3);
    hayai_benchmark_iterations(benchmark, 10);
    const captured run = capture_first(suite);
    assert_int_equal(use.seen, 7);
    assert_int_equal(use.threads, 3);
    assert_int_equal(run.run.threads, 3);
    assert_int_equal(run.run.iterations, 30);
    assert_string_equal(run.name, "threads/iterations:10/threads:3");
}

static void one_thread_fails(hayai_state *state, void *user)
{
    (void)user;
    if (hayai_state_thread_index(state) == 1)
        return;
    while (hayai_state_keep_running(state))
        continue;
}

TEST(test_a_thread_that_returns_does_not_hang_the_others)
{
    hayai_benchmark *benchmark;
    hayai_suite *suite = suite_of("threads", one_thread_fails, NULL, &benchmark);
    hayai_benchmark_threads(benchmark, 2);
    assert_int_equal(capture_first(suite).run.skipped, HAYAI_SKIP_ERROR);
}

static void run_inside_a_run(hayai_state *state, void *user)
{
    hayai_suite *suite = user;
    assert_int_equal(hayai_suite_run(suite, NULL, NULL), HAYAI_ERROR_STATE);
    assert_string_equal(hayai_last_message(), "another run is under way");
    empty_loop(state, NULL);
}

TEST(test_a_run_inside_a_run_is_refused)
{
    hayai_suite *suite = suite_empty();
    hayai_suite_add(suite, "nested", run_inside_a_run, suite, NULL);
    assert_int_equal(capture_first(suite).run.skipped, HAYAI_SKIP_NONE);
}

/* ---- Scoped pause ---------------------------------------------------------------------------- */

static void pause_in_blocks(hayai_state *state, void *user)
{
    hayai_status *inner = user;
    {
        HAYAI_SCOPED_PAUSE(state); /* outside the loop: nothing to pause, nothing to resume */
    }
    while (hayai_state_keep_running(state)) {
        for (int i = 0; i < 3; i++) {
            HAYAI_SCOPED_PAUSE(state);
            {
                HAYAI_SCOPED_PAUSE(state); /* is not the one that paused */
            }
            inner[0] = hayai_state_pause(state); /* still paused */
            if (i == 1)
                continue; /* leaves the block like any other way */
        }
        inner[1] = hayai_state_resume(state);
        HAYAI_SCOPED_PAUSE(state);
        hayai_state_resume(state); /* by hand: the end of the block has nothing to do */
        inner[2] = hayai_state_pause(state);
        inner[3] = hayai_state_resume(state);
    }
}

TEST(test_a_scoped_pause)
{
    hayai_status inner[4] = {0};
    capture *got = capture_create();
    hayai_suite *suite = suite_of("pause", pause_in_blocks, inner, NULL);
    const hayai_options options = {.iterations = 5};
    assert_int_equal(capture_run(got, suite, &options, NULL), HAYAI_OK);
    assert_int_equal(got->runs[0].run.skipped, HAYAI_SKIP_NONE);
    assert_int_equal(inner[0], HAYAI_ERROR_STATE);
    assert_int_equal(inner[1], HAYAI_ERROR_STATE);
    assert_int_equal(inner[2], HAYAI_OK);
    assert_int_equal(inner[3], HAYAI_OK);
}
