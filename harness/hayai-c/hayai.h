/* SPDX-License-Identifier: Apache-2.0
 *
 * hayai-c: Google Benchmark from C.
 *
 *     #include <hayai.h>
 *     #include <string.h>
 *
 *     HAYAI_BENCHMARK(text, length)
 *     {
 *         const char *text = "hello";
 *         for (int64_t n; (n = hayai_state_batch(state)) > 0;)
 *             for (int64_t i = 0; i < n; i++) {
 *                 hayai_do_not_optimize_in_out(text);
 *                 size_t length = strlen(text);
 *                 hayai_do_not_optimize(length);
 *             }
 *     }
 *
 *     HAYAI_MAIN()
 *
 * The first of the two barriers hides the text from the compiler, which would otherwise compute the
 * length once, at compile time. The second one keeps the result.
 *
 * Without macros and without a command line:
 *
 *     hayai_suite *suite = hayai_suite_create();
 *     hayai_suite_add(suite, "copy", copy, &buffers, NULL);
 *     hayai_status status = hayai_suite_run(suite, NULL, NULL);
 *     if (status != HAYAI_OK)
 *         fprintf(stderr, "%s: %s\n", hayai_status_string(status), hayai_last_message());
 *     hayai_suite_destroy(suite);
 *
 * Plain C17; can be included from C++. Nothing here throws, aborts or exits: whatever can fail
 * returns a status and leaves a message for the calling thread. docs/reference.md says for each
 * function who owns what, which threads may call it and how it fails. These rules hold for all:
 *
 * - Strings that are passed in are copied. Functions and `user` pointers must stay valid until the
 *   suite is destroyed.
 * - A suite and its benchmarks are used by one thread at a time; different suites by any threads.
 *   A state is used only by the thread whose function got it, until that function returns.
 * - One run at a time in a process: Google Benchmark's registry is one, and a run owns it. What C++
 *   code registered there is removed by the first run.
 * - A NULL handle is refused: HAYAI_ERROR_ARGUMENT, or 0, false, "" or NULL, with a message. */
#ifndef HAYAI_H
#define HAYAI_H

#ifndef __GNUC__
#error "hayai.h needs gcc or clang: its barriers and macros use their extensions"
#elif !defined(__cplusplus) && (!defined(__STDC_VERSION__) || __STDC_VERSION__ < 201112L)
#error "hayai.h needs C11 or newer: compile with -std=c11, -std=c17 or newer"
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Unknown values of an enum are refused. The fixed underlying type makes them possible in C++. */
#ifdef __cplusplus
#define HAYAI_INT : int
#else
#define HAYAI_INT
#endif

/* ---- Versions --------------------------------------------------------------------------------
 * The ABI: libraries with the same soname (libhayai.so.0.2: major and minor version) are
 * compatible: no function is removed or changed.
 * - Structs that you fill have a member `struct_size`: set it to the sizeof, or leave it 0 for the
 *   struct of version 0.2.0. Later versions may add members at the end, and read them only where
 *   struct_size says that they exist. A struct that is larger than the library's is refused unless
 *   the rest is zero.
 * - Structs that a callback gets one at a time (hayai_context, hayai_repetition) may get more
 *   members at their end.
 * - All other structs keep their size. */

#define HAYAI_VERSION_MAJOR 0
#define HAYAI_VERSION_MINOR 2
#define HAYAI_VERSION_PATCH 0
#define HAYAI_VERSION_STRING "0.2.0"
#define HAYAI_VERSION                                                                              \
    (HAYAI_VERSION_MAJOR * 10000 + HAYAI_VERSION_MINOR * 100 + HAYAI_VERSION_PATCH)

const char *hayai_version(void);                  /* version of the linked library: "0.2.0" */
const char *hayai_google_benchmark_version(void); /* of Google Benchmark: "1.7.1" */

/* Returns Google Benchmark's build type: "release", "debug" (Debian's package, which has
 * assertions), or "unknown". It says nothing about how the caller was built. */
const char *hayai_library_build(void);

/* ---- Errors ---------------------------------------------------------------------------------- */

typedef enum hayai_status HAYAI_INT {
    HAYAI_OK = 0,
    HAYAI_ERROR_ARGUMENT,    /* an invalid value, or one that contradicts an earlier one */
    HAYAI_ERROR_MEMORY,      /* out of memory */
    HAYAI_ERROR_FAILED,      /* Google Benchmark failed for a reason of its own */
    HAYAI_STOPPED,           /* a callback requested a stop; not an error */
    HAYAI_ERROR_STATE,       /* not possible now, such as a pause before the loop began */
    HAYAI_ERROR_LIMIT,       /* more than this library or the system supports */
    HAYAI_ERROR_IO,          /* an output could not be opened or written */
    HAYAI_ERROR_UNSUPPORTED, /* not in this version of Google Benchmark or hayai */
    HAYAI_ERROR_NO_MATCH,    /* the filter matches no benchmark */
} hayai_status;

/* Returns a short fixed text for a status, such as "invalid argument"; never NULL. */
const char *hayai_status_string(hayai_status status);

/* Returns one line that says exactly what went wrong in this thread's last call, or "" if it
 * succeeded; never NULL. Valid until this thread's next call. Calls that cannot fail do not change
 * it. */
const char *hayai_last_message(void);

/* For callbacks: stores a message (NULL: none) for hayai_last_message() and returns the status.
 *     return hayai_fail(HAYAI_ERROR_IO, "the socket is closed"); */
hayai_status hayai_fail(hayai_status status, const char *message);

/* ---- State: what a benchmark function gets --------------------------------------------------- */

typedef struct hayai_state hayai_state;
typedef struct hayai_benchmark hayai_benchmark;
typedef struct hayai_suite hayai_suite;

/* A benchmark: the code before its loop is set-up, the code after it is clean-up, and neither is
 * timed. It is called several times (for the search for the iteration count, for each repetition,
 * once per thread), each time with a new state, and must run its loop to the end each time unless
 * it skips. If it returns early, the run is reported as an error. It must return: see
 * hayai_reset(). */
typedef void hayai_function(hayai_state *state, void *user);

/* The loop, in one of two forms. Timing begins within the first call of either and ends within the
 * call that returns false or 0, so that nothing else in the function is timed. With threads the
 * first and the last call wait for all of them.
 *     while (hayai_state_keep_running(state)) { once; }
 * costs one call per iteration; the whole-batch form costs one call in all, and returns the number
 * of iterations to run now:
 *     for (int64_t n; (n = hayai_state_batch(state)) > 0;)
 *         for (int64_t i = 0; i < n; i++) { once; } */
bool hayai_state_keep_running(hayai_state *state);
int64_t hayai_state_batch(hayai_state *state);

/* True: run n more iterations now (n > 0). The last batch may exceed the count; it counts in
 * full. */
bool hayai_state_keep_running_batch(hayai_state *state, int64_t n);

/* Stop and resume timing of the calling thread inside the loop. HAYAI_ERROR_STATE outside the loop,
 * when paused or not paused already, and after a skip. Both read the clocks: about 1 us. */
hayai_status hayai_state_pause(hayai_state *state);
hayai_status hayai_state_resume(hayai_state *state);

/* Pauses until the end of the block, however it is left:
 *     { HAYAI_SCOPED_PAUSE(state); refill(buffer); } */
#define HAYAI_SCOPED_PAUSE(state)                                                                  \
    hayai_state *HAYAI_JOIN(hayai_paused_, __LINE__)                                               \
        __attribute__((cleanup(hayai_scoped_pause_end), unused)) = hayai_scoped_pause_begin(state)
hayai_state *hayai_scoped_pause_begin(hayai_state *state); /* NULL if it did not pause */
void hayai_scoped_pause_end(hayai_state **paused);

/* Sets the seconds of one iteration, for hayai_benchmark_use_manual_time(). Finite, >= 0. */
hayai_status hayai_state_set_iteration_time(hayai_state *state, double seconds);

/* Reports this run as failed (error) or as left out (message); the loop's next call ends it. Only
 * the first call counts: later ones return HAYAI_ERROR_STATE. Google Benchmark before 1.8 knows
 * errors only; hayai keeps the difference in all outputs but Google Benchmark's console and CSV. */
hayai_status hayai_state_skip_with_error(hayai_state *state, const char *message);
hayai_status hayai_state_skip_with_message(hayai_state *state, const char *message);
bool hayai_state_skipped(const hayai_state *state);        /* one of the two was called */
bool hayai_state_error_occurred(const hayai_state *state); /* skip_with_error was called */

/* Returns an argument of this instance. Beyond the last one: 0, and the run is an error. */
int64_t hayai_state_range(const hayai_state *state, size_t index);
size_t hayai_state_range_count(const hayai_state *state);

const char *hayai_state_name(const hayai_state *state); /* "copy/64/threads:2" */
int hayai_state_threads(const hayai_state *state);
int hayai_state_thread_index(const hayai_state *state);       /* 0 ... threads - 1 */
int64_t hayai_state_iterations(const hayai_state *state);     /* done, after the loop; 0 before */
int64_t hayai_state_max_iterations(const hayai_state *state); /* number to be done */

/* Set what this thread processed in all iterations together, >= 0; reported as a rate. */
hayai_status hayai_state_set_bytes_processed(hayai_state *state, int64_t bytes);
hayai_status hayai_state_set_items_processed(hayai_state *state, int64_t items);
int64_t hayai_state_bytes_processed(const hayai_state *state);
int64_t hayai_state_items_processed(const hayai_state *state);
hayai_status hayai_state_set_label(hayai_state *state, const char *label);

/* Sets N of the complexity fit, > 0. Thread 0 must set it if the benchmark has a complexity. */
hayai_status hayai_state_set_complexity_n(hayai_state *state, int64_t n);
int64_t hayai_state_complexity_n(const hayai_state *state);

/* User counters. The flags can be combined. Each changes the reported value: */
typedef uint32_t hayai_counter_flags;
#define HAYAI_COUNTER_DEFAULTS UINT32_C(0)
#define HAYAI_COUNTER_IS_RATE UINT32_C(1)                /* divided by the seconds of the run */
#define HAYAI_COUNTER_AVG_THREADS UINT32_C(2)            /* divided by the threads */
#define HAYAI_COUNTER_IS_ITERATION_INVARIANT UINT32_C(4) /* multiplied by the iterations */
#define HAYAI_COUNTER_AVG_ITERATIONS UINT32_C(8)         /* divided by the iterations */
#define HAYAI_COUNTER_INVERT UINT32_C(0x80000000)        /* inverted, last of all */
#define HAYAI_COUNTER_AVG_THREADS_RATE (HAYAI_COUNTER_IS_RATE | HAYAI_COUNTER_AVG_THREADS)
#define HAYAI_COUNTER_ITERATION_INVARIANT_RATE                                                     \
    (HAYAI_COUNTER_IS_RATE | HAYAI_COUNTER_IS_ITERATION_INVARIANT)
#define HAYAI_COUNTER_AVG_ITERATIONS_RATE (HAYAI_COUNTER_IS_RATE | HAYAI_COUNTER_AVG_ITERATIONS)

/* The meaning of "k" where the counter is printed for people. */
typedef enum hayai_one_k HAYAI_INT {
    HAYAI_ONE_K_1000 = 1000,
    HAYAI_ONE_K_1024 = 1024,
} hayai_one_k;

typedef struct hayai_counter_value {
    const char *name;
    double value;
    hayai_counter_flags flags;
    hayai_one_k one_k;
} hayai_counter_value;

/* Sets this thread's counter; the values of all threads are added. A counter must keep its flags in
 * all runs of an instance, else HAYAI_ERROR_ARGUMENT (Google Benchmark would abort). */
hayai_status hayai_state_set_counter(hayai_state *state, const char *name, double value,
                                     hayai_counter_flags flags, hayai_one_k one_k);

/* Reads a counter; HAYAI_ERROR_ARGUMENT if there is none of this name. counter->name is `name`. */
hayai_status hayai_state_get_counter(const hayai_state *state, const char *name,
                                     hayai_counter_value *counter);

/* Returns the benchmark::State * itself, for a callback in C++; NULL in set-up and tear-down. */
void *hayai_state_native(hayai_state *state);

/* ---- Suites ---------------------------------------------------------------------------------- */

/* Makes a suite; NULL when out of memory. */
hayai_suite *hayai_suite_create(void);

/* Destroys a suite; accepts NULL. The default suite is only emptied. A running suite is destroyed
 * when its run ends. */
void hayai_suite_destroy(hayai_suite *suite);

/* Adds a benchmark (a family, once it has arguments or threads). `out` may be NULL; the suite owns
 * the benchmark. A benchmark whose name begins with DISABLED_ is never run. */
hayai_status hayai_suite_add(hayai_suite *suite, const char *name, hayai_function *function,
                             void *user, hayai_benchmark **out);

/* Returns the suite that the macros of hayai_macros.h fill; NULL when out of memory. */
hayai_suite *hayai_default_suite(void);

/* Calls `each` with the full name of every instance that matches the filter (NULL: all), in order;
 * if it returns non-zero, stops with HAYAI_STOPPED. A filter is a POSIX extended regular expression
 * of at most 4096 characters, without back-references, that is searched for in the name; "-..."
 * selects all names that do not match. */
typedef int hayai_name_callback(const char *name, void *user);
hayai_status hayai_suite_list(hayai_suite *suite, const char *filter, hayai_name_callback *each,
                              void *user);

/* Ends a run that will never return, because one of its callbacks was left by longjmp. Until then
 * each further run is refused: "another run is under way". Must be called on the thread that
 * jumped. The resources of the run are lost: its memory, the files that it had opened, and its
 * threads if the benchmark had several (they wait for ever, so only a benchmark of one thread may
 * be left so). HAYAI_ERROR_STATE when no run is under way. */
hayai_status hayai_reset(void);

/* ---- Interleaved repetitions ----------------------------------------------------------------- */

typedef struct hayai_repetition {
    const char *name;    /* of the instance: "copy/64" */
    size_t benchmark;    /* index in order of adding */
    unsigned repetition; /* 0 ... repetitions - 1, within this instance */
    unsigned order;      /* index in the whole random order */
    int64_t iterations;  /* per thread */
    double real_seconds; /* per iteration, over all threads' iterations; 0: an error */
    double cpu_seconds;
    const char *error; /* NULL, or the skip message */
    size_t counter_count;
    const struct hayai_counter_value *counters;
    unsigned instance; /* number of the benchmark's arguments and thread count */
    int threads;
    const char *label; /* "" if there is none */
    size_t argument_count;
    const int64_t *arguments;
} hayai_repetition;

/* The repetition and its strings are valid during the call only. Non-zero stops: HAYAI_STOPPED. */
typedef int hayai_repetition_callback(const hayai_repetition *repetition, void *user);

typedef struct hayai_interleave {
    uint64_t seed;
    unsigned repetitions;   /* of each instance, > 0; an instance with fewer repetitions of its
                               own leaves out the later rounds */
    double min_seconds;     /* minimum duration of a repetition; 0: 0.5 */
    int64_t max_iterations; /* limit for one call of the function; 0: none */
    hayai_repetition_callback *on_repetition;
    void *user;
    const char *filter; /* as in hayai_suite_list(); NULL: all */
    size_t struct_size; /* sizeof(hayai_interleave) or 0 */
} hayai_interleave;

/* Runs every instance `repetitions` times (see there), in an order that the seed determines, and
 * reports each repetition at once. (Google Benchmark's own interleaving reports an instance only
 * when its last repetition is done, and its order cannot be reproduced.)
 *
 * The iterations of each instance are determined first, once, in the order of adding, by Google
 * Benchmark's own search (which calls the function as a repetition does). Each round is then a new
 * random permutation of all instances, not one shuffle of all repetitions: a slow drift of the
 * machine affects all benchmarks alike, each round has one pair of any two of them, and an
 * interrupted run is balanced up to its last round. The order depends only on the seed and the
 * number of instances.
 *
 * An instance that skips during the search is reported once, in the place of its first repetition,
 * and not run again. Nothing is printed. */
hayai_status hayai_suite_run_interleaved(hayai_suite *suite, const hayai_interleave *interleave);

/* ---- Barriers against optimization ----------------------------------------------------------- */

/* The value must be computed, and memory that it points to may be read and written by others. The
 * compiler still knows the value: hide inputs by hayai_do_not_optimize_in_out(). */
#define hayai_do_not_optimize(value) __asm__ volatile("" : : "r,m"(value) : "memory")

/* All writes so far must reach memory, which other code may then change. This holds for memory that
 * other code can access. It does not hold for memory that you allocated and passed to no function:
 * pass its address to hayai_do_not_optimize(), or clang removes the writes. */
#define hayai_clobber() __asm__ volatile("" : : : "memory")

/* The same for an lvalue that is read and written: its value may have changed, so that results
 * computed from it cannot be known at compile time or moved out of the loop. */
#ifdef __clang__
#define hayai_do_not_optimize_in_out(lvalue) __asm__ volatile("" : "+r,m"(lvalue) : : "memory")
#else
#define hayai_do_not_optimize_in_out(lvalue) __asm__ volatile("" : "+m,r"(lvalue) : : "memory")
#endif

#define HAYAI_JOIN_(a, b) a##b
#define HAYAI_JOIN(a, b) HAYAI_JOIN_(a, b)

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#include "hayai_benchmark.h"
#include "hayai_report.h"
#include "hayai_macros.h"

#endif
