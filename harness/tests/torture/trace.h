/* Runs a program and its children under ptrace, and shows each of their system calls before and
 * after, so that a test can fail one of them or write down what reaches the disk.
 *
 *     trace_watch watch = {.enter = fail_it, .leave = NULL, .context = &mine};
 *     if (trace_run(arguments, &watch, 60, &status)) ...
 *
 * x86-64 alone: elsewhere trace_run() fails with ENOSYS. */
#ifndef LNBENCH_TRACE_H
#define LNBENCH_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct traced_call {
    pid_t process;
    bool counted; /* of the program that was started; after the mark of fail_allocation.c */
    long number;  /* SYS_read, ... */
    unsigned long arguments[6];
    long result; /* in leave() */
} traced_call;

/* What becomes of a call: `error` other than 0 fails it, `length` other than 0 replaces its third
 * argument (the count of a read or write). `last`: no later call need be shown. */
typedef struct call_fault {
    int error;
    size_t length;
    bool last;
} call_fault;

typedef struct trace_watch {
    const char *program;                 /* whose calls are counted: the name of its process */
    bool from_start;                     /* counted before the mark, too */
    bool everything;                     /* other programs that it starts are shown, too */
    const char *input, *output, *errors; /* files in place of the standard ones; NULL: inherited */
    void (*enter)(void *context, const traced_call *call, call_fault *fault); /* may be NULL */
    void (*leave)(void *context, const traced_call *call);                    /* may be NULL */
    void *context;
} trace_watch;

typedef struct trace_outcome {
    int status;  /* as wait() has it, of the first process */
    bool late;   /* was killed at the deadline */
    int orphans; /* processes that outlived the first by more than five seconds */
} trace_outcome;

bool trace_run(char *const *arguments, const trace_watch *watch, unsigned seconds,
               trace_outcome *outcome);

/* Reads at most `size` bytes of the process, returns how many. */
size_t trace_read(pid_t process, unsigned long from, void *to, size_t size);
/* The path that an open file of the process has; "" if it has none. */
void trace_path(pid_t process, int file, char *path, size_t size);

#endif
