/* Draws the place of a kernel's code in physical memory anew. */
#ifndef LNBENCH_CODE_PLACE_H
#define LNBENCH_CODE_PLACE_H

#include <stdbool.h>
#include <stdint.h>

enum { CODE_PLACE_MOST = 16 << 20 };

/* Puts the pages of code and constants of the file in which `function` lies into fresh memory,
 * behind a number of unused pages that `draw` decides. Addresses stay as they are. An object is
 * moved once a process; files of more than CODE_PLACE_MOST bytes of code stay in place.
 *
 * False: nothing was moved, or not everything; what runs is the same. */
bool code_place_draw(void (*function)(void), uint64_t draw);

#endif
