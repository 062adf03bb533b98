/* The judge: what a kernel made of some rows, against the certified reference.
 *
 *     judge *judge = judge_create(worker, &settings);
 *     judge_block block;
 *     judge_block_generate(judge, &block, &convention, "normal", rows, hidden, &error);
 *     judgement judgement;
 *     judge_kernel(judge, &block, kernel, &judgement, &error);
 *     judge_block_free(&block);
 */
#ifndef LNBENCH_JUDGE_H
#define LNBENCH_JUDGE_H

#include "worker.h"

typedef struct judge judge;

typedef struct judge_settings {
    uint64_t seed;
    double max_row_ulp; /* above it a case is inaccurate, whatever its bound; infinite: no limit */
    double deadline_seconds; /* for one kernel call sequence in the worker */
} judge_settings;

/* Rows under one convention with their exact answers, of one storage and parameter type. All
 * tensors dense. */
typedef struct judge_block {
    ln_convention convention;
    ln_type storage, param;
    size_t rows, hidden;
    void *x, *residual, *gamma, *beta; /* residual, gamma and beta may be NULL */
    void *rounded;                     /* rows x hidden: the correctly rounded answers */
    double *exact, *rest;              /* rest: of f64 alone, else NULL */
    ln_reference_typed *results;       /* a row each, their arrays pointing into the above */
} judge_block;

/* One row's part, for curves over kappa. The errors of what the kernel gives are signed, and of
 * mean and rstd as it gives them, in its accumulator's type: NaN where it gives none, or where
 * there is no exact value. */
typedef struct judged_row {
    double kappa, row_ulp, norm_max, bound_row_ulp;
    double mean_error; /* (mean' - mean) / sqrt(mean^2 + var): the share of the row's RMS */
    double rstd_error; /* rstd' / rstd - 1 */
} judged_row;

typedef struct judgement {
    verdict verdict;
    ln_metrics metrics;
    double bound_row_ulp; /* largest over the rows; infinite: no claim for one of them; NaN: no
                             bound */
    unsigned varies;      /* the axes of invariance.h along which the bits were seen to differ */
    uint64_t output_hash; /* FNV-1a of all that came out: y of every placement, mean and rstd */
    void *computed;       /* rows x hidden, as in timing; the judge's, good until its next call */
    judged_row *by_row;   /* likewise, a row each; meaningful where metrics.elements > 0 */
} judgement;

/* NULL when memory runs out. The worker is borrowed. */
judge *judge_create(worker *worker, const judge_settings *settings);
/* One more with the same settings, over another worker. */
judge *judge_create_another(const judge *judge, worker *worker);
void judge_destroy(judge *judge);
/* How the right answers were decided since it was made; in words, "1536 elements: 1530 in
 * double-double, 6 at the first precision", ways that decided none left out. */
ln_reference_counts judge_reference_counts(const judge *judge);
const char *judge_describe_counts(const ln_reference_counts *counts, char *buffer, size_t size);

/* A block of an input family (or .npy file), with gamma and beta from the seed, and its answers:
 * of f32, or of any types. `first` is its first row. */
bool judge_block_generate(judge *judge, judge_block *block, const ln_convention *convention,
                          const char *input, size_t first, size_t rows, size_t hidden,
                          error *error);
bool judge_block_generate_typed(judge *judge, judge_block *block, const ln_convention *convention,
                                ln_type storage, ln_type param, const char *input, size_t first,
                                size_t rows, size_t hidden, error *error);
/* A block from the caller's rows, which are copied. */
bool judge_block_from(judge *judge, judge_block *block, const ln_convention *convention,
                      size_t rows, size_t hidden, const float *x, const float *residual,
                      const float *gamma, const float *beta, error *error);
bool judge_block_from_typed(judge *judge, judge_block *block, const ln_convention *convention,
                            ln_type storage, ln_type param, size_t rows, size_t hidden,
                            const void *x, const void *residual, const void *gamma,
                            const void *beta, error *error);
void judge_block_free(judge_block *block);

/* Runs the kernel in every placement and judges what came back. What the kernel did wrong is in the
 * judgement; false is only for what is no fault of the kernel (memory, files, an interruption). */
bool judge_kernel(judge *judge, const judge_block *block, const kernel_entry *kernel,
                  judgement *judgement, error *error);

/* What a search asks of one row. */
typedef struct row_score {
    double row_ulp; /* infinite: a class is wrong */
    double bound_row_ulp, kappa;
} row_score;

/* One call as timed, and each row's score. `bounds`: the bound too, else NaN. The verdict is ok, or
 * why the kernel gave nothing. False as above. */
bool judge_score(judge *judge, const judge_block *block, const kernel_entry *kernel, bool bounds,
                 row_score *scores, verdict *verdict, error *error);

/* Judges one dense output against a block, without any kernel: metrics only, verdict ok, inaccurate
 * (max_row_ulp) or wrong-class. */
bool judge_output(judge *judge, const judge_block *block, const void *computed,
                  judgement *judgement, error *error);

/* The kernel on the probe rows of a convention: N <= 16 and at this hidden. ok, or inaccurate when
 * it lies nearer to a neighbouring convention than to its own, or beyond half their distance, or
 * beyond its bound. */
bool judge_probes(judge *judge, const kernel_entry *kernel, const ln_convention *convention,
                  size_t hidden, verdict *verdict, error *error);

#endif
