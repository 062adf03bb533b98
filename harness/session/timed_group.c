#include "session/timed_group.h"
#include "referee/timed_rows.h"
#include <errno.h>
#include <string.h>

enum { LINE = 64 };

static size_t whole_lines(size_t bytes)
{
    return (bytes + LINE - 1) / LINE * LINE;
}

size_t timed_group_bytes(const speed_group *group)
{
    return group->block_rows * group->hidden * dtype_size(group->dtype);
}

work_order timed_group_order(const speed_group *group, const machine_facts *machine)
{
    work_order begin = worker_order(ORDER_TIME_BEGIN, NULL);
    begin.problem = (ln_problem){.rows = group->rows,
                                 .hidden = group->hidden,
                                 .x_stride = group->hidden,
                                 .y_stride = group->hidden,
                                 .residual_stride = group->hidden,
                                 .sum_stride = group->hidden,
                                 .storage = group->dtype,
                                 .param = group->param,
                                 .convention = group->convention};
    begin.block_rows = group->block_rows;
    begin.cache = group->cache;
    begin.threads = group->threads;
    begin.rotated_bytes = machine_rotated_bytes(machine, group->cache);
    return begin;
}

bool timed_group_put(int arena, off_t *end, off_t *at, const void *data, size_t bytes)
{
    *at = data ? *end : -1;
    if (data)
        *end += (off_t)whole_lines(bytes);
    return !data || arena_write(arena, *at, data, bytes);
}

bool timed_group_place(const speed_group *group, const judge_block blocks[2],
                       worker_process *worker, size_t outputs, work_order *begin, off_t *end,
                       error *err)
{
    size_t bytes = timed_group_bytes(group), row = group->hidden * sizeof(double);
    size_t parameters =
        ln_parameter_elements(group->convention.affine, group->hidden) * dtype_size(group->param);
    size_t varied = timed_rows_room(blocks), tensors = 2 + outputs;
    /* Each of them, gamma, beta and the varied rows may be up to a line longer. */
    kernel_runner *runner = worker_runner(worker);
    if (!runner->reserve(runner, tensors * bytes + varied + 2 * row + (tensors + 3) * LINE, err))
        return false;
    int arena = runner->arena;
    begin->at.varied = 0;
    *end = (off_t)whole_lines(varied);
    if (timed_group_put(arena, end, &begin->at.x, blocks[0].x, bytes) &&
        timed_group_put(arena, end, &begin->at.x_other, blocks[1].x, bytes) &&
        timed_group_put(arena, end, &begin->at.gamma, blocks[0].gamma, parameters) &&
        timed_group_put(arena, end, &begin->at.beta, blocks[0].beta, parameters))
        return true;
    return fail(err, EXIT_CODE_ENVIRONMENT, "memory file: %s", strerror(errno));
}
