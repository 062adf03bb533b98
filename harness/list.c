/* lnbench list: what there is. */
#include "command.h"
#include "convention.h"
#include "inputs.h"
#include "kernel_json.h"
#include "models.h"
#include "output.h"
#include "reproducible.h"
#include "store.h"
#include "text.h"
#include "views.h"
#include <stdlib.h>
#include <string.h>

typedef struct list_options {
    word_list plugins;
    const char *database;
    output_request request;
    output out;
} list_options;

/* The table or the JSON; the other one is dropped. */
static bool print_either(const list_options *options, table *table, json_t *json, error *error)
{
    if (options->out.format == OUTPUT_JSON) {
        table_destroy(table);
        return output_json(&options->out, json, error);
    }
    json_decref(json);
    return output_table(&options->out, table, error);
}

static json_t *kernels_as_json(const kernel_list *kernels)
{
    json_t *array = json_array();
    for (size_t i = 0; i < kernels->count; i++)
        json_array_append_new(array, kernel_json(&kernels->kernels[i], NULL));
    return array;
}

static table *kernels_as_table(const kernel_list *kernels)
{
    static const char *const headings[] = {"kernel", "statistics",   "apply",  "schedule",
                                           "io",     "acc",          "isa",    "unroll",
                                           "traits", "reproducible", "source", "supported"};
    table *table = table_create(headings, sizeof headings / sizeof *headings);
    for (size_t i = 0; table && i < kernels->count; i++) {
        const kernel_entry *kernel = &kernels->kernels[i];
        const kernel_facts *facts = &kernel->facts;
        char traits[128];
        const char *words[] = {facts->name, facts->statistics, facts->apply, facts->schedule};
        for (size_t word = 0; word < sizeof words / sizeof *words; word++)
            table_cell(table, words[word][0] ? words[word] : "-");
        table_cell(table, dtype_name(facts->storage));
        table_cell(table, dtype_name(facts->accumulator));
        table_cell(table, facts->isa[0] ? facts->isa : "-");
        table_format(table, "%u", facts->unroll);
        table_cell(table, kernel_traits(kernel, traits));
        table_cell(table, reproducible_found(facts, NULL));
        table_cell(table, kernel->source);
        table_cell(table, kernel->unsupported[0] ? kernel->unsupported : "yes");
    }
    return table;
}

static bool load_kernels(const list_options *options, worker **worker, kernel_list *kernels,
                         error *error)
{
    if (!worker_start(options->plugins.words, options->plugins.count, worker, kernels, error))
        return false;
    if (kernels->left_out[0])
        fprintf(stderr, "lnbench: a peer is left out: %s\n", kernels->left_out);
    return true;
}

static bool list_kernels(const list_options *options, error *error)
{
    worker *worker;
    kernel_list kernels;
    if (!load_kernels(options, &worker, &kernels, error))
        return false;
    bool fine = print_either(options, kernels_as_table(&kernels), kernels_as_json(&kernels), error);
    kernel_list_free(&kernels);
    worker_stop(worker);
    return fine;
}

static bool list_plugins(const list_options *options, error *error)
{
    static const char *const headings[] = {"plugin", "kernels", "version", "object hash"};
    worker *worker;
    kernel_list kernels;
    if (!load_kernels(options, &worker, &kernels, error))
        return false;
    table *table = table_create(headings, sizeof headings / sizeof *headings);
    json_t *array = json_array();
    for (size_t i = 0; i < kernels.count;) {
        size_t first = i;
        while (i < kernels.count && kernels.kernels[i].plugin == kernels.kernels[first].plugin)
            i++;
        char hash[20];
        const char *version = kernels.kernels[first].version;
        snprintf(hash, sizeof hash, "%016llx",
                 (unsigned long long)kernels.kernels[first].object_hash);
        json_array_append_new(array, json_pack("{s:s, s:i, s:s?, s:s}", "name",
                                               kernels.kernels[first].source, "kernels",
                                               (int)(i - first), "version",
                                               version[0] ? version : NULL, "object_hash", hash));
        if (!table)
            continue;
        table_cell(table, kernels.kernels[first].source);
        table_format(table, "%zu", i - first);
        table_cell(table, version[0] ? version : "-");
        table_cell(table, hash);
    }
    kernel_list_free(&kernels);
    worker_stop(worker);
    return print_either(options, table, array, error);
}

static bool list_conventions(const list_options *options, error *error)
{
    static const char *const headings[] = {"preset", "convention", "whose"};
    size_t count;
    const convention_preset *presets = convention_presets(&count);
    table *table = table_create(headings, 3);
    json_t *array = json_array();
    for (size_t i = 0; table && i < count; i++) {
        char list[CONVENTION_MAX_LENGTH];
        convention_format(&presets[i].convention, list);
        table_cell(table, presets[i].name);
        table_cell(table, list);
        table_cell(table, presets[i].origin);
        json_array_append_new(array, json_pack("{s:s, s:s, s:s}", "name", presets[i].name,
                                               "convention", list, "origin", presets[i].origin));
    }
    return print_either(options, table, array, error);
}

static bool list_inputs(const list_options *options, error *error)
{
    static const char *const headings[] = {"input", "why it hurts", "where it is met"};
    size_t count;
    const input_family *families = input_families(&count);
    table *table = table_create(headings, 3);
    json_t *array = json_array();
    for (size_t i = 0; table && i < count; i++) {
        table_cell(table, families[i].name);
        table_cell(table, families[i].purpose);
        table_cell(table, families[i].evidence);
        json_array_append_new(array,
                              json_pack("{s:s, s:s, s:s}", "name", families[i].name, "purpose",
                                        families[i].purpose, "evidence", families[i].evidence));
    }
    static const char *const worst[] = {"worst", "the rows that hunts found, of every kernel",
                                        "results/worst (lnbench hunt)"};
    for (size_t i = 0; table && i < 3; i++)
        table_cell(table, worst[i]);
    json_array_append_new(array, json_pack("{s:s, s:s, s:s}", "name", worst[0], "purpose", worst[1],
                                           "evidence", worst[2]));
    return print_either(options, table, array, error);
}

static bool list_shapes(const list_options *options, error *error)
{
    static const char *const headings[] = {"hidden", "where it is met"};
    static const struct {
        int hidden;
        const char *where;
    } shapes[] = {
        {64, "one attention head: the reduction's latency decides"},
        {256, "small encoders"},
        {768, "GPT-2 124M, BERT base, ViT-B"},
        {1024, "GPT-2 355M, BERT large, ViT-L; rows 4 KiB apart alias"},
        {4096, "GPT-J, OPT-6.7B: x, gamma and beta overflow L1"},
        {8192, "the largest dense models' class"},
        {12288, "GPT-3 175B"},
    };
    table *table = table_create(headings, 2);
    json_t *array = json_array();
    for (size_t i = 0; table && i < sizeof shapes / sizeof *shapes; i++) {
        table_format(table, "%d", shapes[i].hidden);
        table_cell(table, shapes[i].where);
        json_array_append_new(
            array, json_pack("{s:i, s:s}", "hidden", shapes[i].hidden, "where", shapes[i].where));
    }
    return print_either(options, table, array, error);
}

static bool list_models(const list_options *options, error *error)
{
    static const char *const headings[] = {"model",  "whose",      "hidden",
                                           "tokens", "convention", "source"};
    size_t count;
    const model *all = models(&count);
    table *table = table_create(headings, sizeof headings / sizeof *headings);
    json_t *array = json_array();
    for (size_t i = 0; table && i < count; i++) {
        table_cell(table, all[i].name);
        table_cell(table, all[i].title);
        table_format(table, "%zu", all[i].hidden);
        table_format(table, "%zu", all[i].tokens);
        table_cell(table, all[i].convention);
        table_cell(table, all[i].source);
        json_array_append_new(array,
                              json_pack("{s:s, s:s, s:I, s:I, s:s, s:s}", "name", all[i].name,
                                        "title", all[i].title, "hidden", (json_int_t)all[i].hidden,
                                        "tokens", (json_int_t)all[i].tokens, "convention",
                                        all[i].convention, "source", all[i].source));
    }
    return print_either(options, table, array, error);
}

static bool list_runs(const list_options *options, error *error)
{
    static const char *const headings[] = {"run",   "started",     "plan",   "state",
                                           "cases", "repetitions", "command"};
    static const char *const states[] = {"open", "complete", "interrupted"};
    store *store;
    stored_run *runs;
    size_t count;
    if (!store_open(options->database, STORE_READ, &store, error))
        return false;
    if (!store_runs(store, &runs, &count, error)) {
        store_close(store);
        return false;
    }
    table *table = table_create(headings, sizeof headings / sizeof *headings);
    json_t *array = json_array();
    for (size_t i = 0; table && i < count; i++) {
        const stored_run *run = &runs[i];
        table_format(table, "%lld", (long long)run->id);
        table_cell(table, run->started);
        table_cell(table, run->plan);
        table_cell(table, states[run->state]);
        table_format(table, "%zu", run->cases);
        table_format(table, "%zu", run->repetitions);
        table_cell(table, run->command_line);
        json_array_append_new(array, json_pack("{s:I, s:s, s:s, s:s, s:I, s:I, s:o}", "run",
                                               (json_int_t)run->id, "started", run->started, "plan",
                                               run->plan, "state", states[run->state], "cases",
                                               (json_int_t)run->cases, "repetitions",
                                               (json_int_t)run->repetitions, "command",
                                               json_text(run->command_line)));
    }
    free(runs);
    store_close(store);
    return print_either(options, table, array, error);
}

typedef bool list_function(const list_options *options, error *error);

static bool list_what(const char *what, const list_options *options, error *error)
{
    static const struct {
        const char *name;
        list_function *list;
    } lists[] = {
        {"kernels", list_kernels}, {"conventions", list_conventions}, {"inputs", list_inputs},
        {"shapes", list_shapes},   {"models", list_models},           {"plugins", list_plugins},
        {"runs", list_runs},
    };
    const char *names[sizeof lists / sizeof *lists];
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        names[i] = lists[i].name;
        if (strcmp(what, lists[i].name) == 0)
            return lists[i].list(options, error);
    }
    const char *nearest = nearest_word(what, names, sizeof lists / sizeof *lists);
    return fail(error, EXIT_CODE_USAGE,
                "nothing called '%.60s' to list%s%s%s: there are kernels, conventions, inputs, "
                "shapes, models, plugins and runs",
                what, nearest ? " (did you mean '" : "", nearest ? nearest : "",
                nearest ? "'?)" : "");
}

exit_code command_list(int argc, char **argv, error *error)
{
    list_options list = {.database = "results/lnbench.db"};
    const option options[] = {
        PLUGIN_OPTION(list.plugins),
        {"db", "FILE", "result store, for runs (default: results/lnbench.db)", OPTION_TEXT,
         &list.database},
        OUTPUT_OPTIONS(list.request),
    };
    const subcommand subcommand = {
        "list",
        "kernels|conventions|inputs|shapes|models|plugins|runs [OPTION...]",
        "Lists what there is to measure, or what was measured.",
        NULL,
        options,
        sizeof options / sizeof *options,
        1};
    word_list operands = {0};
    bool help;
    bool fine = options_parse(&subcommand, argc, argv, &operands, &help, error);
    if (fine && help)
        options_help(&subcommand, stdout);
    else if (fine && operands.count == 0)
        fine = fail(error, EXIT_CODE_USAGE, "list what? %s", subcommand.usage);
    else if (fine)
        fine = output_choose(&list.request, &list.out, error) &&
               list_what(operands.words[0], &list, error);
    word_list_free(&operands);
    word_list_free(&list.plugins);
    return fine ? EXIT_CODE_FINE : error->code;
}
