/* lnbench invariance: on what the bits of a row depend. */
#include "command.h"
#include "convention.h"
#include "interrupt.h"
#include "invariance.h"
#include "output.h"
#include "views.h"
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct invariance_options {
    word_list kernels, plugins;
    const char *convention, *input;
    uint64_t seed;
    double deadline;
    bool hashes;
    output_request request;
    output out;
} invariance_options;

/* The kernels that were asked for, and what was found of each. */
typedef struct matrix {
    const kernel_entry **kernels;
    invariance *found;
    size_t count;
} matrix;

static bool is_wanted(const word_list *globs, const char *name)
{
    for (size_t i = 0; i < globs->count; i++)
        if (fnmatch(globs->words[i], name, 0) == 0)
            return true;
    return globs->count == 0;
}

static const char *state_name(cell_state state)
{
    static const char *const names[] = {"-", "same", "differ", "-"};
    return names[state];
}

/* Over all settings and hidden sizes of an axis. */
static const char *axis_word(const invariance *found, axis axis)
{
    unsigned bit = 1u << axis;
    return found->varies & bit ? "differ" : found->tested & bit ? "same" : "-";
}

static const char *class_word(const kernel_entry *kernel, const invariance *found)
{
    return found->verdict.kind == VERDICT_OK || (found->varies & 1u << AXIS_CALL)
               ? reproducibility_name(reproducibility_of(found))
           : kernel->unsupported[0] ? "unsupported"
                                    : verdict_name(found->verdict.kind);
}

/* ---- text ---- */

static bool print_classes(const matrix *matrix, const output *out, error *error)
{
    const char *headings[AXIS_COUNT + 3] = {"kernel", "reproducible", "declared"};
    for (int axis = 0; axis < AXIS_COUNT; axis++)
        headings[axis + 3] = axis_name((enum axis)axis);
    table *table = table_create(headings, AXIS_COUNT + 3);
    for (size_t i = 0; table && i < matrix->count; i++) {
        const kernel_entry *kernel = matrix->kernels[i];
        const invariance *found = &matrix->found[i];
        table_cell(table, kernel->facts.name);
        table_format(table, "%s%s", class_word(kernel, found),
                     promise_is_broken(&kernel->facts, found) ? " (BROKEN PROMISE)" : "");
        table_cell(table, reproducibility_name(reproducibility_declared(&kernel->facts)));
        for (int axis = 0; axis < AXIS_COUNT; axis++)
            table_cell(table, axis_word(found, (enum axis)axis));
    }
    return output_table(out, table, error);
}

/* A line a setting: what TSV is for. */
static bool print_hashes(const matrix *matrix, const output *out, error *error)
{
    static const char *const headings[] = {"kernel", "hidden",           "setting", "axis",
                                           "bits",   "rows that differ", "hash"};
    table *table = table_create(headings, sizeof headings / sizeof *headings);
    size_t settings;
    const invariance_setting *setting = invariance_settings(&settings);
    for (size_t i = 0; table && i < matrix->count; i++)
        for (size_t line = 0; line < INVARIANCE_HIDDEN * settings; line++) {
            const invariance_cell *cell = &matrix->found[i].cells[line / settings][line % settings];
            table_cell(table, matrix->kernels[i]->facts.name);
            table_format(table, "%zu", invariance_hidden[line / settings]);
            table_cell(table, setting[line % settings].name);
            table_cell(table, axis_name(setting[line % settings].axis));
            table_cell(table, state_name(cell->state));
            table_format(table, "%zu", cell->different);
            if (cell->hash)
                table_format(table, "%016llx", (unsigned long long)cell->hash);
            else
                table_cell(table, "-");
        }
    return output_table(out, table, error);
}

/* ---- JSON ---- */

static json_t *cells_json(const invariance *found)
{
    size_t settings;
    const invariance_setting *setting = invariance_settings(&settings);
    json_t *array = json_array();
    for (size_t i = 0; i < INVARIANCE_HIDDEN * settings; i++) {
        const invariance_cell *cell = &found->cells[i / settings][i % settings];
        char hash[20];
        snprintf(hash, sizeof hash, "%016llx", (unsigned long long)cell->hash);
        bool ran = cell->state == CELL_SAME || cell->state == CELL_DIFFERS;
        json_array_append_new(array,
                              json_pack("{s:I, s:s, s:s, s:o, s:I, s:s?}", "hidden",
                                        (json_int_t)invariance_hidden[i / settings], "setting",
                                        setting[i % settings].name, "axis",
                                        axis_name(setting[i % settings].axis), "same",
                                        ran ? json_boolean(cell->state == CELL_SAME) : json_null(),
                                        "rows_that_differ", (json_int_t)cell->different, "hash",
                                        cell->hash ? hash : NULL));
    }
    return array;
}

static json_t *axes_json(const invariance *found)
{
    json_t *object = json_object();
    for (int axis = 0; axis < AXIS_COUNT; axis++)
        json_object_set_new(object, axis_name((enum axis)axis),
                            (found->tested | found->varies) & 1u << axis
                                ? json_boolean(!(found->varies & 1u << axis))
                                : json_null());
    return object;
}

static json_t *matrix_json(const matrix *matrix)
{
    json_t *array = json_array();
    for (size_t i = 0; i < matrix->count; i++) {
        const kernel_entry *kernel = matrix->kernels[i];
        const invariance *found = &matrix->found[i];
        reproducibility class = reproducibility_of(found);
        reproducibility declared = reproducibility_declared(&kernel->facts);
        json_array_append_new(
            array,
            json_pack("{s:s, s:s?, s:s?, s:b, s:s, s:o, s:o, s:o}", "kernel", kernel->facts.name,
                      "reproducibility",
                      class == REPRODUCIBLE_UNKNOWN ? NULL : reproducibility_name(class),
                      "declared_reproducibility",
                      declared == REPRODUCIBLE_UNKNOWN ? NULL : reproducibility_name(declared),
                      "promise_broken", promise_is_broken(&kernel->facts, found), "verdict",
                      verdict_name(found->verdict.kind), "detail", json_text(found->verdict.detail),
                      "same_bits", axes_json(found), "cells", cells_json(found)));
    }
    return array;
}

/* ---- the command ---- */

static exit_code exit_code_of(const matrix *matrix)
{
    exit_code code = EXIT_CODE_FINE;
    for (size_t i = 0; i < matrix->count; i++) {
        const invariance *found = &matrix->found[i];
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

static void print_failures(const matrix *matrix, const output *out)
{
    char described[256];
    for (size_t i = 0; i < matrix->count; i++)
        if (verdict_exit_code(&matrix->found[i].verdict) != EXIT_CODE_FINE)
            output_line(out, "%s: %s", matrix->kernels[i]->facts.name,
                        verdict_describe(&matrix->found[i].verdict, described, sizeof described));
}

static bool print(const invariance_options *options, const matrix *matrix, error *error)
{
    const output *out = &options->out;
    if (out->format == OUTPUT_JSON)
        return output_json(out, matrix_json(matrix), error);
    output_line(out, "%s, %s: %d rows of %zu and of %zu, every setting against the plain one",
                options->convention, options->input, INVARIANCE_ROWS, invariance_hidden[0],
                invariance_hidden[1]);
    output_line(out, "%s", "");
    bool fine =
        options->hashes ? print_hashes(matrix, out, error) : print_classes(matrix, out, error);
    print_failures(matrix, out);
    return fine;
}

static bool choose_kernels(const invariance_options *options, const kernel_list *all,
                           matrix *matrix, error *error)
{
    matrix->kernels = calloc(all->count + 1, sizeof *matrix->kernels);
    matrix->found = calloc(all->count + 1, sizeof *matrix->found);
    if (!matrix->kernels || !matrix->found)
        return fail_memory(error, "the kernels");
    for (size_t i = 0; i < all->count; i++)
        if (is_wanted(&options->kernels, all->kernels[i].facts.name))
            matrix->kernels[matrix->count++] = &all->kernels[i];
    return matrix->count > 0 || kernel_find(all, options->kernels.words[0], error) != NULL;
}

/* The families are measured with the kernels that were asked for, and not shown. */
static exit_code measure(const invariance_options *options, const ln_convention *convention,
                         worker *worker, const kernel_list *all, error *error)
{
    matrix matrix = {0};
    progress progress = {0};
    judge_settings settings = {
        .seed = options->seed, .max_row_ulp = INFINITY, .deadline_seconds = options->deadline};
    invariance_request request = {*convention, options->input, &progress};
    judge *judge = judge_create(worker, &settings);
    const kernel_entry **family = calloc(all->count + 1, sizeof *family);
    bool fine = ((judge && family) || fail_memory(error, "the judge")) &&
                choose_kernels(options, all, &matrix, error);
    if (fine) {
        size_t count = with_families(all, matrix.kernels, matrix.count, family);
        progress_begin(&progress, invariance_seconds * (double)count);
        fine = invariance_measure(judge, &request, family, matrix.found, count, error);
        progress_end(&progress);
    }
    fine = fine && print(options, &matrix, error);
    exit_code code = fine ? exit_code_of(&matrix) : error->code;
    judge_destroy(judge);
    free(family);
    free(matrix.kernels);
    free(matrix.found);
    return code;
}

static exit_code start(void *context, const word_list *operands, error *error)
{
    invariance_options *options = context;
    ln_convention convention;
    worker *worker;
    kernel_list kernels;
    (void)operands;
    interrupt_watch();
    if (!output_choose(&options->request, &options->out, error) ||
        !convention_parse(options->convention, &convention, error))
        return error->code;
    if (!(options->deadline > 0))
        fail(error, EXIT_CODE_USAGE, "--deadline: more than 0 seconds were expected");
    else if (worker_start(options->plugins.words, options->plugins.count, &worker, &kernels,
                          error)) {
        exit_code code = measure(options, &convention, worker, &kernels, error);
        kernel_list_free(&kernels);
        worker_stop(worker);
        return code;
    }
    return error->code;
}

exit_code command_invariance(int argc, char **argv, error *error)
{
    invariance_options invariance = {
        .convention = "torch", .input = "normal", .seed = 1, .deadline = 10};
    const option options[] = {
        {"kernels", "GLOB,...", "only these kernels", OPTION_LIST, &invariance.kernels},
        {"convention", "C", "a preset or a list (default: torch)", OPTION_TEXT,
         &invariance.convention},
        {"input", "FAMILY", "of the rows (default: normal)", OPTION_TEXT, &invariance.input},
        {"hashes", NULL, "a line for each setting, with the hash of what came out", OPTION_FLAG,
         &invariance.hashes},
        {"plugin", "FILE.so", "with a plugin's kernels; may be given again", OPTION_RAW,
         &invariance.plugins},
        {"seed", "N", "of the rows (default: 1)", OPTION_COUNT, &invariance.seed},
        {"deadline", "S", "seconds until a kernel counts as hung (default: 10)", OPTION_REAL,
         &invariance.deadline},
        OUTPUT_OPTIONS(invariance.request),
    };
    const subcommand subcommand = {
        "invariance",
        "[OPTION...]",
        "Tells on what the bits of a row depend: threads, batch, place, buffers, ISA.",
        "The same rows in every setting; each class contains the ones before it:\n"
        "  none  the same call on the same buffers gives other bits\n"
        "  run   it gives the same bits, but they depend on the setting\n"
        "  row   on nothing but the row, gamma, beta and the convention\n"
        "  isa   nor on the ISA, of those that this CPU has (two at least)\n"
        "Exit code: 0; 5 a kernel is less than it declares; 6 a kernel is nondeterministic or\n"
        "failed; 2 usage; 7 files or environment; 130 interrupted.",
        options,
        sizeof options / sizeof *options,
        0};
    exit_code code = options_run(&subcommand, argc, argv, start, &invariance, error);
    word_list_free(&invariance.kernels);
    word_list_free(&invariance.plugins);
    return code;
}
