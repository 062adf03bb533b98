/* The limits of the accuracy classes, on errors made up for it. */
#include "test.h"
#include "commands/choose/class.h"
#include "inputs/inputs.h"
#include <math.h>
#include <stdio.h>

enum { MOST_FACTS = 512 };

static accuracy_fact facts[MOST_FACTS];
static kernel_evidence made = {.facts = facts};

/* Errors of a kernel: `row_ulp` on one family, 0.5 on the others. */
static void judge(const char *kernel, bool is_peer, const char *input, double row_ulp)
{
    size_t count;
    const input_family *family = input_families(&count);
    for (size_t i = 0; i < count; i++) {
        accuracy_fact *fact = &facts[made.fact_count++];
        assert_true(made.fact_count <= MOST_FACTS);
        bool is_here = strcmp(family[i].name, input) == 0;
        *fact = (accuracy_fact){.hidden = 768,
                                .kappa = NAN,
                                .row_ulp = is_here ? row_ulp : 0.5,
                                .bound = is_here ? row_ulp : 0.5,
                                .is_peer = is_peer,
                                .verdict.kind = VERDICT_OK};
        snprintf(fact->kernel, sizeof fact->kernel, "%s", kernel);
        snprintf(fact->input, sizeof fact->input, "%s", family[i].name);
        if (isinf(row_ulp) && is_here) {
            fact->row_ulp = NAN;
            fact->verdict.kind = VERDICT_WRONG_CLASS;
        }
    }
}

static bool is_of(accuracy_class class, const char *kernel)
{
    bool unjudged;
    char reason[256];
    class_limits(made.facts, made.fact_count);
    return class_has(class, &made, kernel, "", 768, &unjudged, reason, sizeof reason);
}

/* Whether a kernel with this error on positive rows is `fast` beside others with those. */
static bool is_fast(double own, double common, double peer, double other_peer)
{
    made.fact_count = 0;
    judge("own", false, "positive", own);
    if (!isnan(common))
        judge("two_pass_f32_avx2", false, "positive", common);
    if (!isnan(peer))
        judge("peer", true, "positive", peer);
    if (!isnan(other_peer))
        judge("other_peer", true, "positive", other_peer);
    return is_of(CLASS_FAST, "own");
}

TEST(fast_without_peers)
{
    assert_true(is_fast(16, NAN, NAN, NAN));
    assert_false(is_fast(16.1, NAN, NAN, NAN));
    assert_true(is_fast(32, 4, NAN, NAN));
    assert_false(is_fast(32.1, 4, NAN, NAN));
    assert_true(is_fast(128, 1e6, NAN, NAN));
    assert_false(is_fast(129, 1e6, NAN, NAN));
}

TEST(fast_beside_peers)
{
    assert_true(is_fast(8, 1e6, 3, 1)); /* the best peer counts, and the stand-in no more */
    assert_false(is_fast(8.1, 1e6, 3, 1));
    assert_true(is_fast(24, NAN, 3, INFINITY)); /* one that is wrong is no measure */
    assert_false(is_fast(24.1, NAN, 3, INFINITY));
    assert_true(is_fast(4, NAN, 0, 3)); /* exact by chance */
    assert_false(is_fast(4.1, NAN, 0, 3));
    assert_true(is_fast(128, NAN, 1e7, INFINITY));
    assert_false(is_fast(129, NAN, 1e7, INFINITY));
    assert_false(is_fast(INFINITY, NAN, 1e7, INFINITY));
}

TEST(fast_where_squares_overflow)
{
    made.fact_count = 0;
    judge("own", false, "huge", INFINITY);
    judge("peer", true, "huge", 0.5);
    assert_true(is_of(CLASS_FAST, "own"));
    assert_false(is_of(CLASS_ACCURATE, "own"));
}

/* By what is proven: a small error alone will not do, nor will no bound. */
TEST(accurate)
{
    made.fact_count = 0;
    judge("right", false, "positive", 2);
    judge("off", false, "positive", 2.01);
    judge("peer", true, "positive", 100);
    assert_true(is_of(CLASS_ACCURATE, "right"));
    assert_false(is_of(CLASS_ACCURATE, "off"));
    accuracy_fact *fact = &facts[0];
    for (; strcmp(fact->input, "spike") != 0; fact++)
        assert_string_equal(fact->kernel, "right");
    fact->bound = 2.01;
    assert_false(is_of(CLASS_ACCURATE, "right"));
    fact->bound = NAN;
    assert_false(is_of(CLASS_ACCURATE, "right"));
    fact->bound = INFINITY;
    assert_false(is_of(CLASS_ACCURATE, "right"));
    fact->bound = 2;
    assert_true(is_of(CLASS_ACCURATE, "right"));
}

/* Errors without eps are held against `accurate` alone, of that kernel and rows of that length. */
TEST(accurate_without_eps)
{
    static accuracy_fact bare = {
        .kernel = "own", .input = "signed-zeros", .hidden = 768, .kappa = NAN, .row_ulp = NAN};
    is_fast(0.5, NAN, NAN, NAN); /* makes the facts */
    made.bare_facts = &bare;
    made.bare_count = 1;
    bare.verdict.kind = VERDICT_WRONG_CLASS;
    assert_false(is_of(CLASS_ACCURATE, "own"));
    assert_true(is_of(CLASS_FAST, "own"));
    bare.hidden = 4096;
    assert_true(is_of(CLASS_ACCURATE, "own"));
    bare.hidden = 64;
    bare.verdict.kind = VERDICT_OK;
    bare.row_ulp = bare.bound = 2.1;
    assert_false(is_of(CLASS_ACCURATE, "own"));
    bare.row_ulp = bare.bound = 2;
    assert_true(is_of(CLASS_ACCURATE, "own"));
    bare.row_ulp = bare.bound = 3;
    snprintf(bare.kernel, sizeof bare.kernel, "other");
    assert_true(is_of(CLASS_ACCURATE, "own"));
    made.bare_facts = NULL;
    made.bare_count = 0;
}

/* Rows sought to be the worst for some kernel are no family: what is proven of them counts. */
TEST(hunted_rows)
{
    made.fact_count = 0;
    judge("own", false, "positive", 2);
    judge("peer", true, "positive", 2);
    assert_true(made.fact_count + 1 < MOST_FACTS);
    facts[made.fact_count] = facts[0];
    snprintf(facts[made.fact_count].input, sizeof facts->input, "worst");
    accuracy_fact *hunted = &facts[made.fact_count++];
    hunted->row_ulp = 64;
    assert_true(is_of(CLASS_ACCURATE, "own"));
    assert_true(is_of(CLASS_FAST, "own"));
    hunted->bound = 2.01;
    assert_false(is_of(CLASS_ACCURATE, "own"));
    assert_true(is_of(CLASS_FAST, "own"));
}

/* Rows of another length: up to twice as long they count, and shorter ones always. */
TEST(rows_of_another_length)
{
    bool unjudged;
    char reason[256];
    made.fact_count = 0;
    judge("own", false, "positive", 3); /* at 768 */
    const struct {
        size_t hidden;
        bool is_accurate;
    } at[] = {{64, true}, {383, true}, {384, false}, {768, false}, {12288, false}};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        assert_int_equal(class_has(CLASS_ACCURATE, &made, "own", "", at[i].hidden, &unjudged,
                                   reason, sizeof reason),
                         at[i].is_accurate);
}
