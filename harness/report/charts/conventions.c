/* How far the divisor and the place of eps move a row, and what they cost in speed. */
#include "exact/apart.h"
#include "report/charts/chart.h"
#include "domain/convention.h"
#include <math.h>
#include <string.h>

/* One change of PyTorch's convention, and the row that it is measured on: +-std in turn. */
static const struct {
    const char *words, *convention;
    size_t hidden;
    float std;
} changes[] = {
    {"divide by N-1 instead of N, hidden 64", "ddof=1,eps=1e-5@var,affine=none", 64, 1},
    {"divide by N-1 instead of N, hidden 768", "ddof=1,eps=1e-5@var,affine=none", 768, 1},
    {"divide by N-1 instead of N, hidden 4096", "ddof=1,eps=1e-5@var,affine=none", 4096, 1},
    {"eps outside the root, std 1", "ddof=0,eps=1e-5@std,affine=none", 768, 1},
    {"eps outside the root, std 0.02", "ddof=0,eps=1e-5@std,affine=none", 768, 0.02F},
    {"eps added to the quotient, std 1", "ddof=0,eps=1e-5@quotient,affine=none", 768, 1},
    {"eps 1e-6 instead of 1e-5, std 1", "ddof=0,eps=1e-6@var,affine=none", 768, 1},
    {"eps 1e-6 instead of 1e-5, std 0.02", "ddof=0,eps=1e-6@var,affine=none", 768, 0.02F},
    {"no eps, std 1", "ddof=0,eps=0,affine=none", 768, 1},
    {"no eps, std 0.02", "ddof=0,eps=0,affine=none", 768, 0.02F},
};
enum { CHANGES = sizeof changes / sizeof *changes };

static void add_change(size_t i, const char *cost, chart_output *out)
{
    ln_convention both[2];
    ln_apart apart[4];
    bool known = convention_parse("ddof=0,eps=1e-5@var,affine=none", &both[0], NULL) &&
                 convention_parse(changes[i].convention, &both[1], NULL) &&
                 ln_reference_apart(both, 2, changes[i].hidden, changes[i].std, apart);
    tsv_row(&out->table, "zwwnnw", i + 1, changes[i].words, changes[i].convention,
            known ? apart[1].row_ulp : NAN, known ? apart[1].relative : NAN, cost);
}

/* What the run says of the cost: the median ratio of the times of the same kernel at the same shape
 * under two conventions that differ in divisor or eps alone. "": no kernel was timed under both. */
static double median_cost(const report_data *data, size_t *pairs)
{
    enum { PAIRS_MOST = 256 };
    const run_view *view = data->view;
    double ratios[PAIRS_MOST];
    ln_convention own, other;
    struct error ignored = {0};
    *pairs = 0;
    if (!data->group.cases || !convention_parse(data->group.convention, &own, &ignored))
        return NAN;
    for (size_t i = 0; i < view->cases.count; i++) {
        const case_key *key = &view->cases.cases[i].key;
        if (!report_is_timed(&view->views[i]) || is_roof(key->kernel) ||
            strcmp(key->convention, data->group.convention) == 0 ||
            !convention_parse(key->convention, &other, &ignored) || other.affine != own.affine)
            continue;
        for (size_t j = 0; j < data->timed_count && *pairs < PAIRS_MOST; j++) {
            const view_case *at = &view->views[data->timed[j]];
            const case_key *base = &at->stored->key;
            if (strcmp(base->kernel, key->kernel) != 0 || base->rows != key->rows ||
                base->hidden != key->hidden || base->cache != key->cache ||
                base->threads != key->threads || base->dtype != key->dtype)
                continue;
            double ratio = view->views[i].speed.time_ns / at->speed.time_ns;
            size_t place = (*pairs)++;
            for (; place > 0 && ratios[place - 1] > ratio; place--)
                ratios[place] = ratios[place - 1];
            ratios[place] = ratio;
        }
    }
    return *pairs ? ratios[*pairs / 2] : NAN;
}

static void draw_conventions(const report_data *data, chart_output *out)
{
    char cost[160];
    size_t pairs;
    double ratio = median_cost(data, &pairs);
    if (data->is_other_type) {
        chart_because(out, "conventions are the same for every type");
        return;
    }
    tsv_row(&out->table, "wwwwww", "place", "change", "convention", "row_ulp", "relative", "cost");
    for (size_t i = 0; i < CHANGES; i++)
        add_change(i, "-", out);
    if (pairs)
        snprintf(cost, sizeof cost, "Cost in speed: %+.1f %% (median of %zu pairs of this run)",
                 100 * (ratio - 1), pairs);
    else
        snprintf(cost, sizeof cost, "Cost in speed: once a row, none in the loop over elements");
    chart_words(out, "subtitle",
                "Exact distance from PyTorch's nn.LayerNorm (divisor N, eps 1e-5 in the variance), "
                "in units in the last place of f32");
    chart_words(out, "cost", cost);
    chart_setting(out, "rows", (double)CHANGES);
}

static void command(const report_data *data, text_buffer *out)
{
    (void)data;
    text_add(out, "lnbench fingerprint --distance --hidden 768 --std 0.02");
}

const chart_kind conventions_chart = {
    "conventions",
    "How far do the divisor and eps move a row?",
    "Longer is further from PyTorch's result. A bar beyond 1 can be seen in f32; an accurate "
    "kernel "
    "under the wrong convention is wrong by that much. Dividing by N-1 moves a row by 1 / 2N of "
    "itself whatever its scale; eps matters where the standard deviation is small.",
    "conventions.gp",
    draw_conventions,
    command,
};
