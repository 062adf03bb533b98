/* lnbench doctor --calibrate: this machine's noise, and so the smallest change that can be seen here. */
#include "commands/calibrate/calibrate.h"
#include "cli/command.h"
#include "base/interrupt.h"
#include "base/output.h"
#include "base/paths.h"
#include "store/calibration.h"
#include "answer/run_view.h"
#include <math.h>
#include <string.h>

static bool print(const noise_calibration *calibration, const output_file *output, error *err)
{
    static const relation_column columns[] = {
        COLUMN("regime", "regime"),
        FOR_PEOPLE("shape"),
        COLUMN("method", "method"),
        FOR_PROGRAMS("rows"),
        FOR_PROGRAMS("hidden"),
        {"noise", "floor", .format = "%.2g", .unit = "%"},
        {"smallest change", "smallest", .format = "%.2g", .unit = "%"},
        {"in", .format = "%.1f", .unit = "s"},
        FOR_PROGRAMS("seconds"),
        COLUMN("processes", "processes"),
        COLUMN("comparisons", "trials"),
    };
    relation *rows = relation_create(COLUMNS(columns));
    for (int regime = 0; regime < REGIMES; regime++)
        for (int method = 0; method < METHODS; method++) {
            const noise_figure *noise = &calibration->noise[method][regime];
            if (noise->trials > 0)
                relation_row(
                    rows, as_text(regime_names[regime]),
                    as_format("%zux%zu", noise->rows, noise->hidden),
                    as_text(method_name((enum noise_method)method)), as_count(noise->rows),
                    as_count(noise->hidden), as_figure(noise->floor), as_figure(noise->smallest),
                    as_figure(noise->seconds * (method == METHOD_COMPARE ? 2 : 1)),
                    as_figure(noise->seconds), as_count(noise->processes), as_count(noise->trials));
        }
    json_t *whole = json_pack(
        "{s:s, s:o, s:o, s:I, s:o}", "schema", "lnbench-calibrate-1", "made",
        json_text(calibration->made), "kernel", json_text(calibration->kernel), "rebuilds",
        (json_int_t)calibration->rebuilds, "confidence", json_figure(calibration->confidence));
    if (!relation_print_in(rows, whole, "noise", output, err))
        return false;
    output_line(output, "\n%s, equal code: a copy and %u rebuild%s; confidence %g %%",
                calibration->kernel, calibration->rebuilds, calibration->rebuilds == 1 ? "" : "s",
                calibration->confidence * 100);
    return true;
}

static bool check(const calibrate_settings *settings, error *err)
{
    if (!(settings->confidence >= 0.5 && settings->confidence <= 0.9999))
        return fail(err, EXIT_CODE_USAGE,
                    "--confidence %g: 0.5 to 0.9999 was expected, such as 0.99",
                    settings->confidence);
    if (settings->rebuilds > 64)
        return fail(err, EXIT_CODE_USAGE, "--rebuilds %llu: at most 64",
                    (unsigned long long)settings->rebuilds);
    for (size_t i = 0; i < settings->regimes.count; i++) {
        bool known = false;
        for (int regime = 0; regime < REGIMES; regime++)
            known |= strcmp(settings->regimes.words[i], regime_names[regime]) == 0;
        if (!known)
            return fail(err, EXIT_CODE_USAGE, "--regimes %.60s: L1, L2, L3 or DRAM was expected",
                        settings->regimes.words[i]);
    }
    return true;
}

/* A database that cannot be written is found before anything is measured. */
static bool run(const calibrate_settings *settings, const output_file *output, error *err)
{
    build_set builds = {0};
    machine_facts machine;
    noise_calibration calibration = {0};
    result_store *store = NULL;
    machine_read(&machine);
    bool fine = check(settings, err) && make_parent_directory(settings->database, err) &&
                store_open(settings->database, STORE_WRITE, &store, err) &&
                build_set_make(settings, &builds, err);
    if (fine && builds.why[0])
        output_note("%s; code placement is not in the noise", builds.why);
    fine = fine && calibrate_measure(settings, &builds, &machine, &calibration, err) &&
           store_put_calibration(store, &machine, &calibration, err) &&
           print(&calibration, output, err);
    build_set_free(&builds);
    machine_free(&machine);
    store_close(store);
    return fine;
}

typedef struct calibrate_options {
    calibrate_settings settings;
    output_file printed;
} calibrate_options;

static exit_code calibrate(void *context, const cli_call *call, error *err)
{
    const calibrate_options *options = context;
    (void)call;
    interrupt_watch();
    run(&options->settings, &options->printed, err);
    return err->code;
}

static const cli_option options[] = {
    {"time", "S", "about how long it may take (default: 180)", OPTION_SECONDS,
     offsetof(calibrate_options, settings.seconds)},
    {"rebuilds", "N", "link the library N times in other orders (default: 3)", OPTION_COUNT,
     offsetof(calibrate_options, settings.rebuilds)},
    {"library", "FILE.so", "another library or plugin than liblayernorm", OPTION_TEXT,
     offsetof(calibrate_options, settings.library)},
    {"rebuilt", "FILE.so,...", "builds of the same code as --library", OPTION_LIST,
     offsetof(calibrate_options, settings.given)},
    {"kernels", "NAME", "time this one, by name or label (default: the fastest)", OPTION_TEXT,
     offsetof(calibrate_options, settings.kernel)},
    {"regimes", "L1,L2,L3,DRAM", "only these (default: all)", OPTION_LIST,
     offsetof(calibrate_options, settings.regimes)},
    {"confidence", "P", "of the intervals (default: 0.99)", OPTION_REAL,
     offsetof(calibrate_options, settings.confidence)},
    STORE_OPTION(calibrate_options, settings.database),
    {"seed", "N", "of link orders, placements and inputs (default: 1)", OPTION_COUNT,
     offsetof(calibrate_options, settings.seed)},
    DEADLINE_OPTION(calibrate_options, settings.deadline, 10),
    OUTPUT_OPTIONS(calibrate_options, printed),
};

const cli_command doctor_calibrate = {
    .name = "doctor --calibrate",
    .brief = "this machine's noise: the smallest change it can show",
    .usage = "[OPTION...]",
    .summary =
        "Measures equal code as duet and compare do, and so this machine's noise: the smallest\n"
        "change that can be seen here. Stored, and shown beside every verdict.",
    .details =
        "Exit code: 0 fine; 2 usage; 7 files or environment; 130 interrupted (nothing is stored).",
    OPTIONS(options),
    DEFAULTS(
        calibrate_options,
        .settings = {.rebuilds = 3, .seconds = 180, .confidence = 0.99, .seed = 1, .deadline = 10}),
    .body = calibrate,
};
