/* A stored run as a tidy table of cases, for anybody's data frame. */
#include "base/clean.h"
#include "answer/tsv.h"
#include "domain/metric_fields.h"
#include <math.h>
#include <string.h>

static void add_cell(text_buffer *out, const char *string)
{
    clean_add(out, FORM_TSV, string);
    text_add(out, "\t");
}

static void add_figure(text_buffer *out, double value)
{
    text_number(out, value);
    text_add(out, "\t");
}

static void add_verdict(text_buffer *out, const case_verdict *verdict)
{
    const char *word = verdict_word(verdict->kind);
    add_cell(out, word ? word : "");
    add_cell(out, verdict_reason(verdict->kind));
    text_format(out, "%d\t", verdict->declared);
}

/* The last cell's tab becomes the end of the line. */
static void end_line(text_buffer *out)
{
    if (!out->failed && out->length)
        out->bytes[out->length - 1] = '\n';
}

static void add_case(text_buffer *out, const view_case *view)
{
    const stored_case *stored = view->stored;
    const case_key *key = &stored->key;
    usability usable = stored_usable(stored);
    add_cell(out, key->kernel);
    add_cell(out, key->convention);
    add_cell(out, key->input);
    text_format(out, "%zu\t%zu\t%s\t%s\t%u\t%s\t", key->rows, key->hidden, dtype_name(key->dtype),
                cache_name(key->cache), key->threads, view->regime);
    add_verdict(out, &stored->verdict);
    add_figure(out, usable == USABLE_UNKNOWN ? NAN : usable == USABLE_YES);
    add_cell(out, stored->verdict.detail);
    add_figure(out, stored->bound_row_ulp);
    size_t count;
    const metric_field *fields = metric_fields(&count);
    for (size_t i = 0; i < count; i++) {
        if (fields[i].kind == METRIC_REAL)
            add_figure(out, metric_value(&stored->metrics, &fields[i]));
        else
            text_format(out, "%llu\t",
                        (unsigned long long)metric_count(&stored->metrics, &fields[i]));
    }
    const speed_figures *speed = &view->speed;
    const double figures[] = {speed->time_ns,    speed->time_lo_ns, speed->time_hi_ns, speed->gbps,
                              speed->roof_ratio, speed->roof_lo,    speed->roof_hi};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        add_figure(out, figures[i]);
    text_format(out, "%u\t%u\t", speed->repetitions, speed->processes);
    add_cell(out, view->reproducibility);
    text_format(out, "%lld\t", (long long)stored->id);
    end_line(out);
}

void tsv_cases(const run_view *view, text_buffer *out)
{
    text_add(out, "kernel\tconvention\tinput\trows\thidden\tdtype\tcache\tthreads\tregime\t"
                  "verdict\treason\tdeclared\tusable\tdetail\tbound_row_ulp\t");
    size_t count;
    const metric_field *fields = metric_fields(&count);
    for (size_t i = 0; i < count; i++)
        text_format(out, "%s\t", fields[i].name);
    text_add(out, "time_ns\ttime_lo_ns\ttime_hi_ns\tgbps\troof_ratio\troof_lo\troof_hi\t"
                  "repetitions\tprocesses\treproducibility\tcase\n");
    for (size_t i = 0; i < view->cases.count; i++)
        add_case(out, &view->views[i]);
}

/* One cell, up to a tab or the end of the line, which is returned. */
static const char *add_csv_cell(const char *at, text_buffer *out)
{
    size_t length = strcspn(at, "\t\n");
    bool quoted = memchr(at, ',', length) || memchr(at, '"', length) || memchr(at, '\\', length);
    text_add(out, quoted ? "\"" : "");
    for (size_t i = 0; i < length; i++) {
        bool escaped = at[i] == '\\' && i + 1 < length;
        char meant = !escaped           ? at[i]
                     : at[i + 1] == 't' ? '\t'
                     : at[i + 1] == 'n' ? '\n'
                     : at[i + 1] == 'r' ? ' '
                                        : at[i + 1];
        i += escaped;
        text_add(out, meant == '"' ? "\"" : "");
        text_add_bytes(out, &meant, 1);
    }
    text_add(out, quoted ? "\"" : "");
    return at + length;
}

void csv_of_tsv(const char *tsv, text_buffer *out)
{
    while (*tsv) {
        tsv = add_csv_cell(tsv, out);
        text_add(out, *tsv == '\t' ? "," : "\n");
        tsv += *tsv != '\0';
    }
}
