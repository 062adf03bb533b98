/* Tests the judge of kernels without a bound on simulated kernels: it accepts every honest order of summation, and
 * finds planted errors.
 *
 * usage: limits_test [RUNS]. A run takes one row of each kind and type through all honest kernels. docs/conformance.md
 * has the figures of limits_test 10000. */
#include "base/hash.h"
#include "faults/faults.h"
#include "judge/judging.h"
#include "judge/position.h"
#include "exact/scale.h"
#include "block.h"
#include "test.h"
#include <stdlib.h>

static unsigned long runs = 150;

/* ---- random numbers ---- */

static uint64_t random_state;

static uint64_t random_bits(void)
{
    return splitmix64(&random_state);
}

static double random_unit(void)
{
    return (double)(random_bits() >> 11) * 0x1p-53;
}

static double random_normal(void)
{
    return sqrt(-2 * log(1 - random_unit())) * cos(6.283185307179586 * random_unit());
}

/* ---- rows ---- */

enum { MOST_HIDDEN = 1100, KINDS = 8, CONSTANT = KINDS, LONELY };

static double element_of(int kind, size_t i, size_t hidden)
{
    double normal = random_normal();
    switch (kind) {
    case 0:
        return normal;
    case 1:
        return 3 + normal;
    case 2:
        return 100 + normal;
    case 3:
        return 1 + random_unit();
    case 4:
        return (i % 2 ? -1000.0 : 1000.0) + normal;
    case 5:
        return i == 0 ? 1e4 : normal;
    case 6:
        return 7 * ((double)i / (double)hidden - 0.5) + 0.01 * normal;
    case CONSTANT:
        return 1.5;
    case LONELY: /* its square is 0 in f64, but the row is not constant */
        return i == hidden / 2 ? 0x1p-1070 : 0;
    default:
        return 0x1p-9 * normal;
    }
}

typedef struct test_row {
    ln_convention convention;
    ln_type storage, param;
    size_t hidden;
    double x[MOST_HIDDEN], room[3][MOST_HIDDEN], rounded[MOST_HIDDEN], exact[MOST_HIDDEN],
        rest[MOST_HIDDEN];
    ln_reference_result answer;
    metrics_row row;
} test_row;

static ln_reference *reference;
static test_row *made;

static int set_up(void **state)
{
    (void)state;
    reference = ln_reference_create();
    made = malloc(sizeof *made);
    return reference && made ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    free(made);
    ln_reference_destroy(reference);
    return 0;
}

/* Makes a row with a random convention and size. */
static void make_row(ln_type storage, int kind)
{
    made->storage = storage;
    made->param = storage == LN_F64 ? LN_F64 : LN_F32;
    made->hidden = random_bits() % 4 ? 2 + random_bits() % 100 : 2 + random_bits() % 1000;
    made->convention = (ln_convention){.ddof = (int)(random_bits() % 2),
                                       .eps_place = (ln_eps_place)(random_bits() % 4),
                                       .eps = 1e-5,
                                       .affine = (ln_affine)(random_bits() % 5)};
    if (made->convention.eps_place == LN_EPS_NONE)
        made->convention.eps = 0;
    for (size_t i = 0; i < made->hidden; i++) {
        store_element(storage, made->room[0], i, element_of(kind, i, made->hidden));
        made->x[i] = load(storage, made->room[0], i);
        store_element(made->param, made->room[1], i, 1 + 0.3 * random_normal());
        store_element(made->param, made->room[2], i, 0.3 * random_normal());
    }
    made->answer =
        (ln_reference_result){.rounded = made->rounded, .exact = made->exact, .rest = made->rest};
    ln_affine affine = made->convention.affine;
    made->row = (metrics_row){storage,
                              made->param,
                              made->hidden,
                              &made->convention,
                              ln_has_gamma(affine) ? made->room[1] : NULL,
                              ln_has_beta(affine) ? made->room[2] : NULL,
                              &made->answer,
                              affine,
                              false};
    assert_true(ln_reference_row(reference, &made->convention, storage, made->param, made->hidden,
                                 made->room[0], NULL, made->row.gamma, made->row.beta,
                                 &made->answer));
}

static void run_kernel(const ln_kernel *kernel, void *y, void *mean, void *rstd)
{
    ln_problem problem = {.rows = 1,
                          .hidden = made->hidden,
                          .storage = made->storage,
                          .param = made->param,
                          .convention = made->convention};
    ln_tensors tensors = {.x = made->room[0],
                          .gamma = made->row.gamma,
                          .beta = made->row.beta,
                          .y = y,
                          .mean = mean,
                          .rstd = rstd};
    kernel->run(&problem, &tensors);
}

static row_limits limits_of(ln_type accumulator)
{
    row_limits limits;
    order_question question = {.storage = made->storage,
                               .accumulator = accumulator,
                               .hidden = made->hidden,
                               .convention = &made->convention};
    limits_of_row(&question, &made->row, made->x, &limits);
    return limits;
}

/* ---- honest kernels ---- */

/* A kernel's output for a row: y, and the errors of its mean and 1 / std. */
typedef struct test_output {
    double y[MOST_HIDDEN], off[ROLES_MOST];
} test_output;

static bool all_hold(const row_limits *limits, const test_output *output)
{
    return limits_hold(limits, &made->row, output->y) &&
           output->off[ROLE_MEAN] <= limits->statistics[ROLE_MEAN] &&
           output->off[ROLE_RSTD] <= limits->statistics[ROLE_RSTD];
}

/* As in the judge, an order that loses more digits than the textbook's, with an unlucky pivot, is type-limited. */
TEST(no_honest_order_is_alarmed)
{
    unsigned long judged = 0, with_limit = 0, limited = 0;
    double closest = 0, closest_row = 0, closest_order = 0;
    random_state = 1;
    for (unsigned long run = 0; run < runs; run++)
        for (int at = 0; at < KINDS * 4; at++) {
            make_row((ln_type)(at % 4), at / 4);
            ln_type accumulator = made->param; /* f64 of f64 rows, else f32 */
            const row_limits usual = limits_of(accumulator);
            for (size_t k = 0; k < honest_count; k++) {
                test_output output = {0};
                row_limits limits = usual;
                double mean[1], rstd[1], worst;
                if (honest_kernels[k].storage != made->storage)
                    continue;
                run_kernel(&honest_kernels[k], output.y, mean, rstd);
                judged++;
                if (!limits_tell(&limits))
                    continue;
                with_limit++;
                output.off[ROLE_MEAN] = fabs(load(accumulator, mean, 0) - made->answer.facts.mean);
                output.off[ROLE_RSTD] =
                    fabs(load(accumulator, rstd, 0) / made->answer.facts.rstd - 1);
                if (!all_hold(&limits, &output)) {
                    limits = limits_poorest(accumulator, &made->row, made->x, &usual);
                    limited++;
                }
                if (!all_hold(&limits, &output))
                    fail_msg("%s, kind %d, hidden %zu, ddof %d, eps place %d, affine %d",
                             honest_kernels[k].name, at / 4, made->hidden, made->convention.ddof,
                             (int)made->convention.eps_place, (int)made->convention.affine);
                assert_true(ln_bound_holds(&limits.order.bound, &made->row, output.y, &worst));
                closest_order = fmax(closest_order, worst);
                closest_row =
                    fmax(closest_row, limits_error(&made->row, output.y) / limits.row_ulp);
                closest = fmax(closest, output.off[ROLE_MEAN] / limits.statistics[ROLE_MEAN]);
                closest = fmax(closest, output.off[ROLE_RSTD] / limits.statistics[ROLE_RSTD]);
            }
        }
    print_message("%lu rows judged, %lu with a limit, %lu at it; of what is allowed at most "
                  "%.2f by y, %.2f by mean or rstd; %.2f of any order\n",
                  judged, with_limit, limited, closest_row, closest, closest_order);
    assert_true(with_limit > judged / 2);
}

/* Computes the variance about the mean of the first eight elements, one of which is a spike. This is a correct
 * algorithm, which loses digits. */
TEST(a_pivot_that_is_an_outlier_is_a_limit)
{
    size_t beyond = 0;
    random_state = 5;
    for (int run = 0; run < 100; run++) {
        row_limits poorest, limits;
        float pivot = 0, sum = 0, squares = 0;
        make_row(LN_F32, 5);
        const ln_convention *own = &made->convention;
        const double n = (double)made->hidden;
        limits = limits_of(LN_F32);
        poorest = limits_poorest(LN_F32, &made->row, made->x, &limits);
        for (size_t i = 0; i < 8 && i < made->hidden; i++)
            pivot += (float)made->x[i] / 8;
        for (size_t i = 0; i < made->hidden; i++) {
            float off = (float)made->x[i] - pivot;
            sum += off;
            squares += off * off;
        }
        double var = (double)(squares - sum * (sum / (float)n)) / (n - own->ddof);
        double std = sqrt(var + (own->eps_place == LN_EPS_VAR ? own->eps : 0)) +
                     (own->eps_place == LN_EPS_STD ? own->eps : 0);
        double off = fabs(1 / std / made->answer.facts.rstd - 1);
        beyond += off > limits.statistics[ROLE_RSTD];
        assert_true(off <= poorest.statistics[ROLE_RSTD]);
    }
    assert_true(beyond > 0);
}

/* ---- planted errors ---- */

/* Computes the correctly rounded row under another convention. */
static void other_convention(ln_convention other, void *y)
{
    double exact[MOST_HIDDEN], rest[MOST_HIDDEN];
    ln_reference_result answer = {.rounded = y, .exact = exact, .rest = rest};
    assert_true(ln_reference_row(reference, &other, made->storage, made->param, made->hidden,
                                 made->room[0], NULL, made->row.gamma, made->row.beta, &answer));
}

TEST(another_divisor_is_named)
{
    random_state = 2;
    for (int run = 0; run < 200; run++) {
        char why[ROW_FAULT_LENGTH] = "";
        double y[MOST_HIDDEN];
        make_row(LN_F32, run % 2);
        row_limits limits = limits_of(made->param);
        ln_convention other = made->convention;
        other.ddof = 1 - other.ddof;
        other_convention(other, y);
        if (!limits_tell(&limits))
            continue;
        assert_false(limits_hold(&limits, &made->row, y));
        explained_row wrong = {&made->row, made->x, y, limits.row_ulp, NULL, 0};
        assert_true(norm_say_mistake(&made->convention, norm_mistakes(&wrong).fit, why));
        assert_string_equal(
            why, other.ddof ? "divides the variance by N - 1 (ddof=1), where the convention has N"
                            : "divides the variance by N (ddof=0), where the convention has N - 1");
    }
}

/* Computes y of a block with an eps of 1e-3 instead of 1e-4; or with all variances too large by the factor that has the
 * same effect in the first row only. */
static void other_variance(const judge_block *block, bool factor, double *y)
{
    const double *x = block->inputs[ROLE_X], first = block->results[0].facts.var;
    for (size_t i = 0; i < block->rows * block->hidden; i++) {
        const ln_row_facts *facts = &block->results[i / block->hidden].facts;
        double scaled = (facts->var + 1e-4) * (first + 1e-3) / (first + 1e-4);
        y[i] = (x[i] - facts->mean) / sqrt(factor ? scaled : facts->var + 1e-3);
    }
}

TEST(an_eps_is_named_where_rows_agree_on_it)
{
    judge_settings settings = {.max_row_ulp = INFINITY};
    row_judge *judge = judge_create(NULL, &settings);
    judge_block block;
    case_judgement judged;
    char why[ROW_FAULT_LENGTH];
    double y[6 * 64];
    block_of(judge, &block, "ddof=0,eps=1e-4@var,affine=none", LN_F64, LN_F64, "normal", 6, 64);
    other_variance(&block, false, y);
    judge_output(judge, &block, y, &judged);
    assert_true(norm_say_mistake(&block.convention, judged.mistakes.fit, why));
    assert_string_equal(why, "has an eps of 0.001, where the convention has 0.0001");
    other_variance(&block, true, y);
    judge_output(judge, &block, y, &judged);
    assert_false(norm_say_mistake(&block.convention, judged.mistakes.fit, why));
    judge_block_free(&block);
    judge_destroy(judge);
}

TEST(a_wrong_variance_is_no_fault_of_the_largest_column)
{
    judge_settings settings = {.max_row_ulp = INFINITY};
    row_judge *judge = judge_create(NULL, &settings);
    row_findings findings = {.verdict.kind = VERDICT_PASS};
    judge_block block;
    float y[768];
    block_of(judge, &block, "torch", LN_F32, LN_F32, "spike", 1, 768);
    judged_kind kind = judged_kind_unknown(&block);
    judge_reserve(judge, &block);
    metrics_row row = judge_metrics_row(&block, 0);
    for (size_t i = 0; i < 768; i++)
        y[i] = (float)(1.0007 * (row.answer->exact[i] - beta_at(&row, i)) + beta_at(&row, i));
    judge_row(judge, &block, y, 0, &kind, &findings);
    assert_non_null(
        strstr(findings.verdict.detail, "y - exact is 0.0007 gamma xhat in all columns"));
    judge_block_free(&block);
    judge_destroy(judge);
}

static float kept(float value, bool flushes)
{
    return flushes && fabsf(value) < 0x1p-126f ? 0 : value;
}

/* Computes gamma (x - mean) rstd + beta with each subnormal number replaced by 0; and x s + t with s = gamma rstd,
 * which loses digits here. */
TEST(what_is_lost_below_the_least_normal_number_is_no_fault)
{
    random_state = 7;
    for (int run = 0; run < 400; run++) {
        const bool flushes = run % 2;
        float y[MOST_HIDDEN];
        make_row(LN_F32, run / 2 % 2);
        made->convention =
            (ln_convention){.eps_place = LN_EPS_VAR, .eps = 1e-5, .affine = LN_AFFINE_VECTOR};
        made->row.gamma = made->room[1];
        made->row.beta = made->room[2];
        made->row.affine = LN_AFFINE_VECTOR;
        for (size_t i = 0; i < 2 * MOST_HIDDEN; i++)
            store_element(LN_F32, made->room[1 + i % 2], i / 2, 1.2e-38 * random_normal());
        assert_true(ln_reference_row(reference, &made->convention, LN_F32, LN_F32, made->hidden,
                                     made->room[0], NULL, made->row.gamma, made->row.beta,
                                     &made->answer));
        const float mean = (float)made->answer.facts.mean, rstd = (float)made->answer.facts.rstd;
        for (size_t i = 0; i < made->hidden; i++) {
            const float x = (float)made->x[i];
            const float gamma = kept((float)load(LN_F32, made->row.gamma, i), flushes);
            const float beta = kept((float)load(LN_F32, made->row.beta, i), flushes);
            const float s = gamma * rstd;
            y[i] = flushes ? kept(kept(gamma * ((x - mean) * rstd), true) + beta, true)
                           : x * s + (beta - mean * s);
        }
        row_limits limits;
        order_question question = {.storage = LN_F32,
                                   .accumulator = LN_F32,
                                   .hidden = made->hidden,
                                   .convention = &made->convention,
                                   .flushes = flushes};
        limits_of_row(&question, &made->row, made->x, &limits);
        if (!limits_hold(&limits, &made->row, y))
            fail_msg("run %d: %g, at most %g", run, limits_error(&made->row, y), limits.row_ulp);
    }
}

TEST(one_wrong_element_fails)
{
    random_state = 3;
    for (int run = 0; run < 400; run++) {
        double y[MOST_HIDDEN];
        make_row((ln_type)(run % 4), 0);
        row_limits limits = limits_of(made->param);
        assert_true(limits_tell(&limits));
        memcpy(y, made->rounded, made->hidden * sizeof *y);
        assert_true(limits_hold(&limits, &made->row, y));
        size_t i = random_bits() % made->hidden;
        double ulp = ln_ulp(made->storage, element_scale(&made->row, i));
        store_element(made->storage, y, i,
                      load(made->storage, y, i) + 1.5 * limits.row_ulp * ulp + ulp);
        assert_false(limits_hold(&limits, &made->row, y));
    }
}

/* If 0 / 0 is the right answer, a number is a failure; if the computed variance is 0 by rounding, it is not. */
TEST(only_constant_rows_are_undefined)
{
    random_state = 4;
    for (int run = 0, found = 0; found < 40; run++) {
        int kind = run % 2 ? LONELY : CONSTANT;
        make_row(LN_F64, kind);
        if (made->convention.eps_place != LN_EPS_NONE)
            continue;
        row_limits limits = limits_of(made->param);
        assert_false(limits_tell(&limits));
        assert_int_equal(limits.textbook.undefined, kind == CONSTANT);
        found++;
    }
}

/* Returns true if `count` wrong elements are judged type-limited. The row has a mean of 0.05 and deviations of 1, so
 * the output is beta + gamma or beta - gamma; only the first element has this gamma and beta. */
static bool is_excused(float gamma_size, float beta_size, float wrong, size_t count)
{
    enum { HIDDEN = 64 };
    float x[HIDDEN], gamma[HIDDEN], beta[HIDDEN], y[HIDDEN];
    judge_settings settings = {.max_row_ulp = INFINITY};
    ln_convention torch = {.eps_place = LN_EPS_VAR, .eps = 1e-5, .affine = LN_AFFINE_VECTOR};
    row_judge *judge = judge_create(NULL, &settings);
    row_findings findings = {.verdict.kind = VERDICT_PASS};
    judge_block block;
    for (size_t i = 0; i < HIDDEN; i++) {
        x[i] = i % 2 ? -0.95F : 1.05F;
        gamma[i] = i == 0 ? gamma_size : 1;
        beta[i] = i == 0 ? beta_size : 0;
    }
    block_from(judge, &block, &torch, LN_F32, LN_F32, 1, HIDDEN, x, NULL, gamma, beta);
    judged_kind kind = judged_kind_unknown(&block);
    judge_reserve(judge, &block);
    memcpy(y, block.results[0].rounded, sizeof y);
    for (size_t i = 0; i < count; i++)
        y[i] = wrong; /* of the first one, x s is 1.05 gamma, and (|x| + |mean|) s is 1.1 gamma */
    judge_row(judge, &block, y, 0, &kind, &findings);
    judge_block_free(&block);
    judge_destroy(judge);
    assert_string_equal(verdict_reason(findings.verdict.kind), "wrong-class");
    return verdict_is_limit(findings.verdict.kind);
}

TEST(an_infinity_on_the_way_is_a_limit_near_the_end_alone)
{
    assert_true(is_excused(3.35e38F, 0, INFINITY, 1));
    assert_false(is_excused(3.35e38F, 0, -INFINITY, 1));
    assert_false(is_excused(3.35e38F, 0, NAN, 1)); /* NaN needs two infinities */
    assert_true(is_excused(3.35e38F, -3.35e38F, NAN, 1));
    assert_false(is_excused(3.35e38F, -3.35e38F, NAN, 2));
    assert_false(is_excused(3.35e38F, 0, INFINITY, 2));
    assert_false(is_excused(3e38F, 0, INFINITY, 1));
    assert_false(is_excused(1, 0, INFINITY, 1));
}

/* ---- positions ---- */

enum { POSITION_ROWS = 60 }; /* a pack of the covering array has 30 to 183 */

/* Adds a row with simulated errors: an error of mean and rstd that all elements share, each element's own two roundings
 * (uniform, half an ulp each), and `planted` ulp more in one lane. */
static void add_simulated(position_errors *errors, size_t lane, size_t lanes, double planted)
{
    static const ln_convention plain = {.ddof = 0, .eps_place = LN_EPS_NONE};
    double x[MOST_HIDDEN], y[MOST_HIDDEN], exact[MOST_HIDDEN];
    float rounded[MOST_HIDDEN];
    ln_reference_result answer = {.rounded = rounded, .exact = exact, .max_xhat = 2};
    size_t hidden = 32 + random_bits() % 100;
    double a = 8 * random_normal(), b = 8 * random_normal();
    double ulp = ln_ulp(LN_F64, 2);
    answer.facts = (ln_row_facts){.mean = 0, .rstd = 1, .var = 1};
    for (size_t i = 0; i < hidden; i++) {
        double own = random_unit() + random_unit() - 1 + (i % lanes == lane ? planted : 0);
        x[i] = random_normal() / 2;
        exact[i] = 0;
        y[i] = ulp * (a * x[i] + b + own);
    }
    metrics_row row = {LN_F64, LN_F64, hidden, &plain, NULL, NULL, &answer, LN_AFFINE_NONE, false};
    position_add(errors, &row, x, y);
}

TEST(positions_alike_are_not_alarmed)
{
    unsigned long rounds = runs;
    random_state = 4;
    for (unsigned long run = 0; run < rounds; run++) {
        position_errors errors = {0};
        position_finding found;
        for (int row = 0; row < POSITION_ROWS; row++)
            add_simulated(&errors, 0, 1, 0);
        assert_false(position_differs(&errors, &found));
    }
    print_message("%lu runs of %d rows\n", rounds, POSITION_ROWS);
}

TEST(a_lane_that_differs_is_named)
{
    static const struct {
        size_t lane, lanes;
        double planted;
        const char *name;
    } plants[] = {{13, 16, 3, "lane 13 of 16"},
                  {3, 4, -2, "lane 3 of 4"},
                  {0, 32, 4, "lane 0 of 32"},
                  {1, 2, 1.5, "lane 0 of 2"}};
    random_state = 5;
    for (size_t i = 0; i < sizeof plants / sizeof *plants; i++) {
        position_errors errors = {0};
        position_finding found;
        for (int row = 0; row < POSITION_ROWS; row++)
            add_simulated(&errors, plants[i].lane, plants[i].lanes, plants[i].planted);
        assert_true(position_differs(&errors, &found));
        if (strcmp(found.where, plants[i].name) != 0)
            assert_string_equal(found.where, i == 3 ? "lane 1 of 2" : plants[i].name);
    }
    /* A remainder loop without fused operations has an error of half an ulp more, which is no fault. */
    position_errors errors = {0};
    position_finding found;
    for (int row = 0; row < POSITION_ROWS; row++)
        add_simulated(&errors, 1, 2, 0.5);
    assert_false(position_differs(&errors, &found));
}

int main(int argc, char **argv)
{
    if (argc > 1)
        runs = strtoul(argv[1], NULL, 10);
    return test_run(set_up, tear_down);
}
