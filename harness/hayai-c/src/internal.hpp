/* SPDX-License-Identifier: Apache-2.0 */
/* What the C++ files share: benchmarks as they were described, instances as they are run. */
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

/* What the last call of this thread left is no longer the message: at the entry of every public
 * function that can fail, and before a callback whose message is asked for. */
void clear_message();

/* Leaves the message for hayai_last_message() and returns the status. */
hayai_status fail(hayai_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* For what is too many inside code that returns no status. */
struct limit_exceeded : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/* Runs the body of a public function; what it throws becomes a status. */
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

/* ---- Benchmarks as they were described --------------------------------------------------------- */

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

/* Deletes a suite, or empties the default one. */
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

/* Whether there is a state; leaves a message where there is none. */
bool has(const hayai_state *state);

/* Calls the user's function with a state around the library's. */
void call(instance &instance, benchmark::State &state);

/* Before a run of several threads: throws limit_exceeded where the system has not that many now
 *. */
void prepare_threads(int threads);

/* First thing in each thread: waits until the library has made all of them. */
void wait_for_threads(int index);

/* Between start and stop of the memory manager. */
bool memory_is_measured();

/* A runner in C as the library's. */
version::thread_runner runner_of(const thread_call &call);

/* A run's counters as C sees them; valid as long as the run. */
std::vector<hayai_counter_value> counters_of(const run &run);

/* Whose function was called last, on the main thread: whose memory was measured. */
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

/* ---- Filters ----------------------------------------------------------------------------------- */

/* Filters: POSIX extended regular expressions whose matching takes a time with the product of their
 * size and the name's. Google Benchmark's, std::regex, overflows the stack on many brackets, and
 * tries all ways to match (a+)+$ one after the other. */

/* What is wrong with a filter. */
struct bad_filter : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class filter
{
  public:
    /* "" and "all": every name; "-...": those that ... does not match. Throws bad_filter. */
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

/* From Google Benchmark's reports to ours: one reporter that the library sees, which mends what it
 * gets, adds what the library does not compute, and hands everything to any number of sinks. */

/* Runs as C sees them. Valid as long as the runs that it was made of, and as itself. */
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

/* Where reports go. A failure has its message. */
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

/* Outputs and reporters of a run. Two outputs never share a place. */
using sinks = std::vector<std::unique_ptr<sink>>;
hayai_status open_sinks(const hayai_options &options, sinks &opened, bool to_list);

/* Thrown through the library, which has no other way to be stopped. */
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

    /* The same for one repetition of an instance; aggregates follow with complete(). */
    void single(const instance &instance, Run run);
    void complete(const instance &instance, const std::vector<Run> &repetitions);

    /* Ends all sinks that were begun; the first failure, or OK. */
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
    std::vector<size_t> first_; /* of each family that is registered, in all_ */
    const hayai_options &options_;
    hayai::sinks &sinks_;
    size_t begun_ = 0;
    std::ostringstream out_, err_; /* what the library says besides */
    std::vector<Run> last_;        /* the repetitions whose aggregates come next */
    struct family_progress {
        size_t left = 0; /* instances that are not reported yet */
        std::vector<Run> runs;
    };
    std::map<const hayai_benchmark *, family_progress> families_;
    hayai_summary summary_ = {};
};

} // namespace hayai

#endif
