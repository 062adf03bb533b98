/* All shards of a hunt, read from folders and files: each once, and of one hunt. */
#ifndef LNBENCH_COMMANDS_HUNT_FOLDER_H
#define LNBENCH_COMMANDS_HUNT_FOLDER_H

#include "base/words.h"
#include "referee/hunt/shard.h"

typedef enum shard_state { SHARD_MISSING, SHARD_BEGUN, SHARD_COMPLETE } shard_state;

typedef struct shard_folder {
    hunt_shard first; /* without finds: whose hunt it is */
    char first_path[SHARD_PATH];
    unsigned char *states; /* of each shard */
    uint64_t *contents;    /* of those that are complete */
    size_t complete, begun, duplicates;
    word_list broken; /* files that were cut off or changed, where those are let pass */
} shard_folder;

/* Calls take() with each shard once; what the shard owns may be taken from it. Shards under way are
 * among them only where `progress` is set; then broken files are let pass. Errors (2): a file that is
 * no shard, or of another hunt; two files with other finds for the same shard; none at all. */
bool shard_folder_read(const word_list *paths, bool progress, shard_folder *folder,
                       bool (*take)(hunt_shard *, void *, error *), void *context, error *err);
/* Errors (2) name what is missing. */
bool shard_folder_is_whole(const shard_folder *folder, error *err);
void shard_folder_free(shard_folder *folder);

#endif
