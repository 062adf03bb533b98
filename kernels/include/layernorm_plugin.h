/* The plugin ABI, by which lnbench gets LayerNorm and RMSNorm kernels, its own and yours.
 *
 *     #include <layernorm_plugin.h>
 *     #include <stdbool.h>
 *     static void run(const void *state, const ln_tensors *tensors)
 *     {
 *         const ln_problem *problem = state;  // no prepare(): the state is the problem itself
 *         const float *x = tensors->x;
 *         float *y = tensors->y;           // lnbench sets every stride; elsewhere 0 means hidden
 *         for (size_t row = 0; row < problem->rows; row++)
 *             normalise(x + row * problem->x_stride, y + row * problem->y_stride, problem->hidden);
 *     }
 *     static const char *supports(const ln_problem *problem)
 *     {
 *         const ln_convention *convention = &problem->convention;
 *         bool mine = convention->eps_place == LN_EPS_VAR && convention->eps == 1e-5 &&
 *                     convention->ddof == 0 && convention->affine == LN_AFFINE_NONE;
 *         return mine ? NULL : "only eps 1e-5 in the variance, no affine";
 *     }
 *     static const ln_kernel kernels[] = {
 *         {.operation = LN_OPERATION_LAYERNORM, .name = "mine", .isa = "scalar", .storage = LN_F32,
 *          .param = LN_F32, .accumulator = LN_F32, .traits = LN_TRAIT_NO_RESIDUAL,
 *          .supports = supports, .run = run}};
 *     static const ln_plugin_table table = {.abi_version = LN_PLUGIN_ABI,
 *         .struct_size = sizeof(ln_plugin_table), .kernel_size = sizeof(ln_kernel), .name = "mine",
 *         .count = 1, .kernels = kernels};
 *     LN_API const ln_plugin_table *ln_plugin(void) { return &table; }
 *
 *     cc -shared -fPIC -O2 mine.c -o mine.so && lnbench run --plugin ./mine.so
 *
 * A kernel of RMSNorm has .operation = LN_OPERATION_RMSNORM. It reads the RMSNorm fields of ln_convention and the
 * weight in tensors->gamma, and writes 1 / root to tensors->rstd; beta and mean are NULL (rmsnorm.h). */
#ifndef LAYERNORM_PLUGIN_H
#define LAYERNORM_PLUGIN_H

#include "layernorm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* lnbench refuses a plugin with another number, or with the symbol of an older ABI. */
#define LN_PLUGIN_ABI 3u
#define LN_PLUGIN_SYMBOL "ln_plugin"

/* Traits: properties of a kernel that are not faults. */
typedef enum ln_trait {
    LN_TRAIT_FMA = 1u << 0,            /* multiplies and adds with one rounding */
    LN_TRAIT_NONTEMPORAL = 1u << 1,    /* stores around the caches */
    LN_TRAIT_ALIGNMENT_BITS = 1u << 2, /* output bits may depend on the alignment of the buffers */
    LN_TRAIT_FLUSHES_SUBNORMALS = 1u << 3, /* treats subnormals as zero */
    LN_TRAIT_NOT_IN_PLACE = 1u << 4,       /* y must not be x */
    /* Two promises. The bits of a row depend only on the row, gamma, beta and the convention, not on
     * other rows or on the row's place. The bits are the same on every ISA that has a kernel of this
     * name. The column `reproducible` of lnbench run shows what was measured. */
    LN_TRAIT_ROW_REPRODUCIBLE = 1u << 5,
    LN_TRAIT_ISA_REPRODUCIBLE = 1u << 6,
    LN_TRAIT_NO_RESIDUAL = 1u << 7, /* residual must be NULL */
    /* Each output is the exact value rounded once, mean and rstd to f32 (LN_ACCURACY_EXACT in
     * layernorm.h): a claim that lnbench checks in every case. */
    LN_TRAIT_CORRECTLY_ROUNDED = 1u << 8,
    /* In a plugin with set_threads(): this kernel uses the plugin's own threads. If no kernel of the
     * plugin has this trait, all of them do. */
    LN_TRAIT_OWN_THREADS = 1u << 9,
    /* The last rounding is that of storing y, and bound() includes at least u (|gamma_i| max_j |xhat_j| +
     * |beta_i|) for it, where u is half an ulp of 1. lnbench may replace this term by half an ulp of y,
     * which can be half as large. */
    LN_TRAIT_ROUNDED_LAST = 1u << 10
} ln_trait;

/* Facts of one row, computed exactly and rounded to double, from which a kernel computes its error
 * bound. mean_abs, var and max_dev are 0 only if they are exactly 0; smaller values than the smallest
 * double are rounded up to it. Subnormal values have few digits. */
typedef struct ln_row_facts {
    double mean;     /* exact mean */
    double mean_abs; /* sum |x| / N */
    double max_abs;  /* max |x| */
    double var;      /* biased variance, sum (x - mean)^2 / N */
    double max_dev;  /* max |x - mean| */
    double rstd;     /* the exact factor that multiplies (x - mean); NaN where it is undefined */
} ln_row_facts;

/* A proven bound for every element i of a row:
 *     |computed_i - exact_i| <= |gamma_i| * xhat_abs
 *                               + affine_rel * (|gamma_i| * max_j |xhat_j| + |beta_i|) + 2 s
 * where s is the smallest number of the storage type, so that 2 s is 2^-148 (f32), 2^-1073 (f64), 2^-132 (bf16) or
 * 2^-23 (f16); gamma_i is 1 and beta_i is 0 where the convention has none, gamma_i is 1 + g_i under gamma1, and xhat
 * includes eps under LN_EPS_QUOTIENT. The bound includes the rounding of y to the storage type. An element may be
 * finite or infinite if exact_i is within the bound of the value from which the storage type rounds to infinity, or if
 * gamma_i xhat_i without beta_i exceeds that value. An infinite xhat_abs means that the kernel has no bound for this
 * row (an intermediate may overflow, or cancellation may leave no correct digit).
 *
 * For RMSNorm gamma_i is the factor of xhat (the weight w_i, or 1 + w_i) and beta_i is 0; in the row's facts the mean
 * is 0, var and max_dev are those of x about 0, and rstd is 1 / root. */
typedef struct ln_bound {
    double xhat_abs;
    double affine_rel;
} ln_bound;

typedef struct ln_kernel {
    ln_operation operation; /* lnbench gives the kernel only problems of this operation */
    const char *name;       /* [a-z0-9_.-]{1,63}, unique in its plugin */
    const char *statistics; /* the algorithm for mean and variance, "" if not known */
    const char *apply;      /* "direct": (x - mean) * rstd; "two_mean": the mean in two floats, ...
                               (kernels/README.md); "" if not known */
    const char *schedule;   /* the order of rows and columns, "" if not known */
    const char *isa; /* "scalar", "neon", "avx2", "avx512" or "avx512bf16"; "any" if none of these
                               fits, for example if it chooses at run time; "" or NULL if not
                               known; a plugin with any other word is refused */
    ln_type storage; /* of x and y */
    ln_type param;   /* of gamma and beta */
    ln_type accumulator; /* of sums, mean and rstd */
    unsigned unroll;     /* vectors in one step of the loop */
    unsigned traits;     /* ln_trait, or-ed */

    /* Returns NULL if the kernel supports this problem on this CPU, else the reason in a few words. Called before all
     * other functions. A NULL pointer means that it supports every problem of this operation and these types. */
    const char *(*supports)(const ln_problem *problem);
    /* Set-up and tear-down, which are not timed; both NULL if there is none. prepare returns 0, or
     * non-zero on failure. The problem outlives the state. */
    int (*prepare)(const ln_problem *problem, void **state);
    void (*release)(void *state);
    /* The kernel. `state` comes from prepare, or is the problem if there is no prepare. docs/conformance.md lists what
     * a kernel must not change. */
    void (*run)(const void *state, const ln_tensors *tensors);
    /* Returns the proven bound for a row with these facts, in a call of any number of rows (problem->rows
     * is not the number that will run). A NULL pointer: the kernel has no bound. */
    ln_bound (*bound)(const ln_problem *problem, const ln_row_facts *facts);
    const char
        *role; /* "textbook" or "tuned": kernels/table/kernels.def; "library": ln_layernorm() or
                       * ln_rmsnorm() itself; NULL or "": not known */
    /* Returns a bound that may be smaller than bound() and holds for a row with a probability of at
     * least 1 - chance, 0 < chance < 1, if each error of an addition in the sums is random with mean
     * 0, given the errors before it. No verdict depends on it. NULL: there is none. */
    ln_bound (*probable_bound)(const ln_problem *problem, const ln_row_facts *facts, double chance);
} ln_kernel;

typedef struct ln_plugin_table {
    uint32_t abi_version; /* LN_PLUGIN_ABI */
    size_t struct_size;   /* sizeof(ln_plugin_table) as compiled */
    size_t kernel_size;   /* sizeof(ln_kernel) as compiled */
    const char *name;     /* [a-z0-9_.-]{1,63}; "layernorm" is the library's */
    size_t count;
    const ln_kernel *kernels;
    /* For a library with threads of its own: makes `run` use this many from now on. Returns 0, or
     * non-zero on failure. NULL: `run` computes its rows on the calling thread, and several threads
     * may call it at once with different states and rows; lnbench then splits the rows among the
     * threads of liblayernorm's pool and prepares a state for each. */
    int (*set_threads)(unsigned threads);
    /* The library behind the kernels and its version, if lnbench did not build it ("oneDNN 2.6.3");
     * recorded in every run. NULL or "": none. */
    const char *version;
} ln_plugin_table;

/* The one symbol that a plugin exports. liblayernorm exports it too, since lnbench loads its kernels
 * in the same way. lnbench refuses a plugin whose number or sizes differ from this header's. */
LN_API const ln_plugin_table *ln_plugin(void);

#ifdef __cplusplus
}
#endif

#endif
