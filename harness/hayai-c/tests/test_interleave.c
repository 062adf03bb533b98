/* SPDX-License-Identifier: Apache-2.0 */
/* hayai's own interleaving. */
#include "capture.h"
#include <math.h>
#include <stdio.h>
#include <unistd.h>

enum { BENCHMARKS = 4, ROUNDS = 6, MOST = 200 };

typedef struct seen_repetition {
    char name[64], error[64], label[64];
    hayai_repetition at;
    double counter;
} seen_repetition;

static seen_repetition seen[MOST];
static size_t count, stop_at;
static int64_t calls[BENCHMARKS], most_iterations;

static int note(const hayai_repetition *repetition, void *user)
{
    assert_ptr_equal(user, seen);
    assert_true(count < MOST);
    seen_repetition *kept = &seen[count++];
    snprintf(kept->name, sizeof kept->name, "%s", repetition->name);
    snprintf(kept->error, sizeof kept->error, "%s", repetition->error ? repetition->error : "");
    snprintf(kept->label, sizeof kept->label, "%s", repetition->label);
    kept->at = *repetition;
    kept->counter = repetition->counter_count > 0 ? repetition->counters[0].value : -1;
    return count == stop_at;
}

/* A millisecond an iteration, told; the benchmark's number in user. */
static void tell(hayai_state *state, void *user)
{
    calls[(int64_t *)user - calls]++;
    if (hayai_state_max_iterations(state) > most_iterations)
        most_iterations = hayai_state_max_iterations(state);
    while (hayai_state_keep_running(state))
        hayai_state_set_iteration_time(state, 0.001);
    hayai_state_set_counter(state, "seven", 7, 0, HAYAI_ONE_K_1000);
    hayai_state_set_label(state, "told");
}

static hayai_suite *suite;

static int set_up(void **state)
{
    (void)state;
    count = stop_at = 0;
    most_iterations = 0;
    memset(calls, 0, sizeof calls);
    suite = suite_empty();
    for (int i = 0; i < BENCHMARKS; i++) {
        char name[16];
        hayai_benchmark *benchmark;
        snprintf(name, sizeof name, "b%d", i);
        hayai_suite_add(suite, name, tell, &calls[i], &benchmark);
        hayai_benchmark_use_manual_time(benchmark);
    }
    return 0;
}

static hayai_interleave settings(uint64_t seed)
{
    return (hayai_interleave){.seed = seed,
                              .repetitions = ROUNDS,
                              .min_seconds = 0.01,
                              .on_repetition = note,
                              .user = seen};
}

SUITE_TEST(test_each_round_holds_each_benchmark_once)
{
    const hayai_interleave interleave = settings(1);
    assert_int_equal(hayai_suite_run_interleaved(suite, &interleave), HAYAI_OK);
    assert_int_equal(count, BENCHMARKS * ROUNDS);
    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned in_round = 0;
        for (unsigned i = 0; i < BENCHMARKS; i++) {
            const hayai_repetition *at = &seen[round * BENCHMARKS + i].at;
            assert_int_equal(at->repetition, round);
            assert_int_equal(at->order, round * BENCHMARKS + i);
            in_round |= 1u << at->benchmark;
        }
        assert_int_equal(in_round, (1u << BENCHMARKS) - 1);
    }
}

SUITE_TEST(test_a_number_of_its_own_leaves_later_rounds_out)
{
    enum { FEWER = 2 };
    const hayai_interleave interleave = settings(1);
    hayai_benchmark *benchmark;
    hayai_suite_add(suite, "fewer", tell, &calls[0], &benchmark);
    hayai_benchmark_repetitions(benchmark, FEWER);
    assert_int_equal(hayai_suite_run_interleaved(suite, &interleave), HAYAI_OK);
    assert_int_equal(count, BENCHMARKS * ROUNDS + FEWER);
    unsigned found = 0;
    for (size_t i = 0; i < count; i++)
        if (seen[i].at.benchmark == BENCHMARKS)
            assert_int_equal(seen[i].at.repetition, found++);
    assert_int_equal(found, FEWER);
}

SUITE_TEST(test_what_a_repetition_tells)
{
    const hayai_interleave interleave = settings(1);
    assert_int_equal(hayai_suite_run_interleaved(suite, &interleave), HAYAI_OK);
    for (size_t i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "b%zu/manual_time", seen[i].at.benchmark);
        assert_string_equal(seen[i].name, name);
        assert_string_equal(seen[i].label, "told");
        assert_string_equal(seen[i].error, "");
        assert_close(seen[i].at.real_seconds, 0.001);
        assert_true(seen[i].at.cpu_seconds > 0);
        assert_int_equal(seen[i].at.counter_count, 1);
        assert_true(seen[i].counter == 7);
        assert_int_equal(seen[i].at.threads, 1);
    }
}

static void order_of(uint64_t seed, char *order)
{
    const hayai_interleave interleave = settings(seed);
    count = 0;
    assert_int_equal(hayai_suite_run_interleaved(suite, &interleave), HAYAI_OK);
    for (size_t i = 0; i < count; i++)
        order[i] = (char)('0' + seen[i].at.benchmark);
    order[count] = '\0';
}

SUITE_TEST(test_the_order_is_the_seeds)
{
    char first[MOST], again[MOST], other[MOST];
    order_of(42, first);
    order_of(42, again);
    order_of(43, other);
    assert_string_equal(first, again);
    assert_string_not_equal(first, other);
}

/* All 24 orders of four come up, and none much more often than the others: for 4800 rounds the
 * count of each is 200 +- 14; a bound of six standard deviations. */
static size_t orders_seen[256];
static unsigned round_order, in_round;

static int count_orders(const hayai_repetition *repetition, void *user)
{
    (void)user;
    round_order = (round_order << 2 | (unsigned)repetition->benchmark) & 255;
    if (++in_round % BENCHMARKS == 0)
        orders_seen[round_order]++;
    return 0;
}

SUITE_TEST(test_all_orders_are_as_likely)
{
    hayai_suite *quick = suite_empty();
    for (int i = 0; i < BENCHMARKS; i++) {
        hayai_benchmark *benchmark;
        hayai_suite_add(quick, "q", empty_loop, NULL, &benchmark);
        hayai_benchmark_iterations(benchmark, 1);
    }
    const hayai_interleave interleave = {
        .seed = 7, .repetitions = 4800, .on_repetition = count_orders};
    assert_int_equal(hayai_suite_run_interleaved(quick, &interleave), HAYAI_OK);
    size_t orders = 0;
    for (int i = 0; i < 256; i++)
        if (orders_seen[i] > 0) {
            orders++;
            assert_true(orders_seen[i] > 200 - 6 * 14 && orders_seen[i] < 200 + 6 * 14);
        }
    assert_int_equal(orders, 24);
}

SUITE_TEST(test_iterations_are_found_once_by_the_least_time)
{
    const hayai_interleave interleave = settings(5);
    assert_int_equal(hayai_suite_run_interleaved(suite, &interleave), HAYAI_OK);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(seen[i].at.iterations, seen[0].at.iterations);
        assert_true((double)seen[i].at.iterations * 0.001 >= 0.01);
    }
    /* The search's calls, and then one a repetition. */
    const int64_t search = calls[0] - ROUNDS;
    assert_true(search >= 2 && search <= 4);
}

SUITE_TEST(test_iterations_have_a_limit_in_the_search_too)
{
    hayai_interleave interleave = settings(5);
    interleave.max_iterations = 4;
    assert_int_equal(hayai_suite_run_interleaved(suite, &interleave), HAYAI_OK);
    assert_int_equal(count, BENCHMARKS * ROUNDS);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(seen[i].at.iterations, 4);
        assert_string_equal(seen[i].error, "");
    }
    assert_true(most_iterations <= 4);
}

SUITE_TEST(test_own_iterations_need_no_search)
{
    hayai_benchmark *benchmark;
    int64_t *own = &calls[0];
    hayai_suite_add(suite, "own", tell, own, &benchmark);
    hayai_benchmark_iterations(benchmark, 5);
    hayai_interleave interleave = settings(5);
    interleave.filter = "own";
    assert_int_equal(hayai_suite_run_interleaved(suite, &interleave), HAYAI_OK);
    assert_int_equal(*own, ROUNDS);
    assert_int_equal(seen[0].at.iterations, 5);
    assert_string_equal(seen[0].name, "own/iterations:5");
    assert_int_equal(seen[0].at.benchmark, BENCHMARKS);
}

SUITE_TEST(test_arguments_and_threads)
{
    static const int64_t values[] = {3, 4};
    hayai_benchmark *benchmark;
    hayai_suite *one = suite_of("a", empty_loop, NULL, &benchmark);
    hayai_benchmark_args(benchmark, values, 2);
    hayai_benchmark_threads(benchmark, 1);
    hayai_benchmark_threads(benchmark, 2);
    hayai_benchmark_iterations(benchmark, 10);
    hayai_interleave interleave = settings(1);
    interleave.repetitions = 1;
    assert_int_equal(hayai_suite_run_interleaved(one, &interleave), HAYAI_OK);
    assert_int_equal(count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(seen[i].at.argument_count, 2);
        assert_int_equal(seen[i].at.threads, 1 + (int)seen[i].at.instance);
        assert_int_equal(seen[i].at.iterations, 10); /* of each thread */
    }
}

static void fail_in_search(hayai_state *state, void *user)
{
    ++*(int *)user;
    hayai_state_skip_with_error(state, "not here");
}

static void fail_third(hayai_state *state, void *user)
{
    if (++*(int *)user == 3)
        hayai_state_skip_with_error(state, "the third");
    else
        empty_loop(state, NULL);
}

SUITE_TEST(test_errors_in_the_search_and_later)
{
    int broken = 0, sometimes = 0;
    hayai_benchmark *benchmark;
    hayai_suite_add(suite, "broken", fail_in_search, &broken, NULL);
    hayai_suite_add(suite, "sometimes", fail_third, &sometimes, &benchmark);
    hayai_benchmark_iterations(benchmark, 2);
    hayai_interleave interleave = settings(9);
    interleave.filter = "broken|sometimes";
    assert_int_equal(hayai_suite_run_interleaved(suite, &interleave), HAYAI_OK);
    assert_int_equal(broken, 1);
    assert_int_equal(sometimes, ROUNDS);
    assert_int_equal(count, 1 + ROUNDS);
    int errors = 0;
    for (size_t i = 0; i < count; i++) {
        if (!seen[i].error[0])
            continue;
        errors++;
        const bool first = strcmp(seen[i].name, "broken") == 0;
        assert_string_equal(seen[i].error, first ? "not here" : "the third");
        assert_int_equal(seen[i].at.repetition, first ? 0 : 2);
        assert_true(seen[i].at.real_seconds == 0);
    }
    assert_int_equal(errors, 2);
}

SUITE_TEST(test_the_callback_stops_it)
{
    const hayai_interleave interleave = settings(1);
    stop_at = 3;
    assert_int_equal(hayai_suite_run_interleaved(suite, &interleave), HAYAI_STOPPED);
    assert_int_equal(count, 3);
    stop_at = 0;
    assert_int_equal(hayai_suite_run_interleaved(suite, &interleave), HAYAI_OK);
}

SUITE_TEST(test_bad_settings)
{
    hayai_interleave bad[6];
    for (int i = 0; i < 6; i++)
        bad[i] = settings(1);
    bad[0].repetitions = 0;
    bad[1].min_seconds = -1;
    bad[2].min_seconds = NAN;
    bad[3].max_iterations = -1;
    bad[4].on_repetition = NULL;
    bad[5].filter = "(";
    for (int i = 0; i < 6; i++)
        assert_int_equal(hayai_suite_run_interleaved(suite, &bad[i]), HAYAI_ERROR_ARGUMENT);
    assert_int_equal(hayai_suite_run_interleaved(NULL, &bad[0]), HAYAI_ERROR_ARGUMENT);
    assert_int_equal(hayai_suite_run_interleaved(suite, NULL), HAYAI_ERROR_ARGUMENT);
    bad[0] = settings(1);
    bad[0].filter = "nothing";
    assert_int_equal(hayai_suite_run_interleaved(suite, &bad[0]), HAYAI_ERROR_NO_MATCH);
    assert_int_equal(count, 0);
}

/* ---- With reporters -------------------------------------------------------------------------- */

SUITE_TEST(test_reporters_get_each_repetition_at_once)
{
    capture *got = capture_create();
    const hayai_options options = {
        .min_seconds = 0.002, .repetitions = 3, .interleave = true, .seed = 3};
    assert_int_equal(capture_run(got, suite, &options, NULL), HAYAI_OK);
    assert_int_equal(got->count, BENCHMARKS * (3 + 4));
    for (size_t i = 0; i < BENCHMARKS * 3; i++) {
        assert_int_equal(got->report_sizes[i], 1);
        assert_int_equal(got->runs[i].run.repetition, i / BENCHMARKS);
        assert_int_equal(got->runs[i].run.repetitions, 3);
        assert_null(strstr(got->runs[i].name, "iterations"));
        assert_null(strstr(got->runs[i].name, "repeats"));
    }
    assert_true(capture_has(got, "b3/manual_time_median"));
}

/* Nothing of Google Benchmark's own reaches the standard streams, whatever the environment says. */
SUITE_TEST(test_nothing_is_printed)
{
    const hayai_interleave interleave = settings(1);
    output_catch();
    const hayai_status status = hayai_suite_run_interleaved(suite, &interleave);
    names_of(suite, NULL);
    hayai_library_build();
    char *printed = output_caught();
    assert_int_equal(status, HAYAI_OK);
    assert_string_equal(printed, "");
    assert_int_equal(count, BENCHMARKS * ROUNDS);
}
