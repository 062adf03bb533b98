/* lnbench export: a stored run in the formats that other programs read. */
#include "cli/options.h"
#include "base/output.h"
#include "exchange/export.h"
#include "answer/run_view.h"

typedef struct export_options {
    const char *database, *format, *out;
    uint64_t run;
    bool no_rows;
} export_options;

static bool write_out(const run_view *view, const export_format *format, error *err)
{
    output_file out;
    return output_standard(&out, err) &&
           export_write(view, format, out.file, "standard output", err);
}

static exit_code export_run(void *context, const cli_call *call, error *err)
{
    const export_options *options = context;
    const export_format *format = export_format_named(options->format, err);
    run_view view;
    (void)call;
    if (!format)
        return err->code;
    bool loaded = format->is_whole && !options->no_rows
                      ? load_whole_run(options->database, options->run, &view, err)
                      : load_stored_run(options->database, options->run, &view, err);
    if (!loaded)
        return err->code;
    if (format->is_whole && !view_load_rows(&view, err)) {
        view_free(&view);
        return err->code;
    }
    if (options->out)
        export_save(&view, format, options->out, err);
    else
        write_out(&view, format, err);
    view_free(&view);
    return err->code;
}

static const cli_option options[] = {
    {"format", EXPORT_NAMES, "json: Google Benchmark's schema (default)", OPTION_TEXT,
     offsetof(export_options, format)},
    {"run", "N", "which run (default: the latest; lnbench list runs)", OPTION_COUNT,
     offsetof(export_options, run)},
    {"out", "FILE", "write there, not to standard output", OPTION_TEXT,
     offsetof(export_options, out)},
    {"no-rows", NULL, "jsonl: leave out the worst rows, which lnbench replay wants", OPTION_FLAG,
     offsetof(export_options, no_rows)},
    STORE_OPTION(export_options, database),
};

const cli_command command_export = {
    .name = "export",
    .brief = "a stored run as JSON, JSON Lines, TSV or CSV",
    .usage = "[OPTION...]",
    .summary = "Writes a stored run in a format that other programs read.",
    OPTIONS(options),
    DEFAULTS(export_options, .format = "json"),
    .body = export_run,
};
