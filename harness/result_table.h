/* The table that a run ends with. */
#ifndef LNBENCH_RESULT_TABLE_H
#define LNBENCH_RESULT_TABLE_H

#include "output.h"
#include "views.h"

/* For each timed shape: kernel, GB/s, share of the roof with its interval, max and mean ULP, row
 * ULP, verdict, fastest first; then every case that is not fine. As TSV: a line a case, with all
 * its figures; as JSON: an array of cases. */
bool result_table_print(const view *view, const output *out, error *error);

/* The exit code that the stored verdicts ask for; a peer's faults are nobody's here. */
exit_code view_exit_code(const view *view);

#endif
