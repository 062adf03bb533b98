/* One call of a kernel: writes its inputs into the worker's memory and reads its outputs; and judges one block of rows,
 * for the figures of the table. */
#include "base/arena.h"
#include "base/die.h"
#include "base/hash.h"
#include "base/text.h"
#include "conformance/internal.h"
#include "domain/operation.h"
#include "domain/kernel.h"
#include "exact/scale.h"
#include "metrics/storage.h"
#include <math.h>
#include <stdio.h>

/* ---- messages ---- */

/* Returns the next offset, a multiple of 64; -1 for an absent tensor. */
static off_t take_offset(off_t *end, bool present, size_t bytes)
{
    off_t at = *end;
    if (!present)
        return -1;
    *end += (off_t)((bytes + 63) / 64 * 64);
    return at;
}

/* A call has an output if the layout wants it and the inputs that it depends on are present. Tables are poisoned, so
 * that the output of an earlier kernel cannot be taken for this one's. */
void judge_place(row_judge *judge, const judge_block *block, worker_message *message)
{
    const operation *what = operations[block->operation];
    role_extent extents[ROLES_MOST];
    unsigned there = 0;
    off_t end = 0;
    message->operation = block->operation;
    message->problem = judge_block_call(block).problem;
    for (size_t i = 0; i < ROLES_MOST; i++)
        there |= block->inputs[i] ? ROLE_BIT(i) : 0;
    for (size_t i = 0; i < what->count; i++) { /* room for any accumulator */
        const tensor_role *role = &what->roles[i];
        const bool left_out = message->kind == MESSAGE_JUDGE && i != what->result &&
                              !(message->layout.outputs & ROLE_BIT(i));
        const bool has =
            role->output ? (role->with & ~there) == 0 && !left_out : (there & ROLE_BIT(i)) != 0;
        extents[i] = role_extent_of(role, &message->problem, LN_F64);
        message->at.tensors[i] = take_offset(&end, has, extent_bytes(&extents[i]));
    }
    message->at.facts = take_offset(&end, true, block->rows * sizeof(ln_row_facts));
    message->at.bounds = take_offset(&end, true, block->rows * sizeof(ln_bound));
    judge->runner->reserve(judge->runner, (size_t)end);
    for (size_t i = 0; i < what->count; i++) {
        char *at = judge_memory(judge, message->at.tensors[i]);
        if (at && !what->roles[i].output)
            memcpy(at, block->inputs[i], extent_bytes(&extents[i]));
        else if (at && what->roles[i].shape == SHAPE_TABLE)
            memset(at, POISON, extent_bytes(&extents[i]));
    }
    ln_row_facts *facts = (void *)judge_memory(judge, message->at.facts);
    for (size_t row = 0; block->results && row < block->rows; row++)
        facts[row] = block->results[row].facts;
}

bool judge_ask(row_judge *judge, const worker_message *message, double more_seconds,
               worker_reply *reply, case_verdict *verdict)
{
    judge->runner->ask(judge->runner, message, judge->settings.deadline_seconds + more_seconds,
                       reply);
    if (reply->kind != REPLY_FAILED)
        return true;
    reply_was_interrupted(reply);
    *verdict = (case_verdict){.kind = reply->verdict};
    verdict_say(verdict, "%s", reply->text);
    return false;
}

/* ---- outputs besides y ---- */

/* Reads a statistic of the kernel's accumulator type into `given`, and rounded to f32 (except for f64 rows) into
 * `rounded`. Values that were not written, or not requested, have all bits set. */
static void read_statistics(const char *values, const judge_block *block,
                            const kernel_entry *kernel, double *given, double *rounded)
{
    ln_type type = kernel->facts.accumulator;
    size_t size = dtype_size(type);
    memset(given, 0xff, block->rows * sizeof *given);
    memset(rounded, 0xff, block->rows * sizeof *rounded);
    for (size_t row = 0; values && row < block->rows; row++) {
        if (is_statistic_poison(values + row * size, size))
            continue;
        given[row] = storage_load(type, values, row);
        if (isnan(given[row])) /* every NaN gets the same bits */
            given[row] = NAN;
        if (judge_is_given(&given[row]))
            rounded[row] = block->storage == LN_F64 ? given[row] : (double)(float)given[row];
    }
}

/* Compares x + residual with its only correct value, since it is rounded once. */
static bool check_sum(const char *sums, const judge_block *block, case_verdict *verdict)
{
    size_t elements = block->rows * block->hidden, size = dtype_size(block->storage);
    int digits = block->storage == LN_F64 ? 17 : 9;
    for (size_t i = 0; i < elements; i++) {
        double sum = judge_right_sum(block, i), given = storage_load(block->storage, sums, i);
        if (given == sum || (isnan(given) && isnan(sum)))
            continue;
        verdict->kind = VERDICT_INACCURATE;
        if (judge_is_poison(sums + i * size, size))
            snprintf(verdict->detail, sizeof verdict->detail,
                     "row %zu, column %zu: the sum with the residual was not written",
                     i / block->hidden, i % block->hidden);
        else
            number_print(
                verdict->detail, sizeof verdict->detail,
                "row %zu, column %zu: the sum with the residual is %.*g where %.*g is right",
                i / block->hidden, i % block->hidden, digits, given, digits, sum);
        return false;
    }
    return true;
}

bool judge_read_beside(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
                       const worker_message *message, unsigned outputs, case_verdict *verdict)
{
    const operation *what = operations[block->operation];
    bool right = true, any = false;
    for (size_t i = 0; i < what->count; i++)
        any |= role_is_statistic(&what->roles[i]) && (outputs & ROLE_BIT(i));
    for (size_t i = 0; i < what->count; i++) {
        const char *values =
            outputs & ROLE_BIT(i) ? judge_memory(judge, message->at.tensors[i]) : NULL;
        if (role_is_statistic(&what->roles[i]) && any)
            read_statistics(values, block, kernel, judge->given[i], judge->rounded[i]);
        else if (role_is_sum(what, i) && values)
            right = right && check_sum(values, block, verdict);
    }
    return right;
}

worker_message judge_message(layout_name name, const judge_block *block, const kernel_entry *kernel)
{
    worker_message message = message_for(MESSAGE_JUDGE, kernel);
    message.layout = layout_named(name, operations[block->operation], block->hidden);
    message.again = name == LAYOUT_BEHIND; /* a second call must give the same bits */
    return message;
}

bool judge_run(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
               worker_message *message, void *computed, case_verdict *verdict)
{
    worker_reply reply;
    const size_t result = operations[block->operation]->result;
    judge_place(judge, block, message);
    if (!judge_ask(judge, message, 0, &reply, verdict))
        return false;
    judge->upper_halves |= reply.value == 1;
    snprintf(judge->taken, sizeof judge->taken, "%.63s", reply.text);
    memcpy(computed, judge_memory(judge, message->at.tensors[result]), judge_bytes(block));
    return judge_read_beside(judge, block, kernel, message, message->layout.outputs, verdict);
}

/* ---- bounds ---- */

/* Sums of f32 or f64 rows in a 16-bit type would allow every error; such a kernel is judged as if they were in f32. */
judged_kind judged_kind_of(const kernel_entry *kernel, bool has_bound)
{
    const kernel_facts *facts = &kernel->facts;
    bool long_rows = facts->storage == LN_F32 || facts->storage == LN_F64;
    bool short_sums = facts->accumulator == LN_BF16 || facts->accumulator == LN_F16;
    return (judged_kind){.has_bound = has_bound,
                         .flushes = facts->traits & LN_TRAIT_FLUSHES_SUBNORMALS,
                         .correctly_rounded = facts->traits & LN_TRAIT_CORRECTLY_ROUNDED,
                         .accumulator = long_rows && short_sums ? LN_F32 : facts->accumulator,
                         .given = facts->accumulator};
}

bool judge_bounds(row_judge *judge, const judge_block *block, const kernel_entry *kernel, bool *has,
                  case_verdict *verdict)
{
    const bool rounded_last = kernel->facts.traits & LN_TRAIT_ROUNDED_LAST;
    /* Each row gets its share of the chance, so that all keep within their bounds at once. */
    const double chance = judge->settings.chance / (double)block->rows;
    *has = false;
    judge->probable_row_ulp = NAN;
    for (int probable = chance > 0; kernel->facts.has_bound && probable >= 0; probable--) {
        worker_message message = message_for(MESSAGE_BOUND, kernel);
        worker_reply reply;
        case_verdict failed = {0};
        double most = 0;
        message.count = block->rows;
        message.chance = probable ? chance : 0;
        judge_place(judge, block, &message);
        if (!judge_ask(judge, &message, 0, &reply, &failed)) {
            verdict->kind = failed.kind;
            verdict_say(verdict, "in %s: %s", probable ? "probable_bound()" : "bound()",
                        failed.detail);
            return false;
        }
        *has = reply.value == 1;
        memcpy(judge->bounds, judge_memory(judge, message.at.bounds),
               block->rows * sizeof *judge->bounds);
        /* A bound that leaves no correct digit is ignored. A bound that is NaN stays, and no error is within it. */
        for (size_t row = 0; (*has || !probable) && block->results && row < block->rows; row++) {
            metrics_row judged = judge_metrics_row(block, row);
            double row_ulp = (rounded_last ? ln_bound_row_ulp_rounded_last
                                           : ln_bound_row_ulp)(&judge->bounds[row], &judged);
            if (row_ulp >= dtype_no_digit(block->storage)) {
                judge->bounds[row] = (ln_bound){INFINITY, 0};
                row_ulp = INFINITY;
            }
            /* The scale's ulp is no smaller than an element's; judge_conclude() checks correct rounding. */
            if (kernel->facts.traits & LN_TRAIT_CORRECTLY_ROUNDED && isfinite(row_ulp))
                row_ulp = fmin(row_ulp, 0.5);
            judge->by_row[row].bound_row_ulp = row_ulp;
            most = fmax(most, row_ulp);
        }
        if (*has && probable)
            judge->probable_row_ulp = most;
    }
    return true;
}

/* ---- a block ---- */

judge_block judge_head(const judge_block *block)
{
    judge_block head = *block;
    head.rows = block->distinct ? block->distinct : block->rows;
    return head;
}

void report_change_at_load(const kernel_entry *kernel, case_judgement *judgement)
{
    case_verdict *verdict = &judgement->verdict, found = *verdict;
    char described[DETAIL_MAX_LENGTH + 64] = "";
    bool wrong = verdict_is_limit(found.kind) || found.kind == VERDICT_INACCURATE ||
                 found.kind == VERDICT_WRONG_CLASS;
    if (!kernel->set_at_load[0] ||
        !(wrong || found.kind == VERDICT_PASS || found.kind == VERDICT_PASS_NO_BOUND))
        return;
    if (wrong)
        verdict_describe(&found, described, sizeof described);
    *verdict = (case_verdict){.kind = VERDICT_STATE_CHANGED};
    verdict_say(verdict, "%s%s%s", kernel->set_at_load, wrong ? "; " : "", described);
}

void judge_add_figures(case_judgement *all, const case_judgement *one)
{
    const double row_ulp = one->metrics.row_ulp_max;
    if (one->metrics.elements > 0 && !isnan(row_ulp) && !(row_ulp <= all->metrics.row_ulp_max))
        all->metrics = one->metrics;
    if (!(one->bound_row_ulp <= all->bound_row_ulp))
        all->bound_row_ulp = one->bound_row_ulp;
    all->output_hash = hash_bytes(all->output_hash, &one->output_hash, sizeof one->output_hash);
}

void judge_kernel(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
                  case_judgement *judgement)
{
    row_findings findings = {.verdict.kind = VERDICT_PASS};
    worker_message orders[2] = {judge_message(LAYOUT_TIMED, block, kernel),
                                judge_message(LAYOUT_BEHIND, block, kernel)};
    const operation *what = operations[block->operation];
    bool has_bound, given = true; /* given: the kernel wrote every statistic of every row */
    *judgement = (struct case_judgement){.bound_row_ulp = NAN, .probable_row_ulp = NAN};
    judge->upper_halves = false;
    judge_reserve(judge, block);
    bool fine = judge_bounds(judge, block, kernel, &has_bound, &findings.verdict);
    const judged_kind kind = judged_kind_of(kernel, fine && has_bound);
    fine = fine && judge_run(judge, block, kernel, &orders[0], judge->computed, &findings.verdict);
    if (fine) {
        judge_rounding(block, judge->computed, &findings);
        judge_rows(judge, block, judge->computed, &kind, &findings);
        fine = judge_run(judge, block, kernel, &orders[1], judge->other, &findings.verdict);
    }
    judgement->verdict = findings.verdict;
    if (fine) {
        const judge_block head = judge_head(block);
        judgement->output_hash = hash_bytes(HASH_START, judge->computed, judge_bytes(block));
        for (size_t i = 0; i < what->count; i++) {
            if (!role_is_statistic(&what->roles[i]))
                continue;
            judgement->output_hash =
                hash_bytes(judgement->output_hash, judge->rounded[i], block->rows * sizeof(double));
            for (size_t row = 0; row < block->rows; row++)
                given &= judge_is_given(&judge->rounded[i][row]);
        }
        for (size_t row = 0; given && row < block->rows; row++)
            judge_statistics(judge, block, row, &kind, &findings);
        judge_measure(judge, &head, judge->computed, has_bound, given, judgement);
        judge_conclude(judge, &head, &kind, &findings, judgement);
        if (judge->upper_halves && judgement->verdict.kind <= VERDICT_PASS_NO_BOUND)
            verdict_say(&judgement->verdict,
                        SPEED_TRAP "it leaves the upper halves of vector registers in use, which "
                                   "slows SSE code down (vzeroupper is missing)");
        judgement->computed = judge->computed;
        judgement->by_row = judge->by_row;
        judgement->probable_row_ulp = judge->probable_row_ulp;
    }
    report_change_at_load(kernel, judgement);
}

void judge_promise(const judge_block *block, const kernel_entry *call, const char *input,
                   case_judgement *judgement)
{
    const ln_metrics *found = &judgement->metrics;
    ln_accuracy accuracy;
    if (found->elements == 0 || !call_class(&call->facts, &accuracy) ||
        !promise_covers(accuracy, input))
        return;
    double promised = promised_row_ulp(accuracy, block->storage, &block->convention);
    if (isinf(promised) || (found->mismatches == 0 && !(found->row_ulp_max > promised)))
        return;
    if (found->mismatches > 0) {
        if (judgement->verdict.kind == VERDICT_TYPE_LIMITED_CLASS)
            judgement->verdict.kind = VERDICT_WRONG_CLASS;
        return;
    }
    judgement->verdict = (case_verdict){.kind = VERDICT_INACCURATE};
    snprintf(judgement->verdict.detail, sizeof judgement->verdict.detail,
             "%.4g row ULP, where layernorm.h promises %.4g", found->row_ulp_max, promised);
}

/* ---- scores of rows ---- */

void judge_score(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
                 row_score *scores, case_verdict *verdict)
{
    worker_message message = judge_message(LAYOUT_TIMED, block, kernel);
    bool has_bound = false;
    size_t column;
    *verdict = (struct case_verdict){.kind = VERDICT_PASS};
    judge_reserve(judge, block);
    if (!judge_bounds(judge, block, kernel, &has_bound, verdict) ||
        !judge_run(judge, block, kernel, &message, judge->computed, verdict))
        return;
    for (size_t row = 0; row < block->rows; row++) {
        const metrics_row scaled = judge_metrics_row(block, row);
        const void *y = judge_row_of(block, judge->computed, row);
        scores[row].row_ulp =
            judge_classes_match(block, row, y, &column) ? limits_error(&scaled, y) : INFINITY;
        scores[row].kappa = scaled.answer->kappa;
        scores[row].bound_row_ulp = has_bound ? judge->by_row[row].bound_row_ulp : NAN;
    }
}
