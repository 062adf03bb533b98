/* The statistics of duet on made-up data with known answers, and what verdicts follow from them. */
#include "show/duet/duet.h"
#include "draws.h"
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

/* P(X >= least) for X of Bin(n, p). */
static double binomial_tail(int n, double p, int least)
{
    double sum = 0;
    for (int k = least; k <= n; k++)
        sum += exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(p) +
                   (n - k) * log1p(-p));
    return sum;
}

/* One value a group: the bootstrap median of n is at most the k-th smallest with the probability
 * that more than half of n draws fall on the first k (Efron, 1979), so that the ends of the
 * interval are order statistics that can be computed. Only ends that 2000 draws cannot miss by
 * chance are asked for. */
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
    int asked = 0;
    for (int n = 7; n <= 31; n += 2)
        for (size_t i = 0; i < sizeof confidences / sizeof *confidences; i++)
            asked += expect_order_statistics(n, confidences[i]);
    printf("%d intervals have ends that are known\n", asked);
    assert_true(asked >= 5);
}

/* Groups of rounds around 1 %, with a shift of each process, and one round in ten far off. */
static void fill(made_up *sample, size_t groups, size_t rounds, random_stream *stream)
{
    sample->groups = groups;
    for (size_t g = 0; g < groups; g++) {
        double shift = 0.003 * normal(stream);
        sample->start[g + 1] = (g + 1) * rounds;
        for (size_t i = 0; i < rounds; i++) {
            double noise = (uniform(stream) < 0.1 ? 0.2 : 0.01) * normal(stream);
            sample->values[g * rounds + i] = 0.01 + shift + noise;
        }
    }
}

/* How often an interval of 99 % misses the truth. The range of the medians of 8 processes misses
 * with 2^-7 = 0.8 %, of 20 the nominal 1 % can be had. In 400 trials more than 14 misses come by
 * chance with a probability below 1e-4 if the true rate is 1 %. */
TEST(test_coverage)
{
    static const size_t groups[] = {8, 20, 40};
    static made_up sample;
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        random_stream stream = random_stream_seeded(11 + i);
        int misses = 0;
        double width = 0;
        for (unsigned trial = 0; trial < 400; trial++) {
            fill(&sample, groups[i], 20, &stream);
            interval_estimate estimate = estimate_of(&sample, RESAMPLE_GROUPS, 0.99, trial);
            misses += estimate.lo > 0.01 || estimate.hi < 0.01;
            width += (estimate.hi - estimate.lo) / 400;
        }
        printf("%zu processes: %d of 400 intervals of 99 %% miss, mean width %.4f\n", groups[i],
               misses, width);
        assert_true(misses <= 14);
        /* A median of n has 1.2533 times the standard error of a mean; the interval is 2 * 2.576 of
         * that. The rounds add to the processes' spread. */
        double expected =
            2 * 2.576 * 1.2533 * sqrt(0.003 * 0.003 + 0.0033 * 0.0033) / sqrt((double)groups[i]);
        assert_true(width > 0.5 * expected && width < 2 * expected);
    }
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

/* A higher confidence is a wider interval, and a seed is an answer. */
TEST(test_confidence)
{
    static made_up sample;
    random_stream stream = random_stream_seeded(5);
    fill(&sample, 30, 20, &stream);
    interval_estimate narrow = estimate_of(&sample, RESAMPLE_GROUPS, 0.9, 1),
                      wide = estimate_of(&sample, RESAMPLE_GROUPS, 0.99, 1);
    interval_estimate wider = estimate_of(&sample, RESAMPLE_GROUPS, 0.9999, 1),
                      again = estimate_of(&sample, RESAMPLE_GROUPS, 0.99, 1);
    assert_true(wide.lo < narrow.lo && wide.hi > narrow.hi);
    assert_true(wider.lo < wide.lo && wider.hi > wide.hi);
    assert_true(memcmp(&wide, &again, sizeof wide) == 0);
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
    assert_int_equal(duet_least_processes(0.5), 2);
    assert_int_equal(duet_least_processes(0.95), 6);
    assert_int_equal(duet_least_processes(0.99), 8);
    assert_int_equal(duet_least_processes(0.999), 11);
    assert_int_equal(duet_confirmation(8, 8, 100, 0.1), 20);
    assert_int_equal(duet_confirmation(30, 8, 100, 0.1), 60);
    assert_int_equal(duet_confirmation(30, 8, 3.05, 0.1), 30);
    assert_int_equal(duet_confirmation(30, 8, 0.75, 0.1), 0);
    assert_int_equal(duet_confirmation(30, 8, -1, 0.1), 0);
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
    pair_compare(pair, both, "here");
    return pair_accuracy(pair);
}

TEST(test_accuracy)
{
    const judged_side good = judged(VERDICT_RIGHT, 1, 1), moved = judged(VERDICT_RIGHT, 1.4, 2),
                      worse = judged(VERDICT_RIGHT, 1.6, 3),
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
    assert_int_equal(pair_failed(&pair), FAILED_BOTH);
}

/* Rows: what is in the pair; the exit code under exact, no-worse, bound and without the gate. */
TEST(test_exit_codes)
{
    static const struct {
        verdict_kind base, new;
        size_t differing, worse;
        speed_verdict speed;
        exit_code exact, no_worse, bound, ungated;
    } cases[] = {
        {VERDICT_RIGHT, VERDICT_RIGHT, 0, 0, SPEED_SAME, 0, 0, 0, 0},
        {VERDICT_RIGHT, VERDICT_RIGHT, 0, 0, SPEED_FASTER, 0, 0, 0, 0},
        {VERDICT_RIGHT, VERDICT_RIGHT, 0, 0, SPEED_SLOWER, 1, 1, 1, 1},
        {VERDICT_RIGHT, VERDICT_RIGHT, 0, 0, SPEED_INCONCLUSIVE, 3, 3, 3, 3},
        {VERDICT_RIGHT, VERDICT_RIGHT, 2, 0, SPEED_SAME, 5, 0, 0, 0},
        {VERDICT_RIGHT, VERDICT_RIGHT, 2, 1, SPEED_SLOWER, 5, 5, 1, 1},
        {VERDICT_RIGHT, VERDICT_INACCURATE, 2, 1, SPEED_SAME, 5, 5, 5, 0},
        {VERDICT_INACCURATE, VERDICT_INACCURATE, 0, 0, SPEED_SAME, 0, 0, 5, 0},
        {VERDICT_RIGHT, VERDICT_CRASHED, 1, 1, SPEED_NOT_MEASURED, 6, 6, 6, 6},
        {VERDICT_WRONG_CLASS, VERDICT_RIGHT, 3, 1, SPEED_SAME, 5, 0, 0, 0},
        {VERDICT_TIMEOUT, VERDICT_RIGHT, 1, 0, SPEED_NOT_MEASURED, 4, 4, 4, 4},
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

TEST(test_overall)
{
    comparison_pair pairs[] = {{.speed = SPEED_FASTER, .accuracy = ACCURACY_IDENTICAL},
                               {.speed = SPEED_SAME, .accuracy = ACCURACY_MORE},
                               {.speed = SPEED_INCONCLUSIVE, .accuracy = ACCURACY_LESS},
                               {.speed = SPEED_SLOWER, .accuracy = ACCURACY_CHANGED}};
    run_comparison comparison = {.pairs = pairs, .covered = {.asked = 1, .done = 1}};
    assert_int_equal(comparison_speed(&comparison), SPEED_NOT_MEASURED);
    static const speed_verdict speeds[] = {SPEED_FASTER, SPEED_FASTER, SPEED_INCONCLUSIVE,
                                           SPEED_SLOWER};
    static const accuracy_verdict accuracies[] = {ACCURACY_IDENTICAL, ACCURACY_MORE, ACCURACY_LESS,
                                                  ACCURACY_LESS};
    for (size_t i = 0; i < 4; i++) {
        comparison.pair_count = i + 1;
        assert_int_equal(comparison_speed(&comparison), speeds[i]);
        assert_int_equal(comparison_accuracy(&comparison), accuracies[i]);
    }
    assert_int_equal(comparison_exit_code(&comparison), EXIT_CODE_REGRESSION);
}
