/* The cases of two runs, pair by pair: how fast, and how wrong. */
#include "compare/compare.h"
#include "base/allocate.h"
#include "compare/speed.h"
#include "base/hash.h"
#include <math.h>
#include <string.h>

/* Google Benchmark's own cases tell no bytes: the worst regime's floor is theirs. */
static double floor_of(const run_comparison *comparison, const case_key *key)
{
    if (key->rows > 0)
        return calibration_floor(&comparison->calibration, METHOD_COMPARE,
                                 comparison_regime(comparison, key));
    double worst = NAN;
    for (int regime = 0; regime < REGIMES; regime++)
        worst = fmax(worst, calibration_floor(&comparison->calibration, METHOD_COMPARE,
                                              regime_names[regime]));
    return worst;
}

/* Why nothing may be claimed, whatever the figures say; false where something may. */
static bool too_little(comparison_pair *pair, const speed_sample samples[SIDES])
{
    size_t size = sizeof pair->detail;
    size_t least =
        samples[BASE].groups < samples[NEW].groups ? samples[BASE].groups : samples[NEW].groups;
    if (samples[BASE].over_roof != samples[NEW].over_roof)
        return snprintf(pair->detail, size, "a roof was timed in one run only") > 0;
    if (least < LEAST_PROCESSES)
        return snprintf(pair->detail, size, "%zu process%s in a run, %d are needed", least,
                        least == 1 ? "" : "es", LEAST_PROCESSES) > 0;
    if (isnan(pair->noise))
        return snprintf(pair->detail, size, "noise between runs not known") > 0;
    return false;
}

/* Nothing below the threshold matters, and nothing below the noise can be told. What an interval
 * claims the ranks must bear out. */
static speed_verdict conclude(const run_comparison *comparison, comparison_pair *pair)
{
    const comparison_settings *settings = &comparison->settings;
    double limit = fmax(settings->threshold, pair->noise);
    speed_verdict lean = speed_lean(&pair->ratio, limit);
    bool moved = lean == SPEED_SLOWER || lean == SPEED_FASTER;
    if (!moved || pair->p < 1 - settings->confidence)
        return lean;
    snprintf(pair->detail, sizeof pair->detail, "the rank test does not bear it out");
    return SPEED_INCONCLUSIVE;
}

static void compare_times(const run_comparison *comparison, comparison_pair *pair,
                          const speed_sample samples[SIDES])
{
    uint64_t seed = hash_bytes(HASH_START, pair->key.kernel, strlen(pair->key.kernel)) ^
                    comparison->settings.seed;
    pair->ratio = compare_samples(&samples[BASE], &samples[NEW], comparison->settings.confidence,
                                  seed, &pair->p);
    for (int side = 0; side < SIDES; side++)
        pair->processes[side] = (unsigned)samples[side].groups;
    pair->speed = too_little(pair, samples) ? SPEED_INCONCLUSIVE : conclude(comparison, pair);
}

static void compare_speed(const run_comparison *comparison, comparison_pair *pair,
                          const run_view *const sides[SIDES], const size_t places[SIDES])
{
    speed_sample samples[SIDES];
    bool timed = true;
    for (int side = 0; side < SIDES; side++) {
        const speed_figures *speed = &sides[side]->views[places[side]].speed;
        samples[side] = speed_sample_of(&sides[side]->cases, places[side]);
        timed &= samples[side].groups > 0;
        pair->time_ns[side] = speed->time_ns;
        pair->roof[side] = speed->roof_ratio;
        pair->cycles[side] = speed->cycles;
        pair->instructions[side] = speed->instructions;
    }
    if (timed) {
        pair->noise = floor_of(comparison, &pair->key);
        compare_times(comparison, pair, samples);
    }
    speed_sample_free(&samples[BASE]);
    speed_sample_free(&samples[NEW]);
}

/* Without hashes equal figures say nothing of bits. */
static bool same_figures(const stored_case *a, const stored_case *b)
{
    return a->verdict.kind == b->verdict.kind &&
           memcmp(&a->metrics, &b->metrics, sizeof a->metrics) == 0;
}

static void compare_accuracy(comparison_pair *pair, const stored_case *base, const stored_case *new)
{
    const stored_case *const sides[SIDES] = {base, new};
    judged_side judged[SIDES];
    for (int side = 0; side < SIDES; side++) {
        judged[side] =
            (judged_side){sides[side]->verdict, sides[side]->metrics, sides[side]->output_hash};
        pair->metrics[side] = sides[side]->metrics;
        pair->bound_row_ulp[side] = sides[side]->bound_row_ulp;
    }
    bool ran = base->metrics.elements > 0 && new->metrics.elements > 0;
    bool hashed = base->hashed && new->hashed;
    if (ran && !hashed) {
        bool same = same_figures(base, new);
        judged[BASE].output_hash = 0;
        judged[NEW].output_hash = !same;
        if (same) {
            pair->accuracy = ACCURACY_EQUAL;
            pair->verdicts[BASE] = base->verdict;
            pair->verdicts[NEW] = new->verdict;
            return;
        }
    }
    pair_compare(pair, judged, pair->key.input);
}

/* A time that is no time (none, NaN) is none. */
static bool is_timed(const stored_case *stored)
{
    for (size_t i = 0; i < stored->repetition_count; i++)
        if (stored->repetitions[i].real_ns > 0 && isfinite(stored->repetitions[i].real_ns))
            return stored->verdict.kind != VERDICT_SKIPPED;
    return false;
}

static bool is_declined(const stored_case *stored)
{
    return stored->judged && stored->verdict.kind == VERDICT_UNSUPPORTED;
}

/* Whether the half that is looked at was asked of a case: what was only judged was not to be timed,
 * and the other way. What has neither was to have some. */
static bool is_asked(const comparison_settings *settings, const stored_case *stored)
{
    bool judged = stored->judged && stored->verdict.kind != VERDICT_SKIPPED;
    bool none = !judged && stored->repetition_count == 0;
    return none || (settings->accuracy && judged) ||
           (settings->speed && stored->repetition_count > 0);
}

/* Says whose result is missing, and why where that is known. */
static void say_missing(comparison_pair *pair, const char *what, const char *side,
                        const stored_case *without)
{
    char described[DETAIL_MAX_LENGTH];
    bool known = without->verdict.detail[0] || (without->judged && !is_declined(without));
    snprintf(pair->lost, sizeof pair->lost, "no %s in %s%s%.150s", what, side, known ? ": " : "",
             known ? verdict_describe(&without->verdict, described, sizeof described) : "");
}

/* What base has and new has not, or neither; what new alone has is no loss, unless base failed. */
static void find_missing(const comparison_settings *settings, comparison_pair *pair,
                         const stored_case *base, const stored_case *new)
{
    bool old = is_timed(base), now = is_timed(new);
    bool timed = base->repetition_count > 0 || base->verdict.kind == VERDICT_SKIPPED;
    if (settings->accuracy && base->judged && !new->judged)
        say_missing(pair, "verdict", "new", new);
    else if (settings->speed && old && !now && !is_declined(new))
        say_missing(pair, "time", "new", new);
    else if (settings->speed && !old && timed && !is_declined(base))
        say_missing(pair, "time", now ? "base" : "both", base);
    else if (!base->judged && base->repetition_count == 0)
        say_missing(pair, "result", new->judged || now ? "base" : "both", base);
}

static void compare_pair(run_comparison *comparison, const run_view *const sides[SIDES],
                         const size_t places[SIDES])
{
    const stored_case *base = &sides[BASE]->cases.cases[places[BASE]],
                      *new = &sides[NEW]->cases.cases[places[NEW]];
    const comparison_settings *settings = &comparison->settings;
    if (!is_asked(settings, base) && !is_asked(settings, new))
        return;
    comparison_pair *pair = comparison_add(comparison, &new->key);
    for (int side = 0; side < SIDES; side++)
        pair->reproducible[side] = sides[side]->views[places[side]].reproducibility;
    if (settings->accuracy && base->judged && new->judged)
        compare_accuracy(pair, base, new);
    if (settings->speed && is_timed(base) && is_timed(new))
        compare_speed(comparison, pair, sides, places);
    find_missing(settings, pair, base, new);
}

/* What only one side has: lost where it is base's, else a notice, unless it failed there. */
static void set_apart(run_comparison *comparison, const stored_case *stored, bool in_new)
{
    char described[DETAIL_MAX_LENGTH], line[DETAIL_MAX_LENGTH];
    bool failed =
        !is_declined(stored) && !is_timed(stored) &&
        (!stored->judged || verdict_exit_code(&stored->verdict) == EXIT_CODE_KERNEL_FAILED);
    if (is_roof(stored->key.kernel) || !is_asked(&comparison->settings, stored))
        return;
    snprintf(line, sizeof line, "only in new: %.170s",
             verdict_describe(&stored->verdict, described, sizeof described));
    if (!in_new)
        comparison_lose(comparison, &stored->key, "only in base");
    else if (failed)
        comparison_lose(comparison, &stored->key, line);
    else
        comparison_add_new(comparison, &stored->key, "only in new");
}

void compare_cases(run_comparison *comparison, const run_view *base, const run_view *new)
{
    const run_view *const sides[SIDES] = {base, new};
    bool *paired = allocate_zeroed(base->cases.count + 1, 1);
    for (size_t i = 0; i < new->cases.count; i++) {
        const stored_case *stored = &new->cases.cases[i];
        size_t places[SIDES] = {stored_cases_find(&base->cases, &stored->key), i};
        if (places[BASE] == base->cases.count) {
            set_apart(comparison, stored, true);
            continue;
        }
        paired[places[BASE]] = true;
        if (!is_roof(stored->key.kernel))
            compare_pair(comparison, sides, places);
    }
    for (size_t i = 0; i < base->cases.count; i++)
        if (!paired[i])
            set_apart(comparison, &base->cases.cases[i], false);
    comparison_settle(comparison, 0);
    comparison_note_classes(comparison);
    free(paired);
}
