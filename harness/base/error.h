/* Errors are values: a function that can fail returns false and fills an error, and only main
 * prints it.
 *
 *     bool read_it(const char *path, error *err)
 *     {
 *         FILE *file = fopen(path, "rb");
 *         if (!file)
 *             return fail(err, EXIT_CODE_ENVIRONMENT, "%s: %s", path, strerror(errno));
 */
#ifndef LNBENCH_ERROR_H
#define LNBENCH_ERROR_H

#include <stdbool.h>

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

/* The same for memory that ran out: "out of memory (what)". */
bool fail_memory(error *err, const char *what);
#ifdef LNBENCH_ANALYSIS /* that they return false, for analyzers, which see one file at a time */
#define fail(...) (fail(__VA_ARGS__), false)
#define fail_memory(...) (fail_memory(__VA_ARGS__), false)
#endif

#endif
