/* SPDX-License-Identifier: Apache-2.0 */
/* What a hostile or careless caller does: NULL everywhere, suites destroyed at the wrong moment,
 * functions left by longjmp; and which message is left. */
#include "capture.h"
#include <stdio.h>

/* ---- NULL ------------------------------------------------------------------------------------ */

#define refused(call)                                                                              \
    do {                                                                                           \
        hayai_fail(HAYAI_OK, NULL);                                                                \
        assert_int_equal((call), HAYAI_ERROR_ARGUMENT);                                            \
        assert_string_not_equal(hayai_last_message(), "");                                         \
    } while (0)

TEST(test_a_state_that_is_null)
{
    hayai_counter_value counter;
    refused(hayai_state_pause(NULL));
    refused(hayai_state_resume(NULL));
    refused(hayai_state_set_iteration_time(NULL, 1));
    refused(hayai_state_skip_with_error(NULL, "x"));
    refused(hayai_state_skip_with_message(NULL, "x"));
    refused(hayai_state_set_bytes_processed(NULL, 1));
    refused(hayai_state_set_items_processed(NULL, 1));
    refused(hayai_state_set_label(NULL, "x"));
    refused(hayai_state_set_complexity_n(NULL, 1));
    refused(hayai_state_set_counter(NULL, "x", 1, 0, HAYAI_ONE_K_1000));
    refused(hayai_state_get_counter(NULL, "x", &counter));
    assert_false(hayai_state_keep_running(NULL));
    assert_false(hayai_state_keep_running_batch(NULL, 1));
    assert_false(hayai_state_skipped(NULL) || hayai_state_error_occurred(NULL));
    assert_true(hayai_state_batch(NULL) == 0 && hayai_state_range(NULL, 0) == 0);
    assert_true(hayai_state_range_count(NULL) == 0 && hayai_state_threads(NULL) == 0);
    assert_true(hayai_state_thread_index(NULL) == 0 && hayai_state_iterations(NULL) == 0);
    assert_true(hayai_state_max_iterations(NULL) == 0 && hayai_state_complexity_n(NULL) == 0);
    assert_true(hayai_state_bytes_processed(NULL) == 0 && hayai_state_items_processed(NULL) == 0);
    assert_string_equal(hayai_state_name(NULL), "");
    assert_null(hayai_state_native(NULL));
    assert_string_equal(hayai_last_message(), "a state that is NULL");
    assert_null(hayai_scoped_pause_begin(NULL));
    hayai_scoped_pause_end(NULL);
}

TEST(test_a_benchmark_that_is_null)
{
    refused(hayai_benchmark_name(NULL, "x"));
    refused(hayai_benchmark_arg(NULL, 1));
    refused(hayai_benchmark_args(NULL, NULL, 0));
    refused(hayai_benchmark_range(NULL, 1, 2));
    refused(hayai_benchmark_ranges(NULL, NULL, 0));
    refused(hayai_benchmark_dense_range(NULL, 1, 2, 1));
    refused(hayai_benchmark_args_product(NULL, NULL, 0));
    refused(hayai_benchmark_arg_name(NULL, "x"));
    refused(hayai_benchmark_arg_names(NULL, NULL, 0));
    refused(hayai_benchmark_range_multiplier(NULL, 2));
    refused(hayai_benchmark_apply(NULL, NULL, NULL));
    refused(hayai_benchmark_unit(NULL, HAYAI_UNIT_SECOND));
    refused(hayai_benchmark_min_time(NULL, 1));
    refused(hayai_benchmark_min_warm_up_time(NULL, 1));
    refused(hayai_benchmark_iterations(NULL, 1));
    refused(hayai_benchmark_repetitions(NULL, 1));
    refused(hayai_benchmark_report_aggregates_only(NULL, true));
    refused(hayai_benchmark_display_aggregates_only(NULL, true));
    refused(hayai_benchmark_measure_process_cpu_time(NULL));
    refused(hayai_benchmark_use_real_time(NULL));
    refused(hayai_benchmark_use_manual_time(NULL));
    refused(hayai_benchmark_complexity(NULL, HAYAI_COMPLEXITY_N));
    refused(hayai_benchmark_complexity_function(NULL, NULL, NULL));
    refused(hayai_benchmark_compute_statistic(NULL, "x", NULL, NULL, HAYAI_STATISTIC_UNIT_TIME));
    refused(hayai_benchmark_quartiles(NULL));
    refused(hayai_benchmark_threads(NULL, 1));
    refused(hayai_benchmark_thread_range(NULL, 1, 2));
    refused(hayai_benchmark_dense_thread_range(NULL, 1, 2, 1));
    refused(hayai_benchmark_thread_per_cpu(NULL));
    refused(hayai_benchmark_thread_runner(NULL, NULL, NULL));
    refused(hayai_benchmark_set_up(NULL, NULL, NULL));
    refused(hayai_benchmark_tear_down(NULL, NULL, NULL));
    assert_string_equal(hayai_benchmark_get_name(NULL), "");
    assert_null(hayai_benchmark_get_arg_name(NULL, 0));
}

TEST(test_everything_else_that_is_null)
{
    hayai_options options;
    hayai_command command;
    int argc = 1;
    refused(hayai_suite_add(NULL, "x", empty_loop, NULL, NULL));
    refused(hayai_suite_list(NULL, NULL, NULL, NULL));
    refused(hayai_suite_run(NULL, NULL, NULL));
    refused(hayai_suite_report_list(NULL, NULL));
    refused(hayai_suite_run_interleaved(NULL, NULL));
    refused(hayai_options_parse(NULL, NULL, NULL, NULL));
    refused(hayai_options_parse(&options, &command, &argc, NULL));
    refused(hayai_add_context(NULL, NULL));
    refused(hayai_create_range(1, 2, 2, NULL, 1, NULL));
    hayai_suite_destroy(NULL);
    hayai_options_release(NULL);
    hayai_register(NULL);
    hayai_suite *suite = suite_empty();
    refused(hayai_suite_add(suite, NULL, empty_loop, NULL, NULL));
    refused(hayai_suite_add(suite, "x", NULL, NULL, NULL));
    refused(hayai_suite_list(suite, NULL, NULL, NULL));
}

/* ---- Messages -------------------------------------------------------------------------------- */

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
    hayai_add_context(NULL, NULL); /* whose message is not what stopped the run ... */
    (void)user;
    assert_int_equal(hayai_add_context("errors", "1"), HAYAI_OK); /* ... and is gone */
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

/* ---- Suites at the wrong moment -------------------------------------------------------------- */

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
    who.suite = hayai_suite_create(); /* which goes with its run */
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

/* The frames that are jumped over hold memory, which leaks: that is documented. */
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
