#include "answer/stored_run.h"

static bool load(const char *database, uint64_t wanted, bool worst, run_view *view, error *err)
{
    result_store *store;
    int64_t run = (int64_t)wanted;
    if (!store_open(database, STORE_READ, &store, err))
        return false;
    bool fine = run != 0 || store_latest_run(store, &run, err);
    if (fine && run == 0)
        fine = fail(err, EXIT_CODE_ENVIRONMENT, "%s: holds no run yet: lnbench run makes one",
                    database);
    if (!fine || !view_load(store, run, view, err)) {
        store_close(store);
        return false;
    }
    view->owns_store = true;
    if (!worst || view_load_worst(store, view, err))
        return true;
    view_free(view);
    return false;
}

bool load_stored_run(const char *database, uint64_t wanted, run_view *view, error *err)
{
    return load(database, wanted, false, view, err);
}

bool load_whole_run(const char *database, uint64_t wanted, run_view *view, error *err)
{
    return load(database, wanted, true, view, err);
}

/* 0: none. */
static bool latest_survey(const char *database, uint64_t *run, error *err)
{
    result_store *store;
    int64_t found;
    if (!store_open(database, STORE_READ, &store, err))
        return false;
    bool fine = store_latest_survey(store, &found, err);
    store_close(store);
    *run = fine ? (uint64_t)found : 0;
    return fine;
}

bool load_reported_run(const char *database, uint64_t wanted, run_view *view, error *err)
{
    return (wanted != 0 || latest_survey(database, &wanted, err)) &&
           load_stored_run(database, wanted, view, err);
}
