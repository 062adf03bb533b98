/* What a choice rests on: of the kernels that were asked for, which have what it takes. */
#include "commands/choose/show.h"
#include <string.h>

static bool is_declined(const scored_kernel *candidate)
{
    const stored_case *stored = candidate->view.stored;
    return candidate->fate == FATE_UNTIMED && stored->judged &&
           stored->verdict.kind == VERDICT_DECLINED;
}

static void lose(coverage *covered, const chosen *one, const char *kernel, const char *why)
{
    char what[NAME_MAX_LENGTH + 64];
    snprintf(what, sizeof what, "%s %zux%zu", kernel, one->wanted.rows, one->wanted.hidden);
    coverage_lose(covered, what, why);
}

static const asked_case *find_lost(const kernel_evidence *evidence, const char *kernel)
{
    for (size_t i = 0; i < evidence->lost_count; i++)
        if (is_of_group(&evidence->lost[i].key, &evidence->group) &&
            strcmp(evidence->lost[i].key.kernel, kernel) == 0)
            return &evidence->lost[i];
    return NULL;
}

static bool has_lost(const chosen *one, const scored_kernel *candidate)
{
    const case_key *key = &candidate->view.stored->key;
    const kernel_standing *own = standing_of(&one->evidence.standings, key->kernel, key->dtype);
    return own && own->lost > 0;
}

/* One that was judged on such rows, but never to be timed, was not asked for. */
static void cover_candidate(const chosen *one, const scored_kernel *candidate, coverage *covered)
{
    const char *kernel = candidate->view.stored->key.kernel;
    const asked_case *lost = find_lost(&one->evidence, kernel);
    bool untimed = candidate->fate == FATE_UNTIMED;
    if (is_declined(candidate))
        covered->declined++;
    else if (candidate->fate == FATE_UNJUDGED ||
             (candidate->fate == FATE_DOUBTED && has_lost(one, candidate)))
        lose(covered, one, kernel, candidate->reason);
    else if (untimed && lost)
        lose(covered, one, kernel, lost->reason);
    else if (!untimed)
        covered->done++;
}

static bool is_about(const chosen *one, const asked_case *lost)
{
    return is_of_group(&lost->key, &one->evidence.group) &&
           choice_takes(&one->wanted, one->evidence.kernels, lost->key.kernel);
}

bool chosen_lacks_times(const chosen *one)
{
    for (size_t i = 0; i < one->evidence.lost_count; i++)
        if (is_about(one, &one->evidence.lost[i]))
            return true;
    return !one->evidence.timed;
}

static bool is_candidate(const chosen *one, const char *kernel)
{
    for (size_t i = 0; i < one->choice.count; i++)
        if (strcmp(one->choice.candidates[i].view.stored->key.kernel, kernel) == 0)
            return true;
    return false;
}

void chosen_cover(const chosen *one, coverage *covered)
{
    for (size_t i = 0; i < one->choice.count; i++)
        cover_candidate(one, &one->choice.candidates[i], covered);
    for (size_t i = 0; i < one->evidence.lost_count; i++) {
        const asked_case *lost = &one->evidence.lost[i];
        if (is_about(one, lost) && !is_candidate(one, lost->key.kernel))
            lose(covered, one, lost->key.kernel, lost->reason);
    }
    covered->asked = covered->done + covered->declined + covered->lost;
}
