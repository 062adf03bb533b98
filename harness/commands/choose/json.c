/* Choices for programs: the candidates as one relation, and what JSON says besides. */
#include "commands/choose/show.h"
#include "show/answer.h"

/* In JSON, and as a cell. */
static const char *const fates[][2] = {
    [FATE_BEST] = {"best", "best"},
    [FATE_TIED] = {"tied", "tied"},
    [FATE_SLOWER] = {"slower", "slower"},
    [FATE_BUDGET] = {"over-budget", "over budget"},
    [FATE_DOUBTED] = {"doubted", "doubted"},
    [FATE_UNJUDGED] = {"unjudged", "unjudged"},
    [FATE_FAULT] = {"ruled-out", "ruled out"},
    [FATE_UNTIMED] = {"not-timed", "not timed"},
};

/* The errors over the rows that the budget is about. */
static json_t *judged_json(const chosen *one, const scored_kernel *candidate)
{
    return json_pack("{s:b, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:o}", "estimated",
                     candidate->judged_hidden != one->wanted.hidden, "cases",
                     (json_int_t)candidate->judged, "row_ulp_max", json_figure(candidate->row_ulp),
                     "adversarial_row_ulp", json_figure(candidate->hunted), "bound_row_ulp",
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
static json_t *case_json(const chosen *one, const scored_kernel *candidate)
{
    json_t *object = view_case_json(&candidate->view);
    if (evidence_is_estimate(&one->evidence))
        json_object_update_new(
            object, json_pack("{s:I, s:I, s:o, s:n}", "rows", (json_int_t)one->wanted.rows,
                              "hidden", (json_int_t)one->wanted.hidden, "convention",
                              json_text(one->wanted.convention_label), "metrics"));
    return object;
}

/* In units that programs like. */
static relation *create_candidates(void)
{
    static const relation_column columns[] = {
        FOR_PROGRAMS(EACH_MEMBER),
        FOR_PEOPLE("rows"),
        FOR_PEOPLE("hidden"),
        FOR_PEOPLE("kernel"),
        COLUMN("fate", "fate"),
        FOR_PEOPLE("time_ns"),
        FOR_PEOPLE("time_lo_ns"),
        FOR_PEOPLE("time_hi_ns"),
        COLUMN("ratio", "ratio"),
        COLUMN("ratio_lo", "ratio_lo"),
        COLUMN("ratio_hi", "ratio_hi"),
        FOR_PEOPLE("copy_ratio"),
        FOR_PEOPLE("row_ulp"),
        FOR_PEOPLE("bound_row_ulp"),
        FOR_PEOPLE("ulp"),
        FOR_PEOPLE("correctly_rounded"),
        FOR_PEOPLE("bits"),
        FOR_PEOPLE("pareto"),
        COLUMN("reason", "why"),
        FOR_PEOPLE("reproducible"),
        COLUMN("estimated_from", "from"),
        FOR_PROGRAMS("estimated"),
        FOR_PROGRAMS("object_hash"),
        FOR_PROGRAMS("judged"),
    };
    return relation_create(COLUMNS(columns));
}

static void add_candidate(relation *rows, const chosen *one, const scored_kernel *own)
{
    const speed_figures *speed = &own->view.speed;
    char from[192];
    relation_row(rows, as_json(case_json(one, own), ""), as_count(one->wanted.rows),
                 as_count(one->wanted.hidden), as_text(own->view.stored->key.kernel),
                 as_json(json_string(fates[own->fate][0]), fates[own->fate][1]),
                 as_digits(speed->time_ns), as_digits(speed->time_lo_ns),
                 as_digits(speed->time_hi_ns), as_digits(own->pair.ratio), as_digits(own->pair.lo),
                 as_digits(own->pair.hi), as_digits(speed->copy_ratio), as_digits(own->row_ulp),
                 as_digits(own->bound), as_digits(own->ulp), as_digits(own->correctly_rounded),
                 as_digits(own->bits), as_count(own->pareto), as_text(own->reason),
                 as_text(own->view.reproducibility),
                 as_json(from_json(&one->evidence), estimate_words(one, from)),
                 as_flag(evidence_is_estimate(&one->evidence)), as_text(own->object_hash),
                 as_json(judged_json(one, own), ""));
}

static json_t *candidate_json(const chosen *one, const scored_kernel *candidate)
{
    if (!candidate)
        return json_null();
    relation *rows = create_candidates();
    add_candidate(rows, one, candidate);
    json_t *array = relation_json(rows), *row = json_incref(json_array_get(array, 0));
    json_decref(array);
    return row;
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
    relation *rows = create_candidates();
    for (size_t i = 0; i < choice->count; i++)
        if (is_in(&choice->candidates[i]))
            add_candidate(rows, one, &choice->candidates[i]);
    return relation_json(rows);
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
    static const char *const facts[] = {"git_commit", "compiler",   "cpu_model",
                                        "cpu_vendor", "cpu_family", "cpu_model_number"};
    const kernel_evidence *evidence = &one->evidence;
    json_t *object = json_pack(
        "{s:I, s:o, s:s, s:b, s:b, s:b, s:b}", "run", (json_int_t)evidence->run.id, "started",
        json_text(evidence->run.started), "state", run_state_names[evidence->run.state],
        "measured_now", one->measured, "same_library", evidence->same_library, "same_shape",
        evidence->same_shape, "same_convention", evidence->same_convention);
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        json_object_set_new(object, facts[i],
                            json_text(machine_fact_value(&evidence->machine, facts[i])));
    return object;
}

/* null: the run does not say what it was asked for. */
static json_t *chosen_coverage_json(const chosen *one)
{
    coverage covered = {0};
    chosen_cover(one, &covered);
    json_t *json = coverage_json(&covered, "judged");
    if (!one->evidence.run.counts.known)
        json_object_set_new(json, "requested", json_null());
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
                     "schema", "lnbench-choose-2", "rows", (json_int_t)wanted->rows, "hidden",
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
                     chosen_coverage_json(one), "estimated", evidence_is_estimate(&one->evidence));
}

relation *chosen_candidates(const chosen *all, size_t count, bool explain)
{
    relation *rows = create_candidates();
    for (size_t s = 0; s < count; s++)
        for (size_t i = 0; i < all[s].choice.count; i++)
            if (chosen_shows(&all[s], i, explain))
                add_candidate(rows, &all[s], &all[s].choice.candidates[i]);
    return rows;
}

json_t *chosen_json(const chosen *all, size_t count)
{
    if (count == 1)
        return one_json(&all[0]);
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, one_json(&all[i]));
    return json_pack("{s:s, s:o}", "schema", "lnbench-choose-2", "choices", list);
}
