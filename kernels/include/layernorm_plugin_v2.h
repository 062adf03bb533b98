/* The plugin ABI, version 2: kernels of several operations. Version 1 (layernorm_plugin.h) stays as it
 * is; a file may export the symbols of both.
 *
 *     #include <layernorm_plugin_v2.h>
 *     void rmsnorm(const float *x, const float *w, float *y, size_t hidden, double eps); // yours
 *     static void run(const void *state, const void *tensors)
 *     {
 *         const ln_rms_problem *problem = state;   // no prepare(): the state is the problem itself
 *         const ln_rms_tensors *given = tensors;   // every stride is given
 *         for (size_t row = 0; row < problem->rows; row++)
 *             rmsnorm((const float *)given->x + row * problem->x_stride, given->weight,
 *                     (float *)given->y + row * problem->y_stride, problem->hidden, problem->convention.eps);
 *     }
 *     static const char *supports(const void *problem)
 *     {
 *         const ln_rms_convention *convention = &((const ln_rms_problem *)problem)->convention;
 *         int mine = convention->eps_place == LN_EPS_VAR && convention->weight == LN_RMS_WEIGHT;
 *         return mine ? NULL : "only eps in the mean square, and a weight";
 *     }
 *     static const ln_kernel_v2 kernels[] = {
 *         {.operation = LN_OPERATION_RMSNORM, .name = "mine", .isa = "scalar", .storage = LN_F32,
 *          .param = LN_F32, .accumulator = LN_F32, .traits = LN_TRAIT_NO_RESIDUAL,
 *          .supports = supports, .run = run}};
 *     static const ln_plugin_v2_table plugin = {.abi_version = 2, .struct_size = sizeof plugin,
 *         .kernel_size = sizeof(ln_kernel_v2), .name = "mine", .count = 1, .kernels = kernels};
 *     LN_API const ln_plugin_v2_table *ln_plugin_v2(void) { return &plugin; }
 */
#ifndef LAYERNORM_PLUGIN_V2_H
#define LAYERNORM_PLUGIN_V2_H

#include "layernorm_plugin.h"
#include "rmsnorm.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LN_PLUGIN_ABI_V2 2u
#define LN_PLUGIN_SYMBOL_V2 "ln_plugin_v2"

/* What a kernel computes, and so what its functions are given: ln_problem and ln_tensors, or
 * ln_rms_problem and ln_rms_tensors. */
typedef enum ln_operation {
    LN_OPERATION_LAYERNORM = 0,
    LN_OPERATION_RMSNORM = 1,
} ln_operation;

/* As ln_kernel, and what ln_kernel_facts has. Of RMSNorm a bound (ln_bound) is of y with gamma the weight,
 * 1 + w where that is what x is multiplied by, and beta 0; in a row's facts the mean is 0, var and max_dev
 * are those of x itself, and rstd is 1 / root. */
typedef struct ln_kernel_v2 {
    ln_operation operation;
    const char *name;
    const char *statistics;
    const char *apply;
    const char *schedule;
    const char *isa;
    ln_type storage;
    ln_type param;
    ln_type accumulator;
    unsigned unroll;
    unsigned traits;
    const char *(*supports)(const void *problem);
    int (*prepare)(const void *problem, void **state);
    void (*release)(void *state);
    void (*run)(const void *state, const void *tensors);
    ln_bound (*bound)(const void *problem, const ln_row_facts *facts);
    ln_kernel_facts facts; /* all 0: nothing to say */
} ln_kernel_v2;

typedef struct ln_plugin_v2_table {
    uint32_t abi_version; /* LN_PLUGIN_ABI_V2 */
    size_t struct_size;   /* sizeof(ln_plugin_v2_table) as compiled */
    size_t kernel_size;   /* sizeof(ln_kernel_v2) as compiled: from one kernel to the next */
    const char *name;
    size_t count;
    const ln_kernel_v2 *kernels;
    int (*set_threads)(unsigned threads); /* as in ln_plugin, or NULL */
    const char *version;                  /* likewise */
} ln_plugin_v2_table;

LN_API const ln_plugin_v2_table *ln_plugin_v2(void);

#ifdef __cplusplus
}
#endif

#endif
