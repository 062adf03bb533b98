/* SPDX-License-Identifier: Apache-2.0 */
#include "loops.h"

/* Nothing but the loop. */
void c_empty(hayai_state *state, void *user)
{
    (void)user;
    for (int64_t n; (n = hayai_state_batch(state)) > 0;)
        for (int64_t i = 0; i < n; i++)
            hayai_clobber();
}

/* A chain of dependent operations: what stands beside it in the loop is hidden by its latency. */
void c_chain(hayai_state *state, void *user)
{
    const loop_data *data = user;
    const double factor = data->factor, addend = data->addend;
    double value = 1;
    for (int64_t n; (n = hayai_state_batch(state)) > 0;)
        for (int64_t i = 0; i < n; i++)
            value = value * factor + addend;
    hayai_do_not_optimize(value);
}

/* A small piece of work with a result in each iteration. */
void c_sum(hayai_state *state, void *user)
{
    const loop_data *data = user;
    for (int64_t n; (n = hayai_state_batch(state)) > 0;)
        for (int64_t i = 0; i < n; i++) {
            float sum = 0;
            for (int j = 0; j < LOOP_VALUES; j++)
                sum += data->values[j];
            hayai_do_not_optimize_in_out(sum); /* as C++ does with an lvalue */
        }
}

/* The other form: a call an iteration. */
void c_keep_running(hayai_state *state, void *user)
{
    (void)user;
    while (hayai_state_keep_running(state))
        hayai_clobber();
}
