/* The sum with a residual is rounded to the storage type. In 16-bit rows it is rounded before it is normalised (layernorm.h). A kernel that
 * normalises it unrounded is off by less than a row ULP, as an honest one may be: only all elements
 * together tell. With d_i what rounding took of element i, such a y is off by
 *     a_i = gamma_i rstd d_i,
 * so the errors e_i of y are regressed on a_i, both in row ULP: the slope is 0 where the
 * sum was rounded, and 1 where it was not. Its deviation is estimated from the same residues,
 * sqrt(sum e_i^2 a_i^2) / sum a_i^2 (White 1980), which holds whatever the errors' sizes are. */
#include "exact/scale.h"
#include "judge/layernorm/layernorm.h"
#include "metrics/storage.h"
#include <math.h>

static const double least_slope = 0.5, least_deviations = 7;

/* Two roundings are one here (Figueroa 1995: 53 >= 2 p + 2), and f64 is added as it is. */
double layernorm_sum(const judge_block *block, size_t i)
{
    double sum = load(block->storage, block->inputs[ROLE_X], i) +
                 load(block->storage, block->inputs[ROLE_RESIDUAL], i);
    double room;
    if (isnan(sum))
        return NAN;
    storage_store(block->storage, &room, 0, sum);
    return load(block->storage, &room, 0);
}

bool layernorm_sum_unrounded(const judge_block *block, const void *y)
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
            double taken = gamma_at(&judged, i) * rstd * (sum - layernorm_sum(block, at)) / unit;
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
