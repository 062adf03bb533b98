#include "commands/eval/show.h"
#include "domain/metric_fields.h"
#include <math.h>
#include <string.h>

static json_t *certified_json(const ln_reference_counts *counts)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "elements", (json_int_t)counts->elements,
                     "fast", (json_int_t)counts->fast, "first_try", (json_int_t)counts->first_try,
                     "raised", (json_int_t)counts->raised, "exact", (json_int_t)counts->exact,
                     "special", (json_int_t)counts->special);
}

static json_t *function_json(const which_found *function)
{
    if (!function)
        return json_null();
    json_t *names = json_array();
    for (size_t i = 0; i < function->count; i++)
        json_array_append_new(names, json_string(function->candidates[i].words));
    return json_pack("{s:s, s:o}", "answer", which_answer_name(function->answer), "candidates",
                     names);
}

static json_t *shown_json(const eval_shown *shown)
{
    view_case view = {.stored = shown->result,
                      .label = shown->label,
                      .regime = "",
                      .reproducibility = shown->reproducibility};
    view.speed = (speed_figures)SPEED_UNKNOWN;
    json_t *object = view_case_json(&view), *certified = certified_json(&shown->certified);
    double confidence = isfinite(shown->probable_row_ulp) ? 1 - shown->chance : NAN;
    if (object && certified && json_object_set_new(object, "certified", certified) == 0 &&
        json_object_set_new(object, "bound_probable", json_figure(shown->probable_row_ulp)) == 0 &&
        json_object_set_new(object, "bound_confidence", json_figure(confidence)) == 0 &&
        json_object_set_new(object, "function", function_json(shown->function)) == 0)
        return object;
    json_decref(object);
    return NULL;
}

/* Beside the proven bound, and with its confidence. */
static relation_value as_probable(const eval_shown *shown)
{
    double probable = shown->probable_row_ulp;
    if (isnan(probable))
        return as_text(NULL);
    if (!(probable < shown->result->bound_row_ulp))
        return as_text("as proven");
    return as_format("%.6g, with probability 1 - %g for all rows", probable, shown->chance);
}

static void add_figures(relation *rows, const eval_shown *shown)
{
    double proven = shown->result->bound_row_ulp;
    size_t count;
    const metric_field *fields = metric_fields(&count);
    for (size_t i = 0; i < count; i++) {
        if (fields[i].kind == METRIC_REAL && strncmp(fields[i].name, "worst_", 6) != 0)
            relation_row(rows, as_text(fields[i].name),
                         as_figure(metric_value(&shown->result->metrics, &fields[i])));
        if (strcmp(fields[i].name, "row_ulp_mean") != 0)
            continue;
        relation_row(rows, as_text("row_ulp_proven"),
                     isinf(proven) ? as_text("none") : as_figure(proven));
        relation_row(rows, as_text("row_ulp_probable"), as_probable(shown));
    }
}

/* What matters most: the verdict, and what made a wrong output. */
static void add_verdict(relation *rows, const eval_shown *shown)
{
    char described[VERDICT_MAX_LENGTH], said[5 * WHICH_WORDS];
    verdict_describe(&shown->result->verdict, described, sizeof described);
    relation_row(rows, as_text("verdict"), as_text(described));
    if (shown->function)
        relation_row(rows, as_text("function"),
                     as_format("%s%s%s%s", which_say(shown->function, said, sizeof said),
                               shown->is_among ? " (" : "",
                               shown->is_among ? shown->result->key.convention : "",
                               shown->is_among ? " only with another eps or poorer sums)" : ""));
}

/* What is no figure: what was counted, and where the worst element is. */
static void add_facts(relation *rows, const eval_shown *shown)
{
    const ln_metrics *m = &shown->result->metrics;
    char described[VERDICT_MAX_LENGTH];
    usability usable = stored_usable(shown->result);
    relation_row(rows, as_text("mismatches"),
                 as_format("%llu of %llu elements", (unsigned long long)m->mismatches,
                           (unsigned long long)m->elements));
    relation_row(rows, as_text("exact_zeros"),
                 as_format("%llu, of the other sign: %llu", (unsigned long long)m->exact_zeros,
                           (unsigned long long)m->sign_of_zero));
    relation_row(rows, as_text("worst"),
                 as_format("row %zu, column %zu: %a, exactly %a", m->worst_row, m->worst_column,
                           m->worst_computed, m->worst_exact));
    relation_row(rows, as_text("reproducible"), as_text(shown->reproducible));
    relation_row(rows, as_text("certified"),
                 as_text(judge_describe_counts(&shown->certified, described, sizeof described)));
    relation_row(rows, as_text("usable"),
                 as_text(usable == USABLE_YES  ? "yes"
                         : usable == USABLE_NO ? "no: wrong, or a row without a correct digit"
                                               : "not known: nothing was judged"));
}

static bool print_table(const eval_shown *shown, const output_file *out, error *err)
{
    static const relation_column columns[] = {FOR_PEOPLE("measure"),
                                              {.heading = "value", .format = "%.6g"}};
    relation *rows = relation_create(COLUMNS(columns));
    const case_key *key = &shown->result->key;
    output_line(out, "%s on %s: %zu x %zu, %s", key->kernel, key->input, key->rows, key->hidden,
                key->convention);
    output_line(out, "%s", "");
    add_verdict(rows, shown);
    add_figures(rows, shown);
    add_facts(rows, shown);
    return relation_print(rows, out, err);
}

bool eval_show(const eval_shown *shown, const output_file *out, error *err)
{
    if (out->format == OUTPUT_JSON)
        return output_json(out, shown_json(shown), err);
    return shown->result->metrics.elements == 0 || print_table(shown, out, err);
}
