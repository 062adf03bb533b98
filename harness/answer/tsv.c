/* A stored run as tidy TSV: what gnuplot reads, and anybody's data frame. */
#include "base/clean.h"
#include "base/files.h"
#include "answer/tsv.h"
#include "domain/metric_fields.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
                  "repetitions\tprocesses\treproducibility\n");
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

static void tsv_rows(const run_view *view, text_buffer *out)
{
    text_add(out, "kernel\tconvention\tinput\thidden\tkappa\trow_ulp\tnorm_max\tbound_row_ulp\t"
                  "mean_error\trstd_error\n");
    for (size_t i = 0; i < view->rows.count; i++) {
        const stored_row *row = &view->rows.rows[i];
        if (row->case_index >= view->cases.count)
            continue;
        const case_key *key = &view->cases.cases[row->case_index].key;
        add_cell(out, key->kernel);
        add_cell(out, key->convention);
        add_cell(out, key->input);
        text_format(out, "%zu\t", key->hidden);
        add_figure(out, row->kappa);
        add_figure(out, row->row_ulp);
        add_figure(out, row->norm_max);
        add_figure(out, row->bound_row_ulp);
        add_figure(out, row->mean_error);
        add_figure(out, row->rstd_error);
        end_line(out);
    }
}

/* The worst element of each case that can be replayed, and the command that does. */
static void tsv_worst(const run_view *view, text_buffer *out)
{
    text_add(out,
             "case\tkernel\tconvention\tinput\trows\thidden\tdtype\tverdict\treason\tdeclared\t"
             "row_ulp_max\tworst_row\tworst_column\tworst_computed\tworst_exact\treplay\n");
    for (size_t i = 0; i < view->cases.count; i++) {
        const stored_case *stored = &view->cases.cases[i];
        const ln_metrics *metrics = &stored->metrics;
        if (!stored->judged || stored->repetition_count > 0 || is_roof(stored->key.kernel))
            continue;
        text_format(out, "%lld\t", (long long)stored->id);
        add_cell(out, stored->key.kernel);
        add_cell(out, stored->key.convention);
        add_cell(out, stored->key.input);
        text_format(out, "%zu\t%zu\t%s\t", stored->key.rows, stored->key.hidden,
                    dtype_name(stored->key.dtype));
        add_verdict(out, &stored->verdict);
        add_figure(out, metrics->row_ulp_max);
        text_format(out, "%zu\t%zu\t%a\t%a\tlnbench replay --case %lld\n", metrics->worst_row,
                    metrics->worst_column, metrics->worst_computed, metrics->worst_exact,
                    (long long)stored->id);
    }
}

/* Bins that are empty have no line. */
static void tsv_histogram(const run_view *view, text_buffer *out)
{
    text_add(out, "kernel\tconvention\tinput\trows\thidden\tdtype\tcache\tthreads\t"
                  "from_ulp\telements\tshare\n");
    for (size_t i = 0; i < view->cases.count; i++) {
        const case_key *key = &view->cases.cases[i].key;
        const uint64_t *bins = view->cases.cases[i].metrics.ulp_histogram;
        uint64_t all = 0;
        for (size_t bin = 0; bin < ULP_BINS; bin++)
            all += bins[bin];
        for (size_t bin = 0; bin < ULP_BINS; bin++) {
            if (bins[bin] == 0)
                continue;
            add_cell(out, key->kernel);
            add_cell(out, key->convention);
            add_cell(out, key->input);
            text_format(out, "%zu\t%zu\t%s\t%s\t%u\t", key->rows, key->hidden,
                        dtype_name(key->dtype), cache_name(key->cache), key->threads);
            add_figure(out, ulp_bin_from(bin));
            text_format(out, "%llu\t", (unsigned long long)bins[bin]);
            add_figure(out, (double)bins[bin] / (double)all);
            end_line(out);
        }
    }
}

static void tsv_machine(const run_view *view, text_buffer *out)
{
    text_add(out, "name\tvalue\n");
    for (size_t i = 0; i < view->machine.count; i++) {
        add_cell(out, view->machine.facts[i].name);
        add_cell(out, view->machine.facts[i].value);
        end_line(out);
    }
}

typedef void table_writer(const run_view *view, text_buffer *out);

static bool write_table(const run_view *view, table_writer *table, const char *directory,
                        const char *name, error *err)
{
    text_buffer path = {0}, content = {0};
    text_format(&path, "%s/%s", directory, name);
    table(view, &content);
    bool fine = write_whole_file(path.bytes, &content, err);
    text_free(&path);
    text_free(&content);
    return fine;
}

bool view_write_tsv(const run_view *view, const char *directory, error *err)
{
    return write_table(view, tsv_cases, directory, "cases.tsv", err) &&
           write_table(view, tsv_rows, directory, "rows.tsv", err) &&
           write_table(view, tsv_worst, directory, "worst.tsv", err) &&
           write_table(view, tsv_histogram, directory, "histogram.tsv", err) &&
           write_table(view, tsv_machine, directory, "machine.tsv", err);
}
