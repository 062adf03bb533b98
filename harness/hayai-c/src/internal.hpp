/* SPDX-License-Identifier: Apache-2.0 */
/* What the C++ files share: benchmarks as they were described, instances as they are run. */
#ifndef HAYAI_INTERNAL_HPP
#define HAYAI_INTERNAL_HPP

#include "error.hpp"
#include "formats.h"
#include "version.hpp"
#include <atomic>
#include <list>
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
    void *user;
    hayai_statistic_unit unit;
};

struct set_up_call {
    hayai_set_up_function *function = nullptr;
    void *user = nullptr;
};

struct thread_call {
    hayai_thread_runner *function = nullptr;
    void *user = nullptr;
};

} // namespace hayai

/* A family as its builder calls described it. Nothing is registered with Google Benchmark before a
 * run, so that everything can be checked before the library (which aborts) sees it. */
struct hayai_benchmark {
    std::string name;
    hayai_function *function = nullptr;
    void *user = nullptr;
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

    hayai_complexity complexity = HAYAI_COMPLEXITY_NONE;
    hayai_complexity_function *complexity_function = nullptr;
    void *complexity_user = nullptr;
    std::vector<hayai::statistic> statistics;
    bool quartiles = false;
    hayai::set_up_call set_up, tear_down;
    hayai::thread_call thread_runner;
    const hayai_suite *suite = nullptr;

    hayai_status status = HAYAI_OK; /* of the first builder call that failed */
    char message[512] = "";
};

struct hayai_suite {
    std::vector<std::unique_ptr<hayai_benchmark>> benchmarks;
    bool doomed = false; /* destroyed while it ran: goes when the run ends */
};

namespace hayai
{

/* Deletes a suite, or empties the default one (suite.cpp). */
void discard(hayai_suite &suite);

/* The suite that is running, or NULL. */
const hayai_suite *running_suite();

/* Copies a struct that the caller filled; see "The ABI" in hayai.h. What is missing stays 0. */
template <class Struct> hayai_status adopt(const char *name, const Struct &given, Struct &own)
{
    constexpr size_t base = sizeof(Struct); /* in 0.2, the first version with this rule */
    const size_t size = given.struct_size ? given.struct_size : base;
    if (size < base)
        return fail(HAYAI_ERROR_ARGUMENT, "%s: struct_size %zu, expected 0 or at least %zu", name,
                    size, base);
    const char *bytes = reinterpret_cast<const char *>(&given);
    for (size_t i = sizeof(Struct); i < size; i++)
        if (bytes[i])
            return fail(HAYAI_ERROR_UNSUPPORTED,
                        "%s: has members that hayai " HAYAI_VERSION_STRING " does not know", name);
    own = given;
    return HAYAI_OK;
}

/* Runs a builder call; the first failure stays with the benchmark. */
template <class Body> hayai_status build(hayai_benchmark *benchmark, Body body)
{
    if (!benchmark)
        return fail(HAYAI_ERROR_ARGUMENT, "a benchmark that is NULL");
    if (benchmark->suite == running_suite())
        return fail(HAYAI_ERROR_STATE, "%s: its suite is running", benchmark->name.c_str());
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
    unsigned number = 0;         /* within the family */
    int64_t family_number = 0;   /* among the families that match, as reported */
    int64_t number_matched = 0;  /* among the family's instances that match, as reported */
    std::string name;            /* as Google Benchmark composes it */
    bool alone = false;          /* registered as a family: others of its own do not match */
    int64_t iteration_limit = 0; /* never run more at once; 0: no limit */

    /* Instances of a family with the same arguments and threads can't be told apart in their calls:
     * the first one keeps what follows for all of them. */
    instance *keeper = this;
    std::mutex mutex; /* of the flags: threads set counters at the same time */
    std::map<std::string, hayai_counter_flags> counter_flags;
    std::list<benchmark::MemoryManager::Result> memory; /* one a repetition */
};

using instances = std::vector<std::unique_ptr<instance>>;

/* The instances of one family that are registered together. A state tells which one was called by
 * its arguments and its threads. */
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

/* Whether there is a state; leaves a message where there is none (state.cpp). */
bool has(const hayai_state *state);

/* Calls the user's function with a state around the library's (state.cpp). */
void call(instance &instance, benchmark::State &state);

/* Registers a family with these arguments and threads with Google Benchmark; its instances are
 * those of the roster, which must stay until the registry is cleared (runner.cpp). */
void enroll(const roster &roster, const std::vector<std::vector<int64_t>> &arguments,
            const std::vector<int> &threads, const fixed &fixed);
void enroll(const roster &roster, const fixed &fixed); /* with all that the family has */
void enroll(const roster &roster, const instance &instance, const fixed &fixed);
void clear_registry();

/* Before a run of several threads: throws limit_exceeded where the system has not that many now
 * (threads.cpp). */
void prepare_threads(int threads);

/* First thing in each thread: waits until the library has made all of them (threads.cpp). */
void wait_for_threads(int index);

/* Between start and stop of the memory manager (managers.cpp). */
bool memory_is_measured();

/* A runner in C as the library's (threads.cpp). */
version::thread_runner runner_of(const thread_call &call);

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

/* Owns Google Benchmark for the length of a run of the suite; `owned` is false when a run is already
 * under way. */
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

hayai_status another_run(); /* fails with what says so */

/* A run's counters as C sees them; valid as long as the run (views.cpp). */
std::vector<hayai_counter_value> counters_of(const run &run);

/* Whose function was called last, on the main thread (state.cpp): whose memory was measured. */
instance *last_called();

/* Google Benchmark reads and writes numbers here as formats.h says. */
class plain_numbers
{
  public:
    plain_numbers() : before_(hayai_numbers_begin())
    {
    }
    ~plain_numbers()
    {
        hayai_numbers_end(before_);
    }
    plain_numbers(const plain_numbers &) = delete;
    plain_numbers &operator=(const plain_numbers &) = delete;

  private:
    const locale_t before_;
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
