/* Rows by the thousand: what a search asks of the judge, one call a block and no statistics. */
#include "referee/internal.h"
#include "judge/judging.h"
#include "exact/scale.h"
#include "metrics/storage.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* The rows that need their answer, and what came out for them, moved to the front. */
static size_t gather(row_judge *judge, const judge_block *block, const double *least,
                     double max_kappa, row_score *scores, size_t *numbers, char *x)
{
    const operation_judging *judging = judgings[block->operation];
    size_t bytes = block->hidden * dtype_size(block->storage), count = 0;
    for (size_t row = 0; row < block->rows; row++) {
        const void *y = judge_row_of(block, judge->computed, row);
        row_screen screen =
            judging->screen ? judging->screen(judge, block, row, y) : (row_screen){INFINITY, 0};
        scores[row] = (struct row_score){.kappa = NAN};
        if (screen.row_ulp_at_most < least[row] || screen.kappa_at_least > max_kappa)
            continue;
        memcpy(x + count * bytes, judge_row_of(block, block->inputs[ROLE_X], row), bytes);
        memmove(judge->computed + count * bytes, y, bytes);
        numbers[count++] = row;
    }
    return count;
}

/* The answers of the rows in x, and their scores in the places that `numbers` says. */
static bool score_gathered(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
                           bool bounds, size_t count, char *x, const size_t *numbers,
                           row_score *scores, case_verdict *verdict, error *err)
{
    judge_block kept;
    bool has_bound = false;
    row_score *found = calloc(count, sizeof *found);
    if (!found)
        return fail_memory(err, "the scores of rows");
    operation_call call = judge_block_call(block);
    call.problem.rows = count;
    call.inputs[ROLE_X] = x;
    call.inputs[ROLE_RESIDUAL] = NULL;
    bool fine = judge_block_from(judge, &kept, &call, err);
    if (fine) {
        judge->placed = NULL; /* by its address the block may be the last one */
        fine = !bounds || judge_bounds(judge, &kept, kernel, &has_bound, verdict, err);
        if (fine)
            score_rows(judge, &kept, judge->computed, has_bound, found);
        fine = fine || err->code == EXIT_CODE_FINE;
        judge_block_free(&kept);
    }
    for (size_t i = 0; fine && i < count; i++)
        scores[numbers[i]] = found[i];
    free(found);
    return fine;
}

bool judge_score_above(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
                       bool bounds, const double *least, double max_kappa, row_score *scores,
                       case_verdict *verdict, error *err)
{
    *verdict = (struct case_verdict){.kind = VERDICT_RIGHT};
    err->code = EXIT_CODE_FINE;
    if (!judge_reserve(judge, block, err))
        return false;
    if (!judge_run(judge, block, kernel, LAYOUT_TIMED, judge->computed, verdict, err))
        return err->code == EXIT_CODE_FINE;
    size_t *numbers = malloc(block->rows * sizeof *numbers);
    char *x = malloc(judge_bytes(block));
    bool fine = (numbers && x) || fail_memory(err, "the rows to score");
    size_t count = fine ? gather(judge, block, least, max_kappa, scores, numbers, x) : 0;
    if (fine && count > 0)
        fine =
            score_gathered(judge, block, kernel, bounds, count, x, numbers, scores, verdict, err);
    free(numbers);
    free(x);
    return fine;
}
