/* lnbench report: charts and the page of a stored run, nothing measured again. */
#include "command.h"
#include "draw.h"
#include "result_table.h"
#include "stored_run.h"

exit_code command_report(int argc, char **argv, error *error)
{
    const char *database = "results/lnbench.db", *out = "results/charts";
    uint64_t run = 0;
    output_request request = {0};
    output printed;
    const option options[] = {
        {"run", "N", "which run (default: the latest; lnbench list runs)", OPTION_COUNT, &run},
        {"out", "DIR", "where charts and page go (default: results/charts)", OPTION_TEXT, &out},
        OUTPUT_OPTIONS(request),
        {"db", "FILE", "result store (default: results/lnbench.db)", OPTION_TEXT, &database},
    };
    const subcommand subcommand = {
        "report",
        "[OPTION...]",
        "Draws the charts and the page of a stored run; nothing is measured again.",
        NULL,
        options,
        sizeof options / sizeof *options,
        0};
    word_list operands = {0};
    view view;
    bool help;
    bool fine = options_parse(&subcommand, argc, argv, &operands, &help, error);
    if (fine && help)
        options_help(&subcommand, stdout);
    else if (fine && (fine = output_choose(&request, &printed, error) &&
                             load_stored_run(database, run, &view, error))) {
        fine = result_table_print(&view, &printed, error) &&
               draw_report(&view, out, printed.format == OUTPUT_TEXT ? stdout : stderr, error);
        view_free(&view);
    }
    word_list_free(&operands);
    return fine ? EXIT_CODE_FINE : error->code;
}
