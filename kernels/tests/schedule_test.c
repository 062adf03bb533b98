/* Tests that a row's bits depend only on that row. For any number of rows, position in the call,
 * alignment of y and placement of the tensors, the bits are those of the plain or fused kernel of
 * the same statistics, apply, types and ISA (or else of the pipelined one or the kernel itself),
 * called with only that row, dense, and with x + residual as x. So schedules that process rows in groups
 * compute the remaining rows by the same tree, without any influence of neighbours.
 *
 * Nothing outside the rows is accessed: each tensor ends or begins at an inaccessible page, and
 * the bytes between its rows and around them must not change. */
#include "tests.h"

#include <sys/mman.h>
#include <unistd.h>

enum {
    FEW_ROWS = 13,
    MOST_ROWS = 150,
    SHORT = 100,
    LARGEST = 4100,
    GAP = 19,
    ROOM = FEW_ROWS * (2200 + GAP),
    LINE = 64
};
_Static_assert(MOST_ROWS *(SHORT + GAP) <= ROOM && 3 * (LARGEST + GAP) <= ROOM, "all have room");

OPERAND(x, ROOM);
OPERAND(residual, ROOM);
OPERAND(sums, ROOM); /* x, or x + residual */
OPERAND(zeros, LARGEST);
OPERAND(gammas, LARGEST);
OPERAND(betas, LARGEST);
static _Alignas(64) unsigned char plain_y[LARGEST * LARGEST_ELEMENT];

/* ---- placement of tensors ---- */

enum { X, RESIDUAL, Y, SUM, GAMMA, BETA, MEAN, RSTD, BUFFERS, NONE = BUFFERS };
enum { WITH_ROWS = SUM + 1, PATTERN = 0x5a };

/* The buffers to which y and the sum are written. */
static const struct form {
    int y, sum;
    bool adds; /* a residual */
} forms[] = {{Y, NONE, false}, {X, NONE, false},    {Y, NONE, true},
             {X, NONE, true},  {Y, SUM, true},      {X, SUM, true},
             {Y, X, true},     {Y, RESIDUAL, true}, {X, RESIDUAL, true}};
enum { FORMS = sizeof(forms) / sizeof(forms[0]) };

/* One call. */
typedef struct layout {
    size_t rows, hidden;
    size_t strides[WITH_ROWS];
    size_t offset; /* of y in bytes, after the page before it */
    const struct form *form;
    bool ends; /* tensors end before an inaccessible page, and do not begin after one */
} layout;

/* Pages between two inaccessible ones, with a tensor surrounded by a pattern. */
typedef struct guarded {
    unsigned char *pages, *tensor;
    size_t size, from, used; /* the bytes of all pages; the range for a tensor of this size */
} guarded;

static guarded buffers[BUFFERS];

static int open_buffers(void **state)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t size = (ROOM * LARGEST_ELEMENT / page + 2) * page;
    (void)state;
    for (size_t b = 0; b < BUFFERS; b++) {
        unsigned char *pages =
            mmap(NULL, size + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (pages == MAP_FAILED || mprotect(pages + page, size, PROT_READ | PROT_WRITE) != 0)
            return -1;
        buffers[b] = (guarded){.pages = pages + page, .size = size};
    }
    return 0;
}

static void put_buffer(guarded *buffer, size_t bytes, size_t offset, bool ends)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    buffer->used = ((bytes + offset) / page + 1) * page;
    buffer->from = ends ? buffer->size - buffer->used : 0;
    memset(buffer->pages + buffer->from, PATTERN, buffer->used);
    buffer->tensor = buffer->pages + (ends ? buffer->size - bytes : offset);
}

static void put_buffers(const ln_kernel *kernel, const layout *places)
{
    size_t size = element_size(kernel->storage);
    for (int b = 0; b < BUFFERS; b++) {
        size_t bytes = b >= MEAN ? places->rows * statistic_size(kernel)
                       : b >= GAMMA
                           ? places->hidden * element_size(kernel->param)
                           : ((places->rows - 1) * places->strides[b] + places->hidden) * size;
        put_buffer(&buffers[b], bytes, b == places->form->y ? places->offset : 0, places->ends);
    }
    for (size_t r = 0; r < places->rows; r++) {
        size_t at = r * places->hidden * size, bytes = places->hidden * size;
        memcpy(buffers[X].tensor + r * places->strides[X] * size, x + at, bytes);
        memcpy(buffers[RESIDUAL].tensor + r * places->strides[RESIDUAL] * size, residual + at,
               bytes);
    }
    memcpy(buffers[GAMMA].tensor, gammas, places->hidden * element_size(kernel->param));
    memcpy(buffers[BETA].tensor, betas, places->hidden * element_size(kernel->param));
}

/* ---- the expected bits ---- */

static int is_made_like(const ln_kernel *kernel, const ln_kernel *other)
{
    return strcmp(other->statistics, kernel->statistics) == 0 &&
           strcmp(other->apply, kernel->apply) == 0 && strcmp(other->isa, kernel->isa) == 0 &&
           has_types(other, types_of(kernel)) && other->accumulator == kernel->accumulator &&
           other->unroll == kernel->unroll;
}

/* Returns the kernel with which one of another schedule must agree. The schedule transposed has its own sums, and is
 * compared with itself. */
static const ln_kernel *plain_kernel(const ln_kernel *kernel)
{
    static const char *const schedules[] = {"plain", "fused", "pipelined"};
    const ln_kernel *other;
    for (size_t k = 0; strncmp(kernel->schedule, "transposed", 10) == 0; k++)
        if (!(other = kernel_number(k)) ||
            (strcmp(other->schedule, "transposed") == 0 && is_made_like(kernel, other)))
            return other ? other : kernel;
    for (size_t i = 0; i < sizeof(schedules) / sizeof(schedules[0]); i++) {
        if (strcmp(kernel->schedule, schedules[i]) == 0)
            break;
        for (size_t k = 0; (other = kernel_number(k)); k++)
            if (strcmp(other->schedule, schedules[i]) == 0 && is_made_like(kernel, other))
                return other;
    }
    return kernel; /* called with one row, it cannot combine it with others */
}

/* Returns whether sums are of products of pairs: retry on AVX512-BF16 without a residual (retry.h), whose roundings
 * differ from those with a residual. */
static bool sums_pairs(const ln_kernel *kernel)
{
    return strcmp(kernel->statistics, "retry") == 0 && kernel->accumulator == LN_F32 &&
           strcmp(kernel->isa, "avx512bf16") == 0;
}

/* Every third row begins far from its mean, so that shifted sweeps it twice; means
 * of three standard deviations make retry sweep twice. Some y are among the smallest numbers. */
static void fill(const ln_kernel *kernel, const layout *places, size_t seed)
{
    numbers draws = {seed};
    size_t hidden = places->hidden, count = places->rows * hidden;
    double size = seed % 5 == 0 ? 0x1p-130 : 1;
    fill_normal(&draws, x_values, count, seed % 2 ? 3 : 0.5, 1);
    fill_normal(&draws, residual_values, count, -1, 2);
    fill_normal(&draws, gammas_values, hidden, size, size / 4);
    fill_normal(&draws, betas_values, hidden, 0, size / 2);
    for (size_t r = 0; r < places->rows; r += 3)
        for (size_t i = 0; i < hidden / 8; i++)
            x_values[r * hidden + i] += 1000;
    for (size_t i = 0; i < hidden; i++)
        zeros_values[i] = -0.0;
    elements_store(kernel->storage, x, x_values, count);
    elements_store(kernel->storage, residual, residual_values, count);
    elements_store(kernel->storage, zeros, zeros_values, hidden);
    elements_store(kernel->param, gammas, gammas_values, hidden);
    elements_store(kernel->param, betas, betas_values, hidden);
    for (size_t i = 0; i < count; i++) /* exact in double where types are shorter */
        sums_values[i] = x_values[i] + (places->form->adds ? residual_values[i] : 0);
    elements_store(kernel->storage, sums, sums_values, count);
}

static void expect_row(const ln_kernel *kernel, const layout *places, size_t r, const void *found,
                       const void *expected, size_t bytes, const char *what)
{
    if (memcmp(found, expected, bytes) != 0)
        fail_msg(
            "%s, %zu rows of %zu, strides %zu %zu %zu %zu, y at %zu, form %d, %s: %s of row %zu",
            kernel->name, places->rows, places->hidden, places->strides[X],
            places->strides[RESIDUAL], places->strides[Y], places->strides[SUM], places->offset,
            (int)(places->form - forms), places->ends ? "ends" : "begins", what, r);
}

/* Compares row r of the call with `plain` called for only that row. */
static void check_row(const ln_kernel *kernel, const ln_kernel *plain, const ln_problem *problem,
                      const layout *places, size_t r)
{
    size_t size = element_size(kernel->storage), bytes = places->hidden * size;
    size_t statistic = statistic_size(kernel);
    const struct form *form = places->form;
    statistics_room mean, rstd;
    ln_problem one = *problem;
    one.rows = 1;
    const ln_tensors tensors = {.x = sums + r * bytes,
                                .residual = form->adds && sums_pairs(kernel) ? zeros : NULL,
                                .gamma = gammas,
                                .beta = betas,
                                .y = plain_y,
                                .mean = &mean,
                                .rstd = &rstd};
    plain->run(&one, &tensors);
    for (int b = 0; b < WITH_ROWS; b++) {
        const void *expected = b == form->y     ? plain_y
                               : b == form->sum ? sums + r * bytes
                               : b == X         ? x + r * bytes
                                                : residual + r * bytes;
        if (b <= RESIDUAL || b == form->y || b == form->sum)
            expect_row(kernel, places, r, buffers[b].tensor + r * places->strides[b] * size,
                       expected, bytes,
                       b == form->y     ? "y"
                       : b == form->sum ? "sum"
                                        : "what is read");
    }
    expect_row(kernel, places, r, buffers[MEAN].tensor + r * statistic, &mean, statistic, "mean");
    expect_row(kernel, places, r, buffers[RSTD].tensor + r * statistic, &rstd, statistic, "rstd");
}

/* Checks the bytes around the rows of a buffer and between them. */
static void check_gaps(const ln_kernel *kernel, const layout *places, int b)
{
    size_t size = element_size(kernel->storage), row = places->hidden * size, rows = places->rows;
    size_t stride = b < WITH_ROWS ? places->strides[b] * size : rows * statistic_size(kernel);
    if (b >= WITH_ROWS)
        row = stride, rows = 1;
    const unsigned char *from = buffers[b].pages + buffers[b].from, *tensor = buffers[b].tensor;
    for (const unsigned char *at = from; at < from + buffers[b].used; at++) {
        size_t behind = (size_t)(at - tensor); /* huge before it */
        if (behind < (rows - 1) * stride + row && behind % stride < row)
            at += row - behind % stride - 1;
        else if (*at != PATTERN)
            expect_row(kernel, places, behind / stride, "", "x", 1, "outside");
    }
}

static void check_layout(const ln_kernel *kernel, const ln_kernel *plain, const layout *places,
                         size_t seed)
{
    const struct form *form = places->form;
    ln_problem problem = problem_of(types_of(kernel), places->rows, places->hidden,
                                    convention_number(seed % CONVENTIONS));
    fill(kernel, places, seed);
    put_buffers(kernel, places);
    problem.x_stride = places->strides[X];
    problem.residual_stride = places->strides[RESIDUAL];
    problem.y_stride = places->strides[form->y];
    problem.sum_stride = places->strides[form->sum < WITH_ROWS ? form->sum : SUM];
    const ln_tensors tensors = {.x = buffers[X].tensor,
                                .residual = form->adds ? buffers[RESIDUAL].tensor : NULL,
                                .gamma = buffers[GAMMA].tensor,
                                .beta = buffers[BETA].tensor,
                                .y = buffers[form->y].tensor,
                                .sum = form->sum < WITH_ROWS ? buffers[form->sum].tensor : NULL,
                                .mean = buffers[MEAN].tensor,
                                .rstd = buffers[RSTD].tensor};
    kernel->run(&problem, &tensors);
    for (size_t r = 0; r < places->rows; r++)
        check_row(kernel, plain, &problem, places, r);
    for (int b = 0; b < BUFFERS; b++)
        if (b == form->y || b == form->sum || b >= MEAN)
            check_gaps(kernel, places, b);
}

/* ---- the calls ---- */

#ifdef LN_EMULATED
enum { PART = 3 };
#else
enum { PART = 1 };
#endif

/* Checks a shape. The values of `mix` give every form at both ends of the pages, with dense rows and with strides
 * longer by one element, by whole vectors, and by other numbers. */
static void check_shape(const ln_kernel *kernel, const ln_kernel *plain, size_t rows, size_t hidden,
                        size_t mix)
{
    static const size_t gaps[] = {0, 1, 16, GAP};
    layout places = {.rows = rows,
                     .hidden = hidden,
                     .offset = mix * 5 % 16 * element_size(kernel->storage),
                     .form = &forms[mix % FORMS],
                     .ends = mix / FORMS % 2};
    for (size_t b = 0; b < WITH_ROWS; b++)
        places.strides[b] = hidden + gaps[(mix / 4 + (mix % 4 ? b : 0)) % 4];
    check_layout(kernel, plain, &places, 1 + mix);
}

TEST(rows_are_as_if_alone)
{
    static const size_t counts[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 63, 64, 131, 150};
    static const size_t sizes[] = {1, 31, 16, 33, 64, 100, 1024, 1041, 2048, 2200};
    /* Sizes near the vectors and blocks of all ISAs; several chunks and blocks. */
    static const size_t others[] = {2,   3,   4,   5,   7,   8,   9,   15,     17,
                                    32,  47,  48,  49,  63,  65,  95,  127,    128,
                                    129, 191, 255, 256, 257, 300, 513, LARGEST};
    const ln_kernel *kernel;
    size_t checked = 0;
    for (size_t k = 0; (kernel = kernel_number(k)); k++) {
        const ln_kernel *plain = plain_kernel(kernel);
        for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++)
            for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++, checked++)
                if (is_sampled(k, counts[c] + s, sizes[s] > 1000 ? 3 * PART : PART) &&
                    (counts[c] <= FEW_ROWS || sizes[s] <= SHORT))
                    check_shape(kernel, plain, counts[c], sizes[s], counts[c] * 10 + s + k);
        for (size_t s = 0; s < 2 * sizeof(others) / sizeof(others[0]); s++)
            if (is_sampled(k, s, PART))
                check_shape(kernel, plain, s % 2 || others[s / 2] > 1000 ? 3 : 18, others[s / 2],
                            s * 11 + k);
    }
    assert_true(checked > 0);
}

int main(void)
{
    return test_run(open_buffers, NULL);
}
