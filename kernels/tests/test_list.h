/* Includes cmocka and its required headers, and defines tests that add themselves to a list. */
#ifndef TEST_LIST_H
#define TEST_LIST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Defines a test, which main() (test_main.c, unless the file has its own) runs in the order of the file:
 *
 *     TEST(zero_rows_are_refused)
 *     {
 *         assert_int_equal(judge(0), 1);
 *     }
 *
 * TEST_WITH: with its own setup and teardown; `state` comes from the setup. */
#define TEST(name) TEST_WITH(name, NULL, NULL)
#define TEST_WITH(name, setup, teardown)                                                           \
    static void name(void **state);                                                                \
    static __attribute__((constructor)) void name##_is_a_test(void)                                \
    {                                                                                              \
        test_add(#name, name, setup, teardown);                                                    \
    }                                                                                              \
    static void name(void **state __attribute__((unused)))

void test_add(const char *name, CMUnitTestFunction function, CMFixtureFunction setup,
              CMFixtureFunction teardown);
/* Runs all tests between a common setup and teardown (or NULL). Returns the exit status. */
int test_run(CMFixtureFunction setup, CMFixtureFunction teardown);

#endif
