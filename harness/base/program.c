/* Other programs and child processes, files that appear when they are complete, and temporary folders. tidy_up() ends
 * or removes them when lnbench ends, also in a signal handler. */
#include "base/program.h"
#include "base/arena.h"
#include "base/die.h"
#include "base/clock.h"
#include "base/text.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
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

/* Makes the environment: variables that locate programs, libraries and files, none that change what a program does. */
static char **make_environment(void)
{
    static const char *const kept[] = {"PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "PYTHONPATH"};
    enum { KEPT = sizeof kept / sizeof *kept };
    static char locale[] = "LC_ALL=C.UTF-8";
    static char *environment[KEPT + 2];
    size_t count = 0;
    environment[count++] = locale;
    for (size_t i = 0; i < KEPT; i++)
        for (char **at = environ; *at; at++)
            if (strncmp(*at, kept[i], strlen(kept[i])) == 0 && (*at)[strlen(kept[i])] == '=') {
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
    int problem; /* errno if it cannot be started */
} new_program;

/* Becomes the program. Runs in the child, which shares lnbench's memory until execve(). */
static void become(void *context)
{
    new_program *made = context;
    const program *wanted = made->wanted;
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != made->parent)
        _exit(127);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){FILE_BYTES, FILE_BYTES}); /* errors go to memory */
    if (dup2(open("/dev/null", O_RDWR), STDIN_FILENO) >= 0 && dup2(0, STDOUT_FILENO) >= 0 &&
        dup2(wanted->errors, STDERR_FILENO) >= 0 && close_range(STDERR_FILENO + 1, ~0U, 0) == 0 &&
        (!wanted->folder || chdir(wanted->folder) == 0))
        execvpe(made->path, (char **)(uintptr_t)wanted->arguments, made->environment);
    made->problem = errno;
    _exit(127);
}

static double seconds_for(const program *wanted)
{
    const char *given = getenv("LNBENCH_CHILD_SECONDS");
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
    new_program made = {
        .wanted = started, .path = path, .environment = make_environment(), .parent = getpid()};
    pid_t child = started->errors < 0 ? -1 : child_execute(become, &made);
    int why = child < 0 ? errno : made.problem;
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

/* Reads the last line, because programs print progress first and the error last. A 0 byte becomes a blank. */
void last_line_read(int file, char *last, size_t size)
{
    char tail[2048];
    const off_t length = lseek(file, 0, SEEK_END), most = (off_t)sizeof tail - 1;
    ssize_t got = pread(file, tail, sizeof tail - 1, length > most ? length - most : 0);
    tail[got > 0 ? got : 0] = '\0';
    for (ssize_t at = 0; at < got; at++)
        tail[at] = tail[at] ? tail[at] : ' ';
    for (const char *line = tail; *line;) {
        size_t whole = strcspn(line, "\n"), blank = strspn(line, " \t^\r");
        if (blank < whole)
            snprintf(last, size, "%.*s", (int)(whole - blank), line + blank);
        line += whole + (line[whole] == '\n');
    }
    text_make_printable(last, "");
}

program_result program_end(program *started)
{
    char words[64];
    int status;
    if (started->process == 0)
        return started->result;
    /* It may have ended in time although it is only checked now. */
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
        last_line_read(started->errors, started->words, sizeof started->words);
    }
    close(started->errors);
    started->process = 0;
    return started->result;
}

enum { MOST_CHILDREN = 1024 };

/* Zero: a free slot. A signal handler reads it; it is written under the lock. */
static volatile pid_t children[MOST_CHILDREN];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void replace(pid_t from, pid_t to)
{
    for (size_t i = 0; i < MOST_CHILDREN; i++)
        if (children[i] == from) {
            children[i] = to;
            return;
        }
}

/* Resets signals in the child, where handlers would change this process's memory. */
static void leave_signals(const sigset_t *blocked)
{
    struct sigaction action;
    for (int number = 1; number < NSIG; number++)
        if (sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            signal(number, SIG_DFL);
    sigprocmask(SIG_SETMASK, blocked, NULL);
}

pid_t child_execute(void (*become_program)(void *context), void *context)
{
    sigset_t all, before;
    interrupt_watch(); /* a signal that ends this process then ends its children first */
    /* If SIGCHLD is ignored, the system frees a child's number before lnbench waits for the child. */
    signal(SIGCHLD, SIG_DFL);
    pthread_mutex_lock(&lock);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pid_t child = vfork();
    if (child == 0) {
        setpgid(0, 0);
        leave_signals(&before);
        become_program(context);
        _exit(127);
    }
    int why = errno;
    if (child > 0) {
        setpgid(child, child); /* also here: it may be killed before it does this itself */
        replace(0, child);
    }
    pthread_mutex_unlock(&lock);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = why;
    return child;
}

int child_kill(pid_t child)
{
    int status = 0;
    kill(-child, SIGKILL);
    kill(child, SIGKILL);
    /* A signal handler kills listed children. After waitpid() the number may be another process's, so remove it
     * first. */
    pthread_mutex_lock(&lock);
    replace(child, 0);
    pthread_mutex_unlock(&lock);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

child_end child_wait(pid_t child, double seconds, int *status)
{
    double deadline = seconds_now() + seconds;
    child_end end = CHILD_LATE;
    long pause = 20000; /* ns; doubled up to 5 ms */
    while (end == CHILD_LATE && seconds_now() < deadline) {
        siginfo_t info = {0};
        if (waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
            info.si_pid == child)
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

/* ---- Ctrl-C ---- */

static atomic_int seen, count; /* read by judging threads too */
static double first;           /* time of the first signal */

/* Ends the process at once. Stored results are kept: SQLite's last transaction is complete or rolled back. */
static void end_now(int number)
{
    (void)number;
    tidy_up();
    _exit(130);
}

/* Notes the first signal; a second one ends the process at once. A signal within 0.25 s of the first counts as the
 * same, since timeout(1) sends one to the process and one to its group. */
static void on_interrupt(int number)
{
    const double now = seconds_now();
    if (count && now - first > 0.25)
        end_now(number);
    if (!count) {
        first = now;
        setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {1, 700000}}, NULL);
    }
    seen = 1;
    count = 1;
}

void interrupt_watch(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction before;
        /* nohup ignores SIGHUP, and a shell without job control ignores SIGINT for commands started with &. */
        if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler == SIG_IGN)
            continue;
        /* No SA_RESTART, so that a signal ends the wait for a worker. */
        struct sigaction action = {.sa_handler = on_interrupt};
        sigaction(numbers[i], &action, NULL);
    }
    struct sigaction last = {.sa_handler = end_now};
    sigaction(SIGALRM, &last, NULL);
}

bool interrupted(void)
{
    return seen != 0;
}

void interrupt_forgive(void)
{
    seen = 0;
}

static _Noreturn void write_dies(const char *path)
{
    die(EXIT_CODE_ENVIRONMENT, "%s: cannot write it: %s", path, strerror(errno));
}

/* Syncs a file. EINVAL and EROFS mean a pipe, a device or a file system without a disk. */
static bool sync_open(int descriptor)
{
    return fsync(descriptor) == 0 || errno == EINVAL || errno == EROFS;
}

/* Syncs the folder of a path, so that a new name is on the disk. Returns false with errno set. */
static bool sync_folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%.*s", slash && slash != path ? (int)(slash - path) : 1,
             slash ? path : ".");
    int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    /* A folder with write but not read permission cannot be opened. */
    bool fine = descriptor < 0 ? errno == EACCES : sync_open(descriptor);
    int problem = errno;
    if (descriptor >= 0)
        close(descriptor);
    errno = problem;
    return fine;
}

static whole_file *open_files;

static void forget(const whole_file *file)
{
    whole_file **at = &open_files;
    while (*at && *at != file)
        at = &(*at)->next;
    if (*at)
        *at = file->next;
}

void whole_file_begin(whole_file *file, const char *path)
{
    struct stat status;
    *file = (whole_file){.path = path};
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        file->stream = fopen(path, "wb");
    } else {
        text_buffer part = {0};
        text_format(&part, "%s.%ld.part", path, (long)getpid());
        /* Create a new file; never write to an existing one or through a link. */
        unlink(part.bytes);
        int descriptor =
            open(part.bytes, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        file->stream = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
        file->part = part.bytes;
        file->next = open_files;
        open_files = file;
    }
    if (!file->stream)
        write_dies(path);
}

void whole_file_drop(whole_file *file)
{
    if (file->stream)
        fclose(file->stream);
    if (file->part)
        unlink(file->part);
    forget(file);
    free(file->part);
}

void whole_file_end(whole_file *file)
{
    if (ferror(file->stream) || fflush(file->stream) != 0 || !sync_open(fileno(file->stream)) ||
        (file->part && (rename(file->part, file->path) != 0 || !sync_folder_of(file->path)))) {
        int problem = errno;
        whole_file_drop(file);
        errno = problem;
        write_dies(file->path);
    }
    fclose(file->stream);
    forget(file);
    free(file->part);
}

void read_whole_file(const char *path, text_buffer *content)
{
    FILE *file = fopen(path, "rb");
    char piece[1 << 14];
    text_add(content, "");
    for (size_t got; file && (got = fread(piece, 1, sizeof piece, file)) > 0;)
        text_add_bytes(content, piece, got);
    if (!file || ferror(file))
        die(EXIT_CODE_ENVIRONMENT, "%s: cannot read it: %s", path, strerror(errno));
    fclose(file);
}

void write_whole_file(const char *path, const text_buffer *content)
{
    whole_file file;
    whole_file_begin(&file, path);
    if (content->length > 0)
        fwrite(content->bytes, 1, content->length, file.stream);
    whole_file_end(&file);
}

/* The places of lnbench's parts: the path in a variable, else the first place that exists, absolute or relative to the
 * executable. `needed` is the error message if there is none. */
static const struct {
    const char *variable, *places[2], *needed;
} own_parts[] = {
    [OWN_WORKER] = {"LNBENCH_WORKER",
                    {"lnbench-worker", "../libexec/lnbench/lnbench-worker"},
                    "lnbench-worker"},
    [OWN_LIBRARY] = {"LNBENCH_LIBRARY",
                     {"../lib/liblayernorm.so", LNBENCH_INSTALLED_LIBRARY},
                     "liblayernorm.so"},
    [OWN_PEERS] = {"LNBENCH_PEERS_DIRECTORY", {"../lib/peers", LNBENCH_INSTALLED_PEERS}, NULL},
    [OWN_PLOTS] = {"LNBENCH_PLOTS",
                   {"../share/lnbench/plots", LNBENCH_SOURCE_PLOTS},
                   "the plots directory"},
    [OWN_WORST] = {"LNBENCH_WORST", {"../share/lnbench/worst", LNBENCH_SOURCE_WORST}, NULL},
};

bool own_path(own_part part, char *path, size_t size)
{
    const char *variable = own_parts[part].variable, *given = getenv(variable);
    if (given && given[0]) {
        snprintf(path, size, "%s", given);
        if (access(path, R_OK) != 0)
            die(EXIT_CODE_ENVIRONMENT, "%s=%s: %s", variable, given, strerror(errno));
        return true;
    }
    char folder[PATH_MAX]; /* of the running executable */
    ssize_t length = readlink("/proc/self/exe", folder, sizeof folder - 1);
    if (length <= 0)
        die(EXIT_CODE_ENVIRONMENT, "/proc/self/exe: %s (is /proc mounted?)", strerror(errno));
    folder[length] = '\0';
    *strrchr(folder, '/') = '\0';
    for (size_t i = 0; i < 2; i++) {
        const char *place = own_parts[part].places[i];
        bool absolute = place[0] == '/';
        snprintf(path, size, "%s%s%s", absolute ? "" : folder, absolute ? "" : "/", place);
        if (access(path, R_OK) == 0)
            return true;
    }
    if (own_parts[part].needed)
        die(EXIT_CODE_ENVIRONMENT,
            "%s not found near %s: build or install all of lnbench, or set %s",
            own_parts[part].needed, folder, variable);
    return false;
}

void make_directories(const char *path)
{
    struct stat status;
    bool made = mkdir(path, 0777) == 0;
    if (!made && errno == ENOENT && strchr(path, '/')) {
        make_parent_directory(path);
        made = mkdir(path, 0777) == 0;
    }
    if (made ? !sync_folder_of(path) : errno != EEXIST)
        die(EXIT_CODE_ENVIRONMENT, "%s: cannot make the directory: %s", path, strerror(errno));
    if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode))
        die(EXIT_CODE_ENVIRONMENT, "%s: is not a directory", path);
}

void make_parent_directory(const char *path)
{
    const char *slash = strrchr(path, '/');
    text_buffer parent = {0};
    if (slash && slash != path) {
        text_add_bytes(&parent, path, (size_t)(slash - path));
        make_directories(parent.bytes);
    }
    text_free(&parent);
}

enum { FOLDERS_MOST = 16 };

/* NULL: a free slot. A signal handler reads it. */
static char *volatile folders[FOLDERS_MOST];

/* Empties a folder by system calls only: a signal handler may call it, and opendir() would allocate. */
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
            remove_folder(path);
            folders[at] = NULL;
            free((char *)path);
        }
}

void tidy_up(void)
{
    for (size_t i = 0; i < MOST_CHILDREN; i++) {
        const pid_t child = children[i]; /* read once: kill(0) would end our own group */
        if (child > 0 && kill(-child, SIGKILL) != 0)
            kill(child, SIGKILL);
    }
    for (const whole_file *file = open_files; file; file = file->next)
        unlink(file->part);
    for (size_t at = 0; at < FOLDERS_MOST; at++)
        if (folders[at])
            remove_folder(folders[at]);
}
