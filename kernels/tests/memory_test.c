/* Runs every kernel on buffers of exactly the required length, for tools that check memory accesses: AddressSanitizer
 * (the preset sanitize), and valgrind on the ISAs that it supports (memory_valgrind). They find accesses outside a
 * buffer; valgrind also finds results that depend on uninitialised memory. Without such a tool this test still checks
 * that all results were written and are numbers. */
#include "tests.h"
#include <stdio.h>

enum { NO_RESIDUAL, RESIDUAL, SUM, IN_PLACE, SUM_IN_PLACE, FORMS };

typedef struct shape {
    size_t rows, hidden;
} shape;

/* Shapes that end before and after all vectors and blocks; then whole and partial groups of rows, as schedules form
 * them, and rows of several chunks and blocks. */
static const shape shapes[] = {
    {5, 1},  {1, 2},  {5, 3},   {1, 7},    {5, 8},    {1, 9},    {5, 15},  {1, 17},
    {5, 31}, {1, 33}, {5, 63},  {1, 65},   {5, 127},  {1, 129},  {5, 257}, {1, 300},
    {1, 1},  {5, 2},  {1, 3},   {5, 7},    {1, 8},    {5, 9},    {1, 15},  {5, 17},
    {1, 31}, {5, 33}, {1, 63},  {5, 65},   {1, 127},  {5, 129},  {1, 257}, {5, 300},
    {37, 1}, {37, 9}, {37, 33}, {18, 128}, {11, 250}, {3, 1041}, {3, 2065}};
enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

static void *filled(numbers *draws, ln_type type, size_t count)
{
    void *elements = malloc(count * element_size(type));
    assert_non_null(elements);
    for (size_t i = 0; i < count; i++)
        element_put(type, elements, i, 1 + numbers_normal(draws));
    return elements;
}

/* Returns memory that was never written to, so that valgrind detects elements that a kernel does not write. */
static void *unwritten(size_t bytes)
{
    void *memory = malloc(bytes);
    assert_non_null(memory);
    return memory;
}

static void expect_numbers(const ln_kernel *kernel, ln_type type, const void *elements,
                           size_t count, size_t hidden, const char *what)
{
    for (size_t i = 0; elements && i < count; i++)
        if (!isfinite(element_get(type, elements, i)))
            fail_msg("%s, hidden %zu: element %zu of %s is no number", kernel->name, hidden, i,
                     what);
}

static void check(const ln_kernel *kernel, shape extent, size_t convention, int form)
{
    size_t rows = extent.rows, hidden = extent.hidden;
    numbers draws = {hidden};
    size_t count = rows * hidden, size = element_size(kernel->storage);
    ln_problem problem =
        problem_of(types_of(kernel), rows, hidden, convention_number(convention % CONVENTIONS));
    ln_affine affine = problem.convention.affine;
    size_t parameters = ln_parameter_elements(affine, hidden);
    void *x = filled(&draws, kernel->storage, count);
    void *residual =
        form == NO_RESIDUAL || form == IN_PLACE ? NULL : filled(&draws, kernel->storage, count);
    void *gamma = affine == LN_AFFINE_NONE ? NULL : filled(&draws, kernel->param, parameters);
    void *beta = affine == LN_AFFINE_NONE || affine == LN_AFFINE_GAMMA
                     ? NULL
                     : filled(&draws, kernel->param, parameters);
    void *other_y = unwritten(count * size), *other_sum = unwritten(count * size);
    void *y = form >= IN_PLACE ? x : other_y;
    void *sum = form == SUM ? other_sum : form == SUM_IN_PLACE ? residual : NULL;
    void *mean = unwritten(rows * statistic_size(kernel));
    void *rstd = unwritten(rows * statistic_size(kernel));
    const ln_tensors tensors = {x, residual, gamma, beta, y, sum, mean, rstd};
    kernel->run(&problem, &tensors);
    if (hidden > 1) { /* one element has no variance */
        expect_numbers(kernel, kernel->storage, y, count, hidden, "y");
        expect_numbers(kernel, kernel->accumulator, rstd, rows, hidden, "rstd");
    }
    expect_numbers(kernel, kernel->storage, sum, count, hidden, "the sum");
    expect_numbers(kernel, kernel->accumulator, mean, rows, hidden, "mean");
    void *const all[] = {x, residual, gamma, beta, other_y, other_sum, mean, rstd};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        free(all[i]);
}

/* Conventions and forms are distributed so that a kernel gets each affine form with and without a residual,
 * and in place. */
TEST(buffers_are_as_long_as_needed)
{
    const ln_kernel *kernel;
    size_t k = 0;
    for (; (kernel = kernel_number(k)); k++)
        for (size_t s = 0; s < SHAPES; s++) {
            size_t affine = (s + s / FORMS) % 5;
            check(kernel, shapes[s], 8 * affine + (3 * s + k) % 8, (int)((s + k) % FORMS));
        }
    printf("%zu of %zu kernels (the others' ISA is not here)\n", k, ln_plugin()->count);
    assert_true(k > 0);
}
