/* An error ends the program: die() prints one line and exits.
 *
 *     FILE *file = fopen(path, "rb");
 *     if (!file)
 *         die(EXIT_CODE_ENVIRONMENT, "%s: cannot read it: %s", path, strerror(errno));
 *
 * Only where something must go on after a failure (one case of many, a peer that can be left out), a function
 * returns false and fills an `error`.
 */
#ifndef LNBENCH_DIE_H
#define LNBENCH_DIE_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>

/* The documented exit codes of lnbench. */
typedef enum exit_code {
    EXIT_CODE_FINE = 0,
    EXIT_CODE_REGRESSION = 1,
    EXIT_CODE_USAGE = 2,
    EXIT_CODE_INCONCLUSIVE = 3,
    EXIT_CODE_NOT_COMPARABLE = 4,
    EXIT_CODE_ACCURACY = 5,      /* an accuracy violation, or a budget that nothing meets */
    EXIT_CODE_KERNEL_FAILED = 6, /* crashed, hung, wrote where it must not */
    EXIT_CODE_ENVIRONMENT = 7,   /* files, database, memory, missing programs */
    EXIT_CODE_INTERRUPTED = 130,
} exit_code;

typedef struct error {
    exit_code code;
    char message[1024]; /* one line: what was wrong, where, and what would be right */
} error;

/* Fills the error (it may be NULL) and returns false, so that callers can return it. The message is
 * made printable (base/text.h): it may quote what came from outside. */
bool fail(error *err, exit_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#ifdef LNBENCH_ANALYSIS /* that they return false, for analyzers, which see one file at a time */
#define fail(...) (fail(__VA_ARGS__), false)
#endif

/* liblnjudge's functions and tests catch what die() says:
 *
 *     die_catcher caught = {0};
 *     die_caught_by = &caught;
 *     if (setjmp(caught.place) == 0)
 *         tensor_read(...);
 *     die_caught_by = NULL; // caught.error has the code and the message
 *
 * die() calls exit(). main() registers tidy_up() (base/program.h) with atexit(), so child processes end,
 * and unfinished files and temporary folders are removed. Any thread may call die(). If several do, the
 * first one ends the program, and the others wait for that. */

/* Where die() goes in this thread instead of exit(). What was allocated until then stays so. */
typedef struct die_catcher {
    jmp_buf place;
    error error;
} die_catcher;
extern _Thread_local die_catcher *die_caught_by;

/* Prints "lnbench: ...", made printable (base/text.h), unless the reader of standard output went away
 * (| head). Then it exits with the code that finish_output() gives. Allocates no memory. */
_Noreturn void die(exit_code code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* What die() prints behind its line, such as "; the same command with --resume goes on". */
extern const char *die_note;
/* die() with exit code 7 and "out of memory (N bytes more)": what main() sets as out_of_memory
 * (base/arena.h). */
_Noreturn void die_of_memory(size_t bytes);

/* Flushes standard output and returns the exit code of the program: `code`; 7, with a line, where
 * standard output could not be written; or 141 where its reader went away. */
int finish_output(exit_code code);

#endif
