/* The covering array contains the combinations that it claims to contain; this test counts them itself. */
#include "conformance/problems.h"
#include "test.h"
#include <string.h>

static const ln_convention torch = {
    .eps_place = LN_EPS_VAR, .eps = 1e-5, .affine = LN_AFFINE_VECTOR};

static arena memory;

static covering_array array_of(const factor_table *table, unsigned strength, size_t most,
                               uint64_t seed)
{
    const covering_request request = {.factors = table->count,
                                      .levels = table->levels,
                                      .strength = strength,
                                      .most = most,
                                      .seed = seed,
                                      .allows = factors_allow,
                                      .context = table};
    return covering_make(&memory, &request);
}

/* Returns the number of different triples of levels of three factors in the array. */
static size_t count_triples(const covering_array *array, size_t a, size_t b, size_t c)
{
    static bool seen[COVERING_LEVELS][COVERING_LEVELS][COVERING_LEVELS];
    size_t count = 0;
    memset(seen, 0, sizeof seen);
    for (size_t i = 0; i < array->count; i++) {
        const int8_t *levels = covering_entry(array, i);
        bool *at = &seen[levels[a]][levels[b]][levels[c]];
        count += !*at;
        *at = true;
    }
    return count;
}

TEST(every_triple_is_there_within_900_problems)
{
    factor_table *table = factors_of(&memory, &torch, false, false);
    covering_array array = array_of(table, 3, 900, 1);
    size_t count = 0;
    for (size_t c = 2; c < table->count; c++)
        for (size_t b = 1; b < c; b++)
            for (size_t a = 0; a < b; a++)
                count += count_triples(&array, a, b, c);
    assert_int_equal(array.covered, array.tuples);
    assert_int_equal(count, array.tuples);
    assert_true(array.tuples > 150000);
    for (size_t i = 0; i < array.count; i++)
        assert_true(factors_allow(table, covering_entry(&array, i)));
    arena_free(&memory);
}

TEST(a_part_says_how_much_it_holds_and_begins_as_the_whole)
{
    factor_table *table = factors_of(&memory, &torch, true, false);
    covering_array all = array_of(table, 3, 900, 1), part = array_of(table, 3, 100, 1);
    covering_array other = array_of(table, 3, 100, 2), pairs = array_of(table, 2, 900, 1);
    assert_true(part.covered < part.tuples && part.covered > part.tuples / 2);
    assert_memory_equal(part.entries, all.entries, part.count * part.factors);
    assert_memory_not_equal(part.entries, other.entries, part.count * part.factors);
    assert_true(pairs.covered == pairs.tuples && pairs.count < all.count);
    arena_free(&memory);
}

TEST(problems_have_every_size_and_keep_to_their_elements)
{
    const combinations_request request = {.defaults = torch, .alone = true, .seed = 3};
    combination_set *set = combinations_make(&memory, &request);
    bool seen[1101] = {0};
    for (size_t i = 0; i < combinations_count(set); i++) {
        combination of = combinations_at(set, i);
        ln_problem problem = combination_problem(&of, LN_F32, LN_F32);
        size_t most = of.table->large || of.hidden ? LARGE_ELEMENTS * 2 : COMBINATION_ELEMENTS;
        assert_true(problem.rows * problem.hidden <= most);
        if (problem.hidden <= 1100)
            seen[problem.hidden] = true;
    }
    for (size_t hidden = 1; hidden <= 1100; hidden++)
        assert_true(seen[hidden]);
    arena_free(&memory);
}
