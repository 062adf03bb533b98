#include "judge_inside.h"
#include "hash.h"
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
        if (!grow(&judge->mean, block->rows, sizeof *judge->mean) ||
            !grow(&judge->rstd, block->rows, sizeof *judge->rstd) ||
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
                                  .x_stride = block->hidden,
                                  .y_stride = block->hidden,
                                  .residual_stride = block->hidden,
                                  .sum_stride = block->hidden,
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

/* Mean or rstd as a kernel left them, of its accumulator's type, rounded to f32. What was not
 * written, and the 16-bit types, stay poison. */
static bool read_statistics(int arena, off_t at, size_t rows, const kernel_entry *kernel,
                            float *statistics)
{
    ln_type type = kernel->facts.accumulator;
    memset(statistics, 0xff, rows * sizeof *statistics);
    if (type == LN_F32)
        return arena_read(arena, at, statistics, rows * sizeof *statistics);
    for (size_t row = 0; type == LN_F64 && row < rows; row++) {
        double value;
        uint64_t bits;
        if (!arena_read(arena, at + (off_t)(row * sizeof value), &value, sizeof value))
            return false;
        memcpy(&bits, &value, sizeof bits);
        if (bits != UINT64_MAX)
            statistics[row] = (float)value;
    }
    return true;
}

/* x + residual rounded to f32 is what must be written out: one rounding, so one right answer. */
static bool check_sum(int arena, off_t at, const judge_block *block, bool *right, verdict *verdict)
{
    size_t elements = block->rows * block->hidden;
    float part[1024];
    for (size_t i = 0; i < elements && *right; i++) {
        size_t in_part = i % (sizeof part / sizeof *part), left = elements - i;
        if (in_part == 0 && !arena_read(arena, at + (off_t)(i * sizeof *part), part,
                                        left < 1024 ? left * sizeof *part : sizeof part))
            return false;
        float sum = block->x[i] + block->residual[i], given = part[in_part];
        if (given == sum || (isnan(given) && isnan(sum)))
            continue;
        *right = false;
        verdict->kind = VERDICT_INACCURATE;
        snprintf(verdict->detail, sizeof verdict->detail,
                 "row %zu, column %zu: the sum with the residual is %.9g where %.9g is right",
                 i / block->hidden, i % block->hidden, (double)given, (double)sum);
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
    if (!arena_write(arena, order.at.y, computed, bytes) ||
        (block->residual && !arena_write(arena, order.at.sum, computed, bytes)))
        return fail(error, EXIT_CODE_ENVIRONMENT, "memory file: %s", strerror(errno));
    if (!worker_ask(judge->worker, &order, judge->settings.deadline_seconds, &reply)) {
        if (interrupted())
            return fail(error, EXIT_CODE_INTERRUPTED, "interrupted");
        *verdict = failed_verdict(&reply);
        return false;
    }
    bool fine = arena_read(arena, order.at.y, computed, bytes);
    if (fine && placement == PLACEMENT_BEFORE)
        fine = read_statistics(arena, order.at.mean, block->rows, kernel, judge->mean) &&
               read_statistics(arena, order.at.rstd, block->rows, kernel, judge->rstd);
    bool right = true;
    if (fine && block->residual)
        fine = check_sum(arena, order.at.sum, block, &right, verdict);
    return fine ? right : fail(error, EXIT_CODE_ENVIRONMENT, "memory file: %s", strerror(errno));
}

bool judge_bounds(judge *judge, const judge_block *block, const kernel_entry *kernel, bool *has,
                  verdict *verdict, error *error)
{
    *has = false;
    error->code = EXIT_CODE_FINE;
    if (!kernel || !kernel->facts.has_bound)
        return true;
    order order = worker_order(ORDER_BOUND, kernel);
    reply reply;
    if (!judge_place(judge, block, &order, error))
        return false;
    order.count = block->rows;
    if (!worker_ask(judge->worker, &order, judge->settings.deadline_seconds, &reply)) {
        if (interrupted())
            return fail(error, EXIT_CODE_INTERRUPTED, "interrupted");
        verdict->kind = reply.verdict;
        snprintf(verdict->detail, sizeof verdict->detail, "in bound(): %.170s", reply.text);
        return false;
    }
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
    /* A bound that is NaN is no way out: nothing holds against it. */
    bool claims = has_bound && !(bound->xhat_abs == INFINITY || bound->affine_rel == INFINITY);
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

/* Where a kernel claims nothing and not one digit is right (an error of half the row's scale or
 * more), "ok" would mislead: it is inaccurate, and declared. */
static void find_digitless_rows(const judge *judge, const judge_block *block,
                                row_findings *findings)
{
    static const double no_digit = 0x1p23; /* 2^(p - 1) row ULP */
    for (size_t row = 0; row < block->rows; row++) {
        const judged_row *judged = &judge->by_row[row];
        if (isinf(judged->bound_row_ulp) && judged->row_ulp >= no_digit)
            find(findings, VERDICT_INACCURATE, true,
                 "row %zu: no digit is right, and the kernel claims nothing there", row);
    }
}

static void conclude(const judge *judge, const judge_block *block, bool has_bound,
                     row_findings *findings, judgement *judgement)
{
    double limit = judge->settings.max_row_ulp;
    double found = judgement->metrics.row_ulp_max;
    if (found > limit)
        find(findings, VERDICT_INACCURATE, false, "row_ulp %.4g is above the limit %g", found,
             limit);
    if (has_bound)
        find_digitless_rows(judge, block, findings);
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
    judgement->output_hash = hash_bytes(HASH_START, judge->computed, bytes);
    for (size_t row = 0; row < block->rows; row++)
        judge_row(judge, block, judge->computed, row, has_bound, findings);
    static const placement others[] = {PLACEMENT_TURN, PLACEMENT_BEHIND, PLACEMENT_BEFORE,
                                       PLACEMENT_IN_PLACE};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (others[i] == PLACEMENT_IN_PLACE && (kernel->facts.traits & LN_TRAIT_NOT_IN_PLACE))
            continue;
        if (!judge_run(judge, block, kernel, others[i], judge->other, &findings->verdict, error))
            return false;
        judgement->output_hash = hash_bytes(judgement->output_hash, judge->other, bytes);
        if (memcmp(judge->computed, judge->other, bytes) == 0)
            continue;
        judgement->alignment_bits = true;
        row_findings here = {.verdict.kind = VERDICT_OK};
        for (size_t row = 0; row < block->rows; row++)
            judge_row(judge, block, judge->other, row, has_bound, &here);
        if (here.verdict.kind != VERDICT_OK)
            find(findings, here.verdict.kind, here.verdict.declared, "%s: %.140s",
                 others[i] == PLACEMENT_IN_PLACE ? "in place"
                 : others[i] == PLACEMENT_TURN   ? "half the rows at once"
                 : others[i] == PLACEMENT_BEHIND ? "unaligned"
                                                 : "strided",
                 here.verdict.detail);
    }
    size_t statistics = block->rows * sizeof *judge->mean;
    judgement->output_hash = hash_bytes(judgement->output_hash, judge->mean, statistics);
    judgement->output_hash = hash_bytes(judgement->output_hash, judge->rstd, statistics);
    return true;
}

bool judge_kernel(judge *judge, const judge_block *block, const kernel_entry *kernel,
                  judgement *judgement, error *error)
{
    row_findings findings = {.verdict.kind = VERDICT_OK};
    bool has_bound;
    *judgement = (struct judgement){.bound_row_ulp = NAN};
    error->code = EXIT_CODE_FINE;
    if (!judge_reserve(judge, block, error))
        return false;
    if (!judge_bounds(judge, block, kernel, &has_bound, &findings.verdict, error) ||
        !run_placements(judge, block, kernel, has_bound, &findings, judgement, error)) {
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
