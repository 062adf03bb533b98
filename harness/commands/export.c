/* lnbench export: writes a stored run in formats that other programs read. lnbench import: adds runs that were exported
 * on other machines or days to the store. Each format is a query of the store (store/export.c). The database format
 * keeps everything and is the one that import reads. */
#include "commands/options.h"
#include "base/program.h"
#include "store/export.h"
#include "store/run_file.h"
#include <limits.h>
#include <string.h>

typedef struct transfer_options {
    const char *database, *format, *out; /* import has the database alone */
    uint64_t run;
} transfer_options;

/* Writes the run in one of the formats, or as a database of its own, compressed if the file's name ends in .xz. */
static exit_code export_run(void *context, const cli_call *call)
{
    const transfer_options *options = context;
    const bool whole = strcmp(options->format, "db") == 0;
    const export_format *format = whole ? NULL : export_format_named(options->format);
    const char *end = options->out ? strrchr(options->out, '.') : NULL;
    const bool packed = end && strcmp(end, ".xz") == 0;
    char own[PATH_MAX], to[PATH_MAX];
    text_buffer bytes = {0};
    (void)call;
    result_store *store = store_open(options->database, STORE_READ);
    if (options->out && realpath(options->out, to) &&
        strcmp(to, realpath(options->database, own)) == 0)
        die(EXIT_CODE_USAGE, "--out %s is the store itself: name another file", options->out);
    int64_t run = options->run ? (int64_t)options->run : store_latest_run(store);
    store_run(store, run); /* ends the program if there is no such run */
    if (whole && !options->out)
        die(EXIT_CODE_USAGE, "--format db needs --out FILE, such as run.db or run.db.xz");
    if (whole)
        run_file_make(options->database, run, packed ? PACK_SMALL : PACK_NOT, &bytes);
    else
        format->add(store, run, &bytes);
    if (options->out)
        write_whole_file(options->out, &bytes);
    else
        fwrite(bytes.bytes, 1, bytes.length, output_standard().file);
    text_free(&bytes);
    store_close(store);
    return EXIT_CODE_FINE;
}

static const cli_option export_table[] = {
    {"format", "db" EXPORT_NAMES, "default: json; smaller: github-action-benchmark", OPTION_TEXT,
     offsetof(transfer_options, format)},
    {"run", "N", "the run (default: the latest own lnbench run; see list runs)", OPTION_COUNT,
     offsetof(transfer_options, run)},
    {"out", "FILE", "write to FILE, not to standard output", OPTION_TEXT,
     offsetof(transfer_options, out)},
    STORE_OPTION(transfer_options, database),
};

const cli_command command_export = {
    .name = "export",
    .brief = "write a stored run as a database, JSON, TSV or CSV",
    .usage = "[OPTION...]",
    .example = "export --format tsv --out run.tsv",
    .summary = "Writes a stored run in a format that other programs read.",
    OPTIONS(export_table),
    DEFAULTS(transfer_options, .format = "json"),
    .body = export_run,
};

/* ---- lnbench import ---- */

/* Imports all runs of a file; leaves out those that the store already has, and says so. */
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

static exit_code import(void *context, const cli_call *call)
{
    const transfer_options *options = context;
    const output_file out = output_standard();
    if (call->operands->count == 0)
        die(EXIT_CODE_USAGE, "FILE... is missing: name runs that lnbench export --format db wrote");
    make_parent_directory(options->database);
    for (size_t i = 0; i < call->operands->count; i++)
        import_file(call->operands->words[i], options->database, &out);
    return EXIT_CODE_FINE;
}

static const cli_option import_table[] = {
    STORE_OPTION(transfer_options, database),
};

const cli_command command_import = {
    .name = "import",
    .brief = "copy exported runs of other machines into the store",
    .usage = "FILE... [--db FILE]",
    .example = "import run.db.xz",
    .summary =
        "Copies runs into the store: exported ones (run.db, run.db.xz), those in a page, or\n"
        "all of another store. A run that is there already is left out.",
    .details =
        "Exit code 0: fine, also if every run was there already; 2: usage; 7: a file or the store\n"
        "cannot be used. A bad file and those after it are not imported.",
    OPTIONS(import_table),
    .most_operands = 4096,
    .size = sizeof(transfer_options),
    .body = import,
};
