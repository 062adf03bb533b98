/* The subcommands: each has its option table (for --help) and its main. */
#ifndef LNBENCH_COMMAND_H
#define LNBENCH_COMMAND_H

#include "options.h"

#include <stddef.h>

/* argv[0] is the subcommand's name. Returns the exit code; an error that ends it is in *error with
 * code != 0. */
typedef exit_code command_main(int argc, char **argv, error *error);

typedef struct command {
    const char *name;
    command_main *main;
    const char *summary;
} command;

/* All of them, in the order of --help (main.c). */
extern const command commands[];
extern const size_t command_count;

command_main command_run, command_list, command_eval, command_choose, command_fingerprint,
    command_distance, command_hunt, command_merge, command_replay, command_report, command_export,
    command_doctor, command_duet, command_calibrate, command_compare, command_import,
    command_history, command_help, command_invariance;

#endif
