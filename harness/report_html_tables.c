/* The tables of the page: results, accuracy by input, and the machine. */
#include "report_parts.h"
#include "reproducible.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A kernel's name, which may be long: where there is no room it breaks anywhere. */
static void name_cell(text *out, const char *name)
{
    text_add(out, "<td class=\"word name\">");
    html_escape(out, name);
    text_add(out, "</td>");
}

static void word_cell(text *out, const char *string)
{
    text_add(out, "<td class=\"word\">");
    html_escape(out, string);
    text_add(out, "</td>");
}

/* A figure with its exact value, which sorting goes by. */
static void number_cell(text *out, double value)
{
    text_add(out, "<td data-value=\"");
    text_number(out, value);
    text_add(out, "\">");
    html_short(out, value);
    text_add(out, "</td>");
}

static void verdict_cell(text *out, const stored_case *stored)
{
    char words[DETAIL_MAX_LENGTH + 64];
    if (!stored->judged) {
        word_cell(out, "not judged");
        return;
    }
    text_format(out, "<td class=\"word %s\">", html_verdict_class(&stored->verdict));
    html_escape(out, verdict_describe(&stored->verdict, words, sizeof words));
    text_add(out, "</td>");
}

static void share_cell(text *out, const speed *speed)
{
    text_add(out, "<td data-value=\"");
    text_number(out, speed->roof_ratio);
    text_add(out, "\">");
    html_short(out, speed->roof_ratio);
    if (isfinite(speed->roof_lo) && isfinite(speed->roof_hi)) {
        text_add(out, " [");
        html_short(out, speed->roof_lo);
        text_add(out, ", ");
        html_short(out, speed->roof_hi);
        text_add(out, "]");
    }
    text_add(out, "</td>");
}

static void result_row(const view_case *result, bool with_case, text *out)
{
    const stored_case *stored = result->stored;
    const case_key *key = &stored->key;
    double nothing = NAN;
    const ln_metrics *metrics = stored->judged ? &stored->metrics : NULL;
    text_add(out, "<tr>");
    name_cell(out, key->kernel);
    if (with_case) {
        text_format(out, "<td data-value=\"%zu\">%zu &times; %zu</td>", key->hidden, key->rows,
                    key->hidden);
        word_cell(out, result->regime);
        word_cell(out, key->convention);
        text_format(out, "<td class=\"word\">%s, %s, %u</td>", dtype_name(key->dtype),
                    cache_name(key->cache), key->threads);
    }
    number_cell(out, result->speed.gbps);
    share_cell(out, &result->speed);
    number_cell(out, metrics ? metrics->ulp_max : nothing);
    number_cell(out, metrics ? metrics->ulp_mean : nothing);
    number_cell(out, metrics ? metrics->row_ulp_max : nothing);
    word_cell(out, result->reproducibility);
    if (is_roof(key->kernel))
        word_cell(out, "roof");
    else
        verdict_cell(out, stored);
    text_add(out, "</tr>\n");
}

static void result_head(bool with_case, text *out)
{
    text_add(out, "<div class=\"scroll\"><table>\n<thead><tr><th data-sort>kernel</th>");
    if (with_case)
        text_add(out, "<th data-sort>rows &times; hidden</th><th class=\"word\" data-sort>regime"
                      "</th><th class=\"word\" data-sort>convention</th>"
                      "<th class=\"word\" data-sort>type, cache, threads</th>");
    text_add(out, "<th data-sort>GB/s</th><th data-sort>share of the roof [95 %]</th>"
                  "<th data-sort>max ULP</th><th data-sort>mean ULP</th><th data-sort>row ULP</th>"
                  "<th class=\"word\" data-sort>reproducible</th>"
                  "<th class=\"word\" data-sort>verdict</th></tr></thead>\n<tbody>\n");
}

static int fastest_first(const void *a, const void *b)
{
    const view_case *left = *(const view_case *const *)a, *right = *(const view_case *const *)b;
    double x = report_timed(left) ? left->speed.gbps : -1;
    double y = report_timed(right) ? right->speed.gbps : -1;
    if (x != y)
        return x < y ? 1 : -1;
    return strcmp(left->stored->key.kernel, right->stored->key.kernel);
}

/* The kernels and roofs at the shape that stands for the run. */
static void results_at_shape(const report_data *data, text *out)
{
    static const char *const roofs[] = {"roof_copy", "roof_copy_nt"};
    const view_case **found = calloc(data->kernel_count + 2, sizeof *found);
    size_t count = 0;
    if (!found) {
        out->failed = true;
        return;
    }
    for (size_t i = 0; i < data->kernel_count + 2; i++) {
        const char *name =
            i < data->kernel_count ? data->kernels[i].name : roofs[i - data->kernel_count];
        const view_case *at = report_case_at(data, name, &data->shape);
        if (at)
            found[count++] = at;
    }
    qsort(found, count, sizeof *found, fastest_first);
    text_format(out, "<h3>At %zu rows of hidden %zu, normal input (", data->shape.rows,
                data->shape.hidden);
    text words = {0};
    report_group_words(&data->group, &words);
    html_escape(out, words.bytes ? words.bytes : "");
    out->failed = out->failed || words.failed;
    text_free(&words);
    text_add(out, ")</h3>\n");
    enum { OPEN_ROWS = 16, SHORT = OPEN_ROWS + 4 };
    size_t open = count > SHORT ? OPEN_ROWS : count;
    result_head(false, out);
    for (size_t i = 0; i < open; i++)
        result_row(found[i], false, out);
    text_add(out, "</tbody></table></div>\n");
    if (open < count) {
        text_format(out, "<details><summary>All %zu, with the slower ones</summary>\n", count);
        result_head(false, out);
        for (size_t i = 0; i < count; i++)
            result_row(found[i], false, out);
        text_add(out, "</tbody></table></div></details>\n");
    }
    free(found);
}

void html_results(const report_data *data, bool on_paper, text *out)
{
    const view *view = data->view;
    size_t timed = 0;
    for (size_t i = 0; i < view->cases.count; i++)
        timed += report_timed(&view->views[i]);
    text_add(out, "<section id=\"results\">\n<h2>Results</h2>\n");
    if (timed == 0)
        text_add(out, "<p class=\"missing\">No speed was measured in this run.</p>\n");
    if (data->has_shape)
        results_at_shape(data, out);
    if (timed > 0 && !on_paper) {
        text_format(out, "<details><summary>All %zu timed cases</summary>\n", timed);
        result_head(true, out);
        for (size_t i = 0; i < view->cases.count; i++)
            if (report_timed(&view->views[i]))
                result_row(&view->views[i], true, out);
        text_add(out, "</tbody></table></div></details>\n");
    }
    text_add(out, "</section>\n");
}

/* ---- accuracy by input ---- */

static bool group_seen(const report_group *groups, size_t count, const case_key *key)
{
    for (size_t i = 0; i < count; i++)
        if (report_same_judged(&groups[i], key))
            return true;
    return false;
}

static bool input_seen(const char **inputs, size_t count, const char *input)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(inputs[i], input) == 0)
            return true;
    return false;
}

static size_t judged_inputs(const report_data *data, const report_group *group, const char **inputs)
{
    size_t count = 0;
    for (size_t i = 0; i < data->view->cases.count; i++) {
        const stored_case *stored = &data->view->cases.cases[i];
        if (stored->judged && !is_roof(stored->key.kernel) &&
            report_same_judged(group, &stored->key) &&
            !input_seen(inputs, count, stored->key.input))
            inputs[count++] = stored->key.input;
    }
    return count;
}

static void matrix_cell(const report_error *worst, text *out)
{
    char words[DETAIL_MAX_LENGTH + 64];
    if (!worst->judged) {
        text_add(out, "<td class=\"left-out\">&middot;</td>");
        return;
    }
    const stored_case *shown = worst->failed ? worst->failed : worst->worst;
    const char *style = shown ? html_verdict_class(&shown->verdict) : "left-out";
    text_format(out, "<td class=\"%s\" title=\"", style);
    if (shown)
        html_escape(out, verdict_describe(&shown->verdict, words, sizeof words));
    text_add(out, "\">");
    if (isfinite(worst->row_ulp))
        html_short(out, worst->row_ulp);
    if (worst->failed)
        text_format(out, "%s%s", isfinite(worst->row_ulp) ? "<br>" : "",
                    verdict_name(worst->failed->verdict.kind));
    else if (!isfinite(worst->row_ulp))
        text_add(out, "ok");
    text_add(out, "</td>");
}

/* What became of a kernel that was left out altogether. */
static const stored_case *left_out_case(const report_data *data, const report_group *group,
                                        const char *kernel, const char *input)
{
    size_t count;
    const size_t *own = report_cases_of(data, kernel, &count);
    for (size_t i = 0; i < count; i++) {
        const stored_case *stored = &data->view->cases.cases[own[i]];
        if (stored->judged && strcmp(stored->key.kernel, kernel) == 0 &&
            strcmp(stored->key.input, input) == 0 && report_same_judged(group, &stored->key) &&
            (stored->verdict.kind == VERDICT_UNSUPPORTED ||
             stored->verdict.kind == VERDICT_SKIPPED))
            return stored;
    }
    return NULL;
}

static void matrix_row(const report_data *data, const report_group *group, const char *kernel,
                       const char **inputs, size_t input_count, text *out)
{
    if (!report_worst_error(data, group, kernel, NULL).judged)
        return;
    text_add(out, "<tr>");
    name_cell(out, kernel);
    word_cell(out, reproducible_stored(data->view->kernels, kernel));
    for (size_t i = 0; i < input_count; i++) {
        report_error worst = report_worst_error(data, group, kernel, inputs[i]);
        const stored_case *left_out = left_out_case(data, group, kernel, inputs[i]);
        if (left_out && !worst.failed && !isfinite(worst.row_ulp))
            text_format(out, "<td class=\"left-out\">%s</td>",
                        verdict_name(left_out->verdict.kind));
        else
            matrix_cell(&worst, out);
    }
    text_add(out, "</tr>\n");
}

static void matrix_table(const report_data *data, const report_group *group, const char **inputs,
                         size_t count, bool standing_only, text *out)
{
    text_add(out, "<div class=\"scroll\"><table class=\"matrix\">\n<thead><tr>"
                  "<th>kernel</th><th class=\"word\">reproducible</th>");
    for (size_t i = 0; i < count; i++) {
        text_add(out, "<th>");
        html_escape(out, inputs[i]);
        text_add(out, "</th>");
    }
    text_add(out, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < data->kernel_count; i++)
        if (!standing_only || data->kernels[i].stands)
            matrix_row(data, group, data->kernels[i].name, inputs, count, out);
    text_add(out, "</tbody></table></div>\n");
}

/* On a screen the table scrolls; on paper it is as many as fit on a sheet. A page for the screen
 * has both of the table that all readers see: it may be printed. */
static void matrix(const report_data *data, const report_group *group, const char **inputs,
                   bool standing_only, bool on_paper, text *out)
{
    enum { ON_A_SHEET = 8 };
    size_t count = judged_inputs(data, group, inputs);
    bool both = !on_paper && standing_only && count > ON_A_SHEET;
    text_format(out, "<h3>%s, ", dtype_name(group->dtype));
    html_escape(out, group->convention);
    text_add(out, "</h3>\n");
    if (both)
        text_add(out, "<div class=\"on-screen\">\n");
    if (!on_paper)
        matrix_table(data, group, inputs, count, standing_only, out);
    if (both)
        text_add(out, "</div>\n<div class=\"on-paper\">\n");
    for (size_t i = 0; i < count && (on_paper || both); i += ON_A_SHEET)
        matrix_table(data, group, inputs + i, count - i < ON_A_SHEET ? count - i : ON_A_SHEET,
                     standing_only, out);
    if (both)
        text_add(out, "</div>\n");
}

void html_accuracy(const report_data *data, bool on_paper, text *out)
{
    const view *view = data->view;
    report_group *groups = calloc(view->cases.count + 1, sizeof *groups);
    const char **inputs = calloc(view->cases.count + 1, sizeof *inputs);
    size_t count = 0;
    out->failed = out->failed || !groups || !inputs;
    text_add(out, "<section id=\"accuracy\">\n<h2>Accuracy by input</h2>\n");
    if (data->judged.cases == 0)
        text_add(out, "<p class=\"missing\">No output was judged in this run.</p>\n");
    else
        text_format(out,
                    "<p class=\"note\">The largest row ULP of each kernel on each family of "
                    "inputs; red where the kernel is at fault, amber where it makes no claim."
                    "%s</p>\n",
                    report_is_crowded(data) ? " The widest ISA of each method." : "");
    if (data->judged.cases && !out->failed) {
        groups[count++] = data->judged;
        matrix(data, &data->judged, inputs, true, on_paper, out);
        if (report_is_crowded(data) && !on_paper) {
            text_add(out, "<details><summary>Every ISA of these methods</summary>\n");
            matrix(data, &data->judged, inputs, false, on_paper, out);
            text_add(out, "</details>\n");
        }
    }
    for (size_t i = 0; i < view->cases.count && !out->failed && !on_paper; i++) {
        const case_key *key = &view->cases.cases[i].key;
        if (is_roof(key->kernel) || !view->cases.cases[i].judged || group_seen(groups, count, key))
            continue;
        text_format(out, "%s",
                    count == 1 ? "<details><summary>Other conventions and types"
                                 "</summary>\n"
                               : "");
        groups[count] = (report_group){key->convention, key->dtype, key->cache, key->threads, 1};
        matrix(data, &groups[count++], inputs, false, on_paper, out);
    }
    text_add(out, count > 1 ? "</details>\n</section>\n" : "</section>\n");
    free(groups);
    free(inputs);
}

/* ---- the worst inputs ---- */

/* The judged case of a kernel with the largest row ULP under any convention; a fault outranks it.
 */
static const stored_case *worst_case(const report_data *data, const char *kernel)
{
    const stored_cases *cases = &data->view->cases;
    const stored_case *worst = NULL;
    size_t count;
    const size_t *own = report_cases_of(data, kernel, &count);
    for (size_t i = 0; i < count; i++) {
        const stored_case *stored = &cases->cases[own[i]];
        double own = stored->metrics.row_ulp_max, most = worst ? worst->metrics.row_ulp_max : -1;
        bool fault = report_is_failure(&stored->verdict);
        bool worst_fault = worst && report_is_failure(&worst->verdict);
        if (!stored->judged || strcmp(stored->key.kernel, kernel) != 0 ||
            stored->verdict.declared || (!fault && !isfinite(own)))
            continue;
        if (!worst || (fault && !worst_fault) ||
            (fault == worst_fault && isfinite(own) && !(own <= most)))
            worst = stored;
    }
    return worst;
}

static void worst_row(const report_data *data, const stored_case *stored, text *out)
{
    const ln_metrics *metrics = &stored->metrics;
    text_add(out, "<tr>");
    name_cell(out, stored->key.kernel);
    word_cell(out, stored->key.input);
    word_cell(out, stored->key.convention);
    text_format(out, "<td data-value=\"%zu\">%zu &times; %zu</td>", stored->key.hidden,
                stored->key.rows, stored->key.hidden);
    number_cell(out, metrics->row_ulp_max);
    text_format(out, "<td class=\"word\">row %zu, column %zu: %a, exactly %a</td>",
                metrics->worst_row, metrics->worst_column, metrics->worst_computed,
                metrics->worst_exact);
    word_cell(out, reproducible_stored(data->view->kernels, stored->key.kernel));
    verdict_cell(out, stored);
    text_format(out, "<td class=\"word\"><code>lnbench replay --case %lld</code></td></tr>\n",
                (long long)stored->id);
}

static void worst_table(const report_data *data, bool standing, text *out)
{
    text_add(out, "<div class=\"scroll\"><table>\n<thead><tr>"
                  "<th data-sort>kernel</th><th class=\"word\" data-sort>input</th>"
                  "<th class=\"word\" data-sort>convention</th><th data-sort>rows &times; hidden"
                  "</th><th data-sort>row ULP</th><th class=\"word\">worst element</th>"
                  "<th class=\"word\" data-sort>reproducible</th>"
                  "<th class=\"word\" data-sort>verdict</th><th class=\"word\">again</th></tr>"
                  "</thead>\n<tbody>\n");
    for (size_t i = 0; i < data->kernel_count; i++) {
        const stored_case *worst = worst_case(data, data->kernels[i].name);
        if (worst && data->kernels[i].stands == standing)
            worst_row(data, worst, out);
    }
    text_add(out, "</tbody></table></div>\n");
}

void html_worst(const report_data *data, bool on_paper, text *out)
{
    text_add(out, "<section id=\"worst\">\n<h2>The worst inputs</h2>\n<p class=\"note\">What each "
                  "kernel did worst where it makes a claim; the command runs that row again, bit "
                  "for bit.</p>\n");
    worst_table(data, true, out);
    if (report_is_crowded(data) && !on_paper) {
        text_add(out, "<details><summary>The other ISAs of these methods</summary>\n");
        worst_table(data, false, out);
        text_add(out, "</details>\n");
    }
    text_add(out, "</section>\n");
}

void html_machine(const report_data *data, text *out)
{
    const machine *machine = &data->view->machine;
    text_add(out, "<section id=\"machine\">\n<h2>The machine and the build</h2>\n"
                  "<div class=\"scroll\"><table><tbody>\n");
    for (size_t i = 0; i < machine->count; i++) {
        text_add(out, "<tr><td>");
        html_escape(out, machine->facts[i].name);
        text_add(out, "</td><td class=\"word wrap\">");
        html_escape(out, machine->facts[i].value);
        text_add(out, "</td></tr>\n");
    }
    text_add(out, "</tbody></table></div>\n</section>\n");
}
