/* lnbench choose: recommends a kernel for a shape. It measures the shapes as `lnbench run --shapes` would, into a run
 * of the store, and queries only that run (store/recommended.sql), so that earlier measurements do not change the
 * answer. With --stored it queries the latest run that timed the shape. answer_names lists the kernels that an answer
 * may name. */
#include "base/text.h"
#include "base/program.h"
#include "commands/run.h"
#include "domain/operation.h"
#include "inputs/inputs.h"
#include <math.h>
#include <unistd.h>

typedef struct choose_options {
    run_settings run;
    word_list tokens;
    const char *model, *dtype, *cache;
    uint64_t threads;
    double max_row_ulp, kappa; /* NaN: not given */
    bool proven, stored;
    output_file printed;
} choose_options;

/* The role of a kernel in the answer: its name in tables, and the beginning of its sentence. */
enum { RECOMMENDED, MOST_ACCURATE, PROVEN, TUNED, FASTEST, ANSWERS };
static const char *const answer_names[ANSWERS][2] = {
    {"recommended", "Recommended"},
    {"most accurate", "None is recommended; most accurate"},
    {"proven", "Proven"},
    {"tuned", "Faster, though no call dispatches to it"},
    {"fastest", "Fastest at any error"},
};

/* The answer for one shape. */
typedef struct choice {
    recommend_request wanted;
    stored_run run;
    machine_facts machine;
    standing_list standings;
    kernel_ranking ranking;
    const ranked_kernel *answers[ANSWERS]; /* NULL: no kernel has this role */
    const ranked_kernel *named; /* the recommended one, else the most accurate callable one */
    bool noisy;                 /* another kernel may be faster than the recommended one */
} choice;

typedef struct choosing {
    choose_options *options;
    const model_shape *model; /* NULL: shapes were given on the command line */
    choice *choices;          /* one for each shape */
    size_t count;
    result_store *store;
    arena memory;
    size_t missing; /* cases of the runs without a result */
} choosing;

/* ---- the request ---- */

/* Adds the shapes of the model: with the given numbers of tokens, or else with one token and with a prompt. */
static void add_model_shapes(const choosing *all, word_list *shapes)
{
    const word_list *tokens = &all->options->tokens;
    const size_t hidden = all->model->hidden;
    const size_t prompt = all->model->tokens < MODEL_PROMPT ? all->model->tokens : MODEL_PROMPT;
    char word[96];
    for (size_t i = 0; i < (tokens->count ? tokens->count : 2); i++) {
        if (tokens->count)
            snprintf(word, sizeof word, "%.60sx%zu", tokens->words[i], hidden);
        else
            snprintf(word, sizeof word, "%zux%zu", i == 0 ? 1 : prompt, hidden);
        word_list_add(shapes, word);
    }
}

/* Reads the one convention: the given one, else the model's, else torch. */
static void read_convention(const choosing *all, case_key *at)
{
    word_list *given = &all->options->run.request.conventions, conventions = {0};
    split_conventions(given, NULL, &conventions);
    if (conventions.count > 1)
        die(EXIT_CODE_USAGE, "choose takes one convention, not %zu", conventions.count);
    const char *word = conventions.count ? conventions.words[0]
                       : all->model      ? all->model->convention
                                         : "torch";
    const ln_convention convention = convention_for(word, at->dtype);
    if (all->model) {
        const ln_convention own = convention_named(all->model->convention);
        if (own.operation != convention.operation)
            die(EXIT_CODE_USAGE,
                "--conventions %s is for %s, but %s uses %s (%s): see lnbench list conventions "
                "--operation %s",
                word, operation_name(convention.operation), all->model->name,
                operation_name(own.operation), all->model->convention,
                operation_name(own.operation));
    }
    at->operation = convention.operation;
    convention_label(&convention, at->convention);
    *given = (word_list){0};
    word_list_add(given, at->convention);
}

/* Reads the settings that all shapes share: budget, types, cache state, threads and convention. */
static recommend_request read_budget(const choosing *all)
{
    choose_options *options = all->options;
    plan_request *request = &options->run.request;
    recommend_request wanted = {.budget = isnan(options->max_row_ulp) ? STANDING_ROW_ULP
                                                                      : options->max_row_ulp,
                                .kappa = options->kappa,
                                .proven = options->proven,
                                .kernels = &request->kernels};
    case_key *at = &wanted.at;
    const char *type = options->dtype                ? options->dtype
                       : all->model && model_dtype() ? model_dtype()
                                                     : "f32";
    char threads[16], offset[64];
    at->dtype = (ln_type)word_chosen("dtypes", type, WORDS(dtype_names));
    if (request->param)
        word_chosen("param", request->param, WORDS(dtype_names));
    at->cache = (cache_state)word_chosen("cache", options->cache, WORDS(cache_names));
    if (options->threads < 1 || options->threads > 4096)
        die(EXIT_CODE_USAGE, "invalid --threads %llu: choose a number from 1 to 4096",
            (unsigned long long)options->threads);
    read_convention(all, at);
    if (!isnan(wanted.kappa) && at->operation != LN_OPERATION_LAYERNORM)
        die(EXIT_CODE_USAGE, "--kappa is for LayerNorm: %s subtracts no mean",
            operations[at->operation]->title);
    if (!isnan(wanted.kappa) && !(wanted.kappa >= 1 && wanted.kappa <= 1e8))
        die(EXIT_CODE_USAGE, "invalid --kappa %g: choose a number from 1 to 1e8", wanted.kappa);
    if (!isnan(wanted.kappa)) {
        snprintf(offset, sizeof offset, "offset:%g", wanted.kappa);
        input_check_type(offset, at->dtype);
    }
    wanted.param = request->param ? request->param : dtype_name(at->dtype);
    request->param = wanted.param;
    at->threads = (unsigned)options->threads;
    text_copy(at->input, sizeof at->input, request->time_on);
    snprintf(threads, sizeof threads, "%u", at->threads);
    word_list_add(&request->dtypes, dtype_name(at->dtype));
    word_list_add(&request->caches, options->cache);
    word_list_add(&request->threads, threads);
    return wanted;
}

/* Reads the request as one query for each shape. An invalid request ends the program before anything is measured. */
static void read_request(choosing *all)
{
    const choose_options *options = all->options;
    word_list *shapes = &all->options->run.request.shapes;
    if (options->model)
        all->model = model_find(options->model);
    if (all->model && shapes->count)
        die(EXIT_CODE_USAGE,
            "--shapes and --model exclude each other: a model has its own shapes (--tokens changes "
            "their rows)");
    if (!all->model && options->tokens.count)
        die(EXIT_CODE_USAGE, "--tokens goes with --model; --shapes has its own rows");
    if (!all->model && shapes->count == 0)
        die(EXIT_CODE_USAGE,
            "choose needs --shapes ROWSxHIDDEN, as in 512x768, or --model NAME (lnbench list "
            "models)");
    if (all->model)
        add_model_shapes(all, shapes);
    const recommend_request wanted = read_budget(all);
    all->choices = arena_new(&all->memory, choice, shapes->count);
    all->count = shapes->count;
    for (size_t i = 0; i < shapes->count; i++) {
        case_key *at = &all->choices[i].wanted.at;
        all->choices[i].wanted = wanted;
        shape_parse(shapes->words[i], &at->rows, &at->hidden);
    }
}

/* ---- the evidence ---- */

/* Measures all shapes into one run and returns its number. */
static int64_t measure(choosing *all, const char *command_line)
{
    const run_settings *settings = &all->options->run;
    kernel_list kernels = {0};
    run_session session = {0};
    run_prepare(&session, settings, &kernels);
    snprintf(session.plan.name, sizeof session.plan.name, "choose");
    bool finished = run_measure(&session, settings, &kernels, "choose", command_line);
    const stored_run run = store_run(session.store, session.run);
    run_end(&session, &kernels);
    if (!finished)
        die(EXIT_CODE_INTERRUPTED, "interrupted: what was measured is kept");
    char hint[64];
    snprintf(hint, sizeof hint, "lnbench report --run %lld says more ", (long long)run.id);
    run_check_missing(settings, run.counts.missing, session.gave_up, hint);
    return run.id;
}

/* Returns the latest stored run that timed the shape; ends the program if there is none. */
static int64_t find_stored(const choosing *all, const choice *own)
{
    machine_facts machine;
    char key[MACHINE_KEY_LENGTH];
    const case_key *at = &own->wanted.at;
    int64_t run = 0;
    machine_read(&machine);
    if (all->store)
        run = store_timed_run(all->store, &own->wanted, machine_key(&machine, key));
    machine_free(&machine);
    if (run == 0)
        die(EXIT_CODE_ENVIRONMENT,
            "%.200s: no run timed %zux%zu %s, %s, %s, %u thread%s%s: leave out --stored to "
            "measure it",
            all->options->run.database, at->rows, at->hidden, dtype_name(at->dtype), at->convention,
            cache_phrase(at->cache), at->threads, plural(at->threads),
            own->wanted.kernels->count ? ", of these kernels" : "");
    return run;
}

/* Chooses the kernels to show: also a proven one if the recommended is not, and the fastest if it cannot be
 * recommended. */
static void list_answers(choice *own)
{
    const kernel_ranking *ranking = &own->ranking;
    const ranked_kernel *call = ranking->recommended, *fastest = ranking->fastest,
                        **of = own->answers;
    of[RECOMMENDED] = call;
    for (size_t i = 0; i < ranking->count; i++) {
        const ranked_kernel *other = &ranking->kernels[i];
        own->noisy |= other->sooner_than_best;
        if (!call && other->callable && other->case_id && !isnan(other->error) &&
            (!of[MOST_ACCURATE] || other->error < of[MOST_ACCURATE]->error))
            of[MOST_ACCURATE] = other;
    }
    own->named = call ? call : of[MOST_ACCURATE];
    if (call && !call->proven)
        of[PROVEN] = ranking->proven;
    of[TUNED] = ranking->tuned;
    if (fastest && fastest != own->named && fastest != ranking->tuned && !fastest->near &&
        !(call && fastest->within && !fastest->doubt[0]))
        of[FASTEST] = fastest;
}

/* Measures or finds the stored run of each shape, and queries it for the kernels to show. */
static void gather(choosing *all, const char *command_line)
{
    const char *database = all->options->run.database;
    const int64_t measured = all->options->stored ? 0 : measure(all, command_line);
    if (access(database, F_OK) == 0)
        all->store = store_open(database, STORE_READ);
    for (size_t i = 0; i < all->count; i++) {
        choice *own = &all->choices[i];
        const int64_t run = measured ? measured : find_stored(all, own);
        own->wanted.run = run;
        own->run = store_run(all->store, run);
        own->machine = store_machine(all->store, run);
        own->standings = store_standings(all->store, run);
        own->ranking = store_recommend(all->store, &own->wanted);
        if (i == 0 || run != all->choices[i - 1].run.id)
            all->missing += own->run.counts.missing + (own->run.state != RUN_COMPLETE);
        list_answers(own);
    }
}

/* ---- the answer ---- */

/* Writes in a few words why a kernel is not recommended. */
static const char *objection(const choice *own, const ranked_kernel *kernel,
                             char words[OBJECTION_WORDS])
{
    char number[ERROR_WORDS];
    const double budget = own->wanted.budget;
    const ln_type type = own->wanted.at.dtype;
    const kernel_standing *standing = standing_of(&own->standings, kernel->kernel, type);
    const error_sum *all = &standing->errors[SCOPE_ALL];
    if (kernel->within)
        snprintf(words, OBJECTION_WORDS, "%s",
                 kernel->doubt[0] ? kernel->doubt : "no library call dispatches to it");
    else if (kernel->in_budget && !kernel->other_param)
        snprintf(words, OBJECTION_WORDS, "has no proven bound within %g row ULP", budget);
    else if (all->wrong + all->limited > 0 && isnan(own->wanted.kappa))
        standing_objection(standing, NULL, words);
    else if (kernel->error < dtype_no_digit(type))
        snprintf(words, OBJECTION_WORDS, "has errors up to %s row ULP%s, and %g is allowed",
                 error_in_words(kernel->error, type, NULL, number),
                 isnan(own->wanted.kappa) ? "" : " on rows of this kappa", budget);
    else
        snprintf(words, OBJECTION_WORDS, "has no correct digit on some rows");
    return words;
}

/* Adds one line for each kernel, such as "Recommended: library_fast_f32 (retry_folded_f32_avx512): 4.21 us [4.18,
 * 4.25], at most 0.6 row ULP on 48 cases". A line after the recommended kernel names the others that may be as fast;
 * the last line warns of noise. */
static void add_answer(const choice *own, text_buffer *out)
{
    char times[3][16], faster[SPEEDUP_WORDS], words[ERROR_WORDS], why[OBJECTION_WORDS];
    const ln_type type = own->wanted.at.dtype;
    const ranked_kernel *named = own->named;
    for (size_t i = 0; i < ANSWERS; i++) {
        const ranked_kernel *kernel = own->answers[i];
        size_t others = 0;
        if (!kernel)
            continue;
        clean_format(out, FORM_LINE, kernel->dispatched[0] ? "%s: %s (%s)" : "%s: %s",
                     answer_names[i][1], kernel->kernel, kernel->dispatched);
        if (i != FASTEST)
            text_format(out, ": %s us [%s, %s], ", number_short(kernel->time_ns / 1e3, times[0]),
                        number_short(kernel->time_lo_ns / 1e3, times[1]),
                        number_short(kernel->time_hi_ns / 1e3, times[2]));
        if (i != FASTEST && !(kernel->error < dtype_no_digit(type)))
            clean_format(out, FORM_LINE, "%s", objection(own, kernel, why));
        else if (i != FASTEST)
            text_format(out, "at most %s row ULP on %zu case%s",
                        error_in_words(kernel->error, type, NULL, words), kernel->judged,
                        plural(kernel->judged));
        if (i != FASTEST && kernel->proven)
            text_format(out, ", proven to be within %g but for edge cases and conformance tests%s",
                        PROVEN(own->wanted.budget),
                        isnan(own->wanted.kappa) ? "" : " on rows of this kappa");
        else if (i != FASTEST)
            text_add(out, ", measured, not proven");
        if (i >= TUNED && named)
            text_format(out, ": %s", answer_speedup_words(kernel, named, faster));
        if (i == FASTEST)
            clean_format(out, FORM_LINE, "; %s", objection(own, kernel, why));
        text_add(out, "\n");
        if (i == RECOMMENDED && own->noisy)
            text_add(out, "Too noisy to say which is fastest: it has the smallest error, and ");
        for (size_t k = 0; i == RECOMMENDED && k < own->ranking.count; k++) {
            const ranked_kernel *other = &own->ranking.kernels[k];
            if (!other->recommended && other->near)
                clean_format(out, FORM_LINE, "%s%s", others++ ? ", " : "", other->kernel);
        }
        if (i == RECOMMENDED && own->noisy)
            text_add(out, " may be as fast.\n");
        else if (others > 0)
            text_add(out, ": no significant difference in speed, and no smaller error.\n");
    }
    const double of_ratio =
        named ? (named->copy_ratio_hi - named->copy_ratio_lo) / 2 / named->copy_ratio : 0;
    if (named && fmax(answer_spread(named), of_ratio) > SPEED_NOISY)
        text_format(out,
                    "! Noisy: %s varies by %.0f %% in us or %% of copy; see lnbench doctor, or try "
                    "run --processes 15, then choose --stored.\n",
                    named->kernel, 100 * fmax(answer_spread(named), of_ratio));
}

/* Prints each answer under its shape. A line names the run once, after all answers that share it. */
static void print_text(const choosing *all, const output_file *out)
{
    for (size_t i = 0; i < all->count; i++) {
        const choice *own = &all->choices[i];
        const case_key *at = &own->wanted.at;
        text_buffer words = {0};
        bool typed = all->options->dtype || (all->model && model_dtype());
        output_text(out, "%s", i > 0 ? "\n" : "");
        output_line(out, "%s%s%zu x %zu %s%s, %s, %s, %u thread%s",
                    all->model ? all->model->name : "", all->model ? ": " : "", at->rows,
                    at->hidden, dtype_name(at->dtype),
                    all->model && !typed ? " (--dtypes bf16 for bf16)" : "", at->convention,
                    cache_phrase(at->cache), at->threads, plural(at->threads));
        add_answer(own, &words);
        output_wrapped(out, words.bytes ? words.bytes : "");
        text_free(&words);
        if (i + 1 == all->count || own->run.id != all->choices[i + 1].run.id)
            output_line(out, "measured %s%s on %s: run %lld in %s",
                        all->options->stored ? "at " : "now",
                        all->options->stored ? own->run.started : "",
                        machine_fact_value(&own->machine, "cpu_model"), (long long)own->run.id,
                        all->options->run.database);
    }
}

/* Prints a table with one row for each answer. */
static void print_rows(const choosing *all, const output_file *out)
{
    static const relation_column columns[] = {
        COLUMN("answer", "answer"),         COLUMN("rows", "rows"),
        COLUMN("hidden", "hidden"),         COLUMN("dtype", "dtype"),
        COLUMN("convention", "convention"), COLUMN("cache", "cache"),
        COLUMN("threads", "threads"),       COLUMN("kernel", "kernel"),
        COLUMN("dispatched", "dispatched"), COLUMN("time_ns", "time_ns"),
        COLUMN("time_lo_ns", "time_lo_ns"), COLUMN("time_hi_ns", "time_hi_ns"),
        COLUMN("speedup", "speedup"),       COLUMN("row_ulp", "row_ulp"),
        COLUMN("judged", "judged"),         COLUMN("proven", "proven"),
        COLUMN("reason", "reason"),         COLUMN("run", "run"),
        COLUMN("measured", "measured"),     COLUMN("cpu_model", "cpu_model"),
    };
    relation *rows = relation_create(COLUMNS(columns));
    for (size_t i = 0; i < all->count * ANSWERS; i++) {
        const choice *own = &all->choices[i / ANSWERS];
        const size_t answer = i % ANSWERS;
        const ranked_kernel *kernel = own->answers[answer];
        const case_key *at = &own->wanted.at;
        const bool is_fit = answer == RECOMMENDED || answer == PROVEN;
        char words[OBJECTION_WORDS];
        if (!kernel)
            continue;
        relation_row(rows, as_text(answer_names[answer][0]), as_count(at->rows),
                     as_count(at->hidden), as_text(dtype_name(at->dtype)), as_text(at->convention),
                     as_text(cache_name(at->cache)), as_count(at->threads), as_text(kernel->kernel),
                     as_word(kernel->dispatched), as_figure(kernel->time_ns),
                     as_figure(kernel->time_lo_ns), as_figure(kernel->time_hi_ns),
                     as_figure(own->named ? answer_speedup(kernel, own->named) : NAN),
                     as_figure(kernel->error), as_count(kernel->judged), as_flag(kernel->proven),
                     as_word(is_fit ? "" : objection(own, kernel, words)),
                     as_count((unsigned long long)own->run.id), as_text(own->run.started),
                     as_text(machine_fact_value(&own->machine, "cpu_model")));
    }
    relation_print(rows, out);
}

/* Ends the program with an error, after the answer was printed, if an answer is missing, incomplete or too noisy. */
static void check(const choosing *all)
{
    char words[OBJECTION_WORDS];
    if (all->options->stored && all->missing > 0 && !all->options->run.allow_missing)
        die(EXIT_CODE_ENVIRONMENT,
            "the run was interrupted, or cases of it have no result (lnbench report names them; "
            "--allow-missing accepts that)");
    for (size_t i = 0; i < all->count; i++) {
        const choice *own = &all->choices[i];
        const case_key *at = &own->wanted.at;
        if (!own->ranking.recommended)
            die(EXIT_CODE_ACCURACY,
                "%zux%zu: no kernel meets the budget; the most accurate, %s, %s", at->rows,
                at->hidden, own->named ? own->named->kernel : "none",
                own->named ? objection(own, own->named, words) : "no call was judged and timed");
    }
    for (size_t i = 0; i < all->count; i++)
        if (all->choices[i].noisy)
            die(EXIT_CODE_INCONCLUSIVE, "%zux%zu: too noisy to say which kernel is fastest",
                all->choices[i].wanted.at.rows, all->choices[i].wanted.at.hidden);
}

static exit_code choose(void *context, const cli_call *call)
{
    choosing all = {.options = context};
    interrupt_watch();
    read_request(&all);
    gather(&all, call->line);
    if (all.options->printed.format == OUTPUT_TEXT)
        print_text(&all, &all.options->printed);
    else
        print_rows(&all, &all.options->printed);
    store_close(all.store);
    check(&all);
    for (size_t i = 0; i < all.count; i++) {
        machine_free(&all.choices[i].machine);
        free(all.choices[i].standings.standings);
        free(all.choices[i].ranking.kernels);
    }
    arena_free(&all.memory);
    return EXIT_CODE_FINE;
}

static const cli_option options[] = {
    {"shapes", "ROWSxHIDDEN,...", "shapes to choose for", OPTION_LIST,
     offsetof(choose_options, run.request.shapes)},
    {"model", "NAME", "the shapes of a model (lnbench list models) or of a config.json",
     OPTION_TEXT, offsetof(choose_options, model)},
    {"tokens", "T,...", "with --model: numbers of rows (default: 1 and 512)", OPTION_LIST,
     offsetof(choose_options, tokens)},
    {"max-row-ulp", "X", "error budget in row ULP (default: 2)", OPTION_REAL,
     offsetof(choose_options, max_row_ulp)},
    {"proven", NULL, "the proven bound must be within the budget, not only the errors", OPTION_FLAG,
     offsetof(choose_options, proven)},
    {"kappa", "K", "apply the budget only to normal and offset rows with kappa up to K",
     OPTION_REAL, offsetof(choose_options, kappa)},
    {"stored", NULL, "answer from stored runs and measure nothing", OPTION_FLAG,
     offsetof(choose_options, stored)},
    {"conventions", "C", "preset or list (default: the model's, else torch)", OPTION_RAW,
     offsetof(choose_options, run.request.conventions)},
    {"dtypes", "f32|f64|bf16|f16", "element type (default: that of a config.json, else f32)",
     OPTION_TEXT, offsetof(choose_options, dtype)},
    {"param", "f32|f64|bf16|f16", "type of gamma and beta (default: that of the elements)",
     OPTION_TEXT, offsetof(choose_options, run.request.param)},
    {"kernels", "NAME,...", "choose among these names, labels or globs", OPTION_LIST,
     offsetof(choose_options, run.request.kernels)},
    CACHE_OPTION("hot|cold|in-place|read", OPTION_TEXT, choose_options, cache),
    TIME_ON_OPTION(choose_options, run.request.time_on),
    {"threads", "T", "threads of one call (default: 1)", OPTION_COUNT,
     offsetof(choose_options, threads)},
    PLUGIN_OPTION(choose_options, run.plugins),
    DEADLINE_OPTION(choose_options, run.deadline, 10),
    ALLOW_MISSING_OPTION(choose_options, run.allow_missing),
    STORE_OPTION(choose_options, run.database),
    OUTPUT_OPTIONS(choose_options, printed),
};

const cli_command command_choose = {
    .name = "choose",
    .brief = "find the kernel to use for a shape or a model and an error budget",
    .usage = "--shapes ROWSxHIDDEN | --model NAME [OPTION...]",
    .example = "choose --shapes 512x4096 --dtypes bf16",
    .summary = "Names the fastest library call, or kernel of a plugin, within an error budget.",
    .details =
        "Measures the shapes as lnbench run --shapes does, with fewer conformance tests and one\n"
        "convention (20 to 30 s a shape), and stores the run. The answer names the recommended\n"
        "call and, in brackets, the kernel behind it. If that call is not proven, the fastest\n"
        "proven call follows. `Fastest at any error` names the fastest kernel and says why it is\n"
        "not recommended. --stored answers from the latest run that timed the shape, and says\n"
        "when and on which machine that was.\n"
        "Exit code 0: fine; 2: usage; 3: noise: time and speed relative to the copy disagree\n"
        "beyond their intervals (the most accurate candidate is recommended); 5: no kernel is\n"
        "within the budget (the most accurate is named); 6: a kernel hung too often; 7: a file or\n"
        "the environment failed, or a case has no result; 130: interrupted.",
    OPTIONS(options),
    DEFAULTS(choose_options,
             .run = {.request = {.name = "quick",
                                 .seed = 1,
                                 .time_on = "normal",
                                 .processes = 5,
                                 .repetitions = 2,
                                 .conformance = true,
                                 .few_checks = true},
                     .max_row_ulp = INFINITY,
                     .deadline = 10},
             .cache = "hot", .threads = 1, .max_row_ulp = NAN, .kappa = NAN),
    .body = choose,
};
