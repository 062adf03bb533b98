/* lnbench history: a measure over the stored runs, with its change points. */
#include "history.h"
#include "command.h"
#include "paths.h"
#include <string.h>

typedef struct history_options {
    history_request request;
    const char *database, *format, *out;
    bool json;
} history_options;

static bool show(const history *history, const history_options *options, error *error)
{
    const char *format = options->json ? "json" : options->format;
    char plots[1024], note[256];
    bool fine = strcmp(format, "json") == 0  ? history_print_json(history, stdout)
                : strcmp(format, "tsv") == 0 ? history_print_tsv(history, stdout)
                                             : history_print(history, stdout);
    if (!fine)
        return fail(error, EXIT_CODE_ENVIRONMENT, "standard output: cannot write the history");
    if (!options->out)
        return true;
    bool text = strcmp(format, "text") == 0;
    if (!path_of_plots(plots, sizeof plots, error) ||
        !history_draw(history, plots, options->out, text ? stdout : stderr, note, error))
        return false;
    if (note[0])
        fprintf(stderr, "lnbench: %s (the tables are in %s/data)\n", note, options->out);
    return true;
}

static bool run(const history_options *options, error *error)
{
    store *store;
    history history;
    if (strcmp(options->format, "text") != 0 && strcmp(options->format, "tsv") != 0 &&
        strcmp(options->format, "json") != 0)
        return fail(error, EXIT_CODE_USAGE, "--format %.60s: text, tsv or json was expected",
                    options->format);
    if (!store_open(options->database, STORE_READ, &store, error))
        return false;
    bool fine = history_load(store, &options->request, &history, error);
    store_close(store);
    if (fine) {
        fine = show(&history, options, error);
        history_free(&history);
    }
    return fine;
}

exit_code command_history(int argc, char **argv, error *error)
{
    history_options given = {
        .request = {.measure = "roof_ratio", .seed = 1},
        .database = "results/lnbench.db",
        .format = "text",
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
        {"format", "text|tsv|json", "a line a series (default), a line a point, or all",
         OPTION_TEXT, &given.format},
        {"json", NULL, "the same as --format json", OPTION_FLAG, &given.json},
        {"out", "DIR", "draw history_N.svg and .png there, one for each machine", OPTION_TEXT,
         &given.out},
        {"db", "FILE", "result store (default: results/lnbench.db)", OPTION_TEXT, &given.database},
        {"seed", "N", "of the tests of change points (default: 1)", OPTION_COUNT, &request->seed},
    };
    const subcommand subcommand = {"history",
                                   "[OPTION...]",
                                   "A measure over the stored runs by commit, and where it changed "
                                   "(E-divisive, 5 %). Runs of\n"
                                   "different machines are never pooled.",
                                   "Exit code: 0 fine; 2 usage; 7 no run, no such case, files.",
                                   options,
                                   sizeof options / sizeof *options,
                                   0};
    word_list operands = {0};
    bool help;
    bool fine = options_parse(&subcommand, argc, argv, &operands, &help, error);
    if (fine && help)
        options_help(&subcommand, stdout);
    else if (fine)
        fine = run(&given, error);
    word_list *lists[] = {&request->kernels, &request->conventions, &request->shapes,
                          &request->inputs,  &request->caches,      &operands};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        word_list_free(lists[i]);
    return fine ? EXIT_CODE_FINE : error->code;
}
