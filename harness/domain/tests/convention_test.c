/* Conventions as text: valid texts are read, others are refused with a message that names the error. */
#include "domain/operation.h"
#include "hayai-c/tests/comma_locale.h"
#include "test.h"

static void assert_same(ln_convention a, ln_convention b)
{
    assert_int_equal(a.ddof, b.ddof);
    assert_int_equal(a.eps_place, b.eps_place);
    assert_true(a.eps == b.eps);
    assert_int_equal(a.affine, b.affine);
}

static ln_convention parsed(const char *given)
{
    ln_convention convention = {.ddof = 7};
    error err = {0};
    if (!convention_parse(given, &convention, &err))
        fail_msg("%s: %s", given, err.message);
    return convention;
}

/* The expected presets are typed out here, so that a change by accident in the table is found. */
TEST(test_presets)
{
    static const struct {
        const char *name;
        ln_convention convention;
    } expected[] = {
        {"torch", {.eps_place = LN_EPS_VAR, .eps = 1e-5, .affine = LN_AFFINE_VECTOR}},
        {"torch-nobias", {.eps_place = LN_EPS_VAR, .eps = 1e-5, .affine = LN_AFFINE_GAMMA}},
        {"tinyllm", {.eps_place = LN_EPS_VAR, .eps = 1e-5}},
        {"manual-1e-6", {.eps_place = LN_EPS_VAR, .eps = 1e-6, .affine = LN_AFFINE_VECTOR}},
        {"formula-std", {.eps_place = LN_EPS_STD, .eps = 1e-5, .affine = LN_AFFINE_VECTOR}},
        {"zscore", {.ddof = 1}},
        {"scalar-std",
         {.ddof = 1, .eps_place = LN_EPS_STD, .eps = 1e-5, .affine = LN_AFFINE_SCALAR}},
        {"numpy-quotient",
         {.ddof = 1, .eps_place = LN_EPS_QUOTIENT, .eps = 1e-5, .affine = LN_AFFINE_SCALAR}},
        {"annotated-transformer",
         {.ddof = 1, .eps_place = LN_EPS_STD, .eps = 1e-6, .affine = LN_AFFINE_VECTOR}},
        {"bert", {.eps_place = LN_EPS_VAR, .eps = 1e-12, .affine = LN_AFFINE_VECTOR}},
        {"keras", {.eps_place = LN_EPS_VAR, .eps = 1e-3, .affine = LN_AFFINE_VECTOR}},
    };
    size_t count;
    const convention_preset *presets = convention_presets(LN_OPERATION_LAYERNORM, &count);
    assert_int_equal(count, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < count; i++) {
        char label[CONVENTION_MAX_LENGTH];
        assert_string_equal(presets[i].name, expected[i].name);
        assert_same(presets[i].convention, expected[i].convention);
        assert_same(parsed(presets[i].name), expected[i].convention);
        assert_string_equal(convention_label(&expected[i].convention, label), expected[i].name);
        assert_true(presets[i].origin[0] != '\0');
    }
}

TEST(test_lists)
{
    assert_same(parsed("ddof=1,eps=1e-6@std,affine=vector"),
                (ln_convention){
                    .ddof = 1, .eps_place = LN_EPS_STD, .eps = 1e-6, .affine = LN_AFFINE_VECTOR});
    assert_same(
        parsed("affine=gamma1,eps=.5@quotient"),
        (ln_convention){.eps_place = LN_EPS_QUOTIENT, .eps = 0.5, .affine = LN_AFFINE_GAMMA1});
    assert_same(parsed("eps=0"), (ln_convention){.eps_place = LN_EPS_NONE});
    assert_same(parsed("eps=0@std"), (ln_convention){.eps_place = LN_EPS_NONE});
    assert_same(parsed("eps=-0@std"), (ln_convention){.eps_place = LN_EPS_NONE});
    assert_same(parsed("ddof=1"), (ln_convention){.ddof = 1});
}

/* Every convention of a grid is read back from its canonical list. */
TEST(test_round_trip)
{
    static const double eps[] = {1e-5,  1e-12,  0.1,  1.0 / 3,  4.9406564584124654e-324,
                                 1e300, 5e-324, 1e-1, 12345678, 0x1.fffffffffffffp-5};
    for (int ddof = 0; ddof < 2; ddof++)
        for (int place = LN_EPS_VAR; place <= LN_EPS_QUOTIENT; place++)
            for (int affine = LN_AFFINE_NONE; affine <= LN_AFFINE_GAMMA1; affine++)
                for (size_t i = 0; i < sizeof eps / sizeof *eps; i++) {
                    char list[CONVENTION_MAX_LENGTH];
                    ln_convention convention = {.ddof = ddof,
                                                .eps_place = (ln_eps_place)place,
                                                .eps = eps[i],
                                                .affine = (ln_affine)affine};
                    assert_same(parsed(convention_format(&convention, list)), convention);
                    assert_same(parsed(convention_label(&convention, list)), convention);
                }
    char list[CONVENTION_MAX_LENGTH];
    ln_convention torch = {.eps_place = LN_EPS_VAR, .eps = 1e-5, .affine = LN_AFFINE_VECTOR};
    assert_string_equal(convention_format(&torch, list), "ddof=0,eps=1e-05@var,affine=vector");
    ln_convention bare = {.ddof = 1, .affine = LN_AFFINE_GAMMA};
    assert_string_equal(convention_label(&bare, list), "ddof=1,eps=0,affine=gamma");
}

TEST(test_refusals)
{
    static const struct {
        const char *given, *says; /* a piece of the message */
    } wrong[] = {
        {"", "empty convention"},
        {"torhc", "did you mean 'torch'?"},
        {"kears", "did you mean 'keras'?"},
        {"annotated", "did you mean 'annotated-transformer'?"},
        {"llma",
         "'llama'?): expected a preset (see 'lnbench list conventions --operation all') or a list "
         "such as operation=rmsnorm,eps=1e-05@square"},
        {"operation=rmsnorm,eps=nan@square", "such as 1e-5@square"},
        {"qqqqqqqq", "expected a preset"},
        {"Torch,", "unknown key 'Torch'"},
        {"ddof=2", "ddof '2': must be 0"},
        {"ddof=", "ddof '': must be 0"},
        {"ddof=01", "ddof '01': must be 0"},
        {"ddof", "unknown convention 'ddof'"},
        {"ddof,eps=0", "no value for 'ddof'"},
        {"dof=1", "unknown key 'dof': expected ddof, eps or affine"},
        {"ddof=1,,affine=none", "empty part"},
        {"ddof=1,", "empty part"},
        {",ddof=1", "empty part"},
        {"ddof=1,ddof=1", "repeated key 'ddof'"},
        {"eps=1e-5", "does not say where"},
        {"eps=1e-5@", "place of eps '': must be var, std or quotient"},
        {"eps=1e-5@none", "place of eps 'none'"},
        {"eps=1e-5@VAR", "place of eps 'VAR'"},
        {"eps=1e-5@var@std", "place of eps 'var@std'"},
        {"eps=-1e-5@var", "must not be negative"},
        {"eps=nan@var", "finite decimal number"},
        {"eps=inf@var", "finite decimal number"},
        {"eps=1e999@var", "finite decimal number"},
        {"eps=1,5@var", "does not say where"},
        {"eps=0x1p-5@var", "finite decimal number"},
        {"eps=1e-@var", "finite decimal number"},
        {"eps= 1e-5@var", "finite decimal number"},
        {"eps=@var", "finite decimal number"},
        {"eps=", "finite decimal number"},
        {"affine=both", "affine 'both': must be none, scalar, gamma, vector or gamma1"},
        {"affine=gamma2", "affine 'gamma2'"},
        {"affine=vec", "affine 'vec'"},
        {"=1", "unknown key ''"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ln_convention convention = {.ddof = 7};
        error err = {0};
        if (convention_parse(wrong[i].given, &convention, &err))
            fail_msg("'%s' was taken", wrong[i].given);
        assert_int_equal(err.code, EXIT_CODE_USAGE);
        if (!strstr(err.message, wrong[i].says))
            fail_msg("'%s' gave: %s", wrong[i].given, err.message);
        assert_null(strchr(err.message, '\n'));
        assert_int_equal(convention.ddof, 7); /* a failed parse leaves the output alone */
    }
    assert_false(convention_parse("nothing", &(ln_convention){0}, NULL));
}

/* A list that is too long is refused; it neither overruns a buffer nor is cut silently. */
TEST(test_long)
{
    char list[4096];
    memset(list, 'x', sizeof list - 1);
    list[sizeof list - 1] = '\0';
    error err = {0};
    ln_convention convention;
    assert_false(convention_parse(list, &convention, &err));
    memcpy(list, "eps=", 4);
    assert_false(convention_parse(list, &convention, &err));
    memset(list + 4, '1', sizeof list - 5);
    assert_false(convention_parse(list, &convention, &err));
    assert_int_equal(err.code, EXIT_CODE_USAGE);
}

TEST(test_gamma_beta)
{
    static const bool gamma[] = {false, true, true, true, true};
    static const bool beta[] = {false, true, false, true, true};
    for (int affine = LN_AFFINE_NONE; affine <= LN_AFFINE_GAMMA1; affine++) {
        ln_convention convention = {.affine = (ln_affine)affine};
        assert_int_equal(ln_has_gamma(convention.affine), gamma[affine]);
        assert_int_equal(ln_has_beta(convention.affine), beta[affine]);
    }
}

TEST(test_locale)
{
    comma_locale_set();
    char list[CONVENTION_MAX_LENGTH];
    ln_convention read = parsed("eps=2.5e-5@var");
    ln_convention convention = {.eps_place = LN_EPS_STD, .eps = 1.25};
    convention_format(&convention, list);
    setlocale(LC_NUMERIC, "C");
    assert_true(read.eps == 2.5e-5);
    assert_string_equal(list, "ddof=0,eps=1.25@std,affine=none");
}
