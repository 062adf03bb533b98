/* SPDX-License-Identifier: Apache-2.0 */
/* Measures whether the loop costs more in C than in C++. Each round of hayai's interleaving runs
 * both forms of each loop once, in random order, for the same iterations; the ratio of their CPU
 * times per iteration is one pair. The median of the pairs is reported with an interval that
 * contains the true median with a probability of at least 95 %, whatever the distribution: between
 * two of the sorted pairs, by the binomial distribution.
 *
 * The loops in C++ over benchmark::State itself are in overhead.cpp.
 *
 *     hayai_overhead [PAIRS [SECONDS]]     default: 201 pairs of 0.01 s a run */
#include "hayai.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LOOPS = 4, MOST_PAIRS = 10000, LOOP_VALUES = 64 };

/* Runs an empty loop. */
static void c_empty(hayai_state *state, void *user)
{
    (void)user;
    for (int64_t n; (n = hayai_state_batch(state)) > 0;)
        for (int64_t i = 0; i < n; i++)
            hayai_clobber();
}

/* Runs a chain of dependent operations, whose latency hides other work in the loop. */
static void c_chain(hayai_state *state, void *user)
{
    const double *data = user; /* factor, addend */
    const double factor = data[0], addend = data[1];
    double value = 1;
    for (int64_t n; (n = hayai_state_batch(state)) > 0;)
        for (int64_t i = 0; i < n; i++)
            value = value * factor + addend;
    hayai_do_not_optimize(value);
}

/* Computes a small result in each iteration. */
static void c_sum(hayai_state *state, void *user)
{
    const float *values = user;
    for (int64_t n; (n = hayai_state_batch(state)) > 0;)
        for (int64_t i = 0; i < n; i++) {
            float sum = 0;
            for (int j = 0; j < LOOP_VALUES; j++)
                sum += values[j];
            hayai_do_not_optimize_in_out(sum); /* Uses the other form of the loop. */
        }
}

/* The other form: a call an iteration. */
static void c_keep_running(hayai_state *state, void *user)
{
    (void)user;
    while (hayai_state_keep_running(state))
        hayai_clobber();
}

hayai_function cpp_empty, cpp_chain, cpp_sum, cpp_keep_running;

static double chain_data[2] = {0.5, 0.5};
static float sum_data[LOOP_VALUES];

typedef struct loop {
    const char *name;
    hayai_function *c, *cpp;
    void *user;
} loop;

static const loop loops[LOOPS] = {
    {"empty", c_empty, cpp_empty, NULL},
    {"chain of multiply and add", c_chain, cpp_chain, chain_data},
    {"sum of 64 floats", c_sum, cpp_sum, sum_data},
    {"keep_running: a call each", c_keep_running, cpp_keep_running, NULL},
};

typedef struct samples {
    double seconds[2 * LOOPS][MOST_PAIRS]; /* C and C++ in alternation */
    const char *error;
} samples;

static samples taken;

static int keep(const hayai_repetition *repetition, void *user)
{
    samples *all = user;
    if (repetition->error) {
        all->error = "a loop failed";
        return 1;
    }
    all->seconds[repetition->benchmark][repetition->repetition] = repetition->cpu_seconds;
    return 0;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* Returns the greatest r such that at most r - 1 of n fair coins show heads with a probability of
 * at most 2.5 %: then the r-th smallest and the r-th largest value enclose the median. 0: n is too
 * small. */
static size_t interval_rank(size_t n)
{
    double probability = 0;
    for (size_t k = 0; k < n; k++) {
        const double log_term = lgamma((double)n + 1) - lgamma((double)k + 1) -
                                lgamma((double)(n - k) + 1) - (double)n * log(2);
        probability += exp(log_term);
        if (probability > 0.025)
            return k;
    }
    return 0;
}

static void print_loop(size_t which, size_t pairs)
{
    static double ratios[MOST_PAIRS];
    double *c = taken.seconds[2 * which], *cpp = taken.seconds[2 * which + 1];
    for (size_t i = 0; i < pairs; i++)
        ratios[i] = c[i] / cpp[i];
    const double middle = median(ratios, pairs);
    const size_t rank = interval_rank(pairs);
    printf("%-26s %8.3f %8.3f   %.4f", loops[which].name, median(c, pairs) * 1e9,
           median(cpp, pairs) * 1e9, middle);
    if (rank > 0)
        printf("  %.4f ... %.4f\n", ratios[rank - 1], ratios[pairs - rank]);
    else
        printf("  (too few pairs)\n");
}

static hayai_status measure_pairs(hayai_suite *suite, unsigned pairs, double seconds)
{
    hayai_status status = HAYAI_OK;
    for (size_t i = 0; i < LOOPS && status == HAYAI_OK; i++) {
        status = hayai_suite_add(suite, loops[i].name, loops[i].c, loops[i].user, NULL);
        if (status == HAYAI_OK)
            status = hayai_suite_add(suite, loops[i].name, loops[i].cpp, loops[i].user, NULL);
    }
    const hayai_interleave interleave = {.seed = 1,
                                         .repetitions = pairs,
                                         .min_seconds = seconds,
                                         .on_repetition = keep,
                                         .user = &taken};
    return status == HAYAI_OK ? hayai_suite_run_interleaved(suite, &interleave) : status;
}

int main(int argc, char **argv)
{
    for (int i = 0; i < LOOP_VALUES; i++)
        sum_data[i] = 1.0f / (float)(i + 1);
    const long pairs = argc > 1 ? strtol(argv[1], NULL, 10) : 201;
    const double seconds = argc > 2 ? strtod(argv[2], NULL) : 0.01;
    if (pairs < 1 || pairs > MOST_PAIRS || !(seconds > 0)) {
        fprintf(stderr, "%s: expected 1 to %d pairs and more than 0 seconds\n", argv[0],
                MOST_PAIRS);
        return 2;
    }
    hayai_suite *suite = hayai_suite_create();
    const hayai_status status =
        suite ? measure_pairs(suite, (unsigned)pairs, seconds) : HAYAI_ERROR_MEMORY;
    if (status != HAYAI_OK) {
        fprintf(stderr, "%s: %s: %s\n", argv[0], hayai_status_string(status),
                taken.error ? taken.error : hayai_last_message());
        return 1;
    }
    printf("%ld pairs of at least %g s; Google Benchmark %s (%s)\n", pairs, seconds,
           hayai_google_benchmark_version(), hayai_library_build());
    printf("%-26s %8s %8s   %-6s  %s\n", "loop (ns an iteration)", "C", "C++", "C/C++",
           "95 % interval");
    for (size_t i = 0; i < LOOPS; i++)
        print_loop(i, (size_t)pairs);
    hayai_suite_destroy(suite);
    return 0;
}
