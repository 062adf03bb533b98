/* Programs of others at work: gnuplot, WeasyPrint, the compiler. Each gets an environment of ours,
 * nothing to read, and a deadline. A process of its own waits for it and ends it with all that it
 * started: when it is late, when it leaves children behind, and when lnbench ends, however that is.
 *
 *     const char *const arguments[] = {"gnuplot", "-d", "-c", "field.gp", NULL};
 *     program gnuplot = {.arguments = arguments, .folder = folder, .seconds = 60};
 *     program_start(&gnuplot);
 *     if (program_end(&gnuplot) != PROGRAM_DONE) puts(gnuplot.words);
 */
#ifndef LNBENCH_PROGRAM_H
#define LNBENCH_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef enum program_result {
    PROGRAM_DONE,
    PROGRAM_ABSENT, /* not on PATH */
    PROGRAM_FAILED, /* it cannot be started, was killed, or its exit status is not 0 */
    PROGRAM_LATE,
    PROGRAM_INTERRUPTED, /* by Ctrl-C */
} program_result;

/* The strings are the caller's, until the end. */
typedef struct program {
    const char *const *arguments; /* the first is looked up in PATH; NULL ends them */
    const char *folder;           /* where it runs; NULL: here */
    const char *temporary;        /* its TMPDIR; NULL: that of lnbench */
    double seconds;               /* that it may take; $LNBENCH_CHILD_SECONDS replaces them */
    bool is_own; /* lnbench again: the environment and `seconds` stay as they are */
    program_result result;
    char words[256]; /* one printable line: the last that it said, or why it is not done */
    pid_t guard;     /* 0: none is running */
    int answer;
} program;

/* program_end() in any case. */
void program_start(program *started);
/* Waits for it. */
program_result program_end(program *started);

/* The file of a program: absolute, and executable. */
bool program_find(const char *name, char *path, size_t size);

#endif
