/* SPDX-License-Identifier: Apache-2.0 */
/* What a hostile or careless caller does: suites destroyed at the wrong moment, functions left by longjmp;
 * and which message is left. (NULL everywhere: hostile.py.) */
#include "capture.h"
#include <stdio.h>

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
