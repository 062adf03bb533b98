/* The part of the judge that depends on the operation: a struct of functions, defined in a file for each operation; and
 * functions that these files share.
 *
 *     const operation_judging *judging = judgings[block->operation];
 *     judging->any_order(&question, &facts);
 *
 * A new operation is a file that defines NAME_judging, and its line in domain/operations.def. */
#ifndef LNBENCH_JUDGING_H
#define LNBENCH_JUDGING_H

#include "exact/scale.h"
#include "judge/judge.h"

/* A statistic (mean or rstd) of a row as a kernel wrote it, compared with the exact one. */
typedef struct judged_statistic {
    double exact;
    double off;    /* |given - exact|, or, if relative, |given / exact - 1| */
    double size;   /* |exact|, or 1 if relative */
    double weight; /* the change of the largest |xhat| for each unit of `off` */
    double error;  /* signed, as in judged_row */
    bool relative;
} judged_statistic;

/* A row whose y is wrong. */
typedef struct explained_row {
    const metrics_row *row;
    const double *x; /* with the residual added */
    const void *y;
    double limit; /* the row ULP that rounding may cause */
    const judge_block *block;
    size_t number; /* of the row in the block */
} explained_row;

typedef struct operation_judging {
    /* Computes the exact answer of a row into block->results. False: memory ran out. */
    bool (*answer)(ln_reference *reference, const judge_block *block, size_t row);
    /* Return the largest error of any order of summation, and the errors of the textbook algorithms (x: hidden
     * elements, with the residual added). */
    order_answer (*any_order)(const order_question *question, const ln_row_facts *facts);
    textbook_errors (*textbook)(const metrics_row *row, const double *x, ln_type accumulator);
    /* Returns the errors of correct algorithms that lose more digits on some rows: a kernel within them is
     * type-limited. NULL: there are no such algorithms. */
    textbook_errors (*poorest)(const metrics_row *row, const double *x, ln_type accumulator);
    /* Returns the bit of the mistake if y was rounded in another place than the convention says; 0: it was not. */
    uint64_t (*rounded_otherwise)(const judge_block *block, const void *y);
} operation_judging;

/* Indexed by ln_operation. */
extern const operation_judging *const judgings[];

/* ---- for the file of an operation ---- */

/* Returns a row of an input; NULL if the input is absent. */
static inline const void *judge_input_row(const judge_block *block, size_t role, size_t row)
{
    return block->inputs[role] ? judge_row_of(block, block->inputs[role], row) : NULL;
}

/* Returns element i of x + residual in double; NaN if the sum is NaN. */
static inline double sum_in_double(const judge_block *block, size_t i)
{
    return load(block->storage, block->inputs[ROLE_X], i) +
           load(block->storage, block->inputs[ROLE_RESIDUAL], i);
}

/* Returns element i of the value that is normalised under a convention: x, or x + residual. */
double judge_added(const judge_block *block, const ln_convention *convention, size_t i);
/* Returns the size of the largest intermediate result in computing an element. */
double judge_reach(const metrics_row *row, const double *x, size_t column);
/* Compares a statistic that a kernel wrote with the exact one. role: ROLE_MEAN or ROLE_RSTD. */
judged_statistic judge_statistic(const ln_reference_result *answer, size_t role, double given);

/* Returns how much element i of a row (element `at` of the block) changes before its last rounding if a different step
 * is rounded than the convention says; `which` is passed on. */
typedef double taken_of(const judge_block *block, const metrics_row *row, size_t at, size_t i,
                        const void *which);
/* Returns whether the errors of y are those of rounding in that other place (method: judging.c). Always false except
 * for 16-bit rows, since only there such an error is as large as the rounding of the result. */
bool judge_follows(const judge_block *block, const void *y, taken_of *taken, const void *which);

/* Returns the mistakes whose result is this y to within the limit (fingerprint/mistakes.c). */
mistake_set norm_mistakes(const explained_row *wrong);
/* Describes a set of bits in words that follow SAYS_MISTAKE. Returns false if they are more than one mistake. */
bool norm_say_mistake(const ln_convention *own, uint64_t bits, char why[ROW_FAULT_LENGTH]);
/* The bits that .rounded_otherwise returns. */
enum { MISTAKE_CAST = 32, MISTAKE_ROOT, MISTAKE_SUM, MISTAKE_OFFSET };

/* Returns the root of a mean square, rounded as the convention says (rmsnorm.c). */
double rmsnorm_rounded_root(const ln_convention *convention, ln_type storage, double square);

/* The constants of a type's arithmetic: the unit roundoff; the largest error of a subnormal result, which is the
 * smallest normal number if the kernel flushes; and the largest power of two. */
typedef struct arithmetic {
    double unit, tiny, largest;
} arithmetic;

arithmetic arithmetic_of(ln_type type, bool flushes);
/* Returns the largest power of two that a type holds. */
double largest_power(ln_type type);
/* Returns whether rstd and its variance are normal numbers in the types in which a kernel keeps them. Instructions
 * that estimate a root treat a subnormal variance as 0, and a kernel with sums in f64 may keep rstd as f32, the type of
 * the rows. */
bool rstd_is_ordinary(ln_type accumulator, ln_type storage, double rstd);
/* Return a bound of the relative error of n successive roundings: n u / (1 - n u), or one that holds with probability
 * 1 - chance; infinite: there is none. */
double gamma_of(double n, double u);
double gamma_with(double n, double u, double chance);
/* Returns a bound of |rstd' / rstd - 1| for a mean square S with an error `lost`; infinite: no bound is known. */
double rstd_error(const ln_convention *convention, double S, double lost, double u);
/* Returns the unit roundoff of the steps after the sums. */
double unit_behind(const order_question *question);

/* Rounds the result of one operation in double to the accumulator's type. Rounding twice is harmless, since
 * 53 >= 2 p + 2 (Figueroa 1995). */
static inline double rounded_to(ln_type type, double value)
{
    if (type == LN_F32)
        return (double)(float)value;
    return type == LN_F64 || !isfinite(value) ? value : stored_in(type, value);
}

/* Adds numbers in one of the usual orders: forwards, backwards, in 4, 16 or 64 lanes, pairwise. */
enum { SUM_ORDERS = 6 };
double add_in_order(ln_type type, const double *terms, size_t count, int order);

#endif
