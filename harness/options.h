/* Options of a subcommand as one table, from which parsing and --help follow.
 *
 *     const char *plan = "default";
 *     const option options[] = {
 *         {"plan", "quick|default|full", "which cases", OPTION_TEXT, &plan},
 *     };
 */
#ifndef LNBENCH_OPTIONS_H
#define LNBENCH_OPTIONS_H

#include "error.h"
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef enum option_kind {
    OPTION_FLAG,  /* bool */
    OPTION_TEXT,  /* const char *, pointing into argv */
    OPTION_LIST,  /* word_list: may be given again, and split at commas */
    OPTION_RAW,   /* word_list: may be given again, not split */
    OPTION_COUNT, /* uint64_t */
    OPTION_REAL,  /* double, >= 0 */
} option_kind;

typedef struct word_list {
    const char **words; /* the strings belong to the list or to argv */
    size_t count;
} word_list;

typedef struct option {
    const char *name;     /* without the dashes */
    const char *argument; /* shown in --help; NULL for a flag */
    const char *help;
    option_kind kind;
    void *target;
} option;

typedef struct subcommand {
    const char *name;
    const char *usage;   /* what follows the name */
    const char *summary; /* one line */
    const char *details; /* more lines for --help, or NULL */
    const option *options;
    size_t option_count;
    size_t most_operands;
} subcommand;

/* Reads argv[1..] of a subcommand. *help is set where --help was asked for. Operands (what is no
 * option) go to `operands`. Errors are usage errors that name the nearest option. */
bool options_parse(const subcommand *subcommand, int argc, char **argv, word_list *operands,
                   bool *help, error *error);
void options_help(const subcommand *subcommand, FILE *file);

/* The whole of a command: reads argv, prints --help where it was asked for, else runs `body` with
 * what its options' targets now hold, and gives its exit code (error->code where it failed). */
typedef exit_code command_body(void *context, const word_list *operands, error *error);
exit_code options_run(const subcommand *subcommand, int argc, char **argv, command_body *body,
                      void *context, error *error);

/* From here on options_help hands the table to `writer`, so that man pages and completions are made
 * from what --help shows; NULL: --help's own text. */
typedef void help_writer(const subcommand *subcommand, FILE *file);
void options_help_with(help_writer *writer);

/* Of the commands that run kernels: each has these in its table, and checks the deadline. */
#define PLUGIN_OPTION(plugins)                                                                     \
    {                                                                                              \
        "plugin", "FILE.so", "with a plugin's kernels; may be given again", OPTION_RAW, &(plugins) \
    }
#define DEADLINE_OPTION(deadline, preset)                                                          \
    {                                                                                              \
        "deadline", "S", "seconds until a kernel counts as hung (default: " #preset ")",           \
            OPTION_REAL, &(deadline)                                                               \
    }
/* More than 0, else a usage error that names the option. */
bool seconds_check(const char *option, double seconds, error *error);

bool word_list_add(word_list *list, const char *word, error *error); /* copies */
bool word_list_split(word_list *list, const char *text,
                     error *error); /* at commas; empty parts are errors */
void word_list_free(word_list *list);

/* "512x768": rows and hidden, both at least 1, product within memory's reach. */
bool shape_parse(const char *text, size_t *rows, size_t *hidden, error *error);

#endif
