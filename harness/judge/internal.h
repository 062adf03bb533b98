/* What the judge's files share. */
#ifndef LNBENCH_JUDGE_INSIDE_H
#define LNBENCH_JUDGE_INSIDE_H

#include "judge/judging.h"

/* A judge with what is its own, grown as needed and kept, since a run judges thousands of cases of few
 * sizes. */
typedef struct whole_judge {
    row_judge judge; /* the first member */
    ln_reference *reference;
    textbook book;
    bool *wrong_columns, *wrong_rows; /* of the last row that was described, and of the block */
    size_t bytes, rows, hidden; /* that there is room for: of an output, of statistics, of values */
} whole_judge;

static inline whole_judge *judge_whole(row_judge *judge)
{
    return (whole_judge *)judge;
}

#endif
