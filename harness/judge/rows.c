/* What came out, row by row, against the answers: classes, bounds, metrics, the verdict. */
#include "judge/judging.h"
#include "domain/poison.h"
#include "exact/scale.h"
#include "metrics/storage.h"
#include "base/number.h"
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

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
    return (metrics_row){
        block->storage,
        block->param,
        block->hidden,
        &block->convention,
        block->inputs[ROLE_GAMMA],
        block->inputs[ROLE_BETA],
        &block->results[row],
    };
}

/* Keeps the worst: what is not declared before what is, a wrong class before an inaccuracy, the
 * first of equals. */
void judge_find(row_findings *findings, verdict_kind kind, bool declared, const char *format, ...)
{
    case_verdict *held = &findings->verdict;
    bool graver = held->kind == VERDICT_RIGHT || (held->declared && !declared) ||
                  (held->declared == declared && held->kind == VERDICT_INACCURATE &&
                   kind == VERDICT_WRONG_CLASS);
    if (!graver)
        return;
    va_list arguments;
    va_start(arguments, format);
    held->kind = kind;
    held->declared = declared;
    number_print_list(held->detail, sizeof held->detail, format, arguments);
    va_end(arguments);
}

static void find_wrong_class(const judge_block *block, size_t row, const void *y, size_t column,
                             bool declared, row_findings *findings)
{
    size_t size = dtype_size(block->storage);
    const char *given = (const char *)y + column * size;
    double value = storage_load(block->storage, y, column);
    judge_find(findings, VERDICT_WRONG_CLASS, declared, "row %zu, column %zu: %s where %g is right",
               row, column,
               judge_is_poison(given, size) ? "nothing was written"
               : is_from_statistic_poison(given, size)
                   ? "it took from mean or rstd what the call found there"
               : isnan(value) ? "NaN"
               : isinf(value) ? "an infinity"
                              : "a finite value",
               storage_load(block->storage, block->results[row].rounded, column));
}

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
    char why[ROW_FAULT_LENGTH];
    double worst;
    size_t column;
    findings->unclaimed++;
    if (!limits) {
        findings->no_memory = true;
        return;
    }
    bool known = limits_tell(limits), special = !isfinite(block->results[row].facts.max_abs);
    /* Within 1 row ULP it is right whatever sums may do. */
    findings->untold +=
        !known && !special && !limits->textbook.undefined && limits_error(&judged, y) > 1;
    if (judge_classes_match(block, row, y, &column)) {
        if (!limits_hold(judging, limits, &judged, judge->values, y, why))
            judge_find(findings, VERDICT_INACCURATE, false, "row %zu: %s", row, why);
    } else if (!(isfinite(limits->order_ulp) &&
                 ln_bound_holds(&limits->order.bound, &judged, y, &worst))) {
        bool excused = !known && !special && !limits->textbook.undefined;
        find_wrong_class(block, row, y, column,
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
    if (!judge_classes_match(block, row, y, &column))
        find_wrong_class(block, row, y, column, false, findings);
    else
        judge_find(findings, VERDICT_INACCURATE, false,
                   "row %zu: the error is %.3g times the proven bound", row, worst);
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
    if (!limits) {
        findings->no_memory = true;
        return;
    }
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
        if (isfinite(most) && !(found.off <= most) && !is_nearest(kind->given, given, found.exact))
            judge_find(findings, VERDICT_INACCURATE, false,
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

bool judge_measure(row_judge *judge, const judge_block *block, const void *computed, bool has_bound,
                   bool has_statistics, case_judgement *judgement, error *err)
{
    const operation *what = operations[block->operation];
    const operation_judging *judging = judgings[block->operation];
    metrics_gather *all = metrics_gather_create();
    bool fine = all != NULL;
    judgement->bound_row_ulp = has_bound ? 0 : NAN;
    for (size_t row = 0; fine && row < block->rows; row++) {
        metrics_row judged = judge_metrics_row(block, row);
        metrics_of_row here;
        judged_row *noted = &judge->by_row[row];
        fine = metrics_gather_row(all, &judged, row, judge_row_of(block, computed, row),
                                  statistic_of(judge, what, has_statistics, ROLE_MEAN, row),
                                  statistic_of(judge, what, has_statistics, ROLE_RSTD, row), &here);
        if (!fine)
            break;
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
    if (fine)
        metrics_gather_finish(all, &judgement->metrics);
    metrics_gather_destroy(all);
    return fine || fail_memory(err, "error metrics");
}

/* Where a kernel claims nothing and not one digit is right (an error of half the row's scale or
 * more), "right" would mislead: it is inaccurate, and declared. */
static void find_digitless_rows(const row_judge *judge, const judge_block *block,
                                row_findings *findings)
{
    for (size_t row = 0; row < block->rows; row++) {
        const judged_row *judged = &judge->by_row[row];
        if (!isfinite(judged->bound_row_ulp) && judged->row_ulp >= dtype_no_digit(block->storage))
            judge_find(findings, VERDICT_INACCURATE, true,
                       "row %zu: no digit is right, and nothing is claimed there", row);
    }
}

void judge_conclude(const row_judge *judge, const judge_block *block, bool has_bound,
                    row_findings *findings, case_judgement *judgement)
{
    double limit = judge->settings.max_row_ulp;
    double found = judgement->metrics.row_ulp_max;
    if (found > limit)
        judge_find(findings, VERDICT_INACCURATE, false, "row_ulp %.4g is above the limit %g", found,
                   limit);
    find_digitless_rows(judge, block, findings);
    judgement->verdict = findings->verdict;
    if (findings->verdict.kind != VERDICT_RIGHT || findings->unclaimed == 0)
        return;
    judgement->verdict.kind = VERDICT_RIGHT_NO_BOUND;
    if (has_bound)
        snprintf(judgement->verdict.detail, sizeof judgement->verdict.detail,
                 "no claim for %zu of %zu rows", findings->unclaimed, block->rows);
}

bool judge_call(row_judge *judge, const judge_block *block, const void *computed,
                const judged_kind *kind, bool statistics, row_findings *findings,
                case_judgement *judgement, error *err)
{
    for (size_t row = 0; row < block->rows; row++) {
        judge_row(judge, block, judge_row_of(block, computed, row), row, kind, findings);
        if (statistics)
            judge_statistics(judge, block, row, kind, findings);
    }
    if (!judge_measure(judge, block, computed, kind->has_bound, false, judgement, err))
        return false;
    if (findings->no_memory)
        return fail_memory(err, "the limits of a row");
    judge_conclude(judge, block, kind->has_bound, findings, judgement);
    return true;
}
