/* lnbench replay: a stored worst case or failures, or a file of adversarial rows, bit for bit. */
#include "commands/options.h"
#include "commands/replay.h"
#include "show/run_view.h"
#include "base/program.h"
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
    replayer own;
    relation *rows;
    json_t *descriptors; /* of the stored run; NULL: a file is replayed */
    size_t count, reproduced, absent;
    bool failed;      /* a kernel, otherwise than then */
    text_buffer said; /* the verdicts with all their words: too long for a table */
} replay_state;

static relation_value as_side(const replay_side *side)
{
    const ln_metrics *metrics = &side->metrics;
    char computed[40], exact[40];
    bool out = !isnan(metrics->row_ulp_max) || !isnan(metrics->worst_exact);
    relation_value verdict =
        as_json(verdict_json(&side->verdict), verdict_phrase(side->verdict.kind));
    snprintf(computed, sizeof computed, "%a", metrics->worst_computed);
    snprintf(exact, sizeof exact, "%a", metrics->worst_exact);
    json_t *object = json_pack(
        "{s:o, s:I, s:I, s:o, s:o}", "row_ulp_max", json_figure(metrics->row_ulp_max), "row",
        (json_int_t)metrics->worst_row, "column", (json_int_t)metrics->worst_column, "computed",
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

relation *replayed_relation(void)
{
    return relation_create(COLUMNS(columns));
}

void replayed_row(relation *rows, const char *what, const char *kernel, const char *convention,
                  size_t hidden, const char *class, const replay_result *result)
{
    relation_row(rows, as_text(what), as_text(kernel), as_text(convention), as_count(hidden),
                 as_side(&result->then), as_figure(result->then.metrics.row_ulp_max),
                 as_side(&result->now), as_figure(result->now.metrics.row_ulp_max),
                 !result->hashed ? as_text(NULL)
                                 : as_json(json_boolean(result->same_bits),
                                           result->same_bits ? "the same" : "differ"),
                 as_flag(result->same_error), as_flag(result->same_verdict), as_flag(result->whole),
                 as_json(json_boolean(result->reproduces), result->reproduces ? "yes" : "NO"),
                 as_class(class), as_word(result->note));
}

/* The verdicts with all their words, one below the other. */
static void note_result(replay_state *state, const kernel_entry *kernel, const char *what,
                        const char *convention, size_t hidden, const replay_result *result)
{
    char then[VERDICT_MAX_LENGTH], now[VERDICT_MAX_LENGTH];
    const char *name = kernel->facts.name;
    state->count++;
    state->reproduced += result->reproduces;
    state->absent += result->now.verdict.kind == VERDICT_DECLINED;
    state->failed |=
        !result->reproduces && verdict_exit_code(&result->now.verdict) == EXIT_CODE_KERNEL_FAILED;
    replayed_row(state->rows, what, name, convention, hidden,
                 state->descriptors ? reproducible_stored(state->descriptors, name)
                                    : reproducible_found(&kernel->facts, NULL),
                 result);
    verdict_describe(&result->then.verdict, then, sizeof then);
    verdict_describe(&result->now.verdict, now, sizeof now);
    if (result->then.verdict.detail[0] || result->now.verdict.detail[0])
        text_format(&state->said, "\n%s, %s\n  then  %s\n  now   %s\n", what, name, then,
                    strcmp(then, now) == 0 ? "the same words" : now);
}

static void create_judge(replay_state *state, uint64_t seed)
{
    judge_settings settings = {.seed = seed,
                               .max_row_ulp = state->options->max_row_ulp,
                               .deadline_seconds = state->options->deadline};
    state->own.judge = judge_create(worker_runner(state->worker), &settings);
}

static const kernel_entry *kernel_then(replay_state *state, const char *name)
{
    error ignored;
    const kernel_entry *kernel = kernel_find(&state->kernels, name, &ignored);
    if (!kernel)
        die(EXIT_CODE_NOT_COMPARABLE, KERNEL_IS_MISSING, name);
    return kernel;
}

/* What could not be replayed at all ends the command. */
static void need(bool replayed, const char *what, const replay_result *result)
{
    if (!replayed)
        die(EXIT_CODE_NOT_COMPARABLE, "%s: %s", what, result->note);
    if (interrupted())
        die(EXIT_CODE_INTERRUPTED, "interrupted");
}

static void replay_file(replay_state *state, const char *path)
{
    worst_list list = {0};
    worst_list_read(path, &list);
    if (list.count == 0)
        die(EXIT_CODE_USAGE, "%s: holds no find", path);
    create_judge(state, 1);
    for (size_t i = 0; i < list.count; i++) {
        const worst_row *find = &list.rows[i];
        const kernel_entry *kernel = kernel_then(state, find->kernel);
        replay_result result;
        char what[64];
        snprintf(what, sizeof what, "find %zu", i + 1);
        need(replay_find(state->own.judge, kernel, find, &result), what, &result);
        note_result(state, kernel, what, find->convention, find->hidden, &result);
    }
    worst_list_free(&list);
}

/* Of two cases: a failure before a limit, a wrong class before an error, the larger error. */
static bool graver(const stored_case *a, const stored_case *b)
{
    if (!b)
        return true;
    int by = (verdict_exit_code(&a->verdict) != EXIT_CODE_FINE) -
             (verdict_exit_code(&b->verdict) != EXIT_CODE_FINE);
    if (by == 0)
        by = (a->metrics.mismatches > 0) - (b->metrics.mismatches > 0);
    return by ? by > 0 : a->metrics.row_ulp_max > b->metrics.row_ulp_max;
}

static void replay_stored(replay_state *state, result_store *store, const stored_case *judged)
{
    stored_worst worst;
    char what[96];
    replay_result result;
    const kernel_entry *kernel = kernel_then(state, judged->key.kernel);
    bool has = store_worst(store, judged, &worst);
    snprintf(what, sizeof what, "case %lld: %.60s", (long long)judged->id, judged->key.input);
    need(replay_case(&state->own, kernel, judged, has ? &worst : NULL, state->options->id > 0,
                     &result),
         what, &result);
    note_result(state, kernel, what, judged->key.convention, judged->key.hidden, &result);
    stored_worst_free(&worst);
}

/* The one case, which names its run too; the failures of the run, or its gravest case. */
static void replay_store(replay_state *state)
{
    const replay_options *options = state->options;
    result_store *store = store_open(options->database, STORE_READ);
    const int64_t id = options->run  ? (int64_t)options->run
                       : options->id ? store_run_of_case(store, (int64_t)options->id)
                                     : store_latest_run(store);
    if (id == 0)
        die(EXIT_CODE_ENVIRONMENT, "%s: holds no run yet: lnbench run makes one",
            options->database);
    const stored_run run = store_run(store, id);
    state->descriptors = store_descriptors(store, id);
    stored_cases cases = store_cases(store, id);
    const stored_case *gravest = NULL;
    create_judge(state, run.seed);
    for (size_t i = 0; i < cases.count; i++) {
        const stored_case *judged = &cases.cases[i];
        if (!judged->judged || judged->repetition_count > 0 || is_roof(judged->key.kernel) ||
            !verdict_is_judged(judged->verdict.kind) ||
            (options->id && (int64_t)options->id != judged->id))
            continue;
        if (!options->failures && graver(judged, gravest))
            gravest = judged;
        if (options->failures && verdict_exit_code(&judged->verdict) != EXIT_CODE_FINE)
            replay_stored(state, store, judged);
    }
    if (gravest)
        replay_stored(state, store, gravest);
    else if (!options->failures)
        die(EXIT_CODE_USAGE,
            "%s: no judged case: one that was only timed, is unsupported or missing has nothing to "
            "replay",
            options->database);
    stored_cases_free(&cases);
    store_close(store);
}

static exit_code replay(void *context, const cli_call *call)
{
    const replay_options *options = context;
    const output_file *out = &options->printed;
    const char *file = call->operands->count > 0 ? call->operands->words[0] : NULL;
    replay_state state = {.options = options, .rows = replayed_relation()};
    interrupt_watch();
    if ((file != NULL) + (options->id > 0) + options->failures > 1 || (file && options->run))
        die(EXIT_CODE_USAGE,
            "one of --case, --failures and FILE was expected; --run goes with a store");
    state.worker = worker_start(options->plugins.words, options->plugins.count, &state.kernels);
    if (file)
        replay_file(&state, file);
    else
        replay_store(&state);
    relation_print(state.rows, out);
    if (state.said.bytes && (out->format == OUTPUT_TEXT || out->format == OUTPUT_MARKDOWN))
        output_wrapped(out, state.said.bytes);
    output_line(out, "\n%zu replayed, %zu the same in bits, error and verdict", state.count,
                state.reproduced);
    text_free(&state.said);
    json_decref(state.descriptors);
    replayer_forget(&state.own);
    judge_destroy(state.own.judge);
    worker_stop(state.worker);
    kernel_list_free(&state.kernels);
    return state.reproduced == state.count ? EXIT_CODE_FINE
           : state.failed                  ? EXIT_CODE_KERNEL_FAILED
           : state.absent                  ? EXIT_CODE_NOT_COMPARABLE
                                           : EXIT_CODE_REGRESSION;
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
    {"kernels", "use --case ID (lnbench export --format tsv lists the cases), or --failures"},
    {"all", "use --failures, or --case ID for any other case"},
    {"print", "lnbench hunt writes rows as text"},
    {NULL, NULL},
};

const cli_command command_replay = {
    .name = "replay",
    .brief = "a stored case, failures, or a file of adversarial rows, bit for bit",
    .usage = "[FILE | [--run N] [--case ID | --failures]] [OPTION...]",
    .example = "replay --case 51",
    .summary = "Runs a stored case again, bit for bit: the worst one of a run, one by its number,\n"
               "all failures, or the rows of a file (lnbench hunt, reference/worst).",
    .details =
        "A case is made again from its seed, with all its rows and in every placement. If its\n"
        "input can no longer be made, its worst row is run alone: the store keeps it.\n"
        "Exit code: 0 all reproduce (the same bits, error and verdict, whatever the verdict\n"
        "is); 1 a result differs; 2 usage; 4 a kernel is not here or cannot run here; 7 files\n"
        "or environment; 130 interrupted.",
    OPTIONS(options),
    DEFAULTS(replay_options, .max_row_ulp = INFINITY, .deadline = 60),
    .most_operands = 1,
    .former = former,
    .body = replay,
};
