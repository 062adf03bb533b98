/* What may have been normalised, and with which parameters: layout.c makes it, fingerprint.c goes through it. */
#ifndef LNBENCH_FINGERPRINT_INSIDE_H
#define LNBENCH_FINGERPRINT_INSIDE_H

#include "base/allocate.h"
#include "exact/scale.h"
#include "judge/judging.h"
#include "judge/sums.h"
#include "judge/fingerprint/fingerprint.h"

/* More groups than two axes of a tensor in memory have divisors. RANK_ALONE: of x without the residual. */
enum {
    REDUCTIONS_MOST = 2048,
    SOURCES_MOST = 6,
    SPLIT_AXES = FINGERPRINT_AXES + 1,
    RANK_ALONE = 10
};

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

enum {
    AFFINES_MOST = USES_TRIED * FINGERPRINT_AXES
}; /* along the last axes, or one of the others */

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
void check_parameters(const fingerprint_input *input);
/* Of one that is all zero. */
void layout_make(const fingerprint_input *input, layout *made);

#endif
