/* Fuzzes a database file for the commands that read it and for `lnbench import`: the input itself, or else edits of a
 * valid file: two bytes of offset, one of length, and that many bytes, repeatedly. */
#include "show/answer.h"
#include "store/run_file.h"
#include "fuzz.h"
#include <sqlite3.h>

enum { MOST_BYTES = 1 << 16 };

/* Stores a run with a row in each table. */
static void fill(result_store *store)
{
    machine_fact facts[] = {{"cpu_model", "x"}, {"l2_bytes", "1048576"}};
    const machine_facts machine = {.facts = facts, .count = 2};
    const run_info info = {"lnbench run", "quick", "abc", 1, &machine, "run", "", 27, 26};
    const timed_repetition timed = {0, 0, 0, 1000, 50, 49, 150, 300};
    const stored_row row = {1, 30, 0.75, 0.25, 8, 0x1p-30, -0x1p-25};
    stored_case judged = {.key = {.kernel = "two_pass_f32_scalar",
                                  .convention = "torch",
                                  .input = "normal",
                                  .rows = 2,
                                  .hidden = 8,
                                  .threads = 1},
                          .judged = true,
                          .verdict = {VERDICT_PASS, ""},
                          .bound_row_ulp = 8,
                          .hashed = true,
                          .output_hash = 1};
    judged.metrics.elements = 16;
    judged.metrics.row_ulp_max = 0.75;
    judged.metrics.ulp_histogram[3] = 16;
    case_key copy = judged.key;
    snprintf(copy.kernel, sizeof copy.kernel, "copy");
    const requested_case requested = {.key = judged.key,
                                      .parts = REQUESTED_JUDGEMENT | REQUESTED_TIMING};
    int64_t run = store_begin_run(store, &info);
    store_put_requested(store, run, &requested);
    store_count_requested(store, run);
    store_put_kernel(store, run,
                     json_pack("{s:s, s:s, s:s}", "name", judged.key.kernel, "isa", "scalar",
                               "role", "textbook"));
    store_put_judged(store, run, &judged);
    store_put_row(store, run, &judged.key, &row);
    store_put_repetition(store, run, &judged.key, &timed);
    store_put_repetition(store, run, &copy, &timed);
    store_end_process(store, run, 0);
    store_end_run(store, run, RUN_COMPLETE);
}

/* Makes the valid file, with pages small enough for the buffer. */
static size_t make_base(const char *path, uint8_t *bytes)
{
    sqlite3 *database;
    result_store *store = store_open(path, STORE_WRITE);
    store_together(store);
    fill(store);
    store_together_end(store);
    store_close(store);
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

/* The unedited file can be read; otherwise only the first checks would be tested. */
static void check_base(const char *path)
{
    result_store *store = store_open(path, STORE_READ);
    run_view view = view_load(store, 1);
    FUZZ_CHECK(view.standings.count > 0);
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
    stored_run *runs;
    result_store *store = store_open(path, STORE_READ);
    size_t count = store_runs(store, &runs);
    for (size_t i = 0; i < count && i < 3; i++) {
        run_view view = view_load(store, runs[i].id);
        view_free(&view);
    }
    free(runs);
    store_close(store);
}

static void import(const char *path)
{
    int64_t first;
    run_file file = run_file_open(path);
    result_store *store = store_open_memory();
    store_copy_runs(store, file.database, 0, &first);
    FUZZ_CHECK(first > 0);
    store_close(store);
    run_file_close(&file);
}

/* Runs a command. What die() leaves open is released when the program ends. */
static void attempt(void (*what)(const char *), const char *path)
{
    die_catcher caught = {0};
    die_caught_by = &caught;
    if (setjmp(caught.place) == 0)
        what(path);
    die_caught_by = NULL;
    FUZZ_CHECK(caught.error.code == EXIT_CODE_FINE || caught.error.message[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static char path[64];
    static uint8_t base[MOST_BYTES], edited[MOST_BYTES];
    static size_t length;
    snprintf(path, sizeof path, "/dev/shm/lnbench-fuzz-%d.db", (int)getpid());
    if (!length) {
        /* Without these settings, SQLite's locks and small allocations would take half of the time. */
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
    attempt(look_at, path);
    attempt(import, path);
    put(path, NULL, 0);
    return 0;
}
