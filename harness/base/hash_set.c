#include "base/hash_set.h"
#include <stdlib.h>

/* The place of a hash among `room` (a power of 2) places, or the free one where it would be. */
static size_t place_of(const uint64_t *places, size_t room, uint64_t hash)
{
    size_t at = hash & (room - 1);
    while (places[at] != 0 && places[at] != hash)
        at = (at + 1) & (room - 1);
    return at;
}

static bool make_room(hash_set *set)
{
    size_t room = set->room ? 2 * set->room : 1024;
    uint64_t *places = calloc(room, sizeof *places);
    if (!places)
        return false;
    for (size_t i = 0; i < set->room; i++)
        if (set->places[i] != 0)
            places[place_of(places, room, set->places[i])] = set->places[i];
    free(set->places);
    set->places = places;
    set->room = room;
    return true;
}

bool hash_set_add(hash_set *set, uint64_t hash, bool *added)
{
    hash += hash == 0;
    if (2 * set->count >= set->room && !make_room(set))
        return false;
    size_t place = place_of(set->places, set->room, hash);
    *added = set->places[place] != hash;
    set->places[place] = hash;
    set->count += *added;
    return true;
}

void hash_set_free(hash_set *set)
{
    free(set->places);
    *set = (hash_set){0};
}
