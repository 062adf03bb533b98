/* Makes blocks for a test: from its arrays (NULL: none), and from an input. */
#ifndef LNBENCH_TESTS_BLOCK_H
#define LNBENCH_TESTS_BLOCK_H

#include "domain/operation.h"
#include "judge/judge.h"
#include "test.h"

static inline void block_from(row_judge *judge, judge_block *block, const ln_convention *convention,
                              ln_type storage, ln_type param, size_t rows, size_t hidden,
                              const void *x, const void *residual, const void *gamma,
                              const void *beta)
{
    operation_call call = {.problem = problem_dense(convention, storage, param, rows, hidden),
                           .inputs = {[ROLE_X] = (void *)x,
                                      [ROLE_RESIDUAL] = (void *)residual,
                                      [ROLE_GAMMA] = (void *)gamma,
                                      [ROLE_BETA] = (void *)beta}};
    judge_block_from(judge, block, &call);
}

static inline void block_of(row_judge *judge, judge_block *block, const char *list, ln_type storage,
                            ln_type param, const char *input, size_t rows, size_t hidden)
{
    ln_convention convention;
    error err = {0};
    if (!convention_parse(list, &convention, &err))
        fail_msg("%s", err.message);
    judge_block_generate(judge, block, call_dense(&convention, storage, param, rows, hidden), input,
                         NULL, 0);
}

#endif
