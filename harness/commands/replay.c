/* lnbench replay: runs a stored worst case, stored failures or a file of adversarial rows again, bit for bit. report
 * --verify does the same for every error of a run, in parallel, and redraws its page.
 *
 * A stored case is generated again from its seed: rows by their input, a conformance test by its task. Bits, all
 * figures and the verdict have to equal the stored ones. */
#include "base/arena.h"
#include "base/program.h"
#include "base/hash.h"
#include "commands/run.h"
#include "conformance/conformance.h"
#include "domain/operation.h"
#include "domain/kernel.h"
#include "domain/case.h"
#include "inputs/inputs.h"
#include "judge/judge.h"
#include "store/run_file.h"
#include "worker/worker.h"
#include <ctype.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

#define KERNEL_IS_MISSING                                                                          \
    "kernel %s is not here: if it came from a plugin, name it with --plugin; peers need "          \
    "LNBENCH_PEERS=1 when lnbench is built"

enum { REPLAY_DEADLINE = 60 };             /* seconds until a kernel counts as hung */
static const double seconds_a_case = 0.01; /* to judge one again, about; for the progress bar */

typedef struct replay_side {
    case_verdict verdict;
    ln_metrics metrics; /* undefined: no output; an adversarial row has only its worst element */
    uint64_t hash;      /* of the whole output, or of the row's y (see whole); 0: no output */
} replay_side;

typedef struct replay_result {
    replay_side then, now;
    bool whole; /* all rows were generated again from the seed; else the rows of a file ran */
    bool same_bits, same_error, same_verdict;
    bool reproduces; /* all three are the same, as far as they were stored */
    char note[256];  /* the figure that differs, or why the case cannot run, or "" */
} replay_result;

/* A judge that keeps the rows and reference values of a case, for the next case on the same rows. */
typedef struct replayer {
    row_judge *judge;           /* borrowed */
    bool quick;                 /* the run had the quick plan's part of the covering array */
    bool minimize;              /* minimize failing combinations, so that verdicts name factors */
    unsigned named;             /* bits of the operations whose conventions the user named */
    ln_convention convention;   /* of the last case, and of the covering array */
    const combination_set *set; /* NULL: not generated yet */
    arena memory;               /* owns the set */
    /* The case of the kept block or conformance blocks; its input is "" if there are none. */
    case_key key;
    ln_type key_param;
    judge_block block;
    conformance_task task;
    conformance_blocks blocks;
} replayer;

/* ---- the stored result and the new one ---- */

/* Returns one side of a result; its metrics are undefined if there was no output. */
static replay_side side_of(const case_verdict *verdict, const ln_metrics *metrics, uint64_t hash)
{
    replay_side side = {.verdict = *verdict};
    metrics_undefined(&side.metrics);
    if (metrics->elements > 0) {
        side.metrics = *metrics;
        side.hash = hash;
    }
    return side;
}

/* Compares all figures of a whole case, and notes the first different one, since the table has no column for most of
 * them. Compares only the worst element of an adversarial row. */
static void compare_sides(replay_result *result)
{
    const ln_metrics *then = &result->then.metrics, *now = &result->now.metrics;
    bool fine = true;
    for (size_t i = 0; fine && i < metric_count_all; i++) {
        const char *name = metric_list[i].name;
        const double before = metric_value(then, &metric_list[i]);
        const double after = metric_value(now, &metric_list[i]);
        if (!result->whole && strncmp(name, "worst_", 6) != 0 && strcmp(name, "row_ulp_max") != 0)
            continue;
        /* Equal doubles are the same, and so are two undefined ones. The store does not keep the sign of a zero. */
        fine = before == after || (isnan(before) && isnan(after));
        if (!fine && result->whole)
            snprintf(result->note, sizeof result->note, "%s: then %.17g, now %.17g", name, before,
                     after);
    }
    result->same_bits = result->then.hash == result->now.hash;
    result->same_error = fine;
    result->same_verdict = result->then.verdict.kind == result->now.verdict.kind;
    result->reproduces =
        (result->same_bits || !result->then.hash) && result->same_error && result->same_verdict;
}

/* Judges the kernel on a block of an input as a run does ("": rows of a hunt, which no call promises anything for), and
 * compares the result with the stored one. */
static void judge_again(row_judge *judge, const judge_block *block, const char *input,
                        const kernel_entry *kernel, replay_result *result)
{
    case_judgement judgement;
    judge_kernel(judge, block, kernel, &judgement);
    if (input[0])
        judge_promise(block, kernel, input, &judgement);
    uint64_t hash = judgement.output_hash;
    if (!result->whole && judgement.metrics.elements > 0)
        hash = hash_bytes(HASH_START,
                          judge_row_of(block, judgement.computed, judgement.metrics.worst_row),
                          block->hidden * dtype_size(block->storage));
    result->now = side_of(&judgement.verdict, &judgement.metrics, hash);
    compare_sides(result);
}

/* Judges rows that were stored as they are: of a hunt, or the worst of a case. */
static void judge_rows_again(row_judge *judge, const operation_call *call,
                             const kernel_entry *kernel, replay_result *result)
{
    judge_block block = {0};
    judge_block_from(judge, &block, call);
    judge_again(judge, &block, "", kernel, result);
    judge_block_free(&block);
}

/* Returns whether the kernel still has the stored type; a plugin's kernel may have another one now. */
static bool has_type(const kernel_facts *kernel, ln_type now, ln_type then, const char *what,
                     replay_result *result)
{
    if (now != then)
        snprintf(result->note, sizeof result->note, "kernel %s now takes %s; the stored %s were %s",
                 kernel->name, dtype_name(now), what, dtype_name(then));
    return now == then;
}

/* ---- the replayer ---- */

/* Returns a replayer for a run. The plan and the named conventions decide the run's covering array. */
static replayer replayer_of(row_judge *judge, const stored_run *run, const machine_facts *machine)
{
    replayer own = {.judge = judge, .quick = strcmp(run->plan, "quick") == 0};
    for (unsigned kind = 0; kind < OPERATIONS; kind++)
        if (strstr(machine_fact_value(machine, NAMED_CONVENTIONS), operation_name(kind)))
            own.named |= OPERATION_BIT(kind);
    return own;
}

static void forget_blocks(replayer *own)
{
    judge_block_free(&own->block);
    conformance_release(&own->blocks);
    own->blocks = (conformance_blocks){0};
    own->key.input[0] = '\0';
}

/* Frees everything except the judge. */
static void replayer_forget(replayer *own)
{
    forget_blocks(own);
    arena_free(&own->memory);
    own->set = NULL;
}

/* ---- rows ---- */

/* Generates the block of the case from its input, seed and shape. Returns false if its input, such as a file, is gone;
 * the note names it. */
static bool regenerate(replayer *own, const kernel_entry *kernel, const case_key *key,
                       bool is_timed, replay_result *result)
{
    operation_call call =
        call_dense(&own->convention, kernel->facts.storage, kernel->facts.param,
                   is_timed ? key->rows : distinct_rows(key->input, key->rows), key->hidden);
    die_catcher caught = {0};
    if (own->key.input[0])
        return true;
    die_caught_by = &caught;
    if (setjmp(caught.place) == 0)
        judge_block_generate(own->judge, &own->block, call, key->input, NULL, 0);
    die_caught_by = NULL;
    if (caught.error.code != EXIT_CODE_FINE) {
        snprintf(result->note, sizeof result->note, "its rows cannot be made again: %.180s",
                 caught.error.message);
        return false;
    }
    judge_block_repeat(&own->block, key->rows);
    own->key = *key;
    return true;
}

static bool replay_rows(replayer *own, const kernel_entry *kernel, const stored_case *judged,
                        replay_result *result)
{
    if (!regenerate(own, kernel, &judged->key, judged->repetition_count > 0, result))
        return false;
    result->then = side_of(&judged->verdict, &judged->metrics, judged->output_hash);
    judge_again(own->judge, &own->block, judged->key.input, kernel, result);
    if (!result->same_bits &&
        (input_is_file(judged->key.input) || strncmp(judged->key.input, "worst", 5) == 0))
        snprintf(result->note, sizeof result->note, "%.180s may have been changed since",
                 judged->key.input);
    return true;
}

/* ---- conformance tests ---- */

/* Prepares the conformance task of this key; tasks of one check differ in shape. Returns false if there is no such
 * task. */
static bool prepare_task(replayer *own, const kernel_entry *kernel, const case_key *key)
{
    const combinations_request requested = {.defaults = own->convention,
                                            .alone = own->named & OPERATION_BIT(key->operation),
                                            .seed = own->judge->settings.seed,
                                            .quick = own->quick};
    const size_t check = word_find(key->input, check_names, CHECK_COUNT);
    size_t rows, hidden;
    if (own->key.input[0])
        return true;
    if (check == CHECK_COMBINATIONS && !own->set)
        own->set = combinations_make(&own->memory, &requested);
    own->task = (conformance_task){.check = (conformance_check)check,
                                   .convention = own->convention,
                                   .storage = kernel->facts.storage,
                                   .param = kernel->facts.param,
                                   .set = own->set};
    for (size_t pack = 0; check < CHECK_COUNT && conformance_pack(&own->task, pack, &rows, &hidden);
         pack++) {
        if (rows != key->rows || hidden != key->hidden)
            continue;
        conformance_prepare(own->judge, &own->task, &own->blocks);
        own->key = *key;
        return true;
    }
    return false;
}

/* Runs a whole conformance test again, since it has no single row. If there was no output, the verdict's text also has
 * to be the same, because several problems of the covering array may give the same verdict. */
static bool replay_check(replayer *own, const kernel_entry *kernel, const stored_case *judged,
                         replay_result *result)
{
    const case_key *key = &judged->key;
    case_judgement now = {0};
    if (!prepare_task(own, kernel, key)) {
        snprintf(result->note, sizeof result->note,
                 "lnbench has no such check any more (%.40s, %zux%zu)", key->input, key->rows,
                 key->hidden);
        return false;
    }
    conformance_examine(own->judge, &own->blocks, kernel, &now);
    /* The stored text may come from before or after minimizing, so both are compared. */
    bool same_text = strcmp(now.verdict.detail, judged->verdict.detail) == 0;
    if (own->minimize || !same_text)
        conformance_minimize(own->judge, &own->blocks, kernel, &now);
    same_text |= strcmp(now.verdict.detail, judged->verdict.detail) == 0;
    result->then = side_of(&judged->verdict, &judged->metrics, judged->output_hash);
    result->now = side_of(&now.verdict, &now.metrics, now.output_hash);
    compare_sides(result);
    result->reproduces &= result->then.hash || same_text || own->task.check != CHECK_COMBINATIONS;
    if (judged->verdict.kind == VERDICT_NONDETERMINISTIC && result->same_verdict)
        snprintf(result->note, sizeof result->note,
                 "nondeterministic again: its bits may differ in each run");
    else if (!result->reproduces && !same_text && verdict_is_fault(now.verdict.kind))
        snprintf(result->note, sizeof result->note,
                 "it may be another problem than the stored one");
    return true;
}

/* Replays one case. Returns false, with a note that says why, if it cannot run here; report --verify then goes on. */
static bool replay_case(replayer *own, const kernel_entry *kernel, const stored_case *judged,
                        replay_result *result)
{
    const case_key *key = &judged->key;
    const ln_convention convention = convention_named(key->convention);
    *result = (replay_result){.whole = true};
    if (!has_type(&kernel->facts, kernel->facts.storage, key->dtype, "rows", result))
        return false;
    if (!convention_equal(&own->convention, &convention))
        replayer_forget(own);
    else if (own->key_param != kernel->facts.param || !case_key_same_but_kernel(&own->key, key))
        forget_blocks(own);
    own->convention = convention;
    own->key_param = kernel->facts.param;
    return is_check(key->input) ? replay_check(own, kernel, judged, result)
                                : replay_rows(own, kernel, judged, result);
}

/* Replays an adversarial row, named `what`. Ends the program if the kernel does not take the row's types any more. */
static replay_result replay_find(row_judge *judge, const kernel_entry *kernel,
                                 const worst_row *find, const char *what)
{
    const ln_convention convention = convention_named(find->convention);
    const kernel_facts *facts = &kernel->facts;
    replay_result result = {.then = {.verdict = find->verdict, .hash = find->y_hash}};
    metrics_undefined(&result.then.metrics);
    result.then.metrics.row_ulp_max = find->row_ulp;
    result.then.metrics.worst_row = find->row;
    result.then.metrics.worst_column = find->column;
    result.then.metrics.worst_computed = find->computed;
    result.then.metrics.worst_exact = find->exact;
    if (!has_type(facts, facts->storage, find->storage, "rows", &result) ||
        (find->parameters > 0 &&
         !has_type(facts, facts->param, find->param, "parameters", &result)))
        die(EXIT_CODE_NOT_COMPARABLE, "%s: %s", what, result.note);
    operation_call call =
        call_dense(&convention, find->storage, facts->param, find->rows, find->hidden);
    memcpy(call.inputs, find->inputs, sizeof find->inputs);
    judge_rows_again(judge, &call, kernel, &result);
    return result;
}

/* ---- the table of results ---- */

static const relation_column columns[] = {
    COLUMN("what", "what"),
    COLUMN("kernel", "kernel"),
    COLUMN("convention", "convention"),
    COLUMN("hidden", "hidden"),
    COLUMN("then", "then"),
    COLUMN("row ULP", "row_ulp_max"),
    COLUMN("now", "now"),
    COLUMN("row ULP now", "row_ulp_max_now"),
    COLUMN("bits", "same_bits"),
    FOR_PROGRAMS("same_error"),
    FOR_PROGRAMS("same_verdict"),
    FOR_PROGRAMS("whole"),
    COLUMN("reproduces?", "reproduces"),
    COLUMN("reproducible", "reproducibility"),
    COLUMN("note", "note"),
};

static relation_value as_side(const replay_side *side)
{
    return as_json(verdict_json(&side->verdict), verdict_phrase(side->verdict.kind));
}

/* Returns the hidden size to show. A conformance test has many sizes, and its key holds numbers of problems. */
static size_t hidden_shown(const case_key *key)
{
    return is_check(key->input) ? 0 : key->hidden;
}

/* Adds a row to the table. hidden: 0 if there are several. class: the kernel's reproducibility (domain/kernel.h). */
static void add_replayed(relation *rows, const char *what, const char *kernel,
                         const char *convention, size_t hidden, const char *class,
                         const replay_result *result)
{
    relation_row(rows, as_text(what), as_text(kernel), as_text(convention),
                 hidden ? as_count(hidden) : as_text(NULL), as_side(&result->then),
                 as_figure(result->then.metrics.row_ulp_max), as_side(&result->now),
                 as_figure(result->now.metrics.row_ulp_max),
                 !result->then.hash ? as_text(NULL)
                                    : as_json(json_boolean(result->same_bits),
                                              result->same_bits ? "the same" : "differ"),
                 as_flag(result->same_error), as_flag(result->same_verdict), as_flag(result->whole),
                 as_json(json_boolean(result->reproduces), result->reproduces ? "yes" : "NO"),
                 as_class(class), as_word(result->note));
}

/* ---- lnbench replay ---- */

typedef struct replay_options {
    const char *database;
    uint64_t run, id;
    word_list plugins;
    double max_row_ulp;
    bool failures;
    output_file printed;
} replay_options;

/* The state that all forms of replay share. */
typedef struct replay_state {
    const replay_options *options;
    worker_process *worker;
    kernel_list kernels;
    row_judge *judge;
    relation *rows;
    json_t *descriptors; /* kernels of the stored run; NULL: a file is replayed */
    int64_t run;         /* 0: a file is replayed */
    size_t count, reproduced, absent;
    size_t missing;   /* cases whose rows cannot be generated again */
    bool failed;      /* a kernel passed before and fails now, or fails in another way */
    text_buffer said; /* the full texts of the verdicts, too long for a table */
} replay_state;

/* Adds a row to the table, and the full texts of the two verdicts to `said`. */
static void note_result(replay_state *state, const kernel_entry *kernel, const char *what,
                        const char *convention, size_t hidden, const replay_result *result)
{
    char then[VERDICT_MAX_LENGTH], now[VERDICT_MAX_LENGTH];
    const char *name = kernel->facts.name;
    if (interrupted())
        die(EXIT_CODE_INTERRUPTED, "interrupted");
    state->count++;
    state->reproduced += result->reproduces;
    state->absent += result->now.verdict.kind == VERDICT_UNSUPPORTED;
    state->failed |=
        !result->same_verdict && verdict_exit_code(&result->now.verdict) == EXIT_CODE_KERNEL_FAILED;
    add_replayed(state->rows, what, name, convention, hidden,
                 state->descriptors ? reproducible_stored(state->descriptors, name)
                                    : reproducible_found(&kernel->facts, NULL),
                 result);
    verdict_describe(&result->then.verdict, then, sizeof then);
    verdict_describe(&result->now.verdict, now, sizeof now);
    if (!result->then.verdict.detail[0] && !result->now.verdict.detail[0])
        return;
    const bool same = strcmp(then, now) == 0;
    text_format(&state->said, "\n%s, %s\n  then%s  %s\n", what, name, same ? " and now" : "", then);
    if (!same)
        text_format(&state->said, "  now   %s\n", now);
}

static void create_judge(replay_state *state, uint64_t seed)
{
    const judge_settings settings = {.seed = seed,
                                     .max_row_ulp = state->options->max_row_ulp,
                                     .deadline_seconds = REPLAY_DEADLINE};
    state->judge = judge_create(worker_runner(state->worker), &settings);
}

static const kernel_entry *kernel_then(const replay_state *state, const char *name)
{
    const kernel_entry *kernel = kernel_find(&state->kernels, name);
    if (!kernel)
        die(EXIT_CODE_NOT_COMPARABLE, KERNEL_IS_MISSING, name);
    return kernel;
}

/* Replays the adversarial rows of a file, each with the kernel that it was found for. */
static void replay_file(replay_state *state, const char *path)
{
    worst_list list = {0};
    worst_list_read(path, &list);
    if (list.count == 0)
        die(EXIT_CODE_USAGE, "%s: holds no adversarial row", path);
    create_judge(state, 1);
    for (size_t i = 0; i < list.count; i++) {
        const worst_row *find = &list.rows[i];
        const kernel_entry *kernel = kernel_then(state, find->kernel);
        char what[64];
        snprintf(what, sizeof what, "find %zu", i + 1);
        const replay_result result = replay_find(state->judge, kernel, find, what);
        note_result(state, kernel, what, find->convention, find->hidden, &result);
    }
    worst_list_free(&list);
}

/* The judged cases that were not timed. Only timing a case again would judge all rows of its output. */
#define REPLAYABLE                                                                                 \
    "FROM judged LEFT JOIN accuracies USING (case_id) WHERE run = ?1 AND NOT EXISTS (SELECT 1 "    \
    "FROM repetitions WHERE repetitions.case_id = judged.case_id) "

/* Replays the given case of any run, or else the failures of the run, or else its gravest case. */
static void replay_store(replay_state *state)
{
    const replay_options *options = state->options;
    result_store *store = store_open(options->database, STORE_READ);
    const int64_t id = options->run  ? (int64_t)options->run
                       : options->id ? store_run_of_case(store, (int64_t)options->id)
                                     : store_latest_run(store);
    const stored_run run = store_run(store, id);
    machine_facts machine = store_machine(store, id);
    state->run = id;
    stored_table wanted =
        store_ask(store,
                  "SELECT case_id FROM (SELECT case_id " REPLAYABLE "AND ?2 IN (0, case_id) "
                  "AND (NOT ?3 OR failed) ORDER BY failed DESC, mismatches > 0 DESC, "
                  "row_ulp_max DESC, case_id LIMIT iif(?3, -1, 1)) ORDER BY case_id",
                  "iii", id, (int64_t)options->id, (int64_t)options->failures);
    if (!options->failures && wanted.rows == 0)
        die(EXIT_CODE_USAGE, "run %lld has no judgement%s%.0lld that can be replayed",
            (long long)id, options->id ? " of case " : "", (long long)options->id);
    state->descriptors = store_kernels(store, id);
    create_judge(state, run.seed);
    replayer own = replayer_of(state->judge, &run, &machine);
    own.minimize = options->id > 0;
    for (size_t i = 0; i < wanted.rows; i++) {
        stored_case judged;
        char what[96];
        replay_result result;
        store_case(store, table_whole(&wanted, i, "case_id"), &judged);
        const case_key *key = &judged.key;
        const kernel_entry *kernel = kernel_then(state, key->kernel);
        snprintf(what, sizeof what, "case %lld: %.60s", (long long)judged.id, key->input);
        if (replay_case(&own, kernel, &judged, &result)) {
            note_result(state, kernel, what, key->convention, hidden_shown(key), &result);
            continue;
        }
        output_note("%s: %s", what, result.note);
        state->missing++;
    }
    replayer_forget(&own);
    machine_free(&machine);
    stored_table_free(&wanted);
    store_close(store);
}

static exit_code replay(void *context, const cli_call *call)
{
    const replay_options *options = context;
    const output_file *out = &options->printed;
    const char *file = call->operands->count > 0 ? call->operands->words[0] : NULL;
    replay_state state = {.options = options, .rows = relation_create(COLUMNS(columns))};
    interrupt_watch();
    if ((file != NULL) + (options->id > 0) + options->failures > 1 || (file && options->run))
        die(EXIT_CODE_USAGE, "choose one of --case, --failures and FILE; FILE takes no --run");
    state.worker = worker_start(options->plugins.words, options->plugins.count, &state.kernels);
    if (file)
        replay_file(&state, file);
    else
        replay_store(&state);
    relation_print(state.rows, out);
    if (state.said.bytes && (out->format == OUTPUT_TEXT || out->format == OUTPUT_MARKDOWN))
        output_wrapped(out, state.said.bytes);
    output_text(out, "\n%zu replayed, %zu the same in bits, error and verdict", state.count,
                state.reproduced);
    output_line(out, state.run ? " (run %lld)" : " (of a file)", (long long)state.run);
    text_free(&state.said);
    json_decref(state.descriptors);
    judge_destroy(state.judge);
    worker_stop(state.worker);
    kernel_list_free(&state.kernels);
    return state.failed                      ? EXIT_CODE_KERNEL_FAILED
           : state.missing                   ? EXIT_CODE_NOT_COMPARABLE
           : state.reproduced == state.count ? EXIT_CODE_FINE
           : state.absent                    ? EXIT_CODE_NOT_COMPARABLE
                                             : EXIT_CODE_REGRESSION;
}

static const cli_option options[] = {
    {"run", "N", "stored run (default: the latest of lnbench run)", OPTION_COUNT,
     offsetof(replay_options, run)},
    {"case", "ID", "replay this case (failures and exported TSV give its number)", OPTION_COUNT,
     offsetof(replay_options, id)},
    {"failures", NULL, "replay every failed case", OPTION_FLAG, offsetof(replay_options, failures)},
    PLUGIN_OPTION(replay_options, plugins),
    {"max-row-ulp", "X", "give the run's --max-row-ulp again", OPTION_REAL,
     offsetof(replay_options, max_row_ulp)},
    STORE_OPTION(replay_options, database),
    OUTPUT_OPTIONS(replay_options, printed),
};

const cli_command command_replay = {
    .name = "replay",
    .brief = "run a stored case, failures or adversarial rows again, bit for bit",
    .usage = "[FILE | [--run N] [--case ID | --failures]] [OPTION...]",
    .example = "replay --case 51",
    .summary = "Runs stored cases again, bit for bit: the worst one of a run, one by its number,\n"
               "all failures, or the rows of a file (lnbench hunt, reference/worst).",
    .details =
        "The input is generated again from its seed: all its rows, strides and addresses.\n"
        "Exit code 0: all agree (the same bits, error and verdict, whatever the verdict is);\n"
        "1: a result differs; 2: usage; 4: a kernel or an input is missing, or cannot run here;\n"
        "6: a new crash, hang or overrun; 7: a file or the environment failed; 130: interrupted.",
    OPTIONS(options),
    DEFAULTS(replay_options, .max_row_ulp = INFINITY),
    .most_operands = 1,
    .body = replay,
};

/* ---- report --verify: the page ---- */

/* Adds the page's text without the numbers of the run and its cases, which differ between stores. */
static void add_bare(text_buffer *out, const char *page, size_t size)
{
    for (size_t i = 0; i < size;) {
        if (isdigit((unsigned char)page[i]) && ((i >= 4 && memcmp(page + i - 4, "run ", 4) == 0) ||
                                                (i >= 5 && memcmp(page + i - 4, "ase ", 4) == 0 &&
                                                 tolower((unsigned char)page[i - 5]) == 'c'))) {
            text_add(out, "N");
            while (i < size && isdigit((unsigned char)page[i]))
                i++;
        } else {
            text_add_bytes(out, page + i++, 1);
        }
    }
}

/* Returns whether the lines are the same from the mark to their ends. */
static bool same_line(const char *a, const char *b, const char *mark)
{
    const char *one = strstr(a, mark), *other = strstr(b, mark);
    size_t length = one ? strcspn(one, "\n") : 0;
    return one && other ? length == strcspn(other, "\n") && memcmp(one, other, length) == 0
                        : one == other;
}

/* Draws the page of each operation of the run again, in a temporary folder. Returns false if the file differs from all
 * of them although the same lnbench and gnuplot drew it. */
static bool check_page(const char *file, const output_file *out, const run_view *view,
                       text_buffer *page)
{
    char path[1100];
    text_buffer theirs = {0}, ours = {0};
    bool compared = false, same = false;
    size_t at = 0;
    add_bare(&theirs, page->bytes, page_run_cut(page->bytes, page->length));
    const char *folder = temporary_folder_make("verify");
    for (run_view part = {0}; view_next_part(view, &part);) {
        text_buffer drawn = {0};
        if (same)
            continue;
        snprintf(path, sizeof path, "%.1060s/index.html", folder);
        report_write(&part, folder, NULL);
        read_whole_file(path, &drawn);
        text_free(&ours);
        add_bare(&ours, drawn.bytes, drawn.length);
        compared = same_line(theirs.bytes, ours.bytes, "<meta name=\"generator\"") &&
                   same_line(theirs.bytes, ours.bytes, "Produced by GNUPLOT");
        for (at = 0; theirs.bytes[at] && theirs.bytes[at] == ours.bytes[at];)
            at++;
        same = theirs.bytes[at] == ours.bytes[at];
        text_free(&drawn);
    }
    temporary_folder_remove(folder);
    if (!compared)
        output_aside(out, "The page is not compared: another lnbench or gnuplot drew it.");
    if (compared && !same) {
        const size_t from = at < 24 ? 0 : at - 24;
        output_aside(out, "%s: differs from the page drawn from its run.", file);
        output_aside(out, "the page says  %.60s", theirs.bytes + from);
        output_aside(out, "its run says   %.60s", ours.bytes + from);
    }
    text_free(&theirs);
    text_free(&ours);
    return same || !compared;
}

/* ---- report --verify: the errors ---- */

typedef struct stored_error {
    stored_case stored;
    replay_result *differs; /* NULL: the error holds */
    bool is_derived;        /* if false, differs->note says why */
} stored_error;

typedef struct verify_part {
    const run_view *view;
    kernel_list kernels;
    bool elsewhere; /* the run was made on another machine */
    stored_error *errors;
    size_t count, threads;
    progress_bar progress; /* of the first thread */
} verify_part;

/* One thread with a worker and a judge. It derives the blocks of errors whose number modulo the number of threads is
 * its own `number`. */
typedef struct verify_thread {
    verify_part *part;
    size_t number;
    worker_process *worker;
    replayer own;
    pthread_t thread;
} verify_thread;

/* Derives one error again, or notes why that is not possible here: a kernel, input or check is missing, or the
 * library's call dispatches to another kernel on this CPU and its class does not promise the same bits. */
static void derive(verify_thread *self, stored_error *own)
{
    const verify_part *part = self->part;
    const json_t *kernels = part->view->kernels;
    const char *name = own->stored.key.kernel;
    replay_result result = {0};
    const kernel_entry *kernel = kernel_find(&part->kernels, name);
    if (!kernel)
        snprintf(result.note, sizeof result.note, KERNEL_IS_MISSING, name);
    else if (!replay_case(&self->own, kernel, &own->stored, &result))
        own->is_derived = false;
    else if (result.now.verdict.kind == VERDICT_UNSUPPORTED)
        verdict_describe(&result.now.verdict, result.note, sizeof result.note);
    else if (part->elsewhere && !result.reproduces && kernel_is_call(kernels, name) &&
             !reproducible_everywhere(kernels, name))
        snprintf(result.note, sizeof result.note, "on this CPU %s uses another kernel", name);
    else
        own->is_derived = true;
    if (!own->is_derived || !result.reproduces)
        own->differs = allocate_copy(&result, sizeof result);
}

/* Derives this thread's errors. One thread has all errors of a block, so that each block is generated once. */
static void *run_thread(void *context)
{
    verify_thread *self = context;
    verify_part *part = self->part;
    for (size_t i = 0, block = 0; i < part->count && !interrupted(); i++) {
        const case_key *key = &part->errors[i].stored.key;
        block += i > 0 && !case_key_same_but_kernel(key, &part->errors[i - 1].stored.key);
        if (block % part->threads != self->number)
            continue;
        char what[160];
        snprintf(what, sizeof what, "%.40s  %.30s  %.50s  %zu", key->kernel, key->convention,
                 key->input, key->hidden);
        if (self->number == 0)
            progress_step(&part->progress, seconds_a_case, what);
        derive(self, &part->errors[i]);
    }
    replayer_forget(&self->own);
    judge_destroy(self->own.judge);
    worker_stop(self->worker);
    return NULL;
}

/* Derives all errors in parallel, with one thread for each processor but at most four. */
static void derive_errors(const word_list *plugins, const run_view *view, stored_error *errors,
                          size_t count)
{
    enum { THREADS_MOST = 4, ERRORS_A_THREAD = 64 };
    const judge_settings settings = {
        .seed = view->run.seed, .max_row_ulp = INFINITY, .deadline_seconds = REPLAY_DEADLINE};
    verify_part part = {.view = view, .errors = errors, .count = count, .threads = 1};
    verify_thread threads[THREADS_MOST];
    machine_facts here;
    char keys[2][MACHINE_KEY_LENGTH];
    machine_read(&here);
    part.elsewhere =
        strcmp(machine_key(&view->machine, keys[0]), machine_key(&here, keys[1])) != 0 ||
        !keys[0][0];
    while (part.threads < THREADS_MOST && part.threads < here.cores &&
           part.threads < count / ERRORS_A_THREAD)
        part.threads++;
    progress_begin(&part.progress, seconds_a_case * (double)count / (double)part.threads);
    for (size_t i = 0; i < part.threads; i++) {
        verify_thread *self = &threads[i];
        *self = (verify_thread){.part = &part, .number = i};
        self->worker = i == 0 ? worker_start(plugins->words, plugins->count, &part.kernels)
                              : worker_start_another(threads[0].worker);
        self->own = replayer_of(judge_create(worker_runner(self->worker), &settings), &view->run,
                                &view->machine);
    }
    for (size_t i = 1; i < part.threads; i++)
        if (pthread_create(&threads[i].thread, NULL, run_thread, &threads[i]) != 0)
            die(EXIT_CODE_ENVIRONMENT, "cannot start a thread");
    run_thread(&threads[0]);
    for (size_t i = 1; i < part.threads; i++)
        pthread_join(threads[i].thread, NULL);
    progress_end(&part.progress);
    machine_free(&here);
    kernel_list_free(&part.kernels);
    if (interrupted())
        die(EXIT_CODE_INTERRUPTED, "interrupted");
}

/* Prints the number of underived errors for each reason, and returns their total. */
static size_t say_reasons(result_store *store, const stored_error *errors, size_t count,
                          const output_file *out, json_t *reasons)
{
    size_t total = 0;
    store_scratch_begin(store);
    store_script(store, "CREATE TEMP TABLE underived (reason)");
    for (size_t i = 0; i < count; i++) {
        total += !errors[i].is_derived;
        if (!errors[i].is_derived)
            store_put_line(store, "underived", "s", errors[i].differs->note);
    }
    stored_table found = store_ask(store,
                                   "SELECT reason, count(*) AS errors FROM underived GROUP BY "
                                   "reason ORDER BY min(rowid)",
                                   "");
    for (size_t i = 0; i < found.rows; i++) {
        const long long same = table_whole(&found, i, "errors");
        output_aside(out, "not recomputed: %lld case%s: %s", same, plural((size_t)same),
                     table_text(&found, i, "reason"));
        json_array_append_new(reasons, table_object(&found, i, "reason", "errors"));
    }
    stored_table_free(&found);
    store_scratch_end(store);
    return total;
}

/* Prints a note if another commit made the run, because it may compute other bits. */
static void say_commits(const machine_facts *then, const output_file *out)
{
    machine_facts here;
    machine_read(&here);
    const char *made = machine_fact_value(then, "git_commit"),
               *verifies = machine_fact_value(&here, "git_commit");
    if (strcmp(made, verifies) != 0)
        output_aside(
            out,
            "commit %.12s made the run, and commit %.12s verifies it: the bits of two may differ",
            made, verifies);
    machine_free(&here);
}

exit_code report_verify(const char *file, uint64_t sample, const word_list *plugins,
                        const output_file *out, const run_view *view, exit_code code)
{
    relation *rows = relation_create(COLUMNS(columns));
    json_t *reasons = json_array();
    text_buffer page = {0};
    size_t differ = 0;
    interrupt_watch();
    if (file)
        read_whole_file(file, &page);
    if (file && page_run_is_page(page.bytes, page.length) && !check_page(file, out, view, &page))
        code = EXIT_CODE_ACCURACY;
    /* The stored order keeps cases on the same rows together. */
    stored_table drawn = store_ask(view->store,
                                   "SELECT case_id FROM (SELECT case_id " REPLAYABLE
                                   "AND elements > 0 ORDER BY random() LIMIT ?2) ORDER BY case_id",
                                   "ii", view->run.id, (int64_t)sample);
    const size_t count = drawn.rows;
    stored_error *errors = allocate_zeroed(count + 1, sizeof *errors);
    for (size_t i = 0; i < count; i++)
        store_case(view->store, table_whole(&drawn, i, "case_id"), &errors[i].stored);
    if (count == 0 && code != EXIT_CODE_ACCURACY)
        die(EXIT_CODE_NOT_COMPARABLE, "run %lld: there is no case to judge again",
            (long long)view->run.id);
    derive_errors(plugins, view, errors, count);
    for (size_t i = 0; i < count; i++) {
        const stored_case *stored = &errors[i].stored;
        char what[96];
        if (!errors[i].is_derived || !errors[i].differs)
            continue;
        snprintf(what, sizeof what, "case %lld: %.60s", (long long)stored->id, stored->key.input);
        add_replayed(rows, what, stored->key.kernel, stored->key.convention,
                     hidden_shown(&stored->key),
                     reproducible_stored(view->kernels, stored->key.kernel), errors[i].differs);
        code = EXIT_CODE_ACCURACY;
        differ++;
    }
    const size_t missing = say_reasons(view->store, errors, count, out, reasons);
    if (missing == count && code != EXIT_CODE_ACCURACY)
        code = EXIT_CODE_NOT_COMPARABLE;
    const size_t hold = count - missing - differ;
    if (differ > 0 || output_is_data(out) || out->format == OUTPUT_JSON) {
        relation_print_in(rows,
                          json_pack("{s:s, s:I, s:i, s:I, s:I, s:o}", "schema", "lnbench-verify-4",
                                    "run", (json_int_t)view->run.id, "exit_code", (int)code,
                                    "errors", (json_int_t)count, "hold", (json_int_t)hold,
                                    "not_derived", reasons),
                          "failures", out);
    } else {
        relation_destroy(rows);
        json_decref(reasons);
    }
    output_aside(out, "%zu of %zu %scases are reproduced%s", hold, count,
                 sample == UINT64_MAX ? "" : "drawn ",
                 missing > 0 && differ == 0 ? "; the others could not be recomputed here" : "");
    if (differ > 0)
        say_commits(&view->machine, out);
    for (size_t i = 0; i < count; i++)
        free(errors[i].differs);
    free(errors);
    text_free(&page);
    stored_table_free(&drawn);
    return code;
}
