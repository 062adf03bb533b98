/* lnbench run: turns options into a plan (run/plan.h), measures it into a run of the store (run/session.h), and reads
 * table, charts and page from the store. Each result is stored at once, so that --resume can continue an interrupted or
 * killed run. choose measures by the same functions (commands/run.h). */
#include "base/hash.h"
#include "domain/kernel.h"
#include "base/program.h"
#include "commands/run.h"
#include "store/store.h"
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- showing a result ---- */

/* Adds an option with the absolute path of a file, quoted for the shell. */
static void add_path(text_buffer *out, const char *option, const char *path)
{
    char whole[PATH_MAX];
    text_format(out, " --%s ", option);
    text_add_shell(out, realpath(path, whole) ? whole : path);
}

void result_show(bool all, const run_view *view, const char *database, const word_list *plugins,
                 const output_file *out)
{
    text_buffer again = {0};
    add_path(&again, "db", database);
    for (size_t i = 0; plugins && i < plugins->count; i++)
        add_path(&again, "plugin", plugins->words[i]);
    result_table_print(view, out, &(result_look){.all = all, .again = again.bytes});
    text_free(&again);
}

/* ---- the plan ---- */

enum { MOST_NAMES = 8 }; /* of kernels, shown by --dry-run */

typedef struct run_options {
    run_settings run;
    const char *out;
    const char *conformance; /* "yes" or "no" */
    bool all, dry_run, no_charts;
    output_file printed;
} run_options;

/* Prints what the conformance tests of the plan cover, once for each operation. */
static void print_checks(const case_plan *plan, const output_file *out)
{
    const plan_checks *checks = plan->checks;
    char words[256];
    for (size_t i = 0; checks && i < checks->count; i++) {
        const ln_operation kind = combinations_at(checks->sets[i], 0).table->operation;
        bool again = i > 0 && combinations_at(checks->sets[i - 1], 0).table->operation == kind;
        if (!again)
            output_line(out, "conformance tests of %s: %s", operations[kind]->title,
                        combinations_describe(checks->sets[i], words, sizeof words));
    }
}

/* Prints the plan as a table: one row for each timed shape and, for programs, one for each judged input. */
static void dry_run(const case_plan *plan, const output_file *out)
{
    static const relation_column columns[] = {
        COLUMN("what", "what"),
        COLUMN("dtype", "dtype"),
        COLUMN("convention", "convention"),
        COLUMN("input", "input"),
        COLUMN("rows", "rows"),
        COLUMN("hidden", "hidden"),
        COLUMN("cache", "cache"),
        COLUMN("processes x repetitions", "processes_x_repetitions"),
    };
    const bool is_prose = out->format == OUTPUT_TEXT || out->format == OUTPUT_MARKDOWN;
    relation *rows = relation_create(COLUMNS(columns));
    for (size_t i = 0; !is_prose && i < plan->accuracy_count; i++) {
        const accuracy_group *group = &plan->accuracy[i];
        relation_row(rows, as_text("accuracy"), as_text(dtype_name(group->dtype)),
                     as_text(group->convention_label), as_text(group->input), as_count(group->rows),
                     as_count(group->hidden), as_text(NULL), as_text(NULL));
    }
    for (size_t i = 0; i < plan->speed_count; i++) {
        const speed_group *group = &plan->speed[i];
        relation_row(rows, as_text("speed"), as_text(dtype_name(group->dtype)),
                     as_text(group->convention_label), as_text(group->input), as_count(group->rows),
                     as_count(group->hidden), as_text(cache_name(group->cache)),
                     as_format("%u x %u", group->processes, group->repetitions));
    }
    relation_print(rows, out);
    output_text(out, "\n%zu kernel%s%s", plan->kernel_count, plural(plan->kernel_count),
                plan->kernel_count > MOST_NAMES ? " (lnbench list kernels)" : ":");
    for (size_t i = 0; plan->kernel_count <= MOST_NAMES && i < plan->kernel_count; i++)
        output_text(out, " %s", plan->kernels[i]->facts.name);
    const plan_cost cost = session_cost(plan);
    output_text(
        out, "\n%zu judgements, %zu repetitions, about %.0f s; --format tsv lists what is judged\n",
        cost.judgements, cost.repetitions, cost.seconds);
    print_checks(plan, out);
}

/* Continues the unfinished run of this plan. Ends the program if there is none; the error names an unfinished run of
 * another plan, which the user may have meant. */
static void resume_run(run_session *session, const char *database)
{
    session->run = store_find_unfinished(session->store, session->plan.hash);
    session->resumed = session->run != 0;
    if (session->resumed) {
        store_drop_unfinished(session->store, session->run);
        session_put_requested(session);
        session->next_process = store_next_process(session->store, session->run);
        return;
    }
    stored_table other =
        store_ask(session->store,
                  "SELECT id, command_line || iif(command_line LIKE '%--resume%', '', ' --resume') "
                  "AS again FROM runs WHERE NOT imported AND command = 'run' AND (state <> "
                  "'complete' OR missing > 0) ORDER BY id DESC LIMIT 1",
                  "");
    if (other.rows > 0)
        die(EXIT_CODE_USAGE,
            "run %lld is unfinished, and of another plan: continue it with '%s', or leave out "
            "--resume to begin a new run",
            (long long)table_whole(&other, 0, "id"), table_text(&other, 0, "again"));
    die(EXIT_CODE_USAGE, "no unfinished run in %s: leave out --resume to begin a new one",
        database);
}

/* Begins a new run in the store. */
static void begin_run(run_session *session, const char *command, const char *command_line)
{
    run_info info = {
        .command_line = command_line,
        .plan = session->plan.name,
        .plan_hash = session->plan.hash,
        .seed = session->plan.seed,
        .machine = &session->machine,
        .command = command,
        .request_hash = session->plan.request_hash,
    };
    for (size_t i = 0; session->plan.checks && i < session->plan.checks->count; i++)
        combinations_add_triples(session->plan.checks->sets[i], &info.triples,
                                 &info.triples_covered);
    session->run = store_begin_run(session->store, &info);
    session_put_requested(session);
    session_store_kernels(session);
}

/* Prints the result and returns its exit code. missing: the number of missing cases. */
static exit_code show_run(run_session *session, const run_options *options, bool finished,
                          size_t *missing)
{
    const output_file *out = &options->printed;
    const bool is_text = out->format == OUTPUT_TEXT;
    char words[256];
    run_view view = view_load(session->store, session->run);
    const exit_code code = view_exit_code(&view);
    *missing = view.run.counts.missing;
    result_show(options->all, &view, options->run.database, &options->run.plugins, out);
    output_aside(out, "stored  run %lld in %s", (long long)session->run, options->run.database);
    if (is_text && finished && *missing == 0)
        print_checks(&session->plan, out);
    /* Say how the reference values of the judged outputs were certified. */
    const ln_reference_counts counts = ln_reference_count(session->judge->reference);
    if (is_text && options->all && counts.elements > 0)
        output_line(out, "certified  %s", judge_describe_counts(&counts, words, sizeof words));
    if (finished && is_text && !options->no_charts)
        draw_report(&view, options->out, out);
    view_free(&view);
    fflush(out->file); /* keeps the order of standard output and standard error */
    return code;
}

bool run_measure(run_session *session, const run_settings *settings, const kernel_list *kernels,
                 const char *command, const char *command_line)
{
    if (settings->resume && access(settings->database, F_OK) != 0)
        die(EXIT_CODE_USAGE, "no unfinished run in %s, which does not exist: leave out --resume",
            settings->database);
    make_parent_directory(settings->database);
    session->store = store_open(settings->database, STORE_WRITE);
    if (settings->resume)
        resume_run(session, settings->database);
    else
        begin_run(session, command, command_line);
    if (strcmp(command, "run") == 0)
        die_note = "; repeat the command with --resume";
    progress_begin(&session->progress, session_cost(&session->plan).seconds);
    bool finished =
        session_invariance(session, kernels) && session_accuracy(session) && session_speed(session);
    progress_end(&session->progress);
    /* An interrupted run stores what was observed of the kernels' bits too. */
    session_store_kernels(session);
    store_end_run(session->store, session->run, finished ? RUN_COMPLETE : RUN_INTERRUPTED);
    die_note = "";
    return finished;
}

void run_check_missing(const run_settings *settings, size_t missing, bool gave_up, const char *hint)
{
    if (missing > 0 && !settings->allow_missing)
        die(gave_up ? EXIT_CODE_KERNEL_FAILED : EXIT_CODE_ENVIRONMENT,
            "%zu case%s without a result: %s(--allow-missing accepts that)", missing,
            plural(missing), hint);
}

void run_prepare(run_session *session, const run_settings *settings, kernel_list *kernels)
{
    plan_request request = settings->request;
    char named[64] = "";
    /* These settings change results and are not part of the plan. The deadline does not change a result. */
    request.settings = hash_bytes(HASH_START, &settings->max_row_ulp, sizeof settings->max_row_ulp);
    request.settings =
        hash_bytes(request.settings, &settings->plugins.count, sizeof settings->plugins.count);
    request.settings =
        hash_bytes(request.settings, "", 1); /* keeps the hash of runs with one option more */
    machine_read(&session->machine);
    session->worker = worker_start(settings->plugins.words, settings->plugins.count, kernels);
    if (kernels->left_out[0])
        output_note("a peer is left out: %s", kernels->left_out);
    plan_make(&request, kernels, &session->machine, &session->plan);
    session_add_checks(&session->plan);
    /* Store the facts that decide the cases of a run together with its options. */
    if (session->plan.worst_rows[0])
        machine_add_fact(&session->machine, "adversarial_rows", session->plan.worst_rows);
    for (int kind = 0; session->plan.conformance && kind < OPERATIONS; kind++)
        if (session->plan.conventions[kind].named)
            number_print(named + strlen(named), sizeof named - strlen(named), "%s%s",
                         named[0] ? " " : "", operation_name((ln_operation)kind));
    if (named[0])
        machine_add_fact(&session->machine, NAMED_CONVENTIONS, named);
    judge_settings judging = {
        .seed = settings->request.seed,
        .max_row_ulp = settings->max_row_ulp,
        .deadline_seconds = settings->deadline,
    };
    session->judge = judge_create(worker_runner(session->worker), &judging);
    session->cpu = session_last_cpu();
    session->deadline_seconds = settings->deadline;
}

void run_end(run_session *session, kernel_list *kernels)
{
    store_close(session->store);
    judge_destroy(session->judge);
    worker_stop(session->worker);
    word_list_free(&session->timeouts);
    plan_free(&session->plan);
    machine_free(&session->machine);
    kernel_list_free(kernels);
}

static exit_code run(void *context, const cli_call *call)
{
    run_options *options = context;
    const output_file *out = &options->printed;
    kernel_list kernels = {0};
    run_session session = {0};
    interrupt_watch();
    options->run.request.conformance = strcmp(options->conformance, "no") != 0;
    if (options->run.request.conformance && strcmp(options->conformance, "yes") != 0)
        die(EXIT_CODE_USAGE, "invalid --conformance '%.9s': choose yes or no",
            options->conformance);
    run_prepare(&session, &options->run, &kernels);
    if (options->dry_run) {
        dry_run(&session.plan, out);
        run_end(&session, &kernels);
        return EXIT_CODE_FINE;
    }
    /* Folders that cannot be written to are reported before anything is measured. */
    if (out->format == OUTPUT_TEXT && !options->no_charts) {
        make_directories(options->out);
        if (access(options->out, W_OK) != 0)
            die(EXIT_CODE_ENVIRONMENT, "%s: cannot be written: name another folder with --out",
                options->out);
    }
    const bool finished = run_measure(&session, &options->run, &kernels, "run", call->line);
    size_t missing;
    const exit_code worst = show_run(&session, options, finished, &missing);
    run_end(&session, &kernels);
    if (!finished)
        die(EXIT_CODE_INTERRUPTED,
            "interrupted: what was measured is kept; repeat the command with --resume");
    run_check_missing(&options->run, missing, session.gave_up,
                      "the same command with --resume tries again ");
    return worst;
}

static const cli_option options[] = {
    {"plan", "quick|default|full", "1 minute, 4 minutes or hours of work (default: default)",
     OPTION_TEXT, offsetof(run_options, run.request.name)},
    {"operation", "layernorm|rmsnorm|all",
     "operation (default: that of --conventions, else layernorm)", OPTION_TEXT,
     offsetof(run_options, run.request.operation)},
    {"kernels", "GLOB,...", "only kernels whose name or label matches", OPTION_LIST,
     offsetof(run_options, run.request.kernels)},
    {"conventions", "C,...", "these presets, or a list of fields; may be given again", OPTION_RAW,
     offsetof(run_options, run.request.conventions)},
    {"dtypes", "f32,...", "f32, f64, bf16, f16 (default: f32; full plan: all)", OPTION_LIST,
     offsetof(run_options, run.request.dtypes)},
    {"shapes", "ROWSxHIDDEN,...", "these shapes instead of the plan's", OPTION_LIST,
     offsetof(run_options, run.request.shapes)},
    {"inputs", "FAMILY,...", "judge on input families, tensor files, worst:FILE (rows of a hunt)",
     OPTION_LIST, offsetof(run_options, run.request.inputs)},
    CACHE_OPTION("hot,cold,in-place,read", OPTION_LIST, run_options, run.request.caches),
    TIME_ON_OPTION(run_options, run.request.time_on),
    {"threads", "T,...", "threads of one call (default: 1)", OPTION_LIST,
     offsetof(run_options, run.request.threads)},
    {"only", "speed|accuracy", "measure the speed only, or judge the accuracy only", OPTION_TEXT,
     offsetof(run_options, run.request.only)},
    {"conformance", "yes|no", "conformance tests of plugins, peers, library calls (default: yes)",
     OPTION_TEXT, offsetof(run_options, conformance)},
    PLUGIN_OPTION(run_options, run.plugins),
    {"seed", "N", "seed of inputs and of the order of kernels (default: 1)", OPTION_COUNT,
     offsetof(run_options, run.request.seed)},
    {"processes", "P", "worker processes that time each shape (default: 5; quick plan: 3)",
     OPTION_COUNT, offsetof(run_options, run.request.processes)},
    {"repetitions", "R", "repetitions in each process (default: the plan's)", OPTION_COUNT,
     offsetof(run_options, run.request.repetitions)},
    {"max-row-ulp", "X", "a case with a larger error fails, even within a proven bound",
     OPTION_REAL, offsetof(run_options, run.max_row_ulp)},
    DEADLINE_OPTION(run_options, run.deadline, 10),
    STORE_OPTION(run_options, run.database),
    {"out", "DIR", "folder of the charts and the page (default: results/charts)", OPTION_TEXT,
     offsetof(run_options, out)},
    {"no-charts", NULL, "draw no charts", OPTION_FLAG, offsetof(run_options, no_charts)},
    ALLOW_MISSING_OPTION(run_options, run.allow_missing),
    {"resume", NULL, "continue the unfinished run of the same plan", OPTION_FLAG,
     offsetof(run_options, run.resume)},
    {"dry-run", NULL, "show the plan and how long it takes, measure nothing", OPTION_FLAG,
     offsetof(run_options, dry_run)},
    RESULT_OPTION(run_options, all),
    OUTPUT_OPTIONS(run_options, printed),
};

const cli_command command_run = {
    .name = "run",
    .brief = "measure and judge kernels; print a table, draw charts",
    .usage = "[OPTION...]",
    .example = "run --plan quick --plugin ./mine.so",
    .summary = "Measures and judges kernels, stores every result and draws charts.",
    .details =
        "Speed is measured on normal rows (or --time-on), under the first convention. Errors\n"
        "are judged on 18 rows (tensor files: all) for each input, convention and hidden size of\n"
        "the plan. Plugins, peers and the library's calls also go through the conformance tests.\n"
        "A shorter run: --plan quick, --shapes, --kernels; --dry-run estimates its time.\n"
        "Exit code 0: fine; 2: usage; 3: noise: time and speed relative to the copy disagree\n"
        "about the fastest kernel or call, beyond their intervals; 5: a kernel is inaccurate; 6:\n"
        "a kernel crashed, hung or broke its contract; 7: a file, the environment or a chart\n"
        "failed, or a case has no result; 130: interrupted (--resume continues). Neither wide\n"
        "intervals alone nor peers (docs/choosing.md) change the exit code.",
    OPTIONS(options),
    DEFAULTS(
        run_options,
        .run = {.request = {.name = "default", .seed = 1}, .max_row_ulp = INFINITY, .deadline = 10},
        .conformance = "yes", .out = "results/charts"),
    .body = run,
};
