/* unpivoted: retry, whose sums are taken over to others after each chunk, as those of shifted are. For
 * a few rows of f32: nothing waits for a pivot, and rows with one large element do not round all
 * alike.
 *
 * Bound: bounds/bounds.c. */
#include "statistics/retry.h"

/* One row goes apart (kernel.h). */
#define STATISTICS_OF_ONE
