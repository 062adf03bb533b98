/* One call over several threads: who runs where, and how rows and bytes are split. A plugin with
 * threads of its own is told how many; every other kernel is run on parts of the rows over the
 * library's pool, as ln_layernorm_parallel() does it. */
#include "part.h"
#include "pool.h"
#include "worker/child/internal.h"
#include <sched.h>
#include <stdlib.h>

enum { LINE = 64 };

/* Where the threads of the timed group run; all zero where nobody is pinned. */
static struct {
    unsigned threads;
    bool pinned;
    int cpus[LN_THREADS_MAX];
    cpu_set_t all, first;
} crew;

const char worker_no_threads[] = "the system has no more threads";

static void pin_part(void *context, unsigned part)
{
    (void)context;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)crew.cpus[part], &set);
    if (part > 0)
        sched_setaffinity(0, sizeof set, &set);
}

/* `cpu`, then the others from the last to the first. False where there are too few. */
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

static unsigned pool_size;

/* Of those that are not the plugin's own. EAGAIN of pthread_create() may pass: a moment's want of memory
 * is no limit of threads. */
static bool resize_pool(unsigned threads)
{
    if (pool_size == threads)
        return true;
    bool fine = ln_pool_resize(threads) == LN_OK || ln_pool_resize(threads) == LN_OK;
    pool_size = fine ? threads : 0;
    return fine;
}

void worker_threads_judge(unsigned threads)
{
    crew.threads = threads;
    crew.pinned = false;
    if (threads == 1)
        resize_pool(threads);
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

/* Threads that a library creates may run wherever their creator may. */
void worker_threads_pin(bool own_threads)
{
    if (crew.pinned && crew.threads > 1)
        sched_setaffinity(0, sizeof crew.all, own_threads ? &crew.all : &crew.first);
}

bool plugin_has_threads(const ln_plugin_table *plugin)
{
    return plugin->set_threads;
}

bool kernel_has_threads(const ln_plugin_table *plugin, const ln_kernel *kernel)
{
    bool some = false;
    for (size_t i = 0; i < plugin->count; i++)
        some |= plugin->kernels[i].traits & LN_TRAIT_OWN_THREADS;
    return plugin_has_threads(plugin) && (!some || kernel->traits & LN_TRAIT_OWN_THREADS);
}

static bool split_allocate(split_kernel *split, const ln_problem *problem, unsigned parts)
{
    split->parts = problem->rows < parts ? (unsigned)problem->rows : parts;
    split->problems = calloc(split->parts, sizeof *split->problems);
    split->states = calloc(split->parts, sizeof *split->states);
    split->changed = calloc(split->parts, sizeof *split->changed);
    const ln_tensors none = {0};
    for (unsigned i = 0; split->problems && i < split->parts; i++)
        split->problems[i] = ln_part_of(problem, &none, LN_F32, split->parts, i).problem;
    return split->problems && split->states && split->changed;
}

const char *split_prepare(split_kernel *split, const ln_plugin_table *plugin,
                          const ln_kernel *kernel, const ln_problem *problem)
{
    *split = (split_kernel){.kernel = kernel, .problem = problem};
    split->own_threads = kernel_has_threads(plugin, kernel);
    if (split->own_threads && !plugin_set_threads(plugin, crew.threads))
        return "its set_threads() failed";
    if (!split->own_threads && !resize_pool(crew.threads))
        return worker_no_threads;
    if (!split_allocate(split, problem, split->own_threads ? 1 : crew.threads))
        return worker_no_memory;
    for (unsigned i = 0; i < split->parts; i++) {
        split->states[i] = &split->problems[i];
        if (kernel->prepare && kernel->prepare(&split->problems[i], &split->states[i]) != 0)
            return worker_unprepared();
        split->prepared++;
    }
    return NULL;
}

void split_release(split_kernel *split)
{
    for (unsigned i = 0; split->kernel->release && i < split->prepared; i++)
        split->kernel->release(split->states[i]);
    free(split->problems);
    free(split->states);
    free(split->changed);
}

typedef struct pool_call {
    const split_kernel *split;
    const ln_tensors *tensors;
} pool_call;

/* The pool's threads have the caller's floating-point control at each call. */
static void run_part(void *context, unsigned part)
{
    const pool_call *call = context;
    const split_kernel *split = call->split;
    thread_state before;
    const ln_tensors cut =
        ln_part_of(split->problem, call->tensors, split->kernel->accumulator, split->parts, part)
            .tensors;
    if (split->watched)
        floating_point_read(&before);
    split->kernel->run(split->states[part], &cut);
    if (split->watched)
        split->changed[part] = floating_point_compare(&before);
}

void split_run(const split_kernel *split, const ln_tensors *tensors)
{
    pool_call call = {split, tensors};
    if (split->parts == 1)
        split->kernel->run(split->states[0], tensors);
    else
        ln_pool_run(split->parts, run_part, &call);
}

const char *split_changed(const split_kernel *split)
{
    for (unsigned part = 0; part < split->parts; part++)
        if (split->changed[part])
            return split->changed[part];
    return NULL;
}

typedef struct copy_job {
    roof_function *roof;
    const char *x;
    char *y;
    size_t bytes;
} copy_job;

/* Whole cache lines, but for the last part. */
static void copy_part(void *context, unsigned part)
{
    const copy_job *copy = context;
    size_t lines = copy->bytes / LINE;
    size_t from = LINE * ln_part_begin(lines, crew.threads, part);
    size_t to = LINE * ln_part_begin(lines, crew.threads, part + 1);
    copy->roof(copy->x + from, copy->y + from,
               (part + 1 == crew.threads ? copy->bytes : to) - from);
}

void split_copy(roof_function *roof, const void *x, void *y, size_t bytes)
{
    copy_job copy = {roof, x, y, bytes};
    if (crew.threads <= 1)
        roof(x, y, bytes);
    else
        ln_pool_run(crew.threads, copy_part, &copy);
}
