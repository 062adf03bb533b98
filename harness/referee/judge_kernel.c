#include "referee/internal.h"
#include "base/hash.h"
#include "domain/invariance.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* False where the mean or rstd of a row is still poison: the kernel gives none. */
static bool gives_statistics(const row_judge *judge, size_t rows)
{
    for (size_t row = 0; row < rows; row++)
        if (judge_is_poison(&judge->mean[row], sizeof *judge->mean) ||
            judge_is_poison(&judge->rstd[row], sizeof *judge->rstd))
            return false;
    return true;
}

/* Judges mean and rstd of the last placement; false where the kernel gives none. */
static bool find_statistics(row_judge *judge, const judge_block *block, const judged_kind *kind,
                            row_findings *findings)
{
    bool given = gives_statistics(judge, block->rows);
    for (size_t row = 0; given && row < block->rows; row++)
        judge_statistics(judge, block, row, kind, findings);
    return given;
}

/* All placements; the output of the timed one stays in judge->computed, mean and rstd of strided
 * rows in judge->mean and judge->rstd. *strided: there are any. */
static bool run_placements(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
                           const judged_kind *kind, row_findings *findings,
                           case_judgement *judgement, bool *strided, error *err)
{
    size_t bytes = judge_bytes(block);
    bool dense = *strided = false;
    if (!judge_run(judge, block, kernel, PLACEMENT_TIMED, judge->computed, &findings->verdict, err))
        return false;
    judgement->output_hash = hash_bytes(HASH_START, judge->computed, bytes);
    for (size_t row = 0; row < block->rows; row++)
        judge_row(judge, block, judge_row_of(block, judge->computed, row), row, kind, findings);
    static const buffer_placement others[] = {PLACEMENT_TURN, PLACEMENT_BEHIND, PLACEMENT_BEFORE,
                                              PLACEMENT_IN_PLACE};
    static const invariance_axis axes[] = {AXIS_ROWS, AXIS_ALIGNMENT, AXIS_STRIDE, AXIS_IN_PLACE};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (others[i] == PLACEMENT_IN_PLACE && (kernel->facts.traits & LN_TRAIT_NOT_IN_PLACE))
            continue;
        if (!judge_run(judge, block, kernel, others[i], judge->other, &findings->verdict, err))
            return false;
        if (others[i] == PLACEMENT_BEHIND)
            dense = find_statistics(judge, block, kind, findings);
        if (others[i] == PLACEMENT_BEFORE)
            *strided = find_statistics(judge, block, kind, findings);
        judgement->output_hash = hash_bytes(judgement->output_hash, judge->other, bytes);
        if (memcmp(judge->computed, judge->other, bytes) == 0)
            continue;
        referee_varies(axes[i], block->hidden, &judgement->varies);
        row_findings here = {.verdict.kind = VERDICT_OK};
        for (size_t row = 0; row < block->rows; row++)
            judge_row(judge, block, judge_row_of(block, judge->other, row), row, kind, &here);
        findings->no_memory |= here.no_memory;
        if (here.verdict.kind != VERDICT_OK)
            judge_find(findings, here.verdict.kind, here.verdict.declared, "%s: %.140s",
                       others[i] == PLACEMENT_IN_PLACE ? "in place"
                       : others[i] == PLACEMENT_TURN   ? "half the rows at once"
                       : others[i] == PLACEMENT_BEHIND ? "unaligned"
                                                       : "strided",
                       here.verdict.detail);
    }
    if (dense != *strided)
        judge_find(findings, VERDICT_INACCURATE, false, "mean and rstd are given for %s rows alone",
                   dense ? "dense" : "strided");
    size_t statistics = block->rows * sizeof *judge->mean;
    judgement->output_hash = hash_bytes(judgement->output_hash, judge->mean, statistics);
    judgement->output_hash = hash_bytes(judgement->output_hash, judge->rstd, statistics);
    return true;
}

bool judge_kernel(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
                  case_judgement *judgement, error *err)
{
    row_findings findings = {.verdict.kind = VERDICT_OK};
    judged_kind kind;
    bool has_bound, has_statistics;
    *judgement = (struct case_judgement){.bound_row_ulp = NAN};
    err->code = EXIT_CODE_FINE;
    judge->upper_halves = false;
    if (!judge_reserve(judge, block, err))
        return false;
    bool fine = judge_bounds(judge, block, kernel, &has_bound, &findings.verdict, err);
    kind = judged_kind_of(kernel, fine && has_bound);
    if (!fine ||
        !run_placements(judge, block, kernel, &kind, &findings, judgement, &has_statistics, err)) {
        judgement->verdict = findings.verdict;
        return err->code == EXIT_CODE_FINE;
    }
    if (!judge_measure(judge, block, judge->computed, has_bound, has_statistics, judgement, err))
        return false;
    if (findings.no_memory)
        return fail_memory(err, "the limits of a row");
    judge_conclude(judge, block, has_bound, &findings, judgement);
    if (judge->upper_halves && judgement->verdict.kind <= VERDICT_OK_NO_BOUND)
        snprintf(judgement->verdict.detail, sizeof judgement->verdict.detail, "%s",
                 SPEED_TRAP "it leaves the upper halves of vector registers in use, which slows "
                            "SSE code down (vzeroupper is missing)");
    judgement->computed = judge->computed;
    judgement->by_row = judge->by_row;
    return true;
}
