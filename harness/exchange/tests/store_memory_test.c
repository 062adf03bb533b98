/* Memory runs out at every allocation once, on the way from the store to the views and exports, and
 * ends the program there, as it ends lnbench (cli/memory.c): the store can be read and written to
 * as before, and no export is half. */
#include "exchange/export.h"
#include "scratch.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/text.h"
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

static long countdown = -1; /* the allocation that fails; negative: none */

static void allocation(void)
{
    if (countdown >= 0 && countdown-- == 0) {
        whole_files_abandon();
        _exit(EXIT_CODE_ENVIRONMENT);
    }
}

void *__wrap_malloc(size_t size)
{
    allocation();
    return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    allocation();
    return __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    allocation();
    return __real_realloc(old, size);
}

/* Thousands of files are written: the disk is not asked for each. */
int __wrap_fsync(int file);
int __wrap_fsync(int file)
{
    (void)file;
    return 0;
}

static case_key key_of(const char *kernel)
{
    case_key key = {.convention = "torch", .input = "normal", .rows = 4, .hidden = 8, .threads = 1};
    snprintf(key.kernel, sizeof key.kernel, "%s", kernel);
    return key;
}

static bool measure(const char *path, error *err)
{
    result_store *store;
    int64_t run;
    machine_facts machine;
    if (!store_open(path, STORE_WRITE, &store, err))
        return false;
    machine_read(&machine);
    run_info info = {"x", "quick", "abc", 1, &machine, "run", ""};
    case_key kernel = key_of("k"), roof = key_of("roof_copy");
    case_verdict verdict = {VERDICT_RIGHT, false, ""};
    timed_repetition put = {0, 0, 0, 1, 2, 3, NAN, NAN};
    stored_row row = {0, 0, 1, 2, 3, 4, 5, 6};
    ln_metrics metrics = {.elements = 1, .ulp_max = 2, .ulp_histogram = {1}};
    float x[8] = {1, 2}, gamma[8] = {3}, beta[8] = {4};
    stored_worst worst = {7,
                          {[ROLE_X] = {x, sizeof x},
                           [ROLE_GAMMA] = {gamma, sizeof gamma},
                           [ROLE_BETA] = {beta, sizeof beta}}};
    bool fine = store_begin_run(store, &info, &run, err) &&
                store_put_kernel(store, run, "k", "{\"name\":\"k\"}", err) &&
                store_put_accuracy(store, run, &kernel, &verdict, &metrics, 1, err) &&
                store_put_worst(store, run, &kernel, &worst, err) &&
                store_put_repetition(store, run, &kernel, &put, err) &&
                store_put_repetition(store, run, &roof, &put, err) &&
                store_put_row(store, run, &kernel, &row, err);
    machine_free(&machine);
    store_close(store);
    return fine;
}

static bool show(const char *path, const char *directory, error *err)
{
    result_store *store;
    stored_run *runs;
    size_t count;
    run_view view;
    if (!store_open(path, STORE_READ, &store, err))
        return false;
    bool fine = store_runs(store, &runs, &count, err);
    if (fine) {
        fine = view_load(store, runs[count - 1].id, &view, err);
        free(runs);
        if (fine && (!view_load_worst(store, &view, err) || !view_load_rows(&view, err))) {
            view_free(&view);
            fine = false;
        }
    }
    store_close(store);
    if (!fine)
        return false;
    for (int i = 0; fine && i < EXPORT_FORMAT_COUNT; i++) {
        char out[512];
        snprintf(out, sizeof out, "%s/out%d", directory, i);
        fine = export_save(&view, (export_format)i, out, err);
    }
    view_free(&view);
    return fine;
}

static const char *const outputs[] = {"out0", "out1", "out2", "out3", "out4"};
enum { OUTPUTS = sizeof outputs / sizeof *outputs };

/* The next allocations until it ends; whether memory ran out for it. */
static bool runs_out(void **state, const char *path, bool writing, long number)
{
    error err = {0};
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        countdown = number;
        _exit((writing ? measure(path, &err) : show(path, *state, &err)) ? 0 : 1);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
    if (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != EXIT_CODE_ENVIRONMENT)
        fail_msg("allocation %ld: exit code %d", number, WEXITSTATUS(status));
    return WEXITSTATUS(status) != 0;
}

/* Fails the first, second, ... allocation until none is left to fail; returns how many there are.
 */
static long exhaust(void **state, const char *path, const uint64_t *whole)
{
    for (long n = 0;; n++) {
        uint64_t hash;
        error err = {0};
        result_store *store;
        if (!runs_out(state, path, !whole, n))
            return n;
        for (size_t i = 0; whole && i < OUTPUTS; i++)
            if (hash_file(scratch_path(state, outputs[i]), &hash) && hash != whole[i])
                fail_msg("allocation %ld: half of %s", n, outputs[i]);
        for (size_t i = 0; i < OUTPUTS; i++) /* a rename over a file waits for the disk */
            remove(scratch_path(state, outputs[i]));
        if (whole && n % 16 != 0) /* a reader cannot change the store: now and then is enough */
            continue;
        if (!store_open(path, STORE_WRITE, &store, &err))
            fail_msg("allocation %ld: %s", n, err.message);
        store_close(store);
    }
}

TEST_IN_SCRATCH(test_exhaustion)
{
    char path[512];
    uint64_t whole[OUTPUTS];
    error err = {0};
    json_set_alloc_funcs(__wrap_malloc, free);
    snprintf(path, sizeof path, "%s", scratch_path(state, "a.db"));
    long writing = exhaust(state, path, NULL);
    assert_true(show(path, *state, &err));
    for (size_t i = 0; i < OUTPUTS; i++)
        assert_true(hash_file(scratch_path(state, outputs[i]), &whole[i]));
    long reading = exhaust(state, path, whole);
    print_message("%ld allocations while measuring, %ld while showing\n", writing, reading);
    assert_true(writing > 3 && reading > 100);
}
