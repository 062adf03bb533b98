/* One command tried in a directory of its own, and whether what it left is right.
 *
 *     tried_command *list = commands_read("commands.txt", &count);
 *     try_prepare();                        // an empty try/, with a fresh copy of base.db
 *     ...run it there...
 *     try_keep_as("reference");             // and once more as "second"
 *     why = try_judge(&command, status);    // NULL: a right outcome
 *
 * Outcomes that are right: the exit code, the output and the files of a run that nothing disturbed;
 * or exit code 7 (or 6: the worker), with one line on standard error, and each file either as it is
 * after an undisturbed run, or as it was before, or absent. Databases pass SQLite's integrity check
 * and have what they had before. */
#ifndef LNBENCH_TRY_H
#define LNBENCH_TRY_H

#include <stdbool.h>
#include <stddef.h>

enum { ARGUMENTS = 40 };

/* A line of the list: "NAME ARGUMENT...", run in try/ below the current directory. Words are split
 * at blanks. */
typedef struct tried_command {
    char name[64];
    char *arguments[ARGUMENTS]; /* [0] is the program */
    bool changes_nothing;       /* outputs of two undisturbed runs are the same bytes */
} tried_command;

tried_command *commands_read(const char *path, const char *program, size_t *count);

void try_prepare(void);
/* Two undisturbed tries, "reference" and "second": later ones are compared with the first, and where
 * the second differs, not byte by byte. */
void try_keep_as(const char *name);
/* Whether the two have the same bytes on standard output. */
bool try_is_repeatable(void);
const char *try_judge(const tried_command *command, int status, int reference_status);
/* Of a database: NULL, or what is wrong with it. `least` runs must be there. */
const char *database_judge(const char *path, int least);
/* NULL, or in which table rows of the database `of` are missing. */
const char *database_lacks(const char *path, const char *of);

#endif
