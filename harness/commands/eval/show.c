#include "commands/eval/show.h"
#include <math.h>
#include <string.h>

static json_t *certified_json(const ln_reference_counts *counts)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "elements", (json_int_t)counts->elements,
                     "fast", (json_int_t)counts->fast, "first_try", (json_int_t)counts->first_try,
                     "raised", (json_int_t)counts->raised, "exact", (json_int_t)counts->exact,
                     "special", (json_int_t)counts->special);
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
        json_object_set_new(object, "bound_confidence", json_figure(confidence)) == 0)
        return object;
    json_decref(object);
    return NULL;
}

/* Beside the proven bound, and with its confidence. */
static void add_probable(text_table *table, const eval_shown *shown)
{
    table_cell(table, "row_ulp_probable");
    if (isnan(shown->probable_row_ulp))
        table_cell(table, "-");
    else if (shown->probable_row_ulp < shown->result->bound_row_ulp)
        table_format(table, "%.6g, with probability 1 - %g for all rows", shown->probable_row_ulp,
                     shown->chance);
    else
        table_cell(table, "as proven");
}

static void add_figures(text_table *table, const eval_shown *shown)
{
    const stored_case *result = shown->result;
    const ln_metrics *m = &result->metrics;
    const struct {
        const char *name;
        double value;
    } figures[] = {
        {"ulp_max", m->ulp_max},
        {"ulp_mean", m->ulp_mean},
        {"ulp_rms", m->ulp_rms},
        {"ulp_p50", m->ulp_p50},
        {"ulp_p90", m->ulp_p90},
        {"ulp_p99", m->ulp_p99},
        {"ulp_bias", m->ulp_bias},
        {"row_ulp_max", m->row_ulp_max},
        {"row_ulp_mean", m->row_ulp_mean},
        {"row_ulp_proven", result->bound_row_ulp},
        {"norm_max", m->norm_max},
        {"rel_l2", m->rel_l2},
        {"correctly_rounded", m->correctly_rounded},
        {"bits", m->bits},
        {"mean_ulp_max", m->mean_ulp_max},
        {"rstd_ulp_max", m->rstd_ulp_max},
        {"kappa_max", m->kappa_max},
    };
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        table_cell(table, figures[i].name);
        if (isnan(figures[i].value))
            table_cell(table, "-");
        else if (isinf(figures[i].value) && figures[i].value == result->bound_row_ulp)
            table_cell(table, "none");
        else
            table_format(table, "%.6g", figures[i].value);
        if (strcmp(figures[i].name, "row_ulp_proven") == 0)
            add_probable(table, shown);
    }
}

/* What is no figure: what was counted, where the worst element is, and the verdict. */
static void add_facts(text_table *table, const eval_shown *shown)
{
    const ln_metrics *m = &shown->result->metrics;
    const case_verdict *verdict = &shown->result->verdict;
    char described[256];
    table_cell(table, "mismatches");
    table_format(table, "%llu of %llu elements", (unsigned long long)m->mismatches,
                 (unsigned long long)m->elements);
    table_cell(table, "exact_zeros");
    table_format(table, "%llu, of the other sign: %llu", (unsigned long long)m->exact_zeros,
                 (unsigned long long)m->sign_of_zero);
    table_cell(table, "worst");
    table_format(table, "row %zu, column %zu: %a, exactly %a", m->worst_row, m->worst_column,
                 m->worst_computed, m->worst_exact);
    table_cell(table, "reproducible");
    table_cell(table, shown->reproducible);
    table_cell(table, "certified");
    table_cell(table, judge_describe_counts(&shown->certified, described, sizeof described));
    table_cell(table, "usable");
    usability usable = stored_usable(shown->result);
    table_cell(table, usable == USABLE_YES  ? "yes"
                      : usable == USABLE_NO ? "no: wrong, or a row without a correct digit"
                                            : "not known: nothing was judged");
    table_cell(table, "verdict");
    table_format(table, "%s%s%s", verdict_describe(verdict, described, sizeof described),
                 verdict->declared ? ": " : "", verdict->declared ? verdict->detail : "");
}

static bool print_table(const eval_shown *shown, const output_file *out, error *err)
{
    static const char *const headings[] = {"measure", "value"};
    text_table *table = table_create(headings, 2);
    const case_key *key = &shown->result->key;
    output_line(out, "%s on %s: %zu x %zu, %s", key->kernel, key->input, key->rows, key->hidden,
                key->convention);
    output_line(out, "%s", "");
    if (table) {
        add_figures(table, shown);
        add_facts(table, shown);
    }
    return output_table(out, table, err);
}

bool eval_show(const eval_shown *shown, const output_file *out, error *err)
{
    if (out->format == OUTPUT_JSON)
        return output_json(out, shown_json(shown), err);
    return shown->result->metrics.elements == 0 || print_table(shown, out, err);
}
