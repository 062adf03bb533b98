#include "base/temporary.h"
#include "base/allocate.h"
#include "base/children.h"
#include "base/die.h"
#include "base/files.h"
#include "base/interrupt.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FOLDERS_MOST = 16 };

/* NULL: a free place. Read by a signal's handler. */
static char *volatile folders[FOLDERS_MOST];

/* By system calls alone, since a signal's handler comes here: opendir() would allocate. */
static void empty_folder(int folder)
{
    _Alignas(struct dirent64) char entries[4096];
    for (long size; (size = syscall(SYS_getdents64, folder, entries, sizeof entries)) > 0;)
        for (long at = 0; at < size;) {
            const struct dirent64 *entry = (const void *)(entries + at);
            const char *name = entry->d_name;
            at += entry->d_reclen;
            if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || unlinkat(folder, name, 0) == 0)
                continue;
            int inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            if (inner >= 0) {
                empty_folder(inner);
                close(inner);
            }
            unlinkat(folder, name, AT_REMOVEDIR);
        }
}

static void remove_folder(const char *path)
{
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder >= 0) {
        empty_folder(folder);
        close(folder);
    }
    rmdir(path);
}

const char *temporary_folder_make(const char *name)
{
    const char *place = getenv("TMPDIR");
    char path[1024];
    size_t at = 0;
    snprintf(path, sizeof path, "%.900s/lnbench-%.20s-XXXXXX", place && *place ? place : "/tmp",
             name);
    while (at < FOLDERS_MOST - 1 && folders[at])
        at++;
    char *kept = allocate_copy(path, strlen(path) + 1);
    interrupt_watch(); /* a signal must not end the program without tidy_up() */
    if (!mkdtemp(kept))
        die(EXIT_CODE_ENVIRONMENT, "%.900s: cannot make it: %s (set TMPDIR)", path,
            strerror(errno));
    folders[at] = kept;
    return kept;
}

void temporary_folder_remove(const char *path)
{
    for (size_t at = 0; path && at < FOLDERS_MOST; at++)
        if (folders[at] == path) {
            char *kept = folders[at];
            remove_folder(kept);
            folders[at] = NULL;
            free(kept);
        }
}

void tidy_up(void)
{
    children_kill();
    whole_files_abandon();
    for (size_t at = 0; at < FOLDERS_MOST; at++)
        if (folders[at])
            remove_folder(folders[at]);
}
