/* lnbench report: charts and the page of a stored run, nothing measured again unless --verify asks.
 */
#include "cli/command.h"
#include "report/charts/chart.h"
#include "report/report.h"
#include "base/paths.h"
#include "commands/choose/choose.h"
#include "commands/report/verify.h"
#include "commands/result_options.h"
#include "answer/stored_run.h"

typedef struct report_options {
    const char *database, *out, *chart;
    uint64_t run, sample;
    word_list plugins;
    result_options shown;
    output_file printed;
    bool verify, errors, no_pdf, no_charts, allow_lost;
} report_options;

/* All errors where they are asked for, or where the run is another machine's; else a sample. */
static bool verify(const report_options *options, const run_view *view, exit_code *code, error *err)
{
    machine_facts here;
    machine_read(&here);
    bool elsewhere = machine_difference(&view->machine, &here) != NULL;
    machine_free(&here);
    if (options->errors || elsewhere)
        return report_verify_errors(view, elsewhere, &options->plugins, &options->printed, code,
                                    err);
    return report_verify(view, options->sample, &options->plugins, &options->printed, code, err);
}

/* A report of half a run is none of the whole. */
static void say_partial(const run_view *view, error *err)
{
    text_buffer line = {0};
    view_add_coverage(view, &line);
    fail(err, EXIT_CODE_INCONCLUSIVE,
         "run %lld: %.300s (run it again with --resume, or accept it with --allow-lost)",
         (long long)view->run.id, line.bytes ? line.bytes : "");
    text_free(&line);
}

static exit_code report(void *context, const cli_call *call, error *err)
{
    report_options *options = context;
    run_view view;
    exit_code code = EXIT_CODE_FINE;
    (void)call;
    if (options->chart)
        return charts_draw_again(options->chart, options->out, &options->printed, err)
                   ? EXIT_CODE_FINE
                   : err->code;
    if (!load_reported_run(options->database, options->run, &view, err))
        return err->code;
    if (view_is_partial(&view) && !options->allow_lost)
        code = EXIT_CODE_INCONCLUSIVE;
    /* A place that cannot be written to is found before anything is shown. */
    if (!options->verify && !options->no_charts && !make_directories(options->out, err)) {
        view_free(&view);
        return err->code;
    }
    bool fine = options->verify
                    ? verify(options, &view, &code, err)
                    : result_show(&options->shown, &view, options->database, NULL,
                                  &options->printed, err) &&
                          (options->no_charts || draw_report(&view, options->out, !options->no_pdf,
                                                             &options->printed, err));
    if (fine && code == EXIT_CODE_INCONCLUSIVE)
        say_partial(&view, err);
    else if (fine && !options->verify)
        code = result_exit_code(&view);
    view_free(&view);
    return fine ? code : err->code;
}

static const cli_option options[] = {
    {"run", "N", "which run (default: the latest of lnbench run; lnbench list runs)", OPTION_COUNT,
     offsetof(report_options, run)},
    {"out", "DIR", "where charts and page go (default: results/charts)", OPTION_TEXT,
     offsetof(report_options, out)},
    {"draw", "NAME", "draw this chart again from the tables in DIR/data; no run is read",
     OPTION_TEXT, offsetof(report_options, chart)},
    {"no-charts", NULL, "the table and the answer only", OPTION_FLAG,
     offsetof(report_options, no_charts)},
    {"no-pdf", NULL, "leave out report.pdf", OPTION_FLAG, offsetof(report_options, no_pdf)},
    {"verify", NULL, "measure a sample of the figures again, and say which hold", OPTION_FLAG,
     offsetof(report_options, verify)},
    {"errors", NULL, "with --verify: every error and no speed", OPTION_FLAG,
     offsetof(report_options, errors)},
    {"sample", "N", "how many figures --verify takes (default: 8)", OPTION_COUNT,
     offsetof(report_options, sample)},
    ALLOW_LOST_OPTION(report_options, allow_lost),
    PLUGIN_OPTION(report_options, plugins),
    RESULT_OPTIONS(report_options, shown),
    OUTPUT_OPTIONS(report_options, printed),
    STORE_OPTION(report_options, database),
};

const cli_command command_report = {
    .name = "report",
    .brief = "charts and page of a stored run, nothing measured again",
    .usage = "[OPTION...]",
    .summary = "Draws the charts and the page of a stored run: HTML, Markdown and PDF.",
    .details =
        "Nothing is measured again, but for --verify: it makes a sample of figures again,\n"
        "half of them errors, replayed, which must agree bit for bit, half of them speeds, whose\n"
        "intervals must meet; nothing is stored. Of a run of another machine it derives every "
        "error again, "
        "no\n"
        "speed, and lists what differs.\n"
        "Exit code: 0 fine, or all figures hold; 1 a speed does not hold; 3 cases are lost, the\n"
        "run did not end, or it is too noisy to say which kernel is fastest; 4 what was measured\n"
        "is not there any more; 5 an error does not hold; 2 usage; 7 files or environment, or\n"
        "gnuplot or WeasyPrint is installed and failed: the line names what is missing.",
    OPTIONS(options),
    DEFAULTS(report_options, .out = "results/charts", .sample = 8),
    .body = report,
};
