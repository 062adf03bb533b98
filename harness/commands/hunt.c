/* lnbench hunt: finds the rows on which a kernel is least accurate. conformance/hunt.c does the search; this file has
 * its options, its table, and the file of adversarial rows, which is rewritten after each climb. */
#include "conformance/conformance.h"
#include "base/output.h"
#include "base/clock.h"
#include "commands/options.h"
#include "domain/operation.h"
#include "base/program.h"
#include "domain/kernel.h"
#include "worker/worker.h"
#include "show/answer.h"
#include <math.h>
#include <string.h>

typedef struct hunt_options {
    const char *kernel, *convention, *out, *database;
    word_list plugins;
    uint64_t hidden, seed;
    double seconds; /* 0: not given */
    output_file printed;
} hunt_options;

/* Prints the rows that were found as a table with a summary line, or as JSON. `path`: the file that holds them. */
static void print_hunt(const hunt_state *hunt, const char *path, double seconds,
                       const output_file *out)
{
    static const relation_column columns[] = {
        FOR_PROGRAMS("restart"),
        FOR_PROGRAMS("score"),
        COLUMN("row ULP", "row_ulp_max"),
        COLUMN("proven", "bound_row_ulp"),
        FOR_PROGRAMS("column"),
        FOR_PROGRAMS("computed"),
        FOR_PROGRAMS("exact"),
        COLUMN("verdict", EACH_MEMBER),
        FOR_PEOPLE("worst element"),
        COLUMN("origin", "origin"),
    };
    const hunt_settings *settings = &hunt->settings;
    relation *rows = relation_create(COLUMNS(columns));
    for (size_t i = 0; i < hunt->find_count; i++) {
        const worst_row *find = &hunt->finds[i];
        double bound = find->bound_row_ulp;
        relation_row(
            rows, as_count(find->restart), as_figure(find->score), as_figure(find->row_ulp),
            isinf(bound) ? as_json(json_null(), "none") : as_figure(bound), as_count(find->column),
            as_format("%a", find->computed), as_format("%a", find->exact),
            as_verdict(&find->verdict),
            as_format("column %zu: %a, exactly %a", find->column, find->computed, find->exact),
            as_text(find->origin));
    }
    json_t *whole = json_pack(
        "{s:s, s:o, s:s, s:s, s:I, s:I, s:I, s:I, s:o, s:b, s:o}", "kernel", settings->kernel,
        "reproducibility", reproducible_json(hunt->reproducible), "convention",
        settings->convention, "dtype", dtype_name(settings->storage), "hidden",
        (json_int_t)settings->hidden, "seed", (json_int_t)settings->seed, "restarts",
        (json_int_t)hunt->done, "rows_tried", (json_int_t)hunt->rows, "seconds",
        json_figure(seconds), "interrupted", hunt->interrupted, "file", json_text(path));
    relation_print_in(rows, whole, "finds", out);
    output_line(out, "\n%llu climbs, %llu rows tried in %.1f s (%.0f a second)%s",
                (unsigned long long)hunt->done, (unsigned long long)hunt->rows, seconds,
                (double)hunt->rows / seconds, hunt->interrupted ? ": interrupted" : "");
    if (hunt->reproducible)
        output_line(out, "%s is reproducible: %s", settings->kernel, hunt->reproducible);
    output_line(out, "finds   %s", path);
}

/* Runs all climbs. The file is rewritten after each, so that an interruption loses no find. */
static void search(hunt_state *hunt, const char *path)
{
    const hunt_settings *settings = &hunt->settings;
    progress_bar progress;
    double begun = seconds_now(), last = begun;
    bool timed = settings->seconds > 0;
    hunt_begin(hunt);
    progress_begin(&progress, timed ? settings->seconds : HUNT_RESTARTS);
    for (uint64_t k = 0; !hunt->cut && (timed || k < HUNT_RESTARTS); k++) {
        char what[96];
        hunt_climb(hunt, k);
        hunt_save(hunt, "running", path);
        snprintf(what, sizeof what, "climb %llu, worst so far %.4g", (unsigned long long)k,
                 hunt->find_count ? hunt->finds[0].score : 0.0);
        progress_step(&progress, timed ? seconds_now() - last : 1, what);
        last = seconds_now();
    }
    progress_end(&progress);
    hunt_save(hunt, hunt->interrupted ? "interrupted" : "complete", path);
}

/* Prepares the kernel and its judge. Measures its reproducibility class before the search, so that an interrupted
 * search has it too. */
static void prepare_hunt(const hunt_options *options, hunt_state *hunt, worker_process **worker,
                         kernel_list *kernels)
{
    const judge_settings judging = {
        .seed = options->seed, .max_row_ulp = INFINITY, .deadline_seconds = 10};
    hunt_settings *settings = &hunt->settings;
    invariance_result found = {0};
    const char *name = options->kernel;
    if (!name)
        die(EXIT_CODE_USAGE, "--kernels NAME is missing");
    if (options->hidden == 0 || options->hidden > 1 << 20)
        die(EXIT_CODE_USAGE, "invalid --hidden %llu: choose 1 to 1048576",
            (unsigned long long)options->hidden);
    *worker = worker_start(options->plugins.words, options->plugins.count, kernels);
    hunt->kernel = kernel_meant(kernels, name);
    const ln_convention convention = convention_for(
        kernel_words_convention(kernels, &(word_list){&name, 1}, options->convention),
        hunt->kernel->facts.storage);
    *settings = (hunt_settings){.hidden = (size_t)options->hidden,
                                .seed = options->seed,
                                .seconds = options->seconds,
                                .storage = hunt->kernel->facts.storage,
                                .param = hunt->kernel->facts.param};
    snprintf(settings->kernel, sizeof settings->kernel, "%.63s", name);
    convention_label(&convention, settings->convention);
    hunt->judge = judge_create(worker_runner(*worker), &judging);
    if (hunt->kernel->unsupported[0])
        die(EXIT_CODE_ENVIRONMENT, "%s: cannot run here: %s", settings->kernel,
            hunt->kernel->unsupported);
    if (!invariance_measure(hunt->judge, &convention, NULL, kernels, &hunt->kernel, &found, 1))
        die(EXIT_CODE_INTERRUPTED, "interrupted");
    hunt->reproducible = reproducible_found(&hunt->kernel->facts, &found);
}

static exit_code run_hunt(void *context, const cli_call *call)
{
    const hunt_options *options = context;
    const char *slash = strrchr(options->database, '/');
    hunt_state hunt = {0};
    worker_process *worker = NULL;
    kernel_list kernels = {0};
    char path[1024] = "";
    double begun = seconds_now();
    (void)call;
    interrupt_watch();
    prepare_hunt(options, &hunt, &worker, &kernels);
    /* The default is hunts/KERNEL_CONVENTION_HIDDEN_sSEED.txt in the folder of the store. */
    snprintf(path, sizeof path, "%.*shunts/%s_%s_%zu_s%llu.txt",
             slash ? (int)(slash + 1 - options->database) : 0, options->database,
             hunt.settings.kernel, hunt.settings.convention, hunt.settings.hidden,
             (unsigned long long)options->seed);
    if (options->out)
        snprintf(path, sizeof path, "%.1000s", options->out);
    make_parent_directory(path);
    search(&hunt, path);
    print_hunt(&hunt, path, seconds_now() - begun, &options->printed);
    exit_code code = hunt.interrupted ? EXIT_CODE_INTERRUPTED : EXIT_CODE_FINE;
    for (size_t i = 0; i < hunt.find_count; i++)
        code = worse_exit_code(code, verdict_exit_code(&hunt.finds[i].verdict));
    judge_destroy(hunt.judge);
    hunt_free(&hunt);
    worker_stop(worker);
    kernel_list_free(&kernels);
    return code;
}

static const cli_option options[] = {
    {"kernels", "NAME", "the kernel to hunt: its name or label", OPTION_TEXT,
     offsetof(hunt_options, kernel)},
    {"conventions", "C", "preset or list (default: torch; for RMSNorm torch-rms)", OPTION_TEXT,
     offsetof(hunt_options, convention)},
    {"hidden", "N", "length of the rows (default: 64)", OPTION_COUNT,
     offsetof(hunt_options, hidden)},
    {"time", "S", "climb for about S seconds (default: 54 climbs)", OPTION_SECONDS,
     offsetof(hunt_options, seconds)},
    {"seed", "N", "seed of starts, steps and parameters (default: 1)", OPTION_COUNT,
     offsetof(hunt_options, seed)},
    {"out", "FILE", "write to FILE (default: in hunts/ beside the store)", OPTION_TEXT,
     offsetof(hunt_options, out)},
    STORE_OPTION(hunt_options, database),
    PLUGIN_OPTION(hunt_options, plugins),
    OUTPUT_OPTIONS(hunt_options, printed),
};

const cli_command command_hunt = {
    .name = "hunt",
    .brief = "search for the rows on which a kernel is worst",
    .usage = "--kernels NAME [--conventions C] [--time S] [OPTION...]",
    .example = "hunt --kernels two_pass_f32_avx2 --time 60",
    .summary = "Searches for the rows on which a kernel is worst.",
    .details =
        "The search is hill climbing over the bits of a row, from rows of each input family in\n"
        "turn. The file is written after each climb, and on Ctrl-C. lnbench replay FILE runs the\n"
        "rows again; lnbench run --inputs worst:FILE judges kernels on them.\n"
        "Exit code 0: fine; 2: usage; 5: on some row the error exceeds the kernel's bound, or an\n"
        "element is of the wrong kind (NaN, infinity, number); 6: the kernel failed; 7: a file\n"
        "or the environment failed; 130: interrupted.",
    OPTIONS(options),
    DEFAULTS(hunt_options, .hidden = 64, .seed = 1),
    .body = run_hunt,
};
