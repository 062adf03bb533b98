/* The parts of fingerprint.h, between the files of this folder. Nobody else includes this. */
#ifndef LNBENCH_WHICH_INSIDE_H
#define LNBENCH_WHICH_INSIDE_H

#include "base/allocate.h"
#include "exact/scale.h"
#include "judge/judging.h"
#include "judge/sums.h"
#include "judge/fingerprint/fingerprint.h"

/* ---- layout.c: what may have been normalised, and with which parameters ---- */

/* More groups than two axes of a tensor in memory have divisors. RANK_ALONE: of x without the residual. */
enum { REDUCTIONS_MOST = 2048, SOURCES_MOST = 6, SPLIT_AXES = WHICH_AXES + 1, RANK_ALONE = 10 };

/* Group g has the elements outer[g] + inner[i]. */
typedef struct reduction {
    size_t *outer, *inner, groups, length;
    char words[128]; /* "" for the last axis */
    int rank;
    bool last, single; /* the last axis; one axis */
} reduction;

typedef struct source {
    double *values;  /* what is normalised */
    double *squares; /* where the root is that of other values; else NULL */
    ln_rms_sum sum;  /* how it was added up */
    bool shortened;  /* rounded to a shorter type first */
    char words[64];
    int rank;
} source;

typedef enum affine_use {
    USE_ALL, /* gamma and beta as given */
    USE_NONE,
    USE_GAMMA,
    USE_BETA,
    USE_OFFSET,         /* 1 + gamma */
    USE_OFFSET_ROUNDED, /* 1 + gamma, rounded to gamma's type */
    USE_TWICE,
    USE_BETA_FIRST, /* gamma (xhat + beta) */
    USE_SWAPPED,
    USE_MINUS_BETA,
    USES_TRIED,
    USE_FIRST_GAMMA = USES_TRIED, /* of a kernel of a known convention alone (mistakes.c) */
    USE_FIRST_BETA,
    USES
} affine_use;

enum { AFFINES_MOST = USES_TRIED * WHICH_AXES }; /* along the last axes, or one of the others */

/* What multiplies xhat and what is added. */
typedef struct affine_pair {
    double gamma, beta;
} affine_pair;

affine_pair affine_used(affine_use use, double gamma, double beta);

/* Parameter e / stride % extent belongs to element e. */
typedef struct affine {
    affine_use use;
    double *gamma, *beta;
    size_t stride, extent;
    int axis; /* along which they lie, from the front; -1: along the last ones */
    bool trivial;
} affine;

typedef struct layout {
    reduction reductions[REDUCTIONS_MOST];
    source sources[SOURCES_MOST];
    affine affines[AFFINES_MOST];
    size_t reduction_count, source_count, affine_count, elements;
    arena memory; /* of all of it */
} layout;

/* Dies of gamma and beta that are as long as nothing of x. */
void check_parameters(const which_input *input);
/* Of one that is all zero. */
void layout_make(const which_input *input, layout *made);

/* ---- rows.c: a row's exact answer, from which every candidate's follows, and what sums may be off ---- */

typedef struct exact_row {
    bool tells;                 /* false: sums may be off by everything, or the row is not finite */
    bool undefined;             /* 0 / 0, and every way to compute it says so */
    bool has_nan, has_infinity; /* among what is normalised */
    bool constant;              /* all elements became one by rounding */
    size_t length;
    double *z; /* (x - mean) / std with the divisor N and no eps; of RMSNorm x / root; x where it is
                    * not finite */
    double most;   /* the largest |z| */
    double square; /* the variance, or the mean square */
    double lost;   /* what sums may be off it */
    double shift;  /* what each z may be off alike: the mean, and roundings of x and mean */
    double unit;   /* of roundings behind the sums... */
    double tiny;   /* ...and what they lose of numbers below the normal ones */
} exact_row;

typedef struct row_maker {
    const which_input *input;
    ln_type sums;
    bool coarse;  /* each step may be rounded to a 16-bit type... */
    ln_type step; /* ...this one */
    ln_reference *reference;
    textbook book;
    double *typed, *rounded, *values, *z; /* a row each */
} row_maker;

void row_make(row_maker *maker, ln_operation kind, const reduction *over, const source *from,
              size_t group, exact_row *row);

/* ---- hold.c: a row against the candidates ---- */

/* What was rounded into a number, or printed as it. */
typedef struct range {
    double low, high;
} range;

range rounded_from(ln_type type, double value);

enum { PLACES = 3 }; /* LN_EPS_VAR, _STD, _QUOTIENT, less 1 */

/* Nobody's eps is as large. With a larger one a norm of small numbers would be what no norm is, and with a
 * single beta one on the quotient what beta is. */
#define EPS_MOST 0x1p-6

/* Candidates that differ in divisor (or rounding of the root) and eps alone. */
typedef struct family {
    ln_operation kind;
    const affine *with;
    bool casts; /* xhat is rounded... */
    ln_type cast;
    bool rounds_root; /* RMSNorm: eps[1] is of a root rounded to this type */
    ln_type root;
    /* By divisor N, N - 1 (RMSNorm: root exact, rounded) and place of eps; empty: dead. */
    range eps[2][PLACES];
    bool whole; /* not divided at all: WHICH_CENTRED, WHICH_COPIED */
    bool alive;
    ln_type out;            /* the type of y */
    double bits, most_bits; /* of 16 bits: hold_step() */
} family;

void family_begin(family *one);
/* y: what may have been rounded to each element. */
void family_hold(family *one, const exact_row *row, const size_t *inner, size_t outer,
                 const range *y, double sums);

#endif
