/* The option tables as man pages and as completions for shells. */
#ifndef LNBENCH_HELP_FORMATS_H
#define LNBENCH_HELP_FORMATS_H

#include "cli/options.h"

typedef const cli_command *const *command_table;

/* lnbench-run(1); lnbench(1) with all subcommands. */
void man_page(const cli_command *command, FILE *file);
void man_main_page(command_table commands, size_t count, FILE *file);
/* The whole completion of a shell. */
typedef void completion_writer(command_table commands, size_t count, FILE *file);
completion_writer bash_completion, zsh_completion, fish_completion;

/* What may stand for an option's argument, as far as its placeholder and its name tell. */
typedef enum value_kind {
    VALUE_NONE,  /* a flag */
    VALUE_ANY,   /* a number, say: nothing to propose */
    VALUE_WORDS, /* those of option_value_words() */
    VALUE_LISTED /* what `lnbench list` shows under option_value_listed() */,
    VALUE_FILE,
    VALUE_DIRECTORY,
} value_kind;

value_kind option_value_kind(const cli_option *option);
/* "quick default full" of "quick|default|full"; "hot cold" of "hot,cold". */
void option_value_words(const char *argument, char separator, char *words, size_t size);
/* "kernels" of --kernel and --kernels; NULL where nothing is listed. */
const char *option_value_listed(const cli_option *option);

#endif
