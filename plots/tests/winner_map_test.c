/* The map of winners, tooltips, and the report in its other forms. */
#include "test.h"

#include "report_parts.h"
#include "sample_view.h"
#include <stdlib.h>
#include <string.h>

static char *slurp(const char *directory, const char *name)
{
    char path[512], *contents;
    error error = {0};
    snprintf(path, sizeof path, "%s/%s", directory, name);
    if (!report_read_file(path, &contents, &error))
        fail_msg("%s", error.message);
    return contents;
}

static sample *three_kernels(void)
{
    static const size_t hidden[] = {64, 768, 4096};
    static const double gbps[] = {80, 45, 2};
    static const char *const names[] = {"fused_f32_avx512", "two_pass_f32_avx2",
                                        "welford_f32_scalar"};
    static const char *const statistics[] = {"fused", "two_pass", "welford"};
    static const char *const isas[] = {"avx512", "avx2", "scalar"};
    sample *sample = sample_create();
    assert_non_null(sample);
    for (size_t i = 0; i < 3; i++) {
        sample_kernel(sample, names[i], statistics[i], isas[i]);
        for (size_t j = 0; j < 3; j++)
            sample_speed(sample, names[i], 65536 / hidden[j], hidden[j], gbps[i]);
    }
    for (size_t j = 0; j < 3; j++)
        sample_speed(sample, "roof_copy", 65536 / hidden[j], hidden[j], 100);
    return sample;
}

/* fused is the fastest everywhere: it has a letter, the others have none. Tooltips are elements,
 * not scripts. */
static void test_winners_and_tips(void **state)
{
    (void)state;
    sample *sample = three_kernels();
    report_result result;
    error error = {0};
    assert_true(report_write(&sample->view, PLOTS_DIRECTORY, "winners", false, &result, &error));
    char *cells = slurp("winners", "data/winner_map.tsv");
    char *key = slurp("winners", "data/winner_map_key.tsv");
    assert_non_null(strstr(cells, "\n1\t0\t0\tA\t"));
    assert_non_null(strstr(cells, "\n1\t2\t0\tA\t"));
    assert_non_null(strstr(key, "1\tA\tfused_f32_avx512\t3\n"));
    assert_null(strstr(key, "welford"));
    char *svg = slurp("winners", "throughput_l2.svg");
    assert_non_null(strstr(svg, "<title>fused_f32_avx512, 1024 x 64: 80.0 GB/s"));
    assert_null(strstr(svg, "gnuplot_svg"));
    assert_null(strstr(svg, "onmouse"));
    char *pdf = slurp("winners", "winner_map.pdf");
    assert_memory_equal(pdf, "%PDF", 4);
    char *page = slurp("winners", "report.md");
    assert_non_null(strstr(page, "![Share of the roof at"));
    assert_non_null(strstr(page, "](roof_share.png)"));
    assert_non_null(strstr(page, "`lnbench run --plan"));
    assert_null(strstr(page, "<td"));
    free(page);
    free(pdf);
    free(svg);
    free(key);
    free(cells);
    sample_free(sample);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_winners_and_tips)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
