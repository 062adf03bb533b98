/* The chart of how far conventions lie apart. */
#include "test.h"

#include "domain/convention.h"
#include "commands/distance/distance.h"
#include "markup.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const directory = "distance-chart";

static ln_convention parse(const char *list)
{
    ln_convention convention;
    error err;
    if (!convention_parse(list, &convention, &err))
        fail_msg("%s", err.message);
    return convention;
}

static char *drawn(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return slurp(path);
}

static bool draw_chart(const char *own_list, error *err)
{
    ln_convention own = parse(own_list);
    distance_list others;
    distance_list_neighbours(&own, &others);
    const output_file out = {.file = stdout};
    bool drew = distance_chart(&own, &others, 768, 1, directory, &out, err);
    distance_list_free(&others);
    return drew;
}

/* The y of panel, series and x in the table; NaN where it is not there. */
static double point_of(const char *table, int panel, int series, double x)
{
    for (const char *line = strchr(table, '\n'); line && line[1]; line = strchr(line + 1, '\n')) {
        double found_x, y;
        int found_panel, found_series;
        if (sscanf(line + 1, "%d\t%d\t%lg\t%lg", &found_panel, &found_series, &found_x, &y) == 4 &&
            found_panel == panel && found_series == series && found_x == x)
            return y;
    }
    return NAN;
}

/* z-scores without eps: 1 - sqrt(1 / 2) at hidden 2 and 1 - sqrt(7 / 8) at hidden 8 off the biased
 * ones, in ULP of a number from 1 / 2 to 1, and as far at every std. */
TEST(test_drawn)
{
    error err = {0};
    if (!draw_chart("zscore", &err))
        fail_msg("%s", err.message);
    char *drawing = drawn("distance.svg"), *table = drawn("data/distance.tsv");
    char *png = drawn("distance.png");
    assert_true(drawing && table && png);
    assert_true(is_balanced(drawing));
    assert_non_null(strstr(drawing, "divisor N"));
    assert_non_null(strstr(drawing, "1e-05 eps@quotient"));
    assert_non_null(strstr(drawing, "should be zscore"));
    assert_true(fabs(point_of(table, 1, 1, 2) - (1 - sqrt(0.5)) * 0x1p24) < 1e-4);
    assert_true(fabs(point_of(table, 1, 1, 8) - (1 - sqrt(0.875)) * 0x1p24) < 1e-4);
    assert_true(fabs(point_of(table, 2, 1, 1) - (1 - sqrt(767.0 / 768)) * 0x1p24) < 1e-4);
    assert_true(fabs(point_of(table, 2, 1, 100) - (1 - sqrt(767.0 / 768)) * 0x1p24) < 1e-4);
    /* Relative to the z-score itself. */
    assert_true(fabs(point_of(table, 3, 1, 2) - (sqrt(2) - 1)) < 1e-11);
    assert_true(fabs(point_of(table, 3, 1, 8) - (sqrt(8.0 / 7) - 1)) < 1e-11);
    assert_true(fabs(point_of(table, 4, 1, 100) - (sqrt(768.0 / 767) - 1)) < 1e-11);
    assert_non_null(strstr(drawing, "distance (ULP of f32)"));
    assert_non_null(strstr(drawing, "distance / largest element"));
    assert_non_null(strstr(drawing, "hidden (elements), at std 1"));
    assert_non_null(strstr(drawing, "std of the row, at hidden 768"));
    assert_non_null(strstr(drawing, "| commit "));
    free(drawing);
    free(table);
    free(png);
}

TEST(test_refused)
{
    error err = {0};
    char *path = strdup(getenv("PATH"));
    assert_int_equal(setenv("PATH", "/nowhere", 1), 0);
    assert_true(draw_chart("torch", &err)); /* the tables; an older drawing is gone */
    assert_null(drawn("distance.svg"));
    assert_non_null(drawn("data/distance.tsv"));
    setenv("PATH", path, 1);
    free(path);
    setenv("LNBENCH_PLOTS", "/nowhere", 1);
    assert_false(draw_chart("torch", &err));
    unsetenv("LNBENCH_PLOTS");
    assert_int_equal(err.code, EXIT_CODE_ENVIRONMENT);
    assert_non_null(strstr(err.message, "/nowhere"));
}
