/* Compares two stored runs pair by pair, and decides the verdicts and exit codes of pairs. Pairs are read one after the
 * other, and only those that will be printed stay in memory. */
#include "show/compare.h"
#include "base/hash.h"
#include "domain/kernel.h"
#include "store/statistics.h"
#include "store/run_file.h"
#include "store/speed.h"
#include <math.h>
#include <unistd.h>

const char *const side_names[] = {"base", "new", "both"};

void comparison_free(run_comparison *comparison)
{
    machine_free(&comparison->machine);
    coverage_free(&comparison->covered);
    word_list_free(&comparison->differences);
    word_list_free(&comparison->remarks);
    word_list_free(&comparison->reclassed);
    store_close(comparison->store);
    arena_free(&comparison->memory);
}

/* ---- one pair ---- */

comparison_pair comparison_pair_of(const case_key *key)
{
    comparison_pair pair = {.key = *key, .ratio = {NAN, NAN, NAN}, .p = NAN, .noise = NAN};
    for (int side = 0; side < SIDES; side++)
        pair.sides[side] =
            (compared_side){.bound_row_ulp = NAN, .speed = SPEED_UNKNOWN, .reproducible = "-"};
    return pair;
}

const char *comparison_regime(const run_comparison *comparison, const case_key *key)
{
    return machine_regime(&comparison->machine, key->operation, key->rows, key->hidden, key->dtype);
}

speed_verdict speed_lean(const interval_estimate *ratio, double threshold)
{
    double slow = 1 + threshold, fast = 1 / slow;
    if (!(ratio->lo <= ratio->hi))
        return SPEED_INCONCLUSIVE;
    if (ratio->lo > slow)
        return SPEED_SLOWER;
    if (ratio->hi < fast)
        return SPEED_FASTER;
    return ratio->lo >= fast && ratio->hi <= slow ? SPEED_SAME : SPEED_INCONCLUSIVE;
}

/* Returns whether the kernel crashed, hung or broke memory, so that it has no output to compare. */
static bool is_failure(const case_verdict *verdict)
{
    return verdict_exit_code(verdict) == EXIT_CODE_KERNEL_FAILED;
}

pair_failure pair_failed(const comparison_pair *pair)
{
    bool base = is_failure(&pair->sides[BASE].verdict), new = is_failure(&pair->sides[NEW].verdict);
    return new ? FAILED_NEW : base ? FAILED_BASE : FAILED_NOT;
}

/* Ranks a verdict: 0 pass, 1 type-limited, 2 inaccurate, 3 wrong-class, 4 failed. */
static int gravity(const case_verdict *verdict)
{
    if (is_failure(verdict))
        return 4;
    return verdict_is_limit(verdict->kind)        ? 1
           : verdict->kind == VERDICT_INACCURATE  ? 2
           : verdict->kind == VERDICT_WRONG_CLASS ? 3
                                                  : 0;
}

/* Returns -1 if new is more accurate and 1 if it is less. A failure is graver than any error, and a wrong class than
 * any finite error. Otherwise the largest row ULP decides; differences up to 0.5 are ignored, since f32 cannot
 * represent them. */
static int compare_sides(const judged_side sides[SIDES])
{
    int base = gravity(&sides[BASE].verdict), new = gravity(&sides[NEW].verdict);
    if ((base > 1 || new > 1) && base != new)
        return new > base ? 1 : -1;
    const ln_metrics *old = &sides[BASE].metrics, *now = &sides[NEW].metrics;
    if (old->mismatches != now->mismatches)
        return now->mismatches > old->mismatches ? 1 : -1;
    if (now->row_ulp_max > old->row_ulp_max + 0.5)
        return 1;
    return now->row_ulp_max + 0.5 < old->row_ulp_max ? -1 : 0;
}

/* Counts an input without a result on one side or on both. */
static void tally_missing(arena *memory, accuracy_tally *tally, const judged_side sides[SIDES],
                          const char *what)
{
    const case_verdict *base = &sides[BASE].verdict, *new = &sides[NEW].verdict;
    bool old = verdict_is_judged(base->kind), now = verdict_is_judged(new->kind);
    char described[VERDICT_MAX_LENGTH];
    if (base->kind == VERDICT_UNSUPPORTED && (now || new->kind == VERDICT_UNSUPPORTED)) {
        if (tally->unsupported + tally->gained == 0)
            tally->refusal = arena_format(memory, "%s: %.170s", now ? "base" : "both",
                                          verdict_describe(base, described, sizeof described));
        tally->gained += now;
        tally->unsupported += !now;
    } else if (tally->missing++ == 0) {
        tally->first_missing = arena_format(memory, "%s", what);
        tally->first_missing_why =
            arena_format(memory, "%s: %.170s",
                         side_names[old   ? NEW
                                    : now ? BASE
                                          : SIDES],
                         verdict_describe(old ? new : base, described, sizeof described));
    }
}

void pair_compare(arena *memory, comparison_pair *pair, const judged_side sides[SIDES],
                  const char *what)
{
    const case_verdict *old = &sides[BASE].verdict, *now = &sides[NEW].verdict;
    const ln_metrics *base = &sides[BASE].metrics, *new = &sides[NEW].metrics;
    accuracy_tally *tally = &pair->tally;
    for (int side = 0; side < SIDES; side++) { /* keeps the first of equally grave verdicts */
        case_verdict *kept = &pair->sides[side].verdict;
        if (!verdict_is_judged(kept->kind) || gravity(&sides[side].verdict) > gravity(kept))
            *kept = sides[side].verdict;
    }
    if (!verdict_is_judged(old->kind) || !verdict_is_judged(now->kind)) {
        tally_missing(memory, tally, sides, what);
        return;
    }
    tally->judged++;
    if (old->kind == now->kind && sides[BASE].output_hash == sides[NEW].output_hash &&
        !is_failure(old))
        return;
    /* The growth of the error: infinite if new has a wrong class or fails; none if the types limit both sides. */
    const bool wrong = (is_failure(now) && !is_failure(old)) || new->mismatches > base->mismatches;
    const bool limited = (verdict_is_limit(now->kind) && verdict_is_limit(old->kind)) ||
                         (!wrong && isnan(new->row_ulp_max));
    const double growth = limited ? -1
                          : wrong ? INFINITY
                                  : new->row_ulp_max / fmax(base->row_ulp_max, 0.5);
    const int worse = compare_sides(sides);
    if (tally->differing == 0 ||
        (worse > 0 && (tally->worse == 0 || growth > tally->worst_growth))) {
        char errors[SIDES][16], described[VERDICT_MAX_LENGTH];
        number_short(base->row_ulp_max, errors[BASE]);
        number_short(new->row_ulp_max, errors[NEW]);
        if (wrong)
            tally->worst =
                arena_format(memory, "%.60s: %.120s, was %s row ULP", what,
                             verdict_describe(now, described, sizeof described), errors[BASE]);
        else
            tally->worst = arena_format(memory, "%.100s, row %zu: %s row ULP, was %s", what,
                                        new->worst_row, errors[NEW], errors[BASE]);
        tally->worst_growth = growth;
    }
    tally->differing++;
    tally->worse += worse > 0;
    tally->better += worse < 0;
}

accuracy_verdict pair_accuracy(const comparison_pair *pair)
{
    const accuracy_tally *tally = &pair->tally;
    int base = gravity(&pair->sides[BASE].verdict), new = gravity(&pair->sides[NEW].verdict);
    if (tally->judged == 0)
        return ACCURACY_NOT_JUDGED;
    if (tally->differing == 0)
        return ACCURACY_IDENTICAL;
    if (base != new && (base > 1 || new > 1))
        return new > base ? ACCURACY_LESS : ACCURACY_MORE;
    if (!tally->worse == !tally->better)
        return ACCURACY_CHANGED;
    return tally->worse ? ACCURACY_LESS : ACCURACY_MORE;
}

bool pair_is_less_reproducible(const comparison_pair *pair)
{
    return reproducible_is_less(pair->sides[BASE].reproducible, pair->sides[NEW].reproducible);
}

/* A failure of base, or a result that only base has, leaves nothing to compare. */
exit_code pair_exit_code(const comparison_pair *pair, const comparison_settings *settings)
{
    pair_failure failure = pair_failed(pair);
    if (failure == FAILED_NEW)
        return EXIT_CODE_KERNEL_FAILED;
    if ((failure == FAILED_BASE || pair->missing) && !settings->allow_missing)
        return EXIT_CODE_NOT_COMPARABLE;
    const bool gates[] = {
        [GATE_EXACT] = pair->tally.differing > 0 || pair_is_less_reproducible(pair),
        [GATE_NO_WORSE] = pair->tally.worse > 0 && pair_accuracy(pair) != ACCURACY_MORE,
        [GATE_BOUND] = verdict_exit_code(&pair->sides[NEW].verdict) == EXIT_CODE_ACCURACY};
    exit_code code =
        settings->accuracy && gates[settings->gate] ? EXIT_CODE_ACCURACY : EXIT_CODE_FINE;
    if (pair->speed == SPEED_SLOWER)
        code = worse_exit_code(code, EXIT_CODE_REGRESSION);
    if (pair->speed == SPEED_INCONCLUSIVE)
        code = worse_exit_code(code, EXIT_CODE_INCONCLUSIVE);
    return code;
}

/* ---- all pairs: requested, compared and missing ---- */

/* Counts a case as requested and missing, and names it. */
static void count_missing(run_comparison *comparison, const case_key *key, const char *why)
{
    comparison->covered.requested++;
    coverage_missing(&comparison->covered, pair_name(&comparison->memory, key), why);
}

void comparison_set_lone(run_comparison *comparison, lone_kind kind, const case_key *key,
                         const char *why)
{
    if (kind == LONE_MISSING)
        count_missing(comparison, key, why);
    comparison->covered.requested += kind == LONE_UNSUPPORTED;
    comparison->covered.unsupported += kind == LONE_UNSUPPORTED;
    store_put_line(comparison->store, "lone", "iss", (int64_t)kind, key->kernel, why);
}

/* Counts a pair, and stores it if it will be printed. A kernel that became less reproducible is reported once, and does
 * not cause each of its pairs to be shown. */
static void keep_pair(run_comparison *comparison, const comparison_pair *pair)
{
    const char *base = pair->sides[BASE].reproducible, *new = pair->sides[NEW].reproducible;
    const char *kernel = pair->key.kernel;
    const accuracy_tally *tally = &pair->tally;
    const bool less = pair_is_less_reproducible(pair);
    word_list *reclassed = &comparison->reclassed;
    if (strcmp(base, new) != 0 && !word_is_in(kernel, reclassed->words, reclassed->count)) {
        char line[NAME_MAX_LENGTH + 64], both[32];
        snprintf(line, sizeof line, "%s: reproducible: %s", kernel,
                 reproducible_both(base, new, both));
        word_list_add(&comparison->remarks, line);
        word_list_add(reclassed, kernel);
        comparison->less_reproducible += less;
    }
    /* Failing pairs come first, then changed ones by the size of their change, then unchanged ones. */
    const exit_code code = pair_exit_code(pair, &comparison->settings);
    const bool fails = code != EXIT_CODE_FINE && code != EXIT_CODE_INCONCLUSIVE;
    const bool moved = pair->speed == SPEED_SLOWER || pair->speed == SPEED_FASTER ||
                       pair->accuracy > ACCURACY_IDENTICAL;
    const double change =
        fmax(fabs(log(pair->ratio.middle)), log(fmax(tally->worst_growth, 1))); /* ignores NaN */
    const double weight = (fails ? 200 : 0) + (moved ? WEIGHT_MOVED : 0) +
                          (pair->speed == SPEED_SLOWER ? 50 : 0) + fmin(change, 40);
    const bool shown = strcmp(comparison->settings.tool, "compare") != 0 ||
                       pair->speed != SPEED_NOT_MEASURED || pair->accuracy > ACCURACY_IDENTICAL ||
                       (code != EXIT_CODE_FINE && !less);
    comparison->pairs++;
    if (pair->speed > comparison->speed)
        comparison->with_speed = 0;
    if (pair->accuracy > comparison->accuracy)
        comparison->with_accuracy = 0;
    comparison->speed = pair->speed > comparison->speed ? pair->speed : comparison->speed;
    comparison->accuracy =
        pair->accuracy > comparison->accuracy ? pair->accuracy : comparison->accuracy;
    comparison->with_speed += pair->speed == comparison->speed;
    comparison->with_accuracy += pair->accuracy == comparison->accuracy;
    comparison->code = worse_exit_code(comparison->code, code);
    if (!isnan(pair->ratio.middle)) {
        comparison->log_ratios += log(pair->ratio.middle);
        comparison->ratios++;
    }
    if (tally->worse > 0 &&
        (!comparison->worst || tally->worst_growth > comparison->worst_growth)) {
        comparison->worst_growth = tally->worst_growth;
        comparison->worst = arena_format(&comparison->memory, "%s: %s",
                                         pair_name(&comparison->memory, &pair->key), tally->worst);
    }
    if (shown || comparison->settings.every_pair)
        comparison_put(comparison, pair, shown, weight);
}

void comparison_settle(run_comparison *comparison, comparison_pair *pair)
{
    const accuracy_tally *tally = &pair->tally;
    const pair_failure failure = pair_failed(pair);
    const bool compared = tally->judged > 0 || pair->speed > SPEED_NOT_MEASURED || failure;
    const size_t inputs = tally->judged + tally->unsupported + tally->gained + tally->missing;
    if (failure != FAILED_NEW)
        pair->accuracy = pair_accuracy(pair);
    if (failure == FAILED_NEW)
        pair->missing = NULL; /* the failure is the result, even if there is no time */
    else if (failure == FAILED_BASE)
        pair->missing = "base failed";
    else if (!pair->missing && tally->missing > 0 && inputs == 1)
        pair->missing = tally->first_missing_why;
    else if (!pair->missing && tally->missing > 0)
        pair->missing =
            arena_format(&comparison->memory, "%zu of %zu inputs: %.60s; %.90s", tally->missing,
                         inputs, tally->first_missing, tally->first_missing_why);
    comparison->failed += failure == FAILED_NEW;
    if (pair->missing && !compared) {
        comparison_set_lone(comparison, LONE_MISSING, &pair->key, pair->missing);
    } else if (pair->missing) {
        count_missing(comparison, &pair->key, pair->missing);
        keep_pair(comparison, pair);
    } else if (compared) {
        comparison->covered.requested++;
        comparison->covered.done++;
        keep_pair(comparison, pair);
    } else {
        comparison_set_lone(comparison, tally->gained > 0 ? LONE_NEW : LONE_UNSUPPORTED, &pair->key,
                            tally->refusal);
    }
}

exit_code comparison_exit_code(const run_comparison *comparison)
{
    const comparison_settings *settings = &comparison->settings;
    const coverage *covered = &comparison->covered;
    if (comparison->differences.count > 0)
        return EXIT_CODE_NOT_COMPARABLE;
    return covered->done == 0 || (covered->missing > 0 && !settings->allow_missing)
               ? worse_exit_code(comparison->code, EXIT_CODE_NOT_COMPARABLE)
               : comparison->code;
}

/* ---- two runs: whether they can be compared ---- */

/* Adds a difference for each fact of processor, build and plan that differs, and a remark for each other fact that
 * differs and may matter. If the requests differ, each run lacks cases of the other. */
static void compare_contexts(run_comparison *comparison, result_store *store,
                             const int64_t ids[SIDES])
{
    /* decides: 1 if the fact decides only speeds, 2 if it always decides. Facts that change all the time are left out,
     * and so are the compared builds themselves. A fact that one side lacks, as another version has other facts, counts
     * only if it decides or is a fact that is stored only where it matters. */
    static const char sql[] =
        "SELECT CASE name WHEN 'conventions_named_of' THEN 'operation of the named conventions' "
        "WHEN 'adversarial_rows' THEN 'file of adversarial rows' ELSE name END AS name, "
        "base, new, decides FROM ("
        "SELECT 'requested' AS name, base.command_line AS base, new.command_line AS new, 0 AS "
        "decides, -3 AS place FROM runs AS base, runs AS new WHERE base.id = ?1 AND new.id = ?2 "
        "AND base.request_hash <> new.request_hash "
        "UNION ALL SELECT 'plan', base.plan, new.plan, 1, -2 FROM runs AS base, runs AS new WHERE "
        "base.id = ?1 AND new.id = ?2 "
        "UNION ALL SELECT 'seed', format('%u', base.seed), format('%u', new.seed), 2, -1 FROM "
        "runs AS base, runs AS new WHERE base.id = ?1 AND new.id = ?2 "
        "UNION ALL SELECT name, coalesce(base.value, 'unknown'), coalesce(new.value, 'unknown'), "
        "name IN ('architecture', 'cpu_model', 'simd', 'l1d_bytes', 'l2_bytes', 'l3_bytes', "
        "'cores', 'hypervisor', 'compiler', 'compiler_flags', 'build_type', 'num_cpus', 'caches', "
        "'library_build_type') AS decides, place "
        "FROM (SELECT name, min((run <> ?1) * 1000000 + place) AS place FROM facts WHERE run IN "
        "(?1, ?2) GROUP BY name) "
        "LEFT JOIN (SELECT name, value FROM facts WHERE run = ?1) AS base USING (name) "
        "LEFT JOIN (SELECT name, value FROM facts WHERE run = ?2) AS new USING (name) "
        "WHERE name NOT IN ('mhz', 'load_1m', 'memory_available_bytes', 'git_commit', "
        "'git_dirty', 'swap_used_bytes', 'lnbench_version') AND (base.value <> new.value OR "
        "decides OR name IN ('isa_disabled', 'worker', 'adversarial_rows', "
        "'conventions_named_of'))) WHERE base <> new ORDER BY place";
    const stored_run base = store_run(store, ids[BASE]), new = store_run(store, ids[NEW]);
    char line[640];
    comparison->same_rows = base.seed == new.seed;
    stored_table found = store_ask(store, sql, "ii", ids[BASE], ids[NEW]);
    for (size_t i = 0; i < found.rows; i++) {
        const bool decides = table_whole(&found, i, "decides") > !comparison->settings.speed;
        snprintf(line, sizeof line, "%s: %.256s (base), %.256s (new)",
                 table_text(&found, i, "name"), table_text(&found, i, "base"),
                 table_text(&found, i, "new"));
        word_list_add(decides ? &comparison->differences : &comparison->remarks, line);
    }
    stored_table_free(&found);
}

/* ---- two runs: their speeds ---- */

/* Decides the speed. A change below the threshold does not matter, and one below the known noise proves nothing. It is
 * reported only if a rank test confirms the interval, and with enough processes. least: the smaller number of them. */
static void decide_speed(run_comparison *comparison, comparison_pair *pair, size_t least)
{
    const comparison_settings *settings = &comparison->settings;
    const char *regime = comparison_regime(comparison, &pair->key);
    pair->noise = comparison->noise.smallest[word_find(regime, regime_names, REGIMES)];
    const speed_verdict lean = speed_lean(&pair->ratio, settings->threshold);
    const bool moved = lean == SPEED_SLOWER || lean == SPEED_FASTER;
    pair->speed = SPEED_INCONCLUSIVE;
    if (least == 0)
        pair->detail = "no copy was timed in both runs";
    else if (least < LEAST_PROCESSES)
        pair->detail = arena_format(&comparison->memory, "%zu process%s in a run: %d are needed",
                                    least, least == 1 ? "" : "es", LEAST_PROCESSES);
    else if (moved && !(pair->p < 1 - COMPARISON_CONFIDENCE))
        pair->detail = "the rank test does not confirm it";
    else if (moved && speed_lean(&pair->ratio, fmax(settings->threshold, pair->noise)) != lean)
        pair->detail = arena_format(&comparison->memory, "the noise here (%.3g %%) may explain it",
                                    100 * pair->noise);
    else
        pair->speed = lean;
}

/* ---- two runs: their cases ---- */

/* The state of half a case, its judgement or its timing, in one run. */
typedef enum case_half { JUDGED, TIMED, HALVES } case_half;
typedef enum half_state { NOT_REQUESTED, HAS, UNSUPPORTED, MISSING } half_state;

/* One case in both runs. */
typedef struct compared_case {
    const stored_pair *pair;
    const stored_cases *timed; /* the timed cases of both runs, with repetitions */
    bool is_in[SIDES], has_result[SIDES];
    stored_case stored[SIDES]; /* undefined without a result */
    size_t timed_at[SIDES];    /* index in the list of its run */
} compared_case;

/* Returns the state of half a case. In base any result counts; new must have all results that were requested of it. */
static half_state state_of(const compared_case *both, int side, case_half half)
{
    const stored_case *stored = &both->stored[side];
    const unsigned missing = side == BASE ? both->pair->base_missing : both->pair->new_missing;
    const verdict_kind kind =
        both->has_result[side] && stored->judged ? stored->verdict.kind : VERDICT_PENDING;
    const stored_cases *timed = &both->timed[side];
    bool has = half == JUDGED && kind != VERDICT_PENDING && kind != VERDICT_MISSING;
    if (half == TIMED && both->timed_at[side] < timed->count) {
        const stored_case *own = &timed->cases[both->timed_at[side]];
        for (size_t i = 0; i < own->repetition_count; i++) /* NaN or 0 is not a time */
            has |= own->repetitions[i].real_ns > 0 && isfinite(own->repetitions[i].real_ns);
    }
    if (kind == VERDICT_UNSUPPORTED)
        return UNSUPPORTED;
    if ((missing & (half == JUDGED ? REQUESTED_JUDGEMENT : REQUESTED_TIMING)) &&
        !(has && side == BASE))
        return MISSING;
    if (has)
        return HAS;
    /* A time is missing if timing was tried in vain, or if the kernel failed. */
    bool vain = both->has_result[side] && half == TIMED &&
                (stored->repetition_count > 0 || is_failure(&stored->verdict));
    return vain || kind == VERDICT_MISSING ? MISSING : NOT_REQUESTED;
}

/* Returns why there is nothing to compare, such as "new: fail (crashed: SIGSEGV)" or "only in base". */
static const char *reason_of(arena *memory, const compared_case *both, case_half half,
                             const half_state states[SIDES])
{
    const int side =
        states[NEW] == HAS || (states[BASE] == MISSING && states[NEW] != MISSING) ? BASE : NEW;
    const stored_pair *pair = both->pair;
    const stored_case *stored = &both->stored[side];
    const char *name = states[BASE] == MISSING && states[NEW] == MISSING ? "both"
                       : side == NEW && !both->is_in[BASE]               ? "only in new"
                                                                         : side_names[side];
    char described[VERDICT_MAX_LENGTH];
    const char *reason = half == JUDGED ? "not judged" : "no time";
    if (side == BASE ? pair->base_missing : pair->new_missing)
        reason = side == BASE ? pair->base_reason : pair->new_reason;
    else if (stored->judged && verdict_exit_code(&stored->verdict) != EXIT_CODE_ACCURACY &&
             !verdict_is_right(stored->verdict.kind))
        reason = verdict_describe(&stored->verdict, described, sizeof described);
    return both->is_in[side] ? arena_format(memory, "%s: %.170s", name, reason) : "only in base";
}

/* Compares the judgements of a case. Outputs without a stored hash count as different. */
static void compare_judgements(arena *memory, const compared_case *both, comparison_pair *pair)
{
    judged_side judged[SIDES];
    bool ran = true, hashed = true;
    for (int side = 0; side < SIDES; side++) {
        const stored_case *own = &both->stored[side];
        judged[side] = (judged_side){own->verdict, own->metrics, own->output_hash};
        pair->sides[side].metrics = own->metrics;
        pair->sides[side].bound_row_ulp = own->bound_row_ulp;
        ran &= own->metrics.elements > 0;
        hashed &= own->hashed;
    }
    if (ran && !hashed) { /* their bits may be the same, but nothing proves it */
        judged[BASE].output_hash = 0;
        judged[NEW].output_hash = 1;
    }
    pair_compare(memory, pair, judged, pair->key.input);
}

/* Sets the figures of both sides, and compares them: the ratio of times new / base (medians over processes), its
 * interval by a bootstrap that draws processes first, then repetitions, and the two-sided p of a rank test of the
 * processes' medians, because repetitions within a process are not independent. */
static void compare_times(run_comparison *comparison, const compared_case *both,
                          comparison_pair *pair)
{
    speed_sample samples[SIDES];
    for (int side = 0; side < SIDES; side++) {
        samples[side] = speed_sample_of(both->timed, SIDES, (size_t)side, both->timed_at[side]);
        const speed_figures *own = &both->stored[side].speed;
        pair->sides[side].speed = *own;
        comparison->widths[side] += (own->copy_ratio_hi - own->copy_ratio_lo) / own->copy_ratio;
    }
    const uint64_t seed = hash_bytes(HASH_START, pair->key.kernel, strlen(pair->key.kernel)) ^
                          comparison->settings.seed;
    const speed_sample *base = &samples[BASE], *new = &samples[NEW];
    const grouped_values old = {base->values, base->start, base->groups},
                         now = {new->values, new->start, new->groups};
    double *medians[] = {speed_medians(base), speed_medians(new)};
    const interval_estimate change =
        bootstrap_difference(&old, &now, RESAMPLE_BOTH, COMPARISON_CONFIDENCE, seed);
    pair->p = mann_whitney(medians[BASE], base->groups, medians[NEW], new->groups);
    pair->ratio = (interval_estimate){exp(change.middle), exp(change.lo), exp(change.hi)};
    free(medians[BASE]);
    free(medians[NEW]);
    decide_speed(comparison, pair, base->groups < new->groups ? base->groups : new->groups);
    speed_sample_free(&samples[BASE]);
    speed_sample_free(&samples[NEW]);
}

/* Makes a pair of a case that both runs judged or timed. A case is missing if base has it and new has not, if it is
 * missing in either, or if base does not support it and new never had it. */
static void compare_case(run_comparison *comparison, const compared_case *both)
{
    const bool wanted[HALVES] = {comparison->settings.accuracy, comparison->settings.speed};
    bool compared[HALVES] = {false, false}, unsupported = false, gained = false;
    char described[VERDICT_MAX_LENGTH];
    const stored_pair *found = both->pair;
    comparison_pair pair = comparison_pair_of(&found->key);
    for (case_half half = 0; half < HALVES; half++) {
        const half_state states[SIDES] = {state_of(both, BASE, half), state_of(both, NEW, half)};
        const half_state base = states[BASE], new = states[NEW];
        if (!wanted[half])
            continue;
        compared[half] = base == HAS && new == HAS;
        unsupported |= base == UNSUPPORTED && new == UNSUPPORTED;
        gained |= base != HAS && new == HAS;
        if (!pair.missing && (base == MISSING || new == MISSING || (base == HAS && new != HAS) ||
                              (base == UNSUPPORTED && !both->is_in[NEW])))
            pair.missing = reason_of(&comparison->memory, both, half, states);
    }
    if (compared[JUDGED] || compared[TIMED]) {
        const char *classes[SIDES] = {found->base_class, found->new_class};
        snprintf(pair.label, sizeof pair.label, "%s",
                 found->label[0] ? found->label : found->key.kernel);
        for (int side = 0; side < SIDES; side++)
            if (classes[side][0])
                snprintf(pair.sides[side].reproducible, sizeof pair.sides[side].reproducible, "%s",
                         classes[side]);
        if (compared[JUDGED])
            compare_judgements(&comparison->memory, both, &pair);
        if (compared[TIMED])
            compare_times(comparison, both, &pair);
        comparison_settle(comparison, &pair);
    } else if (pair.missing) {
        comparison_set_lone(comparison, LONE_MISSING, &found->key, pair.missing);
    } else if (gained) {
        comparison_set_lone(comparison, LONE_NEW, &found->key,
                            both->has_result[BASE] ? "unsupported in base" : "only in new");
    } else if (unsupported) {
        comparison_set_lone(
            comparison, LONE_UNSUPPORTED, &found->key,
            verdict_describe(&both->stored[BASE].verdict, described, sizeof described));
    }
}

/* Reads the cases one by one. Only timed cases are read at once, because a time is compared with that of its copy. */
static void compare_cases(run_comparison *comparison, result_store *store, const int64_t ids[SIDES])
{
    stored_pair pair;
    stored_cases timed[SIDES];
    for (int side = 0; side < SIDES; side++)
        timed[side] = store_timed_cases(store, ids[side], -1, false);
    /* The plan, the seed and the operations of the named conventions decide the problems of a covering array. */
    stored_table found = store_ask(
        store,
        "SELECT count(DISTINCT (plan = 'quick') || ' ' || seed || coalesce((SELECT value FROM "
        "facts WHERE run = runs.id AND name = '" NAMED_CONVENTIONS "'), '')) AS arrays FROM runs "
        "WHERE id IN (?1, ?2)",
        "ii", ids[BASE], ids[NEW]);
    const bool alike = table_whole(&found, 0, "arrays") == 1;
    stored_table_free(&found);
    store_pairs_begin(store, ids[BASE], ids[NEW]);
    while (store_next_pair(store, &pair)) {
        const bool of_array = strcmp(pair.key.input, "combinations") == 0;
        if (of_array && !alike && pair.base && pair.new) {
            if (comparison->settings.accuracy)
                comparison_set_lone(comparison, LONE_MISSING, &pair.key, "different problems");
            continue;
        }
        compared_case both = {.pair = &pair, .timed = timed};
        const uint64_t cases[SIDES] = {pair.base, pair.new};
        for (int side = 0; side < SIDES; side++) {
            both.is_in[side] = cases[side] != 0;
            both.has_result[side] =
                cases[side] && store_case(store, (int64_t)cases[side], &both.stored[side]);
            both.timed_at[side] = stored_cases_find(&timed[side], &pair.key);
        }
        compare_case(comparison, &both);
    }
    stored_cases_free(&timed[BASE]);
    stored_cases_free(&timed[NEW]);
}

/* Copies the runs into one store in memory if they are in two stores or files. */
void compare_runs(run_comparison *comparison, const char *database)
{
    found_run found[SIDES];
    int64_t ids[SIDES];
    comparison_begin(comparison);
    for (int side = 0; side < SIDES; side++) {
        found[side] = run_find(comparison->settings.files[side], database);
        ids[side] = found[side].run;
        memcpy(comparison->identity[side], found[side].words, sizeof found[side].words);
    }
    const bool two_files = strcmp(found[BASE].database, found[NEW].database) != 0;
    result_store *store =
        two_files ? store_open_memory() : store_open(found[BASE].database, STORE_READ);
    for (int side = 0; two_files && side < SIDES; side++)
        store_copy_runs(store, found[side].database, found[side].run, &ids[side]);
    compare_contexts(comparison, store, ids);
    comparison->machine = store_machine(store, ids[NEW]);
    if (comparison->differences.count == 0) {
        comparison->noise = store_load_noise(database, &comparison->machine);
        compare_cases(comparison, store, ids);
    }
    store_close(store);
}

/* ---- the run that a word on the command line names ---- */

/* "latest" and "previous" are runs of `lnbench run`, in the order of their start times: a run that was imported last
 * may be older. */
static const char by_time_sql[] =
    "WITH own AS (SELECT *, " MACHINE_SQL " AS identity FROM runs WHERE command = "
    "'run' AND (requested > 0 OR EXISTS "
    "(SELECT 1 FROM cells WHERE run = runs.id))), "
    "latest AS (SELECT * FROM own ORDER BY imported, started DESC, id DESC LIMIT 1) "
    "SELECT own.id AS id FROM own, latest WHERE iif(?1 = 'latest', own.id = latest.id, "
    "(own.started, own.id) < (latest.started, latest.id) AND own.identity = latest.identity "
    "AND own.request_hash = latest.request_hash) "
    "ORDER BY own.started DESC, own.id DESC LIMIT 1";
/* If the numbered run was removed, store_run() reports it. */
static const char number_sql[] = "SELECT iif(?1 + 0 <= max(id), ?1 + 0, 0) AS id FROM runs";
static const char commit_sql[] =
    "SELECT max(run) AS id FROM facts WHERE name = 'git_commit' AND value LIKE ?1 || '%' AND "
    "EXISTS (SELECT 1 FROM cells WHERE cells.run = facts.run)";

static int64_t ask_run(result_store *store, const char *sql, const char *word)
{
    stored_table found = store_ask(store, sql, "s", word);
    const int64_t run = table_whole(&found, 0, "id");
    stored_table_free(&found);
    return run;
}

/* Describes a run as "run 3, commit 1234567, 2026-01-01T00:00:00Z". The commit is that of lnbench; the names and hashes
 * of plugins follow it, or replace it if only plugins ran. */
static void describe(result_store *store, found_run *found, bool numbered)
{
    static const char sql[] =
        "SELECT iif(plugins IS NOT NULL AND NOT others, '', coalesce(code || ', ', '')) || "
        "coalesce(substr(plugins, 1, 40) || ', ', '') || started AS words FROM (SELECT started, "
        "(SELECT group_concat(DISTINCT " PLUGIN_SQL ") FROM kernels WHERE run = runs.id AND "
        "role = 'plugin') AS plugins, EXISTS (SELECT 1 FROM kernels WHERE run = runs.id AND "
        "role IS NOT 'plugin') AS others, (SELECT 'commit ' || substr(value, 1, 12) || "
        "iif(EXISTS (SELECT 1 FROM facts WHERE run = runs.id AND name = 'git_dirty' AND value = "
        "'yes'), ' with changes', '') FROM facts WHERE run = runs.id AND name = 'git_commit' AND "
        "value <> 'unknown') AS code FROM runs WHERE id = ?1)";
    stored_table words = store_ask(store, sql, "i", found->run);
    int used = 0;
    if (numbered)
        used = snprintf(found->words, sizeof found->words, "run %lld, ", (long long)found->run);
    snprintf(found->words + used, sizeof found->words - (size_t)used, "%s",
             table_text(&words, 0, "words"));
    stored_table_free(&words);
}

found_run run_find(const char *word, const char *database)
{
    const size_t length = strlen(word);
    const bool latest = strcmp(word, "latest") == 0;
    const bool by_time = latest || strcmp(word, "previous") == 0;
    const bool number = length > 0 && length < 10 && strspn(word, "0123456789") == length;
    const bool file = !by_time && !number && (access(word, F_OK) == 0 || strpbrk(word, "/."));
    const bool commit = !by_time && !file && length >= 4 && length <= 40 &&
                        strspn(word, "0123456789abcdefABCDEF") == length;
    found_run found = {.run = 0};
    if (!by_time && !number && !file && !commit)
        die(EXIT_CODE_USAGE,
            "%.60s: neither a run's number, 'latest', 'previous', a commit (4 digits or more) nor "
            "a file",
            word);
    run_file opened = {0};
    if (file) { /* a run file or another store */
        opened = run_file_open(word);
        database = opened.database;
    }
    snprintf(found.database, sizeof found.database, "%s", database);
    result_store *store = store_open(database, STORE_READ);
    if (by_time || number)
        found.run = ask_run(store, by_time ? by_time_sql : number_sql, word);
    if (commit && found.run == 0) /* a commit may be all digits */
        found.run = ask_run(store, commit_sql, word);
    if (file)
        found.run = store_latest_run(store);
    if (found.run == 0 && by_time) {
        const int64_t newest = ask_run(store, by_time_sql, "latest");
        if (newest == 0)
            die(EXIT_CODE_NOT_COMPARABLE, "%s: holds no run of 'lnbench run' yet: make one",
                database);
        die(EXIT_CODE_NOT_COMPARABLE,
            "%s: no earlier run has the cases and machine of run %lld: repeat it, or name "
            "two runs (lnbench list runs)",
            database, (long long)newest);
    }
    if (found.run == 0)
        die(EXIT_CODE_ENVIRONMENT,
            "%s: %.60s: no run of this number or commit: lnbench list runs shows them", database,
            word);
    describe(store, &found, !file);
    store_close(store);
    return found;
}
