/* What every test includes before cmocka, which asks for these headers and clashes with one name of
 * ours: cmocka's fail() is a macro, the harness's fail() is a function. */
#ifndef LNBENCH_TEST_H
#define LNBENCH_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#undef fail
#undef fail_msg
#define fail_msg(...)                                                                              \
    do {                                                                                           \
        print_error("ERROR: ");                                                                    \
        print_error(__VA_ARGS__);                                                                  \
        print_error("\n");                                                                         \
        _fail(__FILE__, __LINE__);                                                                 \
    } while (0)

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
