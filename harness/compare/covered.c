/* What became of the cases that a comparison was asked for: compared, declined on both sides, or
 * lost. */
#include "compare/comparison.h"
#include "base/allocate.h"
#include "base/hash.h"
#include <string.h>

static uint64_t hash_apart(apart_kind kind, const char *kernel, const char *why)
{
    uint64_t hash = hash_bytes(HASH_START ^ kind, kernel, strlen(kernel) + 1);
    return hash_bytes(hash, why, strlen(why));
}

/* The cases of a kernel that stand apart for one reason are one entry. */
static void set_apart(run_comparison *comparison, apart_kind kind, const char *kernel,
                      const char *why)
{
    uint64_t hash = hash_apart(kind, kernel, why);
    hash_probe at = hash_index_probe(&comparison->apart_index, hash);
    for (size_t i; hash_index_next(&comparison->apart_index, &at, &i);) {
        comparison->apart[i].cases++;
        return;
    }
    comparison->apart =
        allocate_room(comparison->apart, comparison->apart_count, sizeof *comparison->apart);
    apart_cases *added = &comparison->apart[comparison->apart_count];
    *added = (apart_cases){.kind = kind, .cases = 1};
    snprintf(added->kernel, sizeof added->kernel, "%s", kernel);
    snprintf(added->why, sizeof added->why, "%s", why);
    hash_index_add(&comparison->apart_index, hash, comparison->apart_count++);
}

static void lose(run_comparison *comparison, const case_key *key, const char *why)
{
    text_buffer name = {0};
    add_pair_name(&name, key);
    comparison->covered.asked++;
    coverage_lose(&comparison->covered, name.bytes ? name.bytes : key->kernel, why);
    text_free(&name);
}

void comparison_lose(run_comparison *comparison, const case_key *key, const char *why)
{
    lose(comparison, key, why);
    set_apart(comparison, APART_LOST, key->kernel, why);
}

void comparison_decline(run_comparison *comparison, const case_key *key, const char *why)
{
    comparison->covered.asked++;
    comparison->covered.declined++;
    set_apart(comparison, APART_DECLINED, key->kernel, why);
}

void comparison_add_new(run_comparison *comparison, const case_key *key, const char *why)
{
    set_apart(comparison, APART_NEW, key->kernel, why);
}

void add_apart(text_buffer *out, const apart_cases *apart)
{
    add_plain(out, apart->kernel);
    text_add(out, " (");
    if (apart->cases > 1)
        text_format(out, "%zu cases: ", apart->cases);
    add_plain(out, apart->why);
    text_add(out, ")");
}

bool comparison_fails_by_loss(const run_comparison *comparison)
{
    return comparison->covered.lost > 0 && !comparison->settings.allow_lost;
}

/* What a side has no result of. */
static void find_loss(comparison_pair *pair)
{
    static const char *const names[] = {[FAILED_BASE] = "base", "new", "both"};
    const accuracy_tally *tally = &pair->tally;
    pair_failure failure = pair_failed(pair);
    size_t inputs = tally->judged + tally->declined + tally->gained + tally->lost;
    char described[VERDICT_MAX_LENGTH];
    if (failure != FAILED_NOT)
        snprintf(pair->lost, sizeof pair->lost, "%s: %.170s", names[failure],
                 verdict_describe(&pair->verdicts[failure == FAILED_BASE ? BASE : NEW], described,
                                  sizeof described));
    else if (tally->lost > 0 && inputs == 1)
        snprintf(pair->lost, sizeof pair->lost, "%s", tally->missing_why);
    else if (tally->lost > 0)
        snprintf(pair->lost, sizeof pair->lost, "%zu of %zu inputs: %.60s; %.90s", tally->lost,
                 inputs, tally->missing, tally->missing_why);
}

/* Whether the pair stays one: there is something to show of it, its loss with it. */
static bool settle_pair(run_comparison *comparison, comparison_pair *pair)
{
    const accuracy_tally *tally = &pair->tally;
    pair_failure failure = pair_failed(pair);
    if (pair->accuracy != ACCURACY_EQUAL && failure != FAILED_BOTH)
        pair->accuracy = pair_accuracy(pair);
    if (!pair->lost[0])
        find_loss(pair);
    bool compared =
        tally->judged > 0 || pair->accuracy == ACCURACY_EQUAL || pair->speed != SPEED_NOT_MEASURED;
    if (pair->lost[0] && (compared || failure != FAILED_NOT)) {
        lose(comparison, &pair->key, pair->lost);
        return true;
    }
    if (pair->lost[0]) {
        comparison_lose(comparison, &pair->key, pair->lost);
        return false;
    }
    if (compared) {
        comparison->covered.asked++;
        comparison->covered.done++;
        return true;
    }
    if (tally->gained > 0)
        comparison_add_new(comparison, &pair->key, tally->refusal);
    else
        comparison_decline(comparison, &pair->key, tally->refusal);
    return false;
}

void comparison_settle(run_comparison *comparison, size_t first)
{
    size_t kept = first;
    for (size_t i = first; i < comparison->pair_count; i++)
        if (settle_pair(comparison, &comparison->pairs[i])) {
            if (kept != i)
                comparison->pairs[kept] = comparison->pairs[i];
            kept++;
        }
    comparison->pair_count = kept;
}
