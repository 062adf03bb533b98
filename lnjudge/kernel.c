/* A kernel that is a function, step by step: the input families at each size of the question, for the figures,
 * and the problems of the covering array. Large tensors, growth and calls at the same time take processes and
 * threads of their own; the report says that they were not asked. */
#include "base/allocate.h"
#include "base/number.h"
#include "conformance/covering_run.h"
#include "conformance/internal.h"
#include "domain/convention.h"
#include "inputs/inputs.h"
#include "internal.h"
#include <math.h>
#include <stdio.h>

enum {
    FAMILY_ROWS = 18,
    FAMILY_ELEMENTS = 18 * 768, /* longer rows: fewer */
    LEAST_ROWS = 9,             /* the kappas of `offset` */
    FAMILIES_MOST = 64,
    USUAL_HIDDEN = 768,
    MOST_SIZES = 1 << 16,
    ALL_TRAITS = LNJUDGE_DENSE | LNJUDGE_NOT_IN_PLACE | LNJUDGE_NO_RESIDUAL | LNJUDGE_THESE_SIZES,
};

/* Rows up to it are held to the limit of the question: a mean rounded to the row's type moves their
 * results by 2 row ULP at most. */
static const double plain_kappa = 2;

struct lnjudge_session {
    lnjudge_question question;
    in_process *worker;
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

/* `words`: of the problem that was asked, "4x257, rows off centre"; "": the block says it. */
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

/* The question's own limit, on rows of which something is known, that lie near zero and are no longer
 * than those that were asked for. */
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

/* Of what is wrong another size may tell why. */
static void ask_family(lnjudge_session *session, const char *input, size_t hidden)
{
    case_judgement judgement;
    judge_family(session, input, hidden, &judgement);
    const bool wrong = judgement.verdict.kind == VERDICT_INACCURATE;
    hold_to_limit(session, &judgement);
    note_verdict(session, input, "", &judgement);
    if (wrong && !(session->question.traits & LNJUDGE_THESE_SIZES))
        judge_family(session, input, 2 * hidden, &judgement);
}

/* What is asked, but for what this process does not do. */
static void describe_asked(const lnjudge_session *session, const combination *asked,
                           char words[256])
{
    combination told = *asked;
    char factors[256];
    for (size_t f = 0; f < told.table->count; f++) {
        factor_kind kind = told.table->factors[f].kind;
        if (kind == FACTOR_THREADS || (kind == FACTOR_CALLS && told.levels[f] != CALLS_HALVES) ||
            (kind == FACTOR_STRIDE && (session->question.traits & LNJUDGE_DENSE)))
            told.levels[f] = 0;
    }
    ln_problem problem =
        combination_problem(asked, session->question.storage, session->question.param);
    combination_describe(&told, UINT64_MAX, factors, sizeof factors);
    snprintf(words, 256, "%zux%zu%s%.200s", problem.rows, problem.hidden, *factors ? ", " : "",
             factors);
}

/* A problem of the covering array; and after the last one what all of them show. */
static void ask_problem(lnjudge_session *session, size_t index)
{
    combination asked = combinations_at(session->combinations, index);
    case_judgement judgement, all = {.verdict.kind = VERDICT_RIGHT};
    char words[256];
    combination_without(&asked, session->kernel.facts.traits);
    combination_block(session->judge, &asked, session->question.storage, session->question.param,
                      &session->block);
    covering_run_ask(&session->covering, &asked, &session->block, &judgement);
    describe_asked(session, &asked, words);
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
    for (size_t i = 0; i < question->hidden_count; i++) {
        const char any = 0;
        const ln_problem problem = {.rows = FAMILY_ROWS,
                                    .hidden = question->hidden[i],
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
        check_problem(&problem, &tensors);
    }
}

static void begin(const lnjudge_question *given, lnjudge_session *session)
{
    const lnjudge_question *question = &session->question;
    size_t families;
    take_question(given, session);
    const judge_settings settings = {
        .seed = question->seed, .max_row_ulp = INFINITY, .stop = question->stop};
    session->worker = in_process_start(question);
    session->judge = judge_create(in_process_runner(session->worker), &settings);
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
                             lnjudge_error *told)
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
    return report_error(&caught.error, told);
}

lnjudge_status lnjudge_step(lnjudge_session *session, size_t *done, size_t *steps,
                            lnjudge_error *told)
{
    CATCH(told);
    if (!session || !done || !steps)
        die(EXIT_CODE_USAGE, "a session and places for done and steps were expected");
    *steps = session->count;
    if (session->done < session->count) {
        const size_t index = session->done++, hidden = index / session->family_count;
        if (hidden < session->question.hidden_count)
            ask_family(session, session->families[index % session->family_count],
                       session->question.hidden[hidden]);
        else
            ask_problem(session, index - session->family_count * session->question.hidden_count);
        session->judge->placed = NULL;
        judge_block_free(&session->block);
        if (in_process_stopped(session->worker))
            die(EXIT_CODE_INTERRUPTED, "the kernel ended the judgement");
    }
    *done = session->done;
    return report_error(&caught.error, told);
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
    in_process_stop(session->worker);
    free(session);
}

lnjudge_status lnjudge_kernel_judge(const lnjudge_question *question, lnjudge_report *report,
                                    lnjudge_error *told)
{
    lnjudge_session *session;
    size_t done = 0, steps = 1;
    CATCH(told);
    check_place(report, "the report");
    *report = (lnjudge_report){0};
    lnjudge_status status = lnjudge_begin(question, &session, told);
    if (status != LNJUDGE_OK)
        return status;
    while (status == LNJUDGE_OK && done < steps)
        status = lnjudge_step(session, &done, &steps, told);
    lnjudge_end(session, status == LNJUDGE_OK ? report : NULL);
    return status;
}
