/* The problems of the covering array: which there are, their rows with the answers, and how a kernel does
 * on one.
 *
 *     combination_set *set = combinations_make(&memory, &asked);
 *     for (size_t i = 0; i < combinations_count(set); i++) {
 *         combination of = combinations_at(set, i);
 *         combination_block(judge, &of, LN_F32, LN_F32, &block);
 *         ...
 *     }
 *     arena_free(&memory);
 */
#ifndef LNBENCH_PROBLEMS_H
#define LNBENCH_PROBLEMS_H

#include "judge/judge.h"
#include "conformance/factors.h"

typedef struct combinations_asked {
    ln_convention plain; /* whose operation it is */
    bool alone;          /* under it alone, and not on every level of its fields */
    uint64_t seed;
    bool quick;           /* the first of them alone */
    const size_t *hidden; /* the sizes that there are; */
    size_t hidden_count;  /* 0: all */
} combinations_asked;

typedef struct combination_set combination_set;

combination_set *combinations_make(arena *memory, const combinations_asked *asked);

/* The first 400 of the small array and a third of the hidden sizes, each with the levels of one of those;
 * then, but for the quick plan, the rest of both: every size up to 1100 and a sample of longer ones; and
 * the large ones. */
size_t combinations_count(const combination_set *set);
combination combinations_at(const combination_set *set, size_t i);
/* Triples of levels that can stand together, and of these those that some problem has: added up. */
void combinations_add_triples(const combination_set *set, size_t *triples, size_t *covered);
/* "898 problems, every triple of levels (191,715); 1154 more, one for each hidden size; 79 large ones, every
 * pair". */
const char *combinations_describe(const combination_set *set, char *text, size_t size);

/* The block of a combination; few distinct rows, over and over. */
void combination_block(row_judge *judge, const combination *of, ln_type storage, ln_type param,
                       judge_block *block);
/* Whether errors at all positions of the first half of its rows are alike. */
bool combination_is_even(const combination *of);

/* The same in which less is out of the ordinary: nothing that the kernel's traits exclude; or under a
 * convention of the run that it takes. False: nothing changed. */
bool combination_without(combination *of, unsigned traits);
/* A bit for each factor that is not plain. */
uint64_t combination_factors(const combination *of);
/* "rows off centre, residual, 2 threads at once": what is not plain of these factors. */
const char *combination_describe(const combination *of, uint64_t factors, char *text, size_t size);

#endif
