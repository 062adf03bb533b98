/* Regimes: which cache holds the x and y of a call. */
#ifndef LNBENCH_REGIME_H
#define LNBENCH_REGIME_H

#include "layernorm.h"
#include <stddef.h>

typedef enum cache_regime { REGIME_L1, REGIME_L2, REGIME_L3, REGIME_DRAM, REGIMES } cache_regime;
extern const char *const regime_names[REGIMES]; /* "L1", "L2", "L3", "DRAM" */

/* Bytes of x read and of y written by one call. */
double call_bytes(size_t rows, size_t hidden, ln_type dtype);

/* The smallest cache that holds a call; sizes of 0 are unknown. Where all three are, sizes that are
 * common stand for them. */
cache_regime regime_of(double bytes, size_t l1d, size_t l2, size_t l3);

#endif
