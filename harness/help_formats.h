/* The option tables as man pages and as completions for shells.
 *
 *     options_help_with(help_man);
 *     command_run(2, (char *[]){"run", "--help"}, &error);     // prints lnbench-run(1)
 */
#ifndef LNBENCH_HELP_FORMATS_H
#define LNBENCH_HELP_FORMATS_H

#include "options.h"

typedef struct help_entry {
    const char *name, *summary;
} help_entry;

/* One subcommand: a whole man page, or its part of a completion. */
help_writer help_man, help_bash, help_zsh, help_fish;

/* lnbench(1), with all subcommands; what stands before and behind the parts of a completion. */
void help_man_main(const help_entry *entries, size_t count, FILE *file);
void help_bash_begin(const help_entry *entries, size_t count, FILE *file);
void help_bash_end(FILE *file);
void help_zsh_begin(const help_entry *entries, size_t count, FILE *file);
void help_zsh_end(FILE *file);
void help_fish_begin(const help_entry *entries, size_t count, FILE *file);

/* What may stand for an option's argument, as far as its placeholder and its name tell. */
typedef enum value_kind {
    VALUE_NONE,  /* a flag */
    VALUE_ANY,   /* a number, say: nothing to propose */
    VALUE_WORDS, /* those in value_words */
    VALUE_LISTED /* what `lnbench list` shows under value_listed */,
    VALUE_FILE,
    VALUE_DIRECTORY,
} value_kind;

value_kind option_value_kind(const option *option);
/* "quick default full" of "quick|default|full"; "hot cold" of "hot,cold". */
void option_value_words(const char *argument, char separator, char *words, size_t size);
/* "kernels" of --kernel and --kernels; NULL where nothing is listed. */
const char *option_value_listed(const option *option);

#endif
