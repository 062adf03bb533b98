#include "judge/internal.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

row_judge *judge_create(kernel_runner *runner, const judge_settings *settings)
{
    whole_judge *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->judge.runner = runner;
    made->judge.settings = *settings;
    made->reference = ln_reference_create();
    if (made->reference)
        return &made->judge;
    judge_destroy(&made->judge);
    return NULL;
}

row_judge *judge_create_another(const row_judge *judge, kernel_runner *runner)
{
    return judge_create(runner, &judge->settings);
}

void judge_destroy(row_judge *judge)
{
    if (!judge)
        return;
    ln_reference_destroy(judge_whole(judge)->reference);
    free(judge_whole(judge)->book.terms);
    free(judge->values);
    free(judge->batch);
    free(judge_whole(judge)->wrong_columns);
    free(judge_whole(judge)->wrong_rows);
    free(judge->computed);
    free(judge->other);
    for (size_t i = 0; i < ROLES_MOST; i++) {
        free(judge->given[i]);
        free(judge->rounded[i]);
    }
    free(judge->bounds);
    free(judge->by_row);
    free(judge_whole(judge));
}

ln_reference_counts judge_reference_counts(const row_judge *judge)
{
    return ln_reference_count(((const whole_judge *)judge)->reference);
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

bool judge_reserve(row_judge *judge, const judge_block *block, error *err)
{
    whole_judge *own = judge_whole(judge);
    size_t bytes = judge_bytes(block);
    judge->placed = NULL;
    if (bytes > own->bytes) {
        if (!grow(&judge->computed, bytes, 1) || !grow(&judge->other, bytes, 1))
            return fail_memory(err, "a kernel's output");
        own->bytes = bytes;
    }
    if (block->rows > own->rows) {
        bool fine = true;
        for (size_t i = 0; fine && i < ROLES_MOST; i++) /* of any operation */
            fine = grow(&judge->given[i], block->rows, sizeof(double)) &&
                   grow(&judge->rounded[i], block->rows, sizeof(double));
        if (!fine || !grow(&judge->bounds, block->rows, sizeof *judge->bounds) ||
            !grow(&own->wrong_rows, block->rows, sizeof *own->wrong_rows) ||
            !grow(&judge->by_row, block->rows, sizeof *judge->by_row))
            return fail_memory(err, "a kernel's statistics");
        own->rows = block->rows;
    }
    return true;
}

bool judge_output(row_judge *judge, const judge_block *block, const void *computed,
                  case_judgement *judgement, error *err)
{
    judged_kind kind = judged_kind_unknown(block);
    row_findings findings = {.verdict.kind = VERDICT_RIGHT};
    *judgement = (struct case_judgement){.bound_row_ulp = NAN, .probable_row_ulp = NAN};
    if (!judge_reserve(judge, block, err) ||
        !judge_call(judge, block, computed, &kind, false, &findings, judgement, err))
        return false;
    judgement->by_row = judge->by_row;
    /* There is no kernel that could excuse itself: a wrong class is one, and where not one digit is
     * right and nothing is known, nothing can be said. */
    if (judgement->verdict.kind == VERDICT_LIMIT)
        judgement->verdict = (case_verdict){.kind = VERDICT_RIGHT_NO_BOUND};
    if (judgement->verdict.kind == VERDICT_LIMIT_CLASS)
        judgement->verdict.kind = VERDICT_WRONG_CLASS;
    /* A limit that was given is an answer where nothing else is known. */
    if (judgement->verdict.kind == VERDICT_RIGHT_NO_BOUND && findings.untold > 0 &&
        isinf(judge->settings.max_row_ulp)) {
        judgement->verdict.kind = VERDICT_NOT_JUDGED;
        snprintf(judgement->verdict.detail, sizeof judgement->verdict.detail,
                 "%zu of %zu rows: sums in another order may cost every digit there; "
                 "--max-row-ulp X sets a limit",
                 findings.untold, block->rows);
    }
    return true;
}
