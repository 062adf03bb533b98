/* What a plugin must leave alone, of the thread that calls it and of the process. */
#include "worker/child/internal.h"
#include <fenv.h>
#include <pthread.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

static unsigned floating_point_control(void)
{
#if defined(__x86_64__)
    return _mm_getcsr() & ~0x3fu;
#elif defined(__aarch64__)
    unsigned long control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return (unsigned)control;
#else
    return (unsigned)fegetround();
#endif
}

#if defined(__x86_64__)
enum { FLUSH = 0x8040, X87_EMPTY = 0xffff };

/* Control word, and a bit pair a register: 3 where it is empty. */
static void read_x87(thread_state *state)
{
    unsigned environment[7] = {0};
    __asm__ volatile("fnstenv %0\n\tfldenv %0" : "+m"(environment));
    state->x87 = environment[0] & 0xffff;
    state->x87_empty = (environment[2] & 0xffff) == X87_EMPTY;
}
#else
enum { FLUSH = 1 << 24 };

static void read_x87(thread_state *state)
{
    state->x87 = 0;
    state->x87_empty = true;
}
#endif

static void restore_floating_point(const thread_state *before)
{
#if defined(__x86_64__)
    unsigned short word = (unsigned short)before->x87;
    _mm_setcsr(before->floating_point);
    __asm__ volatile("fninit\n\tfldcw %0" : : "m"(word));
#elif defined(__aarch64__)
    unsigned long control = before->floating_point;
    __asm__ volatile("msr fpcr, %0" : : "r"(control));
#else
    fesetround((int)before->floating_point);
#endif
}

static uint64_t blocked_signals(void)
{
    sigset_t blocked;
    uint64_t bits = 0;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    for (int number = 1; number <= 64; number++)
        if (sigismember(&blocked, number) == 1)
            bits |= UINT64_C(1) << (number - 1);
    return bits;
}

static void restore_blocked_signals(uint64_t bits)
{
    sigset_t blocked;
    sigemptyset(&blocked);
    for (int number = 1; number <= 64; number++)
        if (bits >> (number - 1) & 1)
            sigaddset(&blocked, number);
    pthread_sigmask(SIG_SETMASK, &blocked, NULL);
}

void thread_state_take(thread_state *state)
{
    *state =
        (thread_state){.floating_point = floating_point_control(), .signals = blocked_signals()};
    read_x87(state);
}

const char *floating_point_compare(const thread_state *before)
{
    thread_state after = {.floating_point = floating_point_control()};
    read_x87(&after);
    const char *changed = NULL;
    if (after.floating_point != before->floating_point || after.x87 != before->x87)
        changed = "changed floating-point control (MXCSR, FPCR or the x87 control word)";
    else if (after.x87_empty != before->x87_empty)
        changed = "left the x87 registers in use (emms is missing)";
    if (changed)
        restore_floating_point(before);
    return changed;
}

static const char *thread_state_compare(const thread_state *before)
{
    const char *changed = floating_point_compare(before);
    if (blocked_signals() == before->signals)
        return changed;
    restore_blocked_signals(before->signals);
    return changed ? changed : "changed the signal mask";
}

/* What else the process is: system calls cost more than small kernels, so that it is read once a call,
 * after it. */
enum { LIMITS = 8 };
static const __rlimit_resource_t limits[LIMITS] = {RLIMIT_CPU,   RLIMIT_FSIZE, RLIMIT_DATA,
                                                   RLIMIT_STACK, RLIMIT_CORE,  RLIMIT_NOFILE,
                                                   RLIMIT_AS,    RLIMIT_NPROC};

typedef struct process_state {
    bool handlers; /* the fault handlers are ours */
    char locale[512];
    locale_t thread_locale;
    char directory[4096];
    mode_t umask;
    struct rlimit limits[LIMITS];
    pid_t process;
    bool children;
    ino_t files[2]; /* the socket and the arena */
} process_state;

/* Zombies count too. What a child of the kernel leaves behind is the worker's (main.c). */
static bool has_children(void)
{
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

static ino_t file_number(int fd)
{
    struct stat status;
    return fstat(fd, &status) == 0 ? status.st_ino : 0;
}

static mode_t read_umask(void)
{
    mode_t mask = umask(0);
    umask(mask);
    return mask;
}

static void take_process(process_state *state)
{
    *state =
        (process_state){.handlers = worker_watches_faults(),
                        .thread_locale = uselocale((locale_t)0),
                        .umask = read_umask(),
                        .process = getpid(),
                        .children = has_children(),
                        .files = {file_number(WORKER_SOCKET_FD), file_number(WORKER_ARENA_FD)}};
    const char *locale = setlocale(LC_ALL, NULL);
    snprintf(state->locale, sizeof state->locale, "%s", locale ? locale : "");
    if (!getcwd(state->directory, sizeof state->directory))
        state->directory[0] = '\0';
    for (int i = 0; i < LIMITS; i++)
        getrlimit(limits[i], &state->limits[i]);
}

static const char *find_change(const process_state *before, const process_state *after)
{
    if (after->handlers != before->handlers)
        return "changed the handlers of SIGSEGV, SIGBUS, SIGILL, SIGFPE or SIGABRT";
    if (strcmp(after->locale, before->locale) != 0 || after->thread_locale != before->thread_locale)
        return "changed the locale";
    if (strcmp(after->directory, before->directory) != 0)
        return "changed the working directory";
    if (after->umask != before->umask)
        return "changed the umask";
    if (memcmp(after->limits, before->limits, sizeof after->limits) != 0)
        return "changed a resource limit";
    if (after->children && !before->children)
        return "left a child process behind";
    if (after->files[0] != before->files[0] || after->files[1] != before->files[1])
        return "closed files that are not the kernel's";
    return NULL;
}

static void put_back(const process_state *before)
{
    worker_watch_faults();
    setlocale(LC_ALL, before->locale);
    uselocale(before->thread_locale);
    umask(before->umask);
    for (int i = 0; i < LIMITS; i++)
        setrlimit(limits[i], &before->limits[i]);
    if (chdir(before->directory) != 0) {
        /* It is gone, or may not be entered: nothing that is measured depends on it. */
    }
}

/* What is as it should be: as it was found at first, or last put back. */
static process_state known;

void process_state_know(void)
{
    take_process(&known);
}

static bool is_watched = true;

void process_state_watch(bool watched)
{
    is_watched = watched;
}

const char *process_state_compare(const thread_state *before)
{
    process_state now;
    if (getpid() != known.process)
        _exit(0); /* two workers at one socket would answer every order twice */
    const char *of_thread = thread_state_compare(before);
    if (!is_watched)
        return of_thread;
    take_process(&now);
    const char *changed = find_change(&known, &now);
    if (changed) {
        put_back(&known);
        process_state_know();
    }
    return of_thread ? of_thread : changed;
}

const char *process_state_compare_loaded(const thread_state *before)
{
    /* gcc's start-up code for -ffast-math does this, and no more. */
    if (floating_point_control() == (before->floating_point | FLUSH))
        restore_floating_point(before);
    return process_state_compare(before);
}
