/* SPDX-License-Identifier: Apache-2.0 */
/* The environment of a benchmark function: its state, its counters, memory and profiler managers,
 * and threads. */
#include "internal.hpp"
#include <cmath>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <system_error>
#include <thread>

using namespace hayai;

/* ---- The state ------------------------------------------------------------------------------- */

/* The state of a benchmark function: forwards valid calls to benchmark::State, and refuses those on
 * which it would abort. */

namespace
{

std::atomic<instance *> last{nullptr};

bool skipped(const hayai_state &state)
{
    return version::skipped(state.library);
}

/* Ends a pause, because the library stops the timer when the loop ends, and it must run then. */
void end_pause(hayai_state &state)
{
    if (state.paused && !skipped(state))
        state.library.ResumeTiming();
    state.paused = false;
}

/* Makes one step of the library's loop, and keeps facts that the library does not provide. */
bool step(hayai_state &state, int64_t n)
{
    if (__builtin_expect(state.finished || state.set_up, 0))
        return false;
    state.started = true;
    if (__builtin_expect(state.paused, 0) &&
        state.library.iterations() >= state.library.max_iterations)
        end_pause(state);
    const bool more = n == 1 ? state.library.KeepRunning() : state.library.KeepRunningBatch(n);
    if (!more)
        state.finished = true;
    return more;
}

hayai_status skip_with(hayai_state *state, const char *message, skip how)
{
    if (!state || !message)
        return fail(HAYAI_ERROR_ARGUMENT, "skip: no %s", state ? "message" : "state");
    if (state->set_up || skipped(*state))
        return fail(HAYAI_ERROR_STATE, "%s: %s", state->instance.name.c_str(),
                    state->set_up ? "set-up and tear-down can't skip" : "skipped already");
    return guard([&] {
        if (how == skip::message)
            version::skip_with_message(state->library, message);
        else
            version::skip_with_error(state->library, message);
        state->how = how;
        return HAYAI_OK;
    });
}

bool loop_done(const hayai_state &state)
{
    return state.finished ||
           (state.native && state.library.iterations() >= state.library.max_iterations);
}

/* Ends a run properly, even if the function did not: the library aborts if a function returns
 * inside its loop, and if repetitions have different iterations. */
void complete(hayai_state &state)
{
    if (loop_done(state))
        return;
    if (!skipped(state))
        version::skip_with_error(state.library,
                                 state.started ? "the function returned before its loop ended"
                                               : "the function returned without running its loop");
    while (state.library.KeepRunning())
        continue;
}

/* Makes a missing N an error, because the fit needs it. (The N of all threads are added, so the
 * first one's is enough.) */
void require_complexity_n(hayai_state &state)
{
    if (state.instance.family->complexity != HAYAI_COMPLEXITY_NONE && state.finished &&
        !skipped(state) && state.library.thread_index() == 0 &&
        state.library.complexity_length_n() <= 0)
        skip_with(&state, "a complexity is asked for, but N was not set", skip::error);
}

/* Runs the function; an exception of a callback in C++ becomes the run's error. */
void run_function(hayai_state &state)
{
    const hayai_benchmark &family = *state.instance.family;
    try {
        family.function(&state, family.user);
    } catch (const std::exception &exception) {
        skip_with(&state, exception.what(), skip::error);
    } catch (...) {
        skip_with(&state, "the function threw an exception", skip::error);
    }
}

} // namespace

void hayai::call(instance &instance, benchmark::State &library)
{
    hayai_state state{library, instance};
    if (library.thread_index() == 0)
        last = &instance;
    if (instance.iteration_limit > 0 && library.max_iterations > instance.iteration_limit) {
        version::skip_with_error(library, limit_message);
    } else {
        run_function(state);
    }
    complete(state);
    require_complexity_n(state);
}

bool hayai::has(const hayai_state *state)
{
    if (state)
        return true;
    fail(HAYAI_ERROR_ARGUMENT, "a state that is NULL");
    return false;
}

hayai::instance *hayai::last_called()
{
    return last;
}

extern "C" {

bool hayai_state_keep_running(hayai_state *state)
{
    return has(state) && step(*state, 1);
}

int64_t hayai_state_batch(hayai_state *state)
{
    if (!has(state))
        return 0;
    const int64_t left = state->library.max_iterations - state->library.iterations();
    return step(*state, left > 0 ? left : 1) ? left : 0;
}

bool hayai_state_keep_running_batch(hayai_state *state, int64_t n)
{
    if (!has(state))
        return false;
    if (n <= 0) {
        hayai_state_skip_with_error(state, "a batch must have at least one iteration");
        return step(*state, 1);
    }
    return step(*state, n);
}

hayai_status hayai_state_pause(hayai_state *state)
{
    if (!has(state))
        return HAYAI_ERROR_ARGUMENT;
    if (!state->started || loop_done(*state) || state->paused || skipped(*state))
        return fail(HAYAI_ERROR_STATE, "%s: pause %s", state->instance.name.c_str(),
                    state->paused ? "while paused" : "outside the loop");
    return guard([&] {
        state->library.PauseTiming();
        state->paused = true;
        return HAYAI_OK;
    });
}

hayai_status hayai_state_resume(hayai_state *state)
{
    if (!has(state))
        return HAYAI_ERROR_ARGUMENT;
    clear_message();
    if (!state->paused || loop_done(*state) || skipped(*state))
        return fail(HAYAI_ERROR_STATE, "%s: resume without pause", state->instance.name.c_str());
    state->library.ResumeTiming();
    state->paused = false;
    return HAYAI_OK;
}

hayai_state *hayai_scoped_pause_begin(hayai_state *state)
{
    return hayai_state_pause(state) == HAYAI_OK ? state : nullptr;
}

void hayai_scoped_pause_end(hayai_state **paused)
{
    if (paused && *paused && (*paused)->paused)
        hayai_state_resume(*paused);
}

hayai_status hayai_state_set_iteration_time(hayai_state *state, double seconds)
{
    if (!has(state))
        return HAYAI_ERROR_ARGUMENT;
    clear_message();
    if (!std::isfinite(seconds) || seconds < 0)
        return fail(HAYAI_ERROR_ARGUMENT, "%s: an iteration time of %g s, expected finite, >= 0",
                    state->instance.name.c_str(), seconds);
    if (state->set_up)
        return fail(HAYAI_ERROR_STATE, "%s: iteration time in set-up or tear-down",
                    state->instance.name.c_str());
    state->library.SetIterationTime(seconds);
    return HAYAI_OK;
}

hayai_status hayai_state_skip_with_error(hayai_state *state, const char *message)
{
    return skip_with(state, message, skip::error);
}

hayai_status hayai_state_skip_with_message(hayai_state *state, const char *message)
{
    return skip_with(state, message, skip::message);
}

bool hayai_state_skipped(const hayai_state *state)
{
    return has(state) && skipped(*state);
}

bool hayai_state_error_occurred(const hayai_state *state)
{
    return has(state) && skipped(*state) && state->how != skip::message;
}

int64_t hayai_state_range(const hayai_state *state, size_t index)
{
    if (!has(state))
        return 0;
    const instance &instance = state->instance;
    if (index < instance.arguments.size())
        return instance.arguments[index];
    char message[96];
    snprintf(message, sizeof message, "argument %zu asked for, but there are %zu", index,
             instance.arguments.size());
    fail(HAYAI_ERROR_ARGUMENT, "%s: %s", instance.name.c_str(), message);
    if (!state->set_up && !skipped(*state))
        version::skip_with_error(state->library, message);
    return 0;
}

size_t hayai_state_range_count(const hayai_state *state)
{
    return has(state) ? state->instance.arguments.size() : 0;
}

const char *hayai_state_name(const hayai_state *state)
{
    return has(state) ? state->instance.name.c_str() : "";
}

int hayai_state_threads(const hayai_state *state)
{
    return has(state) ? state->library.threads() : 0;
}

int hayai_state_thread_index(const hayai_state *state)
{
    return has(state) ? state->library.thread_index() : 0;
}

int64_t hayai_state_iterations(const hayai_state *state)
{
    return has(state) ? state->library.iterations() : 0;
}

int64_t hayai_state_max_iterations(const hayai_state *state)
{
    return has(state) ? state->library.max_iterations : 0;
}

void *hayai_state_native(hayai_state *state)
{
    if (!has(state) || state->set_up)
        return nullptr;
    state->native = true;
    return &state->library;
}
}

/* ---- Counters -------------------------------------------------------------------------------- */

/* Data that a benchmark function reports about its run: counters, bytes, items, label, N. */

namespace
{

constexpr hayai_counter_flags all_flags = HAYAI_COUNTER_IS_RATE | HAYAI_COUNTER_AVG_THREADS |
                                          HAYAI_COUNTER_IS_ITERATION_INVARIANT |
                                          HAYAI_COUNTER_AVG_ITERATIONS | HAYAI_COUNTER_INVERT;

/* Returns whether a counter keeps its flags in all repetitions; otherwise the library aborts. */
bool keeps_flags(instance &instance, const char *name, hayai_counter_flags flags)
{
    std::lock_guard<std::mutex> lock(instance.mutex);
    return instance.counter_flags.emplace(name, flags).first->second == flags;
}

hayai_status refuse(const hayai_state *state, const char *what)
{
    return fail(HAYAI_ERROR_ARGUMENT, "%s: %s", hayai_state_name(state), what);
}

hayai_status set_rate(hayai_state *state, const char *name, int64_t amount, hayai_one_k one_k)
{
    if (!state || amount < 0)
        return refuse(state, state ? "a negative number of bytes or items processed"
                                   : "processed without a state");
    return hayai_state_set_counter(state, name, static_cast<double>(amount), HAYAI_COUNTER_IS_RATE,
                                   one_k);
}

} // namespace

extern "C" {

hayai_status hayai_state_set_counter(hayai_state *state, const char *name, double value,
                                     hayai_counter_flags flags, hayai_one_k one_k)
{
    if (!state || !name || !*name)
        return refuse(state, state ? "a counter without a name" : "a counter without a state");
    if ((flags & ~all_flags) || (one_k != HAYAI_ONE_K_1000 && one_k != HAYAI_ONE_K_1024))
        return fail(HAYAI_ERROR_ARGUMENT, "%s: counter %s: unknown flags 0x%x or scale %d",
                    state->instance.name.c_str(), name, flags, static_cast<int>(one_k));
    return guard([&] {
        if (!keeps_flags(state->instance, name, flags))
            return fail(HAYAI_ERROR_ARGUMENT, "%s: counter %s changes its flags",
                        state->instance.name.c_str(), name);
        state->library.counters[name] =
            benchmark::Counter(value, static_cast<benchmark::Counter::Flags>(flags),
                               static_cast<benchmark::Counter::OneK>(one_k));
        return HAYAI_OK;
    });
}

hayai_status hayai_state_get_counter(const hayai_state *state, const char *name,
                                     hayai_counter_value *counter)
{
    if (!state || !name || !counter)
        return refuse(state, "get_counter without a state, a name or a place for it");
    return guard([&] {
        const auto found = state->library.counters.find(name);
        if (found == state->library.counters.end())
            return fail(HAYAI_ERROR_ARGUMENT, "%s: no counter %s", state->instance.name.c_str(),
                        name);
        *counter = {name, found->second.value,
                    static_cast<hayai_counter_flags>(found->second.flags),
                    static_cast<hayai_one_k>(found->second.oneK)};
        return HAYAI_OK;
    });
}

hayai_status hayai_state_set_bytes_processed(hayai_state *state, int64_t bytes)
{
    return set_rate(state, "bytes_per_second", bytes, HAYAI_ONE_K_1024);
}

hayai_status hayai_state_set_items_processed(hayai_state *state, int64_t items)
{
    return set_rate(state, "items_per_second", items, HAYAI_ONE_K_1000);
}

int64_t hayai_state_bytes_processed(const hayai_state *state)
{
    return has(state) ? state->library.bytes_processed() : 0;
}

int64_t hayai_state_items_processed(const hayai_state *state)
{
    return has(state) ? state->library.items_processed() : 0;
}

hayai_status hayai_state_set_label(hayai_state *state, const char *label)
{
    if (!state || !label)
        return refuse(state, state ? "a label that is NULL" : "a label without a state");
    if (state->set_up)
        return fail(HAYAI_ERROR_STATE, "%s: a label in set-up or tear-down",
                    state->instance.name.c_str());
    return guard([&] {
        state->library.SetLabel(label);
        return HAYAI_OK;
    });
}

hayai_status hayai_state_set_complexity_n(hayai_state *state, int64_t n)
{
    if (!state || n <= 0)
        return refuse(state, state ? "an N of the complexity that is not positive"
                                   : "an N of the complexity without a state");
    clear_message();
    state->library.SetComplexityN(n);
    return HAYAI_OK;
}

int64_t hayai_state_complexity_n(const hayai_state *state)
{
    return has(state) ? state->library.complexity_length_n() : 0;
}
}

/* ---- Managers -------------------------------------------------------------------------------- */

/* Settings for all runs: custom context, memory manager, profiler. */

namespace
{

/* Keeps a copy of the library's object. It is never constructed here, because its constructor needs
 * a constant that 1.7.1 does not export. */
void keep(const benchmark::MemoryManager::Result &result)
{
    instance *measured = last_called();
    if (measured)
        measured->memory.push_back(result);
}

#ifdef __clang__
#pragma clang diagnostic ignored "-Winconsistent-missing-override"
#endif

/* Has both forms of Stop: versions differ in which one is virtual, so neither says override. */
class memory_manager : public benchmark::MemoryManager
{
  public:
    hayai_memory_manager manager = {};
    bool measures = false;

    void Start() override
    {
        manager.start(manager.user);
        measures = true;
    }
    void Stop(Result &result)
    {
        hayai_memory measured = {HAYAI_MEMORY_UNKNOWN, HAYAI_MEMORY_UNKNOWN, HAYAI_MEMORY_UNKNOWN,
                                 HAYAI_MEMORY_UNKNOWN};
        manager.stop(&measured, manager.user);
        measures = false;
        result.num_allocs = measured.allocations;
        result.max_bytes_used = measured.max_bytes_used;
        result.total_allocated_bytes = measured.total_allocated_bytes;
        result.net_heap_growth = measured.net_heap_growth;
        keep(result);
    }
    void Stop(Result *result)
    {
        Stop(*result);
    }
};

memory_manager the_memory_manager;

using profiler = version::profiler<benchmark::ProfilerManager>;

} // namespace

bool hayai::memory_is_measured()
{
    return the_memory_manager.measures;
}

extern "C" {

hayai_status hayai_add_context(const char *key, const char *value)
{
    if (!key || !*key || !value)
        return fail(HAYAI_ERROR_ARGUMENT, "a context without a key or a value");
    return guard([&] {
        const auto *context = benchmark::internal::GetGlobalContext();
        if (context && context->count(key) && context->at(key) == value)
            return HAYAI_OK;
        if (context && context->count(key))
            return fail(HAYAI_ERROR_ARGUMENT, "context %s: there already, with value %s", key,
                        context->at(key).c_str());
        benchmark::AddCustomContext(key, value);
        return HAYAI_OK;
    });
}

hayai_status hayai_register_memory_manager(const hayai_memory_manager *manager)
{
    return guard([&] {
        if (manager && (!manager->start || !manager->stop))
            return fail(HAYAI_ERROR_ARGUMENT, "a memory manager without start or stop");
        const hayai_status status =
            manager ? adopt("hayai_memory_manager", *manager, the_memory_manager.manager)
                    : HAYAI_OK;
        if (status == HAYAI_OK)
            benchmark::RegisterMemoryManager(manager ? &the_memory_manager : nullptr);
        return status;
    });
}

hayai_status hayai_register_profiler_manager(const hayai_profiler_manager *manager)
{
    return guard([&] {
        if (manager && (!manager->after_set_up_start || !manager->before_tear_down_stop))
            return fail(HAYAI_ERROR_ARGUMENT, "a profiler manager without one of its calls");
        hayai_profiler_manager own = {};
        const hayai_status status =
            manager ? adopt("hayai_profiler_manager", *manager, own) : HAYAI_OK;
        if (status != HAYAI_OK)
            return status;
        return profiler::enroll(manager ? &own : nullptr)
                   ? HAYAI_OK
                   : fail(HAYAI_ERROR_UNSUPPORTED,
                          "profiler managers need Google Benchmark 1.8.5, this is %s",
                          hayai_google_benchmark_version());
    });
}

void hayai_shutdown(void)
{
    benchmark::RegisterMemoryManager(nullptr);
    profiler::enroll(nullptr);
    /* The library deletes its context but keeps the pointer. */
    benchmark::Shutdown();
    benchmark::internal::GetGlobalContext() = nullptr;
}
}

/* ---- Threads --------------------------------------------------------------------------------- */

/* Threads: a test that the system can create them, and runners in C. */

namespace
{

class gate
{
  public:
    void close()
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        is_open_ = false;
    }
    void open()
    {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            is_open_ = true;
        }
        changed_.notify_all();
    }
    void pass()
    {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [this] { return is_open_; });
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool is_open_ = true;
};

/* For the threads of the current run. */
gate all_made;

/* Address space for the real run: for the memory that malloc briefly reserves for a thread (glibc:
 * twice 64 MiB), and for the library's lists of threads. */
class reserve
{
  public:
    reserve() : at_(mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))
    {
    }
    ~reserve()
    {
        if (exists())
            munmap(at_, size);
    }
    reserve(const reserve &) = delete;
    reserve &operator=(const reserve &) = delete;
    bool exists() const
    {
        return at_ != MAP_FAILED;
    }

  private:
    static constexpr size_t size = size_t{128} << 20;
    void *const at_;
};

/* Test threads that wait until all were created, or until one could not be. */
class trial
{
  public:
    trial()
    {
        over_.close();
    }
    ~trial()
    {
        over_.open();
        for (std::thread &thread : threads_)
            thread.join();
    }
    /* Each has malloc reserve its memory before the next one is created, as real ones may. */
    void add()
    {
        if (!reserve_.exists())
            throw std::runtime_error("128 MiB of address space must be left");
        allocated_.close();
        threads_.emplace_back([this] {
            void *volatile bytes = malloc(1);
            free(bytes);
            allocated_.open();
            over_.pass();
        });
        allocated_.pass();
    }
    size_t count() const
    {
        return threads_.size();
    }

  private:
    const reserve reserve_;
    gate allocated_, over_;
    std::vector<std::thread> threads_;
};

} // namespace

/* Google Benchmark creates its threads one by one, and the first ones wait for the others: if one
 * cannot be created, it ends the process, or waits for ever. So all are tested first, and no
 * benchmark runs in the real ones before all exist. */
void hayai::prepare_threads(int threads)
{
    if (threads < 2)
        return;
    trial trial;
    try {
        while (trial.count() + 1 < static_cast<size_t>(threads))
            trial.add();
    } catch (const std::exception &exception) {
        throw limit_exceeded("the system has no " + std::to_string(threads) +
                             " threads now, only " + std::to_string(trial.count() + 1) + ": " +
                             exception.what());
    }
    all_made.close();
}

/* Thread 0 creates the others, and is called last. */
void hayai::wait_for_threads(int index)
{
    if (index == 0)
        all_made.open();
    else
        all_made.pass();
}

namespace
{

/* One call of a runner in C; counts the calls of the body. */
struct thread_work {
    const std::function<void(int)> &body;
    const int threads;
    std::atomic<int> called{0};
};

void call_body(int index, void *user)
{
    thread_work &work = *static_cast<thread_work *>(user);
    if (index < 0 || index >= work.threads)
        return;
    work.called++;
    work.body(index);
}

} // namespace

version::thread_runner hayai::runner_of(const thread_call &call)
{
    return [call](int threads, const std::function<void(int)> &body) {
        thread_work work{body, threads};
        call.function(threads, call_body, &work, call.user);
        if (work.called != threads)
            throw std::runtime_error("the thread runner called " + std::to_string(work.called) +
                                     " of " + std::to_string(threads) + " threads");
    };
}
