/* A stored run as a tidy table of cases, for anybody's data frame: one query (store/cases.sql). */
#include "answer/run_view.h"
#include "base/allocate.h"
#include "cases_sql.h" /* store/cases.sql, as bytes */
#include "domain/metric_fields.h"
#include "store/script.h"
#include <stdlib.h>
#include <string.h>

static char *case_query(void)
{
    static const char word[] = "METRICS,";
    const char *at = strstr(cases_sql, word);
    text_buffer sql = {0};
    text_add_bytes(&sql, cases_sql, (size_t)(at - cases_sql));
    for (size_t i = 0; i < metric_count_all; i++) {
        const char *name = metric_list[i].name;
        if (metric_list[i].kind == METRIC_REAL)
            text_format(&sql, "%s, ", name);
        else
            text_format(&sql, "coalesce(%s, 0) AS %s, ", name, name);
    }
    text_add(&sql, at + sizeof word - 1);
    return sql.bytes;
}

typedef struct case_table {
    output_format form;
    text_buffer *out;
    bool begun;
} case_table;

static void add_part(void *context, const stored_table *part)
{
    case_table *table = context;
    relation_column *columns = allocate_zeroed(part->columns, sizeof *columns);
    for (size_t i = 0; i < part->columns; i++)
        columns[i].heading = part->names[i];
    relation *rows = relation_create(columns, part->columns);
    if (table->begun)
        relation_go_on(rows);
    for (size_t i = 0; i < part->rows * part->columns; i++)
        relation_add(rows, cell_value(&part->cells[i]));
    relation_add_form(rows, table->form, 0, table->out);
    relation_destroy(rows);
    free(columns);
    table->begun = true;
}

/* Part by part: all cells of a large run at once would take several times the memory of the run. */
bool add_case_table(result_store *store, int64_t run, output_format form, text_buffer *out,
                    error *err)
{
    char *sql = case_query();
    case_table table = {.form = form, .out = out};
    bool fine = store_query(store, sql, run, 1024, add_part, &table, err);
    free(sql);
    return fine;
}
