#include "calls.h"
#include "dispatch.h"
#include "rmsnorm.h"
#include <stdlib.h>

/* Which function is called: with 1 thread ln_layernorm() or ln_rmsnorm(), else the parallel one. */
static unsigned call_threads = 1;

/* A call as its user would set it up. */
typedef struct call {
    ln_problem problem;
    /* Where the kernel taken has sums of another type than the descriptor says: room for its mean
     * and rstd, which are then converted. */
    ln_type from, to;
    void *mean, *rstd;
} call;

static ln_problem of_class(const ln_problem *problem, ln_accuracy accuracy)
{
    ln_problem own = *problem;
    own.accuracy = accuracy;
    return own;
}

/* NULL: there is none. */
static const ln_kernel *kernel_for(const ln_problem *problem)
{
    int line = ln_dispatch(problem);
    return line < 0 ? NULL : ln_kernel_at(problem->convention.operation, line);
}

static const char *supports(const ln_problem *problem, ln_accuracy accuracy)
{
    const ln_problem own = of_class(problem, accuracy);
    const ln_kernel *kernel = kernel_for(&own);
    if (kernel)
        return kernel->supports(&own);
    return own.convention.operation == LN_OPERATION_RMSNORM
               ? "ln_rmsnorm() has no kernel of this class for these types"
               : "ln_layernorm() has no kernel of this class for these types";
}

void ln_call_release(void *state)
{
    call *made = state;
    free(made->mean);
    free(made->rstd);
    free(made);
}

static int prepare(const ln_problem *problem, ln_accuracy accuracy, void **state)
{
    call *made = calloc(1, sizeof *made);
    if (!made)
        return 1;
    made->problem = of_class(problem, accuracy);
    const ln_kernel *kernel = kernel_for(&made->problem);
    made->from = kernel ? kernel->accumulator : LN_F64;
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
static ln_bound bound(const ln_problem *problem, ln_accuracy accuracy, const ln_row_facts *facts,
                      double chance)
{
    const ln_problem own = of_class(problem, accuracy);
    int lines[LN_PLACES];
    size_t count = ln_dispatch_any_rows(&own, lines);
    ln_bound all = {0};
    for (size_t i = 0; i < count; i++) {
        const ln_kernel *kernel = ln_kernel_at(own.convention.operation, lines[i]);
        ln_bound its =
            chance > 0 ? kernel->probable_bound(&own, facts, chance) : kernel->bound(&own, facts);
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

typedef ln_status call_function(const ln_problem *problem, const ln_tensors *tensors);

void ln_call_run(const void *state, const ln_tensors *tensors)
{
    static call_function *const functions[][2] = {
        [LN_OPERATION_LAYERNORM] = {ln_layernorm, ln_layernorm_parallel},
        [LN_OPERATION_RMSNORM] = {ln_rmsnorm, ln_rmsnorm_parallel}};
    const call *made = state;
    ln_tensors own = *tensors;
    void *mean = own.mean, *rstd = own.rstd;
    if (made->from != made->to && (mean || rstd)) {
        own.mean = made->mean;
        own.rstd = made->rstd;
    }
    functions[made->problem.convention.operation][call_threads > 1](&made->problem, &own);
    if (own.rstd != rstd) {
        convert(made, made->mean, mean);
        convert(made, made->rstd, rstd);
    }
}

#define CALL_OF_CLASS(class, ACCURACY)                                                             \
    const char *ln_call_supports_##class(const ln_problem *problem)                                \
    {                                                                                              \
        return supports(problem, ACCURACY);                                                        \
    }                                                                                              \
    int ln_call_prepare_##class(const ln_problem *problem, void **state)                           \
    {                                                                                              \
        return prepare(problem, ACCURACY, state);                                                  \
    }                                                                                              \
    ln_bound ln_call_bound_##class(const ln_problem *problem, const ln_row_facts *facts)           \
    {                                                                                              \
        return bound(problem, ACCURACY, facts, 0);                                                 \
    }                                                                                              \
    ln_bound ln_call_probable_##class(const ln_problem *problem, const ln_row_facts *facts,        \
                                      double chance)                                               \
    {                                                                                              \
        return bound(problem, ACCURACY, facts, chance);                                            \
    }
CALL_OF_CLASS(fast, LN_ACCURACY_FAST)
CALL_OF_CLASS(accurate, LN_ACCURACY_ACCURATE)
CALL_OF_CLASS(reproducible, LN_ACCURACY_REPRODUCIBLE)
CALL_OF_CLASS(exact, LN_ACCURACY_EXACT)

int ln_call_set_threads(unsigned threads)
{
    call_threads = threads;
    return threads > 1 ? ln_set_threads(threads) != LN_OK : 0;
}
