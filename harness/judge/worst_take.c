#include "base/hash.h"
#include "judge/rows.h"
#include <math.h>
#include <stdio.h>

bool worst_row_take(const judge_block *block, size_t row, const case_judgement *judgement,
                    const char *kernel, const char *convention, worst_row *taken, error *err)
{
    bool measured = judgement->metrics.elements > 0;
    size_t row_bytes = block->hidden * dtype_size(block->storage);
    worst_row here = {
        .operation = block->operation,
        .rows = 1,
        .hidden = block->hidden,
        .storage = block->storage,
        .param = block->param,
        .verdict = judgement->verdict,
        .row_ulp = NAN,
        .bound_row_ulp = NAN,
        .computed = NAN,
        .exact = NAN,
    };
    const operation *what = operations[block->operation];
    for (size_t i = 0; i < what->count; i++) {
        bool parameter = role_is_parameter(&what->roles[i]);
        if (!block->inputs[i] || !role_is_kept(&what->roles[i]))
            continue;
        here.inputs[i] = (char *)block->inputs[i] + (parameter ? 0 : row * row_bytes);
        if (parameter)
            here.parameters = role_columns(&what->roles[i], &block->convention, block->hidden);
    }
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
