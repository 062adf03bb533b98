/* lnbench hunt: the rows on which a kernel is worst. */
#include "referee/hunt/hunt.h"
#include "base/seconds.h"
#include "cli/command.h"
#include "domain/convention.h"
#include "base/interrupt.h"
#include "base/paths.h"
#include "commands/hunt/show.h"
#include "base/progress.h"
#include "domain/reproducible.h"
#include "referee/invariance.h"
#include "worker/worker.h"
#include "answer/run_view.h"
#include "base/files.h"
#include "machine/machine.h"
#include "base/output.h"
#include "referee/hunt/shard.h"
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

static relation *finds_relation(const hunt_state *hunt)
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
    return rows;
}

/* All that JSON has besides the finds. */
static json_t *hunt_json(const hunt_state *hunt, const char *path, double seconds)
{
    const hunt_settings *settings = &hunt->settings;
    bool timed = !isnan(seconds);
    return json_pack(
        "{s:s, s:o, s:s, s:s, s:I, s:I, s:s, s:I, s:o, s:o, s:b, s:o}", "kernel", settings->kernel,
        "reproducibility", reproducible_json(hunt->reproducible), "convention",
        settings->convention, "dtype", dtype_name(settings->storage), "hidden",
        (json_int_t)settings->hidden, "seed", (json_int_t)settings->seed, "goal",
        settings->goal == GOAL_BOUND ? "bound" : "row-ulp", "restarts", (json_int_t)hunt->done,
        "rows_tried", timed ? json_integer((json_int_t)hunt->rows) : json_null(), "seconds",
        json_figure(seconds), "interrupted", hunt->interrupted, "file", json_text(path));
}

bool hunt_print(const hunt_state *hunt, const char *path, double seconds, const output_file *output,
                error *err)
{
    if (!relation_print_in(finds_relation(hunt), hunt_json(hunt, path, seconds), "finds", output,
                           err))
        return false;
    output_line(output, "%s", "");
    if (isnan(seconds))
        output_line(output, "%llu restarts", (unsigned long long)hunt->done);
    else
        output_line(output, "%llu restarts, %llu rows tried in %.1f s (%.0f a second)%s",
                    (unsigned long long)hunt->done, (unsigned long long)hunt->rows, seconds,
                    (double)hunt->rows / seconds, hunt->interrupted ? ": interrupted" : "");
    if (hunt->reproducible)
        output_line(output, "%s is reproducible: %s", hunt->settings.kernel, hunt->reproducible);
    output_line(output, "finds   %s", path);
    return true;
}

static const double seconds_between_saves = 5;

/* Which machine this is, and what the shard is of. */
static void introduce(hunt_shard *shard)
{
    machine_facts machine;
    machine_read(&machine);
    snprintf(shard->cpu, sizeof shard->cpu, "%.127s", machine_fact_value(&machine, "cpu_model"));
    machine_free(&machine);
    if (gethostname(shard->host, sizeof shard->host - 1) != 0)
        snprintf(shard->host, sizeof shard->host, "unknown");
    hunt_plan_hash(&shard->hunt.settings, shard->plan);
    snprintf(shard->library, sizeof shard->library, "%016llx",
             (unsigned long long)shard->hunt.kernel->object_hash);
}

static bool of_one_hunt(const char *path, const hunt_shard *there, const hunt_shard *shard,
                        error *err)
{
    const char *differs = hunt_shard_difference(there, shard);
    return !differs || fail(err, EXIT_CODE_USAGE,
                            "%s: of another hunt: %s differs; each hunt needs a folder of its own",
                            path, differs);
}

/* Takes over what a file has. A file that was cut off counts as none. */
static bool take_up(hunt_shard *shard, const char *path, bool *taken, const output_file *printed,
                    error *err)
{
    hunt_shard there;
    error why = {0};
    *taken = false;
    if (access(path, F_OK) != 0)
        return true;
    if (!hunt_shard_read(path, &there, &why)) {
        if (why.code == EXIT_CODE_USAGE) {
            output_line(printed, "%s: cut off or changed: hunted again", path);
            return true;
        }
        *err = why;
        return false;
    }
    bool fine = of_one_hunt(path, &there, shard, err);
    if (fine && there.hunt.settings.shard != shard->hunt.settings.shard)
        fine = fail(err, EXIT_CODE_USAGE, "%s: holds shard %llu: it was renamed", path,
                    (unsigned long long)there.hunt.settings.shard);
    if (fine) {
        hunt_state *hunt = &shard->hunt;
        while (hunt->find_count > 0)
            worst_row_free(&hunt->finds[--hunt->find_count]);
        free(hunt->finds);
        hunt->finds = there.hunt.finds;
        hunt->find_count = there.hunt.find_count;
        hunt->done = there.hunt.done;
        hunt->rows = there.hunt.rows;
        free(shard->records);
        shard->records = there.records;
        shard->record_count = there.record_count;
        shard->seconds = there.seconds;
        there.hunt.finds = NULL;
        there.hunt.find_count = 0;
        there.records = NULL;
        *taken = true;
    }
    hunt_shard_free(&there);
    return fine;
}

/* One file of the folder stands for all: merge looks at each. */
static bool check_folder(const hunt_shard *shard, const char *directory, error *err)
{
    DIR *folder = opendir(directory);
    bool fine = true, begun, looked = false;
    if (!folder)
        return fail(err, EXIT_CODE_ENVIRONMENT, "%s: cannot read it: %s", directory,
                    strerror(errno));
    for (struct dirent *entry; fine && !looked && (entry = readdir(folder));) {
        char path[SHARD_PATH];
        hunt_shard there;
        if (!hunt_shard_named(entry->d_name, &begun))
            continue;
        snprintf(path, sizeof path, "%.700s/%.300s", directory, entry->d_name);
        looked = hunt_shard_read(path, &there, NULL);
        fine = !looked || of_one_hunt(path, &there, shard, err);
        if (looked)
            hunt_shard_free(&there);
    }
    closedir(folder);
    return fine;
}

/* Complete: on the disk first, then under its name. Who was faster has the same finds. */
static bool publish(const char *begun, const char *complete, error *err)
{
    return publish_file(begun, complete) || (errno == ENOENT && access(complete, F_OK) == 0) ||
           fail(err, EXIT_CODE_ENVIRONMENT, "%s: cannot write it: %s", complete, strerror(errno));
}

/* What is left of the shard. *elsewhere: another process completed it meanwhile. */
static bool go_on(hunt_shard *shard, const char *begun, const char *complete, bool *elsewhere,
                  error *err)
{
    hunt_state *hunt = &shard->hunt;
    uint64_t first, end;
    hunt_range(&hunt->settings, &first, &end);
    size_t most = hunt_restarts_at_once(hunt);
    double since = seconds_now(), saved = since, before = shard->seconds;
    progress_bar progress;
    bool fine = first < end || hunt_shard_write(shard, begun, err); /* more shards than restarts */
    progress_begin(&progress, (double)(end - first - hunt->done));
    while (fine && !*elsewhere && !hunt->cut && first + hunt->done < end) {
        char what[96];
        uint64_t left = end - first - hunt->done;
        size_t count = left < most ? left : most;
        hunt->failed = false;
        fine = hunt_restarts(hunt, first + hunt->done, count, err) && hunt_shard_note(shard, err);
        shard->seconds = before + seconds_now() - since;
        bool whole = !hunt->cut || !hunt->failed, last = first + hunt->done == end;
        if (fine && whole && (last || hunt->cut || seconds_now() - saved > seconds_between_saves)) {
            *elsewhere = access(complete, F_OK) == 0;
            fine = *elsewhere || hunt_shard_write(shard, begun, err);
            saved = seconds_now();
        }
        snprintf(what, sizeof what, "restart %llu, worst so far %.4g",
                 (unsigned long long)(first + hunt->done),
                 hunt->find_count ? hunt->finds[0].score : 0.0);
        progress_step(&progress, (double)count, what);
    }
    progress_end(&progress);
    return fine;
}

/* Makes the shard that the settings name, or goes on with it where some of it is there; path: its
 * file. Does nothing where it is complete. Interrupted, all whole restarts are kept (then
 * hunt.interrupted is set). Errors: 2 where the folder holds another hunt; 7. */
static bool hunt_make_shard(hunt_shard *shard, const char *directory, char path[SHARD_PATH],
                            const output_file *printed, error *err)
{
    hunt_state *hunt = &shard->hunt;
    char begun[SHARD_PATH];
    bool taken = false, elsewhere = false;
    if (!shard_folder_fits(directory, err))
        return false;
    hunt_shard_path(&hunt->settings, directory, false, path);
    hunt_shard_path(&hunt->settings, directory, true, begun);
    introduce(shard);
    if (!make_directories(directory, err) || !check_folder(shard, directory, err) ||
        !take_up(shard, path, &taken, printed, err))
        return false;
    if (taken) {
        output_line(printed, "%s: complete already", path);
        return true;
    }
    unlink(path); /* cut off, or not there */
    hunt->whole_restarts = true;
    if (!take_up(shard, begun, &taken, printed, err) || !hunt_begin(hunt, err) ||
        !go_on(shard, begun, path, &elsewhere, err))
        return false;
    if (elsewhere) {
        unlink(begun);
        hunt->cut = hunt->interrupted = false;
        return take_up(shard, path, &taken, printed, err);
    }
    if (hunt->cut) {
        snprintf(path, SHARD_PATH, "%s", begun);
        return true;
    }
    return publish(begun, path, err);
}

typedef struct hunt_options {
    const char *kernel, *convention, *goal, *shard, *out, *database;
    word_list plugins;
    uint64_t hidden, restarts, seed, keep;
    double seconds, max_kappa, deadline;
    bool unclaimed;
    output_file printed;
} hunt_options;

#define NOT_GIVEN UINT64_MAX /* --restarts */
#define MOST_RESTARTS (1ULL << 48)

/* "1/4": the second of four. */
static bool parse_shard(const char *given, hunt_settings *settings, error *err)
{
    unsigned long long shard, shards;
    char end;
    bool digits = strspn(given, "0123456789/") == strlen(given) && given[0] != '/';
    if (!digits || sscanf(given, "%llu/%llu%c", &shard, &shards, &end) != 2)
        return fail(err, EXIT_CODE_USAGE, "--shard %.60s: I/N was expected, as in 0/4", given);
    if (shards == 0 || shards > 1 << 20)
        return fail(err, EXIT_CODE_USAGE, "--shard %.60s: 1 to 1048576 shards were expected",
                    given);
    if (shard >= shards)
        return fail(err, EXIT_CODE_USAGE,
                    "--shard %.60s: there is no such shard: 0/%llu to %llu/%llu are", given, shards,
                    shards - 1, shards);
    settings->shard = shard;
    settings->shards = shards;
    return true;
}

static bool check_numbers(const hunt_options *options, error *err)
{
    if (options->shard && !isnan(options->seconds))
        return fail(err, EXIT_CODE_USAGE,
                    "--shard goes with --restarts: how far --time comes depends on the machine");
    if (options->shard && !options->out)
        return fail(err, EXIT_CODE_USAGE,
                    "--shard: --out DIR is missing, the folder of all shards");
    if (options->restarts != NOT_GIVEN && options->restarts > MOST_RESTARTS)
        return fail(err, EXIT_CODE_USAGE, "--restarts %llu: at most %llu were expected",
                    (unsigned long long)options->restarts, MOST_RESTARTS);
    if (options->hidden == 0 || options->hidden > 1 << 20)
        return fail(err, EXIT_CODE_USAGE, "--hidden %llu: 1 to 1048576 was expected",
                    (unsigned long long)options->hidden);
    if (options->restarts != NOT_GIVEN && !isnan(options->seconds))
        return fail(err, EXIT_CODE_USAGE,
                    "--restarts and --time: one of them was expected, not both");
    if (options->restarts == 0)
        return fail(err, EXIT_CODE_USAGE, "--restarts 0: at least 1 was expected");
    if (options->keep == 0 || options->keep > 10000)
        return fail(err, EXIT_CODE_USAGE, "--keep %llu: 1 to 10000 was expected",
                    (unsigned long long)options->keep);
    if (!(options->max_kappa >= 1))
        return fail(err, EXIT_CODE_USAGE, "--max-kappa %g: no row has less than 1",
                    options->max_kappa);
    return true;
}

static bool settings_of(const hunt_options *options, hunt_settings *settings, error *err)
{
    *settings = (hunt_settings){
        .hidden = (size_t)options->hidden,
        .seed = options->seed,
        .max_kappa = options->max_kappa,
        .keep = options->keep,
        .restarts = options->restarts != NOT_GIVEN ? options->restarts : 0,
        .seconds = isnan(options->seconds) ? 0 : options->seconds,
        .shards = 1,
    };
    if (!options->kernel)
        return fail(err, EXIT_CODE_USAGE, "--kernels NAME is missing");
    if (!check_numbers(options, err) ||
        (options->shard && !parse_shard(options->shard, settings, err)))
        return false;
    if (options->restarts == NOT_GIVEN && isnan(options->seconds))
        settings->restarts = 54;
    if (strcmp(options->goal, "bound") == 0)
        settings->goal = GOAL_BOUND;
    else if (strcmp(options->goal, "row-ulp") != 0)
        return fail(err, EXIT_CODE_USAGE, "--goal %.40s: row-ulp or bound was expected",
                    options->goal);
    snprintf(settings->kernel, sizeof settings->kernel, "%.63s", options->kernel);
    return true;
}

/* hunts/KERNEL_CONVENTION_HIDDEN_sSEED.txt beside the store, with what else makes it another hunt. */
static void name_file(const hunt_settings *settings, const char *database, char *path, size_t size)
{
    const char *slash = strrchr(database, '/');
    char kappa[48] = "";
    if (isfinite(settings->max_kappa))
        snprintf(kappa, sizeof kappa, "_k%g", settings->max_kappa);
    snprintf(path, size, "%.*shunts/%s_%s_%zu%s%s%s_s%llu.txt",
             slash ? (int)(slash + 1 - database) : 0, database, settings->kernel,
             settings->convention, settings->hidden, kappa, settings->claimed ? "" : "_unclaimed",
             settings->goal == GOAL_BOUND ? "_bound" : "", (unsigned long long)settings->seed);
}

/* Every restart; the file is written anew after those that share their calls, so that nothing is
 * lost. */
static bool search(hunt_state *hunt, const char *path, error *err)
{
    const hunt_settings *settings = &hunt->settings;
    progress_bar progress;
    double begun = seconds_now(), last = begun;
    bool timed = settings->restarts == 0, fine = hunt_begin(hunt, err);
    size_t most = hunt_restarts_at_once(hunt);
    progress_begin(&progress, timed ? settings->seconds : (double)settings->restarts);
    for (uint64_t k = 0; fine && !hunt->cut && (timed || k < settings->restarts); k += most) {
        char what[96];
        size_t count = timed || settings->restarts - k > most ? most : settings->restarts - k;
        fine = hunt_restarts(hunt, k, count, err) && hunt_save(hunt, "running", path, err);
        snprintf(what, sizeof what, "restart %llu, worst so far %.4g", (unsigned long long)k,
                 hunt->find_count ? hunt->finds[0].score : 0.0);
        progress_step(&progress, timed ? seconds_now() - last : (double)count, what);
        last = seconds_now();
    }
    progress_end(&progress);
    return fine && hunt_save(hunt, hunt->interrupted ? "interrupted" : "complete", path, err);
}

static exit_code code_of(const hunt_state *hunt)
{
    exit_code code = hunt->interrupted ? EXIT_CODE_INTERRUPTED : EXIT_CODE_FINE;
    for (size_t i = 0; i < hunt->find_count; i++)
        code = worse_exit_code(code, verdict_exit_code(&hunt->finds[i].verdict));
    return code;
}

/* Before the search: what interrupts that takes nothing from its finds. */
static bool find_class(hunt_state *hunt, const kernel_list *kernels, error *err)
{
    ln_convention convention;
    invariance_result found = {0};
    if (!convention_parse(hunt->settings.convention, &convention, err) ||
        !invariance_measure_own(hunt->judge, &convention, NULL, kernels, &hunt->kernel, &found, 1,
                                err))
        return false;
    hunt->reproducible = reproducible_found(&hunt->kernel->facts, &found);
    return true;
}

/* The kernel and the judge of it. */
static bool prepare_hunt(const hunt_options *options, hunt_state *hunt, worker_process **worker,
                         kernel_list *kernels, error *err)
{
    judge_settings judging = {
        .seed = options->seed, .max_row_ulp = INFINITY, .deadline_seconds = options->deadline};
    const char *name = hunt->settings.kernel;
    ln_convention convention;
    if (!settings_of(options, &hunt->settings, err) ||
        !worker_start(options->plugins.words, options->plugins.count, worker, kernels, err) ||
        !(hunt->kernel = kernel_find(kernels, name, err)) ||
        !kernel_words_convention(kernels, &(word_list){&name, 1}, options->convention, &convention,
                                 err))
        return false;
    convention_label(&convention, hunt->settings.convention);
    if (!(hunt->judge = judge_create(worker_runner(*worker), &judging)))
        return fail_memory(err, "the judge");
    hunt->settings.storage = hunt->kernel->facts.storage;
    hunt->settings.param = hunt->kernel->facts.param;
    hunt->settings.claimed = hunt->kernel->facts.has_bound && !options->unclaimed;
    if (hunt->kernel->unsupported[0]) /* before a folder of shards is made */
        return fail(err, EXIT_CODE_ENVIRONMENT, "%s: cannot run here: %s", hunt->settings.kernel,
                    hunt->kernel->unsupported);
    return find_class(hunt, kernels, err);
}

static exit_code run_hunt(void *context, const cli_call *call, error *err)
{
    const hunt_options *options = context;
    hunt_shard whole = {0};
    hunt_state *hunt = &whole.hunt;
    worker_process *worker = NULL;
    kernel_list kernels = {0};
    char path[SHARD_PATH] = "";
    double begun = seconds_now();
    (void)call;
    interrupt_watch();
    bool fine = prepare_hunt(options, hunt, &worker, &kernels, err);
    if (fine && options->shard) {
        fine = hunt_make_shard(&whole, options->out, path, &options->printed, err);
    } else if (fine) {
        if (options->out)
            snprintf(path, sizeof path, "%.1000s", options->out);
        else
            name_file(&hunt->settings, options->database, path, sizeof path);
        fine = make_parent_directory(path, err) && search(hunt, path, err);
        whole.seconds = seconds_now() - begun;
    }
    fine = fine && hunt_print(hunt, path, whole.seconds, &options->printed, err);
    exit_code code = fine ? code_of(hunt) : err->code;
    judge_destroy(hunt->judge);
    hunt_shard_free(&whole);
    worker_stop(worker);
    kernel_list_free(&kernels);
    return code;
}

static const cli_option options[] = {
    {"kernels", "NAME", "the kernel to hunt: its name or label", OPTION_TEXT,
     offsetof(hunt_options, kernel)},
    {"conventions", "C", "preset or list (default: torch; of RMSNorm torch-rms)", OPTION_TEXT,
     offsetof(hunt_options, convention)},
    {"hidden", "N", "length of the rows (default: 64)", OPTION_COUNT,
     offsetof(hunt_options, hidden)},
    {"restarts", "R", "climbs, each from another start (default: 54)", OPTION_COUNT,
     offsetof(hunt_options, restarts)},
    {"time", "S", "instead of restarts: as many as S seconds allow", OPTION_SECONDS,
     offsetof(hunt_options, seconds)},
    {"seed", "N", "of starts, steps and parameters (default: 1)", OPTION_COUNT,
     offsetof(hunt_options, seed)},
    {"shard", "I/N", "only part I of N, a file in the folder --out (docs/recipes/fleet)",
     OPTION_TEXT, offsetof(hunt_options, shard)},
    {"goal", "row-ulp|bound", "the largest row ULP, or share of the proven bound", OPTION_TEXT,
     offsetof(hunt_options, goal)},
    {"max-kappa", "K", "only rows of kappa K or less count", OPTION_REAL,
     offsetof(hunt_options, max_kappa)},
    {"unclaimed", NULL, "rows for which the kernel's bound makes no claim count as well",
     OPTION_FLAG, offsetof(hunt_options, unclaimed)},
    {"keep", "F", "finds kept (default: 8)", OPTION_COUNT, offsetof(hunt_options, keep)},
    {"out", "FILE", "where to (default: a name in hunts beside --db); with --shard: DIR",
     OPTION_TEXT, offsetof(hunt_options, out)},
    STORE_OPTION(hunt_options, database),
    PLUGIN_OPTION(hunt_options, plugins),
    DEADLINE_OPTION(hunt_options, deadline, 10),
    OUTPUT_OPTIONS(hunt_options, printed),
};

extern const cli_command hunt_merge, hunt_exact;

const cli_command command_hunt = {
    .name = "hunt",
    .brief = "search for the rows on which a kernel is worst",
    .usage = "--kernels NAME [--conventions C] [--hidden N] [--restarts R | --time S] [OPTION...]",
    .summary = "Searches for the rows on which a kernel is worst.",
    .details =
        "Hill climbing over the bits of a row of the kernel's type, from rows of every input\n"
        "family in turn. The file is written after each few restarts, and on Ctrl-C. lnbench\n"
        "replay --from FILE runs the finds again; lnbench run --inputs worst:FILE judges kernels "
        "on\n"
        "them. With --shard I/N --out DIR it writes DIR/shard-I-of-N.jsonl: run twice, it does\n"
        "nothing; interrupted, it goes on. hunt --merge DIR puts the shards together.\n"
        "Exit code: 0 fine; 5 a find breaks the kernel's bound or has a wrong class that the\n"
        "kernel does not declare; 6 the kernel failed; 2 usage; 7 files or environment; 130\n"
        "interrupted.",
    OPTIONS(options),
    DEFAULTS(hunt_options, .goal = "row-ulp", .hidden = 64, .seed = 1, .keep = 8,
             .restarts = NOT_GIVEN, .seconds = NAN, .max_kappa = INFINITY, .deadline = 10),
    .body = run_hunt,
    QUESTIONS(&hunt_merge, &hunt_exact),
};
