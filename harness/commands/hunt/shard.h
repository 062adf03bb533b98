/* lnbench hunt --shard: one part of a hunt, as a file of a folder. */
#ifndef LNBENCH_COMMANDS_HUNT_SHARD_H
#define LNBENCH_COMMANDS_HUNT_SHARD_H

#include "base/output.h"
#include "referee/hunt/shard.h"

/* Makes the shard that the settings name, or goes on with it where some of it is there; path: its
 * file. Does nothing where it is complete. Interrupted, all whole restarts are kept (then
 * hunt.interrupted is set). Errors: 2 where the folder holds another hunt; 7. */
bool hunt_make_shard(hunt_shard *shard, const char *directory, char path[SHARD_PATH],
                     const output_file *printed, error *err);

#endif
