/* rms_exact: statistics/exact.h for RMSNorm: the sum of x counts as 0 wherever it is used, exactly as the mean
 * is. So q is the sum of squares alone, m2 = q, no row is swept twice, and of the bounds that exact.h proves
 * those of sums and of the shift are 0. The problem is the LayerNorm without beta that an RMSNorm comes to which
 * rounds once (dispatch/registry.c). */
#ifndef LN_RMS_EXACT_H
#define LN_RMS_EXACT_H

#define LN_UNCENTRED
#ifndef LN_STATISTICS_FILE
#define LN_STATISTICS_FILE "statistics/rms_exact.h"
#endif
#include "statistics/exact.h"

#endif
