/* What `choose` asks the store beside standing.h. */
#ifndef LNBENCH_STORE_CHOOSING_H
#define LNBENCH_STORE_CHOOSING_H

#include "store/store.h"

/* The latest run of the one machine with this in its processor's name, in upper or lower case. Errors: 2
 * where there is none, or several. */
bool store_run_on(result_store *store, const char *name, int64_t *run, error *err);

#endif
