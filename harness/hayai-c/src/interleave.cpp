/* Interleaved repetitions: iterations found once, then every repetition a run of its own, in rounds
 * of random permutations. */
#include "internal.hpp"
#include <algorithm>
#include <cmath>

namespace
{

using namespace hayai;

/* splitmix64 (Steele, Lea, Flood 2014): the order for a seed is the same on every machine. */
struct generator {
    uint64_t state;
    uint64_t next()
    {
        uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
        z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
        return z ^ (z >> 31);
    }
    /* Below n without bias: the draws beyond the last whole multiple of n are drawn again. */
    uint64_t below(uint64_t n)
    {
        const uint64_t reject = (UINT64_C(0) - n) % n; /* 2^64 mod n */
        uint64_t draw;
        do
            draw = next();
        while (draw < reject);
        return draw % n;
    }
};

/* A random permutation of 0 ... n - 1 (Fisher and Yates). */
void permute(std::vector<size_t> &order, generator &random)
{
    for (size_t i = order.size(); i > 1; i--)
        std::swap(order[i - 1], order[random.below(i)]);
}

struct calibrated {
    int64_t iterations = 0;
    std::string error; /* of an instance that can't be run */
    bool done = false; /* and was reported */
};

/* One run of one instance by the library. */
run run_once(instance &instance, const fixed &fixed)
{
    silent_reporter reporter;
    benchmark::ClearRegisteredBenchmarks();
    enroll(instance, fixed);
    benchmark::RunSpecifiedBenchmarks(&reporter, nullptr, "all");
    if (reporter.runs.empty())
        throw std::runtime_error(instance.name + ": Google Benchmark reported no run");
    return reporter.runs.front();
}

calibrated calibrate(instance &instance, const hayai_interleave &interleave)
{
    calibrated result;
    const hayai_benchmark &family = *instance.family;
    instance.iteration_limit = interleave.max_iterations;
    if (family.iterations > 0) {
        result.iterations = family.iterations;
    } else {
        fixed search;
        search.repetitions = 1;
        search.min_seconds = interleave.min_seconds > 0 ? interleave.min_seconds : 0.5;
        const run found = run_once(instance, search);
        result.iterations = found.iterations / instance.threads;
        if (version::skip_of(found, result.error, 0) == skip::none)
            result.error.clear();
        else if (result.error == limit_message) {
            result.error.clear();
            result.iterations = interleave.max_iterations;
        }
    }
    if (interleave.max_iterations > 0)
        result.iterations = std::min(result.iterations, interleave.max_iterations);
    return result;
}

std::vector<hayai_counter_value> counters_of(const run &run)
{
    std::vector<hayai_counter_value> counters;
    for (const auto &[name, counter] : run.counters)
        counters.push_back({name.c_str(), counter.value,
                            static_cast<hayai_counter_flags>(counter.flags),
                            static_cast<hayai_one_k>(counter.oneK)});
    return counters;
}

hayai_repetition describe(const instance &instance, unsigned repetition, unsigned order)
{
    hayai_repetition result = {};
    result.name = instance.name.c_str();
    result.benchmark = instance.family->index;
    result.repetition = repetition;
    result.order = order;
    result.instance = instance.number;
    result.threads = instance.threads;
    result.label = "";
    result.argument_count = instance.arguments.size();
    result.arguments = instance.arguments.data();
    return result;
}

/* Runs and reports one repetition; what the callback returned. */
int repeat(instance &instance, calibrated &calibrated, hayai_repetition &result,
           const hayai_interleave &interleave)
{
    if (!calibrated.error.empty()) {
        calibrated.done = true;
        result.error = calibrated.error.c_str();
        return interleave.on_repetition(&result, interleave.context);
    }
    const run run = run_once(instance, {calibrated.iterations, 0, 1});
    std::string error;
    const bool skipped = version::skip_of(run, error, 0) != skip::none;
    const std::vector<hayai_counter_value> counters = counters_of(run);
    result.iterations = run.iterations / instance.threads;
    result.error = skipped ? error.c_str() : nullptr;
    if (!skipped) {
        result.real_seconds = run.real_accumulated_time / static_cast<double>(run.iterations);
        result.cpu_seconds = run.cpu_accumulated_time / static_cast<double>(run.iterations);
    }
    result.counters = counters.data();
    result.counter_count = counters.size();
    result.label = run.report_label.c_str();
    return interleave.on_repetition(&result, interleave.context);
}

hayai_status run_rounds(instances &all, std::vector<calibrated> &calibrated,
                        const hayai_interleave &interleave)
{
    generator random{interleave.seed};
    std::vector<size_t> order(all.size());
    for (size_t i = 0; i < order.size(); i++)
        order[i] = i;
    unsigned place = 0;
    for (unsigned round = 0; round < interleave.repetitions; round++) {
        permute(order, random);
        for (const size_t i : order) {
            hayai_repetition result = describe(*all[i], round, place++);
            if (!calibrated[i].done && repeat(*all[i], calibrated[i], result, interleave))
                return fail(HAYAI_STOPPED, "stopped by the callback at %s, repetition %u",
                            result.name, round);
        }
    }
    return HAYAI_OK;
}

hayai_status check(const hayai_suite *suite, const hayai_interleave *interleave)
{
    if (!suite || !interleave || !interleave->on_repetition)
        return fail(HAYAI_ERROR_ARGUMENT, "hayai_suite_run_interleaved: no %s",
                    !suite        ? "suite"
                    : !interleave ? "settings"
                                  : "callback");
    if (interleave->repetitions == 0 || interleave->max_iterations < 0 ||
        !std::isfinite(interleave->min_seconds) || interleave->min_seconds < 0)
        return fail(HAYAI_ERROR_ARGUMENT,
                    "hayai_suite_run_interleaved: repetitions %u, expected > 0; max_iterations "
                    "%lld, expected >= 0; min_seconds %g, expected finite, >= 0",
                    interleave->repetitions, static_cast<long long>(interleave->max_iterations),
                    interleave->min_seconds);
    return HAYAI_OK;
}

} // namespace

extern "C" hayai_status hayai_suite_run_interleaved(hayai_suite *suite,
                                                    const hayai_interleave *interleave)
{
    const hayai_status status = check(suite, interleave);
    if (status != HAYAI_OK)
        return status;
    return guard([&] {
        const session session;
        if (!session.owned)
            return fail(HAYAI_ERROR_STATE, "another run is under way");
        instances all;
        const hayai_status matched = match(*suite, interleave->filter, all);
        if (matched != HAYAI_OK)
            return matched;
        set_flags({});
        std::vector<calibrated> calibrated;
        for (const auto &one : all)
            calibrated.push_back(calibrate(*one, *interleave));
        return run_rounds(all, calibrated, *interleave);
    });
}
