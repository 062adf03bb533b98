/* Input families have their documented properties at every hidden size and in every type. (inputs_golden tests the bits
 * of their values.) */
#include "domain/operation.h"
#include "inputs/inputs.h"
#include "inputs/tensor.h"
#include "metrics/storage.h"
#include "test.h"
#include <math.h>
#include <unistd.h>

enum { MOST_HIDDEN = 4096 };

static void fill(const char *input, uint64_t seed, size_t first, size_t count, size_t hidden,
                 float *x)
{
    input_rows(input, LN_F32, seed, first, count, hidden, x);
}

/* An element is the same with whatever rows it is requested, and other rows and seeds have other elements. */
TEST(test_place)
{
    static const size_t sizes[] = {1, 2, 3, 17, 100};
    static float together[12 * 100], alone[100];
    size_t count;
    const input_family *families = input_families(&count);
    for (size_t f = 0; f < count; f++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            size_t hidden = sizes[s];
            fill(families[f].name, 5, 3, 12, hidden, together);
            for (size_t row = 0; row < 12; row++) {
                fill(families[f].name, 5, 3 + row, 1, hidden, alone);
                assert_memory_equal(alone, together + row * hidden, hidden * sizeof *alone);
            }
        }
    static const char *const drawn[] = {"normal",
                                        "uniform",
                                        "offset",
                                        "outlier-channels",
                                        "alternating",
                                        "subnormal",
                                        "huge",
                                        "kappa",
                                        "two-valued",
                                        "sorted",
                                        "positive",
                                        "alternating-scales",
                                        "geometric",
                                        "blocks",
                                        "quantised",
                                        "sparse",
                                        "heavy-tails",
                                        "overflow",
                                        "underflow",
                                        "subnormal-out",
                                        "near-constant",
                                        "var-near-eps",
                                        "massive-activations"};
    for (size_t i = 0; i < sizeof drawn / sizeof *drawn; i++) {
        fill(drawn[i], 5, 0, 12, 100, together);
        fill(drawn[i], 6, 0, 1, 100, alone);
        assert_memory_not_equal(together, alone, sizeof alone);
        assert_memory_not_equal(together, together + 9 * 100, sizeof alone);
    }
}

/* Returns kappa by its definition, in two passes over differences from x[0], which are exact. */
static double kappa_of(const float *x, size_t hidden)
{
    long double sum = 0, squares = 0, n = (long double)hidden;
    for (size_t i = 0; i < hidden; i++)
        sum += (long double)x[i] - (long double)x[0];
    long double mean = sum / n;
    for (size_t i = 0; i < hidden; i++) {
        long double difference = (long double)x[i] - (long double)x[0] - mean;
        squares += difference * difference;
    }
    mean += (long double)x[0];
    return (double)sqrtl(1 + mean * mean / (squares / n));
}

/* Rows of several families in turn are the families' rows of the same index. */
TEST(test_in_turn)
{
    static const char *const families[] = {"normal", "offset:1e+4", "ramp"};
    float mixed[7 * 33], alone[33];
    fill("normal+offset:1e+4+ramp", 1, 2, 7, 33, mixed);
    for (size_t row = 0; row < 7; row++) {
        fill(families[(2 + row) % 3], 1, 2 + row, 1, 33, alone);
        assert_memory_equal(mixed + row * 33, alone, sizeof alone);
    }
}

TEST(test_offset)
{
    static const size_t sizes[] = {64, 100, 768, 4096};
    static float x[18 * MOST_HIDDEN];
    for (size_t s = 0; s < 4; s++) {
        size_t hidden = sizes[s], positive = 0;
        fill("offset", 1, 0, 18, hidden, x);
        for (size_t row = 0; row < 18; row++) {
            double wanted = pow(10, (double)(row % 9)), found = kappa_of(x + row * hidden, hidden);
            double allowed = row % 9 < 8 ? 0.01 : hidden < 768 ? 0.5 : 0.05;
            if (!(fabs(found / wanted - 1) <= allowed))
                fail_msg("hidden %zu kappa %g: realised %g", hidden, wanted, found);
            positive += x[row * hidden] > 0;
        }
        assert_in_range(positive, 7, 11);
    }
    fill("offset:12345.5", 1, 3, 2, 768, x);
    assert_true(fabs(kappa_of(x, 768) / 12345.5 - 1) < 0.01);
    assert_true(fabs(kappa_of(x + 768, 768) / 12345.5 - 1) < 0.01);
    for (size_t hidden = 1; hidden < 20; hidden++) {
        fill("offset", 1, 0, 18, hidden, x);
        for (size_t i = 0; i < 18 * hidden; i++)
            assert_true(isfinite(x[i]));
        /* Short rows have a variance too, at any kappa. */
        for (size_t row = 0; hidden > 1 && row < 18; row++)
            assert_true(isfinite(kappa_of(x + row * hidden, hidden)));
    }
}

TEST(test_names)
{
    char longer[INPUT_MAX_LENGTH + 1] = "";
    const struct {
        const char *input, *says; /* says: a part of the error; NULL: the input is valid */
    } names[] = {
        {"normal", NULL},
        {"offset:1", NULL},
        {"offset:1e8", NULL},
        {"normal+offset:1e+4+ramp", NULL},
        {"normal+ofset:4", "unknown input 'ofset:4'"},
        {"/somewhere/x.npy", NULL},
        {"x.npz:a+b", NULL},
        {"x.safetensors", NULL},
        {"norml", "unknown input 'norml' (did you mean 'normal'?)"},
        {"seed-004", "did you mean 'seed-000'?"},
        {"seed-005", "did you mean 'seed-000'?"},
        {"", "unknown input ''"},
        {"wwwwwwwwww", "expected a family"},
        {"offset:", "kappa must be a number from 1 to 1e8"},
        {"offset:0.5", "kappa must be"},
        {"offset:1.01e8", "kappa must be"},
        {"offset:nan", "kappa must be"},
        {"offset:-3", "kappa must be"},
        {"offset:1e4x", "kappa must be"},
        {"normal:3", "did you mean 'normal'?"},
        {"worst:a+b/c.txt", NULL},
        {memset(longer, 'x', INPUT_MAX_LENGTH), "longer than 255"},
    };
    for (volatile size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].says)
            assert_dies(EXIT_CODE_USAGE, names[i].says, input_check(names[i].input));
        else
            input_check(names[i].input);
    float x;
    assert_dies(EXIT_CODE_USAGE, "norml", input_rows("norml", LN_F32, 0, 0, 1, 1, &x));
    assert_dies(EXIT_CODE_USAGE, "hidden is 0", input_rows("normal", LN_F32, 0, 0, 1, 0, &x));
    size_t count;
    const input_family *families = input_families(&count);
    assert_int_equal(count, 37);
    for (size_t i = 0; i < count; i++) {
        input_check(families[i].name);
        assert_true(families[i].purpose[0] != '\0' && families[i].evidence[0] != '\0');
    }
}

TEST(test_npy_input)
{
    const char *path = "inputs_test.npy";
    const float singles[6] = {1, 2, 3, 4, 5, 6};
    const size_t shape[3] = {2, 1, 3};
    float x[12];
    npy_write(path, LN_F32, 3, shape, singles);
    fill(path, 0, 1, 4, 3, x);
    const float expected[12] = {4, 5, 6, 1, 2, 3, 4, 5, 6, 1, 2, 3};
    assert_memory_equal(x, expected, sizeof x);
    assert_dies(EXIT_CODE_USAGE, "last axis is 3 long: expected hidden 2",
                input_rows(path, LN_F32, 0, 0, 1, 2, x));

    double doubles[3] = {0.1, -1e-60, 0x1.fffffefffffffp+127}; /* the last rounds to FLT_MAX */
    const size_t row[1] = {3};
    npy_write(path, LN_F64, 1, row, doubles);
    fill(path, 0, 0, 1, 3, x);
    assert_true(x[0] == 0.1F && x[1] == 0 && x[2] == 0x1.fffffep+127F);
    doubles[2] = 0x1.ffffffp+127;
    npy_write(path, LN_F64, 1, row, doubles);
    assert_dies(EXIT_CODE_USAGE, "element 2 is", input_rows(path, LN_F32, 0, 0, 1, 3, x));
    doubles[2] = INFINITY;
    npy_write(path, LN_F64, 1, row, doubles);
    fill(path, 0, 0, 1, 3, x);
    assert_true(isinf(x[2]));

    const size_t none[2] = {0, 3};
    npy_write(path, LN_F32, 2, none, singles);
    assert_dies(EXIT_CODE_USAGE, "has no rows", input_rows(path, LN_F32, 0, 0, 1, 3, x));
    npy_write(path, LN_F16, 1, row, singles);
    fill(path, 0, 0, 1, 3, x);
    assert_true(x[0] == 0 && x[1] == 0x1.ep+0F); /* the f16 in the bytes of 1.0F */
    unlink(path);
    assert_dies(EXIT_CODE_ENVIRONMENT, path, input_rows(path, LN_F32, 0, 0, 1, 3, x));
}

/* ---- the other types: the properties of each, and that the type can represent the rows ---- */

enum { HIDDEN = 300, ROWS = 9 };
static const ln_type types[] = {LN_F64, LN_BF16, LN_F16};
enum { TYPES = sizeof types / sizeof *types };

static double wide[ROWS * HIDDEN]; /* room for any type */
static float narrow[ROWS * HIDDEN];

static void fill_both(const char *input, ln_type type)
{
    input_rows(input, type, 5, 0, ROWS, HIDDEN, wide);
    input_rows(input, LN_F32, 5, 0, ROWS, HIDDEN, narrow);
}

/* Rounded to f32, a row of f64 is the row of f32; the further bits are not all 0, and equal and opposite elements stay
 * so. */
TEST(test_f64_goes_on_where_f32_ends)
{
    static const char *const inputs[] = {"normal", "spike", "constant", "alternating"};
    for (size_t f = 0; f < sizeof inputs / sizeof *inputs; f++) {
        size_t longer = 0;
        fill_both(inputs[f], LN_F64);
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
    fill_both("normal", LN_F64);
    size_t longer = 0;
    for (size_t i = 0; i < ROWS * HIDDEN; i++)
        longer += wide[i] != (double)narrow[i];
    assert_true(longer > ROWS * HIDDEN * 8 / 10);
    fill_both("seed-003", LN_F64);
    for (size_t i = 0; i < ROWS * HIDDEN; i++)
        assert_true(wide[i] == (double)narrow[i]);
}

/* bf16 is the upper half of f32: rounding to nearest even as an addition of integers. */
TEST(test_bf16_is_f32_rounded)
{
    static const char *const inputs[] = {"normal", "huge", "subnormal", "outlier-channels"};
    for (size_t f = 0; f < sizeof inputs / sizeof *inputs; f++) {
        fill_both(inputs[f], LN_BF16);
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

/* No finite family leaves the range of the type. Huge rows are near its end; subnormal ones are below its smallest
 * normal number and not all 0. */
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
            fill_both(families[f].name, types[t]);
            for (size_t i = 0; i < ROWS * HIDDEN; i++) {
                double value = storage_load(types[t], wide, i);
                assert_int_equal(isnan(value) != 0, isnan(narrow[i]) != 0);
                assert_int_equal(isinf(value) != 0, isinf(narrow[i]) != 0);
                if (!isnan(value) && !is_made_anew(families[f].name))
                    assert_true((signbit(value) != 0) == (signbit(narrow[i]) != 0));
                if (strcmp(families[f].name, "huge") == 0)
                    assert_true(fabs(value) > squares_overflow[types[t]]);
                if (strcmp(families[f].name, "subnormal") == 0) /* it may be rounded up to that */
                    assert_true(fabs(value) <= smallest_normal[types[t]]);
            }
            if (strcmp(families[f].name, "subnormal") == 0)
                assert_true(storage_load(types[t], wide, 0) != 0 ||
                            storage_load(types[t], wide, 1) != 0);
        }
}

static double kappa_of_row(ln_type type, size_t row)
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

/* The sweep goes from 1 to the type's largest kappa. A row of 300 elements with few different values has the requested
 * kappa to within a tenth. */
TEST(test_offset_sweeps_the_kappa_of_the_type)
{
    for (size_t t = 0; t < TYPES; t++) {
        double most = offset_kappa_most(types[t]);
        fill_both("offset", types[t]);
        for (size_t row = 0; row < ROWS; row++) {
            double wanted = pow(most, (double)row / 8), found = kappa_of_row(types[t], row);
            if (!(found > wanted / 1.1 && found < wanted * 1.1))
                fail_msg("%s: kappa %g where %g was requested", dtype_name(types[t]), found,
                         wanted);
        }
    }
    input_rows("offset:700", LN_BF16, 5, 0, 1, HIDDEN, wide);
    assert_true(kappa_of_row(LN_BF16, 0) > 630 && kappa_of_row(LN_BF16, 0) < 770);
}

/* The family kappa goes up to 2^p N / sqrt(N - 1), the largest kappa of the type (one element differs by an ulp at the
 * top of a binade), with a deviation near 1. */
TEST(test_kappa_goes_to_the_end)
{
    static const int precision[] = {[LN_F32] = 24, [LN_F64] = 53, [LN_BF16] = 8, [LN_F16] = 11};
    for (ln_type type = LN_F32; type <= LN_F16; type++) {
        double before = 0, most = ldexp(HIDDEN / sqrt(HIDDEN - 1.0), precision[type]);
        for (size_t row = 0; row < KAPPA_ROWS; row++) {
            input_rows("kappa", type, 5, row, 1, HIDDEN, wide);
            double found = kappa_of_row(type, 0), mean = fabs(storage_load(type, wide, 0));
            if (!(found > before && found <= most * (1 + 1e-9)))
                fail_msg("%s: kappa %g of row %zu, after %g", dtype_name(type), found, row, before);
            if (found > 100 && !(mean / found > 0.45 && mean / found < 2.1))
                fail_msg("%s: deviation %g of row %zu", dtype_name(type), mean / found, row);
            before = found;
        }
        /* The mean is 1 + 1/N ulp below 2^p; the rest allows for rounding in this test. */
        assert_true(before > most * (1 - ldexp(4, -precision[type])));
    }
}

TEST(test_what_a_type_cannot_have_is_refused)
{
    assert_dies(EXIT_CODE_USAGE, "f16 can have kappa from 1 to 10000",
                input_check_type("offset:1e5", LN_F16));
    assert_dies(EXIT_CODE_USAGE, "f16 can have",
                input_rows("offset:1e5", LN_F16, 5, 0, 1, HIDDEN, wide));
    input_check_type("offset:1e5", LN_F32);
    input_check_type("offset:1e5", LN_F64);
    assert_dies(EXIT_CODE_USAGE, "unknown input", input_check_type("norml", LN_F64));
}

/* A file of the same type is copied bit for bit; another is rounded, and refused if a number is beyond the range. */
TEST(test_files_of_every_type)
{
    static const char path[] = "inputs_test.npy";
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

TEST(test_parameters_in_all_types)
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
