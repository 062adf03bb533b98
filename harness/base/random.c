/* Philox4x32-10 after J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random numbers: as easy as
 * 1, 2, 3", SC 2011: ten rounds of two 32x32 -> 64 multiplications, a bijection of the counter for
 * each key. Counter-based, so that any element can be made without those before it. */
#include "base/random.h"

static void philox_round(uint32_t words[4], const uint32_t key[2])
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

void philox4x32(uint64_t key, uint64_t counter_low, uint64_t counter_high, uint32_t words[4])
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
