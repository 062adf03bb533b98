/* Runs the tests that TEST() has listed (test_list.h). */
#include "test_list.h"

enum { TESTS_MOST = 64 };
static struct CMUnitTest tests[TESTS_MOST];
static size_t tests_count;

void test_add(const char *name, CMUnitTestFunction function, CMFixtureFunction setup,
              CMFixtureFunction teardown)
{
    if (tests_count == TESTS_MOST)
        abort();
    tests[tests_count++] = (struct CMUnitTest){name, function, setup, teardown, NULL};
}

int test_run(CMFixtureFunction setup, CMFixtureFunction teardown)
{
    return _cmocka_run_group_tests("tests", tests, tests_count, setup, teardown);
}

__attribute__((weak)) int main(void)
{
    return test_run(NULL, NULL);
}
