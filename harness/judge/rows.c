/* What came out, row by row, against the answers: classes, bounds, metrics, the verdict. */
#include "base/arena.h"
#include "base/hash.h"
#include "judge/judging.h"
#include "judge/position.h"
#include "domain/poison.h"
#include "exact/scale.h"
#include "metrics/storage.h"
#include "base/text.h"
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int class_of(double value)
{
    return isnan(value) ? 0 : isinf(value) ? (value > 0 ? 1 : 2) : 3;
}

bool judge_classes_match(const judge_block *block, size_t row, const void *y, size_t *column)
{
    for (size_t i = 0; i < block->hidden; i++) {
        *column = i;
        if (class_of(storage_load(block->storage, block->results[row].rounded, i)) !=
            class_of(storage_load(block->storage, y, i)))
            return false;
    }
    return true;
}

metrics_row judge_metrics_row(const judge_block *block, size_t row)
{
    const operation *what = operations[block->operation];
    return (metrics_row){
        block->storage,
        block->param,
        block->hidden,
        &block->convention,
        block->inputs[ROLE_GAMMA],
        block->inputs[ROLE_BETA],
        &block->results[row],
        convention_form(&block->convention),
        what->rounds_factor && what->rounds_factor(&block->convention),
    };
}

/* Keeps the gravest: what is wrong before a limit, what tells more, a wrong class before an inaccuracy, the
 * first of equals. */
void judge_find(row_findings *findings, verdict_kind kind, const char *format, ...)
{
    case_verdict *held = &findings->verdict, found = {.kind = kind};
    va_list arguments;
    char text[DETAIL_MAX_LENGTH];
    va_start(arguments, format);
    number_print_list(text, sizeof text, format, arguments);
    va_end(arguments);
    verdict_say(&found, "%s", text);
    int tells = verdict_telling(&found), told = verdict_telling(held);
    if (held->kind == VERDICT_RIGHT || tells > told ||
        (tells == told && ((held->kind == VERDICT_INACCURATE && kind == VERDICT_WRONG_CLASS) ||
                           (held->kind == VERDICT_LIMIT && kind == VERDICT_LIMIT_CLASS))))
        *held = found;
}

/* ---- a wrong row in words ---- */

static void note_mistakes(row_findings *findings, mistake_set made)
{
    mistake_set *held = &findings->mistakes;
    held->fit = findings->explained++ ? held->fit & made.fit : made.fit;
    held->far |= made.far;
}

void judge_rounding(const judge_block *block, const void *y, row_findings *findings)
{
    const operation_judging *judging = judgings[block->operation];
    uint64_t otherwise = judging->rounded_otherwise ? judging->rounded_otherwise(block, y) : 0;
    if (!otherwise)
        return;
    judge_find(findings, VERDICT_INACCURATE, "y is rounded elsewhere than the convention says");
    note_mistakes(findings, (mistake_set){otherwise, otherwise});
}

/* A row that is wrong, and what is to be said of it. */
typedef struct wrong_row {
    row_judge *judge;
    const judge_block *block;
    size_t number;
    const void *y;
    double limit; /* row ULP that rounding may take; infinite: not known */
    char words[ROW_FAULT_LENGTH];
    char as[ROW_FAULT_LENGTH]; /* what all columns are off by; or "" */
} wrong_row;

/* An element in words: NaN has no sign there. */
static double shown_at(ln_type type, const void *row, size_t column)
{
    double value = storage_load(type, row, column);
    return isnan(value) ? NAN : value;
}

/* What an element that is wrong looks like. */
static const char *look_of(const wrong_row *wrong, size_t column)
{
    size_t size = dtype_size(wrong->block->storage);
    double given = storage_load(wrong->block->storage, wrong->y, column);
    const char *bits = (const char *)wrong->y + column * size;
    return judge_is_poison(bits, size) ? SAYS_UNWRITTEN
           : is_from_statistic_poison(bits, size)
               ? "it took from mean or rstd what the call found there"
           : is_from_gap(bits, size) ? wrong->block->inputs[ROLE_RESIDUAL] ? SAYS_FROM_GAP
                                           "x or residual"
                                                                           : SAYS_FROM_GAP "x"
           : isnan(given)            ? "NaN"
           : isinf(given)            ? "an infinity"
           : given == 0              ? "0"
                                     : "";
}

/* Marks the columns that are wrong. NULL: these do not look alike. *first: one of them. */
static const char *mark_columns(const wrong_row *wrong, size_t *first, size_t *count)
{
    /* Rounding alone does not reach it where sums are right. */
    static const double noise = 4, share = 16;
    const judge_block *block = wrong->block;
    metrics_row judged = judge_metrics_row(block, wrong->number);
    double worst = limits_error(&judged, wrong->y), most = wrong->limit;
    /* What is off by a sixteenth of the worst is wrong for the same reason. */
    double alike = worst > most ? fmax(worst / share, noise) : most;
    const char *look = NULL;
    *count = 0;
    for (size_t i = 0; i < block->hidden; i++) {
        double given = storage_load(block->storage, wrong->y, i);
        double right = storage_load(block->storage, judged.answer->rounded, i);
        bool finite = isfinite(given) && isfinite(right);
        bool bad = class_of(given) != class_of(right) ||
                   (finite && fabs(row_ulp_of(&judged, i, given)) > fmin(most, alike));
        wrong->judge->wrong_columns[i] = bad;
        if (!bad)
            continue;
        const char *here = look_of(wrong, i);
        *first = *count ? *first : i;
        look = *count && strcmp(look, here) != 0 ? "" : here;
        *count += 1;
    }
    return look && *look ? look : NULL;
}

/* Whether y is off by the same share of gamma xhat in every column: where one is the largest by far, it alone
 * may be beyond the limit. */
static bool is_stretched(const metrics_row *row, const void *y, double *share)
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

/* Columns of which a pattern is no accident. */
enum { LONG_ENOUGH = 8 };

/* Where and how it is wrong; false: a figure says all. */
static bool describe_row(wrong_row *wrong, row_findings *findings)
{
    const judge_block *block = wrong->block;
    const operation_judging *judging = judgings[block->operation];
    metrics_row judged = judge_metrics_row(block, wrong->number);
    char where[PATTERN_LENGTH];
    size_t first, count;
    const explained_row asked = {&judged, wrong->judge->values, wrong->y, wrong->limit,
                                 block,   wrong->number};
    note_mistakes(findings, judging->mistakes ? judging->mistakes(&asked) : (mistake_set){0});
    double share;
    if (block->hidden >= LONG_ENOUGH && is_stretched(&judged, wrong->y, &share)) {
        number_print(wrong->as, ROW_FAULT_LENGTH,
                     ", y - exact being %.3g of gamma xhat in all columns", share);
        return false;
    }
    const char *look = mark_columns(wrong, &first, &count);
    if (count == 0 || (!look && (count == block->hidden || block->hidden < LONG_ENOUGH)) ||
        !pattern_words(wrong->judge->wrong_columns, block->hidden, "column", where))
        return false;
    double given = shown_at(block->storage, wrong->y, first);
    double right = shown_at(block->storage, judged.answer->rounded, first);
    if (look)
        number_print(wrong->words, sizeof wrong->words, "%s: %s where %.6g is right", where, look,
                     right);
    else
        number_print(wrong->words, sizeof wrong->words, "%s: %.6g where %.6g is right", where,
                     given, right);
    return true;
}

static void find_wrong_class(wrong_row *wrong, size_t column, bool limit, row_findings *findings)
{
    verdict_kind kind = limit ? VERDICT_LIMIT_CLASS : VERDICT_WRONG_CLASS;
    const char *look = look_of(wrong, column);
    if (describe_row(wrong, findings))
        judge_find(findings, kind, "row %zu: %s", wrong->number, wrong->words);
    else
        judge_find(
            findings, kind, "row %zu, column %zu: %s where %.6g is right", wrong->number, column,
            *look ? look : "a number",
            shown_at(wrong->block->storage, wrong->block->results[wrong->number].rounded, column));
}

/* Beyond its limits, which `limits` are. */
static void find_inaccuracy(wrong_row *wrong, const row_limits *limits, row_findings *findings)
{
    metrics_row judged = judge_metrics_row(wrong->block, wrong->number);
    double own = limits_error(&judged, wrong->y);
    if (describe_row(wrong, findings))
        judge_find(findings, VERDICT_INACCURATE, "row %zu: %s", wrong->number, wrong->words);
    else if (own > limits->order_ulp)
        judge_find(
            findings, VERDICT_INACCURATE,
            "row %zu: beyond any order of summation: row ULP %.3g, at most %.3g, probably %.3g%s",
            wrong->number, own, limits->order_ulp, limits->likely_ulp, wrong->as);
    else
        judge_find(findings, VERDICT_INACCURATE,
                   "row %zu: worse than every textbook kernel: row ULP %.3g, theirs at most %.3g%s",
                   wrong->number, own, limits->textbook.row_ulp, wrong->as);
}

/* ---- rows ---- */

/* Whether y may pass the largest number on its way to one that is finite: an infinity of the right sign
 * is a limit of the accumulator's type then. */
static bool may_pass_the_end(const operation_judging *judging, const metrics_row *judged,
                             const double *x, const void *y, ln_type accumulator, size_t column)
{
    static const double ends[] = {
        [LN_F32] = FLT_MAX, [LN_F64] = DBL_MAX, [LN_BF16] = 0x1.fep+127, [LN_F16] = 65504};
    double given = storage_load(judged->storage, y, column);
    double exact = judged->answer->exact[column];
    return isinf(given) && isfinite(exact) && signbit(given) == signbit(exact) &&
           judging->reach(judged, x, column) >= ends[accumulator];
}

/* A row without a claim: what any order of summation and the textbook explain. Where they explain
 * anything (sums may overflow, or nothing is left of the variance), a wrong class is a limit of the
 * types; a row with a NaN or an infinity in it has no such excuse. */
static void judge_unclaimed(row_judge *judge, const judge_block *block, const void *y, size_t row,
                            const judged_kind *kind, row_findings *findings)
{
    const operation_judging *judging = judgings[block->operation];
    const row_limits *limits = judge_limits(judge, block, kind, row);
    metrics_row judged = judge_metrics_row(block, row);
    wrong_row wrong = {judge, block, row, y, limits->row_ulp, "", ""};
    double worst;
    size_t column;
    findings->unclaimed++;
    bool known = limits_tell(limits), special = !isfinite(block->results[row].facts.max_abs);
    /* Within 1 row ULP it is right whatever sums may do. */
    findings->untold +=
        !known && !special && !limits->textbook.undefined && limits_error(&judged, y) > 1;
    if (judge_classes_match(block, row, y, &column)) {
        row_limits poorest = *limits;
        bool holds = limits_hold(limits, &judged, y);
        if (!holds)
            poorest = limits_poorest(judging, &judge->book, kind->accumulator, &judged,
                                     judge->values, limits);
        if (!holds && limits_hold(&poorest, &judged, y))
            judge_find(
                findings, VERDICT_LIMIT,
                "row %zu: row ULP %.3g, which sorted sums or a pivot far from the mean give too: "
                "at most %.3g; others %.3g",
                row, limits_error(&judged, y), poorest.textbook.row_ulp, limits->textbook.row_ulp);
        else if (!holds)
            find_inaccuracy(&wrong, limits, findings);
    } else if (!(isfinite(limits->order_ulp) &&
                 ln_bound_holds(&limits->order.bound, &judged, y, &worst))) {
        bool excused = !known && !special && !limits->textbook.undefined;
        find_wrong_class(&wrong, column,
                         excused || may_pass_the_end(judging, &judged, judge->values, y,
                                                     kind->accumulator, column),
                         findings);
    }
}

/* Where the kernel claims a bound, that decides of classes too: near the end of the type's range it
 * may leave open whether a result is finite. */
void judge_row(row_judge *judge, const judge_block *block, const void *y, size_t row,
               const judged_kind *kind, row_findings *findings)
{
    const ln_bound *bound = &judge->bounds[row];
    metrics_row judged = judge_metrics_row(block, row);
    double worst;
    size_t column;
    /* A bound that is NaN is no way out: nothing holds against it. */
    if (!kind->has_bound || bound->xhat_abs == INFINITY || bound->affine_rel == INFINITY) {
        judge_unclaimed(judge, block, y, row, kind, findings);
        return;
    }
    if (ln_bound_holds(bound, &judged, y, &worst))
        return;
    const row_limits *limits = judge_limits(judge, block, kind, row);
    wrong_row wrong = {judge, block, row, y, limits->row_ulp, "", ""};
    if (!judge_classes_match(block, row, y, &column))
        find_wrong_class(&wrong, column, false, findings);
    else if (describe_row(&wrong, findings))
        judge_find(findings, VERDICT_INACCURATE, "row %zu: %s", row, wrong.words);
    else
        judge_find(findings, VERDICT_INACCURATE,
                   "row %zu: the error is %.3g times the proven bound", row, worst);
}

/* Rows that come again need no second look where they came out as those before. */
static size_t rows_to_judge(const judge_block *block, const char *computed)
{
    const size_t distinct = block->distinct ? block->distinct : block->rows;
    const size_t bytes = judge_bytes(block), again = bytes / block->rows * distinct;
    return memcmp(computed, computed + again, bytes - again) == 0 ? distinct : block->rows;
}

void judge_rows(row_judge *judge, const judge_block *block, const void *computed,
                const judged_kind *kind, row_findings *findings)
{
    row_findings all = {.verdict.kind = VERDICT_RIGHT};
    const size_t rows = block->rows ? rows_to_judge(block, computed) : 0;
    char where[PATTERN_LENGTH];
    for (size_t row = 0; row < block->rows; row++) {
        if (row >= rows) {
            judge->wrong_rows[row] = judge->wrong_rows[row - rows];
            continue;
        }
        row_findings one = {.verdict.kind = VERDICT_RIGHT};
        judge_row(judge, block, judge_row_of(block, computed, row), row, kind, &one);
        judge->wrong_rows[row] =
            one.verdict.kind != VERDICT_RIGHT && !verdict_is_limit(one.verdict.kind);
        if (one.verdict.kind != VERDICT_RIGHT)
            judge_find(&all, one.verdict.kind, "%s", one.verdict.detail);
        findings->unclaimed += one.unclaimed;
        findings->untold += one.untold;
        if (one.explained && verdict_is_fault(one.verdict.kind))
            note_mistakes(findings, one.mistakes);
    }
    const case_verdict *found = &all.verdict;
    if (found->kind == VERDICT_RIGHT)
        return;
    if (verdict_is_limit(found->kind) || block->rows == 1)
        judge_find(findings, found->kind, "%s", found->detail);
    else {
        pattern_words(judge->wrong_rows, block->rows, "row", where);
        judge_find(findings, found->kind, "%s; wrong in %s", found->detail, where);
    }
}

/* What is as near as its type allows is right, however far that is: a subnormal, or beyond the end. */
static bool is_nearest(ln_type type, double given, double exact)
{
    double room;
    storage_store(type, &room, 0, exact);
    return storage_load(type, &room, 0) == given;
}

void judge_statistics(row_judge *judge, const judge_block *block, size_t row,
                      const judged_kind *kind, row_findings *findings)
{
    const operation *what = operations[block->operation];
    const operation_judging *judging = judgings[block->operation];
    /* Sums of f32 parts may be kept in f64: the type of what is given promises no more digits than
     * the rows have. */
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
        judged_statistic found = judging->statistic(&block->results[row], i, given);
        double most = limits->statistics[i], unit = unit_roundoff(as_rows.accumulator);
        /* A kernel with a proof of y may sum in ways that no textbook has. What it proves of xhat
         * holds for the statistics that xhat is made of; being given, they round. */
        if (claims)
            most = fmin(limits->order.statistics[i],
                        2 * bound->xhat_abs / found.weight + 4 * unit * found.size);
        if (kind->given != kind->accumulator) /* coarser: rounded once more */
            most += unit_roundoff(kind->given) * found.size;
        if (!isfinite(most) || found.off <= most || is_nearest(kind->given, given, found.exact))
            continue;
        row_limits poorest = *limits;
        metrics_row judged = judge_metrics_row(block, row);
        if (!claims)
            poorest = limits_poorest(judging, &judge->book, as_rows.accumulator, &judged,
                                     judge->values, limits);
        bool limit = found.off <= poorest.statistics[i] && !claims;
        judge_find(findings, limit ? VERDICT_LIMIT : VERDICT_INACCURATE,
                   "row %zu: %s is %.*g where %.*g is right, and may be off by %.3g%s", row,
                   what->roles[i].name, digits, given, digits, found.exact, most,
                   found.relative ? " of it" : "");
    }
}

/* As metrics take it; NULL: the kernel, or the operation, gives none. */
static const double *statistic_of(const row_judge *judge, const operation *what, bool given,
                                  size_t role, size_t row)
{
    bool there = given && role < what->count && role_is_statistic(&what->roles[role]);
    return there ? &judge->rounded[role][row] : NULL;
}

void judge_measure(row_judge *judge, const judge_block *block, const void *computed, bool has_bound,
                   bool has_statistics, case_judgement *judgement)
{
    const operation *what = operations[block->operation];
    const operation_judging *judging = judgings[block->operation];
    metrics_gather *all = metrics_gather_create();
    if (!all)
        memory_is_out(0);
    judgement->bound_row_ulp = has_bound ? 0 : NAN;
    for (size_t row = 0; row < block->rows; row++) {
        metrics_row judged = judge_metrics_row(block, row);
        metrics_of_row here;
        judged_row *noted = &judge->by_row[row];
        if (!metrics_gather_row(all, &judged, row, judge_row_of(block, computed, row),
                                statistic_of(judge, what, has_statistics, ROLE_MEAN, row),
                                statistic_of(judge, what, has_statistics, ROLE_RSTD, row), &here))
            memory_is_out(block->hidden);
        noted->kappa = block->results[row].kappa;
        noted->row_ulp = here.mismatches ? NAN : here.row_ulp_max;
        noted->norm_max = here.mismatches ? NAN : here.norm_max;
        if (!has_bound) /* else measured with the bounds */
            noted->bound_row_ulp = NAN;
        for (size_t i = 0; i < what->count; i++) {
            noted->statistic_errors[i] = NAN;
            if (has_statistics && role_is_statistic(&what->roles[i]))
                noted->statistic_errors[i] =
                    judging->statistic(&block->results[row], i, judge->given[i][row]).error;
        }
        if (has_bound && !(noted->bound_row_ulp <= judgement->bound_row_ulp))
            judgement->bound_row_ulp = noted->bound_row_ulp;
    }
    metrics_gather_finish(all, &judgement->metrics);
    metrics_gather_destroy(all);
}

/* Where a kernel claims nothing and not one digit is right (an error of half the row's scale or
 * more), "right" would mislead: it is a limit. */
static void find_digitless_rows(const row_judge *judge, const judge_block *block,
                                row_findings *findings)
{
    for (size_t row = 0; row < block->rows; row++) {
        const judged_row *judged = &judge->by_row[row];
        if (!isfinite(judged->bound_row_ulp) && judged->row_ulp >= dtype_no_digit(block->storage))
            judge_find(findings, VERDICT_LIMIT,
                       "row %zu: no digit is right, and nothing is claimed there", row);
    }
}

void judge_conclude(const row_judge *judge, const judge_block *block, bool has_bound,
                    row_findings *findings, case_judgement *judgement)
{
    double limit = judge->settings.max_row_ulp;
    double found = judgement->metrics.row_ulp_max;
    if (found > limit)
        judge_find(findings, VERDICT_INACCURATE, "row_ulp %.4g is above --max-row-ulp %g", found,
                   limit);
    find_digitless_rows(judge, block, findings);
    judgement->verdict = findings->verdict;
    judgement->mistakes = findings->mistakes;
    if (findings->verdict.kind != VERDICT_RIGHT || findings->unclaimed == 0)
        return;
    judgement->verdict.kind = VERDICT_RIGHT_NO_BOUND;
    if (has_bound)
        snprintf(judgement->verdict.detail, sizeof judgement->verdict.detail,
                 "no claim for %zu of %zu rows", findings->unclaimed, block->rows);
}

void judge_call(row_judge *judge, const judge_block *block, const void *computed,
                const judged_kind *kind, bool statistics, row_findings *findings,
                case_judgement *judgement)
{
    judge_rows(judge, block, computed, kind, findings);
    for (size_t row = 0; statistics && row < block->rows; row++)
        judge_statistics(judge, block, row, kind, findings);
    judge_measure(judge, block, computed, kind->has_bound, false, judgement);
    judge_conclude(judge, block, kind->has_bound, findings, judgement);
}

void worst_row_take(const judge_block *block, size_t row, const case_judgement *judgement,
                    const char *kernel, const char *convention, worst_row *taken)
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
    worst_row_copy(&here, taken);
}
