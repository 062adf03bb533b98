/* Scripts: SQL over the views that makes TEMP tables, for charts and pages to read. What the store does not
 * have comes in as a TEMP table, too. All TEMP tables go when the scratch ends.
 *
 *     store_scratch_begin(store);
 *     store_put_table(store, "asked", "run, types");
 *     store_put_line(store, "asked", "is", run, "f32");
 *     store_script(store, field_sql);                  // CREATE TEMP TABLE chart AS SELECT ...
 *     stored_table table = store_get_table(store, "chart");
 *         name = table_text(&table, 0, "name");
 *     stored_table_free(&table);
 *     store_scratch_end(store);
 *
 * Functions of ours that scripts have beside SQLite's: script.c. */
#ifndef LNBENCH_STORE_SCRIPT_H
#define LNBENCH_STORE_SCRIPT_H

#include "base/relation.h"
#include "store/store.h"

/* What is between the two may be nested. */
void store_scratch_begin(result_store *store);
void store_scratch_end(result_store *store);

/* Runs statements that give no rows. */
void store_script(result_store *store, const char *sql);
/* A TEMP table of these columns, and a line of it: a letter a column, as store_bound() has them. */
void store_put_table(result_store *store, const char *name, const char *columns);
void store_put_line(result_store *store, const char *name, const char *types, ...);

typedef struct stored_cell {
    enum { CELL_NONE, CELL_WHOLE, CELL_REAL, CELL_TEXT } kind;
    int64_t whole;
    double real; /* of a whole number, too; NaN: none, or a text */
    char *text;  /* of a text; else NULL */
} stored_cell;

typedef struct stored_table {
    char **names;
    size_t columns, rows;
    stored_cell *cells; /* row by row */
} stored_table;

/* The names of the TEMP tables that a glob fits, in a column `name`. */
stored_table store_temp_names(result_store *store, const char *glob);
stored_table store_get_table(result_store *store, const char *name);
/* All rows of a query; `types` and what follows are its parameters, as store_bound() has them. */
stored_table store_ask(result_store *store, const char *sql, const char *types, ...);
/* The rows of a query whose ?1 is a run, in parts of up to `most` rows; there is one part at least. */
void store_query(result_store *store, const char *sql, int64_t run, size_t most,
                 void (*take)(void *context, const stored_table *part), void *context);
void stored_table_free(stored_table *table);
/* 0, NaN and "" where there is no such row or column, or nothing in it. */
int64_t table_whole(const stored_table *table, size_t row, const char *column);
double table_real(const stored_table *table, size_t row, const char *column);
const char *table_text(const stored_table *table, size_t row, const char *column);
/* A cell as a relation shows it, every digit of it. */
relation_value table_value(const stored_table *table, size_t row, const char *column);
relation_value cell_value(const stored_cell *cell);
/* An object whose members are the columns from `first` to `last`, by their names. */
json_t *table_object(const stored_table *table, size_t row, const char *first, const char *last);

#endif
