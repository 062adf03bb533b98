#include "base/hash.h"
#include <stdio.h>

bool hash_file(const char *path, uint64_t *hash)
{
    FILE *file = fopen(path, "rb");
    char block[16384];
    *hash = file ? HASH_START : 0;
    if (!file)
        return false;
    for (size_t got; (got = fread(block, 1, sizeof block, file)) > 0;)
        *hash = hash_bytes(*hash, block, got);
    bool fine = !ferror(file);
    if (!fine)
        *hash = 0;
    fclose(file);
    return fine;
}
