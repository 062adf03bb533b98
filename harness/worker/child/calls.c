/* Calls of a kernel by the ten thousand, as a program makes them: on two shapes in turn and one at a
 * time, of a single row more than 2^16, whatever y holds, after a call with a NaN, on other threads,
 * on several at once, in a forked process, where the caller flushes subnormals and after another state
 * was released. The rows stay the same, so the bits must. */
#include "base/random.h"
#include "base/seconds.h"
#include "domain/poison.h"
#include "worker/child/internal.h"
#include "worker/child/meet.h"
#include "worker/child/tensors.h"
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

enum {
    SHAPES = 2,
    ONE_ROW = SHAPES + MEETING_MOST - 1, /* behind the shapes that meet the first one */
    ALL_SHAPES,
    THREADS = 66,            /* more than a table of them has places */
    OWN_THREADS = 6,         /* of a library that makes some for each thread that calls */
    ONE_ROW_CALLS = 1 << 16, /* with those before: a counter of 16 bits goes round */
    CHANGES = 4,             /* of a tensor at its address; all but the first of one element */
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
    guarded other_x;
    called_shape shapes[ALL_SHAPES]; /* from SHAPES on the first, on x and other_x in turn */
    bool two_shapes, one_row;
    bool starved;        /* the system has not as many threads as were to call it */
    const char *where;   /* NULL: the bits are the same */
    const char *changed; /* of the state of another thread, or of mappings; NULL: nothing */
    const char *refusal; /* NULL, or why it could not be called */
    uint64_t drawn;
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

/* What calls made of the protection of tensors, and of code. */
static const char *protection_change(const call_bench *bench)
{
    static char made[NAME_MAX_LENGTH];
    for (size_t i = 0; i < ROLES_MOST; i++) {
        if (guard_is_protected(&bench->inputs[i]))
            continue;
        snprintf(made, sizeof made, "made %s writable", bench->inputs[i].name);
        return made;
    }
    return process_left_compare();
}

/* A quarter in turn, the rest of one shape at a time. */
static bool call_often(call_bench *bench, unsigned calls)
{
    unsigned call = 0;
    double end = seconds_of(CLOCK_THREAD_CPUTIME_ID) + often_seconds;
    double late = seconds_now() + 4 * often_seconds;
    for (; call < calls; call++) {
        bool second = call < calls / 4 ? call & 1 : call > 3 * (calls / 4);
        called_shape *shape = &bench->shapes[second && bench->two_shapes];
        if (call < calls / 2)
            vary_content(bench, shape, call);
        if (call == calls / 8)
            growth_settle(&bench->growth);
        if ((call == 10 || call == 100 || call == 1000) && growth_is_seen(&bench->growth))
            return false;
        if (!call_again(bench, shape,
                        call < calls / 4 ? "with two shapes in turn" : "on the same rows"))
            return false;
        if (call % 16 == 0 && (seconds_of(CLOCK_THREAD_CPUTIME_ID) > end || seconds_now() > late))
            break;
    }
    if (call < calls)
        add_remark(bench, "slow: %u of %u calls were made", call, calls);
    bench->changed = protection_change(bench);
    return !bench->changed && !growth_is_seen(&bench->growth);
}

static bool call_one_row(call_bench *bench)
{
    double end = seconds_of(CLOCK_THREAD_CPUTIME_ID) + most_seconds;
    for (unsigned call = 0; bench->one_row && call < ONE_ROW_CALLS; call++)
        if (!call_again(bench, &bench->shapes[ONE_ROW], "on the same row") ||
            (call % 64 == 0 && seconds_of(CLOCK_THREAD_CPUTIME_ID) > end))
            break;
    bench->kept = growth_kept(&bench->growth);
    return !bench->where;
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

/* The other rows where the first ones lay, and back again: an answer, or a sum, that was kept for an
 * address is not that of the rows that lie there. */
static bool call_on_changed_rows(call_bench *bench)
{
    called_shape *shape = bench->shapes, *other = &bench->shapes[SHAPES];
    char *kept = malloc(shape->y.size);
    bool fine = kept && guard_release(&bench->inputs[ROLE_X]);
    if (fine) {
        memcpy(kept, bench->inputs[ROLE_X].data, shape->y.size);
        memcpy(bench->inputs[ROLE_X].data, bench->other_x.data, shape->y.size);
        call_shape(bench, shape);
        if (other->first && memcmp(shape->y.data, other->first, shape->y.size) != 0)
            bench->where = "on other rows at the same address";
        memcpy(bench->inputs[ROLE_X].data, kept, shape->y.size);
        fine = guard_protect(&bench->inputs[ROLE_X]) && !bench->where &&
               call_again(bench, shape, "on rows that were changed and put back");
    }
    free(kept);
    return fine;
}

/* One element of the last row alone, while y holds the result of before: what is kept for the first
 * row, or for what y holds, is not that of these rows either. */
static bool call_on_changed_row(call_bench *bench, const work_order *order, bool drawn)
{
    called_shape *shape = bench->shapes, *other = &bench->shapes[SHAPES];
    const ln_problem *problem = &order->problem;
    size_t size = dtype_size(problem->storage), row = problem->hidden * size;
    char kept[sizeof(double)],
        *last = (char *)bench->inputs[ROLE_X].data + bench->inputs[ROLE_X].size - row;
    char *place =
        last + (drawn ? splitmix64(&bench->drawn) % problem->hidden : problem->hidden / 2) * size;
    if (!other->first || !guard_release(&bench->inputs[ROLE_X]) || !guard_release(&bench->other_x))
        return true;
    memcpy(kept, place, size);
    memcpy(place, bench->inputs[ROLE_X].data, size);
    call_shape(bench, shape);
    ln_tensors moved = other->tensors;
    char *wanted = malloc(bench->other_x.size);
    if (wanted) {
        memcpy(wanted, bench->other_x.data, bench->other_x.size);
        memcpy(bench->other_x.data, bench->inputs[ROLE_X].data, bench->inputs[ROLE_X].size);
        bench->kernel->run(other->state, &moved);
        memcpy(bench->other_x.data, wanted, bench->other_x.size);
        if (memcmp(shape->y.data, other->y.data, shape->y.size) != 0 ||
            (!drawn && memcmp((char *)shape->y.data + shape->y.size - row,
                              shape->first + shape->y.size - row, row) == 0))
            bench->where = "on rows of which the last was changed";
    }
    free(wanted);
    memcpy(place, kept, size);
    return guard_protect(&bench->inputs[ROLE_X]) && guard_protect(&bench->other_x) &&
           !bench->where && call_again(bench, shape, "on rows that were changed and put back");
}

/* A parameter with its elements in reverse, or with one element that takes the place of another, at
 * another address and at its own. */
static bool call_on_changed_parameter(call_bench *bench, const work_order *order, size_t role,
                                      bool drawn)
{
    static char where[NAME_MAX_LENGTH];
    called_shape *shape = bench->shapes;
    guarded *parameter = &bench->inputs[role];
    size_t size = dtype_size(order->problem.param), count = parameter->size / size;
    guarded reversed;
    if (!parameter->map)
        return true;
    char *kept = malloc(parameter->size), *wanted = malloc(shape->y.size);
    bool fine = kept && wanted && guard_release(parameter) &&
                guard_create(&reversed, parameter->name, parameter->size, GUARD_TIMED,
                             GUARD_TIMED_READ_OFFSET);
    if (fine) {
        memcpy(kept, parameter->data, parameter->size);
        memcpy(reversed.data, kept, parameter->size);
        for (size_t i = 0; !drawn && i < count; i++)
            memcpy((char *)reversed.data + i * size, kept + (count - 1 - i) * size, size);
        if (drawn)
            memcpy((char *)reversed.data + splitmix64(&bench->drawn) % count * size,
                   kept + splitmix64(&bench->drawn) % count * size, size);
        role_set(role, &shape->tensors, reversed.data);
        call_shape(bench, shape);
        memcpy(wanted, shape->y.data, shape->y.size);
        role_set(role, &shape->tensors, parameter->data);
        memcpy(parameter->data, reversed.data, parameter->size);
        call_shape(bench, shape);
        if (memcmp(wanted, shape->y.data, shape->y.size) != 0) {
            snprintf(where, sizeof where, "on another %s at the same address", parameter->name);
            bench->where = where;
        }
        memcpy(parameter->data, kept, parameter->size);
        guard_destroy(&reversed);
        fine = guard_protect(parameter) && !bench->where &&
               call_again(bench, shape, "on parameters that were changed and put back");
    }
    free(kept);
    free(wanted);
    return fine;
}

static bool call_on_changed_parameters(call_bench *bench, const work_order *order, bool drawn)
{
    bool fine = true;
    for (size_t i = 0; fine && i < role_count(order); i++)
        if (role_is_parameter(role_of(order, i)))
            fine = call_on_changed_parameter(bench, order, i, drawn);
    return fine;
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

/* Different rows, buffers, states and, but for two of them, shapes. */
static bool call_at_once(call_bench *bench)
{
    static const size_t order[MEETING_MOST] = {0, SHAPES + 1, SHAPES, SHAPES + 2, SHAPES + 3};
    thread_job jobs[MEETING_MOST];
    void *parties[MEETING_MOST];
    size_t count = 0;
    for (size_t i = 0; i < MEETING_MOST; i++) {
        called_shape *shape = &bench->shapes[order[i]];
        if (!shape->first)
            break;
        jobs[i] = (thread_job){.bench = bench, .shape = shape};
        parties[count++] = &jobs[i];
    }
    if (count > 1 && !worker_meet(call_job, parties, count))
        bench->where = "on several threads at once";
    return !bench->where;
}

/* What another state leaves behind is not this one's. */
static bool call_after_release(call_bench *bench)
{
    for (size_t i = ALL_SHAPES - 1; i > 0 && !bench->where; i--) {
        called_shape *shape = &bench->shapes[i];
        if (!shape->prepared)
            continue;
        bench->kernel->release(shape->state);
        shape->prepared = false;
        call_again(bench, bench->shapes, "after another prepared state was released");
    }
    return !bench->where;
}

/* ---- another process, another floating-point environment ---- */

/* The child says by its exit status whether the bits were the same, and never anything else: a
 * fault there is not to reach the parent's socket. */
static void call_in_child(call_bench *bench)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        signal(faults[i], SIG_DFL);
    call_shape(bench, bench->shapes);
    _exit(same_bits(bench->shapes) ? 0 : 1);
}

/* Threads that a kernel has for its work, as OpenMP's, do not live on in the child: where it waits for
 * them, whoever calls it after a fork has to know. */
static bool call_after_fork(call_bench *bench)
{
    static const char *const words[] = {[CHILD_FAILED] = "in a forked process",
                                        [CHILD_CRASHED] = "in a forked process: it crashes",
                                        [CHILD_HANGS] = "in a forked process: it does not return"};
    bool has_pool = threads_stay();
    pid_t child = fork();
    if (child < 0)
        return true;
    if (child == 0)
        call_in_child(bench);
    child_end end = worker_wait_for(child);
    process_state_record_children();
    if (end == CHILD_HANGS && has_pool)
        add_remark(bench, "%s", HANGS_IN_FORK);
    else
        bench->where = words[end];
    return !bench->where;
}

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

static bool make_shape(call_bench *bench, called_shape *shape, const ln_problem *problem, void *x)
{
    size_t bytes = problem->rows * problem->hidden * dtype_size(problem->storage);
    shape->problem = *problem;
    if (!guard_create(&shape->y, "y", bytes, GUARD_TIMED, GUARD_TIMED_WRITE_OFFSET))
        return false;
    memset(shape->y.data, POISON, bytes);
    buffers_set(bench->order, bench->inputs, &shape->tensors);
    shape->tensors.x = x;
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

/* In rows half as long, and odd. */
static ln_problem second_problem(const ln_problem *first)
{
    ln_problem second = *first;
    second.rows = 2 * first->rows;
    second.hidden = (first->hidden / 2 - 1) | 1;
    problem_set_strides(&second, second.hidden);
    return second;
}

/* x, and x with its first row last. */
static bool make_rows(call_bench *bench, const work_order *order)
{
    size_t row = order->problem.hidden * dtype_size(order->problem.storage);
    size_t bytes = order->problem.rows * row;
    if (!guard_create(&bench->inputs[ROLE_X], "x", bytes, GUARD_TIMED, GUARD_TIMED_READ_OFFSET) ||
        !guard_create(&bench->other_x, "x", bytes, GUARD_TIMED, GUARD_TIMED_READ_OFFSET) ||
        !arena_read(WORKER_ARENA_FD, order->at.tensors[ROLE_X], bench->inputs[ROLE_X].data, bytes))
        return false;
    char *other = bench->other_x.data;
    memcpy(other, (char *)bench->inputs[ROLE_X].data + row, bytes - row);
    memcpy(other + bytes - row, bench->inputs[ROLE_X].data, row);
    return guard_protect(&bench->inputs[ROLE_X]) && guard_protect(&bench->other_x);
}

static bool make_bench(call_bench *bench, const work_order *order, bool own_threads)
{
    ln_problem second = second_problem(&order->problem);
    bool fine = make_rows(bench, order) && parameters_create(bench->inputs, order) &&
                make_shape(bench, &bench->shapes[0], &order->problem, bench->inputs[ROLE_X].data);
    bench->two_shapes = fine && !kernel_refuses(bench->kernel, &second);
    if (bench->two_shapes)
        fine = make_shape(bench, &bench->shapes[1], &second, bench->inputs[ROLE_X].data);
    for (size_t i = SHAPES; fine && !own_threads && i < ONE_ROW; i++) {
        bool even = (i - SHAPES) % 2 == 0;
        fine = make_shape(bench, &bench->shapes[i],
                          even || !bench->two_shapes ? &order->problem : &second,
                          even ? bench->other_x.data : bench->inputs[ROLE_X].data);
    }
    ln_problem row = order->problem;
    row.rows = 1;
    bench->one_row = fine && !kernel_refuses(bench->kernel, &row);
    return fine && (!bench->one_row ||
                    make_shape(bench, &bench->shapes[ONE_ROW], &row, bench->inputs[ROLE_X].data));
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
    buffers_destroy(bench->inputs);
    guard_destroy(&bench->other_x);
}

/* A library with threads of its own is called from one thread at a time, and never after a fork:
 * those threads do not live on in the child. */
static bool call_everywhere(call_bench *bench, const work_order *order, bool own_threads)
{
    bool fine = call_often(bench, (unsigned)order->count) && call_one_row(bench) &&
                call_after_nan(bench, order) && call_on_changed_rows(bench);
    for (unsigned change = 0; fine && change < CHANGES; change++)
        fine = call_on_changed_row(bench, order, change > 0) &&
               call_on_changed_parameters(bench, order, change > 0);
    fine = fine && call_flushing(bench) &&
           call_on_other_threads(bench, own_threads ? OWN_THREADS : THREADS);
    return fine && (own_threads || (call_at_once(bench) && call_after_fork(bench))) &&
           call_after_release(bench);
}

void worker_call(const worker_plugins *plugins, const work_order *order)
{
    const ln_kernel *kernel = worker_kernel(plugins, order);
    const char *refusal = kernel ? kernel_refuses(kernel, &order->problem) : "no such kernel";
    if (refusal) {
        worker_send_failed(VERDICT_DECLINED, 0, "%s", refusal);
        return;
    }
    call_bench bench = {.kernel = kernel, .order = order, .drawn = order->seed};
    bool own_threads = kernel_has_threads(plugins->plugins[order->plugin], kernel);
    thread_state before;
    plugin_enter(&before);
    bool fine = make_bench(&bench, order, own_threads) &&
                arena_write(WORKER_ARENA_FD, order->at.tensors[ROLE_Y], bench.shapes[0].first,
                            bench.shapes[0].y.size) &&
                call_everywhere(&bench, order, own_threads);
    const char *where = bench.changed ? NULL : bench.where;
    double kept = bench.kept;
    bool changed = !plugin_blame("run()", bench.changed);
    changed |= !plugin_blame("run():", bench.growth.grown[0] ? bench.growth.grown : NULL);
    changed |= !plugin_blame("run()", fine && threads_stay() ? threads_spin() : NULL);
    free_bench(&bench);
    process_state_record_children();
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
