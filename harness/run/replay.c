#include "run/replay.h"
#include "base/program.h"
#include "domain/convention.h"
#include "domain/metric_fields.h"
#include "judge/rows.h"
#include "run/plan.h"
#include <math.h>
#include <string.h>

/* The same double, but for the sign of a zero, which no store keeps; or no figure on either side. */
static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static replay_side side_of(const case_verdict *verdict, const ln_metrics *metrics, uint64_t hash)
{
    replay_side side = {.verdict = *verdict};
    metrics_undefined(&side.metrics);
    if (metrics->elements > 0) {
        side.metrics = *metrics;
        side.hash = hash;
    }
    return side;
}

/* Every figure of a whole case, of which the note names one that tables do not show; of rows without the others,
 * the worst element. */
static void compare_sides(replay_result *result)
{
    const ln_metrics *then = &result->then.metrics, *now = &result->now.metrics;
    bool fine = same(then->row_ulp_max, now->row_ulp_max) &&
                same(then->worst_computed, now->worst_computed) &&
                same(then->worst_exact, now->worst_exact) && then->worst_row == now->worst_row &&
                then->worst_column == now->worst_column;
    for (size_t i = 0; result->whole && fine && i < metric_count_all; i++) {
        const double before = metric_value(then, &metric_list[i]);
        const double after = metric_value(now, &metric_list[i]);
        fine = same(before, after);
        if (!fine)
            snprintf(result->note, sizeof result->note, "%s: then %.17g, now %.17g",
                     metric_list[i].name, before, after);
    }
    result->same_bits = result->then.hash == result->now.hash;
    result->same_error = fine;
    result->same_verdict = result->then.verdict.kind == result->now.verdict.kind;
    result->reproduces = (result->same_bits || !result->hashed) && result->same_error &&
                         (result->same_verdict || result->alone);
}

/* As a run judges. */
static void judge_again(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
                        replay_result *result)
{
    case_judgement judgement;
    judge_kernel(judge, block, kernel, &judgement);
    const size_t row_bytes = block->hidden * dtype_size(block->storage);
    const char *y = judgement.computed;
    uint64_t hash = judgement.output_hash;
    if (!result->whole && judgement.metrics.elements > 0)
        hash = hash_bytes(HASH_START, y + judgement.metrics.worst_row * row_bytes, row_bytes);
    result->now = side_of(&judgement.verdict, &judgement.metrics, hash);
    compare_sides(result);
}

static void judge_rows_again(row_judge *judge, const operation_call *call,
                             const kernel_entry *kernel, replay_result *result)
{
    judge_block block = {0};
    judge_block_from(judge, &block, call);
    judge_again(judge, &block, kernel, result);
    judge_block_free(&block);
}

static void forget_blocks(replayer *own)
{
    judge_block_free(&own->block);
    conformance_release(&own->blocks);
    own->blocks = (conformance_blocks){0};
    own->of.input[0] = '\0';
}

void replayer_forget(replayer *own)
{
    forget_blocks(own);
    arena_free(&own->memory);
    memset(own->sets, 0, sizeof own->sets);
}

/* Whether the blocks are of this case already; else there are none then. */
static bool has_blocks(replayer *own, const case_key *key, ln_type param, size_t array)
{
    if (own->of.input[0] && case_key_beside(&own->of, key) && own->of_param == param &&
        own->of_array == array)
        return true;
    forget_blocks(own);
    own->of_param = param;
    own->of_array = array;
    return false;
}

/* ---- rows ---- */

static bool same_bits(const void *a, const void *b, size_t bytes)
{
    return !a || !b || memcmp(a, b, bytes) == 0;
}

/* Whether what was kept is a row, and parameters, of the kernel's types. */
static bool fits(const stored_worst *stored, const kernel_entry *kernel, const operation_call *row)
{
    const operation *what = operations[row->operation];
    bool fine = stored != NULL;
    for (size_t i = 0; fine && i < what->count; i++) {
        const tensor_role *role = &what->roles[i];
        role_extent extent = role_extent_of(role, &row->problem, kernel->facts.accumulator);
        bool there = role_is_kept(role) && role_is_needed(role, &row->problem.convention);
        fine = stored->inputs[i].bytes == (there ? extent_bytes(&extent) : 0);
    }
    return fine;
}

/* False: the input is not as it was, such as a file that is gone. */
static bool generate(replayer *own, const operation_call *call, const char *input, error *why)
{
    die_catcher caught = {0};
    die_caught_by = &caught;
    if (setjmp(caught.place) == 0)
        judge_block_generate(own->judge, &own->block, *call, input, NULL, 0);
    die_caught_by = NULL;
    *why = caught.error;
    return why->code == EXIT_CODE_FINE;
}

/* The block of the case, given a call of one row, as its input, seed and shape give it today; whether
 * its worst row is still the one that was kept. */
static bool regenerate(replayer *own, const kernel_entry *kernel, const stored_case *judged,
                       const stored_worst *stored, const operation_call *row, replay_result *result)
{
    const case_key *key = &judged->key;
    operation_call call = *row;
    error why;
    call.problem.rows = judged->repetition_count ? key->rows : distinct_rows(key->input, key->rows);
    if (!has_blocks(own, key, kernel->facts.param, 0)) {
        if (!generate(own, &call, key->input, &why)) {
            snprintf(result->note, sizeof result->note, "the stored row alone: %.120s",
                     why.message);
            return false;
        }
        judge_block_repeat(&own->block, key->rows);
        own->of = *key;
    }
    const size_t worst = judged->metrics.worst_row;
    const size_t row_bytes = key->hidden * dtype_size(own->block.storage);
    if (!stored || !stored->inputs[ROLE_X].bits || worst >= own->block.rows)
        return true;
    bool same = fits(stored, kernel, row);
    for (size_t i = 0; same && i < ROLES_MOST; i++) {
        const stored_tensor *then = &stored->inputs[i];
        const char *now = own->block.inputs[i];
        same =
            same_bits(then->bits, now && i == ROLE_X ? now + worst * row_bytes : now, then->bytes);
    }
    if (!same)
        snprintf(result->note, sizeof result->note,
                 "the stored row alone: this input has other bits now");
    return same;
}

/* A plugin's kernel may take another type now. */
static bool has_type(const char *kernel, ln_type now, ln_type then, const char *what,
                     replay_result *result)
{
    if (now != then)
        snprintf(result->note, sizeof result->note, "kernel %s takes %s now; its %s then were %s",
                 kernel, dtype_name(now), what, dtype_name(then));
    return now == then;
}

/* ---- conformance tests ---- */

/* The blocks of the task that has this key, of one of the arrays. A check that has several tasks tells them
 * apart by their shapes. False: there is no such task. */
static bool prepare_task(replayer *own, const kernel_entry *kernel, const case_key *key,
                         size_t array)
{
    const combinations_asked asked = {.plain = own->convention,
                                      .alone = array % 2 == 1,
                                      .seed = own->judge->settings.seed,
                                      .quick = array >= 2};
    size_t rows, hidden;
    if (has_blocks(own, key, kernel->facts.param, array))
        return true;
    if (!own->sets[array])
        own->sets[array] = combinations_make(&own->memory, &asked);
    for (int check = CHECK_COMBINATIONS; check < CHECK_COUNT; check++) {
        if (strcmp(key->input, conformance_check_name((conformance_check)check)) != 0)
            continue;
        own->task = (conformance_task){.check = (conformance_check)check,
                                       .convention = own->convention,
                                       .storage = kernel->facts.storage,
                                       .param = kernel->facts.param,
                                       .set = own->sets[array]};
        for (size_t pack = 0; conformance_pack(&own->task, pack, &rows, &hidden); pack++) {
            if (rows != key->rows || hidden != key->hidden)
                continue;
            conformance_prepare(own->judge, &own->task, &own->blocks);
            own->of = *key;
            return true;
        }
    }
    return false;
}

/* A conformance test has no one row: the check is run again, all of it. The run's array was that of all
 * conventions, or of its one convention, if it named one; and whole, or the first of it. It is the one that
 * gives the bits of then, which no other problems give; else the same error, words or verdict speak for it. */
static bool replay_check(replayer *own, const kernel_entry *kernel, const stored_case *judged,
                         bool least, replay_result *result)
{
    const case_key *key = &judged->key;
    const bool of_array = strcmp(key->input, conformance_check_name(CHECK_COMBINATIONS)) == 0;
    const size_t first = of_array ? own->array : 0;
    replay_result tried = *result;
    int best = -1;
    tried.hashed = judged->hashed && judged->metrics.elements > 0;
    tried.then = side_of(&judged->verdict, &judged->metrics, judged->output_hash);
    for (size_t i = 0; i < (of_array ? REPLAY_ARRAYS : 1) && !result->reproduces && !interrupted();
         i++) {
        const size_t array = (first + i) % REPLAY_ARRAYS;
        case_judgement now = {0};
        if (!prepare_task(own, kernel, key, array))
            continue;
        conformance_examine(own->judge, &own->task, &own->blocks, kernel, &now);
        /* It may say what was said then before it is narrowed, or after. */
        bool same_text = strcmp(now.verdict.detail, judged->verdict.detail) == 0;
        if (least || !same_text)
            conformance_minimize(own->judge, &own->task, &own->blocks, kernel, &now);
        same_text |= strcmp(now.verdict.detail, judged->verdict.detail) == 0;
        tried.now = side_of(&now.verdict, &now.metrics, now.output_hash);
        tried.note[0] = '\0';
        compare_sides(&tried);
        tried.reproduces &= tried.hashed || same_text || !of_array;
        const int likeness = (tried.hashed && tried.same_bits) * 8 + tried.same_error * 4 +
                             same_text * 2 + tried.same_verdict;
        if (likeness <= best)
            continue;
        const char *why = tried.note;
        if (judged->verdict.kind == VERDICT_NONDETERMINISTIC && tried.same_verdict)
            why = "nondeterministic again: no two runs need find the same bits";
        else if (!tried.reproduces && !same_text && verdict_is_fault(now.verdict.kind))
            why = "perhaps another problem than then";
        best = likeness;
        own->array = of_array ? array : own->array;
        *result = tried;
        if (why != tried.note)
            snprintf(result->note, sizeof result->note, "%s", why);
    }
    if (best < 0)
        snprintf(result->note, sizeof result->note,
                 "case %lld: lnbench has no such check any more (%.40s, %zux%zu)",
                 (long long)judged->id, key->input, key->rows, key->hidden);
    return best >= 0;
}

/* ---- the whole ---- */

bool replay_case(replayer *own, const kernel_entry *kernel, const stored_case *judged,
                 const stored_worst *stored, bool least, replay_result *result)
{
    const case_key *key = &judged->key;
    *result = (replay_result){.whole = true};
    if (!has_type(kernel->facts.name, kernel->facts.storage, key->dtype, "rows", result))
        return false;
    ln_convention convention = convention_named(key->convention);
    if (!convention_equal(&own->convention, &convention))
        replayer_forget(own);
    own->convention = convention;
    if (is_check(key->input))
        return replay_check(own, kernel, judged, least, result);
    operation_call row =
        call_dense(&convention, kernel->facts.storage, kernel->facts.param, 1, key->hidden);
    const bool measured = judged->metrics.elements > 0;
    result->whole = regenerate(own, kernel, judged, stored, &row, result);
    if (result->whole) {
        result->hashed = measured && judged->hashed;
        result->then = side_of(&judged->verdict, &judged->metrics, judged->output_hash);
        judge_again(own->judge, &own->block, kernel, result);
        return true;
    }
    if (!fits(stored, kernel, &row)) {
        char why[120];
        snprintf(why, sizeof why, "%.100s", result->note);
        snprintf(result->note, sizeof result->note,
                 "case %lld: its rows can't be made again, and none was kept (%s)",
                 (long long)judged->id, why);
        return false;
    }
    for (size_t i = 0; i < ROLES_MOST; i++)
        row.inputs[i] = (void *)stored->inputs[i].bits;
    result->alone = true;
    result->hashed = measured && stored->y_hash != 0;
    result->then = side_of(&judged->verdict, &judged->metrics, stored->y_hash);
    result->then.metrics.worst_row = 0;
    judge_rows_again(own->judge, &row, kernel, result);
    return true;
}

bool replay_find(row_judge *judge, const kernel_entry *kernel, const worst_row *find,
                 replay_result *result)
{
    const ln_convention convention = convention_named(find->convention);
    const char *name = kernel->facts.name;
    *result = (replay_result){.hashed = find->y_hash != 0,
                              .then = {.verdict = find->verdict, .hash = find->y_hash}};
    metrics_undefined(&result->then.metrics);
    result->then.metrics.row_ulp_max = find->row_ulp;
    result->then.metrics.worst_row = find->row;
    result->then.metrics.worst_column = find->column;
    result->then.metrics.worst_computed = find->computed;
    result->then.metrics.worst_exact = find->exact;
    if (!has_type(name, kernel->facts.storage, find->storage, "rows", result) ||
        (find->parameters > 0 &&
         !has_type(name, kernel->facts.param, find->param, "parameters", result)))
        return false;
    operation_call call =
        call_dense(&convention, find->storage, kernel->facts.param, find->rows, find->hidden);
    memcpy(call.inputs, find->inputs, sizeof find->inputs);
    judge_rows_again(judge, &call, kernel, result);
    return true;
}
