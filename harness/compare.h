/* Two runs against each other: `compare`. What came out of the store or of a file decides alone,
 * nothing is measured. */
#ifndef LNBENCH_COMPARE_H
#define LNBENCH_COMPARE_H

#include "comparison.h"
#include "views.h"

/* Whether the two may be compared: what differs of processor, build and plan goes to the
 * differences, what else differs and may matter to the remarks. */
bool compare_contexts(comparison *comparison, const view *base, const view *new, error *error);

/* Adds a pair for each case that both have; the others go to the lonely ones. Error (4): none. */
bool compare_cases(comparison *comparison, const view *base, const view *new, error *error);

#endif
