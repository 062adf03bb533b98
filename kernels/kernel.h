/* The template of every kernel. CMake writes a small file for each line of kernels.def, compiled with the flags of
 * its ISA. The error bounds of all kernels are in bounds/, compiled for any CPU.
 *
 *     #define LN_NAME two_pass_bf16_param_f32_avx512
 *     #define LN_ITEM f32
 *     #define LN_ACCUMULATOR f32
 *     #define LN_LANE_FILE "lane/avx512.h"
 *     #define LN_STORAGE bf16
 *     #define LN_PARAM f32
 *     #define LN_STATISTICS_FILE "statistics/two_pass.h"
 *     #define LN_APPLY_FILE "apply/direct.h"
 *     #define LN_SCHEDULE_FILE "schedule/plain.h"
 *     #define LN_LANES 16
 *     #define LN_UNROLL 4
 *     #define LN_FMA 1
 *     #include "kernel.h" */
#ifndef LN_KERNEL_H
#define LN_KERNEL_H

/* The interfaces between the parts:
 *     statistics  statistics_prepare(problem), once a call; statistics_pivot(&statistics, &row) -> a
 *                 real, which reads a row for the first time if a pivot is needed;
 *                 statistics_of(&statistics, &row, pivot) -> moments.
 *                 Schedules with several rows at a time need more functions: one_sweep.h
 *     apply       factor, the type in which rstd is computed; centre_of(moments, rstd, quotient) ->
 *                 centre, centre_normalise(centre, x) -> (x - mean) * rstd + quotient.
 *                 CENTRE_CHECKED and CENTRE_FOLDED change a row's last step (schedule/call.h)
 *     schedule    schedule_run(problem, tensors, affine, form), which computes all rows.
 *                 LN_NONTEMPORAL: it stores y around the caches, and the kernel has that trait.
 *                 SCHEDULE_LONG: long rows are computed by schedule_run_long() if
 *                 schedule_is_long(problem). SCHEDULE_FEW: so few rows of the usual form are computed one by one
 *     convention  rstd from the moments, the last step of an element; the addresses of rows */

#ifndef LN_NAME
#define LN_NAME alone
#endif

#include "layernorm_plugin.h"
#include "moments.h"
#include LN_STATISTICS_FILE
#include "convention.h"
#include LN_SCHEDULE_FILE

_Static_assert(LANES == LN_LANES, "isa.def's vector bytes and the lane file disagree");

/* The usual form (vectors gamma and beta; RMSNorm: the weight w) without a residual, which most calls have, gets its
 * own function, in which the form is a constant. All other affine forms share one function, and a second one with a
 * residual, since one for each form would increase the compile time five times. Some schedules have a separate function
 * for long rows, since short ones would lose up to 5 % in a common one. */
typedef void runner(const ln_problem *problem, const ln_tensors *tensors);

LN_INLINE ln_affine form_not_usual(const ln_problem *problem)
{
    ln_affine form = form_of(problem);
    if (form == FORM_USUAL)
        __builtin_unreachable();
    return form;
}

/* gcc 12 omits vzeroupper after calls of its own clones that have vector arguments. */
LN_INLINE void leave_vectors(void)
{
#ifdef __AVX__
    _mm256_zeroupper();
#endif
}

#define LN_RUNNER(name, run, affine, form)                                                         \
    static __attribute__((noinline)) void name(const ln_problem *problem,                          \
                                               const ln_tensors *tensors)                          \
    {                                                                                              \
        run(problem, tensors, affine, form);                                                       \
        leave_vectors();                                                                           \
    }

#ifdef SCHEDULE_LONG
#define LN_RUNNERS(name, affine, form)                                                             \
    LN_RUNNER(name##_short, schedule_run, affine, form)                                            \
    LN_RUNNER(name##_long, schedule_run_long, affine, form)                                        \
    LN_INLINE void name(const ln_problem *problem, const ln_tensors *tensors)                      \
    {                                                                                              \
        (schedule_is_long(problem) ? name##_long : name##_short)(problem, tensors);                \
    }
#else
#define LN_RUNNERS(name, affine, form) LN_RUNNER(name, schedule_run, affine, form)
#endif

LN_RUNNERS(run_usual, FORM_USUAL, RESIDUAL_NONE)
LN_RUNNERS(run_any, form_not_usual(problem), RESIDUAL_NONE)
LN_RUNNERS(run_residual, form_of(problem), RESIDUAL_ADDED)

/* A call with few rows computes each in a function for one row: setting up the stack of a schedule for many rows takes
 * half as long as a row of 64 elements. */
#ifdef SCHEDULE_FEW
static __attribute__((noinline)) void run_one(const ln_problem *problem, const ln_tensors *tensors,
                                              size_t r)
{
    const call run = call_of(problem, tensors, FORM_USUAL, RESIDUAL_NONE);
    run_row(&run, r);
    leave_vectors();
}

LN_INLINE void run_vectors(const ln_problem *problem, const ln_tensors *tensors)
{
    if (problem->rows > SCHEDULE_FEW)
        run_usual(problem, tensors);
    else
        for (size_t r = 0; r < problem->rows; r++)
            run_one(problem, tensors, r);
}
#elif defined(STATISTICS_OF_ONE)
/* One row under the most common convention gets its own code, in which a row of 64 elements needs no loop. Measured:
 * docs/lab/experiments.md, "One row". */
LN_INLINE int is_common_row(const ln_problem *problem)
{
    return problem->rows == 1 && convention_ddof(problem) == 0 &&
           !convention_rounds_root(problem) && problem->convention.eps_place == LN_EPS_VAR;
}

/* Returns 0 if the row must be read again, or has a NaN, whose bits could differ from those in a batch. There are three
 * ifs, since gcc 12 uses only the first part of a combined condition. */
LN_INLINE int run_common_row(const ln_problem *problem, const ln_tensors *tensors, size_t hidden)
{
    if (problem->hidden != hidden)
        __builtin_unreachable();
    if (convention_ddof(problem) != 0 || convention_rounds_root(problem))
        __builtin_unreachable();
    if (problem->convention.eps_place != LN_EPS_VAR)
        __builtin_unreachable();
    const call run = call_of(problem, tensors, FORM_USUAL, RESIDUAL_NONE);
    const row view = call_row(&run, 0);
    moments found = sweep_row(&run.statistics, &view, sweep_is_long(hidden), 0, 0);
    factor rstd = convention_rstd(&run.convention, found);
    if (__builtin_expect(isnan(found.m2) || statistics_is_off(&run.statistics, found), 0))
        return 0;
    apply_row(&view, &run.convention, centre_of(found, rstd, run.convention.quotient));
    keep_moments(tensors, 0, found, rstd);
    return 1;
}

LN_INLINE void run_vectors(const ln_problem *problem, const ln_tensors *tensors)
{
    int done = is_common_row(problem) &&
               (problem->hidden == 64 ? run_common_row(problem, tensors, 64)
                                      : run_common_row(problem, tensors, problem->hidden));
    if (!done)
        run_usual(problem, tensors);
}
#else
#define run_vectors run_usual
#endif

static void run_alone(const ln_problem *problem, const ln_tensors *tensors)
{
    runner *run = form_of(problem) == FORM_USUAL ? run_vectors : run_any;
#ifdef CENTRE_SPLIT
    if (is_column(problem, tensors)) {
        run_column(problem, tensors, run);
        return;
    }
#endif
    run(problem, tensors);
}

void LN_PASTE(ln_run_, LN_NAME)(const void *state, const ln_tensors *tensors);
void LN_PASTE(ln_run_, LN_NAME)(const void *state, const ln_tensors *tensors)
{
    const ln_problem *problem = state;
    if (!tensors->residual)
        run_alone(problem, tensors);
#ifdef LN_SCHEDULE_CALL_H
    else if (ADDED_UP_BEFORE || SCHEDULE_ADDS_UP(problem))
        run_added_up(problem, tensors, run_alone);
#endif
    else
        run_residual(problem, tensors);
#if LN_NONTEMPORAL
    lane_fence();
#endif
}

#endif
