/* Implements relations and prints them in every format. */
#include "base/relation.h"
#include "base/arena.h"
#include <math.h>
#include <string.h>

struct relation {
    relation_column *all;
    size_t all_count;
    const relation_column **columns; /* those with a heading */
    size_t column_count;
    bool *is_right;         /* for each column of `all`: it has only numbers and is aligned right */
    relation_value *values; /* row by row; their texts are printable */
    size_t count, room;     /* room: columns of the terminal; 0: no limit */
    bool goes_on;           /* TSV and CSV omit the headings */
};

const char *const text_tone_names[] = {"", "good", "fault", "limit", "soft"};

/* ---- values ---- */

relation_value as_json(json_t *json, const char *text)
{
    return (relation_value){
        .json = json, .text = allocate_copy(text, strlen(text) + 1), .figure = NAN};
}

relation_value as_text(const char *text)
{
    return text ? as_json(json_text(text), text) : as_json(json_null(), "-");
}

relation_value as_word(const char *text)
{
    return as_text(text[0] ? text : NULL);
}

static relation_value as_format_list(const char *format, va_list arguments)
{
    text_buffer text = {0};
    text_format_list(&text, format, arguments);
    relation_value made = as_text(text.bytes);
    text_free(&text);
    return made;
}

relation_value as_format(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    relation_value made = as_format_list(format, arguments);
    va_end(arguments);
    return made;
}

relation_value as_figure_words(double figure, text_tone tone, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    relation_value made = as_format_list(format, arguments);
    va_end(arguments);
    made.figure = figure;
    made.tone = tone;
    return made;
}

relation_value as_count(unsigned long long count)
{
    char text[24];
    snprintf(text, sizeof text, "%llu", count);
    return as_json(json_integer((json_int_t)count), text);
}

relation_value as_flag(bool flag)
{
    return as_json(json_boolean(flag), flag ? "yes" : "no");
}

relation_value as_figure(double figure)
{
    return (relation_value){.json = json_figure(figure), .figure = figure};
}

relation_value as_digits(double figure)
{
    char text[32];
    return as_json(json_figure(figure), number_format(figure, text));
}

/* ---- rows ---- */

relation *relation_create(const relation_column *columns, size_t count)
{
    relation *made = allocate_zeroed(1, sizeof *made);
    made->all = allocate_copy(columns, count * sizeof *columns);
    made->all_count = count;
    made->columns = allocate_zeroed(count, sizeof *made->columns);
    made->is_right = allocate_zeroed(count, sizeof *made->is_right);
    for (size_t i = 0; i < count; i++) {
        if (!columns[i].heading)
            continue;
        char *heading = allocate_copy(columns[i].heading, strlen(columns[i].heading) + 1);
        text_make_printable(heading, ""); /* some headings are data, such as the name of a peer */
        made->all[i].heading = heading;
        made->columns[made->column_count++] = &made->all[i];
    }
    return made;
}

/* Returns whether a cell is a number, perhaps with a unit or an interval after it, or a word for a missing one. */
static bool is_number(const char *string)
{
    static const char *const words[] = {"-", "=", "", "no digit", "fault"};
    if (word_is_in(string, WORDS(words)))
        return true;
    char *end;
    number_read(string, &end);
    return end != string &&
           (*end == '\0' || strcmp(end, " %") == 0 || strncmp(end, " ±", strlen(" ±")) == 0);
}

/* Formats a figure as its column requires. */
static char *figure_text(const relation_column *column, double figure)
{
    const char *unit = column->unit ? column->unit : "";
    char shown[64], cell[96] = "-";
    if (strcmp(unit, "%") == 0)
        figure *= 100;
    if (column->format)
        number_print(shown, sizeof shown, column->format, figure);
    else
        number_short(figure, shown);
    if (!isnan(figure))
        snprintf(cell, sizeof cell, "%s%s%s", shown, *unit ? " " : "", unit);
    return allocate_copy(cell, strlen(cell) + 1);
}

void relation_add(relation *rows, relation_value value)
{
    const size_t at = rows->count % rows->all_count;
    if (!rows->all[at].key) { /* the column is not in JSON */
        json_decref(value.json);
        value.json = NULL;
    }
    /* Words that HTML sorts by a figure count as numbers. */
    const bool sorts = value.text && !isnan(value.figure);
    value.text = value.text ? value.text : figure_text(&rows->all[at], value.figure);
    text_make_printable(value.text, "\t\n\r"); /* line ends stay, for TSV */
    rows->is_right[at] =
        (rows->count == at || rows->is_right[at]) && (sorts || is_number(value.text));
    rows->values = allocate_room(rows->values, rows->count, sizeof *rows->values);
    rows->values[rows->count++] = value;
}

void relation_add_values(relation *rows, const relation_value *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        relation_add(rows, values[i]);
}

void relation_destroy(relation *rows)
{
    if (!rows)
        return;
    for (size_t i = 0; i < rows->count; i++) {
        json_decref(rows->values[i].json);
        free(rows->values[i].text);
    }
    free(rows->values);
    for (size_t i = 0; i < rows->all_count; i++)
        free((char *)rows->all[i].heading);
    free(rows->is_right);
    free(rows->columns);
    free(rows->all);
    free(rows);
}

bool relation_shows(const relation *rows, size_t column)
{
    size_t i = 0;
    while (i < rows->column_count && rows->columns[i] != &rows->all[column])
        i++;
    return i < rows->column_count;
}

void relation_hide(relation *rows, size_t column)
{
    size_t kept = 0;
    for (size_t i = 0; i < rows->column_count; i++)
        if (rows->columns[i] != &rows->all[column])
            rows->columns[kept++] = rows->columns[i];
    rows->column_count = kept;
}

void relation_go_on(relation *rows)
{
    rows->goes_on = true;
}

void relation_hide_alike(relation *rows, size_t column)
{
    for (size_t i = column; i < rows->count; i += rows->all_count)
        if (strcmp(rows->values[i].text, rows->values[column].text) != 0)
            return;
    relation_hide(rows, column);
}

/* ---- the columns with a heading ---- */

static const relation_value *table_at(const relation *table, size_t row, size_t column)
{
    return &table->values[row * table->all_count + (size_t)(table->columns[column] - table->all)];
}

static size_t rows_of(const relation *table)
{
    return table->count / table->all_count;
}

static bool is_right(const relation *table, size_t column)
{
    return table->is_right[table->columns[column] - table->all];
}

/* ---- text ---- */

/* Widths are in characters: UTF-8 continuation bytes take no column. */
static bool is_first_byte(char byte)
{
    return ((unsigned char)byte & 0xc0) != 0x80;
}

static size_t width_of(const char *string)
{
    size_t width = 0;
    for (; *string; string++)
        width += is_first_byte(*string);
    return width;
}

/* Returns the length in bytes of the first line of a cell in `room` columns: up to the last blank or comma that fits,
 * else up to the last part of a name, else as much as fits. *next: the beginning of the next line. */
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
    for (size_t width = 0; *string; string++) {
        width = *string == ' ' ? 0 : width + is_first_byte(*string);
        longest = width > longest ? width : longest;
    }
    return longest;
}

/* The widths of the columns and their minima, in one allocation. */
typedef struct column_layout {
    size_t *width, *least;
} column_layout;

/* Numbers are never broken. Words are broken, but not below this width, at which they become unreadable. */
enum { LEAST_WORDS = 14 };

static column_layout columns_measure(const relation *table)
{
    size_t *widths = allocate_zeroed(2 * table->column_count, sizeof *widths);
    column_layout columns = {widths, widths + table->column_count};
    for (size_t column = 0; column < table->column_count; column++) {
        const char *title = table->columns[column]->heading;
        size_t widest = 0, heading = longest_word(title), whole = width_of(title);
        for (size_t row = 0; row < rows_of(table); row++) {
            size_t shown = width_of(table_at(table, row, column)->text);
            widest = shown > widest ? shown : widest;
        }
        columns.width[column] = widest > whole ? widest : whole;
        if (!is_right(table, column) && widest > LEAST_WORDS)
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

/* Shrinks the columns with the most room to spare until the table fits; returns false if it cannot. */
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

/* Adds a cell's bytes. Line ends and tabs are its only control characters, and become "?". */
static void add_bytes(const char *bytes, size_t length, text_buffer *out)
{
    for (size_t i = 0; i < length; i++)
        text_add_bytes(out, strchr("\t\n\r", bytes[i]) ? "?" : &bytes[i], 1);
}

/* Adds one line of each cell of a row; returns whether more follow. `rest` has the unwritten part of each cell. */
static bool add_line(const relation *table, const size_t *widths, const char **rest,
                     text_buffer *out)
{
    bool more = false;
    size_t pending = 0; /* blanks that are written only before other text */
    for (size_t column = 0; column < table->column_count; column++) {
        const char *string = rest[column];
        bool right = is_right(table, column);
        size_t length = line_length(string, widths[column], &rest[column]);
        size_t width = 0;
        for (size_t i = 0; i < length; i++)
            width += is_first_byte(string[i]);
        size_t padding = widths[column] > width ? widths[column] - width : 0;
        size_t before = pending + (right ? padding : 0);
        if (length > 0) {
            text_format(out, "%*s", (int)before, "");
            add_bytes(string, length, out);
        }
        pending =
            (length > 0 ? 0 : pending + widths[column]) + 2 + (length > 0 && !right ? padding : 0);
        more = more || *rest[column];
    }
    text_add(out, "\n");
    return more;
}

/* Adds rows as "kernel    two_pass_f32_avx2", one line for each cell, for terminals too narrow for columns. */
static void add_records(const relation *table, text_buffer *out)
{
    size_t name_width = 0, room = table->room;
    for (size_t column = 0; column < table->column_count; column++) {
        size_t shown = width_of(table->columns[column]->heading);
        name_width = shown > name_width ? shown : name_width;
    }
    name_width = name_width + 2 > room / 2 ? room / 2 + 1 : name_width + 2;
    for (size_t row = 0; row < rows_of(table); row++) {
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

/* Adds aligned columns within the room: text that does not fit continues in the next line of its cell; if that is not
 * enough, each row becomes a list of its cells. */
static void add_text(const relation *table, text_buffer *out)
{
    column_layout columns = columns_measure(table);
    const char **rest = allocate_zeroed(table->column_count, sizeof *rest);
    if (table->room > 0 && !columns_fit(&columns, table->column_count, table->room)) {
        add_records(table, out);
    } else {
        for (size_t line = 0; line <= rows_of(table); line++) {
            for (size_t column = 0; column < table->column_count; column++)
                rest[column] = line == 0 ? table->columns[column]->heading
                                         : table_at(table, line - 1, column)->text;
            while (add_line(table, columns.width, rest, out)) {
            }
        }
    }
    free(rest);
    free(columns.width);
}

/* ---- Markdown, TSV and CSV ---- */

static void add_markdown(const relation *table, text_buffer *out)
{
    for (size_t column = 0; column < table->column_count; column++)
        clean_format(out, FORM_MARKDOWN, "| %s ", table->columns[column]->heading);
    text_add(out, "|\n");
    for (size_t column = 0; column < table->column_count; column++)
        text_add(out, is_right(table, column) ? "| ---: " : "| --- ");
    text_add(out, "|\n");
    for (size_t row = 0; row < rows_of(table); row++) {
        for (size_t column = 0; column < table->column_count; column++)
            clean_format(out, table->columns[column]->is_code ? FORM_MARKDOWN_CODE : FORM_MARKDOWN,
                         table->columns[column]->is_code ? "| `%s` " : "| %s ",
                         table_at(table, row, column)->text);
        text_add(out, "|\n");
    }
}

static void add_data(const relation *table, text_form form, const char *separator, text_buffer *out)
{
    const size_t columns = table->column_count;
    for (size_t i = table->goes_on ? columns : 0; i < (rows_of(table) + 1) * columns; i++) {
        clean_add(out, form,
                  i < columns ? table->columns[i]->heading
                              : table_at(table, i / columns - 1, i % columns)->text);
        text_add(out, (i + 1) % columns > 0 ? separator : "\n");
    }
}

static void add_tsv(const relation *table, text_buffer *out)
{
    add_data(table, FORM_TSV, "\t", out);
}

static void add_csv(const relation *table, text_buffer *out)
{
    add_data(table, FORM_CSV, ",", out);
}

/* ---- HTML, JUnit's XML, and the annotations of GitHub Actions ---- */

/* Adds a table that plots/page.html can sort by figures. A heading is a button, reachable by keyboard. */
static void add_html(const relation *table, text_buffer *out)
{
    text_add(out, "<div class=\"table\" tabindex=\"0\"><table>\n<thead><tr>");
    for (size_t column = 0; column < table->column_count; column++) {
        const relation_column *of = table->columns[column];
        clean_format(out, FORM_MARKUP,
                     "<th class=\"%s%s\"><button type=\"button\">%s</button></th>",
                     is_right(table, column) ? "number " : "", of->priority > 0 ? "optional" : "",
                     of->heading);
    }
    text_add(out, "</tr></thead>\n<tbody>\n");
    for (size_t row = 0; row < rows_of(table); row++) {
        text_add(out, "<tr>");
        for (size_t column = 0; column < table->column_count; column++) {
            const relation_column *of = table->columns[column];
            const relation_value *cell = table_at(table, row, column);
            text_format(out, "<td class=\"%s%s%s\"", is_right(table, column) ? "number " : "",
                        of->priority > 0 ? "optional " : "", text_tone_names[cell->tone]);
            if (is_right(table, column)) {
                text_add(out, " data-value=\"");
                text_number(out, cell->figure);
                text_add(out, "\"");
            }
            clean_format(out, FORM_MARKUP, of->is_code ? "><code>%s</code></td>" : ">%s</td>",
                         cell->text);
        }
        text_add(out, "</tr>\n");
    }
    text_add(out, "</tbody></table></div>\n");
}

/* Returns the cell in the column with this heading. */
static const char *text_of(const relation *table, size_t row, const char *heading)
{
    for (size_t column = 0; column < table->column_count; column++)
        if (strcmp(table->columns[column]->heading, heading) == 0)
            return table_at(table, row, column)->text;
    return "";
}

static size_t count_outcomes(const relation *table, const char *outcome)
{
    size_t count = 0;
    for (size_t row = 0; row < rows_of(table); row++)
        count += strcmp(text_of(table, row, "outcome"), outcome) == 0;
    return count;
}

static void add_attribute(const relation *table, size_t row, const char *key, text_buffer *out)
{
    const char *value = text_of(table, row, key);
    if (*value)
        clean_format(out, FORM_MARKUP, " %s=\"%s\"", key, value);
}

static void add_test_case(const relation *table, size_t row, text_buffer *out)
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

/* Adds a test suite. The headings must be "classname", "name", "time" (in seconds), "outcome" ("failure", "error",
 * "skipped"; "": passed), "type", "message" and "output". */
static void add_junit(const relation *table, text_buffer *out)
{
    double seconds = 0;
    for (size_t row = 0; row < rows_of(table); row++)
        seconds += number_read(text_of(table, row, "time"), NULL);
    clean_format(out, FORM_MARKUP,
                 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                 "<testsuites>\n<testsuite name=\"lnbench %s\" tests=\"%zu\" failures=\"%zu\" "
                 "errors=\"%zu\" skipped=\"%zu\" time=\"%.3f\">\n",
                 rows_of(table) > 0 ? text_of(table, 0, "classname") : "", rows_of(table),
                 count_outcomes(table, "failure"), count_outcomes(table, "error"),
                 count_outcomes(table, "skipped"), seconds);
    for (size_t row = 0; row < rows_of(table); row++)
        add_test_case(table, row, out);
    text_add(out, "</testsuite>\n</testsuites>\n");
}

/* Adds annotations of GitHub Actions. The headings must be "level" ("": no annotation), "title" and "message". */
static void add_github(const relation *table, text_buffer *out)
{
    for (size_t row = 0; row < rows_of(table); row++) {
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

/* Indexed by output_format; NULL: relation_json(). To add a format, add it to output_format, its name to output.c, and
 * its printer here. */
static void (*const printers[OUTPUT_FORMAT_COUNT])(const relation *, text_buffer *) = {
    [OUTPUT_TEXT] = add_text, [OUTPUT_MARKDOWN] = add_markdown, [OUTPUT_TSV] = add_tsv,
    [OUTPUT_CSV] = add_csv,   [OUTPUT_JUNIT] = add_junit,       [OUTPUT_GITHUB] = add_github,
    [OUTPUT_HTML] = add_html,
};

/* ---- fitting into the terminal ---- */

void relation_fit(relation *rows, size_t room)
{
    for (;;) {
        int priority = 0;
        size_t least = 0;
        for (size_t i = 0; i < rows->column_count; i++)
            if (rows->columns[i]->priority > priority) {
                priority = rows->columns[i]->priority;
                least = (size_t)(rows->columns[i] - rows->all);
            }
        column_layout columns = columns_measure(rows);
        const size_t width = columns_sum(columns.width, rows->column_count);
        free(columns.width);
        if (priority == 0 || rows->column_count <= 2 || width <= room)
            return;
        relation_hide(rows, least);
    }
}

/* ---- JSON ---- */

json_t *json_text(const char *string)
{
    text_buffer clean = {0};
    json_t *made = json_string(string);
    if (!made) {
        clean_add(&clean, FORM_LINE, string);
        made = json_string(clean.bytes);
    }
    text_free(&clean);
    return made;
}

json_t *json_figure(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *relation_json(relation *rows)
{
    json_t *array = json_array(), *row = NULL;
    for (size_t i = 0; i < rows->count; i++) {
        const char *key = rows->all[i % rows->all_count].key;
        if (i % rows->all_count == 0)
            json_array_append_new(array, row = json_object());
        if (key && strcmp(key, EACH_MEMBER) == 0)
            json_object_update(row, rows->values[i].json);
        else if (key)
            json_object_set(row, key, rows->values[i].json);
    }
    relation_destroy(rows);
    return array;
}

/* ---- all formats ---- */

void relation_add_form(const relation *rows, output_format format, size_t room, text_buffer *out)
{
    relation table = *rows;
    table.room = room;
    printers[format](&table, out);
}

void relation_print_in(relation *rows, json_t *whole, const char *key, const output_file *output)
{
    if (!printers[output->format]) {
        json_t *array = relation_json(rows);
        if (whole)
            json_object_set_new(whole, key, array);
        output_json(output, whole ? whole : array);
        return;
    }
    text_buffer text = {0};
    json_decref(whole);
    if (output->format == OUTPUT_TEXT && output->width > 0)
        relation_fit(rows, output->width);
    relation_add_form(rows, output->format, output->width, &text);
    relation_destroy(rows);
    if (text.bytes && fputs(text.bytes, output->file) < 0)
        die(EXIT_CODE_ENVIRONMENT, "standard output: cannot write the table");
    text_free(&text);
}

void relation_print(relation *rows, const output_file *output)
{
    relation_print_in(rows, NULL, NULL, output);
}
