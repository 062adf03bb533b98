/* Rows by the thousand: what a search asks of the judge, one call a block and no statistics. */
#include "conformance/internal.h"
#include "exact/scale.h"
#include "metrics/storage.h"
#include <math.h>

/* The row ULP of one row, infinite where a class is wrong. */
static double row_error(const judge_block *block, size_t row, const void *y)
{
    const metrics_row scaled = judge_metrics_row(block, row);
    const ln_reference_result *answer = scaled.answer;
    size_t column;
    double worst = 0;
    if (!judge_classes_match(block, row, y, &column))
        return INFINITY;
    for (size_t i = 0; i < block->hidden; i++) {
        if (!isfinite(storage_load(block->storage, answer->rounded, i)))
            continue;
        double deviation = fabs(row_ulp_of(&scaled, i, storage_load(block->storage, y, i)));
        worst = deviation > worst ? deviation : worst;
    }
    return worst;
}

static void score_rows(row_judge *judge, const judge_block *block, const void *computed,
                       bool has_bound, row_score *scores)
{
    for (size_t row = 0; row < block->rows; row++) {
        const metrics_row scaled = judge_metrics_row(block, row);
        scores[row].row_ulp = row_error(block, row, judge_row_of(block, computed, row));
        scores[row].kappa = scaled.answer->kappa;
        scores[row].bound_row_ulp = has_bound ? judge->by_row[row].bound_row_ulp : NAN;
    }
}

bool judge_score(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
                 bool bounds, row_score *scores, case_verdict *verdict, error *err)
{
    bool has_bound = false;
    *verdict = (struct case_verdict){.kind = VERDICT_RIGHT};
    err->code = EXIT_CODE_FINE;
    if (!judge_reserve(judge, block, err))
        return false;
    if ((bounds && !judge_bounds(judge, block, kernel, &has_bound, verdict, err)) ||
        !judge_run(judge, block, kernel, LAYOUT_TIMED, judge->computed, verdict, err))
        return err->code == EXIT_CODE_FINE;
    score_rows(judge, block, judge->computed, has_bound, scores);
    return true;
}
