/* A comparison as JSON: the published form, and customSmallerIsBetter for accuracy. */
#include "compare/comparison.h"
#include "domain/regime.h"
#include "views/views.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Takes the value over, whatever becomes of it; a NULL value is memory that ran out. */
static bool set(json_t *object, const char *key, json_t *value)
{
    return json_object_set_new(object, key, value) == 0;
}

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
    double bytes = call_bytes(key->rows, key->hidden, key->dtype);
    view_case view = {
        .stored = &stored,
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

static bool set_comparison(json_t *object, const run_comparison *comparison,
                           const comparison_pair *pair)
{
    text_buffer note = {0};
    add_pair_note(&note, comparison, pair);
    exit_code code = pair_exit_code(pair, &comparison->settings);
    bool fine =
        !note.failed && set(object, "ratio", json_figure(pair->ratio.middle)) &&
        set(object, "ratio_lo", json_figure(pair->ratio.lo)) &&
        set(object, "ratio_hi", json_figure(pair->ratio.hi)) &&
        set(object, "speed_verdict", name_or_null(speed_verdict_name(pair->speed))) &&
        set(object, "accuracy_verdict", name_or_null(accuracy_verdict_name(pair->accuracy))) &&
        set(object, "outcome", json_string(outcome_name(code))) &&
        set(object, "exit_code", json_integer(code)) &&
        set(object, "inputs_judged", json_integer((json_int_t)pair->tally.judged)) &&
        set(object, "inputs_differing", json_integer((json_int_t)pair->tally.differing)) &&
        set(object, "inputs_worse", json_integer((json_int_t)pair->tally.worse)) &&
        set(object, "search_processes", json_integer(pair->searched)) &&
        set(object, "processes", json_integer(pair->processes[NEW])) &&
        set(object, "processes_base", json_integer(pair->processes[BASE])) &&
        set(object, "p", json_figure(pair->p)) && set(object, "noise", json_figure(pair->noise)) &&
        set(object, "seconds", json_figure(pair->seconds)) &&
        set(object, "note", json_text(note.bytes ? note.bytes : ""));
    text_free(&note);
    return fine;
}

static json_t *pair_json(const run_comparison *comparison, const comparison_pair *pair)
{
    json_t *object = case_json(comparison, pair, NEW);
    if (object && set_comparison(object, comparison, pair) &&
        set(object, "base", case_json(comparison, pair, BASE)))
        return object;
    json_decref(object);
    return NULL;
}

static json_t *file_json(const run_comparison *comparison, int side)
{
    bool run = strcmp(comparison->settings.tool, "compare") == 0;
    json_t *object = json_object();
    if (object && set(object, "file", json_text(comparison->settings.files[side])) &&
        set(object, run ? "run" : "object_hash", json_text(comparison->identity[side])))
        return object;
    json_decref(object);
    return NULL;
}

static json_t *list_pairs(const run_comparison *comparison)
{
    json_t *array = json_array();
    for (size_t i = 0; array && i < comparison->pair_count; i++) {
        if (json_array_append_new(array, pair_json(comparison, &comparison->pairs[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static json_t *list_words(const word_list *words)
{
    json_t *array = json_array();
    for (size_t i = 0; array && i < words->count; i++) {
        if (json_array_append_new(array, json_text(words->words[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static json_t *machine_json(const machine_facts *machine)
{
    json_t *object = json_object();
    for (size_t i = 0; object && i < machine->count; i++) {
        if (!set(object, machine->facts[i].name, json_text(machine->facts[i].value))) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

static json_t *calibration_json(const noise_calibration *known)
{
    json_t *object = json_object();
    if (object && set(object, "made", json_text(known->made)) &&
        set(object, "kernel", json_text(known->kernel)) &&
        set(object, "rebuilds", json_integer(known->rebuilds)))
        return object;
    json_decref(object);
    return NULL;
}

static bool set_settings(json_t *object, const comparison_settings *settings)
{
    const char *gate = settings->accuracy ? accuracy_gate_name(settings->gate) : NULL;
    return set(object, "threshold", json_figure(settings->threshold)) &&
           set(object, "confidence", json_figure(settings->confidence)) &&
           set(object, "time", json_figure(settings->seconds)) &&
           set(object, "accuracy", name_or_null(gate)) &&
           set(object, "seed", json_integer((json_int_t)settings->seed));
}

static bool fill(json_t *object, const run_comparison *comparison)
{
    bool known = comparison->calibration.id != 0;
    exit_code code = comparison_exit_code(comparison);
    const char *speed = speed_verdict_name(comparison_speed(comparison));
    const char *accuracy = accuracy_verdict_name(comparison_accuracy(comparison));
    char schema[32];
    double mean;
    snprintf(schema, sizeof schema, "lnbench-%s-1", comparison->settings.tool);
    return comparison_mean(comparison, &mean, NULL) && set(object, "schema", json_string(schema)) &&
           set(object, "verdict", json_string(outcome_name(code))) &&
           set(object, "exit_code", json_integer(code)) &&
           set(object, "speed_verdict", name_or_null(speed)) &&
           set(object, "accuracy_verdict", name_or_null(accuracy)) &&
           set(object, "geometric_mean", json_figure(mean)) &&
           set_settings(object, &comparison->settings) &&
           set(object, "base", file_json(comparison, BASE)) &&
           set(object, "new", file_json(comparison, NEW)) &&
           set(object, "calibration",
               known ? calibration_json(&comparison->calibration) : json_null()) &&
           set(object, "pairs", list_pairs(comparison)) &&
           set(object, "not_compared", list_words(&comparison->lonely)) &&
           set(object, "differences", list_words(&comparison->differences)) &&
           set(object, "notes", list_words(&comparison->remarks)) &&
           set(object, "machine", machine_json(&comparison->machine));
}

static bool dump(json_t *json, FILE *file)
{
    bool fine = json && json_dumpf(json, file, JSON_INDENT(1)) == 0 && fputs("\n", file) >= 0;
    json_decref(json);
    return fine;
}

bool comparison_print_json(const run_comparison *comparison, FILE *file)
{
    json_t *object = json_object();
    if (object && fill(object, comparison))
        return dump(object, file);
    json_decref(object);
    return false;
}

/* The figure of a pair's new side; an undefined one is left out. */
static bool add_smaller(json_t *array, const comparison_pair *pair, const char *what, double value)
{
    char name[NAME_MAX_LENGTH + CONVENTION_MAX_LENGTH + INPUT_MAX_LENGTH + 96];
    if (!isfinite(value))
        return true;
    snprintf(name, sizeof name, "%s/%s/%zux%zu/%s %s", pair->key.kernel, pair->key.convention,
             pair->key.rows, pair->key.hidden, pair->key.input, what);
    json_t *object = json_object();
    if (object && set(object, "name", json_text(name)) &&
        set(object, "unit", json_string("row ULP")) && set(object, "value", json_figure(value)))
        return json_array_append_new(array, object) == 0;
    json_decref(object);
    return false;
}

bool comparison_print_smaller(const run_comparison *comparison, FILE *file)
{
    json_t *array = json_array();
    bool fine = array != NULL;
    for (size_t i = 0; fine && i < comparison->pair_count; i++) {
        const comparison_pair *pair = &comparison->pairs[i];
        if (pair->metrics[NEW].elements > 0)
            fine = add_smaller(array, pair, "row_ulp_max", pair->metrics[NEW].row_ulp_max) &&
                   add_smaller(array, pair, "row_ulp_mean", pair->metrics[NEW].row_ulp_mean);
    }
    if (fine)
        return dump(array, file);
    json_decref(array);
    return false;
}
