/* lnbench list: what there is. */
#include "worker/worker.h"
#include "cli/command.h"
#include "domain/convention.h"
#include "inputs/inputs.h"
#include "domain/kernel_json.h"
#include "domain/models.h"
#include "base/output.h"
#include "domain/reproducible.h"
#include "store/store.h"
#include "base/text.h"
#include "answer/run_view.h"
#include <stdlib.h>
#include <string.h>

typedef struct list_options {
    word_list plugins;
    const char *database;
    output_file printed;
} list_options;

/* The table or the JSON; the other one is dropped. */
static bool print_either(const list_options *options, text_table *table, json_t *json, error *err)
{
    if (options->printed.format == OUTPUT_JSON) {
        table_destroy(table);
        return output_json(&options->printed, json, err);
    }
    json_decref(json);
    return output_table(&options->printed, table, err);
}

static json_t *kernels_as_json(const kernel_list *kernels)
{
    json_t *array = json_array();
    for (size_t i = 0; i < kernels->count; i++)
        json_array_append_new(array, kernel_json(&kernels->kernels[i], NULL));
    return array;
}

static text_table *kernels_as_table(const kernel_list *kernels)
{
    static const char *const headings[] = {"kernel", "statistics",   "apply",  "schedule",
                                           "io",     "acc",          "isa",    "unroll",
                                           "traits", "reproducible", "source", "supported"};
    text_table *table = table_create(headings, sizeof headings / sizeof *headings);
    for (size_t i = 0; i < kernels->count; i++) {
        const kernel_entry *kernel = &kernels->kernels[i];
        const kernel_facts *facts = &kernel->facts;
        char traits[128];
        const char *words[] = {facts->name, facts->statistics, facts->apply, facts->schedule};
        for (size_t word = 0; word < sizeof words / sizeof *words; word++)
            table_cell(table, words[word][0] ? words[word] : "-");
        table_cells(table, dtype_name(facts->storage), dtype_name(facts->accumulator),
                    facts->isa[0] ? facts->isa : "-");
        table_format(table, "%u", facts->unroll);
        table_cells(table, kernel_traits(kernel, traits), reproducible_found(facts, NULL),
                    kernel->source, kernel->unsupported[0] ? kernel->unsupported : "yes");
    }
    return table;
}

static bool load_kernels(const list_options *options, worker_process **worker, kernel_list *kernels,
                         error *err)
{
    if (!worker_start(options->plugins.words, options->plugins.count, worker, kernels, err))
        return false;
    if (kernels->left_out[0])
        output_note("a peer is left out: %s", kernels->left_out);
    return true;
}

/* The columns in words. */
static void explain_kernels(const output_file *out)
{
    static const char *const lines[] = {
        "statistics: how mean and variance are found; apply: how a row is normalised;",
        "schedule: in which order rows and passes go; io, acc: types of the tensors and of the "
        "sums;",
        "unroll: vectors in flight; reproducible: a row's bits depend on the row alone (row), not "
        "even",
        "on the ISA (isa), or on more (run); in brackets: declared, not measured."};
    if (out->format != OUTPUT_JSON)
        output_line(out, "%s", "");
    for (size_t i = 0; out->format != OUTPUT_JSON && i < sizeof lines / sizeof *lines; i++)
        output_line(out, "%s", lines[i]);
}

static bool list_kernels(const list_options *options, error *err)
{
    worker_process *worker;
    kernel_list kernels;
    if (!load_kernels(options, &worker, &kernels, err))
        return false;
    bool fine = print_either(options, kernels_as_table(&kernels), kernels_as_json(&kernels), err);
    explain_kernels(&options->printed);
    kernel_list_free(&kernels);
    worker_stop(worker);
    return fine;
}

static bool list_plugins(const list_options *options, error *err)
{
    static const char *const headings[] = {"plugin", "kernels", "version", "object hash"};
    worker_process *worker;
    kernel_list kernels;
    if (!load_kernels(options, &worker, &kernels, err))
        return false;
    text_table *table = table_create(headings, sizeof headings / sizeof *headings);
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
        table_cell(table, kernels.kernels[first].source);
        table_format(table, "%zu", i - first);
        table_cells(table, version[0] ? version : "-", hash);
    }
    kernel_list_free(&kernels);
    worker_stop(worker);
    return print_either(options, table, array, err);
}

static bool list_conventions(const list_options *options, error *err)
{
    static const char *const headings[] = {"preset", "convention", "whose"};
    size_t count;
    const convention_preset *presets = convention_presets(&count);
    text_table *table = table_create(headings, 3);
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++) {
        char list[CONVENTION_MAX_LENGTH];
        convention_format(&presets[i].convention, list);
        table_cells(table, presets[i].name, list, presets[i].origin);
        json_array_append_new(array, json_pack("{s:s, s:s, s:s}", "name", presets[i].name,
                                               "convention", list, "origin", presets[i].origin));
    }
    return print_either(options, table, array, err);
}

static bool list_inputs(const list_options *options, error *err)
{
    static const char *const headings[] = {"input", "why it hurts", "where it is met"};
    size_t count;
    const input_family *families = input_families(&count);
    text_table *table = table_create(headings, 3);
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++) {
        table_cells(table, families[i].name, families[i].purpose, families[i].evidence);
        json_array_append_new(array,
                              json_pack("{s:s, s:s, s:s}", "name", families[i].name, "purpose",
                                        families[i].purpose, "evidence", families[i].evidence));
    }
    static const char *const worst[] = {
        "worst",
        "the rows that hunts found, of every kernel; worst:PATH: those of a file or folder",
        "reference/worst (lnbench hunt)"};
    for (size_t i = 0; i < 3; i++)
        table_cell(table, worst[i]);
    json_array_append_new(array, json_pack("{s:s, s:s, s:s}", "name", worst[0], "purpose", worst[1],
                                           "evidence", worst[2]));
    return print_either(options, table, array, err);
}

static bool list_shapes(const list_options *options, error *err)
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
    text_table *table = table_create(headings, 2);
    json_t *array = json_array();
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        table_format(table, "%d", shapes[i].hidden);
        table_cell(table, shapes[i].where);
        json_array_append_new(
            array, json_pack("{s:i, s:s}", "hidden", shapes[i].hidden, "where", shapes[i].where));
    }
    return print_either(options, table, array, err);
}

static bool list_models(const list_options *options, error *err)
{
    static const char *const headings[] = {"model",  "whose",      "hidden",
                                           "tokens", "convention", "source"};
    size_t count;
    const model_shape *all = models(&count);
    text_table *table = table_create(headings, sizeof headings / sizeof *headings);
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++) {
        table_cells(table, all[i].name, all[i].title);
        table_format(table, "%zu", all[i].hidden);
        table_format(table, "%zu", all[i].tokens);
        table_cells(table, all[i].convention, all[i].source);
        json_array_append_new(array,
                              json_pack("{s:s, s:s, s:I, s:I, s:s, s:s}", "name", all[i].name,
                                        "title", all[i].title, "hidden", (json_int_t)all[i].hidden,
                                        "tokens", (json_int_t)all[i].tokens, "convention",
                                        all[i].convention, "source", all[i].source));
    }
    return print_either(options, table, array, err);
}

static bool list_runs(const list_options *options, error *err)
{
    static const char *const headings[] = {"run",   "started",     "plan",   "state",
                                           "cases", "repetitions", "command"};
    result_store *store;
    stored_run *runs;
    size_t count;
    if (!store_open(options->database, STORE_READ, &store, err))
        return false;
    if (!store_runs(store, &runs, &count, err)) {
        store_close(store);
        return false;
    }
    text_table *table = table_create(headings, sizeof headings / sizeof *headings);
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++) {
        const stored_run *run = &runs[i];
        table_format(table, "%lld", (long long)run->id);
        table_cells(table, run->started, run->plan, run_state_names[run->state]);
        table_format(table, "%zu", run->cases);
        table_format(table, "%zu", run->repetitions);
        table_cell(table, run->command_line);
        json_array_append_new(array, json_pack("{s:I, s:s, s:s, s:s, s:I, s:I, s:o}", "run",
                                               (json_int_t)run->id, "started", run->started, "plan",
                                               run->plan, "state", run_state_names[run->state],
                                               "cases", (json_int_t)run->cases, "repetitions",
                                               (json_int_t)run->repetitions, "command",
                                               json_text(run->command_line)));
    }
    free(runs);
    store_close(store);
    return print_either(options, table, array, err);
}

typedef bool list_function(const list_options *options, error *err);

static bool list_what(const char *what, const list_options *options, error *err)
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
            return lists[i].list(options, err);
    }
    char meant[MEANT_LENGTH];
    return fail(err, EXIT_CODE_USAGE,
                "nothing called '%.60s' to list%s: there are kernels, conventions, inputs, "
                "shapes, models, plugins and runs",
                what, did_you_mean(what, names, sizeof lists / sizeof *lists, meant));
}

static const char usage[] = "kernels|conventions|inputs|shapes|models|plugins|runs [OPTION...]";

static exit_code list(void *context, const cli_call *call, error *err)
{
    if (call->operands->count == 0)
        fail(err, EXIT_CODE_USAGE, "list what? %s", usage);
    else
        list_what(call->operands->words[0], context, err);
    return err->code;
}

static const cli_option options[] = {
    PLUGIN_OPTION(list_options, plugins),
    STORE_OPTION(list_options, database),
    OUTPUT_OPTIONS(list_options, printed),
};

const cli_command command_list = {
    .name = "list",
    .brief = "kernels, conventions, inputs, shapes, models, plugins, runs",
    .usage = usage,
    .summary = "Lists what there is to measure, or what was measured.",
    OPTIONS(options),
    .most_operands = 1,
    .size = sizeof(list_options),
    .body = list,
};
