/* A table as text, Markdown, TSV and CSV. */
#include "base/table.h"
#include "base/allocate.h"
#include "base/clean.h"
#include "base/number.h"
#include <stdlib.h>
#include <string.h>

const table_cell *table_at(const text_table *table, size_t row, size_t column)
{
    return &table->cells[row * table->column_count + column];
}

/* With a unit or an interval behind it, or the word for a figure that there is not. */
bool table_is_number(const char *string)
{
    static const char *const words[] = {"-", "=", "", "no digit", "fault"};
    if (word_is_in(string, WORDS(words)))
        return true;
    char *end;
    number_read(string, &end);
    return end != string &&
           (*end == '\0' || strcmp(end, " %") == 0 || strncmp(end, " ±", strlen(" ±")) == 0);
}

/* Characters, not bytes: UTF-8 continuation bytes take no column. */
static bool is_first_byte(char byte)
{
    return ((unsigned char)byte & 0xc0) != 0x80;
}

static size_t shown_width(const char *string)
{
    size_t width = 0;
    for (; *string; string++)
        width += is_first_byte(*string);
    return width;
}

/* Bytes of the first line of a cell that has `room` columns: up to the last blank or comma that
 * fits, or else the last part of a name, or else as much as fits. *next is where the next line
 * begins. */
static size_t line_length(const char *string, size_t room, const char **next)
{
    size_t width = 0, length = 0, good = 0, part = 0;
    for (; string[length]; length++) {
        if (is_first_byte(string[length]) && ++width > room)
            break;
        if (string[length] == ' ')
            good = length;
        else if (string[length] == ',' && string[length + 1] != ' ' && width < room)
            good = length + 1;
        else if (string[length] == '_')
            part = length + 1;
    }
    if (string[length] && string[length] != ' ' && (good > 0 || part > 0))
        length = good > 0 ? good : part;
    *next = string + length + strspn(string + length, " ");
    return length;
}

static size_t longest_word(const char *string)
{
    size_t longest = 0;
    while (*string) {
        char word[64];
        size_t length = strcspn(string, " ");
        snprintf(word, sizeof word, "%.*s", (int)length, string);
        size_t width = shown_width(word);
        longest = width > longest ? width : longest;
        string += length + strspn(string + length, " ");
    }
    return longest;
}

/* How the columns stand: their widths, and the least that they can do with. */
typedef struct column_layout {
    size_t *width, *least;
} column_layout;

static void columns_free(column_layout *columns)
{
    free(columns->width);
    free(columns->least);
}

/* Numbers are never broken; words may be, below a width at which nobody could read them. */
enum { LEAST_WORDS = 14 };

static column_layout columns_measure(const text_table *table)
{
    column_layout columns = {allocate_zeroed(table->column_count, sizeof(size_t)),
                             allocate_zeroed(table->column_count, sizeof(size_t))};
    for (size_t column = 0; column < table->column_count; column++) {
        const char *title = table->columns[column]->heading;
        size_t widest = 0, heading = longest_word(title), whole = shown_width(title);
        for (size_t row = 0; row < table->rows; row++) {
            size_t shown = shown_width(table_at(table, row, column)->text);
            widest = shown > widest ? shown : widest;
        }
        columns.width[column] = widest > whole ? widest : whole;
        if (!table->is_right[column] && widest > LEAST_WORDS)
            widest = LEAST_WORDS;
        columns.least[column] = widest > heading ? widest : heading;
    }
    return columns;
}

static size_t columns_sum(const size_t *width, size_t count)
{
    size_t sum = 0;
    for (size_t column = 0; column < count; column++)
        sum += width[column] + (column ? 2 : 0);
    return sum;
}

/* Takes from what can spare most until the table fits; false: it can't. */
static bool columns_fit(column_layout *columns, size_t count, size_t room)
{
    if (columns_sum(columns->least, count) > room)
        return columns_sum(columns->width, count) <= room;
    for (size_t sum = columns_sum(columns->width, count); sum > room; sum--) {
        size_t most = 0, spare = 0;
        for (size_t column = 0; column < count; column++) {
            size_t own = columns->width[column] - columns->least[column];
            if (own > 0 && columns->width[column] > spare) {
                spare = columns->width[column];
                most = column;
            }
        }
        columns->width[most]--;
    }
    return true;
}

/* Cells hold nothing that a terminal obeys but for these, which end a line. */
static void add_bytes(const char *bytes, size_t length, text_buffer *out)
{
    for (size_t i = 0; i < length; i++)
        text_add_bytes(out, strchr("\t\n\r", bytes[i]) ? "?" : &bytes[i], 1);
}

/* Adds one line of each cell of a row; returns whether there is more. `rest` has, a column, what is
 * still to be written. */
static bool add_line(const text_table *table, const column_layout *columns, const char **rest,
                     text_buffer *out)
{
    bool more = false;
    size_t pending = 0; /* blanks that only come when something follows them */
    for (size_t column = 0; column < table->column_count; column++) {
        const char *string = rest[column];
        bool right = table->is_right[column];
        size_t length = line_length(string, columns->width[column], &rest[column]);
        size_t width = 0;
        for (size_t i = 0; i < length; i++)
            width += is_first_byte(string[i]);
        size_t padding = columns->width[column] > width ? columns->width[column] - width : 0;
        size_t before = pending + (right ? padding : 0);
        if (length > 0) {
            text_format(out, "%*s", (int)before, "");
            add_bytes(string, length, out);
        }
        pending = (length > 0 ? 0 : pending + columns->width[column]) + 2 +
                  (length > 0 && !right ? padding : 0);
        more = more || *rest[column];
    }
    text_add(out, "\n");
    return more;
}

static void add_rows(const text_table *table, const column_layout *columns, text_buffer *out)
{
    const char **rest = allocate_zeroed(table->column_count, sizeof *rest);
    for (size_t line = 0; line <= table->rows; line++) {
        for (size_t column = 0; column < table->column_count; column++)
            rest[column] = line == 0 ? table->columns[column]->heading
                                     : table_at(table, line - 1, column)->text;
        while (add_line(table, columns, rest, out)) {
        }
    }
    free(rest);
}

/* "kernel    two_pass_f32_avx2", a line a cell, for terminals too narrow for columns. */
static void add_records(const text_table *table, text_buffer *out)
{
    size_t name_width = 0, room = table->room;
    for (size_t column = 0; column < table->column_count; column++) {
        size_t shown = shown_width(table->columns[column]->heading);
        name_width = shown > name_width ? shown : name_width;
    }
    name_width = name_width + 2 > room / 2 ? room / 2 + 1 : name_width + 2;
    for (size_t row = 0; row < table->rows; row++) {
        text_add(out, row > 0 ? "\n" : "");
        for (size_t column = 0; column < table->column_count; column++) {
            const char *name = table->columns[column]->heading,
                       *rest = table_at(table, row, column)->text;
            size_t value_room = room > name_width + 2 ? room - name_width : 2;
            do {
                const char *left = name, *right = rest;
                int shown = (int)line_length(left, name_width - 1, &name);
                size_t length = line_length(right, value_room, &rest);
                text_format(out, "%-*.*s", (int)name_width, shown, left);
                add_bytes(right, length, out);
                text_add(out, "\n");
            } while (*rest);
        }
    }
}

size_t table_width(const text_table *table)
{
    column_layout columns = columns_measure(table);
    size_t sum = columns_sum(columns.width, table->column_count);
    columns_free(&columns);
    return sum;
}

void table_add_text(const text_table *table, text_buffer *out)
{
    column_layout columns = columns_measure(table);
    if (table->room > 0 && !columns_fit(&columns, table->column_count, table->room))
        add_records(table, out);
    else
        add_rows(table, &columns, out);
    columns_free(&columns);
}

void table_add_markdown(const text_table *table, text_buffer *out)
{
    for (size_t column = 0; column < table->column_count; column++)
        clean_format(out, FORM_MARKDOWN, "| %s ", table->columns[column]->heading);
    text_add(out, "|\n");
    for (size_t column = 0; column < table->column_count; column++)
        text_add(out, table->is_right[column] ? "| ---: " : "| --- ");
    text_add(out, "|\n");
    for (size_t row = 0; row < table->rows; row++) {
        for (size_t column = 0; column < table->column_count; column++)
            clean_format(out, table->columns[column]->is_code ? FORM_MARKDOWN_CODE : FORM_MARKDOWN,
                         table->columns[column]->is_code ? "| `%s` " : "| %s ",
                         table_at(table, row, column)->text);
        text_add(out, "|\n");
    }
}

static void add_data(const text_table *table, text_form form, const char *separator,
                     text_buffer *out)
{
    const size_t columns = table->column_count;
    for (size_t i = 0; !table->goes_on && i < columns; i++) {
        clean_add(out, form, table->columns[i]->heading);
        text_add(out, i + 1 < columns ? separator : "\n");
    }
    for (size_t i = 0; i < table->rows * columns; i++) {
        clean_add(out, form, table->cells[i].text);
        text_add(out, (i + 1) % columns > 0 ? separator : "\n");
    }
}

void table_add_tsv(const text_table *table, text_buffer *out)
{
    add_data(table, FORM_TSV, "\t", out);
}

void table_add_csv(const text_table *table, text_buffer *out)
{
    add_data(table, FORM_CSV, ",", out);
}

/* A table for pages and for CI: HTML, JUnit's XML and the annotations of GitHub Actions. */

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

/* The forms of a relation. */

const table_form table_forms[OUTPUT_FORMAT_COUNT] = {
    [OUTPUT_TEXT] = {"text", table_add_text},
    [OUTPUT_MARKDOWN] = {"markdown", table_add_markdown},
    [OUTPUT_TSV] = {"tsv", table_add_tsv},
    [OUTPUT_CSV] = {"csv", table_add_csv},
    [OUTPUT_JSON] = {"json", NULL},
    [OUTPUT_JUNIT] = {"junit", table_add_junit},
    [OUTPUT_GITHUB] = {"github", table_add_github},
    [OUTPUT_SMALLER] = {"smaller", NULL},
    [OUTPUT_HTML] = {"html", table_add_html},
};
