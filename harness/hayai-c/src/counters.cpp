/* SPDX-License-Identifier: Apache-2.0 */
/* What a benchmark function tells about its run: counters, bytes, items, label, N. */
#include "internal.hpp"
#include <cstring>

namespace
{

using namespace hayai;

constexpr hayai_counter_flags all_flags = HAYAI_COUNTER_IS_RATE | HAYAI_COUNTER_AVG_THREADS |
                                          HAYAI_COUNTER_IS_ITERATION_INVARIANT |
                                          HAYAI_COUNTER_AVG_ITERATIONS | HAYAI_COUNTER_INVERT;

/* The library aborts where one counter has different flags in two repetitions. */
bool keeps_flags(instance &instance, const char *name, hayai_counter_flags flags)
{
    std::lock_guard<std::mutex> lock(instance.mutex);
    return instance.counter_flags.emplace(name, flags).first->second == flags;
}

hayai_status refuse(const hayai_state *state, const char *what)
{
    return fail(HAYAI_ERROR_ARGUMENT, "%s: %s", hayai_state_name(state), what);
}

hayai_status set_rate(hayai_state *state, const char *name, int64_t amount, hayai_one_k one_k)
{
    if (!state || amount < 0)
        return refuse(state, state ? "a negative number of bytes or items processed"
                                   : "processed without a state");
    return hayai_state_set_counter(state, name, static_cast<double>(amount), HAYAI_COUNTER_IS_RATE,
                                   one_k);
}

} // namespace

extern "C" {

hayai_status hayai_state_set_counter(hayai_state *state, const char *name, double value,
                                     hayai_counter_flags flags, hayai_one_k one_k)
{
    if (!state || !name || !*name)
        return refuse(state, state ? "a counter without a name" : "a counter without a state");
    if ((flags & ~all_flags) || (one_k != HAYAI_ONE_K_1000 && one_k != HAYAI_ONE_K_1024))
        return fail(HAYAI_ERROR_ARGUMENT, "%s: counter %s: unknown flags 0x%x or scale %d",
                    state->instance.name.c_str(), name, flags, static_cast<int>(one_k));
    return guard([&] {
        if (!keeps_flags(state->instance, name, flags))
            return fail(HAYAI_ERROR_ARGUMENT, "%s: counter %s changes its flags",
                        state->instance.name.c_str(), name);
        state->library.counters[name] =
            benchmark::Counter(value, static_cast<benchmark::Counter::Flags>(flags),
                               static_cast<benchmark::Counter::OneK>(one_k));
        return HAYAI_OK;
    });
}

hayai_status hayai_state_get_counter(const hayai_state *state, const char *name,
                                     hayai_counter_value *counter)
{
    if (!state || !name || !counter)
        return refuse(state, "get_counter without a state, a name or a place for it");
    return guard([&] {
        const auto found = state->library.counters.find(name);
        if (found == state->library.counters.end())
            return fail(HAYAI_ERROR_ARGUMENT, "%s: no counter %s", state->instance.name.c_str(),
                        name);
        *counter = {name, found->second.value,
                    static_cast<hayai_counter_flags>(found->second.flags),
                    static_cast<hayai_one_k>(found->second.oneK)};
        return HAYAI_OK;
    });
}

hayai_status hayai_state_set_bytes_processed(hayai_state *state, int64_t bytes)
{
    return set_rate(state, "bytes_per_second", bytes, HAYAI_ONE_K_1024);
}

hayai_status hayai_state_set_items_processed(hayai_state *state, int64_t items)
{
    return set_rate(state, "items_per_second", items, HAYAI_ONE_K_1000);
}

int64_t hayai_state_bytes_processed(const hayai_state *state)
{
    return has(state) ? state->library.bytes_processed() : 0;
}

int64_t hayai_state_items_processed(const hayai_state *state)
{
    return has(state) ? state->library.items_processed() : 0;
}

hayai_status hayai_state_set_label(hayai_state *state, const char *label)
{
    if (!state || !label)
        return refuse(state, state ? "a label that is NULL" : "a label without a state");
    if (state->set_up)
        return fail(HAYAI_ERROR_STATE, "%s: a label in set-up or tear-down",
                    state->instance.name.c_str());
    return guard([&] {
        state->library.SetLabel(label);
        return HAYAI_OK;
    });
}

hayai_status hayai_state_set_complexity_n(hayai_state *state, int64_t n)
{
    if (!state || n <= 0)
        return refuse(state, state ? "an N of the complexity that is not positive"
                                   : "an N of the complexity without a state");
    clear_message();
    state->library.SetComplexityN(n);
    return HAYAI_OK;
}

int64_t hayai_state_complexity_n(const hayai_state *state)
{
    return has(state) ? state->library.complexity_length_n() : 0;
}
}
