/* Tests that the fingerprint names each kind of function. Outputs are computed here in double; which_generator.c tests
 * outputs of textbook kernels of all types. */
#include "base/hash.h"
#include "exact/scale.h"
#include "judge/fingerprint/fingerprint.h"
#include "test.h"
#include <math.h>

enum { I = 4, J = 6, K = 8, ALL = I * J * K };

/* The axes or groups that are normalised together. */
enum { LAST, AXIS0, AXIS1, LAST_TWO, WHOLE, BATCH, GROUPS, LAST_GROUPS, BATCH_LAST };
/* The shape: I, J, K; one with four axes; or only the first rows. */
enum { THREE, SPLIT_J, SPLIT_I, FEW };

static size_t group_of(int over, size_t e)
{
    size_t i = e / (J * K), j = e / K % J, k = e % K;
    const size_t keys[] = {i * J + j, j * K + k,     i * K + k,     i, 0,
                           j,         i * 2 + j / 3, i * 2 + k / 4, k};
    return keys[over];
}

enum { NONE, BOTH, GAMMA, BETA, OFFSET, TWICE, BETA_FIRST, SWAPPED, MINUS };

typedef struct made {
    const char *words; /* the words that every candidate must have... */
    fingerprint_answer answer;
    int over, rms, ddof, place, use, softmax;
    ln_type type, x_first, xhat, out; /* x_first, xhat: LN_F32: not rounded */
    int residual;                     /* the sum is: 1: rounded, 2: not rounded, 3: not added */
    int along;                        /* the axis of gamma and beta: 0: the last one, 1: axis 1 */
    int scale;                        /* 1: there is no division */
    int shape;
} made;

static double x[ALL], y[ALL], residual[ALL], gamma_[K], beta[K];

static double round_to(ln_type type, double value)
{
    return type == LN_F32 ? value : stored_in(type, value);
}

static double affine(const made *one, double xhat, size_t e)
{
    size_t p = one->along ? e / K % J : e % K;
    double g = gamma_[p], b = beta[p];
    const double all[] = {xhat,           g * xhat + b,       g * xhat,
                          xhat + b,       (1 + g) * xhat + b, g * (g * xhat + b) + b,
                          g * (xhat + b), b * xhat + g,       g * xhat - b};
    return all[one->use];
}

static void make(const made *one, double eps)
{
    static double h[ALL];
    for (size_t e = 0; e < ALL; e++) {
        double sum = x[e] + (one->residual ? residual[e] : 0);
        h[e] = one->residual == 3 ? x[e] : one->residual == 1 ? stored_in(one->type, sum) : sum;
        h[e] = round_to(one->x_first, h[e]);
    }
    for (size_t e = 0; e < ALL; e++) {
        double n = 0, mean = 0, square = 0, most = 0, exps = 0;
        for (size_t o = 0; o < ALL; o++)
            if (group_of(one->over, o) == group_of(one->over, e)) {
                n++;
                mean += one->rms ? 0 : h[o];
                exps += exp(h[o]);
            }
        mean /= n;
        for (size_t o = 0; o < ALL; o++)
            if (group_of(one->over, o) == group_of(one->over, e))
                square += (h[o] - mean) * (h[o] - mean), most = fmax(most, fabs(h[o]));
        square /= n - one->ddof;
        double root = one->place == LN_EPS_VAR   ? sqrt(square + eps)
                      : one->place == LN_EPS_STD ? sqrt(square) + eps
                                                 : sqrt(square);
        double xhat = (h[e] - mean) / (one->scale ? 1 : root);
        xhat += one->place == LN_EPS_QUOTIENT ? eps : 0;
        y[e] = stored_in(one->type, affine(one, round_to(one->xhat, xhat), e));
        if (one->softmax)
            y[e] = (double)(float)(exp(h[e]) / exps);
        y[e] = round_to(one->out, y[e]);
    }
}

static void fill(ln_type type, double size)
{
    uint64_t stream = 11;
    for (size_t e = 0; e < ALL; e++) {
        double u = 0;
        for (int i = 0; i < 6; i++)
            u += (double)(splitmix64(&stream) >> 11) * 0x1p-53 - 0.5;
        double scale = size * exp2(-(double)(e / K % J)) * exp2((double)(e / (J * K)));
        x[e] = stored_in(type, u * scale);
        residual[e] = stored_in(type, ((double)(splitmix64(&stream) >> 11) * 0x1p-53 - .5) * scale);
    }
    for (size_t p = 0; p < K; p++) {
        gamma_[p] = stored_in(type, 0.5 + (double)(splitmix64(&stream) >> 11) * 0x1p-53);
        beta[p] = stored_in(type, (double)(splitmix64(&stream) >> 11) * 0x1p-53 - 0.5);
    }
}

static void find(const made *one, fingerprint_found *found)
{
    static const size_t shapes[][4] = {
        {I, J, K, 1}, {I, J / 2, 2, K}, {2, I / 2, J, K}, {1, 1, 4, K}};
    const size_t *shape = shapes[one->shape];
    const fingerprint_input input = {.dimensions = one->shape == THREE ? 3 : 4,
                                     .shape = {shape[0], shape[1], shape[2], shape[3]},
                                     .x = x,
                                     .y = y,
                                     .residual = one->residual ? residual : NULL,
                                     .gamma = one->use == NONE ? NULL : gamma_,
                                     .beta = one->use == NONE ? NULL : beta,
                                     .parameters = one->use == NONE ? 0
                                                   : one->along     ? J
                                                                    : K,
                                     .x_type = one->type,
                                     .y_type = one->type,
                                     .param = one->type,
                                     .digits = FINGERPRINT_EXACT,
                                     .x_digits = FINGERPRINT_EXACT};
    fingerprint_make(&input, found);
}

static const made kinds[] = {
    {"ddof=0,eps=1e-06@var,affine=none", ANSWER_NAMED, .place = LN_EPS_VAR},
    {"ddof=1,eps=1e-06@std,affine=none", ANSWER_NAMED, .place = LN_EPS_STD, .ddof = 1},
    {"ddof=0,eps=0.001@quotient,affine=none", ANSWER_NAMED, .place = LN_EPS_QUOTIENT},
    {"manual-1e-6", ANSWER_NAMED, .place = LN_EPS_VAR, .use = BOTH},
    {"affine=gamma; beta left out", ANSWER_NAMED, .place = LN_EPS_VAR, .use = GAMMA},
    {"manual-1e-6; gamma left out", ANSWER_NAMED, .place = LN_EPS_VAR, .use = BETA},
    {"affine=gamma1", ANSWER_NAMED, .place = LN_EPS_VAR, .use = OFFSET},
    {"manual-1e-6; gamma and beta applied twice", ANSWER_NAMED, .place = LN_EPS_VAR, .use = TWICE},
    {"beta added before gamma multiplies", ANSWER_NAMED, .place = LN_EPS_VAR, .use = BETA_FIRST},
    {"gamma and beta swapped", ANSWER_NAMED, .place = LN_EPS_VAR, .use = SWAPPED},
    {"manual-1e-6; beta subtracted", ANSWER_NAMED, .place = LN_EPS_VAR, .use = MINUS},
    {"gamma and beta along axis 1", ANSWER_NAMED, .place = LN_EPS_VAR, .use = BOTH, .along = 1},
    {"operation=rmsnorm,eps=1e-06@square", ANSWER_NAMED, .rms = 1, .place = LN_EPS_VAR},
    {"operation=rmsnorm,eps=1e-06@root", ANSWER_NAMED, .rms = 1, .place = LN_EPS_STD},
    {"; over axis 0", ANSWER_NAMED, AXIS0, .place = LN_EPS_VAR},
    {"; over axis 1", ANSWER_NAMED, AXIS1, .place = LN_EPS_VAR},
    {"; over the last 2 axes", ANSWER_NAMED, LAST_TWO, .place = LN_EPS_VAR},
    {"; one norm of the whole tensor", ANSWER_OPEN, WHOLE, .place = LN_EPS_VAR},
    {"; batch norm: over all axes but 1", ANSWER_NAMED, BATCH, .place = LN_EPS_VAR},
    {"; over all axes but 1 to 2", ANSWER_NAMED, BATCH, .place = LN_EPS_VAR, .shape = SPLIT_J},
    {"; GroupNorm of 2 groups", ANSWER_NAMED, GROUPS, .place = LN_EPS_VAR},
    {"; GroupNorm of 2 groups of the 8 channels of axis 2, channels last", ANSWER_NAMED,
     LAST_GROUPS, .place = LN_EPS_VAR, .use = BOTH},
    {"; GroupNorm of 2 groups of the 8 channels of axis 3, channels last", ANSWER_NAMED,
     LAST_GROUPS, .place = LN_EPS_VAR, .use = BOTH, .shape = SPLIT_J},
    {"; over axes 1 to 2", ANSWER_NAMED, AXIS1, .place = LN_EPS_VAR, .use = BOTH, .shape = SPLIT_J},
    {"; over the last 3 axes", ANSWER_NAMED, LAST_TWO, .place = LN_EPS_VAR, .shape = SPLIT_J},
    {"; over axes 0 to 1", ANSWER_NAMED, AXIS0, .place = LN_EPS_VAR, .shape = SPLIT_I},
    {"; over axes 0 to 2", ANSWER_NAMED, BATCH_LAST, .place = LN_EPS_VAR, .shape = SPLIT_J},
    {"; over axes 0 to 2", ANSWER_NAMED, BATCH_LAST, .place = LN_EPS_VAR, .shape = SPLIT_I},
    {"output rounded to bf16", ANSWER_NAMED, .place = LN_EPS_VAR, .out = LN_BF16},
    {"output rounded to f16", ANSWER_NAMED, .place = LN_EPS_VAR, .out = LN_F16},
    {"x rounded to bf16 first", ANSWER_NAMED, .place = LN_EPS_VAR, .x_first = LN_BF16},
    {"xhat rounded to f16", ANSWER_NAMED, .place = LN_EPS_VAR, .use = BOTH, .xhat = LN_F16},
    {"manual-1e-6", ANSWER_NAMED, .place = LN_EPS_VAR, .use = BOTH, .residual = 1},
    {"without the residual", ANSWER_NAMED, .place = LN_EPS_VAR, .use = BOTH, .residual = 3},
    {"x - mean, not divided", ANSWER_NAMED, .scale = 1},
    {"x as it is, not normalised", ANSWER_NAMED, .rms = 1, .scale = 1},
    {"softmax", ANSWER_NAMED, .softmax = 1},
};

static void check(const made *one, double eps)
{
    fingerprint_found found;
    make(one, eps);
    find(one, &found);
    if (found.answer != one->answer)
        fail_msg("%s: %s, %zu, first %s", one->words, fingerprint_answer_name(found.answer),
                 found.count, found.count ? found.candidates[0].words : "-");
    for (size_t i = 0; i < found.count; i++)
        if (!strstr(found.candidates[i].words, one->words))
            fail_msg("%s: candidate %zu is %s", one->words, i, found.candidates[i].words);
    fingerprint_free(&found);
}

TEST(each_kind_is_named)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        fill(LN_F32, kinds[i].softmax ? 4 : kinds[i].place == LN_EPS_STD ? 1e-5 : 2e-3);
        check(&kinds[i], kinds[i].place == LN_EPS_QUOTIENT ? 1e-3 : 1e-6);
    }
}

/* 16-bit outputs show where xhat was rounded, and whether x + residual was. */
TEST(roundings_of_16_bits)
{
    static const made all[] = {
        {"t5", ANSWER_NAMED, .rms = 1, .place = LN_EPS_VAR, .use = GAMMA, .type = LN_BF16,
         .xhat = LN_BF16},
        {"gemma3n", ANSWER_NAMED, .rms = 1, .place = LN_EPS_VAR, .use = GAMMA, .type = LN_BF16},
        {"flashinfer", ANSWER_NAMED, .rms = 1, .place = LN_EPS_VAR, .use = GAMMA, .type = LN_BF16,
         .residual = 2},
        {"gemma3n", ANSWER_NAMED, .rms = 1, .place = LN_EPS_VAR, .use = GAMMA, .type = LN_BF16,
         .shape = FEW}, /* rounded once or at each step */
        {"manual-1e-6; xhat rounded to f16", ANSWER_NAMED, .place = LN_EPS_VAR, .use = BOTH,
         .type = LN_F16, .xhat = LN_F16},
        {"manual-1e-6; x + residual not rounded", ANSWER_NAMED, .place = LN_EPS_VAR, .use = BOTH,
         .type = LN_F16, .residual = 2},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        fill(all[i].type, 2e-3);
        check(&all[i], 1e-6);
    }
}

/* Returns whether torch's divisor and place of eps are a candidate whose interval contains 1e-5. */
static bool has_1e5(const fingerprint_input *input)
{
    fingerprint_found found;
    bool known = false;
    fingerprint_make(input, &found);
    for (size_t i = 0; i < found.count; i++) {
        const fingerprint_candidate *one = &found.candidates[i];
        known |= one->kind == KIND_NORMALISED && one->convention.ddof == 0 && one->plain &&
                 one->convention.eps_place == LN_EPS_VAR && one->eps_low <= 1e-5 &&
                 one->eps_high >= 1e-5;
    }
    fingerprint_free(&found);
    return known;
}

static void normalise(const fingerprint_input *input, ln_type type, bool steps)
{
    size_t n = input->shape[1];
    ln_type step = steps ? type : LN_F64;
    for (size_t r = 0; r < input->shape[0]; r++) {
        const double *row = x + r * n;
        double mean = 0, var = 0;
        for (size_t i = 0; i < n; i++)
            mean += row[i] / (double)n;
        mean = stored_in(step, mean);
        for (size_t i = 0; i < n; i++) {
            double d = stored_in(step, row[i] - mean);
            var += stored_in(step, d * d) / (double)n;
        }
        double root = stored_in(step, sqrt(stored_in(step, stored_in(step, var) + 1e-5)));
        for (size_t i = 0; i < n; i++) {
            double xhat = stored_in(type, stored_in(step, row[i] - mean) / root);
            y[r * n + i] =
                input->gamma ? stored_in(type, stored_in(type, xhat * gamma_[i]) + beta[i]) : xhat;
        }
    }
}

/* The true function stays a candidate for a few 16-bit numbers with each step rounded, f16 numbers near its smallest
 * ones, and 16-bit numbers that are stored as f32. */
TEST(few_numbers_of_16_bits)
{
    static const ln_type types[] = {LN_BF16, LN_F16};
    for (size_t c = 0; c < 400; c++) {
        ln_type type = types[c & 1];
        bool steps = c >> 1 & 1, kept = c >> 2 & 1, used = c >> 3 & 1;
        fingerprint_input input = {.dimensions = 2,
                                   .shape = {1 + c % 3, 2 + c % 7},
                                   .x = x,
                                   .y = y,
                                   .gamma = used ? gamma_ : NULL,
                                   .beta = used ? beta : NULL,
                                   .parameters = used ? 2 + c % 7 : 0,
                                   .x_type = kept ? LN_F32 : type,
                                   .y_type = kept ? LN_F32 : type,
                                   .param = kept ? LN_F32 : type,
                                   .digits = FINGERPRINT_EXACT,
                                   .x_digits = FINGERPRINT_EXACT};
        fill(type, 1);
        for (size_t e = 0; e < ALL; e++)
            x[e] = stored_in(type, residual[(e + 5 * c) % ALL] * exp2(-(double)(c % 11)));
        normalise(&input, type, steps);
        if (!has_1e5(&input))
            fail_msg("case %zu", c);
    }
}

/* A row with a NaN or an infinity is no evidence for eps, but the other rows still exclude norms over other axes. */
TEST(not_finite)
{
    static const made all[] = {{"manual-1e-6", ANSWER_NAMED, .place = LN_EPS_VAR, .use = BOTH},
                               {"eps=1e-06@square", ANSWER_NAMED, .rms = 1, .place = LN_EPS_VAR},
                               {"x as it is, not normalised", ANSWER_NAMED, .rms = 1, .scale = 1},
                               {"softmax", ANSWER_NAMED, .softmax = 1}};
    for (size_t i = 0; i < 7; i++) {
        fill(LN_F32, all[i % 4].softmax ? 4 : 2e-3);
        x[77] = i < 4 ? NAN : INFINITY;
        check(&all[i % 4], 1e-6);
    }
}

/* Noise, and a norm with one wrong element, have no candidates. */
TEST(nothing_explains_noise)
{
    const made noise = {"", ANSWER_NONE, .place = LN_EPS_VAR, .use = BOTH};
    fingerprint_found found;
    fill(LN_F32, 2e-3);
    make(&noise, 1e-6);
    y[77] += 1e-4;
    find(&noise, &found);
    assert_int_equal(found.answer, ANSWER_NONE);
    assert_int_equal(found.count, 0);
    assert_true(found.probe == 0 && found.tried > 1000);
    fingerprint_free(&found);
}

/* The interval contains the true eps and is no wider than rounding requires. */
TEST(any_eps_is_found)
{
    const double all[] = {2.5e-4, 3.5e-5, 7e-7};
    for (size_t i = 0; i < 3; i++) {
        const made one = {"", ANSWER_NAMED, .place = LN_EPS_VAR, .use = BOTH};
        fingerprint_found found;
        fill(LN_F32, 2 * sqrt(all[i]));
        make(&one, all[i]);
        find(&one, &found);
        assert_int_equal(found.answer, ANSWER_NAMED);
        assert_true(found.candidates->eps_low < all[i] && all[i] < found.candidates->eps_high);
        assert_true(found.candidates->eps_high < 1.001 * found.candidates->eps_low);
        assert_true(fabs(found.candidates->convention.eps - all[i]) <= 1e-12 * all[i]);
        fingerprint_free(&found);
    }
}

/* With a gamma of ones and a beta of zeros, the function that uses them is named. */
TEST(trivial_parameters)
{
    const made one = {"manual-1e-6", ANSWER_NAMED, .place = LN_EPS_VAR, .use = BOTH};
    fill(LN_F32, 2e-3);
    for (size_t p = 0; p < K; p++)
        gamma_[p] = 1, beta[p] = 0;
    check(&one, 1e-6);
}

/* Without an eps under the root a constant row is NaN. */
TEST(constant_rows)
{
    const made one = {"", ANSWER_OPEN, .place = LN_EPS_NONE};
    fingerprint_found found;
    fill(LN_F32, 1);
    for (size_t k = 0; k < K; k++)
        x[k] = 3;
    make(&one, 0);
    find(&one, &found);
    assert_true(found.count > 0);
    for (size_t i = 0; i < found.count; i++)
        assert_true(found.candidates[i].convention.eps_place == LN_EPS_NONE ||
                    found.candidates[i].convention.eps_place == LN_EPS_QUOTIENT);
    fingerprint_free(&found);
}

/* At a std of 64 eps has no effect on y, and the answer proposes a probe row with a much smaller std. */
TEST(probe_row)
{
    const made one = {"", ANSWER_OPEN, .place = LN_EPS_VAR};
    fingerprint_found found;
    fill(LN_F32, 64);
    make(&one, 1e-6);
    find(&one, &found);
    assert_int_equal(found.answer, ANSWER_OPEN);
    assert_true(found.probe > 0 && found.probe < 0x1p-6F && found.pairs_left < found.pairs);
    assert_true(fingerprint_probe_value(found.probe, 3, 1) == -found.probe &&
                fingerprint_probe_value(found.probe, 3, 2) == 0);
    fingerprint_free(&found);
}

/* Printing input and output with few digits never excludes the true convention. */
TEST(digits_never_exclude_the_truth)
{
    static const double eps[] = {1e-3, 1e-5, 1e-12};
    for (int digits = 1; digits <= 8; digits++)
        for (int c = 0; c < 24; c++) {
            made one = {"", ANSWER_OPEN, .ddof = c & 1, .place = c >> 1 & 3, .use = BOTH};
            double own = one.place == LN_EPS_NONE ? 0 : eps[c >> 3];
            fingerprint_found found;
            bool known = false;
            fill(LN_F32, 1);
            make(&one, own);
            fingerprint_input input = {.dimensions = 2,
                                       .shape = {I * J, K},
                                       .x = x,
                                       .y = y,
                                       .gamma = gamma_,
                                       .beta = beta,
                                       .parameters = K,
                                       .digits = digits,
                                       .x_digits = digits};
            for (size_t e = 0; e < ALL; e++) {
                x[e] = nearbyint(x[e] * pow(10, digits)) / pow(10, digits);
                y[e] = nearbyint(y[e] * pow(10, digits)) / pow(10, digits);
            }
            fingerprint_make(&input, &found);
            for (size_t i = 0; i < found.count; i++) {
                const fingerprint_candidate *it = &found.candidates[i];
                known |= it->kind == KIND_NORMALISED && it->convention.ddof == one.ddof &&
                         (int)it->convention.eps_place == one.place && it->eps_low <= own &&
                         own <= it->eps_high && it->convention.affine == LN_AFFINE_VECTOR;
            }
            if (!known)
                fail_msg("%d digits, case %d", digits, c);
            fingerprint_free(&found);
        }
}
