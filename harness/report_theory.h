/* How far rounding may carry mean, variance and y, to first order, for the ways of summing that the
 * kernels have: the lines of the charts. docs/accuracy.md derives them; the bounds that kernels
 * prove (their bound() functions) are other, longer formulas, in which nothing is left out.
 *
 *     theory theory;
 *     if (theory_of(&kernel, hidden, &theory))
 *         error = theory_variance(&theory, kappa);
 */
#ifndef LNBENCH_REPORT_THEORY_H
#define LNBENCH_REPORT_THEORY_H

#include "layernorm_plugin.h"
#include <stdbool.h>

typedef enum theory_kind {
    THEORY_TEXTBOOK,  /* sum x, sum x^2 */
    THEORY_SHIFTED,   /* the same of x - pivot */
    THEORY_TWO_PASS,  /* the mean, then squares of differences */
    THEORY_CORRECTED, /* and the mean of the differences */
    THEORY_UPDATED,   /* running means and squares */
    THEORY_LANEWISE,  /* shifted, with a pivot for each lane */
    THEORY_DOUBLED,   /* two passes in pairs of numbers */
    THEORY_VERIFIED,  /* textbook; a row that loses too much is done again in two passes */
    THEORY_MIXED,     /* textbook about zero, else about the mean */
} theory_kind;

typedef struct theory {
    theory_kind kind;
    bool two_parts; /* the mean is held in two numbers */
    bool expanded;  /* x * rstd and mean * rstd are rounded before they are subtracted */
    double depth;   /* roundings that a term of a sum goes through, its product's among them */
    double unit;    /* rounding unit of the sums: 2^-24, 2^-53 */
    double rstd;    /* of root and quotient: the accumulators' */
    double apply;   /* of x - mean, its product and what follows */
    double storage; /* of y */
} theory;

/* What is known of a kernel, as its descriptor has it. */
typedef struct theory_kernel {
    const char *statistics, *apply, *isa;
    ln_type storage, accumulator;
    unsigned unroll;
} theory_kernel;

/* False: it is not known how this kernel sums. */
bool theory_of(const theory_kernel *kernel, size_t hidden, theory *theory);

/* The relative error of var on a row of this kappa; and of var with eps as rstd shows it, which
 * adds what the sum with eps, root and quotient round. */
double theory_variance(const theory *theory, double kappa);
double theory_variance_seen(const theory *theory, double kappa);
/* |mean' - mean| / std. */
double theory_mean(const theory *theory, double kappa);
/* Of y, in row ULP. */
double theory_row_ulp(const theory *theory, double kappa);

#endif
