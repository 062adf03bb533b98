/* The table that a run ends with. */
#ifndef LNBENCH_RESULT_TABLE_H
#define LNBENCH_RESULT_TABLE_H

#include "views.h"

/* For each timed shape: kernel, GB/s, share of the roof with its interval, max and mean ULP, row
 * ULP, verdict, fastest first; then every case that is not fine. False when memory runs out or the
 * file has an error. */
bool result_table_print(const view *view, FILE *file);

/* The exit code that the stored verdicts ask for. */
exit_code view_exit_code(const view *view);

#endif
