/* liblayernorm: Layer Normalization kernels under every convention people use. (RMSNorm: rmsnorm.h.)
 *
 *     #include <layernorm.h>
 *
 *     ln_convention torch = {.eps_place = LN_EPS_VAR, .eps = 1e-5, .affine = LN_AFFINE_VECTOR};
 *     ln_problem problem = {.rows = 512, .hidden = 768, .storage = LN_F32, .param = LN_F32,
 *                           .convention = torch};
 *     ln_tensors tensors = {.x = x, .gamma = gamma, .beta = beta, .y = y};
 *     if (ln_layernorm(&problem, &tensors) != LN_OK) { ... }
 *
 * What is computed (the convention) and how it is computed (the kernel) are two things. For a row x
 * of N = hidden elements, all in exact arithmetic (Ba, Kiros, Hinton, "Layer Normalization", 2016,
 * generalised):
 *
 *     mean = sum(x) / N                 var = sum((x - mean)^2) / (N - ddof)
 *     rstd = 1 / sqrt(var + eps)        eps in the variance  (LN_EPS_VAR)
 *            1 / (sqrt(var) + eps)      eps on the std       (LN_EPS_STD)
 *            1 / sqrt(var)              otherwise
 *     xhat = (x - mean) * rstd          plus eps where eps is on the quotient (LN_EPS_QUOTIENT)
 *     y    = gamma * xhat + beta        as the affine form says
 *
 * With a residual, x is first replaced by x + residual rounded to the storage type.
 * A NaN or an infinity anywhere in a row makes the whole row NaN.
 */
#ifndef LAYERNORM_H
#define LAYERNORM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32)
#define LN_API
#else
#define LN_API __attribute__((visibility("default")))
#endif

/* What a call came to. */
typedef enum ln_status {
    LN_OK = 0,
    /* A null tensor, a sum without a residual, hidden 0, a stride below hidden, sizes that overflow;
     * a convention of another operation than the function's; an eps that is negative, not finite, or not 0
     * with LN_EPS_NONE; a ddof, cast or root but 0 and 1; a value that its enum has not. */
    LN_ERROR_ARGUMENT = 1,
    LN_ERROR_UNSUPPORTED = 2, /* no kernel of this build and CPU takes this problem */
    LN_ERROR_THREADS = 3,     /* the system has no more threads or memory for them */
} ln_status;

/* Which normalisation; 0, where a convention does not say it, is LayerNorm. */
typedef enum ln_operation {
    LN_OPERATION_LAYERNORM = 0,
    LN_OPERATION_RMSNORM = 1, /* rmsnorm.h has its formula */
} ln_operation;

/* Where eps is added. */
typedef enum ln_eps_place {
    LN_EPS_NONE = 0,
    LN_EPS_VAR = 1,      /* to the variance; RMSNorm: to the mean square */
    LN_EPS_STD = 2,      /* to the standard deviation; RMSNorm: to the root */
    LN_EPS_QUOTIENT = 3, /* to the quotient; RMSNorm has no such place */
} ln_eps_place;

/* The affine form of LayerNorm. Gamma and beta are vectors of hidden elements, but for LN_AFFINE_SCALAR, where
 * each is one element. */
typedef enum ln_affine {
    LN_AFFINE_NONE = 0,   /* y = xhat */
    LN_AFFINE_SCALAR = 1, /* y = gamma[0] * xhat + beta[0] */
    LN_AFFINE_GAMMA = 2,  /* y = gamma[i] * xhat */
    LN_AFFINE_VECTOR = 3, /* y = gamma[i] * xhat + beta[i] */
    LN_AFFINE_GAMMA1 = 4, /* y = (1 + gamma[i]) * xhat + beta[i]: what is stored is gamma - 1 */
} ln_affine;

/* Whether an affine form has gamma, and beta; and how many elements each then is: hidden, or 1. */
static inline int ln_has_gamma(ln_affine affine)
{
    return affine != LN_AFFINE_NONE;
}

static inline int ln_has_beta(ln_affine affine)
{
    return affine != LN_AFFINE_NONE && affine != LN_AFFINE_GAMMA;
}

static inline size_t ln_parameter_elements(ln_affine affine, size_t hidden)
{
    return affine == LN_AFFINE_SCALAR ? 1 : hidden;
}

/* The form of RMSNorm's weight. */
typedef enum ln_rms_weight {
    LN_RMS_WEIGHT_NONE = 0,           /* y = xhat */
    LN_RMS_WEIGHT = 1,                /* y = w[i] * xhat */
    LN_RMS_WEIGHT_OFFSET = 2,         /* y = (1 + w[i]) * xhat */
    LN_RMS_WEIGHT_OFFSET_ROUNDED = 3, /* the same, 1 + w[i] rounded to the weight's type first */
} ln_rms_weight;

/* How RMSNorm adds x and the residual; `sum`, what is written out, is x + residual rounded to the storage
 * type always. "Unrounded" is rounded to f32 where the storage type has 16 bits, and to the storage type
 * otherwise. */
typedef enum ln_rms_sum {
    LN_RMS_SUM_ROUNDED = 0,   /* the sum rounded to the storage type is normalised */
    LN_RMS_SUM_UNROUNDED = 1, /* the unrounded sum is */
    LN_RMS_SUM_SQUARES = 2,   /* the root is that of the unrounded sum, x that of the rounded one */
} ln_rms_sum;

/* Element types. The 16-bit ones are uint16_t in memory. */
typedef enum ln_type {
    LN_F32 = 0,
    LN_F64 = 1,
    LN_BF16 = 2,
    LN_F16 = 3,
} ln_type;

/* What is computed. eps is a double and taken exactly: a kernel may round it to its accumulator,
 * the reference does not. eps_place LN_EPS_NONE goes with eps 0. The fields of the other operation are 0. */
typedef struct ln_convention {
    ln_operation operation;
    ln_eps_place eps_place;
    double eps;
    /* LayerNorm's. */
    int ddof; /* 0: divide by N (biased); 1: by N - 1 (unbiased, Bessel) */
    ln_affine affine;
    /* RMSNorm's. */
    ln_rms_weight weight;
    int cast; /* 1: xhat is rounded to the storage type before the weight */
    int root; /* 1: the root is rounded to the storage type */
    ln_rms_sum sum;
} ln_convention;

/* Which kernel ln_layernorm() takes: the fastest that was measured of those that keep this promise.
 * Errors are in row ULP: units in the last place of the largest sum that stands behind a row's
 * elements. kappa is sqrt(1 + mean^2 / var): large where the mean is far from zero.
 *
 *                   f32              f64              f16              bf16
 *     fast          16, judged       32, judged       0.52, judged     0.51, judged
 *     accurate      2, proven        2, proven        0.51, proven     0.51, proven
 *     reproducible  the same bits    the same bits    the same bits    the same bits
 *     exact         0.5, proven      unsupported      0.5, proven      0.5, proven
 *
 * "proven": of every row, under every convention, on every ISA (`accurate` of f32, bf16 and f16: every
 * eps up to 1e307; all but rows whose largest sum is below 1e-33 of their largest |gamma|, of f64 1e-290,
 * where an xhat that counts may be subnormal): a proof stands in the kernel's source. "judged": no error
 * was larger on the input families of lnbench, at six hidden sizes from 64 to 12288, under PyTorch's eps,
 * whichever kernel is taken: for few rows and many, on every ISA (f64 stays within 16 where there are
 * vectors); a search over bits finds rows with larger ones (docs/accuracy.md).
 * "unsupported": LN_ERROR_UNSUPPORTED, with nothing written. */
typedef enum ln_accuracy {
    /* For rows of any mean: up to kappa 1e8 (f32) and 1e16 (f64), where not a digit of x tells one
     * element from another, errors stay as they are about zero. What it asks for are squares that the
     * type of its sums can hold: in f32, bf16 and f64 storage no |x - mean| above 1e18 (f64 1e153),
     * and, where eps is 0 or tiny, no standard deviation below 1e-18 (f64 1e-153). Beyond that
     * there may be no correct digit, a NaN or an infinity. */
    LN_ACCURACY_FAST = 0,
    /* At most 2 for every row of up to 100 000 elements (10 million where kappa is below 1e8), 1e30,
     * 1e-30 and constant ones among them. f32 has sums, mean and rstd in f64 and rounds three times:
     * 1.51 at most, but 2 (2.004 by proof) where that largest sum is within 1e-9 of itself below a
     * power of two. In plain C, f32 rounds once: 0.5001. f64 has sums, mean and rstd in pairs of
     * numbers and rounds twice: hardly more than 1. 16-bit storage has sums of up to 32 elements in
     * f32, sums of those in f64, and y in f32, so that mean, of f64, is within 1e-6 of the row's root
     * mean square, and rstd within 3e-5 of itself, 1e-6 where the mean is near zero; in plain C, the
     * kernels of `exact`. Rows of f32 whose mean is more than 32 standard deviations from zero (less
     * beyond 4096 elements; 16384 with AVX-512), of bf16 from 5.6 on and of f16 from 3.5 on are read
     * again. An infinite gamma may give a NaN, a beta within a
     * thousandth of the largest number an infinity. */
    LN_ACCURACY_ACCURATE = 1,
    /* The same bits on every ISA and number of threads, by a fixed tree of additions. Every NaN that
     * is written, in `sum` too, is the canonical quiet one: 7fc00000, 7ff8000000000000, 7fc0, 7e00. */
    LN_ACCURACY_REPRODUCIBLE = 2,
    /* Each output is the exact real value rounded once, to nearest even, for f32, bf16 and f16
     * storage under every convention, with a residual too; mean and rstd likewise, in f32. So the
     * bits are the same on every machine, ISA, compiler, number of threads and batch. A NaN is the
     * canonical quiet one (but in `sum`: any), an exact zero is +0, and what underflows keeps its
     * sign. Proven, not measured (docs/accuracy.md). f64 storage: LN_ERROR_UNSUPPORTED. It needs the floating-point
     * environment that C starts with: rounding to nearest, subnormals kept. */
    LN_ACCURACY_EXACT = 3,
} ln_accuracy;

/* The size and kind of a call. Strides are elements from one row to the next; 0 stands for hidden.
 */
typedef struct ln_problem {
    size_t rows;
    size_t hidden;
    size_t x_stride;
    size_t y_stride;
    size_t residual_stride;
    size_t sum_stride;
    ln_type storage; /* of x, residual, y and sum */
    ln_type param;   /* of gamma and beta */
    ln_convention convention;
    ln_accuracy accuracy; /* for calls that choose a kernel (ln_layernorm()); kernels don't look */
} ln_problem;

/* The buffers of a call, all owned by the caller. y may be x (in place); sum may be x or residual;
 * nothing else may overlap. Alignment beyond the element's is never needed. */
typedef struct ln_tensors {
    const void *x;        /* rows x hidden */
    const void *residual; /* rows x hidden, or NULL */
    /* As the affine form says; NULL where it has none. RMSNorm: gamma is the weight, beta NULL. */
    const void *gamma;
    const void *beta;
    void *y; /* rows x hidden, of the storage type */
    /* x + residual, rows x hidden, of the storage type; NULL where it is not wanted or there is no residual. */
    void *sum;
    /* A number a row, of the accumulator's type (ln_layernorm_accumulator()); or NULL. RMSNorm has no mean. */
    void *mean;
    /* A number a row, of the accumulator's type: the factor that multiplies (x - mean), of RMSNorm rrms =
     * 1 / root (ln_rmsnorm_accumulator()); or NULL. */
    void *rstd;
} ln_tensors;

/* Normalises every row with the kernel that suits this CPU, shape and accuracy class, by a table of
 * measured times (dispatch_table.h); ln_layernorm_kernel_name() names it. Allocates nothing; may be
 * called from several threads on different rows. Returns LN_OK, or an error with nothing written.
 */
LN_API ln_status ln_layernorm(const ln_problem *problem, const ln_tensors *tensors);

/* The same, with the rows split among the library's threads; returns when the last row is done. No
 * bit of the result depends on the number of threads. Rows too few to be worth a thread get fewer
 * threads. Where the threads are at work for another call, or the system has none to give, the
 * caller does the rows itself, so that this fails only as ln_layernorm() does.
 *
 * The threads are created by the first call that needs them, or by ln_set_threads(); between calls
 * they spin for some microseconds and then sleep. They run in the caller's floating-point
 * environment, block all signals but faults, and are never pinned. The child of a fork() has none
 * and creates its own at its first call (fork() not from within a call). They end when the library
 * is unloaded, or the program ends; to unload it during a call is the caller's fault. */
LN_API ln_status ln_layernorm_parallel(const ln_problem *problem, const ln_tensors *tensors);

enum { LN_THREADS_MAX = 512 };

/* Sets how many threads a parallel call has, the caller's own among them: 1 to LN_THREADS_MAX, or 0
 * for the number of CPUs that the process may run on, which is what it is before any call. Waits
 * for the call that runs. LN_ERROR_ARGUMENT beyond LN_THREADS_MAX; LN_ERROR_THREADS where the
 * system refuses: the number is then as it was. */
LN_API ln_status ln_set_threads(unsigned threads);

/* How many threads a parallel call has. */
LN_API unsigned ln_threads(void);

/* The name of the kernel that ln_layernorm() takes for this problem on this CPU, NULL where there
 * is none. */
LN_API const char *ln_layernorm_kernel_name(const ln_problem *problem);

/* The type of mean and rstd that ln_layernorm() writes for this problem on this CPU: that of its
 * kernel's sums, which may be longer than the storage type. LN_F64 where there is no kernel: room
 * for doubles always does. */
LN_API ln_type ln_layernorm_accumulator(const ln_problem *problem);

/* A kernel of the library. layernorm_plugin.h describes its members, which calls do not need. */
typedef struct ln_kernel ln_kernel;

/* Finds a kernel by its name (`lnbench list kernels`), once for any number of calls:
 *
 *     const ln_kernel *kernel = ln_layernorm_kernel("two_pass_f32_avx2");
 *     for (size_t i = 0; i < count; i++)
 *         if (ln_layernorm_with(kernel, &problem, &tensors[i]) != LN_OK) { ... }
 *
 * The kernel belongs to the library: it is valid in every thread until the library is unloaded, and
 * is not freed. NULL if the library has no kernel of this name, or the name is NULL. Whether this CPU
 * can run the kernel is found at each call. */
LN_API const ln_kernel *ln_layernorm_kernel(const char *name);

/* Normalises every row with this kernel, after the same checks as ln_layernorm(). Returns LN_OK, or
 * an error with nothing written: LN_ERROR_UNSUPPORTED if the kernel is NULL, is one of RMSNorm, has other
 * element types than the problem, or needs instructions that this CPU does not have. */
LN_API ln_status ln_layernorm_with(const ln_kernel *kernel, const ln_problem *problem,
                                   const ln_tensors *tensors);

/* The same over the library's threads. */
LN_API ln_status ln_layernorm_parallel_with(const ln_kernel *kernel, const ln_problem *problem,
                                            const ln_tensors *tensors);

/* Bytes of the caches that a call's x and y are compared with: beyond l3 they are in memory, where
 * the kernels are others, many of which store around the caches. They are found once, as the
 * smallest that sysfs, cpuid and the C library tell, of L3 128 MiB at most (lnbench doctor); the
 * environment variable LN_CACHE_BYTES=L1,L2,L3, as in 32K,1M,32M, overrides that, and this function
 * both. All three 0: as they were found. LN_ERROR_ARGUMENT, with nothing changed, unless 0 < l1d <= l2 <= l3.
 * May be called at any time; calls that are under way keep their kernel. */
LN_API ln_status ln_set_cache_bytes(size_t l1d, size_t l2, size_t l3);

/* A sentence for a status, never NULL. */
LN_API const char *ln_status_string(ln_status status);

/* The version of the library, "MAJOR.MINOR.PATCH". */
LN_API const char *ln_version(void);

#ifdef __cplusplus
}
#endif

#endif
