/* SPDX-License-Identifier: Apache-2.0 */
/* Between descriptions and Google Benchmark: its flags, its registry, its names. */
#include "filter.hpp"
#include "internal.hpp"
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace
{

using namespace hayai;

std::atomic<hayai_suite *> running{nullptr};

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
 * each family of a run that has a set-up or tear-down gets a pair of functions of its own. */
std::array<const roster *, HAYAI_MAX_SET_UPS> slots;
size_t slots_used;

void set_up_or_tear_down(instance &instance, const set_up_call &call, const benchmark::State &state)
{
    if (!call.function)
        return;
    hayai_state wrapped{const_cast<benchmark::State &>(state), instance};
    wrapped.set_up = true;
    call.function(&wrapped, call.user);
}

/* Before each run, where several threads are to come. A run that measures memory has one. */
void prepare(const benchmark::State &state)
{
    if (!memory_is_measured())
        prepare_threads(state.threads());
}

void set_up(const roster &roster, const benchmark::State &state)
{
    const hayai_benchmark &family = roster.family;
    instance &instance = roster.find(state);
    set_up_or_tear_down(instance, family.set_up, state);
    if (family.thread_runner.function)
        return;
    try {
        prepare(state);
    } catch (...) {
        set_up_or_tear_down(instance, family.tear_down, state);
        throw;
    }
}

void tear_down(const roster &roster, const benchmark::State &state)
{
    set_up_or_tear_down(roster.find(state), roster.family.tear_down, state);
}

template <size_t slot> void set_up_slot(const benchmark::State &state)
{
    set_up(*slots[slot], state);
}

template <size_t slot> void tear_down_slot(const benchmark::State &state)
{
    tear_down(*slots[slot], state);
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

void enroll_set_up(const roster &roster, registered &made)
{
    const hayai_benchmark &family = roster.family;
    if (!family.set_up.function && !family.tear_down.function) {
        if (!family.threads.empty() && !family.thread_runner.function)
            made.Setup(prepare);
        return;
    }
    if (slots_used > 0 && slots[slots_used - 1] == &roster) {
        made.Setup(slot_table[slots_used - 1].set_up);
        made.Teardown(slot_table[slots_used - 1].tear_down);
        return;
    }
    if (slots_used == slots.size())
        throw limit_exceeded("more than " + std::to_string(slots.size()) +
                             " benchmarks with set-up or tear-down in one run");
    slots[slots_used] = &roster;
    made.Setup(slot_table[slots_used].set_up);
    made.Teardown(slot_table[slots_used].tear_down);
    slots_used++;
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

/* The names of all that is registered, one a line, as the library prints them. */
std::string list()
{
    silent_reporter reporter;
    const plain_numbers plain; /* nothing is called */
    benchmark::RunSpecifiedBenchmarks(&reporter, nullptr, "all");
    return reporter.output();
}

/* A name of a benchmark or of an argument may have line ends in it. */
size_t lines_of(const instance &instance)
{
    const auto ends = [](const std::string &text) {
        return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
    };
    size_t lines = 1 + ends(instance.family->name);
    for (size_t i = 0; i < instance.arguments.size(); i++)
        if (i < instance.family->argument_names.size())
            lines += ends(instance.family->argument_names[i]);
    return lines;
}

/* Gives each instance the library's name for it: all were listed in this order. */
void name_all(const instances &all, const std::string &names)
{
    size_t begin = 0;
    for (const auto &one : all) {
        size_t end = begin;
        for (size_t line = 0; line < lines_of(*one) && end < names.size(); line++)
            end = names.find('\n', end) + 1;
        if (end == begin)
            throw std::runtime_error(
                "Google Benchmark lists fewer names than there are benchmarks");
        one->name = names.substr(begin, end - 1 - begin);
        begin = end;
    }
}

/* Registers all families but the disabled ones, which the library leaves out of all lists. The
 * rosters are empty: nothing is called. */
void enroll_for_listing(hayai_suite &suite, std::list<roster> &rosters, instances &all)
{
    clear_registry();
    for (const auto &family : suite.benchmarks) {
        if (family->name.rfind("DISABLED_", 0) == 0)
            continue;
        add_instances(*family, all);
        rosters.emplace_back(*family);
        enroll(rosters.back(), {});
    }
}

} // namespace

void hayai::set_flags(const flags &flags)
{
    const plain_numbers plain;
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
        "--benchmark_dry_run=false", /* since 1.9.1; older ones leave unknown flags alone */
    };
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

void hayai::roster::add(instance &instance)
{
    const auto added =
        by_arguments_.emplace(std::make_pair(instance.arguments, instance.threads), &instance);
    instance.keeper = added.first->second;
}

hayai::instance &hayai::roster::find(const benchmark::State &state) const
{
    std::vector<int64_t> arguments;
    for (size_t i = 0; i < by_arguments_.begin()->first.first.size(); i++)
        arguments.push_back(state.range(i));
    return *by_arguments_.at(std::make_pair(std::move(arguments), state.threads()));
}

const hayai_suite *hayai::running_suite()
{
    return running;
}

hayai_status hayai::another_run()
{
    return fail(HAYAI_ERROR_STATE, "another run is under way");
}

static bool begin_run(hayai_suite &suite)
{
    hayai_suite *none = nullptr;
    return running.compare_exchange_strong(none, &suite);
}

hayai::session::session(hayai_suite &suite) : owned(begin_run(suite)), suite_(suite)
{
}

hayai::session::~session()
{
    if (!owned)
        return;
    clear_registry();
    running = nullptr;
    if (suite_.doomed)
        discard(suite_);
}

extern "C" hayai_status hayai_reset(void)
{
    return guard([] {
        hayai_suite *left = running;
        if (!left)
            return fail(HAYAI_ERROR_STATE, "no run is under way");
        clear_registry();
        running = nullptr;
        if (left->doomed)
            discard(*left);
        return HAYAI_OK;
    });
}

static void describe(const hayai_benchmark &family, const fixed &fixed, registered &made)
{
    if (family.unit)
        made.Unit(static_cast<benchmark::TimeUnit>(*family.unit));
    if (fixed.iterations > 0)
        made.Iterations(fixed.iterations);
    else if (family.iterations > 0)
        made.Iterations(family.iterations);
    else if (fixed.min_seconds > 0 || family.min_time > 0)
        made.MinTime(fixed.min_seconds > 0 ? fixed.min_seconds : family.min_time);
    if (family.min_warm_up_time > 0 && fixed.iterations == 0 && family.iterations == 0)
        made.MinWarmUpTime(family.min_warm_up_time);
    if (fixed.repetitions > 0 || family.repetitions > 0)
        made.Repetitions(fixed.repetitions > 0 ? fixed.repetitions : family.repetitions);
    if (family.process_cpu_time)
        made.MeasureProcessCPUTime();
    if (family.real_time)
        made.UseRealTime();
    if (family.manual_time)
        made.UseManualTime();
}

void hayai::enroll(const roster &roster, const std::vector<std::vector<int64_t>> &arguments,
                   const std::vector<int> &threads, const fixed &fixed)
{
    const hayai_benchmark &family = roster.family;
    registered *made =
        benchmark::RegisterBenchmark(family.name.c_str(), [&roster](benchmark::State &state) {
            wait_for_threads(state.thread_index());
            call(roster.find(state), state);
        });
    for (const auto &set : arguments)
        made->Args(set);
    if (!arguments.empty() && !family.argument_names.empty())
        made->ArgNames(family.argument_names);
    for (const int count : threads)
        made->Threads(count);
    describe(family, fixed, *made);
    if (roster.empty()) /* to be listed, not to be run */
        return;
    enroll_set_up(roster, *made);
    if (family.thread_runner.function)
        version::set_thread_runner(*made, runner_of(family.thread_runner));
}

void hayai::enroll(const roster &roster, const fixed &fixed)
{
    enroll(roster, roster.family.arguments, roster.family.threads, fixed);
}

void hayai::enroll(const roster &roster, const instance &instance, const fixed &fixed)
{
    std::vector<std::vector<int64_t>> arguments;
    std::vector<int> threads;
    if (!instance.arguments.empty())
        arguments.push_back(instance.arguments);
    if (!roster.family.threads.empty())
        threads.push_back(instance.threads);
    enroll(roster, arguments, threads, fixed);
}

/* Numbers families and instances as the library does: only those that match count. `sizes`: how many
 * instances a family has, those that do not match among them. */
static void number(instances &matched, std::map<const hayai_benchmark *, size_t> &sizes)
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
        sizes[one->family]--;
    }
    for (const auto &one : matched)
        one->alone = sizes[one->family] > 0;
}

hayai_status hayai::match(hayai_suite &suite, const char *filter, instances &matched)
{
    flags listing;
    listing.list = true;
    set_flags(listing);
    for (const auto &family : suite.benchmarks)
        if (family->status != HAYAI_OK)
            return fail(family->status, "%s", family->message);
    instances all;
    std::list<roster> rosters;
    std::map<const hayai_benchmark *, size_t> sizes;
    std::optional<hayai::filter> chosen;
    try {
        chosen.emplace(filter ? filter : "");
    } catch (const bad_filter &bad) {
        return fail(HAYAI_ERROR_ARGUMENT, "filter %.80s%s: %s", filter,
                    strlen(filter) > 80 ? "..." : "", bad.what());
    }
    enroll_for_listing(suite, rosters, all);
    const std::string names = list();
    clear_registry();
    name_all(all, names);
    for (auto &one : all) {
        sizes[one->family]++;
        if (chosen->takes(one->name))
            matched.push_back(std::move(one));
    }
    number(matched, sizes);
    if (all.empty())
        return fail(HAYAI_ERROR_NO_MATCH, "there is no benchmark in the suite");
    return matched.empty() ? fail(HAYAI_ERROR_NO_MATCH, "no benchmark matches %s", filter)
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
                                         hayai_name_callback *each, void *user)
{
    if (!suite || !each)
        return fail(HAYAI_ERROR_ARGUMENT, "hayai_suite_list: no %s", suite ? "callback" : "suite");
    return guard([&] {
        instances matched;
        {
            const session session(*suite);
            if (!session.owned)
                return another_run();
            const hayai_status status = match(*suite, filter, matched);
            if (status != HAYAI_OK)
                return status;
        }
        for (const auto &one : matched)
            if (each(one->name.c_str(), user))
                return fail(HAYAI_STOPPED, "stopped by the callback at %s", one->name.c_str());
        return HAYAI_OK;
    });
}
