/* rms_exact: statistics/exact.h for RMSNorm: the sum of x is replaced by 0, which is exactly the mean of RMSNorm. So
 * m2 = q, the sum of squares, no row is swept twice, and the bounds in exact.h of the sum and of the shift are 0. The
 * problem is a LayerNorm without beta that is equal to an RMSNorm with one rounding (dispatch/registry.c). */
#ifndef LN_RMS_EXACT_H
#define LN_RMS_EXACT_H

#define LN_UNCENTRED
#ifndef LN_STATISTICS_FILE
#define LN_STATISTICS_FILE "statistics/rms_exact.h"
#endif
#include "statistics/exact.h"

#endif
