/* SPDX-License-Identifier: Apache-2.0 */
/* Counters: every combination of flags and both scales, checked against the arithmetic that the
 * documentation of Google Benchmark's flags promises. */
#include "capture.h"
#include <math.h>
#include <stdio.h>

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

/* What a rate is divided by. Before 1.9 the time that is reported is already an average of the
 * threads; since then it is their sum, and only since 1.9.5 a rate is divided by the average
 * again: between, the rate of threads is that of one of them. */
static double rate_seconds(double real_seconds, double threads)
{
    return library_version() >= 10905 ? real_seconds / threads : real_seconds;
}

static double expected_value(unsigned bits, double seconds, double threads, double iterations)
{
    const hayai_counter_flags flags = combination(bits);
    double value = (3 + bits) * threads; /* the threads' values are added up */
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
    /* Google Benchmark aborts where the repetitions differ in a counter's flags. */
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
