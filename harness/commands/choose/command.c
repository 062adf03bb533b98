/* lnbench choose: the kernel to use. */
#include "base/allocate.h"
#include "commands/choose/request.h"
#include "commands/result_options.h"
#include "commands/options.h"
#include "base/interrupt.h"
#include "store/choosing.h"
#include "base/number.h"
#include "base/files.h"
#include "base/text.h"
#include "run/session.h"
#include "commands/choose/choose.h"
#include "worker/worker.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct choose_meter {
    const char *database, *command_line;
    worker_process *worker;
    const kernel_list *kernels;
    const machine_facts *machine;
    double seconds; /* to spend, roughly */
    double deadline;
    uint64_t seed;
} choose_meter;

enum { JUDGED_ROWS = 18 /* two rounds of the kappa sweep, as in every plan */ };

/* Adds "ROWSxHIDDEN", once. */
static void add_shape(word_list *shapes, size_t rows, size_t hidden)
{
    char word[64];
    snprintf(word, sizeof word, "%zux%zu", rows, hidden);
    if (!word_is_in(word, shapes->words, shapes->count))
        word_list_add(shapes, word);
}

static void add_shapes(const choose_wanted *const *lacking, size_t count,
                       const machine_facts *machine, word_list *timed, word_list *judged)
{
    for (size_t i = 0; i < count; i++) {
        const choose_wanted *wanted = lacking[i];
        size_t rows = rows_to_time(wanted->rows, wanted->hidden, wanted->dtype, machine);
        add_shape(timed, rows, wanted->hidden);
        add_shape(judged, JUDGED_ROWS, wanted->hidden);
    }
}

/* Normal rows, and where the budget has a kappa the sweep and rows of just that kappa. */
static void add_inputs(const choose_budget *budget, word_list *inputs)
{
    char number[32], offset[64];
    word_list_add(inputs, "normal");
    if (isnan(budget->kappa))
        return;
    snprintf(offset, sizeof offset, "offset:%s", number_format(budget->kappa, number));
    word_list_add(inputs, "offset");
    word_list_add(inputs, offset);
}

/* The kernels whose parameters are of the type wanted. */
static kernel_list narrow(const choose_wanted *wanted, const kernel_list *kernels)
{
    kernel_list narrowed = {.kernels = allocate_zeroed(kernels->count + 1, sizeof(kernel_entry))};
    for (size_t i = 0; i < kernels->count; i++)
        if (!wanted->param ||
            strcmp(wanted->param, dtype_name(kernels->kernels[i].facts.param)) == 0)
            narrowed.kernels[narrowed.count++] = kernels->kernels[i];
    return narrowed;
}

static bool has_match(const char *glob, const kernel_list *kernels)
{
    for (size_t i = 0; i < kernels->count; i++)
        if (kernel_is_meant(&kernels->kernels[i], glob))
            return true;
    return false;
}

/* The globs but those that match kernels with other parameters alone. */
static bool add_globs(const choose_wanted *wanted, const kernel_list *all,
                      const kernel_list *narrowed, word_list *globs, error *err)
{
    size_t count = wanted->kernels ? wanted->kernels->count : 0;
    for (size_t i = 0; i < count; i++) {
        const char *glob = wanted->kernels->words[i];
        if (has_match(glob, narrowed) || !has_match(glob, all))
            word_list_add(globs, glob);
    }
    return count == 0 || globs->count > 0 ||
           fail(err, EXIT_CODE_USAGE,
                "no kernel of --kernels has %s parameters: choose their type with --param",
                wanted->param);
}

/* The words that plans are made from, in the lists of one request. */
static void make_request(const choose_wanted *wanted, plan_request *request)
{
    char threads[16];
    snprintf(threads, sizeof threads, "%u", wanted->threads);
    word_list_add(&request->conventions, wanted->convention_label);
    word_list_add(&request->dtypes, dtype_name(wanted->dtype));
    word_list_add(&request->caches, cache_name(wanted->cache));
    word_list_add(&request->threads, threads);
    if (!wanted->every_row && wanted->class == CLASS_ANY)
        add_inputs(&wanted->budget, &request->inputs);
}

static void request_free(plan_request *request)
{
    word_list *lists[] = {&request->kernels, &request->conventions, &request->dtypes,
                          &request->shapes,  &request->inputs,      &request->caches,
                          &request->threads};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        word_list_free(lists[i]);
}

/* The plan with the most repetitions that fit into the time. */
static bool plan_within(const choose_meter *meter, const kernel_list *kernels,
                        plan_request *request, double seconds, case_plan *plan, bool *short_of_time)
{
    static const struct {
        unsigned processes, repetitions;
    } steps[] = {{9, 5}, {7, 5}, {5, 5}, {5, 3}, {3, 3}, {3, 2}};
    enum { STEPS = sizeof steps / sizeof *steps };
    for (size_t i = 0; i < STEPS; i++) {
        request->processes = steps[i].processes;
        request->repetitions = steps[i].repetitions;
        plan_make(request, kernels, meter->machine, plan);
        bool fits = session_plan_seconds(plan) <= seconds;
        if (fits || i + 1 == STEPS) {
            *short_of_time = !fits;
            return true;
        }
        plan_free(plan);
    }
    return false;
}

/* What is to be timed, and what is to be judged. */
typedef struct measure_plans {
    case_plan speed, accuracy;
    kernel_list kernels; /* that the plans choose from */
} measure_plans;

static bool make_plans(const choose_meter *meter, const choose_wanted *const *lacking, size_t count,
                       measure_plans *plans, bool *short_of_time, error *err)
{
    plan_request request = {.name = "default", .seed = meter->seed};
    word_list timed = {0}, judged = {0};
    const choose_wanted *first = lacking[0];
    kernel_list *narrowed = &plans->kernels;
    *narrowed = narrow(first, meter->kernels);
    bool fine = add_globs(first, meter->kernels, narrowed, &request.kernels, err);
    make_request(first, &request);
    add_shapes(lacking, count, meter->machine, &timed, &judged);
    request.only = "accuracy";
    request.shapes = judged;
    if (fine)
        plan_make(&request, narrowed, meter->machine, &plans->accuracy);
    request.only = "speed";
    request.time_on = first->time_on;
    request.shapes = timed;
    fine = fine && plan_within(meter, narrowed, &request,
                               meter->seconds - session_plan_seconds(&plans->accuracy),
                               &plans->speed, short_of_time);
    request.shapes = (word_list){0};
    word_list_free(&timed);
    word_list_free(&judged);
    request_free(&request);
    return fine;
}

/* One run, two plans: the session turns from the one to the other. */
static bool run_both(run_session *session, const measure_plans *plans, const choose_meter *meter,
                     error *err)
{
    session->plan = plans->speed;
    run_info info = {
        .command_line = meter->command_line,
        .plan = "choose",
        .plan_hash = session->plan.hash,
        .seed = meter->seed,
        .machine = meter->machine,
        .command = "choose",
        .request_hash = session->plan.request_hash,
    };
    if (!store_begin_run(session->store, &info, &session->run, err) ||
        !session_store_kernels(session, err) || !session_ask(session, &plans->speed, err) ||
        !session_ask(session, &plans->accuracy, err))
        return false;
    progress_begin(&session->progress,
                   session_plan_seconds(&plans->speed) + session_plan_seconds(&plans->accuracy));
    session->plan = plans->accuracy;
    bool fine = session_accuracy(session, err);
    session->plan = plans->speed;
    fine = fine && session_speed(session, err);
    progress_end(&session->progress);
    struct error ending = {0};
    bool ended = store_end_run(session->store, session->run, fine ? RUN_COMPLETE : RUN_INTERRUPTED,
                               fine ? err : &ending);
    return fine && ended;
}

/* A new run in the database with times and errors of what is lacking; all of it has the same budget,
 * convention and so on. *run: its number, set once it is begun. *short_of_time: not even the fewest
 * repetitions fit into the seconds; they were made all the same. Interrupted (130): what was measured is
 * kept. */
static bool choose_measure(const choose_meter *meter, const choose_wanted *const *lacking,
                           size_t count, int64_t *run, bool *short_of_time, error *err)
{
    measure_plans plans = {0};
    judge_settings settings = {
        .seed = meter->seed, .max_row_ulp = INFINITY, .deadline_seconds = meter->deadline};
    run_session session = {.worker = meter->worker,
                           .machine = *meter->machine,
                           .cpu = session_last_cpu(),
                           .deadline_seconds = meter->deadline};
    *short_of_time = false;
    bool fine = make_plans(meter, lacking, count, &plans, short_of_time, err);
    if (fine && !(session.judge = judge_create(worker_runner(meter->worker), &settings)))
        fine = fail_memory(err, "the judge");
    fine = fine && make_parent_directory(meter->database, err) &&
           store_open(meter->database, STORE_WRITE, &session.store, err);
    fine = fine && run_both(&session, &plans, meter, err);
    *run = session.run;
    store_close(session.store);
    judge_destroy(session.judge);
    word_list_free(&session.timeouts);
    plan_free(&plans.speed);
    plan_free(&plans.accuracy);
    free(plans.kernels.kernels);
    return fine;
}

static bool is_elsewhere(const choose_options *options)
{
    return options->run || options->machine;
}

/* Looks at the store and chooses, for one shape. No database is no evidence. */
static bool decide_shape(const choose_options *options, const choose_request *choosing, chosen *one,
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
        fine = decide_shape(options, choosing, one, err);
        if (fine && !one->evidence.timed)
            fine = fail(err, EXIT_CODE_KERNEL_FAILED,
                        "%zux%zu: no kernel could be timed (run %lld in %.200s says why)",
                        one->wanted.rows, one->wanted.hidden, (long long)run, options->database);
    }
    return fine;
}

static bool show_choices(const choose_options *options, choose_request *choosing,
                         const output_file *out, error *err)
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
    if (!options->allow_missing)
        fail(err, EXIT_CODE_ENVIRONMENT,
             "%.700s: --fresh measures again, --allow-missing answers without", line);
    else if (!is_said)
        output_note("%s", line);
    text_free(&words);
    return options->allow_missing;
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

static bool begin_choosing(const choose_options *options, choose_request *choosing, error *err)
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
    bool fine = request_read(options, choosing, err) && begin_choosing(options, choosing, err);
    for (size_t i = 0; fine && !options->fresh && i < choosing->count; i++)
        fine = decide_shape(options, choosing, &choosing->all[i], err);
    if (fine)
        fine = options->stored || is_elsewhere(options) ? nothing_stored(options, choosing, err)
                                                        : measure_missing(options, choosing, err);
    if (fine)
        cover_all(choosing);
    return fine && show_choices(options, choosing, &options->printed, err) &&
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
    {"model", "NAME", "a model of lnbench list models, or a config.json", OPTION_TEXT,
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
    ALLOW_LOST_OPTION(choose_options, allow_missing),
    {"time", "S", "seconds to measure in, roughly (default: 10 a shape)", OPTION_SECONDS,
     offsetof(choose_options, time)},
    PLUGIN_OPTION(choose_options, plugins),
    {"seed", "N", "of inputs and of the order (default: 1)", OPTION_COUNT,
     offsetof(choose_options, seed)},
    DEADLINE_OPTION(choose_options, deadline, 10),
    STORE_OPTION(choose_options, database),
};

static const former_option former[] = {
    {"allow-lost", "use --allow-missing"},
    {"emit", "call ln_layernorm_kernel() with the name that choose prints"},
    {"machines", "call ln_layernorm_kernel() with the name that choose prints on each machine"},
    {"check-dispatch", "use tools/dispatch check STORE"},
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
        "7 files or environment, or a kernel has no result (--allow-missing); 130 interrupted.",
    OPTIONS(options),
    .former = former,
    DEFAULTS(choose_options, .cache = "hot", .time_on = "normal", .threads = 1, .seed = 1,
             .budget = {NAN, NAN, NAN, NAN, NAN, false}, .deadline = 10),
    .body = choose_body,
};
