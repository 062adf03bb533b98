/* lnbench compare: compares two runs of the store or of exported files. lnbench duet: compares two builds of a kernel
 * library in one process, interleaved and judged bit for bit. Both show the regressions. */
#include "base/program.h"
#include "commands/options.h"
#include "show/duet.h"
#include <math.h>
#include <string.h>

typedef struct comparison_options {
    const char *threshold, *gate, *format, *only;
    word_list also; /* each FORMAT=FILE */
    bool json, all, allow_missing;
} comparison_options;

#define COMPARISON_DEFAULTS                                                                        \
    {                                                                                              \
        "2%", "no-worse", "text", NULL, {0}, false, false, false                                   \
    }
#define COMPARISON_OPTIONS(type, member)                                                           \
    {"threshold", "SHARE", "smallest change of time that matters (default: 2%)", OPTION_TEXT,      \
     offsetof(type, member.threshold)},                                                            \
        {"accuracy", "exact|no-worse|bound",                                                       \
         "fail on a changed bit, larger error (default) or broken bound", OPTION_TEXT,             \
         offsetof(type, member.gate)},                                                             \
        {"only", "speed|accuracy", "compare the speed only, or the accuracy only", OPTION_TEXT,    \
         offsetof(type, member.only)},                                                             \
        {"format", OUTPUT_FORMATS_CI, "format of standard output (default: text)", OPTION_TEXT,    \
         offsetof(type, member.format)},                                                           \
        {"all", NULL, "show every pair", OPTION_FLAG, offsetof(type, member.all)},                 \
        ALLOW_MISSING_OPTION(type, member.allow_missing),                                          \
        {"also", "FORMAT=FILE", "write this format to FILE too; may be given again", OPTION_RAW,   \
         offsetof(type, member.also)},                                                             \
    {                                                                                              \
        "json", NULL, "the same as --format json", OPTION_FLAG, offsetof(type, member.json)        \
    }

/* Reads a threshold such as "2%" or "0.02". */
static double parse_threshold(const char *given)
{
    char *end;
    double value = number_read(given, &end);
    if (end != given && *end == '%') {
        value /= 100;
        end++;
    }
    if (end == given || *end || !(value > 0) || !(value < 1))
        die(EXIT_CODE_USAGE, "invalid --threshold '%.60s': write a share such as 2%% or 0.02",
            given);
    return value;
}

/* Reads a format, also one of those for CI, which the parser of options does not know. */
static output_format parse_format(const char *option, const char *given, size_t length)
{
    for (size_t i = 0; i < OUTPUT_FORMATS_OF_CI; i++)
        if (strlen(output_format_names[i]) == length &&
            memcmp(given, output_format_names[i], length) == 0)
            return (output_format)i;
    die(EXIT_CODE_USAGE, "%s %.60s: choose " OUTPUT_FORMATS_CI, option, given);
}

/* Returns the format of one --also, and sets *path to its file. */
static output_format read_also(const char *also, const char **path)
{
    const char *equals = strchr(also, '=');
    if (!equals || !equals[1])
        die(EXIT_CODE_USAGE, "invalid --also '%.60s': write FORMAT=FILE", also);
    *path = equals + 1;
    return parse_format("--also", also, (size_t)(equals - also));
}

/* Reads the options and returns the format of standard output. An invalid one ends the program with code 2. */
static output_format comparison_read_options(const comparison_options *options,
                                             comparison_settings *settings)
{
    const char *named = options->json ? "json" : options->format, *path;
    settings->all = options->all;
    settings->allow_missing = options->allow_missing;
    static const char *const halves[] = {"speed", "accuracy"};
    const size_t half = options->only ? word_chosen("only", options->only, WORDS(halves)) : 2;
    settings->speed = half != 1;
    settings->accuracy = half != 0;
    settings->threshold = parse_threshold(options->threshold);
    settings->gate =
        (accuracy_gate)word_chosen("accuracy", options->gate, WORDS(accuracy_gate_names));
    const output_format format = parse_format("--format", named, strlen(named));
    settings->every_pair = format >= OUTPUT_JSON;
    settings->json = format == OUTPUT_JSON;
    for (size_t i = 0; i < options->also.count; i++) { /* checked before anything is measured */
        const output_format other = read_also(options->also.words[i], &path);
        settings->every_pair |= other >= OUTPUT_JSON;
        settings->json |= other == OUTPUT_JSON;
    }
    return format;
}

/* Writes the comparison to standard output and to every --also. */
static void comparison_show(const run_comparison *comparison, output_format format,
                            const word_list *also)
{
    output_file out = output_standard();
    out.format = format;
    comparison_print(comparison, &out);
    for (size_t i = 0; i < also->count; i++) {
        const char *path;
        whole_file file;
        out = (output_file){.format = read_also(also->words[i], &path)};
        whole_file_begin(&file, path);
        out.file = file.stream;
        comparison_print(comparison, &out);
        whole_file_end(&file);
    }
}

/* ---- lnbench compare ---- */

typedef struct compare_options {
    comparison_options shown;
    const char *database;
} compare_options;

static exit_code compare(void *context, const cli_call *call)
{
    const compare_options *options = context;
    run_comparison comparison = {0};
    if (call->operands->count != SIDES)
        die(EXIT_CODE_USAGE, "name two runs, as in: lnbench compare previous latest");
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

static const cli_option compare_table[] = {
    COMPARISON_OPTIONS(compare_options, shown),
    STORE_OPTION(compare_options, database),
};

const cli_command command_compare = {
    .name = "compare",
    .brief = "compare two runs: what became slower or less accurate",
    .usage = "BASE NEW [OPTION...]",
    .example = "compare previous latest",
    .summary = "Compares two runs: what became slower or less accurate, and how sure that is.",
    .details =
        "BASE and NEW are each a run's number, latest (the newest of lnbench run), previous (the\n"
        "one before it on the same machine; only --processes and --repetitions may differ), the\n"
        "first digits of a commit, an exported file (run.db, run.db.xz) or a page. Speeds need at\n"
        "least 5 processes in each run (lnbench run --processes 5). No change below the machine's\n"
        "noise (lnbench doctor --noise) is called slower or faster.\n"
        "Exit code 0: fine; 1: a kernel is slower; 2: usage; 3: inconclusive; 4: NEW lacks a case\n"
        "that BASE has, or the runs are not comparable (another CPU, compiler, flags or plan); 5:\n"
        "an accuracy violation (--accuracy); 6: a kernel of NEW failed; 7: a file cannot be read.",
    OPTIONS(compare_table),
    .most_operands = SIDES,
    DEFAULTS(compare_options, .shown = COMPARISON_DEFAULTS),
    .body = compare,
};

/* ---- lnbench duet ---- */

typedef struct duet_options {
    plan_request request;
    comparison_options shown;
    const char *base, *new;
    double seconds, deadline;
} duet_options;

static exit_code duet(void *context, const cli_call *call)
{
    const duet_options *options = context;
    struct duet_run duet = {
        .deadline = options->deadline,
        .comparison = {.settings = {.tool = "duet",
                                    .files = {options->base, options->new},
                                    .seconds = options->seconds,
                                    .seed = options->request.seed}},
    };
    (void)call;
    if (!options->base || !options->new)
        die(EXIT_CODE_USAGE, "--%s FILE.so is missing: the %s build",
            options->base ? "new" : "base", options->base ? "new" : "old");
    interrupt_watch();
    output_format format = comparison_read_options(&options->shown, &duet.comparison.settings);
    duet_prepare(&duet, &options->request);
    bool finished = duet_measure(&duet, &options->request);
    /* An interrupted duet still shows the pairs that were measured. */
    comparison_show(&duet.comparison, format, &options->shown.also);
    exit_code code = finished ? comparison_exit_code(&duet.comparison) : EXIT_CODE_INTERRUPTED;
    duet_free(&duet);
    if (!finished)
        die(EXIT_CODE_INTERRUPTED, "interrupted");
    return code;
}

static const cli_option duet_table[] = {
    {"base", "OLD.so", "the old build", OPTION_TEXT, offsetof(duet_options, base)},
    {"new", "NEW.so", "the new build", OPTION_TEXT, offsetof(duet_options, new)},
    {"operation", "layernorm|rmsnorm|all",
     "operation (default: that of --conventions, else layernorm)", OPTION_TEXT,
     offsetof(duet_options, request.operation)},
    {"kernels", "GLOB,...", "only kernels whose name or label matches", OPTION_LIST,
     offsetof(duet_options, request.kernels)},
    {"conventions", "C,...", "the first is timed; all are judged (default: all presets)",
     OPTION_RAW, offsetof(duet_options, request.conventions)},
    {"dtypes", "f32,...", "f32, f64, bf16, f16 (default: all)", OPTION_LIST,
     offsetof(duet_options, request.dtypes)},
    {"shapes", "ROWSxHIDDEN,...", "these shapes instead of the quick plan's", OPTION_LIST,
     offsetof(duet_options, request.shapes)},
    {"inputs", "FAMILY,...", "judge on these only: input families, tensor files", OPTION_LIST,
     offsetof(duet_options, request.inputs)},
    CACHE_OPTION("hot,cold,in-place,read", OPTION_LIST, duet_options, request.caches),
    TIME_ON_OPTION(duet_options, request.time_on),
    {"threads", "T,...", "threads of one call (default: 1)", OPTION_LIST,
     offsetof(duet_options, request.threads)},
    COMPARISON_OPTIONS(duet_options, shown),
    {"time", "S", "at most about S seconds for each kernel and shape (default: 30)", OPTION_SECONDS,
     offsetof(duet_options, seconds)},
    {"seed", "N", "seed of inputs, order and placement (default: 1)", OPTION_COUNT,
     offsetof(duet_options, request.seed)},
    DEADLINE_OPTION(duet_options, deadline, 10),
};

const cli_command command_duet = {
    .name = "duet",
    .brief = "compare two builds of a kernel library, timed in alternation",
    .usage = "--base OLD.so --new NEW.so [OPTION...]",
    .example = "duet --base old.so --new new.so",
    .summary = "Times two builds of a kernel library (or plugins) in one process, in alternation:\n"
               "what became slower or faster, and whether any bit changed.",
    .details =
        "Exit code 0: fine; 1: a kernel is slower; 2: usage; 3: inconclusive; 4: NEW\n"
        "lacks a case that OLD has, or nothing can be compared; 5: an accuracy violation\n"
        "(--accuracy); 6: a kernel of NEW failed; 7: a file or the environment failed; 130:\n"
        "interrupted.",
    OPTIONS(duet_table),
    DEFAULTS(duet_options, .request = {.name = "quick", .seed = 1}, .shown = COMPARISON_DEFAULTS,
             .seconds = 30, .deadline = 10),
    .body = duet,
};
