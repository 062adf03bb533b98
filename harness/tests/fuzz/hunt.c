/* Hunt corpora: the shards that merge reads. The last line, which vouches for the others, is made
 * here, so that what stands above it is read. */
#include "base/hash.h"
#include "fuzz.h"
#include "referee/hunt/shard.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    hunt_shard shard;
    error err = {0};
    size_t lines = 0;
    memset(&shard, 0, sizeof shard);
    uint8_t *whole = malloc(size + 80);
    FUZZ_CHECK(whole);
    memcpy(whole, bytes, size);
    for (size_t i = 0; i < size; i++)
        lines += bytes[i] == '\n';
    int last = snprintf((char *)whole + size, 80, "{\"lines\": %zu, \"hash\": \"%016llx\"}\n",
                        lines, (unsigned long long)hash_bytes(HASH_START, bytes, size));
    bool fine = hunt_shard_read(fuzz_file(whole, size + (size_t)last), &shard, &err);
    FUZZ_CHECK(fine || err.code != EXIT_CODE_FINE);
    if (fine)
        hunt_shard_free(&shard);
    free(whole);
    return 0;
}
