/* SPDX-License-Identifier: Apache-2.0 */
/* benchmark::BenchmarkReporter::Run as hayai_run. */
#include "report.hpp"
#include <cmath>

namespace
{

const char *complexity_text(benchmark::BigO complexity)
{
    switch (complexity) {
    case benchmark::o1:
        return "(1)";
    case benchmark::oN:
        return "N";
    case benchmark::oNSquared:
        return "N^2";
    case benchmark::oNCubed:
        return "N^3";
    case benchmark::oLogN:
        return "lgN";
    case benchmark::oNLogN:
        return "NlgN";
    default:
        return "f(N)";
    }
}

/* An unknown is the library's own tombstone: the greatest number there is, as ours. */
hayai_memory memory_of(const benchmark::MemoryManager::Result &result)
{
    return {result.num_allocs, result.max_bytes_used, result.total_allocated_bytes,
            result.net_heap_growth};
}

void set_times(const hayai::run &run, hayai_run &view)
{
    if (view.skipped != HAYAI_SKIP_NONE)
        return;
    if (view.type == HAYAI_RUN_TYPE_AGGREGATE &&
        view.aggregate_unit == HAYAI_STATISTIC_UNIT_PERCENTAGE && !view.rms) {
        view.real_time = run.real_accumulated_time;
        view.cpu_time = run.cpu_accumulated_time;
    } else {
        view.real_time = run.GetAdjustedRealTime();
        view.cpu_time = run.GetAdjustedCPUTime();
    }
    if (view.type == HAYAI_RUN_TYPE_ITERATION) {
        view.real_seconds = run.real_accumulated_time;
        view.cpu_seconds = run.cpu_accumulated_time;
    }
}

} // namespace

hayai::run_views::run_views(const std::vector<run> &runs)
{
    for (const run &run : runs)
        views_.push_back(view(run));
}

const char *hayai::run_views::keep(std::string text)
{
    texts_.push_back(std::move(text));
    return texts_.back().c_str();
}

hayai_run hayai::run_views::view(const run &run)
{
    hayai_run view = {};
    std::string message;
    const skip how = version::skip_of(run, message);
    const bool aggregate = run.run_type == run::RT_Aggregate;
    view.name = keep(run.benchmark_name());
    view.run_name = keep(run.run_name.str());
    view.function_name = keep(run.run_name.function_name);
    view.arguments = keep(run.run_name.args);
    view.family = run.family_index;
    view.instance = run.per_family_instance_index;
    view.type = aggregate ? HAYAI_RUN_TYPE_AGGREGATE : HAYAI_RUN_TYPE_ITERATION;
    view.aggregate_name = keep(run.aggregate_name);
    view.aggregate_unit = run.aggregate_unit == benchmark::kPercentage
                              ? HAYAI_STATISTIC_UNIT_PERCENTAGE
                              : HAYAI_STATISTIC_UNIT_TIME;
    view.label = keep(run.report_label);
    view.skipped = how == skip::none      ? HAYAI_SKIP_NONE
                   : how == skip::message ? HAYAI_SKIP_MESSAGE
                                          : HAYAI_SKIP_ERROR;
    view.message = how == skip::none ? "" : keep(std::move(message));
    view.iterations = run.iterations;
    view.threads = run.threads;
    view.repetition = aggregate ? -1 : run.repetition_index;
    view.repetitions = run.repetitions;
    view.unit = static_cast<hayai_unit>(run.time_unit);
    view.big_o = run.report_big_o;
    view.rms = run.report_rms;
    view.complexity = run.report_big_o ? complexity_text(run.complexity) : "";
    view.complexity_n = run.complexity_n;
    set_times(run, view);
    counters_.push_back(counters_of(run));
    view.counters = counters_.back().data();
    view.counter_count = counters_.back().size();
    if (const auto *measured = version::memory_of(run)) {
        memories_.push_back(memory_of(*measured));
        view.memory = &memories_.back();
    }
    view.allocations_per_iteration = run.allocs_per_iter;
    return view;
}

std::vector<hayai_counter_value> hayai::counters_of(const run &run)
{
    std::vector<hayai_counter_value> counters;
    for (const auto &[name, counter] : run.counters)
        counters.push_back({name.c_str(), counter.value,
                            static_cast<hayai_counter_flags>(counter.flags),
                            static_cast<hayai_one_k>(counter.oneK)});
    return counters;
}
