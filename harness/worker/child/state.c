/* What a plugin must leave alone, of the thread that calls it and of the process. */
#include "worker/child/internal.h"
#include "worker/child/system_calls.h"
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <pthread.h>
#include <locale.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
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
#define CONTROL "MXCSR"
enum { FLUSH = 0x8040, ROUNDING = 0x6000, X87_EMPTY = 0xffff };

/* Control word, and a bit pair a register: 3 where it is empty. */
static void read_x87(thread_state *state)
{
    unsigned environment[7] = {0};
    __asm__ volatile("fnstenv %0\n\tfldenv %0" : "+m"(environment));
    state->x87 = environment[0] & 0xffff;
    state->x87_empty = (environment[2] & 0xffff) == X87_EMPTY;
}
#else
#if defined(__aarch64__)
#define CONTROL "FPCR"
enum { FLUSH = 1 << 24 | 1 << 19, ROUNDING = 3 << 22 };
#else
#define CONTROL "floating-point control"
enum { FLUSH = 0, ROUNDING = -1 };
#endif

static void read_x87(thread_state *state)
{
    state->x87 = 0;
    state->x87_empty = true;
}
#endif

void floating_point_set(const thread_state *before)
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

void floating_point_read(thread_state *state)
{
    *state = (thread_state){.floating_point = floating_point_control()};
    read_x87(state);
}

/* The thread that calls plugins: as the system has its mask. */
static struct {
    uint64_t signals, mark;
    bool known;
} mask_kept;

static uint64_t known_signals(void)
{
    if (!mask_kept.known || system_calls_since(mask_kept.mark))
        mask_kept.signals = blocked_signals();
    mask_kept.known = true;
    mask_kept.mark = system_calls_mark();
    return mask_kept.signals;
}

void thread_state_take(thread_state *state)
{
    floating_point_read(state);
    state->signals = known_signals();
}

/* Of the control registers; NULL: nothing. */
static const char *control_change(const thread_state *before, const thread_state *after)
{
    unsigned changed = before->floating_point ^ after->floating_point;
    return changed & FLUSH             ? "changed " CONTROL ": flush to zero"
           : changed & ROUNDING        ? "changed " CONTROL ": rounding"
           : changed                   ? "changed " CONTROL ": exceptions"
           : after->x87 != before->x87 ? "changed the x87 control word"
                                       : NULL;
}

const char *floating_point_compare(const thread_state *before)
{
    thread_state after;
    floating_point_read(&after);
    const char *changed = control_change(before, &after);
    if (!changed && after.x87_empty != before->x87_empty)
        changed = "left the x87 registers in use (emms is missing)";
    if (changed)
        floating_point_set(before);
    return changed;
}

const char *floating_point_take(const thread_state *before, thread_state *loaded)
{
    floating_point_read(loaded);
    const char *changed = control_change(before, loaded);
    if (changed)
        floating_point_set(before);
    return changed;
}

static const char *thread_state_compare(const thread_state *before)
{
    const char *changed = floating_point_compare(before);
    if (known_signals() == before->signals)
        return changed;
    restore_blocked_signals(before->signals);
    mask_kept.known = false;
    return changed ? changed : "changed the signal mask";
}

/* What else the process is: system calls cost more than small kernels, so that it is read once a call,
 * after it. */
enum { LIMITS = 8, FILES = 2, TIMERS = 3 };
static const __rlimit_resource_t limits[LIMITS] = {RLIMIT_CPU,   RLIMIT_FSIZE, RLIMIT_DATA,
                                                   RLIMIT_STACK, RLIMIT_CORE,  RLIMIT_NOFILE,
                                                   RLIMIT_AS,    RLIMIT_NPROC};
static const int files[FILES] = {WORKER_SOCKET_FD, WORKER_ARENA_FD};
static const __itimer_which_t timers[TIMERS] = {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};

typedef struct process_state {
    bool handlers; /* the fault handlers are ours */
    void (*of_children)(int);
    char locale[512];
    locale_t thread_locale;
    char directory[4096];
    mode_t umask;
    struct rlimit limits[LIMITS];
    pid_t process;
    bool children;
    long children_faults; /* of all children that have ended: more with each */
    ino_t files[FILES];
    int file_flags[FILES];
    bool timer;
    int nice, policy;
    cpu_set_t cpus;
} process_state;

/* Zombies count too. What a child of the kernel leaves behind is the worker's (main.c). */
static bool has_children(void)
{
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

static long children_faults(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_CHILDREN, &usage) == 0 ? usage.ru_minflt + usage.ru_majflt : 0;
}

static mode_t read_umask(void)
{
    mode_t mask = umask(0);
    umask(mask);
    return mask;
}

static bool has_timer(void)
{
    bool some = false;
    struct itimerval value;
    for (int i = 0; i < TIMERS; i++)
        some |= getitimer(timers[i], &value) == 0 &&
                (value.it_value.tv_sec > 0 || value.it_value.tv_usec > 0);
    return some;
}

static void take_files(process_state *state)
{
    struct stat status;
    for (int i = 0; i < FILES; i++) {
        state->files[i] = fstat(files[i], &status) == 0 ? status.st_ino : 0;
        state->file_flags[i] = fcntl(files[i], F_GETFL);
    }
}

static bool same_files(const process_state *before, const process_state *after)
{
    return memcmp(after->files, before->files, sizeof after->files) == 0 &&
           memcmp(after->file_flags, before->file_flags, sizeof after->file_flags) == 0;
}

/* What can change without a system call. */
static void take_locale(process_state *state)
{
    const char *locale = setlocale(LC_ALL, NULL);
    snprintf(state->locale, sizeof state->locale, "%s", locale ? locale : "");
    state->thread_locale = uselocale((locale_t)0);
}

static void take_process(process_state *state)
{
    *state = (process_state){.handlers = worker_watches_faults(),
                             .umask = read_umask(),
                             .process = getpid(),
                             .children = has_children(),
                             .children_faults = children_faults(),
                             .timer = has_timer(),
                             .nice = getpriority(PRIO_PROCESS, 0),
                             .policy = sched_getscheduler(0)};
    struct sigaction action;
    take_locale(state);
    if (!getcwd(state->directory, sizeof state->directory))
        state->directory[0] = '\0';
    for (int i = 0; i < LIMITS; i++)
        getrlimit(limits[i], &state->limits[i]);
    if (sigaction(SIGCHLD, NULL, &action) == 0)
        state->of_children = action.sa_handler;
    sched_getaffinity(0, sizeof state->cpus, &state->cpus);
    take_files(state);
}

/* An OpenMP library pins the thread that calls it where the user's environment says so. */
static bool is_told_to_pin(void)
{
    return getenv("OMP_PROC_BIND") || getenv("OMP_PLACES") || getenv("GOMP_CPU_AFFINITY") ||
           getenv("KMP_AFFINITY");
}

static const char lost_files[] = "closed or changed files that are not the kernel's";

static const char *find_change(const process_state *before, const process_state *after)
{
    if (after->handlers != before->handlers)
        return "changed the handlers of SIGSEGV, SIGBUS, SIGILL, SIGFPE or SIGABRT";
    if (after->of_children != before->of_children)
        return "changed the handler of SIGCHLD";
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
    if (after->children_faults > before->children_faults)
        return "started a process";
    if (!same_files(before, after))
        return lost_files;
    if (after->timer && !before->timer)
        return "set a timer (alarm() or setitimer())";
    if (after->nice != before->nice || after->policy != before->policy)
        return "changed its priority";
    if (!CPU_EQUAL(&after->cpus, &before->cpus) && !is_told_to_pin())
        return "changed the CPUs that its thread may use";
    return NULL;
}

/* Another descriptor of the arena: a plugin that closes ours as it is loaded must not end the kernels of
 * others. */
static int spare_arena = -1;

static void put_arena_back(const process_state *before)
{
    struct stat status;
    if (fstat(spare_arena, &status) == 0 && status.st_ino == before->files[FILES - 1])
        dup2(spare_arena, WORKER_ARENA_FD);
}

static void put_back(const process_state *before)
{
    static const struct itimerval off;
    struct sigaction of_children = {.sa_handler = before->of_children};
    worker_watch_faults();
    sigaction(SIGCHLD, &of_children, NULL);
    setlocale(LC_ALL, before->locale);
    uselocale(before->thread_locale);
    umask(before->umask);
    for (int i = 0; i < LIMITS; i++)
        setrlimit(limits[i], &before->limits[i]);
    for (int i = 0; i < TIMERS && !before->timer; i++)
        setitimer(timers[i], &off, NULL);
    put_arena_back(before);
    for (int i = 0; i < FILES; i++)
        fcntl(files[i], F_SETFL, before->file_flags[i]);
    sched_setaffinity(0, sizeof before->cpus, &before->cpus);
    /* Where any of this fails, the parent ends the process all the same. */
    if (setpriority(PRIO_PROCESS, 0, before->nice) != 0 || chdir(before->directory) != 0)
        return;
}

/* What is as it should be: as it was found at first, or last put back. */
static process_state known;

void process_state_record(void)
{
    if (spare_arena < 0)
        spare_arena = fcntl(WORKER_ARENA_FD, F_DUPFD_CLOEXEC, WORKER_ARENA_FD + 1);
    take_process(&known);
    environment_record();
}

void process_state_record_cpus(void)
{
    sched_getaffinity(0, sizeof known.cpus, &known.cpus);
}

void process_state_record_children(void)
{
    static uint64_t mark;
    if (!system_calls_since(mark))
        return;
    known.children_faults = children_faults();
    mark = system_calls_mark(); /* this call was one too */
}

void process_state_record_fork(void)
{
    known.children_faults = children_faults();
}

void process_state_of_fork(void)
{
    known.process = getpid();
}

static bool is_watched = true;

void process_state_watch(bool watched)
{
    is_watched = watched;
    system_calls_trust(!watched);
}

const char *process_state_compare(const thread_state *before)
{
    process_state now;
    bool made = system_calls_made();
    if (made && getpid() != known.process)
        _exit(0); /* two workers at one socket would answer every order twice */
    const char *of_thread = thread_state_compare(before);
    if (!is_watched)
        return of_thread;
    if (made) {
        system_calls_of_others(threads_are_others());
        take_process(&now);
    } else {
        now = known;
        take_locale(&now);
    }
    const char *changed = find_change(&known, &now);
    if (!changed)
        changed = environment_compare();
    if (!changed && made)
        changed = threads_compare();
    if (changed) {
        put_back(&known);
        process_state_record();
    }
    return of_thread ? of_thread : changed;
}

const char *process_exhausted(void)
{
    process_state now = {0};
    struct rlimit space;
    take_files(&now);
    if (!same_files(&known, &now))
        return lost_files;
    int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (file < 0 && (errno == EMFILE || errno == ENFILE))
        return "left so many files open that the process can open no more";
    if (file >= 0)
        close(file);
    if (getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_cur != RLIM_INFINITY)
        return NULL;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *map = mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED)
        return "left so many mappings that the process can make no more";
    munmap(map, page);
    return NULL;
}
