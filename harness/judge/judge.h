/* The judge compares an output with the certified reference. It runs no kernel; the conformance tests
 * (conformance/conformance.h) let its runner do that.
 *
 *     row_judge *judge = judge_create(runner, &settings);
 *     judge_block block;
 *     operation_call call =
 *         call_dense(&convention, LN_F32, LN_F32, rows, hidden);
 *     judge_block_generate(judge, &block, call, "normal", NULL, 0);
 *     case_judgement judgement;
 *     judge_output(judge, &block, y, &judgement);
 *     judge_block_free(&block);
 *
 * A caller that runs the kernel makes the same steps one by one:
 *
 *     row_findings findings = {.verdict.kind = VERDICT_PASS};
 *     judge_reserve(judge, &block);                                // then y into judge->computed
 *     judge_call(judge, &block, judge->computed, &kind, false, &findings, &judgement);
 *
 * A row must stay within the kernel's proven bound. Without a bound two limits apply, both for the accumulator's
 * arithmetic (judging.h): the largest error of any order of summation, which grows with N; and, since real errors
 * grow at most with the square root of N, four times the error of the worst textbook algorithm. */
#ifndef LNBENCH_JUDGE_H
#define LNBENCH_JUDGE_H

#include "certify/backward.h"
#include "domain/operation.h"
#include "inputs/worst.h"
#include "judge/runner.h"
#include "layernorm_plugin.h"
#include "metrics/metrics.h"
#include <sys/types.h>

/* ---- blocks of rows ---- */

/* Rows under one convention with their exact answers. All tensors are dense, of one storage and one parameter type. */
typedef struct judge_block {
    ln_convention convention;
    ln_type storage, param;
    size_t rows, hidden;
    ln_operation operation;
    void *inputs[ROLES_MOST];     /* by role; NULL: absent */
    void *rounded;                /* rows x hidden: the correctly rounded answers */
    double *exact, *rest;         /* rest: only for f64, else NULL */
    ln_reference_result *results; /* one for each row; their arrays point into the arrays above */
    size_t distinct;              /* row i repeats row i % distinct; 0: rows are not repeated */
    struct block_limits *limits;  /* the allowed errors of each row, once requested */
    arena memory;                 /* holds all arrays above; used only by the runner's thread */
} judge_block;

typedef struct row_judge row_judge;

/* Makes a block for a dense call without inputs: generates the rows of an input family or file from row `first` on, a
 * residual from another input (NULL: none) and the parameters, and computes the answers. */
void judge_block_generate(row_judge *judge, judge_block *block, operation_call call,
                          const char *input, const char *residual, size_t first);
/* Makes a block from copies of the caller's inputs, with the parameters that the convention has. */
void judge_block_from(row_judge *judge, judge_block *block, const operation_call *call);
/* Returns a call with the inputs of a block, to make another block from some of them. The block still owns them. */
operation_call judge_block_call(const judge_block *block);
/* Repeats the rows up to `rows`; their answers and allowed errors are computed once. */
void judge_block_repeat(judge_block *block, size_t rows);
void judge_block_free(judge_block *block);

metrics_row judge_metrics_row(const judge_block *block, size_t row);

/* Returns the size of x in bytes, which is also the size of y. */
static inline size_t judge_bytes(const judge_block *block)
{
    return block->rows * block->hidden * dtype_size(block->storage);
}

/* Returns row `row` of y, or of another dense tensor of y's size and type. */
static inline const void *judge_row_of(const judge_block *block, const void *y, size_t row)
{
    return (const char *)y + row * block->hidden * dtype_size(block->storage);
}

/* Returns element i of the correctly rounded x + residual. */
double judge_right_sum(const judge_block *block, size_t i);

/* ---- the allowed error of a row without a proven bound ---- */

typedef struct order_question {
    ln_type storage, accumulator;
    size_t hidden;
    const ln_convention *convention;
    bool flushes;  /* the kernel may treat subnormal numbers as zero */
    double chance; /* 0: the bound always holds; else the probability that it fails, if roundings
                      are independent with mean 0 (Higham and Mary 2019) */
} order_question;

/* The largest errors of any order of summation; infinite: no bound is known. */
typedef struct order_answer {
    ln_bound bound;
    double statistics[ROLES_MOST]; /* by role, in the units of the operation (judging.h) */
} order_answer;

/* The errors of the textbook algorithms; infinite if one of them overflows or gives NaN. */
typedef struct textbook_errors {
    double row_ulp;
    double statistics[ROLES_MOST]; /* as in order_answer */
    bool undefined;                /* the row is 0 / 0, exactly and in each algorithm */
} textbook_errors;

typedef struct row_limits {
    order_answer order;            /* for any order of summation */
    double order_ulp;              /* the same in row ULP; infinite: no bound is known */
    double likely_ulp;             /* a smaller bound that fails with a probability of 1e-9 */
    textbook_errors textbook;      /* of the worst textbook algorithm */
    double row_ulp;                /* the allowed error of the row; infinite: not known */
    double statistics[ROLES_MOST]; /* the allowed errors of its statistics */
} row_limits;

/* Computes the limits of a row. question: describes the kernel; its chance is ignored. x: the row as doubles. */
void limits_of_row(const order_question *question, const metrics_row *row, const double *x,
                   row_limits *limits);
/* Returns the limits of the least accurate correct algorithms. An error between `limits` and these is type-limited. */
row_limits limits_poorest(ln_type accumulator, const metrics_row *row, const double *x,
                          const row_limits *limits);
/* Returns whether the row has a limit. Without one no error is a failure. */
bool limits_tell(const row_limits *limits);
/* Returns the largest error in row ULP over the elements whose computed and exact values are finite. */
double limits_error(const metrics_row *row, const void *y);
/* Returns whether y stays within the limits. Elements whose exact or computed value is not finite are
 * skipped: the caller compares their classes. */
bool limits_hold(const row_limits *limits, const metrics_row *row, const void *y);

/* ---- findings ---- */

enum { ROW_FAULT_LENGTH = 192 };

/* The errors of one row, for curves over kappa. The errors of the statistics (mean, rstd) are signed and measured
 * before the statistics are rounded for the metrics; NaN: the kernel writes none, or the exact value does not exist. */
typedef struct judged_row {
    double kappa, row_ulp, norm_max, bound_row_ulp;
    double statistic_errors[ROLES_MOST]; /* by role; relative, or to the RMS of the row */
} judged_row;

/* Sets of mistakes, one bit each (fingerprint/mistakes.c). fit: the mistakes that explain a wrong row; for several
 * rows, those that explain all of them. far: those whose result clearly differs from the correct row, or from one of
 * the rows. */
typedef struct mistake_set {
    uint64_t fit, far;
} mistake_set;

/* The mistakes of all wrong problems. fits: the number of problems that each of them explains. certain: those whose
 * result clearly differs from the correct one at two hidden sizes; differs_at: the last such size of each mistake. */
typedef struct mistakes_seen {
    uint64_t certain;
    size_t wrong, fits[64], differs_at[64];
} mistakes_seen;

/* A summary of all wrong combinations of factors (conformance/problems.h). */
typedef struct faults_seen {
    size_t count, block; /* block: the one that the verdict describes */
    mistakes_seen mistakes;
    uint64_t factors; /* one bit for each factor that never has its default in them */
} faults_seen;

typedef struct case_judgement {
    case_verdict verdict;
    ln_metrics metrics;
    double bound_row_ulp;    /* the largest of the rows; infinite: a row has no bound; NaN: the
                             kernel has none */
    double probable_row_ulp; /* the same for probable bounds; NaN: none, or not requested */
    unsigned varies;         /* the axes of domain/kernel.h along which the bits differed */
    uint64_t output_hash;    /* FNV-1a of y and, except in conformance tests, of the statistics */
    void *computed;     /* y, rows x hidden; owned by the judge and valid until its next call */
    judged_row *by_row; /* likewise, one for each row; valid if metrics.elements > 0 */
    faults_seen faults;
    mistake_set mistakes; /* over all wrong rows */
} case_judgement;

/* Describes row `row` of a block with the judge's findings. The result points into the block's inputs. */
worst_row worst_row_of(const judge_block *block, size_t row, const case_judgement *judgement,
                       const char *kernel, const char *convention);

/* ---- the judge ---- */

typedef struct judge_settings {
    uint64_t seed;
    double max_row_ulp; /* above it a case is inaccurate, whatever its bound; infinite: no limit */
    double deadline_seconds; /* for one message to the runner */
    double chance; /* the probability that a row exceeds its probable bound; 0: not requested */
    const volatile int *stop; /* or NULL; once *stop is not 0, computing answers is interrupted */
} judge_settings;

/* A judge. Its memory grows as needed and is reused, since a run judges thousands of cases with few different sizes. */
struct row_judge {
    ln_reference *reference;
    kernel_runner *runner;       /* borrowed; the conformance tests send messages to it */
    char taken[NAME_MAX_LENGTH]; /* the kernel that the library chose for a call */
    bool upper_halves;           /* the kernel leaves the upper halves of vector registers in use */
    judge_settings settings;
    arena outputs;          /* the memory of the next members, up to by_row */
    char *computed, *other; /* outputs of the block for which judge_reserve() made room */
    /* Statistics (mean, rstd), by role; all bits are set if the kernel wrote none: as the kernel gave them, and
     * rounded to f32 (except for f64 rows) for the metrics. */
    double *given[ROLES_MOST], *rounded[ROLES_MOST];
    ln_bound *bounds;
    double probable_row_ulp; /* as in case_judgement */
    judged_row *by_row;
    double *values;                   /* the last row that judge_load_row() read */
    bool *wrong_columns, *wrong_rows; /* of the last described row; of the block, in `outputs` */
    size_t bytes, rows,
        hidden; /* the capacity of an output, of the members for each row, and of values */
};

/* Makes a judge. The runner (runner.h) is borrowed; only harness/conformance needs one, others pass NULL. */
row_judge *judge_create(kernel_runner *runner, const judge_settings *settings);
void judge_destroy(row_judge *judge);
/* Describes how the answers were computed: "1536 elements: 1530 in double-double, 6 at the first precision". Methods
 * that computed no element are omitted. */
const char *judge_describe_counts(const ln_reference_counts *counts, char *buffer, size_t size);

/* Judges one dense output of an unknown kernel. The verdict is pass (no bound); inaccurate (its error is above that of
 * any order of summation, or above max_row_ulp); wrong-class; or not judged, if neither limit exists. */
void judge_output(row_judge *judge, const judge_block *block, const void *computed,
                  case_judgement *judgement);

/* ---- its steps ---- */

/* The properties of the kernel that made an output. */
typedef struct judged_kind {
    bool has_bound;
    bool flushes;
    bool correctly_rounded; /* it claims that y, mean and rstd are (LN_TRAIT_CORRECTLY_ROUNDED) */
    ln_type accumulator;    /* the type by which its sums are judged */
    ln_type given;          /* the type in which it writes statistics */
} judged_kind;

/* Returns the properties assumed for an unknown kernel: no bound, and the usual accumulator for the storage type. */
judged_kind judged_kind_unknown(const judge_block *block);

/* Returns the allowed errors of row `row` for a kernel without a bound. The block computes them once and owns them. */
const row_limits *judge_limits(row_judge *judge, const judge_block *block, const judged_kind *kind,
                               size_t row);
/* Reads the row that is normalised (x + residual) as doubles into judge->values. */
void judge_load_row(row_judge *judge, const judge_block *block, size_t row);
/* Makes room for a block's outputs; must come before each kernel's calls on a block. */
void judge_reserve(row_judge *judge, const judge_block *block);

/* The findings so far while the rows of a block are judged. */
typedef struct row_findings {
    case_verdict verdict;
    size_t unclaimed; /* rows without a bound */
    size_t unlimited; /* those among them with an error above 1 row ULP and without any limit */
    size_t explained; /* the wrong rows whose mistakes are in `mistakes` */
    mistake_set mistakes;
} row_findings;

/* Adds a finding; `findings` keeps the most informative one (judge.c). */
void judge_find(row_findings *findings, verdict_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Compares output row `row` with its answer: its error must be within the bound or, without a bound, within the
 * limits of judge_limits(). The most informative failure is kept. */
void judge_row(row_judge *judge, const judge_block *block, const void *y, size_t row,
               const judged_kind *kind, row_findings *findings);
/* Judges all rows of a block and sets judge->wrong_rows. */
void judge_rows(row_judge *judge, const judge_block *block, const void *computed,
                const judged_kind *kind, row_findings *findings);
/* Finds 16-bit rows that are not rounded where the convention says. */
void judge_rounding(const judge_block *block, const void *y, row_findings *findings);
/* Like judge_row(), for the statistics (mean, rstd) that the kernel wrote. */
void judge_statistics(row_judge *judge, const judge_block *block, size_t row,
                      const judged_kind *kind, row_findings *findings);
/* Computes the metrics of all rows, and those of each row in judge->by_row. */
void judge_measure(row_judge *judge, const judge_block *block, const void *computed, bool has_bound,
                   bool has_statistics, case_judgement *judgement);
/* Sets the verdict from the findings and the metrics. */
void judge_conclude(const row_judge *judge, const judge_block *block, const judged_kind *kind,
                    row_findings *findings, case_judgement *judgement);
/* Judges all rows of the output of one call, with or without its statistics, and sets the verdict. */
void judge_call(row_judge *judge, const judge_block *block, const void *computed,
                const judged_kind *kind, bool statistics, row_findings *findings,
                case_judgement *judgement);

/* Returns whether every element of a row has the class (NaN, +Inf, -Inf, finite) of the exact answer.
 * *column: the first element that does not. */
bool judge_classes_match(const judge_block *block, size_t row, const void *y, size_t *column);

/* Returns whether all bits are set, as in elements that were not written. */
static inline bool judge_is_poison(const void *bytes, size_t size)
{
    const unsigned char *byte = bytes;
    while (size > 0 && *byte == 0xff) {
        byte++;
        size--;
    }
    return size == 0;
}

/* Returns whether a kernel wrote this statistic. */
static inline bool judge_is_given(const double *statistic)
{
    return !judge_is_poison(statistic, sizeof *statistic);
}

/* ---- gradients of other programs, compared with the certified ones (certify/backward.h) ---- */

enum { GRADIENT_DX, GRADIENT_DGAMMA, GRADIENT_DBETA, GRADIENTS };

const char *gradient_name(size_t which); /* "dx", "dgamma", "dbeta" */

/* Measures the errors of gradients as those of an output, with the largest exact value as the scale of a row; NaN:
 * nothing to measure. x, dy and dx are dense and of the storage type; the others are of the parameter type. given: NULL
 * for a gradient that is not measured. There is no verdict, since no bound of these sums is known. */
void judge_gradients(const ln_problem *problem, const ln_tensors *tensors, const void *dy,
                     const void *const given[GRADIENTS], ln_metrics found[GRADIENTS]);

#endif
