#include "choose_class.h"
#include "inputs.h"
#include "text.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The way of other libraries, and how far behind them `fast` may fall where they are off too; never
 * so far as to lose what they lose where the mean is large. */
#define COMMON_WAY "two_pass_f32_avx2"
enum { BEHIND_COMMON_WAY = 8, MOST_ROW_ULP = 128 };

/* The limits of layernorm.h. Squares overflow in the families "huge" and "overflow": there `fast`
 * promises nothing. */
static const struct {
    const char *name, *words;
    double row_ulp;
    const char *exempt[3];
} classes[] = {
    [CLASS_ANY] = {"any", "anything", INFINITY, {NULL}},
    [CLASS_FAST] = {"fast",
                    "row ULP at most 16, or 8 times that of " COMMON_WAY
                    " up to 128, on every input family but huge and overflow",
                    16,
                    {"huge", "overflow"}},
    [CLASS_ACCURATE] = {"accurate", "row ULP at most 2 on every input family", 2, {NULL}},
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

/* hidden 0: at any. */
static const char *family_lacking(const evidence *evidence, const char *kernel,
                                  const char *object_hash, size_t hidden)
{
    size_t count;
    const input_family *family = input_families(&count);
    for (size_t i = 0; i < count; i++) {
        bool found = false;
        for (size_t f = 0; !found && f < evidence->fact_count; f++) {
            const accuracy_fact *fact = &evidence->facts[f];
            found = strcmp(fact->input, family[i].name) == 0 &&
                    (hidden == 0 || fact->hidden == hidden) && is_about(fact, kernel, object_hash);
        }
        if (!found)
            return family[i].name;
    }
    return NULL;
}

bool class_is_judged(const evidence *evidence, const char *kernel, const char *object_hash,
                     size_t hidden)
{
    return family_lacking(evidence, kernel, object_hash, hidden) == NULL;
}

/* The largest row ULP of the common way on the same rows; 0 where it was not judged. */
static double common_error(const evidence *evidence, const accuracy_fact *fact)
{
    double worst = 0;
    for (size_t i = 0; i < evidence->fact_count; i++) {
        const accuracy_fact *other = &evidence->facts[i];
        if (strcmp(other->kernel, COMMON_WAY) == 0 && strcmp(other->input, fact->input) == 0 &&
            other->hidden == fact->hidden && (other->kappa == fact->kappa || isnan(fact->kappa)) &&
            other->row_ulp > worst)
            worst = other->row_ulp;
    }
    return worst;
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
    if (!(fact->row_ulp > classes[class].row_ulp) ||
        (class == CLASS_FAST &&
         fact->row_ulp <= fmin(MOST_ROW_ULP, BEHIND_COMMON_WAY * common_error(evidence, fact))))
        return true;
    snprintf(reason, size, "row ULP %s on %.60s, hidden %zu: %s has %s at most",
             number_short(fact->row_ulp, own), fact->input, fact->hidden, classes[class].name,
             number_short(classes[class].row_ulp, limit));
    return false;
}

static bool is_reproducible(const json_t *kernels, const char *kernel)
{
    return strcmp(descriptor_word(kernels, kernel, "statistics"), "reproducible") == 0;
}

bool class_has(accuracy_class class, const evidence *evidence, const char *kernel,
               const char *object_hash, bool *unjudged, char *reason, size_t size)
{
    const char *lacking = family_lacking(evidence, kernel, object_hash, 0);
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
            !keeps_limit(class, evidence, &evidence->facts[i], reason, size))
            return false;
    return true;
}
