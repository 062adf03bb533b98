/* All shards of a hunt, read from folders and files: each once, and of one hunt. */
#ifndef LNBENCH_COMMANDS_HUNT_FOLDER_H
#define LNBENCH_COMMANDS_HUNT_FOLDER_H

#include "base/words.h"
#include "referee/hunt/shard.h"

typedef struct shard_folder {
    hunt_shard first; /* without finds: whose hunt it is */
    char first_path[SHARD_PATH];
    bool *is_there;     /* each shard, complete */
    uint64_t *contents; /* of those that are there */
    size_t complete, duplicates;
} shard_folder;

/* Calls take() with each complete shard once; what the shard owns may be taken from it. Errors (2): a
 * file that is no shard, was cut off, or is of another hunt; two files with other finds for the same
 * shard; none at all. */
bool shard_folder_read(const word_list *paths, shard_folder *folder,
                       bool (*take)(hunt_shard *, void *, error *), void *context, error *err);
/* Errors (2) name what is missing. */
bool shard_folder_is_whole(const shard_folder *folder, error *err);
void shard_folder_free(shard_folder *folder);

#endif
