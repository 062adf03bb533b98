/* Reads and stores elements of all types, and rounds to the 16-bit types. */
#ifndef LN_STORAGE_H
#define LN_STORAGE_H

#include "layernorm.h"
#include <stdbool.h>
#include <stdint.h>

/* Returns element i of values, exactly. */
double storage_load(ln_type type, const void *values, size_t i);

/* Stores a value that is not finite as element i. */
void storage_store(ln_type type, void *values, size_t i, double value);

/* For the 16-bit types: returns whether value is the midpoint of two neighbours (or of the largest number and
 * the next power of two). */
bool storage_is_midpoint(ln_type type, double value);

/* For the 16-bit types: returns the bits of the number that is nearest to a real number whose nearest double is
 * value. At a midpoint, side is the sign of the real number minus value; 0 is a tie, which
 * is rounded to even. Outside the type's range the result is +-infinity. */
uint16_t storage_round(ln_type type, double value, int side);

#endif
