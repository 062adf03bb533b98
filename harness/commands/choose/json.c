/* Choices as JSON. */
#include "commands/choose/show.h"
#include <math.h>
#include <string.h>

static bool set(json_t *object, const char *key, json_t *value)
{
    return json_object_set_new(object, key, value) == 0;
}

static const char *fate_word(candidate_fate fate)
{
    static const char *const words[] = {
        [FATE_BEST] = "best",          [FATE_TIED] = "tied",         [FATE_SLOWER] = "slower",
        [FATE_BUDGET] = "over-budget", [FATE_UNJUDGED] = "unjudged", [FATE_FAULT] = "ruled-out",
        [FATE_UNTIMED] = "not-timed",
    };
    return words[fate];
}

/* The errors over the rows that the budget is about. */
static json_t *judged_json(const scored_kernel *candidate)
{
    json_t *object = json_object();
    if (object && set(object, "row_ulp_max", json_figure(candidate->row_ulp)) &&
        set(object, "bound_row_ulp", json_figure(candidate->bound)) &&
        set(object, "ulp_max", json_figure(candidate->ulp)) &&
        set(object, "correctly_rounded", json_figure(candidate->correctly_rounded)) &&
        set(object, "bits", json_figure(candidate->bits)) &&
        set(object, "hidden", json_integer((json_int_t)candidate->judged_hidden)) &&
        set(object, "kappa", json_figure(candidate->judged_kappa)))
        return object;
    json_decref(object);
    return NULL;
}

static json_t *candidate_json(const scored_kernel *candidate)
{
    json_t *object = candidate ? view_case_json(&candidate->view) : NULL;
    if (!candidate)
        return json_null();
    if (object && set(object, "object_hash", json_text(candidate->object_hash)) &&
        set(object, "fate", json_text(fate_word(candidate->fate))) &&
        set(object, "reason", json_text(candidate->reason)) &&
        set(object, "judged", judged_json(candidate)) &&
        set(object, "ratio", json_figure(candidate->pair.ratio)) &&
        set(object, "ratio_lo", json_figure(candidate->pair.lo)) &&
        set(object, "ratio_hi", json_figure(candidate->pair.hi)))
        return object;
    json_decref(object);
    return NULL;
}

static bool in_runners_up(const scored_kernel *candidate)
{
    return candidate->fate == FATE_TIED || candidate->fate == FATE_SLOWER;
}

static bool in_pareto(const scored_kernel *candidate)
{
    return candidate->pareto;
}

static bool in_others(const scored_kernel *candidate)
{
    return candidate->fate > FATE_SLOWER;
}

static json_t *list_json(const kernel_choice *choice, bool (*is_in)(const scored_kernel *))
{
    json_t *array = json_array();
    for (size_t i = 0; array && i < choice->count; i++) {
        const scored_kernel *candidate = &choice->candidates[i];
        if (is_in(candidate) && json_array_append_new(array, candidate_json(candidate)) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static json_t *budget_json(const choose_budget *budget)
{
    json_t *object = json_object();
    if (object && set(object, "max_row_ulp", json_figure(budget->row_ulp)) &&
        set(object, "max_ulp", json_figure(budget->ulp)) &&
        set(object, "correctly_rounded", json_figure(budget->correctly_rounded)) &&
        set(object, "bits", json_figure(budget->bits)) &&
        set(object, "kappa", json_figure(budget->kappa)) &&
        set(object, "proven", json_boolean(budget->proven)))
        return object;
    json_decref(object);
    return NULL;
}

/* Where the figures come from. */
static json_t *origin_json(const chosen *one)
{
    const kernel_evidence *evidence = &one->evidence;
    const machine_facts *machine = &evidence->machine;
    json_t *object = json_object();
    if (object && set(object, "run", json_integer(evidence->run.id)) &&
        set(object, "started", json_text(evidence->run.started)) &&
        set(object, "measured_now", json_boolean(one->measured)) &&
        set(object, "git_commit", json_text(machine_fact_value(machine, "git_commit"))) &&
        set(object, "cpu_model", json_text(machine_fact_value(machine, "cpu_model"))) &&
        set(object, "same_library", json_boolean(evidence->same_library)) &&
        set(object, "same_shape", json_boolean(evidence->same_shape)) &&
        set(object, "same_convention", json_boolean(evidence->same_convention)))
        return object;
    json_decref(object);
    return NULL;
}

static json_t *one_json(const chosen *one)
{
    const choose_wanted *wanted = &one->wanted;
    const kernel_choice *choice = &one->choice;
    json_t *object = json_object();
    if (object && set(object, "schema", json_string("lnbench-choose-1")) &&
        set(object, "rows", json_integer((json_int_t)wanted->rows)) &&
        set(object, "hidden", json_integer((json_int_t)wanted->hidden)) &&
        set(object, "dtype", json_text(dtype_name(wanted->dtype))) &&
        set(object, "param", wanted->param ? json_text(wanted->param) : json_null()) &&
        set(object, "convention", json_text(wanted->convention_label)) &&
        set(object, "cache", json_text(cache_name(wanted->cache))) &&
        set(object, "time_on", json_text(wanted->time_on)) &&
        set(object, "threads", json_integer(wanted->threads)) &&
        set(object, "budget", budget_json(&wanted->budget)) &&
        set(object, "origin", origin_json(one)) &&
        set(object, "best", candidate_json(choice->best)) &&
        set(object, "runners_up", list_json(choice, in_runners_up)) &&
        set(object, "pareto", list_json(choice, in_pareto)) &&
        set(object, "others", list_json(choice, in_others)) &&
        set(object, "most_accurate", candidate_json(choice->most_accurate)))
        return object;
    json_decref(object);
    return NULL;
}

json_t *chosen_json(const chosen *all, size_t count)
{
    if (count == 1)
        return one_json(&all[0]);
    json_t *list = json_array(), *whole = json_object();
    bool fine = list && whole;
    for (size_t i = 0; fine && i < count; i++)
        fine = json_array_append_new(list, one_json(&all[i])) == 0;
    fine = fine && set(whole, "schema", json_string("lnbench-choose-1"));
    if (fine && set(whole, "choices", json_incref(list))) {
        json_decref(list);
        return whole;
    }
    json_decref(list);
    json_decref(whole);
    return NULL;
}
