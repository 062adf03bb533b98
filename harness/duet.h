/* Two builds of a kernel library against each other: what the files of `duet` share.
 *
 * duet_load.c opens both and pairs their kernels; duet_accuracy.c judges both; duet_time.c times
 * them in alternation; duet_decide.c says what that means; duet_text.c and duet_json.c show it.
 */
#ifndef LNBENCH_DUET_H
#define LNBENCH_DUET_H

#include "bootstrap.h"
#include "judge.h"
#include "plan.h"
#include "progress.h"
#include "text.h"

enum { BASE, NEW, SIDES };

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

/* What the two sides made of everything that a pair was judged on. */
typedef struct accuracy_tally {
    size_t judged, differing, worse, better;
    char worst[DETAIL_MAX_LENGTH]; /* the first that is worse, else the first that differs */
} accuracy_tally;

typedef enum duet_failure { FAILED_NOT, FAILED_BASE, FAILED_NEW, FAILED_BOTH } duet_failure;

/* One kernel, convention and shape. */
typedef struct duet_pair {
    const kernel_entry *kernels[SIDES];
    case_key key;
    verdict verdicts[SIDES];     /* the gravest of what was judged */
    ln_metrics metrics[SIDES];   /* of the timed rows */
    double bound_row_ulp[SIDES]; /* likewise; NaN: no bound */
    accuracy_tally tally;
    accuracy_verdict accuracy;
    speed_verdict speed;
    estimate ratio;                 /* time of new / time of base, of the confirmation alone */
    double time_ns[SIDES];          /* median of a call in the confirmation */
    unsigned searched, confirmed;   /* worker processes */
    double seconds;                 /* spent on timing it */
    char detail[DETAIL_MAX_LENGTH]; /* why there is no speed */
} duet_pair;

typedef struct duet_settings {
    const char *files[SIDES];
    double threshold, confidence, seconds, deadline;
    accuracy_gate gate;
    bool speed, accuracy;
    uint64_t seed;
} duet_settings;

typedef struct duet {
    duet_settings settings;
    worker *worker;
    kernel_list kernels[SIDES];
    uint64_t hashes[SIDES]; /* of the files */
    judge *judge;
    machine machine;
    int cpu;
    progress progress;
    plan plan;        /* of the shape that runs; its kernels are base's */
    word_list lonely; /* "NAME (only in base)" */
    duet_pair *pairs;
    size_t pair_count;
    unsigned next_process; /* numbers the timing processes */
} duet;

/* Opens both files, checks by the loader that they share no code, and lists their kernels. Errors:
 * one file given twice (2), code that binds to the other's copy (4), files that cannot be loaded
 * (7), a crash at load (6). */
bool duet_load(duet *duet, error *error);
/* Kernels that both have, of the plan's: partners[i] goes with plan.kernels[i], NULL where there is
 * none. Error (4): no kernel in common. */
bool duet_partners(duet *duet, const kernel_entry **partners, error *error);

/* Judges both sides of the pairs of one shape: pairs[0..count-1] on the two blocks of rows that are
 * timed (their outputs go to outputs[pair][side][block], to be freed by the caller, NULL where a
 * kernel failed), then on the input families. */
typedef float *duet_outputs[SIDES][2];
bool duet_judge_blocks(duet *duet, const judge_block blocks[2], duet_pair *pairs, size_t count,
                       duet_outputs *outputs, error *error);
bool duet_judge_families(duet *duet, const speed_group *group, duet_pair *pairs, size_t count,
                         bool with_probes, error *error);

/* Times one pair: searches until the answer is clear, then confirms with fresh processes. */
bool duet_time(duet *duet, const speed_group *group, const judge_block blocks[2], duet_pair *pair,
               duet_outputs outputs, error *error);

/* What an interval of the ratio says at a threshold: slower where it lies above 1 + threshold,
 * faster where it lies below 1 / (1 + threshold), same where it lies between, else inconclusive. */
speed_verdict duet_lean(const estimate *ratio, double threshold);
/* Slower and faster only where search and confirmation agree; same where the confirmation says so
 * and the search did not say otherwise. */
speed_verdict duet_conclude(speed_verdict search, speed_verdict confirmation);
/* The fewest processes with which an interval of the median can have this confidence: with n, the
 * whole range of the sample misses with probability 2^(1 - n). */
unsigned duet_least_processes(double confidence);
/* The length of the confirmation, decided before it begins: twice the search, 20 at least, but no
 * more than the seconds left can hold; 0 where that is fewer than the least. */
unsigned duet_confirmation(unsigned searched, unsigned least, double seconds_left,
                           double seconds_each);

/* Adds one block's (or probe's) comparison to a pair. */
void duet_compare(duet_pair *pair, const judgement judgements[SIDES], const char *what);
void duet_compare_verdicts(duet_pair *pair, const verdict verdicts[SIDES], const char *what);
/* A verdict that became graver (ok, inaccurate, wrong class, failed) decides; else less accurate
 * where something is worse and nothing better, more accurate the other way, changed where bits
 * differ otherwise. */
accuracy_verdict duet_accuracy(const duet_pair *pair);

duet_failure duet_failed(const duet_pair *pair);
exit_code duet_pair_exit_code(const duet_pair *pair, const duet_settings *settings);
exit_code duet_exit_code(const duet *duet);
/* Of all pairs: the speed that matters most (slower, inconclusive, faster, same), and the accuracy
 * (less accurate, changed, more accurate, bit-identical). */
speed_verdict duet_overall_speed(const duet *duet);
accuracy_verdict duet_overall_accuracy(const duet *duet);

const char *speed_verdict_name(speed_verdict verdict);       /* NULL: not measured */
const char *accuracy_verdict_name(accuracy_verdict verdict); /* NULL: not judged */
const char *accuracy_gate_name(accuracy_gate gate);
/* "fine", "regression", "inconclusive", "not comparable", "accuracy violation", "kernel failed" */
const char *duet_outcome(exit_code code);

typedef enum duet_format {
    DUET_TEXT,
    DUET_MARKDOWN,
    DUET_JSON,
    DUET_JUNIT,
    DUET_GITHUB,
    DUET_SMALLER, /* customSmallerIsBetter */
    DUET_TSV,
} duet_format;

/* False: memory ran out, or the file has an error. */
bool duet_print(const duet *duet, duet_format format, FILE *file);
bool duet_print_json(const duet *duet, FILE *file);
bool duet_print_smaller(const duet *duet, FILE *file);
/* What a pair's line says besides its figures: failures, what got worse, why there is no speed. */
void duet_pair_note(const duet_pair *pair, text *note);

#endif
