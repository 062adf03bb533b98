#include "worker/protocol.h"
#include "base/program.h"
#include "base/hash.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

worker_message message_for(message_kind kind, const kernel_entry *kernel)
{
    worker_message made = {.kind = kind,
                           .cpu = -1,
                           .threads = 1,
                           .x_offset = GUARD_TIMED_READ_OFFSET,
                           .y_offset = GUARD_TIMED_WRITE_OFFSET};
    memset(&made.at, 0xff, sizeof made.at); /* -1 each */
    if (kernel) {
        made.plugin = kernel->plugin;
        made.kernel = kernel->kernel;
        made.operation = kernel->facts.operation;
        snprintf(made.text, sizeof made.text, "%s", kernel->facts.name);
    }
    return made;
}

bool reply_was_interrupted(const worker_reply *reply)
{
    if (!interrupted() && reply->verdict == VERDICT_MISSING && reply->value != 0)
        die(EXIT_CODE_ENVIRONMENT, "%s", reply->text);
    return interrupted();
}

/* The file is as large as the system allows: a memory file takes memory only for pages that are written. */
void shared_arena_open(shared_arena *made)
{
    struct rlimit most;
    *made =
        (shared_arena){.file = memfd_create("lnbench-arena", MFD_CLOEXEC), .most = (size_t)1 << 44};
    if (getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur < made->most)
        made->most = most.rlim_cur;
    if (made->file < 0 || ftruncate(made->file, (off_t)made->most) != 0)
        die(EXIT_CODE_ENVIRONMENT, "memory file of the worker: %s", strerror(errno));
}

bool shared_arena_reach(shared_arena *of, size_t bytes)
{
    size_t wanted = of->mapped ? of->mapped : (size_t)16 << 20;
    if (bytes <= of->mapped)
        return true;
    if (bytes > of->most) {
        errno = EFBIG;
        return false;
    }
    while (wanted < bytes)
        wanted *= 2;
    wanted = wanted > of->most ? of->most : wanted;
    void *memory = of->mapped ? mremap(of->memory, of->mapped, wanted, MREMAP_MAYMOVE)
                              : mmap(NULL, wanted, PROT_READ | PROT_WRITE, MAP_SHARED, of->file, 0);
    if (memory == MAP_FAILED)
        return false;
    of->memory = memory;
    of->mapped = wanted;
    return true;
}

void shared_arena_close(shared_arena *of)
{
    if (of->mapped)
        munmap(of->memory, of->mapped);
    if (of->file >= 0)
        close(of->file);
    *of = (shared_arena){.file = -1};
}

/* ---- layouts ---- */

/* The gap of strided rows depends on hidden: a few elements, up to a multiple of 16 elements, or about hidden. */
call_layout layout_named(layout_name name, const operation *what, size_t hidden)
{
    static const guard_place places[LAYOUT_NAMES] = {GUARD_TIMED, GUARD_BEHIND, GUARD_BEFORE,
                                                     GUARD_BEHIND};
    const size_t whole = 16 - hidden % 16;
    const size_t gaps[3][4] = {
        {3, 5, 7, 11}, {whole, whole + 16, whole + 32, whole + 48}, {hidden, 1, hidden + 1, 2}};
    const bool in_place = name == LAYOUT_IN_PLACE, behind = name == LAYOUT_BEHIND;
    const bool strided = name == LAYOUT_BEFORE || (in_place && hidden % 2 == 1);
    call_layout made = {.at_once = 1};
    size_t tables = 0;
    for (size_t i = 0; i < what->count; i++) {
        const tensor_role *role = &what->roles[i];
        const size_t taken = in_place ? role_in_place(what, i) : i;
        const bool wanted =
            role_is_statistic(role) ? behind || name == LAYOUT_BEFORE : role->output && !behind;
        made.outputs |= wanted && i != what->result ? ROLE_BIT(i) : 0;
        made.tensors[i] = (tensor_layout){.lies_in = taken,
                                          .place = places[name],
                                          .offset = role->output ? GUARD_TIMED_WRITE_OFFSET
                                                                 : GUARD_TIMED_READ_OFFSET,
                                          .gap = !strided || role->shape != SHAPE_TABLE ? 0
                                                 : taken != i ? made.tensors[taken].gap
                                                              : gaps[hidden % 3][tables++ % 4]};
    }
    return made;
}

void layout_strides(const call_layout *layout, const operation *what, ln_problem *problem)
{
    for (size_t i = 0; i < what->count; i++)
        if (what->roles[i].shape == SHAPE_TABLE)
            *role_stride(&what->roles[i], problem) = problem->hidden + layout->tensors[i].gap;
}

static int compare_rows(const void *a, const void *b)
{
    const size_t *one = a, *other = b;
    return (*one > *other) - (*one < *other);
}

size_t large_rows(const ln_problem *problem, uint64_t seed, size_t rows[LARGE_ROWS])
{
    enum { ABOUT = 2, DRAWN = 12 };
    const size_t centres[] = {ABOUT,
                              (size_t)1 << 16,
                              (size_t)1 << 23,
                              ((size_t)1 << 31) / problem->x_stride,
                              ((size_t)1 << 32) / problem->x_stride,
                              problem->rows - 1};
    size_t count = 0, different = 0;
    for (size_t i = 0; i < sizeof centres / sizeof *centres; i++)
        for (size_t row = centres[i] - ABOUT; row <= centres[i] + ABOUT; row++)
            if (row < problem->rows)
                rows[count++] = row;
    for (uint64_t i = 0; i < DRAWN; i++) {
        uint32_t words[4];
        philox4x32(seed, i, 0x6c61726765, words);
        rows[count++] = (words[0] | (uint64_t)words[1] << 32) % problem->rows;
    }
    qsort(rows, count, sizeof *rows, compare_rows);
    for (size_t i = 0; i < count; i++)
        if (different == 0 || rows[different - 1] != rows[i])
            rows[different++] = rows[i];
    return different;
}
