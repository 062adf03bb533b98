/* What all kernel tests need. */
#ifndef KERNEL_TESTS_H
#define KERNEL_TESTS_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

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

static inline ln_problem problem_of(size_t rows, size_t hidden, ln_convention convention)
{
    return (ln_problem){.rows = rows,
                        .hidden = hidden,
                        .storage = LN_F32,
                        .param = LN_F32,
                        .convention = convention};
}

/* The kernels that run here. */
static inline const ln_kernel *kernel_number(size_t number)
{
    const ln_plugin *plugin = ln_plugin_v1();
    const ln_problem problem = problem_of(1, 1, convention_number(0));
    for (size_t i = 0; i < plugin->count; i++)
        if (!plugin->kernels[i].supports(&problem) && number-- == 0)
            return &plugin->kernels[i];
    return NULL;
}

/* Whether a test takes this case of kernel number k: all under LNBENCH_FULL=1, else one in `part`,
 * so spread that each kernel meets each value of what `mix` counts. */
static inline int is_sampled(size_t k, size_t mix, size_t part)
{
    return getenv("LNBENCH_FULL") != NULL || (k * 7 + mix) % part == 0;
}

/* Mean and rstd have the accumulator's type: room for either, and how to read it. */
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

static inline void fill_normal(numbers *numbers, float *x, size_t count, double mean, double std)
{
    for (size_t i = 0; i < count; i++)
        x[i] = (float)(mean + std * numbers_normal(numbers));
}

#endif
