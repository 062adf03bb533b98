/* lnbench import: exported runs of other machines, or other days, into the one store. */
#include "commands/options.h"
#include "store/run_file.h"
#include "base/output.h"
#include "base/files.h"
#include "store/store.h"

static void import_file(const char *path, const char *database, const output_file *out)
{
    run_file file = run_file_open(path);
    result_store *store = store_open(database, STORE_WRITE);
    int64_t first, count = store_copy_runs(store, file.database, 0, &first);
    stored_run run = store_run(store, first);
    store_close(store);
    run_file_close(&file);
    if (count == 0)
        output_line(out, "%s: there already, as run %lld", path, (long long)first);
    else if (count == 1)
        output_line(out, "%s: run %lld, %zu cases, %zu repetitions", path, (long long)first,
                    run.cases, run.repetitions);
    else
        output_line(out, "%s: runs %lld to %lld", path, (long long)first,
                    (long long)(first + count - 1));
}

typedef struct import_options {
    const char *database;
} import_options;

static exit_code import(void *context, const cli_call *call)
{
    const import_options *options = context;
    const output_file out = output_standard();
    if (call->operands->count == 0)
        die(EXIT_CODE_USAGE, "FILE... is missing: runs exported by lnbench export --format db");
    make_parent_directory(options->database);
    for (size_t i = 0; i < call->operands->count; i++)
        import_file(call->operands->words[i], options->database, &out);
    return EXIT_CODE_FINE;
}

static const cli_option options[] = {
    STORE_OPTION(import_options, database),
};

const cli_command command_import = {
    .name = "import",
    .brief = "exported runs of other machines into the store",
    .usage = "FILE... [--db FILE]",
    .example = "import run.db.xz",
    .summary =
        "Copies runs into the store: exported ones (run.db, run.db.xz), those in a page, or\n"
        "all of another store. A run that is there already is left out.",
    .details =
        "Exit code: 0 fine, also where all were there already; 2 usage; 7 a file or the store\n"
        "cannot be used: of a bad file nothing is imported, and the files before it are.",
    OPTIONS(options),
    .most_operands = 4096,
    .size = sizeof(import_options),
    .body = import,
};
