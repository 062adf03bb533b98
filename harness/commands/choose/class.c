#include "domain/kernel_json.h"
#include "base/allocate.h"
#include "commands/choose/class.h"
#include "inputs/inputs.h"
#include "inputs/worst.h"
#include "base/text.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How far behind the best peer `fast` may fall: half a row ULP is what rounding alone costs. Never
 * so far as to lose what peers lose where the mean is large. Where no peer was judged, a plain
 * two-pass, the way of other libraries, stands for them. */
#define COMMON_WAY "two_pass_f32_avx2"
static const double behind_peers = 8, least_error = 0.5, most_row_ulp = 128;
/* The latter is no library: what is fine without peers. */
static const double fine_without_peers = 16;

/* The limits of layernorm.h. Squares overflow in the families "huge" and "overflow": there `fast`
 * promises nothing. Hunted rows are no family: a search for the worst of one kernel finds rows that
 * it is worse on than others are, whatever its class. */
static const struct {
    const char *name;
    double row_ulp;
    const char *exempt[4];
} classes[] = {
    [CLASS_ANY] = {"any", INFINITY, {NULL}},
    [CLASS_FAST] = {"fast", INFINITY, {"huge", "overflow", WORST_INPUT}},
    [CLASS_ACCURATE] = {"accurate", 2, {NULL}},
    [CLASS_REPRODUCIBLE] = {"reproducible", INFINITY, {NULL}},
    [CLASS_EXACT] = {"exact", 0.5, {NULL}},
};
enum { CLASSES = sizeof classes / sizeof *classes };

bool class_from_name(const char *name, accuracy_class *class, error *err)
{
    for (int i = CLASS_FAST; i < CLASSES; i++)
        if (strcmp(classes[i].name, name) == 0) {
            *class = (accuracy_class)i;
            return true;
        }
    return fail(err, EXIT_CODE_USAGE,
                "--class %.60s: fast, accurate, reproducible or exact was expected%s", name,
                strcmp(name, "all") == 0 ? "; the library's table is now made by tools/dispatch"
                                         : "");
}

const char *class_name(accuracy_class class)
{
    return classes[class].name;
}

static bool is_about(const accuracy_fact *fact, const char *kernel, const char *object_hash)
{
    return strcmp(fact->kernel, kernel) == 0 && strcmp(fact->object_hash, object_hash) == 0;
}

/* hidden 0: at any; bare: without eps. */
static const char *family_lacking(const kernel_evidence *evidence, bool bare, const char *kernel,
                                  const char *object_hash, size_t hidden)
{
    const accuracy_fact *facts = bare ? evidence->bare_facts : evidence->facts;
    size_t count, fact_count = bare ? evidence->bare_count : evidence->fact_count;
    const input_family *family = input_families(&count);
    for (size_t i = 0; i < count; i++) {
        bool found = false;
        for (size_t f = 0; !found && f < fact_count; f++) {
            const accuracy_fact *fact = &facts[f];
            found = strcmp(fact->input, family[i].name) == 0 &&
                    (hidden == 0 || fact->hidden == hidden) && is_about(fact, kernel, object_hash);
        }
        if (!found)
            return family[i].name;
    }
    return NULL;
}

/* Facts by their rows: those about the same input and hidden size stand together. */
static int by_rows(const void *a, const void *b)
{
    const accuracy_fact *one = *(accuracy_fact *const *)a, *other = *(accuracy_fact *const *)b;
    int order = strcmp(one->input, other->input);
    return order ? order : (one->hidden > other->hidden) - (one->hidden < other->hidden);
}

static bool is_on_same_rows(const accuracy_fact *one, const accuracy_fact *other)
{
    return other->kappa == one->kappa || isnan(one->kappa);
}

/* The largest row ULP of one kernel on these rows, infinite where it has a class wrong; NaN where
 * it was not judged. */
static double error_of(const char *kernel, accuracy_fact *const *group, size_t count,
                       const accuracy_fact *fact)
{
    double worst = NAN;
    for (size_t i = 0; i < count; i++) {
        const accuracy_fact *other = group[i];
        if (!is_on_same_rows(fact, other) || strcmp(other->kernel, kernel) != 0)
            continue;
        bool wrong = other->verdict.kind == VERDICT_WRONG_CLASS;
        if (wrong || !isnan(other->row_ulp))
            worst = fmax(worst, wrong ? INFINITY : other->row_ulp);
    }
    return worst;
}

/* The least of the peers' errors on these rows; NaN where none was judged. */
static double best_peer(accuracy_fact *const *group, size_t count, const accuracy_fact *fact)
{
    double best = NAN;
    for (size_t i = 0; i < count; i++)
        if (group[i]->is_peer && is_on_same_rows(fact, group[i]))
            best = fmin(best, error_of(group[i]->kernel, group, count, fact));
    return best;
}

static double limit_of_fast(accuracy_fact *const *group, size_t count, const accuracy_fact *fact)
{
    double best = best_peer(group, count, fact);
    if (!isnan(best))
        return fmin(most_row_ulp, behind_peers * fmax(best, least_error));
    double common = error_of(COMMON_WAY, group, count, fact);
    return isnan(common) ? fine_without_peers
                         : fmax(fine_without_peers, fmin(most_row_ulp, behind_peers * common));
}

void class_limits(accuracy_fact *facts, size_t count)
{
    accuracy_fact **sorted = allocate_zeroed(count + 1, sizeof(accuracy_fact *));
    for (size_t i = 0; i < count; i++)
        sorted[i] = &facts[i];
    qsort(sorted, count, sizeof *sorted, by_rows);
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && by_rows(&sorted[first], &sorted[end]) == 0;)
            end++;
        for (size_t i = first; i < end; i++)
            sorted[i]->limit_of_fast = limit_of_fast(sorted + first, end - first, sorted[i]);
    }
    free(sorted);
}

/* What is less than this above 2 counts as 2: where a row's scale ends a hair below a power of two,
 * one and a half may be proven as two, and as much more as statistics are off (apply/split.h). */
static const double bound_slack = 1 + 0x1p-14;

/* What a class looks at: of `accurate` what is proven of these rows, infinite where that is nothing.
 * Of subnormal results a bound counts two units for storing them (ln_bound), so that there what was
 * measured has to do. */
static double class_error(accuracy_class class, const accuracy_fact *fact)
{
    if (class != CLASS_ACCURATE || strcmp(fact->input, "subnormal-out") == 0)
        return fact->row_ulp;
    return isnan(fact->bound) && !isnan(fact->row_ulp) ? INFINITY : fact->bound;
}

static bool keeps_limit(accuracy_class class, const accuracy_fact *fact, char *reason, size_t size)
{
    char own[16], limit[16], described[256];
    for (const char *const *exempt = classes[class].exempt; *exempt; exempt++)
        if (strcmp(fact->input, *exempt) == 0 ||
            (strcmp(*exempt, WORST_INPUT) == 0 && input_is_worst(fact->input)))
            return true;
    if (fact->verdict.kind == VERDICT_WRONG_CLASS) {
        snprintf(reason, size, "%.120s on %.60s, hidden %zu",
                 verdict_describe(&fact->verdict, described, sizeof described), fact->input,
                 fact->hidden);
        return false;
    }
    double most = class == CLASS_FAST ? fact->limit_of_fast : classes[class].row_ulp;
    double found = class_error(class, fact);
    if (!(found > most * bound_slack))
        return true;
    snprintf(reason, size, "%srow ULP %s on %.60s, hidden %zu: %s has %s at most",
             class == CLASS_ACCURATE ? "proven " : "", number_short(found, own), fact->input,
             fact->hidden, classes[class].name, number_short(most, limit));
    return false;
}

static bool is_reproducible(const json_t *kernels, const char *kernel)
{
    return strcmp(descriptor_word(kernels, kernel, "statistics"), "reproducible") == 0;
}

static bool is_exact(const json_t *kernels, const char *kernel)
{
    return strcmp(descriptor_word(kernels, kernel, "statistics"), "exact") == 0;
}

/* Errors grow with the length: what a kernel does to longer rows is not held against it. */
static bool concerns(const accuracy_fact *fact, size_t hidden)
{
    return fact->hidden <= hidden || hidden_is_near(fact->hidden, hidden);
}

static bool keeps_limit_without_eps(accuracy_class class, const kernel_evidence *evidence,
                                    const char *kernel, const char *object_hash, size_t hidden,
                                    char *reason, size_t size)
{
    for (size_t i = 0; i < evidence->bare_count; i++) {
        const accuracy_fact *fact = &evidence->bare_facts[i];
        if (!is_about(fact, kernel, object_hash) || !concerns(fact, hidden) ||
            keeps_limit(class, fact, reason, size))
            continue;
        size_t length = strlen(reason);
        snprintf(reason + length, size - length, ", without eps");
        return false;
    }
    return true;
}

bool class_has(accuracy_class class, const kernel_evidence *evidence, const char *kernel,
               const char *object_hash, size_t hidden, bool *unjudged, char *reason, size_t size)
{
    const char *lacking = family_lacking(evidence, false, kernel, object_hash, 0);
    *unjudged = false;
    if (class == CLASS_ANY)
        return true;
    if (class == CLASS_REPRODUCIBLE && !is_reproducible(evidence->kernels, kernel)) {
        snprintf(reason, size, "its bits depend on the ISA");
        return false;
    }
    if (class == CLASS_EXACT && !is_exact(evidence->kernels, kernel)) {
        snprintf(reason, size, "it is not correctly rounded");
        return false;
    }
    if (lacking) {
        *unjudged = true;
        snprintf(reason, size, "not judged on %.60s", lacking);
        return false;
    }
    for (size_t i = 0; class != CLASS_REPRODUCIBLE && i < evidence->fact_count; i++)
        if (is_about(&evidence->facts[i], kernel, object_hash) &&
            concerns(&evidence->facts[i], hidden) &&
            !keeps_limit(class, &evidence->facts[i], reason, size))
            return false;
    return class != CLASS_ACCURATE ||
           keeps_limit_without_eps(class, evidence, kernel, object_hash, hidden, reason, size);
}
