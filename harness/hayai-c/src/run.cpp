/* SPDX-License-Identifier: Apache-2.0 */
/* hayai_suite_run(): checks the settings, opens the outputs, lets the library or the interleaving
 * run, and closes the outputs whatever happened. */
#include "interleave.hpp"
#include "report.hpp"
#include <cerrno>
#include <climits>
#include <cmath>

namespace
{

using namespace hayai;

hayai_status check(const hayai_options &options)
{
    const bool times = std::isfinite(options.min_seconds) && options.min_seconds >= 0 &&
                       std::isfinite(options.min_warm_up_seconds) &&
                       options.min_warm_up_seconds >= 0;
    const bool counts = options.iterations >= 0 && options.repetitions <= INT_MAX;
    if (!times || !counts)
        return fail(HAYAI_ERROR_ARGUMENT,
                    "options: min_seconds, min_warm_up_seconds and iterations must be >= 0, "
                    "repetitions at most %d",
                    INT_MAX);
    if (options.unit < HAYAI_UNIT_NANOSECOND || options.unit > HAYAI_UNIT_SECOND ||
        options.color < HAYAI_COLOR_AUTO || options.color > HAYAI_COLOR_NEVER)
        return fail(HAYAI_ERROR_ARGUMENT, "options: unknown unit or color");
    if ((options.output_count > 0 && !options.outputs) ||
        (options.reporter_count > 0 && !options.reporters))
        return fail(HAYAI_ERROR_ARGUMENT, "options: a count of outputs or reporters, but no list");
    for (size_t i = 0; i < options.output_count; i++)
        if (!options.outputs[i])
            return fail(HAYAI_ERROR_ARGUMENT, "options: output %zu is NULL", i);
    if (options.interleave && options.random_interleaving)
        return fail(HAYAI_ERROR_ARGUMENT, "options: interleave and random_interleaving: only one");
    return HAYAI_OK;
}

/* What the program is called. */
const char *program_name()
{
#ifdef __linux__
    return program_invocation_name;
#else
    return getprogname(); /* macOS, BSD */
#endif
}

flags flags_of(const hayai_options &options)
{
    flags flags;
    if (options.min_seconds > 0)
        flags.min_time = options.min_seconds;
    flags.min_warm_up_time = options.min_warm_up_seconds;
    if (options.repetitions > 0)
        flags.repetitions = static_cast<int>(options.repetitions);
    flags.random_interleaving = options.random_interleaving;
    flags.time_unit = hayai_unit_string(options.unit);
    flags.perf_counters = options.perf_counters ? options.perf_counters : "";
    flags.verbosity = options.verbosity;
    flags.executable = options.executable ? options.executable : program_name();
    return flags;
}

/* What of a family does not match is not registered: the library gets no filter. */
void run_by_library(const instances &all, const hayai_options &options, reporter &reporter)
{
    clear_registry();
    std::list<roster> rosters;
    for (const auto &one : all) {
        if (rosters.empty() || &rosters.back().family != one->family)
            rosters.emplace_back(*one->family);
        rosters.back().add(*one);
    }
    auto roster = rosters.begin();
    for (const auto &one : all) {
        fixed fixed;
        if (&roster->family != one->family)
            ++roster;
        if (options.dry_run)
            fixed = {1, 0, 1};
        else if (one->family->iterations == 0 && one->family->min_time == 0)
            fixed.iterations = options.iterations;
        if (one->alone)
            enroll(*roster, *one, fixed);
        else if (one->number_matched == 0)
            enroll(*roster, fixed);
    }
    benchmark::RunSpecifiedBenchmarks(&reporter, nullptr, "all");
    clear_registry();
}

void run_interleaved(const instances &all, const hayai_options &options, reporter &reporter)
{
    benchmark::BenchmarkReporter::Context context;
    context.name_field_width = 10;
    for (const auto &one : all)
        context.name_field_width = std::max(context.name_field_width, one->name.size() + 7);
    reporter.ReportContext(context);
    plan plan;
    plan.seed = options.seed;
    plan.repetitions = options.repetitions > 0 && !options.dry_run ? options.repetitions : 1;
    plan.min_seconds = options.min_seconds;
    plan.iterations = options.dry_run ? 1 : options.iterations;
    std::map<const instance *, std::vector<run>> runs;
    interleave(all, plan, [&](const instance &one, const run &run, unsigned, unsigned) {
        reporter.single(one, run);
        runs[&one].push_back(run);
        return true;
    });
    for (const auto &one : all)
        reporter.complete(*one, runs[one.get()]);
}

/* The run itself; what a sink stopped it with. */
hayai_status run_all(const instances &all, const hayai_options &options, reporter &reporter)
{
    try {
        if (options.interleave)
            run_interleaved(all, options, reporter);
        else
            run_by_library(all, options, reporter);
        return HAYAI_OK;
    } catch (const stop &stop) {
        return fail(stop.status, "%s", stop.message.c_str());
    }
}

hayai_status run_suite(hayai_suite &suite, const hayai_options &options, hayai_summary &summary)
{
    const session session(suite);
    if (!session.owned)
        return another_run();
    instances all;
    hayai_status status = match(suite, options.filter, all);
    if (status != HAYAI_OK)
        return status;
    sinks sinks;
    status = open_sinks(options, sinks, false);
    if (status != HAYAI_OK)
        return status;
    set_flags(flags_of(options));
    reporter reporter(all, options, sinks);
    status = guard([&] { return run_all(all, options, reporter); });
    char message[1024];
    snprintf(message, sizeof message, "%s", hayai_last_message());
    const hayai_status closed = reporter.close();
    summary = reporter.summary();
    return status == HAYAI_OK ? closed : fail(status, "%s", message);
}

hayai_status list_suite(hayai_suite &suite, const hayai_options &options)
{
    const session session(suite);
    if (!session.owned)
        return another_run();
    instances all;
    sinks sinks;
    hayai_status status = match(suite, options.filter, all);
    if (status == HAYAI_OK)
        status = open_sinks(options, sinks, true);
    std::vector<const char *> names;
    for (const auto &one : all)
        names.push_back(one->name.c_str());
    for (size_t i = 0; i < sinks.size() && status == HAYAI_OK; i++)
        status = sinks[i]->list(names);
    return status;
}

/* The settings as they are here: a copy, which may be of another size; NULL: the defaults. */
hayai_status settle(const char *function, const hayai_suite *suite, const hayai_options *given,
                    hayai_options &options)
{
    if (!suite)
        return fail(HAYAI_ERROR_ARGUMENT, "%s: no suite", function);
    const hayai_status status = given ? adopt("hayai_options", *given, options) : HAYAI_OK;
    return status == HAYAI_OK ? check(options) : status;
}

} // namespace

extern "C" hayai_status hayai_suite_run(hayai_suite *suite, const hayai_options *options,
                                        hayai_summary *summary)
{
    hayai_options own = {};
    hayai_summary result = {};
    hayai_status status = settle("hayai_suite_run", suite, options, own);
    if (status == HAYAI_OK)
        status = guard([&] { return run_suite(*suite, own, result); });
    if (summary)
        *summary = result;
    return status;
}

extern "C" hayai_status hayai_suite_report_list(hayai_suite *suite, const hayai_options *options)
{
    hayai_options own = {};
    const hayai_status status = settle("hayai_suite_report_list", suite, options, own);
    return status == HAYAI_OK ? guard([&] { return list_suite(*suite, own); }) : status;
}
