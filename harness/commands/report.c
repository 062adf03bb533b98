/* lnbench report: shows a stored run, draws its charts and page, or verifies its errors. */
#include "show/charts/chart.h"
#include "base/program.h"
#include "commands/run.h"
#include "store/run_file.h"

typedef struct report_options {
    const char *database, *out;
    uint64_t run, sample;
    word_list plugins;
    output_file printed;
    bool all, verify, no_charts, allow_missing;
} report_options;

static exit_code report(void *context, const cli_call *call)
{
    report_options *options = context;
    const char *file = call->operands->count > 0 ? call->operands->words[0] : NULL;
    if (file && !options->verify)
        die(EXIT_CODE_USAGE, "%s: only report --verify takes a file", file);
    if (options->sample != UINT64_MAX && !options->verify)
        die(EXIT_CODE_USAGE, "--sample needs --verify");
    if (options->sample == 0)
        die(EXIT_CODE_USAGE, "invalid --sample 0: choose how many cases, at least 1");
    run_file sent = {0}; /* the temporary copy is removed at exit */
    if (file)
        sent = run_file_open(file);
    run_view view =
        load_stored_run(file ? sent.database : options->database, file ? 0 : options->run);
    const bool partial = view_is_partial(&view) && !options->allow_missing;
    exit_code code = partial ? EXIT_CODE_INCONCLUSIVE : EXIT_CODE_FINE;
    if (options->verify) {
        code =
            report_verify(file, options->sample, &options->plugins, &options->printed, &view, code);
    } else {
        /* A folder that cannot be written to is reported before anything is shown. */
        if (!options->no_charts)
            make_directories(options->out);
        result_show(options->all, &view, options->database, NULL, &options->printed);
        if (!options->no_charts)
            draw_report(&view, options->out, &options->printed);
        code = result_exit_code(&view);
    }
    /* A report of an incomplete run must not pass for a complete one. */
    if (partial && (!options->verify || code == EXIT_CODE_INCONCLUSIVE)) {
        text_buffer line = {0};
        view_add_coverage(&view, &line);
        die(EXIT_CODE_INCONCLUSIVE,
            "run %lld: %.300s (run it again with --resume, or accept it with --allow-missing)",
            (long long)view.run.id, line.bytes ? line.bytes : "");
    }
    view_free(&view);
    return code;
}

static const cli_option options[] = {
    {"run", "N", "the run (default: the latest own lnbench run; see list runs)", OPTION_COUNT,
     offsetof(report_options, run)},
    {"out", "DIR", "folder of the charts and the page (default: results/charts)", OPTION_TEXT,
     offsetof(report_options, out)},
    {"no-charts", NULL, "print the table and the answer only", OPTION_FLAG,
     offsetof(report_options, no_charts)},
    {"verify", NULL, "compute the errors of untimed cases again, compare bits", OPTION_FLAG,
     offsetof(report_options, verify)},
    {"sample", "N", "with --verify: only N cases, drawn at random", OPTION_COUNT,
     offsetof(report_options, sample)},
    ALLOW_MISSING_OPTION(report_options, allow_missing),
    PLUGIN_OPTION(report_options, plugins),
    RESULT_OPTION(report_options, all),
    OUTPUT_OPTIONS(report_options, printed),
    STORE_OPTION(report_options, database),
};

const cli_command command_report = {
    .name = "report",
    .brief = "draw charts and page of a stored run, without measuring",
    .usage = "[OPTION...] [--verify [FILE]]",
    .example = "report --out page",
    .summary = "Draws the charts and the page of a stored run: HTML and Markdown.",
    .details =
        "Nothing is timed again. --verify judges all cases again, except the timed ones, and\n"
        "compares the bits of their errors; it stores nothing. FILE is a page or an exported run\n"
        "(index.html, run.db, run.db.xz). A page is also drawn again and compared.\n"
        "Exit code 0: fine, or all are reproduced; 2: usage; 3: cases are missing, the run is\n"
        "unfinished, or time and speed relative to the copy disagree about the fastest kernel or\n"
        "call; 4: nothing could be computed here; 5: an error or the redrawn page differs; 7: a\n"
        "file, the environment or gnuplot failed, or a file was changed.",
    OPTIONS(options),
    .most_operands = 1,
    DEFAULTS(report_options, .out = "results/charts", .sample = UINT64_MAX),
    .body = report,
};
