/* One call on tensors beyond 2^31 elements (worker/large_rows.h has how). */
#include "worker/large_rows.h"
#include "domain/poison.h"
#include "worker/child/internal.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { POISON = 0xff };

/* The least that one mapping covers: a process may have some 65,000 of them. */
static const size_t least_block = (size_t)16 << 20;

typedef struct large_tensor {
    char *map; /* ends with a page that cannot be accessed */
    size_t size;
    int block; /* memory file */
} large_tensor;

typedef struct large_bench {
    large_tensor x, y, residual, sum, mean, rstd; /* the last four where the order asks for them */
    guarded gamma, beta;
    char *rows; /* LARGE_PERIOD of them */
} large_bench;

static void unmap(large_tensor *tensor)
{
    if (tensor->map)
        munmap(tensor->map, tensor->size);
    if (tensor->block >= 0)
        close(tensor->block);
}

/* The block fills all of it, over and over; what it holds at first: `rows` from byte `begin` on, or
 * NULL: zeros. */
static bool map_over_and_over(large_tensor *tensor, size_t size, const char *rows, size_t begin,
                              size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), block = bytes;
    while (block < least_block)
        block += bytes;
    size = (size + page - 1) / page * page;
    tensor->block = memfd_create("lnbench-large", MFD_CLOEXEC);
    if (tensor->block < 0 || ftruncate(tensor->block, (off_t)block) != 0)
        return false;
    for (size_t at = 0; rows && at < block; at += bytes)
        if (!arena_write(tensor->block, (off_t)at, rows + begin, bytes - begin) ||
            !arena_write(tensor->block, (off_t)(at + bytes - begin), rows, begin))
            return false;
    char *map =
        mmap(NULL, size + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED)
        return false;
    tensor->map = map;
    tensor->size = size + page;
    for (size_t at = 0; at < size; at += block)
        if (mmap(map + at, block < size - at ? block : size - at,
                 rows ? PROT_READ : PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, tensor->block,
                 0) == MAP_FAILED)
            return false;
    close(tensor->block); /* the kernel need not see it */
    tensor->block = -1;
    return true;
}

/* Pages of its own for a row of an output, with nothing written. */
static bool own_pages(char *row, size_t bytes)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)row / page * page;
    size_t size = ((uintptr_t)row + bytes - first + page - 1) / page * page;
    if (mmap((void *)first, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
             -1, 0) == MAP_FAILED)
        return false;
    memset((void *)first, POISON, size);
    return true;
}

static bool make_parameter(guarded *buffer, const char *name, off_t at, const work_order *order)
{
    size_t size = ln_parameter_elements(order->problem.convention.affine, order->problem.hidden) *
                  dtype_size(order->problem.param);
    return at < 0 || (guard_create(buffer, name, size, GUARD_TIMED, GUARD_TIMED_READ_OFFSET) &&
                      arena_read(WORKER_ARENA_FD, at, buffer->data, size) && guard_protect(buffer));
}

/* An output of which some rows are looked at: `bytes` of each, and the next one `stride` bytes on. */
static bool make_output(large_tensor *tensor, size_t size, size_t bytes, size_t stride,
                        const size_t *rows, size_t count)
{
    bool fine = map_over_and_over(tensor, size, NULL, 0, LARGE_PERIOD * bytes);
    for (size_t i = 0; fine && i < count; i++)
        fine = own_pages(tensor->map + rows[i] * stride, bytes);
    return fine;
}

/* Mean or rstd: one number a row. */
static bool make_statistic(large_tensor *tensor, const work_order *order, size_t size,
                           const size_t *rows, size_t count)
{
    bool fine = make_output(tensor, order->problem.rows * size, size, size, rows, count);
    for (size_t i = 0; fine && i < count; i++)
        poison_statistics(tensor->map + rows[i] * size, size, size);
    return fine;
}

static bool make_bench(large_bench *bench, const work_order *order, size_t statistic,
                       const size_t *rows, size_t count)
{
    const ln_problem *problem = &order->problem;
    size_t element = dtype_size(problem->storage), row_bytes = problem->hidden * element;
    size_t size = ((problem->rows - 1) * problem->x_stride + problem->hidden) * element;
    bench->rows = malloc(LARGE_PERIOD * row_bytes);
    bool fine = bench->rows &&
                arena_read(WORKER_ARENA_FD, order->at.x, bench->rows, LARGE_PERIOD * row_bytes) &&
                map_over_and_over(&bench->x, size, bench->rows, 0, LARGE_PERIOD * row_bytes) &&
                make_output(&bench->y, size, row_bytes, problem->y_stride * element, rows, count) &&
                make_parameter(&bench->gamma, "gamma", order->at.gamma, order) &&
                make_parameter(&bench->beta, "beta", order->at.beta, order);
    if (fine && order->at.residual >= 0)
        fine =
            map_over_and_over(&bench->residual, size, bench->rows, LARGE_RESIDUAL_ROW * row_bytes,
                              LARGE_PERIOD * row_bytes) &&
            make_output(&bench->sum, size, row_bytes, problem->sum_stride * element, rows, count) &&
            make_statistic(&bench->mean, order, statistic, rows, count) &&
            make_statistic(&bench->rstd, order, statistic, rows, count);
    return fine;
}

static bool run(const ln_kernel *kernel, const work_order *order, const large_bench *bench)
{
    ln_tensors tensors = {.x = bench->x.map,
                          .gamma = bench->gamma.data,
                          .beta = bench->beta.data,
                          .y = bench->y.map,
                          .residual = bench->residual.map,
                          .sum = bench->sum.map,
                          .mean = bench->mean.map,
                          .rstd = bench->rstd.map};
    ln_problem problem = order->problem;
    void *state = &problem;
    thread_state before;
    plugin_enter(&before);
    bool fine = !kernel->prepare || kernel->prepare(&problem, &state) == 0;
    process_state_record_children(); /* prepare() may run a compiler */
    if (fine)
        kernel->run(state, &tensors);
    if (fine && kernel->release)
        kernel->release(state);
    plugin_leave(&before, "one of its functions");
    return fine;
}

/* The rows that are looked at. */
static bool hand_back(const large_tensor *tensor, off_t at, size_t bytes, size_t stride,
                      const size_t *rows, size_t count)
{
    bool fine = true;
    for (size_t i = 0; fine && tensor->map && i < count; i++)
        fine = arena_write(WORKER_ARENA_FD, at + (off_t)(i * bytes), tensor->map + rows[i] * stride,
                           bytes);
    return fine;
}

static bool hand_all_back(const large_bench *bench, const work_order *order, size_t statistic,
                          const size_t *rows, size_t count)
{
    const ln_problem *problem = &order->problem;
    size_t element = dtype_size(problem->storage), bytes = problem->hidden * element;
    return hand_back(&bench->y, order->at.y, bytes, problem->y_stride * element, rows, count) &&
           hand_back(&bench->sum, order->at.sum, bytes, problem->sum_stride * element, rows,
                     count) &&
           hand_back(&bench->mean, order->at.mean, statistic, statistic, rows, count) &&
           hand_back(&bench->rstd, order->at.rstd, statistic, statistic, rows, count);
}

void worker_call_large(const worker_plugins *plugins, const work_order *order)
{
    const ln_kernel *kernel = worker_kernel(plugins, order);
    const char *refusal = kernel ? kernel_refuses(kernel, &order->problem) : "no such kernel";
    size_t rows[LARGE_ROWS], count = large_rows(&order->problem, order->seed, rows);
    size_t statistic = kernel ? dtype_size(kernel->accumulator) : 0;
    large_bench bench = {0};
    large_tensor *tensors[] = {&bench.x,   &bench.y,    &bench.residual,
                               &bench.sum, &bench.mean, &bench.rstd};
    for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++)
        tensors[i]->block = -1;
    if (!refusal && order->at.residual >= 0 && (kernel->traits & LN_TRAIT_NO_RESIDUAL))
        refusal = "it takes no residual";
    if (refusal)
        worker_send_failed(VERDICT_UNSUPPORTED, 0, "%s", refusal);
    else if (!make_bench(&bench, order, statistic, rows, count))
        worker_send_no_memory();
    else if (!run(kernel, order, &bench))
        worker_send_refusal(0, worker_unprepared());
    else if (!hand_all_back(&bench, order, statistic, rows, count))
        worker_send_no_memory();
    else
        worker_send_done("", 0);
    for (size_t i = 0; i < sizeof tensors / sizeof *tensors; i++)
        unmap(tensors[i]);
    guard_destroy(&bench.gamma);
    guard_destroy(&bench.beta);
    free(bench.rows);
}
