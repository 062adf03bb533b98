/* The subcommands, which commands/ above this folder defines. A new one: its file there, and its name
 * in commands/commands.c. */
#ifndef LNBENCH_COMMAND_H
#define LNBENCH_COMMAND_H

#include "cli/options.h"

/* All of them, in the order of --help. */
extern const cli_command *const commands[];
extern const size_t command_count;

/* Errors (2): no such subcommand; names the nearest. */
const cli_command *command_find(const char *name, error *err);

#endif
