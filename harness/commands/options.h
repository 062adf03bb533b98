/* A subcommand as data: its options, its words for --help, and the function that does it. Parsing
 * and --help follow from the one table; help2man makes the man pages from --help, and cmake/lnbench.bash
 * asks it for completions.
 *
 *     typedef struct export_options { const char *format, *database; } export_options;
 *     static const cli_option options[] = {
 *         {"format", "json|tsv", "of the file", OPTION_TEXT, offsetof(export_options, format)},
 *         STORE_OPTION(export_options, database),
 *     };
 *     const cli_command command_export = {
 *         .name = "export", .brief = "a stored run as a file", .usage = "[OPTION...]",
 *         .summary = "Writes a stored run.", OPTIONS(options),
 *         DEFAULTS(export_options, .format = "json"), .body = export_run,
 *     };
 */
#ifndef LNBENCH_OPTIONS_H
#define LNBENCH_OPTIONS_H

#include "base/output.h"
#include "base/text.h"
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define DEFAULT_STORE "results/lnbench.db"

typedef enum option_kind {
    OPTION_FLAG,    /* bool */
    OPTION_TEXT,    /* const char *, pointing into argv */
    OPTION_LIST,    /* word_list: may be given again, and split at commas */
    OPTION_RAW,     /* word_list: may be given again, not split */
    OPTION_COUNT,   /* uint64_t */
    OPTION_REAL,    /* double, >= 0 */
    OPTION_SECONDS, /* double, > 0 */
    OPTION_STORE,   /* const char *: a database in a directory that exists; else DEFAULT_STORE */
    OPTION_FORMAT,  /* output_file */
    OPTION_JSON,    /* output_file: a flag, the same as --format json */
} option_kind;

typedef struct cli_option {
    const char *name;     /* without the dashes */
    const char *argument; /* shown in --help; NULL for a flag */
    const char *help;
    option_kind kind;
    size_t target; /* offset of the member of the command's options */
} cli_option;

/* What the body of a command gets besides its options. */
typedef struct cli_call {
    const word_list *operands; /* what is no option */
    const char *line;          /* "lnbench run --plan quick" */
} cli_call;

/* Gives the exit code. An error ends the program: die(). */
typedef exit_code command_body(void *options, const cli_call *call);

typedef struct cli_command {
    const char *name;    /* "doctor" */
    const char *brief;   /* what it is for, in the list of subcommands */
    const char *usage;   /* what follows the name */
    const char *example; /* what follows "lnbench" in a command that does something useful */
    const char *summary; /* one sentence */
    const char *details; /* more lines for --help, or NULL */
    const cli_option *options;
    size_t option_count;
    size_t most_operands;
    const void *defaults; /* what the options are where they are not given */
    size_t size;          /* of the options */
    command_body *body;
} cli_command;

#define OPTIONS(table) .options = (table), .option_count = sizeof(table) / sizeof *(table)
#define DEFAULTS(type, ...) .defaults = &(const type){__VA_ARGS__}, .size = sizeof(type)

/* The subcommands, in the order of --help. A new one is a file, and its name in options.c. */
extern const cli_command *const commands[];
extern const size_t command_count;
/* Where there is no such subcommand the program ends (2) with the name of the nearest. */
const cli_command *command_find(const char *name);

/* Reads argv[1..], prints --help where it was asked for, else runs the body. */
exit_code command_run_with(const cli_command *command, int argc, char **argv);
void command_print_help(const cli_command *command, FILE *file);

/* Of the commands that run kernels. */
#define PLUGIN_OPTION(type, member)                                                                \
    {                                                                                              \
        "plugin", "FILE.so", "add the kernels of this plugin; may be given again", OPTION_RAW,     \
            offsetof(type, member)                                                                 \
    }
#define DEADLINE_OPTION(type, member, preset)                                                      \
    {                                                                                              \
        "deadline", "S", "a call that takes over S seconds hangs (default: " #preset ")",          \
            OPTION_SECONDS, offsetof(type, member)                                                 \
    }
#define CACHE_OPTION(words, kind, type, member)                                                    \
    {                                                                                              \
        "cache", words, "hot, cold, in-place (y is x), read (y is read next); default: hot", kind, \
            offsetof(type, member)                                                                 \
    }
#define TIME_ON_OPTION(type, member)                                                               \
    {                                                                                              \
        "time-on", "FAMILY[+FAMILY...]", "input families to time on, in turn (default: normal)",   \
            OPTION_TEXT, offsetof(type, member)                                                    \
    }
#define STORE_OPTION(type, member)                                                                 \
    {                                                                                              \
        "db", "FILE", "result store (default: " DEFAULT_STORE ")", OPTION_STORE,                   \
            offsetof(type, member)                                                                 \
    }
#define ALLOW_LOST_OPTION(type, member)                                                            \
    {                                                                                              \
        "allow-missing", NULL, "missing results do not change the exit code", OPTION_FLAG,         \
            offsetof(type, member)                                                                 \
    }
/* Of the commands that print a table; the member is an output_file. */
#define OUTPUT_OPTIONS(type, member)                                                               \
    {"format", OUTPUT_FORMATS, "output format (default: text)", OPTION_FORMAT,                     \
     offsetof(type, member)},                                                                      \
    {                                                                                              \
        "json", NULL, "the same as --format json", OPTION_JSON, offsetof(type, member)             \
    }

#endif
