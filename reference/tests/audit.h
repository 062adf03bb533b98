/* The audit: is this the correctly rounded result? Decided by integers alone.
 *
 * It shares nothing with the reference: no MPFR, no rational, no root, no division, and the
 * variance comes from the squared deviations, not from sums of squares. A claimed result r is
 * accepted where the exact value lies between the midpoints of r and its neighbours, which is
 * decided by comparing squares of integers; an exact midpoint belongs to the even neighbour.
 */
#ifndef AUDIT_H
#define AUDIT_H

#include "certify/fast_row.h"
#include "certify/reference.h"

typedef struct audit_state audit_state;

audit_state *audit_create(void);
void audit_destroy(audit_state *audit);

/* Takes a row in: finite values of this type, at least one. */
void audit_take(audit_state *audit, const ln_convention *convention, size_t hidden, ln_type type,
                const void *x);

/* Whether xhat is defined in the row taken. */
bool audit_is_defined(const audit_state *audit);

/* One element's claimed results: y in the row's type and as a double; rest only for f64. */
typedef struct audit_claim {
    double rounded, exact, rest;
} audit_claim;

/* Whether these are the right results for one element of the row, gamma and beta as stored. A row
 * that is not defined asks for NaN in all. */
bool audit_accepts(audit_state *audit, double x, double gamma, double beta, audit_claim claim);

/* Whether an element of a defined row lies where the quick path says. */
bool audit_encloses(audit_state *audit, double x, double gamma, double beta,
                    fast_interval interval);

/* Whether everything that is stated of the row as a whole is right. */
bool audit_accepts_row(audit_state *audit, const ln_reference_result *result);

/* Whether sum is x + residual rounded to the type. */
bool audit_accepts_sum(audit_state *audit, ln_type type, double x, double residual, double sum);

#endif
