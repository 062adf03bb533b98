/* SPDX-License-Identifier: Apache-2.0 */
/* The command line and the environment. */
#include "capture.h"
#include "comma_locale.h"
#include <math.h>
#include <stdio.h>
#include <unistd.h>

static hayai_options options;
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
    return hayai_options_parse(&options, &command, &left, words);
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
    assert_null(options.filter);
    assert_int_equal(options.output_count, 0);
    assert_true(options.min_seconds == 0 && options.repetitions == 0 && !options.interleave);
    assert_string_equal(options.executable, "program");
    hayai_options_release(&options);
}

TEST(test_google_benchmarks_flags)
{
    expect("--benchmark_filter=abc --benchmark_min_time=0.25 --benchmark_min_warmup_time=0.5 "
           "--benchmark_repetitions=7 --benchmark_enable_random_interleaving "
           "--benchmark_report_aggregates_only=true --benchmark_display_aggregates_only=yes "
           "--benchmark_counters_tabular --benchmark_perf_counters=CYCLES "
           "--benchmark_time_unit=ms --benchmark_dry_run --benchmark_color=false --v=2");
    assert_string_equal(options.filter, "abc");
    assert_true(options.min_seconds == 0.25 && options.min_warm_up_seconds == 0.5);
    assert_int_equal(options.repetitions, 7);
    assert_true(options.random_interleaving && options.report_aggregates_only);
    assert_true(options.display_aggregates_only && options.counters_tabular && options.dry_run);
    assert_string_equal(options.perf_counters, "CYCLES");
    assert_int_equal(options.unit, HAYAI_UNIT_MILLISECOND);
    assert_int_equal(options.color, HAYAI_COLOR_NEVER);
    assert_int_equal(options.verbosity, 2);
    hayai_options_release(&options);
}

TEST(test_truths)
{
    expect("--benchmark_dry_run=false --benchmark_counters_tabular=0 --benchmark_color=1 "
           "--benchmark_report_aggregates_only=off");
    assert_false(options.dry_run || options.counters_tabular || options.report_aggregates_only);
    assert_int_equal(options.color, HAYAI_COLOR_ALWAYS);
    hayai_options_release(&options);
}

TEST(test_min_time_in_all_its_spellings)
{
    expect("--benchmark_min_time=2s");
    assert_true(options.min_seconds == 2 && options.iterations == 0);
    hayai_options_release(&options);
    expect("--benchmark_min_time=30x");
    assert_int_equal(options.iterations, 30);
    hayai_options_release(&options);
}

TEST(test_outputs)
{
    expect("-o json:a.json --output=tsv:b:c.tsv -ojunit:d.xml --output console "
           "--benchmark_format=jsonl --benchmark_out=e.md --benchmark_out_format=markdown");
    static const char *const expected[] = {"json:a.json", "tsv:b:c.tsv", "junit:d.xml",
                                           "console",     "jsonl",       "markdown:e.md"};
    assert_int_equal(options.output_count, 6);
    for (size_t i = 0; i < 6; i++)
        assert_string_equal(options.outputs[i], expected[i]);
    hayai_options_release(&options);
    expect("--benchmark_out=f");
    assert_string_equal(options.outputs[0], "json:f");
    hayai_options_release(&options);
}

TEST(test_own_flags)
{
    expect("-f text --shuffle=0x10 -q --list");
    assert_string_equal(options.filter, "text");
    assert_true(options.interleave && options.seed == 16 && options.quartiles);
    assert_int_equal(command, HAYAI_COMMAND_LIST);
    hayai_options_release(&options);
    expect("-s 18446744073709551615");
    assert_true(options.seed == UINT64_MAX);
    hayai_options_release(&options);
    expect("--benchmark_list_tests");
    assert_int_equal(command, HAYAI_COMMAND_LIST);
    hayai_options_release(&options);
    expect("-h");
    assert_int_equal(command, HAYAI_COMMAND_HELP);
    hayai_options_release(&options);
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
    hayai_options_release(&options);
}

/* Google Benchmark prints its usage and exits, or aborts, or takes nonsense, on these. */
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
    assert_string_equal(options.filter, "from_environment");
    assert_int_equal(options.repetitions, 6);
    hayai_options_release(&options);
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
    hayai_suite *suite = suite_of("b", empty_loop, NULL, NULL);
    expect("--benchmark_context=b=2,a=1");
    options.reporters = &reporter;
    options.reporter_count = 1;
    options.dry_run = true;
    assert_int_equal(hayai_suite_run(suite, &options, NULL), HAYAI_OK);
    assert_string_equal(text, "a=1;b=2;");
    hayai_options_release(&options);
    assert_int_equal(parse("--benchmark_context=a=3"), HAYAI_ERROR_ARGUMENT);
    hayai_shutdown();
}

static int64_t calls;

static void count_calls(hayai_state *state, void *user)
{
    calls++;
    empty_loop(state, user);
}

/* Only the command line's readers heed the environment; a run by options alone does not. */
TEST(test_a_run_without_command_line_ignores_the_environment)
{
    hayai_suite *suite = suite_of("b", count_calls, NULL, NULL);
    capture *got = capture_create();
    assert_int_equal(capture_run(got, suite, NULL, NULL), HAYAI_OK);
    assert_int_equal(calls, 1);
    assert_int_equal(got->count, 1);
}

/* Google Benchmark's verbose log goes to standard error. */
TEST(test_verbosity_reaches_the_library)
{
    hayai_suite *suite = suite_of("b", empty_loop, NULL, NULL);
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
    hayai_benchmark *benchmark;
    hayai_suite *suite = suite_of("b", empty_loop, NULL, &benchmark);
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

int main(void)
{
    comma_locale_set();
    return test_run(NULL, NULL);
}
