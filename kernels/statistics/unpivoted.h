/* unpivoted: retry, whose sums are added to other sums after each chunk, as in shifted. For calls with few rows of f32:
 * nothing waits for a pivot, and the roundings of rows with one large element do not all have the same sign.
 *
 * Bound: bounds/bounds.c. */
#include "statistics/retry.h"

/* A single row has its own code (kernel.h). */
#define STATISTICS_OF_ONE
