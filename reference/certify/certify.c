#include "certify/certify.h"

void certifier_init(row_certifier *certifier)
{
    exact_row_init(&certifier->row);
    enclosure_init(&certifier->first);
    enclosure_init(&certifier->raised);
}

void certifier_clear(row_certifier *certifier)
{
    exact_row_clear(&certifier->row);
    enclosure_clear(&certifier->first);
    enclosure_clear(&certifier->raised);
}

void certifier_take(row_certifier *certifier, mpfr_prec_t precision, ln_affine affine)
{
    enclosure_take(&certifier->first, &certifier->row, precision);
    certifier->fast.usable = false;
    if (precision == CERTIFIER_PRECISION) {
        fast_row_take(&certifier->fast, &certifier->row, affine, &certifier->first);
    }
    certifier->raised_taken = false;
}

static bool equals(row_certifier *certifier, const row_element *element,
                   const critical_number *critical)
{
    return critical->known && exact_row_compare(&certifier->row, element, critical->number) == 0;
}

/* Encloses the element at this precision, above the first. */
static void raise(row_certifier *certifier, const row_element *element, mpfr_prec_t precision)
{
    if (!certifier->raised_taken || certifier->raised.precision != precision) {
        enclosure_take(&certifier->raised, &certifier->row, precision);
        certifier->raised_taken = true;
    }
    enclosure_of(&certifier->raised, &certifier->row, element);
}

rounded_pair certify(row_certifier *certifier, const row_element *element)
{
    rounded_pair rounded;
    critical_number critical;
    value_enclosure *first = &certifier->first, *raised = &certifier->raised;
    enclosure_of(first, &certifier->row, element);
    if (rounding_decides(first->low, first->high, &rounded, &critical)) {
        certifier->counts.first_try++;
        return rounded;
    }
    for (mpfr_prec_t precision = 2 * first->precision;; precision *= 2) {
        if (equals(certifier, element, &critical)) {
            certifier->counts.exact++;
            return rounding_of_critical(&critical);
        }
        raise(certifier, element, precision);
        if (rounding_decides(raised->low, raised->high, &rounded, &critical)) {
            certifier->counts.raised++;
            return rounded;
        }
    }
}

rounded_rest certify_rest(row_certifier *certifier, const row_element *element)
{
    rounded_rest rounded;
    critical_number critical;
    value_enclosure *first = &certifier->first, *raised = &certifier->raised;
    enclosure_of(first, &certifier->row, element);
    if (rounding_decides_rest(first->low, first->high, &rounded, &critical)) {
        certifier->counts.first_try++;
        return rounded;
    }
    for (mpfr_prec_t precision = 2 * first->precision;; precision *= 2) {
        if (equals(certifier, element, &critical)) {
            certifier->counts.exact++;
            return rounding_rest_of_critical(&critical);
        }
        raise(certifier, element, precision);
        if (rounding_decides_rest(raised->low, raised->high, &rounded, &critical)) {
            certifier->counts.raised++;
            return rounded;
        }
    }
}

int sign_of_xhat(row_certifier *certifier, double x)
{
    row_element xhat = {.x = x, .gamma = 1.0};
    return exact_row_compare(&certifier->row, &xhat, (row_target){0.0, 0.0, 0.0, 0.0});
}
