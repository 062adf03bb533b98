/* The results of a duet as JSON: the design's form, and customSmallerIsBetter for accuracy. */
#include "duet.h"
#include "views.h"
#include <math.h>
#include <stdlib.h>

/* Takes the value over, whatever becomes of it; a NULL value is memory that ran out. */
static bool set(json_t *object, const char *key, json_t *value)
{
    return json_object_set_new(object, key, value) == 0;
}

static json_t *name_or_null(const char *name)
{
    return name ? json_string(name) : json_null();
}

static json_t *case_json(const duet *duet, const duet_pair *pair, int side)
{
    const machine *machine = &duet->machine;
    const case_key *key = &pair->key;
    stored_case stored = {
        .key = *key,
        .judged = true,
        .verdict = pair->verdicts[side],
        .metrics = pair->metrics[side],
        .bound_row_ulp = pair->bound_row_ulp[side],
    };
    double bytes = 8.0 * (double)key->rows * (double)key->hidden;
    view_case view = {
        .stored = &stored,
        .speed = {.time_ns = pair->time_ns[side],
                  .time_lo_ns = NAN,
                  .time_hi_ns = NAN,
                  .gbps = bytes / pair->time_ns[side],
                  .roof_ratio = NAN,
                  .roof_lo = NAN,
                  .roof_hi = NAN,
                  .repetitions = pair->confirmed},
        .regime = speed_regime(key->rows, key->hidden, key->dtype, machine->l1d_bytes,
                               machine->l2_bytes, machine->l3_bytes),
    };
    return view_case_json(&view);
}

static bool set_comparison(json_t *object, const duet *duet, const duet_pair *pair)
{
    text note = {0};
    duet_pair_note(pair, &note);
    exit_code code = duet_pair_exit_code(pair, &duet->settings);
    bool fine =
        !note.failed && set(object, "ratio", json_figure(pair->ratio.middle)) &&
        set(object, "ratio_lo", json_figure(pair->ratio.lo)) &&
        set(object, "ratio_hi", json_figure(pair->ratio.hi)) &&
        set(object, "speed_verdict", name_or_null(speed_verdict_name(pair->speed))) &&
        set(object, "accuracy_verdict", name_or_null(accuracy_verdict_name(pair->accuracy))) &&
        set(object, "outcome", json_string(duet_outcome(code))) &&
        set(object, "exit_code", json_integer(code)) &&
        set(object, "inputs_judged", json_integer((json_int_t)pair->tally.judged)) &&
        set(object, "inputs_differing", json_integer((json_int_t)pair->tally.differing)) &&
        set(object, "inputs_worse", json_integer((json_int_t)pair->tally.worse)) &&
        set(object, "search_processes", json_integer(pair->searched)) &&
        set(object, "processes", json_integer(pair->confirmed)) &&
        set(object, "seconds", json_figure(pair->seconds)) &&
        set(object, "note", json_text(note.bytes ? note.bytes : ""));
    text_free(&note);
    return fine;
}

static json_t *pair_json(const duet *duet, const duet_pair *pair)
{
    json_t *object = case_json(duet, pair, NEW);
    if (object && set_comparison(object, duet, pair) &&
        set(object, "base", case_json(duet, pair, BASE)))
        return object;
    json_decref(object);
    return NULL;
}

static json_t *file_json(const duet *duet, int side)
{
    char hash[20];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)duet->hashes[side]);
    json_t *object = json_object();
    if (object && set(object, "file", json_text(duet->settings.files[side])) &&
        set(object, "object_hash", json_string(hash)))
        return object;
    json_decref(object);
    return NULL;
}

static json_t *list_pairs(const duet *duet)
{
    json_t *array = json_array();
    for (size_t i = 0; array && i < duet->pair_count; i++) {
        if (json_array_append_new(array, pair_json(duet, &duet->pairs[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static json_t *list_lonely(const duet *duet)
{
    json_t *array = json_array();
    for (size_t i = 0; array && i < duet->lonely.count; i++) {
        if (json_array_append_new(array, json_text(duet->lonely.words[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static json_t *machine_json(const machine *machine)
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

static bool fill(json_t *object, const duet *duet)
{
    const duet_settings *settings = &duet->settings;
    exit_code code = duet_exit_code(duet);
    const char *speed = speed_verdict_name(duet_overall_speed(duet));
    const char *accuracy = accuracy_verdict_name(duet_overall_accuracy(duet));
    return set(object, "schema", json_string("lnbench-duet-1")) &&
           set(object, "verdict", json_string(duet_outcome(code))) &&
           set(object, "exit_code", json_integer(code)) &&
           set(object, "speed_verdict", name_or_null(speed)) &&
           set(object, "accuracy_verdict", name_or_null(accuracy)) &&
           set(object, "threshold", json_figure(settings->threshold)) &&
           set(object, "confidence", json_figure(settings->confidence)) &&
           set(object, "time", json_figure(settings->seconds)) &&
           set(object, "accuracy",
               settings->accuracy ? json_string(accuracy_gate_name(settings->gate))
                                  : json_null()) &&
           set(object, "seed", json_integer((json_int_t)settings->seed)) &&
           set(object, "base", file_json(duet, BASE)) && set(object, "new", file_json(duet, NEW)) &&
           set(object, "pairs", list_pairs(duet)) &&
           set(object, "not_compared", list_lonely(duet)) &&
           set(object, "machine", machine_json(&duet->machine));
}

static bool dump(json_t *json, FILE *file)
{
    bool fine = json && json_dumpf(json, file, JSON_INDENT(1)) == 0 && fputs("\n", file) >= 0;
    json_decref(json);
    return fine;
}

bool duet_print_json(const duet *duet, FILE *file)
{
    json_t *object = json_object();
    if (object && fill(object, duet))
        return dump(object, file);
    json_decref(object);
    return false;
}

/* The figure of a pair's new side; an undefined one is left out. */
static bool add_smaller(json_t *array, const duet_pair *pair, const char *what, double value)
{
    char name[NAME_MAX_LENGTH + CONVENTION_MAX_LENGTH + 96];
    if (!isfinite(value))
        return true;
    snprintf(name, sizeof name, "%s/%s/%zux%zu/normal %s", pair->key.kernel, pair->key.convention,
             pair->key.rows, pair->key.hidden, what);
    json_t *object = json_object();
    if (object && set(object, "name", json_text(name)) &&
        set(object, "unit", json_string("row ULP")) && set(object, "value", json_figure(value)))
        return json_array_append_new(array, object) == 0;
    json_decref(object);
    return false;
}

bool duet_print_smaller(const duet *duet, FILE *file)
{
    json_t *array = json_array();
    bool fine = array != NULL;
    for (size_t i = 0; fine && i < duet->pair_count; i++) {
        const duet_pair *pair = &duet->pairs[i];
        if (pair->metrics[NEW].elements > 0)
            fine = add_smaller(array, pair, "row_ulp_max", pair->metrics[NEW].row_ulp_max) &&
                   add_smaller(array, pair, "row_ulp_mean", pair->metrics[NEW].row_ulp_mean);
    }
    if (fine)
        return dump(array, file);
    json_decref(array);
    return false;
}
