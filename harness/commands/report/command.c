/* lnbench report: charts and the page of a stored run, nothing measured again unless --verify asks.
 */
#include "cli/command.h"
#include "report/charts/chart.h"
#include "report/report.h"
#include "base/paths.h"
#include "commands/result_options.h"
#include "base/allocate.h"
#include "base/hash.h"
#include "base/interrupt.h"
#include "base/program.h"
#include "base/temporary.h"
#include "domain/kernel_json.h"
#include "domain/metric_fields.h"
#include "domain/reproducible.h"
#include "session/replay.h"
#include "worker/worker.h"
#include "cli/options.h"
#include "base/output.h"
#include "answer/run_view.h"
#include <math.h>
#include <string.h>
#include <unistd.h>

/* A figure takes minutes where its plan has many processes. */
static const double most_seconds = 3600;
/* Until a kernel counts as hung, as in lnbench replay. */
static const double replay_deadline = 60;

typedef struct stored_figure {
    const view_case *stored;
    bool speed; /* else its error */
    exit_code code;
    const char *verdict; /* "holds", "does not hold", "gone" */
    char was[96], now[96];
    char reason[256]; /* why it is gone; "" */
} stored_figure;

typedef struct verify_state {
    const run_view *view;
    const word_list *plugins;
    bool elsewhere; /* the run is another machine's */
    /* of errors */
    worker_process *worker;
    kernel_list kernels;
    row_judge *judge;
    /* of speeds */
    temporary_folder folder;
    char database[1100];
} verify_state;

/* ---- the sample ---- */

static bool is_figure(const view_case *view, bool speed)
{
    const stored_case *stored = view->stored;
    if (is_roof(stored->key.kernel))
        return false;
    /* What was timed was judged on all its rows, which only timing it again would do. */
    return speed ? isfinite(view->speed.gbps)
                 : stored->judged && stored->metrics.elements > 0 && stored->repetition_count == 0;
}

/* Draws without replacement, by a hash of the run and the draw's number: the same sample each time.
 * Returns how many there are. */
static size_t draw_figures(const run_view *view, bool speed, size_t wanted, stored_figure *figures)
{
    size_t *indices = allocate_zeroed(view->cases.count + 1, sizeof *indices), count = 0, drawn = 0;
    for (size_t i = 0; i < view->cases.count; i++)
        if (is_figure(&view->views[i], speed))
            indices[count++] = i;
    for (; drawn < wanted && count > 0; drawn++) {
        uint64_t hash = hash_bytes(HASH_START, &view->run.id, sizeof view->run.id);
        hash = hash_bytes(hash, &drawn, sizeof drawn);
        size_t at = (size_t)(hash % count);
        figures[drawn] = (stored_figure){.stored = &view->views[indices[at]], .speed = speed};
        indices[at] = indices[--count];
    }
    free(indices);
    return drawn;
}

/* ---- measuring again ---- */

static bool is_plan(const char *plan)
{
    return strcmp(plan, "quick") == 0 || strcmp(plan, "default") == 0 || strcmp(plan, "full") == 0;
}

/* Runs the command of a speed. words: the last that it said. */
static void run_command(const verify_state *verifying, const case_key *key, char words[256])
{
    static const char name[] = "lnbench: ";
    const stored_run *run = &verifying->view->run;
    const word_list *plugins = verifying->plugins;
    char shape[64], seed[32], threads[16];
    snprintf(shape, sizeof shape, "%zux%zu", key->rows, key->hidden);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)run->seed);
    snprintf(threads, sizeof threads, "%u", key->threads);
    const char *const fixed[] = {"/proc/self/exe",
                                 "run",
                                 "--plan",
                                 is_plan(run->plan) ? run->plan : "quick",
                                 "--only",
                                 "speed",
                                 "--kernels",
                                 key->kernel,
                                 "--conventions",
                                 key->convention,
                                 "--dtypes",
                                 dtype_name(key->dtype),
                                 "--seed",
                                 seed,
                                 "--db",
                                 verifying->database,
                                 "--no-charts",
                                 "--threads",
                                 threads,
                                 "--referee",
                                 "no",
                                 "--cache",
                                 cache_name(key->cache),
                                 "--shapes",
                                 shape};
    enum { FIXED = sizeof fixed / sizeof *fixed };
    const char **arguments = allocate_zeroed(FIXED + 2 * plugins->count + 1, sizeof *arguments);
    memcpy(arguments, fixed, sizeof fixed);
    for (size_t i = 0; i < plugins->count; i++) {
        arguments[FIXED + 2 * i] = "--plugin";
        arguments[FIXED + 2 * i + 1] = plugins->words[i];
    }
    program again = {.arguments = arguments, .seconds = most_seconds, .is_own = true};
    program_start(&again);
    program_end(&again);
    bool named = strncmp(again.words, name, sizeof name - 1) == 0;
    snprintf(words, 256, "%s", again.words + (named ? sizeof name - 1 : 0));
    free(arguments);
}

static void remove_files(const verify_state *verifying)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
    char path[1120];
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        snprintf(path, sizeof path, "%s%s", verifying->database, suffixes[i]);
        unlink(path);
    }
}

/* ---- comparing ---- */

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

/* Every figure of the error, and the output itself where both runs kept its hash. */
static bool same_case_error(const stored_case *a, const stored_case *b)
{
    size_t count;
    const metric_field *fields = metric_fields(&count);
    for (size_t i = 0; i < count; i++)
        if (fields[i].kind == METRIC_REAL
                ? !same_bits(metric_value(&a->metrics, &fields[i]),
                             metric_value(&b->metrics, &fields[i]))
                : metric_count(&a->metrics, &fields[i]) != metric_count(&b->metrics, &fields[i]))
            return false;
    return a->verdict.kind == b->verdict.kind &&
           (!a->hashed || !b->hashed || a->output_hash == b->output_hash);
}

/* The intervals of the share of the roof meet; where there was no roof, those of the time. */
static bool same_speed(const speed_figures *a, const speed_figures *b)
{
    if (isfinite(a->roof_lo) && isfinite(b->roof_lo))
        return a->roof_lo <= b->roof_hi && b->roof_lo <= a->roof_hi;
    return a->time_lo_ns <= b->time_hi_ns && b->time_lo_ns <= a->time_hi_ns;
}

static void show_value(const view_case *view, bool speed, char words[96])
{
    char number[16];
    if (speed && isfinite(view->speed.roof_ratio))
        snprintf(words, 96, "%.3f [%.3f, %.3f]", view->speed.roof_ratio, view->speed.roof_lo,
                 view->speed.roof_hi);
    else if (speed)
        snprintf(words, 96, "%s ns", number_short(view->speed.time_ns, number));
    else
        snprintf(words, 96, "%.9g", view->stored->metrics.row_ulp_max);
}

/* What the library's call takes depends on the CPU, but where its class says otherwise. */
static bool takes_another(const verify_state *verifying, const view_case *figure)
{
    return verifying->elsewhere &&
           kernel_is_call(verifying->view->kernels, figure->stored->key.kernel) &&
           !reproducible_everywhere(verifying->view->kernels, figure->stored->key.kernel);
}

/* now: NULL where it could not be measured again. */
static void conclude(stored_figure *figure, const view_case *now)
{
    bool holds = now && (figure->speed ? same_speed(&figure->stored->speed, &now->speed)
                                       : same_case_error(figure->stored->stored, now->stored));
    show_value(figure->stored, figure->speed, figure->was);
    if (now)
        show_value(now, figure->speed, figure->now);
    else
        snprintf(figure->now, sizeof figure->now, "not measured");
    figure->verdict = holds ? "holds" : now ? "does not hold" : "gone";
    figure->code = holds           ? EXIT_CODE_FINE
                   : !now          ? EXIT_CODE_NOT_COMPARABLE
                   : figure->speed ? EXIT_CODE_REGRESSION
                                   : EXIT_CODE_ACCURACY;
}

/* Runs the speed's command into a database of its own. */
static bool verify_speed(const verify_state *verifying, stored_figure *figure, error *err)
{
    run_view again = {0};
    struct error none = {0};
    const case_key *key = &figure->stored->stored->key;
    run_command(verifying, key, figure->reason);
    if (interrupted())
        return fail(err, EXIT_CODE_INTERRUPTED, "interrupted");
    bool measured = load_stored_run(verifying->database, 0, &again, &none);
    size_t at = measured ? stored_cases_find(&again.cases, key) : 0;
    bool found = measured && at < again.cases.count && is_figure(&again.views[at], true);
    conclude(figure, found ? &again.views[at] : NULL);
    if (figure->code != EXIT_CODE_NOT_COMPARABLE)
        figure->reason[0] = '\0';
    if (measured)
        view_free(&again);
    remove_files(verifying);
    return true;
}

/* Replays the case. A kernel, input or check that is not here is a reason, no error. */
static bool verify_error(const verify_state *verifying, stored_figure *figure, error *err)
{
    const stored_case *stored = figure->stored->stored;
    struct error why = {0};
    replay_result result = {0};
    const kernel_entry *kernel = kernel_find(&verifying->kernels, stored->key.kernel, &why);
    bool replayed =
        kernel && replay_case(verifying->judge, kernel, stored, NULL, false, &result, &why);
    if (interrupted())
        fail(&why, EXIT_CODE_INTERRUPTED, "interrupted");
    if (why.code == EXIT_CODE_INTERRUPTED || why.code == EXIT_CODE_ENVIRONMENT) {
        *err = why;
    } else {
        stored_case again = {.verdict = result.now.verdict,
                             .metrics = result.metrics,
                             .hashed = result.hashed,
                             .output_hash = result.now.hash};
        view_case now = {.stored = &again};
        bool counts =
            replayed && again.metrics.elements > 0 &&
            (!takes_another(verifying, figure->stored) || same_case_error(stored, &again));
        conclude(figure, counts ? &now : NULL);
        if (!counts && replayed)
            verdict_describe(&again.verdict, figure->reason, sizeof figure->reason);
        else if (!replayed)
            snprintf(figure->reason, sizeof figure->reason, "%.250s", why.message);
    }
    replay_result_free(&result);
    return err->code == EXIT_CODE_FINE;
}

/* Errors by a worker of its own, speeds by commands. */
static bool verify_figures(verify_state *verifying, stored_figure *figures, size_t count,
                           error *err)
{
    judge_settings settings = {.seed = verifying->view->run.seed,
                               .max_row_ulp = INFINITY,
                               .deadline_seconds = replay_deadline};
    interrupt_watch();
    bool fine = worker_start(verifying->plugins->words, verifying->plugins->count,
                             &verifying->worker, &verifying->kernels, err);
    if (fine && !(verifying->judge = judge_create(worker_runner(verifying->worker), &settings)))
        fine = fail_memory(err, "the judge");
    fine = fine && temporary_folder_make(&verifying->folder, NULL, "verify", err);
    snprintf(verifying->database, sizeof verifying->database, "%s/again.db",
             verifying->folder.path);
    for (size_t i = 0; fine && i < count; i++)
        fine = figures[i].speed ? verify_speed(verifying, &figures[i], err)
                                : verify_error(verifying, &figures[i], err);
    temporary_folder_remove(&verifying->folder);
    judge_destroy(verifying->judge);
    worker_stop(verifying->worker);
    kernel_list_free(&verifying->kernels);
    return fine;
}

/* ---- showing ---- */

/* In JSON with the run and the exit code. */
static bool show(const verify_state *verifying, const stored_figure *figures, size_t count,
                 exit_code code, const output_file *out, error *err)
{
    static const relation_column columns[] = {
        COLUMN("figure", "figure"),
        COLUMN("kernel", EACH_MEMBER),
        COLUMN("reproducible", "reproducibility"),
        FOR_PEOPLE("case"),
        COLUMN("stored", "stored"),
        COLUMN("now", "now"),
        COLUMN("verdict", "verdict"),
        FOR_PROGRAMS("reason"),
    };
    relation *rows = relation_create(COLUMNS(columns));
    for (size_t i = 0; i < count; i++) {
        const stored_figure *figure = &figures[i];
        const case_key *key = &figure->stored->stored->key;
        relation_row(
            rows, as_text(figure->speed ? "share of roof" : "row ULP"),
            as_json(case_key_json(key), key->kernel), as_class(figure->stored->reproducibility),
            as_format("%zux%zu %s, %s, %s", key->rows, key->hidden, dtype_name(key->dtype),
                      key->convention, figure->speed ? cache_name(key->cache) : key->input),
            as_text(figure->was), as_text(figure->now), as_text(figure->verdict),
            as_text(figure->reason));
    }
    json_t *whole = json_pack("{s:s, s:I, s:i}", "schema", "lnbench-verify-2", "run",
                              (json_int_t)verifying->view->run.id, "exit_code", (int)code);
    if (!relation_print_in(rows, whole, "figures", out, err))
        return false;
    for (size_t i = 0; i < count; i++)
        if (figures[i].reason[0])
            output_line(out, "gone: %s: %s", figures[i].stored->stored->key.kernel,
                        figures[i].reason);
    return true;
}

/* ---- every error ---- */

/* Those that do not hold, and how many there are of each kind. */
static bool show_all(const verify_state *verifying, const stored_figure *figures, size_t count,
                     exit_code code, const output_file *out, error *err)
{
    if (out->format == OUTPUT_JSON)
        return show(verifying, figures, count, code, out, err);
    stored_figure *bad = allocate_zeroed(count + 1, sizeof *bad);
    size_t differ = 0, gone = 0, holding = 0;
    for (size_t i = 0; i < count; i++) {
        holding += figures[i].code == EXIT_CODE_FINE;
        gone += figures[i].code == EXIT_CODE_NOT_COMPARABLE;
        if (figures[i].code != EXIT_CODE_FINE && figures[i].code != EXIT_CODE_NOT_COMPARABLE)
            bad[differ++] = figures[i];
    }
    bool fine =
        (differ == 0 && !output_is_data(out)) || show(verifying, bad, differ, code, out, err);
    if (fine)
        output_line(out,
                    "%zu errors: %zu hold bit for bit, %zu differ, %zu need another CPU, input or "
                    "plugin; speeds need the machine",
                    count, holding, differ, gone);
    free(bad);
    return fine;
}

/* Every error of the view again, and which differ; a kernel that cannot run here differs in nothing,
 * and on another machine (`elsewhere`) a call of the library that takes another kernel there.
 * *code gets worse: 5 where one differs, 4 where none could be derived. */
static bool report_verify_errors(const run_view *view, bool elsewhere, const word_list *plugins,
                                 const output_file *out, exit_code *code, error *err)
{
    verify_state verifying = {.view = view, .plugins = plugins, .elsewhere = elsewhere};
    stored_figure *figures = allocate_zeroed(view->cases.count + 1, sizeof *figures);
    size_t count = 0, holding = 0;
    for (size_t i = 0; i < view->cases.count; i++)
        if (is_figure(&view->views[i], false))
            figures[count++] = (stored_figure){.stored = &view->views[i]};
    bool fine = count > 0 || fail(err, EXIT_CODE_NOT_COMPARABLE, "run %lld: has no error to verify",
                                  (long long)view->run.id);
    fine = fine && verify_figures(&verifying, figures, count, err);
    for (size_t i = 0; fine && i < count; i++) {
        holding += figures[i].code == EXIT_CODE_FINE;
        if (figures[i].code != EXIT_CODE_NOT_COMPARABLE)
            *code = worse_exit_code(*code, figures[i].code);
    }
    if (holding == 0 && (*code == EXIT_CODE_FINE || *code == EXIT_CODE_INCONCLUSIVE))
        *code = EXIT_CODE_NOT_COMPARABLE;
    if (fine)
        fine = show_all(&verifying, figures, count, *code, out, err);
    free(figures);
    return fine;
}

/* Runs `sample` figures of the view again, with these plugins, in a database of their own that is
 * removed, and prints a table of which still hold: an error when every figure of it and the hash of
 * the output are the same bits, a speed when the intervals of its share of the roof meet. *code
 * gets worse: 1 a speed does not hold, 4 a case could not be measured again, 5 an error does not. */
static bool report_verify(const run_view *view, size_t sample, const word_list *plugins,
                          const output_file *out, exit_code *code, error *err)
{
    verify_state verifying = {.view = view, .plugins = plugins};
    if (sample == 0 || sample > 10000)
        return fail(err, EXIT_CODE_USAGE, "--sample %zu: 1 to 10000 was expected", sample);
    stored_figure *figures = allocate_zeroed(sample + 1, sizeof *figures);
    size_t count = draw_figures(view, false, (sample + 1) / 2, figures);
    count += draw_figures(view, true, sample - count, figures + count);
    bool fine = count > 0 || fail(err, EXIT_CODE_NOT_COMPARABLE,
                                  "run %lld: has no figure to verify", (long long)view->run.id);
    fine = fine && verify_figures(&verifying, figures, count, err);
    for (size_t i = 0; fine && i < count; i++)
        *code = worse_exit_code(*code, figures[i].code);
    if (fine)
        fine = show(&verifying, figures, count, *code, out, err);
    free(figures);
    return fine;
}

typedef struct report_options {
    const char *database, *out, *chart;
    uint64_t run, sample;
    word_list plugins;
    result_options shown;
    output_file printed;
    bool verify, errors, no_pdf, no_charts, allow_lost;
} report_options;

/* All errors where they are asked for, or where the run is another machine's; else a sample. */
static bool verify(const report_options *options, const run_view *view, exit_code *code, error *err)
{
    machine_facts here;
    machine_read(&here);
    bool elsewhere = machine_difference(&view->machine, &here) != NULL;
    machine_free(&here);
    if (options->errors || elsewhere)
        return report_verify_errors(view, elsewhere, &options->plugins, &options->printed, code,
                                    err);
    return report_verify(view, options->sample, &options->plugins, &options->printed, code, err);
}

/* A report of half a run is none of the whole. */
static void say_partial(const run_view *view, error *err)
{
    text_buffer line = {0};
    view_add_coverage(view, &line);
    fail(err, EXIT_CODE_INCONCLUSIVE,
         "run %lld: %.300s (run it again with --resume, or accept it with --allow-lost)",
         (long long)view->run.id, line.bytes ? line.bytes : "");
    text_free(&line);
}

static exit_code report(void *context, const cli_call *call, error *err)
{
    report_options *options = context;
    run_view view;
    exit_code code = EXIT_CODE_FINE;
    (void)call;
    if (options->chart)
        return charts_draw_again(options->chart, options->out, &options->printed, err)
                   ? EXIT_CODE_FINE
                   : err->code;
    if (!load_reported_run(options->database, options->run, &view, err))
        return err->code;
    if (view_is_partial(&view) && !options->allow_lost)
        code = EXIT_CODE_INCONCLUSIVE;
    /* A place that cannot be written to is found before anything is shown. */
    if (!options->verify && !options->no_charts && !make_directories(options->out, err)) {
        view_free(&view);
        return err->code;
    }
    bool fine = options->verify
                    ? verify(options, &view, &code, err)
                    : result_show(&options->shown, &view, options->database, NULL,
                                  &options->printed, err) &&
                          (options->no_charts || draw_report(&view, options->out, !options->no_pdf,
                                                             &options->printed, err));
    if (fine && code == EXIT_CODE_INCONCLUSIVE)
        say_partial(&view, err);
    else if (fine && !options->verify)
        code = result_exit_code(&view);
    view_free(&view);
    return fine ? code : err->code;
}

static const cli_option options[] = {
    {"run", "N", "which run (default: the latest of lnbench run; lnbench list runs)", OPTION_COUNT,
     offsetof(report_options, run)},
    {"out", "DIR", "where charts and page go (default: results/charts)", OPTION_TEXT,
     offsetof(report_options, out)},
    {"draw", "NAME", "draw this chart again from the tables in DIR/data; no run is read",
     OPTION_TEXT, offsetof(report_options, chart)},
    {"no-charts", NULL, "the table and the answer only", OPTION_FLAG,
     offsetof(report_options, no_charts)},
    {"no-pdf", NULL, "leave out report.pdf", OPTION_FLAG, offsetof(report_options, no_pdf)},
    {"verify", NULL, "measure a sample of the figures again, and say which hold", OPTION_FLAG,
     offsetof(report_options, verify)},
    {"errors", NULL, "with --verify: every error and no speed", OPTION_FLAG,
     offsetof(report_options, errors)},
    {"sample", "N", "how many figures --verify takes (default: 8)", OPTION_COUNT,
     offsetof(report_options, sample)},
    ALLOW_LOST_OPTION(report_options, allow_lost),
    PLUGIN_OPTION(report_options, plugins),
    RESULT_OPTIONS(report_options, shown),
    OUTPUT_OPTIONS(report_options, printed),
    STORE_OPTION(report_options, database),
};

const cli_command command_report = {
    .name = "report",
    .brief = "charts and page of a stored run, nothing measured again",
    .usage = "[OPTION...]",
    .summary = "Draws the charts and the page of a stored run: HTML, Markdown and PDF.",
    .details =
        "Nothing is measured again, but for --verify: it makes a sample of figures again,\n"
        "half of them errors, replayed, which must agree bit for bit, half of them speeds, whose\n"
        "intervals must meet; nothing is stored. Of a run of another machine it derives every "
        "error again, "
        "no\n"
        "speed, and lists what differs.\n"
        "Exit code: 0 fine, or all figures hold; 1 a speed does not hold; 3 cases are lost, the\n"
        "run did not end, or it is too noisy to say which kernel is fastest; 4 what was measured\n"
        "is not there any more; 5 an error does not hold; 2 usage; 7 files or environment, or\n"
        "gnuplot or WeasyPrint is installed and failed: the line names what is missing.",
    OPTIONS(options),
    DEFAULTS(report_options, .out = "results/charts", .sample = 8),
    .body = report,
};
