#include "result_table.h"
#include "choose.h"
#include "text.h"
#include "views_tsv.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

exit_code view_exit_code(const view *view)
{
    exit_code worst = EXIT_CODE_FINE;
    for (size_t i = 0; i < view->cases.count; i++) {
        const stored_case *stored = &view->cases.cases[i];
        if (stored->judged && !kernel_is_peer(view->kernels, stored->key.kernel))
            worst = worse_exit_code(worst, verdict_exit_code(&stored->verdict));
    }
    return worst;
}

static bool is_timed(const view_case *view)
{
    return view->speed.repetitions > 0;
}

static bool same_group(const case_key *a, const case_key *b)
{
    return a->rows == b->rows && a->hidden == b->hidden && a->cache == b->cache &&
           a->threads == b->threads && a->dtype == b->dtype &&
           strcmp(a->convention, b->convention) == 0 && strcmp(a->input, b->input) == 0;
}

static int faster_first(const void *a, const void *b)
{
    double left = (*(const view_case *const *)a)->speed.time_ns;
    double right = (*(const view_case *const *)b)->speed.time_ns;
    if (isnan(left) || isnan(right))
        return isnan(left) - isnan(right);
    return (left > right) - (left < right);
}

static void add_case(table *table, const view_case *view)
{
    const stored_case *stored = view->stored;
    const speed *speed = &view->speed;
    const ln_metrics *metrics = &stored->metrics;
    char number[16], described[256];
    table_cell(table, stored->key.kernel);
    table_cell(table, number_short(speed->gbps, number));
    if (speed->repetitions > 0)
        table_format(table, "%.3f [%.3f, %.3f]", speed->roof_ratio, speed->roof_lo, speed->roof_hi);
    else
        table_cell(table, "-");
    bool measured = stored->judged && metrics->elements > 0;
    double figures[] = {metrics->ulp_max, metrics->ulp_mean, metrics->row_ulp_max,
                        stored->bound_row_ulp};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        table_cell(table, measured ? number_short(figures[i], number) : "-");
    table_cell(table, view->reproducibility);
    table_cell(table, stored->judged
                          ? verdict_describe(&stored->verdict, described, sizeof described)
                          : "-");
}

static bool is_left_out(const view_case *view)
{
    return view->stored->judged && view->stored->verdict.kind == VERDICT_UNSUPPORTED &&
           !is_timed(view);
}

/* A line for each reason, with the kernels that it keeps from running: they are many, and the same
 * in every table. */
static bool print_left_out(const view_case *const *members, size_t count, const output *out,
                           error *error)
{
    bool fine = true;
    for (size_t i = 0; i < count && fine; i++) {
        const verdict *verdict = &members[i]->stored->verdict;
        char described[256];
        text names = {0};
        bool seen = !is_left_out(members[i]);
        for (size_t j = 0; j < count && !seen; j++) {
            bool same = is_left_out(members[j]) &&
                        strcmp(members[j]->stored->verdict.detail, verdict->detail) == 0;
            seen = same && j < i;
            if (same && j >= i)
                text_format(&names, "%s%s", names.length ? ", " : "",
                            members[j]->stored->key.kernel);
        }
        fine = !names.failed || fail_memory(error, "a table");
        if (!seen && fine)
            output_line(out, "%s: %s", verdict_describe(verdict, described, sizeof described),
                        names.bytes);
        text_free(&names);
    }
    return fine;
}

/* One shape's table; `done` marks the cases that were printed. */
static bool print_group(const view *view, size_t first, bool *done, const output *out, error *error)
{
    static const char *const headings[] = {"kernel",  "GB/s",         "share of roof",
                                           "max ULP", "mean ULP",     "row ULP",
                                           "proven",  "reproducible", "verdict"};
    const case_key *key = &view->cases.cases[first].key;
    const view_case **members = calloc(view->cases.count, sizeof *members);
    table *table = table_create(headings, sizeof headings / sizeof *headings);
    size_t count = 0;
    bool fine = members && table;
    for (size_t i = first; fine && i < view->cases.count; i++) {
        if (!same_group(key, &view->cases.cases[i].key))
            continue;
        done[i] = true;
        members[count++] = &view->views[i];
    }
    if (fine) {
        qsort(members, count, sizeof *members, faster_first);
        for (size_t i = 0; i < count; i++)
            if (!is_left_out(members[i]))
                add_case(table, members[i]);
        output_heading(out, "%zu x %zu %s, %s, %s, %s, %u thread%s", key->rows, key->hidden,
                       dtype_name(key->dtype), key->convention, view->views[first].regime,
                       cache_phrase(key->cache), key->threads, key->threads == 1 ? "" : "s");
        fine = output_table(out, table, error) && print_left_out(members, count, out, error);
    } else {
        table_destroy(table);
        fail_memory(error, "a table");
    }
    free(members);
    return fine;
}

/* What the accuracy part found for one kernel. */
typedef struct accuracy_summary {
    size_t cases, ok, unclaimed, declared, unsupported, failed;
    double normal;            /* largest row ULP on normal input */
    const stored_case *worst; /* largest row ULP of a case that is fine, NULL if there is none */
} accuracy_summary;

static void count_case(accuracy_summary *summary, const stored_case *stored)
{
    const verdict *verdict = &stored->verdict;
    double row_ulp = stored->metrics.row_ulp_max;
    bool fine = verdict->kind == VERDICT_OK || verdict->kind == VERDICT_OK_NO_BOUND;
    summary->cases++;
    summary->ok += verdict->kind == VERDICT_OK;
    summary->unclaimed += verdict->kind == VERDICT_OK_NO_BOUND;
    summary->declared += verdict->declared;
    summary->unsupported += verdict->kind == VERDICT_UNSUPPORTED;
    summary->failed += verdict_exit_code(verdict) != EXIT_CODE_FINE;
    if (!fine)
        return;
    if (strcmp(stored->key.input, "normal") == 0 && !(row_ulp <= summary->normal))
        summary->normal = row_ulp;
    if (!summary->worst || row_ulp > summary->worst->metrics.row_ulp_max)
        summary->worst = stored;
}

static void add_summary(table *table, const char *kernel, const char *reproducibility,
                        const accuracy_summary *summary)
{
    char number[16];
    size_t counts[] = {summary->cases,    summary->ok,          summary->unclaimed,
                       summary->declared, summary->unsupported, summary->failed};
    table_cell(table, kernel);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        table_format(table, "%zu", counts[i]);
    table_cell(table, number_short(summary->normal, number));
    table_cell(table,
               number_short(summary->worst ? summary->worst->metrics.row_ulp_max : NAN, number));
    if (summary->worst)
        table_format(table, "%s, %s", summary->worst->key.input, summary->worst->key.convention);
    else
        table_cell(table, "-");
    if (summary->worst)
        table_format(table, "%lld", (long long)summary->worst->id);
    else
        table_cell(table, "-");
    table_cell(table, reproducibility);
}

/* A line a kernel. Constant rows make astronomic figures: their exact result is 0 or beta, and its
 * ulp tiny. */
static bool print_accuracy(const view *view, const output *out, error *error)
{
    static const char *const headings[] = {
        "kernel",        "cases",       "ok",     "no claim",
        "declared",      "unsupported", "failed", "row ULP, normal",
        "worst row ULP", "on",          "case",   "reproducible"};
    table *table = table_create(headings, sizeof headings / sizeof *headings);
    bool *done = calloc(view->cases.count + 1, sizeof *done);
    const view_case **left_out = calloc(view->cases.count + 1, sizeof *left_out);
    size_t left_out_count = 0;
    bool fine = table && done && left_out, any = false;
    for (size_t i = 0; fine && i < view->cases.count; i++) {
        const char *kernel = view->cases.cases[i].key.kernel;
        accuracy_summary summary = {.normal = NAN};
        if (done[i] || !view->cases.cases[i].judged)
            continue;
        for (size_t j = i; j < view->cases.count; j++) {
            const stored_case *stored = &view->cases.cases[j];
            if (!stored->judged || strcmp(stored->key.kernel, kernel) != 0)
                continue;
            done[j] = true;
            count_case(&summary, stored);
        }
        any = true;
        if (summary.unsupported == summary.cases)
            left_out[left_out_count++] = &view->views[i];
        else
            add_summary(table, kernel, view->views[i].reproducibility, &summary);
    }
    free(done);
    if (!fine || !any) {
        free(left_out);
        table_destroy(table);
        return fine || fail_memory(error, "a table");
    }
    output_heading(out, "accuracy over all conventions and inputs");
    fine = output_table(out, table, error) && print_left_out(left_out, left_out_count, out, error);
    free(left_out);
    output_line(out, "ok: within the proven bound; no claim: fine, but for some row nothing is "
                     "proven;");
    output_line(out,
                "declared: wrong where the kernel itself claims nothing; lnbench replay --case: "
                "again");
    return fine;
}

enum { MOST_FAULTS_SHOWN = 40 };

static void print_faults(const view *view, const output *out)
{
    size_t count = 0;
    for (size_t i = 0; i < view->cases.count; i++) {
        const stored_case *stored = &view->cases.cases[i];
        char described[256];
        if (!stored->judged || verdict_exit_code(&stored->verdict) == EXIT_CODE_FINE)
            continue;
        if (count++ == 0)
            output_heading(out, "not fine:");
        if (count <= MOST_FAULTS_SHOWN)
            output_line(out, "  case %lld: %s  %s  %s  %zux%zu: %s%s%s", (long long)stored->id,
                        stored->key.kernel, stored->key.convention, stored->key.input,
                        stored->key.rows, stored->key.hidden, out->colour ? "\033[31m" : "",
                        verdict_describe(&stored->verdict, described, sizeof described),
                        out->colour ? "\033[0m" : "");
    }
    if (count > MOST_FAULTS_SHOWN)
        output_line(out, "  and %zu more (lnbench export --format tsv)", count - MOST_FAULTS_SHOWN);
}

static bool print_groups(const view *view, const output *out, error *error)
{
    bool *done = calloc(view->cases.count + 1, sizeof *done);
    bool fine = done || fail_memory(error, "the tables of a run");
    for (size_t i = 0; fine && i < view->cases.count; i++)
        if (!done[i] && is_timed(&view->views[i]))
            fine = print_group(view, i, done, out, error);
    free(done);
    return fine;
}

static bool print_lines(const view *view, error *error)
{
    text lines = {0};
    tsv_cases(view, &lines);
    bool fine = !lines.failed && fputs(lines.bytes, stdout) >= 0;
    text_free(&lines);
    return fine || fail(error, EXIT_CODE_ENVIRONMENT, "standard output: cannot write the cases");
}

bool result_table_print(const view *view, const output *out, error *error)
{
    if (out->format == OUTPUT_JSON)
        return output_json(out, view_run_json(view), error);
    if (out->format == OUTPUT_TSV)
        return print_lines(view, error);
    if (!print_groups(view, out, error) || !print_accuracy(view, out, error))
        return false;
    print_faults(view, out);
    return !ferror(out->file) ||
           fail(error, EXIT_CODE_ENVIRONMENT, "standard output: cannot write the table");
}
