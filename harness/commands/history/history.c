/* lnbench history: a measure over the stored runs, with its change points. */
#include "commands/history/history.h"
#include "cli/command.h"
#include <string.h>

typedef struct history_options {
    history_request request;
    output_file printed;
    const char *database, *out;
    bool all;
} history_options;

static bool show(const measure_history *history, const history_options *options, error *err)
{
    return history_print(history, options->all, &options->printed, err) &&
           (!options->out || history_draw(history, options->out, &options->printed, err));
}

static exit_code history(void *context, const cli_call *call, error *err)
{
    const history_options *options = context;
    result_store *store;
    measure_history found;
    (void)call;
    if (!store_open(options->database, STORE_READ, &store, err))
        return err->code;
    bool fine = history_load(store, &options->request, &found, err);
    store_close(store);
    if (fine) {
        fine = show(&found, options, err);
        history_free(&found);
    }
    return fine ? EXIT_CODE_FINE : err->code;
}

static const cli_option options[] = {
    {"measure", "NAME", "roof_ratio (default), time_ns, gbps, cycles, instructions, an error",
     OPTION_TEXT, offsetof(history_options, request.measure)},
    {"kernels", "GLOB,...", "only these kernels: names or labels", OPTION_LIST,
     offsetof(history_options, request.kernels)},
    {"conventions", "C", "only these; may be given again", OPTION_RAW,
     offsetof(history_options, request.conventions)},
    {"shapes", "ROWSxHIDDEN,...", "only these shapes", OPTION_LIST,
     offsetof(history_options, request.shapes)},
    {"inputs", "FAMILY,...", "these inputs (default: normal)", OPTION_LIST,
     offsetof(history_options, request.inputs)},
    {"cache", "hot,cold,in-place,read", "only these cache states", OPTION_LIST,
     offsetof(history_options, request.caches)},
    {"all", NULL, "show every series", OPTION_FLAG, offsetof(history_options, all)},
    OUTPUT_OPTIONS(history_options, printed),
    {"out", "DIR", "draw history_N.svg and .png there, one for each machine", OPTION_TEXT,
     offsetof(history_options, out)},
    STORE_OPTION(history_options, database),
    {"seed", "N", "of the tests of change points (default: 1)", OPTION_COUNT,
     offsetof(history_options, request.seed)},
};

const cli_command command_history = {
    .name = "history",
    .brief = "a measure over the stored runs, with its change points",
    .usage = "[OPTION...]",
    .summary = "A measure over the stored runs by commit, and where it changed "
               "(E-divisive, 5 %). Runs of\n"
               "different machines are never pooled. Text and Markdown: a line "
               "a series; TSV: a line a point.",
    .details = "Exit code: 0 fine; 2 usage; 7 no run, no such case, files.",
    OPTIONS(options),
    DEFAULTS(history_options, .request = {.measure = "roof_ratio", .seed = 1}),
    .body = history,
};
