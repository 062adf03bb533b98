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
        pair->unhashed = same;
        judged[BASE].output_hash = 0;
        judged[NEW].output_hash = !same;
        if (same) {
            pair->verdicts[BASE] = base->verdict;
            pair->verdicts[NEW] = new->verdict;
            return;
        }
    }
    pair_compare(pair, judged, pair->key.input);
    pair->accuracy = pair_failed(pair) == FAILED_BOTH ? ACCURACY_NOT_JUDGED : pair_accuracy(pair);
}

static void compare_pair(run_comparison *comparison, const run_view *const sides[SIDES],
                         const size_t places[SIDES])
{
    const stored_case *base = &sides[BASE]->cases.cases[places[BASE]],
                      *new = &sides[NEW]->cases.cases[places[NEW]];
    const comparison_settings *settings = &comparison->settings;
    bool timed = settings->speed && base->repetition_count > 0 && new->repetition_count > 0;
    bool judged = settings->accuracy && base->judged && new->judged;
    if (!timed && !judged)
        return;
    comparison_pair *pair = comparison_add(comparison, &new->key);
    for (int side = 0; side < SIDES; side++)
        pair->reproducible[side] = sides[side]->views[places[side]].reproducibility;
    if (judged)
        compare_accuracy(pair, base, new);
    if (timed)
        compare_speed(comparison, pair, sides, places);
}

/* "two_pass_f32_avx2 (3 cases only in base)": one line a kernel. */
static void add_lonely(run_comparison *comparison, const stored_cases *own, const bool *paired,
                       const char *side)
{
    for (size_t i = 0; i < own->count; i++) {
        const char *kernel = own->cases[i].key.kernel;
        size_t lonely = 0;
        bool first = true;
        char line[NAME_MAX_LENGTH + 48];
        if (paired[i] || is_roof(kernel))
            continue;
        for (size_t j = 0; j < own->count; j++) {
            bool counts = !paired[j] && strcmp(own->cases[j].key.kernel, kernel) == 0;
            lonely += counts;
            first &= !counts || j >= i;
        }
        snprintf(line, sizeof line, "%s (%zu case%s only in %s)", kernel, lonely,
                 lonely == 1 ? "" : "s", side);
        if (first)
            word_list_add(&comparison->lonely, line);
    }
}

bool compare_cases(run_comparison *comparison, const run_view *base, const run_view *new,
                   error *err)
{
    const run_view *const sides[SIDES] = {base, new};
    bool *paired[SIDES] = {allocate_zeroed(base->cases.count + 1, 1),
                           allocate_zeroed(new->cases.count + 1, 1)};
    size_t hint = 0, common = 0;
    for (size_t i = 0; i < new->cases.count; i++) {
        if (is_roof(new->cases.cases[i].key.kernel))
            continue;
        size_t places[SIDES] = {stored_cases_find(&base->cases, &new->cases.cases[i].key, hint), i};
        if (places[BASE] == base->cases.count)
            continue;
        hint = places[BASE] + 1;
        paired[BASE][places[BASE]] = paired[NEW][i] = true;
        common++;
        compare_pair(comparison, sides, places);
    }
    add_lonely(comparison, &base->cases, paired[BASE], "base");
    add_lonely(comparison, &new->cases, paired[NEW], "new");
    comparison_note_classes(comparison);
    free(paired[BASE]);
    free(paired[NEW]);
    return common > 0 ||
           fail(err, EXIT_CODE_NOT_COMPARABLE,
                "%.200s and %.200s: no case in common: other kernels, conventions or shapes",
                comparison->settings.files[BASE], comparison->settings.files[NEW]);
}
