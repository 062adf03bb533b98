/* The subcommands. A new one: its file in commands/, and its name here and in commands/commands.c.
 */
#ifndef LNBENCH_COMMAND_H
#define LNBENCH_COMMAND_H

#include "cli/options.h"

extern const cli_command command_run, command_list, command_eval, command_choose,
    command_fingerprint, command_distance, command_hunt, command_merge, command_replay,
    command_report, command_export, command_doctor, command_duet, command_calibrate,
    command_compare, command_import, command_history, command_help, command_invariance,
    command_verify_exact;

/* All of them, in the order of --help. */
extern const cli_command *const commands[];
extern const size_t command_count;

/* Errors (2): no such subcommand; names the nearest. */
const cli_command *command_find(const char *name, error *err);

#endif
