/* The element types: reading them, and rounding to those of 16 bits. */
#ifndef LN_STORAGE_H
#define LN_STORAGE_H

#include "layernorm.h"
#include <stdbool.h>

/* Bytes of an element. */
size_t storage_size(ln_type type);

/* Element i of values, exactly. */
double storage_load(ln_type type, const void *values, size_t i);

/* Stores a value that the type has (or an infinity or a NaN) as element i. */
void storage_store(ln_type type, void *values, size_t i, double value);

/* Whether value is the midpoint of two neighbours of the type (or of the largest and the power of
 * two that follows). Not for f64. */
bool storage_is_midpoint(ln_type type, double value);

/* The number of the type that is nearest to a real number of which value is the nearest double. At
 * a midpoint, side is the sign of the number less value; 0 is a tie and goes to even. Beyond the
 * type's range +-infinity. Not for f64. */
double storage_round(ln_type type, double value, int side);

#endif
