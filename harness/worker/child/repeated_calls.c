/* Calls of a kernel by the ten thousand, as a program makes them. The rows stay the same, so the bits must.
 *
 * 1. Two shapes are prepared, beside one of a single row, one with a residual and one of a long row.
 * 2. The two shapes are called in turn, then one at a time, whatever y holds before.
 * 3. Between the tenth call and the last, open files, threads and memory of the process are counted: none
 *    may grow from call to call.
 * 4. A single row is called until a counter of 16 bits has gone round.
 * 5. The first shape is called after a call with a NaN, where the caller flushes subnormals, and on many
 *    other threads, one after the other. Calls that overlap in time are in meet.c.
 * 6. States are prepared and released, and must keep nothing. */
#include "base/seconds.h"
#include "domain/poison.h"
#include "worker/child/internal.h"
#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

/* ---- growth ---- */

typedef struct process_growth {
    size_t files, threads;
    size_t bytes, resident; /* of all mappings; of memory; 0: not known */
} process_growth;

/* Watches what must not grow from call to call. It begins as all zero. */
typedef struct growth_watch {
    process_growth begun, settled;
    size_t calls;    /* since it settled: the caller counts */
    char grown[128]; /* what did; "": nothing */
} growth_watch;

static size_t threads_count(void)
{
    struct stat status;
    return stat("/proc/self/task", &status) == 0 ? (size_t)status.st_nlink - 2 : 0;
}

enum { LOOKS = 20 }; /* at threads that come to their end */

static void pause_shortly(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* Of the process; the one that reads them is counted each time. */
static size_t count_files(void)
{
    size_t count = 0;
    DIR *files = opendir("/proc/self/fd");
    while (files && readdir(files))
        count++;
    if (files)
        closedir(files);
    return count;
}

static void take_growth(process_growth *growth)
{
    *growth = (process_growth){.files = count_files(), .threads = threads_count()};
#ifndef __SANITIZE_ADDRESS__ /* which keeps what is freed */
    size_t pages = 0, resident = 0, page = (size_t)sysconf(_SC_PAGESIZE);
    FILE *file = fopen("/proc/self/statm", "re");
    if (file && fscanf(file, "%zu %zu", &pages, &resident) == 2) {
        growth->bytes = pages * page;
        growth->resident = resident * page;
    }
    if (file)
        fclose(file);
#endif
}

/* The first time it takes the counts; later it says whether one of them has grown since. */
static bool growth_is_seen(growth_watch *watch)
{
    /* Once in a while something may be opened late, and a pool may get its threads one by one, each
     * with a stack and memory of its own. */
    enum { FEW = 8, FEW_BYTES = 16 << 20 };
    const process_growth *begun = &watch->begun;
    process_growth now;
    take_growth(&now);
    if (begun->threads == 0) {
        watch->begun = now;
        return false;
    }
    size_t few = FEW + (size_t)sysconf(_SC_NPROCESSORS_CONF);
    for (int look = 0; look < LOOKS && now.threads > begun->threads + few; look++) {
        pause_shortly(); /* threads may end by themselves */
        take_growth(&now);
    }
    size_t more = now.threads > begun->threads ? now.threads - begun->threads : 0;
    const struct {
        const char *what;
        size_t before, now, few;
    } counts[] = {
        {"threads", begun->threads, now.threads, few},
        {"file descriptors", begun->files, now.files, FEW},
        {"bytes of mappings", begun->bytes, more ? 0 : now.bytes, FEW_BYTES},
    };
    for (size_t i = 0; i < sizeof counts / sizeof *counts && !watch->grown[0]; i++)
        if (counts[i].now > counts[i].before + counts[i].few)
            snprintf(watch->grown, sizeof watch->grown,
                     "%s grow from call to call: %zu after the tenth, %zu later", counts[i].what,
                     counts[i].before, counts[i].now);
    return watch->grown[0] != '\0';
}

static void growth_settle(growth_watch *watch)
{
    watch->calls = 0;
    take_growth(&watch->settled);
}

/* Bytes of memory that each call kept since then; 0: too few to tell. */
static double growth_kept(const growth_watch *watch)
{
    enum { LEAST = 1 << 20, LEAST_A_CALL = 8 };
    process_growth now;
    take_growth(&now);
    if (watch->settled.resident == 0 || now.resident <= watch->settled.resident + LEAST)
        return 0;
    size_t kept = now.resident - watch->settled.resident;
    return kept > LEAST_A_CALL * watch->calls ? (double)kept / (double)watch->calls : 0;
}

/* ---- calls ---- */

enum {
    SHAPES = 2,
    ONE_ROW = SHAPES,
    WITH_RESIDUAL, /* of one row, which is its own */
    WIDE,          /* one row, longer than what kernels keep on the stack */
    ALL_SHAPES,
    WIDE_HIDDEN = 4111,
    WIDE_TURN = 256,         /* in so many of one row */
    THREADS = 66,            /* more than a table of them has places */
    OWN_THREADS = 6,         /* of a library that makes some for each thread that calls */
    ONE_ROW_CALLS = 1 << 16, /* with those before: a counter of 16 bits goes round */
    PREPARATIONS = 1000,     /* of a state that is released before it is called */
};

static const double most_seconds = 1, often_seconds = 10; /* of those; of two shapes in turn */

/* One shape with what it needs to be called. */
typedef struct called_shape {
    ln_problem problem;
    ln_tensors tensors;
    guarded y;
    void *state;
    bool prepared;
    char *first; /* what came out once */
} called_shape;

typedef struct call_bench {
    const ln_kernel *kernel;
    const work_order *order;
    guarded inputs[ROLES_MOST]; /* x and the parameters, by role */
    char *wide[ROLES_MOST];     /* longer ones, which begin as those */
    called_shape shapes[ALL_SHAPES];
    bool starved;        /* the system has not as many threads as were to call it */
    const char *where;   /* NULL: the bits are the same */
    const char *changed; /* of the state of another thread; NULL: nothing */
    const char *refusal; /* NULL, or why it could not be called */
    growth_watch growth;
    double kept; /* bytes a call; 0: too little to tell */
    char remark[REPLY_TEXT_LENGTH];
} call_bench;

static bool same_bits(const called_shape *shape)
{
    return memcmp(shape->tensors.y, shape->first, shape->y.size) == 0;
}

static void call_shape(const call_bench *bench, called_shape *shape)
{
    bench->kernel->run(shape->state, &shape->tensors);
}

static void add_remark(call_bench *bench, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add_remark(call_bench *bench, const char *format, ...)
{
    size_t used = strlen(bench->remark);
    va_list arguments;
    if (used > 0)
        used += (size_t)snprintf(bench->remark + used, sizeof bench->remark - used, "; ");
    va_start(arguments, format);
    vsnprintf(bench->remark + used, sizeof bench->remark - used, format, arguments);
    va_end(arguments);
}

/* One call whose bits must be the known ones. */
static bool call_again(call_bench *bench, called_shape *shape, const char *where)
{
    bench->growth.calls++;
    call_shape(bench, shape);
    worker_send_alive();
    if (!same_bits(shape))
        bench->where = where;
    return !bench->where;
}

/* What y holds before a call: what the last one left, poison, zeros, or another shape's result. */
static void vary_content(call_bench *bench, called_shape *shape, unsigned call)
{
    const called_shape *other = &bench->shapes[shape == bench->shapes];
    size_t size = shape->y.size < other->y.size ? shape->y.size : other->y.size;
    switch (call / 2 % 8) {
    case 1:
        memset(shape->y.data, POISON, shape->y.size);
        break;
    case 3:
        memset(shape->y.data, 0, shape->y.size);
        break;
    case 5:
        if (other->first)
            memcpy(shape->y.data, other->first, size);
        break;
    default:
        break;
    }
}

/* Whether the thread has computed until `end`; its clock, which takes a system call, is read a few times a
 * second. */
static bool is_over(double end)
{
    static const double pause = 0.02;
    static double last;
    double now = seconds_now();
    if (now - last < pause)
        return false;
    last = now;
    return seconds_of(CLOCK_THREAD_CPUTIME_ID) > end;
}

/* A quarter in turn, the rest of one shape at a time. */
static bool call_often(call_bench *bench, unsigned calls)
{
    unsigned call = 0;
    double end = seconds_of(CLOCK_THREAD_CPUTIME_ID) + often_seconds;
    double late = seconds_now() + 4 * often_seconds;
    for (; call < calls; call++) {
        bool second = call < calls / 4 ? call & 1 : call > 3 * (calls / 4);
        called_shape *shape = &bench->shapes[second && bench->shapes[1].first];
        if (call < calls / 2)
            vary_content(bench, shape, call);
        if (call == calls / 8)
            growth_settle(&bench->growth);
        if ((call == 10 || call == 100 || call == 1000) && growth_is_seen(&bench->growth))
            return false;
        if (!call_again(bench, shape,
                        call < calls / 4 ? "with two shapes in turn" : "on the same rows"))
            return false;
        if (call % 16 == 0 && (is_over(end) || seconds_now() > late))
            break;
    }
    if (call < calls)
        add_remark(bench, "slow: %u of %u calls were made", call, calls);
    return !growth_is_seen(&bench->growth);
}

/* One row with and without a residual in turn, and now and then a long one. */
static bool call_one_row(call_bench *bench)
{
    double end = seconds_of(CLOCK_THREAD_CPUTIME_ID) + most_seconds;
    called_shape *shapes = bench->shapes;
    bool fine = true;
    for (unsigned call = 0; fine && shapes[ONE_ROW].first && call < ONE_ROW_CALLS; call++) {
        bool residual = call % 2 && shapes[WITH_RESIDUAL].first;
        fine = call_again(bench, &shapes[residual ? WITH_RESIDUAL : ONE_ROW], "on the same row") &&
               (call % WIDE_TURN != 0 || !shapes[WIDE].first ||
                call_again(bench, &shapes[WIDE], "on the same row"));
        if (call % 64 == 0 && is_over(end))
            break;
    }
    bench->kept = growth_kept(&bench->growth);
    return fine && !growth_is_seen(&bench->growth);
}

/* A NaN in the first row, for one call. */
static bool call_after_nan(call_bench *bench, const work_order *order)
{
    called_shape *shape = bench->shapes;
    size_t size = dtype_size(order->problem.storage);
    char kept[sizeof(double)], *place = bench->inputs[ROLE_X].data;
    if (!guard_release(&bench->inputs[ROLE_X]))
        return false;
    memcpy(kept, place, size);
    memset(place, POISON, size);
    call_shape(bench, shape);
    memcpy(place, kept, size);
    return guard_protect(&bench->inputs[ROLE_X]) &&
           call_again(bench, shape, "after a call with a NaN");
}

/* ---- threads ---- */

typedef struct thread_job {
    call_bench *bench;
    called_shape *shape;
    sem_t *called;
    pthread_mutex_t *leave;
    bool fine;
} thread_job;

static bool call_job(void *context)
{
    thread_job *job = context;
    thread_state before;
    floating_point_read(&before);
    call_shape(job->bench, job->shape);
    const char *changed = floating_point_compare(&before);
    if (changed)
        job->bench->changed = changed;
    return !changed && same_bits(job->shape);
}

static void *call_on_thread(void *context)
{
    enum { CALLS = 4 };
    thread_job *job = context;
    for (unsigned call = 0; job->fine && call < CALLS; call++)
        job->fine = call_job(job);
    sem_post(job->called);
    pthread_mutex_lock(job->leave);
    pthread_mutex_unlock(job->leave);
    return NULL;
}

/* One after the other, and none ends before the last has called. */
static bool call_on_other_threads(call_bench *bench, size_t count)
{
    pthread_t threads[THREADS];
    pthread_mutex_t leave = PTHREAD_MUTEX_INITIALIZER;
    sem_t called;
    thread_job job = {bench, bench->shapes, &called, &leave, true};
    size_t started = 0;
    sem_init(&called, 0, 0);
    pthread_mutex_lock(&leave);
    double end = seconds_now() + often_seconds;
    while (started < count && (started < OWN_THREADS || seconds_now() < end) &&
           pthread_create(&threads[started], NULL, call_on_thread, &job) == 0) {
        started++;
        while (sem_wait(&called) != 0) /* a signal */
            ;
        worker_send_alive();
    }
    pthread_mutex_unlock(&leave);
    bench->starved = started < count;
    while (started > 0)
        pthread_join(threads[--started], NULL);
    sem_destroy(&called);
    if (!job.fine)
        bench->where = "on another thread";
    return job.fine;
}

/* ---- another floating-point environment ---- */

/* Flush-to-zero, and subnormals as zeros: rows of ordinary numbers have the same bits. */
static bool call_flushing(call_bench *bench)
{
    bool fine = true;
#if defined(__x86_64__)
    enum { FLUSH = 0x8040 };
    unsigned before = _mm_getcsr();
    _mm_setcsr(before | FLUSH);
    call_shape(bench, bench->shapes);
    bool kept = (_mm_getcsr() & FLUSH) == FLUSH;
    _mm_setcsr(before);
    fine = kept && same_bits(bench->shapes);
    if (!fine)
        bench->where =
            kept ? "where the caller flushes subnormals" : "the caller's flush-to-zero was undone";
#else
    (void)bench;
#endif
    return fine;
}

/* ---- set-up ---- */

/* Where the kernel takes it. */
static bool make_shape(call_bench *bench, size_t number, const ln_problem *problem,
                       const ln_tensors *given)
{
    size_t bytes = problem->rows * problem->hidden * dtype_size(problem->storage);
    called_shape *shape = &bench->shapes[number];
    if (number > 0 && kernel_refuses(bench->kernel, problem))
        return true;
    shape->problem = *problem;
    if (!guard_create(&shape->y, "y", bytes, GUARD_TIMED, GUARD_TIMED_WRITE_OFFSET))
        return false;
    memset(shape->y.data, POISON, bytes);
    shape->tensors = *given;
    shape->tensors.y = shape->y.data;
    shape->state = &shape->problem;
    if (bench->kernel->prepare && bench->kernel->prepare(&shape->problem, &shape->state) != 0) {
        bench->refusal = worker_unprepared();
        return false;
    }
    shape->prepared = bench->kernel->prepare != NULL;
    call_shape(bench, shape);
    shape->first = malloc(bytes);
    if (shape->first)
        memcpy(shape->first, shape->y.data, bytes);
    return shape->first != NULL;
}

/* Inputs of a long row, in which the others' elements come again and again. */
static bool make_wide(call_bench *bench, const ln_problem *problem, ln_tensors *given)
{
    for (size_t i = 0; i < role_count(bench->order); i++) {
        const guarded *input = &bench->inputs[i];
        size_t size = role_extent_of(role_of(bench->order, i), problem, LN_F64).element;
        if (!input->map)
            continue;
        bench->wide[i] = malloc(WIDE_HIDDEN * size);
        for (size_t j = 0; bench->wide[i] && j < WIDE_HIDDEN; j++)
            memcpy(bench->wide[i] + j * size, (const char *)input->data + j * size % input->size,
                   size);
        if (!bench->wide[i])
            return false;
        role_set(i, given, bench->wide[i]);
    }
    return true;
}

static ln_problem of_shape(const ln_problem *first, size_t rows, size_t hidden)
{
    ln_problem problem = *first;
    problem.rows = rows;
    problem.hidden = hidden;
    problem_set_strides(&problem, hidden);
    return problem;
}

static bool make_bench(call_bench *bench, const work_order *order)
{
    const ln_problem *first = &order->problem;
    ln_problem half = of_shape(first, 2 * first->rows, (first->hidden / 2 - 1) | 1);
    ln_problem row = of_shape(first, 1, first->hidden), wide = of_shape(first, 1, WIDE_HIDDEN);
    size_t bytes = first->rows * first->hidden * dtype_size(first->storage);
    guarded *x = &bench->inputs[ROLE_X];
    bool fine = guard_create(x, "x", bytes, GUARD_TIMED, GUARD_TIMED_READ_OFFSET) &&
                memcpy(x->data, worker_memory(order->at.tensors[ROLE_X]), bytes) &&
                guard_protect(x) && parameters_create(bench->inputs, order);
    ln_tensors given = {0}, added, longer = {0};
    buffers_set(order, bench->inputs, &given);
    added = given;
    added.residual = given.x;
    return fine && make_shape(bench, 0, first, &given) && make_shape(bench, 1, &half, &given) &&
           make_shape(bench, ONE_ROW, &row, &given) &&
           (bench->kernel->traits & LN_TRAIT_NO_RESIDUAL ||
            make_shape(bench, WITH_RESIDUAL, &row, &added)) &&
           make_wide(bench, &wide, &longer) && make_shape(bench, WIDE, &wide, &longer);
}

static void free_bench(call_bench *bench)
{
    for (size_t i = 0; i < ALL_SHAPES; i++) {
        called_shape *shape = &bench->shapes[i];
        if (shape->prepared)
            bench->kernel->release(shape->state);
        guard_destroy(&shape->y);
        free(shape->first);
    }
    for (size_t i = 0; i < ROLES_MOST; i++)
        free(bench->wide[i]);
    buffers_destroy(bench->inputs);
}

/* States that are made and dropped keep nothing. */
static bool prepare_often(call_bench *bench)
{
    double end = seconds_of(CLOCK_THREAD_CPUTIME_ID) + most_seconds;
    growth_watch watch = {0};
    const ln_kernel *kernel = bench->kernel;
    for (unsigned i = 0; kernel->prepare && i < PREPARATIONS; i++) {
        void *state = NULL;
        if (i == PREPARATIONS / 8) {
            growth_is_seen(&watch);
            growth_settle(&watch);
        }
        if (kernel->prepare(&bench->order->problem, &state) != 0 || is_over(end))
            break;
        if (kernel->release)
            kernel->release(state);
        watch.calls++;
        worker_send_alive();
    }
    if (watch.begun.threads > 0 && growth_is_seen(&watch))
        bench->growth = watch;
    bench->kept = fmax(bench->kept, watch.begun.threads > 0 ? growth_kept(&watch) : 0);
    return !watch.grown[0];
}

static bool call_everywhere(call_bench *bench, const work_order *order, bool own_threads)
{
    return call_often(bench, (unsigned)order->count) && call_one_row(bench) &&
           call_after_nan(bench, order) && call_flushing(bench) &&
           call_on_other_threads(bench, own_threads ? OWN_THREADS : THREADS) &&
           prepare_often(bench);
}

void worker_call(const worker_plugins *plugins, const work_order *order)
{
    const ln_kernel *kernel = worker_kernel(plugins, order);
    const char *refusal = kernel ? kernel_refuses(kernel, &order->problem) : "no such kernel";
    if (refusal) {
        worker_send_failed(VERDICT_DECLINED, 0, "%s", refusal);
        return;
    }
    call_bench bench = {.kernel = kernel, .order = order};
    bool own_threads = kernel_has_threads(plugins->plugins[order->plugin], kernel);
    thread_state before;
    plugin_enter(&before);
    bool fine = make_bench(&bench, order);
    if (fine) {
        memcpy(worker_memory(order->at.tensors[ROLE_Y]), bench.shapes[0].first,
               bench.shapes[0].y.size);
        fine = call_everywhere(&bench, order, own_threads);
    }
    const char *where = bench.changed ? NULL : bench.where;
    double kept = bench.kept;
    bool changed = !plugin_blame("run()", bench.changed);
    changed |= !plugin_blame("run():", bench.growth.grown[0] ? bench.growth.grown : NULL);
    free_bench(&bench);
    changed |= !plugin_leave(&before, "one of its functions");
    if (where)
        worker_send_failed(VERDICT_NONDETERMINISTIC, 0, "other bits %s", where);
    else if (changed)
        worker_send_blame();
    else if (!fine)
        worker_send_refusal(0, bench.refusal ? bench.refusal : worker_no_memory);
    else if (kept > 0)
        worker_send_failed(VERDICT_STATE_CHANGED, 0, "each call keeps %.0f bytes of memory", kept);
    else if (bench.starved)
        worker_send_failed(VERDICT_LOST, 0, "the system has no more threads");
    else
        worker_send_done(bench.remark, 0);
}
