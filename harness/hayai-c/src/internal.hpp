/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the C++ files share: benchmarks as described, instances as run. */
#ifndef HAYAI_INTERNAL_HPP
#define HAYAI_INTERNAL_HPP

#include "formats.h"
#include "version.hpp"
#include <atomic>
#include <bitset>
#include <deque>
#include <exception>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace hayai
{

/* ---- Failures: a status and a message for the calling thread. No exception leaves a public function. */

/* Clears the message of this thread's last call: called in every public function that can fail, and
 * before a callback that may leave a message. */
void clear_message();

/* Sets the message for hayai_last_message() and returns the status. */
hayai_status fail(hayai_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Thrown if a limit is exceeded in code that returns no status. */
struct limit_exceeded : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/* Runs the body of a public function; an exception becomes a status. */
template <class Body> hayai_status guard(Body body) noexcept
{
    clear_message();
    try {
        return body();
    } catch (const std::bad_alloc &) {
        return fail(HAYAI_ERROR_MEMORY, "out of memory");
    } catch (const limit_exceeded &exception) {
        return fail(HAYAI_ERROR_LIMIT, "%s", exception.what());
    } catch (const std::exception &exception) {
        return fail(HAYAI_ERROR_FAILED, "%s", exception.what());
    } catch (...) {
        return fail(HAYAI_ERROR_FAILED, "an exception that is no std::exception");
    }
}

/* ---- Benchmarks as described
 * ------------------------------------------------------------------ */

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

/* A family as the builder calls described it. Nothing is registered with Google Benchmark before a
 * run, so that everything can be checked before the library, which aborts on errors, gets it. */
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
    bool doomed = false; /* destroyed while running: is deleted when the run ends */
};

namespace hayai
{

/* Deletes a suite, or empties the default one. */
void discard(hayai_suite &suite);

/* Returns the running suite, or NULL. */
const hayai_suite *running_suite();

/* Copies a struct that the caller filled; see "The ABI" in hayai.h. Missing members stay 0. */
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
    bool alone = false;          /* registered as its own family */
    int64_t iteration_limit = 0; /* maximum iterations in one run; 0: no limit */

    /* Instances of a family with the same arguments and threads cannot be distinguished in their
     * calls: the first one keeps the following data for all of them. */
    instance *keeper = this;
    std::mutex mutex; /* for the flags: threads set counters at the same time */
    std::map<std::string, hayai_counter_flags> counter_flags;
    std::list<benchmark::MemoryManager::Result> memory; /* one for each repetition */
};

using instances = std::vector<std::unique_ptr<instance>>;

/* The message that ends the search for iterations at an instance's limit; users never see it. */
constexpr char limit_message[] = "\x1elimit";

} // namespace hayai

/* The state behind the public type: benchmark::State, and facts that it does not provide. */
struct hayai_state {
    benchmark::State &library;
    hayai::instance &instance;
    bool set_up = false; /* passed to set-up or tear-down: no timer or manager behind it */
    bool native = false; /* passed to C++ code, which may run the loop itself */
    bool started = false, finished = false, paused = false;
    hayai::skip how = hayai::skip::none; /* skipped by this thread */
};

namespace hayai
{

/* Returns whether there is a state; leaves a message if there is none. */
bool has(const hayai_state *state);

/* Calls the user's function with a state around the library's. */
void call(instance &instance, benchmark::State &state);

/* Called before a run of several threads: throws limit_exceeded if the system cannot create them
 * now. */
void prepare_threads(int threads);

/* Called first in each thread: waits until the library has created all of them. */
void wait_for_threads(int index);

/* Returns whether the memory manager is between start and stop. */
bool memory_is_measured();

/* Makes the library's thread runner from a runner in C. */
version::thread_runner runner_of(const thread_call &call);

/* Returns a run's counters for C; they are valid as long as the run. */
std::vector<hayai_counter_value> counters_of(const run &run);

/* Returns the instance called last on the main thread, whose memory was measured. */
instance *last_called();

/* While one exists, Google Benchmark reads and writes numbers in the "C" locale (formats.h). */
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

/* ---- Filters ----------------------------------------------------------------------------------- */

/* Filters: POSIX extended regular expressions. Matching takes a time proportional to the product of
 * their length and the name's. Google Benchmark's std::regex overflows the stack on many brackets,
 * and tries all ways to match (a+)+$ one after the other. */

/* An invalid filter; the message says why. */
struct bad_filter : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class filter
{
  public:
    /* "" and "all" match every name; "-..." matches names that ... does not. Throws bad_filter. */
    explicit filter(std::string text);
    bool takes(const std::string &name) const;

  private:
    enum class kind { letter, fork, begin, end, found };
    using letters = std::bitset<256>;
    struct state {
        kind what;
        size_t next, other; /* other: of a fork */
        letters set;
    };
    class parser;

    bool matches(const std::string &name) const;
    bool follow(size_t from, bool at_begin, bool at_end, std::vector<size_t> &states,
                std::vector<size_t> &marks, size_t mark) const;

    bool negative_ = false;
    size_t start_ = 0;
    std::vector<state> states_;
};

/* ---- Reports ----------------------------------------------------------------------------------- */

/* Converts Google Benchmark's reports to ours: the library sees one reporter, which corrects the
 * runs, adds what the library does not compute, and passes everything to any number of sinks. */

/* Runs for C. Valid as long as this object and the runs that it was made from. */
class run_views
{
  public:
    explicit run_views(const std::vector<run> &runs);
    const std::vector<hayai_run> &all() const
    {
        return views_;
    }

  private:
    const char *keep(std::string text);
    hayai_run view(const run &run);
    std::deque<std::string> texts_;
    std::deque<std::vector<hayai_counter_value>> counters_;
    std::deque<hayai_memory> memories_;
    std::vector<hayai_run> views_;
};

/* A receiver of reports. A failure has its message. */
class sink
{
  public:
    virtual ~sink() = default;
    virtual hayai_status begin(const benchmark::BenchmarkReporter::Context &library,
                               const hayai_context &machine) = 0;
    virtual hayai_status report(const std::vector<run> &runs, const run_views &views) = 0;
    virtual hayai_status finish() = 0;
    virtual hayai_status list(const std::vector<const char *> &names) = 0;
    bool file = false; /* or standard output: "display" */
};

/* The outputs and reporters of a run. Two outputs never share a file. */
using sinks = std::vector<std::unique_ptr<sink>>;
hayai_status open_sinks(const hayai_options &options, sinks &opened, bool to_list);

/* Thrown through the library, which cannot be stopped otherwise. */
struct stop {
    hayai_status status;
    std::string message;
};

class reporter : public benchmark::BenchmarkReporter
{
  public:
    reporter(const instances &all, const hayai_options &options, hayai::sinks &sinks);

    bool ReportContext(const Context &context) override;
    void ReportRuns(const std::vector<Run> &reports) override;

    /* Reports one repetition of an instance; its aggregates follow with complete(). */
    void single(const instance &instance, Run run);
    void complete(const instance &instance, const std::vector<Run> &repetitions);

    /* Ends all sinks that began; returns the first failure, or OK. */
    hayai_status close();
    hayai_summary summary() const
    {
        return summary_;
    }

  private:
    void mend(const instance &instance, Run &run) const;
    void repetitions(const instance &instance, std::vector<Run> runs);
    void finish_family(const instance &instance);
    const instance &reported(const Run &run) const;
    void send(const std::vector<Run> &runs, bool display, bool files);
    bool only_aggregates(const instance &instance, bool files) const;

    const instances &all_;
    std::vector<size_t> first_; /* index in all_ of the first instance of each registered family */
    const hayai_options &options_;
    hayai::sinks &sinks_;
    size_t begun_ = 0;
    std::ostringstream out_, err_; /* other output of the library */
    std::vector<Run> last_;        /* the repetitions of the next aggregates */
    struct family_progress {
        size_t left = 0; /* instances that are not reported yet */
        std::vector<Run> runs;
    };
    std::map<const hayai_benchmark *, family_progress> families_;
    hayai_summary summary_ = {};
};

} // namespace hayai

#endif
