/* The parts of the fingerprint, between fingerprint_*.c. Nobody else includes this. */
#ifndef LNBENCH_FINGERPRINT_INSIDE_H
#define LNBENCH_FINGERPRINT_INSIDE_H

#include "judge/layernorm/fingerprint/fingerprint.h"

/* ---- rows.c: the exact answers of any candidate ---- */

/* One row, normalised exactly without eps (ddof 0), from which every candidate's answer follows. */
typedef struct exact_view {
    const double *z;  /* (x - mean) / std; 0 where var is 0 */
    double var;       /* biased */
    double low, high; /* of z */
    double x_radius;  /* each x is known to +- this */
} exact_view;

/* xhat_i = z_i * factor + shift. */
typedef struct row_factor {
    double factor, shift;
    double max_xhat;
    double deviation_radius;             /* x - mean is known to +- this */
    double std, least_scale, most_scale; /* std (ddof 0) and the range of the denominator */
} row_factor;

enum { AFFINE_FORMS = 5 };

typedef struct fingerprint_rows {
    const fingerprint_input *input;
    double *z, *var, *low, *high, *x_radius; /* rows x hidden, and a row each */
    double *gamma[AFFINE_FORMS],
        *beta[AFFINE_FORMS]; /* hidden each, as applied; NULL: not a form */
    double kappa_max;
} fingerprint_rows;

bool fingerprint_rows_make(const fingerprint_input *input, fingerprint_rows *rows, error *err);
void fingerprint_rows_free(fingerprint_rows *rows);
exact_view fingerprint_row(const fingerprint_rows *rows, size_t row);
row_factor fingerprint_factor(const fingerprint_input *input, const ln_convention *convention,
                              const exact_view *row);

/* Whether x or y are intervals: printed digits. */
bool fingerprint_printed(const fingerprint_input *input);
/* How far y's element may be from the exact answer: half a unit of its last digit, what reading
 * the decimal back rounds, and the box's own rounding. `scale`: |gamma| max|xhat| + |beta|. */
double fingerprint_radius(const fingerprint_input *input, double y, double scale);

/* ---- measure.c: y against a candidate, candidates against each other ---- */

typedef struct fingerprint_distance {
    double row_ulp_max, rel_l2;
    double excess; /* with digits: max of (distance of y from the candidate's range) / radius */
    uint64_t mismatches;
} fingerprint_distance;

/* Over the rows and columns whose numbers are multiples of the steps. */
fingerprint_distance fingerprint_measure(const fingerprint_rows *rows,
                                         const ln_convention *convention, size_t row_step,
                                         size_t column_step);

/* The largest distance of two candidates on one row, in units of what the data resolves there;
 * `enough` ends the search early. Infinite where only one is NaN. */
double fingerprint_apart(const fingerprint_rows *rows, const exact_view *row, double resolution,
                         const ln_convention *a, const ln_convention *b, size_t column_step,
                         double enough);

/* ---- eps.c ---- */

/* Fits eps under the candidate's divisor, place and form; fills convention.eps with the shortest
 * decimal that does as well, and the range. False where no eps > 0 does better than both ends. */
bool fingerprint_fit_eps(const fingerprint_rows *rows, fingerprint_candidate *candidate);

/* Every eps between *low and *high explains y to within `limit` row ULP, under the convention, whose
 * own eps does. */
void fingerprint_eps_range(const fingerprint_rows *rows, const ln_convention *convention,
                           double limit, double *low, double *high);

/* ---- probe.c ---- */

bool fingerprint_find_probes(const fingerprint_rows *rows, fingerprint *found, error *err);

#endif
