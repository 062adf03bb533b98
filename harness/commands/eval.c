/* lnbench eval: a kernel, or the reference, on the user's own tensors. */
#include "domain/kernel_json.h"
#include "commands/options.h"
#include "commands/tensors.h"
#include "domain/convention.h"
#include "base/program.h"
#include "conformance/invariance.h"
#include "worker/worker.h"
#include "conformance/conformance.h"
#include "base/output.h"
#include "show/run_view.h"
#include "domain/metric_fields.h"
#include "inputs/inputs.h"
#include "judge/judge.h"
#include <math.h>
#include <string.h>

typedef struct eval_shown {
    const stored_case *result;
    const char *label;                 /* of the kernel; "": the reference */
    const char *reproducibility;       /* the class */
    const char *reproducible;          /* and what else the bits depend on, in words */
    ln_reference_counts certified;     /* how the right answers were decided */
    double probable_row_ulp;           /* NaN: none */
    double chance;                     /* that some row is beyond it */
    const fingerprint_found *function; /* what made a wrong output; NULL: nothing was wrong */
    bool is_among;                     /* the result's convention is one of them */
} eval_shown;

static json_t *shown_json(const eval_shown *shown)
{
    const ln_reference_counts *counts = &shown->certified;
    const fingerprint_found *function = shown->function;
    const view_case view = {.stored = shown->result,
                            .speed = SPEED_UNKNOWN,
                            .label = shown->label,
                            .regime = "",
                            .reproducibility = shown->reproducibility};
    const double confidence = isfinite(shown->probable_row_ulp) ? 1 - shown->chance : NAN;
    json_t *names = json_array(), *object = view_case_json(&view);
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

/* Beside the proven bound, and with its confidence. */
static relation_value as_probable(const eval_shown *shown)
{
    double probable = shown->probable_row_ulp;
    if (isnan(probable))
        return as_text(NULL);
    if (!(probable < shown->result->bound_row_ulp))
        return as_text("as proven");
    return as_format("%.6g, with probability 1 - %g for all rows", probable, shown->chance);
}

static void add_figures(relation *rows, const eval_shown *shown)
{
    double proven = shown->result->bound_row_ulp;
    for (size_t i = 0; i < metric_count_all; i++) {
        if (metric_list[i].kind == METRIC_REAL && strncmp(metric_list[i].name, "worst_", 6) != 0)
            relation_row(rows, as_text(metric_list[i].name),
                         as_figure(metric_value(&shown->result->metrics, &metric_list[i])));
        if (strcmp(metric_list[i].name, "row_ulp_mean") != 0)
            continue;
        relation_row(rows, as_text("row_ulp_proven"),
                     isinf(proven) ? as_text("none") : as_figure(proven));
        relation_row(rows, as_text("row_ulp_probable"), as_probable(shown));
    }
}

/* What matters most first: the verdict, and what made a wrong output; behind the figures what is none. */
static void print_table(const eval_shown *shown, const output_file *out)
{
    static const relation_column columns[] = {FOR_PEOPLE("measure"),
                                              {.heading = "value", .format = "%.6g"}};
    relation *rows = relation_create(COLUMNS(columns));
    const case_key *key = &shown->result->key;
    const ln_metrics *m = &shown->result->metrics;
    const usability usable = stored_usable(shown->result);
    const bool right = verdict_exit_code(&shown->result->verdict) == EXIT_CODE_FINE;
    char described[VERDICT_MAX_LENGTH], said[5 * FINGERPRINT_WORDS];
    output_line(out, "%s on %s: %zu x %zu, %s", key->kernel, key->input, key->rows, key->hidden,
                key->convention);
    output_line(out, "%s", "");
    verdict_describe(&shown->result->verdict, described, sizeof described);
    relation_row(rows, as_text("verdict"), as_text(described));
    if (shown->function)
        relation_row(rows, as_text("function"),
                     as_format("%s%s%s%s", fingerprint_say(shown->function, said, sizeof said),
                               shown->is_among ? " ("
                               : right         ? ", not "
                                               : "",
                               shown->is_among || right ? key->convention : "",
                               shown->is_among ? " only with another eps or poorer sums)" : ""));
    add_figures(rows, shown);
    relation_row(rows, as_text("mismatches"),
                 as_format("%llu of %llu elements", (unsigned long long)m->mismatches,
                           (unsigned long long)m->elements));
    relation_row(rows, as_text("exact_zeros"),
                 as_format("%llu, of the other sign: %llu", (unsigned long long)m->exact_zeros,
                           (unsigned long long)m->sign_of_zero));
    relation_row(rows, as_text("worst"),
                 as_format("row %zu, column %zu: %a, exactly %a", m->worst_row, m->worst_column,
                           m->worst_computed, m->worst_exact));
    relation_row(rows, as_text("reproducible"), as_text(shown->reproducible));
    relation_row(rows, as_text("certified"),
                 as_text(judge_describe_counts(&shown->certified, described, sizeof described)));
    relation_row(rows, as_text("correct digits"),
                 as_text(usable == USABLE_YES  ? "yes"
                         : usable == USABLE_NO ? "no: it fails, or a row has no correct digit"
                                               : "not known: nothing was judged"));
    relation_print(rows, out);
}

typedef struct eval_options {
    const char *paths[ROLES_MOST]; /* by role */
    const char *dy, *gradients[GRADIENTS];
    const char *input, *shape; /* rows of a family instead of files */
    const char *axis, *dtype;
    const char *convention, *kernel, *out;
    uint64_t seed;
    word_list plugins;
    double max_row_ulp, deadline;
    output_file printed;
    bool reference;
} eval_options;

/* ---- the tensors ---- */

typedef struct eval_tensors {
    tensor_array arrays[ROLES_MOST]; /* by role */
    tensor_array dy, gradients[GRADIENTS];
    arena memory; /* of all of them */
    ln_type storage, param;
    size_t rows, hidden;
} eval_tensors;

/* A parameter, or its gradient: there where the convention has it, nowhere else. RMSNorm's weight decides the
 * type of parameters where its own is shorter: 1 + w may be rounded to it. */
static void read_parameter(const tensor_request *like, const char *path, const char *option,
                           bool wanted, size_t length, bool is_gradient, bool decides_type,
                           eval_tensors *tensors, tensor_array *array)
{
    arena *memory = &tensors->memory;
    const tensor_request request = {.path = path, .u2_is_bf16 = like->u2_is_bf16};
    if (!wanted && path)
        die(EXIT_CODE_USAGE, "--%s %s: this convention has no %s", option, path, option);
    if (!wanted)
        return;
    if (!path)
        die(EXIT_CODE_USAGE, "--%s is missing: this convention needs %zu element%s of it", option,
            length, length == 1 ? "" : "s");
    tensor_read(memory, &request, array);
    if (decides_type && dtype_size(array->dtype) < dtype_size(tensors->param))
        tensors->param = array->dtype;
    if (length > 1 && !is_gradient)
        tensor_broadcast(memory, &tensors->arrays[ROLE_X], array, path, option);
    if (array->elements != length)
        die(EXIT_CODE_USAGE, "%s (--%s): %zu elements; %zu were expected", path, option,
            array->elements, length);
    if (!is_gradient)
        tensor_is_finite(array, path, option);
    tensor_convert(memory, array, tensors->param, "the type of parameters here", path, option);
}

static void read_parameters(const eval_options *options, const tensor_request *like,
                            const ln_convention *convention, bool decides_type,
                            eval_tensors *tensors)
{
    const operation *what = operations[convention->operation];
    const bool has[GRADIENTS] = {[GRADIENT_DGAMMA] = ln_has_gamma(convention->affine),
                                 [GRADIENT_DBETA] = ln_has_beta(convention->affine)};
    for (size_t i = 0; i < what->count; i++) {
        const tensor_role *role = &what->roles[i];
        /* Gradients need gamma for dx alone, and nothing that is added. */
        bool left_out = options->dy && !options->paths[i] &&
                        !(i == ROLE_GAMMA && options->gradients[GRADIENT_DX]);
        if (role_is_parameter(role) && !left_out)
            read_parameter(like, options->paths[i], tensor_option(i),
                           role_is_needed(role, convention),
                           role_columns(role, convention, tensors->hidden), false, decides_type,
                           tensors, &tensors->arrays[i]);
    }
    for (size_t i = GRADIENT_DGAMMA; i < GRADIENTS; i++)
        if (options->gradients[i])
            read_parameter(like, options->gradients[i], gradient_name(i), has[i],
                           ln_parameter_elements(convention->affine, tensors->hidden), true, false,
                           tensors, &tensors->gradients[i]);
}

static void read_like_x(const tensor_request *like, const char *path, const char *option,
                        eval_tensors *tensors, tensor_array *array)
{
    tensor_request request = *like;
    request.path = path;
    if (!path)
        return;
    tensor_read(&tensors->memory, &request, array);
    tensor_same_shape(&tensors->arrays[ROLE_X], array, path, option);
}

static void convert(eval_tensors *tensors, const char *whose, const char *path, const char *option,
                    tensor_array *array)
{
    if (path)
        tensor_convert(&tensors->memory, array, tensors->storage, whose, path, option);
}

/* The types are the kernel's; without one the rows' type is that of --dtypes, or of the files: what
 * came out decides, since x may be narrower than that (f16 in, f32 out). Parameters are f64 beside f64
 * and else f32; RMSNorm's weight keeps a shorter type of its own. Returns whose type the rows have. */
static const char *choose_types(const eval_options *options, const kernel_entry *kernel,
                                eval_tensors *tensors)
{
    const tensor_array *x = &tensors->arrays[ROLE_X];
    const tensor_array *made = options->paths[ROLE_Y]            ? &tensors->arrays[ROLE_Y]
                               : options->gradients[GRADIENT_DX] ? &tensors->gradients[GRADIENT_DX]
                               : options->input                  ? NULL
                                                                 : x;
    ln_type said;
    if (kernel) {
        tensors->storage = kernel->facts.storage;
        tensors->param = kernel->facts.param;
        return "the kernel's type";
    }
    const bool is_said = options->dtype && dtype_from_name(options->dtype, &said) &&
                         (!made || made == x || tensor_converts(made, said));
    tensors->storage = is_said ? said : made ? made->dtype : LN_F32;
    tensors->param = tensors->storage == LN_F64 ? LN_F64 : LN_F32;
    return is_said                           ? "as --dtypes says"
           : options->paths[ROLE_Y]          ? "the type of y"
           : options->gradients[GRADIENT_DX] ? "the type of dx"
                                             : "the type of x";
}

/* The files by role, in the types of the problem: every element keeps its value. */
static void read_tensors(const eval_options *options, const ln_convention *convention,
                         const kernel_entry *kernel, eval_tensors *tensors)
{
    const operation *what = operations[convention->operation];
    const tensor_array *x = &tensors->arrays[ROLE_X];
    const char *dx = options->gradients[GRADIENT_DX];
    ln_type said = kernel ? kernel->facts.storage : LN_F32;
    tensor_axes axes;
    if (options->dtype && dtype_from_name(options->dtype, &said) && kernel &&
        said != kernel->facts.storage)
        die(EXIT_CODE_USAGE, "--dtypes %s: kernel %s takes %s", options->dtype, kernel->facts.name,
            dtype_name(kernel->facts.storage));
    tensor_axes_parse(options->axis, &axes);
    if (options->input) {
        choose_types(options, kernel, tensors);
        input_check(options->input);
        shape_parse(options->shape, &tensors->rows, &tensors->hidden);
        return;
    }
    for (size_t i = 0; i < what->count; i++)
        if (options->paths[i] && !operation_has(what, i))
            die(EXIT_CODE_USAGE, "--%s %s: %s has no %s", tensor_option(i), options->paths[i],
                what->title, tensor_option(i));
    const tensor_request like = {.u2_is_bf16 = said == LN_BF16, .axes = &axes};
    tensors_read(&tensors->memory, what, options->paths, &like, false, tensors->arrays);
    read_like_x(&like, options->dy, "dy", tensors, &tensors->dy);
    read_like_x(&like, dx, "dx", tensors, &tensors->gradients[GRADIENT_DX]);
    tensors->hidden = x->hidden;
    tensors->rows = x->elements / x->hidden;
    const char *whose = choose_types(options, kernel, tensors);
    for (size_t i = 0; i < what->count; i++)
        if (!role_is_parameter(&what->roles[i]))
            convert(tensors, whose, options->paths[i], tensor_option(i), &tensors->arrays[i]);
    convert(tensors, whose, options->dy, "dy", &tensors->dy);
    convert(tensors, whose, dx, "dx", &tensors->gradients[GRADIENT_DX]);
    read_parameters(options, &like, convention,
                    !kernel && convention->operation == LN_OPERATION_RMSNORM, tensors);
}

/* ---- an output ---- */

/* The result as a case of the store, so that it prints like one. */
static stored_case as_case(const eval_options *options, const ln_convention *convention,
                           const eval_tensors *tensors, const case_judgement *judgement)
{
    stored_case made = {.judged = true};
    case_key *key = &made.key;
    snprintf(key->kernel, sizeof key->kernel, "%s",
             options->reference       ? "reference"
             : options->paths[ROLE_Y] ? "given"
                                      : options->kernel);
    snprintf(key->input, sizeof key->input, "%.250s",
             options->input ? options->input : options->paths[ROLE_X]);
    convention_label(convention, key->convention);
    key->operation = convention->operation;
    key->rows = tensors->rows;
    key->hidden = tensors->hidden;
    key->dtype = tensors->storage;
    key->threads = 1;
    made.verdict = judgement->verdict;
    made.metrics = judgement->metrics;
    made.bound_row_ulp = judgement->bound_row_ulp;
    return made;
}

/* The reference's own output is judged too: what rounding alone costs. Returns what was judged. */
static const void *judge_it(const eval_options *options, row_judge *judge, const judge_block *block,
                            const eval_tensors *tensors, const kernel_entry *kernel,
                            case_judgement *judgement)
{
    if (options->reference || options->paths[ROLE_Y]) {
        const void *computed = options->reference ? block->rounded : tensors->arrays[ROLE_Y].data;
        judge_output(judge, block, computed, judgement);
        return computed;
    }
    judge_kernel(judge, block, kernel, judgement);
    if (interrupted())
        die(EXIT_CODE_INTERRUPTED, "interrupted");
    return judgement->computed;
}

/* The kernel gave nothing to measure: one line says why. */
static _Noreturn void no_output(const eval_options *options, const case_verdict *verdict,
                                exit_code code)
{
    char described[256];
    die(code, "%s: %s%s%s%s", options->kernel,
        verdict_describe(verdict, described, sizeof described), options->out ? "; " : "",
        options->out ? options->out : "", options->out ? " was not written" : "");
}

/* That some row is beyond its probable bound. */
static const double rare = 1e-9;

/* Which function made the y that was given; returns whether the convention may have. Of a table its first
 * most_rows are looked at: what they exclude, all rows exclude. */
static bool find_function(const eval_options *options, const eval_tensors *tensors,
                          const ln_convention *convention, size_t most_rows,
                          fingerprint_found *found)
{
    fingerprint_input input = {.digits = FINGERPRINT_EXACT, .x_digits = FINGERPRINT_EXACT};
    arena memory = {0};
    fingerprint_take(&memory, tensors->arrays, options->paths, &input);
    if (input.dimensions == 2 && input.shape[0] > most_rows)
        input.shape[0] = most_rows;
    fingerprint_make(&input, found);
    bool is_among = fingerprint_is_among(&input, found, convention);
    arena_free(&memory);
    return is_among;
}

/* The class of a kernel that ran, and the result. */
static void show_result(const eval_options *options, const ln_convention *convention,
                        const eval_tensors *tensors, row_judge *judge, const kernel_list *kernels,
                        const kernel_entry *kernel, const case_judgement *judgement)
{
    char words[128], label[NAME_MAX_LENGTH] = "";
    invariance_result found = {0};
    stored_case result = as_case(options, convention, tensors, judgement);
    eval_shown shown = {.result = &result,
                        .label = label,
                        .certified = ln_reference_count(judge->reference),
                        .probable_row_ulp = judgement->probable_row_ulp,
                        .chance = rare};
    if (kernel)
        kernel_entry_label(kernel, label);
    if (kernel && result.metrics.elements > 0 &&
        !invariance_measure(judge, convention, NULL, kernels, &kernel, &found, 1))
        die(EXIT_CODE_INTERRUPTED, "interrupted");
    found.varies |= judgement->varies;
    shown.reproducibility = reproducibility_name(reproducibility_of(&found));
    shown.reproducible = reproducibility_describe(&found, words, sizeof words);
    enum { FEW_ROWS = 64 };
    fingerprint_found function = {0};
    bool is_file = options->paths[ROLE_Y];
    bool wrong = is_file && verdict_exit_code(&judgement->verdict) == EXIT_CODE_ACCURACY;
    /* Within what 16 bits allow, but rounded elsewhere: another convention may give each bit of it. */
    bool elsewhere = is_file && !wrong && dtype_size(tensors->storage) == 2 &&
                     result.metrics.correctly_rounded < 1;
    bool among = (wrong || elsewhere) && find_function(options, tensors, convention,
                                                       wrong ? SIZE_MAX : FEW_ROWS, &function);
    if (wrong || (function.answer != ANSWER_NONE && !among)) {
        shown.function = &function;
        shown.is_among = among;
    }
    /* Nothing but in JSON where the kernel gave nothing to measure. */
    if (options->printed.format == OUTPUT_JSON)
        output_json(&options->printed, shown_json(&shown));
    else if (result.metrics.elements > 0)
        print_table(&shown, &options->printed);
    fingerprint_free(&function);
}

static exit_code evaluate(const eval_options *options, const ln_convention *convention,
                          const eval_tensors *tensors, worker_process *worker,
                          const kernel_list *kernels, const kernel_entry *kernel)
{
    judge_settings settings = {.seed = options->seed,
                               .max_row_ulp = options->max_row_ulp,
                               .deadline_seconds = options->deadline,
                               .chance = rare};
    row_judge *judge = judge_create(worker_runner(worker), &settings);
    judge_block block = {0};
    case_judgement judgement;
    const size_t dense[] = {tensors->rows, tensors->hidden};
    operation_call call =
        call_dense(convention, tensors->storage, tensors->param, tensors->rows, tensors->hidden);
    for (size_t i = 0; i < ROLES_MOST; i++)
        call.inputs[i] = tensors->arrays[i].data;
    if (options->input)
        judge_block_generate(judge, &block, call, options->input, NULL, 0);
    else
        judge_block_from(judge, &block, &call);
    const void *computed = judge_it(options, judge, &block, tensors, kernel, &judgement);
    if (options->out && computed && options->input)
        npy_write(options->out, tensors->storage, 2, dense, computed);
    else if (options->out && computed)
        tensor_write(options->out, tensors->storage, &tensors->arrays[ROLE_X], computed);
    show_result(options, convention, tensors, judge, kernels, kernel, &judgement);
    exit_code code = verdict_exit_code(&judgement.verdict);
    /* One kernel was asked for: that it can't run here is then no side remark. */
    if (judgement.verdict.kind == VERDICT_DECLINED)
        code = EXIT_CODE_ENVIRONMENT;
    if (judgement.metrics.elements == 0)
        no_output(options, &judgement.verdict, code);
    if (options->out)
        output_line(&options->printed, "\nwritten  %s", options->out);
    judge_block_free(&block);
    judge_destroy(judge);
    return code;
}

/* ---- gradients ---- */

static verdict_kind verdict_of(const gradient_errors *found, double max_row_ulp)
{
    if (found->mismatches)
        return VERDICT_WRONG_CLASS;
    if (found->row_ulp_max > max_row_ulp)
        return VERDICT_INACCURATE;
    return isinf(max_row_ulp) ? VERDICT_NOT_JUDGED : VERDICT_RIGHT;
}

static relation *errors_relation(const void *const given[GRADIENTS], const gradient_errors *found,
                                 double max_row_ulp)
{
    static const relation_column columns[] = {
        FOR_PEOPLE("gradient"),
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
    relation *rows = relation_create(COLUMNS(columns));
    for (size_t i = 0; i < GRADIENTS; i++) {
        const gradient_errors *own = &found[i];
        const case_verdict verdict = {.kind = verdict_of(own, max_row_ulp)};
        if (given[i])
            relation_row(rows, as_text(gradient_name(i)), as_figure(own->ulp_max),
                         as_figure(own->row_ulp_max), as_figure(own->rel_l2),
                         as_figure(own->correctly_rounded), as_count(own->elements),
                         as_count(own->mismatches), as_count(own->worst_row),
                         as_count(own->worst_column),
                         as_format("row %zu, column %zu", own->worst_row, own->worst_column),
                         as_verdict(&verdict));
    }
    return rows;
}

/* Measures the given gradients, which were made elsewhere, against the exact ones. An element of another class, or a
 * row_ulp_max above the limit, is an error; without a limit nothing is judged. In JSON each gradient is a member
 * by its name. */
static exit_code evaluate_gradients(const eval_options *options, const ln_convention *convention,
                                    const eval_tensors *tensors)
{
    const ln_problem problem = {.rows = tensors->rows,
                                .hidden = tensors->hidden,
                                .storage = tensors->storage,
                                .param = tensors->param,
                                .convention = *convention};
    const output_file *out = &options->printed;
    ln_tensors given = {0};
    const void *gradients[GRADIENTS];
    gradient_errors found[GRADIENTS];
    exit_code code = EXIT_CODE_FINE;
    char label[CONVENTION_MAX_LENGTH];
    for (size_t i = 0; i < operations[convention->operation]->count; i++)
        role_set(i, &given, tensors->arrays[i].data);
    for (size_t i = 0; i < GRADIENTS; i++)
        gradients[i] = tensors->gradients[i].data;
    judge_gradients(&problem, &given, tensors->dy.data, gradients, found);
    for (size_t i = 0; i < GRADIENTS; i++) {
        const case_verdict verdict = {.kind = verdict_of(&found[i], options->max_row_ulp)};
        if (gradients[i])
            code = worse_exit_code(code, verdict_exit_code(&verdict));
    }
    relation *rows = errors_relation(gradients, found, options->max_row_ulp);
    if (out->format != OUTPUT_JSON) {
        relation_print(rows, out);
        return code;
    }
    json_t *list = relation_json(rows),
           *all = json_pack("{s:s, s:s, s:I, s:I, s:s}", "schema", "lnbench-gradients-2",
                            "convention", convention_label(convention, label), "rows",
                            (json_int_t)tensors->rows, "hidden", (json_int_t)tensors->hidden,
                            "dtype", dtype_name(tensors->storage));
    for (size_t i = 0, row = 0; i < GRADIENTS; i++)
        if (gradients[i])
            json_object_set(all, gradient_name(i), json_array_get(list, row++));
    json_decref(list);
    output_json(out, all);
    return code;
}

/* ---- the command ---- */

/* --dy goes with at least one gradient, and with no other way. */
static void check_options(const eval_options *options)
{
    const int ways =
        (options->kernel != NULL) + options->reference + (options->paths[ROLE_Y] != NULL);
    ln_type type;
    bool any = false;
    for (size_t i = 0; i < GRADIENTS; i++)
        any |= options->gradients[i] != NULL;
    if (any != (options->dy != NULL))
        die(EXIT_CODE_USAGE, "--dy FILE and one of --dx, --dgamma and --dbeta go together");
    if (any && (ways || options->input || options->paths[ROLE_RESIDUAL] || options->out))
        die(EXIT_CODE_USAGE, "--dy: goes with --x and --gamma, and judges gradients alone");
    if (!options->paths[ROLE_X] == !options->input)
        die(EXIT_CODE_USAGE, "%s",
            options->paths[ROLE_X] ? "--x and --input: one of them was expected, not both"
                                   : "--x FILE is missing, or --input FAMILY");
    if (options->input && options->axis)
        die(EXIT_CODE_USAGE, "--inputs: has rows: leave out --axis");
    for (size_t i = 0; i < ROLES_MOST && options->input; i++)
        if (options->paths[i])
            die(EXIT_CODE_USAGE,
                "--inputs: brings its own parameters, and has no residual and no y");
    if (ways != 1 && !options->dy)
        die(EXIT_CODE_USAGE,
            "one of --kernels NAME, --reference, --y FILE and --dy FILE was expected");
    if (options->dtype && !dtype_from_name(options->dtype, &type))
        die(EXIT_CODE_USAGE, "--dtypes %.60s: f32, f64, bf16 or f16 was expected", options->dtype);
}

static exit_code run_eval(void *context, const cli_call *call)
{
    const eval_options *options = context;
    const word_list words = {(const char **)&options->kernel, options->kernel != NULL};
    eval_tensors tensors = {0};
    kernel_list kernels = {0};
    error unknown;
    (void)call;
    interrupt_watch();
    check_options(options);
    worker_process *worker = worker_start(options->plugins.words, options->plugins.count, &kernels);
    const char *word = kernel_words_convention(&kernels, &words, options->convention);
    ln_convention convention = convention_named(word);
    if (options->dy && convention.operation != LN_OPERATION_LAYERNORM)
        die(EXIT_CODE_USAGE, "--dy: gradients of layernorm are known, not of %s",
            operations[convention.operation]->name);
    const kernel_entry *kernel =
        options->kernel ? kernel_find(&kernels, options->kernel, &unknown) : NULL;
    if (options->kernel && !kernel)
        die(unknown.code, "%s", unknown.message);
    read_tensors(options, &convention, kernel, &tensors);
    convention = convention_for(word, tensors.storage);
    exit_code code = options->dy
                         ? evaluate_gradients(options, &convention, &tensors)
                         : evaluate(options, &convention, &tensors, worker, &kernels, kernel);
    worker_stop(worker);
    kernel_list_free(&kernels);
    arena_free(&tensors.memory);
    return code;
}

static const cli_option options[] = {
    {"x", "FILE", "the rows; the last axis is hidden", OPTION_TEXT,
     offsetof(eval_options, paths[ROLE_X])},
    {"inputs", "FAMILY", "rows of a family instead, with its parameters", OPTION_TEXT,
     offsetof(eval_options, input)},
    {"shapes", "ROWSxHIDDEN", "of such rows (default: 18x768)", OPTION_TEXT,
     offsetof(eval_options, shape)},
    {"seed", "N", "of such rows (default: 1)", OPTION_COUNT, offsetof(eval_options, seed)},
    {"residual", "FILE", "is added to x first, rounded to the element type", OPTION_TEXT,
     offsetof(eval_options, paths[ROLE_RESIDUAL])},
    {"gamma", "FILE", "gamma, if the convention has one", OPTION_TEXT,
     offsetof(eval_options, paths[ROLE_GAMMA])},
    {"beta", "FILE", "beta, if the convention has one", OPTION_TEXT,
     offsetof(eval_options, paths[ROLE_BETA])},
    {"conventions", "C", "preset or list (default: torch; of RMSNorm torch-rms)", OPTION_TEXT,
     offsetof(eval_options, convention)},
    {"kernels", "NAME", "the kernel to run: its name or label", OPTION_TEXT,
     offsetof(eval_options, kernel)},
    {"reference", NULL, "take the certified reference instead", OPTION_FLAG,
     offsetof(eval_options, reference)},
    {"y", "FILE", "judge this output, made elsewhere, instead", OPTION_TEXT,
     offsetof(eval_options, paths[ROLE_Y])},
    {"dy", "FILE", "judge the gradients of a loss whose gradient by y this is", OPTION_TEXT,
     offsetof(eval_options, dy)},
    {"dx", "FILE", "with --dy: the gradient by x", OPTION_TEXT,
     offsetof(eval_options, gradients[GRADIENT_DX])},
    {"dgamma", "FILE", "with --dy: the gradient by gamma", OPTION_TEXT,
     offsetof(eval_options, gradients[GRADIENT_DGAMMA])},
    {"dbeta", "FILE", "with --dy: the gradient by beta", OPTION_TEXT,
     offsetof(eval_options, gradients[GRADIENT_DBETA])},
    {"out", "FILE.npy", "write the output, in the shape of x", OPTION_TEXT,
     offsetof(eval_options, out)},
    {"axis", "A,...", "the axes of a row (default: -1)", OPTION_TEXT, offsetof(eval_options, axis)},
    {"dtypes", "TYPE", "bf16 where that is what u2 files hold; else as --x says", OPTION_TEXT,
     offsetof(eval_options, dtype)},
    PLUGIN_OPTION(eval_options, plugins),
    {"max-row-ulp", "X", "above it the output fails (inaccurate)", OPTION_REAL,
     offsetof(eval_options, max_row_ulp)},
    DEADLINE_OPTION(eval_options, deadline, 60),
    OUTPUT_OPTIONS(eval_options, printed),
};

const cli_command command_eval = {
    .name = "eval",
    .brief = "a kernel, or the reference, on your own tensors",
    .usage = "--x FILE | --inputs FAMILY [OPTION...]",
    .example = "eval --x x.npy --y y.npy --conventions torch",
    .summary = "Runs a kernel, or the reference, on your tensors and prints every error metric.",
    .details =
        "FILE is FILE.npy, FILE.npz:NAME or FILE.safetensors:NAME, of f4, f8, f2 or bf16\n"
        "(docs/inputs.md). An output of your own (--y), or of a plugin without a proven\n"
        "bound, fails (inaccurate) if no order of summation explains its error, or if the\n"
        "error exceeds --max-row-ulp (docs/conformance.md). `function` names what made a\n"
        "wrong output, as lnbench fingerprint finds it.\n"
        "Exit code: 0 fine; 2 usage; 3 not judged: nothing can be said; 5 wrong; 6 the kernel\n"
        "failed; 7 files or environment, or a kernel that cannot run here.",
    OPTIONS(options),
    DEFAULTS(eval_options, .shape = "18x768", .seed = 1, .max_row_ulp = INFINITY, .deadline = 60),
    .body = run_eval,
};
