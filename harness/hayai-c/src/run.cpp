/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a suite: registers its benchmarks with Google Benchmark, lists them, matches them with the
 * filter, and has the library or the interleaving run them. */
#include "internal.hpp"
#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cmath>
#include <cstring>
#include <utility>

using namespace hayai;

namespace hayai
{

/* The instances of a family that are registered together. A state identifies the called one by its
 * arguments and threads. */
class roster
{
  public:
    explicit roster(hayai_benchmark &described) : family(described)
    {
    }
    void add(instance &instance);
    instance &find(const benchmark::State &state) const;
    bool empty() const
    {
        return by_arguments_.empty();
    }
    hayai_benchmark &family;

  private:
    std::map<std::pair<std::vector<int64_t>, int>, instance *> by_arguments_;
};

/* Settings of an instance that replace those of its description in one run. */
struct fixed {
    int64_t iterations = 0; /* 0: as described */
    double min_seconds = 0;
    int repetitions = 0;
};

/* Google Benchmark's flags, which are global. All of them are set before each run, so that neither
 * the environment nor an earlier run affects it. */
struct flags {
    bool list = false;
    double min_time = 0.5, min_warm_up_time = 0;
    int repetitions = 1;
    bool random_interleaving = false;
    std::string time_unit = "ns", perf_counters;
    int verbosity = 0;
    std::string executable = "hayai";
};
void set_flags(const flags &flags);

/* Finds all instances of a suite that match the filter, with their names, in order. */
hayai_status match(hayai_suite &suite, const char *filter, instances &matched);

/* Owns Google Benchmark while the suite runs; `owned` is false if another run is under way. */
class session
{
  public:
    explicit session(hayai_suite &suite);
    ~session();
    session(const session &) = delete;
    session &operator=(const session &) = delete;
    const bool owned;

  private:
    hayai_suite &suite_;
};

hayai_status another_run(); /* fails with the message "another run is under way" */

/* Registers a family with these arguments and threads with Google Benchmark; its instances are
 * those of the roster, which must exist until the registry is cleared. */
void enroll(const roster &roster, const std::vector<std::vector<int64_t>> &arguments,
            const std::vector<int> &threads, const fixed &fixed);
void enroll(const roster &roster, const fixed &fixed); /* with all of the family */
void enroll(const roster &roster, const instance &instance, const fixed &fixed);
void clear_registry();

/* Keeps every run that it gets, and prints nothing. */
class silent_reporter : public benchmark::BenchmarkReporter
{
  public:
    silent_reporter();
    bool ReportContext(const Context &) override;
    void ReportRuns(const std::vector<Run> &reports) override;
    std::vector<Run> runs;
    std::string output() const;
    std::string errors() const;

  private:
    std::ostringstream out_, err_;
};

/* Interleaved repetitions: the iterations are determined once, then every repetition is its own
 * run, in rounds of random permutations. */
struct plan {
    uint64_t seed = 0;
    unsigned repetitions = 1;
    double min_seconds = 0;
    int64_t iterations = 0;     /* for benchmarks without their own; 0: search */
    int64_t max_iterations = 0; /* 0: no limit */
};

/* Gets each repetition's run at once, with its number and its index in the whole order; returning
 * false stops. */
using repetition_sink =
    std::function<bool(const instance &, const run &, unsigned repetition, unsigned order)>;

/* Returns false if it was stopped. */
bool interleave(const instances &all, const plan &plan, const repetition_sink &sink);

} // namespace hayai

/* ---- Registration ---------------------------------------------------------------------------- */

/* Connects descriptions and Google Benchmark: its flags, its registry, its names. */

namespace
{

std::atomic<hayai_suite *> running{nullptr};

/* Initialize() adds the environment's BENCHMARK_CONTEXT again in every call, and complains on
 * standard error. It therefore gets an empty context. */
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

/* Before 1.8 the state does not identify the instance in set-up, and a function pointer has no
 * context. So each family of a run with a set-up or tear-down gets its own pair of functions. */
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

/* Called before each run with several threads. A run that measures memory has only one. */
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

/* Returns the names of all that is registered, one per line, as the library prints them. */
std::string list()
{
    silent_reporter reporter;
    const plain_numbers plain; /* no user function is called */
    benchmark::RunSpecifiedBenchmarks(&reporter, nullptr, "all");
    return reporter.output();
}

/* Returns the number of lines of a name: names of benchmarks and arguments may have line ends. */
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

/* Gives each instance the library's name, from a list in the same order. */
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

/* Registers all families but the disabled ones, which the library omits from lists. The rosters are
 * empty, since nothing is called. */
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
        "--benchmark_dry_run=false", /* since 1.9.1; older versions ignore unknown flags */
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
    if (roster.empty()) /* only listed, not run */
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

/* Numbers families and instances as the library does: only those that match count. `sizes`: the
 * number of instances of each family, including those that do not match. */
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

/* ---- Interleaving ---------------------------------------------------------------------------- */

namespace
{

/* splitmix64 (Steele, Lea, Flood 2014): a seed gives the same order on every machine. */
struct generator {
    uint64_t state;
    uint64_t next()
    {
        uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);
        z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
        return z ^ (z >> 31);
    }
    /* Returns a number below n without bias: repeats draws beyond the last multiple of n. */
    uint64_t below(uint64_t n)
    {
        const uint64_t reject = (UINT64_C(0) - n) % n; /* 2^64 mod n */
        uint64_t draw;
        do
            draw = next();
        while (draw < reject);
        return draw % n;
    }
};

/* Makes a random permutation of 0 ... n - 1 (Fisher and Yates). */
void permute(std::vector<size_t> &order, generator &random)
{
    for (size_t i = order.size(); i > 1; i--)
        std::swap(order[i - 1], order[random.below(i)]);
}

struct calibrated {
    int64_t iterations = 0;
    bool failed = false, done = false;
    run last; /* the search's last run, reported if it failed */
};

/* Has the library run one instance once. */
run run_once(instance &instance, const fixed &fixed)
{
    silent_reporter reporter;
    roster roster(*instance.family);
    roster.add(instance);
    clear_registry();
    enroll(roster, instance, fixed);
    benchmark::RunSpecifiedBenchmarks(&reporter, nullptr, "all");
    clear_registry();
    if (reporter.runs.empty())
        throw std::runtime_error(instance.name + ": Google Benchmark reported no run");
    return reporter.runs.front();
}

calibrated search(instance &instance, const plan &plan)
{
    calibrated result;
    fixed fixed;
    fixed.repetitions = 1;
    if (instance.family->min_time == 0)
        fixed.min_seconds = plan.min_seconds > 0 ? plan.min_seconds : 0.5;
    result.last = run_once(instance, fixed);
    result.iterations = result.last.iterations / instance.threads;
    std::string message;
    if (version::skip_of(result.last, message) == skip::none)
        return result;
    if (message == limit_message)
        result.iterations = plan.max_iterations;
    else
        result.failed = true;
    return result;
}

calibrated calibrate(instance &instance, const plan &plan)
{
    calibrated result;
    const hayai_benchmark &family = *instance.family;
    instance.iteration_limit = plan.max_iterations;
    if (family.iterations > 0)
        result.iterations = family.iterations;
    else if (plan.iterations > 0 && family.min_time == 0)
        result.iterations = plan.iterations;
    else
        result = search(instance, plan);
    if (plan.max_iterations > 0)
        result.iterations = std::min(result.iterations, plan.max_iterations);
    return result;
}

/* Runs one repetition, or reports that the instance cannot be run. */
bool repeat(instance &instance, calibrated &calibrated, const plan &plan, unsigned repetition,
            unsigned order, const repetition_sink &sink)
{
    calibrated.done = calibrated.failed;
    run run =
        calibrated.failed ? calibrated.last : run_once(instance, {calibrated.iterations, 0, 1});
    run.repetition_index = repetition;
    run.repetitions = plan.repetitions;
    return sink(instance, run, repetition, order);
}

/* Returns whether an instance runs in a round; it may have fewer repetitions of its own. */
bool takes_part(const instance &instance, unsigned round)
{
    const int own = instance.family->repetitions;
    return own <= 0 || round < static_cast<unsigned>(own);
}

/* Calls the hayai_repetition_callback. */
int describe(const instance &instance, const run &run, unsigned repetition, unsigned order,
             const hayai_interleave &interleave)
{
    std::string message;
    const bool skipped = version::skip_of(run, message) != skip::none;
    const std::vector<hayai_counter_value> counters = counters_of(run);
    hayai_repetition result = {};
    result.name = instance.name.c_str();
    result.benchmark = instance.family->index;
    result.repetition = repetition;
    result.order = order;
    result.instance = instance.number;
    result.threads = instance.threads;
    result.argument_count = instance.arguments.size();
    result.arguments = instance.arguments.data();
    result.iterations = run.iterations / instance.threads;
    result.error = skipped ? message.c_str() : nullptr;
    if (!skipped) {
        result.real_seconds = run.real_accumulated_time / static_cast<double>(run.iterations);
        result.cpu_seconds = run.cpu_accumulated_time / static_cast<double>(run.iterations);
    }
    result.counters = counters.data();
    result.counter_count = counters.size();
    result.label = run.report_label.c_str();
    return interleave.on_repetition(&result, interleave.user);
}

hayai_status check(const hayai_suite *suite, const hayai_interleave *given,
                   hayai_interleave &interleave)
{
    if (!suite || !given || !given->on_repetition)
        return fail(HAYAI_ERROR_ARGUMENT, "hayai_suite_run_interleaved: no %s",
                    !suite   ? "suite"
                    : !given ? "settings"
                             : "callback");
    const hayai_status status = adopt("hayai_interleave", *given, interleave);
    if (status != HAYAI_OK)
        return status;
    if (interleave.repetitions == 0 || interleave.max_iterations < 0 ||
        !std::isfinite(interleave.min_seconds) || interleave.min_seconds < 0)
        return fail(HAYAI_ERROR_ARGUMENT,
                    "hayai_suite_run_interleaved: repetitions %u, expected > 0; max_iterations "
                    "%lld, expected >= 0; min_seconds %g, expected finite, >= 0",
                    interleave.repetitions, static_cast<long long>(interleave.max_iterations),
                    interleave.min_seconds);
    return HAYAI_OK;
}

hayai_status run_suite(hayai_suite &suite, const hayai_interleave &interleave)
{
    const session session(suite);
    if (!session.owned)
        return another_run();
    instances all;
    const hayai_status matched = match(suite, interleave.filter, all);
    if (matched != HAYAI_OK)
        return matched;
    set_flags({});
    const plan plan = {interleave.seed, interleave.repetitions, interleave.min_seconds, 0,
                       interleave.max_iterations};
    const bool finished = hayai::interleave(
        all, plan,
        [&](const instance &instance, const run &run, unsigned repetition, unsigned order) {
            return describe(instance, run, repetition, order, interleave) == 0;
        });
    return finished ? HAYAI_OK : fail(HAYAI_STOPPED, "stopped by the callback");
}

} // namespace

bool hayai::interleave(const instances &all, const plan &plan, const repetition_sink &sink)
{
    std::vector<calibrated> calibrated;
    for (const auto &one : all)
        calibrated.push_back(calibrate(*one, plan));
    generator random{plan.seed};
    std::vector<size_t> order(all.size());
    for (size_t i = 0; i < order.size(); i++)
        order[i] = i;
    unsigned place = 0;
    for (unsigned round = 0; round < plan.repetitions; round++) {
        permute(order, random);
        for (const size_t i : order) {
            const unsigned here = place++;
            if (!calibrated[i].done && takes_part(*all[i], round) &&
                !repeat(*all[i], calibrated[i], plan, round, here, sink))
                return false;
        }
    }
    return true;
}

extern "C" hayai_status hayai_suite_run_interleaved(hayai_suite *suite,
                                                    const hayai_interleave *interleave)
{
    hayai_interleave own = {};
    const hayai_status status = check(suite, interleave, own);
    return status == HAYAI_OK ? guard([&] { return run_suite(*suite, own); }) : status;
}

/* ---- hayai_suite_run() ----------------------------------------------------------------------- */

/* hayai_suite_run(): checks the settings, opens the outputs, has the library or the interleaving
 * run, and closes the outputs in all cases. */

namespace
{

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

/* Returns the name of the program. */
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

/* Registers only matching instances, and passes no filter to the library. */
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

/* Runs the suite; returns the status with which a sink stopped it. */
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

/* Copies the caller's settings, whose struct may have another size; NULL: the defaults. */
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
