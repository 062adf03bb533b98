/* The audit: is this the correctly rounded result? Decided by integers alone.
 *
 * It shares nothing with the reference: no MPFR, no rational, no root, no division, and the
 * variance comes from the squared deviations, not from sums of squares. A claimed result r is
 * accepted where the exact value lies between the midpoints of r and its neighbours, which is
 * decided by comparing squares of integers; an exact midpoint belongs to the even neighbour.
 */
#ifndef AUDIT_H
#define AUDIT_H

#include "reference.h"

typedef struct audit audit;

audit *audit_create(void);
void audit_destroy(audit *audit);

/* Takes a row in: finite values, at least one. */
void audit_take(audit *audit, const ln_convention *convention, size_t hidden, const float *x);

/* Whether xhat is defined in the row taken. */
bool audit_is_defined(const audit *audit);

/* Whether rounded and exact are the right results for one element of the row, gamma and beta as
 * stored. A row that is not defined asks for NaN in both. */
bool audit_accepts(audit *audit, float x, float gamma, float beta, float rounded, double exact);

/* Whether everything that is stated of the row as a whole is right. */
bool audit_accepts_row(audit *audit, const ln_reference_result *result);

/* Whether sum is x + residual rounded to f32. */
bool audit_accepts_sum(audit *audit, float x, float residual, float sum);

#endif
