/* The report as a whole: what is drawn, what is said where nothing can be drawn, and what becomes
 * of names that somebody made up to do harm. */
#include "test.h"

#include "markup.h"
#include "report_parts.h"
#include "sample_view.h"
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *next_line(const char *line)
{
    const char *end = strchr(line, '\n');
    return end && end[1] ? end + 1 : NULL;
}

static const char *const all_stems[] = {"throughput_l2", "roof_share", "error_kappa",
                                        "variance_kappa", "speed_error"};
enum { STEMS = 5, CHARTS = STEMS + 2 }; /* a map, which names winners only, and error over hidden */

static char *slurp(const char *directory, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    text contents = {0};
    char buffer[4096];
    size_t got;
    text_add(&contents, "");
    while ((got = fread(buffer, 1, sizeof buffer, file)) > 0)
        text_add_bytes(&contents, buffer, got);
    fclose(file);
    return contents.bytes;
}

static char *slurp_drawing(const char *directory, const char *stem, const char *format)
{
    char name[64];
    snprintf(name, sizeof name, "%s.%s", stem, format);
    return slurp(directory, name);
}

static const struct {
    const char *name, *statistics, *isa;
    double gbps;
} plain_kernels[] = {{"fused_f32_avx512", "fused", "avx512", 80},
                     {"two_pass_f32_avx2", "two_pass", "avx2", 45},
                     {"welford_f32_scalar", "welford", "scalar", 2},
                     {"naive_f32_avx512", "naive", "avx512", 60}};
enum { PLAIN_KERNELS = 4 };

/* Four kernels, three sizes, errors over kappa. */
static sample *plain_sample(void)
{
    static const size_t hidden[] = {64, 768, 4096};
    sample *sample = sample_create();
    assert_non_null(sample);
    for (size_t i = 0; i < PLAIN_KERNELS; i++) {
        const char *name = plain_kernels[i].name;
        sample_kernel(sample, name, plain_kernels[i].statistics, plain_kernels[i].isa);
        for (size_t j = 0; j < 3; j++)
            sample_speed(sample, name, 65536 / hidden[j], hidden[j],
                         plain_kernels[i].gbps * (1 + 0.05 * (double)j));
        sample_judged(sample, name, "offset", 1e5, VERDICT_OK);
        for (double kappa = 1; kappa < 1e6; kappa *= 10)
            sample_row(sample, kappa, kappa * 0.1 * (1 + (double)i), kappa * 100);
    }
    for (size_t j = 0; j < 3; j++) {
        sample_speed(sample, "roof_copy", 65536 / hidden[j], hidden[j], 100);
        sample_speed(sample, "roof_copy_nt", 65536 / hidden[j], hidden[j], 90);
    }
    return sample;
}

static void write_report(const sample *sample, const char *directory, report_result *result)
{
    error error = {0};
    if (!report_write(&sample->view, PLOTS_DIRECTORY, directory, false, result, &error))
        fail_msg("%s", error.message);
}

static void test_charts_show_every_kernel(void **state)
{
    (void)state;
    sample *sample = plain_sample();
    report_result result;
    write_report(sample, "plain", &result);
    assert_string_equal(result.note, "");
    assert_true(result.charts_drawn);
    assert_int_equal(result.chart_count, CHARTS);
    for (size_t i = 0; i < STEMS; i++) {
        char *svg = slurp_drawing("plain", all_stems[i], "svg");
        char *png = slurp_drawing("plain", all_stems[i], "png");
        assert_non_null(svg);
        assert_non_null(png);
        assert_true(strlen(svg) > 8000);
        assert_true(is_balanced(svg));
        for (size_t k = 0; k < PLAIN_KERNELS; k++)
            assert_non_null(strstr(svg, plain_kernels[k].name));
        assert_non_null(strstr(svg, "SYNTHETIC DATA, NOT A MACHINE | commit 0123456789ab"));
        assert_memory_equal(png, "\x89PNG", 4);
        free(svg);
        free(png);
    }
    sample_free(sample);
}

static void ids_are_unique(const char *page)
{
    size_t ids = 0;
    for (const char *at = strstr(page, " id="); at; at = strstr(at + 1, " id=")) {
        size_t length = strcspn(at + 5, "\"'") + 6;
        char id[128];
        snprintf(id, sizeof id, "%.*s", (int)length, at);
        assert_null(strstr(at + 1, id));
        ids++;
    }
    assert_true(ids > 40);
}

static void test_page_holds_everything(void **state)
{
    (void)state;
    sample *sample = plain_sample();
    report_result result;
    write_report(sample, "page", &result);
    assert_string_equal(result.index_html, "page/index.html");
    char *page = slurp("page", "index.html");
    assert_non_null(page);
    assert_true(is_balanced(page));
    for (size_t i = 0; i < STEMS; i++) {
        const char *at = strstr(page, all_stems[i]);
        assert_true(at && memcmp(at - 4, "id=\"", 4) == 0);
    }
    assert_non_null(strstr(page, "fastest: <strong>fused_f32_avx512</strong> at 3 of 3"));
    assert_non_null(strstr(page, "80.0 to 88.0 GB/s, 0.800 to 0.880 of the roof"));
    assert_non_null(strstr(page, "lnbench run --plan quick"));
    assert_non_null(strstr(page, "Seed 42"));
    ids_are_unique(page);
    assert_null(strstr(page, "http-equiv"));
    assert_null(strstr(page, "src="));
    free(page);
    sample_free(sample);
}

static void same_file(const char *a, const char *b, const char *name)
{
    char *left = slurp(a, name), *right = slurp(b, name);
    assert_non_null(left);
    assert_non_null(right);
    assert_string_equal(left, right);
    free(left);
    free(right);
}

static void test_same_data_same_bytes(void **state)
{
    (void)state;
    sample *sample = plain_sample();
    report_result result;
    write_report(sample, "once", &result);
    write_report(sample, "twice", &result);
    for (size_t i = 0; i < result.chart_count; i++)
        same_file("once", "twice", strchr(result.charts[i], '/') + 1);
    same_file("once", "twice", "index.html");
    sample_free(sample);
}

/* Reads the boxes of the labels of one panel back from the chart's TSV. */
static size_t read_boxes(const char *points, int panel, label_box *boxes, size_t most)
{
    size_t count = 0;
    for (const char *line = strchr(points, '\n'); line && line[1]; line = strchr(line + 1, '\n')) {
        int of, at = 0;
        double x, drawn;
        label_box box = {0};
        char name[128];
        if (sscanf(line + 1, "%d %*d %127s %lf %*s %lf %*d %lf %lf %lf %lf%n", &of, name, &x,
                   &drawn, &box.left, &box.top, &box.width, &box.height, &at) == 8 &&
            at > 0 && of == panel && count < most) {
            box.x = box.y = -1e6; /* the labels alone */
            boxes[count++] = box;
        }
    }
    return count;
}

/* As many kernels as the table will have, some with names as long as names may be. */
static void test_many_kernels_find_room(void **state)
{
    (void)state;
    enum { KERNELS = 40 };
    static const char *const statistics[] = {"naive", "two_pass", "welford", "shifted", "pairwise"};
    static const char *const isas[] = {"scalar", "avx2", "avx512", "neon"};
    sample *sample = sample_create();
    assert_non_null(sample);
    char names[KERNELS][NAME_MAX_LENGTH];
    double speeds[KERNELS], errors[KERNELS];
    for (int i = 0; i < KERNELS; i++) {
        const char *isa = isas[i / 5 % 4];
        snprintf(names[i], sizeof names[i], "%s%s_f32_%s", statistics[i % 5],
                 i < 20    ? ""
                 : i == 39 ? "_blocked_pipelined_nontemporal_with_a_name_of_"
                           : "_nt",
                 isa);
        sample_kernel(sample, names[i], statistics[i % 5], isa);
        double gbps = 5 + 80 * ((i * 7) % KERNELS) / (double)KERNELS;
        speeds[i] = gbps;
        for (size_t hidden = 64; hidden <= 16384; hidden *= 4)
            sample_speed(sample, names[i], 65536 / hidden, hidden, gbps + (double)(hidden % 7));
        errors[i] = pow(10, i % 6) * (1 + 0.1 * i);
        sample_judged(sample, names[i], "offset", errors[i], VERDICT_OK);
        for (double kappa = 1; kappa < 1e8; kappa *= 10)
            sample_row(sample, kappa, 1 + kappa * 0.001 * i, 50 + kappa);
    }
    sample_speed(sample, "roof_copy", 64, 1024, 100);
    report_result result;
    write_report(sample, "many", &result);
    assert_int_equal(result.chart_count, CHARTS);
    for (size_t chart = 0; chart < STEMS; chart++) {
        char *svg = slurp_drawing("many", all_stems[chart], "svg");
        for (int i = 0; i + 1 < KERNELS; i++) {
            /* A method (one of five statistics, plain or _nt) is drawn by its fastest ISA, in
             * errors over kappa by its widest, AVX-512; in speed against error the front too. */
            bool widest = i / 5 % 4 == 2, fastest = true, front = true;
            for (int j = 0; j < KERNELS; j++) { /* the last is a method of its own */
                bool faster = speeds[j] > speeds[i], same = j % 5 == i % 5 && j / 20 == i / 20;
                fastest = fastest && !(faster && same && j + 1 < KERNELS);
                front = front && !(faster && errors[j] <= errors[i]);
            }
            bool drawn = chart < 2 ? fastest : chart < 4 ? widest : fastest || front;
            if ((strstr(svg, names[i]) != NULL) != drawn)
                fail_msg("%s in %s", names[i], all_stems[chart]);
        }
        free(svg);
    }
    char *points = slurp("many", "data/speed_error.tsv");
    for (int panel = 1; panel <= 3; panel++) {
        label_box boxes[KERNELS];
        size_t count = read_boxes(points, panel, boxes, KERNELS);
        assert_true(count >= 10 && count < KERNELS);
        assert_int_equal(layout_overlaps(boxes, count), 0);
    }
    free(points);
    sample_free(sample);
}

static void test_figures_on_the_charts(void **state)
{
    (void)state;
    sample *sample = plain_sample();
    report_result result;
    sample_judged(sample, "fused_f32_avx512", "constant", 77, VERDICT_OK);
    sample_row(sample, INFINITY, 77, 78); /* a constant row: no place on the axis of kappa */
    write_report(sample, "figures", &result);
    char *points = slurp("figures", "data/throughput_l2.tsv");
    double gbps, low, high;
    const char *line = strstr(points, "1\tfused_f32_avx512\t1024\t64\t");
    assert_non_null(line);
    assert_int_equal(sscanf(line, "%*d %*s %*d %*d %lf %lf %lf", &gbps, &low, &high), 3);
    assert_true(gbps == 80 && fabs(low - 80 / 1.02) < 1e-9 && fabs(high - 80 / 0.98) < 1e-9);
    free(points);
    /* At 85 x 768 by speed: 84, 63, 47.25 and 2.1 GB/s; the best of each is what the chart says. */
    char *bars = slurp("figures", "data/roof_share.tsv");
    static const char *const order[] = {"1\tfused_f32_avx512\t1\t0.84\t",
                                        "4\tnaive_f32_avx512\t2\t", "2\ttwo_pass_f32_avx2\t3\t",
                                        "3\twelford_f32_scalar\t4\t"};
    line = bars;
    for (size_t i = 0; i < 4; i++) {
        line = next_line(line);
        assert_non_null(line);
        assert_memory_equal(line, order[i], strlen(order[i]));
    }
    free(bars);
    char *rows = slurp("figures", "data/error_kappa.tsv");
    assert_non_null(strstr(rows, "\tfused_f32_avx512\toffset\t1000\t100\t100000\t0\t"));
    assert_null(strstr(rows, "\t77\t"));
    free(rows);
    sample_free(sample);
}

enum { POINTS_MOST = 64 };

/* Every kernel of a panel is on the front that was drawn exactly if none is faster without being
 * less accurate, or more accurate without being slower. Returns how many are on it. */
static size_t check_front(const char *points, const char *front, int panel)
{
    double speeds[POINTS_MOST], errors[POINTS_MOST];
    size_t count = 0, on_front = 0;
    int of;
    for (const char *line = next_line(points); line; line = next_line(line)) {
        double x, y;
        assert_int_equal(sscanf(line, "%d %*d %*s %lf %lf", &of, &x, &y), 3);
        if (of == panel && count < POINTS_MOST) {
            speeds[count] = x;
            errors[count++] = y;
        }
    }
    assert_true(count >= 10);
    for (size_t i = 0; i < count; i++) {
        bool dominated = false, drawn = false;
        for (size_t j = 0; j < count; j++)
            dominated = dominated || (speeds[j] >= speeds[i] && errors[j] <= errors[i] &&
                                      (speeds[j] > speeds[i] || errors[j] < errors[i]));
        for (const char *line = next_line(front); line; line = next_line(line)) {
            double x, y;
            assert_int_equal(sscanf(line, "%d %lf %lf", &of, &x, &y), 3);
            drawn = drawn || (of == panel && x == speeds[i] && y == errors[i]);
        }
        assert_int_equal(drawn, !dominated);
        on_front += drawn;
    }
    return on_front;
}

static void test_pareto_front(void **state)
{
    (void)state;
    char *points = slurp("many", "data/speed_error.tsv"); /* of the test before */
    char *front = slurp("many", "data/speed_error_front.tsv");
    assert_non_null(points);
    assert_non_null(front);
    assert_int_equal(check_front(points, front, 1), 1); /* all are equally wrong: the fastest */
    assert_true(check_front(points, front, 2) > 5);
    free(points);
    free(front);
}

/* Names that would run a command, end a string, or be markup, if anything took them for that. */
static const char *const hostile[] = {
    "<script>alert(1)</script>", "`touch pwned`",
    "');system('touch pwned')#", "\"|touch pwned",
    "a&b;c<i>\\n\tx\ny",         "@pwned %s %n ${HOME} \x01\xff",
};
enum { HOSTILE = 6 };

static sample *hostile_sample(void)
{
    sample *sample = sample_create();
    assert_non_null(sample);
    for (size_t i = 0; i < HOSTILE; i++) {
        if (i + 1 < HOSTILE) /* bytes that are no UTF-8 cannot be in JSON */
            sample_kernel(sample, hostile[i], hostile[i], hostile[i]);
        stored_case *timed = sample_speed(sample, hostile[i], 85, 768, 10.0 + (double)i);
        snprintf(timed->verdict.detail, sizeof timed->verdict.detail, "%s", hostile[i]);
        timed->verdict.kind = VERDICT_INACCURATE;
        sample_judged(sample, hostile[i], hostile[(i + 1) % HOSTILE], 5, VERDICT_OK);
        sample_row(sample, 10, 5, 50);
    }
    sample_speed(sample, "roof_copy", 85, 768, 100);
    for (size_t i = 0; i < sample->view.cases.count; i++)
        snprintf(sample->cases[i].key.convention, sizeof sample->cases[i].key.convention, "%s",
                 hostile[0]);
    snprintf(sample->view.run.command_line, sizeof sample->view.run.command_line, "%s", hostile[0]);
    snprintf(sample->facts[0].value, sizeof sample->facts[0].value, "%s", hostile[0]);
    snprintf(sample->facts[1].name, sizeof sample->facts[1].name, "%s", hostile[0]);
    return sample;
}

static void test_hostile_names_do_nothing(void **state)
{
    (void)state;
    sample *sample = hostile_sample();
    report_result result;
    unlink("pwned");
    unlink("hostile/pwned");
    write_report(sample, "hostile", &result);
    assert_string_equal(result.note, "");
    assert_true(result.charts_drawn);
    assert_int_not_equal(access("pwned", F_OK), 0);
    assert_int_not_equal(access("hostile/pwned", F_OK), 0);
    char *page = slurp("hostile", "index.html");
    assert_non_null(page);
    assert_true(is_balanced(page));
    assert_null(strstr(page, "<script>alert"));
    assert_null(strstr(page, "<i>"));
    assert_non_null(strstr(page, "<td class=\"word\">&lt;script&gt;alert(1)&lt;/script&gt;"));
    free(page);
    for (size_t i = 0; i < STEMS; i++) {
        char *svg = slurp_drawing("hostile", all_stems[i], "svg");
        assert_non_null(svg);
        assert_true(is_balanced(svg));
        assert_null(strstr(svg, "<script>alert"));
        assert_non_null(strstr(svg, "&lt;script>alert(1)&lt;/script>"));
        assert_non_null(strstr(svg, "?touch pwned?"));
        free(svg);
    }
    sample_free(sample);
}

static void test_without_gnuplot_the_page_is_written(void **state)
{
    (void)state;
    sample *sample = plain_sample();
    report_result result;
    char *path = strdup(getenv("PATH"));
    assert_non_null(path);
    write_report(sample, "bare", &result); /* leaves charts that must not survive */
    setenv("PATH", "/nonexistent", 1);
    write_report(sample, "bare", &result);
    setenv("PATH", path, 1);
    free(path);
    assert_false(result.charts_drawn);
    assert_int_equal(result.chart_count, 0);
    assert_non_null(strstr(result.note, "gnuplot was not found"));
    for (size_t i = 0; i < STEMS; i++) {
        assert_null(slurp_drawing("bare", all_stems[i], "svg"));
        assert_null(slurp_drawing("bare", all_stems[i], "png"));
    }
    char *page = slurp("bare", "index.html");
    assert_non_null(page);
    assert_true(is_balanced(page));
    assert_non_null(strstr(page, "gnuplot was not found"));
    assert_non_null(strstr(page, "<td class=\"word name\">fused_f32_avx512</td>"));
    free(page);
    sample_free(sample);
}

static void test_a_script_that_fails_is_reported(void **state)
{
    (void)state;
    sample *sample = plain_sample();
    report_result result;
    error error = {0};
    mkdir("broken_plots", 0777);
    static const char *const scripts[] = {"throughput.gp", "roof_share.gp", "panels.gp",
                                          "speed_error.gp"};
    for (size_t i = 0; i < 4; i++) {
        char path[64];
        snprintf(path, sizeof path, "broken_plots/%s", scripts[i]);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        /* It fails when it has drawn something already. */
        fputs("set terminal svg\nset output ARG1.'.'.ARG2.'.part'\nplot x\nset output\n"
              "plot nonsense nonsense\n",
              file);
        fclose(file);
    }
    assert_true(report_write(&sample->view, "broken_plots", "broken", false, &result, &error));
    assert_false(result.charts_drawn);
    assert_non_null(strstr(result.note, "gnuplot failed on throughput_l2.svg: "));
    assert_null(strchr(result.note, '\n'));
    assert_null(slurp("broken", "throughput_l2.svg.part"));
    assert_true(report_write(&sample->view, "no_such_directory", "broken", false, &result, &error));
    assert_non_null(strstr(result.note, "no_such_directory/throughput.gp"));
    sample_free(sample);
}

static void test_only_what_was_measured_is_drawn(void **state)
{
    (void)state;
    sample *sample = sample_create();
    report_result result;
    write_report(sample, "empty", &result);
    assert_int_equal(result.chart_count, 0);
    assert_non_null(strstr(result.note, "neither speeds nor judged rows"));
    sample_kernel(sample, "two_pass_f32_avx2", "two_pass", "avx2");
    sample_judged(sample, "two_pass_f32_avx2", "offset", 3, VERDICT_OK);
    sample_row(sample, 100, 3, 40);
    write_report(sample, "accuracy", &result);
    assert_int_equal(result.chart_count, 2);
    assert_string_equal(result.charts[0], "accuracy/error_kappa.svg");
    assert_string_equal(result.charts[1], "accuracy/variance_kappa.svg");
    char *page = slurp("accuracy", "index.html");
    assert_non_null(strstr(page, "not drawn, since no speed was measured"));
    free(page);
    sample_free(sample);
    sample = sample_create();
    sample_speed(sample, "mystery", 85, 768, 10)->judged = false;
    write_report(sample, "speed", &result);
    assert_int_equal(result.chart_count, 3);
    assert_string_equal(result.charts[0], "speed/throughput_l2.svg");
    assert_string_equal(result.charts[1], "speed/roof_share.svg");
    assert_string_equal(result.charts[2], "speed/winner_map.svg");
    page = slurp("speed", "index.html");
    assert_non_null(strstr(page, "not drawn, since no judged row has a finite kappa"));
    assert_non_null(strstr(page, "not drawn, since no kernel has both"));
    free(page);
    sample_free(sample);
}

/* The failures of a kernel are named, in words and on the charts. */
static void test_what_went_wrong_is_said(void **state)
{
    (void)state;
    sample *sample = plain_sample();
    report_result result;
    sample_judged(sample, "fused_f32_avx512", "huge", NAN, VERDICT_WRONG_CLASS);
    sample_row(sample, 1.5, NAN, 10);
    sample_judged(sample, "fused_f32_avx512", "ramp", 9, VERDICT_INACCURATE);
    sample->cases[sample->view.cases.count - 2].verdict.declared = true;
    sample_judged(sample, "naive_f32_avx512", "spike", 12345, VERDICT_INACCURATE);
    stored_case *crashed =
        sample_judged(sample, "crasher_f32_scalar", "normal", NAN, VERDICT_CRASHED);
    snprintf(crashed->verdict.detail, sizeof crashed->verdict.detail, "SIGSEGV");
    write_report(sample, "wrong", &result);
    char *page = slurp("wrong", "index.html");
    assert_non_null(
        strstr(page, "<strong>fused_f32_avx512</strong>: inaccurate on ramp (row ULP 9.00)."));
    assert_non_null(
        strstr(page, "<strong>naive_f32_avx512</strong>: inaccurate on spike (row ULP 12345)."));
    assert_non_null(
        strstr(page, "<strong>crasher_f32_scalar</strong>: crashed(SIGSEGV) on normal."));
    assert_non_null(strstr(page, "(where no claim is made): wrong-class on huge."));
    /* The fastest kernel is at fault, the second too. */
    assert_non_null(strstr(page, "fastest: <strong>two_pass_f32_avx2</strong> at 3 of 3"));
    assert_non_null(strstr(page, "<strong>fused_f32_avx512</strong> is faster at 3 of them"));
    free(page);
    char *svg = slurp("wrong", "roof_share.svg");
    assert_non_null(strstr(svg, "crashed(SIGSEGV)"));
    free(svg);
    svg = slurp("wrong", "speed_error.svg");
    assert_non_null(strstr(svg, "<title>fused_f32_avx512: 84.0 GB/s [82.4, 85.7], wrong-class<"));
    free(svg);
    char *points = slurp("wrong", "data/error_kappa.tsv");
    assert_non_null(strstr(points, "\t1.5\tNaN\tNaN\t1\t"));
    free(points);
    sample_free(sample);
}

static void test_places_that_cannot_be_written(void **state)
{
    (void)state;
    sample *sample = plain_sample();
    report_result result;
    error error = {0};
    FILE *file = fopen("a_file", "w");
    assert_non_null(file);
    fclose(file);
    assert_false(
        report_write(&sample->view, PLOTS_DIRECTORY, "a_file/report", false, &result, &error));
    assert_int_equal(error.code, EXIT_CODE_ENVIRONMENT);
    assert_non_null(strstr(error.message, "a_file"));
    char name[600];
    memset(name, 'x', sizeof name);
    name[599] = '\0';
    assert_false(report_write(&sample->view, PLOTS_DIRECTORY, name, false, &result, &error));
    assert_int_equal(error.code, EXIT_CODE_ENVIRONMENT);
    sample_free(sample);
}

/* A full disk, as the limit on a file's size shows it: a write that fails half way. */
static void test_full_disk(void **state)
{
    (void)state;
    sample *sample = plain_sample();
    report_result result;
    error error = {0};
    struct rlimit before, little;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    static const rlim_t limits[] = {100, 9000};
    for (size_t i = 0; i < 2; i++) {
        little = before;
        little.rlim_cur = limits[i];
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
        bool written = report_write(&sample->view, PLOTS_DIRECTORY, "full", false, &result, &error);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_false(written);
        assert_int_equal(error.code, EXIT_CODE_ENVIRONMENT);
        assert_null(slurp("full", "index.html"));
    }
    signal(SIGXFSZ, SIG_DFL);
    sample_free(sample);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_charts_show_every_kernel),
        cmocka_unit_test(test_page_holds_everything),
        cmocka_unit_test(test_same_data_same_bytes),
        cmocka_unit_test(test_many_kernels_find_room),
        cmocka_unit_test(test_pareto_front),
        cmocka_unit_test(test_figures_on_the_charts),
        cmocka_unit_test(test_hostile_names_do_nothing),
        cmocka_unit_test(test_without_gnuplot_the_page_is_written),
        cmocka_unit_test(test_a_script_that_fails_is_reported),
        cmocka_unit_test(test_only_what_was_measured_is_drawn),
        cmocka_unit_test(test_what_went_wrong_is_said),
        cmocka_unit_test(test_places_that_cannot_be_written),
        cmocka_unit_test(test_full_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
