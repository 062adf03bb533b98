#include "worker/child/tensors.h"
#include "worker/child/internal.h"
#include <string.h>

bool parameters_create(guarded buffers[ROLES_MOST], const work_order *order)
{
    bool fine = true;
    for (size_t i = 0; fine && i < role_count(order); i++) {
        const tensor_role *role = role_of(order, i);
        off_t at = order->at.tensors[i];
        if (at < 0 || role->output || !role_is_parameter(role))
            continue;
        role_extent extent = role_extent_of(role, &order->problem, order->problem.storage);
        size_t bytes = extent_bytes(&extent);
        fine = guard_create(&buffers[i], role->name, bytes, GUARD_TIMED, GUARD_TIMED_READ_OFFSET) &&
               memcpy(buffers[i].data, worker_memory(at), bytes) && guard_protect(&buffers[i]);
    }
    return fine;
}

void buffers_set(const work_order *order, const guarded buffers[ROLES_MOST], ln_tensors *tensors)
{
    for (size_t i = 0; i < role_count(order); i++)
        if (buffers[i].map)
            role_set(i, tensors, buffers[i].data);
}

void buffers_destroy(guarded buffers[ROLES_MOST])
{
    for (size_t i = 0; i < ROLES_MOST; i++)
        guard_destroy(&buffers[i]);
}
