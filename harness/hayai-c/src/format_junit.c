/* SPDX-License-Identifier: Apache-2.0 */
/* JUnit XML: one test case a repetition, named after its instance, with its measures as properties;
 * an error is a failure, a skip with a message is skipped. Aggregates are left out: they are no
 * tests.
 */
#include "formats.h"
#include <string.h>

typedef struct totals {
    size_t tests, failures, skipped;
    double seconds;
    hayai_text suite; /* its name, escaped */
    hayai_text date;
} totals;

/* XML 1.0 has no control characters but tab, newline and carriage return, and no U+FFFE, U+FFFF. */
static void add_escaped(hayai_text *text, const char *string)
{
    for (uint32_t code; (code = hayai_text_code_point(&string));) {
        if (code == '&')
            hayai_text_add(text, "&amp;");
        else if (code == '<')
            hayai_text_add(text, "&lt;");
        else if (code == '>')
            hayai_text_add(text, "&gt;");
        else if (code == '"')
            hayai_text_add(text, "&quot;");
        else if (code == '\t' || code == '\n' || code == '\r')
            hayai_text_format(text, "&#%u;", (unsigned)code);
        else if (code < 0x20 || code == 0xfffe || code == 0xffff)
            hayai_text_add_code_point(text, 0xfffd);
        else
            hayai_text_add_code_point(text, code);
    }
}

/* The counts stand in the head, so it is written anew with each test case. */
static void write_head(hayai_output *output, const totals *sum)
{
    hayai_text *head = &output->head;
    hayai_text_clear(head);
    hayai_text_add(head, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
                         "  <testsuite name=\"");
    hayai_text_add(head, sum->suite.data ? sum->suite.data : "");
    hayai_text_format(head,
                      "\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\" time=\"",
                      sum->tests, sum->failures, sum->skipped);
    hayai_text_number(head, sum->seconds, "0");
    hayai_text_add(head, "\" timestamp=\"");
    hayai_text_add(head, sum->date.data ? sum->date.data : "");
    hayai_text_add(head, "\">\n");
    if (sum->suite.failed || sum->date.failed)
        head->failed = true;
}

static void junit_context(hayai_output *output, const hayai_context *machine, void *memory)
{
    totals *sum = memory;
    add_escaped(&sum->suite, machine->executable);
    add_escaped(&sum->date, machine->date);
    write_head(output, sum);
    hayai_text_add(&output->tail, "  </testsuite>\n</testsuites>\n");
}

static void add_property(hayai_text *text, const char *name, double value)
{
    hayai_text_add(text, "        <property name=\"");
    add_escaped(text, name);
    hayai_text_add(text, "\" value=\"");
    hayai_text_any_number(text, value);
    hayai_text_add(text, "\"/>\n");
}

static void add_properties(hayai_text *text, const hayai_run *run)
{
    const double scale = hayai_unit_multiplier(run->unit);
    hayai_text_add(text, "      <properties>\n");
    add_property(text, "iterations", (double)run->iterations);
    add_property(text, "real_seconds_per_iteration", run->real_time / scale);
    add_property(text, "cpu_seconds_per_iteration", run->cpu_time / scale);
    for (size_t i = 0; i < run->counter_count; i++)
        add_property(text, run->counters[i].name, run->counters[i].value);
    hayai_text_add(text, "      </properties>\n");
}

static void add_outcome(hayai_text *text, const hayai_run *run)
{
    if (run->skipped == HAYAI_SKIP_NONE) {
        add_properties(text, run);
        return;
    }
    const bool error = run->skipped == HAYAI_SKIP_ERROR;
    hayai_text_format(text, "      <%s message=\"", error ? "failure" : "skipped");
    add_escaped(text, run->message);
    hayai_text_add(text, "\"/>\n");
}

static void add_test_case(hayai_text *text, const hayai_run *run)
{
    hayai_text_add(text, "    <testcase classname=\"");
    add_escaped(text, run->function_name);
    hayai_text_add(text, "\" name=\"");
    add_escaped(text, run->name);
    if (run->repetitions > 1)
        hayai_text_format(text, " repetition %lld", (long long)run->repetition);
    hayai_text_add(text, "\" time=\"");
    hayai_text_number(text, run->real_seconds, "0");
    hayai_text_add(text, "\">\n");
    add_outcome(text, run);
    hayai_text_add(text, "    </testcase>\n");
}

static void junit_run(hayai_output *output, const hayai_run *run, void *memory)
{
    if (run->type == HAYAI_RUN_TYPE_AGGREGATE)
        return;
    totals *sum = memory;
    sum->tests++;
    sum->failures += run->skipped == HAYAI_SKIP_ERROR;
    sum->skipped += run->skipped == HAYAI_SKIP_MESSAGE;
    sum->seconds += run->real_seconds;
    add_test_case(&output->body, run);
    write_head(output, sum);
}

static void junit_release(void *memory)
{
    totals *sum = memory;
    hayai_text_release(&sum->suite);
    hayai_text_release(&sum->date);
}

const hayai_format hayai_format_junit = {.name = "junit",
                                         .kind = HAYAI_DOCUMENT,
                                         .context = junit_context,
                                         .run = junit_run,
                                         .memory = sizeof(totals),
                                         .release = junit_release};
