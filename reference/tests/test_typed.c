/* Rows of every type: known answers, and the 16-bit types exhaustively. */
#include "reference_fixture.h"
#include "audit_types.h"
#include "certify/rms_row.h"
#include "metrics/storage.h"

#include <float.h>
#include <math.h>

enum { MOST = 8 };

/* The answers of one row: rounded and exact as doubles. */
typedef struct answers {
    double rounded[MOST], exact[MOST], rest[MOST];
    ln_reference_result result;
} answers;

typedef struct question {
    ln_type storage, param;
    ln_convention convention;
    double x[MOST], residual[MOST], gamma[MOST], beta[MOST];
    size_t hidden;
    bool has_residual;
} question;

static answers ask(const question *q)
{
    answers a;
    double x[MOST], residual[MOST], gamma[MOST], beta[MOST], rounded[MOST]; /* room for any type */
    memset(&a, 0x55, sizeof a);
    for (size_t i = 0; i < q->hidden; i++) {
        audit_store(q->storage, x, i, q->x[i]);
        audit_store(q->storage, residual, i, q->residual[i]);
        audit_store(q->param, gamma, i, q->gamma[i]);
        audit_store(q->param, beta, i, q->beta[i]);
    }
    a.result = (ln_reference_result){.rounded = rounded, .exact = a.exact, .rest = a.rest};
    assert_true(ln_reference_row(reference, &q->convention, q->storage, q->param, q->hidden, x,
                                 q->has_residual ? residual : NULL, gamma, beta, &a.result));
    for (size_t i = 0; i < q->hidden; i++) {
        a.rounded[i] = audit_load(q->storage, rounded, i);
    }
    return a;
}

static const double root_2 = 0x1.6a09e667f3bcdp+0, root_2_rest = -0x1.bdd3413b26456p-2; /* in ulp */

/* mean 3, var 2: -sqrt(2), -sqrt(1/2), 0, sqrt(1/2), sqrt(2), in all types. */
TEST(irrational_results)
{
    const double rounded[] = {0x1.6a09e6p+0, root_2, 0x1.6ap+0, 0x1.6ap+0};
    question q = {.x = {1, 2, 3, 4, 5}, .hidden = 5};
    for (int type = 0; type < AUDIT_TYPES; type++) {
        q.storage = (ln_type)type;
        answers a = ask(&q);
        same(a.exact[4], root_2);
        same(a.exact[1], -root_2 / 2);
        same(a.exact[2], 0.0);
        same(a.rounded[4], rounded[type]);
        same(a.rounded[0], -rounded[type]);
        same(a.rounded[3], rounded[type] / 2);
        same(a.rounded[2], 0.0);
        same(a.result.facts.rstd, root_2 / 2);
        same(a.result.facts.mean, 3.0);
        same(a.result.max_xhat, root_2);
        same(a.result.max_xhat_rest, root_2_rest);
        same(a.result.mean_rest, 0.0);
        same(a.result.rstd_rest, type == LN_F64 ? root_2_rest : 0.0);
        if (type == LN_F64) {
            same(a.rest[4], root_2_rest);
            same(a.rest[1], -root_2_rest);
            same(a.rest[2], 0.0);
        }
    }
}

/* 1/3 is 0x1.555...p-2, and what a double leaves of it 1/3 of 2^-54, its ulp; the mean of
 * -1 + 2^-53, 0 and 1 is 2^-53 / 3. */
TEST(rest_of_the_mean)
{
    question q = {.storage = LN_F64, .hidden = 3, .x = {0, 0, 1}};
    answers a = ask(&q);
    same(a.result.facts.mean, 0x1.5555555555555p-2);
    same(a.result.mean_rest, 0x1.5555555555555p-2);
    q.x[0] = -0x1.fffffffffffffp-1; /* -1 + 2^-53: the sum is 2^-53 */
    a = ask(&q);
    same(a.result.facts.mean, 0x1.5555555555555p-55);
    same(a.result.mean_rest, 0x1.5555555555555p-2);
    q.storage = LN_F32;
    q.x[0] = 0;
    a = ask(&q);
    same(a.result.mean_rest, 0.0);
    q.storage = LN_F64;
    q.x[2] = (double)INFINITY;
    a = ask(&q);
    assert_true(isnan(a.result.mean_rest) && isnan(a.result.rstd_rest));
}

/* The largest and the smallest doubles in one row: var 2^2045 and a hair. */
TEST(whole_range_of_f64)
{
    question q = {.storage = LN_F64, .hidden = 4, .x = {0x1p1023, -0x1p1023, 5e-324, -5e-324}};
    answers a = ask(&q);
    same(a.rounded[0], root_2);
    same(a.rest[0], root_2_rest);
    same(a.rounded[1], -root_2);
    same(a.rounded[2], 0.0); /* 2^-1074 / 2^1022.5, whose sign is kept */
    same(a.rest[2], 0x0.b504f333f9de6p-1022);
    same(a.rounded[3], -0.0);
    same(a.rest[3], -0x0.b504f333f9de6p-1022);
    same(a.result.facts.mean, 0.0);
    same(a.result.facts.mean_abs, 0x1p1022);
    same(a.result.facts.var, (double)INFINITY);         /* 2^2045 */
    same(a.result.facts.rstd, 0x0.b504f333f9de6p-1022); /* 2^-1022.5, to 52 bits */
}

TEST(subnormals_of_f64)
{
    question q = {.storage = LN_F64, .hidden = 2, .x = {5e-324, -5e-324}};
    answers a = ask(&q);
    same(a.rounded[0], 1.0);
    same(a.rest[0], 0.0);
    same(a.result.facts.rstd, (double)INFINITY); /* 2^1074 */
    same(a.result.facts.var, 5e-324);            /* 2^-2148: not 0 */
    same(a.result.facts.max_dev, 5e-324);
    same(a.result.kappa, 1.0);
    /* 2^-1074 / 2 and 3 2^-1074 / 2: ties, to even */
    q = (question){.storage = LN_F64,
                   .param = LN_F64,
                   .hidden = 2,
                   .x = {-1, 1},
                   .gamma = {5e-324, 1.5e-323},
                   .convention = {.eps_place = LN_EPS_STD, .eps = 1, .affine = LN_AFFINE_GAMMA}};
    a = ask(&q);
    same(a.rounded[0], -0.0);
    same(a.rest[0], -0.5);
    same(a.rounded[1], 1e-323);
    same(a.rest[1], -0.5);
}

/* xhat = 1: y = gamma + beta, where what is left is known. */
TEST(rests_of_f64)
{
    const double u = 0x1p-53;
    question q = {.storage = LN_F64,
                  .param = LN_F64,
                  .hidden = 4,
                  .x = {-1, 1, -1, 1},
                  .gamma = {1, 1, 1, 0x1p-60},
                  .beta = {u, u, 0x1p-100, 0x1p-60 * u},
                  .convention = {.affine = LN_AFFINE_VECTOR}};
    answers a = ask(&q);
    same(a.rounded[0], -1 + u);
    same(a.rest[0], 0.0);
    same(a.rounded[1], 1.0); /* a tie, to even */
    same(a.rest[1], 0.5);
    same(a.rounded[2], -1.0);
    same(a.rest[2], 0x1p-48);
    same(a.rounded[3], 0x1p-60);
    same(a.rest[3], 0.5);
    q.convention.affine = LN_AFFINE_GAMMA1; /* 1 + 2^-60 (1 + u): a tie of the rest, to even */
    a = ask(&q);
    same(a.rounded[3], 1.0);
    same(a.rest[3], 0x1p-8);
    q.convention.eps_place = LN_EPS_VAR; /* xhat a hair below 1: just under the ties */
    q.convention.eps = 0x1p-400;
    q.beta[3] = 0x1p-60 * 3 * u;
    a = ask(&q);
    same(a.rest[3], 0x1p-8 * (1 + 2 * u));
    q.convention.affine = LN_AFFINE_VECTOR;
    a = ask(&q);
    same(a.rounded[1], 1.0);
    same(a.rest[1], 0.5); /* less 2^-349 */
    const double large[] = {DBL_MAX, -DBL_MAX};
    for (size_t i = 0; i < 2; i++) {
        q.gamma[i] = DBL_MAX;
        q.beta[i] = -large[i];
    }
    a = ask(&q);
    same(a.rounded[0], -(double)INFINITY);
    same(a.rest[0], 0.0);
    same(a.rounded[1], (double)INFINITY);
}

/* 1 + half an ulp of a 16-bit type, exactly, and off by what double does not see. */
TEST(ties_of_short_types)
{
    const ln_type types[] = {LN_BF16, LN_F16};
    const double halves[] = {0x1p-8, 0x1p-11};
    for (size_t k = 0; k < 2; k++) {
        double half = halves[k], hair = 0x1p-80;
        question q = {.storage = types[k],
                      .param = LN_F64,
                      .hidden = 4,
                      .x = {-1, 1, -1, 1},
                      .gamma = {1, 1, 1, 1 + 2 * half},
                      .beta = {-half, half, half, half},
                      .convention = {.affine = LN_AFFINE_VECTOR}};
        answers a = ask(&q);
        same(a.rounded[0], -1.0);
        same(a.rounded[1], 1.0);
        same(a.exact[1], 1 + half);
        same(a.rounded[2], -1 + half); /* no tie: below 1 there is a number */
        same(a.rounded[3], 1 + 4 * half);
        q.convention.affine = LN_AFFINE_GAMMA1; /* 1 +- 2^-80 +- half */
        for (size_t i = 0; i < 4; i++) {
            q.gamma[i] = i < 2 ? hair : -hair;
            q.beta[i] = i % 2 == 0 ? -half : half;
        }
        a = ask(&q);
        same(a.exact[1], 1 + half);
        same(a.rounded[0], -1 - 2 * half);
        same(a.rounded[1], 1 + 2 * half);
        same(a.rounded[2], -1.0);
        same(a.rounded[3], 1.0);
    }
}

TEST(residual_is_rounded_to_the_type)
{
    const double halves[] = {0x1p-24, 0x1p-53, 0x1p-8, 0x1p-11};
    for (int type = 0; type < AUDIT_TYPES; type++) {
        question q = {.storage = (ln_type)type,
                      .hidden = 2,
                      .x = {1, 1},
                      .residual = {halves[type], 3 * halves[type]},
                      .has_residual = true};
        answers a = ask(&q); /* 1 and 1 + 4 halves, both ties */
        same(a.result.facts.mean_abs, 1 + 2 * halves[type]);
        same(a.rounded[0], -1.0);
        q.x[0] = q.residual[0] = type == LN_F64 ? DBL_MAX : type == LN_F16 ? 65504 : 0x1.fep127;
        a = ask(&q); /* overflow */
        assert_true(isnan(a.rounded[0]) && isnan(a.exact[1]) && isnan(a.result.facts.mean));
        assert_true(type != LN_F64 || isnan(a.rest[0]));
    }
}

TEST(undefined_and_special)
{
    const double infinity = (double)INFINITY;
    for (int type = 0; type < AUDIT_TYPES; type++) {
        question q = {.storage = (ln_type)type, .param = (ln_type)type, .hidden = 2, .x = {5, 5}};
        answers a = ask(&q);
        assert_true(isnan(a.rounded[0]) && isnan(a.exact[0]) && isnan(a.result.max_xhat));
        assert_true(type != LN_F64 || isnan(a.rest[0]));
        same(a.result.facts.mean, 5.0);
        q = (question){
            .storage = (ln_type)type,
            .param = (ln_type)type,
            .hidden = 4,
            .x = {-1, 1, -1, 1},
            .gamma = {infinity, (double)NAN, 1, 1},
            .beta = {0, 0, infinity, -infinity},
            .convention = {.eps_place = LN_EPS_VAR, .eps = 1, .affine = LN_AFFINE_VECTOR}};
        a = ask(&q);
        same(a.rounded[0], -infinity);
        assert_true(isnan(a.rounded[1]) && isnan(a.exact[1]));
        same(a.rounded[2], infinity);
        same(a.rounded[3], -infinity);
        ln_reference_counts counts = ln_reference_count(reference);
        assert_int_equal(counts.elements, counts.fast + counts.first_try + counts.raised +
                                              counts.exact + counts.special);
    }
}

TEST(refuses_what_is_missing)
{
    double rounded[2], exact[2], x[2] = {-1, 1};
    ln_reference_result result = {.rounded = rounded, .exact = exact};
    ln_convention c = {.eps_place = LN_EPS_VAR, .eps = 1e-5, .affine = LN_AFFINE_VECTOR};
    assert_false(ln_reference_row(reference, &c, LN_F64, LN_F64, 2, x, NULL, NULL, x, &result));
    assert_false(ln_reference_row(reference, &c, LN_F64, LN_F64, SIZE_MAX, x, x, x, x, &result));
    assert_true(ln_reference_row(reference, &c, LN_F64, LN_F64, 2, x, NULL, x, x, &result));
    same(exact[0], rounded[0]); /* and no rest was wanted */
}

/* One f32 row with a weight of 2. */
static ln_reference_result ask_rms(const ln_convention *convention, const float *x, size_t hidden,
                                   float *rounded, double *exact)
{
    const float weight[] = {2, 2, 2, 2};
    ln_reference_result result = {.rounded = rounded, .exact = exact};
    assert_true(ln_rms_reference_row(reference, convention, LN_F32, LN_F32, hidden, x, NULL, weight,
                                     &result));
    return result;
}

/* An infinity is NaN, and makes the others 0; a NaN makes all NaN; so does 0 / 0. */
TEST(special_rows_of_rmsnorm)
{
    ln_convention convention = {
        .operation = LN_OPERATION_RMSNORM, .eps_place = LN_EPS_VAR, .weight = LN_RMS_WEIGHT};
    float rounded[4];
    double exact[4];
    ask_rms(&convention, (const float[]){3, -INFINITY, 0, 1}, 4, rounded, exact);
    assert_true(isnan(rounded[1]) && isnan(exact[1]));
    same((double)rounded[0], 0.0);
    same(exact[3], 0.0);
    ask_rms(&convention, (const float[]){3, INFINITY, NAN, 1}, 4, rounded, exact);
    assert_true(isnan(rounded[0]) && isnan(rounded[3]));
    ask_rms(&convention, (const float[]){0, 0}, 2, rounded, exact);
    assert_true(isnan(rounded[0]) && isnan(exact[1]));
    convention.eps = 0.25;
    ln_reference_result result =
        ask_rms(&convention, (const float[]){-1, 0.5f, 1, 0.5f}, 4, rounded, exact);
    same(result.facts.var, 0.625);
    same(result.facts.mean, 0.0);
    same(result.kappa, 1.0);
    same((double)rounded[1], (double)(float)(1 / sqrt(0.875)));
    const float x[] = {1};
    assert_false(
        ln_rms_reference_row(reference, &convention, LN_F32, LN_F32, 1, x, NULL, NULL, &result));
    /* A root that is rounded to 0: by IEEE 754. */
    convention = (ln_convention){.operation = LN_OPERATION_RMSNORM, .root = 1};
    ask_rms(&convention, (const float[]){0x1p-149f, 0, 0, 0}, 4, rounded, exact);
    assert_true(isinf(rounded[0]) && isnan(rounded[1])); /* half the smallest number: a tie */
    ask_rms(&convention, (const float[]){0x1p-149f, 0, 0, 0}, 3, rounded, exact);
    same((double)rounded[0], 1.0);
}

/* sqrt(eps) is a midpoint of bf16, or a hair above it. */
TEST(root_of_rmsnorm_at_a_midpoint)
{
    const double middle = 1 + 0x1p-8;
    const double epsilons[] = {middle * middle, nextafter(middle * middle, 2)};
    const uint16_t zero = 0;
    for (int above = 0; above < 2; above++) {
        ln_convention convention = {.operation = LN_OPERATION_RMSNORM,
                                    .eps_place = LN_EPS_VAR,
                                    .eps = epsilons[above],
                                    .root = 1};
        uint16_t rounded;
        double exact;
        ln_reference_result result = {.rounded = &rounded, .exact = &exact};
        assert_true(ln_rms_reference_row(reference, &convention, LN_BF16, LN_BF16, 1, &zero, NULL,
                                         NULL, &result));
        same(result.facts.rstd, above ? 1 / (1 + 0x1p-7) : 1.0);
    }
}

/* Every number of both types. */
TEST(reads_short_types)
{
    for (unsigned bits = 0; bits < 65536; bits++) {
        uint16_t word = (uint16_t)bits;
        for (ln_type type = LN_BF16; type <= LN_F16; type++) {
            double got = storage_load(type, &word, 0), wanted = audit_value(type, bits);
            assert_true(isnan(wanted) ? isnan(got) : memcmp(&got, &wanted, sizeof got) == 0);
        }
    }
}

static uint16_t with_sign(unsigned bits, double value)
{
    return (uint16_t)(bits | (signbit(value) ? 0x8000u : 0));
}

/* Around every number and every midpoint of both types and signs. */
TEST(rounds_to_short_types)
{
    for (ln_type type = LN_BF16; type <= LN_F16; type++) {
        unsigned infinity = type == LN_BF16 ? 0x7f80 : 0x7c00;
        for (unsigned bits = 0; bits < infinity; bits++) {
            for (int sign = -1; sign <= 1; sign += 2) {
                double value = sign * audit_value(type, bits);
                audit_neighbours n = audit_neighbours_of(type, fabs(value));
                double middle = sign * (n.value + n.above) / 2;
                uint16_t low = with_sign(bits, value), high = with_sign(bits + 1, middle);
                assert_int_equal(storage_round(type, value, 0), low);
                assert_int_equal(storage_round(type, nextafter(middle, 0.0), 0), low);
                assert_int_equal(storage_round(type, middle * (1 + DBL_EPSILON), 0), high);
                assert_int_equal(storage_round(type, middle, sign), high);
                assert_int_equal(storage_round(type, middle, -sign), low);
                assert_int_equal(storage_round(type, middle, 0), bits & 1 ? high : low);
                assert_true(storage_is_midpoint(type, middle));
                assert_false(storage_is_midpoint(type, value));
                assert_false(storage_is_midpoint(type, nextafter(middle, 0.0)));
            }
        }
        assert_int_equal(storage_round(type, (double)INFINITY, 0), infinity);
        assert_int_equal(storage_round(type, -DBL_MAX, 0), infinity | 0x8000u);
        assert_int_equal(storage_round(type, -5e-324, 0), 0x8000u);
        assert_false(storage_is_midpoint(type, (double)NAN));
        assert_true(isnan(audit_value(type, storage_round(type, (double)NAN, 0))));
    }
}

int main(void)
{
    return test_run(set_up, tear_down);
}
