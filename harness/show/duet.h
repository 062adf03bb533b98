/* Compares two builds of a kernel library in one process: each pair of kernels is judged bit for bit on the same rows
 * and timed in alternation. show/compare.h decides what the figures mean and prints them.
 *
 *     duet_run duet = {.comparison.settings = {.tool = "duet", .files = {"old.so", "new.so"}, ...},
 *                      .deadline = 10};
 *     duet_prepare(&duet, &request);
 *     bool finished = duet_measure(&duet, &request);
 *     comparison_print(&duet.comparison, &out);
 *     duet_free(&duet);
 */
#ifndef LNBENCH_DUET_H
#define LNBENCH_DUET_H

#include "base/output.h"
#include "judge/judge.h"
#include "run/plan.h"
#include "show/compare.h"

typedef struct duet_run {
    run_comparison comparison; /* its settings name the files; it receives the pairs */
    double deadline;
    bool fixed; /* spend all the time on each pair, without stopping at the first clear answer */
    worker_process *worker;
    kernel_list kernels[SIDES];
    row_judge *judge;
    int cpu;
    progress_bar progress;
    word_list requested;   /* names of base's kernels to compare */
    case_plan plan;        /* of the current shape; its kernels are those of base */
    bool stopped;          /* interrupted: the remaining cases are only counted */
    unsigned next_process; /* numbers the timing processes */
} duet_run;

/* Opens the files of the settings, makes the plan and finds every wrong request. The program ends if one file is given
 * twice or a word matches no kernel (2), if code would bind to the other build's copy (4), if a file cannot be loaded
 * (7) or crashes while it is loaded (6). */
void duet_prepare(duet_run *duet, const plan_request *request);
/* Judges and times all pairs. False: it was interrupted; the finished pairs are kept. */
bool duet_measure(duet_run *duet, const plan_request *request);
void duet_free(duet_run *duet);

/* The fewest processes that give an interval of the median: the range of n processes misses the median with probability
 * 2^(1 - n), which must be less than 1 - COMPARISON_CONFIDENCE. */
enum { DUET_LEAST_PROCESSES = 8 };
/* Returns the number of processes that confirm a result, decided before the confirmation begins: twice those of the
 * search and at least 20, but no more than fit into the seconds left; 0 if that is less than DUET_LEAST_PROCESSES. */
unsigned duet_confirmation(unsigned searched, double seconds_left, double seconds_each);

#endif
