/* A set of 64-bit hashes.
 *
 *     hash_set seen = {0};
 *     bool added;
 *     if (!hash_set_add(&seen, hash, &added)) ...   // memory ran out
 *     hash_set_free(&seen);
 */
#ifndef LNBENCH_HASH_SET_H
#define LNBENCH_HASH_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct hash_set {
    uint64_t *places; /* 0: free */
    size_t room, count;
} hash_set;

/* *added: it was not there before. False when memory runs out. */
bool hash_set_add(hash_set *set, uint64_t hash, bool *added);
void hash_set_free(hash_set *set);

#endif
