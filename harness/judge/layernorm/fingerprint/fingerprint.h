/* Which convention made this output? Black-box fingerprinting of LayerNorms.
 *
 *     fingerprint_input input = {.rows = 6, .hidden = 4, .inputs = {x}, .y = y, .digits = 4,
 *                                .x_digits = FINGERPRINT_EXACT, .noise = 2};
 *     fingerprint found;
 *     if (fingerprint_make(&input, &found, &err))
 *         ... found.candidates[0] is the nearest; those with the same .group can't be told apart
 *     fingerprint_free(&found);
 *
 * Every divisor x place of eps x size of eps (1e-3, 1e-4, ... 1e-12, 0, and one estimated from the
 * data where none of these explains it) x affine form that the given gamma and beta allow is held
 * against the exact answers, which are made from the certified reference (rows.c).
 */
#ifndef LNBENCH_FINGERPRINT_H
#define LNBENCH_FINGERPRINT_H

#include "domain/operation.h"

enum { FINGERPRINT_EXACT = -1, FINGERPRINT_MOST_DIGITS = 17, FINGERPRINT_PROBES = 4 };

/* Whose outputs are told apart. */
extern const operation layernorm_operation;

typedef struct fingerprint_input {
    size_t rows, hidden;
    const float *inputs[ROLES_MOST]; /* by role; x alone is needed */
    size_t parameters;               /* elements of gamma and of beta: 1 or hidden */
    const double *y;                 /* what came out */
    bool y_is_f64;                   /* y was computed and kept in f64; else every y is an f32 */
    int digits;   /* decimals that y was printed to, or FINGERPRINT_EXACT: y is the value itself */
    int x_digits; /* the same for x */
    double noise; /* with digits: what the box's own rounding may add, in row ULP of f32 */
} fingerprint_input;

typedef struct fingerprint_candidate {
    ln_convention convention;
    bool estimated;           /* eps was found by fitting */
    double eps_low, eps_high; /* then: every eps between explains the data about as well */
    bool possible;            /* with digits: no printed number excludes it; else true */
    uint64_t mismatches;      /* elements of another class (NaN, infinite, finite) than y */
    double row_ulp_max;       /* distance of y in row ULP of f32 (metrics.h), over finite pairs */
    double rel_l2;            /* the same as ||y - exact|| / ||exact||; NaN for an exact 0 */
    size_t group;             /* candidates of one group can't be told apart on this data */
} fingerprint_candidate;

/* A row to feed to the black box next: +-scale in turn (0 at the end of an odd row). */
typedef struct fingerprint_probe {
    float scale;
    size_t pairs;        /* of candidates of the first group that it tells apart, and no row before
                            it in the list */
    double least_margin; /* of those: the least distance, in units of what the data resolves */
} fingerprint_probe;

typedef struct fingerprint {
    size_t rows, hidden;
    fingerprint_candidate *candidates; /* ranked */
    size_t count, first_group;         /* first_group: how many have group 0; they come first */
    double resolution; /* in row ULP of f32; without digits: closer answers are taken as alike */
    double rounding_reach; /* row ULP that plain f32 summation may reach on these rows: 2 N kappa,
                              kappa the largest finite one; infinite where there is none */
    double eps_low,
        eps_high; /* every eps between explains y as well as that of the nearest candidate
                                 does; both 0 where it has none */
    bool printed; /* x or y are intervals: `possible` says something */
    fingerprint_probe probes[FINGERPRINT_PROBES];
    size_t probe_count;
    size_t pairs, pairs_left; /* in the first group; those that no probe row tells apart */
} fingerprint;

/* Ranks the candidates. False: memory. */
bool fingerprint_make(const fingerprint_input *input, fingerprint *found, error *err);
void fingerprint_free(fingerprint *found);

/* Element i of a probe row. */
float fingerprint_probe_value(const fingerprint_probe *probe, size_t hidden, size_t i);

/* Whether the data says what eps the nearest candidate has, to a quarter. */
bool fingerprint_eps_is_settled(const fingerprint *found);

/* Whether the nearest candidate explains y: possible as printed, or nearer than rounding_reach. */
bool fingerprint_fits(const fingerprint *found);

#endif
