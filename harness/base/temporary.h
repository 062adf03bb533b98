/* A folder for temporary files, below $TMPDIR or /tmp. It goes with all that is in it, however the
 * program ends: a process of its own waits for that.
 *
 *     temporary_folder folder;
 *     if (!temporary_folder_make(&folder, "calibrate", err)) ...
 *     temporary_folder_remove(&folder);
 */
#ifndef LNBENCH_TEMPORARY_H
#define LNBENCH_TEMPORARY_H

#include "base/error.h"
#include <sys/types.h>

typedef struct temporary_folder {
    char path[256]; /* "": there is none */
    pid_t keeper;
    int tie; /* open as long as this process lives */
} temporary_folder;

/* "lnbench-NAME-" and six letters. */
bool temporary_folder_make(temporary_folder *folder, const char *name, error *err);
void temporary_folder_remove(temporary_folder *folder);

#endif
