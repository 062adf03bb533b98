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
#include <stdio.h>
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
    size_t calls; /* since it settled: the caller counts */
    double kept;  /* bytes of memory a call; 0: too few to tell */
} growth_watch;

static void take_growth(process_growth *growth)
{
    struct stat tasks;
    DIR *files = opendir("/proc/self/fd");
    *growth = (process_growth){0};
    while (files && readdir(files))
        growth->files++;
    if (files)
        closedir(files);
    if (stat("/proc/self/task", &tasks) == 0)
        growth->threads = (size_t)tasks.st_nlink - 2;
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

/* The first time it takes the counts; later the order fails if one of them has grown since: false. Once in
 * a while something may be opened late, and a pool may get its threads one by one, each with a stack and
 * memory of its own. */
static bool growth_is_little(growth_watch *watch)
{
    enum { FEW = 8, FEW_BYTES = 16 << 20, LOOKS = 20 };
    const process_growth *begun = &watch->begun;
    process_growth now;
    take_growth(&now);
    if (begun->threads == 0) {
        watch->begun = now;
        return true;
    }
    size_t few = FEW + (size_t)sysconf(_SC_NPROCESSORS_CONF);
    for (int look = 0; look < LOOKS && now.threads > begun->threads + few; look++) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL); /* they may end by themselves */
        take_growth(&now);
    }
    const struct {
        const char *what;
        size_t before, now, few;
    } counts[] = {
        {"threads", begun->threads, now.threads, few},
        {"file descriptors", begun->files, now.files, FEW},
        {"bytes of mappings", begun->bytes, now.threads > begun->threads ? 0 : now.bytes,
         FEW_BYTES},
    };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (counts[i].now > counts[i].before + counts[i].few)
            return order_fails(VERDICT_STATE_CHANGED,
                               "run(): %s grow from call to call: %zu after the tenth, %zu later",
                               counts[i].what, counts[i].before, counts[i].now);
    return true;
}

/* What each call kept since then. */
static void growth_end(growth_watch *watch)
{
    enum { LEAST = 1 << 20, LEAST_A_CALL = 8 };
    process_growth now;
    take_growth(&now);
    size_t before = watch->settled.resident;
    size_t kept = before > 0 && now.resident > before + LEAST ? now.resident - before : 0;
    watch->kept = kept > LEAST_A_CALL * watch->calls ? (double)kept / (double)watch->calls : 0;
}

/* ---- calls ---- */

enum {
    ONE_ROW = 2,   /* behind two shapes that are called in turn */
    WITH_RESIDUAL, /* of one row, which is its own */
    WIDE,          /* one row, longer than what kernels keep on the stack */
    SHAPES,
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
    work_order order; /* of its tensors */
    call_tensors tensors;
    prepared_kernel kernel;
    char *first; /* what came out once; NULL: the kernel does not take it */
    size_t bytes;
} called_shape;

typedef struct called_kernel {
    const ln_kernel *kernel;
    const work_order *order;
    called_shape shapes[SHAPES];
    bool starved; /* the system has not as many threads as were to call it */
    growth_watch growth;
} called_kernel;

static bool is_same(const called_shape *shape)
{
    return memcmp(shape->tensors.given.y, shape->first, shape->bytes) == 0;
}

/* One call whose bits must be the known ones. */
static bool call_again(called_kernel *of, called_shape *shape, const char *where)
{
    of->growth.calls++;
    kernel_run(&shape->kernel, &shape->tensors.given);
    worker_send_alive();
    return is_same(shape) || order_fails(VERDICT_NONDETERMINISTIC, "other bits %s", where);
}

/* What y holds before a call: what the last one left, poison, zeros, or another shape's result. */
static void vary_content(called_kernel *of, called_shape *shape, unsigned call)
{
    const called_shape *other = &of->shapes[shape == of->shapes];
    char *y = shape->tensors.given.y;
    unsigned turn = call / 2 % 8;
    if (turn == 1 || turn == 3)
        memset(y, turn == 1 ? POISON : 0, shape->bytes);
    else if (turn == 5 && other->first)
        memcpy(y, other->first, shape->bytes < other->bytes ? shape->bytes : other->bytes);
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
static bool call_often(called_kernel *of, unsigned calls)
{
    unsigned call = 0;
    double end = seconds_of(CLOCK_THREAD_CPUTIME_ID) + often_seconds;
    double late = seconds_now() + 4 * often_seconds;
    for (; call < calls; call++) {
        bool second = call < calls / 4 ? call & 1 : call > 3 * (calls / 4);
        called_shape *shape = &of->shapes[second && of->shapes[1].first];
        if (call < calls / 2)
            vary_content(of, shape, call);
        if (call == calls / 8) {
            take_growth(&of->growth.settled);
            of->growth.calls = 0;
        }
        if ((call == 10 || call == 100 || call == 1000) && !growth_is_little(&of->growth))
            return false;
        if (!call_again(of, shape,
                        call < calls / 4 ? "with two shapes in turn" : "on the same rows"))
            return false;
        if (call % 16 == 0 && (is_over(end) || seconds_now() > late))
            break;
    }
    if (call < calls)
        snprintf(answer.text, sizeof answer.text, "slow: %u of %u calls were made", call, calls);
    return growth_is_little(&of->growth);
}

/* One row with and without a residual in turn, and now and then a long one. */
static bool call_one_row(called_kernel *of)
{
    double end = seconds_of(CLOCK_THREAD_CPUTIME_ID) + most_seconds;
    called_shape *shapes = of->shapes;
    for (unsigned call = 0; shapes[ONE_ROW].first && call < ONE_ROW_CALLS; call++) {
        bool residual = call % 2 && shapes[WITH_RESIDUAL].first;
        bool wide = call % WIDE_TURN == 0 && shapes[WIDE].first;
        if (!call_again(of, &shapes[residual ? WITH_RESIDUAL : ONE_ROW], "on the same row") ||
            (wide && !call_again(of, &shapes[WIDE], "on the same row")))
            return false;
        if (call % 64 == 0 && is_over(end))
            break;
    }
    growth_end(&of->growth);
    return growth_is_little(&of->growth);
}

/* A NaN in the first row, for one call. */
static bool call_after_nan(called_kernel *of)
{
    called_shape *shape = of->shapes;
    size_t size = dtype_size(shape->tensors.problem.storage);
    char kept[sizeof(double)], *place = shape->tensors.buffers[ROLE_X].fill;
    memcpy(kept, place, size);
    memset(place, POISON, size);
    kernel_run(&shape->kernel, &shape->tensors.given);
    memcpy(place, kept, size);
    return call_again(of, shape, "after a call with a NaN");
}

/* Flush-to-zero, and subnormals as zeros: rows of ordinary numbers have the same bits. */
static bool call_flushing(called_kernel *of)
{
#if defined(__x86_64__)
    enum { FLUSH = 0x8040 };
    unsigned before = _mm_getcsr();
    _mm_setcsr(before | FLUSH);
    kernel_run(&of->shapes->kernel, &of->shapes->tensors.given);
    bool kept = (_mm_getcsr() & FLUSH) == FLUSH;
    _mm_setcsr(before);
    if (!kept || !is_same(of->shapes))
        return order_fails(VERDICT_NONDETERMINISTIC, "other bits %s",
                           kept ? "where the caller flushes subnormals"
                                : "the caller's flush-to-zero was undone");
#else
    (void)of;
#endif
    return true;
}

/* ---- threads ---- */

typedef struct thread_job {
    const called_shape *shape;
    sem_t called;
    pthread_mutex_t leave;
    const char *changed; /* of a thread's state; NULL: nothing */
    bool same;
} thread_job;

static void *call_on_thread(void *context)
{
    enum { CALLS = 4 };
    thread_job *job = context;
    for (unsigned call = 0; job->same && !job->changed && call < CALLS; call++) {
        thread_state before, after;
        floating_point_read(&before);
        kernel_run(&job->shape->kernel, &job->shape->tensors.given);
        job->changed = floating_point_compare(&before, &after);
        job->same = is_same(job->shape);
    }
    sem_post(&job->called);
    pthread_mutex_lock(&job->leave);
    pthread_mutex_unlock(&job->leave);
    return NULL;
}

/* One after the other, and none ends before the last has called. */
static bool call_on_other_threads(called_kernel *of, size_t count)
{
    pthread_t threads[THREADS];
    thread_job job = {.shape = of->shapes, .leave = PTHREAD_MUTEX_INITIALIZER, .same = true};
    size_t started = 0;
    sem_init(&job.called, 0, 0);
    pthread_mutex_lock(&job.leave);
    double end = seconds_now() + often_seconds;
    while (started < count && (started < OWN_THREADS || seconds_now() < end) &&
           pthread_create(&threads[started], NULL, call_on_thread, &job) == 0) {
        started++;
        while (sem_wait(&job.called) != 0) /* a signal */
            ;
        worker_send_alive();
    }
    pthread_mutex_unlock(&job.leave);
    of->starved = started < count;
    while (started > 0)
        pthread_join(threads[--started], NULL);
    sem_destroy(&job.called);
    if (job.changed)
        return order_fails(VERDICT_STATE_CHANGED, "run() %s", job.changed);
    return job.same || order_fails(VERDICT_NONDETERMINISTIC, "other bits on another thread");
}

/* States that are made and dropped keep nothing. */
static bool prepare_often(called_kernel *of)
{
    double end = seconds_of(CLOCK_THREAD_CPUTIME_ID) + most_seconds;
    growth_watch watch = {0};
    const ln_kernel *kernel = of->kernel;
    for (unsigned i = 0; kernel->prepare && i < PREPARATIONS; i++) {
        void *state = NULL;
        if (i == PREPARATIONS / 8) {
            growth_is_little(&watch);
            take_growth(&watch.settled);
            watch.calls = 0;
        }
        if (kernel->prepare(&of->order->problem, &state) != 0 || is_over(end))
            break;
        if (kernel->release)
            kernel->release(state);
        watch.calls++;
        worker_send_alive();
    }
    if (watch.begun.threads == 0)
        return true;
    growth_end(&watch);
    of->growth.kept = fmax(of->growth.kept, watch.kept);
    return growth_is_little(&watch);
}

/* ---- set-up ---- */

/* One shape, where the kernel takes it, of inputs that begin as the order's, which come again and again
 * where it is longer. */
static bool make_shape(called_kernel *of, size_t number, size_t rows, size_t hidden)
{
    called_shape *shape = &of->shapes[number];
    const ln_plugin_table *plugin = plugin_of(of->order)->table;
    const operation *what = operations[of->order->operation];
    ln_problem problem = of->order->problem;
    problem.rows = rows;
    problem.hidden = hidden;
    problem_set_strides(&problem, hidden);
    if (number > 0 && kernel_refuses(of->kernel, &problem))
        return true;
    shape->order = *of->order;
    shape->order.layout = layout_named(LAYOUT_TIMED, what, hidden);
    char *memory =
        arena_new(&order_memory, char, ROLES_MOST *(rows * hidden * sizeof(double) + 64));
    char *end = memory;
    for (size_t i = 0; i < what->count; i++) {
        const tensor_role *role = &what->roles[i];
        off_t *at = &shape->order.at.tensors[i];
        size_t from = i == ROLE_RESIDUAL ? ROLE_X : i;
        role_extent extent = role_extent_of(role, &problem, LN_F64);
        role_extent known = role_extent_of(&what->roles[from], &of->order->problem, LN_F64);
        const char *given = worker_memory(of->order->at.tensors[from]);
        bool wanted = role->output ? i == what->result
                                   : role_is_parameter(role) || i == ROLE_X ||
                                         (i == ROLE_RESIDUAL && number == WITH_RESIDUAL);
        if (!wanted || of->order->at.tensors[from] < 0) {
            *at = -1;
            continue;
        }
        *at = end - memory;
        for (size_t byte = 0; !role->output && byte < extent_bytes(&extent); byte++)
            *end++ = given[byte % extent_bytes(&known)];
        end = memory + (end - memory + 63) / 64 * 64;
    }
    if (!tensors_create(&shape->tensors, &shape->order, memory, &problem, of->kernel->accumulator,
                        true))
        worker_out_of_memory(0);
    tensors_fill(&shape->tensors, 0, false);
    if (!kernel_prepare(&shape->kernel, &order_memory, plugin, of->kernel, &problem, 1))
        return false;
    kernel_run(&shape->kernel, &shape->tensors.given);
    shape->bytes = extent_bytes(&shape->tensors.extents[what->result]);
    shape->first = arena_new(&order_memory, char, shape->bytes);
    memcpy(shape->first, shape->tensors.given.y, shape->bytes);
    return true;
}

static bool make_shapes(called_kernel *of)
{
    const size_t rows = of->order->problem.rows, hidden = of->order->problem.hidden;
    return make_shape(of, 0, rows, hidden) && make_shape(of, 1, 2 * rows, (hidden / 2 - 1) | 1) &&
           make_shape(of, ONE_ROW, 1, hidden) &&
           (of->kernel->traits & LN_TRAIT_NO_RESIDUAL ||
            make_shape(of, WITH_RESIDUAL, 1, hidden)) &&
           make_shape(of, WIDE, 1, WIDE_HIDDEN);
}

void worker_call(const work_order *order, const ln_kernel *kernel)
{
    static called_kernel of; /* larger than a stack is to be */
    bool own_threads = kernel_has_threads(plugin_of(order)->table, kernel);
    thread_state before;
    of = (called_kernel){.kernel = kernel, .order = order};
    plugin_enter(&before);
    if (make_shapes(&of)) {
        memcpy(worker_memory(order->at.tensors[operations[order->operation]->result]),
               of.shapes->first, of.shapes->bytes);
        if (call_often(&of, (unsigned)order->count) && call_one_row(&of) && call_after_nan(&of) &&
            call_flushing(&of) && call_on_other_threads(&of, own_threads ? OWN_THREADS : THREADS))
            prepare_often(&of);
    }
    for (size_t i = 0; i < SHAPES; i++) {
        kernel_release(&of.shapes[i].kernel);
        tensors_destroy(&of.shapes[i].tensors);
    }
    plugin_leave(&before, "one of its functions");
    if (of.growth.kept > 0)
        order_fails(VERDICT_STATE_CHANGED, "each call keeps %.0f bytes of memory", of.growth.kept);
    else if (of.starved)
        order_fails(VERDICT_LOST, "the system has no more threads");
}
