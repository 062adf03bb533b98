/* A kernel that rounds where it is not asked to, or does not where it is: cast too early, 1 + w in bf16. */
#include "judge/rmsnorm/rmsnorm.h"
#include "judge/slope.h"

/* Two conventions of a row: what a kernel is asked for, and what it may do. */
typedef struct other_way {
    ln_convention own, other;
} other_way;

static double element(const ln_convention *convention, const ln_convention *own,
                      const judge_block *block, const metrics_row *row, size_t at, size_t i)
{
    /* Of a sum that is rounded or not, elements tell; its root hardly does. */
    double square = row->answer->facts.var;
    ln_convention root = *own;
    root.root = convention->root;
    return rmsnorm_value(convention, row,
                         rmsnorm_added(convention, block, at) /
                             rmsnorm_rounded_root(&root, block->storage, square),
                         i);
}

static double taken(const judge_block *block, const metrics_row *row, size_t at, size_t i,
                    const void *which)
{
    const other_way *ways = which;
    return element(&ways->other, &ways->own, block, row, at, i) -
           element(&ways->own, &ways->own, block, row, at, i);
}

const char *rmsnorm_rounded_otherwise(const judge_block *block, const void *y)
{
    const ln_convention own = block->convention;
    ln_convention cast = own, root = own, sum = own, offset = own;
    bool rounds_sum = own.sum != LN_RMS_SUM_UNROUNDED;
    cast.cast = !own.cast;
    root.root = !own.root;
    sum.sum = rounds_sum ? LN_RMS_SUM_UNROUNDED : LN_RMS_SUM_ROUNDED;
    offset.weight =
        own.weight == LN_RMS_WEIGHT_OFFSET ? LN_RMS_WEIGHT_OFFSET_ROUNDED : LN_RMS_WEIGHT_OFFSET;
    const struct {
        bool told;
        ln_convention other;
        const char *words;
    } all[] = {
        {own.weight != LN_RMS_WEIGHT_NONE, cast,
         own.cast ? "does not round xhat to x's type before the weight"
                  : "rounds xhat to x's type before the weight"},
        {true, root,
         own.root ? "does not round the root to x's type" : "rounds the root to x's type"},
        {block->inputs[ROLE_RESIDUAL] != NULL, sum,
         rounds_sum ? "normalises x + residual before it rounds the sum"
                    : "rounds x + residual before it normalises the sum"},
        {own.weight >= LN_RMS_WEIGHT_OFFSET && dtype_size(block->param) == 2, offset,
         own.weight == LN_RMS_WEIGHT_OFFSET ? "rounds 1 + weight to the weight's type"
                                            : "does not round 1 + weight to the weight's type"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const other_way ways = {own, all[i].other};
        if (all[i].told && judge_follows(block, y, taken, &ways))
            return all[i].words;
    }
    return NULL;
}
