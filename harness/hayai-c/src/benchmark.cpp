/* SPDX-License-Identifier: Apache-2.0 */
/* Suites, their benchmarks and arguments, as the caller describes them, and error messages. */
#include "internal.hpp"
#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <limits>
#include <sstream>

using namespace hayai;

/* ---- Messages -------------------------------------------------------------------------------- */

namespace
{
/* Fixed size: reporting that memory ran out must not need memory. */
thread_local char last_message[1024];
} // namespace

void hayai::clear_message()
{
    last_message[0] = '\0';
}

hayai_status hayai::fail(hayai_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    hayai_number_print(last_message, sizeof last_message, format, arguments);
    va_end(arguments);
    return status;
}

extern "C" hayai_status hayai_fail(hayai_status status, const char *message)
{
    return hayai::fail(status, "%s", message ? message : "");
}

extern "C" hayai_status hayai_fail_format(hayai_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    hayai_number_print(last_message, sizeof last_message, format, arguments);
    va_end(arguments);
    return status;
}

extern "C" const char *hayai_last_message(void)
{
    return last_message;
}

extern "C" const char *hayai_status_string(hayai_status status)
{
    switch (status) {
    case HAYAI_OK:
        return "ok";
    case HAYAI_ERROR_ARGUMENT:
        return "invalid argument";
    case HAYAI_ERROR_MEMORY:
        return "out of memory";
    case HAYAI_ERROR_FAILED:
        return "failed";
    case HAYAI_STOPPED:
        return "stopped";
    case HAYAI_ERROR_STATE:
        return "not possible now";
    case HAYAI_ERROR_LIMIT:
        return "limit exceeded";
    case HAYAI_ERROR_IO:
        return "input or output failed";
    case HAYAI_ERROR_UNSUPPORTED:
        return "not supported by this version";
    case HAYAI_ERROR_NO_MATCH:
        return "no match";
    }
    return "unknown status";
}

/* ---- Suites and versions --------------------------------------------------------------------- */

namespace
{

/* Returns the library's build type from the JSON context; no other interface has it. */
std::string build_type()
{
    benchmark::JSONReporter reporter;
    std::ostringstream out;
    reporter.SetOutputStream(&out);
    reporter.SetErrorStream(&out);
    benchmark::BenchmarkReporter::Context context;
    reporter.ReportContext(context);
    const std::string text = out.str(), key = "\"library_build_type\": \"";
    const size_t at = text.find(key);
    if (at == std::string::npos)
        return "unknown";
    const size_t begin = at + key.size();
    return text.substr(begin, text.find('"', begin) - begin);
}

/* The benchmarks that macros registered and the default suite does not have yet. They are
 * constant-initialized, because the macros' constructors may run before this file's. */
hayai_node *first_node = nullptr;
hayai_node **last_node = &first_node;

hayai_status add_node(hayai_suite &suite, const hayai_node &node)
{
    hayai_benchmark *benchmark = nullptr;
    const hayai_status status =
        hayai_suite_add(&suite, node.name, node.function, nullptr, &benchmark);
    if (status == HAYAI_OK && node.configure)
        node.configure(benchmark, nullptr);
    return status;
}

hayai_suite &default_suite()
{
    static hayai_suite suite;
    return suite;
}

} // namespace

void hayai::discard(hayai_suite &suite)
{
    suite.doomed = false;
    if (&suite == &default_suite())
        suite.benchmarks.clear();
    else
        delete &suite;
}

extern "C" {

const char *hayai_version(void)
{
    return HAYAI_VERSION_STRING;
}

const char *hayai_google_benchmark_version(void)
{
    try {
        static const std::string version = version::library();
        return version.c_str();
    } catch (...) {
        return "unknown";
    }
}

const char *hayai_library_build(void)
{
    try {
        static const std::string build = build_type();
        return build.c_str();
    } catch (...) {
        return "unknown";
    }
}

hayai_suite *hayai_suite_create(void)
{
    clear_message();
    hayai_suite *suite = new (std::nothrow) hayai_suite;
    if (!suite)
        fail(HAYAI_ERROR_MEMORY, "out of memory (suite)");
    return suite;
}

void hayai_suite_destroy(hayai_suite *suite)
{
    if (!suite)
        return;
    if (suite == running_suite())
        suite->doomed = true;
    else
        hayai::discard(*suite);
}

void hayai_register(hayai_node *node)
{
    if (!node || node->next || last_node == &node->next) /* twice would make a cycle */
        return;
    *last_node = node;
    last_node = &node->next;
}

hayai_suite *hayai_default_suite(void)
{
    hayai_suite &suite = default_suite();
    const hayai_status status = guard([&] {
        for (; first_node; first_node = first_node->next) {
            const hayai_status added = add_node(suite, *first_node);
            if (added != HAYAI_OK)
                return added;
        }
        last_node = &first_node;
        return HAYAI_OK;
    });
    return status == HAYAI_OK ? &suite : nullptr;
}

hayai_status hayai_suite_add(hayai_suite *suite, const char *name, hayai_function *function,
                             void *user, hayai_benchmark **out)
{
    if (!suite || !name || !*name || !function)
        return fail(HAYAI_ERROR_ARGUMENT, "hayai_suite_add(%s): no %s", name ? name : "",
                    !suite            ? "suite"
                    : !name || !*name ? "name"
                                      : "function");
    if (suite == running_suite())
        return fail(HAYAI_ERROR_STATE, "hayai_suite_add(%s): the suite is running", name);
    return guard([&] {
        auto benchmark = std::make_unique<hayai_benchmark>();
        benchmark->name = name;
        benchmark->function = function;
        benchmark->user = user;
        benchmark->suite = suite;
        benchmark->index = suite->benchmarks.size();
        suite->benchmarks.push_back(std::move(benchmark));
        if (out)
            *out = suite->benchmarks.back().get();
        return HAYAI_OK;
    });
}
}

/* ---- The builder calls ----------------------------------------------------------------------- */

/* Builder calls refuse everything that Google Benchmark would abort on. */

namespace
{

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

/* ---- Arguments ------------------------------------------------------------------------------- */

/* Arguments and thread counts: lists are resolved at once, so that Google Benchmark gets only
 * single sets. */

namespace
{

constexpr size_t most_instances = 1000000;

/* Returns the number of arguments that sets and names must have; SIZE_MAX: any number. */
size_t arity(const hayai_benchmark &benchmark)
{
    if (!benchmark.arguments.empty())
        return benchmark.arguments.front().size();
    return benchmark.argument_names.empty() ? SIZE_MAX : benchmark.argument_names.size();
}

hayai_status check_arity(const hayai_benchmark &benchmark, size_t count)
{
    const size_t expected = arity(benchmark);
    if (count == 0 || (expected != SIZE_MAX && expected != count))
        return fail(HAYAI_ERROR_ARGUMENT, "%s: %zu arguments, expected %zu", benchmark.name.c_str(),
                    count, expected == SIZE_MAX ? 1 : expected);
    return HAYAI_OK;
}

hayai_status too_many(const hayai_benchmark &benchmark)
{
    return fail(HAYAI_ERROR_LIMIT, "%s: more than %zu instances", benchmark.name.c_str(),
                most_instances);
}

/* Checks a range. `who` is a benchmark, or the called function. */
hayai_status check_range(const char *who, int64_t low, int64_t high, int64_t step,
                         int64_t least_step)
{
    /* The library negates the lower end. */
    if (low > high || step < least_step || low == std::numeric_limits<int64_t>::min())
        return fail(HAYAI_ERROR_ARGUMENT,
                    "%s: range %lld ... %lld by %lld: expected low <= high, low > INT64_MIN, and a "
                    "step or multiplier of at least %lld",
                    who, static_cast<long long>(low), static_cast<long long>(high),
                    static_cast<long long>(step), static_cast<long long>(least_step));
    return HAYAI_OK;
}

hayai_status dense(const char *who, int64_t low, int64_t high, int64_t step,
                   std::vector<int64_t> &list)
{
    const hayai_status status = check_range(who, low, high, step, 1);
    if (status != HAYAI_OK)
        return status;
    const uint64_t steps =
        (static_cast<uint64_t>(high) - static_cast<uint64_t>(low)) / static_cast<uint64_t>(step);
    if (steps >= most_instances)
        return fail(HAYAI_ERROR_LIMIT, "%s: a dense range of more than %zu values", who,
                    most_instances);
    for (uint64_t i = 0; i <= steps; i++)
        list.push_back(
            static_cast<int64_t>(static_cast<uint64_t>(low) + i * static_cast<uint64_t>(step)));
    return HAYAI_OK;
}

hayai_status sparse(const char *who, int64_t low, int64_t high, int multiplier,
                    std::vector<int64_t> &list)
{
    const hayai_status status = check_range(who, low, high, multiplier, 2);
    if (status == HAYAI_OK)
        list = benchmark::CreateRange(low, high, multiplier);
    return status;
}

hayai_status add_set(hayai_benchmark &benchmark, std::vector<int64_t> values)
{
    const hayai_status status = check_arity(benchmark, values.size());
    if (status != HAYAI_OK)
        return status;
    if ((benchmark.arguments.size() + 1) * std::max<size_t>(benchmark.threads.size(), 1) >
        most_instances)
        return too_many(benchmark);
    benchmark.arguments.push_back(std::move(values));
    return HAYAI_OK;
}

hayai_status add_singles(hayai_benchmark &benchmark, const std::vector<int64_t> &values)
{
    for (const int64_t value : values) {
        const hayai_status status = add_set(benchmark, {value});
        if (status != HAYAI_OK)
            return status;
    }
    return HAYAI_OK;
}

/* Adds all combinations; the first list's values change fastest, as in the library. */
hayai_status add_product(hayai_benchmark &benchmark, const std::vector<std::vector<int64_t>> &lists)
{
    size_t total = 1;
    for (const auto &list : lists) {
        if (list.empty())
            return fail(HAYAI_ERROR_ARGUMENT, "%s: an empty list of arguments",
                        benchmark.name.c_str());
        if (list.size() > most_instances / total)
            return too_many(benchmark);
        total *= list.size();
    }
    for (size_t i = 0; i < total; i++) {
        std::vector<int64_t> values;
        size_t rest = i;
        for (const auto &list : lists) {
            values.push_back(list[rest % list.size()]);
            rest /= list.size();
        }
        const hayai_status status = add_set(benchmark, std::move(values));
        if (status != HAYAI_OK)
            return status;
    }
    return HAYAI_OK;
}

hayai_status hand_out(const std::vector<int64_t> &list, int64_t *values, size_t capacity,
                      size_t *count)
{
    if (!count || (!values && capacity > 0))
        return fail(HAYAI_ERROR_ARGUMENT, "a range without a place for its %s",
                    count ? "values" : "count");
    for (size_t i = 0; i < list.size() && i < capacity; i++)
        values[i] = list[i];
    *count = list.size();
    return HAYAI_OK;
}

hayai_status add_threads(hayai_benchmark &benchmark, const std::vector<int64_t> &counts)
{
    if ((benchmark.threads.size() + counts.size()) *
            std::max<size_t>(benchmark.arguments.size(), 1) >
        most_instances)
        return too_many(benchmark);
    for (const int64_t threads : counts)
        benchmark.threads.push_back(static_cast<int>(threads));
    return HAYAI_OK;
}

hayai_status check_threads(const hayai_benchmark &benchmark, int least, int greatest)
{
    if (least < 1 || greatest < least)
        return fail(HAYAI_ERROR_ARGUMENT, "%s: threads %d ... %d, expected 1 <= least <= greatest",
                    benchmark.name.c_str(), least, greatest);
    if (greatest > HAYAI_MAX_THREADS)
        return fail(HAYAI_ERROR_LIMIT, "%s: %d threads, at most %d", benchmark.name.c_str(),
                    greatest, HAYAI_MAX_THREADS);
    return HAYAI_OK;
}

} // namespace

extern "C" {

hayai_status hayai_benchmark_arg(hayai_benchmark *benchmark, int64_t value)
{
    return build(benchmark, [&] { return add_set(*benchmark, {value}); });
}

hayai_status hayai_benchmark_args(hayai_benchmark *benchmark, const int64_t *values, size_t count)
{
    return build(benchmark, [&] {
        if (!values)
            return check_arity(*benchmark, 0);
        return add_set(*benchmark, std::vector<int64_t>(values, values + count));
    });
}

hayai_status hayai_benchmark_range(hayai_benchmark *benchmark, int64_t low, int64_t high)
{
    return build(benchmark, [&] {
        std::vector<int64_t> list;
        const hayai_status status =
            sparse(benchmark->name.c_str(), low, high, benchmark->range_multiplier, list);
        return status == HAYAI_OK ? add_singles(*benchmark, list) : status;
    });
}

hayai_status hayai_benchmark_ranges(hayai_benchmark *benchmark, const hayai_range *ranges,
                                    size_t count)
{
    return build(benchmark, [&] {
        if (!ranges || count == 0)
            return check_arity(*benchmark, 0);
        std::vector<std::vector<int64_t>> lists(count);
        for (size_t i = 0; i < count; i++) {
            const hayai_status status =
                sparse(benchmark->name.c_str(), ranges[i].low, ranges[i].high,
                       benchmark->range_multiplier, lists[i]);
            if (status != HAYAI_OK)
                return status;
        }
        return add_product(*benchmark, lists);
    });
}

hayai_status hayai_benchmark_dense_range(hayai_benchmark *benchmark, int64_t low, int64_t high,
                                         int64_t step)
{
    return build(benchmark, [&] {
        std::vector<int64_t> list;
        const hayai_status status = dense(benchmark->name.c_str(), low, high, step, list);
        return status == HAYAI_OK ? add_singles(*benchmark, list) : status;
    });
}

hayai_status hayai_benchmark_args_product(hayai_benchmark *benchmark, const hayai_list *lists,
                                          size_t count)
{
    return build(benchmark, [&] {
        if (!lists || count == 0)
            return check_arity(*benchmark, 0);
        std::vector<std::vector<int64_t>> copies(count);
        for (size_t i = 0; i < count; i++)
            if (lists[i].values)
                copies[i].assign(lists[i].values, lists[i].values + lists[i].count);
        return add_product(*benchmark, copies);
    });
}

hayai_status hayai_benchmark_arg_name(hayai_benchmark *benchmark, const char *name)
{
    return hayai_benchmark_arg_names(benchmark, &name, 1);
}

hayai_status hayai_benchmark_arg_names(hayai_benchmark *benchmark, const char *const *names,
                                       size_t count)
{
    return build(benchmark, [&] {
        const hayai_status status = check_arity(*benchmark, names ? count : 0);
        if (status != HAYAI_OK)
            return status;
        std::vector<std::string> copies;
        for (size_t i = 0; i < count; i++)
            copies.push_back(names[i] ? names[i] : "");
        benchmark->argument_names = copies;
        return HAYAI_OK;
    });
}

const char *hayai_benchmark_get_arg_name(const hayai_benchmark *benchmark, size_t index)
{
    return benchmark && index < benchmark->argument_names.size()
               ? benchmark->argument_names[index].c_str()
               : nullptr;
}

hayai_status hayai_benchmark_range_multiplier(hayai_benchmark *benchmark, int multiplier)
{
    return build(benchmark, [&] {
        const hayai_status status = check_range(benchmark->name.c_str(), 0, 0, multiplier, 2);
        if (status == HAYAI_OK)
            benchmark->range_multiplier = multiplier;
        return status;
    });
}

hayai_status hayai_create_range(int64_t low, int64_t high, int multiplier, int64_t *values,
                                size_t capacity, size_t *count)
{
    return guard([&] {
        std::vector<int64_t> list;
        const hayai_status status = sparse("hayai_create_range", low, high, multiplier, list);
        return status == HAYAI_OK ? hand_out(list, values, capacity, count) : status;
    });
}

hayai_status hayai_create_dense_range(int64_t low, int64_t high, int64_t step, int64_t *values,
                                      size_t capacity, size_t *count)
{
    return guard([&] {
        std::vector<int64_t> list;
        const hayai_status status = dense("hayai_create_dense_range", low, high, step, list);
        return status == HAYAI_OK ? hand_out(list, values, capacity, count) : status;
    });
}

hayai_status hayai_benchmark_threads(hayai_benchmark *benchmark, int threads)
{
    return hayai_benchmark_dense_thread_range(benchmark, threads, threads, 1);
}

hayai_status hayai_benchmark_thread_range(hayai_benchmark *benchmark, int least, int greatest)
{
    return build(benchmark, [&] {
        const hayai_status status = check_threads(*benchmark, least, greatest);
        if (status != HAYAI_OK)
            return status;
        return add_threads(*benchmark, benchmark::CreateRange(least, greatest, 2));
    });
}

hayai_status hayai_benchmark_dense_thread_range(hayai_benchmark *benchmark, int least, int greatest,
                                                int step)
{
    return build(benchmark, [&] {
        hayai_status status = check_threads(*benchmark, least, greatest);
        if (status != HAYAI_OK)
            return status;
        std::vector<int64_t> counts;
        status = dense(benchmark->name.c_str(), least, greatest, step, counts);
        if (status == HAYAI_OK && counts.back() != greatest)
            counts.push_back(greatest);
        return status == HAYAI_OK ? add_threads(*benchmark, counts) : status;
    });
}

hayai_status hayai_benchmark_thread_per_cpu(hayai_benchmark *benchmark)
{
    return build(benchmark, [&] {
        const int processors = benchmark::CPUInfo::Get().num_cpus;
        return add_threads(*benchmark, {processors < 1 ? 1 : processors});
    });
}
}
