/* The part of sabotage_plugin.c about what a kernel claims of its errors; needs BASE and output_of(). */
#ifndef LNBENCH_SABOTAGE_BOUNDS_H
#define LNBENCH_SABOTAGE_BOUNDS_H

static ln_bound no_number(const ln_problem *problem, const ln_row_facts *facts)
{
    (void)problem;
    (void)facts;
    return (ln_bound){(double)NAN, 0};
}

/* y is right and proven; the mean that it gives is off by less than some order of summation. */
static void shifts_mean(const void *state, const ln_tensors *tensors)
{
    const ln_problem *problem = state;
    ln_layernorm_with(BASE, state, tensors);
    for (size_t row = 0; tensors->mean && row < problem->rows; row++)
        ((float *)tensors->mean)[row] += 0x1p-16f;
}

static ln_bound narrow_bound(const ln_problem *problem, const ln_row_facts *facts)
{
    (void)problem;
    (void)facts;
    return (ln_bound){0x1p-18, 0x1p-20};
}

/* Fewer rows than a judged block has, in another way and with another bound; of short rows, where
 * that would be another convention's answer, all alike. */
enum { FEW_ROWS = 8, SHORT_ROW = 16 };

static bool is_other_way(const ln_problem *problem)
{
    return problem->rows < FEW_ROWS && problem->hidden > SHORT_ROW;
}

static void bound_by_rows(const void *state, const ln_tensors *tensors)
{
    const ln_problem *problem = state;
    ln_layernorm_with(BASE, state, tensors);
    for (size_t row = 0; is_other_way(problem) && row < problem->rows; row++)
        output_of(problem, tensors, row)[0] += 0x1p-16f;
}

static ln_bound wider_for_few(const ln_problem *problem, const ln_row_facts *facts)
{
    (void)facts;
    return (ln_bound){is_other_way(problem) ? 0x1p-14 : 0x1p-18, 0x1p-20};
}

static ln_bound crashing_bound(const ln_problem *problem, const ln_row_facts *facts)
{
    (void)problem;
    (void)facts;
    abort();
}

#endif
