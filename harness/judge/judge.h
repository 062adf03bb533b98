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
 *
 * A caller that runs the kernel takes the same steps one by one:
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

typedef struct row_judge row_judge;

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

metrics_row judge_metrics_row(const judge_block *block, size_t row);

/* Bytes of x, and of y. */
static inline size_t judge_bytes(const judge_block *block)
{
    return block->rows * block->hidden * dtype_size(block->storage);
}

/* Row `row` of a dense tensor like y. */
static inline const void *judge_row_of(const judge_block *block, const void *y, size_t row)
{
    return (const char *)y + row * block->hidden * dtype_size(block->storage);
}

/* What is written out of x + residual, element i. */
double judge_right_sum(const judge_block *block, size_t i);

/* ---- what a row may be off where no bound is claimed ---- */

typedef struct order_question {
    ln_type storage, accumulator;
    size_t hidden;
    const ln_convention *convention;
    bool flushes;  /* subnormals may be taken as zero */
    double chance; /* 0: the bound holds always; else it fails at most so often, where roundings are
                      independent and zero on average (Higham and Mary 2019) */
} order_question;

/* Infinite members: no claim. */
typedef struct order_answer {
    ln_bound bound;
    double statistics[ROLES_MOST]; /* by role, in the units of the operation (judging.h) */
} order_answer;

/* Room for the terms of a sum, kept from row to row; to be freed. */
typedef struct textbook {
    double *terms;
    size_t room;
} textbook;

/* Infinite where one of the ways overflows or loses a class. */
typedef struct textbook_errors {
    double row_ulp;
    double statistics[ROLES_MOST]; /* as an order_answer's */
    bool undefined;                /* the exact row is 0 / 0, and each way says so */
} textbook_errors;

typedef struct row_limits {
    order_answer order;            /* of any order of summation */
    double order_ulp;              /* the same in row ULP; infinite: no claim */
    double likely_ulp;             /* likewise, with a chance of 1e-9 to be exceeded */
    textbook_errors textbook;      /* the worst textbook way */
    double row_ulp;                /* what the row may be off; infinite: nothing is known */
    double statistics[ROLES_MOST]; /* likewise */
} row_limits;

typedef struct operation_judging operation_judging;

/* asked: of the kernel; its chance is not looked at. x: the row as doubles. */
void limits_of_row(const operation_judging *judging, textbook *book, const order_question *asked,
                   const metrics_row *row, const double *x, row_limits *limits);
/* What it may be off, as limits, where the poorest of the correct ways are the measure: errors above
 * `limits` and within these are a limit of the types. */
row_limits limits_poorest(const operation_judging *judging, textbook *book, ln_type accumulator,
                          const metrics_row *row, const double *x, const row_limits *limits);
/* Whether anything is known of the row: else no error of it is a fault. */
bool limits_tell(const row_limits *limits);
/* The largest error, in row ULP, over elements that are finite and whose answer is. */
double limits_error(const metrics_row *row, const void *y);
/* Whether y stays within the limits. Classes are the caller's business: an element whose exact or
 * computed value is not finite is left out. */
bool limits_hold(const row_limits *limits, const metrics_row *row, const void *y);

/* ---- what is found ---- */

enum { ROW_FAULT_LENGTH = 192 };

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
    unsigned varies;      /* the axes of domain/kernel.h along which the bits were seen to differ */
    uint64_t output_hash; /* FNV-1a of all that came out: y, statistics */
    void *computed;       /* rows x hidden, as in timing; the judge's, good until its next call */
    judged_row *by_row;   /* likewise, a row each; meaningful where metrics.elements > 0 */
    faults_seen faults;
    mistake_set mistakes; /* of all rows that are wrong */
} case_judgement;

/* A copy of row `row` of a block with what the judge found. */
void worst_row_take(const judge_block *block, size_t row, const case_judgement *judgement,
                    const char *kernel, const char *convention, worst_row *taken);

/* ---- the judge ---- */

typedef struct judge_settings {
    uint64_t seed;
    double max_row_ulp; /* above it a case is inaccurate, whatever its bound; infinite: no limit */
    double deadline_seconds; /* for one order to the runner */
    double chance; /* that some row of a block is beyond its probable bound; 0: none is asked for */
    const volatile int *stop; /* NULL, or: once it is not 0, making answers dies as interrupted */
} judge_settings;

/* A judge with what is its own, grown as needed and kept, since a run judges thousands of cases of few
 * sizes. */
struct row_judge {
    ln_reference *reference;
    textbook book;
    kernel_runner *runner; /* borrowed; the conformance tests ask it */
    char taken
        [NAME_MAX_LENGTH]; /* the kernel that the call of the library took, where it is asked */
    bool upper_halves;     /* the kernel leaves those of vector registers in use */
    judge_settings settings;
    arena outputs;          /* the memory of what follows, up to by_row */
    char *computed, *other; /* outputs of the block that judge_reserve() made room for */
    /* Outputs of one number a row, by role; all bits set where the kernel left none: as they were given,
     * and as metrics take them, rounded to f32 but for f64 rows. */
    double *given[ROLES_MOST], *rounded[ROLES_MOST];
    ln_bound *bounds;
    double probable_row_ulp; /* as case_judgement's */
    judged_row *by_row;
    double *values; /* a row, by judge_load_row() */
    bool *wrong_columns,
        *wrong_rows; /* of the last row that was described; of the block, in `outputs` */
    size_t bytes, rows,
        hidden; /* that there is room for: of an output, of what each row has, of values */
};

/* The runner (runner.h) is borrowed, and kept for harness/conformance; NULL where
 * only judge_output() is called. */
row_judge *judge_create(kernel_runner *runner, const judge_settings *settings);
void judge_destroy(row_judge *judge);
/* How right answers were decided, in words, "1536 elements: 1530 in double-double, 6 at the first precision";
 * ways that decided none are left out. */
const char *judge_describe_counts(const ln_reference_counts *counts, char *buffer, size_t size);

/* Judges one dense output against a block, without any kernel: pass (no bound); inaccurate (beyond
 * any order of summation, or max_row_ulp); wrong-class; not judged where neither limit says
 * anything. */
void judge_output(row_judge *judge, const judge_block *block, const void *computed,
                  case_judgement *judgement);

/* ---- its steps ---- */

/* What is known of a kernel, or of an output that some kernel made. */
typedef struct judged_kind {
    bool has_bound;
    bool flushes;
    ln_type accumulator; /* what the sums are held to */
    ln_type given;       /* of statistics as the kernel gives them */
} judged_kind;

/* Of an output that nobody knows the kernel of: sums as people have them for the type. */
judged_kind judged_kind_unknown(const judge_block *block);

/* What row `row` may be off without a bound, from the block's store. */
const row_limits *judge_limits(row_judge *judge, const judge_block *block, const judged_kind *kind,
                               size_t row);
/* The row that is normalised, with the residual in it, as doubles in judge->values. */
void judge_load_row(row_judge *judge, const judge_block *block, size_t row);
/* Room for a block's outputs; each kernel's calls on a block begin with it. */
void judge_reserve(row_judge *judge, const judge_block *block);

/* What is known of a block's output while its rows are gone through. */
typedef struct row_findings {
    case_verdict verdict;
    size_t unclaimed; /* rows without a claim */
    size_t untold;    /* of those, rows off by more than 1 row ULP of which nothing is known */
    size_t explained; /* rows that are wrong, and what explains them all */
    mistake_set mistakes;
} row_findings;

void judge_find(row_findings *findings, verdict_kind kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Holds y, which came out as row `row`, against its answer and bound, or, where there is none,
 * against what any order of summation and the textbook explain. Of what is wrong the most telling is kept. */
void judge_row(row_judge *judge, const judge_block *block, const void *y, size_t row,
               const judged_kind *kind, row_findings *findings);
/* All rows of a block, and which of them are wrong. */
void judge_rows(row_judge *judge, const judge_block *block, const void *computed,
                const judged_kind *kind, row_findings *findings);
/* Of 16-bit rows that are rounded elsewhere than they are asked to. */
void judge_rounding(const judge_block *block, const void *y, row_findings *findings);
/* As judge_row(), for the outputs of one number a row that the kernel gave. */
void judge_statistics(row_judge *judge, const judge_block *block, size_t row,
                      const judged_kind *kind, row_findings *findings);
/* The metrics of all rows, and each row's part in judge->by_row. */
void judge_measure(row_judge *judge, const judge_block *block, const void *computed, bool has_bound,
                   bool has_statistics, case_judgement *judgement);
void judge_conclude(const row_judge *judge, const judge_block *block, bool has_bound,
                    row_findings *findings, case_judgement *judgement);
/* All rows of an output of one call, with the statistics beside it or without, to the verdict. */
void judge_call(row_judge *judge, const judge_block *block, const void *computed,
                const judged_kind *kind, bool statistics, row_findings *findings,
                case_judgement *judgement);

/* Whether every element of a row has the class (NaN, +Inf, -Inf, finite) of the exact answer;
 * *column: the first that does not. */
bool judge_classes_match(const judge_block *block, size_t row, const void *y, size_t *column);

/* Whether all bits are set: what stands where nothing was written. */
static inline bool judge_is_poison(const void *bytes, size_t size)
{
    const unsigned char *byte = bytes;
    while (size > 0 && *byte == 0xff) {
        byte++;
        size--;
    }
    return size == 0;
}

/* Whether a kernel gave this number. */
static inline bool judge_is_given(const double *statistic)
{
    return !judge_is_poison(statistic, sizeof *statistic);
}

/* ---- gradients that were made elsewhere, against the certified ones (certify/backward.h) ---- */

enum { GRADIENT_DX, GRADIENT_DGAMMA, GRADIENT_DBETA, GRADIENTS };

const char *gradient_name(size_t which); /* "dx", "dgamma", "dbeta" */

/* x, dy and dx are dense, of the storage type; the others of the parameter type. given: NULL of one that is
 * not judged. Errors are found as of an output, the scale of a row being its largest exact value; NaN where there
 * is nothing to measure. No bound of the sums is known here, so that nothing is called inaccurate: the caller may
 * set a limit. */
void judge_gradients(const ln_problem *problem, const ln_tensors *tensors, const void *dy,
                     const void *const given[GRADIENTS], ln_metrics found[GRADIENTS]);

/* ---- which rtol and atol tell a right implementation from a wrong one ---- */

/* Two right implementations a and b: |a - b| <= atol + rtol |b| for all elements, as allclose() has it, of
 * which each may be off by what any order of its sums gives. rtol is what both round last, 2 u
 * of the storage type. */
enum { TOLERANCE_MISTAKES = NEIGHBOURS_MOST + 1 };

typedef struct tolerance_mistake {
    char words[CONVENTION_MAX_LENGTH + 20]; /* a neighbouring convention, or the type of the sums */
    double atol; /* below it allclose() tells it from a right one; infinite: always */
} tolerance_mistake;

typedef struct tolerance {
    double rtol;
    double certain,
        likely;   /* atol: always enough; enough but for one block in 1e9, where roundings are
                               independent and zero on average. Infinite: no claim for some row */
    double usual; /* atol between right ones as textbooks have them, about */
    tolerance_mistake mistakes[TOLERANCE_MISTAKES];
    size_t count;
} tolerance;

void tolerance_find(row_judge *judge, const judge_block *block, tolerance *found);

#endif
