/* Makes blocks of rows with their exact answers and allowed errors, and compares an output with a block row by row:
 * classes, bounds, metrics, verdict. At the end: gradients. */
#include "base/arena.h"
#include "base/die.h"
#include "base/hash.h"
#include "base/text.h"
#include "domain/operation.h"
#include "exact/scale.h"
#include "inputs/inputs.h"
#include "judge/judging.h"
#include "metrics/storage.h"
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

row_judge *judge_create(kernel_runner *runner, const judge_settings *settings)
{
    row_judge *made = allocate_zeroed(1, sizeof *made);
    made->runner = runner;
    made->settings = *settings;
    made->reference = ln_reference_create();
    if (!made->reference)
        memory_is_out(0);
    return made;
}

void judge_destroy(row_judge *judge)
{
    if (!judge)
        return;
    ln_reference_destroy(judge->reference);
    free(judge->values);
    arena_free(&judge->outputs);
    free(judge);
}

const char *judge_describe_counts(const ln_reference_counts *counts, char *buffer, size_t size)
{
    const struct {
        uint64_t count;
        const char *how;
    } ways[] = {{counts->fast, "in double-double"},
                {counts->first_try, "at the first precision"},
                {counts->raised, "at a raised one"},
                {counts->exact, "by exact comparison"},
                {counts->special, "NaN or infinite by definition"}};
    size_t length =
        (size_t)snprintf(buffer, size, "%llu elements", (unsigned long long)counts->elements);
    const char *before = ": ";
    for (size_t i = 0; i < sizeof ways / sizeof *ways && length < size; i++) {
        if (ways[i].count == 0)
            continue;
        length += (size_t)snprintf(buffer + length, size - length, "%s%llu %s", before,
                                   (unsigned long long)ways[i].count, ways[i].how);
        before = ", ";
    }
    return buffer;
}

/* The contents of the outputs before are lost. */
void judge_reserve(row_judge *judge, const judge_block *block)
{
    arena *memory = &judge->outputs;
    if (judge_bytes(block) <= judge->bytes && block->rows <= judge->rows)
        return;
    arena_free(memory);
    judge->bytes = judge_bytes(block) > judge->bytes ? judge_bytes(block) : judge->bytes;
    judge->rows = block->rows > judge->rows ? block->rows : judge->rows;
    judge->computed = arena_new(memory, char, judge->bytes);
    judge->other = arena_new(memory, char, judge->bytes);
    judge->by_row = arena_new(memory, judged_row, judge->rows);
    judge->bounds = arena_new(memory, ln_bound, judge->rows);
    judge->wrong_rows = arena_new(memory, bool, judge->rows);
    for (size_t i = 0; i < ROLES_MOST; i++) { /* for every operation */
        judge->given[i] = arena_new(memory, double, judge->rows);
        judge->rounded[i] = arena_new(memory, double, judge->rows);
    }
}

/* ---- blocks ---- */

/* The allowed errors of each row without a bound, computed once for all kernels that are judged on the block. They
 * depend on the accumulator: kinds[1] holds those for f64, and kinds[0] those for f32, the other usual type, or for
 * whichever type was last used. */
enum { KINDS = 2 };

struct block_limits {
    arena memory; /* its own, since blocks are copied */
    struct kind_limits {
        judged_kind kind;
        row_limits *rows;
        bool *made;
    } kinds[KINDS];
};

/* Makes a block with the convention, types and size of a call, without inputs and answers. */
static void block_begin(judge_block *block, const operation_call *call)
{
    const ln_problem *problem = &call->problem;
    const size_t size = dtype_size(problem->storage);
    size_t elements;
    *block = (judge_block){.convention = problem->convention,
                           .storage = problem->storage,
                           .param = problem->param,
                           .rows = problem->rows,
                           .hidden = problem->hidden,
                           .operation = call->operation};
    if (__builtin_mul_overflow(block->rows, block->hidden, &elements) || elements > SIZE_MAX / 16)
        die(EXIT_CODE_USAGE, "%zu rows of %zu elements are too many", block->rows, block->hidden);
    /* exact, rest; rounded, x, residual; gamma, beta; results; and 1 KiB for small members. */
    arena_expect(&block->memory,
                 elements * (sizeof(double) * (block->storage == LN_F64 ? 2 : 1) + 3 * size) +
                     2 * block->hidden * dtype_size(block->param) +
                     block->rows * sizeof *block->results + 1024);
    block->exact = arena_new(&block->memory, double, elements);
    block->rest = block->storage == LN_F64 ? arena_new(&block->memory, double, elements) : NULL;
    block->rounded = arena_new(&block->memory, char, elements *size);
    block->limits = arena_new(&block->memory, struct block_limits, 1);
    block->results = arena_new(&block->memory, ln_reference_result, block->rows);
    for (size_t row = 0; row < block->rows; row++) {
        size_t at = row * block->hidden;
        block->results[row].rounded = (char *)block->rounded + at * size;
        block->results[row].exact = block->exact + at;
        block->results[row].rest = block->rest ? block->rest + at : NULL;
    }
}

/* Computes the answers of a block that has its inputs. */
static void block_answer(row_judge *judge, judge_block *block)
{
    for (size_t row = 0; row < block->rows; row++) {
        if (judge->settings.stop && *judge->settings.stop)
            die(EXIT_CODE_INTERRUPTED, "stopped");
        if (!judgings[block->operation]->answer(judge->reference, block, row))
            memory_is_out(block->hidden);
    }
}

operation_call judge_block_call(const judge_block *block)
{
    operation_call call =
        call_dense(&block->convention, block->storage, block->param, block->rows, block->hidden);
    memcpy(call.inputs, block->inputs, sizeof call.inputs);
    return call;
}

void judge_block_generate(row_judge *judge, judge_block *block, operation_call call,
                          const char *input, const char *residual, size_t first)
{
    block_begin(block, &call);
    call_allocate(&block->memory, &call, residual);
    input_call(input, residual, &call, judge->settings.seed, first);
    call_drop_unneeded(&call);
    memcpy(block->inputs, call.inputs, sizeof call.inputs);
    block_answer(judge, block);
}

void judge_block_from(row_judge *judge, judge_block *block, const operation_call *call)
{
    const operation *what = operations[call->operation];
    block_begin(block, call);
    for (size_t i = 0; i < what->count; i++) {
        const tensor_role *role = &what->roles[i];
        role_extent extent = role_extent_of(role, &call->problem, call->problem.storage);
        if (role->output || !call->inputs[i] || !role_is_needed(role, &block->convention))
            continue;
        char *to = block->inputs[i] =
            arena_new(&block->memory, char, extent.rows *extent.row_bytes);
        for (size_t row = 0; row < extent.rows; row++)
            memcpy(to + row * extent.row_bytes,
                   (const char *)call->inputs[i] + row * extent.stride_bytes, extent.row_bytes);
    }
    block_answer(judge, block);
}

void judge_block_repeat(judge_block *block, size_t rows)
{
    const operation *what = operations[block->operation];
    const size_t row_bytes = block->hidden * dtype_size(block->storage), distinct = block->rows;
    ln_reference_result *results = block->results;
    if (rows <= distinct)
        return;
    arena_expect(&block->memory, rows * (sizeof *results + 2 * row_bytes) + 64);
    for (size_t i = 0; i < what->count; i++) {
        const char *from = block->inputs[i];
        if (what->roles[i].shape != SHAPE_TABLE || !from)
            continue;
        char *to = block->inputs[i] = arena_take(&block->memory, rows, row_bytes);
        for (size_t row = 0; row < rows; row++)
            memcpy(to + row * row_bytes, from + row % distinct * row_bytes, row_bytes);
    }
    block->results = arena_new(&block->memory, ln_reference_result, rows);
    for (size_t row = 0; row < rows; row++)
        block->results[row] = results[row % distinct];
    block->distinct = distinct;
    block->rows = rows;
}

void judge_block_free(judge_block *block)
{
    if (block->limits)
        arena_free(&block->limits->memory);
    arena_free(&block->memory);
    *block = (judge_block){0};
}

metrics_row judge_metrics_row(const judge_block *block, size_t row)
{
    return (metrics_row){
        block->storage,
        block->param,
        block->hidden,
        &block->convention,
        block->inputs[ROLE_GAMMA],
        block->inputs[ROLE_BETA],
        &block->results[row],
        convention_form(&block->convention),
        convention_rounds_factor(&block->convention),
    };
}

/* ---- the allowed error of a row ---- */

judged_kind judged_kind_unknown(const judge_block *block)
{
    ln_type sums = block->storage == LN_F64 ? LN_F64 : LN_F32;
    return (judged_kind){.accumulator = sums, .given = sums};
}

void judge_load_row(row_judge *judge, const judge_block *block, size_t row)
{
    const size_t hidden = block->hidden;
    if (hidden > judge->hidden) {
        free(judge->values);
        judge->values = allocate(hidden * (sizeof *judge->values + sizeof(bool)));
        judge->wrong_columns = (bool *)(judge->values + hidden);
        judge->hidden = hidden;
    }
    for (size_t i = 0; i < hidden; i++)
        judge->values[i] = judge_added(block, &block->convention, row * hidden + i);
}

const row_limits *judge_limits(row_judge *judge, const judge_block *block, const judged_kind *kind,
                               size_t row)
{
    const order_question question = {.storage = block->storage,
                                     .accumulator = kind->accumulator,
                                     .hidden = block->hidden,
                                     .convention = &block->convention,
                                     .flushes = kind->flushes};
    const metrics_row judged = judge_metrics_row(block, row);
    const size_t rows = block->distinct ? block->distinct : block->rows;
    struct kind_limits *place = &block->limits->kinds[kind->accumulator == LN_F64];
    if (!place->rows) {
        place->rows = arena_new(&block->limits->memory, row_limits, rows);
        place->made = arena_new(&block->limits->memory, bool, rows);
    }
    if (place->kind.accumulator != kind->accumulator || place->kind.flushes != kind->flushes)
        memset(place->made, 0, rows * sizeof *place->made);
    place->kind = *kind;
    judge_load_row(judge, block, row);
    row %= rows;
    if (!place->made[row])
        limits_of_row(&question, &judged, judge->values, &place->rows[row]);
    place->made[row] = true;
    return &place->rows[row];
}

/* ---- findings ---- */

/* Keeps the most informative finding (verdict_telling()): a failure before a type limit, a wrong class before an
 * inaccuracy, and the first of equal ones. */
void judge_find(row_findings *findings, verdict_kind kind, const char *format, ...)
{
    case_verdict *held = &findings->verdict, found = {.kind = kind};
    va_list arguments;
    char text[DETAIL_MAX_LENGTH];
    va_start(arguments, format);
    number_print_list(text, sizeof text, format, arguments);
    va_end(arguments);
    verdict_say(&found, "%s", text);
    int now = verdict_telling(&found), before = verdict_telling(held);
    if (held->kind == VERDICT_PASS || now > before ||
        (now == before &&
         ((held->kind == VERDICT_INACCURATE && kind == VERDICT_WRONG_CLASS) ||
          (held->kind == VERDICT_TYPE_LIMITED && kind == VERDICT_TYPE_LIMITED_CLASS))))
        *held = found;
}

static void note_mistakes(row_findings *findings, mistake_set made)
{
    mistake_set *held = &findings->mistakes;
    held->fit = findings->explained++ ? held->fit & made.fit : made.fit;
    held->far |= made.far;
}

void judge_rounding(const judge_block *block, const void *y, row_findings *findings)
{
    const uint64_t otherwise = judgings[block->operation]->rounded_otherwise(block, y);
    if (!otherwise)
        return;
    judge_find(findings, VERDICT_INACCURATE, "y is not rounded where the convention says");
    note_mistakes(findings, (mistake_set){otherwise, otherwise});
}

/* ---- a wrong row in words ---- */

/* A wrong row and its description. */
typedef struct wrong_row {
    row_judge *judge;
    const judge_block *block;
    size_t number;
    const void *y;
    const row_limits *limits;
    metrics_row judged;
    char words[ROW_FAULT_LENGTH];
    char as[ROW_FAULT_LENGTH]; /* the relative error that all columns share, in words; or "" */
} wrong_row;

enum { PATTERN_LENGTH = 80 };

/* "all 13 columns", "the last 5 of 13 columns", "the first 2 of 13 columns", "column 3 of 13 alone",
 * "columns 8 to 15 of 64", "one in 8 of 64 columns, from column 5 on". At least one is wrong; `noun` is
 * "column" or "row". Returns false if there is no such pattern: "7 of 64 columns, from column 3 on". */
static bool pattern_words(const bool *wrong, size_t count, const char *noun,
                          char words[PATTERN_LENGTH])
{
    size_t first = count, last = 0, number = 0;
    for (size_t i = 0; i < count; i++)
        if (wrong[i]) {
            first = number++ ? first : i;
            last = i;
        }
    /* The distance between wrong ones; 0: they are not evenly spaced. */
    size_t second = first + 1;
    while (second < count && !wrong[second])
        second++;
    size_t period = second - first;
    if (second == count || period < 2 || first >= period ||
        number != (count - first + period - 1) / period)
        period = 0;
    for (size_t i = first; period > 0 && i < count; i += period)
        period = wrong[i] ? period : 0;
    bool run = last + 1 - first == number;
    if (!run && !period)
        number_print(words, PATTERN_LENGTH, "%zu of %zu %ss, from %s %zu on", number, count, noun,
                     noun, first);
    else if (!run)
        number_print(words, PATTERN_LENGTH, "one in %zu of %zu %ss, from %s %zu on", period, count,
                     noun, noun, first);
    else if (count == 1)
        number_print(words, PATTERN_LENGTH, "the only %s", noun);
    else if (number == count)
        number_print(words, PATTERN_LENGTH, "all %zu %ss", count, noun);
    else if (last + 1 == count && number == 1)
        number_print(words, PATTERN_LENGTH, "the last of %zu %ss", count, noun);
    else if (last + 1 == count)
        number_print(words, PATTERN_LENGTH, "the last %zu of %zu %ss", number, count, noun);
    else if (number == 1)
        number_print(words, PATTERN_LENGTH, "%s %zu of %zu alone", noun, first, count);
    else if (first == 0)
        number_print(words, PATTERN_LENGTH, "the first %zu of %zu %ss", number, count, noun);
    else
        number_print(words, PATTERN_LENGTH, "%ss %zu to %zu of %zu", noun, first, last, count);
    return run || period;
}

/* Returns an element for a message, where NaN has no sign. */
static double shown_at(ln_type type, const void *row, size_t column)
{
    double value = storage_load(type, row, column);
    return isnan(value) ? NAN : value;
}

/* Describes a wrong element that is no ordinary number; "": it is one. */
static const char *describe_value(const wrong_row *wrong, size_t column)
{
    size_t size = dtype_size(wrong->block->storage);
    double given = storage_load(wrong->block->storage, wrong->y, column);
    const char *bits = (const char *)wrong->y + column * size;
    return judge_is_poison(bits, size)            ? SAYS_UNWRITTEN
           : is_from_statistic_poison(bits, size) ? "it used what mean or rstd held before the call"
           : is_from_gap(bits, size) ? wrong->block->inputs[ROLE_RESIDUAL] ? SAYS_FROM_GAP
                                           "x or residual"
                                                                           : SAYS_FROM_GAP "x"
           : isnan(given)            ? "NaN"
           : isinf(given)            ? "an infinity"
           : given == 0              ? "0"
                                     : "";
}

/* Marks the wrong columns; *first: the first one. Returns the describe_value() that all share; NULL: there is none. */
static const char *mark_columns(const wrong_row *wrong, size_t *first, size_t *count)
{
    /* noise: more row ULP than rounding costs if the sums are right. */
    static const double noise = 4, share = 16;
    const judge_block *block = wrong->block;
    double worst = limits_error(&wrong->judged, wrong->y), most = wrong->limits->row_ulp;
    /* An error of at least a sixteenth of the worst one probably has the same cause. */
    double alike = worst > most ? fmax(worst / share, noise) : most;
    const char *look = NULL;
    *count = 0;
    for (size_t i = 0; i < block->hidden; i++) {
        double given = storage_load(block->storage, wrong->y, i);
        double right = storage_load(block->storage, wrong->judged.answer->rounded, i);
        bool finite = isfinite(given) && isfinite(right);
        bool bad = !same_class(given, right) ||
                   (finite && fabs(row_ulp_of(&wrong->judged, i, given)) > fmin(most, alike));
        wrong->judge->wrong_columns[i] = bad;
        if (!bad)
            continue;
        const char *here = describe_value(wrong, i);
        *first = *count ? *first : i;
        look = *count && strcmp(look, here) != 0 ? "" : here;
        *count += 1;
    }
    return look && *look ? look : NULL;
}

/* Returns whether the errors of all columns are the same share of gamma xhat. All are wrong then, even if only the
 * largest error exceeds the limit. */
static bool is_proportional(const metrics_row *row, const void *y, double *share)
{
    static const double noise = 4; /* row ULP */
    double products = 0, squares = 0;
    for (size_t i = 0; i < row->hidden; i++) {
        double exact = row->answer->exact[i], part = exact - beta_at(row, i);
        products += part * (storage_load(row->storage, y, i) - exact);
        squares += part * part;
    }
    *share = products / squares;
    bool all = isfinite(*share) && limits_error(row, y) > noise;
    for (size_t i = 0; all && i < row->hidden; i++) {
        double part = row->answer->exact[i] - beta_at(row, i);
        double given = storage_load(row->storage, y, i);
        all = fabs(row_ulp_of(row, i, given - *share * part)) <= noise;
    }
    return all;
}

/* Describes in which columns and how a row is wrong (wrong->words). Returns false if there is no pattern: the message
 * then needs only the size of the error and wrong->as. */
static bool describe_row(wrong_row *wrong, row_findings *findings)
{
    enum { LONG_ENOUGH = 8 }; /* in a shorter row a pattern may be an accident */
    const judge_block *block = wrong->block;
    const explained_row explained = {&wrong->judged, wrong->judge->values,
                                     wrong->y,       wrong->limits->row_ulp,
                                     block,          wrong->number};
    char where[PATTERN_LENGTH];
    size_t first, count;
    double share;
    note_mistakes(findings, norm_mistakes(&explained));
    if (block->hidden >= LONG_ENOUGH && is_proportional(&wrong->judged, wrong->y, &share)) {
        number_print(wrong->as, ROW_FAULT_LENGTH, "; y - exact is %.3g gamma xhat in all columns",
                     share);
        return false;
    }
    const char *look = mark_columns(wrong, &first, &count);
    if (count == 0 || (!look && (count == block->hidden || block->hidden < LONG_ENOUGH)) ||
        !pattern_words(wrong->judge->wrong_columns, block->hidden, "column", where))
        return false;
    const double given = shown_at(block->storage, wrong->y, first);
    const double right = shown_at(block->storage, wrong->judged.answer->rounded, first);
    if (look)
        number_print(wrong->words, sizeof wrong->words, "%s: %s where %.6g is right", where, look,
                     right);
    else
        number_print(wrong->words, sizeof wrong->words, "%s: %.6g where %.6g is right", where,
                     given, right);
    return true;
}

/* Adds a finding about a row with a wrong class. column: the first wrong one; limit: the row is type-limited. */
static void find_wrong_class(wrong_row *wrong, size_t column, bool limit, row_findings *findings)
{
    verdict_kind kind = limit ? VERDICT_TYPE_LIMITED_CLASS : VERDICT_WRONG_CLASS;
    const char *look = describe_value(wrong, column);
    if (describe_row(wrong, findings))
        judge_find(findings, kind, "row %zu: %s", wrong->number, wrong->words);
    else
        judge_find(findings, kind, "row %zu, column %zu: %s where %.6g is right", wrong->number,
                   column, *look ? look : "a number",
                   shown_at(wrong->block->storage, wrong->judged.answer->rounded, column));
}

/* Adds a finding about a row whose error is above its limits. */
static void find_inaccuracy(wrong_row *wrong, row_findings *findings)
{
    const row_limits *limits = wrong->limits;
    const double own = limits_error(&wrong->judged, wrong->y);
    if (describe_row(wrong, findings))
        judge_find(findings, VERDICT_INACCURATE, "row %zu: %s", wrong->number, wrong->words);
    else if (own > limits->order_ulp)
        judge_find(findings, VERDICT_INACCURATE,
                   "row %zu: row ULP %.3g exceeds the limit for any order of summation (%.3g)%s",
                   wrong->number, own, limits->order_ulp, wrong->as);
    else
        judge_find(findings, VERDICT_INACCURATE,
                   "row %zu: row ULP %.3g is worse than every textbook kernel (at most %.3g)%s",
                   wrong->number, own, limits->textbook.row_ulp, wrong->as);
}

/* ---- rows ---- */

bool judge_classes_match(const judge_block *block, size_t row, const void *y, size_t *column)
{
    for (size_t i = 0; i < block->hidden; i++) {
        *column = i;
        if (!same_class(storage_load(block->storage, block->results[row].rounded, i),
                        storage_load(block->storage, y, i)))
            return false;
    }
    return true;
}

/* Returns whether column i has the right class, or a wrong one that overflow of intermediate results in the
 * accumulator's type explains: an infinity of the right sign, or the NaN of inf - inf, instead of a finite y. */
static bool class_is_excused(const wrong_row *row, const judged_kind *kind, size_t i)
{
    static const double ends[] = {
        [LN_F32] = FLT_MAX, [LN_F64] = DBL_MAX, [LN_BF16] = 0x1.fep+127, [LN_F16] = 65504};
    const metrics_row *judged = &row->judged;
    const double given = storage_load(judged->storage, row->y, i), exact = judged->answer->exact[i];
    if (same_class(storage_load(judged->storage, judged->answer->rounded, i), given))
        return true;
    return !isfinite(given) && isfinite(exact) &&
           (isnan(given) || signbit(given) == signbit(exact)) &&
           judge_reach(judged, row->judge->values, i) >=
               (isnan(given) ? 2 : 1) * ends[kind->accumulator];
}

/* Judges a row without a bound by any order of summation and the textbook algorithms. If these give no limit (sums may
 * overflow, or no digit of the variance is certain), a wrong class is type-limited, but not in a row whose input has a
 * NaN or an infinity. */
static void judge_unclaimed(wrong_row *row, const judged_kind *kind, row_findings *findings)
{
    const row_limits *limits = row->limits;
    const metrics_row *judged = &row->judged;
    const bool known = limits_tell(limits), special = !isfinite(judged->answer->facts.max_abs);
    const bool excused = !known && !special && !limits->textbook.undefined;
    double worst;
    size_t column;
    findings->unclaimed++;
    /* A row within 1 row ULP is right, even if it has no limit. */
    findings->unlimited += excused && limits_error(judged, row->y) > 1;
    if (judge_classes_match(row->block, row->number, row->y, &column)) {
        if (limits_hold(limits, judged, row->y))
            return;
        const row_limits poorest =
            limits_poorest(kind->accumulator, judged, row->judge->values, limits);
        if (limits_hold(&poorest, judged, row->y))
            judge_find(
                findings, VERDICT_TYPE_LIMITED,
                "row %zu: row ULP %.3g; textbook kernels have up to %.3g (with sorted sums or a "
                "pivot far from the mean: %.3g)",
                row->number, limits_error(judged, row->y), limits->textbook.row_ulp,
                poorest.textbook.row_ulp);
        else
            find_inaccuracy(row, findings);
    } else if (!(isfinite(limits->order_ulp) &&
                 ln_bound_holds(&limits->order.bound, judged, row->y, &worst))) {
        bool all_excused = true;
        for (size_t i = column; all_excused && i < judged->hidden; i++)
            all_excused = class_is_excused(row, kind, i);
        find_wrong_class(row, column, excused || all_excused, findings);
    }
}

/* A bound also decides on classes: near the largest number it may allow both finite and infinite results. */
void judge_row(row_judge *judge, const judge_block *block, const void *y, size_t row,
               const judged_kind *kind, row_findings *findings)
{
    const ln_bound *bound = &judge->bounds[row];
    wrong_row wrong = {.judge = judge,
                       .block = block,
                       .number = row,
                       .y = y,
                       .judged = judge_metrics_row(block, row)};
    double worst;
    size_t column;
    /* A bound that is NaN counts as a claim, and no result satisfies it. */
    const bool claims =
        kind->has_bound && bound->xhat_abs != INFINITY && bound->affine_rel != INFINITY;
    if (claims && ln_bound_holds(bound, &wrong.judged, y, &worst))
        return;
    wrong.limits = judge_limits(judge, block, kind, row);
    if (!claims)
        judge_unclaimed(&wrong, kind, findings);
    else if (!judge_classes_match(block, row, y, &column))
        find_wrong_class(&wrong, column, false, findings);
    else if (describe_row(&wrong, findings))
        judge_find(findings, VERDICT_INACCURATE, "row %zu: %s", row, wrong.words);
    else
        judge_find(findings, VERDICT_INACCURATE,
                   "row %zu: the error is %.3g times the proven bound", row, worst);
}

void judge_rows(row_judge *judge, const judge_block *block, const void *computed,
                const judged_kind *kind, row_findings *findings)
{
    row_findings all = {.verdict.kind = VERDICT_PASS};
    const case_verdict *found = &all.verdict;
    char where[PATTERN_LENGTH];
    if (block->rows == 0)
        return;
    /* If all repetitions of the distinct rows have the same bits, only the first ones are judged. */
    const size_t distinct = block->distinct ? block->distinct : block->rows;
    const size_t bytes = judge_bytes(block), again = bytes / block->rows * distinct;
    const size_t rows = memcmp(computed, (const char *)computed + again, bytes - again) == 0
                            ? distinct
                            : block->rows;
    for (size_t row = 0; row < block->rows; row++) {
        if (row >= rows) {
            judge->wrong_rows[row] = judge->wrong_rows[row - rows];
            continue;
        }
        row_findings one = {.verdict.kind = VERDICT_PASS};
        const verdict_kind *is = &one.verdict.kind;
        judge_row(judge, block, judge_row_of(block, computed, row), row, kind, &one);
        judge->wrong_rows[row] = *is != VERDICT_PASS && !verdict_is_limit(*is);
        if (*is != VERDICT_PASS)
            judge_find(&all, *is, "%s", one.verdict.detail);
        findings->unclaimed += one.unclaimed;
        findings->unlimited += one.unlimited;
        if (one.explained && verdict_is_fault(*is))
            note_mistakes(findings, one.mistakes);
    }
    if (found->kind == VERDICT_PASS)
        return;
    if (verdict_is_limit(found->kind) || block->rows == 1)
        judge_find(findings, found->kind, "%s", found->detail);
    else {
        pattern_words(judge->wrong_rows, block->rows, "row", where);
        judge_find(findings, found->kind, "%s; wrong in %s", found->detail, where);
    }
}

void judge_statistics(row_judge *judge, const judge_block *block, size_t row,
                      const judged_kind *kind, row_findings *findings)
{
    const operation *what = operations[block->operation];
    /* A kernel may keep sums of f32 parts in f64. Its statistics are judged as those of an f32 accumulator, since
     * they need no more digits than the rows have. */
    judged_kind as_rows = *kind;
    if (block->storage != LN_F64 && kind->accumulator == LN_F64)
        as_rows.accumulator = LN_F32;
    const row_limits *limits = judge_limits(judge, block, &as_rows, row);
    int digits = kind->given == LN_F64 ? 17 : 9;
    const ln_bound *bound = &judge->bounds[row];
    bool claims = kind->has_bound && isfinite(bound->xhat_abs) && isfinite(bound->affine_rel);
    for (size_t i = 0; i < what->count; i++) {
        if (!role_is_statistic(&what->roles[i]) || !judge_is_given(&judge->given[i][row]))
            continue;
        double given = judge->given[i][row];
        judged_statistic found = judge_statistic(&block->results[row], i, given);
        double most = limits->statistics[i], unit = unit_roundoff(as_rows.accumulator);
        /* A kernel with a proven bound may use algorithms that are in no textbook. Its bound of xhat limits
         * the error of the statistics, from which xhat is computed; they are rounded when they are written. */
        if (claims)
            most = fmin(limits->order.statistics[i],
                        2 * bound->xhat_abs / found.weight + 4 * unit * found.size);
        if (kind->given != kind->accumulator) /* coarser: rounded once more */
            most += unit_roundoff(kind->given) * found.size;
        /* The correctly rounded value is right, even if its error is large (subnormal, or overflow). */
        if (!isfinite(most) || found.off <= most || stored_in(kind->given, found.exact) == given)
            continue;
        row_limits poorest = *limits;
        metrics_row judged = judge_metrics_row(block, row);
        if (!claims)
            poorest = limits_poorest(as_rows.accumulator, &judged, judge->values, limits);
        bool limit = found.off <= poorest.statistics[i] && !claims;
        judge_find(findings, limit ? VERDICT_TYPE_LIMITED : VERDICT_INACCURATE,
                   "row %zu: %s is %.*g where %.*g is right (allowed error: %.3g%s)", row,
                   what->roles[i].name, digits, given, digits, found.exact, most,
                   found.relative ? " of it" : "");
    }
}

void judge_measure(row_judge *judge, const judge_block *block, const void *computed, bool has_bound,
                   bool has_statistics, case_judgement *judgement)
{
    const operation *what = operations[block->operation];
    metrics_gather *all = metrics_gather_create();
    if (!all)
        memory_is_out(0);
    judgement->bound_row_ulp = has_bound ? 0 : NAN;
    for (size_t row = 0; row < block->rows; row++) {
        metrics_row judged = judge_metrics_row(block, row);
        metrics_of_row here;
        judged_row *noted = &judge->by_row[row];
        const double *statistics[ROLES_MOST] = {0}; /* rounded for the metrics; NULL: none */
        for (size_t i = 0; has_statistics && i < what->count; i++)
            if (role_is_statistic(&what->roles[i]))
                statistics[i] = &judge->rounded[i][row];
        if (!metrics_gather_row(all, &judged, row, judge_row_of(block, computed, row),
                                statistics[ROLE_MEAN], statistics[ROLE_RSTD], &here))
            memory_is_out(block->hidden);
        noted->kappa = block->results[row].kappa;
        noted->row_ulp = here.mismatches ? NAN : here.row_ulp_max;
        noted->norm_max = here.mismatches ? NAN : here.norm_max;
        if (!has_bound) /* otherwise it was set with the bounds */
            noted->bound_row_ulp = NAN;
        for (size_t i = 0; i < what->count; i++) {
            noted->statistic_errors[i] = NAN;
            if (statistics[i])
                noted->statistic_errors[i] =
                    judge_statistic(&block->results[row], i, judge->given[i][row]).error;
        }
        if (has_bound && !(noted->bound_row_ulp <= judgement->bound_row_ulp))
            judgement->bound_row_ulp = noted->bound_row_ulp;
    }
    metrics_gather_finish(all, &judgement->metrics);
    metrics_gather_destroy(all);
}

void judge_conclude(const row_judge *judge, const judge_block *block, const judged_kind *kind,
                    row_findings *findings, case_judgement *judgement)
{
    /* In ULP; the exact statistics are doubles, whose own rounding the 1e-6 covers. */
    static const double half = 0.5 + 1e-6;
    const double limit = judge->settings.max_row_ulp;
    const ln_metrics *found = &judgement->metrics;
    const double off = fmax(0, fmax(found->mean_ulp_max, found->rstd_ulp_max));
    if (found->row_ulp_max > limit)
        judge_find(findings, VERDICT_INACCURATE, "row_ulp %.4g is above --max-row-ulp %g",
                   found->row_ulp_max, limit);
    if (kind->correctly_rounded && (found->correctly_rounded < 1 || off > half))
        judge_find(
            findings, VERDICT_INACCURATE,
            "claims correct rounding, but rounds %.6g %% of y correctly; mean and rstd are up to "
            "%.6g ULP off",
            100 * found->correctly_rounded, off);
    /* A row without a bound and without a correct digit (its error is at least half of the row's scale) is
     * type-limited, since "pass" would mislead. */
    for (size_t row = 0; row < block->rows; row++) {
        const judged_row *judged = &judge->by_row[row];
        if (!isfinite(judged->bound_row_ulp) && judged->row_ulp >= dtype_no_digit(block->storage))
            judge_find(findings, VERDICT_TYPE_LIMITED,
                       "row %zu: no correct digit, and the kernel claims no bound there", row);
    }
    judgement->verdict = findings->verdict;
    judgement->mistakes = findings->mistakes;
    if (findings->verdict.kind != VERDICT_PASS || findings->unclaimed == 0)
        return;
    judgement->verdict.kind = VERDICT_PASS_NO_BOUND;
    if (kind->has_bound)
        snprintf(judgement->verdict.detail, sizeof judgement->verdict.detail, "for %zu of %zu rows",
                 findings->unclaimed, block->rows);
}

void judge_call(row_judge *judge, const judge_block *block, const void *computed,
                const judged_kind *kind, bool statistics, row_findings *findings,
                case_judgement *judgement)
{
    judge_rows(judge, block, computed, kind, findings);
    for (size_t row = 0; statistics && row < block->rows; row++)
        judge_statistics(judge, block, row, kind, findings);
    judge_measure(judge, block, computed, kind->has_bound, false, judgement);
    judge_conclude(judge, block, kind, findings, judgement);
}

void judge_output(row_judge *judge, const judge_block *block, const void *computed,
                  case_judgement *judgement)
{
    judged_kind kind = judged_kind_unknown(block);
    row_findings findings = {.verdict.kind = VERDICT_PASS};
    *judgement = (struct case_judgement){.bound_row_ulp = NAN, .probable_row_ulp = NAN};
    judge_reserve(judge, block);
    judge_call(judge, block, computed, &kind, false, &findings, judgement);
    judgement->by_row = judge->by_row;
    /* An unknown kernel cannot be excused as type-limited: a wrong class is a failure, and a row without a correct
     * digit and without a limit is a pass without a bound, or not judged (below). */
    if (judgement->verdict.kind == VERDICT_TYPE_LIMITED)
        judgement->verdict = (case_verdict){.kind = VERDICT_PASS_NO_BOUND};
    if (judgement->verdict.kind == VERDICT_TYPE_LIMITED_CLASS)
        judgement->verdict.kind = VERDICT_WRONG_CLASS;
    /* Without any limit there is no verdict, unless the caller set max_row_ulp. */
    if (judgement->verdict.kind == VERDICT_PASS_NO_BOUND && findings.unlimited > 0 &&
        isinf(judge->settings.max_row_ulp)) {
        judgement->verdict.kind = VERDICT_NOT_JUDGED;
        snprintf(judgement->verdict.detail, sizeof judgement->verdict.detail,
                 "in %zu of %zu rows the order of summation may cost every digit; "
                 "give a limit (--max-row-ulp, max_row_ulp)",
                 findings.unlimited, block->rows);
    }
}

worst_row worst_row_of(const judge_block *block, size_t row, const case_judgement *judgement,
                       const char *kernel, const char *convention)
{
    bool measured = judgement->metrics.elements > 0;
    size_t row_bytes = block->hidden * dtype_size(block->storage);
    worst_row here = {
        .operation = block->operation,
        .rows = 1,
        .hidden = block->hidden,
        .storage = block->storage,
        .param = block->param,
        .verdict = judgement->verdict,
        .row_ulp = NAN,
        .bound_row_ulp = NAN,
        .computed = NAN,
        .exact = NAN,
    };
    const operation *what = operations[block->operation];
    for (size_t i = 0; i < what->count; i++) {
        bool parameter = role_is_parameter(&what->roles[i]);
        if (!block->inputs[i] || !role_is_kept(&what->roles[i]))
            continue;
        here.inputs[i] = (char *)block->inputs[i] + (parameter ? 0 : row * row_bytes);
        if (parameter)
            here.parameters = role_columns(&what->roles[i], &block->convention, block->hidden);
    }
    snprintf(here.kernel, sizeof here.kernel, "%s", kernel);
    snprintf(here.convention, sizeof here.convention, "%s", convention);
    if (measured) {
        const ln_metrics *metrics = &judgement->metrics;
        here.row_ulp = judgement->by_row[row].row_ulp;
        here.bound_row_ulp = judgement->by_row[row].bound_row_ulp;
        here.column = metrics->worst_column;
        here.computed = metrics->worst_computed;
        here.exact = metrics->worst_exact;
        here.y_hash =
            hash_bytes(HASH_START, (const char *)judgement->computed + row * row_bytes, row_bytes);
    }
    return here;
}

/* ---- gradients ---- */

const char *gradient_name(size_t which)
{
    static const char *const names[GRADIENTS] = {"dx", "dgamma", "dbeta"};
    return names[which];
}

/* Measures each gradient as the output of a norm without parameters, whose scale max_xhat is the largest exact value of
 * the row. */
void judge_gradients(const ln_problem *problem, const ln_tensors *tensors, const void *dy,
                     const void *const given[GRADIENTS], ln_metrics found[GRADIENTS])
{
    const ln_affine affine = problem->convention.affine;
    ln_gradients right = {0};
    ln_gradient *all[GRADIENTS] = {&right.dx, &right.dgamma, &right.dbeta};
    const bool has[GRADIENTS] = {given[0] != NULL, given[1] && ln_has_gamma(affine),
                                 given[2] && ln_has_beta(affine)};
    const size_t lengths[GRADIENTS] = {problem->hidden,
                                       ln_parameter_elements(affine, problem->hidden),
                                       ln_parameter_elements(affine, problem->hidden)};
    const size_t rows[GRADIENTS] = {problem->rows, 1, 1};
    const ln_type types[GRADIENTS] = {problem->storage, problem->param, problem->param};
    for (size_t i = 0; i < GRADIENTS; i++) {
        found[i] = (ln_metrics){
            .ulp_max = NAN, .row_ulp_max = NAN, .rel_l2 = NAN, .correctly_rounded = NAN};
        if (!has[i])
            continue;
        all[i]->rounded = allocate(rows[i] * lengths[i] * dtype_size(types[i]));
        all[i]->exact = allocate(rows[i] * lengths[i] * sizeof *all[i]->exact);
    }
    if (!ln_backward(&problem->convention, problem->storage, problem->param, problem->rows,
                     problem->hidden, tensors->x, dy, tensors->gamma, &right))
        memory_is_out(problem->hidden);
    for (size_t i = 0; i < GRADIENTS; i++) {
        const size_t bytes = lengths[i] * dtype_size(types[i]);
        metrics_gather *gather = has[i] ? metrics_gather_create() : NULL;
        for (size_t row = 0; gather && row < rows[i]; row++) {
            ln_reference_result answer = {.rounded = (char *)all[i]->rounded + row * bytes,
                                          .exact = all[i]->exact + row * lengths[i]};
            for (size_t c = 0; c < lengths[i]; c++)
                if (isfinite(answer.exact[c]))
                    answer.max_xhat = fmax(answer.max_xhat, fabs(answer.exact[c]));
            const metrics_row judged = {types[i], types[i], lengths[i], &problem->convention,
                                        NULL,     NULL,     &answer,    LN_AFFINE_NONE,
                                        false};
            if (!metrics_gather_row(gather, &judged, row, (const char *)given[i] + row * bytes,
                                    NULL, NULL, NULL))
                memory_is_out(bytes);
        }
        if (gather)
            metrics_gather_finish(gather, &found[i]);
        metrics_gather_destroy(gather);
        free(all[i]->rounded);
        free(all[i]->exact);
    }
}
