#include "base/program.h"
#include "base/children.h"
#include "base/interrupt.h"
#include "base/seconds.h"
#include "base/text.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { FIRST_FREE_FD = 10, GRACE = 10 /* seconds, of the guard */ };

/* What the guard tells when the program has ended. */
typedef struct guard_answer {
    int status; /* as of waitpid() */
    bool late;
    char tail[2048]; /* of standard error */
} guard_answer;
_Static_assert(sizeof(guard_answer) <= PIPE_BUF, "an answer is written as a whole");

bool program_find(const char *name, char *path, size_t size)
{
    const char *folders = strchr(name, '/') ? "" : getenv("PATH");
    char here[PATH_MAX];
    struct stat file;
    for (const char *at = folders ? folders : "/usr/bin:/bin";; at++) {
        size_t length = strcspn(at, ":");
        bool relative = (length > 0 ? at : name)[0] != '/';
        const char *start = relative && getcwd(here, sizeof here) ? here : "";
        int written = snprintf(path, size, "%s%s%.*s%s%s", start, relative ? "/" : "", (int)length,
                               at, length > 0 ? "/" : "", name);
        if (written > 0 && (size_t)written < size && stat(path, &file) == 0 &&
            S_ISREG(file.st_mode) && access(path, X_OK) == 0)
            return true;
        at += length;
        if (!*at)
            return false;
    }
}

/* ---- in the guard ---- */

/* Where a program, its libraries and its files are found; nothing that changes what it does. */
static char **make_environment(const char *temporary)
{
    static const char *const kept[] = {"PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "PYTHONPATH"};
    enum { KEPT = sizeof kept / sizeof *kept };
    static char own[PATH_MAX + 16], locale[] = "LC_ALL=C.UTF-8";
    static char *environment[KEPT + 3];
    size_t count = 0;
    environment[count++] = locale;
    if (temporary) {
        char path[PATH_MAX]; /* it may be from here, where the program does not run */
        snprintf(own, sizeof own, "TMPDIR=%s", realpath(temporary, path) ? path : temporary);
        environment[count++] = own;
    }
    for (size_t i = 0; i < KEPT; i++)
        for (char **at = environ; *at; at++)
            if (strncmp(*at, kept[i], strlen(kept[i])) == 0 && (*at)[strlen(kept[i])] == '=' &&
                !(temporary && strcmp(kept[i], "TMPDIR") == 0)) {
                environment[count++] = *at;
                break;
            }
    return environment;
}

/* Standard input and output are /dev/null already. */
static _Noreturn void become(const program *wanted, const char *path, int errors, pid_t guard)
{
    sigset_t none;
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(errors, STDERR_FILENO);
    close_range(STDERR_FILENO + 1, ~0U, 0);
    char **environment = wanted->is_own ? environ : make_environment(wanted->temporary);
    if (getppid() == guard && (!wanted->folder || chdir(wanted->folder) == 0))
        execvpe(path, (char **)(uintptr_t)wanted->arguments, environment);
    dprintf(STDERR_FILENO, "it cannot be started: %s\n", strerror(errno));
    _exit(127);
}

/* Keeps the end of what is there to be read; false: nobody writes any more. */
static bool read_tail(int errors, guard_answer *answer)
{
    enum { AT_ONCE = 64, ROOM = sizeof answer->tail - 1 };
    char buffer[ROOM];
    ssize_t got = 1;
    for (int i = 0; i < AT_ONCE && (got = read(errors, buffer, sizeof buffer)) > 0; i++) {
        size_t length = strnlen(answer->tail, ROOM), over = length + (size_t)got;
        over = over > ROOM ? over - ROOM : 0;
        memmove(answer->tail, answer->tail + over, length - over);
        for (ssize_t k = 0; k < got; k++)
            answer->tail[length - over + (size_t)k] = buffer[k] ? buffer[k] : ' ';
        answer->tail[length - over + (size_t)got] = '\0';
    }
    return got != 0;
}

/* Until the program or lnbench has ended, or it is late. */
static void watch(pid_t child, int errors, double deadline, pid_t parent, guard_answer *answer)
{
    enum { STEP = 20 }; /* ms */
    bool open = true, ended = false;
    while (!ended && !answer->late && getppid() == parent) {
        poll(&(struct pollfd){.fd = errors, .events = POLLIN}, open, STEP);
        open = open && read_tail(errors, answer);
        ended = waitpid(child, &answer->status, WNOHANG) == child;
        answer->late = !ended && seconds_now() > deadline;
    }
    if (!ended) {
        kill(child, SIGKILL);
        while (waitpid(child, &answer->status, 0) < 0 && errno == EINTR)
            ;
    }
    child_kill_strays();
    if (open)
        read_tail(errors, answer);
}

/* No signal, terminal or open file of lnbench's is its business. */
static _Noreturn void guard(const program *wanted, const char *path, double deadline, int answer,
                            pid_t parent)
{
    guard_answer told = {0};
    sigset_t all;
    int ends[2], null = open("/dev/null", O_RDWR);
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    prctl(PR_SET_NAME, "ln-guard");
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    answer = fcntl(answer, F_DUPFD, FIRST_FREE_FD);
    if (answer < 0 || null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(null, 2) < 0)
        _exit(126);
    close_range(3, (unsigned)answer - 1, 0);
    close_range((unsigned)answer + 1, ~0U, 0);
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        _exit(126);
    pid_t own = getpid(), child = fork();
    if (child == 0) {
        fcntl(ends[1], F_SETFL, 0); /* the program's own end blocks */
        become(wanted, path, ends[1], own);
    }
    close(ends[1]);
    if (child < 0)
        _exit(126);
    watch(child, ends[0], deadline, parent, &told);
    ssize_t written = write(answer, &told, sizeof told);
    _exit(written == sizeof told ? 0 : 126);
}

/* ---- in lnbench ---- */

static double seconds_for(const program *wanted)
{
    const char *given = wanted->is_own ? NULL : getenv("LNBENCH_CHILD_SECONDS");
    double seconds = given ? strtod(given, NULL) : 0;
    return seconds > 0 ? seconds : wanted->seconds;
}

static void say(program *started, program_result result, const char *words)
{
    started->result = result;
    snprintf(started->words, sizeof started->words, "%s", words);
    text_make_printable(started->words, "");
}

void program_start(program *started)
{
    char path[PATH_MAX];
    int ends[2];
    pid_t parent = getpid();
    started->guard = 0;
    if (!program_find(started->arguments[0], path, sizeof path)) {
        say(started, PROGRAM_ABSENT, "it was not found");
        return;
    }
    say(started, PROGRAM_FAILED, "it was killed");
    if (pipe2(ends, O_CLOEXEC) != 0) {
        say(started, PROGRAM_FAILED, strerror(errno));
        return;
    }
    double deadline = seconds_now() + seconds_for(started);
    pid_t child = child_fork();
    if (child == 0)
        guard(started, path, deadline, ends[1], parent);
    int problem = errno;
    close(ends[1]);
    started->answer = ends[0];
    if (child > 0) {
        started->guard = child;
        return;
    }
    close(ends[0]);
    say(started, PROGRAM_FAILED, strerror(problem));
}

/* A program shows where it stands, and then says what is wrong: the last line that says anything is
 * the one to report. */
static void say_last_words(program *started, const char *errors)
{
    for (const char *line = errors; *line;) {
        size_t length = strcspn(line, "\n");
        size_t blank = strspn(line, " \t^\r");
        if (blank < length)
            snprintf(started->words, sizeof started->words, "%.*s", (int)(length - blank),
                     line + blank);
        line += length + (line[length] == '\n');
    }
    text_make_printable(started->words, "");
}

static void conclude(program *started, const guard_answer *answer)
{
    char words[64];
    if (answer->late) {
        snprintf(words, sizeof words, "it took longer than %g s", seconds_for(started));
        say(started, PROGRAM_LATE, words);
    } else if (WIFSIGNALED(answer->status)) {
        snprintf(words, sizeof words, "it was ended by SIG%s",
                 sigabbrev_np(WTERMSIG(answer->status)));
        say(started, PROGRAM_FAILED, words);
    } else if (WEXITSTATUS(answer->status) == 0) {
        say(started, PROGRAM_DONE, "");
    } else {
        snprintf(words, sizeof words, "exit status %d, and it gave no reason",
                 WEXITSTATUS(answer->status));
        say(started, PROGRAM_FAILED, words);
    }
    if (!answer->late && WIFEXITED(answer->status))
        say_last_words(started, answer->tail);
}

program_result program_end(program *started)
{
    guard_answer answer;
    struct pollfd waiting = {.fd = started->answer, .events = POLLIN};
    double most = seconds_now() + seconds_for(started) + GRACE;
    if (started->guard == 0)
        return started->result;
    int ready = 0;
    while (ready != 1 && !interrupted() && seconds_now() < most)
        ready = poll(&waiting, 1, 100);
    if (ready == 1 && read(started->answer, &answer, sizeof answer) == sizeof answer)
        conclude(started, &answer);
    else if (interrupted())
        say(started, PROGRAM_INTERRUPTED, "interrupted");
    close(started->answer);
    child_kill(started->guard);
    started->guard = 0;
    return started->result;
}
