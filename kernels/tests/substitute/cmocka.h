/* The functions of cmocka that these tests use, for builds without the real one: a cross-compiled library is tested
 * under an emulator on systems that have no cmocka for it. A failed check ends the program. */
#ifndef SUBSTITUTE_CMOCKA_H
#define SUBSTITUTE_CMOCKA_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void (*CMUnitTestFunction)(void **state);
typedef int (*CMFixtureFunction)(void **state);

struct CMUnitTest {
    const char *name;
    CMUnitTestFunction run;
    CMFixtureFunction setup, teardown;
    void *state;
};

#define cmocka_unit_test(f)                                                                        \
    {                                                                                              \
#f, f, NULL, NULL, NULL                                                                    \
    }
#define substitute_check(holds, what)                                                              \
    do {                                                                                           \
        if (!(holds)) {                                                                            \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, what);                              \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
#define assert_true(a) substitute_check((a), #a)
#define assert_false(a) substitute_check(!(a), "not " #a)
#define assert_non_null(a) substitute_check((a) != NULL, #a " is not NULL")
#define assert_null(a) substitute_check((a) == NULL, #a " is NULL")
#define assert_int_equal(a, b) substitute_check((a) == (b), #a " equals " #b)
#define assert_string_equal(a, b) substitute_check(strcmp((a), (b)) == 0, #a " equals " #b)
#define assert_memory_equal(a, b, n) substitute_check(memcmp((a), (b), (n)) == 0, #a " equals " #b)
#define fail_msg(...)                                                                              \
    do {                                                                                           \
        fprintf(stderr, "%s:%d: ", __FILE__, __LINE__);                                            \
        fprintf(stderr, __VA_ARGS__);                                                              \
        fprintf(stderr, "\n");                                                                     \
        exit(1);                                                                                   \
    } while (0)
#define skip()                                                                                     \
    do {                                                                                           \
        printf("  skipped\n");                                                                     \
        return;                                                                                    \
    } while (0)
#define cmocka_run_group_tests(tests, setup, teardown)                                             \
    _cmocka_run_group_tests(#tests, tests, sizeof(tests) / sizeof((tests)[0]), setup, teardown)

static inline int _cmocka_run_group_tests(const char *group, const struct CMUnitTest *tests,
                                          size_t count, CMFixtureFunction setup,
                                          CMFixtureFunction teardown)
{
    (void)group;
    void *state = NULL;
    if (setup)
        substitute_check(setup(&state) == 0, "the group is set up");
    for (size_t i = 0; i < count; i++) {
        printf("%s\n", tests[i].name);
        if (tests[i].setup)
            substitute_check(tests[i].setup(&state) == 0, "the test is set up");
        tests[i].run(&state);
        if (tests[i].teardown)
            substitute_check(tests[i].teardown(&state) == 0, "the test is taken down");
    }
    if (teardown)
        substitute_check(teardown(&state) == 0, "the group is taken down");
    return 0;
}

#endif
