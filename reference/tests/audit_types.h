/* The element types as the audit sees them: by their bits, apart from the reference's own reading.
 */
#ifndef AUDIT_TYPES_H
#define AUDIT_TYPES_H

#include "layernorm.h"
#include <stdbool.h>
#include <stdint.h>

enum { AUDIT_TYPES = 4 };

extern const char *const audit_type_names[AUDIT_TYPES];

/* Element i of an array of the type. */
double audit_load(ln_type type, const void *values, size_t i);

/* The same as bits, and a value from its bits. */
uint64_t audit_bits(ln_type type, const void *values, size_t i);
double audit_value(ln_type type, uint64_t bits);

/* Writes the number of the type nearest to value that is not beyond it in size, as element i. */
void audit_store(ln_type type, void *values, size_t i, double value);

/* The same for the nearest number, a tie going to the even one; infinities stay. */
void audit_store_nearest(ln_type type, void *values, size_t i, double value);

/* A number of the type and the two beside it; an infinity, here and beside, stands for the power of
 * two that follows the largest number. Zeros of either sign are one number. */
typedef struct audit_neighbours {
    double below, value, above;
    bool even; /* the last bit of value is 0 */
} audit_neighbours;

audit_neighbours audit_neighbours_of(ln_type type, double value);

#endif
