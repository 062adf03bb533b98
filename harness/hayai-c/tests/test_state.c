/* SPDX-License-Identifier: Apache-2.0 */
/* Tests a benchmark function's calls with its state, and careless callers. */
#include "capture.h"
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- The state ------------------------------------------------------------------------------- */

/* The calls of a benchmark function with its state. */

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
    assert_false(hayai_state_keep_running(state)); /* and it remains false */
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

/* Runs a function for 100 iterations, and returns the reported run. */
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

/* If the pause did not stop the clock, every try would have the 50 ms. */
TEST(test_pause_stops_the_clock)
{
    double seconds = 1;
    for (int i = 0; i < 20 && seconds >= 0.05; i++)
        seconds = run_iterations(pause_and_sleep, 1).run.real_seconds;
    assert_true(seconds < 0.05);
}

/* A sleep never takes less than the requested time. */
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

TEST(test_manual_time_is_what_was_reported)
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

typedef struct skip_plan {
    hayai_status (*how)(hayai_state *, const char *);
    int after; /* number of iterations; -1: before the loop */
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

/* Google Benchmark aborts if repetitions differ in their iterations. */
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

static void pause_in_blocks(hayai_state *state, void *user)
{
    hayai_status *inner = user;
    {
        HAYAI_SCOPED_PAUSE(state); /* outside the loop there is nothing to pause or resume */
    }
    while (hayai_state_keep_running(state)) {
        for (int i = 0; i < 3; i++) {
            HAYAI_SCOPED_PAUSE(state);
            {
                HAYAI_SCOPED_PAUSE(state); /* did not pause, so it does not resume */
            }
            inner[0] = hayai_state_pause(state); /* still paused */
            if (i == 1)
                continue; /* leaves the block in another way */
        }
        inner[1] = hayai_state_resume(state);
        HAYAI_SCOPED_PAUSE(state);
        hayai_state_resume(state); /* by hand, so the end of the block does nothing */
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

/* ---- Counters -------------------------------------------------------------------------------- */

/* Counters: every combination of flags and both scales, checked against the arithmetic in Google
 * Benchmark's documentation of the flags. */

static const hayai_counter_flags single_flags[] = {
    HAYAI_COUNTER_IS_RATE, HAYAI_COUNTER_AVG_THREADS, HAYAI_COUNTER_IS_ITERATION_INVARIANT,
    HAYAI_COUNTER_AVG_ITERATIONS, HAYAI_COUNTER_INVERT};

static hayai_counter_flags combination(unsigned bits)
{
    hayai_counter_flags flags = HAYAI_COUNTER_DEFAULTS;
    for (unsigned i = 0; i < 5; i++)
        if (bits & 1u << i)
            flags |= single_flags[i];
    return flags;
}

static void name_of(char *name, unsigned bits)
{
    snprintf(name, CAPTURE_TEXT, "c%02u", bits);
}

static hayai_one_k scale_of(unsigned bits)
{
    return bits % 3 == 0 ? HAYAI_ONE_K_1024 : HAYAI_ONE_K_1000;
}

static void set_all_combinations(hayai_state *state, void *user)
{
    (void)user;
    while (hayai_state_keep_running(state))
        hayai_state_set_iteration_time(state, 0.125);
    for (unsigned bits = 0; bits < 32; bits++) {
        char name[CAPTURE_TEXT];
        hayai_counter_value back;
        name_of(name, bits);
        assert_int_equal(
            hayai_state_set_counter(state, name, 3 + bits, combination(bits), scale_of(bits)),
            HAYAI_OK);
        assert_int_equal(hayai_state_get_counter(state, name, &back), HAYAI_OK);
        assert_true(back.value == 3 + bits && back.flags == combination(bits) &&
                    back.one_k == scale_of(bits));
    }
}

/* Returns the divisor of a rate. Before 1.9 the reported time is an average of the threads; since
 * then it is their sum, and since 1.9.5 a rate is divided by the average again: in between, the
 * rate of threads is that of one of them. */
static double rate_seconds(double real_seconds, double threads)
{
    return library_version() >= 10905 ? real_seconds / threads : real_seconds;
}

static double expected_value(unsigned bits, double seconds, double threads, double iterations)
{
    const hayai_counter_flags flags = combination(bits);
    double value = (3 + bits) * threads; /* the threads' values are added */
    if (flags & HAYAI_COUNTER_IS_RATE)
        value /= seconds;
    if (flags & HAYAI_COUNTER_AVG_THREADS)
        value /= threads;
    if (flags & HAYAI_COUNTER_IS_ITERATION_INVARIANT)
        value *= iterations;
    if (flags & HAYAI_COUNTER_AVG_ITERATIONS)
        value /= iterations;
    return flags & HAYAI_COUNTER_INVERT ? 1 / value : value;
}

static void check_combinations(int threads)
{
    hayai_benchmark *benchmark;
    hayai_suite *suite = suite_of("counters", set_all_combinations, NULL, &benchmark);
    hayai_benchmark_use_manual_time(benchmark);
    hayai_benchmark_iterations(benchmark, 6);
    hayai_benchmark_threads(benchmark, threads);
    const captured first = capture_first(suite), *run = &first;
    assert_int_equal(run->run.counter_count, 32);
    if (threads == 1)
        assert_close(run->run.real_seconds, 6 * 0.125);
    for (unsigned bits = 0; bits < 32; bits++) {
        char name[CAPTURE_TEXT];
        name_of(name, bits);
        assert_string_equal(run->counters[bits].name, name);
        assert_close(run->counters[bits].value.value,
                     expected_value(bits, rate_seconds(run->run.real_seconds, threads), threads,
                                    6.0 * threads));
        assert_int_equal(run->counters[bits].value.flags, combination(bits));
        assert_int_equal(run->counters[bits].value.one_k, scale_of(bits));
    }
}

TEST(test_all_flags_with_one_thread)
{
    check_combinations(1);
}

TEST(test_all_flags_with_three_threads)
{
    check_combinations(3);
}

TEST(test_flags_have_google_benchmarks_values)
{
    assert_int_equal(HAYAI_COUNTER_AVG_THREADS_RATE, 3);
    assert_int_equal(HAYAI_COUNTER_ITERATION_INVARIANT_RATE, 5);
    assert_int_equal(HAYAI_COUNTER_AVG_ITERATIONS_RATE, 9);
}

static void process(hayai_state *state, void *user)
{
    (void)user;
    assert_int_equal(hayai_state_bytes_processed(state), 0);
    assert_int_equal(hayai_state_items_processed(state), 0);
    while (hayai_state_keep_running(state))
        hayai_state_set_iteration_time(state, 0.5);
    assert_int_equal(hayai_state_set_bytes_processed(state, 8192), HAYAI_OK);
    assert_int_equal(hayai_state_set_items_processed(state, 20), HAYAI_OK);
    assert_int_equal(hayai_state_bytes_processed(state), 8192);
    assert_int_equal(hayai_state_items_processed(state), 20);
    assert_int_equal(hayai_state_set_bytes_processed(state, -1), HAYAI_ERROR_ARGUMENT);
    assert_int_equal(hayai_state_set_items_processed(state, -1), HAYAI_ERROR_ARGUMENT);
    assert_int_equal(hayai_state_set_label(state, "a label"), HAYAI_OK);
    assert_int_equal(hayai_state_set_label(state, NULL), HAYAI_ERROR_ARGUMENT);
}

TEST(test_bytes_items_and_label)
{
    hayai_benchmark *benchmark;
    hayai_suite *suite = suite_of("processed", process, NULL, &benchmark);
    hayai_benchmark_use_manual_time(benchmark);
    hayai_benchmark_iterations(benchmark, 4);
    const captured run = capture_first(suite);
    assert_close(capture_counter(&run, "bytes_per_second"), 4096);
    assert_close(capture_counter(&run, "items_per_second"), 10);
    assert_int_equal(run.counters[0].value.one_k, HAYAI_ONE_K_1024);
    assert_int_equal(run.counters[1].value.one_k, HAYAI_ONE_K_1000);
    assert_string_equal(run.label, "a label");
}

static void misuse(hayai_state *state, void *user)
{
    int *calls = user;
    hayai_counter_value back;
    empty_loop(state, NULL);
    assert_int_equal(hayai_state_set_counter(state, NULL, 1, 0, HAYAI_ONE_K_1000),
                     HAYAI_ERROR_ARGUMENT);
    assert_int_equal(hayai_state_set_counter(state, "", 1, 0, HAYAI_ONE_K_1000),
                     HAYAI_ERROR_ARGUMENT);
    assert_int_equal(hayai_state_set_counter(state, "c", 1, 0x40, HAYAI_ONE_K_1000),
                     HAYAI_ERROR_ARGUMENT);
    assert_int_equal(hayai_state_set_counter(state, "c", 1, 0, (hayai_one_k)7),
                     HAYAI_ERROR_ARGUMENT);
    assert_int_equal(hayai_state_get_counter(state, "none", &back), HAYAI_ERROR_ARGUMENT);
    /* Google Benchmark aborts if repetitions differ in a counter's flags. */
    const hayai_counter_flags flags = (*calls)++ > 0 ? HAYAI_COUNTER_IS_RATE : 0;
    assert_int_equal(hayai_state_set_counter(state, "changing", 1, flags, HAYAI_ONE_K_1000),
                     flags ? HAYAI_ERROR_ARGUMENT : HAYAI_OK);
}

TEST(test_what_would_abort_is_refused)
{
    int calls = 0;
    hayai_benchmark *benchmark;
    hayai_suite *suite = suite_of("misuse", misuse, &calls, &benchmark);
    capture *got = capture_create();
    hayai_benchmark_repetitions(benchmark, 3);
    assert_int_equal(capture_run(got, suite, NULL, NULL), HAYAI_OK);
    assert_int_equal(calls, 3);
}

/* ---- Threads --------------------------------------------------------------------------------- */

/* More threads than the system allows, and the caller's own threads. */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

TEST(test_a_count_that_no_system_has)
{
    hayai_benchmark *benchmark;
    hayai_suite *suite = suite_of("many", empty_loop, NULL, &benchmark);
    assert_int_equal(hayai_benchmark_threads(benchmark, INT_MAX), HAYAI_ERROR_LIMIT);
    assert_string_equal(hayai_last_message(), "many: 2147483647 threads, at most 8192");
    assert_int_equal(hayai_benchmark_thread_range(benchmark, 1, INT_MAX), HAYAI_ERROR_LIMIT);
    assert_int_equal(hayai_benchmark_dense_thread_range(benchmark, 1, INT_MAX, 1),
                     HAYAI_ERROR_LIMIT);
    capture *got = capture_create();
    assert_int_equal(capture_run(got, suite, NULL, NULL), HAYAI_ERROR_LIMIT);
}

TEST(test_all_instances_count)
{
    hayai_benchmark *benchmark;
    suite_of("many", empty_loop, NULL, &benchmark);
    assert_int_equal(hayai_benchmark_dense_range(benchmark, 1, 200000, 1), HAYAI_OK);
    assert_int_equal(hayai_benchmark_dense_thread_range(benchmark, 1, 5, 1), HAYAI_OK);
    assert_int_equal(hayai_benchmark_threads(benchmark, 6), HAYAI_ERROR_LIMIT);
    assert_int_equal(hayai_benchmark_arg(benchmark, 1), HAYAI_ERROR_LIMIT);
}

static void do_nothing(const hayai_state *state, void *user)
{
    (void)state;
    (void)user;
}

/* Allocates memory before the other threads are created, unless it is delayed until then. */
static void allocate(hayai_state *state, void *user)
{
    void *bytes = malloc(1 << 20);
    hayai_do_not_optimize(bytes);
    empty_loop(state, user);
    free(bytes);
}

/* Returns the status of a run with these threads in a process with this much memory, or 255 for a
 * message that does not state the number of threads. Without a trial, the process would hang or end
 * by std::terminate(). */
static int run_with_little_memory(int threads, rlim_t bytes, bool with_set_up)
{
    hayai_benchmark *benchmark;
    hayai_suite *suite = suite_of("many", allocate, NULL, &benchmark);
    hayai_benchmark_threads(benchmark, threads);
    if (with_set_up)
        hayai_benchmark_set_up(benchmark, do_nothing, NULL);
    const hayai_options options = {.iterations = 1};
    const struct rlimit limit = {bytes, bytes};
    capture *got = capture_create();
    alarm(60);
    if (setrlimit(RLIMIT_AS, &limit) != 0)
        return 255;
    const hayai_status status = capture_run(got, suite, &options, NULL);
    if (status == HAYAI_ERROR_LIMIT && !strstr(hayai_last_message(), " threads now, only "))
        return 255;
    return (int)status;
}

static int status_with_little_memory(int threads, rlim_t bytes, bool with_set_up)
{
    const pid_t child = fork();
    if (child == 0)
        _exit(run_with_little_memory(threads, bytes, with_set_up));
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

TEST(test_too_little_memory_for_the_threads)
{
#ifdef SANITIZED
    skip(); /* they need more address space than a limit leaves */
#endif
    const rlim_t mebibyte = 1 << 20;
    for (int with_set_up = 0; with_set_up < 2; with_set_up++)
        assert_int_equal(status_with_little_memory(500, 512 * mebibyte, with_set_up),
                         HAYAI_ERROR_LIMIT);
    /* Memory for the stacks, but little more. */
    for (rlim_t size = 256; size < 4096; size += 128) {
        const int status = status_with_little_memory(100, size * mebibyte, size % 256 == 0);
        assert_true(status == HAYAI_OK || status == HAYAI_ERROR_LIMIT);
    }
}

typedef struct one_thread {
    hayai_thread_body *body;
    void *work;
    int index;
} one_thread;

static void *start(void *user)
{
    const one_thread *one = user;
    one->body(one->index, one->work);
    return NULL;
}

static void run_threads(int threads, hayai_thread_body *body, void *work, void *user)
{
    pthread_t handles[8];
    one_thread all[8];
    assert_true(threads <= 8);
    ++*(int *)user;
    for (int i = 1; i < threads; i++) {
        all[i] = (one_thread){body, work, i};
        assert_int_equal(pthread_create(&handles[i], NULL, start, &all[i]), 0);
    }
    body(0, work);
    body(threads, work); /* there is no such thread, so nothing happens */
    for (int i = 1; i < threads; i++)
        pthread_join(handles[i], NULL);
}

static void run_none(int threads, hayai_thread_body *body, void *work, void *user)
{
    (void)threads, (void)body, (void)work, (void)user;
}

static void count_threads(hayai_state *state, void *user)
{
    (void)user;
    empty_loop(state, NULL);
    hayai_state_set_counter(state, "index", hayai_state_thread_index(state), 0, HAYAI_ONE_K_1000);
}

TEST(test_a_thread_runner)
{
    int runs = 0;
    hayai_benchmark *benchmark;
    hayai_suite *suite = suite_of("own", count_threads, NULL, &benchmark);
    capture *got = capture_create();
    hayai_benchmark_threads(benchmark, 4);
    const hayai_status status = hayai_benchmark_thread_runner(benchmark, run_threads, &runs);
    assert_int_equal(status, library_version() < 10904 ? HAYAI_ERROR_UNSUPPORTED : HAYAI_OK);
    if (status == HAYAI_OK) {
        const hayai_options options = {.iterations = 3, .repetitions = 2};
        assert_int_equal(capture_run(got, suite, &options, NULL), HAYAI_OK);
        assert_int_equal(runs, 2);
        assert_close(capture_counter(&got->runs[0], "index"), 0 + 1 + 2 + 3);
        assert_int_equal(got->runs[0].run.iterations, 3 * 4);
        hayai_benchmark_thread_runner(benchmark, run_none, NULL);
        assert_int_equal(capture_run(got, suite, &options, NULL), HAYAI_ERROR_FAILED);
        assert_string_equal(hayai_last_message(), "the thread runner called 0 of 4 threads");
    }
}

/* ---- Errors ---------------------------------------------------------------------------------- */

/* Hostile or careless callers: suites destroyed at the wrong moment, functions left by longjmp; and
 * which message remains. (NULL everywhere: hostile.py.) */

TEST(test_a_message_does_not_outlive_the_next_call)
{
    hayai_suite *suite = suite_empty();
    hayai_benchmark *benchmark;
    assert_int_equal(hayai_suite_add(suite, "", NULL, NULL, NULL), HAYAI_ERROR_ARGUMENT);
    assert_string_not_equal(hayai_last_message(), "");
    assert_int_equal(hayai_suite_add(suite, "good", empty_loop, NULL, &benchmark), HAYAI_OK);
    assert_string_equal(hayai_last_message(), "");
    hayai_add_context(NULL, NULL);
    assert_int_equal(hayai_benchmark_arg(benchmark, 1), HAYAI_OK);
    assert_string_equal(hayai_last_message(), "");
    hayai_add_context(NULL, NULL);
    capture *got = capture_create();
    assert_int_equal(capture_run(got, suite, NULL, NULL), HAYAI_OK);
    assert_string_equal(hayai_last_message(), "");
}

TEST(test_a_range_error_names_the_benchmark)
{
    hayai_benchmark *benchmark;
    suite_of("copy", empty_loop, NULL, &benchmark);
    const hayai_range range = {2, 1};
    const hayai_status statuses[] = {hayai_benchmark_range(benchmark, 2, 1),
                                     hayai_benchmark_ranges(benchmark, &range, 1),
                                     hayai_benchmark_dense_range(benchmark, 1, 2, 0),
                                     hayai_benchmark_dense_range(benchmark, 1, INT64_MAX, 1),
                                     hayai_benchmark_range_multiplier(benchmark, 1)};
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        assert_int_not_equal(statuses[i], HAYAI_OK);
    hayai_benchmark_dense_range(benchmark, 1, 2, 0);
    assert_memory_equal(hayai_last_message(), "copy: range 1 ... 2 by 0", 24);
    hayai_benchmark_dense_range(benchmark, 1, INT64_MAX, 1);
    assert_memory_equal(hayai_last_message(), "copy: ", 6);
    hayai_benchmark_range_multiplier(benchmark, 1);
    assert_memory_equal(hayai_last_message(), "copy: ", 6);
    assert_int_equal(hayai_create_range(2, 1, 2, NULL, 0, NULL), HAYAI_ERROR_ARGUMENT);
    assert_memory_equal(hayai_last_message(), "hayai_create_range: ", 20);
}

static hayai_status fail_with_a_word(const hayai_run *run, void *user)
{
    (void)run;
    (void)user;
    return hayai_fail(HAYAI_ERROR_IO, "the socket is closed");
}

static hayai_status fail_without_a_word(const hayai_run *run, void *user)
{
    (void)run;
    hayai_add_context(NULL, NULL); /* its message must not be the one of the stopped run ... */
    (void)user;
    assert_int_equal(hayai_add_context("errors", "1"), HAYAI_OK); /* ... and is cleared */
    return HAYAI_ERROR_IO;
}

static hayai_status run_with(hayai_status (*callback)(const hayai_run *, void *))
{
    hayai_suite *suite = suite_of("one", empty_loop, NULL, NULL);
    const hayai_reporter reporter = {.run = callback};
    const hayai_options options = {.iterations = 1, .reporters = &reporter, .reporter_count = 1};
    const hayai_status status = hayai_suite_run(suite, &options, NULL);
    char message[256];
    snprintf(message, sizeof message, "%s", hayai_last_message());
    return hayai_fail(status, message);
}

TEST(test_a_reporter_sets_its_own_message)
{
    assert_int_equal(run_with(fail_with_a_word), HAYAI_ERROR_IO);
    assert_string_equal(hayai_last_message(), "the socket is closed");
    assert_int_equal(run_with(fail_without_a_word), HAYAI_ERROR_IO);
    assert_string_equal(hayai_last_message(),
                        "a reporter's callback run() returned: input or output failed");
}

HAYAI_BENCHMARK(registered, once)
{
    empty_loop(state, NULL);
}

TEST(test_the_default_suite_is_emptied)
{
    static hayai_node twice = {"twice", empty_loop, NULL, NULL},
                      after = {"after", empty_loop, NULL, NULL};
    hayai_register(&twice);
    hayai_register(&twice);
    hayai_register(&after);
    hayai_register(&twice);
    assert_string_equal(names_of(hayai_default_suite(), "twice|after"), "twice\nafter\n");
    hayai_suite_destroy(hayai_default_suite());
    assert_string_equal(names_of(hayai_default_suite(), NULL), "no match");
    assert_int_equal(hayai_suite_add(hayai_default_suite(), "new", empty_loop, NULL, NULL),
                     HAYAI_OK);
    assert_string_equal(names_of(hayai_default_suite(), NULL), "new\n");
    hayai_suite_destroy(hayai_default_suite());
}

typedef struct culprit {
    hayai_suite *suite;
    hayai_benchmark *benchmark;
    hayai_status add, arg, run, list;
} culprit;

static void meddle(hayai_state *state, void *user)
{
    culprit *who = user;
    who->add = hayai_suite_add(who->suite, "late", empty_loop, NULL, NULL);
    who->arg = hayai_benchmark_arg(who->benchmark, 1);
    who->run = hayai_suite_run(who->suite, NULL, NULL);
    who->list = hayai_suite_report_list(who->suite, NULL);
    hayai_suite_destroy(who->suite);
    empty_loop(state, NULL);
}

TEST(test_a_suite_is_not_changed_while_it_runs)
{
    culprit who = {0};
    who.suite = hayai_suite_create(); /* destroyed when its run ends */
    hayai_suite_add(who.suite, "meddle", meddle, &who, &who.benchmark);
    capture *got = capture_create();
    assert_int_equal(capture_run(got, who.suite, NULL, NULL), HAYAI_OK);
    assert_int_equal(who.add, HAYAI_ERROR_STATE);
    assert_int_equal(who.arg, HAYAI_ERROR_STATE);
    assert_int_equal(who.run, HAYAI_ERROR_STATE);
    assert_int_equal(who.list, HAYAI_ERROR_STATE);
}

static jmp_buf out;

static void jump(hayai_state *state, void *user)
{
    (void)state;
    (void)user;
    longjmp(out, 1);
}

/* The skipped frames hold memory, which leaks, as documented. */
#if defined(__SANITIZE_ADDRESS__)
#define LEAKS_ARE_ERRORS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LEAKS_ARE_ERRORS 1
#endif
#endif

TEST(test_a_function_that_was_left_by_longjmp)
{
#ifdef LEAKS_ARE_ERRORS
    skip();
#endif
    assert_int_equal(hayai_reset(), HAYAI_ERROR_STATE);
    hayai_suite *suite = suite_of("jump", jump, NULL, NULL);
    hayai_suite *other = suite_of("other", empty_loop, NULL, NULL);
    const hayai_options options = {.iterations = 1};
    capture *got = capture_create();
    if (setjmp(out) == 0)
        capture_run(got, suite, &options, NULL);
    assert_int_equal(capture_run(got, other, &options, NULL), HAYAI_ERROR_STATE);
    assert_string_equal(hayai_last_message(), "another run is under way");
    assert_int_equal(hayai_reset(), HAYAI_OK);
    assert_int_equal(capture_run(got, other, &options, NULL), HAYAI_OK);
}
