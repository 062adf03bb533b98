/* The fingerprint of printed outputs: boxes whose convention is known, and the documents. */
#include "fingerprint_box.h"

static double print_to(double value, int digits)
{
    char text[64];
    snprintf(text, sizeof text, "%.*f", digits, value);
    return strtod(text, NULL);
}

/* Whatever the convention, printing its input and output to a few decimals never excludes it. */
TEST(test_digits_never_exclude_the_truth)
{
    static eps_box box;
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
TEST(test_digits_of_std)
{
    static eps_box box;
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
TEST(test_digits_noise_and_nonsense)
{
    static eps_box box;
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
TEST(test_digits_estimate)
{
    static eps_box box;
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

static void document(eps_box *box, const char *name, size_t rows, size_t hidden, const double *y,
                     int digits, int x_digits, bool scalar)
{
    fill_box(box, rows, hidden, 0, false);
    assert_true(input_rows(name, LN_F32, 0, 0, rows, hidden, box->x, NULL));
    memcpy(box->y, y, rows * hidden * sizeof *y);
    box->input.digits = digits;
    box->input.x_digits = x_digits;
    box->gamma[0] = 1;
    box->beta[0] = 0;
    if (scalar) {
        box->input.inputs[ROLE_GAMMA] = box->gamma;
        box->input.inputs[ROLE_BETA] = box->beta;
        box->input.parameters = 1;
    }
}

/* 002: z-scores with the divisor N - 1. A std of 0.9, known to 5e-5 * sqrt(6 / 5), deviations known
 * to 2 * 5e-5 * 5 / 6 and |z| up to 1.7 leave about (8.4e-5 + 1.7 * 5.5e-5) / 0.9 + 5e-5 = 2.5e-4
 * of z open. An eps of 1e-3 moves the largest z by 1e-3 on the quotient, by 1.7e-3 / 0.9 on the std
 * and by 1.7e-3 / (2 * 0.81) in the variance: each too much. So is torch's divisor, in the class
 * below the cells. Smaller eps are open, and nothing else. */
TEST(test_document_002)
{
    static const double zscore[18] = {0.8811,  0.9648,  -1.6159, -0.6911, 0.0095,  0.4516,
                                      -0.3314, -0.8956, 1.6359,  -0.8417, 0.7686,  -0.3357,
                                      1.0067,  0.7017,  -0.3407, 0.8594,  -0.8313, -1.3959};
    static eps_box box;
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
TEST(test_document_003_module)
{
    static const double row[4] = {-1.1619, -0.3873, 0.3873, 1.1619};
    static eps_box box;
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
TEST(test_document_003_numpy)
{
    static const double y[4] = {-1.161885, -0.38728833, 0.38730833, 1.161905};
    static eps_box box;
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
    return test_run(create_reference, destroy_reference);
}
