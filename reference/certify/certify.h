/* One element of a row to its certified rounding, by the cheapest means that decides it.
 *
 *     certifier_init(&certifier);
 *     if (exact_row_take(&certifier.row, &convention, hidden, x) && certifier.row.defined) {
 *         certifier_take(&certifier, CERTIFIER_PRECISION, convention.affine);
 *         ... certify(&certifier, &element) ...
 *     }
 *     certifier_clear(&certifier);
 */
#ifndef LN_CERTIFY_H
#define LN_CERTIFY_H

#include "certify/enclosure.h"
#include "exact/exact_row.h"
#include "certify/fast_row.h"
#include "certify/reference.h"
#include "certify/rounding.h"

/* First precisions: enough for a double, and for a double and what is left of it. */
enum { CERTIFIER_PRECISION = 128, CERTIFIER_PRECISION_F64 = 192 };

typedef struct row_certifier {
    exact_row row;
    fast_row fast;
    value_enclosure first;  /* at the first precision, taken once a row */
    value_enclosure raised; /* at whatever was needed last */
    bool raised_taken;      /* raised belongs to this row */
    ln_reference_counts counts;
} row_certifier;

void certifier_init(row_certifier *certifier);
void certifier_clear(row_certifier *certifier);

/* Begins with certifier->row, which is defined. At CERTIFIER_PRECISION, for rows of f32 values, the
 * quick path is made ready too. */
void certifier_take(row_certifier *certifier, mpfr_prec_t precision, ln_affine affine);

/* An element whose gamma and beta are finite, rounded to float and double by MPFR and, where that
 * cannot decide, exact comparison. */
rounded_pair certify(row_certifier *certifier, const row_element *element);

/* The same, rounded to double and then what is left of it rounded to double. */
rounded_rest certify_rest(row_certifier *certifier, const row_element *element);

/* The sign of xhat (with eps under LN_EPS_QUOTIENT), exactly. */
int sign_of_xhat(row_certifier *certifier, double x);

#endif
