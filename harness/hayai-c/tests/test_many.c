/* SPDX-License-Identifier: Apache-2.0 */
/* Thousands of instances, and which one is which. */
#include "capture.h"
#include <stdio.h>

enum { MANY = 10000 };

static int64_t called[MANY + 1];

static void note(hayai_state *state, void *user)
{
    (void)user;
    called[hayai_state_range(state, 0)]++;
    empty_loop(state, NULL);
}

typedef struct reports {
    size_t count, wrong;
} reports;

static hayai_status check_run(const hayai_run *run, void *user)
{
    reports *tally = user;
    char expected[32];
    snprintf(expected, sizeof expected, "many/%zu", ++tally->count);
    tally->wrong += strcmp(run->name, expected) != 0 || run->family != 0 ||
                    run->instance != (int64_t)tally->count - 1;
    return HAYAI_OK;
}

TEST(test_ten_thousand_instances)
{
    hayai_benchmark *benchmark;
    hayai_suite *suite = suite_of("many", note, NULL, &benchmark);
    reports tally = {0};
    hayai_summary summary;
    const hayai_reporter reporter = {.run = check_run, .user = &tally};
    const hayai_options options = {.iterations = 1, .reporters = &reporter, .reporter_count = 1};
    hayai_benchmark_dense_range(benchmark, 1, MANY, 1);
    assert_int_equal(hayai_suite_run(suite, &options, &summary), HAYAI_OK);
    assert_int_equal(summary.runs, MANY);
    assert_int_equal(tally.count, MANY);
    assert_int_equal(tally.wrong, 0);
    for (int i = 1; i <= MANY; i++)
        assert_int_equal(called[i], 1);
}

/* ---- Which one is which ---------------------------------------------------------------------- */

static void tell(hayai_state *state, void *user)
{
    empty_loop(state, NULL);
    hayai_state_set_label(state, user ? user : "none");
    hayai_state_set_counter(state, "first", (double)hayai_state_range(state, 0), 0,
                            HAYAI_ONE_K_1000);
}

TEST(test_filters_number_what_matches)
{
    static const int64_t sets[][2] = {{1, 2}, {2, 1}, {1, 1}, {2, 2}};
    hayai_benchmark *benchmark;
    hayai_suite *suite = suite_of("DISABLED_off", tell, NULL, NULL);
    hayai_suite_add(suite, "left_out", tell, NULL, NULL);
    hayai_suite_add(suite, "pair", tell, "pair", &benchmark);
    for (size_t i = 0; i < 4; i++)
        hayai_benchmark_args(benchmark, sets[i], 2);
    hayai_benchmark_thread_range(benchmark, 1, 2);
    hayai_suite_add(suite, "pair", tell, "again", &benchmark);
    hayai_benchmark_args(benchmark, sets[1], 2);
    capture *got = capture_create();
    const hayai_options options = {.iterations = 2, .filter = "pair/2/"};
    assert_int_equal(capture_run(got, suite, &options, NULL), HAYAI_OK);
    static const char *const names[] = {"pair/2/1/threads:1", "pair/2/1/threads:2",
                                        "pair/2/2/threads:1", "pair/2/2/threads:2", "pair/2/1"};
    assert_int_equal(got->count, 5);
    for (size_t i = 0; i < 5; i++) {
        const captured *run = &got->runs[i];
        assert_string_equal(run->name, names[i]);
        assert_int_equal(run->run.family, i / 4);
        assert_int_equal(run->run.instance, i % 4);
        assert_string_equal(run->label, i < 4 ? "pair" : "again");
        assert_close(capture_counter(run, "first"), 2.0 * (double)run->run.threads);
    }
}

static void count_bytes(hayai_memory *result, void *user)
{
    result->max_bytes_used = ++*(int64_t *)user;
}

static void start(void *user)
{
    (void)user;
}

/* The calls of equal instances can't be told apart; their results can. */
TEST(test_instances_that_are_equal)
{
    int64_t number = 0;
    hayai_benchmark *benchmark;
    hayai_suite *suite = suite_of("twin", tell, "twin", &benchmark);
    hayai_benchmark_arg(benchmark, 7);
    hayai_benchmark_arg(benchmark, 7);
    hayai_benchmark_repetitions(benchmark, 2);
    const hayai_memory_manager manager = {.start = start, .stop = count_bytes, .user = &number};
    hayai_register_memory_manager(&manager);
    capture *got = capture_create();
    assert_int_equal(capture_run(got, suite, NULL, NULL), HAYAI_OK);
    hayai_register_memory_manager(NULL);
    int64_t expected = 0;
    for (size_t i = 0; i < got->count; i++)
        if (got->runs[i].run.type == HAYAI_RUN_TYPE_ITERATION)
            assert_int_equal(got->runs[i].memory.max_bytes_used, ++expected);
    assert_int_equal(expected, 4);
}

TEST(test_names_with_line_ends)
{
    hayai_benchmark *benchmark;
    hayai_suite *suite = suite_of("two\nlines", tell, NULL, &benchmark);
    hayai_benchmark_arg_name(benchmark, "a\nb\n");
    hayai_benchmark_arg(benchmark, 1);
    hayai_benchmark_arg(benchmark, 2);
    hayai_suite_add(suite, "two", tell, NULL, &benchmark);
    hayai_benchmark_arg(benchmark, 3);
    assert_string_equal(names_of(suite, NULL), "two\nlines/a\nb\n:1\ntwo\nlines/a\nb\n:2\ntwo/3\n");
    assert_string_equal(names_of(suite, "lines.*2|two/3"), "two\nlines/a\nb\n:2\ntwo/3\n");
}
