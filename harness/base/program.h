/* Runs another program, such as gnuplot, with a fixed environment, an empty standard input and a deadline. When lnbench
 * ends, the program and its process group are killed. If lnbench is killed by SIGKILL, only the program
 * itself ends.
 *
 *     const char *const arguments[] = {"gnuplot", "-d", "-c", "field.gp", NULL};
 *     program gnuplot = {.arguments = arguments, .folder = folder, .seconds = 60};
 *     program_start(&gnuplot);
 *     if (program_end(&gnuplot) != PROGRAM_DONE) puts(gnuplot.words);
 */
#ifndef LNBENCH_PROGRAM_H
#define LNBENCH_PROGRAM_H

#include "base/die.h"
#include "base/text.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

typedef enum program_result {
    PROGRAM_DONE,
    PROGRAM_ABSENT, /* not on PATH */
    PROGRAM_FAILED, /* it could not be started, was killed, or its exit status is not 0 */
    PROGRAM_LATE,
    PROGRAM_INTERRUPTED, /* by Ctrl-C */
} program_result;

/* The strings belong to the caller, who keeps them until program_end(). */
typedef struct program {
    const char *const *arguments; /* the first is looked up in PATH; NULL ends them */
    const char *folder;           /* its working directory; NULL: lnbench's */
    double seconds;               /* its deadline; $LNBENCH_CHILD_SECONDS replaces it */
    program_result result;
    char words[256]; /* one printable line: the last on standard error, or why it failed */
    pid_t process;   /* 0: none is running */
    double begun;    /* seconds_now() */
    int errors;      /* an anonymous file that receives its standard error */
} program;

/* Starts the program; program_end() must follow, and reports a program that could not be started. */
void program_start(program *started);
/* Waits until the program ends, or Ctrl-C is pressed. */
program_result program_end(program *started);

/* Reads the last non-empty line of the file and makes it printable; if there is none, *last is unchanged. */
void last_line_read(int file, char *last, size_t size);

/* Finds an executable file on PATH, or by its path, and writes its absolute path. */
bool program_find(const char *name, char *path, size_t size);

/* Child processes. Each has its own process group, so that it is ended together with its children, and none outlives
 * its deadline or lnbench.
 *
 *     pid_t child = child_execute(become_shell, "sleep 3");
 *     if (child > 0 && child_wait(child, 60, &status) == CHILD_ENDED && status == 0) ...
 */

typedef enum child_end { CHILD_ENDED, CHILD_LATE, CHILD_INTERRUPTED } child_end;

/* Starts a child that executes a program. become_program() calls execve(), or returns on failure. It may only make
 * system calls, because the child shares this process's memory (vfork), which therefore need not be copied. */
pid_t child_execute(void (*become_program)(void *context), void *context);
/* Waits for the child's end; kills it after the deadline or at Ctrl-C. `status` is set by waitpid(). */
child_end child_wait(pid_t child, double seconds, int *status);
/* Kills the child and its process group; returns its status. */
int child_kill(pid_t child);

/* From now on Ctrl-C, SIGTERM and SIGHUP are only noted, so that a run can stop cleanly. A second signal, or 1.7 s
 * after the first, ends the program and its children at once. Signals that were ignored at the start stay ignored. */
void interrupt_watch(void);
bool interrupted(void);
/* Makes interrupted() false again for final work; a second signal still ends the process. */
void interrupt_forgive(void);

/* Files that get their name only when they are complete and on the disk; until then each is a temporary file in the
 * same folder. After a crash or a power loss a file is complete, or as it was before.
 *
 *     whole_file file;
 *     whole_file_begin(&file, path);
 *     print(file.stream);
 *     whole_file_end(&file);
 *
 * All failures to read, write, make or find files end the program with code 7. */

typedef struct whole_file {
    const char *path; /* belongs to the caller */
    FILE *stream;
    char *part;              /* the temporary file; NULL: a pipe or device is written directly */
    struct whole_file *next; /* the next open one; a whole_file must not move until its end */
} whole_file;

void whole_file_begin(whole_file *file, const char *path);
void whole_file_end(whole_file *file);
/* Instead of whole_file_end(): removes the temporary file and changes nothing else. */
void whole_file_drop(whole_file *file);

/* Appends the file's content and a terminating 0, which is not counted. */
void read_whole_file(const char *path, text_buffer *content);
void write_whole_file(const char *path, const text_buffer *content);

/* The paths of lnbench's own parts, relative to the running executable, so that they work in a build tree and in an
 * installation. */

typedef enum own_part {
    OWN_WORKER,  /* $LNBENCH_WORKER, else next to lnbench or in ../libexec/lnbench */
    OWN_LIBRARY, /* $LNBENCH_LIBRARY, else ../lib/liblayernorm.so */
    OWN_PEERS,   /* $LNBENCH_PEERS_DIRECTORY, else ../lib/peers */
    OWN_PLOTS,   /* $LNBENCH_PLOTS, else the source's or installed plots/ */
    OWN_WORST,   /* $LNBENCH_WORST, else the installed or the source's reference/worst */
} own_part;
/* Finds a part. Returns false if it is missing and optional (peers, adversarial rows); else a missing one is an error
 * (7). */
bool own_path(own_part part, char *path, size_t size);

/* Makes a directory and its parents, like mkdir -p. */
void make_directories(const char *path);
/* Makes the directory of a file if it is missing. */
void make_parent_directory(const char *path);

/* A folder for temporary files. It is removed with its content when the program ends, unless SIGKILL ends
 * it.
 *
 *     const char *folder = temporary_folder_make("verify"); // /tmp/lnbench-verify-k3Xq0b
 *     temporary_folder_remove(folder);
 */

/* Makes a folder in $TMPDIR or /tmp. Only the main thread may call it. */
const char *temporary_folder_make(const char *name);
/* Removes the folder, and frees its name. */
void temporary_folder_remove(const char *path);

/* Kills child processes, and removes unfinished files and temporary folders. main() registers it with
 * atexit(). A signal handler may call it before _exit(). */
void tidy_up(void);

#endif
