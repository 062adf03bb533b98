/* lnbench fleet. */
#include "cli/command.h"
#include "commands/fleet/fleet.h"

typedef struct fleet_options {
    const char *database, *chart;
    bool curve;
    output_file printed;
} fleet_options;

static exit_code run_fleet(void *context, const cli_call *call, error *err)
{
    const fleet_options *options = context;
    exit_code code = EXIT_CODE_FINE;
    fleet_progress progress = {0};
    if (call->operands->count == 0) {
        if (options->curve)
            return fail(err, EXIT_CODE_USAGE,
                        "--curve: the folder of a hunt's shards was expected"),
                   err->code;
        fleet_machines(options->database, options->chart, &options->printed, &code, err);
        return err->code ? err->code : code;
    }
    bool fine = !options->chart ||
                fail(err, EXIT_CODE_USAGE, "--out is of the store's machines, not of a hunt");
    fine = fine && fleet_progress_read(call->operands, &progress, err) &&
           (options->curve ? fleet_curve_print(&progress, &options->printed, err)
                           : fleet_progress_print(&progress, &options->printed, err));
    fleet_progress_free(&progress);
    return fine ? EXIT_CODE_FINE : err->code;
}

static const cli_option options[] = {
    {"curve", NULL, "how the worst error grows with the rows (20 shards or more)", OPTION_FLAG,
     offsetof(fleet_options, curve)},
    {"out", "DIR", "a chart of the machines there: who wins where", OPTION_TEXT,
     offsetof(fleet_options, chart)},
    OUTPUT_OPTIONS(fleet_options, printed),
    STORE_OPTION(fleet_options, database),
};

const cli_command command_fleet = {
    .name = "fleet",
    .brief = "a hunt over many machines, or many machines side by side",
    .usage = "[DIR...] [OPTION...]",
    .summary = "Shows how far the hunt in DIR is; without DIR, the machines of the store.",
    .details =
        "Of a hunt: rows a second, what is left, the worst find. Of machines: the fastest\n"
        "kernel of each shape and class on each, what one machine's choice costs on another,\n"
        "and whether the errors are the same bits. Times of two machines are never pooled.\n"
        "Exit code: 0 fine; 5 errors differ that must be equal (reproducible across ISAs, exact);\n"
        "4 the store has fewer than two machines; 2 usage, no shard, or shards of two hunts;\n"
        "7 files or environment.",
    OPTIONS(options),
    .most_operands = 64,
    .size = sizeof(fleet_options),
    .body = run_fleet,
};
