/* The memory that lnbench and its worker's processes share: a memory file, which each maps as far as
 * it is needed.
 *
 *     arena shared;
 *     if (!arena_open(&shared, &err)) ...                 // lnbench; a worker has the descriptor
 *     if (!arena_reach(&shared, bytes)) ...               // shared.memory[0] to [bytes - 1]
 *     arena_close(&shared);
 */
#ifndef LNBENCH_ARENA_H
#define LNBENCH_ARENA_H

#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>

typedef struct arena {
    int file; /* -1: none */
    char *memory;
    size_t mapped, most; /* bytes */
} arena;

/* Its size is fixed, and sealed, since a plugin has its descriptor too. */
bool arena_open(arena *made, error *err);
/* Contents stay, but their place in the process may be another. False: errno says why. */
bool arena_reach(arena *of, size_t bytes);
void arena_close(arena *of);

#endif
