/* lnbench list: lists the kernels, models and other things to measure, and the stored runs. One function for each list
 * makes its relation, and the command prints it. */
#include "worker/worker.h"
#include "commands/options.h"
#include "show/answer.h"
#include "domain/operation.h"
#include "inputs/inputs.h"
#include "domain/kernel.h"
#include <stdlib.h>

typedef struct list_options {
    word_list plugins;
    const char *operation;
    const char *database;
    output_file printed;
} list_options;

/* Lists the kernels of an operation; JSON has the whole descriptor of each. */
static relation *list_kernels(const list_options *options)
{
    static const relation_column columns[] = {
        FOR_PEOPLE("kernel"),       FOR_PEOPLE("statistics"), FOR_PEOPLE("apply"),
        FOR_PEOPLE("schedule"),     FOR_PEOPLE("io"),         FOR_PEOPLE("acc"),
        FOR_PEOPLE("isa"),          FOR_PEOPLE("unroll"),     FOR_PEOPLE("traits"),
        FOR_PEOPLE("reproducible"), FOR_PEOPLE("source"),     FOR_PEOPLE("supported"),
        FOR_PEOPLE("operation"),    FOR_PROGRAMS(EACH_MEMBER)};
    const unsigned kinds = operations_parse(options->operation);
    kernel_list kernels = {0};
    worker_stop(worker_start(options->plugins.words, options->plugins.count, &kernels));
    if (kernels.left_out[0])
        output_note("a peer is left out: %s", kernels.left_out);
    relation *rows = relation_create(COLUMNS(columns));
    for (size_t i = 0; i < kernels.count; i++) {
        const kernel_entry *kernel = &kernels.kernels[i];
        const kernel_facts *facts = &kernel->facts;
        char traits[128];
        if (!(kinds & OPERATION_BIT(facts->operation)))
            continue;
        relation_row(
            rows, as_word(facts->name), as_word(facts->statistics), as_word(facts->apply),
            as_word(facts->schedule), as_text(dtype_name(facts->storage)),
            as_text(dtype_name(facts->accumulator)), as_word(facts->isa), as_count(facts->unroll),
            as_text(kernel_traits(kernel, traits)), as_text(reproducible_found(facts, NULL)),
            as_text(kernel->version && kernel->version[0] ? kernel->version : kernel->source),
            as_text(kernel->unsupported[0] ? kernel->unsupported : "yes"),
            as_text(operation_name(facts->operation)), as_json(kernel_json(kernel, NULL), ""));
    }
    kernel_list_free(&kernels);
    return rows;
}

static relation *list_conventions(const list_options *options)
{
    static const relation_column columns[] = {
        COLUMN("preset", "name"), COLUMN("convention", "convention"), COLUMN("whose", "origin")};
    unsigned kinds = operations_parse(options->operation ? options->operation : "all");
    relation *rows = relation_create(COLUMNS(columns));
    for (size_t kind = 0; operations[kind]; kind++)
        for (size_t i = 0; kinds & OPERATION_BIT(kind) && i < operations[kind]->preset_count; i++) {
            const convention_preset *preset = &operations[kind]->presets[i];
            char list[CONVENTION_MAX_LENGTH];
            relation_row(rows, as_text(preset->name),
                         as_text(convention_format(&preset->convention, list)),
                         as_text(preset->origin));
        }
    return rows;
}

static relation *list_inputs(const list_options *options)
{
    static const relation_column columns[] = {COLUMN("input", "name"),
                                              COLUMN("what it tests", "purpose"),
                                              COLUMN("where it is met", "evidence")};
    size_t count;
    (void)options;
    const input_family *families = input_families(&count);
    relation *rows = relation_create(COLUMNS(columns));
    for (size_t i = 0; i < count; i++)
        relation_row(rows, as_text(families[i].name), as_text(families[i].purpose),
                     as_text(families[i].evidence));
    relation_row(rows, as_text("worst"),
                 as_text("the rows that hunts found, of every kernel; worst:PATH: those of a file "
                         "or folder"),
                 as_text("reference/worst (lnbench hunt)"));
    return rows;
}

static relation *list_models(const list_options *options)
{
    static const relation_column columns[] = {COLUMN("model", "name"),
                                              COLUMN("whose", "title"),
                                              COLUMN("hidden", "hidden"),
                                              COLUMN("tokens", "tokens"),
                                              COLUMN("convention", "convention"),
                                              COLUMN("operation", "operation"),
                                              COLUMN("source", "source")};
    size_t count;
    const model_shape *all = models(&count);
    unsigned kinds = operations_parse(options->operation ? options->operation : "all");
    relation *rows = relation_create(COLUMNS(columns));
    for (size_t i = 0; i < count; i++) {
        const ln_convention convention = convention_named(all[i].convention);
        if (!(kinds & OPERATION_BIT(convention.operation)))
            continue;
        relation_row(rows, as_text(all[i].name), as_text(all[i].title), as_count(all[i].hidden),
                     as_count(all[i].tokens), as_text(all[i].convention),
                     as_text(operation_name(convention.operation)), as_text(all[i].source));
    }
    return rows;
}

/* Lists the runs of the store, with the numbers that report, compare and replay accept. */
static relation *list_runs(const list_options *options)
{
    static const relation_column columns[] = {COLUMN("run", "run"),
                                              COLUMN("started", "started"),
                                              COLUMN("plan", "plan"),
                                              COLUMN("state", "state"),
                                              COLUMN("imported", "imported"),
                                              COLUMN("cases", "cases"),
                                              {"repetitions", "repetitions", .priority = 1},
                                              COLUMN("command", "command")};
    stored_run *runs;
    result_store *store = store_open(options->database, STORE_READ);
    size_t count = store_runs(store, &runs);
    store_close(store);
    relation *rows = relation_create(COLUMNS(columns));
    for (size_t i = 0; i < count; i++)
        relation_row(rows, as_count((unsigned long long)runs[i].id), as_text(runs[i].started),
                     as_text(runs[i].plan), as_text(run_state_names[runs[i].state]),
                     as_flag(runs[i].imported), as_count(runs[i].cases),
                     as_count(runs[i].repetitions), as_text(runs[i].command_line));
    free(runs);
    return rows;
}

static const char usage[] = "kernels|conventions|inputs|models|runs [OPTION...]";

static exit_code list(void *context, const cli_call *call)
{
    static const char *const names[] = {"kernels", "conventions", "inputs", "models", "runs"};
    static relation *(*const lists[])(const list_options *) = {list_kernels, list_conventions,
                                                               list_inputs, list_models, list_runs};
    static const char of_kernels[] =
        "statistics: how mean and variance are found; apply: how a row is normalised; "
        "schedule: in which order rows and passes go; io, acc: types of the tensors and of the "
        "sums; unroll: vectors in flight; reproducible: a row's bits depend on the row alone "
        "(row), not even on the ISA (isa), or on more (run); in brackets: declared, not "
        "measured.\n";
    const list_options *options = context;
    const output_file *out = &options->printed;
    char meant[MEANT_LENGTH];
    if (call->operands->count == 0)
        die(EXIT_CODE_USAGE, "list what? %s", usage);
    const char *what = call->operands->words[0];
    const size_t found = word_find(what, WORDS(names));
    if (found == sizeof lists / sizeof *lists)
        die(EXIT_CODE_USAGE,
            "cannot list '%.60s'%s: choose kernels, conventions, inputs, models or runs", what,
            did_you_mean(what, WORDS(names), meant));
    relation_print(lists[found](options), out);
    if (lists[found] == list_kernels) {
        output_line(out, "%s", "");
        output_wrapped(out, of_kernels);
    }
    return EXIT_CODE_FINE;
}

static const cli_option options[] = {
    PLUGIN_OPTION(list_options, plugins),
    {"operation", "layernorm|rmsnorm|all",
     "only those of this operation (list kernels: default layernorm)", OPTION_TEXT,
     offsetof(list_options, operation)},
    STORE_OPTION(list_options, database),
    OUTPUT_OPTIONS(list_options, printed),
};

const cli_command command_list = {
    .name = "list",
    .brief = "list kernels, conventions, inputs, models, runs",
    .usage = usage,
    .example = "list kernels --operation rmsnorm",
    .summary = "Lists what lnbench can measure, or the stored runs.",
    OPTIONS(options),
    .most_operands = 1,
    .size = sizeof(list_options),
    .body = list,
};
