/* lnbench import: exported runs of other machines, or other days, into the one store. */
#include "cli/options.h"
#include "compare/run_find.h"
#include "exchange/run_read.h"
#include "exchange/run_store.h"
#include "base/output.h"
#include "base/paths.h"
#include "store/store.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A run that was measured into this very store has no origin, but comes to the same. */
static bool find_own(result_store *store, const run_view *view, const char *origin, int64_t *found,
                     error *err)
{
    stored_run *runs;
    size_t count;
    if (!store_find_origin(store, origin, found, err))
        return false;
    if (*found)
        return true;
    if (!store_runs(store, &runs, &count, err))
        return false;
    bool fine = true;
    for (size_t i = 0; fine && i < count && *found == 0; i++) {
        struct run_view own = {0};
        char its[17];
        if (strcmp(runs[i].started, view->run.started) != 0 || runs[i].seed != view->run.seed)
            continue;
        own.run = runs[i];
        fine = store_cases(store, runs[i].id, &own.cases, err);
        run_origin(&own, its);
        *found = fine && strcmp(its, origin) == 0 ? runs[i].id : 0;
        stored_cases_free(&own.cases);
    }
    free(runs);
    return fine;
}

static bool import_view(result_store *store, const char *file, const run_view *view,
                        const output_file *out, error *err)
{
    char origin[17];
    int64_t run = 0;
    run_origin(view, origin);
    if (view->cases.count == 0 && view->lost_count == 0)
        return fail(err, EXIT_CODE_ENVIRONMENT, "%s: a run without any case", file);
    if (!find_own(store, view, origin, &run, err))
        return false;
    if (run) {
        output_line(out, "%s: there already, as run %lld", file, (long long)run);
        return true;
    }
    if (!store_together(store, err))
        return false;
    if (!store_together_end(store, run_store(store, view, file, origin, &run, err), err)) {
        /* The transaction may stand, and only its way from the log to the database have failed. */
        struct error why = *err, none = {0};
        if (store_find_origin(store, origin, &run, &none) && run)
            fail(err, why.code, "%.900s; run %lld is stored all the same", why.message,
                 (long long)run);
        return false;
    }
    output_line(out, "%s: run %lld, %zu cases, %zu repetitions", file, (long long)run,
                view->cases.count, view->run.repetitions);
    return true;
}

static bool is_empty(result_store *store)
{
    stored_run *runs = NULL;
    size_t count = 0;
    struct error none = {0};
    bool empty = store_runs(store, &runs, &count, &none) && count == 0;
    free(runs);
    return empty;
}

/* A store that was made for runs of which none came in. */
static void remove_store(const char *path)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
    char name[1024];
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (snprintf(name, sizeof name, "%s%s", path, suffixes[i]) < (int)sizeof name)
            unlink(name);
}

/* A file that is no good keeps none of the others out. */
static bool import_files(const word_list *files, const char *database, error *err)
{
    result_store *store;
    output_file out;
    size_t bad = 0;
    bool is_new = access(database, F_OK) != 0;
    if (files->count == 0)
        return fail(err, EXIT_CODE_USAGE,
                    "FILE... is missing: runs exported by lnbench export --format jsonl");
    if (!output_standard(&out, err) || !make_parent_directory(database, err) ||
        !store_open(database, STORE_WRITE, &store, err))
        return false;
    for (size_t i = 0; i < files->count; i++) {
        run_view view;
        struct error own = {0};
        bool fine = run_read(files->words[i], &view, &own);
        if (fine) {
            fine = import_view(store, files->words[i], &view, &out, &own);
            view_free(&view);
        }
        if (fine)
            continue;
        if (files->count > 1)
            output_note("%s", own.message);
        *err = own;
        bad++;
    }
    bool unused = is_new && is_empty(store);
    store_close(store);
    if (unused)
        remove_store(database);
    if (bad > 0 && files->count > 1) /* each of them was said */
        snprintf(err->message, sizeof err->message, "%zu of %zu files were not imported", bad,
                 files->count);
    return bad == 0;
}

typedef struct import_options {
    const char *database;
} import_options;

static exit_code import(void *context, const cli_call *call, error *err)
{
    const import_options *options = context;
    import_files(call->operands, options->database, err);
    return err->code;
}

static const cli_option options[] = {
    STORE_OPTION(import_options, database),
};

const cli_command command_import = {
    .name = "import",
    .brief = "exported runs of other machines into the store",
    .usage = "FILE... [--db FILE]",
    .summary =
        "Takes exported runs into the store: JSON lines, also packed by xz (run.jsonl.xz). A run\n"
        "comes in once, however often it is given.",
    .details =
        "Exit code: 0 fine, also where all were there already; 2 usage; 7 a file or the store\n"
        "cannot be used: the other files are imported all the same, and of a bad one nothing is.",
    OPTIONS(options),
    .most_operands = 4096,
    .size = sizeof(import_options),
    .body = import,
};
