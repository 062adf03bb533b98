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
    expect_line(&(coverage){.asked = 40, .done = 40}, "asked 40, judged 40, lost 0");
    expect_line(&(coverage){.asked = 40, .done = 37, .declined = 3},
                "asked 40, judged 37, declined 3, lost 0");
}

TEST(the_first_lost_are_named)
{
    coverage covered = {.asked = 5, .done = 1};
    coverage_lose(&covered, "a", "only in base");
    expect_line(&covered, "asked 5, judged 1, lost 1: a (only in base)");
    coverage_lose(&covered, "b", NULL);
    coverage_lose(&covered, "c", NULL);
    coverage_lose(&covered, "d", NULL);
    expect_line(&covered, "asked 5, judged 1, lost 4: a (only in base); b; c; and 1 more");
    coverage_free(&covered);
}
