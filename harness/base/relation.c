#include "base/relation.h"
#include "base/allocate.h"
#include "base/number.h"
#include "base/text.h"
#include <math.h>
#include <string.h>

struct relation {
    relation_column *columns; /* those that are left out lose their heading */
    size_t column_count;
    relation_value *values; /* row by row */
    size_t count;
};

/* ---- values ---- */

relation_value as_json(json_t *json, const char *text)
{
    return (relation_value){.json = json, .text = allocate_copy(text, strlen(text) + 1)};
}

relation_value as_text(const char *text)
{
    return text ? as_json(json_text(text), text) : as_json(json_null(), "-");
}

relation_value as_word(const char *text)
{
    return as_text(text[0] ? text : NULL);
}

relation_value as_format(const char *format, ...)
{
    text_buffer text = {0};
    va_list arguments;
    va_start(arguments, format);
    text_format_list(&text, format, arguments);
    va_end(arguments);
    relation_value made = as_text(text.bytes);
    text_free(&text);
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
    number_print(text, sizeof text, "%.17g", figure);
    return as_json(json_figure(figure), text);
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

static void add_cell(text_table *table, const relation_column *column, const relation_value *value)
{
    const char *unit = column->unit ? column->unit : "";
    double figure = strcmp(unit, "%") == 0 ? 100 * value->figure : value->figure;
    char shown[64], cell[96];
    if (value->text || isnan(figure)) {
        table_cell(table, value->text ? value->text : "-");
        return;
    }
    if (column->format)
        number_print(shown, sizeof shown, column->format, figure);
    else
        number_short(figure, shown);
    snprintf(cell, sizeof cell, "%s%s%s", shown, *unit ? " " : "", unit);
    table_cell(table, cell);
}

static text_table *make_table(const relation *rows)
{
    const char **headings = allocate_zeroed(rows->column_count, sizeof *headings);
    size_t shown = 0;
    for (size_t i = 0; i < rows->column_count; i++)
        if (relation_shows(rows, i))
            headings[shown++] = rows->columns[i].heading;
    text_table *table = table_create(headings, shown);
    for (size_t i = 0; i < rows->count; i++)
        if (relation_shows(rows, i % rows->column_count))
            add_cell(table, &rows->columns[i % rows->column_count], &rows->values[i]);
    free(headings);
    return table;
}

bool relation_shows(const relation *rows, size_t column)
{
    return rows->columns[column].heading;
}

void relation_hide(relation *rows, size_t column)
{
    rows->columns[column].heading = NULL;
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
    text_table *table = make_table(rows);
    size_t width = table_width(table);
    table_destroy(table);
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

bool relation_print_in(relation *rows, json_t *whole, const char *key, const output_file *output,
                       error *err)
{
    if (output->format == OUTPUT_JSON) {
        json_t *array = relation_json(rows);
        if (whole)
            json_object_set_new(whole, key, array);
        return output_json(output, whole ? whole : array, err);
    }
    json_decref(whole);
    if (output->format == OUTPUT_TEXT && output->width > 0)
        relation_fit(rows, output->width);
    text_table *table = make_table(rows);
    relation_destroy(rows);
    return output_table(output, table, err);
}

bool relation_print(relation *rows, const output_file *output, error *err)
{
    return relation_print_in(rows, NULL, NULL, output, err);
}
