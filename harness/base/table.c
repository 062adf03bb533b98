#include "base/table.h"
#include "base/allocate.h"
#include "base/clean.h"
#include "base/number.h"
#include "base/text.h"
#include <stdlib.h>
#include <string.h>

struct text_table {
    text_buffer *cells; /* row by row, the headings first */
    size_t columns, count;
};

text_table *table_create(const char *const *headings, size_t columns)
{
    text_table *made = allocate_zeroed(1, sizeof *made);
    made->columns = columns;
    for (size_t i = 0; i < columns; i++)
        table_cell(made, headings[i]);
    return made;
}

static text_buffer *next_cell(text_table *table)
{
    table->cells = allocate_room(table->cells, table->count, sizeof *table->cells);
    text_buffer *cell = &table->cells[table->count++];
    *cell = (text_buffer){0};
    return cell;
}

void table_cell(text_table *table, const char *value)
{
    text_buffer *cell = next_cell(table);
    text_add(cell, value);
    if (cell->bytes)
        text_make_printable(cell->bytes, "\t\n\r");
}

static const char *cell_string(const text_table *table, size_t row, size_t column)
{
    size_t index = row * table->columns + column;
    const char *bytes = index < table->count ? table->cells[index].bytes : NULL;
    return bytes ? bytes : "";
}

/* With a unit or an interval behind it, or the word for a figure that there is not. */
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

/* How the columns stand: their widths, the least that they can do with, and how they align. */
typedef struct column_layout {
    size_t *width, *least;
    bool *right;
} column_layout;

static size_t row_count(const text_table *table)
{
    return (table->count + table->columns - 1) / table->columns;
}

static bool is_right(const text_table *table, size_t rows, size_t column)
{
    for (size_t row = 1; row < rows; row++)
        if (!is_number(cell_string(table, row, column)))
            return false;
    return rows > 1;
}

static void columns_free(column_layout *columns)
{
    free(columns->width);
    free(columns->least);
    free(columns->right);
}

/* Numbers are never broken; words may be, below a width at which nobody could read them. */
enum { LEAST_WORDS = 14 };

static column_layout columns_measure(const text_table *table)
{
    size_t rows = row_count(table);
    column_layout columns = {allocate_zeroed(table->columns, sizeof(size_t)),
                             allocate_zeroed(table->columns, sizeof(size_t)),
                             allocate_zeroed(table->columns, sizeof(bool))};
    for (size_t column = 0; column < table->columns; column++) {
        size_t widest = 0, heading = longest_word(cell_string(table, 0, column));
        for (size_t row = 1; row < rows; row++) {
            size_t shown = shown_width(cell_string(table, row, column));
            widest = shown > widest ? shown : widest;
        }
        size_t whole = shown_width(cell_string(table, 0, column));
        columns.right[column] = is_right(table, rows, column);
        columns.width[column] = widest > whole ? widest : whole;
        if (!columns.right[column] && widest > LEAST_WORDS)
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
static void print_bytes(const char *bytes, size_t length, FILE *file)
{
    for (size_t i = 0; i < length; i++)
        fputc(strchr("\t\n\r", bytes[i]) ? '?' : bytes[i], file);
}

/* Prints one line of each cell of a row; returns whether there is more. `rest` has, a column, what
 * is still to be printed. */
static bool print_line(const text_table *table, const column_layout *columns, const char **rest,
                       FILE *file)
{
    bool more = false;
    size_t pending = 0; /* blanks that only come when something follows them */
    for (size_t column = 0; column < table->columns; column++) {
        const char *string = rest[column];
        size_t length = line_length(string, columns->width[column], &rest[column]);
        size_t width = 0;
        for (size_t i = 0; i < length; i++)
            width += is_first_byte(string[i]);
        size_t padding = columns->width[column] > width ? columns->width[column] - width : 0;
        size_t before = pending + (columns->right[column] ? padding : 0);
        if (length > 0) {
            fprintf(file, "%*s", (int)before, "");
            print_bytes(string, length, file);
        }
        pending = (length > 0 ? 0 : pending + columns->width[column]) + 2 +
                  (length > 0 && !columns->right[column] ? padding : 0);
        more = more || *rest[column];
    }
    fputc('\n', file);
    return more;
}

static void print_rows(const text_table *table, const column_layout *columns, FILE *file)
{
    const char **rest = allocate_zeroed(table->columns, sizeof *rest);
    for (size_t row = 0; row < row_count(table); row++) {
        for (size_t column = 0; column < table->columns; column++)
            rest[column] = cell_string(table, row, column);
        while (print_line(table, columns, rest, file)) {
        }
    }
    free(rest);
}

/* "kernel    two_pass_f32_avx2", a line a cell, for terminals too narrow for columns. */
static void print_records(const text_table *table, size_t room, FILE *file)
{
    size_t name_width = 0;
    for (size_t column = 0; column < table->columns; column++) {
        size_t shown = shown_width(cell_string(table, 0, column));
        name_width = shown > name_width ? shown : name_width;
    }
    name_width = name_width + 2 > room / 2 ? room / 2 + 1 : name_width + 2;
    for (size_t row = 1; row < row_count(table); row++) {
        for (size_t column = 0; column < table->columns; column++) {
            const char *name = cell_string(table, 0, column),
                       *rest = cell_string(table, row, column);
            size_t value_room = room > name_width + 2 ? room - name_width : 2;
            do {
                const char *left = name, *right = rest;
                int shown = (int)line_length(left, name_width - 1, &name);
                size_t length = line_length(right, value_room, &rest);
                fprintf(file, "%-*.*s", (int)name_width, shown, left);
                print_bytes(right, length, file);
                fputc('\n', file);
            } while (*rest);
        }
        if (row + 1 < row_count(table))
            fputc('\n', file);
    }
}

static void print_cell(const text_table *table, size_t row, size_t column, text_form form,
                       FILE *file)
{
    text_buffer cell = {0};
    clean_add(&cell, form, cell_string(table, row, column));
    fputs(cell.bytes, file);
    text_free(&cell);
}

size_t table_width(const text_table *table)
{
    column_layout columns = columns_measure(table);
    size_t sum = columns_sum(columns.width, table->columns);
    columns_free(&columns);
    return sum;
}

bool table_print_within(const text_table *table, size_t room, FILE *file)
{
    column_layout columns = columns_measure(table);
    if (room > 0 && !columns_fit(&columns, table->columns, room))
        print_records(table, room, file);
    else
        print_rows(table, &columns, file);
    columns_free(&columns);
    return !ferror(file);
}

bool table_print_markdown(const text_table *table, FILE *file)
{
    size_t rows = row_count(table);
    for (size_t row = 0; row < rows; row++) {
        for (size_t column = 0; column < table->columns; column++) {
            fputs(column ? " | " : "| ", file);
            print_cell(table, row, column, FORM_MARKDOWN, file);
        }
        fputs(" |\n", file);
        for (size_t column = 0; row == 0 && column < table->columns; column++)
            fputs(!is_right(table, rows, column) ? column ? " --- |" : "| --- |"
                  : column                       ? " ---: |"
                                                 : "| ---: |",
                  file);
        if (row == 0)
            fputc('\n', file);
    }
    return !ferror(file);
}

bool table_print_data(const text_table *table, bool commas, FILE *file)
{
    for (size_t i = 0; i < table->count; i++) {
        print_cell(table, 0, i, commas ? FORM_CSV : FORM_TSV, file);
        fputc((i + 1) % table->columns == 0 ? '\n' : commas ? ',' : '\t', file);
    }
    return !ferror(file);
}

void table_destroy(text_table *table)
{
    if (!table)
        return;
    for (size_t i = 0; i < table->count; i++)
        text_free(&table->cells[i]);
    free(table->cells);
    free(table);
}
