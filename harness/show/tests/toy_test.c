/* A new metric is a line of its list, a new chart a row, a query and a script, a new textbook kernel a line
 * of the table: this program has lists of its own with a toy in each (CMakeLists.txt adds the chart to a copy of
 * plots/), and finds the toys in store, table, exports, chart and page. (kernels.toy_test adds lines to the
 * table itself.) */
#include "store/export.h"
#include "test.h"

#include "show/charts/chart.h"
#include "show/report.h"
#include "sample_view.h"
#include "store_sample.h"
#include "show/answer.h"

/* What queries name, and the toy. */
const metric_field metric_list[] = {
    {"row_ulp_max", METRIC_REAL, offsetof(ln_metrics, row_ulp_max), true},
    {"correctly_rounded", METRIC_REAL, offsetof(ln_metrics, correctly_rounded), true},
    {"mismatches", METRIC_COUNT, offsetof(ln_metrics, mismatches), true},
    {"elements", METRIC_COUNT, offsetof(ln_metrics, elements), true},
    {"kappa_max", METRIC_REAL, offsetof(ln_metrics, kappa_max), false},
    {"toy_metric", METRIC_REAL, offsetof(ln_metrics, bits), true},
};
const size_t metric_count_all = sizeof metric_list / sizeof *metric_list;

static void assert_has(const char *path, const char *words)
{
    char *text = slurp(path);
    if (!text || !strstr(text, words))
        fail_msg("%s does not have '%s'", path, words);
    free(text);
}

/* Stored in a file from before the metric was in the list, and found in each view of it. */
TEST_IN_SCRATCH(metric)
{
    const char *path = scratch_path(state, "toy.db");
    result_store *store = store_open(path, STORE_WRITE);
    case_key key = sample_key();
    int64_t run = begun(store);
    ln_metrics metrics = {.row_ulp_max = 1.5, .bits = 21.25, .elements = 9};
    store_close(store);
    sqlite3 *before;
    assert_int_equal(sqlite3_open(path, &before), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(before, "ALTER TABLE accuracies DROP COLUMN toy_metric", NULL, NULL, NULL),
        SQLITE_OK);
    sqlite3_close(before);
    store = store_open(path, STORE_WRITE);
    put_accuracy(store, run, &key, &(case_verdict){.kind = VERDICT_PASS}, &metrics, 4);
    run_view view;
    view = view_load(store, run);
    text_buffer table = {0};
    export_cases(store, run, OUTPUT_TSV, &table);
    assert_non_null(strstr(table.bytes, "\ttoy_metric\t"));
    assert_non_null(strstr(table.bytes, "\t21.25\t"));
    text_free(&table);
    json_t *json = view_run_json(&view);
    json_t *found =
        json_object_get(json_object_get(json_array_get(json, 0), "metrics"), "toy_metric");
    assert_true(json_number_value(found) == 21.25);
    json_decref(json);
    view_free(&view);
    store_close(store);
}

TEST(chart_and_kernel)
{
    sample_view *sample = sample_plain();
    assert_non_null(sample);
    sample_kernel(sample, "toy_f32_scalar", "toy", "scalar");
    for (size_t hidden = 64; hidden <= 4096; hidden *= 4)
        sample_speed(sample, "toy_f32_scalar", 65536 / hidden, hidden, 20);
    sample_speed(sample, "toy_f32_scalar", 65536 / 768, 768, 20);
    sample_store(sample);
    const report_result result = report_write(&sample->view, PLOTS_DIRECTORY, "toy", NULL);
    if (result.note[0])
        fail_msg("%s", result.note);
    assert_true(result.chart_count > 1);
    assert_has("toy/index.html", "What does a toy look like?");
    assert_has("toy/report.md", "![What does a toy look like?](toy.png)");
    assert_has("toy/field.svg", ">toy_scalar<");
    assert_has("toy/report.md", "| `toy_f32_scalar` |");
    run_answer answer;
    answer_make(&sample->view, &answer);
    bool shown = false;
    for (size_t i = 0; i < answer.count; i++)
        shown = shown || (answer.rows[i].shown && strcmp(answer.rows[i].label, "toy_scalar") == 0);
    assert_true(shown);
    answer_free(&answer);
    sample_free(sample);
}
