/* An error ends the program: die() prints one line and exits.
 *
 *     FILE *file = fopen(path, "rb");
 *     if (!file)
 *         die(EXIT_CODE_ENVIRONMENT, "%s: cannot read it: %s", path, strerror(errno));
 *
 * Functions whose caller can go on after a failure (one case of many, an optional peer) return false and fill an
 * `error` instead.
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
    EXIT_CODE_ACCURACY = 5,      /* an accuracy failure, or no kernel within the budget */
    EXIT_CODE_KERNEL_FAILED = 6, /* a kernel crashed, hung or broke its contract */
    EXIT_CODE_ENVIRONMENT = 7,   /* files, database, memory, missing programs */
    EXIT_CODE_INTERRUPTED = 130,
} exit_code;

typedef struct error {
    exit_code code;
    char message[1024]; /* one line: what was wrong, where, and what to do */
} error;

/* Fills the error (it may be NULL) and returns false, so that callers can return that. Makes the message printable
 * (base/text.h), since it may quote text from outside. */
bool fail(error *err, exit_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#ifdef LNBENCH_ANALYSIS /* tells analyzers, which see one file at a time, that it returns false */
#define fail(...) (fail(__VA_ARGS__), false)
#endif

/* liblnjudge's functions and tests catch die():
 *
 *     die_catcher caught = {0};
 *     die_caught_by = &caught;
 *     if (setjmp(caught.place) == 0)
 *         tensor_read(...);
 *     die_caught_by = NULL; // caught.error has the code and the message
 *
 * die() calls exit(). main() registers tidy_up() (base/program.h) with atexit(), which ends child processes
 * and removes unfinished files and temporary folders. Any thread may call die(). If several do, the
 * first one ends the program, and the others wait. */

/* The place to which die() jumps in this thread instead of calling exit(). Memory allocated until then is not freed. */
typedef struct die_catcher {
    jmp_buf place;
    error error;
} die_catcher;
extern _Thread_local die_catcher *die_caught_by;

/* Prints "lnbench: ...", made printable (base/text.h), unless the reader of standard output closed the pipe (| head).
 * Then exits with the code of finish_output(). Allocates no memory. */
_Noreturn void die(exit_code code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* die() appends this to its line, for example "; repeat the command with --resume". */
extern const char *die_note;
/* Calls die() with code 7 and "out of memory (N more bytes needed)"; main() sets it as out_of_memory (base/arena.h). */
_Noreturn void die_of_memory(size_t bytes);

/* Flushes standard output and returns the exit code of the program: `code`; 7, with a line, if standard
 * output could not be written; 141 if its reader went away. */
int finish_output(exit_code code);

#endif
