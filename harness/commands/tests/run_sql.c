/* run_sql DATABASE SQL runs the SQL and prints the first column of its result. Shell tests use it to damage databases,
 * or to look into a store. If the SQL changes measurements, all derived data are computed again. */
#include "store/internal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Notes whether a statement writes a table of measurements; SQLite calls it for each table. */
static int note_change(void *changed, int action, const char *table, const char *column,
                       const char *database, const char *trigger)
{
    static const char *const measured[] = {"repetitions", "accuracies", "judgements", "cases"};
    (void)column, (void)database, (void)trigger;
    for (size_t i = 0; i < sizeof measured / sizeof *measured; i++)
        if ((action == SQLITE_UPDATE || action == SQLITE_DELETE || action == SQLITE_INSERT) &&
            strcmp(table, measured[i]) == 0)
            *(bool *)changed = true;
    return SQLITE_OK;
}

static void judge_again(result_store *store, int64_t run)
{
    stored_cases cases = store_cases(store, run);
    for (size_t i = 0; i < cases.count; i++)
        if (cases.cases[i].judged)
            store_put_judgement(store, cases.cases[i].id, &cases.cases[i]);
    stored_cases_free(&cases);
}

static void sum_up(const char *path)
{
    stored_run *runs;
    result_store *store = store_open(path, STORE_WRITE);
    size_t count = store_runs(store, &runs);
    for (size_t i = 0; i < count; i++) {
        judge_again(store, runs[i].id);
        if (runs[i].state == RUN_COMPLETE)
            store_do(store,
                     "INSERT OR IGNORE INTO finished_processes SELECT DISTINCT run, process FROM "
                     "cells JOIN cases ON cell = cells.id JOIN repetitions ON case_id = cases.id "
                     "WHERE run = ?1",
                     "i", runs[i].id);
        store_drop_unfinished(store, runs[i].id);
        if (runs[i].state != RUN_OPEN)
            store_end_run(store, runs[i].id, runs[i].state);
    }
    free(runs);
    store_close(store);
}

static int print_first(void *unused, int count, char **values, char **names)
{
    (void)unused;
    (void)names;
    if (count > 0)
        printf("%s\n", values[0] ? values[0] : "null");
    return 0;
}

int main(int argc, char **argv)
{
    sqlite3 *database = NULL;
    char *message = NULL;
    bool changed = false;
    if (argc != 3) {
        fprintf(stderr, "usage: run_sql DATABASE SQL\n");
        return 2;
    }
    bool fine = sqlite3_open_v2(argv[1], &database, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK;
    sqlite3_set_authorizer(database, note_change, &changed);
    fine = fine && sqlite3_exec(database, argv[2], print_first, NULL, &message) == SQLITE_OK;
    if (!fine)
        fprintf(stderr, "%s: %s\n", argv[1], message ? message : sqlite3_errmsg(database));
    if (fine && changed)
        sqlite3_exec(database,
                     "UPDATE runs SET unsupported = NULL, missing = NULL WHERE NOT imported", NULL,
                     NULL, NULL);
    sqlite3_free(message);
    sqlite3_close(database);
    /* A database that the SQL damaged on purpose stays so. */
    die_catcher broken = {0};
    die_caught_by = &broken;
    if (fine && changed && setjmp(broken.place) == 0)
        sum_up(argv[1]);
    return fine ? 0 : 1;
}
