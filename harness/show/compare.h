/* Compares two builds or two stored runs, old against new: pairs of measurements, and the verdict over all pairs.
 * show/duet.c measures the pairs of two builds. compare.c reads those of two runs, and decides what the figures of
 * either mean. compare_print.c prints the comparison for people and for programs.
 *
 *     run_comparison comparison = {.settings = {.tool = "compare", .files = {"previous", "latest"}, ...}};
 *     compare_runs(&comparison, "results/lnbench.db");
 *     comparison_print(&comparison, &out);
 *     exit_code code = comparison_exit_code(&comparison);
 *     comparison_free(&comparison);
 */
#ifndef LNBENCH_COMPARE_H
#define LNBENCH_COMPARE_H

#include "base/arena.h"
#include "domain/coverage.h"
#include "store/bootstrap.h"
#include "store/store.h"

enum { BASE, NEW, SIDES };
enum { LEAST_PROCESSES = 5 }; /* that a run needs for its speeds to be compared */
enum { WEIGHT_MOVED = 100 };  /* least weight of a pair that changed */

typedef enum speed_verdict {
    SPEED_NOT_MEASURED,
    SPEED_SAME,
    SPEED_FASTER,
    SPEED_INCONCLUSIVE,
    SPEED_SLOWER,
} speed_verdict; /* from least to most important, here and below */

typedef enum accuracy_verdict {
    ACCURACY_NOT_JUDGED,
    ACCURACY_IDENTICAL, /* every bit of every placement */
    ACCURACY_MORE,
    ACCURACY_CHANGED,
    ACCURACY_LESS,
} accuracy_verdict;

typedef enum accuracy_gate { GATE_NO_WORSE, GATE_EXACT, GATE_BOUND } accuracy_gate;

/* The judge's result for one input on one side. */
typedef struct judged_side {
    case_verdict verdict;
    ln_metrics metrics;
    uint64_t output_hash; /* of every bit of the output */
} judged_side;

/* The differences between both sides over all inputs of a pair. */
typedef struct accuracy_tally {
    size_t judged, differing, worse, better; /* inputs with a result on both sides */
    size_t unsupported;                      /* inputs that neither side supports */
    size_t gained;                           /* inputs that new supports and base does not */
    size_t missing;                          /* other inputs without a result on one side */
    /* All are NULL if there is none. */
    const char *refusal; /* why base does not support its first unsupported input */
    const char *first_missing,
        *first_missing_why; /* the first missing input, and "new: unsupported (torch only)" */
    const char *worst;      /* the worst input that became worse, else the first that differs */
    double worst_growth;    /* its error in new / in base; infinite: a new failure */
} accuracy_tally;

/* FAILED_NEW: base may have failed, too. */
typedef enum pair_failure { FAILED_NOT, FAILED_BASE, FAILED_NEW } pair_failure;

/* One side of a pair. Figures that are not known are NaN. */
typedef struct compared_side {
    case_verdict verdict;  /* the gravest of all inputs */
    ln_metrics metrics;    /* of the timed rows */
    double bound_row_ulp;  /* of the timed rows */
    speed_figures speed;   /* without intervals; counts the processes behind the ratio */
    char reproducible[16]; /* the kernel's class (domain/kernel.h) */
} compared_side;

/* One kernel, convention, shape and, for stored runs, input. */
typedef struct comparison_pair {
    case_key key;
    char label[NAME_MAX_LENGTH]; /* of its kernel */
    compared_side sides[SIDES];
    accuracy_tally tally;
    accuracy_verdict accuracy;
    speed_verdict speed;
    interval_estimate ratio; /* time of new / time of base */
    double p;                /* of the rank test; NaN: none */
    /* the smallest detectable change in this cache level, as a fraction; NaN: not known */
    double noise;
    unsigned searched;   /* worker processes of the search; the ratio does not use them */
    double seconds;      /* spent on timing it */
    const char *detail;  /* why there is no speed, or what limits it; NULL: nothing */
    const char *missing; /* the result that one side lacks; NULL: none */
} comparison_pair;

/* The reasons why a case forms no pair. */
typedef enum lone_kind { LONE_MISSING, LONE_UNSUPPORTED, LONE_NEW } lone_kind;

#define COMPARISON_CONFIDENCE 0.99 /* of intervals and tests */

typedef struct comparison_settings {
    const char *tool;         /* "duet", "compare" */
    const char *files[SIDES]; /* builds, or runs as the user named them */
    double threshold;
    double seconds; /* for each pair; NaN: nothing is measured */
    accuracy_gate gate;
    bool speed, accuracy;
    /* Set for a format that lists even the pairs that people need not see; and for JSON. */
    bool every_pair, json;
    bool all;           /* text and Markdown: every pair that is shown, every remark */
    bool allow_missing; /* missing results do not change the exit code */
    uint64_t seed;
} comparison_settings;

typedef struct run_comparison {
    arena memory; /* owns the texts of pairs */
    comparison_settings settings;
    char identity[SIDES][112]; /* hash of the build, or commit and time of the run */
    machine_facts machine;
    machine_noise noise; /* of that machine */
    /* In memory, with two TEMP tables (compare_print.c): `pairs` has those that will be listed, and `lone` the cases
     * that form no pair. */
    result_store *store;
    size_t pairs;  /* all that were compared */
    size_t failed; /* those in which the new kernel crashed, hung or broke memory */
    /* The most important speed, accuracy and exit code of all pairs, and how many pairs have them. */
    speed_verdict speed;
    accuracy_verdict accuracy;
    size_t with_speed, with_accuracy;
    exit_code code;
    double log_ratios; /* sum of the logarithms of `ratios` ratios */
    size_t ratios;
    double
        widths[SIDES];   /* of two runs: sum of the relative widths of the intervals of % of copy */
    double worst_growth; /* the largest error of a new input / that of base */
    const char *worst;   /* the input whose error grew by that factor, with its pair; NULL: none */
    coverage covered;
    bool same_rows;           /* both runs have the same seed */
    word_list differences;    /* of the facts of the runs; any makes the sides not comparable */
    word_list remarks;        /* other differences */
    word_list reclassed;      /* kernels whose reproducibility class changed */
    size_t less_reproducible; /* how many of these have bits that depend on more than before */
} run_comparison;

/* Compares speed and errors of the two runs that the settings name, in this store or in files. Nothing is
 * compared, and the differences are listed, if the seeds differ or, with speeds, processor, build or plan. */
void compare_runs(run_comparison *comparison, const char *database);
void comparison_free(run_comparison *comparison);

/* Makes the tables. Must be called before anything is compared. */
void comparison_begin(run_comparison *comparison);
/* Returns a pair without any result. */
comparison_pair comparison_pair_of(const case_key *key);
/* Adds the comparison of one input to a pair; its words are allocated from `memory`. */
void pair_compare(arena *memory, comparison_pair *pair, const judged_side sides[SIDES],
                  const char *what);
/* Completes a pair: sets its accuracy, counts it as compared or missing, and stores it if it will be listed. */
void comparison_settle(run_comparison *comparison, comparison_pair *pair);
/* Stores the pair as it will be listed. shown: people see it, since it was timed or changed; the many identical inputs
 * of a run are only counted. Pairs are listed by falling weight. */
void comparison_put(run_comparison *comparison, const comparison_pair *pair, bool shown,
                    double weight);
/* Counts a case that forms no pair: as missing, as unsupported, or as one that was requested of new only. */
void comparison_set_lone(run_comparison *comparison, lone_kind kind, const case_key *key,
                         const char *why);

/* Returns the cache level that holds x and y of a call: "L1" to "DRAM". */
const char *comparison_regime(const run_comparison *comparison, const case_key *key);
/* Returns the verdict on an interval of the ratio: slower if all of it is above 1 + threshold, faster if all of it is
 * below 1 / (1 + threshold), same if all of it is between these, else inconclusive. */
speed_verdict speed_lean(const interval_estimate *ratio, double threshold);
/* Returns the accuracy of a pair. A verdict that became worse (pass, inaccurate, wrong-class, failed) decides. Else:
 * less accurate if some errors are larger and none is smaller, more accurate in the opposite case, changed if bits
 * differ otherwise. */
accuracy_verdict pair_accuracy(const comparison_pair *pair);
/* Returns whether the kernel's bits depend on more in new than in base. */
bool pair_is_less_reproducible(const comparison_pair *pair);
pair_failure pair_failed(const comparison_pair *pair);
exit_code pair_exit_code(const comparison_pair *pair, const comparison_settings *settings);

/* Returns "not comparable" if the contexts differ, nothing was compared or a result is missing; else the most
 * important exit code of all pairs. */
exit_code comparison_exit_code(const run_comparison *comparison);

extern const char *const accuracy_gate_names[GATE_BOUND + 1], *const side_names[SIDES + 1];
/* Prints the comparison in one of OUTPUT_FORMATS_CI. */
void comparison_print(const run_comparison *comparison, const output_file *out);
/* Returns a pair's name such as "naive_f32_avx2 torch 512x768 hot", in printable ASCII. */
const char *pair_name(arena *memory, const case_key *key);

/* ---- finding the run that a word on the command line names ---- */

/* SQL: the identity of a plugin's kernel from its row of kernels: plugin name and file hash, "mine 0123456789ab". */
#define PLUGIN_SQL                                                                                 \
    "descriptor ->> '$.source' || ' ' || substr(descriptor ->> '$.object_hash', 1, 12)"

/* SQL: the machine of a row of runs; runs with equal machines can be compared. */
#define MACHINE_SQL                                                                                \
    "(SELECT group_concat(value, ' | ') FROM (SELECT substr(coalesce(facts.value, 'unknown'), 1, " \
    "64) AS value FROM "                                                                           \
    "json_each('[\"architecture\", \"cpu_model\", \"l1d_bytes\", \"l2_bytes\", \"l3_bytes\", "     \
    "\"cores\", "                                                                                  \
    "\"hypervisor\"]') AS fact LEFT JOIN facts ON run = runs.id AND name = fact.value ORDER BY "   \
    "fact.key))"

typedef struct found_run {
    /* for a packed file, a temporary copy that is deleted when the program ends */
    char database[1100];
    int64_t run;
    char words[112]; /* "run 3, commit 1234567, 2026-01-01T00:00:00Z"; a file has no run number */
} found_run;

/* Finds a run by its number, "latest" (the newest run of `lnbench run`), "previous" (the newest run before it on the
 * same machine with the same request, whatever library it ran), the first 4 to 40 digits of a commit (its latest run),
 * or an exported file. If there is none, the program ends: with 4 for latest and previous, else with 7. */
found_run run_find(const char *word, const char *database);

#endif
