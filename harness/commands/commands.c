/* The list of subcommands: dispatch, --help, man pages and completions all read it. */
#include "cli/command.h"
#include "base/text.h"
#include <string.h>

const cli_command *const commands[] = {
    &command_run,      &command_list,      &command_eval,       &command_fingerprint,
    &command_distance, &command_choose,    &command_duet,       &command_compare,
    &command_hunt,     &command_merge,     &command_invariance, &command_verify_exact,
    &command_replay,   &command_calibrate, &command_report,     &command_export,
    &command_history,  &command_import,    &command_doctor,     &command_help,
};
const size_t command_count = sizeof commands / sizeof *commands;

const cli_command *command_find(const char *name, error *err)
{
    const char *names[sizeof commands / sizeof *commands];
    for (size_t i = 0; i < command_count; i++) {
        names[i] = commands[i]->name;
        if (strcmp(name, names[i]) == 0)
            return commands[i];
    }
    const char *nearest = nearest_word(name, names, command_count);
    fail(err, EXIT_CODE_USAGE, "no %s '%.60s'%s%s%s: see lnbench --help",
         name[0] == '-' ? "option" : "subcommand", name, nearest ? " (did you mean '" : "",
         nearest ? nearest : "", nearest ? "'?)" : "");
    return NULL;
}
