/* lnbench import: exported runs of other machines, or other days, into the one store. */
#include "commands/options.h"
#include "store/run_file.h"
#include "base/output.h"
#include "base/files.h"
#include "store/store.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool import_runs(result_store *store, const char *file, const char *database,
                        const output_file *out, error *err)
{
    int64_t first, count;
    stored_run run;
    if (!store_copy_runs(store, database, 0, &first, &count, err) ||
        !store_run(store, first, &run, err))
        return false;
    if (count == 0)
        output_line(out, "%s: there already, as run %lld", file, (long long)first);
    else if (count == 1)
        output_line(out, "%s: run %lld, %zu cases, %zu repetitions", file, (long long)first,
                    run.cases, run.repetitions);
    else
        output_line(out, "%s: runs %lld to %lld", file, (long long)first,
                    (long long)(first + count - 1));
    return true;
}

static bool import_file(result_store *store, const char *path, const output_file *out, error *err)
{
    run_file file;
    bool fine =
        run_file_open(&file, path, err) && import_runs(store, path, file.database, out, err);
    run_file_close(&file);
    return fine;
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
                    "FILE... is missing: runs exported by lnbench export --format db");
    if (!output_standard(&out, err) || !make_parent_directory(database, err) ||
        !store_open(database, STORE_WRITE, &store, err))
        return false;
    for (size_t i = 0; i < files->count; i++) {
        struct error own = {0};
        if (import_file(store, files->words[i], &out, &own))
            continue;
        if (files->count > 1)
            output_note("%s", own.message);
        *err = own;
        bad++;
    }
    store_close(store);
    if (is_new && bad == files->count)
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
    .summary = "Takes runs into the store: exported ones (run.db, run.db.xz), those within a page, "
               "and all\n"
               "of another store. A run comes in once, however often it is given.",
    .details =
        "Exit code: 0 fine, also where all were there already; 2 usage; 7 a file or the store\n"
        "cannot be used: the other files are imported all the same, and of a bad one nothing is.",
    OPTIONS(options),
    .most_operands = 4096,
    .size = sizeof(import_options),
    .body = import,
};
