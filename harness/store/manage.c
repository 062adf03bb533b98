/* Looking after a store: how much each run takes, what is not wanted any more, and what is known of
 * the machine. */
#include "store/internal.h"
#include <math.h>
#include <string.h>
#include <unistd.h>
#include "sizes_sql.h" /* sizes.sql, as bytes */

size_t store_run_sizes(result_store *store, run_size **sizes)
{
    static const record_field fields[] = {FIELD(COUNT, run_size, run),
                                          FIELD(COUNT, run_size, bytes)};
    static const row_form form = {sizeof(run_size), FIELDS(fields), NULL};
    sqlite3_stmt *statement = NULL;
    store_check(store, sqlite3_prepare_v2(store->database, sizes_sql, -1, &statement, NULL),
                "read its sizes");
    size_t count = store_list(store, statement, &form, sizes);
    sqlite3_finalize(statement);
    return count;
}

int64_t store_remove_runs(result_store *store, int64_t first, int64_t last)
{
    static const char doing[] = "remove runs";
    store_begin(store, doing);
    store_do(store, STATEMENT_REMOVE_RUNS, doing, "ii", first, last);
    int64_t removed = sqlite3_changes(store->database);
    store_do(store, STATEMENT_REMOVE_TENSORS, doing, "");
    store_do(store, STATEMENT_REMOVE_INPUTS, doing, "");
    store_finish(store, doing);
    store_execute(store, "VACUUM; PRAGMA wal_checkpoint(TRUNCATE)", "give back the space of runs");
    return removed;
}

void store_put_noise(result_store *store, const machine_facts *machine,
                     const double smallest[REGIMES])
{
    static const char doing[] = "store the noise";
    char identity[MACHINE_IDENTITY_LENGTH];
    machine_identity(machine, identity);
    store_begin(store, doing);
    store_do(store, STATEMENT_REMOVE_NOISE, doing, "s", identity);
    for (int regime = 0; regime < REGIMES; regime++)
        if (!isnan(smallest[regime]))
            store_do(store, STATEMENT_ADD_NOISE, doing, "ssd", identity, regime_names[regime],
                     smallest[regime]);
    store_finish(store, doing);
}

static void read_noise(result_store *store, const char *identity, machine_noise *noise)
{
    sqlite3_stmt *statement = store_bound(store, STATEMENT_NOISE, "s", identity);
    while (store_next(store, statement)) {
        char regime[16];
        store_copy_text(statement, 0, regime, sizeof regime);
        store_copy_text(statement, 1, noise->made, sizeof noise->made);
        for (int i = 0; i < REGIMES; i++)
            if (strcmp(regime, regime_names[i]) == 0)
                noise->smallest[i] = store_real(statement, 2);
    }
}

machine_noise store_load_noise(const char *database, const machine_facts *machine)
{
    machine_noise noise = {.smallest = {NAN, NAN, NAN, NAN}};
    char identity[MACHINE_IDENTITY_LENGTH];
    machine_identity(machine, identity);
    if (access(database, F_OK) != 0)
        return noise;
    result_store *store = store_open(database, STORE_READ);
    read_noise(store, identity, &noise);
    store_close(store);
    return noise;
}
