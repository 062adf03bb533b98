/* The options of duet and compare, and writing what they came to in every format asked for. */
#ifndef LNBENCH_COMPARE_OPTIONS_H
#define LNBENCH_COMPARE_OPTIONS_H

#include "commands/result_options.h"
#include "show/compare.h"

typedef struct comparison_options {
    const char *threshold, *gate, *format, *only;
    double confidence;
    word_list also; /* FORMAT=FILE */
    bool json, all, allow_missing;
} comparison_options;

#define COMPARISON_DEFAULTS                                                                        \
    {                                                                                              \
        "2%", "no-worse", "text", NULL, 0.99, {0}, false, false, false                             \
    }
#define COMPARISON_OPTIONS(type, member)                                                           \
    {"threshold", "SHARE", "a change of time that matters (default: 2%)", OPTION_TEXT,             \
     offsetof(type, member.threshold)},                                                            \
        {"confidence", "P", "of intervals and tests (default: 0.99)", OPTION_REAL,                 \
         offsetof(type, member.confidence)},                                                       \
        {"accuracy", "exact|no-worse|bound",                                                       \
         "what fails: a bit, a larger error (default), a broken bound", OPTION_TEXT,               \
         offsetof(type, member.gate)},                                                             \
        {"only", "speed|accuracy", "leave out the other half", OPTION_TEXT,                        \
         offsetof(type, member.only)},                                                             \
        {"format", OUTPUT_FORMATS_CI, "of standard output", OPTION_TEXT,                           \
         offsetof(type, member.format)},                                                           \
        {"all", NULL, "show what did not change, too", OPTION_FLAG, offsetof(type, member.all)},   \
        ALLOW_LOST_OPTION(type, member.allow_missing),                                             \
        {"also", "FORMAT=FILE", "write this too; may be given again", OPTION_RAW,                  \
         offsetof(type, member.also)},                                                             \
    {                                                                                              \
        "json", NULL, "the same as --format json", OPTION_FLAG, offsetof(type, member.json)        \
    }

/* Returns the format of standard output. A wrong option ends the program (2) and says what was expected. */
output_format comparison_read_options(const comparison_options *options,
                                      comparison_settings *settings);
/* To standard output and to every --also. */
void comparison_show(const run_comparison *comparison, output_format format, const word_list *also);

#endif
