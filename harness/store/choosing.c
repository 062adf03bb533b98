#include "store/choosing.h"
#include "store/internal.h"

bool store_run_on(result_store *store, const char *name, int64_t *run, error *err)
{
    enum { RUN, MACHINES, LIST };
    char list[512];
    bool row;
    sqlite3_stmt *statement = store_bound(store, STATEMENT_RUN_ON, err, "s", name);
    if (!statement || !store_next(store, statement, &row, err))
        return false;
    *run = sqlite3_column_int64(statement, RUN);
    int64_t machines = sqlite3_column_int64(statement, MACHINES);
    store_copy_text(statement, LIST, list, sizeof list);
    sqlite3_reset(statement);
    if (machines == 0)
        return fail(err, EXIT_CODE_USAGE, "--machine %.80s: %.200s has no run of such a processor",
                    name, store->path);
    return machines == 1 ||
           fail(err, EXIT_CODE_USAGE, "--machine %.80s: several machines: take one by --run: %s",
                name, list);
}
