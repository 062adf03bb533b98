/* lnbench report: charts and the page of a stored run, nothing measured again unless --verify asks.
 */
#include "command.h"
#include "draw.h"
#include "paths.h"
#include "report_verify.h"
#include "result_table.h"
#include "stored_run.h"

typedef struct report_options {
    const char *database, *out;
    uint64_t run, sample;
    word_list plugins;
    output_request request;
    output printed;
    bool verify, no_pdf;
} report_options;

static exit_code report(void *context, const word_list *operands, error *error)
{
    report_options *options = context;
    view view;
    exit_code code = EXIT_CODE_FINE;
    (void)operands;
    if (!output_choose(&options->request, &options->printed, error) ||
        !load_reported_run(options->database, options->run, &view, error))
        return error->code;
    /* A place that cannot be written to is found before anything is shown. */
    if (!options->verify && !make_directories(options->out, error)) {
        view_free(&view);
        return error->code;
    }
    FILE *paths = options->printed.format == OUTPUT_TEXT ? stdout : stderr;
    bool fine = options->verify
                    ? report_verify(&view, options->sample, &options->plugins, &options->printed,
                                    &code, error)
                    : result_table_print(&view, &options->printed, error) &&
                          draw_report(&view, options->out, !options->no_pdf, paths, error);
    view_free(&view);
    return fine ? code : error->code;
}

exit_code command_report(int argc, char **argv, error *error)
{
    report_options given = {.database = "results/lnbench.db", .out = "results/charts", .sample = 8};
    const option options[] = {
        {"run", "N", "which run (default: the latest of lnbench run; lnbench list runs)",
         OPTION_COUNT, &given.run},
        {"out", "DIR", "where charts and page go (default: results/charts)", OPTION_TEXT,
         &given.out},
        {"no-pdf", NULL, "leave out report.pdf", OPTION_FLAG, &given.no_pdf},
        {"verify", NULL, "measure a sample of the figures again, and say which hold", OPTION_FLAG,
         &given.verify},
        {"sample", "N", "how many figures --verify takes (default: 8)", OPTION_COUNT,
         &given.sample},
        PLUGIN_OPTION(given.plugins),
        OUTPUT_OPTIONS(given.request),
        {"db", "FILE", "result store (default: results/lnbench.db)", OPTION_TEXT, &given.database},
    };
    const subcommand subcommand = {
        "report",
        "[OPTION...]",
        "Draws the charts and the page of a stored run: HTML, Markdown and PDF.",
        "Nothing is measured again, but for --verify: it runs the commands of a sample of "
        "figures,\n"
        "half of them errors, which must agree bit for bit, half of them speeds, whose intervals\n"
        "must meet; nothing is stored.\n"
        "Exit code: 0 fine, or all figures hold; 1 a speed does not hold; 4 what was measured is\n"
        "not there any more; 5 an error does not hold; 2 usage; 7 files or environment.",
        options,
        sizeof options / sizeof *options,
        0};
    exit_code code = options_run(&subcommand, argc, argv, report, &given, error);
    word_list_free(&given.plugins);
    return code;
}
