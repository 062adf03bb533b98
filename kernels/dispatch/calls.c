#include "calls.h"
#include "dispatch.h"
#include <stdlib.h>
#include <string.h>

/* Which of the two functions is called: 1 thread is ln_layernorm(). */
static unsigned call_threads = 1;

/* A call as its user would set it up. */
typedef struct call {
    const ln_front *front;
    ln_problem problem; /* or the operation's, which has its layout */
    /* Where the kernel taken has sums of another type than the descriptor says: room for its mean
     * and rstd, which are then converted. */
    ln_type from, to;
    void *mean, *rstd;
} call;

static ln_problem of_class(const void *problem, ln_accuracy accuracy)
{
    ln_problem own;
    memcpy(&own, problem, sizeof own);
    own.accuracy = accuracy;
    return own;
}

const char *ln_call_supports(const ln_front *front, const void *problem, ln_accuracy accuracy)
{
    const ln_problem own = of_class(problem, accuracy);
    int line = ln_dispatch(front->operation, &own);
    return line < 0 ? front->none : front->why_not(line, &own);
}

void ln_call_release(void *state)
{
    call *made = state;
    free(made->mean);
    free(made->rstd);
    free(made);
}

int ln_call_prepare(const ln_front *front, const void *problem, ln_accuracy accuracy, void **state)
{
    call *made = calloc(1, sizeof *made);
    if (!made)
        return 1;
    made->front = front;
    made->problem = of_class(problem, accuracy);
    int line = ln_dispatch(front->operation, &made->problem);
    made->from = line < 0 ? LN_F64 : front->accumulator(line);
    made->to = made->problem.storage == LN_F64 ? LN_F64 : LN_F32;
    if (made->from != made->to) {
        made->mean = calloc(made->problem.rows + 1, sizeof(double));
        made->rstd = calloc(made->problem.rows + 1, sizeof(double));
        if (!made->mean || !made->rstd) {
            ln_call_release(made);
            return 1;
        }
    }
    *state = made;
    return 0;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* A bound holds for every number of rows, and so is the largest of the kernels that the class takes
 * for some. */
ln_bound ln_call_bound(const ln_front *front, const void *problem, ln_accuracy accuracy,
                       const ln_row_facts *facts, double chance)
{
    const ln_problem own = of_class(problem, accuracy);
    int lines[LN_PLACES];
    size_t count = ln_dispatch_any_rows(front->operation, &own, lines);
    ln_bound all = {0};
    for (size_t i = 0; i < count; i++) {
        ln_bound its = front->bound(lines[i], &own, facts, chance);
        all.xhat_abs = larger(its.xhat_abs, all.xhat_abs);
        all.affine_rel = larger(its.affine_rel, all.affine_rel);
    }
    return all;
}

static void convert(const call *made, const void *from, void *to)
{
    for (size_t i = 0; to && i < made->problem.rows; i++)
        if (made->to == LN_F32)
            ((float *)to)[i] = (float)((const double *)from)[i];
        else
            ((double *)to)[i] = ((const float *)from)[i];
}

void ln_call_run(const void *state, const void *tensors)
{
    const call *made = state;
    ln_tensors own;
    memcpy(&own, tensors, sizeof own);
    void *mean = own.mean, *rstd = own.rstd;
    if (made->from != made->to && (mean || rstd)) {
        own.mean = made->mean;
        own.rstd = made->rstd;
    }
    made->front->call(&made->problem, &own, call_threads > 1);
    if (own.rstd != rstd) {
        convert(made, made->mean, mean);
        convert(made, made->rstd, rstd);
    }
}

int ln_call_set_threads(unsigned threads)
{
    call_threads = threads;
    return threads > 1 ? ln_set_threads(threads) != LN_OK : 0;
}
