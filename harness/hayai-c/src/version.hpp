/* Everything that differs between versions of Google Benchmark, and the only file that may ask
 * which one this is. What can be told from the types is told from the types, so that a development
 * version is treated by what it has, not by what it calls itself.
 *
 *              1.7.1 (Debian 12)                    since
 * Benchmark    benchmark::internal::Benchmark       later benchmark::Benchmark
 * skipping     error_occurred, error_message        1.8: skipped, skip_message; SkipWithMessage
 * min time     --benchmark_min_time=0.5             1.8: 0.5s, or 100x for iterations
 * version      in the CMake package only            1.8: GetBenchmarkVersion()
 * dry run      -                                    1.9: --benchmark_dry_run
 * memory       Stop(Result *)                       1.8.4: Stop(Result &) alone
 * profiler     -                                    1.9: RegisterProfilerManager()
 */
#ifndef HAYAI_VERSION_HPP
#define HAYAI_VERSION_HPP

#include <benchmark/benchmark.h>
#include <string>
#include <type_traits>
#include <utility>

#ifndef HAYAI_GOOGLE_BENCHMARK_VERSION
#error "define HAYAI_GOOGLE_BENCHMARK_VERSION as major * 10000 + minor * 100 + patch"
#endif

#if HAYAI_GOOGLE_BENCHMARK_VERSION >= 10900
#define HAYAI_HAS_PROFILER
#endif

namespace hayai
{

/* A registered family, wherever its class lives. */
using registered = std::remove_pointer_t<decltype(benchmark::RegisterBenchmark(
    std::declval<const char *>(), std::declval<void (*)(benchmark::State &)>()))>;

using run = benchmark::BenchmarkReporter::Run;

enum class skip { none, message, error };

namespace version
{

constexpr bool has_skip_message = HAYAI_GOOGLE_BENCHMARK_VERSION >= 10800;
constexpr bool has_dry_run = HAYAI_GOOGLE_BENCHMARK_VERSION >= 10900;

/* Where there are no skip messages, a message travels as an error that begins like this. */
constexpr char message_mark[] = "\x1eskip:";

template <class State>
auto skip_with_message(State &state, const std::string &text, int)
    -> decltype(state.SkipWithMessage(text))
{
    state.SkipWithMessage(text);
}

template <class State> void skip_with_message(State &state, const std::string &text, long)
{
    state.SkipWithError((message_mark + text).c_str());
}

template <class State> void skip_with_error(State &state, const std::string &text)
{
    state.SkipWithError(text.c_str());
}

template <class State> auto skipped(const State &state, int) -> decltype(state.skipped())
{
    return state.skipped();
}

template <class State> bool skipped(const State &state, long)
{
    return state.error_occurred();
}

/* How a run was skipped and with which words. The message loses its mark. The names of the newer
 * enum's values can't be said where it does not exist: none is 0, with a message 1, with an
 * error 2.
 */
template <class Run>
auto skip_of(const Run &run, std::string &text, int) -> decltype(run.skipped, skip())
{
    text = run.skip_message;
    const unsigned how = static_cast<unsigned>(run.skipped);
    return how == 0 ? skip::none : how == 1 ? skip::message : skip::error;
}

template <class Run> skip skip_of(const Run &run, std::string &text, long)
{
    text = run.error_message;
    if (!run.error_occurred)
        return skip::none;
    const size_t length = sizeof message_mark - 1;
    if (text.compare(0, length, message_mark) != 0)
        return skip::error;
    text.erase(0, length);
    return skip::message;
}

/* Google Benchmark's own reporters print the words without the mark. */
template <class Run> auto drop_mark(Run &run, int) -> decltype(void(run.skipped))
{
    (void)run;
}

template <class Run> void drop_mark(Run &run, long)
{
    skip_of(run, run.error_message, 0);
}

/* The text of --benchmark_min_time for a number of seconds. */
inline std::string min_time(double seconds)
{
    char text[64];
    snprintf(text, sizeof text, "%.17g%s", seconds,
             HAYAI_GOOGLE_BENCHMARK_VERSION >= 10800 ? "s" : "");
    return text;
}

/* "1.9.1": the library's own word for it, without the v; or, where it has none (before 1.8, and
 * where it was built without its repository), that of the package that this was built with. */
inline std::string library()
{
    std::string text;
#if HAYAI_GOOGLE_BENCHMARK_VERSION >= 10800
    text = benchmark::GetBenchmarkVersion();
    text.erase(0, text.find_first_of("0123456789"));
#endif
    if (!text.empty() && text.compare(0, 3, "0.0") != 0)
        return text;
    return std::to_string(HAYAI_GOOGLE_BENCHMARK_VERSION / 10000) + "." +
           std::to_string(HAYAI_GOOGLE_BENCHMARK_VERSION / 100 % 100) + "." +
           std::to_string(HAYAI_GOOGLE_BENCHMARK_VERSION % 100);
}

} // namespace version
} // namespace hayai

#endif
