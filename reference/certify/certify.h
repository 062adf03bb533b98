/* Rounds one element of a row with a certificate, by the cheapest method that decides it.
 *
 *     certifier_init(&certifier);
 *     if (exact_row_take(&certifier.row, &convention, hidden, x) && certifier.row.defined) {
 *         certifier_take(&certifier, CERTIFIER_PRECISION, convention.affine);
 *         ... certify(&certifier, &element) ...
 *     }
 *     certifier_clear(&certifier); */
#ifndef LN_CERTIFY_H
#define LN_CERTIFY_H

#include "certify/enclosure.h"
#include "exact/exact_row.h"
#include "certify/fast_row.h"
#include "certify/reference.h"
#include "certify/rounding.h"

/* The first precisions: enough for a double, and for a double and its rest. */
enum { CERTIFIER_PRECISION = 128, CERTIFIER_PRECISION_F64 = 192 };

typedef struct row_certifier {
    exact_row row;
    fast_row fast;
    value_enclosure first;  /* at the first precision, set once a row */
    value_enclosure raised; /* at the last higher precision */
    bool raised_taken;      /* raised belongs to this row */
    ln_reference_counts counts;
} row_certifier;

void certifier_init(row_certifier *certifier);
void certifier_clear(row_certifier *certifier);

/* Prepares certifier->row, which must be defined. With CERTIFIER_PRECISION, for rows of f32 values, this includes the
 * quick path. */
void certifier_take(row_certifier *certifier, mpfr_prec_t precision, ln_affine affine);

/* Rounds an element whose gamma and beta are finite to float and double, by MPFR and, if that
 * cannot decide, by exact comparison. */
rounded_pair certify(row_certifier *certifier, const row_element *element);

/* The same, but rounds to double, and then the rest to double. */
rounded_rest certify_rest(row_certifier *certifier, const row_element *element);

/* Returns the exact sign of xhat (with eps under LN_EPS_QUOTIENT). */
int sign_of_xhat(row_certifier *certifier, double x);

#endif
