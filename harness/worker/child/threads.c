/* One call on several threads: the CPU of each thread, and the parts of rows and bytes. A plugin with threads of its
 * own is given their number; every other kernel runs on parts of the rows in the library's pool, as in
 * ln_layernorm_parallel(). */
#include "pool.h"
#include "worker/child/internal.h"
#include <sched.h>

enum { LINE = 64 };

/* The CPUs of the timed group's threads; all zero if they are not pinned. */
static struct {
    bool pinned;
    unsigned threads;
    int cpus[LN_THREADS_MAX];
    cpu_set_t all, first;
} crew;

/* Pins a thread of the pool; worker_threads_pin() pins the calling thread, which has part 0. */
static void pin_part(void *context, unsigned part)
{
    (void)context;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)crew.cpus[part], &set);
    if (part > 0)
        sched_setaffinity(0, sizeof set, &set);
}

/* Chooses `cpu` first, then the others from the last to the first. False: there are too few. */
static bool find_cpus(unsigned threads, int cpu)
{
    cpu_set_t allowed;
    unsigned found = 0;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return false;
    CPU_ZERO(&crew.all);
    CPU_ZERO(&crew.first);
    CPU_SET((size_t)cpu, &crew.first);
    crew.cpus[found++] = cpu;
    for (int other = CPU_SETSIZE; other-- > 0 && found < threads;)
        if (other != cpu && CPU_ISSET((size_t)other, &allowed))
            crew.cpus[found++] = other;
    for (unsigned i = 0; i < found; i++)
        CPU_SET((size_t)crew.cpus[i], &crew.all);
    return found == threads;
}

/* Sets the number of threads of the library's pool. Tries twice, since pthread_create() may fail with EAGAIN because
 * memory is short for a moment. */
static bool resize_pool(unsigned threads)
{
    static unsigned size;
    bool fine =
        size == threads || ln_pool_resize(threads) == LN_OK || ln_pool_resize(threads) == LN_OK;
    size = fine ? threads : 0;
    return fine || message_fails(VERDICT_MISSING, "the system has no more threads");
}

bool worker_threads_begin(unsigned threads, int cpu)
{
    crew.threads = threads;
    crew.pinned = cpu >= 0 && find_cpus(threads, cpu);
    if (crew.pinned)
        sched_setaffinity(0, sizeof crew.all, &crew.all);
    if (!resize_pool(threads))
        return false;
    if (crew.pinned && threads > 1)
        ln_pool_run(threads, pin_part, NULL);
    worker_threads_pin(false);
    return true;
}

/* The threads that a library creates inherit the CPUs of the thread that creates them. */
void worker_threads_pin(bool own_threads)
{
    if (crew.pinned && crew.threads > 1)
        sched_setaffinity(0, sizeof crew.all, own_threads ? &crew.all : &crew.first);
}

bool kernel_has_threads(const ln_plugin_table *plugin, const ln_kernel *kernel)
{
    bool some = false;
    for (size_t i = 0; i < plugin->count; i++)
        some |= plugin->kernels[i].traits & LN_TRAIT_OWN_THREADS;
    return plugin->set_threads && (!some || kernel->traits & LN_TRAIT_OWN_THREADS);
}

bool kernel_prepare(prepared_kernel *made, arena *memory, const ln_plugin_table *plugin,
                    const ln_kernel *kernel, const ln_problem *problem, unsigned threads)
{
    const ln_tensors none = {0};
    *made = (prepared_kernel){.plugin = plugin, .kernel = kernel, .problem = *problem, .parts = 1};
    made->own_threads = threads > 1 && kernel_has_threads(plugin, kernel);
    if (made->own_threads && !plugin_set_threads(plugin, threads))
        return message_fails(VERDICT_UNSUPPORTED, "its set_threads() failed");
    if (threads > 1 && !made->own_threads) {
        if (!resize_pool(threads))
            return false;
        made->parts = problem->rows < threads ? (unsigned)problem->rows : threads;
    }
    made->problems = arena_new(memory, ln_problem, made->parts);
    made->states = arena_new(memory, void *, made->parts);
    made->changed = arena_new(memory, const char *, made->parts);
    thread_state before;
    bool fine = true;
    plugin_enter(&before);
    for (unsigned i = 0; fine && i < made->parts; i++) {
        made->problems[i] = made->parts == 1
                                ? *problem
                                : ln_part_of(problem, &none, LN_F32, made->parts, i).problem;
        made->states[i] = &made->problems[i];
        fine = !kernel->prepare || kernel->prepare(&made->problems[i], &made->states[i]) == 0;
        made->prepared += fine;
    }
    if (!fine && plugin == own_library) /* our prepare() fails only for want of memory */
        worker_out_of_memory(0);
    bool left = plugin_leave(&before, "prepare()");
    return (fine || message_fails(VERDICT_UNSUPPORTED, "its prepare() failed")) && left;
}

bool kernel_release(prepared_kernel *of)
{
    thread_state before;
    bool fine = true;
    if (of->prepared > 0 && of->kernel->release) {
        plugin_enter(&before);
        for (unsigned i = 0; i < of->prepared; i++)
            of->kernel->release(of->states[i]);
        fine = plugin_leave(&before, "release()");
    }
    if (of->own_threads)
        plugin_set_threads(of->plugin, 1);
    *of = (prepared_kernel){0};
    return fine;
}

typedef struct pool_call {
    const prepared_kernel *of;
    const ln_tensors *tensors;
} pool_call;

/* Runs the kernel on one part of the rows. The pool gives its threads the caller's floating-point control. */
static void run_part(void *context, unsigned part)
{
    const pool_call *call = context;
    const prepared_kernel *of = call->of;
    thread_state before, after;
    const ln_tensors cut =
        ln_part_of(&of->problem, call->tensors, of->kernel->accumulator, of->parts, part).tensors;
    if (of->watched)
        floating_point_read(&before);
    of->kernel->run(of->states[part], &cut);
    if (of->watched)
        of->changed[part] = floating_point_compare(&before, &after);
}

void kernel_run(const prepared_kernel *of, const ln_tensors *tensors)
{
    pool_call call = {of, tensors};
    if (of->parts == 1)
        of->kernel->run(of->states[0], tensors);
    else
        ln_pool_run(of->parts, run_part, &call);
}

const char *kernel_changed(const prepared_kernel *of)
{
    for (unsigned part = 0; part < of->parts; part++)
        if (of->changed[part])
            return of->changed[part];
    return NULL;
}

typedef struct copy_job {
    copy_function *copier;
    unsigned threads;
    const char *x;
    char *y;
    size_t bytes;
} copy_job;

/* Copies one part, which is whole cache lines except for the last part. */
static void copy_part(void *context, unsigned part)
{
    const copy_job *copy = context;
    size_t from = LINE * ln_part_begin(copy->bytes / LINE, copy->threads, part);
    size_t to = LINE * ln_part_begin(copy->bytes / LINE, copy->threads, part + 1);
    copy->copier(copy->x + from, copy->y + from,
                 (part + 1 == copy->threads ? copy->bytes : to) - from);
}

void copy_run(copy_function *copier, unsigned threads, const void *x, void *y, size_t bytes)
{
    copy_job copy = {copier, threads, x, y, bytes};
    if (threads <= 1)
        copier(x, y, bytes);
    else
        ln_pool_run(threads, copy_part, &copy);
}
