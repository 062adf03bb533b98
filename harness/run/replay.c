#include "judge/rows.h"
#include "run/replay.h"
#include "base/allocate.h"
#include "base/die.h"
#include "base/hash.h"
#include "base/interrupt.h"
#include "domain/convention.h"
#include "run/plan.h"
#include <math.h>
#include <string.h>

/* The same double, or no figure on either side. */
static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static replay_side side_of(const case_judgement *judgement, uint64_t hash)
{
    const ln_metrics *metrics = &judgement->metrics;
    replay_side side = {
        .verdict = judgement->verdict, .row_ulp = NAN, .computed = NAN, .exact = NAN};
    if (metrics->elements == 0)
        return side;
    side.row_ulp = metrics->row_ulp_max;
    side.row = metrics->worst_row;
    side.column = metrics->worst_column;
    side.computed = metrics->worst_computed;
    side.exact = metrics->worst_exact;
    side.hash = hash;
    return side;
}

static void compare_sides(replay_result *result)
{
    const replay_side *then = &result->then, *now = &result->now;
    result->same_bits = then->hash == now->hash;
    result->same_error = same(then->row_ulp, now->row_ulp) && same(then->computed, now->computed) &&
                         same(then->exact, now->exact) && then->column == now->column &&
                         then->row == now->row;
    result->same_verdict = then->verdict.kind == now->verdict.kind;
    result->reproduces = (result->same_bits || !result->hashed) && result->same_error &&
                         (result->same_verdict || result->alone);
}

/* ---- what is kept ---- */

static void drop_block(replay_kept *kept)
{
    judge_block_free(&kept->block);
    kept->of.input[0] = '\0';
}

void replay_kept_free(replay_kept *kept)
{
    drop_block(kept);
    conformance_release(&kept->asked);
    arena_free(&kept->memory);
    *kept = (replay_kept){.array = kept->array};
}

/* All of it is for one convention. */
static void keep_for(replay_kept *kept, const ln_convention *convention)
{
    if (convention_equal(&kept->convention, convention))
        return;
    replay_kept_free(kept);
    kept->convention = *convention;
}

/* As a run judges. */
static bool judge_as_then(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
                          replay_result *result, error *err)
{
    case_judgement judgement;
    judge_kernel(judge, block, kernel, &judgement);
    if (interrupted())
        return fail(err, EXIT_CODE_INTERRUPTED, "interrupted");
    size_t row_bytes = block->hidden * dtype_size(block->storage);
    const char *y = judgement.computed;
    uint64_t hash = judgement.output_hash;
    if (!result->whole && judgement.metrics.elements > 0)
        hash = hash_bytes(HASH_START, y + judgement.metrics.worst_row * row_bytes, row_bytes);
    result->metrics = judgement.metrics;
    result->now = side_of(&judgement, hash);
    return true;
}

static bool same_bits(const void *a, const void *b, size_t bytes)
{
    return !a || !b || memcmp(a, b, bytes) == 0;
}

/* Whether what was kept is a row, and parameters, of the kernel's types. */
static bool fits(const stored_worst *stored, const kernel_entry *kernel, const operation_call *row)
{
    const operation *what = operations[row->operation];
    bool fine = true;
    for (size_t i = 0; i < what->count; i++) {
        const tensor_role *role = &what->roles[i];
        role_extent extent = role_extent_of(role, &row->problem, kernel->facts.accumulator);
        bool there = role_is_kept(role) && role_is_needed(role, &row->problem.convention);
        fine = fine && stored->inputs[i].bytes == (there ? extent_bytes(&extent) : 0);
    }
    return fine;
}

/* False: the input is not as it was, such as a file that is gone. */
static bool generate(row_judge *judge, judge_block *block, operation_call call, const char *input,
                     error *why)
{
    die_catcher caught = {0};
    die_caught_by = &caught;
    if (setjmp(caught.place) == 0)
        judge_block_generate(judge, block, call, input, NULL, 0);
    die_caught_by = NULL;
    *why = caught.error;
    return why->code == EXIT_CODE_FINE;
}

/* The block of the case, given a call of one row, as its input, seed and shape give it today; whether
 * its worst row is still the one that was kept. */
static bool regenerate(row_judge *judge, const kernel_entry *kernel, const stored_case *judged,
                       const stored_worst *stored, operation_call call, replay_kept *kept,
                       replay_result *result)
{
    const case_key *key = &judged->key;
    judge_block *block = &kept->block;
    struct error why = {0};
    const operation_call alone = call;
    call.problem.rows = judged->repetition_count ? key->rows : distinct_rows(key->input, key->rows);
    if (strcmp(kept->of.input, key->input) != 0 || kept->of.rows != key->rows ||
        block->hidden != key->hidden || block->storage != call.problem.storage ||
        block->param != call.problem.param) {
        drop_block(kept);
        if (!generate(judge, block, call, key->input, &why)) {
            snprintf(result->note, sizeof result->note, "the stored row alone: %.120s",
                     why.message);
            return false;
        }
        judge_block_repeat(block, key->rows);
        kept->of = *key;
    }
    size_t row = judged->metrics.worst_row, row_bytes = key->hidden * dtype_size(block->storage);
    bool same = !stored || !stored->inputs[ROLE_X].bits || row >= block->rows;
    if (!same && fits(stored, kernel, &alone)) {
        same = true;
        for (size_t i = 0; i < ROLES_MOST; i++) {
            const stored_tensor *then = &stored->inputs[i];
            const char *now = block->inputs[i];
            same = same && same_bits(then->bits, now && i == ROLE_X ? now + row * row_bytes : now,
                                     then->bytes);
        }
    }
    if (same)
        return true;
    snprintf(result->note, sizeof result->note,
             "the stored row alone: this input has other bits now");
    drop_block(kept);
    return false;
}

/* A plugin's kernel may take another type now. */
static bool has_type(const char *kernel, ln_type now, ln_type then, const char *what, error *err)
{
    return now == then ||
           fail(err, EXIT_CODE_NOT_COMPARABLE, "kernel %s takes %s now; its %s then were %s",
                kernel, dtype_name(now), what, dtype_name(then));
}

static bool takes_rows(const kernel_entry *kernel, ln_type then, error *err)
{
    return has_type(kernel->facts.name, kernel->facts.storage, then, "rows", err);
}

static bool takes_parameters(const kernel_entry *kernel, const worst_row *find, error *err)
{
    return find->parameters == 0 ||
           has_type(kernel->facts.name, kernel->facts.param, find->param, "parameters", err);
}

static replay_side side_then(const stored_case *judged, uint64_t hash)
{
    case_judgement judgement = {.verdict = judged->verdict, .metrics = judged->metrics};
    return side_of(&judgement, hash);
}

/* The task whose key this is. A check that has several tells them apart by its shape. */
static bool task_of(const case_key *key, const kernel_entry *kernel,
                    const ln_convention *convention, const combination_set *set,
                    conformance_task *task)
{
    size_t rows, hidden;
    for (int check = CHECK_COMBINATIONS; check < CHECK_COUNT; check++) {
        *task = (conformance_task){.check = (conformance_check)check,
                                   .convention = *convention,
                                   .storage = kernel->facts.storage,
                                   .param = kernel->facts.param,
                                   .set = set};
        for (size_t pack = 0; conformance_pack(task, pack, &rows, &hidden); pack++)
            if (strcmp(key->input, conformance_check_name((conformance_check)check)) == 0 &&
                rows == key->rows && hidden == key->hidden)
                return true;
    }
    return false;
}

/* The blocks of the task that has this key, of one of the arrays. False: there is no such task. */
static bool prepare_task(row_judge *judge, const kernel_entry *kernel, const case_key *key,
                         size_t array, replay_kept *kept)
{
    const combinations_asked asked = {.plain = kept->convention,
                                      .alone = array % 2 == 1,
                                      .seed = judge->settings.seed,
                                      .quick = array >= 2};
    const conformance_task *had = &kept->task;
    conformance_task task;
    if (!kept->sets[array])
        kept->sets[array] = combinations_make(&kept->memory, &asked);
    const bool found = task_of(key, kernel, &kept->convention, kept->sets[array], &task);
    if (!found || (kept->asked.blocks && kept->asked_of == array && had->check == task.check &&
                   had->first == task.first && had->last == task.last &&
                   had->storage == task.storage && had->param == task.param))
        return found;
    conformance_release(&kept->asked);
    kept->asked = (conformance_blocks){0};
    kept->task = task;
    kept->asked_of = array;
    conformance_prepare(judge, &kept->task, &kept->asked);
    return true;
}

/* The check over one array; *found: it has one with this key; *same_text: it says what it said then, before
 * or after it was narrowed. */
static bool ask_again(row_judge *judge, const kernel_entry *kernel, const stored_case *judged,
                      size_t array, bool least, replay_kept *kept, bool *found, bool *same_text,
                      case_judgement *judgement, error *err)
{
    const char *now = judgement->verdict.detail, *then = judged->verdict.detail;
    *found = prepare_task(judge, kernel, &judged->key, array, kept);
    if (*found)
        conformance_examine(judge, &kept->task, &kept->asked, kernel, judgement);
    *same_text = strcmp(now, then) == 0;
    if (*found && (least || !*same_text))
        conformance_minimize(judge, &kept->task, &kept->asked, kernel, judgement);
    *same_text |= strcmp(now, then) == 0;
    return !interrupted() || fail(err, EXIT_CODE_INTERRUPTED, "interrupted");
}

/* How much speaks for it that this is what was asked then: bits, which no other problems give, before what
 * is said of them. */
static int likeness(const replay_result *result, bool same_text)
{
    return (result->hashed && result->same_bits) * 8 + result->same_error * 4 + same_text * 2 +
           result->same_verdict;
}

/* Why it is not the same. */
static void explain(bool same_text, replay_result *result)
{
    const verdict_kind then = result->then.verdict.kind, now = result->now.verdict.kind;
    const char *why = "";
    if (then == VERDICT_NONDETERMINISTIC && now == then)
        why = "nondeterministic again: no two runs need find the same bits";
    else if (!result->reproduces && !same_text && verdict_is_fault(now))
        why = "perhaps another problem than then";
    snprintf(result->note, sizeof result->note, "%s", why);
}

/* A conformance test has no one row: the check is run again, all of it. The run's array was that of all
 * conventions, or of its one convention, if it named one; and whole, or the first of it: the one that gives
 * the bits of then. Where nothing came out, the one of which the same is said. */
static bool replay_check(row_judge *judge, const kernel_entry *kernel, const stored_case *judged,
                         bool least, replay_kept *kept, replay_result *result, error *err)
{
    const case_key *key = &judged->key;
    replay_result tried = *result;
    const bool of_array = strcmp(key->input, conformance_check_name(CHECK_COMBINATIONS)) == 0;
    tried.hashed = judged->hashed && judged->metrics.elements > 0;
    tried.then = side_then(judged, judged->output_hash);
    int best = -1;
    bool fine = true;
    const size_t first = of_array ? kept->array : 0;
    for (size_t i = 0; fine && i < (of_array ? REPLAY_ARRAYS : 1) && !result->reproduces; i++) {
        const size_t array = (first + i) % REPLAY_ARRAYS;
        case_judgement judgement = {0};
        bool found = false, same_text;
        fine = ask_again(judge, kernel, judged, array, least, kept, &found, &same_text, &judgement,
                         err);
        if (!fine || !found)
            continue;
        tried.metrics = judgement.metrics;
        tried.now = side_of(&judgement, judgement.output_hash);
        compare_sides(&tried);
        tried.reproduces &= tried.hashed || same_text || !of_array;
        explain(same_text, &tried);
        if (likeness(&tried, same_text) <= best)
            continue;
        best = likeness(&tried, same_text);
        kept->array = of_array ? array : kept->array;
        *result = tried;
    }
    return !fine || best >= 0
               ? fine
               : fail(err, EXIT_CODE_NOT_COMPARABLE,
                      "case %lld: lnbench has no such check any more (%.40s, %zux%zu)",
                      (long long)judged->id, key->input, key->rows, key->hidden);
}

static bool replay_kept_case(row_judge *judge, const kernel_entry *kernel,
                             const stored_case *judged, const stored_worst *stored, bool least,
                             replay_kept *kept, replay_result *result, error *err)
{
    const case_key *key = &judged->key;
    ln_convention convention;
    judge_block row = {0};
    *result = (replay_result){.whole = true};
    if (!takes_rows(kernel, key->dtype, err) ||
        !convention_parse(key->convention, &convention, err))
        return false;
    keep_for(kept, &convention);
    if (is_check(key->input))
        return replay_check(judge, kernel, judged, least, kept, result, err);
    operation_call call =
        call_dense(&convention, kernel->facts.storage, kernel->facts.param, 1, key->hidden);
    if (!regenerate(judge, kernel, judged, stored, call, kept, result)) {
        if (!stored || !fits(stored, kernel, &call))
            return fail(err, EXIT_CODE_NOT_COMPARABLE,
                        "case %lld: its rows can't be made again, and none was kept (%.100s)",
                        (long long)judged->id, result->note);
        result->whole = false;
        result->alone = true;
        for (size_t i = 0; i < ROLES_MOST; i++)
            call.inputs[i] = (void *)stored->inputs[i].bits;
        judge_block_from(judge, &row, &call);
    }
    bool measured = judged->metrics.elements > 0;
    result->hashed = measured && (result->whole ? judged->hashed : stored->y_hash != 0);
    result->then = side_then(judged, result->whole ? judged->output_hash : stored->y_hash);
    bool fine = judge_as_then(judge, result->whole ? &kept->block : &row, kernel, result, err);
    if (!result->whole)
        result->then.row = result->now.row = 0;
    if (fine)
        compare_sides(result);
    judge_block_free(&row);
    return fine;
}

bool replay_case(row_judge *judge, const kernel_entry *kernel, const stored_case *judged,
                 const stored_worst *stored, bool least, replay_kept *kept, replay_result *result,
                 error *err)
{
    replay_kept own = {0};
    bool fine =
        replay_kept_case(judge, kernel, judged, stored, least, kept ? kept : &own, result, err);
    replay_kept_free(&own);
    return fine;
}

bool replay_find(row_judge *judge, const kernel_entry *kernel, const worst_row *find,
                 replay_result *result, error *err)
{
    ln_convention convention;
    judge_block block = {0};
    *result = (replay_result){.hashed = find->y_hash != 0};
    result->then = (replay_side){.verdict = find->verdict,
                                 .row_ulp = find->row_ulp,
                                 .row = find->row,
                                 .column = find->column,
                                 .computed = find->computed,
                                 .exact = find->exact,
                                 .hash = find->y_hash};
    if (!convention_parse(find->convention, &convention, err))
        return false;
    operation_call call =
        call_dense(&convention, find->storage, kernel->facts.param, find->rows, find->hidden);
    memcpy(call.inputs, find->inputs, sizeof find->inputs);
    if (!takes_rows(kernel, find->storage, err) || !takes_parameters(kernel, find, err))
        return false;
    judge_block_from(judge, &block, &call);
    bool fine = judge_as_then(judge, &block, kernel, result, err);
    if (fine)
        compare_sides(result);
    judge_block_free(&block);
    return fine;
}
