/* A part of a hunt as one file, shard-I-of-N.jsonl, a JSON object a line (docs/recipes/fleet):
 *
 *     the plan: its hash, the library's, every setting, the restarts that are this shard's
 *     how far it is: restarts, rows, seconds of work, and the machine
 *     {"rows", "score", "restart"} for each time that the worst row was surpassed
 *     {"find"} for each find, as corpus files have it
 *     {"lines", "hash"} of what stands above: a file without it was cut off
 *
 * A shard under way is shard-I-of-N.begun.jsonl. Each file comes by a rename: whole, or as it was.
 */
#ifndef LNBENCH_HUNT_SHARD_H
#define LNBENCH_HUNT_SHARD_H

#include "referee/hunt/hunt.h"

/* The worst row was surpassed, after so many rows of the shard. */
typedef struct hunt_record {
    uint64_t rows, restart;
    double score; /* infinite: a failure or a wrong class */
} hunt_record;

typedef struct hunt_shard {
    hunt_state hunt;
    char plan[20], library[20]; /* hex digits */
    char host[64], cpu[128];
    double seconds;
    hunt_record *records;
    size_t record_count;
} hunt_shard;

/* The restarts of a shard: from first to before end. */
void hunt_range(const hunt_settings *settings, uint64_t *first, uint64_t *end);
/* Of what decides which rows are tried, however many shards there are. */
void hunt_plan_hash(const hunt_settings *settings, char hash[20]);

enum { SHARD_PATH = 1024, SHARD_FOLDER = 700 /* bytes of a folder's path, at most */ };
bool shard_folder_fits(const char *directory, error *err);
void hunt_shard_path(const hunt_settings *settings, const char *directory, bool begun,
                     char path[SHARD_PATH]);
/* Whether it is the name of a shard's file, and of which. */
bool hunt_shard_named(const char *name, bool *begun);

/* Notes a record, if there is one. */
bool hunt_shard_note(hunt_shard *shard, error *err);
bool hunt_shard_write(const hunt_shard *shard, const char *path, error *err);
/* Errors: 7 where it cannot be read, 2 where it is no shard, was cut off or changed. */
bool hunt_shard_read(const char *path, hunt_shard *shard, error *err);
void hunt_shard_free(hunt_shard *shard);

/* The first thing in which two shards are not of one hunt, NULL where they are. */
const char *hunt_shard_difference(const hunt_shard *a, const hunt_shard *b);
/* Of what was found in a shard, without who found it and when. */
uint64_t hunt_shard_content(const hunt_shard *shard);

#endif
