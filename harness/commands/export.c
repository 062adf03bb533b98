/* lnbench export: a stored run in the formats that other programs read. */
#include "cli/options.h"
#include "base/files.h"
#include "base/output.h"
#include "exchange/export.h"
#include "exchange/run_file.h"
#include <string.h>

typedef struct export_options {
    const char *database, *format, *out;
    uint64_t run;
} export_options;

static bool export_database(const export_options *options, int64_t run, error *err)
{
    text_buffer bytes = {0};
    if (!options->out)
        return fail(err, EXIT_CODE_USAGE, "--format db: --out FILE is missing (run.db, run.db.xz)");
    const char *end = strrchr(options->out, '.');
    bool packed = end && strcmp(end, ".xz") == 0;
    bool fine =
        run_file_make(options->database, run, packed ? PACK_SMALL : PACK_NOT, &bytes, err) &&
        write_whole_file(options->out, &bytes, err);
    text_free(&bytes);
    return fine;
}

/* The run that was named, or the latest; it is there. */
static bool find_run(result_store *store, const export_options *options, int64_t *run, error *err)
{
    stored_run found;
    *run = (int64_t)options->run;
    return (*run != 0 || store_latest_run(store, run, err)) &&
           (*run != 0 || fail(err, EXIT_CODE_ENVIRONMENT,
                              "%s: holds no run yet: lnbench run makes one", options->database)) &&
           store_run(store, *run, &found, err);
}

static exit_code export_run(void *context, const cli_call *call, error *err)
{
    const export_options *options = context;
    const bool whole = strcmp(options->format, "db") == 0;
    const export_format *format = whole ? NULL : export_format_named(options->format, err);
    output_file out;
    result_store *store;
    int64_t run;
    (void)call;
    if ((!whole && !format) || !store_open(options->database, STORE_READ, &store, err))
        return err->code;
    if (find_run(store, options, &run, err)) {
        if (whole)
            export_database(options, run, err);
        else if (options->out)
            export_save(store, run, format, options->out, err);
        else if (output_standard(&out, err))
            export_write(store, run, format, out.file, "standard output", err);
    }
    store_close(store);
    return err->code;
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
    .summary = "Writes a stored run in a format that other programs read.",
    OPTIONS(options),
    .former = former,
    DEFAULTS(export_options, .format = "json"),
    .body = export_run,
};
