#include "choose_class.h"
#include "inputs.h"
#include "text.h"
#include <math.h>
#include <stdio.h>
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
    const char *name, *words;
    double row_ulp;
    const char *exempt[4];
} classes[] = {
    [CLASS_ANY] = {"any", "anything", INFINITY, {NULL}},
    [CLASS_FAST] = {"fast",
                    "row ULP at most 8 times the best peer's, up to 128, on every input family but "
                    "huge and overflow, not on hunted rows; without peers at most 16, or 8 times "
                    "that of " COMMON_WAY,
                    INFINITY,
                    {"huge", "overflow", "worst"}},
    [CLASS_ACCURATE] = {"accurate",
                        "row ULP at most 2 on every input family, with eps and without, not on "
                        "hunted rows",
                        2,
                        {"worst"}},
    [CLASS_REPRODUCIBLE] = {"reproducible",
                            "the same bits on every ISA and number of threads",
                            INFINITY,
                            {NULL}},
};
enum { CLASSES = sizeof classes / sizeof *classes };

bool class_from_name(const char *name, accuracy_class *class, error *error)
{
    for (int i = CLASS_FAST; i < CLASSES; i++)
        if (strcmp(classes[i].name, name) == 0) {
            *class = (accuracy_class)i;
            return true;
        }
    return fail(error, EXIT_CODE_USAGE,
                "--class %.60s: fast, accurate or reproducible was expected", name);
}

const char *class_name(accuracy_class class)
{
    return classes[class].name;
}

const char *class_words(accuracy_class class)
{
    return classes[class].words;
}

static bool is_about(const accuracy_fact *fact, const char *kernel, const char *object_hash)
{
    return strcmp(fact->kernel, kernel) == 0 && strcmp(fact->object_hash, object_hash) == 0;
}

/* hidden 0: at any; bare: without eps. */
static const char *family_lacking(const evidence *evidence, bool bare, const char *kernel,
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

bool class_is_judged(const evidence *evidence, bool bare, const char *kernel,
                     const char *object_hash, size_t hidden)
{
    return family_lacking(evidence, bare, kernel, object_hash, hidden) == NULL;
}

static bool is_on_same_rows(const accuracy_fact *one, const accuracy_fact *other)
{
    return other->hidden == one->hidden && (other->kappa == one->kappa || isnan(one->kappa)) &&
           strcmp(other->input, one->input) == 0;
}

/* The largest row ULP of one kernel on these rows, infinite where it has a class wrong; NaN where
 * it was not judged. */
static double error_of(const char *kernel, const evidence *evidence, const accuracy_fact *fact)
{
    double worst = NAN;
    for (size_t i = 0; i < evidence->fact_count; i++) {
        const accuracy_fact *other = &evidence->facts[i];
        if (!is_on_same_rows(fact, other) || strcmp(other->kernel, kernel) != 0)
            continue;
        bool wrong = other->verdict.kind == VERDICT_WRONG_CLASS;
        if (wrong || !isnan(other->row_ulp))
            worst = fmax(worst, wrong ? INFINITY : other->row_ulp);
    }
    return worst;
}

/* The least of the peers' errors on these rows; NaN where none was judged. */
static double best_peer(const evidence *evidence, const accuracy_fact *fact)
{
    double best = NAN;
    for (size_t i = 0; i < evidence->fact_count; i++) {
        const accuracy_fact *other = &evidence->facts[i];
        if (other->is_peer && is_on_same_rows(fact, other))
            best = fmin(best, error_of(other->kernel, evidence, fact));
    }
    return best;
}

static double limit_of(accuracy_class class, const evidence *evidence, const accuracy_fact *fact)
{
    if (class != CLASS_FAST)
        return classes[class].row_ulp;
    double best = best_peer(evidence, fact);
    if (!isnan(best))
        return fmin(most_row_ulp, behind_peers * fmax(best, least_error));
    double common = error_of(COMMON_WAY, evidence, fact);
    return isnan(common) ? fine_without_peers
                         : fmax(fine_without_peers, fmin(most_row_ulp, behind_peers * common));
}

static bool keeps_limit(accuracy_class class, const evidence *evidence, const accuracy_fact *fact,
                        char *reason, size_t size)
{
    char own[16], limit[16], described[256];
    for (const char *const *exempt = classes[class].exempt; *exempt; exempt++)
        if (strcmp(fact->input, *exempt) == 0)
            return true;
    if (fact->verdict.kind == VERDICT_WRONG_CLASS) {
        snprintf(reason, size, "%.120s on %.60s, hidden %zu",
                 verdict_describe(&fact->verdict, described, sizeof described), fact->input,
                 fact->hidden);
        return false;
    }
    double most = limit_of(class, evidence, fact);
    if (!(fact->row_ulp > most))
        return true;
    snprintf(reason, size, "row ULP %s on %.60s, hidden %zu: %s has %s at most",
             number_short(fact->row_ulp, own), fact->input, fact->hidden, classes[class].name,
             number_short(most, limit));
    return false;
}

static bool is_reproducible(const json_t *kernels, const char *kernel)
{
    return strcmp(descriptor_word(kernels, kernel, "statistics"), "reproducible") == 0;
}

/* Errors grow with the length: what a kernel does to longer rows is not held against it. */
static bool concerns(const accuracy_fact *fact, size_t hidden)
{
    return fact->hidden <= hidden || hidden_is_near(fact->hidden, hidden);
}

static bool keeps_limit_without_eps(accuracy_class class, const evidence *evidence,
                                    const char *kernel, const char *object_hash, size_t hidden,
                                    char *reason, size_t size)
{
    for (size_t i = 0; i < evidence->bare_count; i++) {
        const accuracy_fact *fact = &evidence->bare_facts[i];
        if (!is_about(fact, kernel, object_hash) || !concerns(fact, hidden) ||
            keeps_limit(class, evidence, fact, reason, size))
            continue;
        size_t length = strlen(reason);
        snprintf(reason + length, size - length, ", without eps");
        return false;
    }
    return true;
}

bool class_has(accuracy_class class, const evidence *evidence, const char *kernel,
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
    if (lacking) {
        *unjudged = true;
        snprintf(reason, size, "not judged on %.60s", lacking);
        return false;
    }
    for (size_t i = 0; class != CLASS_REPRODUCIBLE && i < evidence->fact_count; i++)
        if (is_about(&evidence->facts[i], kernel, object_hash) &&
            concerns(&evidence->facts[i], hidden) &&
            !keeps_limit(class, evidence, &evidence->facts[i], reason, size))
            return false;
    return class != CLASS_ACCURATE ||
           keeps_limit_without_eps(class, evidence, kernel, object_hash, hidden, reason, size);
}
