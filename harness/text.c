#include "text.h"
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static bool reserve(text *out, size_t more)
{
    if (out->failed || more > SIZE_MAX / 2 - out->length - 1) {
        out->failed = true;
        return false;
    }
    size_t needed = out->length + more + 1;
    if (needed <= out->capacity)
        return true;
    size_t capacity = needed * 2;
    char *bytes = realloc(out->bytes, capacity);
    if (!bytes) {
        out->failed = true;
        return false;
    }
    out->bytes = bytes;
    out->capacity = capacity;
    return true;
}

void text_add_bytes(text *out, const char *bytes, size_t length)
{
    if (!reserve(out, length))
        return;
    memcpy(out->bytes + out->length, bytes, length);
    out->length += length;
    out->bytes[out->length] = '\0';
}

void text_add(text *out, const char *string)
{
    text_add_bytes(out, string, strlen(string));
}

static void add_formatted(text *out, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    if (length < 0)
        out->failed = true;
    else if (reserve(out, (size_t)length)) {
        vsnprintf(out->bytes + out->length, (size_t)length + 1, format, again);
        out->length += (size_t)length;
    }
    va_end(again);
}

void text_format(text *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_formatted(out, format, arguments);
    va_end(arguments);
}

void text_number(text *out, double value)
{
    if (isnan(value)) {
        text_add(out, "nan");
        return;
    }
    if (isinf(value)) {
        text_add(out, value > 0 ? "inf" : "-inf");
        return;
    }
    char digits[40];
    for (int precision = 1; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (strtod(digits, NULL) == value)
            break;
    }
    text_add(out, digits);
}

void text_free(text *out)
{
    free(out->bytes);
    *out = (text){0};
}

const char *number_short(double value, char buffer[16])
{
    double magnitude = fabs(value);
    if (isnan(value))
        snprintf(buffer, 16, "-");
    else if (isinf(value))
        snprintf(buffer, 16, value > 0 ? "inf" : "-inf");
    else if (magnitude == 0)
        snprintf(buffer, 16, "0");
    else if (magnitude >= 99950 || magnitude < 0.00995)
        snprintf(buffer, 16, "%.1e", value);
    else if (magnitude >= 99.95)
        snprintf(buffer, 16, "%.0f", value);
    else if (magnitude >= 9.995)
        snprintf(buffer, 16, "%.1f", value);
    else if (magnitude >= 0.9995)
        snprintf(buffer, 16, "%.2f", value);
    else
        snprintf(buffer, 16, "%.3f", value);
    return buffer;
}

/* Damerau-Levenshtein distance (optimal string alignment) of words up to 63 bytes. */
static size_t word_distance(const char *a, const char *b)
{
    enum { LIMIT = 64 };
    size_t rows[3][LIMIT];
    size_t n = strlen(a), m = strlen(b);
    if (n >= LIMIT || m >= LIMIT)
        return LIMIT;
    size_t *before = rows[0], *last = rows[1], *now = rows[2];
    for (size_t j = 0; j <= m; j++)
        last[j] = j;
    for (size_t i = 1; i <= n; i++) {
        now[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t best = last[j - 1] + (a[i - 1] != b[j - 1]);
            if (last[j] + 1 < best)
                best = last[j] + 1;
            if (now[j - 1] + 1 < best)
                best = now[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            now[j] = best;
        }
        size_t *oldest = before;
        before = last;
        last = now;
        now = oldest;
    }
    return last[m];
}

const char *nearest_word(const char *given, const char *const *words, size_t count)
{
    const char *nearest = NULL;
    size_t least = strlen(given) / 2 + 1;
    for (size_t i = 0; i < count; i++) {
        size_t distance = word_distance(given, words[i]);
        /* A prefix is near however much is left off. */
        if (given[0] && strncmp(words[i], given, strlen(given)) == 0)
            distance = distance ? 1 : 0;
        if (distance < least) {
            least = distance;
            nearest = words[i];
        }
    }
    return nearest;
}

struct table {
    text *cells; /* row by row, the headings first */
    size_t columns, count, capacity;
    bool failed;
};

table *table_create(const char *const *headings, size_t columns)
{
    table *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->columns = columns;
    for (size_t i = 0; i < columns; i++)
        table_cell(made, headings[i]);
    return made;
}

static text *next_cell(table *table)
{
    if (table->count == table->capacity) {
        size_t capacity = table->capacity ? table->capacity * 2 : 64;
        text *cells = realloc(table->cells, capacity * sizeof *cells);
        if (!cells) {
            table->failed = true;
            return NULL;
        }
        table->cells = cells;
        table->capacity = capacity;
    }
    text *cell = &table->cells[table->count++];
    *cell = (text){0};
    return cell;
}

void table_cell(table *table, const char *value)
{
    text *cell = next_cell(table);
    if (cell)
        text_add(cell, value);
}

void table_format(table *table, const char *format, ...)
{
    text *cell = next_cell(table);
    if (!cell)
        return;
    va_list arguments;
    va_start(arguments, format);
    add_formatted(cell, format, arguments);
    va_end(arguments);
}

static const char *cell_string(const table *table, size_t row, size_t column)
{
    size_t index = row * table->columns + column;
    const char *bytes = index < table->count ? table->cells[index].bytes : NULL;
    return bytes ? bytes : "";
}

static bool is_number(const char *string)
{
    if (strcmp(string, "-") == 0 || string[0] == '\0')
        return true;
    char *end;
    strtod(string, &end);
    return end != string && (*end == '\0' || strcmp(end, " %") == 0);
}

/* Characters, not bytes: UTF-8 continuation bytes take no column. */
static int shown_width(const char *string)
{
    int width = 0;
    for (; *string; string++)
        width += ((unsigned char)*string & 0xc0) != 0x80;
    return width;
}

static void print_column(const table *table, size_t row, size_t column, int width, bool right,
                         FILE *file)
{
    const char *string = cell_string(table, row, column);
    int padding = width - shown_width(string);
    bool last = column + 1 == table->columns;
    fprintf(file, "%*s%s%*s", right ? padding : 0, "", string, right || last ? 0 : padding, "");
    fputs(last ? "\n" : "  ", file);
}

/* The width of every column; NULL when memory runs out. */
static int *column_widths(const table *table)
{
    size_t rows = (table->count + table->columns - 1) / table->columns;
    int *width = table->failed ? NULL : calloc(table->columns, sizeof *width);
    for (size_t column = 0; width && column < table->columns; column++)
        for (size_t row = 0; row < rows; row++) {
            int shown = shown_width(cell_string(table, row, column));
            width[column] = shown > width[column] ? shown : width[column];
        }
    return width;
}

size_t table_width(const table *table)
{
    int *width = column_widths(table);
    size_t sum = 0;
    for (size_t column = 0; width && column < table->columns; column++)
        sum += (size_t)width[column] + (column ? 2 : 0);
    free(width);
    return sum;
}

static bool is_right(const table *table, size_t rows, size_t column)
{
    for (size_t row = 1; row < rows; row++)
        if (!is_number(cell_string(table, row, column)))
            return false;
    return rows > 1;
}

bool table_print(const table *table, FILE *file)
{
    size_t rows = (table->count + table->columns - 1) / table->columns;
    int *width = column_widths(table);
    bool *right = calloc(table->columns, sizeof *right);
    bool fine = width && right;
    for (size_t column = 0; fine && column < table->columns; column++)
        right[column] = is_right(table, rows, column);
    for (size_t row = 0; fine && row < rows; row++)
        for (size_t column = 0; column < table->columns; column++)
            print_column(table, row, column, width[column], right[column], file);
    free(width);
    free(right);
    return fine && !ferror(file);
}

bool table_print_markdown(const table *table, FILE *file)
{
    size_t rows = (table->count + table->columns - 1) / table->columns;
    for (size_t row = 0; row < rows; row++) {
        for (size_t column = 0; column < table->columns; column++) {
            fputs(column ? " | " : "| ", file);
            for (const char *at = cell_string(table, row, column); *at; at++) {
                if (strchr("\\`*_{}[]<>#|", *at))
                    fputc('\\', file);
                fputc(*at == '\n' || *at == '\r' ? ' ' : *at, file);
            }
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
    return !table->failed && !ferror(file);
}

bool table_print_tsv(const table *table, FILE *file)
{
    for (size_t i = 0; i < table->count; i++) {
        for (const char *at = cell_string(table, 0, i); *at; at++) {
            const char *escape = *at == '\t'   ? "\\t"
                                 : *at == '\n' ? "\\n"
                                 : *at == '\r' ? "\\r"
                                 : *at == '\\' ? "\\\\"
                                               : NULL;
            if (escape)
                fputs(escape, file);
            else
                fputc(*at, file);
        }
        fputc((i + 1) % table->columns ? '\t' : '\n', file);
    }
    return !table->failed && !ferror(file);
}

void table_destroy(table *table)
{
    if (!table)
        return;
    for (size_t i = 0; i < table->count; i++)
        text_free(&table->cells[i]);
    free(table->cells);
    free(table);
}
