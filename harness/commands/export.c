/* lnbench export: a stored run in the formats that other programs read. */
#include "cli/options.h"
#include "base/files.h"
#include "base/output.h"
#include "exchange/export.h"
#include "exchange/run_file.h"
#include "answer/run_view.h"
#include <string.h>

typedef struct export_options {
    const char *database, *format, *out;
    uint64_t run;
} export_options;

static bool write_out(const run_view *view, const export_format *format, error *err)
{
    output_file out;
    return output_standard(&out, err) &&
           export_write(view, format, out.file, "standard output", err);
}

static bool find_run(const export_options *options, int64_t *run, error *err)
{
    result_store *store;
    *run = (int64_t)options->run;
    if (!store_open(options->database, STORE_READ, &store, err))
        return false;
    bool fine = *run != 0 || (store_latest_run(store, run, err) &&
                              (*run != 0 || fail(err, EXIT_CODE_ENVIRONMENT, "%s: holds no run yet",
                                                 options->database)));
    store_close(store);
    return fine;
}

static bool export_database(const export_options *options, error *err)
{
    int64_t run;
    text_buffer bytes = {0};
    if (!options->out)
        return fail(err, EXIT_CODE_USAGE, "--format db: --out FILE is missing (run.db, run.db.xz)");
    const char *end = strrchr(options->out, '.');
    bool packed = end && strcmp(end, ".xz") == 0;
    bool fine =
        find_run(options, &run, err) &&
        run_file_make(options->database, run, packed ? PACK_SMALL : PACK_NOT, &bytes, err) &&
        write_whole_file(options->out, &bytes, err);
    text_free(&bytes);
    return fine;
}

static exit_code export_run(void *context, const cli_call *call, error *err)
{
    const export_options *options = context;
    (void)call;
    if (strcmp(options->format, "db") == 0) {
        export_database(options, err);
        return err->code;
    }
    const export_format *format = export_format_named(options->format, err);
    run_view view;
    if (!format || !load_stored_run(options->database, options->run, &view, err))
        return err->code;
    if (options->out)
        export_save(&view, format, options->out, err);
    else
        write_out(&view, format, err);
    view_free(&view);
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
