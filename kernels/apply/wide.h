/* wide: direct, with everything in the accumulators' type: items are as long as those, and so are
 * xhat and the affine form; only y is rounded to the storage type.
 *
 * Bound: direct.h's, for items of that type; convention.h adds the last rounding. */
#define LN_ITEMS_AS_ACCUMULATORS
#include "apply/direct.h"
