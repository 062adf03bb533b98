/* The run that --run and --db name, for commands that read the store. */
#ifndef LNBENCH_STORED_RUN_H
#define LNBENCH_STORED_RUN_H

#include "answer/run_view.h"

/* Loads run `wanted` of a database; 0: the latest. Errors (7): no such database or run, with what
 * would make one. */
bool load_stored_run(const char *database, uint64_t wanted, run_view *view, error *err);

/* The same with the worst rows of its cases. */
bool load_whole_run(const char *database, uint64_t wanted, run_view *view, error *err);

/* The same for a report: 0 is the latest that `lnbench run` made, since what `choose` measured for
 * itself is no survey; where there is no such run, the latest of all. */
bool load_reported_run(const char *database, uint64_t wanted, run_view *view, error *err);

#endif
