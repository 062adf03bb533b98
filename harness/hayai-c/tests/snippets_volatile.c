/* SPDX-License-Identifier: Apache-2.0
 *
 * The benchmarks of the documentation once more, with volatile instead of hayai's barriers: the
 * compiler can't remove any of it. run_snippets.sh compares their times with the documented ones,
 * and each documented benchmark must be here. */
#include <hayai.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LOOP                                                                                       \
    for (int64_t n; (n = hayai_state_batch(state)) > 0;)                                           \
        for (int64_t i = 0; i < n; i++)

HAYAI_BENCHMARK(text, length)
{
    const char *volatile text = "hello";
    volatile size_t length = 0;
    LOOP length = strlen(text);
    (void)length;
}

/* Copies and fills by the library's functions, which can't be removed through a volatile pointer. */
static void *(*volatile copy_bytes)(void *, const void *, size_t) = memcpy;
static void *(*volatile fill_bytes)(void *, int, size_t) = memset;
static char from[4096], to[4096];

static void copy(hayai_state *state)
{
    LOOP copy_bytes(to, from, (size_t)hayai_state_range(state, 0));
}

HAYAI_BENCHMARK_WITH(blocks, copy, hayai_benchmark_range(benchmark, 64, 4096))
{
    copy(state);
}

HAYAI_BENCHMARK_WITH(memory, copy, hayai_benchmark_range(benchmark, 64, 4096))
{
    copy(state);
}

HAYAI_BENCHMARK_WITH(buffer, fill, hayai_benchmark_range(benchmark, 64, 4096))
{
    LOOP fill_bytes(to, 1, (size_t)hayai_state_range(state, 0));
}

HAYAI_BENCHMARK_P(math, power, (double base, int exponent))
{
    volatile double x = base, y = exponent, result = 0;
    LOOP result = pow(x, y);
    (void)result;
}
HAYAI_BENCHMARK_P_INSTANCE(math, power, (1.5, 3))

HAYAI_BENCHMARK(number, square_root)
{
    volatile double number = 2, root = 0;
    LOOP root = sqrt(number);
    (void)root;
}

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

HAYAI_BENCHMARK(array, sort)
{
    static volatile int values[64];
    int sorted[64];
    LOOP
    {
        for (int j = 0; j < 64; j++)
            values[j] = j * 37 % 64;
        for (int j = 0; j < 64; j++)
            sorted[j] = values[j];
        qsort(sorted, 64, sizeof sorted[0], compare);
        values[0] = sorted[0];
    }
}

HAYAI_BENCHMARK(sum, add)
{
    volatile int sum = 0;
    LOOP sum = sum + 3;
}

HAYAI_MAIN()
