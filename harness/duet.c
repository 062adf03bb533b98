/* lnbench duet: two builds of a kernel library in one process, interleaved, judged bit for bit. */
#include "command.h"
#include "duet.h"
#include "interrupt.h"
#include "session_setup.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct duet_options {
    plan_request request;
    const char *base, *new, *threshold, *gate, *format, *only;
    double confidence, seconds, deadline;
    word_list also;
    bool json;
} duet_options;

/* "2%" or "0.02". */
static bool parse_threshold(const char *given, double *threshold, error *error)
{
    char *end;
    double value = strtod(given, &end);
    if (end != given && *end == '%') {
        value /= 100;
        end++;
    }
    if (end == given || *end || !(value > 0) || !(value < 1))
        return fail(error, EXIT_CODE_USAGE,
                    "--threshold %.60s: a share above 0 and below 1 was expected, such as 2%%",
                    given);
    *threshold = value;
    return true;
}

static bool parse_gate(const char *given, accuracy_gate *gate, error *error)
{
    for (int i = GATE_NO_WORSE; i <= GATE_BOUND; i++) {
        *gate = (accuracy_gate)i;
        if (strcmp(given, accuracy_gate_name(*gate)) == 0)
            return true;
    }
    return fail(error, EXIT_CODE_USAGE, "--accuracy %.60s: exact, no-worse or bound was expected",
                given);
}

static bool parse_format(const char *option, const char *given, size_t length, duet_format *format,
                         error *error)
{
    static const char *const names[] = {"text",   "markdown", "json", "junit",
                                        "github", "smaller",  "tsv"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        *format = (duet_format)i;
        if (strlen(names[i]) == length && memcmp(given, names[i], length) == 0)
            return true;
    }
    return fail(error, EXIT_CODE_USAGE,
                "%s %.60s: text, markdown, tsv, json, junit, github or smaller was expected",
                option, given);
}

/* Every --also FORMAT=FILE is looked at before anything is measured. */
static bool check_also(const word_list *also, error *error)
{
    duet_format format;
    for (size_t i = 0; i < also->count; i++) {
        const char *equals = strchr(also->words[i], '=');
        if (!equals || !equals[1])
            return fail(error, EXIT_CODE_USAGE, "--also %.60s: FORMAT=FILE was expected",
                        also->words[i]);
        if (!parse_format("--also", also->words[i], (size_t)(equals - also->words[i]), &format,
                          error))
            return false;
    }
    return true;
}

static bool write_also(const duet *duet, const word_list *also, error *error)
{
    for (size_t i = 0; i < also->count; i++) {
        const char *equals = strchr(also->words[i], '=');
        duet_format format;
        if (!parse_format("--also", also->words[i], (size_t)(equals - also->words[i]), &format,
                          error))
            return false;
        FILE *file = fopen(equals + 1, "w");
        bool fine = file && duet_print(duet, format, file);
        if (file && fclose(file) != 0)
            fine = false;
        if (!fine)
            return fail(error, EXIT_CODE_ENVIRONMENT, "%s: cannot write: %s", equals + 1,
                        strerror(errno));
    }
    return true;
}

static bool read_settings(const duet_options *options, duet_settings *settings, error *error)
{
    if (!options->base || !options->new)
        return fail(error, EXIT_CODE_USAGE, "--%s FILE.so is missing: the %s build",
                    options->base ? "new" : "base", options->base ? "new" : "old");
    *settings = (duet_settings){
        .files = {options->base, options->new},
        .confidence = options->confidence,
        .seconds = options->seconds,
        .deadline = options->deadline,
        .speed = true,
        .accuracy = true,
        .seed = options->request.seed,
    };
    if (!(options->confidence >= 0.5 && options->confidence <= 0.9999))
        return fail(error, EXIT_CODE_USAGE,
                    "--confidence %g: 0.5 to 0.9999 was expected, such as 0.99",
                    options->confidence);
    if (!(options->seconds > 0) || !(options->deadline > 0))
        return fail(error, EXIT_CODE_USAGE, "--%s: more than 0 seconds was expected",
                    options->seconds > 0 ? "deadline" : "time");
    if (options->only) {
        settings->speed = strcmp(options->only, "speed") == 0;
        settings->accuracy = strcmp(options->only, "accuracy") == 0;
        if (!settings->speed && !settings->accuracy)
            return fail(error, EXIT_CODE_USAGE, "--only %.60s: speed or accuracy was expected",
                        options->only);
    }
    return parse_threshold(options->threshold, &settings->threshold, error) &&
           parse_gate(options->gate, &settings->gate, error);
}

/* The shapes as words, so that each can have a plan of its own: the given ones, or those that the
 * quick plan times. */
static bool list_shapes(const duet *duet, const plan_request *request, word_list *shapes,
                        error *error)
{
    for (size_t i = 0; i < request->shapes.count; i++)
        if (!word_list_add(shapes, request->shapes.words[i], error))
            return false;
    for (size_t i = 0; request->shapes.count == 0 && i < duet->plan.speed_count; i++) {
        const speed_group *group = &duet->plan.speed[i];
        char word[48];
        snprintf(word, sizeof word, "%zux%zu", group->rows, group->hidden);
        if ((shapes->count == 0 || strcmp(shapes->words[shapes->count - 1], word) != 0) &&
            !word_list_add(shapes, word, error))
            return false;
    }
    return true;
}

static bool add_pairs(duet *duet, const speed_group *group, const kernel_entry **partners,
                      size_t *first, error *error)
{
    *first = duet->pair_count;
    duet_pair *grown =
        realloc(duet->pairs, (duet->pair_count + duet->plan.kernel_count) * sizeof *grown);
    if (!grown)
        return fail_memory(error, "the pairs");
    duet->pairs = grown;
    for (size_t i = 0; i < duet->plan.kernel_count; i++) {
        if (!partners[i])
            continue;
        grown[duet->pair_count++] = (duet_pair){
            .kernels = {duet->plan.kernels[i], partners[i]},
            .key = speed_key(group, partners[i]->facts.name),
            .ratio = {NAN, NAN, NAN},
            .time_ns = {NAN, NAN},
            .bound_row_ulp = {NAN, NAN},
        };
    }
    return true;
}

static void settle(duet *duet, size_t first)
{
    for (size_t i = first; i < duet->pair_count; i++) {
        duet_pair *pair = &duet->pairs[i];
        pair->accuracy =
            duet_failed(pair) == FAILED_BOTH ? ACCURACY_NOT_JUDGED : duet_accuracy(pair);
    }
}

static bool measure_group(duet *duet, const speed_group *group, const kernel_entry **partners,
                          bool first_of_shape, bool with_probes, error *error)
{
    judge_block blocks[2] = {0};
    size_t first;
    if (!add_pairs(duet, group, partners, &first, error))
        return false;
    size_t count = duet->pair_count - first;
    duet_pair *pairs = &duet->pairs[first];
    duet_outputs *outputs = calloc(count, sizeof *outputs);
    bool fine = outputs != NULL || fail_memory(error, "judged outputs");
    for (size_t i = 0; fine && i < 2; i++)
        fine = judge_block_generate(duet->judge, &blocks[i], &group->convention, "normal",
                                    i * group->block_rows, group->block_rows, group->hidden, error);
    fine = fine && duet_judge_blocks(duet, blocks, pairs, count, outputs, error);
    if (fine && duet->settings.accuracy && first_of_shape)
        fine = duet_judge_families(duet, group, pairs, count, with_probes, error);
    size_t done = 0;
    for (; fine && done < count; done += fine)
        if (duet->settings.speed && duet_failed(&pairs[done]) == FAILED_NOT)
            fine = duet_time(duet, group, blocks, &pairs[done], outputs[done], error);
    duet->pair_count = first + done; /* one that was interrupted has no verdict */
    settle(duet, first);
    for (size_t i = 0; outputs && i < count; i++)
        for (int each = 0; each < 2 * SIDES; each++)
            free(outputs[i][each / 2][each % 2]);
    free(outputs);
    judge_block_free(&blocks[0]);
    judge_block_free(&blocks[1]);
    return fine;
}

/* Divisor and eps enter once a row, whatever its length: probe rows are judged with the first
 * shape. */
static bool measure_shape(duet *duet, plan_request *request, const char *shape, bool first,
                          const kernel_entry **partners, error *error)
{
    plan_request own = *request;
    own.shapes = (word_list){&shape, 1};
    plan_free(&duet->plan);
    bool fine = plan_make(&own, &duet->kernels[BASE], &duet->machine, &duet->plan, error);
    for (size_t i = 0; fine && i < duet->plan.speed_count; i++)
        fine = measure_group(duet, &duet->plan.speed[i], partners, i == 0, first && i == 0, error);
    return fine;
}

static bool measure(duet *duet, plan_request *request, error *error)
{
    word_list shapes = {0};
    const kernel_entry **partners = calloc(duet->plan.kernel_count, sizeof *partners);
    bool fine = partners || fail_memory(error, "the pairs");
    fine =
        fine && duet_partners(duet, partners, error) && list_shapes(duet, request, &shapes, error);
    progress_begin(&duet->progress, (double)(shapes.count * duet->plan.kernel_count) *
                                        (duet->settings.speed ? duet->settings.seconds / 4 : 1));
    for (size_t i = 0; fine && i < shapes.count; i++)
        fine = measure_shape(duet, request, shapes.words[i], i == 0, partners, error);
    progress_end(&duet->progress);
    word_list_free(&shapes);
    free(partners);
    return fine;
}

static bool prepare(duet *duet, const plan_request *request, error *error)
{
    judge_settings settings = {
        .seed = duet->settings.seed,
        .max_row_ulp = INFINITY,
        .deadline_seconds = duet->settings.deadline,
    };
    if (!duet_load(duet, error) || !machine_read(&duet->machine, error) ||
        !plan_make(request, &duet->kernels[BASE], &duet->machine, &duet->plan, error))
        return false;
    duet->judge = judge_create(duet->worker, &settings);
    duet->cpu = session_last_cpu();
    return duet->judge || fail_memory(error, "the judge");
}

/* What was measured is shown even where the rest was not. */
static bool run(duet *duet, duet_options *options, error *error)
{
    duet_format format;
    const char *named = options->json ? "json" : options->format;
    if (!parse_format("--format", named, strlen(named), &format, error) ||
        !check_also(&options->also, error) || !prepare(duet, &options->request, error))
        return false;
    bool measured = measure(duet, &options->request, error);
    struct error ending = *error;
    if (!measured && error->code != EXIT_CODE_INTERRUPTED)
        return false;
    if (!duet_print(duet, format, stdout))
        return fail(error, EXIT_CODE_ENVIRONMENT, "standard output: cannot write");
    if (!write_also(duet, &options->also, error))
        return false;
    *error = ending;
    return measured;
}

static void duet_free(duet *duet)
{
    judge_destroy(duet->judge);
    worker_stop(duet->worker);
    plan_free(&duet->plan);
    machine_free(&duet->machine);
    kernel_list_free(&duet->kernels[BASE]);
    kernel_list_free(&duet->kernels[NEW]);
    word_list_free(&duet->lonely);
    free(duet->pairs);
}

exit_code command_duet(int argc, char **argv, error *error)
{
    duet_options given = {
        .request = {.name = "quick", .seed = 1},
        .threshold = "2%",
        .gate = "no-worse",
        .format = "text",
        .confidence = 0.99,
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
        {"shapes", "ROWSxHIDDEN,...", "instead of the quick plan's", OPTION_LIST, &request->shapes},
        {"inputs", "FAMILY,...", "judge on these only: families or .npy files", OPTION_LIST,
         &request->inputs},
        {"cache", "hot,cold", "cache states to time in (default: hot)", OPTION_LIST,
         &request->caches},
        {"threshold", "SHARE", "a change of time that matters (default: 2%)", OPTION_TEXT,
         &given.threshold},
        {"confidence", "P", "of the intervals (default: 0.99)", OPTION_REAL, &given.confidence},
        {"time", "S", "at most about S seconds for each kernel and shape (default: 30)",
         OPTION_REAL, &given.seconds},
        {"accuracy", "exact|no-worse|bound",
         "what fails: any changed bit; a larger worst error (default); a broken bound", OPTION_TEXT,
         &given.gate},
        {"only", "speed|accuracy", "leave out the other half", OPTION_TEXT, &given.only},
        {"format", "text|markdown|tsv|json|junit|github|smaller", "of standard output", OPTION_TEXT,
         &given.format},
        {"also", "FORMAT=FILE", "write this too; may be given again", OPTION_RAW, &given.also},
        {"json", NULL, "the same as --format json", OPTION_FLAG, &given.json},
        {"seed", "N", "of inputs, order and placement (default: 1)", OPTION_COUNT, &request->seed},
        {"deadline", "S", "seconds until a kernel counts as hung (default: 10)", OPTION_REAL,
         &given.deadline},
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
        fine = read_settings(&given, &duet.settings, error) && run(&duet, &given, error);
    }
    exit_code code = fine ? (help ? EXIT_CODE_FINE : duet_exit_code(&duet)) : error->code;
    duet_free(&duet);
    word_list *lists[] = {&request->kernels, &request->conventions, &request->shapes,
                          &request->inputs,  &request->caches,      &given.also,
                          &operands};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        word_list_free(lists[i]);
    return code;
}
