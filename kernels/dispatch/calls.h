/* ln_layernorm() and ln_rmsnorm() themselves among the kernels that they choose from: what a caller gets,
 * with checks, choice and its own threads, is judged, timed and compared as library_fast_f32,
 * library_fast_rms_f32 and so on.
 *
 *     static const ln_kernel kernels[] = {LN_DESCRIBE_CALL(LAYERNORM, "", fast, f32, f32, f32, "f32")};
 */
#ifndef LN_CALLS_H
#define LN_CALLS_H

#include "layernorm_plugin.h"

/* row(class, storage, param, accumulator, types): each class for each pair of types that people
 * store; the type in which mean and rstd are given here, and how the pair is called. */
#define LN_CALL_TYPES(row, class)                                                                  \
    row(class, f32, f32, f32, "f32") row(class, bf16, bf16, f32, "bf16")                           \
        row(class, bf16, f32, f32, "bf16_param_f32") row(class, f16, f16, f32, "f16")              \
            row(class, f16, f32, f32, "f16_param_f32")
#define LN_CALL_F64(row, class) row(class, f64, f64, f64, "f64")
#define LN_CALL_F64_PARAM_F32(row, class) row(class, f64, f32, f64, "f64_param_f32")

#define LN_CALL_TRAITS_fast LN_TRAIT_OWN_THREADS
#define LN_CALL_TRAITS_accurate LN_TRAIT_OWN_THREADS
#define LN_CALL_TRAITS_reproducible                                                                \
    LN_TRAIT_OWN_THREADS | LN_TRAIT_ROW_REPRODUCIBLE | LN_TRAIT_ISA_REPRODUCIBLE
#define LN_CALL_TRAITS_exact LN_CALL_TRAITS_reproducible | LN_TRAIT_CORRECTLY_ROUNDED

/* An ln_kernel. `infix` is of the name. */
#define LN_DESCRIBE_CALL(OPERATION, infix, CLASS, STORAGE, PARAM, ACCUMULATOR, TYPES)              \
    {.operation = LN_OPERATION_##OPERATION,                                                        \
     .name = "library_" #CLASS infix "_" TYPES,                                                    \
     .statistics = "",                                                                             \
     .apply = "",                                                                                  \
     .schedule = "",                                                                               \
     .isa = "",                                                                                    \
     .storage = TYPE_##STORAGE,                                                                    \
     .param = TYPE_##PARAM,                                                                        \
     .accumulator = TYPE_##ACCUMULATOR,                                                            \
     .traits = LN_CALL_TRAITS_##CLASS,                                                             \
     .supports = ln_call_supports_##CLASS,                                                         \
     .prepare = ln_call_prepare_##CLASS,                                                           \
     .release = ln_call_release,                                                                   \
     .run = ln_call_run,                                                                           \
     .bound = ln_call_bound_##CLASS,                                                               \
     .role = "library",                                                                            \
     .probable_bound = ln_call_probable_##CLASS},

/* ---- Functions of descriptors ---- */

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

/* As ln_plugin_table's: the calls use this many threads of the library's pool. */
int ln_call_set_threads(unsigned threads);

#endif
