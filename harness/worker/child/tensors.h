/* The tensors of a call by role, as an order has them: which there are, how they lie, and those that
 * all calls of an order share.
 *
 *     guarded buffers[ROLES_MOST] = {0};
 *     ln_tensors tensors = {0};
 *     if (!parameters_create(buffers, order)) ...     // of parameters: memory ran out
 *     buffers_set(order, buffers, &tensors);          // tensors.gamma, ...
 *     buffers_destroy(buffers);
 */
#ifndef LNBENCH_TENSORS_H
#define LNBENCH_TENSORS_H

#include "worker/child/guard.h"
#include "worker/protocol.h"

static inline const tensor_role *role_of(const work_order *order, size_t role)
{
    return &operations[order->operation]->roles[role];
}

static inline size_t role_count(const work_order *order)
{
    return operations[order->operation]->count;
}

/* Whether a kernel that takes no residual cannot serve the order. */
static inline const char *refuses_residual(const ln_kernel *kernel, const work_order *order)
{
    bool refused = order->at.tensors[ROLE_RESIDUAL] >= 0 && (kernel->traits & LN_TRAIT_NO_RESIDUAL);
    return refused ? "it takes no residual" : NULL;
}

/* The parameters of the order as in timing, read-only. buffers_destroy() them in either case. */
bool parameters_create(guarded buffers[ROLES_MOST], const work_order *order);
/* Points a call at the buffers that are in use; the rest of it stays as it is. */
void buffers_set(const work_order *order, const guarded buffers[ROLES_MOST], ln_tensors *tensors);
void buffers_destroy(guarded buffers[ROLES_MOST]);

#endif
