/* What a hunt found, as it is printed by hunt and merge. */
#ifndef LNBENCH_HUNT_SHOW_H
#define LNBENCH_HUNT_SHOW_H

#include "referee/hunt/hunt.h"
#include "base/output.h"

/* The finds as a table with a line about the whole, or JSON. `path`: where they went; `seconds`:
 * how long the search took, NaN where that is not known. */
bool hunt_print(const hunt_state *hunt, const char *path, double seconds, const output_file *output,
                error *err);

#endif
