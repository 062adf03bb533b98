/* SPDX-License-Identifier: Apache-2.0
 *
 * Settings of a benchmark: arguments, times, threads, statistics, set-up.
 *
 *     hayai_benchmark *benchmark;
 *     hayai_suite_add(suite, "copy", copy, NULL, &benchmark);
 *     hayai_benchmark_range(benchmark, 8, 8 << 10);
 *     hayai_benchmark_unit(benchmark, HAYAI_UNIT_MICROSECOND);
 *
 * Each call returns its status, and the first failure also stays with the benchmark: a run of its
 * suite returns it. So a chain of calls needs no checks of its own. While its suite runs, a
 * benchmark cannot be changed: HAYAI_ERROR_STATE. Included by hayai.h. */
#ifndef HAYAI_H
#include "hayai.h"
#endif

#ifndef HAYAI_BENCHMARK_H
#define HAYAI_BENCHMARK_H

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Sets or returns the name ("" for NULL). The returned string is valid until the name changes. */
hayai_status hayai_benchmark_name(hayai_benchmark *benchmark, const char *name);
const char *hayai_benchmark_get_name(const hayai_benchmark *benchmark);

/* ---- Arguments: one instance for each set of arguments ---------------------------------------
 * All sets of a benchmark have the same number of arguments. A benchmark can have a million
 * instances (HAYAI_ERROR_LIMIT).
 */

hayai_status hayai_benchmark_arg(hayai_benchmark *benchmark, int64_t value);
hayai_status hayai_benchmark_args(hayai_benchmark *benchmark, const int64_t *values, size_t count);

/* Adds low, high and the powers of the multiplier between them; low <= high. */
hayai_status hayai_benchmark_range(hayai_benchmark *benchmark, int64_t low, int64_t high);

typedef struct hayai_range {
    int64_t low, high;
} hayai_range;

/* Adds every combination of such ranges. */
hayai_status hayai_benchmark_ranges(hayai_benchmark *benchmark, const hayai_range *ranges,
                                    size_t count);

/* Adds low, low + step, ... up to high; step > 0. */
hayai_status hayai_benchmark_dense_range(hayai_benchmark *benchmark, int64_t low, int64_t high,
                                         int64_t step);

typedef struct hayai_list {
    const int64_t *values;
    size_t count; /* > 0 */
} hayai_list;

/* Adds every combination of the lists' values; the first list's values change fastest. */
hayai_status hayai_benchmark_args_product(hayai_benchmark *benchmark, const hayai_list *lists,
                                          size_t count);

/* Set names of the arguments, which the instances' names contain: "copy/rows:8/columns:64". */
hayai_status hayai_benchmark_arg_name(hayai_benchmark *benchmark, const char *name);
hayai_status hayai_benchmark_arg_names(hayai_benchmark *benchmark, const char *const *names,
                                       size_t count);

/* Returns the name of an argument, "" if it has none; NULL beyond the last one that was named.
 * Valid until the names change. */
const char *hayai_benchmark_get_arg_name(const hayai_benchmark *benchmark, size_t index);

/* Sets the multiplier of later ranges: > 1, initially 8. */
hayai_status hayai_benchmark_range_multiplier(hayai_benchmark *benchmark, int multiplier);

typedef void hayai_apply_function(hayai_benchmark *benchmark, void *user);
hayai_status hayai_benchmark_apply(hayai_benchmark *benchmark, hayai_apply_function *function,
                                   void *user);

/* Write the lists alone, for args_product: at most `capacity` values; *count is their total
 * number. */
hayai_status hayai_create_range(int64_t low, int64_t high, int multiplier, int64_t *values,
                                size_t capacity, size_t *count);
hayai_status hayai_create_dense_range(int64_t low, int64_t high, int64_t step, int64_t *values,
                                      size_t capacity, size_t *count);

/* ---- Time ------------------------------------------------------------------------------------ */

typedef enum hayai_unit HAYAI_INT {
    HAYAI_UNIT_NANOSECOND = 0,
    HAYAI_UNIT_MICROSECOND,
    HAYAI_UNIT_MILLISECOND,
    HAYAI_UNIT_SECOND,
} hayai_unit;

const char *hayai_unit_string(hayai_unit unit); /* "ns", "us", "ms", "s" */
double hayai_unit_multiplier(hayai_unit unit);  /* units in a second: 1e9, 1e6, 1e3, 1 */

/* Sets the unit of reported times. */
hayai_status hayai_benchmark_unit(hayai_benchmark *benchmark, hayai_unit unit);

/* Sets the minimum duration of a run, > 0; not together with iterations(). */
hayai_status hayai_benchmark_min_time(hayai_benchmark *benchmark, double seconds);

/* Sets the minimum duration of the warm-up, >= 0; not together with iterations(). Google Benchmark
 * ignores it in a benchmark without min_time(). */
hayai_status hayai_benchmark_min_warm_up_time(hayai_benchmark *benchmark, double seconds);

/* Sets a fixed number of iterations for each run, > 0; not together with the two above. */
hayai_status hayai_benchmark_iterations(hayai_benchmark *benchmark, int64_t iterations);

/* Sets the repetitions, > 0. From two on there are aggregates: mean, median, stddev, cv. */
hayai_status hayai_benchmark_repetitions(hayai_benchmark *benchmark, int repetitions);

/* Report only the aggregates: in all outputs, or on standard output only. */
hayai_status hayai_benchmark_report_aggregates_only(hayai_benchmark *benchmark, bool value);
hayai_status hayai_benchmark_display_aggregates_only(hayai_benchmark *benchmark, bool value);

/* Measures the CPU time of the whole process instead of the thread's. */
hayai_status hayai_benchmark_measure_process_cpu_time(hayai_benchmark *benchmark);

/* Compute iterations and rates from real time, or from the times that were passed to
 * hayai_state_set_iteration_time(), instead of CPU time. Not both. */
hayai_status hayai_benchmark_use_real_time(hayai_benchmark *benchmark);
hayai_status hayai_benchmark_use_manual_time(hayai_benchmark *benchmark);

/* ---- Statistics ------------------------------------------------------------------------------ */

typedef enum hayai_complexity HAYAI_INT {
    HAYAI_COMPLEXITY_NONE = 0,
    HAYAI_COMPLEXITY_1,
    HAYAI_COMPLEXITY_N,
    HAYAI_COMPLEXITY_N_SQUARED,
    HAYAI_COMPLEXITY_N_CUBED,
    HAYAI_COMPLEXITY_LOG_N,
    HAYAI_COMPLEXITY_N_LOG_N,
    HAYAI_COMPLEXITY_AUTO,     /* the one that fits best */
    HAYAI_COMPLEXITY_FUNCTION, /* hayai_benchmark_complexity_function() */
} hayai_complexity;

/* Fits time = coefficient * f(N) over all runs of the benchmark's instances by least squares, and
 * reports coefficient and relative root mean square. */
hayai_status hayai_benchmark_complexity(hayai_benchmark *benchmark, hayai_complexity complexity);
typedef double hayai_complexity_function(int64_t n, void *user);
hayai_status hayai_benchmark_complexity_function(hayai_benchmark *benchmark,
                                                 hayai_complexity_function *function, void *user);

typedef enum hayai_statistic_unit HAYAI_INT {
    HAYAI_STATISTIC_UNIT_TIME = 0,
    HAYAI_STATISTIC_UNIT_PERCENTAGE,
} hayai_statistic_unit;

/* Adds a user-defined statistic over the repetitions: the values are seconds per iteration (and
 * each counter's values); count > 1. */
typedef double hayai_statistic_function(const double *values, size_t count, void *user);
hayai_status hayai_benchmark_compute_statistic(hayai_benchmark *benchmark, const char *name,
                                               hayai_statistic_function *function, void *user,
                                               hayai_statistic_unit unit);

/* Adds the statistics q1 and q3: the quartiles, with linear interpolation between values. */
hayai_status hayai_benchmark_quartiles(hayai_benchmark *benchmark);

/* ---- Threads --------------------------------------------------------------------------------- */

/* Add one instance for each thread count, 1 ... HAYAI_MAX_THREADS (HAYAI_ERROR_LIMIT). Ranges
 * double; a dense range goes by steps and ends with the greatest. Before each run with several
 * threads, hayai creates as many as a test: if the system refuses, the run of the suite ends with
 * HAYAI_ERROR_LIMIT. */
#define HAYAI_MAX_THREADS 8192
hayai_status hayai_benchmark_threads(hayai_benchmark *benchmark, int threads);
hayai_status hayai_benchmark_thread_range(hayai_benchmark *benchmark, int least, int greatest);
hayai_status hayai_benchmark_dense_thread_range(hayai_benchmark *benchmark, int least, int greatest,
                                                int step);
hayai_status hayai_benchmark_thread_per_cpu(hayai_benchmark *benchmark);

/* User-defined threads. The runner calls body(i, work) once for each i of 0 ... threads - 1, all at
 * the same time, each on its own thread (one may be the calling thread), and returns when all have
 * returned. HAYAI_ERROR_UNSUPPORTED before Google Benchmark 1.9.4. */
typedef void hayai_thread_body(int index, void *work);
typedef void hayai_thread_runner(int threads, hayai_thread_body *body, void *work, void *user);
hayai_status hayai_benchmark_thread_runner(hayai_benchmark *benchmark, hayai_thread_runner *runner,
                                           void *user);

/* ---- Set-up ---------------------------------------------------------------------------------- */

/* Called once before and once after each call of the function, regardless of its threads. The state
 * has the name, ranges and threads. At most HAYAI_MAX_SET_UPS benchmarks of a run can have a set-up
 * or tear-down: HAYAI_ERROR_LIMIT. */
#define HAYAI_MAX_SET_UPS 1024
typedef void hayai_set_up_function(const hayai_state *state, void *user);
hayai_status hayai_benchmark_set_up(hayai_benchmark *benchmark, hayai_set_up_function *function,
                                    void *user);
hayai_status hayai_benchmark_tear_down(hayai_benchmark *benchmark, hayai_set_up_function *function,
                                       void *user);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
