/* lnbench eval --reproducible: on what the bits of a row depend. */
#include "inputs/npy.h"
#include "worker/worker.h"
#include "base/allocate.h"
#include "domain/kernel_name.h"
#include "cli/command.h"
#include "domain/convention.h"
#include "base/interrupt.h"
#include "referee/invariance.h"
#include "base/output.h"
#include "answer/run_view.h"
#include <math.h>
#include <string.h>

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

static const char *state_name(cell_state state)
{
    static const char *const names[] = {"-", "same", "differ", "-"};
    return names[state];
}

/* Over all settings and hidden sizes of an axis. */
static const char *axis_word(const invariance_result *found, invariance_axis axis)
{
    unsigned bit = 1u << axis;
    return found->varies & bit ? "differ" : found->tested & bit ? "same" : "-";
}

static const char *class_word(const kernel_entry *kernel, const invariance_result *found)
{
    return found->verdict.kind == VERDICT_OK || (found->varies & 1u << AXIS_CALL)
               ? reproducibility_name(reproducibility_of(found))
               : verdict_phrase(kernel->unsupported[0] ? VERDICT_UNSUPPORTED : found->verdict.kind);
}

/* ---- text ---- */

static bool print_classes(const invariance_matrix *matrix, const output_file *out, error *err)
{
    const char *headings[AXIS_COUNT + 3] = {"kernel", "reproducible", "declared"};
    for (int axis = 0; axis < AXIS_COUNT; axis++)
        headings[axis + 3] = axis_name((enum invariance_axis)axis);
    text_table *table = table_create(headings, AXIS_COUNT + 3);
    for (size_t i = 0; i < matrix->count; i++) {
        const kernel_entry *kernel = matrix->kernels[i];
        const invariance_result *found = &matrix->found[i];
        table_cell(table, kernel->facts.name);
        table_format(table, "%s%s", class_word(kernel, found),
                     promise_is_broken(&kernel->facts, found) ? " (BROKEN PROMISE)" : "");
        table_cell(table, reproducibility_name(reproducibility_declared(&kernel->facts)));
        for (int axis = 0; axis < AXIS_COUNT; axis++)
            table_cell(table, axis_word(found, (enum invariance_axis)axis));
    }
    return output_table(out, table, err);
}

/* A line a setting: what TSV is for. */
static bool print_hashes(const invariance_matrix *matrix, const output_file *out, error *err)
{
    static const char *const headings[] = {"kernel", "hidden",           "setting", "axis",
                                           "bits",   "rows that differ", "hash"};
    text_table *table = table_create(headings, sizeof headings / sizeof *headings);
    size_t settings;
    const invariance_setting *setting = invariance_settings(&settings);
    for (size_t i = 0; i < matrix->count; i++)
        for (size_t line = 0; line < INVARIANCE_HIDDEN * settings; line++) {
            const invariance_cell *cell = &matrix->found[i].cells[line / settings][line % settings];
            size_t hidden = matrix->found[i].hidden[line / settings];
            if (hidden == 0)
                continue;
            table_cell(table, matrix->kernels[i]->facts.name);
            table_format(table, "%zu", hidden);
            table_cell(table, setting[line % settings].name);
            table_cell(table, axis_name(setting[line % settings].axis));
            table_cell(table, state_name(cell->state));
            table_format(table, "%zu", cell->different);
            if (cell->hash)
                table_format(table, "%016llx", (unsigned long long)cell->hash);
            else
                table_cell(table, "-");
        }
    return output_table(out, table, err);
}

/* ---- JSON ---- */

static json_t *cells_json(const invariance_result *found)
{
    size_t settings;
    const invariance_setting *setting = invariance_settings(&settings);
    json_t *array = json_array();
    for (size_t i = 0; i < INVARIANCE_HIDDEN * settings && found->hidden[i / settings] > 0; i++) {
        const invariance_cell *cell = &found->cells[i / settings][i % settings];
        char hash[20];
        snprintf(hash, sizeof hash, "%016llx", (unsigned long long)cell->hash);
        bool ran = cell->state == CELL_SAME || cell->state == CELL_DIFFERS;
        json_array_append_new(array,
                              json_pack("{s:I, s:s, s:s, s:o, s:I, s:s?}", "hidden",
                                        (json_int_t)found->hidden[i / settings], "setting",
                                        setting[i % settings].name, "axis",
                                        axis_name(setting[i % settings].axis), "same",
                                        ran ? json_boolean(cell->state == CELL_SAME) : json_null(),
                                        "rows_that_differ", (json_int_t)cell->different, "hash",
                                        cell->hash ? hash : NULL));
    }
    return array;
}

static json_t *axes_json(const invariance_result *found)
{
    json_t *object = json_object();
    for (int axis = 0; axis < AXIS_COUNT; axis++)
        json_object_set_new(object, axis_name((enum invariance_axis)axis),
                            (found->tested | found->varies) & 1u << axis
                                ? json_boolean(!(found->varies & 1u << axis))
                                : json_null());
    return object;
}

static json_t *matrix_json(const invariance_matrix *matrix)
{
    json_t *array = json_array();
    for (size_t i = 0; i < matrix->count; i++) {
        const kernel_entry *kernel = matrix->kernels[i];
        const invariance_result *found = &matrix->found[i];
        reproducibility class = reproducibility_of(found);
        reproducibility declared = reproducibility_declared(&kernel->facts);
        json_t *entry = json_pack(
            "{s:s, s:s?, s:s?, s:b, s:o, s:o}", "kernel", kernel->facts.name, "reproducibility",
            class == REPRODUCIBLE_UNKNOWN ? NULL : reproducibility_name(class),
            "declared_reproducibility",
            declared == REPRODUCIBLE_UNKNOWN ? NULL : reproducibility_name(declared),
            "promise_broken", promise_is_broken(&kernel->facts, found), "same_bits",
            axes_json(found), "cells", cells_json(found));
        json_put_verdict(entry, &found->verdict);
        json_array_append_new(array, entry);
    }
    return array;
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

static bool print(const invariance_options *options, const invariance_matrix *matrix, error *err)
{
    const output_file *out = &options->printed;
    if (out->format == OUTPUT_JSON)
        return output_json(out, matrix_json(matrix), err);
    const size_t *hidden = matrix->found[0].hidden;
    char other[32] = "";
    if (hidden[1] > 0)
        snprintf(other, sizeof other, " and of %zu", hidden[1]);
    output_line(out, "%s, %s%s: %d rows of %zu%s, every setting against the plain one",
                options->convention, options->input, options->residual ? " with a residual" : "",
                INVARIANCE_ROWS, hidden[0], other);
    output_line(out, "%s", "");
    bool fine = options->hashes ? print_hashes(matrix, out, err) : print_classes(matrix, out, err);
    print_failures(matrix, out);
    return fine;
}

static bool choose_kernels(const invariance_options *options, const kernel_list *all,
                           invariance_matrix *matrix, error *err)
{
    matrix->kernels = allocate_zeroed(all->count + 1, sizeof *matrix->kernels);
    matrix->found = allocate_zeroed(all->count + 1, sizeof *matrix->found);
    for (size_t i = 0; i < all->count; i++)
        if (is_wanted(&options->kernels, &all->kernels[i]))
            matrix->kernels[matrix->count++] = &all->kernels[i];
    return kernel_words_check(all, &options->kernels, err);
}

/* Of the rows of FILE.npy; a family has rows of every length: 0. */
static bool find_hidden(const char *input, size_t *hidden, error *err)
{
    npy_array rows = {0};
    size_t length = strlen(input);
    *hidden = 0;
    if (length < 4 || strcmp(input + length - 4, ".npy") != 0)
        return true;
    bool fine =
        npy_read(input, true, &rows, err) &&
        (rows.elements > 0 || fail(err, EXIT_CODE_USAGE, "--inputs %.200s: holds no row", input));
    if (fine)
        *hidden = rows.dimensions ? rows.shape[rows.dimensions - 1] : 1;
    npy_free(&rows);
    return fine;
}

/* The families are measured with the kernels that were asked for, and not shown. */
static exit_code measure(const invariance_options *options, const ln_convention *convention,
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
                choose_kernels(options, all, &matrix, err);
    if (fine) {
        size_t count = with_families(all, matrix.kernels, matrix.count, family);
        progress_begin(&progress, invariance_seconds * (double)count);
        fine = invariance_measure(judge, &request, family, matrix.found, count, err);
        progress_end(&progress);
    }
    fine = fine && print(options, &matrix, err);
    exit_code code = fine ? exit_code_of(&matrix) : err->code;
    judge_destroy(judge);
    free(family);
    free(matrix.kernels);
    free(matrix.found);
    return code;
}

static exit_code start(void *context, const cli_call *call, error *err)
{
    invariance_options *options = context;
    ln_convention convention;
    worker_process *worker;
    kernel_list kernels;
    (void)call;
    interrupt_watch();
    if (convention_parse(options->convention, &convention, err) &&
        worker_start(options->plugins.words, options->plugins.count, &worker, &kernels, err)) {
        exit_code code = measure(options, &convention, worker, &kernels, err);
        kernel_list_free(&kernels);
        worker_stop(worker);
        return code;
    }
    return err->code;
}

static const cli_option options[] = {
    {"kernels", "GLOB,...", "only these kernels: names or labels", OPTION_LIST,
     offsetof(invariance_options, kernels)},
    {"conventions", "C", "a preset or a list (default: torch)", OPTION_TEXT,
     offsetof(invariance_options, convention)},
    {"inputs", "FAMILY|FILE.npy", "of the rows, or your own rows (default: normal)", OPTION_TEXT,
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
    DEFAULTS(invariance_options, .convention = "torch", .input = "normal", .seed = 1,
             .deadline = 10),
    .body = start,
};
