/* The template of every kernel. CMake writes two small files for each line of kernels.def: one
 * compiled with the flags of its ISA, which becomes the kernel, and one (LN_BOUND_ONLY) compiled
 * without them, which becomes its error bound: a bound can be asked for on any CPU.
 *
 *     #define LN_NAME two_pass_bf16_param_f32_avx512
 *     #define LN_LANE_FILE "lane/f32_avx512.h"
 *     #define LN_STORAGE_FILE "lane/bf16_over_f32_avx512.h"
 *     #define LN_PARAM_FILE "lane/f32_avx512.h"
 *     #define LN_STORAGE bf16
 *     #define LN_PARAM f32
 *     #define LN_ACCUMULATOR_FILE "lane/accumulator_same.h"
 *     #define LN_STATISTICS_FILE "statistics/two_pass.h"
 *     #define LN_APPLY_FILE "apply/direct.h"
 *     #define LN_SCHEDULE_FILE "schedule/plain.h"
 *     #define LN_LANES 16
 *     #define LN_UNROLL 4
 *     #define LN_FMA 1
 *     #define LN_LONG_SQUARES 0
 *     #include "kernel.h"
 *
 * What the parts give each other:
 *     statistics  statistics_prepare(problem) once a call; statistics_pivot(&statistics, &row) -> a
 *                 real, the first touch of a row where one is needed; statistics_of(&statistics,
 *                 &row, pivot) -> moments; statistics_bound(problem, facts) -> moments_bound
 *                 What schedules that take several rows at a time need more: one_sweep.h
 *     apply       factor, the type in which rstd is computed; centre_of(moments, rstd, quotient) ->
 *                 centre, centre_normalise(centre, x) -> (x - mean) * rstd + quotient,
 *                 centre_bound(problem, facts, moments_bound, rho) -> absolute error of that, rho
 *                 being rstd's relative error. Where it says RSTD_ESTIMATED it also has the root
 *                 (convention.h); CENTRE_GUARDED and CENTRE_FOLDED change a row's last step
 *                 (schedule/rows.h)
 *     schedule    schedule_run(problem, tensors, affine, form): all rows. One that stores y around
 *                 the caches says LN_NONTEMPORAL, and the kernel has that trait. One that has
 *                 another way for long rows says SCHEDULE_LONG, and has schedule_is_long(problem)
 *                 and schedule_run_long()
 *     convention  rstd from the moments, the finish of an element, and their bounds
 */
#ifndef LN_KERNEL_H
#define LN_KERNEL_H

#include "layernorm_plugin.h"
#include LN_LANE_FILE
#include LN_STORAGE_FILE
#include LN_PARAM_FILE
#include "lane/memory.h"

/* a * b + c: one rounding where the kernel's line gives LN_FMA, else two. */
LN_INLINE vec multiply_add(vec a, vec b, vec c)
{
    return LN_FMA ? lane_multiply_add(a, b, c) : lane_add(lane_multiply(a, b), c);
}

#include LN_ACCUMULATOR_FILE

enum { UNROLL = LN_UNROLL, BLOCK = LN_LANES * LN_UNROLL };
_Static_assert((UNROLL & (UNROLL - 1)) == 0 && UNROLL > 0, "unroll must be a power of two");

/* The type of m2: that of the accumulators, or where statistics say LN_SQUARES_IN_DOUBLE, double,
 * which holds m2 in two floats as one number. */
#if LN_LONG_SQUARES
typedef double squares;
#else
typedef real squares;
#endif

/* What statistics finds: mean + rest is the row's mean, in two parts where one is not enough (rest
 * is 0 otherwise), and m2 = scale^2 sum (x - mean)^2, scale being 1, or a power of two that keeps
 * the squares from overflow and underflow. */
typedef struct moments {
    real mean;
    real rest;
    squares m2;
    real scale;
} moments;

/* The sum of UNROLL vectors by a fixed tree. */
LN_INLINE acc parts_sum(const acc parts[UNROLL])
{
    acc sums[UNROLL];
    LN_UNROLLED
    for (unsigned u = 0; u < UNROLL; u++)
        sums[u] = parts[u];
    LN_UNROLLED
    for (unsigned half = UNROLL / 2; half > 0; half /= 2) {
        LN_UNROLLED
        for (unsigned u = 0; u < half; u++)
            sums[u] = acc_add(sums[u], sums[u + half]);
    }
    return sums[0];
}

/* The sum of their lanes: log2(BLOCK) levels. */
LN_INLINE real sum_of(const acc parts[UNROLL])
{
    return acc_sum(parts_sum(parts));
}

#include "bound.h"
#include "cascade.h"
#include "row.h"
/* Statistics that choose a scale ask what eps lets matter; convention.h knows, and comes later. */
LN_INLINE real convention_floor(const ln_convention *convention);
#include LN_STATISTICS_FILE
#include LN_APPLY_FILE
#include "convention.h"

#ifdef LN_BOUND_ONLY

/* The kernel's proven bound (see ln_bound), put together from its parts' bounds. */
ln_bound LN_PASTE(ln_bound_, LN_NAME)(const ln_problem *problem, const ln_row_facts *facts);
ln_bound LN_PASTE(ln_bound_, LN_NAME)(const ln_problem *problem, const ln_row_facts *facts)
{
    /* A NaN or Inf, and one element under ddof 1, make the whole row NaN: that is kept exactly. */
    if (!isfinite(facts->max_abs) || (problem->hidden == 1 && problem->convention.ddof == 1))
        return (ln_bound){0.0, 0.0};
    /* Facts are doubles: the variance of f64 rows may be beyond them. */
    if (facts->max_dev > 0 && !(facts->var >= DBL_MIN && facts->var <= DBL_MAX))
        return (ln_bound){INFINITY, 0.0};
    moments_bound moments = statistics_bound(problem, facts);
    return convention_bound(problem, facts, &moments);
}

#else

#include LN_SCHEDULE_FILE

_Static_assert(LANES == LN_LANES, "isa.def's vector bytes and the lane file disagree");
_Static_assert(sizeof(factor) >= sizeof(squares), "rstd is computed from all of m2");

/* Each affine form and form of residual gets a function of its own, in which both are constants.
 * (All in one takes compilers three times as long, and runs slower. So do long rows beside short
 * ones, which lose up to 5 % to that.) */
typedef void runner(const ln_problem *problem, const ln_tensors *tensors);

#define LN_RUNNER(name, run, affine, form)                                                         \
    static __attribute__((noinline)) void name(const ln_problem *problem,                          \
                                               const ln_tensors *tensors)                          \
    {                                                                                              \
        run(problem, tensors, affine, form);                                                       \
    }

#define LN_RUNNERS_OF(name, run, affine)                                                           \
    LN_RUNNER(name##_alone, run, affine, RESIDUAL_NONE)                                            \
    LN_RUNNER(name##_residual, run, affine, RESIDUAL_READ)                                         \
    LN_RUNNER(name##_sum, run, affine, RESIDUAL_WRITTEN)                                           \
    static runner *const name[] = {name##_alone, name##_residual, name##_sum};

#ifdef SCHEDULE_LONG
#define LN_RUNNERS(name, affine)                                                                   \
    LN_RUNNERS_OF(name, schedule_run, affine)                                                      \
    LN_RUNNERS_OF(name##_long, schedule_run_long, affine)
#else
#define LN_RUNNERS(name, affine) LN_RUNNERS_OF(name, schedule_run, affine)
#endif

LN_RUNNERS(run_none, LN_AFFINE_NONE)
LN_RUNNERS(run_scalar, LN_AFFINE_SCALAR)
LN_RUNNERS(run_gamma, LN_AFFINE_GAMMA)
LN_RUNNERS(run_vector, LN_AFFINE_VECTOR)
LN_RUNNERS(run_gamma1, LN_AFFINE_GAMMA1)

/* By affine form. */
static runner *const *const runners[] = {
    [LN_AFFINE_NONE] = run_none,     [LN_AFFINE_SCALAR] = run_scalar, [LN_AFFINE_GAMMA] = run_gamma,
    [LN_AFFINE_VECTOR] = run_vector, [LN_AFFINE_GAMMA1] = run_gamma1,
};

#ifdef SCHEDULE_LONG
static runner *const *const runners_long[] = {
    [LN_AFFINE_NONE] = run_none_long,     [LN_AFFINE_SCALAR] = run_scalar_long,
    [LN_AFFINE_GAMMA] = run_gamma_long,   [LN_AFFINE_VECTOR] = run_vector_long,
    [LN_AFFINE_GAMMA1] = run_gamma1_long,
};
#else
#define runners_long runners
#define schedule_is_long(problem) 0
#endif

void LN_PASTE(ln_run_, LN_NAME)(const void *state, const ln_tensors *tensors);
void LN_PASTE(ln_run_, LN_NAME)(const void *state, const ln_tensors *tensors)
{
    const ln_problem *problem = state;
    runner *const *const *of_length = schedule_is_long(problem) ? runners_long : runners;
    residual_form form = !tensors->residual ? RESIDUAL_NONE
                         : !tensors->sum    ? RESIDUAL_READ
                                            : RESIDUAL_WRITTEN;
    of_length[problem->convention.affine][form](problem, tensors);
#ifdef LN_NONTEMPORAL
    lane_fence();
#endif
}

#endif
#endif
