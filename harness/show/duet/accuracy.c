/* Judges both sides of every pair on the same rows and compares what came out, bit for bit. */
#include "conformance/invariance.h"
#include "base/allocate.h"
#include "conformance/conformance.h"
#include "show/duet/duet.h"
#include "base/program.h"
#include "domain/reproducible.h"
#include <string.h>

enum { BLOCKS = 2 };

static bool judge_both(duet_run *duet, const judge_block *block, const duet_pair *pair,
                       case_judgement judgements[SIDES], void *outputs[SIDES])
{
    size_t bytes = block->rows * block->hidden * dtype_size(block->storage);
    for (int side = 0; side < SIDES; side++) {
        if (interrupted())
            return false;
        judge_kernel(duet->judge, block, pair->kernels[side], &judgements[side]);
        bool ran = judgements[side].computed != NULL;
        outputs[side] = ran ? allocate_copy(judgements[side].computed, bytes) : NULL;
    }
    return true;
}

static void compare_judged(comparison_pair *pair, const case_judgement judgements[SIDES],
                           const char *what)
{
    judged_side sides[SIDES];
    for (int side = 0; side < SIDES; side++)
        sides[side] = (judged_side){judgements[side].verdict, judgements[side].metrics,
                                    judgements[side].output_hash};
    pair_compare(pair, sides, what);
}

bool duet_judge_blocks(duet_run *duet, const judge_block blocks[BLOCKS], duet_pair *pairs,
                       size_t count, duet_outputs *outputs)
{
    for (size_t i = 0; i < count; i++) {
        duet_pair *pair = &pairs[i];
        for (int block = 0; block < BLOCKS; block++) {
            case_judgement judgements[SIDES];
            void *computed[SIDES] = {NULL, NULL};
            bool fine = judge_both(duet, &blocks[block], pair, judgements, computed);
            for (int side = 0; side < SIDES; side++)
                outputs[i][side][block] = computed[side];
            if (!fine)
                return false;
            compare_judged(&pair->pair, judgements, "normal, as timed");
            for (int side = 0; block == 0 && side < SIDES; side++) {
                pair->pair.sides[side].metrics = judgements[side].metrics;
                pair->pair.sides[side].bound_row_ulp = judgements[side].bound_row_ulp;
            }
        }
        progress_step(&duet->progress, 0, pair->pair.key.kernel);
    }
    return true;
}

static bool judge_group(duet_run *duet, const accuracy_group *group, duet_pair *pairs, size_t count)
{
    judge_block block;
    char what[DETAIL_MAX_LENGTH];
    judge_block_generate(
        duet->judge, &block,
        call_dense(&group->convention, group->dtype, group->param, group->rows, group->hidden),
        group->input, NULL, 0);
    snprintf(what, sizeof what, "%.60s, %.30s", group->input, group->convention_label);
    bool fine = true;
    for (size_t i = 0; fine && i < count; i++) {
        case_judgement judgements[SIDES];
        void *computed[SIDES] = {NULL, NULL};
        fine = judge_both(duet, &block, &pairs[i], judgements, computed);
        if (fine)
            compare_judged(&pairs[i].pair, judgements, what);
        free(computed[BASE]);
        free(computed[NEW]);
    }
    judge_block_free(&block);
    return fine;
}

/* The timed convention and those without eps on every family, the others on normal rows: divisor
 * and eps enter once a row, so that what a family breaks it breaks under all of them, unless an eps
 * hides it. */
bool duet_judge_families(duet_run *duet, const speed_group *group, duet_pair *pairs, size_t count)
{
    const case_plan *plan = &duet->plan;
    for (size_t i = 0; i < plan->accuracy_count; i++) {
        const accuracy_group *judged = &plan->accuracy[i];
        bool normal = strcmp(judged->input, "normal") == 0;
        bool timed = strcmp(judged->convention_label, group->convention_label) == 0;
        bool typed = judged->dtype == group->dtype && judged->param == group->param;
        bool without_eps = judged->convention.eps_place == LN_EPS_NONE;
        if (!typed || (!timed && !without_eps && !normal))
            continue;
        if (!judge_group(duet, judged, pairs, count))
            return false;
    }
    return true;
}

/* Of one side, under the first convention that is timed. */
static bool find_classes_of(duet_run *duet, int side, const kernel_entry *const *own, size_t count)
{
    const kernel_list *all = &duet->kernels[side];
    invariance_result *found = allocate_zeroed(count + 1, sizeof *found);
    bool fine = invariance_measure(duet->judge, &duet->plan.speed[0].convention, NULL, all, own,
                                   found, count);
    for (size_t i = 0; fine && i < count; i++)
        duet->reproducible[side][own[i] - all->kernels] =
            reproducible_found(&own[i]->facts, &found[i]);
    free(found);
    return fine;
}

bool duet_find_classes(duet_run *duet, const duet_partner *partners)
{
    const kernel_entry **own = allocate_zeroed(duet->plan.kernel_count + 1, sizeof *own);
    bool fine = true;
    for (int side = 0; fine && side < SIDES; side++) {
        size_t count = 0;
        duet->reproducible[side] = allocate_zeroed(duet->kernels[side].count + 1, sizeof(char *));
        for (size_t i = 0; i < duet->plan.kernel_count; i++)
            if (partners[i].kernel)
                own[count++] = side == BASE ? duet->plan.kernels[i] : partners[i].kernel;
        if (duet->comparison.settings.accuracy && duet->plan.speed_count > 0)
            fine = fine && find_classes_of(duet, side, own, count);
    }
    free(own);
    return fine;
}

const char *duet_class(const duet_run *duet, int side, const kernel_entry *kernel)
{
    const char *found = duet->reproducible[side][kernel - duet->kernels[side].kernels];
    return found ? found : reproducible_found(&kernel->facts, NULL);
}
