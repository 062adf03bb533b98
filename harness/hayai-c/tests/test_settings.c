/* SPDX-License-Identifier: Apache-2.0 */
/* How a benchmark is run: times, repetitions, threads, set-up. Times are manual, so that every
 * figure is known beforehand. */
#include "capture.h"
#include "comma_locale.h"
#include <math.h>
#include <stdio.h>

static capture *seen;
static hayai_benchmark *benchmark;
static hayai_suite *suite;

/* Tells a time for each iteration, counts what it did in all its calls. */
typedef struct clock {
    double seconds; /* of an iteration */
    int calls;
    double total; /* told so far */
} clock_told;
static clock_told told;

static void tell(hayai_state *state, void *user)
{
    clock_told *clock = user;
    clock->calls++;
    while (hayai_state_keep_running(state)) {
        hayai_state_set_iteration_time(state, clock->seconds);
        clock->total += clock->seconds;
    }
}

static int set_up(void **state)
{
    (void)state;
    told = (clock_told){.seconds = 0.001};
    suite = suite_of("b", tell, &told, &benchmark);
    hayai_benchmark_use_manual_time(benchmark);
    seen = capture_create();
    return 0;
}

static const captured *run_one(const hayai_options *options)
{
    assert_int_equal(capture_run(seen, suite, options, NULL), HAYAI_OK);
    assert_true(seen->count > 0);
    return &seen->runs[0];
}

SUITE_TEST(test_min_time)
{
    const hayai_options options = {.min_seconds = 0.002};
    assert_int_equal(hayai_benchmark_min_time(benchmark, 0.02), HAYAI_OK);
    const captured *run = run_one(&options);
    assert_true(run->run.real_seconds >= 0.02);
    assert_string_equal(run->name, "b/min_time:0.020/manual_time");
}

SUITE_TEST(test_min_seconds_of_all)
{
    const hayai_options options = {.min_seconds = 0.2};
    const captured *run = run_one(&options);
    assert_true(run->run.real_seconds >= 0.2 && run->run.real_seconds < 0.5);
    assert_string_equal(run->name, "b/manual_time");
}

SUITE_TEST(test_half_a_second_is_the_default)
{
    const hayai_options options = {0};
    assert_true(run_one(&options)->run.real_seconds >= 0.5);
}

SUITE_TEST(test_min_warm_up_time)
{
    const hayai_options options = {0};
    hayai_benchmark_min_time(benchmark, 0.001);
    assert_int_equal(hayai_benchmark_min_warm_up_time(benchmark, 0.03), HAYAI_OK);
    const captured *run = run_one(&options);
    assert_true(told.total - run->run.real_seconds >= 0.03);
    assert_non_null(strstr(run->name, "min_warmup_time:0.030"));
}

SUITE_TEST(test_min_warm_up_of_all)
{
    const hayai_options options = {.min_seconds = 0.001, .min_warm_up_seconds = 0.03};
    const captured *run = run_one(&options);
    assert_true(told.total - run->run.real_seconds >= 0.03);
}

SUITE_TEST(test_iterations_of_all)
{
    const hayai_options options = {.iterations = 17};
    const captured *run = run_one(&options);
    assert_int_equal(run->run.iterations, 17);
    assert_string_equal(run->name, "b/manual_time");
}

SUITE_TEST(test_own_iterations_win)
{
    const hayai_options options = {.iterations = 17};
    hayai_benchmark_iterations(benchmark, 3);
    assert_int_equal(run_one(&options)->run.iterations, 3);
}

SUITE_TEST(test_dry_run)
{
    const hayai_options options = {.dry_run = true, .repetitions = 4};
    hayai_benchmark_min_time(benchmark, 1);
    hayai_benchmark_repetitions(benchmark, 5);
    assert_int_equal(run_one(&options)->run.iterations, 1);
    assert_int_equal(told.calls, 1);
    assert_string_equal(seen->runs[0].name, "b/min_time:1.000/repeats:5/manual_time");
}

SUITE_TEST(test_repetitions)
{
    const hayai_options options = {.iterations = 1, .repetitions = 2};
    hayai_benchmark_repetitions(benchmark, 3);
    run_one(&options);
    assert_int_equal(told.calls, 3);
    assert_int_equal(seen->count, 3 + 4);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(seen->runs[i].run.repetition, i);
        assert_int_equal(seen->runs[i].run.repetitions, 3);
    }
    assert_string_equal(seen->runs[3].name, "b/repeats:3/manual_time_mean");
    assert_int_equal(seen->runs[3].run.repetition, -1);
    assert_int_equal(seen->report_sizes[0], 3);
    assert_int_equal(seen->report_sizes[1], 4);
}

SUITE_TEST(test_repetitions_of_all)
{
    const hayai_options options = {.iterations = 1, .repetitions = 2};
    run_one(&options);
    assert_int_equal(told.calls, 2);
}

SUITE_TEST(test_unit)
{
    static const hayai_unit units[] = {HAYAI_UNIT_NANOSECOND, HAYAI_UNIT_MICROSECOND,
                                       HAYAI_UNIT_MILLISECOND, HAYAI_UNIT_SECOND};
    static const double factors[] = {1e9, 1e6, 1e3, 1};
    static const char *const texts[] = {"ns", "us", "ms", "s"};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(hayai_benchmark_unit(benchmark, units[i]), HAYAI_OK);
        seen->count = 0;
        const captured *run = run_one(NULL);
        assert_int_equal(run->run.unit, units[i]);
        assert_close(run->run.real_time, 0.001 * factors[i]);
        assert_string_equal(hayai_unit_string(units[i]), texts[i]);
        assert_true(hayai_unit_multiplier(units[i]) == factors[i]);
    }
}

SUITE_TEST(test_unit_of_all)
{
    const hayai_options options = {.iterations = 1, .unit = HAYAI_UNIT_MICROSECOND};
    assert_close(run_one(&options)->run.real_time, 1000);
}

/* The names tell which clock the library was told to use. */
SUITE_TEST(test_clocks)
{
    hayai_benchmark *real, *process;
    hayai_suite_add(suite, "real", empty_loop, NULL, &real);
    hayai_suite_add(suite, "process", empty_loop, NULL, &process);
    assert_int_equal(hayai_benchmark_use_real_time(real), HAYAI_OK);
    assert_int_equal(hayai_benchmark_measure_process_cpu_time(process), HAYAI_OK);
    assert_string_equal(names_of(suite, NULL), "b/manual_time\nreal/real_time\n"
                                               "process/process_time\n");
}

SUITE_TEST(test_aggregates_only)
{
    for (int kind = 0; kind < 4; kind++) {
        capture *file = capture_create();
        hayai_reporter reporters[] = {capture_reporter(seen), capture_reporter(file)};
        reporters[1].file = true;
        hayai_options options = {
            .iterations = 1, .repetitions = 3, .reporters = reporters, .reporter_count = 2};
        if (kind == 0)
            assert_int_equal(hayai_benchmark_report_aggregates_only(benchmark, true), HAYAI_OK);
        if (kind == 1) {
            hayai_benchmark_report_aggregates_only(benchmark, false);
            assert_int_equal(hayai_benchmark_display_aggregates_only(benchmark, true), HAYAI_OK);
        }
        options.report_aggregates_only = kind == 2;
        options.display_aggregates_only = kind == 3;
        assert_int_equal(hayai_suite_run(suite, &options, NULL), HAYAI_OK);
        assert_int_equal(seen->count, 4);
        assert_int_equal(file->count, kind % 2 == 0 ? 4 : 7);
        free_what_was_made(NULL);
        set_up(NULL);
    }
}

SUITE_TEST(test_a_single_run_is_reported_all_the_same)
{
    hayai_benchmark_report_aggregates_only(benchmark, true);
    run_one(NULL);
    assert_int_equal(seen->count, 1);
}

/* ---- Set-up and tear-down -------------------------------------------------------------------- */

typedef struct fixture {
    int set_up, tear_down, inside;
    int64_t range;
    int threads;
} fixture;

static void prepare_fixture(const hayai_state *state, void *user)
{
    fixture *own = user;
    own->set_up++;
    own->inside++;
    own->range = hayai_state_range(state, 0);
    own->threads = hayai_state_threads(state);
    assert_non_null(strstr(hayai_state_name(state), "fixture"));
}

static void clean_up(const hayai_state *state, void *user)
{
    (void)state;
    fixture *own = user;
    own->tear_down++;
    own->inside--;
}

static void use_fixture(hayai_state *state, void *user)
{
    const fixture *own = user;
    assert_int_equal(own->inside, 1);
    empty_loop(state, NULL);
}

SUITE_TEST(test_set_up_and_tear_down_with_contexts)
{
    fixture fixtures[2] = {{0}};
    for (int i = 0; i < 2; i++) {
        hayai_benchmark *one;
        hayai_suite_add(suite, i ? "fixture1" : "fixture0", use_fixture, &fixtures[i], &one);
        hayai_benchmark_arg(one, 10 + i);
        hayai_benchmark_threads(one, 2 + i);
        hayai_benchmark_repetitions(one, 2);
        assert_int_equal(hayai_benchmark_set_up(one, prepare_fixture, &fixtures[i]), HAYAI_OK);
        assert_int_equal(hayai_benchmark_tear_down(one, clean_up, &fixtures[i]), HAYAI_OK);
    }
    run_one(NULL);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(fixtures[i].set_up, 2);
        assert_int_equal(fixtures[i].tear_down, 2);
        assert_int_equal(fixtures[i].range, 10 + i);
        assert_int_equal(fixtures[i].threads, 2 + i);
    }
}

static void change_in_set_up(const hayai_state *state, void *user)
{
    hayai_state *writable = user ? (hayai_state *)(uintptr_t)state : NULL;
    assert_int_equal(hayai_state_skip_with_error(writable, "no"), HAYAI_ERROR_STATE);
    assert_int_equal(hayai_state_set_label(writable, "no"), HAYAI_ERROR_STATE);
    assert_int_equal(hayai_state_set_iteration_time(writable, 1), HAYAI_ERROR_STATE);
    assert_int_equal(hayai_state_pause(writable), HAYAI_ERROR_STATE);
    assert_false(hayai_state_keep_running(writable));
    assert_int_equal(hayai_state_batch(writable), 0);
    assert_null(hayai_state_native(writable));
}

SUITE_TEST(test_set_up_has_no_clock)
{
    hayai_benchmark_set_up(benchmark, change_in_set_up, &told);
    run_one(NULL);
}

static void do_nothing(const hayai_state *state, void *user)
{
    (void)state;
    (void)user;
}

SUITE_TEST(test_more_set_ups_than_there_can_be)
{
    hayai_benchmark *one;
    for (int i = 0; i < HAYAI_MAX_SET_UPS; i++) {
        hayai_suite_add(suite, "many", empty_loop, NULL, &one);
        hayai_benchmark_arg(one, 1);
        hayai_benchmark_set_up(one, do_nothing, NULL);
    }
    const hayai_options dry = {.dry_run = true, .output_count = 0};
    const hayai_reporter none = {0};
    hayai_options options = dry;
    options.reporters = &none;
    options.reporter_count = 1;
    assert_int_equal(hayai_suite_run(suite, &options, NULL), HAYAI_OK);
    hayai_suite_add(suite, "one_more", empty_loop, NULL, &one);
    hayai_benchmark_tear_down(one, do_nothing, NULL);
    assert_int_equal(hayai_suite_run(suite, &options, NULL), HAYAI_ERROR_LIMIT);
    options.filter = "-one_more";
    assert_int_equal(hayai_suite_run(suite, &options, NULL), HAYAI_OK);
}

/* ---- Order ----------------------------------------------------------------------------------- */

typedef struct sequence {
    char letters[256];
    size_t length;
} sequence;

static sequence order;

static void note_a(hayai_state *state, void *user)
{
    order.letters[order.length++] = *(const char *)user;
    empty_loop(state, NULL);
}

static size_t changes(void)
{
    size_t count = 0;
    for (size_t i = 1; i < order.length; i++)
        count += order.letters[i] != order.letters[i - 1];
    return count;
}

SUITE_TEST(test_google_benchmarks_random_interleaving)
{
    static char a = 'a', b = 'b';
    hayai_options options = {.iterations = 1, .repetitions = 60};
    hayai_suite *two = suite_of("a", note_a, &a, NULL);
    hayai_suite_add(two, "b", note_a, &b, NULL);
    order.length = 0;
    assert_int_equal(capture_run(seen, two, &options, NULL), HAYAI_OK);
    assert_int_equal(changes(), 1);
    options.random_interleaving = true;
    order.length = 0;
    seen->count = seen->reports = 0;
    assert_int_equal(capture_run(seen, two, &options, NULL), HAYAI_OK);
    assert_int_equal(order.length, 120);
    assert_true(changes() > 1); /* in order with a chance of 1 in 10^35 */
}

/* ---- What would abort ------------------------------------------------------------------------ */

static void expect_refused(hayai_status status)
{
    assert_int_equal(status, HAYAI_ERROR_ARGUMENT);
    assert_int_equal(hayai_suite_run(suite, NULL, NULL), HAYAI_ERROR_ARGUMENT);
    free_what_was_made(NULL);
    set_up(NULL);
}

SUITE_TEST(test_names_are_told)
{
    hayai_benchmark *one;
    static const char *const names[] = {"rows", NULL};
    hayai_suite_add(suite, "first", empty_loop, NULL, &one);
    assert_string_equal(hayai_benchmark_get_name(one), "first");
    assert_null(hayai_benchmark_get_arg_name(one, 0));
    hayai_benchmark_name(one, "second");
    hayai_benchmark_arg_names(one, names, 2);
    assert_string_equal(hayai_benchmark_get_name(one), "second");
    assert_string_equal(hayai_benchmark_get_arg_name(one, 0), "rows");
    assert_string_equal(hayai_benchmark_get_arg_name(one, 1), "");
    assert_null(hayai_benchmark_get_arg_name(one, 2));
}

SUITE_TEST(test_bad_settings)
{
    expect_refused(hayai_benchmark_min_time(benchmark, 0));
    expect_refused(hayai_benchmark_min_time(benchmark, NAN));
    expect_refused(hayai_benchmark_min_warm_up_time(benchmark, -1));
    expect_refused(hayai_benchmark_iterations(benchmark, 0));
    expect_refused(hayai_benchmark_repetitions(benchmark, 0));
    expect_refused(hayai_benchmark_unit(benchmark, (hayai_unit)9));
    expect_refused(hayai_benchmark_use_real_time(benchmark));
    expect_refused(hayai_benchmark_complexity(benchmark, HAYAI_COMPLEXITY_FUNCTION));
    expect_refused(hayai_benchmark_complexity_function(benchmark, NULL, NULL));
    expect_refused(hayai_benchmark_set_up(benchmark, NULL, NULL));
    expect_refused(hayai_benchmark_tear_down(benchmark, NULL, NULL));
    hayai_benchmark_min_time(benchmark, 1);
    expect_refused(hayai_benchmark_iterations(benchmark, 5));
    hayai_benchmark_iterations(benchmark, 5);
    expect_refused(hayai_benchmark_min_time(benchmark, 1));
    hayai_benchmark_iterations(benchmark, 5);
    expect_refused(hayai_benchmark_min_warm_up_time(benchmark, 1));
}

SUITE_TEST(test_bad_options)
{
    static const char *const no_output[] = {NULL};
    const hayai_options bad[] = {
        {.outputs = no_output, .output_count = 1},
        {.min_seconds = -1},
        {.min_seconds = NAN},
        {.min_warm_up_seconds = INFINITY},
        {.iterations = -1},
        {.repetitions = UINT32_MAX},
        {.unit = (hayai_unit)7},
        {.color = (hayai_color)7},
        {.output_count = 1},
        {.reporter_count = 1},
        {.interleave = true, .random_interleaving = true},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(hayai_suite_run(suite, &bad[i], NULL), HAYAI_ERROR_ARGUMENT);
    assert_int_equal(told.calls, 0);
}

int main(void)
{
    comma_locale_set();
    return test_run(NULL, NULL);
}
