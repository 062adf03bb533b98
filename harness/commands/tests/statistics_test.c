/* Compares the rank test, the two-sample bootstrap and the change points with published tables and series, and with
 * data that were made to have a known answer. */
#include "draws.h"
#include "store/statistics.h"
#include "test.h"
#include <math.h>
#include <stdio.h>

/* The critical values of textbooks (Siegel 1956, table K; Zar, "Biostatistical Analysis", table B.11): the largest U
 * that is significant, two-sided. */
TEST(test_critical_values)
{
    static const struct {
        size_t n, m;
        int at_5, at_1;
    } table[] = {
        {5, 5, 2, 0},     {5, 6, 3, 1},       {5, 8, 6, 2},   {6, 6, 5, 2},
        {7, 7, 8, 4},     {8, 8, 13, 7},      {9, 9, 17, 11}, {10, 10, 23, 16},
        {15, 15, 64, 51}, {20, 20, 127, 105}, {4, 4, 0, -1},  {10, 20, 55, 42},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const int expected[] = {table[i].at_5, table[i].at_1};
        const double levels[] = {0.05, 0.01};
        for (int level = 0; level < 2; level++) {
            int critical = -1;
            while (2 * mann_whitney_tail(table[i].n, table[i].m, (size_t)critical + 1) <=
                   levels[level])
                critical++;
            if (critical != expected[level])
                fail_msg("%zu, %zu at %g: %d, the table has %d", table[i].n, table[i].m,
                         levels[level], critical, expected[level]);
        }
    }
}

TEST(test_rank_test)
{
    const double males[] = {19, 22, 16, 29, 24}, females[] = {20, 11, 17, 12};
    /* 2 * 7 of the 126 orders reach U = 17 */
    assert_true(fabs(mann_whitney(females, 4, males, 5) - 14.0 / 126) < 1e-15);
    assert_true(fabs(mann_whitney(males, 5, females, 4) - 14.0 / 126) < 1e-15);

    const double low[] = {1, 2, 3, 4, 5}, high[] = {6, 7, 8, 9, 10};
    assert_true(fabs(mann_whitney(low, 5, high, 5) - 2.0 / 252) < 1e-15);
    assert_true(mann_whitney(low, 5, low, 5) == 1);
    assert_true(isnan(mann_whitney(low, 5, high, 0)));

    /* Ties, by hand: ranks 1.5 1.5 4 4 | 4 6.5 6.5 8, U = 25 - 10 = 15, t = 2, 3, 2: 6 + 24 + 6,
     * variance 16/12 * (9 - 36/56), z = (15 - 8 - 0.5) / sqrt(variance). */
    const double left[] = {1, 1, 2, 2}, right[] = {2, 3, 3, 4};
    double z = 6.5 / sqrt(16.0 / 12 * (9 - 36.0 / 56));
    assert_true(fabs(mann_whitney(left, 4, right, 4) - erfc(z / sqrt(2))) < 1e-15);
    const double same[] = {7, 7, 7, 7};
    assert_true(mann_whitney(same, 4, same, 3) == 1); /* no variance at all */
}

enum { PROCESSES = 10, ROUNDS = 5 };

static void fill(double *values, size_t *start, double shift, random_stream *stream)
{
    start[0] = 0;
    for (size_t g = 0; g < PROCESSES; g++) {
        double own = 0.01 * normal(stream);
        start[g + 1] = (g + 1) * ROUNDS;
        for (size_t i = 0; i < ROUNDS; i++)
            values[g * ROUNDS + i] = shift + own + 0.003 * normal(stream);
    }
}

/* Counts how often the interval of a difference misses the truth, if the processes' spread is three times that of
 * rounds: an interval over pooled rounds would miss four times in ten. A median of ten processes covers 95 % to within
 * its steps: 500 trials with more than 45 misses have a probability below 1e-4 if the rate is 5 %. */
TEST(test_difference_coverage)
{
    double values[2][PROCESSES * ROUNDS], width = 0;
    size_t start[2][PROCESSES + 1];
    random_stream stream = random_stream_seeded(17);
    int misses = 0;
    for (unsigned trial = 0; trial < 500; trial++) {
        fill(values[0], start[0], 1, &stream);
        fill(values[1], start[1], 1.02, &stream);
        grouped_values base = {values[0], start[0], PROCESSES},
                       new = {values[1], start[1], PROCESSES};
        interval_estimate estimate =
            bootstrap_difference(&base, &new, RESAMPLE_GROUPS, 0.95, trial);
        assert_true(estimate.lo <= estimate.middle && estimate.middle <= estimate.hi);
        misses += estimate.lo > 0.02 || estimate.hi < 0.02;
        width += (estimate.hi - estimate.lo) / 500;
    }
    /* 2 * 1.96 standard errors of a difference of medians of ten. */
    double expected = 2 * 1.96 * 1.2533 * 0.0101 * sqrt(2.0 / PROCESSES);
    printf("%d of 500 intervals of 95 %% miss, mean width %.4f of %.4f\n", misses, width, expected);
    assert_true(misses <= 45);
    assert_true(width > 0.6 * expected && width < 1.6 * expected);
}

TEST(test_difference_of_nothing)
{
    const double values[] = {1, 3};
    const size_t start[] = {0, 1, 2};
    grouped_values some = {values, start, 2}, none = {values, start, 0};
    interval_estimate estimate = bootstrap_difference(&some, &none, RESAMPLE_BOTH, 0.95, 1);
    assert_true(isnan(estimate.middle) && isnan(estimate.lo) && isnan(estimate.hi));
    estimate = bootstrap_difference(&some, &some, RESAMPLE_BOTH, 0.95, 1);
    assert_true(estimate.middle == 0 && estimate.lo < 0 && estimate.hi > 0);
}

static size_t changes(const double *values, size_t count, size_t least, size_t *places)
{
    change_settings settings = change_defaults();
    size_t found, again[CHANGE_MOST_VALUES], found_again;
    settings.least_segment = least;
    found = change_points(values, count, &settings, places);
    found_again = change_points(values, count, &settings, again);
    assert_int_equal(found, found_again); /* the same series, the same answer */
    assert_memory_equal(places, again, found * sizeof *places);
    return found;
}

/* The annual flow of the Nile at Aswan, 1871 to 1970 (Cobb, "The problem of the Nile", Biometrika 65, 1978): in all
 * publications its one change is between 1898 and 1899. */
TEST(test_nile)
{
    static const double nile[100] = {
        1120, 1160, 963, 1210, 1160, 1160, 813,  1230, 1370, 1140, 995,  935,  1110, 994,  1020,
        960,  1180, 799, 958,  1140, 1100, 1210, 1150, 1250, 1260, 1220, 1030, 1100, 774,  840,
        874,  694,  940, 833,  701,  916,  692,  1020, 1050, 969,  831,  726,  456,  824,  702,
        1120, 1100, 832, 764,  821,  768,  845,  864,  862,  698,  845,  744,  796,  1040, 759,
        781,  865,  845, 944,  984,  897,  822,  1010, 771,  676,  649,  846,  812,  742,  801,
        1040, 860,  874, 848,  890,  744,  749,  838,  1050, 918,  986,  797,  923,  975,  815,
        1020, 906,  901, 1170, 912,  746,  919,  718,  714,  740};
    double sum = 0;
    for (int i = 0; i < 100; i++)
        sum += nile[i];
    assert_true(sum == 91935); /* the published mean is 919.35 */
    size_t places[100];
    assert_int_equal(changes(nile, 100, 10, places), 1);
    assert_int_equal(1871 + places[0], 1899);
}

/* Matteson and James, section 4: normal values with a change of the mean, or of the spread only, which no test of means
 * can detect. */
TEST(test_known_changes)
{
    double values[240];
    size_t places[240];
    random_stream stream = random_stream_seeded(8);
    for (int i = 0; i < 150; i++)
        values[i] = normal(&stream) + (i >= 50 && i < 100 ? 3 : 0);
    assert_int_equal(changes(values, 150, 10, places), 2);
    assert_in_range(places[0], 48, 52);
    assert_in_range(places[1], 98, 102);
    for (int i = 0; i < 240; i++)
        values[i] = normal(&stream) * (i >= 120 ? 6 : 1);
    assert_int_equal(changes(values, 240, 30, places), 1);
    assert_in_range(places[0], 110, 130);
}

/* A temporary bump: compared with all later values its four values are hardly visible, so the end of the comparison
 * must be searched too. */
TEST(test_short_bump)
{
    double values[36] = {0};
    size_t places[36];
    for (int i = 16; i < 20; i++)
        values[i] = 9;
    assert_int_equal(changes(values, 36, 4, places), 2);
    assert_int_equal(places[0], 16);
    assert_int_equal(places[1], 20);
}

/* The observed order counts as one of them (Phipson and Smyth): with 18 others p is at least 1/19, above 5 %, and with
 * 19 at least 1/20, whatever the series. */
TEST(test_fewest_orders)
{
    double step[20];
    size_t places[20], found;
    change_settings settings = change_defaults();
    for (int i = 0; i < 20; i++)
        step[i] = i < 10 ? 0 : 9;
    settings.orders = 18;
    found = change_points(step, 20, &settings, places);
    assert_int_equal(found, 0);
    settings.orders = 19;
    found = change_points(step, 20, &settings, places);
    assert_int_equal(found, 1);
    assert_int_equal(places[0], 10);
}

/* 2 of the 70 orders of four ones and four nines separate them, and with 19 orders a single one of these makes the
 * change insignificant: it is found in (34/35)^19 = 57.65 % of all draws. One order more or less would change the count
 * by 680 of 40000, which is 6.9 standard deviations. */
TEST(test_every_order_counts)
{
    enum { DRAWS = 40000 };
    const double step[] = {1, 1, 1, 1, 9, 9, 9, 9}, share = pow(34.0 / 35, 19);
    size_t places[8], found, all = 0;
    change_settings settings = change_defaults();
    settings.orders = 19;
    for (settings.seed = 1; settings.seed <= DRAWS; settings.seed++) {
        found = change_points(step, 8, &settings, places);
        all += found;
    }
    double deviations = ((double)all - DRAWS * share) / sqrt(DRAWS * share * (1 - share));
    printf("found in %zu of %d draws, %.2f standard deviations off\n", all, DRAWS, deviations);
    assert_true(fabs(deviations) < 3.4);
}

/* A typical history of CI: 2 % slower for good, in noise of 0.5 % with an outlier in every tenth run. */
TEST(test_history)
{
    double values[40];
    size_t places[40];
    random_stream stream = random_stream_seeded(21);
    for (int i = 0; i < 40; i++)
        values[i] = (i >= 25 ? 1.02 : 1) * (1 + 0.005 * normal(&stream)) + (i % 10 == 7 ? 0.1 : 0);
    assert_int_equal(changes(values, 40, 4, places), 1);
    assert_in_range(places[0], 24, 26);
}

/* Series without a change: at a rate of 5 %, more than 19 of 150 have a probability below 1e-4. */
TEST(test_false_changes)
{
    double values[30];
    size_t places[30];
    random_stream stream = random_stream_seeded(5);
    int wrong = 0;
    for (int trial = 0; trial < 150; trial++) {
        for (int i = 0; i < 30; i++)
            values[i] = normal(&stream);
        wrong += changes(values, 30, 4, places) > 0;
    }
    printf("%d of 150 series without a change have one\n", wrong);
    assert_in_range(wrong, 1, 18);
}

TEST(test_few_values)
{
    const double step[] = {1, 1, 1, 1, 9, 9, 9, 9}, flat[20] = {0};
    size_t places[20];
    assert_int_equal(changes(step, 0, 4, places), 0);
    assert_int_equal(changes(step, 7, 4, places), 0);
    assert_int_equal(changes(flat, 20, 4, places), 0);
    /* 2 of the 70 orders of eight values separate them like this: 3 %. */
    assert_int_equal(changes(step, 8, 4, places), 1);
    assert_int_equal(places[0], 4);
}
