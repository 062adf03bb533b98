/* What a hunt found, as it is printed by hunt and merge. */
#ifndef LNBENCH_HUNT_SHOW_H
#define LNBENCH_HUNT_SHOW_H

#include "hunt.h"
#include "output.h"

/* The finds as a table with a line about the whole, or JSON. `path`: where they went; `seconds`:
 * how long the search took, NaN where that is not known. */
bool hunt_print(const hunt *hunt, const char *path, double seconds, const output *output,
                error *error);

#endif
