/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments and thread counts, as the names of the instances tell them. */
#include "capture.h"
#include <stdio.h>

static hayai_benchmark *benchmark;
static hayai_suite *suite;

static int set_up(void **state)
{
    (void)state;
    suite = suite_of("b", empty_loop, NULL, &benchmark);
    return 0;
}

SUITE_TEST(test_arg)
{
    assert_int_equal(hayai_benchmark_arg(benchmark, 3), HAYAI_OK);
    assert_int_equal(hayai_benchmark_arg(benchmark, -5), HAYAI_OK);
    assert_string_equal(names_of(suite, NULL), "b/3\nb/-5\n");
}

SUITE_TEST(test_args_and_their_names)
{
    static const char *const names[] = {"rows", "columns"};
    static const int64_t values[] = {2, 40};
    assert_int_equal(hayai_benchmark_args(benchmark, values, 2), HAYAI_OK);
    assert_int_equal(hayai_benchmark_arg_names(benchmark, names, 2), HAYAI_OK);
    assert_string_equal(names_of(suite, NULL), "b/rows:2/columns:40\n");
}

SUITE_TEST(test_arg_name)
{
    assert_int_equal(hayai_benchmark_arg_name(benchmark, "n"), HAYAI_OK);
    assert_int_equal(hayai_benchmark_arg(benchmark, 9), HAYAI_OK);
    assert_string_equal(names_of(suite, NULL), "b/n:9\n");
}

SUITE_TEST(test_names_without_arguments_change_nothing)
{
    assert_int_equal(hayai_benchmark_arg_name(benchmark, "n"), HAYAI_OK);
    assert_string_equal(names_of(suite, NULL), "b\n");
}

SUITE_TEST(test_range_and_multiplier)
{
    assert_int_equal(hayai_benchmark_range(benchmark, 8, 100), HAYAI_OK);
    assert_int_equal(hayai_benchmark_range_multiplier(benchmark, 2), HAYAI_OK);
    assert_int_equal(hayai_benchmark_range(benchmark, 1, 5), HAYAI_OK);
    assert_string_equal(names_of(suite, NULL), "b/8\nb/64\nb/100\nb/1\nb/2\nb/4\nb/5\n");
}

SUITE_TEST(test_ranges)
{
    static const hayai_range ranges[] = {{1, 8}, {64, 64}};
    assert_int_equal(hayai_benchmark_ranges(benchmark, ranges, 2), HAYAI_OK);
    assert_string_equal(names_of(suite, NULL), "b/1/64\nb/8/64\n");
}

SUITE_TEST(test_dense_range)
{
    assert_int_equal(hayai_benchmark_dense_range(benchmark, -1, 6, 3), HAYAI_OK);
    assert_string_equal(names_of(suite, NULL), "b/-1\nb/2\nb/5\n");
}

SUITE_TEST(test_args_product)
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

SUITE_TEST(test_apply_with_a_context)
{
    int64_t factor = 11;
    assert_int_equal(hayai_benchmark_apply(benchmark, add_three, &factor), HAYAI_OK);
    assert_string_equal(names_of(suite, NULL), "b/0\nb/11\nb/22\n");
}

SUITE_TEST(test_name)
{
    assert_int_equal(hayai_benchmark_name(benchmark, "other"), HAYAI_OK);
    assert_string_equal(names_of(suite, NULL), "other\n");
}

SUITE_TEST(test_threads)
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

SUITE_TEST(test_thread_per_cpu)
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

SUITE_TEST(test_created_ranges)
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

SUITE_TEST(test_filter)
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
    /* std::regex tries 2^44 ways here, one after the other. */
    hayai_suite_add(suite, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", empty_loop, NULL, NULL);
    assert_string_equal(names_of(suite, "^(a+)+$"), "no match");
}

/* ---- What Google Benchmark aborts on, or loops for ever, or runs out of memory on --------------
 */

/* A status, and that it stays with the benchmark: a run returns it. */
static void expect(hayai_status status, hayai_status expected)
{
    assert_int_equal(status, expected);
    assert_true(strlen(hayai_last_message()) > 0);
    assert_int_equal(hayai_suite_run(suite, NULL, NULL), expected);
    free_what_was_made(NULL);
    set_up(NULL);
}

SUITE_TEST(test_bad_ranges)
{
    static const hayai_range backwards = {9, 1};
    expect(hayai_benchmark_range(benchmark, 9, 1), HAYAI_ERROR_ARGUMENT);
    expect(hayai_benchmark_range(benchmark, INT64_MIN, 1), HAYAI_ERROR_ARGUMENT);
    expect(hayai_benchmark_ranges(benchmark, &backwards, 1), HAYAI_ERROR_ARGUMENT);
    expect(hayai_benchmark_ranges(benchmark, NULL, 1), HAYAI_ERROR_ARGUMENT);
    expect(hayai_benchmark_dense_range(benchmark, 9, 1, 1), HAYAI_ERROR_ARGUMENT);
    expect(hayai_benchmark_dense_range(benchmark, 1, 9, 0), HAYAI_ERROR_ARGUMENT);
    expect(hayai_benchmark_dense_range(benchmark, 0, INT64_MAX, 1), HAYAI_ERROR_LIMIT);
    expect(hayai_benchmark_range_multiplier(benchmark, 1), HAYAI_ERROR_ARGUMENT);
}

SUITE_TEST(test_bad_arguments)
{
    static const int64_t values[2000];
    const hayai_list empty = {values, 0};
    const hayai_list large[] = {{values, 2000}, {values, 2000}};
    expect(hayai_benchmark_args(benchmark, values, 0), HAYAI_ERROR_ARGUMENT);
    expect(hayai_benchmark_args(benchmark, NULL, 2), HAYAI_ERROR_ARGUMENT);
    expect(hayai_benchmark_args_product(benchmark, &empty, 1), HAYAI_ERROR_ARGUMENT);
    expect(hayai_benchmark_args_product(benchmark, NULL, 1), HAYAI_ERROR_ARGUMENT);
    expect(hayai_benchmark_args_product(benchmark, large, 2), HAYAI_ERROR_LIMIT);
    expect(hayai_benchmark_apply(benchmark, NULL, NULL), HAYAI_ERROR_ARGUMENT);
    expect(hayai_benchmark_name(benchmark, ""), HAYAI_ERROR_ARGUMENT);
    assert_int_equal(hayai_benchmark_arg(NULL, 1), HAYAI_ERROR_ARGUMENT);
    hayai_benchmark_arg(benchmark, 1);
    expect(hayai_benchmark_args(benchmark, values, 2), HAYAI_ERROR_ARGUMENT);
    static const char *const names[] = {"a", "b"};
    hayai_benchmark_arg(benchmark, 1);
    expect(hayai_benchmark_arg_names(benchmark, names, 2), HAYAI_ERROR_ARGUMENT);
}

SUITE_TEST(test_bad_threads)
{
    expect(hayai_benchmark_threads(benchmark, 0), HAYAI_ERROR_ARGUMENT);
    expect(hayai_benchmark_thread_range(benchmark, 0, 4), HAYAI_ERROR_ARGUMENT);
    expect(hayai_benchmark_thread_range(benchmark, 4, 2), HAYAI_ERROR_ARGUMENT);
    expect(hayai_benchmark_dense_thread_range(benchmark, 1, 4, 0), HAYAI_ERROR_ARGUMENT);
}
