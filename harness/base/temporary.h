/* A folder for temporary files. It is removed, with all that is in it, when the program ends, unless that
 * is killed by SIGKILL.
 *
 *     const char *folder = temporary_folder_make("verify"); // /tmp/lnbench-verify-k3Xq0b
 *     temporary_folder_remove(folder);
 */
#ifndef LNBENCH_TEMPORARY_H
#define LNBENCH_TEMPORARY_H

/* Makes a folder in $TMPDIR or /tmp, or dies. For the main thread. */
const char *temporary_folder_make(const char *name);
/* Removes the folder, and frees its name. */
void temporary_folder_remove(const char *path);

/* Kills child processes, and removes unfinished files and temporary folders. main() registers it with
 * atexit(); before _exit(), a signal's handler may call it. */
void tidy_up(void);

#endif
