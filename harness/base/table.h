/* The one table printer: for terminals, for Markdown, and as values for programs.
 *
 *     const char *const headings[] = {"kernel", "GB/s"};
 *     text_table *table = table_create(headings, 2);
 *     table_cell(table, "two_pass_f32_avx2");
 *     table_cell(table, "60.2");
 *     fine = table_print_within(table, 100, file);
 *     table_destroy(table);
 *
 * Cells are copied; columns whose cells are all numbers align right.
 */
#ifndef LNBENCH_TABLE_H
#define LNBENCH_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

typedef struct text_table text_table;
text_table *table_create(const char *const *headings, size_t columns);
void table_cell(text_table *table, const char *value); /* fills rows left to right */

/* Aligned columns, within `room` columns (0: as many as it takes): what does not fit goes on in the
 * next line of its cell, and where not even that helps, each row becomes a list of its cells. False:
 * the file has an error. */
bool table_print_within(const text_table *table, size_t room, FILE *file);
/* The same for other readers: a Markdown table, and values separated by tabs or commas with the
 * headings first. What would end a cell or be taken for something else there is escaped. */
bool table_print_markdown(const text_table *table, FILE *file);
bool table_print_data(const text_table *table, bool commas, FILE *file);
size_t table_width(const text_table *table); /* columns that it takes with every cell in one line */
void table_destroy(text_table *table);

#endif
