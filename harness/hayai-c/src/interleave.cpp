/* SPDX-License-Identifier: Apache-2.0 */
#include "interleave.hpp"
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
    bool failed = false, done = false;
    run last; /* the search's last run: what is reported if it failed */
};

/* One run of one instance by the library. */
run run_once(instance &instance, const fixed &fixed)
{
    silent_reporter reporter;
    roster roster(*instance.family);
    roster.add(instance);
    clear_registry();
    enroll(roster, instance, fixed);
    benchmark::RunSpecifiedBenchmarks(&reporter, nullptr, "all");
    clear_registry();
    if (reporter.runs.empty())
        throw std::runtime_error(instance.name + ": Google Benchmark reported no run");
    return reporter.runs.front();
}

calibrated search(instance &instance, const plan &plan)
{
    calibrated result;
    fixed fixed;
    fixed.repetitions = 1;
    if (instance.family->min_time == 0)
        fixed.min_seconds = plan.min_seconds > 0 ? plan.min_seconds : 0.5;
    result.last = run_once(instance, fixed);
    result.iterations = result.last.iterations / instance.threads;
    std::string message;
    if (version::skip_of(result.last, message) == skip::none)
        return result;
    if (message == limit_message)
        result.iterations = plan.max_iterations;
    else
        result.failed = true;
    return result;
}

calibrated calibrate(instance &instance, const plan &plan)
{
    calibrated result;
    const hayai_benchmark &family = *instance.family;
    instance.iteration_limit = plan.max_iterations;
    if (family.iterations > 0)
        result.iterations = family.iterations;
    else if (plan.iterations > 0 && family.min_time == 0)
        result.iterations = plan.iterations;
    else
        result = search(instance, plan);
    if (plan.max_iterations > 0)
        result.iterations = std::min(result.iterations, plan.max_iterations);
    return result;
}

/* One repetition, or the report of an instance that can't be run. */
bool repeat(instance &instance, calibrated &calibrated, const plan &plan, unsigned repetition,
            unsigned order, const repetition_sink &sink)
{
    calibrated.done = calibrated.failed;
    run run =
        calibrated.failed ? calibrated.last : run_once(instance, {calibrated.iterations, 0, 1});
    run.repetition_index = repetition;
    run.repetitions = plan.repetitions;
    return sink(instance, run, repetition, order);
}

/* A benchmark's own number of repetitions ends it early. */
bool takes_part(const instance &instance, unsigned round)
{
    const int own = instance.family->repetitions;
    return own <= 0 || round < static_cast<unsigned>(own);
}

/* For hayai_repetition_callback. */
int describe(const instance &instance, const run &run, unsigned repetition, unsigned order,
             const hayai_interleave &interleave)
{
    std::string message;
    const bool skipped = version::skip_of(run, message) != skip::none;
    const std::vector<hayai_counter_value> counters = counters_of(run);
    hayai_repetition result = {};
    result.name = instance.name.c_str();
    result.benchmark = instance.family->index;
    result.repetition = repetition;
    result.order = order;
    result.instance = instance.number;
    result.threads = instance.threads;
    result.argument_count = instance.arguments.size();
    result.arguments = instance.arguments.data();
    result.iterations = run.iterations / instance.threads;
    result.error = skipped ? message.c_str() : nullptr;
    if (!skipped) {
        result.real_seconds = run.real_accumulated_time / static_cast<double>(run.iterations);
        result.cpu_seconds = run.cpu_accumulated_time / static_cast<double>(run.iterations);
    }
    result.counters = counters.data();
    result.counter_count = counters.size();
    result.label = run.report_label.c_str();
    return interleave.on_repetition(&result, interleave.user);
}

hayai_status check(const hayai_suite *suite, const hayai_interleave *given,
                   hayai_interleave &interleave)
{
    if (!suite || !given || !given->on_repetition)
        return fail(HAYAI_ERROR_ARGUMENT, "hayai_suite_run_interleaved: no %s",
                    !suite   ? "suite"
                    : !given ? "settings"
                             : "callback");
    const hayai_status status = adopt("hayai_interleave", *given, interleave);
    if (status != HAYAI_OK)
        return status;
    if (interleave.repetitions == 0 || interleave.max_iterations < 0 ||
        !std::isfinite(interleave.min_seconds) || interleave.min_seconds < 0)
        return fail(HAYAI_ERROR_ARGUMENT,
                    "hayai_suite_run_interleaved: repetitions %u, expected > 0; max_iterations "
                    "%lld, expected >= 0; min_seconds %g, expected finite, >= 0",
                    interleave.repetitions, static_cast<long long>(interleave.max_iterations),
                    interleave.min_seconds);
    return HAYAI_OK;
}

hayai_status run_suite(hayai_suite &suite, const hayai_interleave &interleave)
{
    const session session(suite);
    if (!session.owned)
        return another_run();
    instances all;
    const hayai_status matched = match(suite, interleave.filter, all);
    if (matched != HAYAI_OK)
        return matched;
    set_flags({});
    const plan plan = {interleave.seed, interleave.repetitions, interleave.min_seconds, 0,
                       interleave.max_iterations};
    const bool finished = hayai::interleave(
        all, plan,
        [&](const instance &instance, const run &run, unsigned repetition, unsigned order) {
            return describe(instance, run, repetition, order, interleave) == 0;
        });
    return finished ? HAYAI_OK : fail(HAYAI_STOPPED, "stopped by the callback");
}

} // namespace

bool hayai::interleave(const instances &all, const plan &plan, const repetition_sink &sink)
{
    std::vector<calibrated> calibrated;
    for (const auto &one : all)
        calibrated.push_back(calibrate(*one, plan));
    generator random{plan.seed};
    std::vector<size_t> order(all.size());
    for (size_t i = 0; i < order.size(); i++)
        order[i] = i;
    unsigned place = 0;
    for (unsigned round = 0; round < plan.repetitions; round++) {
        permute(order, random);
        for (const size_t i : order) {
            const unsigned here = place++;
            if (!calibrated[i].done && takes_part(*all[i], round) &&
                !repeat(*all[i], calibrated[i], plan, round, here, sink))
                return false;
        }
    }
    return true;
}

extern "C" hayai_status hayai_suite_run_interleaved(hayai_suite *suite,
                                                    const hayai_interleave *interleave)
{
    hayai_interleave own = {};
    const hayai_status status = check(suite, interleave, own);
    return status == HAYAI_OK ? guard([&] { return run_suite(*suite, own); }) : status;
}
