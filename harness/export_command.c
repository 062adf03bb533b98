/* lnbench export: a stored run in the formats that other programs read. */
#include "command.h"
#include "export.h"
#include "stored_run.h"

static bool export_run(const char *database, uint64_t run, const char *format_name, const char *out,
                       error *error)
{
    export_format format;
    view view;
    if (!export_format_from_name(format_name, &format, error))
        return false;
    bool loaded = format == EXPORT_JSONL ? load_whole_run(database, run, &view, error)
                                         : load_stored_run(database, run, &view, error);
    if (!loaded)
        return false;
    bool fine = out ? export_save(&view, format, out, error)
                    : export_write(&view, format, stdout, "standard output", error);
    view_free(&view);
    return fine;
}

exit_code command_export(int argc, char **argv, error *error)
{
    const char *database = "results/lnbench.db", *format = "json", *out = NULL;
    uint64_t run = 0;
    const option options[] = {
        {"format", "json|jsonl|tsv|smaller", "json: Google Benchmark's schema (default)",
         OPTION_TEXT, &format},
        {"run", "N", "which run (default: the latest; lnbench list runs)", OPTION_COUNT, &run},
        {"out", "FILE", "write there, not to standard output", OPTION_TEXT, &out},
        {"db", "FILE", "result store (default: results/lnbench.db)", OPTION_TEXT, &database},
    };
    const subcommand subcommand = {
        "export", "[OPTION...]", "Writes a stored run in a format that other programs read.",
        NULL,     options,       sizeof options / sizeof *options,
        0};
    word_list operands = {0};
    bool help;
    bool fine = options_parse(&subcommand, argc, argv, &operands, &help, error);
    if (fine && help)
        options_help(&subcommand, stdout);
    else if (fine)
        fine = export_run(database, run, format, out, error);
    word_list_free(&operands);
    return fine ? EXIT_CODE_FINE : error->code;
}
