/* Tests that need many calls or a huge tensor.
 *
 * GROW finds memory, file descriptors and threads whose number grows from call to call.
 * 1. Three shapes are prepared and called in turn: few rows, one row with a residual, and one long row.
 * 2. Between the tenth call and the last, open files, threads and memory of the process are counted.
 * 3. The last call must give the same bits as the first.
 * 4. States are prepared and released, which must keep nothing.
 *
 * CALL_LARGE makes one call on a tensor beyond 2^31 elements (worker/protocol.h says how it fits into memory).
 * 1. x, and a residual, are one block of rows in a memory file that is mapped repeatedly, read-only.
 * 2. Each output is mapped in the same way, but the judged rows have pages of their own, full of NaN.
 * 3. prepare(), run() and release() are called once; the floating-point state must not change.
 * 4. The judged rows go back to the parent. */
#include "base/clock.h"
#include "domain/operation.h"
#include "worker/child/internal.h"
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- growth ---- */

typedef struct process_growth {
    size_t files, threads;
    size_t bytes, resident; /* of all mappings, and of those in memory; 0: not known */
} process_growth;

/* The counts near the first call, after memory has settled, and now. */
typedef struct growth_watch {
    process_growth begun, settled, now;
    size_t calls; /* calls since memory settled */
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
#ifndef __SANITIZE_ADDRESS__ /* AddressSanitizer does not reuse freed memory */
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

/* Takes the counts the first time; later, if one of them has grown, the message fails, and it returns false. A few more
 * are allowed: a file may be opened late, and a pool may start its threads, each with a stack, one by one. */
static bool growth_is_little(growth_watch *watch)
{
    enum { FEW = 8, FEW_BYTES = 16 << 20, LOOKS = 20 };
    const process_growth *begun = &watch->begun, *now = &watch->now;
    take_growth(&watch->now);
    if (begun->threads == 0) {
        watch->begun = *now;
        return true;
    }
    size_t few = FEW + (size_t)sysconf(_SC_NPROCESSORS_CONF);
    for (int look = 0; look < LOOKS && now->threads > begun->threads + few; look++) {
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL); /* threads may be about to end */
        take_growth(&watch->now);
    }
    const struct {
        const char *what;
        size_t before, now, few;
    } counts[] = {
        {"threads", begun->threads, now->threads, few},
        {"file descriptors", begun->files, now->files, FEW},
        {"bytes of mappings", begun->bytes, now->threads > begun->threads ? 0 : now->bytes,
         FEW_BYTES},
    };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (counts[i].now > counts[i].before + counts[i].few)
            return message_fails(VERDICT_STATE_CHANGED,
                                 "run(): %s grow from call to call: %zu after the tenth, %zu later",
                                 counts[i].what, counts[i].before, counts[i].now);
    return true;
}

/* Checks the counts a last time, and the memory that each call kept. */
static bool growth_end(growth_watch *watch)
{
    enum { LEAST = 1 << 20 };
    if (watch->begun.threads == 0)
        return true;
    if (!growth_is_little(watch))
        return false;
    const size_t before = watch->settled.resident, now = watch->now.resident;
    const size_t kept = before > 0 && now > before + LEAST ? now - before : 0;
    return kept == 0 || message_fails(VERDICT_STATE_CHANGED, "each call keeps %.0f bytes of memory",
                                      (double)kept / (double)watch->calls);
}

/* ---- calls ---- */

enum { FEW_ROWS, WITH_RESIDUAL, LONG_ROW, SHAPES, LONG_HIDDEN = 4111, LONG_TURN = 16 };
enum { PREPARATIONS = 1000 }; /* of a state that is released without a call */

/* Seconds of processor time after which the calls end, and the preparations. */
static const double most_seconds = 10, most_prepare_seconds = 1;

/* A shape with its tensors and its prepared kernel. */
typedef struct called_shape {
    worker_message message; /* the message that `tensors` refers to */
    call_tensors tensors;
    prepared_kernel kernel;
    bool supported;
} called_shape;

/* Makes a shape. Its inputs are the message's, repeated as often as they fit. False: the message fails. */
static bool make_shape(const worker_message *message, const ln_kernel *kernel, called_shape *shape,
                       size_t rows, size_t hidden, bool residual)
{
    const operation *what = operations[message->operation];
    ln_problem problem = message->problem;
    problem.rows = rows;
    problem.hidden = hidden;
    problem_set_strides(&problem, hidden);
    if (kernel_refuses(kernel, &problem) || (residual && (kernel->traits & LN_TRAIT_NO_RESIDUAL)))
        return true;
    shape->message = *message;
    shape->message.layout = layout_named(LAYOUT_TIMED, what, hidden);
    char *memory =
        arena_new(&message_memory, char, ROLES_MOST *(rows * hidden * sizeof(double) + 64));
    char *end = memory;
    for (size_t i = 0; i < what->count; i++) {
        const tensor_role *role = &what->roles[i];
        off_t *at = &shape->message.at.tensors[i];
        size_t from = i == ROLE_RESIDUAL ? ROLE_X : i;
        role_extent extent = role_extent_of(role, &problem, LN_F64);
        role_extent known = role_extent_of(&what->roles[from], &message->problem, LN_F64);
        const char *given = worker_memory(message->at.tensors[from]);
        bool wanted = role->output ? i == what->result
                                   : role_is_parameter(role) || i == ROLE_X ||
                                         (i == ROLE_RESIDUAL && residual);
        if (!wanted || message->at.tensors[from] < 0) {
            *at = -1;
            continue;
        }
        *at = end - memory;
        for (size_t byte = 0; !role->output && byte < extent_bytes(&extent); byte++)
            *end++ = given[byte % extent_bytes(&known)];
        end = memory + (end - memory + 63) / 64 * 64;
    }
    if (!tensors_create(&shape->tensors, &shape->message, memory, &problem, kernel->accumulator,
                        true))
        worker_out_of_memory(0);
    tensors_fill(&shape->tensors, 0, false);
    shape->supported = kernel_prepare(&shape->kernel, &message_memory, plugin_of(message)->table,
                                      kernel, &problem, 1);
    return shape->supported;
}

/* Sends ALIVE every 0.2 s, which restarts the parent's deadline. */
static void send_alive(void)
{
    static const double pause = 0.2;
    static double last;
    if (seconds_now() - last < pause)
        return;
    last = seconds_now();
    worker_send(&(worker_reply){.kind = REPLY_ALIVE});
}

/* Calls the shapes in turn, and writes the output of the first call to shared memory. */
static bool call_often(const worker_message *message, const called_shape *shapes)
{
    const called_shape *first = &shapes[FEW_ROWS];
    const size_t calls = message->count;
    const size_t bytes = extent_bytes(&first->tensors.extents[first->tensors.what->result]);
    char *judged = worker_memory(message->at.tensors[first->tensors.what->result]);
    growth_watch watch = {0};
    double end = seconds_of(CLOCK_THREAD_CPUTIME_ID) + most_seconds;
    double late = seconds_now() + 4 * most_seconds;
    size_t call = 0;
    for (; call < calls; call++) {
        const called_shape *shape = call % LONG_TURN == LONG_TURN - 1 ? &shapes[LONG_ROW]
                                    : call % 2 == 1                   ? &shapes[WITH_RESIDUAL]
                                                                      : first;
        shape = shape->supported ? shape : first;
        if (call == calls / 8)
            take_growth(&watch.settled);
        if ((call == 10 || call == 100 || call == 1000) && !growth_is_little(&watch))
            return false;
        kernel_run(&shape->kernel, &shape->tensors.given);
        watch.calls += call >= calls / 8;
        if (call == 0)
            memcpy(judged, first->tensors.given.y, bytes);
        send_alive();
        if (call % 16 == 0 && (seconds_of(CLOCK_THREAD_CPUTIME_ID) > end || seconds_now() > late))
            break;
    }
    if (call < calls)
        snprintf(answer.text, sizeof answer.text, "slow: %zu of %zu calls were made", call, calls);
    kernel_run(&first->kernel, &first->tensors.given);
    return growth_end(&watch) &&
           (memcmp(judged, first->tensors.given.y, bytes) == 0 ||
            message_fails(VERDICT_NONDETERMINISTIC, "other bits after %zu calls", call));
}

/* Prepares and releases states, which must keep nothing. */
static bool prepare_often(const worker_message *message, const ln_kernel *kernel)
{
    double end = seconds_of(CLOCK_THREAD_CPUTIME_ID) + most_prepare_seconds;
    growth_watch watch = {0};
    for (unsigned i = 0; kernel->prepare && i < PREPARATIONS; i++) {
        void *state = NULL;
        if (i == PREPARATIONS / 8) {
            growth_is_little(&watch);
            take_growth(&watch.settled);
        }
        if (kernel->prepare(&message->problem, &state) != 0 ||
            seconds_of(CLOCK_THREAD_CPUTIME_ID) > end)
            break;
        if (kernel->release)
            kernel->release(state);
        watch.calls += i >= PREPARATIONS / 8;
        send_alive();
    }
    return growth_end(&watch);
}

void worker_grow(const worker_message *message, const ln_kernel *kernel)
{
    static called_shape shapes[SHAPES]; /* static, since it is too large for the stack */
    const size_t rows = message->problem.rows, hidden = message->problem.hidden;
    thread_state before;
    memset(shapes, 0, sizeof shapes);
    plugin_enter(&before);
    if (make_shape(message, kernel, &shapes[FEW_ROWS], rows, hidden, false) &&
        make_shape(message, kernel, &shapes[WITH_RESIDUAL], 1, hidden, true) &&
        make_shape(message, kernel, &shapes[LONG_ROW], 1, LONG_HIDDEN, false) &&
        shapes[FEW_ROWS].supported && call_often(message, shapes))
        prepare_often(message, kernel);
    for (size_t i = 0; i < SHAPES; i++) {
        kernel_release(&shapes[i].kernel);
        tensors_destroy(&shapes[i].tensors);
    }
    plugin_leave(&before, "one of its functions");
}

/* ---- large tensors ---- */

/* The least bytes of one mapping of a sparse tensor, since a process may have only some 65,000 mappings. A dense tensor
 * (at most most_dense bytes) has smaller ones, because all pages of its file are used. */
static const size_t least_block = (size_t)32 << 20, least_of_dense = (size_t)2 << 20;
static const size_t most_dense = (size_t)512 << 20;

typedef struct large_tensor {
    char *map; /* ends with a page that cannot be accessed */
    size_t size;
} large_tensor;

/* Maps a block of `bytes` bytes repeatedly until it fills `size` bytes. The block holds `rows` from byte `begin` on and
 * then the bytes before `begin`; rows NULL: zeros. */
static bool map_repeatedly(large_tensor *tensor, size_t size, const char *rows, size_t begin,
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
        fine = pwrite(file, rows + begin, bytes - begin, (off_t)at) == (ssize_t)(bytes - begin) &&
               pwrite(file, rows, begin, (off_t)(at + bytes - begin)) == (ssize_t)begin;
    char *map =
        mmap(NULL, size + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    fine = fine && map != MAP_FAILED;
    *tensor = (large_tensor){map == MAP_FAILED ? NULL : map, size + page};
    for (size_t at = 0; fine && at < size; at += block)
        fine = mmap(map + at, block < size - at ? block : size - at,
                    rows ? PROT_READ : PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
                    0) != MAP_FAILED;
    /* Map the pages of a dense tensor together, which saves a page fault for each. */
    if (fine && !rows && dense)
        madvise(map, size, MADV_POPULATE_READ);
    if (file >= 0)
        close(file); /* the mappings keep the file */
    return fine;
}

void worker_call_large(const worker_message *message, const ln_kernel *kernel)
{
    const operation *what = operations[message->operation];
    const ln_problem *problem = &message->problem;
    const size_t period = LARGE_PERIOD * problem->hidden * dtype_size(problem->storage);
    large_tensor large[ROLES_MOST] = {0};
    role_extent extents[ROLES_MOST];
    size_t judged[LARGE_ROWS], count = large_rows(problem, message->seed, judged);
    call_tensors parameters; /* gamma and beta, in ordinary buffers */
    worker_message small = *message;
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
        if (message->at.tensors[i] < 0 || role_is_parameter(role))
            continue;
        size_t first = i == ROLE_RESIDUAL ? LARGE_RESIDUAL_ROW : 0;
        fine = map_repeatedly(&large[i], extent_bytes(extent),
                              role->output ? NULL : worker_memory(message->at.tensors[ROLE_X]),
                              first * extent->row_bytes,
                              role->output ? LARGE_PERIOD * extent->row_bytes : period);
        for (size_t row = 0; fine && role->output && row < count; row++) {
            /* Give the judged row pages of its own, full of poison. */
            const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
            const uintptr_t begin = (uintptr_t)large[i].map + judged[row] * extent->stride_bytes;
            const size_t size =
                (begin + extent->row_bytes + page - 1) / page * page - begin / page * page;
            void *own = mmap((void *)(begin / page * page), size, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
            fine = own != MAP_FAILED;
            if (fine)
                memset(own, POISON, size);
        }
        for (size_t row = 0; fine && role->type == TYPE_ACCUMULATOR && row < count; row++)
            poison_statistics(large[i].map + judged[row] * extent->row_bytes, extent->row_bytes,
                              extent->row_bytes);
        role_set(i, &parameters.given, large[i].map);
    }
    if (!fine)
        worker_out_of_memory(0);
    prepared_kernel prepared;
    thread_state before;
    if (kernel_prepare(&prepared, &message_memory, plugin_of(message)->table, kernel, problem, 1)) {
        plugin_enter(&before);
        kernel_run(&prepared, &parameters.given);
        plugin_leave(&before, "run()");
    }
    kernel_release(&prepared);
    for (size_t role = 0; role < what->count; role++) {
        const role_extent *extent = &extents[role];
        for (size_t i = 0; large[role].map && what->roles[role].output && i < count; i++)
            memcpy(worker_memory(message->at.tensors[role]) + i * extent->row_bytes,
                   large[role].map + judged[i] * extent->stride_bytes, extent->row_bytes);
        if (large[role].map)
            munmap(large[role].map, large[role].size);
    }
    tensors_destroy(&parameters);
}
