/* lnbench fleet: a hunt over many machines, and the runs of many machines side by side. */
#ifndef LNBENCH_COMMANDS_FLEET_H
#define LNBENCH_COMMANDS_FLEET_H

#include "base/output.h"
#include "base/words.h"
#include "commands/hunt/folder.h"

/* What is known of one shard, without its finds. */
typedef struct known_shard {
    char host[64], cpu[128];
    uint64_t restarts, done, rows;
    double seconds, worst; /* worst: its largest score, -1 without a find */
    hunt_record *records;
    size_t record_count;
} known_shard;

typedef struct fleet_progress {
    shard_folder folder;
    known_shard *shards; /* those that were begun, complete ones too */
    size_t count;
    worst_row best; /* of all finds; no kernel: there is none */
} fleet_progress;

bool fleet_progress_read(const word_list *paths, fleet_progress *progress, error *err);
void fleet_progress_free(fleet_progress *progress);
bool fleet_progress_print(const fleet_progress *progress, const output_file *printed, error *err);

/* How the worst score grows with the rows that are tried: measured from the shards, and beyond them
 * from a fitted distribution (curve.c). Errors (2): too few shards. */
bool fleet_curve_print(const fleet_progress *progress, const output_file *printed, error *err);

/* The machines of a store side by side; `chart`: the folder of the chart of winners, NULL: none. */
bool fleet_machines(const char *database, const char *chart, const output_file *printed,
                    exit_code *code, error *err);

#endif
