/* Writes a kernel's descriptor as JSON, as a run stores it, and reads its members. It is not part of kernel.c because
 * liblnjudge has no JSON. */
#include "domain/kernel.h"
#include "base/relation.h"
#include <stdio.h>
#include <string.h>

static const struct {
    unsigned bit;
    const char *name;
} trait_names[] = {
    {LN_TRAIT_FMA, "fma"},
    {LN_TRAIT_NONTEMPORAL, "nontemporal"},
    {LN_TRAIT_ALIGNMENT_BITS, "alignment-bits"},
    {LN_TRAIT_FLUSHES_SUBNORMALS, "flushes-subnormals"},
    {LN_TRAIT_NOT_IN_PLACE, "not-in-place"},
    {LN_TRAIT_NO_RESIDUAL, "no-residual"},
    {LN_TRAIT_CORRECTLY_ROUNDED, "correctly-rounded"},
    {LN_TRAIT_OWN_THREADS, "own-threads"},
    {LN_TRAIT_ROUNDED_LAST, "rounded-last"},
};

enum { TRAITS = sizeof trait_names / sizeof *trait_names };

const char *kernel_traits(const kernel_entry *kernel, char buffer[128])
{
    buffer[0] = '\0';
    for (size_t i = 0; i < TRAITS; i++)
        if (kernel->facts.traits & trait_names[i].bit)
            snprintf(buffer + strlen(buffer), 128 - strlen(buffer), "%s%s", buffer[0] ? ", " : "",
                     trait_names[i].name);
    return buffer[0] ? buffer : "-";
}

/* Returns the name of a class, or null if it is unknown. */
static json_t *class_json(reproducibility class)
{
    return class == REPRODUCIBLE_UNKNOWN ? json_null() : json_string(reproducibility_name(class));
}

/* Writes a peer's version, a plugin's name in full, or for other kernels the name without type and ISA. */
static void make_label(const char *name, const char *version, bool plugin, const char *type,
                       const char *isa, char label[NAME_MAX_LENGTH])
{
    if (version[0])
        snprintf(label, NAME_MAX_LENGTH, "%.60s", version);
    else
        kernel_label(name, plugin ? "" : type, plugin ? "" : isa, label, NAME_MAX_LENGTH);
}

void kernel_entry_label(const kernel_entry *kernel, char label[NAME_MAX_LENGTH])
{
    make_label(kernel->facts.name, kernel->version, strcmp(kernel->source, "builtin") != 0,
               dtype_name(kernel->facts.storage), kernel->facts.isa, label);
}

void kernel_labels_set(json_t *kernels, ln_operation what, const char *isa)
{
    size_t index;
    json_t *descriptor;
    json_array_foreach(kernels, index, descriptor)
    {
        char label[NAME_MAX_LENGTH];
        const char *name = json_string_value(json_object_get(descriptor, "name"));
        const char *version = json_string_value(json_object_get(descriptor, "version"));
        const char *type = json_string_value(json_object_get(descriptor, "io"));
        const char *word = json_string_value(json_object_get(descriptor, "operation"));
        /* Descriptors of older programs name no operation; their runs have only one. */
        ln_operation kind = what;
        if (!name || (word && operation_from_name(word, &kind) && kind != what))
            continue;
        make_label(name, version ? version : "", kernel_role_of(kernels, name) == ROLE_PLUGIN,
                   type ? type : "", isa, label);
        json_object_set_new(descriptor, "label", json_text(label));
    }
}

json_t *kernel_json(const kernel_entry *kernel, const invariance_result *found)
{
    static const invariance_result unknown = {0};
    const kernel_facts *facts = &kernel->facts;
    json_t *traits = json_array(), *varies = json_array();
    if (!found)
        found = &unknown;
    for (int axis = 0; axis < AXIS_COUNT; axis++)
        if (found->varies & 1u << axis)
            json_array_append_new(varies, json_string(axis_name((invariance_axis)axis)));
    for (size_t i = 0; i < TRAITS; i++)
        if (facts->traits & trait_names[i].bit)
            json_array_append_new(traits, json_string(trait_names[i].name));
    char hash[20];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)kernel->object_hash);
    char label[NAME_MAX_LENGTH];
    kernel_entry_label(kernel, label);
    return json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:i, s:b, s:o, s:s, s:s?, "
        "s:s?, s:s, s:b, "
        "s:o, "
        "s:o, s:o}",
        "name", facts->name, "label", label, "operation", operation_name(facts->operation), "role",
        facts->role, "statistics", facts->statistics, "apply", facts->apply, "schedule",
        facts->schedule, "io", dtype_name(facts->storage), "param", dtype_name(facts->param), "acc",
        dtype_name(facts->accumulator), "isa", facts->isa, "unroll", (int)facts->unroll,
        "supported", kernel->unsupported[0] == '\0', "traits", traits, "source", kernel->source,
        "version", kernel->version[0] ? kernel->version : NULL, "unsupported_because",
        kernel->unsupported[0] ? kernel->unsupported : NULL, "object_hash", hash, "bound",
        facts->has_bound, "reproducibility", class_json(reproducibility_of(found)),
        "declared_reproducibility", class_json(reproducibility_declared(facts)), "varies_with",
        varies);
}

const char *descriptor_word(const json_t *kernels, const char *kernel, const char *key)
{
    size_t index;
    json_t *descriptor;
    json_array_foreach(kernels, index, descriptor)
    {
        const char *name = json_string_value(json_object_get(descriptor, "name"));
        const char *word = json_string_value(json_object_get(descriptor, key));
        if (name && word && strcmp(name, kernel) == 0)
            return word;
    }
    return "";
}

bool kernel_is_call(const json_t *kernels, const char *kernel)
{
    return strcmp(descriptor_word(kernels, kernel, "role"), KERNEL_ROLE_CALL) == 0 &&
           strcmp(descriptor_word(kernels, kernel, "source"), "builtin") == 0;
}

kernel_role kernel_role_of(const json_t *kernels, const char *kernel)
{
    const char *source = descriptor_word(kernels, kernel, "source");
    if (descriptor_word(kernels, kernel, "version")[0])
        return ROLE_PEER;
    if (source[0] && strcmp(source, "builtin") != 0)
        return ROLE_PLUGIN;
    if (kernel_is_call(kernels, kernel))
        return ROLE_LIBRARY;
    return strcmp(descriptor_word(kernels, kernel, "role"), "textbook") == 0 ? ROLE_TEXTBOOK
                                                                             : ROLE_OURS;
}

const char *const kernel_role_words[] = {"", "library", "textbook", "peer", "plugin"};

const char *reproducible_stored(const json_t *kernels, const char *kernel)
{
    return reproducibility_word(
        reproducibility_named(descriptor_word(kernels, kernel, "reproducibility")),
        reproducibility_named(descriptor_word(kernels, kernel, "declared_reproducibility")));
}

bool reproducible_everywhere(const json_t *kernels, const char *kernel)
{
    const char *isa = reproducibility_name(REPRODUCIBLE_ISA);
    return strcmp(descriptor_word(kernels, kernel, "reproducibility"), isa) == 0 ||
           strcmp(descriptor_word(kernels, kernel, "declared_reproducibility"), isa) == 0;
}

json_t *reproducible_json(const char *word)
{
    return class_json(reproducibility_named(word));
}
