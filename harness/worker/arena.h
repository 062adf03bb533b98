/* The memory that lnbench and its worker's processes share: a memory file, which each maps as far as
 * it is needed.
 *
 *     shared_arena shared;
 *     if (!shared_arena_open(&shared, &err)) ...                 // lnbench; a worker has the descriptor
 *     if (!shared_arena_reach(&shared, bytes)) ...               // shared.memory[0] to [bytes - 1]
 *     shared_arena_close(&shared);
 */
#ifndef LNBENCH_SHARED_ARENA_H
#define LNBENCH_SHARED_ARENA_H

#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>

typedef struct shared_arena {
    int file; /* -1: none */
    char *memory;
    size_t mapped, most; /* bytes */
} shared_arena;

/* Its size is fixed, and sealed, since a plugin has its descriptor too. */
bool shared_arena_open(shared_arena *made, error *err);
/* Contents stay, but their place in the process may be another. False: errno says why. */
bool shared_arena_reach(shared_arena *of, size_t bytes);
void shared_arena_close(shared_arena *of);

#endif
