/* The list of subcommands: dispatch and --help read it. */
#include "commands/options.h"
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

/* Subcommands that were removed, and what to use instead. */
static const struct {
    const char *was, *instead;
} former[] = {
    {"merge", "run lnbench hunt --seed N in several processes, each with another N"},
    {"verify-exact", "use lnbench run, which checks kernels that claim to be correctly rounded"},
    {"invariance", "see the column `reproducible` of lnbench run and lnbench eval"},
    {"distance", "see the tables in docs/conventions.md"},
    {"calibrate", "use lnbench doctor --noise"},
    {"fleet",
     "run lnbench hunt --seed N in several processes, and lnbench import of other machines' runs"},
};

const cli_command *command_find(const char *name)
{
    const char *names[sizeof commands / sizeof *commands];
    for (size_t i = 0; i < command_count; i++) {
        names[i] = commands[i]->name;
        if (strcmp(name, names[i]) == 0)
            return commands[i];
    }
    for (size_t i = 0; i < sizeof former / sizeof *former; i++)
        if (strcmp(name, former[i].was) == 0)
            die(EXIT_CODE_USAGE, "%s was removed: %s", name, former[i].instead);
    char meant[MEANT_LENGTH];
    die(EXIT_CODE_USAGE, "no %s '%.60s'%s: see lnbench --help",
        name[0] == '-' ? "option" : "subcommand", name,
        did_you_mean(name, names, command_count, meant));
}
