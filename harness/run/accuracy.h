/* The conformance tests of a plan: a plan says only that there are any. */
#ifndef LNBENCH_SESSION_CHECKS_H
#define LNBENCH_SESSION_CHECKS_H

#include "conformance/checks.h"
#include "run/plan.h"

enum { CHECK_TURNS = 16, CHECK_SETS = (CHECK_TURNS + 1) * OPERATIONS };

typedef struct plan_checks {
    /* Of each operation one over every convention; or one over each that is named, up to CHECK_TURNS, packs of
     * which are asked in turn. One that has another eps for f64 (convention_for()) has two. */
    combination_set *sets[CHECK_SETS];
    ln_convention plain[CHECK_SETS];
    size_t count;
    arena memory; /* of the sets and the tasks */
} plan_checks;

/* Adds a group for each of them before those of the plan, where it has conformance tests. */
void session_add_checks(case_plan *plan);
void session_free_checks(case_plan *plan);

#endif
