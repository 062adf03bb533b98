/* SPDX-License-Identifier: Apache-2.0 */
/* Tidy TSV: one line a measure of a run (real_time, cpu_time, each counter), so that the columns
 * are the same whatever is measured. Tab, newline, carriage return and backslash in a text are
 * written \t, \n, \r, \\. What is not finite, and the times of a skipped run, are empty. */
#include "formats.h"
#include <math.h>

static void add_field(hayai_text *text, const char *string)
{
    for (uint32_t code; (code = hayai_text_code_point(&string));) {
        if (code == '\t')
            hayai_text_add(text, "\\t");
        else if (code == '\n')
            hayai_text_add(text, "\\n");
        else if (code == '\r')
            hayai_text_add(text, "\\r");
        else if (code == '\\')
            hayai_text_add(text, "\\\\");
        else
            hayai_text_add_code_point(text, code);
    }
    hayai_text_add(text, "\t");
}

/* The last field ends the line, not a tab. */
static void end_line(hayai_text *text)
{
    if (!text->failed && text->length > 0)
        text->data[--text->length] = '\0';
    hayai_text_add(text, "\n");
}

static void add_line(hayai_text *text, const hayai_run *run, const char *measure, double value,
                     const char *unit)
{
    static const char *const skips[] = {"", "skipped", "error"};
    add_field(text, run->name);
    add_field(text, run->function_name);
    add_field(text, run->arguments);
    hayai_text_format(text, "%lld\t%s\t", (long long)run->threads,
                      run->type == HAYAI_RUN_TYPE_AGGREGATE ? "aggregate" : "iteration");
    add_field(text, run->aggregate_name);
    if (run->repetition >= 0)
        hayai_text_format(text, "%lld", (long long)run->repetition);
    hayai_text_format(text, "\t%lld\t", (long long)run->iterations);
    add_field(text, measure);
    if (run->skipped == HAYAI_SKIP_NONE)
        hayai_text_number(text, value, "");
    hayai_text_format(text, "\t%s\t%s\t", unit, skips[run->skipped]);
    add_field(text, run->message);
    add_field(text, run->label);
    end_line(text);
}

static void tsv_context(hayai_output *output, const hayai_context *machine, void *memory)
{
    (void)machine;
    (void)memory;
    hayai_text_add(&output->body, "name\tfunction\targuments\tthreads\trun_type\taggregate\t"
                                  "repetition\titerations\tmeasure\tvalue\tunit\tskipped\tmessage\t"
                                  "label\n");
}

static void tsv_run(hayai_output *output, const hayai_run *run, void *memory)
{
    (void)memory;
    hayai_text *text = &output->body;
    const bool ratio = run->rms || run->aggregate_unit == HAYAI_STATISTIC_UNIT_PERCENTAGE;
    const char *unit = ratio ? "1" : hayai_unit_string(run->unit);
    add_line(text, run, "real_time", run->real_time, unit);
    add_line(text, run, "cpu_time", run->cpu_time, unit);
    for (size_t i = 0; i < run->counter_count; i++)
        add_line(text, run, run->counters[i].name, run->counters[i].value, "");
}

static void tsv_list(hayai_output *output, const char *const *names, size_t count)
{
    hayai_text *text = &output->body;
    hayai_text_add(text, "name\n");
    for (size_t i = 0; i < count; i++) {
        add_field(text, names[i]);
        end_line(text);
    }
}

const hayai_format hayai_format_tsv = {
    .name = "tsv", .kind = HAYAI_STREAM, .context = tsv_context, .run = tsv_run, .list = tsv_list};
