#include "store/rank_test.h"
#include "base/allocate.h"
#include <math.h>
#include <stdlib.h>

enum { MOST_EXACT = 40, MOST_PAIRS = MOST_EXACT * MOST_EXACT / 4 };

/* The orders in which U is u are the coefficients of the Gaussian binomial of (m + n, m), that is
 * of the product over i <= m of (1 - q^(n + i)) / (1 - q^i), which is Mann and Whitney's
 * recurrence summed up. All are whole numbers below 2^53. */
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

/* The sum of b's ranks, where equals share the average of theirs, and the sum of t^3 - t over all
 * groups of t equals. */
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

/* Half a pair towards the middle: U steps by one, the normal distribution does not. */
static double normal_p(double u, double n, double m, double ties)
{
    double all = n + m;
    double variance = n * m / 12 * (all + 1 - ties / (all * (all - 1)));
    double away = fabs(u - n * m / 2) - 0.5;
    if (!(variance > 0) || away <= 0)
        return 1;
    return erfc(away / sqrt(2 * variance));
}

rank_test mann_whitney(const double *a, size_t a_count, const double *b, size_t b_count)
{
    size_t count = a_count + b_count;
    rank_test test = {NAN, NAN, false};
    if (a_count == 0 || b_count == 0)
        return test;
    ranked *sorted = allocate(count * sizeof *sorted);
    for (size_t i = 0; i < count; i++)
        sorted[i] = (ranked){i < a_count ? a[i] : b[i - a_count], i >= a_count};
    qsort(sorted, count, sizeof *sorted, compare_ranked);
    double ties, n = (double)a_count, m = (double)b_count;
    test.u = rank_sum(sorted, count, &ties) - m * (m + 1) / 2;
    test.exact = ties == 0 && count <= MOST_EXACT;
    test.p =
        test.exact
            ? fmin(2 * mann_whitney_tail(a_count, b_count, (size_t)fmin(test.u, n * m - test.u)), 1)
            : normal_p(test.u, n, m, ties);
    free(sorted);
    return test;
}

double geometric_mean(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i] > 0 ? log(values[i]) : (double)NAN;
    return exp(sum / (double)count);
}
