/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that differs between versions of Google Benchmark. It is detected from the types, not
 * from a version number: a development version is treated by its features, and a clone without tags
 * calls itself 0.0.0.
 *
 *                1.7.1 (Debian 12)                  later
 * Benchmark      benchmark::internal::Benchmark     1.9.5: benchmark::Benchmark
 * skipping       error_occurred, error_message      1.8.0: skipped, skip_message; SkipWithMessage
 * min time       --benchmark_min_time=0.5           1.8.0: 0.5s, or 100x for iterations
 * memory         Stop(Result *)                     1.8.0: only Stop(Result &)
 * version        -                                  1.8.4: GetBenchmarkVersion()
 * profiler       -                                  1.8.5: RegisterProfilerManager()
 * memory result  a pointer                          1.9.2: a value
 * thread runner  -                                  1.9.4: Benchmark::ThreadRunner()
 */
#ifndef HAYAI_VERSION_HPP
#define HAYAI_VERSION_HPP

#include "hayai.h"
#include <benchmark/benchmark.h>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#ifndef HAYAI_GOOGLE_BENCHMARK_VERSION
#error "define HAYAI_GOOGLE_BENCHMARK_VERSION as a string, such as \"1.7.1\""
#endif

/* If the library has these, the declarations repeat its own; otherwise the classes stay incomplete,
 * which can be detected. */
namespace benchmark
{
class ProfilerManager;
void RegisterProfilerManager(ProfilerManager *);
} // namespace benchmark

/* Found by an unqualified call if the library has none: a template is the second choice. */
namespace hayai_absent
{
template <class = void> std::string GetBenchmarkVersion()
{
    return "";
}
} // namespace hayai_absent

namespace hayai
{

/* A registered family, whatever the namespace of its class. */
using registered = std::remove_pointer_t<decltype(benchmark::RegisterBenchmark(
    std::declval<const char *>(), std::declval<void (*)(benchmark::State &)>()))>;

using run = benchmark::BenchmarkReporter::Run;

enum class skip { none, message, error };

namespace version
{

template <class T, class = void> struct is_complete : std::false_type {
};

template <class T> struct is_complete<T, std::void_t<decltype(sizeof(T))>> : std::true_type {
};

/* ---- Skipping -------------------------------------------------------------------------------- */

template <class State, class = void> struct has_skip_message : std::false_type {
};

template <class State>
struct has_skip_message<State, std::void_t<decltype(std::declval<State &>().SkipWithMessage(""))>>
    : std::true_type {
};

/* Without skip messages in the library, a message is passed as an error that begins like this. */
constexpr char message_mark[] = "\x1eskip:";

template <class State> void skip_with_message(State &state, const std::string &text)
{
    if constexpr (has_skip_message<State>::value)
        state.SkipWithMessage(text);
    else
        state.SkipWithError((message_mark + text).c_str());
}

template <class State> void skip_with_error(State &state, const std::string &text)
{
    state.SkipWithError(text.c_str());
}

template <class State> bool skipped(const State &state)
{
    if constexpr (has_skip_message<State>::value)
        return state.skipped();
    else
        return state.error_occurred();
}

/* Returns how a run was skipped, and the text without its mark. The newer enum cannot be named
 * where it does not exist: none is 0, with a message 1, with an error 2. */
template <class Run> skip skip_of(const Run &run, std::string &text)
{
    if constexpr (has_skip_message<benchmark::State>::value) {
        text = run.skip_message;
        const unsigned how = static_cast<unsigned>(run.skipped);
        return how == 0 ? skip::none : how == 1 ? skip::message : skip::error;
    } else {
        text = run.error_message;
        if (!run.error_occurred)
            return skip::none;
        const size_t length = sizeof message_mark - 1;
        if (text.compare(0, length, message_mark) != 0)
            return skip::error;
        text.erase(0, length);
        return skip::message;
    }
}

/* Removes the mark, for Google Benchmark's own reporters. */
template <class Run> void drop_mark(Run &run)
{
    if constexpr (!has_skip_message<benchmark::State>::value)
        skip_of(run, run.error_message);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Returns the results of a memory manager, or NULL. */
template <class Run> const benchmark::MemoryManager::Result *memory_of(const Run &run)
{
    if constexpr (std::is_pointer_v<decltype(run.memory_result)>)
        return run.memory_result;
    else
        return run.memory_result.memory_iterations > 0 ? &run.memory_result : nullptr;
}

/* Replaces a result that is a pointer by the kept copy, since it points into a vector that moves as
 * it grows. */
template <class Run> void replace_memory(Run &run, const benchmark::MemoryManager::Result *kept)
{
    if constexpr (std::is_pointer_v<decltype(run.memory_result)>)
        run.memory_result = kept;
}

/* ---- Managers -------------------------------------------------------------------------------- */

template <class Base, bool = is_complete<Base>::value> class profiler;

template <class Base> class profiler<Base, false>
{
  public:
    static bool enroll(const hayai_profiler_manager *)
    {
        return false;
    }
};

/* Returns false if the library has no profilers. Newer versions abort on a second one. */
template <class Base> class profiler<Base, true> : public Base
{
  public:
    static bool enroll(const hayai_profiler_manager *manager)
    {
        static profiler self;
        benchmark::RegisterProfilerManager(nullptr);
        if (manager) {
            self.manager_ = *manager;
            benchmark::RegisterProfilerManager(&self);
        }
        return true;
    }
    void AfterSetupStart() override
    {
        manager_.after_set_up_start(manager_.user);
    }
    void BeforeTeardownStop() override
    {
        manager_.before_tear_down_stop(manager_.user);
    }

  private:
    hayai_profiler_manager manager_ = {};
};

/* ---- Threads --------------------------------------------------------------------------------- */

/* A function that runs `body` once for each index 0 ... threads - 1, all at the same time. */
using thread_runner = std::function<void(int threads, const std::function<void(int)> &body)>;

template <class Benchmark, class = void> struct has_thread_runner : std::false_type {
};

template <class Benchmark>
struct has_thread_runner<Benchmark,
                         std::void_t<decltype(std::declval<Benchmark &>().ThreadRunner(nullptr))>>
    : std::true_type {
};

template <class Base> class threads_by : public Base
{
  public:
    threads_by(int threads, thread_runner runner) : threads_(threads), runner_(std::move(runner))
    {
    }
    void RunThreads(const std::function<void(int)> &body) final
    {
        runner_(threads_, body);
    }

  private:
    const int threads_;
    const thread_runner runner_;
};

template <class Factory> struct made_by;
template <class Base> struct made_by<std::function<std::unique_ptr<Base>(int)>> {
    using type = Base;
};
template <class Benchmark, class Factory> Factory factory_of(Benchmark *(Benchmark::*)(Factory &&));

template <class Benchmark> void set_thread_runner(Benchmark &made, const thread_runner &runner)
{
    if constexpr (has_thread_runner<Benchmark>::value) {
        using factory = decltype(factory_of(&Benchmark::ThreadRunner));
        using base = typename made_by<factory>::type;
        made.ThreadRunner([runner](int threads) {
            return std::unique_ptr<base>(new threads_by<base>(threads, runner));
        });
    }
}

/* ---- Words ----------------------------------------------------------------------------------- */

/* Returns the text of --benchmark_min_time for a number of seconds. */
inline std::string min_time(double seconds)
{
    char text[64];
    snprintf(text, sizeof text, "%.17g%s", seconds,
             has_skip_message<benchmark::State>::value ? "s" : "");
    return text;
}

/* Returns the library's version without the v, such as "1.9.1"; if it has none (before 1.8.4, or
 * built without its repository), that of the package that this was built with. */
inline std::string library()
{
    using namespace benchmark;
    using namespace hayai_absent;
    std::string text = GetBenchmarkVersion();
    text.erase(0, std::min(text.size(), text.find_first_of("0123456789")));
    return text.empty() || text.compare(0, 3, "0.0") == 0 ? HAYAI_GOOGLE_BENCHMARK_VERSION : text;
}

} // namespace version
} // namespace hayai

#endif
