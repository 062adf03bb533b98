/* SPDX-License-Identifier: Apache-2.0 */
#include "report.hpp"
#include "aggregates.hpp"
#include <algorithm>
#include <ctime>

namespace
{

using namespace hayai;

/* "2024-02-29T12:00:00+01:00" */
std::string local_date()
{
    const time_t now = time(nullptr);
    struct tm parts;
    char text[32];
    if (!localtime_r(&now, &parts) || !strftime(text, sizeof text, "%FT%T%z", &parts))
        return "";
    std::string date = text;
    if (date.size() > 5)
        date.insert(date.size() - 2, ":");
    return date;
}

/* The library's context as C sees it. */
struct machine {
    explicit machine(const benchmark::BenchmarkReporter::Context &context);
    std::string date, version;
    std::vector<hayai_cache> caches;
    std::vector<hayai_custom> custom;
    hayai_context view = {};
};

machine::machine(const benchmark::BenchmarkReporter::Context &context)
    : date(local_date()), version(hayai_google_benchmark_version())
{
    const benchmark::CPUInfo &cpu = context.cpu_info;
    for (const auto &cache : cpu.caches)
        caches.push_back({cache.type.c_str(), cache.level, cache.size, cache.num_sharing});
    if (const auto *global = benchmark::internal::GetGlobalContext())
        for (const auto &[key, value] : *global)
            custom.push_back({key.c_str(), value.c_str()});
    const char *executable = benchmark::BenchmarkReporter::Context::executable_name;
    view.date = date.c_str();
    view.host_name = context.sys_info.name.c_str();
    view.executable = executable ? executable : "";
    view.processors = cpu.num_cpus;
    view.cycles_per_second = cpu.cycles_per_second;
    view.scaling = cpu.scaling == benchmark::CPUInfo::UNKNOWN   ? -1
                   : cpu.scaling == benchmark::CPUInfo::ENABLED ? 1
                                                                : 0;
    view.cache_count = caches.size();
    view.caches = caches.data();
    view.load_count = cpu.load_avg.size();
    view.loads = cpu.load_avg.data();
    view.library_version = version.c_str();
    view.library_build = hayai_library_build();
    view.custom_count = custom.size();
    view.custom = custom.data();
    view.name_width = context.name_field_width;
}

/* A part of a name, as the library composes it; "" of 0. */
std::string part_name(const char *part, double seconds)
{
    const plain_numbers plain;
    char text[64];
    snprintf(text, sizeof text, "%s:%0.3f", part, seconds);
    return seconds > 0 ? text : "";
}

size_t good_runs(const std::vector<run> &runs)
{
    std::string ignored;
    return static_cast<size_t>(std::count_if(runs.begin(), runs.end(), [&](const run &run) {
        return version::skip_of(run, ignored) == skip::none;
    }));
}

} // namespace

hayai::reporter::reporter(const instances &all, const hayai_options &options, hayai::sinks &sinks)
    : all_(all), options_(options), sinks_(sinks)
{
    SetOutputStream(&out_);
    SetErrorStream(&err_);
    for (size_t i = 0; i < all.size(); i++) {
        families_[all[i]->family].left++;
        if (all[i]->number_matched == 0 || all[i]->alone)
            first_.push_back(i);
    }
    summary_.instances = all.size();
}

bool hayai::reporter::ReportContext(const Context &context)
{
    const machine machine(context);
    for (const auto &sink : sinks_) {
        begun_++;
        const hayai_status status = sink->begin(context, machine.view);
        if (status != HAYAI_OK)
            throw stop{status, hayai_last_message()};
    }
    return true;
}

/* The library numbers what is registered in this order. */
const hayai::instance &hayai::reporter::reported(const Run &run) const
{
    return *all_.at(first_.at(static_cast<size_t>(run.family_index)) +
                    static_cast<size_t>(run.per_family_instance_index));
}

void hayai::reporter::ReportRuns(const std::vector<Run> &reports)
{
    if (reports.empty())
        return;
    const instance &instance = reported(reports.front());
    if (reports.front().run_type == Run::RT_Iteration) {
        repetitions(instance, reports);
        if (good_runs(last_) < 2)
            finish_family(instance);
        return;
    }
    std::vector<Run> aggregates = reports;
    for (Run &run : aggregates)
        mend(instance, run);
    const std::vector<Run> own =
        aggregate(last_, own_statistics(*instance.family, options_.quartiles));
    aggregates.insert(aggregates.end(), own.begin(), own.end());
    send(aggregates, true, true);
    finish_family(instance);
}

void hayai::reporter::single(const instance &instance, Run run)
{
    repetitions(instance, {std::move(run)});
}

void hayai::reporter::complete(const instance &instance, const std::vector<Run> &repetitions)
{
    std::vector<Run> mended = repetitions;
    for (Run &run : mended)
        mend(instance, run);
    std::vector<statistic> statistics = standard_statistics();
    const std::vector<statistic> own = own_statistics(*instance.family, options_.quartiles);
    statistics.insert(statistics.end(), own.begin(), own.end());
    const std::vector<Run> aggregates = aggregate(mended, statistics);
    if (!aggregates.empty())
        send(aggregates, true, true);
    finish_family(instance);
}

/* What the library got wrong or can't know. */
void hayai::reporter::mend(const instance &instance, Run &run) const
{
    const hayai_benchmark &family = *instance.family;
    run.family_index = instance.family_number;
    run.per_family_instance_index = instance.number_matched;
    run.run_name.iterations =
        family.iterations > 0 ? "iterations:" + std::to_string(family.iterations) : "";
    run.run_name.repetitions =
        family.repetitions > 0 ? "repeats:" + std::to_string(family.repetitions) : "";
    run.run_name.min_time = part_name("min_time", family.min_time);
    run.run_name.min_warmup_time = part_name("min_warmup_time", family.min_warm_up_time);
    run.statistics = nullptr;
    const auto &memory = instance.keeper->memory;
    if (version::memory_of(run))
        version::replace_memory(run, memory.empty() ? nullptr : &memory.back());
}

void hayai::reporter::repetitions(const instance &instance, std::vector<Run> runs)
{
    const auto &memory = instance.keeper->memory;
    auto measured = memory.size() >= runs.size()
                        ? std::prev(memory.end(), static_cast<std::ptrdiff_t>(runs.size()))
                        : memory.end();
    for (Run &run : runs) {
        mend(instance, run);
        if (version::memory_of(run) && measured != memory.end())
            version::replace_memory(run, &*measured++);
        std::string ignored;
        const skip how = version::skip_of(run, ignored);
        summary_.runs++;
        summary_.errors += how == skip::error;
        summary_.messages += how == skip::message;
    }
    if (instance.family->complexity != HAYAI_COMPLEXITY_NONE) {
        std::vector<Run> &kept = families_[instance.family].runs;
        kept.insert(kept.end(), runs.begin(), runs.end());
    }
    const bool several = options_.interleave ? options_.repetitions > 1 : good_runs(runs) > 1;
    send(runs, !(several && only_aggregates(instance, false)),
         !(several && only_aggregates(instance, true)));
    last_ = std::move(runs);
}

bool hayai::reporter::only_aggregates(const instance &instance, bool files) const
{
    const auto &own = instance.family->aggregates;
    if (own)
        return files ? own->files : own->display;
    return options_.report_aggregates_only || (!files && options_.display_aggregates_only);
}

void hayai::reporter::finish_family(const instance &instance)
{
    family_progress &progress = families_[instance.family];
    if (--progress.left > 0 || instance.family->complexity == HAYAI_COMPLEXITY_NONE)
        return;
    const std::vector<Run> fit = fit_complexity(progress.runs, *instance.family);
    if (!fit.empty())
        send(fit, true, true);
}

void hayai::reporter::send(const std::vector<Run> &runs, bool display, bool files)
{
    const run_views views(runs);
    for (const auto &sink : sinks_) {
        if (!(sink->file ? files : display))
            continue;
        const hayai_status status = sink->report(runs, views);
        if (status != HAYAI_OK)
            throw stop{status, hayai_last_message()};
    }
}

hayai_status hayai::reporter::close()
{
    hayai_status first = HAYAI_OK;
    char message[1024] = "";
    for (size_t i = 0; i < begun_; i++) {
        const hayai_status status = sinks_[i]->finish();
        if (status != HAYAI_OK && first == HAYAI_OK) {
            first = status;
            snprintf(message, sizeof message, "%s", hayai_last_message());
        }
    }
    begun_ = 0;
    return first == HAYAI_OK ? HAYAI_OK : fail(first, "%s", message);
}
