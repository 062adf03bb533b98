/* Runs a kernel on every problem of the covering array and judges each output. */
#include "base/program.h"
#include "conformance/internal.h"
#include "domain/kernel.h"
#include "judge/judging.h"
#include <math.h>

/* ---- one problem ---- */

/* Checks that a requested statistic is written for all rows of all calls or never, and that it is NaN for a row with a
 * NaN; not for a row of one element, since its variance is 0 whatever the element is. */
static void find_statistics(covering_run *run, const judge_block *block, unsigned requested,
                            row_findings *findings)
{
    const operation *what = operations[block->operation];
    row_judge *judge = run->judge;
    for (size_t i = 0; i < what->count; i++) {
        const tensor_role *role = &what->roles[i];
        size_t given = 0, row = 0;
        if (!role_is_statistic(role) || !(requested & ROLE_BIT(i)))
            continue;
        for (; row < block->rows; row++)
            given += judge_is_given(&judge->rounded[i][row]);
        run->given |= given > 0 ? ROLE_BIT(i) : 0;
        run->left_out |= given < block->rows ? ROLE_BIT(i) : 0;
        if (run->given & run->left_out & ROLE_BIT(i)) {
            judge_find(findings, VERDICT_INACCURATE,
                       given > 0 && given < block->rows ? "%s is given for some rows only"
                                                        : "%s is given in some calls only",
                       role->name);
            continue;
        }
        for (row = 0; given > 0 && row < block->rows; row++) {
            const double *value = &judge->given[i][row];
            if (isnan(*value) || isfinite(block->results[row].facts.max_abs))
                continue;
            bool has_nan = false;
            judge_load_row(judge, block, row);
            for (size_t column = 0; column < block->hidden; column++)
                has_nan |= isnan(judge->values[column]);
            if (block->hidden > 1 && has_nan)
                judge_find(findings, VERDICT_WRONG_CLASS,
                           "row %zu: %s is %.9g, but the row has a NaN", row, role->name, *value);
        }
    }
}

/* Runs a problem once and judges the output; block NULL: makes the rows. */
static void run_once(covering_run *run, const combination *tested, const judge_block *block,
                     case_judgement *judgement)
{
    row_judge *judge = run->judge;
    const kernel_facts *facts = &run->kernel->facts;
    const operation *what = operations[facts->operation];
    row_findings findings = {.verdict.kind = VERDICT_PASS};
    judge_block own = {0};
    if (!block) {
        combination_block(judge, tested, facts->storage, facts->param, &own);
        block = &own;
    }
    const judge_block head = judge_head(block);
    worker_message message = message_for(MESSAGE_JUDGE, run->kernel);
    message.layout = combination_layout(tested, block->storage, block->param);
    message.seed = combination_draw(tested, DRAW_CALL_SEED);
    /* The library chooses a kernel by the cache that holds the rows, so its calls have a random one. */
    if (call_class(facts, &message.accuracy))
        message.place = (call_place)(combination_draw(tested, DRAW_CALL_PLACE) % CALL_PLACES);
    *judgement = (case_judgement){.bound_row_ulp = NAN, .verdict.kind = VERDICT_PASS};
    judge_reserve(judge, block);
    if (judge_bounds(judge, block, run->kernel, &run->has_bound, &judgement->verdict) &&
        judge_run(judge, block, run->kernel, &message, judge->computed, &judgement->verdict)) {
        const judged_kind kind = judged_kind_of(run->kernel, run->has_bound);
        bool statistics = false;
        for (size_t i = 0; i < what->count; i++)
            statistics |=
                role_is_statistic(&what->roles[i]) && (message.layout.outputs & ROLE_BIT(i));
        judge_rounding(&head, judge->computed, &findings);
        judge_rows(judge, block, judge->computed, &kind, &findings);
        for (size_t row = 0; statistics && row < block->rows; row++)
            judge_statistics(judge, block, row, &kind, &findings);
        find_statistics(run, block, message.layout.outputs, &findings);
        judge_measure(judge, &head, judge->computed, run->has_bound, false, judgement);
        judge_conclude(judge, &head, &kind, &findings, judgement);
        judgement->output_hash = hash_bytes(HASH_START, judge->computed, judge_bytes(block));
        for (size_t row = 0; combination_is_even(tested) && row < head.rows / 2; row++) {
            metrics_row judged = judge_metrics_row(&head, row);
            judge_load_row(judge, &head, row);
            position_add(&run->errors, &judged, judge->values,
                         judge_row_of(&head, judge->computed, row));
        }
    }
    judge_block_free(&own);
}

static bool supports(covering_run *run, const ln_problem *problem)
{
    worker_message message = message_for(MESSAGE_SUPPORTS, run->kernel);
    worker_reply reply;
    case_verdict ignored;
    message.problem = *problem;
    return judge_ask(run->judge, &message, 0, &reply, &ignored);
}

/* Changes a problem that the kernel does not support: to a convention that it supports, the run's or a preset; or to
 * one thread that calls once. False: it supports none of these. */
static bool change_to_supported(covering_run *run, combination *tested)
{
    const operation *what = operations[tested->table->operation];
    ln_problem problem =
        combination_problem(tested, run->kernel->facts.storage, run->kernel->facts.param);
    size_t threads = factor_find(tested->table, FACTOR_THREADS, 0);
    bool own = supports(run, &problem);
    for (size_t i = 0; !own && !tested->instead && i <= what->preset_count && !interrupted(); i++) {
        size_t turn = (tested->number + i) % (what->preset_count + 1);
        const ln_convention *tried = turn ? &what->presets[turn - 1].convention : run->first;
        problem.convention = *tried;
        if (supports(run, &problem)) {
            tested->instead = tried;
            return true;
        }
    }
    if (!own || tested->levels[threads] == 0)
        return false;
    tested->levels[threads] = tested->levels[factor_find(tested->table, FACTOR_CALLS, 0)] = 0;
    return true;
}

void covering_run_note(covering_run *run, size_t hidden, const case_judgement *judgement)
{
    mistakes_seen *seen = &run->mistakes;
    if (!verdict_is_fault(judgement->verdict.kind))
        return;
    seen->wrong++;
    for (size_t i = 0; i < sizeof seen->fits / sizeof *seen->fits; i++) {
        seen->fits[i] += judgement->mistakes.fit >> i & 1;
        if (judgement->mistakes.far >> i & 1) {
            seen->certain |= (uint64_t)(seen->differs_at[i] && seen->differs_at[i] != hidden) << i;
            seen->differs_at[i] = hidden;
        }
    }
}

bool covering_run_mistake(const covering_run *run, const ln_convention *convention,
                          char why[ROW_FAULT_LENGTH])
{
    const mistakes_seen *seen = &run->mistakes;
    uint64_t named = 0;
    /* The mistake need not explain one wrong problem in 16: if results overflow or underflow in the kernel's type,
     * they differ from the formula. */
    for (size_t i = 0; i < sizeof seen->fits / sizeof *seen->fits; i++)
        named |= (uint64_t)(seen->fits[i] >= seen->wrong - seen->wrong / 16) << i;
    named &= seen->certain;
    return named && norm_say_mistake(convention, named, why);
}

void covering_run_problem(covering_run *run, combination *tested, const judge_block *block,
                          case_judgement *judgement)
{
    const bool less = combination_without(tested, run->kernel->facts.traits);
    run_once(run, tested, less ? NULL : block, judgement);
    while (judgement->verdict.kind == VERDICT_UNSUPPORTED && change_to_supported(run, tested))
        run_once(run, tested, NULL, judgement);
    run->unsupported += judgement->verdict.kind == VERDICT_UNSUPPORTED;
    run->judged += verdict_is_judged(judgement->verdict.kind);
    covering_run_note(run, combination_problem(tested, LN_F32, LN_F32).hidden, judgement);
}

/* ---- all problems ---- */

/* For type-limited problems, the verdict has their number, the settings that they share, and the first one's detail. */
void covering_run_conclude(const covering_run *run, case_verdict *verdict)
{
    char shared[200];
    position_finding found;
    double outward;
    if (!verdict_is_right(verdict->kind))
        return;
    if (position_truncates(&run->errors, &outward)) {
        verdict->kind = VERDICT_INACCURATE;
        verdict_say(verdict, "not rounded to nearest: magnitudes are off by %.2f ULP on average",
                    outward);
    } else if (position_differs(&run->errors, &found)) {
        verdict->kind = VERDICT_INACCURATE;
        verdict_say(verdict, "%s: errors differ from the others' by %.3g row ULP", found.where,
                    found.difference);
    } else if (run->limits.count > 0) {
        ln_problem problem = combination_problem(&run->limit_of, run->kernel->facts.storage,
                                                 run->kernel->facts.param);
        combination_describe(&run->limit_of, run->limits.factors, shared, sizeof shared);
        verdict->kind = run->limit.kind;
        verdict_say(verdict, "%zu of %zu problems%s%s; %zux%zu: %s", run->limits.count, run->judged,
                    *shared ? ", with " : "", shared, problem.rows, problem.hidden,
                    run->limit.detail);
    } else if (run->unsupported > 0 && run->judged > 0) {
        verdict_say(verdict, "%zu of %zu problems are unsupported", run->unsupported,
                    run->unsupported + run->judged);
    }
}

/* All faults, and the problem and verdict of the most informative one. */
typedef struct fault_found {
    faults_seen seen;
    combination failing;
    case_verdict verdict;
} fault_found;

/* Adds a fault. Keeps the most informative one, and of equally informative ones that with the fewest factors set. */
static void note_fault(fault_found *held, const combination *failing, const case_verdict *verdict,
                       size_t block)
{
    const uint64_t factors = combination_factors(failing);
    int telling = verdict_telling(verdict), best = verdict_telling(&held->verdict);
    bool first = held->seen.count++ == 0, same = verdict->kind == held->verdict.kind;
    bool plainer = !first && __builtin_popcountll(factors) <
                                 __builtin_popcountll(combination_factors(&held->failing));
    if (!first && same)
        held->seen.factors &= factors;
    if (!first && (telling < best || (telling == best && !plainer)))
        return;
    if (first || !same)
        held->seen.factors = factors;
    held->failing = *failing;
    held->verdict = *verdict;
    held->seen.block = block;
}

/* Adds a problem's judgement to that of all. */
static void add_up(covering_run *run, const combination *tested, const case_judgement *one,
                   case_judgement *all)
{
    const case_verdict *verdict = &one->verdict;
    if (verdict->kind == VERDICT_UNSUPPORTED) {
        if (run->judged == 0)
            all->verdict = *verdict;
        return;
    }
    judge_add_figures(all, one);
    if (verdict_is_limit(verdict->kind)) {
        run->limit_of = run->limits.count ? run->limit_of : *tested;
        run->limit = run->limits.count ? run->limit : *verdict;
        run->limits.factors =
            (run->limits.count++ ? run->limits.factors : UINT64_MAX) & combination_factors(tested);
    }
    if (verdict_is_limit(verdict->kind) || verdict_is_right(verdict->kind)) {
        bool bare = verdict->kind != VERDICT_PASS || all->verdict.kind == VERDICT_PASS_NO_BOUND;
        all->verdict = (case_verdict){.kind = bare ? VERDICT_PASS_NO_BOUND : VERDICT_PASS};
    }
}

/* Ends at the first missing result, crash, overrun or time-out. It also ends at the third fault, unless the most
 * informative one is a race: it takes several races to see which settings they share. conformance_minimize() names the
 * settings of the most informative fault, and only for the smallest problem. */
void run_combinations(row_judge *judge, const conformance_blocks *blocks,
                      const kernel_entry *kernel, case_judgement *judgement)
{
    enum { FAULTS_MOST = 3 };
    covering_run run = {.judge = judge, .kernel = kernel, .first = &blocks->task.convention};
    fault_found found = {0};
    case_judgement one = {0};
    bool enough = false;
    for (size_t i = 0; !enough && i < blocks->count && !interrupted(); i++) {
        const verdict_kind *kind = &one.verdict.kind;
        combination tested = blocks->blocks[i].of;
        covering_run_problem(&run, &tested, &blocks->blocks[i].block, &one);
        if (verdict_is_fault(*kind))
            note_fault(&found, &tested, &one.verdict, i);
        add_up(&run, &tested, &one, judgement);
        enough =
            *kind == VERDICT_CRASHED || *kind == VERDICT_OVERRUN || *kind == VERDICT_TIMEOUT ||
            *kind == VERDICT_MISSING ||
            (found.seen.count >= FAULTS_MOST && found.verdict.kind != VERDICT_NONDETERMINISTIC);
    }
    if (found.seen.count > 0) {
        const int factors = __builtin_popcountll(combination_factors(&found.failing));
        ln_problem problem =
            combination_problem(&found.failing, kernel->facts.storage, kernel->facts.param);
        judgement->verdict = found.verdict;
        verdict_say(&judgement->verdict, "%zux%zu with %d setting%s other than the default: %s",
                    problem.rows, problem.hidden, factors, factors == 1 ? "" : "s",
                    found.verdict.detail);
        found.seen.mistakes = run.mistakes;
        judgement->faults = found.seen;
    } else if (one.verdict.kind == VERDICT_MISSING) {
        judgement->verdict = one.verdict;
    } else {
        covering_run_conclude(&run, &judgement->verdict);
    }
}

void conformance_minimize(row_judge *judge, const conformance_blocks *blocks,
                          const kernel_entry *kernel, case_judgement *judgement)
{
    const faults_seen *seen = &judgement->faults;
    if (seen->count == 0 || kernel->set_at_load[0]) /* the change at load may be the whole cause */
        return;
    covering_run run = {.judge = judge,
                        .kernel = kernel,
                        .first = &blocks->task.convention,
                        .mistakes = seen->mistakes};
    minimize_fault(&run, &blocks->blocks[seen->block].of, seen, &judgement->verdict);
}
