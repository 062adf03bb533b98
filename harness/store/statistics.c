#include "store/statistics.h"
#include "base/arena.h"
#include "store/bootstrap.h"
#include <math.h>

/* ---- two samples ---- */

enum { MOST_EXACT = 40, MOST_PAIRS = MOST_EXACT * MOST_EXACT / 4 };

/* The numbers of orders with U = u are the coefficients of the Gaussian binomial of (m + n, m), the product over i <= m
 * of (1 - q^(n + i)) / (1 - q^i), which solves Mann and Whitney's recurrence. All are integers below 2^53. */
double mann_whitney_tail(size_t a_count, size_t b_count, size_t u)
{
    double orders[MOST_PAIRS + 1] = {1};
    size_t most = a_count * b_count;
    double all = 0, tail = 0;
    for (size_t i = 1; i <= a_count; i++) {
        for (size_t k = most; k >= b_count + i; k--)
            orders[k] -= orders[k - b_count - i];
        for (size_t k = i; k <= most; k++)
            orders[k] += orders[k - i];
    }
    for (size_t k = 0; k <= most; k++) {
        all += orders[k];
        tail += k <= u ? orders[k] : 0;
    }
    return tail / all;
}

typedef struct ranked {
    double value;
    bool of_b;
} ranked;

static int compare_ranked(const void *a, const void *b)
{
    double x = ((const ranked *)a)->value, y = ((const ranked *)b)->value;
    return (x > y) - (x < y);
}

/* Returns the sum of b's ranks, where equal values share their average rank, and sets *ties to the sum of t^3 - t over
 * all groups of t equal values. */
static double rank_sum(const ranked *sorted, size_t count, double *ties)
{
    double sum = 0;
    *ties = 0;
    for (size_t begin = 0, end; begin < count; begin = end) {
        size_t of_b = 0;
        for (end = begin; end < count && sorted[end].value == sorted[begin].value; end++)
            of_b += sorted[end].of_b;
        double equals = (double)(end - begin);
        *ties += equals * equals * equals - equals;
        sum += (double)of_b * (double)(begin + 1 + end) / 2;
    }
    return sum;
}

/* Returns p by the normal distribution. Half a pair is subtracted because U is an integer. */
static double normal_p(double u, double n, double m, double ties)
{
    double all = n + m;
    double variance = n * m / 12 * (all + 1 - ties / (all * (all - 1)));
    double away = fabs(u - n * m / 2) - 0.5;
    if (!(variance > 0) || away <= 0)
        return 1;
    return erfc(away / sqrt(2 * variance));
}

double mann_whitney(const double *a, size_t a_count, const double *b, size_t b_count)
{
    size_t count = a_count + b_count;
    if (a_count == 0 || b_count == 0)
        return NAN;
    ranked *sorted = allocate(count * sizeof *sorted);
    for (size_t i = 0; i < count; i++)
        sorted[i] = (ranked){i < a_count ? a[i] : b[i - a_count], i >= a_count};
    qsort(sorted, count, sizeof *sorted, compare_ranked);
    double ties, n = (double)a_count, m = (double)b_count;
    const double u = rank_sum(sorted, count, &ties) - m * (m + 1) / 2;
    free(sorted);
    return ties == 0 && count <= MOST_EXACT
               ? fmin(2 * mann_whitney_tail(a_count, b_count, (size_t)fmin(u, n * m - u)), 1)
               : normal_p(u, n, m, ties);
}

/* ---- a series ---- */

change_settings change_defaults(void)
{
    return (change_settings){0.05, 4, 199, 1};
}

/* The values (shuffled in a permutation test), their segments, and memory for the sums of distances in a segment. */
typedef struct change_search {
    const change_settings *settings;
    double *values;
    size_t *cuts; /* 0, ..., count: ascending */
    size_t segments;
    double *sums; /* of |x_i - x_j|, over i < row and j < column: (n + 1) x (n + 1) */
} change_search;

typedef struct row_split {
    size_t at;
    double distance;
} row_split;

static void sum_distances(const double *x, size_t n, double *sums)
{
    size_t width = n + 1;
    memset(sums, 0, width * sizeof *sums);
    for (size_t i = 0; i < n; i++) {
        double row = 0;
        sums[(i + 1) * width] = 0;
        for (size_t j = 0; j < n; j++) {
            row += fabs(x[i] - x[j]);
            sums[(i + 1) * width + j + 1] = sums[i * width + j + 1] + row;
        }
    }
}

/* Returns Q of the paper's equation (5) for the first `at` values of a segment and the next ones before `end`: n m / (n
 * + m) times the energy distance. */
static double divergence(const double *sums, size_t width, size_t at, size_t end)
{
    double n = (double)at, m = (double)(end - at);
    double left = sums[at * width + at];
    double between = sums[at * width + end] - left;
    double right = sums[end * width + end] - left - 2 * between;
    double energy = 2 * between / (n * m) - left / (n * (n - 1)) - right / (m * (m - 1));
    return n * m / (n + m) * energy;
}

/* Returns the best split of values[begin..begin + n); of several equal ones the first, so that the result is unique. */
static row_split best_split(const change_search *search, size_t begin, size_t n)
{
    size_t least = search->settings->least_segment, width = n + 1;
    row_split best = {0, -INFINITY};
    if (n < 2 * least)
        return best;
    sum_distances(search->values + begin, n, search->sums);
    for (size_t at = least; at + least <= n; at++)
        for (size_t end = at + least; end <= n; end++) {
            double distance = divergence(search->sums, width, at, end);
            if (distance > best.distance)
                best = (row_split){begin + at, distance};
        }
    return best;
}

static row_split best_of_all(const change_search *search)
{
    row_split best = {0, -INFINITY};
    for (size_t i = 0; i < search->segments; i++) {
        row_split own = best_split(search, search->cuts[i], search->cuts[i + 1] - search->cuts[i]);
        if (own.distance > best.distance)
            best = own;
    }
    return best;
}

/* Shuffles the values within each segment (Fisher and Yates). */
static void shuffle(change_search *search, random_stream *stream)
{
    for (size_t s = 0; s < search->segments; s++) {
        double *values = search->values + search->cuts[s];
        for (size_t i = search->cuts[s + 1] - search->cuts[s]; i > 1; i--) {
            size_t j = random_stream_below(stream, i);
            double kept = values[i - 1];
            values[i - 1] = values[j];
            values[j] = kept;
        }
    }
}

/* Returns whether random orders rarely reach this distance, by the estimate of p of Phipson and Smyth (2010), which
 * counts the observed order. Stops as soon as the answer is certain. */
static bool is_significant(change_search *search, double distance, random_stream *stream)
{
    const change_settings *settings = search->settings;
    double limit = settings->significance * (settings->orders + 1);
    unsigned reached = 1;
    for (unsigned i = 0; i < settings->orders && reached <= limit; i++) {
        shuffle(search, stream);
        reached += best_of_all(search).distance >= distance;
    }
    return reached <= limit;
}

size_t change_points(const double *values, size_t count, const change_settings *settings,
                     size_t *places)
{
    change_search search = {
        .settings = settings,
        .values = allocate((count + 1) * sizeof(double)),
        .cuts = allocate((count + 2) * sizeof(size_t)),
        .segments = 1,
        .sums = allocate((count + 1) * (count + 1) * sizeof(double)),
    };
    random_stream stream = random_stream_seeded(settings->seed);
    search.cuts[0] = 0;
    search.cuts[1] = count;
    for (;;) {
        memcpy(search.values, values, count * sizeof *values);
        row_split best = best_of_all(&search);
        if (!(best.distance > 0) || !is_significant(&search, best.distance, &stream))
            break;
        size_t i = search.segments++;
        for (; search.cuts[i] > best.at; i--)
            search.cuts[i + 1] = search.cuts[i];
        search.cuts[i + 1] = best.at;
    }
    size_t found = search.segments - 1;
    if (found > 0)
        memcpy(places, search.cuts + 1, found * sizeof *places);
    free(search.values);
    free(search.cuts);
    free(search.sums);
    return found;
}
