#include "base/program.h"
#include "base/children.h"
#include "base/seconds.h"
#include "base/text.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { FILE_BYTES = 64 << 20 }; /* of each file that a program writes */

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

typedef struct new_program {
    const program *wanted;
    const char *path;
    char **environment;
    pid_t parent;
    int null, problem; /* problem: errno, where it cannot be started */
} new_program;

/* In the child, which has lnbench's memory until then. */
static void become(void *context)
{
    new_program *made = context;
    const program *wanted = made->wanted;
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != made->parent)
        _exit(127);
    if (!wanted->is_own) /* standard error is kept in memory */
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){FILE_BYTES, FILE_BYTES});
    if (dup2(made->null, STDIN_FILENO) >= 0 && dup2(made->null, STDOUT_FILENO) >= 0 &&
        dup2(wanted->errors, STDERR_FILENO) >= 0 && close_range(STDERR_FILENO + 1, ~0U, 0) == 0 &&
        (!wanted->folder || chdir(wanted->folder) == 0))
        execvpe(made->path, (char **)(uintptr_t)wanted->arguments, made->environment);
    made->problem = errno;
    _exit(127);
}

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
    char path[PATH_MAX], words[128];
    started->process = 0;
    if (!program_find(started->arguments[0], path, sizeof path)) {
        say(started, PROGRAM_ABSENT, "it was not found");
        return;
    }
    started->begun = seconds_now();
    started->errors = memfd_create("lnbench-errors", MFD_CLOEXEC);
    new_program made = {.wanted = started,
                        .path = path,
                        .environment =
                            started->is_own ? environ : make_environment(started->temporary),
                        .parent = getpid(),
                        .null = open("/dev/null", O_RDWR | O_CLOEXEC)};
    pid_t child = started->errors < 0 || made.null < 0 ? -1 : child_execute(become, &made);
    int why = child < 0 ? errno : made.problem;
    if (made.null >= 0)
        close(made.null);
    if (child > 0 && why)
        child_kill(child);
    if (child > 0 && !why) {
        started->process = child;
        return;
    }
    if (started->errors >= 0)
        close(started->errors);
    snprintf(words, sizeof words, "it cannot be started: %s", strerror(why));
    say(started, PROGRAM_FAILED, words);
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

/* The end of standard error; a 0 in it becomes a blank. */
static void read_tail(int errors, char *tail, size_t size)
{
    off_t length = lseek(errors, 0, SEEK_END);
    off_t most = (off_t)size - 1;
    ssize_t got = pread(errors, tail, size - 1, length > most ? length - most : 0);
    tail[got > 0 ? got : 0] = '\0';
    for (ssize_t i = 0; i < got; i++)
        tail[i] = tail[i] ? tail[i] : ' ';
}

program_result program_end(program *started)
{
    char words[64], tail[2048];
    int status;
    if (started->process == 0)
        return started->result;
    /* It may have ended in time, and only now is looked at. */
    double left = started->begun + seconds_for(started) - seconds_now(), least = 0.1;
    switch (child_wait(started->process, left > least ? left : least, &status)) {
    case CHILD_LATE:
        snprintf(words, sizeof words, "it took longer than %g s", seconds_for(started));
        say(started, PROGRAM_LATE, words);
        break;
    case CHILD_INTERRUPTED:
        say(started, PROGRAM_INTERRUPTED, "interrupted");
        break;
    case CHILD_ENDED:
        if (WIFSIGNALED(status)) {
            snprintf(words, sizeof words, "it was ended by SIG%s", sigabbrev_np(WTERMSIG(status)));
            say(started, PROGRAM_FAILED, words);
            break;
        }
        snprintf(words, sizeof words, "exit status %d, and it gave no reason", WEXITSTATUS(status));
        say(started, WEXITSTATUS(status) ? PROGRAM_FAILED : PROGRAM_DONE,
            WEXITSTATUS(status) ? words : "");
        read_tail(started->errors, tail, sizeof tail);
        say_last_words(started, tail);
    }
    close(started->errors);
    started->process = 0;
    return started->result;
}
