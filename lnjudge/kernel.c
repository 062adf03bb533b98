/* Judges a kernel that is a function, step by step: on the input families at each size of the question, for the
 * figures, and on the problems of the covering array. Large tensors, growth and calls at the same time need
 * processes and threads of their own; the report says that they were not run. */
#include "base/allocate.h"
#include "base/text.h"
#include "conformance/covering_run.h"
#include "conformance/internal.h"
#include "domain/convention.h"
#include "inputs/inputs.h"
#include "internal.h"
#include "worker/child/buffers.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

enum {
    FAMILY_ROWS = 18,
    FAMILY_ELEMENTS = 18 * 768, /* longer rows: fewer */
    LEAST_ROWS = 9,             /* the kappas of `offset` */
    FAMILIES_MOST = 64,
    USUAL_HIDDEN = 768,
    MOST_SIZES = 1 << 16,
    ALIGNMENT = 64,
    ALL_TRAITS = LNJUDGE_DENSE | LNJUDGE_NOT_IN_PLACE | LNJUDGE_NO_RESIDUAL | LNJUDGE_THESE_SIZES,
};

/* Rows up to it are held to the limit of the question: a mean rounded to the row's type moves their
 * results by 2 row ULP at most. */
static const double plain_kappa = 2;

struct lnjudge_session {
    kernel_runner runner; /* the first member: ask_in_process() and reserve() get its address */
    size_t runner_bytes;
    bool stopped; /* the function returned LNJUDGE_STOP */
    lnjudge_question question;
    row_judge *judge;
    kernel_entry kernel;
    combination_set *combinations;
    arena memory; /* of the combinations and the sizes */
    covering_run covering;
    const char *families[FAMILIES_MOST];
    size_t family_count;
    size_t count, done; /* steps: of each size each family, then each problem */
    judge_block block;  /* of the step */
    lnjudge_report report;
};

/* ---- the runner (judge/runner.h) ----
 *
 * The conformance tests send it the messages that they send to lnbench's worker, and the answers are made here.
 * Each tensor lies between two pages that hold a known pattern (worker/child/buffers.h), as do the gaps of strided
 * rows, and inputs are compared with what they were. A function that writes further away, or never returns, is not
 * caught: that needs another process. */

static bool blame(worker_reply *reply, verdict_kind verdict, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool blame(worker_reply *reply, verdict_kind verdict, const char *format, ...)
{
    va_list arguments;
    reply->kind = REPLY_FAILED;
    reply->verdict = verdict;
    va_start(arguments, format);
    vsnprintf(reply->text, sizeof reply->text, format, arguments);
    va_end(arguments);
    return false;
}

/* Tensors begin as many bytes beyond a multiple of ALIGNMENT as the order says. The sum has a place of its own
 * where y lies in the place of the residual. */
static work_order placed_order(const work_order *order)
{
    const operation *what = operations[order->operation];
    work_order placed = *order;
    for (size_t i = 0; i < what->count; i++) {
        const tensor_role *role = &what->roles[i];
        tensor_layout *layout = &placed.layout.tensors[i];
        layout->offset = role->type == TYPE_ACCUMULATOR  ? 0
                         : layout->place == GUARD_BEHIND ? dtype_size(order->problem.storage)
                                                         : layout->offset % ALIGNMENT;
        layout->place = GUARD_AMID;
        if (role_is_sum(what, i) && layout->lies_in != ROLE_X)
            layout->lies_in = i;
    }
    return placed;
}

/* Whether an input holds what the order's rows from `first` on are. */
static bool input_is_whole(const call_tensors *of, size_t i, size_t first, worker_reply *reply)
{
    const guarded *buffer = &of->buffers[i];
    const tensor_role *role = &of->what->roles[i];
    size_t from = role_is_parameter(role) ? 0 : first * of->extents[i].row_bytes;
    if (!buffer->map || role->output || tensors_input_is_written(of, i))
        return true;
    char *right = allocate(buffer->size + 1);
    rows_lay_out(right, &of->extents[i], of->memory + of->order->at.tensors[i] + from);
    bool same = memcmp(right, buffer->data, buffer->size) == 0;
    free(right);
    return same || blame(reply, VERDICT_INPUT_MODIFIED, "wrote to its input %s", role->name);
}

/* One call on the order's rows from `first` on, which go back to where they came from. */
static bool run_rows(lnjudge_session *session, call_tensors *of, size_t first, worker_reply *reply)
{
    const lnjudge_question *question = &session->question;
    char text[REPLY_TEXT_LENGTH];
    tensors_fill(of, first, false);
    die_catcher *kept = die_caught_by; /* the kernel may call this library */
    int status = question->kernel(question->user, &of->problem, &of->given);
    die_caught_by = kept;
    session->stopped |= status == LNJUDGE_STOP;
    if (status == LNJUDGE_STOP)
        return blame(reply, VERDICT_LOST, "stopped");
    if (status == LN_ERROR_UNSUPPORTED)
        return blame(reply, VERDICT_DECLINED, "it says so");
    if (status != 0)
        return blame(reply, VERDICT_CRASHED, "returned %d", status);
    for (size_t i = 0; i < of->what->count; i++)
        if (!input_is_whole(of, i, first, reply))
            return false;
    return tensors_are_clean(of, text, sizeof text) || blame(reply, VERDICT_OVERRUN, "%s", text);
}

/* Rows in two halves, one behind the other, and the first half `again` times more; or all at once. */
static bool run_calls(lnjudge_session *session, call_tensors *of, size_t again, worker_reply *reply)
{
    const size_t second = of->order->problem.rows - of->problem.rows;
    const guarded *result = &of->buffers[of->order->layout.tensors[of->what->result].lies_in];
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
                blame(reply, VERDICT_NONDETERMINISTIC, "two calls on the same rows differ"));
    free(once);
    return fine;
}

static bool ask_in_process(kernel_runner *runner, const work_order *order, double deadline_seconds,
                           worker_reply *reply)
{
    lnjudge_session *session = (lnjudge_session *)runner;
    const lnjudge_question *question = &session->question;
    bool halves = order->layout.calls == CALLS_HALVES && order->problem.rows > 1;
    size_t again = order->again ? order->again : 2 * (order->layout.calls != CALLS_ONCE);
    (void)deadline_seconds;
    *reply = (worker_reply){.kind = REPLY_DONE};
    if (session->stopped)
        return blame(reply, VERDICT_LOST, "stopped");
    if (order->kind ==
        ORDER_SUPPORTS) { /* a function says so in a call, and takes one convention */
        reply->value = 1;
        return true;
    }
    bool takes = !(question->traits & LNJUDGE_THESE_SIZES);
    for (size_t i = 0; i < question->hidden_count; i++)
        takes |= question->hidden[i] == order->problem.hidden;
    if (!takes)
        return blame(reply, VERDICT_DECLINED, "it takes no such size");
    if (order->at.tensors[ROLE_RESIDUAL] >= 0 && (question->traits & LNJUDGE_NO_RESIDUAL))
        return blame(reply, VERDICT_DECLINED, "it takes no residual");
    const work_order placed = placed_order(order);
    ln_problem problem = order->problem;
    call_tensors tensors;
    problem.rows = halves ? (problem.rows + 1) / 2 : problem.rows;
    if (!(question->traits & LNJUDGE_DENSE))
        layout_strides(&order->layout, operations[order->operation], &problem);
    if (!tensors_create(&tensors, &placed, runner->memory, &problem, question->accumulator, false))
        memory_is_out(0);
    bool fine = run_calls(session, &tensors, again, reply);
    tensors_destroy(&tensors);
    return fine;
}

static void reserve(kernel_runner *runner, size_t bytes)
{
    lnjudge_session *session = (lnjudge_session *)runner;
    if (bytes > session->runner_bytes) {
        runner->memory = reallocate(runner->memory, bytes);
        session->runner_bytes = bytes;
    }
}

/* ---- what was found ---- */

/* The last case, if it is of this check, input and size, else a new one. */
static lnjudge_case *case_of(lnjudge_session *session, const char *check, const char *input,
                             size_t hidden)
{
    lnjudge_report *report = &session->report;
    lnjudge_case *last = report->count ? &report->cases[report->count - 1] : NULL;
    if (last && strcmp(last->check, check) == 0 && strcmp(last->input, input) == 0 &&
        (!*input || last->hidden == hidden))
        return last;
    report->cases = reallocate(report->cases, (report->count + 1) * sizeof *last);
    last = &report->cases[report->count++];
    *last = (lnjudge_case){.passed = 1};
    snprintf(last->check, sizeof last->check, "%s", check);
    snprintf(last->input, sizeof last->input, "%s", input);
    return last;
}

/* Whether a judgement is graver than what a case has, or has a larger error. */
static bool is_worse(const lnjudge_case *held, const case_verdict *verdict, double row_ulp)
{
    verdict_kind kind;
    bool passes = verdict_exit_code(verdict) == EXIT_CODE_FINE;
    if (!verdict_from_words(held->verdict, held->reason, &kind) || !verdict_is_judged(kind))
        return *held->verdict == '\0' || verdict_is_judged(verdict->kind);
    if (!verdict_is_judged(verdict->kind) || held->passed != passes)
        return !passes;
    return row_ulp > lnjudge_metric(held, "row_ulp_max");
}

/* `words` describes the problem ("4x257, rows off centre"); it is empty where the block says it. */
static void note_verdict(lnjudge_session *session, const char *input, const char *words,
                         const case_judgement *judgement)
{
    const case_verdict *verdict = &judgement->verdict;
    const judge_block *block = &session->block;
    const char *check = *input ? "rows" : conformance_check_name(CHECK_COMBINATIONS);
    lnjudge_case *into = case_of(session, check, input, block->hidden);
    if (!is_worse(into, verdict, judgement->metrics.row_ulp_max))
        return;
    fill_case(block, verdict, &judgement->metrics, into);
    into->entry = session->done;
    free_row(&into->worst);
    if (*words && !into->passed)
        number_print(into->detail, sizeof into->detail, "%s: %s", words, verdict->detail);
    if (judgement->metrics.elements > 0)
        keep_row(block, judgement->metrics.worst_row, session->judge->computed, &into->worst);
}

/* Applies the question's own limit to rows of which something is known, that lie near zero and are no longer
 * than the sizes of the question. */
static void hold_to_limit(lnjudge_session *session, case_judgement *judgement)
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
        if (!(judged->kappa <= plain_kappa && judged->row_ulp > limit) ||
            !limits_tell(judge_limits(session->judge, block, &kind, row)))
            continue;
        judgement->verdict.kind = VERDICT_INACCURATE;
        number_print(judgement->verdict.detail, sizeof judgement->verdict.detail,
                     "row %zu: row_ulp %.4g is above the limit %g", row, judged->row_ulp, limit);
    }
}

/* ---- steps ---- */

static void judge_family(lnjudge_session *session, const char *input, size_t hidden,
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

/* If the kernel is wrong, a second size may show why. */
static void run_family(lnjudge_session *session, const char *input, size_t hidden)
{
    case_judgement judgement;
    judge_family(session, input, hidden, &judgement);
    const bool wrong = judgement.verdict.kind == VERDICT_INACCURATE;
    hold_to_limit(session, &judgement);
    note_verdict(session, input, "", &judgement);
    if (wrong && !(session->question.traits & LNJUDGE_THESE_SIZES))
        judge_family(session, input, 2 * hidden, &judgement);
}

/* Describes a problem, without the factors that this process does not vary. */
static void describe_problem(const lnjudge_session *session, const combination *asked,
                             char words[256])
{
    combination shown = *asked;
    char factors[256];
    for (size_t f = 0; f < shown.table->count; f++) {
        factor_kind kind = shown.table->factors[f].kind;
        if (kind == FACTOR_THREADS || (kind == FACTOR_CALLS && shown.levels[f] != CALLS_HALVES) ||
            (kind == FACTOR_STRIDE && (session->question.traits & LNJUDGE_DENSE)))
            shown.levels[f] = 0;
    }
    ln_problem problem =
        combination_problem(asked, session->question.storage, session->question.param);
    combination_describe(&shown, UINT64_MAX, factors, sizeof factors);
    snprintf(words, 256, "%zux%zu%s%.200s", problem.rows, problem.hidden, *factors ? ", " : "",
             factors);
}

/* Runs a problem of the covering array; after the last one it adds what all of them show together. */
static void run_problem(lnjudge_session *session, size_t index)
{
    combination asked = combinations_at(session->combinations, index);
    case_judgement judgement, all = {.verdict.kind = VERDICT_RIGHT};
    char words[256];
    combination_without(&asked, session->kernel.facts.traits);
    combination_block(session->judge, &asked, session->question.storage, session->question.param,
                      &session->block);
    covering_run_ask(&session->covering, &asked, &session->block, &judgement);
    describe_problem(session, &asked, words);
    hold_to_limit(session, &judgement);
    note_verdict(session, "", words, &judgement);
    if (session->done < session->count || session->question.entry > 0)
        return;
    covering_run_conclude(&session->covering, &all.verdict);
    if (verdict_is_fault(all.verdict.kind))
        note_verdict(session, "", "all problems", &all);
}

/* ---- the question ---- */

static void take_question(const lnjudge_question *given, lnjudge_session *session)
{
    static const size_t usual[] = {USUAL_HIDDEN};
    lnjudge_question *question = &session->question;
    if (!given || given->struct_size != sizeof *given || !given->kernel)
        die(EXIT_CODE_USAGE,
            "a question with a kernel and struct_size = sizeof(lnjudge_question) was "
            "expected");
    if ((unsigned)given->accumulator > LN_F16)
        die(EXIT_CODE_USAGE, "accumulator: LN_F32, LN_F64, LN_BF16 or LN_F16");
    if (given->hidden && (given->hidden_count == 0 || given->hidden_count > MOST_SIZES))
        die(EXIT_CODE_USAGE, "%zu hidden sizes: 1 to %d were expected", given->hidden_count,
            MOST_SIZES);
    if (given->traits & ~(unsigned)ALL_TRAITS)
        die(EXIT_CODE_USAGE, "traits %#x: those of lnjudge_trait were expected", given->traits);
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

static void begin(const lnjudge_question *given, lnjudge_session *session)
{
    const lnjudge_question *question = &session->question;
    size_t families;
    take_question(given, session);
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
    if (question->entry == 0 || question->entry > session->count) {
        /* Under the convention of the question alone. */
        session->combinations = combinations_make(
            &session->memory,
            &(combinations_asked){.plain = question->convention,
                                  .alone = true,
                                  .seed = question->seed,
                                  .quick = these,
                                  .hidden = question->hidden,
                                  .hidden_count = these ? question->hidden_count : 0});
        session->count += combinations_count(session->combinations);
        covering_run_begin(&session->covering, session->judge, &session->kernel,
                           &question->convention);
    }
    if (question->entry > session->count)
        die(EXIT_CODE_USAGE, "entry %zu: there are %zu", question->entry, session->count);
    if (question->entry > 0) {
        session->done = question->entry - 1;
        session->count = question->entry;
    }
}

lnjudge_status lnjudge_begin(const lnjudge_question *question, lnjudge_session **session,
                             lnjudge_error *failure)
{
    die_catcher caught = {0};
    lnjudge_session *volatile made = NULL;
    die_caught_by = &caught;
    if (setjmp(caught.place) == 0) {
        check_place(session, "the session");
        *session = NULL;
        made = allocate_zeroed(1, sizeof *made);
        begin(question, made);
        *session = made;
    } else {
        lnjudge_end(made, NULL);
    }
    return report_error(&caught.error, failure);
}

lnjudge_status lnjudge_step(lnjudge_session *session, size_t *done, size_t *steps,
                            lnjudge_error *failure)
{
    CATCH(failure);
    if (!session || !done || !steps)
        die(EXIT_CODE_USAGE, "a session and places for done and steps were expected");
    *steps = session->count;
    if (session->done < session->count) {
        const size_t index = session->done++, hidden = index / session->family_count;
        if (hidden < session->question.hidden_count)
            run_family(session, session->families[index % session->family_count],
                       session->question.hidden[hidden]);
        else
            run_problem(session, index - session->family_count * session->question.hidden_count);
        session->judge->placed = NULL;
        judge_block_free(&session->block);
        if (session->stopped)
            die(EXIT_CODE_INTERRUPTED, "the kernel ended the judgement");
    }
    *done = session->done;
    return report_error(&caught.error, failure);
}

void lnjudge_limit(lnjudge_session *session, double max_row_ulp)
{
    if (session && max_row_ulp >= 0)
        session->question.max_row_ulp = max_row_ulp;
}

int lnjudge_failed(const lnjudge_session *session)
{
    bool failed = !session;
    for (size_t i = 0; session && i < session->report.count; i++)
        failed |= !session->report.cases[i].passed;
    return failed;
}

/* A size of the question that the kernel does not take was not judged, so it does not pass. */
static void refuse_declined(lnjudge_report *report, size_t hidden)
{
    const char *declined = verdict_word(VERDICT_DECLINED);
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
                 "the kernel does not take hidden %zu, which was asked for", hidden);
    }
}

void lnjudge_end(lnjudge_session *session, lnjudge_report *report)
{
    char why[ROW_FAULT_LENGTH];
    if (report)
        *report = session ? session->report : (lnjudge_report){0};
    if (!session)
        return;
    if (report) {
        bool all = session->done == session->count && session->question.entry == 0;
        for (size_t i = 0; all && i < session->question.hidden_count; i++)
            refuse_declined(report, session->question.hidden[i]);
        choose_worst(report);
        if (covering_run_mistake(&session->covering, &session->question.convention, why))
            number_print(report->cases[report->worst].detail, sizeof report->cases->detail,
                         SAYS_MISTAKE "%s", why);
        report->not_asked = "large tensors, growth, calls at the same time";
    } else {
        lnjudge_report_free(&session->report);
    }
    judge_block_free(&session->block);
    covering_run_end(&session->covering);
    arena_free(&session->memory);
    judge_destroy(session->judge);
    guard_forget_waiting();
    free(session->runner.memory);
    free(session);
}

lnjudge_status lnjudge_kernel_judge(const lnjudge_question *question, lnjudge_report *report,
                                    lnjudge_error *failure)
{
    lnjudge_session *session;
    size_t done = 0, steps = 1;
    CATCH(failure);
    check_place(report, "the report");
    *report = (lnjudge_report){0};
    lnjudge_status status = lnjudge_begin(question, &session, failure);
    if (status != LNJUDGE_OK)
        return status;
    while (status == LNJUDGE_OK && done < steps)
        status = lnjudge_step(session, &done, &steps, failure);
    lnjudge_end(session, status == LNJUDGE_OK ? report : NULL);
    return status;
}
