/* Runs made by hand, for tests of the report: SYNTHETIC figures, and names as bad as one likes. They are
 * stored in memory, and read from there as any run is. */
#ifndef LNBENCH_SAMPLE_VIEW_H
#define LNBENCH_SAMPLE_VIEW_H

#include "show/answer.h"

enum { SAMPLE_MOST = 2048, SAMPLE_PROCESSES = 3, SAMPLE_ROUNDS = 3 };

typedef struct sample_view {
    run_view put; /* still to be changed */
    size_t row_count;
    run_view view; /* what is stored of it: sample_store() */
    machine_fact facts[8];
    stored_case cases[SAMPLE_MOST];
    stored_row rows[SAMPLE_MOST];
    timed_repetition repetitions[SAMPLE_MOST][SAMPLE_PROCESSES * SAMPLE_ROUNDS];
} sample_view;

sample_view *sample_create(void); /* a complete run with nothing in it; NULL: memory */
void sample_free(sample_view *sample);
/* Fills in the view, as often as one likes. */
void sample_store(sample_view *sample);
/* Stores it once more beside the others. */
void sample_store_again(sample_view *sample);

void sample_kernel(sample_view *sample, const char *name, const char *statistics, const char *isa);
/* A timed case in L2 under "torch" on normal input, beside a roof of 100 GB/s. Judged ok with row ULP
 * 1. */
stored_case *sample_speed(sample_view *sample, const char *kernel, size_t rows, size_t hidden,
                          double gbps);
/* A judged case at 9 x 768 without a speed. */
stored_case *sample_judged(sample_view *sample, const char *kernel, const char *input,
                           double row_ulp, verdict_kind kind);
/* A row of the latest case. */
void sample_row(sample_view *sample, double kappa, double row_ulp, double bound);
/* What people write on two ISAs, a fast accurate kernel of ours, a library; four sizes, rows off
 * centre, a roof. NULL: memory. */
sample_view *sample_plain(void);

#endif
