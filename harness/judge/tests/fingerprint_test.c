/* The fingerprint of black boxes whose convention is known. */
#include "fingerprint_box.h"

/* Every divisor, place, common eps and affine form, with rows of std 1 to 2^-12, so that an eps as
 * small as 1e-10 shows: the nearest is the box's own, and nothing but affine twins beside it. */
TEST(test_every_convention)
{
    static const double eps[] = {1e-3, 1e-5, 1e-6, 1e-8};
    static eps_box box;
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

TEST(test_scalar_and_none)
{
    static eps_box box;
    static const char *const boxes[] = {"scalar-std", "numpy-quotient"};
    for (size_t i = 0; i < 2; i++) {
        ln_convention own = parse(boxes[i]);
        fingerprint found;
        fill_box(&box, 4, 20, 2, false);
        box.gamma[0] = 1.4375F;
        box.beta[0] = -0.15F;
        box.input.inputs[ROLE_GAMMA] = box.gamma;
        box.input.inputs[ROLE_BETA] = box.beta;
        box.input.parameters = 1;
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
TEST(test_trivial_parameters)
{
    static eps_box box;
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
    box.input.inputs[ROLE_BETA] = NULL;
    run_box(&box, &no_bias);
    find(&box.input, &found);
    assert_first(&found, "torch-nobias");
    assert_int_equal(found.first_group, 1);
    fingerprint_free(&found);
}

/* The figures are the metrics' own, for every candidate. */
TEST(test_figures)
{
    static eps_box box, other;
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
            assert_true(ln_reference_row(reference, &candidate->convention, LN_F32, LN_F32, 20,
                                         box.x + row * 20, NULL, box.gamma, box.beta, &result));
            metrics_row judged = {LN_F32,    LN_F32,   20,      &candidate->convention,
                                  box.gamma, box.beta, &result, candidate->convention.affine,
                                  false};
            assert_true(
                metrics_gather_row(gather, &judged, row, box.rounded + row * 20, NULL, NULL, NULL));
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
TEST(test_estimate)
{
    static const char *const boxes[] = {"ddof=0,eps=0.00025@var,affine=vector",
                                        "ddof=1,eps=3.5e-05@std,affine=vector",
                                        "ddof=0,eps=0.002@quotient,affine=vector"};
    static eps_box box;
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
TEST(test_one_row)
{
    static eps_box box;
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
/* A mean rounded to f32 moves a row that is far off zero as an eps on the quotient would: one row
 * never settles that. */
TEST(test_rounded_mean_of_one_row)
{
    static eps_box box;
    fill_box(&box, 1, 64, 0, false);
    for (size_t i = 0; i < 64; i++)
        box.x[i] += 300;
    double mean = 0, var = 0;
    for (size_t i = 0; i < 64; i++)
        mean += (double)box.x[i] / 64;
    for (size_t i = 0; i < 64; i++)
        var += ((double)box.x[i] - mean) * ((double)box.x[i] - mean) / 64;
    float rounded_mean = (float)mean, rstd = (float)(1 / sqrt(var));
    for (size_t i = 0; i < 64; i++)
        box.y[i] = (double)((box.x[i] - rounded_mean) * rstd);
    fingerprint found;
    find(&box.input, &found);
    bool without = false, on_quotient = false;
    for (size_t i = 0; i < found.first_group; i++) {
        without |= found.candidates[i].convention.eps_place == LN_EPS_NONE;
        on_quotient |= found.candidates[i].convention.eps_place == LN_EPS_QUOTIENT;
    }
    assert_true(without && on_quotient);
    fingerprint_free(&found);
}

/* An eps of 7e-7 fits where 1e-6 does, unless var is near it. */
TEST(test_listed_eps_is_not_settled)
{
    static eps_box box;
    ln_convention convention = parse("ddof=0,eps=1e-6@var,affine=none");
    for (int shrink = 0; shrink <= 4; shrink += 4) {
        fingerprint found;
        fill_box(&box, 4, 64, shrink, false);
        run_box(&box, &convention);
        for (size_t i = 0; i < 4 * 64; i++) /* what a kernel in f32 is off */
            box.y[i] = (double)(float)(box.y[i] * (1 + 2e-7 * ((double)(i % 3) - 1)));
        find(&box.input, &found);
        assert_true(fingerprint_eps_is_settled(&found) == (shrink == 4));
        fingerprint_free(&found);
    }
}

TEST(test_noise_and_nonsense)
{
    static eps_box box;
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
TEST(test_f64)
{
    static eps_box box;
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
TEST(test_constant_row)
{
    static eps_box box;
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

TEST(test_residual)
{
    static eps_box box;
    static float residual[MOST], x[MOST];
    ln_convention own = parse("torch");
    fingerprint found;
    fill_box(&box, 4, 20, 2, true);
    memcpy(x, box.x, sizeof x);
    assert_true(input_rows("uniform", LN_F32, 9, 0, 4, 20, residual, NULL));
    for (size_t i = 0; i < 80; i++)
        box.x[i] += residual[i];
    run_box(&box, &own);
    memcpy(box.x, x, sizeof x);
    box.input.inputs[ROLE_RESIDUAL] = residual;
    find(&box.input, &found);
    assert_first(&found, "torch");
    assert_int_equal(found.first_group, 1);
    fingerprint_free(&found);
}

/* ---- probes ---- */

/* How far two boxes' exact answers to one row lie apart, in units of the resolution. */
static double margin_of(eps_box *box, const fingerprint *found, const ln_convention *a,
                        const ln_convention *b)
{
    size_t hidden = box->input.hidden;
    double first[MOST_HIDDEN], most = 0;
    float rounded[MOST_HIDDEN];
    ln_reference_result result = {.rounded = rounded, .exact = first};
    assert_true(ln_reference_row(reference, a, LN_F32, LN_F32, hidden, box->x, NULL, box->gamma,
                                 box->beta, &result));
    run_box(box, b);
    for (size_t i = 0; i < hidden; i++) {
        double scale = fabs((double)box->gamma[i]) * result.max_xhat + fabs((double)box->beta[i]);
        most = fmax(most, fabs(first[i] - box->exact[i]) / (found->resolution * ln_ulp_f32(scale)));
    }
    return most;
}

/* The rows proposed tell exactly as many pairs apart as is said, by as much: by the reference's
 * answers, on even rows and on odd ones. */
TEST(test_probes)
{
    static eps_box box;
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

int main(void)
{
    return test_run(create_reference, destroy_reference);
}
