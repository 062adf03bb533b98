#include "session/timed_group.h"
#include "conformance/timed_rows.h"
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
    begin.problem =
        problem_dense(&group->convention, group->dtype, group->param, group->rows, group->hidden);
    begin.operation = group->convention.operation;
    begin.block_rows = group->block_rows;
    begin.cache = group->cache;
    begin.threads = group->threads;
    begin.rotated_bytes = machine_rotated_bytes(machine, group->cache);
    return begin;
}

void timed_group_put(char *memory, off_t *end, off_t *at, const void *data, size_t bytes)
{
    *at = data ? *end : -1;
    if (!data)
        return;
    *end += (off_t)whole_lines(bytes);
    memcpy(memory + *at, data, bytes);
}

bool timed_group_place(const speed_group *group, const judge_block blocks[2],
                       worker_process *worker, size_t outputs, work_order *begin, off_t *end,
                       error *err)
{
    const operation *what = operations[begin->operation];
    size_t bytes = timed_group_bytes(group), row = group->hidden * sizeof(double);
    size_t varied = timed_rows_room(blocks), tensors = 2 + outputs;
    /* Each of them, the parameters and the varied rows may be up to a line longer. */
    kernel_runner *runner = worker_runner(worker);
    if (!runner->reserve(runner, tensors * bytes + varied + 2 * row + (tensors + 3) * LINE, err))
        return false;
    char *memory = runner->memory;
    begin->at.varied = 0;
    *end = (off_t)whole_lines(varied);
    timed_group_put(memory, end, &begin->at.tensors[ROLE_X], blocks[0].inputs[ROLE_X], bytes);
    timed_group_put(memory, end, &begin->at.x_other, blocks[1].inputs[ROLE_X], bytes);
    for (size_t i = 0; i < what->count; i++) {
        role_extent extent = role_extent_of(&what->roles[i], &begin->problem, group->dtype);
        if (role_is_parameter(&what->roles[i]) && !what->roles[i].output)
            timed_group_put(memory, end, &begin->at.tensors[i], blocks[0].inputs[i],
                            extent_bytes(&extent));
    }
    return true;
}
