#include "judge/slope.h"
#include <math.h>

static const double most_off = 0.5, least_deviations = 7; /* of a slope of 1 */

bool judge_follows(const judge_block *block, const void *y, taken_of *taken, const void *which)
{
    double across = 0, square = 0, spread = 0;
    if (dtype_size(block->storage) != 2)
        return false;
    for (size_t row = 0; row < block->rows; row++) {
        metrics_row judged = judge_metrics_row(block, row);
        const void *given = judge_row_of(block, y, row);
        const ln_row_facts *facts = &judged.answer->facts;
        if (!isfinite(facts->max_abs) || !isfinite(facts->rstd))
            continue;
        for (size_t i = 0; i < block->hidden; i++) {
            double unit = ulp_in(format_of(block->storage), element_scale(&judged, i));
            double right = storage_load(block->storage, judged.answer->rounded, i);
            double other =
                judged.answer->exact[i] + taken(block, &judged, row * block->hidden + i, i, which);
            double a = (stored_in(block->storage, other) - right) / unit;
            double off = (storage_load(block->storage, given, i) - right) / unit;
            if (!isfinite(a) || !isfinite(off))
                continue;
            across += off * a;
            square += a * a;
            spread += off * off * a * a;
        }
    }
    return fabs(across - square) < most_off * square && across > least_deviations * sqrt(spread);
}
