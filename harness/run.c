/* lnbench run: plan, measure, judge, store, table, charts, report. */
#include "command.h"
#include "draw.h"
#include "hash.h"
#include "interrupt.h"
#include "output.h"
#include "paths.h"
#include "result_table.h"
#include "session_setup.h"
#include "text.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct run_options {
    plan_request request;
    word_list plugins;
    const char *database, *out;
    double max_row_ulp, deadline;
    bool resume, dry_run, huge_pages, no_charts;
    output_request request_output;
    output printed;
} run_options;

static char *command_text(int argc, char **argv)
{
    text line = {0};
    text_add(&line, "lnbench");
    for (int i = 0; i < argc; i++)
        text_format(&line, " %s", argv[i]);
    return line.bytes;
}

/* How many groups from `first` on differ in their input alone. */
static size_t alike(const plan *plan, size_t first)
{
    const accuracy_group *group = &plan->accuracy[first];
    size_t count = 1;
    while (first + count < plan->accuracy_count && group[count].rows == group->rows &&
           group[count].hidden == group->hidden && group[count].dtype == group->dtype &&
           group[count].param == group->param &&
           strcmp(group[count].convention_label, group->convention_label) == 0)
        count++;
    return count;
}

/* The cases that would be measured, as run --json prints them once they are. */
static bool dry_run_json(const plan *plan, const output *out, error *error)
{
    json_t *array = json_array();
    bool fine = array != NULL;
    for (size_t i = 0; fine && i < plan->accuracy_count + plan->speed_count; i++)
        for (size_t kernel = 0; fine && kernel < plan->kernel_count; kernel++) {
            const kernel_entry *entry = plan->kernels[kernel];
            const accuracy_group *judged = i < plan->accuracy_count ? &plan->accuracy[i] : NULL;
            const speed_group *timed = judged ? NULL : &plan->speed[i - plan->accuracy_count];
            if (!plan_takes(entry, judged ? judged->dtype : timed->dtype,
                            judged ? judged->param : timed->param))
                continue;
            stored_case planned = {.key = judged ? accuracy_key(judged, entry)
                                                 : speed_key(timed, entry->facts.name)};
            view_case view = {.stored = &planned, .regime = ""};
            planned.bound_row_ulp = NAN;
            fine = json_array_append_new(array, view_case_json(&view)) == 0;
        }
    if (!fine) {
        json_decref(array);
        return fail_memory(error, "the plan");
    }
    return output_json(out, array, error);
}

static bool dry_run(const plan *plan, const output *out, error *error)
{
    static const char *const headings[] = {
        "what", "dtype",  "convention", "input",
        "rows", "hidden", "cache",      "processes x repetitions"};
    table *table = table_create(headings, sizeof headings / sizeof *headings);
    if (!table)
        return fail_memory(error, "the plan's table");
    for (size_t i = 0, count; i < plan->accuracy_count; i += count) {
        const accuracy_group *group = &plan->accuracy[i];
        count = alike(plan, i);
        table_cell(table, "accuracy");
        table_cell(table, dtype_name(group->dtype));
        table_cell(table, group->convention_label);
        if (count == 1)
            table_cell(table, group->input);
        else
            table_format(table, "%s and %zu more", group->input, count - 1);
        table_format(table, "%zu", group->rows);
        table_format(table, "%zu", group->hidden);
        table_cell(table, "-");
        table_cell(table, "-");
    }
    for (size_t i = 0; i < plan->speed_count; i++) {
        const speed_group *group = &plan->speed[i];
        table_cell(table, "speed");
        table_cell(table, dtype_name(group->dtype));
        table_cell(table, group->convention_label);
        table_cell(table, "normal");
        table_format(table, "%zu", group->rows);
        table_format(table, "%zu", group->hidden);
        table_cell(table, cache_name(group->cache));
        table_format(table, "%u x %u", group->processes, group->repetitions);
    }
    if (!output_table(out, table, error) || out->format == OUTPUT_TSV)
        return error->code == EXIT_CODE_FINE;
    printf("\n%zu kernel%s:", plan->kernel_count, plan->kernel_count == 1 ? "" : "s");
    for (size_t i = 0; i < plan->kernel_count; i++)
        printf(" %s", plan->kernels[i]->facts.name);
    printf("\n%zu judgements, %zu repetitions, about %.0f s\n", plan_judgements(plan),
           plan_repetitions(plan), session_plan_seconds(plan));
    return true;
}

/* A new run in the store, or an unfinished one of the same plan. */
static bool begin(session *session, const run_options *options, const char *command_line,
                  error *error)
{
    if (options->resume) {
        if (!store_find_unfinished(session->store, session->plan.hash, &session->run, error))
            return false;
        session->resumed = session->run != 0;
        if (!session->resumed)
            fprintf(stderr, "lnbench: no unfinished run of this plan in %s: a new one begins\n",
                    options->database);
        else
            return store_next_process(session->store, session->run, &session->next_process, error);
    }
    run_info info = {
        .command_line = command_line,
        .plan = session->plan.name,
        .plan_hash = session->plan.hash,
        .seed = session->plan.seed,
        .machine = &session->machine,
    };
    return store_begin_run(session->store, &info, &session->run, error) &&
           session_store_kernels(session, error);
}

static bool measure(session *session, const kernel_list *kernels, error *error)
{
    progress_begin(&session->progress, session_plan_seconds(&session->plan));
    bool fine = session_invariance(session, kernels, error) && session_accuracy(session, error) &&
                session_speed(session, error);
    progress_end(&session->progress);
    /* Also what an interrupted run has seen. */
    struct error storing = {0};
    return session_store_kernels(session, fine ? error : &storing) && fine;
}

/* How the answers that the kernels were held against came about. */
static void print_certified(const judge *judge)
{
    char words[256];
    ln_reference_counts counts = judge_reference_counts(judge);
    if (counts.elements > 0)
        printf("certified  %s\n", judge_describe_counts(&counts, words, sizeof words));
}

static bool show(session *session, const run_options *options, bool finished, error *error)
{
    view view;
    if (!view_load(session->store, session->run, &view, error))
        return false;
    session->worst = worse_exit_code(session->worst, view_exit_code(&view));
    bool fine = result_table_print(&view, &options->printed, error);
    bool is_text = options->printed.format == OUTPUT_TEXT;
    fprintf(is_text ? stdout : stderr, "\nstored  run %lld in %s\n", (long long)session->run,
            options->database);
    if (is_text && session->judge)
        print_certified(session->judge);
    if (fine && finished && is_text && !options->no_charts)
        fine = draw_report(&view, options->out, false, stdout, error);
    view_free(&view);
    return fine;
}

static bool run_plan(session *session, const kernel_list *kernels, const run_options *options,
                     const char *command_line, error *error)
{
    /* Places that cannot be written to are found before anything is measured. */
    bool charts = options->printed.format == OUTPUT_TEXT && !options->no_charts;
    if ((charts && !make_directories(options->out, error)) ||
        !make_parent_directory(options->database, error) ||
        !store_open(options->database, STORE_WRITE, &session->store, error) ||
        !begin(session, options, command_line, error))
        return false;
    bool finished = measure(session, kernels, error);
    struct error ending = *error;
    bool was_interrupted = !finished && error->code == EXIT_CODE_INTERRUPTED;
    if (!store_end_run(session->store, session->run, finished ? RUN_COMPLETE : RUN_INTERRUPTED,
                       finished ? error : &ending))
        return false;
    if (!finished && !was_interrupted)
        return false;
    struct error shown = {0};
    if (!show(session, options, finished, &shown)) {
        *error = shown;
        return false;
    }
    if (was_interrupted)
        return fail(error, EXIT_CODE_INTERRUPTED,
                    "interrupted: what was measured is kept; the same command with --resume "
                    "goes on");
    return true;
}

/* What decides results and is no part of the plan; a deadline only decides when to give up. */
static uint64_t hash_settings(const run_options *options)
{
    uint64_t hash = hash_bytes(HASH_START, &options->max_row_ulp, sizeof options->max_row_ulp);
    return hash_bytes(hash, &options->huge_pages, sizeof options->huge_pages);
}

static bool prepare(session *session, const run_options *options, kernel_list *kernels,
                    error *error)
{
    const char *database = options->database;
    if (strlen(database) == 0)
        return fail(error, EXIT_CODE_USAGE, "--db: a file name was expected");
    if (!seconds_check("deadline", options->deadline, error) ||
        !worker_start(options->plugins.words, options->plugins.count, &session->worker, kernels,
                      error) ||
        !machine_read(&session->machine, error))
        return false;
    if (kernels->left_out[0])
        fprintf(stderr, "lnbench: a peer is left out: %s\n", kernels->left_out);
    if (!plan_make(&options->request, kernels, &session->machine, &session->plan, error))
        return false;
    judge_settings settings = {
        .seed = options->request.seed,
        .max_row_ulp = options->max_row_ulp,
        .deadline_seconds = options->deadline,
    };
    session->judge = judge_create(session->worker, &settings);
    session->cpu = session_last_cpu();
    session->huge_pages = options->huge_pages;
    session->deadline_seconds = options->deadline;
    return session->judge || fail_memory(error, "the judge");
}

exit_code command_run(int argc, char **argv, error *error)
{
    run_options run = {
        .request = {.name = "default", .seed = 1},
        .database = "results/lnbench.db",
        .out = "results/charts",
        .max_row_ulp = INFINITY,
        .deadline = 10,
    };
    plan_request *request = &run.request;
    const option options[] = {
        {"plan", "quick|default|full", "which cases (default: default)", OPTION_TEXT,
         &request->name},
        {"kernels", "GLOB,...", "only these kernels", OPTION_LIST, &request->kernels},
        {"conventions", "C,...", "only these: presets or lists (lnbench list conventions)",
         OPTION_RAW, &request->conventions},
        {"dtypes", "f32,...", "f32, f64, bf16, f16 (default: f32; the full plan: all)", OPTION_LIST,
         &request->dtypes},
        {"shapes", "ROWSxHIDDEN,...", "these shapes instead of the plan's", OPTION_LIST,
         &request->shapes},
        {"inputs", "FAMILY,...", "judge these inputs: families or .npy files", OPTION_LIST,
         &request->inputs},
        {"cache", "hot,cold,in-place", "cache states to time in, or y is x (default: hot)",
         OPTION_LIST, &request->caches},
        {"threads", "T,...", "threads of one call (default: 1)", OPTION_LIST, &request->threads},
        {"only", "speed|accuracy", "leave out the other half", OPTION_TEXT, &request->only},
        PLUGIN_OPTION(run.plugins),
        {"seed", "N", "of inputs and of the order (default: 1)", OPTION_COUNT, &request->seed},
        {"processes", "P", "worker processes that time each shape (default: the plan's)",
         OPTION_COUNT, &request->processes},
        {"repetitions", "R", "repetitions in each of them (default: the plan's)", OPTION_COUNT,
         &request->repetitions},
        {"max-row-ulp", "X", "above it a case is inaccurate, whatever its bound", OPTION_REAL,
         &run.max_row_ulp},
        DEADLINE_OPTION(run.deadline, 10),
        {"huge-pages", NULL, "ask for transparent huge pages for timed buffers", OPTION_FLAG,
         &run.huge_pages},
        {"db", "FILE", "result store (default: results/lnbench.db)", OPTION_TEXT, &run.database},
        {"out", "DIR", "where charts and the report go (default: results/charts)", OPTION_TEXT,
         &run.out},
        {"no-charts", NULL, "table only", OPTION_FLAG, &run.no_charts},
        {"resume", NULL, "go on with the unfinished run of the same plan", OPTION_FLAG,
         &run.resume},
        {"dry-run", NULL, "show the plan, measure nothing", OPTION_FLAG, &run.dry_run},
        {"format", "text|markdown|tsv|json", "of the table; any but text: no charts", OPTION_TEXT,
         &run.request_output.format},
        {"json", NULL, "the same as --format json", OPTION_FLAG, &run.request_output.json},
    };
    const subcommand subcommand = {
        "run",
        "[OPTION...]",
        "Measures and judges kernels, stores every result, draws the charts.",
        "Speed is timed on normal input, under the first convention; of each shape up to 18 rows "
        "are\n"
        "judged, on every input and under every convention. A .npy file is judged at its own "
        "size.\n"
        "Exit code: 0 fine; 5 a kernel is inaccurate; 6 a kernel crashed, hung or wrote where it\n"
        "must not; 2 usage; 7 files or environment; 130 interrupted (go on with --resume).\n"
        "Peers (docs/peers.md) never decide it.",
        options,
        sizeof options / sizeof *options,
        0};
    word_list operands = {0};
    bool help;
    kernel_list kernels = {0};
    session session = {.cpu = -1};
    char *line = command_text(argc, argv);
    bool fine = options_parse(&subcommand, argc, argv, &operands, &help, error);
    if (fine && help)
        options_help(&subcommand, stdout);
    else if (fine) {
        interrupt_watch();
        request->settings = hash_settings(&run);
        fine = output_choose(&run.request_output, &run.printed, error) &&
               prepare(&session, &run, &kernels, error);
        if (fine && run.dry_run)
            fine = run.printed.format == OUTPUT_JSON
                       ? dry_run_json(&session.plan, &run.printed, error)
                       : dry_run(&session.plan, &run.printed, error);
        else if (fine)
            fine = run_plan(&session, &kernels, &run, line ? line : "lnbench run", error);
    }
    exit_code code = fine ? session.worst : error->code;
    store_close(session.store);
    judge_destroy(session.judge);
    worker_stop(session.worker);
    free(session.invariance);
    plan_free(&session.plan);
    machine_free(&session.machine);
    kernel_list_free(&kernels);
    word_list *lists[] = {&request->kernels, &request->conventions, &request->dtypes,
                          &request->shapes,  &request->inputs,      &request->caches,
                          &request->threads, &run.plugins,          &operands};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        word_list_free(lists[i]);
    free(line);
    return code;
}
