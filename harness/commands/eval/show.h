/* What lnbench eval prints of one kernel, or of the reference. */
#ifndef LNBENCH_EVAL_SHOW_H
#define LNBENCH_EVAL_SHOW_H

#include "judge/judge.h"
#include "judge/which/which.h"
#include "base/output.h"
#include "answer/run_view.h"

typedef struct eval_shown {
    const stored_case *result;
    const char *label;             /* of the kernel; "": the reference */
    const char *reproducibility;   /* the class */
    const char *reproducible;      /* and what else the bits depend on, in words */
    ln_reference_counts certified; /* how the right answers were decided */
    double probable_row_ulp;       /* NaN: none */
    double chance;                 /* that some row is beyond it */
    const which_found *function;   /* what made a wrong output; NULL: nothing was wrong */
    bool is_among;                 /* the result's convention is one of them */
} eval_shown;

/* A table, or JSON; nothing but in JSON where the kernel gave nothing to measure. */
bool eval_show(const eval_shown *shown, const output_file *out, error *err);

#endif
