/* The plugin ABI: how a LayerNorm or RMSNorm kernel comes to lnbench, ours as well as anybody's.
 *
 *     #include <layernorm_plugin.h>
 *     #include <stdbool.h>
 *     static void run(const void *state, const ln_tensors *tensors)
 *     {
 *         const ln_problem *problem = state;  // no prepare(): the state is the problem itself
 *         const float *x = tensors->x;
 *         float *y = tensors->y;           // lnbench gives every stride; elsewhere 0 is hidden
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
 * A kernel of RMSNorm has .operation = LN_OPERATION_RMSNORM. Its convention is in the fields of ln_convention
 * that are RMSNorm's, its weight is tensors->gamma, and its 1 / root goes to tensors->rstd; beta and mean are
 * NULL (rmsnorm.h).
 */
#ifndef LAYERNORM_PLUGIN_H
#define LAYERNORM_PLUGIN_H

#include "layernorm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* lnbench refuses a file with another number, or with the symbol of an older ABI, in one line. */
#define LN_PLUGIN_ABI 3u
#define LN_PLUGIN_SYMBOL "ln_plugin"

/* Traits: properties of a kernel that are facts, not faults. */
typedef enum ln_trait {
    LN_TRAIT_FMA = 1u << 0,            /* multiplies and adds with one rounding */
    LN_TRAIT_NONTEMPORAL = 1u << 1,    /* stores around the caches */
    LN_TRAIT_ALIGNMENT_BITS = 1u << 2, /* output bits may depend on the alignment of the buffers */
    LN_TRAIT_FLUSHES_SUBNORMALS = 1u << 3, /* treats subnormals as zero */
    LN_TRAIT_NOT_IN_PLACE = 1u << 4,       /* y must not be x */
    /* Promises: the bits of a row depend on the row, gamma, beta and the convention alone, neither on
     * other rows nor on where the row lies; and are the same on every ISA that has a kernel of this
     * name. The column `reproducible` of lnbench run shows what was measured. */
    LN_TRAIT_ROW_REPRODUCIBLE = 1u << 5,
    LN_TRAIT_ISA_REPRODUCIBLE = 1u << 6,
    LN_TRAIT_NO_RESIDUAL = 1u << 7, /* x is taken as it is: residual must be NULL */
    /* Each output is the exact value rounded once, mean and rstd to f32 (LN_ACCURACY_EXACT in
     * layernorm.h): a claim that lnbench checks in every case. */
    LN_TRAIT_CORRECTLY_ROUNDED = 1u << 8,
    /* Of a plugin with set_threads() whose kernels do not all have threads of their own: this one
     * has. Where no kernel says so, all have. */
    LN_TRAIT_OWN_THREADS = 1u << 9,
    /* Storing y is its last rounding, and the bound has that as u (|gamma_i| max_j |xhat_j| +
     * |beta_i|) or more, u half an ulp of 1: so half a unit in the last place of y can stand for it,
     * which may be half of that. */
    LN_TRAIT_ROUNDED_LAST = 1u << 10
} ln_trait;

/* Facts of one row, computed exactly and rounded to double, from which a kernel states its error
 * bound. mean_abs, var and max_dev are 0 only where they are exactly 0: the smallest double stands
 * for what is below it. Subnormal ones have few digits. */
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
 * where s is the smallest number of the storage type, so that 2 s is 2^-148 (f32), 2^-1073 (f64),
 * 2^-132 (bf16) or 2^-23 (f16); gamma_i is 1 and beta_i is 0 where the convention has none, gamma_i
 * is 1 + g_i under gamma1, and xhat includes eps under LN_EPS_QUOTIENT. The rounding of y to the
 * storage type is in it. An element whose exact_i comes nearer than that to where the storage type
 * rounds to infinity may be infinite or finite; so may one whose gamma_i xhat_i lies beyond, though
 * beta_i brings it back. An infinite xhat_abs means: no claim for this row
 * (an intermediate may overflow, or cancellation leaves nothing).
 *
 * For RMSNorm gamma_i is the weight, 1 + w_i where that is what xhat is multiplied by, and beta_i is 0; in the
 * row's facts the mean is 0, var and max_dev are those of x about 0, and rstd is 1 / root. */
typedef struct ln_bound {
    double xhat_abs;
    double affine_rel;
} ln_bound;

typedef struct ln_kernel {
    ln_operation operation; /* lnbench gives the kernel problems of this operation alone */
    const char *name;       /* [a-z0-9_.-]{1,63}, unique in its plugin */
    const char *statistics; /* how mean and variance are found, "" if not known */
    const char *apply;      /* "direct": (x - mean) * rstd; "two_mean": the mean in two floats, ...
                               (kernels/README.md); "" if not known */
    const char *schedule;   /* how rows and columns are walked, "" if not known */
    const char *isa; /* "scalar", "neon", "avx2", "avx512" or "avx512bf16"; "any" if none of these
                               describes it, as where it chooses at run time; "" or NULL if not
                               known; a plugin with any other word is refused */
    ln_type storage; /* of x and y */
    ln_type param;   /* of gamma and beta */
    ln_type accumulator; /* of sums, mean and rstd */
    unsigned unroll;     /* vectors a loop step */
    unsigned traits;     /* ln_trait, or-ed */

    /* NULL: every problem of this operation and these types. Else a reason, in a few words, why this problem
     * (or this CPU) cannot be served, or NULL if it can. Called before anything else. */
    const char *(*supports)(const ln_problem *problem);
    /* Untimed set-up and its end; both NULL where there is none. prepare returns 0, or non-zero on
     * failure. The problem outlives the state. */
    int (*prepare)(const ln_problem *problem, void **state);
    void (*release)(void *state);
    /* The kernel. state: from prepare, or else the problem. docs/conformance.md says what it must leave as it was. */
    void (*run)(const void *state, const ln_tensors *tensors);
    /* NULL: no bound is claimed. Else the proven bound for a row with these facts, alone or among any
     * number of others: problem->rows is not what will run. */
    ln_bound (*bound)(const ln_problem *problem, const ln_row_facts *facts);
    const char
        *role; /* "textbook" or "tuned": kernels/table/kernels.def; "library": ln_layernorm() or
                       * ln_rmsnorm() itself; NULL or "": not known */
    /* NULL: none. Else an error bound that may be less than bound(): it holds for a row with a
     * probability of at least 1 - chance, 0 < chance < 1, if the errors of the additions in its sums
     * are random and have mean 0, whatever those before them were. Nothing is held to it. */
    ln_bound (*probable_bound)(const ln_problem *problem, const ln_row_facts *facts, double chance);
} ln_kernel;

typedef struct ln_plugin_table {
    uint32_t abi_version; /* LN_PLUGIN_ABI */
    size_t struct_size;   /* sizeof(ln_plugin_table) as compiled */
    size_t kernel_size;   /* sizeof(ln_kernel) as compiled */
    const char *name;     /* "layernorm" is ours */
    size_t count;
    const ln_kernel *kernels;
    /* For a library with threads of its own: `run` uses this many from now on. Returns 0, or
     * non-zero where it can't. NULL: `run` computes the rows it is given on the thread that calls
     * it, and may be called from several at once with different states and rows; lnbench then
     * splits the rows among the threads of liblayernorm's pool, and prepares a state for each. */
    int (*set_threads)(unsigned threads);
    /* What the kernels come from and its version, for a library that lnbench did not build ("oneDNN
     * 2.6.3"): recorded in every run. NULL or "": nothing to say. */
    const char *version;
} ln_plugin_table;

/* The one symbol a plugin exports. liblayernorm exports it too: its kernels go through the same
 * door. lnbench refuses a plugin whose number or sizes are not those of this header. */
LN_API const ln_plugin_table *ln_plugin(void);

#ifdef __cplusplus
}
#endif

#endif
