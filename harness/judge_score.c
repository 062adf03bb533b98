/* Rows by the thousand: what a search asks of the judge, one call a block and no statistics. */
#include "judge_inside.h"
#include "scale.h"
#include <math.h>

/* The row ULP of one row, infinite where a class is wrong. */
static double row_error(const judge_block *block, size_t row, const float *computed)
{
    const ln_reference_result *result = &block->results[row];
    ln_reference_typed answer = typed_answer(result);
    metrics_row scaled = {LN_F32,       LN_F32,      block->hidden, &block->convention,
                          block->gamma, block->beta, &answer};
    size_t column;
    double worst = 0;
    if (!judge_classes_match(result, block->hidden, computed, &column))
        return INFINITY;
    for (size_t i = 0; i < block->hidden; i++) {
        if (!isfinite(result->rounded[i]))
            continue;
        double scale = element_scale(&scaled, i);
        double error = fabs((double)computed[i] - result->exact[i]) / ln_ulp_f32(scale);
        worst = error > worst ? error : worst;
    }
    return worst;
}

bool judge_score(judge *judge, const judge_block *block, const kernel_entry *kernel, bool bounds,
                 row_score *scores, verdict *verdict, error *error)
{
    bool has_bound = false;
    *verdict = (struct verdict){.kind = VERDICT_OK};
    error->code = EXIT_CODE_FINE;
    if (!judge_reserve(judge, block, error))
        return false;
    if ((bounds && !judge_bounds(judge, block, kernel, &has_bound, verdict, error)) ||
        !judge_run(judge, block, kernel, PLACEMENT_TIMED, judge->computed, verdict, error))
        return error->code == EXIT_CODE_FINE;
    for (size_t row = 0; row < block->rows; row++) {
        const ln_reference_result *result = &block->results[row];
        scores[row].row_ulp = row_error(block, row, judge->computed + row * block->hidden);
        scores[row].kappa = result->kappa;
        scores[row].bound_row_ulp =
            has_bound ? ln_bound_row_ulp(&judge->bounds[row], result, block->hidden,
                                         &block->convention, block->gamma, block->beta)
                      : NAN;
    }
    return true;
}
