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

static json_t *noise_json(int method, int regime, const noise_figure *noise)
{
    return json_pack("{s:s, s:s, s:I, s:I, s:o, s:o, s:o, s:I, s:I}", "method",
                     method_name((enum noise_method)method), "regime", regime_names[regime], "rows",
                     (json_int_t)noise->rows, "hidden", (json_int_t)noise->hidden, "floor",
                     json_figure(noise->floor), "smallest", json_figure(noise->smallest), "seconds",
                     json_figure(noise->seconds), "processes", (json_int_t)noise->processes,
                     "trials", (json_int_t)noise->trials);
}

static json_t *calibration_json(const noise_calibration *calibration)
{
    json_t *list = json_array();
    for (int method = 0; method < METHODS; method++)
        for (int regime = 0; regime < REGIMES; regime++)
            if (calibration->noise[method][regime].trials > 0)
                json_array_append_new(
                    list, noise_json(method, regime, &calibration->noise[method][regime]));
    return json_pack("{s:s, s:o, s:o, s:I, s:o, s:o}", "schema", "lnbench-calibrate-1", "made",
                     json_text(calibration->made), "kernel", json_text(calibration->kernel),
                     "rebuilds", (json_int_t)calibration->rebuilds, "confidence",
                     json_figure(calibration->confidence), "noise", list);
}

static void add_row(text_table *table, int method, int regime, const noise_figure *noise)
{
    table_cell(table, regime_names[regime]);
    table_format(table, "%zux%zu", noise->rows, noise->hidden);
    table_cell(table, method_name((enum noise_method)method));
    table_format(table, "%.2g %%", noise->floor * 100);
    table_format(table, "%.2g %%", noise->smallest * 100);
    table_format(table, "%.1f s", noise->seconds * (method == METHOD_COMPARE ? 2 : 1));
    table_format(table, "%u", noise->processes);
    table_format(table, "%u", noise->trials);
}

static bool print_table(const noise_calibration *calibration, const output_file *output, error *err)
{
    static const char *const headings[] = {"regime",          "shape", "method",    "noise",
                                           "smallest change", "in",    "processes", "comparisons"};
    text_table *table = table_create(headings, sizeof headings / sizeof *headings);
    for (int regime = 0; regime < REGIMES; regime++)
        for (int method = 0; method < METHODS; method++)
            if (calibration->noise[method][regime].trials > 0)
                add_row(table, method, regime, &calibration->noise[method][regime]);
    if (!output_table(output, table, err))
        return false;
    output_line(output, "\n%s, equal code: a copy and %u rebuild%s; confidence %g %%",
                calibration->kernel, calibration->rebuilds, calibration->rebuilds == 1 ? "" : "s",
                calibration->confidence * 100);
    return true;
}

static bool print(const noise_calibration *calibration, const output_file *output, error *err)
{
    if (output->format == OUTPUT_JSON)
        return output_json(output, calibration_json(calibration), err);
    return print_table(calibration, output, err);
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
