/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs and reports: the settings of a run, the reported data, reporters and formats.
 *
 *     const char *outputs[] = {"json:result.json", "junit:result.xml"};
 *     hayai_options options = {.repetitions = 9, .outputs = outputs, .output_count = 2};
 *     hayai_suite_run(suite, &options, NULL);
 *
 * Included by hayai.h. */
#ifndef HAYAI_H
#include "hayai.h"
#endif

#ifndef HAYAI_REPORT_H
#define HAYAI_REPORT_H

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- The reported data ----------------------------------------------------------------------- */

typedef enum hayai_run_type HAYAI_INT {
    HAYAI_RUN_TYPE_ITERATION = 0,
    HAYAI_RUN_TYPE_AGGREGATE,
} hayai_run_type;
typedef enum hayai_skip HAYAI_INT {
    HAYAI_SKIP_NONE = 0,
    HAYAI_SKIP_MESSAGE,
    HAYAI_SKIP_ERROR,
} hayai_skip;

/* The results of a memory manager; HAYAI_MEMORY_UNKNOWN for those that it did not measure. */
#define HAYAI_MEMORY_UNKNOWN INT64_MAX
typedef struct hayai_memory {
    int64_t allocations;
    int64_t max_bytes_used;
    int64_t total_allocated_bytes;
    int64_t net_heap_growth;
} hayai_memory;

/* One repetition, or one aggregate of an instance's repetitions. Strings are never NULL. */
typedef struct hayai_run {
    const char *name;          /* "copy/64/repeats:3_mean": run_name, and the aggregate's name */
    const char *run_name;      /* "copy/64/repeats:3" */
    const char *function_name; /* "copy" */
    const char *arguments;     /* "64" */
    int64_t family;            /* among the benchmarks of this run */
    int64_t instance;          /* within the family */
    hayai_run_type type;
    const char *aggregate_name; /* "mean", "BigO", "RMS"; "" */
    hayai_statistic_unit aggregate_unit;
    const char *label;
    hayai_skip skipped;
    const char *message; /* of the error or skip; "" */
    int64_t iterations;  /* of all threads; for an aggregate: repetitions */
    int64_t threads;
    int64_t repetition; /* 0 ...; -1 for an aggregate */
    int64_t repetitions;
    hayai_unit unit;
    /* Times of an iteration, in `unit`. For an aggregate whose unit is a percentage: the fraction
     * itself. BigO: the coefficient, in `unit`. Skipped: 0. */
    double real_time;
    double cpu_time;
    double real_seconds; /* of the whole run, not of an iteration; 0 for an aggregate */
    double cpu_seconds;
    bool big_o, rms;
    const char *complexity; /* for BigO: "(1)", "N", "N^2", "N^3", "lgN", "NlgN", "f(N)"; else "" */
    int64_t complexity_n;
    size_t counter_count;
    const hayai_counter_value *counters; /* in the order of their names */
    const hayai_memory *memory;          /* NULL without a memory manager */
    double allocations_per_iteration;
    uint64_t reserved[8]; /* 0 */
} hayai_run;

typedef struct hayai_cache {
    const char *type; /* "Data", "Instruction", "Unified" */
    int level;
    int64_t bytes;
    int sharing; /* number of processors that share it */
} hayai_cache;

typedef struct hayai_custom {
    const char *key, *value;
} hayai_custom;

/* The machine and the libraries. */
typedef struct hayai_context {
    const char *date; /* "2024-02-29T12:00:00+01:00" */
    const char *host_name;
    const char *executable;
    int processors;
    double cycles_per_second;
    int scaling; /* of the CPU's frequency: 1 enabled, 0 disabled, -1 unknown */
    size_t cache_count;
    const hayai_cache *caches;
    size_t load_count;
    const double *loads;
    const char *library_version;
    const char *library_build; /* hayai_library_build() */
    size_t custom_count;
    const hayai_custom *custom; /* in the order of their keys */
    size_t name_width;          /* length of the longest name */
} hayai_context;

/* ---- Reporters ------------------------------------------------------------------------------- */

/* A user-defined reporter. Any callback may be NULL. A callback that returns anything but HAYAI_OK
 * stops the run, which returns that status (HAYAI_STOPPED to stop on purpose, or an error) with the
 * message that the callback left by hayai_fail(). `finalize` is still called once, if `context`
 * was. All arguments are valid during the call only. All callbacks run on the thread that runs the
 * suite. */
typedef struct hayai_reporter {
    hayai_status (*context)(const hayai_context *machine, void *user);
    hayai_status (*run)(const hayai_run *run, void *user); /* each repetition, each aggregate */
    /* The same runs in groups: all repetitions of an instance, then all its aggregates. (With
     * hayai's interleaving: single repetitions.) */
    hayai_status (*report)(const hayai_run *runs, size_t count, void *user);
    hayai_status (*finalize)(void *user);
    void *user;         /* passed to each callback */
    bool file;          /* counts as a file, for "display aggregates only" */
    size_t struct_size; /* sizeof(hayai_reporter) or 0; the same in all of an array */
    /* Called instead of the others by hayai_suite_report_list(): the names of the instances. */
    hayai_status (*list)(const char *const *names, size_t count, void *user);
} hayai_reporter;

/* ---- Settings of a run ----------------------------------------------------------------------- */

typedef enum hayai_color HAYAI_INT {
    HAYAI_COLOR_AUTO = 0,
    HAYAI_COLOR_ALWAYS,
    HAYAI_COLOR_NEVER
} hayai_color;

/* All zeros (or NULL) are Google Benchmark's defaults. */
typedef struct hayai_options {
    const char *filter; /* as in hayai_suite_list(); NULL: all */
    double min_seconds; /* of a run, for benchmarks without their own; 0: 0.5 */
    double min_warm_up_seconds;
    int64_t iterations;       /* for benchmarks without their own; 0: by min_seconds */
    unsigned repetitions;     /* for benchmarks without their own; 0: 1 */
    bool random_interleaving; /* Google Benchmark's; reports an instance when it is finished */
    bool interleave;          /* hayai's: as hayai_suite_run_interleaved(), all instances with */
    uint64_t seed;            /* `repetitions`, aggregates at the end */
    bool report_aggregates_only;
    bool display_aggregates_only;
    bool quartiles;        /* for every benchmark */
    hayai_unit unit;       /* for benchmarks without their own */
    bool counters_tabular; /* on the console */
    hayai_color color;     /* on the console */
    /* "format:path", or "format" for standard output. Formats: "json" (strict), "jsonl", "tsv",
     * "junit", "markdown"; Google Benchmark's own "console", "csv", "google-json"; "none". If none
     * goes to standard output and there is no user-defined reporter, "console" does. Two of them
     * cannot share standard output or a file. A value that is not finite is null in JSON, and empty
     * in TSV. */
    const char *const *outputs;
    size_t output_count;
    const hayai_reporter *reporters;
    size_t reporter_count;
    const char *perf_counters; /* names for libpfm, if the library was built with it */
    int verbosity;
    bool dry_run;           /* one iteration of one repetition each */
    const char *executable; /* the name to report; NULL: the program's */
    void *owned;            /* by hayai_options_parse() */
    size_t struct_size;     /* sizeof(hayai_options) or 0 */
} hayai_options;

typedef struct hayai_summary {
    size_t instances; /* number that matched */
    size_t runs;      /* number of reported repetitions */
    size_t errors;    /* how many of them were skipped with an error */
    size_t messages;  /* how many of them were skipped with a message */
    size_t reserved[4];
} hayai_summary;

/* Runs a suite. `options` may be NULL (defaults), `summary` too. A benchmark that skips with an
 * error is in the report and the summary; the status is still HAYAI_OK. */
hayai_status hayai_suite_run(hayai_suite *suite, const hayai_options *options,
                             hayai_summary *summary);

/* Reports the names of the instances that match options->filter instead of running them, to the
 * outputs and to the reporters that have `list`. "json" and "google-json" write {"benchmarks":
 * [{"name": ...}]}, "jsonl" one object per line, "tsv" and "csv" a column `name`, all others one
 * name per line. */
hayai_status hayai_suite_report_list(hayai_suite *suite, const hayai_options *options);

/* ---- The command line ------------------------------------------------------------------------ */

typedef enum hayai_command HAYAI_INT {
    HAYAI_COMMAND_RUN = 0,
    HAYAI_COMMAND_LIST,
    HAYAI_COMMAND_HELP
} hayai_command;

/* Reads the environment's BENCHMARK_... and then the arguments into *options and *command, and
 * removes the recognized arguments from argv; the caller handles the others. hayai_options_help()
 * lists the options. `options` points into argv, and owns a list: hayai_options_release(). After a
 * failure it is empty. */
hayai_status hayai_options_parse(hayai_options *options, hayai_command *command, int *argc,
                                 char **argv);
void hayai_options_release(hayai_options *options);
const char *hayai_options_help(void);

/* The main function of a benchmark program: runs the default suite as the arguments request. Prints
 * to standard output, and one line for each failure to standard error. Returns 0: success, 1: a
 * benchmark or the run failed, 2: invalid arguments. */
int hayai_main(int argc, char **argv);

/* ---- Settings for all runs ------------------------------------------------------------------- */

/* Adds a user-defined line to the reports' context. A key has one value: HAYAI_ERROR_ARGUMENT for
 * another one. */
hayai_status hayai_add_context(const char *key, const char *value);

/* Measures memory in one more run of at most 16 iterations between start and stop. NULL: none. The
 * struct is copied. */
typedef struct hayai_memory_manager {
    void (*start)(void *user);
    void (*stop)(hayai_memory *result, void *user);
    void *user;
    size_t struct_size; /* sizeof(hayai_memory_manager) or 0 */
} hayai_memory_manager;
hayai_status hayai_register_memory_manager(const hayai_memory_manager *manager);

/* Profiles one more run of one iteration. NULL: none. The struct is copied. HAYAI_ERROR_UNSUPPORTED
 * before Google Benchmark 1.8.5. */
typedef struct hayai_profiler_manager {
    void (*after_set_up_start)(void *user);
    void (*before_tear_down_stop)(void *user);
    void *user;
    size_t struct_size; /* sizeof(hayai_profiler_manager) or 0 */
} hayai_profiler_manager;
hayai_status hayai_register_profiler_manager(const hayai_profiler_manager *manager);

/* Removes the custom context and the managers. */
void hayai_shutdown(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
