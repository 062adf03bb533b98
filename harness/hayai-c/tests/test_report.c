/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the reported data: to reporters, as statistics and in every format. */
#include "capture.h"
#include "comma_locale.h"
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static capture *seen;
static hayai_suite *suite;
static hayai_benchmark *benchmark;

/* ---- Reporters ------------------------------------------------------------------------------- */

/* User-defined reporters, the context, memory and profiler managers. */

static void fail_always(hayai_state *state, void *user)
{
    (void)user;
    hayai_state_skip_with_error(state, "broken");
}

static int set_up_reporters(void **state)
{
    (void)state;
    suite = suite_of("first", empty_loop, NULL, NULL);
    hayai_suite_add(suite, "second", fail_always, NULL, NULL);
    hayai_suite_add(suite, "third", empty_loop, NULL, NULL);
    seen = capture_create();
    return 0;
}

TEST_WITH(test_all_callbacks_in_order, set_up_reporters)
{
    hayai_summary summary;
    assert_int_equal(capture_run(seen, suite, NULL, &summary), HAYAI_OK);
    assert_int_equal(seen->contexts, 1);
    assert_int_equal(seen->count, 3);
    assert_int_equal(seen->reports, 3);
    assert_int_equal(seen->finalized, 1);
    assert_int_equal(summary.instances, 3);
    assert_int_equal(summary.runs, 3);
    assert_int_equal(summary.errors, 1);
    assert_int_equal(summary.messages, 0);
    assert_string_equal(seen->runs[0].name, "first");
    assert_string_equal(seen->runs[0].function_name, "first");
    assert_string_equal(seen->runs[1].message, "broken");
    assert_int_equal(seen->runs[2].run.family, 2);
}

/* A filter leaves families out, and the others are numbered from 0, as Google Benchmark does. */
TEST_WITH(test_families_are_numbered_as_they_match, set_up_reporters)
{
    const hayai_options options = {.iterations = 1, .filter = "third"};
    assert_int_equal(capture_run(seen, suite, &options, NULL), HAYAI_OK);
    assert_int_equal(seen->count, 1);
    assert_int_equal(seen->runs[0].run.family, 0);
}

TEST_WITH(test_families_and_instances_have_their_numbers, set_up_reporters)
{
    static const int64_t families[] = {0, 0, 1, 1, 1}, instances[] = {0, 1, 0, 1, 2};
    hayai_benchmark *two, *three;
    hayai_suite *numbered = suite_of("two", empty_loop, NULL, &two);
    hayai_suite_add(numbered, "three", empty_loop, NULL, &three);
    hayai_benchmark_dense_range(two, 1, 3, 1);
    hayai_benchmark_dense_range(three, 1, 3, 1);
    const hayai_options options = {.iterations = 1, .repetitions = 2, .filter = "-two/2"};
    assert_int_equal(capture_run(seen, numbered, &options, NULL), HAYAI_OK);
    const size_t each = 2 + 4; /* repetitions and aggregates */
    assert_int_equal(seen->count, 5 * each);
    for (size_t i = 0; i < seen->count; i++) {
        assert_int_equal(seen->runs[i].run.family, families[i / each]);
        assert_int_equal(seen->runs[i].run.instance, instances[i / each]);
    }
}

TEST_WITH(test_a_reporter_can_stop_at_each_stage, set_up_reporters)
{
    seen->context_status = HAYAI_STOPPED;
    assert_int_equal(capture_run(seen, suite, NULL, NULL), HAYAI_STOPPED);
    assert_int_equal(seen->count, 0);
    assert_int_equal(seen->finalized, 1);
    seen->context_status = HAYAI_OK;
    seen->stop_at_run = 2;
    assert_int_equal(capture_run(seen, suite, NULL, NULL), HAYAI_STOPPED);
    assert_int_equal(seen->count, 2);
    assert_int_equal(seen->finalized, 2);
    seen->stop_at_run = 0;
    seen->report_status = HAYAI_ERROR_IO;
    assert_int_equal(capture_run(seen, suite, NULL, NULL), HAYAI_ERROR_IO);
    assert_int_equal(seen->count, 3);
    assert_int_equal(seen->finalized, 3);
    seen->report_status = HAYAI_OK;
    seen->finalize_status = HAYAI_ERROR_IO;
    assert_int_equal(capture_run(seen, suite, NULL, NULL), HAYAI_ERROR_IO);
    seen->finalize_status = HAYAI_OK;
    assert_int_equal(capture_run(seen, suite, NULL, NULL), HAYAI_OK); /* nothing is left from
                                                                       * before */
}

TEST_WITH(test_callbacks_may_be_missing, set_up_reporters)
{
    const hayai_reporter none = {0};
    const hayai_options options = {.iterations = 1, .reporters = &none, .reporter_count = 1};
    assert_int_equal(hayai_suite_run(suite, &options, NULL), HAYAI_OK);
}

TEST_WITH(test_several_reporters, set_up_reporters)
{
    capture *other = capture_create();
    const hayai_reporter both[] = {capture_reporter(seen), capture_reporter(other)};
    const hayai_options options = {.iterations = 1, .reporters = both, .reporter_count = 2};
    assert_int_equal(hayai_suite_run(suite, &options, NULL), HAYAI_OK);
    assert_int_equal(seen->count, 3);
    assert_int_equal(other->count, 3);
    assert_int_equal(other->finalized, 1);
}

typedef struct machine_seen {
    char custom[512];
    char executable[64], version[32], build[32], date[64], host[64];
    int processors;
    size_t caches, name_width;
} machine_seen;

static hayai_status keep_machine(const hayai_context *context, void *user)
{
    machine_seen *kept = user;
    kept->custom[0] = '\0';
    for (size_t i = 0; i < context->custom_count; i++) {
        const size_t length = strlen(kept->custom);
        snprintf(kept->custom + length, sizeof kept->custom - length, "%s=%s;",
                 context->custom[i].key, context->custom[i].value);
    }
    snprintf(kept->executable, sizeof kept->executable, "%s", context->executable);
    snprintf(kept->version, sizeof kept->version, "%s", context->library_version);
    snprintf(kept->build, sizeof kept->build, "%s", context->library_build);
    snprintf(kept->date, sizeof kept->date, "%s", context->date);
    snprintf(kept->host, sizeof kept->host, "%s", context->host_name);
    kept->processors = context->processors;
    kept->caches = context->cache_count;
    kept->name_width = context->name_width;
    return HAYAI_OK;
}

TEST_WITH(test_context, set_up_reporters)
{
    machine_seen kept;
    const hayai_reporter reporter = {.context = keep_machine, .user = &kept};
    const hayai_options options = {
        .iterations = 1, .reporters = &reporter, .reporter_count = 1, .executable = "the program"};
    assert_int_equal(hayai_add_context("zebra", "striped"), HAYAI_OK);
    assert_int_equal(hayai_add_context("ape", "hairy"), HAYAI_OK);
    assert_int_equal(hayai_add_context("ape", "bald"), HAYAI_ERROR_ARGUMENT);
    assert_int_equal(hayai_add_context("", "x"), HAYAI_ERROR_ARGUMENT);
    assert_int_equal(hayai_add_context("x", NULL), HAYAI_ERROR_ARGUMENT);
    assert_int_equal(hayai_suite_run(suite, &options, NULL), HAYAI_OK);
    assert_string_equal(kept.custom, "ape=hairy;zebra=striped;");
    assert_string_equal(kept.executable, "the program");
    assert_string_equal(kept.version, hayai_google_benchmark_version());
    assert_string_equal(kept.build, hayai_library_build());
    assert_int_equal(strlen(kept.date), strlen("2024-02-29T12:00:00+01:00"));
    assert_true(strlen(kept.host) > 0);
    assert_true(kept.processors > 0);
    assert_true(kept.name_width >= strlen("second"));
    hayai_shutdown();
    assert_int_equal(hayai_suite_run(suite, &options, NULL), HAYAI_OK);
    assert_string_equal(kept.custom, "");
    assert_int_equal(hayai_add_context("ape", "new"), HAYAI_OK);
    hayai_shutdown();
}

TEST_WITH(test_versions, set_up_reporters)
{
    int major, minor;
    assert_int_equal(sscanf(hayai_google_benchmark_version(), "%d.%d", &major, &minor), 2);
    assert_true(major >= 1);
    assert_int_equal(sscanf(hayai_version(), "%d.%d", &major, &minor), 2);
    const char *build = hayai_library_build();
    assert_true(strcmp(build, "debug") == 0 || strcmp(build, "release") == 0);
}

TEST_WITH(test_status_texts, set_up_reporters)
{
    for (int status = HAYAI_OK; status <= HAYAI_ERROR_NO_MATCH; status++) {
        assert_string_not_equal(hayai_status_string((hayai_status)status), "unknown status");
        for (int other = HAYAI_OK; other < status; other++)
            assert_string_not_equal(hayai_status_string((hayai_status)status),
                                    hayai_status_string((hayai_status)other));
    }
    assert_string_equal(hayai_status_string((hayai_status)99), "unknown status");
}

typedef struct meter {
    int started, stopped;
    bool complete;
} meter;

static void start(void *user)
{
    ((meter *)user)->started++;
}

static void stop(hayai_memory *result, void *user)
{
    meter *gauge = user;
    gauge->stopped++;
    result->allocations = 40 * gauge->stopped;
    result->max_bytes_used = 1000 + gauge->stopped;
    if (gauge->complete) {
        result->total_allocated_bytes = 7;
        result->net_heap_growth = -3;
    }
}

TEST_WITH(test_memory_manager, set_up_reporters)
{
    meter gauge = {0};
    const hayai_memory_manager manager = {.start = start, .stop = stop, .user = &gauge};
    const hayai_options options = {.iterations = 10, .repetitions = 5, .filter = "first|third"};
    assert_int_equal(hayai_register_memory_manager(&manager), HAYAI_OK);
    assert_int_equal(capture_run(seen, suite, &options, NULL), HAYAI_OK);
    assert_int_equal(gauge.started, 10);
    assert_int_equal(gauge.stopped, 10);
    int number = 0;
    for (size_t i = 0; i < seen->count; i++) {
        const captured *run = &seen->runs[i];
        assert_int_equal(run->has_memory, run->run.type == HAYAI_RUN_TYPE_ITERATION);
        if (!run->has_memory)
            continue;
        number++;
        assert_int_equal(run->memory.allocations, 40 * number);
        assert_int_equal(run->memory.max_bytes_used, 1000 + number);
        assert_true(run->memory.total_allocated_bytes == HAYAI_MEMORY_UNKNOWN);
        assert_close(run->run.allocations_per_iteration, 4 * number);
    }
    assert_int_equal(hayai_register_memory_manager(NULL), HAYAI_OK);
    seen->count = seen->reports = 0;
    assert_int_equal(capture_run(seen, suite, NULL, NULL), HAYAI_OK);
    assert_false(seen->runs[0].has_memory);
}

TEST_WITH(test_memory_manager_while_interleaving, set_up_reporters)
{
    meter gauge = {.complete = true};
    const hayai_memory_manager manager = {.start = start, .stop = stop, .user = &gauge};
    const hayai_options options = {.iterations = 10, .repetitions = 3, .interleave = true};
    hayai_register_memory_manager(&manager);
    assert_int_equal(capture_run(seen, suite, &options, NULL), HAYAI_OK);
    hayai_register_memory_manager(NULL);
    assert_int_equal(seen->runs[4].memory.max_bytes_used, 1005);
    assert_int_equal(seen->runs[4].memory.total_allocated_bytes, 7);
    assert_int_equal(seen->runs[4].memory.net_heap_growth, -3);
}

TEST_WITH(test_bad_managers, set_up_reporters)
{
    const hayai_memory_manager half = {.start = start};
    const hayai_profiler_manager none = {0};
    assert_int_equal(hayai_register_memory_manager(&half), HAYAI_ERROR_ARGUMENT);
    assert_int_equal(hayai_register_profiler_manager(&none), HAYAI_ERROR_ARGUMENT);
}

static void count_up(void *user)
{
    ++*(int *)user;
}

TEST_WITH(test_profiler_manager_or_a_status, set_up_reporters)
{
    int count = 0;
    const hayai_profiler_manager manager = {
        .after_set_up_start = count_up, .before_tear_down_stop = count_up, .user = &count};
    const hayai_status status = hayai_register_profiler_manager(&manager);
    assert_int_equal(status, library_version() < 10805 ? HAYAI_ERROR_UNSUPPORTED : HAYAI_OK);
    /* Newer libraries abort if one is registered already. */
    assert_int_equal(hayai_register_profiler_manager(&manager), status);
    assert_int_equal(capture_run(seen, suite, NULL, NULL), HAYAI_OK);
    assert_int_equal(count, status == HAYAI_OK ? 2 * 3 : 0);
    hayai_shutdown();
}

/* ---- Statistics ------------------------------------------------------------------------------ */

/* Statistics over repetitions, and the complexity fit. The times are manual. */

/* The n-th call takes the n-th of these times, and counts it too. */
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

static int set_up_statistics(void **state)
{
    (void)state;
    calls = 0;
    suite = suite_of("b", tell_in_turn, &calls, &benchmark);
    hayai_benchmark_use_manual_time(benchmark);
    hayai_benchmark_unit(benchmark, HAYAI_UNIT_MILLISECOND);
    seen = capture_create();
    return 0;
}

/* Checks the aggregates of the five times, in milliseconds. */
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

/* The library computes them; with hayai's interleaving ours must be the same. */
TEST_WITH(test_the_usual_statistics, set_up_statistics)
{
    hayai_options options = {.iterations = 4, .repetitions = 5};
    assert_int_equal(capture_run(seen, suite, &options, NULL), HAYAI_OK);
    check_five();
    options.interleave = true;
    seen->count = seen->reports = calls = 0;
    assert_int_equal(capture_run(seen, suite, &options, NULL), HAYAI_OK);
    check_five();
}

TEST_WITH(test_quartiles, set_up_statistics)
{
    const hayai_options options = {.iterations = 4, .repetitions = 5};
    assert_int_equal(hayai_benchmark_quartiles(benchmark), HAYAI_OK);
    assert_int_equal(capture_run(seen, suite, &options, NULL), HAYAI_OK);
    assert_close(capture_find(seen, "b/manual_time_q1")->run.real_time, 2);
    assert_close(capture_find(seen, "b/manual_time_q3")->run.real_time, 4);
    assert_close(capture_counter(capture_find(seen, "b/manual_time_q3"), "milliseconds"), 4);
}

TEST_WITH(test_quartiles_of_all_between_values, set_up_statistics)
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

TEST_WITH(test_own_statistics_with_contexts, set_up_statistics)
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
    assert_close(run->run.real_time, 0.01); /* a ratio, without a unit */
    assert_int_equal(run->run.aggregate_unit, HAYAI_STATISTIC_UNIT_PERCENTAGE);
    assert_close(capture_counter(run, "milliseconds"), 10);
}

TEST_WITH(test_bad_statistics, set_up_statistics)
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

/* Checks the fit of a family whose times are exactly 3 us * f(N). */
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

TEST_WITH(test_complexity_given, set_up_statistics)
{
    for (size_t i = 0; i < 6; i++)
        check_fit(&growths[i], false, 1);
}

TEST_WITH(test_complexity_found, set_up_statistics)
{
    for (size_t i = 0; i < 6; i++)
        check_fit(&growths[i], true, 1);
}

TEST_WITH(test_complexity_by_a_function_with_a_context, set_up_statistics)
{
    check_fit(&growths[6], false, 1);
    check_fit(&growths[6], false, 4);
}

/* Times 1 and 5 for f = 1, 2: c = (1 + 10) / (1 + 4) = 2.2, residuals -1.2 and 0.6; relative to the
 * mean time of 3: sqrt((1.44 + 0.36) / 2) / 3. */
static void two_points(hayai_state *state, void *user)
{
    (void)user;
    const int64_t n = hayai_state_range(state, 0);
    while (hayai_state_keep_running(state))
        hayai_state_set_iteration_time(state, n == 1 ? 1 : 5);
    hayai_state_set_complexity_n(state, n);
}

TEST_WITH(test_a_fit_with_a_rest, set_up_statistics)
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
TEST_WITH(test_complexity_without_n_is_an_error, set_up_statistics)
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
TEST_WITH(test_complexity_where_all_runs_failed, set_up_statistics)
{
    hayai_benchmark *family;
    hayai_suite *failing = suite_of("f", always_fail, NULL, &family);
    hayai_benchmark_dense_range(family, 1, 3, 1);
    hayai_benchmark_complexity(family, HAYAI_COMPLEXITY_AUTO);
    assert_int_equal(capture_run(seen, failing, NULL, NULL), HAYAI_OK);
    assert_int_equal(seen->count, 3);
}

/* ---- Formats --------------------------------------------------------------------------------- */

/* The formats: JSON by a strict parser, the others by their rules; and outputs that fail. */

static char output_path[128];

/* A string with everything that could break a document: quotes, control characters, bytes that are
 * not UTF-8. */
static const char nasty[] = "a\"b\\c\n\t\x01\x7f|<&>'\xff\xc0\x80 \xc3\xa9 \xed\xa0\x80";

static void measure_badly(hayai_state *state, void *user)
{
    (void)user;
    while (hayai_state_keep_running(state))
        hayai_state_set_iteration_time(state, 0.5);
    hayai_state_set_counter(state, "nan", NAN, 0, HAYAI_ONE_K_1000);
    hayai_state_set_counter(state, "inf", INFINITY, 0, HAYAI_ONE_K_1000);
    hayai_state_set_counter(state, "minus", -INFINITY, 0, HAYAI_ONE_K_1000);
    hayai_state_set_counter(state, "third", 1.0 / 3, 0, HAYAI_ONE_K_1024);
    hayai_state_set_counter(state, "real_time", 5, 0, HAYAI_ONE_K_1000); /* a name in the schema */
    hayai_state_set_counter(state, nasty, 1, 0, HAYAI_ONE_K_1000);
    hayai_state_set_label(state, nasty);
}

static void fail_nastily(hayai_state *state, void *user)
{
    (void)user;
    hayai_state_skip_with_error(state, nasty);
}

static void leave_out(hayai_state *state, void *user)
{
    (void)user;
    hayai_state_skip_with_message(state, "not on this machine");
}

static void tell_by_argument(hayai_state *state, void *user)
{
    (void)user;
    while (hayai_state_keep_running(state))
        hayai_state_set_iteration_time(state, 0.001 * (double)hayai_state_range(state, 0));
    hayai_state_set_complexity_n(state, hayai_state_range(state, 0));
}

static int set_up_formats(void **state)
{
    (void)state;
    suite = suite_of("measure", measure_badly, NULL, &benchmark);
    hayai_benchmark_use_manual_time(benchmark);
    hayai_suite_add(suite, "fail", fail_nastily, NULL, NULL);
    hayai_suite_add(suite, "left/out", leave_out, NULL, NULL);
    hayai_suite_add(suite, "scale", tell_by_argument, NULL, &benchmark);
    hayai_benchmark_use_manual_time(benchmark);
    hayai_benchmark_range(benchmark, 1, 8);
    hayai_benchmark_complexity(benchmark, HAYAI_COMPLEXITY_N);
    return 0;
}

static const char *in_directory(const char *name)
{
    snprintf(output_path, sizeof output_path, "%s/%s", directory, name);
    return output_path;
}

static hayai_status write_output(const char *format, const char *name, unsigned repetitions)
{
    char output[160];
    snprintf(output, sizeof output, "%s:%s", format, in_directory(name));
    const char *const outputs[] = {output, "none"};
    const hayai_options options = {
        .iterations = 1, .repetitions = repetitions, .outputs = outputs, .output_count = 2};
    return hayai_suite_run(suite, &options, NULL);
}

static char *read_all(const char *name)
{
    FILE *file = fopen(in_directory(name), "rb");
    assert_non_null(file);
    static char text[1 << 18];
    const size_t length = fread(text, 1, sizeof text - 1, file);
    assert_true(length > 0);
    text[length] = '\0';
    fclose(file);
    return text;
}

static size_t occurrences(const char *text, const char *word)
{
    size_t count = 0;
    for (; (text = strstr(text, word)); text += strlen(word))
        count++;
    return count;
}

static json_t *run_of(json_t *document, const char *name)
{
    size_t i;
    json_t *run;
    json_array_foreach(json_object_get(document, "benchmarks"), i,
                       run) if (strcmp(json_string_value(json_object_get(run, "name")), name) ==
                                0) return run;
    fail_msg("no run %s", name);
    return NULL;
}

static const char *text_in(json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    assert_non_null(text);
    return text;
}

/* The string as a strict parser must read it: each invalid byte is U+FFFD. */
static const char tamed[] = "a\"b\\c\n\t\x01\x7f|<&>'\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd "
                            "\xc3\xa9 \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd";

static void check_runs(json_t *document)
{
    json_t *run = run_of(document, "measure/manual_time");
    assert_true(json_is_null(json_object_get(run, "nan")));
    assert_true(json_is_null(json_object_get(run, "inf")));
    assert_true(json_is_null(json_object_get(run, "minus")));
    assert_true(json_real_value(json_object_get(run, "third")) == 1.0 / 3);
    assert_close(json_number_value(json_object_get(run, "real_time")), 0.5e9);
    assert_true(json_number_value(json_object_get(run, "user_real_time")) == 5);
    assert_true(json_number_value(json_object_get(run, tamed)) == 1);
    assert_string_equal(text_in(run, "label"), tamed);
    assert_string_equal(text_in(run, "run_type"), "iteration");
    assert_string_equal(text_in(run, "time_unit"), "ns");
    assert_int_equal(json_integer_value(json_object_get(run, "iterations")), 1);
    run = run_of(document, "fail");
    assert_true(json_is_true(json_object_get(run, "error_occurred")));
    assert_string_equal(text_in(run, "error_message"), tamed);
    run = run_of(document, "left/out");
    assert_true(json_is_true(json_object_get(run, "skipped")));
    assert_string_equal(text_in(run, "skip_message"), "not on this machine");
    run = run_of(document, "scale/manual_time_BigO");
    assert_string_equal(text_in(run, "big_o"), "N");
    assert_close(json_number_value(json_object_get(run, "real_coefficient")), 1e6);
    assert_string_equal(text_in(run, "aggregate_name"), "BigO");
    assert_true(json_is_number(json_object_get(run_of(document, "scale/manual_time_RMS"), "rms")));
}

TEST_WITH(test_json_is_strict, set_up_formats)
{
    json_error_t error;
    hayai_add_context("date", "a key of the schema");
    hayai_add_context("mine", nasty);
    assert_int_equal(write_output("json", "strict.json", 1), HAYAI_OK);
    hayai_shutdown();
    json_t *document = json_load_file(in_directory("strict.json"), JSON_REJECT_DUPLICATES, &error);
    if (!document)
        fail_msg("%s at %d:%d", error.text, error.line, error.column);
    check_runs(document);
    json_t *context = json_object_get(document, "context");
    assert_string_equal(text_in(context, "user_date"), "a key of the schema");
    assert_string_equal(text_in(context, "mine"), tamed);
    assert_string_equal(text_in(context, "library_build_type"), hayai_library_build());
    assert_true(json_is_array(json_object_get(context, "caches")));
    assert_true(json_is_array(json_object_get(context, "load_avg")));
    json_decref(document);
    struct stat status;
    assert_int_not_equal(stat(in_directory("strict.json.part"), &status), 0);
}

TEST_WITH(test_json_of_aggregates, set_up_formats)
{
    assert_int_equal(write_output("json", "aggregates.json", 3), HAYAI_OK);
    json_t *document =
        json_load_file(in_directory("aggregates.json"), JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(document);
    json_t *run = run_of(document, "measure/manual_time_cv");
    assert_string_equal(text_in(run, "aggregate_unit"), "percentage");
    assert_string_equal(text_in(run, "run_name"), "measure/manual_time");
    assert_null(json_object_get(run, "repetition_index"));
    json_decref(document);
}

TEST_WITH(test_json_lines, set_up_formats)
{
    assert_int_equal(write_output("jsonl", "lines.jsonl", 1), HAYAI_OK);
    char *text = read_all("lines.jsonl");
    json_t *runs = json_array(), *document = json_object();
    size_t lines = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"), lines++) {
        json_t *object = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
        assert_non_null(object);
        if (lines == 0)
            assert_true(json_is_object(json_object_get(object, "context")));
        else
            json_array_append(runs, object);
        json_decref(object);
    }
    json_object_set_new(document, "benchmarks", runs);
    assert_int_equal(lines, 1 + 3 + 2 + 2);
    check_runs(document);
    json_decref(document);
}

TEST_WITH(test_tsv_has_the_same_columns_everywhere, set_up_formats)
{
    assert_int_equal(write_output("tsv", "table.tsv", 1), HAYAI_OK);
    char *text = read_all("table.tsv");
    assert_int_equal(strncmp(text, "name\tfunction\targuments\tthreads\trun_type\taggregate\t", 51),
                     0);
    size_t lines = 0;
    for (char *line = text; *line; lines++) {
        char *end = strchr(line, '\n');
        assert_non_null(end);
        *end = '\0';
        assert_int_equal(occurrences(line, "\t"), 13);
        line = end + 1;
        *end = ' ';
    }
    assert_int_equal(lines, 1 + (2 + 6) + 2 + 2 + 2 * 2 + 2 * 2);
    assert_non_null(strstr(text, "\treal_time\t500000000\tns\t\t\ta\"b\\\\c\\n\\t\x01\x7f|<&>'"));
    assert_non_null(strstr(text, "\tnan\t\t\t"));
    assert_non_null(strstr(text, "\tthird\t0.3333333333333333\t\t"));
    assert_non_null(strstr(text, "\treal_time\t\tns\tskipped\tnot on this machine\t"));
}

TEST_WITH(test_junit, set_up_formats)
{
    assert_int_equal(write_output("junit", "report.xml", 2), HAYAI_OK);
    char *text = read_all("report.xml");
    assert_int_equal(strncmp(text, "<?xml version=\"1.0\"", 19), 0);
    assert_non_null(strstr(text, " tests=\"10\" failures=\"2\" errors=\"0\" skipped=\"2\" "));
    assert_int_equal(occurrences(text, "<testcase "), 10);
    assert_int_equal(occurrences(text, "</testcase>"), 10);
    assert_int_equal(occurrences(text, "<failure message=\"a&quot;b\\c&#10;&#9;"), 2);
    assert_int_equal(occurrences(text, "<skipped message=\"not on this machine\"/>"), 2);
    assert_non_null(strstr(text, "name=\"measure/manual_time repetition 1\" time=\"0.5\""));
    assert_non_null(strstr(text, "<property name=\"real_seconds_per_iteration\" value=\"0.5\"/>"));
    assert_non_null(strstr(text, "<property name=\"inf\" value=\"Infinity\"/>"));
    assert_non_null(strstr(text, "<property name=\"minus\" value=\"-Infinity\"/>"));
    assert_non_null(strstr(text, "<property name=\"nan\" value=\"NaN\"/>"));
    assert_int_equal(occurrences(text, "\x01"), 0);
    assert_string_equal(text + strlen(text) - 14, "</testsuites>\n");
}

TEST_WITH(test_markdown, set_up_formats)
{
    assert_int_equal(write_output("markdown", "table.md", 1), HAYAI_OK);
    char *text = read_all("table.md");
    assert_non_null(strstr(text, "\n| benchmark | time | CPU | iterations | counters |\n|:--|"));
    assert_non_null(strstr(text, "\n| measure/manual\\_time | 500000000 ns | "));
    assert_non_null(strstr(text, "inf Infinity, minus -Infinity, nan NaN, "));
    assert_non_null(strstr(text, "\n| fail | – | – | – | error: a\"b\\\\c  "));
    assert_non_null(strstr(text, "\n| left/out | – | – | – | skipped: not on this machine |\n"));
    assert_non_null(strstr(text, "\n| scale/manual\\_time\\_BigO | 1000000 ns N | "));
}

TEST_WITH(test_google_benchmarks_own, set_up_formats)
{
    assert_int_equal(write_output("console", "console.txt", 1), HAYAI_OK);
    char *text = read_all("console.txt");
    assert_non_null(strstr(text, "measure/manual_time"));
    assert_null(strstr(text, "\x1eskip:"));
    assert_int_equal(write_output("google-json", "google.json", 1), HAYAI_OK);
    text = read_all("google.json");
    assert_non_null(strstr(text, "\"benchmarks\": ["));
    hayai_suite *plain = suite_of("plain", empty_loop, NULL, NULL);
    hayai_suite *whole = suite;
    suite = plain;
    assert_int_equal(write_output("csv", "plain.csv", 1), HAYAI_OK);
    text = read_all("plain.csv");
    assert_non_null(strstr(text, "name,iterations,real_time,cpu_time"));
    assert_non_null(strstr(text, "\"plain\",1,"));
    suite = whole;
}

static void count_once(hayai_state *state, void *user)
{
    (void)user;
    empty_loop(state, NULL);
    hayai_state_set_counter(state, "late", 1, 0, HAYAI_ONE_K_1000);
}

/* Google Benchmark aborts on this. */
TEST_WITH(test_csv_with_new_counters_is_refused, set_up_formats)
{
    hayai_suite *uneven = suite_of("without", empty_loop, NULL, NULL);
    hayai_suite_add(uneven, "with", count_once, NULL, NULL);
    hayai_suite *whole = suite;
    suite = uneven;
    assert_int_equal(write_output("csv", "uneven.csv", 1), HAYAI_ERROR_ARGUMENT);
    suite = whole;
}

static void count_two(hayai_state *state, void *user)
{
    (void)user;
    empty_loop(state, NULL);
    hayai_state_set_counter(state, "first_counter", 1, 0, HAYAI_ONE_K_1000);
}

/* Returns the output of a run on standard output. */
static char *print_run(const hayai_options *options)
{
    hayai_suite *counting = suite_of("counting", count_two, NULL, NULL);
    output_catch();
    const hayai_status status = hayai_suite_run(counting, options, NULL);
    char *printed = output_caught();
    assert_int_equal(status, HAYAI_OK);
    return printed;
}

TEST_WITH(test_console_is_the_default_with_color_if_wanted, set_up_formats)
{
    hayai_options options = {.iterations = 1, .color = HAYAI_COLOR_NEVER};
    char *text = print_run(&options);
    assert_non_null(strstr(text, "counting"));
    assert_non_null(strstr(text, "first_counter=1"));
    assert_null(strstr(text, "\x1b["));
    options.color = HAYAI_COLOR_ALWAYS;
    text = print_run(&options);
    assert_non_null(strstr(text, "\x1b["));
}

TEST_WITH(test_counters_tabular, set_up_formats)
{
    const hayai_options options = {.iterations = 1, .counters_tabular = true};
    char *text = print_run(&options);
    assert_non_null(strstr(text, "Iterations first_counter\n"));
}

TEST_WITH(test_a_document_on_standard_output, set_up_formats)
{
    static const char *const outputs[] = {"json:-"};
    const hayai_options options = {.iterations = 1, .outputs = outputs, .output_count = 1};
    char *text = print_run(&options);
    json_t *document = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(document); /* nothing else was printed */
    json_decref(document);
}

TEST_WITH(test_outputs_that_fail, set_up_formats)
{
    char missing[3][160];
    static const char *const formats[] = {"json", "tsv", "console"};
    for (int i = 0; i < 3; i++)
        snprintf(missing[i], sizeof missing[i], "%s:%s/missing/x", formats[i], directory);
    const char *const bad[] = {missing[0], missing[1], missing[2], "yaml:x", ""};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const hayai_options options = {.iterations = 1, .outputs = &bad[i], .output_count = 1};
        const hayai_status status = hayai_suite_run(suite, &options, NULL);
        assert_int_equal(status, i < 3 ? HAYAI_ERROR_IO : HAYAI_ERROR_ARGUMENT);
    }
    if (access("/dev/full", W_OK) != 0)
        return;
    static const char *const full[] = {"jsonl:/dev/full", "json:/dev/full", "console:/dev/full",
                                       "junit:/dev/full"};
    for (size_t i = 0; i < 4; i++) {
        const char *const outputs[] = {full[i], "none"};
        const hayai_options options = {.iterations = 1, .outputs = outputs, .output_count = 2};
        assert_int_equal(hayai_suite_run(suite, &options, NULL), HAYAI_ERROR_IO);
        assert_non_null(strstr(hayai_last_message(), "/dev/full"));
    }
}

TEST_WITH(test_a_link_stays_a_link, set_up_formats)
{
    char link[128];
    snprintf(link, sizeof link, "%s/link.json", directory);
    FILE *file = fopen(in_directory("target.json"), "w");
    fclose(file);
    assert_int_equal(symlink("target.json", link), 0);
    assert_int_equal(write_output("json", "link.json", 1), HAYAI_OK);
    struct stat status;
    assert_int_equal(lstat(link, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    json_t *document = json_load_file(in_directory("target.json"), 0, NULL);
    assert_non_null(document);
    json_decref(document);
}

static hayai_status run_to(const char *first, const char *second)
{
    const char *const outputs[] = {first, second, "none"};
    const hayai_options options = {
        .iterations = 1, .outputs = outputs, .output_count = 3, .filter = "left"};
    return hayai_suite_run(suite, &options, NULL);
}

static const char *in(const char *format, const char *name)
{
    static char texts[8][192];
    static int next;
    char *text = texts[next++ % 8];
    snprintf(text, sizeof texts[0], "%s:%s/%s", format, directory, name);
    return text;
}

TEST_WITH(test_two_outputs_never_share_a_place, set_up_formats)
{
    char linked[160], plain[160];
    assert_int_equal(run_to("json", "tsv"), HAYAI_ERROR_ARGUMENT);
    assert_string_equal(hayai_last_message(),
                        "outputs json and tsv: both write to standard output");
    assert_int_equal(run_to("console:-", "csv"), HAYAI_ERROR_ARGUMENT);
    assert_int_equal(run_to(in("json", "new"), in("tsv", "new")), HAYAI_ERROR_ARGUMENT);
    assert_int_equal(run_to(in("json", "new"), in("tsv", "./new")), HAYAI_ERROR_ARGUMENT);
    assert_int_equal(run_to(in("json", "new"), in("tsv", "new.part")), HAYAI_ERROR_ARGUMENT);
    snprintf(plain, sizeof plain, "%s/new", directory);
    assert_int_not_equal(access(plain, F_OK), 0); /* refused before any file is opened */
    assert_int_equal(run_to(in("json", "new"), in("tsv", "other")), HAYAI_OK);
    snprintf(linked, sizeof linked, "%s/linked", directory);
    assert_int_equal(symlink(plain, linked), 0);
    assert_int_equal(run_to(in("jsonl", "new"), in("tsv", "linked")), HAYAI_ERROR_ARGUMENT);
    assert_int_equal(run_to("json:/dev/null", "tsv:/dev/null"), HAYAI_OK);
    remove(plain);
    assert_int_equal(run_to(in("json", "other"), in("tsv", "linked")), HAYAI_ERROR_IO);
    assert_non_null(strstr(hayai_last_message(), "/linked: a link to a file that does not exist"));
    assert_int_not_equal(access(plain, F_OK), 0);
    remove(linked);
    snprintf(plain, sizeof plain, "%s/other", directory);
    remove(plain);
}

static const char *listed(const char *format)
{
    static char text[1024];
    const char *const output = in(format, "list"), *const listed_to = strchr(output, ':') + 1;
    const hayai_reporter quiet = {0};
    const hayai_options options = {.filter = "left|scale/1",
                                   .outputs = &output,
                                   .output_count = 1,
                                   .reporters = &quiet,
                                   .reporter_count = 1};
    assert_int_equal(hayai_suite_report_list(suite, &options), HAYAI_OK);
    FILE *file = fopen(listed_to, "rb");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    remove(listed_to);
    return text;
}

static hayai_status on_list(const char *const *names, size_t count, void *user)
{
    snprintf(user, 64, "%zu:%s,%s", count, names[0], names[1]);
    return HAYAI_OK;
}

TEST_WITH(test_lists, set_up_formats)
{
    assert_string_equal(listed("console"), "left/out\nscale/1/manual_time\n");
    assert_string_equal(listed("markdown"), "left/out\nscale/1/manual_time\n");
    assert_string_equal(listed("tsv"), "name\nleft/out\nscale/1/manual_time\n");
    assert_string_equal(listed("csv"), "name\n\"left/out\"\n\"scale/1/manual_time\"\n");
    assert_string_equal(listed("jsonl"),
                        "{\"name\":\"left/out\"}\n{\"name\":\"scale/1/manual_time\"}\n");
    for (int i = 0; i < 2; i++) {
        json_t *document = json_loads(listed(i ? "json" : "google-json"), 0, NULL);
        json_t *names = json_object_get(document, "benchmarks");
        assert_int_equal(json_array_size(names), 2);
        assert_string_equal(json_string_value(json_object_get(json_array_get(names, 1), "name")),
                            "scale/1/manual_time");
        json_decref(document);
    }
    char lines[64] = "";
    const hayai_reporter reporter = {.list = on_list, .user = lines};
    const hayai_options options = {
        .filter = "left|scale/1", .reporters = &reporter, .reporter_count = 1};
    assert_int_equal(hayai_suite_report_list(suite, &options), HAYAI_OK);
    assert_string_equal(lines, "2:left/out,scale/1/manual_time");
}

/* ---- Runs that are killed -------------------------------------------------------------------- */

/* A run that is killed at any moment leaves valid documents of its results so far. */

static char json_path[128], xml_path[128], jsonl_path[128];

/* Runs for ever, with the largest reports at the highest rate. */
static void run_for_ever(void)
{
    char outputs[3][160];
    snprintf(outputs[0], sizeof outputs[0], "json:%s", json_path);
    snprintf(outputs[1], sizeof outputs[1], "junit:%s", xml_path);
    snprintf(outputs[2], sizeof outputs[2], "jsonl:%s", jsonl_path);
    const char *const list[] = {outputs[2], outputs[0], outputs[1], "none"};
    suite = hayai_suite_create();
    hayai_suite_add(suite, "a", empty_loop, NULL, NULL);
    hayai_suite_add(suite, "b", empty_loop, NULL, NULL);
    const hayai_options options = {.iterations = 1,
                                   .repetitions = 1000000000,
                                   .interleave = true,
                                   .outputs = list,
                                   .output_count = 4};
    _exit(hayai_suite_run(suite, &options, NULL) == HAYAI_OK ? 0 : 1);
}

static void wait_for(const char *path, off_t size)
{
    const struct timespec pause = {.tv_nsec = 200000};
    for (struct stat file; stat(path, &file) != 0 || file.st_size < size;)
        nanosleep(&pause, NULL);
}

/* Starts a run and kills it so many microseconds after its document has this size, so that on any
 * machine the later runs have many results. */
static void kill_after(off_t size, long microseconds)
{
    remove(json_path);
    remove(xml_path);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        run_for_ever();
    wait_for(xml_path, 1);
    wait_for(json_path, size);
    const struct timespec pause = {.tv_nsec = microseconds * 1000};
    nanosleep(&pause, NULL);
    kill(child, SIGKILL);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

static size_t check_json(void)
{
    json_error_t error;
    json_t *document = json_load_file(json_path, JSON_REJECT_DUPLICATES, &error);
    if (!document)
        fail_msg("%s at %d:%d", error.text, error.line, error.column);
    const size_t runs = json_array_size(json_object_get(document, "benchmarks"));
    json_decref(document);
    return runs;
}

static void check_xml(void)
{
    char end[16] = "";
    FILE *file = fopen(xml_path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, -14, SEEK_END), 0);
    assert_int_equal(fread(end, 1, 14, file), 14);
    fclose(file);
    assert_string_equal(end, "</testsuites>\n");
}

/* Checks all lines except the one that was being written; returns their number. */
static size_t check_lines(void)
{
    FILE *file = fopen(jsonl_path, "rb");
    assert_non_null(file);
    static char line[16384];
    size_t lines = 0;
    while (fgets(line, sizeof line, file) && strchr(line, '\n')) {
        json_t *object = json_loads(line, 0, NULL);
        assert_non_null(object);
        json_decref(object);
        lines++;
    }
    fclose(file);
    return lines;
}

TEST(test_killed_at_many_moments)
{
    size_t most = 0;
    for (int i = 0; i < 40; i++) {
        kill_after(i * 200, i * 50L);
        const size_t runs = check_json();
        check_xml();
        /* Each line is written first, so there are at least as many as in the document. */
        assert_true(check_lines() >= 1 + runs);
        most = runs > most ? runs : most;
    }
    assert_true(most > 10); /* some were killed during the run, not before it */
}

static int make_directory(void **state)
{
    if (directory_create(state) != 0)
        return -1;
    snprintf(json_path, sizeof json_path, "%s/run.json", directory);
    snprintf(xml_path, sizeof xml_path, "%s/run.xml", directory);
    snprintf(jsonl_path, sizeof jsonl_path, "%s/run.jsonl", directory);
    return 0;
}

int main(void)
{
    comma_locale_set();
    return test_run(make_directory, directory_remove);
}
