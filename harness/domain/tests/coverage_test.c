/* The line that says what was asked, done and lost. */
#include "domain/coverage.h"
#include "test.h"

static void expect_line(const coverage *covered, const char *line)
{
    text_buffer out = {0};
    coverage_add_line(&out, covered, "judged");
    assert_string_equal(out.bytes, line);
    text_free(&out);
}

TEST(nothing_is_lost)
{
    expect_line(&(coverage){.asked = 40, .done = 40}, "requested 40, judged 40, missing 0");
    expect_line(&(coverage){.asked = 40, .done = 37, .declined = 3},
                "requested 40, judged 37, unsupported 3, missing 0");
}

TEST(the_first_lost_are_named)
{
    coverage covered = {.asked = 5, .done = 1};
    coverage_lose(&covered, "a", "only in base");
    expect_line(&covered, "requested 5, judged 1, missing 1: a (only in base)");
    coverage_lose(&covered, "b", NULL);
    coverage_lose(&covered, "c", NULL);
    coverage_lose(&covered, "d", NULL);
    expect_line(&covered, "requested 5, judged 1, missing 4: a (only in base); b; c; and 1 more");
    coverage_free(&covered);
}
