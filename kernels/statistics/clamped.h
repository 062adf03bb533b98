/* clamped: naive, with a negative variance set to 0.
 *
 *     mean = sum(x) / N            m2 = max(0, sum(x^2) - sum(x) * mean)
 *
 * What most code in use does about naive's cancellation. It gives a number where naive gives NaN,
 * and with an eps that number is finite: wrong by up to a factor of sqrt(var / eps), where NaN
 * would have been seen. A NaN stays one. Reads the row once for the statistics.
 *
 * Bound: naive.h; 0 is nearer to the variance than what is below it, so the error is naive's. */
#ifndef LN_STATISTICS_CLAMPED_H
#define LN_STATISTICS_CLAMPED_H

#define NAIVE_CLAMPED
#include "statistics/naive.h"

#endif
