/* Regimes: which cache holds the tables of a call (operation.h: call_bytes()). */
#ifndef LNBENCH_REGIME_H
#define LNBENCH_REGIME_H

#include <stddef.h>

typedef enum cache_regime { REGIME_L1, REGIME_L2, REGIME_L3, REGIME_DRAM, REGIMES } cache_regime;
extern const char *const regime_names[REGIMES]; /* "L1", "L2", "L3", "DRAM" */

/* The smallest cache that holds a call; sizes of 0 are unknown. Where all three are, sizes that are
 * common stand for them. */
cache_regime regime_of(double bytes, size_t l1d, size_t l2, size_t l3);

#endif
