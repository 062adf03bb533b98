/* What the C++ files share: benchmarks as they were described, instances as they are run. */
#ifndef HAYAI_INTERNAL_HPP
#define HAYAI_INTERNAL_HPP

#include "error.hpp"
#include "version.hpp"
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

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
    bool process_cpu_time = false, real_time = false, manual_time = false;
};

struct hayai_suite {
    std::vector<std::unique_ptr<hayai_benchmark>> benchmarks;
};

namespace hayai
{

/* One set of arguments and one thread count of a family: the unit that is run and reported. */
struct instance {
    hayai_benchmark *family = nullptr;
    std::vector<int64_t> arguments;
    int threads = 1;
    unsigned number = 0;         /* within the family */
    std::string name;            /* as Google Benchmark composes it */
    int64_t iteration_limit = 0; /* never run more at once; 0: no limit */

    std::mutex mutex; /* of what follows: threads set counters at the same time */
    std::map<std::string, hayai_counter_flags> counter_flags;
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
registered *enroll(instance &instance, const fixed &fixed);

/* Google Benchmark's flags, which are global. All of them are set before each run: what the
 * environment or an earlier run left there never leaks in. */
struct flags {
    bool list = false;
    double min_time = 0.5, min_warm_up_time = 0;
    int repetitions = 1;
    bool random_interleaving = false;
    std::string time_unit = "ns", perf_counters;
    int verbosity = 0;
    bool dry_run = false;
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
