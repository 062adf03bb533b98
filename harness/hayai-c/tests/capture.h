/* SPDX-License-Identifier: Apache-2.0 */
/* For the tests: a reporter that keeps what it is told, and short ways to run a benchmark. */
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

/* Defines a test, which main() (of capture.c, unless the file has its own) runs in the order of the file:
 *
 *     TEST(no_name_is_refused)
 *     {
 *         assert_int_equal(hayai_suite_add(NULL, NULL, NULL, NULL, NULL), HAYAI_ERROR_ARGUMENT);
 *     }
 *
 * TEST_WITH: after a setup of its own. Captures and suites that it made go when it ends. */
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
/* Runs all tests, between a setup and a teardown (or NULL) of the whole; the exit status. */
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
    hayai_run run; /* numbers only: its pointers are gone */
    bool has_memory;
    hayai_memory memory;
    captured_counter counters[CAPTURE_COUNTERS];
} captured;

typedef struct capture {
    captured runs[CAPTURE_RUNS];
    size_t count;
    size_t contexts, reports, finalized;
    size_t report_sizes[CAPTURE_RUNS];
    size_t stop_at_run; /* 1 ...: the run whose callback stops; 0: none */
    hayai_status context_status, report_status, finalize_status;
} capture;

/* A capture with its reporter, zeroed. */
capture *capture_create(void);
hayai_reporter capture_reporter(capture *capture);

/* Runs a suite of one instance, destroys it and returns the run that was reported. */
captured capture_first(hayai_suite *suite);

/* Between the two standard output and standard error go to a file; what it holds, until the next. */
void output_catch(void);
char *output_caught(void);

/* Runs the suite with nothing on standard output; further settings may be NULL. */
hayai_status capture_run(capture *capture, hayai_suite *suite, const hayai_options *options,
                         hayai_summary *summary);

/* The run of this name; fails the test if there is none. */
const captured *capture_find(const capture *capture, const char *name);
bool capture_has(const capture *capture, const char *name);
double capture_counter(const captured *run, const char *name);

/* A suite of one benchmark; a suite of none. */
hayai_suite *suite_of(const char *name, hayai_function *function, void *user,
                      hayai_benchmark **benchmark);
hayai_suite *suite_empty(void);

/* The names of all instances that match, one a line. */
const char *names_of(hayai_suite *suite, const char *filter);

/* A directory where this machine has such, and its end with all that is in it. */
extern char directory[96];
int directory_create(void **state);
int directory_remove(void **state);

/* Of Google Benchmark: 1.7.1 is 10701. */
int library_version(void);

/* Two numbers that went through a few roundings each. */
void assert_close(double value, double expected);
void assert_near(double value, double expected, double tolerance);

/* Runs its loop and nothing else. */
void empty_loop(hayai_state *state, void *user);

#endif
