/* SPDX-License-Identifier: Apache-2.0 */
/* The formats: JSON by a strict parser, the others by what they promise; and outputs that fail. */
#include "capture.h"
#include "comma_locale.h"
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[128];
static hayai_suite *suite;

/* Everything that could spoil a document: quotes, controls, bytes that are no UTF-8, not finite. */
static const char nasty[] = "a\"b\\c\n\t\x01\x7f|<&>'\xff\xc0\x80 \xc3\xa9 \xed\xa0\x80";

static void measure_badly(hayai_state *state, void *user)
{
    (void)user;
    while (hayai_state_keep_running(state))
        hayai_state_set_iteration_time(state, 0.5);
    hayai_state_set_counter(state, "nan", NAN, 0, HAYAI_ONE_K_1000);
    hayai_state_set_counter(state, "inf", INFINITY, 0, HAYAI_ONE_K_1000);
    hayai_state_set_counter(state, "minus", -INFINITY, 0, HAYAI_ONE_K_1000);
    hayai_state_set_counter(state, "third", 1.0 / 3, 0, HAYAI_ONE_K_1024);
    hayai_state_set_counter(state, "real_time", 5, 0, HAYAI_ONE_K_1000); /* a name of the schema */
    hayai_state_set_counter(state, nasty, 1, 0, HAYAI_ONE_K_1000);
    hayai_state_set_label(state, nasty);
}

static void fail_nastily(hayai_state *state, void *user)
{
    (void)user;
    hayai_state_skip_with_error(state, nasty);
}

static void leave_out(hayai_state *state, void *user)
{
    (void)user;
    hayai_state_skip_with_message(state, "not on this machine");
}

static void scale(hayai_state *state, void *user)
{
    (void)user;
    while (hayai_state_keep_running(state))
        hayai_state_set_iteration_time(state, 0.001 * (double)hayai_state_range(state, 0));
    hayai_state_set_complexity_n(state, hayai_state_range(state, 0));
}

static int set_up(void **state)
{
    (void)state;
    hayai_benchmark *benchmark;
    suite = suite_of("measure", measure_badly, NULL, &benchmark);
    hayai_benchmark_use_manual_time(benchmark);
    hayai_suite_add(suite, "fail", fail_nastily, NULL, NULL);
    hayai_suite_add(suite, "left/out", leave_out, NULL, NULL);
    hayai_suite_add(suite, "scale", scale, NULL, &benchmark);
    hayai_benchmark_use_manual_time(benchmark);
    hayai_benchmark_range(benchmark, 1, 8);
    hayai_benchmark_complexity(benchmark, HAYAI_COMPLEXITY_N);
    return 0;
}

static const char *in_directory(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static hayai_status write_output(const char *format, const char *name, unsigned repetitions)
{
    char output[160];
    snprintf(output, sizeof output, "%s:%s", format, in_directory(name));
    const char *const outputs[] = {output, "none"};
    const hayai_options options = {
        .iterations = 1, .repetitions = repetitions, .outputs = outputs, .output_count = 2};
    return hayai_suite_run(suite, &options, NULL);
}

static char *read_all(const char *name)
{
    FILE *file = fopen(in_directory(name), "rb");
    assert_non_null(file);
    static char text[1 << 18];
    const size_t length = fread(text, 1, sizeof text - 1, file);
    assert_true(length > 0);
    text[length] = '\0';
    fclose(file);
    return text;
}

static size_t occurrences(const char *text, const char *word)
{
    size_t count = 0;
    for (; (text = strstr(text, word)); text += strlen(word))
        count++;
    return count;
}

static json_t *run_of(json_t *document, const char *name)
{
    size_t i;
    json_t *run;
    json_array_foreach(json_object_get(document, "benchmarks"), i,
                       run) if (strcmp(json_string_value(json_object_get(run, "name")), name) ==
                                0) return run;
    fail_msg("no run %s", name);
    return NULL;
}

static const char *text_in(json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    assert_non_null(text);
    return text;
}

/* What a strict parser must make of the nasty string: each bad byte a U+FFFD. */
static const char tamed[] = "a\"b\\c\n\t\x01\x7f|<&>'\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd "
                            "\xc3\xa9 \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd";

static void check_runs(json_t *document)
{
    json_t *run = run_of(document, "measure/manual_time");
    assert_true(json_is_null(json_object_get(run, "nan")));
    assert_true(json_is_null(json_object_get(run, "inf")));
    assert_true(json_is_null(json_object_get(run, "minus")));
    assert_true(json_real_value(json_object_get(run, "third")) == 1.0 / 3);
    assert_close(json_number_value(json_object_get(run, "real_time")), 0.5e9);
    assert_true(json_number_value(json_object_get(run, "user_real_time")) == 5);
    assert_true(json_number_value(json_object_get(run, tamed)) == 1);
    assert_string_equal(text_in(run, "label"), tamed);
    assert_string_equal(text_in(run, "run_type"), "iteration");
    assert_string_equal(text_in(run, "time_unit"), "ns");
    assert_int_equal(json_integer_value(json_object_get(run, "iterations")), 1);
    run = run_of(document, "fail");
    assert_true(json_is_true(json_object_get(run, "error_occurred")));
    assert_string_equal(text_in(run, "error_message"), tamed);
    run = run_of(document, "left/out");
    assert_true(json_is_true(json_object_get(run, "skipped")));
    assert_string_equal(text_in(run, "skip_message"), "not on this machine");
    run = run_of(document, "scale/manual_time_BigO");
    assert_string_equal(text_in(run, "big_o"), "N");
    assert_close(json_number_value(json_object_get(run, "real_coefficient")), 1e6);
    assert_string_equal(text_in(run, "aggregate_name"), "BigO");
    assert_true(json_is_number(json_object_get(run_of(document, "scale/manual_time_RMS"), "rms")));
}

SUITE_TEST(test_json_is_strict)
{
    json_error_t error;
    hayai_add_context("date", "a key of the schema");
    hayai_add_context("mine", nasty);
    assert_int_equal(write_output("json", "strict.json", 1), HAYAI_OK);
    hayai_shutdown();
    json_t *document = json_load_file(in_directory("strict.json"), JSON_REJECT_DUPLICATES, &error);
    if (!document)
        fail_msg("%s at %d:%d", error.text, error.line, error.column);
    check_runs(document);
    json_t *context = json_object_get(document, "context");
    assert_string_equal(text_in(context, "user_date"), "a key of the schema");
    assert_string_equal(text_in(context, "mine"), tamed);
    assert_string_equal(text_in(context, "library_build_type"), hayai_library_build());
    assert_true(json_is_array(json_object_get(context, "caches")));
    assert_true(json_is_array(json_object_get(context, "load_avg")));
    json_decref(document);
    struct stat status;
    assert_int_not_equal(stat(in_directory("strict.json.part"), &status), 0);
}

SUITE_TEST(test_json_of_aggregates)
{
    assert_int_equal(write_output("json", "aggregates.json", 3), HAYAI_OK);
    json_t *document =
        json_load_file(in_directory("aggregates.json"), JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(document);
    json_t *run = run_of(document, "measure/manual_time_cv");
    assert_string_equal(text_in(run, "aggregate_unit"), "percentage");
    assert_string_equal(text_in(run, "run_name"), "measure/manual_time");
    assert_null(json_object_get(run, "repetition_index"));
    json_decref(document);
}

SUITE_TEST(test_json_lines)
{
    assert_int_equal(write_output("jsonl", "lines.jsonl", 1), HAYAI_OK);
    char *text = read_all("lines.jsonl");
    json_t *runs = json_array(), *document = json_object();
    size_t lines = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"), lines++) {
        json_t *object = json_loads(line, JSON_REJECT_DUPLICATES, NULL);
        assert_non_null(object);
        if (lines == 0)
            assert_true(json_is_object(json_object_get(object, "context")));
        else
            json_array_append(runs, object);
        json_decref(object);
    }
    json_object_set_new(document, "benchmarks", runs);
    assert_int_equal(lines, 1 + 3 + 2 + 2);
    check_runs(document);
    json_decref(document);
}

SUITE_TEST(test_tsv_has_the_same_columns_everywhere)
{
    assert_int_equal(write_output("tsv", "table.tsv", 1), HAYAI_OK);
    char *text = read_all("table.tsv");
    assert_int_equal(strncmp(text, "name\tfunction\targuments\tthreads\trun_type\taggregate\t", 51),
                     0);
    size_t lines = 0;
    for (char *line = text; *line; lines++) {
        char *end = strchr(line, '\n');
        assert_non_null(end);
        *end = '\0';
        assert_int_equal(occurrences(line, "\t"), 13);
        line = end + 1;
        *end = ' ';
    }
    assert_int_equal(lines, 1 + (2 + 6) + 2 + 2 + 2 * 2 + 2 * 2);
    assert_non_null(strstr(text, "\treal_time\t500000000\tns\t\t\ta\"b\\\\c\\n\\t\x01\x7f|<&>'"));
    assert_non_null(strstr(text, "\tnan\t\t\t"));
    assert_non_null(strstr(text, "\tthird\t0.3333333333333333\t\t"));
    assert_non_null(strstr(text, "\treal_time\t\tns\tskipped\tnot on this machine\t"));
}

SUITE_TEST(test_junit)
{
    assert_int_equal(write_output("junit", "report.xml", 2), HAYAI_OK);
    char *text = read_all("report.xml");
    assert_int_equal(strncmp(text, "<?xml version=\"1.0\"", 19), 0);
    assert_non_null(strstr(text, " tests=\"10\" failures=\"2\" errors=\"0\" skipped=\"2\" "));
    assert_int_equal(occurrences(text, "<testcase "), 10);
    assert_int_equal(occurrences(text, "</testcase>"), 10);
    assert_int_equal(occurrences(text, "<failure message=\"a&quot;b\\c&#10;&#9;"), 2);
    assert_int_equal(occurrences(text, "<skipped message=\"not on this machine\"/>"), 2);
    assert_non_null(strstr(text, "name=\"measure/manual_time repetition 1\" time=\"0.5\""));
    assert_non_null(strstr(text, "<property name=\"real_seconds_per_iteration\" value=\"0.5\"/>"));
    assert_non_null(strstr(text, "<property name=\"inf\" value=\"Infinity\"/>"));
    assert_non_null(strstr(text, "<property name=\"minus\" value=\"-Infinity\"/>"));
    assert_non_null(strstr(text, "<property name=\"nan\" value=\"NaN\"/>"));
    assert_int_equal(occurrences(text, "\x01"), 0);
    assert_string_equal(text + strlen(text) - 14, "</testsuites>\n");
}

SUITE_TEST(test_markdown)
{
    assert_int_equal(write_output("markdown", "table.md", 1), HAYAI_OK);
    char *text = read_all("table.md");
    assert_non_null(strstr(text, "\n| benchmark | time | CPU | iterations | counters |\n|:--|"));
    assert_non_null(strstr(text, "\n| measure/manual\\_time | 500000000 ns | "));
    assert_non_null(strstr(text, "inf Infinity, minus -Infinity, nan NaN, "));
    assert_non_null(strstr(text, "\n| fail | – | – | – | error: a\"b\\\\c  "));
    assert_non_null(strstr(text, "\n| left/out | – | – | – | skipped: not on this machine |\n"));
    assert_non_null(strstr(text, "\n| scale/manual\\_time\\_BigO | 1000000 ns N | "));
}

SUITE_TEST(test_google_benchmarks_own)
{
    assert_int_equal(write_output("console", "console.txt", 1), HAYAI_OK);
    char *text = read_all("console.txt");
    assert_non_null(strstr(text, "measure/manual_time"));
    assert_null(strstr(text, "\x1eskip:"));
    assert_int_equal(write_output("google-json", "google.json", 1), HAYAI_OK);
    text = read_all("google.json");
    assert_non_null(strstr(text, "\"benchmarks\": ["));
    hayai_suite *plain = suite_of("plain", empty_loop, NULL, NULL);
    hayai_suite *whole = suite;
    suite = plain;
    assert_int_equal(write_output("csv", "plain.csv", 1), HAYAI_OK);
    text = read_all("plain.csv");
    assert_non_null(strstr(text, "name,iterations,real_time,cpu_time"));
    assert_non_null(strstr(text, "\"plain\",1,"));
    suite = whole;
}

static void count_once(hayai_state *state, void *user)
{
    (void)user;
    empty_loop(state, NULL);
    hayai_state_set_counter(state, "late", 1, 0, HAYAI_ONE_K_1000);
}

/* Google Benchmark aborts on this. */
SUITE_TEST(test_csv_with_new_counters_is_refused)
{
    hayai_suite *uneven = suite_of("without", empty_loop, NULL, NULL);
    hayai_suite_add(uneven, "with", count_once, NULL, NULL);
    hayai_suite *whole = suite;
    suite = uneven;
    assert_int_equal(write_output("csv", "uneven.csv", 1), HAYAI_ERROR_ARGUMENT);
    suite = whole;
}

static void count_two(hayai_state *state, void *user)
{
    (void)user;
    empty_loop(state, NULL);
    hayai_state_set_counter(state, "first_counter", 1, 0, HAYAI_ONE_K_1000);
}

/* What a run prints to standard output. */
static char *print_run(const hayai_options *options)
{
    hayai_suite *counting = suite_of("counting", count_two, NULL, NULL);
    output_catch();
    const hayai_status status = hayai_suite_run(counting, options, NULL);
    char *printed = output_caught();
    assert_int_equal(status, HAYAI_OK);
    return printed;
}

SUITE_TEST(test_console_is_the_default_with_color_if_wanted)
{
    hayai_options options = {.iterations = 1, .color = HAYAI_COLOR_NEVER};
    char *text = print_run(&options);
    assert_non_null(strstr(text, "counting"));
    assert_non_null(strstr(text, "first_counter=1"));
    assert_null(strstr(text, "\x1b["));
    options.color = HAYAI_COLOR_ALWAYS;
    text = print_run(&options);
    assert_non_null(strstr(text, "\x1b["));
}

SUITE_TEST(test_counters_tabular)
{
    const hayai_options options = {.iterations = 1, .counters_tabular = true};
    char *text = print_run(&options);
    assert_non_null(strstr(text, "Iterations first_counter\n"));
}

SUITE_TEST(test_a_document_on_standard_output)
{
    static const char *const outputs[] = {"json:-"};
    const hayai_options options = {.iterations = 1, .outputs = outputs, .output_count = 1};
    char *text = print_run(&options);
    json_t *document = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(document); /* and nothing else */
    json_decref(document);
}

SUITE_TEST(test_outputs_that_fail)
{
    char missing[3][160];
    static const char *const formats[] = {"json", "tsv", "console"};
    for (int i = 0; i < 3; i++)
        snprintf(missing[i], sizeof missing[i], "%s:%s/missing/x", formats[i], directory);
    const char *const bad[] = {missing[0], missing[1], missing[2], "yaml:x", ""};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const hayai_options options = {.iterations = 1, .outputs = &bad[i], .output_count = 1};
        const hayai_status status = hayai_suite_run(suite, &options, NULL);
        assert_int_equal(status, i < 3 ? HAYAI_ERROR_IO : HAYAI_ERROR_ARGUMENT);
    }
    if (access("/dev/full", W_OK) != 0)
        return;
    static const char *const full[] = {"jsonl:/dev/full", "json:/dev/full", "console:/dev/full",
                                       "junit:/dev/full"};
    for (size_t i = 0; i < 4; i++) {
        const char *const outputs[] = {full[i], "none"};
        const hayai_options options = {.iterations = 1, .outputs = outputs, .output_count = 2};
        assert_int_equal(hayai_suite_run(suite, &options, NULL), HAYAI_ERROR_IO);
        assert_non_null(strstr(hayai_last_message(), "/dev/full"));
    }
}

SUITE_TEST(test_a_link_stays_a_link)
{
    char link[128];
    snprintf(link, sizeof link, "%s/link.json", directory);
    FILE *file = fopen(in_directory("target.json"), "w");
    fclose(file);
    assert_int_equal(symlink("target.json", link), 0);
    assert_int_equal(write_output("json", "link.json", 1), HAYAI_OK);
    struct stat status;
    assert_int_equal(lstat(link, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    json_t *document = json_load_file(in_directory("target.json"), 0, NULL);
    assert_non_null(document);
    json_decref(document);
}

/* ---- Places ---------------------------------------------------------------------------------- */

static hayai_status run_to(const char *first, const char *second)
{
    const char *const outputs[] = {first, second, "none"};
    const hayai_options options = {
        .iterations = 1, .outputs = outputs, .output_count = 3, .filter = "left"};
    return hayai_suite_run(suite, &options, NULL);
}

static const char *in(const char *format, const char *name)
{
    static char texts[8][192];
    static int next;
    char *text = texts[next++ % 8];
    snprintf(text, sizeof texts[0], "%s:%s/%s", format, directory, name);
    return text;
}

SUITE_TEST(test_two_outputs_never_share_a_place)
{
    char linked[160], plain[160];
    assert_int_equal(run_to("json", "tsv"), HAYAI_ERROR_ARGUMENT);
    assert_string_equal(hayai_last_message(),
                        "outputs json and tsv: both write to standard output");
    assert_int_equal(run_to("console:-", "csv"), HAYAI_ERROR_ARGUMENT);
    assert_int_equal(run_to(in("json", "new"), in("tsv", "new")), HAYAI_ERROR_ARGUMENT);
    assert_int_equal(run_to(in("json", "new"), in("tsv", "./new")), HAYAI_ERROR_ARGUMENT);
    assert_int_equal(run_to(in("json", "new"), in("tsv", "new.part")), HAYAI_ERROR_ARGUMENT);
    snprintf(plain, sizeof plain, "%s/new", directory);
    assert_int_not_equal(access(plain, F_OK), 0); /* refused before anything is opened */
    assert_int_equal(run_to(in("json", "new"), in("tsv", "other")), HAYAI_OK);
    snprintf(linked, sizeof linked, "%s/linked", directory);
    assert_int_equal(symlink(plain, linked), 0);
    assert_int_equal(run_to(in("jsonl", "new"), in("tsv", "linked")), HAYAI_ERROR_ARGUMENT);
    assert_int_equal(run_to("json:/dev/null", "tsv:/dev/null"), HAYAI_OK);
    remove(plain);
    assert_int_equal(run_to(in("json", "other"), in("tsv", "linked")), HAYAI_ERROR_IO);
    assert_non_null(strstr(hayai_last_message(), "/linked: a link to a file that does not exist"));
    assert_int_not_equal(access(plain, F_OK), 0);
    remove(linked);
    snprintf(plain, sizeof plain, "%s/other", directory);
    remove(plain);
}

/* ---- Lists ----------------------------------------------------------------------------------- */

static const char *listed(const char *format)
{
    static char text[1024];
    const char *const output = in(format, "list"), *const listed_to = strchr(output, ':') + 1;
    const hayai_reporter quiet = {0};
    const hayai_options options = {.filter = "left|scale/1",
                                   .outputs = &output,
                                   .output_count = 1,
                                   .reporters = &quiet,
                                   .reporter_count = 1};
    assert_int_equal(hayai_suite_report_list(suite, &options), HAYAI_OK);
    FILE *file = fopen(listed_to, "rb");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    remove(listed_to);
    return text;
}

static hayai_status on_list(const char *const *names, size_t count, void *user)
{
    snprintf(user, 64, "%zu:%s,%s", count, names[0], names[1]);
    return HAYAI_OK;
}

SUITE_TEST(test_lists)
{
    assert_string_equal(listed("console"), "left/out\nscale/1/manual_time\n");
    assert_string_equal(listed("markdown"), "left/out\nscale/1/manual_time\n");
    assert_string_equal(listed("tsv"), "name\nleft/out\nscale/1/manual_time\n");
    assert_string_equal(listed("csv"), "name\n\"left/out\"\n\"scale/1/manual_time\"\n");
    assert_string_equal(listed("jsonl"),
                        "{\"name\":\"left/out\"}\n{\"name\":\"scale/1/manual_time\"}\n");
    for (int i = 0; i < 2; i++) {
        json_t *document = json_loads(listed(i ? "json" : "google-json"), 0, NULL);
        json_t *names = json_object_get(document, "benchmarks");
        assert_int_equal(json_array_size(names), 2);
        assert_string_equal(json_string_value(json_object_get(json_array_get(names, 1), "name")),
                            "scale/1/manual_time");
        json_decref(document);
    }
    char seen[64] = "";
    const hayai_reporter reporter = {.list = on_list, .user = seen};
    const hayai_options options = {
        .filter = "left|scale/1", .reporters = &reporter, .reporter_count = 1};
    assert_int_equal(hayai_suite_report_list(suite, &options), HAYAI_OK);
    assert_string_equal(seen, "2:left/out,scale/1/manual_time");
}

int main(void)
{
    comma_locale_set();
    return test_run(directory_create, directory_remove);
}
