/* The answer first: for each type and instruction set the fastest kernel, and the fastest that is
 * accurate on whatever input. */
#include "report_parts.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Row ULP on every input; above it errors begin to show that only some inputs make. */
static const double accurate_row_ulp = 4;

bool report_is_accurate(const report_error *worst)
{
    return worst->judged && !worst->failed && worst->row_ulp <= accurate_row_ulp;
}

/* What was timed of one type at one shape. */
typedef struct field {
    report_data data; /* with the group and the judged cases of this type */
    const view_case **timed;
    size_t count;
    const char *regime;
    report_shape shape;
} field;

static void gather_timed(field *field, ln_type dtype)
{
    const view *view = field->data.view;
    field->data.group.dtype = field->data.judged.dtype = dtype;
    field->data.judged.convention = field->data.group.convention;
    field->data.judged.cases = 1;
    field->count = 0;
    for (size_t i = 0; i < view->cases.count; i++)
        if (report_timed(&view->views[i]) && !is_roof(view->cases.cases[i].key.kernel) &&
            report_in_group(&field->data.group, &view->cases.cases[i].key))
            field->timed[field->count++] = &view->views[i];
}

/* The shape of a regime at which most kernels were timed; of several the nearest to hidden 768. */
static bool choose_field_shape(field *field, const char *regime)
{
    size_t most = 0;
    double nearest = 0;
    for (size_t i = 0; i < field->count; i++) {
        const case_key *key = &field->timed[i]->stored->key;
        size_t kernels = 0;
        if (strcmp(field->timed[i]->regime, regime) != 0)
            continue;
        for (size_t j = 0; j < field->count; j++)
            kernels += field->timed[j]->stored->key.rows == key->rows &&
                       field->timed[j]->stored->key.hidden == key->hidden;
        double distance = fabs(log2((double)key->hidden / 768));
        if (kernels > most || (kernels == most && distance < nearest)) {
            most = kernels;
            nearest = distance;
            field->shape = (report_shape){key->rows, key->hidden};
        }
    }
    field->regime = regime;
    return most > 0;
}

/* Peers stand for their library, whatever instructions it takes. */
static const char *isa_words(const report_data *data, const char *kernel)
{
    const char *peer = palette_peer(kernel);
    size_t index = report_kernel_index(data, kernel);
    if (peer)
        return peer;
    return index < data->kernel_count && data->kernels[index].isa[0] ? data->kernels[index].isa
                                                                     : "other";
}

typedef struct leader {
    const view_case *at;
    report_error worst; /* over all inputs */
} leader;

static leader find_leader(const field *field, const char *isa, bool accurate)
{
    leader best = {0};
    for (size_t i = 0; i < field->count; i++) {
        const view_case *at = field->timed[i];
        const case_key *key = &at->stored->key;
        if (key->rows != field->shape.rows || key->hidden != field->shape.hidden ||
            strcmp(isa_words(&field->data, key->kernel), isa) != 0 ||
            (best.at && at->speed.gbps <= best.at->speed.gbps))
            continue;
        report_error worst =
            report_worst_error(&field->data, &field->data.judged, key->kernel, NULL);
        bool fault = worst.failed && report_is_failure(&worst.failed->verdict);
        if (!fault && (!accurate || report_is_accurate(&worst)))
            best = (leader){at, worst};
    }
    return best;
}

static void figure_cell(double value, text *out)
{
    text_add(out, "<td data-value=\"");
    text_number(out, value);
    text_add(out, "\">");
    html_short(out, value);
    text_add(out, "</td>");
}

static void name_cells(const leader *leader, text *out)
{
    if (!leader->at) {
        text_add(out, "<td class=\"word left-out\">none</td><td></td><td data-value=\"nan\"></td>");
        return;
    }
    text_add(out, "<td class=\"word name\">");
    html_escape(out, leader->at->stored->key.kernel);
    text_format(out, "</td><td class=\"word\">%s</td>", leader->at->reproducibility);
    figure_cell(leader->at->speed.gbps, out);
}

/* The largest error on any input, amber where the kernel makes no claim for it; a wrong class has
 * no size. */
static void error_cell(const report_error *worst, text *out)
{
    const char *failed = worst->failed ? verdict_name(worst->failed->verdict.kind) : "";
    text_format(out, "<td class=\"%s\" title=\"%s\" data-value=\"", worst->failed ? "declared" : "",
                failed);
    text_number(out, worst->unusable ? (double)INFINITY : worst->row_ulp);
    text_add(out, "\">");
    if (worst->unusable)
        text_add(out, verdict_name(worst->unusable->verdict.kind));
    else if (isfinite(worst->row_ulp))
        html_short(out, worst->row_ulp);
    else
        text_add(out, worst->judged ? "" : "not judged");
    text_add(out, "</td>");
}

static void leader_row(const field *field, const char *isa, text *out)
{
    leader fastest = find_leader(field, isa, false), accurate = find_leader(field, isa, true);
    if (!fastest.at)
        return;
    text_format(out, "<tr><td class=\"word\">%s</td><td class=\"word\">",
                dtype_name(field->data.group.dtype));
    html_escape(out, isa);
    text_format(out, "</td><td class=\"word\">%s: %zu &times; %zu</td>", field->regime,
                field->shape.rows, field->shape.hidden);
    name_cells(&fastest, out);
    figure_cell(fastest.at->speed.roof_ratio, out);
    error_cell(&fastest.worst, out);
    name_cells(&accurate, out);
    text_add(out, "</tr>\n");
}

/* Every ISA that has a kernel at the shape, the one with the fastest first. */
static void leader_rows(const field *field, text *out)
{
    enum { ISAS_MOST = 16 };
    struct {
        const char *words;
        double speed;
    } isas[ISAS_MOST];
    size_t count = 0;
    for (size_t i = 0; i < field->count; i++) {
        const case_key *key = &field->timed[i]->stored->key;
        const char *words = isa_words(&field->data, key->kernel);
        double speed = field->timed[i]->speed.gbps;
        size_t at = 0;
        if (key->rows != field->shape.rows || key->hidden != field->shape.hidden)
            continue;
        while (at < count && strcmp(isas[at].words, words) != 0)
            at++;
        if (at == count && count++ < ISAS_MOST) {
            isas[at].words = words;
            isas[at].speed = speed;
        }
        count = count < ISAS_MOST ? count : ISAS_MOST;
        if (at < count)
            isas[at].speed = fmax(isas[at].speed, speed);
    }
    for (size_t left = count; left > 0; left--) {
        size_t best = count;
        for (size_t i = 0; i < count; i++)
            if (isas[i].words && (best == count || isas[i].speed > isas[best].speed))
                best = i;
        leader_row(field, isas[best].words, out);
        isas[best].words = NULL;
    }
}

void html_leaders(const report_data *data, text *out)
{
    static const ln_type types[] = {LN_F32, LN_F64, LN_BF16, LN_F16};
    field field = {.data = *data};
    field.timed = calloc(data->view->cases.count + 1, sizeof *field.timed);
    if (!field.timed) {
        out->failed = true;
        return;
    }
    if (data->group.cases) {
        text_add(out, "<section id=\"leaders\">\n<h2>Which to take</h2>\n<p class=\"note\">At one "
                      "shape of each kind; ");
        html_escape(out, data->group.convention);
        text_format(out,
                    ", %s, %u thread%s. Left: the fastest kernel that is not at fault, and its "
                    "largest error on any judged input. Right: the fastest whose error stays "
                    "within %g row ULP on every one of them.</p>\n",
                    cache_name(data->group.cache), data->group.threads,
                    data->group.threads == 1 ? "" : "s", accurate_row_ulp);
        text_add(out, "<div class=\"scroll\"><table>\n<thead><tr><th data-sort>type</th>"
                      "<th class=\"word\" data-sort>ISA</th>"
                      "<th class=\"word\" data-sort>data in</th><th class=\"word\" "
                      "data-sort>fastest</th><th class=\"word\" data-sort>reproducible</th>"
                      "<th data-sort>GB/s</th>"
                      "<th data-sort>of the roof</th><th data-sort>worst row ULP</th>"
                      "<th class=\"word\" data-sort>fastest accurate one</th>"
                      "<th class=\"word\" data-sort>reproducible</th>"
                      "<th data-sort>GB/s</th></tr></thead>\n"
                      "<tbody>\n");
        for (size_t type = 0; type < 4; type++) {
            gather_timed(&field, types[type]);
            for (size_t i = 0; i < REGIME_COUNT && field.count; i++)
                if (choose_field_shape(&field, report_regimes[i]))
                    leader_rows(&field, out);
        }
        text_add(out, "</tbody></table></div>\n</section>\n");
    }
    free(field.timed);
}
