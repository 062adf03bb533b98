/* What measurements mean: verdicts and exit codes, from figures alone. */
#include "show/compare/comparison.h"
#include "base/allocate.h"
#include "store/rank_test.h"
#include "domain/reproducible.h"
#include <math.h>
#include <string.h>

void comparison_free(run_comparison *comparison)
{
    machine_free(&comparison->machine);
    coverage_free(&comparison->covered);
    free(comparison->apart);
    word_list_free(&comparison->differences);
    word_list_free(&comparison->remarks);
    free(comparison->cases);
    free(comparison->pairs);
    comparison->pairs = NULL;
    comparison->pair_count = 0;
}

comparison_pair *comparison_add(run_comparison *comparison, const case_key *key)
{
    comparison->pairs =
        allocate_room(comparison->pairs, comparison->pair_count, sizeof *comparison->pairs);
    comparison_pair *pair = &comparison->pairs[comparison->pair_count++];
    *pair = (comparison_pair){
        .key = *key,
        .ratio = {NAN, NAN, NAN},
        .time_ns = {NAN, NAN},
        .cycles = {NAN, NAN},
        .instructions = {NAN, NAN},
        .roof = {NAN, NAN},
        .bound_row_ulp = {NAN, NAN},
        .reproducible = {"-", "-"},
        .p = NAN,
        .noise = NAN,
    };
    return pair;
}

const char *comparison_regime(const run_comparison *comparison, const case_key *key)
{
    const machine_facts *machine = &comparison->machine;
    return machine_regime(machine, key->operation, key->rows, key->hidden, key->dtype);
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

/* Good or bad. */
static bool has_result(const case_verdict *verdict)
{
    return verdict_is_judged(verdict->kind);
}

static bool is_failure(const case_verdict *verdict)
{
    return verdict_exit_code(verdict) == EXIT_CODE_KERNEL_FAILED;
}

pair_failure pair_failed(const comparison_pair *pair)
{
    bool base = is_failure(&pair->verdicts[BASE]), new = is_failure(&pair->verdicts[NEW]);
    return base ? (new ? FAILED_BOTH : FAILED_BASE) : new ? FAILED_NEW : FAILED_NOT;
}

/* 0 right, 1 limit, 2 inaccurate, 3 wrong-class, 4 failed. */
static int gravity(const case_verdict *verdict)
{
    if (is_failure(verdict))
        return 4;
    return verdict_is_limit(verdict->kind)        ? 1
           : verdict->kind == VERDICT_INACCURATE  ? 2
           : verdict->kind == VERDICT_WRONG_CLASS ? 3
                                                  : 0;
}

/* The gravest verdict stands for the pair's side; of equals the first. */
static void keep_verdict(case_verdict *kept, const case_verdict *verdict)
{
    if (!has_result(kept) || gravity(verdict) > gravity(kept))
        *kept = *verdict;
}

/* -1: new is more accurate, 1: less. A failure is graver than any error, and a wrong class than
 * any finite one. Else the worst error decides, in row ULP; less than half of one is no answer,
 * since f32 cannot hold it. */
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

/* row_ulp: of the new side; infinite where it has no right figure. */
static void tally(accuracy_tally *tally, bool same, int worse, double row_ulp, const char *what)
{
    tally->judged++;
    if (same)
        return;
    if (tally->differing == 0 ||
        (worse > 0 && (tally->worse == 0 || row_ulp > tally->worst_error))) {
        snprintf(tally->worst, sizeof tally->worst, "%s", what);
        tally->worst_error = row_ulp;
    }
    tally->differing++;
    tally->worse += worse > 0;
    tally->better += worse < 0;
}

/* Keeps both verdicts. False: a side has no result, so that there is nothing to compare. */
static bool both_have(comparison_pair *pair, const case_verdict *base, const case_verdict *new,
                      const char *what)
{
    accuracy_tally *tally = &pair->tally;
    bool old = has_result(base), now = has_result(new), refused = base->kind == VERDICT_DECLINED;
    char described[VERDICT_MAX_LENGTH];
    keep_verdict(&pair->verdicts[BASE], base);
    keep_verdict(&pair->verdicts[NEW], new);
    if (old && now)
        return true;
    if (refused && (now || new->kind == VERDICT_DECLINED)) {
        if (tally->declined + tally->gained == 0)
            snprintf(tally->refusal, sizeof tally->refusal, "%s: %.170s", now ? "base" : "both",
                     verdict_describe(base, described, sizeof described));
        tally->gained += now;
        tally->declined += !now;
    } else if (tally->lost++ == 0) {
        snprintf(tally->missing, sizeof tally->missing, "%s", what);
        snprintf(tally->missing_why, sizeof tally->missing_why, "%s: %.170s",
                 old   ? "new"
                 : now ? "base"
                       : "both",
                 verdict_describe(old ? new : base, described, sizeof described));
    }
    return false;
}

void pair_compare(comparison_pair *pair, const judged_side sides[SIDES], const char *what)
{
    const judged_side *base = &sides[BASE], *new = &sides[NEW];
    if (!both_have(pair, &base->verdict, &new->verdict, what))
        return;
    char shown[DETAIL_MAX_LENGTH], errors[2][16], described[VERDICT_MAX_LENGTH];
    bool same = base->verdict.kind == new->verdict.kind && base->output_hash == new->output_hash &&
                !is_failure(&base->verdict);
    bool wrong = (is_failure(&new->verdict) && !is_failure(&base->verdict)) ||
                 new->metrics.mismatches > base->metrics.mismatches;
    double row_ulp = wrong ? INFINITY : new->metrics.row_ulp_max;
    /* No kernel of the type is right there. */
    if (verdict_is_limit(new->verdict.kind) || isnan(row_ulp))
        row_ulp = -1;
    number_short(base->metrics.row_ulp_max, errors[BASE]);
    if (wrong)
        snprintf(shown, sizeof shown, "%.60s: %.120s, was %s row ULP", what,
                 verdict_describe(&new->verdict, described, sizeof described), errors[BASE]);
    else
        snprintf(shown, sizeof shown, "%.100s, row %zu: %s row ULP, was %s", what,
                 new->metrics.worst_row, number_short(new->metrics.row_ulp_max, errors[NEW]),
                 errors[BASE]);
    tally(&pair->tally, same, compare_sides(sides), row_ulp, shown);
}

accuracy_verdict pair_accuracy(const comparison_pair *pair)
{
    const accuracy_tally *tally = &pair->tally;
    int base = gravity(&pair->verdicts[BASE]), new = gravity(&pair->verdicts[NEW]);
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
    return reproducible_is_less(pair->reproducible[BASE], pair->reproducible[NEW]);
}

static bool gate_fails(const comparison_pair *pair, const comparison_settings *settings)
{
    switch (settings->gate) {
    case GATE_EXACT:
        return pair->tally.differing > 0 || pair_is_less_reproducible(pair);
    case GATE_NO_WORSE:
        return pair->tally.worse > 0 && pair_accuracy(pair) != ACCURACY_MORE;
    case GATE_BOUND:
        break;
    }
    return verdict_exit_code(&pair->verdicts[NEW]) == EXIT_CODE_ACCURACY;
}

/* What base fails in, or has and new has not, leaves nothing to compare. */
exit_code pair_exit_code(const comparison_pair *pair, const comparison_settings *settings)
{
    pair_failure failure = pair_failed(pair);
    if (failure == FAILED_NEW || failure == FAILED_BOTH)
        return EXIT_CODE_KERNEL_FAILED;
    if ((failure == FAILED_BASE || pair->lost[0]) && !settings->allow_missing)
        return EXIT_CODE_NOT_COMPARABLE;
    exit_code code =
        settings->accuracy && gate_fails(pair, settings) ? EXIT_CODE_ACCURACY : EXIT_CODE_FINE;
    if (pair->speed == SPEED_SLOWER)
        code = worse_exit_code(code, EXIT_CODE_REGRESSION);
    if (pair->speed == SPEED_INCONCLUSIVE)
        code = worse_exit_code(code, EXIT_CODE_INCONCLUSIVE);
    return code;
}

exit_code comparison_exit_code(const run_comparison *comparison)
{
    if (comparison->differences.count > 0)
        return EXIT_CODE_NOT_COMPARABLE;
    bool nothing = comparison->covered.done == 0;
    exit_code code =
        nothing || comparison_fails_by_loss(comparison) ? EXIT_CODE_NOT_COMPARABLE : EXIT_CODE_FINE;
    for (size_t i = 0; i < comparison->pair_count; i++)
        code = worse_exit_code(code, pair_exit_code(&comparison->pairs[i], &comparison->settings));
    return code;
}

speed_verdict comparison_speed(const run_comparison *comparison)
{
    static const speed_verdict order[] = {SPEED_SLOWER, SPEED_INCONCLUSIVE, SPEED_FASTER,
                                          SPEED_SAME};
    for (size_t v = 0; v < sizeof order / sizeof *order; v++)
        for (size_t i = 0; i < comparison->pair_count; i++)
            if (comparison->pairs[i].speed == order[v])
                return order[v];
    return SPEED_NOT_MEASURED;
}

accuracy_verdict comparison_accuracy(const run_comparison *comparison)
{
    accuracy_verdict worst = ACCURACY_NOT_JUDGED;
    for (size_t i = 0; i < comparison->pair_count; i++)
        if (comparison->pairs[i].accuracy > worst)
            worst = comparison->pairs[i].accuracy;
    return worst;
}

static bool is_first_of_kernel(const run_comparison *comparison, size_t pair)
{
    for (size_t i = 0; i < pair; i++)
        if (strcmp(comparison->pairs[i].key.kernel, comparison->pairs[pair].key.kernel) == 0)
            return false;
    return true;
}

size_t comparison_less_reproducible(const run_comparison *comparison)
{
    size_t less = 0;
    for (size_t i = 0; i < comparison->pair_count; i++)
        less +=
            pair_is_less_reproducible(&comparison->pairs[i]) && is_first_of_kernel(comparison, i);
    return less;
}

void comparison_note_classes(run_comparison *comparison)
{
    for (size_t i = 0; i < comparison->pair_count; i++) {
        const comparison_pair *pair = &comparison->pairs[i];
        const char *base = pair->reproducible[BASE], *new = pair->reproducible[NEW];
        char line[NAME_MAX_LENGTH + 64], both[32];
        if (strcmp(base, new) == 0 || !is_first_of_kernel(comparison, i))
            continue;
        snprintf(line, sizeof line, "%s: reproducible: %s", pair->key.kernel,
                 reproducible_both(base, new, both));
        word_list_add(&comparison->remarks, line);
    }
}

double comparison_mean(const run_comparison *comparison)
{
    double *ratios = allocate((comparison->pair_count + 1) * sizeof *ratios);
    size_t count = 0;
    for (size_t i = 0; i < comparison->pair_count; i++)
        if (!isnan(comparison->pairs[i].ratio.middle))
            ratios[count++] = comparison->pairs[i].ratio.middle;
    double mean = geometric_mean(ratios, count);
    free(ratios);
    return mean;
}

const char *speed_verdict_name(speed_verdict verdict)
{
    static const char *const names[] = {NULL, "same", "faster", "slower", "inconclusive"};
    return names[verdict];
}

const char *accuracy_verdict_name(accuracy_verdict verdict)
{
    static const char *const names[] = {NULL, "bit-identical", "more accurate", "changed",
                                        "less accurate"};
    return names[verdict];
}

const char *accuracy_gate_name(accuracy_gate gate)
{
    static const char *const names[] = {"no-worse", "exact", "bound"};
    return names[gate];
}

const char *outcome_name(exit_code code)
{
    switch (code) {
    case EXIT_CODE_FINE:
        return "fine";
    case EXIT_CODE_REGRESSION:
        return "regression";
    case EXIT_CODE_INCONCLUSIVE:
        return "inconclusive";
    case EXIT_CODE_NOT_COMPARABLE:
        return "not comparable";
    case EXIT_CODE_ACCURACY:
        return "accuracy violation";
    case EXIT_CODE_KERNEL_FAILED:
        return "kernel failed";
    default:
        return "failed";
    }
}
