/* An output row by row, for whoever has a kernel run and holds what came out against a block's answers.
 *
 *     row_findings findings = {.verdict.kind = VERDICT_RIGHT};
 *     judge_reserve(judge, &block);                                // then y into judge->computed
 *     judge_call(judge, &block, judge->computed, &kind, false, &findings, &judgement);
 */
#ifndef LNBENCH_JUDGE_ROWS_H
#define LNBENCH_JUDGE_ROWS_H

#include "judge/judge.h"
#include "judge/row_limits.h"
#include <sys/types.h>

/* A judge with what is its own, grown as needed and kept, since a run judges thousands of cases of few
 * sizes. */
struct row_judge {
    ln_reference *reference;
    textbook book;
    kernel_runner *runner; /* borrowed; the conformance tests ask it */
    const judge_block
        *placed;     /* whose inputs lie in the runner's memory, as an order for it has them */
    off_t placed_at; /* and from where on */
    struct order_batch *batch; /* of harness/conformance; NULL: nothing was asked yet */
    char taken
        [NAME_MAX_LENGTH]; /* the kernel that the call of the library took, where it is asked */
    bool upper_halves;     /* the kernel leaves those of vector registers in use */
    judge_settings settings;
    char *computed, *other; /* outputs of the block that judge_reserve() made room for */
    /* Outputs of one number a row, by role; all bits set where the kernel left none: as they were given,
     * and as metrics take them, rounded to f32 but for f64 rows. */
    double *given[ROLES_MOST], *rounded[ROLES_MOST];
    ln_bound *bounds;
    double probable_row_ulp; /* as case_judgement's */
    judged_row *by_row;
    double *values;                   /* a row, by judge_load_row() */
    bool *wrong_columns, *wrong_rows; /* of the last row that was described, and of the block */
    size_t bytes, rows,
        hidden; /* that there is room for: of an output, of what each row has, of values */
};

/* What is known of a kernel, or of an output that some kernel made. */
typedef struct judged_kind {
    bool has_bound;
    bool flushes;
    ln_type accumulator; /* what the sums are held to */
    ln_type given;       /* of statistics as the kernel gives them */
} judged_kind;

/* Of an output that nobody knows the kernel of: sums as people have them for the type. */
judged_kind judged_kind_unknown(const judge_block *block);

/* What is written out of x + residual, element i. */
double judge_right_sum(const judge_block *block, size_t i);

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
/* As judge_row(), for the outputs of one number a row that the kernel gave. */
void judge_statistics(row_judge *judge, const judge_block *block, size_t row,
                      const judged_kind *kind, row_findings *findings);
/* All rows of an output of one call, with the statistics beside it or without, to the verdict. */
void judge_call(row_judge *judge, const judge_block *block, const void *computed,
                const judged_kind *kind, bool statistics, row_findings *findings,
                case_judgement *judgement);
/* The metrics of all rows, and each row's part in judge->by_row. */
void judge_measure(row_judge *judge, const judge_block *block, const void *computed, bool has_bound,
                   bool has_statistics, case_judgement *judgement);
void judge_conclude(const row_judge *judge, const judge_block *block, bool has_bound,
                    row_findings *findings, case_judgement *judgement);

/* Whether every element of a row has the class (NaN, +Inf, -Inf, finite) of the exact answer;
 * *column: the first that does not. */
bool judge_classes_match(const judge_block *block, size_t row, const void *y, size_t *column);

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

/* Of an input that is there; else NULL. */
static inline const void *judge_input_row(const judge_block *block, size_t role, size_t row)
{
    return block->inputs[role] ? judge_row_of(block, block->inputs[role], row) : NULL;
}

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

/* Of 16-bit rows that are rounded elsewhere than they are asked to. */
void judge_rounding(const judge_block *block, const void *y, row_findings *findings);

#endif
