/* A stored run as a tidy table of cases, for anybody's data frame. */
#include "answer/tsv.h"
#include "store/records.h"
#include "base/number.h"
#include <math.h>
#include <stdio.h>

typedef struct case_table {
    text_form form; /* FORM_TSV or FORM_CSV */
    text_buffer *out;
    bool headings; /* names in the place of values */
} case_table;

static void add_cell(const case_table *table, const char *name, const char *string)
{
    clean_add(table->out, table->form, table->headings ? name : string);
    text_add(table->out, table->form == FORM_CSV ? "," : "\t");
}

static void add_figure(const case_table *table, const char *name, double value)
{
    char number[32];
    add_cell(table, name, number_format(value, number));
}

static void add_count(const case_table *table, const char *name, uint64_t count)
{
    char number[32];
    snprintf(number, sizeof number, "%llu", (unsigned long long)count);
    add_cell(table, name, number);
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
    add_cell(table, "operation", operation_name(key->operation));
    add_cell(table, "kernel", key->kernel);
    add_cell(table, "convention", key->convention);
    add_cell(table, "input", key->input);
    add_count(table, "rows", key->rows);
    add_count(table, "hidden", key->hidden);
    add_cell(table, "dtype", dtype_name(key->dtype));
    add_cell(table, "cache", cache_name(key->cache));
    add_count(table, "threads", key->threads);
    add_cell(table, "regime", view->regime);
    add_cell(table, "verdict", word ? word : "");
    add_cell(table, "reason", verdict_reason(verdict->kind));
    add_figure(table, "usable", usable == USABLE_UNKNOWN ? NAN : usable == USABLE_YES);
    add_cell(table, "detail", verdict->detail);
    add_figure(table, "bound_row_ulp", stored->bound_row_ulp);
    for (size_t i = 0; i < metric_count_all; i++)
        if (metric_list[i].kind == METRIC_REAL)
            add_figure(table, metric_list[i].name, metric_value(&stored->metrics, &metric_list[i]));
        else
            add_count(table, metric_list[i].name, metric_count(&stored->metrics, &metric_list[i]));
    for (size_t i = 0; i < SPEED_RATIOS; i++)
        add_figure(table, speed_fields[i].key, record_real(&speed_fields[i], &view->speed));
    add_count(table, "repetitions", view->speed.repetitions);
    add_count(table, "processes", view->speed.processes);
    add_cell(table, "reproducibility", view->reproducibility);
    add_count(table, "case", (uint64_t)stored->id);
    end_line(table);
}

void case_table_add(const run_view *view, text_form form, text_buffer *out)
{
    static const stored_case none = {0};
    const view_case heading = {.stored = &none};
    add_case(&(case_table){form, out, true}, &heading);
    for (size_t i = 0; i < view->cases.count; i++)
        add_case(&(case_table){form, out, false}, &view->views[i]);
}
