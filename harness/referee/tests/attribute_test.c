/* Attribution: of outputs made wrong in one stage, that stage is named, and the five sum up to the
 * error. */
#include "referee/layernorm/attribute.h"
#include "domain/convention.h"
#include "exact/double_double.h"
#include "metrics/storage.h"
#include "block.h"
#include "test.h"
#include <math.h>

enum { ROWS = 4, HIDDEN = 64 };

/* An error of this size in mean or rstd is more than `least` ulp of the type. */
typedef struct typed_rows {
    ln_type type;
    double off, least;
} typed_rows;

static const typed_rows types[] = {
    {LN_F32, 1e-3, 100}, {LN_F64, 1e-12, 100}, {LN_BF16, 0.25, 5}, {LN_F16, 0.25, 40}};
enum { TYPES = sizeof types / sizeof *types };

/* gamma (x - mean) rstd + beta in twice the precision of double, rounded once to the type. */
static void put_element(const judge_block *block, size_t at, const row_statistics *used, void *y)
{
    double gamma = storage_load(block->param, block->inputs[ROLE_GAMMA], at % HIDDEN);
    double beta = storage_load(block->param, block->inputs[ROLE_BETA], at % HIDDEN);
    double_double from_mean =
        two_sum(storage_load(block->storage, block->inputs[ROLE_X], at), -used->mean);
    double_double product = multiply(two_product(gamma, used->rstd), from_mean);
    double_double high = two_sum(product.hi, beta);
    storage_store(block->storage, y, at, high.hi + (high.lo + product.lo));
}

/* y made from the exact statistics off by these factors. */
static void make_block(row_judge *judge, judge_block *block, ln_type type, double mean_off,
                       double rstd_off, void *y, row_statistics *used)
{
    block_of(judge, block, "torch", type, type, "normal", ROWS, HIDDEN);
    for (size_t row = 0; row < ROWS; row++) {
        const ln_row_facts *facts = &block->results[row].facts;
        used[row].mean = facts->mean + mean_off / facts->rstd;
        used[row].rstd = facts->rstd * (1 + rstd_off);
        for (size_t i = 0; i < HIDDEN; i++)
            put_element(block, row * HIDDEN + i, &used[row], y);
    }
}

/* In f64 the exact mean and rstd, which no double is, are stages of their own: each relative
 * rounding of 2^-53 is an ulp of the scale at most. */
static double most_elsewhere(ln_type type, error_stage stage, bool fitted)
{
    bool rounded = type == LN_F64 && (stage == STAGE_RSTD || stage == STAGE_MEAN);
    return rounded ? 1 : fitted ? 0.5 : 1e-3;
}

/* 0 for the offs: nothing is wrong, expected is STAGE_TOTAL. */
static void check(const typed_rows *typed, double mean_sign, double rstd_sign, bool fitted,
                  error_stage expected)
{
    static double y[ROWS * HIDDEN];
    row_statistics used[ROWS];
    judge_settings settings = {.seed = 3, .max_row_ulp = INFINITY, .deadline_seconds = 1};
    row_judge *judge = judge_create(NULL, &settings);
    judge_block block;
    attribution found;
    assert_non_null(judge);
    make_block(judge, &block, typed->type, mean_sign * typed->off, rstd_sign * typed->off, y, used);
    attribute_outputs(&block, y, fitted ? NULL : used, LN_F64, &found);
    assert_int_equal(found.rows, ROWS);
    assert_int_equal(found.fitted, fitted);
    const stage_error *stages = found.stages;
    double sum = 0;
    for (int stage = 0; stage < STAGE_TOTAL; stage++)
        sum += stages[stage].at_worst;
    assert_true(fabs(sum - stages[STAGE_TOTAL].at_worst) < 1e-6 * (1 + fabs(sum)));
    /* One rounding, and no arithmetic besides; a fit takes up some of it. An output off by a
     * quarter may stand a binade above its row's scale. */
    assert_true(stages[STAGE_ROUNDING].max <= (typed->off < 0.1 ? 0.5 : 1));
    assert_true(stages[STAGE_APPLY].max <= (fitted ? 1.0 : 1e-3));
    for (int stage = 0; stage < STAGE_APPLY; stage++) {
        if (stage == (int)expected)
            assert_true(stages[stage].rms > typed->least);
        else
            assert_true(stages[stage].max <=
                        most_elsewhere(typed->type, (error_stage)stage, fitted));
    }
    judge_block_free(&block);
    judge_destroy(judge);
}

TEST(test_mean)
{
    for (size_t i = 0; i < TYPES; i++) {
        check(&types[i], 1, 0, false, STAGE_MEAN);
        check(&types[i], -1, 0, true, STAGE_MEAN);
    }
}

TEST(test_variance)
{
    for (size_t i = 0; i < TYPES; i++) {
        check(&types[i], 0, 1, false, STAGE_VARIANCE);
        check(&types[i], 0, -1, true, STAGE_VARIANCE);
    }
}

TEST(test_exact)
{
    for (size_t i = 0; i < TYPES; i++) {
        check(&types[i], 0, 0, false, STAGE_TOTAL);
        check(&types[i], 0, 0, true, STAGE_TOTAL);
    }
}

static double factor_of(const judge_block *block, size_t column)
{
    ln_affine affine = block->convention.affine;
    if (affine == LN_AFFINE_NONE)
        return 1;
    double gamma = storage_load(block->param, block->inputs[ROLE_GAMMA],
                                affine == LN_AFFINE_SCALAR ? 0 : column);
    return affine == LN_AFFINE_GAMMA1 ? 1 + gamma : gamma;
}

/* The exact answers, made wrong by a mean that is off by so many standard deviations, rounded once:
 * under any convention the mean is what is named, or nothing, and the stages sum up. */
static void check_convention(const char *name, ln_type type, double off)
{
    static double y[ROWS * HIDDEN];
    row_statistics used[ROWS];
    judge_settings settings = {.seed = 5, .max_row_ulp = INFINITY, .deadline_seconds = 1};
    row_judge *judge = judge_create(NULL, &settings);
    judge_block block;
    attribution found;
    assert_non_null(judge);
    block_of(judge, &block, name, type, type, "normal", ROWS, HIDDEN);
    for (size_t at = 0; at < ROWS * HIDDEN; at++) {
        const ln_row_facts *facts = &block.results[at / HIDDEN].facts;
        used[at / HIDDEN] = (row_statistics){facts->mean + off / facts->rstd, facts->rstd};
        storage_store(type, y, at, block.exact[at] - off * factor_of(&block, at % HIDDEN));
    }
    attribute_outputs(&block, y, used, LN_F64, &found);
    const stage_error *stages = found.stages;
    double sum = 0;
    for (int stage = 0; stage < STAGE_TOTAL; stage++)
        sum += stages[stage].at_worst;
    bool fine = found.rows == ROWS && stages[STAGE_ROUNDING].max <= 0.5 &&
                fabs(sum - stages[STAGE_TOTAL].at_worst) < 1e-6 * (1 + fabs(sum)) &&
                stages[STAGE_APPLY].max <= 1e-3 && stages[STAGE_VARIANCE].max <= 1e-3 &&
                (off > 0 ? stages[STAGE_MEAN].max > 1 : stages[STAGE_MEAN].max <= 1e-3);
    if (!fine)
        fail_msg("%s, %s: mean %g variance %g apply %g rounding %g", name, dtype_name(type),
                 stages[STAGE_MEAN].max, stages[STAGE_VARIANCE].max, stages[STAGE_APPLY].max,
                 stages[STAGE_ROUNDING].max);
    judge_block_free(&block);
    judge_destroy(judge);
}

TEST(test_conventions)
{
    size_t count;
    const convention_preset *presets = convention_presets(OPERATION_LAYERNORM, &count);
    for (size_t i = 0; i <= count; i++) {
        const char *name = i < count ? presets[i].name : "ddof=1,eps=1e-3@quotient,affine=gamma1";
        /* Eight ulps of a number below 8 at least. */
        check_convention(name, LN_F32, 0);
        check_convention(name, LN_F32, 0x1p-18);
        check_convention(name, LN_F16, 0x1p-5);
        check_convention(name, LN_BF16, 0x1p-2);
    }
}
