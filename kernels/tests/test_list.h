/* cmocka, with what it asks for, and tests that enter themselves in a list. */
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
 * TEST_WITH: between a setup and a teardown of its own; `state` is what the setup made. */
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
/* Runs all tests, between a setup and a teardown (or NULL) of the whole; the exit status. */
int test_run(CMFixtureFunction setup, CMFixtureFunction teardown);

#endif
