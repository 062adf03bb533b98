/* Where rows lie: strides, in place, residual and sum, and nothing touched outside the rows. Every
 * result must equal, bit for bit, that of the plain call on dense copies. */
#include "tests.h"

#include <sys/mman.h>
#include <unistd.h>

enum { ROWS = 3, LARGEST = 513, GAP = 5, ROOM = ROWS * (LARGEST + GAP) };

OPERAND(x, ROOM);
OPERAND(residual, ROOM);
OPERAND(plain_x, ROOM);
OPERAND(gammas, LARGEST);
OPERAND(betas, LARGEST);
static _Alignas(64) unsigned char plain_y[ROOM * LARGEST_ELEMENT], y[ROOM * LARGEST_ELEMENT];
static _Alignas(64) unsigned char sum[ROOM * LARGEST_ELEMENT];
static statistics_room plain_mean[ROWS], plain_rstd[ROWS];

/* Small sizes, and those around blocks of all ISAs. */
static const size_t sizes[] = {1,  2,  3,  4,  5,  7,  8,   9,   15,  16,  17,  31,  32,  33,  47,
                               48, 49, 63, 64, 65, 95, 127, 128, 129, 191, 255, 256, 257, 300, 513};
#ifdef LN_EMULATED
enum { PART = 5 };
#else
enum { PART = 2 };
#endif
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

/* x, residual and the plain answer on x + residual. */
static void prepare(const ln_kernel *kernel, ln_problem *problem, size_t hidden, size_t seed)
{
    numbers numbers = {seed};
    *problem = problem_of(types_of(kernel), ROWS, hidden, convention_number(seed % CONVENTIONS));
    fill_normal(&numbers, x_values, ROWS * hidden, 3, 1);
    fill_normal(&numbers, residual_values, ROWS * hidden, -1, 2);
    fill_normal(&numbers, gammas_values, hidden, 1, 0.25);
    fill_normal(&numbers, betas_values, hidden, 0, 0.5);
    elements_store(kernel->storage, x, x_values, ROWS * hidden);
    elements_store(kernel->storage, residual, residual_values, ROWS * hidden);
    elements_store(kernel->param, gammas, gammas_values, hidden);
    elements_store(kernel->param, betas, betas_values, hidden);
    for (size_t i = 0; i < ROWS * hidden; i++) /* exact in double where types are shorter */
        plain_x_values[i] = x_values[i] + residual_values[i];
    elements_store(kernel->storage, plain_x, plain_x_values, ROWS * hidden);
    const ln_tensors tensors = {.x = plain_x,
                                .gamma = gammas,
                                .beta = betas,
                                .y = plain_y,
                                .mean = plain_mean,
                                .rstd = plain_rstd};
    kernel->run(problem, &tensors);
}

static void expect_same(const ln_kernel *kernel, size_t hidden, const unsigned char *found,
                        size_t stride, const unsigned char *expected, const char *what)
{
    size_t size = element_size(kernel->storage);
    for (size_t r = 0; r < ROWS; r++)
        if (memcmp(found + r * stride * size, expected + r * hidden * size, hidden * size) != 0)
            fail_msg("%s, hidden %zu, row %zu: %s differs from the plain call's", kernel->name,
                     hidden, r, what);
}

static void each(void (*check)(const ln_kernel *kernel, size_t hidden, size_t seed))
{
    const ln_kernel *kernel;
    for (size_t k = 0; (kernel = kernel_number(k)); k++)
        for (size_t s = 0; s < SIZES; s++)
            for (size_t c = 0; c < 5; c++)
                if (is_sampled(k, s + c, PART))
                    check(kernel, sizes[s], 1 + s * 5 + c * 11 + k);
}

static void check_residual(const ln_kernel *kernel, size_t hidden, size_t seed)
{
    ln_problem problem;
    enum { APART, SUM_IS_X, SUM_IS_RESIDUAL, Y_IS_X, Y_IS_X_SUM_IS_RESIDUAL, NO_SUM, LAYOUTS };
    for (int layout = 0; layout < LAYOUTS; layout++) {
        prepare(kernel, &problem, hidden, seed);
        statistics_room mean[ROWS], rstd[ROWS];
        ln_tensors tensors = {.x = x,
                              .residual = residual,
                              .gamma = gammas,
                              .beta = betas,
                              .y = y,
                              .sum = sum,
                              .mean = mean,
                              .rstd = rstd};
        if (layout == Y_IS_X || layout == Y_IS_X_SUM_IS_RESIDUAL)
            tensors.y = x;
        if (layout == SUM_IS_X)
            tensors.sum = x;
        if (layout == SUM_IS_RESIDUAL || layout == Y_IS_X_SUM_IS_RESIDUAL)
            tensors.sum = residual;
        if (layout == NO_SUM)
            tensors.sum = NULL;
        kernel->run(&problem, &tensors);
        expect_same(kernel, hidden, tensors.y, hidden, plain_y, "y");
        if (tensors.sum)
            expect_same(kernel, hidden, tensors.sum, hidden, plain_x, "sum");
        assert_memory_equal(mean, plain_mean, ROWS * statistic_size(kernel));
        assert_memory_equal(rstd, plain_rstd, ROWS * statistic_size(kernel));
    }
}

static void residual_and_sum(void **state)
{
    (void)state;
    each(check_residual);
}

static void check_in_place(const ln_kernel *kernel, size_t hidden, size_t seed)
{
    ln_problem problem;
    prepare(kernel, &problem, hidden, seed);
    const ln_tensors tensors = {.x = plain_x, .gamma = gammas, .beta = betas, .y = plain_x};
    kernel->run(&problem, &tensors);
    expect_same(kernel, hidden, plain_x, hidden, plain_y, "y");
}

static void in_place(void **state)
{
    (void)state;
    each(check_in_place);
}

/* Pages with nothing behind and before them. */
typedef struct guarded {
    unsigned char *pages;
    size_t size;
} guarded;

static guarded guarded_create(size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), size = (bytes + page - 1) / page * page;
    unsigned char *pages =
        mmap(NULL, size + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(pages != MAP_FAILED);
    assert_int_equal(mprotect(pages + page, size, PROT_READ | PROT_WRITE), 0);
    return (guarded){pages + page, size};
}

static void guarded_destroy(guarded guarded)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    assert_int_equal(munmap(guarded.pages - page, guarded.size + 2 * page), 0);
}

/* Bytes flush with the page behind, or with the page before; all else is a pattern. */
static unsigned char *guarded_bytes(guarded guarded, size_t count, int behind)
{
    memset(guarded.pages, 0x5a, guarded.size);
    return behind ? guarded.pages + guarded.size - count : guarded.pages;
}

/* Rows of so many bytes, so many bytes apart. */
static void spread(unsigned char *to, const unsigned char *from, size_t row, size_t stride)
{
    for (size_t r = 0; r < ROWS; r++)
        memcpy(to + r * stride, from + r * row, row);
}

static void expect_gaps_untouched(const ln_kernel *kernel, guarded guarded,
                                  const unsigned char *rows, size_t row, size_t stride)
{
    const unsigned char *end = guarded.pages + guarded.size;
    for (const unsigned char *p = guarded.pages; p < end; p++) {
        size_t at = (size_t)(p - rows);
        int inside = p >= rows && at < (ROWS - 1) * stride + row && at % stride < row;
        if (!inside && *p != 0x5a)
            fail_msg("%s, rows of %zu bytes: wrote outside the rows, at byte %td", kernel->name,
                     row, p - rows);
    }
}

enum { X, RESIDUAL, GAMMA, BETA, Y, SUM, MEAN, RSTD, BUFFERS };
static guarded buffers[BUFFERS];

static void check_guards(const ln_kernel *kernel, size_t hidden, size_t seed)
{
    ln_problem problem;
    size_t strides[4], size = element_size(kernel->storage), param = element_size(kernel->param);
    prepare(kernel, &problem, hidden, seed);
    for (size_t i = 0; i < 4; i++) /* one of them dense */
        strides[i] = hidden + (seed + i) % 4 * (GAP - 3);
    problem.x_stride = strides[0], problem.residual_stride = strides[1];
    problem.y_stride = strides[2], problem.sum_stride = strides[3];
    size_t statistics = ROWS * statistic_size(kernel), row = hidden * size;
    for (int behind = 0; behind < 2; behind++) {
        unsigned char *at[BUFFERS];
        for (size_t b = 0; b < BUFFERS; b++) {
            static const int stride_of[BUFFERS] = {0, 1, -1, -1, 2, 3, -2, -2};
            int s = stride_of[b];
            at[b] = guarded_bytes(buffers[b],
                                  s >= 0 ? ((ROWS - 1) * strides[s] + hidden) * size
                                         : (s == -1 ? hidden * param : statistics),
                                  behind);
        }
        spread(at[X], x, row, strides[0] * size);
        spread(at[RESIDUAL], residual, row, strides[1] * size);
        memcpy(at[GAMMA], gammas, hidden * param);
        memcpy(at[BETA], betas, hidden * param);
        const ln_tensors tensors = {at[X], at[RESIDUAL], at[GAMMA], at[BETA],
                                    at[Y], at[SUM],      at[MEAN],  at[RSTD]};
        kernel->run(&problem, &tensors);
        expect_same(kernel, hidden, at[Y], strides[2], plain_y, "y");
        expect_same(kernel, hidden, at[SUM], strides[3], plain_x, "sum");
        expect_gaps_untouched(kernel, buffers[Y], at[Y], row, strides[2] * size);
        expect_gaps_untouched(kernel, buffers[SUM], at[SUM], row, strides[3] * size);
        expect_gaps_untouched(kernel, buffers[MEAN], at[MEAN], statistics, statistics);
        expect_gaps_untouched(kernel, buffers[RSTD], at[RSTD], statistics, statistics);
    }
}

/* The plain rows of check_guards all go through residual; this one has none. */
static void check_guards_without_residual(const ln_kernel *kernel, size_t hidden, size_t seed)
{
    ln_problem problem;
    prepare(kernel, &problem, hidden, seed);
    size_t bytes = ROWS * hidden * element_size(kernel->storage);
    for (int behind = 0; behind < 2; behind++) {
        unsigned char *from = guarded_bytes(buffers[X], bytes, behind);
        unsigned char *to = guarded_bytes(buffers[Y], bytes, behind);
        memcpy(from, plain_x, bytes);
        const ln_tensors tensors = {.x = from, .gamma = gammas, .beta = betas, .y = to};
        kernel->run(&problem, &tensors);
        expect_same(kernel, hidden, to, hidden, plain_y, "y");
    }
}

static void nothing_outside_the_rows(void **state)
{
    (void)state;
    for (size_t b = 0; b < BUFFERS; b++)
        buffers[b] = guarded_create(ROOM * LARGEST_ELEMENT);
    each(check_guards);
    each(check_guards_without_residual);
    for (size_t b = 0; b < BUFFERS; b++)
        guarded_destroy(buffers[b]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(residual_and_sum),
        cmocka_unit_test(in_place),
        cmocka_unit_test(nothing_outside_the_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
