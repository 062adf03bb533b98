/* SPDX-License-Identifier: Apache-2.0 */
/* A Markdown table, growing line by line. */
#include "formats.h"
#include <math.h>

static void add_cell(hayai_text *text, const char *string)
{
    for (uint32_t code; (code = hayai_text_code_point(&string));) {
        if (code == '|' || code == '\\' || code == '<' || code == '*' || code == '_' || code == '`')
            hayai_text_add(text, "\\");
        if (code == '\n' || code == '\r' || code == '\t')
            hayai_text_add(text, " ");
        else
            hayai_text_add_code_point(text, code);
    }
}

static void markdown_context(hayai_output *output, const hayai_context *machine, void *memory)
{
    (void)memory;
    hayai_text *text = &output->body;
    add_cell(text, machine->executable);
    hayai_text_add(text, " on ");
    add_cell(text, machine->host_name);
    hayai_text_format(text, " (%d × %.0f MHz), %s; Google Benchmark ", machine->processors,
                      machine->cycles_per_second / 1e6, machine->date);
    add_cell(text, machine->library_version);
    hayai_text_add(text, " (");
    add_cell(text, machine->library_build);
    hayai_text_add(text, ")\n\n| benchmark | time | CPU | iterations | counters |\n"
                         "|:--|--:|--:|--:|:--|\n");
}

/* Three significant digits and the unit, or a percentage. */
static void add_time(hayai_text *text, const hayai_run *run, double time)
{
    if (!isfinite(time))
        hayai_text_any_number(text, time);
    else if (run->rms || run->aggregate_unit == HAYAI_STATISTIC_UNIT_PERCENTAGE)
        hayai_text_format(text, "%.2f %%", time * 100);
    else
        hayai_text_format(text, "%.*f %s",
                          time < 10    ? 2
                          : time < 100 ? 1
                                       : 0,
                          time, hayai_unit_string(run->unit));
    if (run->big_o)
        hayai_text_format(text, " %s", run->complexity);
    hayai_text_add(text, " | ");
}

/* 12345678 as 12.3M; the powers of a counter are its own. */
static void add_counter(hayai_text *text, const hayai_counter_value *counter)
{
    static const char *const units[] = {"", "k", "M", "G", "T", "P"};
    double value = counter->value;
    const double k = (int)counter->one_k;
    size_t unit = 0;
    add_cell(text, counter->name);
    if (!isfinite(value)) {
        hayai_text_add(text, " ");
        hayai_text_any_number(text, value);
        return;
    }
    for (; unit < 5 && fabs(value) >= k; unit++)
        value /= k;
    hayai_text_format(text, " %.4g%s%s", value, units[unit],
                      unit > 0 && counter->one_k == HAYAI_ONE_K_1024 ? "i" : "");
    if (counter->flags & HAYAI_COUNTER_IS_RATE)
        hayai_text_add(text, counter->flags & HAYAI_COUNTER_INVERT ? " s" : "/s");
}

static void markdown_run(hayai_output *output, const hayai_run *run, void *memory)
{
    (void)memory;
    hayai_text *text = &output->body;
    hayai_text_add(text, "| ");
    add_cell(text, run->name);
    hayai_text_add(text, " | ");
    if (run->skipped != HAYAI_SKIP_NONE) {
        const bool error = run->skipped == HAYAI_SKIP_ERROR;
        hayai_text_format(text, "– | – | – | %s: ", error ? "error" : "skipped");
        add_cell(text, run->message);
        hayai_text_add(text, " |\n");
        return;
    }
    add_time(text, run, run->real_time);
    add_time(text, run, run->cpu_time);
    if (!run->big_o && !run->rms)
        hayai_text_format(text, "%lld", (long long)run->iterations);
    hayai_text_add(text, " | ");
    for (size_t i = 0; i < run->counter_count; i++) {
        hayai_text_add(text, i > 0 ? ", " : "");
        add_counter(text, &run->counters[i]);
    }
    hayai_text_add(text, run->counter_count > 0 && run->label[0] ? "; " : "");
    add_cell(text, run->label);
    hayai_text_add(text, " |\n");
}

const hayai_format hayai_format_markdown = {
    .name = "markdown", .kind = HAYAI_STREAM, .context = markdown_context, .run = markdown_run};
