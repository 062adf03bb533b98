/* What a comparison says in JSON: the published form but for the pairs, and customSmallerIsBetter for
 * accuracy. */
#include "base/output.h"
#include "show/compare/comparison.h"
#include "domain/operation.h"
#include "show/run_view.h"
#include <math.h>
#include <string.h>

json_t *pair_case_json(const run_comparison *comparison, const comparison_pair *pair, int side)
{
    const case_key *key = &pair->key;
    stored_case stored = {
        .key = *key,
        .judged = true,
        .verdict = pair->verdicts[side],
        .metrics = pair->metrics[side],
        .bound_row_ulp = pair->bound_row_ulp[side],
    };
    double bytes = call_bytes(operations[key->operation], key->rows, key->hidden, key->dtype);
    view_case view = {
        .stored = &stored,
        .label = pair->label,
        .speed = {.time_ns = pair->time_ns[side],
                  .time_lo_ns = NAN,
                  .time_hi_ns = NAN,
                  .gbps = bytes / pair->time_ns[side],
                  .copy_ratio = pair->roof[side],
                  .copy_ratio_lo = NAN,
                  .copy_ratio_hi = NAN,
                  .cycles = pair->cycles[side],
                  .instructions = pair->instructions[side],
                  .repetitions = pair->processes[side]},
        .reproducibility = pair->reproducible[side],
        .regime = comparison_regime(comparison, key),
    };
    return view_case_json(&view);
}

static json_t *file_json(const run_comparison *comparison, int side)
{
    bool run = strcmp(comparison->settings.tool, "compare") == 0;
    return json_pack("{s:o, s:o}", "file", json_text(comparison->settings.files[side]),
                     run ? "run" : "object_hash", json_text(comparison->identity[side]));
}

static json_t *list_apart(const run_comparison *comparison)
{
    json_t *array = json_array();
    for (size_t i = 0; i < comparison->apart_count; i++) {
        text_buffer line = {0};
        add_apart(&line, &comparison->apart[i]);
        json_array_append_new(array, json_text(line.bytes ? line.bytes : ""));
        text_free(&line);
    }
    return array;
}

json_t *comparison_json(const run_comparison *comparison)
{
    const comparison_settings *settings = &comparison->settings;
    const char *gate = settings->accuracy ? accuracy_gate_name(settings->gate) : NULL;
    exit_code code = comparison_exit_code(comparison);
    json_t *covered = coverage_json(&comparison->covered, "compared");
    char schema[32];
    text_buffer worst = {0};
    add_worst(&worst, comparison, "", "");
    json_t *told = worst.bytes ? json_text(worst.bytes) : json_null();
    text_free(&worst);
    json_object_set_new(covered, "requested_known", json_boolean(comparison->requested_known));
    snprintf(schema, sizeof schema, "lnbench-%s-3", settings->tool);
    return json_pack(
        "{s:s, s:s, s:i, s:o, s:o, s:s?, s:s?, s:o, s:o, s:o, s:o, s:s?, s:I, s:o, s:o, s:o, "
        "s:o, s:o, s:o, s:o}",
        "schema", schema, "verdict", outcome_name(code), "exit_code", (int)code, "worst", told,
        "coverage", covered, "speed_verdict", speed_verdict_name(comparison_speed(comparison)),
        "accuracy_verdict", accuracy_verdict_name(comparison_accuracy(comparison)),
        "geometric_mean", json_figure(comparison_mean(comparison)), "threshold",
        json_figure(settings->threshold), "confidence", json_figure(settings->confidence), "time",
        json_figure(settings->seconds), "accuracy", gate, "seed", (json_int_t)settings->seed,
        "base", file_json(comparison, BASE), "new", file_json(comparison, NEW), "noise_measured",
        comparison->noise.made[0] ? json_text(comparison->noise.made) : json_null(), "not_compared",
        list_apart(comparison), "differences", list_words(&comparison->differences), "notes",
        list_words(&comparison->remarks), "machine", json_facts(&comparison->machine));
}

static void add_error(relation *rows, const comparison_pair *pair, const char *what, double value)
{
    const case_key *key = &pair->key;
    if (isfinite(value))
        relation_row(rows,
                     as_format("%s/%s/%zux%zu/%s %s", key->kernel, key->convention, key->rows,
                               key->hidden, key->input, what),
                     as_text("row ULP"), as_figure(value));
}

relation *comparison_errors(const run_comparison *comparison)
{
    static const relation_column columns[] = {COLUMN("name", "name"), COLUMN("unit", "unit"),
                                              COLUMN("value", "value")};
    relation *rows = relation_create(COLUMNS(columns));
    for (size_t i = 0; i < comparison->pair_count; i++) {
        const comparison_pair *pair = &comparison->pairs[i];
        if (pair->metrics[NEW].elements == 0)
            continue;
        add_error(rows, pair, "row_ulp_max", pair->metrics[NEW].row_ulp_max);
        add_error(rows, pair, "row_ulp_mean", pair->metrics[NEW].row_ulp_mean);
    }
    return rows;
}
