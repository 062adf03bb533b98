/* SPDX-License-Identifier: Apache-2.0 */
/* Reports: converts Google Benchmark's runs for C, completes them, and passes them to outputs. */
#include "internal.hpp"
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iostream>
#include <set>
#include <sys/stat.h>
#include <unistd.h>

using namespace hayai;

/* ---- Aggregates ------------------------------------------------------------------------------ */

/* Statistics over repetitions and the complexity fit, for cases that Google Benchmark does not
 * compute: statistics with a context, and hayai's interleaving. The complexity is always fitted
 * here, since the library calls plain function pointers, aborts if N was not set, and reads beyond
 * an empty vector if every run of a family failed. */

namespace hayai
{

/* Returns mean, median, stddev and cv, as in the library. */
const std::vector<statistic> &standard_statistics();

/* Returns a benchmark's own statistics, and the quartiles if requested. */
std::vector<statistic> own_statistics(const hayai_benchmark &family, bool quartiles);

/* Returns one aggregate for each statistic over the repetitions that were not skipped; none if
 * those are fewer than two. Counters are aggregated in the same way. */
std::vector<run> aggregate(const std::vector<run> &repetitions,
                           const std::vector<statistic> &statistics);

/* Returns BigO and RMS of a family's runs; none if fewer than two were not skipped. */
std::vector<run> fit_complexity(const std::vector<run> &runs, const hayai_benchmark &family);

} // namespace hayai

namespace
{

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

/* Interpolates linearly between the two nearest values (type 7 of Hyndman and Fan 1996). */
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

/* Returns an aggregate with the fields that all aggregates of these runs share. */
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

/* Fits by least squares: the coefficient c that minimises sum (t - c f)^2 is sum t f / sum f^2; the
 * root mean square of the residuals is reported relative to the mean time. */
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
        /* Reported times are divided by the iterations, percentages are not. */
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
    /* The benchmark's main time selects the curve, also for the other time. */
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
    /* Reporters multiply by the unit, which must not change a ratio. */
    const double multiplier = benchmark::GetTimeUnitMultiplier(rms.time_unit);
    rms.report_rms = true;
    rms.real_accumulated_time = of_real.rms / multiplier;
    rms.cpu_accumulated_time = of_cpu.rms / multiplier;
    return {big_o, rms};
}

/* ---- Views ----------------------------------------------------------------------------------- */

/* Converts benchmark::BenchmarkReporter::Run to hayai_run. */

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

/* Unknown values are the largest number, in the library and here. */
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

/* ---- Sinks ----------------------------------------------------------------------------------- */

/* Reporters in C, and Google Benchmark's own reporters. */

namespace
{

using library_reporter = benchmark::BenchmarkReporter;

/* Calls a callback. If it fails without a message, sets one that names the callback. */
template <class Call> hayai_status ask(const char *callback, Call call)
{
    clear_message();
    const hayai_status status = call();
    if (status != HAYAI_OK && !*hayai_last_message())
        fail(status, "a reporter's callback %s() returned: %s", callback,
             hayai_status_string(status));
    return status;
}

class c_sink : public sink
{
  public:
    explicit c_sink(const hayai_reporter &reporter) : reporter_(reporter)
    {
        file = reporter.file;
    }

    hayai_status begin(const library_reporter::Context &, const hayai_context &machine) override
    {
        if (!reporter_.context)
            return HAYAI_OK;
        return ask("context", [&] { return reporter_.context(&machine, reporter_.user); });
    }

    hayai_status report(const std::vector<run> &, const run_views &views) override
    {
        const std::vector<hayai_run> &runs = views.all();
        for (size_t i = 0; i < runs.size() && reporter_.run; i++) {
            const hayai_status status =
                ask("run", [&] { return reporter_.run(&runs[i], reporter_.user); });
            if (status != HAYAI_OK)
                return status;
        }
        if (!reporter_.report)
            return HAYAI_OK;
        return ask("report",
                   [&] { return reporter_.report(runs.data(), runs.size(), reporter_.user); });
    }

    hayai_status finish() override
    {
        if (!reporter_.finalize)
            return HAYAI_OK;
        return ask("finalize", [&] { return reporter_.finalize(reporter_.user); });
    }

    hayai_status list(const std::vector<const char *> &names) override
    {
        if (!reporter_.list)
            return HAYAI_OK;
        return ask("list",
                   [&] { return reporter_.list(names.data(), names.size(), reporter_.user); });
    }

  private:
    const hayai_reporter reporter_;
};

/* A sink for one of our formats in C; owns its output. */
class format_sink : public c_sink
{
  public:
    explicit format_sink(const hayai_reporter &reporter) : c_sink(reporter), owned_(reporter.user)
    {
    }
    ~format_sink() override
    {
        hayai_format_close(owned_);
    }

  private:
    void *const owned_;
};

/* A sink for one of Google Benchmark's reporters. */
class library_sink : public sink
{
  public:
    library_sink(std::unique_ptr<library_reporter> reporter, std::string path, bool csv)
        : reporter_(std::move(reporter)), path_(std::move(path)), csv_(csv)
    {
        file = !path_.empty();
    }

    hayai_status open()
    {
        if (!path_.empty())
            stream_.open(path_, std::ios::trunc);
        if (!stream_)
            return fail(HAYAI_ERROR_IO, "%s: %s", path_.c_str(), strerror(errno));
        reporter_->SetOutputStream(path_.empty() ? &std::cout : &stream_);
        if (!path_.empty())
            reporter_->SetErrorStream(&stream_);
        return HAYAI_OK;
    }

    hayai_status begin(const library_reporter::Context &context, const hayai_context &) override
    {
        const plain_numbers plain;
        const bool go_on = reporter_->ReportContext(context);
        return go_on ? check() : fail(HAYAI_STOPPED, "stopped by Google Benchmark's reporter");
    }

    hayai_status report(const std::vector<run> &runs, const run_views &) override
    {
        std::vector<run> plain = runs;
        for (run &run : plain)
            version::drop_mark(run);
        if (csv_ && !same_counters(runs))
            return fail(HAYAI_ERROR_ARGUMENT,
                        "%s: CSV needs the same counters in every run; json and tsv do not",
                        runs.front().benchmark_name().c_str());
        const plain_numbers numbers;
        reporter_->ReportRuns(plain);
        return check();
    }

    hayai_status finish() override
    {
        const plain_numbers plain;
        reporter_->Finalize();
        return check();
    }

    hayai_status list(const std::vector<const char *> &names) override
    {
        std::ostream &out = reporter_->GetOutputStream();
        if (csv_)
            out << "name\n";
        for (const char *name : names) {
            std::string shown = name;
            for (size_t i = 0; csv_ && i < shown.size(); i++)
                if (shown[i] == '"')
                    shown.insert(i++, 1, '"');
            out << (csv_ ? "\"" + shown + "\"" : shown) << '\n';
        }
        return check();
    }

  private:
    hayai_status check()
    {
        std::ostream &out = reporter_->GetOutputStream();
        out.flush();
        reporter_->GetErrorStream().flush();
        return out ? HAYAI_OK
                   : fail(HAYAI_ERROR_IO, "%s: could not be written",
                          path_.empty() ? "standard output" : path_.c_str());
    }

    /* Returns whether the counters are those of the header; the library aborts on other ones. */
    bool same_counters(const std::vector<run> &runs)
    {
        std::set<std::string> names;
        for (const run &run : runs)
            for (const auto &[name, counter] : run.counters)
                if (name != "bytes_per_second" && name != "items_per_second")
                    names.insert(name);
        if (!header_)
            counters_ = names;
        header_ = true;
        return std::includes(counters_.begin(), counters_.end(), names.begin(), names.end());
    }

    std::unique_ptr<library_reporter> reporter_;
    const std::string path_;
    const bool csv_;
    bool header_ = false;
    std::set<std::string> counters_;
    std::ofstream stream_;
};

bool colored(const hayai_options &options, bool display)
{
    if (!display || options.color == HAYAI_COLOR_NEVER)
        return false;
    const char *terminal = getenv("TERM");
    return options.color == HAYAI_COLOR_ALWAYS ||
           (isatty(STDOUT_FILENO) && terminal && strcmp(terminal, "dumb") != 0);
}

BENCHMARK_DISABLE_DEPRECATED_WARNING
std::unique_ptr<library_reporter> library_format(const std::string &format,
                                                 const hayai_options &options, bool display)
{
    using console = benchmark::ConsoleReporter;
    if (format == "console") {
        const int color = colored(options, display) ? console::OO_Color : console::OO_None;
        const int tabular = options.counters_tabular ? console::OO_Tabular : console::OO_None;
        return std::make_unique<console>(static_cast<console::OutputOptions>(color | tabular));
    }
    if (format == "google-json")
        return std::make_unique<benchmark::JSONReporter>();
    if (format == "csv")
        return std::make_unique<benchmark::CSVReporter>();
    return nullptr;
}
BENCHMARK_RESTORE_DEPRECATED_WARNING

/* "format:path"; no path, or "-", is standard output. */
struct output {
    explicit output(const std::string &text)
    {
        const size_t colon = text.find(':');
        format = text.substr(0, colon);
        path = colon == std::string::npos ? "" : text.substr(colon + 1);
        if (path == "-")
            path.clear();
    }
    bool standard() const
    {
        return path.empty();
    }
    bool none() const
    {
        return standard() && format == "none";
    }
    std::string format, path;
};

/* Returns the same text for the same file, whatever its name; "" if several may write to it. */
std::string place_of(int found, const struct stat &status, const std::string &otherwise)
{
    struct stat null;
    if (found != 0)
        return otherwise;
    if (stat("/dev/null", &null) == 0 && S_ISCHR(status.st_mode) && status.st_rdev == null.st_rdev)
        return "";
    return std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino);
}

std::string place_of(const std::string &path)
{
    struct stat status;
    const int found = stat(path.c_str(), &status);
    const size_t slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    char *resolved = realpath(folder.c_str(), nullptr);
    const std::string name = (resolved ? resolved : folder) + "/" +
                             path.substr(slash == std::string::npos ? 0 : slash + 1);
    free(resolved);
    return place_of(found, status, name);
}

/* Returns the files that an output writes. A document also has a file for its next version. */
std::vector<std::string> places_of(const output &output)
{
    struct stat status;
    if (output.none())
        return {};
    if (output.standard())
        return {"standard output", place_of(fstat(STDOUT_FILENO, &status), status, "")};
    if (output.format == "json" || output.format == "junit")
        return {place_of(output.path), place_of(output.path + ".part")};
    return {place_of(output.path)};
}

/* Returns whether the path is a dangling link, whose target cannot be compared with other paths. */
bool leads_nowhere(const std::string &path)
{
    struct stat status;
    return lstat(path.c_str(), &status) == 0 && stat(path.c_str(), &status) != 0;
}

/* Checks that no two outputs write the same file, which would overwrite each other. */
hayai_status check_places(const std::vector<output> &outputs)
{
    std::map<std::string, size_t> taken;
    for (size_t i = 0; i < outputs.size(); i++) {
        if (!outputs[i].standard() && leads_nowhere(outputs[i].path))
            return fail(HAYAI_ERROR_IO, "%s: a link to a file that does not exist",
                        outputs[i].path.c_str());
        for (const std::string &place : places_of(outputs[i])) {
            const auto added = taken.emplace(place, i);
            if (place.empty() || added.second || added.first->second == i)
                continue;
            const output &other = outputs[added.first->second];
            return fail(HAYAI_ERROR_ARGUMENT, "outputs %s and %s: both write to %s",
                        other.format.c_str(), outputs[i].format.c_str(),
                        outputs[i].standard() ? "standard output" : outputs[i].path.c_str());
        }
    }
    return HAYAI_OK;
}

hayai_status open_sink(const output &output, const hayai_options &options, sinks &opened)
{
    if (output.none())
        return HAYAI_OK;
    const std::string &path = output.path;
    if (auto made = library_format(output.format, options, output.standard())) {
        auto sink = std::make_unique<library_sink>(std::move(made), path, output.format == "csv");
        const hayai_status status = sink->open();
        if (status == HAYAI_OK)
            opened.push_back(std::move(sink));
        return status;
    }
    hayai_reporter reporter = {};
    const hayai_status status = hayai_format_open(
        output.format.c_str(), output.standard() ? nullptr : path.c_str(), &reporter);
    if (status == HAYAI_OK)
        opened.push_back(std::make_unique<format_sink>(reporter));
    return status;
}

/* Adds the caller's reporters, whose structs may be larger than ours. */
hayai_status add_reporters(const hayai_options &options, sinks &opened)
{
    if (options.reporter_count == 0)
        return HAYAI_OK;
    const size_t given = options.reporters->struct_size;
    const size_t size = given ? given : sizeof(hayai_reporter);
    const char *bytes = reinterpret_cast<const char *>(options.reporters);
    for (size_t i = 0; i < options.reporter_count; i++) {
        hayai_reporter own = {};
        const auto *reporter = reinterpret_cast<const hayai_reporter *>(bytes + i * size);
        const hayai_status status = adopt("hayai_reporter", *reporter, own);
        if (status != HAYAI_OK)
            return status;
        if (own.struct_size != given)
            return fail(HAYAI_ERROR_ARGUMENT, "reporters: struct_size %zu and %zu in one array",
                        given, own.struct_size);
        opened.push_back(std::make_unique<c_sink>(own));
    }
    return HAYAI_OK;
}

} // namespace

hayai_status hayai::open_sinks(const hayai_options &options, sinks &opened, bool to_list)
{
    std::vector<output> outputs(options.outputs, options.outputs + options.output_count);
    for (output &one : outputs)
        if (to_list && one.format == "google-json")
            one.format = "json";
    const bool display = std::any_of(outputs.begin(), outputs.end(),
                                     [](const output &one) { return one.standard(); });
    if (!display && options.reporter_count == 0)
        outputs.emplace_back("console");
    hayai_status status = check_places(outputs);
    for (size_t i = 0; i < outputs.size() && status == HAYAI_OK; i++)
        status = open_sink(outputs[i], options, opened);
    return status == HAYAI_OK ? add_reporters(options, opened) : status;
}

/* ---- The reporter ---------------------------------------------------------------------------- */

namespace
{

/* Returns the time as "2024-02-29T12:00:00+01:00". */
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

/* The library's context for C. */
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

/* Returns a part of a name, as the library composes it; "" for 0. */
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

/* Returns the instance of a run, by the library's numbering of registered instances. */
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

/* Corrects values that the library gets wrong or cannot know. */
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
