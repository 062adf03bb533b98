/* SPDX-License-Identifier: Apache-2.0 */
/* For the tests: a reporter that keeps what it receives, and short ways to run a benchmark. */
#ifndef HAYAI_TESTS_CAPTURE_H
#define HAYAI_TESTS_CAPTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "hayai.h"

/* Defines a test. main() (of capture.c, or the file's own) runs the tests in the order of the file:
 *
 *     TEST(no_name_is_refused)
 *     {
 *         assert_int_equal(hayai_suite_add(NULL, NULL, NULL, NULL, NULL), HAYAI_ERROR_ARGUMENT);
 *     }
 *
 * TEST_WITH: with a setup of its own. Its captures and suites are freed when it ends. */
#define TEST(name) TEST_WITH(name, NULL)
#define TEST_WITH(name, setup)                                                                     \
    static void name(void **state);                                                                \
    static __attribute__((constructor)) void name##_is_a_test(void)                                \
    {                                                                                              \
        test_add(#name, name, setup, free_what_was_made);                                          \
    }                                                                                              \
    static void name(void **state __attribute__((unused)))

void test_add(const char *name, CMUnitTestFunction function, CMFixtureFunction setup,
              CMFixtureFunction teardown);
/* Runs all tests, with a setup and a teardown (or NULL) for the whole; returns the exit status. */
int test_run(CMFixtureFunction setup, CMFixtureFunction teardown);
int free_what_was_made(void **state);

enum { CAPTURE_TEXT = 160, CAPTURE_COUNTERS = 40, CAPTURE_RUNS = 400 };

typedef struct captured_counter {
    char name[CAPTURE_TEXT];
    hayai_counter_value value;
} captured_counter;

typedef struct captured {
    char name[CAPTURE_TEXT], run_name[CAPTURE_TEXT], function_name[CAPTURE_TEXT];
    char arguments[CAPTURE_TEXT], aggregate_name[CAPTURE_TEXT], label[CAPTURE_TEXT];
    char message[CAPTURE_TEXT], complexity[CAPTURE_TEXT];
    hayai_run run; /* only the numbers are valid: its pointers are not */
    bool has_memory;
    hayai_memory memory;
    captured_counter counters[CAPTURE_COUNTERS];
} captured;

typedef struct capture {
    captured runs[CAPTURE_RUNS];
    size_t count;
    size_t contexts, reports, finalized;
    size_t report_sizes[CAPTURE_RUNS];
    size_t stop_at_run; /* 1 ...: the number of the run whose callback stops; 0: none */
    hayai_status context_status, report_status, finalize_status;
} capture;

/* Returns a zeroed capture, and its reporter. */
capture *capture_create(void);
hayai_reporter capture_reporter(capture *capture);

/* Runs a suite of one instance, destroys it and returns the reported run. */
captured capture_first(hayai_suite *suite);

/* Between these two calls standard output and standard error go to a file. The second returns its
 * content, which is valid until the next call. */
void output_catch(void);
char *output_caught(void);

/* Runs the suite without output on standard output; further settings may be NULL. */
hayai_status capture_run(capture *capture, hayai_suite *suite, const hayai_options *options,
                         hayai_summary *summary);

/* Returns the run of this name; fails the test if there is none. */
const captured *capture_find(const capture *capture, const char *name);
bool capture_has(const capture *capture, const char *name);
double capture_counter(const captured *run, const char *name);

/* Return a suite of one benchmark, and an empty suite. */
hayai_suite *suite_of(const char *name, hayai_function *function, void *user,
                      hayai_benchmark **benchmark);
hayai_suite *suite_empty(void);

/* Returns the names of all matching instances, one per line. */
const char *names_of(hayai_suite *suite, const char *filter);

/* Makes a directory in $TMPDIR or /tmp; removes it with its content. */
extern char directory[96];
int directory_create(void **state);
int directory_remove(void **state);

/* Returns Google Benchmark's version: 10701 for 1.7.1. */
int library_version(void);

/* Asserts that two numbers are equal except for a few roundings. */
void assert_close(double value, double expected);
void assert_near(double value, double expected, double tolerance);

/* Runs an empty loop. */
void empty_loop(hayai_state *state, void *user);

#endif
