#include "base/hash.h"
#include "base/allocate.h"
#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 1 << 20 };

bool hash_file(const char *path, uint64_t *hash)
{
    FILE *file = fopen(path, "rb");
    char *block = allocate(BLOCK); /* large, so that a library takes few reads */
    *hash = file ? HASH_START : 0;
    if (!file) {
        free(block);
        return false;
    }
    for (size_t got; (got = fread(block, 1, BLOCK, file)) > 0;)
        *hash = hash_bytes(*hash, block, got);
    bool fine = !ferror(file);
    if (!fine)
        *hash = 0;
    fclose(file);
    free(block);
    return fine;
}
