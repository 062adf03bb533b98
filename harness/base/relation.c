#include "base/relation.h"
#include "base/allocate.h"
#include "base/number.h"
#include "base/table.h"
#include <math.h>
#include <string.h>

struct relation {
    relation_column *columns; /* those that are left out lose their heading */
    size_t column_count;
    relation_value *values; /* row by row */
    size_t count;
    bool goes_on;
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

relation_value as_hash(unsigned long long hash)
{
    return as_format("%016llx", hash);
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
    made->columns = allocate_copy(columns, count * sizeof *columns);
    made->column_count = count;
    return made;
}

void relation_add(relation *rows, relation_value value)
{
    if (!rows->columns[rows->count % rows->column_count].key) { /* nobody asks for its JSON */
        json_decref(value.json);
        value.json = NULL;
    }
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
    free(rows->columns);
    free(rows);
}

/* ---- text ---- */

static table_cell make_cell(const relation_column *column, const relation_value *value)
{
    const char *unit = column->unit ? column->unit : "";
    double figure = strcmp(unit, "%") == 0 ? 100 * value->figure : value->figure;
    char shown[64], cell[96];
    if (!value->text && !isnan(figure)) {
        if (column->format)
            number_print(shown, sizeof shown, column->format, figure);
        else
            number_short(figure, shown);
        snprintf(cell, sizeof cell, "%s%s%s", shown, *unit ? " " : "", unit);
    }
    const char *text = value->text ? value->text : isnan(figure) ? "-" : cell;
    table_cell made = {allocate_copy(text, strlen(text) + 1), value->figure, value->tone};
    text_make_printable(made.text, "\t\n\r");
    return made;
}

/* A column of words that HTML sorts by their figures is one of numbers too. */
static bool is_right(const relation *rows, size_t column, const text_table *table, size_t shown)
{
    bool right = table->rows > 0;
    for (size_t row = 0; right && row < table->rows; row++) {
        const relation_value *value = &rows->values[row * rows->column_count + column];
        right = table_is_number(table_at(table, row, shown)->text) ||
                (value->text && !isnan(value->figure));
    }
    return right;
}

static text_table make_table(const relation *rows, size_t room)
{
    text_table table = {.columns = allocate_zeroed(rows->column_count, sizeof *table.columns),
                        .is_right = allocate_zeroed(rows->column_count, sizeof(bool)),
                        .cells = allocate_zeroed(rows->count + 1, sizeof *table.cells),
                        .rows = rows->count / rows->column_count,
                        .room = room,
                        .goes_on = rows->goes_on};
    for (size_t i = 0, cells = 0; i < rows->count; i++)
        if (relation_shows(rows, i % rows->column_count))
            table.cells[cells++] =
                make_cell(&rows->columns[i % rows->column_count], &rows->values[i]);
    for (size_t i = 0; i < rows->column_count; i++)
        if (relation_shows(rows, i))
            table.columns[table.column_count++] = &rows->columns[i];
    for (size_t i = 0, shown = 0; i < rows->column_count; i++)
        if (relation_shows(rows, i)) {
            table.is_right[shown] = is_right(rows, i, &table, shown);
            shown++;
        }
    return table;
}

static void free_table(text_table *table)
{
    for (size_t i = 0; i < table->rows * table->column_count; i++)
        free(table->cells[i].text);
    free(table->cells);
    free(table->is_right);
    free(table->columns);
}

bool relation_shows(const relation *rows, size_t column)
{
    return rows->columns[column].heading;
}

void relation_hide(relation *rows, size_t column)
{
    rows->columns[column].heading = NULL;
}

void relation_go_on(relation *rows)
{
    rows->goes_on = true;
}

void relation_hide_alike(relation *rows, size_t column)
{
    for (size_t i = column; i < rows->count; i += rows->column_count)
        if (!rows->values[i].text || strcmp(rows->values[i].text, rows->values[column].text) != 0)
            return;
    relation_hide(rows, column);
}

static size_t shown_width(const relation *rows)
{
    text_table table = make_table(rows, 0);
    size_t width = table_width(&table);
    free_table(&table);
    return width;
}

/* The next column to leave out; false: the others stay. */
static bool find_least(const relation *rows, size_t *least)
{
    size_t shown = 0;
    int priority = 0;
    for (size_t i = 0; i < rows->column_count; i++) {
        shown += relation_shows(rows, i);
        if (!relation_shows(rows, i) || rows->columns[i].priority <= priority)
            continue;
        priority = rows->columns[i].priority;
        *least = i;
    }
    return priority > 0 && shown > 2;
}

void relation_fit(relation *rows, size_t room)
{
    size_t least = 0;
    while (find_least(rows, &least) && shown_width(rows) > room)
        relation_hide(rows, least);
}

/* ---- JSON ---- */

json_t *json_text(const char *string)
{
    json_t *made = json_string(string);
    if (made)
        return made;
    text_buffer clean = {0};
    text_add(&clean, "");
    for (const char *at = string; *at;) {
        text_letter letter = text_letter_at(at);
        if (letter.kind == LETTER_BAD || letter.kind == LETTER_CUT)
            text_add(&clean, "\xef\xbf\xbd");
        else
            text_add_bytes(&clean, at, letter.length);
        at += letter.length;
    }
    made = json_string(clean.bytes);
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
        const char *key = rows->columns[i % rows->column_count].key;
        if (i % rows->column_count == 0)
            json_array_append_new(array, row = json_object());
        if (key && strcmp(key, EACH_MEMBER) == 0)
            json_object_update(row, rows->values[i].json);
        else if (key)
            json_object_set(row, key, rows->values[i].json);
    }
    relation_destroy(rows);
    return array;
}

/* ---- every form ---- */

void relation_add_form(const relation *rows, output_format format, size_t room, text_buffer *out)
{
    text_table table = make_table(rows, room);
    table_forms[format].add(&table, out);
    free_table(&table);
}

void relation_print_in(relation *rows, json_t *whole, const char *key, const output_file *output)
{
    if (!table_forms[output->format].add) {
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
