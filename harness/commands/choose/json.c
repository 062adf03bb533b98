/* Choices as JSON. */
#include "commands/choose/show.h"
#include "answer/answer.h"

static const char *fate_word(candidate_fate fate)
{
    static const char *const words[] = {
        [FATE_BEST] = "best",          [FATE_TIED] = "tied",         [FATE_SLOWER] = "slower",
        [FATE_BUDGET] = "over-budget", [FATE_DOUBTED] = "doubted",   [FATE_UNJUDGED] = "unjudged",
        [FATE_FAULT] = "ruled-out",    [FATE_UNTIMED] = "not-timed",
    };
    return words[fate];
}

/* The errors over the rows that the budget is about. */
static json_t *judged_json(const chosen *one, const scored_kernel *candidate)
{
    return json_pack("{s:b, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o}", "estimated",
                     candidate->judged_hidden != one->wanted.hidden, "cases",
                     (json_int_t)candidate->judged, "row_ulp_max", json_figure(candidate->row_ulp),
                     "hunted_row_ulp", json_figure(candidate->hunted), "bound_row_ulp",
                     json_figure(candidate->bound), "ulp_max", json_figure(candidate->ulp),
                     "correctly_rounded", json_figure(candidate->correctly_rounded), "bits",
                     json_figure(candidate->bits), "hidden", (json_int_t)candidate->judged_hidden,
                     "kappa", json_figure(candidate->judged_kappa));
}

/* The shape and convention that an estimate is from; null where it is none. */
static json_t *from_json(const kernel_evidence *evidence)
{
    if (!evidence_is_estimate(evidence))
        return json_null();
    const case_key *group = &evidence->group;
    return json_pack("{s:I, s:I, s:o}", "rows", (json_int_t)group->rows, "hidden",
                     (json_int_t)group->hidden, "convention", json_text(group->convention));
}

/* Of an estimate the shape and convention are those asked for, and the metrics, which are the timed
 * case's, are left out. */
static json_t *candidate_json(const chosen *one, const scored_kernel *candidate)
{
    if (!candidate)
        return json_null();
    json_t *object = view_case_json(&candidate->view);
    bool estimated = evidence_is_estimate(&one->evidence);
    if (estimated)
        json_object_update_new(
            object, json_pack("{s:I, s:I, s:o, s:n}", "rows", (json_int_t)one->wanted.rows,
                              "hidden", (json_int_t)one->wanted.hidden, "convention",
                              json_text(one->wanted.convention_label), "metrics"));
    json_object_update_new(
        object, json_pack("{s:b, s:o}", "estimated", estimated, "from", from_json(&one->evidence)));
    json_object_update_new(
        object,
        json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:o}", "object_hash",
                  json_text(candidate->object_hash), "fate", fate_word(candidate->fate), "why",
                  json_text(candidate->reason), "judged", judged_json(one, candidate), "ratio",
                  json_figure(candidate->pair.ratio), "ratio_lo", json_figure(candidate->pair.lo),
                  "ratio_hi", json_figure(candidate->pair.hi)));
    return object;
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

static json_t *list_json(const chosen *one, bool (*is_in)(const scored_kernel *))
{
    const kernel_choice *choice = &one->choice;
    json_t *array = json_array();
    for (size_t i = 0; i < choice->count; i++)
        if (is_in(&choice->candidates[i]))
            json_array_append_new(array, candidate_json(one, &choice->candidates[i]));
    return array;
}

static json_t *budget_json(const choose_budget *budget)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:b}", "max_row_ulp", json_figure(budget->row_ulp),
                     "max_ulp", json_figure(budget->ulp), "correctly_rounded",
                     json_figure(budget->correctly_rounded), "bits", json_figure(budget->bits),
                     "kappa", json_figure(budget->kappa), "proven", budget->proven);
}

/* Where the figures come from. */
static json_t *origin_json(const chosen *one)
{
    const kernel_evidence *evidence = &one->evidence;
    const machine_facts *machine = &evidence->machine;
    return json_pack("{s:I, s:o, s:s, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:b, s:b}", "run",
                     (json_int_t)evidence->run.id, "started", json_text(evidence->run.started),
                     "state", run_state_names[evidence->run.state], "measured_now", one->measured,
                     "git_commit", json_text(machine_fact_value(machine, "git_commit")), "compiler",
                     json_text(machine_fact_value(machine, "compiler")), "cpu_model",
                     json_text(machine_fact_value(machine, "cpu_model")), "cpu_vendor",
                     json_text(machine_fact_value(machine, "cpu_vendor")), "cpu_family",
                     json_text(machine_fact_value(machine, "cpu_family")), "cpu_model_number",
                     json_text(machine_fact_value(machine, "cpu_model_number")), "same_library",
                     evidence->same_library, "same_shape", evidence->same_shape, "same_convention",
                     evidence->same_convention);
}

/* null: the run does not say what it was asked for. */
static json_t *coverage_json(const chosen *one)
{
    coverage covered = {0};
    json_t *names = json_array();
    chosen_cover(one, &covered);
    for (size_t i = 0; i < covered.named.count; i++)
        json_array_append_new(names, json_text(covered.named.words[i]));
    json_t *json = json_pack(
        "{s:o, s:I, s:I, s:I, s:o}", "asked",
        one->evidence.run.counts.known ? json_integer((json_int_t)covered.asked) : json_null(),
        "judged", (json_int_t)covered.done, "declined", (json_int_t)covered.declined, "lost",
        (json_int_t)covered.lost, "lost_names", names);
    coverage_free(&covered);
    return json;
}

/* The names of those that speeds are too noisy to tell apart; empty: the best is the fastest. */
static json_t *untold_json(const kernel_choice *choice)
{
    json_t *names = json_array();
    for (size_t i = 0; choice->untold_count > 1 && i < choice->untold_count; i++)
        json_array_append_new(names, json_text(choice->untold[i]->view.stored->key.kernel));
    return names;
}

static json_t *one_json(const chosen *one)
{
    const choose_wanted *wanted = &one->wanted;
    const kernel_choice *choice = &one->choice;
    return json_pack("{s:s, s:I, s:I, s:s, s:o, s:o, s:s, s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:o, "
                     "s:o, s:o, s:o, s:o, s:o, s:b}",
                     "schema", "lnbench-choose-1", "rows", (json_int_t)wanted->rows, "hidden",
                     (json_int_t)wanted->hidden, "dtype", dtype_name(wanted->dtype), "param",
                     wanted->param ? json_text(wanted->param) : json_null(), "convention",
                     json_text(wanted->convention_label), "cache", cache_name(wanted->cache),
                     "time_on", json_text(wanted->time_on), "threads", (json_int_t)wanted->threads,
                     "budget", budget_json(&wanted->budget), "origin", origin_json(one), "best",
                     candidate_json(one, choice->best), "provisional",
                     json_boolean(answer_provisional(one->evidence.run.plan)[0] != 0), "too_noisy",
                     untold_json(choice), "proven", candidate_json(one, choice->proven),
                     "runners_up", list_json(one, in_runners_up), "pareto",
                     list_json(one, in_pareto), "others", list_json(one, in_others),
                     "most_accurate", candidate_json(one, choice->most_accurate), "coverage",
                     coverage_json(one), "estimated", evidence_is_estimate(&one->evidence));
}

json_t *chosen_json(const chosen *all, size_t count)
{
    if (count == 1)
        return one_json(&all[0]);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, one_json(&all[i]));
    return json_pack("{s:s, s:o}", "schema", "lnbench-choose-1", "choices", list);
}
