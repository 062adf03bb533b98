/* Fowler-Noll-Vo hash FNV-1a, 64 bits: names plans and files; no defence against an adversary. */
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

/* Of a file's contents; false, and 0, when it can't be read. */
bool hash_file(const char *path, uint64_t *hash);

/* Places of things by their hashes, so that one is found among many without looking at them all.
 *
 *     hash_index index = {0};
 *     hash_index_add(&index, hash_of(&things[i]), i);
 *     for (hash_probe at = hash_index_probe(&index, hash); hash_index_next(&index, &at, &i);)
 *         if (is_equal(&things[i], wanted)) ...           // a hash may have several things
 *     hash_index_free(&index);
 */

typedef struct hash_index {
    struct hash_slot {
        uint64_t hash;
        size_t place; /* + 1; 0: the slot is free */
    } * slots;
    size_t room, count;
} hash_index;

typedef struct hash_probe {
    uint64_t hash;
    size_t slot;
} hash_probe;

void hash_index_add(hash_index *index, uint64_t hash, size_t place);
hash_probe hash_index_probe(const hash_index *index, uint64_t hash);
/* The next place with this hash, in the order in which they were added; false: there is none. */
bool hash_index_next(const hash_index *index, hash_probe *at, size_t *place);
/* Of an index without places, a set of hashes: adds the hash, and returns true, where it is not there yet. */
bool hash_index_add_new(hash_index *index, uint64_t hash);
void hash_index_free(hash_index *index);

#endif
