#include "base/temporary.h"
#include "base/children.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Files only: nothing here makes folders in it. */
static bool remove_folder(const char *path)
{
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (entry->d_name[0] != '.')
            unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder)
        closedir(folder);
    return rmdir(path) == 0 || errno != ENOTEMPTY;
}

/* The keeper: no signal, terminal or open pipe of the program's is its business. A compiler that the
 * program had started may go on for a while. */
static _Noreturn void keep(const char *path, int tie)
{
    enum { ROUNDS = 600 };
    char byte;
    setsid();
    dup2(tie, 0);
    close_range(1, ~0U, 0);
    while (read(0, &byte, 1) < 0 && errno == EINTR)
        ;
    for (int round = 0; round < ROUNDS && !remove_folder(path); round++)
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    _exit(0);
}

bool temporary_folder_make(temporary_folder *folder, const char *name, error *err)
{
    const char *place = getenv("TMPDIR");
    sigset_t all, before;
    int ends[2];
    snprintf(folder->path, sizeof folder->path, "%.200s/lnbench-%.20s-XXXXXX",
             place && place[0] ? place : "/tmp", name);
    sigfillset(&all);
    if (pipe2(ends, O_CLOEXEC) != 0) {
        fail(err, EXIT_CODE_ENVIRONMENT, "a pipe: %s", strerror(errno));
        folder->path[0] = '\0';
        return false;
    }
    sigprocmask(SIG_BLOCK, &all, &before); /* the keeper keeps it so */
    bool made = mkdtemp(folder->path) != NULL;
    folder->keeper = made ? child_fork_to_outlive() : -1;
    if (folder->keeper == 0) {
        close(ends[1]);
        keep(folder->path, ends[0]);
    }
    int problem = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(ends[0]);
    folder->tie = ends[1];
    if (folder->keeper > 0)
        return true;
    fail(err, EXIT_CODE_ENVIRONMENT, "%s: cannot make it: %s (set TMPDIR)", folder->path,
         strerror(problem));
    if (made)
        rmdir(folder->path);
    close(ends[1]);
    folder->path[0] = '\0';
    return false;
}

void temporary_folder_remove(temporary_folder *folder)
{
    if (!folder->path[0])
        return;
    remove_folder(folder->path);
    close(folder->tie);
    child_wait_outliving(folder->keeper);
    folder->path[0] = '\0';
}
