/* A row's bits depend on that row alone: not on its place in the call, on its neighbours, or on how
 * many rows there are. So schedules that take rows in groups compute the rows left over by the same
 * tree, and nothing of a neighbour gets in. */
#include "tests.h"

enum { MOST = 257, LARGEST = 1030 };

static const size_t counts[] = {1, 2, 3, 5, 7, 8, 9, 255, 256, 257};
static const size_t sizes[] = {1, 3, 7, 15, 16, 31, 64, 65, 127, 200, 257, 300, 768, 1030};
enum { COUNTS = sizeof(counts) / sizeof(counts[0]), SIZES = sizeof(sizes) / sizeof(sizes[0]) };
#ifdef LN_EMULATED
enum { PART = 24 };
#else
enum { PART = 3 };
#endif

OPERAND(x, MOST *LARGEST);
OPERAND(gammas, LARGEST);
OPERAND(betas, LARGEST);
static _Alignas(64) unsigned char y[MOST * LARGEST * LARGEST_ELEMENT];
static _Alignas(64) unsigned char alone_y[MOST * LARGEST * LARGEST_ELEMENT];
static statistics_room mean[MOST], rstd[MOST], alone_mean[MOST], alone_rstd[MOST];

/* Rows of all kinds side by side: easy ones, far from zero, ones whose first elements are outliers
 * (their pivot is found to be off), narrow ones, and ones that are all NaN in the end. */
static void fill_rows(numbers *draws, size_t hidden)
{
    for (size_t r = 0; r < MOST; r++) {
        double *row = x_values + r * hidden;
        fill_normal(draws, row, hidden, r % 5 == 1 ? 1e4 : 0.5, r % 7 == 2 ? 1e-3 : 1);
        for (size_t i = 0; r % 4 == 3 && i < 1 + r % 17 && i < hidden; i++)
            row[i] = 100 * (double)(r + 1);
        if (r % 64 == 33)
            row[numbers_next(draws) % hidden] = r % 128 == 33 ? NAN : INFINITY;
    }
}

static void store(types pair, size_t hidden)
{
    elements_store(pair.storage, x, x_values, MOST * hidden);
    elements_store(pair.param, gammas, gammas_values, hidden);
    elements_store(pair.param, betas, betas_values, hidden);
}

static void run_rows(const ln_kernel *kernel, size_t hidden, size_t convention, size_t first,
                     size_t count, unsigned char *to, statistics_room *means,
                     statistics_room *rstds)
{
    const ln_problem problem =
        problem_of(types_of(kernel), count, hidden, convention_number(convention));
    size_t size = statistic_size(kernel), at = first * hidden * element_size(kernel->storage);
    const ln_tensors tensors = {.x = x + at,
                                .gamma = gammas,
                                .beta = betas,
                                .y = to + at,
                                .mean = (char *)means + first * size,
                                .rstd = (char *)rstds + first * size};
    kernel->run(&problem, &tensors);
}

static int is_same_number(double a, double b)
{
    return memcmp(&a, &b, sizeof(a)) == 0 || (isnan(a) && isnan(b));
}

/* Equal bits; NaNs, whose payload no one promises, equal one another. */
static int is_same_row(ln_type type, size_t hidden, size_t r)
{
    size_t bytes = hidden * element_size(type), at = r * bytes;
    if (memcmp(y + at, alone_y + at, bytes) == 0)
        return 1;
    for (size_t i = 0; i < hidden; i++)
        if (!is_same_number(element_get(type, y + at, i), element_get(type, alone_y + at, i)))
            return 0;
    return 1;
}

static int is_same_statistic(const ln_kernel *kernel, const statistics_room *a,
                             const statistics_room *b, size_t r)
{
    return is_same_number(statistic_at(kernel, a, r), statistic_at(kernel, b, r));
}

static void check_batches(const ln_kernel *kernel, size_t hidden, size_t convention)
{
    for (size_t r = 0; r < MOST; r++)
        run_rows(kernel, hidden, convention, r, 1, alone_y, alone_mean, alone_rstd);
    for (size_t c = 0; c < COUNTS; c++) {
        size_t first = (MOST - counts[c]) * (c % 3) / 2; /* not always from the same row on */
        run_rows(kernel, hidden, convention, first, counts[c], y, mean, rstd);
        for (size_t r = first; r < first + counts[c]; r++)
            if (!is_same_row(kernel->storage, hidden, r) ||
                !is_same_statistic(kernel, mean, alone_mean, r) ||
                !is_same_statistic(kernel, rstd, alone_rstd, r))
                fail_msg("%s, hidden %zu, convention %zu: row %zu of %zu differs from the same row "
                         "computed alone",
                         kernel->name, hidden, convention, r - first, counts[c]);
    }
}

TEST(rows_do_not_depend_on_the_batch)
{
    numbers draws = {11};
    const ln_kernel *kernel;
    fill_normal(&draws, gammas_values, LARGEST, 1, 0.5);
    fill_normal(&draws, betas_values, LARGEST, 0, 1);
    for (size_t s = 0; s < SIZES; s++) {
        fill_rows(&draws, sizes[s]);
        for (size_t t = 0; t < TYPE_PAIRS; t++) {
            store(type_pairs[t], sizes[s]);
            for (size_t k = 0; (kernel = kernel_number(k)); k++)
                if (has_types(kernel, type_pairs[t]) &&
                    (strcmp(kernel->schedule, "pipelined") == 0 ||
                     strcmp(kernel->schedule, "staged") == 0 ||
                     strncmp(kernel->schedule, "transposed", 10) == 0 ||
                     strncmp(kernel->schedule, "row_pairs", 9) == 0 || is_sampled(k, s, PART)))
                    check_batches(kernel, sizes[s], (s * 11 + k) % CONVENTIONS);
        }
    }
}
