/* Fowler-Noll-Vo hash FNV-1a, 64 bits: names plans and files; no defence against an adversary.
 *
 *     uint64_t hash = hash_bytes(HASH_START, name, strlen(name));
 *     hash = hash_bytes(hash, &rows, sizeof rows);   // of both
 */
#ifndef LNBENCH_HASH_H
#define LNBENCH_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HASH_START 0xcbf29ce484222325u

static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ byte[i]) * 0x100000001b3u;
    return hash;
}

/* Hashes a file's contents. Returns false, with a hash of 0, if the file cannot be read. */
bool hash_file(const char *path, uint64_t *hash);

/* A set of hashes.
 *
 *     hash_set seen = {0};
 *     if (hash_set_add(&seen, hash_bytes(HASH_START, row, bytes))) ...   // no row before had these bits
 *     hash_set_free(&seen);
 */

typedef struct hash_set {
    uint64_t *slots; /* 0: free */
    size_t room, count;
} hash_set;

/* Adds a hash. Returns true if the set did not have it. */
bool hash_set_add(hash_set *set, uint64_t hash);
void hash_set_free(hash_set *set);

/* Two generators of random numbers: a stream, and one that computes any element directly. */

static inline uint64_t mix_bits(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Returns the next number of a stream by splitmix64 (Steele, Lea, Flood, OOPSLA 2014). */
static inline uint64_t splitmix64(uint64_t *state)
{
    return mix_bits(*state += 0x9e3779b97f4a7c15u);
}

/* Computes four random words from a key and a counter, so that any element can be computed without those before it.
 * Philox4x32-10 after J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011:
 * ten rounds of two 32x32 -> 64 multiplications; for each key a bijection of the counter. */
static inline void philox4x32(uint64_t key, uint64_t counter_low, uint64_t counter_high,
                              uint32_t words[4])
{
    uint32_t keys[2] = {(uint32_t)key, (uint32_t)(key >> 32)};
    words[0] = (uint32_t)counter_low;
    words[1] = (uint32_t)(counter_low >> 32);
    words[2] = (uint32_t)counter_high;
    words[3] = (uint32_t)(counter_high >> 32);
    for (int i = 0; i < 10; i++) {
        const uint64_t first = UINT64_C(0xD2511F53) * words[0];
        const uint64_t second = UINT64_C(0xCD9E8D57) * words[2];
        words[0] = (uint32_t)(second >> 32) ^ words[1] ^ keys[0];
        words[1] = (uint32_t)second;
        words[2] = (uint32_t)(first >> 32) ^ words[3] ^ keys[1];
        words[3] = (uint32_t)first;
        keys[0] += UINT32_C(0x9E3779B9); /* the golden ratio and sqrt(3) - 1, as in the paper */
        keys[1] += UINT32_C(0xBB67AE85);
    }
}

#endif
