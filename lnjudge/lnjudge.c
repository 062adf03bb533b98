/* The certified reference, outputs that were made elsewhere, tolerances, gradients, and which function made an
 * output. Kernels are in kernel.c. */
#include "base/allocate.h"
#include "domain/convention.h"
#include "domain/metric_fields.h"
#include "inputs/inputs.h"
#include "internal.h"
#include "judge/fingerprint/fingerprint.h"
#include "judge/gradients.h"
#include "judge/tolerance.h"
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

const char *lnjudge_version(void)
{
    return LNJUDGE_VERSION;
}

lnjudge_status report_error(const error *err, lnjudge_error *given)
{
    lnjudge_status status = err->code == EXIT_CODE_FINE          ? LNJUDGE_OK
                            : err->code == EXIT_CODE_INTERRUPTED ? LNJUDGE_STOPPED
                            : err->code == EXIT_CODE_USAGE       ? LNJUDGE_ERROR_ARGUMENT
                                                                 : LNJUDGE_ERROR_MEMORY;
    if (given) {
        given->status = status;
        snprintf(given->message, sizeof given->message, "%s",
                 status == LNJUDGE_OK ? "" : err->message);
    }
    return status;
}

static __attribute__((constructor)) void catch_memory(void)
{
    out_of_memory = die_of_memory;
}

/* liblnjudge makes rows of input families alone; nobody asks it for those of a file. */
void input_rows_of_file(const char *path, ln_type type, size_t first, size_t count, size_t hidden,
                        void *x)
{
    (void)type, (void)first, (void)count, (void)hidden, (void)x;
    die(EXIT_CODE_USAGE, "%s: this library reads no files", path);
}

lnjudge_status lnjudge_convention(const char *text, ln_convention *made, lnjudge_error *failure)
{
    CATCH(failure);
    if (!text || !made)
        die(EXIT_CODE_USAGE, "a convention's name and a place for it were expected");
    convention_parse(text, made, &caught.error);
    return report_error(&caught.error, failure);
}

static bool is_convention(const ln_convention *convention);

const char *lnjudge_convention_label(const ln_convention *convention, char label[LNJUDGE_LABEL])
{
    static const char none[] = "no convention";
    if (!label)
        return none;
    if (convention && is_convention(convention))
        return convention_label(convention, label);
    return memcpy(label, none, sizeof none);
}

/* ---- arguments ---- */

void check_place(const void *place, const char *what)
{
    if (!place)
        die(EXIT_CODE_USAGE, "a place for %s was expected, not NULL", what);
}

void check_limit(double max_row_ulp)
{
    if (!(max_row_ulp >= 0))
        die(EXIT_CODE_USAGE, "max_row_ulp %g: at least 0 was expected", max_row_ulp);
}

/* Whether it says nothing but the levels of its operation's fields, and an eps. */
static bool is_convention(const ln_convention *convention)
{
    const unsigned kind = convention->operation;
    ln_convention made = {.operation = convention->operation, .eps = convention->eps};
    if (kind >= OPERATIONS)
        return false;
    for (size_t i = 0; i < operations[kind]->field_count; i++) {
        const convention_field *field = &operations[kind]->fields[i];
        convention_set_level(field, convention_level(field, convention), &made);
    }
    return convention_equal(&made, convention) && convention->eps >= 0 &&
           isfinite(convention->eps) &&
           (convention->eps_place == LN_EPS_NONE) == (convention->eps == 0);
}

static void check_stride(const char *name, const ln_problem *problem, size_t *stride)
{
    size_t elements;
    if (*stride == 0)
        *stride = problem->hidden;
    if (*stride < problem->hidden)
        die(EXIT_CODE_USAGE, "%s_stride %zu: at least hidden, %zu", name, *stride, problem->hidden);
    if (__builtin_mul_overflow(problem->rows, *stride, &elements) || elements > SIZE_MAX / 64)
        die(EXIT_CODE_USAGE, "%zu rows of %zu are too many", problem->rows, *stride);
}

ln_problem check_problem(const ln_problem *given)
{
    ln_problem problem = *given;
    if ((unsigned)given->storage > LN_F16 || (unsigned)given->param > LN_F16)
        die(EXIT_CODE_USAGE, "storage and param: LN_F32, LN_F64, LN_BF16 or LN_F16");
    if (!is_convention(&given->convention))
        die(EXIT_CODE_USAGE,
            "the convention is none: one of lnjudge_convention(), or ddof 0 or 1, eps >= 0, which "
            "is 0 where eps_place is LN_EPS_NONE and only there, and a known affine form were "
            "expected");
    check_stride("x", given, &problem.x_stride);
    check_stride("y", given, &problem.y_stride);
    check_stride("residual", given, &problem.residual_stride);
    if (given->rows == 0 || given->hidden == 0)
        die(EXIT_CODE_USAGE, "%zu rows of %zu: at least 1 of 1 was expected", given->rows,
            given->hidden);
    return problem;
}

/* The problem with strides that are not 0, once it and its tensors were found to fit together. */
static ln_problem check_call(const ln_problem *given, const ln_tensors *tensors)
{
    if (!given || !tensors)
        die(EXIT_CODE_USAGE, "a problem and tensors were expected, not NULL");
    const ln_problem problem = check_problem(given);
    if (!tensors->x)
        die(EXIT_CODE_USAGE, "x is NULL");
    const operation *what = operations[problem.convention.operation];
    for (size_t i = 0; i < what->count; i++) {
        const tensor_role *role = &what->roles[i];
        bool wanted = role->shape != SHAPE_NONE && role_is_needed(role, &problem.convention);
        bool parameter = role_is_parameter(role) || role->shape == SHAPE_NONE;
        if (parameter && !role->output && wanted != (role_get(i, tensors) != NULL))
            die(EXIT_CODE_USAGE, "%s: this convention %s",
                role->name ? role->name : operations[0]->roles[i].name,
                wanted ? "needs it" : "has none, NULL was expected");
    }
    return problem;
}

/* ---- the reference ---- */

static const judge_settings no_limit = {.seed = 1, .max_row_ulp = INFINITY};

static const char *row_at(const void *tensor, ln_type type, size_t stride, size_t row)
{
    return tensor ? (const char *)tensor + row * stride * dtype_size(type) : NULL;
}

static operation_call call_of(const ln_problem *problem, const ln_tensors *tensors)
{
    operation_call call = {.operation = problem->convention.operation, .problem = *problem};
    for (size_t i = 0; i < operations[call.operation]->count; i++)
        call.inputs[i] = role_get(i, tensors);
    return call;
}

lnjudge_status lnjudge_reference(const ln_problem *given, const ln_tensors *tensors, double *exact,
                                 lnjudge_error *failure)
{
    judge_block block;
    CATCH(failure);
    const ln_problem problem = check_call(given, tensors);
    const size_t bytes = problem.hidden * dtype_size(problem.storage);
    const operation_call call = call_of(&problem, tensors);
    row_judge *judge = judge_create(NULL, &no_limit);
    judge_block_from(judge, &block, &call);
    for (size_t row = 0; row < problem.rows; row++) {
        const ln_reference_result *result = &block.results[row];
        if (exact)
            memcpy(exact + row * problem.hidden, result->exact, problem.hidden * sizeof *exact);
        if (tensors->y)
            memcpy((char *)tensors->y + row * problem.y_stride * dtype_size(problem.storage),
                   result->rounded, bytes);
        if (tensors->mean)
            ((double *)tensors->mean)[row] = result->facts.mean;
        if (tensors->rstd)
            ((double *)tensors->rstd)[row] = result->facts.rstd;
    }
    judge_block_free(&block);
    judge_destroy(judge);
    return report_error(&caught.error, failure);
}

/* ---- figures ---- */

const char *lnjudge_metric_name(size_t index)
{
    return index < metric_count_all ? metric_list[index].name : NULL;
}

double lnjudge_metric(const lnjudge_case *judged, const char *name)
{
    for (size_t i = 0; judged && name && i < LNJUDGE_METRICS && lnjudge_metric_name(i); i++)
        if (strcmp(name, lnjudge_metric_name(i)) == 0)
            return judged->metrics[i];
    return NAN;
}

void fill_case(const judge_block *block, const case_verdict *verdict, const ln_metrics *metrics,
               lnjudge_case *made)
{
    convention_label(&block->convention, made->convention);
    made->rows = block->rows;
    made->hidden = block->hidden;
    made->passed = verdict_exit_code(verdict) == EXIT_CODE_FINE;
    const char *word = verdict_word(verdict->kind);
    snprintf(made->verdict, sizeof made->verdict, "%s", word ? word : "");
    snprintf(made->reason, sizeof made->reason, "%s", verdict_reason(verdict->kind));
    snprintf(made->detail, sizeof made->detail, "%s", verdict->detail);
    for (size_t i = 0; i < LNJUDGE_METRICS; i++)
        made->metrics[i] = i < metric_count_all && metrics->elements > 0
                               ? metric_value(metrics, &metric_list[i])
                               : NAN;
    _Static_assert(sizeof made->ulp_histogram == sizeof metrics->ulp_histogram, "as many bins");
    memcpy(made->ulp_histogram, metrics->ulp_histogram, sizeof made->ulp_histogram);
}

/* ---- a row kept ---- */

static void *copy_of(const void *from, size_t bytes)
{
    return from ? allocate_copy(from, bytes) : NULL;
}

void keep_row(const judge_block *block, size_t row, const void *computed, lnjudge_row *kept)
{
    size_t stride = block->hidden, bytes = stride * dtype_size(block->storage);
    const tensor_role *weight = &operations[block->operation]->roles[ROLE_GAMMA];
    size_t parameters = role_columns(weight, &block->convention, stride) * dtype_size(block->param);
    *kept = (lnjudge_row){
        .number = row,
        .x = copy_of(row_at(block->inputs[ROLE_X], block->storage, stride, row), bytes),
        .residual =
            copy_of(row_at(block->inputs[ROLE_RESIDUAL], block->storage, stride, row), bytes),
        .gamma = copy_of(block->inputs[ROLE_GAMMA], parameters),
        .beta = copy_of(block->inputs[ROLE_BETA], parameters),
        .y = copy_of(row_at(computed, block->storage, stride, row), bytes),
        .exact = copy_of(block->results[row].exact, stride * sizeof(double)),
    };
}

void free_row(lnjudge_row *row)
{
    void *all[] = {row->x, row->residual, row->gamma, row->beta, row->y, row->exact};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    *row = (lnjudge_row){0};
}

void lnjudge_report_free(lnjudge_report *report)
{
    for (size_t i = 0; report && i < report->count; i++)
        free_row(&report->cases[i].worst);
    if (report) {
        free(report->cases);
        *report = (lnjudge_report){0};
    }
}

void choose_worst(lnjudge_report *report)
{
    double largest = -1;
    bool judged = false;
    report->passed = 1;
    report->worst = 0;
    for (size_t i = 0; i < report->count; i++) {
        const lnjudge_case *here = &report->cases[i];
        double row_ulp = lnjudge_metric(here, "row_ulp_max");
        judged |= here->worst.x != NULL;
        bool larger = strcmp(here->verdict, "type-limited") != 0 && row_ulp > largest;
        if (report->passed && (!here->passed || larger)) {
            report->worst = i;
            largest = row_ulp;
        }
        report->passed &= here->passed;
    }
    report->passed &= judged;
}

/* ---- outputs made elsewhere ---- */

/* The rows of a tensor of this stride, dense; the tensor itself where it is. */
static const void *dense(const void *tensor, const ln_problem *problem, size_t stride, void **copy)
{
    size_t bytes = problem->hidden * dtype_size(problem->storage);
    if (stride == problem->hidden)
        return tensor;
    *copy = allocate(problem->rows * bytes);
    for (size_t row = 0; row < problem->rows; row++)
        memcpy((char *)*copy + row * bytes, row_at(tensor, problem->storage, stride, row), bytes);
    return *copy;
}

lnjudge_status lnjudge_output_judge(const ln_problem *given, const ln_tensors *tensors,
                                    double max_row_ulp, lnjudge_report *report,
                                    lnjudge_error *failure)
{
    judge_block block;
    case_judgement judgement;
    const judge_settings settings = {.seed = 1,
                                     .max_row_ulp = max_row_ulp > 0 ? max_row_ulp : INFINITY};
    CATCH(failure);
    check_place(report, "the report");
    *report = (lnjudge_report){0};
    check_limit(max_row_ulp);
    const ln_problem problem = check_call(given, tensors);
    if (!tensors->y)
        die(EXIT_CODE_USAGE, "y is NULL");
    void *copy = NULL;
    row_judge *judge = judge_create(NULL, &settings);
    lnjudge_case *made = allocate_zeroed(1, sizeof *made);
    const void *y = dense(tensors->y, &problem, problem.y_stride, &copy);
    const operation_call call = call_of(&problem, tensors);
    judge_block_from(judge, &block, &call);
    judge_output(judge, &block, y, &judgement);
    snprintf(made->check, sizeof made->check, "rows");
    snprintf(made->input, sizeof made->input, "given");
    fill_case(&block, &judgement.verdict, &judgement.metrics, made);
    keep_row(&block, judgement.metrics.worst_row, y, &made->worst);
    *report = (lnjudge_report){.count = 1, .cases = made, .passed = made->passed};
    judge_block_free(&block);
    judge_destroy(judge);
    free(copy);
    return report_error(&caught.error, failure);
}

/* ---- tolerances ---- */

lnjudge_status lnjudge_tolerance_find(const ln_problem *given, const ln_tensors *tensors,
                                      lnjudge_tolerance *made, lnjudge_error *failure)
{
    judge_block block;
    tolerance found;
    CATCH(failure);
    check_place(made, "the tolerances");
    const ln_problem problem = check_call(given, tensors);
    const operation_call call = call_of(&problem, tensors);
    row_judge *judge = judge_create(NULL, &no_limit);
    judge_block_from(judge, &block, &call);
    tolerance_find(judge, &block, &found);
    judge_block_free(&block);
    judge_destroy(judge);
    *made = (lnjudge_tolerance){.rtol = found.rtol,
                                .certain = found.certain,
                                .likely = found.likely,
                                .usual = found.usual,
                                .count = found.count};
    for (size_t i = 0; i < found.count; i++) {
        snprintf(made->mistakes[i].words, sizeof made->mistakes[i].words, "%s",
                 found.mistakes[i].words);
        made->mistakes[i].atol = found.mistakes[i].atol;
    }
    return report_error(&caught.error, failure);
}

/* ---- gradients ---- */

static ln_problem check_gradients(const ln_problem *given, const ln_tensors *tensors,
                                  const void *dy, const lnjudge_gradients *gradients)
{
    check_place(gradients, "the gradients");
    const ln_problem problem = check_call(given, tensors);
    if (problem.convention.operation != LN_OPERATION_LAYERNORM)
        die(EXIT_CODE_USAGE, "gradients: a convention of LayerNorm was expected");
    if (!dy || tensors->residual || problem.x_stride != problem.hidden)
        die(EXIT_CODE_USAGE, "gradients: dy and dense rows without a residual were expected");
    return problem;
}

lnjudge_status lnjudge_gradients_of(const ln_problem *given, const ln_tensors *tensors,
                                    const void *dy, const lnjudge_gradients *made,
                                    lnjudge_error *failure)
{
    CATCH(failure);
    const ln_problem problem = check_gradients(given, tensors, dy, made);
    ln_gradients gradients = {{made->dx, NULL}, {made->dgamma, NULL}, {made->dbeta, NULL}};
    if (!ln_backward(&problem.convention, problem.storage, problem.param, problem.rows,
                     problem.hidden, tensors->x, dy, tensors->gamma, &gradients))
        memory_is_out(problem.hidden);
    return report_error(&caught.error, failure);
}

lnjudge_status lnjudge_gradients_judge(const ln_problem *given, const ln_tensors *tensors,
                                       const void *dy, const lnjudge_gradients *judged,
                                       lnjudge_distance distance[3], lnjudge_error *failure)
{
    gradient_errors found[GRADIENTS];
    CATCH(failure);
    const ln_problem problem = check_gradients(given, tensors, dy, judged);
    check_place(distance, "the distances");
    const void *all[GRADIENTS] = {judged->dx, judged->dgamma, judged->dbeta};
    judge_gradients(&problem, tensors, dy, all, found);
    for (size_t i = 0; i < GRADIENTS; i++)
        distance[i] = (lnjudge_distance){
            found[i].ulp_max,  found[i].row_ulp_max, found[i].rel_l2,    found[i].correctly_rounded,
            found[i].elements, found[i].mismatches,  found[i].worst_row, found[i].worst_column};
    return report_error(&caught.error, failure);
}

/* ---- is an input written to during a call? ----
 *
 * The pages are made read-only, a first write to them raises SIGSEGV, and the handler notes the place and makes them
 * writable. */

static struct watch {
    atomic_flag taken;
    char *first, *last;
    _Atomic(char *) written;
    struct sigaction before;
} watch = {.taken = ATOMIC_FLAG_INIT};

static void on_fault(int number, siginfo_t *about, void *context)
{
    char *at = about->si_addr;
    (void)context;
    if (at < watch.first || at >= watch.last ||
        mprotect(watch.first, (size_t)(watch.last - watch.first), PROT_READ | PROT_WRITE) != 0)
        sigaction(number, &watch.before, NULL); /* the access comes again, and is its affair */
    else if (!atomic_load(&watch.written))
        atomic_store(&watch.written, at);
}

int lnjudge_watch(void *pages, size_t bytes)
{
    struct sigaction handler = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    if (!pages || atomic_flag_test_and_set(&watch.taken))
        return 0;
    watch.first = pages;
    watch.last = watch.first + bytes;
    atomic_store(&watch.written, NULL);
    if (sigaction(SIGSEGV, &handler, &watch.before) == 0) {
        if (mprotect(pages, bytes, PROT_READ) == 0)
            return 1;
        sigaction(SIGSEGV, &watch.before, NULL);
    }
    atomic_flag_clear(&watch.taken);
    return 0;
}

void *lnjudge_watched(void)
{
    struct sigaction now;
    mprotect(watch.first, (size_t)(watch.last - watch.first), PROT_READ | PROT_WRITE);
    if (sigaction(SIGSEGV, NULL, &now) == 0 && now.sa_sigaction == on_fault)
        sigaction(SIGSEGV, &watch.before, NULL);
    void *written = atomic_load(&watch.written);
    atomic_flag_clear(&watch.taken);
    return written;
}

/* ---- which function made this output? ---- */

_Static_assert(LNJUDGE_AXES == (int)FINGERPRINT_AXES && LNJUDGE_WORDS == (int)FINGERPRINT_WORDS &&
                   LNJUDGE_NAMED == (int)ANSWER_NAMED,
               "lnjudge.h says what fingerprint.h does");

static void check_box(const lnjudge_box *box)
{
    size_t elements = 1;
    if (!box || !box->x || !box->y || box->dimensions == 0 || box->dimensions > LNJUDGE_AXES)
        die(EXIT_CODE_USAGE, "x and y of 1 to %d axes were expected", LNJUDGE_AXES);
    for (size_t a = 0; a < box->dimensions; a++)
        if (box->shape[a] == 0 || __builtin_mul_overflow(elements, box->shape[a], &elements) ||
            elements > SIZE_MAX / 64)
            die(EXIT_CODE_USAGE, "axis %zu of %zu: none, or too many", a, box->shape[a]);
    if (!box->parameters != (!box->gamma && !box->beta))
        die(EXIT_CODE_USAGE, "gamma or beta of %zu elements", box->parameters);
    if (box->digits < LNJUDGE_EXACT || box->digits > FINGERPRINT_MOST_DIGITS ||
        box->x_digits < LNJUDGE_EXACT || box->x_digits > FINGERPRINT_MOST_DIGITS)
        die(EXIT_CODE_USAGE, "0 to %d decimals, or LNJUDGE_EXACT, were expected",
            FINGERPRINT_MOST_DIGITS);
}

lnjudge_status lnjudge_fingerprint_make(const lnjudge_box *box, lnjudge_fingerprint *made,
                                        lnjudge_error *failure)
{
    fingerprint_found found;
    CATCH(failure);
    check_place(made, "the answer");
    *made = (lnjudge_fingerprint){0};
    check_box(box);
    fingerprint_input input = {.dimensions = box->dimensions,
                               .x = box->x,
                               .y = box->y,
                               .residual = box->residual,
                               .gamma = box->gamma,
                               .beta = box->beta,
                               .parameters = box->parameters,
                               .x_type = box->x_type,
                               .y_type = box->y_type,
                               .param = box->param,
                               .digits = box->digits,
                               .x_digits = box->x_digits};
    memcpy(input.shape, box->shape, sizeof input.shape);
    fingerprint_make(&input, &found);
    *made = (lnjudge_fingerprint){.answer = (lnjudge_answer)found.answer,
                                  .count = found.count,
                                  .candidates =
                                      allocate_zeroed(found.count + 1, sizeof *made->candidates),
                                  .tried = found.tried,
                                  .rows = found.rows,
                                  .rows_told = found.told,
                                  .probe = found.probe,
                                  .pairs = found.pairs,
                                  .pairs_left = found.pairs_left};
    for (size_t i = 0; i < found.count; i++) {
        const fingerprint_candidate *from = &found.candidates[i];
        lnjudge_candidate *to = &made->candidates[i];
        *to = (lnjudge_candidate){.is_convention = from->kind == KIND_NORMALISED,
                                  .convention = from->convention,
                                  .eps_low = from->eps_low,
                                  .eps_high = from->eps_high};
        memcpy(to->words, from->words, sizeof to->words);
        memcpy(to->also, from->also, sizeof to->also);
    }
    fingerprint_free(&found);
    return report_error(&caught.error, failure);
}

void lnjudge_fingerprint_free(lnjudge_fingerprint *made)
{
    if (!made)
        return;
    free(made->candidates);
    *made = (lnjudge_fingerprint){0};
}
