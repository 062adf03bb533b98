/* lnbench eval --reproducible: on what the bits of a row depend. */
#include "worker/worker.h"
#include "base/allocate.h"
#include "cli/command.h"
#include "domain/convention.h"
#include "domain/reproducible.h"
#include "base/interrupt.h"
#include "inputs/inputs.h"
#include "referee/invariance.h"
#include "base/output.h"
#include "answer/run_view.h"
#include <math.h>

typedef struct invariance_options {
    word_list kernels, plugins;
    const char *convention, *input;
    uint64_t seed;
    double deadline;
    bool hashes, residual;
    output_file printed;
} invariance_options;

/* The kernels that were asked for, and what was found of each. */
typedef struct invariance_matrix {
    const kernel_entry **kernels;
    invariance_result *found;
    size_t count;
} invariance_matrix;

static bool is_wanted(const word_list *globs, const kernel_entry *kernel)
{
    for (size_t i = 0; i < globs->count; i++)
        if (kernel_is_meant(kernel, globs->words[i]))
            return true;
    return globs->count == 0;
}

static relation_value as_same(bool known, bool same)
{
    return known ? as_json(json_boolean(same), same ? "same" : "differ") : as_text(NULL);
}

/* A row a setting and hidden size. */
static void add_cells(relation *rows, const char *kernel, const invariance_result *found)
{
    size_t settings;
    const invariance_setting *setting = invariance_settings(&settings);
    for (size_t i = 0; i < INVARIANCE_HIDDEN * settings && found->hidden[i / settings] > 0; i++) {
        const invariance_cell *cell = &found->cells[i / settings][i % settings];
        relation_row(rows, as_text(kernel), as_count(found->hidden[i / settings]),
                     as_text(setting[i % settings].name),
                     as_text(axis_name(setting[i % settings].axis)),
                     as_same(cell->state == CELL_SAME || cell->state == CELL_DIFFERS,
                             cell->state == CELL_SAME),
                     as_count(cell->different), cell->hash ? as_hash(cell->hash) : as_text(NULL));
    }
}

static const relation_column cell_columns[] = {
    FOR_PEOPLE("kernel"),         COLUMN("hidden", "hidden"),
    COLUMN("setting", "setting"), COLUMN("axis", "axis"),
    COLUMN("bits", "same"),       COLUMN("rows that differ", "rows_that_differ"),
    COLUMN("hash", "hash"),
};

static bool print_hashes(const invariance_matrix *matrix, const output_file *out, error *err)
{
    relation *rows = relation_create(COLUMNS(cell_columns));
    for (size_t i = 0; i < matrix->count; i++)
        add_cells(rows, matrix->kernels[i]->facts.name, &matrix->found[i]);
    return relation_print(rows, out, err);
}

static relation_value as_found(const kernel_entry *kernel, const invariance_result *found)
{
    char word[64];
    const char *class = reproducibility_name(reproducibility_of(found));
    bool known = found->verdict.kind == VERDICT_RIGHT || (found->varies & 1u << AXIS_CALL);
    verdict_kind kind = kernel->unsupported[0] ? VERDICT_DECLINED : found->verdict.kind;
    snprintf(word, sizeof word, "%s%s", known ? class : verdict_phrase(kind),
             promise_is_broken(&kernel->facts, found) ? " (BROKEN PROMISE)" : "");
    return as_json(reproducible_json(class), word);
}

/* Over all settings and hidden sizes of an axis. */
static relation_value as_axis(const invariance_result *found, int axis)
{
    unsigned bit = 1u << axis;
    return as_same((found->tested | found->varies) & bit, !(found->varies & bit));
}

static void add_class(relation *rows, const kernel_entry *kernel, const invariance_result *found)
{
    const char *declared = reproducibility_name(reproducibility_declared(&kernel->facts));
    relation *cells = relation_create(COLUMNS(cell_columns));
    relation_value axes[AXIS_COUNT];
    json_t *same_bits = json_object();
    for (int axis = 0; axis < AXIS_COUNT; axis++) {
        axes[axis] = as_axis(found, axis);
        json_object_set(same_bits, axis_name((enum invariance_axis)axis), axes[axis].json);
    }
    add_cells(cells, kernel->facts.name, found);
    relation_row(rows, as_text(kernel->facts.name), as_found(kernel, found), as_class(declared),
                 as_flag(promise_is_broken(&kernel->facts, found)), as_json(same_bits, ""),
                 as_json(relation_json(cells), ""), as_verdict(&found->verdict));
    relation_add_values(rows, axes, AXIS_COUNT);
}

static bool print_classes(const invariance_matrix *matrix, const output_file *out, error *err)
{
    enum { AXES = 7 };
    relation_column columns[AXES + AXIS_COUNT] = {
        COLUMN("kernel", "kernel"),
        COLUMN("reproducible", "reproducibility"),
        COLUMN("declared", "declared_reproducibility"),
        FOR_PROGRAMS("promise_broken"),
        FOR_PROGRAMS("same_bits"),
        FOR_PROGRAMS("cells"),
        FOR_PROGRAMS(EACH_MEMBER),
    };
    for (int axis = 0; axis < AXIS_COUNT; axis++)
        columns[AXES + axis].heading = axis_name((enum invariance_axis)axis);
    relation *rows = relation_create(COLUMNS(columns));
    for (size_t i = 0; i < matrix->count; i++)
        add_class(rows, matrix->kernels[i], &matrix->found[i]);
    return relation_print(rows, out, err);
}

/* ---- the command ---- */

static exit_code exit_code_of(const invariance_matrix *matrix)
{
    exit_code code = EXIT_CODE_FINE;
    for (size_t i = 0; i < matrix->count; i++) {
        const invariance_result *found = &matrix->found[i];
        if (matrix->kernels[i]->version[0]) /* a peer's faults are not ours */
            continue;
        code = worse_exit_code(code, verdict_exit_code(&found->verdict));
        if (reproducibility_of(found) == REPRODUCIBLE_NONE)
            code = worse_exit_code(code, EXIT_CODE_KERNEL_FAILED);
        if (promise_is_broken(&matrix->kernels[i]->facts, found))
            code = worse_exit_code(code, EXIT_CODE_ACCURACY);
    }
    return code;
}

static void print_failures(const invariance_matrix *matrix, const output_file *out)
{
    char described[256];
    for (size_t i = 0; i < matrix->count; i++)
        if (verdict_exit_code(&matrix->found[i].verdict) != EXIT_CODE_FINE)
            output_line(out, "%s: %s", matrix->kernels[i]->facts.name,
                        verdict_describe(&matrix->found[i].verdict, described, sizeof described));
}

static bool print_matrix(const invariance_options *options, const invariance_matrix *matrix,
                         error *err)
{
    const output_file *out = &options->printed;
    const size_t *hidden = matrix->found[0].hidden;
    char other[32] = "";
    if (hidden[1] > 0)
        snprintf(other, sizeof other, " and of %zu", hidden[1]);
    output_line(out, "%s, %s%s: %d rows of %zu%s, every setting against the plain one",
                options->convention, options->input, options->residual ? " with a residual" : "",
                INVARIANCE_ROWS, hidden[0], other);
    output_line(out, "%s", "");
    bool hashes = options->hashes && out->format != OUTPUT_JSON;
    bool fine = hashes ? print_hashes(matrix, out, err) : print_classes(matrix, out, err);
    print_failures(matrix, out);
    return fine;
}

static bool choose_kernels(const invariance_options *options, operation_kind kind,
                           const kernel_list *all, invariance_matrix *matrix, error *err)
{
    matrix->kernels = allocate_zeroed(all->count + 1, sizeof *matrix->kernels);
    matrix->found = allocate_zeroed(all->count + 1, sizeof *matrix->found);
    for (size_t i = 0; i < all->count; i++)
        if (all->kernels[i].facts.operation == kind &&
            is_wanted(&options->kernels, &all->kernels[i]))
            matrix->kernels[matrix->count++] = &all->kernels[i];
    return kernel_words_check(all, &options->kernels, err);
}

/* Of the rows of a file; a family has rows of every length: 0. */
static bool find_hidden(const char *input, size_t *hidden, error *err)
{
    size_t rows;
    *hidden = 0;
    return !input_is_file(input) || input_file_shape(input, &rows, hidden, err);
}

/* The families are measured with the kernels that were asked for, and not shown. */
static exit_code measure_kernels(const invariance_options *options, const ln_convention *convention,
                                 worker_process *worker, const kernel_list *all, error *err)
{
    invariance_matrix matrix = {0};
    progress_bar progress = {0};
    judge_settings settings = {
        .seed = options->seed, .max_row_ulp = INFINITY, .deadline_seconds = options->deadline};
    invariance_request request = {.convention = *convention,
                                  .input = options->input,
                                  .residual = options->residual,
                                  .progress = &progress};
    row_judge *judge = judge_create(worker_runner(worker), &settings);
    const kernel_entry **family = allocate_zeroed(all->count + 1, sizeof *family);
    bool fine = (judge || fail_memory(err, "the judge")) &&
                find_hidden(options->input, &request.hidden, err) &&
                choose_kernels(options, convention_operation(convention), all, &matrix, err);
    if (fine) {
        size_t count = with_families(all, matrix.kernels, matrix.count, family);
        progress_begin(&progress, invariance_seconds * (double)count);
        fine = invariance_measure(judge, &request, family, matrix.found, count, err);
        progress_end(&progress);
    }
    fine = fine && print_matrix(options, &matrix, err);
    exit_code code = fine ? exit_code_of(&matrix) : err->code;
    judge_destroy(judge);
    free(family);
    free(matrix.kernels);
    free(matrix.found);
    return code;
}

static exit_code run_reproducible(void *context, const cli_call *call, error *err)
{
    invariance_options *options = context;
    ln_convention convention;
    worker_process *worker;
    kernel_list kernels;
    (void)call;
    interrupt_watch();
    if (worker_start(options->plugins.words, options->plugins.count, &worker, &kernels, err)) {
        char label[CONVENTION_MAX_LENGTH];
        bool fine = kernel_words_convention(&kernels, &options->kernels, options->convention,
                                            &convention, err);
        options->convention = fine ? convention_label(&convention, label) : NULL;
        exit_code code =
            fine ? measure_kernels(options, &convention, worker, &kernels, err) : err->code;
        kernel_list_free(&kernels);
        worker_stop(worker);
        return code;
    }
    return err->code;
}

static const cli_option options[] = {
    {"kernels", "GLOB,...", "only these kernels: names or labels", OPTION_LIST,
     offsetof(invariance_options, kernels)},
    {"conventions", "C", "a preset or a list (default: torch; of RMSNorm torch-rms)", OPTION_TEXT,
     offsetof(invariance_options, convention)},
    {"inputs", "FAMILY|FILE", "of the rows, or your own rows (default: normal)", OPTION_TEXT,
     offsetof(invariance_options, input)},
    {"residual", NULL, "each row with a residual: the family's next rows", OPTION_FLAG,
     offsetof(invariance_options, residual)},
    {"hashes", NULL, "a line for each setting, with the hash of what came out", OPTION_FLAG,
     offsetof(invariance_options, hashes)},
    PLUGIN_OPTION(invariance_options, plugins),
    {"seed", "N", "of the rows (default: 1)", OPTION_COUNT, offsetof(invariance_options, seed)},
    DEADLINE_OPTION(invariance_options, deadline, 10),
    OUTPUT_OPTIONS(invariance_options, printed),
};

const cli_command eval_reproducible = {
    .name = "eval --reproducible",
    .brief = "is a result reproducible bit for bit?",
    .usage = "[OPTION...]",
    .summary = "Tells on what the bits of a row depend: threads, batch, place, buffers, ISA.",
    .details =
        "The same rows in every setting; each class contains the ones before it:\n"
        "  none  the same call on the same buffers gives other bits\n"
        "  run   it gives the same bits, but they depend on the setting\n"
        "  row   on nothing but the row, the parameters and the convention\n"
        "  isa   nor on the ISA, of those that this CPU has (two at least)\n"
        "Exit code: 0; 5 a kernel is less than it declares; 6 a kernel is nondeterministic or\n"
        "failed; 2 usage; 7 files or environment; 130 interrupted.",
    OPTIONS(options),
    DEFAULTS(invariance_options, .input = "normal", .seed = 1, .deadline = 10),
    .body = run_reproducible,
};
