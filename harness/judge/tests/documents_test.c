/* Compares the certified reference with the printed digits of five documents. docs/lab/conventions.md says which LayerNorm
 * each document computes and which errors it has. */
#include "domain/operation.h"
#include "inputs/inputs.h"
#include "certify/reference.h"
#include "test.h"
#include <math.h>
#include <stdio.h>

enum { MOST_HIDDEN = 16 };

/* Half a unit of the fourth decimal: the largest error of a printed number. */
static const double half_unit = 0.5e-4;

/* The largest error of the tests' own double arithmetic: fewer than 64 roundings of numbers near 1 (or of
 * sums of at most 8 of them). The reference values are correctly rounded to double. */
static const double rounding = 64 * 0x1p-53;

/* The reference's answer for one row, with gamma 1 and beta 0 as in every document. */
typedef struct document_answer {
    float rounded[MOST_HIDDEN];
    double exact[MOST_HIDDEN];
    ln_reference_result result;
} document_answer;

static ln_reference *reference;

static int create_reference(void **state)
{
    (void)state;
    reference = ln_reference_create();
    return reference ? 0 : -1;
}

static int destroy_reference(void **state)
{
    (void)state;
    ln_reference_destroy(reference);
    return 0;
}

static void answer_convention(const ln_convention *convention, const float *x, size_t hidden,
                              document_answer *answer)
{
    float gamma[MOST_HIDDEN], beta[MOST_HIDDEN] = {0};
    assert_in_range(hidden, 1, MOST_HIDDEN);
    for (size_t i = 0; i < hidden; i++)
        gamma[i] = convention->affine == LN_AFFINE_GAMMA1 ? 0 : 1;
    answer->result = (ln_reference_result){.rounded = answer->rounded, .exact = answer->exact};
    assert_true(ln_reference_row(reference, convention, LN_F32, LN_F32, hidden, x, NULL,
                                 ln_has_gamma(convention->affine) ? gamma : NULL,
                                 ln_has_beta(convention->affine) ? beta : NULL, &answer->result));
}

static void answer_row(const char *name, const float *x, size_t hidden, document_answer *answer)
{
    ln_convention convention;
    error err;
    if (!convention_parse(name, &convention, &err))
        fail_msg("%s", err.message);
    answer_convention(&convention, x, hidden, answer);
}

static void document_row(const char *document, size_t row, size_t hidden, float *x)
{
    input_rows(document, LN_F32, 0, row, 1, hidden, x);
}

static double sum_of(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum;
}

static double squares_of(const double *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i] * values[i];
    return sum;
}

/* ---- 003: equal to all printed digits ---- */

/* Prints as torch does, with four decimals. */
static bool prints_as(const double *values, size_t count, const char *const *printed)
{
    char digits[32];
    for (size_t i = 0; i < count; i++) {
        snprintf(digits, sizeof digits, "%.4f", values[i]);
        if (strcmp(digits, printed[i]) != 0)
            return false;
    }
    return true;
}

/* Prints as NumPy does, with eight decimals without trailing zeros. */
static bool numpy_prints_as(const double *values, size_t count, const char *const *printed)
{
    char digits[32];
    for (size_t i = 0; i < count; i++) {
        int length = snprintf(digits, sizeof digits, "%.8f", values[i]);
        while (digits[length - 1] == '0')
            digits[--length] = '\0';
        if (strcmp(digits, printed[i]) != 0)
            return false;
    }
    return true;
}

static const char *const module_003[4] = {"-1.1619", "-0.3873", "0.3873", "1.1619"};
/* The output of torch.nn.LayerNorm as torch would print it: 3 / sqrt(5) and 1 / sqrt(5), apart from eps. */
static const char *const torch_003[4] = {"-1.3416", "-0.4472", "0.4472", "1.3416"};
static const char *const numpy_003[4] = {"-1.161885", "-0.38728833", "0.38730833", "1.161905"};

TEST(test_003_module)
{
    static const char *const mean[6] = {"2.5000",  "6.5000",  "10.5000",
                                        "14.5000", "18.5000", "22.5000"};
    for (size_t row = 0; row < 6; row++) {
        float x[4];
        document_answer answer;
        char digits[32];
        document_row("seed-003", row, 4, x);
        answer_row("scalar-std", x, 4, &answer);
        assert_true(prints_as(answer.exact, 4, module_003));
        double rounded[4] = {answer.rounded[0], answer.rounded[1], answer.rounded[2],
                             answer.rounded[3]};
        assert_true(prints_as(rounded, 4, module_003));
        snprintf(digits, sizeof digits, "%.4f", (double)answer.result.mean_rounded);
        assert_string_equal(digits, mean[row]);
        answer_row("zscore", x, 4, &answer);
        snprintf(digits, sizeof digits, "%.4f", 1 / answer.result.facts.rstd);
        assert_string_equal(digits, "1.2910");
        answer_row("torch", x, 4, &answer);
        assert_true(prints_as(answer.exact, 4, torch_003));
    }
}

TEST(test_003_numpy)
{
    float x[4];
    document_answer answer;
    document_row("seed-003", 0, 4, x);
    answer_row("numpy-quotient", x, 4, &answer);
    assert_true(numpy_prints_as(answer.exact, 4, numpy_003));
    /* The document prints its two standard deviations to the last bit. */
    answer_row("zscore", x, 4, &answer);
    assert_true(fabs(1 / answer.result.facts.rstd / 1.2909944487358056 - 1) <= rounding);
    answer_row("eps=0", x, 4, &answer);
    assert_true(fabs(1 / answer.result.facts.rstd / 1.118033988749895 - 1) <= rounding);
}

/* ---- 002: within the intervals that follow from its printed inputs ---- */

static const double mean_002[3] = {0.3365, -0.6630, 0.1777};
static const double std_002[3] = {1.4087, 0.9236, 0.9019};
static const double zscore_002[3][6] = {
    {0.8811, 0.9648, -1.6159, -0.6911, 0.0095, 0.4516},
    {-0.3314, -0.8956, 1.6359, -0.8417, 0.7686, -0.3357},
    {1.0067, 0.7017, -0.3407, 0.8594, -0.8313, -1.3959},
};

typedef struct interval {
    double low, high;
} interval;

static interval around(double middle, double radius)
{
    return (interval){middle - radius, middle + radius};
}

static bool meet(interval a, interval b)
{
    return a.low <= b.high && b.low <= a.high;
}

/* Divides by an interval of positive numbers. */
static interval divide(interval a, interval b)
{
    return (interval){a.low / (a.low < 0 ? b.low : b.high), a.high / (a.high < 0 ? b.high : b.low)};
}

/* The intervals of mean, std and z-scores of all rows that are printed as x, for one divisor. If x changes by
 * |delta_i| <= h, the mean changes by at most h; the std, a Euclidean norm of centred numbers over sqrt(N - ddof), by
 * ||delta|| / sqrt(N - ddof) <= h sqrt(N / (N - ddof)); and a deviation x_i - mean by h (1 - 1/N) + (N - 1) h / N. */
typedef struct spread {
    interval mean, std, zscore[6];
} spread;

static spread spread_of(const char *convention, const float *x)
{
    const double n = 6;
    document_answer answer;
    spread made;
    answer_row(convention, x, 6, &answer);
    double ddof = strcmp(convention, "zscore") == 0 ? 1 : 0;
    double std = 1 / answer.result.facts.rstd;
    made.mean = around(answer.result.facts.mean, half_unit);
    made.std = around(std, half_unit * sqrt(n / (n - ddof)));
    for (size_t i = 0; i < 6; i++)
        made.zscore[i] =
            divide(around(answer.exact[i] * std, 2 * half_unit * (n - 1) / n), made.std);
    return made;
}

TEST(test_002_zscores)
{
    for (size_t row = 0; row < 3; row++) {
        float x[6];
        document_row("seed-002", row, 6, x);
        spread unbiased = spread_of("zscore", x), biased = spread_of("eps=0", x);
        assert_true(meet(unbiased.mean, around(mean_002[row], half_unit)));
        assert_true(meet(unbiased.std, around(std_002[row], half_unit)));
        assert_false(meet(biased.std, around(std_002[row], half_unit)));
        for (size_t i = 0; i < 6; i++) {
            interval printed = around(zscore_002[row][i], half_unit);
            assert_true(meet(unbiased.zscore[i], printed));
            assert_false(meet(biased.zscore[i], printed));
        }
        /* The notebook prints std 1 (divisor N - 1) and mean 0 for these z-scores: sum z^2 = N - 1, not N. */
        double squares = squares_of(zscore_002[row], 6), sizes = 0;
        for (size_t i = 0; i < 6; i++)
            sizes += fabs(zscore_002[row][i]);
        double radius = 2 * half_unit * sizes + 6 * half_unit * half_unit;
        assert_true(fabs(squares - 5) <= radius);
        assert_true(fabs(sum_of(zscore_002[row], 6)) <= 6 * half_unit);
    }
}

/* ---- 001: invariants of its printed output ---- */

/* The assumed least variance of its input's rows (randn, not printed). Then sum y^2 = N var / (var + eps) is at least
 * N - 1e-3, which the printed digits confirm. */
static const double least_var_001 = 0.04;

/* To four decimals, the sum is 0 and the sum of squares is N for the divisor N. For the divisor N - 1 it would be 3. */
TEST(test_001_invariants)
{
    for (size_t row = 0; row < 6; row++) {
        float x[4];
        double y[4], sizes = 0;
        document_row("seed-001", row, 4, x);
        for (size_t i = 0; i < 4; i++) {
            y[i] = round((double)x[i] * 1e4) / 1e4; /* the printed decimal, not its float */
            sizes += fabs(y[i]);
        }
        double radius = 2 * half_unit * sizes + 4 * half_unit * half_unit;
        assert_true(fabs(sum_of(y, 4)) <= 4 * half_unit);
        interval squares = around(squares_of(y, 4), radius);
        assert_true(meet(squares, (interval){4 * (1 - 1e-5 / least_var_001), 4}));
        assert_false(meet(squares, around(3, 0.5)));
    }
}

/* ---- 000: the two rows that it names, and its claims about them ---- */

TEST(test_000)
{
    static const double deviation[5] = {-2, -1, 0, 1, 2}; /* times 10, and times about 0.1 */
    double range[2];
    for (size_t word = 0; word < 2; word++) {
        float x[5];
        document_answer answer, no_bias;
        document_row("seed-000", word, 5, x);
        answer_row("torch", x, 5, &answer);
        double unit = word == 0 ? 10 : 0.1, var = 2 * unit * unit;
        /* The floats next to 1.1, 1.2, ... have errors of at most 2^-24. This changes deviations by at most twice
         * as much and the std (0.14) by as much; and |y| < 1.42. */
        double allowed = word == 0 ? rounding : (2 + 1.42) * 0x1p-24 / 0.14;
        for (size_t i = 0; i < 5; i++)
            assert_true(fabs(answer.exact[i] - deviation[i] * unit / sqrt(var + 1e-5)) <= allowed);
        /* The mean "should be close to 0", and the variance is 1 apart from eps. */
        assert_true(fabs(sum_of(answer.exact, 5)) <= rounding);
        var = answer.result.facts.var;
        assert_true(fabs(squares_of(answer.exact, 5) / 5 - var / (var + 1e-5)) <= rounding);
        range[word] = answer.exact[4] - answer.exact[0];
        /* bias=False: the same without beta, which is 0. */
        answer_row("torch-nobias", x, 5, &no_bias);
        assert_memory_equal(answer.rounded, no_bias.rounded, 5 * sizeof(float));
    }
    /* "Scaled to roughly the same range": the ranges differ by a factor of 100 before and by 0.025 % after, which is
     * the effect of eps on the second word, whose var is 0.02. */
    double left = range[1] / range[0];
    double expected = sqrt(0.02 / (0.02 + 1e-5)) / sqrt(200 / (200 + 1e-5));
    assert_true(fabs(left - expected) < (2 + 1.42) * 0x1p-24 / 0.14);
    assert_true(1 - left > 2.4e-4 && 1 - left < 2.6e-4);
}

/* With eps 0 a constant row divides by zero, as the document says, but does not crash. */
TEST(test_000_why_eps)
{
    const float x[5] = {3, 3, 3, 3, 3};
    document_answer answer;
    answer_row("torch", x, 5, &answer);
    assert_true(answer.rounded[0] == 0 && answer.rounded[4] == 0);
    answer_row("eps=0,affine=vector", x, 5, &answer);
    assert_true(isnan(answer.rounded[0]) && isnan(answer.rounded[4]));
}

/* ---- 004: its shape, its two sizes of eps, its tolerance ---- */

enum { BATCH_004 = 5, LENGTH_004 = 10, HIDDEN_004 = 8, ROWS_004 = BATCH_004 * LENGTH_004 };

/* numpy.allclose(a, b, atol=1e-3): |a - b| <= atol + rtol |b|, with rtol 1e-5 by default. */
static bool all_close(const double *a, const double *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(fabs(a[i] - b[i]) <= 1e-3 + 1e-5 * fabs(b[i])))
            return false;
    return true;
}

/* Counts the rows of a (5, 10, 8) tensor of N(0,1) times scale that all_close() finds equal under both conventions. The
 * document's own tensor is that of torch's manual_seed(0), which it does not print. */
static size_t rows_close(const char *a, const char *b, float scale)
{
    size_t close = 0;
    for (size_t row = 0; row < ROWS_004; row++) {
        float x[HIDDEN_004];
        document_answer answers[2];
        input_rows("normal", LN_F32, 4, row, 1, HIDDEN_004, x);
        for (size_t i = 0; i < HIDDEN_004; i++)
            x[i] *= scale;
        answer_row(a, x, HIDDEN_004, &answers[0]);
        answer_row(b, x, HIDDEN_004, &answers[1]);
        close += all_close(answers[0].exact, answers[1].exact, HIDDEN_004);
    }
    return close;
}

/* On rows with var near 1 the document's tolerance cannot distinguish eps 1e-5 and 1e-6, its own formula with eps on
 * the std, and no eps; it could only detect another divisor. At var 1e-4 it distinguishes all of them. */
TEST(test_004_tolerance)
{
    static const char *const alike[] = {"manual-1e-6", "formula-std", "eps=0,affine=vector"};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(rows_close("torch", alike[i], 1), ROWS_004);
        assert_int_equal(rows_close("torch", alike[i], 0.01F), 0);
    }
    assert_int_equal(rows_close("torch", "ddof=1,eps=1e-5@var,affine=vector", 1), 0);
}

int main(void)
{
    return test_run(create_reference, destroy_reference);
}
