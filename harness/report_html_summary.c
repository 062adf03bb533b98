/* The summary: what the run found, in plain words made from its figures. */
#include "report_parts.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void strong(text *out, const char *name)
{
    text_add(out, "<strong>");
    html_escape(out, name);
    text_add(out, "</strong>");
}

typedef struct winner {
    size_t sizes;
    double slow, fast, share_low, share_high;
} winner;

static void count_wins(const report_data *data, const char *regime, const size_t *hidden,
                       size_t count, winner *winners)
{
    for (size_t i = 0; i < count; i++) {
        const view_case *best = report_fastest(data, regime, hidden[i], false);
        if (!best)
            continue;
        winner *winner = &winners[report_kernel_index(data, best->stored->key.kernel)];
        const speed *speed = &best->speed;
        bool first = winner->sizes++ == 0;
        winner->slow = first ? speed->gbps : fmin(winner->slow, speed->gbps);
        winner->fast = first ? speed->gbps : fmax(winner->fast, speed->gbps);
        winner->share_low = first ? speed->roof_ratio : fmin(winner->share_low, speed->roof_ratio);
        winner->share_high =
            first ? speed->roof_ratio : fmax(winner->share_high, speed->roof_ratio);
    }
}

static void range(text *out, double low, double high)
{
    char from[16], to[16];
    number_short(low, from);
    number_short(high, to);
    html_escape(out, from);
    if (strcmp(from, to) != 0)
        text_format(out, " to %s", to);
}

static void describe_winner(const report_data *data, const winner *winner, const char *name,
                            size_t count, text *out)
{
    strong(out, name);
    if (count > 1)
        text_format(out, " at %zu of %zu hidden sizes", winner->sizes, count);
    text_add(out, " (");
    range(out, winner->slow, winner->fast);
    text_add(out, " GB/s");
    if (isfinite(winner->share_low)) {
        text_add(out, ", ");
        range(out, winner->share_low, winner->share_high);
        text_add(out, " of the roof");
    }
    text_add(out, ")");
    report_error worst = report_worst_error(data, &data->judged, name, NULL);
    if (worst.failed)
        text_add(out, ", which makes no claim for some hard rows (below)");
}

/* A kernel that is wrong may be the fastest: say so rather than pass it over. */
static void faster_but_wrong(const report_data *data, const char *regime, const size_t *hidden,
                             size_t count, text *out)
{
    for (size_t i = 0; i < data->kernel_count; i++) {
        const char *name = data->kernels[i].name;
        size_t sizes = 0;
        for (size_t j = 0; j < count; j++) {
            const view_case *best = report_fastest(data, regime, hidden[j], true);
            sizes +=
                best && strcmp(best->stored->key.kernel, name) == 0 && report_at_fault(data, name);
        }
        if (sizes > 0) {
            text_add(out, " ");
            strong(out, name);
            text_format(out, " is faster at %zu of them, but it is at fault (below).", sizes);
        }
    }
}

static void regime_sentence(const report_data *data, const char *regime, text *out)
{
    size_t *hidden = NULL, count = 0;
    winner *winners = calloc(data->kernel_count + 1, sizeof *winners);
    if (!winners || !report_hidden_sizes(data, regime, &hidden, &count)) {
        out->failed = true;
    } else if (count > 0) {
        bool first = true;
        count_wins(data, regime, hidden, count, winners);
        text_format(out, "<li>Data in %s, fastest: ", regime);
        for (size_t wins = count; wins > 0; wins--)
            for (size_t i = 0; i < data->kernel_count; i++) {
                if (winners[i].sizes != wins)
                    continue;
                text_add(out, first ? "" : "; ");
                describe_winner(data, &winners[i], data->kernels[i].name, count, out);
                first = false;
            }
        text_add(out, first ? "no kernel that is without fault." : ".");
        faster_but_wrong(data, regime, hidden, count, out);
        text_add(out, "</li>\n");
    }
    free(winners);
    free(hidden);
}

static bool is_wrong(const stored_case *stored, const char *kernel, bool declared)
{
    return stored->judged && strcmp(stored->key.kernel, kernel) == 0 &&
           stored->verdict.declared == declared &&
           (declared || report_is_failure(&stored->verdict));
}

/* "crashed(SIGSEGV)", "wrong-class", "inaccurate": what inputs are gathered under. */
static const char *wrong_words(const stored_case *stored, char *buffer, size_t size)
{
    const verdict *verdict = &stored->verdict;
    if (verdict->kind == VERDICT_WRONG_CLASS || verdict->kind == VERDICT_INACCURATE)
        return verdict_name(verdict->kind);
    return verdict_describe(verdict, buffer, size);
}

static void add_input(const report_data *data, const stored_case *stored, text *out)
{
    html_escape(out, stored->key.input);
    if (!data->judged.cases || !report_same_judged(&data->judged, &stored->key)) {
        text_add(out, " under ");
        html_escape(out, stored->key.convention);
    }
    if (stored->verdict.kind == VERDICT_INACCURATE && isfinite(stored->metrics.row_ulp_max)) {
        text_add(out, " (row ULP ");
        html_short(out, stored->metrics.row_ulp_max);
        text_add(out, ")");
    }
}

/* Whether an earlier case of this kernel went wrong in the same way on the same input, under
 * whatever convention or shape: an input is named once. */
static bool input_was_named(const stored_cases *cases, size_t index, bool declared,
                            const char *what)
{
    const case_key *key = &cases->cases[index].key;
    char words[DETAIL_MAX_LENGTH + 64];
    for (size_t i = 0; i < index; i++)
        if (is_wrong(&cases->cases[i], key->kernel, declared) &&
            strcmp(cases->cases[i].key.input, key->input) == 0 &&
            strcmp(wrong_words(&cases->cases[i], words, sizeof words), what) == 0)
            return true;
    return false;
}

/* What one kernel did wrong and on which inputs: "wrong-class on huge, spike; inaccurate on offset
 * (row ULP 3.1e+06)". */
static void add_wrongs(const report_data *data, const char *kernel, bool declared, text *out)
{
    enum { INPUTS_SHOWN = 12 };
    const stored_cases *cases = &data->view->cases;
    char words[DETAIL_MAX_LENGTH + 64], others[DETAIL_MAX_LENGTH + 64];
    for (size_t i = 0; i < cases->count; i++) {
        const stored_case *first = &cases->cases[i];
        if (!is_wrong(first, kernel, declared))
            continue;
        const char *what = wrong_words(first, words, sizeof words);
        bool said = false;
        for (size_t j = 0; j < i && !said; j++)
            said = is_wrong(&cases->cases[j], kernel, declared) &&
                   strcmp(wrong_words(&cases->cases[j], others, sizeof others), what) == 0;
        if (said)
            continue;
        text_add(out, out->length ? "; " : "");
        html_escape(out, what);
        size_t inputs = 0;
        for (size_t j = i; j < cases->count; j++) {
            const stored_case *stored = &cases->cases[j];
            if (!is_wrong(stored, kernel, declared) ||
                strcmp(wrong_words(stored, others, sizeof others), what) != 0 ||
                input_was_named(cases, j, declared, what))
                continue;
            if (inputs++ >= INPUTS_SHOWN)
                continue;
            text_add(out, inputs == 1 ? " on " : ", ");
            add_input(data, stored, out);
        }
        if (inputs > INPUTS_SHOWN)
            text_format(out, " and %zu more", inputs - INPUTS_SHOWN);
    }
}

/* Kernels that did the same wrong are named together. */
static size_t wrong_sentences(const report_data *data, bool declared, text *out)
{
    text *wrongs = calloc(data->kernel_count + 1, sizeof *wrongs);
    size_t sentences = 0;
    if (!wrongs) {
        out->failed = true;
        return 0;
    }
    for (size_t i = 0; i < data->kernel_count; i++)
        add_wrongs(data, data->kernels[i].name, declared, &wrongs[i]);
    for (size_t i = 0; i < data->kernel_count; i++) {
        if (!wrongs[i].length)
            continue;
        text_format(out, "<li class=\"%s\">", declared ? "declared" : "fault");
        strong(out, data->kernels[i].name);
        for (size_t j = i + 1; j < data->kernel_count; j++) {
            if (!wrongs[j].length || strcmp(wrongs[i].bytes, wrongs[j].bytes) != 0)
                continue;
            text_add(out, ", ");
            strong(out, data->kernels[j].name);
            text_free(&wrongs[j]);
        }
        text_format(out, "%s: ", declared ? " (where no claim is made)" : "");
        text_add(out, wrongs[i].bytes);
        text_add(out, ".</li>\n");
        sentences++;
    }
    for (size_t i = 0; i < data->kernel_count; i++) {
        out->failed = out->failed || wrongs[i].failed;
        text_free(&wrongs[i]);
    }
    free(wrongs);
    return sentences;
}

/* Who is least and who is most wrong on an input (NULL: on all of them). */
static void accuracy_sentence(const report_data *data, const char *input, const char *words,
                              text *out)
{
    const char *least = NULL, *most = NULL;
    double low = NAN, high = NAN;
    size_t failed = 0;
    for (size_t i = 0; i < data->kernel_count; i++) {
        const char *name = data->kernels[i].name;
        report_error worst = report_worst_error(data, &data->judged, name, input);
        failed += worst.unusable != NULL;
        if (!isfinite(worst.row_ulp) || worst.unusable)
            continue;
        if (!(low <= worst.row_ulp)) {
            low = worst.row_ulp;
            least = name;
        }
        if (!(high >= worst.row_ulp)) {
            high = worst.row_ulp;
            most = name;
        }
    }
    if (!least)
        return;
    text_format(out, "<li>Largest error on %s: ", words);
    html_short(out, low);
    text_add(out, " row ULP (");
    strong(out, least);
    text_add(out, ")");
    if (most != least) {
        text_add(out, " to ");
        html_short(out, high);
        text_add(out, " (");
        strong(out, most);
        text_add(out, ")");
    }
    if (failed > 0)
        text_format(out, "; %zu kernel%s gave no usable answer on some rows", failed,
                    failed == 1 ? "" : "s");
    text_add(out, ".</li>\n");
}

static void left_out_sentence(const report_data *data, text *out)
{
    const stored_cases *cases = &data->view->cases;
    size_t left_out = 0;
    for (size_t i = 0; i < cases->count; i++)
        left_out +=
            cases->cases[i].judged && (cases->cases[i].verdict.kind == VERDICT_UNSUPPORTED ||
                                       cases->cases[i].verdict.kind == VERDICT_SKIPPED);
    if (left_out > 0)
        text_format(out,
                    "<li class=\"left-out\">%zu case%s %s not measured (unsupported or "
                    "skipped; the tables say why).</li>\n",
                    left_out, left_out == 1 ? "" : "s", left_out == 1 ? "was" : "were");
}

/* What kernels do not claim is known of them, and long: counted, and folded up. */
static void declared_sentences(const report_data *data, text *out)
{
    text list = {0};
    size_t kernels = 0;
    for (size_t i = 0; i < data->kernel_count; i++) {
        size_t count, wrong = 0;
        const size_t *own = report_cases_of(data, data->kernels[i].name, &count);
        for (size_t j = 0; j < count && !wrong; j++)
            wrong = is_wrong(&data->view->cases.cases[own[j]], data->kernels[i].name, true);
        kernels += wrong;
    }
    if (wrong_sentences(data, true, &list) > 0) {
        text_format(out,
                    "<li class=\"declared\"><details><summary>%zu kernel%s wrong on some hard rows "
                    "for which %s no claim: which, and on what inputs</summary>\n<ul>\n",
                    kernels, kernels == 1 ? " is" : "s are",
                    kernels == 1 ? "it makes" : "they make");
        text_add(out, list.bytes);
        text_add(out, "</ul></details></li>\n");
    }
    out->failed = out->failed || list.failed;
    text_free(&list);
}

void html_summary(const report_data *data, text *out)
{
    text_add(out, "<section id=\"summary\">\n<h2>What came out</h2>\n<ul>\n");
    if (data->view->run.state != RUN_COMPLETE)
        text_add(out, "<li class=\"fault\">This run is not complete: only what was measured before "
                      "it ended is shown.</li>\n");
    for (size_t i = 0; i < REGIME_COUNT; i++)
        regime_sentence(data, report_regimes[i], out);
    size_t wrong = wrong_sentences(data, false, out);
    if (wrong == 0 && data->judged.cases)
        text_add(out, "<li class=\"ok\">No kernel broke its proven bound, gave a number of the "
                      "wrong class where it makes a claim, crashed, hung or wrote where it must "
                      "not.</li>\n");
    declared_sentences(data, out);
    accuracy_sentence(data, "normal", "normal input", out);
    accuracy_sentence(data, "offset", "offset input (means far from zero)", out);
    accuracy_sentence(data, NULL, "any input", out);
    left_out_sentence(data, out);
    text_add(out, "</ul>\n</section>\n");
}
