#include "stored_run.h"

bool load_stored_run(const char *database, uint64_t wanted, view *view, error *error)
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
    store_close(store);
    return fine;
}
