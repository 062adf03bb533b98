/* lnbench compare: two runs, from the store or from exported files. */
#include "show/compare.h"
#include "commands/options.h"
#include "commands/compare_options.h"
#include "store/store.h"
#include <math.h>
#include <string.h>
#include <unistd.h>

typedef struct compare_options {
    comparison_options shown;
    const char *database;
} compare_options;

static exit_code compare(void *context, const cli_call *call)
{
    const compare_options *options = context;
    run_comparison comparison = {0};
    if (call->operands->count != SIDES)
        die(EXIT_CODE_USAGE, "two runs were expected, such as: lnbench compare previous latest");
    comparison.settings = (comparison_settings){
        .tool = "compare",
        .files = {call->operands->words[BASE], call->operands->words[NEW]},
        .seconds = NAN,
        .seed = 1,
    };
    output_format format = comparison_read_options(&options->shown, &comparison.settings);
    compare_runs(&comparison, options->database);
    comparison_show(&comparison, format, &options->shown.also);
    exit_code code = comparison_exit_code(&comparison);
    comparison_free(&comparison);
    return code;
}

static const cli_option options[] = {
    COMPARISON_OPTIONS(compare_options, shown),
    STORE_OPTION(compare_options, database),
};

static const former_option former[] = {
    {"allow-lost", "use --allow-missing"},
    {NULL, NULL},
};

const cli_command command_compare = {
    .name = "compare",
    .brief = "two stored runs or exported files: what got slower or worse",
    .usage = "BASE NEW [OPTION...]",
    .example = "compare previous latest",
    .summary = "Compares two runs: what became slower or less accurate, and how sure that is.",
    .details =
        "BASE and NEW are a run's number, latest (the newest of lnbench run), previous (the\n"
        "newest before it on this machine that was asked for the same), the first digits of a\n"
        "commit, an exported file (run.db, run.db.xz) or a page. A run needs 5 processes or\n"
        "more: run --processes 5. If doctor --noise measured the smallest change that is seen\n"
        "on the machine, no smaller change counts.\n"
        "Exit code: 0 fine; 1 a kernel is slower; 2 usage; 3 inconclusive; 4 something is\n"
        "missing (BASE has it and NEW has not), or the runs are not comparable (another CPU,\n"
        "compiler, flags or plan); 5 accuracy violation; 6 a kernel of NEW failed; 7 files.",
    OPTIONS(options),
    .former = former,
    .most_operands = SIDES,
    DEFAULTS(compare_options, .shown = COMPARISON_DEFAULTS),
    .body = compare,
};
