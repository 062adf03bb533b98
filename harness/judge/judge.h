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
 * A row must stay within the kernel's proven bound. Without one, two limits hold, both in the accumulator's
 * arithmetic (judging.h): what any order of summation can give, which grows with N; and, since real errors grow
 * with the root of N at most, four times the error of the worst textbook algorithm. */
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

/* Rows under one convention with their exact answers, of one storage type and one parameter type. All
 * tensors are dense. */
typedef struct judge_block {
    ln_convention convention;
    ln_type storage, param;
    size_t rows, hidden;
    ln_operation operation;
    void *inputs[ROLES_MOST];     /* by role; NULL: absent */
    void *rounded;                /* rows x hidden: the correctly rounded answers */
    double *exact, *rest;         /* rest: for f64 only, else NULL */
    ln_reference_result *results; /* one for each row; their arrays point into the above */
    size_t distinct; /* after so many rows the first ones are repeated; 0: they are not */
    struct block_limits *limits; /* the allowed errors of each row, once requested */
    arena memory;                /* of all of the above; for the runner's thread */
} judge_block;

typedef struct row_judge row_judge;

/* Makes a block for a dense call: rows of an input family or a file from row `first` on, a residual from another
 * input (NULL: none), parameters from the seed, and the answers. The call has no inputs yet. */
void judge_block_generate(row_judge *judge, judge_block *block, operation_call call,
                          const char *input, const char *residual, size_t first);
/* Makes a block from copies of the caller's inputs, with the parameters that the convention has. */
void judge_block_from(row_judge *judge, judge_block *block, const operation_call *call);
/* The inputs of a block, which still owns them, to make another block from some of them. */
operation_call judge_block_call(const judge_block *block);
/* Repeats the rows up to `rows`; their answers and allowed errors are computed once. */
void judge_block_repeat(judge_block *block, size_t rows);
void judge_block_free(judge_block *block);

metrics_row judge_metrics_row(const judge_block *block, size_t row);

/* The bytes of x, or of y. */
static inline size_t judge_bytes(const judge_block *block)
{
    return block->rows * block->hidden * dtype_size(block->storage);
}

/* Row `row` of a dense tensor like y. */
static inline const void *judge_row_of(const judge_block *block, const void *y, size_t row)
{
    return (const char *)y + row * block->hidden * dtype_size(block->storage);
}

/* Element i of the correct output of x + residual. */
double judge_right_sum(const judge_block *block, size_t i);

/* ---- the allowed error of a row without a proven bound ---- */

typedef struct order_question {
    ln_type storage, accumulator;
    size_t hidden;
    const ln_convention *convention;
    bool flushes;  /* subnormals may be taken as zero */
    double chance; /* 0: the bound always holds; else the probability that it fails, if roundings
                      are independent with mean 0 (Higham and Mary 2019) */
} order_question;

/* Infinite members: no claim. */
typedef struct order_answer {
    ln_bound bound;
    double statistics[ROLES_MOST]; /* by role, in the units of the operation (judging.h) */
} order_answer;

/* The errors of the textbook algorithms; infinite if one of them overflows or gives NaN. */
typedef struct textbook_errors {
    double row_ulp;
    double statistics[ROLES_MOST]; /* as in order_answer */
    bool undefined;                /* the exact row is 0 / 0, and so is that of each algorithm */
} textbook_errors;

typedef struct row_limits {
    order_answer order;            /* of any order of summation */
    double order_ulp;              /* the same in row ULP; infinite: no claim */
    double likely_ulp;             /* the same with a probability of 1e-9 that it is exceeded */
    textbook_errors textbook;      /* of the worst textbook algorithm */
    double row_ulp;                /* the allowed error of the row; infinite: not known */
    double statistics[ROLES_MOST]; /* the allowed errors of its statistics */
} row_limits;

/* asked: describes the kernel; its chance is ignored. x: the row as doubles. */
void limits_of_row(const order_question *asked, const metrics_row *row, const double *x,
                   row_limits *limits);
/* The limits given by the least accurate of the correct algorithms. An error above `limits` and within these is
 * type-limited. */
row_limits limits_poorest(ln_type accumulator, const metrics_row *row, const double *x,
                          const row_limits *limits);
/* Whether the row has a limit; otherwise no error of it is a failure. */
bool limits_tell(const row_limits *limits);
/* The largest error in row ULP over elements that are finite and have a finite answer. */
double limits_error(const metrics_row *row, const void *y);
/* Whether y stays within the limits. Elements whose exact or computed value is not finite are left
 * out: the caller compares their classes. */
bool limits_hold(const row_limits *limits, const metrics_row *row, const void *y);

/* ---- findings ---- */

enum { ROW_FAULT_LENGTH = 192 };

/* The errors of one row, for curves over kappa. The errors of statistics (mean, rstd) are signed, and
 * those of the values in the accumulator's type; NaN: the kernel gives none, or there is no exact
 * value. */
typedef struct judged_row {
    double kappa, row_ulp, norm_max, bound_row_ulp;
    double statistic_errors[ROLES_MOST]; /* by role; relative, or to the RMS of the row */
} judged_row;

/* The mistakes of a kernel that explain a wrong row, one bit each (fingerprint/mistakes.c). far: those whose result
 * differs much from the correct row. For several rows: mistakes that explain all of them, and that are far in some. */
typedef struct mistake_set {
    uint64_t fit, far;
} mistake_set;

/* For all wrong problems: mistakes that do not explain all of them; and mistakes that clearly differ from the correct
 * result at two hidden sizes, with the last such size in told_at. */
typedef struct mistakes_seen {
    uint64_t unfit, told_twice;
    size_t told_at[64];
} mistakes_seen;

/* For all wrong combinations (conformance/problems.h). */
typedef struct faults_seen {
    size_t count, block; /* block: the one of the verdict */
    mistakes_seen mistakes;
    uint64_t factors; /* those that are not the default in all of them, one bit each */
} faults_seen;

typedef struct case_judgement {
    case_verdict verdict;
    ln_metrics metrics;
    double bound_row_ulp;    /* largest over the rows; infinite: no claim for one of them; NaN: no
                             bound */
    double probable_row_ulp; /* the same for probable bounds; NaN: none, or not requested */
    unsigned varies;         /* the axes of domain/kernel.h along which the bits differed */
    uint64_t output_hash;    /* FNV-1a of all outputs: y, statistics */
    void *computed;     /* rows x hidden, as in timing; the judge's, valid until its next call */
    judged_row *by_row; /* likewise, one for each row; valid if metrics.elements > 0 */
    faults_seen faults;
    mistake_set mistakes; /* of all rows that are wrong */
} case_judgement;

/* Row `row` of a block with the judge's findings; its inputs are the block's. */
worst_row worst_row_of(const judge_block *block, size_t row, const case_judgement *judgement,
                       const char *kernel, const char *convention);

/* ---- the judge ---- */

typedef struct judge_settings {
    uint64_t seed;
    double max_row_ulp; /* above it a case is inaccurate, whatever its bound; infinite: no limit */
    double deadline_seconds; /* for one message to the runner */
    double chance; /* that a row of a block exceeds its probable bound; 0: it is not wanted */
    const volatile int *stop; /* or NULL; once *stop is not 0, computing answers is interrupted */
} judge_settings;

/* A judge with its memory, which grows as needed and is kept, since a run judges thousands of cases of few
 * sizes. */
struct row_judge {
    ln_reference *reference;
    kernel_runner *runner;       /* borrowed; the conformance tests ask it */
    char taken[NAME_MAX_LENGTH]; /* the kernel that a call of the library took */
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
    double *values;                   /* a row that judge_load_row() read */
    bool *wrong_columns, *wrong_rows; /* of the last described row; of the block, in `outputs` */
    size_t bytes, rows,
        hidden; /* for which there is room: in an output, in members for each row, in values */
};

/* The runner (runner.h) is borrowed, and only harness/conformance uses it; NULL: only judge_output() will be
 * called. */
row_judge *judge_create(kernel_runner *runner, const judge_settings *settings);
void judge_destroy(row_judge *judge);
/* How the answers were computed, in words: "1536 elements: 1530 in double-double, 6 at the first precision". Methods
 * that computed none are left out. */
const char *judge_describe_counts(const ln_reference_counts *counts, char *buffer, size_t size);

/* Judges one dense output of an unknown kernel: pass (no bound); inaccurate (beyond any order of
 * summation, or max_row_ulp); wrong-class; or not judged, if neither limit exists. */
void judge_output(row_judge *judge, const judge_block *block, const void *computed,
                  case_judgement *judgement);

/* ---- its steps ---- */

/* What is known of the kernel that made an output. */
typedef struct judged_kind {
    bool has_bound;
    bool flushes;
    bool correctly_rounded; /* it claims to be, with mean and rstd (LN_TRAIT_CORRECTLY_ROUNDED) */
    ln_type accumulator;    /* the type by which its sums are judged */
    ln_type given;          /* the type in which it writes statistics */
} judged_kind;

/* For an output of an unknown kernel: the usual accumulator of the type. */
judged_kind judged_kind_unknown(const judge_block *block);

/* The allowed errors of row `row` without a bound, which the block keeps. */
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
    size_t untold;    /* those among them with an error above 1 row ULP and without any limit */
    size_t explained; /* wrong rows, all of which the mistakes explain */
    mistake_set mistakes;
} row_findings;

void judge_find(row_findings *findings, verdict_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Compares output row `row` with its answer and bound, or without a bound with what any order of summation and the
 * textbook algorithms explain. The most informative failure is kept. */
void judge_row(row_judge *judge, const judge_block *block, const void *y, size_t row,
               const judged_kind *kind, row_findings *findings);
/* Judges all rows of a block, and says which of them are wrong. */
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
void judge_conclude(const row_judge *judge, const judge_block *block, const judged_kind *kind,
                    row_findings *findings, case_judgement *judgement);
/* Judges all rows of the output of one call, with or without its statistics, and sets the verdict. */
void judge_call(row_judge *judge, const judge_block *block, const void *computed,
                const judged_kind *kind, bool statistics, row_findings *findings,
                case_judgement *judgement);

/* Whether every element of a row has the class (NaN, +Inf, -Inf, finite) of the exact answer;
 * *column: the first that does not. */
bool judge_classes_match(const judge_block *block, size_t row, const void *y, size_t *column);

/* Whether all bits are set, as in elements that were not written. */
static inline bool judge_is_poison(const void *bytes, size_t size)
{
    const unsigned char *byte = bytes;
    while (size > 0 && *byte == 0xff) {
        byte++;
        size--;
    }
    return size == 0;
}

/* Whether a kernel wrote this statistic. */
static inline bool judge_is_given(const double *statistic)
{
    return !judge_is_poison(statistic, sizeof *statistic);
}

/* ---- gradients of other programs, compared with the certified ones (certify/backward.h) ---- */

enum { GRADIENT_DX, GRADIENT_DGAMMA, GRADIENT_DBETA, GRADIENTS };

const char *gradient_name(size_t which); /* "dx", "dgamma", "dbeta" */

/* x, dy and dx are dense and of the storage type; the others are of the parameter type. given: NULL for a gradient that
 * is not judged. Errors are measured as for an output, with the largest exact value as the scale of a row; NaN: nothing
 * to measure. Since no bound of these sums is known, no gradient is called inaccurate; the caller may set a
 * limit. */
void judge_gradients(const ln_problem *problem, const ln_tensors *tensors, const void *dy,
                     const void *const given[GRADIENTS], ln_metrics found[GRADIENTS]);

#endif
