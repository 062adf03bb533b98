/* lnbench replay: a stored worst case or failures, or a file of adversarial rows, bit for bit. */
#include "commands/options.h"
#include "show/run_view.h"
#include "base/interrupt.h"
#include "base/output.h"
#include "run/replay.h"
#include "domain/reproducible.h"
#include "worker/worker.h"
#include <math.h>
#include <string.h>

typedef struct replay_options {
    const char *database;
    uint64_t run, id;
    word_list plugins;
    double max_row_ulp, deadline;
    bool failures;
    output_file printed;
} replay_options;

/* What is common to all that is replayed. */
typedef struct replay_state {
    const replay_options *options;
    worker_process *worker;
    kernel_list kernels;
    row_judge *judge;
    uint64_t seed; /* of the judge */
    relation *rows;
    json_t *descriptors; /* of the stored run; NULL: a file is replayed */
    size_t count, reproduced, absent;
    bool failed;      /* a kernel, otherwise than then */
    text_buffer said; /* the verdicts with all their words: too long for a table */
} replay_state;

static void turn_to_seed(replay_state *replayer, uint64_t seed)
{
    judge_settings settings = {.seed = seed,
                               .max_row_ulp = replayer->options->max_row_ulp,
                               .deadline_seconds = replayer->options->deadline};
    if (replayer->judge && replayer->seed == seed)
        return;
    judge_destroy(replayer->judge);
    replayer->judge = judge_create(worker_runner(replayer->worker), &settings);
    replayer->seed = seed;
}

static relation_value as_side(const replay_side *side)
{
    char computed[40], exact[40];
    bool out = !isnan(side->row_ulp) || !isnan(side->exact);
    relation_value verdict =
        as_json(verdict_json(&side->verdict), verdict_phrase(side->verdict.kind));
    snprintf(computed, sizeof computed, "%a", side->computed);
    snprintf(exact, sizeof exact, "%a", side->exact);
    json_t *object = json_pack(
        "{s:o, s:I, s:I, s:o, s:o}", "row_ulp_max", json_figure(side->row_ulp), "row",
        (json_int_t)side->row, "column", (json_int_t)side->column, "computed",
        out ? json_text(computed) : json_null(), "exact", out ? json_text(exact) : json_null());
    json_object_update(verdict.json, object);
    json_decref(object);
    return verdict;
}

static const relation_column columns[] = {
    COLUMN("what", "what"),
    COLUMN("kernel", "kernel"),
    COLUMN("convention", "convention"),
    COLUMN("hidden", "hidden"),
    COLUMN("then", "then"),
    FOR_PEOPLE("row ULP"),
    COLUMN("now", "now"),
    FOR_PEOPLE("row ULP now"),
    COLUMN("bits", "same_bits"),
    FOR_PROGRAMS("same_error"),
    FOR_PROGRAMS("same_verdict"),
    FOR_PROGRAMS("whole"),
    COLUMN("reproduces?", "reproduces"),
    COLUMN("reproducible", "reproducibility"),
    COLUMN("note", "note"),
};

static void add_row(relation *rows, const char *what, const char *kernel, const char *convention,
                    size_t hidden, const char *class, const replay_result *result)
{
    relation_row(rows, as_text(what), as_text(kernel), as_text(convention), as_count(hidden),
                 as_side(&result->then), as_figure(result->then.row_ulp), as_side(&result->now),
                 as_figure(result->now.row_ulp),
                 !result->hashed ? as_text(NULL)
                                 : as_json(json_boolean(result->same_bits),
                                           result->same_bits ? "the same" : "differ"),
                 as_flag(result->same_error), as_flag(result->same_verdict), as_flag(result->whole),
                 as_json(json_boolean(result->reproduces), result->reproduces ? "yes" : "NO"),
                 as_class(class), as_word(result->note));
}

/* One below the other. */
static void say(text_buffer *out, const char *kernel, const char *what, const replay_result *result)
{
    char then[VERDICT_MAX_LENGTH], now[VERDICT_MAX_LENGTH];
    verdict_describe(&result->then.verdict, then, sizeof then);
    verdict_describe(&result->now.verdict, now, sizeof now);
    if (result->then.verdict.detail[0] || result->now.verdict.detail[0])
        text_format(out, "\n%s, %s\n  then  %s\n  now   %s\n", what, kernel, then,
                    strcmp(then, now) == 0 ? "the same words" : now);
}

static void note_result(replay_state *replayer, const kernel_entry *kernel, const char *what,
                        const char *convention, size_t hidden, const replay_result *result)
{
    const char *class = replayer->descriptors
                            ? reproducible_stored(replayer->descriptors, kernel->facts.name)
                            : reproducible_found(&kernel->facts, NULL);
    replayer->count++;
    replayer->reproduced += result->reproduces;
    replayer->absent += result->now.verdict.kind == VERDICT_DECLINED;
    replayer->failed |=
        !result->reproduces && verdict_exit_code(&result->now.verdict) == EXIT_CODE_KERNEL_FAILED;
    add_row(replayer->rows, what, kernel->facts.name, convention, hidden, class, result);
    say(&replayer->said, kernel->facts.name, what, result);
}

static const kernel_entry *kernel_then(replay_state *replayer, const char *name)
{
    error ignored;
    const kernel_entry *kernel = kernel_find(&replayer->kernels, name, &ignored);
    if (!kernel)
        die(EXIT_CODE_NOT_COMPARABLE,
            "kernel %s is not here: if it came from a plugin, name it with --plugin; peers need "
            "LNBENCH_PEERS=1 when lnbench is built",
            name);
    return kernel;
}

/* What could not be replayed at all ends the command. */
static void need(bool replayed, const error *why)
{
    if (!replayed)
        die(why->code, "%s", why->message);
    if (interrupted())
        die(EXIT_CODE_INTERRUPTED, "interrupted");
}

static void replay_file(replay_state *replayer, const char *path)
{
    worst_list list = {0};
    worst_list_read(NULL, path, &list);
    if (list.count == 0)
        die(EXIT_CODE_USAGE, "%s: holds no find", path);
    turn_to_seed(replayer, 1);
    for (size_t i = 0; i < list.count; i++) {
        const worst_row *find = &list.rows[i];
        const kernel_entry *kernel = kernel_then(replayer, find->kernel);
        replay_result result;
        error why;
        char what[64];
        snprintf(what, sizeof what, "find %zu", i + 1);
        need(replay_find(replayer->judge, kernel, find, &result, &why), &why);
        note_result(replayer, kernel, what, find->convention, find->hidden, &result);
    }
    worst_list_free(&list);
}

static bool is_replayable(const stored_case *judged)
{
    return judged->judged && judged->repetition_count == 0 && !is_roof(judged->key.kernel) &&
           verdict_is_judged(judged->verdict.kind);
}

/* The graver of two: a failure before a limit, a wrong class before an error, the larger
 * error. */
static bool graver(const stored_case *a, const stored_case *b)
{
    if (!b)
        return true;
    bool a_fails = verdict_exit_code(&a->verdict) != EXIT_CODE_FINE;
    bool b_fails = verdict_exit_code(&b->verdict) != EXIT_CODE_FINE;
    if (a_fails != b_fails)
        return a_fails;
    bool a_class = a->metrics.mismatches > 0, b_class = b->metrics.mismatches > 0;
    if (a_class != b_class)
        return a_class;
    return a->metrics.row_ulp_max > b->metrics.row_ulp_max;
}

static void replay_stored(replay_state *replayer, result_store *store, const stored_case *judged)
{
    stored_worst worst;
    char what[96];
    replay_result result;
    error why;
    const kernel_entry *kernel = kernel_then(replayer, judged->key.kernel);
    bool has = store_worst(store, judged, &worst);
    snprintf(what, sizeof what, "case %lld: %.60s", (long long)judged->id, judged->key.input);
    need(replay_case(replayer->judge, kernel, judged, has ? &worst : NULL,
                     replayer->options->id > 0, NULL, &result, &why),
         &why);
    note_result(replayer, kernel, what, judged->key.convention, judged->key.hidden, &result);
    stored_worst_free(&worst);
}

/* The one case, the failures of the run, or its gravest case. */
static void replay_cases(replay_state *replayer, result_store *store, const stored_cases *cases)
{
    const replay_options *options = replayer->options;
    const stored_case *gravest = NULL;
    for (size_t i = 0; i < cases->count; i++) {
        const stored_case *judged = &cases->cases[i];
        if (!is_replayable(judged) || (options->id && (int64_t)options->id != judged->id))
            continue;
        if (options->failures && verdict_exit_code(&judged->verdict) != EXIT_CODE_FINE)
            replay_stored(replayer, store, judged);
        else if (!options->failures && graver(judged, gravest))
            gravest = judged;
    }
    if (gravest)
        replay_stored(replayer, store, gravest);
    if (replayer->count == 0 && !options->failures)
        die(EXIT_CODE_USAGE,
            "%s: no judged case: one that was only timed, is unsupported or missing has nothing to "
            "replay",
            options->database);
}

/* --case names its run too. */
static int64_t run_of_case(result_store *store, const replay_options *options)
{
    if (options->id && !options->run)
        return store_run_of_case(store, (int64_t)options->id);
    int64_t run = options->run ? (int64_t)options->run : store_latest_run(store);
    if (run == 0)
        die(EXIT_CODE_ENVIRONMENT, "%s: holds no run yet: lnbench run makes one",
            options->database);
    return run;
}

static void replay_store(replay_state *replayer)
{
    result_store *store = store_open(replayer->options->database, STORE_READ);
    int64_t id = run_of_case(store, replayer->options);
    stored_run run = store_run(store, id);
    replayer->descriptors = store_descriptors(store, id);
    stored_cases cases = store_cases(store, id);
    turn_to_seed(replayer, run.seed);
    replay_cases(replayer, store, &cases);
    stored_cases_free(&cases);
    store_close(store);
}

static void show_results(const replay_state *replayer)
{
    const output_file *printed = &replayer->options->printed;
    relation_print(replayer->rows, printed);
    if (replayer->said.bytes &&
        (printed->format == OUTPUT_TEXT || printed->format == OUTPUT_MARKDOWN))
        output_wrapped(printed, replayer->said.bytes);
    output_line(printed, "\n%zu replayed, %zu the same in bits, error and verdict", replayer->count,
                replayer->reproduced);
}

static exit_code code_of(const replay_state *replayer)
{
    if (replayer->reproduced == replayer->count)
        return EXIT_CODE_FINE;
    if (replayer->failed)
        return EXIT_CODE_KERNEL_FAILED;
    return replayer->absent ? EXIT_CODE_NOT_COMPARABLE : EXIT_CODE_REGRESSION;
}

static exit_code replay(void *context, const cli_call *call)
{
    const replay_options *options = context;
    const char *file = call->operands->count > 0 ? call->operands->words[0] : NULL;
    replay_state replayer = {.options = options, .rows = relation_create(COLUMNS(columns))};
    interrupt_watch();
    if ((file != NULL) + (options->id > 0) + options->failures > 1 || (file && options->run))
        die(EXIT_CODE_USAGE,
            "one of --case, --failures and FILE was expected; --run goes with a store");
    replayer.worker =
        worker_start(options->plugins.words, options->plugins.count, &replayer.kernels);
    if (file)
        replay_file(&replayer, file);
    else
        replay_store(&replayer);
    show_results(&replayer);
    exit_code code = code_of(&replayer);
    text_free(&replayer.said);
    json_decref(replayer.descriptors);
    judge_destroy(replayer.judge);
    worker_stop(replayer.worker);
    kernel_list_free(&replayer.kernels);
    return code;
}

static const cli_option options[] = {
    {"run", "N", "a stored run (default: the latest)", OPTION_COUNT, offsetof(replay_options, run)},
    {"case", "ID", "this case, by its number in tables and in exported TSV", OPTION_COUNT,
     offsetof(replay_options, id)},
    {"failures", NULL, "every case that failed", OPTION_FLAG, offsetof(replay_options, failures)},
    PLUGIN_OPTION(replay_options, plugins),
    {"max-row-ulp", "X", "the limit of the run, where it had one", OPTION_REAL,
     offsetof(replay_options, max_row_ulp)},
    DEADLINE_OPTION(replay_options, deadline, 60),
    STORE_OPTION(replay_options, database),
    OUTPUT_OPTIONS(replay_options, printed),
};

static const former_option former[] = {
    {"from", "give the file itself: lnbench replay FILE"},
    {"find", "lnbench replay FILE replays all finds of a file"},
    {"kernels", "use --case ID (lnbench export --format tsv lists the cases), or --failures"},
    {"conventions", "use --case ID (lnbench export --format tsv lists the cases), or --failures"},
    {"inputs", "use --case ID (lnbench export --format tsv lists the cases), or --failures"},
    {"hidden", "use --case ID (lnbench export --format tsv lists the cases), or --failures"},
    {"all", "use --failures, or --case ID for any other case"},
    {"print", "lnbench hunt writes rows as text"},
    {NULL, NULL},
};

const cli_command command_replay = {
    .name = "replay",
    .brief = "a stored case, failures, or a file of adversarial rows, bit for bit",
    .usage = "[FILE | [--run N] [--case ID | --failures]] [OPTION...]",
    .summary =
        "Runs the gravest case of a stored run again, bit for bit; or one case, all failures, or\n"
        "the adversarial rows of a file (lnbench hunt, reference/worst).",
    .details =
        "A case is made anew from its seed, with all its rows and in every placement; where its "
        "input\nis no longer what it was, its worst row alone, which the store keeps.\n"
        "Exit code: 0 all reproduce (the same bits, error and verdict, whatever the verdict is);\n"
        "1 something came out otherwise; 4 a kernel is not here or cannot run here; 2 usage;\n"
        "7 files or environment; 130 interrupted.",
    OPTIONS(options),
    DEFAULTS(replay_options, .max_row_ulp = INFINITY, .deadline = 60),
    .most_operands = 1,
    .former = former,
    .body = replay,
};
