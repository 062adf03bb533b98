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

static const former_option former[] = {
    {"format", "use lnbench SUBCOMMAND --help; help2man makes man pages of it, and "
               "cmake/lnbench.bash completes in bash"},
    {"out", "use the Debian packages, which have man pages and the completion for bash"},
    {NULL, NULL},
};

const cli_command command_help = {
    .name = "help",
    .brief = "a subcommand's options",
    .usage = "[SUBCOMMAND]",
    .example = "help run",
    .summary = "Shows a subcommand's options, as lnbench SUBCOMMAND --help does.",
    .former = former,
    .most_operands = 1,
    .body = help,
};
