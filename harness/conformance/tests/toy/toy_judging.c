/* What the judge needs of y = x gamma: one rounding, which no order of summation changes. */
#include "exact/scale.h"
#include "judge/judging.h"
#include <stdio.h>

static bool answer(ln_reference *reference, const judge_block *block, size_t row)
{
    ln_reference_result *made = &block->results[row];
    const float *x = judge_row_of(block, block->inputs[ROLE_X], row);
    const float *gamma = block->inputs[ROLE_GAMMA];
    (void)reference;
    made->facts = (ln_row_facts){.rstd = 1};
    made->max_xhat = 0;
    for (size_t i = 0; i < block->hidden; i++) {
        made->exact[i] = (double)x[i] * (double)gamma[i];
        storage_store(LN_F32, made->rounded, i, made->exact[i]);
        made->max_xhat = fmax(made->max_xhat, fabs((double)x[i]));
    }
    made->facts.max_abs = made->max_xhat;
    made->kappa = 1;
    return true;
}

static order_answer any_order(const order_question *asked, const ln_row_facts *facts)
{
    (void)facts;
    return (order_answer){.bound = {0, 2 * unit_roundoff(asked->storage)}};
}

static textbook_errors textbook_way(textbook *book, const metrics_row *row, const double *x,
                                    ln_type accumulator)
{
    (void)book;
    (void)row;
    (void)x;
    (void)accumulator;
    return (textbook_errors){.row_ulp = 0.5};
}

static double reach(const metrics_row *row, const double *x, size_t column)
{
    return fabs(x[column]) * gamma_size(row, column);
}

const operation_judging toy_judging = {
    .answer = answer, .any_order = any_order, .textbook = textbook_way, .reach = reach};
