/* A relation as the cells that people see, and the forms that are written of them. relation.h is what
 * commands include. */
#ifndef LNBENCH_TABLE_H
#define LNBENCH_TABLE_H

#include "base/relation.h"

typedef struct table_cell {
    char *text; /* printable */
    double figure;
    text_tone tone;
} table_cell;

/* The columns that are shown, and the cells row by row. */
typedef struct text_table {
    const relation_column **columns;
    bool *is_right; /* has nothing but numbers: they stand right */
    size_t column_count;
    table_cell *cells;
    size_t rows;
    size_t room;  /* columns of the terminal; 0: as many as it takes */
    bool goes_on; /* TSV and CSV leave the headings out */
} text_table;

const table_cell *table_at(const text_table *table, size_t row, size_t column);
size_t table_width(const text_table *table); /* columns that it takes with every cell in one line */
/* Whether a cell reads as a number, or as the word for one that there is not. */
bool table_is_number(const char *string);

/* A form of a table: its name in --format, and its printer (NULL: relation_json()). A form more is a
 * word of output_format, a line of the list in table.c, and its printer. */
typedef struct table_form {
    const char *name;
    void (*add)(const text_table *table, text_buffer *out);
} table_form;
extern const table_form table_forms[OUTPUT_FORMAT_COUNT];

/* Aligned columns within the room: what does not fit goes on in the next line of its cell, and where
 * not even that helps, each row becomes a list of its cells. */
void table_add_text(const text_table *table, text_buffer *out);
void table_add_markdown(const text_table *table, text_buffer *out);
/* The headings first, then the cells; what would end a cell or be taken for something else is escaped. */
void table_add_tsv(const text_table *table, text_buffer *out);
void table_add_csv(const text_table *table, text_buffer *out);
/* A table that plots/page.html sorts by the figures. */
void table_add_html(const text_table *table, text_buffer *out);
/* The keys of its columns are "classname", "name", "time" (in seconds), "outcome" ("failure", "error",
 * "skipped"; "": it passed), "type", "message" and "output". */
void table_add_junit(const text_table *table, text_buffer *out);
/* Annotations of GitHub Actions, by the keys "level" ("": no annotation), "title" and "message". */
void table_add_github(const text_table *table, text_buffer *out);

#endif
