#include "judge_inside.h"
#include "hash.h"
#include "invariance.h"
#include <math.h>
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

judge *judge_create_another(const judge *judge, worker *worker)
{
    return judge_create(worker, &judge->settings);
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
    free(judge->given_mean);
    free(judge->given_rstd);
    free(judge->bounds);
    free(judge->by_row);
    free(judge);
}

ln_reference_counts judge_reference_counts(const judge *judge)
{
    return ln_reference_count(judge->reference);
}

const char *judge_describe_counts(const ln_reference_counts *counts, char *buffer, size_t size)
{
    const struct {
        uint64_t count;
        const char *how;
    } ways[] = {{counts->fast, "in double-double"},
                {counts->first_try, "at the first precision"},
                {counts->raised, "at a raised one"},
                {counts->exact, "by exact comparison"},
                {counts->special, "NaN or infinite by definition"}};
    size_t length =
        (size_t)snprintf(buffer, size, "%llu elements", (unsigned long long)counts->elements);
    const char *before = ": ";
    for (size_t i = 0; i < sizeof ways / sizeof *ways && length < size; i++) {
        if (ways[i].count == 0)
            continue;
        length += (size_t)snprintf(buffer + length, size - length, "%s%llu %s", before,
                                   (unsigned long long)ways[i].count, ways[i].how);
        before = ", ";
    }
    return buffer;
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
    size_t bytes = judge_bytes(block);
    if (bytes > judge->bytes) {
        if (!grow(&judge->computed, bytes, 1) || !grow(&judge->other, bytes, 1))
            return fail_memory(error, "a kernel's output");
        judge->bytes = bytes;
    }
    if (block->rows > judge->rows) {
        if (!grow(&judge->mean, block->rows, sizeof *judge->mean) ||
            !grow(&judge->rstd, block->rows, sizeof *judge->rstd) ||
            !grow(&judge->given_mean, block->rows, sizeof *judge->given_mean) ||
            !grow(&judge->given_rstd, block->rows, sizeof *judge->given_rstd) ||
            !grow(&judge->bounds, block->rows, sizeof *judge->bounds) ||
            !grow(&judge->by_row, block->rows, sizeof *judge->by_row))
            return fail_memory(error, "a kernel's statistics");
        judge->rows = block->rows;
    }
    return true;
}

/* The mean of every row is still poison: the kernel gives none. */
static bool gives_statistics(const judge *judge, size_t rows)
{
    for (size_t row = 0; row < rows; row++)
        if (judge_is_poison(&judge->mean[row], sizeof *judge->mean) ||
            judge_is_poison(&judge->rstd[row], sizeof *judge->rstd))
            return false;
    return true;
}

/* All placements; the output of the timed one stays in judge->computed. */
static bool run_placements(judge *judge, const judge_block *block, const kernel_entry *kernel,
                           bool has_bound, row_findings *findings, judgement *judgement,
                           error *error)
{
    size_t bytes = judge_bytes(block);
    if (!judge_run(judge, block, kernel, PLACEMENT_TIMED, judge->computed, &findings->verdict,
                   error))
        return false;
    judgement->output_hash = hash_bytes(HASH_START, judge->computed, bytes);
    for (size_t row = 0; row < block->rows; row++)
        judge_row(judge, block, judge_row_of(block, judge->computed, row), row, has_bound,
                  findings);
    static const placement others[] = {PLACEMENT_TURN, PLACEMENT_BEHIND, PLACEMENT_BEFORE,
                                       PLACEMENT_IN_PLACE};
    static const axis axes[] = {AXIS_ROWS, AXIS_ALIGNMENT, AXIS_STRIDE, AXIS_IN_PLACE};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (others[i] == PLACEMENT_IN_PLACE && (kernel->facts.traits & LN_TRAIT_NOT_IN_PLACE))
            continue;
        if (!judge_run(judge, block, kernel, others[i], judge->other, &findings->verdict, error))
            return false;
        judgement->output_hash = hash_bytes(judgement->output_hash, judge->other, bytes);
        if (memcmp(judge->computed, judge->other, bytes) == 0)
            continue;
        judgement->varies |= 1u << axes[i];
        row_findings here = {.verdict.kind = VERDICT_OK};
        for (size_t row = 0; row < block->rows; row++)
            judge_row(judge, block, judge_row_of(block, judge->other, row), row, has_bound, &here);
        if (here.verdict.kind != VERDICT_OK)
            judge_find(findings, here.verdict.kind, here.verdict.declared, "%s: %.140s",
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
    if (!judge_measure(judge, block, judge->computed, has_bound,
                       gives_statistics(judge, block->rows), judgement, error))
        return false;
    judge_conclude(judge, block, has_bound, &findings, judgement);
    judgement->computed = judge->computed;
    judgement->by_row = judge->by_row;
    return true;
}

bool judge_output(judge *judge, const judge_block *block, const void *computed,
                  judgement *judgement, error *error)
{
    row_findings findings = {.verdict.kind = VERDICT_OK};
    *judgement = (struct judgement){.bound_row_ulp = NAN};
    if (!judge_reserve(judge, block, error))
        return false;
    for (size_t row = 0; row < block->rows; row++)
        judge_row(judge, block, judge_row_of(block, computed, row), row, false, &findings);
    if (!judge_measure(judge, block, computed, false, false, judgement, error))
        return false;
    judge_conclude(judge, block, false, &findings, judgement);
    judgement->by_row = judge->by_row;
    return true;
}
