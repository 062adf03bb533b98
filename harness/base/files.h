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
#ifndef LNBENCH_FILES_H
#define LNBENCH_FILES_H

#include "base/die.h"
#include "base/text.h"
#include <stddef.h>
#include <stdio.h>

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

/* Removes the temporary ones of all that are open, before _exit(); a signal's handler may call it. */
void whole_files_abandon(void);

/* Adds all that it has, and a 0 behind that, which is not counted. */
void read_whole_file(const char *path, text_buffer *content);
void write_whole_file(const char *path, const text_buffer *content);

/* Where lnbench's own parts lie: found from the running executable, so that a build tree and an
 * installation both work. */

/* $LNBENCH_WORKER, else beside lnbench or in ../libexec/lnbench. */
void path_of_worker(char *path, size_t size);
/* $LNBENCH_LIBRARY, else ../lib/liblayernorm.so */
void path_of_library(char *path, size_t size);
/* $LNBENCH_PEERS_DIRECTORY, else ../lib/peers; false where no peers were built. */
bool path_of_peers(char *path, size_t size);
/* $LNBENCH_PLOTS, else the source's or installed plots/ */
void path_of_plots(char *path, size_t size);
/* $LNBENCH_WORST, else the installed or the source's reference/worst; false where there is none. */
bool path_of_worst(char *path, size_t size);

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
