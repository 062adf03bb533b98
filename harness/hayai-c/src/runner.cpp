/* Between descriptions and Google Benchmark: its flags, its registry, its names. */
#include "internal.hpp"
#include <array>
#include <utility>

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

/* Before 1.8 the state does not tell whose set-up is called, and a plain function pointer can't: so
 * each instance of a run that has a set-up or tear-down gets a pair of functions of its own. */
std::array<instance *, HAYAI_MAX_SET_UPS> slots;
size_t slots_used;

void set_up_or_tear_down(instance &instance, const set_up_call &call, const benchmark::State &state)
{
    if (!call.function)
        return;
    hayai_state wrapped{const_cast<benchmark::State &>(state), instance};
    wrapped.set_up = true;
    call.function(&wrapped, call.context);
}

template <size_t slot> void set_up_slot(const benchmark::State &state)
{
    set_up_or_tear_down(*slots[slot], slots[slot]->family->set_up, state);
}

template <size_t slot> void tear_down_slot(const benchmark::State &state)
{
    set_up_or_tear_down(*slots[slot], slots[slot]->family->tear_down, state);
}

using plain_function = void (*)(const benchmark::State &);
struct slot_functions {
    plain_function set_up, tear_down;
};

template <size_t... slot>
constexpr std::array<slot_functions, sizeof...(slot)> make_slots(std::index_sequence<slot...>)
{
    return {{{set_up_slot<slot>, tear_down_slot<slot>}...}};
}

constexpr auto slot_table = make_slots(std::make_index_sequence<HAYAI_MAX_SET_UPS>());

void enroll_set_up(instance &instance, registered &made)
{
    if (!instance.family->set_up.function && !instance.family->tear_down.function)
        return;
    if (slots_used == slots.size())
        throw limit_exceeded("more than " + std::to_string(slots.size()) +
                             " instances with set-up or tear-down in one run");
    slots[slots_used] = &instance;
    made.Setup(slot_table[slots_used].set_up);
    made.Teardown(slot_table[slots_used].tear_down);
    slots_used++;
}

std::string part_name(const char *part, double seconds)
{
    char text[64];
    snprintf(text, sizeof text, "%s:%0.3f", part, seconds);
    return text;
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
            one->min_time_name = part_name("min_time", family.min_time);
            one->min_warm_up_name = part_name("min_warmup_time", family.min_warm_up_time);
            all.push_back(std::move(one));
        }
}

/* Whether the library would run this instance; gives it the library's name for it. */
hayai_status matches(instance &instance, const std::string &filter, bool &match)
{
    silent_reporter reporter;
    clear_registry();
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
    static std::string program; /* the library keeps a pointer to it */
    program = flags.executable;
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
        words.push_back("--benchmark_dry_run=false");
    std::vector<char *> arguments;
    for (std::string &word : words)
        arguments.push_back(&word[0]);
    arguments[0] = &program[0];
    int count = static_cast<int>(arguments.size());
    arguments.push_back(nullptr);
    const context_kept kept;
    benchmark::Initialize(&count, arguments.data());
}

void hayai::clear_registry()
{
    benchmark::ClearRegisteredBenchmarks();
    slots_used = 0;
}

hayai::session::session() : owned(!run_under_way.test_and_set())
{
}

hayai::session::~session()
{
    if (!owned)
        return;
    clear_registry();
    run_under_way.clear();
}

void hayai::enroll(instance &instance, const fixed &fixed)
{
    const hayai_benchmark &family = *instance.family;
    registered *made = benchmark::RegisterBenchmark(
        family.name.c_str(), [&instance](benchmark::State &state) { call(instance, state); });
    if (!instance.arguments.empty()) {
        made->Args(instance.arguments);
        if (!family.argument_names.empty())
            made->ArgNames(family.argument_names);
    }
    if (family.unit)
        made->Unit(static_cast<benchmark::TimeUnit>(*family.unit));
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
    enroll_set_up(instance, *made);
}

/* Numbers families and instances as the library does: only those that match count. */
static void number(instances &matched)
{
    int64_t family = -1, within = 0;
    const hayai_benchmark *previous = nullptr;
    for (const auto &one : matched) {
        if (one->family != previous) {
            family++;
            within = 0;
        }
        previous = one->family;
        one->family_number = family;
        one->number_matched = within++;
    }
}

hayai_status hayai::match(hayai_suite &suite, const char *filter, instances &matched)
{
    flags listing;
    listing.list = true;
    set_flags(listing);
    instances all;
    for (const auto &family : suite.benchmarks) {
        if (family->status != HAYAI_OK)
            return fail(family->status, "%s", family->message);
        add_instances(*family, all);
    }
    for (auto &one : all) {
        bool match = false;
        const hayai_status status = matches(*one, filter ? filter : "", match);
        if (status != HAYAI_OK)
            return status;
        if (match)
            matched.push_back(std::move(one));
    }
    number(matched);
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
