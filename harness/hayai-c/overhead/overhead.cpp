/* SPDX-License-Identifier: Apache-2.0 */
#include <benchmark/benchmark.h>
#include "hayai.h"

/* The loops of overhead.c in C++. */

extern "C" hayai_function cpp_empty, cpp_chain, cpp_sum, cpp_keep_running;

static benchmark::State &native(hayai_state *state)
{
    return *static_cast<benchmark::State *>(hayai_state_native(state));
}

/* Uses the same barrier as in C: benchmark::ClobberMemory() is a fence without an instruction, and
 * clang removes an otherwise empty loop. */
void cpp_empty(hayai_state *state, void *)
{
    for (auto _ : native(state))
        hayai_clobber();
}

void cpp_chain(hayai_state *state, void *user)
{
    const auto *data = static_cast<const double *>(user);
    const double factor = data[0], addend = data[1];
    double value = 1;
    for (auto _ : native(state))
        value = value * factor + addend;
    benchmark::DoNotOptimize(value);
}

void cpp_sum(hayai_state *state, void *user)
{
    const auto *values = static_cast<const float *>(user);
    for (auto _ : native(state)) {
        float sum = 0;
        for (int j = 0; j < 64; j++)
            sum += values[j];
        benchmark::DoNotOptimize(sum);
    }
}

void cpp_keep_running(hayai_state *state, void *)
{
    benchmark::State &library = native(state);
    while (library.KeepRunning())
        hayai_clobber();
}
