/* The types of kernels/include/layernorm_plugin.h as they were at commit 224f8dd. */
#ifndef LAYERNORM_PLUGIN_H
#define LAYERNORM_PLUGIN_H

#include "layernorm.h"

#define LN_PLUGIN_ABI 1u
#define LN_PLUGIN_SYMBOL "ln_plugin_v1"

typedef enum ln_trait {
    LN_TRAIT_FMA = 1u << 0,
    LN_TRAIT_NONTEMPORAL = 1u << 1,
    LN_TRAIT_ALIGNMENT_BITS = 1u << 2,
    LN_TRAIT_FLUSHES_SUBNORMALS = 1u << 3,
    LN_TRAIT_NOT_IN_PLACE = 1u << 4,
    LN_TRAIT_ROW_REPRODUCIBLE = 1u << 5,
    LN_TRAIT_ISA_REPRODUCIBLE = 1u << 6,
    LN_TRAIT_NO_RESIDUAL = 1u << 7,
    LN_TRAIT_CORRECTLY_ROUNDED = 1u << 8,
    LN_TRAIT_OWN_THREADS = 1u << 9,
    LN_TRAIT_ROUNDED_LAST = 1u << 10
} ln_trait;

typedef struct ln_row_facts {
    double mean;
    double mean_abs;
    double max_abs;
    double var;
    double max_dev;
    double rstd;
} ln_row_facts;

typedef struct ln_bound {
    double xhat_abs;
    double affine_rel;
} ln_bound;

typedef struct ln_kernel {
    size_t struct_size;
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
    const char *(*supports)(const ln_problem *problem);
    int (*prepare)(const ln_problem *problem, void **state);
    void (*release)(void *state);
    void (*run)(const void *state, const ln_tensors *tensors);
    ln_bound (*bound)(const ln_problem *problem, const ln_row_facts *facts);
} ln_kernel;

typedef struct ln_kernel_facts {
    const char *role;
    const char *family;
    const char *summation;
    unsigned vector_bytes;
    unsigned lanes;
    unsigned chunk;
    unsigned tile;
    unsigned mean_parts;
    unsigned has_pivot;
    ln_bound (*probable_bound)(const ln_problem *problem, const ln_row_facts *facts, double chance);
} ln_kernel_facts;

typedef struct ln_plugin {
    uint32_t abi_version;
    size_t struct_size;
    const char *name;
    size_t count;
    const ln_kernel *kernels;
    int (*set_threads)(unsigned threads);
    const char *version;
    size_t facts_size;
    const ln_kernel_facts *facts;
} ln_plugin;

LN_API const ln_plugin *ln_plugin_v1(void);

#endif
