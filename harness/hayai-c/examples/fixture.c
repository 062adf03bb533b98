/* SPDX-License-Identifier: Apache-2.0 */
/* A fixture, arguments and counters: copies blocks of several sizes with one and two threads. */
#include <hayai.h>
#include <stdlib.h>
#include <string.h>

HAYAI_FIXTURE(blocks)
{
    char *from, *to;
    size_t size;
};

/* Runs untimed, before each call of each benchmark of this fixture, in each of its threads. */
HAYAI_SET_UP(blocks)
{
    fixture->size = (size_t)hayai_state_range(state, 0);
    fixture->from = calloc(1, fixture->size);
    fixture->to = malloc(fixture->size);
    if (!fixture->from || !fixture->to) {
        hayai_state_skip_with_error(state, "out of memory");
        return;
    }
    memset(fixture->to, 1, fixture->size); /* touched before the clock starts */
}

HAYAI_TEAR_DOWN(blocks)
{
    free(fixture->from);
    free(fixture->to);
}

HAYAI_BENCHMARK_F_WITH(blocks, copy, hayai_benchmark_arg_name(benchmark, "bytes");
                       hayai_benchmark_range_multiplier(benchmark, 16);
                       hayai_benchmark_range(benchmark, 64, 65536);
                       hayai_benchmark_thread_range(benchmark, 1, 2);
                       hayai_benchmark_use_real_time(benchmark))
{
    for (int64_t n; (n = hayai_state_batch(state)) > 0;)
        for (int64_t i = 0; i < n; i++) {
            memcpy(fixture->to, fixture->from, fixture->size);
            hayai_do_not_optimize(fixture->to);
        }
    const int64_t iterations = hayai_state_iterations(state);
    hayai_state_set_bytes_processed(state, iterations * (int64_t)fixture->size);
    hayai_state_set_counter(state, "copies", (double)iterations, HAYAI_COUNTER_IS_RATE,
                            HAYAI_ONE_K_1000);
    hayai_state_set_counter(state, "seconds_per_copy", (double)iterations,
                            HAYAI_COUNTER_IS_RATE | HAYAI_COUNTER_INVERT, HAYAI_ONE_K_1000);
}

HAYAI_MAIN()
