#include "conformance/batch.h"
#include "conformance/internal.h"
#include "base/hash.h"
#include "domain/invariance.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The first output of one number a row, by its name, of which a row is still poison: of those that were
 * asked for. NULL: all are given. */
static const char *missing_statistic(const row_judge *judge, const judge_block *block,
                                     unsigned outputs)
{
    const operation *what = operations[block->operation];
    for (size_t row = 0; row < block->rows; row++)
        for (size_t i = 0; i < what->count; i++)
            if (role_is_statistic(&what->roles[i]) && (outputs & 1u << i) &&
                !judge_is_given(&judge->rounded[i][row]))
                return what->roles[i].name;
    return NULL;
}

/* Judges the statistics of the last call; false where the kernel does not give them all. */
static bool find_statistics(row_judge *judge, const judge_block *block, const judged_kind *kind,
                            row_findings *findings)
{
    bool given = !missing_statistic(judge, block, ~0u);
    for (size_t row = 0; given && row < block->rows; row++)
        judge_statistics(judge, block, row, kind, findings);
    return given;
}

/* All outputs of one number a row, and their names with "and" between. */
static unsigned statistics_of(const operation *what, char names[64])
{
    unsigned all = 0;
    *names = '\0';
    for (size_t i = 0; i < what->count; i++) {
        size_t length = strlen(names);
        if (!role_is_statistic(&what->roles[i]))
            continue;
        snprintf(names + length, 64 - length, "%s%s", all ? " and " : "", what->roles[i].name);
        all |= 1u << i;
    }
    return all;
}

static void find_rows(row_judge *judge, const judge_block *block, const void *y,
                      const judged_kind *kind, row_findings *findings)
{
    const char *otherwise = judge_rounded_otherwise(block, y);
    if (otherwise)
        judge_find(findings, VERDICT_INACCURATE, SAYS_MISTAKE "%s", otherwise);
    judge_rows(judge, block, y, kind, findings);
}

static void judge_layout(row_judge *judge, const judge_block *block, const judged_kind *kind,
                         const char *where, row_findings *findings)
{
    row_findings here = {.verdict.kind = VERDICT_RIGHT};
    find_rows(judge, block, judge->other, kind, &here);
    findings->no_memory |= here.no_memory;
    if (here.verdict.kind != VERDICT_RIGHT)
        judge_find(findings, here.verdict.kind, "%s: %s", where, here.verdict.detail);
}

/* All layouts; the output of the timed one stays in judge->computed, the statistics of strided rows in
 * judge->given. *strided: there are any. */
static bool run_layouts(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
                        const judged_kind *kind, row_findings *findings, case_judgement *judgement,
                        bool *strided, error *err)
{
    size_t bytes = judge_bytes(block);
    bool dense = *strided = false;
    if (!judge_run(judge, block, kernel, LAYOUT_TIMED, judge->computed, &findings->verdict, err))
        return false;
    judgement->output_hash = hash_bytes(HASH_START, judge->computed, bytes);
    find_rows(judge, block, judge->computed, kind, findings);
    static const layout_name others[] = {LAYOUT_HALVES, LAYOUT_BEHIND, LAYOUT_BEFORE,
                                         LAYOUT_IN_PLACE};
    static const invariance_axis axes[] = {AXIS_ROWS, AXIS_ALIGNMENT, AXIS_STRIDE, AXIS_IN_PLACE};
    static const char *const names[] = {"half the rows at once", "unaligned", "strided",
                                        "in place"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (others[i] == LAYOUT_IN_PLACE && (kernel->facts.traits & LN_TRAIT_NOT_IN_PLACE))
            continue;
        if (!judge_run(judge, block, kernel, others[i], judge->other, &findings->verdict, err))
            return false;
        if (others[i] == LAYOUT_BEHIND)
            dense = find_statistics(judge, block, kind, findings);
        if (others[i] == LAYOUT_BEFORE)
            *strided = find_statistics(judge, block, kind, findings);
        judgement->output_hash = hash_bytes(judgement->output_hash, judge->other, bytes);
        if (memcmp(judge->computed, judge->other, bytes) == 0)
            continue;
        /* In place rows lie apart where hidden is odd: bits that depend on the stride differ there too. */
        if (axes[i] != AXIS_IN_PLACE || block->hidden % 2 == 0 ||
            !(judgement->varies & 1u << AXIS_STRIDE))
            judgement->varies |= 1u << axes[i];
        judge_layout(judge, block, kind, names[i], findings);
    }
    char names_of[64];
    unsigned all = statistics_of(operations[block->operation], names_of);
    if (dense != *strided)
        judge_find(findings, VERDICT_INACCURATE, "%s are given for %s rows alone", names_of,
                   dense ? "dense" : "strided");
    for (size_t i = 0; i < ROLES_MOST; i++)
        if (all & 1u << i)
            judgement->output_hash =
                hash_bytes(judgement->output_hash, judge->rounded[i], block->rows * sizeof(double));
    return true;
}

void conformance_blame_load(const kernel_entry *kernel, case_judgement *judgement)
{
    case_verdict *verdict = &judgement->verdict, found = *verdict;
    char described[DETAIL_MAX_LENGTH + 64] = "";
    bool wrong = verdict_is_limit(found.kind) || found.kind == VERDICT_INACCURATE ||
                 found.kind == VERDICT_WRONG_CLASS;
    if (!kernel->set_at_load[0] ||
        !(wrong || found.kind == VERDICT_RIGHT || found.kind == VERDICT_RIGHT_NO_BOUND))
        return;
    if (wrong)
        verdict_describe(&found, described, sizeof described);
    *verdict = (case_verdict){.kind = VERDICT_STATE_CHANGED};
    verdict_say(verdict, "%s%s%s", kernel->set_at_load, wrong ? "; " : "", described);
}

bool judge_kernel(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
                  case_judgement *judgement, error *err)
{
    if (!judge_as_it_is(judge, block, kernel, judgement, err))
        return false;
    conformance_blame_load(kernel, judgement);
    return true;
}

bool judge_as_it_is(row_judge *judge, const judge_block *block, const kernel_entry *kernel,
                    case_judgement *judgement, error *err)
{
    row_findings findings = {.verdict.kind = VERDICT_RIGHT};
    judged_kind kind;
    bool has_bound, has_statistics;
    *judgement = (struct case_judgement){.bound_row_ulp = NAN, .probable_row_ulp = NAN};
    err->code = EXIT_CODE_FINE;
    judge->upper_halves = false;
    batch_begin(judge);
    if (!judge_reserve(judge, block, err) || !batch_add_bounds(judge, block, kernel, err) ||
        !batch_add_layouts(judge, block, kernel, err))
        return false;
    batch_send(judge);
    bool fine = judge_bounds(judge, block, kernel, &has_bound, &findings.verdict, err);
    kind = judged_kind_of(kernel, fine && has_bound);
    if (!fine ||
        !run_layouts(judge, block, kernel, &kind, &findings, judgement, &has_statistics, err)) {
        judgement->verdict = findings.verdict;
        return err->code == EXIT_CODE_FINE;
    }
    if (!judge_measure(judge, block, judge->computed, has_bound, has_statistics, judgement, err))
        return false;
    if (findings.no_memory)
        return fail_memory(err, "the limits of a row");
    judge_conclude(judge, block, has_bound, &findings, judgement);
    if (judge->upper_halves && judgement->verdict.kind <= VERDICT_RIGHT_NO_BOUND)
        snprintf(judgement->verdict.detail, sizeof judgement->verdict.detail, "%s",
                 SPEED_TRAP "it leaves the upper halves of vector registers in use, which slows "
                            "SSE code down (vzeroupper is missing)");
    judgement->computed = judge->computed;
    judgement->by_row = judge->by_row;
    judgement->probable_row_ulp = judge->probable_row_ulp;
    return true;
}
