/* A block from arrays of a test; NULL where there is none. */
#ifndef LNBENCH_TESTS_BLOCK_H
#define LNBENCH_TESTS_BLOCK_H

#include "judge/judge.h"

static inline bool block_from(row_judge *judge, judge_block *block, const ln_convention *convention,
                              ln_type storage, ln_type param, size_t rows, size_t hidden,
                              const void *x, const void *residual, const void *gamma,
                              const void *beta, error *err)
{
    operation_call call = {.problem = problem_dense(convention, storage, param, rows, hidden),
                           .inputs = {[ROLE_X] = (void *)x,
                                      [ROLE_RESIDUAL] = (void *)residual,
                                      [ROLE_GAMMA] = (void *)gamma,
                                      [ROLE_BETA] = (void *)beta}};
    return judge_block_from(judge, block, &call, err);
}

#endif
