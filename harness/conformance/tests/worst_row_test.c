/* Adversarial rows are stored as text: numbers of every type are read back bit for bit, other text is refused, and
 * whole finds are read back as they were written. Rows that a hunt has changed stay finite. */
#include "conformance/conformance.h"
#include "scratch.h"
#include "metrics/storage.h"
#include "test.h"
#include <math.h>
#include <stdio.h>

static const ln_type types[] = {LN_F32, LN_F64, LN_BF16, LN_F16};
enum { TYPES = sizeof types / sizeof *types };

static void check_bits(ln_type type, uint64_t bits)
{
    char number[HEX_FLOAT_LENGTH];
    size_t size = dtype_size(type);
    uint64_t values[2] = {0}, back[2] = {0};
    memcpy((char *)values + size, &bits, size); /* element 1, so that an ignored index is found */
    hex_float_format(type, values, 1, number);
    if (!hex_float_parse(number, type, back, 1) || memcmp(values, back, sizeof values) != 0)
        fail_msg("%s: bits %llx: '%s' reads back otherwise", dtype_name(type),
                 (unsigned long long)bits, number);
}

TEST(test_every_number)
{
    for (uint64_t bits = 0; bits <= UINT16_MAX; bits++) {
        check_bits(LN_BF16, bits);
        check_bits(LN_F16, bits);
        /* For the longer types, every exponent with the shortest and the longest fractions. */
        check_bits(LN_F32, bits << 16);
        check_bits(LN_F32, bits << 16 | 0xffff);
        check_bits(LN_F64, bits << 48);
        check_bits(LN_F64, bits << 48 | UINT64_C(0xffffffffffff));
        check_bits(LN_F64, bits << 48 | 1);
    }
}

TEST(test_no_numbers)
{
    static const struct {
        ln_type type;
        const char *text;
    } bad[] = {
        {LN_F32, "0.1"},
        {LN_F32, "hello"},
        {LN_F32, ""},
        {LN_F32, "0x"},
        {LN_F32, "0x1p+128"},
        {LN_F32, "0x1.0000001p+0"},
        {LN_F32, "nan:7fc0"},
        {LN_F32, "nan:3f800000"},
        {LN_F32, "nan"},
        {LN_F64, "0x1.00000000000001p+0"},
        {LN_F64, "0x1p+1024"},
        {LN_F64, "0x1.0000000000000000000000001p+0"},
        {LN_F64, "nan:7fc00000"},
        {LN_BF16, "0x1.01p+0"},
        {LN_BF16, "0x1p+128"},
        {LN_BF16, "nan:7fc00000"},
        {LN_BF16, "0x1p-134"},
        {LN_F16, "0x1.002p+0"},
        {LN_F16, "0x1p+16"},
        {LN_F16, "0x1p-25"},
        {LN_F16, "0x1p+0 0x1p+0"},
        {LN_F16, "-nan:7e00"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        double value;
        if (hex_float_parse(bad[i].text, bad[i].type, &value, 0))
            fail_msg("'%s' passes for a number of %s", bad[i].text, dtype_name(bad[i].type));
    }
}

/* Makes a find with random bits in every tensor. */
static void make_find(ln_type storage, ln_type param, hunt_random *random, arena *memory,
                      worst_row *find)
{
    enum { ROWS = 2, HIDDEN = 5 };
    *find = (worst_row){.kernel = "some_kernel",
                        .convention = "torch",
                        .origin = "restart 3 of seed 1: ties, 7 steps",
                        .rows = ROWS,
                        .hidden = HIDDEN,
                        .parameters = HIDDEN,
                        .storage = storage,
                        .param = param,
                        .verdict.kind = VERDICT_PASS,
                        .row_ulp = 0.1,
                        .bound_row_ulp = INFINITY,
                        .row = 1,
                        .column = 4,
                        .computed = 1.0 / 3,
                        .exact = 0.3,
                        .y_hash = UINT64_C(0xfedcba9876543210),
                        .score = 0.1,
                        .restart = 3};
    uint32_t x[2 * ROWS * HIDDEN], gamma[2 * HIDDEN], beta[2 * HIDDEN];
    for (size_t i = 0; i < 2 * ROWS * HIDDEN; i++)
        x[i] = hunt_draw(random);
    for (size_t i = 0; i < 2 * HIDDEN; i++) {
        gamma[i] = hunt_draw(random);
        beta[i] = hunt_draw(random);
    }
    find->inputs[ROLE_X] = x;
    find->inputs[ROLE_GAMMA] = gamma;
    find->inputs[ROLE_BETA] = beta;
    worst_row_keep(memory, find);
}

static void check_same(const worst_row *a, const worst_row *b)
{
    size_t parameters = a->parameters * dtype_size(a->param);
    assert_int_equal(a->storage, b->storage);
    assert_int_equal(a->param, b->param);
    assert_memory_equal(a->inputs[ROLE_X], b->inputs[ROLE_X],
                        a->rows * a->hidden * dtype_size(a->storage));
    assert_memory_equal(a->inputs[ROLE_GAMMA], b->inputs[ROLE_GAMMA], parameters);
    assert_memory_equal(a->inputs[ROLE_BETA], b->inputs[ROLE_BETA], parameters);
    assert_string_equal(a->kernel, b->kernel);
    assert_string_equal(a->origin, b->origin);
    assert_true(a->row_ulp == b->row_ulp && a->bound_row_ulp == b->bound_row_ulp);
    assert_true(a->computed == b->computed && a->exact == b->exact && a->score == b->score);
    assert_true(a->y_hash == b->y_hash && a->restart == b->restart);
}

TEST(test_finds)
{
    hunt_random random = {.seed = 5};
    worst_row finds[TYPES * TYPES];
    char path[64];
    text_buffer out = {0};
    arena memory = {0};
    snprintf(path, sizeof path, "worst_row_test.%ld.txt", (long)getpid());
    for (size_t i = 0; i < TYPES * TYPES; i++) {
        make_find(types[i / TYPES], types[i % TYPES], &random, &memory, &finds[i]);
        worst_row_format(&finds[i], &out);
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(out.bytes, 1, out.length, file), out.length);
    assert_int_equal(fclose(file), 0);
    worst_list list = {0};
    worst_list_read(path, &list);
    assert_int_equal(list.count, TYPES * TYPES);
    for (size_t i = 0; i < list.count; i++)
        check_same(&finds[i], &list.rows[i]);
    arena_free(&memory);
    worst_list_free(&list);
    text_free(&out);
    remove(path);
}

/* A row of its type's largest numbers stays finite after many changes, every bit of an element changes, and the same
 * random numbers give the same row. */
TEST(test_moves)
{
    enum { HIDDEN = 7, TURNS = 3000 };
    for (size_t t = 0; t < TYPES; t++) {
        ln_type type = types[t];
        size_t bytes = HIDDEN * dtype_size(type);
        uint64_t x[2][HIDDEN] = {{0}}, seen = 0, first;
        for (int twice = 0; twice < 2; twice++) {
            hunt_random random = {.seed = 9, .restart = t};
            double large = type == LN_F16 ? 60000 : type == LN_F64 ? 1.7e308 : 3e38;
            for (size_t i = 0; i < HIDDEN; i++)
                storage_store(type, x[twice], i, i % 2 ? large : -large);
            first = x[twice][0];
            for (int turn = 0; turn < TURNS; turn++) {
                hunt_mutate(&random, type, x[twice], HIDDEN);
                for (size_t i = 0; i < HIDDEN; i++)
                    assert_true(isfinite(storage_load(type, x[twice], i)));
                seen |= x[twice][0] ^ first;
            }
        }
        assert_memory_equal(x[0], x[1], bytes);
        uint64_t all =
            dtype_size(type) == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * dtype_size(type)) - 1;
        assert_true((seen & all) == all);
    }
}
