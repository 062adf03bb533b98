/* The options of run and report that say how much of a result is shown. */
#ifndef LNBENCH_RESULT_OPTIONS_H
#define LNBENCH_RESULT_OPTIONS_H

#include "commands/options.h"
#include "show/result_table.h"

typedef struct result_options {
    bool all;
    uint64_t top;
    const char *sort, *baseline;
} result_options;

#define RESULT_OPTIONS(type, member)                                                               \
    {"all", NULL, "show every kernel and shape", OPTION_FLAG, offsetof(type, member.all)},         \
        {"top", "N", "show the first N kernels", OPTION_COUNT, offsetof(type, member.top)},        \
        {"sort", "speed|error|name", "order of the kernels (default: speed)", OPTION_TEXT,         \
         offsetof(type, member.sort)},                                                             \
    {                                                                                              \
        "baseline", "RUN", "show the change since this run: its number, previous, a file",         \
            OPTION_TEXT, offsetof(type, member.baseline)                                           \
    }

#define ALLOW_LOST_OPTION(type, member)                                                            \
    {                                                                                              \
        "allow-missing", NULL, "what is missing does not change the exit code", OPTION_FLAG,       \
            offsetof(type, member)                                                                 \
    }

/* Prints the view as they say; `plugins`: that were given, for the commands that repeat a case. */
void result_show(const result_options *options, const run_view *view, const char *database,
                 const word_list *plugins, const output_file *out);
/* Ends the program where the order is none (2) or there is no such run (7): before anything is measured. */
void result_check(const result_options *options, const char *database);

#endif
