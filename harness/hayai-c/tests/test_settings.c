/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the settings of a benchmark, the options and the arguments. */
#include "capture.h"
#include "comma_locale.h"
#include <math.h>
#include <stdio.h>
#include <unistd.h>

static capture *seen;
static hayai_suite *suite;
static hayai_benchmark *benchmark;

/* ---- Settings -------------------------------------------------------------------------------- */

/* Settings of a benchmark: times, repetitions, threads, set-up. Times are manual, so that every
 * figure is known. */

/* Reports a time for each iteration, and counts all its calls. */
typedef struct clock {
    double seconds; /* of an iteration */
    int calls;
    double total; /* reported so far */
} manual_clock;
static manual_clock manual;

static void report_times(hayai_state *state, void *user)
{
    manual_clock *clock = user;
    clock->calls++;
    while (hayai_state_keep_running(state)) {
        hayai_state_set_iteration_time(state, clock->seconds);
        clock->total += clock->seconds;
    }
}

static int set_up_settings(void **state)
{
    (void)state;
    manual = (manual_clock){.seconds = 0.001};
    suite = suite_of("b", report_times, &manual, &benchmark);
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

TEST_WITH(test_min_time, set_up_settings)
{
    const hayai_options options = {.min_seconds = 0.002};
    assert_int_equal(hayai_benchmark_min_time(benchmark, 0.02), HAYAI_OK);
    const captured *run = run_one(&options);
    assert_true(run->run.real_seconds >= 0.02);
    assert_string_equal(run->name, "b/min_time:0.020/manual_time");
}

TEST_WITH(test_min_seconds_of_all, set_up_settings)
{
    const hayai_options options = {.min_seconds = 0.2};
    const captured *run = run_one(&options);
    assert_true(run->run.real_seconds >= 0.2 && run->run.real_seconds < 0.5);
    assert_string_equal(run->name, "b/manual_time");
}

TEST_WITH(test_half_a_second_is_the_default, set_up_settings)
{
    const hayai_options options = {0};
    assert_true(run_one(&options)->run.real_seconds >= 0.5);
}

TEST_WITH(test_min_warm_up_time, set_up_settings)
{
    const hayai_options options = {0};
    hayai_benchmark_min_time(benchmark, 0.001);
    assert_int_equal(hayai_benchmark_min_warm_up_time(benchmark, 0.03), HAYAI_OK);
    const captured *run = run_one(&options);
    assert_true(manual.total - run->run.real_seconds >= 0.03);
    assert_non_null(strstr(run->name, "min_warmup_time:0.030"));
}

TEST_WITH(test_min_warm_up_of_all, set_up_settings)
{
    const hayai_options options = {.min_seconds = 0.001, .min_warm_up_seconds = 0.03};
    const captured *run = run_one(&options);
    assert_true(manual.total - run->run.real_seconds >= 0.03);
}

TEST_WITH(test_iterations_of_all, set_up_settings)
{
    const hayai_options options = {.iterations = 17};
    const captured *run = run_one(&options);
    assert_int_equal(run->run.iterations, 17);
    assert_string_equal(run->name, "b/manual_time");
}

TEST_WITH(test_own_iterations_win, set_up_settings)
{
    const hayai_options options = {.iterations = 17};
    hayai_benchmark_iterations(benchmark, 3);
    assert_int_equal(run_one(&options)->run.iterations, 3);
}

TEST_WITH(test_dry_run, set_up_settings)
{
    const hayai_options options = {.dry_run = true, .repetitions = 4};
    hayai_benchmark_min_time(benchmark, 1);
    hayai_benchmark_repetitions(benchmark, 5);
    assert_int_equal(run_one(&options)->run.iterations, 1);
    assert_int_equal(manual.calls, 1);
    assert_string_equal(seen->runs[0].name, "b/min_time:1.000/repeats:5/manual_time");
}

TEST_WITH(test_repetitions, set_up_settings)
{
    const hayai_options options = {.iterations = 1, .repetitions = 2};
    hayai_benchmark_repetitions(benchmark, 3);
    run_one(&options);
    assert_int_equal(manual.calls, 3);
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

TEST_WITH(test_repetitions_of_all, set_up_settings)
{
    const hayai_options options = {.iterations = 1, .repetitions = 2};
    run_one(&options);
    assert_int_equal(manual.calls, 2);
}

TEST_WITH(test_unit, set_up_settings)
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

TEST_WITH(test_unit_of_all, set_up_settings)
{
    const hayai_options options = {.iterations = 1, .unit = HAYAI_UNIT_MICROSECOND};
    assert_close(run_one(&options)->run.real_time, 1000);
}

/* The names show which clock the library uses. */
TEST_WITH(test_clocks, set_up_settings)
{
    hayai_benchmark *real, *process;
    hayai_suite_add(suite, "real", empty_loop, NULL, &real);
    hayai_suite_add(suite, "process", empty_loop, NULL, &process);
    assert_int_equal(hayai_benchmark_use_real_time(real), HAYAI_OK);
    assert_int_equal(hayai_benchmark_measure_process_cpu_time(process), HAYAI_OK);
    assert_string_equal(names_of(suite, NULL), "b/manual_time\nreal/real_time\n"
                                               "process/process_time\n");
}

TEST_WITH(test_aggregates_only, set_up_settings)
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
        set_up_settings(NULL);
    }
}

TEST_WITH(test_a_single_run_is_reported_all_the_same, set_up_settings)
{
    hayai_benchmark_report_aggregates_only(benchmark, true);
    run_one(NULL);
    assert_int_equal(seen->count, 1);
}

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

TEST_WITH(test_set_up_and_tear_down_with_contexts, set_up_settings)
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

TEST_WITH(test_set_up_has_no_clock, set_up_settings)
{
    hayai_benchmark_set_up(benchmark, change_in_set_up, &manual);
    run_one(NULL);
}

static void do_nothing(const hayai_state *state, void *user)
{
    (void)state;
    (void)user;
}

TEST_WITH(test_more_set_ups_than_there_can_be, set_up_settings)
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

TEST_WITH(test_google_benchmarks_random_interleaving, set_up_settings)
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
    assert_true(changes() > 1); /* the probability of the original order is 1 in 10^35 */
}

static void expect_refused(hayai_status status)
{
    assert_int_equal(status, HAYAI_ERROR_ARGUMENT);
    assert_int_equal(hayai_suite_run(suite, NULL, NULL), HAYAI_ERROR_ARGUMENT);
    free_what_was_made(NULL);
    set_up_settings(NULL);
}

TEST_WITH(test_names_are_returned, set_up_settings)
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

TEST_WITH(test_bad_settings, set_up_settings)
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

TEST_WITH(test_bad_options, set_up_settings)
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
    assert_int_equal(manual.calls, 0);
}

/* ---- Options --------------------------------------------------------------------------------- */

/* The command line and the environment. */

static hayai_options parsed;
static hayai_command command;
static int left;
static char *words[16];
static char buffer[1024];

/* Parses a line that is split at blanks. */
static hayai_status parse(const char *line)
{
    snprintf(buffer, sizeof buffer, "program %s", line);
    left = 0;
    for (char *word = strtok(buffer, " "); word; word = strtok(NULL, " "))
        words[left++] = word;
    words[left] = NULL;
    return hayai_options_parse(&parsed, &command, &left, words);
}

static void expect(const char *line)
{
    if (parse(line) != HAYAI_OK)
        fail_msg("%s: %s", line, hayai_last_message());
    assert_int_equal(left, 1);
}

TEST(test_nothing_is_the_default)
{
    expect("");
    assert_int_equal(command, HAYAI_COMMAND_RUN);
    assert_null(parsed.filter);
    assert_int_equal(parsed.output_count, 0);
    assert_true(parsed.min_seconds == 0 && parsed.repetitions == 0 && !parsed.interleave);
    assert_string_equal(parsed.executable, "program");
    hayai_options_release(&parsed);
}

TEST(test_google_benchmarks_flags)
{
    expect("--benchmark_filter=abc --benchmark_min_time=0.25 --benchmark_min_warmup_time=0.5 "
           "--benchmark_repetitions=7 --benchmark_enable_random_interleaving "
           "--benchmark_report_aggregates_only=true --benchmark_display_aggregates_only=yes "
           "--benchmark_counters_tabular --benchmark_perf_counters=CYCLES "
           "--benchmark_time_unit=ms --benchmark_dry_run --benchmark_color=false --v=2");
    assert_string_equal(parsed.filter, "abc");
    assert_true(parsed.min_seconds == 0.25 && parsed.min_warm_up_seconds == 0.5);
    assert_int_equal(parsed.repetitions, 7);
    assert_true(parsed.random_interleaving && parsed.report_aggregates_only);
    assert_true(parsed.display_aggregates_only && parsed.counters_tabular && parsed.dry_run);
    assert_string_equal(parsed.perf_counters, "CYCLES");
    assert_int_equal(parsed.unit, HAYAI_UNIT_MILLISECOND);
    assert_int_equal(parsed.color, HAYAI_COLOR_NEVER);
    assert_int_equal(parsed.verbosity, 2);
    hayai_options_release(&parsed);
}

TEST(test_truths)
{
    expect("--benchmark_dry_run=false --benchmark_counters_tabular=0 --benchmark_color=1 "
           "--benchmark_report_aggregates_only=off");
    assert_false(parsed.dry_run || parsed.counters_tabular || parsed.report_aggregates_only);
    assert_int_equal(parsed.color, HAYAI_COLOR_ALWAYS);
    hayai_options_release(&parsed);
}

TEST(test_min_time_in_all_its_spellings)
{
    expect("--benchmark_min_time=2s");
    assert_true(parsed.min_seconds == 2 && parsed.iterations == 0);
    hayai_options_release(&parsed);
    expect("--benchmark_min_time=30x");
    assert_int_equal(parsed.iterations, 30);
    hayai_options_release(&parsed);
}

TEST(test_outputs)
{
    expect("-o json:a.json --output=tsv:b:c.tsv -ojunit:d.xml --output console "
           "--benchmark_format=jsonl --benchmark_out=e.md --benchmark_out_format=markdown");
    static const char *const expected[] = {"json:a.json", "tsv:b:c.tsv", "junit:d.xml",
                                           "console",     "jsonl",       "markdown:e.md"};
    assert_int_equal(parsed.output_count, 6);
    for (size_t i = 0; i < 6; i++)
        assert_string_equal(parsed.outputs[i], expected[i]);
    hayai_options_release(&parsed);
    expect("--benchmark_out=f");
    assert_string_equal(parsed.outputs[0], "json:f");
    hayai_options_release(&parsed);
}

TEST(test_own_flags)
{
    expect("-f text --shuffle=0x10 -q --list");
    assert_string_equal(parsed.filter, "text");
    assert_true(parsed.interleave && parsed.seed == 16 && parsed.quartiles);
    assert_int_equal(command, HAYAI_COMMAND_LIST);
    hayai_options_release(&parsed);
    expect("-s 18446744073709551615");
    assert_true(parsed.seed == UINT64_MAX);
    hayai_options_release(&parsed);
    expect("--benchmark_list_tests");
    assert_int_equal(command, HAYAI_COMMAND_LIST);
    hayai_options_release(&parsed);
    expect("-h");
    assert_int_equal(command, HAYAI_COMMAND_HELP);
    hayai_options_release(&parsed);
}

TEST(test_what_is_not_understood_is_left)
{
    assert_int_equal(parse("a -l --unknown=3 -f x b --benchmark_unknown"), HAYAI_OK);
    assert_int_equal(left, 5);
    assert_string_equal(words[1], "a");
    assert_string_equal(words[2], "--unknown=3");
    assert_string_equal(words[3], "b");
    assert_string_equal(words[4], "--benchmark_unknown");
    assert_null(words[5]);
    hayai_options_release(&parsed);
}

/* On these Google Benchmark prints its usage and exits, aborts, or accepts invalid values. */
TEST(test_bad_values)
{
    static const char *const bad[] = {
        "--benchmark_min_time=",
        "--benchmark_min_time=abc",
        "--benchmark_min_time=-1",
        "--benchmark_min_time=nan",
        "--benchmark_min_time=3xx",
        "--benchmark_min_time=0x",
        "--benchmark_min_time",
        "--benchmark_min_warmup_time=x",
        "--benchmark_repetitions=0",
        "--benchmark_repetitions=-3",
        "--benchmark_repetitions=9999999999",
        "--benchmark_format=yaml",
        "--benchmark_out_format=yaml",
        "--benchmark_time_unit=h",
        "--benchmark_context=novalue",
        "--benchmark_context==x",
        "--v=x",
        "-o",
        "-o yaml:x",
        "-s",
        "-s x",
        "-s -1",
        "-s 99999999999999999999",
        "--filter",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (parse(bad[i]) != HAYAI_ERROR_ARGUMENT)
            fail_msg("%s was accepted", bad[i]);
        assert_true(strlen(hayai_last_message()) > 0);
    }
    assert_int_equal(hayai_options_parse(NULL, &command, &left, words), HAYAI_ERROR_ARGUMENT);
}

TEST(test_environment)
{
    setenv("BENCHMARK_FILTER", "from_environment", 1);
    setenv("BENCHMARK_REPETITIONS", "5", 1);
    expect("--benchmark_repetitions=6");
    assert_string_equal(parsed.filter, "from_environment");
    assert_int_equal(parsed.repetitions, 6);
    hayai_options_release(&parsed);
    setenv("BENCHMARK_REPETITIONS", "many", 1);
    assert_int_equal(parse(""), HAYAI_ERROR_ARGUMENT);
    assert_non_null(strstr(hayai_last_message(), "BENCHMARK_REPETITIONS"));
    unsetenv("BENCHMARK_FILTER");
    unsetenv("BENCHMARK_REPETITIONS");
}

static hayai_status keep_custom(const hayai_context *machine, void *user)
{
    char *text = user;
    for (size_t i = 0; i < machine->custom_count; i++)
        snprintf(text + strlen(text), 100, "%s=%s;", machine->custom[i].key,
                 machine->custom[i].value);
    return HAYAI_OK;
}

TEST(test_context)
{
    char text[256] = "";
    const hayai_reporter reporter = {.context = keep_custom, .user = text};
    suite = suite_of("b", empty_loop, NULL, NULL);
    expect("--benchmark_context=b=2,a=1");
    parsed.reporters = &reporter;
    parsed.reporter_count = 1;
    parsed.dry_run = true;
    assert_int_equal(hayai_suite_run(suite, &parsed, NULL), HAYAI_OK);
    assert_string_equal(text, "a=1;b=2;");
    hayai_options_release(&parsed);
    assert_int_equal(parse("--benchmark_context=a=3"), HAYAI_ERROR_ARGUMENT);
    hayai_shutdown();
}

static int64_t calls_counted;

static void count_calls(hayai_state *state, void *user)
{
    calls_counted++;
    empty_loop(state, user);
}

/* Only the command line's parser reads the environment; a run with options does not. */
TEST(test_a_run_without_command_line_ignores_the_environment)
{
    suite = suite_of("b", count_calls, NULL, NULL);
    capture *got = capture_create();
    assert_int_equal(capture_run(got, suite, NULL, NULL), HAYAI_OK);
    assert_int_equal(calls_counted, 1);
    assert_int_equal(got->count, 1);
}

/* Google Benchmark's verbose log goes to standard error. */
TEST(test_verbosity_reaches_the_library)
{
    suite = suite_of("b", empty_loop, NULL, NULL);
    capture *got = capture_create();
    const hayai_options verbose = {.iterations = 1, .verbosity = 2};
    output_catch();
    const hayai_status status = capture_run(got, suite, &verbose, NULL);
    char *said = output_caught();
    assert_int_equal(status, HAYAI_OK);
    assert_string_not_equal(said, "");
}

TEST(test_counters_of_the_cpu_do_not_abort)
{
    suite = suite_of("b", empty_loop, NULL, &benchmark);
    capture *got = capture_create();
    const hayai_options counting = {.iterations = 1, .perf_counters = "CYCLES"};
    hayai_benchmark_report_aggregates_only(benchmark, true);
    output_catch();
    const hayai_status status = capture_run(got, suite, &counting, NULL);
    output_caught();
    assert_int_equal(status, HAYAI_OK);
}

TEST(test_help_names_every_flag)
{
    static const char *const flags[] = {"--output",
                                        "--filter",
                                        "--shuffle",
                                        "--quartiles",
                                        "--list",
                                        "--help",
                                        "--benchmark_filter",
                                        "--benchmark_min_time",
                                        "--benchmark_min_warmup_time",
                                        "--benchmark_repetitions",
                                        "--benchmark_enable_random_interleaving",
                                        "--benchmark_report_aggregates_only",
                                        "--benchmark_display_aggregates_only",
                                        "--benchmark_format",
                                        "--benchmark_out",
                                        "--benchmark_out_format",
                                        "--benchmark_color",
                                        "--benchmark_counters_tabular",
                                        "--benchmark_perf_counters",
                                        "--benchmark_context",
                                        "--benchmark_time_unit",
                                        "--benchmark_dry_run",
                                        "--benchmark_list_tests",
                                        "--v"};
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        assert_non_null(strstr(hayai_options_help(), flags[i]));
}

/* ---- Arguments ------------------------------------------------------------------------------- */

/* Arguments and thread counts, shown by the names of the instances. */

static int set_up_arguments(void **state)
{
    (void)state;
    suite = suite_of("b", empty_loop, NULL, &benchmark);
    return 0;
}

TEST_WITH(test_arg, set_up_arguments)
{
    assert_int_equal(hayai_benchmark_arg(benchmark, 3), HAYAI_OK);
    assert_int_equal(hayai_benchmark_arg(benchmark, -5), HAYAI_OK);
    assert_string_equal(names_of(suite, NULL), "b/3\nb/-5\n");
}

TEST_WITH(test_args_and_their_names, set_up_arguments)
{
    static const char *const names[] = {"rows", "columns"};
    static const int64_t values[] = {2, 40};
    assert_int_equal(hayai_benchmark_args(benchmark, values, 2), HAYAI_OK);
    assert_int_equal(hayai_benchmark_arg_names(benchmark, names, 2), HAYAI_OK);
    assert_string_equal(names_of(suite, NULL), "b/rows:2/columns:40\n");
}

TEST_WITH(test_arg_name, set_up_arguments)
{
    assert_int_equal(hayai_benchmark_arg_name(benchmark, "n"), HAYAI_OK);
    assert_int_equal(hayai_benchmark_arg(benchmark, 9), HAYAI_OK);
    assert_string_equal(names_of(suite, NULL), "b/n:9\n");
}

TEST_WITH(test_names_without_arguments_change_nothing, set_up_arguments)
{
    assert_int_equal(hayai_benchmark_arg_name(benchmark, "n"), HAYAI_OK);
    assert_string_equal(names_of(suite, NULL), "b\n");
}

TEST_WITH(test_range_and_multiplier, set_up_arguments)
{
    assert_int_equal(hayai_benchmark_range(benchmark, 8, 100), HAYAI_OK);
    assert_int_equal(hayai_benchmark_range_multiplier(benchmark, 2), HAYAI_OK);
    assert_int_equal(hayai_benchmark_range(benchmark, 1, 5), HAYAI_OK);
    assert_string_equal(names_of(suite, NULL), "b/8\nb/64\nb/100\nb/1\nb/2\nb/4\nb/5\n");
}

TEST_WITH(test_ranges, set_up_arguments)
{
    static const hayai_range ranges[] = {{1, 8}, {64, 64}};
    assert_int_equal(hayai_benchmark_ranges(benchmark, ranges, 2), HAYAI_OK);
    assert_string_equal(names_of(suite, NULL), "b/1/64\nb/8/64\n");
}

TEST_WITH(test_dense_range, set_up_arguments)
{
    assert_int_equal(hayai_benchmark_dense_range(benchmark, -1, 6, 3), HAYAI_OK);
    assert_string_equal(names_of(suite, NULL), "b/-1\nb/2\nb/5\n");
}

TEST_WITH(test_args_product, set_up_arguments)
{
    static const int64_t first[] = {1, 2}, second[] = {10, 20, 30};
    const hayai_list lists[] = {{first, 2}, {second, 3}};
    assert_int_equal(hayai_benchmark_args_product(benchmark, lists, 2), HAYAI_OK);
    assert_string_equal(names_of(suite, NULL), "b/1/10\nb/2/10\nb/1/20\nb/2/20\nb/1/30\nb/2/30\n");
}

static void add_three(hayai_benchmark *applied, void *user)
{
    for (int64_t i = 0; i < 3; i++)
        hayai_benchmark_arg(applied, i * *(int64_t *)user);
}

TEST_WITH(test_apply_with_a_context, set_up_arguments)
{
    int64_t factor = 11;
    assert_int_equal(hayai_benchmark_apply(benchmark, add_three, &factor), HAYAI_OK);
    assert_string_equal(names_of(suite, NULL), "b/0\nb/11\nb/22\n");
}

TEST_WITH(test_name, set_up_arguments)
{
    assert_int_equal(hayai_benchmark_name(benchmark, "other"), HAYAI_OK);
    assert_string_equal(names_of(suite, NULL), "other\n");
}

TEST_WITH(test_threads, set_up_arguments)
{
    assert_int_equal(hayai_benchmark_threads(benchmark, 5), HAYAI_OK);
    assert_int_equal(hayai_benchmark_thread_range(benchmark, 1, 6), HAYAI_OK);
    assert_int_equal(hayai_benchmark_dense_thread_range(benchmark, 7, 12, 3), HAYAI_OK);
    assert_string_equal(names_of(suite, NULL),
                        "b/threads:5\nb/threads:1\nb/threads:2\nb/threads:4\nb/threads:6\n"
                        "b/threads:7\nb/threads:10\nb/threads:12\n");
}

static hayai_status note_processors(const hayai_context *machine, void *user)
{
    *(int *)user = machine->processors;
    return HAYAI_STOPPED;
}

TEST_WITH(test_thread_per_cpu, set_up_arguments)
{
    int processors = 0;
    const hayai_reporter reporter = {.context = note_processors, .user = &processors};
    const hayai_options options = {.reporters = &reporter, .reporter_count = 1};
    assert_int_equal(hayai_suite_run(suite, &options, NULL), HAYAI_STOPPED);
    assert_int_equal(hayai_benchmark_thread_per_cpu(benchmark), HAYAI_OK);
    char expected[64];
    snprintf(expected, sizeof expected, "b/threads:%d\n", processors);
    assert_string_equal(names_of(suite, NULL), expected);
}

TEST_WITH(test_created_ranges, set_up_arguments)
{
    int64_t values[3];
    size_t count;
    assert_int_equal(hayai_create_range(-8, 8, 4, values, 3, &count), HAYAI_OK);
    assert_int_equal(count, 7); /* -8 -4 -1 0 1 4 8 */
    assert_true(values[0] == -8 && values[1] == -4 && values[2] == -1);
    assert_int_equal(hayai_create_dense_range(5, 9, 2, values, 3, &count), HAYAI_OK);
    assert_int_equal(count, 3);
    assert_true(values[0] == 5 && values[1] == 7 && values[2] == 9);
    assert_int_equal(hayai_create_range(0, 9, 1, values, 3, &count), HAYAI_ERROR_ARGUMENT);
    assert_int_equal(hayai_create_dense_range(0, 9, 0, values, 3, &count), HAYAI_ERROR_ARGUMENT);
    assert_int_equal(hayai_create_range(0, 9, 2, NULL, 3, &count), HAYAI_ERROR_ARGUMENT);
    assert_int_equal(hayai_create_range(0, 9, 2, values, 3, NULL), HAYAI_ERROR_ARGUMENT);
    assert_int_equal(hayai_create_dense_range(-INT64_MAX, INT64_MAX, INT64_MAX, values, 3, &count),
                     HAYAI_OK);
    assert_true(count == 3 && values[0] == -INT64_MAX && values[1] == 0 && values[2] == INT64_MAX);
}

TEST_WITH(test_filter, set_up_arguments)
{
    hayai_benchmark_dense_range(benchmark, 1, 12, 1);
    hayai_suite_add(suite, "DISABLED_never", empty_loop, NULL, NULL);
    assert_string_equal(names_of(suite, "/1"), "b/1\nb/10\nb/11\nb/12\n");
    assert_string_equal(names_of(suite, "-/[0-8]$|/1"), "b/9\n");
    assert_string_equal(names_of(suite, "nothing"), "no match");
    assert_string_equal(names_of(suite, "^b/1?[[:digit:]&&]{1}$|x"), names_of(suite, "all"));
    assert_string_equal(names_of(suite, "(^|x)b/(.|1[^013-9])$"),
                        "b/1\nb/2\nb/3\nb/4\nb/5\nb/6\nb/7\nb/8\nb/9\nb/12\n");
    static char brackets[200000];
    memset(brackets, '(', sizeof brackets - 1);
    const char *const refused[] = {
        "(", ")", "[b", "*b", "b{2", "\\", "(b)\\1", "((((b{99}){99}){99}){99})", brackets};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        assert_string_equal(names_of(suite, refused[i]), "invalid argument");
        assert_non_null(strstr(hayai_last_message(), "filter "));
    }
    /* std::regex would try 2^44 ways here. */
    hayai_suite_add(suite, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", empty_loop, NULL, NULL);
    assert_string_equal(names_of(suite, "^(a+)+$"), "no match");
}

/* ---- Input on which Google Benchmark aborts, loops for ever, or runs out of memory ----------- */

/* Checks a status, and that it stays with the benchmark: a run returns it. */
static void expect_status(hayai_status status, hayai_status expected)
{
    assert_int_equal(status, expected);
    assert_true(strlen(hayai_last_message()) > 0);
    assert_int_equal(hayai_suite_run(suite, NULL, NULL), expected);
    free_what_was_made(NULL);
    set_up_arguments(NULL);
}

TEST_WITH(test_bad_ranges, set_up_arguments)
{
    static const hayai_range backwards = {9, 1};
    expect_status(hayai_benchmark_range(benchmark, 9, 1), HAYAI_ERROR_ARGUMENT);
    expect_status(hayai_benchmark_range(benchmark, INT64_MIN, 1), HAYAI_ERROR_ARGUMENT);
    expect_status(hayai_benchmark_ranges(benchmark, &backwards, 1), HAYAI_ERROR_ARGUMENT);
    expect_status(hayai_benchmark_ranges(benchmark, NULL, 1), HAYAI_ERROR_ARGUMENT);
    expect_status(hayai_benchmark_dense_range(benchmark, 9, 1, 1), HAYAI_ERROR_ARGUMENT);
    expect_status(hayai_benchmark_dense_range(benchmark, 1, 9, 0), HAYAI_ERROR_ARGUMENT);
    expect_status(hayai_benchmark_dense_range(benchmark, 0, INT64_MAX, 1), HAYAI_ERROR_LIMIT);
    expect_status(hayai_benchmark_range_multiplier(benchmark, 1), HAYAI_ERROR_ARGUMENT);
}

TEST_WITH(test_bad_arguments, set_up_arguments)
{
    static const int64_t values[2000];
    const hayai_list empty = {values, 0};
    const hayai_list large[] = {{values, 2000}, {values, 2000}};
    expect_status(hayai_benchmark_args(benchmark, values, 0), HAYAI_ERROR_ARGUMENT);
    expect_status(hayai_benchmark_args(benchmark, NULL, 2), HAYAI_ERROR_ARGUMENT);
    expect_status(hayai_benchmark_args_product(benchmark, &empty, 1), HAYAI_ERROR_ARGUMENT);
    expect_status(hayai_benchmark_args_product(benchmark, NULL, 1), HAYAI_ERROR_ARGUMENT);
    expect_status(hayai_benchmark_args_product(benchmark, large, 2), HAYAI_ERROR_LIMIT);
    expect_status(hayai_benchmark_apply(benchmark, NULL, NULL), HAYAI_ERROR_ARGUMENT);
    expect_status(hayai_benchmark_name(benchmark, ""), HAYAI_ERROR_ARGUMENT);
    assert_int_equal(hayai_benchmark_arg(NULL, 1), HAYAI_ERROR_ARGUMENT);
    hayai_benchmark_arg(benchmark, 1);
    expect_status(hayai_benchmark_args(benchmark, values, 2), HAYAI_ERROR_ARGUMENT);
    static const char *const names[] = {"a", "b"};
    hayai_benchmark_arg(benchmark, 1);
    expect_status(hayai_benchmark_arg_names(benchmark, names, 2), HAYAI_ERROR_ARGUMENT);
}

TEST_WITH(test_bad_threads, set_up_arguments)
{
    expect_status(hayai_benchmark_threads(benchmark, 0), HAYAI_ERROR_ARGUMENT);
    expect_status(hayai_benchmark_thread_range(benchmark, 0, 4), HAYAI_ERROR_ARGUMENT);
    expect_status(hayai_benchmark_thread_range(benchmark, 4, 2), HAYAI_ERROR_ARGUMENT);
    expect_status(hayai_benchmark_dense_thread_range(benchmark, 1, 4, 0), HAYAI_ERROR_ARGUMENT);
}

int main(void)
{
    comma_locale_set();
    return test_run(NULL, NULL);
}
