/* The element types: reading them, storing them, and rounding to those of 16 bits. */
#ifndef LN_STORAGE_H
#define LN_STORAGE_H

#include "layernorm.h"
#include <stdbool.h>
#include <stdint.h>

/* Element i of values, exactly. */
double storage_load(ln_type type, const void *values, size_t i);

/* Stores a value that is not finite as element i. */
void storage_store(ln_type type, void *values, size_t i, double value);

/* The 16-bit types alone: whether value is the midpoint of two neighbours (or of the largest and
 * the power of two that follows). */
bool storage_is_midpoint(ln_type type, double value);

/* The 16-bit types alone: the bits of the number that is nearest to a real number of which value is
 * the nearest double. At a midpoint, side is the sign of the real number less value; 0 is a tie and
 * goes to even. Beyond the type's range +-infinity. */
uint16_t storage_round(ln_type type, double value, int side);

#endif
