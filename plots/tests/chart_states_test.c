/* The charts of threads, of cache states, of data through the caches, and of how errors are spread.
 */
#include "test.h"

#include "report_parts.h"
#include "sample_view.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *slurp(const char *directory, const char *name)
{
    char path[512], *contents;
    error error = {0};
    snprintf(path, sizeof path, "%s/%s", directory, name);
    if (!report_read_file(path, &contents, &error)) {
        fail_msg("%s", error.message);
        return NULL;
    }
    return contents;
}

static void write_report(const sample *sample, const char *directory, report_result *result)
{
    error error = {0};
    if (!report_write(&sample->view, PLOTS_DIRECTORY, directory, false, result, &error))
        fail_msg("%s", error.message);
}

static bool was_drawn(const report_result *result, const char *stem)
{
    for (size_t i = 0; i < result->chart_count; i++)
        if (strstr(result->charts[i], stem))
            return true;
    return false;
}

/* Two kernels and a roof at two shapes of hidden 768, on 1 and 2 threads, hot, and cold on 1. */
static sample *state_sample(void)
{
    static const char *const names[] = {"fused_f32_avx512", "two_pass_f32_avx2", "roof_copy"};
    static const double gbps[] = {80, 40, 100};
    static const size_t rows[] = {85, 9000};
    sample *sample = sample_create();
    assert_non_null(sample);
    sample_kernel(sample, names[0], "shifted", "avx512");
    sample_kernel(sample, names[1], "two_pass", "avx2");
    for (size_t i = 0; i < 3; i++)
        for (size_t shape = 0; shape < 2; shape++)
            for (int of = 0; of < 3; of++) {
                double speed = gbps[i] / (shape ? 4 : 1) * (of == 1 ? 1.5 : of == 2 ? 0.25 : 1);
                stored_case *stored = sample_speed(sample, names[i], rows[shape], 768, speed);
                stored->key.threads = of == 1 ? 2 : 1;
                stored->key.cache = of == 2 ? CACHE_COLD : CACHE_HOT;
                if (shape)
                    sample->views[sample->view.cases.count - 1].regime = "DRAM";
            }
    return sample;
}

static void test_threads_and_caches(void **state)
{
    (void)state;
    sample *sample = state_sample();
    report_result result;
    write_report(sample, "states", &result);
    assert_string_equal(result.note, "");
    assert_true(was_drawn(&result, "/threads.svg") && was_drawn(&result, "/hot_cold.svg") &&
                was_drawn(&result, "/throughput_size.svg"));
    /* Panel 1 is L2, panel 2 DRAM; 80 and 120 GB/s; a share of 0.8 and 1.2 of the sample's roof. */
    char *points = slurp("states", "data/threads.tsv");
    assert_non_null(strstr(points, "1\t1\tfused_f32_avx512\t1\t80\t"));
    assert_non_null(strstr(points, "1\t1\tfused_f32_avx512\t2\t120\t"));
    assert_non_null(strstr(points, "2\t2\ttwo_pass_f32_avx2\t2\t15\t"));
    assert_non_null(strstr(points, "1\t3\troof_copy\t2\t150\t"));
    free(points);
    points = slurp("states", "data/hot_cold.tsv");
    assert_non_null(strstr(points, "1\t1\tfused_f32_avx512\t1.5\t80\t"));
    assert_non_null(strstr(points, "\t20\t")); /* 80 / 4 cold */
    assert_null(strstr(points, "120"));        /* two threads are another matter */
    free(points);
    /* 85 x 768 x 8 bytes, and where 32 KiB, 1 MiB and 32 MiB end: only L2 and L3 lie between. */
    points = slurp("states", "data/throughput_size.tsv");
    assert_non_null(strstr(points, "1\tfused_f32_avx512\t85\t522240\t80\t"));
    assert_non_null(strstr(points, "1\tfused_f32_avx512\t9000\t55296000\t20\t"));
    free(points);
    char *marks = slurp("states", "data/throughput_size_marks.tsv");
    assert_non_null(strstr(marks, "1048576\tL2, 1 MiB\n33554432\tL3, 32 MiB\n"));
    assert_null(strstr(marks, "L1"));
    free(marks);
    char *svg = slurp("states", "threads.svg");
    assert_non_null(strstr(svg, "<title>fused_f32_avx512, 2 threads: 120 GB/s"));
    free(svg);
    char *page = slurp("states", "index.html");
    assert_non_null(strstr(page, "--cache hot,cold"));
    assert_non_null(strstr(page, "--threads 1,2"));
    /* What to take: the fastest, which is also accurate; two threads and cold caches do not count.
     */
    assert_non_null(strstr(page, "<tr><td class=\"word\">f32</td><td class=\"word\">avx512</td>"
                                 "<td class=\"word\">L2: 85 &times; 768</td>"
                                 "<td class=\"word name\">fused_f32_avx512"
                                 "<br><small class=\"left-out\">reproducible: (isa)</small></td>"
                                 "<td data-value=\"8e+01\">80.0</td><td data-value=\"0.8\">"));
    free(page);
    sample_free(sample);
}

static void test_what_to_take(void **state)
{
    (void)state;
    sample *sample = state_sample();
    report_result result;
    /* The fastest is off on one input, and makes no claim there: it is named, with a more accurate
     * one beside it. */
    stored_case *off = sample_judged(sample, "fused_f32_avx512", "huge", 50, VERDICT_INACCURATE);
    off->verdict.declared = true;
    sample_kernel(sample, "two_pass_f32_avx512", "two_pass", "avx512");
    sample_speed(sample, "two_pass_f32_avx512", 85, 768, 30);
    write_report(sample, "take", &result);
    char *page = slurp("take", "index.html");
    assert_non_null(strstr(page,
                           "<td class=\"declared\" title=\"inaccurate\" data-value=\"5e+01\">50.0"
                           "</td><td class=\"word name\">two_pass_f32_avx512"
                           "<br><small class=\"left-out\">reproducible: row</small></td>"
                           "<td data-value=\"3e+01\">30.0</td></tr>"));
    assert_non_null(
        strstr(page, "1 kernel is wrong on some hard rows for which it makes no claim"));
    /* The class, in the tables of inputs and of the worst ones as well. */
    assert_non_null(strstr(page, "fused_f32_avx512</td><td class=\"word\">(isa)</td><td"));
    assert_non_null(strstr(page, "<th>kernel</th><th class=\"word\">reproducible</th>"));
    free(page);
    sample_free(sample);
}

/* A quarter below 1/64 ulp, half of them between 1/2 and 1, a quarter beyond 2^24. */
static void test_histogram(void **state)
{
    (void)state;
    sample *sample = sample_create();
    report_result result;
    sample_kernel(sample, "two_pass_f32_avx2", "two_pass", "avx2");
    stored_case *stored = sample_judged(sample, "two_pass_f32_avx2", "normal", 3, VERDICT_OK);
    stored->metrics.elements = 400;
    stored->metrics.ulp_histogram[0] = 100;
    stored->metrics.ulp_histogram[ulp_bin(0.75)] = 200;
    stored->metrics.ulp_histogram[ULP_BINS - 1] = 100;
    stored_case *fewer = sample_judged(sample, "two_pass_f32_avx2", "normal", 3, VERDICT_OK);
    fewer->metrics.elements = 4;
    fewer->metrics.ulp_histogram[3] = 4;
    write_report(sample, "spread", &result);
    assert_true(was_drawn(&result, "/ulp_histogram.svg"));
    char *points = slurp("spread", "data/ulp_histogram.tsv");
    assert_non_null(strstr(points, "1\t1\ttwo_pass_f32_avx2\tnormal\t0.01104"));
    assert_non_null(strstr(points, "\t0.25\tNaN\t0\t"));
    assert_non_null(strstr(points, "\t0.7071067811865476\t0.5\tNaN\t0\t"));
    assert_null(strstr(points, "\t1\tNaN\t0\t")); /* not the case of few elements */
    free(points);
    sample_free(sample);
}

/* A run of two types: each has its charts, with its kernels alone, and a report of one
 * type that is written over them leaves none of the other's. */
static void test_each_type_has_its_charts(void **state)
{
    (void)state;
    sample *sample = sample_create();
    report_result result;
    sample_kernel(sample, "two_pass_f32_avx2", "two_pass", "avx2");
    sample_kernel(sample, "fused_bf16_avx2", "shifted", "avx2");
    for (int i = 0; i < 2; i++) {
        sample_judged(sample, "two_pass_f32_avx2", i ? "kappa" : "offset", 3, VERDICT_OK);
        sample_row(sample, 100, 3, 40);
    }
    sample_judged(sample, "fused_bf16_avx2", "offset", 0.5, VERDICT_OK)->key.dtype = LN_BF16;
    sample_row(sample, 10, 0.5, 1);
    sample_kernel(sample, "fused_f16_avx2", "shifted", "avx2");
    sample_judged(sample, "fused_f16_avx2", "constant", 0.5, VERDICT_OK)->key.dtype = LN_F16;
    for (int i = 0; i < 3; i++) /* in this order, so that most are of f32 */
        sample_speed(sample, "two_pass_f32_avx2", 85, i == 0 ? 768 : i == 1 ? 64 : 1024, 50);
    sample_speed(sample, "fused_bf16_avx2", 170, 768, 60)->key.dtype = LN_BF16;
    write_report(sample, "types", &result);
    assert_true(was_drawn(&result, "/throughput_l2.svg"));
    assert_true(was_drawn(&result, "/throughput_l2_bf16.svg"));
    assert_true(was_drawn(&result, "/speed_error_bf16.svg"));
    assert_true(was_drawn(&result, "/winner_map_bf16.svg"));
    assert_false(was_drawn(&result, "/throughput_l2_f16.svg")); /* judged, but not timed */
    assert_true(was_drawn(&result, "/error_kappa.svg"));
    assert_true(was_drawn(&result, "/error_kappa_bf16.svg"));
    assert_true(was_drawn(&result, "/variance_kappa_bf16.svg"));
    assert_false(was_drawn(&result, "/error_hidden_bf16.svg")); /* nothing of it is there */
    assert_false(was_drawn(&result, "/error_kappa_f16.svg"));   /* judged, but of no kappa */
    char *points = slurp("types", "data/error_kappa.tsv");
    assert_non_null(strstr(points, "two_pass_f32_avx2"));
    assert_null(strstr(points, "fused_bf16_avx2"));
    free(points);
    points = slurp("types", "data/error_kappa_bf16.tsv");
    assert_null(strstr(points, "two_pass_f32_avx2"));
    assert_non_null(strstr(points, "fused_bf16_avx2\toffset\t10\t0.5\t1\t"));
    free(points);
    points = slurp("types", "data/throughput_l2_bf16.tsv");
    assert_null(strstr(points, "two_pass_f32_avx2"));
    assert_non_null(strstr(points, "fused_bf16_avx2\t170\t768\t60\t"));
    free(points);
    char *page = slurp("types", "index.html");
    assert_non_null(strstr(page, "id=\"error_kappa_bf16\""));
    assert_non_null(strstr(page, "id=\"throughput_l2_bf16\""));
    assert_non_null(strstr(page, "--only speed --conventions torch --dtypes bf16 --cache hot "
                                 "--threads 1 --shapes 170x768"));
    assert_non_null(strstr(page, "--only accuracy --conventions torch --dtypes bf16"));
    free(page);
    sample->view.cases.count = sample->view.rows.count = 2;
    write_report(sample, "types", &result);
    assert_true(was_drawn(&result, "/error_kappa.svg"));
    assert_int_equal(access("types/error_kappa.png", F_OK), 0);
    assert_int_not_equal(access("types/error_kappa_bf16.png", F_OK), 0);
    assert_int_not_equal(access("types/throughput_l2_bf16.png", F_OK), 0);
    sample_free(sample);
}

static const char *next_line(const char *line)
{
    const char *end = strchr(line, '\n');
    return end && end[1] ? end + 1 : NULL;
}

/* Where the panel to the right of a place begins; the edge of the chart where there is none. */
static double right_of(const char *panels, double left)
{
    double nearest = 1000, at;
    for (const char *line = next_line(panels); line; line = next_line(line)) {
        assert_int_equal(sscanf(line, "%*d %*s %lf", &at), 1);
        nearest = at > left && at < nearest ? at : nearest;
    }
    return nearest;
}

/* A dozen kinds of statistics, with names as long as ours get: none may run into the next panel's.
 */
static void test_names_have_room(void **state)
{
    (void)state;
    sample *sample = sample_create();
    report_result result;
    char name[NAME_MAX_LENGTH], statistics[12][16], shown[NAME_MAX_LENGTH];
    for (int i = 0; i < 12; i++) {
        static const char *const isas[] = {"avx512", "avx2", "scalar"};
        snprintf(statistics[i], sizeof statistics[i], "lanewise%c", 'a' + i);
        snprintf(name, sizeof name, "%s_guarded_fused_nt_f32_acc_f64_%s", statistics[i],
                 isas[i % 3]);
        sample_kernel(sample, name, statistics[i], isas[i % 3]);
        sample_judged(sample, name, "offset", 3, VERDICT_OK);
        sample_row(sample, 100, 3, 40);
    }
    write_report(sample, "long_names", &result);
    char *panels = slurp("long_names", "data/error_kappa_panels.tsv");
    char *names = slurp("long_names", "data/error_kappa_names.tsv");
    size_t seen = 0;
    for (const char *line = next_line(names); line; line = next_line(line)) {
        double left, top;
        assert_int_equal(sscanf(line, "%*d %63s %lf %lf", shown, &left, &top), 3);
        /* With three ISAs the legend has a second line, at 91; titles stand 17 above names. */
        assert_true(top - 17 >= 91 + 12);
        if (left + 32 + layout_text_width(shown) > right_of(panels, left))
            fail_msg("%s at %g runs into the panel at %g", shown, left, right_of(panels, left));
        seen++;
    }
    assert_int_equal(seen, 12);
    free(panels);
    free(names);
    sample_free(sample);
}

/* What was not measured has no chart, and the page says why. */
static void test_reasons(void **state)
{
    (void)state;
    sample *sample = sample_create();
    report_result result;
    sample_speed(sample, "mystery", 85, 768, 10)->judged = false;
    write_report(sample, "reasons", &result);
    char *page = slurp("reasons", "index.html");
    assert_non_null(strstr(page, "since no kernel gave mean and rstd"));
    assert_non_null(strstr(page, "since the run has 1 thread only"));
    assert_non_null(strstr(page, "since no kernel was timed both hot and cold"));
    assert_non_null(strstr(page, "since no judged case of normal input has a histogram"));
    assert_non_null(strstr(page, "since no hidden size was timed with different numbers of rows"));
    free(page);
    sample_free(sample);
}

/* Of very many lines the best are named: the fastest at each size, of each library, of those that
 * are accurate everywhere, and the most accurate; the others are drawn all the same. */
static void test_lines_that_are_named(void **state)
{
    (void)state;
    enum { KERNELS = 26, NAMED_MOST = 12 };
    static const char *const wanted[] = {"k00_f32",  "k25_f32",   "onednn_f32",
                                         "ours_f32", "exact_f32", "roof_copy"};
    static const char *const not_wanted[] = {"onednn_call_f32", "k20_f32", "k24_f32"};
    sample *sample = sample_create();
    assert_non_null(sample);
    char names[KERNELS][32];
    for (int i = 0; i < KERNELS; i++) {
        snprintf(names[i], sizeof names[i], "k%02d_f32", i);
        sample_kernel(sample, names[i], "naive", "avx2");
        sample_speed(sample, names[i], 85, 768, 90 - i);
        sample_speed(sample, names[i], 16, 4096, i == 25 ? 88 : 80 - i); /* there the last wins */
        sample_judged(sample, names[i], "offset", 1e6, VERDICT_OK);
    }
    static const struct {
        const char *name;
        double gbps, row_ulp;
    } others[] = {{"onednn_f32", 30, 1e6},
                  {"onednn_call_f32", 29, 1e6},
                  {"ours_f32", 28, 3},
                  {"exact_f32", 10, 0.5},
                  {"between_f32", 20, 2}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        sample_kernel(sample, others[i].name, "two_pass", "avx2");
        sample_speed(sample, others[i].name, 85, 768, others[i].gbps)->metrics.row_ulp_max = 0.5;
        sample_judged(sample, others[i].name, "offset", others[i].row_ulp, VERDICT_OK);
    }
    sample_speed(sample, "roof_copy", 85, 768, 100);
    report_result result;
    write_report(sample, "named", &result);
    char *labels = slurp("named", "data/throughput_l2_labels.tsv");
    char *svg = slurp("named", "throughput_l2.svg");
    char cell[64];
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        snprintf(cell, sizeof cell, "\t%s\t", wanted[i]);
        if (!strstr(labels, cell))
            fail_msg("%s is not named", wanted[i]);
    }
    for (size_t i = 0; i < sizeof not_wanted / sizeof *not_wanted; i++) {
        snprintf(cell, sizeof cell, "\t%s\t", not_wanted[i]);
        if (strstr(labels, cell))
            fail_msg("%s is named", not_wanted[i]);
        snprintf(cell, sizeof cell, "<title>%s, 85 x 768: ", not_wanted[i]);
        assert_non_null(strstr(svg, cell));
    }
    size_t count = 0;
    for (const char *line = labels; (line = strchr(line, '\n')); line++)
        count++; /* the heading's too */
    assert_true(count <= NAMED_MOST + 2);
    assert_non_null(strstr(svg, "; grey: "));
    free(labels);
    free(svg);
    sample_free(sample);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_and_caches),
        cmocka_unit_test(test_what_to_take),
        cmocka_unit_test(test_histogram),
        cmocka_unit_test(test_lines_that_are_named),
        cmocka_unit_test(test_each_type_has_its_charts),
        cmocka_unit_test(test_names_have_room),
        cmocka_unit_test(test_reasons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
