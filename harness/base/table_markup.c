/* A table for pages and for CI: HTML, JUnit's XML and the annotations of GitHub Actions. */
#include "base/clean.h"
#include "base/number.h"
#include "base/table.h"
#include <string.h>

static void add_html_heading(const text_table *table, size_t column, text_buffer *out)
{
    const relation_column *of = table->columns[column];
    clean_format(out, FORM_MARKUP, "<th class=\"%s%s\"><button type=\"button\">%s</button></th>",
                 table->is_right[column] ? "number " : "", of->priority > 0 ? "optional" : "",
                 of->heading);
}

static void add_html_cell(const text_table *table, size_t row, size_t column, text_buffer *out)
{
    const relation_column *of = table->columns[column];
    const table_cell *cell = table_at(table, row, column);
    text_format(out, "<td class=\"%s%s%s\"", table->is_right[column] ? "number " : "",
                of->priority > 0 ? "optional " : "", text_tone_names[cell->tone]);
    if (table->is_right[column]) {
        text_add(out, " data-value=\"");
        text_number(out, cell->figure);
        text_add(out, "\"");
    }
    clean_format(out, FORM_MARKUP, of->is_code ? "><code>%s</code></td>" : ">%s</td>", cell->text);
}

/* A heading sorts: its button can be reached by keyboard. */
void table_add_html(const text_table *table, text_buffer *out)
{
    text_add(out, "<div class=\"table\" tabindex=\"0\"><table>\n<thead><tr>");
    for (size_t column = 0; column < table->column_count; column++)
        add_html_heading(table, column, out);
    text_add(out, "</tr></thead>\n<tbody>\n");
    for (size_t row = 0; row < table->rows; row++) {
        text_add(out, "<tr>");
        for (size_t column = 0; column < table->column_count; column++)
            add_html_cell(table, row, column, out);
        text_add(out, "</tr>\n");
    }
    text_add(out, "</tbody></table></div>\n");
}

/* The cell of the column of this key. */
static const char *text_of(const text_table *table, size_t row, const char *key)
{
    for (size_t column = 0; column < table->column_count; column++)
        if (strcmp(table->columns[column]->key, key) == 0)
            return table_at(table, row, column)->text;
    return "";
}

static size_t count_outcomes(const text_table *table, const char *outcome)
{
    size_t count = 0;
    for (size_t row = 0; row < table->rows; row++)
        count += strcmp(text_of(table, row, "outcome"), outcome) == 0;
    return count;
}

static void add_attribute(const text_table *table, size_t row, const char *key, text_buffer *out)
{
    const char *value = text_of(table, row, key);
    if (*value)
        clean_format(out, FORM_MARKUP, " %s=\"%s\"", key, value);
}

static void add_test_case(const text_table *table, size_t row, text_buffer *out)
{
    const char *outcome = text_of(table, row, "outcome"), *output = text_of(table, row, "output");
    text_add(out, "  <testcase");
    add_attribute(table, row, "classname", out);
    add_attribute(table, row, "name", out);
    add_attribute(table, row, "time", out);
    text_add(out, ">\n");
    if (*outcome) {
        text_format(out, "    <%s", outcome);
        add_attribute(table, row, "type", out);
        add_attribute(table, row, "message", out);
        text_add(out, "/>\n");
    }
    if (*output)
        clean_format(out, FORM_MARKUP, "    <system-out>%s</system-out>\n", output);
    text_add(out, "  </testcase>\n");
}

void table_add_junit(const text_table *table, text_buffer *out)
{
    double seconds = 0;
    for (size_t row = 0; row < table->rows; row++)
        seconds += number_read(text_of(table, row, "time"), NULL);
    clean_format(out, FORM_MARKUP,
                 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                 "<testsuites>\n<testsuite name=\"lnbench %s\" tests=\"%zu\" failures=\"%zu\" "
                 "errors=\"%zu\" skipped=\"%zu\" time=\"%.3f\">\n",
                 table->rows > 0 ? text_of(table, 0, "classname") : "", table->rows,
                 count_outcomes(table, "failure"), count_outcomes(table, "error"),
                 count_outcomes(table, "skipped"), seconds);
    for (size_t row = 0; row < table->rows; row++)
        add_test_case(table, row, out);
    text_add(out, "</testsuite>\n</testsuites>\n");
}

void table_add_github(const text_table *table, text_buffer *out)
{
    for (size_t row = 0; row < table->rows; row++) {
        const char *level = text_of(table, row, "level");
        if (!*level)
            continue;
        text_format(out, "::%s title=", level);
        clean_add(out, FORM_GITHUB_PROPERTY, text_of(table, row, "title"));
        text_add(out, "::");
        clean_add(out, FORM_GITHUB, text_of(table, row, "message"));
        text_add(out, "\n");
    }
}
