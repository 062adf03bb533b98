#include "base/children.h"
#include "base/interrupt.h"
#include "base/seconds.h"
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_CHILDREN = 1024 };

/* Zero: a free place. Read by a signal handler, written under the lock. */
static volatile pid_t children[MOST_CHILDREN];
/* Held from a child's start until it is listed, or it would be taken for a stray. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool replace(pid_t from, pid_t to)
{
    for (size_t i = 0; i < MOST_CHILDREN; i++)
        if (children[i] == from) {
            children[i] = to;
            return true;
        }
    return false;
}

/* What a child leaves behind becomes a child of this process, not of init; and whoever has children
 * ends them when it is told to end. */
static void begin_children(void)
{
    interrupt_watch();
    pthread_mutex_lock(&lock);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static void list_group(pid_t child)
{
    setpgid(child, child); /* here too: it may be killed before it comes to that */
    replace(0, child);
}

/* Handlers would run on this process's memory. lnbench has none of a real-time signal. */
static void leave_signals(const sigset_t *blocked)
{
    struct sigaction action;
    for (int number = 1; number <= SIGSYS; number++)
        if (sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_IGN &&
            action.sa_handler != SIG_DFL) {
            action = (struct sigaction){.sa_handler = SIG_DFL};
            sigaction(number, &action, NULL);
        }
    sigprocmask(SIG_SETMASK, blocked, NULL);
}

pid_t child_execute(void (*become)(void *context), void *context)
{
    sigset_t all, before;
    begin_children();
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pid_t child = vfork();
    if (child == 0) {
        setpgid(0, 0);
        leave_signals(&before);
        become(context);
        _exit(127);
    }
    int why = errno;
    if (child > 0)
        list_group(child);
    pthread_mutex_unlock(&lock);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = why;
    return child;
}

static pid_t parent_of(pid_t process)
{
    char path[64], state;
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
    FILE *file = fopen(path, "re");
    int read = file ? fscanf(file, "%*d (%*[^)]) %c %d", &state, &parent) : 0;
    if (file)
        fclose(file);
    return read == 2 ? parent : 0;
}

/* Kills the children that nobody here started. Returns whether there were any. */
static bool kill_strays(void)
{
    bool some = false;
    DIR *processes = opendir("/proc");
    for (struct dirent *entry; processes && (entry = readdir(processes));) {
        pid_t process = (pid_t)strtol(entry->d_name, NULL, 10);
        if (process <= 0 || parent_of(process) != getpid())
            continue;
        pthread_mutex_lock(&lock);
        bool known = false;
        for (size_t i = 0; i < MOST_CHILDREN; i++)
            known |= children[i] == process;
        if (!known && kill(process, SIGKILL) == 0 && waitpid(process, NULL, 0) == process)
            some = true;
        pthread_mutex_unlock(&lock);
    }
    if (processes)
        closedir(processes);
    return some;
}

/* Kills the children that nobody here started, and theirs. */
static void child_kill_strays(void)
{
    enum { MOST_ROUNDS = 64 }; /* a stray's own children come up when it is gone */
    siginfo_t none;
    for (int round = 0; round < MOST_ROUNDS; round++)
        if (waitid(P_ALL, 0, &none, WEXITED | WNOHANG | WNOWAIT) != 0 || !kill_strays())
            return; /* a process without children needs no look at all of /proc */
}

int child_kill(pid_t child)
{
    int status = 0;
    kill(-child, SIGKILL);
    kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    pthread_mutex_lock(&lock);
    replace(child, 0);
    pthread_mutex_unlock(&lock);
    child_kill_strays();
    return status;
}

child_end child_wait(pid_t child, double seconds, int *status)
{
    double deadline = seconds_now() + seconds;
    child_end end = CHILD_LATE;
    long pause = 20000; /* ns; doubled up to 5 ms */
    while (end == CHILD_LATE && seconds_now() < deadline) {
        siginfo_t info = {0};
        bool ended = waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
                     info.si_pid == child;
        if (ended)
            end = CHILD_ENDED;
        else if (interrupted())
            end = CHILD_INTERRUPTED;
        else
            nanosleep(&(struct timespec){.tv_nsec = pause}, NULL);
        pause = pause < 2500000 ? 2 * pause : 5000000;
    }
    *status = child_kill(child);
    return end;
}

void children_kill(void)
{
    for (size_t i = 0; i < MOST_CHILDREN; i++)
        if (children[i] > 0) {
            kill(-children[i], SIGKILL);
            kill(children[i], SIGKILL);
        }
}
