/* The cases of two runs, pair by pair: how fast, and how wrong. */
#include "base/allocate.h"
#include "base/hash.h"
#include "base/text.h"
#include "show/compare/comparison.h"
#include "domain/kernel.h"
#include "store/rank_test.h"
#include "store/speed.h"
#include <math.h>
#include <string.h>

typedef struct compared_runs {
    result_store *store;
    stored_run runs[SIDES];
    machine_facts machines[SIDES];
    stored_cases timed[SIDES]; /* with their repetitions */
} compared_runs;

/* These decide how fast the same code is. */
static const char *const decisive[] = {
    "architecture", "cpu_model", "simd",       "l1d_bytes",         "l2_bytes",
    "l3_bytes",     "cores",     "hypervisor", "compiler",          "compiler_flags",
    "build_type",   "num_cpus",  "caches",     "library_build_type"};

/* These move all the time, or are what is to be compared. */
static const char *const passing[] = {
    "mhz",       "load_1m",         "memory_available_bytes", "git_commit",
    "git_dirty", "swap_used_bytes", "lnbench_version"};

static void note_difference(word_list *list, const char *name, const char *base, const char *new)
{
    char line[640];
    snprintf(line, sizeof line, "%s: %.256s (base), %.256s (new)", name, base, new);
    if (strcmp(base, new) != 0)
        word_list_add(list, line);
}

static bool has_fact(const machine_facts *machine, const char *name)
{
    for (size_t i = 0; i < machine->count; i++)
        if (strcmp(machine->facts[i].name, name) == 0)
            return true;
    return false;
}

/* Every fact of either, once. */
static void compare_facts(run_comparison *comparison, const machine_facts *base,
                          const machine_facts *new, bool second)
{
    const machine_facts *walked = second ? new : base;
    for (size_t i = 0; i < walked->count; i++) {
        const char *name = walked->facts[i].name;
        if ((second && has_fact(base, name)) || word_is_in(name, WORDS(passing)))
            continue;
        bool decides = comparison->settings.speed && word_is_in(name, WORDS(decisive));
        note_difference(decides ? &comparison->differences : &comparison->remarks, name,
                        machine_fact_value(base, name), machine_fact_value(new, name));
    }
}

/* Runs with different requests lack each other's cases; of a run that does not say what was requested, nobody knows
 * what it lost. */
static void note_requests(run_comparison *comparison, const stored_run *base, const stored_run *new)
{
    bool known[SIDES] = {base->counts.known, new->counts.known};
    char line[128];
    comparison->requested_known = known[BASE] && known[NEW];
    snprintf(line, sizeof line,
             "what %s requested is not known (an older run or file): what is missing from it is "
             "not seen",
             known[NEW]    ? "base"
             : known[BASE] ? "new"
                           : "either");
    if (!comparison->requested_known)
        word_list_add(&comparison->remarks, line);
    if (base->request_hash[0] && new->request_hash[0] &&
        strcmp(base->request_hash, new->request_hash) != 0)
        note_difference(&comparison->remarks, "requested", base->command_line, new->command_line);
}

/* Whether the two may be compared: what differs of processor, build and plan goes to the differences, what else
 * differs and may matter to the remarks. */
static void compare_contexts(run_comparison *comparison, const compared_runs *runs)
{
    const stored_run *base = &runs->runs[BASE], *new = &runs->runs[NEW];
    char seeds[SIDES][24];
    snprintf(seeds[BASE], sizeof seeds[BASE], "%llu", (unsigned long long)base->seed);
    snprintf(seeds[NEW], sizeof seeds[NEW], "%llu", (unsigned long long)new->seed);
    note_requests(comparison, base, new);
    note_difference(comparison->settings.speed ? &comparison->differences : &comparison->remarks,
                    "plan", base->plan, new->plan);
    note_difference(&comparison->differences, "seed", seeds[BASE], seeds[NEW]);
    comparison->same_rows = base->seed == new->seed;
    compare_facts(comparison, &runs->machines[BASE], &runs->machines[NEW], false);
    compare_facts(comparison, &runs->machines[BASE], &runs->machines[NEW], true);
}

/* The cases of a kernel that stand apart for one reason are one entry. */
static void set_apart(run_comparison *comparison, apart_kind kind, const char *kernel,
                      const char *why)
{
    for (size_t i = 0; i < comparison->apart_count; i++) {
        apart_cases *own = &comparison->apart[i];
        if (own->kind == kind && strcmp(own->kernel, kernel) == 0 && strcmp(own->why, why) == 0) {
            own->cases++;
            return;
        }
    }
    comparison->apart =
        allocate_room(comparison->apart, comparison->apart_count, sizeof *comparison->apart);
    apart_cases *added = &comparison->apart[comparison->apart_count++];
    *added = (apart_cases){.kind = kind, .cases = 1};
    snprintf(added->kernel, sizeof added->kernel, "%s", kernel);
    snprintf(added->why, sizeof added->why, "%s", why);
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
    return comparison->covered.lost > 0 && !comparison->settings.allow_missing;
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
    if (failure != FAILED_BOTH)
        pair->accuracy = pair_accuracy(pair);
    if (!pair->lost[0])
        find_loss(pair);
    bool compared = tally->judged > 0 || pair->speed != SPEED_NOT_MEASURED;
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

static double noise_of(const run_comparison *comparison, const case_key *key)
{
    const char *regime = comparison_regime(comparison, key);
    for (int i = 0; i < REGIMES; i++)
        if (strcmp(regime, regime_names[i]) == 0)
            return comparison->noise.smallest[i];
    return NAN;
}

/* Why nothing may be claimed, whatever the figures say; false where something may. */
static bool too_little(comparison_pair *pair, const speed_sample samples[SIDES])
{
    size_t size = sizeof pair->detail;
    size_t least =
        samples[BASE].groups < samples[NEW].groups ? samples[BASE].groups : samples[NEW].groups;
    if (samples[BASE].over_roof != samples[NEW].over_roof)
        return snprintf(pair->detail, size, "a copy was timed in one run only") > 0;
    if (least < LEAST_PROCESSES)
        return snprintf(pair->detail, size, "%zu process%s in a run, %d are needed", least,
                        least == 1 ? "" : "es", LEAST_PROCESSES) > 0;
    return false;
}

/* Nothing below the threshold matters, and nothing below the noise, where it is known, can be told.
 * What an interval claims the ranks must bear out. */
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

/* The median of each process. */
static double *medians_of(const speed_sample *sample)
{
    size_t all = sample->groups ? sample->start[sample->groups] : 0;
    double *medians = allocate((sample->groups + 1) * sizeof *medians);
    double *scratch = allocate((all + 1) * sizeof *scratch);
    for (size_t g = 0; g < sample->groups; g++) {
        size_t count = sample->start[g + 1] - sample->start[g];
        memcpy(scratch, sample->logs + sample->start[g], count * sizeof *scratch);
        medians[g] = median(scratch, count);
    }
    free(scratch);
    return medians;
}

/* The ratio of the two samples, new / base (their medians over processes), its interval by a bootstrap that draws
 * processes first, then repetitions, and the two-sided p of a rank test of the processes' medians: repetitions of one
 * process are no samples of their own. */
static void compare_samples(const run_comparison *comparison, comparison_pair *pair,
                            const speed_sample samples[SIDES])
{
    const uint64_t seed = hash_bytes(HASH_START, pair->key.kernel, strlen(pair->key.kernel)) ^
                          comparison->settings.seed;
    const speed_sample *base = &samples[BASE], *new = &samples[NEW];
    const grouped_values old = {base->logs, base->start, base->groups},
                         now = {new->logs, new->start, new->groups};
    double *medians[] = {medians_of(base), medians_of(new)};
    interval_estimate difference =
        bootstrap_difference(&old, &now, RESAMPLE_BOTH, comparison->settings.confidence, seed);
    pair->p = mann_whitney(medians[0], base->groups, medians[1], new->groups).p;
    pair->ratio =
        (interval_estimate){exp(difference.middle), exp(difference.lo), exp(difference.hi)};
    free(medians[0]);
    free(medians[1]);
}

static void compare_speed(const run_comparison *comparison, const compared_runs *runs,
                          comparison_pair *pair, const stored_case stored[SIDES])
{
    speed_sample samples[SIDES];
    for (int side = 0; side < SIDES; side++) {
        const speed_figures *speed = &stored[side].speed;
        const stored_cases *timed = &runs->timed[side];
        samples[side] = speed_sample_of(timed, stored_cases_find(timed, &pair->key));
        pair->processes[side] = (unsigned)samples[side].groups;
        pair->time_ns[side] = speed->time_ns;
        pair->roof[side] = speed->copy_ratio;
        pair->cycles[side] = speed->cycles;
        pair->instructions[side] = speed->instructions;
    }
    if (samples[BASE].groups > 0 && samples[NEW].groups > 0) {
        pair->noise = noise_of(comparison, &pair->key);
        compare_samples(comparison, pair, samples);
        pair->speed = too_little(pair, samples) ? SPEED_INCONCLUSIVE : conclude(comparison, pair);
    }
    speed_sample_free(&samples[BASE]);
    speed_sample_free(&samples[NEW]);
}

/* ---- errors ---- */

static void compare_accuracy(comparison_pair *pair, const stored_case stored[SIDES])
{
    judged_side judged[SIDES];
    bool ran = true, hashed = true;
    for (int side = 0; side < SIDES; side++) {
        const stored_case *own = &stored[side];
        judged[side] = (judged_side){own->verdict, own->metrics, own->output_hash};
        pair->metrics[side] = own->metrics;
        pair->bound_row_ulp[side] = own->bound_row_ulp;
        ran &= own->metrics.elements > 0;
        hashed &= own->hashed;
    }
    if (ran && !hashed) { /* nothing says that the bits are the same */
        judged[BASE].output_hash = 0;
        judged[NEW].output_hash = 1;
    }
    pair_compare(pair, judged, pair->key.input);
}

/* ---- cases ---- */

/* What became of half of a case, its judgement or its timing, in one run. */
typedef enum case_half { JUDGED, TIMED, HALVES } case_half;
typedef enum half_state { NOT_ASKED, HAS, DECLINED, LOST } half_state;

/* One case in both runs. */
typedef struct compared_case {
    const case_key *key;
    bool is_in[SIDES], has_result[SIDES], is_timed[SIDES];
    stored_case stored[SIDES];  /* where it has a result */
    unsigned missing[SIDES];    /* parts */
    const char *reasons[SIDES]; /* why they are missing */
    const char *classes[SIDES];
    const char *label;
} compared_case;

/* A time that is no time (none, NaN) is none. */
static bool is_timed(const stored_cases *timed, const case_key *key)
{
    size_t at = stored_cases_find(timed, key);
    for (size_t i = 0; at < timed->count && i < timed->cases[at].repetition_count; i++)
        if (timed->cases[at].repetitions[i].real_ns > 0 &&
            isfinite(timed->cases[at].repetitions[i].real_ns))
            return true;
    return false;
}

static compared_case read_pair(const compared_runs *runs, const stored_pair *pair)
{
    const uint64_t ids[SIDES] = {pair->base, pair->new};
    compared_case both = {
        .key = &pair->key,
        .label = pair->label[0] ? pair->label : pair->key.kernel,
        .missing = {pair->base_missing, pair->new_missing},
        .reasons = {pair->base_reason, pair->new_reason},
        .classes = {pair->base_class[0] ? pair->base_class : "-",
                    pair->new_class[0] ? pair->new_class : "-"},
    };
    for (int side = 0; side < SIDES; side++) {
        both.is_in[side] = ids[side] != 0;
        both.has_result[side] =
            ids[side] && store_case(runs->store, (int64_t)ids[side], &both.stored[side]);
        both.is_timed[side] = is_timed(&runs->timed[side], &pair->key);
    }
    return both;
}

static half_state state_of(const compared_case *both, int side, case_half half)
{
    const stored_case *stored = &both->stored[side];
    const unsigned part = half == JUDGED ? ASKED_TO_JUDGE : ASKED_TO_TIME;
    const verdict_kind kind =
        both->has_result[side] && stored->judged ? stored->verdict.kind : VERDICT_PENDING;
    bool has =
        half == TIMED ? both->is_timed[side] : kind != VERDICT_PENDING && kind != VERDICT_LOST;
    if (kind == VERDICT_DECLINED)
        return DECLINED;
    if ((both->missing[side] & part) && !(has && side == BASE))
        return LOST;
    if (has)
        return HAS;
    /* What was timed in vain, or failed, was to have a time. */
    bool vain = both->has_result[side] && half == TIMED &&
                (stored->repetition_count > 0 ||
                 verdict_exit_code(&stored->verdict) == EXIT_CODE_KERNEL_FAILED);
    return vain || kind == VERDICT_LOST ? LOST : NOT_ASKED;
}

/* "new: fail (crashed: SIGSEGV)", "only in base": why there is nothing to compare. */
static void say_why(const compared_case *both, case_half half, const half_state states[SIDES],
                    char why[DETAIL_MAX_LENGTH])
{
    static const char *const names[] = {"base", "new", "both", "only in new"};
    static const char *const missing[HALVES] = {"not judged", "no time"};
    const int side =
        states[NEW] == HAS || (states[BASE] == LOST && states[NEW] != LOST) ? BASE : NEW;
    const stored_case *stored = &both->stored[side];
    char described[VERDICT_MAX_LENGTH];
    const int name = states[BASE] == LOST && states[NEW] == LOST ? 2
                     : side == NEW && !both->is_in[BASE]         ? 3
                                                                 : side;
    if (!both->is_in[side])
        snprintf(why, DETAIL_MAX_LENGTH, "only in base");
    else
        snprintf(why, DETAIL_MAX_LENGTH, "%s: %.170s", names[name],
                 both->missing[side] ? both->reasons[side]
                 : stored->judged && verdict_exit_code(&stored->verdict) != EXIT_CODE_ACCURACY &&
                         !verdict_is_right(stored->verdict.kind)
                     ? verdict_describe(&stored->verdict, described, sizeof described)
                     : missing[half]);
}

/* What base has and new has not, what either lost, and what was never there in new. */
static bool is_lost(const compared_case *both, const half_state states[SIDES])
{
    return states[BASE] == LOST || states[NEW] == LOST ||
           (states[BASE] == HAS && states[NEW] != HAS) ||
           (states[BASE] == DECLINED && !both->is_in[NEW]);
}

static void compare_both(run_comparison *comparison, const compared_runs *runs,
                         const compared_case *both, const bool compared[HALVES], const char *lost)
{
    comparison_pair *pair = comparison_add(comparison, both->key);
    snprintf(pair->lost, sizeof pair->lost, "%s", lost);
    snprintf(pair->label, sizeof pair->label, "%s", both->label);
    memcpy(pair->reproducible, both->classes, sizeof both->classes);
    if (compared[JUDGED])
        compare_accuracy(pair, both->stored);
    if (compared[TIMED])
        compare_speed(comparison, runs, pair, both->stored);
}

static void compare_case(run_comparison *comparison, const compared_runs *runs,
                         const compared_case *both)
{
    const bool wanted[HALVES] = {comparison->settings.accuracy, comparison->settings.speed};
    bool compared[HALVES] = {false, false}, declined = false, gained = false;
    char lost[DETAIL_MAX_LENGTH] = "", described[VERDICT_MAX_LENGTH];
    for (case_half half = 0; half < HALVES; half++) {
        half_state states[SIDES] = {state_of(both, BASE, half), state_of(both, NEW, half)};
        if (!wanted[half])
            continue;
        compared[half] = states[BASE] == HAS && states[NEW] == HAS;
        declined |= states[BASE] == DECLINED && states[NEW] == DECLINED;
        gained |= states[BASE] != HAS && states[NEW] == HAS;
        if (!lost[0] && is_lost(both, states))
            say_why(both, half, states, lost);
    }
    if (compared[JUDGED] || compared[TIMED])
        compare_both(comparison, runs, both, compared, lost);
    else if (lost[0])
        comparison_lose(comparison, both->key, lost);
    else if (gained)
        comparison_add_new(comparison, both->key,
                           both->has_result[BASE] ? "unsupported in base" : "only in new");
    else if (declined)
        comparison_decline(
            comparison, both->key,
            verdict_describe(&both->stored[BASE].verdict, described, sizeof described));
}

void compare_runs(run_comparison *comparison, result_store *store, const int64_t ids[SIDES],
                  const char *database)
{
    compared_runs runs = {.store = store};
    for (int side = 0; side < SIDES; side++) {
        runs.runs[side] = store_run(store, ids[side]);
        runs.machines[side] = store_machine(store, ids[side]);
    }
    compare_contexts(comparison, &runs);
    machine_free(&runs.machines[BASE]);
    comparison->machine = runs.machines[NEW];
    if (comparison->differences.count > 0)
        return;
    comparison->noise = store_load_noise(database, &comparison->machine);
    for (int side = 0; side < SIDES; side++)
        runs.timed[side] = store_timed_cases(store, ids[side], -1, false);
    size_t count;
    comparison->cases = store_pairs(store, ids[BASE], ids[NEW], &count);
    for (size_t i = 0; i < count; i++) {
        const compared_case both = read_pair(&runs, &comparison->cases[i]);
        compare_case(comparison, &runs, &both);
    }
    comparison_settle(comparison, 0);
    comparison_note_classes(comparison);
    stored_cases_free(&runs.timed[BASE]);
    stored_cases_free(&runs.timed[NEW]);
}
