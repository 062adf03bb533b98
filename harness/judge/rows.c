/* What came out, row by row, against the answers: classes, bounds, metrics, the verdict. */
#include "judge/internal.h"
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
    bool graver = held->kind == VERDICT_OK || (held->declared && !declared) ||
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

/* Whether y as x s + t, s = gamma rstd, may pass the largest number on its way to one that is finite:
 * an infinity of the right sign is a limit of the accumulator's type then. */
static bool may_pass_the_end(const row_judge *judge, const metrics_row *judged, const void *y,
                             ln_type accumulator, size_t column)
{
    static const double ends[] = {
        [LN_F32] = FLT_MAX, [LN_F64] = DBL_MAX, [LN_BF16] = 0x1.fep+127, [LN_F16] = 65504};
    const ln_row_facts *facts = &judged->answer->facts;
    double given = storage_load(judged->storage, y, column);
    double exact = judged->answer->exact[column], beta = 0;
    double q = judged->convention->eps_place == LN_EPS_QUOTIENT ? judged->convention->eps : 0;
    if (!isinf(given) || !isfinite(exact) || signbit(given) != signbit(exact))
        return false;
    if (ln_has_beta(judged->convention->affine))
        beta = storage_load(judged->param, judged->beta,
                            judged->convention->affine == LN_AFFINE_SCALAR ? 0 : column);
    double reach = gamma_size(judged, column) *
                       (facts->rstd * (fabs(judge->values[column]) + fabs(facts->mean)) + q) +
                   fabs(beta);
    return reach >= ends[accumulator];
}

/* A row without a claim: what any order of summation and the textbook explain. Where they explain
 * anything (sums may overflow, or nothing is left of the variance), a wrong class is a limit of the
 * types; a row with a NaN or an infinity in it has no such excuse. */
static void judge_unclaimed(row_judge *judge, const judge_block *block, const void *y, size_t row,
                            const judged_kind *kind, row_findings *findings)
{
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
        if (!limits_hold(limits, &judged, judge->values, y, why))
            judge_find(findings, VERDICT_INACCURATE, false, "row %zu: %s", row, why);
    } else if (!(isfinite(limits->order_ulp) &&
                 ln_bound_holds(&limits->order.bound, &judged, y, &worst))) {
        bool excused = !known && !special && !limits->textbook.undefined;
        find_wrong_class(block, row, y, column,
                         excused || may_pass_the_end(judge, &judged, y, kind->accumulator, column),
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
    const ln_row_facts *facts = &block->results[row].facts;
    /* Sums of f32 parts may be kept in f64: the type of what is given promises no more digits than
     * the rows have. */
    judged_kind as_rows = *kind;
    if (block->storage != LN_F64 && kind->accumulator == LN_F64)
        as_rows.accumulator = LN_F32;
    const row_limits *limits = judge_limits(judge, block, &as_rows, row);
    if (!limits) {
        findings->no_memory = true;
        return;
    }
    double mean = fabs(judge->given_mean[row] - facts->mean);
    double rstd = fabs(judge->given_rstd[row] / facts->rstd - 1);
    double most_mean = limits->mean, most_rstd = limits->rstd;
    const ln_bound *bound = &judge->bounds[row];
    if (kind->has_bound && isfinite(bound->xhat_abs) && isfinite(bound->affine_rel)) {
        /* A kernel with a proof of y may sum in ways that no textbook has. What it proves of xhat
         * holds for the mean and rstd that xhat is made of; being given, they round. */
        double unit = unit_roundoff(as_rows.accumulator), xhat = 2 * bound->xhat_abs;
        most_mean = fmin(limits->order.mean, xhat / facts->rstd + 4 * unit * fabs(facts->mean));
        most_rstd = fmin(limits->order.rstd, xhat / block->results[row].max_xhat + 4 * unit);
    }
    if (kind->given != kind->accumulator) { /* coarser: rounded once more */
        most_mean += unit_roundoff(kind->given) * fabs(facts->mean);
        most_rstd += unit_roundoff(kind->given);
    }
    int digits = kind->given == LN_F64 ? 17 : 9;
    if (isfinite(most_mean) && !(mean <= most_mean) && judge_is_given(&judge->given_mean[row]) &&
        !is_nearest(kind->given, judge->given_mean[row], facts->mean))
        judge_find(findings, VERDICT_INACCURATE, false,
                   "row %zu: mean is %.*g where %.*g is right, and may be off by %.3g", row, digits,
                   judge->given_mean[row], digits, facts->mean, most_mean);
    else if (isfinite(most_rstd) && !(rstd <= most_rstd) &&
             judge_is_given(&judge->given_rstd[row]) &&
             !is_nearest(kind->given, judge->given_rstd[row], facts->rstd))
        judge_find(findings, VERDICT_INACCURATE, false,
                   "row %zu: rstd is %.*g where %.*g is right, and may be off by %.3g of it", row,
                   digits, judge->given_rstd[row], digits, facts->rstd, most_rstd);
}

/* Of what the kernel gave, as judge.h has it. */
static void note_statistics(const row_judge *judge, const judge_block *block, size_t row,
                            bool has_statistics, judged_row *noted)
{
    const ln_row_facts *facts = &block->results[row].facts;
    noted->mean_error = noted->rstd_error = NAN;
    if (!has_statistics)
        return;
    double rms = hypot(facts->mean, sqrt(facts->var));
    if (rms > 0)
        noted->mean_error = (judge->given_mean[row] - facts->mean) / rms;
    if (facts->rstd > 0)
        noted->rstd_error = (judge->given_rstd[row] - facts->rstd) / facts->rstd;
}

bool judge_measure(row_judge *judge, const judge_block *block, const void *computed, bool has_bound,
                   bool has_statistics, case_judgement *judgement, error *err)
{
    metrics_gather *all = metrics_gather_create();
    bool fine = all != NULL;
    judgement->bound_row_ulp = has_bound ? 0 : NAN;
    for (size_t row = 0; fine && row < block->rows; row++) {
        metrics_row judged = judge_metrics_row(block, row);
        metrics_of_row here;
        judged_row *noted = &judge->by_row[row];
        fine = metrics_gather_row(all, &judged, row, judge_row_of(block, computed, row),
                                  has_statistics ? &judge->mean[row] : NULL,
                                  has_statistics ? &judge->rstd[row] : NULL, &here);
        if (!fine)
            break;
        noted->kappa = block->results[row].kappa;
        noted->row_ulp = here.mismatches ? NAN : here.row_ulp_max;
        noted->norm_max = here.mismatches ? NAN : here.norm_max;
        if (!has_bound) /* else measured with the bounds */
            noted->bound_row_ulp = NAN;
        note_statistics(judge, block, row, has_statistics, noted);
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
    if (findings->verdict.kind != VERDICT_OK || findings->unclaimed == 0)
        return;
    judgement->verdict.kind = VERDICT_OK_NO_BOUND;
    if (has_bound)
        snprintf(judgement->verdict.detail, sizeof judgement->verdict.detail,
                 "no claim for %zu of %zu rows", findings->unclaimed, block->rows);
}
