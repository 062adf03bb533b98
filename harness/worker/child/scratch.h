/* Memory of the worker's own that goes from call to call and from order to order: copies of inputs,
 * outputs as they were judged. It lies in huge pages where the system has them and is not given back,
 * so that the system is seldom asked for pages. What is timed never reads there.
 *
 *     char *copy = scratch_take(bytes);       // NULL: memory ran out
 *     ...
 *     scratch_give(copy, bytes);              // the same bytes; NULL is fine
 */
#ifndef LNBENCH_SCRATCH_H
#define LNBENCH_SCRATCH_H

#include <stddef.h>

void *scratch_take(size_t bytes);
void scratch_give(void *place, size_t bytes);

#endif
