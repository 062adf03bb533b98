/* The fingerprint: black boxes whose convention is known, and the documents' printed outputs. */
#include "convention.h"
#include "fingerprint.h"
#include "inputs.h"
#include "metrics.h"
#include "test.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 4096, MOST_HIDDEN = 96 };

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

/* What goes in and what a box of a certain convention made of it. */
typedef struct box {
    fingerprint_input input;
    float x[MOST], gamma[MOST_HIDDEN], beta[MOST_HIDDEN], rounded[MOST];
    double y[MOST], exact[MOST];
} box;

static ln_convention parse(const char *list)
{
    ln_convention convention;
    error error;
    if (!convention_parse(list, &convention, &error))
        fail_msg("%s", error.message);
    return convention;
}

/* The box computes in f32, correctly rounded. */
static void run_box(box *box, const ln_convention *convention)
{
    const fingerprint_input *input = &box->input;
    for (size_t row = 0; row < input->rows; row++) {
        size_t at = row * input->hidden;
        ln_reference_result result = {.rounded = box->rounded + at, .exact = box->exact + at};
        assert_true(ln_reference_row(reference, convention, input->hidden, box->x + at, NULL,
                                     convention_has_gamma(convention) ? box->gamma : NULL,
                                     convention_has_beta(convention) ? box->beta : NULL, &result));
    }
    for (size_t i = 0; i < input->rows * input->hidden; i++)
        box->y[i] = (double)box->rounded[i];
}

/* Rows of normal numbers; row r is scaled by 2^(-shrink (r mod 4)), with the vector parameters of
 * a seed, to be given to the fingerprint or not. */
static void fill_box(box *box, size_t rows, size_t hidden, int shrink, bool parameters)
{
    const ln_convention vector = {.affine = LN_AFFINE_VECTOR};
    assert_true(rows * hidden <= MOST && hidden <= MOST_HIDDEN);
    box->input = (fingerprint_input){.rows = rows,
                                     .hidden = hidden,
                                     .x = box->x,
                                     .y = box->y,
                                     .digits = FINGERPRINT_EXACT,
                                     .x_digits = FINGERPRINT_EXACT,
                                     .noise = 2};
    assert_true(input_rows("normal", 7, 0, rows, hidden, box->x, NULL));
    for (size_t i = 0; i < rows * hidden; i++)
        box->x[i] = ldexpf(box->x[i], -shrink * (int)(i / hidden % 4));
    input_affine(&vector, 7, hidden, box->gamma, box->beta);
    if (parameters) {
        box->input.gamma = box->gamma;
        box->input.beta = box->beta;
        box->input.gamma_count = box->input.beta_count = hidden;
    }
}

static void find(const fingerprint_input *input, fingerprint *found)
{
    error error;
    if (!fingerprint_make(input, found, &error))
        fail_msg("%s", error.message);
}

static const fingerprint_candidate *candidate_of(const fingerprint *found,
                                                 const ln_convention *convention)
{
    char wanted[CONVENTION_MAX_LENGTH], given[CONVENTION_MAX_LENGTH];
    convention_format(convention, wanted);
    for (size_t i = 0; i < found->count; i++)
        if (strcmp(convention_format(&found->candidates[i].convention, given), wanted) == 0)
            return &found->candidates[i];
    return NULL;
}

static void assert_first(const fingerprint *found, const char *wanted)
{
    char label[CONVENTION_MAX_LENGTH];
    assert_string_equal(convention_label(&found->candidates[0].convention, label), wanted);
}

/* ---- boxes in f32 ---- */

/* Every divisor, place, common eps and affine form, with rows of std 1 to 2^-12, so that an eps as
 * small as 1e-10 shows: the nearest is the box's own, and nothing but affine twins beside it. */
static void test_every_convention(void **state)
{
    (void)state;
    static const double eps[] = {1e-3, 1e-5, 1e-6, 1e-8};
    static box box;
    for (int affine = 0; affine <= LN_AFFINE_GAMMA1; affine++)
        for (int ddof = 0; ddof < 2 && affine != LN_AFFINE_SCALAR; ddof++)
            for (int place = LN_EPS_NONE; place <= LN_EPS_QUOTIENT; place++)
                for (size_t e = 0; e < (place == LN_EPS_NONE ? 1 : 4); e++) {
                    ln_convention own = {ddof, (ln_eps_place)place,
                                         place == LN_EPS_NONE ? 0 : eps[e], (ln_affine)affine};
                    fingerprint found;
                    fill_box(&box, 8, 48, 4, true);
                    run_box(&box, &own);
                    find(&box.input, &found);
                    const fingerprint_candidate *itself = candidate_of(&found, &own);
                    assert_non_null(itself);
                    assert_true(fingerprint_fits(&found));
                    assert_true(itself->group == 0 && itself->row_ulp_max <= 0.51 + 0.5);
                    if (place != LN_EPS_QUOTIENT && place != LN_EPS_NONE) {
                        assert_ptr_equal(itself, &found.candidates[0]);
                        assert_int_equal(found.first_group, 1);
                    }
                    /* The divisor and the form are never in doubt. */
                    for (size_t i = 0; i < found.first_group; i++) {
                        assert_int_equal(found.candidates[i].convention.ddof, ddof);
                        assert_int_equal(found.candidates[i].convention.affine, affine);
                    }
                    fingerprint_free(&found);
                }
}

static void test_scalar_and_none(void **state)
{
    (void)state;
    static box box;
    static const char *const boxes[] = {"scalar-std", "numpy-quotient"};
    for (size_t i = 0; i < 2; i++) {
        ln_convention own = parse(boxes[i]);
        fingerprint found;
        fill_box(&box, 4, 20, 2, false);
        box.gamma[0] = 1.4375F;
        box.beta[0] = -0.15F;
        box.input.gamma = box.gamma;
        box.input.beta = box.beta;
        box.input.gamma_count = box.input.beta_count = 1;
        run_box(&box, &own);
        find(&box.input, &found);
        assert_first(&found, boxes[i]);
        assert_int_equal(found.first_group, 1);
        fingerprint_free(&found);
    }
    fingerprint found;
    ln_convention own = parse("tinyllm");
    fill_box(&box, 4, 20, 2, false);
    run_box(&box, &own);
    find(&box.input, &found);
    assert_first(&found, "tinyllm");
    for (size_t i = 0; i < found.count; i++)
        assert_int_equal(found.candidates[i].convention.affine, LN_AFFINE_NONE);
    fingerprint_free(&found);
}

/* gamma 1 and beta 0 make torch and tinyllm the same: both are named, the one that uses what was
 * given first; and with gamma alone, torch without bias. */
static void test_trivial_parameters(void **state)
{
    (void)state;
    static box box;
    fingerprint found;
    ln_convention torch = parse("torch"), tinyllm = parse("tinyllm"),
                  no_bias = parse("torch-nobias");
    fill_box(&box, 4, 20, 2, true);
    for (size_t i = 0; i < 20; i++) {
        box.gamma[i] = 1;
        box.beta[i] = 0;
    }
    run_box(&box, &torch);
    find(&box.input, &found);
    assert_first(&found, "torch");
    assert_int_equal(candidate_of(&found, &tinyllm)->group, 0);
    assert_true(found.pairs_left > 0);
    fingerprint_free(&found);
    fill_box(&box, 4, 20, 2, true);
    box.input.beta = NULL;
    run_box(&box, &no_bias);
    find(&box.input, &found);
    assert_first(&found, "torch-nobias");
    assert_int_equal(found.first_group, 1);
    fingerprint_free(&found);
}

/* The figures are the metrics' own, for every candidate. */
static void test_figures(void **state)
{
    (void)state;
    static box box, other;
    ln_convention torch = parse("torch");
    fingerprint found;
    fill_box(&box, 4, 20, 3, true);
    run_box(&box, &torch);
    find(&box.input, &found);
    other = box;
    for (size_t i = 0; i < found.count; i++) {
        const fingerprint_candidate *candidate = &found.candidates[i];
        metrics_gather *gather = metrics_gather_create();
        ln_metrics metrics;
        run_box(&other, &candidate->convention);
        for (size_t row = 0; row < 4; row++) {
            ln_reference_result result = {.rounded = other.rounded + row * 20,
                                          .exact = other.exact + row * 20};
            assert_true(ln_reference_row(reference, &candidate->convention, 20, box.x + row * 20,
                                         NULL, box.gamma, box.beta, &result));
            assert_true(metrics_gather_row(gather, row, 20, box.rounded + row * 20, &result,
                                           &candidate->convention, box.gamma, box.beta, NULL,
                                           NULL));
        }
        metrics_gather_finish(gather, &metrics);
        metrics_gather_destroy(gather);
        /* The answers are known to 2^-25 row ULP; an ulp that doubles at a power of two aside. */
        assert_true(fabs(candidate->row_ulp_max - metrics.row_ulp_max) <=
                    0x1p-24 + 0x1p-40 * metrics.row_ulp_max);
        assert_true(fabs(candidate->rel_l2 - metrics.rel_l2) <= 1e-9 * metrics.rel_l2);
        assert_int_equal(candidate->mismatches, metrics.mismatches);
    }
    fingerprint_free(&found);
}

/* An eps that nobody has: it is found to all its digits, and nothing else is. */
static void test_estimate(void **state)
{
    (void)state;
    static const char *const boxes[] = {"ddof=0,eps=0.00025@var,affine=vector",
                                        "ddof=1,eps=3.5e-05@std,affine=vector",
                                        "ddof=0,eps=0.002@quotient,affine=vector"};
    static box box;
    for (size_t i = 0; i < 3; i++) {
        ln_convention own = parse(boxes[i]);
        fingerprint found;
        fill_box(&box, 8, 48, 2, true);
        run_box(&box, &own);
        find(&box.input, &found);
        const fingerprint_candidate *best = &found.candidates[0];
        assert_true(best->estimated && fingerprint_fits(&found));
        assert_true(best->convention.eps == own.eps);
        assert_true(best->eps_low <= own.eps && own.eps <= best->eps_high);
        assert_first(&found, boxes[i]);
        assert_int_equal(found.first_group, 1);
        fingerprint_free(&found);
    }
}

/* One row has one variance: an eps of one's own fits at either place and with either divisor, and
 * all of that is said. */
static void test_one_row(void **state)
{
    (void)state;
    static box box;
    ln_convention own = parse("eps=0.00025@var,affine=vector");
    fingerprint found;
    bool std = false, var = false;
    fill_box(&box, 1, 24, 0, true);
    run_box(&box, &own);
    find(&box.input, &found);
    for (size_t i = 0; i < found.first_group; i++) {
        assert_true(found.candidates[i].estimated);
        std = std || found.candidates[i].convention.eps_place == LN_EPS_STD;
        var = var || found.candidates[i].convention.eps_place == LN_EPS_VAR;
    }
    assert_true(std && var && found.probe_count > 0);
    fingerprint_free(&found);
}

/* A box with errors of a few ULP is still known; and one that normalises nothing is not. */
static void test_noise_and_nonsense(void **state)
{
    (void)state;
    static box box;
    fingerprint found;
    ln_convention own = parse("annotated-transformer");
    fill_box(&box, 8, 48, 2, true);
    run_box(&box, &own);
    for (size_t i = 0; i < 8 * 48; i++)
        box.y[i] += 3 * 0x1p-24 * (i % 7 < 3 ? -1 : 1);
    for (size_t i = 0; i < 8 * 48; i++)
        box.y[i] = (double)(float)box.y[i];
    find(&box.input, &found);
    assert_first(&found, "annotated-transformer");
    assert_true(fingerprint_fits(&found));
    fingerprint_free(&found);
    /* Noise of 12 ULP, which an eps of its own would fit a little better: it is not believed. */
    run_box(&box, &own);
    for (size_t i = 0; i < 8 * 48; i++)
        box.y[i] = (double)(float)(box.y[i] * (1 + 12 * 0x1p-23 * (i % 3 ? 1 : -0.8)));
    find(&box.input, &found);
    double nearest = INFINITY;
    for (size_t i = 0; i < found.count; i++)
        nearest = fmin(nearest, found.candidates[i].row_ulp_max);
    assert_true(nearest > 4 && found.resolution == 2 * nearest);
    for (size_t i = 0; i < found.count; i++)
        assert_false(found.candidates[i].estimated);
    assert_int_equal(candidate_of(&found, &own)->group, 0);
    fingerprint_free(&found);
    for (size_t i = 0; i < 8 * 48; i++)
        box.y[i] = (double)box.x[i];
    find(&box.input, &found);
    assert_false(fingerprint_fits(&found));
    fingerprint_free(&found);
}

/* Kept in f64, the output tells what f32 hides: bert's 1e-12 at std 1. */
static void test_f64(void **state)
{
    (void)state;
    static box box;
    fingerprint found;
    ln_convention bert = parse("bert");
    fill_box(&box, 4, 20, 0, true);
    run_box(&box, &bert);
    find(&box.input, &found);
    assert_first(&found, "bert");
    assert_true(found.first_group > 10);
    fingerprint_free(&found);
    memcpy(box.y, box.exact, sizeof box.y);
    box.input.y_is_f64 = true;
    find(&box.input, &found);
    assert_first(&found, "bert");
    assert_int_equal(found.first_group, 1);
    fingerprint_free(&found);
}

/* NaN for a constant row is what a box without eps gives, beta what one with eps does. */
static void test_constant_row(void **state)
{
    (void)state;
    static box box;
    static const char *const boxes[] = {"eps=0,affine=vector", "bert"};
    for (size_t b = 0; b < 2; b++) {
        ln_convention own = parse(boxes[b]);
        fingerprint found;
        fill_box(&box, 4, 20, 0, true);
        for (size_t i = 0; i < 20; i++)
            box.x[i] = 3;
        run_box(&box, &own);
        assert_int_equal(isnan(box.y[0]), b == 0);
        find(&box.input, &found);
        for (size_t i = 0; i < found.first_group; i++) {
            ln_eps_place place = found.candidates[i].convention.eps_place;
            assert_int_equal(place == LN_EPS_NONE || place == LN_EPS_QUOTIENT, b == 0);
            assert_int_equal(found.candidates[i].mismatches, 0);
        }
        assert_int_equal(candidate_of(&found, &own)->group, 0);
        fingerprint_free(&found);
    }
}

static void test_residual(void **state)
{
    (void)state;
    static box box;
    static float residual[MOST], x[MOST];
    ln_convention own = parse("torch");
    fingerprint found;
    fill_box(&box, 4, 20, 2, true);
    memcpy(x, box.x, sizeof x);
    assert_true(input_rows("uniform", 9, 0, 4, 20, residual, NULL));
    for (size_t i = 0; i < 80; i++)
        box.x[i] += residual[i];
    run_box(&box, &own);
    memcpy(box.x, x, sizeof x);
    box.input.residual = residual;
    find(&box.input, &found);
    assert_first(&found, "torch");
    assert_int_equal(found.first_group, 1);
    fingerprint_free(&found);
}

/* ---- probes ---- */

/* How far two boxes' exact answers to one row lie apart, in units of the resolution. */
static double margin_of(box *box, const fingerprint *found, const ln_convention *a,
                        const ln_convention *b)
{
    size_t hidden = box->input.hidden;
    double first[MOST_HIDDEN], most = 0;
    float rounded[MOST_HIDDEN];
    ln_reference_result result = {.rounded = rounded, .exact = first};
    assert_true(
        ln_reference_row(reference, a, hidden, box->x, NULL, box->gamma, box->beta, &result));
    run_box(box, b);
    for (size_t i = 0; i < hidden; i++) {
        double scale = fabs((double)box->gamma[i]) * result.max_xhat + fabs((double)box->beta[i]);
        most = fmax(most, fabs(first[i] - box->exact[i]) / (found->resolution * ln_ulp_f32(scale)));
    }
    return most;
}

/* The rows proposed tell exactly as many pairs apart as is said, by as much: by the reference's
 * answers, on even rows and on odd ones. */
static void test_probes(void **state)
{
    (void)state;
    static box box;
    static bool done[64][64];
    ln_convention bert = parse("bert");
    for (size_t hidden = 20; hidden <= 21; hidden++) {
        fingerprint found;
        fill_box(&box, 4, hidden, 0, true);
        run_box(&box, &bert);
        find(&box.input, &found);
        assert_true(found.first_group > 10 && found.first_group < 64 && found.probe_count > 0);
        assert_int_equal(found.pairs, found.first_group * (found.first_group - 1) / 2);
        size_t left = found.pairs;
        memset(done, 0, sizeof done);
        box.input.rows = 1;
        for (size_t p = 0; p < found.probe_count; p++) {
            double least = INFINITY;
            size_t told = 0;
            for (size_t i = 0; i < hidden; i++)
                box.x[i] = fingerprint_probe_value(&found.probes[p], hidden, i);
            for (size_t a = 0; a < found.first_group; a++)
                for (size_t b = a + 1; b < found.first_group; b++) {
                    double margin = margin_of(&box, &found, &found.candidates[a].convention,
                                              &found.candidates[b].convention);
                    if (done[a][b] || !(margin >= 8))
                        continue;
                    done[a][b] = true;
                    told++;
                    least = fmin(least, margin);
                }
            assert_int_equal(told, found.probes[p].pairs);
            assert_true(fabs(least - found.probes[p].least_margin) <= 1e-6 * least);
            left -= told;
        }
        assert_int_equal(left, found.pairs_left);
        fingerprint_free(&found);
    }
}

/* ---- printed digits ---- */

static double print_to(double value, int digits)
{
    char text[64];
    snprintf(text, sizeof text, "%.*f", digits, value);
    return strtod(text, NULL);
}

/* Whatever the convention, printing its input and output to a few decimals never excludes it. */
static void test_digits_never_exclude_the_truth(void **state)
{
    (void)state;
    static box box;
    static const double eps[] = {1e-3, 1e-5, 1e-6, 1e-12};
    for (int digits = 1; digits <= 8; digits++)
        for (int c = 0; c < 32; c++) {
            ln_convention own = {c & 1, (ln_eps_place)(c >> 1 & 3), eps[c >> 3], LN_AFFINE_VECTOR};
            if (own.eps_place == LN_EPS_NONE)
                own.eps = 0;
            fingerprint found;
            fill_box(&box, 5, 6, c % 5, true);
            run_box(&box, &own);
            for (size_t i = 0; i < 30; i++) {
                box.x[i] = (float)print_to((double)box.x[i], digits);
                box.y[i] = print_to(box.y[i], digits);
            }
            box.input.digits = box.input.x_digits = digits;
            find(&box.input, &found);
            const fingerprint_candidate *itself = candidate_of(&found, &own);
            assert_true(itself->possible && itself->group == 0);
            for (size_t i = 0; i < found.count; i++)
                assert_int_equal(found.candidates[i].possible, i < found.first_group);
            fingerprint_free(&found);
        }
}

/* The std as printed is too large, and the outlier too small: 88 numbers of +-1.0501, printed as
 * +-1.1, and +-9.9499, printed as +-9.9. The outlier's z is 5.495, where the printed row has 5.40,
 * and (9.9 + 0.1) / 1.833 = 5.455 with the deviation alone at its end. */
static void test_digits_of_std(void **state)
{
    (void)state;
    static box box;
    ln_convention own = parse("tinyllm");
    fingerprint found;
    fill_box(&box, 1, 90, 0, false);
    for (size_t i = 0; i < 90; i++)
        box.x[i] = (i < 88 ? 1.0501F : 9.9499F) * (i % 2 ? -1 : 1);
    run_box(&box, &own);
    for (size_t i = 0; i < 90; i++) {
        box.x[i] = (float)print_to((double)box.x[i], 1);
        box.y[i] = print_to(box.y[i], 4);
    }
    box.input.digits = 4;
    box.input.x_digits = 1;
    find(&box.input, &found);
    assert_true(candidate_of(&found, &own)->possible);
    fingerprint_free(&found);
}

/* Eight decimals of an f32 that is off by 2^-23, where an ulp is 2^-23 or 2^-24: the box's own
 * rounding, if it is allowed for. And digits that no convention can print. */
static void test_digits_noise_and_nonsense(void **state)
{
    (void)state;
    static box box;
    ln_convention own = parse("tinyllm");
    fingerprint found;
    fill_box(&box, 2, 12, 0, false);
    run_box(&box, &own);
    for (size_t i = 0; i < 24; i++)
        box.y[i] = (double)(float)print_to(box.y[i] + 0x1p-23, 8);
    box.input.digits = 8;
    for (int noise = 0; noise <= 3; noise += 3) {
        box.input.noise = noise;
        find(&box.input, &found);
        assert_int_equal(candidate_of(&found, &own)->possible, noise == 3);
        fingerprint_free(&found);
    }
    for (size_t i = 0; i < 24; i++)
        box.y[i] = print_to(2 * box.exact[i] + 1, 4);
    box.input.digits = 4;
    find(&box.input, &found);
    assert_false(fingerprint_fits(&found));
    assert_false(found.candidates[0].possible);
    fingerprint_free(&found);
}

/* An eps that nobody has, printed. */
static void test_digits_estimate(void **state)
{
    (void)state;
    static box box;
    ln_convention own = parse("eps=0.25@var,affine=vector");
    fingerprint found;
    fill_box(&box, 8, 12, 1, true);
    run_box(&box, &own);
    for (size_t i = 0; i < 96; i++)
        box.y[i] = print_to(box.y[i], 4);
    box.input.digits = 4;
    find(&box.input, &found);
    assert_first(&found, "ddof=0,eps=0.25@var,affine=vector");
    assert_true(found.candidates[0].possible && found.candidates[0].estimated);
    assert_int_equal(found.first_group, 1);
    fingerprint_free(&found);
}

/* ---- the documents ---- */

static void document(box *box, const char *name, size_t rows, size_t hidden, const double *y,
                     int digits, int x_digits, bool scalar)
{
    fill_box(box, rows, hidden, 0, false);
    assert_true(input_rows(name, 0, 0, rows, hidden, box->x, NULL));
    memcpy(box->y, y, rows * hidden * sizeof *y);
    box->input.digits = digits;
    box->input.x_digits = x_digits;
    box->gamma[0] = 1;
    box->beta[0] = 0;
    if (scalar) {
        box->input.gamma = box->gamma;
        box->input.beta = box->beta;
        box->input.gamma_count = box->input.beta_count = 1;
    }
}

/* 002: z-scores with the divisor N - 1. A std of 0.9, known to 5e-5 * sqrt(6 / 5), deviations known
 * to 2 * 5e-5 * 5 / 6 and |z| up to 1.7 leave about (8.4e-5 + 1.7 * 5.5e-5) / 0.9 + 5e-5 = 2.5e-4
 * of z open. An eps of 1e-3 moves the largest z by 1e-3 on the quotient, by 1.7e-3 / 0.9 on the std
 * and by 1.7e-3 / (2 * 0.81) in the variance: each too much. So is torch's divisor, in the class
 * below the cells. Smaller eps are open, and nothing else. */
static void test_document_002(void **state)
{
    (void)state;
    static const double zscore[18] = {0.8811,  0.9648,  -1.6159, -0.6911, 0.0095,  0.4516,
                                      -0.3314, -0.8956, 1.6359,  -0.8417, 0.7686,  -0.3357,
                                      1.0067,  0.7017,  -0.3407, 0.8594,  -0.8313, -1.3959};
    static box box;
    fingerprint found;
    document(&box, "seed-002", 3, 6, zscore, 4, 4, false);
    find(&box.input, &found);
    assert_first(&found, "zscore");
    assert_true(fingerprint_fits(&found));
    for (size_t i = 0; i < found.first_group; i++) {
        const ln_convention *convention = &found.candidates[i].convention;
        assert_int_equal(convention->ddof, 1);
        assert_true(convention->eps <= 1e-4);
    }
    ln_convention tinyllm = parse("tinyllm"), far = parse("ddof=1,eps=1e-3@quotient");
    assert_false(candidate_of(&found, &tinyllm)->possible);
    assert_false(candidate_of(&found, &far)->possible);
    fingerprint_free(&found);
}

/* 003's module, four decimals: the divisor is settled, where 1e-5 goes is not, torch is out. */
static void test_document_003_module(void **state)
{
    (void)state;
    static const double row[4] = {-1.1619, -0.3873, 0.3873, 1.1619};
    static box box;
    double y[24];
    fingerprint found;
    for (size_t i = 0; i < 24; i++)
        y[i] = row[i % 4];
    document(&box, "seed-003", 6, 4, y, 4, FINGERPRINT_EXACT, true);
    find(&box.input, &found);
    assert_first(&found, "scalar-std");
    static const char *const open[] = {"numpy-quotient", "zscore", "ddof=1,eps=1e-5@var"};
    for (size_t i = 0; i < 3; i++) {
        ln_convention convention = parse(open[i]);
        assert_int_equal(candidate_of(&found, &convention)->group, 0);
    }
    for (size_t i = 0; i < found.first_group; i++)
        assert_int_equal(found.candidates[i].convention.ddof, 1);
    assert_true(found.probe_count > 0);
    fingerprint_free(&found);
}

/* 003's NumPy line, eight decimals: its own convention, and no other but for the affine form,
 * which gamma 1 and beta 0 hide. */
static void test_document_003_numpy(void **state)
{
    (void)state;
    static const double y[4] = {-1.161885, -0.38728833, 0.38730833, 1.161905};
    static box box;
    fingerprint found;
    document(&box, "seed-003", 1, 4, y, 8, FINGERPRINT_EXACT, true);
    box.input.y_is_f64 = true;
    find(&box.input, &found);
    assert_first(&found, "numpy-quotient");
    assert_int_equal(found.first_group, 2);
    ln_convention twin = parse("ddof=1,eps=1e-5@quotient");
    assert_int_equal(candidate_of(&found, &twin)->group, 0);
    fingerprint_free(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_convention),
        cmocka_unit_test(test_scalar_and_none),
        cmocka_unit_test(test_trivial_parameters),
        cmocka_unit_test(test_figures),
        cmocka_unit_test(test_estimate),
        cmocka_unit_test(test_one_row),
        cmocka_unit_test(test_noise_and_nonsense),
        cmocka_unit_test(test_f64),
        cmocka_unit_test(test_constant_row),
        cmocka_unit_test(test_residual),
        cmocka_unit_test(test_probes),
        cmocka_unit_test(test_digits_never_exclude_the_truth),
        cmocka_unit_test(test_digits_of_std),
        cmocka_unit_test(test_digits_noise_and_nonsense),
        cmocka_unit_test(test_digits_estimate),
        cmocka_unit_test(test_document_002),
        cmocka_unit_test(test_document_003_module),
        cmocka_unit_test(test_document_003_numpy),
    };
    return cmocka_run_group_tests(tests, create_reference, destroy_reference);
}
