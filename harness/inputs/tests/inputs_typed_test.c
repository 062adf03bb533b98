/* Families in the types other than f32: what each promises, and that it is realised in the type. */
#include "domain/convention.h"
#include "inputs/inputs.h"
#include "inputs/families.h"
#include "metrics/storage.h"
#include "test.h"
#include <math.h>
#include <unistd.h>
#include "inputs/tensor.h"

enum { HIDDEN = 300, ROWS = 9 };
static const ln_type types[] = {LN_F64, LN_BF16, LN_F16};
enum { TYPES = sizeof types / sizeof *types };

static double wide[ROWS * HIDDEN]; /* room for any type */
static float narrow[ROWS * HIDDEN];

static void fill(const char *input, ln_type type)
{
    input_rows(input, type, 5, 0, ROWS, HIDDEN, wide);
    input_rows(input, LN_F32, 5, 0, ROWS, HIDDEN, narrow);
}

/* Rounded to f32, a row of f64 is that of f32; the bits below are not all 0, and equal and opposite
 * elements stay so. */
TEST(test_f64_goes_on_where_f32_ends)
{
    static const char *const inputs[] = {"normal", "spike", "constant", "alternating"};
    for (size_t f = 0; f < sizeof inputs / sizeof *inputs; f++) {
        size_t longer = 0;
        fill(inputs[f], LN_F64);
        for (size_t i = 0; i < ROWS * HIDDEN; i++) {
            assert_true((float)wide[i] == narrow[i]);
            longer += wide[i] != (double)narrow[i];
            size_t other = i / HIDDEN * HIDDEN + (i + 1) % HIDDEN;
            if (narrow[i] == narrow[other])
                assert_true(wide[i] == wide[other]);
            if (narrow[i] == -narrow[other])
                assert_true(wide[i] == -wide[other]);
        }
        assert_true(longer > 0);
    }
    fill("normal", LN_F64);
    size_t longer = 0;
    for (size_t i = 0; i < ROWS * HIDDEN; i++)
        longer += wide[i] != (double)narrow[i];
    assert_true(longer > ROWS * HIDDEN * 8 / 10);
    fill("seed-003", LN_F64);
    for (size_t i = 0; i < ROWS * HIDDEN; i++)
        assert_true(wide[i] == (double)narrow[i]);
}

/* bf16 is the upper half of f32: rounding to nearest even as an addition of integers. */
TEST(test_bf16_is_f32_rounded)
{
    static const char *const inputs[] = {"normal", "huge", "subnormal", "outlier-channels"};
    for (size_t f = 0; f < sizeof inputs / sizeof *inputs; f++) {
        fill(inputs[f], LN_BF16);
        for (size_t i = 0; i < ROWS * HIDDEN; i++) {
            uint32_t bits;
            memcpy(&bits, &narrow[i], sizeof bits);
            bits += 0x7fffu + (bits >> 16 & 1);
            assert_int_equal(((uint16_t *)wide)[i], bits >> 16);
        }
    }
}

static bool is_made_anew(const char *input)
{
    return strcmp(input, "offset") == 0 || strcmp(input, "kappa") == 0;
}

/* No finite family leaves the range of the type; huge rows lie at its end, subnormal ones below its
 * smallest normal number and are not all 0. */
TEST(test_every_family_is_realisable)
{
    static const double smallest_normal[] = {
        [LN_F64] = 0x1p-1022, [LN_BF16] = 0x1p-126, [LN_F16] = 0x1p-14};
    static const double squares_overflow[] = {
        [LN_F64] = 0x1p+512, [LN_BF16] = 0x1p+64, [LN_F16] = 0x1p+8};
    size_t count;
    const input_family *families = input_families(&count);
    for (size_t t = 0; t < TYPES; t++)
        for (size_t f = 0; f < count; f++) {
            fill(families[f].name, types[t]);
            for (size_t i = 0; i < ROWS * HIDDEN; i++) {
                double value = storage_load(types[t], wide, i);
                assert_int_equal(isnan(value) != 0, isnan(narrow[i]) != 0);
                assert_int_equal(isinf(value) != 0, isinf(narrow[i]) != 0);
                if (!isnan(value) && !is_made_anew(families[f].name))
                    assert_true((signbit(value) != 0) == (signbit(narrow[i]) != 0));
                if (strcmp(families[f].name, "huge") == 0)
                    assert_true(fabs(value) > squares_overflow[types[t]]);
                if (strcmp(families[f].name, "subnormal") == 0) /* or rounded up to that */
                    assert_true(fabs(value) <= smallest_normal[types[t]]);
            }
            if (strcmp(families[f].name, "subnormal") == 0)
                assert_true(storage_load(types[t], wide, 0) != 0 ||
                            storage_load(types[t], wide, 1) != 0);
        }
}

static double kappa_of(ln_type type, size_t row)
{
    long double sum = 0, squares = 0, n = HIDDEN;
    long double first = (long double)storage_load(type, wide, row * HIDDEN);
    for (size_t i = 0; i < HIDDEN; i++) {
        long double d = (long double)storage_load(type, wide, row * HIDDEN + i) - first;
        sum += d;
        squares += d * d;
    }
    long double mean = first + sum / n, var = (squares - sum * sum / n) / n;
    return (double)sqrtl(mean * mean / var + 1);
}

/* The sweep reaches from 1 to the type's largest; what is realised is what is asked for as near as
 * a row of 300 that has few different elements can: within a tenth. */
TEST(test_offset_sweeps_the_kappa_of_the_type)
{
    for (size_t t = 0; t < TYPES; t++) {
        double most = offset_kappa_most(types[t]);
        fill("offset", types[t]);
        for (size_t row = 0; row < ROWS; row++) {
            double wanted = pow(most, (double)row / 8), found = kappa_of(types[t], row);
            if (!(found > wanted / 1.1 && found < wanted * 1.1))
                fail_msg("%s: kappa %g where %g was asked for", dtype_name(types[t]), found,
                         wanted);
        }
    }
    input_rows("offset:700", LN_BF16, 5, 0, 1, HIDDEN, wide);
    assert_true(kappa_of(LN_BF16, 0) > 630 && kappa_of(LN_BF16, 0) < 770);
}

/* The family kappa goes to the very end: no row of the type has more than 2^p N / sqrt(N - 1) (one
 * number apart at the top of a binade), the deviation being near 1. */
TEST(test_kappa_goes_to_the_end)
{
    static const int precision[] = {[LN_F64] = 53, [LN_BF16] = 8, [LN_F16] = 11};
    for (size_t t = 0; t < TYPES; t++) {
        double before = 0, most = ldexp(HIDDEN / sqrt(HIDDEN - 1.0), precision[types[t]]);
        for (size_t row = 0; row < KAPPA_ROWS; row++) {
            input_rows("kappa", types[t], 5, row, 1, HIDDEN, wide);
            double found = kappa_of(types[t], 0), mean = fabs(storage_load(types[t], wide, 0));
            if (!(found > before && found <= most * (1 + 1e-9)))
                fail_msg("%s: kappa %g of row %zu, after %g", dtype_name(types[t]), found, row,
                         before);
            if (found > 100 && !(mean / found > 0.45 && mean / found < 2.1))
                fail_msg("%s: deviation %g of row %zu", dtype_name(types[t]), mean / found, row);
            before = found;
        }
        /* The mean is 1 + 1/N numbers below 2^p; the rest is for rounding here. */
        assert_true(before > most * (1 - ldexp(4, -precision[types[t]])));
    }
}

TEST(test_what_a_type_cannot_have_is_refused)
{
    assert_dies(EXIT_CODE_USAGE, "f16 can realise kappa from 1 to 10000",
                input_check_type("offset:1e5", LN_F16));
    assert_dies(EXIT_CODE_USAGE, "f16 can realise",
                input_rows("offset:1e5", LN_F16, 5, 0, 1, HIDDEN, wide));
    input_check_type("offset:1e5", LN_F32);
    input_check_type("offset:1e5", LN_F64);
    assert_dies(EXIT_CODE_USAGE, "unknown input", input_check_type("norml", LN_F64));
}

/* A file of the type is taken bit for bit, another rounded, and refused beyond the range. */
TEST(test_files_of_every_type)
{
    static const char path[] = "inputs_typed_test.npy";
    const size_t shape[] = {2, 2};
    const uint16_t halves[] = {0x3c01, 0xfe12, 0x0001, 0x8000};
    uint16_t got[4];
    npy_write(path, LN_F16, 2, shape, halves);
    input_rows(path, LN_F16, 0, 0, 2, 2, got);
    assert_memory_equal(got, halves, sizeof got);
    npy_write(path, LN_BF16, 2, shape, halves);
    input_rows(path, LN_BF16, 0, 0, 2, 2, got);
    assert_memory_equal(got, halves, sizeof got);
    assert_dies(EXIT_CODE_USAGE, "--dtypes bf16", input_rows(path, LN_F16, 0, 0, 2, 2, got));
    const double doubles[] = {1 + 0x1p-11, 1 + 0x1.8p-10, 65519, -65520};
    npy_write(path, LN_F64, 2, shape, doubles);
    input_rows(path, LN_F64, 0, 0, 2, 2, wide);
    assert_memory_equal(wide, doubles, sizeof doubles);
    input_rows(path, LN_F16, 0, 0, 1, 2, got);
    assert_int_equal(got[0], 0x3c00); /* ties to even, both ways */
    assert_int_equal(got[1], 0x3c02);
    assert_dies(EXIT_CODE_USAGE, "beyond f16", input_rows(path, LN_F16, 0, 1, 1, 2, got));
    unlink(path);
}

TEST(test_parameters)
{
    ln_convention torch;
    assert_true(convention_parse("torch", &torch, NULL));
    for (size_t t = 0; t < TYPES; t++)
        for (uint64_t seed = 0; seed < 300; seed++) {
            double gamma[2], beta[2];
            const operation_call call = {.problem = problem_dense(&torch, types[t], types[t], 1, 2),
                                         .inputs = {[ROLE_GAMMA] = gamma, [ROLE_BETA] = beta}};
            input_parameters("normal", &call, seed);
            assert_true(storage_load(types[t], gamma, 0) != storage_load(types[t], gamma, 1));
            assert_true(storage_load(types[t], beta, 0) != storage_load(types[t], beta, 1));
        }
}
