/* The judge: an output of some rows, against the certified reference. It runs no kernel; conformance
 * (conformance/conformance.h) has its runner do that.
 *
 *     row_judge *judge = judge_create(runner, &settings);
 *     judge_block block;
 *     operation_call call =
 *         call_dense(&convention, LN_F32, LN_F32, rows, hidden);
 *     judge_block_generate(judge, &block, call, "normal", NULL, 0);
 *     case_judgement judgement;
 *     judge_output(judge, &block, y, &judgement);
 *     judge_block_free(&block);
 */
#ifndef LNBENCH_JUDGE_H
#define LNBENCH_JUDGE_H

#include "domain/operation.h"
#include "inputs/worst.h"
#include "judge/runner.h"

typedef struct row_judge row_judge;

typedef struct judge_settings {
    uint64_t seed;
    double max_row_ulp; /* above it a case is inaccurate, whatever its bound; infinite: no limit */
    double deadline_seconds; /* for one order to the runner */
    double chance; /* that some row of a block is beyond its probable bound; 0: none is asked for */
    const volatile int *stop; /* NULL, or: once it is not 0, making answers dies as interrupted */
} judge_settings;

/* Rows under one convention with their exact answers, of one storage and parameter type. All
 * tensors dense. */
typedef struct judge_block {
    ln_convention convention;
    ln_type storage, param;
    size_t rows, hidden;
    ln_operation operation;
    void *inputs[ROLES_MOST];     /* by role; NULL: not there */
    void *rounded;                /* rows x hidden: the correctly rounded answers */
    double *exact, *rest;         /* rest: of f64 alone, else NULL */
    ln_reference_result *results; /* a row each, their arrays pointing into the above */
    size_t distinct; /* from this row on the first ones come again, and so on; 0: they do not */
    struct block_limits *limits; /* what each row may be off, once it was asked for */
    arena memory;                /* all of the above; of the runner's thread */
} judge_block;

/* One row's part, for curves over kappa. The errors of what the kernel gives are signed, and of
 * statistics as it gives them, in its accumulator's type: NaN where it gives none, or where there is
 * no exact value. */
typedef struct judged_row {
    double kappa, row_ulp, norm_max, bound_row_ulp;
    double statistic_errors[ROLES_MOST]; /* by role; relative, or to the RMS of the row */
} judged_row;

/* What a kernel may do that explains a wrong row, a bit each (fingerprint/mistakes.c); far: likewise, and the
 * right row is far from this one. Of several rows: what explains each, and what is far in some. */
typedef struct mistake_set {
    uint64_t fit, far;
} mistake_set;

/* Of problems that are wrong: mistakes that do not explain all of them, and those that two hidden sizes tell
 * from what is right, of which each was told last at told_at. */
typedef struct mistakes_seen {
    uint64_t unfit, told_twice;
    size_t told_at[64];
} mistakes_seen;

/* Of combinations that are wrong (conformance/problems.h). */
typedef struct faults_seen {
    size_t count, block; /* block: that of the verdict */
    mistakes_seen mistakes;
    uint64_t factors; /* out of the ordinary in all of them, a bit each */
} faults_seen;

typedef struct case_judgement {
    case_verdict verdict;
    ln_metrics metrics;
    double bound_row_ulp;    /* largest over the rows; infinite: no claim for one of them; NaN: no
                             bound */
    double probable_row_ulp; /* likewise of probable bounds; NaN: none, or not asked for */
    unsigned
        varies; /* the axes of domain/reproducible.h along which the bits were seen to differ */
    uint64_t output_hash; /* FNV-1a of all that came out: y, statistics */
    void *computed;       /* rows x hidden, as in timing; the judge's, good until its next call */
    judged_row *by_row;   /* likewise, a row each; meaningful where metrics.elements > 0 */
    faults_seen faults;
    mistake_set mistakes; /* of all rows that are wrong */
} case_judgement;

/* The runner (runner.h) is borrowed, and kept for harness/conformance; NULL where
 * only judge_output() is called. */
row_judge *judge_create(kernel_runner *runner, const judge_settings *settings);
/* One more with the same settings, over another runner. */
row_judge *judge_create_another(const row_judge *judge, kernel_runner *runner);
void judge_destroy(row_judge *judge);
/* How the right answers were decided since it was made; in words, "1536 elements: 1530 in
 * double-double, 6 at the first precision", ways that decided none left out. */
ln_reference_counts judge_reference_counts(const row_judge *judge);
const char *judge_describe_counts(const ln_reference_counts *counts, char *buffer, size_t size);

/* A block for a dense call without inputs, from an input family or a file (another
 * one for the residual; NULL: none), with parameters from the seed, and its answers. `first` is its
 * first row. */
void judge_block_generate(row_judge *judge, judge_block *block, operation_call call,
                          const char *input, const char *residual, size_t first);
/* A block from the caller's inputs, which are copied; of parameters what the convention has. */
void judge_block_from(row_judge *judge, judge_block *block, const operation_call *call);
/* The inputs of a block, which stay its own: another block from some of them. */
operation_call judge_block_call(const judge_block *block);
/* The same rows over and over, up to so many; their answers and what they may be off are found once. */
void judge_block_repeat(judge_block *block, size_t rows);
void judge_block_free(judge_block *block);

/* Judges one dense output against a block, without any kernel: pass (no bound); inaccurate (beyond
 * any order of summation, or max_row_ulp); wrong-class; not judged where neither limit says
 * anything. */
void judge_output(row_judge *judge, const judge_block *block, const void *computed,
                  case_judgement *judgement);

/* A copy of row `row` of a block with what the judge found. */
void worst_row_take(const judge_block *block, size_t row, const case_judgement *judgement,
                    const char *kernel, const char *convention, worst_row *taken);

#endif
