/* What the C++ files share: benchmarks as they were described, instances as they are run. */
#ifndef HAYAI_INTERNAL_HPP
#define HAYAI_INTERNAL_HPP

#include "error.hpp"
#include "version.hpp"
#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace hayai
{

struct aggregates_only {
    bool display, files;
};

struct statistic {
    std::string name;
    hayai_statistic_function *function;
    void *context;
    hayai_statistic_unit unit;
};

struct set_up_call {
    hayai_set_up_function *function = nullptr;
    void *context = nullptr;
};

} // namespace hayai

/* A family as its builder calls described it. Nothing is registered with Google Benchmark before a
 * run, so that everything can be checked before the library (which aborts) sees it. */
struct hayai_benchmark {
    std::string name;
    hayai_function *function = nullptr;
    void *context = nullptr;
    size_t index = 0;

    std::vector<std::vector<int64_t>> arguments;
    std::vector<std::string> argument_names;
    int range_multiplier = 8;
    std::vector<int> threads;

    double min_time = 0, min_warm_up_time = 0;
    int64_t iterations = 0;
    int repetitions = 0;
    std::optional<hayai_unit> unit;
    bool process_cpu_time = false, real_time = false, manual_time = false;
    std::optional<hayai::aggregates_only> aggregates;

    hayai_complexity complexity = HAYAI_O_NONE;
    hayai_complexity_function *complexity_function = nullptr;
    void *complexity_context = nullptr;
    std::vector<hayai::statistic> statistics;
    bool quartiles = false;
    hayai::set_up_call set_up, tear_down;

    hayai_status status = HAYAI_OK; /* of the first builder call that failed */
    char message[512] = "";
};

struct hayai_suite {
    std::vector<std::unique_ptr<hayai_benchmark>> benchmarks;
};

namespace hayai
{

/* Runs a builder call; the first failure stays with the benchmark. */
template <class Body> hayai_status build(hayai_benchmark *benchmark, Body body)
{
    if (!benchmark)
        return fail(HAYAI_ERROR_ARGUMENT, "a benchmark that is NULL");
    const hayai_status status = guard(body);
    if (status != HAYAI_OK && benchmark->status == HAYAI_OK) {
        benchmark->status = status;
        snprintf(benchmark->message, sizeof benchmark->message, "%s", hayai_last_message());
    }
    return status;
}

/* One set of arguments and one thread count of a family: the unit that is run and reported. */
struct instance {
    hayai_benchmark *family = nullptr;
    std::vector<int64_t> arguments;
    int threads = 1;
    unsigned number = 0;        /* within the family */
    int64_t family_number = 0;  /* among the families that match, as reported */
    int64_t number_matched = 0; /* among the family's instances that match, as reported */
    std::string name;           /* as Google Benchmark composes it */
    std::string min_time_name, min_warm_up_name; /* those parts of it */
    int64_t iteration_limit = 0;                 /* never run more at once; 0: no limit */

    std::mutex mutex; /* of what follows: threads set counters at the same time */
    std::map<std::string, hayai_counter_flags> counter_flags;
    std::deque<benchmark::MemoryManager::Result> memory; /* one a repetition */
};

using instances = std::vector<std::unique_ptr<instance>>;

/* How an instance's registration departs from its description, for one run of it. */
struct fixed {
    int64_t iterations = 0; /* 0: as described */
    double min_seconds = 0;
    int repetitions = 0;
};

/* What the search for iterations stops with at an instance's limit; never seen by users. */
constexpr char limit_message[] = "\x1elimit";

} // namespace hayai

/* The state behind the public type: benchmark::State, and what it does not tell. */
struct hayai_state {
    benchmark::State &library;
    hayai::instance &instance;
    bool set_up = false; /* given to set-up or tear-down: no timer, no manager behind it */
    bool native = false; /* handed out to C++ code, which may run the loop itself */
    bool started = false, finished = false, paused = false;
    hayai::skip how = hayai::skip::none; /* skipped by this thread */
};

namespace hayai
{

/* Calls the user's function with a state around the library's (state.cpp). */
void call(instance &instance, benchmark::State &state);

/* Registers one instance with Google Benchmark (runner.cpp). */
void enroll(instance &instance, const fixed &fixed);
void clear_registry();

/* Google Benchmark's flags, which are global. All of them are set before each run: what the
 * environment or an earlier run left there never leaks in. */
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

/* All instances of a suite that match the filter, with their names, in order. */
hayai_status match(hayai_suite &suite, const char *filter, instances &matched);

/* Owns Google Benchmark for the length of a run; `owned` is false when a run is already under
 * way. */
class session
{
  public:
    session();
    ~session();
    session(const session &) = delete;
    session &operator=(const session &) = delete;
    const bool owned;
};

/* A run's counters as C sees them; valid as long as the run (views.cpp). */
std::vector<hayai_counter_value> counters_of(const run &run);

/* Whose function was called last, on the main thread (state.cpp): whose memory was measured. */
instance *last_called();

/* Keeps every run that it is given, prints nothing. */
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

} // namespace hayai

#endif
