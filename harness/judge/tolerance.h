/* What rtol and atol tell a right implementation from a wrong one?
 *
 *     tolerance found;
 *     tolerance_find(judge, &block, &found); // found.certain, found.likely, found.mistakes[i]
 *
 * Two right implementations a and b: |a - b| <= atol + rtol |b| for all elements, as allclose() has it, of
 * which each may be off by what any order of its sums gives (judging.h). rtol is what both round last, 2 u
 * of the storage type. */
#ifndef LNBENCH_TOLERANCE_H
#define LNBENCH_TOLERANCE_H

#include "judge/judge.h"

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
