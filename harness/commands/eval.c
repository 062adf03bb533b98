/* lnbench eval: judges a kernel or the reference on the user's own tensors. lnbench fingerprint: finds the function
 * that made a given output. Both read the same files. */
#include "base/program.h"
#include "commands/options.h"
#include "conformance/conformance.h"
#include "domain/operation.h"
#include "domain/kernel.h"
#include "domain/case.h"
#include "inputs/inputs.h"
#include "inputs/tensor.h"
#include "judge/fingerprint/fingerprint.h"
#include "judge/judge.h"
#include "metrics/storage.h"
#include "show/answer.h"
#include "worker/worker.h"
#include <math.h>
#include <string.h>

/* ---- the files of eval and fingerprint ---- */

/* The contents of a file: a tensor by its role, the gradient of a loss with respect to y, or a gradient to judge. */
enum { FILE_DY = ROLES_MOST, FILE_GRADIENTS, FILES = FILE_GRADIENTS + GRADIENTS };
enum {
    FILE_DX = FILE_GRADIENTS + GRADIENT_DX,
    FILE_DGAMMA = FILE_GRADIENTS + GRADIENT_DGAMMA,
    FILE_DBETA = FILE_GRADIENTS + GRADIENT_DBETA
};

/* Returns the option that names the file. Options have the names of LayerNorm's tensors. */
static const char *option_of(size_t file)
{
    return file < FILE_DY    ? operations[LN_OPERATION_LAYERNORM]->roles[file].name
           : file == FILE_DY ? "dy"
                             : gradient_name(file - FILE_GRADIENTS);
}

/* Returns whether a file holds gamma, beta or their gradient, whose length does not depend on the number of rows. */
static bool is_parameter(const operation *what, size_t file)
{
    return file < FILE_DY ? file < what->count && role_is_parameter(&what->roles[file])
                          : file >= FILE_DGAMMA;
}

/* Reads one given file. All tensors but gamma, beta and their gradients must have the shape of x. */
static void read_file(arena *memory, const operation *what, const tensor_request *like,
                      const char *path, size_t file, tensor_array *arrays)
{
    tensor_request request = *like;
    request.path = path;
    tensor_read(memory, &request, &arrays[file]);
    if (file == ROLE_X)
        tensor_has_rows(&arrays[file], path);
    else if (!is_parameter(what, file))
        tensor_same_shape(&arrays[ROLE_X], &arrays[file], path, option_of(file));
}

/* ---- fingerprint: its input ---- */

/* Returns whether every element is a decimal number with at most `digits` places, within the precision of its type. */
static bool has_decimals(const double *values, size_t count, ln_type type, int digits)
{
    double power = pow(10, digits), half_ulp = type == LN_F64 ? 0x1p-53 : 0x1p-24;
    for (size_t i = 0; i < count; i++) {
        double scaled = values[i] * power, slack = fabs(scaled) * 2 * half_ulp;
        if (!isfinite(scaled))
            continue;
        if (slack > 0.125 || fabs(scaled - nearbyint(scaled)) > slack)
            return false;
    }
    return true;
}

/* Fills the input, except its digits, from LayerNorm's tensors. The axes are kept only if the row is the last axis and
 * there are at most FINGERPRINT_AXES of them; otherwise the input has two axes, rows and hidden. */
static void take_input(arena *memory, const tensor_array *arrays, const char *const *paths,
                       fingerprint_input *input)
{
    const operation *what = operations[LN_OPERATION_LAYERNORM];
    const tensor_array *x = &arrays[ROLE_X];
    double *values[ROLES_MOST] = {0};
    input->dimensions = 2;
    input->shape[0] = x->elements / x->hidden;
    input->shape[1] = x->hidden;
    if (x->row_axes == 1 && x->order[x->dimensions - 1] == x->dimensions - 1 &&
        x->dimensions <= FINGERPRINT_AXES) {
        input->dimensions = x->dimensions;
        for (size_t a = 0; a < x->dimensions; a++)
            input->shape[a] = x->shape[a];
    }
    for (size_t i = 0; i < what->count; i++) {
        const tensor_array *array = &arrays[i];
        if (!array->data)
            continue;
        if (is_parameter(what, i)) {
            tensor_is_finite(array, paths[i], option_of(i));
            if (input->parameters && array->elements != input->parameters)
                die(EXIT_CODE_USAGE, "%s (--%s): has %zu elements, but gamma has %zu", paths[i],
                    option_of(i), array->elements, input->parameters);
            input->parameters = array->elements;
            input->param = array->dtype;
        }
        values[i] = arena_new(memory, double, array->elements + 1);
        for (size_t e = 0; e < array->elements; e++)
            values[i][e] = storage_load(array->dtype, array->data, e);
    }
    input->x = values[ROLE_X];
    input->residual = values[ROLE_RESIDUAL];
    input->gamma = values[ROLE_GAMMA];
    input->beta = values[ROLE_BETA];
    input->y = values[ROLE_Y];
    input->x_type = x->dtype;
    input->y_type = arrays[ROLE_Y].dtype;
}

/* ---- eval: reading its tensors ---- */

typedef struct eval_options {
    const char *paths[FILES];
    const char *input, *shape; /* generated rows instead of files */
    const char *axis, *dtype;
    const char *convention, *kernel, *out;
    uint64_t seed;
    word_list plugins;
    double max_row_ulp, deadline;
    output_file printed;
    bool reference;
} eval_options;

typedef struct eval_state {
    const eval_options *options;
    worker_process *worker;
    kernel_list kernels;
    const kernel_entry *kernel; /* NULL: a file or the reference is judged */
    ln_convention convention;
    tensor_array arrays[FILES];
    arena memory; /* owns the arrays */
    ln_type storage, param;
    size_t rows, hidden;
} eval_state;

/* Chooses the types of the problem: the kernel's, else that of --dtypes, else that of the output file, since x may be
 * narrower than the output (f16 in, f32 out). Parameters are f64 if rows are f64, and f32 otherwise; RMSNorm's weight
 * keeps its own type if it is shorter. Returns words that say where the rows' type comes from. */
static const char *choose_types(eval_state *state)
{
    const eval_options *options = state->options;
    const size_t out = options->paths[ROLE_Y] ? ROLE_Y : options->paths[FILE_DX] ? FILE_DX : ROLE_X;
    const tensor_array *made = options->input ? NULL : &state->arrays[out];
    ln_type said;
    if (state->kernel) {
        state->storage = state->kernel->facts.storage;
        state->param = state->kernel->facts.param;
        return "the kernel's type";
    }
    const bool is_said = options->dtype && dtype_from_name(options->dtype, &said) &&
                         (!made || out == ROLE_X || tensor_converts(made, said));
    state->storage = is_said ? said : made ? made->dtype : LN_F32;
    state->param = state->storage == LN_F64 ? LN_F64 : LN_F32;
    return is_said          ? "as --dtypes says"
           : out == ROLE_Y  ? "the type of y"
           : out == FILE_DX ? "the type of dx"
                            : "the type of x";
}

/* Reads a parameter or its gradient, which must be given exactly if the convention has it. A weight of RMSNorm in a
 * shorter type decides the type of the parameters, because 1 + w may be rounded to it. */
static void read_parameter(eval_state *state, const tensor_request *like, size_t file)
{
    const eval_options *options = state->options;
    const ln_convention *convention = &state->convention;
    const operation *what = operations[convention->operation];
    const char *path = options->paths[file], *option = option_of(file);
    const bool is_gradient = file > FILE_DY;
    tensor_array *array = &state->arrays[file];
    /* Gradients need no beta or bias, and need gamma only for dx. */
    if (!path && (is_gradient ||
                  (options->paths[FILE_DY] && !(file == ROLE_GAMMA && options->paths[FILE_DX]))))
        return;
    const bool is_wanted = file == FILE_DGAMMA  ? ln_has_gamma(convention->affine)
                           : file == FILE_DBETA ? ln_has_beta(convention->affine)
                                                : role_is_needed(&what->roles[file], convention);
    const size_t length = is_gradient ? ln_parameter_elements(convention->affine, state->hidden)
                                      : role_columns(&what->roles[file], convention, state->hidden);
    if (!is_wanted && path)
        die(EXIT_CODE_USAGE, "--%s %s: this convention has no %s", option, path, option);
    if (!is_wanted)
        return;
    if (!path)
        die(EXIT_CODE_USAGE,
            "--%s is missing: this convention needs %zu element%s of it; name a file, or a "
            "convention with affine=none (lnbench list conventions)",
            option, length, plural(length));
    read_file(&state->memory, what, like, path, file, state->arrays);
    if (!is_gradient && !state->kernel && convention->operation == LN_OPERATION_RMSNORM &&
        dtype_size(array->dtype) < dtype_size(state->param))
        state->param = array->dtype;
    if (length > 1 && !is_gradient)
        tensor_broadcast(&state->memory, &state->arrays[ROLE_X], array, path, option);
    if (array->elements != length)
        die(EXIT_CODE_USAGE, "%s (--%s): has %zu elements, but this convention needs %zu", path,
            option, array->elements, length);
    if (!is_gradient)
        tensor_is_finite(array, path, option);
    tensor_convert(&state->memory, array, state->param, "the type of parameters here", path,
                   option);
}

/* Reads the files and converts them to the types of the problem. A value that a type cannot hold ends the program. */
static void read_tensors(eval_state *state)
{
    const eval_options *options = state->options;
    const operation *what = operations[state->convention.operation];
    const kernel_facts *kernel = state->kernel ? &state->kernel->facts : NULL;
    const char *const *paths = options->paths;
    ln_type said = kernel ? kernel->storage : LN_F32;
    tensor_axes axes;
    if (options->dtype && dtype_from_name(options->dtype, &said) && kernel &&
        said != kernel->storage)
        die(EXIT_CODE_USAGE, "--dtypes %s: kernel %s takes only %s", options->dtype, kernel->name,
            dtype_name(kernel->storage));
    tensor_axes_parse(options->axis, &axes);
    if (options->input) {
        choose_types(state);
        input_check(options->input);
        shape_parse(options->shape, &state->rows, &state->hidden);
        return;
    }
    for (size_t i = 0; i < what->count; i++)
        if (paths[i] && !operation_has(what, i))
            die(EXIT_CODE_USAGE, "--%s %s: %s has no %s", option_of(i), paths[i], what->title,
                option_of(i));
    const tensor_request like = {.u2_is_bf16 = said == LN_BF16, .axes = &axes};
    const tensor_request flat = {.u2_is_bf16 = like.u2_is_bf16};
    for (size_t i = 0; i < FILES; i++)
        if (paths[i] && !is_parameter(what, i))
            read_file(&state->memory, what, &like, paths[i], i, state->arrays);
    state->hidden = state->arrays[ROLE_X].hidden;
    state->rows = state->arrays[ROLE_X].elements / state->hidden;
    const char *whose = choose_types(state);
    for (size_t i = 0; i < FILES; i++)
        if (paths[i] && !is_parameter(what, i))
            tensor_convert(&state->memory, &state->arrays[i], state->storage, whose, paths[i],
                           option_of(i));
    for (size_t i = 0; i < FILES; i++)
        if (is_parameter(what, i))
            read_parameter(state, &flat, i);
}

/* ---- eval: judging an output ---- */

/* The probability that some row exceeds its probable bound. */
static const double rare = 1e-9;

typedef struct eval_shown {
    stored_case result;                /* a case as in the store, so that it prints alike */
    const kernel_entry *kernel;        /* NULL: the reference or a file was judged */
    invariance_result bits;            /* which changes of a call change the output's bits */
    ln_reference_counts certified;     /* how the reference values were certified */
    double probable_row_ulp;           /* NaN: none */
    const fingerprint_found *function; /* the function that made a failing output, or NULL */
    bool is_among;                     /* the result's convention is among its candidates */
} eval_shown;

/* Returns the case as run --json prints it, with the figures that only eval computes. */
static json_t *shown_json(const eval_shown *shown)
{
    const ln_reference_counts *counts = &shown->certified;
    const fingerprint_found *function = shown->function;
    const double confidence = isfinite(shown->probable_row_ulp) ? 1 - rare : NAN;
    char label[NAME_MAX_LENGTH] = "";
    if (shown->kernel)
        kernel_entry_label(shown->kernel, label);
    json_t *names = json_array(),
           *object = case_json(&shown->result, label,
                               reproducibility_name(reproducibility_of(&shown->bits)), "");
    for (size_t i = 0; function && i < function->count; i++)
        json_array_append_new(names, json_string(function->candidates[i].words));
    json_t *added = json_pack(
        "{s:{s:I, s:I, s:I, s:I, s:I, s:I}, s:o, s:o, s:o}", "certified", "elements",
        (json_int_t)counts->elements, "fast", (json_int_t)counts->fast, "first_try",
        (json_int_t)counts->first_try, "raised", (json_int_t)counts->raised, "exact",
        (json_int_t)counts->exact, "special", (json_int_t)counts->special, "bound_probable",
        json_figure(shown->probable_row_ulp), "bound_confidence", json_figure(confidence),
        "function",
        function ? json_pack("{s:s, s:O}", "answer", fingerprint_answer_name(function->answer),
                             "candidates", names)
                 : json_null());
    json_object_update(object, added);
    json_decref(added);
    json_decref(names);
    return object;
}

/* Prints the table: the verdict, the function that made a failing output, the figures, and the remaining facts. */
static void print_table(const eval_shown *shown, const output_file *out)
{
    static const relation_column columns[] = {FOR_PEOPLE("measure"),
                                              {.heading = "value", .format = "%.6g"}};
    relation *rows = relation_create(COLUMNS(columns));
    const stored_case *result = &shown->result;
    const case_key *key = &result->key;
    const ln_metrics *m = &result->metrics;
    const bool right = verdict_exit_code(&result->verdict) == EXIT_CODE_FINE;
    const double proven = result->bound_row_ulp, probable = shown->probable_row_ulp;
    char described[VERDICT_MAX_LENGTH], said[5 * FINGERPRINT_WORDS];
    const char *output = strcmp(key->kernel, "given") == 0 ? " output" : "";
    output_line(out, "%s%s on %s: %zu x %zu, %s", key->kernel, output, key->input, key->rows,
                key->hidden, key->convention);
    output_line(out, "%s", "");
    verdict_describe(&result->verdict, described, sizeof described);
    relation_row(rows, as_text("verdict"), as_text(described));
    if (shown->function)
        relation_row(rows, as_text("function"),
                     as_format("%s%s%s%s", fingerprint_say(shown->function, said, sizeof said),
                               shown->is_among ? " ("
                               : right         ? ", not "
                                               : "",
                               shown->is_among || right ? key->convention : "",
                               shown->is_among ? " only with another eps or poorer sums)" : ""));
    for (size_t i = 0; i < metric_count_all; i++) {
        const double value = metric_value(m, &metric_list[i]);
        if (strncmp(metric_list[i].name, "worst_", 6) != 0)
            relation_row(rows, as_text(metric_list[i].name),
                         metric_list[i].kind == METRIC_COUNT ? as_count((unsigned long long)value)
                                                             : as_figure(value));
        if (strcmp(metric_list[i].name, "row_ulp_mean") != 0)
            continue;
        relation_row(rows, as_text("row_ulp_proven"),
                     isinf(proven) ? as_text("none") : as_figure(proven));
        /* The probable bound follows the proven one, with its confidence. */
        relation_row(rows, as_text("row_ulp_probable"),
                     isnan(probable) ? as_text(NULL)
                     : !(probable < proven)
                         ? as_text("as proven")
                         : as_format("%.6g, with probability 1 - %g for all rows", probable, rare));
    }
    relation_row(rows, as_text("worst"),
                 as_format("row %zu, column %zu: %.9g (%a), exactly %.9g (%a)", m->worst_row,
                           m->worst_column, m->worst_computed, m->worst_computed, m->worst_exact,
                           m->worst_exact));
    relation_row(rows, as_text("reproducible"),
                 as_text(reproducibility_describe(&shown->bits, described, sizeof described)));
    relation_row(rows, as_text("exact answers"),
                 as_text(judge_describe_counts(&shown->certified, described, sizeof described)));
    relation_print(rows, out);
    output_line(out, "ulp_...: in ulps of the element; row_ulp_...: of |gamma| max|xhat| + |beta|");
}

/* Prints the result, the reproducibility class of a kernel that ran, and the function that made a given failing
 * output. */
static void show_result(const eval_state *state, row_judge *judge, const case_judgement *judgement)
{
    enum { FEW_ROWS = 64 };
    const eval_options *options = state->options;
    const char *given = options->paths[ROLE_Y];
    eval_shown shown = {.result = {.judged = true,
                                   .verdict = judgement->verdict,
                                   .metrics = judgement->metrics,
                                   .bound_row_ulp = judgement->bound_row_ulp,
                                   .key = {.operation = state->convention.operation,
                                           .rows = state->rows,
                                           .hidden = state->hidden,
                                           .dtype = state->storage,
                                           .threads = 1}},
                        .kernel = state->kernel,
                        .certified = ln_reference_count(judge->reference),
                        .probable_row_ulp = judgement->probable_row_ulp};
    case_key *key = &shown.result.key;
    fingerprint_found function = {0};
    snprintf(key->kernel, sizeof key->kernel, "%s",
             options->reference ? "reference"
             : given            ? "given"
                                : options->kernel);
    snprintf(key->input, sizeof key->input, "%.250s",
             options->input ? options->input : options->paths[ROLE_X]);
    convention_label(&state->convention, key->convention);
    if (state->kernel && judgement->metrics.elements > 0 &&
        !invariance_measure(judge, &state->convention, NULL, &state->kernels, &state->kernel,
                            &shown.bits, 1))
        die(EXIT_CODE_INTERRUPTED, "interrupted");
    const bool wrong = given && verdict_exit_code(&judgement->verdict) == EXIT_CODE_ACCURACY;
    /* A 16-bit output may pass with other roundings; another convention may then explain each of its bits. */
    const bool elsewhere = given && !wrong && dtype_size(state->storage) == 2 &&
                           judgement->metrics.correctly_rounded < 1;
    if (wrong || elsewhere) {
        fingerprint_input input = {.digits = FINGERPRINT_EXACT, .x_digits = FINGERPRINT_EXACT};
        arena memory = {0};
        take_input(&memory, state->arrays, options->paths, &input);
        /* A few rows are enough: a function that the first rows of a table exclude is excluded for all rows. */
        if (!wrong && input.dimensions == 2 && input.shape[0] > FEW_ROWS)
            input.shape[0] = FEW_ROWS;
        fingerprint_make(&input, &function);
        shown.is_among = fingerprint_is_among(&input, &function, &state->convention);
        arena_free(&memory);
    }
    if (wrong || (function.answer != ANSWER_NONE && !shown.is_among))
        shown.function = &function;
    /* If the kernel computed nothing, only JSON has a result to print. */
    if (options->printed.format == OUTPUT_JSON)
        output_json(&options->printed, shown_json(&shown));
    else if (judgement->metrics.elements > 0)
        print_table(&shown, &options->printed);
    fingerprint_free(&function);
}

/* Judges the output of a kernel, of the reference or of a file, and prints all its figures. */
static exit_code evaluate(const eval_state *state)
{
    const eval_options *options = state->options;
    const judge_settings settings = {.seed = options->seed,
                                     .max_row_ulp = options->max_row_ulp,
                                     .deadline_seconds = options->deadline,
                                     .chance = rare};
    const size_t dense[] = {state->rows, state->hidden};
    row_judge *judge = judge_create(worker_runner(state->worker), &settings);
    judge_block block = {0};
    case_judgement judgement;
    char described[256];
    operation_call call =
        call_dense(&state->convention, state->storage, state->param, state->rows, state->hidden);
    for (size_t i = 0; i < ROLES_MOST; i++)
        call.inputs[i] = state->arrays[i].data;
    if (options->input)
        judge_block_generate(judge, &block, call, options->input, NULL, 0);
    else
        judge_block_from(judge, &block, &call);
    /* The rounded reference is judged like any output, which shows the error of rounding alone. */
    const void *computed = options->reference ? block.rounded : state->arrays[ROLE_Y].data;
    if (state->kernel) {
        judge_kernel(judge, &block, state->kernel, &judgement);
        computed = judgement.computed;
    } else {
        judge_output(judge, &block, computed, &judgement);
    }
    if (interrupted())
        die(EXIT_CODE_INTERRUPTED, "interrupted");
    if (options->out && computed && options->input)
        npy_write(options->out, state->storage, 2, dense, computed);
    else if (options->out && computed)
        tensor_write(options->out, state->storage, &state->arrays[ROLE_X], computed);
    show_result(state, judge, &judgement);
    exit_code code = verdict_exit_code(&judgement.verdict);
    /* The user requested this one kernel, so it is an error that it cannot run here. */
    if (judgement.verdict.kind == VERDICT_UNSUPPORTED)
        code = EXIT_CODE_ENVIRONMENT;
    if (judgement.metrics.elements == 0)
        die(code, "%s: %s%s%s%s", options->kernel,
            verdict_describe(&judgement.verdict, described, sizeof described),
            options->out ? "; " : "", options->out ? options->out : "",
            options->out ? " was not written" : "");
    if (options->out)
        output_line(&options->printed, "\nwritten  %s", options->out);
    judge_block_free(&block);
    judge_destroy(judge);
    return code;
}

/* ---- eval: judging gradients ---- */

/* Compares the given gradients with the exact ones. An element of another class (NaN, infinite, finite) or a
 * row_ulp_max above the limit is an error; without a limit only classes are checked. */
static exit_code evaluate_gradients(const eval_state *state)
{
    static const relation_column columns[] = {
        COLUMN("gradient", "gradient"),
        {"ulp_max", "ulp_max", .format = "%.6g"},
        {"row_ulp_max", "row_ulp_max", .format = "%.6g"},
        {"rel_l2", "rel_l2", .format = "%.6g"},
        {"correctly_rounded", "correctly_rounded", .format = "%.6g"},
        FOR_PROGRAMS("elements"),
        FOR_PROGRAMS("mismatches"),
        FOR_PROGRAMS("worst_row"),
        FOR_PROGRAMS("worst_column"),
        FOR_PEOPLE("worst"),
        COLUMN("verdict", EACH_MEMBER),
    };
    const ln_problem problem = {.rows = state->rows,
                                .hidden = state->hidden,
                                .storage = state->storage,
                                .param = state->param,
                                .convention = state->convention};
    const double limit = state->options->max_row_ulp;
    ln_tensors given = {0};
    const void *gradients[GRADIENTS];
    ln_metrics found[GRADIENTS];
    exit_code code = EXIT_CODE_FINE;
    char label[CONVENTION_MAX_LENGTH];
    relation *rows = relation_create(COLUMNS(columns));
    for (size_t i = 0; i < operations[problem.convention.operation]->count; i++)
        role_set(i, &given, state->arrays[i].data);
    for (size_t i = 0; i < GRADIENTS; i++)
        gradients[i] = state->arrays[FILE_GRADIENTS + i].data;
    judge_gradients(&problem, &given, state->arrays[FILE_DY].data, gradients, found);
    for (size_t i = 0; i < GRADIENTS; i++) {
        const ln_metrics *own = &found[i];
        const case_verdict verdict = {.kind = own->mismatches            ? VERDICT_WRONG_CLASS
                                              : own->row_ulp_max > limit ? VERDICT_INACCURATE
                                              : isinf(limit)             ? VERDICT_NOT_JUDGED
                                                                         : VERDICT_PASS};
        if (!gradients[i])
            continue;
        code = worse_exit_code(code, verdict_exit_code(&verdict));
        relation_row(
            rows, as_text(gradient_name(i)), as_figure(own->ulp_max), as_figure(own->row_ulp_max),
            as_figure(own->rel_l2), as_figure(own->correctly_rounded), as_count(own->elements),
            as_count(own->mismatches), as_count(own->worst_row), as_count(own->worst_column),
            as_format("row %zu, column %zu", own->worst_row, own->worst_column),
            as_verdict(&verdict));
    }
    relation_print_in(rows,
                      json_pack("{s:s, s:s, s:I, s:I, s:s}", "schema", "lnbench-gradients-3",
                                "convention", convention_label(&problem.convention, label), "rows",
                                (json_int_t)problem.rows, "hidden", (json_int_t)problem.hidden,
                                "dtype", dtype_name(problem.storage)),
                      "gradients", &state->options->printed);
    return code;
}

/* ---- eval: the command ---- */

/* Checks that --dy comes with at least one gradient, and that only one kind of output is given. */
static void check_options(const eval_options *options)
{
    const int ways =
        (options->kernel != NULL) + options->reference + (options->paths[ROLE_Y] != NULL);
    bool any = false;
    for (size_t i = 0; i < GRADIENTS; i++)
        any |= options->paths[FILE_GRADIENTS + i] != NULL;
    if (any != (options->paths[FILE_DY] != NULL))
        die(EXIT_CODE_USAGE, "--dy FILE goes with at least one of --dx, --dgamma and --dbeta");
    if (any && (ways || options->input || options->paths[ROLE_RESIDUAL] || options->out))
        die(EXIT_CODE_USAGE, "--dy judges gradients only: give no y, residual, kernel or --out");
    if (!options->paths[ROLE_X] == !options->input)
        die(EXIT_CODE_USAGE, "%s",
            options->paths[ROLE_X] ? "choose --x or --inputs, not both"
                                   : "--x FILE or --inputs FAMILY is missing");
    if (options->input && options->axis)
        die(EXIT_CODE_USAGE, "--inputs generates rows: leave out --axis");
    for (size_t i = 0; i < ROLES_MOST && options->input; i++)
        if (options->paths[i])
            die(EXIT_CODE_USAGE,
                "--inputs generates all tensors: leave out gamma, beta, residual and y");
    if (ways != 1 && !any)
        die(EXIT_CODE_USAGE, "choose one of --kernels NAME, --reference, --y FILE and --dy FILE");
    if (options->dtype)
        word_chosen("dtypes", options->dtype, WORDS(dtype_names));
}

static exit_code run_eval(void *context, const cli_call *call)
{
    const eval_options *options = context;
    const word_list words = {(const char **)&options->kernel, options->kernel != NULL};
    eval_state state = {.options = options};
    (void)call;
    interrupt_watch();
    check_options(options);
    state.worker = worker_start(options->plugins.words, options->plugins.count, &state.kernels);
    const char *word = kernel_words_convention(&state.kernels, &words, options->convention);
    state.convention = convention_named(word);
    if (options->paths[FILE_DY] && state.convention.operation != LN_OPERATION_LAYERNORM)
        die(EXIT_CODE_USAGE, "--dy judges gradients of layernorm only, not of %s",
            operations[state.convention.operation]->name);
    if (options->kernel)
        state.kernel = kernel_meant(&state.kernels, options->kernel);
    read_tensors(&state);
    state.convention = convention_for(word, state.storage);
    exit_code code = options->paths[FILE_DY] ? evaluate_gradients(&state) : evaluate(&state);
    worker_stop(state.worker);
    kernel_list_free(&state.kernels);
    arena_free(&state.memory);
    return code;
}

static const cli_option eval_table[] = {
    {"x", "FILE", "tensor to normalise; a row is its last axis", OPTION_TEXT,
     offsetof(eval_options, paths[ROLE_X])},
    {"inputs", "FAMILY", "generate rows and parameters of this family instead", OPTION_TEXT,
     offsetof(eval_options, input)},
    {"shapes", "ROWSxHIDDEN", "with --inputs: shape (default: 18x768)", OPTION_TEXT,
     offsetof(eval_options, shape)},
    {"seed", "N", "with --inputs: seed (default: 1)", OPTION_COUNT, offsetof(eval_options, seed)},
    {"residual", "FILE", "add this to x first", OPTION_TEXT,
     offsetof(eval_options, paths[ROLE_RESIDUAL])},
    {"gamma", "FILE", "gamma, if the convention has one", OPTION_TEXT,
     offsetof(eval_options, paths[ROLE_GAMMA])},
    {"beta", "FILE", "beta, if the convention has one", OPTION_TEXT,
     offsetof(eval_options, paths[ROLE_BETA])},
    {"conventions", "C", "preset or list (default: torch; for RMSNorm torch-rms)", OPTION_TEXT,
     offsetof(eval_options, convention)},
    {"kernels", "NAME", "the kernel to run: its name or label", OPTION_TEXT,
     offsetof(eval_options, kernel)},
    {"reference", NULL, "compute y with the certified reference", OPTION_FLAG,
     offsetof(eval_options, reference)},
    {"y", "FILE", "judge this output of another program", OPTION_TEXT,
     offsetof(eval_options, paths[ROLE_Y])},
    {"dy", "FILE", "the gradient of a loss with respect to y: judge gradients", OPTION_TEXT,
     offsetof(eval_options, paths[FILE_DY])},
    {"dx", "FILE", "with --dy: judge this gradient with respect to x", OPTION_TEXT,
     offsetof(eval_options, paths[FILE_DX])},
    {"dgamma", "FILE", "with --dy: judge this gradient with respect to gamma", OPTION_TEXT,
     offsetof(eval_options, paths[FILE_DGAMMA])},
    {"dbeta", "FILE", "with --dy: judge this gradient with respect to beta", OPTION_TEXT,
     offsetof(eval_options, paths[FILE_DBETA])},
    {"out", "FILE.npy", "write the output, in the shape of x", OPTION_TEXT,
     offsetof(eval_options, out)},
    {"axis", "A,...", "axes of a row (default: -1)", OPTION_TEXT, offsetof(eval_options, axis)},
    {"dtypes", "TYPE", "element type; bf16 for files of u2 (default: that of y or x)", OPTION_TEXT,
     offsetof(eval_options, dtype)},
    PLUGIN_OPTION(eval_options, plugins),
    {"max-row-ulp", "X", "an output with a larger error fails", OPTION_REAL,
     offsetof(eval_options, max_row_ulp)},
    DEADLINE_OPTION(eval_options, deadline, 60),
    OUTPUT_OPTIONS(eval_options, printed),
};

const cli_command command_eval = {
    .name = "eval",
    .brief = "run a kernel or the reference on your tensors; judge an output",
    .usage = "--x FILE | --inputs FAMILY [OPTION...]",
    .example = "eval --x x.npy --y y.npy --conventions tinyllm",
    .summary = "Runs a kernel, or the reference, on your tensors and prints every error metric.",
    .details =
        "FILE is FILE.npy, FILE.npz:NAME or FILE.safetensors:NAME, of f32, f64, f16 or bf16\n"
        "(docs/inputs.md). docs/accuracy.md (\"Which errors are printed?\") defines each metric.\n"
        "The output --y, or a plugin without a proven bound, fails if it exceeds a limit of\n"
        "docs/conformance.md or --max-row-ulp. The line `function` says which function made y.\n"
        "Exit code 0: fine; 2: usage; 3: the output cannot be judged; 5: the output is wrong; 6:\n"
        "the kernel failed; 7: a file or the environment failed, or the kernel cannot run here.",
    OPTIONS(eval_table),
    DEFAULTS(eval_options, .shape = "18x768", .seed = 1, .max_row_ulp = INFINITY, .deadline = 60),
    .body = run_eval,
};

/* ---- fingerprint ---- */

typedef struct fingerprint_options {
    const char *paths[ROLES_MOST]; /* by role */
    const char *probe, *dtype;
    uint64_t digits, x_digits;
    output_file printed;
} fingerprint_options;

#define NOT_GIVEN UINT64_MAX

/* Returns the functions that explain y, the most common one first. */
static relation *candidates_relation(const fingerprint_found *found)
{
    static const relation_column columns[] = {
        COLUMN("function", "function"), FOR_PROGRAMS("convention"), COLUMN("eps from", "eps_low"),
        COLUMN("to", "eps_high"),       COLUMN("or", "also"),
    };
    relation *rows = relation_create(COLUMNS(columns));
    for (size_t i = 0; i < found->count; i++) {
        const fingerprint_candidate *one = &found->candidates[i];
        char label[CONVENTION_MAX_LENGTH];
        bool has_eps = one->kind == KIND_NORMALISED;
        relation_row(rows, as_text(one->words),
                     as_text(has_eps ? convention_label(&one->convention, label) : NULL),
                     as_figure(has_eps ? one->eps_low : NAN),
                     as_figure(has_eps && isfinite(one->eps_high) ? one->eps_high : NAN),
                     as_text(*one->also ? one->also : NULL));
    }
    return rows;
}

/* Returns the JSON fields other than the candidates. */
static json_t *found_json(const fingerprint_found *found, size_t hidden)
{
    json_t *row = found->probe == 0 ? json_null() : json_array();
    for (size_t i = 0; found->probe != 0 && i < hidden; i++)
        json_array_append_new(row,
                              json_real((double)fingerprint_probe_value(found->probe, hidden, i)));
    return json_pack("{s:s, s:s, s:I, s:I, s:I, s:o, s:I, s:I}", "schema", "lnbench-fingerprint-3",
                     "answer", fingerprint_answer_name(found->answer), "tried",
                     (json_int_t)found->tried, "rows", (json_int_t)found->rows, "rows_used",
                     (json_int_t)found->used, "row", row, "pairs", (json_int_t)found->pairs,
                     "pairs_left", (json_int_t)found->pairs_left);
}

/* Prints that no function explains y, and what the user can try: give gamma, or say how many decimals were printed. */
static void print_none(const fingerprint_input *input, const fingerprint_found *found,
                       const output_file *out)
{
    enum { MOST = 6, ENOUGH = 4 };
    int digits = 0; /* the number of decimals that y seems to be rounded to */
    size_t count = 1;
    for (size_t a = 0; a < input->dimensions; a++)
        count *= input->shape[a];
    while (digits <= MOST && !has_decimals(input->y, count, input->y_type, digits))
        digits++;
    output_line(out, "none: no candidate (eps up to 1/64) explains y%s",
                input->gamma && input->beta ? "" : "; give gamma and beta, if there were any");
    output_text(out, found->last_row ? "Rows 0 to %zu rule" : "Row %zu rules", found->last_row);
    output_line(out, " out all candidates that normalise the last axis");
    if (input->digits == FINGERPRINT_EXACT && count >= ENOUGH && digits > 0 && digits <= MOST)
        output_line(out, "y looks rounded to %d decimals: add --digits %d", digits, digits);
}

/* Prints the answer in sentences, and the row that would decide between candidates. probe: a file for it, or NULL. */
static void print_answer(const fingerprint_input *input, const fingerprint_found *found,
                         const char *probe, const output_file *out)
{
    const size_t hidden = input->shape[input->dimensions - 1];
    char said[2 * FINGERPRINT_WORDS], form[96];
    snprintf(form, sizeof form, "in %s", dtype_name(input->y_type));
    if (input->digits != FINGERPRINT_EXACT)
        snprintf(form, sizeof form, "printed to %d decimals; x %s", input->digits,
                 input->x_digits == FINGERPRINT_EXACT ? "taken as exact (--x-digits D if it is not)"
                                                      : "too");
    output_line(out, "%zu row%s of %zu; y %s; %zu candidates", found->rows, plural(found->rows),
                hidden, form, found->tried);
    if (found->used < found->rows && found->answer != ANSWER_NONE)
        output_line(out,
                    "%zu of the rows are not used: their sums may have no correct digit, or x is "
                    "not finite",
                    found->rows - found->used);
    if (found->answer == ANSWER_NONE)
        print_none(input, found, out);
    else if (found->answer == ANSWER_NAMED)
        output_line(out, "%s", fingerprint_say(found, said, sizeof said));
    else
        output_line(out, "open: %zu candidate%s y%s", found->count,
                    found->count == 1 ? " explains" : "s explain",
                    found->count == 1 ? ", with any eps of a range" : "");
    if (found->probe != 0)
        output_text(out,
                    "A row that alternates between +%.9g and -%.9g%s may %s.\n"
                    "%s: append it to x, run your kernel, and repeat this command\n",
                    (double)found->probe, (double)found->probe,
                    hidden % 2 ? ", with a 0 at its end," : "",
                    found->pairs_left == 0 ? "leave one of them" : "leave fewer candidates",
                    probe ? "The file of --probe holds it" : "--probe FILE.npy writes it");
}

static int read_digits(uint64_t given, const char *option)
{
    if (given == NOT_GIVEN)
        return FINGERPRINT_EXACT;
    if (given > FINGERPRINT_MOST_DIGITS)
        die(EXIT_CODE_USAGE, "invalid --%s %llu: choose 0 to %d decimals", option,
            (unsigned long long)given, FINGERPRINT_MOST_DIGITS);
    return (int)given;
}

static exit_code find_and_print(void *context, const cli_call *call)
{
    const fingerprint_options *options = context;
    const operation *what = operations[LN_OPERATION_LAYERNORM];
    const output_file *out = &options->printed;
    const tensor_request like = {.u2_is_bf16 = options->dtype != NULL};
    const char *const *paths = options->paths;
    tensor_array arrays[ROLES_MOST] = {0};
    arena memory = {0};
    fingerprint_found found = {0};
    (void)call;
    if (!paths[ROLE_X] || !paths[ROLE_Y])
        die(EXIT_CODE_USAGE, "--%s FILE is missing", paths[ROLE_X] ? "y" : "x");
    if (options->dtype && strcmp(options->dtype, "bf16") != 0)
        die(EXIT_CODE_USAGE, "invalid --dtypes '%.60s': choose bf16", options->dtype);
    fingerprint_input input = {.digits = read_digits(options->digits, "digits"),
                               .x_digits = read_digits(options->x_digits, "x-digits")};
    for (size_t i = 0; i < ROLES_MOST; i++)
        if (paths[i])
            read_file(&memory, what, &like, paths[i], i, arrays);
    take_input(&memory, arrays, paths, &input);
    /* Without --x-digits, x counts as printed like y if it has exactly as many decimals, and as exact otherwise. */
    if (options->x_digits == NOT_GIVEN && input.digits > 0 &&
        has_decimals(input.x, arrays[ROLE_X].elements, input.x_type, input.digits) &&
        !has_decimals(input.x, arrays[ROLE_X].elements, input.x_type, input.digits - 1))
        input.x_digits = input.digits;
    fingerprint_make(&input, &found);
    const size_t hidden = input.shape[input.dimensions - 1], row_shape[2] = {1, hidden};
    print_answer(&input, &found, options->probe, out);
    output_line(out, "%s", "");
    if (found.count > 0 || out->format == OUTPUT_JSON)
        relation_print_in(candidates_relation(&found), found_json(&found, hidden), "candidates",
                          out);
    /* No file is written if no row can decide; that is a valid answer too. */
    if (options->probe && found.probe == 0) {
        output_line(out, "%s was not written: %s", options->probe,
                    found.answer == ANSWER_OPEN ? "no probe is known: try variances near eps"
                                                : "nothing is left to tell apart");
    } else if (options->probe) {
        float *row = arena_new(&memory, float, hidden);
        for (size_t i = 0; i < hidden; i++)
            row[i] = fingerprint_probe_value(found.probe, hidden, i);
        npy_write(options->probe, LN_F32, 2, row_shape, row);
    }
    exit_code code = fingerprint_exit_code(found.answer);
    fingerprint_free(&found);
    arena_free(&memory);
    return code;
}

static const cli_option fingerprint_table[] = {
    {"x", "FILE", "the input, of any shape; a row is its last axis", OPTION_TEXT,
     offsetof(fingerprint_options, paths[ROLE_X])},
    {"y", "FILE", "the output, in the shape of x", OPTION_TEXT,
     offsetof(fingerprint_options, paths[ROLE_Y])},
    {"gamma", "FILE", "gamma, if there was one: one number, or one for each column", OPTION_TEXT,
     offsetof(fingerprint_options, paths[ROLE_GAMMA])},
    {"beta", "FILE", "beta, if there was one, likewise", OPTION_TEXT,
     offsetof(fingerprint_options, paths[ROLE_BETA])},
    {"residual", "FILE", "a tensor that was added to x first", OPTION_TEXT,
     offsetof(fingerprint_options, paths[ROLE_RESIDUAL])},
    {"dtypes", "bf16", "files of u2 hold bf16 (other files say their type)", OPTION_TEXT,
     offsetof(fingerprint_options, dtype)},
    {"digits", "D", "y was printed with D decimals", OPTION_COUNT,
     offsetof(fingerprint_options, digits)},
    {"x-digits", "D", "x was printed with D decimals (default: found from x and y)", OPTION_COUNT,
     offsetof(fingerprint_options, x_digits)},
    {"probe", "FILE.npy", "write one more row, which separates the candidates best", OPTION_TEXT,
     offsetof(fingerprint_options, probe)},
    OUTPUT_OPTIONS(fingerprint_options, printed),
};

const cli_command command_fingerprint = {
    .name = "fingerprint",
    .brief = "find the function that made an output",
    .usage = "--x FILE --y FILE [OPTION...]",
    .example = "fingerprint --x x.npy --y y.npy",
    .summary =
        "Finds the function that made an output: LayerNorm or RMSNorm under every convention.",
    .details =
        "FILE is FILE.npy, FILE.npz:NAME or FILE.safetensors:NAME, of f32, f64, f16 or bf16\n"
        "(docs/inputs.md). Other axes, other uses of gamma and beta, and other places to round\n"
        "are tried too. The answer is one function, several, or none. A candidate that may have\n"
        "made y is never excluded; candidates have an eps of at most 1/64 (docs/conventions.md).\n"
        "Exit code 0: one function; 2: usage; 3: several functions explain y; 5: none does; 7: a\n"
        "file cannot be read.",
    OPTIONS(fingerprint_table),
    DEFAULTS(fingerprint_options, .digits = NOT_GIVEN, .x_digits = NOT_GIVEN),
    .body = find_and_print,
};
