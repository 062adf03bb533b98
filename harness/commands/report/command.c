/* lnbench report: charts and the page of a stored run, nothing measured again unless --verify asks.
 */
#include "commands/options.h"
#include "show/charts/chart.h"
#include "show/report.h"
#include "base/files.h"
#include "commands/report/verify.h"
#include "commands/result_options.h"
#include "show/run_view.h"
#include "store/run_file.h"
#include <errno.h>
#include <sys/random.h>

typedef struct report_options {
    const char *database, *out, *chart;
    uint64_t run, sample, seed;
    word_list plugins;
    result_options shown;
    output_file printed;
    bool verify, errors, no_charts, allow_missing;
} report_options;

/* The file that was sent, or the run of the store. */
static run_view load_reported(const report_options *options, const char *file)
{
    if (!file)
        return load_reported_run(options->database, options->run);
    run_file opened = run_file_open(file); /* its temporary copy goes at the end of the program */
    return load_stored_run(opened.database, 0);
}

static exit_code verify(const report_options *options, const char *file, const run_view *view,
                        exit_code code)
{
    verify_request request = {.file = file,
                              .all = options->errors,
                              .sample = options->sample == UINT64_MAX ? 0 : options->sample,
                              .seed = options->seed,
                              .plugins = &options->plugins,
                              .printed = &options->printed};
    if (options->sample == 0 || (request.sample > 10000))
        die(EXIT_CODE_USAGE, "--sample %llu: 1 to 10000 was expected",
            (unsigned long long)options->sample);
    while (request.seed == 0 && getrandom(&request.seed, 4, 0) < 0 && errno == EINTR)
        continue;
    return report_verify(&request, view, code);
}

/* A report of half a run is none of the whole. */
static _Noreturn void say_partial(const run_view *view)
{
    text_buffer line = {0};
    view_add_coverage(view, &line);
    die(EXIT_CODE_INCONCLUSIVE,
        "run %lld: %.300s (run it again with --resume, or accept it with --allow-missing)",
        (long long)view->run.id, line.bytes ? line.bytes : "");
}

static exit_code report(void *context, const cli_call *call)
{
    report_options *options = context;
    const char *file = call->operands->count > 0 ? call->operands->words[0] : NULL;
    if (file && !options->verify)
        die(EXIT_CODE_USAGE, "%s: a file is read by --verify alone", file);
    if (options->chart) {
        charts_draw_again(options->chart, options->out, &options->printed);
        return EXIT_CODE_FINE;
    }
    run_view view = load_reported(options, file);
    bool partial = view_is_partial(&view) && !options->allow_missing;
    exit_code code = partial ? EXIT_CODE_INCONCLUSIVE : EXIT_CODE_FINE;
    if (options->verify) {
        code = verify(options, file, &view, code);
        partial = partial && code == EXIT_CODE_INCONCLUSIVE;
    } else {
        /* A place that cannot be written to is found before anything is shown. */
        if (!options->no_charts)
            make_directories(options->out);
        result_show(&options->shown, &view, options->database, NULL, &options->printed);
        if (!options->no_charts)
            draw_report(&view, options->out, &options->printed);
        code = result_exit_code(&view);
    }
    if (partial)
        say_partial(&view);
    view_free(&view);
    return code;
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
    {"verify", NULL, "make figures of the run, or of FILE, again: do they hold?", OPTION_FLAG,
     offsetof(report_options, verify)},
    {"errors", NULL, "with --verify: every error and no speed", OPTION_FLAG,
     offsetof(report_options, errors)},
    {"sample", "N", "how many figures --verify draws (default: 8)", OPTION_COUNT,
     offsetof(report_options, sample)},
    {"seed", "N", "of what --verify draws (default: another each time)", OPTION_COUNT,
     offsetof(report_options, seed)},
    ALLOW_LOST_OPTION(report_options, allow_missing),
    PLUGIN_OPTION(report_options, plugins),
    RESULT_OPTIONS(report_options, shown),
    OUTPUT_OPTIONS(report_options, printed),
    STORE_OPTION(report_options, database),
};

static const former_option former[] = {
    {"allow-lost", "use --allow-missing"},
    {"sign", "use minisign -S -s FILE.key -m index.html"},
    {"key", "use minisign -V -p FILE.pub -m index.html"},
    {"no-pdf", "report makes no PDF of the page; print index.html"},
    {NULL, NULL},
};

const cli_command command_report = {
    .name = "report",
    .brief = "charts and page of a stored run, nothing measured again",
    .usage = "[OPTION...] [--verify FILE]",
    .summary = "Draws the charts and the page of a stored run: HTML and Markdown.",
    .details =
        "Nothing is measured again, but for --verify, which stores nothing. It makes a sample of\n"
        "figures again: half errors, which must agree bit for bit, half speeds, whose intervals "
        "must\n"
        "meet. Of another machine's run it derives every error, and no speed. FILE is a page or a "
        "run\n"
        "that was sent to you (index.html, run.db, run.db.xz): a page must be what its run "
        "draws.\n"
        "Exit code: 0 fine, or all figures hold; 1 a speed does not hold; 3 cases are missing, "
        "the\n"
        "run did not end, or it is too noisy to say which kernel is fastest; 4 what was measured\n"
        "is not there any more; 5 an error does not hold; 2 usage; 7 files or environment, or\n"
        "gnuplot is installed and failed: the line names what is missing.",
    OPTIONS(options),
    .former = former,
    .most_operands = 1,
    DEFAULTS(report_options, .out = "results/charts", .sample = UINT64_MAX),
    .body = report,
};
