/* lnbench choose: the kernel to use. */
#include "base/allocate.h"
#include "commands/choose/measure.h"
#include "commands/choose/request.h"
#include "commands/result_options.h"
#include "cli/command.h"
#include "base/interrupt.h"
#include "store/choosing.h"
#include <math.h>
#include <string.h>
#include <unistd.h>

static bool is_elsewhere(const choose_options *options)
{
    return options->run || options->machine;
}

/* Looks at the store and chooses, for one shape. No database is no evidence. */
static bool decide(const choose_options *options, const choose_request *choosing, chosen *one,
                   error *err)
{
    result_store *store;
    evidence_free(&one->evidence);
    choice_free(&one->choice);
    if (access(options->database, F_OK) != 0)
        return true;
    if (!store_open(options->database, STORE_READ, &store, err))
        return false;
    choose_wanted wanted = one->wanted;
    word_list names = {0};
    int64_t run = 0;
    bool fine =
        (options->run ? store_run(store, (run = (int64_t)options->run), &(stored_run){0}, err)
                      : store_latest_run(store, &run, err)) &&
        (run == 0 || store_kernel_words(store, run, wanted.kernels, &names, err));
    if (run != 0)
        wanted.kernels = &names;
    fine = fine && evidence_gather(store, &wanted, &choosing->machine, &one->evidence, err);
    if (fine)
        choice_make(&wanted, &one->evidence, &one->choice);
    word_list_free(&names);
    store_close(store);
    return fine;
}

enum { SECONDS_A_SHAPE = 10 };

/* What is not timed, or not judged as the budget asks, is measured whole: one run answers. */
static bool is_lacking(const chosen *one)
{
    return chosen_lacks_times(one) || one->choice.unjudged;
}

static bool nothing_stored(const choose_options *options, const choose_request *choosing,
                           error *err)
{
    for (size_t i = 0; i < choosing->count; i++) {
        const chosen *one = &choosing->all[i];
        const kernel_evidence *evidence = &one->evidence;
        if (!evidence->timed && !is_elsewhere(options) &&
            !kernel_words_check(&choosing->kernels, &options->kernels, err))
            return false;
        if (!evidence->timed)
            return fail(err, EXIT_CODE_ENVIRONMENT,
                        "%.200s: nothing like %zux%zu %s, %s was timed on %s; %s%s",
                        options->database, one->wanted.rows, one->wanted.hidden,
                        dtype_name(one->wanted.dtype), one->wanted.convention_label,
                        is_elsewhere(options) ? "that machine" : "this machine",
                        evidence->unlike[0] ? evidence->unlike : "no run is stored",
                        is_elsewhere(options) ? "" : "; without --stored it is measured");
    }
    return true;
}

/* Measures what is lacking, and decides again. */
static bool measure_missing(const choose_options *options, choose_request *choosing, error *err)
{
    choose_meter meter = {.database = options->database,
                          .command_line = choosing->command_line,
                          .worker = choosing->worker,
                          .kernels = &choosing->kernels,
                          .machine = &choosing->machine,
                          .seconds = options->time,
                          .deadline = options->deadline,
                          .seed = options->seed};
    const choose_wanted **lacking = allocate_zeroed(choosing->count, sizeof *lacking);
    int64_t run;
    bool short_of_time;
    size_t count = 0;
    for (size_t i = 0; i < choosing->count; i++)
        if (is_lacking(&choosing->all[i]))
            lacking[count++] = &choosing->all[i].wanted;
    if (meter.seconds == 0)
        meter.seconds = SECONDS_A_SHAPE * (double)count;
    bool fine = count == 0 || choose_measure(&meter, lacking, count, &run, &short_of_time, err);
    free(lacking);
    if (!fine && err->code == EXIT_CODE_INTERRUPTED)
        fail(err, EXIT_CODE_INTERRUPTED,
             "interrupted: what was measured is kept, and the same command measures what is "
             "lacking");
    if (fine && count && short_of_time && options->time > 0)
        output_note(
            "--time %g is short: the fewest repetitions were made, and may have taken longer",
            meter.seconds);
    for (size_t i = 0; fine && count && i < choosing->count; i++) {
        chosen *one = &choosing->all[i];
        one->measured = is_lacking(one);
        if (!one->measured)
            continue;
        one->wanted.run = run;
        fine = decide(options, choosing, one, err);
        if (fine && !one->evidence.timed)
            fine = fail(err, EXIT_CODE_KERNEL_FAILED,
                        "%zux%zu: no kernel could be timed (run %lld in %.200s says why)",
                        one->wanted.rows, one->wanted.hidden, (long long)run, options->database);
    }
    return fine;
}

static bool show(const choose_options *options, choose_request *choosing, const output_file *out,
                 error *err)
{
    choose_look look = {.explain = options->explain};
    if (out->format != OUTPUT_JSON)
        return chosen_print(choosing->all, choosing->count, &look, out, err) ||
               fail(err, EXIT_CODE_ENVIRONMENT, "standard output: cannot write the table");
    return output_json(out, chosen_json(choosing->all, choosing->count), err);
}

/* What has no result is not slower, nor wrong: no answer without it is fine unasked. Text says it
 * already. */
static bool check_lost(const choose_options *options, const coverage *covered, error *err)
{
    text_buffer words = {0};
    if (covered->lost == 0)
        return true;
    coverage_add_line(&words, covered, "judged");
    const char *line = words.bytes ? words.bytes : "lost kernels";
    bool is_said =
        options->printed.format == OUTPUT_TEXT || options->printed.format == OUTPUT_MARKDOWN;
    if (!options->allow_lost)
        fail(err, EXIT_CODE_ENVIRONMENT,
             "%.700s: --fresh measures again, --allow-lost answers without", line);
    else if (!is_said)
        output_note("%s", line);
    text_free(&words);
    return options->allow_lost;
}

static void cover_all(choose_request *choosing)
{
    for (size_t i = 0; i < choosing->count; i++)
        chosen_cover(&choosing->all[i], &choosing->covered);
}

/* A budget that nothing meets names the best there is. */
static bool check_met(const choose_request *choosing, error *err)
{
    for (size_t i = 0; i < choosing->count; i++) {
        const chosen *one = &choosing->all[i];
        char words[512];
        if (one->choice.best)
            continue;
        chosen_best_there_is(one, words, sizeof words);
        return fail(err, EXIT_CODE_ACCURACY, "%zux%zu: nothing meets the budget: %s",
                    one->wanted.rows, one->wanted.hidden, words);
    }
    return true;
}

/* An answer all the same, but not that the kernel is the fastest. */
static bool check_told(const choose_request *choosing, error *err)
{
    for (size_t i = 0; i < choosing->count; i++) {
        const chosen *one = &choosing->all[i];
        text_buffer words = {0};
        if (one->choice.untold_count < 2)
            continue;
        chosen_add_untold(one, &words);
        fail(err, EXIT_CODE_INCONCLUSIVE, "%zux%zu: %.600s: --fresh --time 300 measures longer",
             one->wanted.rows, one->wanted.hidden, words.bytes ? words.bytes : "");
        text_free(&words);
        return false;
    }
    return true;
}

/* The object hash of each library that is loaded, for what is stored to be compared with. */
static void note_libraries(choose_request *choosing)
{
    const kernel_entry *kernels = choosing->kernels.kernels;
    for (size_t i = 0; i < choosing->kernels.count; i++) {
        char hash[20];
        if (i > 0 && kernels[i].plugin == kernels[i - 1].plugin)
            continue;
        snprintf(hash, sizeof hash, "%016llx", (unsigned long long)kernels[i].object_hash);
        word_list_add(&choosing->libraries, hash);
    }
    for (size_t i = 0; i < choosing->count; i++)
        choosing->all[i].wanted.libraries = &choosing->libraries;
}

/* The machine of another run than those made here: nothing is measured for it. */
static bool read_machine(const choose_options *options, choose_request *choosing, error *err)
{
    result_store *store;
    int64_t run = (int64_t)options->run;
    if (!store_open(options->database, STORE_READ, &store, err))
        return false;
    bool fine = (run ? store_run(store, run, &(stored_run){0}, err)
                     : store_run_on(store, options->machine, &run, err)) &&
                store_machine(store, run, &choosing->machine, err);
    store_close(store);
    for (size_t i = 0; i < choosing->count; i++)
        choosing->all[i].wanted.run = (int64_t)options->run;
    return fine;
}

static bool begin(const choose_options *options, choose_request *choosing, error *err)
{
    if (is_elsewhere(options))
        return read_machine(options, choosing, err);
    machine_read(&choosing->machine);
    if (!worker_start(options->plugins.words, options->plugins.count, &choosing->worker,
                      &choosing->kernels, err))
        return false;
    note_libraries(choosing);
    return true;
}

static bool choose(const choose_options *options, choose_request *choosing, error *err)
{
    bool fine = request_read(options, choosing, err) && begin(options, choosing, err);
    for (size_t i = 0; fine && !options->fresh && i < choosing->count; i++)
        fine = decide(options, choosing, &choosing->all[i], err);
    if (fine)
        fine = options->stored || is_elsewhere(options) ? nothing_stored(options, choosing, err)
                                                        : measure_missing(options, choosing, err);
    if (fine)
        cover_all(choosing);
    return fine && show(options, choosing, &options->printed, err) &&
           check_lost(options, &choosing->covered, err) && check_met(choosing, err) &&
           check_told(choosing, err);
}

static void choosing_free(choose_request *choosing)
{
    for (size_t i = 0; i < choosing->count; i++) {
        evidence_free(&choosing->all[i].evidence);
        choice_free(&choosing->all[i].choice);
    }
    free(choosing->all);
    worker_stop(choosing->worker);
    kernel_list_free(&choosing->kernels);
    word_list_free(&choosing->libraries);
    coverage_free(&choosing->covered);
    machine_free(&choosing->machine);
}

static exit_code choose_body(void *context, const cli_call *call, error *err)
{
    choose_request choosing = {.command_line = call->line};
    interrupt_watch();
    choose(context, &choosing, err);
    choosing_free(&choosing);
    return err->code;
}

static const cli_option options[] = {
    {"shapes", "ROWSxHIDDEN,...", "what to choose for; HIDDEN alone: 512 rows of it", OPTION_LIST,
     offsetof(choose_options, shapes)},
    {"model", "NAME", "a model's shapes and convention (lnbench list models)", OPTION_TEXT,
     offsetof(choose_options, model)},
    {"tokens", "T,...", "rows of the model (default: 1, 512 and a training batch)", OPTION_LIST,
     offsetof(choose_options, tokens)},
    {"conventions", "C", "a preset or list (default: the model's, else torch)", OPTION_RAW,
     offsetof(choose_options, conventions)},
    {"dtypes", "f32|f64|bf16|f16", "element type (default: f32)", OPTION_TEXT,
     offsetof(choose_options, dtype)},
    {"param", "f32|f64|bf16|f16", "type of gamma and beta (default: that of the elements)",
     OPTION_TEXT, offsetof(choose_options, param)},
    CACHE_OPTION("hot|cold|in-place|read", OPTION_TEXT, choose_options, cache),
    TIME_ON_OPTION(choose_options, time_on),
    {"threads", "T", "threads of one call (default: 1)", OPTION_COUNT,
     offsetof(choose_options, threads)},
    {"kernels", "NAME,...", "choose among these: names, labels or globs", OPTION_LIST,
     offsetof(choose_options, kernels)},
    {"max-row-ulp", "X", "row ULP at most (default: 2, where nothing else limits errors)",
     OPTION_REAL, offsetof(choose_options, budget.row_ulp)},
    {"max-ulp", "X", "ULP of any element at most", OPTION_REAL,
     offsetof(choose_options, budget.ulp)},
    {"correctly-rounded", "SHARE", "at least this share, 0 to 1", OPTION_REAL,
     offsetof(choose_options, budget.correctly_rounded)},
    {"bits", "B", "at least so many bits right (of the row's largest)", OPTION_REAL,
     offsetof(choose_options, budget.bits)},
    {"kappa", "K", "on rows of kappa up to K, instead of on every judged row", OPTION_REAL,
     offsetof(choose_options, budget.kappa)},
    {"proven", NULL, "row ULP: by what is proven, not by what was measured", OPTION_FLAG,
     offsetof(choose_options, budget.proven)},
    {"class", "CLASS", "fast, accurate, reproducible, exact", OPTION_TEXT,
     offsetof(choose_options, class)},
    {"exact", NULL, "correctly rounded: the same as --class exact", OPTION_FLAG,
     offsetof(choose_options, exact)},
    {"explain", NULL, "the whole table, and why each loser lost", OPTION_FLAG,
     offsetof(choose_options, explain)},
    OUTPUT_OPTIONS(choose_options, printed),
    {"run", "N", "by this run alone, of whatever machine; nothing is measured", OPTION_COUNT,
     offsetof(choose_options, run)},
    {"machine", "NAME", "by another machine's runs: a part of its CPU's name", OPTION_TEXT,
     offsetof(choose_options, machine)},
    {"fresh", NULL, "measure, whatever is stored", OPTION_FLAG, offsetof(choose_options, fresh)},
    {"stored", NULL, "never measure", OPTION_FLAG, offsetof(choose_options, stored)},
    ALLOW_LOST_OPTION(choose_options, allow_lost),
    {"time", "S", "seconds to measure in, roughly (default: 10 a shape)", OPTION_SECONDS,
     offsetof(choose_options, time)},
    PLUGIN_OPTION(choose_options, plugins),
    {"seed", "N", "of inputs and of the order (default: 1)", OPTION_COUNT,
     offsetof(choose_options, seed)},
    DEADLINE_OPTION(choose_options, deadline, 10),
    STORE_OPTION(choose_options, database),
};

static const former_option former[] = {
    {"emit", "tools/dispatch choices FILE.json..., of choose --json"},
    {"machines", "tools/dispatch choices FILE.json..., one of each choose --run N --json"},
    {"check-dispatch", "tools/dispatch check STORE"},
    {NULL, NULL},
};

const cli_command command_choose = {
    .name = "choose",
    .brief = "the kernel to use for a shape, a model and an error budget",
    .usage = "--shapes ROWSxHIDDEN | --model NAME [OPTION...]",
    .summary = "The fastest kernel within an error budget, from what was measured on this machine.",
    .details =
        "What was not measured is measured first, and stored.\n"
        "A time that was not measured is scaled by bytes from the nearest that was, and marked:\n"
        "~43 us, from 1024 x 1600.\n"
        "Exit code: 0 fine; 5 nothing meets the budget (the best there is is named); 3 speeds too\n"
        "noisy to say which kernel is fastest (the most accurate of these is taken); 2 usage;\n"
        "7 files or environment, or a kernel has no result (--allow-lost); 130 interrupted.",
    OPTIONS(options),
    .former = former,
    DEFAULTS(choose_options, .cache = "hot", .time_on = "normal", .threads = 1, .seed = 1,
             .budget = {NAN, NAN, NAN, NAN, NAN, false}, .deadline = 10),
    .body = choose_body,
};
