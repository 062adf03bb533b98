/* Describes a subcommand as data: its options, its texts for --help, and its function. This one table drives parsing
 * and --help; help2man makes the man pages from --help, and cmake/lnbench.bash reads completions from it.
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
    OPTION_LIST,    /* word_list: may be repeated, and is split at commas */
    OPTION_RAW,     /* word_list: may be repeated, and is not split */
    OPTION_COUNT,   /* uint64_t */
    OPTION_REAL,    /* double, >= 0 */
    OPTION_SECONDS, /* double, > 0 */
    OPTION_STORE,   /* const char *: a database in an existing directory; default: DEFAULT_STORE */
    OPTION_FORMAT,  /* output_file */
    OPTION_JSON,    /* output_file: a flag, the same as --format json */
} option_kind;

typedef struct cli_option {
    const char *name;     /* without the dashes */
    const char *argument; /* shown in --help; NULL for a flag */
    const char *help;
    option_kind kind;
    size_t target; /* offset of the member in the command's options */
} cli_option;

/* The input of a command's body other than its options. */
typedef struct cli_call {
    const word_list *operands; /* the arguments that are not options */
    const char *line;          /* "lnbench run --plan quick" */
} cli_call;

/* Runs the command and returns the exit code. An error ends the program by die(). */
typedef exit_code command_body(void *options, const cli_call *call);

typedef struct cli_command {
    const char *name;    /* such as "doctor" */
    const char *brief;   /* its purpose, as shown in the list of subcommands */
    const char *usage;   /* the words after the name in the usage line */
    const char *example; /* a useful command, without "lnbench" */
    const char *summary; /* one sentence */
    const char *details; /* more lines for --help, or NULL */
    const cli_option *options;
    size_t option_count;
    size_t most_operands;
    const void *defaults; /* the default options */
    size_t size;          /* size of the options in bytes */
    command_body *body;
} cli_command;

#define OPTIONS(table) .options = (table), .option_count = sizeof(table) / sizeof *(table)
#define DEFAULTS(type, ...) .defaults = &(const type){__VA_ARGS__}, .size = sizeof(type)

/* The subcommands, in the order of --help. A new one needs its own file and an entry in options.c. */
extern const cli_command *const commands[];
extern const size_t command_count;
/* Returns the subcommand of this name. An unknown name ends the program with code 2; the error suggests the nearest. */
const cli_command *command_find(const char *name);

/* Reads argv[1..], then prints --help if requested, and otherwise runs the body. */
exit_code command_run_with(const cli_command *command, int argc, char **argv);
void command_print_help(const cli_command *command, FILE *file);

/* Options of the commands that run kernels. */
#define PLUGIN_OPTION(type, member)                                                                \
    {                                                                                              \
        "plugin", "FILE.so", "add the kernels of this plugin; may be given again", OPTION_RAW,     \
            offsetof(type, member)                                                                 \
    }
#define DEADLINE_OPTION(type, member, preset)                                                      \
    {                                                                                              \
        "deadline", "S", "after S seconds a call counts as hung (default: " #preset ")",           \
            OPTION_SECONDS, offsetof(type, member)                                                 \
    }
#define CACHE_OPTION(words, kind, type, member)                                                    \
    {                                                                                              \
        "cache", words, "hot, cold, in-place (y is x), read (then y is read); default: hot", kind, \
            offsetof(type, member)                                                                 \
    }
#define TIME_ON_OPTION(type, member)                                                               \
    {                                                                                              \
        "time-on", "FAMILY[+FAMILY...]",                                                           \
            "time on rows of these families, in turn (default: normal)", OPTION_TEXT,              \
            offsetof(type, member)                                                                 \
    }
#define STORE_OPTION(type, member)                                                                 \
    {                                                                                              \
        "db", "FILE", "result store (default: " DEFAULT_STORE ")", OPTION_STORE,                   \
            offsetof(type, member)                                                                 \
    }
#define ALLOW_MISSING_OPTION(type, member)                                                         \
    {                                                                                              \
        "allow-missing", NULL, "missing results do not change the exit code", OPTION_FLAG,         \
            offsetof(type, member)                                                                 \
    }
/* Options of the commands that print a table; the member is an output_file. */
#define OUTPUT_OPTIONS(type, member)                                                               \
    {"format", OUTPUT_FORMATS, "output format (default: text)", OPTION_FORMAT,                     \
     offsetof(type, member)},                                                                      \
    {                                                                                              \
        "json", NULL, "the same as --format json", OPTION_JSON, offsetof(type, member)             \
    }

#endif
