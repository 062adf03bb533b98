/* Looking after a store: how much each run takes, and what is not wanted any more. */
#include "store/internal.h"

/* The pages of a table, with its indexes, are shared out by its rows. */
static const char sizes_sql[] =
    "WITH parts (name, run, rows) AS ("
    "  SELECT 'cells', run, count(*) FROM cells GROUP BY run"
    "  UNION ALL SELECT 'cases', run, count(*) FROM cells JOIN cases ON cell = cells.id GROUP BY "
    "run"
    "  UNION ALL SELECT 'accuracies', run, count(*) FROM cells JOIN cases ON cell = cells.id"
    "    JOIN accuracies ON case_id = cases.id GROUP BY run"
    "  UNION ALL SELECT 'judgements', run, count(*) FROM cells JOIN cases ON cell = cells.id"
    "    JOIN judgements ON case_id = cases.id GROUP BY run"
    "  UNION ALL SELECT 'judged_rows', run, count(*) FROM cells JOIN cases ON cell = cells.id"
    "    JOIN judged_rows ON case_id = cases.id GROUP BY run"
    "  UNION ALL SELECT 'repetitions', run, count(*) FROM cells JOIN cases ON cell = cells.id"
    "    JOIN repetitions ON case_id = cases.id GROUP BY run"
    "  UNION ALL SELECT 'worst_rows', run, count(*) FROM cells JOIN cases ON cell = cells.id"
    "    JOIN worst_rows ON case_id = cases.id GROUP BY run"
    "  UNION ALL SELECT 'tensors', run, count(*) FROM cells JOIN cases ON cell = cells.id"
    "    JOIN worst_rows ON case_id = cases.id GROUP BY run"
    "  UNION ALL SELECT 'kernels', run, count(*) FROM kernels GROUP BY run"
    "  UNION ALL SELECT 'facts', run, count(*) FROM facts GROUP BY run), "
    "pages (name, bytes) AS (SELECT tbl_name, sum(pgsize) FROM dbstat JOIN sqlite_schema USING "
    "(name)"
    "  WHERE aggregate = 1 GROUP BY tbl_name), "
    "totals (name, rows) AS (SELECT name, sum(rows) FROM parts GROUP BY name) "
    "SELECT run, CAST(sum(bytes * 1.0 * parts.rows / totals.rows) AS INTEGER) "
    "AS bytes FROM parts JOIN totals USING (name) JOIN pages USING (name) GROUP BY run ORDER BY "
    "run";

bool store_run_sizes(result_store *store, run_size **sizes, size_t *count, error *err)
{
    static const record_field fields[] = {FIELD(COUNT, run_size, run),
                                          FIELD(COUNT, run_size, bytes)};
    static const row_form form = {sizeof(run_size), FIELDS(fields), NULL};
    sqlite3_stmt *statement = NULL;
    int status = sqlite3_prepare_v2(store->database, sizes_sql, -1, &statement, NULL);
    if (status != SQLITE_OK)
        store_fail(store, status, "read its sizes", err);
    bool fine = store_list(store, statement, &form, sizes, count, err);
    sqlite3_finalize(statement);
    return fine;
}

bool store_remove_runs(result_store *store, int64_t first, int64_t last, int64_t *removed,
                       error *err)
{
    static const char doing[] = "remove runs";
    if (!store_begin(store, doing, err))
        return false;
    bool fine = store_do(store, STATEMENT_REMOVE_RUNS, doing, err, "ii", first, last);
    *removed = sqlite3_changes(store->database);
    fine = fine && store_do(store, STATEMENT_REMOVE_TENSORS, doing, err, "") &&
           store_do(store, STATEMENT_REMOVE_INPUTS, doing, err, "");
    if (!store_finish(store, fine, doing, err))
        return false;
    int status =
        sqlite3_exec(store->database, "VACUUM; PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL);
    return status == SQLITE_OK || store_fail(store, status, "give back the space of runs", err);
}
