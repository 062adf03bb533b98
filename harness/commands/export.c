/* lnbench export: a stored run in the formats that other programs read. */
#include "commands/options.h"
#include "base/die.h"
#include "base/files.h"
#include "store/export.h"
#include "store/run_file.h"
#include <string.h>

typedef struct export_options {
    const char *database, *format, *out;
    uint64_t run;
} export_options;

static void export_database(const export_options *options, int64_t run)
{
    text_buffer bytes = {0};
    if (!options->out)
        die(EXIT_CODE_USAGE, "--format db: --out FILE is missing (run.db, run.db.xz)");
    const char *end = strrchr(options->out, '.');
    bool packed = end && strcmp(end, ".xz") == 0;
    run_file_make(options->database, run, packed ? PACK_SMALL : PACK_NOT, &bytes);
    write_whole_file(options->out, &bytes);
    text_free(&bytes);
}

static void export_text(const export_options *options, const export_format *format,
                        result_store *store, int64_t run)
{
    text_buffer bytes = {0};
    format->add(store, run, &bytes);
    if (options->out)
        write_whole_file(options->out, &bytes);
    else
        fwrite(bytes.bytes, 1, bytes.length, output_standard().file);
    text_free(&bytes);
}

static exit_code export_run(void *context, const cli_call *call)
{
    const export_options *options = context;
    const bool whole = strcmp(options->format, "db") == 0;
    const export_format *format = whole ? NULL : export_format_named(options->format);
    (void)call;
    result_store *store = store_open(options->database, STORE_READ);
    int64_t run = options->run ? (int64_t)options->run : store_latest_run(store);
    if (run == 0)
        die(EXIT_CODE_ENVIRONMENT, "%s: holds no run yet: lnbench run makes one",
            options->database);
    store_run(store, run); /* it is there */
    if (whole)
        export_database(options, run);
    else
        export_text(options, format, store, run);
    store_close(store);
    return EXIT_CODE_FINE;
}

static const cli_option options[] = {
    {"format", "db" EXPORT_NAMES, "json: Google Benchmark's schema (default)", OPTION_TEXT,
     offsetof(export_options, format)},
    {"run", "N", "which run (default: the latest; lnbench list runs)", OPTION_COUNT,
     offsetof(export_options, run)},
    {"out", "FILE", "write there, not to standard output", OPTION_TEXT,
     offsetof(export_options, out)},
    STORE_OPTION(export_options, database),
};

static const former_option former[] = {
    {"no-rows", "use --format db"},
    {NULL, NULL},
};

const cli_command command_export = {
    .name = "export",
    .brief = "a stored run as a database, JSON, TSV or CSV",
    .usage = "[OPTION...]",
    .example = "export --format tsv --out run.tsv",
    .summary = "Writes a stored run in a format that other programs read.",
    OPTIONS(options),
    .former = former,
    DEFAULTS(export_options, .format = "json"),
    .body = export_run,
};
