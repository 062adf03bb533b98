/* A plugin that does LNBENCH_HOSTILE_DEED at LNBENCH_HOSTILE_MOMENT (hostile.def), and is a good one
 * otherwise. */
#include "layernorm_plugin.h"
#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "worker/protocol.h"
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

enum { MANY_ROWS = 1500 }; /* timing alone has so many */

static const ln_problem *problem_of_y;
static void *volatile y_now;

/* ---- deeds ---- */

/* Once a process is enough: neither all memory nor a swarm of processes. */
static bool is_first(void)
{
    static bool later;
    bool first = !later;
    later = true;
    return first;
}

static void flush_to_zero(void)
{
#if defined(__x86_64__)
    _mm_setcsr(_mm_getcsr() | 0x8040u);
#elif defined(__aarch64__)
    unsigned long control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    __asm__ volatile("msr fpcr, %0" : : "r"(control | 1ul << 24));
#endif
}

static void round_to_zero(void)
{
    fesetround(FE_TOWARDZERO);
}

static void trap_division(void)
{
    feenableexcept(FE_DIVBYZERO);
}

static void narrow_x87(void)
{
#if defined(__x86_64__)
    unsigned short word;
    __asm__ volatile("fnstcw %0" : "=m"(word));
    word = (unsigned short)(word & ~0x300u);
    __asm__ volatile("fldcw %0" : : "m"(word));
#else
    round_to_zero();
#endif
}

static void fill_x87(void)
{
#if defined(__x86_64__)
    __asm__ volatile("fld1");
#else
    round_to_zero();
#endif
}

static void block_signals(void)
{
    sigset_t some;
    sigemptyset(&some);
    sigaddset(&some, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &some, NULL);
}

static void ignore_faults(void)
{
    signal(SIGSEGV, SIG_IGN);
}

static void speak_utf8(void)
{
    setlocale(LC_ALL, "C.UTF-8");
}

static void change_directory(void)
{
    if (chdir("/usr") != 0)
        abort();
}

static void change_umask(void)
{
    umask(0777);
}

static void limit_files(void)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = 16;
    setrlimit(RLIMIT_NOFILE, &limit);
}

static void close_arena(void)
{
    close(WORKER_ARENA_FD);
}

static void append_to_arena(void)
{
    fcntl(WORKER_ARENA_FD, F_SETFL, O_APPEND);
}

static void truncate_arena(void)
{
    if (ftruncate(WORKER_ARENA_FD, 0) == 0)
        abort();
}

static void lower_priority(void)
{
    setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + 1);
}

static void pin_itself(void)
{
    cpu_set_t cpus, one;
    sched_getaffinity(0, sizeof cpus, &cpus);
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    if (CPU_EQUAL(&cpus, &one)) /* there is no more than one */
        lower_priority();
}

static void set_late_alarm(void)
{
    alarm(1000);
}

static void set_variable(void)
{
    setenv("LNBENCH_HOSTILE", "1", 1);
}

static void run_child(void)
{
    pid_t child = is_first() ? fork() : -1;
    if (child == 0)
        _exit(0);
    if (child > 0)
        waitpid(child, NULL, 0);
}

static void close_socket(void)
{
    close(WORKER_SOCKET_FD);
}

static void close_all(void)
{
    close_range(0, ~0u, 0);
}

static void sleep_long(void)
{
    for (;;)
        pause();
}

static void leave_child(void)
{
    if (is_first() && fork() == 0)
        sleep_long();
}

static void leave_grandchild(void)
{
    pid_t child = is_first() ? fork() : -1;
    if (child == 0) {
        setsid();
        if (fork() == 0)
            sleep_long();
        _exit(0);
    }
    if (child > 0)
        waitpid(child, NULL, 0);
}

static void return_twice(void)
{
    if (is_first())
        fork();
}

static void leave(void)
{
    exit(0);
}

static void leave_at_once(void)
{
    _exit(3);
}

static void abort_here(void)
{
    abort();
}

__attribute__((no_sanitize("undefined"))) static void write_nowhere(void)
{
    static int *volatile nowhere;
    *nowhere = 1;
}

static void divide_by_zero(void)
{
    raise(SIGFPE);
}

static void illegal_instruction(void)
{
    __builtin_trap();
}

static void jump_nowhere(void)
{
    static jmp_buf nowhere;
    longjmp(nowhere, 1);
}

static void terminate_group(void)
{
    kill(0, SIGTERM);
    sleep_long();
}

static void become_another(void)
{
    execl("/bin/true", "true", (char *)NULL);
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winfinite-recursion"
__attribute__((noinline)) static int deeper(volatile char *above)
{
    volatile char room[4096];
    room[0] = above ? above[0] : 0;
    return deeper(room) + room[0];
}
#pragma GCC diagnostic pop

static void overflow_stack(void)
{
    deeper(NULL);
}

static void spin(void)
{
    for (volatile unsigned turns = 0;; turns++)
        ;
}

static void stop_process(void)
{
    kill(getpid(), SIGSTOP);
}

static void lock_up(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    pthread_mutex_lock(&lock);
}

static void print(void)
{
    for (int line = 0; line < 1000; line++) {
        printf("\033[2Jnothing to see here\n");
        fprintf(stderr, "nor here\n");
    }
    fflush(stdout);
}

static void allocate(void)
{
    enum { BYTES = 32 << 20 };
    char *memory = is_first() ? malloc(BYTES) : NULL;
    if (memory)
        memset(memory, 1, BYTES);
}

static void *stay(void *nothing)
{
    sleep_long();
    return nothing;
}

static void leave_thread(void)
{
    pthread_t thread;
    if (is_first() && pthread_create(&thread, NULL, stay, NULL) == 0)
        pthread_detach(thread);
}

static void open_files(void)
{
    for (int file = is_first() ? 0 : 64; file < 64; file++)
        if (open("/dev/null", O_RDONLY) < 0)
            break;
}

static void send_garbage(void)
{
    send(WORKER_SOCKET_FD, "hello", 5, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void *keep_sending(void *nothing)
{
    static const worker_reply reply = {.magic = PROTOCOL_MAGIC, .kind = REPLY_ROWS, .value = 1};
    while (send(WORKER_SOCKET_FD, &reply, sizeof reply, MSG_NOSIGNAL) > 0)
        ;
    return nothing;
}

static void flood(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, keep_sending, NULL) == 0)
        pthread_detach(thread);
    usleep(1000);
}

static void forge_done(void)
{
    static const worker_reply reply = {.magic = PROTOCOL_MAGIC, .kind = REPLY_DONE};
    send(WORKER_SOCKET_FD, &reply, sizeof reply, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void forge_repetition(void)
{
    static const worker_reply reply = {.magic = PROTOCOL_MAGIC,
                                       .kind = REPLY_REPETITION,
                                       .repetition = {.real_ns = -1e308, .cpu_ns = -1e308}};
    send(WORKER_SOCKET_FD, &reply, sizeof reply, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void set_alarm(void)
{
    struct itimerval soon = {.it_value.tv_usec = 1000};
    setitimer(ITIMER_REAL, &soon, NULL);
}

/* The sizes of free blocks, among other things. */
static void damage_heap(void)
{
    enum { BLOCKS = 64, BYTES = 512 };
    char *volatile blocks[BLOCKS];
    for (int i = 0; i < BLOCKS; i++)
        blocks[i] = malloc(BYTES);
    for (int i = 0; i < BLOCKS; i += 2)
        free(blocks[i]);
    for (int i = 1; i < BLOCKS; i += 2)
        memset(blocks[i] - 64, 0x41, BYTES + 64);
}

static void write_around(void)
{
    if (y_now)
        ((float *)y_now)[-1] = 0;
}

static void *keep_writing(void *nothing)
{
    for (;;) {
        volatile float *y = y_now;
        if (y)
            y[0] = 12345;
        usleep(10);
    }
    return nothing;
}

static void write_late(void)
{
    pthread_t thread;
    if (is_first() && pthread_create(&thread, NULL, keep_writing, NULL) == 0)
        pthread_detach(thread);
}

/* ---- moments ---- */

static void do_deed(void)
{
    static const struct {
        const char *name;
        void (*deed)(void);
    } deeds[] = {
#define DEED(name, kind) {#name, name},
#include "hostile.def"
    };
    const char *wanted = getenv("LNBENCH_HOSTILE_DEED");
    for (size_t i = 0; wanted && i < sizeof deeds / sizeof *deeds; i++)
        if (strcmp(wanted, deeds[i].name) == 0)
            deeds[i].deed();
}

static bool is_now(const char *moment)
{
    const char *wanted = getenv("LNBENCH_HOSTILE_MOMENT");
    return wanted && strcmp(wanted, moment) == 0;
}

static void at(const char *moment)
{
    if (is_now(moment))
        do_deed();
}

static void *do_later(void *nothing)
{
    usleep(2000);
    do_deed();
    return nothing;
}

static void from_a_thread(const char *moment)
{
    pthread_t thread;
    if (is_now(moment) && pthread_create(&thread, NULL, do_later, NULL) == 0)
        pthread_detach(thread);
}

__attribute__((constructor)) static void loaded(void)
{
    at("constructor");
    from_a_thread("thread_of_load");
}

static const char *supports(const ln_problem *problem)
{
    (void)problem;
    at("supports");
    return NULL;
}

static int prepare_call(const ln_problem *problem, void **state)
{
    at("prepare");
    *state = (void *)(uintptr_t)problem;
    return 0;
}

static void release(void *state)
{
    (void)state;
    at("release");
}

static void run(const void *state, const ln_tensors *tensors)
{
    static unsigned runs;
    problem_of_y = state;
    ln_layernorm_with("two_pass_f32_scalar", state, tensors);
    y_now = tensors->y;
    at("run");
    if (++runs == 10)
        at("tenth_run");
    if (problem_of_y->rows >= MANY_ROWS)
        at("timed_run");
    if (runs == 1)
        from_a_thread("thread_of_run");
}

static ln_bound bound(const ln_problem *problem, const ln_row_facts *facts)
{
    (void)problem;
    (void)facts;
    at("bound");
    return (ln_bound){1, 1};
}

static int set_threads(unsigned threads)
{
    (void)threads;
    at("set_threads");
    return 0;
}

static const ln_kernel kernels[] = {{.struct_size = sizeof(ln_kernel),
                                     .name = "hostile",
                                     .isa = "scalar",
                                     .supports = supports,
                                     .prepare = prepare_call,
                                     .release = release,
                                     .run = run,
                                     .bound = bound}};

static const ln_plugin plugin = {.abi_version = LN_PLUGIN_ABI,
                                 .struct_size = sizeof(ln_plugin),
                                 .name = "hostile",
                                 .count = 1,
                                 .kernels = kernels,
                                 .set_threads = set_threads};

LN_API const ln_plugin *ln_plugin_v1(void)
{
    at("entry");
    return &plugin;
}
