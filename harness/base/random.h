#ifndef LNBENCH_RANDOM_H
#define LNBENCH_RANDOM_H

#include "base/random.h"
#include <stdint.h>

/* splitmix64 (Steele, Lea, Flood, OOPSLA 2014): the next number of a stream. */
static inline uint64_t splitmix64(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* The counter-based generator itself (Philox4x32-10, Salmon et al., SC 2011): four words from a key
 * and a counter. */
void philox4x32(uint64_t key, uint64_t counter_low, uint64_t counter_high, uint32_t words[4]);

#endif
