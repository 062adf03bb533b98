/* lnbench duet: two builds of a kernel library in one process, interleaved, judged bit for bit. */
#include "command.h"
#include "duet.h"
#include "interrupt.h"
#include "store_calibration.h"

typedef struct duet_options {
    plan_request request;
    comparison_options shown;
    const char *base, *new, *database;
    double seconds, deadline;
} duet_options;

static bool read_settings(const duet_options *options, duet *duet, comparison_format *format,
                          error *error)
{
    comparison_settings *settings = &duet->comparison.settings;
    if (!options->base || !options->new)
        return fail(error, EXIT_CODE_USAGE, "--%s FILE.so is missing: the %s build",
                    options->base ? "new" : "base", options->base ? "new" : "old");
    if (!seconds_check("time", options->seconds, error) ||
        !seconds_check("deadline", options->deadline, error))
        return false;
    *settings = (comparison_settings){
        .tool = "duet",
        .files = {options->base, options->new},
        .seconds = options->seconds,
        .seed = options->request.seed,
    };
    duet->deadline = options->deadline;
    return comparison_read_options(&options->shown, settings, format, error);
}

/* What was measured is shown even where the rest was not. */
static bool run(duet *duet, duet_options *options, error *error)
{
    comparison_format format;
    if (!read_settings(options, duet, &format, error) ||
        !duet_prepare(duet, &options->request, error) ||
        !load_calibration(options->database, &duet->comparison.machine,
                          &duet->comparison.calibration, error))
        return false;
    bool measured = duet_measure(duet, &options->request, error);
    struct error ending = *error;
    if (!measured && error->code != EXIT_CODE_INTERRUPTED)
        return false;
    if (!comparison_show(&duet->comparison, format, &options->shown.also, error))
        return false;
    *error = ending;
    return measured;
}

exit_code command_duet(int argc, char **argv, error *error)
{
    duet_options given = {
        .request = {.name = "quick", .seed = 1},
        .shown = {.threshold = "2%", .gate = "no-worse", .format = "text", .confidence = 0.99},
        .database = "results/lnbench.db",
        .seconds = 30,
        .deadline = 10,
    };
    plan_request *request = &given.request;
    const option options[] = {
        {"base", "OLD.so", "the build to compare with", OPTION_TEXT, &given.base},
        {"new", "NEW.so", "the build in question", OPTION_TEXT, &given.new},
        {"kernels", "GLOB,...", "only these kernels", OPTION_LIST, &request->kernels},
        {"conventions", "C,...", "the first is timed; all are judged (default: all presets)",
         OPTION_RAW, &request->conventions},
        {"dtypes", "f32,...", "f32, f64, bf16, f16 (default: f32, and kernels named in full)",
         OPTION_LIST, &request->dtypes},
        {"shapes", "ROWSxHIDDEN,...", "instead of the quick plan's", OPTION_LIST, &request->shapes},
        {"inputs", "FAMILY,...", "judge on these only: families or .npy files", OPTION_LIST,
         &request->inputs},
        {"cache", "hot,cold,in-place", "cache states to time in, or y is x (default: hot)",
         OPTION_LIST, &request->caches},
        {"threads", "T,...", "threads of one call (default: 1)", OPTION_LIST, &request->threads},
        {"threshold", "SHARE", "a change of time that matters (default: 2%)", OPTION_TEXT,
         &given.shown.threshold},
        {"confidence", "P", "of the intervals (default: 0.99)", OPTION_REAL,
         &given.shown.confidence},
        {"time", "S", "at most about S seconds for each kernel and shape (default: 30)",
         OPTION_REAL, &given.seconds},
        {"accuracy", "exact|no-worse|bound",
         "what fails: a bit, a larger error (default), a broken bound", OPTION_TEXT,
         &given.shown.gate},
        {"only", "speed|accuracy", "leave out the other half", OPTION_TEXT, &given.shown.only},
        {"format", "text|markdown|tsv|json|junit|github|smaller", "of standard output", OPTION_TEXT,
         &given.shown.format},
        {"also", "FORMAT=FILE", "write this too; may be given again", OPTION_RAW,
         &given.shown.also},
        {"json", NULL, "the same as --format json", OPTION_FLAG, &given.shown.json},
        {"db", "FILE", "where lnbench calibrate left this machine's noise", OPTION_TEXT,
         &given.database},
        {"seed", "N", "of inputs, order and placement (default: 1)", OPTION_COUNT, &request->seed},
        DEADLINE_OPTION(given.deadline, 10),
    };
    const subcommand subcommand = {
        "duet",
        "--base OLD.so --new NEW.so [OPTION...]",
        "Two builds of a kernel library (or plugins) in one process, in alternation: what got\n"
        "slower or faster, and whether any bit changed.",
        "Exit code: 0 fine; 1 a kernel is slower, confirmed; 3 inconclusive; 4 nothing that can "
        "be\n"
        "compared; 5 accuracy violation; 6 a kernel of NEW failed; 2 usage; 7 files or\n"
        "environment; 130 interrupted.",
        options,
        sizeof options / sizeof *options,
        0};
    word_list operands = {0};
    bool help;
    duet duet = {.cpu = -1};
    bool fine = options_parse(&subcommand, argc, argv, &operands, &help, error);
    if (fine && help)
        options_help(&subcommand, stdout);
    else if (fine) {
        interrupt_watch();
        fine = run(&duet, &given, error);
    }
    exit_code code =
        fine ? (help ? EXIT_CODE_FINE : comparison_exit_code(&duet.comparison)) : error->code;
    duet_free(&duet);
    word_list *lists[] = {&request->kernels, &request->conventions, &request->dtypes,
                          &request->shapes,  &request->inputs,      &request->caches,
                          &request->threads, &given.shown.also,     &operands};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        word_list_free(lists[i]);
    return code;
}
