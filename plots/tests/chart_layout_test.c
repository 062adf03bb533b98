/* Where labels and ticks go, and the checker of markup. */
#include "test.h"

#include "markup.h"
#include "report_parts.h"
#include <math.h>
#include <stdlib.h>

static void test_spread_moves_little_and_enough(void **state)
{
    (void)state;
    double apart[] = {10, 50, 90};
    assert_true(layout_spread(apart, 3, 15, 0, 100));
    assert_true(apart[0] == 10 && apart[1] == 50 && apart[2] == 90);
    /* Three at one place: the middle one stays. */
    double together[] = {50, 50, 50};
    assert_true(layout_spread(together, 3, 10, 0, 100));
    assert_true(together[0] == 40 && together[1] == 50 && together[2] == 60);
    double edge[] = {99, 99, 100};
    assert_true(layout_spread(edge, 3, 10, 0, 100));
    assert_true(edge[0] == 80 && edge[1] == 90 && edge[2] == 100);
    assert_true(layout_spread(edge, 0, 10, 0, 100));
}

static double random_unit(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / (1 << 24);
}

/* Clusters as real runs have them: the same statistic on three ISAs lie close. */
static void test_labels_do_not_overlap(void **state)
{
    (void)state;
    const chart_frame frame = {.left = 76, .right = 980, .top = 110, .bottom = 440};
    for (unsigned trial = 0; trial < 12; trial++) {
        label_box labels[24];
        size_t count = trial < 8 ? 12 : 24;
        unsigned seed = trial + 1;
        for (size_t i = 0; i < count; i++) {
            double near_x = 150 + 740 * random_unit(&seed);
            double near_y = 150 + 250 * random_unit(&seed);
            if (i % 3 > 0) {
                near_x = labels[i - 1].x + 30 * random_unit(&seed);
                near_y = labels[i - 1].y + 12 * random_unit(&seed);
            }
            labels[i] = (label_box){.x = near_x,
                                    .y = near_y,
                                    .width = layout_text_width("two_pass_f32_avx512"),
                                    .height = 14};
        }
        layout_place(labels, count, &frame, NULL, 0);
        assert_int_equal(layout_overlaps(labels, count), 0);
        for (size_t i = 0; i < count; i++) {
            assert_true(labels[i].left >= frame.left && labels[i].top >= frame.top);
            assert_true(labels[i].left + labels[i].width <= frame.right);
            assert_true(labels[i].top + labels[i].height <= frame.bottom);
        }
    }
}

static void test_overlaps_are_counted(void **state)
{
    (void)state;
    label_box labels[] = {{.x = 0, .y = 0, .width = 50, .height = 10, .left = 10, .top = 10},
                          {.x = 200, .y = 0, .width = 50, .height = 10, .left = 40, .top = 15},
                          {.x = 30, .y = 12, .width = 5, .height = 5, .left = 300, .top = 300}};
    assert_int_equal(layout_overlaps(labels, 3), 2);
}

static void test_text_width(void **state)
{
    (void)state;
    /* "AV" is 667 + 667 thousandths of 12 pixels, and 4 % for rounding. */
    assert_true(fabs(layout_text_width("AV") - 1.334 * 12 * 1.04) < 1e-9);
    assert_true(layout_text_width("wwww") > layout_text_width("iiii"));
}

static void test_ticks(void **state)
{
    (void)state;
    double ticks[64];
    assert_int_equal(layout_log_ticks(0.9, 21, ticks, 64), 5);
    assert_true(ticks[0] == 1 && ticks[1] == 2 && ticks[2] == 5 && ticks[3] == 10);
    assert_int_equal(layout_log_ticks(1, 1e6, ticks, 64), 7);
    assert_true(ticks[6] == 1e6);
    assert_int_equal(layout_log_ticks(0.1, 1e9, ticks, 64), 5);
    assert_true(ticks[0] == 1 && ticks[4] == 1e8);
    assert_int_equal(layout_log_ticks(1, 1e6, ticks, 3), 3);
    assert_true(layout_round_up(117) == 120 && layout_round_up(100) == 100);
    assert_true(fabs(layout_round_up(0.31) - 0.4) < 1e-12);
}

static void test_frame(void **state)
{
    (void)state;
    chart_frame frame = {100, 300, 50, 250, 1, 100, 0, 10, true, false};
    assert_true(fabs(frame_x(&frame, 10) - 200) < 1e-9);
    assert_true(fabs(frame_y(&frame, 10) - 50) < 1e-9);
    assert_true(fabs(frame_y(&frame, 2.5) - 200) < 1e-9);
}

/* What the tests of the report look at markup with. */
static void test_balance_checker(void **state)
{
    (void)state;
    assert_true(is_balanced("<a b='<'><c/>x</a>"));
    assert_false(is_balanced("<a><b></a></b>"));
    assert_false(is_balanced("<a>1 < 2</a>"));
    assert_false(is_balanced("<a>"));
    assert_false(is_balanced("</a>"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_balance_checker),
        cmocka_unit_test(test_spread_moves_little_and_enough),
        cmocka_unit_test(test_labels_do_not_overlap),
        cmocka_unit_test(test_overlaps_are_counted),
        cmocka_unit_test(test_text_width),
        cmocka_unit_test(test_ticks),
        cmocka_unit_test(test_frame),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
