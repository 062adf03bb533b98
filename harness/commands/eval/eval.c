/* lnbench eval: a kernel, or the reference, on the user's own tensors. */
#include "commands/eval/read.h"
#include "domain/kernel_json.h"
#include "commands/options.h"
#include "domain/convention.h"
#include "base/program.h"
#include "conformance/invariance.h"
#include "worker/worker.h"
#include "conformance/conformance.h"
#include "base/output.h"
#include "show/run_view.h"
#include "domain/metric_fields.h"
#include "judge/judge.h"
#include "judge/fingerprint/fingerprint.h"
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

static json_t *certified_json(const ln_reference_counts *counts)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "elements", (json_int_t)counts->elements,
                     "fast", (json_int_t)counts->fast, "first_try", (json_int_t)counts->first_try,
                     "raised", (json_int_t)counts->raised, "exact", (json_int_t)counts->exact,
                     "special", (json_int_t)counts->special);
}

static json_t *function_json(const fingerprint_found *function)
{
    if (!function)
        return json_null();
    json_t *names = json_array();
    for (size_t i = 0; i < function->count; i++)
        json_array_append_new(names, json_string(function->candidates[i].words));
    return json_pack("{s:s, s:o}", "answer", fingerprint_answer_name(function->answer),
                     "candidates", names);
}

static json_t *shown_json(const eval_shown *shown)
{
    view_case view = {.stored = shown->result,
                      .label = shown->label,
                      .regime = "",
                      .reproducibility = shown->reproducibility};
    view.speed = (speed_figures)SPEED_UNKNOWN;
    json_t *object = view_case_json(&view), *certified = certified_json(&shown->certified);
    double confidence = isfinite(shown->probable_row_ulp) ? 1 - shown->chance : NAN;
    if (object && certified && json_object_set_new(object, "certified", certified) == 0 &&
        json_object_set_new(object, "bound_probable", json_figure(shown->probable_row_ulp)) == 0 &&
        json_object_set_new(object, "bound_confidence", json_figure(confidence)) == 0 &&
        json_object_set_new(object, "function", function_json(shown->function)) == 0)
        return object;
    json_decref(object);
    return NULL;
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

/* What matters most: the verdict, and what made a wrong output. */
static void add_verdict(relation *rows, const eval_shown *shown)
{
    char described[VERDICT_MAX_LENGTH], said[5 * FINGERPRINT_WORDS];
    verdict_describe(&shown->result->verdict, described, sizeof described);
    relation_row(rows, as_text("verdict"), as_text(described));
    if (!shown->function)
        return;
    bool right = verdict_exit_code(&shown->result->verdict) == EXIT_CODE_FINE;
    relation_row(rows, as_text("function"),
                 as_format("%s%s%s%s", fingerprint_say(shown->function, said, sizeof said),
                           shown->is_among ? " ("
                           : right         ? ", not "
                                           : "",
                           shown->is_among || right ? shown->result->key.convention : "",
                           shown->is_among ? " only with another eps or poorer sums)" : ""));
}

/* What is no figure: what was counted, and where the worst element is. */
static void add_facts(relation *rows, const eval_shown *shown)
{
    const ln_metrics *m = &shown->result->metrics;
    char described[VERDICT_MAX_LENGTH];
    usability usable = stored_usable(shown->result);
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
}

static void print_table(const eval_shown *shown, const output_file *out)
{
    static const relation_column columns[] = {FOR_PEOPLE("measure"),
                                              {.heading = "value", .format = "%.6g"}};
    relation *rows = relation_create(COLUMNS(columns));
    const case_key *key = &shown->result->key;
    output_line(out, "%s on %s: %zu x %zu, %s", key->kernel, key->input, key->rows, key->hidden,
                key->convention);
    output_line(out, "%s", "");
    add_verdict(rows, shown);
    add_figures(rows, shown);
    add_facts(rows, shown);
    relation_print(rows, out);
}

/* A table, or JSON; nothing but in JSON where the kernel gave nothing to measure. */
static void eval_show(const eval_shown *shown, const output_file *out)
{
    if (out->format == OUTPUT_JSON)
        output_json(out, shown_json(shown));
    else if (shown->result->metrics.elements > 0)
        print_table(shown, out);
}

typedef struct eval_options {
    eval_files files;
    const char *convention, *kernel, *out;
    uint64_t seed;
    word_list plugins;
    double max_row_ulp, deadline;
    output_file printed;
    bool reference;
} eval_options;

/* The result as a case of the store, so that it prints like one. */
static stored_case as_case(const eval_options *options, const ln_convention *convention,
                           const eval_tensors *tensors, const case_judgement *judgement)
{
    stored_case made = {.judged = true};
    case_key *key = &made.key;
    snprintf(key->kernel, sizeof key->kernel, "%s",
             options->reference             ? "reference"
             : options->files.paths[ROLE_Y] ? "given"
                                            : options->kernel);
    snprintf(key->input, sizeof key->input, "%.250s",
             options->files.input ? options->files.input : options->files.paths[ROLE_X]);
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
    if (options->reference || options->files.paths[ROLE_Y]) {
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
                        .certified = judge_reference_counts(judge),
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
    bool is_file = options->files.paths[ROLE_Y];
    bool wrong = is_file && verdict_exit_code(&judgement->verdict) == EXIT_CODE_ACCURACY;
    /* Within what 16 bits allow, but rounded elsewhere: another convention may give each bit of it. */
    bool elsewhere = is_file && !wrong && dtype_size(tensors->storage) == 2 &&
                     result.metrics.correctly_rounded < 1;
    bool among = (wrong || elsewhere) && eval_function(&options->files, tensors, convention,
                                                       wrong ? SIZE_MAX : FEW_ROWS, &function);
    if (wrong || (function.answer != ANSWER_NONE && !among)) {
        shown.function = &function;
        shown.is_among = among;
    }
    eval_show(&shown, &options->printed);
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
    eval_block(&options->files, convention, tensors, judge, &block);
    const void *computed = judge_it(options, judge, &block, tensors, kernel, &judgement);
    if (options->out && computed && options->files.input)
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

/* --dy goes with at least one gradient, and with no other way. */
static void check_gradients(const eval_options *options, int other_ways)
{
    bool any = false;
    for (size_t i = 0; i < GRADIENTS; i++)
        any |= options->files.gradients[i] != NULL;
    if (any != (options->files.dy != NULL))
        die(EXIT_CODE_USAGE, "--dy FILE and one of --dx, --dgamma and --dbeta go together");
    if (any &&
        (other_ways || options->files.input || options->files.paths[ROLE_RESIDUAL] || options->out))
        die(EXIT_CODE_USAGE, "--dy: goes with --x and --gamma, and judges gradients alone");
}

static void check_options(const eval_options *options)
{
    int ways =
        (options->kernel != NULL) + options->reference + (options->files.paths[ROLE_Y] != NULL);
    check_gradients(options, ways);
    if (!options->files.paths[ROLE_X] == !options->files.input)
        die(EXIT_CODE_USAGE, "%s",
            options->files.paths[ROLE_X] ? "--x and --input: one of them was expected, not both"
                                         : "--x FILE is missing, or --input FAMILY");
    if (options->files.input && options->files.axis)
        die(EXIT_CODE_USAGE, "--inputs: has rows: leave out --axis");
    for (size_t i = 0; i < ROLES_MOST && options->files.input; i++)
        if (options->files.paths[i])
            die(EXIT_CODE_USAGE,
                "--inputs: brings its own parameters, and has no residual and no y");
    if (ways != 1 && !options->files.dy)
        die(EXIT_CODE_USAGE,
            "one of --kernels NAME, --reference, --y FILE and --dy FILE was expected");
    eval_check_type(&options->files);
}

/* The convention, the kernel, its types, and the tensors. */
static void prepare_eval(eval_options *options, ln_convention *convention,
                         const kernel_list *kernels, const kernel_entry **kernel,
                         eval_tensors *tensors)
{
    const word_list words = {&options->kernel, options->kernel != NULL};
    error unknown;
    *convention = kernel_words_convention(kernels, &words, options->convention);
    const ln_operation kind = convention->operation;
    if (options->files.dy && kind != LN_OPERATION_LAYERNORM)
        die(EXIT_CODE_USAGE, "--dy: gradients of layernorm are known, not of %s",
            operations[kind]->name);
    *kernel = options->kernel ? kernel_find(kernels, options->kernel, &unknown) : NULL;
    if (options->kernel && !*kernel)
        die(unknown.code, "%s", unknown.message);
    eval_read(&options->files, convention, *kernel, tensors);
    /* PyTorch's eps of None is that of the type. */
    const convention_preset *torch = &operations[LN_OPERATION_RMSNORM]->presets[0];
    bool named = !options->convention || strcmp(options->convention, torch->name) == 0;
    if (named && tensors->storage == LN_F64 && convention_equal(convention, &torch->convention))
        convention->eps = 0x1p-52;
}

static exit_code evaluate_gradients(const eval_options *options, const ln_convention *convention,
                                    const eval_tensors *tensors)
{
    const ln_problem problem = {.rows = tensors->rows,
                                .hidden = tensors->hidden,
                                .storage = tensors->storage,
                                .param = tensors->param,
                                .convention = *convention};
    ln_tensors given = {0};
    for (size_t i = 0; i < operations[convention->operation]->count; i++)
        role_set(i, &given, tensors->arrays[i].data);
    const void *gradients[GRADIENTS];
    for (size_t i = 0; i < GRADIENTS; i++)
        gradients[i] = tensors->gradients[i].data;
    return eval_gradients(&problem, &given, tensors->dy.data, gradients, options->max_row_ulp,
                          &options->printed);
}

static exit_code run_eval(void *context, const cli_call *call)
{
    eval_options *options = context;
    eval_tensors tensors = {0};
    kernel_list kernels = {0};
    ln_convention convention;
    const kernel_entry *kernel;
    (void)call;
    interrupt_watch();
    check_options(options);
    worker_process *worker = worker_start(options->plugins.words, options->plugins.count, &kernels);
    prepare_eval(options, &convention, &kernels, &kernel, &tensors);
    exit_code code = options->files.dy
                         ? evaluate_gradients(options, &convention, &tensors)
                         : evaluate(options, &convention, &tensors, worker, &kernels, kernel);
    worker_stop(worker);
    kernel_list_free(&kernels);
    eval_tensors_free(&tensors);
    return code;
}

static const cli_option options[] = {
    {"x", "FILE", "the rows; the last axis is hidden", OPTION_TEXT,
     offsetof(eval_options, files.paths[ROLE_X])},
    {"inputs", "FAMILY", "rows of a family instead, with its parameters", OPTION_TEXT,
     offsetof(eval_options, files.input)},
    {"shapes", "ROWSxHIDDEN", "of such rows (default: 18x768)", OPTION_TEXT,
     offsetof(eval_options, files.shape)},
    {"seed", "N", "of such rows (default: 1)", OPTION_COUNT, offsetof(eval_options, seed)},
    {"residual", "FILE", "is added to x first, rounded to the element type", OPTION_TEXT,
     offsetof(eval_options, files.paths[ROLE_RESIDUAL])},
    {"gamma", "FILE", "as the convention's affine form says", OPTION_TEXT,
     offsetof(eval_options, files.paths[ROLE_GAMMA])},
    {"beta", "FILE", "likewise", OPTION_TEXT, offsetof(eval_options, files.paths[ROLE_BETA])},
    {"conventions", "C", "preset or list (default: torch; of RMSNorm torch-rms)", OPTION_TEXT,
     offsetof(eval_options, convention)},
    {"kernels", "NAME", "the kernel to run: its name or label", OPTION_TEXT,
     offsetof(eval_options, kernel)},
    {"reference", NULL, "take the certified reference instead", OPTION_FLAG,
     offsetof(eval_options, reference)},
    {"y", "FILE", "judge this output, made elsewhere, instead", OPTION_TEXT,
     offsetof(eval_options, files.paths[ROLE_Y])},
    {"dy", "FILE", "judge the gradients of a loss whose gradient by y this is", OPTION_TEXT,
     offsetof(eval_options, files.dy)},
    {"dx", "FILE", "with --dy: the gradient by x", OPTION_TEXT,
     offsetof(eval_options, files.gradients[GRADIENT_DX])},
    {"dgamma", "FILE", "likewise by gamma", OPTION_TEXT,
     offsetof(eval_options, files.gradients[GRADIENT_DGAMMA])},
    {"dbeta", "FILE", "likewise by beta", OPTION_TEXT,
     offsetof(eval_options, files.gradients[GRADIENT_DBETA])},
    {"out", "FILE.npy", "write the output, in the shape of x", OPTION_TEXT,
     offsetof(eval_options, out)},
    {"axis", "A,...", "the axes of a row (default: -1)", OPTION_TEXT,
     offsetof(eval_options, files.axis)},
    {"dtypes", "TYPE", "bf16 where that is what u2 files hold; else as --x says", OPTION_TEXT,
     offsetof(eval_options, files.dtype)},
    PLUGIN_OPTION(eval_options, plugins),
    {"max-row-ulp", "X", "above it the output fails (inaccurate)", OPTION_REAL,
     offsetof(eval_options, max_row_ulp)},
    DEADLINE_OPTION(eval_options, deadline, 60),
    OUTPUT_OPTIONS(eval_options, printed),
};

static const former_option former[] = {
    {"normalized-shape", "use --axis, such as --axis -2,-1 for the last two axes"},
    {"attribute", "see the table of a few kernels in docs/lab/errors.md"},
    {"chart", "see the table of a few kernels in docs/lab/errors.md"},
    {"reproducible", "see the column `reproducible` of lnbench run and lnbench eval"},
    {"hashes", "see the column `reproducible` of lnbench run and lnbench eval"},
    {"tolerance", "use lnbench.tolerance(x) in Python, or lnjudge_tolerance_find() of lnjudge.h"},
    {NULL, NULL},
};

const cli_command command_eval = {
    .name = "eval",
    .brief = "a kernel, or the reference, on your own tensors",
    .usage = "--x FILE | --input FAMILY [OPTION...]",
    .summary = "Runs a kernel, or the reference, on your tensors and prints every error metric.",
    .details =
        "FILE is FILE.npy, FILE.npz:NAME or FILE.safetensors:NAME, of f4, f8, f2 or bf16 "
        "(docs/inputs.md).\n"
        "An output of your own (--y) fails (inaccurate) if no order of summation explains its\n"
        "error, or above --max-row-ulp; so does that of a plugin without a bound\n"
        "(docs/conformance.md). `function` says what made a wrong output, as lnbench fingerprint\n"
        "finds it.\n"
        "Exit code: 0 fine; 5 wrong; 3 not judged: nothing can be said; 6 the kernel failed;\n"
        "2 usage; 7 files or environment, or a kernel that cannot run here.",
    OPTIONS(options),
    .former = former,
    DEFAULTS(eval_options, .files.shape = "18x768", .seed = 1, .max_row_ulp = INFINITY,
             .deadline = 60),
    .body = run_eval,
};
