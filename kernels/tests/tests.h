/* Functions for all kernel tests. */
#ifndef KERNEL_TESTS_H
#define KERNEL_TESTS_H

#include "test_list.h"
#include <math.h>

#include "layernorm_plugin.h"
#include "oracle.h"

/* All divisors, places of eps and affine forms: 40 conventions. */
enum { CONVENTIONS = 40 };

static inline ln_convention convention_number(size_t number)
{
    ln_convention convention = {
        .ddof = (int)(number % 2),
        .eps_place = (ln_eps_place)(number / 2 % 4),
        .affine = (ln_affine)(number / 8 % 5),
    };
    convention.eps = convention.eps_place == LN_EPS_NONE ? 0 : 1e-5;
    return convention;
}

/* The element types of a problem. */
typedef struct types {
    ln_type storage, param;
} types;

/* All pairs that kernels may have: gamma and beta are f32 or of the storage type. */
static const types type_pairs[] = {{LN_F32, LN_F32},   {LN_F64, LN_F64},  {LN_F64, LN_F32},
                                   {LN_BF16, LN_BF16}, {LN_BF16, LN_F32}, {LN_F16, LN_F16},
                                   {LN_F16, LN_F32}};
enum { TYPE_PAIRS = sizeof(type_pairs) / sizeof(type_pairs[0]), LARGEST_ELEMENT = 8 };

static inline types types_of(const ln_kernel *kernel)
{
    return (types){kernel->storage, kernel->param};
}

static inline int has_types(const ln_kernel *kernel, types pair)
{
    return kernel->storage == pair.storage && kernel->param == pair.param;
}

static inline ln_problem problem_of(types pair, size_t rows, size_t hidden,
                                    ln_convention convention)
{
    return (ln_problem){.rows = rows,
                        .hidden = hidden,
                        .storage = pair.storage,
                        .param = pair.param,
                        .convention = convention};
}

/* The plugin has LayerNorm's lines of the table, then its calls (registry.c), then likewise RMSNorm's. */
static inline size_t count_lines(const ln_plugin_table *plugin)
{
    size_t count = 0;
    while (!(plugin->kernels[count].traits & LN_TRAIT_OWN_THREADS))
        count++;
    return count;
}

static inline size_t count_layernorm(const ln_plugin_table *plugin)
{
    size_t count = 0;
    while (plugin->kernels[count].operation == LN_OPERATION_LAYERNORM)
        count++;
    return count;
}

/* Returns whether LNBENCH_FULL is set. The environment is read once, since this is called thousands of times. */
static inline bool is_full(void)
{
    static int full = -1;
    if (full < 0)
        full = getenv("LNBENCH_FULL") != NULL;
    return full;
}

/* Returns whether fewer cases are tested, as on an emulator, which is about twenty times as slow. */
static inline bool is_thinned(void)
{
    static int emulated = -1;
    if (emulated < 0)
        emulated = getenv("LN_UNDER_QEMU") != NULL;
    return emulated && !is_full();
}

enum { MOST_KERNELS = 1024 };

/* Returns a kernel that runs here, with or without those of plain C. The list is also made once. */
static inline const ln_kernel *kernel_that_runs(size_t number, bool with_scalar)
{
    static const ln_kernel *found[2][MOST_KERNELS];
    static size_t counts[2];
    const ln_plugin_table *plugin = ln_plugin();
    for (size_t i = 0, lines = counts[true] ? 0 : count_lines(plugin); i < lines; i++) {
        const ln_kernel *kernel = &plugin->kernels[i];
        const ln_problem problem = problem_of(types_of(kernel), 1, 1, convention_number(0));
        if (kernel->supports(&problem))
            continue;
        found[true][counts[true]++] = kernel;
        if (strcmp(kernel->isa, "scalar") != 0)
            found[false][counts[false]++] = kernel;
    }
    assert_true(counts[true] < MOST_KERNELS);
    return number < counts[with_scalar] ? found[with_scalar][number] : NULL;
}

/* Returns a kernel that runs here. Plain C is skipped on an emulator: its results are tested without one, and
 * aarch64_test compares its bits. */
static inline const ln_kernel *kernel_number(size_t number)
{
    return kernel_that_runs(number, !is_thinned());
}

/* Defines an array: its numbers, and the elements that hold them. */
#define OPERAND(name, count)                                                                       \
    static double name##_values[count];                                                            \
    static _Alignas(64) unsigned char name[(count)*LARGEST_ELEMENT]
/* Defines the arrays of a call, and y. */
#define OPERANDS(rows, hidden)                                                                     \
    OPERAND(x, (rows) * (hidden));                                                                 \
    OPERAND(gammas, hidden);                                                                       \
    OPERAND(betas, hidden);                                                                        \
    static _Alignas(64) unsigned char y[(rows) * (hidden)*LARGEST_ELEMENT]

/* Returns whether a test includes this case of kernel number k: all with LNBENCH_FULL=1, else one in `part`,
 * distributed so that each kernel gets each value that `mix` counts; is_sampled() includes a fifth of
 * those on an emulator. */
static inline bool is_one_in(size_t k, size_t mix, size_t part)
{
    return is_full() || (k * 7 + mix) % part == 0;
}

static inline bool is_sampled(size_t k, size_t mix, size_t part)
{
#ifdef LN_EMULATED
    part *= 5;
#endif
    return is_one_in(k, mix, part);
}

/* A buffer for mean or rstd, which have the accumulator's type. */
typedef union statistics_room {
    float f32;
    double f64;
} statistics_room;

static inline size_t statistic_size(const ln_kernel *kernel)
{
    return kernel->accumulator == LN_F64 ? sizeof(double) : sizeof(float);
}

static inline double statistic_at(const ln_kernel *kernel, const void *from, size_t row)
{
    return kernel->accumulator == LN_F64 ? ((const double *)from)[row]
                                         : (double)((const float *)from)[row];
}

/* Fills an operand's numbers; elements_store() makes elements of them. */
static inline void fill_normal(numbers *draws, double *x, size_t count, double mean, double std)
{
    for (size_t i = 0; i < count; i++)
        x[i] = mean + std * numbers_normal(draws);
}

#endif
