/* One call on a tensor beyond 2^31 elements (worker/layout.h says how it fits into memory).
 *
 * 1. x, and a residual, are one block of rows in a memory file, mapped over and over, read-only.
 * 2. Each output is such a block, too, but has pages of its own, full of NaN, where a row is looked at.
 * 3. prepare(), run() and release() are called once; the floating-point state must be as it was.
 * 4. The rows that are looked at go back to the parent. */
#include "domain/poison.h"
#include "worker/child/internal.h"
#include <sys/mman.h>
#include <unistd.h>

/* The least that one mapping of a sparse tensor covers: a process may have some 65,000 of them. A dense one
 * has less memory, since all of its pages are used. */
static const size_t least_block = (size_t)32 << 20, least_of_dense = (size_t)2 << 20;
static const size_t most_dense = (size_t)512 << 20;

typedef struct large_tensor {
    char *map; /* ends with a page that cannot be accessed */
    size_t size;
} large_tensor;

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
    int file = memfd_create("lnbench-large", MFD_CLOEXEC);
    bool fine = file >= 0 && ftruncate(file, (off_t)block) == 0;
    for (size_t at = 0; fine && rows && at < block; at += bytes)
        fine = write_whole(file, rows + begin, bytes - begin) && write_whole(file, rows, begin);
    char *map =
        mmap(NULL, size + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    fine = fine && map != MAP_FAILED;
    *tensor = (large_tensor){map == MAP_FAILED ? NULL : map, size + page};
    for (size_t at = 0; fine && at < size; at += block)
        fine = mmap(map + at, block < size - at ? block : size - at,
                    rows ? PROT_READ : PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
                    0) != MAP_FAILED;
    /* Pages of a dense tensor are found many at once: each fault of a write would find one. */
    if (fine && !rows && dense)
        madvise(map, size, MADV_POPULATE_READ);
    if (file >= 0)
        close(file); /* the kernel need not see it */
    return fine;
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

void worker_call_large(const work_order *order, const ln_kernel *kernel)
{
    const operation *what = operations[order->operation];
    const ln_problem *problem = &order->problem;
    const size_t period = LARGE_PERIOD * problem->hidden * dtype_size(problem->storage);
    large_tensor large[ROLES_MOST] = {0};
    role_extent extents[ROLES_MOST];
    size_t looked[LARGE_ROWS], count = large_rows(problem, order->seed, looked);
    call_tensors parameters; /* in buffers of the usual size */
    work_order small = *order;
    small.layout = layout_named(LAYOUT_TIMED, what, problem->hidden);
    for (size_t i = 0; i < what->count; i++)
        if (!role_is_parameter(&what->roles[i]))
            small.at.tensors[i] = -1;
    bool fine =
        tensors_create(&parameters, &small, worker_memory(0), problem, kernel->accumulator, true);
    for (size_t i = 0; fine && i < what->count; i++) {
        const tensor_role *role = &what->roles[i];
        role_extent *extent = &extents[i];
        *extent = role_extent_of(role, problem, kernel->accumulator);
        if (order->at.tensors[i] < 0 || role_is_parameter(role))
            continue;
        size_t first = i == ROLE_RESIDUAL ? LARGE_RESIDUAL_ROW : 0;
        fine = map_over_and_over(&large[i], extent_bytes(extent),
                                 role->output ? NULL : worker_memory(order->at.tensors[ROLE_X]),
                                 first * extent->row_bytes,
                                 role->output ? LARGE_PERIOD * extent->row_bytes : period);
        for (size_t row = 0; fine && role->output && row < count; row++)
            fine = own_pages(large[i].map + looked[row] * extent->stride_bytes, extent->row_bytes);
        for (size_t row = 0; fine && role->type == TYPE_ACCUMULATOR && row < count; row++)
            poison_statistics(large[i].map + looked[row] * extent->row_bytes, extent->row_bytes,
                              extent->row_bytes);
        role_set(i, &parameters.given, large[i].map);
    }
    if (!fine)
        worker_out_of_memory(0);
    prepared_kernel prepared;
    thread_state before;
    if (kernel_prepare(&prepared, &order_memory, plugin_of(order)->table, kernel, problem, 1)) {
        plugin_enter(&before);
        kernel_run(&prepared, &parameters.given);
        plugin_leave(&before, "run()");
    }
    kernel_release(&prepared);
    for (size_t role = 0; role < what->count; role++) {
        const role_extent *extent = &extents[role];
        for (size_t i = 0; large[role].map && what->roles[role].output && i < count; i++)
            memcpy(worker_memory(order->at.tensors[role]) + i * extent->row_bytes,
                   large[role].map + looked[i] * extent->stride_bytes, extent->row_bytes);
        if (large[role].map)
            munmap(large[role].map, large[role].size);
    }
    tensors_destroy(&parameters);
}
