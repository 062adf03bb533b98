/* The words of reproducibility: axes, classes, families. */
#include "domain/reproducible.h"
#include <stdio.h>
#include <string.h>

const char *axis_name(invariance_axis axis)
{
    static const char *const names[AXIS_COUNT] = {
        [AXIS_CALL] = "call",           [AXIS_ROWS] = "rows",
        [AXIS_POSITION] = "position",   [AXIS_THREADS] = "threads",
        [AXIS_ALIGNMENT] = "alignment", [AXIS_STRIDE] = "stride",
        [AXIS_IN_PLACE] = "in-place",   [AXIS_ISA] = "isa"};
    return names[axis];
}

const char *reproducibility_name(reproducibility class)
{
    static const char *const names[] = {[REPRODUCIBLE_UNKNOWN] = "-",
                                        [REPRODUCIBLE_NONE] = "none",
                                        [REPRODUCIBLE_RUN] = "run",
                                        [REPRODUCIBLE_ROW] = "row",
                                        [REPRODUCIBLE_ISA] = "isa"};
    return names[class];
}

static const unsigned of_a_row = 1u << AXIS_ROWS | 1u << AXIS_POSITION | 1u << AXIS_THREADS |
                                 1u << AXIS_ALIGNMENT | 1u << AXIS_STRIDE | 1u << AXIS_IN_PLACE;

reproducibility reproducibility_of(const invariance_result *found)
{
    if (found->varies & 1u << AXIS_CALL)
        return REPRODUCIBLE_NONE;
    if (found->varies & of_a_row)
        return REPRODUCIBLE_RUN;
    if (!(found->tested & 1u << AXIS_CALL))
        return REPRODUCIBLE_UNKNOWN;
    bool isa = (found->tested & ~found->varies) & 1u << AXIS_ISA;
    return isa ? REPRODUCIBLE_ISA : REPRODUCIBLE_ROW;
}

reproducibility reproducibility_declared(const kernel_facts *facts)
{
    return facts->traits & LN_TRAIT_ISA_REPRODUCIBLE   ? REPRODUCIBLE_ISA
           : facts->traits & LN_TRAIT_ROW_REPRODUCIBLE ? REPRODUCIBLE_ROW
                                                       : REPRODUCIBLE_UNKNOWN;
}

/* That other ISAs have other bits is what "row" says already. */
const char *reproducibility_describe(const invariance_result *found, char *buffer, size_t size)
{
    reproducibility class = reproducibility_of(found);
    size_t length = (size_t)snprintf(buffer, size, "%s", reproducibility_name(class));
    bool any = false;
    for (int axis = AXIS_ROWS; class == REPRODUCIBLE_RUN && axis < AXIS_ISA; axis++) {
        if (!(found->varies & 1u << axis) || length >= size)
            continue;
        length += (size_t)snprintf(buffer + length, size - length, "%s%s", any ? ", " : " (",
                                   axis_name((enum invariance_axis)axis));
        any = true;
    }
    if (any && length < size)
        snprintf(buffer + length, size - length, ")");
    return buffer;
}

/* Whether two kernels are the same but for the ISA. */
static bool same_family(const kernel_entry *a, const kernel_entry *b)
{
    const kernel_facts *left = &a->facts, *right = &b->facts;
    return a->plugin == b->plugin && left->operation == right->operation && left->statistics[0] &&
           strcmp(left->statistics, right->statistics) == 0 &&
           strcmp(left->apply, right->apply) == 0 && strcmp(left->schedule, right->schedule) == 0 &&
           left->storage == right->storage && left->param == right->param &&
           left->accumulator == right->accumulator && left->unroll == right->unroll &&
           strcmp(left->isa, right->isa) != 0;
}

size_t with_families(const kernel_list *kernels, const kernel_entry *const *own, size_t own_count,
                     const kernel_entry **chosen)
{
    size_t count = own_count;
    for (size_t i = 0; i < own_count; i++)
        chosen[i] = own[i];
    for (size_t i = 0; i < kernels->count; i++) {
        const kernel_entry *other = &kernels->kernels[i];
        bool among = false, related = false;
        for (size_t j = 0; j < own_count; j++) {
            among = among || own[j] == other;
            related = related || same_family(own[j], other);
        }
        if (related && !among)
            chosen[count++] = other;
    }
    return count;
}

static bool same_plain(const invariance_result *a, const invariance_result *b)
{
    for (size_t i = 0; i < INVARIANCE_HIDDEN; i++)
        if (a->plain[i] != b->plain[i])
            return false;
    return true;
}

void invariance_compare_isas(const kernel_entry *const *kernels, invariance_result *found,
                             size_t count)
{
    const unsigned isa = 1u << AXIS_ISA, call = 1u << AXIS_CALL;
    for (size_t a = 0; a < count; a++)
        for (size_t b = 0; b < count; b++) {
            if (!(found[a].tested & found[b].tested & call) || !same_family(kernels[a], kernels[b]))
                continue;
            found[a].tested |= isa;
            if (!same_plain(&found[a], &found[b]))
                found[a].varies |= isa;
        }
}

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
