/* The metrics of every type against exact rationals: answers are drawn as quotients of integers,
 * so that what each figure ought to be is known without a rounding (but for the root in rel_l2). */
#include "../../kernels/tests/test_list.h"
#include "audit_types.h"
#include "metrics/metrics.h"

#include <float.h>
#include <gmp.h>
#include <math.h>

enum { HIDDEN = 60, ROWS = 40 };

static const struct {
    int precision, least, most;
} formats[AUDIT_TYPES] = {
    [LN_F32] = {24, -126, 127},
    [LN_F64] = {53, -1022, 1023},
    [LN_BF16] = {8, -126, 127},
    [LN_F16] = {11, -14, 15},
};

static uint64_t state_of_draws;

static uint64_t draw_bits(void)
{
    uint64_t z = state_of_draws += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static int draw_between(int least, int most)
{
    return least + (int)(draw_bits() % (uint64_t)(most - least + 1));
}

static void scale_by(mpq_t q, int exponent)
{
    if (exponent >= 0) {
        mpq_mul_2exp(q, q, (mp_bitcnt_t)exponent);
    } else {
        mpq_div_2exp(q, q, (mp_bitcnt_t)-exponent);
    }
}

static void set_power(mpq_t q, int exponent)
{
    mpq_set_ui(q, 1, 1);
    scale_by(q, exponent);
}

/* ulp(q), by the definition: the binade is found by comparison. */
static void exact_ulp(ln_type type, const mpq_t q, mpq_t ulp)
{
    mpq_t size;
    mpq_init(size);
    mpq_abs(size, q);
    int e = formats[type].least;
    for (set_power(ulp, e + 1); mpq_cmp(size, ulp) >= 0; e++) {
        mpq_mul_2exp(ulp, ulp, 1);
    }
    set_power(ulp, e - formats[type].precision + 1);
    mpq_clear(size);
}

/* The nearest double: mpq_get_d truncates. */
static double nearest_double(const mpq_t q)
{
    double inner = mpq_get_d(q), outer = nextafter(inner, copysign(INFINITY, mpq_sgn(q)));
    mpq_t a, b;
    mpq_inits(a, b, NULL);
    mpq_set_d(a, inner);
    mpq_sub(a, q, a);
    mpq_abs(a, a);
    mpq_set_d(b, outer);
    mpq_sub(b, b, q);
    mpq_abs(b, b);
    double nearest = mpq_cmp(a, b) <= 0 ? inner : outer; /* no tie is drawn */
    mpq_clears(a, b, NULL);
    return nearest;
}

/* A row: exact quotients, what a reference would say of them, and something computed. */
typedef struct drawn {
    mpq_t exact_q[HIDDEN];
    double rounded[HIDDEN], computed[HIDDEN]; /* room for any type */
    double exact[HIDDEN], rest[HIDDEN];
    float gamma[HIDDEN], beta[HIDDEN];
    ln_convention convention;
    ln_reference_result answer;
    metrics_row row;
} drawn;

static void drawn_init(drawn *d)
{
    for (size_t i = 0; i < HIDDEN; i++) {
        mpq_init(d->exact_q[i]);
    }
}

static void drawn_clear(drawn *d)
{
    for (size_t i = 0; i < HIDDEN; i++) {
        mpq_clear(d->exact_q[i]);
    }
}

/* A quotient of 70-bit integers between 2^-3 and 2^3 times 2^exponent; at times a hair below a
 * power of two, where the ulp of the real number and of its rounding differ. */
static void draw_exact(drawn *d, size_t i, int exponent)
{
    mpz_t hair;
    mpz_init(hair);
    mpz_set_ui(mpq_numref(d->exact_q[i]), draw_bits() | 1ull << 63);
    mpz_mul_2exp(mpq_numref(d->exact_q[i]), mpq_numref(d->exact_q[i]), 6);
    mpz_add_ui(mpq_numref(d->exact_q[i]), mpq_numref(d->exact_q[i]), draw_bits() % 64);
    mpz_set_ui(mpq_denref(d->exact_q[i]), draw_bits() | 1ull << 63 | 1);
    mpz_mul_2exp(mpq_denref(d->exact_q[i]), mpq_denref(d->exact_q[i]), 6);
    if (draw_bits() % 8 == 0 &&
        exponent > -900) { /* 1 - 2^-90: beside subnormal ulps it is nothing */
        mpz_ui_pow_ui(hair, 2, 90);
        mpz_set(mpq_denref(d->exact_q[i]), hair);
        mpz_sub_ui(mpq_numref(d->exact_q[i]), hair, 1);
    }
    mpq_canonicalize(d->exact_q[i]);
    scale_by(d->exact_q[i], exponent + draw_between(-2, 2));
    if (draw_bits() % 2 == 0) {
        mpq_neg(d->exact_q[i], d->exact_q[i]);
    }
    mpz_clear(hair);
}

/* A few steps of the type away from the right answer, or many. */
static void draw_computed(drawn *d, ln_type type, size_t i)
{
    uint64_t bits = audit_bits(type, d->rounded, i);
    int64_t steps = draw_between(-3, 3) * (draw_bits() % 5 == 0 ? 1 << draw_between(0, 5) : 1);
    double value = audit_value(type, bits + (uint64_t)steps);
    audit_store(type, d->computed, i, isfinite(value) ? value : audit_value(type, bits));
}

static void draw_row(drawn *d, ln_type type)
{
    /* Subnormal results too: the last binades above the smallest number are left out, so that a
     * step away is still a number of this sign. In a quarter of the rows the scale is as small. */
    int lowest = formats[type].least - formats[type].precision + 10;
    int exponent = draw_between(lowest, formats[type].most - 6);
    uint64_t kind = draw_bits() % 4;
    if (kind > 1) {
        exponent = draw_between(-4, 4);
    } else if (kind == 1) {
        exponent = draw_between(lowest, formats[type].least + 2);
    }
    mpq_t rest, ulp;
    mpq_inits(rest, ulp, NULL);
    for (size_t i = 0; i < HIDDEN; i++) {
        draw_exact(d, i, exponent);
        d->exact[i] = nearest_double(d->exact_q[i]);
        mpq_set_d(rest, d->exact[i]);
        mpq_sub(rest, d->exact_q[i], rest);
        mpq_set_d(ulp, ln_ulp(LN_F64, d->exact[i]));
        mpq_div(rest, rest, ulp);
        d->rest[i] = nearest_double(rest);
        audit_store_nearest(type, d->rounded, i, d->exact[i]);
        draw_computed(d, type, i);
        /* Few bits, so that the scale is exact: eighths from 1 to 2, quarters from 1 to 2. */
        d->gamma[i] = 1 + (float)draw_between(0, 7) / 8;
        d->beta[i] = kind == 1 ? 0 : 1 + (float)draw_between(0, 3) / 4;
    }
    mpq_clears(rest, ulp, NULL);
    d->convention =
        (ln_convention){.eps_place = LN_EPS_VAR, .eps = 1e-5, .affine = LN_AFFINE_VECTOR};
    d->answer = (ln_reference_result){.rounded = d->rounded,
                                      .exact = d->exact,
                                      .rest = type == LN_F64 ? d->rest : NULL,
                                      .kappa = 2,
                                      .max_xhat = ldexp(1.5, kind == 1 ? exponent : 0)};
    d->row = (metrics_row){type,     LN_F32,  HIDDEN,     &d->convention,
                           d->gamma, d->beta, &d->answer, d->convention.affine,
                           false};
}

/* What the figures ought to be. */
typedef struct figures {
    mpq_t ulp_max, ulp_sum, ulp_signed, row_ulp_max, row_ulp_sum, err_max, exact_max;
    mpq_t err_squares, exact_squares;
    uint64_t equal, histogram[ULP_BINS];
    size_t worst_row, worst_column, elements;
} figures;

static void figures_init(figures *f)
{
    mpq_inits(f->ulp_max, f->ulp_sum, f->ulp_signed, f->row_ulp_max, f->row_ulp_sum, f->err_max,
              f->exact_max, f->err_squares, f->exact_squares, NULL);
    f->equal = 0;
    f->elements = 0;
    memset(f->histogram, 0, sizeof f->histogram);
}

static void figures_clear(figures *f)
{
    mpq_clears(f->ulp_max, f->ulp_sum, f->ulp_signed, f->row_ulp_max, f->row_ulp_sum, f->err_max,
               f->exact_max, f->err_squares, f->exact_squares, NULL);
}

static bool raise(mpq_t most, const mpq_t value)
{
    if (mpq_cmp(value, most) <= 0) {
        return false;
    }
    mpq_set(most, value);
    return true;
}

static void add_square(mpq_t sum, const mpq_t value)
{
    mpq_t square;
    mpq_init(square);
    mpq_mul(square, value, value);
    mpq_add(sum, sum, square);
    mpq_clear(square);
}

/* The bin by comparison with its edges. */
static size_t bin_of(const mpq_t ulp)
{
    mpq_t edge;
    size_t bin = 0;
    mpq_init(edge);
    for (set_power(edge, -6); bin < ULP_BINS - 1 && mpq_cmp(ulp, edge) >= 0; bin++) {
        mpq_mul_2exp(edge, edge, 1);
    }
    mpq_clear(edge);
    return bin;
}

static void figures_add(figures *f, const drawn *d, size_t number)
{
    ln_type type = d->row.storage;
    mpq_t err, size, ulp, scale;
    mpq_inits(err, size, ulp, scale, NULL);
    for (size_t i = 0; i < HIDDEN; i++) {
        mpq_set_d(err, audit_load(type, d->computed, i));
        mpq_sub(err, err, d->exact_q[i]);
        exact_ulp(type, d->exact_q[i], ulp);
        mpq_div(size, err, ulp);
        mpq_add(f->ulp_signed, f->ulp_signed, size);
        mpq_abs(size, size);
        mpq_add(f->ulp_sum, f->ulp_sum, size);
        raise(f->ulp_max, size);
        f->histogram[bin_of(size)]++;
        mpq_abs(size, err);
        raise(f->err_max, size);
        add_square(f->err_squares, err);
        mpq_set_d(scale, (double)d->gamma[i] * d->answer.max_xhat + (double)d->beta[i]);
        exact_ulp(type, scale, ulp);
        mpq_div(size, size, ulp);
        mpq_add(f->row_ulp_sum, f->row_ulp_sum, size);
        if (raise(f->row_ulp_max, size)) {
            f->worst_row = number;
            f->worst_column = i;
        }
        mpq_abs(size, d->exact_q[i]);
        raise(f->exact_max, size);
        add_square(f->exact_squares, d->exact_q[i]);
        f->equal += audit_bits(type, d->computed, i) == audit_bits(type, d->rounded, i);
        f->elements++;
    }
    mpq_clears(err, size, ulp, scale, NULL);
}

/* |got - wanted / divisor| <= share * wanted / divisor + absolute, in rationals. */
static void near(const char *what, double got, const mpq_t wanted, double divisor, double share,
                 double absolute)
{
    mpq_t difference, limit, other;
    mpq_inits(difference, limit, other, NULL);
    mpq_set_d(other, divisor);
    mpq_div(limit, wanted, other);
    mpq_set_d(difference, got);
    mpq_sub(difference, difference, limit);
    mpq_abs(difference, difference);
    mpq_abs(limit, limit);
    mpq_set_d(other, share);
    mpq_mul(limit, limit, other);
    mpq_set_d(other, absolute);
    mpq_add(limit, limit, other);
    if (mpq_cmp(difference, limit) > 0) {
        fail_msg("%s is %.17g, off by %g; %g is allowed", what, got, mpq_get_d(difference),
                 mpq_get_d(limit));
    }
    mpq_clears(difference, limit, other, NULL);
}

/* The same of a quotient. */
static void near_ratio(const char *what, double got, const mpq_t numerator, const mpq_t denominator,
                       double share, double absolute)
{
    mpq_t wanted;
    mpq_init(wanted);
    mpq_div(wanted, numerator, denominator);
    near(what, got, wanted, 1, share, absolute);
    mpq_clear(wanted);
}

/* got^2 within share of numerator / denominator. */
static void near_root(const char *what, double got, const mpq_t numerator, const mpq_t denominator,
                      double share)
{
    mpq_t wanted, square;
    mpq_inits(wanted, square, NULL);
    mpq_div(wanted, numerator, denominator);
    mpq_set_d(square, got);
    mpq_mul(square, square, square);
    mpq_sub(square, square, wanted);
    mpq_div(square, square, wanted);
    if (fabs(mpq_get_d(square)) > share) {
        fail_msg("%s is %.17g, its square off by %g", what, got, mpq_get_d(square));
    }
    mpq_clears(wanted, square, NULL);
}

/* What the rounding of exact answers to 53 bits (f64: 106) may change of an error, in ulp of the
 * least scale: 2.5, or what is as small as the answers. */
static double open_in_row_ulp(ln_type type, const mpq_t exact_max)
{
    return (type == LN_F64 ? 0x1p-105 : 0x1p-53) * mpq_get_d(exact_max) / ln_ulp(type, 2.5) +
           (type == LN_F64 ? 0x1p-50 : 0x1p-26);
}

/* The tolerances are those that metrics.c states: 2^-29 ulp (f64: 2^-53) and 2^-51 of the error,
 * and n 2^-53 for a sum of n. An answer a hair below a power of two may count as that but for f64:
 * its ulp is then twice as large, and errors there are left out of the comparison by their share.
 */
static void compare(ln_type type, const figures *f, const ln_metrics *m)
{
    double count = (double)f->elements;
    double absolute = type == LN_F64 ? 0x1p-53 : 0x1p-29;
    double share = 0x1p-51 + count * 0x1p-53;
    double row_absolute = open_in_row_ulp(type, f->exact_max);
    near("row_ulp_max", m->row_ulp_max, f->row_ulp_max, 1, share, row_absolute);
    near("row_ulp_mean", m->row_ulp_mean, f->row_ulp_sum, count, share, row_absolute);
    near_ratio("norm_max", m->norm_max, f->err_max, f->exact_max, share,
               (type == LN_F64 ? 0x1p-100 : 0x1p-50));
    near_root("rel_l2", m->rel_l2, f->err_squares, f->exact_squares,
              type == LN_F64 ? 0x1p-40 : 0x1p-20);
    assert_int_equal(m->worst_row, f->worst_row);
    assert_int_equal(m->worst_column, f->worst_column);
    assert_true(m->correctly_rounded == (double)f->equal / count);
    near("ulp_max", m->ulp_max, f->ulp_max, 1, share, absolute);
    near("ulp_mean", m->ulp_mean, f->ulp_sum, count, share, absolute);
    near("ulp_bias", m->ulp_bias, f->ulp_signed, count, 0,
         absolute + share * mpq_get_d(f->ulp_sum) / count);
    for (size_t bin = 0; bin < ULP_BINS; bin++) {
        assert_int_equal(m->ulp_histogram[bin], f->histogram[bin]);
    }
}

/* Of the types but f64 a real number within 2^-54 of a power of two is one to the metrics: draw
 * such numbers for f64 alone. */
static bool is_hair(const mpq_t q, double exact)
{
    int exponent;
    return fabs(frexp(exact, &exponent)) == 0.5 && mpz_sizeinbase(mpq_numref(q), 2) > 80;
}

static void without_hairs(drawn *d, ln_type type)
{
    for (size_t i = 0; type != LN_F64 && i < HIDDEN; i++) {
        if (is_hair(d->exact_q[i], d->exact[i])) {
            mpq_set_d(d->exact_q[i], d->exact[i]);
        }
    }
}

TEST(figures_against_rationals)
{
    for (int type = 0; type < AUDIT_TYPES; type++) {
        metrics_gather *gather = metrics_gather_create();
        figures wanted;
        drawn d;
        ln_metrics metrics;
        assert_non_null(gather);
        state_of_draws = 7 + (uint64_t)type;
        figures_init(&wanted);
        drawn_init(&d);
        for (size_t row = 0; row < ROWS; row++) {
            metrics_of_row of_row;
            figures alone;
            draw_row(&d, (ln_type)type);
            without_hairs(&d, (ln_type)type);
            figures_init(&alone);
            figures_add(&wanted, &d, row);
            figures_add(&alone, &d, row);
            assert_true(metrics_gather_row(gather, &d.row, row, d.computed, NULL, NULL, &of_row));
            near("a row's row_ulp_max", of_row.row_ulp_max, alone.row_ulp_max, 1, 0x1p-50,
                 open_in_row_ulp((ln_type)type, alone.exact_max));
            near_ratio("a row's norm_max", of_row.norm_max, alone.err_max, alone.exact_max, 0x1p-50,
                       type == LN_F64 ? 0x1p-100 : 0x1p-50);
            assert_int_equal(of_row.mismatches, 0);
            figures_clear(&alone);
        }
        metrics_gather_finish(gather, &metrics);
        compare((ln_type)type, &wanted, &metrics);
        drawn_clear(&d);
        figures_clear(&wanted);
        metrics_gather_destroy(gather);
    }
}

/* Errors below half an ulp of f64 are those of the real number, not of its rounding. */
static ln_metrics metrics_of_three(double computed[3], double exact[3], double rest[3])
{
    ln_convention plain = {.eps_place = LN_EPS_VAR, .eps = 1e-5};
    ln_reference_result answer = {
        .rounded = computed, .exact = exact, .rest = rest, .kappa = 1, .max_xhat = 1};
    metrics_row row = {LN_F64, LN_F64, 3, &plain, NULL, NULL, &answer, LN_AFFINE_NONE, false};
    metrics_gather *gather = metrics_gather_create();
    ln_metrics m;
    assert_non_null(gather);
    assert_true(metrics_gather_row(gather, &row, 0, computed, NULL, NULL, NULL));
    metrics_gather_finish(gather, &m);
    metrics_gather_destroy(gather);
    return m;
}

TEST(halves_of_an_ulp_of_f64)
{
    double ones[] = {1, 1, 1};
    double rest[] = {0.25, 0.375, -0.125}; /* the ulp below 1 is half of that above */
    ln_metrics m = metrics_of_three(ones, ones, rest);
    assert_true(m.ulp_max == 0.375);
    assert_true(m.ulp_mean == (0.25 + 0.375 + 0.25) / 3);
    assert_true(m.correctly_rounded == 1);
    m = metrics_of_three(ones, ones, NULL); /* only where the rest is not known are they exact */
    assert_true(m.ulp_max == 0);
    double least[] = {0, 0, 0x1p-1074}, parts[] = {0, 0.5, -0.25}; /* 0, 2^-1075, 3 2^-1076 */
    m = metrics_of_three(least, least, parts);
    assert_true(m.exact_zeros == 1);
    assert_true(m.ulp_max == 0.5);
    assert_true(m.ulp_bias == -0.125);
    assert_true(m.norm_max == 0.5 / 0.75);
}

TEST(ulp_of_every_type)
{
    for (int type = 0; type < AUDIT_TYPES; type++) {
        int p = formats[type].precision, least = formats[type].least;
        for (int e = least - p - 3; e <= formats[type].most; e++) {
            double wanted = ldexp(1.0, (e > least ? e : least) - p + 1);
            if (e < -1074) {
                continue;
            }
            assert_true(ln_ulp((ln_type)type, ldexp(1.0, e)) == wanted);
            assert_true(ln_ulp((ln_type)type, -ldexp(1.0, e)) == wanted);
            if (e >= least && type != LN_F64) {
                assert_true(ln_ulp((ln_type)type, nextafter(ldexp(2.0, e), 0)) == wanted);
            }
        }
        assert_true(ln_ulp((ln_type)type, 0) == ldexp(1.0, least - p + 1));
        assert_true(isinf(ln_ulp((ln_type)type, -INFINITY)));
        assert_true(isnan(ln_ulp((ln_type)type, (double)NAN)));
    }
}

TEST(bins_of_the_histogram)
{
    assert_int_equal(ulp_bin(0), 0);
    assert_int_equal(ulp_bin(nextafter(0x1p-6, 0)), 0);
    assert_int_equal(ulp_bin(0x1p-6), 1);
    assert_int_equal(ulp_bin(0.5), 6);
    assert_int_equal(ulp_bin(nextafter(0.5, 0)), 5);
    assert_int_equal(ulp_bin(0x1p24), ULP_BINS - 1);
    assert_int_equal(ulp_bin(INFINITY), ULP_BINS - 1);
}

/* Whether the bound holds for a row is whether it holds in rationals, for each element. */
TEST(bounds_against_rationals)
{
    size_t held = 0, broken = 0;
    drawn d;
    drawn_init(&d);
    for (int type = 0; type < AUDIT_TYPES; type++) {
        double smallest = ldexp(1.0, formats[type].least - formats[type].precision + 1);
        state_of_draws = 99 + (uint64_t)type;
        for (int row = 0; row < 200; row++) {
            mpq_t err, allowed, part, gap;
            mpq_inits(err, allowed, part, gap, NULL);
            draw_row(&d, (ln_type)type);
            /* As many ulps of the first result as errors have, so that about half hold. */
            double unit = ln_ulp((ln_type)type, d.exact[0]) * draw_between(1, 60);
            ln_bound bound = {unit, unit / 64};
            bool holds = true, close = false;
            for (size_t i = 0; i < HIDDEN; i++) {
                mpq_set_d(err, audit_load((ln_type)type, d.computed, i));
                mpq_sub(err, err, d.exact_q[i]);
                mpq_abs(err, err);
                mpq_set_d(allowed, bound.xhat_abs);
                mpq_set_d(part, (double)d.gamma[i]);
                mpq_mul(allowed, allowed, part);
                mpq_set_d(part, bound.affine_rel);
                mpq_set_d(gap, (double)d.gamma[i] * d.answer.max_xhat + (double)d.beta[i]);
                mpq_mul(part, part, gap);
                mpq_add(allowed, allowed, part);
                mpq_set_d(part, 2 * smallest);
                mpq_add(allowed, allowed, part);
                holds = holds && mpq_cmp(err, allowed) <= 0;
                mpq_sub(gap, err, allowed);
                close = close || fabs(mpq_get_d(gap)) <= 0x1p-40 * mpq_get_d(allowed);
            }
            double worst;
            if (!close) {
                assert_int_equal(ln_bound_holds(&bound, &d.row, d.computed, &worst), holds);
                assert_int_equal(worst <= 1, holds);
                held += holds;
                broken += !holds;
            }
            mpq_clears(err, allowed, part, gap, NULL);
        }
    }
    assert_true(held > 100 && broken > 100); /* both happen often */
    drawn_clear(&d);
}

/* f16 rounds to infinity from 65520 on. Near that a bound leaves both open, elsewhere not. */
TEST(bounds_at_the_end_of_the_range)
{
    const uint16_t infinite = 0x7c00, largest = 0x7bff, one = 0x3c00, minus = 0xfc00, nan = 0x7e00;
    ln_convention plain = {.eps_place = LN_EPS_VAR, .eps = 1e-5};
    double exact = 65519, worst;
    ln_reference_result answer = {
        .rounded = (void *)(uintptr_t)&largest, .exact = &exact, .kappa = 1, .max_xhat = 65519};
    metrics_row row = {LN_F16, LN_F16, 1, &plain, NULL, NULL, &answer, LN_AFFINE_NONE, false};
    ln_bound bound = {16, 0};
    assert_true(ln_bound_holds(&bound, &row, &largest, &worst));
    assert_true(ln_bound_holds(&bound, &row, &infinite, &worst));
    assert_false(ln_bound_holds(&bound, &row, &minus, &worst));
    assert_false(ln_bound_holds(&bound, &row, &nan, &worst));
    bound.xhat_abs = 0.5;
    assert_false(ln_bound_holds(&bound, &row, &infinite, &worst));
    exact = 65521;
    answer.rounded = (void *)(uintptr_t)&infinite;
    assert_true(ln_bound_holds(&bound, &row, &infinite, &worst));
    assert_false(ln_bound_holds(&bound, &row, &largest, &worst)); /* 17 off */
    bound.xhat_abs = 17;
    assert_true(ln_bound_holds(&bound, &row, &largest, &worst));
    assert_false(ln_bound_holds(&bound, &row, &one, &worst));
    assert_true(isinf(worst));
}

/* gamma xhat = 2.25 2^127 is beyond f32, beta brings it back: infinite is right, finite too,
 * and the wrong sign is not. A product within the range is no excuse. */
TEST(products_beyond_the_end_of_the_range)
{
    const float infinite = INFINITY, minus = -INFINITY, finite = 0x1.4p+127f, gamma = 0x1.2p+127f,
                beta = -0x1p+127f, small = -0x1p+100f;
    ln_convention affine = {.eps_place = LN_EPS_VAR, .eps = 1e-5, .affine = LN_AFFINE_VECTOR};
    double exact = 0x1.4p+127, worst;
    ln_reference_result answer = {
        .rounded = (void *)(uintptr_t)&finite, .exact = &exact, .kappa = 1, .max_xhat = 2};
    metrics_row row = {LN_F32, LN_F32, 1, &affine, &gamma, &beta, &answer, affine.affine, false};
    ln_bound bound = {0x1p-20, 0x1p-20};
    assert_true(ln_bound_holds(&bound, &row, &infinite, &worst));
    assert_true(ln_bound_holds(&bound, &row, &finite, &worst));
    assert_false(ln_bound_holds(&bound, &row, &minus, &worst));
    row.beta = &small;
    assert_false(ln_bound_holds(&bound, &row, &infinite, &worst));
}
