#include "stored_run.h"
#include <stdlib.h>
#include <string.h>

static bool load(const char *database, uint64_t wanted, bool worst, view *view, error *error)
{
    store *store;
    int64_t run = (int64_t)wanted;
    if (!store_open(database, STORE_READ, &store, error))
        return false;
    bool fine = run != 0 || store_latest_run(store, &run, error);
    if (fine && run == 0)
        fine = fail(error, EXIT_CODE_ENVIRONMENT, "%s: holds no run yet: lnbench run makes one",
                    database);
    fine = fine && view_load(store, run, view, error);
    if (fine && worst && !view_load_worst(store, view, error)) {
        view_free(view);
        fine = false;
    }
    store_close(store);
    return fine;
}

bool load_stored_run(const char *database, uint64_t wanted, view *view, error *error)
{
    return load(database, wanted, false, view, error);
}

bool load_whole_run(const char *database, uint64_t wanted, view *view, error *error)
{
    return load(database, wanted, true, view, error);
}

/* 0: none. */
static bool latest_survey(const char *database, uint64_t *run, error *error)
{
    store *store;
    stored_run *runs;
    size_t count;
    if (!store_open(database, STORE_READ, &store, error))
        return false;
    bool fine = store_runs(store, &runs, &count, error);
    store_close(store);
    if (!fine)
        return false;
    for (size_t i = 0; i < count; i++)
        if (runs[i].cases > 0 && strcmp(runs[i].plan, "choose") != 0 && (uint64_t)runs[i].id > *run)
            *run = (uint64_t)runs[i].id;
    free(runs);
    return true;
}

bool load_reported_run(const char *database, uint64_t wanted, view *view, error *error)
{
    return (wanted != 0 || latest_survey(database, &wanted, error)) &&
           load_stored_run(database, wanted, view, error);
}
