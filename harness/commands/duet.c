/* lnbench duet: two builds of a kernel library in one process, interleaved, judged bit for bit. */
#include "commands/options.h"
#include "commands/compare_options.h"
#include "show/duet/duet.h"
#include "base/program.h"

typedef struct duet_options {
    plan_request request;
    comparison_options shown;
    const char *base, *new;
    double seconds, deadline;
} duet_options;

static output_format read_settings(const duet_options *options, duet_run *duet)
{
    comparison_settings *settings = &duet->comparison.settings;
    if (!options->base || !options->new)
        die(EXIT_CODE_USAGE, "--%s FILE.so is missing: the %s build",
            options->base ? "new" : "base", options->base ? "new" : "old");
    *settings = (comparison_settings){
        .tool = "duet",
        .files = {options->base, options->new},
        .seconds = options->seconds,
        .seed = options->request.seed,
    };
    duet->comparison.requested_known = true;
    duet->deadline = options->deadline;
    return comparison_read_options(&options->shown, settings);
}

static exit_code duet(void *context, const cli_call *call)
{
    const duet_options *options = context;
    struct duet_run duet = {.cpu = -1};
    (void)call;
    interrupt_watch();
    output_format format = read_settings(options, &duet);
    duet_prepare(&duet, &options->request);
    bool finished = duet_measure(&duet, &options->request);
    /* What was measured is shown even where the rest was not. */
    comparison_show(&duet.comparison, format, &options->shown.also);
    exit_code code = finished ? comparison_exit_code(&duet.comparison) : EXIT_CODE_INTERRUPTED;
    duet_free(&duet);
    if (!finished)
        die(EXIT_CODE_INTERRUPTED, "interrupted");
    return code;
}

static const cli_option options[] = {
    {"base", "OLD.so", "the build to compare with", OPTION_TEXT, offsetof(duet_options, base)},
    {"new", "NEW.so", "the build in question", OPTION_TEXT, offsetof(duet_options, new)},
    {"operation", "layernorm|rmsnorm|all",
     "what is computed (default: that of --conventions, or layernorm)", OPTION_TEXT,
     offsetof(duet_options, request.operation)},
    {"kernels", "GLOB,...", "only these kernels: names or labels", OPTION_LIST,
     offsetof(duet_options, request.kernels)},
    {"conventions", "C,...", "the first is timed; all are judged (default: all presets)",
     OPTION_RAW, offsetof(duet_options, request.conventions)},
    {"dtypes", "f32,...", "f32, f64, bf16, f16 (default: all)", OPTION_LIST,
     offsetof(duet_options, request.dtypes)},
    {"shapes", "ROWSxHIDDEN,...", "instead of the quick plan's", OPTION_LIST,
     offsetof(duet_options, request.shapes)},
    {"inputs", "FAMILY,...", "judge on these only: families or files of tensors", OPTION_LIST,
     offsetof(duet_options, request.inputs)},
    CACHE_OPTION("hot,cold,in-place,read", OPTION_LIST, duet_options, request.caches),
    TIME_ON_OPTION(duet_options, request.time_on),
    {"threads", "T,...", "threads of one call (default: 1)", OPTION_LIST,
     offsetof(duet_options, request.threads)},
    COMPARISON_OPTIONS(duet_options, shown),
    {"time", "S", "at most about S seconds for each kernel and shape (default: 30)", OPTION_SECONDS,
     offsetof(duet_options, seconds)},
    {"seed", "N", "of inputs, order and placement (default: 1)", OPTION_COUNT,
     offsetof(duet_options, request.seed)},
    DEADLINE_OPTION(duet_options, deadline, 10),
};

static const former_option former[] = {
    {"allow-lost", "use --allow-missing"},
    {"db", "a duet measures the noise itself; lnbench compare --db uses a stored one"},
    {NULL, NULL},
};

const cli_command command_duet = {
    .name = "duet",
    .brief = "two builds of a kernel library, old against new, interleaved",
    .usage = "--base OLD.so --new NEW.so [OPTION...]",
    .example = "duet --base old.so --new new.so",
    .summary = "Times two builds of a kernel library (or plugins) in one process, in alternation:\n"
               "what became slower or faster, and whether any bit changed.",
    .details = "Exit code: 0 fine; 1 a kernel is slower, confirmed; 2 usage; 3 inconclusive; 4\n"
               "something is missing (OLD has it and NEW has not) or nothing can be compared; 5\n"
               "accuracy violation; 6 a kernel of NEW failed; 7 files or environment; 130\n"
               "interrupted.",
    OPTIONS(options),
    .former = former,
    DEFAULTS(duet_options, .request = {.name = "quick", .seed = 1}, .shown = COMPARISON_DEFAULTS,
             .seconds = 30, .deadline = 10),
    .body = duet,
};
