#include "base/hash.h"
#include <stdio.h>

uint64_t hash_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint64_t hash = HASH_START;
    char block[16384];
    if (!file)
        return 0;
    for (size_t got; (got = fread(block, 1, sizeof block, file)) > 0;)
        hash = hash_bytes(hash, block, got);
    fclose(file);
    return hash;
}
