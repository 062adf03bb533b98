/* In 16-bit rows the sum with a residual is rounded before it is normalised (layernorm.h). A kernel that
 * normalises it unrounded is off by less than a row ULP, as an honest one may be: only all elements
 * together tell. With d_i what rounding took of element i, such a y is off by
 *     a_i = gamma_i rstd d_i,
 * so the errors e_i of y are regressed on a_i, both in row ULP: the slope is 0 where the
 * sum was rounded, and 1 where it was not. Its deviation is estimated from the same residues,
 * sqrt(sum e_i^2 a_i^2) / sum a_i^2 (White 1980), which holds whatever the errors' sizes are. */
#include "exact/scale.h"
#include "judge/internal.h"
#include "metrics/storage.h"
#include <math.h>

static const double least_slope = 0.5, least_deviations = 7;

bool judge_is_sum_unrounded(const judge_block *block, const void *y)
{
    double across = 0, square = 0, spread = 0;
    if (!block->inputs[ROLE_RESIDUAL] || dtype_size(block->storage) != 2)
        return false;
    for (size_t row = 0; row < block->rows; row++) {
        metrics_row judged = judge_metrics_row(block, row);
        const void *given = judge_row_of(block, y, row);
        double rstd = judged.answer->facts.rstd;
        if (!isfinite(judged.answer->facts.max_abs) || !isfinite(rstd))
            continue;
        for (size_t i = 0; i < block->hidden; i++) {
            size_t at = row * block->hidden + i;
            double sum = storage_load(block->storage, block->inputs[ROLE_X], at) +
                         storage_load(block->storage, block->inputs[ROLE_RESIDUAL], at);
            double unit = ulp_in(format_of(block->storage), element_scale(&judged, i));
            double taken = gamma_at(&judged, i) * rstd * (sum - judge_right_sum(block, at)) / unit;
            double off = (storage_load(block->storage, given, i) - judged.answer->exact[i]) / unit;
            if (!isfinite(taken) || !isfinite(off))
                continue;
            across += off * taken;
            square += taken * taken;
            spread += off * off * taken * taken;
        }
    }
    return across > least_slope * square && across > least_deviations * sqrt(spread);
}
