/* Two runs against each other: `compare`. What came out of the store or of a file decides alone,
 * nothing is measured. */
#ifndef LNBENCH_COMPARE_H
#define LNBENCH_COMPARE_H

#include "show/compare/comparison.h"
#include "show/run_view.h"

/* Whether the two may be compared: what differs of processor, build and plan goes to the
 * differences, what else differs and may matter to the remarks. */
void compare_contexts(run_comparison *comparison, const run_view *base, const run_view *new);

/* Adds a pair for each case that both have a result of; the others are lost, declined or new. */
void compare_cases(run_comparison *comparison, const run_view *base, const run_view *new);

#endif
