#include "result_table.h"
#include "text.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

exit_code view_exit_code(const view *view)
{
    exit_code worst = EXIT_CODE_FINE;
    for (size_t i = 0; i < view->cases.count; i++)
        if (view->cases.cases[i].judged)
            worst = worse_exit_code(worst, verdict_exit_code(&view->cases.cases[i].verdict));
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
    table_cell(table, stored->judged
                          ? verdict_describe(&stored->verdict, described, sizeof described)
                          : "-");
}

/* One shape's table; `done` marks the cases that were printed. */
static bool print_group(const view *view, size_t first, bool *done, FILE *file)
{
    static const char *const headings[] = {"kernel",   "GB/s",    "share of roof", "max ULP",
                                           "mean ULP", "row ULP", "proven",        "verdict"};
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
            add_case(table, members[i]);
        fprintf(file, "\n%zu x %zu %s, %s, %s, %s cache, %u thread%s\n", key->rows, key->hidden,
                dtype_name(key->dtype), key->convention, view->views[first].regime,
                cache_name(key->cache), key->threads, key->threads == 1 ? "" : "s");
        fine = table_print(table, file);
    }
    table_destroy(table);
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

static void add_summary(table *table, const char *kernel, const accuracy_summary *summary)
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
}

/* A line a kernel. Constant rows make astronomic figures: their exact result is 0 or beta, and its
 * ulp tiny. */
static bool print_accuracy(const view *view, FILE *file)
{
    static const char *const headings[] = {
        "kernel",          "cases",         "ok", "no claim", "declared", "unsupported", "failed",
        "row ULP, normal", "worst row ULP", "on", "case"};
    table *table = table_create(headings, sizeof headings / sizeof *headings);
    bool *done = calloc(view->cases.count + 1, sizeof *done);
    bool fine = table && done, any = false;
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
        add_summary(table, kernel, &summary);
    }
    if (fine && any) {
        fprintf(file, "\naccuracy over all conventions and inputs\n");
        fine = table_print(table, file);
        fprintf(file, "ok: within the proven bound; no claim: fine, but for some row nothing is "
                      "proven;\ndeclared: wrong where the kernel itself claims nothing; lnbench "
                      "replay --case: again\n");
    }
    table_destroy(table);
    free(done);
    return fine;
}

enum { MOST_FAULTS_SHOWN = 40 };

static void print_faults(const view *view, FILE *file)
{
    size_t count = 0;
    for (size_t i = 0; i < view->cases.count; i++) {
        const stored_case *stored = &view->cases.cases[i];
        char described[256];
        if (!stored->judged || verdict_exit_code(&stored->verdict) == EXIT_CODE_FINE)
            continue;
        if (count++ == 0)
            fprintf(file, "\nnot fine:\n");
        if (count <= MOST_FAULTS_SHOWN)
            fprintf(file, "  case %lld: %s  %s  %s  %zux%zu: %s\n", (long long)stored->id,
                    stored->key.kernel, stored->key.convention, stored->key.input, stored->key.rows,
                    stored->key.hidden,
                    verdict_describe(&stored->verdict, described, sizeof described));
    }
    if (count > MOST_FAULTS_SHOWN)
        fprintf(file, "  and %zu more (lnbench export --format tsv)\n", count - MOST_FAULTS_SHOWN);
}

bool result_table_print(const view *view, FILE *file)
{
    bool *done = calloc(view->cases.count + 1, sizeof *done);
    bool fine = done != NULL;
    for (size_t i = 0; fine && i < view->cases.count; i++)
        if (!done[i] && is_timed(&view->views[i]))
            fine = print_group(view, i, done, file);
    free(done);
    fine = fine && print_accuracy(view, file);
    if (fine)
        print_faults(view, file);
    return fine && !ferror(file);
}
