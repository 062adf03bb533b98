#include "domain/reproducible.h"
#include <stdio.h>
#include <string.h>

/* The class of a name, which may come from a file of somebody else's. */
static reproducibility class_named(const char *name)
{
    for (int known = REPRODUCIBLE_NONE; name && known <= REPRODUCIBLE_ISA; known++)
        if (strcmp(reproducibility_name((reproducibility)known), name) == 0)
            return (reproducibility)known;
    return REPRODUCIBLE_UNKNOWN;
}

static const char *word_of(reproducibility measured, reproducibility declared)
{
    static const char *const in_brackets[] = {[REPRODUCIBLE_UNKNOWN] = "-",
                                              [REPRODUCIBLE_NONE] = "(none)",
                                              [REPRODUCIBLE_RUN] = "(run)",
                                              [REPRODUCIBLE_ROW] = "(row)",
                                              [REPRODUCIBLE_ISA] = "(isa)"};
    return measured == REPRODUCIBLE_UNKNOWN ? in_brackets[declared]
                                            : reproducibility_name(measured);
}

static reproducibility class_in(const json_t *descriptor, const char *key)
{
    return class_named(json_string_value(json_object_get(descriptor, key)));
}

const char *reproducible_stored(const json_t *kernels, const char *kernel)
{
    size_t index;
    const json_t *descriptor;
    json_array_foreach(kernels, index, descriptor)
    {
        const char *name = json_string_value(json_object_get(descriptor, "name"));
        if (name && strcmp(name, kernel) == 0)
            return word_of(class_in(descriptor, "reproducibility"),
                           class_in(descriptor, "declared_reproducibility"));
    }
    return "-";
}

const char *reproducible_found(const kernel_facts *facts, const invariance_result *found)
{
    return word_of(found ? reproducibility_of(found) : REPRODUCIBLE_UNKNOWN,
                   reproducibility_declared(facts));
}

bool reproducible_everywhere(const json_t *kernels, const char *kernel)
{
    size_t index;
    const json_t *descriptor;
    json_array_foreach(kernels, index, descriptor)
    {
        const char *name = json_string_value(json_object_get(descriptor, "name"));
        if (name && strcmp(name, kernel) == 0)
            return class_in(descriptor, "reproducibility") == REPRODUCIBLE_ISA ||
                   class_in(descriptor, "declared_reproducibility") == REPRODUCIBLE_ISA;
    }
    return false;
}

json_t *reproducible_json(const char *word)
{
    return class_named(word) == REPRODUCIBLE_UNKNOWN ? json_null() : json_string(word);
}

bool reproducible_is_less(const char *base, const char *new)
{
    reproducibility before = class_named(base), after = class_named(new);
    return after != REPRODUCIBLE_UNKNOWN && after < before;
}

const char *reproducible_both(const char *base, const char *new, char buffer[32])
{
    if (strcmp(base, new) == 0)
        return new;
    snprintf(buffer, 32, "%s was %s", new, base);
    return buffer;
}
