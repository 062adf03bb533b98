/* SPDX-License-Identifier: Apache-2.0 */
#include <benchmark/benchmark.h>
#include "loops.h"

static benchmark::State &native(hayai_state *state)
{
    return *static_cast<benchmark::State *>(hayai_state_native(state));
}

/* The same barrier as in C: benchmark::ClobberMemory() is a fence without an instruction, and clang
 * removes a loop that has nothing else. */
void cpp_empty(hayai_state *state, void *)
{
    for (auto _ : native(state))
        hayai_clobber();
}

void cpp_chain(hayai_state *state, void *user)
{
    const auto *data = static_cast<const loop_data *>(user);
    const double factor = data->factor, addend = data->addend;
    double value = 1;
    for (auto _ : native(state))
        value = value * factor + addend;
    benchmark::DoNotOptimize(value);
}

void cpp_sum(hayai_state *state, void *user)
{
    const auto *data = static_cast<const loop_data *>(user);
    for (auto _ : native(state)) {
        float sum = 0;
        for (int j = 0; j < LOOP_VALUES; j++)
            sum += data->values[j];
        benchmark::DoNotOptimize(sum);
    }
}

void cpp_keep_running(hayai_state *state, void *)
{
    benchmark::State &library = native(state);
    while (library.KeepRunning())
        hayai_clobber();
}
