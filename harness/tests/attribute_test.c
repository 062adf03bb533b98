/* Attribution: of outputs made wrong in one stage, that stage is named, and the five sum up to the
 * error. */
#include "attribute.h"
#include "convention.h"
#include "test.h"
#include <math.h>

enum { ROWS = 4, HIDDEN = 64 };

/* y made in double from the exact statistics off by these factors, and rounded once. */
static void make(judge *judge, judge_block *block, double mean_off, double rstd_off, float *y,
                 row_statistics *used)
{
    error error = {0};
    ln_convention convention;
    assert_true(convention_parse("torch", &convention, &error));
    assert_true(judge_block_generate(judge, block, &convention, "normal", 0, ROWS, HIDDEN, &error));
    for (size_t row = 0; row < ROWS; row++) {
        const ln_row_facts *facts = &block->results[row].facts;
        used[row].mean = facts->mean + mean_off / facts->rstd;
        used[row].rstd = facts->rstd * (1 + rstd_off);
        for (size_t i = 0; i < HIDDEN; i++) {
            double xhat = ((double)((const float *)block->x)[row * HIDDEN + i] - used[row].mean) *
                          used[row].rstd;
            y[row * HIDDEN + i] = (float)((double)((const float *)block->gamma)[i] * xhat +
                                          (double)((const float *)block->beta)[i]);
        }
    }
}

static void check(double mean_off, double rstd_off, bool fitted, error_stage expected)
{
    static float y[ROWS * HIDDEN];
    row_statistics used[ROWS];
    judge_settings settings = {.seed = 3, .max_row_ulp = INFINITY, .deadline_seconds = 1};
    judge *judge = judge_create(NULL, &settings);
    judge_block block;
    attribution found;
    assert_non_null(judge);
    make(judge, &block, mean_off, rstd_off, y, used);
    attribute_outputs(&block, y, fitted ? NULL : used, LN_F64, &found);
    assert_int_equal(found.rows, ROWS);
    assert_int_equal(found.fitted, fitted);
    const stage_error *stages = found.stages;
    double sum = 0;
    for (int stage = 0; stage < STAGE_TOTAL; stage++)
        sum += stages[stage].at_worst;
    assert_true(fabs(sum - stages[STAGE_TOTAL].at_worst) < 1e-6 * (1 + fabs(sum)));
    /* One rounding, and no arithmetic besides; a fit takes up some of it. */
    assert_true(stages[STAGE_ROUNDING].max <= 0.5);
    assert_true(stages[STAGE_APPLY].max <= (fitted ? 1.0 : 1e-3));
    for (int stage = 0; stage < STAGE_APPLY; stage++) {
        if (stage == (int)expected)
            assert_true(stages[stage].rms > 100);
        else
            assert_true(stages[stage].max < (fitted ? 0.5 : 1e-3));
    }
    judge_block_free(&block);
    judge_destroy(judge);
}

static void test_mean(void **state)
{
    (void)state;
    check(1e-3, 0, false, STAGE_MEAN);
    check(-1e-3, 0, true, STAGE_MEAN);
}

static void test_variance(void **state)
{
    (void)state;
    check(0, 1e-3, false, STAGE_VARIANCE);
    check(0, -1e-3, true, STAGE_VARIANCE);
}

static void test_exact(void **state)
{
    (void)state;
    check(0, 0, false, STAGE_TOTAL);
    check(0, 0, true, STAGE_TOTAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mean),
        cmocka_unit_test(test_variance),
        cmocka_unit_test(test_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
