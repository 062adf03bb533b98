/* SPDX-License-Identifier: Apache-2.0 */
/* The state that a benchmark function gets: forwards to benchmark::State what it can do now, and
 * refuses what it would abort on. */
#include "internal.hpp"
#include <cmath>

namespace
{

using namespace hayai;

std::atomic<instance *> last{nullptr};

bool skipped(const hayai_state &state)
{
    return version::skipped(state.library);
}

/* The timer must run when the library ends the loop (it stops it then). */
void end_pause(hayai_state &state)
{
    if (state.paused && !skipped(state))
        state.library.ResumeTiming();
    state.paused = false;
}

/* One step of the library's loop; remembers what the library keeps to itself. */
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

/* Ends a run as the library wants it ended, whatever the function left undone: it aborts where a
 * function returns inside its loop, and where repetitions differ in their iterations. */
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

/* The fit can't do without N. (With threads the N of all are added up: the first one's is enough.)
 */
void require_complexity_n(hayai_state &state)
{
    if (state.instance.family->complexity != HAYAI_COMPLEXITY_NONE && state.finished &&
        !skipped(state) && state.library.thread_index() == 0 &&
        state.library.complexity_length_n() <= 0)
        skip_with(&state, "a complexity is asked for, but N was not set", skip::error);
}

/* Runs the function; what a callback written in C++ throws becomes the run's error. */
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
