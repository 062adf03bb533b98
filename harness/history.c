/* lnbench history: a measure over the stored runs, with its change points. */
#include "history.h"
#include "command.h"
#include "paths.h"
#include <string.h>

typedef struct history_options {
    history_request request;
    output_request shown;
    const char *database, *out;
} history_options;

static bool show(const history *history, const history_options *options, const output *out,
                 error *error)
{
    char plots[1024], note[256];
    if (!history_print(history, out, error))
        return false;
    if (!options->out)
        return true;
    FILE *paths = out->format == OUTPUT_TEXT ? stdout : stderr;
    if (!path_of_plots(plots, sizeof plots, error) ||
        !history_draw(history, plots, options->out, paths, note, error))
        return false;
    if (note[0])
        fprintf(stderr, "lnbench: %s (the tables are in %s/data)\n", note, options->out);
    return true;
}

static exit_code run(void *context, const word_list *operands, error *error)
{
    const history_options *options = context;
    store *store;
    history history;
    output out;
    (void)operands;
    if (!output_choose(&options->shown, &out, error) ||
        !store_open(options->database, STORE_READ, &store, error))
        return error->code;
    bool fine = history_load(store, &options->request, &history, error);
    store_close(store);
    if (fine) {
        fine = show(&history, options, &out, error);
        history_free(&history);
    }
    return fine ? EXIT_CODE_FINE : error->code;
}

exit_code command_history(int argc, char **argv, error *error)
{
    history_options given = {
        .request = {.measure = "roof_ratio", .seed = 1},
        .database = "results/lnbench.db",
    };
    history_request *request = &given.request;
    const option options[] = {
        {"measure", "NAME", "time_ns, gbps, roof_ratio (default) or an error metric", OPTION_TEXT,
         &request->measure},
        {"kernels", "GLOB,...", "only these kernels", OPTION_LIST, &request->kernels},
        {"conventions", "C", "only these; may be given again", OPTION_RAW, &request->conventions},
        {"shapes", "ROWSxHIDDEN,...", "only these shapes", OPTION_LIST, &request->shapes},
        {"inputs", "FAMILY,...", "these inputs (default: normal)", OPTION_LIST, &request->inputs},
        {"cache", "hot,cold,in-place", "only these cache states", OPTION_LIST, &request->caches},
        OUTPUT_OPTIONS(given.shown),
        {"out", "DIR", "draw history_N.svg and .png there, one for each machine", OPTION_TEXT,
         &given.out},
        {"db", "FILE", "result store (default: results/lnbench.db)", OPTION_TEXT, &given.database},
        {"seed", "N", "of the tests of change points (default: 1)", OPTION_COUNT, &request->seed},
    };
    const subcommand subcommand = {"history",
                                   "[OPTION...]",
                                   "A measure over the stored runs by commit, and where it changed "
                                   "(E-divisive, 5 %). Runs of\n"
                                   "different machines are never pooled. Text and Markdown: a line "
                                   "a series; TSV: a line a point.",
                                   "Exit code: 0 fine; 2 usage; 7 no run, no such case, files.",
                                   options,
                                   sizeof options / sizeof *options,
                                   0};
    exit_code code = options_run(&subcommand, argc, argv, run, &given, error);
    word_list *lists[] = {&request->kernels, &request->conventions, &request->shapes,
                          &request->inputs, &request->caches};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        word_list_free(lists[i]);
    return code;
}
