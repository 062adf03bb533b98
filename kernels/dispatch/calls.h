/* ln_layernorm() itself among the kernels that it chooses from: what a caller gets, with checks,
 * choice and its own threads, is judged, timed and compared as library_fast_f32 and so on. */
#ifndef LN_CALLS_H
#define LN_CALLS_H

#include "layernorm_plugin.h"

/* row(class, storage, param, accumulator, types): each class for each pair of types that people
 * store; the type in which mean and rstd are given here, and how the pair is called. */
#define LN_CALL_TYPES(row, class)                                                                  \
    row(class, f32, f32, f32, "f32") row(class, bf16, bf16, f32, "bf16")                           \
        row(class, bf16, f32, f32, "bf16_param_f32") row(class, f16, f16, f32, "f16")              \
            row(class, f16, f32, f32, "f16_param_f32")
/* `exact` has no kernel of f64. */
#define LN_CALL_TYPES_F64(row, class)                                                              \
    row(class, f64, f64, f64, "f64") row(class, f64, f32, f64, "f64_param_f32")
#define LN_CALL_TABLE(row)                                                                         \
    LN_CALL_TYPES(row, fast)                                                                       \
    LN_CALL_TYPES_F64(row, fast)                                                                   \
    LN_CALL_TYPES(row, accurate)                                                                   \
    LN_CALL_TYPES_F64(row, accurate)                                                               \
    LN_CALL_TYPES(row, reproducible)                                                               \
    LN_CALL_TYPES_F64(row, reproducible) LN_CALL_TYPES(row, exact)

#define LN_DECLARE_CALL(class)                                                                     \
    const char *ln_call_supports_##class(const ln_problem *problem);                               \
    int ln_call_prepare_##class(const ln_problem *problem, void **state);                          \
    ln_bound ln_call_bound_##class(const ln_problem *problem, const ln_row_facts *facts);          \
    ln_bound ln_call_probable_##class(const ln_problem *problem, const ln_row_facts *facts,        \
                                      double chance);
LN_DECLARE_CALL(fast)
LN_DECLARE_CALL(accurate)
LN_DECLARE_CALL(reproducible)
LN_DECLARE_CALL(exact)

void ln_call_release(void *state);
void ln_call_run(const void *state, const ln_tensors *tensors);

/* As ln_plugin's: the calls use this many threads of the library's pool. */
int ln_call_set_threads(unsigned threads);

#endif
