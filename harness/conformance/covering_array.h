/* Covering arrays: few entries that hold every pair, or triple, of levels of many factors.
 *
 *     covering_question asked = {.factors = 27, .levels = levels, .strength = 3, .most = 900, .seed = 1,
 *                                .allows = allows, .context = &table};
 *     covering_array array = covering_make(&memory, &asked);
 *     for (size_t i = 0; i < array.count; i++)
 *         use(covering_entry(&array, i));                  // a level of each factor
 *
 * A fault of a program needs two or three factors to show, seldom more (Kuhn, Wallace and Gallo, IEEE
 * TSE 30, 2004). The greedy generator is that of AETG (Cohen, Dalal, Fredman and Patton, IEEE TSE 23, 1997). */
#ifndef LNBENCH_COVERING_ARRAY_H
#define LNBENCH_COVERING_ARRAY_H

#include "base/arena.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { COVERING_FACTORS = 40, COVERING_LEVELS = 16, LEVEL_OPEN = -1 };

typedef struct covering_question {
    size_t factors;
    const size_t *levels; /* of each factor */
    unsigned strength;    /* 2 or 3 */
    size_t most;          /* entries */
    uint64_t seed;
    /* Whether levels can stand together; LEVEL_OPEN: not set yet. */
    bool (*allows)(const void *context, const int8_t *levels);
    const void *context;
} covering_question;

typedef struct covering_array {
    size_t factors, count;
    int8_t *entries; /* count x factors */
    size_t tuples,
        covered; /* pairs or triples of levels that can stand together; of those, there */
} covering_array;

/* The same from the same question. */
covering_array covering_make(arena *memory, const covering_question *asked);

static inline const int8_t *covering_entry(const covering_array *array, size_t i)
{
    return array->entries + i * array->factors;
}

#endif
