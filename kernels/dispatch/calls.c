#include "calls.h"
#include "dispatch.h"
#include <stdlib.h>

/* Which of the two functions is called: 1 thread is ln_layernorm(). */
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

static const char *supports(const ln_problem *problem, ln_accuracy accuracy)
{
    const ln_problem own = of_class(problem, accuracy);
    const ln_kernel *kernel = ln_dispatch(&own);
    return kernel ? kernel->supports(&own)
                  : "ln_layernorm() has no kernel of this class for these types";
}

void ln_call_release(void *state)
{
    call *made = state;
    free(made->mean);
    free(made->rstd);
    free(made);
}

static int prepare_call(const ln_problem *problem, ln_accuracy accuracy, void **state)
{
    call *made = calloc(1, sizeof *made);
    if (!made)
        return 1;
    made->problem = of_class(problem, accuracy);
    made->from = ln_layernorm_accumulator(&made->problem);
    made->to = problem->storage == LN_F64 ? LN_F64 : LN_F32;
    if (made->from != made->to) {
        made->mean = calloc(problem->rows + 1, sizeof(double));
        made->rstd = calloc(problem->rows + 1, sizeof(double));
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
 * for some. chance: of probable_bound(); 0: proven. */
static ln_bound bound(const ln_problem *problem, ln_accuracy accuracy, const ln_row_facts *facts,
                      double chance)
{
    const ln_problem own = of_class(problem, accuracy);
    const ln_plugin *plugin = ln_plugin_v1();
    const ln_kernel *kernels[LN_PLACES];
    size_t count = ln_dispatch_any_rows(&own, kernels);
    ln_bound all = {0};
    for (size_t i = 0; i < count; i++) {
        const ln_kernel_facts *more = &plugin->facts[kernels[i] - plugin->kernels];
        ln_bound its =
            chance > 0 ? more->probable_bound(&own, facts, chance) : kernels[i]->bound(&own, facts);
        all.xhat_abs = larger(its.xhat_abs, all.xhat_abs);
        all.affine_rel = larger(its.affine_rel, all.affine_rel);
    }
    return all;
}

#define DEFINE_CALL(class, ACCURACY)                                                               \
    const char *ln_call_supports_##class(const ln_problem *problem)                                \
    {                                                                                              \
        return supports(problem, ACCURACY);                                                        \
    }                                                                                              \
    int ln_call_prepare_##class(const ln_problem *problem, void **state)                           \
    {                                                                                              \
        return prepare_call(problem, ACCURACY, state);                                             \
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
DEFINE_CALL(fast, LN_ACCURACY_FAST)
DEFINE_CALL(accurate, LN_ACCURACY_ACCURATE)
DEFINE_CALL(reproducible, LN_ACCURACY_REPRODUCIBLE)
DEFINE_CALL(exact, LN_ACCURACY_EXACT)

static void call_library(const ln_problem *problem, const ln_tensors *tensors)
{
    if (call_threads > 1)
        ln_layernorm_parallel(problem, tensors);
    else
        ln_layernorm(problem, tensors);
}

static void convert(const call *made, const void *from, void *to)
{
    for (size_t i = 0; to && i < made->problem.rows; i++)
        if (made->to == LN_F32)
            ((float *)to)[i] = (float)((const double *)from)[i];
        else
            ((double *)to)[i] = ((const float *)from)[i];
}

void ln_call_run(const void *state, const ln_tensors *tensors)
{
    const call *made = state;
    if (made->from == made->to || (!tensors->mean && !tensors->rstd)) {
        call_library(&made->problem, tensors);
        return;
    }
    ln_tensors own = *tensors;
    own.mean = made->mean;
    own.rstd = made->rstd;
    call_library(&made->problem, &own);
    convert(made, made->mean, tensors->mean);
    convert(made, made->rstd, tensors->rstd);
}

int ln_call_set_threads(unsigned threads)
{
    call_threads = threads;
    return threads > 1 ? ln_set_threads(threads) != LN_OK : 0;
}
