/* Runs another program: gnuplot, the compiler. It gets a fixed environment, an empty
 * standard input, and a deadline. It ends when lnbench does, and so does what it started in its
 * process group, unless lnbench is killed by SIGKILL: then the program alone ends.
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
    PROGRAM_FAILED, /* it cannot be started, was killed, or its exit status is not 0 */
    PROGRAM_LATE,
    PROGRAM_INTERRUPTED, /* by Ctrl-C */
} program_result;

/* The strings are the caller's, until the end. */
typedef struct program {
    const char *const *arguments; /* the first is looked up in PATH; NULL ends them */
    const char *folder;           /* where it runs; NULL: here */
    const char *temporary;        /* its TMPDIR; NULL: that of lnbench */
    double seconds;               /* its deadline; $LNBENCH_CHILD_SECONDS replaces it */
    bool is_own; /* it is lnbench: it gets lnbench's environment, and `seconds` is not replaced */
    program_result result;
    char words[256]; /* one printable line: its last on standard error, or why it is not done */
    pid_t process;   /* 0: none is running */
    double begun;    /* seconds_now() */
    int errors;      /* a file in memory that is its standard error */
} program;

/* Call program_end() afterwards, also where it could not be started: that says why. */
void program_start(program *started);
/* Waits until it has ended, or Ctrl-C. */
program_result program_end(program *started);

/* The last line of the file that says anything, printable; where there is none *last stays as it is. */
void last_line_read(int file, char *last, size_t size);

/* Finds an executable file on PATH, or by its path, and writes its absolute path. */
bool program_find(const char *name, char *path, size_t size);

/* Child processes. Each has a process group of its own, so that it ends with all that it started in it,
 * and none outlives its deadline, or the program. Programs of others are started by program.h.
 *
 *     pid_t child = child_execute(become_shell, "sleep 3");
 *     if (child > 0 && child_wait(child, 60, &status) == CHILD_ENDED && status == 0) ...
 */

typedef enum child_end { CHILD_ENDED, CHILD_LATE, CHILD_INTERRUPTED } child_end;

/* One that executes a program: become_program() does, or returns, and may make system calls and no more, since the
 * child has this process's memory until then; so none of it has to be copied. */
pid_t child_execute(void (*become_program)(void *context), void *context);
/* Waits for its end; where that does not come in time, or Ctrl-C does, kills it. `status` as
 * waitpid() gives it. */
child_end child_wait(pid_t child, double seconds, int *status);
/* Kills it, with its process group; returns its status. */
int child_kill(pid_t child);

/* Ctrl-C, SIGTERM and SIGHUP are noted, so that a run can end in order. A second one, or 1.7 s, ends the program at
 * once, and its children. What was ignored when the program began stays ignored. */
void interrupt_watch(void);
bool interrupted(void);
/* For work that must still be done: interrupted() is false again, though a second signal ends the process. */
void interrupt_forgive(void);

/* Files that appear under their name when they are whole and on the disk: written through a
 * temporary one beside it. A crash or a power loss leaves them whole, or as they were before.
 *
 *     whole_file file;
 *     whole_file_begin(&file, path);
 *     print(file.stream);
 *     whole_file_end(&file);
 *
 * What cannot be read, written, made or found ends the program (7).
 */

typedef struct whole_file {
    const char *path; /* the caller's */
    FILE *stream;
    char *part; /* NULL: a pipe or a device such as /dev/null, which is written to as it is */
    struct whole_file *next; /* that is open; it stays where it is until its end */
} whole_file;

void whole_file_begin(whole_file *file, const char *path);
void whole_file_end(whole_file *file);
/* In place of the end: removes the temporary file, and nothing else happens. */
void whole_file_drop(whole_file *file);

/* Adds all that it has, and a 0 behind that, which is not counted. */
void read_whole_file(const char *path, text_buffer *content);
void write_whole_file(const char *path, const text_buffer *content);

/* Where lnbench's own parts lie: found from the running executable, so that a build tree and an
 * installation both work. */

typedef enum own_part {
    OWN_WORKER,  /* $LNBENCH_WORKER, else beside lnbench or in ../libexec/lnbench */
    OWN_LIBRARY, /* $LNBENCH_LIBRARY, else ../lib/liblayernorm.so */
    OWN_PEERS,   /* $LNBENCH_PEERS_DIRECTORY, else ../lib/peers */
    OWN_PLOTS,   /* $LNBENCH_PLOTS, else the source's or installed plots/ */
    OWN_WORST,   /* $LNBENCH_WORST, else the installed or the source's reference/worst */
} own_part;
/* Ends the program (7) where a part is missing; false where peers or adversarial rows are, which may be. */
bool own_path(own_part part, char *path, size_t size);

/* mkdir -p. */
void make_directories(const char *path);
/* The directory of a file, made where it is missing. */
void make_parent_directory(const char *path);

/* A folder for temporary files. It is removed, with all that is in it, when the program ends, unless that
 * is killed by SIGKILL.
 *
 *     const char *folder = temporary_folder_make("verify"); // /tmp/lnbench-verify-k3Xq0b
 *     temporary_folder_remove(folder);
 */

/* Makes a folder in $TMPDIR or /tmp, or dies. For the main thread. */
const char *temporary_folder_make(const char *name);
/* Removes the folder, and frees its name. */
void temporary_folder_remove(const char *path);

/* Kills child processes, and removes unfinished files and temporary folders. main() registers it with
 * atexit(); before _exit(), a signal's handler may call it. */
void tidy_up(void);

#endif
