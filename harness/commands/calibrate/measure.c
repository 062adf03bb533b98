/* Duets of equal builds, and runs of them: measured by the code that duet and run measure with. */
#include "commands/calibrate/calibrate.h"
#include "base/allocate.h"
#include "base/seconds.h"
#include "base/text.h"
#include "compare/duet/duet.h"
#include "session/setup.h"
#include "compare/speed.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Logarithms add up where shares do not: 5 % slower and back is 1 / 1.05. */
static double share_of(double logarithm)
{
    return expm1(logarithm);
}

void noise_of_duets(const interval_estimate *ratios, size_t count, noise_figure *noise)
{
    double floor = 0, width = 0;
    noise->trials = 0;
    for (size_t i = 0; i < count; i++) {
        double lo = log(ratios[i].lo), hi = log(ratios[i].hi);
        if (isnan(lo) || isnan(hi))
            continue;
        floor = fmax(floor, fmax(fabs(lo), fabs(hi)));
        width = fmax(width, hi - lo);
        noise->trials++;
    }
    noise->floor = share_of(floor);
    noise->smallest = share_of(floor + width);
}

void noise_of_runs(const speed_sample *runs, size_t count, double confidence, uint64_t seed,
                   noise_figure *noise)
{
    double floor = 0;
    size_t pairs = 0;
    double *widths = allocate((count * count + 1) * sizeof *widths);
    for (size_t i = 0; i < count; i++)
        for (size_t j = i + 1; j < count; j++) {
            double p;
            interval_estimate ratio = compare_samples(&runs[i], &runs[j], confidence, seed, &p);
            if (isnan(ratio.middle))
                continue;
            floor = fmax(floor, fabs(log(ratio.middle)));
            widths[pairs++] = log(ratio.hi / ratio.lo);
        }
    noise->trials = (unsigned)pairs;
    noise->floor = share_of(floor);
    noise->smallest = pairs ? share_of(floor + median(widths, pairs)) : NAN;
    free(widths);
}

enum { HIDDEN = 768, PROCESSES = 5, REPETITIONS = 3, LEAST_RUNS = 4 };

/* What goes on: the shapes, and what the store of the runs is called. */
typedef struct calibration_campaign {
    const calibrate_settings *settings;
    const build_set *builds;
    const machine_facts *machine;
    noise_calibration *calibration;
    size_t rows[REGIMES]; /* 0: left out */
    word_list shapes;
    double begun;
} calibration_campaign;

/* Rows that lie in the middle of a regime; 0 where the machine has none. */
static size_t rows_in(const calibration_campaign *campaign, int regime)
{
    const machine_facts *machine = campaign->machine;
    ln_operation kind = campaign->settings->operation;
    size_t rows = machine_rows(machine, (cache_regime)regime, kind, HIDDEN, LN_F32);
    const char *found = machine_regime(machine, kind, rows, HIDDEN, LN_F32);
    return strcmp(found, regime_names[regime]) == 0 ? rows : 0;
}

static bool choose_shapes(calibration_campaign *campaign, error *err)
{
    char word[48];
    for (int regime = 0; regime < REGIMES; regime++) {
        const word_list *wanted = &campaign->settings->regimes;
        bool is_wanted =
            wanted->count == 0 || word_is_in(regime_names[regime], wanted->words, wanted->count);
        size_t rows = is_wanted ? rows_in(campaign, regime) : 0;
        campaign->rows[regime] = rows;
        snprintf(word, sizeof word, "%zux%d", rows, HIDDEN);
        if (rows > 0)
            word_list_add(&campaign->shapes, word);
        for (int method = 0; rows > 0 && method < METHODS; method++)
            campaign->calibration->noise[method][regime] =
                (noise_figure){.rows = rows, .hidden = HIDDEN, .processes = PROCESSES};
    }
    return campaign->shapes.count > 0 ||
           fail(err, EXIT_CODE_ENVIRONMENT, "none of the regimes exists on this machine");
}

/* The fastest kernel is the one that noise shows most in: naive, of the widest ISA. */
static const char *choose_kernel(const kernel_list *kernels)
{
    const char *chosen = NULL;
    for (size_t i = 0; i < kernels->count; i++) {
        const kernel_entry *kernel = &kernels->kernels[i];
        bool usable = !kernel->unsupported[0] && kernel->facts.storage == LN_F32;
        bool naive =
            strcmp(kernel->facts.statistics, "naive") == 0 && kernel->facts.accumulator == LN_F32;
        if (usable && (naive || !chosen))
            chosen = kernel->facts.name;
    }
    return chosen ? chosen : kernels->kernels[0].facts.name;
}

static plan_request request_of(const calibration_campaign *campaign, const char **kernel)
{
    static const char *torch = "torch";
    *kernel = campaign->calibration->kernel;
    return (plan_request){.name = "quick",
                          .kernels = {kernel, 1},
                          .conventions = {&torch, 1},
                          .shapes = campaign->shapes,
                          .only = "speed",
                          .seed = campaign->settings->seed,
                          .processes = PROCESSES,
                          .repetitions = REPETITIONS};
}

/* One duet of the library against another build, all regimes, each as long as its share. */
static bool run_duet(calibration_campaign *campaign, size_t build, double seconds,
                     interval_estimate ratios[REGIMES], error *err)
{
    const calibrate_settings *settings = campaign->settings;
    const char *kernel;
    plan_request request = request_of(campaign, &kernel);
    duet_run duet = {.comparison.settings = {.tool = "duet",
                                             .files = {campaign->builds->paths[0],
                                                       campaign->builds->paths[build]},
                                             .threshold = 0.02,
                                             .confidence = settings->confidence,
                                             .seconds = seconds,
                                             .speed = true,
                                             .seed = settings->seed + build},
                     .deadline = settings->deadline,
                     .fixed = true,
                     .cpu = -1};
    bool fine = duet_prepare(&duet, &request, err) && duet_measure(&duet, &request, err);
    if (fine && duet.comparison.pair_count == 0)
        fine = fail(err, EXIT_CODE_NOT_COMPARABLE, "kernel %s: it does not run in both %s and %s",
                    kernel, campaign->builds->paths[0], campaign->builds->paths[build]);
    for (size_t i = 0; fine && i < duet.comparison.pair_count; i++) {
        const comparison_pair *pair = &duet.comparison.pairs[i];
        for (int regime = 0; regime < REGIMES; regime++) {
            if (pair->key.rows != campaign->rows[regime])
                continue;
            noise_figure *noise = &campaign->calibration->noise[METHOD_DUET][regime];
            ratios[regime] = pair->ratio;
            noise->processes = pair->processes[NEW];
            noise->seconds = fmax(noise->seconds, pair->seconds);
        }
    }
    duet_free(&duet);
    return fine;
}

static bool run_duets(calibration_campaign *campaign, error *err)
{
    size_t count = campaign->builds->count;
    double each = campaign->settings->seconds / 2 / (double)((count - 1) * campaign->shapes.count);
    interval_estimate(*ratios)[REGIMES] = allocate_zeroed(count, sizeof *ratios);
    interval_estimate *column = allocate_zeroed(count, sizeof *column);
    bool fine = true;
    for (size_t build = 1; fine && build < count; build++)
        fine = run_duet(campaign, build, each, ratios[build - 1], err);
    for (int regime = 0; fine && regime < REGIMES; regime++) {
        if (campaign->rows[regime] == 0)
            continue;
        for (size_t i = 0; i + 1 < count; i++)
            column[i] = ratios[i][regime];
        noise_of_duets(column, count - 1, &campaign->calibration->noise[METHOD_DUET][regime]);
    }
    free(ratios);
    free(column);
    return fine;
}

/* A run as `lnbench run --only speed --processes 5` makes it, into a store of its own. */
static bool one_run(calibration_campaign *campaign, result_store *store, const char *library,
                    int64_t *run, error *err)
{
    const char *kernel;
    plan_request request = request_of(campaign, &kernel);
    judge_settings judging = {.seed = campaign->settings->seed,
                              .max_row_ulp = INFINITY,
                              .deadline_seconds = campaign->settings->deadline};
    kernel_list kernels = {0};
    run_session session = {.store = store,
                           .cpu = session_last_cpu(),
                           .deadline_seconds = campaign->settings->deadline};
    run_info info = {.command_line = "lnbench doctor --calibrate",
                     .plan = "quick",
                     .plan_hash = "",
                     .machine = campaign->machine,
                     .command = "calibrate"};
    if (setenv("LNBENCH_LIBRARY", library, 1) != 0)
        return fail_memory(err, "the environment");
    machine_read(&session.machine);
    bool fine = worker_start(NULL, 0, &session.worker, &kernels, err) &&
                plan_make(&request, &kernels, &session.machine, &session.plan, err);
    if (fine && !(session.judge = judge_create(worker_runner(session.worker), &judging)))
        fine = fail_memory(err, "the judge");
    fine = fine && store_begin_run(store, &info, &session.run, err) &&
           session_speed(&session, err) && store_end_run(store, session.run, RUN_COMPLETE, err);
    *run = session.run;
    judge_destroy(session.judge);
    worker_stop(session.worker);
    plan_free(&session.plan);
    machine_free(&session.machine);
    kernel_list_free(&kernels);
    return fine;
}

/* The samples of the kernel in each regime that a run has. */
static bool take_samples(const calibration_campaign *campaign, result_store *store, int64_t run,
                         speed_sample samples[REGIMES], error *err)
{
    stored_cases cases;
    if (!store_cases(store, run, &cases, err))
        return false;
    for (size_t i = 0; i < cases.count; i++) {
        const case_key *key = &cases.cases[i].key;
        for (int regime = 0; regime < REGIMES; regime++)
            if (key->rows == campaign->rows[regime] &&
                strcmp(key->kernel, campaign->calibration->kernel) == 0)
                samples[regime] = speed_sample_of(&cases, i);
    }
    stored_cases_free(&cases);
    return true;
}

static void sum_up_runs(calibration_campaign *campaign, speed_sample (*samples)[REGIMES],
                        size_t runs, double seconds)
{
    speed_sample *column = allocate_zeroed(runs + 1, sizeof *column);
    for (int regime = 0; regime < REGIMES; regime++) {
        noise_figure *noise = &campaign->calibration->noise[METHOD_COMPARE][regime];
        if (campaign->rows[regime] == 0)
            continue;
        for (size_t i = 0; i < runs; i++)
            column[i] = samples[i][regime];
        noise->seconds = seconds;
        noise_of_runs(column, runs, campaign->settings->confidence, campaign->settings->seed,
                      noise);
    }
    free(column);
}

/* Runs of all builds in turn, until the time is spent: what lies between them is time too. */
static bool run_runs(calibration_campaign *campaign, result_store *store, error *err)
{
    speed_sample(*samples)[REGIMES] = NULL;
    double begun = seconds_now();
    size_t runs = 0;
    bool fine = true;
    while (fine &&
           (runs < LEAST_RUNS || seconds_now() - campaign->begun < campaign->settings->seconds)) {
        int64_t run = 0;
        samples = allocate_room(samples, runs, sizeof *samples);
        memset(samples[runs], 0, sizeof *samples);
        const char *library = campaign->builds->paths[runs % campaign->builds->count];
        fine = one_run(campaign, store, library, &run, err) &&
               take_samples(campaign, store, run, samples[runs], err);
        runs++;
    }
    double each = (seconds_now() - begun) / (double)(runs ? runs : 1);
    if (fine)
        sum_up_runs(campaign, samples, runs, each);
    for (size_t i = 0; i < runs; i++)
        for (int regime = 0; regime < REGIMES; regime++)
            speed_sample_free(&samples[i][regime]);
    free(samples);
    return fine;
}

static bool name_kernel(calibration_campaign *campaign, error *err)
{
    noise_calibration *calibration = campaign->calibration;
    const char *file = campaign->builds->paths[0], *kernel = campaign->settings->kernel;
    worker_process *worker = NULL;
    kernel_list kernels = {0};
    if (!kernel) {
        if (!worker_start_builds(&file, 1, &worker, &kernels, err))
            return false;
        kernel = choose_kernel(&kernels);
    }
    snprintf(calibration->kernel, sizeof calibration->kernel, "%s", kernel);
    worker_stop(worker);
    kernel_list_free(&kernels);
    return true;
}

bool calibrate_measure(const calibrate_settings *settings, const build_set *builds,
                       const machine_facts *machine, noise_calibration *calibration, error *err)
{
    calibration_campaign campaign = {.settings = settings,
                                     .builds = builds,
                                     .machine = machine,
                                     .calibration = calibration,
                                     .begun = seconds_now()};
    char path[1040];
    result_store *store = NULL;
    snprintf(path, sizeof path, "%s/runs.db", builds->folder);
    calibration->confidence = settings->confidence;
    calibration->rebuilds = (unsigned)(builds->count - 2);
    bool fine = choose_shapes(&campaign, err) && name_kernel(&campaign, err) &&
                store_open(path, STORE_WRITE, &store, err) && run_duets(&campaign, err) &&
                run_runs(&campaign, store, err);
    store_close(store);
    word_list_free(&campaign.shapes);
    return fine;
}
