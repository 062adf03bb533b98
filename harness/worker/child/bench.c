#include "worker/child/bench.h"
#include "base/random.h"
#include "domain/poison.h"
#include "worker/child/checked_call.h"
#include "worker/child/scratch.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool fail_call(call_failure *failure, verdict_kind kind, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    failure->kind = kind;
    vsnprintf(failure->text, sizeof failure->text, format, arguments);
    va_end(arguments);
    return false;
}

bool refuse_call(call_failure *failure, const char *refusal)
{
    failure->refusal = refusal;
    return fail_call(failure, VERDICT_DECLINED, "%s", refusal);
}

static bool no_memory(call_bench *bench)
{
    return refuse_call(&bench->failure, worker_no_memory);
}

/* What plugin_blame() holds is the answer. */
static bool blamed(call_bench *bench)
{
    return fail_call(&bench->failure, VERDICT_STATE_CHANGED, "%s", "");
}

static const tensor_layout *layout_of(const call_bench *bench, size_t role)
{
    return &bench->order->layout.tensors[role];
}

/* Whether the call has the tensor. */
static bool has_tensor(const call_bench *bench, size_t role)
{
    return bench->order->at.tensors[role] >= 0;
}

/* Whether an output lies in the buffer of this input. */
static bool is_written(const call_bench *bench, size_t input)
{
    bool written = false;
    for (size_t i = 0; i < bench->what->count; i++)
        written |= i != input && has_tensor(bench, i) && layout_of(bench, i)->lies_in == input;
    return written;
}

bool bench_is_in_place(const call_bench *bench)
{
    bool found = false;
    for (size_t i = 0; i < bench->what->count; i++)
        found |= bench->buffers[i].map && !bench->what->roles[i].output && is_written(bench, i);
    return found;
}

/* ---- buffers ---- */

/* A row of `bytes` with one element in the place of another, drawn ones, or in reverse. */
static void alter_row(char *row, size_t bytes, size_t size, uint64_t *drawn)
{
    size_t count = bytes / size;
    uint64_t word = splitmix64(drawn);
    char kept[sizeof(double)];
    if (word & 1) {
        memcpy(row + (word >> 33) % count * size, row + (word >> 1) % count * size, size);
        return;
    }
    for (size_t i = 0; i < count / 2; i++) {
        memcpy(kept, row + i * size, size);
        memcpy(row + i * size, row + (count - 1 - i) * size, size);
        memcpy(row + (count - 1 - i) * size, kept, size);
    }
}

static bool fill_input(call_bench *bench, size_t i, size_t first, bool altered)
{
    guarded *buffer = &bench->buffers[i];
    const role_extent *extent = &bench->extents[i];
    uint64_t drawn = bench->order->seed + i;
    size_t from = role_is_parameter(&bench->what->roles[i]) ? 0 : first * extent->row_bytes;
    if (!guard_release(buffer))
        return false;
    rows_lay_out(buffer->fill, extent, worker_memory(bench->order->at.tensors[i]) + from);
    for (size_t row = 0; altered && row < extent->rows; row++)
        alter_row((char *)buffer->fill + row * extent->stride_bytes, extent->row_bytes,
                  extent->element, &drawn);
    return is_written(bench, i) || guard_protect(buffer);
}

bool bench_create(call_bench *bench, const ln_kernel *kernel, const work_order *order, size_t rows)
{
    bool fine = true;
    *bench = (call_bench){.kernel = kernel,
                          .order = order,
                          .what = operations[order->operation],
                          .problem = order->problem};
    ln_problem *problem = &bench->problem;
    problem->rows = rows;
    layout_strides(&order->layout, bench->what, problem);
    if (kernel_refuses(kernel, problem)) /* no strided rows: dense ones */
        problem_set_strides(problem, problem->hidden);
    for (size_t i = 0; fine && i < bench->what->count; i++) {
        const tensor_role *role = &bench->what->roles[i];
        const tensor_layout *layout = layout_of(bench, i);
        bench->extents[i] = role_extent_of(role, problem, kernel->accumulator);
        if (!has_tensor(bench, i))
            continue;
        if (layout->lies_in == i)
            fine = (role->output || is_written(bench, i) ? guard_create : guard_create_input)(
                       &bench->buffers[i], role->name, extent_bytes(&bench->extents[i]),
                       layout->place, layout->offset) &&
                   (role->output || !role_is_parameter(role) || fill_input(bench, i, 0, false));
        role_set(i, &bench->tensors, bench->buffers[layout->lies_in].data);
    }
    const char *written = guard_written_waiting();
    if (fine && written)
        return fail_call(&bench->failure, VERDICT_OVERRUN, "wrote to %s of an earlier call",
                         written);
    return fine || no_memory(bench);
}

void bench_destroy(call_bench *bench)
{
    bench_release(bench);
    for (size_t i = 0; i < ROLES_MOST; i++)
        scratch_give(bench->once[i], bench->buffers[i].size);
    buffers_destroy(bench->buffers);
}

bool bench_fill(call_bench *bench, size_t first, bool altered)
{
    bool fine = true, parameters = bench->order->layout.calls == CALLS_REPEATED;
    for (size_t i = 0; fine && i < bench->what->count; i++) {
        const tensor_role *role = &bench->what->roles[i];
        if (!bench->buffers[i].map)
            continue;
        if (role->output)
            poison_output(role, &bench->extents[i], bench->buffers[i].data);
        else if (parameters || !role_is_parameter(role))
            fine = fill_input(bench, i, first, altered);
    }
    return fine || no_memory(bench);
}

/* ---- calls ---- */

bool bench_prepare(call_bench *bench)
{
    thread_state before;
    plugin_enter(&before);
    bench->state = &bench->problem;
    bench->prepared =
        !bench->kernel->prepare || bench->kernel->prepare(&bench->problem, &bench->state) == 0;
    bool left = plugin_leave(&before, "prepare()");
    if (!bench->prepared)
        refuse_call(&bench->failure, worker_unprepared());
    return (left || blamed(bench)) && bench->prepared;
}

bool bench_release(call_bench *bench)
{
    thread_state before;
    bool prepared = bench->prepared;
    bench->prepared = false;
    if (!prepared || !bench->kernel->release)
        return true;
    plugin_enter(&before);
    bench->kernel->release(bench->state);
    return plugin_leave(&before, "release()") || blamed(bench);
}

bool bench_is_clean(call_bench *bench)
{
    for (size_t i = 0; i < bench->what->count; i++) {
        const guarded *buffer = &bench->buffers[i];
        long distance;
        bool changed = guard_slack_changed(buffer, &distance);
        if (changed && distance == 0)
            return fail_call(&bench->failure, VERDICT_OVERRUN,
                             "wrote right behind the end of %s, from its first byte on",
                             buffer->name);
        if (changed)
            return fail_call(&bench->failure, VERDICT_OVERRUN, "wrote %ld bytes %s %s",
                             labs(distance), distance < 0 ? "before" : "behind the end of",
                             buffer->name);
    }
    for (size_t i = 0; i < bench->what->count; i++)
        if (bench->buffers[i].map && bench->what->roles[i].output &&
            !gaps_are_whole(&bench->extents[i], bench->buffers[i].data))
            return fail_call(&bench->failure, VERDICT_OVERRUN,
                             "wrote between the rows of y or sum: it must heed y_stride and "
                             "sum_stride, or decline them in supports()");
    return true;
}

/* Fills the stack below with NaN: what a kernel takes from there uninitialised is to show. */
static __attribute__((noinline)) void spoil_stack(void)
{
    volatile unsigned char spoiled[8192];
    memset((void *)(uintptr_t)spoiled, POISON, sizeof spoiled);
    __asm__ volatile("" ::"r"(spoiled) : "memory");
}

void bench_call(call_bench *bench)
{
    bench->kernel->run(bench->state, &bench->tensors);
}

bool bench_run(call_bench *bench)
{
    thread_state before;
    const char *registers = NULL;
    bool upper_halves = false;
    plugin_enter(&before);
    spoil_stack();
    if (bench->split)
        split_run(bench->split, &bench->tensors);
    else
        registers = checked_call(bench->kernel->run, bench->state, &bench->tensors, &upper_halves);
    bool fine = plugin_leave(&before, "run()");
    fine = plugin_blame("run()", registers) && fine;
    bench->upper_halves |= upper_halves;
    if (bench->split)
        fine &= plugin_blame("run()", split_changed(bench->split));
    return (fine || blamed(bench)) && bench_is_clean(bench);
}

bool bench_keep(call_bench *bench)
{
    for (size_t i = 0; i < bench->what->count; i++) {
        const guarded *buffer = &bench->buffers[i];
        if (!buffer->map || !(bench->what->roles[i].output || is_written(bench, i)))
            continue;
        if (!bench->once[i] && !(bench->once[i] = scratch_take(buffer->size)))
            return no_memory(bench);
        memcpy(bench->once[i], buffer->data, buffer->size);
    }
    return true;
}

bool bench_is_same(const call_bench *bench)
{
    bool same = true;
    for (size_t i = 0; same && i < bench->what->count; i++)
        same = !bench->once[i] ||
               memcmp(bench->once[i], bench->buffers[i].data, bench->buffers[i].size) == 0;
    return same;
}

void bench_hand_back(const call_bench *bench, size_t first)
{
    for (size_t i = 0; i < bench->what->count; i++)
        if (bench->what->roles[i].output && has_tensor(bench, i))
            rows_gather(worker_memory(bench->order->at.tensors[i]) +
                            first * bench->extents[i].row_bytes,
                        role_get(i, &bench->tensors), &bench->extents[i]);
}
