/* Two builds of a kernel library against each other: what the files of `duet` share.
 *
 * measure.c opens both, pairs their kernels and goes through kernels and shapes; accuracy.c judges both;
 * time.c times them in alternation; what that means and how it is shown is show/compare.h's.
 */
#ifndef LNBENCH_DUET_H
#define LNBENCH_DUET_H

#include "show/compare.h"
#include "judge/judge.h"
#include "run/plan.h"
#include "base/progress.h"

typedef struct duet_run {
    run_comparison comparison; /* its settings name the files; its pairs are what was measured */
    double deadline;
    bool fixed; /* spend all the time on each pair, look for no answer before */
    worker_process *worker;
    kernel_list kernels[SIDES];
    row_judge *judge;
    int cpu;
    progress_bar progress;
    word_list asked;                  /* names of base's kernels that are asked for */
    case_plan plan;                   /* of the shape that runs; its kernels are base's */
    bool stopped;                     /* interrupted: what is left is only counted */
    unsigned next_process;            /* numbers the timing processes */
    const char **reproducible[SIDES]; /* the class of each of kernels[side]; NULL: not measured */
} duet_run;

/* A pair, and the kernels that it is of. */
typedef struct duet_pair {
    const kernel_entry *kernels[SIDES];
    comparison_pair pair;
} duet_pair;

/* Opens the files of the settings and plans: everything that can be wrong is found here. */
void duet_prepare(duet_run *duet, const plan_request *request);
/* Judges and times all pairs. False: it was interrupted, as in what follows; the pairs that are done are there. */
bool duet_measure(duet_run *duet, const plan_request *request);
void duet_free(duet_run *duet);

/* Opens both files, checks by the loader that they share no code, and lists their kernels. What ends the program:
 * one file given twice (2), code that binds to the other's copy (4), files that cannot be loaded
 * (7), a crash at load (6). */
void duet_load(duet_run *duet);

/* What goes with a kernel of base: new's kernel, or why there is none to compare with. */
typedef struct duet_partner {
    const kernel_entry *kernel; /* NULL: there is none */
    apart_kind apart;           /* lost or declined, where there is none */
    char why[DETAIL_MAX_LENGTH];
} duet_partner;

/* Plans what the request asks of either side: every kernel of both files of the types and names that
 * it has, since of a file under test none stands for another. Errors (2): words that fit no kernel
 * of either. */
void duet_plan(duet_run *duet, const plan_request *request);
/* Of each of the plan's kernels: partners[i] goes with plan.kernels[i]. */
void duet_find_partners(const duet_run *duet, duet_partner *partners);

/* Finds the reproducibility class of both kernels of each pair. */
bool duet_find_classes(duet_run *duet, const duet_partner *partners);
const char *duet_class(const duet_run *duet, int side, const kernel_entry *kernel);

/* Judges both sides of the pairs of one shape: pairs[0..count-1] on the two blocks of rows that are
 * timed (their outputs go to outputs[pair][side][block], to be freed by the caller, NULL where a
 * kernel failed), then on the input families. */
typedef void *duet_outputs[SIDES][2];
bool duet_judge_blocks(duet_run *duet, const judge_block blocks[2], duet_pair *pairs, size_t count,
                       duet_outputs *outputs);
bool duet_judge_families(duet_run *duet, const speed_group *group, duet_pair *pairs, size_t count);

/* Times one pair: searches until the answer is clear, then confirms with fresh processes. Where the
 * length is fixed there is a ratio and no verdict. */
bool duet_time(duet_run *duet, const speed_group *group, const judge_block blocks[2],
               duet_pair *pair, duet_outputs outputs);

/* The fewest processes with which an interval of the median can have this confidence: with n, the
 * whole range of the sample misses with probability 2^(1 - n). */
unsigned duet_least_processes(double confidence);
/* The length of the confirmation, decided before it begins: twice the search, 20 at least, but no
 * more than the seconds left can hold; 0 where that is fewer than the least. */
unsigned duet_confirmation(unsigned searched, unsigned least, double seconds_left,
                           double seconds_each);

#endif
