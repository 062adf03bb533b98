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

#endif
