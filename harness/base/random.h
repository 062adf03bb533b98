/* Two generators of random numbers: one that goes on from number to number, and one that makes any of them. */
#ifndef LNBENCH_RANDOM_H
#define LNBENCH_RANDOM_H

#include <stdint.h>

static inline uint64_t mix_bits(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* splitmix64 (Steele, Lea, Flood, OOPSLA 2014): the next number of a stream. */
static inline uint64_t splitmix64(uint64_t *state)
{
    return mix_bits(*state += 0x9e3779b97f4a7c15u);
}

static inline void philox_round(uint32_t words[4], const uint32_t key[2])
{
    uint64_t first = UINT64_C(0xD2511F53) * words[0];
    uint64_t second = UINT64_C(0xCD9E8D57) * words[2];
    uint32_t made[4] = {
        (uint32_t)(second >> 32) ^ words[1] ^ key[0],
        (uint32_t)second,
        (uint32_t)(first >> 32) ^ words[3] ^ key[1],
        (uint32_t)first,
    };
    for (int i = 0; i < 4; i++)
        words[i] = made[i];
}

/* Philox4x32-10 after J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random numbers: as easy as 1, 2, 3",
 * SC 2011: ten rounds of two 32x32 -> 64 multiplications, a bijection of the counter for each key. It makes four
 * words from a key and a counter, so that any element can be made without those before it. */
static inline void philox4x32(uint64_t key, uint64_t counter_low, uint64_t counter_high,
                              uint32_t words[4])
{
    uint32_t keys[2] = {(uint32_t)key, (uint32_t)(key >> 32)};
    words[0] = (uint32_t)counter_low;
    words[1] = (uint32_t)(counter_low >> 32);
    words[2] = (uint32_t)counter_high;
    words[3] = (uint32_t)(counter_high >> 32);
    for (int i = 0; i < 10; i++) {
        philox_round(words, keys);
        keys[0] += UINT32_C(0x9E3779B9); /* the golden ratio and sqrt(3) - 1, as the paper has it */
        keys[1] += UINT32_C(0xBB67AE85);
    }
}

#endif
