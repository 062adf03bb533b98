/* lnbench help SUBCOMMAND: the same as lnbench SUBCOMMAND --help. */
#include "commands/options.h"

static exit_code help(void *context, const cli_call *call)
{
    (void)context;
    if (call->operands->count == 0)
        die(EXIT_CODE_USAGE, "help with what? lnbench help SUBCOMMAND");
    command_print_help(command_find(call->operands->words[0]), stdout);
    return EXIT_CODE_FINE;
}

const cli_command command_help = {
    .name = "help",
    .brief = "a subcommand's options",
    .usage = "[SUBCOMMAND]",
    .example = "help run",
    .summary = "Shows a subcommand's options, as lnbench SUBCOMMAND --help does.",
    .most_operands = 1,
    .body = help,
};
