/* An error that ends the program with one line on standard error and an exit code. The worker returns its
 * errors; liblnjudge's functions and tests catch them:
 *
 *     die_catcher caught = {0};
 *     die_caught_by = &caught;
 *     if (setjmp(caught.place) == 0)
 *         tensor_read(...);
 *     die_caught_by = NULL; // caught.error has the code and the message
 *
 *     FILE *file = fopen(path, "rb");
 *     if (!file)
 *         die(EXIT_CODE_ENVIRONMENT, "%s: cannot read it: %s", path, strerror(errno));
 *
 * die() calls exit(). main() registers tidy_up() (base/temporary.h) with atexit(), so child processes end,
 * and unfinished files and temporary folders are removed. Any thread may call die(). If several do, the
 * first one ends the program, and the others wait for that. */
#ifndef LNBENCH_DIE_H
#define LNBENCH_DIE_H

#include "base/error.h"
#include <setjmp.h>
#include <stddef.h>

/* Where die() goes in this thread instead of exit(). What was allocated until then stays so. */
typedef struct die_catcher {
    jmp_buf place;
    error error;
} die_catcher;
extern _Thread_local die_catcher *die_caught_by;

/* Prints "lnbench: ...", made printable (base/text.h), unless the reader of standard output went away
 * (| head). Then it exits with the code that finish_output() gives. Allocates no memory. */
_Noreturn void die(exit_code code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* die() with exit code 7 and "out of memory (N bytes more)": what main() sets as out_of_memory
 * (base/arena.h). */
_Noreturn void die_of_memory(size_t bytes);

/* Flushes standard output and returns the exit code of the program: `code`; 7, with a line, where
 * standard output could not be written; or 141 where its reader went away. */
int finish_output(exit_code code);

#endif
