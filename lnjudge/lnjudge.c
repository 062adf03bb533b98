/* liblnjudge: the certified reference, judging outputs of other programs, tolerances, finding the function that made an
 * output, and judging a kernel that is a function of this process.
 *
 * A kernel is judged on the input families at each size of the question, for the figures, and on the problems of the
 * covering array. Large tensors, growing memory and simultaneous calls need processes and threads of their own; the
 * report says that they were not tested. Each entry point catches die() and returns its message. */
#include "base/arena.h"
#include "base/die.h"
#include "base/text.h"
#include "conformance/internal.h"
#include "domain/operation.h"
#include "domain/case.h"
#include "inputs/inputs.h"
#include "judge/fingerprint/fingerprint.h"
#include "judge/judging.h"
#include "lnjudge.h"
#include "worker/child/buffers.h"
#include "worker/protocol.h"
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Makes the entry point return the error of any later die(), including the one for memory that ran out. The entry point
 * must end with `return report_error(&caught.error, failure)`. */
#define CATCH(failure)                                                                             \
    die_catcher caught = {0};                                                                      \
    die_caught_by = &caught;                                                                       \
    if (setjmp(caught.place) != 0)                                                                 \
    return report_error(&caught.error, failure)

const char *lnjudge_version(void)
{
    return LNJUDGE_VERSION;
}

static lnjudge_status report_error(const error *err, lnjudge_error *given)
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

/* Replaces the function of the inputs layer: liblnjudge only generates rows of input families and reads no files. */
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
        die(EXIT_CODE_USAGE, "the text, or the pointer to the convention, is NULL");
    convention_parse(text, made, &caught.error);
    return report_error(&caught.error, failure);
}

/* Returns whether all fields are valid and those of the other operation are 0. */
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

static void check_place(const void *place, const char *what)
{
    if (!place)
        die(EXIT_CODE_USAGE, "the pointer to %s is NULL", what);
}

static void check_limit(double max_row_ulp)
{
    if (!(max_row_ulp >= 0))
        die(EXIT_CODE_USAGE, "max_row_ulp is %g: it must be 0 or more", max_row_ulp);
}

static void check_stride(const char *name, const ln_problem *problem, size_t *stride)
{
    size_t elements;
    if (*stride == 0)
        *stride = problem->hidden;
    if (*stride < problem->hidden)
        die(EXIT_CODE_USAGE, "%s_stride is %zu: it must be 0, or at least hidden (%zu)", name,
            *stride, problem->hidden);
    if (__builtin_mul_overflow(problem->rows, *stride, &elements) || elements > SIZE_MAX / 64)
        die(EXIT_CODE_USAGE, "%zu rows of stride %zu are too large", problem->rows, *stride);
}

static ln_problem check_problem(const ln_problem *given)
{
    ln_problem problem = *given;
    if ((unsigned)given->storage > LN_F16 || (unsigned)given->param > LN_F16)
        die(EXIT_CODE_USAGE, "storage and param must be LN_F32, LN_F64, LN_BF16 or LN_F16");
    if (!is_convention(&given->convention))
        die(EXIT_CODE_USAGE,
            "invalid convention: use lnjudge_convention(), or set ddof to 0 or 1, a known affine "
            "form, and eps > 0 (0 with LN_EPS_NONE)");
    check_stride("x", given, &problem.x_stride);
    check_stride("y", given, &problem.y_stride);
    check_stride("residual", given, &problem.residual_stride);
    if (given->rows == 0 || given->hidden == 0)
        die(EXIT_CODE_USAGE, "rows is %zu and hidden is %zu: both must be at least 1", given->rows,
            given->hidden);
    return problem;
}

/* Checks that the problem and its tensors fit together. Returns the problem with strides that are not 0. */
static ln_problem check_call(const ln_problem *given, const ln_tensors *tensors)
{
    if (!given || !tensors)
        die(EXIT_CODE_USAGE, "the problem or the tensors are NULL");
    const ln_problem problem = check_problem(given);
    if (!tensors->x)
        die(EXIT_CODE_USAGE, "x is NULL");
    const operation *what = operations[problem.convention.operation];
    for (size_t i = 0; i < what->count; i++) {
        const tensor_role *role = &what->roles[i];
        bool wanted = role->shape != SHAPE_NONE && role_is_needed(role, &problem.convention);
        bool parameter = role_is_parameter(role) || role->shape == SHAPE_NONE;
        if (parameter && !role->output && wanted != (role_get(i, tensors) != NULL))
            die(EXIT_CODE_USAGE, "%s %s", role->name ? role->name : operations[0]->roles[i].name,
                wanted ? "is NULL, but the convention needs it"
                       : "must be NULL, since the convention has none");
    }
    return problem;
}

/* ---- the reference ---- */

static const judge_settings no_limit = {.seed = 1, .max_row_ulp = INFINITY};

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

static void fill_case(const judge_block *block, const case_verdict *verdict,
                      const ln_metrics *metrics, lnjudge_case *made)
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

/* ---- copies of rows ---- */

/* Returns a copy of one row of a tensor, or of a parameter; NULL if there is no such tensor. */
static void *copy_of(const void *from, size_t row, size_t bytes)
{
    return from ? allocate_copy((const char *)from + row * bytes, bytes) : NULL;
}

static void keep_row(const judge_block *block, size_t row, const void *computed, lnjudge_row *kept)
{
    const size_t hidden = block->hidden, bytes = hidden * dtype_size(block->storage);
    const tensor_role *weight = &operations[block->operation]->roles[ROLE_GAMMA];
    size_t parameters = role_columns(weight, &block->convention, hidden) * dtype_size(block->param);
    *kept = (lnjudge_row){.number = row,
                          .x = copy_of(block->inputs[ROLE_X], row, bytes),
                          .residual = copy_of(block->inputs[ROLE_RESIDUAL], row, bytes),
                          .gamma = copy_of(block->inputs[ROLE_GAMMA], 0, parameters),
                          .beta = copy_of(block->inputs[ROLE_BETA], 0, parameters),
                          .y = copy_of(computed, row, bytes),
                          .exact = copy_of(block->results[row].exact, 0, hidden * sizeof(double))};
}

static void free_row(lnjudge_row *row)
{
    void *all[] = {row->x, row->residual, row->gamma, row->beta, row->y, row->exact};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    *row = (lnjudge_row){0};
}

void lnjudge_report_free(lnjudge_report *report)
{
    if (!report)
        return;
    for (size_t i = 0; i < report->count; i++)
        free_row(&report->cases[i].worst);
    free(report->cases);
    *report = (lnjudge_report){0};
}

/* ---- outputs of other programs ---- */

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
    row_judge *judge = judge_create(NULL, &settings);
    lnjudge_case *made = allocate_zeroed(1, sizeof *made);
    const size_t bytes = problem.hidden * dtype_size(problem.storage);
    const size_t stride = problem.y_stride * dtype_size(problem.storage);
    char *y = allocate(problem.rows * bytes); /* the rows of y, dense */
    for (size_t row = 0; row < problem.rows; row++)
        memcpy(y + row * bytes, (const char *)tensors->y + row * stride, bytes);
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
    free(y);
    return report_error(&caught.error, failure);
}

/* ---- tolerances ---- */

/* Returns the atol for two outputs of a row whose errors are row_ulp each, in opposite directions. */
static double atol_of(const judge_block *block, size_t row, double row_ulp, double rtol)
{
    metrics_row judged = judge_metrics_row(block, row);
    double most = 0;
    for (size_t i = 0; i < block->hidden && row_ulp > 0; i++) {
        double off = row_ulp * ulp_in(format_of(block->storage), element_scale(&judged, i));
        double exact = fabs(block->results[row].exact[i]);
        if (isfinite(exact))
            most = fmax(most, 2 * off - rtol * fmax(0, exact - off));
    }
    return most;
}

static void find_mistakes(row_judge *judge, const judge_block *block, lnjudge_tolerance *found)
{
    ln_convention others[NEIGHBOURS_MOST];
    operation_call call = judge_block_call(block);
    char label[CONVENTION_MAX_LENGTH];
    size_t count = convention_neighbours(&block->convention, others);
    for (size_t i = 0; i < count; i++) {
        judge_block other;
        const size_t number = found->count++;
        double *atol = &found->mistakes[number].atol;
        call.problem.convention = others[i];
        judge_block_from(judge, &other, &call);
        bool divisor =
            block->operation == LN_OPERATION_LAYERNORM && others[i].ddof != block->convention.ddof;
        snprintf(found->mistakes[number].words, sizeof found->mistakes[number].words, "%s%s",
                 divisor                              ? "another divisor: "
                 : others[i].eps_place == LN_EPS_NONE ? "no eps: "
                                                      : "",
                 convention_label(&others[i], label));
        for (size_t e = 0; e < block->rows * block->hidden; e++) {
            double own = block->exact[e], theirs = other.exact[e];
            if (!same_class(own, theirs))
                *atol = INFINITY;
            else if (isfinite(own))
                *atol = fmax(*atol, fabs(own - theirs) - found->rtol * fabs(own));
        }
        judge_block_free(&other);
    }
}

/* For two correct implementations a and b, whose errors are within those of any order of summation, |a - b| <= atol +
 * rtol |b| for all elements, as in allclose(). rtol is 2 u of the storage type, for the last rounding of both. */
lnjudge_status lnjudge_tolerance_find(const ln_problem *given, const ln_tensors *tensors,
                                      lnjudge_tolerance *found, lnjudge_error *failure)
{
    judge_block block;
    CATCH(failure);
    check_place(found, "the tolerances");
    const ln_problem problem = check_call(given, tensors);
    const operation_call call = call_of(&problem, tensors);
    row_judge *judge = judge_create(NULL, &no_limit);
    judge_block_from(judge, &block, &call);
    const judged_kind kind = judged_kind_unknown(&block);
    /* The first mistake is sums in 16 bits, with the error of the worst textbook algorithm. */
    const ln_type sums = problem.storage == LN_F16 ? LN_F16 : LN_BF16;
    const double rtol = 2 * unit_roundoff(problem.storage);
    *found = (lnjudge_tolerance){.rtol = rtol, .count = 1};
    snprintf(found->mistakes[0].words, sizeof found->mistakes[0].words, "sums in %s",
             dtype_name(sums));
    for (size_t row = 0; row < problem.rows; row++) {
        const row_limits *limits = judge_limits(judge, &block, &kind, row);
        const metrics_row judged = judge_metrics_row(&block, row);
        double *atol = &found->mistakes[0].atol;
        if (!isfinite(block.results[row].facts.rstd))
            continue;
        const textbook_errors worst = judgings[block.operation]->textbook(
            &judged, judge->values, sums); /* judge_limits() loaded the row */
        found->certain = fmax(found->certain, atol_of(&block, row, limits->order_ulp, rtol));
        found->likely = fmax(found->likely, atol_of(&block, row, limits->likely_ulp, rtol));
        found->usual = fmax(found->usual, atol_of(&block, row, limits->textbook.row_ulp / 2, rtol));
        *atol = fmax(*atol, atol_of(&block, row, worst.row_ulp / 2, rtol));
    }
    find_mistakes(judge, &block, found);
    judge_block_free(&block);
    judge_destroy(judge);
    return report_error(&caught.error, failure);
}

/* ---- kernels ---- */

enum {
    FAMILY_ROWS = 18,
    FAMILY_ELEMENTS = 18 * 768, /* there are fewer rows if they are longer */
    LEAST_ROWS = 9,             /* one for each kappa of the family `offset` */
    FAMILIES_MOST = 64,
    USUAL_HIDDEN = 768,
    /* The question's limit applies to rows with at most this kappa, whose results change by at most 2 row ULP if the
     * mean is rounded to the row's type. */
    PLAIN_KAPPA = 2,
    MOST_SIZES = 1 << 16,
    ENOUGH_FAILING = 32, /* problems that end a judgement: they say what is wrong */
    ALIGNMENT = 64,
    ALL_TRAITS = LNJUDGE_DENSE | LNJUDGE_NOT_IN_PLACE | LNJUDGE_NO_RESIDUAL | LNJUDGE_THESE_SIZES,
};

/* The state of a judgement. */
typedef struct kernel_session {
    kernel_runner runner; /* the first member: ask_in_process() and reserve() get its address */
    size_t runner_bytes;
    lnjudge_question question;
    row_judge *judge;
    kernel_entry kernel;
    combination_set *combinations;
    arena memory; /* holds the combinations and the sizes */
    covering_run covering;
    const char *families[FAMILIES_MOST];
    size_t family_count;
    size_t count, done; /* steps: each family at each size, then each problem */
    size_t failing;     /* problems that fail; ENOUGH_FAILING of them end the judgement */
    judge_block block;  /* of the current step */
    lnjudge_report report;
} kernel_session;

/* ---- the runner (judge/runner.h) ----
 *
 * It answers the messages of the conformance tests, which are those for lnbench's worker, in this process. Each tensor
 * is placed between two pages with a known pattern (worker/child/buffers.h), the gaps of strided rows have one too, and
 * inputs are compared with copies. Only a separate process can detect a kernel that writes farther away or never
 * returns. */

__attribute__((format(printf, 3, 4))) static bool fault(worker_reply *reply, verdict_kind verdict,
                                                        const char *format, ...)
{
    va_list arguments;
    reply->kind = REPLY_FAILED;
    reply->verdict = verdict;
    va_start(arguments, format);
    vsnprintf(reply->text, sizeof reply->text, format, arguments);
    va_end(arguments);
    return false;
}

/* Returns a message whose tensors are between two pages and begin as many bytes after a multiple of ALIGNMENT as
 * requested. The sum gets its own memory if it would share that of the residual. */
static worker_message placed_message(const worker_message *message)
{
    const operation *what = operations[message->operation];
    worker_message placed = *message;
    for (size_t i = 0; i < what->count; i++) {
        const tensor_role *role = &what->roles[i];
        tensor_layout *layout = &placed.layout.tensors[i];
        layout->offset = role->type == TYPE_ACCUMULATOR  ? 0
                         : layout->place == GUARD_BEHIND ? dtype_size(message->problem.storage)
                                                         : layout->offset % ALIGNMENT;
        layout->place = GUARD_AMID;
        if (role_is_sum(what, i) && layout->lies_in != ROLE_X)
            layout->lies_in = i;
    }
    return placed;
}

/* Returns whether an input still holds the rows of the message from `first` on. */
static bool input_is_whole(const call_tensors *of, size_t i, size_t first, worker_reply *reply)
{
    const guarded *buffer = &of->buffers[i];
    const tensor_role *role = &of->what->roles[i];
    size_t from = role_is_parameter(role) ? 0 : first * of->extents[i].row_bytes;
    if (!buffer->map || role->output || tensors_input_is_written(of, i))
        return true;
    char *right = allocate(buffer->size + 1);
    rows_lay_out(right, &of->extents[i], of->memory + of->message->at.tensors[i] + from);
    bool same = memcmp(right, buffer->data, buffer->size) == 0;
    free(right);
    return same || fault(reply, VERDICT_INPUT_MODIFIED, "wrote to its input %s", role->name);
}

/* Makes one call on the rows of the message from `first` on, and copies the results back. */
static bool run_rows(kernel_session *session, call_tensors *of, size_t first, worker_reply *reply)
{
    const lnjudge_question *question = &session->question;
    char text[REPLY_TEXT_LENGTH];
    tensors_fill(of, first, false);
    die_catcher *kept = die_caught_by; /* the kernel may call this library */
    int status = question->kernel(question->user, &of->problem, &of->given);
    die_caught_by = kept;
    if (status == LN_ERROR_UNSUPPORTED)
        return fault(reply, VERDICT_UNSUPPORTED, "it returned LN_ERROR_UNSUPPORTED");
    if (status != 0)
        return fault(reply, VERDICT_CRASHED, "returned %d", status);
    for (size_t i = 0; i < of->what->count; i++)
        if (!input_is_whole(of, i, first, reply))
            return false;
    return tensors_are_clean(of, text, sizeof text) || fault(reply, VERDICT_OVERRUN, "%s", text);
}

/* Calls the kernel on two halves of the rows in turn, and `again` times more on the first half; or once on all rows. */
static bool run_calls(kernel_session *session, call_tensors *of, size_t again, worker_reply *reply)
{
    const size_t second = of->message->problem.rows - of->problem.rows;
    const guarded *result = &of->buffers[of->message->layout.tensors[of->what->result].lies_in];
    if (!run_rows(session, of, 0, reply))
        return false;
    tensors_hand_back(of, 0);
    char *once = allocate(result->size + 1);
    memcpy(once, result->data, result->size);
    bool fine = second == 0 || run_rows(session, of, second, reply);
    if (fine && second > 0)
        tensors_hand_back(of, second);
    for (; fine && again > 0; again--)
        fine = run_rows(session, of, 0, reply) &&
               (memcmp(once, result->data, result->size) == 0 ||
                fault(reply, VERDICT_NONDETERMINISTIC, "two calls on the same rows differ"));
    free(once);
    return fine;
}

static bool ask_in_process(kernel_runner *runner, const worker_message *message,
                           double deadline_seconds, worker_reply *reply)
{
    kernel_session *session = (kernel_session *)runner;
    const lnjudge_question *question = &session->question;
    bool halves = message->layout.calls == CALLS_HALVES && message->problem.rows > 1;
    size_t again = message->again ? message->again : 2 * (message->layout.calls != CALLS_ONCE);
    (void)deadline_seconds;
    *reply = (worker_reply){.kind = REPLY_DONE};
    if (message->kind == MESSAGE_SUPPORTS) /* a function supports only one convention */
        return fault(reply, VERDICT_UNSUPPORTED, "it supports only one convention");
    bool takes = !(question->traits & LNJUDGE_THESE_SIZES);
    for (size_t i = 0; i < question->hidden_count; i++)
        takes |= question->hidden[i] == message->problem.hidden;
    if (!takes)
        return fault(reply, VERDICT_UNSUPPORTED, "it does not support this size");
    if (message->at.tensors[ROLE_RESIDUAL] >= 0 && (question->traits & LNJUDGE_NO_RESIDUAL))
        return fault(reply, VERDICT_UNSUPPORTED, "it supports no residual");
    const worker_message placed = placed_message(message);
    ln_problem problem = message->problem;
    call_tensors tensors;
    problem.rows = halves ? (problem.rows + 1) / 2 : problem.rows;
    if (!(question->traits & LNJUDGE_DENSE))
        layout_strides(&message->layout, operations[message->operation], &problem);
    if (!tensors_create(&tensors, &placed, runner->memory, &problem, question->accumulator, false))
        memory_is_out(0);
    bool fine = run_calls(session, &tensors, again, reply);
    tensors_destroy(&tensors);
    return fine;
}

static void reserve(kernel_runner *runner, size_t bytes)
{
    kernel_session *session = (kernel_session *)runner;
    if (bytes > session->runner_bytes) {
        runner->memory = reallocate(runner->memory, bytes);
        session->runner_bytes = bytes;
    }
}

/* ---- the report ---- */

/* Returns whether the case should hold this judgement in place of its own: the first one that fails, else the one with
 * the largest error. */
static bool replaces(const lnjudge_case *held, const case_verdict *verdict, double row_ulp)
{
    verdict_kind kind;
    bool passes = verdict_exit_code(verdict) == EXIT_CODE_FINE;
    if (!verdict_from_words(held->verdict, held->reason, &kind) || !verdict_is_judged(kind))
        return *held->verdict == '\0' || verdict_is_judged(verdict->kind);
    if (!verdict_is_judged(verdict->kind) || held->passed != passes)
        return !passes;
    return passes && row_ulp > lnjudge_metric(held, "row_ulp_max");
}

/* Adds a judgement to the report. */
static void note_verdict(kernel_session *session, const char *input,
                         const case_judgement *judgement)
{
    const case_verdict *verdict = &judgement->verdict;
    const judge_block *block = &session->block;
    const char *check = *input ? "rows" : check_names[CHECK_COMBINATIONS];
    /* The judgement belongs to the last case if that has the same check, input and size. */
    lnjudge_report *report = &session->report;
    lnjudge_case *into = report->count ? &report->cases[report->count - 1] : NULL;
    if (!into || strcmp(into->check, check) != 0 || strcmp(into->input, input) != 0 ||
        (*input && into->hidden != block->hidden)) {
        report->cases = reallocate(report->cases, (report->count + 1) * sizeof *into);
        into = &report->cases[report->count++];
        *into = (lnjudge_case){.passed = 1};
        snprintf(into->check, sizeof into->check, "%s", check);
        snprintf(into->input, sizeof into->input, "%s", input);
    }
    if (!replaces(into, verdict, judgement->metrics.row_ulp_max))
        return;
    fill_case(block, verdict, &judgement->metrics, into);
    into->step = session->done;
    free_row(&into->worst);
    /* lnjudge_case.worst describes this choice. Only distinct rows of the first call can be kept. */
    const bool *wrong = session->judge->wrong_rows;
    const size_t rows = block->distinct ? block->distinct : block->rows;
    size_t row = judgement->metrics.worst_row;
    if (!into->passed && judgement->metrics.elements > 0 && !wrong[row])
        for (row = 0; row < rows && !wrong[row]; row++)
            ;
    if (judgement->metrics.elements > 0 && row < rows)
        keep_row(block, row, session->judge->computed, &into->worst);
}

/* Applies the question's limit to rows for which the judge has a limit, with a small kappa and no more than the largest
 * size of the question. */
static void apply_limit(kernel_session *session, case_judgement *judgement)
{
    const judge_block *block = &session->block;
    const size_t rows = block->distinct ? block->distinct : block->rows;
    const double limit = session->question.max_row_ulp;
    judged_kind kind = judged_kind_of(&session->kernel, false);
    size_t longest = 0;
    for (size_t i = 0; i < session->question.hidden_count; i++)
        longest = session->question.hidden[i] > longest ? session->question.hidden[i] : longest;
    for (size_t row = 0; row < rows && limit > 0 && judgement->metrics.elements > 0 &&
                         block->hidden <= longest && verdict_is_right(judgement->verdict.kind);
         row++) {
        const judged_row *judged = &session->judge->by_row[row];
        if (!(judged->kappa <= PLAIN_KAPPA && judged->row_ulp > limit) ||
            !limits_tell(judge_limits(session->judge, block, &kind, row)))
            continue;
        session->judge->wrong_rows[row] = true;
        judgement->verdict.kind = VERDICT_INACCURATE;
        number_print(judgement->verdict.detail, sizeof judgement->verdict.detail,
                     "row %zu: row_ulp %.4g exceeds max_row_ulp %g", row, judged->row_ulp, limit);
    }
}

/* ---- steps ---- */

static void judge_family(kernel_session *session, const char *input, size_t hidden,
                         case_judgement *judgement)
{
    const lnjudge_question *question = &session->question;
    size_t rows = FAMILY_ELEMENTS / hidden;
    rows = rows > FAMILY_ROWS ? FAMILY_ROWS : rows < LEAST_ROWS ? LEAST_ROWS : rows;
    judge_block_free(&session->block);
    judge_block_generate(
        session->judge, &session->block,
        call_dense(&question->convention, question->storage, question->param, rows, hidden), input,
        NULL, 0);
    judge_kernel(session->judge, &session->block, &session->kernel, judgement);
    covering_run_note(&session->covering, hidden, judgement);
}

/* A mistake must explain failures at two hidden sizes, so a wrong kernel runs at a second one, unreported. */
static void run_family(kernel_session *session, const char *input, size_t hidden)
{
    case_judgement judgement;
    judge_family(session, input, hidden, &judgement);
    const bool wrong = judgement.verdict.kind == VERDICT_INACCURATE;
    apply_limit(session, &judgement);
    note_verdict(session, input, &judgement);
    if (wrong && !(session->question.traits & LNJUDGE_THESE_SIZES))
        judge_family(session, input, 2 * hidden, &judgement);
}

/* Runs a problem of the covering array. The first one that fails is minimized. After the last one it adds the findings
 * of all problems together. */
static void run_problem(kernel_session *session, size_t index)
{
    combination tested = combinations_at(session->combinations, index);
    case_judgement judgement, all = {.verdict.kind = VERDICT_PASS};
    combination_without(&tested, session->kernel.facts.traits);
    combination_block(session->judge, &tested, session->question.storage, session->question.param,
                      &session->block);
    covering_run_problem(&session->covering, &tested, &session->block, &judgement);
    const bool is_fault = verdict_is_fault(judgement.verdict.kind);
    apply_limit(session, &judgement);
    note_verdict(session, "", &judgement);
    session->failing += verdict_exit_code(&judgement.verdict) != EXIT_CODE_FINE;
    if (is_fault && session->failing == 1) {
        lnjudge_case *into = &session->report.cases[session->report.count - 1];
        covering_run apart = session->covering; /* further tries are not among the findings */
        minimize_fault(&apart, &tested, &(faults_seen){.count = 1}, &judgement.verdict);
        snprintf(into->detail, sizeof into->detail, "%s", judgement.verdict.detail);
    }
    if (session->done < session->count || session->question.step > 0)
        return;
    covering_run_conclude(&session->covering, &all.verdict);
    if (verdict_is_fault(all.verdict.kind))
        note_verdict(session, "", &all);
}

/* ---- the question ---- */

static void check_question(const lnjudge_question *given, kernel_session *session)
{
    static const size_t usual[] = {USUAL_HIDDEN};
    lnjudge_question *question = &session->question;
    if (!given || given->struct_size != sizeof *given || !given->kernel)
        die(EXIT_CODE_USAGE,
            "the question needs a kernel and struct_size = sizeof(lnjudge_question)");
    if ((unsigned)given->accumulator > LN_F16)
        die(EXIT_CODE_USAGE, "accumulator must be LN_F32, LN_F64, LN_BF16 or LN_F16");
    if (given->hidden && (given->hidden_count == 0 || given->hidden_count > MOST_SIZES))
        die(EXIT_CODE_USAGE, "hidden_count is %zu: it must be 1 to %d", given->hidden_count,
            MOST_SIZES);
    if (given->traits & ~(unsigned)ALL_TRAITS)
        die(EXIT_CODE_USAGE, "traits is %#x: use bits of lnjudge_trait", given->traits);
    check_limit(given->max_row_ulp);
    *question = *given;
    question->hidden_count = given->hidden ? given->hidden_count : 1;
    question->seed = given->seed ? given->seed : 1;
    size_t *hidden = arena_new(&session->memory, size_t, question->hidden_count);
    memcpy(hidden, given->hidden ? given->hidden : usual, question->hidden_count * sizeof *usual);
    question->hidden = hidden;
    for (size_t i = 0; i < question->hidden_count; i++)
        check_problem(&(ln_problem){.rows = FAMILY_ROWS,
                                    .hidden = question->hidden[i],
                                    .storage = given->storage,
                                    .param = given->param,
                                    .convention = given->convention});
}

static void begin(const lnjudge_question *given, kernel_session *session)
{
    const lnjudge_question *question = &session->question;
    size_t families;
    check_question(given, session);
    const judge_settings settings = {
        .seed = question->seed, .max_row_ulp = INFINITY, .stop = question->stop};
    session->runner = (kernel_runner){.ask = ask_in_process, .reserve = reserve};
    session->judge = judge_create(&session->runner, &settings);
    session->kernel.facts = (kernel_facts){
        .name = "given",
        .operation = question->convention.operation,
        .storage = question->storage,
        .param = question->param,
        .accumulator = question->accumulator,
        .traits = (question->traits & LNJUDGE_NOT_IN_PLACE ? LN_TRAIT_NOT_IN_PLACE : 0u) |
                  (question->traits & LNJUDGE_NO_RESIDUAL ? LN_TRAIT_NO_RESIDUAL : 0u)};
    const input_family *family = input_families(&families);
    for (size_t i = 0; i < families && session->family_count < FAMILIES_MOST; i++)
        if (input_suits(&family[i], question->convention.operation))
            session->families[session->family_count++] = family[i].name;
    session->count = session->family_count * question->hidden_count;
    const bool these = question->traits & LNJUDGE_THESE_SIZES;
    if (question->step == 0 || question->step > session->count) {
        /* All problems have the convention of the question. */
        session->combinations = combinations_make(
            &session->memory,
            &(combinations_request){.defaults = question->convention,
                                    .alone = true,
                                    .seed = question->seed,
                                    .quick = these,
                                    .hidden = question->hidden,
                                    .hidden_count = these ? question->hidden_count : 0});
        session->count += combinations_count(session->combinations);
        session->covering = (covering_run){
            .judge = session->judge, .kernel = &session->kernel, .first = &question->convention};
        for (size_t i = 0; these && question->hidden_count == 1 && i < 64; i++)
            session->covering.mistakes.differs_at[i] = SIZE_MAX; /* a mistake fails at one size */
    }
    if (question->step > session->count)
        die(EXIT_CODE_USAGE, "step is %zu, but there are %zu steps", question->step,
            session->count);
    if (question->step > 0) {
        session->done = question->step - 1;
        session->count = question->step;
    }
}

/* Fails the cases of a size of the question at which the kernel supported no input family. */
static void refuse_unsupported(lnjudge_report *report, size_t hidden)
{
    const char *declined = verdict_word(VERDICT_UNSUPPORTED);
    for (size_t i = 0; i < report->count; i++)
        if (strcmp(report->cases[i].check, "rows") == 0 && report->cases[i].hidden == hidden &&
            strcmp(report->cases[i].verdict, declined) != 0)
            return;
    for (size_t i = 0; i < report->count; i++) {
        lnjudge_case *here = &report->cases[i];
        if (here->hidden != hidden || !here->passed || here->worst.x)
            continue;
        here->passed = 0;
        snprintf(here->verdict, sizeof here->verdict, "%s", declined);
        here->reason[0] = '\0';
        snprintf(here->detail, sizeof here->detail,
                 "the kernel does not support hidden %zu, a size of the question", hidden);
    }
}

/* Sets the worst case and `passed`. A mistake that explains the failures replaces the worst case's detail. */
static void conclude(kernel_session *session)
{
    char why[ROW_FAULT_LENGTH];
    double largest = -1;
    bool judged = false;
    lnjudge_report *report = &session->report;
    if (session->question.step == 0)
        for (size_t i = 0; i < session->question.hidden_count; i++)
            refuse_unsupported(report, session->question.hidden[i]);
    report->passed = 1;
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
    if (report->count > 0 &&
        covering_run_mistake(&session->covering, &session->question.convention, why))
        number_print(report->cases[report->worst].detail, sizeof report->cases->detail,
                     SAYS_MISTAKE "%s", why);
    report->untested = "large tensors, growing memory, simultaneous calls, floating-point control";
}

lnjudge_status lnjudge_kernel_judge(const lnjudge_question *question, lnjudge_report *report,
                                    lnjudge_error *failure)
{
    die_catcher caught = {0};
    kernel_session *volatile session = NULL;
    die_caught_by = &caught;
    if (setjmp(caught.place) == 0) {
        check_place(report, "the report");
        *report = (lnjudge_report){0};
        session = allocate_zeroed(1, sizeof *session);
        begin(question, session);
        while (session->done < session->count && session->failing < ENOUGH_FAILING) {
            const size_t index = session->done++, hidden = index / session->family_count;
            session->question.max_row_ulp = question->max_row_ulp;
            if (question->before_step) /* it may call this library */
                question->before_step(question->user, session->done, session->count,
                                      &session->question.max_row_ulp);
            die_caught_by = &caught;
            if (hidden < session->question.hidden_count)
                run_family(session, session->families[index % session->family_count],
                           session->question.hidden[hidden]);
            else
                run_problem(session,
                            index - session->family_count * session->question.hidden_count);
            judge_block_free(&session->block);
            if (question->stop && *question->stop)
                die(EXIT_CODE_INTERRUPTED, "stopped");
        }
        conclude(session);
        *report = session->report;
        session->report = (lnjudge_report){0};
    }
    if (session) {
        lnjudge_report_free(&session->report);
        judge_block_free(&session->block);
        arena_free(&session->memory);
        judge_destroy(session->judge);
        guard_forget_waiting();
        free(session->runner.memory);
        free(session);
    }
    return report_error(&caught.error, failure);
}

/* ---- is an input written to during a call? ----
 *
 * The pages are made read-only. The first write to them raises SIGSEGV; the handler notes its address and makes them
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
        sigaction(number, &watch.before, NULL); /* handles the access when it is repeated */
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
        die(EXIT_CODE_USAGE, "x and y must not be NULL, and must have 1 to %d axes", LNJUDGE_AXES);
    for (size_t a = 0; a < box->dimensions; a++)
        if (box->shape[a] == 0 || __builtin_mul_overflow(elements, box->shape[a], &elements) ||
            elements > SIZE_MAX / 64)
            die(EXIT_CODE_USAGE, "axis %zu is %zu: x is empty or too large", a, box->shape[a]);
    if (!box->parameters != (!box->gamma && !box->beta))
        die(EXIT_CODE_USAGE, "parameters is %zu: it must be the size of gamma and beta, or 0",
            box->parameters);
    if (box->digits < LNJUDGE_EXACT || box->digits > FINGERPRINT_MOST_DIGITS ||
        box->x_digits < LNJUDGE_EXACT || box->x_digits > FINGERPRINT_MOST_DIGITS)
        die(EXIT_CODE_USAGE, "digits and x_digits must be 0 to %d, or LNJUDGE_EXACT",
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
                                  .rows_used = found.used,
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
