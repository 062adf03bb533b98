/* The list of subcommands: dispatch and --help read it. */
#include "cli/options.h"
#include "base/text.h"
#include <string.h>

#define COMMANDS(one)                                                                              \
    one(run) one(list) one(eval) one(fingerprint) one(choose) one(duet) one(compare) one(hunt)     \
        one(replay) one(report) one(export) one(history) one(import) one(doctor) one(help)

#define DECLARE(name) extern const cli_command command_##name;
COMMANDS(DECLARE)

#define ADDRESS(name) &command_##name,
const cli_command *const commands[] = {COMMANDS(ADDRESS)};
const size_t command_count = sizeof commands / sizeof *commands;

/* Subcommands of before, and what says the same now. */
static const struct {
    const char *was, *now;
} former[] = {
    {"merge", "lnbench hunt --seed N in several processes, each with another N"},
    {"verify-exact", "lnbench run, which checks kernels that claim to be correctly rounded"},
    {"invariance", "the column `reproducible` of lnbench run and lnbench eval"},
    {"distance", "the tables in docs/conventions.md"},
    {"calibrate", "lnbench doctor --calibrate"},
    {"fleet",
     "lnbench hunt --seed N in several processes, and lnbench import of other machines' runs"},
};

const cli_command *command_find(const char *name, error *err)
{
    const char *names[sizeof commands / sizeof *commands];
    for (size_t i = 0; i < command_count; i++) {
        names[i] = commands[i]->name;
        if (strcmp(name, names[i]) == 0)
            return commands[i];
    }
    for (size_t i = 0; i < sizeof former / sizeof *former; i++)
        if (strcmp(name, former[i].was) == 0)
            return fail(err, EXIT_CODE_USAGE, "%s is now: %s", name, former[i].now), NULL;
    char meant[MEANT_LENGTH];
    fail(err, EXIT_CODE_USAGE, "no %s '%.60s'%s: see lnbench --help",
         name[0] == '-' ? "option" : "subcommand", name,
         did_you_mean(name, names, command_count, meant));
    return NULL;
}
