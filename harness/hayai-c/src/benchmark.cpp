/* SPDX-License-Identifier: Apache-2.0 */
/* The builder calls: everything that Google Benchmark would abort on is refused here. */
#include "internal.hpp"
#include <cmath>

namespace
{

using namespace hayai;

hayai_status refuse(const hayai_benchmark *benchmark, const char *what)
{
    return fail(HAYAI_ERROR_ARGUMENT, "%s: %s", benchmark->name.c_str(), what);
}

} // namespace

extern "C" {

const char *hayai_unit_string(hayai_unit unit)
{
    switch (unit) {
    case HAYAI_UNIT_NANOSECOND:
        return "ns";
    case HAYAI_UNIT_MICROSECOND:
        return "us";
    case HAYAI_UNIT_MILLISECOND:
        return "ms";
    case HAYAI_UNIT_SECOND:
        return "s";
    }
    return "?";
}

double hayai_unit_multiplier(hayai_unit unit)
{
    switch (unit) {
    case HAYAI_UNIT_NANOSECOND:
        return 1e9;
    case HAYAI_UNIT_MICROSECOND:
        return 1e6;
    case HAYAI_UNIT_MILLISECOND:
        return 1e3;
    case HAYAI_UNIT_SECOND:
        return 1;
    }
    return NAN;
}

hayai_status hayai_benchmark_name(hayai_benchmark *benchmark, const char *name)
{
    return build(benchmark, [&] {
        if (!name || !*name)
            return refuse(benchmark, "a new name that is empty");
        benchmark->name = name;
        return HAYAI_OK;
    });
}

const char *hayai_benchmark_get_name(const hayai_benchmark *benchmark)
{
    return benchmark ? benchmark->name.c_str() : "";
}

hayai_status hayai_benchmark_apply(hayai_benchmark *benchmark, hayai_apply_function *function,
                                   void *user)
{
    return build(benchmark, [&] {
        if (!function)
            return refuse(benchmark, "apply without a function");
        function(benchmark, user);
        return HAYAI_OK;
    });
}

hayai_status hayai_benchmark_unit(hayai_benchmark *benchmark, hayai_unit unit)
{
    return build(benchmark, [&] {
        if (unit < HAYAI_UNIT_NANOSECOND || unit > HAYAI_UNIT_SECOND)
            return refuse(benchmark, "unknown unit");
        benchmark->unit = unit;
        return HAYAI_OK;
    });
}

hayai_status hayai_benchmark_min_time(hayai_benchmark *benchmark, double seconds)
{
    return build(benchmark, [&] {
        if (!std::isfinite(seconds) || seconds <= 0)
            return refuse(benchmark, "min_time must be finite and > 0");
        if (benchmark->iterations > 0)
            return refuse(benchmark, "min_time after iterations: only one of them");
        benchmark->min_time = seconds;
        return HAYAI_OK;
    });
}

hayai_status hayai_benchmark_min_warm_up_time(hayai_benchmark *benchmark, double seconds)
{
    return build(benchmark, [&] {
        if (!std::isfinite(seconds) || seconds < 0)
            return refuse(benchmark, "min_warm_up_time must be finite and >= 0");
        if (benchmark->iterations > 0)
            return refuse(benchmark, "min_warm_up_time after iterations: only one of them");
        benchmark->min_warm_up_time = seconds;
        return HAYAI_OK;
    });
}

hayai_status hayai_benchmark_iterations(hayai_benchmark *benchmark, int64_t iterations)
{
    return build(benchmark, [&] {
        if (iterations <= 0)
            return refuse(benchmark, "iterations must be > 0");
        if (benchmark->min_time > 0 || benchmark->min_warm_up_time > 0)
            return refuse(benchmark, "iterations after min_time: only one of them");
        benchmark->iterations = iterations;
        return HAYAI_OK;
    });
}

hayai_status hayai_benchmark_repetitions(hayai_benchmark *benchmark, int repetitions)
{
    return build(benchmark, [&] {
        if (repetitions <= 0)
            return refuse(benchmark, "repetitions must be > 0");
        benchmark->repetitions = repetitions;
        return HAYAI_OK;
    });
}

hayai_status hayai_benchmark_report_aggregates_only(hayai_benchmark *benchmark, bool value)
{
    return build(benchmark, [&] {
        benchmark->aggregates = aggregates_only{value, value};
        return HAYAI_OK;
    });
}

hayai_status hayai_benchmark_display_aggregates_only(hayai_benchmark *benchmark, bool value)
{
    return build(benchmark, [&] {
        const bool files = benchmark->aggregates && benchmark->aggregates->files;
        benchmark->aggregates = aggregates_only{value, files};
        return HAYAI_OK;
    });
}

hayai_status hayai_benchmark_measure_process_cpu_time(hayai_benchmark *benchmark)
{
    return build(benchmark, [&] {
        benchmark->process_cpu_time = true;
        return HAYAI_OK;
    });
}

hayai_status hayai_benchmark_use_real_time(hayai_benchmark *benchmark)
{
    return build(benchmark, [&] {
        if (benchmark->manual_time)
            return refuse(benchmark, "use_real_time after use_manual_time: only one of them");
        benchmark->real_time = true;
        return HAYAI_OK;
    });
}

hayai_status hayai_benchmark_use_manual_time(hayai_benchmark *benchmark)
{
    return build(benchmark, [&] {
        if (benchmark->real_time)
            return refuse(benchmark, "use_manual_time after use_real_time: only one of them");
        benchmark->manual_time = true;
        return HAYAI_OK;
    });
}

hayai_status hayai_benchmark_complexity(hayai_benchmark *benchmark, hayai_complexity complexity)
{
    return build(benchmark, [&] {
        if (complexity < HAYAI_COMPLEXITY_NONE || complexity > HAYAI_COMPLEXITY_AUTO)
            return refuse(benchmark, "unknown complexity");
        benchmark->complexity = complexity;
        return HAYAI_OK;
    });
}

hayai_status hayai_benchmark_complexity_function(hayai_benchmark *benchmark,
                                                 hayai_complexity_function *function, void *user)
{
    return build(benchmark, [&] {
        if (!function)
            return refuse(benchmark, "a complexity function that is NULL");
        benchmark->complexity = HAYAI_COMPLEXITY_FUNCTION;
        benchmark->complexity_function = function;
        benchmark->complexity_user = user;
        return HAYAI_OK;
    });
}

hayai_status hayai_benchmark_compute_statistic(hayai_benchmark *benchmark, const char *name,
                                               hayai_statistic_function *function, void *user,
                                               hayai_statistic_unit unit)
{
    return build(benchmark, [&] {
        if (!name || !*name || !function)
            return refuse(benchmark, "a statistic without a name or a function");
        if (unit != HAYAI_STATISTIC_UNIT_TIME && unit != HAYAI_STATISTIC_UNIT_PERCENTAGE)
            return refuse(benchmark, "unknown unit of a statistic");
        for (const char *taken : {"mean", "median", "stddev", "cv", "BigO", "RMS"})
            if (std::string(taken) == name)
                return refuse(benchmark, "a statistic of this name is there already");
        for (const statistic &other : benchmark->statistics)
            if (other.name == name)
                return refuse(benchmark, "a statistic of this name is there already");
        benchmark->statistics.push_back({name, function, user, unit});
        return HAYAI_OK;
    });
}

hayai_status hayai_benchmark_quartiles(hayai_benchmark *benchmark)
{
    return build(benchmark, [&] {
        benchmark->quartiles = true;
        return HAYAI_OK;
    });
}

hayai_status hayai_benchmark_thread_runner(hayai_benchmark *benchmark, hayai_thread_runner *runner,
                                           void *user)
{
    return build(benchmark, [&] {
        if (!runner)
            return refuse(benchmark, "a thread runner that is NULL");
        if (!version::has_thread_runner<registered>::value)
            return fail(HAYAI_ERROR_UNSUPPORTED,
                        "%s: thread runners need Google Benchmark 1.9.4, this is %s",
                        benchmark->name.c_str(), hayai_google_benchmark_version());
        benchmark->thread_runner = {runner, user};
        return HAYAI_OK;
    });
}

hayai_status hayai_benchmark_set_up(hayai_benchmark *benchmark, hayai_set_up_function *function,
                                    void *user)
{
    return build(benchmark, [&] {
        if (!function)
            return refuse(benchmark, "a set-up function that is NULL");
        benchmark->set_up = {function, user};
        return HAYAI_OK;
    });
}

hayai_status hayai_benchmark_tear_down(hayai_benchmark *benchmark, hayai_set_up_function *function,
                                       void *user)
{
    return build(benchmark, [&] {
        if (!function)
            return refuse(benchmark, "a tear-down function that is NULL");
        benchmark->tear_down = {function, user};
        return HAYAI_OK;
    });
}
}
