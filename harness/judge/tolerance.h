/* Whether a kernel rounds elsewhere than it is asked to. It is off by less than a row ULP then, as an honest
 * one may be: only all elements together tell.
 *
 * Let a_i be what the other way gives less what is asked for, both rounded as y is. The errors e_i of y
 * are regressed on a_i, both in row ULP: the slope is 0 where y is as asked for, and 1 where it is the other
 * way's. Its deviation is estimated from the same residues, sqrt(sum e_i^2 a_i^2) / sum a_i^2 (White 1980),
 * which holds whatever the errors' sizes are. Where rows are alike all of their sums may be off in the same
 * direction: an element that this can move counts for nothing. */
#ifndef LNBENCH_TOLERANCE_H
#define LNBENCH_TOLERANCE_H

#include "exact/scale.h"
#include "judge/judge.h"
#include "judge/rows.h"

/* That difference before the last rounding, of element i of a row, `at` in the block; `which`: as given. */
typedef double taken_of(const judge_block *block, const metrics_row *row, size_t at, size_t i,
                        const void *which);

/* Only of 16-bit rows, where what a rounding takes is as large as the result's own: false of others. */
bool judge_follows(const judge_block *block, const void *y, taken_of *taken, const void *which);

/* x + residual of element i; NaN where that is none. */
static inline double sum_in_double(const judge_block *block, size_t i)
{
    return load(block->storage, block->inputs[ROLE_X], i) +
           load(block->storage, block->inputs[ROLE_RESIDUAL], i);
}

/* What rtol and atol tell a right implementation from a wrong one?
 *
 *     tolerance found;
 *     tolerance_find(judge, &block, &found); // found.certain, found.likely, found.mistakes[i]
 *
 * Two right implementations a and b: |a - b| <= atol + rtol |b| for all elements, as allclose() has it, of
 * which each may be off by what any order of its sums gives (judging.h). rtol is what both round last, 2 u
 * of the storage type. */

enum { TOLERANCE_MISTAKES = NEIGHBOURS_MOST + 1 };

typedef struct tolerance_mistake {
    char words[CONVENTION_MAX_LENGTH + 20]; /* a neighbouring convention, or the type of the sums */
    double atol; /* below it allclose() tells it from a right one; infinite: always */
} tolerance_mistake;

typedef struct tolerance {
    double rtol;
    double certain,
        likely;   /* atol: always enough; enough but for one block in 1e9, where roundings are
                               independent and zero on average. Infinite: no claim for some row */
    double usual; /* atol between right ones as textbooks have them, about */
    tolerance_mistake mistakes[TOLERANCE_MISTAKES];
    size_t count;
} tolerance;

void tolerance_find(row_judge *judge, const judge_block *block, tolerance *found);

#endif
