/* lnbench choose: the kernel to use. */
#include "commands/choose/check.h"
#include "base/allocate.h"
#include "commands/choose/measure.h"
#include "commands/choose/request.h"
#include "commands/choose/table.h"
#include "commands/result_options.h"
#include "cli/command.h"
#include "base/interrupt.h"
#include <math.h>
#include <string.h>
#include <unistd.h>

/* Looks at the store and chooses, for one shape. No database is no evidence. */
static bool decide(const choose_options *options, const choose_request *choosing, chosen *one,
                   error *err)
{
    result_store *store;
    evidence_free(&one->evidence);
    evidence_free(&one->again);
    choice_free(&one->choice);
    if (access(options->database, F_OK) != 0)
        return true;
    if (!store_open(options->database, STORE_READ, &store, err))
        return false;
    choose_wanted wanted = one->wanted;
    word_list names = {0};
    int64_t run = 0;
    bool fine = store_latest_run(store, &run, err) &&
                (run == 0 || store_kernel_words(store, run, wanted.kernels, &names, err));
    if (run != 0)
        wanted.kernels = &names;
    fine = fine && evidence_gather(store, &wanted, &choosing->machine, &one->evidence, err);
    if (fine)
        choice_make(&wanted, &one->evidence, &one->choice);
    if (fine && one->twice && one->evidence.timed) {
        choose_wanted other = wanted;
        other.but_run = one->evidence.run.id;
        fine = evidence_gather(store, &other, &choosing->machine, &one->again, err);
    }
    word_list_free(&names);
    store_close(store);
    return fine;
}

static size_t find_lacks(const choose_request *choosing, choose_lack *lacks)
{
    size_t count = 0;
    for (size_t i = 0; i < choosing->count; i++) {
        const chosen *one = &choosing->all[i];
        bool untimed = chosen_lacks_times(one);
        if (untimed || one->choice.unjudged)
            lacks[count++] = (choose_lack){&one->wanted, untimed, true};
    }
    return count;
}

static bool nothing_stored(const choose_options *options, const choose_request *choosing,
                           error *err)
{
    for (size_t i = 0; i < choosing->count; i++) {
        const chosen *one = &choosing->all[i];
        const kernel_evidence *evidence = &one->evidence;
        if (!evidence->timed && !kernel_words_check(&choosing->kernels, &options->kernels, err))
            return false;
        if (!evidence->timed)
            return fail(err, EXIT_CODE_ENVIRONMENT,
                        "%.200s: nothing like %zux%zu %s, %s was timed on this machine (%zu run%s "
                        "of it, %zu of others): without --stored it is measured",
                        options->database, one->wanted.rows, one->wanted.hidden,
                        dtype_name(one->wanted.dtype), one->wanted.convention_label,
                        evidence->runs_here, evidence->runs_here == 1 ? "" : "s",
                        evidence->runs_elsewhere);
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
    choose_lack *lacks = allocate_zeroed(choosing->count, sizeof *lacks);
    int64_t run;
    bool short_of_time;
    size_t count = find_lacks(choosing, lacks);
    bool fine = count == 0 || choose_measure(&meter, lacks, count, &run, &short_of_time, err);
    free(lacks);
    if (!fine && err->code == EXIT_CODE_INTERRUPTED)
        fail(err, EXIT_CODE_INTERRUPTED,
             "interrupted: what was measured is kept, and the same command measures what is "
             "lacking");
    if (fine && count && short_of_time)
        output_note(
            "--time %g is short: the fewest repetitions were made, and may have taken longer",
            options->time);
    for (size_t i = 0; fine && count && i < choosing->count; i++) {
        chosen *one = &choosing->all[i];
        one->measured = chosen_lacks_times(one);
        if (!one->measured && !one->choice.unjudged)
            continue;
        one->wanted.run = one->measured ? run : 0;
        fine = decide(options, choosing, one, err);
        if (fine && !one->evidence.timed)
            fine = fail(err, EXIT_CODE_KERNEL_FAILED,
                        "%zux%zu: no kernel could be timed (run %lld in %.200s says why)",
                        one->wanted.rows, one->wanted.hidden, (long long)run, options->database);
    }
    return fine;
}

static bool print_c(const choose_options *options, choose_request *choosing, error *err)
{
    text_buffer code = {0};
    bool written = options->machines
                       ? choose_machines(options->database, choosing->all, choosing->count, &code,
                                         &choosing->covered, err)
                       : chosen_emit_c(choosing->all, choosing->count, &code);
    if (written && fputs(code.bytes, options->printed.file) < 0)
        fail(err, EXIT_CODE_ENVIRONMENT, "standard output: cannot write the table");
    text_free(&code); /* nothing was written: no shape has a kernel, which the exit code says */
    return err->code == EXIT_CODE_FINE;
}

static bool show(const choose_options *options, choose_request *choosing, const output_file *out,
                 error *err)
{
    choose_look look = {.explain = options->explain};
    if (options->emit)
        return print_c(options, choosing, err);
    if (out->format != OUTPUT_JSON)
        return chosen_print(choosing->all, choosing->count, &look, out) ||
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
    bool is_said = !options->emit && (options->printed.format == OUTPUT_TEXT ||
                                      options->printed.format == OUTPUT_MARKDOWN);
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

static bool begin(const choose_options *options, choose_request *choosing, error *err)
{
    machine_read(&choosing->machine);
    if (!worker_start(options->plugins.words, options->plugins.count, &choosing->worker,
                      &choosing->kernels, err))
        return false;
    note_libraries(choosing);
    return true;
}

/* ---- the library's own table ---- */

static bool makes_table(const choose_options *options)
{
    return options->emit && options->class && strcmp(options->class, "all") == 0;
}

/* The shapes of one element type, behind those that are there. */
static bool add_table_shapes(const choose_options *options, const char *dtype,
                             choose_request *choosing, error *err)
{
    choose_options common = *options;
    choose_wanted wanted;
    char word[64];
    common.class = NULL;
    common.dtype = dtype;
    if (!request_common(&common, NULL, &wanted, err))
        return false;
    wanted.every_input = true;
    wanted.every_row = false; /* classes say how wrong a kernel may be */
    wanted.budget.row_ulp = NAN;
    wanted.param = NULL;                /* the table has rows for each */
    wanted.kernels = &options->kernels; /* the wanted outlive `common` */
    for (size_t i = 0; i < TABLE_SHAPES; i++) {
        size_t rows, hidden;
        table_shape(&choosing->machine, wanted.dtype, i, &rows, &hidden);
        snprintf(word, sizeof word, "%zux%zu", rows, hidden);
        wanted.cache = table_cache(i);
        if (!request_add_shape(choosing, &wanted, word, err))
            return false;
        choosing->all[choosing->count - 1].twice = i % TABLE_REGIMES == REGIME_DRAM;
    }
    return true;
}

static bool set_table_shapes(const choose_options *options, choose_request *choosing, error *err)
{
    word_list dtypes = {0};
    if (options->shapes.count || options->model)
        return fail(err, EXIT_CODE_USAGE, "--class all makes the table of all shapes: no --shape");
    bool fine = word_list_split(&dtypes, options->dtype, err);
    for (size_t i = 0; fine && i < dtypes.count; i++) {
        for (size_t k = 0; fine && k < i; k++)
            if (strcmp(dtypes.words[i], dtypes.words[k]) == 0)
                fine = fail(err, EXIT_CODE_USAGE, "--dtypes %.60s: %.10s stands there twice",
                            options->dtype, dtypes.words[i]);
        fine = fine && add_table_shapes(options, dtypes.words[i], choosing, err);
    }
    word_list_free(&dtypes);
    note_libraries(choosing);
    return fine;
}

static bool decide_all(const choose_options *options, choose_request *choosing, error *err)
{
    for (size_t i = 0; i < choosing->count; i++)
        if (!decide(options, choosing, &choosing->all[i], err))
            return false;
    return true;
}

static bool measure_for_table(const choose_options *options, choose_request *choosing,
                              table_pass pass, error *err)
{
    kernel_list eligible = {
        .kernels = allocate_zeroed(choosing->kernels.count, sizeof *eligible.kernels),
    };
    choose_lack lacks[TABLE_SHAPES];
    word_list names = {0};
    choose_meter meter = {options->database, choosing->command_line, choosing->worker,
                          &eligible,         &choosing->machine,     options->time,
                          options->deadline, options->seed};
    for (size_t k = 0; k < choosing->kernels.count; k++)
        if (table_has(&choosing->all[0], &choosing->kernels.kernels[k], pass))
            eligible.kernels[eligible.count++] = choosing->kernels.kernels[k];
    size_t count = table_lacks(choosing->all, choosing->count, &choosing->kernels, pass, lacks);
    bool fine = eligible.count > 0 || pass == PASS_BARE ||
                fail(err, EXIT_CODE_ACCURACY, "no kernel of this type is of any class");
    /* By name: a glob that asks for more would be a kernel that is not there. */
    if (options->kernels.count || pass == PASS_BARE)
        for (size_t k = 0; k < eligible.count; k++)
            word_list_add(&names, eligible.kernels[k].facts.name);
    fine = fine && table_measure(&meter, lacks, count, &names, pass, err);
    word_list_free(&names);
    free(eligible.kernels);
    return fine && (count == 0 || decide_all(options, choosing, err));
}

/* Of some shape times must be there; its neighbours stand for one that lacks them. */
static bool check_timed(const choose_options *options, const choose_request *choosing, error *err)
{
    for (size_t i = 0; i < choosing->count; i++)
        if (choosing->all[i].evidence.timed)
            return true;
    return fail(err, EXIT_CODE_ENVIRONMENT,
                "%.200s: none of the table's shapes was timed on this machine for %s: without "
                "--stored they are measured",
                options->database, dtype_name(choosing->all[0].wanted.dtype));
}

/* What of one element type is lacking: errors first, then times of what is of a class. */
static bool complete_type(const choose_options *options, const choose_request *choosing,
                          size_t first, error *err)
{
    struct choose_request type = *choosing;
    type.all += first;
    type.count = TABLE_SHAPES;
    bool fine = decide_all(options, &type, err);
    if (fine && !options->stored)
        fine = measure_for_table(options, &type, PASS_ERRORS, err) &&
               measure_for_table(options, &type, PASS_BARE, err) &&
               measure_for_table(options, &type, PASS_TIMES, err) &&
               measure_for_table(options, &type, PASS_AGAIN, err);
    return fine && check_timed(options, &type, err);
}

static bool make_table(const choose_options *options, choose_request *choosing, error *err)
{
    text_buffer code = {0};
    bool fine = begin(options, choosing, err) && set_table_shapes(options, choosing, err);
    for (size_t i = 0; fine && i < choosing->count; i += TABLE_SHAPES)
        fine = complete_type(options, choosing, i, err);
    fine = fine &&
           chosen_emit_table(choosing->all, choosing->count, choosing->command_line, &code, err);
    if (fine && fputs(code.bytes, options->printed.file) < 0)
        fine = fail(err, EXIT_CODE_ENVIRONMENT, "standard output: cannot write the table");
    text_free(&code);
    cover_all(choosing);
    return fine && check_lost(options, &choosing->covered, err);
}

static bool choose(const choose_options *options, choose_request *choosing, error *err)
{
    if (options->emit && strcmp(options->emit, "c") != 0)
        return fail(err, EXIT_CODE_USAGE, "--emit %.60s: c was expected", options->emit);
    if (options->check_dispatch && (options->shapes.count || options->model || options->class))
        return fail(err, EXIT_CODE_USAGE,
                    "--check-dispatch takes the shapes and classes of the latest run: none of its "
                    "own");
    if (options->check_dispatch)
        return dispatch_check(options->database, options->explain, options->allow_lost,
                              &options->printed, err);
    if (makes_table(options))
        return make_table(options, choosing, err);
    if (options->machines && !options->emit)
        return fail(err, EXIT_CODE_USAGE, "--machines goes with --emit c");
    if (options->machines)
        return request_read(options, choosing, err) && print_c(options, choosing, err) &&
               check_lost(options, &choosing->covered, err);
    bool fine = request_read(options, choosing, err) && begin(options, choosing, err);
    for (size_t i = 0; fine && !options->fresh && i < choosing->count; i++)
        fine = decide(options, choosing, &choosing->all[i], err);
    if (fine)
        fine = options->stored ? nothing_stored(options, choosing, err)
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
        evidence_free(&choosing->all[i].again);
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
    {"dtypes", "f32|f64|bf16|f16", "element type (default: f32); a list with --class all",
     OPTION_TEXT, offsetof(choose_options, dtype)},
    {"param", "f32|f64|bf16|f16", "type of gamma and beta (default: that of the elements)",
     OPTION_TEXT, offsetof(choose_options, param)},
    CACHE_OPTION("hot|cold|in-place|read", OPTION_TEXT, choose_options, cache),
    TIME_ON_OPTION(choose_options, time_on),
    {"threads", "T", "threads of one call (default: 1)", OPTION_COUNT,
     offsetof(choose_options, threads)},
    {"kernels", "GLOB,...", "choose among these", OPTION_LIST, offsetof(choose_options, kernels)},
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
    {"class", "CLASS", "fast, accurate, reproducible, exact; or all, with --emit", OPTION_TEXT,
     offsetof(choose_options, class)},
    {"exact", NULL, "correctly rounded: the same as --class exact", OPTION_FLAG,
     offsetof(choose_options, exact)},
    {"explain", NULL, "the whole table, and why each loser lost", OPTION_FLAG,
     offsetof(choose_options, explain)},
    OUTPUT_OPTIONS(choose_options, printed),
    {"emit", "c", "write a C dispatch table; --class all: the library's own", OPTION_TEXT,
     offsetof(choose_options, emit)},
    {"machines", NULL, "with --emit c: of each machine of the store, by CPU family", OPTION_FLAG,
     offsetof(choose_options, machines)},
    {"check-dispatch", NULL, "of the latest run: is ln_layernorm() as fast as its class allows?",
     OPTION_FLAG, offsetof(choose_options, check_dispatch)},
    {"fresh", NULL, "measure, whatever is stored", OPTION_FLAG, offsetof(choose_options, fresh)},
    {"stored", NULL, "never measure", OPTION_FLAG, offsetof(choose_options, stored)},
    ALLOW_LOST_OPTION(choose_options, allow_lost),
    {"time", "S", "seconds to measure in, roughly (default: 60)", OPTION_SECONDS,
     offsetof(choose_options, time)},
    PLUGIN_OPTION(choose_options, plugins),
    {"seed", "N", "of inputs and of the order (default: 1)", OPTION_COUNT,
     offsetof(choose_options, seed)},
    DEADLINE_OPTION(choose_options, deadline, 10),
    STORE_OPTION(choose_options, database),
};

const cli_command command_choose = {
    .name = "choose",
    .brief = "the kernel to use for a shape, a model and an error budget",
    .usage = "--shapes ROWSxHIDDEN | --model NAME | --check-dispatch [OPTION...]",
    .summary = "The fastest kernel within an error budget, from what was measured on this machine.",
    .details =
        "What was not measured is measured first, and stored. With --check-dispatch nothing is: "
        "it\n"
        "says where ln_layernorm() took longer than the fastest kernel of its class by more than\n"
        "1.1 at the interval's lower end (exit code 1), or that nothing could be compared (3).\n"
        "A time that was not measured is scaled by bytes from the nearest that was, and marked:\n"
        "~43 us, from 1024 x 1600.\n"
        "Exit code: 0 fine; 5 nothing meets the budget (the best there is is named); 3 speeds too\n"
        "noisy to say which kernel is fastest (the most accurate of these is taken); 2 usage;\n"
        "7 files or environment, or a kernel has no result (--allow-lost); 130 interrupted.",
    OPTIONS(options),
    DEFAULTS(choose_options, .dtype = "f32", .cache = "hot", .time_on = "normal", .threads = 1,
             .seed = 1, .budget = {NAN, NAN, NAN, NAN, NAN, false}, .time = 60, .deadline = 10),
    .body = choose_body,
};
