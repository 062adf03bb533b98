/* The loops by which three programs compute RMSNorm on a CPU, written anew to be timed beside the library's
 * call (docs/choosing.md, "How do other libraries compare?").
 *     cc -O3 -march=native -shared -fPIC -I kernels/include -o loops.so docs/recipes/rmsnorm_loops.c -lm
 *     ./lnbench run --operation rmsnorm --plugin ./loops.so --kernels 'library_*_rms_f32,*_loop_f32'
 *
 * ggml_loop    llama.cpp, ggml/src/ggml-cpu/ops.cpp, RMS_NORM fused with MUL: squares of f32 summed one by one
 *              in f64. f32 alone.
 * vllm_loop    vLLM, csrc/cpu/layernorm.cpp, rms_norm_impl: one sum of 8 lanes of f32, a vector a step.
 * sglang_loop  sglang, sgl-kernel/csrc/cpu/norm.cpp, rmsnorm_kernel_impl: one sum of a register's lanes, two
 *              vectors a step, four steps unrolled. Its f32 is the same loop, which sglang has of 16 bits alone.
 *
 * y = x scale weight in all three. PyTorch's dispatch and threads are left out. */
#include <layernorm_plugin.h>
#include <math.h>
#include <string.h>
#ifdef __AVX512BF16__
#include <immintrin.h>
#endif

#ifdef __AVX512F__
#define WIDE 16
#define ISA "avx512"
#else
#define WIDE 8
#define ISA "avx2"
#endif

typedef uint16_t bf16;

/* A vector of n floats, and how it is loaded from f32 or bf16 and stored. */
#define DEFINE_VECTOR(vec, n)                                                                      \
    typedef float vec __attribute__((vector_size(4 * (n))));                                       \
    typedef uint32_t vec##_bits __attribute__((vector_size(4 * (n))));                             \
    typedef bf16 vec##_half __attribute__((vector_size(2 * (n))));                                 \
    static inline vec vec##_of_f32(const float *from)                                              \
    {                                                                                              \
        vec x;                                                                                     \
        memcpy(&x, from, sizeof x);                                                                \
        return x;                                                                                  \
    }                                                                                              \
    static inline void vec##_to_f32(float *to, vec x)                                              \
    {                                                                                              \
        memcpy(to, &x, sizeof x);                                                                  \
    }                                                                                              \
    static inline vec vec##_of_bf16(const bf16 *from)                                              \
    {                                                                                              \
        vec##_half x;                                                                              \
        memcpy(&x, from, sizeof x);                                                                \
        return (vec)(__builtin_convertvector(x, vec##_bits) << 16);                                \
    }                                                                                              \
    static inline vec##_half vec##_rounded(vec x)                                                  \
    {                                                                                              \
        vec##_bits bits = (vec##_bits)x, nan = (vec##_bits)(x != x);                               \
        bits = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;                                           \
        return __builtin_convertvector((nan & 0x7fff) | (~nan & bits), vec##_half);                \
    }
DEFINE_VECTOR(eight, 8)
DEFINE_VECTOR(wide, WIDE)

static inline void eight_to_bf16(bf16 *to, eight x)
{
#ifdef __AVX512BF16__
    __m128bh rounded = _mm256_cvtneps_pbh((__m256)x);
#else
    eight_half rounded = eight_rounded(x);
#endif
    memcpy(to, &rounded, sizeof rounded);
}

static inline void wide_to_bf16(bf16 *to, wide x)
{
#ifdef __AVX512BF16__
    __m256bh rounded = _mm512_cvtneps_pbh((__m512)x);
#else
    wide_half rounded = wide_rounded(x);
#endif
    memcpy(to, &rounded, sizeof rounded);
}

static inline float one_of_f32(const float *from)
{
    return *from;
}

static inline void one_to_f32(float *to, float value)
{
    *to = value;
}

static inline float one_of_bf16(const bf16 *from)
{
    uint32_t bits = (uint32_t)*from << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline void one_to_bf16(bf16 *to, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    *to = isnan(value) ? 0x7fff : (bf16)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static inline float scale_of(const ln_problem *problem, const ln_tensors *given, size_t row,
                             float mean)
{
    const float scale = 1.0f / sqrtf(mean + (float)problem->convention.eps);
    if (given->rstd)
        ((float *)given->rstd)[row] = scale;
    return scale;
}

/* step: columns in one turn of the loops. What is left is added element by element. */
#define DEFINE_ROWS(name, element, storage, vec, step, unrolled)                                   \
    static void name(const void *state, const ln_tensors *given)                                   \
    {                                                                                              \
        enum { LANES = sizeof(vec) / sizeof(float) };                                              \
        const ln_problem *problem = state;                                                         \
        const storage *weight = given->gamma;                                                      \
        const size_t hidden = problem->hidden, whole = hidden / (step) * (step);                   \
        for (size_t row = 0; row < problem->rows; row++) {                                         \
            const storage *x = (const storage *)given->x + row * problem->x_stride;                \
            storage *y = (storage *)given->y + row * problem->y_stride;                            \
            vec sums = {0};                                                                        \
            float sum = 0;                                                                         \
            unrolled for (size_t i = 0; i < whole; i += (step)) for (size_t j = 0; j < (step);     \
                                                                     j += LANES)                   \
            {                                                                                      \
                vec v = vec##_of_##element(x + i + j);                                             \
                sums += v * v;                                                                     \
            }                                                                                      \
            for (size_t i = whole; i < hidden; i++)                                                \
                sum += one_of_##element(x + i) * one_of_##element(x + i);                          \
            for (size_t k = 0; k < LANES; k++)                                                     \
                sum += sums[k];                                                                    \
            const float scale = scale_of(problem, given, row, sum / (float)hidden);                \
            unrolled for (size_t i = 0; i < whole; i += (step)) for (size_t j = 0; j < (step);     \
                                                                     j += LANES)                   \
                vec##_to_##element(y + i + j, vec##_of_##element(x + i + j) * scale *              \
                                                  vec##_of_##element(weight + i + j));             \
            for (size_t i = whole; i < hidden; i++)                                                \
                one_to_##element(y + i,                                                            \
                                 one_of_##element(x + i) * scale * one_of_##element(weight + i));  \
        }                                                                                          \
    }
#define UNROLLED _Pragma("GCC unroll 4")
DEFINE_ROWS(vllm_f32, f32, float, eight, 8, )
DEFINE_ROWS(vllm_bf16, bf16, bf16, eight, 8, )
DEFINE_ROWS(sglang_f32, f32, float, wide, 2 * WIDE, UNROLLED)
DEFINE_ROWS(sglang_bf16, bf16, bf16, wide, 2 * WIDE, UNROLLED)

static void ggml_f32(const void *state, const ln_tensors *given)
{
    const ln_problem *problem = state;
    const float *weight = given->gamma;
    for (size_t row = 0; row < problem->rows; row++) {
        const float *x = (const float *)given->x + row * problem->x_stride;
        float *y = (float *)given->y + row * problem->y_stride;
        double sum = 0;
        for (size_t i = 0; i < problem->hidden; i++)
            sum += (double)(x[i] * x[i]);
        const float scale = scale_of(problem, given, row, (float)(sum / (double)problem->hidden));
        for (size_t i = 0; i < problem->hidden; i++)
            y[i] = x[i] * scale * weight[i];
    }
}

static const char *supports(const ln_problem *problem)
{
    const ln_convention *own = &problem->convention;
    int mine =
        own->eps_place == LN_EPS_VAR && own->weight == LN_RMS_WEIGHT && !own->cast && !own->root;
    return mine ? NULL : "only eps in the mean square, a weight, and no rounding on the way";
}

#define KERNEL(NAME, TYPE, FUNCTION)                                                               \
    {                                                                                              \
        .operation = LN_OPERATION_RMSNORM, .name = NAME, .statistics = "", .apply = "",            \
        .schedule = "", .isa = ISA, .storage = TYPE, .param = TYPE, .accumulator = LN_F32,         \
        .traits = LN_TRAIT_NO_RESIDUAL, .supports = supports, .run = FUNCTION                      \
    }

static const ln_kernel kernels[] = {
    KERNEL("ggml_loop_f32", LN_F32, ggml_f32), KERNEL("vllm_loop_f32", LN_F32, vllm_f32),
    KERNEL("vllm_loop_bf16", LN_BF16, vllm_bf16), KERNEL("sglang_loop_f32", LN_F32, sglang_f32),
    KERNEL("sglang_loop_bf16", LN_BF16, sglang_bf16)};

const ln_plugin_table *ln_plugin(void)
{
    static const ln_plugin_table plugin = {.abi_version = LN_PLUGIN_ABI,
                                           .struct_size = sizeof plugin,
                                           .kernel_size = sizeof *kernels,
                                           .name = "rmsnorm_loops",
                                           .count = sizeof kernels / sizeof *kernels,
                                           .kernels = kernels};
    return &plugin;
}
