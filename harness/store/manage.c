/* Looking after a store: how much each run takes, and what is not wanted any more. */
#include "store/internal.h"
#include "sizes_sql.h" /* sizes.sql, as bytes */

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
