/* Where rows lie: strides, in place, residual and sum, and nothing touched outside the rows. Every
 * result must equal, bit for bit, that of the plain call on dense copies. */
#include "tests.h"

#include <sys/mman.h>
#include <unistd.h>

enum { MOST_ROWS = 37, LARGEST = 4100, GAP = 5, ROOM = 3 * (LARGEST + GAP) };

OPERAND(x, ROOM);
OPERAND(residual, ROOM);
OPERAND(plain_x, ROOM);
OPERAND(zeros, ROOM);
OPERAND(gammas, LARGEST);
OPERAND(betas, LARGEST);
static _Alignas(64) unsigned char plain_y[ROOM * LARGEST_ELEMENT], y[ROOM * LARGEST_ELEMENT];
static _Alignas(64) unsigned char sum[ROOM * LARGEST_ELEMENT];
static statistics_room plain_mean[MOST_ROWS], plain_rstd[MOST_ROWS];

typedef struct shape {
    size_t rows, hidden;
} shape;

/* Small sizes, and those around blocks of all ISAs; then groups of rows, whole ones and parts, as
 * schedules take them, and rows of several chunks and blocks. */
static const shape shapes[] = {
    {3, 1},   {3, 2},    {3, 3},    {3, 4},    {3, 5},    {3, 7},   {3, 8},   {3, 9},
    {3, 15},  {3, 16},   {3, 17},   {3, 31},   {3, 32},   {3, 33},  {3, 47},  {3, 48},
    {3, 49},  {3, 63},   {3, 64},   {3, 65},   {3, 95},   {3, 127}, {3, 128}, {3, 129},
    {3, 191}, {3, 255},  {3, 256},  {3, 257},  {3, 300},  {3, 513}, {37, 1},  {37, 9},
    {37, 33}, {18, 128}, {16, 250}, {5, 1041}, {5, 2049}, {3, 4100}};
#ifdef LN_EMULATED
enum { PART = 5 };
#else
enum { PART = 2 };
#endif
enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

/* On AVX512-BF16 retry sums products of pairs where there is no residual (retry.h), and
 * round otherwise than those of a row that is added up. */
static int sums_pairs(const ln_kernel *kernel)
{
    return strcmp(kernel->statistics, "retry") == 0 && kernel->accumulator == LN_F32 &&
           strcmp(kernel->isa, "avx512bf16") == 0;
}

/* x, residual and the plain answer on x + residual; `adds`: what is held against it has a residual.
 * Then it is x + residual + -0 where sums are of pairs. */
static void prepare(const ln_kernel *kernel, ln_problem *problem, shape extent, size_t seed,
                    int adds)
{
    size_t hidden = extent.hidden, count = extent.rows * hidden;
    numbers draws = {seed};
    *problem =
        problem_of(types_of(kernel), extent.rows, hidden, convention_number(seed % CONVENTIONS));
    fill_normal(&draws, x_values, count, 3, 1);
    fill_normal(&draws, residual_values, count, -1, 2);
    fill_normal(&draws, gammas_values, hidden, 1, 0.25);
    fill_normal(&draws, betas_values, hidden, 0, 0.5);
    elements_store(kernel->storage, x, x_values, count);
    elements_store(kernel->storage, residual, residual_values, count);
    elements_store(kernel->param, gammas, gammas_values, hidden);
    elements_store(kernel->param, betas, betas_values, hidden);
    for (size_t i = 0; i < count; i++) /* exact in double where types are shorter */
        plain_x_values[i] = x_values[i] + residual_values[i];
    elements_store(kernel->storage, plain_x, plain_x_values, count);
    for (size_t i = 0; i < count; i++)
        zeros_values[i] = -0.0;
    elements_store(kernel->storage, zeros, zeros_values, count);
    const ln_tensors tensors = {.x = plain_x,
                                .residual = adds && sums_pairs(kernel) ? zeros : NULL,
                                .gamma = gammas,
                                .beta = betas,
                                .y = plain_y,
                                .mean = plain_mean,
                                .rstd = plain_rstd};
    kernel->run(problem, &tensors);
}

static void expect_same(const ln_kernel *kernel, shape extent, const unsigned char *found,
                        size_t stride, const unsigned char *expected, const char *what)
{
    size_t size = element_size(kernel->storage), hidden = extent.hidden;
    for (size_t r = 0; r < extent.rows; r++)
        if (memcmp(found + r * stride * size, expected + r * hidden * size, hidden * size) != 0)
            fail_msg("%s, hidden %zu, row %zu of %zu: %s differs from the plain call's",
                     kernel->name, hidden, r, extent.rows, what);
}

static void each(void (*check)(const ln_kernel *kernel, shape extent, size_t seed))
{
    const ln_kernel *kernel;
    size_t thinner = is_thinned() ? 4 : 1;
    for (size_t k = 0; (kernel = kernel_number(k)); k++)
        for (size_t s = 0; s < SHAPES; s++)
            for (size_t c = 0; c < 5; c++)
                if (shapes[s].hidden > 1000 ? c == 0 && is_sampled(k, s, thinner) /* long: once */
                                            : is_sampled(k, s + c, PART * thinner))
                    check(kernel, shapes[s], 1 + s * 5 + c * 11 + k);
}

static void check_residual(const ln_kernel *kernel, shape extent, size_t seed)
{
    ln_problem problem;
    enum { APART, SUM_IS_X, SUM_IS_RESIDUAL, Y_IS_X, Y_IS_X_SUM_IS_RESIDUAL, NO_SUM, LAYOUTS };
    for (int places = 0; places < LAYOUTS; places++) {
        prepare(kernel, &problem, extent, seed, 1);
        statistics_room mean[MOST_ROWS], rstd[MOST_ROWS];
        ln_tensors tensors = {.x = x,
                              .residual = residual,
                              .gamma = gammas,
                              .beta = betas,
                              .y = y,
                              .sum = sum,
                              .mean = mean,
                              .rstd = rstd};
        if (places == Y_IS_X || places == Y_IS_X_SUM_IS_RESIDUAL)
            tensors.y = x;
        if (places == SUM_IS_X)
            tensors.sum = x;
        if (places == SUM_IS_RESIDUAL || places == Y_IS_X_SUM_IS_RESIDUAL)
            tensors.sum = residual;
        if (places == NO_SUM)
            tensors.sum = NULL;
        kernel->run(&problem, &tensors);
        expect_same(kernel, extent, tensors.y, extent.hidden, plain_y, "y");
        if (tensors.sum)
            expect_same(kernel, extent, tensors.sum, extent.hidden, plain_x, "sum");
        assert_memory_equal(mean, plain_mean, extent.rows * statistic_size(kernel));
        assert_memory_equal(rstd, plain_rstd, extent.rows * statistic_size(kernel));
    }
}

TEST(residual_and_sum)
{
    each(check_residual);
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

static void guarded_destroy(guarded fenced)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    assert_int_equal(munmap(fenced.pages - page, fenced.size + 2 * page), 0);
}

/* Bytes flush with the page behind, or with the page before; all else is a pattern. */
static unsigned char *guarded_bytes(guarded fenced, size_t count, int behind)
{
    memset(fenced.pages, 0x5a, fenced.size);
    return behind ? fenced.pages + fenced.size - count : fenced.pages;
}

/* Rows of so many bytes, so many bytes apart. */
static void spread(size_t rows, unsigned char *to, const unsigned char *from, size_t row,
                   size_t stride)
{
    for (size_t r = 0; r < rows; r++)
        memcpy(to + r * stride, from + r * row, row);
}

static void expect_gaps_untouched(const ln_kernel *kernel, guarded fenced, size_t rows,
                                  const unsigned char *first, size_t row, size_t stride)
{
    const unsigned char *end = fenced.pages + fenced.size;
    for (const unsigned char *p = fenced.pages; p < end; p++) {
        size_t at = (size_t)(p - first);
        int inside = p >= first && at < (rows - 1) * stride + row && at % stride < row;
        if (!inside && *p != 0x5a)
            fail_msg("%s, rows of %zu bytes: wrote outside the rows, at byte %td", kernel->name,
                     row, p - first);
    }
}

enum { X, RESIDUAL, GAMMA, BETA, Y, SUM, MEAN, RSTD, BUFFERS };
static guarded whole[BUFFERS], buffers[BUFFERS];

/* Of the whole buffers as much as these rows need, and up to a page, next to the guard. */
static void narrow_buffers(shape extent, int behind)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t size = (extent.rows * (extent.hidden + 2 * GAP) * LARGEST_ELEMENT / page + 1) * page;
    for (size_t b = 0; b < BUFFERS; b++) {
        buffers[b] = whole[b];
        if (size >= whole[b].size)
            continue;
        buffers[b].size = size;
        buffers[b].pages += behind ? whole[b].size - size : 0;
    }
}

static void check_guards(const ln_kernel *kernel, shape extent, size_t seed)
{
    ln_problem problem;
    size_t hidden = extent.hidden, strides[4], size = element_size(kernel->storage),
           param = element_size(kernel->param);
    prepare(kernel, &problem, extent, seed, 1);
    for (size_t i = 0; i < 4; i++) /* one of them dense */
        strides[i] = hidden + (seed + i) % 4 * (GAP - 3);
    problem.x_stride = strides[0], problem.residual_stride = strides[1];
    problem.y_stride = strides[2], problem.sum_stride = strides[3];
    size_t statistics = extent.rows * statistic_size(kernel), row = hidden * size;
    for (int behind = 0; behind < 2; behind++) {
        narrow_buffers(extent, behind);
        unsigned char *at[BUFFERS];
        for (size_t b = 0; b < BUFFERS; b++) {
            static const int stride_of[BUFFERS] = {0, 1, -1, -1, 2, 3, -2, -2};
            int s = stride_of[b];
            at[b] = guarded_bytes(buffers[b],
                                  s >= 0 ? ((extent.rows - 1) * strides[s] + hidden) * size
                                         : (s == -1 ? hidden * param : statistics),
                                  behind);
        }
        spread(extent.rows, at[X], x, row, strides[0] * size);
        spread(extent.rows, at[RESIDUAL], residual, row, strides[1] * size);
        memcpy(at[GAMMA], gammas, hidden * param);
        memcpy(at[BETA], betas, hidden * param);
        const ln_tensors tensors = {at[X], at[RESIDUAL], at[GAMMA], at[BETA],
                                    at[Y], at[SUM],      at[MEAN],  at[RSTD]};
        kernel->run(&problem, &tensors);
        expect_same(kernel, extent, at[Y], strides[2], plain_y, "y");
        expect_same(kernel, extent, at[SUM], strides[3], plain_x, "sum");
        expect_gaps_untouched(kernel, buffers[Y], extent.rows, at[Y], row, strides[2] * size);
        expect_gaps_untouched(kernel, buffers[SUM], extent.rows, at[SUM], row, strides[3] * size);
        expect_gaps_untouched(kernel, buffers[MEAN], 1, at[MEAN], statistics, statistics);
        expect_gaps_untouched(kernel, buffers[RSTD], 1, at[RSTD], statistics, statistics);
    }
}

/* The plain rows of check_guards all go through residual; this one has none. */
static void check_guards_without_residual(const ln_kernel *kernel, shape extent, size_t seed)
{
    ln_problem problem;
    prepare(kernel, &problem, extent, seed, 0);
    size_t hidden = extent.hidden, bytes = extent.rows * hidden * element_size(kernel->storage);
    for (int behind = 0; behind < 2; behind++) {
        narrow_buffers(extent, behind);
        unsigned char *from = guarded_bytes(buffers[X], bytes, behind);
        unsigned char *to = guarded_bytes(buffers[Y], bytes, behind);
        memcpy(from, plain_x, bytes);
        const ln_tensors tensors = {.x = from, .gamma = gammas, .beta = betas, .y = to};
        kernel->run(&problem, &tensors);
        expect_same(kernel, extent, to, hidden, plain_y, "y");
    }
}

TEST(nothing_outside_the_rows)
{
    each(check_guards);
    each(check_guards_without_residual);
}

/* y over x, and with a residual the sum over that: each row is read before it is written, and what
 * lies between the rows stays as it was. */
static void check_in_place(const ln_kernel *kernel, shape extent, size_t seed)
{
    size_t hidden = extent.hidden, size = element_size(kernel->storage), row = hidden * size;
    size_t stride = hidden + seed / 2 % 2 * GAP,
           bytes = ((extent.rows - 1) * stride + hidden) * size;
    for (int adds = 0; adds < 2; adds++) {
        ln_problem problem;
        prepare(kernel, &problem, extent, seed, adds);
        problem.x_stride = problem.y_stride = stride;
        problem.residual_stride = problem.sum_stride = stride;
        for (int behind = 0; behind < 2; behind++) {
            narrow_buffers(extent, behind);
            unsigned char *rows = guarded_bytes(buffers[Y], bytes, behind);
            unsigned char *added = guarded_bytes(buffers[SUM], bytes, behind);
            spread(extent.rows, rows, adds ? x : plain_x, row, stride * size);
            spread(extent.rows, added, residual, row, stride * size);
            const ln_tensors tensors = {.x = rows,
                                        .residual = adds ? added : NULL,
                                        .gamma = gammas,
                                        .beta = betas,
                                        .y = rows,
                                        .sum = adds ? added : NULL};
            kernel->run(&problem, &tensors);
            expect_same(kernel, extent, rows, stride, plain_y, "y in place");
            expect_same(kernel, extent, added, stride, adds ? plain_x : residual, "sum in place");
            expect_gaps_untouched(kernel, buffers[Y], extent.rows, rows, row, stride * size);
            expect_gaps_untouched(kernel, buffers[SUM], extent.rows, added, row, stride * size);
        }
    }
}

TEST(in_place)
{
    each(check_in_place);
}

static int open_buffers(void **state)
{
    (void)state;
    for (size_t b = 0; b < BUFFERS; b++)
        whole[b] = guarded_create(ROOM * LARGEST_ELEMENT);
    return 0;
}

static int close_buffers(void **state)
{
    (void)state;
    for (size_t b = 0; b < BUFFERS; b++)
        guarded_destroy(whole[b]);
    return 0;
}

int main(void)
{
    return test_run(open_buffers, close_buffers);
}
