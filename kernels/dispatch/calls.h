/* ln_layernorm() and ln_rmsnorm() themselves among the kernels that they choose from: what a caller gets,
 * with checks, choice and its own threads, is judged, timed and compared as library_fast_f32,
 * library_fast_rms_f32 and so on.
 *
 *     LN_CALL_FUNCTIONS(layernorm, ln_problem, ln_tensors)     in the front of an operation
 *     LN_CALL_CLASS(layernorm, ln_problem, fast, LN_ACCURACY_FAST)
 *     ... {LN_DESCRIBE_CALL(layernorm, "", fast, f32, f32, f32, "f32")}
 *     static const ln_front layernorm_front = {...};
 */
#ifndef LN_CALLS_H
#define LN_CALLS_H

#include "layernorm_plugin_v2.h"
#include <stdbool.h>

/* What the calls of an operation ask of its front; problems and tensors are the operation's. */
typedef struct ln_front {
    ln_operation operation;
    const char *none; /* what is said where a class has no kernel of a problem's types */
    const char *(*why_not)(int line, const void *problem);
    /* chance: of probable_bound(); 0: proven. */
    ln_bound (*bound)(int line, const void *problem, const ln_row_facts *facts, double chance);
    ln_type (*accumulator)(int line);
    void (*call)(const void *problem, const void *tensors, bool parallel);
} ln_front;

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

/* Members of ln_kernel and of ln_kernel_v2 alike, and those of its facts. `infix` is of the name. */
#define LN_DESCRIBE_CALL(operation, infix, CLASS, STORAGE, PARAM, ACCUMULATOR, TYPES)              \
    .name = "library_" #CLASS infix "_" TYPES, .statistics = "", .apply = "", .schedule = "",      \
    .isa = "", .storage = TYPE_##STORAGE, .param = TYPE_##PARAM,                                   \
    .accumulator = TYPE_##ACCUMULATOR, .traits = LN_CALL_TRAITS_##CLASS,                           \
    .supports = operation##_supports_##CLASS, .prepare = operation##_prepare_##CLASS,              \
    .release = ln_call_release, .run = operation##_run, .bound = operation##_bound_##CLASS
#define LN_DESCRIBE_CALL_FACTS(operation, CLASS)                                                   \
    .role = "library", .family = "", .summation = "", .probable_bound = operation##_probable_##CLASS

/* ---- Functions of descriptors ---- */

#define LN_CALL_FUNCTIONS(operation, tensors_type)                                                 \
    static const ln_front operation##_front;                                                       \
    static void operation##_run(const void *state, const tensors_type *tensors)                    \
    {                                                                                              \
        ln_call_run(state, tensors);                                                               \
    }
#define LN_CALL_CLASS(operation, problem_type, class, ACCURACY)                                    \
    static const char *operation##_supports_##class(const problem_type *problem)                   \
    {                                                                                              \
        return ln_call_supports(&operation##_front, problem, ACCURACY);                            \
    }                                                                                              \
    static int operation##_prepare_##class(const problem_type *problem, void **state)              \
    {                                                                                              \
        return ln_call_prepare(&operation##_front, problem, ACCURACY, state);                      \
    }                                                                                              \
    static ln_bound operation##_bound_##class(const problem_type *problem,                         \
                                              const ln_row_facts *of_row)                          \
    {                                                                                              \
        return ln_call_bound(&operation##_front, problem, ACCURACY, of_row, 0);                    \
    }                                                                                              \
    static ln_bound operation##_probable_##class(const ln_problem *problem,                        \
                                                 const ln_row_facts *of_row, double chance)        \
    {                                                                                              \
        return ln_call_bound(&operation##_front, problem, ACCURACY, of_row, chance);               \
    }

const char *ln_call_supports(const ln_front *front, const void *problem, ln_accuracy accuracy);
int ln_call_prepare(const ln_front *front, const void *problem, ln_accuracy accuracy, void **state);
ln_bound ln_call_bound(const ln_front *front, const void *problem, ln_accuracy accuracy,
                       const ln_row_facts *facts, double chance);
void ln_call_release(void *state);
void ln_call_run(const void *state, const void *tensors);

/* As ln_plugin's: the calls use this many threads of the library's pool. */
int ln_call_set_threads(unsigned threads);

#endif
