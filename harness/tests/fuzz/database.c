/* A database file, as the commands that only read it take it. */
#include "fuzz.h"
#include "views/views.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static char path[64];
    result_store *store;
    stored_run *runs;
    size_t count;
    error err = {0};
    snprintf(path, sizeof path, "/dev/shm/lnbench-fuzz-%d.db", (int)getpid());
    FILE *file = fopen(path, "wb");
    FUZZ_CHECK(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
    if (store_open(path, STORE_READ, &store, &err)) {
        bool fine = store_runs(store, &runs, &count, &err);
        for (size_t i = 0; fine && i < count && i < 3; i++) {
            run_view view;
            if (view_load(store, runs[i].id, &view, &err)) {
                view_load_worst(store, &view, &err);
                view_free(&view);
            }
        }
        if (fine)
            free(runs);
        store_close(store);
    }
    FUZZ_CHECK(err.code == EXIT_CODE_FINE || err.message[0]);
    unlink(path);
    return 0;
}
