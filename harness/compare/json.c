/* A comparison as JSON: the published form, and customSmallerIsBetter for accuracy. */
#include "base/output.h"
#include "compare/comparison.h"
#include "domain/operation.h"
#include "answer/run_view.h"
#include <math.h>
#include <string.h>

static json_t *name_or_null(const char *name)
{
    return name ? json_string(name) : json_null();
}

static json_t *case_json(const run_comparison *comparison, const comparison_pair *pair, int side)
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
                  .roof_ratio = pair->roof[side],
                  .roof_lo = NAN,
                  .roof_hi = NAN,
                  .cycles = pair->cycles[side],
                  .instructions = pair->instructions[side],
                  .repetitions = pair->processes[side]},
        .reproducibility = pair->reproducible[side],
        .regime = comparison_regime(comparison, key),
    };
    return view_case_json(&view);
}

static json_t *pair_json(const run_comparison *comparison, const comparison_pair *pair)
{
    text_buffer note = {0};
    add_pair_note(&note, comparison, pair);
    exit_code code = pair_exit_code(pair, &comparison->settings);
    json_t *object = case_json(comparison, pair, NEW);
    json_object_update_new(
        object,
        json_pack(
            "{s:o, s:o, s:o, s:o, s:o, s:s, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, "
            "s:o, s:o}",
            "ratio", json_figure(pair->ratio.middle), "ratio_lo", json_figure(pair->ratio.lo),
            "ratio_hi", json_figure(pair->ratio.hi), "speed_verdict",
            name_or_null(speed_verdict_name(pair->speed)), "accuracy_verdict",
            name_or_null(accuracy_verdict_name(pair->accuracy)), "outcome", outcome_name(code),
            "exit_code", (int)code, "inputs_judged", (json_int_t)pair->tally.judged,
            "inputs_differing", (json_int_t)pair->tally.differing, "inputs_worse",
            (json_int_t)pair->tally.worse, "search_processes", (json_int_t)pair->searched,
            "processes", (json_int_t)pair->processes[NEW], "processes_base",
            (json_int_t)pair->processes[BASE], "p", json_figure(pair->p), "noise",
            json_figure(pair->noise), "seconds", json_figure(pair->seconds), "note",
            json_text(note.bytes ? note.bytes : ""), "base", case_json(comparison, pair, BASE)));
    text_free(&note);
    return object;
}

static json_t *file_json(const run_comparison *comparison, int side)
{
    bool run = strcmp(comparison->settings.tool, "compare") == 0;
    return json_pack("{s:o, s:o}", "file", json_text(comparison->settings.files[side]),
                     run ? "run" : "object_hash", json_text(comparison->identity[side]));
}

static json_t *list_pairs(const run_comparison *comparison)
{
    json_t *array = json_array();
    for (size_t i = 0; i < comparison->pair_count; i++)
        json_array_append_new(array, pair_json(comparison, &comparison->pairs[i]));
    return array;
}

static json_t *list_words(const word_list *words)
{
    json_t *array = json_array();
    for (size_t i = 0; i < words->count; i++)
        json_array_append_new(array, json_text(words->words[i]));
    return array;
}

static json_t *coverage_json(const run_comparison *comparison)
{
    const coverage *covered = &comparison->covered;
    return json_pack("{s:b, s:I, s:I, s:I, s:I, s:o}", "asked_known", comparison->asked_known,
                     "asked", (json_int_t)covered->asked, "compared", (json_int_t)covered->done,
                     "declined", (json_int_t)covered->declined, "lost", (json_int_t)covered->lost,
                     "lost_names", list_words(&covered->named));
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

static json_t *calibration_json(const noise_calibration *known)
{
    if (known->id == 0)
        return json_null();
    return json_pack("{s:o, s:o, s:I}", "made", json_text(known->made), "kernel",
                     json_text(known->kernel), "rebuilds", (json_int_t)known->rebuilds);
}

bool comparison_print_json(const run_comparison *comparison, FILE *file)
{
    const comparison_settings *settings = &comparison->settings;
    const char *gate = settings->accuracy ? accuracy_gate_name(settings->gate) : NULL;
    exit_code code = comparison_exit_code(comparison);
    char schema[32];
    snprintf(schema, sizeof schema, "lnbench-%s-1", settings->tool);
    return output_json_to(
        file,
        json_pack(
            "{s:s, s:s, s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:o, s:o, s:o, "
            "s:o, s:o, s:o, s:o}",
            "schema", schema, "verdict", outcome_name(code), "exit_code", (int)code, "coverage",
            coverage_json(comparison), "speed_verdict",
            name_or_null(speed_verdict_name(comparison_speed(comparison))), "accuracy_verdict",
            name_or_null(accuracy_verdict_name(comparison_accuracy(comparison))), "geometric_mean",
            json_figure(comparison_mean(comparison)), "threshold", json_figure(settings->threshold),
            "confidence", json_figure(settings->confidence), "time", json_figure(settings->seconds),
            "accuracy", name_or_null(gate), "seed", (json_int_t)settings->seed, "base",
            file_json(comparison, BASE), "new", file_json(comparison, NEW), "calibration",
            calibration_json(&comparison->calibration), "pairs", list_pairs(comparison),
            "not_compared", list_apart(comparison), "differences",
            list_words(&comparison->differences), "notes", list_words(&comparison->remarks),
            "machine", json_facts(&comparison->machine)));
}

/* The figure of a pair's new side; an undefined one is left out. */
static void add_smaller(json_t *array, const comparison_pair *pair, const char *what, double value)
{
    char name[NAME_MAX_LENGTH + CONVENTION_MAX_LENGTH + INPUT_MAX_LENGTH + 96];
    snprintf(name, sizeof name, "%s/%s/%zux%zu/%s %s", pair->key.kernel, pair->key.convention,
             pair->key.rows, pair->key.hidden, pair->key.input, what);
    if (isfinite(value))
        json_array_append_new(array, json_pack("{s:o, s:s, s:f}", "name", json_text(name), "unit",
                                               "row ULP", "value", value));
}

bool comparison_print_smaller(const run_comparison *comparison, FILE *file)
{
    json_t *array = json_array();
    for (size_t i = 0; i < comparison->pair_count; i++) {
        const comparison_pair *pair = &comparison->pairs[i];
        if (pair->metrics[NEW].elements == 0)
            continue;
        add_smaller(array, pair, "row_ulp_max", pair->metrics[NEW].row_ulp_max);
        add_smaller(array, pair, "row_ulp_mean", pair->metrics[NEW].row_ulp_mean);
    }
    return output_json_to(file, array);
}
