/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics over repetitions, and the complexity fit. The times are manual. */
#include "capture.h"
#include <math.h>
#include <stdio.h>

static capture *seen;
static hayai_suite *suite;
static hayai_benchmark *benchmark;

/* The n-th call takes as long as the n-th of these, and counts it too. */
static const double seconds_of_call[] = {0.004, 0.001, 0.005, 0.002, 0.003};

static void tell_in_turn(hayai_state *state, void *user)
{
    size_t *calls = user;
    const double seconds = seconds_of_call[(*calls)++ % 5];
    while (hayai_state_keep_running(state))
        hayai_state_set_iteration_time(state, seconds);
    hayai_state_set_counter(state, "milliseconds", seconds * 1000, 0, HAYAI_ONE_K_1000);
}

static size_t calls;

static int set_up(void **state)
{
    (void)state;
    calls = 0;
    suite = suite_of("b", tell_in_turn, &calls, &benchmark);
    hayai_benchmark_use_manual_time(benchmark);
    hayai_benchmark_unit(benchmark, HAYAI_UNIT_MILLISECOND);
    seen = capture_create();
    return 0;
}

/* What the five times' aggregates must be, in milliseconds. */
static void check_five(void)
{
    static const char *const names[] = {"mean", "median", "stddev"};
    const double expected[] = {3, 3, sqrt(2.5)};
    char name[CAPTURE_TEXT];
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "b/manual_time_%s", names[i]);
        const captured *run = capture_find(seen, name);
        assert_near(run->run.real_time, expected[i], 1e-12);
        assert_near(capture_counter(run, "milliseconds"), expected[i], 1e-12);
        assert_int_equal(run->run.iterations, 5);
        assert_int_equal(run->run.aggregate_unit, HAYAI_STATISTIC_UNIT_TIME);
    }
    const captured *cv = capture_find(seen, "b/manual_time_cv");
    assert_near(cv->run.real_time, sqrt(2.5) / 3, 1e-12);
    assert_int_equal(cv->run.aggregate_unit, HAYAI_STATISTIC_UNIT_PERCENTAGE);
}

/* The library computes them; and ours must be the same where hayai interleaves. */
SUITE_TEST(test_the_usual_statistics)
{
    hayai_options options = {.iterations = 4, .repetitions = 5};
    assert_int_equal(capture_run(seen, suite, &options, NULL), HAYAI_OK);
    check_five();
    options.interleave = true;
    seen->count = seen->reports = calls = 0;
    assert_int_equal(capture_run(seen, suite, &options, NULL), HAYAI_OK);
    check_five();
}

SUITE_TEST(test_quartiles)
{
    const hayai_options options = {.iterations = 4, .repetitions = 5};
    assert_int_equal(hayai_benchmark_quartiles(benchmark), HAYAI_OK);
    assert_int_equal(capture_run(seen, suite, &options, NULL), HAYAI_OK);
    assert_close(capture_find(seen, "b/manual_time_q1")->run.real_time, 2);
    assert_close(capture_find(seen, "b/manual_time_q3")->run.real_time, 4);
    assert_close(capture_counter(capture_find(seen, "b/manual_time_q3"), "milliseconds"), 4);
}

SUITE_TEST(test_quartiles_of_all_between_values)
{
    const hayai_options options = {.iterations = 1, .repetitions = 4, .quartiles = true};
    assert_int_equal(capture_run(seen, suite, &options, NULL), HAYAI_OK); /* 1 2 4 5 */
    assert_close(capture_find(seen, "b/manual_time_q1")->run.real_time, 1.75);
    assert_close(capture_find(seen, "b/manual_time_q3")->run.real_time, 4.25);
}

static double greatest(const double *values, size_t count, void *user)
{
    double best = 0;
    for (size_t i = 0; i < count; i++)
        best = values[i] > best ? values[i] : best;
    return best * *(const double *)user;
}

SUITE_TEST(test_own_statistics_with_contexts)
{
    double once = 1, twice = 2;
    const hayai_options options = {.iterations = 3, .repetitions = 5};
    assert_int_equal(hayai_benchmark_compute_statistic(benchmark, "most", greatest, &once,
                                                       HAYAI_STATISTIC_UNIT_TIME),
                     HAYAI_OK);
    assert_int_equal(hayai_benchmark_compute_statistic(benchmark, "double", greatest, &twice,
                                                       HAYAI_STATISTIC_UNIT_PERCENTAGE),
                     HAYAI_OK);
    assert_int_equal(capture_run(seen, suite, &options, NULL), HAYAI_OK);
    assert_close(capture_find(seen, "b/manual_time_most")->run.real_time, 5);
    const captured *run = capture_find(seen, "b/manual_time_double");
    assert_close(run->run.real_time, 0.01); /* a ratio: in no unit */
    assert_int_equal(run->run.aggregate_unit, HAYAI_STATISTIC_UNIT_PERCENTAGE);
    assert_close(capture_counter(run, "milliseconds"), 10);
}

SUITE_TEST(test_bad_statistics)
{
    double one = 1;
    static const char *const taken[] = {"mean", "median", "stddev", "cv", "BigO", "RMS"};
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(hayai_benchmark_compute_statistic(benchmark, taken[i], greatest, &one,
                                                           HAYAI_STATISTIC_UNIT_TIME),
                         HAYAI_ERROR_ARGUMENT);
    assert_int_equal(
        hayai_benchmark_compute_statistic(benchmark, "", greatest, &one, HAYAI_STATISTIC_UNIT_TIME),
        HAYAI_ERROR_ARGUMENT);
    assert_int_equal(
        hayai_benchmark_compute_statistic(benchmark, "x", NULL, &one, HAYAI_STATISTIC_UNIT_TIME),
        HAYAI_ERROR_ARGUMENT);
    assert_int_equal(hayai_suite_run(suite, NULL, NULL), HAYAI_ERROR_ARGUMENT);
}

/* ---- Complexity ------------------------------------------------------------------------------ */

typedef struct growth {
    hayai_complexity complexity;
    const char *text;
} growth;

static const growth growths[] = {
    {HAYAI_COMPLEXITY_1, "(1)"},         {HAYAI_COMPLEXITY_N, "N"},
    {HAYAI_COMPLEXITY_N_SQUARED, "N^2"}, {HAYAI_COMPLEXITY_N_CUBED, "N^3"},
    {HAYAI_COMPLEXITY_LOG_N, "lgN"},     {HAYAI_COMPLEXITY_N_LOG_N, "NlgN"},
    {HAYAI_COMPLEXITY_FUNCTION, "f(N)"},
};

static double grow(hayai_complexity complexity, double n)
{
    switch (complexity) {
    case HAYAI_COMPLEXITY_N:
        return n;
    case HAYAI_COMPLEXITY_N_SQUARED:
        return n * n;
    case HAYAI_COMPLEXITY_N_CUBED:
        return n * n * n;
    case HAYAI_COMPLEXITY_LOG_N:
        return log2(n);
    case HAYAI_COMPLEXITY_N_LOG_N:
        return n * log2(n);
    case HAYAI_COMPLEXITY_FUNCTION:
        return sqrt(n);
    default:
        return 1;
    }
}

static void take_as_long(hayai_state *state, void *user)
{
    const growth *grown = user;
    const int64_t n = hayai_state_range(state, 0);
    while (hayai_state_keep_running(state))
        hayai_state_set_iteration_time(state, 3e-6 * grow(grown->complexity, (double)n));
    assert_int_equal(hayai_state_complexity_n(state), 0);
    assert_int_equal(hayai_state_set_complexity_n(state, 0), HAYAI_ERROR_ARGUMENT);
    assert_int_equal(hayai_state_set_complexity_n(state, n), HAYAI_OK);
    assert_int_equal(hayai_state_complexity_n(state), n);
}

static double root_of(int64_t n, void *user)
{
    return sqrt((double)n) * *(const double *)user;
}

/* The fit of a family whose times are exactly 3 us * f(N). */
static void check_fit(const growth *grown, bool automatic, double scale)
{
    hayai_benchmark *family;
    hayai_suite *fitted = suite_of("g", take_as_long, (void *)(uintptr_t)grown, &family);
    hayai_benchmark_use_manual_time(family);
    hayai_benchmark_range_multiplier(family, 2);
    hayai_benchmark_range(family, 4, 256);
    if (grown->complexity == HAYAI_COMPLEXITY_FUNCTION)
        assert_int_equal(hayai_benchmark_complexity_function(family, root_of, &scale), HAYAI_OK);
    else
        assert_int_equal(hayai_benchmark_complexity(family, automatic ? HAYAI_COMPLEXITY_AUTO
                                                                      : grown->complexity),
                         HAYAI_OK);
    seen->count = seen->reports = 0;
    assert_int_equal(capture_run(seen, fitted, NULL, NULL), HAYAI_OK);
    const captured *fit = capture_find(seen, "g/manual_time_BigO");
    assert_true(fit->run.big_o);
    assert_string_equal(fit->complexity, grown->text);
    assert_near(fit->run.real_time, 3000 / scale, 1e-10); /* ns */
    const captured *rms = capture_find(seen, "g/manual_time_RMS");
    assert_true(rms->run.rms);
    assert_near(rms->run.real_time, 0, 1e-12);
}

SUITE_TEST(test_complexity_given)
{
    for (size_t i = 0; i < 6; i++)
        check_fit(&growths[i], false, 1);
}

SUITE_TEST(test_complexity_found)
{
    for (size_t i = 0; i < 6; i++)
        check_fit(&growths[i], true, 1);
}

SUITE_TEST(test_complexity_by_a_function_with_a_context)
{
    check_fit(&growths[6], false, 1);
    check_fit(&growths[6], false, 4);
}

/* Times 1 and 5 for f = 1, 2: c = (1 + 10) / (1 + 4) = 2.2, the rest -1.2 and 0.6; relative to the
 * mean time of 3: sqrt((1.44 + 0.36) / 2) / 3. */
static void two_points(hayai_state *state, void *user)
{
    (void)user;
    const int64_t n = hayai_state_range(state, 0);
    while (hayai_state_keep_running(state))
        hayai_state_set_iteration_time(state, n == 1 ? 1 : 5);
    hayai_state_set_complexity_n(state, n);
}

SUITE_TEST(test_a_fit_with_a_rest)
{
    hayai_benchmark *family;
    hayai_suite *points = suite_of("p", two_points, NULL, &family);
    hayai_benchmark_use_manual_time(family);
    hayai_benchmark_unit(family, HAYAI_UNIT_SECOND);
    hayai_benchmark_dense_range(family, 1, 2, 1);
    hayai_benchmark_complexity(family, HAYAI_COMPLEXITY_N);
    assert_int_equal(capture_run(seen, points, NULL, NULL), HAYAI_OK);
    assert_close(capture_find(seen, "p/manual_time_BigO")->run.real_time, 2.2);
    assert_close(capture_find(seen, "p/manual_time_RMS")->run.real_time, sqrt(0.9) / 3);
}

/* Google Benchmark aborts on this. */
SUITE_TEST(test_complexity_without_n_is_an_error)
{
    hayai_benchmark *family;
    hayai_suite *careless = suite_of("c", empty_loop, NULL, &family);
    hayai_benchmark_dense_range(family, 1, 3, 1);
    hayai_benchmark_complexity(family, HAYAI_COMPLEXITY_N);
    assert_int_equal(capture_run(seen, careless, NULL, NULL), HAYAI_OK);
    assert_int_equal(seen->count, 3);
    assert_non_null(strstr(seen->runs[0].message, "N was not set"));
}

static void always_fail(hayai_state *state, void *user)
{
    (void)user;
    hayai_state_skip_with_error(state, "always");
}

/* Google Benchmark reads beyond an empty vector here. */
SUITE_TEST(test_complexity_where_all_runs_failed)
{
    hayai_benchmark *family;
    hayai_suite *failing = suite_of("f", always_fail, NULL, &family);
    hayai_benchmark_dense_range(family, 1, 3, 1);
    hayai_benchmark_complexity(family, HAYAI_COMPLEXITY_AUTO);
    assert_int_equal(capture_run(seen, failing, NULL, NULL), HAYAI_OK);
    assert_int_equal(seen->count, 3);
}
