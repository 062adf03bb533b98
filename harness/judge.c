#include "judge_inside.h"
#include "interrupt.h"
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

judge *judge_create(worker *worker, const judge_settings *settings)
{
    judge *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->worker = worker;
    made->settings = *settings;
    made->reference = ln_reference_create();
    made->gather = metrics_gather_create();
    if (made->reference && made->gather)
        return made;
    judge_destroy(made);
    return NULL;
}

void judge_destroy(judge *judge)
{
    if (!judge)
        return;
    ln_reference_destroy(judge->reference);
    metrics_gather_destroy(judge->gather);
    free(judge->computed);
    free(judge->other);
    free(judge->mean);
    free(judge->rstd);
    free(judge->bounds);
    free(judge->by_row);
    free(judge);
}

ln_reference_counts judge_reference_counts(const judge *judge)
{
    return ln_reference_count(judge->reference);
}

static bool grow(void *pointer, size_t count, size_t size)
{
    void *grown = realloc(*(void **)pointer, count * size);
    if (!grown)
        return false;
    *(void **)pointer = grown;
    return true;
}

bool judge_reserve(judge *judge, const judge_block *block, error *error)
{
    size_t elements = block->rows * block->hidden;
    if (elements > judge->elements) {
        if (!grow(&judge->computed, elements, sizeof *judge->computed) ||
            !grow(&judge->other, elements, sizeof *judge->other))
            return fail_memory(error, "a kernel's output");
        judge->elements = elements;
    }
    if (block->rows > judge->rows) {
        if (!grow(&judge->mean, block->rows, sizeof(double)) ||
            !grow(&judge->rstd, block->rows, sizeof(double)) ||
            !grow(&judge->bounds, block->rows, sizeof *judge->bounds) ||
            !grow(&judge->by_row, block->rows, sizeof *judge->by_row))
            return fail_memory(error, "a kernel's statistics");
        judge->rows = block->rows;
    }
    return true;
}

/* The next place in the arena, 64-byte aligned; -1 for an absent tensor. */
static off_t take(off_t *end, bool present, size_t bytes)
{
    off_t at = *end;
    if (!present)
        return -1;
    *end += (off_t)((bytes + 63) / 64 * 64);
    return at;
}

static bool put(int arena, off_t at, const void *data, size_t bytes)
{
    return at < 0 || arena_write(arena, at, data, bytes);
}

bool judge_place(judge *judge, const judge_block *block, order *order, error *error)
{
    size_t elements = block->rows * block->hidden;
    size_t tensor = elements * sizeof(float);
    size_t parameters = block->convention.affine == LN_AFFINE_SCALAR ? 1 : block->hidden;
    arena_map *at = &order->at;
    off_t end = 0;
    order->problem = (ln_problem){.rows = block->rows,
                                  .hidden = block->hidden,
                                  .storage = LN_F32,
                                  .param = LN_F32,
                                  .convention = block->convention};
    at->x = take(&end, true, tensor);
    at->residual = take(&end, block->residual != NULL, tensor);
    at->gamma = take(&end, block->gamma != NULL, parameters * sizeof(float));
    at->beta = take(&end, block->beta != NULL, parameters * sizeof(float));
    at->y = take(&end, true, tensor);
    at->sum = take(&end, block->residual != NULL, tensor);
    at->mean = take(&end, true, block->rows * sizeof(double));
    at->rstd = take(&end, true, block->rows * sizeof(double));
    at->facts = take(&end, true, block->rows * sizeof(ln_row_facts));
    at->bounds = take(&end, true, block->rows * sizeof(ln_bound));
    if (!worker_arena_reserve(judge->worker, (size_t)end, error))
        return false;
    int arena = worker_arena(judge->worker);
    bool fine = put(arena, at->x, block->x, tensor) &&
                put(arena, at->residual, block->residual, tensor) &&
                put(arena, at->gamma, block->gamma, parameters * sizeof(float)) &&
                put(arena, at->beta, block->beta, parameters * sizeof(float));
    for (size_t row = 0; fine && row < block->rows; row++)
        fine = put(arena, at->facts + (off_t)(row * sizeof(ln_row_facts)),
                   &block->results[row].facts, sizeof(ln_row_facts));
    return fine || fail(error, EXIT_CODE_ENVIRONMENT, "memory file: %s", strerror(errno));
}

static verdict failed_verdict(const reply *reply)
{
    verdict verdict = {.kind = reply->verdict};
    snprintf(verdict.detail, sizeof verdict.detail, "%.190s", reply->text);
    return verdict;
}

/* f64 statistics as floats, in place; poison stays poison. */
static void narrow_statistics(float *values, size_t rows)
{
    for (size_t row = 0; row < rows; row++) {
        double wide;
        memcpy(&wide, (const char *)values + row * sizeof wide, sizeof wide);
        uint64_t bits;
        memcpy(&bits, &wide, sizeof bits);
        if (bits == UINT64_MAX)
            memset(&values[row], 0xff, sizeof *values);
        else
            values[row] = (float)wide;
    }
}

/* What the kernel gave as mean and rstd. */
static bool read_statistics(judge *judge, const arena_map *at, const kernel_entry *kernel,
                            size_t rows)
{
    int arena = worker_arena(judge->worker);
    size_t bytes = rows * dtype_size(kernel->facts.accumulator);
    if (!arena_read(arena, at->mean, judge->mean, bytes) ||
        !arena_read(arena, at->rstd, judge->rstd, bytes))
        return false;
    if (kernel->facts.accumulator == LN_F64) {
        narrow_statistics(judge->mean, rows);
        narrow_statistics(judge->rstd, rows);
    }
    return true;
}

bool judge_run(judge *judge, const judge_block *block, const kernel_entry *kernel,
               placement placement, float *computed, verdict *verdict, error *error)
{
    order order = worker_order(ORDER_JUDGE, kernel);
    reply reply;
    error->code = EXIT_CODE_FINE;
    if (!judge_place(judge, block, &order, error))
        return false;
    order.placement = placement;
    /* Nothing that an earlier kernel left may pass for this one's. */
    int arena = worker_arena(judge->worker);
    size_t bytes = block->rows * block->hidden * sizeof *computed;
    memset(computed, 0xff, bytes);
    size_t statistics = block->rows * sizeof(double);
    memset(judge->mean, 0xff, statistics);
    if (!arena_write(arena, order.at.y, computed, bytes) ||
        !arena_write(arena, order.at.mean, judge->mean, statistics) ||
        !arena_write(arena, order.at.rstd, judge->mean, statistics))
        return fail(error, EXIT_CODE_ENVIRONMENT, "memory file: %s", strerror(errno));
    if (!worker_ask(judge->worker, &order, judge->settings.deadline_seconds, &reply)) {
        if (interrupted())
            return fail(error, EXIT_CODE_INTERRUPTED, "interrupted");
        *verdict = failed_verdict(&reply);
        return false;
    }
    bool fine = arena_read(arena, order.at.y, computed, bytes);
    if (fine && placement == PLACEMENT_BEFORE)
        fine = read_statistics(judge, &order.at, kernel, block->rows);
    return fine || fail(error, EXIT_CODE_ENVIRONMENT, "memory file: %s", strerror(errno));
}

bool judge_bounds(judge *judge, const judge_block *block, const kernel_entry *kernel, bool *has,
                  error *error)
{
    *has = false;
    if (!kernel || !kernel->facts.has_bound)
        return true;
    order order = worker_order(ORDER_BOUND, kernel);
    reply reply;
    if (!judge_place(judge, block, &order, error))
        return false;
    order.count = block->rows;
    if (!worker_ask(judge->worker, &order, judge->settings.deadline_seconds, &reply))
        return interrupted() ? fail(error, EXIT_CODE_INTERRUPTED, "interrupted") : true;
    *has = reply.value == 1;
    return arena_read(worker_arena(judge->worker), order.at.bounds, judge->bounds,
                      block->rows * sizeof *judge->bounds) ||
           fail(error, EXIT_CODE_ENVIRONMENT, "memory file: %s", strerror(errno));
}

static int class_of(double value)
{
    return isnan(value) ? 0 : isinf(value) ? (value > 0 ? 1 : 2) : 3;
}

bool judge_classes_match(const ln_reference_result *result, size_t hidden, const float *computed,
                         size_t *column)
{
    for (size_t i = 0; i < hidden; i++) {
        *column = i;
        if (class_of(result->rounded[i]) != class_of(computed[i]))
            return false;
    }
    return true;
}

/* What is known of a block's output while its rows are gone through. */
typedef struct row_findings {
    verdict verdict;
    size_t unclaimed; /* rows without a claim */
} row_findings;

static void find(row_findings *findings, verdict_kind kind, bool declared, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Keeps the worst: what is not declared before what is, a wrong class before an inaccuracy, the
 * first of equals. */
static void find(row_findings *findings, verdict_kind kind, bool declared, const char *format, ...)
{
    verdict *held = &findings->verdict;
    bool graver = held->kind == VERDICT_OK || (held->declared && !declared) ||
                  (held->declared == declared && held->kind == VERDICT_INACCURATE &&
                   kind == VERDICT_WRONG_CLASS);
    if (!graver)
        return;
    va_list arguments;
    va_start(arguments, format);
    held->kind = kind;
    held->declared = declared;
    vsnprintf(held->detail, sizeof held->detail, format, arguments);
    va_end(arguments);
}

static void judge_row(const judge *judge, const judge_block *block, const float *computed,
                      size_t row, bool has_bound, row_findings *findings)
{
    const ln_reference_result *result = &block->results[row];
    const float *y = computed + row * block->hidden;
    const ln_bound *bound = &judge->bounds[row];
    bool claims = has_bound && isfinite(bound->xhat_abs) && isfinite(bound->affine_rel);
    bool special = !isfinite(result->facts.max_abs);
    size_t column;
    if (!claims)
        findings->unclaimed++;
    if (!judge_classes_match(result, block->hidden, y, &column)) {
        uint32_t bits;
        memcpy(&bits, &y[column], sizeof bits);
        find(findings, VERDICT_WRONG_CLASS, has_bound && !claims && !special,
             "row %zu, column %zu: %s where %g is right", row, column,
             bits == UINT32_MAX ? "nothing was written"
             : isnan(y[column]) ? "NaN"
             : isinf(y[column]) ? "an infinity"
                                : "a finite value",
             (double)result->rounded[column]);
        return;
    }
    double worst;
    if (claims && !ln_bound_holds(bound, result, block->hidden, &block->convention, block->gamma,
                                  block->beta, y, &worst))
        find(findings, VERDICT_INACCURATE, false,
             "row %zu: the error is %.3g times the proven bound", row, worst);
}

static void note_row(judge *judge, const judge_block *block, size_t row, bool has_bound,
                     const ln_metrics *metrics)
{
    judged_row *noted = &judge->by_row[row];
    const ln_reference_result *result = &block->results[row];
    noted->kappa = result->kappa;
    noted->row_ulp = metrics->mismatches ? NAN : metrics->row_ulp_max;
    noted->norm_max = metrics->mismatches ? NAN : metrics->norm_max;
    noted->bound_row_ulp = has_bound
                               ? ln_bound_row_ulp(&judge->bounds[row], result, block->hidden,
                                                  &block->convention, block->gamma, block->beta)
                               : NAN;
}

static bool measure(judge *judge, const judge_block *block, const float *computed, bool has_bound,
                    bool has_statistics, judgement *judgement, error *error)
{
    metrics_gather *all = metrics_gather_create();
    bool fine = all != NULL;
    judgement->bound_row_ulp = has_bound ? 0 : NAN;
    for (size_t row = 0; fine && row < block->rows; row++) {
        const float *y = computed + row * block->hidden;
        const float *mean = has_statistics ? &judge->mean[row] : NULL;
        const float *rstd = has_statistics ? &judge->rstd[row] : NULL;
        metrics_gather *one = metrics_gather_create();
        ln_metrics metrics;
        fine = one &&
               metrics_gather_row(one, row, block->hidden, y, &block->results[row],
                                  &block->convention, block->gamma, block->beta, NULL, NULL) &&
               metrics_gather_row(all, row, block->hidden, y, &block->results[row],
                                  &block->convention, block->gamma, block->beta, mean, rstd);
        if (fine) {
            metrics_gather_finish(one, &metrics);
            note_row(judge, block, row, has_bound, &metrics);
            if (has_bound && !(judge->by_row[row].bound_row_ulp <= judgement->bound_row_ulp))
                judgement->bound_row_ulp = judge->by_row[row].bound_row_ulp;
        }
        metrics_gather_destroy(one);
    }
    if (fine)
        metrics_gather_finish(all, &judgement->metrics);
    metrics_gather_destroy(all);
    return fine || fail_memory(error, "error metrics");
}

static void conclude(const judge *judge, const judge_block *block, bool has_bound,
                     row_findings *findings, judgement *judgement)
{
    double limit = judge->settings.max_row_ulp;
    double found = judgement->metrics.row_ulp_max;
    if (found > limit)
        find(findings, VERDICT_INACCURATE, false, "row_ulp %.4g is above the limit %g", found,
             limit);
    judgement->verdict = findings->verdict;
    if (findings->verdict.kind != VERDICT_OK || findings->unclaimed == 0)
        return;
    judgement->verdict.kind = VERDICT_OK_NO_BOUND;
    if (has_bound)
        snprintf(judgement->verdict.detail, sizeof judgement->verdict.detail,
                 "no claim for %zu of %zu rows", findings->unclaimed, block->rows);
}

/* The mean of every row is still poison: the kernel gives none. */
static bool gives_statistics(const judge *judge, size_t rows)
{
    for (size_t row = 0; row < rows; row++) {
        uint32_t mean, rstd;
        memcpy(&mean, &judge->mean[row], sizeof mean);
        memcpy(&rstd, &judge->rstd[row], sizeof rstd);
        if (mean == UINT32_MAX || rstd == UINT32_MAX)
            return false;
    }
    return true;
}

/* All placements; the output of the timed one stays in judge->computed. */
static bool run_placements(judge *judge, const judge_block *block, const kernel_entry *kernel,
                           bool has_bound, row_findings *findings, judgement *judgement,
                           error *error)
{
    size_t bytes = block->rows * block->hidden * sizeof(float);
    if (!judge_run(judge, block, kernel, PLACEMENT_TIMED, judge->computed, &findings->verdict,
                   error))
        return false;
    for (size_t row = 0; row < block->rows; row++)
        judge_row(judge, block, judge->computed, row, has_bound, findings);
    static const placement others[] = {PLACEMENT_BEHIND, PLACEMENT_BEFORE, PLACEMENT_IN_PLACE};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (others[i] == PLACEMENT_IN_PLACE && (kernel->facts.traits & LN_TRAIT_NOT_IN_PLACE))
            continue;
        if (!judge_run(judge, block, kernel, others[i], judge->other, &findings->verdict, error))
            return false;
        if (memcmp(judge->computed, judge->other, bytes) == 0)
            continue;
        judgement->alignment_bits = true;
        row_findings here = {.verdict.kind = VERDICT_OK};
        for (size_t row = 0; row < block->rows; row++)
            judge_row(judge, block, judge->other, row, has_bound, &here);
        if (here.verdict.kind != VERDICT_OK)
            find(findings, here.verdict.kind, here.verdict.declared, "%s: %.140s",
                 others[i] == PLACEMENT_IN_PLACE ? "in place"
                 : others[i] == PLACEMENT_BEHIND ? "unaligned"
                                                 : "strided",
                 here.verdict.detail);
    }
    return true;
}

bool judge_kernel(judge *judge, const judge_block *block, const kernel_entry *kernel,
                  judgement *judgement, error *error)
{
    row_findings findings = {.verdict.kind = VERDICT_OK};
    bool has_bound;
    *judgement = (struct judgement){.bound_row_ulp = NAN};
    error->code = EXIT_CODE_FINE;
    if (kernel->unsupported[0]) {
        judgement->verdict.kind = VERDICT_UNSUPPORTED;
        snprintf(judgement->verdict.detail, sizeof judgement->verdict.detail, "%.190s",
                 kernel->unsupported);
        return true;
    }
    if (!judge_reserve(judge, block, error) ||
        !judge_bounds(judge, block, kernel, &has_bound, error))
        return false;
    if (!run_placements(judge, block, kernel, has_bound, &findings, judgement, error)) {
        judgement->verdict = findings.verdict;
        return error->code == EXIT_CODE_FINE;
    }
    if (!measure(judge, block, judge->computed, has_bound, gives_statistics(judge, block->rows),
                 judgement, error))
        return false;
    conclude(judge, block, has_bound, &findings, judgement);
    judgement->computed = judge->computed;
    judgement->by_row = judge->by_row;
    return true;
}

bool judge_output(judge *judge, const judge_block *block, const float *computed,
                  judgement *judgement, error *error)
{
    row_findings findings = {.verdict.kind = VERDICT_OK};
    *judgement = (struct judgement){.bound_row_ulp = NAN};
    if (!judge_reserve(judge, block, error))
        return false;
    for (size_t row = 0; row < block->rows; row++)
        judge_row(judge, block, computed, row, false, &findings);
    if (!measure(judge, block, computed, false, false, judgement, error))
        return false;
    conclude(judge, block, false, &findings, judgement);
    judgement->by_row = judge->by_row;
    return true;
}
