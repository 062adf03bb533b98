/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments and thread counts: lists are resolved at once, so that Google Benchmark only ever gets
 * single sets. */
#include "internal.hpp"
#include <algorithm>
#include <limits>

namespace
{

using namespace hayai;

constexpr size_t most_instances = 1000000;

/* The number of arguments that sets and names must have; SIZE_MAX: any. */
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

/* `who` is a benchmark, or the function that was called. */
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

/* All combinations; the first list's values change fastest, as in the library. */
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
