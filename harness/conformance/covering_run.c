#include "base/hash.h"
#include "base/interrupt.h"
#include "base/number.h"
#include "conformance/covering_run.h"
#include "conformance/batch.h"
#include "conformance/internal.h"
#include <math.h>
#include <string.h>

/* ---- one problem ---- */

/* Whether the row that was loaded has a NaN in it. */
static bool has_nan(const row_judge *judge, size_t hidden)
{
    bool found = false;
    for (size_t i = 0; i < hidden; i++)
        found |= isnan(judge->values[i]);
    return found;
}

/* Every number a row that is asked for is given in all rows, or by the kernel never; of a row with a NaN
 * it is NaN. */
static void find_statistics(covering_run *of, const judge_block *block, unsigned asked,
                            row_findings *findings)
{
    const operation *what = operations[block->operation];
    row_judge *judge = of->judge;
    for (size_t i = 0; i < what->count; i++) {
        const tensor_role *role = &what->roles[i];
        size_t given = 0, row = 0;
        if (!role_is_statistic(role) || !(asked & ROLE_BIT(i)))
            continue;
        for (; row < block->rows; row++)
            given += judge_is_given(&judge->rounded[i][row]);
        of->given |= given > 0 ? ROLE_BIT(i) : 0;
        of->left_out |= given < block->rows ? ROLE_BIT(i) : 0;
        if (of->given & of->left_out & ROLE_BIT(i)) {
            judge_find(findings, VERDICT_INACCURATE,
                       given > 0 && given < block->rows ? "%s is given for some rows alone"
                                                        : "%s is given in some calls alone",
                       role->name);
            continue;
        }
        for (row = 0; given > 0 && row < block->rows; row++) {
            const double *value = &judge->given[i][row];
            if (isnan(*value) || isfinite(block->results[row].facts.max_abs) ||
                !judge_load_row(judge, block, row) || !has_nan(judge, block->hidden))
                continue;
            judge_find(findings, VERDICT_WRONG_CLASS, "row %zu: %s is %.9g, and the row has a NaN",
                       row, role->name, *value);
        }
    }
}

/* Whether the rows that come again came out as those before, y and what is given beside it. */
static bool comes_again(const row_judge *judge, const judge_block *block)
{
    const size_t distinct = block->distinct ? block->distinct : block->rows;
    const size_t bytes = distinct * block->hidden * dtype_size(block->storage);
    bool same = true;
    for (size_t row = distinct; same && row < block->rows; row += distinct) {
        size_t left = (block->rows - row) * block->hidden * dtype_size(block->storage);
        same = memcmp(judge->computed, judge_row_of(block, judge->computed, row),
                      left < bytes ? left : bytes) == 0;
    }
    return same;
}

static bool add_positions(covering_run *of, const combination *asked, const judge_block *block,
                          error *err)
{
    bool fine = true;
    for (size_t row = 0; fine && combination_is_even(asked) && row < block->rows / 2; row++) {
        metrics_row judged = judge_metrics_row(block, row);
        fine = judge_load_row(of->judge, block, row) &&
               position_add(of->errors, &judged, of->judge->values,
                            judge_row_of(block, of->judge->computed, row));
    }
    return fine || fail_memory(err, "errors by position");
}

static bool judge_output_of(covering_run *of, const combination *asked, const judge_block *block,
                            unsigned outputs, case_judgement *judgement, error *err)
{
    row_judge *judge = of->judge;
    row_findings findings = {.verdict = judgement->verdict};
    const judged_kind kind = judged_kind_of(of->kernel, of->has_bound);
    judge_block head = *block; /* without those that come again */
    unsigned statistics = 0;
    head.rows = block->distinct ? block->distinct : block->rows;
    for (size_t i = 0; i < operations[block->operation]->count; i++)
        statistics |= role_is_statistic(&operations[block->operation]->roles[i]) ? ROLE_BIT(i) : 0;
    const char *otherwise = judge_rounded_otherwise(&head, judge->computed);
    if (otherwise)
        judge_find(&findings, VERDICT_INACCURATE, SAYS_MISTAKE "%s", otherwise);
    judge_rows(judge, comes_again(judge, block) ? &head : block, judge->computed, &kind, &findings);
    for (size_t row = 0; (outputs & statistics) && row < block->rows; row++)
        judge_statistics(judge, block, row, &kind, &findings);
    find_statistics(of, block, outputs, &findings);
    if (findings.no_memory)
        return fail_memory(err, "the limits of a row");
    if (!judge_measure(judge, &head, judge->computed, of->has_bound, false, judgement, err))
        return false;
    judge_conclude(judge, &head, of->has_bound, &findings, judgement);
    judgement->output_hash = hash_bytes(HASH_START, judge->computed, judge_bytes(block));
    return add_positions(of, asked, &head, err);
}

static work_order order_of(const covering_run *of, const combination *asked,
                           const judge_block *block)
{
    work_order order = worker_order(ORDER_JUDGE, of->kernel);
    order.layout = combination_layout(asked, block->storage, block->param);
    order.seed = combination_draw(asked, 0);
    return order;
}

/* One order. */
static bool ask_block(covering_run *of, const combination *asked, const judge_block *block,
                      case_judgement *judgement, error *err)
{
    row_judge *judge = of->judge;
    work_order order = order_of(of, asked, block);
    *judgement = (case_judgement){.bound_row_ulp = NAN, .verdict.kind = VERDICT_RIGHT};
    err->code = EXIT_CODE_FINE;
    if (!judge_reserve(judge, block, err))
        return false;
    if (!judge_bounds(judge, block, of->kernel, &of->has_bound, &judgement->verdict, err) ||
        !judge_run_as(judge, block, of->kernel, &order, judge->computed, &judgement->verdict, err))
        return err->code == EXIT_CODE_FINE;
    return judge_output_of(of, asked, block, order.layout.outputs, judgement, err);
}

/* The same on rows of its own. */
static bool ask_anew(covering_run *of, const combination *asked, case_judgement *judgement,
                     error *err)
{
    judge_block block;
    if (!combination_block(of->judge, asked, of->kernel->facts.storage, of->kernel->facts.param,
                           &block, err))
        return false;
    of->judge->placed = NULL;
    bool fine = ask_block(of, asked, &block, judgement, err);
    of->judge->placed = NULL;
    judge_block_free(&block);
    return fine;
}

static bool takes(covering_run *of, const ln_problem *problem, error *err)
{
    work_order order = worker_order(ORDER_SUPPORTS, of->kernel);
    worker_reply reply;
    order.problem = *problem;
    if (of->judge->runner->ask(of->judge->runner, &order, of->judge->settings.deadline_seconds,
                               &reply))
        return reply.value == 0;
    reply_ends_run(&reply, err);
    return false;
}

/* What is left of a problem that the kernel declines: the same under a convention that it takes, that of
 * the run or a preset, in turn; or with one thread that calls once. False: nothing. */
static bool take_less(covering_run *of, combination *asked, error *err)
{
    const operation *what = operations[asked->table->operation];
    ln_problem problem =
        combination_problem(asked, of->kernel->facts.storage, of->kernel->facts.param);
    size_t threads = factor_find(asked->table, FACTOR_THREADS, 0);
    bool own = takes(of, &problem, err);
    for (size_t i = 0; !own && !asked->instead && i <= what->preset_count; i++) {
        size_t turn = (asked->number + i) % (what->preset_count + 1);
        const ln_convention *tried = turn ? &what->presets[turn - 1].convention : of->first;
        problem.convention = *tried;
        if (err->code != EXIT_CODE_FINE)
            return false;
        if (takes(of, &problem, err)) {
            asked->instead = tried;
            return true;
        }
    }
    if (!own || asked->levels[threads] == 0)
        return false;
    asked->levels[threads] = asked->levels[factor_find(asked->table, FACTOR_CALLS, 0)] = 0;
    return true;
}

bool covering_run_ask(covering_run *of, combination *asked, const judge_block *block,
                      case_judgement *judgement, error *err)
{
    bool fine = combination_without(asked, of->kernel->facts.traits) || !block
                    ? ask_anew(of, asked, judgement, err)
                    : ask_block(of, asked, block, judgement, err);
    while (fine && judgement->verdict.kind == VERDICT_DECLINED && take_less(of, asked, err))
        fine = ask_anew(of, asked, judgement, err);
    fine = fine && err->code == EXIT_CODE_FINE;
    of->declined += judgement->verdict.kind == VERDICT_DECLINED;
    of->judged += verdict_is_judged(judgement->verdict.kind);
    return fine;
}

/* ---- all of them ---- */

static void judge_positions(const position_errors *errors, case_verdict *verdict)
{
    position_finding found;
    double outward;
    if (position_truncates(errors, &outward)) {
        verdict->kind = VERDICT_INACCURATE;
        number_print(verdict->detail, sizeof verdict->detail,
                     "not rounded to nearest: errors away from zero are %.2f ULP on average",
                     outward);
    } else if (position_differs(errors, &found)) {
        verdict->kind = VERDICT_INACCURATE;
        number_print(verdict->detail, sizeof verdict->detail,
                     "%s: errors differ from the others' by %.3g row ULP", found.where,
                     found.difference);
    }
}

/* Into a verdict that is right: what all problems together show, and what else there is to say. */
static void covering_run_conclude(const covering_run *of, case_verdict *verdict)
{
    if (verdict_is_right(verdict->kind))
        judge_positions(of->errors, verdict);
    if (!verdict_is_right(verdict->kind))
        return;
    if (of->declined > 0 && of->judged > 0)
        verdict_say(verdict, "declined %zu of %zu problems", of->declined,
                    of->declined + of->judged);
}

bool covering_run_begin(covering_run *of, row_judge *judge, const kernel_entry *kernel,
                        const ln_convention *first)
{
    *of = (covering_run){
        .judge = judge, .kernel = kernel, .first = first, .errors = position_create()};
    return of->errors != NULL;
}

void covering_run_end(covering_run *of)
{
    if (of->judge)
        of->judge->placed = NULL;
    position_destroy(of->errors);
}

/* Those that were wrong, and the most telling of them. */
typedef struct fault_found {
    faults_seen seen;
    combination asked;
    case_verdict verdict;
} fault_found;

/* The most telling stays; of equals the plainest. */
static void note_fault(fault_found *held, const combination *asked, const case_verdict *verdict,
                       size_t block)
{
    const uint64_t factors = combination_factors(asked);
    int tells = verdict_telling(verdict), told = verdict_telling(&held->verdict);
    bool first = held->seen.count++ == 0, same = verdict->kind == held->verdict.kind;
    bool plainer = !first && __builtin_popcountll(factors) <
                                 __builtin_popcountll(combination_factors(&held->asked));
    if (!first && same)
        held->seen.factors &= factors;
    if (!first && (tells < told || (tells == told && !plainer)))
        return;
    if (first || !same)
        held->seen.factors = factors;
    held->asked = *asked;
    held->verdict = *verdict;
    held->seen.block = block;
}

/* One problem's judgement into that of all. */
static void add_up(covering_run *of, const combination *asked, const case_judgement *one,
                   case_judgement *all)
{
    const case_verdict *verdict = &one->verdict;
    if (verdict->kind == VERDICT_DECLINED) {
        if (of->judged == 0)
            all->verdict = *verdict;
        return;
    }
    bool known = one->metrics.elements > 0 && !isnan(one->metrics.row_ulp_max);
    if (known && !(one->metrics.row_ulp_max <= all->metrics.row_ulp_max))
        all->metrics = one->metrics;
    if (!(one->bound_row_ulp <= all->bound_row_ulp))
        all->bound_row_ulp = one->bound_row_ulp;
    all->output_hash = hash_bytes(all->output_hash, &one->output_hash, sizeof one->output_hash);
    if (verdict_is_limit(verdict->kind)) {
        of->limit_of = of->limits.count ? of->limit_of : *asked;
        of->limit = of->limits.count ? of->limit : *verdict;
        of->limits.factors =
            (of->limits.count++ ? of->limits.factors : UINT64_MAX) & combination_factors(asked);
    }
    if (verdict_is_limit(verdict->kind) || verdict_is_right(verdict->kind)) {
        bool bare = verdict->kind != VERDICT_RIGHT || all->verdict.kind == VERDICT_RIGHT_NO_BOUND;
        all->verdict = (case_verdict){.kind = bare ? VERDICT_RIGHT_NO_BOUND : VERDICT_RIGHT};
    }
}

/* Each costs another process, or as long as the deadline. */
static bool is_dear(verdict_kind kind)
{
    return kind == VERDICT_CRASHED || kind == VERDICT_OVERRUN || kind == VERDICT_TIMEOUT ||
           kind == VERDICT_LOST;
}

/* What the factors are is said of the least problem alone (conformance_minimize()). */
static void name_problem(const covering_run *of, fault_found *found)
{
    const int factors = __builtin_popcountll(combination_factors(&found->asked));
    ln_problem problem =
        combination_problem(&found->asked, of->kernel->facts.storage, of->kernel->facts.param);
    verdict_say(&found->verdict, "%zux%zu with %d factor%s out of the ordinary: %s", problem.rows,
                problem.hidden, factors, factors == 1 ? "" : "s", found->verdict.detail);
}

/* A limit is no fault and not right either: how many there are, what they share, and the first. */
static void say_limits(const covering_run *of, case_verdict *verdict)
{
    char words[200];
    if (of->limits.count == 0 || !verdict_is_right(verdict->kind))
        return;
    ln_problem problem =
        combination_problem(&of->limit_of, of->kernel->facts.storage, of->kernel->facts.param);
    combination_describe(&of->limit_of, of->limits.factors, words, sizeof words);
    verdict->kind = of->limit.kind;
    verdict_say(verdict, "%zu of %zu problems%s%s; %zux%zu: %s", of->limits.count, of->judged,
                *words ? ", with " : "", words, problem.rows, problem.hidden, of->limit.detail);
}

/* Whether enough was seen: of races all that are met, since it takes several to see what they share. */
static bool is_enough(const fault_found *found, const case_verdict *last)
{
    enum { FAULTS_MOST = 3 };
    return is_dear(last->kind) ||
           (found->seen.count >= FAULTS_MOST && found->verdict.kind != VERDICT_NONDETERMINISTIC);
}

/* Problems from the i-th on, as many as go into one message: those that the kernel is asked as they
 * are. */
static bool ask_ahead(covering_run *of, const conformance_blocks *blocks, size_t i, error *err)
{
    enum { ORDERS = 3 }; /* of a problem */
    row_judge *judge = of->judge;
    if (batch_end(judge) > 0)
        return true;
    batch_begin(judge);
    for (bool fits = true; fits && i < blocks->count && batch_has_room(judge, ORDERS); i++) {
        combination asked = blocks->of[i];
        work_order order = order_of(of, &asked, &blocks->blocks[i]);
        fits = !combination_without(&asked, of->kernel->facts.traits);
        if (fits && (!batch_add_bounds(judge, &blocks->blocks[i], of->kernel, err) ||
                     !batch_add(judge, &blocks->blocks[i], &order, err)))
            return false;
    }
    batch_send(judge);
    return true;
}

bool examine_combinations(row_judge *judge, const conformance_task *task,
                          const conformance_blocks *blocks, const kernel_entry *kernel,
                          case_judgement *judgement, error *err)
{
    covering_run of;
    fault_found found = {0};
    case_judgement one = {0};
    bool fine = covering_run_begin(&of, judge, kernel, &task->convention) ||
                fail_memory(err, "errors by position");
    for (size_t i = 0; fine && !is_enough(&found, &one.verdict) && i < blocks->count; i++) {
        combination asked = blocks->of[i];
        fine = (!interrupted() || fail(err, EXIT_CODE_INTERRUPTED, "interrupted")) &&
               ask_ahead(&of, blocks, i, err) &&
               covering_run_ask(&of, &asked, &blocks->blocks[i], &one, err);
        if (fine && verdict_is_fault(one.verdict.kind))
            note_fault(&found, &asked, &one.verdict, i);
        if (fine)
            add_up(&of, &asked, &one, judgement);
    }
    if (fine && found.seen.count > 0) {
        name_problem(&of, &found);
        judgement->verdict = found.verdict;
        judgement->faults = found.seen;
    } else if (fine && one.verdict.kind == VERDICT_LOST) {
        judgement->verdict = one.verdict;
    } else if (fine) {
        covering_run_conclude(&of, &judgement->verdict);
        say_limits(&of, &judgement->verdict);
    }
    covering_run_end(&of);
    return fine;
}

bool conformance_minimize(row_judge *judge, const conformance_task *task,
                          const conformance_blocks *blocks, const kernel_entry *kernel,
                          case_judgement *judgement, error *err)
{
    covering_run of;
    if (judgement->faults.count == 0 ||
        kernel->set_at_load[0]) /* what loading it changed may be all there is to it */
        return true;
    bool fine = (covering_run_begin(&of, judge, kernel, &task->convention) ||
                 fail_memory(err, "errors by position")) &&
                minimize_fault(&of, &blocks->of[judgement->faults.block], &judgement->faults,
                               &judgement->verdict, err);
    covering_run_end(&of);
    return fine;
}
