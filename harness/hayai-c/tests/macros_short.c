/* SPDX-License-Identifier: Apache-2.0 */
/* The short names, which a file opts into. */
#define HAYAI_SHORT_NAMES
#include "hayai.h"

BENCHMARK(short_group, plain)
{
    while (hayai_state_keep_running(state))
        continue;
}

BENCHMARK_WITH(short_group, with, hayai_benchmark_arg(benchmark, 7))
{
    while (hayai_state_keep_running(state))
        continue;
}

FIXTURE(short_fixture)
{
    int value;
};

SET_UP(short_fixture)
{
    fixture->value = 1;
}

TEAR_DOWN(short_fixture)
{
}

BENCHMARK_F(short_fixture, one)
{
    while (hayai_state_keep_running(state))
        hayai_do_not_optimize(fixture->value);
}

BENCHMARK_P(short_group, parameters, (int a))
{
    while (hayai_state_keep_running(state))
        hayai_do_not_optimize(a);
}
BENCHMARK_P_INSTANCE(short_group, parameters, (1))
