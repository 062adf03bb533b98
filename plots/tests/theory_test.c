/* What kernels look like, and the lines of theory, against figures worked out by hand. */
#include "test.h"

#include "layernorm_plugin.h"
#include "report_parts.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static palette_look look(const char *name, const char *statistics)
{
    return palette_of(name, statistics, "avx512");
}

/* The kernels of one statistics differ in mark or colour, whoever else is in the run. */
static void test_variants_differ(void **state)
{
    (void)state;
    static const struct {
        const char *statistics;
        const char *names[8];
    } families[] = {
        {"shifted",
         {"fused_f32_avx512", "fused_nt_f32_avx512", "shifted_blocked_f32_avx512_u8",
          "shifted_blocked_nt_f32_avx512", "shifted_offset_pipelined_f32_avx512",
          "shifted_transposed_f32_avx512"}},
        {"two_pass",
         {"two_pass_f32_avx512", "two_pass_split_f32_acc_f64_avx512",
          "two_pass_paired_f32_acc_f64_avx512", "two_pass_wide_f32_acc_f64_avx512",
          "two_pass_plain_nt_f32_avx512"}},
        {"naive", {"naive_f32_avx512", "naive_pipelined_f32_avx512", "naive_striped_f32_avx512"}},
    };
    for (size_t f = 0; f < sizeof families / sizeof *families; f++)
        for (size_t i = 0; families[f].names[i]; i++)
            for (size_t j = 0; j < i; j++) {
                palette_look a = look(families[f].names[i], families[f].statistics);
                palette_look b = look(families[f].names[j], families[f].statistics);
                if (a.mark == b.mark && a.colour == b.colour)
                    fail_msg("%s looks like %s", families[f].names[i], families[f].names[j]);
            }
}

static void test_same_kernel_same_look(void **state)
{
    (void)state;
    palette_look one = palette_of("two_pass_f32_avx2", "two_pass", "avx2");
    palette_look wide = palette_of("two_pass_f32_avx512", "two_pass", "avx512");
    palette_look f64 = palette_of("two_pass_f64_avx2", "two_pass", "avx2");
    assert_true(one.colour == wide.colour && one.mark == wide.mark && one.dash != wide.dash);
    assert_true(one.colour == f64.colour && one.mark == f64.mark && one.dash == f64.dash);
    assert_int_equal(one.colour, 0x0072B2);
}

/* Of all kernels there are: on a chart of one type and ISA no two look alike. */
static void test_all_kernels_differ(void **state)
{
    (void)state;
    const ln_plugin *all = ln_plugin_v1();
    for (size_t i = 0; i < all->count; i++)
        for (size_t j = 0; j < i; j++) {
            const ln_kernel *a = &all->kernels[i], *b = &all->kernels[j];
            if (strcmp(a->isa, b->isa) != 0 || a->storage != b->storage)
                continue;
            palette_look of_a = palette_of(a->name, a->statistics, a->isa);
            palette_look of_b = palette_of(b->name, b->statistics, b->isa);
            if (of_a.mark == of_b.mark && of_a.colour == of_b.colour)
                fail_msg("%s looks like %s", a->name, b->name);
        }
}

/* Other libraries are grey, and told apart; a plugin of a user is neither grey nor invisible. */
static void test_peers_and_strangers(void **state)
{
    (void)state;
    static const char *const peers[] = {"onednn_f32", "pytorch_f32", "onednn", "xnnpack_f32"};
    for (size_t i = 0; i < 4; i++) {
        unsigned colour = look(peers[i], "").colour;
        assert_true((colour & 0xff) == (colour >> 8 & 0xff) && (colour & 0xff) == colour >> 16);
        assert_non_null(palette_peer(peers[i]));
    }
    palette_look onednn = look("onednn_f32", "onednn"), pytorch = look("pytorch_bf16", "pytorch");
    assert_true(onednn.colour != pytorch.colour && onednn.mark != pytorch.mark);
    assert_null(palette_peer("onednnlike_f32"));
    static const char *const strange[] = {"mine", "", "<script>", "a_b_c", "x.y-z", "_", "__"};
    for (size_t i = 0; i < 7; i++) {
        palette_look of_name = look(strange[i], ""), of_word = look(strange[i], strange[i]);
        assert_true(palette_contrast(of_name.colour) >= 2 && palette_contrast(of_word.ink) >= 4.5);
        assert_true(of_name.mark >= MARK_SQUARE && of_name.mark <= MARK_PENTAGON);
    }
}

/* WCAG: black on white is 21 to 1, #767676 the lightest grey with 4.5. */
static void test_contrast(void **state)
{
    (void)state;
    assert_true(fabs(palette_contrast(0x000000) - 21) < 1e-9);
    assert_true(palette_contrast(0x767676) >= 4.5 && palette_contrast(0x777777) < 4.5);
    static const char *const statistics[] = {"shifted", "two_pass",    "welford",     "naive",
                                             "clamped", "corrected",   "scaled",      "pairwise",
                                             "chunked", "compensated", "reproducible"};
    for (size_t i = 0; i < sizeof statistics / sizeof *statistics; i++)
        assert_true(palette_contrast(look(statistics[i], statistics[i]).ink) >= 4.5);
}

static theory theory_at(const char *statistics, const char *apply, const char *isa,
                        ln_type accumulator, size_t hidden)
{
    theory theory;
    theory_kernel kernel = {statistics, apply, isa, LN_F32, accumulator, 4};
    assert_true(theory_of(&kernel, hidden, &theory));
    return theory;
}

/* Hidden 768 by hand: AVX-512 has 16 lanes times 4, so 12 blocks and 6 levels; AVX2 half of that;
 * scalar 4 and 192; pairwise over chunks of 2 blocks: 2 + 6 levels, and 3 + 1 for 6 chunks; shifted
 * over chunks of 16 blocks, and one more for each chunk but the first... */
static void test_depth(void **state)
{
    (void)state;
    static const struct {
        const char *statistics, *isa;
        double depth;
    } expected[] = {
        {"naive", "avx512", 12 + 6},        {"naive", "avx2", 24 + 5},
        {"naive", "scalar", 192 + 2},       {"two_pass", "neon", 48 + 4},
        {"pairwise", "avx512", 2 + 6 + 3},  {"chunked", "avx512", 12 + 6},
        {"chunked", "scalar", 32 + 2 + 3},  {"reproducible", "scalar", 12 + 6},
        {"compensated", "avx2", 3},         {"lanewise", "avx512", 8 + 2},
        {"shifted", "avx512", 12 + 6},      {"shifted", "avx2", 16 + 1 + 5},
        {"shifted", "scalar", 16 + 11 + 2},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        theory theory = theory_at(expected[i].statistics, "direct", expected[i].isa, LN_F32, 768);
        if (theory.depth != expected[i].depth)
            fail_msg("%s, %s: %g", expected[i].statistics, expected[i].isa, theory.depth);
    }
    theory nothing;
    theory_kernel unknown = {"mystery", "direct", "avx2", LN_F32, LN_F32, 4};
    assert_false(theory_of(&unknown, 768, &nothing));
    unknown.statistics = "naive";
    unknown.isa = "sve";
    assert_false(theory_of(&unknown, 768, &nothing));
}

/* Every kernel of ours has its lines. */
static void test_all_kernels_have_a_theory(void **state)
{
    (void)state;
    const ln_plugin *all = ln_plugin_v1();
    assert_true(all->count > 0);
    for (size_t i = 0; i < all->count; i++) {
        const ln_kernel *k = &all->kernels[i];
        theory theory;
        theory_kernel facts = {k->statistics, k->apply,       k->isa,
                               k->storage,    k->accumulator, k->unroll};
        if (!theory_of(&facts, 768, &theory) || !(theory.depth >= 1) || !(theory.unit > 0))
            fail_msg("%s has no theory", k->name);
    }
}

/* At depth 18, u = 2^-24, kappa 100. */
static void test_variance(void **state)
{
    (void)state;
    double u = 0x1p-24, off = 18 * u;
    theory textbook = theory_at("naive", "direct", "avx512", LN_F32, 768);
    theory two_pass = theory_at("two_pass", "direct", "avx512", LN_F32, 768);
    theory updated = theory_at("welford", "direct", "avx512", LN_F32, 768);
    theory corrected = theory_at("reproducible", "split", "avx512", LN_F32, 768);
    theory wide = theory_at("two_pass", "wide", "avx512", LN_F64, 768);
    assert_true(fabs(theory_variance(&textbook, 100) / (off * 1e4) - 1) < 1e-12);
    assert_true(fabs(theory_variance(&two_pass, 100) / (off + off * off * 1e4) - 1) < 1e-12);
    assert_true(fabs(theory_variance(&updated, 100) / (off * 100) - 1) < 1e-12);
    assert_true(fabs(theory_variance(&corrected, 100) /
                         (off + 2 * off * off * 100 + off * off * off * 1e4) -
                     1) < 1e-12);
    assert_true(fabs(theory_variance(&corrected, 1 / off) / (4 * off) - 1) < 1e-12);
    assert_true(fabs(theory_variance_seen(&two_pass, 100) - theory_variance(&two_pass, 100) -
                     5 * u) < 1e-12 * u);
    theory doubled = theory_at("double_float", "paired", "avx512", LN_F32, 768);
    assert_true(fabs(theory_variance(&doubled, 1e6) / u - 1) < 1e-3); /* 18 terms of 8 u and less */
    assert_true(fabs(theory_mean(&doubled, 1e6) / (4 * 18 * u * u * 1e6) - 1) < 1e-12);
    /* Whatever kappa is: (1.375 + 2 (1.375 + sqrt 1.375)) D u, in the unit of the lanes. */
    theory lanewise = theory_at("lanewise", "guarded", "avx512", LN_F64, 768);
    double lanes = 10 * u * (1.375 + 2 * (1.375 + sqrt(1.375)));
    assert_true(fabs(theory_variance(&lanewise, 1e6) / lanes - 1) < 1e-12);
    assert_true(fabs(theory_mean(&lanewise, 1e6) / (10 * u * sqrt(1.375)) - 1) < 1e-12);
    assert_true(fabs(theory_variance(&wide, 1) / (18 * 0x1p-53) - 1) < 1e-12);
    /* Row ULP at kappa 1: 18 of the mean, 9 of the variance, 6.5 and a half. */
    assert_true(fabs(theory_row_ulp(&textbook, 1) - 34) < 1e-9);
    assert_true(fabs(theory_row_ulp(&wide, 1) - 0.5) < 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_variants_differ),
        cmocka_unit_test(test_all_kernels_differ),
        cmocka_unit_test(test_same_kernel_same_look),
        cmocka_unit_test(test_peers_and_strangers),
        cmocka_unit_test(test_contrast),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_all_kernels_have_a_theory),
        cmocka_unit_test(test_variance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
