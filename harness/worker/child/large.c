/* One call on a tensor beyond 2^31 elements (worker/layout.h says how it fits into memory).
 *
 * 1. x, and a residual, are one block of rows in a memory file, mapped over and over, read-only.
 * 2. Each output is such a block, too, but has pages of its own, full of NaN, where a row is looked at.
 * 3. prepare(), run() and release() are called once; the floating-point state must be as it was.
 * 4. The rows that are looked at go back to the parent. */
#include "domain/poison.h"
#include "worker/child/internal.h"
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The least that one mapping of a sparse tensor covers: a process may have some 65,000 of them. A dense one
 * has less memory, since all of its pages are used. */
static const size_t least_block = (size_t)32 << 20, least_of_dense = (size_t)2 << 20;
static const size_t most_dense = (size_t)512 << 20;

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22 /* Linux 5.14; elsewhere it fails, and nothing is lost */
#endif

typedef struct large_tensor {
    char *map; /* ends with a page that cannot be accessed */
    size_t size;
    int block; /* memory file */
} large_tensor;

typedef struct large_bench {
    large_tensor tensors[ROLES_MOST]; /* by role; those that the order has */
    role_extent extents[ROLES_MOST];  /* likewise */
    guarded parameters[ROLES_MOST];
    size_t looked[LARGE_ROWS], count; /* at which rows of an output */
} large_bench;

static void unmap(large_tensor *tensor)
{
    if (tensor->map)
        munmap(tensor->map, tensor->size);
    if (tensor->block >= 0)
        close(tensor->block);
}

static bool write_whole(int file, const char *from, size_t bytes)
{
    ssize_t put;
    for (; bytes > 0; from += put, bytes -= (size_t)put)
        if ((put = write(file, from, bytes)) <= 0)
            return false;
    return true;
}

/* The block fills all of it, over and over; what it holds at first: `rows` from byte `begin` on, or
 * NULL: zeros. */
static bool map_over_and_over(large_tensor *tensor, size_t size, const char *rows, size_t begin,
                              size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), block = bytes;
    const bool dense = size <= most_dense;
    while (block < (dense ? least_of_dense : least_block))
        block += bytes;
    size = (size + page - 1) / page * page;
    tensor->block = memfd_create("lnbench-large", MFD_CLOEXEC);
    if (tensor->block < 0 || ftruncate(tensor->block, (off_t)block) != 0)
        return false;
    for (size_t at = 0; rows && at < block; at += bytes)
        if (!write_whole(tensor->block, rows + begin, bytes - begin) ||
            !write_whole(tensor->block, rows, begin))
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
    /* Pages of a dense tensor are found many at once: each fault of a write would find one. */
    if (!rows && dense)
        madvise(map, size, MADV_POPULATE_READ);
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

/* An output of which some rows are looked at. */
static bool make_output(const large_bench *bench, large_tensor *tensor, const role_extent *extent,
                        bool statistic)
{
    size_t bytes = extent->row_bytes;
    bool fine = map_over_and_over(tensor, extent_bytes(extent), NULL, 0, LARGE_PERIOD * bytes);
    for (size_t i = 0; fine && i < bench->count; i++)
        fine = own_pages(tensor->map + bench->looked[i] * extent->stride_bytes, bytes);
    for (size_t i = 0; fine && statistic && i < bench->count; i++)
        poison_statistics(tensor->map + bench->looked[i] * bytes, bytes, bytes);
    return fine;
}

static bool make_bench(large_bench *bench, const ln_kernel *kernel, const work_order *order)
{
    const ln_problem *problem = &order->problem;
    size_t bytes = LARGE_PERIOD * problem->hidden * dtype_size(problem->storage);
    bool fine = parameters_create(bench->parameters, order);
    for (size_t i = 0; fine && i < role_count(order); i++) {
        const tensor_role *role = role_of(order, i);
        role_extent *extent = &bench->extents[i];
        *extent = role_extent_of(role, problem, kernel->accumulator);
        if (order->at.tensors[i] < 0 || role_is_parameter(role))
            continue;
        size_t first = i == ROLE_RESIDUAL ? LARGE_RESIDUAL_ROW : 0;
        fine = role->output
                   ? make_output(bench, &bench->tensors[i], extent, role->type == TYPE_ACCUMULATOR)
                   : map_over_and_over(&bench->tensors[i], extent_bytes(extent),
                                       worker_memory(order->at.tensors[ROLE_X]),
                                       first * extent->row_bytes, bytes);
    }
    return fine;
}

static bool run_large(const ln_kernel *kernel, const work_order *order, const large_bench *bench)
{
    ln_tensors tensors = {0};
    buffers_set(order, bench->parameters, &tensors);
    for (size_t i = 0; i < role_count(order); i++)
        if (bench->tensors[i].map)
            role_set(i, &tensors, bench->tensors[i].map);
    ln_problem problem = order->problem;
    void *state = &problem;
    thread_state before;
    plugin_enter(&before);
    bool fine = !kernel->prepare || kernel->prepare(&problem, &state) == 0;
    if (fine)
        kernel->run(state, &tensors);
    if (fine && kernel->release)
        kernel->release(state);
    plugin_leave(&before, "one of its functions");
    return fine;
}

/* The rows that are looked at, of each output. */
static void hand_back(const large_bench *bench, const work_order *order)
{
    for (size_t role = 0; role < role_count(order); role++) {
        const role_extent *extent = &bench->extents[role];
        const char *map = bench->tensors[role].map;
        for (size_t i = 0; map && role_of(order, role)->output && i < bench->count; i++)
            memcpy(worker_memory(order->at.tensors[role]) + i * extent->row_bytes,
                   map + bench->looked[i] * extent->stride_bytes, extent->row_bytes);
    }
}

void worker_call_large(const worker_plugins *plugins, const work_order *order)
{
    const ln_kernel *kernel = worker_kernel(plugins, order);
    const char *refusal = kernel ? kernel_refuses(kernel, &order->problem) : "no such kernel";
    large_bench bench = {0};
    bench.count = large_rows(&order->problem, order->seed, bench.looked);
    for (size_t i = 0; i < ROLES_MOST; i++)
        bench.tensors[i].block = -1;
    if (!refusal)
        refusal = refuses_residual(kernel, order);
    if (refusal)
        worker_send_failed(VERDICT_DECLINED, 0, "%s", refusal);
    else if (!make_bench(&bench, kernel, order))
        worker_send_no_memory();
    else if (!run_large(kernel, order, &bench))
        worker_send_refusal(0, worker_unprepared());
    else {
        hand_back(&bench, order);
        worker_send_done("", 0);
    }
    for (size_t i = 0; i < ROLES_MOST; i++)
        unmap(&bench.tensors[i]);
    buffers_destroy(bench.parameters);
}
