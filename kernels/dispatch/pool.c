/* The caller starts a job by opening the gate of each thread, and the last thread to finish opens the caller's. A gate
 * is a counter on which a thread spins, and a condition variable on which it sleeps after some time. */
#if defined(__linux__)
#define _GNU_SOURCE /* sched_getaffinity */
#endif
#include "pool.h"

#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

/* Spinning takes 20 to 50 microseconds, depending on the CPU's pause instruction: several times as long as waking a
 * thread. */
enum { SPINS = 1000, LINE = 64 };

typedef struct gate {
    _Alignas(LINE) atomic_uint opened; /* how often it was opened */
    atomic_bool asleep;
    pthread_mutex_t lock;
    pthread_cond_t wake;
} gate;

typedef struct job {
    ln_pool_task *task; /* NULL: the thread ends */
    void *context;
    unsigned parts, threads;
    fenv_t environment;
} job;

static struct {
    pthread_mutex_t use; /* held while a job runs or the threads change */
    atomic_uint wanted;  /* the number of threads that was set; 0: none was */
    unsigned threads;    /* the existing threads and the caller; their gates: seats[1] and on */
    atomic_int spins;    /* 0 if threads share CPUs, since spinning would delay the others */
    bool watches_forks;
    job job;
    atomic_uint left; /* the threads, without the caller, that still run the job */
    gate done;
} pool = {.use = PTHREAD_MUTEX_INITIALIZER,
          .threads = 1,
          .done = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER}};

/* Outside `pool`, so that they are zero-initialised and take no space in the file of the library. */
static gate seats[LN_THREADS_MAX];
static pthread_t ids[LN_THREADS_MAX];

static void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Opens a gate. Both variables are sequentially consistent: either a thread that goes to sleep sees the new count, or
 * this function sees that it sleeps. */
static void gate_open(gate *barrier)
{
    atomic_fetch_add(&barrier->opened, 1);
    if (!atomic_load(&barrier->asleep))
        return;
    pthread_mutex_lock(&barrier->lock);
    pthread_cond_signal(&barrier->wake);
    pthread_mutex_unlock(&barrier->lock);
}

/* Waits until the gate has been opened since its count was `seen`. */
static void gate_pass(gate *barrier, unsigned seen)
{
    for (int i = atomic_load_explicit(&pool.spins, memory_order_relaxed); i > 0; i--) {
        if (atomic_load_explicit(&barrier->opened, memory_order_acquire) != seen)
            return;
        relax();
    }
    pthread_mutex_lock(&barrier->lock);
    atomic_store(&barrier->asleep, true);
    while (atomic_load(&barrier->opened) == seen)
        pthread_cond_wait(&barrier->wake, &barrier->lock);
    atomic_store(&barrier->asleep, false);
    pthread_mutex_unlock(&barrier->lock);
}

static void do_parts(const job *work, unsigned thread)
{
    for (unsigned part = thread; part < work->parts; part += work->threads)
        work->task(work->context, part);
}

static void *serve(void *argument)
{
    gate *seat = argument;
    unsigned thread = (unsigned)(seat - seats);
    for (unsigned jobs = 0;; jobs++) {
        gate_pass(seat, jobs);
        if (!pool.job.task)
            return NULL;
        fesetenv(&pool.job.environment);
        do_parts(&pool.job, thread);
        if (atomic_fetch_sub(&pool.left, 1) == 1)
            gate_open(&pool.done);
    }
}

static unsigned usable_cpus(void)
{
#if defined(__linux__)
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return (unsigned)CPU_COUNT(&set);
#endif
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online < 1 ? 1 : (unsigned)online;
}

/* Resets the pool in the child of a fork, which has none of the threads, and locks in any state. The number of threads
 * that was set stays. */
static void forget_threads(void)
{
    static const pthread_mutex_t fresh_lock = PTHREAD_MUTEX_INITIALIZER;
    static const pthread_cond_t fresh_condition = PTHREAD_COND_INITIALIZER;
    pool.use = fresh_lock;
    pool.done.lock = fresh_lock;
    pool.done.wake = fresh_condition;
    atomic_store(&pool.done.asleep, false);
    pool.threads = 1;
}

/* Creates a thread that blocks all signals except those for its own faults. */
static int create_quietly(unsigned thread)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};
    sigset_t blocked, before;
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&blocked, faults[i]);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    int failed = pthread_create(&ids[thread], NULL, serve, &seats[thread]);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

static bool add_thread(void)
{
    gate *seat = &seats[pool.threads];
    atomic_store(&seat->opened, 0);
    atomic_store(&seat->asleep, false);
    if (pthread_mutex_init(&seat->lock, NULL) != 0)
        return false;
    if (pthread_cond_init(&seat->wake, NULL) == 0) {
        if (create_quietly(pool.threads) == 0) {
            pool.threads++;
            return true;
        }
        pthread_cond_destroy(&seat->wake);
    }
    pthread_mutex_destroy(&seat->lock);
    return false;
}

static void end_thread(void)
{
    gate *seat = &seats[--pool.threads];
    pool.job.task = NULL;
    gate_open(seat);
    pthread_join(ids[pool.threads], NULL);
    pthread_cond_destroy(&seat->wake);
    pthread_mutex_destroy(&seat->lock);
}

/* Creates or ends threads. Returns false, with as many threads as before, if the system refuses new ones. */
static bool set_threads(unsigned threads)
{
    unsigned before = pool.threads;
    if (!pool.watches_forks && threads > 1) {
        if (pthread_atfork(NULL, NULL, forget_threads) != 0)
            return false;
        pool.watches_forks = true;
    }
    while (pool.threads > threads)
        end_thread();
    bool fine = true;
    while (fine && pool.threads < threads)
        fine = add_thread();
    while (!fine && pool.threads > before)
        end_thread();
    atomic_store(&pool.spins, pool.threads <= usable_cpus() ? SPINS : 0);
    return fine;
}

static unsigned threads_wanted(unsigned set)
{
    unsigned cpus = usable_cpus();
    return set ? set : cpus < LN_THREADS_MAX ? cpus : LN_THREADS_MAX;
}

/* Reads the number of CPUs only once, since every call needs it. */
unsigned ln_pool_threads(void)
{
    unsigned wanted = atomic_load_explicit(&pool.wanted, memory_order_relaxed);
    if (wanted)
        return wanted;
    unsigned found = threads_wanted(0);
    return atomic_compare_exchange_strong(&pool.wanted, &wanted, found) ? found : wanted;
}

ln_status ln_pool_resize(unsigned threads)
{
    if (threads > LN_THREADS_MAX)
        return LN_ERROR_ARGUMENT;
    pthread_mutex_lock(&pool.use);
    unsigned wanted = threads_wanted(threads);
    bool fine = set_threads(wanted);
    if (fine)
        atomic_store(&pool.wanted, wanted);
    pthread_mutex_unlock(&pool.use);
    return fine ? LN_OK : LN_ERROR_THREADS;
}

/* Creates threads when they are first needed. If the system refuses them, later calls do not try again. */
static void get_threads(void)
{
    unsigned wanted = ln_pool_threads();
    while (pool.threads < wanted && !set_threads(wanted))
        wanted = wanted / 2 > pool.threads ? wanted / 2 : pool.threads;
    if (wanted < ln_pool_threads())
        atomic_store(&pool.wanted, wanted);
}

void ln_pool_run(unsigned parts, ln_pool_task *task, void *context)
{
    if (parts <= 1 || pthread_mutex_trylock(&pool.use) != 0) {
        for (unsigned part = 0; part < parts; part++)
            task(context, part);
        return;
    }
    get_threads();
    job *work = &pool.job;
    *work = (struct job){.task = task, .context = context, .parts = parts};
    work->threads = parts < pool.threads ? parts : pool.threads;
    fegetenv(&work->environment);
    unsigned seen = atomic_load(&pool.done.opened);
    atomic_store(&pool.left, work->threads - 1);
    for (unsigned thread = 1; thread < work->threads; thread++)
        gate_open(&seats[thread]);
    do_parts(work, 0);
    if (work->threads > 1)
        gate_pass(&pool.done, seen);
    pthread_mutex_unlock(&pool.use);
}

/* Ends the threads when the library is unloaded or the program ends, since no thread may run unloaded code. If a job
 * still runs, for example because one of its threads called exit(), the system ends them. Later calls use only the
 * caller's thread. */
__attribute__((destructor)) static void end_threads(void)
{
    if (pthread_mutex_trylock(&pool.use) != 0)
        return;
    while (pool.threads > 1)
        end_thread();
}
