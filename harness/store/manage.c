/* Looking after a store: how much each run takes, what is not wanted any more, and what is known of
 * the machine. */
#include "store/internal.h"
#include <math.h>
#include <string.h>
#include <unistd.h>
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

bool store_put_noise(result_store *store, const machine_facts *machine,
                     const double smallest[REGIMES], error *err)
{
    static const char doing[] = "store the noise";
    char identity[MACHINE_IDENTITY_LENGTH];
    machine_identity(machine, identity);
    if (!store_begin(store, doing, err))
        return false;
    bool fine = store_do(store, STATEMENT_REMOVE_NOISE, doing, err, "s", identity);
    for (int regime = 0; fine && regime < REGIMES; regime++)
        fine =
            isnan(smallest[regime]) || store_do(store, STATEMENT_ADD_NOISE, doing, err, "ssd",
                                                identity, regime_names[regime], smallest[regime]);
    return store_finish(store, fine, doing, err);
}

static bool read_noise(result_store *store, const char *identity, machine_noise *noise, error *err)
{
    sqlite3_stmt *statement = store_bound(store, STATEMENT_NOISE, err, "s", identity);
    bool row = false, fine = statement && store_next(store, statement, &row, err);
    while (fine && row) {
        char regime[16];
        store_copy_text(statement, 0, regime, sizeof regime);
        store_copy_text(statement, 1, noise->made, sizeof noise->made);
        for (int i = 0; i < REGIMES; i++)
            if (strcmp(regime, regime_names[i]) == 0)
                noise->smallest[i] = store_real(statement, 2);
        fine = store_next(store, statement, &row, err);
    }
    return fine;
}

bool store_load_noise(const char *database, const machine_facts *machine, machine_noise *noise,
                      error *err)
{
    result_store *store;
    char identity[MACHINE_IDENTITY_LENGTH];
    *noise = (struct machine_noise){.smallest = {NAN, NAN, NAN, NAN}};
    machine_identity(machine, identity);
    if (access(database, F_OK) != 0)
        return true;
    if (!store_open(database, STORE_READ, &store, err))
        return false;
    bool fine = read_noise(store, identity, noise, err);
    store_close(store);
    return fine;
}
