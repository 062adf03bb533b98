/* The cases of two runs, pair by pair: how fast, and how wrong. */
#include "show/compare/compare.h"
#include "base/allocate.h"
#include "show/compare/speed.h"
#include "base/hash.h"
#include "base/text.h"
#include "show/compare/comparison.h"
#include <math.h>
#include <string.h>

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

/* Runs that were asked for different things lack each other's cases; of a run that does not say what
 * it was asked for, nobody knows what it lost. */
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

void compare_contexts(run_comparison *comparison, const run_view *base, const run_view *new)
{
    char seeds[SIDES][24];
    snprintf(seeds[BASE], sizeof seeds[BASE], "%llu", (unsigned long long)base->run.seed);
    snprintf(seeds[NEW], sizeof seeds[NEW], "%llu", (unsigned long long)new->run.seed);
    note_requests(comparison, &base->run, &new->run);
    note_difference(&comparison->differences, "plan", base->run.plan, new->run.plan);
    note_difference(&comparison->differences, "seed", seeds[BASE], seeds[NEW]);
    compare_facts(comparison, &base->machine, &new->machine, false);
    compare_facts(comparison, &base->machine, &new->machine, true);
}

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
        pair->roof[side] = speed->copy_ratio;
        pair->cycles[side] = speed->cycles;
        pair->instructions[side] = speed->instructions;
    }
    if (timed) {
        pair->noise = noise_of(comparison, &pair->key);
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
            return true;
    return false;
}

/* What became of half of a case, its judgement or its timing, in one run. */
typedef enum case_half { JUDGED, TIMED, HALVES } case_half;
typedef enum half_state { NOT_ASKED, HAS, DECLINED, LOST } half_state;

/* The two runs, and by its key what each was asked for and lost. */
typedef struct compared_runs {
    run_comparison *comparison;
    const run_view *views[SIDES];
    hash_index lost[SIDES];
} compared_runs;

/* One case in both; NULL: a run has no result of it, or did not lose it. */
typedef struct compared_case {
    const case_key *key;
    const stored_case *stored[SIDES];
    const asked_case *lost[SIDES];
} compared_case;

static compared_case find_both(const compared_runs *runs, const case_key *key)
{
    compared_case found = {.key = key};
    for (int side = 0; side < SIDES; side++) {
        const run_view *view = runs->views[side];
        size_t place = stored_cases_find(&view->cases, key);
        hash_probe at = hash_index_probe(&runs->lost[side], case_key_hash(key));
        if (place < view->cases.count)
            found.stored[side] = &view->cases.cases[place];
        for (size_t i; !found.lost[side] && hash_index_next(&runs->lost[side], &at, &i);)
            if (case_key_equal(&view->lost[i].key, key))
                found.lost[side] = &view->lost[i];
    }
    return found;
}

static half_state state_of(const compared_case *both, int side, case_half half)
{
    const stored_case *stored = both->stored[side];
    const asked_case *lost = both->lost[side];
    unsigned part = half == JUDGED ? ASKED_TO_JUDGE : ASKED_TO_TIME;
    verdict_kind kind = stored && stored->judged ? stored->verdict.kind : VERDICT_PENDING;
    bool has = stored &&
               (half == TIMED ? is_timed(stored) : kind != VERDICT_PENDING && kind != VERDICT_LOST);
    if (kind == VERDICT_DECLINED)
        return DECLINED;
    if (lost && (lost->parts & part) && !(has && side == BASE))
        return LOST;
    if (has)
        return HAS;
    /* What has nothing at all was to have something; so was what was timed in vain, or failed. */
    bool none = stored && kind == VERDICT_PENDING && stored->repetition_count == 0;
    bool vain = stored && half == TIMED &&
                (stored->repetition_count > 0 ||
                 verdict_exit_code(&stored->verdict) == EXIT_CODE_KERNEL_FAILED);
    return none || vain || kind == VERDICT_LOST ? LOST : NOT_ASKED;
}

/* "new: fail (crashed: SIGSEGV)", "only in base": why there is nothing to compare. */
static void say_why(const compared_case *both, case_half half, const half_state states[SIDES],
                    char why[DETAIL_MAX_LENGTH])
{
    static const char *const names[] = {"base", "new", "both", "only in new"};
    static const char *const missing[HALVES] = {"not judged", "no time"};
    int side = states[NEW] == HAS || (states[BASE] == LOST && states[NEW] != LOST) ? BASE : NEW;
    const stored_case *stored = both->stored[side];
    char described[VERDICT_MAX_LENGTH];
    bool in_base = both->stored[BASE] || both->lost[BASE];
    int name = states[BASE] == LOST && states[NEW] == LOST ? 2 : side == NEW && !in_base ? 3 : side;
    if (!stored && !both->lost[side])
        snprintf(why, DETAIL_MAX_LENGTH, "only in base");
    else
        snprintf(why, DETAIL_MAX_LENGTH, "%s: %.170s", names[name],
                 both->lost[side] ? both->lost[side]->reason
                 : stored->judged && verdict_exit_code(&stored->verdict) != EXIT_CODE_ACCURACY &&
                         !verdict_is_right(stored->verdict.kind)
                     ? verdict_describe(&stored->verdict, described, sizeof described)
                     : missing[half]);
}

/* What base has and new has not, what either lost, and what was never there in new. */
static bool is_lost(const compared_case *both, const half_state states[SIDES])
{
    bool gone = !both->stored[NEW] && !both->lost[NEW];
    return states[BASE] == LOST || states[NEW] == LOST ||
           (states[BASE] == HAS && states[NEW] != HAS) || (states[BASE] == DECLINED && gone);
}

static void compare_both(const compared_runs *runs, const compared_case *both,
                         const bool compared[HALVES], const char *lost)
{
    comparison_pair *pair = comparison_add(runs->comparison, both->key);
    snprintf(pair->lost, sizeof pair->lost, "%s", lost);
    size_t places[SIDES];
    for (int side = 0; side < SIDES; side++) {
        places[side] = (size_t)(both->stored[side] - runs->views[side]->cases.cases);
        snprintf(pair->label, sizeof pair->label, "%s",
                 runs->views[side]->views[places[side]].label);
        pair->reproducible[side] = runs->views[side]->views[places[side]].reproducibility;
    }
    if (compared[JUDGED])
        compare_accuracy(pair, both->stored[BASE], both->stored[NEW]);
    if (compared[TIMED])
        compare_speed(runs->comparison, pair, runs->views, places);
}

static void compare_case(const compared_runs *runs, const compared_case *both)
{
    run_comparison *comparison = runs->comparison;
    const bool wanted[HALVES] = {comparison->settings.accuracy, comparison->settings.speed};
    bool compared[HALVES] = {false, false}, declined = false, gained = false;
    char lost[DETAIL_MAX_LENGTH] = "", described[VERDICT_MAX_LENGTH];
    for (case_half half = 0; half < HALVES && !is_roof(both->key->kernel); half++) {
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
        compare_both(runs, both, compared, lost);
    else if (lost[0])
        comparison_lose(comparison, both->key, lost);
    else if (gained)
        comparison_add_new(comparison, both->key,
                           both->stored[BASE] ? "unsupported in base" : "only in new");
    else if (declined)
        comparison_decline(
            comparison, both->key,
            verdict_describe(&both->stored[BASE]->verdict, described, sizeof described));
}

/* Each case comes up once: where new has it, else where base has it, else where it was lost. */
static bool is_turn(const compared_case *both, int side, bool of_lost)
{
    bool new_lost = both->lost[NEW] != NULL, in_new = both->stored[NEW] != NULL;
    if (!of_lost)
        return side == NEW || !in_new;
    return !in_new && !both->stored[BASE] && (side == NEW || !new_lost);
}

static void compare_all(const compared_runs *runs, int side, bool of_lost)
{
    const run_view *view = runs->views[side];
    size_t count = of_lost ? view->lost_count : view->cases.count;
    for (size_t i = 0; i < count; i++) {
        const case_key *key = of_lost ? &view->lost[i].key : &view->cases.cases[i].key;
        compared_case both = find_both(runs, key);
        if (is_turn(&both, side, of_lost))
            compare_case(runs, &both);
    }
}

void compare_cases(run_comparison *comparison, const run_view *base, const run_view *new)
{
    compared_runs runs = {.comparison = comparison, .views = {base, new}};
    for (int side = 0; side < SIDES; side++)
        for (size_t i = 0; i < runs.views[side]->lost_count; i++)
            hash_index_add(&runs.lost[side], case_key_hash(&runs.views[side]->lost[i].key), i);
    for (int of_lost = 0; of_lost < 2; of_lost++) {
        compare_all(&runs, NEW, of_lost);
        compare_all(&runs, BASE, of_lost);
    }
    comparison_settle(comparison, 0);
    comparison_note_classes(comparison);
    hash_index_free(&runs.lost[BASE]);
    hash_index_free(&runs.lost[NEW]);
}
