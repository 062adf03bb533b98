/* The hash of a file, and an open-addressed table of hashes. */
#include "base/hash.h"
#include "base/arena.h"
#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 1 << 20 };

bool hash_file(const char *path, uint64_t *hash)
{
    FILE *file = fopen(path, "rb");
    char *block = allocate(BLOCK); /* large, so that a library takes few reads */
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

/* The last bits of a hash of few bytes differ little: all of them take part. */
static size_t slot_of(uint64_t hash, size_t room)
{
    return (size_t)((hash ^ hash >> 32) * 0x9e3779b97f4a7c15u >> 32) & (room - 1);
}

static void put_slot(hash_index *index, uint64_t hash, size_t place)
{
    size_t slot = slot_of(hash, index->room);
    while (index->slots[slot].place != 0)
        slot = (slot + 1) & (index->room - 1);
    index->slots[slot] = (struct hash_slot){hash, place + 1};
}

void hash_index_add(hash_index *index, uint64_t hash, size_t place)
{
    if (2 * index->count >= index->room) {
        hash_index larger = {.room = index->room ? 2 * index->room : 64, .count = index->count};
        larger.slots = allocate_zeroed(larger.room, sizeof *larger.slots);
        /* From a free slot on, so that equal hashes keep their order. */
        size_t first = 0;
        while (first < index->room && index->slots[first].place != 0)
            first++;
        for (size_t i = 0; i < index->room; i++) {
            const struct hash_slot *slot = &index->slots[(first + i) & (index->room - 1)];
            if (slot->place != 0)
                put_slot(&larger, slot->hash, slot->place - 1);
        }
        free(index->slots);
        *index = larger;
    }
    put_slot(index, hash, place);
    index->count++;
}

hash_probe hash_index_probe(const hash_index *index, uint64_t hash)
{
    return (hash_probe){hash, index->room ? slot_of(hash, index->room) : 0};
}

bool hash_index_next(const hash_index *index, hash_probe *at, size_t *place)
{
    while (index->room > 0 && index->slots[at->slot].place != 0) {
        const struct hash_slot *slot = &index->slots[at->slot];
        at->slot = (at->slot + 1) & (index->room - 1);
        if (slot->hash != at->hash)
            continue;
        *place = slot->place - 1;
        return true;
    }
    return false;
}

bool hash_index_add_new(hash_index *index, uint64_t hash)
{
    size_t place;
    hash_probe at = hash_index_probe(index, hash);
    if (hash_index_next(index, &at, &place))
        return false;
    hash_index_add(index, hash, 0);
    return true;
}

void hash_index_free(hash_index *index)
{
    free(index->slots);
    *index = (hash_index){0};
}
