/* What is decided of a case by itself: stored beside its figures when it is judged, so that SQL and C
 * say the same of it. */
#ifndef LNBENCH_STORE_FACTS_H
#define LNBENCH_STORE_FACTS_H

#include "domain/stored_case.h"

/* Whether an output of this case can be used: it is right, and has a correct digit in each row, which a
 * right one of a kernel without a bound may not have. Unknown where nothing was judged. */
typedef enum usability { USABLE_UNKNOWN, USABLE_NO, USABLE_YES } usability;
usability stored_usable(const stored_case *stored);
/* Of an extreme family or convention (case_is_extreme()), or its largest error is that of a subnormal
 * result: the checks mix rows. */
bool stored_is_extreme(const stored_case *stored);

#endif
