/* The decision: who meets the budget, who of them is fastest, and what lies beside it. */
#include "choose_class.h"
#include "reproducible.h"
#include "text.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The figures a budget may limit, as badness: larger is worse. */
typedef enum figure { ROW_ULP, BOUND, ULP, CORRECTLY_ROUNDED, BITS } figure;

static double badness(const accuracy_fact *fact, figure figure)
{
    switch (figure) {
    case ROW_ULP:
        return fact->row_ulp;
    case BOUND: /* no bound and no claim both prove nothing */
        return isnan(fact->row_ulp) || !isnan(fact->bound) ? fact->bound : INFINITY;
    case ULP:
        return fact->ulp;
    case CORRECTLY_ROUNDED:
        return -fact->correctly_rounded;
    case BITS:
        return -fact->bits;
    }
    return NAN;
}

static bool is_of(const accuracy_fact *fact, const candidate *candidate)
{
    return strcmp(fact->kernel, candidate->view.stored->key.kernel) == 0 &&
           strcmp(fact->object_hash, candidate->object_hash) == 0;
}

static double spread(size_t a, size_t b)
{
    return fabs(log2((double)a / (double)b));
}

/* The worst of a figure over normal rows (least = most = 0), or over rows of kappa up to the first
 * one judged that is `least` or more; NaN where there are none. *hidden: where they were judged. */
static double worst_over(const choose_wanted *wanted, const evidence *evidence,
                         const candidate *candidate, figure figure, double least, size_t *hidden,
                         double *reached)
{
    const accuracy_fact *end = evidence->facts + evidence->fact_count;
    double reach = INFINITY, worst = NAN;
    *hidden = 0;
    for (const accuracy_fact *fact = evidence->facts; fact < end; fact++) {
        bool fits = is_of(fact, candidate) && !isnan(badness(fact, figure)) &&
                    (least > 0 ? fact->kappa >= least : fact->kappa == 0) &&
                    hidden_is_near(fact->hidden, wanted->hidden);
        if (!fits)
            continue;
        double own = spread(fact->hidden, wanted->hidden);
        double best = *hidden ? spread(*hidden, wanted->hidden) : INFINITY;
        if (own < best || (own == best && fact->hidden == *hidden && fact->kappa < reach)) {
            *hidden = fact->hidden;
            reach = fact->kappa;
        }
    }
    for (const accuracy_fact *fact = evidence->facts; *hidden && fact < end; fact++) {
        bool within = least > 0 ? fact->kappa > 0 && fact->kappa <= reach : fact->kappa == 0;
        double bad = badness(fact, figure);
        if (is_of(fact, candidate) && fact->hidden == *hidden && within && !(bad <= worst))
            worst = isnan(bad) ? worst : bad;
    }
    *reached = reach;
    return worst;
}

/* Over normal rows, and those of the kappas asked for. */
static double worst_figure(const choose_wanted *wanted, const evidence *evidence,
                           candidate *candidate, figure figure)
{
    size_t hidden;
    double reached;
    double worst = worst_over(wanted, evidence, candidate, figure, 0, &hidden, &reached);
    if (figure == ROW_ULP)
        candidate->judged_hidden = hidden;
    if (isnan(wanted->budget.kappa) || isnan(worst))
        return worst;
    double shifted =
        worst_over(wanted, evidence, candidate, figure, wanted->budget.kappa, &hidden, &reached);
    if (isnan(shifted))
        return NAN;
    if (figure == ROW_ULP) {
        candidate->judged_kappa = reached;
        if (spread(hidden, wanted->hidden) > spread(candidate->judged_hidden, wanted->hidden))
            candidate->judged_hidden = hidden;
    }
    return fmax(worst, shifted);
}

static void judge_candidate(const choose_wanted *wanted, const evidence *evidence,
                            candidate *candidate)
{
    candidate->row_ulp = worst_figure(wanted, evidence, candidate, ROW_ULP);
    candidate->bound = worst_figure(wanted, evidence, candidate, BOUND);
    candidate->ulp = worst_figure(wanted, evidence, candidate, ULP);
    candidate->correctly_rounded = -worst_figure(wanted, evidence, candidate, CORRECTLY_ROUNDED);
    candidate->bits = -worst_figure(wanted, evidence, candidate, BITS);
}

static bool set_fate(candidate *candidate, candidate_fate fate, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool set_fate(candidate *candidate, candidate_fate fate, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    candidate->fate = fate;
    vsnprintf(candidate->reason, sizeof candidate->reason, format, arguments);
    va_end(arguments);
    return true;
}

/* Verdicts that no budget can mend. */
static bool is_ruled_out(const choose_wanted *wanted, const evidence *evidence,
                         candidate *candidate)
{
    char described[256];
    const stored_case *stored = candidate->view.stored;
    for (size_t i = 0; i < evidence->fact_count; i++) {
        const accuracy_fact *fact = &evidence->facts[i];
        bool in_range = fact->kappa == 0 || fact->kappa <= wanted->budget.kappa;
        if (!is_of(fact, candidate) || !(fact->fault || (fact->without_claim && in_range)))
            continue;
        verdict_describe(&fact->verdict, described, sizeof described);
        return set_fate(candidate, FATE_FAULT, "%.150s on %.60s, hidden %zu (run %lld)", described,
                        fact->input, fact->hidden, (long long)fact->run);
    }
    verdict_describe(&stored->verdict, described, sizeof described);
    /* Timed under another convention: what went wrong there would go wrong here. */
    if (stored->judged && !evidence->same_convention &&
        verdict_exit_code(&stored->verdict) == EXIT_CODE_KERNEL_FAILED)
        return set_fate(candidate, FATE_FAULT, "%.200s under %.60s", described,
                        stored->key.convention);
    if (isnan(candidate->view.speed.time_ns))
        return set_fate(candidate, FATE_UNTIMED, "%.200s",
                        stored->judged && stored->verdict.kind >= VERDICT_UNSUPPORTED
                            ? described
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

/* Whether a figure that the budget limits was not judged. */
static bool is_unjudged(const choose_wanted *wanted, candidate *candidate)
{
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

/* Half of f32's row ULPs are no digits at all: 2^23 of them are 1. */
static const double no_digit = 0x1p23;

static bool is_out_of_class(const choose_wanted *wanted, const evidence *evidence,
                            candidate *candidate, bool *unjudged)
{
    char reason[256];
    if (class_has(wanted->class, evidence, candidate->view.stored->key.kernel,
                  candidate->object_hash, wanted->hidden, unjudged, reason, sizeof reason))
        return false;
    return set_fate(candidate, *unjudged ? FATE_UNJUDGED : FATE_BUDGET, "%s", reason);
}

static bool is_over_budget(const choose_wanted *wanted, candidate *candidate)
{
    const choose_budget *budget = &wanted->budget;
    char own[16], limit[16];
    double row_ulp = budget->proven ? candidate->bound : candidate->row_ulp;
    if (candidate->row_ulp >= no_digit)
        return set_fate(candidate, FATE_BUDGET, "row ULP %s: not one digit is right",
                        number_short(candidate->row_ulp, own));
    if (row_ulp > budget->row_ulp && isinf(row_ulp) && budget->proven)
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

static bool add_candidate(const choose_wanted *wanted, const evidence *evidence, size_t index,
                          choice *choice, error *error)
{
    const machine *machine = &evidence->machine;
    const stored_case *stored = &evidence->cases.cases[index];
    candidate *candidate = &choice->candidates[choice->count];
    *candidate = (struct candidate){
        .view = {.stored = stored,
                 .reproducibility = reproducible_stored(evidence->kernels, stored->key.kernel),
                 .regime = speed_regime(stored->key.rows, stored->key.hidden, stored->key.dtype,
                                        machine->l1d_bytes, machine->l2_bytes, machine->l3_bytes)},
        .pair = {NAN, NAN, NAN},
        .relative = NAN,
        .fate = FATE_SLOWER,
    };
    snprintf(candidate->object_hash, sizeof candidate->object_hash, "%s",
             descriptor_hash(evidence->kernels, stored->key.kernel));
    if (!speed_of_case(&evidence->cases, index, &candidate->view.speed, error))
        return false;
    judge_candidate(wanted, evidence, candidate);
    if (!is_ruled_out(wanted, evidence, candidate) && is_unjudged(wanted, candidate))
        choice->unjudged = true;
    bool unjudged = false;
    if (candidate->fate == FATE_SLOWER && !is_out_of_class(wanted, evidence, candidate, &unjudged))
        is_over_budget(wanted, candidate);
    choice->unjudged |= unjudged;
    choice->count++;
    return true;
}

/* Ranks are those of paired ratios: absolute times of a group differ by the noise of their rounds.
 */
static bool relate(const evidence *evidence, const candidate *base, choice *choice, error *error)
{
    size_t base_index = (size_t)(base->view.stored - evidence->cases.cases);
    double base_time = base->view.speed.time_ns;
    for (size_t i = 0; i < choice->count; i++) {
        candidate *own = &choice->candidates[i];
        size_t index = (size_t)(own->view.stored - evidence->cases.cases);
        if (!speed_of_pair(&evidence->cases, index, base_index, &own->pair, error))
            return false;
        own->relative =
            isnan(own->pair.ratio) ? own->view.speed.time_ns / base_time : own->pair.ratio;
    }
    return true;
}

static void name_fates(choice *choice)
{
    for (size_t i = 0; i < choice->count; i++) {
        candidate *own = &choice->candidates[i];
        if (i == 0)
            set_fate(own, FATE_BEST, "the fastest within the budget");
        else if (own->fate == FATE_SLOWER && isnan(own->pair.ratio))
            set_fate(own, FATE_TIED, "not timed in the same rounds as the best");
        else if (own->fate == FATE_SLOWER && !(own->pair.lo > 1))
            set_fate(own, FATE_TIED, "not told apart from the best");
        else if (own->fate == FATE_SLOWER)
            set_fate(own, FATE_SLOWER, "slower");
    }
}

double candidate_error(const choose_wanted *wanted, const candidate *candidate)
{
    const choose_budget *budget = &wanted->budget;
    bool other = isnan(budget->row_ulp) && !budget->proven;
    double error = budget->proven                               ? candidate->bound
                   : other && !isnan(budget->ulp)               ? candidate->ulp
                   : other && !isnan(budget->correctly_rounded) ? 1 - candidate->correctly_rounded
                   : other && !isnan(budget->bits)              ? exp2(-candidate->bits)
                                                                : candidate->row_ulp;
    return isnan(error) ? INFINITY : error;
}

static bool can_be_used(const candidate *candidate)
{
    return candidate->fate <= FATE_BUDGET;
}

static bool dominates(const choose_wanted *wanted, const candidate *a, const candidate *b)
{
    double error_a = candidate_error(wanted, a), error_b = candidate_error(wanted, b);
    return can_be_used(a) && a->relative <= b->relative && error_a <= error_b &&
           (a->relative < b->relative || error_a < error_b);
}

static int by_fate_and_time(const void *a, const void *b)
{
    const candidate *left = a, *right = b;
    double time_left = left->relative, time_right = right->relative;
    /* Whoever meets the budget, by time; then whoever does not. */
    int class_left = left->fate <= FATE_SLOWER ? 0 : (int)left->fate;
    int class_right = right->fate <= FATE_SLOWER ? 0 : (int)right->fate;
    if (class_left != class_right)
        return class_left - class_right;
    if (isnan(time_left) || isnan(time_right))
        return isnan(time_left) - isnan(time_right);
    if (time_left != time_right)
        return time_left < time_right ? -1 : 1;
    return strcmp(left->view.stored->key.kernel, right->view.stored->key.kernel);
}

/* The front, and the best one's neighbours on it. */
static void find_front(const choose_wanted *wanted, choice *choice)
{
    const candidate *best = choice->best;
    for (size_t i = 0; i < choice->count; i++) {
        candidate *own = &choice->candidates[i];
        double error = candidate_error(wanted, own);
        own->pareto = can_be_used(own) && isfinite(error);
        for (size_t j = 0; own->pareto && j < choice->count; j++)
            own->pareto = !dominates(wanted, &choice->candidates[j], own);
        if (can_be_used(own) && isfinite(error) &&
            (!choice->most_accurate || error < candidate_error(wanted, choice->most_accurate)))
            choice->most_accurate = own;
    }
    for (size_t i = 0; best && i < choice->count; i++) {
        const candidate *own = &choice->candidates[i];
        double error = candidate_error(wanted, own), of_best = candidate_error(wanted, best);
        if (!own->pareto || own == best)
            continue;
        if (error < of_best &&
            (!choice->more_accurate || own->relative < choice->more_accurate->relative))
            choice->more_accurate = own;
        if (own->relative < best->relative &&
            (!choice->less_accurate || own->relative > choice->less_accurate->relative))
            choice->less_accurate = own;
    }
}

/* First against whoever took the least time, whatever its errors, then against the best. */
static bool rank(const evidence *evidence, choice *choice, error *error)
{
    candidate *all = choice->candidates;
    const candidate *fastest = NULL;
    for (size_t i = 0; i < choice->count; i++) {
        double time = all[i].view.speed.time_ns;
        if (!isnan(time) && (!fastest || time < fastest->view.speed.time_ns))
            fastest = &all[i];
    }
    if (!fastest)
        return true;
    if (!relate(evidence, fastest, choice, error))
        return false;
    qsort(all, choice->count, sizeof *all, by_fate_and_time);
    if (all[0].fate != FATE_SLOWER)
        return true;
    if (!relate(evidence, &all[0], choice, error))
        return false;
    qsort(all + 1, choice->count - 1, sizeof *all, by_fate_and_time);
    name_fates(choice);
    choice->best = &all[0];
    return true;
}

/* The library, the ISAs and the parameters' type that are wanted. */
static bool is_of_kind(const choose_wanted *wanted, const json_t *kernels, const char *kernel)
{
    if (wanted->callable && strcmp(descriptor_word(kernels, kernel, "source"), "builtin") != 0)
        return false;
    bool fits = !wanted->isas;
    for (size_t i = 0; !fits && wanted->isas[i]; i++)
        fits = strcmp(wanted->isas[i], descriptor_word(kernels, kernel, "isa")) == 0;
    return fits && (!wanted->param ||
                    strcmp(wanted->param, descriptor_word(kernels, kernel, "param")) == 0);
}

bool choice_make(const choose_wanted *wanted, const evidence *evidence, choice *choice,
                 error *error)
{
    *choice = (struct choice){.candidates =
                                  calloc(evidence->cases.count + 1, sizeof *choice->candidates)};
    if (!choice->candidates)
        return fail_memory(error, "the kernels to choose from");
    bool fine = true;
    for (size_t i = 0; fine && evidence->timed && i < evidence->cases.count; i++) {
        const case_key *key = &evidence->cases.cases[i].key;
        if (is_of_group(key, &evidence->group) && kernel_is_wanted(wanted, key->kernel) &&
            is_of_kind(wanted, evidence->kernels, key->kernel))
            fine = add_candidate(wanted, evidence, i, choice, error);
    }
    fine = fine && rank(evidence, choice, error);
    if (fine)
        find_front(wanted, choice);
    else
        choice_free(choice);
    return fine;
}

void choice_free(choice *choice)
{
    free(choice->candidates);
    *choice = (struct choice){0};
}
