/* SPDX-License-Identifier: Apache-2.0 */
/* Interleaved repetitions: iterations found once, then every repetition a run of its own, in rounds
 * of random permutations. */
#ifndef HAYAI_INTERLEAVE_HPP
#define HAYAI_INTERLEAVE_HPP

#include "internal.hpp"
#include <functional>

namespace hayai
{

struct plan {
    uint64_t seed = 0;
    unsigned repetitions = 1;
    double min_seconds = 0;
    int64_t iterations = 0;     /* for all that have none of their own; 0: search */
    int64_t max_iterations = 0; /* 0: no limit */
};

/* Gets each repetition's run as soon as it is done, its number, and its place in the whole order;
 * false stops. */
using repetition_sink =
    std::function<bool(const instance &, const run &, unsigned repetition, unsigned order)>;

/* False if it was stopped. */
bool interleave(const instances &all, const plan &plan, const repetition_sink &sink);

} // namespace hayai

#endif
