/* SPDX-License-Identifier: Apache-2.0 */
/* The macros, in C; test_cpp.cpp has them in C++, and macros_short.c the short names. */
#include "capture.h"

static int called[8];

HAYAI_BENCHMARK(group, plain)
{
    called[0]++;
    empty_loop(state, NULL);
}

HAYAI_BENCHMARK_WITH(group, ranged, hayai_benchmark_range_multiplier(benchmark, 2);
                     hayai_benchmark_args(benchmark, (int64_t[]){3, 4}, 2))
{
    called[1]++;
    assert_int_equal(hayai_state_range(state, 1), 4);
    empty_loop(state, NULL);
}

HAYAI_FIXTURE(numbers)
{
    int value, zero;
};

HAYAI_SET_UP(numbers)
{
    assert_int_equal(fixture->value, 0);
    assert_int_equal(fixture->zero, 0);
    fixture->value = 5;
    called[2]++;
}

HAYAI_TEAR_DOWN(numbers)
{
    assert_int_equal(fixture->value, 6);
    called[3]++;
}

HAYAI_BENCHMARK_F(numbers, add)
{
    assert_int_equal(fixture->value, 5);
    fixture->value++;
    empty_loop(state, NULL);
}

HAYAI_BENCHMARK_F_WITH(numbers, add_ranged, hayai_benchmark_arg(benchmark, 9))
{
    fixture->value++;
    assert_int_equal(hayai_state_range(state, 0), 9);
    empty_loop(state, NULL);
}

HAYAI_BENCHMARK_P(group, multiply, (int a, int b))
{
    called[4] += a * b;
    empty_loop(state, NULL);
}
HAYAI_BENCHMARK_P_INSTANCE(group, multiply, (2, 3))
HAYAI_BENCHMARK_P_INSTANCE_WITH(group, multiply, (4, 5), hayai_benchmark_repetitions(benchmark, 2))

HAYAI_BENCHMARK_PF(numbers, both, (int c))
{
    fixture->value += c;
    called[5]++;
    empty_loop(state, NULL);
}
HAYAI_BENCHMARK_PF_INSTANCE(numbers, both, (1))

HAYAI_BENCHMARK_PF_INSTANCE_WITH(numbers, both, (1), hayai_benchmark_arg(benchmark, 3))

/* Names that are the same when they are joined. */
HAYAI_BENCHMARK(join_a, b)
{
    empty_loop(state, NULL);
}
HAYAI_BENCHMARK(join, a_b)
{
    empty_loop(state, NULL);
}

HAYAI_BENCHMARK_NAMED(empty_loop, plain)
HAYAI_BENCHMARK_NAMED_WITH(empty_loop, ranged, hayai_benchmark_arg(benchmark, 5))

HAYAI_FIXTURE(broken)
{
    int unused;
};

HAYAI_SET_UP(broken)
{
    hayai_state_skip_with_message(state, "no fixture here");
}

HAYAI_TEAR_DOWN(broken)
{
    called[7]++;
}

HAYAI_BENCHMARK_F(broken, never)
{
    (void)state;
    called[6]++;
}

TEST(test_everything_is_registered_in_order)
{
    assert_string_equal(names_of(hayai_default_suite(), "-short"),
                        "group/plain\ngroup/ranged/3/4\nnumbers/add\nnumbers/add_ranged/9\n"
                        "group/multiply(2, 3)\ngroup/multiply(4, 5)/repeats:2\n"
                        "numbers/both(1)\nnumbers/both(1)/3\njoin_a/b\njoin/a_b\nempty_loop/plain\n"
                        "empty_loop/ranged/5\nbroken/never\n");
}

TEST(test_short_names)
{
    assert_string_equal(names_of(hayai_default_suite(), "short"),
                        "short_group/plain\nshort_group/with/7\nshort_fixture/one\n"
                        "short_group/parameters(1)\n");
}

TEST(test_everything_runs)
{
    capture *got = capture_create();
    hayai_summary summary;
    assert_int_equal(capture_run(got, hayai_default_suite(), NULL, &summary), HAYAI_OK);
    assert_int_equal(summary.errors, 0);
    assert_int_equal(summary.messages, 1);
    const int expected[8] = {1, 1, 4, 4, 2 * 3 + 2 * 4 * 5, 2, 0, 1};
    assert_memory_equal(called, expected, sizeof called);
    assert_string_equal(capture_find(got, "broken/never")->message, "no fixture here");
}

TEST(test_the_optimizer_is_held_back)
{
    int value = 1;
    hayai_do_not_optimize(&value);
    hayai_do_not_optimize(value);
    hayai_do_not_optimize(value + 1);
    hayai_do_not_optimize_in_out(value);
    hayai_clobber();
    assert_int_equal(value, 1);
}
