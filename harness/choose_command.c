/* lnbench choose: the kernel to use. */
#include "choose_class.h"
#include "choose_measure.h"
#include "choose_show.h"
#include "choose_table.h"
#include "command.h"
#include "convention.h"
#include "interrupt.h"
#include "models.h"
#include "plan.h"
#include "terminal.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct choose_options {
    word_list shapes, tokens, conventions, kernels, plugins;
    const char *model, *dtype, *cache, *database, *emit, *class;
    output_request request;
    uint64_t threads, seed;
    choose_budget budget;
    double time, deadline;
    bool explain, fresh, stored;
} choose_options;

typedef struct choosing {
    chosen *all;
    size_t count;
    worker *worker;
    kernel_list kernels;
    word_list libraries;
    machine machine;
    const char *command_line;
} choosing;

static bool add_shape(choosing *choosing, const choose_wanted *common, const char *word,
                      error *error)
{
    choose_wanted wanted = *common;
    if (!shape_parse(word, &wanted.rows, &wanted.hidden, error))
        return false;
    chosen *grown = realloc(choosing->all, (choosing->count + 1) * sizeof *grown);
    if (!grown)
        return fail_memory(error, "the shapes to choose for");
    choosing->all = grown;
    grown[choosing->count++] = (chosen){.wanted = wanted};
    return true;
}

static bool add_model_rows(choosing *choosing, const choose_wanted *common, const model *model,
                           const word_list *tokens, error *error)
{
    char word[96];
    size_t rows[3];
    model_rows(model, rows);
    for (size_t i = 0; tokens->count == 0 && i < 3; i++) {
        snprintf(word, sizeof word, "%zux%zu", rows[i], model->hidden);
        if ((i == 0 || rows[i] != rows[i - 1]) && !add_shape(choosing, common, word, error))
            return false;
    }
    for (size_t i = 0; i < tokens->count; i++) {
        snprintf(word, sizeof word, "%.60sx%zu", tokens->words[i], model->hidden);
        if (strspn(tokens->words[i], "0123456789") != strlen(tokens->words[i]))
            return fail(error, EXIT_CODE_USAGE, "--tokens %.60s: a whole number was expected",
                        tokens->words[i]);
        if (!add_shape(choosing, common, word, error))
            return false;
    }
    return true;
}

/* One convention: the one given, else the model's, else torch. */
static bool set_convention(const choose_options *options, const model *model, choose_wanted *wanted,
                           error *error)
{
    word_list conventions = {0};
    bool fine = split_conventions(&options->conventions, &conventions, error);
    if (fine && conventions.count > 1)
        fine = fail(error, EXIT_CODE_USAGE, "--convention: one was expected, %zu were given",
                    conventions.count);
    const char *given = conventions.count == 1 ? conventions.words[0]
                        : model                ? model->convention
                                               : "torch";
    fine = fine && convention_parse(given, &wanted->convention, error);
    if (fine)
        convention_label(&wanted->convention, wanted->convention_label);
    word_list_free(&conventions);
    return fine;
}

static bool check_budget(const choose_budget *budget, error *error)
{
    if (budget->proven && isnan(budget->row_ulp))
        return fail(error, EXIT_CODE_USAGE,
                    "--proven: bounds are proven of row ULP: give --max-row-ulp X with it");
    if (!isnan(budget->kappa) && !(budget->kappa >= 1 && budget->kappa <= 1e8))
        return fail(error, EXIT_CODE_USAGE, "--kappa %g: a number from 1 to 1e8 was expected",
                    budget->kappa);
    if (budget->correctly_rounded > 1)
        return fail(error, EXIT_CODE_USAGE,
                    "--correctly-rounded %g: a share from 0 to 1 was expected",
                    budget->correctly_rounded);
    return true;
}

static bool set_common(const choose_options *options, const model *model, choose_wanted *wanted,
                       error *error)
{
    accuracy_class class = CLASS_ANY;
    if (options->class && !class_from_name(options->class, &class, error))
        return false;
    *wanted = (choose_wanted){.budget = options->budget,
                              .class = class,
                              .every_input = class != CLASS_ANY,
                              .callable = options->emit != NULL,
                              .threads = (unsigned)options->threads,
                              .kernels = &options->kernels};
    if (!dtype_from_name(options->dtype, &wanted->dtype))
        return fail(error, EXIT_CODE_USAGE, "--dtype %.60s: f32, f64, bf16 or f16 was expected",
                    options->dtype);
    if (!cache_from_name(options->cache, &wanted->cache))
        return fail(error, EXIT_CODE_USAGE, "--cache %.60s: hot, cold or in-place was expected",
                    options->cache);
    if (options->threads < 1 || options->threads > 4096)
        return fail(error, EXIT_CODE_USAGE, "--threads %llu: a number from 1 to 4096 was expected",
                    (unsigned long long)options->threads);
    return seconds_check("deadline", options->deadline, error) &&
           check_budget(&options->budget, error) && set_convention(options, model, wanted, error);
}

static bool set_wanted(const choose_options *options, choosing *choosing, error *error)
{
    choose_wanted common;
    const model *model = NULL;
    if (options->model && !(model = model_find(options->model, error)))
        return false;
    if (!model && options->tokens.count)
        return fail(error, EXIT_CODE_USAGE, "--tokens goes with --model; --shape has its own rows");
    if (!model && options->shapes.count == 0)
        return fail(error, EXIT_CODE_USAGE,
                    "choose for what? --shape ROWSxHIDDEN, as in 512x768, or --model NAME (lnbench "
                    "list models)");
    if (options->stored && options->fresh)
        return fail(error, EXIT_CODE_USAGE,
                    "--stored and --fresh exclude each other: measure never, or always");
    if (!set_common(options, model, &common, error))
        return false;
    for (size_t i = 0; i < options->shapes.count; i++)
        if (!add_shape(choosing, &common, options->shapes.words[i], error))
            return false;
    return !model || add_model_rows(choosing, &common, model, &options->tokens, error);
}

/* Looks at the store and chooses, for one shape. No database is no evidence. */
static bool decide(const choose_options *options, const choosing *choosing, chosen *one,
                   error *error)
{
    store *store;
    evidence_free(&one->evidence);
    choice_free(&one->choice);
    if (access(options->database, F_OK) != 0)
        return true;
    if (!store_open(options->database, STORE_READ, &store, error))
        return false;
    bool fine = evidence_gather(store, &one->wanted, &choosing->machine, &one->evidence, error) &&
                choice_make(&one->wanted, &one->evidence, &one->choice, error);
    store_close(store);
    return fine;
}

static size_t find_lacks(const choosing *choosing, choose_lack *lacks)
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

static bool nothing_stored(const choose_options *options, const choosing *choosing, error *error)
{
    for (size_t i = 0; i < choosing->count; i++) {
        const chosen *one = &choosing->all[i];
        const evidence *evidence = &one->evidence;
        if (!evidence->timed)
            return fail(error, EXIT_CODE_ENVIRONMENT,
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
static bool measure(const choose_options *options, choosing *choosing, error *error)
{
    choose_meter meter = {.database = options->database,
                          .command_line = choosing->command_line,
                          .worker = choosing->worker,
                          .kernels = &choosing->kernels,
                          .machine = &choosing->machine,
                          .seconds = options->time,
                          .deadline = options->deadline,
                          .seed = options->seed};
    choose_lack *lacks = calloc(choosing->count, sizeof *lacks);
    int64_t run;
    bool short_of_time;
    if (!lacks)
        return fail_memory(error, "what to measure");
    size_t count = find_lacks(choosing, lacks);
    bool fine = count == 0 || choose_measure(&meter, lacks, count, &run, &short_of_time, error);
    free(lacks);
    if (!fine && error->code == EXIT_CODE_INTERRUPTED)
        fail(error, EXIT_CODE_INTERRUPTED,
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
        fine = decide(options, choosing, one, error);
        if (fine && !one->evidence.timed)
            fine = fail(error, EXIT_CODE_KERNEL_FAILED,
                        "%zux%zu: no kernel could be timed (run %lld in %.200s says why)",
                        one->wanted.rows, one->wanted.hidden, (long long)run, options->database);
    }
    return fine;
}

static bool print_c(const choosing *choosing, error *error)
{
    text code = {0};
    bool fine = chosen_emit_c(choosing->all, choosing->count, &code);
    if (!fine && code.failed)
        fail_memory(error, "the dispatch table");
    else if (!fine)
        fine = true; /* nothing to write: no shape has a kernel, which the exit code says */
    else
        fine = fputs(code.bytes, stdout) >= 0 ||
               fail(error, EXIT_CODE_ENVIRONMENT, "standard output: cannot write the table");
    text_free(&code);
    return fine;
}

static bool show(const choose_options *options, const choosing *choosing, const output *out,
                 error *error)
{
    choose_look look = {.format = out->format,
                        .explain = options->explain,
                        .colour = out->colour,
                        .width = terminal_width(out->file),
                        .no_kappa = isnan(options->budget.kappa)};
    if (options->emit)
        return print_c(choosing, error);
    if (out->format != OUTPUT_JSON)
        return chosen_print(choosing->all, choosing->count, &look, stdout) ||
               fail(error, EXIT_CODE_ENVIRONMENT, "standard output: cannot write the table");
    return output_json(out, chosen_json(choosing->all, choosing->count), error);
}

/* A budget that nothing meets names the best there is. */
static bool check_met(const choosing *choosing, error *error)
{
    for (size_t i = 0; i < choosing->count; i++) {
        const chosen *one = &choosing->all[i];
        char words[512];
        if (one->choice.best)
            continue;
        chosen_best_there_is(one, words, sizeof words);
        return fail(error, EXIT_CODE_ACCURACY, "%zux%zu: nothing meets the budget: %s",
                    one->wanted.rows, one->wanted.hidden, words);
    }
    return true;
}

/* The object hash of each library that is loaded, for what is stored to be compared with. */
static bool note_libraries(choosing *choosing, error *error)
{
    const kernel_entry *kernels = choosing->kernels.kernels;
    for (size_t i = 0; i < choosing->kernels.count; i++) {
        char hash[20];
        if (i > 0 && kernels[i].plugin == kernels[i - 1].plugin)
            continue;
        snprintf(hash, sizeof hash, "%016llx", (unsigned long long)kernels[i].object_hash);
        if (!word_list_add(&choosing->libraries, hash, error))
            return false;
    }
    for (size_t i = 0; i < choosing->count; i++)
        choosing->all[i].wanted.libraries = &choosing->libraries;
    return true;
}

static bool begin(const choose_options *options, choosing *choosing, error *error)
{
    if (options->database[0] == '\0')
        return fail(error, EXIT_CODE_USAGE, "--db: a file name was expected");
    if (!worker_start(options->plugins.words, options->plugins.count, &choosing->worker,
                      &choosing->kernels, error) ||
        !machine_read(&choosing->machine, error))
        return false;
    return note_libraries(choosing, error);
}

/* ---- the library's own table ---- */

static bool makes_table(const choose_options *options)
{
    return options->emit && options->class && strcmp(options->class, "all") == 0;
}

/* The shapes of one element type, behind those that are there. */
static bool add_table_shapes(const choose_options *options, const char *dtype, choosing *choosing,
                             error *error)
{
    choose_options common = *options;
    choose_wanted wanted;
    char word[64];
    common.class = NULL;
    common.dtype = dtype;
    if (!set_common(&common, NULL, &wanted, error))
        return false;
    wanted.every_input = true;
    wanted.kernels = &options->kernels; /* the wanted outlive `common` */
    for (size_t i = 0; i < TABLE_SHAPES; i++) {
        size_t rows, hidden;
        table_shape(&choosing->machine, wanted.dtype, i, &rows, &hidden);
        snprintf(word, sizeof word, "%zux%zu", rows, hidden);
        if (!add_shape(choosing, &wanted, word, error))
            return false;
    }
    return true;
}

static bool set_table_shapes(const choose_options *options, choosing *choosing, error *error)
{
    word_list dtypes = {0};
    if (options->shapes.count || options->model)
        return fail(error, EXIT_CODE_USAGE,
                    "--class all makes the table of all shapes: no --shape");
    bool fine = word_list_split(&dtypes, options->dtype, error);
    for (size_t i = 0; fine && i < dtypes.count; i++) {
        for (size_t k = 0; fine && k < i; k++)
            if (strcmp(dtypes.words[i], dtypes.words[k]) == 0)
                fine = fail(error, EXIT_CODE_USAGE, "--dtype %.60s: %.10s stands there twice",
                            options->dtype, dtypes.words[i]);
        fine = fine && add_table_shapes(options, dtypes.words[i], choosing, error);
    }
    word_list_free(&dtypes);
    return fine && note_libraries(choosing, error);
}

static bool decide_all(const choose_options *options, choosing *choosing, error *error)
{
    for (size_t i = 0; i < choosing->count; i++)
        if (!decide(options, choosing, &choosing->all[i], error))
            return false;
    return true;
}

/* The eligible ones by name: a glob that asks for more would be a kernel that is not there. */
static bool name_eligible(const kernel_list *eligible, word_list *names, error *error)
{
    for (size_t k = 0; k < eligible->count; k++)
        if (!word_list_add(names, eligible->kernels[k].facts.name, error))
            return false;
    return true;
}

static bool measure_for_table(const choose_options *options, choosing *choosing, table_pass pass,
                              error *error)
{
    kernel_list eligible = {
        .kernels = calloc(choosing->kernels.count, sizeof *eligible.kernels),
    };
    choose_lack lacks[TABLE_SHAPES];
    choose_wanted first;
    word_list names = {0};
    choose_meter meter = {options->database, choosing->command_line, choosing->worker,
                          &eligible,         &choosing->machine,     options->time,
                          options->deadline, options->seed};
    int64_t run;
    bool short_of_time;
    if (!eligible.kernels)
        return fail_memory(error, "what to measure");
    for (size_t k = 0; k < choosing->kernels.count; k++)
        if (table_has(&choosing->all[0], &choosing->kernels.kernels[k], pass))
            eligible.kernels[eligible.count++] = choosing->kernels.kernels[k];
    size_t count = table_lacks(choosing->all, choosing->count, &choosing->kernels, pass, lacks);
    bool fine = eligible.count > 0 || pass == PASS_BARE ||
                fail(error, EXIT_CODE_ACCURACY, "no kernel of this type is of any class");
    if (options->kernels.count || pass == PASS_BARE)
        fine = fine && name_eligible(&eligible, &names, error);
    if (count > 0) { /* the first speaks for all of them */
        first = *lacks[0].wanted;
        if (pass == PASS_BARE && !choose_without_eps(lacks[0].wanted, &first))
            count = 0;
        first.kernels = &names;
        lacks[0].wanted = &first;
    }
    fine =
        fine && (count == 0 || choose_measure(&meter, lacks, count, &run, &short_of_time, error));
    word_list_free(&names);
    free(eligible.kernels);
    return fine && (count == 0 || decide_all(options, choosing, error));
}

/* Of some shape times must be there; its neighbours stand for one that lacks them. */
static bool check_timed(const choose_options *options, const choosing *choosing, error *error)
{
    for (size_t i = 0; i < choosing->count; i++)
        if (choosing->all[i].evidence.timed)
            return true;
    return fail(error, EXIT_CODE_ENVIRONMENT,
                "%.200s: none of the table's shapes was timed on this machine for %s: without "
                "--stored they are measured",
                options->database, dtype_name(choosing->all[0].wanted.dtype));
}

/* What of one element type is lacking: errors first, then times of what is of a class. */
static bool complete_type(const choose_options *options, const choosing *choosing, size_t first,
                          error *error)
{
    struct choosing type = *choosing;
    type.all += first;
    type.count = TABLE_SHAPES;
    bool fine = decide_all(options, &type, error);
    if (fine && !options->stored)
        fine = measure_for_table(options, &type, PASS_ERRORS, error) &&
               measure_for_table(options, &type, PASS_BARE, error) &&
               measure_for_table(options, &type, PASS_TIMES, error);
    return fine && check_timed(options, &type, error);
}

static bool make_table(const choose_options *options, choosing *choosing, error *error)
{
    text code = {0};
    bool fine = begin(options, choosing, error) && set_table_shapes(options, choosing, error);
    for (size_t i = 0; fine && i < choosing->count; i += TABLE_SHAPES)
        fine = complete_type(options, choosing, i, error);
    fine = fine &&
           chosen_emit_table(choosing->all, choosing->count, choosing->command_line, &code, error);
    if (fine && fputs(code.bytes, stdout) < 0)
        fine = fail(error, EXIT_CODE_ENVIRONMENT, "standard output: cannot write the table");
    text_free(&code);
    return fine;
}

static bool choose(const choose_options *options, choosing *choosing, error *error)
{
    output out;
    if (options->emit && strcmp(options->emit, "c") != 0)
        return fail(error, EXIT_CODE_USAGE, "--emit %.60s: c was expected", options->emit);
    if (makes_table(options))
        return make_table(options, choosing, error);
    bool fine = output_choose(&options->request, &out, error) &&
                set_wanted(options, choosing, error) && begin(options, choosing, error);
    for (size_t i = 0; fine && !options->fresh && i < choosing->count; i++)
        fine = decide(options, choosing, &choosing->all[i], error);
    if (fine)
        fine = options->stored ? nothing_stored(options, choosing, error)
                               : measure(options, choosing, error);
    return fine && show(options, choosing, &out, error) && check_met(choosing, error);
}

static void choosing_free(choosing *choosing)
{
    for (size_t i = 0; i < choosing->count; i++) {
        evidence_free(&choosing->all[i].evidence);
        choice_free(&choosing->all[i].choice);
    }
    free(choosing->all);
    worker_stop(choosing->worker);
    kernel_list_free(&choosing->kernels);
    word_list_free(&choosing->libraries);
    machine_free(&choosing->machine);
}

static bool run_choose(const choose_options *options, int argc, char **argv, error *error)
{
    text line = {0};
    choosing choosing = {0};
    text_add(&line, "lnbench");
    for (int i = 0; i < argc; i++)
        text_format(&line, " %s", argv[i]);
    choosing.command_line = line.bytes ? line.bytes : "lnbench choose";
    interrupt_watch();
    bool fine = choose(options, &choosing, error);
    choosing_free(&choosing);
    text_free(&line);
    return fine;
}

exit_code command_choose(int argc, char **argv, error *error)
{
    choose_options choose = {.dtype = "f32",
                             .cache = "hot",
                             .database = "results/lnbench.db",
                             .threads = 1,
                             .seed = 1,
                             .budget = {NAN, NAN, NAN, NAN, NAN, false},
                             .time = 60,
                             .deadline = 10};
    choose_budget *budget = &choose.budget;
    const option options[] = {
        {"shape", "ROWSxHIDDEN,...", "what to choose for", OPTION_LIST, &choose.shapes},
        {"model", "NAME", "a model's shapes and convention (lnbench list models)", OPTION_TEXT,
         &choose.model},
        {"tokens", "T,...", "rows of the model (default: 1, 512 and a training batch)", OPTION_LIST,
         &choose.tokens},
        {"convention", "C", "a preset or list (default: the model's, else torch)", OPTION_RAW,
         &choose.conventions},
        {"dtype", "f32|f64|bf16|f16", "element type (default: f32); a list with --class all",
         OPTION_TEXT, &choose.dtype},
        {"cache", "hot|cold|in-place", "cache state, or y is x (default: hot)", OPTION_TEXT,
         &choose.cache},
        {"threads", "T", "threads of one call (default: 1)", OPTION_COUNT, &choose.threads},
        {"kernels", "GLOB,...", "choose among these", OPTION_LIST, &choose.kernels},
        {"max-row-ulp", "X", "row ULP at most", OPTION_REAL, &budget->row_ulp},
        {"max-ulp", "X", "ULP of any element at most", OPTION_REAL, &budget->ulp},
        {"correctly-rounded", "SHARE", "at least this share, 0 to 1", OPTION_REAL,
         &budget->correctly_rounded},
        {"bits", "B", "at least so many bits right (of the row's largest)", OPTION_REAL,
         &budget->bits},
        {"kappa", "K", "on rows of kappa up to K (default: normal rows alone)", OPTION_REAL,
         &budget->kappa},
        {"proven", NULL, "row ULP: by what is proven, not by what was measured", OPTION_FLAG,
         &budget->proven},
        {"class", "CLASS", "fast, accurate, reproducible; or all, with --emit", OPTION_TEXT,
         &choose.class},
        {"explain", NULL, "the whole table, and why each loser lost", OPTION_FLAG, &choose.explain},
        OUTPUT_OPTIONS(choose.request),
        {"emit", "c", "write a C dispatch table; --class all: the library's own", OPTION_TEXT,
         &choose.emit},
        {"fresh", NULL, "measure, whatever is stored", OPTION_FLAG, &choose.fresh},
        {"stored", NULL, "never measure", OPTION_FLAG, &choose.stored},
        {"time", "S", "seconds to measure in, roughly (default: 60)", OPTION_REAL, &choose.time},
        PLUGIN_OPTION(choose.plugins),
        {"seed", "N", "of inputs and of the order (default: 1)", OPTION_COUNT, &choose.seed},
        DEADLINE_OPTION(choose.deadline, 10),
        {"db", "FILE", "result store (default: results/lnbench.db)", OPTION_TEXT, &choose.database},
    };
    const subcommand subcommand = {
        "choose",
        "--shape ROWSxHIDDEN | --model NAME [OPTION...]",
        "The fastest kernel within an error budget, from what was measured on this machine.",
        "What was not measured is measured first, and stored.\n"
        "Exit code: 0 fine; 5 nothing meets the budget (the best there is is named); 2 usage;\n"
        "7 files or environment; 130 interrupted.",
        options,
        sizeof options / sizeof *options,
        0};
    word_list operands = {0};
    bool help;
    bool fine = options_parse(&subcommand, argc, argv, &operands, &help, error);
    if (fine && help)
        options_help(&subcommand, stdout);
    else if (fine)
        fine = run_choose(&choose, argc, argv, error);
    word_list *lists[] = {&choose.shapes,  &choose.tokens,  &choose.conventions,
                          &choose.kernels, &choose.plugins, &operands};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        word_list_free(lists[i]);
    return fine ? EXIT_CODE_FINE : error->code;
}
