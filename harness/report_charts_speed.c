/* The chart of the share of the roof at one shape. */
#include "report_parts.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL_MOST = 44, VERDICT_MOST = 30 };

typedef struct share {
    size_t kernel;
    const view_case *at;
} share;

static double share_of(const share *share)
{
    return report_timed(share->at) ? share->at->speed.roof_ratio : -1;
}

static int by_share_descending(const void *a, const void *b)
{
    double left = share_of(a), right = share_of(b);
    if (left != right)
        return left < right ? 1 : -1;
    size_t i = ((const share *)a)->kernel, j = ((const share *)b)->kernel;
    return (i > j) - (i < j);
}

/* A kernel that never came to be timed is shown with what became of it. */
static const view_case *share_case(const report_data *data, const char *kernel)
{
    const view_case *at = report_case_at(data, kernel, &data->shape);
    report_error worst = report_worst_error(data, &data->judged, kernel, NULL);
    if (at || !worst.failed)
        return at;
    return &data->view->views[worst.failed - data->view->cases.cases];
}

/* Whether a verdict stands behind the bar: "ok" goes without saying. */
static bool says_verdict(const share *share)
{
    verdict_kind kind = share->at->stored->verdict.kind;
    return kind != VERDICT_OK && kind != VERDICT_PENDING;
}

static void share_line(const report_data *data, const share *share, size_t place, text *out)
{
    const speed *speed = &share->at->speed;
    const verdict *verdict = &share->at->stored->verdict;
    bool timed = report_timed(share->at);
    char name[64], words[DETAIL_MAX_LENGTH + 64], gbps[16];
    report_short_name(data->kernels[share->kernel].name, name);
    verdict_describe(verdict, words, sizeof words);
    if (strlen(words) > VERDICT_MOST)
        snprintf(words + VERDICT_MOST - 3, 4, "...");
    tsv_number(out, (double)share->kernel + 1);
    tsv_text(out, name);
    tsv_number(out, (double)place);
    tsv_number(out, timed ? speed->roof_ratio : NAN);
    tsv_number(out, timed && isfinite(speed->roof_lo) ? speed->roof_lo : speed->roof_ratio);
    tsv_number(out, timed && isfinite(speed->roof_hi) ? speed->roof_hi : speed->roof_ratio);
    tsv_text(out, timed ? number_short(speed->gbps, gbps) : "-");
    tsv_text(out, says_verdict(share) ? words : "-");
    tsv_number(out, report_is_failure(verdict));
    char tip[300];
    if (timed)
        snprintf(tip, sizeof tip, "%s: %.3f of the roof [%.3f, %.3f], %s GB/s",
                 data->kernels[share->kernel].name, speed->roof_ratio, speed->roof_lo,
                 speed->roof_hi, gbps);
    else
        snprintf(tip, sizeof tip, "%s: not timed", data->kernels[share->kernel].name);
    tsv_text(out, tip);
    tsv_end(out);
}

static bool write_shares(const report_data *data, share *shares, size_t count,
                         const char *directory, chart *chart, error *error)
{
    text out = {0}, settings = {0}, words = {0};
    double most = 1, room = 0;
    bool said = false;
    qsort(shares, count, sizeof *shares, by_share_descending);
    text_add(&out,
             "series\tkernel\tplace\troof_ratio\troof_lo\troof_hi\tgbps\tverdict\tfault\ttip\n");
    for (size_t i = 0; i < count; i++) {
        const speed *speed = &shares[i].at->speed;
        share_line(data, &shares[i], i + 1, &out);
        said = said || says_verdict(&shares[i]);
        most = fmax(most, isfinite(speed->roof_hi) ? speed->roof_hi : share_of(&shares[i]));
        room = fmax(room, layout_text_width(data->kernels[shares[i].kernel].name));
    }
    double height = 180 + 26 * (double)count;
    chart_frame frame = {.left = 24 + fmin(room, 6.5 * LABEL_MOST),
                         .right = 1000 - (said ? 318 : 146),
                         .top = 84,
                         .bottom = height - 84,
                         .x_max = most * 1.02,
                         .y_min = (double)count + 0.6,
                         .y_max = 0.4};
    report_group_words(&data->group, &words);
    text_format(&words,
                ", %zu rows x hidden %zu, normal input; bars: medians, with 95 %% intervals%s",
                data->shape.rows, data->shape.hidden,
                report_is_crowded(data) ? "; the fastest ISA of each method" : "");
    tsv_common(&settings, data, chart->title, words.bytes ? words.bytes : "", 1000, height);
    tsv_frame(&settings, "", &frame);
    settings.failed = settings.failed || words.failed;
    text_free(&words);
    bool fine = tsv_save(&out, directory, chart->stem, ".tsv", error) &&
                tsv_save(&settings, directory, chart->stem, "_settings.tsv", error);
    text_free(&out);
    text_free(&settings);
    return fine;
}

bool chart_roof_share(const report_data *data, const char *directory, chart *chart, error *error)
{
    char title[96];
    snprintf(title, sizeof title, "Share of the roof at %zu x %zu (%s)", data->shape.rows,
             data->shape.hidden, data->has_shape ? data->shape_regime : "-");
    *chart = chart_begin(data, "roof_share", "roof_share.gp", title);
    share *shares = calloc(data->kernel_count + 1, sizeof *shares);
    if (!shares)
        return fail_memory(error, "shares of the roof");
    size_t count = 0, with_roof = 0;
    for (size_t i = 0; data->has_shape && i < data->kernel_count; i++) {
        const view_case *at = share_case(data, data->kernels[i].name);
        if (!at || !report_leads_method(data, i))
            continue;
        with_roof += report_timed(at) && isfinite(at->speed.roof_ratio);
        shares[count++] = (share){i, at};
    }
    bool fine = true;
    if (with_roof == 0)
        snprintf(chart->reason, sizeof chart->reason, "no kernel was timed together with a roof");
    else
        fine = write_shares(data, shares, count, directory, chart, error);
    free(shares);
    return fine;
}
