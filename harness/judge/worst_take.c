#include "base/hash.h"
#include "judge/judge.h"
#include <math.h>
#include <stdio.h>

bool worst_row_take(const judge_block *block, size_t row, const case_judgement *judgement,
                    const char *kernel, const char *convention, worst_row *taken, error *err)
{
    bool measured = judgement->metrics.elements > 0;
    bool scalar = block->convention.affine == LN_AFFINE_SCALAR;
    size_t row_bytes = block->hidden * dtype_size(block->storage);
    worst_row here = {
        .rows = 1,
        .hidden = block->hidden,
        .parameters = block->gamma || block->beta ? (scalar ? 1 : block->hidden) : 0,
        .storage = block->storage,
        .param = block->param,
        .x = (char *)block->x + row * row_bytes,
        .gamma = block->gamma,
        .beta = block->beta,
        .verdict = judgement->verdict,
        .row_ulp = NAN,
        .bound_row_ulp = NAN,
        .computed = NAN,
        .exact = NAN,
    };
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
    return worst_row_copy(&here, taken, err);
}
