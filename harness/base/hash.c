/* Hashes files, and implements an open-addressed set of hashes. */
#include "base/hash.h"
#include "base/arena.h"
#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 1 << 20 };

bool hash_file(const char *path, uint64_t *hash)
{
    FILE *file = fopen(path, "rb");
    char *block = allocate(BLOCK); /* large, so that a library needs few reads */
    *hash = HASH_START;
    for (size_t got; file && (got = fread(block, 1, BLOCK, file)) > 0;)
        *hash = hash_bytes(*hash, block, got);
    bool fine = file && !ferror(file);
    if (file)
        fclose(file);
    free(block);
    *hash = fine ? *hash : 0;
    return fine;
}

bool hash_set_add(hash_set *set, uint64_t hash)
{
    hash += hash == 0;
    if (2 * set->count >= set->room) {
        hash_set larger = {.room = set->room ? 2 * set->room : 64};
        larger.slots = allocate_zeroed(larger.room, sizeof *larger.slots);
        for (size_t i = 0; i < set->room; i++)
            if (set->slots[i])
                hash_set_add(&larger, set->slots[i]);
        free(set->slots);
        *set = larger;
    }
    /* Hashes of few bytes differ little in their last bits, so they are mixed. */
    size_t slot = mix_bits(hash) & (set->room - 1);
    while (set->slots[slot] && set->slots[slot] != hash)
        slot = (slot + 1) & (set->room - 1);
    const bool is_new = !set->slots[slot];
    set->slots[slot] = hash;
    set->count += is_new;
    return is_new;
}

void hash_set_free(hash_set *set)
{
    free(set->slots);
    *set = (hash_set){0};
}
