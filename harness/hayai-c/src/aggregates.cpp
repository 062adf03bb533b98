/* SPDX-License-Identifier: Apache-2.0 */
#include "aggregates.hpp"
#include <algorithm>
#include <cmath>

namespace
{

using namespace hayai;

double mean(const double *values, size_t count, void *)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum / static_cast<double>(count);
}

double stddev(const double *values, size_t count, void *)
{
    const double middle = mean(values, count, nullptr);
    double squares = 0;
    for (size_t i = 0; i < count; i++)
        squares += (values[i] - middle) * (values[i] - middle);
    return std::sqrt(squares / static_cast<double>(count - 1));
}

double cv(const double *values, size_t count, void *)
{
    return stddev(values, count, nullptr) / mean(values, count, nullptr);
}

/* Between the two nearest values by linear interpolation (type 7 of Hyndman and Fan 1996). */
double quantile(const double *values, size_t count, double part)
{
    std::vector<double> sorted(values, values + count);
    std::sort(sorted.begin(), sorted.end());
    const double place = part * static_cast<double>(count - 1);
    const size_t below = static_cast<size_t>(place);
    const double rest = place - static_cast<double>(below);
    return rest > 0 ? sorted[below] + rest * (sorted[below + 1] - sorted[below]) : sorted[below];
}

double median(const double *values, size_t count, void *)
{
    return quantile(values, count, 0.5);
}

double first_quartile(const double *values, size_t count, void *)
{
    return quantile(values, count, 0.25);
}

double third_quartile(const double *values, size_t count, void *)
{
    return quantile(values, count, 0.75);
}

bool good(const run &run)
{
    std::string ignored;
    return version::skip_of(run, ignored) == skip::none;
}

std::vector<run> good_ones(const std::vector<run> &runs)
{
    std::vector<run> kept;
    std::copy_if(runs.begin(), runs.end(), std::back_inserter(kept), good);
    return kept;
}

double per_iteration(double seconds, const run &run)
{
    return run.iterations > 0 ? seconds / static_cast<double>(run.iterations) : seconds;
}

/* What all aggregates of these runs have in common. */
run blank_aggregate(const run &first, const char *name, benchmark::StatisticUnit unit)
{
    run result;
    result.run_name = first.run_name;
    result.family_index = first.family_index;
    result.per_family_instance_index = first.per_family_instance_index;
    result.run_type = run::RT_Aggregate;
    result.threads = first.threads;
    result.repetitions = first.repetitions;
    result.repetition_index = run::no_repetition_index;
    result.aggregate_name = name;
    result.aggregate_unit = unit;
    result.time_unit = first.time_unit;
    result.statistics = nullptr;
    return result;
}

std::string common_label(const std::vector<run> &runs)
{
    for (const run &run : runs)
        if (run.report_label != runs.front().report_label)
            return "";
    return runs.front().report_label;
}

double compute(const statistic &statistic, const std::vector<double> &values)
{
    return statistic.function(values.data(), values.size(), statistic.user);
}

void aggregate_counters(run &result, const std::vector<run> &runs, const statistic &statistic)
{
    for (const auto &[name, counter] : runs.front().counters) {
        std::vector<double> values;
        for (const run &run : runs) {
            const auto found = run.counters.find(name);
            if (found != run.counters.end())
                values.push_back(found->second.value);
        }
        if (values.size() == runs.size())
            result.counters[name] =
                benchmark::Counter(compute(statistic, values), counter.flags, counter.oneK);
    }
}

double curve(const hayai_benchmark &family, hayai_complexity complexity, int64_t n)
{
    const double x = static_cast<double>(n);
    switch (complexity) {
    case HAYAI_COMPLEXITY_N:
        return x;
    case HAYAI_COMPLEXITY_N_SQUARED:
        return x * x;
    case HAYAI_COMPLEXITY_N_CUBED:
        return x * x * x;
    case HAYAI_COMPLEXITY_LOG_N:
        return std::log2(x);
    case HAYAI_COMPLEXITY_N_LOG_N:
        return x * std::log2(x);
    case HAYAI_COMPLEXITY_FUNCTION:
        return family.complexity_function(n, family.complexity_user);
    default:
        return 1;
    }
}

struct fit {
    hayai_complexity complexity = HAYAI_COMPLEXITY_1;
    double coefficient = 0, rms = 0;
};

/* The coefficient c that minimises sum (t - c f)^2 is sum t f / sum f^2; the root mean square of
 * what is left is reported relative to the mean time. */
fit least_squares(const hayai_benchmark &family, hayai_complexity complexity,
                  const std::vector<run> &runs, const std::vector<double> &seconds)
{
    double products = 0, squares = 0, sum = 0, left = 0;
    for (size_t i = 0; i < runs.size(); i++) {
        const double f = curve(family, complexity, runs[i].complexity_n);
        products += seconds[i] * f;
        squares += f * f;
        sum += seconds[i];
    }
    fit result;
    result.complexity = complexity;
    result.coefficient = products / squares;
    for (size_t i = 0; i < runs.size(); i++) {
        const double f = curve(family, complexity, runs[i].complexity_n);
        left += (seconds[i] - result.coefficient * f) * (seconds[i] - result.coefficient * f);
    }
    const double count = static_cast<double>(runs.size());
    result.rms = std::sqrt(left / count) / (sum / count);
    return result;
}

fit best_fit(const hayai_benchmark &family, hayai_complexity complexity,
             const std::vector<run> &runs, const std::vector<double> &seconds)
{
    if (complexity != HAYAI_COMPLEXITY_AUTO)
        return least_squares(family, complexity, runs, seconds);
    fit best = least_squares(family, HAYAI_COMPLEXITY_1, runs, seconds);
    for (const hayai_complexity other :
         {HAYAI_COMPLEXITY_LOG_N, HAYAI_COMPLEXITY_N, HAYAI_COMPLEXITY_N_LOG_N,
          HAYAI_COMPLEXITY_N_SQUARED, HAYAI_COMPLEXITY_N_CUBED}) {
        const fit next = least_squares(family, other, runs, seconds);
        if (next.rms < best.rms)
            best = next;
    }
    return best;
}

benchmark::BigO library_complexity(hayai_complexity complexity)
{
    switch (complexity) {
    case HAYAI_COMPLEXITY_N:
        return benchmark::oN;
    case HAYAI_COMPLEXITY_N_SQUARED:
        return benchmark::oNSquared;
    case HAYAI_COMPLEXITY_N_CUBED:
        return benchmark::oNCubed;
    case HAYAI_COMPLEXITY_LOG_N:
        return benchmark::oLogN;
    case HAYAI_COMPLEXITY_N_LOG_N:
        return benchmark::oNLogN;
    case HAYAI_COMPLEXITY_FUNCTION:
        return benchmark::oLambda;
    default:
        return benchmark::o1;
    }
}

} // namespace

const std::vector<statistic> &hayai::standard_statistics()
{
    static const std::vector<statistic> all = {
        {"mean", mean, nullptr, HAYAI_STATISTIC_UNIT_TIME},
        {"median", median, nullptr, HAYAI_STATISTIC_UNIT_TIME},
        {"stddev", stddev, nullptr, HAYAI_STATISTIC_UNIT_TIME},
        {"cv", cv, nullptr, HAYAI_STATISTIC_UNIT_PERCENTAGE}};
    return all;
}

std::vector<statistic> hayai::own_statistics(const hayai_benchmark &family, bool quartiles)
{
    std::vector<statistic> all;
    if (quartiles || family.quartiles)
        all = {{"q1", first_quartile, nullptr, HAYAI_STATISTIC_UNIT_TIME},
               {"q3", third_quartile, nullptr, HAYAI_STATISTIC_UNIT_TIME}};
    all.insert(all.end(), family.statistics.begin(), family.statistics.end());
    return all;
}

std::vector<run> hayai::aggregate(const std::vector<run> &repetitions,
                                  const std::vector<statistic> &statistics)
{
    const std::vector<run> runs = good_ones(repetitions);
    std::vector<run> results;
    if (runs.size() < 2)
        return results;
    std::vector<double> real, cpu;
    for (const run &run : runs) {
        real.push_back(per_iteration(run.real_accumulated_time, run));
        cpu.push_back(per_iteration(run.cpu_accumulated_time, run));
    }
    for (const statistic &statistic : statistics) {
        const bool time = statistic.unit == HAYAI_STATISTIC_UNIT_TIME;
        run result = blank_aggregate(runs.front(), statistic.name.c_str(),
                                     time ? benchmark::kTime : benchmark::kPercentage);
        result.report_label = common_label(runs);
        result.iterations = static_cast<int64_t>(runs.size());
        /* Times are divided by the iterations when they are reported, percentages are not. */
        const double scale = time ? static_cast<double>(runs.size()) : 1;
        result.real_accumulated_time = compute(statistic, real) * scale;
        result.cpu_accumulated_time = compute(statistic, cpu) * scale;
        aggregate_counters(result, runs, statistic);
        results.push_back(std::move(result));
    }
    return results;
}

std::vector<run> hayai::fit_complexity(const std::vector<run> &all, const hayai_benchmark &family)
{
    const std::vector<run> runs = good_ones(all);
    if (runs.size() < 2)
        return {};
    std::vector<double> real, cpu;
    for (const run &run : runs) {
        real.push_back(per_iteration(run.real_accumulated_time, run));
        cpu.push_back(per_iteration(run.cpu_accumulated_time, run));
    }
    /* The curve is chosen by the time that the benchmark is about; the other one follows it. */
    const std::vector<double> &first = family.manual_time ? real : cpu;
    const hayai_complexity chosen = best_fit(family, family.complexity, runs, first).complexity;
    const fit of_real = best_fit(family, chosen, runs, real);
    const fit of_cpu = best_fit(family, chosen, runs, cpu);

    run big_o = blank_aggregate(runs.front(), "BigO", benchmark::kTime);
    run rms = blank_aggregate(runs.front(), "RMS", benchmark::kPercentage);
    for (run *result : {&big_o, &rms}) {
        result->run_name.args.clear();
        result->iterations = 0;
        result->complexity = library_complexity(chosen);
        result->report_label = common_label(runs);
    }
    big_o.report_big_o = true;
    big_o.real_accumulated_time = of_real.coefficient;
    big_o.cpu_accumulated_time = of_cpu.coefficient;
    /* Reporters multiply by the unit; a ratio must come out as it is. */
    const double multiplier = benchmark::GetTimeUnitMultiplier(rms.time_unit);
    rms.report_rms = true;
    rms.real_accumulated_time = of_real.rms / multiplier;
    rms.cpu_accumulated_time = of_cpu.rms / multiplier;
    return {big_o, rms};
}
