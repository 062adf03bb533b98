/* Checks the statistics of duet, and the verdicts that follow from them, on made-up data with known answers. */
#include "show/duet.h"
#include "test.h"
#include <math.h>
#include <stdio.h>

enum { MOST_GROUPS = 64, MOST_VALUES = 2048 };

typedef struct made_up {
    double values[MOST_VALUES];
    size_t start[MOST_GROUPS + 1];
    size_t groups;
} made_up;

static interval_estimate estimate_of(const made_up *sample, resample_kind resampling,
                                     double confidence, uint64_t seed)
{
    grouped_values grouped = {sample->values, sample->start, sample->groups};
    return bootstrap_median(&grouped, resampling, confidence, seed);
}

/* Returns P(X >= least) for X of Bin(n, p). */
static double binomial_tail(int n, double p, int least)
{
    double sum = 0;
    for (int k = least; k <= n; k++)
        sum += exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) +
                   (n - k) * log1p(-p));
    return sum;
}

/* With one value per group, the bootstrap median of n is at most the k-th smallest value with the probability that more
 * than half of n draws are among the first k (Efron, 1979), so that the ends of the interval are order statistics that
 * can be computed. Only ends that 2000 draws cannot miss by chance are tested. */
static bool expect_order_statistics(int n, double confidence)
{
    const double tail = (1 - confidence) / 2, spread = 5 * sqrt(tail * (1 - tail) / 2000);
    made_up sample = {.groups = (size_t)n};
    int k = 1;
    for (int i = 0; i < n; i++) {
        sample.values[i] = (i * 5) % n; /* 0 ... n - 1, mixed */
        sample.start[i + 1] = (size_t)i + 1;
    }
    while (binomial_tail(n, (double)k / n, n / 2 + 1) < tail)
        k++;
    if (n % 5 == 0 || binomial_tail(n, (double)k / n, n / 2 + 1) < tail + spread ||
        (k > 1 && binomial_tail(n, (k - 1.0) / n, n / 2 + 1) > tail - spread))
        return false;
    for (int both = 0; both < 2; both++) {
        interval_estimate estimate =
            estimate_of(&sample, both ? RESAMPLE_BOTH : RESAMPLE_GROUPS, confidence, 7);
        assert_true(estimate.middle == (n - 1) / 2);
        assert_true(estimate.lo == k - 1);
        assert_true(estimate.hi == n - k);
    }
    return true;
}

TEST(test_order_statistics)
{
    static const double confidences[] = {0.8, 0.9, 0.95, 0.98, 0.99};
    int known = 0;
    for (int n = 7; n <= 31; n += 2)
        for (size_t i = 0; i < sizeof confidences / sizeof *confidences; i++)
            known += expect_order_statistics(n, confidences[i]);
    printf("%d intervals have ends that are known\n", known);
    assert_true(known >= 5);
}

TEST(test_constant_and_nothing)
{
    made_up sample = {.values = {3, 3, 3, 3}, .start = {0, 1, 4}, .groups = 2};
    interval_estimate estimate = estimate_of(&sample, RESAMPLE_GROUPS, 0.999, 1);
    assert_true(estimate.middle == 3 && estimate.lo == 3 && estimate.hi == 3);
    sample.groups = 0;
    estimate = estimate_of(&sample, RESAMPLE_GROUPS, 0.99, 1);
    assert_true(isnan(estimate.middle) && isnan(estimate.lo) && isnan(estimate.hi));
}

TEST(test_lean)
{
    static const struct {
        interval_estimate ratio;
        speed_verdict verdict;
    } cases[] = {
        {{1.03, 1.021, 1.04}, SPEED_SLOWER},   {{1.03, 1.019, 1.04}, SPEED_INCONCLUSIVE},
        {{1, 0.99, 1.01}, SPEED_SAME},         {{1.01, 1.005, 1.02}, SPEED_SAME},
        {{0.97, 0.96, 0.98}, SPEED_FASTER},    {{0.97, 0.96, 0.981}, SPEED_INCONCLUSIVE},
        {{1, 0.9, 1.1}, SPEED_INCONCLUSIVE},   {{NAN, NAN, NAN}, SPEED_INCONCLUSIVE},
        {{1, 0.98, 1.01}, SPEED_INCONCLUSIVE}, /* 0.98 < 1 / 1.02 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(speed_lean(&cases[i].ratio, 0.02), cases[i].verdict);
}

TEST(test_lengths)
{
    assert_int_equal(duet_confirmation(8, 100, 0.1), 20);
    assert_int_equal(duet_confirmation(30, 100, 0.1), 60);
    assert_int_equal(duet_confirmation(30, 3.05, 0.1), 30);
    assert_int_equal(duet_confirmation(30, 0.75, 0.1), 0);
    assert_int_equal(duet_confirmation(30, -1, 0.1), 0);
}

static judged_side judged(verdict_kind kind, double row_ulp, uint64_t hash)
{
    judged_side made = {.verdict.kind = kind, .output_hash = hash};
    made.metrics.row_ulp_max = row_ulp;
    made.metrics.elements = 1;
    return made;
}

static accuracy_verdict compared(judged_side base, judged_side new, comparison_pair *pair)
{
    const judged_side both[SIDES] = {base, new};
    static arena memory;
    pair_compare(&memory, pair, both, "here");
    return pair_accuracy(pair);
}

TEST(test_accuracy)
{
    const judged_side good = judged(VERDICT_PASS, 1, 1), moved = judged(VERDICT_PASS, 1.4, 2),
                      worse = judged(VERDICT_PASS, 1.6, 3),
                      broken = judged(VERDICT_INACCURATE, 1.1, 4),
                      crashed = judged(VERDICT_CRASHED, 0, 0);
    comparison_pair pair = {0};
    assert_int_equal(pair_accuracy(&pair), ACCURACY_NOT_JUDGED);
    assert_int_equal(compared(good, good, &pair), ACCURACY_IDENTICAL);
    assert_int_equal(compared(good, moved, &pair), ACCURACY_CHANGED);
    assert_int_equal(compared(worse, good, &pair), ACCURACY_MORE);
    assert_int_equal(compared(good, worse, &pair), ACCURACY_CHANGED); /* better there, worse here */
    pair = (comparison_pair){0};
    assert_int_equal(compared(good, broken, &pair), ACCURACY_LESS);
    assert_int_equal(pair.sides[NEW].verdict.kind, VERDICT_INACCURATE);
    assert_int_equal(pair_failed(&pair), FAILED_NOT);
    pair = (comparison_pair){0};
    assert_int_equal(compared(crashed, good, &pair), ACCURACY_MORE);
    assert_int_equal(pair_failed(&pair), FAILED_BASE);
    assert_int_equal(compared(good, crashed, &pair), ACCURACY_CHANGED); /* both failed once */
    assert_int_equal(pair_failed(&pair), FAILED_NEW);
}

/* Rows: the pair's results; the exit code under exact, no-worse, bound and without the gate. */
TEST(test_exit_codes)
{
    static const struct {
        verdict_kind base, new;
        size_t differing, worse;
        speed_verdict speed;
        exit_code exact, no_worse, bound, ungated;
    } cases[] = {
        {VERDICT_PASS, VERDICT_PASS, 0, 0, SPEED_SAME, 0, 0, 0, 0},
        {VERDICT_PASS, VERDICT_PASS, 0, 0, SPEED_FASTER, 0, 0, 0, 0},
        {VERDICT_PASS, VERDICT_PASS, 0, 0, SPEED_SLOWER, 1, 1, 1, 1},
        {VERDICT_PASS, VERDICT_PASS, 0, 0, SPEED_INCONCLUSIVE, 3, 3, 3, 3},
        {VERDICT_PASS, VERDICT_PASS, 2, 0, SPEED_SAME, 5, 0, 0, 0},
        {VERDICT_PASS, VERDICT_PASS, 2, 1, SPEED_SLOWER, 5, 5, 1, 1},
        {VERDICT_PASS, VERDICT_INACCURATE, 2, 1, SPEED_SAME, 5, 5, 5, 0},
        {VERDICT_INACCURATE, VERDICT_INACCURATE, 0, 0, SPEED_SAME, 0, 0, 5, 0},
        {VERDICT_PASS, VERDICT_CRASHED, 1, 1, SPEED_NOT_MEASURED, 6, 6, 6, 6},
        {VERDICT_WRONG_CLASS, VERDICT_PASS, 3, 1, SPEED_SAME, 5, 0, 0, 0},
        {VERDICT_TIMEOUT, VERDICT_PASS, 1, 0, SPEED_NOT_MEASURED, 4, 4, 4, 4},
        {VERDICT_OVERRUN, VERDICT_OVERRUN, 0, 0, SPEED_NOT_MEASURED, 6, 6, 6, 6},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        comparison_pair pair = {
            .sides = {{.verdict.kind = cases[i].base}, {.verdict.kind = cases[i].new}},
            .tally = {.judged = 9, .differing = cases[i].differing, .worse = cases[i].worse},
            .speed = cases[i].speed};
        comparison_settings settings = {.gate = GATE_EXACT, .accuracy = true};
        assert_int_equal(pair_exit_code(&pair, &settings), cases[i].exact);
        settings.gate = GATE_NO_WORSE;
        assert_int_equal(pair_exit_code(&pair, &settings), cases[i].no_worse);
        settings.gate = GATE_BOUND;
        assert_int_equal(pair_exit_code(&pair, &settings), cases[i].bound);
        settings.accuracy = false;
        assert_int_equal(pair_exit_code(&pair, &settings), cases[i].ungated);
    }
}
