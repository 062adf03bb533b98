/* A stored run as a tidy table of cases, for anybody's data frame. */
#include "answer/tsv.h"
#include "base/number.h"
#include "domain/metric_fields.h"
#include <math.h>
#include <string.h>

typedef struct case_table {
    text_form form; /* FORM_TSV or FORM_CSV */
    text_buffer *out;
} case_table;

static void add_cell(const case_table *table, const char *string)
{
    clean_add(table->out, table->form, string);
    text_add(table->out, table->form == FORM_CSV ? "," : "\t");
}

static void add_figure(const case_table *table, double value)
{
    char number[32];
    add_cell(table, number_format(value, number));
}

static void add_count(const case_table *table, uint64_t count)
{
    text_format(table->out, "%llu%s", (unsigned long long)count,
                table->form == FORM_CSV ? "," : "\t");
}

/* The last cell's separator becomes the end of the line. */
static void end_line(const case_table *table)
{
    if (!table->out->failed && table->out->length)
        table->out->bytes[table->out->length - 1] = '\n';
}

static void add_case(const case_table *table, const view_case *view)
{
    const stored_case *stored = view->stored;
    const case_key *key = &stored->key;
    const case_verdict *verdict = &stored->verdict;
    const char *word = verdict_word(verdict->kind);
    usability usable = stored_usable(stored);
    add_cell(table, key->kernel);
    add_cell(table, key->convention);
    add_cell(table, key->input);
    add_count(table, key->rows);
    add_count(table, key->hidden);
    add_cell(table, dtype_name(key->dtype));
    add_cell(table, cache_name(key->cache));
    add_count(table, key->threads);
    add_cell(table, view->regime);
    add_cell(table, word ? word : "");
    add_cell(table, verdict_reason(verdict->kind));
    add_count(table, verdict->declared);
    add_figure(table, usable == USABLE_UNKNOWN ? NAN : usable == USABLE_YES);
    add_cell(table, verdict->detail);
    add_figure(table, stored->bound_row_ulp);
    for (size_t i = 0; i < metric_count_all; i++)
        if (metric_list[i].kind == METRIC_REAL)
            add_figure(table, metric_value(&stored->metrics, &metric_list[i]));
        else
            add_count(table, metric_count(&stored->metrics, &metric_list[i]));
    const speed_figures *speed = &view->speed;
    const double figures[] = {speed->time_ns,    speed->time_lo_ns, speed->time_hi_ns, speed->gbps,
                              speed->roof_ratio, speed->roof_lo,    speed->roof_hi};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        add_figure(table, figures[i]);
    add_count(table, speed->repetitions);
    add_count(table, speed->processes);
    add_cell(table, view->reproducibility);
    add_count(table, (uint64_t)stored->id);
    end_line(table);
}

static void add_headings(const case_table *table)
{
    static const char *const first[] = {
        "kernel", "convention", "input",  "rows",     "hidden", "dtype",  "cache",        "threads",
        "regime", "verdict",    "reason", "declared", "usable", "detail", "bound_row_ulp"};
    static const char *const last[] = {"time_ns",    "time_lo_ns",      "time_hi_ns", "gbps",
                                       "roof_ratio", "roof_lo",         "roof_hi",    "repetitions",
                                       "processes",  "reproducibility", "case"};
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        add_cell(table, first[i]);
    for (size_t i = 0; i < metric_count_all; i++)
        add_cell(table, metric_list[i].name);
    for (size_t i = 0; i < sizeof last / sizeof *last; i++)
        add_cell(table, last[i]);
    end_line(table);
}

void case_table_add(const run_view *view, text_form form, text_buffer *out)
{
    const case_table table = {form, out};
    add_headings(&table);
    for (size_t i = 0; i < view->cases.count; i++)
        add_case(&table, &view->views[i]);
}
