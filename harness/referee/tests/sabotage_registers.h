/* Kernels that are right, but leave registers as a function must not: for sabotage_plugin.c. */
#ifndef LNBENCH_SABOTAGE_REGISTERS_H
#define LNBENCH_SABOTAGE_REGISTERS_H

#include "layernorm_plugin.h"

#if defined(__x86_64__) || defined(__aarch64__)
static void clobbers_register(const void *state, const ln_tensors *tensors)
{
    ln_layernorm_with(ln_layernorm_kernel("two_pass_f32_scalar"), state, tensors);
#if defined(__x86_64__)
    __asm__ volatile("xor %r14d, %r14d");
#else
    __asm__ volatile("fmov d14, xzr");
#endif
}
#endif

#if defined(__x86_64__)
static void sets_direction(const void *state, const ln_tensors *tensors)
{
    ln_layernorm_with(ln_layernorm_kernel("two_pass_f32_scalar"), state, tensors);
    __asm__ volatile("std");
}

static void leaves_mmx(const void *state, const ln_tensors *tensors)
{
    ln_layernorm_with(ln_layernorm_kernel("two_pass_f32_scalar"), state, tensors);
    __asm__ volatile("pxor %mm0, %mm0");
}

/* Returns with one word too few on the stack. */
void moves_stack(const void *state, const ln_tensors *tensors);
__asm__(".text\n.type moves_stack, @function\nmoves_stack:\nret $8\n");

static const char *needs_avx(const ln_problem *problem)
{
    (void)problem;
    return __builtin_cpu_supports("avx") ? NULL : "no AVX";
}

static void leaves_upper_halves(const void *state, const ln_tensors *tensors)
{
    ln_layernorm_with(ln_layernorm_kernel("two_pass_f32_scalar"), state, tensors);
    __asm__ volatile("vcmpps $15, %ymm9, %ymm9, %ymm9");
}
#endif

#endif
