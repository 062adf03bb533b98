/* What the judge asks of an operation: a row of functions, from a file of the operation's own; and what such
 * files share, since sums cost the same whatever is summed.
 *
 *     const operation_judging *judging = judgings[block->operation];
 *     judging->any_order(&asked, &facts);
 *
 * A new operation is a file that defines NAME_judging, and its line in domain/operations.def. */
#ifndef LNBENCH_JUDGING_H
#define LNBENCH_JUDGING_H

#include "exact/scale.h"
#include "judge/judge.h"

/* An output of one number a row, as a kernel gave it. */
typedef struct judged_statistic {
    double exact;
    double off;    /* |given - exact|, or relative: |given / exact - 1| */
    double size;   /* of exact in the unit of `off`: |exact|, or 1 */
    double weight; /* the largest |xhat| changes by this for each unit of `off` */
    double error;  /* signed, as a judged_row has it */
    bool relative;
} judged_statistic;

/* A row whose y is wrong. */
typedef struct explained_row {
    const metrics_row *row;
    const double *x; /* with the residual in it */
    const void *y;
    double limit; /* row ULP that rounding may take */
    const judge_block *block;
    size_t number; /* the row's, in the block */
} explained_row;

struct operation_judging {
    /* The exact answer of a row, into block->results. False: memory. */
    bool (*answer)(ln_reference *reference, const judge_block *block, size_t row);
    /* How far off any order of summation may be, and the ways of the textbook are (x: hidden elements,
     * with the residual in it). */
    order_answer (*any_order)(const order_question *asked, const ln_row_facts *facts);
    textbook_errors (*textbook)(textbook *book, const metrics_row *row, const double *x,
                                ln_type accumulator);
    /* Likewise with the ways that are correct and lose more on some rows, where a kernel is at a limit; NULL:
     * there are none. */
    textbook_errors (*poorest)(textbook *book, const metrics_row *row, const double *x,
                               ln_type accumulator);
    /* What kernels do that gives this y, to within the limit; and one of them in words that follow
     * SAYS_MISTAKE. False: these are several. NULL: nothing is known. */
    mistake_set (*mistakes)(const explained_row *asked);
    bool (*say_mistake)(const ln_convention *own, uint64_t bits, char why[ROW_FAULT_LENGTH]);
    /* The largest number that an element's way may come by. */
    double (*reach)(const metrics_row *row, const double *x, size_t column);
    judged_statistic (*statistic)(const ln_reference_result *answer, size_t role, double given);
    /* Of x + residual, element i: what is normalised, and what is written out; NULL: it adds none. */
    double (*added)(const judge_block *block, size_t i);
    double (*sum)(const judge_block *block, size_t i);
    /* The bit of what a kernel does that rounds elsewhere than it is asked to; 0: nothing tells. */
    uint64_t (*rounded_otherwise)(const judge_block *block, const void *y);
};

/* By ln_operation. */
extern const operation_judging *const judgings[];

/* ---- for the file of an operation ---- */

/* Of an input that is there; else NULL. */
static inline const void *judge_input_row(const judge_block *block, size_t role, size_t row)
{
    return block->inputs[role] ? judge_row_of(block, block->inputs[role], row) : NULL;
}

/* x + residual of element i; NaN where that is none. */
static inline double sum_in_double(const judge_block *block, size_t i)
{
    return load(block->storage, block->inputs[ROLE_X], i) +
           load(block->storage, block->inputs[ROLE_RESIDUAL], i);
}

/* What rounding elsewhere changes of element i of a row, `at` in the block, before the last rounding; `which`: as
 * given. */
typedef double taken_of(const judge_block *block, const metrics_row *row, size_t at, size_t i,
                        const void *which);
/* Whether y is off by that. Only of 16-bit rows, where what a rounding takes is as large as the result's own:
 * false of others. */
bool judge_follows(const judge_block *block, const void *y, taken_of *taken, const void *which);

/* fingerprint/mistakes.c: what .mistakes and .say_mistake are of LayerNorm and of RMSNorm; of
 * divisor, eps, parameters, the residual, and rows. */
mistake_set norm_mistakes(const explained_row *asked);
bool norm_say_mistake(const ln_convention *own, uint64_t bits, char why[ROW_FAULT_LENGTH]);
/* Bits of what .rounded_otherwise finds. */
enum { MISTAKE_CAST = 32, MISTAKE_ROOT, MISTAKE_SUM, MISTAKE_OFFSET };

/* rmsnorm.c: the root of a mean square, with what the convention rounds. */
double rmsnorm_rounded_root(const ln_convention *convention, ln_type storage, double square);

/* What rounding costs in a type. */
typedef struct arithmetic {
    double unit, tiny, largest;
} arithmetic;

arithmetic arithmetic_of(ln_type type, bool flushes);
/* The largest power of two of a type. */
double largest_power(ln_type type);
/* Whether rstd, and the variance that it is the root of, are ordinary numbers where a kernel keeps
 * them: estimates of a root take a subnormal variance for 0, and a kernel with sums in f64 may keep
 * rstd as the rows' f32. */
bool rstd_is_ordinary(ln_type accumulator, ln_type storage, double rstd);
/* n roundings, one after another: n u / (1 - n u), or with probability 1 - chance; infinite: no claim. */
double gamma_of(double n, double u);
double gamma_with(double n, double u, double chance);
/* |rstd' / rstd - 1| of a mean square S that is `lost` off; infinite: no claim. */
double rstd_error(const ln_convention *convention, double S, double lost, double u);
/* The unit of what is done once the sums are known. */
double unit_behind(const order_question *asked);

/* One operation's result in the accumulator's type. Two roundings are one here: 53 >= 2 p + 2
 * (Figueroa 1995). */
static inline double rounded_to(ln_type type, double value)
{
    if (type == LN_F32)
        return (double)(float)value;
    return type == LN_F64 || !isfinite(value) ? value : stored_in(type, value);
}

/* A sum in one of the orders that people write: in one chain, backwards, in 4, 16, 64 lanes, pairwise. */
enum { SUM_ORDERS = 6 };
double add_in_order(ln_type type, const double *terms, size_t count, int order);
/* Makes room for so many terms. */
void textbook_reserve(textbook *book, size_t terms);

#endif
