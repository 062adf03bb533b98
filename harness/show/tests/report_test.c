/* The report as a whole: what is drawn and where its labels stand, and what is said where nothing can be
 * drawn. (What the page says, and that answer and tables agree: cli_golden.) */
#include "scratch.h"

#include "markup.h"
#include "show/report.h"
#include "sample_view.h"
#include "store/internal.h"
#include <glob.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of each test: a sample of its own, and the files that it read. */
static sample_view *sample;
static report_result result;
static char *files[32];
static size_t files_read;

static int set_up(void **state)
{
    (void)state;
    files_read = 0;
    sample = sample_plain();
    sample_store(sample);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    while (files_read > 0)
        free(files[--files_read]);
    sample_free(sample);
    return 0;
}

#define REPORT_TEST(name) TEST_WITH(name, set_up, tear_down)

/* Instead of the plain sample: one of nothing yet. */
static void sample_begin(void)
{
    sample_free(sample);
    sample = sample_create();
    assert_non_null(sample);
}

static char *file_in(const char *directory, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    assert_true(files_read < sizeof files / sizeof *files);
    return files[files_read++] = slurp(path);
}

static const char *drawn_in; /* the folder of the latest report */

static void write_report(const char *directory)
{
    char command[64]; /* removes charts of an earlier version */
    snprintf(command, sizeof command, "/bin/rm -rf %s", directory);
    assert_int_equal(system(command), 0);
    drawn_in = directory;
    sample_store(sample);
    result = report_write(&sample->view, PLOTS_DIRECTORY, directory, NULL);
}

/* Whether write_report() left it. */
static bool was_drawn(const char *file)
{
    char path[512];
    snprintf(path, sizeof path, "%s%s", drawn_in, file);
    return access(path, F_OK) == 0;
}

/* ---- drawings: the texts of one and the room that they take, read from its SVG ---- */

typedef struct svg_text {
    char words[128];
    double left, right, top, bottom;
} svg_text;

/* Advance widths of Helvetica (and so of Liberation Sans) for ASCII 32 to 126, in thousandths of the
 * font's size: Adobe's Core 14 AFM files. What is beyond ASCII counts as a digit. */
static double svg_text_width(const char *words, double size)
{
    static const short widths[] = {
        278,  278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278,
        556,  556, 556, 556, 556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556,
        1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833, 722, 778,
        667,  778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556,
        333,  556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
        556,  556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584};
    double width = 0;
    for (; *words; words++) {
        unsigned char byte = (unsigned char)*words;
        if (byte >= 32 && byte < 127)
            width += widths[byte - 32];
        else if (byte >= 0xc0) /* the first byte of a character */
            width += 556;
    }
    return width * size / 1000;
}

/* Reads at most `most` texts that stand level; returns how many there are. */
static size_t svg_texts(const char *svg, svg_text *texts, size_t most)
{
    size_t count = 0;
    for (const char *group = svg; (group = strstr(group, "<g transform=\"translate(")); group++) {
        double x, y;
        const char *end = strchr(group, '>'), *size = strstr(group, "font-size=\""),
                   *anchor = strstr(group, "text-anchor=\""), *begin = strstr(group, "<text>");
        const char *turned = strstr(group, "rotate(");
        if (!end || (turned && turned < end) || !size || size > end || !begin || begin > end + 8 ||
            sscanf(group, "<g transform=\"translate(%lf,%lf)\"", &x, &y) != 2)
            continue;
        svg_text *text = &texts[count];
        const char *from = begin + 6;
        size_t length = 0;
        for (; strncmp(from, "</text>", 7) != 0 && length + 1 < sizeof text->words; from++) {
            if (*from == '<') /* a tspan */
                from += strcspn(from, ">");
            else if (length || *from != ' ')
                text->words[length++] = *from;
        }
        text->words[length] = '\0';
        double height = strtod(size + 11, NULL), width = svg_text_width(text->words, height);
        bool is_end = anchor && anchor < end && strncmp(anchor + 13, "end", 3) == 0;
        bool is_middle = anchor && anchor < end && strncmp(anchor + 13, "middle", 6) == 0;
        text->left = is_end ? x - width : is_middle ? x - width / 2 : x;
        text->right = text->left + width;
        text->top = y - 0.7 * height;
        text->bottom = y + 0.2 * height;
        count += length > 0 && count + 1 < most;
    }
    return count;
}

/* How many pairs of texts overlap by more than a pixel; the first of them in `which`. */
static size_t svg_overlaps(const char *svg, char which[300])
{
    enum { MOST = 1024 };
    svg_text *texts = calloc(MOST, sizeof *texts);
    size_t count = texts ? svg_texts(svg, texts, MOST) : 0, pairs = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++) {
            const svg_text *a = &texts[i], *b = &texts[j];
            if (a->left + 1 >= b->right || b->left + 1 >= a->right || a->top + 1 >= b->bottom ||
                b->top + 1 >= a->bottom)
                continue;
            if (pairs++ == 0)
                snprintf(which, 300, "'%s' at %.0f,%.0f and '%s' at %.0f,%.0f", a->words, a->left,
                         a->top, b->words, b->left, b->top);
        }
    free(texts);
    return pairs;
}

static double svg_height(const char *svg)
{
    const char *at = strstr(svg, "height=\"");
    return at ? strtod(at + 8, NULL) : NAN;
}

static void check_drawings(const char *directory)
{
    char which[300], pattern[64];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/*.svg", directory);
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    assert_int_equal(found.gl_pathc, result.chart_count);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char *svg = file_in(".", found.gl_pathv[i]);
        assert_non_null(svg);
        assert_true(is_balanced(svg));
        assert_true(svg_height(svg) <= 1400);
        if (svg_overlaps(svg, which) > 0)
            fail_msg("%s: %s", found.gl_pathv[i], which);
        assert_null(strstr(svg, "gnuplot_svg"));
    }
    globfree(&found);
}

REPORT_TEST(test_charts)
{
    static const char *const wanted[] = {
        "/field.svg",       "/throughput.svg",   "/speed_error.svg", "/error_kappa.svg",
        "/conventions.svg", "/error_spread.svg", "/timings.svg",     "/states.svg"};
    sample_speed(sample, "two_pass_f32_avx2", 85, 768, 90)->key.threads = 2;
    sample_speed(sample, "two_pass_f32_avx2", 85, 768, 20)->key.cache = CACHE_COLD;
    write_report("plain");
    assert_string_equal(result.note, "");
    assert_int_equal(result.chart_count, 8);
    for (size_t i = 0; i < 8; i++)
        assert_true(was_drawn(wanted[i]));
    check_drawings("plain");
    assert_memory_equal(file_in("plain", "field.png"), "\x89PNG", 4);
}

/* What checks the checks: labels moved onto each other are seen. */
TEST(test_overlaps_are_seen)
{
    char which[300];
    static const char apart[] =
        "<g transform=\"translate(10.00,20.00)\" font-size=\"12.00\"  text-anchor=\"start\">\n"
        "\t\t<text>two-pass</text></g>"
        "<g transform=\"translate(10.00,40.00)\" font-size=\"12.00\"  text-anchor=\"start\">\n"
        "\t\t<text>Welford</text></g>";
    static const char onto[] =
        "<g transform=\"translate(10.00,20.00)\" font-size=\"12.00\"  text-anchor=\"start\">\n"
        "\t\t<text>two-pass</text></g>"
        "<g transform=\"translate(70.00,24.00)\" font-size=\"12.00\"  text-anchor=\"end\">\n"
        "\t\t<text>Welford</text></g>";
    assert_int_equal(svg_overlaps(apart, which), 0);
    assert_int_equal(svg_overlaps(onto, which), 1);
    assert_non_null(strstr(which, "two-pass"));
}

/* As many kernels as a full plan has, some with names as long as names may be, and every peer. */
REPORT_TEST(test_many_kernels_find_room)
{
    enum { KERNELS = 60, PEERS = 4 };
    static const char *const peers[PEERS][2] = {{"onednn", ">oneDNN 2.6<"},
                                                {"pytorch", ">PyTorch 1.13.0 (2022)<"},
                                                {"libxsmm", ">libxsmm 2.0.0 (2026)<"},
                                                {"zendnn", ">ZenDNN 6.0.1 (2026)<"}};
    static const char *const statistics[] = {"naive", "two_pass", "welford", "fused", "pairwise"};
    static const char *const isas[] = {"scalar", "avx2", "avx512", "neon"};
    sample_begin();
    char name[NAME_MAX_LENGTH];
    for (int i = 0; i < KERNELS; i++) {
        snprintf(name, sizeof name, "%s%s_f32_%s", statistics[i % 5],
                 i < 20   ? ""
                 : i < 40 ? "_nt"
                          : "_blocked_pipelined_nontemporal_with_a_name_of",
                 isas[i / 5 % 4]);
        sample_kernel(sample, name, i < 20 ? statistics[i % 5] : "shifted", isas[i / 5 % 4]);
        double gbps = 5 + 80 * ((i * 7) % KERNELS) / (double)KERNELS;
        for (size_t hidden = 64; hidden <= 16384; hidden *= 4)
            sample_speed(sample, name, 65536 / hidden, hidden, gbps + (double)(hidden % 7));
        sample_judged(sample, name, "offset", pow(10, i % 6) * (1 + 0.1 * i), VERDICT_PASS);
        for (double kappa = 1; kappa < 1e8; kappa *= 10)
            sample_row(sample, kappa, 1 + kappa * 0.001 * i, 50 + kappa);
    }
    for (int i = 0; i < PEERS; i++) {
        snprintf(name, sizeof name, "%s_f32", peers[i][0]);
        sample_kernel(sample, name, peers[i][0], "any");
        sample_speed(sample, name, 64, 1024, 30 + i);
    }
    write_report("many");
    assert_true(was_drawn("/speed_error.svg"));
    check_drawings("many");
    char *svg = file_in("many", "throughput.svg");
    assert_non_null(svg);
    for (int i = 0; i < PEERS; i++)
        if (!strstr(svg, peers[i][1]))
            fail_msg("throughput.svg has no %s", peers[i][1]);
}

static int count_step(void *count)
{
    ++*(size_t *)count;
    return 0;
}

/* Hundreds of steps of SQLite's machine that a report's queries take. */
static size_t steps_of_report(const char *directory)
{
    size_t steps = 0;
    sqlite3_progress_handler(sample->view.store->database, 100, count_step, &steps);
    result = report_write(&sample->view, PLOTS_DIRECTORY, directory, NULL);
    sqlite3_progress_handler(sample->view.store->database, 0, NULL, NULL);
    return steps;
}

/* A query of a chart reads its run, however many there are. */
REPORT_TEST(test_charts_read_one_run)
{
    enum { RUNS = 100 };
    char *path = strdup(getenv("PATH"));
    assert_non_null(path);
    setenv("PATH", "/nonexistent", 1); /* nothing is drawn */
    size_t one = steps_of_report("one");
    for (int run = 1; run < RUNS; run++)
        sample_store_again(sample);
    size_t many = steps_of_report("many");
    setenv("PATH", path, 1);
    free(path);
    assert_true(one > 100);
    if (many > one * 6 / 5)
        fail_msg("%zu00 steps in %d runs, %zu00 in one", many, RUNS, one);
}

/* ---- what cannot be drawn or written ---- */

REPORT_TEST(test_without_gnuplot_the_page_is_written)
{
    char *path = strdup(getenv("PATH"));
    assert_non_null(path);
    write_report("bare"); /* leaves charts that must not survive */
    setenv("PATH", "/nonexistent", 1);
    write_report("bare");
    setenv("PATH", path, 1);
    free(path);
    assert_int_equal(result.chart_count, 0);
    assert_non_null(strstr(result.note, "gnuplot was not found"));
    assert_null(file_in("bare", "field.svg"));
    assert_null(file_in("bare", "field.png"));
    char *page = file_in("bare", "index.html");
    assert_true(is_balanced(page));
    assert_non_null(strstr(page, "gnuplot was not found"));
}

static void write_file(const char *path, const char *contents)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(contents, file);
    fclose(file);
}

REPORT_TEST(test_a_script_that_fails_is_reported)
{
    mkdir("broken_plots", 0777);
    write_file("broken_plots/page.html", "<main>{{body}}</main>");
    /* It fails when it has drawn something already. */
    write_file("broken_plots/field.gp", "set terminal svg\nset output ARG3\nplot x\n"
                                        "set output\nplot nonsense nonsense\n");
    result = report_write(&sample->view, "broken_plots", "broken", NULL);
    assert_non_null(strstr(result.note, "gnuplot failed on field.svg: "));
    assert_null(strchr(result.note, '\n'));
    char part[64];
    snprintf(part, sizeof part, "field.svg.%ld.part", (long)getpid());
    assert_null(file_in("broken", part));
    assert_null(file_in("broken", "field.svg"));
    write_file("broken_plots/page.html", "<main>{{nothing}}</main>");
    assert_true(DIES(result = report_write(&sample->view, "broken_plots", "broken", NULL)));
    assert_non_null(strstr(problem.message, "{{nothing}}"));
}

REPORT_TEST(test_only_what_was_measured_is_drawn)
{
    sample_begin();
    sample_kernel(sample, "two_pass_f32_avx2", "two_pass", "avx2");
    sample_judged(sample, "two_pass_f32_avx2", "offset", 3, VERDICT_PASS);
    sample_row(sample, 100, 3, 40);
    write_report("accuracy");
    assert_true(was_drawn("/error_kappa.svg"));
    assert_false(was_drawn("/field.svg"));
    char *page = file_in("accuracy", "index.html");
    assert_non_null(strstr(page, "Not drawn: no speed was measured."));
    assert_non_null(strstr(page, "run again with --threads 1,2 or --cache hot,cold"));
    sample_begin();
    sample_speed(sample, "mystery", 85, 768, 10)->judged = false;
    write_report("speed");
    assert_true(was_drawn("/field.svg"));
    assert_false(was_drawn("/error_kappa.svg"));
    page = file_in("speed", "index.html");
    assert_non_null(strstr(page, "at 85x768 (L2), the fastest kernel"));
    assert_non_null(strstr(page, "errors were not judged"));
}

REPORT_TEST(test_the_page_is_of_the_answers_type)
{
    sample_kernel(sample, "two_pass_bf16_avx2", "two_pass", "avx2");
    for (size_t rows = 171; rows < 191; rows++)
        sample_speed(sample, "two_pass_bf16_avx2", rows, 768, 60)->key.dtype = LN_BF16;
    write_report("types");
    assert_true(was_drawn("/field_bf16.svg"));
    assert_null(file_in("types", "field_f32.svg"));
}

TEST(test_error_classes)
{
    static const struct {
        double row_ulp;
        ln_type type;
        error_class class;
        const char *words;
    } wanted[] = {{1, LN_F32, ERROR_EXACT, "1.0"},        {1.01, LN_F32, ERROR_GOOD, "1.0"},
                  {4.5, LN_F32, ERROR_ROUGH, "4.5"},      {999, LN_F32, ERROR_ROUGH, "999"},
                  {2e6, LN_F32, ERROR_LOST, "2e+06"},     {0x1p23, LN_F32, ERROR_LOST, "no digit"},
                  {15, LN_BF16, ERROR_ROUGH, "15"},       {17, LN_BF16, ERROR_LOST, "17"},
                  {128, LN_BF16, ERROR_LOST, "no digit"}, {INFINITY, LN_F32, ERROR_NAN, "fault"}};
    char words[ERROR_WORDS];
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const case_verdict timeout = {.kind = VERDICT_TIMEOUT};
        const error_sum sum = {.judged = 1, .error = wanted[i].row_ulp};
        assert_int_equal(error_class_of(&sum, wanted[i].type), wanted[i].class);
        assert_string_equal(error_in_words(sum.error, wanted[i].type, &timeout, words),
                            wanted[i].words);
    }
    const error_sum none = {.error = NAN};
    assert_int_equal(error_class_of(&none, LN_F32), ERROR_UNKNOWN);
}

REPORT_TEST(test_places_that_cannot_be_written)
{
    write_file("a_file", "");
    assert_true(DIES(result = report_write(&sample->view, PLOTS_DIRECTORY, "a_file/report", NULL)));
    assert_int_equal(problem.code, EXIT_CODE_ENVIRONMENT);
    assert_non_null(strstr(problem.message, "a_file"));
    char name[600];
    snprintf(name, sizeof name, "%0599d", 0);
    assert_true(DIES(result = report_write(&sample->view, PLOTS_DIRECTORY, name, NULL)));
    assert_int_equal(problem.code, EXIT_CODE_ENVIRONMENT);
}

/* A full disk, as the limit on a file's size shows it: a write that fails half way. */
REPORT_TEST(test_full_disk)
{
    struct rlimit before, little;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_IGN);
    for (size_t i = 0; i < 2; i++) {
        little = (struct rlimit){i ? 9000 : 100, before.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
        bool written = !DIES(report_write(&sample->view, PLOTS_DIRECTORY, "full", NULL));
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_false(written);
        assert_int_equal(problem.code, EXIT_CODE_ENVIRONMENT);
        assert_null(file_in("full", "index.html"));
    }
    signal(SIGXFSZ, SIG_DFL);
}
