/* Pairs of measurements, old against new, and what they come to: what `duet` and `compare` share.
 *
 * cases.c pairs the cases of two runs and counts what was compared, declined and lost; decide.c says what figures
 * mean; conclusion.c and
 * text.c show it to people, ci.c and json.c to programs.
 */
#ifndef LNBENCH_COMPARISON_H
#define LNBENCH_COMPARISON_H

#include "store/bootstrap.h"
#include "store/store.h"
#include "domain/case.h"
#include "domain/coverage.h"
#include "domain/machine.h"
#include "base/relation.h"
#include "base/text.h"

enum { BASE, NEW, SIDES };
enum { LEAST_PROCESSES = 5 }; /* of a run that is meant for compare */

typedef enum speed_verdict {
    SPEED_NOT_MEASURED,
    SPEED_SAME,
    SPEED_FASTER,
    SPEED_SLOWER,
    SPEED_INCONCLUSIVE,
} speed_verdict;

typedef enum accuracy_verdict {
    ACCURACY_NOT_JUDGED,
    ACCURACY_IDENTICAL, /* every bit of every placement */
    ACCURACY_MORE,
    ACCURACY_CHANGED,
    ACCURACY_LESS,
} accuracy_verdict;

typedef enum accuracy_gate { GATE_NO_WORSE, GATE_EXACT, GATE_BOUND } accuracy_gate;

/* What the judge said of one input on one side. */
typedef struct judged_side {
    case_verdict verdict;
    ln_metrics metrics;
    uint64_t output_hash; /* of every bit that came out */
} judged_side;

/* What the two sides made of everything that a pair was judged on. */
typedef struct accuracy_tally {
    size_t judged, differing, worse, better; /* inputs that both sides have a result of */
    size_t declined;                         /* neither takes them */
    size_t gained;                           /* base declines them and new does not */
    size_t lost;                             /* any other that a side has no result of */
    char refusal[DETAIL_MAX_LENGTH];         /* base's, of the first that it declines */
    char missing[DETAIL_MAX_LENGTH];         /* the first lost */
    char missing_why[DETAIL_MAX_LENGTH];     /* "new: unsupported (torch only)" */
    char worst
        [DETAIL_MAX_LENGTH]; /* the worst of those that are worse, else the first that differs */
    double worst_error;      /* its, in row ULP, of the new side */
} accuracy_tally;

typedef enum pair_failure { FAILED_NOT, FAILED_BASE, FAILED_NEW, FAILED_BOTH } pair_failure;

/* One kernel, convention and shape. */
typedef struct comparison_pair {
    case_key key;
    char label[NAME_MAX_LENGTH];  /* of its kernel */
    case_verdict verdicts[SIDES]; /* the gravest of what was judged */
    ln_metrics metrics[SIDES];    /* of the timed rows */
    double bound_row_ulp[SIDES];  /* likewise; NaN: no bound */
    accuracy_tally tally;
    accuracy_verdict accuracy;
    const char *reproducible[SIDES]; /* the kernel's class, as domain/reproducible.h has it */
    speed_verdict speed;
    interval_estimate ratio;                   /* time of new / time of base */
    double time_ns[SIDES];                     /* median of a call */
    double cycles[SIDES], instructions[SIDES]; /* the fewest of a call; NaN: not counted */
    double roof[SIDES]; /* time of the roof / time of the kernel; NaN: no roof beside it */
    double p;           /* of the rank test; NaN where there is none */
    double noise; /* the smallest change that is seen in this regime, as a share; NaN: not known */
    unsigned searched;              /* worker processes before those that count */
    unsigned processes[SIDES];      /* worker processes behind the ratio */
    double seconds;                 /* spent on timing it */
    char detail[DETAIL_MAX_LENGTH]; /* why there is no speed, or what limits it */
    char lost[DETAIL_MAX_LENGTH];   /* what one side has no result of; "": nothing */
} comparison_pair;

/* Cases that were not compared, of one kernel and for one reason. */
typedef enum apart_kind { APART_LOST, APART_DECLINED, APART_NEW } apart_kind;
typedef struct apart_cases {
    apart_kind kind;
    size_t cases;
    char kernel[NAME_MAX_LENGTH], why[DETAIL_MAX_LENGTH];
} apart_cases;

typedef struct comparison_settings {
    const char *tool;         /* "duet", "compare" */
    const char *files[SIDES]; /* builds, or runs as they were named */
    double threshold, confidence;
    double seconds; /* for each pair; NaN: nothing is measured */
    accuracy_gate gate;
    bool speed, accuracy;
    bool all;           /* text and Markdown: every pair, every remark */
    size_t width;       /* text: columns of the terminal; 0: none */
    bool allow_missing; /* what is missing fails nothing */
    uint64_t seed;
} comparison_settings;

typedef struct run_comparison {
    comparison_settings settings;
    char identity[SIDES][112]; /* hash of the build, or commit and time of the run */
    machine_facts machine;
    machine_noise noise; /* of that machine */
    comparison_pair *pairs;
    size_t pair_count;
    coverage covered;
    bool same_rows;       /* of two runs: of one seed */
    bool requested_known; /* else it is what the sides have that is counted */
    apart_cases *apart;   /* as they came */
    size_t apart_count;
    word_list differences; /* of the contexts: any makes the sides not comparable */
    word_list remarks;     /* what differs besides */
    stored_pair *cases;    /* of two runs: classes of kernels stand there */
} run_comparison;

void comparison_free(run_comparison *comparison);
/* A new pair with nothing known about it. */
comparison_pair *comparison_add(run_comparison *comparison, const case_key *key);
const char *comparison_regime(const run_comparison *comparison, const case_key *key);

/* ---- what was asked, and what became of it (cases.c) ---- */

/* Counts a case as asked and lost, or as asked and declined, and names it; notes one that only new
 * has, which nobody asked of base. `why` is never NULL. */
void comparison_lose(run_comparison *comparison, const case_key *key, const char *why);
void comparison_decline(run_comparison *comparison, const case_key *key, const char *why);
void comparison_add_new(run_comparison *comparison, const case_key *key, const char *why);
/* The pairs from `first` on are done: each gets its accuracy and is counted as compared or lost.
 * What both decline, or only new takes, is no pair any more. */
void comparison_settle(run_comparison *comparison, size_t first);
/* "b (3 cases: only in base)" */
void add_apart(text_buffer *out, const apart_cases *apart);
/* Lost, and not allowed to be. */
bool comparison_fails_by_loss(const run_comparison *comparison);

/* What an interval of the ratio says at a threshold: slower where it lies above 1 + threshold,
 * faster where it lies below 1 / (1 + threshold), same where it lies between, else inconclusive. */
speed_verdict speed_lean(const interval_estimate *ratio, double threshold);

/* Adds the comparison of one input to a pair. */
void pair_compare(comparison_pair *pair, const judged_side sides[SIDES], const char *what);
/* A verdict that became graver (right, inaccurate, wrong-class, failed) decides; else less accurate
 * where something is worse and nothing better, more accurate the other way, changed where bits
 * differ otherwise. */
accuracy_verdict pair_accuracy(const comparison_pair *pair);
/* The kernel's bits depend on more than they did. */
bool pair_is_less_reproducible(const comparison_pair *pair);
pair_failure pair_failed(const comparison_pair *pair);
exit_code pair_exit_code(const comparison_pair *pair, const comparison_settings *settings);

/* Not comparable where the contexts differ, nothing was compared or something was lost; else the
 * first of all pairs' codes. */
exit_code comparison_exit_code(const run_comparison *comparison);
/* Of all pairs: the speed that matters most (slower, inconclusive, faster, same), and the accuracy
 * (less accurate, changed, more accurate, bit-identical). */
speed_verdict comparison_speed(const run_comparison *comparison);
accuracy_verdict comparison_accuracy(const run_comparison *comparison);
/* Kernels whose bits depend on more than they did. */
size_t comparison_less_reproducible(const run_comparison *comparison);
/* A remark on each kernel whose class is another one. */
void comparison_note_classes(run_comparison *comparison);
/* The geometric mean of the ratios; NaN where there is none. */
double comparison_mean(const run_comparison *comparison);

const char *speed_verdict_name(speed_verdict verdict);       /* NULL: not measured */
const char *accuracy_verdict_name(accuracy_verdict verdict); /* NULL: not judged */
/* The same as a reader sees it: "bits differ" for "changed". */
const char *accuracy_verdict_words(accuracy_verdict verdict);
const char *accuracy_gate_name(accuracy_gate gate);
/* "fine", "regression", "inconclusive", "not comparable", "accuracy violation", "kernel failed" */
const char *outcome_name(exit_code code);

/* In one of OUTPUT_FORMATS_CI. */
void comparison_print(const run_comparison *comparison, output_format format, FILE *file);

/* The cases of two runs of the store, pair by pair, as the settings say: how fast, and how wrong. Nothing is compared
 * where processor, build or plan differ: see the differences. database: that has the noise of the machine. */
void compare_runs(run_comparison *comparison, result_store *store, const int64_t runs[SIDES],
                  const char *database);

/* ---- what the printers share ---- */

/* Strings that came from outside, as printable ASCII. */
void add_plain(text_buffer *out, const char *string);
/* "naive_f32_avx2 torch 512x768 hot" */
void add_pair_name(text_buffer *out, const case_key *key);
/* "slower, bits differ: new/base 1.05 [1.04, 1.06]; 3 of 28 inputs differ, ...": what a pair comes to
 */
void add_pair_summary(text_buffer *out, const run_comparison *comparison,
                      const comparison_pair *pair);
/* What a pair's line says besides its figures: failures, what got worse, why there is no speed. */
void add_pair_note(text_buffer *out, const run_comparison *comparison, const comparison_pair *pair);
/* "previous (run 1, commit 1234567, 2026-01-01T00:00:00Z) against latest (run 2, ...)", on two
 * lines where one would be longer than `room` columns; 0: on one. */
void add_runs(text_buffer *out, const run_comparison *comparison, size_t room);
/* "fine: same, bit-identical in 12 pairs, geometric mean 1.0002": what all come to. */
void add_outcome(text_buffer *out, const run_comparison *comparison);
/* "worst: a 18x768: offset, row 3: 4.1e6 row ULP, was 5.2; 22 more inputs are worse"; between the two; nothing where none is. */
void add_worst(text_buffer *out, const run_comparison *comparison, const char *before,
               const char *behind);
/* "threshold 2 %, confidence 99 %, ...": by what it was decided. */
void add_settings(text_buffer *out, const run_comparison *comparison);
/* "requested 40, compared 37, missing 3: ..." */
void add_coverage(text_buffer *out, const run_comparison *comparison);
/* All of these, as one line. */
void add_conclusion(text_buffer *out, const run_comparison *comparison);
/* A row for each pair, for each context that differs and for cases that stand apart, with the columns that
 * JUnit and GitHub Actions want (base/relation.c); concluded: one more for what all come to. */
relation *comparison_checks(const run_comparison *comparison, bool concluded);
/* A row for each error of the new side, as OUTPUT_SMALLER wants it. */
relation *comparison_errors(const run_comparison *comparison);
/* What JSON says besides the pairs; of a pair's side what it says of a case. */
json_t *comparison_json(const run_comparison *comparison);
json_t *pair_case_json(const run_comparison *comparison, const comparison_pair *pair, int side);

#endif
