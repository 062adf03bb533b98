/* The fingerprint of printed outputs: boxes whose convention is known. (The documents: cli_fingerprint.) */
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

int main(void)
{
    return test_run(create_reference, destroy_reference);
}
