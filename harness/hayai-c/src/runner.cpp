/* Between descriptions and Google Benchmark: its flags, its registry, its names. */
#include "internal.hpp"
#include <sstream>

namespace
{

using namespace hayai;

std::atomic_flag run_under_way = ATOMIC_FLAG_INIT;

/* Initialize() enters what the environment's BENCHMARK_CONTEXT holds once more at every call, and
 * complains on standard error. So it gets an empty context to work on. */
class context_kept
{
  public:
    context_kept() : kept_(benchmark::internal::GetGlobalContext())
    {
        benchmark::internal::GetGlobalContext() = nullptr;
    }
    ~context_kept()
    {
        delete benchmark::internal::GetGlobalContext();
        benchmark::internal::GetGlobalContext() = kept_;
    }
    context_kept(const context_kept &) = delete;
    context_kept &operator=(const context_kept &) = delete;

  private:
    std::map<std::string, std::string> *const kept_;
};

const char *truth(bool value)
{
    return value ? "true" : "false";
}

void add_instances(hayai_benchmark &family, instances &all)
{
    static const std::vector<std::vector<int64_t>> no_arguments(1);
    static const std::vector<int> one_thread = {1};
    unsigned number = 0;
    for (const auto &arguments : family.arguments.empty() ? no_arguments : family.arguments)
        for (const int threads : family.threads.empty() ? one_thread : family.threads) {
            auto one = std::make_unique<instance>();
            one->family = &family;
            one->arguments = arguments;
            one->threads = threads;
            one->number = number++;
            all.push_back(std::move(one));
        }
}

/* Whether the library would run this instance; gives it the library's name for it. */
hayai_status matches(instance &instance, const std::string &filter, bool &match)
{
    silent_reporter reporter;
    benchmark::ClearRegisteredBenchmarks();
    enroll(instance, {});
    match = benchmark::RunSpecifiedBenchmarks(&reporter, nullptr, filter) > 0;
    const std::string errors = reporter.errors(), output = reporter.output();
    if (errors.find("Could not compile") != std::string::npos)
        return fail(HAYAI_ERROR_ARGUMENT, "filter %s: %s", filter.c_str(),
                    errors.substr(0, errors.find('\n')).c_str());
    instance.name = output.substr(0, output.find('\n'));
    return HAYAI_OK;
}

} // namespace

void hayai::set_flags(const flags &flags)
{
    static std::string program = "hayai"; /* the library keeps a pointer to it */
    std::vector<std::string> words = {
        program,
        std::string("--benchmark_list_tests=") + truth(flags.list),
        "--benchmark_filter=",
        "--benchmark_min_time=" + version::min_time(flags.min_time),
        "--benchmark_min_warmup_time=" + std::to_string(flags.min_warm_up_time),
        "--benchmark_repetitions=" + std::to_string(flags.repetitions),
        std::string("--benchmark_enable_random_interleaving=") + truth(flags.random_interleaving),
        "--benchmark_report_aggregates_only=false",
        "--benchmark_display_aggregates_only=false",
        "--benchmark_format=console",
        "--benchmark_out=",
        "--benchmark_out_format=json",
        "--benchmark_color=auto",
        "--benchmark_perf_counters=" + flags.perf_counters,
        "--benchmark_time_unit=" + flags.time_unit,
        "--v=" + std::to_string(flags.verbosity),
    };
    if (version::has_dry_run)
        words.push_back(std::string("--benchmark_dry_run=") + truth(flags.dry_run));
    std::vector<char *> arguments;
    for (std::string &word : words)
        arguments.push_back(&word[0]);
    arguments[0] = &program[0];
    int count = static_cast<int>(arguments.size());
    arguments.push_back(nullptr);
    const context_kept kept;
    benchmark::Initialize(&count, arguments.data());
}

hayai::session::session() : owned(!run_under_way.test_and_set())
{
}

hayai::session::~session()
{
    if (!owned)
        return;
    benchmark::ClearRegisteredBenchmarks();
    run_under_way.clear();
}

hayai::registered *hayai::enroll(instance &instance, const fixed &fixed)
{
    const hayai_benchmark &family = *instance.family;
    registered *made = benchmark::RegisterBenchmark(
        family.name.c_str(), [&instance](benchmark::State &state) { call(instance, state); });
    if (!instance.arguments.empty()) {
        made->Args(instance.arguments);
        if (!family.argument_names.empty())
            made->ArgNames(family.argument_names);
    }
    if (!family.threads.empty())
        made->Threads(instance.threads);
    if (fixed.iterations > 0)
        made->Iterations(fixed.iterations);
    else if (family.iterations > 0)
        made->Iterations(family.iterations);
    else if (fixed.min_seconds > 0 || family.min_time > 0)
        made->MinTime(fixed.min_seconds > 0 ? fixed.min_seconds : family.min_time);
    if (family.min_warm_up_time > 0 && fixed.iterations == 0 && family.iterations == 0)
        made->MinWarmUpTime(family.min_warm_up_time);
    if (fixed.repetitions > 0 || family.repetitions > 0)
        made->Repetitions(fixed.repetitions > 0 ? fixed.repetitions : family.repetitions);
    if (family.process_cpu_time)
        made->MeasureProcessCPUTime();
    if (family.real_time)
        made->UseRealTime();
    if (family.manual_time)
        made->UseManualTime();
    return made;
}

hayai_status hayai::match(hayai_suite &suite, const char *filter, instances &matched)
{
    flags listing;
    listing.list = true;
    set_flags(listing);
    instances all;
    for (const auto &family : suite.benchmarks)
        add_instances(*family, all);
    for (auto &one : all) {
        bool match = false;
        const hayai_status status = matches(*one, filter ? filter : "", match);
        if (status != HAYAI_OK)
            return status;
        if (match)
            matched.push_back(std::move(one));
    }
    return matched.empty() ? fail(HAYAI_ERROR_NO_MATCH, "no benchmark matches %s",
                                  filter && *filter ? filter : "(there is none)")
                           : HAYAI_OK;
}

hayai::silent_reporter::silent_reporter()
{
    SetOutputStream(&out_);
    SetErrorStream(&err_);
}

bool hayai::silent_reporter::ReportContext(const Context &)
{
    return true;
}

void hayai::silent_reporter::ReportRuns(const std::vector<Run> &reports)
{
    runs.insert(runs.end(), reports.begin(), reports.end());
}

std::string hayai::silent_reporter::output() const
{
    return out_.str();
}

std::string hayai::silent_reporter::errors() const
{
    return err_.str();
}

extern "C" hayai_status hayai_suite_list(hayai_suite *suite, const char *filter,
                                         hayai_name_callback *each, void *context)
{
    if (!suite || !each)
        return fail(HAYAI_ERROR_ARGUMENT, "hayai_suite_list: no %s", suite ? "callback" : "suite");
    return guard([&] {
        instances matched;
        {
            const session session;
            if (!session.owned)
                return fail(HAYAI_ERROR_STATE, "another run is under way");
            const hayai_status status = match(*suite, filter, matched);
            if (status != HAYAI_OK)
                return status;
        }
        for (const auto &one : matched)
            if (each(one->name.c_str(), context))
                return fail(HAYAI_STOPPED, "stopped by the callback at %s", one->name.c_str());
        return HAYAI_OK;
    });
}
