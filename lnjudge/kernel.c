/* A kernel that is a function, through the conformance tests, one step after the other. */
#include "domain/convention.h"
#include "inputs/inputs.h"
#include "internal.h"
#include "judge/position.h"
#include "judge/rows.h"
#include "conformance/covering_run.h"
#include "conformance/internal.h"
#include "base/number.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FAMILY_ROWS = 18,
    FAMILY_ELEMENTS = 18 * 768, /* longer rows: fewer */
    LEAST_ROWS = 9,             /* the kappas of `offset` */
    POSITION_ROWS = 256,
    POSITION_HIDDEN = 32,
    CALL_ROWS = 5,
    USUAL_HIDDEN = 768,
    MOST_SIZES = 1 << 16,
    ALL_TRAITS = LNJUDGE_DENSE | LNJUDGE_NOT_IN_PLACE | LNJUDGE_NO_RESIDUAL | LNJUDGE_THESE_SIZES,
};

/* Rows up to it are held to the limit of the question: a mean rounded to the row's type moves their
 * results by 2 row ULP at most. */
static const double plain_kappa = 2;

/* Rows of a batch, where the kernel takes no other sizes than those given. */
static const size_t batches[] = {1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33, 100};

typedef struct judge_step judge_step;
struct judge_step {
    bool (*run)(struct lnjudge_session *session, const judge_step *step, error *err);
    const char *check;
    size_t hidden; /* 0: of no size given */
    size_t index;  /* of the family, a batch or a problem of the covering array */
};

struct lnjudge_session {
    lnjudge_question question;
    in_process *worker;
    row_judge *judge;
    kernel_entry kernel;
    combination_set *combinations;
    covering_run covering;
    judge_step *steps;
    size_t count, done, room;
    lnjudge_report report;
    char words
        [256]; /* of the problem that is asked: "4x257, rows off centre"; "": of a size given */
};

/* ---- what was found ---- */

/* The last case, if it is of this check and input, else a new one. */
static lnjudge_case *case_of(lnjudge_session *session, const judge_step *step, const char *input,
                             error *err)
{
    lnjudge_report *report = &session->report;
    lnjudge_case *last = report->count ? &report->cases[report->count - 1] : NULL;
    bool same = last && strcmp(last->check, step->check) == 0 && strcmp(last->input, input) == 0 &&
                (step->hidden == 0 || last->hidden == step->hidden);
    if (same)
        return last;
    lnjudge_case *grown = realloc(report->cases, (report->count + 1) * sizeof *grown);
    if (!grown) {
        fail_memory(err, "a report");
        return NULL;
    }
    report->cases = grown;
    last = &grown[report->count++];
    *last = (lnjudge_case){.passed = 1};
    snprintf(last->check, sizeof last->check, "%s", step->check);
    snprintf(last->input, sizeof last->input, "%s", input);
    return last;
}

static bool is_judged(const lnjudge_case *held)
{
    return strcmp(held->verdict, verdict_word(VERDICT_RIGHT)) == 0 ||
           strcmp(held->verdict, verdict_word(VERDICT_LIMIT)) == 0 ||
           strcmp(held->verdict, verdict_word(VERDICT_INACCURATE)) == 0;
}

/* Whether a judgement is graver than what a case has, or has a larger error. */
static bool is_worse(const lnjudge_case *held, const case_verdict *verdict, double row_ulp)
{
    bool passes = verdict_exit_code(verdict) == EXIT_CODE_FINE;
    if (!is_judged(held))
        return *held->verdict == '\0' || verdict_is_judged(verdict->kind);
    if (!verdict_is_judged(verdict->kind) || held->passed != passes)
        return !passes;
    return row_ulp > lnjudge_metric(held, "row_ulp_max");
}

static bool note_verdict(lnjudge_session *session, const judge_step *step, const char *input,
                         const judge_block *block, const case_verdict *verdict,
                         const ln_metrics *metrics, const void *computed, error *err)
{
    lnjudge_case *into = case_of(session, step, input, err);
    if (!into || !is_worse(into, verdict, metrics->row_ulp_max))
        return into != NULL;
    fill_case(block, verdict, metrics, into);
    into->entry = session->done;
    free_row(&into->worst);
    if (*session->words && !into->passed)
        number_print(into->detail, sizeof into->detail, "%s: %s", session->words, verdict->detail);
    return !computed || !block->results || metrics->elements == 0 ||
           keep_row(block, metrics->worst_row, computed, &into->worst, err);
}

static size_t longest(const lnjudge_question *question)
{
    size_t hidden = 0;
    for (size_t i = 0; i < question->hidden_count; i++)
        hidden = question->hidden[i] > hidden ? question->hidden[i] : hidden;
    return hidden;
}

/* The question's own limit, on rows of which something is known, that lie near zero and are no longer
 * than those that were asked for. */
static bool hold_to_limit(lnjudge_session *session, const judge_block *block,
                          case_judgement *judgement, error *err)
{
    double limit = session->question.max_row_ulp;
    judged_kind kind = judged_kind_of(&session->kernel, false);
    bool fine =
        verdict_is_right(judgement->verdict.kind) && block->hidden <= longest(&session->question);
    for (size_t row = 0; limit > 0 && fine && row < block->rows; row++) {
        const judged_row *judged = &judgement->by_row[row];
        if (!(judged->kappa <= plain_kappa && judged->row_ulp > limit))
            continue;
        const row_limits *limits = judge_limits(session->judge, block, &kind, row);
        if (!limits)
            return fail_memory(err, "the limits of a row");
        if (!limits_tell(limits))
            continue;
        fine = false;
        judgement->verdict.kind = VERDICT_INACCURATE;
        number_print(judgement->verdict.detail, sizeof judgement->verdict.detail,
                     "row %zu: row_ulp %.4g is above the limit %g", row, judged->row_ulp, limit);
    }
    return true;
}

/* All layouts of a block. */
static bool ask_block(lnjudge_session *session, const judge_step *step, const char *input,
                      const judge_block *block, case_judgement *judgement, error *err)
{
    return judge_kernel(session->judge, block, &session->kernel, judgement, err) &&
           (judgement->metrics.elements == 0 || hold_to_limit(session, block, judgement, err)) &&
           note_verdict(session, step, input, block, &judgement->verdict, &judgement->metrics,
                        judgement->computed, err);
}

/* ---- steps ---- */

static bool make_rows(lnjudge_session *session, const judge_step *step, const char *input,
                      size_t rows, judge_block *block, error *err)
{
    const lnjudge_question *question = &session->question;
    return judge_block_generate(
        session->judge, block,
        call_dense(&question->convention, question->storage, question->param, rows, step->hidden),
        input, NULL, 0, err);
}

static bool ask_rows(lnjudge_session *session, const judge_step *step, const char *noted,
                     const char *input, size_t rows, error *err)
{
    case_judgement judgement;
    judge_block block;
    if (!make_rows(session, step, input, rows, &block, err))
        return false;
    bool fine = ask_block(session, step, noted, &block, &judgement, err);
    judge_block_free(&block);
    return fine;
}

static bool ask_family(lnjudge_session *session, const judge_step *step, error *err)
{
    size_t count, rows = FAMILY_ELEMENTS / step->hidden;
    const char *input = input_families(&count)[step->index].name;
    rows = rows > FAMILY_ROWS ? FAMILY_ROWS : rows < LEAST_ROWS ? LEAST_ROWS : rows;
    return ask_rows(session, step, input, input, rows, err);
}

static bool ask_batch(lnjudge_session *session, const judge_step *step, error *err)
{
    return ask_rows(session, step, "", "normal", batches[step->index], err);
}

static bool add_positions(row_judge *judge, const judge_block *block, const void *computed,
                          size_t rows, position_errors *errors)
{
    bool fine = true;
    for (size_t row = 0; fine && row < rows; row++) {
        metrics_row judged = judge_metrics_row(block, row);
        fine = judge_load_row(judge, block, row) &&
               position_add(errors, &judged, judge->values, judge_row_of(block, computed, row));
    }
    return fine;
}

static void judge_positions(const position_errors *errors, case_verdict *verdict)
{
    position_finding found;
    double outward;
    size_t room = sizeof verdict->detail;
    if (!verdict_is_right(verdict->kind))
        return;
    if (position_truncates(errors, &outward)) {
        verdict->kind = VERDICT_INACCURATE;
        number_print(verdict->detail, room,
                     "not rounded to nearest: errors away from zero are %.2f ULP on average",
                     outward);
    } else if (position_differs(errors, &found)) {
        verdict->kind = VERDICT_INACCURATE;
        number_print(verdict->detail, room, "%s: errors differ from the others' by %.3g row ULP",
                     found.where, found.difference);
    }
}

/* Outputs of so many rows are compared by place; one call is enough. */
static bool ask_positions(lnjudge_session *session, const judge_step *step, error *err)
{
    judge_block block;
    case_judgement judgement = {.bound_row_ulp = NAN};
    row_judge *judge = session->judge;
    position_errors *errors = position_create();
    bool fine = errors || fail_memory(err, "errors by position");
    if (fine && make_rows(session, step, "normal", POSITION_ROWS, &block, err)) {
        fine = judge_reserve(judge, &block, err);
        if (fine && judge_run(judge, &block, &session->kernel, LAYOUT_TIMED, judge->computed,
                              &judgement.verdict, err)) {
            fine = judge_measure(judge, &block, judge->computed, false, false, &judgement, err) &&
                   (add_positions(judge, &block, judge->computed, POSITION_ROWS, errors) ||
                    fail_memory(err, "errors by position"));
            judgement.verdict.kind = VERDICT_RIGHT;
            judge_positions(errors, &judgement.verdict);
        } else {
            fine = fine && err->code == EXIT_CODE_FINE;
        }
        fine = fine && note_verdict(session, step, "", &block, &judgement.verdict,
                                    &judgement.metrics, judge->computed, err);
        judge_block_free(&block);
    } else {
        fine = false;
    }
    position_destroy(errors);
    return fine;
}

/* The same rows over and over: the same bits. */
static bool ask_calls(lnjudge_session *session, const judge_step *step, error *err)
{
    judge_block block;
    case_judgement judgement = {.verdict.kind = VERDICT_RIGHT};
    work_order order = worker_order(ORDER_CALL, &session->kernel);
    size_t count = 2000000 / (CALL_ROWS * step->hidden);
    order.layout = layout_named(LAYOUT_TIMED, operations[order.operation], step->hidden);
    order.count = count < 100 ? 100 : count > 10000 ? 10000 : count;
    if (!make_rows(session, step, "normal", CALL_ROWS, &block, err))
        return false;
    bool fine = judge_reserve(session->judge, &block, err);
    if (fine && judge_run_as(session->judge, &block, &session->kernel, &order,
                             session->judge->computed, &judgement.verdict, err))
        fine = judge_measure(session->judge, &block, session->judge->computed, false, false,
                             &judgement, err);
    else
        fine = fine && err->code == EXIT_CODE_FINE;
    fine = fine && note_verdict(session, step, "", &block, &judgement.verdict, &judgement.metrics,
                                session->judge->computed, err);
    judge_block_free(&block);
    return fine;
}

/* What is asked, but for what this process does not do. */
static void describe_asked(lnjudge_session *session, const combination *asked)
{
    combination told = *asked;
    char words[sizeof session->words];
    for (size_t f = 0; f < told.table->count; f++) {
        factor_kind kind = told.table->factors[f].kind;
        if (kind == FACTOR_THREADS || (kind == FACTOR_CALLS && told.levels[f] != CALLS_HALVES) ||
            (kind == FACTOR_STRIDE && (session->question.traits & LNJUDGE_DENSE)))
            told.levels[f] = 0;
    }
    ln_problem problem =
        combination_problem(asked, session->question.storage, session->question.param);
    combination_describe(&told, UINT64_MAX, words, sizeof words);
    snprintf(session->words, sizeof session->words, "%zux%zu%s%.200s", problem.rows, problem.hidden,
             *words ? ", " : "", words);
}

/* A problem of the covering array. */
static bool ask_combination(lnjudge_session *session, const judge_step *step, error *err)
{
    combination asked = combinations_at(session->combinations, step->index);
    case_judgement judgement;
    judge_block block;
    combination_without(&asked, session->kernel.facts.traits);
    bool fine = combination_block(session->judge, &asked, session->question.storage,
                                  session->question.param, &block, err);
    if (!fine)
        return false;
    fine = covering_run_ask(&session->covering, &asked, &block, &judgement, err);
    judge_block shown = block;
    if (block.distinct)
        shown.rows = block.distinct;
    judgement.by_row = session->judge->by_row;
    describe_asked(session, &asked);
    fine = fine &&
           (judgement.metrics.elements == 0 || hold_to_limit(session, &shown, &judgement, err)) &&
           note_verdict(session, step, "", &block, &judgement.verdict, &judgement.metrics,
                        session->judge->computed, err);
    *session->words = '\0';
    judge_block_free(&block);
    return fine;
}

/* ---- the plan ---- */

static judge_step *add_step(lnjudge_session *session, judge_step step)
{
    if (session->count == session->room) {
        size_t room = 2 * session->room + 64;
        judge_step *grown = realloc(session->steps, room * sizeof *grown);
        if (!grown)
            return NULL;
        session->steps = grown;
        session->room = room;
    }
    session->steps[session->count] = step;
    return &session->steps[session->count++];
}

static bool plan_hidden(lnjudge_session *session, size_t hidden)
{
    size_t count;
    const input_family *families = input_families(&count);
    bool these = session->question.traits & LNJUDGE_THESE_SIZES;
    bool fine = true;
    for (size_t i = 0; fine && i < count; i++)
        if (input_has_type(families[i].name, session->question.storage, NULL) &&
            input_suits(&families[i], session->kernel.facts.operation))
            fine =
                add_step(session, (judge_step){ask_family, "rows", .hidden = hidden, .index = i});
    if (hidden >= POSITION_HIDDEN)
        fine =
            fine && add_step(session, (judge_step){ask_positions, "positions", .hidden = hidden});
    for (size_t i = 0; fine && these && i < sizeof batches / sizeof *batches; i++)
        fine = add_step(session, (judge_step){ask_batch, "batches", .hidden = hidden, .index = i});
    return fine && add_step(session, (judge_step){ask_calls, "calls", .hidden = hidden});
}

/* The covering array, under the convention of the question alone. */
static bool plan_combinations(lnjudge_session *session)
{
    const lnjudge_question *question = &session->question;
    const combinations_asked asked = {
        .plain = question->convention, .alone = true, .seed = question->seed};
    session->combinations = combinations_make(&asked);
    bool fine =
        session->combinations && covering_run_begin(&session->covering, session->judge,
                                                    &session->kernel, &question->convention);
    for (size_t i = 0; fine && i < combinations_count(session->combinations); i++)
        fine =
            add_step(session, (judge_step){ask_combination,
                                           conformance_check_name(CHECK_COMBINATIONS), .index = i});
    return fine;
}

static bool plan(lnjudge_session *session, error *err)
{
    const size_t entry = session->question.entry;
    bool fine = true;
    for (size_t i = 0; fine && i < session->question.hidden_count; i++)
        fine = plan_hidden(session, session->question.hidden[i]);
    if (!(session->question.traits & LNJUDGE_THESE_SIZES))
        fine = fine && ((entry > 0 && entry <= session->count) || plan_combinations(session));
    if (fine && entry > session->count)
        return fail(err, EXIT_CODE_USAGE, "entry %zu: there are %zu", entry, session->count);
    if (fine && entry > 0) {
        session->done = entry - 1;
        session->count = entry;
    }
    return fine || fail_memory(err, "the plan");
}

static bool take_question(const lnjudge_question *given, lnjudge_session *session, error *err)
{
    static const size_t usual[] = {USUAL_HIDDEN};
    lnjudge_question *question = &session->question;
    if (!given || given->struct_size != sizeof *given || !given->kernel)
        return fail(err, EXIT_CODE_USAGE,
                    "a question with a kernel and struct_size = sizeof(lnjudge_question) was "
                    "expected");
    if ((unsigned)given->accumulator > LN_F16)
        return fail(err, EXIT_CODE_USAGE, "accumulator: LN_F32, LN_F64, LN_BF16 or LN_F16");
    if (given->hidden && given->hidden_count > MOST_SIZES)
        return fail(err, EXIT_CODE_USAGE, "%zu hidden sizes: at most %d", given->hidden_count,
                    MOST_SIZES);
    if (given->traits & ~(unsigned)ALL_TRAITS)
        return fail(err, EXIT_CODE_USAGE, "traits %#x: those of lnjudge_trait were expected",
                    given->traits);
    if (!check_limit(given->max_row_ulp, err))
        return false;
    *question = *given;
    const size_t *hidden = given->hidden ? given->hidden : usual;
    question->hidden_count = given->hidden ? given->hidden_count : 1;
    question->seed = given->seed ? given->seed : 1;
    size_t *copy = malloc((question->hidden_count + 1) * sizeof *copy);
    if (copy)
        memcpy(copy, hidden, question->hidden_count * sizeof *copy);
    question->hidden = copy;
    if (!copy)
        return fail_memory(err, "a question");
    for (size_t i = 0; i < question->hidden_count; i++) {
        const char any = 0;
        ln_problem ignored, problem = {.rows = POSITION_ROWS,
                                       .hidden = copy[i],
                                       .storage = given->storage,
                                       .param = given->param,
                                       .convention = given->convention};
        const unsigned kind = given->convention.operation;
        ln_tensors tensors = {.x = &any};
        for (size_t role = 0; kind < OPERATIONS && role < operations[kind]->count; role++) {
            const tensor_role *own = &operations[kind]->roles[role];
            if (!own->output && role_is_parameter(own) && role_is_needed(own, &given->convention))
                role_set(role, &tensors, &any);
        }
        if (!check_problem(&problem, &tensors, &ignored, err))
            return false;
    }
    return question->hidden_count > 0 ||
           fail(err, EXIT_CODE_USAGE, "at least one hidden size was expected");
}

static bool begin_session(const lnjudge_question *question, lnjudge_session *session, error *err)
{
    if (!take_question(question, session, err))
        return false;
    judge_settings settings = {
        .seed = session->question.seed, .max_row_ulp = INFINITY, .stop = question->stop};
    session->worker = in_process_start(&session->question);
    session->judge = judge_create(in_process_runner(session->worker), &settings);
    session->kernel.facts = (kernel_facts){
        .name = "given",
        .operation = question->convention.operation,
        .storage = question->storage,
        .param = question->param,
        .accumulator = question->accumulator,
        .traits = (question->traits & LNJUDGE_NOT_IN_PLACE ? LN_TRAIT_NOT_IN_PLACE : 0u) |
                  (question->traits & LNJUDGE_NO_RESIDUAL ? LN_TRAIT_NO_RESIDUAL : 0u)};
    if (!session->worker || !session->judge)
        return fail_memory(err, "the judge");
    return plan(session, err);
}

lnjudge_status lnjudge_begin(const lnjudge_question *question, lnjudge_session **session,
                             lnjudge_error *told)
{
    error err = {0};
    if (!check_place(session, "the session", &err))
        return report_error(&err, told);
    *session = calloc(1, sizeof **session);
    if (!*session)
        fail_memory(&err, "a session");
    else if (!begin_session(question, *session, &err)) {
        lnjudge_end(*session, NULL);
        *session = NULL;
    }
    return report_error(&err, told);
}

lnjudge_status lnjudge_step(lnjudge_session *session, size_t *done, size_t *steps,
                            lnjudge_error *told)
{
    error err = {0};
    if (!session || !done || !steps) {
        fail(&err, EXIT_CODE_USAGE, "a session and places for done and steps were expected");
        return report_error(&err, told);
    }
    *steps = session->count;
    if (session->done < session->count) {
        const judge_step *step = &session->steps[session->done++];
        bool fine = step->run(session, step, &err);
        if (fine && in_process_stopped(session->worker))
            fail(&err, EXIT_CODE_INTERRUPTED, "the kernel ended the judgement");
    }
    *done = session->done;
    return report_error(&err, told);
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

/* A size that was asked for and that the kernel does not take was not judged, so it does not pass. */
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
    if (!session && report)
        *report = (lnjudge_report){0};
    if (session && report) {
        bool all = session->done == session->count && session->question.entry == 0;
        *report = session->report;
        for (size_t i = 0; all && i < session->question.hidden_count; i++)
            refuse_declined(report, session->question.hidden[i]);
        choose_worst(report);
    } else if (session) {
        lnjudge_report_free(&session->report);
    }
    if (session) {
        covering_run_end(&session->covering);
        combinations_free(session->combinations);
        judge_destroy(session->judge);
        in_process_stop(session->worker);
        free((size_t *)session->question.hidden);
        free(session->steps);
        free(session);
    }
}

lnjudge_status lnjudge_kernel_judge(const lnjudge_question *question, lnjudge_report *report,
                                    lnjudge_error *told)
{
    error err = {0};
    lnjudge_session *session;
    size_t done = 0, steps = 1;
    if (!check_place(report, "the report", &err))
        return report_error(&err, told);
    *report = (lnjudge_report){0};
    lnjudge_status status = lnjudge_begin(question, &session, told);
    if (status != LNJUDGE_OK)
        return status;
    while (status == LNJUDGE_OK && done < steps)
        status = lnjudge_step(session, &done, &steps, told);
    lnjudge_end(session, status == LNJUDGE_OK ? report : NULL);
    return status;
}
