/* The sum with a residual is rounded to the storage type before it is normalised (layernorm.h). */
#include "exact/scale.h"
#include "judge/layernorm/layernorm.h"
#include "judge/slope.h"

/* Two roundings are one here (Figueroa 1995: 53 >= 2 p + 2), and f64 is added as it is. */
double layernorm_sum(const judge_block *block, size_t i)
{
    return stored_in(block->storage, sum_in_double(block, i));
}

static double taken(const judge_block *block, const metrics_row *row, size_t at, size_t i,
                    const void *which)
{
    (void)which;
    return gamma_at(row, i) * row->answer->facts.rstd *
           (sum_in_double(block, at) - layernorm_sum(block, at));
}

const char *layernorm_rounded_otherwise(const judge_block *block, const void *y)
{
    bool is = block->inputs[ROLE_RESIDUAL] && judge_follows(block, y, taken, NULL);
    return is ? "normalises x + residual before it rounds the sum" : NULL;
}
