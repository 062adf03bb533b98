/* The decision: who meets the budget, who of them is fastest, and what lies beside it. */
#include "domain/kernel_json.h"
#include "base/allocate.h"
#include "commands/choose/choose.h"
#include "domain/reproducible.h"
#include "base/text.h"
#include "base/number.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const errors_near *find_errors(const kernel_evidence *evidence, const char *kernel)
{
    for (size_t i = 0; i < evidence->error_count; i++)
        if (strcmp(evidence->errors[i].kernel, kernel) == 0)
            return &evidence->errors[i];
    return NULL;
}

static const kernel_standing *find_standing(const kernel_evidence *evidence,
                                            const scored_kernel *candidate)
{
    const case_key *key = &candidate->view.stored->key;
    return standing_of(&evidence->standings, key->kernel, key->dtype);
}

/* Over normal rows, and those of the kappas asked for; NaN where either was not judged. */
static double worst_figure(const choose_wanted *wanted, const errors_near *errors,
                           error_figure figure)
{
    const figure_near *normal = &errors->figures[figure][0], *shifted = normal + 1;
    if (isnan(wanted->budget.kappa) || isnan(normal->worst))
        return normal->worst;
    return isnan(shifted->worst) ? NAN : fmax(normal->worst, shifted->worst);
}

static double bits_of(double norm)
{
    enum { MOST_BITS = 53 };
    return norm > 0 ? fmin(-log2(norm), MOST_BITS) : isnan(norm) ? NAN : MOST_BITS;
}

/* On how many cases its row ULP rests, at which hidden size, up to which kappa. */
static void note_rows(const choose_wanted *wanted, const errors_near *errors,
                      scored_kernel *candidate)
{
    const figure_near *normal = &errors->figures[FIGURE_ROW_ULP][0], *shifted = normal + 1;
    candidate->judged = normal->cases;
    candidate->judged_hidden = normal->hidden;
    if (isnan(wanted->budget.kappa) || isnan(candidate->row_ulp))
        return;
    candidate->judged += shifted->cases;
    candidate->judged_kappa = shifted->kappa;
    if (fabs(log2((double)shifted->hidden / (double)wanted->hidden)) >
        fabs(log2((double)normal->hidden / (double)wanted->hidden)))
        candidate->judged_hidden = shifted->hidden;
}

static void judge_candidate(const choose_wanted *wanted, const kernel_evidence *evidence,
                            scored_kernel *candidate)
{
    const errors_near *errors = find_errors(evidence, candidate->view.stored->key.kernel);
    const kernel_standing *own = wanted->every_row ? find_standing(evidence, candidate) : NULL;
    if (errors) {
        candidate->row_ulp = worst_figure(wanted, errors, FIGURE_ROW_ULP);
        candidate->bound = worst_figure(wanted, errors, FIGURE_BOUND);
        candidate->ulp = worst_figure(wanted, errors, FIGURE_ULP);
        candidate->correctly_rounded = 1 - worst_figure(wanted, errors, FIGURE_MISROUNDED);
        candidate->bits = bits_of(worst_figure(wanted, errors, FIGURE_NORM));
        note_rows(wanted, errors, candidate);
    }
    if (own) {
        candidate->row_ulp = own->errors[SCOPE_ALL].error;
        candidate->hunted = own->errors[SCOPE_HUNTED].error;
        candidate->judged = own->errors[SCOPE_ALL].judged;
        candidate->judged_hidden = wanted->hidden;
    }
}

static bool set_fate(scored_kernel *candidate, candidate_fate fate, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool set_fate(scored_kernel *candidate, candidate_fate fate, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    candidate->fate = fate;
    number_print_list(candidate->reason, sizeof candidate->reason, format, arguments);
    va_end(arguments);
    return true;
}

static const stored_case *find_case(const kernel_evidence *evidence, int64_t id)
{
    for (size_t i = 0; id != 0 && i < evidence->cases.count; i++)
        if (evidence->cases.cases[i].id == id)
            return &evidence->cases.cases[i];
    return NULL;
}

/* The case that rules a kernel out; NULL: none does. On every judged row any that is wrong does, of our own. */
static const stored_case *find_fault(const choose_wanted *wanted, const kernel_evidence *evidence,
                                     const scored_kernel *candidate)
{
    const errors_near *errors = find_errors(evidence, candidate->view.stored->key.kernel);
    const kernel_standing *own = wanted->every_row ? find_standing(evidence, candidate) : NULL;
    int64_t fault = errors ? errors->fault : 0;
    if (fault == 0 && own && own->role != ROLE_PEER &&
        own->errors[SCOPE_ALL].wrong + own->errors[SCOPE_ALL].limited > 0)
        fault = own->fault;
    return find_case(evidence, fault);
}

/* Verdicts and errors that no budget can mend. */
static bool is_ruled_out(const choose_wanted *wanted, const kernel_evidence *evidence,
                         scored_kernel *candidate)
{
    char described[VERDICT_MAX_LENGTH];
    const stored_case *stored = candidate->view.stored;
    const stored_case *fault = find_fault(wanted, evidence, candidate);
    if (fault)
        return set_fate(candidate, FATE_FAULT, "%s on %s, hidden %zu",
                        verdict_describe(&fault->verdict, described, sizeof described),
                        fault->key.input, fault->key.hidden);
    const kernel_standing *own = wanted->every_row ? find_standing(evidence, candidate) : NULL;
    if (own && own->role != ROLE_PEER &&
        own->errors[SCOPE_ALL].wrong + own->errors[SCOPE_ALL].limited > 0) {
        const stored_case *worst = find_case(evidence, own->errors[SCOPE_ANY].at);
        return set_fate(candidate, FATE_FAULT, "%s",
                        standing_objection(own, worst ? &worst->verdict : NULL, described));
    }
    if (candidate->row_ulp >= dtype_no_digit(stored->key.dtype))
        return set_fate(candidate, FATE_FAULT, "row ULP %s: no correct digit",
                        number_short(candidate->row_ulp, described));
    verdict_describe(&stored->verdict, described, sizeof described);
    /* Timed under another convention: what went wrong there would go wrong here. */
    if (stored->judged && !evidence->same_convention &&
        verdict_exit_code(&stored->verdict) == EXIT_CODE_KERNEL_FAILED)
        return set_fate(candidate, FATE_FAULT, "%.200s under %.60s", described,
                        stored->key.convention);
    if (isnan(candidate->view.speed.time_ns))
        return set_fate(candidate, FATE_UNTIMED, "%.200s",
                        stored->judged && stored->verdict.kind >= VERDICT_DECLINED ? described
                                                                                   : "not timed");
    return false;
}

static const char *kappa_words(const choose_wanted *wanted, char buffer[48])
{
    char number[16];
    if (isnan(wanted->budget.kappa))
        snprintf(buffer, 48, "on normal rows");
    else
        snprintf(buffer, 48, "to kappa %s", number_short(wanted->budget.kappa, number));
    return buffer;
}

/* Another library's is taken where it is named alone, as in the answer of run. */
static bool is_of_others(const choose_wanted *wanted, const kernel_evidence *evidence,
                         scored_kernel *candidate)
{
    const kernel_standing *own = find_standing(evidence, candidate);
    bool named = wanted->kernels && wanted->kernels->count > 0;
    return wanted->every_row && own && own->role == ROLE_PEER && !named &&
           set_fate(candidate, FATE_BUDGET, "another library's");
}

/* Whether a figure that the budget limits was not judged. */
static bool is_unjudged(const choose_wanted *wanted, const kernel_evidence *evidence,
                        scored_kernel *candidate)
{
    const kernel_standing *own = wanted->every_row ? find_standing(evidence, candidate) : NULL;
    if (wanted->every_row && !own)
        return set_fate(candidate, FATE_UNJUDGED, "not judged");
    const choose_budget *budget = &wanted->budget;
    const char *missing = isnan(candidate->row_ulp)                      ? "row ULP"
                          : !isnan(budget->ulp) && isnan(candidate->ulp) ? "max ULP"
                          : !isnan(budget->correctly_rounded) && isnan(candidate->correctly_rounded)
                              ? "share correctly rounded"
                          : !isnan(budget->bits) && isnan(candidate->bits) ? "bits"
                                                                           : NULL;
    char words[48];
    return missing && set_fate(candidate, FATE_UNJUDGED, "%s not judged %s", missing,
                               kappa_words(wanted, words));
}

static const class_breach *find_breach(const kernel_evidence *evidence,
                                       const scored_kernel *candidate)
{
    for (size_t i = 0; i < evidence->breach_count; i++)
        if (strcmp(evidence->breaches[i].kernel, candidate->view.stored->key.kernel) == 0)
            return &evidence->breaches[i];
    return NULL;
}

/* Rows on which it breaks the promise of the class. */
static bool set_breach(const choose_wanted *wanted, const kernel_evidence *evidence,
                       const class_breach *breach, scored_kernel *candidate)
{
    char described[VERDICT_MAX_LENGTH], own[16], limit[16];
    const stored_case *stored = find_case(evidence, breach->case_id);
    const char *bare = breach->bare ? ", without eps" : "";
    bool proven = wanted->class == CLASS_ACCURATE;
    if (isfinite(breach->found) || !stored)
        return set_fate(
            candidate, FATE_BUDGET, "%srow ULP %s on %.60s, hidden %zu: %s has %s at most%s",
            proven ? "proven " : "", number_short(breach->found, own), breach->input,
            breach->hidden, class_name(wanted->class), number_short(breach->most, limit), bare);
    return set_fate(candidate, FATE_BUDGET, "%.150s on %.60s, hidden %zu%s",
                    proven && stored->verdict.kind == VERDICT_RIGHT
                        ? "nothing is proven"
                        : verdict_describe(&stored->verdict, described, sizeof described),
                    breach->input, breach->hidden, bare);
}

static bool is_out_of_class(const choose_wanted *wanted, const kernel_evidence *evidence,
                            scored_kernel *candidate)
{
    const class_breach *breach = find_breach(evidence, candidate);
    if (wanted->class == CLASS_ANY)
        return false;
    if (breach && breach->unfit[0])
        return set_fate(candidate, FATE_BUDGET, "%s", breach->unfit);
    if (!breach || breach->lacking[0])
        return set_fate(candidate, FATE_UNJUDGED, "not judged on %.60s",
                        breach ? breach->lacking : "such rows");
    candidate->of_class = breach->cases;
    return breach->case_id != 0 && set_breach(wanted, evidence, breach, candidate);
}

static bool is_over_budget(const choose_wanted *wanted, scored_kernel *candidate)
{
    const choose_budget *budget = &wanted->budget;
    char own[16], limit[16];
    double row_ulp = budget->proven ? candidate->bound : candidate->row_ulp;
    if (budget->proven && row_ulp >= dtype_no_digit(wanted->dtype))
        return set_fate(candidate, FATE_BUDGET, "proves nothing for such rows");
    if (row_ulp > budget->row_ulp)
        return set_fate(candidate, FATE_BUDGET, "%srow ULP %s, %s allowed",
                        budget->proven ? "proven " : "", number_short(row_ulp, own),
                        number_short(budget->row_ulp, limit));
    if (candidate->ulp > budget->ulp)
        return set_fate(candidate, FATE_BUDGET, "max ULP %s, %s allowed",
                        number_short(candidate->ulp, own), number_short(budget->ulp, limit));
    if (candidate->correctly_rounded < budget->correctly_rounded)
        return set_fate(candidate, FATE_BUDGET, "%.2f %% correctly rounded, %.2f %% asked for",
                        100 * candidate->correctly_rounded, 100 * budget->correctly_rounded);
    if (candidate->bits < budget->bits)
        return set_fate(candidate, FATE_BUDGET, "%s bits, %s asked for",
                        number_short(candidate->bits, own), number_short(budget->bits, limit));
    return false;
}

/* What speaks against it as a whole, as in the answer of run. */
static bool is_doubted(const choose_wanted *wanted, const kernel_evidence *evidence,
                       scored_kernel *candidate)
{
    const kernel_standing *own = wanted->every_row ? find_standing(evidence, candidate) : NULL;
    return own && own->doubt[0] && set_fate(candidate, FATE_DOUBTED, "%s", own->doubt);
}

/* In one regime a call takes as long as its bytes do. */
static speed_figures scale_speed(const choose_wanted *wanted, const kernel_evidence *evidence,
                                 speed_figures speed)
{
    double factor = (double)wanted->rows / (double)evidence->group.rows * (double)wanted->hidden /
                    (double)evidence->group.hidden;
    speed.time_ns *= factor;
    speed.time_lo_ns *= factor;
    speed.time_hi_ns *= factor;
    return speed;
}

static void add_candidate(const choose_wanted *wanted, const kernel_evidence *evidence,
                          size_t index, kernel_choice *choice)
{
    const machine_facts *machine = &evidence->machine;
    const stored_case *stored = &evidence->cases.cases[index];
    scored_kernel *candidate = &choice->candidates[choice->count];
    *candidate = (struct scored_kernel){
        .view = {.stored = stored,
                 .label = descriptor_word(evidence->kernels, stored->key.kernel, "label"),
                 .reproducibility = reproducible_stored(evidence->kernels, stored->key.kernel),
                 .regime = machine_regime(machine, stored->key.operation, stored->key.rows,
                                          stored->key.hidden, stored->key.dtype)},
        .row_ulp = NAN,
        .bound = NAN,
        .ulp = NAN,
        .correctly_rounded = NAN,
        .bits = NAN,
        .hunted = NAN,
        .pair = {NAN, NAN, NAN},
        .relative = NAN,
        .fate = FATE_SLOWER,
    };
    snprintf(candidate->object_hash, sizeof candidate->object_hash, "%s",
             descriptor_hash(evidence->kernels, stored->key.kernel));
    candidate->view.speed = scale_speed(wanted, evidence, stored->speed);
    judge_candidate(wanted, evidence, candidate);
    /* The first of these that holds sets its fate. */
    if (!is_ruled_out(wanted, evidence, candidate) && !is_of_others(wanted, evidence, candidate) &&
        !is_unjudged(wanted, evidence, candidate) &&
        !is_out_of_class(wanted, evidence, candidate) && !is_over_budget(wanted, candidate))
        is_doubted(wanted, evidence, candidate);
    choice->unjudged |= candidate->fate == FATE_UNJUDGED;
    choice->count++;
}

/* Ranks are those of paired ratios: absolute times of a group differ by the noise of their rounds.
 */
static void relate(const kernel_evidence *evidence, const scored_kernel *base,
                   kernel_choice *choice)
{
    size_t base_index = (size_t)(base->view.stored - evidence->cases.cases);
    double base_time = base->view.speed.time_ns;
    for (size_t i = 0; i < choice->count; i++) {
        scored_kernel *own = &choice->candidates[i];
        size_t index = (size_t)(own->view.stored - evidence->cases.cases);
        own->pair = speed_of_pair(&evidence->cases, index, base_index);
        own->relative =
            isnan(own->pair.ratio) ? own->view.speed.time_ns / base_time : own->pair.ratio;
    }
}

static void name_fates(kernel_choice *choice)
{
    for (size_t i = 0; i < choice->count; i++) {
        scored_kernel *own = &choice->candidates[i];
        if (i == 0)
            set_fate(own, FATE_BEST, "the fastest within the budget");
        else if (own->fate == FATE_SLOWER && isnan(own->pair.ratio) &&
                 own->view.speed.time_lo_ns > choice->candidates[0].view.speed.time_hi_ns)
            set_fate(own, FATE_SLOWER, "slower, timed in other rounds than the best");
        else if (own->fate == FATE_SLOWER && isnan(own->pair.ratio))
            set_fate(own, FATE_TIED, "timed in other rounds than the best");
        else if (own->fate == FATE_SLOWER && own->pair.hi < 1)
            set_fate(own, FATE_TIED, "faster by its rounds, slower by its median");
        else if (own->fate == FATE_SLOWER && !(own->pair.lo > 1))
            set_fate(own, FATE_TIED, "no significant difference to the best");
        else if (own->fate == FATE_SLOWER)
            set_fate(own, FATE_SLOWER, "slower");
    }
}

double candidate_error(const choose_wanted *wanted, const scored_kernel *candidate)
{
    const choose_budget *budget = &wanted->budget;
    bool other = isnan(budget->row_ulp) && !budget->proven;
    double row_error = budget->proven                 ? candidate->bound
                       : other && !isnan(budget->ulp) ? candidate->ulp
                       : other && !isnan(budget->correctly_rounded)
                           ? 1 - candidate->correctly_rounded
                       : other && !isnan(budget->bits) ? exp2(-candidate->bits)
                                                       : candidate->row_ulp;
    return isnan(row_error) ? INFINITY : row_error;
}

/* The errors are printed to three digits: a larger one by 1 % is told from them. */
int compare_errors(double a, double b)
{
    return a < 0.99 * b ? -1 : b < 0.99 * a ? 1 : 0;
}

static bool can_be_used(const scored_kernel *candidate)
{
    return candidate->fate <= FATE_BUDGET;
}

static bool dominates(const choose_wanted *wanted, const scored_kernel *a, const scored_kernel *b)
{
    double error_a = candidate_error(wanted, a), error_b = candidate_error(wanted, b);
    return can_be_used(a) && a->relative <= b->relative && error_a <= error_b &&
           (a->relative < b->relative || error_a < error_b);
}

static int by_fate_and_speed(const void *a, const void *b)
{
    const scored_kernel *left = a, *right = b;
    /* Whoever meets the budget, by speed; then whoever does not. */
    int class_left = left->fate <= FATE_SLOWER ? 0 : (int)left->fate;
    int class_right = right->fate <= FATE_SLOWER ? 0 : (int)right->fate;
    if (class_left != class_right)
        return class_left - class_right;
    return view_by_speed(&left->view, &right->view);
}

/* The fastest call of the library that is proven within the budget, or the fastest kernel, as in the
 * answer of run. */
static void find_proven(const choose_wanted *wanted, const kernel_evidence *evidence,
                        kernel_choice *choice)
{
    const kernel_standing *best = choice->best ? find_standing(evidence, choice->best) : NULL;
    bool call = false;
    if (!wanted->every_row || !best || best->proven ||
        wanted->budget.row_ulp >= dtype_no_digit(wanted->dtype)) /* nothing is asked for */
        return;
    for (size_t i = 0; i < choice->count && choice->candidates[i].fate <= FATE_SLOWER; i++) {
        const kernel_standing *own = find_standing(evidence, &choice->candidates[i]);
        if (!own || !own->proven || (choice->proven && (call || own->role != ROLE_LIBRARY)))
            continue;
        choice->proven = &choice->candidates[i];
        call = own->role == ROLE_LIBRARY;
    }
}

/* The front, and the best one's neighbours on it. */
static void find_front(const choose_wanted *wanted, kernel_choice *choice)
{
    const scored_kernel *best = choice->best;
    for (size_t i = 0; i < choice->count; i++) {
        scored_kernel *own = &choice->candidates[i];
        double row_error = candidate_error(wanted, own);
        own->pareto = can_be_used(own) && isfinite(row_error);
        for (size_t j = 0; own->pareto && j < choice->count; j++)
            own->pareto = !dominates(wanted, &choice->candidates[j], own);
        if (can_be_used(own) && isfinite(row_error) &&
            (!choice->most_accurate || row_error < candidate_error(wanted, choice->most_accurate)))
            choice->most_accurate = own;
    }
    for (size_t i = 0; best && i < choice->count; i++) {
        const scored_kernel *own = &choice->candidates[i];
        int order = compare_errors(candidate_error(wanted, own), candidate_error(wanted, best));
        if (!own->pareto || own == best)
            continue;
        if (order < 0 &&
            (!choice->more_accurate || own->relative < choice->more_accurate->relative))
            choice->more_accurate = own;
        if (order > 0 && own->relative < best->relative &&
            (!choice->less_accurate || own->relative > choice->less_accurate->relative))
            choice->less_accurate = own;
    }
}

/* Where the best stands of those within the budget, which come first and by speed: the first, or where
 * nobody can say, the one with the smallest error. Puts it first. */
static void put_best_first(const choose_wanted *wanted, kernel_choice *choice)
{
    const view_case **cases = allocate_zeroed(choice->count, sizeof *cases);
    scored_kernel *all = choice->candidates;
    size_t count = 0, best = 0, places[UNTOLD_MOST];
    for (; count < choice->count && all[count].fate == FATE_SLOWER; count++)
        cases[count] = &all[count].view;
    choice->untold_count = view_untold(cases, count, places);
    free(cases);
    for (size_t i = 0; i < choice->untold_count; i++)
        if (candidate_error(wanted, &all[places[i]]) < candidate_error(wanted, &all[best]))
            best = places[i];
    const scored_kernel taken = all[best];
    memmove(&all[1], &all[0], best * sizeof *all);
    all[0] = taken;
    for (size_t i = 0; i < choice->untold_count; i++)
        choice->untold[i] = &all[places[i] == best ? 0 : places[i] + (places[i] < best)];
}

/* By the stored share of the roof, as everywhere; ratios are to the best, where none is to the first of
 * all. */
static void rank(const choose_wanted *wanted, const kernel_evidence *evidence,
                 kernel_choice *choice)
{
    scored_kernel *all = choice->candidates;
    qsort(all, choice->count, sizeof *all, by_fate_and_speed);
    if (choice->count == 0 || isnan(all[0].view.speed.time_ns))
        return;
    const scored_kernel *base = &all[0];
    for (size_t i = 1; all[0].fate != FATE_SLOWER && i < choice->count; i++)
        if (view_by_speed(&all[i].view, &base->view) < 0)
            base = &all[i];
    if (all[0].fate == FATE_SLOWER)
        put_best_first(wanted, choice);
    relate(evidence, base, choice);
    if (all[0].fate != FATE_SLOWER)
        return;
    name_fates(choice);
    for (size_t i = 0; choice->untold_count > 1 && i < choice->untold_count; i++)
        set_fate(choice->untold[i], FATE_TIED, "too noisy to tell it from the best");
    if (choice->untold_count > 1)
        set_fate(&all[0], FATE_BEST, "too noisy to say which is fastest: the smallest error");
    choice->best = &all[0];
}

bool choice_takes(const choose_wanted *wanted, const json_t *kernels, const char *kernel)
{
    return (wanted->every_row || !kernel_is_call(kernels, kernel)) &&
           kernel_is_wanted(wanted, kernel) &&
           (!wanted->param ||
            strcmp(wanted->param, descriptor_word(kernels, kernel, "param")) == 0);
}

void choice_make(const choose_wanted *wanted, const kernel_evidence *evidence,
                 kernel_choice *choice)
{
    *choice = (struct kernel_choice){
        .candidates = allocate_zeroed(evidence->cases.count + 1, sizeof *choice->candidates)};
    for (size_t i = 0; evidence->timed && i < evidence->cases.count; i++) {
        const case_key *key = &evidence->cases.cases[i].key;
        if (is_of_group(key, &evidence->group) &&
            choice_takes(wanted, evidence->kernels, key->kernel))
            add_candidate(wanted, evidence, i, choice);
    }
    rank(wanted, evidence, choice);
    find_front(wanted, choice);
    find_proven(wanted, evidence, choice);
}

void choice_free(kernel_choice *choice)
{
    free(choice->candidates);
    *choice = (struct kernel_choice){0};
}
