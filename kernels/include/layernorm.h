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
 * The convention defines the result, and the kernel is one way to compute it. For a row x of N = hidden elements, all
 * in exact arithmetic (Ba, Kiros, Hinton, "Layer Normalization", 2016, generalised):
 *
 *     mean = sum(x) / N                 var = sum((x - mean)^2) / (N - ddof)
 *     rstd = 1 / sqrt(var + eps)        eps in the variance  (LN_EPS_VAR)
 *            1 / (sqrt(var) + eps)      eps on the std       (LN_EPS_STD)
 *            1 / sqrt(var)              otherwise
 *     xhat = (x - mean) * rstd          plus eps where eps is on the quotient (LN_EPS_QUOTIENT)
 *     y    = gamma * xhat + beta        as the affine form says
 *
 * With a residual, x is first replaced by x + residual rounded to the storage type. A NaN or an infinity anywhere in a
 * row makes the whole row NaN. */
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

/* The result of a call. */
typedef enum ln_status {
    LN_OK = 0,
    /* A required tensor is NULL, or `sum` is given without a residual; hidden is 0, a stride is below hidden, or sizes
     * overflow; the convention is one of the other operation; eps is negative, not finite, or not 0 with LN_EPS_NONE;
     * ddof, cast or root is neither 0 nor 1; an enum has an unknown value. */
    LN_ERROR_ARGUMENT = 1,
    LN_ERROR_UNSUPPORTED = 2, /* no kernel of this build supports this problem on this CPU */
    LN_ERROR_THREADS = 3,     /* the system refused more threads, or memory for them */
} ln_status;

/* The normalisation. The default (0) is LayerNorm. */
typedef enum ln_operation {
    LN_OPERATION_LAYERNORM = 0,
    LN_OPERATION_RMSNORM = 1, /* rmsnorm.h has its formula */
} ln_operation;

/* The place where eps is added. */
typedef enum ln_eps_place {
    LN_EPS_NONE = 0,
    LN_EPS_VAR = 1,      /* to the variance; RMSNorm: to the mean square */
    LN_EPS_STD = 2,      /* to the standard deviation; RMSNorm: to the root */
    LN_EPS_QUOTIENT = 3, /* to the quotient; RMSNorm has no such place */
} ln_eps_place;

/* The affine form of LayerNorm. Gamma and beta are vectors of hidden elements; under LN_AFFINE_SCALAR each is one
 * element. */
typedef enum ln_affine {
    LN_AFFINE_NONE = 0,   /* y = xhat */
    LN_AFFINE_SCALAR = 1, /* y = gamma[0] * xhat + beta[0] */
    LN_AFFINE_GAMMA = 2,  /* y = gamma[i] * xhat */
    LN_AFFINE_VECTOR = 3, /* y = gamma[i] * xhat + beta[i] */
    LN_AFFINE_GAMMA1 = 4, /* y = (1 + gamma[i]) * xhat + beta[i]: the stored vector is gamma - 1 */
} ln_affine;

/* Return whether an affine form has gamma, whether it has beta, and the number of elements of each: hidden, or 1. */
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

/* The sum of x and the residual that RMSNorm normalises. The output `sum` is always x + residual rounded to the
 * storage type. The "unrounded" sum is rounded to f32 for 16-bit storage, and to the storage type for other types. */
typedef enum ln_rms_sum {
    LN_RMS_SUM_ROUNDED = 0,   /* normalise the sum rounded to the storage type */
    LN_RMS_SUM_UNROUNDED = 1, /* normalise the unrounded sum */
    LN_RMS_SUM_SQUARES = 2,   /* divide the rounded sum by the root of the unrounded one */
} ln_rms_sum;

/* Element types. The 16-bit ones are uint16_t in memory. */
typedef enum ln_type {
    LN_F32 = 0,
    LN_F64 = 1,
    LN_BF16 = 2,
    LN_F16 = 3,
} ln_type;

/* The function to compute. The reference takes eps exactly as this double; a kernel may round it to its
 * accumulator. With LN_EPS_NONE eps must be 0. The fields of the other operation must be 0. */
typedef struct ln_convention {
    ln_operation operation;
    ln_eps_place eps_place;
    double eps;
    /* LayerNorm only: */
    int ddof; /* 0: divide by N (biased); 1: by N - 1 (unbiased, Bessel) */
    ln_affine affine;
    /* RMSNorm only: */
    ln_rms_weight weight;
    int cast; /* 1: xhat is rounded to the storage type before the weight */
    int root; /* 1: the root is rounded to the storage type */
    ln_rms_sum sum;
} ln_convention;

/* The accuracy class of a call. ln_layernorm() uses the kernel that was measured as the fastest in the class. Errors
 * are in row ULP: units in the last place of the element's scale |gamma| max|xhat| + |beta|, where max|xhat| is that of
 * the row. kappa is sqrt(1 + mean^2 / var); it is large if the mean is far from zero.
 *
 *                   f32              f64              f16              bf16
 *     fast          16, judged       32, judged       0.52, judged     0.51, judged
 *     accurate      2, proven        2, proven        0.51, proven     0.51, proven
 *     reproducible  the same bits    the same bits    the same bits    the same bits
 *     exact         0.5, proven      unsupported      0.5, proven      0.5, proven
 *
 * "proven": a proof in the kernel's source covers every row, every convention and every ISA. The proof of `accurate`
 * needs eps of at most 1e307 for f32, bf16 and f16, and it excludes rows whose largest scale is below 1e-33 (f64:
 * 1e-290) times their largest |gamma|, since xhat may be subnormal in these.
 * "judged": no error was larger on lnbench's input families at six hidden sizes from 64 to 12288 under PyTorch's eps,
 * for few and many rows, on every ISA (f64 stays within 16 on ISAs with vectors). Exception: about 160 (f32) if y is
 * subnormal and there is no gamma. A search over bits finds larger errors (docs/accuracy.md).
 * "unsupported": the call returns LN_ERROR_UNSUPPORTED and writes nothing. */
typedef enum ln_accuracy {
    /* For rows with any mean: up to kappa 1e8 (f32) or 1e16 (f64) errors are as small as for rows with mean 0. Squares
     * must not overflow or underflow in the sums: for f32, bf16 and f64 storage no |x - mean| may be above 1e18 (f64:
     * 1e153), and, if eps is 0 or tiny, no standard deviation below 1e-18 (f64: 1e-153). Beyond these limits a result
     * may have no correct digit, or be NaN or an infinity. */
    LN_ACCURACY_FAST = 0,
    /* Errors of at most 2 for every row of up to 100 000 elements (10 million if kappa is below 1e8), including rows of
     * 1e30 or 1e-30 and constant rows. f32: sums, mean and rstd are f64, and y is rounded three times: at most 1.51,
     * but 2 (2.004 by proof) if the scale is just below a power of two (relative distance 1e-9). In plain C y is
     * rounded once: 0.5001. f64: sums, mean and rstd are pairs of doubles, and y is rounded twice: little more than 1.
     * 16-bit storage: sums of up to 32 elements are f32, sums of these are f64, and y is f32. The mean (f64) is within
     * 1e-6 of the row's root mean square, rstd within a relative error of 3e-5, or 1e-6 if the mean is near zero. Plain
     * C uses the kernels of `exact`. Rows are read a second time if the mean is more than 32 standard deviations from
     * zero in f32 (fewer for over 4096 elements, or 16384 with AVX-512), 5.6 in bf16 and 3.5 in f16. An infinite gamma
     * may give NaN; a beta within 0.1 % of the largest number may give an infinity. */
    LN_ACCURACY_ACCURATE = 1,
    /* The same bits on every ISA and number of threads, by a fixed tree of additions. Every NaN that
     * is written, in `sum` too, is the canonical quiet one: 7fc00000, 7ff8000000000000, 7fc0, 7e00. */
    LN_ACCURACY_REPRODUCIBLE = 2,
    /* Each output is the exact real value rounded once, to nearest even, for f32, bf16 and f16
     * storage under every convention, also with a residual; mean and rstd are rounded to f32 likewise. The
     * bits are the same on every machine, ISA, compiler, number of threads and batch. A NaN is the
     * canonical quiet one (in `sum` it may be any), an exact zero is +0, and a result that underflows
     * keeps its sign. This is proven (docs/accuracy.md). f64 storage: LN_ERROR_UNSUPPORTED. The call
     * needs the floating-point environment in which C starts: rounding to nearest, subnormals kept. */
    LN_ACCURACY_EXACT = 3,
} ln_accuracy;

/* The size and kind of a call. Strides are elements from one row to the next; 0 means hidden. */
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
    ln_accuracy accuracy; /* for calls that choose a kernel (ln_layernorm()); kernels ignore it */
} ln_problem;

/* The buffers of a call, all owned by the caller. y may be x (in place); sum may be x or residual;
 * nothing else may overlap. Alignment beyond the element's is never needed. */
typedef struct ln_tensors {
    const void *x;        /* rows x hidden */
    const void *residual; /* rows x hidden, or NULL */
    /* NULL if the affine form has none. RMSNorm: gamma is the weight, and beta is NULL. */
    const void *gamma;
    const void *beta;
    void *y; /* rows x hidden, of the storage type */
    /* x + residual, rows x hidden, of the storage type; NULL if it is not wanted or there is no residual. */
    void *sum;
    /* One number for each row, of the accumulator's type (ln_layernorm_accumulator()); or NULL. RMSNorm has no mean. */
    void *mean;
    /* One number for each row, of the accumulator's type: the factor that multiplies (x - mean); for RMSNorm rrms =
     * 1 / root (ln_rmsnorm_accumulator()); or NULL. */
    void *rstd;
} ln_tensors;

/* Normalises every row with the fastest kernel for this CPU, shape and accuracy class, according to a table of
 * measured times (dispatch_table.h). ln_layernorm_kernel_name() names that kernel. Allocates nothing; may be called
 * from several threads on different rows. Returns LN_OK, or an error with nothing written. */
LN_API ln_status ln_layernorm(const ln_problem *problem, const ln_tensors *tensors);

/* The same, with the rows split among the library's threads; returns when the last row is done. No
 * bit of the result depends on the number of threads. A call with few rows uses fewer threads. If
 * the threads are busy with another call, or the system refuses threads, the caller's thread does
 * all rows. The errors are those of ln_layernorm().
 *
 * The first call that needs the threads creates them, or ln_set_threads() does; between calls they
 * spin for some microseconds and then sleep. They run in the caller's floating-point environment,
 * block all signals except faults, and are not pinned to CPUs. The child of a fork() creates its own
 * threads at its first call; fork() must not be called during a call. The threads end when the
 * library is unloaded, which must not happen during a call, or when the program ends. */
LN_API ln_status ln_layernorm_parallel(const ln_problem *problem, const ln_tensors *tensors);

enum { LN_THREADS_MAX = 512 };

/* Sets how many threads a parallel call uses, including the caller's: 1 to LN_THREADS_MAX, or 0 for
 * the number of CPUs that the process may run on, which is the default. Waits for a call that is
 * running. LN_ERROR_ARGUMENT: the number is above LN_THREADS_MAX. LN_ERROR_THREADS: the system
 * refused threads, and the number is unchanged. */
LN_API ln_status ln_set_threads(unsigned threads);

/* Returns how many threads a parallel call uses. */
LN_API unsigned ln_threads(void);

/* Returns the name of the kernel that ln_layernorm() uses for this problem on this CPU; NULL if there is none. */
LN_API const char *ln_layernorm_kernel_name(const ln_problem *problem);

/* Returns the type of mean and rstd that ln_layernorm() writes for this problem on this CPU: the type of its kernel's
 * sums, which may be wider than the storage type. Returns LN_F64 if there is no kernel. Buffers for doubles are always
 * large enough. */
LN_API ln_type ln_layernorm_accumulator(const ln_problem *problem);

/* A kernel of the library. layernorm_plugin.h describes its members, which calls do not need. */
typedef struct ln_kernel ln_kernel;

/* Finds a kernel by its name (`lnbench list kernels`), once for any number of calls:
 *
 *     const ln_kernel *kernel = ln_layernorm_kernel("two_pass_f32_avx2");
 *     for (size_t i = 0; i < count; i++)
 *         if (ln_layernorm_with(kernel, &problem, &tensors[i]) != LN_OK) { ... }
 *
 * The kernel belongs to the library: it is valid in every thread until the library is unloaded, and must not be freed.
 * Returns NULL if the library has no kernel of this name, or the name is NULL. Each call checks whether this CPU can
 * run the kernel. */
LN_API const ln_kernel *ln_layernorm_kernel(const char *name);

/* Normalises every row with this kernel, after the same checks as ln_layernorm(). Returns LN_OK, or
 * an error with nothing written: LN_ERROR_UNSUPPORTED if the kernel is NULL, is one of RMSNorm, has other
 * element types than the problem, or needs instructions that this CPU does not have. */
LN_API ln_status ln_layernorm_with(const ln_kernel *kernel, const ln_problem *problem,
                                   const ln_tensors *tensors);

/* Does the same with the library's threads. */
LN_API ln_status ln_layernorm_parallel_with(const ln_kernel *kernel, const ln_problem *problem,
                                            const ln_tensors *tensors);

/* Sets the cache sizes in bytes with which the dispatch compares the bytes of x and y. Calls too large for l3 get
 * kernels for data in memory, many of which store around the caches. By default the sizes are the smallest that sysfs,
 * cpuid and the C library report, with an L3 of at most 128 MiB (lnbench doctor shows them). The environment variable
 * LN_CACHE_BYTES=L1,L2,L3, such as 32K,1M,32M, overrides the default, and this function overrides both. All three 0
 * restore the default. LN_ERROR_ARGUMENT, with nothing changed, unless 0 < l1d <= l2 <= l3. May be called at any time;
 * running calls keep their kernel. */
LN_API ln_status ln_set_cache_bytes(size_t l1d, size_t l2, size_t l3);

/* Returns a sentence for a status, never NULL. */
LN_API const char *ln_status_string(ln_status status);

/* Returns the version of the library, "MAJOR.MINOR.PATCH". */
LN_API const char *ln_version(void);

#ifdef __cplusplus
}
#endif

#endif
