/* lnbench choose: the kernel to use. */
#include "commands/choose/check.h"
#include "base/allocate.h"
#include "commands/choose/class.h"
#include "commands/choose/measure.h"
#include "commands/choose/show.h"
#include "commands/choose/table.h"
#include "cli/command.h"
#include "domain/convention.h"
#include "base/interrupt.h"
#include "domain/models.h"
#include "plan/plan.h"
#include "base/terminal.h"
#include <math.h>
#include <string.h>
#include <unistd.h>

enum { ROWS_OF_A_SEQUENCE = 512 };

typedef struct choose_options {
    word_list shapes, tokens, conventions, kernels, plugins;
    const char *model, *dtype, *param, *cache, *time_on, *database, *emit, *class;
    output_file printed;
    uint64_t threads, seed;
    choose_budget budget;
    double time, deadline;
    bool explain, fresh, stored, exact, check_dispatch, machines;
} choose_options;

typedef struct choose_request {
    chosen *all;
    size_t count;
    worker_process *worker;
    kernel_list kernels;
    word_list libraries;
    machine_facts machine;
    const char *command_line;
} choose_request;

static bool add_shape(choose_request *choosing, const choose_wanted *common, const char *word,
                      error *err)
{
    choose_wanted wanted = *common;
    char rows[64];
    /* A hidden size alone stands for the rows of one sequence. */
    if (word[0] && strlen(word) < 20 && strspn(word, "0123456789") == strlen(word)) {
        snprintf(rows, sizeof rows, "%dx%s", ROWS_OF_A_SEQUENCE, word);
        word = rows;
    }
    if (!shape_parse(word, &wanted.rows, &wanted.hidden, err))
        return false;
    choosing->all = allocate_room(choosing->all, choosing->count, sizeof *choosing->all);
    choosing->all[choosing->count++] = (chosen){.wanted = wanted};
    return true;
}

static bool add_model_rows(choose_request *choosing, const choose_wanted *common,
                           const model_shape *model, const word_list *tokens, error *err)
{
    char word[96];
    size_t rows[3];
    model_rows(model, rows);
    for (size_t i = 0; tokens->count == 0 && i < 3; i++) {
        snprintf(word, sizeof word, "%zux%zu", rows[i], model->hidden);
        if ((i == 0 || rows[i] != rows[i - 1]) && !add_shape(choosing, common, word, err))
            return false;
    }
    for (size_t i = 0; i < tokens->count; i++) {
        snprintf(word, sizeof word, "%.60sx%zu", tokens->words[i], model->hidden);
        if (strspn(tokens->words[i], "0123456789") != strlen(tokens->words[i]))
            return fail(err, EXIT_CODE_USAGE, "--tokens %.60s: a whole number was expected",
                        tokens->words[i]);
        if (!add_shape(choosing, common, word, err))
            return false;
    }
    return true;
}

/* One convention: the one given, else the model's, else torch. */
static bool set_convention(const choose_options *options, const model_shape *model,
                           choose_wanted *wanted, error *err)
{
    word_list conventions = {0};
    bool fine = split_conventions(&options->conventions, &conventions, err);
    if (fine && conventions.count > 1)
        fine = fail(err, EXIT_CODE_USAGE, "--conventions: one was expected, %zu were given",
                    conventions.count);
    const char *given = conventions.count == 1 ? conventions.words[0]
                        : model                ? model->convention
                                               : "torch";
    fine = fine && convention_parse(given, &wanted->convention, err);
    if (fine)
        convention_label(&wanted->convention, wanted->convention_label);
    word_list_free(&conventions);
    return fine;
}

static bool check_budget(const choose_budget *budget, error *err)
{
    if (budget->proven && isnan(budget->row_ulp))
        return fail(err, EXIT_CODE_USAGE,
                    "--proven: bounds are proven of row ULP: give --max-row-ulp X with it");
    if (!isnan(budget->kappa) && !(budget->kappa >= 1 && budget->kappa <= 1e8))
        return fail(err, EXIT_CODE_USAGE, "--kappa %g: a number from 1 to 1e8 was expected",
                    budget->kappa);
    if (budget->correctly_rounded > 1)
        return fail(err, EXIT_CODE_USAGE,
                    "--correctly-rounded %g: a share from 0 to 1 was expected",
                    budget->correctly_rounded);
    return true;
}

static bool set_common(const choose_options *options, const model_shape *model,
                       choose_wanted *wanted, error *err)
{
    accuracy_class class = options->exact ? CLASS_EXACT : CLASS_ANY;
    if (options->exact && options->class)
        return fail(err, EXIT_CODE_USAGE, "--exact and --class exclude each other");
    if (options->class && !class_from_name(options->class, &class, err))
        return false;
    *wanted = (choose_wanted){.budget = options->budget,
                              .class = class,
                              .every_input = class != CLASS_ANY,
                              .callable = options->emit != NULL,
                              .time_on = options->time_on,
                              .threads = (unsigned)options->threads,
                              .kernels = &options->kernels};
    if (!dtype_from_name(options->dtype, &wanted->dtype))
        return fail(err, EXIT_CODE_USAGE, "--dtypes %.60s: f32, f64, bf16 or f16 was expected",
                    options->dtype);
    wanted->param = options->param ? options->param : dtype_name(wanted->dtype);
    ln_type param;
    if (!dtype_from_name(wanted->param, &param))
        return fail(err, EXIT_CODE_USAGE, "--param %.60s: f32, f64, bf16 or f16 was expected",
                    options->param);
    if (!cache_from_name(options->cache, &wanted->cache))
        return fail(err, EXIT_CODE_USAGE, "--cache %.60s: expected hot, cold, in-place or read",
                    options->cache);
    if (options->threads < 1 || options->threads > 4096)
        return fail(err, EXIT_CODE_USAGE, "--threads %llu: a number from 1 to 4096 was expected",
                    (unsigned long long)options->threads);
    return check_budget(&options->budget, err) && set_convention(options, model, wanted, err);
}

static bool set_wanted(const choose_options *options, choose_request *choosing, error *err)
{
    choose_wanted common;
    const model_shape *model = NULL;
    if (options->model && !(model = model_find(options->model, err)))
        return false;
    if (model && options->shapes.count)
        return fail(err, EXIT_CODE_USAGE,
                    "--shapes and --model exclude each other: a model has its own shapes (--tokens "
                    "changes their rows)");
    if (!model && options->tokens.count)
        return fail(err, EXIT_CODE_USAGE, "--tokens goes with --model; --shapes has its own rows");
    if (!model && options->shapes.count == 0)
        return fail(
            err, EXIT_CODE_USAGE,
            "choose for what? --shapes ROWSxHIDDEN, as in 512x768, or --model NAME (lnbench "
            "list models)");
    if (options->stored && options->fresh)
        return fail(err, EXIT_CODE_USAGE,
                    "--stored and --fresh exclude each other: measure never, or always");
    if (!set_common(options, model, &common, err))
        return false;
    for (size_t i = 0; i < options->shapes.count; i++)
        if (!add_shape(choosing, &common, options->shapes.words[i], err))
            return false;
    return !model || add_model_rows(choosing, &common, model, &options->tokens, err);
}

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
    bool fine = evidence_gather(store, &one->wanted, &choosing->machine, &one->evidence, err);
    if (fine)
        choice_make(&one->wanted, &one->evidence, &one->choice);
    if (fine && one->twice && one->evidence.timed) {
        choose_wanted other = one->wanted;
        other.but_run = one->evidence.run.id;
        fine = evidence_gather(store, &other, &choosing->machine, &one->again, err);
    }
    store_close(store);
    return fine;
}

static size_t find_lacks(const choose_request *choosing, choose_lack *lacks)
{
    size_t count = 0;
    for (size_t i = 0; i < choosing->count; i++) {
        const chosen *one = &choosing->all[i];
        bool timed = one->evidence.timed;
        if (!timed || one->choice.unjudged)
            lacks[count++] = (choose_lack){&one->wanted, !timed, true};
    }
    return count;
}

static bool nothing_stored(const choose_options *options, const choose_request *choosing,
                           error *err)
{
    for (size_t i = 0; i < choosing->count; i++) {
        const chosen *one = &choosing->all[i];
        const kernel_evidence *evidence = &one->evidence;
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
static bool measure(const choose_options *options, choose_request *choosing, error *err)
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
        fprintf(stderr,
                "lnbench: --time %g is short: the fewest repetitions were made, and may have taken "
                "longer\n",
                options->time);
    for (size_t i = 0; fine && count && i < choosing->count; i++) {
        chosen *one = &choosing->all[i];
        if (one->evidence.timed && !one->choice.unjudged)
            continue;
        one->measured = !one->evidence.timed;
        one->wanted.run = one->measured ? run : 0;
        fine = decide(options, choosing, one, err);
        if (fine && !one->evidence.timed)
            fine = fail(err, EXIT_CODE_KERNEL_FAILED,
                        "%zux%zu: no kernel could be timed (run %lld in %.200s says why)",
                        one->wanted.rows, one->wanted.hidden, (long long)run, options->database);
    }
    return fine;
}

static bool print_c(const choose_options *options, const choose_request *choosing, error *err)
{
    text_buffer code = {0};
    bool written = options->machines ? choose_machines(options->database, choosing->all,
                                                       choosing->count, &code, err)
                                     : chosen_emit_c(choosing->all, choosing->count, &code);
    if (written && fputs(code.bytes, stdout) < 0)
        fail(err, EXIT_CODE_ENVIRONMENT, "standard output: cannot write the table");
    text_free(&code); /* nothing was written: no shape has a kernel, which the exit code says */
    return err->code == EXIT_CODE_FINE;
}

static bool show(const choose_options *options, const choose_request *choosing,
                 const output_file *out, error *err)
{
    choose_look look = {.format = out->format,
                        .explain = options->explain,
                        .colour = out->colour,
                        .width = terminal_width(out->file),
                        .no_kappa = isnan(options->budget.kappa)};
    if (options->emit)
        return print_c(options, choosing, err);
    if (out->format != OUTPUT_JSON)
        return chosen_print(choosing->all, choosing->count, &look, stdout) ||
               fail(err, EXIT_CODE_ENVIRONMENT, "standard output: cannot write the table");
    return output_json(out, chosen_json(choosing->all, choosing->count), err);
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
    if (!set_common(&common, NULL, &wanted, err))
        return false;
    wanted.every_input = true;
    wanted.param = NULL;                /* the table has rows for each */
    wanted.kernels = &options->kernels; /* the wanted outlive `common` */
    for (size_t i = 0; i < TABLE_SHAPES; i++) {
        size_t rows, hidden;
        table_shape(&choosing->machine, wanted.dtype, i, &rows, &hidden);
        snprintf(word, sizeof word, "%zux%zu", rows, hidden);
        wanted.cache = table_cache(i);
        if (!add_shape(choosing, &wanted, word, err))
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
    if (fine && fputs(code.bytes, stdout) < 0)
        fine = fail(err, EXIT_CODE_ENVIRONMENT, "standard output: cannot write the table");
    text_free(&code);
    return fine;
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
        return dispatch_check(options->database, options->explain, &options->printed, err);
    if (makes_table(options))
        return make_table(options, choosing, err);
    if (options->machines && !options->emit)
        return fail(err, EXIT_CODE_USAGE, "--machines goes with --emit c");
    if (options->machines)
        return set_wanted(options, choosing, err) && print_c(options, choosing, err);
    bool fine = set_wanted(options, choosing, err) && begin(options, choosing, err);
    for (size_t i = 0; fine && !options->fresh && i < choosing->count; i++)
        fine = decide(options, choosing, &choosing->all[i], err);
    if (fine)
        fine = options->stored ? nothing_stored(options, choosing, err)
                               : measure(options, choosing, err);
    return fine && show(options, choosing, &options->printed, err) && check_met(choosing, err);
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
    {"max-row-ulp", "X", "row ULP at most", OPTION_REAL, offsetof(choose_options, budget.row_ulp)},
    {"max-ulp", "X", "ULP of any element at most", OPTION_REAL,
     offsetof(choose_options, budget.ulp)},
    {"correctly-rounded", "SHARE", "at least this share, 0 to 1", OPTION_REAL,
     offsetof(choose_options, budget.correctly_rounded)},
    {"bits", "B", "at least so many bits right (of the row's largest)", OPTION_REAL,
     offsetof(choose_options, budget.bits)},
    {"kappa", "K", "on rows of kappa up to K (default: normal rows alone)", OPTION_REAL,
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
        "Exit code: 0 fine; 5 nothing meets the budget (the best there is is named); 2 usage;\n"
        "7 files or environment; 130 interrupted.",
    OPTIONS(options),
    DEFAULTS(choose_options, .dtype = "f32", .cache = "hot", .time_on = "normal", .threads = 1,
             .seed = 1, .budget = {NAN, NAN, NAN, NAN, NAN, false}, .time = 60, .deadline = 10),
    .body = choose_body,
};
