/* A database file, as the commands that only read it take it: the input itself, or else the edits of
 * a good one: two bytes of place, one of length, and so many bytes, again and again. */
#include "fuzz.h"
#include "exchange/run_read.h"
#include "exchange/run_store.h"
#include <sqlite3.h>

enum { MOST_BYTES = 1 << 16 };

/* Of the seed of fuzz_import, as lnbench stores it today, in pages so small that it fits. */
static size_t make_base(const char *path, uint8_t *bytes)
{
    run_view read = {0};
    result_store *store;
    sqlite3 *database;
    int64_t run;
    error err = {0};
    FUZZ_CHECK(run_read(FUZZ_SEED, &read, &err) && store_open(path, STORE_WRITE, &store, &err));
    FUZZ_CHECK(store_together(store, &err) &&
               store_together_end(store, run_store(store, &read, FUZZ_SEED, "", &run, &err), &err));
    store_close(store);
    view_free(&read);
    FUZZ_CHECK(sqlite3_open(path, &database) == SQLITE_OK &&
               sqlite3_exec(database,
                            "PRAGMA journal_mode = DELETE; PRAGMA page_size = 512; VACUUM", NULL,
                            NULL, NULL) == SQLITE_OK);
    sqlite3_close(database);
    FILE *file = fopen(path, "rb");
    FUZZ_CHECK(file);
    size_t size = fread(bytes, 1, MOST_BYTES, file);
    FUZZ_CHECK(fgetc(file) == EOF);
    fclose(file);
    return size;
}

/* What is edited can be read as it is: else nothing behind the first look would be tried. */
static void check_base(const char *path)
{
    result_store *store;
    run_view view;
    error err = {0};
    FUZZ_CHECK(store_open(path, STORE_READ, &store, &err) && view_load(store, 1, &view, &err));
    FUZZ_CHECK(view.cases.count > 0 && view_load_worst(store, &view, &err));
    view_free(&view);
    store_close(store);
}

static void edit(uint8_t *file, size_t length, const uint8_t *bytes, size_t size)
{
    while (size > 3) {
        size_t at = (bytes[0] | (size_t)bytes[1] << 8) % length;
        size_t count = bytes[2] < size - 3 ? bytes[2] : size - 3;
        count = count < length - at ? count : length - at;
        memcpy(file + at, bytes + 3, count);
        bytes += 3 + count;
        size -= 3 + count;
    }
}

static void put(const char *path, const uint8_t *bytes, size_t size)
{
    static const char *const beside[] = {"-wal", "-shm", "-journal"};
    char name[80];
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
        snprintf(name, sizeof name, "%s%s", path, beside[i]);
        unlink(name);
    }
    unlink(path);
    if (!bytes)
        return;
    FILE *file = fopen(path, "wb");
    FUZZ_CHECK(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
}

static void look_at(const char *path)
{
    result_store *store;
    stored_run *runs;
    size_t count;
    error err = {0};
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
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static char path[64];
    static uint8_t base[MOST_BYTES], edited[MOST_BYTES];
    static size_t length;
    snprintf(path, sizeof path, "/dev/shm/lnbench-fuzz-%d.db", (int)getpid());
    if (!length) {
        /* Half of the time would be SQLite's locks and its small allocations. */
        sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
        sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
        sqlite3_config(SQLITE_CONFIG_LOOKASIDE, 1200, 400);
        put(path, NULL, 0);
        length = make_base(path, base);
        check_base(path);
    }
    if (size > 16 && memcmp(bytes, base, 16) == 0) {
        put(path, bytes, size);
    } else {
        memcpy(edited, base, length);
        edit(edited, length, bytes, size);
        put(path, edited, length);
    }
    look_at(path);
    put(path, NULL, 0);
    return 0;
}
