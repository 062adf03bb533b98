/* The kernels that promise the same bits on every ISA and under any unroll keep that promise.
 * aarch64_test compares those of another architecture. */
#include "tests.h"

enum { ROWS = 4, LARGEST = 1100 };

OPERAND(x, ROWS *LARGEST);
OPERAND(gammas, LARGEST);
OPERAND(betas, LARGEST);
static double y[ROWS * LARGEST], first_y[ROWS * LARGEST]; /* room for any type */
static double statistics[2][ROWS], first_statistics[2][ROWS];

/* Rows in which another order of summation, or a fused operation, shows. */
static void fill(numbers *draws, types pair, size_t hidden)
{
    static const double means[ROWS] = {0, 3, -1e4, 1e4}, deviations[ROWS] = {1, 1e3, 1, 1e-1};
    for (size_t r = 0; r < ROWS; r++)
        fill_normal(draws, x_values + r * hidden, hidden, means[r], deviations[r]);
    fill_normal(draws, gammas_values, hidden, 1, 1);
    fill_normal(draws, betas_values, hidden, 0, 1);
    elements_store(pair.storage, x, x_values, ROWS * hidden);
    elements_store(pair.param, gammas, gammas_values, hidden);
    elements_store(pair.param, betas, betas_values, hidden);
}

/* How many kernels of the kind there are; all must give what the first gives. */
static size_t compare(const ln_problem *problem, types pair)
{
    size_t hidden = problem->hidden, found = 0, size = ROWS * hidden * element_size(pair.storage);
    const ln_kernel *kernel;
    for (size_t k = 0; (kernel = kernel_that_runs(k, 1)); k++) {
        if (strcmp(kernel->statistics, "reproducible") != 0 || !has_types(kernel, pair))
            continue;
        const ln_tensors tensors = {.x = x,
                                    .gamma = gammas,
                                    .beta = betas,
                                    .y = y,
                                    .mean = statistics[0],
                                    .rstd = statistics[1]};
        kernel->run(problem, &tensors);
        if (found++ == 0) {
            memcpy(first_y, y, size);
            memcpy(first_statistics, statistics, sizeof(statistics));
        }
        if (memcmp(first_y, y, size) != 0 ||
            memcmp(first_statistics, statistics, sizeof(statistics)) != 0)
            fail_msg("%s gives other bits at hidden %zu, affine %d", kernel->name, hidden,
                     (int)problem->convention.affine);
    }
    return found;
}

static void same_bits_everywhere(void **state)
{
    (void)state;
    numbers draws = {11};
    for (size_t t = 0; t < TYPE_PAIRS; t++) {
        /* Of f32 every size of whole tiles and what is left of them, of the others each once. */
        size_t dense = t == 0 ? 260 : 130, step = t == 0 && !is_thinned() ? 3 : 11;
        for (size_t hidden = 2; hidden <= LARGEST; hidden += hidden < dense ? 1 : 61) {
            fill(&draws, type_pairs[t], hidden);
            for (size_t c = hidden % step; c < CONVENTIONS; c += step) {
                ln_problem problem = problem_of(type_pairs[t], ROWS, hidden, convention_number(c));
                assert_true(compare(&problem, type_pairs[t]) > 0);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits_everywhere)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
