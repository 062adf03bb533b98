#include "judge_timed.h"
#include "hash.h"
#include "judge_inside.h"
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t timed_rows_room(const judge_block *block)
{
    return block->rows * (sizeof(uint64_t) + block->hidden * dtype_size(block->storage));
}

bool timed_rows_begin(timed_rows *rows, judge *judge, const judge_block blocks[TIMED_BLOCKS],
                      const kernel_entry *kernel, void *const judged[TIMED_BLOCKS],
                      verdict *verdict, error *error)
{
    *rows = (timed_rows){.blocks = blocks, .kernel = kernel, .judged = judged};
    rows->verdict.kind = VERDICT_OK;
    for (size_t i = 0; i < TIMED_BLOCKS; i++) {
        size_t bytes = blocks[i].rows * sizeof *rows->bounds[i];
        if (!judge_reserve(judge, &blocks[i], error) ||
            !judge_bounds(judge, &blocks[i], kernel, &rows->has_bound, verdict, error))
            return false;
        if (!rows->has_bound)
            continue;
        rows->bounds[i] = malloc(bytes);
        if (!rows->bounds[i])
            return fail_memory(error, "a kernel's bounds");
        memcpy(rows->bounds[i], judge->bounds, bytes);
    }
    return true;
}

static double unit_roundoff(ln_type type)
{
    static const double units[] = {
        [LN_F32] = 0x1p-24, [LN_F64] = 0x1p-53, [LN_BF16] = 0x1p-8, [LN_F16] = 0x1p-11};
    return units[type];
}

/* What any order of summation explains, for a kernel that claims nothing: to first order, the error
 * of sums over N terms, none of which goes through more than N + 3 roundings (Higham, "Accuracy and
 * Stability of Numerical Algorithms", 2nd ed., 4.2), in the formula that suffers most from them,
 *     mean = sum(x) / N      var = sum(x^2) / N - mean^2
 * with A = sum |x| / N and g = (N + 4) u: |d mean| <= g A, |d var| <= g (Q + 2 |mean| A + mean^2),
 * Q = var + mean^2. No claim where half of var may be lost. */
static ln_bound any_order(ln_type accumulator, ln_type storage, size_t hidden,
                          const ln_row_facts *facts)
{
    double u = unit_roundoff(accumulator), v = unit_roundoff(storage);
    double g = ((double)hidden + 4) * u, mean = fabs(facts->mean);
    double off = g * facts->mean_abs;
    double lost = g * (facts->var + 2 * mean * mean + 2 * mean * facts->mean_abs);
    double rho = lost / facts->var + 4 * u;
    if (!(lost < facts->var / 2))
        return (ln_bound){INFINITY, 0};
    off += (u + v) * (facts->max_dev + mean);
    return (ln_bound){facts->rstd * (1 + rho) * off + facts->rstd * facts->max_dev * (rho + 4 * v),
                      4 * v};
}

static double row_ulp_of(const metrics_row *judged, size_t row, const void *y, bool *fine)
{
    metrics_gather *one = metrics_gather_create();
    metrics_of_row found = {.row_ulp_max = NAN};
    *fine = one && metrics_gather_row_typed(one, judged, row, y, NULL, NULL, &found);
    metrics_gather_destroy(one);
    return found.row_ulp_max;
}

/* A kernel without a bound: two orders of summation lie no further from each other than twice what
 * any order may be off. */
static bool find_beyond_any_order(const timed_rows *rows, const judge_block *block, size_t which,
                                  size_t row, const void *y, row_findings *findings)
{
    metrics_row judged = judge_metrics_row(block, row);
    ln_bound bound = any_order(rows->kernel->facts.accumulator, block->storage, block->hidden,
                               &block->results[row].facts);
    bool fine[2];
    double here = row_ulp_of(&judged, row, y, &fine[0]);
    double before =
        row_ulp_of(&judged, row, judge_row_of(block, rows->judged[which], row), &fine[1]);
    double explained = before + 2 * ln_bound_row_ulp_typed(&bound, &judged);
    if (here > explained)
        judge_find(findings, VERDICT_INACCURATE, false,
                   "row %zu, as timed: row_ulp %.4g where %.4g was judged; no order of summation "
                   "explains more than %.4g",
                   row, here, before, explained);
    return fine[0] && fine[1];
}

/* The rows that were judged come first, so that the metrics are of all. */
static bool begin_metrics(timed_rows *rows)
{
    rows->metrics = metrics_gather_create();
    bool fine = rows->metrics != NULL;
    for (size_t i = 0; fine && i < TIMED_BLOCKS; i++)
        for (size_t row = 0; fine && row < rows->blocks[i].rows; row++) {
            metrics_row judged = judge_metrics_row(&rows->blocks[i], row);
            fine = metrics_gather_row_typed(rows->metrics, &judged, row,
                                            judge_row_of(&rows->blocks[i], rows->judged[i], row),
                                            NULL, NULL, NULL);
        }
    return fine;
}

static bool judge_one(timed_rows *rows, judge *judge, size_t which, size_t row, const void *y)
{
    const judge_block *block = &rows->blocks[which];
    metrics_row judged = judge_metrics_row(block, row);
    row_findings here = {.verdict.kind = VERDICT_OK}, all = {.verdict = rows->verdict};
    if (rows->has_bound)
        judge->bounds[row] = rows->bounds[which][row];
    judge_row(judge, block, y, row, rows->has_bound, &here);
    bool fine = metrics_gather_row_typed(rows->metrics, &judged, row, y, NULL, NULL, NULL);
    if (here.verdict.kind != VERDICT_OK)
        judge_find(&all, here.verdict.kind, here.verdict.declared, "as timed: %.160s",
                   here.verdict.detail);
    else if (fine && here.unclaimed > 0)
        fine = find_beyond_any_order(rows, block, which, row, y, &all);
    rows->verdict = all.verdict;
    return fine;
}

static bool judge_announced(timed_rows *rows, judge *judge, const char *taken, size_t count,
                            error *error)
{
    const judge_block *block = rows->blocks;
    size_t bytes = block->hidden * dtype_size(block->storage);
    if (!judge_reserve(judge, block, error))
        return false;
    bool fine = rows->metrics || begin_metrics(rows);
    for (size_t i = 0; fine && i < count; i++) {
        const char *at = taken + i * (sizeof(uint64_t) + bytes);
        uint64_t number;
        bool added;
        memcpy(&number, at, sizeof number);
        if (number >= TIMED_BLOCKS * block->rows) /* the worker's word is not believed */
            continue;
        fine = hash_set_add(&rows->seen, hash_bytes(HASH_START, at, sizeof number + bytes), &added);
        if (fine && added)
            fine = judge_one(rows, judge, number / block->rows, number % block->rows,
                             at + sizeof number);
    }
    return fine || fail_memory(error, "timed rows");
}

bool timed_rows_take(timed_rows *rows, judge *judge, worker *worker, const order *begin,
                     const reply *announced, error *error)
{
    order go_on = worker_order(ORDER_GO_ON, NULL);
    reply reply;
    size_t room = timed_rows_room(rows->blocks), count = (size_t)announced->value;
    char *taken = malloc(room);
    if (!taken)
        return fail_memory(error, "timed rows");
    if (count > rows->blocks->rows)
        count = rows->blocks->rows;
    bool fine = arena_read(worker_arena(worker), begin->at.varied, taken, room) ||
                fail(error, EXIT_CODE_ENVIRONMENT, "memory file: %s", strerror(errno));
    fine = fine && judge_announced(rows, judge, taken, count, error);
    free(taken);
    return fine && (worker_send_order(worker, &go_on, &reply) ||
                    fail(error, EXIT_CODE_ENVIRONMENT, "the timing worker: %.180s", reply.text));
}

bool timed_rows_judge(const timed_rows *rows, const judge *judge, judgement *judgement)
{
    row_findings findings = {.verdict = judgement->verdict};
    double mean = judgement->metrics.mean_ulp_max, rstd = judgement->metrics.rstd_ulp_max;
    if (!rows->metrics)
        return false;
    metrics_gather_finish(rows->metrics, &judgement->metrics);
    judgement->metrics.mean_ulp_max = mean; /* those are not given in timing */
    judgement->metrics.rstd_ulp_max = rstd;
    if (findings.verdict.kind == VERDICT_OK_NO_BOUND && rows->verdict.kind != VERDICT_OK)
        findings.verdict.kind = VERDICT_OK;
    if (rows->verdict.kind != VERDICT_OK)
        judge_find(&findings, rows->verdict.kind, rows->verdict.declared, "%s",
                   rows->verdict.detail);
    if (judgement->metrics.row_ulp_max > judge->settings.max_row_ulp)
        judge_find(&findings, VERDICT_INACCURATE, false, "row_ulp %.4g is above the limit %g",
                   judgement->metrics.row_ulp_max, judge->settings.max_row_ulp);
    judgement->verdict = findings.verdict;
    return true;
}

void timed_rows_free(timed_rows *rows)
{
    for (size_t i = 0; i < TIMED_BLOCKS; i++)
        free(rows->bounds[i]);
    hash_set_free(&rows->seen);
    metrics_gather_destroy(rows->metrics);
    *rows = (timed_rows){0};
}
