/* Where a kernel's error comes from: exact stages put in one after the other.
 *
 *     attribution found;
 *     if (!attribute_kernel(judge, &block, kernel, &found, &err)) ...
 *     printf("%g row ULP by the mean\n", found.stages[STAGE_MEAN].max);
 *
 * With m and r the exact mean and rstd and m', r' the kernel's, five outputs lead from what it
 * computed to what is exact, and what lies between two of them is one stage's error:
 *
 *     computed                                  } apply: the arithmetic of (x - m') r' gamma + beta
 *     (x - m') r' gamma + beta, rounded once    } rounding: the last one, which nobody can avoid
 *     (x - m') r' gamma + beta                  } mean
 *     (x - m) r' gamma + beta                   } variance: all of r' but its own rounding
 *     (x - m) RN(r) gamma + beta                } rstd: holding r in the accumulator's type
 *     (x - m) r gamma + beta                      exact
 *
 * The five sum up to the error, element by element. m' and r' are what the kernel gives as mean and
 * rstd, if it says that these are what it applies ("direct"). Otherwise they are fitted: the line
 * in x that comes nearest to its errors (weighted least squares), which takes up of the roundings
 * what looks like one, about 1/sqrt(N) of an ulp; rstd is then part of variance.
 *
 * m and r are known to 53 bits, so that a stage is exact to kappa * 2^-53 of xhat's scale; for rows
 * of f64 m, r and y are known to 106 bits, and a stage to 2^-52 of itself.
 */
#ifndef LNBENCH_ATTRIBUTE_H
#define LNBENCH_ATTRIBUTE_H

#include "referee/referee.h"

typedef enum error_stage {
    STAGE_MEAN,
    STAGE_VARIANCE,
    STAGE_RSTD,
    STAGE_APPLY,
    STAGE_ROUNDING,
    STAGE_TOTAL,
    STAGES,
} error_stage;

/* In row ULP. */
typedef struct stage_error {
    double max, rms; /* of the absolute values, over all elements looked at */
    double at_worst; /* signed, at the element with the largest error of all: they sum up to it */
} stage_error;

typedef struct attribution {
    stage_error stages[STAGES];
    bool fitted;
    size_t rows, left_out; /* looked at; not finite, or without a finite rstd */
    size_t worst_row, worst_column;
    case_verdict verdict; /* other than ok: nothing came out, and the rest is not meant */
} attribution;

/* One row's statistics as a kernel gave them. */
typedef struct row_statistics {
    double mean, rstd;
} row_statistics;

const char *stage_name(error_stage stage); /* "mean", ..., "total" */

/* Runs the kernel once, with mean and rstd wanted. False: what is no fault of the kernel. */
bool attribute_kernel(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
                      attribution *found, error *err);

/* The same for outputs of a block (dense, of its type); statistics: a row each, or NULL to fit
 * them. */
void attribute_outputs(const judge_block *block, const void *computed,
                       const row_statistics *statistics, ln_type accumulator, attribution *found);

#endif
