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
#include <sys/types.h>

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
/* Runs a program in try/, in a process group of its own; `output`: a file in place of its standard
 * output. Then waits for its end; false: it took longer, and was killed with its group. */
pid_t try_start(char *const *arguments, const char *output);
bool try_wait(pid_t process, unsigned seconds, int *status);
/* Two undisturbed tries, "reference" and "second": later ones are compared with the first, and where
 * the second differs, not byte by byte. */
void try_keep_as(const char *name);
/* Makes both of them, so many seconds apart; returns the status of the first. */
enum { UNDISTURBED_GAP = 1 };
int try_undisturbed(tried_command *command);
/* NULL, or what is wrong with what try/ has. */
const char *try_judge(const tried_command *command, int status, int reference_status);
/* The same against a run that nothing disturbs now, which takes the place of "reference": what the
 * machine tells of itself, such as its load, may have changed. */
const char *try_judge_again(const tried_command *command, int status);
/* Prints the try's errors, and what is new in its output. */
void try_show(void);
/* A file of try/, by its name below it, has what it has in the undisturbed tries. */
bool try_is_whole(const char *name);
/* Of a database: NULL, or what is wrong with it. `least` runs must be there. */
const char *database_judge(const char *path, int least);
/* NULL, or in which table rows of the database `of` are missing. */
const char *database_lacks(const char *path, const char *of);

/* A report without the charts of a gnuplot that died, or was not found, says so; so does a calibration
 * without what a linker was to make. */
bool try_says_what_lacks(void);

#endif
