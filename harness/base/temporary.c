#include "base/temporary.h"
#include "base/children.h"
#include "base/files.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A file in each folder, locked as long as who made it lives. */
static const char mark[] = ".in-use", unlocked_mark[] = ".begun";

/* Takes the descriptor. The mark goes last: without it nobody would tidy the rest. */
static void empty_folder(int place)
{
    DIR *folder = fdopendir(place);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, mark) == 0 ||
            unlinkat(place, name, 0) == 0)
            continue;
        int inner = openat(place, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (inner >= 0)
            empty_folder(inner);
        unlinkat(place, name, AT_REMOVEDIR);
    }
    unlinkat(place, mark, 0);
    if (folder)
        closedir(folder);
    else
        close(place);
}

/* Whether it is gone. */
static bool remove_folder(const char *path)
{
    int place = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (place >= 0)
        empty_folder(place);
    return rmdir(path) == 0 || errno != ENOTEMPTY;
}

/* Nobody sees the mark before it is locked; the lock ends with this process. Returns the mark, or
 * -1. */
static int lock_folder(const char *path)
{
    char begun[1100], locked[1100];
    snprintf(begun, sizeof begun, "%s/%s", path, unlocked_mark);
    snprintf(locked, sizeof locked, "%s/%s", path, mark);
    int file = open(begun, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0)
        return -1;
    flock(file, LOCK_EX | LOCK_NB); /* where there are no locks, nobody tidies */
    if (rename(begun, locked) == 0)
        return file;
    int problem = errno;
    close(file);
    errno = problem;
    return -1;
}

/* One that somebody left who was killed with its keeper. */
static void remove_abandoned(int place, const char *name)
{
    struct stat about;
    int folder = openat(place, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int file = folder < 0 ? -1 : openat(folder, mark, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
    bool abandoned = file >= 0 && fstat(file, &about) == 0 && about.st_uid == geteuid() &&
                     flock(file, LOCK_EX | LOCK_NB) == 0;
    if (abandoned)
        empty_folder(folder);
    else if (folder >= 0)
        close(folder);
    if (abandoned)
        unlinkat(place, name, AT_REMOVEDIR);
    if (file >= 0)
        close(file);
}

static void tidy(const char *place)
{
    static const char ours[] = "lnbench-";
    DIR *folder = opendir(place);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (strncmp(entry->d_name + (entry->d_name[0] == '.'), ours, sizeof ours - 1) == 0)
            remove_abandoned(dirfd(folder), entry->d_name);
    if (folder)
        closedir(folder);
}

/* The keeper: no signal, terminal or open pipe of the program's is its business. A compiler that the
 * program had started may go on for a while. */
static _Noreturn void keep(const char *path, int tie)
{
    enum { ROUNDS = 600 };
    char byte;
    setsid();
    prctl(PR_SET_NAME, "ln-keeper");
    dup2(tie, 0);
    close_range(1, ~0U, 0);
    while (read(0, &byte, 1) < 0 && errno == EINTR)
        ;
    for (int round = 0; round < ROUNDS && !remove_folder(path); round++)
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    _exit(0);
}

static temporary_folder *folders;

static void name_folder(temporary_folder *folder, const char *place, const char *name)
{
    const char *common = getenv("TMPDIR");
    common = common && common[0] ? common : "/tmp";
    snprintf(folder->path, sizeof folder->path, "%.900s/%slnbench-%.20s-XXXXXX",
             place ? place : common, place ? "." : "", name);
}

bool temporary_folder_make(temporary_folder *folder, const char *place, const char *name,
                           error *err)
{
    sigset_t all, before;
    int ends[2];
    *folder = (temporary_folder){.path = "", .lock = -1, .keeper = -1};
    sigfillset(&all);
    if (pipe2(ends, O_CLOEXEC) != 0)
        return fail(err, EXIT_CODE_ENVIRONMENT, "a pipe: %s", strerror(errno));
    name_folder(folder, place, name);
    sigprocmask(SIG_BLOCK, &all, &before); /* the keeper keeps it so */
    bool made = mkdtemp(folder->path) != NULL;
    folder->lock = made ? lock_folder(folder->path) : -1;
    if (folder->lock >= 0)
        folder->keeper = child_fork_to_outlive();
    if (folder->keeper == 0) {
        close(ends[1]);
        keep(folder->path, ends[0]);
    }
    int problem = errno;
    folder->tie = ends[1];
    folder->next = folders;
    if (folder->keeper > 0)
        folders = folder;
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(ends[0]);
    if (folder->keeper > 0) {
        char *last = strrchr(folder->path, '/');
        *last = '\0';
        tidy(folder->path);
        *last = '/';
        return true;
    }
    fail(err, EXIT_CODE_ENVIRONMENT, "%.900s: cannot make it: %s%s", folder->path,
         strerror(problem), place ? "" : " (set TMPDIR)");
    if (made)
        remove_folder(folder->path);
    if (folder->lock >= 0)
        close(folder->lock);
    close(ends[1]);
    folder->path[0] = '\0';
    return false;
}

void temporary_folder_remove(temporary_folder *folder)
{
    if (!folder->path[0])
        return;
    temporary_folder **at = &folders;
    while (*at && *at != folder)
        at = &(*at)->next;
    if (*at)
        *at = folder->next;
    remove_folder(folder->path);
    close(folder->lock);
    close(folder->tie);
    child_wait_outliving(folder->keeper);
    folder->path[0] = '\0';
}

void tidy_up(void)
{
    children_kill();
    whole_files_abandon();
    for (const temporary_folder *folder = folders; folder; folder = folder->next) {
        close(folder->tie);
        while (waitpid(folder->keeper, NULL, 0) < 0 && errno == EINTR)
            ;
    }
}
