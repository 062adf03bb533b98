/* Two builds of a kernel library against each other, in one process: each pair of kernels is judged bit for bit on the
 * same rows, and timed in alternation. What that means and how it is shown is show/compare.h's.
 *
 *     duet_run duet = {.comparison.settings = {.tool = "duet", .files = {"old.so", "new.so"}, ...},
 *                      .deadline = 10, .cpu = -1};
 *     duet_prepare(&duet, &request);
 *     bool finished = duet_measure(&duet, &request);
 *     comparison_print(&duet.comparison, OUTPUT_TEXT, stdout);
 *     duet_free(&duet);
 */
#ifndef LNBENCH_DUET_H
#define LNBENCH_DUET_H

#include "base/output.h"
#include "judge/judge.h"
#include "run/plan.h"
#include "show/compare.h"

typedef struct duet_run {
    run_comparison comparison; /* its settings name the files; its pairs are what was measured */
    double deadline;
    bool fixed; /* spend all the time on each pair, look for no answer before */
    worker_process *worker;
    kernel_list kernels[SIDES];
    row_judge *judge;
    int cpu;
    progress_bar progress;
    word_list asked;       /* names of base's kernels that are asked for */
    case_plan plan;        /* of the shape that runs; its kernels are base's */
    bool stopped;          /* interrupted: what is left is only counted */
    unsigned next_process; /* numbers the timing processes */
} duet_run;

/* Opens the files of the settings and plans: everything that can be wrong is found here. What ends the program: one
 * file given twice, or words that fit no kernel of either (2), code that binds to the other's copy (4), files that
 * cannot be loaded (7), a crash at load (6). */
void duet_prepare(duet_run *duet, const plan_request *request);
/* Judges and times all pairs. False: it was interrupted; the pairs that are done are there. */
bool duet_measure(duet_run *duet, const plan_request *request);
void duet_free(duet_run *duet);

/* The fewest processes with which an interval of the median can have this confidence: with n, the
 * whole range of the sample misses with probability 2^(1 - n). */
unsigned duet_least_processes(double confidence);
/* The length of the confirmation, decided before it begins: twice the search, 20 at least, but no
 * more than the seconds left can hold; 0 where that is fewer than the least. */
unsigned duet_confirmation(unsigned searched, unsigned least, double seconds_left,
                           double seconds_each);

#endif
