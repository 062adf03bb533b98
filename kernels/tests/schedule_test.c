/* A row's bits depend on that row alone: whatever the number of rows, their place in the call, the
 * alignment of y and the layout, each comes out bit for bit as from the plain or fused kernel of the
 * same statistics, apply, types and ISA, or where there is none, from the pipelined one or itself,
 * called with that row alone. So schedules that take rows in groups compute the rows left over by the
 * same tree, and nothing of a neighbour gets in. */
#include "tests.h"

enum {
    FEW_ROWS = 13,
    MOST_ROWS = 150,
    SHORT = 100,
    LARGEST = 2200,
    GAP = 19,
    ROOM = FEW_ROWS * (LARGEST + GAP) + 64
};
_Static_assert(MOST_ROWS *(SHORT + GAP) + 64 <= ROOM, "many rows are short");

OPERAND(x, ROOM);
OPERAND(residual, ROOM);
OPERAND(gammas, LARGEST);
OPERAND(betas, LARGEST);
static _Alignas(64) unsigned char input[ROOM * LARGEST_ELEMENT], added[ROOM * LARGEST_ELEMENT];
static _Alignas(64) unsigned char y[ROOM * LARGEST_ELEMENT], sum[ROOM * LARGEST_ELEMENT];
static _Alignas(64) unsigned char plain_y[LARGEST * LARGEST_ELEMENT];
static _Alignas(64) unsigned char plain_sum[LARGEST * LARGEST_ELEMENT];

enum { BEHIND = 4096 }; /* bytes behind the last row in which a stray store is looked for */
enum { NO_RESIDUAL, RESIDUAL, SUM, SUM_IN_PLACE, FORMS };

/* One call: where its tensors lie. */
typedef struct layout {
    size_t rows, hidden, stride; /* of all tensors */
    size_t offset;               /* of y in elements, from a line's beginning */
    int form;
    int in_place;
} layout;

static int is_made_like(const ln_kernel *kernel, const ln_kernel *other)
{
    return strcmp(other->statistics, kernel->statistics) == 0 &&
           strcmp(other->apply, kernel->apply) == 0 && strcmp(other->isa, kernel->isa) == 0 &&
           has_types(other, types_of(kernel)) && other->accumulator == kernel->accumulator &&
           other->unroll == kernel->unroll;
}

/* The kernel that a schedule's is to agree with. The schedule transposed has sums of its own, which
 * are held against themselves. */
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
    return kernel; /* called with one row, it has none to take it with */
}

/* Every third row begins far from its mean, which takes shifted statistics a second sweep; means
 * of three standard deviations take those of retry another. Some y are as small as numbers get. */
static void fill(const ln_kernel *kernel, const layout *places, size_t seed)
{
    numbers draws = {seed};
    size_t count = places->rows * places->stride;
    double size = seed % 5 == 0 ? 0x1p-130 : 1;
    fill_normal(&draws, x_values, count, seed % 2 ? 3 : 0.5, 1);
    fill_normal(&draws, residual_values, count, -1, 2);
    fill_normal(&draws, gammas_values, places->hidden, size, size / 4);
    fill_normal(&draws, betas_values, places->hidden, 0, size / 2);
    for (size_t r = 0; r < places->rows; r += 3)
        for (size_t i = 0; i < places->hidden / 8; i++)
            x_values[r * places->stride + i] += 1000;
    elements_store(kernel->storage, x, x_values, count);
    elements_store(kernel->storage, residual, residual_values, count);
    elements_store(kernel->param, gammas, gammas_values, places->hidden);
    elements_store(kernel->param, betas, betas_values, places->hidden);
}

static void expect_row(const ln_kernel *kernel, const layout *places, size_t r, const void *found,
                       const void *expected, size_t bytes, const char *what)
{
    if (memcmp(found, expected, bytes) != 0)
        fail_msg("%s, %zu rows of %zu, stride %zu, y at %zu, form %d, in place %d: %s of row %zu",
                 kernel->name, places->rows, places->hidden, places->stride, places->offset,
                 places->form, places->in_place, what, r);
}

/* Row r of the call against `plain` called with it alone. */
static void check_row(const ln_kernel *kernel, const ln_kernel *plain, const ln_problem *problem,
                      const ln_tensors *found, const layout *places, size_t r)
{
    size_t size = element_size(kernel->storage), at = r * places->stride * size;
    size_t bytes = places->hidden * size, statistic = statistic_size(kernel);
    statistics_room mean, rstd;
    ln_problem one = *problem;
    one.rows = 1;
    ln_tensors tensors = {
        .x = x + at, .gamma = gammas, .beta = betas, .y = plain_y, .mean = &mean, .rstd = &rstd};
    if (places->form != NO_RESIDUAL)
        tensors.residual = residual + at;
    if (places->form >= SUM)
        tensors.sum = plain_sum;
    plain->run(&one, &tensors);
    expect_row(kernel, places, r, (unsigned char *)found->y + at, plain_y, bytes, "y");
    if (found->sum)
        expect_row(kernel, places, r, (unsigned char *)found->sum + at, plain_sum, bytes, "sum");
    expect_row(kernel, places, r, (unsigned char *)found->mean + r * statistic, &mean, statistic,
               "mean");
    expect_row(kernel, places, r, (unsigned char *)found->rstd + r * statistic, &rstd, statistic,
               "rstd");
}

static void check_layout(const ln_kernel *kernel, const ln_kernel *plain, const layout *places,
                         size_t seed)
{
    statistics_room means[MOST_ROWS], rstds[MOST_ROWS];
    size_t size = element_size(kernel->storage);
    size_t whole = places->rows * places->stride * size;
    fill(kernel, places, seed);
    memcpy(input, x, whole);
    memcpy(added, residual, whole);
    size_t end = places->offset * size + whole + BEHIND;
    if (end > sizeof(y))
        end = sizeof(y);
    memset(y, 0x5a, end);
    ln_problem problem = problem_of(types_of(kernel), places->rows, places->hidden,
                                    convention_number(seed % CONVENTIONS));
    problem.x_stride = problem.y_stride = places->stride;
    problem.residual_stride = problem.sum_stride = places->stride;
    unsigned char *out = y + places->offset * size;
    if (places->in_place)
        memcpy(out, x, whole);
    ln_tensors tensors = {.x = places->in_place ? out : input,
                          .gamma = gammas,
                          .beta = betas,
                          .y = out,
                          .mean = means,
                          .rstd = rstds};
    if (places->form != NO_RESIDUAL)
        tensors.residual = added;
    if (places->form >= SUM)
        tensors.sum = places->form == SUM ? sum : added;
    kernel->run(&problem, &tensors);
    for (size_t r = 0; r < places->rows; r++)
        check_row(kernel, plain, &problem, &tensors, places, r);
    for (size_t i = 0; i < end && !places->in_place; i++) {
        size_t behind = (i - places->offset * size) / size; /* huge before y */
        if (behind < places->rows * places->stride && behind % places->stride < places->hidden)
            continue;
        if (y[i] != 0x5a)
            expect_row(kernel, places, behind / places->stride, "", "x", 1, "outside");
    }
}

#ifdef LN_EMULATED
enum { PART = 3 };
#else
enum { PART = 1 };
#endif

TEST(rows_are_as_if_alone)
{
    static const size_t counts[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 63, 64, 131, 150};
    static const size_t sizes[] = {1, 31, 16, 33, 64, 100, 1024, 1041, 2048, 2200};
    const ln_kernel *kernel;
    size_t checked = 0;
    for (size_t k = 0; (kernel = kernel_number(k)); k++) {
        const ln_kernel *plain = plain_kernel(kernel);
        for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++)
            for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
                size_t rows = counts[c], mix = rows * 9 + s;
                if (!is_sampled(k, rows + s, sizes[s] > 1000 ? 3 * PART : PART) ||
                    (rows > FEW_ROWS && sizes[s] > SHORT))
                    continue;
                layout places = {.rows = rows,
                                 .hidden = sizes[s],
                                 .stride = sizes[s] + (mix % 2) * GAP,
                                 .offset = mix * 5 % 16,
                                 .form = (int)(mix % FORMS),
                                 .in_place = mix % 3 == 0};
                check_layout(kernel, plain, &places, 1 + mix + k);
                checked++;
            }
    }
    assert_true(checked > 0);
}
