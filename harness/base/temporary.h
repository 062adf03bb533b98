/* A folder for temporary files. It goes with all that is in it, however the program ends: a process
 * of its own waits for that. Where that was killed, too, the next one who makes a folder there
 * removes it.
 *
 *     temporary_folder folder;
 *     if (!temporary_folder_make(&folder, NULL, "calibrate", err)) ...
 *     temporary_folder_remove(&folder);
 */
#ifndef LNBENCH_TEMPORARY_H
#define LNBENCH_TEMPORARY_H

#include "base/error.h"
#include <sys/types.h>

typedef struct temporary_folder {
    char path[1024]; /* "": there is none */
    pid_t keeper;
    int tie, lock;                 /* open, and locked, as long as this process lives */
    struct temporary_folder *next; /* that is there; it stays where it is until its end */
} temporary_folder;

/* "PLACE/.lnbench-NAME-" and six letters; place NULL: "lnbench-NAME-" in $TMPDIR or /tmp. */
bool temporary_folder_make(temporary_folder *folder, const char *place, const char *name,
                           error *err);
void temporary_folder_remove(temporary_folder *folder);
/* Kills child processes, and removes unfinished files and temporary folders. main() registers it with
 * atexit(); before _exit(), a signal's handler may call it. */
void tidy_up(void);

#endif
