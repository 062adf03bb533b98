/* The names of reproducibility classes, and the line that counts requested, completed and missing cases. */
#include "domain/coverage.h"
#include "domain/kernel.h"
#include "test.h"

static const char descriptors[] =
    "[{\"name\":\"measured\",\"reproducibility\":\"run\",\"declared_reproducibility\":\"isa\"},"
    "{\"name\":\"declared\",\"reproducibility\":null,\"declared_reproducibility\":\"isa\"},"
    "{\"name\":\"neither\",\"reproducibility\":null,\"declared_reproducibility\":null},"
    "{\"name\":\"older\"},"
    "{\"name\":\"strange\",\"reproducibility\":\"row\\u001b[31m\",\"declared_reproducibility\":7},"
    "{\"reproducibility\":\"row\"}]";

TEST(test_stored)
{
    json_t *kernels = json_loads(descriptors, 0, NULL);
    assert_non_null(kernels);
    assert_string_equal(reproducible_stored(kernels, "measured"), "run");
    assert_string_equal(reproducible_stored(kernels, "declared"), "(isa)");
    assert_string_equal(reproducible_stored(kernels, "neither"), "-");
    assert_string_equal(reproducible_stored(kernels, "older"), "-");
    assert_string_equal(reproducible_stored(kernels, "strange"), "-");
    assert_string_equal(reproducible_stored(kernels, "copy"), "-");
    assert_string_equal(reproducible_stored(NULL, "measured"), "-");
    json_decref(kernels);
}

TEST(test_found)
{
    const unsigned call = 1u << AXIS_CALL, threads = 1u << AXIS_THREADS, isa = 1u << AXIS_ISA;
    const kernel_facts silent = {0}, row = {.traits = LN_TRAIT_ROW_REPRODUCIBLE},
                       everywhere = {.traits = LN_TRAIT_ISA_REPRODUCIBLE};
    const invariance_result by_call = {.tested = call, .varies = call},
                            by_threads = {.tested = call | threads, .varies = threads},
                            by_isa = {.tested = call | threads | isa, .varies = isa},
                            by_nothing = {.tested = call | threads | isa}, not_run = {0};
    assert_string_equal(reproducible_found(&row, &by_call), "none");
    assert_string_equal(reproducible_found(&everywhere, &by_threads), "run");
    assert_string_equal(reproducible_found(&silent, &by_isa), "row");
    assert_string_equal(reproducible_found(&row, &by_nothing), "isa");
    assert_string_equal(reproducible_found(&row, &not_run), "(row)");
    assert_string_equal(reproducible_found(&everywhere, NULL), "(isa)");
    assert_string_equal(reproducible_found(&silent, NULL), "-");
}

/* A class that was not measured is neither lower nor higher than any other. */
TEST(test_less)
{
    static const char *const order[] = {"none", "run", "row", "isa"};
    for (int before = 0; before < 4; before++)
        for (int after = 0; after < 4; after++)
            assert_int_equal(reproducible_is_less(order[before], order[after]), after < before);
    assert_false(reproducible_is_less("isa", "-"));
    assert_false(reproducible_is_less("isa", "(row)"));
    assert_false(reproducible_is_less("(isa)", "run"));
    assert_false(reproducible_is_less("-", "none"));
}

TEST(test_both)
{
    char buffer[32];
    assert_string_equal(reproducible_both("row", "row", buffer), "row");
    assert_string_equal(reproducible_both("row", "run", buffer), "run was row");
    assert_string_equal(reproducible_both("-", "(row)", buffer), "(row) was -");
}

TEST(test_json)
{
    json_t *row = reproducible_json("row");
    assert_string_equal(json_string_value(row), "row");
    json_decref(row);
    static const char *const unmeasured[] = {"(row)", "-", "strange", NULL};
    for (int i = 0; i < 4; i++)
        assert_true(json_is_null(reproducible_json(unmeasured[i])));
}

/* ---- coverage ---- */

static void expect_line(const coverage *covered, const char *line)
{
    text_buffer out = {0};
    coverage_add_line(&out, covered, "judged");
    assert_string_equal(out.bytes, line);
    text_free(&out);
}

TEST(nothing_is_missing)
{
    expect_line(&(coverage){.requested = 40, .done = 40}, "requested 40, judged 40, missing 0");
    expect_line(&(coverage){.requested = 40, .done = 37, .unsupported = 3},
                "requested 40, judged 37, unsupported 3, missing 0");
}

TEST(the_first_missing_are_named)
{
    coverage covered = {.requested = 5, .done = 1};
    coverage_missing(&covered, "a", "only in base");
    expect_line(&covered, "requested 5, judged 1, missing 1: a (only in base)");
    coverage_missing(&covered, "b", NULL);
    coverage_missing(&covered, "c", NULL);
    coverage_missing(&covered, "d", NULL);
    expect_line(&covered, "requested 5, judged 1, missing 4: a (only in base); b; c; and 1 more");
    coverage_free(&covered);
}
